use proptest::prelude::*;

use super::*;
use crate::catalog;
use crate::model::{Costs, Device, Kind, Links, Messages, Model, Placement, StepEnd, Ticks, Units};
use crate::replay::{Rate, replay, task_graph};
use crate::tasks::{Execution, Resource, Task, TaskGraph, TaskGraphBuilder};

/// The steps of a path, its repetitions written out.
fn unrolled(path: &[Step]) -> usize {
    let lengths = sections(path).into_iter().map(|section| match section {
        Section::Once(steps) => steps.len(),
        Section::Cycle { turn, times, .. } => turn.len() * times,
    });
    lengths.sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_critical_path_is_without_gaps_and_as_long_as_the_makespan(
        devices in 1..6_u32,
        microbatches in 1..20_u32,
        times in [0..5_i64, 1..5_i64, 0..5_i64, 0..4_i64],
        chosen in 0..100_usize,
    ) {
        let placement = match chosen % 3 {
            0 => Placement::linear(devices),
            1 => Placement::v(devices),
            _ => Placement::looped(devices, 2),
        };
        let model = Model::equal_stages(placement.expect("a placement"), microbatches, times);
        let model = model.expect("a model");
        let entries = catalog::entries();
        let Ok(schedule) = entries[chosen % entries.len()].generate(&model) else { return Ok(()) };
        let timing = replay(&model, &schedule).timing.expect("the catalogue is valid");
        let path = critical_path(&model, &schedule, &timing);

        prop_assert_eq!(path[0].start, Ticks(0));
        prop_assert_eq!(path[0].waits, Waits::Nothing);
        prop_assert_eq!(path[path.len() - 1].end, timing.metrics.makespan);
        for (before, step) in path.iter().zip(&path[1..]) {
            prop_assert_ne!(step.waits, Waits::Nothing);
            prop_assert_eq!(before.end + step.waits.ticks(), step.start);
        }
        prop_assert_eq!(unrolled(&path), path.len());
    }
}

#[test]
fn a_forward_that_waits_for_its_memory_says_so() {
    let model = Model::equal_stages(Placement::linear(1).expect("a placement"), 3, [1, 1, 1, 0]);
    let model =
        model.and_then(|model| model.with_uniform_activation_capacity(Some(Units(1)))).expect("a model");
    let schedule = catalog::find("1f1b").expect("it is there").generate(&model).expect("it fits");
    let timing = replay(&model, &schedule).timing.expect("it is valid");
    let path = critical_path(&model, &schedule, &timing);
    let waits: Vec<Waits> =
        path.iter().filter(|step| step.pass.kind == Kind::F).map(|step| step.waits).collect();
    assert_eq!(waits, [Waits::Nothing, Waits::Memory, Waits::Memory]);
    assert!(matches!(
        sections(&path).as_slice(),
        [Section::Cycle { turn, times: 3, ticks: Ticks(3), microbatches: 1 }] if turn.len() == 2
    ));
}

#[test]
fn overlapped_pairs_are_on_the_critical_path_as_a_whole() {
    for (name, placement) in [("dualpipe-v", Placement::v(4)), ("dualpipe", Placement::bidirectional(4))] {
        for times in [[3, 4, 2, 0], [1, 1, 1, 0], [18_522, 18_086, 9_337, 601]] {
            let placement = placement.clone().expect("a placement");
            let model = Model::equal_stages(placement, 10, times).expect("a model");
            let schedule = catalog::find(name).expect("a name").generate(&model).expect("a schedule");
            assert!(schedule.overlap_count() > 0);
            let timing = replay(&model, &schedule).timing.expect("it runs");
            let path = critical_path(&model, &schedule, &timing);
            assert_eq!(path.first().map(|step| step.start), Some(Ticks::ZERO), "{name} {times:?}");
            assert_eq!(path.last().map(|step| step.end), Some(timing.metrics.makespan));
            for pair in path.windows(2) {
                assert_ne!(pair[1].waits, Waits::Nothing, "only the first waits for nothing");
                let start = pair[0].end + pair[1].waits.ticks();
                assert_eq!(start, pair[1].start, "{name}: {} {}", pair[0].pass, pair[1].pass);
            }
        }
    }
}

/// The makespan if a task starts so much later than it could: it then also waits for a task of its own.
fn makespan_with_a_late(task: Task, by: i64, graph: &TaskGraph, execution: &Execution) -> Ticks {
    let mut late = TaskGraphBuilder::new();
    let delay = Task(u32::try_from(graph.len()).expect("it is small"));
    for resource in graph.resources() {
        let mut order = late.resource();
        for other in graph.order(resource).map(Task) {
            let mut copy = order.task(graph.duration(other));
            graph.needs(other).iter().for_each(|need| copy.need(need.task, need.latency));
            if other == task {
                copy.need(delay, Ticks::ZERO);
            }
        }
    }
    late.resource().task(execution.start(task) + Ticks(by));
    let late = late.finish().expect("it is small");
    let execution = late.execute().expect("nothing waits for what waits for it");
    (0..delay.0).map(|task| execution.end(&late, Task(task))).max().expect("a task")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn path_and_slack_know_messages_and_the_end_of_the_step(
        devices in 2..5_u32,
        microbatches in 1..9_u32,
        times in [1..5_i64, 1..5_i64, 1..5_i64, 0..4_i64],
        occupancies in prop::collection::vec(0..9_i64, 9),
        ends in prop::option::of(prop::collection::vec(0..12_i64, 20)),
        chosen in 0..100_usize,
    ) {
        let placement = [Placement::linear(devices), Placement::v(devices), Placement::looped(devices, 2)];
        let placement = placement[chosen % 3].clone().expect("a placement");
        let plain = Model::equal_stages(placement, microbatches, times).expect("a model");
        let stages = plain.stages() as usize;
        let occupancy = occupancies.into_iter().take(stages - 1).map(Ticks).collect();
        let links = match chosen % 2 {
            0 => Links::Pair,
            _ => Links::Nodes(vec![vec![Device(0)], Device::all(devices).skip(1).collect()]),
        };
        let step = ends.map(|ends| StepEnd {
            reduce: ends.iter().take(stages).copied().map(Ticks).collect(),
            optimizer: ends.iter().rev().take(stages).copied().map(Ticks).collect(),
        });
        let model = plain.with_messages(Some(Messages { occupancy, links }));
        let model = model.and_then(|model| model.with_step(step)).expect("a model");
        let entries = catalog::entries();
        let Ok(schedule) = entries[chosen % entries.len()].generate(&model) else { return Ok(()) };
        let timing = replay(&model, &schedule).timing.expect("the catalogue is valid");

        let path = critical_path(&model, &schedule, &timing);
        prop_assert_eq!((path[0].start, path[0].waits), (Ticks(0), Waits::Nothing));
        let last = path[path.len() - 1].end;
        if model.step().is_none() {
            prop_assert_eq!(last, timing.metrics.makespan);
        } else {
            prop_assert!(last <= timing.metrics.makespan);
        }
        for (before, step) in path.iter().zip(&path[1..]) {
            prop_assert_eq!(before.end + step.waits.ticks(), step.start, "{:?}", step);
        }

        let slack = slack(&model, &schedule, &timing);
        for step in &path {
            let at = schedule.order(step.device).iter().position(|&pass| pass == step.pass);
            let of_pass = slack[step.device.index()][at.expect("it is there")];
            prop_assert_eq!(of_pass, Ticks::ZERO, "{} is on the critical path", step.pass);
        }
        let graph = task_graph(&model, &schedule).expect("it is valid");
        let execution = graph.execute().expect("it is valid");
        for (device, slack) in Device::all(devices).zip(&slack) {
            let first = graph.order(Resource(device.0)).start;
            // The second pass of a pair has no task that it could be late with.
            let passes = (0..).zip(slack).filter(|&(at, _)| {
                at == 0 || schedule.overlaps(device).binary_search(&(at - 1)).is_err()
            });
            for (at, slack) in passes {
                let task = Task(first + u32::try_from(at).expect("it is small"));
                let late = |by| makespan_with_a_late(task, by, &graph, &execution);
                prop_assert_eq!(late(slack.0), timing.metrics.makespan);
                prop_assert_eq!(late(slack.0 + 1), timing.metrics.makespan + Ticks(1));
            }
        }
    }
}

#[test]
fn messages_of_overlapped_pairs_wait_for_the_end_of_the_pair() {
    for (name, placement) in [("dualpipe-v", Placement::v(3)), ("dualpipe", Placement::bidirectional(4))] {
        let model = Model::equal_stages(placement.expect("a placement"), 8, [10, 12, 8, 1]).expect("a model");
        for occupancy in [2, 9, 30] {
            let occupancy = vec![Ticks(occupancy); model.stages() as usize - 1];
            let messages = Messages { occupancy, links: Links::Pair };
            let model = model.with_messages(Some(messages)).expect("messages");
            let schedule = catalog::find(name).expect("a name").generate(&model).expect("a schedule");
            let timing = replay(&model, &schedule).timing.expect("it runs");
            let path = critical_path(&model, &schedule, &timing);
            assert_eq!(path.first().map(|step| step.start), Some(Ticks::ZERO), "{name}");
            assert_eq!(path.last().map(|step| step.end), Some(timing.metrics.makespan));
            for pair in path.windows(2) {
                let start = pair[0].end + pair[1].waits.ticks();
                assert_eq!(start, pair[1].start, "{name}: {} {}", pair[0].pass, pair[1].pass);
            }
            let slack = slack(&model, &schedule, &timing);
            for step in path {
                let at = schedule.order(step.device).iter().position(|&pass| pass == step.pass);
                assert_eq!(
                    slack[step.device.index()][at.expect("it is there")],
                    Ticks::ZERO,
                    "{}",
                    step.pass
                );
            }
        }
    }
}

#[test]
fn messages_on_a_link_are_on_the_critical_path() {
    // The second activation waits for the first one, which takes 5 ticks: 0F0, two messages, 1F1.
    let model = Model::equal_stages(Placement::linear(2).expect("a placement"), 2, [1, 1, 1, 2]);
    let messages = Messages { occupancy: vec![Ticks(5)], links: Links::Pair };
    let model = model.and_then(|model| model.with_messages(Some(messages))).expect("a model");
    let schedule = catalog::find("gpipe").expect("a name").generate(&model).expect("a schedule");
    let timing = replay(&model, &schedule).timing.expect("it runs");
    let path = critical_path(&model, &schedule, &timing);
    let shown: Vec<String> =
        path.iter().map(|step| format!("{}@{} {:?}", step.pass, step.start, step.waits)).collect();
    assert_eq!(
        shown[..3],
        ["0F0@0 Nothing", "1F1@13 Link { messages: 2, ticks: Ticks(12) }", "1B0@14 Device",]
    );
}

#[test]
fn slack_is_what_a_pass_can_be_late() {
    // 0F0 1F0 1B0 0B0 is the critical path; the forward of the second microbatch has time until 1B0 has ended.
    let model =
        Model::equal_stages(Placement::linear(2).expect("a placement"), 2, [1, 1, 1, 0]).expect("a model");
    let schedule = catalog::find("1f1b").expect("a name").generate(&model).expect("a schedule");
    let timing = replay(&model, &schedule).timing.expect("it runs");
    let slack = slack(&model, &schedule, &timing);
    let shown = |device: u32| -> Vec<String> {
        let passes = spans(&model, &schedule, &timing, Device(device)).zip(&slack[device as usize]);
        passes.map(|(span, late)| format!("{}@{}+{late}", span.pass, span.start)).collect()
    };
    assert_eq!(shown(0), ["0F0@0+0", "0F1@1+2", "0B0@4+1", "0B1@7+0"]);
    assert_eq!(shown(1), ["1F0@1+0", "1B0@2+0", "1F1@4+0", "1B1@5+0"]);
}

#[test]
fn lifespans_reach_from_forward_to_the_last_pass() {
    let model =
        Model::equal_stages(Placement::linear(2).expect("a placement"), 3, [1, 1, 1, 0]).expect("a model");
    let schedule = catalog::find("gpipe").expect("a name").generate(&model).expect("a schedule");
    let timing = replay(&model, &schedule).timing.expect("it runs");
    // Three forwards, then three backwards of two ticks each on the second device.
    assert_eq!(longest_lifespans(&model, &schedule, &timing), [Ticks(10), Ticks(7)]);
}

#[test]
fn measured_passes_amount_to_what_replay_says_of_computed_ones() {
    for (name, placement) in [("1f1b", Placement::linear(3)), ("dualpipe", Placement::bidirectional(4))] {
        let model = Model::equal_stages(placement.expect("a placement"), 8, [3, 4, 2, 1]).expect("a model");
        let schedule = catalog::find(name).expect("a name").generate(&model).expect("a schedule");
        let timing = replay(&model, &schedule).timing.expect("it runs");
        let rows: Vec<Vec<Span>> = Device::all(schedule.devices())
            .map(|device| spans(&model, &schedule, &timing, device).collect())
            .collect();
        assert_eq!(measured_metrics(&rows), timing.metrics, "{name}");
        let later = |span: &Span| Span { start: span.start + Ticks(7), end: span.end + Ticks(7), ..*span };
        let later: Vec<Vec<Span>> = rows.iter().map(|row| row.iter().map(later).collect()).collect();
        assert_eq!(measured_metrics(&later), timing.metrics, "{name}, from another start");
    }
    assert_eq!(bubble_rate(&[]), Rate::from_integer(0));
    assert_eq!(Utilisation::of([]).idle_share(Ticks::ZERO), Rate::from_integer(0));
}

#[test]
fn the_longest_span_at_some_times_is_no_device_span() {
    // Device 1 begins at 10 and could wait: the device span is that of an execution in which it does.
    let costs = Costs {
        unit: "tick".to_owned(),
        forward: [10, 1, 2].map(Ticks).to_vec(),
        backward_input: [1, 1, 2].map(Ticks).to_vec(),
        backward_weight: [1, 30, 1].map(Ticks).to_vec(),
        communication: [0, 0].map(Ticks).to_vec(),
    };
    let placement = Placement::linear(3).expect("a placement");
    let unit = Model::unit(placement.clone(), 2).expect("a model");
    let model =
        Model::new("later".to_owned(), None, placement, 2, costs, unit.memory().clone()).expect("a model");
    let schedule = catalog::find("zb-h1").expect("a name").generate(&model).expect("a schedule");
    let timing = replay(&model, &schedule).timing.expect("it runs");
    let rows = || Device::all(3).map(|device| spans(&model, &schedule, &timing, device));
    let longest = longest_span(rows());
    assert!(longest > timing.metrics.device_span, "{longest}, {:?}", timing.metrics);
    let rows: Vec<Vec<Span>> = rows().map(Iterator::collect).collect();
    let metrics = measured_metrics(&rows);
    assert_eq!((metrics.device_span, metrics.makespan), (longest, timing.metrics.makespan));
    assert!(metrics.bubble_rate > timing.metrics.bubble_rate);
    assert_eq!(bubble_rate(&rows), metrics.bubble_rate);
    assert_eq!(longest_span([[]; 0]), Ticks::ZERO);
}
