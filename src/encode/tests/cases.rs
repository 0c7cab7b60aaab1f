//! Models for the engines, made at random.

use proptest::prelude::*;

use super::*;

/// Small pipelines of every shape, with uneven stages.
pub fn small_models() -> impl Strategy<Value = Model> {
    let placements = prop_oneof![
        (1..=3_u32).prop_map(|devices| Placement::linear(devices).expect("a placement")),
        (1..=2_u32).prop_map(|devices| Placement::v(devices).expect("a placement")),
        Just(Placement::looped(2, 2).expect("a placement")),
        Just(Placement::new(vec![vec![Stage(0), Stage(2)], vec![Stage(1)]]).expect("a placement")),
    ];
    placements.prop_flat_map(|placement| {
        let (stages, devices) = (placement.stages() as usize, placement.devices() as usize);
        let longest = match stages {
            1 | 2 => 4_i64,
            3 => 2,
            _ => 1,
        };
        let times = || prop::collection::vec(1..=longest, stages);
        let weights = prop::collection::vec(0..=longest, stages);
        let latency = prop::collection::vec(0..=2_i64, stages - 1);
        let held = prop::collection::vec((1..=3_i64).prop_flat_map(|all| (Just(all), 0..=all)), stages);
        let spare = prop::collection::vec(prop::option::of(-1..=3_i64), devices);
        (Just(placement), times(), times(), weights, latency, held, spare).prop_map(
            |(placement, forward, input, weight, latency, held, spare)| {
                let (activation, retained): (Vec<i64>, Vec<i64>) = held.into_iter().unzip();
                let capacities = placement.lists().iter().zip(spare).map(|(stages, spare)| {
                    let alone: i64 = stages.iter().map(|stage| activation[stage.index()]).sum();
                    spare.map(|spare| (alone + spare).max(0))
                });
                let capacities = capacities.collect();
                model(placement, [forward, input, weight, latency], [activation, retained], capacities)
            },
        )
    })
}
