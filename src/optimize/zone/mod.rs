//! The exact programme for V placement: the least interval under caps, and the least memory at an
//! interval, over all blocks of one microbatch per interval, for any durations and latencies.
//!
//! **State.** On a device let `x = F1 - F0`, `y = I1 - F1`, `z = I0 - I1` be the distances between
//! the starts of its passes (chunk 0 is the lower stage). Whatever was chosen on the devices before,
//! what is reachable here is exactly `{x <= X, y >= Y, z <= Z, x+y+z <= S}`: the four chains of the
//! neighbouring device push only in those directions, and projecting difference constraints is
//! exact. So a state is four numbers, and only those that no other one contains are kept.
//!
//! **Pattern.** On a device a pattern fixes the cyclic order of F0, F1, I1, I0, the gap each W falls
//! into, and in which repetition of the interval each pass lies. Between passes next to each other in
//! that order there is then one difference constraint, and the exact peak memory is a number. A W
//! takes the first occurrence of its gap after its I: waiting longer only holds memory longer.
//!
//! **Interval.** Divided by T the constraints only loosen as T grows. For given patterns the least T
//! is the largest ratio of a cycle of constraints, a fraction whose denominator is bounded; so when
//! the programme finds nothing just below it, it is optimal. Everything is in integers: at `T = p/q`
//! all times are multiplied by `q`.

mod pattern;
mod programme;
mod ratio;

use num_rational::Ratio;

use super::Stop;
use crate::block::Block;
use crate::certificate::interval_bound;
use crate::model::{Device, Model, Shape, Units};

use programme::{Found, Programme, solve};

/// A block that the programme has found, and that no better one exists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Best {
    /// The block.
    pub block: Block,
    /// The least interval under the caps, or the interval asked for.
    pub interval: Ratio<i64>,
    /// The largest exact peak over the devices.
    pub peak: Units,
}

/// Why the programme gives no block.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ZoneError {
    /// Only V placement has the chain of devices that the programme follows.
    #[error("the exact programme needs V placement")]
    NotV,
    /// The caps do not admit any block, or none at this interval.
    #[error("no block of one microbatch per interval keeps to the caps{}", at_interval(*.0))]
    Infeasible(Option<Ratio<i64>>),
    /// The block that was found does not pass the exact check of the block algebra.
    #[error("the exact programme found a block that fails its check: {0}")]
    Rejected(String),
    /// It was time to stop first.
    #[error("the exact programme has run out of time")]
    TimeUp,
    /// Times or memory too large to be multiplied as the programme needs.
    #[error("the times are too large for the exact programme; choose a coarser unit")]
    Overflow,
}

fn at_interval(interval: Option<Ratio<i64>>) -> String {
    interval.map_or_else(String::new, |interval| format!(" at interval {interval}"))
}

/// The block of least interval under the model's caps; of those, one of least memory when the
/// interval is the most work of a device.
///
/// # Errors
/// When the placement is not V, no block keeps to the caps, it is time to stop, or the times are too
/// large.
pub fn least_interval(model: &Model, stop: &Stop) -> Result<Best, ZoneError> {
    applicable(model)?;
    let caps: Vec<Option<i64>> = caps(model);
    let floor = interval_bound(model);
    let work = Ratio::from_integer(model.most_work().0);
    if floor <= work {
        match least_memory(model, work, stop) {
            Err(ZoneError::Infeasible(_)) => {}
            decided => return decided,
        }
    }
    let programme = Programme::new(model, &caps, stop)?;
    let mut below = floor;
    let mut best = reach(&programme, &mut below, serial_interval(model))?.tightened()?;
    loop {
        let just_below = best.interval - Ratio::new(1, best.interval.denom() * programme.most_height());
        if just_below < floor {
            break;
        }
        // Halve while the gap is wide, then look just below the best.
        let wide =
            best.interval - below > Ratio::new(best.interval.numer() / 512 + 1, *best.interval.denom());
        let middle = if wide { coarse((best.interval + below) / 2) } else { just_below };
        let probe = if middle > below && middle < best.interval { middle } else { just_below };
        match solve(&programme, probe)? {
            Some(found) => best = found.tightened()?,
            None if probe == just_below => break,
            None => below = probe,
        }
    }
    best.into_best(model)
}

/// The block of least memory (largest peak over the devices) at an interval, within the caps.
///
/// # Errors
/// When the placement is not V, no block has this interval and keeps to the caps, it is
/// time to stop, or the times are too large.
pub fn least_memory(model: &Model, interval: Ratio<i64>, stop: &Stop) -> Result<Best, ZoneError> {
    applicable(model)?;
    let caps = caps(model);
    let unlimited = Programme::new(model, &vec![None; caps.len()], stop)?;
    let most = unlimited.most_capacity();
    let within = |limit: i64| -> Vec<Option<i64>> {
        caps.iter().map(|cap| Some(cap.map_or(limit, |cap| cap.min(limit)))).collect()
    };
    let attempt = |limit: i64| solve(&Programme::new(model, &within(limit), stop)?, interval);
    // From below in growing steps, so that the wide programmes of large caps are not solved.
    let (mut infeasible, mut step) = (memory_floor(model, interval).min(most - 1), 1);
    let mut best = loop {
        if infeasible >= most {
            return Err(ZoneError::Infeasible(Some(interval)));
        }
        let limit = (infeasible + step).min(most);
        if let Some(found) = attempt(limit)? {
            break found;
        }
        (infeasible, step) = (limit, 2 * step);
    };
    while best.peak() - infeasible > 1 {
        let middle = infeasible + (best.peak() - infeasible) / 2;
        match attempt(middle)? {
            Some(found) => best = found,
            None => infeasible = middle,
        }
    }
    best.into_best(model)
}

/// At this interval one microbatch ends before the next begins: if the caps admit any block, they
/// admit one here.
fn serial_interval(model: &Model) -> Ratio<i64> {
    Ratio::from_integer(crate::certificate::critical_path(model).0 + model.most_work().0)
}

/// Some feasible patterns. The closer an interval is to its bound, the fewer patterns there are, so
/// the search goes up from `below` in growing steps, leaving there the last interval without any.
fn reach(programme: &Programme, below: &mut Ratio<i64>, ceiling: Ratio<i64>) -> Result<Found, ZoneError> {
    let mut step = Ratio::new(below.to_integer() / 32 + 1, 1);
    loop {
        let probe = (coarse(*below) + step).min(ceiling);
        if let Some(found) = solve(programme, probe)? {
            return Ok(found);
        }
        if probe == ceiling {
            return Err(ZoneError::Infeasible(None));
        }
        *below = probe;
        step *= 2;
    }
}

/// What the area bound leaves of memory at an interval, less one so that it is not feasible itself.
fn memory_floor(model: &Model, interval: Ratio<i64>) -> i64 {
    // `interval_bound` is the larger of work and area over cap; at a cap of 1 it shows the area.
    let single = model.with_uniform_capacity(Some(Units(1))).map(|model| interval_bound(&model));
    let area = single.unwrap_or_else(|_| Ratio::from_integer(0));
    (area / interval).ceil().to_integer() - 1
}

fn applicable(model: &Model) -> Result<(), ZoneError> {
    if model.placement().shape() == Shape::V { Ok(()) } else { Err(ZoneError::NotV) }
}

fn caps(model: &Model) -> Vec<Option<i64>> {
    Device::all(model.devices()).map(|device| model.capacity(device).map(|units| units.0)).collect()
}

/// A fraction of small denominator near another one.
fn coarse(value: Ratio<i64>) -> Ratio<i64> {
    if *value.denom() <= 16 { value } else { Ratio::new((value * 16).round().to_integer(), 16) }
}

#[cfg(test)]
mod tests;
