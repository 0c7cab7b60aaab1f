//! A solver, asked with the text of a theorem's file.

use super::ProveError;
use super::answer::{SolverAnswer, UnknownReason};
use super::expected::Expected;
use super::theorem::Theorem;
use crate::smt::{self, Arithmetic, Question, SmtError, Solver, Unknown};
use crate::stop::Stop;

/// Whoever can be asked about theorems: a solver, or nobody where there is none.
#[derive(Debug)]
pub(super) struct Judge(Option<Solver>);

impl Judge {
    /// The solver that is there, or nobody.
    ///
    /// # Errors
    /// When a solver is named that is not there.
    pub fn find() -> Result<Self, ProveError> {
        match Solver::find() {
            Ok(solver) => Ok(Self(Some(solver))),
            Err(SmtError::NoSolver) => Ok(Self(None)),
            Err(error) => Err(error.into()),
        }
    }

    /// Asks for a counterexample, of all or with at most this many devices. A solver that fails is asked once
    /// more; if it fails again, there is no answer.
    ///
    /// # Errors
    /// When what was chosen is no solver.
    pub fn ask(
        &mut self,
        theorem: &Theorem,
        at_most: Option<i128>,
        stop: &Stop,
    ) -> Result<SolverAnswer, ProveError> {
        let Some(solver) = &mut self.0 else { return Ok(SolverAnswer::Unknown(UnknownReason::NoSolver)) };
        let text = theorem.smt_lib(Expected::Unknown);
        let said = solver.asked_twice(|solver| {
            read(solver, &text, stop)?;
            if let Some(most) = at_most {
                solver.tell(&format!("(assert (<= d {most}))"));
            }
            Ok(match solver.check(stop)? {
                smt::Answer::Unsat => SolverAnswer::Unsat,
                smt::Answer::Sat => match solver.integer("d", stop)? {
                    Some(devices) => SolverAnswer::Sat(devices),
                    None => SolverAnswer::Unknown(UnknownReason::of(stop)),
                },
                smt::Answer::Unknown(Unknown::Stopped) => SolverAnswer::Unknown(UnknownReason::of(stop)),
                smt::Answer::Unknown(Unknown::GaveUp(why)) => {
                    SolverAnswer::Unknown(UnknownReason::Solver(why))
                }
            })
        });
        match said {
            Err(error) if error.is_failure() => Ok(SolverAnswer::Unknown(UnknownReason::Failed(error))),
            said => Ok(said?),
        }
    }
}

/// What a solver says to a text, asked once more if it fails.
///
/// # Errors
/// When it fails again.
pub(super) fn answer(text: &str, solver: &mut Solver, stop: &Stop) -> Result<Expected, SmtError> {
    solver.asked_twice(|solver| {
        read(solver, text, stop)?;
        Ok(match solver.check(stop)? {
            smt::Answer::Unsat => Expected::Unsat,
            smt::Answer::Sat => Expected::Sat,
            smt::Answer::Unknown(_) => Expected::Unknown,
        })
    })
}

/// Gives the solver a text without the lines that are not about the question: its logic, the expected answer, which the
/// solver must not know, and the request to answer.
fn read(solver: &mut Solver, text: &str, stop: &Stop) -> Result<(), SmtError> {
    let logic = text.lines().find_map(|line| line.strip_prefix("(set-logic ")?.strip_suffix(')'));
    let has_quotients = text.contains("(div ") || text.contains("(mod ");
    let arithmetic = if has_quotients { Arithmetic::Quotients } else { Arithmetic::Sums };
    solver.begin(Question { logic: logic.unwrap_or("ALL"), arithmetic }, stop)?;
    let about = ["(set-logic ", "(set-info ", "(check-sat)"];
    for line in text.lines().filter(|line| !about.iter().any(|start| line.starts_with(start))) {
        solver.tell(line);
    }
    Ok(())
}
