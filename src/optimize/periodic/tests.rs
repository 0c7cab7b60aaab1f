use proptest::prelude::*;

use super::cycle::IntervalSolver;
use super::order::Neighbours;
use super::*;
use crate::block::{BlockViolation, Passes};
use crate::model::{self, Placement, Units};
use crate::optimize::zone;

fn limited(placement: Placement, times: [i64; 4], capacity: i64) -> Model {
    let model = Model::equal_stages(placement, 1, times).expect("a model");
    model.with_uniform_activation_capacity(Some(Units(capacity))).expect("a capacity")
}

fn v(devices: u32, [forward, input, weight]: [i64; 3], capacity: i64) -> Model {
    limited(Placement::v(devices).expect("a placement"), [forward, input, weight, 0], capacity)
}

fn found(model: &Model, period: u32, effort: Effort) -> CheckedBlock {
    let outcome = least_interval(model, period, effort, &Stop::default()).expect("an outcome");
    let answer = outcome.best().expect("a block").clone();
    assert_eq!(answer.block.faults(model), Vec::<BlockViolation>::new());
    assert_eq!(answer.block.period(), period);
    answer
}

/// The interval per microbatch.
fn pace(model: &Model, period: u32, effort: Effort) -> Ratio<i64> {
    found(model, period, effort).interval / i64::from(period)
}

#[test]
fn several_microbatches_per_interval_beat_every_block_of_one() {
    // Durations, devices, capacity; the optimum of one microbatch per interval; how many do better, and how
    // much (each found by an exact program over all schedules or bounded by one).
    for (times, devices, capacity, one, period, several) in [
        ([1, 1, 1], 5, 4, 8, 2, (7, 1)),
        ([1, 1, 1], 7, 4, 10, 2, (9, 1)),
        ([1, 1, 1], 8, 6, 8, 3, (20, 3)),
        ([1, 1, 1], 5, 5, 7, 3, (20, 3)),
        ([3, 4, 2], 6, 4, 29, 2, (57, 2)),
    ] {
        let model = v(devices, times, capacity);
        let exact = zone::least_interval(&model, Passes::SPLIT, &Stop::default()).expect("a block");
        assert_eq!(exact.interval, Ratio::from_integer(one));
        let effort = Effort { seed: 0, steps: 120_000 };
        assert_eq!(
            pace(&model, period, effort),
            Ratio::new(several.0, several.1),
            "{times:?} {devices} {capacity}"
        );
    }
}

/// Two rows of section 6 of docs/findings.md.
#[test]
fn four_microbatches_per_interval_may_beat_up_to_three() {
    // No block of up to three takes less than 20/3 and 20, as an SMT solver proves.
    for (times, capacity, effort, least) in [
        ([1, 1, 1], 7, Effort { seed: 3, steps: 400_000 }, Ratio::new(26, 4)),
        ([3, 4, 2], 8, Effort { seed: 0, steps: 120_000 }, Ratio::new(79, 4)),
    ] {
        assert_eq!(pace(&v(8, times, capacity), 4, effort), least, "{times:?}");
    }
}

#[test]
fn one_microbatch_per_interval_is_found_as_the_exact_program_finds_it() {
    for (times, devices, capacity) in
        [([1, 1, 1], 3, 3), ([1, 1, 1], 5, 4), ([3, 4, 2], 3, 4), ([3, 4, 2], 4, 3)]
    {
        let model = v(devices, times, capacity);
        let exact = zone::least_interval(&model, Passes::SPLIT, &Stop::default()).expect("a block");
        let effort = Effort { seed: 0, steps: 50_000 };
        assert_eq!(pace(&model, 1, effort), exact.interval, "{times:?} {devices} {capacity}");
    }
}

#[test]
fn what_one_microbatch_per_interval_reaches_is_never_missed_with_several() {
    // So tight that a search alone hardly finds it.
    let model = v(5, [3, 4, 2], 6);
    for period in 2..=3 {
        assert_eq!(pace(&model, period, Effort { seed: 0, steps: 0 }), Ratio::from_integer(18));
    }
}

#[cfg(feature = "lcg")]
#[test]
fn what_one_microbatch_per_interval_reaches_is_not_missed_where_the_exact_program_cannot_follow() {
    let model = limited(Placement::looped(8, 2).expect("a placement"), [3, 4, 2, 0], 8);
    let pace = pace(&model, 2, Effort { seed: 0, steps: 4000 });
    assert!(pace <= Ratio::from_integer(25), "{pace}");
}

#[test]
fn an_interval_is_called_optimal_only_where_the_bound_proves_it() {
    let effort = Effort { seed: 0, steps: 20_000 };
    let outcome = |capacity| least_interval(&v(3, [3, 4, 2], capacity), 2, effort, &Stop::default());
    assert!(
        matches!(outcome(4), Ok(BlockOutcome::Optimal(answer)) if answer.interval == Ratio::from_integer(36))
    );
    assert!(
        matches!(outcome(3), Ok(BlockOutcome::Optimal(answer)) if answer.interval == Ratio::from_integer(52))
    );
    let open = least_interval(&v(4, [3, 4, 2], 5), 2, effort, &Stop::default());
    assert!(matches!(open, Ok(BlockOutcome::Bounded { best: Some(_), .. })), "{open:?}");
    assert_eq!(outcome(1), Ok(BlockOutcome::Infeasible));
}

#[test]
fn without_steps_or_time_there_is_the_block_of_microbatches_alone() {
    let model = limited(Placement::looped(4, 2).expect("a placement"), [3, 4, 2, 0], 4);
    let alone = found(&model, 2, Effort { seed: 0, steps: 0 });
    assert_eq!(alone.peak, vec![Units(2); 4]);
    let now = Stop::after(std::time::Duration::ZERO);
    let outcome = least_interval(&model, 2, Effort::default(), &now).expect("an outcome");
    assert_eq!(outcome.best(), Some(&alone));
}

#[test]
fn the_same_seed_finds_the_same_block() {
    let model = v(5, [1, 1, 1], 4);
    let effort = |seed| Effort { seed, steps: 40_000 };
    assert_eq!(found(&model, 2, effort(7)), found(&model, 2, effort(7)));
    assert_ne!(found(&model, 2, effort(7)).block, found(&model, 2, effort(8)).block);
}

#[test]
fn nothing_shorter_is_looked_for_where_the_bound_is_met() {
    let model = v(3, [1, 1, 1], 4);
    let least = Ratio::from_integer(model.most_work().0);
    let effort = Effort::default();
    assert!(Several::new(&model, least, effort, &Stop::default()).is_none());
}

#[test]
fn the_number_of_threads_changes_no_block_of_several() {
    let (model, effort, stop) = (v(5, [1, 1, 1], 4), Effort { seed: 0, steps: 10_000 }, Stop::default());
    let of_one = Ratio::from_integer(8);
    let several = Several::new(&model, of_one, effort, &stop).expect("seven is less than eight");
    let by_threads = [1, 3].map(|threads| {
        let threads = NonZeroUsize::new(threads).expect("it is positive");
        several.shorter(&model, of_one, 3, effort, threads, &stop)
    });
    assert_eq!(by_threads[0], by_threads[1]);
    assert_eq!(by_threads[0][0].interval, Ratio::from_integer(14));
}

#[test]
fn bytes_and_microseconds_are_searched_as_exactly_as_small_numbers() {
    let small = v(5, [1, 1, 1], 4);
    let scale = 98_765_i64;
    let times = [scale, scale, scale, 0];
    let large = limited(Placement::v(5).expect("a placement"), times, 4);
    let effort = Effort { seed: 3, steps: 20_000 };
    assert_eq!(pace(&large, 2, effort), pace(&small, 2, effort) * scale);
}

/// Orders after random swaps, deadlocks and capacities notwithstanding.
fn disturbed(problem: &BlockProblem, swaps: &[(usize, usize)]) -> Orders {
    let mut orders = Orders::serial(problem);
    for &(device, slot) in swaps {
        let device = device % orders.devices();
        let place = Neighbours { device, slot: slot % orders.passes(device) };
        let (first, second, _) = orders.at(place);
        if !problem.in_turn(first, second) {
            orders.swap(place);
        }
    }
    orders
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn interval_and_memory_of_any_orders_are_those_of_their_block(
        shape in 0..3_usize,
        times in prop::array::uniform4(1..=5_i64),
        period in 1..=3_u32,
        swaps in prop::collection::vec((0..4_usize, 0..64_usize), 0..60),
    ) {
        let placement = [Placement::v(3), Placement::linear(4), Placement::looped(2, 3)];
        let placement = placement.into_iter().nth(shape).expect("one of them").expect("a placement");
        let model = Model::equal_stages(placement, 1, times).expect("a model");
        let problem = BlockProblem::periodic(&model, period).expect("a problem");
        let orders = disturbed(&problem, &swaps);
        let floor = Ratio::from_integer(problem.most_work());
        let mut solver = IntervalSolver::new(&problem, floor);
        // Starts left over from other orders must not matter.
        solver.take(&Orders::serial(&problem));
        let pace = solver.take(&orders);
        match checked_block(&model, &problem, &orders.shifts(&problem), Claim::default()) {
            Ok(answer) => {
                prop_assert_eq!(pace.map(|pace| pace.interval), Some(answer.interval));
                let mut held = vec![0; problem.passes().len()];
                for hold in problem.holds().iter().flatten() {
                    held[hold.from] += hold.units;
                    held[hold.until] -= hold.units;
                }
                let peaks = (0..orders.devices()).map(|device| orders.peak(device, &held));
                prop_assert!(peaks.eq(answer.peak.iter().map(|units| i128::from(units.0))));
            }
            Err(EncodeError::Rejected(_)) => prop_assert_eq!(pace, None),
            Err(error) => prop_assert!(false, "{}", error),
        }
    }

    #[test]
    fn a_swap_on_the_critical_cycle_never_deadlocks(
        times in prop::array::uniform4(1..=5_i64),
        period in 1..=3_u32,
        choices in prop::collection::vec(0..64_usize, 1..60),
    ) {
        let model = Model::equal_stages(Placement::v(3).expect("a placement"), 1, times).expect("a model");
        let problem = BlockProblem::periodic(&model, period).expect("a problem");
        let floor = Ratio::from_integer(problem.most_work());
        let (mut solver, mut orders) = (IntervalSolver::new(&problem, floor), Orders::serial(&problem));
        for choice in choices {
            let pace = solver.take(&orders);
            prop_assert!(pace.is_some());
            let critical = pace.map(|pace| pace.critical).unwrap_or_default();
            let Some(&place) = critical.get(choice % critical.len().max(1)) else { break };
            let (first, second, repetitions) = orders.at(place);
            let waits = problem.links().iter().any(|link| (link.before, link.after) == (first, second));
            if !(problem.in_turn(first, second) || waits && repetitions == 0) {
                orders.swap(place);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn after_a_swap_the_interval_is_what_it_is_from_scratch(
        shape in 0..3_usize,
        times in prop::array::uniform4(0..=5_i64),
        period in 1..=3_u32,
        floor in 1..=40_i64,
        swaps in prop::collection::vec((0..4_usize, 0..64_usize, -2..=4_i64), 0..60),
    ) {
        let placement = [Placement::v(3), Placement::linear(4), Placement::looped(2, 3)];
        let placement = placement.into_iter().nth(shape).expect("one of them").expect("a placement");
        let times = [times[0].max(1), times[1].max(1), times[2], times[3]];
        let model = Model::equal_stages(placement, 1, times).expect("a model");
        let problem = BlockProblem::periodic(&model, period).expect("a problem");
        let floor = Ratio::from_integer(floor);
        let (mut solver, mut orders) = (IntervalSolver::new(&problem, floor), Orders::serial(&problem));
        let mut pace = solver.take(&orders).expect("no deadlock").interval;
        for (device, slot, more) in swaps {
            let device = device % orders.devices();
            let place = Neighbours { device, slot: slot % orders.passes(device) };
            let (first, second, _) = orders.at(place);
            if problem.in_turn(first, second) {
                continue;
            }
            orders.swap(place);
            let anew = IntervalSolver::new(&problem, floor).take(&orders).map(|pace| pace.interval);
            let most = pace + Ratio::new(more * problem.most_work(), 8);
            let taken = solver.take_swapped(&orders, place, most);
            let is_longer = taken.as_ref().is_some_and(|taken| taken.interval > floor);
            prop_assert!(taken.as_ref().is_none_or(|taken| taken.critical.is_empty() != is_longer));
            let taken = taken.map(|taken| taken.interval);
            prop_assert_eq!(taken, anew.filter(|&anew| anew <= most));
            if let Some(taken) = taken {
                pace = taken;
            } else {
                orders.swap(place);
            }
        }
    }
}

#[test]
fn at_small_sizes_the_search_finds_what_the_solvers_prove() {
    use crate::encode::smt;
    let linear = |devices| Placement::linear(devices).expect("a placement");
    let looped = Placement::looped(2, 2).expect("a placement");
    for (placement, times, capacity) in [
        (Placement::v(2).expect("a placement"), [3, 4, 2, 1], 3),
        (Placement::v(2).expect("a placement"), [1, 2, 0, 1], 3),
        (looped, [1, 1, 1, 0], 3),
        (linear(3), [3, 4, 2, 1], 2),
        (linear(3), [1, 2, 4, 1], 2),
    ] {
        let model = limited(placement, times, capacity);
        let limit = Stop::after(std::time::Duration::from_secs(60));
        let proved = smt::solve_periodic(&model, 2, crate::encode::BlockObjective::LeastInterval, &limit);
        let Ok(BlockOutcome::Optimal(proved)) = proved else { panic!("{proved:?}") };
        let ours = found(&model, 2, Effort { seed: 0, steps: 30_000 });
        assert_eq!(ours.interval, proved.interval, "{times:?} {capacity}");
    }
}

#[test]
fn an_interval_that_does_not_fit_64_bits_for_several_microbatches_is_an_error() {
    let model = model::parse(
        "name = \"large\"\n[pipeline]\ndevices = 3\nplacement = \"looped\"\nchunks = 2\nmicrobatches = 1\n\
         [time]\nforward = 76178488\nbackward_input = 22460664961\n\
         backward_weight = [247402752, 5398388870, 16874553541, 208, 60763292153, 300013402787]\n\
         communication = [21584, 259513, 242, 46725, 33974712545871]\n\
         [memory]\nactivation = 160743\nretained_for_weight = [5523, 123158, 73476, 75306, 19333, 35688]\n\
         capacity = [155176874017902, 9323094, 288230376151499496]\n",
    )
    .expect("a model");
    let effort = Effort { steps: 1000, seed: 0 };
    assert_eq!(least_interval(&model, 3, effort, &Stop::default()), Err(EncodeError::Overflow));
}
