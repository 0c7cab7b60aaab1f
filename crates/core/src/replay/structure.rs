//! What can be said of the orders without running them: every pass once, in its place, and no pass
//! before one of its own device that it needs.

use super::copies::copied;
use super::layout::Layout;
use super::violation::{Mismatch, Violation};
use crate::model::{Device, Kind, Model, Pass, Stage};
use crate::schedule::{Place, Schedule};

/// What makes it pointless to look at the passes at all: a model of another pipeline, or a number of
/// microbatches that the orders do not come near, in which case no table of that size is laid out.
pub(super) fn obstacles(model: &Model, schedule: &Schedule) -> Vec<Violation> {
    mismatch(model, schedule).map(Violation::ModelMismatch).into_iter().chain(shortage(schedule)).collect()
}

fn shortage(schedule: &Schedule) -> Option<Violation> {
    let (stages, microbatches) = (schedule.placement().stages(), schedule.microbatches());
    let passes = schedule.len();
    let cells = u64::from(stages) * u64::from(microbatches);
    (cells > Violation::MISSING_LISTED && (passes as u64) < cells).then_some(Violation::TooFewPasses {
        passes,
        stages,
        microbatches,
    })
}

/// Whether the model describes the pipeline of the schedule; the first difference if not.
fn mismatch(model: &Model, schedule: &Schedule) -> Option<Mismatch> {
    let (ours, theirs) = (schedule.placement(), model.placement());
    if ours.devices() != theirs.devices() {
        Some(Mismatch::Devices { schedule: ours.devices(), model: theirs.devices() })
    } else if ours.directions() != theirs.directions() {
        Some(Mismatch::Directions { schedule: ours.directions(), model: theirs.directions() })
    } else if ours.stages() != theirs.stages() {
        Some(Mismatch::Stages { schedule: ours.stages(), model: theirs.stages() })
    } else if let Some(stage) =
        Stage::all(ours.stages()).find(|&stage| ours.device_of(stage) != theirs.device_of(stage))
    {
        let (schedule, model) = (ours.device_of(stage), theirs.device_of(stage));
        Some(Mismatch::Placement { stage: stage.0, schedule, model })
    } else if schedule.microbatches() > model.microbatches()
        && model.with_microbatches(schedule.microbatches()).is_err()
    {
        Some(Mismatch::Microbatches(schedule.microbatches()))
    } else {
        None
    }
}

/// Finds every pass that is unknown, misplaced, double, missing, or before what it needs.
pub(super) fn inspect(model: &Model, schedule: &Schedule, layout: &Layout, violations: &mut Vec<Violation>) {
    for (device, order) in super::devices(schedule) {
        for (position, &pass) in order.iter().enumerate() {
            inspect_pass(model, schedule, layout, Place { device, position }, pass, violations);
        }
        inspect_pairs(schedule, device, violations);
        for &offloaded in schedule.offloads(device) {
            violations.extend(copied(model, schedule, layout, device, offloaded).err());
        }
        if model.recomputes_in_backward() {
            inspect_fused(schedule, layout, device, violations);
        }
    }
    for (&pass, &level) in schedule.levels() {
        if !layout.has(pass) {
            violations.push(Violation::LevelOfNoPass { pass, level });
        }
    }
    for (stage, microbatch) in layout.pairs() {
        let pass = |kind| Pass::new(stage, kind, microbatch);
        let mut demand = |pass: Pass| {
            if !layout.has(pass) {
                violations.push(Violation::MissingPass { device: model.placement().device_of(stage), pass });
            }
        };
        demand(pass(Kind::F));
        if !layout.has(pass(Kind::B)) {
            demand(pass(Kind::I));
            demand(pass(Kind::W));
        }
    }
}

/// A pair of one stage and microbatch cannot overlap: the backward needs the forward. The other way
/// round, the backward comes first, which is an order that `inspect_pass` refuses.
fn inspect_pairs(schedule: &Schedule, device: Device, violations: &mut Vec<Violation>) {
    let order = schedule.order(device);
    for &position in schedule.overlaps(device) {
        let (needs, pass) = (order[position], order[position + 1]);
        if needs.kind == Kind::F && needs == pass.with_kind(Kind::F) {
            let at = Place { device, position: position + 1 };
            violations.push(Violation::OverlapOfOne { at, pass, needs });
        }
    }
}

/// Every R is right before its I or B, or before the pair that this is part of.
fn inspect_fused(schedule: &Schedule, layout: &Layout, device: Device, violations: &mut Vec<Violation>) {
    let order = schedule.order(device);
    let pairs = schedule.overlaps(device);
    for (position, &pass) in order.iter().enumerate().filter(|(_, pass)| pass.kind == Kind::R) {
        let at = Place { device, position };
        let backward = [Kind::I, Kind::B].into_iter().find_map(|kind| layout.find(pass.with_kind(kind)));
        // One that is missing, or elsewhere, is reported for that.
        let Some(backward_at) = backward.map(|slot| layout.place(slot)) else { continue };
        if layout.find(pass) != Some(layout.slot(at)) || backward_at.device != device {
            continue;
        }
        let second_of_pair =
            backward_at.position > 0 && pairs.binary_search(&(backward_at.position - 1)).is_ok();
        let before = backward_at.position - usize::from(second_of_pair);
        if position + 1 != before {
            let backward = order[backward_at.position];
            violations.push(Violation::NotInBackward { at, pass, backward, backward_at });
        }
    }
}

fn inspect_pass(
    model: &Model,
    schedule: &Schedule,
    layout: &Layout,
    at: Place,
    pass: Pass,
    violations: &mut Vec<Violation>,
) {
    if !layout.knows(pass) {
        let (stages, microbatches) = layout.size();
        violations.push(Violation::UnknownPass { at, pass, stages, microbatches });
        return;
    }
    if !layout.leads_through(pass.stage, pass.microbatch) {
        violations.push(Violation::WrongDirection { at, pass });
        return;
    }
    let belongs = model.placement().device_of(pass.stage);
    if belongs != at.device {
        violations.push(Violation::WrongDevice { at, pass, belongs });
    }
    let slot = layout.slot(at);
    if let Some(first) = layout.find(pass).filter(|&first| first != slot) {
        violations.push(Violation::DuplicatePass { at, pass, first: layout.place(first) });
        return;
    }
    if matches!(pass.kind, Kind::I | Kind::W) {
        let full = pass.with_kind(Kind::B);
        if let Some(full_slot) = layout.find(full) {
            violations.push(Violation::BackwardTwice { at, pass, full, full_at: layout.place(full_slot) });
        }
    }
    if pass.kind == Kind::R && model.checkpoint(pass.stage).is_none() {
        violations.push(Violation::RecomputeUnknown { at, pass });
    } else if pass.kind == Kind::R && schedule.level_of(pass) >= model.recompute_levels() {
        let (level, levels) = (schedule.level_of(pass), model.recompute_levels());
        violations.push(Violation::UnknownLevel { at, pass, level, levels });
    }
    let local = layout.range(at.device);
    layout.for_each_need(pass, |needs, needed| {
        if needed > slot && local.contains(&needed.rank()) {
            violations.push(Violation::Order { at, pass, needs, needs_at: layout.place(needed) });
        }
    });
}
