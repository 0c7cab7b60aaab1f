//! `HiGHS`. With tolerances of 1e-9, or with a first solution offered to it, it calls optimal what is not in
//! a few of several hundred blocks. Its tolerances are therefore left alone, and it starts from nothing.

use std::fmt::Debug;

use good_lp::{SolverModel, highs};

use super::super::floor;
use super::{Posed, Solution, Solver, seconds};
use crate::encode::EncodeError;
use crate::stop::Stop;

/// Rules of presolve, each with its bit, that lose solutions in `HiGHS` 1.15.0. With parallel rows and columns, the least memory of
/// 14 of 256 small models of two devices was called infeasible. With probing and without these, an interval of 10 ticks was
/// called the least where there is a block of 8.
const LOSSY_RULES: i32 = PARALLEL_ROWS_AND_COLUMNS | PROBING;
const PARALLEL_ROWS_AND_COLUMNS: i32 = 1 << 13;
const PROBING: i32 = 1 << 15;
/// The status that `HiGHS` gives a model it has solved.
const OPTIMAL: isize = 7;
/// The status of a model without solutions.
const INFEASIBLE: isize = 8;
/// The status of a solution that satisfies all rows.
const FEASIBLE: i64 = 2;

/// Runs `HiGHS` for as long as there is left: on one thread, from a fixed seed, without a gap.
pub(super) fn solve(posed: Posed, stop: &Stop) -> Result<Solution, EncodeError> {
    let Posed { variables, wanted, rows, objective, .. } = posed;
    let mut problem = variables.minimise(objective).using(highs);
    for row in rows {
        problem.add_constraint(row);
    }
    let mut model = problem.try_into_inner().map_err(|error| failure(&error))?;
    model.make_quiet();
    for (option, value) in [("mip_rel_gap", 0.0), ("mip_abs_gap", 0.0), ("time_limit", seconds(stop))] {
        model.try_set_option(option, value).map_err(|error| failure(&error))?;
    }
    for (option, value) in [("threads", 1), ("random_seed", 0), ("presolve_rule_off", LOSSY_RULES)] {
        model.try_set_option(option, value).map_err(|error| failure(&error))?;
    }
    let solved = model.try_solve().map_err(|error| failure(&error))?;
    let status = solved.status() as isize;
    let number = |name| solved.int_info_value(name).map_err(|error| failure(&error));
    Ok(if number(c"primal_solution_status")? == FEASIBLE {
        let columns = solved.get_solution();
        let shifts = columns.columns()[wanted].iter().map(|value| floor(value.round())).collect();
        Solution::Found { shifts, optimal: status == OPTIMAL }
    } else if status == INFEASIBLE {
        Solution::Infeasible
    } else {
        Solution::None
    })
}

fn failure(error: &dyn Debug) -> EncodeError {
    Solver::Highs.failure(format!("{error:?}"))
}
