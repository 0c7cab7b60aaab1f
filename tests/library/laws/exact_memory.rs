//! Memory beyond what F keeps: plans post their receives where replay counts buffers from, and the optimiser keeps to the
//! capacities as replay sees them.

use bubbleproof::catalog;
use bubbleproof::certificate::{self, Objective, Optimality, lower_bound_below, lower_bound_of};
use bubbleproof::comm::Message;
use bubbleproof::lowering::lower;
use bubbleproof::model::{
    Device, Kind, Memory, Microbatch, Model, Pass, Sharding, Stage, Ticks, Transient, Units, Workspace,
};
use bubbleproof::optimize::{OptimizeError, Options, optimize};
use bubbleproof::replay::{receive_buffers, replay};
use bubbleproof::schedule::Schedule;
use proptest::prelude::*;

use super::random::{self, Choices};
use super::{bounds, optimising, overlap};

/// The model with workspaces, buffers, and Is that leave more than F kept.
fn exact(model: &Model, seed: u64) -> Model {
    let mut choices = Choices::new(seed);
    let mut list = |count: u32| -> Vec<Units> {
        (0..count).map(|_| Units(i64::try_from(choices.below(4)).expect("a small number"))).collect()
    };
    let stages = model.stages();
    let forward = list(stages);
    let recompute = if model.memory().checkpoint.is_some() { list(stages) } else { forward.clone() };
    let workspace = Workspace {
        forward,
        backward_input: list(stages),
        backward_weight: list(stages),
        backward: list(stages),
        recompute,
    };
    let receive = list(stages - 1);
    let more = list(stages);
    let retained = model.memory().retained_for_weight.iter().zip(more).map(|(&part, more)| part + more);
    let memory = Memory { retained_for_weight: retained.collect(), ..model.memory().clone() };
    model
        .with_plain_memory(memory)
        .and_then(|model| {
            model.with_transient(Transient { workspace: Some(workspace), receive: Some(receive) })
        })
        .expect("a model")
}

/// The same, with weights that are gathered at once and held while they are used.
pub fn exact_and_sharded(model: &Model, seed: u64) -> Model {
    let mut choices = Choices::new(!seed);
    let stages = model.stages() as usize;
    let mut gathered = || Units(i64::try_from(choices.below(4)).expect("a small number"));
    let sharding = Sharding {
        gather: vec![Ticks::ZERO; stages],
        gathered: (0..stages).map(|_| gathered()).collect(),
        stages: model.stages(),
    };
    exact(model, seed).with_sharding(Some(sharding)).expect("a model")
}

/// What a device needs for one microbatch at a time, with the best choice for each of its stages: all are tried.
fn least(model: &Model, device: Device) -> i64 {
    let mut stages = model.placement().stages_of(device).to_vec();
    stages.sort_unstable();
    let alone =
        model.with_microbatches(1).expect("fewer").with_uniform_activation_capacity(None).expect("none");
    let choices = if model.memory().checkpoint.is_some() { 4 } else { 2 };
    (0..usize::pow(choices, u32::try_from(stages.len()).expect("few")))
        .map(|choice| {
            let order = |of: Device| -> Vec<Pass> {
                let mut stages = model.placement().stages_of(of).to_vec();
                stages.sort_unstable();
                let pass = |stage: Stage, kind| Pass::new(stage, kind, Microbatch(0));
                let forwards = stages.iter().map(|&stage| pass(stage, Kind::F));
                let backwards = stages.iter().enumerate().rev().flat_map(|(at, &stage)| {
                    let mode = if of == device {
                        choice / choices.pow(u32::try_from(at).expect("few")) % choices
                    } else {
                        0
                    };
                    let kinds: &[Kind] = match mode {
                        0 => &[Kind::B],
                        1 => &[Kind::I, Kind::W],
                        2 => &[Kind::R, Kind::B],
                        _ => &[Kind::R, Kind::I, Kind::W],
                    };
                    kinds.iter().map(move |&kind| pass(stage, kind)).collect::<Vec<_>>()
                });
                forwards.chain(backwards).collect()
            };
            let orders = Device::all(model.devices()).map(order).collect();
            let schedule = Schedule::new(model.placement().clone(), 1, orders).expect("a schedule");
            replay(&alone, &schedule).peak_memory[device.index()].0
        })
        .min()
        .expect("a choice")
}

proptest! {
    #![proptest_config(crate::cases(256))]

    #[test]
    fn plans_post_receives_where_their_buffers_are_counted_from(
        (model, schedule) in random::schedules(1), seed: u64,
    ) {
        // With more stages on a device, gathering weights and reducing gradients take turns of their own in a plan.
        if model.stages() != model.devices() {
            return Ok(());
        }
        let schedules = [overlap::overlapped(&schedule, seed), schedule];
        for schedule in schedules {
            let Ok(plan) = lower(&schedule) else { continue };
            for (device, buffers) in Device::all(model.devices()).zip(receive_buffers(&model, &schedule)) {
                let posted = plan.receives(device);
                prop_assert_eq!(posted.len(), buffers.len());
                for buffer in buffers {
                    let message = Message::into_pass(buffer.pass, model.placement()).expect("it receives one");
                    prop_assert_eq!(message.boundary, buffer.boundary);
                    prop_assert_eq!(posted.get(&message), Some(&buffer.posted), "{}", buffer.pass);
                    prop_assert_eq!(schedule.order(device)[buffer.used], buffer.pass);
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(crate::cases(96))]

    /// The capacities are what the schedule just keeps to, as replay sees it.
    #[test]
    fn no_schedule_is_shorter_than_what_some_devices_take_with_all_their_memory(
        (plain, schedule) in random::schedules(1), seed: u64, span: bool, percent in 0..=100_i64,
    ) {
        let schedule = overlap::overlapped(&schedule, seed);
        let objective = if span { Objective::DeviceSpan } else { Objective::Makespan };
        let model = random::with_cheaper_pairs(&exact_and_sharded(&plain, seed), percent);
        let verdict = replay(&model.with_uniform_activation_capacity(None).expect("none"), &schedule);
        let Some(timing) = &verdict.timing else { return Ok(()) };
        let value = objective.of(&timing.metrics);
        let peaks = Device::all(model.devices()).zip(&verdict.peak_memory);
        let capacities = peaks.map(|(device, &peak)| Some(peak - model.resident(device))).collect();
        let model = model.with_activation_capacity(capacities).expect("no peak is below what is resident");
        prop_assert!(replay(&model, &schedule).is_valid());
        for devices in bounds::subsets(&model).into_iter().take(15) {
            if let Some(bound) = lower_bound_of(&model, objective, &devices, 50_000) {
                prop_assert!(bound.value <= value, "{bound:?} but {value} is possible");
            }
        }
        for end in [value, value + Ticks(1)] {
            if let Some(bound) = lower_bound_below(&model, objective, end, 50_000, &mut || false) {
                prop_assert!(bound.value <= value, "{bound:?} but {value} is possible");
            }
        }
    }
}

proptest! {
    #![proptest_config(crate::cases(48))]

    #[test]
    fn the_optimiser_keeps_to_capacities_as_replay_sees_them(
        plain in optimising::limited(),
        seed: u64,
        spare in 0..12_i64,
        span: bool,
    ) {
        let objective = if span { Objective::DeviceSpan } else { Objective::Makespan };
        let model = exact(&plain, seed);
        let capacity = |device| model.capacity(device).map(|capacity| capacity - model.resident(device) + Units(spare));
        let model = model.with_activation_capacity(Device::all(model.devices()).map(capacity).collect()).expect("a model");
        let fits = Device::all(model.devices())
            .all(|device| model.capacity(device).is_none_or(|capacity| least(&model, device) <= capacity.0));
        let options = Options { objective, effort: 20_000, exact_effort: 50_000, ..Options::default() };
        let solution = match optimize(&model, &options, &mut |_| ()) {
            Err(OptimizeError::Infeasible(why)) => {
                prop_assert!(!fits, "{}", why);
                prop_assert!(why.capacity < why.needed && why.needed.0 <= least(&model, why.device));
                return Ok(());
            }
            // Where buffers are posted early, one microbatch at a time may need more than its own passes do.
            Err(OptimizeError::NoneFound(_)) => {
                prop_assert!(model.has_buffers());
                return Ok(());
            }
            solution => solution.expect("nothing else keeps it from a schedule"),
        };
        let verdict = replay(&model, &solution.schedule);
        prop_assert!(verdict.is_valid(), "{:?}", verdict.violations);
        prop_assert!(solution.bound.value <= solution.value());
        let by_search = matches!(solution.optimality, Optimality::Search { .. });
        prop_assert!(!by_search);
        prop_assert!(certificate::check(&solution.schedule, Some(&model)).is_ok());
        // What is found in plain memory is as good as it gets, and taken where it fits.
        let floor = optimize(&model.memory_floor(), &options, &mut |_| ()).expect("more room");
        if replay(&model, &floor.schedule).is_valid() {
            prop_assert!(solution.value() <= floor.value());
        }
        prop_assert!(solution.value() >= floor.bound.value);
        for entry in catalog::entries() {
            let Ok(schedule) = entry.generate(&model) else { continue };
            let verdict = replay(&model, &schedule);
            if verdict.is_valid() {
                let metrics = verdict.timing.expect("it is valid").metrics;
                prop_assert!(solution.value() <= objective.of(&metrics), "{} is better", entry.name);
            }
        }
    }
}
