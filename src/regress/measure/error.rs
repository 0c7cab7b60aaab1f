//! Why nothing is known of a design.

use crate::block::family::FamilyError;
use crate::model::ModelError;
use crate::prove::ProveError;
use crate::stop::Stop;

/// Why a design could not be looked at.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MeasureError {
    /// The family has no block there.
    #[error("d = {devices}: {error}")]
    Family {
        /// The number of devices.
        devices: u32,
        /// Why not.
        error: FamilyError,
    },
    /// Its theorems cannot be stated or decided.
    #[error("its theorems cannot be stated: {0}")]
    Prove(#[from] ProveError),
    /// The model has no such size.
    #[error("{place}: {error}")]
    Model {
        /// The size.
        place: String,
        /// Why not.
        error: ModelError,
    },
    /// A model of another placement.
    #[error("the placement of the family is not that of the model {0}")]
    Placement(String),
    /// Asked to end before everything was found.
    #[error("stopped before everything about it was found")]
    Stopped,
    /// Two that share no logic contradict each other.
    #[error("internal error: the block algebra and replay disagree at {place}: {what}")]
    Disagreement {
        /// Where.
        place: String,
        /// About what.
        what: String,
    },
}

impl MeasureError {
    /// Whether it is a defect of this program, and not of the design.
    #[must_use]
    pub const fn is_defect(&self) -> bool {
        matches!(
            self,
            Self::Disagreement { .. }
                | Self::Prove(
                    ProveError::Unconfirmed { .. }
                        | ProveError::NoControl { .. }
                        | ProveError::Witness { .. }
                )
        )
    }
}

/// Whether to go on, which is asked between any two steps that may take long.
pub(super) fn go_on(stop: &Stop) -> Result<(), MeasureError> {
    if stop.is_due() { Err(MeasureError::Stopped) } else { Ok(()) }
}
