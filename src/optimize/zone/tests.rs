use std::time::Duration;

use super::*;
use crate::model::{Memory, Placement};

fn v(devices: u32, [forward, input, weight]: [i64; 3], latency: i64, capacity: Option<i64>) -> Model {
    let placement = Placement::v(devices).expect("a placement");
    let model = Model::equal_stages(placement, 1, [forward, input, weight, latency]).expect("a model");
    model.with_uniform_activation_capacity(capacity.map(Units)).expect("a capacity")
}

#[test]
fn least_memory_at_the_interval_of_the_work_is_as_known() {
    for (durations, known) in [([1, 1, 1], [3, 4, 4, 6, 6, 6, 8]), ([3, 4, 2], [4, 4, 6, 6, 8, 8, 10])] {
        for (devices, known) in (2..).zip(known) {
            let model = v(devices, durations, 0, None);
            let best = least_memory(
                &model,
                Passes::SPLIT,
                Ratio::from_integer(model.most_work().0),
                &Stop::default(),
            )
            .expect("a block");
            assert_eq!(best.peak_max(), Units(known), "{durations:?} d = {devices}");
        }
    }
}

#[test]
fn the_block_that_was_found_before_it_was_time_to_stop_is_kept() {
    let model = v(4, [3, 4, 2], 0, Some(6));
    let known = least_interval(&model, Passes::SPLIT, &Stop::default()).expect("a block");
    assert_eq!(short_interval(&model, Passes::SPLIT, &Stop::default()), Ok(known.clone()));
    let of = |ended, is_known: bool| best_so_far(ended, is_known.then(|| known.clone()));
    assert_eq!(of(Ok(()), true), Ok(known.clone()));
    assert_eq!(of(Err(ZoneError::TimeUp), true), Ok(known.clone()));
    assert_eq!(of(Err(ZoneError::TimeUp), false), Err(ZoneError::TimeUp));
    assert_eq!(of(Err(ZoneError::Overflow), true), Err(ZoneError::Overflow), "it is no answer to a defect");
    let due = Stop::after(Duration::ZERO);
    assert_eq!(short_interval(&model, Passes::SPLIT, &due), Err(ZoneError::TimeUp));
    assert_eq!(least_interval(&model, Passes::SPLIT, &due), Err(ZoneError::TimeUp));
}

#[test]
fn least_interval_at_the_memory_of_v_min_is_as_known() {
    for (devices, known) in [(3, 18), (4, 21), (5, 18), (6, 21), (7, 24)] {
        let capacity = 2 * ((i64::from(devices) + 4) / 3);
        let best = least_interval(&v(devices, [3, 4, 2], 0, Some(capacity)), Passes::SPLIT, &Stop::default())
            .expect("a block");
        assert_eq!(best.interval, Ratio::from_integer(known), "d = {devices}");
    }
}

#[test]
fn measured_profiles_have_the_known_optima() {
    for (durations, latency, known) in [([9261, 9043, 4669], 601, 57316), ([14859, 14722, 9964], 527, 90851)]
    {
        let best = least_interval(&v(8, durations, latency, Some(8)), Passes::SPLIT, &Stop::default())
            .expect("a block");
        assert_eq!(best.interval, Ratio::from_integer(known));
        for devices in [8, 16, 32] {
            let model = v(devices, durations, latency, None);
            let best = least_memory(
                &model,
                Passes::SPLIT,
                Ratio::from_integer(model.most_work().0),
                &Stop::default(),
            )
            .expect("a block");
            assert_eq!(best.peak_max(), Units(i64::from(devices) + 2), "d = {devices}");
        }
    }
}

#[test]
fn a_capacity_below_one_microbatch_is_infeasible() {
    assert_eq!(
        least_interval(&v(4, [1, 1, 1], 0, Some(1)), Passes::SPLIT, &Stop::default()),
        Err(ZoneError::Infeasible(None))
    );
}

#[test]
fn without_capacities_the_work_is_always_an_interval() {
    // The waits that exact tiling forces add up along the chain of devices.
    let model = v(20, [1, 1, 1000], 0, None);
    let best = least_interval(&model, Passes::SPLIT, &Stop::default()).expect("a block");
    assert_eq!(best.interval, Ratio::from_integer(2004));
}

#[test]
fn what_holds_nothing_has_a_peak_of_nothing() {
    let model = v(4, [3, 4, 2], 0, Some(0));
    let memory = Memory {
        activation: vec![Units(0); 8],
        retained_for_weight: vec![Units(0); 8],
        ..model.memory().clone()
    };
    let (placement, costs) = (model.placement().clone(), model.costs().clone());
    let model = Model::new("weightless".to_owned(), None, placement, 1, costs, memory).expect("a model");
    let best = least_interval(&model, Passes::SPLIT, &Stop::default()).expect("a block");
    assert_eq!((best.interval, best.peak_max()), (Ratio::from_integer(18), Units(0)));
}

#[test]
fn a_deadline_that_has_passed_ends_the_search() {
    let model = v(24, [1, 1, 1000], 0, None);
    assert_eq!(least_interval(&model, Passes::SPLIT, &Stop::after(Duration::ZERO)), Err(ZoneError::TimeUp));
}

/// One stage on each of two devices far apart, of so many units, with a capacity.
fn far_apart(times: [i64; 4], units: i64, capacity: Option<i64>) -> Model {
    let model = Model::equal_stages(Placement::linear(2).expect("a placement"), 1, times).expect("a model");
    let units = vec![Units(units); 2];
    let memory = Memory { activation: units.clone(), retained_for_weight: units, ..model.memory().clone() };
    let (placement, costs) = (model.placement().clone(), model.costs().clone());
    let model = Model::new("far apart".to_owned(), None, placement, 1, costs, memory).expect("a model");
    model.with_uniform_activation_capacity(capacity.map(Units)).expect("a capacity")
}

#[test]
fn what_does_not_fit_64_bits_is_an_overflow() {
    let least = |model: &Model| least_interval(model, Passes::SPLIT, &Stop::default());
    // Some 2^56 / 3 microbatches on their way, each of 2^20 units.
    assert_eq!(least(&far_apart([1, 1, 1, 1 << 55], 1 << 20, None)), Err(ZoneError::Overflow));
    // They fit by themselves: it is the amount that does not.
    assert!(least(&far_apart([1, 1, 1, 1 << 55], 1, None)).is_ok());
    // So few of them that an interval is a fraction of a tick with a denominator near 2^50.
    let rational = far_apart([1, 1, 1, (1 << 55) + 1], 1, Some((1 << 50) + 7));
    assert_eq!(least(&rational), Err(ZoneError::Overflow));
    assert!(least(&far_apart([1, 1, 1, (1 << 30) + 1], 1, Some(7))).is_ok());
}
