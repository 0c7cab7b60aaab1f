//! Several microbatches per interval, against the best of one microbatch and against what bounds every
//! schedule.

use bubbleproof::certificate::{CHECK_STEPS, steady_bound};
use bubbleproof::model::Model;
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

/// Where the bound is cheap and either one microbatch meets it or the first search does.
fn takes(times: Times, devices: u32, capacity: i64) -> Takes {
    let searched = times == UNIT && [(5, 4), (7, 4)].contains(&(devices, capacity));
    if searched || devices <= 5 && capacity <= 3 { Takes::Little } else { Takes::Long }
}

/// How many steps of the bound there are for a problem that [`CHECK_STEPS`] leave open. With unequal durations and more devices,
/// they take too long.
const MANY_STEPS: u64 = 10 * CHECK_STEPS;

/// How many swaps a search tries.
const STEPS: usize = 400_000;

/// How many searches there are for each number of microbatches.
const SEEDS: u64 = 3;

/// The most microbatches per interval.
const MOST: u32 = 3;

fn row(times: Times, devices: u32, capacity: i64) -> Vec<String> {
    let model = limited(&v(devices, times), capacity);
    let (one, mut bound) = (least_interval(&model), steady_bound(&model, CHECK_STEPS));
    let mut best = (one, 1);
    for period in 2..=MOST {
        for seed in 0..SEEDS {
            if best.0 > bound {
                let each = found(&model, period, Effort { seed, steps: STEPS });
                best = best.min((each, period));
            }
        }
    }
    if best.0 > bound && (times == UNIT || devices <= 6) {
        bound = bound.max(steady_bound(&model, MANY_STEPS));
    }
    let (several, period) = best;
    let several =
        if period == 1 { ["", ""].map(str::to_owned) } else { [several.to_string(), period.to_string()] };
    let [several, period] = several;
    let verdict = if best.0 == bound { "optimal" } else { "open" };
    vec![one.to_string(), several, period, bound.to_string(), verdict.to_owned()]
}

fn found(model: &Model, period: u32, effort: Effort) -> Ratio<i64> {
    let outcome = periodic::least_interval(model, period, effort, &Stop::default());
    let outcome = outcome.expect("a model without passes of no time");
    outcome.best().expect("one microbatch at a time fits").interval / i64::from(period)
}
