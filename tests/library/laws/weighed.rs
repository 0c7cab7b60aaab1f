//! The bound that weighs work against memory: against the optimum of small problems, with the best weights and with any, and by
//! hand.

use bubbleproof::bounds::weighed;
use bubbleproof::certificate::{
    BoundReason, DeviceWeights, Objective, Weights, holds, lower_bound, weighed_bound, weighed_terms,
};
use bubbleproof::model::{
    Device, Kind, Memory, Model, Offload, Overlap, PairDurations, Pass, Placement, Recompute, RecomputeLevel,
    Stage, Ticks, Units,
};
use bubbleproof::optimize::{Options, optimize};
use bubbleproof::replay::replay;
use bubbleproof::schedule::{Offloaded, Schedule};
use proptest::prelude::*;

use super::bounds::{as_chosen, small, two_ways};
use super::every_order::optimum_of;
use super::levels::levelled;
use super::random::{Choices, schedule_of, with_cheaper_pairs};

const OBJECTIVES: [Objective; 2] = [Objective::Makespan, Objective::DeviceSpan];

/// Weights of any size, many of them nothing.
fn any_weights(model: &Model, objective: Objective, choices: &mut Choices) -> Weights {
    let mut number = |most: usize| match choices.below(3) {
        0 => 0,
        _ => i64::try_from(choices.below(most)).expect("small"),
    };
    let terms = weighed_terms(model, objective);
    let devices = terms.devices.iter().map(|device| DeviceWeights {
        work: number(20),
        memory: if device.capacity.is_some() { number(20) } else { 0 },
        first: number(200),
        last: number(200),
        to_host: number(20),
        from_host: number(20),
        first_copies: number(20),
        last_copies: number(20),
    });
    let devices = devices.collect();
    let backwards = terms.stages.iter().map(|_| number(60)).collect();
    let of_stages = terms.stages.iter().map(|stage| stage.choices.iter().map(|_| number(60)).collect());
    let choices = of_stages.collect();
    Weights { devices, backwards, choices }
}

/// The same passes, some of them with an R.
fn with_some_recomputed(model: &Model, passes: &[Pass], choices: &mut Choices) -> Vec<Pass> {
    let mut all = passes.to_vec();
    if model.recompute_levels() == 1 && all.len() <= 18 {
        let again: Vec<Pass> =
            passes.iter().filter(|pass| pass.kind == Kind::F && choices.once_in(2)).copied().collect();
        all.extend(again.iter().map(|pass| pass.with_kind(Kind::R)));
    }
    all
}

proptest! {
    #![proptest_config(crate::cases(384))]

    /// Whatever is a pair, a B, or recomputed, for any weights and for the best.
    #[test]
    fn no_schedule_is_shorter_than_what_is_weighed(
        plain in prop_oneof![small(), two_ways()], choice: u32, seed: u64, percent in prop_oneof![Just(0), Just(50), Just(100)],
    ) {
        let model = with_cheaper_pairs(&plain, percent);
        let choices = &mut Choices::new(seed);
        let through = |pass: &Pass| model.placement().leads_through(pass.stage, pass.microbatch);
        let passes: Vec<Pass> = as_chosen(&model, choice).into_iter().filter(through).collect();
        let passes = with_some_recomputed(&model, &passes, choices);
        for objective in OBJECTIVES {
            let Ok(Some(optimum)) = optimum_of(&model, &passes, objective) else { continue };
            let best = weighed(&model, objective);
            let any = (0..8).map(|_| any_weights(&model, objective, choices)).collect::<Vec<_>>();
            let any = any.iter().filter_map(|weights| weighed_bound(&model, objective, weights));
            for bound in any.chain(best) {
                prop_assert!(bound.value <= Ticks(optimum), "{:?}: {:?} but {} is possible", objective, bound, optimum);
                prop_assert_eq!(holds(&model, objective, &bound), Ok(()));
            }
        }
    }
}

/// The model with copies that free some of each activation.
fn copying(plain: &Model, choices: &mut Choices) -> Model {
    let mut small = |below: usize| i64::try_from(choices.below(below)).expect("small");
    let moved = plain.memory().activation.iter().map(|whole| Units((whole.0 - small(3)).max(0))).collect();
    let mut times = || (0..plain.stages()).map(|_| Ticks(small(8))).collect();
    let offload = Offload { moved, to_host: times(), from_host: times() };
    plain.with_offload(Some(offload)).expect("copies")
}

/// The schedule with activations away for some of the time for which they could be.
fn with_some_offloaded(schedule: Schedule, choices: &mut Choices) -> Schedule {
    let lists = Device::all(schedule.devices()).map(|device| {
        let order = schedule.order(device);
        let mut away = Vec::new();
        for (at, &pass) in order.iter().enumerate().filter(|(_, pass)| pass.kind == Kind::F) {
            let later = |of: &dyn Fn(Kind) -> bool| {
                order[at..].iter().position(|other| of(other.kind) && other.with_kind(Kind::F) == pass)
            };
            let backward = at + later(&|kind| kind.yields_input_gradient()).expect("each F has a backward");
            if later(&|kind| kind == Kind::R).is_none() && backward > at + 1 && !choices.once_in(4) {
                let freed = at + 1 + choices.below(backward - at - 1);
                let fetched = freed + 1 + choices.below(backward - freed);
                away.push(Offloaded { pass, freed, fetched });
            }
        }
        away
    });
    let lists = lists.collect();
    schedule.with_offloads(lists).expect("forwards that come back")
}

proptest! {
    #![proptest_config(crate::cases(192))]

    /// With copies to the host, with or without levels and pairs, and with just the memory that some schedule needs.
    #[test]
    fn no_schedule_with_copies_is_shorter_than_what_is_weighed(
        plain in small(), seed: u64, has_levels: bool, percent in prop_oneof![Just(0), Just(50)],
    ) {
        let choices = &mut Choices::new(seed);
        let plain = plain.without_weights().with_uniform_activation_capacity(None).expect("a model");
        let plain = if has_levels { levelled(&plain, seed, false) } else { plain };
        let free = copying(&with_cheaper_pairs(&plain, percent), choices);
        let schedule = with_some_offloaded(schedule_of(&free, seed), choices);
        let needed = replay(&free, &schedule).peak_memory;
        let model = free.with_activation_capacity(needed.into_iter().map(Some).collect()).expect("a model");
        let verdict = replay(&model, &schedule);
        prop_assert!(verdict.is_valid(), "{:?}", verdict.violations);
        for objective in OBJECTIVES {
            let options = Options { objective, effort: 20_000, exact_effort: 0, ..Options::default() };
            let value = objective.of(&verdict.timing.as_ref().expect("it is valid").metrics);
            let found = optimize(&model, &options, &mut |_| ()).expect("some schedule fits");
            let value = value.min(found.value());
            let best = weighed(&model, objective);
            let any = (0..8).map(|_| any_weights(&model, objective, choices)).collect::<Vec<_>>();
            let any = any.iter().filter_map(|weights| weighed_bound(&model, objective, weights));
            for bound in any.chain(best) {
                prop_assert!(bound.value <= value, "{:?}: {:?} but {} is possible", objective, bound, value);
                prop_assert_eq!(holds(&model, objective, &bound), Ok(()));
            }
        }
    }
}

/// Two units per stage, of which nothing is kept where a stage recomputes for as long as its F takes.
fn recomputing(placement: Placement, microbatches: u32, capacity: i64) -> Model {
    let stages = placement.stages() as usize;
    let plain = Model::equal_stages(placement, microbatches, [3, 4, 2, 0]).expect("a model");
    let level = RecomputeLevel { checkpoint: vec![Units(0); stages], duration: Some(vec![Ticks(3); stages]) };
    plain
        .with_plain_memory(Memory { activation: vec![Units(2); stages], ..plain.memory().clone() })
        .and_then(|model| model.with_recompute(Some(Recompute { levels: vec![level], fused: false })))
        .and_then(|model| model.with_uniform_activation_capacity(Some(Units(capacity))))
        .expect("a model")
}

/// Without recomputation, the last device idles for 9 ticks before its first F and for 3 more before its first I, for which it has
/// memory for 8 Fs in 27 ticks. A ninth is recomputed, which takes as long.
#[test]
fn what_is_begun_without_memory_is_run_twice() {
    let model = recomputing(Placement::v(4).expect("a placement"), 16, 16);
    let bound = weighed(&model, Objective::Makespan).expect("it recomputes");
    assert_eq!(bound.value, Ticks(16 * 18 + 9 + 3));
    assert_eq!(lower_bound(&model, Objective::Makespan).value, Ticks(16 * 18 + 9));
    assert_eq!(holds(&model, Objective::Makespan, &bound), Ok(()));
}

/// Linear placement on two devices; an F and a B of 6 and 8 ticks take 10 together, and every message 5 ticks.
fn pairing(capacity: i64, microbatches: u32) -> Model {
    let placement = Placement::linear(2).expect("a placement");
    let plain = Model::equal_stages(placement, microbatches, [6, 5, 3, 5]).expect("a model");
    let pair = PairDurations::Uniform(Ticks(10));
    plain
        .with_overlap(Overlap { forward_backward: pair, ..Overlap::default() })
        .and_then(|model| model.with_uniform_activation_capacity(Some(Units(capacity))))
        .expect("a model")
}

/// In the long run: let x be the share of Fs of a device that are in pairs, which is the same on both. Its passes take `14 - 4x`. On
/// device 0 an activation is held for 6 + 5 + 6 + 5 + 5 + 5 = 32 ticks alone, and 4 longer for each of two Fs and 5 longer for each
/// of two Is that is in a pair; and W holds it for 3 ticks more, if it is in none. With room for three,
/// `35 + (8 + 10 - 3) x <= 3 (14 - 4x)` as long as x is at most 7/27, which gives 350/27 = 12.96.
#[test]
fn what_memory_pairs_take_can_be_computed_by_hand() {
    let m = 10_000;
    let value = |capacity| weighed(&pairing(capacity, m), Objective::Makespan).expect("pairs").value.0;
    assert_eq!(value(3) / 100, 350 * 100 / 27, "{}", value(3));
    // With room for five, everything may be in pairs: 35 + 15 = 5 * 10. With room for four, 11.29.
    assert_eq!(value(5) / 1000, 100, "{}", value(5));
    assert_eq!(value(4) / 100, 1129, "{}", value(4));
    // And with room for two, nothing: 35 / 2.
    assert_eq!(value(2) / 100, 1750, "{}", value(2));
}

/// An activation of 4 units holds 64 units times ticks, 46 if copies of 3 ticks move 3 units, and 25 if R brings those back in a tick.
/// There is room for six units. With R alone `64 - 39R = 6 (5 + R)`, with copies alone `46 = 6t`, with both `46 - 21R = 6 (5 + R)`.
#[test]
fn what_to_recompute_and_what_to_offload_can_be_computed_by_hand() {
    let plain = Model::equal_stages(Placement::linear(2).expect("a placement"), 10_000, [2, 2, 1, 4]);
    let plain = plain.expect("a model");
    let both = |number| vec![Units(number); 2];
    let memory = Memory { activation: both(4), retained_for_weight: both(0), ..plain.memory().clone() };
    let plain = plain
        .with_plain_memory(memory)
        .and_then(|model| model.with_uniform_activation_capacity(Some(Units(6))))
        .expect("a model");
    let level = RecomputeLevel { checkpoint: both(1), duration: Some(vec![Ticks(1); 2]) };
    let again = |model: &Model| {
        let recompute = Recompute { levels: vec![level.clone()], fused: false };
        model.with_recompute(Some(recompute)).expect("a level")
    };
    let copies = |model: &Model| {
        let times = vec![Ticks(3); 2];
        let offload = Offload { moved: both(3), to_host: times.clone(), from_host: times };
        model.with_offload(Some(offload)).expect("copies")
    };
    let of = |model: &Model| {
        let bound = weighed(model, Objective::Makespan).expect("there is a choice");
        assert_eq!(holds(model, Objective::Makespan, &bound), Ok(()));
        bound.value.0 / 100
    };
    assert_eq!(
        [again(&plain), copies(&plain), copies(&again(&plain))].map(|model| of(&model)),
        [575, 766, 559]
    );
}

#[test]
fn weights_that_do_not_suit_the_model_are_refused() {
    let model = pairing(3, 8);
    let objective = Objective::Makespan;
    let bound = weighed(&model, objective).expect("pairs");
    let BoundReason::Weighed(weights) = &bound.reason else { panic!("{bound:?}") };
    let refused = |change: &dyn Fn(&mut Weights)| {
        let mut weights = weights.clone();
        change(&mut weights);
        let reason = BoundReason::Weighed(weights);
        assert!(
            holds(&model, objective, &bubbleproof::certificate::Bound { reason, ..bound.clone() }).is_err()
        );
    };
    refused(&|weights| weights.devices.truncate(1));
    refused(&|weights| weights.backwards.truncate(1));
    refused(&|weights| weights.choices.truncate(1));
    refused(&|weights| weights.choices[0].push(1));
    refused(&|weights| weights.backwards[0] = -1);
    refused(&|weights| weights.devices = vec![DeviceWeights::default(); 2]);
    refused(&|weights| weights.devices[0].work += 1_000_000_000);
    refused(&|weights| weights.devices.iter_mut().for_each(|of| of.work = i64::MAX));
    // No memory is scarce where there is no limit.
    let free = model.with_uniform_activation_capacity(None).expect("a model");
    assert_eq!(weighed_bound(&free, objective, weights), None);
}

/// Every microbatch of either direction is under way in its own stages alone.
#[test]
fn two_directions_are_weighed_together() {
    let plain = Model::equal_stages(Placement::bidirectional(4).expect("a placement"), 16, [6, 8, 4, 0]);
    let overlap = Overlap { forward_backward: PairDurations::Uniform(Ticks(15)), ..Overlap::default() };
    let model = plain.and_then(|model| model.with_overlap(overlap)).expect("a model");
    let of = |capacity: i64| {
        let model = model.with_uniform_activation_capacity(Some(Units(capacity))).expect("a model");
        let bound = weighed(&model, Objective::Makespan).expect("pairs");
        assert_eq!(holds(&model, Objective::Makespan, &bound), Ok(()));
        (bound.value.0, lower_bound(&model, Objective::Makespan).value.0)
    };
    let terms = weighed_terms(&model, Objective::Makespan);
    assert_eq!(terms.stages[Stage(4).index()].before, None, "the second pipeline begins there");
    assert_eq!(terms.pairs.len(), 4 * 4);
    let (with, without) = of(3);
    assert!(with > without, "{with} {without}");
}
