//! The squeezed order of a family: its steady interval as a formula in the durations of its passes, for
//! every number of devices.
//!
//! [`squeezed_intervals`] derives, for each residue of `d`, the largest of which forms in `tF`, `tI`, `tW` and the
//! latency `c` the steady interval is, and proves it in integers: see [`SqueezedInterval`]. [`Makespan`] bounds the
//! makespan for every number of microbatches. A [`Witness`] has everything that these rest on, and is
//! checked by itself, in integers and without a solver.

mod bubble_free;
mod cycle;
mod form;
mod graph;
mod interval;
mod makespan;
mod peak;
mod potential;
mod quasi;
mod question;
mod statement;
mod witness;

use crate::block::family::Variable;
use crate::stop::Stop;
use potential::Starts;

pub use bubble_free::{BubbleFreedom, Slow, bubble_freedom};
pub use cycle::Attained;
pub use form::{LinearForm, Rate};
pub use interval::{IntervalTerm, SqueezedInterval, SqueezedIntervals, squeezed_intervals};
pub use makespan::Makespan;
pub(super) use question::{Questions, Twin};
pub use witness::{WITNESS_FORMAT, Witness, WitnessClaim, WitnessRejection};

/// Why nothing can be said about the squeezed order of a family by residues.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Irregular {
    /// A formula speaks of what only promises may.
    #[error("an offset depends on `{0}`")]
    Variable(Variable),
    /// A condition that is not told by residues.
    #[error("the condition `{0}` compares what grows with the number of devices")]
    Condition(String),
    /// The branches of an `if` grow differently.
    #[error("the two values of an `if` grow differently with the number of devices")]
    Slopes,
    /// There would be too many cases.
    #[error("its formulas repeat only after {0} devices")]
    Residues(i128),
    /// Numbers too large to count with.
    #[error("its numbers are too large")]
    Overflow,
    /// A left-out W has no place.
    #[error("W of chunk {chunk} finds no place on some device")]
    NoRoom {
        /// The chunk.
        chunk: u32,
    },
    /// Two passes start at the same instant.
    #[error("two passes of a device start at the same instant modulo the interval")]
    Collision,
    /// The time between a pass and one that it needs is not bounded from below.
    #[error("with more devices, a pass gets ever earlier compared with one that it needs")]
    Shrinks,
    /// The order itself forbids every interval.
    #[error("the order of the passes contradicts their dependencies")]
    Stuck,
    /// The time limit came first.
    #[error("the time limit came first")]
    Time,
    /// Somebody asked to end.
    #[error("interrupted")]
    Interrupted,
    /// The search for the forms did not come to an end.
    #[error("more than {0} forms limit the interval")]
    Forms(usize),
}

impl Irregular {
    /// Why it was time to stop.
    pub(super) fn of(stop: &Stop) -> Self {
        if stop.is_interrupted() { Self::Interrupted } else { Self::Time }
    }

    /// Whether more time would have helped.
    #[must_use]
    pub const fn is_out_of_time(&self) -> bool {
        matches!(self, Self::Time | Self::Interrupted)
    }
}

#[cfg(test)]
mod tests;
