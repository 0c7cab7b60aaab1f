use num_rational::Ratio;

use super::*;
use crate::certificate::subset::{Followed, Subset};
use crate::certificate::{
    Bound, BoundError, BoundReason, Objective, STEPS, holds, lower_bound_at_pace, steady_bound,
};
use crate::model::{Overlap, PairDurations, Placement, Units};

fn limited(placement: Placement, capacity: i64, costs: [i64; 4]) -> Model {
    let model = Model::equal_stages(placement, 1, costs).expect("a model");
    model.with_uniform_activation_capacity(Some(Units(capacity))).expect("a capacity")
}

fn v(devices: u32, capacity: i64, costs: [i64; 4]) -> Model {
    limited(Placement::v(devices).expect("a placement"), capacity, costs)
}

fn is_least_pace(model: &Model, pace: Ratio<i64>, steps: u64) -> bool {
    crate::certificate::is_least_pace(model, pace, steps, &mut || false)
}

/// The steps that are spent on a pace, if it is closed.
fn spent(model: &Model, pace: Ratio<i64>, most: u64) -> Option<u64> {
    let (mut steps, model) = (Steps(most), model.in_finer_ticks(*pace.denom()).expect("it is short"));
    let is_closed = is_closed(&model, &Paths::new(&model), Ticks(*pace.numer()), &mut steps, &mut || false);
    is_closed.then(|| most - steps.0)
}

/// Where the sets of states of all devices repeat exactly, so many microbatches at a time, their pace is the least of all schedules.
#[test]
fn the_pace_at_which_all_states_repeat_is_closed_and_no_larger_one() {
    let costs = [[1, 1, 1, 0], [3, 4, 2, 0], [2, 1, 5, 3], [5, 3, 1, 1], [2, 2, 0, 1], [1, 3, 2, 2]];
    let placements = |devices| {
        let looped = Placement::looped(devices, 2).expect("a placement");
        [Placement::v(devices), Placement::linear(devices)]
            .map(|placement| placement.expect("one"))
            .into_iter()
            .chain([looped])
    };
    let (mut repeated, mut idle) = (0, 0);
    for (costs, capacity) in
        costs.into_iter().flat_map(|costs| (2..=4).map(move |capacity| (costs, capacity)))
    {
        for placement in [2, 3].into_iter().flat_map(placements) {
            let model = limited(placement, capacity, costs);
            let devices: Vec<Device> = Device::all(model.devices()).collect();
            let mut subset = Subset::new(&model, &Paths::new(&model), &devices);
            let Followed::Repeating(exact) = subset.follow(24, &mut Steps(STEPS)) else { continue };
            let pace = exact.pace();
            let needed = spent(&model, pace, STEPS).unwrap_or_else(|| panic!("{pace}: {model:?}"));
            assert_eq!(spent(&model, pace, needed), Some(needed));
            assert_eq!(spent(&model, pace, needed - 1), None);
            assert!(spent(&model, pace - Ratio::new(1, 7), STEPS).is_some(), "{pace}: {model:?}");
            for larger in [Ratio::new(1, 60), Ratio::from_integer(1)] {
                assert_eq!(spent(&model, pace + larger, 20 * needed), None, "{pace}: {model:?}");
            }
            repeated += 1;
            idle += u32::from(pace > Ratio::from_integer(model.most_work().0));
        }
    }
    assert!(repeated > 60 && idle > 20, "{repeated} {idle}");
}

#[test]
fn the_steps_at_a_pace_are_as_ever() {
    let looped = Placement::looped(2, 2).expect("a placement");
    let linear = Placement::linear(4).expect("a placement");
    let needed = [
        (v(4, 4, [3, 4, 2, 0]), Ratio::from_integer(21)),
        (v(3, 3, [2, 2, 0, 1]), Ratio::from_integer(14)),
        (limited(looped, 3, [3, 4, 2, 1]), Ratio::from_integer(18)),
        (limited(linear, 3, [2, 1, 5, 3]), Ratio::from_integer(8)),
        (v(4, 3, [1, 1, 1, 0]), Ratio::new(19, 2)),
    ]
    .map(|(model, pace)| spent(&model, pace, STEPS));
    assert_eq!(needed, [312_126, 3_695, 706, 26_196, 11_316].map(Some));
}

/// With as many steps, smaller sets of devices that are followed without a pace in mind show less: the example of docs/bounds.md, and
/// another one of docs/findings.md.
#[test]
fn all_devices_at_a_pace_show_more_than_some_without() {
    for (devices, pace, most, of_some) in [
        (5, Ratio::from_integer(25), 3_000_000, Ratio::new(47, 2)),
        (6, Ratio::new(57, 2), 6_000_000, Ratio::from_integer(28)),
    ] {
        let model = v(devices, 4, [3, 4, 2, 0]);
        assert!(is_least_pace(&model, pace, most), "{devices}");
        assert_eq!(steady_bound(&model, most), of_some, "{devices}");
        assert!(!is_least_pace(&model, pace + Ratio::new(1, 4), most), "{devices}");
    }
}

/// The makespans of all numbers of microbatches up to this, by the sets of states of all devices: nothing is left out.
fn makespans(model: &Model, most: u32) -> Vec<i64> {
    let devices: Vec<Device> = Device::all(model.devices()).collect();
    let mut subset = Subset::new(model, &Paths::new(model), &devices);
    subset.begin(most, &mut Steps(100 * STEPS)).expect("it is small");
    let values = subset.values(most, None, Objective::Makespan, &mut Steps(100 * STEPS));
    values.iter().map(|value| value.0).collect()
}

/// What is shown up to an end is that, or else the pace for every microbatch and, besides, what it takes at the least for any number of
/// them.
#[test]
fn the_makespan_at_a_pace_is_that_of_the_best_number_of_microbatches() {
    let costs = [[1, 1, 1, 0], [3, 4, 2, 0], [2, 1, 5, 3], [2, 0, 3, 1]];
    let placements = [Placement::v(2), Placement::linear(2), Placement::linear(3), Placement::looped(2, 2)];
    let mut best = Vec::new();
    for (placement, costs) in placements.iter().flat_map(|one| costs.map(|costs| (one, costs))) {
        for capacity in 2..=4 {
            let model = limited(placement.clone().expect("a placement"), capacity, costs);
            let optima = makespans(&model, 14);
            let most_work = Ratio::from_integer(model.most_work().0);
            for pace in [most_work, most_work - Ratio::new(1, 3), Ratio::from_integer(0)] {
                let beyond = |(count, &value): (usize, &i64)| {
                    Ratio::from_integer(value) - pace * i64::try_from(count).expect("it is small")
                };
                let least = optima.iter().enumerate().skip(1).map(beyond).min().expect("there are some");
                let number = optima.iter().enumerate().skip(1).position(|of| beyond(of) == least);
                best.push(number.expect("it is one of them") + 1);
                for microbatches in [1, 40] {
                    let model = model.with_microbatches(microbatches).expect("a number");
                    let value = (least + pace * i64::from(microbatches)).ceil().to_integer();
                    for end in [value - 1, value, value + 50] {
                        let end = Ticks(end.max(0));
                        let bound = lower_bound_at_pace(&model, pace, end, STEPS, &mut || false);
                        let bound = bound.unwrap_or_else(|| panic!("{pace}: {model:?}"));
                        assert_eq!(bound.value, Ticks(value).min(end), "{pace} {end}: {model:?}");
                        assert_eq!(holds(&model, Objective::Makespan, &bound), Ok(()));
                        let more = Bound { value: bound.value + Ticks(1), ..bound };
                        assert!(holds(&model, Objective::Makespan, &more).is_err());
                    }
                }
            }
        }
    }
    assert!(best.contains(&1) && best.iter().any(|&number| (2..6).contains(&number)), "{best:?}");
    assert!(best.iter().all(|&number| number < 14), "others would be better still: {best:?}");
}

/// The example of docs/bounds.md.
#[test]
fn all_devices_at_a_pace_bound_the_makespan() {
    let model = limited(Placement::linear(8).expect("a placement"), 4, [3, 4, 2, 0]);
    let model = model.with_microbatches(32).expect("a number");
    let at = |pace, end| {
        lower_bound_at_pace(&model, pace, Ticks(end), STEPS, &mut || false).map(|bound| bound.value.0)
    };
    assert_eq!(at(Ratio::new(63, 4), 521), Some(520));
    assert_eq!(at(Ratio::new(63, 4), 519), Some(519));
    assert_eq!(at(Ratio::from_integer(16), 521), None, "some schedule is faster");
}

#[test]
fn a_claim_at_a_pace_has_figures_that_may_be() {
    let model = v(3, 3, [3, 4, 2, 1]).with_microbatches(6).expect("a number");
    let judged = |devices: &[u32], (ticks, microbatches): (i64, u32), end: i64, value: i64| {
        let devices = devices.iter().copied().map(Device).collect();
        let reason = BoundReason::Pace { devices, microbatches, ticks: Ticks(ticks), end: Ticks(end) };
        holds(&model, Objective::Makespan, &Bound { value: Ticks(value), reason })
    };
    assert_eq!(judged(&[0, 1, 2], (39, 2), 50, 50), Ok(()));
    assert_eq!(
        judged(&[0, 1, 2], (39, 2), 50, 51),
        Err(BoundError::Value { claimed: Ticks(51), shown: Ticks(50) })
    );
    assert_eq!(judged(&[2], (18, 1), 50, 50), Ok(()));
    for (pace, end) in [((-1, 1), 50), ((18, 0), 50), ((18, 1), -1), ((i64::MAX, 1), 50), ((18, 1), i64::MAX)]
    {
        assert!(matches!(judged(&[0, 1, 2], pace, end, 50), Err(BoundError::Figures(_))), "{pace:?} {end}");
    }
    let most = (Model::MAX_TOTAL, u32::MAX);
    assert_eq!(judged(&[0, 1, 2], most, Model::MAX_TOTAL, 50), Err(BoundError::TooLarge));
    let many = Model::equal_stages(Placement::linear(17).expect("a placement"), 2, [3, 4, 2, 0]);
    let many =
        many.and_then(|model| model.with_uniform_activation_capacity(Some(Units(1)))).expect("a model");
    for (devices, is_followed) in [(16, true), (17, false)] {
        let devices = Device::all(devices).collect();
        let reason = BoundReason::Pace { devices, microbatches: 1, ticks: Ticks(9), end: Ticks(100) };
        let judged = holds(&many, Objective::Makespan, &Bound { value: Ticks(100), reason });
        assert_eq!(judged, if is_followed { Ok(()) } else { Err(BoundError::TooLarge) });
    }
    assert_eq!(judged(&[], (18, 1), 50, 50), Err(BoundError::Order));
    assert_eq!(judged(&[2, 0], (18, 1), 50, 50), Err(BoundError::Order));
    assert!(matches!(judged(&[0, 3], (18, 1), 50, 50), Err(BoundError::Device { .. })));
    let at = |pace, end| lower_bound_at_pace(&model, pace, Ticks(end), STEPS, &mut || false);
    assert_eq!(at(Ratio::from_integer(-1), 50), None);
    assert_eq!(at(Ratio::from_integer(1), -1), None);
    let bound = at(Ratio::new(39, 2), 50).expect("it is closed");
    assert!(matches!(holds(&model, Objective::DeviceSpan, &bound), Err(BoundError::Figures(_))));
    let both = limited(Placement::bidirectional(2).expect("a placement"), 4, [1, 1, 1, 0]);
    assert_eq!(lower_bound_at_pace(&both, Ratio::from_integer(1), Ticks(9), STEPS, &mut || false), None);
    assert!(matches!(holds(&both, Objective::Makespan, &bound), Err(BoundError::Directions(2))));
}

#[test]
fn devices_without_a_capacity_are_left_out() {
    let model = v(3, 3, [3, 4, 2, 0]);
    let of = |capacities: [Option<i64>; 3]| {
        let capacities = capacities.map(|capacity| capacity.map(Units)).to_vec();
        model.with_activation_capacity(capacities).expect("as many as devices")
    };
    let least = Ratio::from_integer(26);
    assert!(is_least_pace(&model, least, STEPS));
    assert!(is_least_pace(&of([Some(3), None, None]), Ratio::from_integer(18), STEPS));
    assert!(!is_least_pace(&of([Some(3), None, None]), least, STEPS));
    assert!(!is_least_pace(&of([None; 3]), Ratio::from_integer(1), STEPS), "then none is followed");
}

#[test]
fn pairs_that_save_time_are_followed() {
    let pair = |ticks| PairDurations::Uniform(Ticks(ticks));
    let overlap = Overlap { forward_backward: pair(6), forward_input: pair(4), ..Overlap::default() };
    let model = v(2, 4, [3, 4, 2, 0]);
    let shorter = model.with_overlap(overlap).expect("no shorter than the longer");
    let work = Ratio::from_integer(18);
    assert!(is_least_pace(&model, work, STEPS));
    assert!(!is_least_pace(&shorter, work, STEPS));
    assert!(is_least_pace(&shorter, Ratio::from_integer(12), STEPS));
    // A pair takes longer than each of its passes.
    let most = i64::MAX / i64::try_from(STEPS).expect("it is small") / 2;
    let longest = |of_pair: i64| {
        let overlap = Overlap { forward_input: pair(of_pair), ..Overlap::default() };
        let model = v(2, 4, [most, 2, 1, 0]).with_overlap(overlap).expect("no shorter than the longer");
        spent(&model, Ratio::from_integer(1), STEPS).is_some()
    };
    assert_eq!([most, most + 1].map(longest), [true, false]);
}

#[test]
fn nothing_is_followed_any_further_when_it_is_over() {
    let (model, pace) = (v(3, 3, [3, 4, 2, 0]), Ratio::from_integer(26));
    let asked = |answers_after: u64| {
        let mut asked = 0;
        let is_least = crate::certificate::is_least_pace(&model, pace, STEPS, &mut || {
            asked += 1;
            asked > answers_after
        });
        (is_least, asked)
    };
    let (is_least, times) = asked(u64::MAX);
    assert!(is_least && times > 100, "once for each time that a group is followed: {times}");
    assert_eq!(asked(times), (true, times));
    assert_eq!(asked(times - 1), (false, times));
    assert_eq!(asked(0), (false, 1));
}

#[test]
fn two_directions_and_times_that_may_overflow_are_not_followed() {
    let both = Placement::bidirectional(2).expect("a placement");
    let model = limited(both, 4, [1, 1, 1, 0]);
    assert!(!is_least_pace(&model, Ratio::from_integer(1), STEPS));
    // Half the largest number, divided by the steps, is the longest time that is followed.
    let most = i64::MAX / i64::try_from(STEPS).expect("it is small") / 2;
    for (longer, is_followed) in [(0, true), (1, false)] {
        let model = v(2, 2, [most + longer, 1, 1, 0]);
        assert_eq!(is_least_pace(&model, Ratio::from_integer(1), STEPS), is_followed, "{longer}");
        for times in [[1, 1, 1, most + longer], [1, 1, most + longer, 0]] {
            let followed = is_least_pace(&v(2, 2, times), Ratio::from_integer(1), STEPS);
            assert_eq!(followed, is_followed, "{longer}");
        }
    }
    let model = v(2, 2, [1, 1, 1, 0]);
    assert!(is_least_pace(&model, Ratio::new(1, most), STEPS), "as many parts of a tick");
    assert!(!is_least_pace(&model, Ratio::new(1, most + 1), STEPS));
    assert!(!is_least_pace(&model, Ratio::new(1, i64::MAX), STEPS), "there are no such ticks");
    assert!(!is_least_pace(&model, Ratio::new(1, 2), 0));
    assert!(!is_least_pace(&model, Ratio::from_integer(-1), STEPS), "time would be given back");
    assert!(!is_least_pace(&model, Ratio::new(1, 2), u64::MAX), "the steps are too many");
    let model = v(2, 2, [most, 1, 1, 0]);
    assert!(is_least_pace(&model, Ratio::from_integer(most), STEPS));
    assert!(!is_least_pace(&model, Ratio::from_integer(most + 1), STEPS), "it is, but the pace is too long");
}

#[test]
fn counts_are_packed_without_loss_or_not_at_all() {
    for (devices, bits) in [(1, 31), (2, 31), (3, 21), (8, 8), (16, 4), (64, 1), (65, 0)] {
        let model = v(devices, 4, [3, 4, 2, 0]);
        let devices: Vec<Device> = Device::all(devices).collect();
        let chain = Chain::new(&model, &Paths::new(&model), &devices).with_equal_weights_as_one();
        let (packing, links) = (Packing::of(&chain), chain.links.len());
        let most = (1_u32 << packing.bits) - 1;
        assert_eq!(packing.bits, bits);
        let of = |count: &dyn Fn(usize) -> u32| (0..links).map(count).collect::<Vec<u32>>();
        for counts in [of(&|_| 0), of(&|_| most), of(&|place| [0, most.min(1), most][place % 3])] {
            let key = packing.pack(&counts).expect("they fit");
            assert_eq!(packing.unpack(key), counts);
        }
        for large in 0..links {
            let counts = of(&|place| if place == large { most + 1 } else { 0 });
            assert_eq!(packing.pack(&counts), None, "{large}");
            if let Some(key) = packing.pack(&of(&|place| u32::from(place == large))) {
                assert_eq!(key.0.count_ones() + key.1.count_ones(), 1);
            } else {
                assert_eq!(bits, 0, "even one is too large");
            }
        }
    }
}
