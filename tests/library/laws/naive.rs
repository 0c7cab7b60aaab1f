//! The rules of execution and memory, stated once more and carried out without any cleverness.

use std::collections::BTreeMap;

use bubbleproof::model::{Kind, Model, Pass, Stage, Ticks};
use bubbleproof::schedule::Schedule;

/// The passes among `all` that must end before a pass may start.
pub fn needs<'a>(pass: Pass, model: &Model, all: &'a [Pass]) -> impl Iterator<Item = Pass> + use<'a> {
    let stages = model.stages();
    // Where there are two directions, the second half of the stages is a pipeline of its own.
    let first = |stage: u32| stage == 0 || model.placement().directions() == 2 && stage == stages / 2;
    let at = |stage: u32, kind| Pass { stage: Stage(stage), kind, ..pass };
    let here = pass.stage.0;
    let mut found = Vec::new();
    match pass.kind {
        Kind::F if !first(here) => found.push(at(here - 1, Kind::F)),
        Kind::F => {}
        Kind::R => found.push(at(here, Kind::F)),
        Kind::W => found.push(at(here, Kind::I)),
        Kind::I | Kind::B => {
            found.extend([at(here, Kind::F), at(here, Kind::R)]);
            if here + 1 < stages && !first(here + 1) {
                found.extend([at(here + 1, Kind::I), at(here + 1, Kind::B)]);
            }
        }
    }
    found.into_iter().filter(move |need| all.contains(need))
}

/// The latency from one pass to one that needs it.
pub fn latency(model: &Model, from: Pass, to: Pass) -> i64 {
    let placement = model.placement();
    if placement.device_of(from.stage) == placement.device_of(to.stage) {
        return 0;
    }
    model.costs().communication[from.stage.index().min(to.stage.index())].0
}

pub fn duration(model: &Model, pass: Pass) -> i64 {
    let (costs, stage) = (model.costs(), pass.stage.index());
    match pass.kind {
        Kind::F | Kind::R => costs.forward[stage].0,
        Kind::I => costs.backward_input[stage].0,
        Kind::W => costs.backward_weight[stage].0,
        Kind::B => costs.backward_input[stage].0 + costs.backward_weight[stage].0,
    }
}

/// The start of every pass, or nothing when the orders get stuck: as long as any device can run its
/// next pass, it does.
pub fn run(model: &Model, schedule: &Schedule) -> Option<Vec<Vec<Ticks>>> {
    let all: Vec<Pass> = schedule.orders().iter().flatten().copied().collect();
    let mut ends: BTreeMap<Pass, i64> = BTreeMap::new();
    let mut starts: Vec<Vec<Ticks>> = vec![Vec::new(); schedule.orders().len()];
    loop {
        let mut moved = false;
        for (order, starts) in schedule.orders().iter().zip(&mut starts) {
            let Some(&pass) = order.get(starts.len()) else { continue };
            let needed: Vec<Pass> = needs(pass, model, &all).collect();
            if !needed.iter().all(|need| ends.contains_key(need)) {
                continue;
            }
            let free = starts.len().checked_sub(1).map_or(0, |last| ends[&order[last]]);
            let arrival = needed.iter().map(|need| ends[need] + latency(model, *need, pass)).max();
            let start = free.max(arrival.unwrap_or(0));
            starts.push(Ticks(start));
            ends.insert(pass, start + duration(model, pass));
            moved = true;
        }
        if !moved {
            break;
        }
    }
    let complete = schedule.orders().iter().zip(&starts).all(|(order, starts)| order.len() == starts.len());
    complete.then_some(starts)
}

/// Whether the orders have an execution in which every device ends within a span after it begins: starts are raised
/// until nothing is too early, which never ends if it takes more rounds than there are passes.
pub fn runs_within(model: &Model, schedule: &Schedule, span: i64) -> bool {
    let all: Vec<Pass> = schedule.orders().iter().flatten().copied().collect();
    let mut starts: BTreeMap<Pass, i64> = all.iter().map(|&pass| (pass, 0)).collect();
    for _ in 0..=all.len() {
        let before = starts.clone();
        for order in schedule.orders() {
            for (at, &pass) in order.iter().enumerate() {
                let needed = needs(pass, model, &all);
                let arrivals =
                    needed.map(|need| starts[&need] + duration(model, need) + latency(model, need, pass));
                let free = at.checked_sub(1).map(|last| starts[&order[last]] + duration(model, order[last]));
                let start = arrivals.chain(free).fold(starts[&pass], i64::max);
                starts.insert(pass, start);
            }
            if let (Some(first), Some(last)) = (order.first(), order.last()) {
                let begin = starts[last] + duration(model, *last) - span;
                starts.insert(*first, starts[first].max(begin));
            }
        }
        if starts == before {
            return true;
        }
    }
    false
}

/// The least span within which the orders run.
pub fn device_span(model: &Model, schedule: &Schedule) -> i64 {
    let longest: i64 = schedule.orders().iter().flatten().map(|&pass| duration(model, pass)).sum();
    let latencies: i64 = model.costs().communication.iter().map(|latency| latency.0).sum();
    let (mut too_short, mut enough) = (-1, longest + 2 * i64::from(model.microbatches()) * latencies);
    while enough - too_short > 1 {
        let middle = i64::midpoint(too_short, enough);
        if runs_within(model, schedule, middle) {
            enough = middle;
        } else {
            too_short = middle;
        }
    }
    enough
}

/// What a pass acquires at its start and releases at its end.
pub fn acquired_and_released(model: &Model, pass: Pass, recomputed: bool) -> (i64, i64) {
    let (memory, stage) = (model.memory(), pass.stage.index());
    let activation = memory.activation[stage].0;
    let retained = memory.retained_for_weight[stage].0;
    let checkpoint = || memory.checkpoint.as_ref().expect("a model that recomputes")[stage].0;
    match pass.kind {
        Kind::F if recomputed => (checkpoint(), 0),
        Kind::F => (activation, 0),
        Kind::R => (activation - checkpoint(), 0),
        Kind::I => (0, activation - retained),
        Kind::W => (0, retained),
        Kind::B => (0, activation),
    }
}

/// The most that is live along an order.
pub fn peak_of_order(model: &Model, order: &[Pass]) -> i64 {
    let (mut live, mut peak) = (0, 0);
    for &pass in order {
        let (acquired, released) =
            acquired_and_released(model, pass, order.contains(&pass.with_kind(Kind::R)));
        live += acquired;
        peak = peak.max(live);
        live -= released;
    }
    peak
}

/// The most that is live at any instant, from the times alone. At one instant releases come first.
pub fn peak_of_times(model: &Model, order: &[Pass], starts: &[Ticks]) -> i64 {
    let mut events: Vec<(i64, i64)> = Vec::new();
    for (&pass, &Ticks(start)) in order.iter().zip(starts) {
        let (acquired, released) =
            acquired_and_released(model, pass, order.contains(&pass.with_kind(Kind::R)));
        events.push((start, acquired));
        events.push((start + duration(model, pass), -released));
    }
    events.sort_unstable();
    let mut live = 0;
    events.into_iter().fold(0, |peak, (_, change)| {
        live += change;
        peak.max(live)
    })
}
