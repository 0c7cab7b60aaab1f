//! Several microbatches per interval, against the best of one microbatch and against what bounds every
//! schedule; and the best of two and of three, as an SMT solver proves it.

use std::time::Duration;

use bubbleproof::block::Passes;
use bubbleproof::certificate::{CHECK_STEPS, is_least_pace, steady_bound};
use bubbleproof::encode::{BlockObjective, BlockOutcome};
use bubbleproof::model::Model;
use bubbleproof::optimize::block::{BlockEngine, BlockRequest, solve};
use bubbleproof::optimize::periodic::{self, Effort};
use bubbleproof::stop::Stop;
use num_rational::Ratio;

use super::{Row, Table, Takes, Times, UNEQUAL, UNIT, least_interval, limited, listed, v};

/// Every capacity below the least memory of a steady phase without bubbles.
pub fn table() -> Table {
    let devices =
        [UNIT, UNEQUAL].into_iter().flat_map(|times| (3..=8_u32).map(move |devices| (times, devices)));
    let rows = devices.flat_map(|(times, devices)| {
        (2..=2 * i64::from(devices)).take_while(move |&capacity| !is_free(times, devices, capacity)).map(
            move |capacity| {
                Row::new(problem(times, devices, capacity), takes(times, devices, capacity), move || {
                    row(times, devices, capacity)
                })
            },
        )
    });
    Table {
        name: "periods",
        head: "| F,I,W | d | capacity | one | several | K | no schedule below | |\n\
               | --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |",
        rows: rows.collect(),
    }
}

fn is_free(times: Times, devices: u32, capacity: i64) -> bool {
    let model = v(devices, times);
    least_interval(&limited(&model, capacity)) == Ratio::from_integer(model.most_work().0)
}

fn problem(times: Times, devices: u32, capacity: i64) -> Vec<String> {
    vec![listed(times), devices.to_string(), capacity.to_string()]
}

/// Where the bound is cheap, and a block of one microbatch or of two meets it.
fn takes(times: Times, devices: u32, capacity: i64) -> Takes {
    let searched = times == UNIT && [(5, 4), (7, 4)].contains(&(devices, capacity));
    if searched || devices <= 5 && capacity <= 3 { Takes::Little } else { Takes::Long }
}

/// How many steps of the bound there are for a problem that [`CHECK_STEPS`] leave open. With unequal durations and more devices, they take
/// too long.
const MORE_STEPS: u64 = 10 * CHECK_STEPS;

/// How many steps there are to follow all devices at the pace of the best block. What takes most takes ten minutes and 14 GB.
const MANY_STEPS: u64 = 8_000_000_000;

/// The largest capacity with which all devices are followed so far. With more there are too many states.
fn most_followed(times: Times) -> i64 {
    if times == UNIT { 7 } else { 6 }
}

/// The most microbatches per interval of every problem.
const MOST: u32 = 3;

/// What finds a block of more microbatches.
#[derive(Clone, Copy)]
enum By {
    LazyClauses,
    LocalSearch,
}

/// Problems in which a block of more microbatches is better, how many, and what finds it.
const FURTHER: [((Times, u32, i64), u32, By); 4] = [
    ((UNIT, 6, 5), 6, By::LazyClauses),
    ((UNIT, 8, 7), 4, By::LocalSearch),
    ((UNEQUAL, 4, 5), 4, By::LazyClauses),
    ((UNEQUAL, 8, 8), 4, By::LocalSearch),
];

fn row(times: Times, devices: u32, capacity: i64) -> Vec<String> {
    let model = limited(&v(devices, times), capacity);
    let (one, mut bound) = (least_interval(&model), steady_bound(&model, CHECK_STEPS));
    let mut best = (one, 1);
    for period in 2..=MOST {
        if best.0 > bound {
            best = best.min((exactly(&model, period), period));
        }
    }
    let steps = if capacity <= most_followed(times) { MANY_STEPS } else { CHECK_STEPS };
    let further = FURTHER.iter().find(|&&(of, ..)| of == (times, devices, capacity));
    if let Some(&(_, period, by)) = further {
        best = best.min((shortened(&model, period, by), period));
    }
    if best.0 > bound && is_least_pace(&model, best.0, steps, &mut || false) {
        bound = best.0;
    }
    if best.0 > bound && (times == UNIT || devices <= 6) {
        bound = bound.max(steady_bound(&model, MORE_STEPS));
    }
    let (several, period) = best;
    let several =
        if period == 1 { ["", ""].map(str::to_owned) } else { [several.to_string(), period.to_string()] };
    let [several, period] = several;
    let verdict = if best.0 == bound { "optimal" } else { "open" };
    vec![one.to_string(), several, period, bound.to_string(), verdict.to_owned()]
}

/// How often the local search is begun, each time with other random choices.
const SEARCHES: u64 = 3;

/// The least time per microbatch of blocks of so many that is found.
fn shortened(model: &Model, period: u32, by: By) -> Ratio<i64> {
    let each = |outcome: &BlockOutcome| {
        outcome.best().expect("a block fits into the memory").interval / i64::from(period)
    };
    match by {
        By::LazyClauses => {
            let (passes, objective) = (Passes::SPLIT, BlockObjective::LeastInterval);
            let request = BlockRequest { passes, objective, period };
            each(&solve(model, BlockEngine::Lcg, request, &Stop::after(LIMIT)).expect("it can be encoded"))
        }
        By::LocalSearch => {
            let search = |seed| {
                let effort = Effort { seed, ..Effort::default() };
                each(
                    &periodic::least_interval(model, period, effort, &Stop::default())
                        .expect("it can be encoded"),
                )
            };
            (0..SEARCHES).map(search).min().expect("there are searches")
        }
    }
}

/// The problems of [`table`] in which no block of one to three microbatches meets what some devices alone show: durations, devices,
/// capacity.
const HARD: [(Times, u32, i64); 18] = [
    (UNIT, 6, 5),
    (UNIT, 8, 5),
    (UNIT, 8, 7),
    (UNEQUAL, 4, 5),
    (UNEQUAL, 5, 5),
    (UNEQUAL, 6, 5),
    (UNEQUAL, 6, 6),
    (UNEQUAL, 6, 7),
    (UNEQUAL, 7, 4),
    (UNEQUAL, 7, 5),
    (UNEQUAL, 7, 6),
    (UNEQUAL, 7, 7),
    (UNEQUAL, 8, 4),
    (UNEQUAL, 8, 5),
    (UNEQUAL, 8, 6),
    (UNEQUAL, 8, 7),
    (UNEQUAL, 8, 8),
    (UNEQUAL, 8, 9),
];

/// The least time per microbatch of blocks of one, two and three in the [`HARD`] problems.
pub fn exact_table() -> Table {
    let rows = HARD.map(|(times, devices, capacity)| {
        // The solver takes seconds for two, and up to some minutes for three.
        let takes = if capacity == 4 { Takes::Little } else { Takes::Long };
        Row::new(problem(times, devices, capacity), takes, move || exact_row(times, devices, capacity))
    });
    Table {
        name: "exact periods",
        head: "| F,I,W | d | capacity | K = 1 | K = 2 | K = 3 | least |\n\
               | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
        rows: rows.into(),
    }
}

fn exact_row(times: Times, devices: u32, capacity: i64) -> Vec<String> {
    let model = limited(&v(devices, times), capacity);
    let one = least_interval(&model);
    let each: Vec<Ratio<i64>> =
        std::iter::once(one).chain((2..=MOST).map(|period| exactly(&model, period))).collect();
    let least = each.iter().min().copied();
    each.into_iter().chain(least).map(|interval| interval.to_string()).collect()
}

/// How long the solver has for one number of microbatches; what takes longest took half of it.
const LIMIT: Duration = Duration::from_secs(600);

/// The least time per microbatch of blocks of so many, as the solver proves it.
fn exactly(model: &Model, period: u32) -> Ratio<i64> {
    let request = BlockRequest { passes: Passes::SPLIT, objective: BlockObjective::LeastInterval, period };
    match solve(model, BlockEngine::Smt, request, &Stop::after(LIMIT)) {
        Ok(BlockOutcome::Optimal(best)) => best.interval / i64::from(period),
        other => panic!("no proof for {period} microbatches: {other:?}"),
    }
}
