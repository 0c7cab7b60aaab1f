use proptest::prelude::*;

use super::*;
use crate::catalog;
use crate::model::{Costs, Device, Kind, Model, Placement, Ticks, Units};
use crate::replay::{Rate, replay};

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
            let latency = match step.waits {
                Waits::Dependency { latency } => latency,
                _ => Ticks::ZERO,
            };
            prop_assert_ne!(step.waits, Waits::Nothing);
            prop_assert_eq!(before.end + latency, step.start);
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
                let latency = match pair[1].waits {
                    Waits::Dependency { latency } => latency,
                    Waits::Device | Waits::Memory => Ticks::ZERO,
                    Waits::Nothing => panic!("only the first waits for nothing"),
                };
                assert_eq!(pair[0].end + latency, pair[1].start, "{name}: {} {}", pair[0].pass, pair[1].pass);
            }
        }
    }
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
