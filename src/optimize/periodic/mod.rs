//! Blocks of several microbatches per interval, for any placement, durations, latencies and memory.
//!
//! Below the memory at which no device idles in the steady phase, blocks of K = 2 or 3 microbatches
//! per interval beat every block of one: with equal durations, V placement over five devices and a
//! capacity of four chunk activations, 7 ticks per microbatch instead of 8 (found by an exact program
//! over all schedules, which also shows that 7 cannot be beaten).
//!
//! **What is searched.** For given orders of the devices a block is a system of differences, and its
//! least interval the largest ratio of a cycle of passes that wait for each other, an exact rational;
//! its memory follows from the orders alone. So the search moves through orders, from one to the next by
//! swapping two neighbours, mostly on the cycle that sets the interval: no
//! other swap can shorten it.
//!
//! **Swaps on that cycle never deadlock.** Around it no pass waits longer than it must. Were there,
//! besides the swapped pair `u, v` itself, another way on which v waits for u, in as many or fewer
//! repetitions, it would be longer than u takes, and v would start later than right after u.
//!
//! **When a step is taken.** By late acceptance as `late.rs` has it: if the interval does not grow, or is no longer than it was a
//! fixed number of steps ago. Runs follow each other with ever longer memories until the steps are used up, in turn from the best
//! orders so far (at first those of a best block of one microbatch per interval) and from orders in which every microbatch runs
//! alone. Capacities may be exceeded on the way, at a price.
//!
//! A search proves nothing; the interval is called optimal only where it meets
//! [`steady_bound`](crate::certificate::steady_bound), which holds for all schedules.

mod climb;
mod cycle;
mod order;

use num_rational::Ratio;

use super::block::solvers::short_interval_by_lcg;
use super::{Stop, zone};
use crate::block::Passes;
use crate::certificate::{STEPS, steady_bound_until};
use crate::encode::{
    BlockBound, BlockOutcome, BlockProblem, CheckedBlock, Claim, EncodeError, Known, checked_block,
};
use crate::model::Model;

use climb::Climb;
use order::Orders;

/// How hard to search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Effort {
    /// Decides between choices that nothing else decides.
    pub seed: u64,
    /// How many swaps are tried in all.
    pub steps: usize,
}

impl Default for Effort {
    /// Enough for eight devices and two microbatches per interval.
    fn default() -> Self {
        Self { seed: 0, steps: 1_000_000 }
    }
}

/// Where neither the exact program nor lazy clause generation gives a block of one microbatch per interval to begin with, one step in
/// this many is spent on finding a good one.
const FIRST_SHARE: usize = 10;

/// How much effort of lazy clause generation for that block goes with a swap of the search, and the most of it: about as many
/// microseconds.
const LCG_EFFORT_FOR_ONE: (u64, u64) = (60, 3_000_000);

/// The block of least interval found under the capacities of the model, over blocks of `period` microbatches
/// per interval: optimal where a bound over all schedules proves it. Without a time limit that comes
/// first, the same effort gives the same block.
///
/// # Errors
/// When the model cannot be encoded: a pass takes no time, or there are too many stages and
/// microbatches, or the times are too large.
pub fn least_interval(
    model: &Model,
    period: u32,
    effort: Effort,
    stop: &Stop,
) -> Result<BlockOutcome, EncodeError> {
    if BlockProblem::periodic(model, period)?.overfull().is_some() {
        return Ok(BlockOutcome::Infeasible);
    }
    least_interval_above(least_pace(model, effort, stop), model, period, effort, stop)
}

/// A time per microbatch that no schedule stays below in the long run, found with effort in proportion.
fn least_pace(model: &Model, effort: Effort, stop: &Stop) -> Ratio<i64> {
    steady_bound_until(model, STEPS.min(effort.steps as u64 * STEPS_PER_SWAP), &mut || stop.is_due())
}

/// How many steps of the bound go with a swap of the search: about as much time.
const STEPS_PER_SWAP: u64 = 40;

fn least_interval_above(
    pace: Ratio<i64>,
    model: &Model,
    period: u32,
    effort: Effort,
    stop: &Stop,
) -> Result<BlockOutcome, EncodeError> {
    let problem = BlockProblem::periodic(model, period)?;
    if problem.overfull().is_some() {
        return Ok(BlockOutcome::Infeasible);
    }
    let ticks = pace.numer().checked_mul(i64::from(period)).ok_or(EncodeError::Overflow)?;
    let floor = Ratio::new(ticks, *pace.denom());
    let (mut orders, mut steps) = (Orders::serial(&problem), effort.steps);
    if period > 1 {
        let one = BlockProblem::new(model)?;
        let (each, most) = LCG_EFFORT_FOR_ONE;
        let lcg_effort = (steps as u64).saturating_mul(each).min(most);
        let solved = zone::least_interval(model, Passes::SPLIT, stop)
            .ok()
            .or_else(|| short_interval_by_lcg(model, 1, None, lcg_effort, stop));
        let of_one = solved.and_then(|best| Orders::of(&one, &best.block)).unwrap_or_else(|| {
            let share = steps / FIRST_SHARE;
            steps -= share;
            Climb::new(&one, Orders::serial(&one), pace, effort.seed).run(share, stop)
        });
        orders = of_one.repeated(&one, &problem);
    }
    let orders = Climb::new(&problem, orders, floor, effort.seed).run(steps, stop);
    let answer = checked_block(model, &problem, &orders.shifts(&problem), Claim::default())?;
    Ok(if answer.interval <= floor {
        BlockOutcome::Optimal(answer)
    } else {
        BlockOutcome::Bounded { best: Some(answer), bound: BlockBound::Interval(floor) }
    })
}

/// How much effort of lazy clause generation goes with a swap of the search.
const LCG_EFFORT_PER_SWAP: u64 = 5;

/// The blocks of two and more microbatches per interval, up to `most`, that need less time per
/// microbatch than `interval` and than each other, in the order of their microbatches. Lazy clause generation, where this build has
/// it, improves what the search finds. Nothing is looked for when `interval` meets the bound that holds for all schedules.
#[must_use]
pub fn shorter(
    model: &Model,
    interval: Ratio<i64>,
    most: u32,
    effort: Effort,
    stop: &Stop,
) -> Vec<CheckedBlock> {
    let floor = least_pace(model, effort, stop);
    let (mut least, mut found) = (interval, Vec::new());
    for period in 2..=most {
        if least <= floor || stop.is_due() {
            break;
        }
        let Ok(outcome) = least_interval_above(floor, model, period, effort, stop) else { break };
        let Some(answer) = outcome.best().cloned() else { continue };
        let known = Some(Known { block: answer.clone(), least: floor * i64::from(period) });
        let lcg_effort = effort.steps as u64 * LCG_EFFORT_PER_SWAP;
        let answer = short_interval_by_lcg(model, period, known, lcg_effort, stop).unwrap_or(answer);
        let each = answer.interval / i64::from(period);
        if each < least {
            least = each;
            found.push(answer);
        }
    }
    found
}

#[cfg(test)]
mod tests;
