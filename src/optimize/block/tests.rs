use std::time::Duration;

use super::*;
use crate::model::{Placement, Ticks};
use crate::stop::Interrupt;

const LEAST_INTERVAL: BlockRequest = BlockRequest::of_one(BlockObjective::LeastInterval);

fn model(placement: Placement, capacity: i64) -> Model {
    let model = Model::equal_stages(placement, 1, [3, 4, 2, 0]).expect("a model");
    model.with_uniform_activation_capacity(Some(Units(capacity))).expect("a capacity")
}

fn v(capacity: i64) -> Model {
    model(Placement::v(4).expect("a placement"), capacity)
}

fn looped(capacity: i64) -> Model {
    model(Placement::looped(2, 2).expect("a placement"), capacity)
}

/// Times that do not fit into 32 bits.
#[cfg(all(feature = "lcg", feature = "milp"))]
fn far() -> Model {
    let placement = Placement::looped(2, 2).expect("a placement");
    Model::equal_stages(placement, 1, [3 << 32, 4 << 32, 2 << 32, 0]).expect("a model")
}

#[cfg(all(feature = "lcg", feature = "milp"))]
#[test]
fn every_placement_and_objective_has_its_default_engine() {
    let memory = BlockObjective::LeastMemory { interval: Ticks(18) };
    let two = |objective| BlockRequest { period: 2, ..BlockRequest::of_one(objective) };
    for (model, request, expected) in [
        (v(4), LEAST_INTERVAL, BlockEngine::Exact),
        (v(4), BlockRequest::of_one(memory), BlockEngine::Exact),
        (v(4), two(BlockObjective::LeastInterval), BlockEngine::Lcg),
        (v(4), two(memory), BlockEngine::Lcg),
        (looped(4), LEAST_INTERVAL, BlockEngine::Lcg),
        (far(), LEAST_INTERVAL, BlockEngine::Milp),
        (far(), two(BlockObjective::LeastInterval), BlockEngine::Search),
    ] {
        assert_eq!(BlockEngine::default_for(&model, request), expected, "{request:?}");
    }
}

/// The bound on all schedules is below what two microbatches per interval need, so only the solvers prove it.
#[test]
fn the_solvers_prove_what_the_search_finds_of_several_microbatches() {
    let two = BlockRequest { period: 2, ..LEAST_INTERVAL };
    let searched = solve(&v(5), BlockEngine::Search, two, &Stop::default());
    let Ok(BlockOutcome::Bounded { best: Some(best), .. }) = searched else { panic!("{searched:?}") };
    let solvers = [BlockEngine::Lcg, BlockEngine::Smt].into_iter().filter(|engine| engine.is_available());
    for engine in solvers {
        let solved = solve(&v(5), engine, two, &Stop::default());
        let Ok(BlockOutcome::Optimal(proved)) = solved else { panic!("{solved:?}") };
        assert_eq!([best.interval, proved.interval], [Ratio::from_integer(40); 2], "{engine}");
    }
}

#[test]
fn all_engines_find_the_same_least_interval() {
    for model in [v(5), looped(5)] {
        let found =
            BlockEngine::ALL.map(|engine| match solve(&model, engine, LEAST_INTERVAL, &Stop::default()) {
                Ok(BlockOutcome::Optimal(best)) => Some((engine, best.interval)),
                Ok(BlockOutcome::Claimed {
                    best: Some(best), bound: BlockBound::Interval(bound), ..
                }) => {
                    assert!(bound <= best.interval && engine == BlockEngine::Milp);
                    Some((engine, best.interval))
                }
                // A search finds it too, but need not prove it.
                Ok(BlockOutcome::Bounded { best: Some(best), bound: BlockBound::Interval(bound) }) => {
                    assert!(bound <= best.interval && engine == BlockEngine::Search);
                    Some((engine, best.interval))
                }
                Err(BlockSolveError::Exact(ZoneError::Placement)) if engine == BlockEngine::Exact => None,
                Err(BlockSolveError::NotBuilt(missing)) if missing == engine && !engine.is_available() => {
                    None
                }
                other => panic!("{engine}: {other:?}"),
            });
        let found: Vec<_> = found.into_iter().flatten().collect();
        assert!(found.iter().all(|(_, interval)| *interval == found[0].1), "{found:?}");
    }
}

#[test]
fn what_an_engine_cannot_take_is_refused_with_the_reason() {
    let fused = BlockRequest { passes: Passes::FUSED, ..LEAST_INTERVAL };
    let two = BlockRequest { period: 2, ..LEAST_INTERVAL };
    let memory = BlockObjective::LeastMemory { interval: Ticks(18) };
    for (engine, request, expected) in [
        (BlockEngine::Milp, fused, BlockSolveError::Passes(BlockEngine::Milp)),
        (BlockEngine::Exact, two, BlockSolveError::Period),
        (BlockEngine::Search, BlockRequest::of_one(memory), BlockSolveError::Objective(memory)),
    ] {
        assert!(!expected.is_defect());
        assert_eq!(solve(&v(4), engine, request, &Stop::default()), Err(expected));
    }
    let refused = solve(&looped(4), BlockEngine::Exact, LEAST_INTERVAL, &Stop::default());
    assert_eq!(refused, Err(BlockSolveError::Exact(ZoneError::Placement)));
}

#[test]
fn an_engine_without_time_claims_nothing_that_is_not_so() {
    let interrupt = Interrupt::default();
    interrupt.raise();
    let model = v(5);
    let Ok(BlockOutcome::Optimal(best)) = solve(&model, BlockEngine::Exact, LEAST_INTERVAL, &Stop::default())
    else {
        panic!("the exact program decides it");
    };
    for stop in [Stop::on(interrupt), Stop::after(Duration::ZERO)] {
        for engine in BlockEngine::ALL.into_iter().filter(|engine| engine.is_available()) {
            match solve(&model, engine, LEAST_INTERVAL, &stop) {
                Ok(BlockOutcome::Bounded { bound: BlockBound::Interval(bound), .. }) => {
                    assert!(bound <= best.interval, "{engine}: {bound}");
                }
                Ok(BlockOutcome::Optimal(other)) => assert_eq!(other.interval, best.interval, "{engine}"),
                other => panic!("{engine}: {other:?}"),
            }
        }
    }
}

#[test]
fn capacities_that_no_block_keeps_to_are_infeasible_to_every_engine() {
    for engine in BlockEngine::ALL.into_iter().filter(|engine| engine.is_available()) {
        assert_eq!(solve(&v(1), engine, LEAST_INTERVAL, &Stop::default()), Ok(BlockOutcome::Infeasible));
    }
}
