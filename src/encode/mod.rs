//! Optimal building blocks from solvers: the encodings of least memory and of least interval.
//!
//! For a pair `a, b` of passes on one device an integer `k_ab` says how their copies interleave, and
//! `k_ba = 1 - k_ab`:
//! ```text
//! t_a  <=  o_b - o_a + T*k_ab  <=  T - t_b
//! ```
//! The exact steady-state memory of a device is linear in these integers alone: when F of stage r
//! starts, `1 - k[F_s, F_r] - k[F_r, W_s]` copies of what stage s holds from F to W are live. With T
//! given this is a linear program in integers; divided by T, with `u = o/T` and `r = 1/T`, it is
//! one in which T is free.
//!
//! With K microbatches per interval every pass has K copies in the block, and nothing else changes.
//!
//! Three engines solve it: `milp` (`HiGHS` or microlp), [`smt`] (an SMT solver) and `lcg` (lazy clause generation). The last two share
//! the statements that they decide. What any of them finds counts only after the integers alone have been turned into a block in
//! exact arithmetic.

mod bisection;
mod exact;
#[cfg(feature = "lcg")]
pub mod lcg;
#[cfg(feature = "milp")]
pub mod milp;
mod problem;
mod ranges;
pub mod smt;
mod statements;

pub(crate) use bisection::Known;
pub(crate) use exact::{Claim, checked_block};
pub(crate) use problem::BlockProblem;

use std::fmt;

use num_rational::Ratio;

use crate::block::{Block, BlockError, BlockViolation};
use crate::model::{Device, Model, Pass, Ticks, Units};

/// What a block minimises, over blocks of K microbatches per interval. The capacities of the model hold in
/// either case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockObjective {
    /// The least largest peak of a device, at a given interval in ticks (of all K microbatches). (Units
    /// are compared across devices: the memory of all devices is counted in the same unit.)
    LeastMemory {
        /// The interval T.
        interval: Ticks,
    },
    /// The least interval of K microbatches, a rational number of ticks, under the capacities of the model.
    LeastInterval,
}

/// What is asked for, in words.
impl fmt::Display for BlockObjective {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LeastMemory { interval } => write!(out, "least memory at interval {interval}"),
            Self::LeastInterval => write!(out, "least interval within the memory limits"),
        }
    }
}

/// A block that has passed the exact checks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedBlock {
    /// The block. Its first pass starts at 0.
    pub block: Block,
    /// Its interval in ticks.
    pub interval: Ratio<i64>,
    /// Its exact peak on each device.
    pub peak: Vec<Units>,
}

impl CheckedBlock {
    /// The largest peak of a device.
    #[must_use]
    pub fn peak_max(&self) -> Units {
        self.peak.iter().copied().max().unwrap_or_default()
    }

    /// From the first start of the block to its last end, in parts of a tick.
    #[must_use]
    pub fn length(&self, model: &Model) -> Ticks {
        let ends = self.block.passes().map(|(pass, start)| start + self.block.duration(model, pass));
        ends.max().unwrap_or_default()
    }
}

/// A value below which what a block minimises cannot fall.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockBound {
    /// On the largest peak of a device.
    Memory(Units),
    /// On the interval of all K microbatches, in ticks.
    Interval(Ratio<i64>),
}

impl BlockBound {
    /// Whether a block is as good as this, so that none is better.
    #[must_use]
    pub fn is_met_by(&self, best: &CheckedBlock) -> bool {
        match *self {
            Self::Memory(units) => best.peak_max() <= units,
            Self::Interval(interval) => best.interval <= interval,
        }
    }
}

/// What an engine has found out: the best block, and what is known of how much better any block can be.
///
/// Whatever the engine, a block has passed the exact checks, and bounds, that no block is better and that there
/// is none are proved in exact arithmetic. What a solver says in floating point is a claim, and has a variant of
/// its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlockOutcome {
    /// No block is better.
    Optimal(CheckedBlock),
    /// It was time to stop first.
    Bounded {
        /// The best block found, if any was.
        best: Option<CheckedBlock>,
        /// No block is better than this.
        bound: BlockBound,
    },
    /// A solver says, in floating point, that no block is better, or that there is none. That is no proof.
    Claimed {
        /// The best block found; nothing where the solver says that there is none.
        best: Option<CheckedBlock>,
        /// No block is better than this: what is proved, without the solver.
        bound: BlockBound,
        /// The solver.
        solver: &'static str,
    },
    /// No block has this interval or fits under the capacities.
    Infeasible,
}

impl BlockOutcome {
    /// The best block found.
    #[must_use]
    pub const fn best(&self) -> Option<&CheckedBlock> {
        match self {
            Self::Optimal(best) => Some(best),
            Self::Bounded { best, .. } | Self::Claimed { best, .. } => best.as_ref(),
            Self::Infeasible => None,
        }
    }
}

/// Why exact arithmetic refutes a solver's answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Rejection {
    /// No offsets have these shifts, whatever the interval.
    #[error("its passes wait for each other in a cycle")]
    Contradiction,
    /// The interval is too short for the shifts.
    #[error("it cannot repeat every {claimed} ticks")]
    Interval {
        /// The interval.
        claimed: Ratio<i128>,
    },
    /// The block has a fault.
    #[error("{0}")]
    BlockViolation(BlockViolation),
    /// The exact peak is another one.
    #[error("device {device} holds {exact} units, not {claimed}")]
    Peak {
        /// The device.
        device: Device,
        /// The peak that follows from the shifts.
        claimed: Units,
        /// The peak of the block.
        exact: Units,
    },
    /// The peak exceeds a capacity, or what the engine claims.
    #[error("device {device} holds {peak} units, more than {capacity}")]
    Capacity {
        /// The device.
        device: Device,
        /// Its peak.
        peak: Units,
        /// The most that it may be.
        capacity: Units,
    },
}

/// Why an engine has no outcome.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// A pass that takes no time has no place in the cyclic order of its device. (A W may take none.)
    #[error("`{0}` takes no time: the encodings need a positive duration of every F and I")]
    NoDuration(Pass),
    /// Too large a pipeline.
    #[error("{0} stages are more than the {max} that can be encoded", max = BlockProblem::MAX_STAGES)]
    TooManyStages(u32),
    /// No microbatch in an interval, or too many.
    #[error(
        "{period} microbatches per interval cannot be encoded: with this number of stages, 1 to {most} can"
    )]
    Period {
        /// How many were asked for.
        period: u32,
        /// The most that can be encoded for the stages.
        most: u32,
    },
    /// The interval asked for is not positive.
    #[error("an interval of {0} ticks is not positive")]
    NotPositive(Ticks),
    /// Numbers too large for exact arithmetic.
    #[error("the times are too large for an exact interval; choose a coarser unit")]
    Overflow,
    /// Times too large for an engine that calculates in 32 bits.
    #[error("the times are too large for an engine that calculates in 32 bits")]
    TooWide,
    /// Too large a problem for lazy clause generation.
    #[error(
        "{statements} open orders of two passes are more than the {most} that lazy clause generation takes"
    )]
    TooMany {
        /// How many statements about orders there are.
        statements: u64,
        /// The most that it takes.
        most: u64,
    },
    /// The answer of the solver fails the exact check.
    #[error("the solver's answer is wrong: {0}")]
    Rejected(#[from] Rejection),
    /// The answer of the solver is no block.
    #[error("the solver's answer is not a valid block: {0}")]
    Block(BlockError),
    /// The times of the model lie too far apart for a solver in floating point, so it was not asked.
    #[error(
        "times from {shortest} to {longest} ticks lie too far apart for the floating-point arithmetic of {solver}"
    )]
    FarApart {
        /// The solver.
        solver: &'static str,
        /// The shortest time that is not 0.
        shortest: Ticks,
        /// The longest.
        longest: Ticks,
    },
    /// What a solver in floating point has found is no block.
    #[error(
        "the numbers are too large or too far apart for the floating-point arithmetic of {solver}: {rejection}"
    )]
    Inexact {
        /// The solver.
        solver: &'static str,
        /// Why it is none.
        rejection: Rejection,
    },
    /// Two parts of an engine contradict each other.
    #[error("{0}")]
    Contradiction(&'static str),
    /// There is no SMT solver, or it failed.
    #[error(transparent)]
    Smt(#[from] crate::smt::SmtError),
    /// The solver itself failed, or gave up before it found anything.
    #[error("{engine} failed: {message}")]
    Solver {
        /// Its name.
        engine: &'static str,
        /// What it said.
        message: String,
    },
}

impl EncodeError {
    /// Whether two parts of this program contradict each other, or a solver that proves and the exact check.
    #[must_use]
    pub const fn is_defect(&self) -> bool {
        matches!(self, Self::Rejected(_) | Self::Block(_) | Self::Contradiction(_))
    }

    /// Whether the solver is not up to the numbers, failed or gave up: another one may have an answer.
    #[must_use]
    pub const fn is_no_answer(&self) -> bool {
        match self {
            Self::FarApart { .. }
            | Self::Inexact { .. }
            | Self::Solver { .. }
            | Self::TooWide
            | Self::TooMany { .. } => true,
            Self::Smt(error) => error.is_failure(),
            _ => false,
        }
    }
}

impl From<BlockError> for EncodeError {
    fn from(error: BlockError) -> Self {
        match error {
            BlockError::Overflow => Self::Overflow,
            error => Self::Block(error),
        }
    }
}

#[cfg(test)]
mod tests;
