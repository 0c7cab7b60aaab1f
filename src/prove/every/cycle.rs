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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Costs, Kind, Placement, Stage};
    use crate::prove::every::growing::Tail;

    /// 1F1B on two devices, two microbatches at a time, of which the first device is four ahead.
    fn far_ahead(placement: Placement) -> Growing {
        use Kind::{B, F};
        let passes = |stage, passes: &[(Kind, u32)]| -> Vec<Pass> {
            passes.iter().map(|&(kind, at)| Pass::new(Stage(stage), kind, Microbatch(at))).collect()
        };
        let heads = vec![passes(0, &[(F, 0), (F, 1), (F, 2), (F, 3)]), passes(1, &[(F, 0)])];
        let bodies =
            vec![passes(0, &[(B, 0), (F, 4), (B, 1), (F, 5)]), passes(1, &[(B, 0), (F, 1), (B, 1), (F, 2)])];
        let rest = [(B, 0), (F, 1), (B, 1), (F, 2), (B, 2), (F, 3), (B, 3)];
        let ahead = [(B, 0), (B, 1), (B, 2), (B, 3)];
        let even = Tail { microbatches: 4, orders: vec![passes(0, &ahead), passes(1, &rest)] };
        let odd = Tail {
            microbatches: 5,
            orders: vec![
                passes(0, &[&[(B, 0), (F, 4)][..], &ahead[1..], &[(B, 4)]].concat()),
                passes(1, &[&rest[..], &[(F, 4), (B, 4)]].concat()),
            ],
        };
        Growing::new(placement, 2, heads, bodies, vec![even, odd]).expect("it grows")
    }

    /// What is on its way decides when the state first comes again.
    #[test]
    fn a_state_has_what_arrives_after_the_cut() {
        let placement = Placement::linear(2).expect("a placement");
        let growing = far_ahead(placement.clone());
        let unit = Model::equal_stages(placement, 4, [1, 1, 0, 9]).expect("a model");
        let (forward, backward_input) = (vec![Ticks(1), Ticks(4)], vec![Ticks(1), Ticks(3)]);
        let costs = Costs { forward, backward_input, ..unit.costs().clone() };
        let model = unit.with_costs(costs).expect("a model");
        let pending: Vec<_> = growing.pending(&model).iter().map(|sent| sent.pass.microbatch.0).collect();
        assert_eq!(pending, [2, 3, 1], "the forwards that device 1 has not run");
        // A microbatch comes back to device 0 five later ones, and so three repetitions, after it left.
        assert_eq!(growing.apart(), 3);
        let found = find(&growing, &model, 4..=16, &Stop::default(), &mut |_, _| {});
        let Cycle { from, copies, ticks } = found.expect("no overflow").expect("it repeats");
        assert_eq!((from, copies, ticks), (2, 1, Ticks(14)));
    }
}
