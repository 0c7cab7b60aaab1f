//! What a model may say beyond passes, latencies and plain memory, added to a small problem by choices.

use std::collections::BTreeMap;

use bubbleproof::model::{
    Costs, Device, Kind, Links, Memory, Messages, Model, Overlap, PairDurations, Sharding, Stage, StepEnd,
    Ticks, Transient, Units, Workspace,
};

use super::choices::Choices;

/// The model with some of it, if that makes one.
pub fn model(plain: &Model, choices: &mut Choices) -> Option<Model> {
    let mut chosen = choices.below(64);
    let mut is_chosen = || {
        let is_chosen = chosen & 1 == 1;
        chosen >>= 1;
        is_chosen
    };
    let mut model = if is_chosen() { memory(plain, choices) } else { plain.clone() };
    if is_chosen() {
        let step = step(&model, choices);
        model = model.with_step(Some(step)).ok()?;
    }
    if is_chosen() {
        let messages = messages(&model, choices);
        model = model.with_messages(Some(messages)).ok()?;
    }
    if is_chosen() {
        let overlap = overlap(&model, choices);
        model = model.with_overlap(overlap).ok()?;
    }
    if is_chosen() {
        let low = low_ends(&model, choices);
        model = model.with_low_ends(low).ok()?;
    }
    if is_chosen() {
        let sharding = sharding(&model, choices);
        model = model.with_sharding(Some(sharding)).ok()?;
    }
    Some(model)
}

/// The model with workspaces, buffers and Is that leave more than F kept.
pub fn memory(plain: &Model, choices: &mut Choices) -> Model {
    let stages = plain.stages() as usize;
    let mut list = |count: usize| -> Vec<Units> { (0..count).map(|_| Units(choices.small(5))).collect() };
    let (forward, backward_input, backward_weight, backward) =
        (list(stages), list(stages), list(stages), list(stages));
    let recompute = if plain.memory().checkpoint.is_some() { list(stages) } else { forward.clone() };
    let (receive, more) = (list(stages - 1), list(stages));
    let retained = plain.memory().retained_for_weight.iter().zip(more).map(|(&part, more)| part + more);
    let memory = Memory { retained_for_weight: retained.collect(), ..plain.memory().clone() };
    let has = |choices: &mut Choices| choices.below(4) > 0;
    let transient = Transient {
        workspace: has(choices).then_some(Workspace {
            forward,
            backward_input,
            backward_weight,
            backward,
            recompute,
        }),
        receive: has(choices).then_some(receive),
    };
    let costs = plain.costs().clone();
    let (placement, microbatches) = (plain.placement().clone(), plain.microbatches());
    Model::new("exact".to_owned(), None, placement, microbatches, costs, memory)
        .and_then(|model| model.with_transient(transient))
        .expect("a model")
}

/// Reductions and optimiser steps from no time on.
pub fn step(model: &Model, choices: &mut Choices) -> StepEnd {
    let mut list = || (0..model.stages()).map(|_| Ticks(choices.small(10))).collect();
    StepEnd { reduce: list(), optimizer: list() }
}

/// Gathers from no time on, which take memory or none, of few stages at a time.
pub fn sharding(model: &Model, choices: &mut Choices) -> Sharding {
    let stages = model.stages() as usize;
    let gather = (0..stages).map(|_| Ticks(choices.small(8))).collect();
    let gathered = (0..stages).map(|_| Units(choices.small(4))).collect();
    Sharding {
        gather,
        gathered,
        stages: 1 + u32::from(choices.below(2) == 0) + u32::from(choices.below(3) == 0),
    }
}

/// Occupancies from 0 on, and links of pairs or the cards of nodes.
pub fn messages(model: &Model, choices: &mut Choices) -> Messages {
    let occupancy = (1..model.stages()).map(|_| Ticks(choices.small(8))).collect();
    let links = if choices.below(2) == 0 {
        Links::Pair
    } else {
        let mut nodes = vec![Vec::new(); 1 + choices.below(model.devices() as usize)];
        for device in Device::all(model.devices()) {
            let node = choices.below(nodes.len());
            nodes[node].push(device);
        }
        Links::Nodes(nodes)
    };
    Messages { occupancy, links }
}

/// Pairs of any duration that they may have.
fn overlap(model: &Model, choices: &mut Choices) -> Overlap {
    let mut durations = |kind: Kind| {
        let mut listed: BTreeMap<(Stage, Stage), Ticks> = BTreeMap::new();
        for device in Device::all(model.devices()) {
            for &forward in model.placement().stages_of(device) {
                for &backward in model.placement().stages_of(device) {
                    let both = [model.duration(forward, Kind::F), model.duration(backward, kind)];
                    let most = usize::try_from(both[0].min(both[1]).0).unwrap_or(0);
                    let saved = Ticks(choices.small(most + 1));
                    listed.insert((forward, backward), both[0] + both[1] - saved);
                }
            }
        }
        PairDurations::Listed(listed)
    };
    let (forward_backward, forward_input) = (durations(Kind::B), durations(Kind::I));
    Overlap { forward_backward, forward_input, ..Overlap::default() }
}

/// Low ends from 0 on.
fn low_ends(model: &Model, choices: &mut Choices) -> Costs {
    let mut low = |list: &[Ticks]| -> Vec<Ticks> {
        list.iter().map(|high| Ticks((high.0 - choices.small::<i64>(3)).max(0))).collect()
    };
    let Costs { unit, forward, backward_input, backward_weight, communication } = model.costs();
    Costs {
        unit: unit.clone(),
        forward: low(forward),
        backward_input: low(backward_input),
        backward_weight: low(backward_weight),
        communication: low(communication),
    }
}
