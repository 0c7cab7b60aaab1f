//! Theorems about block families: for every number of devices, or refuted at the smallest.
//!
//! The offsets of a family are formulas of linear integer arithmetic in the device `i` and the number
//! of devices `d`, so that its dependencies, its collisions, the places of its W, its exact peak memory
//! and every promise about them are statements of that arithmetic. [`theorems`] derives them from the
//! family; each is a file of SMT-LIB that any solver for integers can check, made without one.
//! [`prove`] decides them.
//!
//! A proof is the answer `unsat` of a [solver](crate::smt) to the text of the file. A refutation is never taken from
//! the solver: the block algebra, which shares nothing with the files, must find it at that number of
//! devices too.
//!
//! A theorem is about integers of any size. That a family with very large constants cannot be
//! evaluated in 64 bits at some number of devices counts against it only where that was tried.
//!
//! ```
//! use bubbleproof::block::family::shipped;
//! use bubbleproof::prove::theorems;
//!
//! let family = shipped("v-half").expect("a name");
//! for theorem in theorems(&family)? {
//!     println!("{}: {}", theorem.name, theorem.statement);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod answer;
mod counterexample;
mod decide;
mod device;
pub mod every;
mod expected;
mod expression;
mod library;
mod linear;
mod residues;
mod script;
mod solver;
mod squeeze;
mod subject;
mod survey;
mod term;
mod text;
mod theorem;
mod verdict;

pub use answer::UnknownReason;
pub use counterexample::{Counterexample, TheoremViolation};
pub use decide::{DecidedTheorem, SURVEYED, TheoremVerdict, prove, theorems};
pub use expected::Expected;
pub use library::{NamedTheorem, ProofFile, index, library, named};
pub use squeeze::{
    Attained, BubbleFreedom, IntervalTerm, Irregular, LinearForm, Makespan, Rate, Slow, SqueezedInterval,
    SqueezedIntervals, WITNESS_FORMAT, Witness, WitnessClaim, WitnessRejection, bubble_freedom,
    squeezed_intervals,
};
pub use subject::{Delay, Delays, TheoremSubject};
pub use theorem::Theorem;
pub use verdict::{FamilyVerdict, SqueezedOrder, SqueezedTheorems, Watched, verdict};

use crate::block::family::{Condition, EvaluationError, FamilyError};
use crate::smt::{Program, SmtError, Solver};

/// Whether there is a solver: without one, theorems are refuted but never proved. A named solver that is missing
/// counts, because asking it gives an error.
#[must_use]
pub fn has_solver() -> bool {
    !matches!(Program::find(), Err(SmtError::NoSolver))
}

/// The solver and its version, by its own account; empty where there is none that says so.
#[must_use]
pub fn solver_version() -> String {
    Solver::find().and_then(|mut solver| solver.version().map(str::to_owned)).unwrap_or_default()
}

/// Why the theorems of a family cannot be stated or decided.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProveError {
    /// The family has no blocks at all.
    #[error(transparent)]
    Family(#[from] FamilyError),
    /// A formula means nothing.
    #[error("the formula of {name} has no meaning: {error}")]
    Formula {
        /// What it is the formula of.
        name: String,
        /// Why not.
        error: EvaluationError,
    },
    /// Its squeezed order has no theorem.
    #[error(transparent)]
    Irregular(#[from] Irregular),
    /// There is nothing to prove anything about.
    #[error("no number of devices up to {most} is in the domain `{domain}`")]
    EmptyDomain {
        /// The domain.
        domain: Condition,
        /// The most devices that were tried.
        most: u32,
    },
    /// The text of a theorem is false where the block algebra finds nothing wrong.
    #[error(
        "internal error: the text of {theorem} is false for {devices} devices, where the block algebra finds nothing wrong"
    )]
    Unconfirmed {
        /// The theorem.
        theorem: String,
        /// The number of devices.
        devices: u32,
    },
    /// No small change of a family breaks a theorem about it.
    #[error("internal error: no change by less than the interval breaks {theorem}")]
    NoControl {
        /// The theorem.
        theorem: String,
    },
    /// The solver fails.
    #[error(transparent)]
    Solver(#[from] SmtError),
    /// What was derived about a squeezed order fails its own check.
    #[error("internal error: the witness about {family} is rejected: {error}")]
    Witness {
        /// The family.
        family: String,
        /// Why.
        error: Box<WitnessRejection>,
    },
}

#[cfg(test)]
mod tests;
