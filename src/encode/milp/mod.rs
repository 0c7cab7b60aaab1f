//! The MILP engine: a solver of integer programs on the encoding divided by T.
//!
//! The [`Solver`] is `HiGHS` in builds with the feature `highs`, else microlp, which is written in Rust and
//! solves smaller blocks.
//!
//! What this engine finds is exact: only the integers `k` of the solver's solution are used. What the solver says in
//! floating-point numbers, that nothing is better or that there is nothing, proves nothing: where times of very
//! different sizes meet, it calls optimal what is not. So an [`Outcome`] can carry it as a claim only, next to a bound
//! from exact propagation (`ranges.rs`); a block is optimal only where that bound says so by itself. Where times lie
//! further apart than the tolerances of the solvers, they are not asked.

mod program;
mod solver;

use num_rational::Ratio;

use self::program::{Program, Rate};
use self::solver::Solution;
pub use self::solver::Solver;
use super::ranges::{Ranges, Scale, limits, next_below, refuted_interval, refuted_limit};
use super::{
    BlockBound, BlockObjective, BlockOutcome, BlockProblem, CheckedBlock, Claim, EncodeError, checked_block,
};
use crate::certificate::interval_bound;
use crate::model::{Model, Ticks, Units};
use crate::stop::Stop;

/// The largest allowed ratio of the longest to the shortest time of a program. The solvers satisfy rows to within a
/// millionth of an interval: anything shorter does not exist for them.
pub const MOST_APART: i64 = 1_000_000;

/// What this engine has found out: a block, what exact arithmetic knows of it, and what the solver says.
/// That a block is optimal is none of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Exact propagation refutes every block, without the solver.
    Infeasible,
    /// There may be a better block, whatever the solver says.
    Open {
        /// The best block found, if any was. It has passed the exact checks.
        best: Option<CheckedBlock>,
        /// No block is better than this, by exact propagation.
        bound: BlockBound,
        /// The solver that says, in floating point, that no block is better; nothing where it does not.
        claimed: Option<Solver>,
    },
}

impl From<Outcome> for BlockOutcome {
    /// A block that is as good as the exact bound is optimal; everything else stays what it is.
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Infeasible => Self::Infeasible,
            Outcome::Open { best: Some(best), bound, .. } if bound.is_met_by(&best) => Self::Optimal(best),
            Outcome::Open { best, bound, claimed: Some(solver) } => {
                Self::Claimed { best, bound, solver: solver.name() }
            }
            Outcome::Open { best, bound, claimed: None } => Self::Bounded { best, bound },
        }
    }
}

/// A best block of one microbatch per interval of the model, in the time that there is. Three quarters of
/// it at most are spent on the objective, the rest on a shortest block.
///
/// # Errors
/// When the model cannot be encoded, its times are too far apart for the solver, the solver fails, or its
/// answer fails the exact check.
pub fn solve(model: &Model, objective: BlockObjective, stop: &Stop) -> Result<Outcome, EncodeError> {
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
) -> Result<Outcome, EncodeError> {
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
) -> Result<Outcome, EncodeError> {
    let problem = BlockProblem::periodic(model, period)?;
    search(&Search { solver, model, problem: &problem, stop: stop.clone() }, objective)
}

/// The objective first, in three quarters of the time, then the length.
fn search(all: &Search<'_>, objective: BlockObjective) -> Result<Outcome, EncodeError> {
    let search = Search { stop: all.stop.within(all.stop.remaining() / 4 * 3), ..*all };
    let outcome = match objective {
        BlockObjective::LeastMemory { interval } => search.least_memory(interval)?,
        BlockObjective::LeastInterval => search.least_interval()?,
    };
    let Outcome::Open { best: Some(best), bound, claimed } = outcome else { return Ok(outcome) };
    if claimed.is_none() && !bound.is_met_by(&best) {
        // There was no time for the objective itself.
        return Ok(Outcome::Open { best: Some(best), bound, claimed });
    }
    let peak = match objective {
        BlockObjective::LeastMemory { .. } => Some(best.peak_max()),
        BlockObjective::LeastInterval => None,
    };
    let shorter = all.shorter(&best, peak)?;
    Ok(Outcome::Open { best: Some(shorter.unwrap_or(best)), bound, claimed })
}

struct Search<'a> {
    solver: Solver,
    model: &'a Model,
    problem: &'a BlockProblem,
    stop: Stop,
}

impl Search<'_> {
    fn least_memory(&self, interval: Ticks) -> Result<Outcome, EncodeError> {
        if interval.0 <= 0 {
            return Err(EncodeError::NotPositive(interval));
        }
        if interval.0 < self.problem.most_work() {
            return Ok(Outcome::Infeasible);
        }
        let ticks = Ratio::from_integer(i128::from(interval.0));
        let scale = Scale::at(self.problem, ticks)?;
        let Some(ranges) = Ranges::of(self.problem, scale, self.problem.capacities()) else {
            return Ok(Outcome::Infeasible);
        };
        let least = refuted_limit(self.problem, scale)? + self.problem.quantum();
        let bound = BlockBound::Memory(Units(least));
        self.check_numbers()?;

        let mut program = Program::new(self.problem, &ranges, Rate::Fixed(ticks));
        program.capacity(self.problem.capacities());
        let solution = program.minimise_peak(least).solve(self.solver, &self.stop)?;
        let claim = Claim { interval: Some(ticks), peak: None };
        self.outcome(solution, claim, |_| Ok(bound))
    }

    fn least_interval(&self) -> Result<Outcome, EncodeError> {
        if self.problem.overfull().is_some() {
            return Ok(Outcome::Infeasible);
        }
        let (least, most) = (refuted_interval(self.problem)?, self.problem.serial());
        let [from, to] = [least, most].map(|ticks| Ratio::from_integer(i128::from(ticks)));
        let scale = Scale::between(self.problem, from, to)?;
        let Some(ranges) = Ranges::of(self.problem, scale, self.problem.capacities()) else {
            return Err(EncodeError::Contradiction("a serial block is feasible, but its ranges are empty"));
        };
        self.check_numbers()?;
        let mut program = Program::new(self.problem, &ranges, Rate::Between { least, most });
        program.capacity(self.problem.capacities());
        let solution = program.maximise_rate().solve(self.solver, &self.stop)?;
        let of_schedules = interval_bound(self.model) * i64::from(self.problem.period());
        let known = of_schedules.max(Ratio::from_integer(least));
        self.outcome(solution, Claim::default(), |best| {
            let refuted = best.map_or(Ok(false), |best| self.is_anything_shorter_refuted(best))?;
            let met = best.filter(|_| refuted).map_or(known, |best| best.interval);
            Ok(BlockBound::Interval(met.max(known)))
        })
    }

    /// Whether propagation refutes every interval shorter than that of a block.
    fn is_anything_shorter_refuted(&self, best: &CheckedBlock) -> Result<bool, EncodeError> {
        let below = next_below(self.problem, wide(best.interval))?;
        if below < Ratio::from_integer(self.problem.most_work().into()) {
            return Ok(true);
        }
        let scale = Scale::at(self.problem, below)?;
        Ok(Ranges::of(self.problem, scale, self.problem.capacities()).is_none())
    }

    /// The outcome of a solution, with the exact bound that is known next to a block or to none.
    fn outcome(
        &self,
        solution: Solution,
        claim: Claim,
        bound: impl FnOnce(Option<&CheckedBlock>) -> Result<BlockBound, EncodeError>,
    ) -> Result<Outcome, EncodeError> {
        let (best, claimed) = match solution {
            Solution::Found { shifts, optimal } => {
                let best = checked_block(self.model, self.problem, &shifts, claim);
                (Some(best.map_err(|error| self.misjudged(error))?), optimal)
            }
            Solution::Infeasible => (None, true),
            Solution::None => (None, false),
        };
        let bound = bound(best.as_ref())?;
        Ok(Outcome::Open { best, bound, claimed: claimed.then_some(self.solver) })
    }

    /// Refuses times that are further apart than the solver can tell.
    fn check_numbers(&self) -> Result<(), EncodeError> {
        let links = self.problem.links().iter().map(|link| link.lag);
        let times =
            || self.problem.durations().iter().copied().chain(links.clone()).filter(|&ticks| ticks > 0);
        let (shortest, longest) = (times().min().unwrap_or(1), times().max().unwrap_or(1));
        if longest / shortest > MOST_APART {
            return Err(EncodeError::FarApart {
                solver: self.solver.name(),
                shortest: Ticks(shortest),
                longest: Ticks(longest),
            });
        }
        Ok(())
    }

    /// What the solver has found is no block: its arithmetic is not up to the numbers.
    fn misjudged(&self, error: EncodeError) -> EncodeError {
        match error {
            EncodeError::Rejected(rejection) => {
                EncodeError::Inexact { solver: self.solver.name(), rejection }
            }
            error => error,
        }
    }

    /// A shorter block of the same interval and at most the same memory, if one is found in time.
    /// What the solver gets wrong here does not spoil the answer there is.
    fn shorter(&self, best: &CheckedBlock, peak: Option<Units>) -> Result<Option<CheckedBlock>, EncodeError> {
        let ticks = wide(best.interval);
        let scale = Scale::at(self.problem, ticks)?;
        let limits = limits(self.problem, peak.map(|peak| peak.0));
        let Some(ranges) = Ranges::of(self.problem, scale, &limits) else { return Ok(None) };
        let length = best.length(self.model);
        if i128::from(length.0) <= ranges.length {
            return Ok(None);
        }
        let mut program = Program::new(self.problem, &ranges, Rate::Fixed(ticks));
        program.capacity(&limits);
        let solution = match program.minimise_length().solve(self.solver, &self.stop) {
            Ok(solution) => solution,
            Err(EncodeError::Solver { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        let Solution::Found { shifts, .. } = solution else { return Ok(None) };
        match checked_block(self.model, self.problem, &shifts, Claim { interval: Some(ticks), peak }) {
            Ok(other) => Ok((other.length(self.model) < length).then_some(other)),
            Err(EncodeError::Rejected(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

fn wide(interval: Ratio<i64>) -> Ratio<i128> {
    Ratio::new((*interval.numer()).into(), (*interval.denom()).into())
}

#[expect(clippy::cast_precision_loss, reason = "what the solver is told is rounded; its answer is checked")]
const fn as_float(amount: i64) -> f64 {
    amount as f64
}

/// The next smaller integer; the largest or smallest one for what has none.
#[expect(clippy::cast_possible_truncation, reason = "saturates, and every use is checked")]
fn floor(value: f64) -> i64 {
    value.floor() as i64
}
