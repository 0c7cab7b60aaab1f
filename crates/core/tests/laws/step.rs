//! The end of the step: replay against times that follow from those of the passes, and bounds against every order of tiny
//! problems.

use std::collections::BTreeMap;

use bubbleproof::certificate::{
    BoundReason, Objective, critical_path, holds, interval_bound, lower_bound, lower_bound_of,
    lower_bound_within, steady_bound,
};
use bubbleproof::model::{
    Costs, Device, Kind, Microbatch, Model, Pass, Placement, Stage, StepEnd, Ticks, Units,
};
use bubbleproof::replay::replay;
use bubbleproof::schedule::Schedule;
use proptest::prelude::*;

use crate::choices::Choices;
use crate::{beyond, naive, overlap, problems, random};

/// Before everything that a schedule waits for.
const LONG_AGO: i64 = i64::MIN / 2;

/// What happens on a device after the ends of its passes: by stage, the ends of reduction and optimiser step. A stage
/// without passes may begin at `earliest`.
fn ends(
    model: &Model,
    device: Device,
    order: &[Pass],
    end: &dyn Fn(Pass) -> i64,
    earliest: i64,
) -> BTreeMap<Stage, [i64; 2]> {
    let step = model.step().expect("a step");
    let mut stages: Vec<(Option<usize>, Stage)> = Vec::new();
    for &stage in model.placement().stages_of(device) {
        let last = order
            .iter()
            .rposition(|pass| pass.stage == stage && (pass.kind == Kind::W || pass.kind == Kind::B));
        stages.push((last, stage));
    }
    stages.sort_unstable();
    let mut stream = earliest;
    let mut free = order.last().map_or(earliest, |&pass| end(pass));
    let mut found = BTreeMap::new();
    for (last, stage) in stages {
        stream = last.map_or(stream, |last| stream.max(end(order[last]))) + step.reduce[stage.index()].0;
        free = free.max(stream) + step.optimizer[stage.index()].0;
        found.insert(stage, [stream, free]);
    }
    found
}

/// Whether every device can end so long after it begins: starts are raised until nothing is too early.
fn runs_within(model: &Model, schedule: &Schedule, span: i64) -> bool {
    let all: Vec<Pass> = schedule.orders().iter().flatten().copied().collect();
    let mut starts: BTreeMap<Pass, i64> = all.iter().map(|&pass| (pass, 0)).collect();
    for _ in 0..=all.len() {
        let before = starts.clone();
        for (device, order) in Device::all(model.devices()).zip(schedule.orders()) {
            let mut free = 0;
            for &pass in order {
                let mut start = starts[&pass].max(free);
                for need in naive::needs(pass, model, &all) {
                    let end = starts[&need] + naive::duration(model, need);
                    start = start.max(end + naive::latency(model, need, pass));
                }
                starts.insert(pass, start);
                free = start + naive::duration(model, pass);
            }
            let end = |pass| starts[&pass] + naive::duration(model, pass);
            let last = ends(model, device, order, &end, LONG_AGO).into_values().map(|ends| ends[1]).max();
            let begin = last.expect("a device holds a stage") - span;
            if let Some(first) = order.first() {
                starts.insert(*first, starts[first].max(begin));
            }
        }
        if starts == before {
            return true;
        }
    }
    false
}

fn device_span(model: &Model, schedule: &Schedule) -> i64 {
    let step = model.step().expect("a step");
    let costs = model.costs();
    let of_passes: i64 = schedule.orders().iter().flatten().map(|&pass| naive::duration(model, pass)).sum();
    let latencies: i64 = costs.communication.iter().map(|latency| latency.0).sum();
    let of_step: i64 = step.reduce.iter().chain(&step.optimizer).map(|ticks| ticks.0).sum();
    let enough = of_passes + of_step + 2 * i64::from(model.microbatches()) * latencies;
    assert!(runs_within(model, schedule, enough));
    (0..=enough).find(|&span| runs_within(model, schedule, span)).expect("enough is enough")
}

#[test]
fn the_step_ends_as_the_times_of_the_passes_say() {
    let (mut seen, mut several, mut beside) = (0, 0, 0);
    for seed in 0..600 {
        let row = random(seed, 24 + seed % 120);
        let choices = &mut Choices::new(&row);
        let Some(plain) = problems::model(choices, 8) else { continue };
        let schedule = problems::schedule(&plain, choices);
        let step = beyond::step(&plain, &mut Choices::new(&random(seed + 1_000_000, 64)));
        let model = plain.with_step(Some(step)).expect("a step");
        let [verdict, without] = [&model, &plain].map(|model| replay(model, &schedule));
        assert_eq!((&verdict.violations, &verdict.peak_memory), (&without.violations, &without.peak_memory));
        let (Some(timing), Some(without)) = (verdict.timing, without.timing) else { continue };
        assert_eq!(timing.starts, without.starts);
        assert!(without.step.is_empty());
        let starts: BTreeMap<Pass, i64> = schedule
            .orders()
            .iter()
            .flatten()
            .copied()
            .zip(timing.starts.iter().flatten().map(|start| start.0))
            .collect();
        let end = |pass| starts[&pass] + naive::duration(&model, pass);
        let mut makespan = without.metrics.makespan.0;
        let mut busy = without.metrics.busy.0;
        for (device, order) in Device::all(model.devices()).zip(schedule.orders()) {
            let found = ends(&model, device, order, &end, 0);
            several += usize::from(found.len() > 1);
            for (stage, [reduced, ended]) in found {
                let step = model.step().expect("a step");
                let times = &timing.step[stage.index()];
                let [reduce, optimizer] = [&step.reduce, &step.optimizer].map(|list| list[stage.index()].0);
                assert_eq!(
                    (times.reduce.start.0, times.reduce.end.0),
                    (reduced - reduce, reduced),
                    "{stage}"
                );
                let expected = (ended - optimizer, ended);
                assert_eq!((times.optimizer.start.0, times.optimizer.end.0), expected, "{stage}");
                beside += usize::from(reduced - reduce < order.last().map_or(0, |&pass| end(pass)));
                makespan = makespan.max(ended);
                busy += optimizer;
            }
        }
        assert_eq!(timing.metrics.makespan.0, makespan);
        assert_eq!(timing.metrics.busy.0, busy);
        assert_eq!(
            timing.metrics.busy - timing.metrics.useful,
            without.metrics.busy - without.metrics.useful
        );
        assert_eq!(timing.metrics.device_span.0, device_span(&model, &schedule));
        seen += 1;
    }
    assert!(seen > 100 && several > 20 && beside > 20, "{seen}, {several}, {beside}");
}

/// Two devices, linear with two microbatches, or in a V with one.
pub fn tiny(seed: u64) -> Model {
    let row = random(seed, 64);
    let choices = &mut Choices::new(&row);
    let (placement, microbatches) =
        if choices.below(2) == 0 { (Placement::linear(2), 2) } else { (Placement::v(2), 1) };
    let placement = placement.expect("a placement");
    let stages = placement.stages() as usize;
    let mut list = |count: usize| (0..count).map(|_| Ticks(1 + choices.small::<i64>(6))).collect();
    let costs = Costs {
        unit: "tick".to_owned(),
        forward: list(stages),
        backward_input: list(stages),
        backward_weight: list(stages),
        communication: list(stages - 1),
    };
    // Without recomputation, of which the orders below know nothing.
    let model =
        Model::equal_stages(placement, microbatches, [1; 4]).and_then(|model| model.with_costs(costs));
    let capacity = [None, Some(Units(2)), Some(Units(1))][choices.below(3)];
    let model = model.and_then(|model| model.with_uniform_activation_capacity(capacity)).expect("a model");
    let step = beyond::step(&model, choices);
    model.with_step(Some(step)).expect("a step")
}

/// Every order of a device's passes in which no pass comes before one of the same stage and microbatch that it needs.
pub fn orders(model: &Model, device: Device) -> Vec<Vec<Pass>> {
    fn extend(left: &mut Vec<Pass>, order: &mut Vec<Pass>, found: &mut Vec<Vec<Pass>>) {
        if left.is_empty() {
            found.push(order.clone());
        }
        for at in 0..left.len() {
            let before = match left[at].kind {
                Kind::I => Some(Kind::F),
                Kind::W => Some(Kind::I),
                _ => None,
            };
            if before.is_some_and(|kind| left.contains(&left[at].with_kind(kind))) {
                continue;
            }
            order.push(left.remove(at));
            extend(left, order, found);
            left.insert(at, order.pop().expect("it was pushed"));
        }
    }
    let mut passes = Vec::new();
    for &stage in model.placement().stages_of(device) {
        for microbatch in Microbatch::all(model.microbatches()) {
            passes.extend([Kind::F, Kind::I, Kind::W].map(|kind| Pass::new(stage, kind, microbatch)));
        }
    }
    let mut found = Vec::new();
    extend(&mut passes, &mut Vec::new(), &mut found);
    found
}

/// Lowers the least makespan and device span to those of a schedule, if it is valid.
pub fn lower(least: &mut Option<[Ticks; 2]>, model: &Model, schedule: &Schedule) {
    let verdict = replay(model, schedule);
    if verdict.is_valid() {
        let metrics = verdict.timing.expect("it is valid").metrics;
        let [makespan, span] = least.unwrap_or([Ticks(i64::MAX); 2]);
        *least = Some([makespan.min(metrics.makespan), span.min(metrics.device_span)]);
    }
}

/// The least makespan and device span over all orders; nothing when none is valid.
fn optimum(model: &Model) -> Option<[Ticks; 2]> {
    let mut least: Option<[Ticks; 2]> = None;
    for one in &orders(model, Device(0)) {
        for other in &orders(model, Device(1)) {
            let orders = vec![one.clone(), other.clone()];
            let schedule = Schedule::new(model.placement().clone(), model.microbatches(), orders);
            lower(&mut least, model, &schedule.expect("two orders"));
        }
    }
    least
}

/// Device 0 has stages 0 and 3, and the reduction of stage 0 takes long. The last pass of the device may be one of stage 3, after
/// which little follows; the longest chain ends with the W of stage 0.
#[test]
fn what_follows_a_chain_is_the_tail_of_the_stage_in_which_it_ends() {
    let unit = Model::equal_stages(Placement::v(2).expect("a placement"), 1, [1, 1, 1, 0]).expect("a model");
    let step =
        StepEnd { reduce: [100, 0, 0, 1].map(Ticks).to_vec(), optimizer: [2, 1, 1, 2].map(Ticks).to_vec() };
    let model = unit.with_step(Some(step)).expect("a step");
    // Four Fs, four Is, the W of stage 0, its reduction and its optimiser step.
    let all = Ticks(4 + 4 + 1 + 100 + 2);
    assert_eq!(optimum(&model), Some([all; 2]));
    assert_eq!(critical_path(&model), all);
    assert_eq!(lower_bound(&model, Objective::Makespan).value, all);
    // Its own work on device 0 until the last F, and what follows that; the passes of others between its Fs are not counted.
    assert_eq!(lower_bound(&model, Objective::DeviceSpan).value, all - Ticks(2));
}

/// All Ws take the same time and free the same memory, so states count those of a device together, though other times follow them.
#[test]
fn states_count_equal_weights_together_whatever_follows_them() {
    let unit = Model::equal_stages(Placement::v(2).expect("a placement"), 1, [1, 1, 1, 0]).expect("a model");
    for seed in 0..40 {
        let row = random(seed, 64);
        let step = beyond::step(&unit, &mut Choices::new(&row));
        let model = unit.with_step(Some(step)).expect("a step");
        let best = optimum(&model).expect("memory is enough");
        for (objective, best) in [Objective::Makespan, Objective::DeviceSpan].into_iter().zip(best) {
            for devices in [&[Device(0)][..], &[Device(1)], &[Device(0), Device(1)]] {
                let bound = lower_bound_of(&model, objective, devices, 1_000_000).expect("it is small");
                assert!(bound.value <= best, "{objective}: {bound:?} but {best}, {:?}", model.step());
            }
        }
    }
}

/// What follows the last pass of a device at the least, once more.
fn tail(model: &Model, device: Device) -> Ticks {
    let step = model.step().expect("a step");
    let stages = model.placement().stages_of(device);
    let all: Ticks = stages.iter().map(|stage| step.optimizer[stage.index()]).sum();
    let one = stages.iter().map(|stage| step.reduce[stage.index()] + step.optimizer[stage.index()]).min();
    all.max(one.expect("a device holds a stage"))
}

#[test]
fn no_bound_is_above_the_best_of_all_orders_and_tails_are_reached() {
    let objectives = [Objective::Makespan, Objective::DeviceSpan];
    let mut reached: BTreeMap<(&str, String), usize> = BTreeMap::new();
    let mut valid = 0;
    for seed in 0..120 {
        let model = tiny(seed);
        let Some(optimum) = optimum(&model) else { continue };
        valid += 1;
        let plain = model.with_step(None).expect("a model");
        let least_tail = Device::all(2).map(|device| tail(&model, device)).min().expect("two devices");
        for (objective, best) in objectives.into_iter().zip(optimum) {
            let mut bounds = vec![lower_bound(&model, objective), lower_bound_within(&model, objective, 0)];
            for devices in [&[Device(0)][..], &[Device(1)], &[Device(0), Device(1)]] {
                let of = |model| lower_bound_of(model, objective, devices, 1_000_000).expect("it is small");
                let bound = of(&model);
                assert!(bound.value >= of(&plain).value + least_tail, "{bound:?}");
                let is_whole = devices.len() == 2 && model.placement().stages() == 2;
                if is_whole && objective == Objective::Makespan {
                    assert_eq!(
                        bound.value, best,
                        "with one stage on each device, the tail is all that follows"
                    );
                }
                bounds.push(bound);
            }
            for bound in &bounds {
                assert!(bound.value <= best, "{objective}: {bound:?} but {best}, {model:?}");
                assert_eq!(holds(&model, objective, bound), Ok(()));
            }
            // No claim without the step is taken for one with it.
            let without = lower_bound(&plain, objective);
            assert!(bounds[0].value >= without.value + least_tail);
            if least_tail > Ticks::ZERO {
                assert!(holds(&model, objective, &without).is_err(), "{without:?}");
            }
            if bounds[0].value == best && least_tail > Ticks::ZERO {
                let reason = serde_json::to_value(&bounds[0].reason).expect("a reason is JSON");
                let name = reason.as_object().and_then(|reason| reason.keys().next().cloned());
                let shape = if model.stages() == 2 { "linear" } else { "v" };
                let key = (shape, format!("{objective}: {}", name.unwrap_or_else(|| "alone".to_owned())));
                *reached.entry(key).or_default() += 1;
            }
        }
    }
    assert!(valid > 60, "{valid}");
    for shape in ["linear", "v"] {
        for objective in objectives {
            let is_reached =
                |key: &&(&str, String)| key.0 == shape && key.1.starts_with(&objective.to_string());
            assert!(reached.keys().any(|key| is_reached(&key)), "{shape}, {objective}: {reached:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn no_bound_is_above_what_pairs_can_reach_with_a_step(model in overlap::models(), row in prop::collection::vec(any::<u8>(), 8)) {
        let step = beyond::step(&model, &mut Choices::new(&row));
        let model = model.with_step(Some(step)).expect("a step");
        let (makespan, span, _) = overlap::optimum(&model);
        for (objective, best) in [(Objective::Makespan, makespan), (Objective::DeviceSpan, span)] {
            let bound = lower_bound(&model, objective);
            prop_assert!(bound.value <= best, "{:?} but {}", bound, best);
            prop_assert_eq!(holds(&model, objective, &bound), Ok(()));
        }
    }
}

#[test]
fn the_step_changes_no_bound_on_the_long_run() {
    for seed in 0..40 {
        let model = tiny(seed).with_uniform_activation_capacity(Some(Units(3))).expect("a model");
        let plain = model.with_step(None).expect("a model");
        assert_eq!(interval_bound(&model), interval_bound(&plain));
        assert_eq!(steady_bound(&model, 100_000), steady_bound(&plain, 100_000));
    }
}

/// Two devices, two microbatches, unit times: each device works for 6 ticks.
#[test]
fn a_bound_with_a_step_can_be_computed_by_hand() {
    let unit = Model::equal_stages(Placement::linear(2).expect("a placement"), 2, [1, 1, 1, 0]);
    let unit = unit.expect("a model");
    let with = |reduce: [i64; 2], optimizer: [i64; 2]| {
        let [reduce, optimizer] = [reduce, optimizer].map(|list| list.map(Ticks).to_vec());
        unit.with_step(Some(StepEnd { reduce, optimizer })).expect("a step")
    };
    assert_eq!((critical_path(&unit), lower_bound(&unit, Objective::Makespan).value), (Ticks(5), Ticks(7)));
    // Device 1 begins at 1 and works for 6, then its step takes 3 + 4.
    let late = with([0, 3], [0, 4]);
    let bound = lower_bound(&late, Objective::Makespan);
    assert_eq!(bound.value, Ticks(1 + 6 + 7));
    let BoundReason::Windows { device: Device(1), last, .. } = bound.reason else { panic!("{bound:?}") };
    assert_eq!((last.length, last.work), (Ticks(7), Ticks(0)));
    assert_eq!(lower_bound(&late, Objective::DeviceSpan).value, Ticks(6 + 7));
    // F, F, I, W of one microbatch on device 1, and its step; or F, F, I, I, W and the step of device 0.
    assert_eq!((critical_path(&late), critical_path(&with([3, 0], [4, 0]))), (Ticks(4 + 7), Ticks(5 + 7)));
    assert_eq!(optimum(&late), Some([Ticks(14), Ticks(13)]));
}
