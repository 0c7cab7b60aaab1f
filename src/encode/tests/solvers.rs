//! The solvers of integer programs that this build has, against enumeration and known optima: microlp in every
//! build, and `HiGHS`.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::cases::small_models;
use super::milp::{Solver, solve_by};
use super::*;
use crate::stop::Stop;

const AMPLE: Duration = Duration::from_secs(60);

fn solvers() -> impl Iterator<Item = Solver> {
    [Solver::Highs, Solver::Microlp].into_iter().filter(|solver| solver.is_there())
}

/// The optimum that a solver proves; nothing where no block is feasible.
fn optimum(solver: Solver, model: &Model, period: u32, objective: BlockObjective) -> Option<Ratio<i64>> {
    match solve_by(solver, model, period, objective, &Stop::after(AMPLE)).expect("an outcome") {
        BlockOutcome::Optimal(answer) => Some(match objective {
            BlockObjective::LeastInterval => answer.interval,
            BlockObjective::LeastMemory { .. } => Ratio::from_integer(answer.peak_max().0),
        }),
        BlockOutcome::Infeasible => None,
        outcome @ BlockOutcome::Bounded { .. } => panic!("{solver}: there is time enough: {outcome:?}"),
    }
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
        match solve_by(solver, &model, 1, objective, &Stop::after(AMPLE)).expect("an outcome") {
            BlockOutcome::Bounded { best: Some(answer), bound: BlockBound::Memory(bound) } => {
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
