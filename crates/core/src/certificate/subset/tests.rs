use std::fmt::Write as _;

use super::front::Front;
use super::*;
use crate::certificate::relaxed::relaxed;
use crate::certificate::{
    Bound, BoundError, BoundReason, STEPS, holds, lower_bound_of, lower_bound_until, lower_bound_within,
    steady_bound, steady_bound_until,
};
use crate::model::{
    Costs, Kind, Memory, Overlap, PairDurations, Placement, Stage, Transient, Units, Workspace,
};

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

/// What a device alone needs for each number of microbatches is what it needs for that number, computed by itself.
#[test]
fn values_by_microbatches_are_those_of_each_number() {
    let (mut repeating, mut unknown) = (0, 0);
    for costs in [[1, 1, 1, 0], [3, 4, 2, 0], [2, 1, 5, 3], [5, 3, 1, 1]] {
        for (devices, capacity) in [(2, 2), (3, 3), (3, 4), (4, 5)] {
            let model = model(devices, 20, capacity, costs);
            let new = || Subset::new(&model, &Paths::new(&model), &[Device(devices - 1)]);
            let mut subset = new();
            let repetition = match subset.follow(20, &mut Steps(STEPS)) {
                Followed::Repeating(repetition) => Some(repetition),
                Followed::Wholly | Followed::Partly => None,
            };
            repeating += u32::from(repetition.is_some());
            for objective in [Objective::Makespan, Objective::DeviceSpan] {
                let values = subset.values(20, repetition, objective, &mut Steps(STEPS));
                let by_itself = (1..=20).map(|count| {
                    let (mut whole, mut steps) = (new(), Steps(STEPS));
                    whole.begin(count, &mut steps).expect("it is small");
                    whole.value(count, None, objective, &mut steps).expect("it is small")
                });
                let expected: Vec<Ticks> = std::iter::once(Ticks::ZERO).chain(by_itself).collect();
                let known = if repetition.is_some() { 21 } else { subset.layers.len() };
                assert_eq!(values, expected[..known], "{costs:?} {capacity} {objective}");
                // Fewer microbatches than have begun.
                assert_eq!(subset.values(2, repetition, objective, &mut Steps(STEPS)), expected[..3]);
                // Where the steps run out, nothing is known, and nothing follows from it.
                let Some(Repetition { period, .. }) = repetition else { continue };
                for steps in [0, 40, 200] {
                    let some = subset.values(20, repetition, objective, &mut Steps(steps));
                    for (count, value) in some.iter().enumerate().skip(1) {
                        let is_unknown = *value == Ticks::ZERO;
                        unknown += u32::from(is_unknown);
                        assert!(is_unknown || *value == expected[count], "{steps} {count}");
                        if count >= subset.layers.len() {
                            assert_eq!(
                                is_unknown,
                                some[count - period as usize] == Ticks::ZERO,
                                "{steps} {count}"
                            );
                        }
                    }
                }
            }
        }
    }
    assert!(repeating > 0 && unknown > 0, "{repeating} {unknown}");
}

/// A condition that is weaker than it may be changes no value, but leaves more states to follow: the steps show it.
#[test]
fn the_steps_up_to_a_horizon_are_as_ever() {
    let mut told = String::new();
    for (costs, capacity) in [([1, 1, 1, 0], 3), ([3, 4, 2, 0], 4), ([2, 1, 5, 3], 3), ([5, 3, 1, 1], 5)] {
        let model = model(3, 9, capacity, costs);
        let paths = Paths::new(&model);
        for devices in [&[0][..], &[2], &[0, 1], &[1, 2], &[0, 1, 2]] {
            let kept: Vec<Device> = devices.iter().copied().map(Device).collect();
            for objective in [Objective::Makespan, Objective::DeviceSpan] {
                write!(told, "{costs:?} capacity {capacity}, devices {devices:?}, {objective}:")
                    .expect("a text");
                let least = {
                    let mut steps = Steps(1000 * STEPS);
                    least_below(&model, &paths, &kept, objective, Ticks(1000), &mut steps)
                        .expect("it is small")
                };
                for later in [0, 1, 4] {
                    let (end, mut steps) = (least + Ticks(later), Steps(1000 * STEPS));
                    let found = least_below(&model, &paths, &kept, objective, end, &mut steps);
                    let spent = 1000 * STEPS - steps.0;
                    assert_eq!(found, Some(least), "{told}");
                    write!(told, " {least} below {end} in {spent},").expect("a text");
                }
                told.push('\n');
            }
        }
    }
    insta::assert_snapshot!(told);
}

#[test]
fn a_horizon_is_for_so_many_devices_and_microbatches() {
    let found = |devices, microbatches| {
        let model = model(devices, microbatches, 4, [1, 1, 1, 0]);
        let paths = Paths::new(&model);
        let all: Vec<Device> = Device::all(devices).collect();
        // Everything is too late at once.
        least_below(&model, &paths, &all, Objective::Makespan, Ticks(3), &mut Steps(STEPS))
    };
    assert_eq!(found(16, 2), Some(Ticks(3)));
    assert_eq!(found(17, 2), None);
    assert_eq!(found(2, 1024), Some(Ticks(3)));
    assert_eq!(found(2, 1025), None);
}

/// Each device that is kept too is the one that makes the set worth most and, of equals, that which takes the fewest steps.
#[test]
fn the_device_that_is_worth_most_comes_next() {
    let mut equals = 0;
    for (costs, capacity) in [([1, 1, 1, 0], 3), ([3, 4, 2, 0], 4), ([2, 1, 5, 3], 3), ([5, 3, 1, 1], 5)] {
        let model = model(4, 8, capacity, costs);
        let paths = Paths::new(&model);
        let worth = |devices: &[Device], end| {
            let mut steps = Steps(100 * STEPS);
            let value = least_below(&model, &paths, devices, Objective::Makespan, end, &mut steps);
            (value.expect("it is small"), std::cmp::Reverse(100 * STEPS - steps.0))
        };
        let pairs = |end| {
            let first = Device::all(4).max_by_key(|&device| worth(&[device], end)).expect("four of them");
            let others = Device::all(4).filter(|&device| device != first);
            let sets = others.map(|device| vec![device.min(first), device.max(first)]);
            sets.map(|devices| (worth(&devices, end), devices)).collect::<Vec<_>>()
        };
        let mut least: Vec<Ticks> = pairs(Ticks(1000)).into_iter().map(|((value, _), _)| value).collect();
        least.sort_unstable();
        // The second end is what one pair needs at the least, and another one more.
        for end in [Ticks(1000), least[1]] {
            let pairs = pairs(end);
            let most = pairs.iter().map(|(worth, _)| *worth).max().expect("three of them");
            equals += u32::from(pairs.iter().any(|((value, steps), _)| *value == most.0 && *steps != most.1));
            let mut asked = 0;
            let bound = crate::certificate::lower_bound_below(
                &model,
                Objective::Makespan,
                end,
                400 * STEPS,
                &mut || {
                    asked += 1;
                    asked > 2 * 4
                },
            );
            let bound = bound.expect("devices have capacities");
            assert_eq!(bound.value, most.0, "{costs:?} {end}");
            let is_best =
                |(worth, devices): &(_, Vec<Device>)| *worth == most && devices == bound.reason.devices();
            assert!(pairs.iter().any(is_best), "{costs:?} {end}: {bound:?}");
        }
    }
    assert!(equals > 0, "some are worth the same for more steps");
}

#[test]
fn a_set_of_devices_takes_a_part_of_the_steps_and_none_when_it_is_over() {
    let placement = Placement::linear(1).expect("a placement");
    let model = Model::equal_stages(placement, 6, [3, 4, 2, 0]).expect("a model");
    let model = model.with_uniform_activation_capacity(Some(Units(2))).expect("a capacity");
    let end = Ticks(1000);
    let mut left = Steps(STEPS);
    let least = least_below(&model, &Paths::new(&model), &[Device(0)], Objective::Makespan, end, &mut left);
    let needed = STEPS - left.0;
    let found = |steps, is_over: bool| {
        crate::certificate::lower_bound_below(&model, Objective::Makespan, end, steps, &mut || is_over)
    };
    assert_eq!(found(4 * needed, false).map(|bound| bound.value), least);
    assert_eq!(found(4 * needed - 1, false), None);
    assert_eq!(found(4 * needed, true), None);
}

/// A further device that raises nothing is not named.
#[test]
fn no_more_devices_are_named_than_it_takes() {
    let mut fewer = 0;
    for (devices, microbatches, capacity, costs) in
        [(2, 6, 4, [1, 1, 1, 0]), (3, 6, 6, [1, 1, 1, 0]), (3, 5, 6, [3, 4, 2, 0]), (2, 5, 4, [2, 1, 5, 3])]
    {
        let model = model(devices, microbatches, capacity, costs);
        let end = Ticks(1000);
        let bound =
            crate::certificate::lower_bound_below(&model, Objective::Makespan, end, 400 * STEPS, &mut || {
                false
            })
            .expect("devices have capacities");
        let alone = Device::all(devices).map(|device| {
            let mut steps = Steps(1000 * STEPS);
            least_below(&model, &Paths::new(&model), &[device], Objective::Makespan, end, &mut steps)
        });
        if alone.flatten().max() == Some(bound.value) {
            assert_eq!(bound.reason.devices().len(), 1, "{bound:?}");
            fewer += 1;
        }
    }
    assert!(fewer > 0, "where one device is enough, no more are named");
}

#[test]
fn weights_are_one_if_device_duration_and_memory_are_equal() {
    let model = model(2, 3, 4, [3, 4, 2, 0]);
    let kinds = |weight: [i64; 4], held: [i64; 4]| {
        let costs = Costs { backward_weight: weight.map(Ticks).to_vec(), ..model.costs().clone() };
        let memory = Memory {
            activation: vec![Units(2); 4],
            retained_for_weight: held.map(Units).to_vec(),
            ..model.memory().clone()
        };
        let model = model.with_costs(costs).expect("a model").with_plain_memory(memory).expect("a model");
        let chain = Chain::new(&model, &Paths::new(&model), &[Device(0), Device(1)]);
        assert_eq!(chain.weights.len(), 4);
        let chain = chain.with_equal_weights_as_one();
        for (stage, held) in (0..).map(Stage).zip(&chain.stages) {
            let weight = chain.weights[held.weight];
            let own = (model.duration(stage, Kind::W), model.retained_for_weight(stage));
            assert_eq!((weight.device, (weight.duration, weight.held)), (held.device, own));
        }
        chain.weights.len()
    };
    // Stages 0 and 3 share a device, and so do 1 and 2.
    assert_eq!(kinds([2, 2, 2, 2], [1, 1, 1, 1]), 2);
    assert_eq!(kinds([5, 2, 2, 5], [1, 2, 2, 1]), 2);
    assert_eq!(kinds([5, 2, 2, 2], [1, 1, 1, 1]), 3);
    assert_eq!(kinds([2, 2, 2, 2], [1, 1, 2, 1]), 3);
    assert_eq!(kinds([5, 5, 2, 2], [1, 1, 1, 1]), 4);
}

/// What follows from the model without pairs is true of the model too, though the states with pairs show more.
#[test]
fn a_claim_may_rest_on_the_relaxed_model_alone() {
    let [forward_backward, forward_input] =
        [PairDurations::Uniform(Ticks(6)), PairDurations::Uniform(Ticks(4))];
    let overlap = Overlap { forward_backward, forward_input, ..Overlap::default() };
    let model = model(2, 3, 4, [3, 4, 2, 0]).with_overlap(overlap).expect("no shorter than the longer");
    let of = |model: &Model| {
        let devices = [Device(0), Device(1)];
        lower_bound_of(model, Objective::Makespan, &devices, 4 * STEPS).expect("it is small")
    };
    let (better, relaxed) = (of(&model), of(&relaxed(&model)));
    assert!(relaxed.value < better.value, "{relaxed:?} {better:?}");
    assert_eq!(relaxed.reason, better.reason);
    for bound in [&better, &relaxed] {
        assert_eq!(holds(&model, Objective::Makespan, bound), Ok(()));
    }
    for value in [relaxed.value - Ticks(1), better.value + Ticks(1)] {
        let claimed = Bound { value, ..better.clone() };
        let judged = holds(&model, Objective::Makespan, &claimed);
        assert_eq!(judged, Err(BoundError::Value { claimed: value, shown: better.value }));
    }
}

#[test]
fn pairs_are_of_two_passes_of_one_device() {
    let [forward_backward, forward_input] =
        [PairDurations::Uniform(Ticks(6)), PairDurations::Uniform(Ticks(4))];
    let overlap = Overlap { forward_backward, forward_input, ..Overlap::default() };
    let model = model(2, 3, 4, [3, 4, 2, 0]).with_overlap(overlap).expect("no shorter than the longer");
    let chain = Chain::new(&model, &Paths::new(&model), &[Device(0), Device(1)]);
    // With each of two Fs of a device, one of two Is or Bs.
    assert_eq!(chain.pairs.len(), 2 * 2 * 2 * 2);
    for pair in &chain.pairs {
        let [forward, input] = [pair.forward, pair.input].map(|at| &chain.links[at]);
        assert_eq!((forward.device, forward.is_forward, input.is_forward), (input.device, true, false));
        assert_eq!(pair.duration, Ticks(if pair.is_whole { 6 } else { 4 }));
    }
}

#[test]
fn a_front_keeps_what_is_as_good_nowhere_and_in_order() {
    let mut front = Front::default();
    let mut steps = Steps(1000);
    for times in [[5, 5], [1, 9], [9, 1], [6, 6], [5, 5], [4, 9], [4, 4]] {
        front.insert(&times.map(Ticks), &mut steps).expect("there are steps");
    }
    let told = |front: &Front| front.iter().map(|times| [times[0].0, times[1].0]).collect::<Vec<_>>();
    assert_eq!(told(&front), [[1, 9], [9, 1], [4, 4]]);
    assert_eq!(told(&front.sorted()), [[1, 9], [4, 4], [9, 1]]);
    // Two for the instants of each, and one for each that was there.
    assert_eq!(1000 - steps.0, 7 * 2 + (1 + 2 + 3 + 3 + 3 + 3));
    assert_eq!(front.insert(&[Ticks(0), Ticks(0)], &mut Steps(4)), None);
}

/// The example of docs/bounds.md, *How the devices are chosen*.
#[test]
fn a_device_alone_may_need_more_steps_than_are_allowed_at_first() {
    let placement = Placement::looped(8, 2).expect("a placement");
    let model = Model::equal_stages(placement, 32, [3, 4, 2, 0]).expect("a model");
    let model = model.with_uniform_activation_capacity(Some(Units(8))).expect("a capacity");
    let first = lower_bound_within(&model, Objective::Makespan, STEPS);
    assert_eq!((first.value, first.reason), (Ticks(720), BoundReason::Ramps { device: Device(0) }));
    let more = lower_bound_of(&model, Objective::Makespan, &[Device(0)], 4 * STEPS).expect("it is enough");
    assert_eq!(more.value, Ticks(775));
    assert_eq!(holds(&model, Objective::Makespan, &more), Ok(()));
}

/// As one with its I, a W may need less room than alone: an I that goes into a gap may leave its W without room.
#[test]
fn an_input_goes_into_no_gap_if_its_weight_needs_more_room_without_it() {
    let units = |values: [i64; 3]| values.map(Units).to_vec();
    let ticks = |values: [i64; 3]| values.map(Ticks).to_vec();
    let model = Model::equal_stages(Placement::linear(3).expect("a placement"), 3, [1, 1, 1, 0]);
    let model = model.expect("a model");
    let costs = Costs {
        forward: ticks([3, 3, 4]),
        backward_input: ticks([3, 3, 3]),
        backward_weight: ticks([4, 2, 4]),
        ..model.costs().clone()
    };
    let memory = Memory {
        activation: units([2, 2, 2]),
        retained_for_weight: units([2, 2, 2]),
        ..model.memory().clone()
    };
    let none = units([0, 0, 0]);
    let workspace = Workspace {
        forward: none.clone(),
        backward_input: none.clone(),
        backward_weight: units([3, 2, 3]),
        backward: none.clone(),
        recompute: none,
    };
    let transient = Transient { workspace: Some(workspace), receive: None };
    let model = model
        .with_costs(costs)
        .and_then(|model| model.with_plain_memory(memory))
        .and_then(|model| model.with_transient(transient))
        .and_then(|model| model.with_uniform_activation_capacity(Some(Units(4))));
    let devices: Vec<Device> = Device::all(3).collect();
    let bound = lower_bound_of(&model.expect("a model"), Objective::Makespan, &devices, STEPS);
    // As long as the best of all orders; 57 if such an I goes into gaps.
    assert_eq!(bound.map(|bound| bound.value), Some(Ticks(56)));
}

/// An I that goes into a gap before an F may have been worth more beside it.
#[test]
fn an_input_that_saves_time_in_a_pair_goes_into_no_gap() {
    let model = model(2, 2, 5, [4, 2, 2, 0]);
    let memory = Memory {
        activation: vec![Units(2); 4],
        retained_for_weight: vec![Units(2); 4],
        ..model.memory().clone()
    };
    let [forward_backward, forward_input] =
        [PairDurations::Uniform(Ticks(4)), PairDurations::Uniform(Ticks(4))];
    let overlap = Overlap { forward_backward, forward_input, ..Overlap::default() };
    let model = model.with_plain_memory(memory).and_then(|model| model.with_overlap(overlap));
    let bound =
        lower_bound_of(&model.expect("a model"), Objective::Makespan, &[Device(0), Device(1)], 4 * STEPS);
    // As long as the best schedule; 48 if such an I goes into gaps.
    assert_eq!(bound.map(|bound| bound.value), Some(Ticks(46)));
}
