//! The solvers of integer programs that this build has, against enumeration and known optima: microlp in every
//! build, and `HiGHS`.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::cases::small_models;
use super::milp::{Solver, solve_by};
use super::*;

const AMPLE: Duration = Duration::from_secs(60);

fn solvers() -> impl Iterator<Item = Solver> {
    [Solver::Highs, Solver::Microlp].into_iter().filter(|solver| solver.is_there())
}

/// The optimum that a solver claims; nothing where it says that no block is feasible.
fn optimum(solver: Solver, model: &Model, period: u32, objective: BlockObjective) -> Option<Ratio<i64>> {
    let outcome = solve_by(solver, model, period, objective, &Stop::after(AMPLE)).expect("an outcome");
    said(&outcome.into(), objective)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn every_solver_finds_the_least_memory_that_enumeration_finds(model in small_models(), spare in 0..=1_i64) {
        let interval = model.most_work().0 + spare;
        let objective = BlockObjective::LeastMemory { interval: Ticks(interval) };
        let found: Vec<_> = solvers().map(|solver| optimum(solver, &model, 1, objective)).collect();
        prop_assert!(found.windows(2).all(|pair| pair[0] == pair[1]), "{:?}", found);
        if brute::is_affordable(&model, 1, interval) {
            let expected = brute::least_memory(&model, 1, interval).map(Ratio::from_integer);
            prop_assert_eq!(found[0], expected);
        }
    }

    #[test]
    fn every_solver_finds_the_least_interval_that_enumeration_finds(model in small_models()) {
        let found: Vec<_> =
            solvers().map(|solver| optimum(solver, &model, 1, BlockObjective::LeastInterval)).collect();
        prop_assert!(found.windows(2).all(|pair| pair[0] == pair[1]), "{:?}", found);
        let least = found[0].map_or(model.most_work().0, |interval| interval.ceil().to_integer());
        // A whole interval is feasible from the least one on, and no earlier.
        for interval in [least - 1, least] {
            if brute::is_affordable(&model, 1, interval) {
                let feasible =
                    interval >= model.most_work().0 && brute::least_memory(&model, 1, interval).is_some();
                prop_assert_eq!(feasible, found[0].is_some() && interval == least);
            }
        }
    }
}

/// V-Min's `2*floor((d+4)/3)` is optimal for 1,1,1 and d >= 3 (arXiv 2405.15362, appendix).
#[test]
fn every_solver_proves_the_least_memory_of_v_placement() {
    for solver in solvers() {
        for (devices, least) in [(2, 3), (3, 4), (4, 4)] {
            let model = uniform(&Placement::v(devices).expect("a placement"), [1, 1, 1, 0]);
            let objective = BlockObjective::LeastMemory { interval: model.most_work() };
            let expected = Some(Ratio::from_integer(least));
            assert_eq!(optimum(solver, &model, 1, objective), expected, "{solver} {devices}");
        }
    }
}

#[test]
fn every_solver_finds_a_least_interval_that_is_not_whole() {
    for solver in solvers() {
        for (devices, times, capacity, expected) in
            [(2, [1, 1, 1, 1], 2, (7, 2)), (3, [1, 1, 1, 1], 3, (11, 3))]
        {
            let model = uniform(&Placement::linear(devices).expect("a placement"), times);
            let model = model.with_uniform_activation_capacity(Some(Units(capacity))).expect("a model");
            let expected = Ratio::new(expected.0, expected.1);
            assert_eq!(optimum(solver, &model, 1, BlockObjective::LeastInterval), Some(expected), "{solver}");
        }
    }
}

#[test]
fn every_solver_takes_several_microbatches_per_interval() {
    for solver in solvers() {
        let model = uniform(&Placement::linear(2).expect("a placement"), [1, 1, 1, 0]);
        let interval = model.most_work().0 * 2;
        let objective = BlockObjective::LeastMemory { interval: Ticks(interval) };
        let expected = brute::least_memory(&model, 2, interval).map(Ratio::from_integer);
        assert_eq!(optimum(solver, &model, 2, objective), expected, "{solver}");
    }
}

#[test]
fn every_solver_keeps_to_its_time_limit() {
    let model = uniform(&Placement::v(10).expect("a placement"), [9261, 9043, 4669, 601]);
    let model = model.with_uniform_activation_capacity(Some(Units(9))).expect("a model");
    for solver in solvers() {
        let start = Instant::now();
        let limit = Duration::from_millis(200);
        let outcome = solve_by(solver, &model, 1, BlockObjective::LeastInterval, &Stop::after(limit))
            .map(BlockOutcome::from)
            .expect("an outcome");
        assert!(start.elapsed() < Duration::from_secs(20), "{solver} took {:?}", start.elapsed());
        if let BlockOutcome::Bounded { best: Some(answer), bound: BlockBound::Interval(bound) } = outcome {
            assert!(bound <= answer.interval, "{solver}");
        }
    }
}

#[test]
fn every_solver_counts_bytes() {
    // Two sizes without a common divisor, far beyond 32 bits.
    let sizes = vec![30_000_000_001, 20_000_000_003, 30_000_000_001, 20_000_000_003];
    let retained = sizes.iter().map(|size| size - 7).collect();
    let times = [vec![1; 4], vec![1; 4], vec![1; 4], vec![1; 3]];
    let model = model(Placement::v(2).expect("a placement"), times, [sizes, retained], vec![None; 2]);
    let objective = BlockObjective::LeastMemory { interval: Ticks(6) };
    let expected = brute::least_memory(&model, 1, 6).expect("a block");
    for solver in solvers() {
        // They cannot tell such sizes apart to the byte, and say so.
        match solve_by(solver, &model, 1, objective, &Stop::after(AMPLE))
            .map(BlockOutcome::from)
            .expect("an outcome")
        {
            BlockOutcome::Bounded { best: Some(answer), bound: BlockBound::Memory(bound) }
            | BlockOutcome::Claimed { best: Some(answer), bound: BlockBound::Memory(bound), .. } => {
                assert!(bound.0 <= expected && expected <= answer.peak_max().0, "{solver}");
            }
            BlockOutcome::Optimal(answer) => assert_eq!(answer.peak_max(), Units(expected), "{solver}"),
            other => panic!("{solver}: {other:?}"),
        }
    }
}

#[test]
fn a_solver_that_this_build_lacks_says_so() {
    let model = uniform(&Placement::linear(2).expect("a placement"), [1, 1, 1, 0]);
    for solver in [Solver::Highs, Solver::Microlp].into_iter().filter(|solver| !solver.is_there()) {
        let refused = solve_by(solver, &model, 1, BlockObjective::LeastInterval, &Stop::after(AMPLE));
        assert!(matches!(refused, Err(EncodeError::Solver { engine: "HiGHS", .. })), "{refused:?}");
    }
}

#[test]
fn what_a_solver_says_in_floating_point_is_a_claim_and_no_proof() {
    let model = uniform(&Placement::v(2).expect("a placement"), [1, 1, 1, 0]);
    let objective = BlockObjective::LeastMemory { interval: Ticks(6) };
    let found = by_milp(&model, objective, &Stop::after(AMPLE)).expect("an outcome");
    let best = found.best().expect("a block").clone();
    let (met, below) = (BlockBound::Memory(best.peak_max()), BlockBound::Memory(best.peak_max() - Units(1)));
    let of = |best: Option<CheckedBlock>, bound, claimed| {
        BlockOutcome::from(milp::Outcome::Open { best, bound, claimed })
    };
    for solver in solvers() {
        let name = solver.name();
        let (some, claimed) = (Some(best.clone()), Some(solver));
        assert_eq!(of(some.clone(), met, None), BlockOutcome::Optimal(best.clone()));
        assert_eq!(of(some.clone(), below, None), BlockOutcome::Bounded { best: some.clone(), bound: below });
        let expected = BlockOutcome::Claimed { best: some.clone(), bound: below, solver: name };
        assert_eq!(of(some, below, claimed), expected);
        assert_eq!(of(None, met, claimed), BlockOutcome::Claimed { best: None, bound: met, solver: name });
    }
}

#[test]
fn times_too_far_apart_for_floating_point_are_asked_of_no_solver() {
    let placement = Placement::looped(2, 2).expect("a placement");
    for (longest, is_asked) in [(milp::MOST_APART, true), (2 * milp::MOST_APART, false)] {
        let times = [vec![1, 42, 47, 2], vec![49, 3, 6, 2], vec![20, 33, 3, longest], vec![1; 3]];
        let model = model(placement.clone(), times, [vec![1; 4], vec![1; 4]], vec![Some(3), Some(3)]);
        for solver in solvers() {
            let found = solve_by(solver, &model, 1, BlockObjective::LeastInterval, &Stop::after(AMPLE));
            let refused = matches!(found, Err(EncodeError::FarApart { .. }));
            assert_eq!(refused, !is_asked, "{solver} {longest}: {found:?}");
        }
    }
}
