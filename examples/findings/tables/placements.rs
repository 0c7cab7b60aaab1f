//! Linear, looped and V placement of the same model at the same memory per device.
//!
//! A chunk of V or looped placement takes F, I and W ticks and one unit; a stage of linear placement is two
//! of them.

use std::time::Duration;

use bubbleproof::block::Passes;
use bubbleproof::encode::{BlockObjective, BlockOutcome, smt};
use bubbleproof::model::{Model, Placement};
use bubbleproof::stop::Stop;
use num_rational::Ratio;

use super::{Row, Table, Takes, Times, UNEQUAL, UNIT, least_interval, limited, listed, shown, v};

/// How long Z3 may try; what it has not proved by then is not shown.
const LIMIT: Duration = Duration::from_secs(120);

/// Two chunks in one stage; a unit of its memory is two.
fn linear(devices: u32, times: Times) -> Model {
    super::linear(devices, times.map(|time| 2 * time))
}

fn looped(devices: u32, times: Times) -> Model {
    super::model(Placement::looped(devices, 2).expect("a placement"), times)
}

/// The least memory at which no device idles in the steady phase.
fn least_memory(model: &Model) -> i64 {
    super::least_memory(model, Passes::SPLIT, model.most_work().0)
}

pub fn memory_table() -> Table {
    let rows = [UNIT, UNEQUAL].into_iter().flat_map(|times| {
        (2..=8).map(move |devices| {
            let problem = vec![listed(times), devices.to_string()];
            Row::new(problem, Takes::Little, move || {
                vec![
                    (2 * least_memory(&linear(devices, times))).to_string(),
                    least_memory(&v(devices, times)).to_string(),
                    shown(looped_least_memory(devices, times)),
                ]
            })
        })
    });
    Table {
        name: "placement memory",
        head: "| F,I,W | d | linear | V | looped |\n| --- | ---: | ---: | ---: | ---: |",
        rows: rows.collect(),
    }
}

pub fn interval_table() -> Table {
    let problems = [UNIT, UNEQUAL].into_iter().flat_map(|times| {
        [2, 3, 4]
            .into_iter()
            .flat_map(move |devices| (2..=2 * devices).map(move |capacity| (times, devices, capacity)))
    });
    let rows = problems.map(|(times, devices, capacity)| {
        let problem = vec![listed(times), devices.to_string(), capacity.to_string()];
        Row::new(problem, Takes::Little, move || {
            vec![
                least_interval(&limited(&linear(devices, times), i64::from(capacity) / 2)).to_string(),
                least_interval(&limited(&v(devices, times), capacity.into())).to_string(),
                shown(looped_least_interval(devices, times, capacity.into())),
            ]
        })
    });
    Table {
        name: "placement interval",
        head: "| F,I,W | d | capacity | linear | V | looped |\n| --- | ---: | ---: | ---: | ---: | ---: |",
        rows: rows.collect(),
    }
}

/// What Z3 proves in exact arithmetic.
fn looped_least_interval(devices: u32, times: Times, capacity: i64) -> Option<Ratio<i64>> {
    match smt::solve(
        &limited(&looped(devices, times), capacity),
        BlockObjective::LeastInterval,
        &Stop::after(LIMIT),
    )
    .ok()?
    {
        BlockOutcome::Optimal(answer) => Some(answer.interval),
        _ => None,
    }
}

fn looped_least_memory(devices: u32, times: Times) -> Option<i64> {
    let model = looped(devices, times);
    let objective = BlockObjective::LeastMemory { interval: model.most_work() };
    match smt::solve(&model, objective, &Stop::after(LIMIT)).ok()? {
        BlockOutcome::Optimal(answer) => Some(answer.peak_max().0),
        _ => None,
    }
}
