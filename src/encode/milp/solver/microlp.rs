//! microlp: branch and bound over a simplex method, in Rust. It looks at its clock every few pivots, so a
//! time limit holds.

use good_lp::solvers::{SolutionStatus, WithTimeLimit};
use good_lp::{ResolutionError, Solution as _, SolverModel, microlp};

use super::super::floor;
use super::{Posed, Solution, Solver, seconds};
use crate::encode::EncodeError;
use crate::stop::Stop;

/// Runs microlp for as long as there is left, without a gap.
pub(super) fn solve(posed: Posed, stop: &Stop) -> Result<Solution, EncodeError> {
    let Posed { variables, wanted, largest, rows, objective } = posed;
    // Its integers have 32 bits; it would call infeasible what needs a larger one.
    if largest > f64::from(i32::MAX) {
        return Err(EncodeError::Overflow);
    }
    let mut problem = variables.minimise(objective).using(microlp);
    for row in rows {
        problem.add_constraint(row);
    }
    let found = match problem.with_time_limit(seconds(stop)).solve() {
        Ok(found) => found,
        Err(ResolutionError::Infeasible) => return Ok(Solution::Infeasible),
        // The time was up.
        Err(ResolutionError::Other(_)) => return Ok(Solution::None),
        Err(error) => return Err(Solver::Microlp.failure(error.to_string())),
    };
    let optimal = matches!(found.status(), SolutionStatus::Optimal);
    let found = found.into_inner();
    let shifts = found.iter().skip(wanted.start).take(wanted.len()).map(|(_, value)| floor(value)).collect();
    Ok(Solution::Found { shifts, optimal })
}
