//! The MILP engine: a solver of integer programs on the encoding divided by T.
//!
//! The [`Solver`] is `HiGHS` in builds with the feature `highs`, else microlp, which is written in Rust and
//! solves smaller blocks.
//!
//! Everything that this engine proves, it proves in floating-point numbers: optimality,
//! infeasibility and bounds are what the solver says, lowered by [`MARGIN`]. What it finds is exact:
//! only the integers `k` of its solution are used. A claim that matters should be asked of the SMT engine
//! too.

mod program;
mod solver;

use num_rational::Ratio;

use self::program::{Program, Rate};
pub use self::solver::Solver;
use self::solver::{Solution, Solved};
use super::ranges::{Ranges, Scale, limits, refuted_interval, refuted_limit};
use super::{
    BlockBound, BlockObjective, BlockOutcome, BlockProblem, CheckedBlock, Claim, EncodeError, checked_block,
};
use crate::model::{Model, Ticks, Units};
use crate::stop::Stop;

/// How much weaker than what the solver says a bound is taken to be, as a part of it: the tolerance to
/// which `HiGHS` satisfies rows and integrality; microlp's are no larger.
pub const MARGIN: f64 = 1e-6;

/// An optimal block of one microbatch per interval of the model, in the time that there is. Three quarters of
/// it at most are spent on the objective, the rest on a shortest block.
///
/// An interval is called optimal when the exact one of the block agrees with the bound of the solver up
/// to [`MARGIN`]; a peak, when the bound rules out the next smaller one.
///
/// # Errors
/// When the model cannot be encoded, the solver fails, or its answer fails the exact
/// check.
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
    solve_by(Solver::BEST, model, period, objective, stop)
}

/// The same, asked of this solver.
///
/// # Errors
/// As [`solve_periodic`]; also when this build lacks the solver.
pub fn solve_by(
    solver: Solver,
    model: &Model,
    period: u32,
    objective: BlockObjective,
    stop: &Stop,
) -> Result<BlockOutcome, EncodeError> {
    let problem = BlockProblem::periodic(model, period)?;
    let search = Search { solver, model, problem: &problem, stop: stop.within(stop.remaining() / 4 * 3) };
    let outcome = match objective {
        BlockObjective::LeastMemory { interval } => search.least_memory(interval)?,
        BlockObjective::LeastInterval => search.least_interval()?,
    };
    let BlockOutcome::Optimal(best) = &outcome else { return Ok(outcome) };
    let peak = match objective {
        BlockObjective::LeastMemory { .. } => Some(best.peak_max()),
        BlockObjective::LeastInterval => None,
    };
    let search = Search { stop: stop.clone(), ..search };
    let shorter = search.shorter(best, peak)?;
    Ok(shorter.map_or(outcome, BlockOutcome::Optimal))
}

struct Search<'a> {
    solver: Solver,
    model: &'a Model,
    problem: &'a BlockProblem,
    stop: Stop,
}

impl Search<'_> {
    fn least_memory(&self, interval: Ticks) -> Result<BlockOutcome, EncodeError> {
        if interval.0 <= 0 {
            return Err(EncodeError::NotPositive(interval));
        }
        if interval.0 < self.problem.most_work() {
            return Ok(BlockOutcome::Infeasible);
        }
        let ticks = Ratio::from_integer(i128::from(interval.0));
        let scale = Scale::at(self.problem, ticks)?;
        let Some(ranges) = Ranges::of(self.problem, scale, self.problem.capacities()) else {
            return Ok(BlockOutcome::Infeasible);
        };
        let quantum = self.problem.quantum();
        let least = refuted_limit(self.problem, scale)? + quantum;

        let mut program = Program::new(self.problem, &ranges, Rate::Fixed(ticks));
        program.capacity(self.problem.capacities());
        let solved = program.minimise_peak(least).solve(self.solver, &self.stop)?;
        // The least multiple of the quantum that the bound allows.
        let units = program::peak_unit(self.problem);
        let proved = lowered(solved.bound) * units.size / as_float(quantum);
        let proved = if proved.is_finite() { floor(proved.ceil()) * quantum } else { least };
        let bound = least.max(proved);
        let Solution::Found { shifts, objective } = solved.solution else {
            return Ok(unsolved(&solved, BlockBound::Memory(Units(bound))));
        };
        let claimed = if units.integral {
            floor(objective.round()) * quantum
        } else {
            floor((objective + MARGIN) * units.size)
        };
        let claim = Claim { interval: Some(ticks), peak: Some(Units(claimed)) };
        let answer = checked_block(self.model, self.problem, &shifts, claim)?;
        Ok(if answer.peak_max().0 <= bound {
            BlockOutcome::Optimal(answer)
        } else {
            BlockOutcome::Bounded { best: Some(answer), bound: BlockBound::Memory(Units(bound)) }
        })
    }

    fn least_interval(&self) -> Result<BlockOutcome, EncodeError> {
        if self.problem.overfull().is_some() {
            return Ok(BlockOutcome::Infeasible);
        }
        let (least, most) = (refuted_interval(self.problem)?, self.problem.serial());
        let [from, to] = [least, most].map(|ticks| Ratio::from_integer(i128::from(ticks)));
        let scale = Scale::between(self.problem, from, to)?;
        let Some(ranges) = Ranges::of(self.problem, scale, self.problem.capacities()) else {
            let message = "a serial block is feasible, but its ranges are empty".to_owned();
            return Err(EncodeError::Solver { engine: "propagation", message });
        };
        let mut program = Program::new(self.problem, &ranges, Rate::Between { least, most });
        program.capacity(self.problem.capacities());
        let solved = program.maximise_rate().solve(self.solver, &self.stop)?;
        // The objective is the negated rate, in most work per interval.
        let work = as_float(self.problem.most_work());
        let proved = if solved.bound < 0.0 { work / -solved.bound } else { 0.0 };
        let parts = Ratio::new(floor(lowered(proved) * as_float(PARTS)), PARTS);
        let bound = parts.max(Ratio::from_integer(least));
        let Solution::Found { shifts, .. } = solved.solution else {
            return Ok(unsolved(&solved, BlockBound::Interval(bound)));
        };
        let answer = checked_block(self.model, self.problem, &shifts, Claim::default())?;
        let agrees = lowered(ratio(answer.interval)) <= proved.max(as_float(least));
        Ok(if solved.optimal && agrees {
            BlockOutcome::Optimal(answer)
        } else {
            BlockOutcome::Bounded { best: Some(answer), bound: BlockBound::Interval(bound) }
        })
    }

    /// A shorter block of the same interval and at most the same memory, if one is found in time.
    /// What the solver gets wrong here does not spoil the answer there is.
    fn shorter(&self, best: &CheckedBlock, peak: Option<Units>) -> Result<Option<CheckedBlock>, EncodeError> {
        let ticks = Ratio::new((*best.interval.numer()).into(), (*best.interval.denom()).into());
        let scale = Scale::at(self.problem, ticks)?;
        let limits = limits(self.problem, peak.map(|peak| peak.0));
        let Some(ranges) = Ranges::of(self.problem, scale, &limits) else { return Ok(None) };
        let length = best.length(self.model);
        if i128::from(length.0) <= ranges.length {
            return Ok(None);
        }
        let mut program = Program::new(self.problem, &ranges, Rate::Fixed(ticks));
        program.capacity(&limits);
        let solved = match program.minimise_length().solve(self.solver, &self.stop) {
            Ok(solved) => solved,
            Err(EncodeError::Solver { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        let Solution::Found { shifts, .. } = solved.solution else { return Ok(None) };
        match checked_block(self.model, self.problem, &shifts, Claim { interval: Some(ticks), peak }) {
            Ok(other) => Ok((other.length(self.model) < length).then_some(other)),
            Err(EncodeError::Rejected(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Fractions of a tick in which a bound on the interval is given.
const PARTS: i64 = 1024;

/// The outcome without a solution.
fn unsolved(solved: &Solved, bound: BlockBound) -> BlockOutcome {
    match solved.solution {
        Solution::Infeasible => BlockOutcome::Infeasible,
        Solution::None | Solution::Found { .. } => BlockOutcome::Bounded { best: None, bound },
    }
}

/// A lower bound that allows for the error of a solver.
fn lowered(bound: f64) -> f64 {
    bound - MARGIN * bound.abs().max(1.0)
}

fn ratio(interval: Ratio<i64>) -> f64 {
    as_float(*interval.numer()) / as_float(*interval.denom())
}

#[expect(clippy::cast_precision_loss, reason = "what the solver is told is rounded; its answer is checked")]
const fn as_float(amount: i64) -> f64 {
    amount as f64
}

/// The next smaller integer; the largest or smallest one for what has none.
#[expect(clippy::cast_possible_truncation, reason = "saturates, and every use is a bound or is checked")]
fn floor(value: f64) -> i64 {
    value.floor() as i64
}
