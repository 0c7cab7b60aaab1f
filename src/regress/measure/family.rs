//! Block families: what they are, their blocks, and the schedules that repeat those.

use std::fmt::Write as _;
use std::time::Duration;

use itertools::Itertools;
use sha2::{Digest, Sha256};

use super::error::{MeasureError, go_on};
use super::facts::Facts;
use super::run::{Detail, run};
use super::theorems;
use crate::block::Block;
use crate::block::family::{self, Durations, Family, FamilyError};
use crate::model::{Device, Microbatch, Model, Pass, Ticks};
use crate::regress::fact::{Place, Value, What};
use crate::regress::inputs::Inputs;
use crate::regress::manifest::{self, Design, Promise};
use crate::replay::replay;
use crate::stop::Stop;

/// A family at all sizes that its design names.
pub(super) fn measure(
    design: &Design,
    inputs: &Inputs,
    limit: Duration,
    stop: &Stop,
    facts: &mut Facts,
) -> Result<(), MeasureError> {
    let Some(family) = &inputs.family else { return Ok(()) };
    let manifest::DesignSource::Family { devices, microbatches, models, .. } = &design.subject else {
        return Ok(());
    };
    let family = with_promises(family, design);
    let Durations { forward, backward_input, backward_weight } = family.durations;
    let mut problem = format!("F {forward}, I {backward_input}, W {backward_weight}");
    for name in models.keys() {
        if let Some(model) = inputs.models.get(name) {
            write!(problem, ", {}", super::named::problem(model)).expect("texts grow");
        }
    }
    facts.whole(What::Problem, Value::Text(problem));
    facts.whole(What::Formulas, Value::Text(formulas(&family)));
    facts.whole(What::Interval, Value::Fraction(i128::from(family.interval.0).into()));
    theorems::record(&family, &theorems::decide(&family, limit, stop)?, facts);
    let devices = match devices {
        Some(devices) => devices.clone(),
        None => manifest::DEVICES.into_iter().filter(|&devices| is_inside(&family, devices)).collect(),
    };
    for devices in devices {
        at(&family, devices, microbatches, inputs, stop, facts)?;
    }
    Ok(())
}

/// The family with what the manifest promises of it.
fn with_promises(family: &Family, design: &Design) -> Family {
    let mut family = family.clone();
    for promise in &design.promises {
        match promise {
            // What the family promises itself is promised once.
            Promise::Formal(family::Promise::Everywhere(promise))
                if family.promises.iter().all(|own| own.to_string() != promise.to_string()) =>
            {
                family.promises.push(promise.clone());
            }
            Promise::Formal(family::Promise::BubbleFree(promise))
                if family.bubble_free.iter().all(|own| own.to_string() != promise.to_string()) =>
            {
                family.bubble_free.push(promise.clone());
            }
            _ => {}
        }
    }
    family
}

/// A digest of all that theorems are about: neither names nor comments, nor what is promised.
fn formulas(family: &Family) -> String {
    let essence = Family {
        name: String::new(),
        source: None,
        promises: Vec::new(),
        bubble_free: Vec::new(),
        ..family.clone()
    };
    let mut text = String::new();
    for byte in Sha256::digest(family::print(&essence).as_bytes()).iter().take(8) {
        write!(text, "{byte:02x}").expect("texts grow");
    }
    text
}

fn is_inside(family: &Family, devices: u32) -> bool {
    !matches!(family.model(devices, 1), Err(FamilyError::OutsideDomain { .. }))
}

/// The block at one number of devices, and its schedules.
fn at(
    family: &Family,
    devices: u32,
    microbatches: &[u32],
    inputs: &Inputs,
    stop: &Stop,
    facts: &mut Facts,
) -> Result<(), MeasureError> {
    let place = Place::devices(devices);
    let model = match family.model(devices, 1) {
        Ok(model) => model,
        Err(error) => return Err(MeasureError::Family { devices, error }),
    };
    let block = match family.block(devices) {
        Ok(block) => block,
        Err(error @ (FamilyError::NoRoom { .. } | FamilyError::Offset { .. })) => {
            facts.invalid(&place, [error.to_string()]);
            return Ok(());
        }
        Err(error) => return Err(MeasureError::Family { devices, error }),
    };
    let faults = block.faults(&model);
    if faults.is_empty() {
        facts.add(&place, What::Valid, Value::Truth(true));
    } else {
        facts.invalid(&place, faults.iter().map(ToString::to_string));
    }
    for device in Device::all(devices) {
        let stages = block.placement().stages_of(device).iter();
        let spans = stages.map(|&stage| block.lifespan(&model, stage).0).collect();
        let place = place.on(device.0);
        facts.add(&place, What::Offsets, Value::Offsets(offsets(family, &block, device)));
        facts.add(&place, What::Lifespans, Value::Integers(spans));
    }
    if !faults.is_empty() {
        return Ok(());
    }
    let peaks = block.steady_peak(&model);
    agreed(&block, &model, &place)?;
    facts.add(&place, What::PeakMemory, Value::Integers(peaks.iter().map(|peak| peak.0).collect()));
    for &microbatches in microbatches {
        go_on(stop)?;
        let place = place.with_microbatches(microbatches);
        let wrong = |error| MeasureError::Model { place: place.to_string(), error };
        let model = model.with_microbatches(microbatches).map_err(wrong)?;
        let schedule = expanded(&block, &model, &place)?;
        let verdict = run(facts, &place, &model, &schedule, None, Detail::Figures);
        confirm(&block, &model, &verdict, &place)?;
    }
    for ((name, other), &microbatches) in inputs.models.iter().cartesian_product(microbatches) {
        go_on(stop)?;
        let place = Place { model: Some(name.clone()), ..place.with_microbatches(microbatches) };
        let wrong = |error| MeasureError::Model { place: place.to_string(), error };
        let other = other.resized(devices).and_then(|other| other.with_microbatches(microbatches));
        let other = other.map_err(wrong)?;
        if other.placement() != block.placement() {
            return Err(MeasureError::Placement(name.clone()));
        }
        let own = model.with_microbatches(microbatches).map_err(wrong)?;
        run(facts, &place, &other, &expanded(&block, &own, &place)?, None, Detail::Memory);
    }
    Ok(())
}

/// The passes of a device with their offsets: those of the family, in its order, and the W that it leaves out.
fn offsets(family: &Family, block: &Block, device: Device) -> Vec<(String, i64)> {
    let stages = block.placement().stages_of(device);
    let rank = |kind, chunk: usize| {
        let stated = family.passes.iter().position(|pass| pass.kind == kind && pass.chunk as usize == chunk);
        stated.unwrap_or(family.passes.len())
    };
    let mut passes: Vec<(usize, String, i64)> = Vec::new();
    for (pass, at) in block.passes() {
        if let Some(chunk) = stages.iter().position(|&stage| stage == pass.stage) {
            passes.push((rank(pass.kind, chunk), format!("{}{chunk}", pass.kind), at.0));
        }
    }
    passes.sort();
    passes.into_iter().map(|(_, pass, at)| (pass, at)).collect()
}

fn disagreement(place: &Place, what: String) -> MeasureError {
    MeasureError::Disagreement { place: place.to_string(), what }
}

fn expanded(block: &Block, model: &Model, place: &Place) -> Result<crate::schedule::Schedule, MeasureError> {
    block.expand(model, model.microbatches()).map_err(|error| disagreement(place, error.to_string()))
}

/// From the first start of a block to its last end.
fn length(block: &Block, model: &Model) -> Ticks {
    let of_block = |pass: Pass| Pass { microbatch: Microbatch(0), ..pass };
    let ends = block.passes().map(|(pass, at)| at + block.duration(model, of_block(pass))).max();
    let start = block.passes().map(|(_, at)| at).min();
    ends.unwrap_or_default() - start.unwrap_or_default()
}

/// Replays so many copies of the block that those in the middle overlap with all that they can: the peaks
/// must be those of the algebra.
fn agreed(block: &Block, model: &Model, place: &Place) -> Result<(), MeasureError> {
    let overlapping = length(block, model).0 / block.interval_parts().0 + 1;
    let copies = u32::try_from(2 * overlapping + 1)
        .map_err(|_| disagreement(place, "the block overlaps too many copies of itself".to_owned()))?;
    let wrong = |error| MeasureError::Model { place: place.to_string(), error };
    let model = model.with_microbatches(copies).map_err(wrong)?;
    let schedule = expanded(block, &model, place)?;
    let verdict = replay(&model, &schedule);
    confirm(block, &model, &verdict, place)?;
    let peaks = block.steady_peak(&model);
    if verdict.peak_memory != peaks {
        let what = format!("peaks of {:?}, replayed {:?}", peaks, verdict.peak_memory);
        return Err(disagreement(place, what));
    }
    Ok(())
}

/// What a block without faults gives must be valid, hold no more than the block in its steady phase, and
/// end no later than its copies do.
fn confirm(
    block: &Block,
    model: &Model,
    verdict: &crate::replay::Verdict,
    place: &Place,
) -> Result<(), MeasureError> {
    if let Some(violation) = verdict.violations.first() {
        return Err(disagreement(place, format!("replay finds that {violation}")));
    }
    let peaks = block.steady_peak(model);
    if verdict.peak_memory.iter().zip(&peaks).any(|(held, most)| held > most) {
        return Err(disagreement(place, format!("peaks of {peaks:?}, replayed {:?}", verdict.peak_memory)));
    }
    let last = length(block, model).0 + block.interval_parts().0 * i64::from(model.microbatches() - 1);
    let makespan = verdict.timing.as_ref().map(|timing| timing.metrics.makespan.0);
    if makespan.is_none_or(|makespan| makespan > last) {
        return Err(disagreement(place, format!("the last copy ends at {last}, replayed {makespan:?}")));
    }
    Ok(())
}
