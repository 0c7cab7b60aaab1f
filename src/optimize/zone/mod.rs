//! The exact program: the least interval under capacities, and the least memory at an interval, over all
//! blocks of one microbatch per interval, for any durations and latencies and stages of any size.
//!
//! It needs a placement along a chain of devices: one stage on each (linear placement), or stages `s` and
//! `S-1-s` on each (V), whatever the devices are called.
//!
//! **State.** With V placement let `x = F1 - F0`, `y = I1 - F1`, `z = I0 - I1` be the distances between
//! the starts of a device's passes (chunk 0 is the lower stage). Whatever was chosen on the devices
//! before, what is reachable here is exactly `{x <= X, y >= Y, z <= Z, x+y+z <= S}`: the four chains
//! of the neighbouring device push only in those directions, and projecting difference constraints
//! is exact. So a state is four numbers, and only those that no other one contains are kept. With one
//! stage per device a state is one number.
//!
//! **Pattern.** On a device a pattern fixes the cyclic order of its Fs and backwards, the gap each W
//! and R falls into, and in which repetition of the interval each pass lies. Between passes next to
//! each other in that order there is then one difference constraint, and the exact peak memory is a
//! number. A W takes the first occurrence of its gap after its I and an R the last one before:
//! otherwise they only hold memory longer.
//!
//! **Interval.** Divided by T the constraints only loosen as T grows. For given patterns the least T
//! is the largest ratio of a cycle of constraints, a fraction whose denominator is bounded; so when
//! the program finds nothing just below it, it is optimal. Everything is in integers: at `T = p/q`
//! all times are multiplied by `q`.

mod assembly;
mod linear;
mod pattern;
mod pipeline;
mod ratio;
mod solve;
mod v;

use num_integer::Integer;
use num_rational::Ratio;

use super::Stop;
use crate::block::Passes;
use crate::certificate::interval_bound;
use crate::encode::CheckedBlock;
use crate::model::{Model, Pass, Placement, Units};

use assembly::Assembly;
use pipeline::{Fold, Interval, Pipeline};

/// Why the program gives no block.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ZoneError {
    /// The placement has no chain of devices that the program can follow.
    #[error(
        "the exact program needs one stage per device, or stages from either end of the pipeline in \
         pairs, as in V placement"
    )]
    Placement,
    /// A pass that takes no time has no place in the cyclic order of its device. (A W may take none, and an R that acquires
    /// nothing.)
    #[error(
        "`{0}` takes no time: the exact program needs a positive duration of every F and I, and of every R that acquires memory"
    )]
    NoDuration(Pass),
    /// The interval asked for is not positive.
    #[error("an interval of {0} ticks is not positive")]
    NotPositive(Ratio<i64>),
    /// The capacities do not admit any block, or none at this interval.
    #[error("no block of one microbatch per interval keeps to the memory limits{}", at_interval(*.0))]
    Infeasible(Option<Ratio<i64>>),
    /// The block that was found does not pass the exact check of the block algebra.
    #[error("the exact program found a block that fails its check: {0}")]
    Rejected(String),
    /// It was time to stop first.
    #[error("the exact program has run out of time")]
    TimeUp,
    /// Times or memory too large to be multiplied as the program needs.
    #[error("the times are too large for the exact program; choose a coarser unit")]
    Overflow,
}

fn at_interval(interval: Option<Ratio<i64>>) -> String {
    interval.map_or_else(String::new, |interval| format!(" at interval {interval}"))
}

/// Whether the program can follow a placement.
#[must_use]
pub fn is_applicable(placement: &Placement) -> bool {
    Fold::of(placement).is_some()
}

/// The block of least interval under the model's capacities; of those, one of least memory when the
/// interval is the most work of a device.
///
/// # Errors
/// When the placement has no chain, no block keeps to the capacities, it is time to stop, or the times are
/// too large.
pub fn least_interval(model: &Model, passes: Passes, stop: &Stop) -> Result<CheckedBlock, ZoneError> {
    let mut known = None;
    lower_interval(model, passes, stop, &mut known)?;
    known.ok_or(ZoneError::Infeasible(None))
}

/// A block of short interval under the model's capacities: the one of [`least_interval`], or the best that was found before it was
/// time to stop.
///
/// # Errors
/// When there is no block yet.
pub(super) fn short_interval(model: &Model, passes: Passes, stop: &Stop) -> Result<CheckedBlock, ZoneError> {
    let mut known = None;
    let ended = lower_interval(model, passes, stop, &mut known);
    best_so_far(ended, known)
}

/// What is known once a search has ended or been stopped.
fn best_so_far(ended: Result<(), ZoneError>, known: Option<CheckedBlock>) -> Result<CheckedBlock, ZoneError> {
    match (ended, known) {
        (Ok(()) | Err(ZoneError::TimeUp), Some(known)) => Ok(known),
        (Err(error), _) => Err(error),
        (Ok(()), None) => Err(ZoneError::Infeasible(None)),
    }
}

/// Puts the block of least interval in place of the one that is known. Where that interval is the most work of a device, blocks that
/// need ever less memory come before it.
fn lower_interval(
    model: &Model,
    passes: Passes,
    stop: &Stop,
    known: &mut Option<CheckedBlock>,
) -> Result<(), ZoneError> {
    let pipeline = Pipeline::new(model, passes, None, stop)?;
    let work = passes.most_work(model).0;
    let floor = floor(model, passes);
    if floor == Interval::from_integer(work.into()) {
        match lower_memory(model, passes, Ratio::from_integer(work), stop, known) {
            Err(ZoneError::Infeasible(_)) => {}
            decided => return decided,
        }
    }
    let mut below = floor;
    let mut best = reach(&pipeline, &mut below)?.tightened(floor)?;
    loop {
        let just_below = best.interval - Ratio::new(1, best.interval.denom() * pipeline.most_height());
        if just_below < floor {
            break;
        }
        // Halve while the gap is wide, then look just below the best.
        let wide =
            best.interval - below > Ratio::new(best.interval.numer() / 512 + 1, *best.interval.denom());
        let middle = if wide { coarse((best.interval + below) / 2) } else { just_below };
        let probe = if middle > below && middle < best.interval { middle } else { just_below };
        match pipeline.solve(probe)? {
            Some(found) => best = found.tightened(floor)?,
            None if probe == just_below => break,
            None => below = probe,
        }
    }
    *known = Some(best.into_block()?);
    Ok(())
}

/// The block of least memory (largest peak over the devices) at an interval, within the capacities.
///
/// # Errors
/// When the placement has no chain, no block has this interval and keeps to the capacities, it is
/// time to stop, or the times are too large.
pub fn least_memory(
    model: &Model,
    passes: Passes,
    interval: Ratio<i64>,
    stop: &Stop,
) -> Result<CheckedBlock, ZoneError> {
    let mut known = None;
    lower_memory(model, passes, interval, stop, &mut known)?;
    known.ok_or(ZoneError::Infeasible(Some(interval)))
}

/// Puts blocks of ever less memory at an interval in place of the one that is known.
fn lower_memory(
    model: &Model,
    passes: Passes,
    interval: Ratio<i64>,
    stop: &Stop,
    known: &mut Option<CheckedBlock>,
) -> Result<(), ZoneError> {
    if *interval.numer() <= 0 {
        return Err(ZoneError::NotPositive(interval));
    }
    let most = Pipeline::new(model, passes, None, stop)?.most_capacity();
    let at = Interval::new((*interval.numer()).into(), (*interval.denom()).into());
    if at < Interval::from_integer(passes.most_work(model).0.into()) {
        return Err(ZoneError::Infeasible(Some(interval)));
    }
    // From below in growing steps, so that the wide programs of large capacities are not solved.
    let (mut infeasible, mut step) = (memory_floor(model, at).min(most - 1), 1);
    while known.as_ref().is_none_or(|known| known.peak_max().0 - infeasible > 1) {
        let limit = match known {
            Some(known) => infeasible + (known.peak_max().0 - infeasible) / 2,
            None if infeasible >= most => return Err(ZoneError::Infeasible(Some(interval))),
            None => infeasible.saturating_add(step).min(most),
        };
        let pipeline = Pipeline::new(model, passes, Some(limit), stop)?;
        if let Some(found) = pipeline.solve(at)? {
            *known = Some(found.into_block()?);
        } else {
            (infeasible, step) = (limit, step.saturating_mul(2));
        }
    }
    Ok(())
}

/// A block at the interval of a known one, within the capacities, in which a microbatch is done soonest. The time from its first F to
/// its last backward exceeds the least by at most a sixteenth of the interval, or by a tick if that is more; with one stage per
/// device it is the least. Where time is up or times are too large, it is the best so far.
///
/// # Errors
/// When the placement has no chain, the times are too large to begin with, or a block fails its check.
pub(super) fn soonest_done(
    model: &Model,
    passes: Passes,
    known: CheckedBlock,
    stop: &Stop,
) -> Result<CheckedBlock, ZoneError> {
    let mut pipeline = Pipeline::new(model, passes, None, stop)?;
    let at = Interval::new((*known.interval.numer()).into(), (*known.interval.denom()).into());
    if pipeline.fold == Fold::Linear {
        // The known block may take longer to hold less than the capacities.
        return match pipeline.solve(at).and_then(|found| found.map(Assembly::into_block).transpose()) {
            Ok(Some(found)) if pipeline.time_of(&found.block)? < pipeline.time_of(&known.block)? => Ok(found),
            Ok(_) | Err(ZoneError::TimeUp | ZoneError::Overflow) => Ok(known),
            Err(defect) => Err(defect),
        };
    }
    let close = i64::try_from(at.to_integer() / 16).unwrap_or(i64::MAX).max(1);
    let (mut infeasible, mut reached, mut best) =
        (pipeline.least_time() - 1, pipeline.time_of(&known.block)?, known);
    while reached - infeasible > close {
        let limit = infeasible + (reached - infeasible) / 2;
        pipeline.longest = Some(limit);
        match pipeline.solve(at).and_then(|found| found.map(Assembly::into_block).transpose()) {
            Ok(Some(found)) => {
                // The offsets are the earliest after the first F, so the limit on the patterns is one on the block.
                reached = pipeline.time_of(&found.block)?.min(limit);
                best = found;
            }
            Ok(None) => infeasible = limit,
            Err(ZoneError::TimeUp | ZoneError::Overflow) => break,
            Err(defect) => return Err(defect),
        }
    }
    Ok(best)
}

/// Some feasible patterns. The closer an interval is to its bound, the fewer patterns there are, so
/// the search goes up from `below` in growing steps, leaving there the last interval without any.
///
/// If the capacities admit any block, they admit one in which a microbatch ends before the next begins.
fn reach<'p, 'm>(pipeline: &'p Pipeline<'m>, below: &mut Interval) -> Result<Assembly<'p, 'm>, ZoneError> {
    let ceiling = Interval::from_integer(pipeline.serial.into());
    let mut step = Ratio::new(below.to_integer() / 32 + 1, 1);
    loop {
        let probe = (coarse(*below) + step).min(ceiling);
        if let Some(found) = pipeline.solve(probe)? {
            return Ok(found);
        }
        if probe == ceiling {
            return Err(ZoneError::Infeasible(None));
        }
        *below = probe;
        step *= 2;
    }
}

/// A fraction of small denominator that no interval is below.
fn floor(model: &Model, passes: Passes) -> Interval {
    let bound = interval_bound(model);
    let (numer, denom) = (i128::from(*bound.numer()), i128::from(*bound.denom()));
    let work = Interval::from_integer(passes.most_work(model).0.into());
    Interval::new(Integer::div_floor(&(numer * 16), &denom), 16).max(work)
}

/// What the area bound leaves of memory at an interval, less one so that it is not feasible itself.
fn memory_floor(model: &Model, interval: Interval) -> i64 {
    // `interval_bound` is the larger of work and area over capacity; at a capacity of 1 it shows the area.
    let single = model.with_uniform_activation_capacity(Some(Units(1))).map(|model| interval_bound(&model));
    let area = single.map_or(0, |area| i128::from(area.to_integer()));
    let least = Integer::div_ceil(&(area * interval.denom()), interval.numer());
    i64::try_from(least).unwrap_or(0).max(0) - 1
}

/// A fraction of small denominator near another one.
fn coarse(value: Interval) -> Interval {
    if *value.denom() <= 16 { value } else { Ratio::new((value * 16).round().to_integer(), 16) }
}

/// A scaled time: ticks multiplied by the denominator of an interval.
trait Time: Integer + Copy + std::ops::Neg<Output = Self> + From<i64> + TryFrom<i128> + TryInto<i64> {}

impl Time for i64 {}
impl Time for i128 {}

#[cfg(test)]
mod differential;
#[cfg(test)]
mod tests;
