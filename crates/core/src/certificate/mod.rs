//! Lower bounds on what any schedule can reach, each with the reason it rests on; and certificates,
//! which state what is claimed of a schedule and are checked without believing any of it.
//!
//! Most bounds are closed forms that can be recomputed by hand; one follows the states of a few devices
//! from microbatch to microbatch until they repeat. `docs/bounds.md` states them all as theorems, with
//! proofs. It uses no solver and no randomness; like `replay`, this module shares nothing with what proposes schedules.
//!
//! A full backward B is an I with its W right behind it, and recomputation only adds passes and
//! shrinks what F holds; so the bounds, which allow time between I and W and count the least that F holds at any level,
//! also hold for schedules with B and R. One of them weighs the work of R against the memory that it saves. Where
//! messages keep links busy, every bound is one of the model in which each message has a link of its own, and links
//! have a bound, too. Where the model has an end of the step, the bounds on makespan and device span count what
//! must follow the last pass of a device. Where activations can be offloaded, they count as the least that stays on the device,
//! and copies have a bound, too.
//!
//! ```
//! use bubbleproof_core::certificate::{Objective, holds, lower_bound};
//! use bubbleproof_core::model::{Model, Placement, Ticks};
//!
//! let model = Model::unit(Placement::linear(4)?, 8)?;
//! let mut bound = lower_bound(&model, Objective::Makespan);
//! assert!(holds(&model, Objective::Makespan, &bound).is_ok());
//!
//! // What is claimed beyond what follows from its reason is refused.
//! bound.value += Ticks(1);
//! assert!(holds(&model, Objective::Makespan, &bound).is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod area;
mod bound;
mod check;
mod cuts;
mod file;
mod link;
mod offload;
mod pairs;
mod path;
mod reason;
mod relaxed;
mod step;
mod subset;
mod trade;
mod turnover;
mod weighed;
mod window;
mod work;

pub use area::interval_bound;
pub use bound::{
    STEPS, closed_bounds, holds, is_least_pace, lower_bound, lower_bound_at_pace, lower_bound_below,
    lower_bound_of, lower_bound_until, lower_bound_within, steady_bound, steady_bound_until,
};
pub use check::{CertificateError, Checked, Claim, check, check_plan};
pub use cuts::{
    CUTS, CutBoundError, fits_some_cut, holds_over_cuts, lower_bound_over_cuts, quick_bound_over_cuts,
    share_bound_over_cuts, visit_cuts, visit_some_cuts,
};
pub use file::{CERTIFICATE_FORMAT, Certificate, JobStatement, Optimality, SearchEngine, problem_digest};
pub use pairs::shortened;
pub use path::critical_path;
pub use reason::{Bound, BoundError, BoundReason, CHECK_STEPS, Objective, Repetition, Window};
pub use weighed::{
    ChoiceTerms, DeviceTerms, DeviceWeights, PairTerms, StageTerms, WeighedTerms, Weights, weighed_bound,
    weighed_terms,
};

use crate::model::{Model, Stage, Units};

/// The least that a microbatch holds of a stage between F and the start of its backward.
fn least_held(model: &Model, stage: Stage) -> Units {
    model.checkpoint(stage).unwrap_or_else(|| model.activation(stage))
}

#[cfg(test)]
mod tests;
