//! Whole schedules, warm-up and cool-down included: the optimum against the published ones of no more
//! memory.

use std::time::Duration;

use bubbleproof::catalog;
use bubbleproof::certificate::{Objective, Optimality};
use bubbleproof::model::{Device, Model, Placement, Ticks, Units};
use bubbleproof::optimize::{Options, optimize};
use bubbleproof::replay::replay;
use bubbleproof::stop::Stop;
use num_rational::Ratio;

use super::{Row, Table, Takes, decimals, limited};

/// Placement, `[F, I, W, latency]`, capacity in activations of a stage.
type Problem = (&'static str, [i64; 4], i64);

const DEVICES: u32 = 4;
const MICROBATCHES: u32 = 8;

fn problems() -> Vec<Problem> {
    let linear = [[1, 1, 1, 0], [3, 4, 2, 0], [6, 3, 7, 2]];
    let v = [[1, 1, 1, 0], [3, 4, 2, 0]];
    let linear =
        linear.into_iter().flat_map(|times| (1..=4).map(move |capacity| ("linear", times, capacity)));
    let v = v.into_iter().flat_map(|times| (2..=8).map(move |capacity| ("v", times, capacity)));
    linear.chain(v).collect()
}

pub fn table() -> Table {
    let rows = problems().into_iter().map(|problem| {
        let (placement, [forward, input, weight, latency], capacity) = problem;
        let times = format!("{forward},{input},{weight}; {latency}");
        Row::new(vec![placement.to_owned(), times, capacity.to_string()], takes(problem), move || {
            row(problem)
        })
    });
    Table {
        name: "whole",
        head: "| placement | F,I,W; latency | capacity | best of the catalogue | span | optimum | ratio | proved by |\n\
               | --- | --- | ---: | --- | ---: | ---: | ---: | --- |",
        rows: rows.collect(),
    }
}

/// Where exhaustive searches take longest.
fn takes((placement, times, capacity): Problem) -> Takes {
    if placement == "v" && times[0] == 3 && capacity > 4 { Takes::Long } else { Takes::Little }
}

fn model((placement, times, capacity): Problem) -> Model {
    let placement = if placement == "v" { Placement::v(DEVICES) } else { Placement::linear(DEVICES) };
    let model = Model::equal_stages(placement.expect("a placement"), MICROBATCHES, times).expect("a model");
    limited(&model, capacity)
}

fn row(problem: Problem) -> Vec<String> {
    let model = model(problem);
    let options = Options {
        objective: Objective::DeviceSpan,
        exact_effort: 60_000_000,
        stop: Stop::after(Duration::from_secs(600)),
        ..Options::default()
    };
    let solution = optimize(&model, &options, &mut |_| ()).expect("one microbatch fits");
    let proved = match &solution.optimality {
        Optimality::Open => format!("nothing: at least {}", solution.lower_bound()),
        Optimality::Bound => "bound".to_owned(),
        Optimality::Search { engine, .. } => engine.name().to_owned(),
    };
    let [name, span, ratio] = match published(&model) {
        Some((name, span)) => {
            let ratio = Ratio::new(i128::from(span.0), i128::from(solution.value().0));
            [name.to_owned(), span.to_string(), decimals(ratio)]
        }
        None => ["none fits", "", ""].map(str::to_owned),
    };
    vec![name, span, solution.value().to_string(), ratio, proved]
}

/// The best of the catalogue under the capacities, and what the heuristic of arXiv 2401.10241 makes of them.
fn published(model: &Model) -> Option<(&'static str, Ticks)> {
    let limits: Vec<Option<Units>> =
        Device::all(model.devices()).map(|device| model.activation_capacity(device)).collect();
    let limits: Option<Vec<Units>> = limits.into_iter().collect();
    let limited = limits.and_then(|limits| catalog::memory_limited(model, &limits).ok());
    let named = catalog::entries().iter().filter_map(|entry| Some((entry.name, entry.generate(model).ok()?)));
    let measured =
        named.chain(limited.map(|schedule| ("zb heuristic", schedule))).filter_map(|(name, schedule)| {
            let verdict = replay(model, &schedule);
            let span = verdict.is_valid().then_some(verdict.timing)??.metrics.device_span;
            Some((name, span))
        });
    measured.min_by_key(|&(_, span)| span)
}
