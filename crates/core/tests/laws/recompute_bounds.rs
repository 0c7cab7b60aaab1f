//! Bounds where stages recompute: against every order and every choice of levels of tiny problems, against schedules in memory
//! that they just fit into, and by hand.

use std::collections::BTreeMap;

use bubbleproof::certificate::{
    Bound, BoundReason, Objective, holds, interval_bound, lower_bound, lower_bound_within, steady_bound,
};
use bubbleproof::model::{
    self, Costs, Device, Kind, Links, Memory, Messages, Microbatch, Model, Overlap, PairDurations, Pass,
    Placement, Recompute, RecomputeLevel, Stage, StepEnd, Ticks, Units,
};
use bubbleproof::replay::replay;
use bubbleproof::schedule::Schedule;
use num_rational::Ratio;

use crate::choices::Choices;
use crate::random;
use crate::recompute::{by_hand, for_each_problem};
use crate::step::lower;

/// A problem that recomputes on one device: that has a capacity, and two levels at most.
pub fn tiny(seed: u64) -> Model {
    let row = random(seed, 64);
    let choices = &mut Choices::new(&row);
    let devices = 1 + choices.small::<u32>(2);
    let placement = Placement::linear(devices).expect("a placement");
    let stages = devices as usize;
    let mut list =
        |count: usize, most: usize| (0..count).map(|_| Ticks(1 + choices.small::<i64>(most))).collect();
    let costs = Costs {
        unit: "tick".to_owned(),
        forward: list(stages, 5),
        backward_input: list(stages, 5),
        backward_weight: list(stages, 3),
        communication: list(stages - 1, 14),
    };
    let whole = 4 + choices.small::<i64>(3);
    let retained = choices.small::<i64>(5).min(whole);
    let mut capacity = vec![None; stages];
    capacity[0] = Some(Units(whole + choices.small::<i64>(8)));
    let plain = Model::equal_stages(placement.clone(), 2, [1; 4]).expect("a model");
    let memory = Memory {
        activation: vec![Units(whole); stages],
        retained_for_weight: vec![Units(retained); stages],
        capacity,
        ..plain.memory().clone()
    };
    let model = Model::new("tiny".to_owned(), None, placement, 2, costs, memory).expect("a model");
    let said = (0..=choices.below(2)).map(|_| RecomputeLevel {
        checkpoint: vec![Units(choices.small(usize::try_from(whole).expect("small"))); stages],
        duration: (choices.below(3) > 0).then(|| vec![Ticks(choices.small(12)); stages]),
    });
    let levels = said.collect();
    model.with_recompute(Some(Recompute { levels, fused: choices.below(4) == 0 })).expect("a model")
}

/// Every order of two chains.
fn merged(one: &[Pass], other: &[Pass]) -> Vec<Vec<Pass>> {
    match (one.split_first(), other.split_first()) {
        (None, _) => vec![other.to_vec()],
        (_, None) => vec![one.to_vec()],
        (Some((&first, rest)), Some((&second, others))) => {
            let before = |pass: Pass, orders: Vec<Vec<Pass>>| {
                orders.into_iter().map(move |order| [vec![pass], order].concat())
            };
            before(first, merged(rest, other)).chain(before(second, merged(one, others))).collect()
        }
    }
}

/// All orders with all levels, valid or not.
pub fn for_each_schedule(model: &Model, mut each: impl FnMut(&Schedule)) {
    let choices = model.recompute_levels() + 1;
    let chain = |stage: u32, microbatch: u32, recomputes: bool| -> Vec<Pass> {
        let kinds: &[Kind] =
            if recomputes { &[Kind::F, Kind::R, Kind::I, Kind::W] } else { &[Kind::F, Kind::I, Kind::W] };
        kinds.iter().map(|&kind| Pass::new(Stage(stage), kind, Microbatch(microbatch))).collect()
    };
    let above = if model.devices() == 2 {
        merged(&chain(1, 0, false), &chain(1, 1, false))
    } else {
        vec![Vec::new()]
    };
    for choice in 0..choices * choices {
        let chosen = [choice % choices, choice / choices];
        let levels: BTreeMap<Pass, u32> = (0..2)
            .zip(chosen)
            .filter(|&(_, level)| level > 1)
            .map(|(of, level)| {
                (Pass::new(Stage(0), Kind::R, Microbatch(of)), u32::try_from(level - 1).expect("few"))
            })
            .collect();
        for one in merged(&chain(0, 0, chosen[0] > 0), &chain(0, 1, chosen[1] > 0)) {
            for other in &above {
                let orders = [vec![one.clone()], vec![other.clone(); model.devices() as usize - 1]].concat();
                let schedule = Schedule::new(model.placement().clone(), 2, orders)
                    .and_then(|schedule| schedule.with_levels(levels.clone()))
                    .expect("a schedule");
                each(&schedule);
            }
        }
    }
}

/// The least makespan and device span over all orders and all levels; nothing when none is valid.
fn optimum(model: &Model) -> Option<[Ticks; 2]> {
    let mut least: Option<[Ticks; 2]> = None;
    for_each_schedule(model, |schedule| lower(&mut least, model, schedule));
    least
}

#[test]
fn no_bound_is_above_the_best_of_all_orders_and_levels() {
    let (mut valid, mut by_it) = (0, [0; 2]);
    for seed in 0..400 {
        let model = tiny(seed);
        let Some(optimum) = optimum(&model) else { continue };
        valid += 1;
        for (at, (objective, best)) in
            [Objective::Makespan, Objective::DeviceSpan].into_iter().zip(optimum).enumerate()
        {
            for bound in [lower_bound(&model, objective), lower_bound_within(&model, objective, 0)] {
                assert!(bound.value <= best, "{objective}: {bound:?} but {best}, {}", model::print(&model));
                assert_eq!(holds(&model, objective, &bound), Ok(()));
                // It is named where no other bound is as good.
                by_it[at] += usize::from(matches!(bound.reason, BoundReason::Recomputation { .. }));
            }
        }
    }
    assert!(valid > 300 && by_it.iter().all(|&count| count > 20), "{valid} {by_it:?}");
}

/// The model with pairs that save time, messages that keep links busy, and an end of the step.
fn beyond(model: &Model, choices: &mut Choices) -> Model {
    let mut listed = BTreeMap::new();
    for device in Device::all(model.devices()) {
        let stages = model.placement().stages_of(device);
        for (&forward, &backward) in
            stages.iter().flat_map(|one| stages.iter().map(move |other| (one, other)))
        {
            let [one, other] = [model.duration(forward, Kind::F), model.duration(backward, Kind::B)];
            let least = one.max(other).0;
            let saved = usize::try_from((one + other).0 - least).expect("it is not negative");
            listed.insert((forward, backward), Ticks(least + choices.small::<i64>(saved + 1)));
        }
    }
    let forward_backward = PairDurations::Listed(listed);
    let stages = model.stages() as usize;
    let mut list = |count: usize| -> Vec<Ticks> { (0..count).map(|_| Ticks(choices.small(4))).collect() };
    let step = StepEnd { reduce: list(stages), optimizer: list(stages) };
    let messages = Messages { occupancy: list(stages - 1), links: Links::Pair };
    model
        .with_overlap(Overlap { forward_backward, ..Overlap::default() })
        .and_then(|model| model.with_step(Some(step)))
        .and_then(|model| model.with_messages(Some(messages)))
        .expect("a model")
}

/// Orders of any form, at capacities that they just keep to.
#[test]
fn no_bound_is_above_what_a_schedule_takes_in_its_own_memory() {
    let (mut seen, mut by_it) = (0_u64, 0);
    for_each_problem(1500, |model, schedule| {
        let row = random(seen + 2_000_000, 200);
        let choices = &mut Choices::new(&row);
        let model = &if choices.below(2) == 0 { model.clone() } else { beyond(model, choices) };
        let verdict = replay(model, schedule);
        let Some(timing) = &verdict.timing else { return };
        let capacity = Device::all(model.devices()).zip(&verdict.peak_memory);
        let capacity = capacity.map(|(device, &peak)| Some(peak - model.resident(device)));
        let model = model.with_activation_capacity(capacity.collect()).expect("a model");
        assert!(replay(&model, schedule).is_valid());
        for objective in [Objective::Makespan, Objective::DeviceSpan] {
            let (bound, value) = (lower_bound_within(&model, objective, 0), objective.of(&timing.metrics));
            assert!(bound.value <= value, "{objective}: {bound:?} but {value}, {}", model::print(&model));
            by_it += usize::from(matches!(bound.reason, BoundReason::Recomputation { .. }));
            seen += 1;
        }
    });
    assert!(seen > 1500 && by_it > 0, "{seen} {by_it}");
}

#[test]
fn what_memory_forces_to_recompute_can_be_computed_by_hand() {
    // From the start of F on device 0 to the end of its I: 2 + 4 + 2 + 2 + 4 + 2 = 16 ticks. To keep everything has an area of
    // 64; a checkpoint of 1 for that time, and 3 more for R and I, one of 16 + 9 = 25, for an R of 1 tick.
    let bound = |model: &Model| -> Bound {
        let bound = lower_bound_within(model, Objective::DeviceSpan, 0);
        assert_eq!(holds(model, Objective::DeviceSpan, &bound), Ok(()));
        bound
    };
    let found = bound(&by_hand(&[(1, 1)], 6, 4));
    assert!(found.value >= Ticks(24), "{found:?}");
    // In the long run, a microbatch has 5 ticks of work. With r ticks of R, its area is 64 - 39r, which is 6(5 + r) for r = 34/45. With a
    // capacity of 4, not even R for all is enough: an area of 25 in 6 ticks. A second level that keeps nothing has an area of
    // 20 for an R of 3 ticks: 25 - 5/2 x is 4(6 + x) for x = 2/13.
    for (levels, capacity, pace) in
        [(&[(1, 1)][..], 6, Ratio::new(259, 45)), (&[(1, 1), (0, 3)], 4, Ratio::new(80, 13))]
    {
        let model = by_hand(levels, capacity, 4);
        assert_eq!(interval_bound(&model), pace);
        assert!(steady_bound(&model, 100_000) >= pace);
    }
}
