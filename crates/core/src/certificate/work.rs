//! **Work bound.** A device runs all of its passes, after what must come before the first and before what must follow the last.
//!
//! Let *work* be what the passes of the device take over all microbatches; those of a stage are the microbatches that go
//! through its pipeline. Let *head* be the least time that forwards and messages take before some stage of the device, along its
//! pipeline, and *tail* the [end of the step](super::step) of the device.
//!
//! **Theorem.** The makespan is at least `head + work + tail`, and the device span at least `work + tail`.
//!
//! **Proof.** The first pass of a device is an F. It follows the Fs of the stages before its own and their messages, so it
//! starts no earlier than head. The device runs one pass at a time, so the last of them ends no earlier than `head + work`, and
//! the tail follows. Where pairs save time, this holds for [shortened](super::pairs) passes, whose schedule begins no earlier.
//!
//! Nothing here asks where other stages lie, so it holds with two directions too. The [windows](super::window) give as much or
//! more.

use super::pairs::shortened;
use super::reason::{Bound, BoundReason, Objective};
use super::step;
use crate::model::{Device, Kind, Microbatch, Model, Stage, Ticks};

/// The bound of a device; none if no microbatch reaches it. The model is one in which every message has a link of its own.
pub(super) fn bound(model: &Model, device: Device, objective: Objective) -> Option<Bound> {
    let short = shortened(model);
    let directions = model.placement().directions();
    let reached = model.placement().stages_of(device).iter().filter_map(|&stage| {
        // Microbatches take turns in going through the pipelines.
        let first =
            (0..directions).find(|&first| model.placement().leads_through(stage, Microbatch(first)))?;
        let microbatches = model.microbatches().saturating_sub(first).div_ceil(directions);
        (microbatches > 0).then_some((stage, i64::from(microbatches)))
    });
    let reached: Vec<(Stage, i64)> = reached.collect();
    let each = |stage| short.duration(stage, Kind::F) + short.duration(stage, Kind::B);
    let work = Ticks(reached.iter().map(|&(stage, microbatches)| each(stage).0 * microbatches).sum());
    let head = match objective {
        Objective::Makespan => reached.iter().map(|&(stage, _)| before(model, stage)).min()?,
        Objective::DeviceSpan => reached.first().map(|_| Ticks::ZERO)?,
    };
    let tail = step::tail(model, device);
    Some(Bound { value: head + work + tail, reason: BoundReason::Work { device, work, head, tail } })
}

/// The earliest start of the first F of a stage.
fn before(model: &Model, stage: Stage) -> Ticks {
    let all = std::iter::successors(model.placement().stage_before(stage), |&before| {
        model.placement().stage_before(before)
    });
    all.map(|before| model.duration(before, Kind::F) + model.latency_after(before)).sum()
}
