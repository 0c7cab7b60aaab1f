//! **The end of the step.** What follows the last pass of a device, at the least.
//!
//! Let `r_s` be the time in which the gradients of stage s are reduced, and `o_s` that of its optimiser step. The **tail** of
//! a device is `max(sum of o_s, min of (r_s + o_s))` over its stages s; it is zero for a model without an end of the step.
//!
//! The **tail of a stage** s is the larger of the tail of its device and `r_s + o_s`.
//!
//! **Theorem.** In every execution of every schedule, a device ends at least its tail after the end of each of its passes, and
//! at least the tail of s after the end of each W and B of a stage s.
//!
//! **Proof.** It is enough to look at the last pass of the device, which ends at e. An F is followed by its backward on the
//! same device, an R by its I or B, and an I by its W; so this pass is a W or a B, of some stage s. First, the device runs
//! the optimiser steps of all its stages behind e, one at a time. Second, no stage of the device has a later last backward
//! than s. So the reduction of s starts no earlier than e, its optimiser step starts `r_s` after e at the earliest, and it
//! ends `r_s + o_s` after e or later. The same two steps are enough for any W or B of a stage: the reduction of the stage starts
//! no earlier than its end.
//!
//! **What follows for bounds.** No pass waits for a reduction or an optimiser step, but through a gather of weights on the
//! same stream, which only delays it. So all that holds for the passes of a schedule without the end of the step holds with
//! it, and the theorem adds to it:
//!
//! - *Makespan.* A chain of passes that ends with a W is followed by the tail of its stage. [`Paths`](super::path::Paths)
//!   takes the longest of all chains *with* these tails as the time that follows a pass. That is at least the time without
//!   them and the least tail of all devices. In the last ticks of the makespan, as many as its tail, a device runs no pass.
//! - *Device span.* The span of a device ends with its optimiser steps, so it is at least the span of its passes and its
//!   own tail, and a chain from a pass of the device to a W of it is followed by the tail of the stage of that W. All bounds on the device
//!   span are bounds on the span of one device, that which they rest on; of several devices, that which begins first.
//! - *Long run.* The tail counts once, however many microbatches there are. So it changes no bound on the time per
//!   microbatch.
//!
//! To relabel microbatches, to split a B into I and W, and to leave out recomputation changes neither the last backward of a
//! stage nor the order of these passes. So the bounds may assume what they assume without the end of the step.

use crate::model::{Device, Model, Stage, Ticks};

/// The least time from the end of a pass of a device to the end of the device.
pub(super) fn tail(model: &Model, device: Device) -> Ticks {
    let Some(step) = model.step() else { return Ticks::ZERO };
    let stages = || model.placement().stages_of(device).iter().map(|stage| stage.index());
    let all_steps: Ticks = stages().map(|stage| step.optimizer[stage]).sum();
    let last_stage = stages().map(|stage| step.reduce[stage] + step.optimizer[stage]).min();
    all_steps.max(last_stage.unwrap_or_default())
}

/// The least time from the end of a W or B of a stage to the end of its device.
pub(super) fn tail_of_stage(model: &Model, stage: Stage) -> Ticks {
    let Some(step) = model.step() else { return Ticks::ZERO };
    let own = step.reduce[stage.index()] + step.optimizer[stage.index()];
    own.max(tail(model, model.placement().device_of(stage)))
}
