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
mod starts;

use std::num::NonZeroUsize;

use num_rational::Ratio;

use super::block::solvers::short_interval_by_lcg;
use super::{Stop, zone};
use crate::block::Passes;
use crate::certificate::{STEPS, steady_bound_until};
use crate::encode::{
    BlockBound, BlockOutcome, BlockProblem, CheckedBlock, Claim, EncodeError, Known, checked_block,
};
use crate::model::Model;
use crate::parallel;

use climb::Climb;
use order::Orders;

/// How hard to search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Effort {
    /// Decides between choices that nothing else decides.
    pub seed: u64,
    /// How many swaps a walk tries.
    pub steps: usize,
}

impl Default for Effort {
    /// Enough for eight devices and two microbatches per interval.
    fn default() -> Self {
        Self { seed: 0, steps: 1_000_000 }
    }
}

/// Where neither the exact program nor lazy clause generation gives a block of one microbatch per interval to begin with, the search
/// for a good one takes one step more for every so many.
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
    let pace = least_pace(model, effort, stop);
    let of_one = if period > 1 { Some(OfOne::new(model, pace, effort, stop)?) } else { None };
    least_interval_above(pace, model, period, of_one.as_ref(), effort, stop)
}

/// A time per microbatch that no schedule stays below in the long run, found with effort in proportion.
fn least_pace(model: &Model, effort: Effort, stop: &Stop) -> Ratio<i64> {
    steady_bound_until(model, STEPS.min(effort.steps as u64 * STEPS_PER_SWAP), &mut || stop.is_due())
}

/// How many steps of the bound go with a swap of the search: about as much time.
const STEPS_PER_SWAP: u64 = 10;

/// A good block of one microbatch per interval, which a search for a block of several begins with.
struct OfOne {
    problem: BlockProblem,
    orders: Orders,
}

impl OfOne {
    fn new(model: &Model, pace: Ratio<i64>, effort: Effort, stop: &Stop) -> Result<Self, EncodeError> {
        let problem = BlockProblem::new(model)?;
        let (each, most) = LCG_EFFORT_FOR_ONE;
        let lcg_effort = (effort.steps as u64).saturating_mul(each).min(most);
        let solved = zone::least_interval(model, Passes::SPLIT, stop)
            .ok()
            .or_else(|| short_interval_by_lcg(model, 1, None, lcg_effort, stop));
        let orders = solved.and_then(|best| Orders::of(&problem, &best.block)).unwrap_or_else(|| {
            let steps = effort.steps / FIRST_SHARE;
            Climb::new(&problem, Orders::serial(&problem), pace, effort.seed).run(steps, stop)
        });
        Ok(Self { problem, orders })
    }
}

fn least_interval_above(
    pace: Ratio<i64>,
    model: &Model,
    period: u32,
    of_one: Option<&OfOne>,
    effort: Effort,
    stop: &Stop,
) -> Result<BlockOutcome, EncodeError> {
    let problem = BlockProblem::periodic(model, period)?;
    if problem.overfull().is_some() {
        return Ok(BlockOutcome::Infeasible);
    }
    let ticks = pace.numer().checked_mul(i64::from(period)).ok_or(EncodeError::Overflow)?;
    let floor = Ratio::new(ticks, *pace.denom());
    let orders = match of_one {
        Some(of_one) => of_one.orders.repeated(&of_one.problem, &problem),
        None => Orders::serial(&problem),
    };
    let orders = Climb::new(&problem, orders, floor, effort.seed).run(effort.steps, stop);
    let answer = checked_block(model, &problem, &orders.shifts(&problem), Claim::default())?;
    Ok(if answer.interval <= floor {
        BlockOutcome::Optimal(answer)
    } else {
        BlockOutcome::Bounded { best: Some(answer), bound: BlockBound::Interval(floor) }
    })
}

/// How much effort of lazy clause generation goes with a swap of the search.
const LCG_EFFORT_PER_SWAP: u64 = 5;

/// How often the search is begun for each number of microbatches, each time with other random choices: which blocks it reaches is
/// a matter of luck.
pub(super) const WALKS: u64 = 3;

/// What searches for blocks of several microbatches per interval have in common.
pub struct Several {
    /// No schedule takes less per microbatch in the long run.
    floor: Ratio<i64>,
    of_one: OfOne,
}

impl Several {
    /// Nothing where no block is worth looking for, because `interval` meets the bound that holds for all schedules or none fits, and
    /// where there is no time.
    #[must_use]
    pub fn new(model: &Model, interval: Ratio<i64>, effort: Effort, stop: &Stop) -> Option<Self> {
        let floor = least_pace(model, effort, stop);
        // Several microbatches need no more memory than one.
        if interval <= floor || BlockProblem::new(model).ok()?.overfull().is_some() {
            return None;
        }
        let of_one = OfOne::new(model, floor, effort, stop).ok()?;
        (!stop.is_due()).then_some(Self { floor, of_one })
    }

    /// The blocks of two and more microbatches per interval, up to `most`, that need less time per microbatch than `interval` and than
    /// each other, in the order of their microbatches. Each walk of the search has all of the effort. Lazy clause generation, where
    /// this build has it, improves what the search finds. The model is that of [`new`](Self::new). The answer does not depend on the
    /// number of threads.
    #[must_use]
    pub fn shorter(
        &self,
        model: &Model,
        interval: Ratio<i64>,
        most: u32,
        effort: Effort,
        threads: NonZeroUsize,
        stop: &Stop,
    ) -> Vec<CheckedBlock> {
        let periods = 2..=most;
        let walks: Vec<(u64, u32)> =
            (0..WALKS).flat_map(|walk| periods.clone().map(move |period| (walk, period))).collect();
        // A quarter of the time is for what comes after.
        let sooner = stop.within(stop.remaining() / 4 * 3);
        let found = parallel::map(threads, &walks, |&(walk, period)| {
            let effort = Effort { seed: effort.seed.wrapping_add(walk), ..effort };
            let outcome =
                least_interval_above(self.floor, model, period, Some(&self.of_one), effort, &sooner);
            (period, outcome.ok().and_then(|outcome| outcome.best().cloned()))
        });
        let of_period = |period: u32| {
            let found = found.iter().filter(move |&&(of, _)| of == period);
            found.filter_map(|(_, found)| found.clone()).min_by_key(|found| found.interval)
        };
        let known: Vec<CheckedBlock> = periods.filter_map(of_period).collect();
        // It also shortens blocks whose interval cannot be shorter.
        let improved = parallel::map(threads, &known, |known| {
            let period = known.block.period();
            let start = Some(Known { block: known.clone(), least: self.floor * i64::from(period) });
            let lcg_effort = effort.steps as u64 * LCG_EFFORT_PER_SWAP;
            short_interval_by_lcg(model, period, start, lcg_effort, stop).unwrap_or_else(|| known.clone())
        });
        let mut least = interval;
        let shorter = improved.into_iter().filter(|answer| {
            let each = answer.interval / i64::from(answer.block.period());
            let before = least;
            least = least.min(each);
            each < before
        });
        shorter.collect()
    }
}

#[cfg(test)]
mod tests;
