//! What replay leaves out, as explicit terms: launch gaps, and devices that slow each other down.
//!
//! Replay knows devices that compute independently and start a pass the instant they can. Where devices share
//! something, the memory bandwidth of one GPU or the cores of one CPU, a pass takes longer the more devices
//! are busy. The term for that: while k devices are busy, each progresses at the rate `r_k`, with `r_1 = 1` and
//! no rate above the one before. A launch gap is what a device needs between two passes, whatever it waits for.
//! Both are fitted to traces and used in a [simulation](simulate) of their own; nothing decides anything by it.

mod results;

use std::collections::BTreeMap;

use self::results::Results;
use super::fit::{FitError, Profile, paired};
use super::gaps::{Launch, launches};
use super::recomputed::{Class, Recomputed};
use super::statistics::{Spread, quantile};
use super::{Iteration, Span, Trace};
use crate::model::{Costs, Device, Kind, Links, Model, ModelError, Overlap, Pass, Stage, StepEnd, Ticks};
use crate::schedule::{Schedule, prerequisites_under};

/// What is taken into account beside a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Terms {
    /// By device: what it needs between two passes, in nanoseconds.
    pub gaps: Vec<Ticks>,
    /// What a device needs between a pass of one kind and one of another, in nanoseconds, where that is known better.
    pub gaps_of_kinds: GapsOfKinds,
    /// By number of busy devices, less one: the rate at which each progresses, in thousandths. Never more
    /// than the one before, and 1000 for one device.
    pub rates: Vec<i64>,
}

/// By device and kinds of two passes in turn: the time between them, in nanoseconds.
pub type GapsOfKinds = BTreeMap<(Device, Kind, Kind), Ticks>;

/// A rate of one.
const FULL: i64 = 1000;

/// The least rate that is tried.
const LEAST: i64 = 50;

/// Why terms cannot be taken into account.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TermsError {
    /// Overlapped pairs, whose passes share a device by design.
    #[error("the schedule overlaps pairs of passes, which contention and launch gaps do not describe")]
    Overlaps,
    /// A model with network cards that devices share, with an end of the step, or with gathers of weights that take time.
    #[error("the model has {0}, which contention and launch gaps do not describe")]
    Beyond(&'static str),
    /// A schedule that cannot run.
    #[error("the schedule cannot run")]
    CannotRun,
    /// Traces that make no model.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// Durations that make no model.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// Times that do not fit the integers they are counted in.
    #[error("with these terms the schedule takes too long to be counted in nanoseconds")]
    TooLong,
}

impl Terms {
    /// No term at all: what replay assumes.
    #[must_use]
    pub fn none(devices: u32) -> Self {
        Self {
            gaps: vec![Ticks::ZERO; devices as usize],
            gaps_of_kinds: BTreeMap::new(),
            rates: vec![FULL; devices as usize],
        }
    }

    /// What a device needs between two passes.
    fn gap(&self, device: Device, before: Pass, after: Pass) -> Ticks {
        let of_kinds = self.gaps_of_kinds.get(&(device, before.kind, after.kind));
        of_kinds.copied().unwrap_or(self.gaps[device.index()])
    }

    fn rate(&self, busy: usize) -> i64 {
        self.rates[busy.clamp(1, self.rates.len()) - 1]
    }
}

/// By device, the median time from the end of a pass to the start of the next where that had nothing to wait
/// for. Messages take as long as a profile of the same traces says, and find their links free.
#[must_use]
pub fn fit_gaps(profile: &Profile, traces: &[Trace]) -> Vec<Ticks> {
    let of_device = |launches: Vec<Launch>| {
        let gaps = launches.into_iter().map(|launch| launch.gap.0);
        Ticks(Spread::of(gaps).map_or(0, |spread| spread.median))
    };
    all_launches(profile, traces).into_iter().map(of_device).collect()
}

/// The same for every two kinds that a device ran in turn. Where a runtime sends and receives before a device goes on only
/// while the pipeline fills and drains, passes of one kind follow each other more slowly than forwards and backwards in turn.
#[must_use]
pub fn fit_gaps_of_kinds(profile: &Profile, traces: &[Trace]) -> GapsOfKinds {
    let mut found: BTreeMap<(Device, Kind, Kind), Vec<i64>> = BTreeMap::new();
    for (device, launches) in Device::all(profile.model.devices()).zip(all_launches(profile, traces)) {
        for Launch { before, after, gap } in launches {
            found.entry((device, before, after)).or_default().push(gap.0);
        }
    }
    let median = |(kinds, gaps)| Some((kinds, Ticks(Spread::of(gaps)?.median)));
    found.into_iter().filter_map(median).collect()
}

/// By device: the launches of all iterations.
fn all_launches(profile: &Profile, traces: &[Trace]) -> Vec<Vec<Launch>> {
    let model = &profile.model;
    let mut found: Vec<Vec<Launch>> = vec![Vec::new(); model.devices() as usize];
    for trace in traces {
        for iteration in &trace.iterations {
            let launches = launches(&trace.schedule, iteration, |from, to| delay(model, from, to));
            for (list, launches) in found.iter_mut().zip(launches) {
                list.extend(launches);
            }
        }
    }
    found
}

/// From the end of a pass to the start of one of the same or a neighbouring stage that needs it, over a free link.
fn delay(model: &Model, needed: Pass, pass: Pass) -> Ticks {
    if needed.stage == pass.stage { Ticks::ZERO } else { model.delay_after(needed.stage.min(pass.stage)) }
}

/// A pass as the fit sees it: how long it ran beside how many other devices.
struct Exposure {
    /// By number of busy devices, less one: for how long.
    beside: Vec<i64>,
}

impl Exposure {
    /// What it did, in thousandths of the nanoseconds it would take alone.
    fn work(&self, rates: &[i64]) -> i128 {
        self.beside.iter().zip(rates).map(|(&time, &rate)| i128::from(time) * i128::from(rate)).sum()
    }
}

/// Fits the rates to traces, and the durations that passes would have alone.
///
/// The rates are those under which the passes of a stage and kind did the same work: they minimise the sum,
/// over all passes, of the distance of a pass's work from the median of its stage and kind, as a share of
/// that median. The search goes downhill in steps of thousandths, of one rate or of all above a number, until none
/// helps; integers decide. Rates of numbers of busy devices that never occur are those of the number below.
///
/// # Errors
/// When the traces make no model.
pub fn fit_contention(profile: &Profile, traces: &[Trace]) -> Result<(Vec<i64>, Model), TermsError> {
    let devices = profile.model.devices() as usize;
    let mut classes: BTreeMap<Class, Vec<Exposure>> = BTreeMap::new();
    for trace in traces {
        let (paired, recomputed) = (paired(trace), Recomputed::of(&trace.schedule));
        for iteration in &trace.iterations {
            for (pass, exposure) in exposures(iteration, devices) {
                if paired.contains(&pass) {
                    continue;
                }
                classes.entry(recomputed.by_time(pass)).or_default().push(exposure);
            }
        }
    }
    let mut rates = vec![FULL; devices];
    let mut best = disagreement(&classes, &rates);
    for step in [200, 50, 10, 2, 1] {
        loop {
            let mut better = false;
            for tried in (1..devices).flat_map(|busy| steps_from(&rates, busy, step)) {
                if tried.iter().any(|rate| !(LEAST..=FULL).contains(rate)) {
                    continue;
                }
                let found = disagreement(&classes, &tried);
                if found < best {
                    (rates, best, better) = (tried, found, true);
                    break;
                }
            }
            if !better {
                break;
            }
        }
    }
    let alone = alone(&profile.model, &classes, &rates)?;
    Ok((rates, alone))
}

/// The rates that one step leads to: of this number of busy devices alone, or of it and all above, whose ratios
/// may be right already.
fn steps_from(rates: &[i64], busy: usize, step: i64) -> Vec<Vec<i64>> {
    let mut found = Vec::new();
    for change in [-step, step] {
        let mut alone = rates.to_vec();
        alone[busy] += change;
        monotone(&mut alone, busy);
        let mut above = rates.to_vec();
        for rate in &mut above[busy..] {
            *rate = (*rate * (FULL + change) + FULL / 2) / FULL;
        }
        monotone(&mut above, busy);
        found.extend([alone, above]);
    }
    found
}

/// Moves the other rates out of the way of one that was changed.
fn monotone(rates: &mut [i64], changed: usize) {
    let rate = rates[changed];
    for before in &mut rates[1..changed] {
        *before = (*before).max(rate);
    }
    for after in &mut rates[changed + 1..] {
        *after = (*after).min(rate);
    }
}

/// How far passes of the same stage and kind are from having done the same work, in millionths.
fn disagreement(classes: &BTreeMap<Class, Vec<Exposure>>, rates: &[i64]) -> i128 {
    let mut sum = 0;
    for class in classes.values() {
        let mut work: Vec<i128> = class.iter().map(|exposure| exposure.work(rates)).collect();
        work.sort_unstable();
        let median = work[(work.len() - 1) / 2].max(1);
        sum += work.iter().map(|work| (work - median).abs() * 1_000_000 / median).sum::<i128>();
    }
    sum
}

/// The model with the durations that passes have while no other device is busy.
fn alone(
    model: &Model,
    classes: &BTreeMap<Class, Vec<Exposure>>,
    rates: &[i64],
) -> Result<Model, ModelError> {
    let time_of = |class: Class| {
        let mut work: Vec<i64> = classes
            .get(&class)?
            .iter()
            .filter_map(|exposure| i64::try_from(exposure.work(rates) / i128::from(FULL)).ok())
            .collect();
        work.sort_unstable();
        quantile(&work, 1, 2).map(Ticks)
    };
    let time = |stage, kind| time_of(Class { stage, kind, level: None });
    let Costs { unit, communication, .. } = model.costs().clone();
    let stages = || Stage::all(model.stages());
    let of = |kind: Kind, other: fn(Stage, &Model) -> Ticks| -> Vec<Ticks> {
        stages().map(|stage| time(stage, kind).unwrap_or_else(|| other(stage, model))).collect()
    };
    // As in the profile, of a backward in one the input gradient is what its weight gradient leaves.
    let input = stages().map(|stage| {
        let left = || Some(time(stage, Kind::B)? - time(stage, Kind::W).unwrap_or_default());
        let found = time(stage, Kind::I).or_else(|| left().map(|left| left.max(Ticks::ZERO)));
        found.unwrap_or_else(|| model.duration(stage, Kind::I))
    });
    let costs = Costs {
        unit,
        forward: of(Kind::F, |stage, model| model.duration(stage, Kind::F)),
        backward_input: input.collect(),
        backward_weight: of(Kind::W, |stage, model| model.duration(stage, Kind::W)),
        communication,
    };
    let recompute = model.recompute().map(|mut recompute| {
        for (level, own) in (0..).zip(&mut recompute.levels) {
            let time = |stage| time_of(Class { stage, kind: Kind::R, level: Some(level) });
            let times = stages().zip(&costs.forward).map(|(stage, &forward)| time(stage).unwrap_or(forward));
            own.duration = Some(times.collect());
        }
        recompute
    });
    with_costs(model, costs)?.with_recompute(recompute)
}

/// The model with other durations and latencies. Durations of overlapped pairs, which need not suit them, are left out:
/// no [simulation](simulate) runs pairs.
fn with_costs(model: &Model, costs: Costs) -> Result<Model, ModelError> {
    model.with_overlap(Overlap::default())?.with_costs(costs)
}

/// A model whose durations are to those of `given` as the durations of `alone` are to those of `beside`: passes
/// of a model that knows nothing of contention, as they would be without it. What `given` says of memory, messages and the
/// end of the step stays; it has neither ranges nor durations of overlapped pairs. An R changes as the F that it repeats.
///
/// # Errors
/// When times overflow.
pub fn scaled(given: &Model, beside: &Model, alone: &Model) -> Result<Model, ModelError> {
    let changed = |stage: Stage, kind: Kind, time: Ticks| -> Result<Ticks, ModelError> {
        let [beside, alone] = [beside, alone].map(|model| model.duration(stage, kind).0);
        if beside == 0 {
            return Ok(time);
        }
        let product = i128::from(time.0) * i128::from(alone) / i128::from(beside);
        i64::try_from(product).map(Ticks).map_err(|_| ModelError::TimeOverflow)
    };
    let times = |kind: Kind| -> Result<Vec<Ticks>, ModelError> {
        Stage::all(given.stages()).map(|stage| changed(stage, kind, given.duration(stage, kind))).collect()
    };
    let costs = Costs {
        forward: times(Kind::F)?,
        backward_input: times(Kind::I)?,
        backward_weight: times(Kind::W)?,
        ..given.costs().clone()
    };
    let mut recompute = given.recompute();
    for own in
        recompute.iter_mut().flat_map(|recompute| &mut recompute.levels).flat_map(|level| &mut level.duration)
    {
        for (stage, time) in Stage::all(given.stages()).zip(own) {
            *time = changed(stage, Kind::F, *time)?;
        }
    }
    with_costs(given, costs)?.with_recompute(recompute)
}

/// For how long each pass ran while how many devices were busy.
fn exposures(iteration: &Iteration, devices: usize) -> Vec<(Pass, Exposure)> {
    // By instant: by how much the number of busy devices changes.
    let mut changes: BTreeMap<Ticks, i64> = BTreeMap::new();
    for span in iteration.passes.iter().flatten() {
        *changes.entry(span.start).or_default() += 1;
        *changes.entry(span.end).or_default() -= 1;
    }
    let mut steps: Vec<(Ticks, usize)> = Vec::new();
    let mut busy = 0_i64;
    for (at, change) in changes {
        busy += change;
        steps.push((at, usize::try_from(busy).unwrap_or(0)));
    }
    let found = iteration.passes.iter().flatten().map(|span| {
        let mut beside = vec![0; devices];
        let first = steps.partition_point(|&(at, _)| at <= span.start) - 1;
        for (position, &(at, busy)) in steps.iter().enumerate().skip(first) {
            if at >= span.end {
                break;
            }
            let until = steps.get(position + 1).map_or(span.end, |&(next, _)| next.min(span.end));
            beside[busy.clamp(1, devices) - 1] += (until - at.max(span.start)).0;
        }
        (span.pass, Exposure { beside })
    });
    found.collect()
}

/// Runs a schedule with terms: an event simulation in integer nanoseconds. The durations of the model are
/// those of a device that is busy alone. Without terms its times are those of replay.
///
/// # Errors
/// When the schedule overlaps pairs or cannot run, or the model has network cards that devices share, an end of the step,
/// or gathers of weights that take time.
pub fn simulate(model: &Model, schedule: &Schedule, terms: &Terms) -> Result<Vec<Vec<Span>>, TermsError> {
    simulate_with(model, schedule, terms, |pass| schedule.duration(model, pass))
}

/// The same, with durations of single passes. With those that were measured, what is left of the error of a
/// prediction lies between passes, not in them.
///
/// # Errors
/// As [`simulate`].
pub fn simulate_with(
    model: &Model,
    schedule: &Schedule,
    terms: &Terms,
    duration: impl Fn(Pass) -> Ticks,
) -> Result<Vec<Vec<Span>>, TermsError> {
    if schedule.overlap_count() > 0 {
        return Err(TermsError::Overlaps);
    }
    if model.has_busy_links()
        && model.messages().is_some_and(|messages| matches!(messages.links, Links::Nodes(_)))
    {
        return Err(TermsError::Beyond("`nodes` in [messages]"));
    }
    if model.step().is_some_and(StepEnd::takes_time) {
        return Err(TermsError::Beyond("[step]"));
    }
    if model.has_gathers() {
        return Err(TermsError::Beyond("[sharding]"));
    }
    let devices = schedule.devices() as usize;
    let all: BTreeMap<Pass, Span> = schedule
        .orders()
        .iter()
        .flatten()
        .map(|&pass| (pass, Span { pass, start: Ticks::ZERO, end: Ticks::ZERO }))
        .collect();
    let mut results = Results::default();
    let mut spans: Vec<Vec<Span>> = vec![Vec::new(); devices];
    // By device: the work left of the pass that runs, in thousandths of a nanosecond alone.
    let mut left: Vec<Option<i128>> = vec![None; devices];
    let mut now = Ticks::ZERO;
    loop {
        // What starts now; a pass without duration ends at once, which may let another start.
        let mut next: Option<Ticks> = None;
        let mut moved = true;
        while moved {
            (moved, next) = (false, None);
            for device in Device::all(schedule.devices()) {
                let at = device.index();
                if left[at].is_some() {
                    continue;
                }
                let Some(&pass) = schedule.order(device).get(spans[at].len()) else { continue };
                let after = |end: Ticks, more: Ticks| end.checked_add(more).ok_or(TermsError::TooLong);
                let mut ready = spans[at]
                    .last()
                    .map_or(Ok(Ticks::ZERO), |last| after(last.end, terms.gap(device, last.pass, pass)))?;
                let is_there = |other: Pass| all.contains_key(&other);
                let needed = prerequisites_under(model, pass, is_there);
                let arrivals = needed.filter(|&needed| is_there(needed));
                let arrivals: Vec<Option<Ticks>> = arrivals
                    .map(|needed| results.arrival(model, needed, pass))
                    .collect::<Result<_, TermsError>>()?;
                let Some(arrivals) = arrivals.into_iter().collect::<Option<Vec<Ticks>>>() else { continue };
                ready = arrivals.into_iter().fold(ready, Ticks::max);
                if ready > now {
                    next = Some(next.map_or(ready, |next| next.min(ready)));
                    continue;
                }
                let duration = duration(pass);
                spans[at].push(Span { pass, start: now, end: now });
                if duration == Ticks::ZERO {
                    results.end(model, schedule, pass, now)?;
                } else {
                    left[at] = Some(i128::from(duration.0) * i128::from(FULL));
                }
                moved = true;
            }
        }
        let rate = i128::from(terms.rate(left.iter().flatten().count()));
        let first_end = left.iter().flatten().map(|left| (left + rate - 1) / rate).min();
        let step = match (first_end, next) {
            (Some(end), Some(start)) => end.min(i128::from((start - now).0)),
            (Some(end), None) => end,
            (None, Some(start)) => i128::from((start - now).0),
            (None, None) => break,
        };
        let step_ticks = i64::try_from(step).map_err(|_| TermsError::TooLong)?;
        now = now.checked_add(Ticks(step_ticks)).ok_or(TermsError::TooLong)?;
        for (row, left) in spans.iter_mut().zip(&mut left) {
            let Some(rest) = left else { continue };
            *rest -= step * rate;
            if *rest <= 0 {
                *left = None;
                let span = row.last_mut().expect("a pass is running");
                span.end = now;
                results.end(model, schedule, span.pass, now)?;
            }
        }
    }
    let complete = spans.iter().zip(schedule.orders()).all(|(row, order)| row.len() == order.len());
    if complete { Ok(spans) } else { Err(TermsError::CannotRun) }
}
