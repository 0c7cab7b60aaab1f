//! The end of the step: reductions and optimiser steps.

use std::ops::Range;

use num_rational::Ratio;

use super::*;
use crate::model::StepEnd;
use crate::tasks::Resource;

fn with_step(model: &Model, reduce: &[i64], optimizer: &[i64]) -> Model {
    let list = |values: &[i64]| values.iter().copied().map(Ticks).collect();
    model.with_step(Some(StepEnd { reduce: list(reduce), optimizer: list(optimizer) })).expect("a step")
}

/// By stage, when its gradients are reduced and when its optimiser step runs.
fn ends(timing: &Timing) -> Vec<[Range<i64>; 2]> {
    let plain = |range: &Range<Ticks>| range.start.0..range.end.0;
    timing.step.iter().map(|step| [plain(&step.reduce), plain(&step.optimizer)]).collect()
}

/// Two devices in a V. Device 0 ends with its Ws of stages 0 and 3, in the order that is asked for.
fn v(first: &str) -> Schedule {
    schedule(&[&[0, 3], &[1, 2]], 1, &[first, "1F0 2F0 2I0 1I0 2W0 1W0"])
}

#[test]
fn gradients_are_reduced_in_the_order_of_the_last_ws_beside_the_passes() {
    let schedule = v("0F0 3F0 3I0 0I0 0W0 3W0");
    let model = with_step(&unit(&schedule), &[4, 5, 3, 2], &[1, 2, 3, 4]);
    let timing = replay(&model, &schedule).timing.expect("it is valid");
    assert_eq!(timing.starts, ticks(&[&[0, 3, 4, 7, 8, 9], &[1, 2, 5, 6, 7, 8]]));
    // 0W ends at 9, 3W at 10. 2W ends at 8, so its reduction runs beside 1W, which ends at 9.
    assert_eq!(ends(&timing), [[9..13, 13..14], [11..16, 16..18], [8..11, 11..14], [13..15, 15..19]]);
    let expected = Metrics {
        makespan: Ticks(19),
        device_span: Ticks(19),
        busy: Ticks(12 + 10),
        useful: Ticks(12 + 10),
        bubble_rate: Ratio::new(16, 38),
        idle_rate: Ratio::new(16, 38),
        useful_rate: Ratio::new(22, 38),
    };
    assert_eq!(timing.metrics, expected);
}

#[test]
fn another_order_of_the_last_ws_is_another_order_of_reductions_and_optimiser_steps() {
    let schedule = v("0F0 3F0 3I0 3W0 0I0 0W0");
    let model = with_step(&unit(&schedule), &[4, 5, 3, 2], &[1, 2, 3, 4]);
    let timing = replay(&model, &schedule).timing.expect("it is valid");
    // 3W ends at 6, so its reduction runs beside 0I. The optimiser step of stage 3 waits for 0W, which ends at 9.
    assert_eq!(ends(&timing), [[9..13, 13..14], [11..16, 16..18], [8..11, 11..14], [6..8, 9..13]]);
    assert_eq!((timing.metrics.makespan, timing.metrics.device_span), (Ticks(18), Ticks(17)));
}

#[test]
fn the_last_microbatch_counts_and_a_b_is_a_last_backward_too() {
    let schedule = schedule(ONE, 2, &["0F0 0F1 0B1 0I0 0W0"]);
    let model = with_step(&unit(&schedule), &[3], &[2]);
    let timing = replay(&model, &schedule).timing.expect("it is valid");
    assert_eq!(ends(&timing), [[6..9, 9..11]]);
    let full = self::schedule(ONE, 2, &["0F0 0F1 0I1 0W1 0B0"]);
    assert_eq!(replay(&model, &full).timing.expect("it is valid").step, timing.step);
}

/// A pipeline in either direction on one device: only so can a forward be overlapped with a last backward.
#[test]
fn a_last_backward_in_a_pair_ends_with_the_pair() {
    for order in ["0F0 0B0 1F1 1B1", "0F0 1F1 0B0 1B1"] {
        let placement = Placement::bidirectional(1).expect("a placement");
        let order = order.split(' ').map(|pass| pass.parse().expect("a pass")).collect();
        let apart = Schedule::new(placement, 2, vec![order]).expect("a schedule");
        let paired = overlapped(apart, &[&[1]]);
        let model = with_step(&unit(&paired), &[1, 1], &[1, 1]);
        let timing = replay(&model, &paired).timing.expect("it is valid");
        assert_eq!(ends(&timing), [[4..5, 6..7], [6..7, 7..8]]);
    }
}

#[test]
fn a_stage_without_microbatches_is_reduced_first() {
    let placement = Placement::bidirectional(1).expect("a placement");
    let order = ["0F0", "0B0"].map(|pass| pass.parse().expect("a pass")).to_vec();
    let schedule = Schedule::new(placement, 1, vec![order]).expect("a schedule");
    let model = with_step(&unit(&schedule), &[2, 5], &[1, 1]);
    let timing = replay(&model, &schedule).timing.expect("it is valid");
    assert_eq!(ends(&timing), [[5..7, 7..8], [0..5, 5..6]]);
}

#[test]
fn a_device_that_may_begin_later_has_a_shorter_span_with_its_step() {
    // Device 1 may wait with its forward. Its long step counts from its first pass on.
    let schedule = schedule(TWO, 1, &["0F0 0I0 0W0", "1F0 1I0 1W0"]);
    let model = with_step(&unit(&schedule), &[0, 9], &[1, 2]);
    let timing = replay(&model, &schedule).timing.expect("it is valid");
    assert_eq!(ends(&timing), [[5..5, 5..6], [4..13, 13..15]]);
    assert_eq!((timing.metrics.makespan, timing.metrics.device_span), (Ticks(15), Ticks(14)));
}

#[test]
fn a_step_that_takes_no_time_changes_no_figure() {
    let schedule = v("0F0 3F0 3I0 0I0 0W0 3W0");
    let plain = unit(&schedule);
    let without = replay(&plain, &schedule);
    assert_eq!(without.timing.as_ref().expect("it is valid").step, []);
    let with = replay(&with_step(&plain, &[0; 4], &[0; 4]), &schedule);
    let [without, with] = [without, with].map(|verdict| verdict.timing.expect("it is valid"));
    assert_eq!((&with.starts, &with.metrics), (&without.starts, &without.metrics));
    assert_eq!(ends(&with), [[9..9, 10..10], [9..9, 9..9], [8..8, 9..9], [10..10, 10..10]]);
}

#[test]
fn optimiser_steps_follow_the_passes_of_their_device_and_streams_come_last() {
    let schedule = v("0F0 3F0 3I0 0I0 0W0 3W0");
    let plain = unit(&schedule);
    let graph = task_graph(&plain, &schedule).expect("it is complete");
    assert_eq!((graph.len(), graph.resources().count()), (12, 2));
    let model = with_step(&plain, &[4, 5, 3, 2], &[1, 2, 3, 4]);
    let graph = task_graph(&model, &schedule).expect("it is complete");
    assert_eq!((graph.len(), graph.resources().count()), (20, 4));
    let durations = |resource| -> Vec<i64> {
        graph.order(Resource(resource)).map(|task| graph.duration(crate::tasks::Task(task)).0).collect()
    };
    assert_eq!(durations(0), [1, 1, 1, 1, 1, 1, 1, 4]);
    assert_eq!(durations(1), [1, 1, 1, 1, 1, 1, 3, 2]);
    assert_eq!([durations(2), durations(3)], [[4, 2], [3, 5]]);
}
