//! Random pipelines, schedules and blocks, of every form that is allowed.
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "all numbers here are drawn from small ranges"
)]

use bubbleproof::block::Block;
use bubbleproof::model::{
    Costs, Device, Kind, Memory, Microbatch, Model, Overlap, PairDurations, Pass, Placement, Stage, Ticks,
    Units,
};
use bubbleproof::schedule::Schedule;
use proptest::collection::vec;
use proptest::prelude::*;

use crate::laws::naive;

/// Choices that are made one after the other (splitmix64): one seed stands for a long row of them.
#[derive(Debug, Clone)]
pub struct Choices(u64);

impl Choices {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `count`.
    pub fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) % count as u64) as usize
    }

    /// True once in `times`.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

/// Placements of every shape; explicit ones hold unequally many stages in any order.
pub fn placements() -> impl Strategy<Value = Placement> {
    let explicit = (1..5_usize, 0..4_usize, any::<u64>()).prop_map(|(devices, more, seed)| {
        let mut choices = Choices::new(seed);
        let mut stages: Vec<u32> = (0..).take(devices + more).collect();
        choices.shuffle(&mut stages);
        let mut lists: Vec<Vec<Stage>> = vec![Vec::new(); devices];
        for (position, &stage) in stages.iter().enumerate() {
            let device = if position < devices { position } else { choices.below(devices) };
            lists[device].push(Stage(stage));
        }
        Placement::new(lists).expect("a partition into parts that are not empty")
    });
    prop_oneof![
        (1..6_u32).prop_map(|devices| Placement::linear(devices).expect("a placement")),
        (1..4_u32, 1..4_u32)
            .prop_map(|(devices, chunks)| Placement::looped(devices, chunks).expect("a placement")),
        (1..5_u32).prop_map(|devices| Placement::v(devices).expect("a placement")),
        explicit,
    ]
}

/// Models with a value of its own for every stage and boundary; `least` is the shortest duration.
pub fn models(least: i64) -> impl Strategy<Value = Model> {
    models_on(placements(), least)
}

/// The same with such a placement.
pub fn models_on(placements: impl Strategy<Value = Placement>, least: i64) -> impl Strategy<Value = Model> {
    (placements, 1..6_u32).prop_flat_map(move |(placement, microbatches)| {
        let stages = placement.stages() as usize;
        let durations = vec((least..6, least..6, least..6), stages);
        let communication = vec(0..5_i64, stages - 1);
        // Activation, and the shares of it that are retained and checkpointed, in sixths.
        let activations = vec((0..7_i64, 0..7_i64, 0..7_i64), stages);
        (Just((placement, microbatches)), durations, communication, activations, any::<bool>()).prop_map(
            |((placement, microbatches), durations, communication, activations, recomputes)| {
                let list = |values: Vec<i64>| values.into_iter().map(Ticks).collect::<Vec<_>>();
                let units = |part: fn(&(i64, i64, i64)) -> i64| {
                    activations.iter().map(|values| Units(part(values))).collect::<Vec<_>>()
                };
                let mut forward = list(durations.iter().map(|values| values.0).collect());
                for device in Device::all(placement.devices()) {
                    let stages = placement.stages_of(device);
                    let idle = |&stage: &Stage| durations[stage.index()] == (0, 0, 0);
                    if stages.iter().all(idle) {
                        forward[stages[0].index()] = Ticks(1);
                    }
                }
                let costs = Costs {
                    unit: "tick".to_owned(),
                    forward,
                    backward_input: list(durations.iter().map(|values| values.1).collect()),
                    backward_weight: list(durations.iter().map(|values| values.2).collect()),
                    communication: list(communication),
                };
                let memory = Memory {
                    unit: "unit".to_owned(),
                    activation: units(|values| values.0),
                    retained_for_weight: units(|values| values.0 * values.1 / 6),
                    checkpoint: recomputes.then(|| units(|values| values.0 * values.2 / 6)),
                    weights: vec![Units(0); activations.len()],
                    capacity: vec![None; placement.devices() as usize],
                };
                Model::new("random".to_owned(), None, placement, microbatches, costs, memory)
                    .expect("a model")
            },
        )
    })
}

/// The kinds that a stage runs for a microbatch: split or full backward, recomputed or not.
fn kinds(model: &Model, stage: Stage, choices: &mut Choices) -> Vec<Kind> {
    let mut kinds = vec![Kind::F];
    if model.checkpoint(stage).is_some() && choices.once_in(2) {
        kinds.push(Kind::R);
    }
    kinds.extend(if choices.once_in(3) { vec![Kind::B] } else { vec![Kind::I, Kind::W] });
    kinds
}

/// The passes of every stage and of so many microbatches.
fn all_passes(model: &Model, microbatches: u32, choices: &mut Choices) -> Vec<Pass> {
    let mut passes = Vec::new();
    for stage in Stage::all(model.stages()) {
        let through = |&microbatch: &Microbatch| model.placement().leads_through(stage, microbatch);
        for microbatch in Microbatch::all(microbatches).filter(through) {
            let kinds = kinds(model, stage, choices);
            passes.extend(kinds.into_iter().map(|kind| Pass::new(stage, kind, microbatch)));
        }
    }
    passes
}

/// A schedule that can run: of all passes whose needs are met any one comes next on its device.
pub fn schedule_of(model: &Model, seed: u64) -> Schedule {
    let mut choices = Choices::new(seed);
    let passes = all_passes(model, model.microbatches(), &mut choices);
    let mut orders: Vec<Vec<Pass>> = vec![Vec::new(); model.devices() as usize];
    for pass in random_topological_order(model, &passes, &mut choices) {
        orders[model.placement().device_of(pass.stage).index()].push(pass);
    }
    Schedule::new(model.placement().clone(), model.microbatches(), orders).expect("a schedule")
}

/// The passes in a random order in which every pass comes after what it needs of them.
fn random_topological_order(model: &Model, passes: &[Pass], choices: &mut Choices) -> Vec<Pass> {
    let mut waiting = passes.to_vec();
    let mut done = Vec::new();
    while !waiting.is_empty() {
        let needs_met = |pass: &Pass| naive::needs(*pass, model, passes).all(|need| done.contains(&need));
        let ready: Vec<usize> = (0..waiting.len()).filter(|&at| needs_met(&waiting[at])).collect();
        done.push(waiting.swap_remove(ready[choices.below(ready.len())]));
    }
    done
}

/// The model with pairs that save this share, in percent, of the shorter one of their passes.
pub fn with_cheaper_pairs(model: &Model, percent: i64) -> Model {
    let durations = |kind| {
        let pairs = Device::all(model.devices()).flat_map(|device| {
            let stages = model.placement().stages_of(device).iter();
            stages.clone().flat_map(move |&forward| stages.clone().map(move |&backward| (forward, backward)))
        });
        let together = |(forward, backward)| {
            let (one, other) = (model.duration(forward, Kind::F), model.duration(backward, kind));
            ((forward, backward), one + other - Ticks(one.min(other).0 * percent / 100))
        };
        PairDurations::Listed(pairs.map(together).collect())
    };
    let (forward_backward, forward_input) = (durations(Kind::B), durations(Kind::I));
    let overlap = Overlap { forward_backward, forward_input, ..Overlap::default() };
    model.with_overlap(overlap).expect("at least as long as the longer one")
}

/// A model and a schedule that can run under it.
pub fn schedules(least: i64) -> impl Strategy<Value = (Model, Schedule)> {
    (models(least), any::<u64>()).prop_map(|(model, seed)| {
        let schedule = schedule_of(&model, seed);
        (model, schedule)
    })
}

/// The same where microbatches go in two directions.
pub fn two_way_schedules(least: i64) -> impl Strategy<Value = (Model, Schedule)> {
    let placements = (1..5_u32).prop_map(|devices| Placement::bidirectional(devices).expect("a placement"));
    (models_on(placements, least), any::<u64>()).prop_map(|(model, seed)| {
        let schedule = schedule_of(&model, seed);
        (model, schedule)
    })
}

/// The same passes on the same devices, each device in a random order that respects its own
/// dependencies only: what can go wrong is a deadlock and nothing else.
pub fn locally_shuffled(model: &Model, schedule: &Schedule, seed: u64) -> Schedule {
    let mut choices = Choices::new(seed);
    let shuffle = |order: &Vec<Pass>| random_topological_order(model, order, &mut choices);
    let orders = schedule.orders().iter().map(shuffle).collect();
    Schedule::new(schedule.placement().clone(), schedule.microbatches(), orders).expect("a schedule")
}

/// Orders with faults of every kind: passes dropped, doubled, moved, exchanged, invented.
pub fn vandalised(schedule: &Schedule, seed: u64) -> Schedule {
    let mut choices = Choices::new(seed);
    let mut orders = schedule.orders().to_vec();
    for _ in 0..=choices.below(6) {
        let from = choices.below(orders.len());
        if orders[from].is_empty() {
            continue;
        }
        let (at, to) = (choices.below(orders[from].len()), choices.below(orders.len()));
        let pass = orders[from][at];
        let place = choices.below(orders[to].len() + 1);
        match choices.below(6) {
            0 => drop(orders[from].remove(at)),
            1 => orders[to].insert(place, pass),
            2 => {
                let other = choices.below(orders[from].len());
                orders[from].swap(at, other);
            }
            3 => orders[from][at] = pass.with_kind(Kind::ALL[choices.below(Kind::COUNT)]),
            4 => orders[from].insert(at + 1, pass.with_kind(Kind::ALL[choices.below(Kind::COUNT)])),
            _ => {
                let kind = Kind::ALL[choices.below(Kind::COUNT)];
                let (stage, microbatch) = (choices.below(9), choices.below(7));
                orders[to].insert(place, Pass::new(Stage::at(stage), kind, Microbatch::at(microbatch)));
            }
        }
    }
    Schedule::new(schedule.placement().clone(), schedule.microbatches(), orders).expect("a schedule")
}

/// A model and a block without faults: on each device the passes of K microbatches share the
/// interval among them in a random order with random gaps, and along the dependencies every pass
/// takes a random one of the instants that its share recurs at.
pub fn blocks(least: i64) -> impl Strategy<Value = (Model, Block)> {
    (models(least), 1..4_u32, 1..4_i64, any::<u64>()).prop_map(|(model, period, parts, seed)| {
        let block = block_of(&model, period, parts, seed);
        (model, block)
    })
}

fn block_of(model: &Model, period: u32, parts: i64, seed: u64) -> Block {
    let mut choices = Choices::new(seed);
    let passes = all_passes(model, period, &mut choices);
    let length = |pass: Pass| model.duration(pass.stage, pass.kind).0 * parts;
    let on = |device: Device| {
        passes.iter().copied().filter(move |pass| model.placement().device_of(pass.stage) == device)
    };
    let most_work = Device::all(model.devices()).map(|device| on(device).map(length).sum::<i64>()).max();
    let interval = most_work.expect("there is a device") + choices.below(4) as i64;
    let mut residues = Vec::new();
    for device in Device::all(model.devices()) {
        let mut shares: Vec<Pass> = on(device).collect();
        choices.shuffle(&mut shares);
        let mut slack = interval - shares.iter().map(|&pass| length(pass)).sum::<i64>();
        let mut at = choices.below(interval as usize) as i64;
        for pass in shares {
            let gap = choices.below(slack as usize + 1) as i64;
            slack -= gap;
            residues.push((pass, (at + gap) % interval));
            at += gap + length(pass);
        }
    }
    let mut offsets: Vec<(Pass, i64)> = Vec::new();
    for pass in random_topological_order(model, &passes, &mut choices) {
        let arrivals = naive::needs(pass, model, &passes).map(|need| {
            let start = offsets.iter().find(|(other, _)| *other == need).expect("needs come first").1;
            start + length(need) + naive::latency(model, need, pass) * parts
        });
        let earliest =
            arrivals.max().unwrap_or(choices.below(20) as i64 - 10) + [0, 0, 1, interval][choices.below(4)];
        let residue = residues.iter().find(|(other, _)| *other == pass).expect("every pass has a share").1;
        offsets.push((pass, earliest + (residue - earliest).rem_euclid(interval)));
    }
    let offsets = offsets.into_iter().map(|(pass, at)| (pass, Ticks(at)));
    Block::periodic(model.placement().clone(), period, parts, Ticks(interval), offsets).expect("a block")
}
