//! The answer to the question of a theorem, and why there may be none.

use crate::smt::SmtError;
use crate::stop::Stop;

/// Why a theorem is neither proved nor refuted. In any case it holds for up to [`SURVEYED`](super::SURVEYED)
/// devices.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnknownReason {
    /// The time limit came first.
    #[error("the time limit came first")]
    Time,
    /// Somebody asked to end.
    #[error("interrupted")]
    Interrupted,
    /// There is no solver.
    #[error("there is no SMT solver to ask")]
    NoSolver,
    /// The solver gave up by itself.
    #[error("the solver gave up: {0}")]
    Solver(String),
    /// The solver failed, twice.
    #[error(transparent)]
    Failed(SmtError),
    /// The solver refutes it for too many devices to build and check a block.
    #[error("the solver's counterexample has {0} devices, too many to build and check the block")]
    TooManyDevices(i128),
    /// What it rests on is unknown.
    #[error("it rests on {0}, which is unknown")]
    Premise(String),
}

impl UnknownReason {
    /// Why it was time to stop.
    pub(super) fn of(stop: &Stop) -> Self {
        if stop.is_interrupted() { Self::Interrupted } else { Self::Time }
    }

    /// Whether more time or memory would have helped: the same question, asked again, may be answered.
    #[must_use]
    pub const fn is_out_of_time(&self) -> bool {
        matches!(self, Self::Time | Self::Interrupted | Self::Solver(_) | Self::Failed(_))
    }
}

/// What a solver says to the file of a theorem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SolverAnswer {
    /// There is no counterexample.
    Unsat,
    /// There is one for this number of devices.
    Sat(i128),
    /// It does not say.
    Unknown(UnknownReason),
}
