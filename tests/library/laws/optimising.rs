//! The optimiser on random problems: always an answer that keeps to feasible capacities, never worse than
//! the catalogue, never better than the bound.

use std::num::NonZeroUsize;
use std::time::Duration;

use bubbleproof::catalog;
use bubbleproof::certificate::{self, Objective};
use bubbleproof::model::{
    Device, Kind, Links, Messages, Microbatch, Model, Overlap, PairDurations, Pass, Placement, StepEnd,
    Ticks, Units,
};
use bubbleproof::optimize::sweep::{Outcome, sweep};
use bubbleproof::optimize::{OptimizeError, Options, optimize};
use bubbleproof::replay::replay;
use bubbleproof::schedule::Schedule;
use bubbleproof::stop::Stop;
use proptest::prelude::*;

use super::random;

fn quick(objective: Objective) -> Options {
    Options { objective, effort: 20_000, exact_effort: 50_000, ..Options::default() }
}

/// Capacities from the least that one microbatch needs upwards.
pub fn limited() -> impl Strategy<Value = Model> {
    (random::models(1), 0..8_i64).prop_map(|(model, spare)| {
        let whole = |device| -> Units {
            model.placement().stages_of(device).iter().map(|&stage| model.activation(stage)).sum()
        };
        let capacities = Device::all(model.devices()).map(|device| Some(whole(device) + Units(spare)));
        model.with_activation_capacity(capacities.collect()).expect("as many capacities as devices")
    })
}

/// How many passes recompute.
fn recomputed(schedule: &Schedule) -> usize {
    schedule.orders().iter().flatten().filter(|pass| pass.kind == Kind::R).count()
}

/// Every microbatch to its end before the next one, nothing recomputed.
fn one_after_the_other(model: &Model) -> Schedule {
    let orders = Device::all(model.devices()).map(|device| {
        let mut stages = model.placement().stages_of(device).to_vec();
        stages.sort_unstable();
        let of = |microbatch| {
            let forwards = stages.iter().map(move |&stage| Pass::new(stage, Kind::F, microbatch));
            let backwards = stages.iter().rev().map(move |&stage| Pass::new(stage, Kind::B, microbatch));
            forwards.chain(backwards).collect::<Vec<_>>()
        };
        Microbatch::all(model.microbatches()).flat_map(of).collect()
    });
    Schedule::new(model.placement().clone(), model.microbatches(), orders.collect()).expect("a schedule")
}

/// As the `DualPipe` of DeepSeek-V3: a pair takes two thirds of the time of its passes.
#[test]
fn pairs_that_save_time_are_made() {
    let model = Model::equal_stages(Placement::v(3).expect("a placement"), 8, [2, 2, 2, 0]).expect("a model");
    let options = Options { effort: 2_000_000, ..Options::default() };
    let apart = optimize(&model, &options, &mut |_| ()).expect("a schedule");
    let pair = Overlap { forward_backward: PairDurations::Uniform(Ticks(4)), ..Overlap::default() };
    let model = model.with_overlap(pair).expect("4 is the longer one");
    let together = optimize(&model, &options, &mut |_| ()).expect("a schedule");
    assert!(together.schedule.overlap_count() > 0);
    assert!(together.engine.ends_with(", overlapped"), "{}", together.engine);
    // Work alone takes 96 ticks without pairs, 64 if every forward is in one.
    assert!(
        apart.value() >= Ticks(96) && together.value() < Ticks(90),
        "{} {}",
        apart.value(),
        together.value()
    );
    assert!(
        Ticks(64) <= together.bound.value && together.bound.value <= together.value(),
        "{:?}",
        together.bound
    );
    assert!(certificate::check(&together.schedule, Some(&model)).is_ok());
    // Without `[overlap]` the same pairs take as long as their passes.
    let certified =
        certificate::check(&together.schedule, Some(&model.with_overlap(Overlap::default()).expect("sums")));
    assert!(certified.is_err());
    let dualpipe = catalog::find("dualpipe-v").expect("a name").generate(&model).expect("V placement");
    let dualpipe = replay(&model, &dualpipe).timing.expect("it runs").metrics.makespan;
    assert!(together.value() <= dualpipe, "{} {dualpipe}", together.value());
}

/// Of the stages of the last device, one takes long to reduce: its last W has to come early.
#[test]
fn the_order_of_the_last_ws_is_chosen_for_the_end_of_the_step() {
    let plain = Model::equal_stages(Placement::v(4).expect("a placement"), 8, [10, 12, 8, 1]);
    let plain = plain.expect("a model");
    let reduce = [30, 30, 30, 30, 30, 30, 30, 90].map(Ticks).to_vec();
    let step = StepEnd { reduce, optimizer: vec![Ticks(6); 8] };
    let model = plain.with_step(Some(step)).expect("a step");
    let options = Options { effort: 20_000_000, ..Options::default() };
    let [apart, together] =
        [&plain, &model].map(|model| optimize(model, &options, &mut |_| ()).expect("a schedule"));
    let without_choice = replay(&model, &apart.schedule).timing.expect("it runs").metrics.makespan;
    assert!(together.value() < without_choice, "{} {without_choice}", together.value());
    assert!(certificate::check(&together.schedule, Some(&model)).is_ok());
}

/// Three devices in a V share two network cards.
#[test]
fn orders_are_chosen_for_messages_that_share_a_link() {
    let plain = Model::equal_stages(Placement::v(3).expect("a placement"), 8, [10, 12, 8, 1]);
    let plain = plain.expect("a model");
    let nodes = vec![vec![Device(0), Device(1)], vec![Device(2)]];
    let messages = Messages { occupancy: vec![Ticks(7); 5], links: Links::Nodes(nodes) };
    let model = plain.with_messages(Some(messages)).expect("messages");
    let options = Options { effort: 2_000_000, ..Options::default() };
    let [apart, together] =
        [&plain, &model].map(|model| optimize(model, &options, &mut |_| ()).expect("a schedule"));
    let without_choice = replay(&model, &apart.schedule).timing.expect("it runs").metrics.makespan;
    assert!(together.value() < without_choice, "{} {without_choice}", together.value());
    assert!(together.bound.value <= together.value());
    assert!(certificate::check(&together.schedule, Some(&model)).is_ok());
    assert!(certificate::check(&together.schedule, Some(&plain)).is_err());
}

proptest! {
    #![proptest_config(crate::cases(48))]

    #[test]
    fn messages_are_never_worse_than_with_the_best_orders_for_links_of_their_own(
        model in limited(), occupancy in 1..9_i64, span: bool,
    ) {
        let options = quick(if span { Objective::DeviceSpan } else { Objective::Makespan });
        let occupancy = vec![Ticks(occupancy); model.stages() as usize - 1];
        let messages = Messages { occupancy, links: Links::Pair };
        let model = model.with_messages(Some(messages)).expect("messages");
        let apart = optimize(&model.with_own_links(), &options, &mut |_| ()).expect("one microbatch at a time fits");
        let together = optimize(&model, &options, &mut |_| ()).expect("one microbatch at a time fits");
        let metrics = replay(&model, &apart.schedule).timing.expect("it runs").metrics;
        prop_assert!(together.value() <= options.objective.of(&metrics));
        prop_assert!(together.value() >= apart.bound.value);
        prop_assert!(together.bound.value <= together.value());
        prop_assert!(certificate::check(&together.schedule, Some(&model)).is_ok());
    }

    #[test]
    fn pairs_never_make_the_answer_worse(model in limited(), percent in 1..=100_i64, span: bool) {
        let options = quick(if span { Objective::DeviceSpan } else { Objective::Makespan });
        let apart = optimize(&model, &options, &mut |_| ()).expect("one microbatch at a time fits");
        let model = random::with_cheaper_pairs(&model, percent);
        let together = optimize(&model, &options, &mut |_| ()).expect("one microbatch at a time fits");
        prop_assert!(together.value() <= apart.value());
        prop_assert!(together.bound.value <= together.value());
        prop_assert!(replay(&model, &together.schedule).is_valid());
        prop_assert!(certificate::check(&together.schedule, Some(&model)).is_ok());
    }

    #[test]
    fn feasible_capacities_give_a_valid_schedule_no_worse_than_the_catalogue(model in limited(), span: bool) {
        let objective = if span { Objective::DeviceSpan } else { Objective::Makespan };
        let solution = optimize(&model, &quick(objective), &mut |_| ()).expect("one microbatch at a time fits");
        let verdict = replay(&model, &solution.schedule);
        prop_assert!(verdict.is_valid(), "{:?}", verdict.violations);
        prop_assert_eq!(&verdict, &solution.verdict);
        prop_assert!(solution.value() >= solution.bound.value);
        for entry in catalog::entries() {
            let Ok(schedule) = entry.generate(&model) else { continue };
            let metrics = replay(&model, &schedule).timing.expect("the catalogue is valid").metrics;
            prop_assert!(solution.value() <= objective.of(&metrics), "{} is better", entry.name);
        }
    }

    #[test]
    fn the_same_problem_and_seed_give_the_same_schedule_on_any_number_of_threads(
        model in limited(),
        percent in prop_oneof![Just(0), 1..=50_i64],
        seed: u64,
    ) {
        // Pairs are searched by walks side by side.
        let model = if percent == 0 { model } else { random::with_cheaper_pairs(&model, percent) };
        let solve = |threads| {
            let threads = NonZeroUsize::new(threads).expect("positive");
            let options = Options { seed, threads, ..quick(Objective::Makespan) };
            optimize(&model, &options, &mut |_| ()).expect("one microbatch at a time fits")
        };
        let alone = solve(1);
        for threads in [1, 2, 4] {
            prop_assert_eq!(&solve(threads), &alone, "{} threads", threads);
        }
    }

    #[test]
    fn many_microbatches_give_a_valid_schedule_no_worse_than_the_catalogue(
        model in limited(),
        microbatches in 55..140_u32,
        span: bool,
    ) {
        let model = model.with_microbatches(microbatches).expect("small times");
        let objective = if span { Objective::DeviceSpan } else { Objective::Makespan };
        let solution = optimize(&model, &quick(objective), &mut |_| ()).expect("one microbatch at a time fits");
        prop_assert!(replay(&model, &solution.schedule).is_valid());
        prop_assert_eq!(solution.schedule.microbatches(), microbatches);
        prop_assert!(solution.value() >= solution.bound.value);
        for entry in catalog::entries() {
            let Ok(schedule) = entry.generate(&model) else { continue };
            let metrics = replay(&model, &schedule).timing.expect("the catalogue is valid").metrics;
            prop_assert!(solution.value() <= objective.of(&metrics), "{} is better", entry.name);
        }
    }

    #[test]
    fn few_microbatches_take_no_longer_than_one_after_the_other(
        (model, microbatches) in limited().prop_flat_map(|model| {
            let most = 2 * model.devices();
            (Just(model), 1..=most)
        }),
        span: bool,
    ) {
        let model = model.with_microbatches(microbatches).expect("small times");
        let objective = if span { Objective::DeviceSpan } else { Objective::Makespan };
        let solution = optimize(&model, &quick(objective), &mut |_| ()).expect("one microbatch at a time fits");
        let serial = replay(&model, &one_after_the_other(&model));
        prop_assert!(serial.is_valid(), "{:?}", serial.violations);
        let longest = objective.of(&serial.timing.expect("it is valid").metrics);
        prop_assert!(solution.value() <= longest);
        prop_assert!(solution.value() >= solution.bound.value);
    }

    #[test]
    fn the_span_is_never_longer_than_that_of_the_shortest_schedule(
        model in limited(),
        microbatches in 1..70_u32,
        effort in prop::sample::select(vec![1, 3_000, 20_000]),
    ) {
        let model = model.with_microbatches(microbatches).expect("small times");
        let [shortest, of_span] = [Objective::Makespan, Objective::DeviceSpan].map(|objective| {
            let options = Options { effort, ..quick(objective) };
            optimize(&model, &options, &mut |_| ()).expect("one microbatch at a time fits")
        });
        let span = shortest.verdict.timing.expect("it is valid").metrics.device_span;
        prop_assert!(of_span.value() <= span, "{} after {span}", of_span.value());
    }

    #[test]
    fn no_known_schedule_that_is_valid_is_better(
        (model, known) in random::schedules(1),
        spare in 0..4_i64,
        span: bool,
    ) {
        let peaks = replay(&model, &known).peak_memory;
        let whole = |device| -> Units {
            model.placement().stages_of(device).iter().map(|&stage| model.activation(stage)).sum()
        };
        let capacities = Device::all(model.devices()).zip(&peaks);
        let capacities = capacities.map(|(device, &peak)| Some(whole(device).max(peak) - Units(2) + Units(spare)));
        let model = model.with_activation_capacity(capacities.map(|capacity| capacity.map(|capacity| capacity.max(Units(0)))).collect());
        let model = model.expect("as many capacities as devices");
        let objective = if span { Objective::DeviceSpan } else { Objective::Makespan };
        // So little effort that many a random schedule is not met by the search itself.
        let options = Options {
            known: vec![known.clone()],
            effort: 1,
            exact_effort: 0,
            ..quick(objective)
        };
        let solution = match optimize(&model, &options, &mut |_| ()) {
            Err(OptimizeError::Infeasible(_)) => return Ok(()),
            solution => solution.expect("nothing else keeps it from a schedule"),
        };
        prop_assert!(replay(&model, &solution.schedule).is_valid());
        let verdict = replay(&model, &known);
        if verdict.is_valid() {
            prop_assert!(solution.value() <= objective.of(&verdict.timing.expect("it is valid").metrics));
        }
    }

    /// With so little effort that a search alone may well do worse with more memory. The limits come in any order.
    #[test]
    fn more_memory_in_a_sweep_never_gives_a_worse_schedule(
        model in limited(),
        microbatches in 1..12_u32,
        mut limits in prop::collection::vec(0..40_i64, 1..7),
        span: bool,
    ) {
        let model = model.with_microbatches(microbatches).expect("small times");
        limits.push(1000);
        let under = |limit: &i64| model.with_uniform_activation_capacity(Some(Units(*limit))).expect("a model");
        let models: Vec<_> = limits.iter().map(under).collect();
        let objective = if span { Objective::DeviceSpan } else { Objective::Makespan };
        let options = Options { effort: 1, exact_effort: 0, ..quick(objective) };
        let outcomes = sweep(&models, &options, &mut |_, _| ()).expect("no search is defective");
        let mut values: Vec<(i64, Option<i64>)> = Vec::new();
        for ((limit, model), outcome) in limits.iter().zip(&models).zip(&outcomes) {
            match outcome {
                Outcome::Found(found) => {
                    let verdict = replay(model, &found.schedule);
                    prop_assert!(verdict.is_valid());
                    let value = objective.of(&verdict.timing.expect("it is valid").metrics);
                    prop_assert_eq!(value, found.value());
                    values.push((*limit, Some(value.0)));
                }
                Outcome::Infeasible(_) => values.push((*limit, None)),
                other => return Err(TestCaseError::fail(format!("{other:?}"))),
            }
        }
        values.sort_by_key(|&(limit, _)| limit);
        for pair in values.windows(2) {
            let [(_, tight), (_, loose)] = [pair[0], pair[1]];
            prop_assert!(tight.is_none() || loose.is_some_and(|loose| Some(loose) <= tight), "{values:?}");
        }
        prop_assert!(values.last().is_some_and(|(_, value)| value.is_some()), "there is room for everything");
    }

    #[test]
    fn nothing_is_recomputed_that_need_not_be(model in limited(), microbatches in 1..80_u32) {
        prop_assume!(model.memory().checkpoint.is_some());
        let model = model.with_microbatches(microbatches).expect("small times");
        let solution = optimize(&model, &quick(Objective::Makespan), &mut |_| ()).expect("it fits");
        for entry in catalog::entries() {
            let Ok(schedule) = entry.generate(&model) else { continue };
            let verdict = replay(&model, &schedule);
            let as_short = verdict.timing.as_ref().expect("it is valid").metrics.makespan == solution.value();
            let more = solution.verdict.peak_memory_max() > verdict.peak_memory_max();
            prop_assert!(!(as_short && more) || recomputed(&schedule) > 0, "{} holds less", entry.name);
        }
        let orders = solution.schedule.orders();
        let places = (0..orders.len()).flat_map(|device| (0..orders[device].len()).map(move |at| (device, at)));
        for (device, position) in places.filter(|&(device, at)| orders[device][at].kind == Kind::R) {
            let mut without = orders.to_vec();
            let pass = without[device].remove(position);
            let without = Schedule::new(model.placement().clone(), microbatches, without).expect("a schedule");
            let verdict = replay(&model, &without);
            let makespan = verdict.timing.as_ref().map(|timing| timing.metrics.makespan);
            prop_assert!(
                !verdict.is_valid() || makespan.is_none_or(|makespan| makespan > solution.value()),
                "`{}` could be left out",
                pass
            );
        }
    }

    #[test]
    fn a_search_that_has_no_time_still_gives_a_schedule(model in limited()) {
        let options = Options { stop: Stop::after(Duration::ZERO), ..Options::default() };
        let solution = optimize(&model, &options, &mut |_| ()).expect("one microbatch at a time fits");
        prop_assert!(replay(&model, &solution.schedule).is_valid());
    }

    #[test]
    fn a_capacity_below_one_microbatch_is_explained(model in limited(), at in any::<prop::sample::Index>()) {
        let device = Device::at(at.index(model.devices() as usize));
        let held = |stage: &_| model.checkpoint(*stage).unwrap_or_else(|| model.activation(*stage));
        let least: Units = model.placement().stages_of(device).iter().map(held).sum();
        prop_assume!(least > Units::ZERO);
        let mut capacities = model.memory().capacity.clone();
        capacities[device.index()] = Some(least - Units(1));
        let model = model.with_activation_capacity(capacities).expect("as many capacities as devices");
        match optimize(&model, &quick(Objective::Makespan), &mut |_| ()) {
            Err(OptimizeError::Infeasible(why)) => {
                prop_assert_eq!(why.device, device);
                prop_assert!(why.needed > why.capacity);
                prop_assert_eq!(why.held.iter().map(|&(_, units)| units).sum::<Units>(), why.needed);
            }
            other => prop_assert!(false, "{other:?}"),
        }
    }
}

#[test]
fn a_schedule_handed_on_from_cap_to_cap_makes_looser_capacities_never_worse() {
    let placements = [Placement::v(4), Placement::v(8), Placement::linear(5), Placement::looped(3, 2)];
    for placement in placements.map(|placement| placement.expect("a placement")) {
        if placement.stages() > 8 && !crate::long() {
            continue;
        }
        for (times, microbatches) in [([1, 1, 1, 0], 16), ([3, 4, 2, 0], 11), ([5, 2, 7, 3], 80)] {
            let model = Model::equal_stages(placement.clone(), microbatches, times).expect("a model");
            for objective in [Objective::Makespan, Objective::DeviceSpan] {
                let mut last: Option<(i64, Schedule)> = None;
                let most = i64::from(model.stages()) + 2;
                for capacity in (1..=most).map(|capacity| Some(Units(capacity))).chain([None]) {
                    let model = model.with_uniform_activation_capacity(capacity).expect("a capacity");
                    let known = last.iter().map(|(_, schedule)| schedule.clone()).collect();
                    let options = Options { known, effort: 1, exact_effort: 0, ..quick(objective) };
                    let Ok(solution) = optimize(&model, &options, &mut |_| ()) else { continue };
                    let value = solution.value().0;
                    if let Some((before, _)) = last {
                        assert!(value <= before, "{times:?} {capacity:?}: {value} after {before}");
                    }
                    last = Some((value, solution.schedule));
                }
                assert!(last.is_some());
            }
        }
    }
}

#[test]
fn a_search_of_little_effort_keeps_the_known_schedule_that_is_better_than_its_own() {
    let mut better = 0;
    for (placement, times, capacity) in [
        (Placement::v(8), [3, 4, 2, 0], 13),
        (Placement::v(6), [5, 2, 7, 3], 6),
        (Placement::looped(4, 2), [3, 4, 2, 0], 7),
    ] {
        let model = Model::equal_stages(placement.expect("a placement"), 14, times).expect("a model");
        let model = model.with_uniform_activation_capacity(Some(Units(capacity))).expect("a capacity");
        for objective in [Objective::Makespan, Objective::DeviceSpan] {
            let little = Options { effort: 1, exact_effort: 0, ..quick(objective) };
            let much = Options { effort: 2_000_000, ..little.clone() };
            let of =
                |options: &Options| optimize(&model, options, &mut |_| ()).expect("the capacity is feasible");
            let (alone, known) = (of(&little), of(&much));
            better += usize::from(known.value() < alone.value());
            let kept = of(&Options { known: vec![known.schedule.clone()], ..little });
            assert!(kept.value() <= known.value(), "{times:?}: {} after {}", kept.value(), known.value());
        }
    }
    assert!(better > 0, "nothing was there to be kept");
}
