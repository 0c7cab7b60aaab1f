//! Several microbatches per interval: the engines against each other and against enumeration.

use std::time::Duration;

use super::*;
use crate::encode::bisection::{Bisection, Decide, Decision};
use crate::encode::ranges::{Ranges, Scale};

const AMPLE: Duration = Duration::from_secs(60);

fn linear(devices: u32) -> Placement {
    Placement::linear(devices).expect("a placement")
}

fn limited(placement: &Placement, times: [i64; 4], capacity: i64) -> Model {
    uniform(placement, times).with_uniform_activation_capacity(Some(Units(capacity))).expect("a model")
}

fn all(model: &Model, period: u32, objective: BlockObjective) -> [BlockOutcome; 3] {
    [by_milp_periodic, smt::solve_periodic, lcg::solve_periodic]
        .map(|solve| solve(model, period, objective, &Stop::after(AMPLE)).expect("an outcome"))
}

/// The interval, in ticks, that every engine says is optimal.
fn least_interval(model: &Model, period: u32) -> Option<Ratio<i64>> {
    let objective = BlockObjective::LeastInterval;
    let [milp, smt, lcg] = all(model, period, objective).map(|outcome| said(&outcome, objective));
    assert_eq!([milp, lcg], [smt; 2]);
    smt
}

#[test]
fn enumeration_without_first_in_first_out_finds_no_better_memory() {
    for (devices, period, times, spare) in [
        (1, 2, [1, 1, 1, 0], 2),
        (1, 2, [2, 1, 3, 0], 2),
        (1, 3, [1, 1, 1, 0], 0),
        (2, 2, [1, 1, 1, 0], 0),
        (2, 2, [1, 1, 1, 1], 0),
    ] {
        let model = uniform(&linear(devices), times);
        for spare in 0..=spare {
            let interval = model.most_work().0 * i64::from(period) + spare;
            let expected = brute::least_memory(&model, period, interval);
            for outcome in all(&model, period, BlockObjective::LeastMemory { interval: Ticks(interval) }) {
                let answer = outcome.best().expect("a block");
                assert_eq!(Some(answer.peak_max().0), expected, "{devices} {period} {times:?} {interval}");
                assert_eq!(answer.block.period(), period);
            }
        }
    }
}

#[test]
fn enumeration_without_first_in_first_out_finds_no_shorter_interval() {
    for (devices, period, times, capacity) in
        [(1, 2, [2, 1, 3, 0], 1), (1, 3, [1, 1, 1, 0], 2), (2, 2, [1, 1, 1, 0], 2), (2, 2, [1, 1, 1, 1], 2)]
    {
        let model = limited(&linear(devices), times, capacity);
        let least = least_interval(&model, period).expect("a block").ceil().to_integer();
        for interval in [least - 1, least] {
            if brute::is_affordable(&model, period, interval) && interval >= model.most_work().0 {
                let found = brute::least_memory(&model, period, interval).is_some();
                assert_eq!(found, interval == least, "{devices} {period} {times:?} {capacity}");
            }
        }
    }
}

#[test]
fn all_engines_agree_on_several_microbatches_per_interval() {
    let v = |devices| Placement::v(devices).expect("a placement");
    let looped = Placement::looped(2, 2).expect("a placement");
    for (placement, times, capacity) in [
        (v(1), [1, 1, 1, 0], 2),
        (v(2), [1, 1, 1, 0], 2),
        (v(2), [3, 4, 2, 1], 3),
        (v(2), [1, 2, 0, 1], 3),
        (looped, [1, 1, 1, 0], 3),
        (linear(3), [3, 4, 2, 1], 2),
        (linear(3), [1, 2, 4, 1], 2),
    ] {
        let model = limited(&placement, times, capacity);
        let (one, two) = (least_interval(&model, 1), least_interval(&model, 2));
        // Two copies of a block of one microbatch are a block of two.
        assert!(two <= one.map(|one| one * 2), "{times:?} {capacity}: {two:?} against {one:?}");
    }
}

/// No schedule at all takes less per microbatch than these intervals say, by a bound that rests on no encoding.
#[test]
fn the_solver_finds_blocks_that_no_schedule_beats() {
    for (devices, capacity, period, least) in [(5, 4, 2, 14), (7, 4, 2, 18)] {
        let model = limited(&Placement::v(devices).expect("a placement"), [1, 1, 1, 0], capacity);
        let pace = crate::certificate::steady_bound(&model, 40_000_000);
        assert_eq!(Ratio::from_integer(least), pace * i64::from(period), "{devices} {capacity} {period}");
        for solve in [smt::solve_periodic, lcg::solve_periodic] {
            let outcome = solve(&model, period, BlockObjective::LeastInterval, &Stop::after(AMPLE));
            let Ok(BlockOutcome::Optimal(best)) = outcome else { panic!("{outcome:?}") };
            assert_eq!(best.interval, Ratio::from_integer(least), "{devices} {capacity} {period}");
        }
    }
}

/// An engine that must not be asked whether there is a block.
struct Unasked;

impl Decide for Unasked {
    fn decide(&mut self, _: Scale, _: &Ranges, _: &[Option<i64>]) -> Result<Decision, EncodeError> {
        panic!("no schedule is faster, so that no block is")
    }

    fn by_length(
        &mut self,
        _: Scale,
        _: &Ranges,
        _: &[Option<i64>],
    ) -> Option<impl FnMut(i128) -> Result<Decision, EncodeError>> {
        None::<fn(i128) -> Result<Decision, EncodeError>>
    }
}

#[test]
fn no_engine_has_to_refute_shorter_blocks_of_many_where_no_schedule_takes_less() {
    let model = limited(&Placement::v(5).expect("a placement"), [1, 1, 1, 0], 4);
    let (problem, stop) = (BlockProblem::periodic(&model, 4).expect("a problem"), Stop::after(AMPLE));
    let outcome = lcg::solve_periodic(&model, 4, BlockObjective::LeastInterval, &stop);
    let Ok(BlockOutcome::Optimal(block)) = outcome else { panic!("{outcome:?}") };
    assert_eq!(block.interval, Ratio::from_integer(28));
    let known = Some(Known { block: block.clone(), least: Ratio::from_integer(27) });
    let search = Bisection { model: &model, problem: &problem, engine: Unasked, of_schedules: Some(&stop) };
    let found = search.solve(BlockObjective::LeastInterval, known);
    assert!(matches!(found, Ok(BlockOutcome::Optimal(found)) if found == block));
}

#[test]
fn from_a_known_block_the_solver_only_looks_for_better_ones() {
    let model = limited(&Placement::v(3).expect("a placement"), [3, 4, 2, 0], 4);
    let stop = Stop::after(AMPLE);
    let solved = smt::solve_periodic(&model, 2, BlockObjective::LeastInterval, &stop);
    let Ok(BlockOutcome::Optimal(best)) = solved else { panic!("{solved:?}") };
    let problem = BlockProblem::periodic(&model, 2).expect("a problem");
    let memory = BlockObjective::LeastMemory { interval: Ticks(problem.serial()) };
    let long = smt::solve_periodic(&model, 2, memory, &stop).expect("an outcome");
    let long = long.best().expect("one microbatch at a time fits").clone();
    assert!(long.interval > best.interval);
    let work = Ratio::from_integer(problem.most_work());
    for (known, least) in [(&long, work), (&best, work), (&best, best.interval)] {
        for solve_from in [smt::solve_from, lcg::solve_from] {
            let known = Some(Known { block: known.clone(), least });
            let found = solve_from(&model, 2, BlockObjective::LeastInterval, known, &stop);
            let Ok(BlockOutcome::Optimal(found)) = found else { panic!("{found:?}") };
            assert_eq!(found.interval, best.interval, "{least}");
        }
    }
    // Without any time nothing is proved, and what is known is the answer.
    let late = Stop::after(Duration::ZERO);
    for solve_from in [smt::solve_from, lcg::solve_from] {
        let known = Some(Known { block: long.clone(), least: work });
        let found = solve_from(&model, 2, BlockObjective::LeastInterval, known, &late).expect("an outcome");
        let BlockOutcome::Bounded { best: Some(known), bound: BlockBound::Interval(bound) } = found else {
            panic!("{found:?}")
        };
        assert_eq!((known.interval, bound), (long.interval, work));
    }
}

#[test]
fn an_interval_without_microbatches_or_with_too_many_is_refused() {
    let model = uniform(&linear(4), [1, 1, 1, 0]);
    for period in [0, 65] {
        let refused = Err(EncodeError::Period { period, most: 64 });
        for solve in [by_milp_periodic, smt::solve_periodic, lcg::solve_periodic] {
            assert_eq!(solve(&model, period, BlockObjective::LeastInterval, &Stop::after(AMPLE)), refused);
        }
    }
}

#[test]
fn little_effort_finds_a_block_that_fits_and_much_effort_the_best() {
    let model = limited(&Placement::looped(4, 2).expect("a placement"), [3, 4, 2, 1], 5);
    let stop = Stop::default();
    for period in [1, 2] {
        let solved = |objective| {
            let solved = lcg::solve_periodic(&model, period, objective, &stop);
            let Ok(BlockOutcome::Optimal(best)) = solved else { panic!("{solved:?}") };
            best
        };
        let least = solved(BlockObjective::LeastInterval).interval;
        let problem = BlockProblem::periodic(&model, period).expect("a problem");
        let long = solved(BlockObjective::LeastMemory { interval: Ticks(problem.serial()) });
        let work = Ratio::from_integer(problem.most_work());
        let found = |effort| {
            let known = Some(Known { block: long.clone(), least: work });
            let found = lcg::short_interval(&model, period, known, effort, &stop).expect("an outcome");
            found.expect("the known block").interval
        };
        assert_eq!([found(0), found(u64::MAX)], [long.interval, least]);
        let unknown = |effort| {
            let found = lcg::short_interval(&model, period, None, effort, &stop).expect("an outcome");
            found.map(|found| found.interval)
        };
        assert_eq!([unknown(0), unknown(u64::MAX)], [None, Some(least)]);
        assert!((least..=long.interval).contains(&found(20_000)));
        assert_eq!(found(20_000), found(20_000), "the same effort finds the same");
    }
}
