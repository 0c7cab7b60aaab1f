//! The peaks of a block, as replay finds them.

use crate::block::Block;
use crate::estimate::{TooLarge, Work, available};
use crate::model::{Model, ModelError, Units};
use crate::replay::{Violation, replay};
use crate::schedule::ScheduleError;

/// Why replay does not confirm the peaks of a block.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PeakError {
    /// So many copies of the block overlap that they are more microbatches than can be counted.
    #[error(
        "the block has too many overlapping copies to replay: {copies} microbatches are \
         too many"
    )]
    Copies {
        /// How many microbatches they have.
        copies: i64,
    },
    /// The model cannot have the microbatches of so many copies.
    #[error("the block has too many overlapping copies to replay: {0}")]
    Model(#[from] ModelError),
    /// So many copies do not fit into memory.
    #[error("the block has too many overlapping copies to replay: {0}")]
    Memory(#[from] TooLarge),
    /// The copies are no schedule: a defect of this program.
    #[error("internal error: the block fails replay: {0}")]
    Expansion(#[from] ScheduleError),
    /// Replay rejects the copies: a defect of this program.
    #[error("internal error: the block fails replay: {0}")]
    Rejected(Violation),
    /// Replay finds other peaks: a defect of this program.
    #[error("internal error: the block fails replay: its peaks are {replayed:?}, not {claimed:?}")]
    Differs {
        /// What replay finds, by device.
        replayed: Vec<Units>,
        /// What the block algebra says.
        claimed: Vec<Units>,
    },
}

impl PeakError {
    /// Whether this program is at fault, and not the size of what it was given.
    #[must_use]
    pub const fn is_defect(&self) -> bool {
        match self {
            Self::Copies { .. } | Self::Model(_) | Self::Memory(_) => false,
            Self::Expansion(_) | Self::Rejected(_) | Self::Differs { .. } => true,
        }
    }
}

/// The exact steady peak of each device, as replay finds it too on enough copies of the block. Capacities play
/// no part.
///
/// # Errors
/// When too many copies of the block overlap to be replayed, or replay disagrees with the block algebra.
pub fn replayed_peak(block: &Block, model: &Model) -> Result<Vec<Units>, PeakError> {
    let peak = block.steady_peak(model);
    let ends = block.passes().map(|(pass, at)| at + block.duration(model, pass)).max().unwrap_or_default();
    let start = block.passes().map(|(_, at)| at).min().unwrap_or_default();
    // The copies that overlap a copy of the middle, on either side.
    let overlapping = (ends - start).0 / block.interval_parts().0 + 1;
    let copies = overlapping.saturating_mul(2).saturating_add(1).saturating_mul(i64::from(block.period()));
    let microbatches = u32::try_from(copies).map_err(|_| PeakError::Copies { copies })?;
    let free = model.with_uniform_activation_capacity(None)?.with_microbatches(microbatches)?;
    Work::Replay.check(&free, available())?;
    let schedule = block.expand(&free, microbatches)?;
    let verdict = replay(&free, &schedule);
    match verdict.violations.into_iter().next() {
        Some(violation) => Err(PeakError::Rejected(violation)),
        None if verdict.peak_memory != peak => {
            Err(PeakError::Differs { replayed: verdict.peak_memory, claimed: peak })
        }
        None => Ok(peak),
    }
}
