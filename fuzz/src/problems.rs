//! Small problems and schedules of every form, built of choices.

use bubbleproof::model::{
    Costs, Kind, Memory, Microbatch, Model, Pass, Placement, PlacementError, Stage, Ticks, Units,
};
use bubbleproof::schedule::Schedule;

use super::choices::Choices;
use super::naive;

fn placement(choices: &mut Choices) -> Result<Placement, PlacementError> {
    let devices: u32 = 1 + choices.small::<u32>(4);
    match choices.below(5) {
        0 => Placement::linear(devices),
        1 => Placement::looped(devices.min(3), 1 + choices.small::<u32>(3)),
        2 => Placement::v(devices.min(3)),
        3 => Placement::bidirectional(devices.min(3)),
        _ => {
            let mut lists: Vec<Vec<Stage>> = vec![Vec::new(); devices as usize];
            for stage in 0..lists.len() + choices.below(3) {
                let device = if stage < lists.len() { stage } else { choices.below(lists.len()) };
                lists[device].push(Stage::at(stage));
            }
            let last = lists.len() - 1;
            lists.swap(0, choices.below(last + 1));
            Placement::new(lists)
        }
    }
}

/// A model of at most so many cells (stages times microbatches), if the choices make one.
pub fn model(choices: &mut Choices, cells: u32) -> Option<Model> {
    let placement = placement(choices).ok()?;
    let microbatches = 1 + choices.small::<u32>(4);
    if placement.stages() * microbatches > cells {
        return None;
    }
    let (stages, devices) = (placement.stages() as usize, placement.devices() as usize);
    let mut ticks = |count: usize, below: usize| -> Vec<Ticks> {
        (0..count).map(|_| Ticks(choices.small(below))).collect()
    };
    let costs = Costs {
        unit: "tick".to_owned(),
        forward: ticks(stages, 5),
        backward_input: ticks(stages, 5),
        backward_weight: ticks(stages, 5),
        communication: ticks(stages - 1, 4),
    };
    let activation: Vec<Units> = (0..stages).map(|_| Units(choices.small(5))).collect();
    let mut part = |whole: &Units| Units(choices.small(usize::try_from(whole.0).unwrap_or(0) + 1));
    let retained_for_weight = activation.iter().map(&mut part).collect();
    let checkpoint: Vec<Units> = activation.iter().map(&mut part).collect();
    let memory = Memory {
        unit: "unit".to_owned(),
        retained_for_weight,
        checkpoint: (choices.below(3) == 0).then_some(checkpoint),
        weights: (0..stages).map(|_| Units(choices.small(3))).collect(),
        capacity: (0..devices).map(|_| (choices.below(2) == 0).then(|| Units(choices.small(24)))).collect(),
        activation,
    };
    Model::new("fuzzed".to_owned(), None, placement, microbatches, costs, memory).ok()
}

/// The passes of every microbatch on every stage that it goes through: with B or with I and W, with R or without.
fn passes(model: &Model, choices: &mut Choices) -> Vec<Pass> {
    let mut passes = Vec::new();
    for stage in Stage::all(model.stages()) {
        for microbatch in Microbatch::all(model.microbatches()) {
            if !model.placement().leads_through(stage, microbatch) {
                continue;
            }
            let mut kinds = vec![Kind::F];
            if model.checkpoint(stage).is_some() && choices.below(2) == 1 {
                kinds.push(Kind::R);
            }
            kinds.extend_from_slice(if choices.below(3) == 1 { &[Kind::B] } else { &[Kind::I, Kind::W] });
            passes.extend(kinds.into_iter().map(|kind| Pass::new(stage, kind, microbatch)));
        }
    }
    passes
}

/// A schedule that can run: of all passes whose needs are met any one comes next on its device.
pub fn schedule(model: &Model, choices: &mut Choices) -> Schedule {
    let all = passes(model, choices);
    let mut waiting = all.clone();
    let mut orders: Vec<Vec<Pass>> = vec![Vec::new(); model.devices() as usize];
    while !waiting.is_empty() {
        let ready: Vec<usize> = (0..waiting.len())
            .filter(|&at| naive::needs(waiting[at], model, &all).all(|need| !waiting.contains(&need)))
            .collect();
        let pass = waiting.remove(ready[choices.below(ready.len())]);
        orders[model.placement().device_of(pass.stage).index()].push(pass);
    }
    Schedule::new(model.placement().clone(), model.microbatches(), orders).expect("one order for each device")
}

/// The schedule with some of its neighbours as pairs.
pub fn paired(schedule: &Schedule, choices: &mut Choices) -> Schedule {
    let overlaps = schedule.orders().iter().map(|order| {
        let (mut pairs, mut at) = (Vec::new(), 0);
        while at + 1 < order.len() {
            let (one, other) = (order[at], order[at + 1]);
            let is_pair = (one.kind == Kind::F) != (other.kind == Kind::F)
                && [one, other].iter().all(|pass| matches!(pass.kind, Kind::F | Kind::I | Kind::B))
                && (one.stage, one.microbatch) != (other.stage, other.microbatch);
            let taken = is_pair && choices.below(2) == 1;
            if taken {
                pairs.push(at);
            }
            at += 1 + usize::from(taken);
        }
        pairs
    });
    schedule.clone().with_overlaps(overlaps.collect()).expect("pairs of a forward and a backward")
}

/// The schedule with passes dropped, doubled, moved, exchanged and renamed, as long as there are choices.
pub fn damaged(schedule: &Schedule, choices: &mut Choices) -> Schedule {
    let mut orders = schedule.orders().to_vec();
    while !choices.is_over() {
        let (from, to) = (choices.below(orders.len()), choices.below(orders.len()));
        if orders[from].is_empty() {
            continue;
        }
        let at = choices.below(orders[from].len());
        let pass = orders[from][at];
        match choices.below(6) {
            0 => drop(orders[from].remove(at)),
            1 => {
                let place = choices.below(orders[to].len() + 1);
                orders[to].insert(place, pass);
            }
            2 => {
                let other = choices.below(orders[from].len());
                orders[from].swap(at, other);
            }
            3 => {
                orders[from].remove(at);
                let place = choices.below(orders[to].len() + 1);
                orders[to].insert(place, pass);
            }
            4 => orders[from][at] = pass.with_kind(Kind::ALL[choices.below(Kind::COUNT)]),
            _ => {
                let stage = Stage(choices.small(schedule.placement().stages() as usize + 1));
                let microbatch = Microbatch(choices.small(schedule.microbatches() as usize + 1));
                orders[from][at] = Pass::new(stage, pass.kind, microbatch);
            }
        }
    }
    Schedule::new(schedule.placement().clone(), schedule.microbatches(), orders)
        .expect("one order for each device")
}
