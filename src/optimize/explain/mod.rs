//! Explanations: what sets the interval and the makespan, which limits prevent a better schedule, and what would help most.

mod balance;
mod conflict;
mod gains;
mod given;

use std::num::NonZeroUsize;

use num_rational::Ratio;

pub use balance::balanced_bound;
pub use conflict::{Conflict, Limit};
pub use gains::{Change, Gain, gains};
pub use given::judged;

use super::block::{self, BlockEngine, BlockRequest};
use super::periodic::{Effort, Several};
use super::zone::{self, ZoneError};
use super::{Stop, starting_points};
use crate::analysis::{Section, critical_path, sections};
use crate::block::Passes;
use crate::certificate::{STEPS, is_least_pace, steady_bound_until};
use crate::encode::{BlockObjective, BlockOutcome};
use crate::estimate::is_affordable;
use crate::model::{Device, Model, Ticks, Units};
use crate::replay::replay;

/// What sets the time per microbatch of the steady phase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Steady {
    /// The most work that a device has per microbatch, in ticks: no interval is shorter.
    pub work: Ticks,
    /// The interval of the best block found of one microbatch per interval, in ticks.
    pub interval: Ratio<i64>,
    /// How many microbatches per interval a block has in which each takes less time, and how long each
    /// then takes, in ticks; the best of those found.
    pub several: Option<(u32, Ratio<i64>)>,
    /// No schedule, whether it repeats or not, takes less time per microbatch in the long run, in ticks.
    pub bound: Ratio<i64>,
    /// The passes that go round in the block of one microbatch: one turn of the critical cycle of the
    /// repeated block, if one was found.
    pub cycle: Option<Section>,
    /// The limits that no block of one microbatch per interval can keep to all at once while the busiest
    /// device never idles. Nothing when the block keeps to them, when it could not be decided, or when
    /// stages may be recomputed.
    pub conflict: Option<Conflict>,
    /// A capacity that would be enough for such a block, the same on every device, weights included, in units, where
    /// one is known.
    pub enough: Option<Units>,
}

/// Microbatches per stage after which the critical cycle of a block shows.
const REPETITIONS: u32 = 8;

/// How hard blocks of several microbatches are looked for: a second or so.
const EFFORT: Effort = Effort { seed: 0, steps: 60_000 };

/// What sets the interval of the best block found under the model's capacities; nothing when none was found
/// in time, or the model says more than passes and latencies, of which blocks know nothing.
#[must_use]
pub fn steady(model: &Model, stop: &Stop) -> Option<Steady> {
    if model.beyond_passes().is_some() {
        return None;
    }
    let (_, block) =
        starting_points::blocks(model, &starting_points::SHARES[..1], &stop.within(stop.remaining() / 2))
            .into_iter()
            .next()?;
    let per_microbatch = block.interval() / i64::from(block.period());
    let work = model.most_work();
    let lossless = Ratio::from_integer(work.0);
    // Stages that recompute hold less, each by itself: what follows is about blocks of F, I and W.
    let recomputes = model.memory().checkpoint.is_some();
    let (conflict, enough) = if per_microbatch > lossless && !recomputes {
        let conflict = conflict::conflict(model, |model| is_possible(model, lossless, stop));
        let free = model.with_uniform_activation_capacity(None).ok()?;
        let best = zone::least_memory(&free, Passes::SPLIT, lossless, stop).ok();
        (conflict, best.map(|best| capacity_for(model, &best.peak)))
    } else {
        (None, None)
    };
    let raised = |bound: Ratio<i64>, pace: Ratio<i64>| {
        let is_least = bound < pace && is_least_pace(model, pace, STEPS, &mut || stop.is_due());
        if is_least { pace } else { bound }
    };
    let bound = raised(steady_bound_until(model, STEPS, &mut || stop.is_due()), per_microbatch);
    let several = if per_microbatch > bound && model.stages() <= starting_points::MOST_PERIODIC_STAGES {
        let stop = stop.within(stop.remaining() / 2);
        let (most, one) = (starting_points::MOST_PERIOD, NonZeroUsize::MIN);
        let several = Several::new(model, per_microbatch, EFFORT, &stop);
        let found = several.map(|several| several.shorter(model, per_microbatch, most, EFFORT, one, &stop));
        found.iter().flatten().last().map(|answer| {
            let period = answer.block.period();
            (period, answer.interval / i64::from(period))
        })
    } else {
        None
    };
    let bound = several.map_or(bound, |(_, each)| raised(bound, each));
    let microbatches = (REPETITIONS * model.stages()).max(32);
    let repeated = model.with_microbatches(microbatches).ok();
    let repeated = repeated.filter(|model| is_affordable(model, stop.remaining()));
    let cycle = repeated.and_then(|model| {
        let schedule = block.expand(&model, microbatches).ok()?;
        let timing = replay(&model, &schedule).timing?;
        let turns = |section: &Section| match section {
            Section::Cycle { times, ticks, .. } => i64::try_from(*times).map_or(0, |times| times * ticks.0),
            Section::Once(_) => 0,
        };
        let parts = sections(&critical_path(&model, &schedule, &timing));
        parts.into_iter().filter(|part| turns(part) > 0).max_by_key(turns)
    });
    Some(Steady { work, interval: per_microbatch, several, bound, cycle, conflict, enough })
}

/// The least capacity, the same on every device, under which each has room for its weights and so much of activations.
fn capacity_for(model: &Model, activations: &[Units]) -> Units {
    let needs =
        Device::all(model.devices()).zip(activations).map(|(device, &peak)| peak + model.resident(device));
    needs.max().unwrap_or_default()
}

/// Whether a model has a block of one microbatch at an interval, as far as that can be told exactly and
/// in time.
fn is_possible(model: &Model, interval: Ratio<i64>, stop: &Stop) -> Option<bool> {
    match zone::least_memory(model, Passes::SPLIT, interval, stop) {
        Ok(_) => Some(true),
        Err(ZoneError::Infeasible(_)) => Some(false),
        Err(ZoneError::Placement) => by_solver(model, interval, stop),
        Err(
            ZoneError::TimeUp
            | ZoneError::Overflow
            | ZoneError::Rejected(_)
            | ZoneError::NoDuration(_)
            | ZoneError::NotPositive(_),
        ) => None,
    }
}

/// The answer of the first solver that proves and takes the model.
fn by_solver(model: &Model, interval: Ratio<i64>, stop: &Stop) -> Option<bool> {
    let request =
        BlockRequest::of_one(BlockObjective::LeastMemory { interval: Ticks(interval.to_integer()) });
    let outcome = [BlockEngine::Lcg, BlockEngine::Smt]
        .into_iter()
        .find_map(|engine| block::solve(model, engine, request, stop).ok())?;
    match outcome {
        BlockOutcome::Infeasible => Some(false),
        outcome => outcome.best().map(|_| true),
    }
}

#[cfg(test)]
mod tests;
