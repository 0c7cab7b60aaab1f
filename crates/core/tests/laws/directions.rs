//! Bounds with two directions, against every order of two devices and two or three microbatches.

use bubbleproof::certificate::{BoundReason, Objective, holds, lower_bound};
use bubbleproof::model::{
    Costs, Device, Kind, Memory, Microbatch, Model, Overlap, PairDurations, Pass, Placement, StepEnd, Ticks,
};
use bubbleproof::replay::replay;
use bubbleproof::schedule::Schedule;

use crate::choices::Choices;
use crate::random;

/// Two devices, with stages of any durations, and perhaps with cheaper pairs and an end of the step.
fn model(choices: &mut Choices, microbatches: u32) -> Model {
    let placement = Placement::bidirectional(2).expect("a placement");
    let plain = Model::equal_stages(placement.clone(), microbatches, [1; 4]).expect("a model");
    let times = |choices: &mut Choices, count: usize| -> Vec<Ticks> {
        (0..count).map(|_| Ticks(1 + choices.small::<i64>(9))).collect()
    };
    let costs = Costs {
        forward: times(choices, 4),
        backward_input: times(choices, 4),
        backward_weight: times(choices, 4),
        communication: times(choices, 3),
        ..plain.costs().clone()
    };
    let memory: Memory = plain.memory().clone();
    let model = Model::new("two ways".to_owned(), None, placement, microbatches, costs, memory);
    let mut model = model.expect("a model");
    if choices.below(2) == 0 {
        let (reduce, optimizer) = (times(choices, 4), times(choices, 4));
        model = model.with_step(Some(StepEnd { reduce, optimizer })).expect("an end of the step");
    }
    if choices.below(2) == 0 {
        let longest = |kind| {
            let all = Device::all(2).flat_map(|device| model.placement().stages_of(device));
            all.map(|&stage| model.duration(stage, Kind::F).max(model.duration(stage, kind))).max()
        };
        let pair = longest(Kind::I).unwrap_or_default();
        let forward_input = PairDurations::Uniform(pair);
        // Where the pair would take longer than its passes, there is none.
        let overlap = Overlap { forward_input, ..Overlap::default() };
        model = model.with_overlap(overlap).unwrap_or(model);
    }
    model
}

/// All orders of the passes of a device in which each F is before its I, and that before its W.
fn orders(left: &mut Vec<Vec<Pass>>, order: &mut Vec<Pass>, found: &mut Vec<Vec<Pass>>) {
    if left.iter().all(Vec::is_empty) {
        found.push(order.clone());
    }
    for at in 0..left.len() {
        if let Some(pass) = left[at].pop() {
            order.push(pass);
            orders(left, order, found);
            order.pop();
            left[at].push(pass);
        }
    }
}

fn all_orders(model: &Model, device: Device) -> Vec<Vec<Pass>> {
    let of_stage = model.placement().stages_of(device).iter().flat_map(|&stage| {
        let through = Microbatch::all(model.microbatches())
            .filter(move |&microbatch| model.placement().leads_through(stage, microbatch));
        through.map(move |microbatch| {
            [Kind::W, Kind::I, Kind::F].map(|kind| Pass::new(stage, kind, microbatch)).to_vec()
        })
    });
    let mut found = Vec::new();
    orders(&mut of_stage.collect(), &mut Vec::new(), &mut found);
    found
}

/// Pairs of each F with an I behind it, or in front of it, as far as they do not share a pass.
fn pairs(order: &[Pass], forward_first: bool) -> Vec<usize> {
    let mut found: Vec<usize> = Vec::new();
    for at in 0..order.len() - 1 {
        let kinds = if forward_first { [Kind::F, Kind::I] } else { [Kind::I, Kind::F] };
        let is_other = order[at].microbatch != order[at + 1].microbatch;
        let is_free = found.last().is_none_or(|&last| last + 1 < at);
        if is_other && is_free && [order[at].kind, order[at + 1].kind] == kinds {
            found.push(at);
        }
    }
    found
}

#[test]
fn no_bound_with_two_directions_is_above_the_best_of_all_orders() {
    let (mut met, mut by_work, mut with_pairs) = (0, 0, 0);
    for seed in 0..120 {
        let row = random(seed, 60);
        let model = &model(&mut Choices::new(&row), 2);
        let [first, second] = [0, 1].map(|device| all_orders(model, Device(device)));
        let mut best: [Option<Ticks>; 2] = [None, None];
        for one in &first {
            for other in &second {
                let orders = vec![one.clone(), other.clone()];
                let schedule =
                    Schedule::new(model.placement().clone(), model.microbatches(), orders).expect("orders");
                let paired = [true, false].map(|forward_first| {
                    schedule
                        .clone()
                        .with_overlaps([one, other].map(|order| pairs(order, forward_first)).to_vec())
                });
                for schedule in paired.into_iter().map(|paired| paired.expect("pairs")).chain([schedule]) {
                    let verdict = replay(model, &schedule);
                    let (true, Some(timing)) = (verdict.is_valid(), &verdict.timing) else { continue };
                    with_pairs += usize::from(schedule.overlap_count() > 0);
                    for (best, objective) in best.iter_mut().zip([Objective::Makespan, Objective::DeviceSpan])
                    {
                        let value = objective.of(&timing.metrics);
                        *best = Some(best.map_or(value, |best| best.min(value)));
                    }
                }
            }
        }
        for (best, objective) in best.into_iter().zip([Objective::Makespan, Objective::DeviceSpan]) {
            let bound = lower_bound(model, objective);
            let best = best.expect("some order runs");
            assert!(bound.value <= best, "{bound:?} {best} {}", bubbleproof::model::print(model));
            assert_eq!(holds(model, objective, &bound), Ok(()));
            met += usize::from(bound.value == best);
            by_work += usize::from(matches!(bound.reason, BoundReason::Work { .. }));
        }
    }
    assert!(met > 40 && by_work > 100 && with_pairs > 1000, "{met} {by_work} {with_pairs}");
}
