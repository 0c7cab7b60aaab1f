//! Figures that the lower bounds must give, and statements that are false although they look true.
//!
//! V placement, equal stages, one unit per chunk. Optima and long-run times per microbatch were found by
//! exact programs over whole schedules, written for that purpose and sharing nothing with this crate.

use bubbleproof::block::Passes;
use bubbleproof::certificate::{
    Bound, BoundReason, Objective, Optimality, interval_bound, lower_bound, lower_bound_of,
    lower_bound_within, steady_bound,
};
use bubbleproof::model::{Device, Model, Placement, Ticks, Units};
use bubbleproof::optimize::{Options, optimize, zone};
use bubbleproof::stop::Stop;
use num_rational::Ratio;

const UNIT: [i64; 4] = [1, 1, 1, 0];
const UNEQUAL: [i64; 4] = [3, 4, 2, 0];

/// Steps that the larger figures take.
const MANY: u64 = 40_000_000;

fn v(devices: u32, microbatches: u32, times: [i64; 4], capacity: i64) -> Model {
    let placement = Placement::v(devices).expect("a placement");
    let model = Model::equal_stages(placement, microbatches, times).expect("a model");
    model.with_uniform_activation_capacity(Some(Units(capacity))).expect("a capacity")
}

/// The makespan that these devices alone take, or with all of them the optimum.
fn alone(model: &Model, devices: impl IntoIterator<Item = u32>) -> i64 {
    let devices: Vec<Device> = devices.into_iter().map(Device).collect();
    lower_bound_of(model, Objective::Makespan, &devices, MANY).expect("enough steps").value.0
}

/// The time per microbatch in the long run that these devices alone take.
fn pace_alone(model: &Model, devices: &[u32]) -> Ratio<i64> {
    let devices: Vec<Device> = devices.iter().map(|&device| Device(device)).collect();
    let model = model.with_microbatches(100_000).expect("a model");
    let bound = lower_bound_of(&model, Objective::Makespan, &devices, MANY).expect("enough steps");
    let BoundReason::Subset { repetition: Some(repetition), .. } = bound.reason else { panic!("{bound:?}") };
    repetition.pace()
}

#[test]
fn where_weight_gradients_are_short_the_chain_through_the_last_device_is_the_best_bound() {
    let placement = Placement::linear(6).expect("a placement");
    let model = Model::equal_stages(placement, 12, [3, 4, 1, 2]).expect("a model");
    let bound = lower_bound_within(&model, Objective::Makespan, 0);
    let (device, work, head, tail) = (Device(5), Ticks(84), Ticks(25), Ticks(31));
    assert_eq!(bound, Bound { value: Ticks(140), reason: BoundReason::Chain { device, work, head, tail } });
    let options = Options { effort: 1_000, exact_effort: 0, ..Options::default() };
    let solution = optimize(&model, &options, &mut |_| ()).expect("no capacities");
    assert_eq!(solution.optimality, Optimality::Bound);
}

#[test]
fn the_least_time_per_microbatch_over_all_schedules_is_as_known() {
    let whole = Ratio::from_integer;
    for (devices, capacity, expected) in [
        (2, 2, whole(25)),
        (3, 2, whole(32)),
        (4, 2, whole(39)),
        (5, 2, whole(46)),
        (6, 2, whole(53)),
        (2, 3, whole(19)),
        (3, 3, whole(26)),
        (4, 3, whole(33)),
        (5, 3, whole(40)),
        (6, 3, whole(47)),
        (4, 4, whole(21)),
    ] {
        let bound = steady_bound(&v(devices, 1, UNEQUAL, capacity), 2_000_000);
        assert_eq!(bound, expected, "d = {devices}, capacity = {capacity}");
    }
    for (devices, capacity, expected) in [(5, 4, whole(7)), (7, 4, whole(9)), (8, 6, Ratio::new(20, 3))] {
        let bound = steady_bound(&v(devices, 1, UNIT, capacity), 1_000_000);
        assert_eq!(bound, expected, "unit times, d = {devices}, capacity = {capacity}");
    }
}

#[test]
fn known_optima_are_reached_and_not_exceeded() {
    let optima = [58, 66, 97, 115, 137, 158, 179, 200, 221, 242];
    for (microbatches, optimum) in (1..).zip(optima) {
        let model = v(4, microbatches, UNEQUAL, 4);
        assert!(lower_bound(&model, Objective::Makespan).value <= Ticks(optimum), "m = {microbatches}");
        if [4, 8, 10].contains(&microbatches) {
            assert_eq!(alone(&model, [1, 2, 3]), optimum, "m = {microbatches}");
        }
    }
    assert_eq!(lower_bound(&v(4, 8, UNEQUAL, 3), Objective::Makespan).value, Ticks(286));
    let fifth = v(4, 8, UNEQUAL, 5);
    assert!(lower_bound(&fifth, Objective::Makespan).value <= Ticks(183));
    for (microbatches, optimum) in [(8, 69), (10, 83), (12, 97)] {
        let bound = lower_bound(&v(5, microbatches, UNIT, 4), Objective::Makespan);
        assert_eq!(bound.value, Ticks(optimum), "unit times, m = {microbatches}");
    }
}

#[test]
fn the_turnover_bound_is_its_closed_form() {
    for (devices, microbatches, capacity, [forward, input, weight, latency]) in [
        (4, 9, 2, UNEQUAL),
        (6, 8, 3, UNEQUAL),
        (5, 11, 4, [2, 1, 1, 3]),
        (9, 20, 5, [1, 1, 1, 2]),
        (3, 1, 2, UNEQUAL),
    ] {
        let further = i64::from(devices) - 1;
        let (a, b) = (forward + latency, input + latency);
        let (lag, work) = (further * (a + b), forward + input + weight);
        let (held, later) = (capacity / 2, i64::from(microbatches) - 1);
        let turn = lag + work * if capacity % 2 == 0 { 2 } else { 1 };
        let formula = further * a
            + forward
            + later / held * turn
            + later % held * forward
            + (forward + lag + 2 * input + further * b + weight);
        let model = v(devices, microbatches, [forward, input, weight, latency], capacity);
        let bound = lower_bound_within(&model, Objective::Makespan, 0);
        assert_eq!(
            bound.value,
            Ticks(formula),
            "d = {devices}, m = {microbatches}, capacity = {capacity}: {bound:?}"
        );
    }
}

#[test]
fn the_turn_of_even_memory_is_too_long_for_odd_memory() {
    // With P = L + 2S at a capacity of 3 seven microbatches would take 39 each after the first; the optimum
    // of eight is 286.
    let model = v(4, 8, UNEQUAL, 3);
    let false_bound = alone(&v(4, 1, UNEQUAL, 3), 0..4) + 7 * (3 * 7 + 2 * 9);
    assert_eq!(false_bound, 331);
    assert_eq!(alone(&model, 0..4), 286);
}

#[test]
fn a_further_microbatch_may_cost_less_than_its_work() {
    let makespan = |microbatches| alone(&v(4, microbatches, UNEQUAL, 4), 0..4);
    let (one, two) = (makespan(1), makespan(2));
    assert_eq!((one, two), (58, 66));
    let work = v(4, 1, UNEQUAL, 4).most_work();
    assert!(Ticks(two - one) < work);
    assert!(Ratio::from_integer(two - one) < steady_bound(&v(4, 1, UNEQUAL, 4), 1_000_000));
}

#[test]
fn the_area_bound_is_not_enough() {
    assert_eq!(interval_bound(&v(4, 1, UNEQUAL, 4)), Ratio::from_integer(18), "16.75 by area, 18 by work");
    assert_eq!(pace_alone(&v(4, 1, UNEQUAL, 4), &[2, 3]), Ratio::from_integer(21));
    assert_eq!(interval_bound(&v(4, 1, UNEQUAL, 3)), Ratio::new(67, 3));
    assert_eq!(pace_alone(&v(4, 1, UNEQUAL, 3), &[0, 3]), Ratio::from_integer(33));
}

#[test]
fn one_device_is_not_enough() {
    let best = |capacity| (0..4).map(|device| pace_alone(&v(4, 1, UNEQUAL, capacity), &[device])).max();
    assert_eq!(best(3), Some(Ratio::from_integer(30)), "33 in truth");
    assert_eq!(best(4), Some(Ratio::new(39, 2)), "21 in truth");
}

#[test]
fn which_pair_is_best_varies() {
    let (third, fourth) = (v(4, 1, UNEQUAL, 3), v(4, 1, UNEQUAL, 4));
    assert!(pace_alone(&third, &[0, 3]) > pace_alone(&third, &[2, 3]));
    assert!(pace_alone(&fourth, &[0, 3]) < pace_alone(&fourth, &[2, 3]));
}

#[test]
fn the_best_block_of_one_microbatch_per_interval_is_no_lower_bound() {
    // The finite optima of `known_optima_are_reached_and_not_exceeded` grow by 7 per microbatch.
    let model = v(5, 1, UNIT, 4);
    let least = zone::least_interval(&model, Passes::SPLIT, &Stop::default()).expect("a block").interval;
    assert_eq!(least, Ratio::from_integer(8));
    assert_eq!(steady_bound(&model, 1_000_000), Ratio::from_integer(7));
}
