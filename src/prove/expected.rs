//! The answers of solvers, as files of SMT-LIB state them.

use std::fmt;

/// The answer that a file of SMT-LIB says a solver should give.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// `unsat`: the theorem holds.
    Unsat,
    /// `sat`: the theorem is false.
    Sat,
    /// `unknown`: nobody knows yet.
    Unknown,
}

impl fmt::Display for Expected {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Unsat => "unsat",
            Self::Sat => "sat",
            Self::Unknown => "unknown",
        })
    }
}
