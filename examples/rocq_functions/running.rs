//! Replay of schedules, and of tasks without a pipeline.

use bubbleproof::model::{Kind, Microbatch, Pass, Stage, Ticks};
use bubbleproof::replay::{PassDurations, Verdict, Violation, makespans, memory_along, replay};
use bubbleproof::tasks::{Task, TaskGraphBuilder};
use fastrand::Rng;
use serde_json::{Value, json};

use crate::problem::{KINDS, Problem, texts};

/// A schedule of every sort: it runs, deadlocks, or has the wrong passes. Also its best case where times are ranges,
/// and a run in which every pass takes a time of its own.
pub fn schedule(choices: &mut Rng) -> Value {
    let mut problem = Problem::random(choices, 0, 4);
    problem.limit(choices, 3);
    let late = choices.usize(0..2 * problem.stages());
    if late < problem.stages() {
        problem.forward[0] += choices.i64(0..8);
        problem.weight[late] += choices.i64(0..16);
    }
    let mut orders = orders(choices, &problem);
    if late < problem.stages() {
        // A device that waits for slow forwards, and works for long at the end, may begin later.
        orders[problem.device_of(Stage::at(late))].sort_by_key(|pass| pass.kind == Kind::W);
    }
    let (model, schedule) = (problem.model(), problem.schedule(orders.clone()));
    let verdict = replay(&model, &schedule);
    let is_complete = !verdict.violations.iter().any(is_about_passes);
    let over = |device| {
        let is_over = |violation: &Violation| {
            matches!(violation, Violation::OverCapacity { .. }) && violation.device() == Some(device)
        };
        verdict.violations.iter().any(is_over)
    };
    let fits: Vec<bool> = crate::problem::devices(&model).map(|device| !over(device)).collect();
    let peaks: Vec<i64> = verdict.peak_memory.iter().map(|units| units.0).collect();
    let held: Vec<Vec<[i64; 2]>> = memory_along(&model, &schedule)
        .iter()
        .map(|along| along.iter().map(|held| [held.during.0, held.after.0]).collect())
        .collect();

    let mut low = problem.clone();
    let Problem { forward, input, weight, latency, .. } = &mut low;
    for time in [forward, input, weight, latency].into_iter().flatten() {
        // A device that never works is no model, so what takes time takes some.
        *time = choices.i64((*time).min(1)..=*time);
    }
    let ranged = model.with_low_ends(low.costs()).expect("no low end is above its high end");
    let best = replay(&ranged.best_case().unwrap_or(model.clone()), &schedule);

    let lasts: Vec<Vec<[i64; 3]>> = (0..problem.stages())
        .map(|_| (0..problem.microbatches).map(|_| [0; 3].map(|_| choices.i64(0..6))).collect())
        .collect();
    let of_pass = |stage: Stage, microbatch: Microbatch| lasts[stage.index()][microbatch.index()].map(Ticks);
    let run = PassDurations::new(model.stages(), problem.microbatches, of_pass);
    let of_run = makespans(&model, &schedule, &[run]).ok().map(|found| found[0].0);
    json!({
        "problem": problem, "low": low, "orders": texts(&orders), "lasts": lasts,
        "rust": {
            "complete": is_complete,
            "times": times(&verdict),
            "fits": is_complete.then_some(fits),
            "peaks": is_complete.then_some(peaks),
            "held": is_complete.then_some(held),
            "best": times(&best),
            "run": of_run,
        },
    })
}

/// Whether a pass is missing, double, unknown or on another device.
fn is_about_passes(violation: &Violation) -> bool {
    matches!(
        violation,
        Violation::TooFewPasses { .. }
            | Violation::UnknownPass { .. }
            | Violation::WrongDevice { .. }
            | Violation::DuplicatePass { .. }
            | Violation::MissingPass { .. }
    )
}

/// Start times, makespan and device span; nothing for what does not run.
pub fn times(verdict: &Verdict) -> Value {
    let Some(timing) = &verdict.timing else { return Value::Null };
    let starts: Vec<Vec<i64>> =
        timing.starts.iter().map(|starts| starts.iter().map(|ticks| ticks.0).collect()).collect();
    json!({ "starts": starts, "makespan": timing.metrics.makespan.0, "span": timing.metrics.device_span.0 })
}

fn orders(choices: &mut Rng, problem: &Problem) -> Vec<Vec<Pass>> {
    let mut orders = problem.valid_orders(choices);
    match choices.u32(0..6) {
        // Each device keeps to its own needs, and deadlocks come from the others.
        0 => {
            for order in &mut orders {
                choices.shuffle(order);
                *order = problem.in_order(order);
            }
        }
        1 => {
            for _ in 0..choices.usize(1..4) {
                let of = choices.usize(0..orders.len());
                let order = &mut orders[of];
                let (one, other) = (choices.usize(0..order.len()), choices.usize(0..order.len()));
                order.swap(one, other);
            }
        }
        2 => {
            for _ in 0..choices.usize(1..4) {
                spoil(choices, &mut orders);
            }
        }
        _ => {}
    }
    orders
}

/// Drops, doubles, moves, renames or invents a pass.
fn spoil(choices: &mut Rng, orders: &mut [Vec<Pass>]) {
    let (from, to) = (choices.usize(0..orders.len()), choices.usize(0..orders.len()));
    if orders[from].is_empty() {
        return;
    }
    let at = choices.usize(0..orders[from].len());
    let (pass, place) = (orders[from][at], choices.usize(0..=orders[to].len()));
    match choices.u32(0..5) {
        0 => drop(orders[from].remove(at)),
        1 => orders[to].insert(place, pass),
        2 => {
            orders[from].remove(at);
            let place = place.min(orders[to].len());
            orders[to].insert(place, pass);
        }
        3 => orders[from][at] = pass.with_kind(any_kind(choices)),
        _ => {
            let stage = Stage(choices.u32(0..8));
            orders[to].insert(place, Pass::new(stage, any_kind(choices), Microbatch(choices.u32(0..6))));
        }
    }
}

fn any_kind(choices: &mut Rng) -> Kind {
    KINDS[choices.usize(0..KINDS.len())]
}

/// Tasks that need each other at random: along a sequence, or in any direction.
pub fn tasks(choices: &mut Rng) -> Value {
    let (count, resources) = (choices.usize(1..=12), choices.usize(1..=4));
    let first: Vec<usize> = {
        let mut ends: Vec<usize> = (1..resources).map(|_| choices.usize(0..=count)).collect();
        ends.extend([0, count]);
        ends.sort_unstable();
        ends
    };
    let orders: Vec<Vec<usize>> = first.windows(2).map(|ends| (ends[0]..ends[1]).collect()).collect();
    // The place of each task in the sequence, which keeps to the order of each resource.
    let mut place: Vec<f64> = Vec::new();
    for order in &orders {
        let mut drawn: Vec<f64> = order.iter().map(|_| choices.f64()).collect();
        drawn.sort_by(f64::total_cmp);
        place.extend(drawn);
    }
    let durations: Vec<i64> = (0..count).map(|_| choices.i64(0..6)).collect();
    let reckless = choices.u32(0..3) == 0;
    let needs: Vec<Vec<(usize, i64)>> = (0..count)
        .map(|task| {
            let drawn: Vec<usize> = (0..choices.usize(0..3)).map(|_| choices.usize(0..count)).collect();
            let is_behind = |&other: &usize| reckless && choices.u32(0..4) == 0 || place[other] < place[task];
            let kept: Vec<usize> = drawn.into_iter().filter(is_behind).collect();
            kept.into_iter().map(|other| (other, choices.i64(0..4))).collect()
        })
        .collect();

    let mut graph = TaskGraphBuilder::new();
    for order in &orders {
        let mut resource = graph.resource();
        for &task in order {
            let mut added = resource.task(Ticks(durations[task]));
            for &(other, latency) in &needs[task] {
                added.need(Task(u32::try_from(other).expect("few tasks")), Ticks(latency));
            }
        }
    }
    let graph = graph.finish().expect("times are small, and tasks exist");
    let times = graph.execute().ok().map(|execution| {
        let starts: Vec<i64> = execution.starts().iter().map(|ticks| ticks.0).collect();
        json!({ "starts": starts, "makespan": execution.makespan(&graph).0 })
    });
    json!({ "durations": durations, "needs": needs, "orders": orders, "rust": { "times": times } })
}
