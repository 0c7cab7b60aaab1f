//! The solvers of integer programs, behind one interface: `HiGHS` and microlp.

#[cfg(feature = "highs")]
mod highs;
mod microlp;

use std::fmt;
use std::ops::Range;

use good_lp::{Constraint, Expression, ProblemVariables};

use super::super::EncodeError;
use crate::stop::Stop;

/// What solves an integer program, in floating point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Solver {
    /// `HiGHS`, written in C++: in builds with the feature `highs` alone.
    Highs,
    /// microlp, written in Rust: in every build with integer programs. It has no cuts and no presolve, and
    /// solves only small blocks.
    Microlp,
}

impl Solver {
    /// The strongest one of this build.
    pub const BEST: Self = if cfg!(feature = "highs") { Self::Highs } else { Self::Microlp };

    /// Whether this build has it.
    #[must_use]
    pub const fn is_there(self) -> bool {
        match self {
            Self::Highs => cfg!(feature = "highs"),
            Self::Microlp => true,
        }
    }

    /// What it is called.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Highs => "HiGHS",
            Self::Microlp => "microlp",
        }
    }

    /// Solves a program in the time that there is: on one thread, and without a gap.
    pub(super) fn solve(self, posed: Posed, stop: &Stop) -> Result<Solution, EncodeError> {
        match self {
            #[cfg(feature = "highs")]
            Self::Highs => highs::solve(posed, stop),
            #[cfg(not(feature = "highs"))]
            Self::Highs => Err(self.failure("this build was made without it")),
            Self::Microlp => microlp::solve(posed, stop),
        }
    }

    /// That it has failed.
    fn failure(self, message: impl Into<String>) -> EncodeError {
        EncodeError::Solver { engine: self.name(), message: message.into() }
    }
}

impl fmt::Display for Solver {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

/// An integer program to be minimised.
pub(super) struct Posed {
    /// Its variables.
    pub variables: ProblemVariables,
    /// Those of them that are wanted, which are integers, in the order of creation.
    pub wanted: Range<usize>,
    /// No integer variable that matters is larger than this in amount.
    pub largest: f64,
    /// Its rows.
    pub rows: Vec<Constraint>,
    /// What is minimised: a variable, or a negated one.
    pub objective: Expression,
}

/// What a solver says of a program. Of its numbers only the integers are used, which are checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Solution {
    /// A solution.
    Found {
        /// The rounded integers, by pair.
        shifts: Vec<i64>,
        /// Whether the solver calls it optimal.
        optimal: bool,
    },
    /// The solver says that there is none.
    Infeasible,
    /// None was found in time.
    None,
}

/// How many seconds a solver has. The solvers cannot take all that a clock can: without a limit, decades.
fn seconds(stop: &Stop) -> f64 {
    stop.remaining().as_secs_f64().min(1e9)
}
