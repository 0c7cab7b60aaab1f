//! Plans that have been verified, and offers that have been replayed.

use super::{Nearest, Unlowerable, lower_gathering, nearest};
use crate::comm::{self, CommunicationPlan, PlanViolation};
use crate::model::{Model, ModelError, Sharding};
use crate::replay::{Violation, replay};
use crate::schedule::Schedule;

/// Why a schedule has no verified plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoweringError {
    /// No model has such a size.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The schedule cannot run, whatever its passes cost.
    #[error("sends and receives can only be generated for a schedule that runs: {0}")]
    Invalid(Violation),
    /// The last stage runs its forwards in another order than that of microbatches, with which PyTorch computes wrong
    /// gradients. The same schedule [numbered](super::numbered) in the order of these forwards has a plan.
    #[error("{0}")]
    LossesOutOfOrder(PlanViolation),
    /// There is no plan of a valid schedule: a defect of this program.
    #[error("replay accepts a schedule that cannot be lowered: {0}")]
    Unlowerable(Unlowerable),
    /// The plan has a fault: a defect of this program.
    #[error("a lowered schedule is not safe: {0}")]
    Unsafe(PlanViolation),
}

impl LoweringError {
    /// Whether this program is at fault, and not the schedule.
    #[must_use]
    pub const fn is_defect(&self) -> bool {
        match self {
            Self::Model(_) | Self::Invalid(_) | Self::LossesOutOfOrder(_) => false,
            Self::Unlowerable(_) | Self::Unsafe(_) => true,
        }
    }
}

/// The plan of a schedule that replay accepts with unit times, verified.
///
/// # Errors
/// When the schedule cannot run, or the last stage runs its forwards out of order. Whatever else [`comm::verify`] finds in
/// its plan is a defect of this program.
pub fn verified_plan(schedule: &Schedule) -> Result<CommunicationPlan, LoweringError> {
    verified_plan_gathering(schedule, Sharding::STAGES)
}

/// As [`verified_plan`], where the weights of so many stages of a device may be gathered at a time.
///
/// # Errors
/// As for [`verified_plan`].
pub fn verified_plan_gathering(schedule: &Schedule, stages: u32) -> Result<CommunicationPlan, LoweringError> {
    let model = Model::unit(schedule.placement().clone(), schedule.microbatches())?;
    if let Some(violation) = replay(&model, schedule).violations.into_iter().next() {
        return Err(LoweringError::Invalid(violation));
    }
    let plan = lower_gathering(schedule, stages).map_err(LoweringError::Unlowerable)?;
    let is_of_losses = |fault: &PlanViolation| matches!(fault, PlanViolation::LossesOutOfOrder { .. });
    let (losses, others): (Vec<_>, Vec<_>) = comm::verify(&plan).into_iter().partition(is_of_losses);
    match (others.into_iter().next(), losses.into_iter().next()) {
        (Some(fault), _) => Err(LoweringError::Unsafe(fault)),
        (None, Some(fault)) => Err(LoweringError::LossesOutOfOrder(fault)),
        (None, None) => Ok(plan),
    }
}

/// The [nearest] orders of the same passes, if they are valid under the model and others than these.
#[must_use]
pub fn nearest_valid(model: &Model, schedule: &Schedule) -> Option<Nearest> {
    let nearest = nearest(model, schedule).filter(Nearest::is_changed)?;
    replay(model, &nearest.schedule).is_valid().then_some(nearest)
}
