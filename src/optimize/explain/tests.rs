use std::time::Duration;

use super::*;
use crate::model::{Memory, Placement};
use crate::optimize::{Options, optimize};

fn limited(placement: Placement, microbatches: u32, times: [i64; 4], capacity: i64) -> Model {
    let model = Model::equal_stages(placement, microbatches, times).expect("a model");
    model.with_uniform_activation_capacity(Some(Units(capacity))).expect("a capacity")
}

/// What is said to be enough is, weights included, and is a capacity as a model file gives it.
#[test]
fn the_capacity_that_is_enough_has_room_for_weights() {
    let placement = Placement::linear(3).expect("a placement");
    let plain = Model::equal_stages(placement.clone(), 1, [1, 1, 1, 0]).expect("a model");
    let memory = Memory { weights: vec![Units(40), Units(10), Units(10)], ..plain.memory().clone() };
    let model =
        Model::new("weights".to_owned(), None, placement, 1, plain.costs().clone(), memory).expect("a model");
    let lossless = |capacity: Units| {
        let model = model.with_uniform_capacity(capacity).expect("a capacity");
        let steady = steady(&model, &Stop::default()).expect("a block");
        (steady.interval == Ratio::from_integer(steady.work.0), steady.enough)
    };
    let (is_lossless, enough) = lossless(Units(42));
    assert!(!is_lossless, "two activations are too few");
    let enough = enough.expect("it is known");
    assert_eq!(enough, Units(43));
    assert!(lossless(enough).0);
}

#[test]
fn the_critical_cycle_of_a_block_takes_its_interval() {
    for (devices, capacity, interval) in [(4, 4, 21), (5, 6, 18), (3, 3, 26)] {
        let model = limited(Placement::v(devices).expect("a placement"), 1, [3, 4, 2, 0], capacity);
        let steady = steady(&model, &Stop::default()).expect("a block");
        let Some(Section::Cycle { ticks, microbatches, .. }) = steady.cycle else {
            panic!("no cycle at d = {devices}, capacity {capacity}")
        };
        assert!(steady.interval <= Ratio::from_integer(interval));
        assert_eq!(
            Ratio::new(ticks.0, i64::from(microbatches)),
            steady.interval,
            "d = {devices}, capacity {capacity}"
        );
    }
}

/// At d = 4, (3,4,2) needs 6 chunk activations for an interval of 18 (found by an exact program over
/// patterns of passes).
#[test]
fn what_rules_out_a_steady_phase_without_bubble_can_be_lifted() {
    let model = limited(Placement::v(4).expect("a placement"), 1, [3, 4, 2, 0], 5);
    let steady = steady(&model, &Stop::default()).expect("a block");
    assert_eq!(steady.enough, Some(Units(6)));
    let conflict = steady.conflict.expect("five are too few");
    assert!(conflict.smallest && !conflict.limits.is_empty());
    let capacities: Vec<Device> = conflict
        .limits
        .iter()
        .map(|limit| match limit {
            Limit::Capacity(device, _) => *device,
            Limit::Latency(..) => panic!("there is no latency"),
        })
        .collect();
    let with = |kept: &[Device]| {
        let capacity = |device| kept.contains(&device).then_some(Units(5));
        let capacities = Device::all(4).map(capacity).collect();
        let model = model.with_activation_capacity(capacities).expect("capacities");
        zone::least_memory(&model, crate::block::Passes::SPLIT, Ratio::from_integer(18), &Stop::default())
            .is_ok()
    };
    assert!(!with(&capacities));
    for left_out in &capacities {
        let kept: Vec<Device> = capacities.iter().copied().filter(|device| device != left_out).collect();
        assert!(with(&kept));
    }
}

#[test]
fn linear_placement_is_explained_too() {
    let model = limited(Placement::linear(4).expect("a placement"), 8, [1, 1, 1, 0], 3);
    let solution =
        optimize(&model, &Options { effort: 1, exact_effort: 0, ..Options::default() }, &mut |_| ());
    assert!(solution.is_ok());
    let steady = steady(&model, &Stop::after(Duration::from_secs(60))).expect("a block");
    assert!(steady.interval > Ratio::from_integer(3));
    assert!(steady.conflict.is_some());
}
