//! The SMT engine: a [solver](crate::smt) over the order of copies.
//!
//! With T fixed, `k_ab <= v` says that copy `v` of `b` starts after `a` of copy 0 has ended, and its
//! negation that it has ended before `a` starts. With one Boolean for each such statement a block is
//! a problem in difference logic,
//! ```text
//!      [k_ab <= v]  =>  o_b - o_a >= t_a - v*T
//!  not [k_ab <= v]  =>  o_a - o_b >= t_b + v*T
//! ```
//! and memory a pseudo-Boolean sum. Propagation beforehand leaves few values of each `k`, so few Booleans.
//!
//! Only questions with a fixed T are asked: a block that exists for T exists for every larger one
//! (divide by T: `u_b - u_a >= w*r - k` is the easier the smaller r), and a block that is found is at
//! once replaced by the least interval of its `k`, exactly. Every bound is a proof of
//! unsatisfiability.

mod query;

use num_integer::Integer;
use num_rational::Ratio;

use self::query::{Decision, Query};
use super::ranges::{Ranges, Scale, limits, next_below, refuted_limit};
use super::{
    BlockBound, BlockObjective, BlockOutcome, BlockProblem, CheckedBlock, Claim, EncodeError, Rejection,
    checked_block,
};
use crate::model::{Model, Ticks, Units};
use crate::smt::Solver;
use crate::stop::Stop;

/// An optimal block of one microbatch per interval of the model, in the time that there is. Three quarters of
/// it at most are spent on the objective, the rest on a shortest block.
///
/// # Errors
/// When the model cannot be encoded, there is no solver, it fails before it has found anything, or its answer
/// does not stand up to the exact check.
pub fn solve(model: &Model, objective: BlockObjective, stop: &Stop) -> Result<BlockOutcome, EncodeError> {
    solve_periodic(model, 1, objective, stop)
}

/// The same over blocks of `period` microbatches per interval, which can have a shorter interval per
/// microbatch or need less memory than blocks of one.
///
/// # Errors
/// As [`solve`]; also when there is no microbatch or there are too many.
pub fn solve_periodic(
    model: &Model,
    period: u32,
    objective: BlockObjective,
    stop: &Stop,
) -> Result<BlockOutcome, EncodeError> {
    let problem = BlockProblem::periodic(model, period)?;
    let mut search = Search::new(model, &problem, stop)?;
    let outcome = match objective {
        BlockObjective::LeastMemory { interval } => search.least_memory(interval)?,
        BlockObjective::LeastInterval => {
            let most_work = Ratio::from_integer(i128::from(problem.most_work()));
            search.least_interval(most_work, None)?
        }
    };
    let BlockOutcome::Optimal(best) = outcome else { return Ok(outcome) };
    let peak = match objective {
        BlockObjective::LeastMemory { .. } => Some(best.peak_max()),
        BlockObjective::LeastInterval => None,
    };
    // A longer block is as good: what goes wrong with the solver from here on is no loss.
    search.with_all_time(stop).shortest(best, peak).map(BlockOutcome::Optimal)
}

/// A block of least interval, of as many microbatches per interval as a known one of the model has. No interval of these is below
/// `least`, in ticks.
///
/// # Errors
/// As [`solve`].
pub(crate) fn least_interval_from(
    model: &Model,
    known: CheckedBlock,
    least: Ratio<i64>,
    stop: &Stop,
) -> Result<BlockOutcome, EncodeError> {
    let problem = BlockProblem::periodic(model, known.block.period())?;
    let mut search = Search::new(model, &problem, stop)?;
    let outcome = search.least_interval(wide(least), Some(known))?;
    let BlockOutcome::Optimal(best) = outcome else { return Ok(outcome) };
    search.with_all_time(stop).shortest(best, None).map(BlockOutcome::Optimal)
}

/// What is known when a question stays open: at least the bound, unless there is a reason and not even a block.
fn open(
    best: Option<CheckedBlock>,
    bound: BlockBound,
    reason: Option<EncodeError>,
) -> Result<BlockOutcome, EncodeError> {
    match reason {
        Some(reason) if best.is_none() => Err(reason),
        _ => Ok(BlockOutcome::Bounded { best, bound }),
    }
}

struct Search<'a> {
    model: &'a Model,
    problem: &'a BlockProblem,
    stop: Stop,
    solver: Solver,
}

impl<'a> Search<'a> {
    /// A search that leaves a quarter of the time.
    fn new(model: &'a Model, problem: &'a BlockProblem, stop: &Stop) -> Result<Self, EncodeError> {
        let stop = stop.within(stop.remaining() / 4 * 3);
        Ok(Self { model, problem, stop, solver: Solver::find()? })
    }

    fn with_all_time(self, stop: &Stop) -> Self {
        Self { stop: stop.clone(), ..self }
    }

    /// Searches upwards from the bound that propagation proves: in steps that double until a block is
    /// found, then between what is refuted and what is found.
    fn least_memory(&mut self, interval: Ticks) -> Result<BlockOutcome, EncodeError> {
        if interval.0 <= 0 {
            return Err(EncodeError::NotPositive(interval));
        }
        if interval.0 < self.problem.most_work() {
            return Ok(BlockOutcome::Infeasible);
        }
        let ticks = Ratio::from_integer(i128::from(interval.0));
        let scale = Scale::at(self.problem, ticks)?;
        let quantum = self.problem.quantum();
        if Ranges::of(self.problem, scale, self.problem.capacities()).is_none() {
            return Ok(BlockOutcome::Infeasible);
        }
        let mut least = refuted_limit(self.problem, scale)? + quantum;
        let most = Some(self.most_limit(interval)?);
        let mut best: Option<CheckedBlock> = None;
        let mut step = 0;
        loop {
            let ceiling = best.as_ref().map(|answer| answer.peak_max().0 - quantum).or(most);
            if best.is_some() && ceiling.is_some_and(|ceiling| ceiling < least) {
                return Ok(best.map_or(BlockOutcome::Infeasible, BlockOutcome::Optimal));
            }
            let trial = match (&best, ceiling) {
                (Some(_), Some(ceiling)) => least + (ceiling - least) / 2 / quantum * quantum,
                (_, ceiling) => ceiling.map_or(least + step, |ceiling| ceiling.min(least + step)),
            };
            let limits = limits(self.problem, Some(trial));
            match self.decide(scale, &limits)? {
                Decision::Yes(shifts) => {
                    let claim = Claim { interval: Some(ticks), peak: Some(Units(trial)) };
                    best = Some(checked_block(self.model, self.problem, &shifts, claim)?);
                }
                Decision::No if best.is_none() && most.is_some_and(|most| trial >= most) => {
                    return Ok(BlockOutcome::Infeasible);
                }
                Decision::No => {
                    least = (trial / quantum + 1) * quantum;
                    // A block once found, there is nothing to climb to.
                    if best.is_none() {
                        step = (step * 2).max(quantum);
                    }
                }
                Decision::Unknown(reason) => return open(best, BlockBound::Memory(Units(least)), reason),
            }
        }
    }

    /// A limit that excludes nothing which the capacities do not exclude: the largest capacity, or, of a
    /// device without one, what it can hold. In normal form no link of the chain waits for an interval, so no
    /// more copies overlap than the chain has links and is intervals long.
    fn most_limit(&self, interval: Ticks) -> Result<i64, EncodeError> {
        let links = i128::try_from(self.problem.links().len()).unwrap_or(i128::from(i64::MAX));
        let copies = i128::from(self.problem.serial() / interval.0) + links + 2;
        let capacities =
            self.problem.capacities().iter().zip(self.problem.holds()).map(|(capacity, holds)| {
                let held = || holds.iter().map(|hold| i128::from(hold.units)).sum::<i128>();
                capacity.map_or_else(|| held().checked_mul(copies), |capacity| Some(capacity.into()))
            });
        let most = capacities.collect::<Option<Vec<_>>>().and_then(|capacities| capacities.into_iter().max());
        // Twice as much still fits: the steps towards it do.
        let fits = |most: i128| i64::try_from(most).ok().filter(|most| *most < i64::MAX / 4);
        most.and_then(fits).ok_or(EncodeError::Overflow)
    }

    /// Bisects between an interval that is refuted and the best one known, then asks for anything better than that at all. No
    /// interval is below `least`.
    fn least_interval(
        &mut self,
        mut least: Ratio<i128>,
        mut best: Option<CheckedBlock>,
    ) -> Result<BlockOutcome, EncodeError> {
        if self.problem.overfull().is_some() {
            return Ok(BlockOutcome::Infeasible);
        }
        let serial = Ratio::from_integer(i128::from(self.problem.serial()));
        // An interval of `least` itself is refuted once this is set.
        let mut refuted = false;
        loop {
            let trial = match &best {
                None if !refuted => least,
                None => serial,
                Some(answer) => {
                    let found = wide(answer.interval);
                    let below = next_below(self.problem, found)?;
                    if found == least || below < least || (refuted && below == least) {
                        return Ok(best.map_or(BlockOutcome::Infeasible, BlockOutcome::Optimal));
                    }
                    let middle = ((least + found) / 2).floor();
                    if middle > least && middle < below { middle } else { below }
                }
            };
            match self.decide(Scale::at(self.problem, trial)?, self.problem.capacities())? {
                Decision::Yes(shifts) => {
                    let found = checked_block(self.model, self.problem, &shifts, Claim::default())?;
                    if wide(found.interval) > trial {
                        return Err(Rejection::Interval { claimed: trial }.into());
                    }
                    best = Some(found);
                }
                Decision::No => (least, refuted) = (trial, true),
                Decision::Unknown(reason) => {
                    return open(best, BlockBound::Interval(narrow(least)?), reason);
                }
            }
        }
    }

    /// A shortest block of the same interval and at most the same memory, or the shortest found.
    fn shortest(&mut self, best: CheckedBlock, peak: Option<Units>) -> Result<CheckedBlock, EncodeError> {
        let interval = wide(best.interval);
        let scale = Scale::at(self.problem, interval)?;
        let limits = limits(self.problem, peak.map(|peak| peak.0));
        let Some(ranges) = Ranges::of(self.problem, scale, &limits) else {
            return Err(Rejection::Interval { claimed: interval }.into());
        };
        let query = Query::new(self.problem, scale, &ranges, &limits, (&mut self.solver, &self.stop));
        let Ok(mut query) = query else { return Ok(best) };
        let (mut least, mut best) = (ranges.length, best);
        loop {
            let length = i128::from(best.length(self.model).0);
            if length <= least {
                return Ok(best);
            }
            let trial = Integer::div_floor(&(least + length - 1), &2);
            match Decision::of(query.decide(Some(trial)))? {
                Decision::Yes(shifts) => {
                    let claim = Claim { interval: Some(interval), peak };
                    best = checked_block(self.model, self.problem, &shifts, claim)?;
                }
                Decision::No => least = trial + 1,
                Decision::Unknown(_) => return Ok(best),
            }
        }
    }

    /// Whether there is a block of this interval under these limits.
    fn decide(&mut self, scale: Scale, limits: &[Option<i64>]) -> Result<Decision, EncodeError> {
        match Ranges::of(self.problem, scale, limits) {
            None => Ok(Decision::No),
            Some(ranges) => Decision::of(self.solver.asked_twice(|solver| {
                let solver = (solver, &self.stop);
                Query::new(self.problem, scale, &ranges, limits, solver)?.decide(None)
            })),
        }
    }
}

fn wide(interval: Ratio<i64>) -> Ratio<i128> {
    Ratio::new((*interval.numer()).into(), (*interval.denom()).into())
}

fn narrow(interval: Ratio<i128>) -> Result<Ratio<i64>, EncodeError> {
    let part = |number: &i128| i64::try_from(*number).map_err(|_| EncodeError::Overflow);
    Ok(Ratio::new(part(interval.numer())?, part(interval.denom())?))
}
