//! What is said to the question of a theorem, and why nothing is.

/// Why a theorem is neither proved nor refuted. In any case it holds for up to [`SURVEYED`](super::SURVEYED) devices.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// The time limit came first.
    #[error("the time limit came first")]
    Time,
    /// This build has no solver.
    #[error("this build has no solver")]
    NoSolver,
    /// The solver gave up by itself.
    #[error("the solver gave up: {0}")]
    Solver(String),
    /// The solver refutes it, for so many devices that no block can be made.
    #[error("the solver refutes it only for so many devices that no block can be made to see: {0}")]
    TooManyDevices(i128),
    /// What it rests on is unknown.
    #[error("it rests on {0}, which is unknown")]
    Premise(String),
}

/// What a solver says to the file of a theorem.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(not(feature = "smt"), expect(dead_code, reason = "only a solver can say yes or no"))]
pub(super) enum Answer {
    /// There is no counterexample.
    Unsat,
    /// There is one for so many devices.
    Sat(i128),
    /// It does not say.
    Unknown(Reason),
}
