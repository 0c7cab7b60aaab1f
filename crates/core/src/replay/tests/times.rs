//! Starts, makespan and rates.

use num_rational::Ratio;

use super::*;

#[test]
fn a_boundary_between_devices_costs_its_latency_both_ways() {
    let schedule = schedule(TWO, 1, &["0F0 0I0 0W0", "1F0 1I0 1W0"]);
    let model = with_costs(&schedule, |costs| {
        costs.forward = vec![Ticks(3); 2];
        costs.backward_input = vec![Ticks(4); 2];
        costs.backward_weight = vec![Ticks(2); 2];
        costs.communication = vec![Ticks(5)];
    });
    let timing = replay(&model, &schedule).timing.expect("it is valid");
    assert_eq!(timing.starts, ticks(&[&[0, 20, 24], &[8, 11, 15]]));
    let expected = Metrics {
        makespan: Ticks(26),
        device_span: Ticks(26),
        busy: Ticks(18),
        useful: Ticks(18),
        bubble_rate: Ratio::new(17, 26),
        idle_rate: Ratio::new(17, 26),
        useful_rate: Ratio::new(9, 26),
    };
    assert_eq!(timing.metrics, expected);
}

#[test]
fn a_boundary_inside_a_device_costs_nothing() {
    let schedule = schedule(&[&[0, 1], &[2]], 1, &["0F0 1F0 1B0 0B0", "2F0 2B0"]);
    let model = with_costs(&schedule, |costs| costs.communication = vec![Ticks(100), Ticks(7)]);
    let timing = replay(&model, &schedule).timing.expect("it is valid");
    assert_eq!(timing.starts, ticks(&[&[0, 1, 19, 21], &[9, 10]]));
}

#[test]
fn makespan_and_device_span_differ_when_the_last_device_ends_last() {
    let schedule = schedule(TWO, 1, &["0F0 0I0 0W0", "1F0 1I0 1W0"]);
    let model = with_costs(&schedule, |costs| costs.backward_weight = vec![Ticks(1), Ticks(20)]);
    let timing = replay(&model, &schedule).timing.expect("it is valid");
    assert_eq!(timing.starts, ticks(&[&[0, 3, 4], &[1, 2, 3]]));
    let expected = Metrics {
        makespan: Ticks(23),
        device_span: Ticks(22),
        busy: Ticks(25),
        useful: Ticks(25),
        bubble_rate: Ratio::new(19, 44),
        idle_rate: Ratio::new(21, 46),
        useful_rate: Ratio::new(25, 44),
    };
    assert_eq!(timing.metrics, expected);
}

#[test]
fn recomputation_is_work_that_is_of_no_use() {
    let schedule = schedule(TWO, 1, &["0F0 0R0 0I0 0W0", "1F0 1I0 1W0"]);
    let model = with_memory(&schedule, |memory| memory.checkpoint = Some(vec![Units(1); 2]));
    let Metrics { device_span, busy, useful, bubble_rate, useful_rate, .. } =
        replay(&model, &schedule).timing.expect("it is valid").metrics;
    // R waits for nothing but its forward, so it fills the time in which device 0 waits for the gradient.
    assert_eq!((device_span, busy, useful), (Ticks(5), Ticks(7), Ticks(6)));
    assert_eq!((bubble_rate, useful_rate), (Ratio::new(3, 10), Ratio::new(6, 10)));
}

#[test]
fn one_forward_one_backward_has_the_bubble_of_its_formula() {
    // (p-1) (tF+tB) of m (tF+tB) + (p-1) (tF+tB), here p = 2, m = 3, tF = 1, tB = 2.
    let schedule = schedule(TWO, 3, &["0F0 0F1 0B0 0F2 0B1 0B2", "1F0 1B0 1F1 1B1 1F2 1B2"]);
    let timing = replay(&unit(&schedule), &schedule).timing.expect("it is valid");
    assert_eq!(timing.metrics.device_span, Ticks(12));
    assert_eq!(timing.metrics.bubble_rate, Ratio::new(1, 4));
}

#[test]
fn passes_without_duration_keep_their_order_and_take_no_time() {
    let schedule = schedule(TWO, 2, &["0F0 0F1 0I0 0W0 0I1 0W1", "1F0 1I0 1W0 1F1 1I1 1W1"]);
    let model = with_costs(&schedule, |costs| {
        costs.forward = vec![Ticks(0), Ticks(2)];
        costs.backward_weight = vec![Ticks(0), Ticks(0)];
    });
    let verdict = replay(&model, &schedule);
    assert_eq!(verdict.peak_memory, [Units(2), Units(1)]);
    let timing = verdict.timing.expect("it is valid");
    assert_eq!(timing.starts, ticks(&[&[0, 0, 3, 4, 6, 7], &[0, 2, 3, 3, 5, 6]]));
    assert_eq!((timing.metrics.makespan, timing.metrics.busy), (Ticks(7), Ticks(8)));
}

#[test]
fn a_recomputation_takes_as_long_as_its_forward() {
    let schedule = schedule(ONE, 1, &["0F0 0R0 0B0"]);
    let model = with_costs(&schedule, |costs| costs.forward = vec![Ticks(7)]);
    let timing = replay(&model, &schedule).timing.expect("it is valid");
    assert_eq!(timing.starts, ticks(&[&[0, 7, 14]]));
    assert_eq!(timing.metrics.busy, Ticks(16));
}
