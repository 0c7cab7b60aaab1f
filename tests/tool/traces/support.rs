//! Pipelines, and traces of them that nobody measured.

use std::collections::BTreeMap;

use bubbleproof::catalog;
use bubbleproof::model::{
    Costs, Kind, Links, Memory, Messages, Model, Pass, Placement, Recompute, RecomputeLevel, StepEnd, Ticks,
    Transient, Units, Workspace,
};
use bubbleproof::schedule::Schedule;
use bubbleproof::trace::Trace;
use bubbleproof::trace::synthetic::of_replay;
use proptest::prelude::*;

/// Schedules by placement, those that split the backward and those that do not.
const NAMES: [(&str, &[&str]); 3] = [
    ("linear", &["gpipe", "1f1b", "zb-h1", "zb-h2"]),
    ("looped", &["interleaved-1f1b", "looped-bfs"]),
    ("v", &["v-min", "v-half", "v-zb"]),
];

/// A model with other costs on every stage, and a schedule for it.
pub fn pipeline() -> impl Strategy<Value = (Model, Schedule)> {
    (2..5_u32, 1..4_u32, 0..NAMES.len(), 0..4_usize, any::<u64>()).prop_map(
        |(devices, rounds, shape, name, seed)| {
            let (shape, names) = NAMES[shape];
            let placement = match shape {
                "linear" => Placement::linear(devices),
                "looped" => Placement::looped(devices, 2),
                _ => Placement::v(devices),
            };
            let model = uneven(placement.expect("a placement"), devices * rounds, seed);
            let schedule = named(names[name % names.len()], &model);
            (model, schedule)
        },
    )
}

/// The schedule of a name.
pub fn named(name: &str, model: &Model) -> Schedule {
    let schedule = catalog::find(name).expect("a known name").generate(model);
    schedule.unwrap_or_else(|error| panic!("{name}: {error}")).named(name)
}

/// A model in nanoseconds and bytes whose stages differ.
pub fn uneven(placement: Placement, microbatches: u32, seed: u64) -> Model {
    let mut random = fastrand::Rng::with_seed(seed);
    let stages = placement.stages() as usize;
    let mut ticks = |from: i64, to: i64, count: usize| -> Vec<Ticks> {
        (0..count).map(|_| Ticks(random.i64(from..to))).collect()
    };
    let costs = Costs {
        unit: "ns".to_owned(),
        forward: ticks(1, 1000, stages),
        backward_input: ticks(1, 1000, stages),
        backward_weight: ticks(1, 1000, stages),
        communication: ticks(0, 300, stages - 1),
    };
    let activation: Vec<Units> = ticks(1, 1 << 30, stages).into_iter().map(|ticks| Units(ticks.0)).collect();
    let retained_for_weight = activation.iter().map(|units| Units(random.i64(0..=units.0))).collect();
    let memory = Memory {
        unit: "byte".to_owned(),
        activation,
        retained_for_weight,
        checkpoint: None,
        weights: vec![Units(0); stages],
        capacity: vec![None; placement.devices() as usize],
    };
    Model::new("uneven".to_owned(), None, placement, microbatches, costs, memory).expect("a model")
}

/// The model with workspaces, and some Is that leave more than F kept.
pub fn with_workspace(model: &Model, seed: u64) -> Model {
    let mut random = fastrand::Rng::with_seed(seed);
    let stages = model.stages() as usize;
    let mut list = |most: i64| -> Vec<Units> { (0..stages).map(|_| Units(random.i64(0..most))).collect() };
    let forward = list(1 << 20);
    let workspace = Workspace {
        recompute: forward.clone(),
        forward,
        backward_input: list(1 << 20),
        backward_weight: list(1 << 20),
        backward: list(1 << 20),
    };
    let more = list(1 << 30);
    let retained = model.memory().retained_for_weight.iter().zip(more).map(|(&part, more)| part + more);
    let memory = Memory { retained_for_weight: retained.collect(), ..model.memory().clone() };
    let transient = Transient { workspace: Some(workspace), receive: None };
    model.with_plain_memory(memory).and_then(|model| model.with_transient(transient)).expect("a model")
}

/// The model with messages that keep the link between two devices busy.
pub fn with_links(model: &Model, seed: u64) -> Model {
    let mut random = fastrand::Rng::with_seed(seed);
    let occupancy = (1..model.stages()).map(|_| Ticks(random.i64(1..400))).collect();
    model.with_messages(Some(Messages { occupancy, links: Links::Pair })).expect("a model")
}

/// The model with reductions and optimiser steps.
pub fn with_step(model: &Model, seed: u64) -> Model {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut list = || (0..model.stages()).map(|_| Ticks(random.i64(0..2000))).collect();
    model.with_step(Some(StepEnd { reduce: list(), optimizer: list() })).expect("a model")
}

/// The model with two levels of recomputation, and the schedule with an R right before half of the backwards, at either.
pub fn with_recomputation(model: &Model, schedule: &Schedule, seed: u64) -> (Model, Schedule) {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut level = || RecomputeLevel {
        checkpoint: model.memory().activation.iter().map(|whole| Units(random.i64(0..=whole.0))).collect(),
        duration: Some((0..model.stages()).map(|_| Ticks(random.i64(1..1000))).collect()),
    };
    let recompute = Recompute { levels: vec![level(), level()], fused: false };
    let mut levels = BTreeMap::new();
    let mut with_again = |order: &Vec<Pass>| -> Vec<Pass> {
        let steps = order.iter().flat_map(|&pass| {
            let again = Pass { kind: Kind::R, ..pass };
            let recomputes = matches!(pass.kind, Kind::I | Kind::B) && random.bool();
            if recomputes && random.bool() {
                levels.insert(again, 1);
            }
            recomputes.then_some(again).into_iter().chain([pass])
        });
        steps.collect()
    };
    let orders = schedule.orders().iter().map(&mut with_again).collect();
    let recomputed = Schedule::new(schedule.placement().clone(), schedule.microbatches(), orders);
    let recomputed =
        recomputed.and_then(|schedule| schedule.with_levels(levels)).expect("Rs where they may be");
    (model.with_recompute(Some(recompute)).expect("a model"), recomputed)
}

/// The trace of a schedule that runs as replay says.
pub fn traced(model: &Model, schedule: &Schedule) -> Trace {
    of_replay(model, schedule).expect("a schedule that runs")
}
