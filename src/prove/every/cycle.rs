//! States at cuts, read off a replay, and the first that comes again.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::cut::Places;
use super::growing::Growing;
use super::measured::Measured;
use super::{EveryError, resized};
use crate::model::{Device, Microbatch, Model, Pass, Ticks};
use crate::replay::{end_of, replay};
use crate::stop::Stop;

/// A state that comes again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cycle {
    /// The cut at which it is met first.
    pub from: u32,
    /// After how many more repetitions it comes again.
    pub copies: u32,
    /// How much later.
    pub ticks: Ticks,
}

/// The first state that comes again within the time and as many repetitions as the last of these; as many as
/// the first of them are tried at once. `measured` is given what is measured of every number of microbatches
/// that is replayed.
///
/// # Errors
/// When the model overflows with this number of microbatches, or replay rejects a schedule that is valid.
pub(super) fn find(
    growing: &Growing,
    model: &Model,
    repetitions: RangeInclusive<u32>,
    stop: &Stop,
    measured: &mut dyn FnMut(u32, Measured),
) -> Result<Option<Cycle>, EveryError> {
    let (&least, &most) = (repetitions.start(), repetitions.end());
    let mut copies = least.max(16).min(most);
    loop {
        if let Some(cycle) = find_within(growing, model, copies, measured)? {
            return Ok(Some(cycle));
        }
        if copies == most || stop.is_due() {
            return Ok(None);
        }
        copies = copies.saturating_mul(2).min(most);
    }
}

fn find_within(
    growing: &Growing,
    model: &Model,
    copies: u32,
    measured: &mut dyn FnMut(u32, Measured),
) -> Result<Option<Cycle>, EveryError> {
    let schedule = growing.schedule(0, copies)?;
    let model = resized(model, schedule.microbatches())?;
    let verdict = replay(&model, &schedule);
    let is_valid = verdict.is_valid();
    let timing = verdict.timing.ok_or(EveryError::Rejected(schedule.microbatches()))?;
    let starts = timing.starts.clone();
    if is_valid {
        let peaks = verdict.peak_memory;
        measured(schedule.microbatches(), Measured::of(&model, &schedule, timing, peaks));
    }
    let places = Places::of(&schedule);
    let end_at = |device: Device, position: usize| {
        end_of(&model, &schedule, schedule.order(device)[position], starts[device.index()][position])
    };
    let free = |device, cut| match growing.before(device, cut) {
        0 => Ticks::ZERO,
        before => end_at(device, before - 1),
    };
    let pending = growing.pending(&model);
    let mut met: BTreeMap<Vec<Ticks>, (u32, Ticks)> = BTreeMap::new();
    for cut in 0..=copies {
        let base = free(Device(0), cut);
        let mut state: Vec<Ticks> =
            Device::all(schedule.devices()).map(|device| free(device, cut) - base).collect();
        for sent in &pending {
            let microbatch = Microbatch(sent.pass.microbatch.0 + cut * growing.period());
            let pass = Pass { microbatch, ..sent.pass };
            let sender = schedule.placement().device_of(pass.stage);
            let position = places.find_step(pass).expect("what a later pass needs is there, as replay found");
            let arrival = end_at(sender, position) + sent.latency;
            state.push((arrival - free(sent.receiver, cut)).max(Ticks::ZERO));
        }
        if let Some(&(from, then)) = met.get(&state) {
            return Ok(Some(Cycle { from, copies: cut - from, ticks: base - then }));
        }
        met.insert(state, (cut, base));
    }
    Ok(None)
}
