//! The engines against figures on record, against plain enumeration, and against each other.

mod brute;
mod cases;

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::model::{Placement, Units};
use crate::optimize::feasible::serial;
use crate::optimize::{Options, optimize};
use crate::stop::Interrupt;

fn unlimited() -> Limits {
    Limits { stop: Stop::default(), effort: u64::MAX }
}

fn limited(placement: Placement, microbatches: u32, times: [i64; 4], capacity: i64) -> Model {
    let model = Model::equal_stages(placement, microbatches, times).expect("a model");
    model.with_uniform_activation_capacity(Some(Units(capacity))).expect("a capacity")
}

/// What an engine finds from one microbatch after the other.
fn solved(engine: Engine, model: &Model, objective: Objective) -> Outcome {
    let start = serial(model, false);
    let found = solve_with(&[engine], model, objective, &start, &unlimited()).expect("an exact search");
    let verdict = replay(model, &found.schedule);
    assert!(verdict.is_valid(), "{:?}", verdict.violations);
    assert_eq!(objective.of(&verdict.timing.expect("it is valid").metrics), found.value);
    assert!(found.value >= found.lower_bound);
    found
}

/// The value of that. `None` where it is not proved.
fn proved(engine: Engine, model: &Model, objective: Objective) -> Option<Ticks> {
    let found = solved(engine, model, objective);
    (found.value == found.lower_bound).then_some(found.value)
}

/// The least value that a walk meets: two passes of a device change places where that makes the schedule no worse. It
/// knows replay alone.
fn least_by_swaps(model: &Model, objective: Objective, from: &Schedule, seed: u64) -> Ticks {
    const STEPS: usize = 2000;
    let value = |schedule: &Schedule| {
        let verdict = replay(model, schedule);
        let timing = verdict.timing.as_ref().filter(|_| verdict.is_valid())?;
        Some(objective.of(&timing.metrics))
    };
    let mut random = fastrand::Rng::with_seed(seed);
    let mut orders = from.orders().to_vec();
    let mut least = value(from).expect("it begins with a schedule that is valid");
    for _ in 0..STEPS {
        let device = random.usize(..orders.len());
        let one = random.usize(..orders[device].len());
        // Most passes that are far apart wait for each other.
        let other = (one + 1 + random.usize(..4)).min(orders[device].len() - 1);
        orders[device].swap(one, other);
        let schedule = Schedule::new(from.placement().clone(), from.microbatches(), orders.clone());
        match value(&schedule.expect("as many orders as before")) {
            Some(value) if value <= least => least = value,
            _ => orders[device].swap(one, other),
        }
    }
    least
}

/// The engines that minimise it.
fn minimising(objective: Objective) -> impl Iterator<Item = Engine> {
    let all = Engine::ALL.iter().copied();
    all.filter(move |&engine| objective == Objective::Makespan || engine == Engine::Lcg)
}

/// V placement, a unit of memory per stage, no latency: found with a third engine (CP-SAT) beside two
/// like these.
#[test]
fn the_engines_prove_the_makespans_on_record() {
    let unit = [1, 1, 1, 0];
    let unequal = [3, 4, 2, 0];
    for (devices, microbatches, capacity, times, makespan) in [
        (2, 8, 3, unit, 51),
        (3, 8, 4, unit, 53),
        (4, 8, 5, unit, 56),
        (4, 8, 6, unit, 53),
        (4, 8, 3, unequal, 286),
        (4, 8, 4, unequal, 200),
        (4, 1, 4, unequal, 58),
        (4, 2, 4, unequal, 66),
        (4, 5, 4, unequal, 137),
        (4, 7, 4, unequal, 179),
    ] {
        let model = limited(Placement::v(devices).expect("a placement"), microbatches, times, capacity);
        let options = Options { effort: 20_000, exact_effort: 0, ..Options::default() };
        let start = optimize(&model, &options, &mut |_| ()).expect("the capacity is feasible").schedule;
        let found = solve(&model, Objective::Makespan, &start, &unlimited()).expect("an exact search");
        let case = format!("d = {devices}, m = {microbatches}, capacity {capacity}, {times:?}");
        assert_eq!((found.value, found.lower_bound), (Ticks(makespan), Ticks(makespan)), "{case}");
    }
}

/// Linear placement under a capacity of three stages, found by a mixed-integer program.
#[test]
fn every_engine_proves_the_device_spans_on_record() {
    for (times, span) in [([1, 1, 1, 0], 31), ([3, 4, 2, 0], 101), ([6, 3, 7, 2], 184)] {
        let model = limited(Placement::linear(4).expect("a placement"), 8, times, 3);
        for engine in minimising(Objective::DeviceSpan) {
            assert_eq!(
                proved(engine, &model, Objective::DeviceSpan),
                Some(Ticks(span)),
                "{engine:?} {times:?}"
            );
        }
    }
}

/// The same times, in ticks that are shorter by this factor.
fn in_finer_ticks(model: &Model, factor: i64) -> Model {
    let mut costs = model.costs().clone();
    let lists =
        [&mut costs.forward, &mut costs.backward_input, &mut costs.backward_weight, &mut costs.communication];
    lists.into_iter().flatten().for_each(|ticks| ticks.0 *= factor);
    let (placement, memory) = (model.placement().clone(), model.memory().clone());
    Model::new("finer".to_owned(), None, placement, model.microbatches(), costs, memory).expect("a model")
}

/// A device span may be the mean of two, three or four chains, and so no multiple of what divides all times.
#[test]
fn spans_are_measured_in_units_that_divide_every_mean() {
    let unit_of = |times, objective| {
        let model =
            Model::equal_stages(Placement::linear(4).expect("a placement"), 2, times).expect("a model");
        SequencingProblem::new(&model, objective, Ticks(10_000)).expect("a problem").ticks_of(1)
    };
    assert_eq!(unit_of([30, 20, 10, 0], Objective::Makespan), Ticks(10));
    assert_eq!(unit_of([30, 20, 10, 0], Objective::DeviceSpan), Ticks(1));
    assert_eq!(unit_of([360, 240, 120, 0], Objective::DeviceSpan), Ticks(10));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Plain enumeration knows nothing of rows, of first in first out, of bounds or of dominance.
    #[test]
    fn every_engine_finds_the_optimum_of_plain_enumeration(
        model in cases::tiny(),
        factor in prop::sample::select(vec![1, 1, 2, 3, 5, 6, 10]),
        span: bool,
    ) {
        let model = in_finer_ticks(&model, factor);
        let objective = if span { Objective::DeviceSpan } else { Objective::Makespan };
        let expected = brute::optimum(&model, objective);
        for engine in minimising(objective) {
            prop_assert_eq!(proved(engine, &model, objective), Some(expected), "{:?}", engine);
        }
    }

    /// Two engines minimise the makespan, and one the device span: what it proves is compared with what has nothing in
    /// common with it.
    #[test]
    fn the_engines_agree_on_problems_beyond_enumeration(model in cases::small(), span: bool, seed: u64) {
        let objective = if span { Objective::DeviceSpan } else { Objective::Makespan };
        let bound = lower_bound(&model, objective).value;
        let mut values = BTreeSet::new();
        for engine in minimising(objective) {
            let found = solved(engine, &model, objective);
            prop_assert_eq!(found.lower_bound, found.value, "{:?} proves it", engine);
            prop_assert!(bound <= found.value, "{:?} proves {}, the bound is {}", engine, found.value, bound);
            for from in [&found.schedule, &serial(&model, false)] {
                let least = least_by_swaps(&model, objective, from, seed);
                prop_assert!(found.value <= least, "{:?} proves {}, not {}", engine, found.value, least);
            }
            values.insert(found.value);
        }
        prop_assert!(values.len() <= 1, "{:?}", values);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn the_same_search_gives_the_same_outcome_however_the_engines_are_timed(
        model in cases::small(),
        effort in 1_000..60_000_u64,
    ) {
        let start = serial(&model, false);
        let limits = Limits { effort, ..unlimited() };
        let solve = || solve(&model, Objective::Makespan, &start, &limits).expect("an exact search");
        prop_assert_eq!(solve(), solve());
    }
}

/// An hour in nanoseconds does not fit 32 bits; what counts is what is left once common factors are out.
#[test]
fn times_of_any_size_are_solved_where_common_factors_leave_little_and_refused_elsewhere() {
    let linear = || Placement::linear(4).expect("a placement");
    let hour = 3_600_000_000_000;
    let model = limited(linear(), 8, [3 * hour, 4 * hour, 2 * hour, 0], 3);
    for engine in minimising(Objective::DeviceSpan) {
        assert_eq!(proved(engine, &model, Objective::DeviceSpan), Some(Ticks(101 * hour)), "{engine:?}");
    }
    let model = limited(linear(), 8, [3 * hour, 4 * hour + 1, 2 * hour, 0], 3);
    let found = solve(&model, Objective::DeviceSpan, &serial(&model, false), &unlimited());
    assert!(matches!(found, Err(ExactError::TooLarge { passes: 96, .. })), "{found:?}");
}

/// Numbered first in, first out and run as soon as possible, no schedule of this model has a span below 72: device 1
/// would begin too early. A device that may begin later needs no such numbering.
#[test]
fn a_device_that_begins_later_makes_the_span_shorter_than_any_run_as_soon_as_possible() {
    let placement = Placement::linear(3).expect("a placement");
    let unit = Model::unit(placement.clone(), 2).expect("a model");
    let ticks = |times: [i64; 3]| times.map(Ticks).to_vec();
    let mut costs = unit.costs().clone();
    costs.forward = ticks([10, 1, 2]);
    costs.backward_input = ticks([1, 1, 2]);
    costs.backward_weight = ticks([1, 30, 1]);
    let memory = unit.memory().clone();
    let model = Model::new("late".to_owned(), None, placement, 2, costs, memory).expect("a model");
    let expected = brute::optimum(&model, Objective::DeviceSpan);
    assert!(expected <= Ticks(67), "{expected}");
    for engine in minimising(Objective::DeviceSpan) {
        assert_eq!(proved(engine, &model, Objective::DeviceSpan), Some(expected), "{engine:?}");
    }
}

#[test]
fn a_raised_interrupt_ends_the_search_with_the_schedule_it_started_from() {
    let model = limited(Placement::v(6).expect("a placement"), 12, [3, 4, 2, 0], 6);
    let start = serial(&model, false);
    let interrupt = Interrupt::default();
    interrupt.raise();
    let limits = Limits { stop: Stop::on(interrupt), effort: u64::MAX };
    let found = solve(&model, Objective::Makespan, &start, &limits).expect("an exact search");
    assert_eq!((found.proved_by, found.found_by), (None, None));
    assert_eq!(found.schedule, start);
    assert!(found.lower_bound < found.value);
}

#[test]
fn a_deadline_is_kept_in_the_middle_of_a_search() {
    let model = limited(Placement::v(8).expect("a placement"), 16, [3, 4, 2, 0], 6);
    let start = serial(&model, false);
    let stop = Stop::after(std::time::Duration::from_millis(100));
    let found = solve(&model, Objective::Makespan, &start, &Limits { stop, effort: u64::MAX });
    let found = found.expect("an exact search");
    assert_eq!(found.proved_by, None);
    assert!(replay(&model, &found.schedule).is_valid());
}

#[test]
fn what_has_no_exact_search_is_refused_for_the_right_reason() {
    let linear = |times| Model::equal_stages(Placement::linear(2).expect("a placement"), 2, times);
    let start = |model: &Model| serial(model, model.memory().checkpoint.is_some());
    let cases = [
        (linear([0, 1, 1, 0]), Objective::Makespan, "`0F0` takes no time"),
        (linear([1, 0, 1, 0]), Objective::Makespan, "`1I0` takes no time"),
    ];
    for (model, objective, reason) in cases {
        let model = model.expect("a model");
        let error = solve(&model, objective, &start(&model), &unlimited()).expect_err(reason).to_string();
        assert!(error.contains(reason), "{error}");
    }
    let model = linear([1, 1, 1, 0]).expect("a model");
    let start = serial(&model, false);
    let refused = solve_with(&[Engine::Branch], &model, Objective::DeviceSpan, &start, &unlimited());
    assert_eq!(refused, Err(ExactError::DeviceSpan));
    let other = Schedule::new(model.placement().clone(), 2, vec![Vec::new(); 2]).expect("a schedule");
    let error = solve(&model, Objective::Makespan, &other, &unlimited()).expect_err("nothing runs");
    assert!(matches!(error, ExactError::Incumbent(_)), "{error}");
}

#[test]
fn nothing_is_proved_where_recomputation_could_save_memory() {
    let model = Model::unit(Placement::linear(2).expect("a placement"), 4).expect("a model");
    let free = solve(&model, Objective::Makespan, &serial(&model, false), &unlimited()).expect("no capacity");
    assert_eq!(free.lower_bound, free.value);
    let model = model.with_uniform_activation_capacity(Some(Units(1))).expect("a capacity");
    let short = solve(&model, Objective::Makespan, &serial(&model, false), &unlimited()).expect("it fits");
    assert_eq!(short.proved_by, None);
    assert_eq!(short.lower_bound, lower_bound(&model, Objective::Makespan).value);
}

#[test]
fn a_proof_that_its_own_schedule_refutes_is_rejected() {
    let model = limited(Placement::linear(2).expect("a placement"), 2, [1, 1, 1, 0], 2);
    let schedule = serial(&model, false);
    let engine = Engine::Branch;
    let of = |value, is_least| {
        checked(&model, Objective::Makespan, &schedule, Claim { value: Ticks(value), is_least }, engine)
    };
    let value = of(i64::MAX, false).expect("it is valid");
    assert_eq!(of(value.0, true), Ok(value));
    assert_eq!(of(value.0 + 1, false), Ok(value), "an engine may start a pass later than it could");
    for claim in [(value.0 + 1, true), (value.0 - 1, true), (value.0 - 1, false)] {
        assert!(matches!(of(claim.0, claim.1), Err(ExactError::Rejected { .. })), "{claim:?}");
    }
}

#[test]
fn a_proof_that_the_schedule_of_another_engine_refutes_is_rejected() {
    let found =
        |value: Option<i64>| EngineResult { best: value.map(|value| (value, Vec::new())), is_proved: false };
    let racers = [Engine::Branch, Engine::Branch];
    for (other, agrees) in [(None, true), (Some(8), true), (Some(7), true), (Some(6), false)] {
        let all = [found(Some(7)), found(other)];
        assert_eq!(agree(0, 7, &racers, &all).is_ok(), agrees, "{other:?}");
    }
}
