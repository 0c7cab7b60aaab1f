//! The schedules of the catalogue, compared with a frontier.

use num_rational::Ratio;

use super::{Frontier, bubble_rate};
use crate::analysis::steady_interval;
use crate::block::Passes;
use crate::catalog::{self, Entry};
use crate::estimate::is_affordable;
use crate::model::{Device, Kind, Model, Units};
use crate::replay::{Rate, Verdict, replay};
use crate::schedule::Schedule;
use crate::stop::Stop;

/// A named schedule, as replay measures it, and how far it is from a frontier.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NamedSchedule {
    /// What the catalogue calls it.
    pub name: &'static str,
    /// The most that the activations of a device take, as for the points of a frontier. Where there is an interval,
    /// that is with as many microbatches as a steady phase takes.
    pub activation_peak: Units,
    /// The most that a device holds, weights included, with the microbatches of the model.
    pub peak_memory: Units,
    /// The time per microbatch in the steady phase, in ticks, where there is one.
    pub interval: Option<Ratio<i64>>,
    /// The bubble rate of the whole schedule, with the microbatches of the model.
    pub bubble_rate: Rate,
    /// The rate of useful work of the whole schedule: what neither a bubble nor recomputation takes.
    pub useful_rate: Rate,
    /// The least interval of the frontier within its memory, where its stages run the passes of the frontier.
    pub frontier_interval: Option<Ratio<i64>>,
    /// How much longer its interval is than that, as a share of it; negative where the schedule, with several
    /// microbatches per interval, is better than any block of one.
    pub distance: Option<Rate>,
}

/// The schedules of the catalogue that the model has and that run, but for those that interleave chunks where each
/// device has one, against a frontier of the model with these
/// passes. The model should have no capacities, as the frontier has none; its weights count in `peak_memory` alone.
#[must_use]
pub fn named_schedules(
    model: &Model,
    passes: Passes,
    frontier: &Frontier,
    stop: &Stop,
) -> Vec<NamedSchedule> {
    let entries = catalog::entries().iter();
    entries.filter_map(|entry| against(model, passes, entry, frontier, stop)).collect()
}

/// What a schedule of the catalogue measures on a model, if it has one there that runs.
fn against(
    model: &Model,
    passes: Passes,
    entry: &Entry,
    frontier: &Frontier,
    stop: &Stop,
) -> Option<NamedSchedule> {
    // Replay does not listen, and is over soon; but there are many of them.
    if stop.is_due() || entry.needs.is_degenerate_on(model.placement()) {
        return None;
    }
    if !is_affordable(model, stop.remaining()) {
        return None;
    }
    let schedule = entry.generate_until(model, stop).ok()?;
    let verdict = replay(model, &schedule);
    let timing = verdict.timing.as_ref().filter(|_| verdict.is_valid())?;
    let (interval, peak) = steady(model, entry, stop)
        .map_or_else(|| (None, of_activations(model, &verdict)), |(interval, peak)| (Some(interval), peak));
    let is_alike = runs_like(&schedule, passes);
    let best = frontier.points.iter().rev().find(|point| is_alike && point.peak <= peak);
    let best = best.map(|point| point.interval);
    let distance = interval.zip(best).map(|(interval, best)| {
        let busy = |interval| Rate::from_integer(1) - bubble_rate(model, passes, interval);
        busy(best) / busy(interval) - Rate::from_integer(1)
    });
    Some(NamedSchedule {
        name: entry.name,
        activation_peak: peak,
        peak_memory: verdict.peak_memory_max(),
        interval,
        bubble_rate: timing.metrics.bubble_rate,
        useful_rate: timing.metrics.useful_rate,
        frontier_interval: best,
        distance,
    })
}

/// Whether a schedule is one of those that blocks of these passes are compared with. A B is an I with its
/// W right behind it.
fn runs_like(schedule: &Schedule, passes: Passes) -> bool {
    let runs = |wanted: Kind| schedule.orders().iter().flatten().any(|pass| pass.kind == wanted);
    let is_allowed = |kind| passes.kinds().contains(&kind) || kind == Kind::B;
    runs(Kind::R) == passes.recompute && Kind::ALL.into_iter().all(|kind| is_allowed(kind) || !runs(kind))
}

/// The interval of a schedule's steady phase and its peak, with microbatches enough to have one.
fn steady(model: &Model, entry: &Entry, stop: &Stop) -> Option<(Ratio<i64>, Units)> {
    // Warm-up and cool-down are over within a few microbatches for each stage.
    const PER_STAGE: u32 = 9;
    let enough = model.stages().saturating_mul(PER_STAGE).max(model.microbatches()).max(30);
    if stop.is_due() {
        return None;
    }
    let model = model.with_microbatches(enough).ok()?;
    if !is_affordable(&model, stop.remaining()) {
        return None;
    }
    let schedule = entry.generate_until(&model, stop).ok()?;
    let verdict = replay(&model, &schedule);
    let interval = steady_interval(&schedule, verdict.timing.as_ref()?)?;
    Some((interval, of_activations(&model, &verdict)))
}

/// The most that the activations of a device take.
fn of_activations(model: &Model, verdict: &Verdict) -> Units {
    let peaks = Device::all(model.devices()).zip(&verdict.peak_memory);
    peaks.map(|(device, &peak)| peak - model.resident(device)).max().unwrap_or_default()
}
