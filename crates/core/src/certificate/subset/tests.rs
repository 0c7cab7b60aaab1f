use super::*;
use crate::certificate::{
    Bound, BoundError, BoundReason, STEPS, holds, lower_bound_of, lower_bound_until, lower_bound_within,
    steady_bound, steady_bound_until,
};
use crate::model::{Costs, Memory, Placement, Units};

fn model(devices: u32, microbatches: u32, capacity: i64, costs: [i64; 4]) -> Model {
    let placement = Placement::v(devices).expect("a placement");
    let model = Model::equal_stages(placement, microbatches, costs).expect("a model");
    model.with_uniform_activation_capacity(Some(Units(capacity))).expect("a capacity")
}

fn with_repetition(bound: &Bound, repetition: Repetition) -> Bound {
    let devices = bound.reason.devices().to_vec();
    Bound { reason: BoundReason::Subset { devices, repetition: Some(repetition) }, ..bound.clone() }
}

/// The repetition of docs/bounds.md.
#[test]
fn a_claimed_growth_is_at_most_the_shown_one_and_not_negative() {
    let model = model(4, 30, 4, [3, 4, 2, 0]);
    let bound = lower_bound_of(&model, Objective::Makespan, &[Device(3)], STEPS).expect("it is small");
    let BoundReason::Subset { repetition: Some(shown), .. } = bound.reason else { panic!("{bound:?}") };
    assert_eq!(holds(&model, Objective::Makespan, &bound), Ok(()));
    let judged = |repetition| holds(&model, Objective::Makespan, &with_repetition(&bound, repetition));
    for growth in [shown.growth + Ticks(1), Ticks(-1)] {
        assert!(matches!(judged(Repetition { growth, ..shown }), Err(BoundError::Figures(_))), "{growth}");
    }
    // Less is true too, and says less.
    for growth in [Ticks::ZERO, shown.growth - Ticks(1)] {
        let repetition = Repetition { growth, ..shown };
        let Err(BoundError::Value { shown, .. }) = judged(repetition) else { panic!("{growth}") };
        assert!(shown < bound.value);
        let weaker = Bound { value: shown, ..with_repetition(&bound, repetition) };
        assert_eq!(holds(&model, Objective::Makespan, &weaker), Ok(()), "{growth}");
    }
    for period in [0, shown.after + 1] {
        assert!(judged(Repetition { period, ..shown }).is_err(), "{period}");
    }
}

/// Where the states repeat exactly, nothing is lost by not following them further.
#[test]
fn a_repetition_gives_what_all_microbatches_give() {
    let mut between_periods = 0;
    for costs in [[1, 1, 1, 0], [3, 4, 2, 0], [2, 1, 5, 3], [5, 3, 1, 1]] {
        for (devices, capacity) in [(2, 2), (2, 3), (3, 3), (3, 4), (3, 5), (4, 5)] {
            for microbatches in 12..16 {
                let model = model(devices, microbatches, capacity, costs);
                let steps = &mut Steps(STEPS);
                let mut subset = Subset::new(&model, &Paths::new(&model), &[Device(devices - 1)]);
                let Followed::Repeating(repetition) = subset.follow(microbatches, steps) else { continue };
                let Repetition { after, period, .. } = repetition;
                between_periods += u32::from((microbatches - after) % period > 0);
                for objective in [Objective::Makespan, Objective::DeviceSpan] {
                    let short = subset.value(microbatches, Some(repetition), objective, steps);
                    let mut whole = Subset::new(&model, &Paths::new(&model), &[Device(devices - 1)]);
                    whole.begin(microbatches, steps).expect("it is small");
                    assert_eq!(short, whole.value(microbatches, None, objective, steps), "{repetition:?}");
                    assert!(short.is_some());
                }
            }
        }
    }
    assert!(between_periods > 0, "a period of several microbatches is among them");
}

#[test]
fn every_set_of_devices_is_asked_for_once_and_none_when_it_is_over() {
    let model = model(3, 6, 3, [3, 4, 2, 1]);
    let asked = |steps: u64, answer: bool| {
        let mut count = 0;
        let bound = lower_bound_until(&model, Objective::Makespan, steps, &mut || {
            count += 1;
            answer
        });
        (count, bound)
    };
    let closed = lower_bound_within(&model, Objective::Makespan, 0);
    assert_eq!(asked(0, false), (0, closed.clone()), "there are no steps");
    assert_eq!(asked(STEPS, true), (1, closed));
    // Three devices; those that are not in the best set so far; until nothing is left to add.
    assert_eq!(asked(STEPS, false), (4 * 3, lower_bound_within(&model, Objective::Makespan, STEPS)));
    assert_eq!(steady_bound_until(&model, STEPS, &mut || true), steady_bound(&model, 0));
}

#[test]
fn what_a_bound_does_not_spend_is_handed_back() {
    let model = model(4, 30, 4, [3, 4, 2, 0]);
    let mut steps = Steps(STEPS);
    choose::bound_of(&model, &Paths::new(&model), Objective::Makespan, &[Device(3)], &mut steps);
    assert!(STEPS * 9 / 10 < steps.0 && steps.0 < STEPS, "{steps:?}");
}

#[test]
fn of_the_repetitions_that_are_known_the_fastest_one_counts() {
    let mut differ = 0;
    for costs in [[1, 1, 1, 0], [3, 4, 2, 0], [2, 1, 5, 3], [5, 3, 1, 1]] {
        for (capacity, begun) in (3..8).flat_map(|capacity| (3..8).map(move |begun| (capacity, begun))) {
            let model = model(3, 30, capacity, costs);
            let mut subset = Subset::new(&model, &Paths::new(&model), &[Device(2)]);
            subset.begin(begun, &mut Steps(STEPS)).expect("it is small");
            let latest = subset.layers.last().expect("there are some");
            let growths = (1..begun).map(|period| {
                let growth = latest.later_than(&subset.layers[(begun - period) as usize])?;
                (growth > Ticks::ZERO).then(|| Repetition { after: begun, period, growth }.pace())
            });
            let paces: std::collections::BTreeSet<_> = growths.flatten().collect();
            differ += u32::from(paces.len() > 1);
            let best = subset.best_repetition();
            assert_eq!(best.map(Repetition::pace), paces.last().copied(), "{costs:?}");
            assert!(best.is_none_or(|best| subset.repeats(best)));
        }
    }
    assert!(differ > 0, "not all of them are equally fast");
}

/// The horizon leaves out states and no ends before it.
#[test]
fn up_to_a_horizon_the_least_end_is_that_of_all_states() {
    let (mut below, mut fewer) = (0, 0);
    for (costs, capacity) in [([1, 1, 1, 0], 3), ([3, 4, 2, 0], 4), ([2, 1, 5, 3], 3), ([5, 3, 1, 1], 5)] {
        let model = model(3, 9, capacity, costs);
        let paths = Paths::new(&model);
        for devices in
            [vec![Device(0)], vec![Device(2)], vec![Device(0), Device(1)], vec![Device(1), Device(2)]]
        {
            for objective in [Objective::Makespan, Objective::DeviceSpan] {
                let mut steps = Steps(100 * STEPS);
                let mut subset = Subset::new(&model, &paths, &devices);
                subset.begin(9, &mut steps).expect("it is small");
                let least = subset.value(9, None, objective, &mut steps).expect("it is small");
                let all = 100 * STEPS - steps.0;
                for end in
                    [0, least.0 / 2, least.0 - 1, least.0, least.0 + 1, least.0 + 20, 10 * least.0].map(Ticks)
                {
                    let mut steps = Steps(100 * STEPS);
                    let found = least_below(&model, &paths, &devices, objective, end, &mut steps);
                    assert_eq!(found, Some(least.min(end)), "{costs:?} {devices:?} {objective} {end}");
                    below += u32::from(end > least);
                    fewer += u32::from(end > least && 2 * (100 * STEPS - steps.0) < all);
                }
            }
        }
    }
    assert!(below > 0 && fewer > 0, "{below} {fewer}");
}

/// A device with nothing left is free again whenever another one starts something, and one that has only Ws left has no tail of
/// its last F or I ahead: neither says anything of the end. Trying all orders has found these optima.
#[test]
fn a_device_that_is_done_ends_no_later_when_another_goes_on() {
    let of = |microbatches, [forward, input, weight]: [[i64; 2]; 3], latency, capacity: [Option<i64>; 2]| {
        let placement = Placement::linear(2).expect("a placement");
        let model = Model::equal_stages(placement, microbatches, [1, 1, 1, latency]).expect("a model");
        let ticks = |values: [i64; 2]| values.map(Ticks).to_vec();
        let costs = Costs {
            forward: ticks(forward),
            backward_input: ticks(input),
            backward_weight: ticks(weight),
            ..model.costs().clone()
        };
        let memory =
            Memory { capacity: capacity.map(|most| most.map(Units)).to_vec(), ..model.memory().clone() };
        let (name, placement) = (model.name().to_owned(), model.placement().clone());
        Model::new(name, None, placement, microbatches, costs, memory).expect("a model")
    };
    let (span, makespan) = (Objective::DeviceSpan, Objective::Makespan);
    for (model, objective, optimum) in [
        (of(10, [[1, 1], [1, 1], [1, 3]], 8, [Some(10); 2]), span, 50),
        (of(2, [[3, 0], [5, 0], [5, 2]], 0, [None; 2]), makespan, 26),
        (of(6, [[1, 1], [1, 11], [1, 1]], 4, [Some(8), Some(1)]), makespan, 92),
    ] {
        let paths = Paths::new(&model);
        for devices in [vec![Device(0)], vec![Device(1)], vec![Device(0), Device(1)]] {
            for end in optimum - 2..optimum + 20 {
                let mut steps = Steps(1000 * STEPS);
                let least = least_below(&model, &paths, &devices, objective, Ticks(end), &mut steps);
                assert!(least.expect("it is small") <= Ticks(optimum), "{devices:?} {end}: {least:?}");
            }
        }
    }
}

#[test]
fn the_horizon_of_a_claim_is_an_end_that_may_be() {
    let model = model(3, 6, 3, [3, 4, 2, 1]);
    let judged = |devices: &[u32], end: i64, value: i64| {
        let devices = devices.iter().copied().map(Device).collect();
        let reason = BoundReason::Horizon { devices, end: Ticks(end) };
        holds(&model, Objective::Makespan, &Bound { value: Ticks(value), reason })
    };
    assert_eq!(judged(&[0, 2], 40, 40), Ok(()));
    assert!(matches!(judged(&[0, 2], 40, 41), Err(BoundError::Value { .. })));
    for end in [-1, i64::MIN, i64::MAX] {
        assert!(matches!(judged(&[0, 2], end, end), Err(BoundError::Figures(_))), "{end}");
    }
    assert_eq!(judged(&[], 40, 40), Err(BoundError::Order));
    assert_eq!(judged(&[2, 0], 40, 40), Err(BoundError::Order));
    assert!(matches!(judged(&[0, 3], 40, 40), Err(BoundError::Device { .. })));
}

/// With all devices, what is found below the value of a schedule is the optimum.
#[test]
fn more_devices_are_kept_until_the_horizon_is_reached() {
    let model = model(4, 16, 4, [3, 4, 2, 0]);
    let found = |end, steps| {
        crate::certificate::lower_bound_below(&model, Objective::Makespan, Ticks(end), steps, &mut || false)
    };
    let bound = found(368, 40_000_000).expect("devices have capacities");
    assert_eq!(bound.value, Ticks(368));
    assert!(matches!(&bound.reason, BoundReason::Horizon { devices, .. } if devices.len() == 3), "{bound:?}");
    assert_eq!(holds(&model, Objective::Makespan, &bound), Ok(()));
    assert!(lower_bound_within(&model, Objective::Makespan, STEPS).value < bound.value);
    assert_eq!(found(368, 0), None);
    let free = model.with_uniform_activation_capacity(None).expect("no capacity");
    let none =
        crate::certificate::lower_bound_below(&free, Objective::Makespan, Ticks(368), STEPS, &mut || false);
    assert_eq!(none, None);
}
