//! The SMT engine: a [solver](crate::smt) decides statements about the order of copies in difference logic, with memory as
//! pseudo-Boolean sums. Every bound is a proof of unsatisfiability.

mod query;

use self::query::Query;
use super::bisection::{Bisection, Decide, Decision, Known};
use super::ranges::{Ranges, Scale};
use super::statements::{first_copy, within};
use super::{BlockObjective, BlockOutcome, BlockProblem, EncodeError};
use crate::model::Model;
use crate::smt::{SmtError, Solver};
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
    solve_from(model, period, objective, None, stop)
}

/// The same, where a block may be known that the least interval is to be below.
pub(crate) fn solve_from(
    model: &Model,
    period: u32,
    objective: BlockObjective,
    known: Option<Known>,
    stop: &Stop,
) -> Result<BlockOutcome, EncodeError> {
    let problem = BlockProblem::periodic(model, period)?;
    let engine = SmtEngine::new(&problem, stop)?;
    Bisection { model, problem: &problem, engine, of_schedules: Some(stop) }.solve(objective, known)
}

struct SmtEngine<'a> {
    problem: &'a BlockProblem,
    /// Ends what is spent on the objective.
    sooner: Stop,
    stop: &'a Stop,
    solver: Solver,
}

impl<'a> SmtEngine<'a> {
    fn new(problem: &'a BlockProblem, stop: &'a Stop) -> Result<Self, EncodeError> {
        let sooner = stop.within(stop.remaining() / 4 * 3);
        Ok(Self { problem, sooner, stop, solver: Solver::find()? })
    }
}

impl Decide for SmtEngine<'_> {
    fn decide(
        &mut self,
        scale: Scale,
        ranges: &Ranges,
        limits: &[Option<i64>],
    ) -> Result<Decision, EncodeError> {
        decision(self.solver.asked_twice(|solver| {
            let waits = first_copy(self.problem, scale).into_iter();
            Query::new(self.problem, scale, ranges, limits, (solver, &self.sooner))?.decide(waits)
        }))
    }

    fn by_length(
        &mut self,
        scale: Scale,
        ranges: &Ranges,
        limits: &[Option<i64>],
    ) -> Option<impl FnMut(i128) -> Result<Decision, EncodeError>> {
        let problem = self.problem;
        let query = Query::new(problem, scale, ranges, limits, (&mut self.solver, self.stop));
        query.ok().map(|mut query| move |length| decision(query.decide(within(problem, scale, length))))
    }
}

/// What is said, unless the solver failed.
fn decision(said: Result<Decision, SmtError>) -> Result<Decision, EncodeError> {
    match said {
        Err(error) if error.is_failure() => Ok(Decision::Unknown(Some(error.into()))),
        said => Ok(said?),
    }
}
