//! SMT solvers: external programs that speak SMT-LIB 2 over pipes.
//!
//! A [`Solver`] is one conversation. [`begin`](Solver::begin) starts a question, [`tell`](Solver::tell)
//! declares and asserts, [`check`](Solver::check) asks, and [`truths`](Solver::truths) reads the model:
//!
//! ```no_run
//! use bubbleproof::smt::{Answer, Arithmetic, Question, Solver};
//! use bubbleproof::stop::Stop;
//!
//! let mut solver = Solver::find()?;
//! solver.begin(Question { logic: "QF_LIA", arithmetic: Arithmetic::Sums }, &Stop::default())?;
//! solver.tell("(declare-const x Int) (assert (< x 0)) (assert (> x 0))");
//! assert_eq!(solver.check(&Stop::default())?, Answer::Unsat);
//! # Ok::<(), bubbleproof::smt::SmtError>(())
//! ```
//!
//! One process answers many questions. Whatever goes wrong ends that process for good: it is killed and
//! reaped, and the next question starts another one. A [`Stop`](crate::stop::Stop) ends it too, within
//! moments, whether the solver listens or not. An answer is taken only from a line that is nothing but
//! `sat`, `unsat` or `unknown`, and only where nothing else was said since the question began.

mod error;
mod process;
mod program;
mod reply;
mod solver;

pub use error::SmtError;
use program::VARIABLE;
pub use program::{Language, Program};
pub use solver::{Answer, Arithmetic, Question, Solver, Unknown};

#[cfg(all(test, unix))]
mod tests;
