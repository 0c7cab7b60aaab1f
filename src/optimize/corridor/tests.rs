use super::*;
use crate::certificate::{Objective, lower_bound_of};
use crate::kernel::{IndexedOrders, IndexedProblem, reverse};
use crate::model::{
    Device, Kind, Memory, Model, Overlap, PairDurations, Placement, Ticks, Transient, Units, Workspace,
};
use crate::optimize::exact::{self, Limits};
use crate::optimize::feasible::serial;
use crate::replay::replay;
use crate::schedule::Schedule;

const WIDE: Taste = Taste { width: 100_000, reach: u64::MAX, distance: 0, looks_ahead: false };

fn models() -> Vec<Model> {
    let mut models = Vec::new();
    for (placement, capacity) in
        [(Placement::v(2), 3), (Placement::v(3), 4), (Placement::linear(3), 2), (Placement::looped(2, 2), 3)]
    {
        for costs in [[1, 1, 1, 0], [3, 4, 2, 1], [2, 1, 3, 0]] {
            let placement = placement.clone().expect("a placement");
            let model = Model::equal_stages(placement, 4, costs).expect("a model");
            models.push(model.with_uniform_activation_capacity(Some(Units(capacity))).expect("a capacity"));
        }
    }
    models
}

/// What the search ends with when it goes on from all that it finds, forwards or backwards in time.
fn shortest(model: &Model, taste: Taste, is_reversed: bool) -> i64 {
    let forward = IndexedProblem::split(model, &vec![false; model.stages() as usize]);
    let problem = if is_reversed { forward.reversed() } else { forward.clone() };
    let mut orders = forward.split_orders(&serial(model, false)).expect("Fs, Is and Ws");
    if is_reversed {
        reverse(&mut orders);
    }
    let value = |orders: &IndexedOrders| {
        let mut orders = orders.clone();
        if is_reversed {
            reverse(&mut orders);
        }
        let verdict = replay(model, &forward.schedule(model, &orders));
        assert!(verdict.is_valid(), "{:?}", verdict.violations);
        verdict.timing.expect("it is valid").metrics.makespan.0
    };
    let mut best = value(&orders);
    let moves = Moves::of_problem(&problem, is_reversed);
    let shorter = |orders: &IndexedOrders| {
        let given = moves.sequence_of_orders(orders).expect("they run");
        let shorter = Corridor::new(&moves).shorter(&given, taste, usize::MAX / 2, &Stop::default());
        shorter.map(|sequence| moves.orders(&sequence))
    };
    while let Some(shorter) = shorter(&orders) {
        let reached = value(&shorter);
        assert!(reached < best, "{reached} is not below {best}");
        (orders, best) = (shorter, reached);
    }
    best
}

/// With all states kept, it is an exhaustive search; the engines for whole schedules know nothing of it.
#[test]
fn a_corridor_of_any_width_leads_to_the_optimum() {
    for model in models() {
        let known = serial(&model, false);
        let limits = Limits { stop: Stop::default(), effort: 400_000_000 };
        let exact = exact::solve(&model, Objective::Makespan, &known, &limits).expect("it is small");
        assert!(exact.proved_by.is_some());
        for is_reversed in [false, true] {
            assert_eq!(
                shortest(&model, WIDE, is_reversed),
                exact.value.0,
                "{is_reversed} {}",
                crate::model::print(&model)
            );
        }
    }
}

#[test]
fn a_narrow_corridor_never_leads_astray() {
    for model in models() {
        for is_reversed in [false, true] {
            let optimum = shortest(&model, WIDE, is_reversed);
            for (reach, distance, looks_ahead) in [(0, 0, false), (2, 1, true), (u64::MAX, 5, true)] {
                let taste = Taste { width: 8, reach, distance, looks_ahead };
                assert!(shortest(&model, taste, is_reversed) >= optimum);
            }
        }
    }
}

#[test]
fn it_stops_when_the_work_is_done_or_it_is_time() {
    let model = &models()[0];
    let problem = IndexedProblem::split(model, &vec![false; model.stages() as usize]);
    let orders = problem.split_orders(&serial(model, false)).expect("Fs, Is and Ws");
    let moves = Moves::of_problem(&problem, false);
    let given = moves.sequence_of_orders(&orders).expect("they run");
    let mut corridor = Corridor::new(&moves);
    assert_eq!(corridor.shorter(&given, WIDE, 0, &Stop::default()), None);
    assert!(corridor.placed > 0);
    let over = Stop::after(std::time::Duration::ZERO);
    assert_eq!(corridor.shorter(&given, WIDE, usize::MAX / 2, &over), None);
}

/// Models of which nothing is recomputed, each with a schedule that is valid: with pairs, with workspaces, and with both.
fn models_beyond_passes() -> Vec<(Model, Schedule)> {
    let mut models = Vec::new();
    for (placement, capacity) in
        [(Placement::v(2), 9), (Placement::linear(3), 5), (Placement::looped(2, 2), 8)]
    {
        for costs in [[3, 4, 2, 1], [4, 2, 5, 0]] {
            let placement = placement.clone().expect("a placement");
            let stages = placement.stages() as usize;
            let plain = Model::equal_stages(placement, 3, costs).expect("a model");
            let plain = plain.with_uniform_activation_capacity(Some(Units(capacity))).expect("a capacity");
            let pair = PairDurations::Uniform(Ticks(costs[0].max(costs[1] + costs[2])));
            let input = PairDurations::Uniform(Ticks(costs[0].max(costs[1])));
            let overlap = Overlap { forward_backward: pair, forward_input: input, ..Overlap::default() };
            let all = |units| vec![Units(units); stages];
            let workspace = Workspace {
                forward: all(0),
                backward_input: all(0),
                backward_weight: all(2),
                backward: all(1),
                recompute: all(0),
            };
            let memory = Memory {
                activation: all(2),
                retained_for_weight: [Units(1), Units(3)].into_iter().cycle().take(stages).collect(),
                ..plain.memory().clone()
            };
            let transient = Transient { workspace: Some(workspace), receive: None };
            let paired = plain.with_overlap(overlap.clone()).expect("no shorter than the longer");
            let larger = plain
                .with_plain_memory(Memory { retained_for_weight: all(2), ..memory.clone() })
                .and_then(|model| model.with_transient(transient))
                .and_then(|model| model.with_plain_memory(memory));
            let larger = larger.expect("a model");
            let both = larger.with_overlap(overlap).expect("no shorter than the longer");
            for model in [paired, larger, both] {
                let serial = serial(&model, false);
                models.push((model, serial));
            }
        }
    }
    models
}

/// With all states kept it is an exhaustive search, and so are the states of all devices that bounds are proved with.
#[test]
fn a_corridor_among_all_moves_leads_to_the_optimum() {
    let mut merged = [0, 0];
    for (model, serial) in models_beyond_passes() {
        let moves = Moves::of_model(&model);
        let mut schedule = serial;
        let mut best = None;
        loop {
            let verdict = replay(&model, &schedule);
            assert!(verdict.is_valid(), "{:?}", verdict.violations);
            let given = moves.sequence_of_schedule(&schedule).expect("it is one of these");
            let value = verdict.timing.expect("it is valid").metrics.makespan;
            assert_eq!(given.makespan, value.0);
            assert!(best.is_none_or(|best| value < best));
            best = Some(value);
            let shorter = Corridor::new(&moves).shorter(&given, WIDE, usize::MAX / 2, &Stop::default());
            let Some(shorter) = shorter else { break };
            schedule = moves.schedule(&model, &shorter).expect("it is one of these");
        }
        let devices: Vec<Device> = Device::all(model.devices()).collect();
        let bound = lower_bound_of(&model, Objective::Makespan, &devices, 100_000_000).expect("it is small");
        assert_eq!(best, Some(bound.value), "{}", crate::model::print(&model));
        merged[0] += schedule.overlap_count();
        merged[1] += schedule.orders().iter().flatten().filter(|pass| pass.kind == Kind::B).count();
    }
    assert!(merged.iter().all(|&count| count > 0), "{merged:?}");
}

/// Every buffer and all that is kept is released: a step ends with nothing.
#[test]
fn devices_release_what_they_acquire() {
    let placement = Placement::v(3).expect("a placement");
    let plain = Model::equal_stages(placement, 4, [3, 4, 2, 1]).expect("a model");
    let memory = Memory {
        activation: vec![Units(2); 6],
        retained_for_weight: [1, 2, 3, 4, 5, 6].map(Units).to_vec(),
        ..plain.memory().clone()
    };
    let receive = Some([1, 2, 3, 4, 5].map(Units).to_vec());
    let model = plain
        .with_plain_memory(memory)
        .and_then(|model| model.with_transient(Transient { workspace: None, receive }))
        .and_then(|model| model.with_uniform_activation_capacity(Some(Units(30))))
        .expect("a model");
    let moves = Moves::of_model(&model);
    let mut held = [0; 3];
    for class in &moves.classes {
        held[class.device] += class.held;
        if let Some((to, buffer)) = class.sends {
            held[to] += buffer;
        }
    }
    assert_eq!(held, [0; 3]);
    // Between stages 2 and 3, which are on one device, there is no buffer.
    assert_eq!(moves.classes.iter().filter(|class| class.sends.is_some()).count(), 8);
    let given = moves.sequence_of_schedule(&serial(&model, false)).expect("it runs");
    let taste = Taste { width: 20, reach: u64::MAX, distance: 0, looks_ahead: true };
    let shorter = Corridor::new(&moves).shorter(&given, taste, usize::MAX / 2, &Stop::default());
    let schedule = moves.schedule(&model, &shorter.expect("it is shorter")).expect("a schedule");
    // What fits in the corridor fits up to the order in which receives are posted.
    let verdict = replay(&model, &schedule);
    assert!(verdict.peak_memory.iter().all(|&peak| peak <= Units(30 + 5)), "{:?}", verdict.peak_memory);
    assert!(verdict.timing.expect("it runs").metrics.makespan.0 < given.makespan);
}
