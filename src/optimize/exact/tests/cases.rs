//! Small random models: every placement, unequal stages, latencies, parts that I releases, capacities of
//! their own for each device.

use proptest::collection::vec;
use proptest::prelude::*;

use crate::model::{Costs, Device, Memory, Model, Placement, Stage, Ticks, Units};

/// Few enough passes to enumerate all schedules.
pub fn tiny() -> impl Strategy<Value = Model> {
    let sizes = [
        (Placement::linear(1), 2),
        (Placement::linear(2), 2),
        (Placement::linear(2), 3),
        (Placement::linear(3), 2),
        (Placement::v(1), 2),
        (Placement::v(2), 1),
        (Placement::looped(1, 3), 1),
        (Placement::looped(2, 2), 1),
        (Placement::new(vec![vec![Stage(0), Stage(2)], vec![Stage(1)]]), 2),
        (Placement::new(vec![vec![Stage(2)], vec![Stage(1), Stage(0)]]), 2),
    ];
    of(sizes
        .into_iter()
        .map(|(placement, microbatches)| (placement.expect("a placement"), microbatches))
        .collect())
}

/// Beyond enumeration, but solved in moments.
pub fn small() -> impl Strategy<Value = Model> {
    let sizes = [
        (Placement::linear(4), 4),
        (Placement::linear(3), 6),
        (Placement::v(2), 5),
        (Placement::v(3), 3),
        (Placement::looped(2, 2), 4),
        (Placement::looped(2, 3), 3),
        (Placement::new(vec![vec![Stage(0), Stage(3)], vec![Stage(2)], vec![Stage(1)]]), 4),
        (Placement::new(vec![vec![Stage(1), Stage(0), Stage(4)], vec![Stage(2), Stage(3)]]), 3),
    ];
    of(sizes
        .into_iter()
        .map(|(placement, microbatches)| (placement.expect("a placement"), microbatches))
        .collect())
}

fn of(sizes: Vec<(Placement, u32)>) -> impl Strategy<Value = Model> {
    prop::sample::select(sizes).prop_flat_map(|(placement, microbatches)| {
        let (stages, devices) = (placement.stages() as usize, placement.devices() as usize);
        let times = vec((1..5_i64, 1..5_i64, 0..4_i64), stages);
        // Activation, and how much of it is retained, in quarters.
        let amounts = vec((0..4_i64, 0..5_i64), stages);
        let capacities = vec(prop::option::weighted(0.8, 0..5_i64), devices);
        let lags = vec(0..4_i64, stages - 1);
        (Just((placement, microbatches)), times, lags, amounts, capacities).prop_map(
            |((placement, microbatches), times, lags, amounts, capacities)| {
                let ticks =
                    |part: fn(&(i64, i64, i64)) -> i64| times.iter().map(|time| Ticks(part(time))).collect();
                let costs = Costs {
                    unit: "tick".to_owned(),
                    forward: ticks(|time| time.0),
                    backward_input: ticks(|time| time.1),
                    backward_weight: ticks(|time| time.2),
                    communication: lags.into_iter().map(Ticks).collect(),
                };
                let whole = |device: Device| -> i64 {
                    placement.stages_of(device).iter().map(|stage| amounts[stage.index()].0).sum()
                };
                let memory = Memory {
                    unit: "unit".to_owned(),
                    activation: amounts.iter().map(|amount| Units(amount.0)).collect(),
                    retained_for_weight: amounts
                        .iter()
                        .map(|amount| Units(amount.0 * amount.1 / 4))
                        .collect(),
                    checkpoint: None,
                    weights: vec![Units(0); amounts.len()],
                    capacity: Device::all(placement.devices())
                        .zip(capacities)
                        .map(|(device, spare)| spare.map(|spare| Units(whole(device) + spare)))
                        .collect(),
                };
                Model::new("random".to_owned(), None, placement.clone(), microbatches, costs, memory)
                    .expect("a model")
            },
        )
    })
}
