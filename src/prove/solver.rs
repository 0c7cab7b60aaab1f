//! Z3, asked with the text of a theorem's file.

use std::time::{Duration, Instant};

use z3::ast::Int;
use z3::{Params, SatResult, Solver};

use super::ProveError;
use super::answer::{Answer, Reason};
use super::theorem::{Expected, Theorem};

/// Asks for a counterexample, of all or with at most so many devices.
pub(super) fn ask(theorem: &Theorem, at_most: Option<i128>, deadline: Instant) -> Result<Answer, ProveError> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Ok(Answer::Unknown(Reason::Time));
    }
    let solver = reader(&theorem.name, theorem.smt_lib(Expected::Unknown), left)?;
    let devices = Int::new_const("d");
    if let Some(most) = at_most {
        solver.assert(devices.le(Int::from_i128(most)));
    }
    Ok(match solver.check() {
        SatResult::Unsat => Answer::Unsat,
        SatResult::Sat => {
            let value = solver.get_model().and_then(|model| model.eval(&devices, true));
            match value.and_then(|value| value.to_string().parse().ok()) {
                Some(devices) => Answer::Sat(devices),
                None => {
                    Answer::Unknown(Reason::Solver("its counterexample has no number of devices".to_owned()))
                }
            }
        }
        SatResult::Unknown => {
            let message = solver.get_reason_unknown().unwrap_or_default();
            let timed_out = ["timeout", "canceled"].contains(&message.as_str());
            Answer::Unknown(if timed_out { Reason::Time } else { Reason::Solver(message) })
        }
    })
}

/// What the solver says to a text, which has this name.
pub(super) fn answer(name: &str, text: String, limit: Duration) -> Result<Expected, ProveError> {
    Ok(match reader(name, text, limit)?.check() {
        SatResult::Unsat => Expected::Unsat,
        SatResult::Sat => Expected::Sat,
        SatResult::Unknown => Expected::Unknown,
    })
}

/// A solver that has read the whole text.
fn reader(name: &str, text: String, limit: Duration) -> Result<Solver, ProveError> {
    let solver = Solver::new();
    let mut params = Params::new();
    params.set_u32("timeout", u32::try_from(limit.as_millis()).unwrap_or(u32::MAX).max(1));
    params.set_u32("random_seed", 0);
    // With quotients and remainders the older of its two procedures is many times faster, without them the
    // newer one.
    if text.contains("(div ") || text.contains("(mod ") {
        params.set_u32("arith.solver", 2);
    }
    solver.set_params(&params);
    // What cannot be parsed adds nothing, and nothing has a model. Every assertion begins a line.
    let written = text.lines().filter(|line| line.starts_with("(assert")).count();
    solver.from_string(text);
    let read = solver.get_assertions().len();
    if read != written {
        return Err(ProveError::Unread { theorem: name.to_owned(), written, read });
    }
    Ok(solver)
}
