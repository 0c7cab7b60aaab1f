//! Optima that are known from exact programs and published theorems, found again by the engines, which the SMT
//! engine proves and the MILP engine claims: the V placement, activations counted in chunks.
#![cfg(feature = "milp")]

use std::time::Duration;

use bubbleproof::encode::{BlockObjective, BlockOutcome, milp, smt};
use bubbleproof::model::{Model, Placement, Units};
use bubbleproof::stop::Stop;
use num_rational::Ratio;

const LIMIT: Duration = Duration::from_secs(60);

/// F, I, W and latency of every chunk, in ticks.
type Times = [i64; 4];

fn model(devices: u32, times: Times, capacity: Option<i64>) -> Model {
    let placement = Placement::v(devices).expect("a placement");
    let model = Model::equal_stages(placement, 1, times).expect("a model");
    model.with_uniform_activation_capacity(capacity.map(Units)).expect("a capacity")
}

type Engine = fn(&Model, BlockObjective, &Stop) -> Result<BlockOutcome, bubbleproof::encode::EncodeError>;

const ENGINES: [(&str, Engine); 2] = [("milp", by_milp), ("smt", smt::solve)];

fn by_milp(
    model: &Model,
    objective: BlockObjective,
    stop: &Stop,
) -> Result<BlockOutcome, bubbleproof::encode::EncodeError> {
    milp::solve(model, objective, stop).map(BlockOutcome::from)
}

fn least_memory(engine: Engine, devices: u32, times: Times) -> i64 {
    let model = model(devices, times, None);
    let objective = BlockObjective::LeastMemory { interval: model.most_work() };
    match engine(&model, objective, &Stop::after(LIMIT)).expect("an outcome") {
        BlockOutcome::Optimal(answer) | BlockOutcome::Claimed { best: Some(answer), .. } => {
            answer.peak_max().0
        }
        other => panic!("not decided: {other:?}"),
    }
}

fn least_interval(engine: Engine, devices: u32, times: Times, capacity: i64) -> Ratio<i64> {
    let model = model(devices, times, Some(capacity));
    match engine(&model, BlockObjective::LeastInterval, &Stop::after(LIMIT)).expect("an outcome") {
        BlockOutcome::Optimal(answer) | BlockOutcome::Claimed { best: Some(answer), .. } => {
            assert!(answer.peak_max() <= Units(capacity));
            answer.interval
        }
        other => panic!("not decided: {other:?}"),
    }
}

/// For 1,1,1 and d >= 3 this is V-Min's `2*floor((d+4)/3)`, which is optimal (arXiv 2405.15362,
/// appendix); the other row comes from an exact program over patterns of passes.
#[test]
fn both_engines_find_the_least_memory_without_bubbles() {
    let rows: [(Times, [i64; 7]); 2] =
        [([1, 1, 1, 0], [3, 4, 4, 6, 6, 6, 8]), ([3, 4, 2, 0], [4, 4, 6, 6, 8, 8, 10])];
    for (times, row) in rows {
        for (devices, expected) in (2..).zip(row) {
            for (name, engine) in ENGINES {
                assert_eq!(least_memory(engine, devices, times), expected, "{name} {devices} {times:?}");
            }
        }
    }
}

#[test]
fn both_engines_find_the_least_interval_at_the_memory_of_v_min() {
    for (devices, expected) in [(3, 18), (4, 21), (5, 18), (6, 21), (7, 24)] {
        let capacity = 2 * ((i64::from(devices) + 4) / 3);
        for (name, engine) in ENGINES {
            let found = least_interval(engine, devices, [3, 4, 2, 0], capacity);
            assert_eq!(found, Ratio::from_integer(expected), "{name} {devices}");
        }
    }
}

/// Half of the profiled stage times of the 1.5B and 6.2B models (Zero Bubble Pipeline Parallelism,
/// ICLR 2024), in microseconds.
#[test]
fn both_engines_solve_measured_profiles_of_eight_devices() {
    for (times, interval) in [([9261, 9043, 4669, 601], 57316), ([14859, 14722, 9964, 527], 90851)] {
        for (name, engine) in ENGINES {
            assert_eq!(least_memory(engine, 8, times), 10, "{name} {times:?}");
            assert_eq!(
                least_interval(engine, 8, times, 8),
                Ratio::from_integer(interval),
                "{name} {times:?}"
            );
        }
    }
}

#[test]
fn smt_proves_the_least_memory_of_a_measured_profile_on_sixteen_devices() {
    assert_eq!(least_memory(smt::solve, 16, [9261, 9043, 4669, 601]), 18);
}
