//! Recomputation in the backward, and with durations of its own.

use super::*;
use crate::model::{Recompute, RecomputeLevel};

/// The unit model of a schedule, where F keeps nothing for an R of this duration.
fn recomputing(schedule: &Schedule, duration: i64, fused: bool) -> Model {
    let stages = schedule.placement().stages() as usize;
    let level = RecomputeLevel {
        checkpoint: vec![Units::ZERO; stages],
        duration: Some(vec![Ticks(duration); stages]),
    };
    let recompute = Recompute { levels: vec![level], fused };
    unit(schedule).with_recompute(Some(recompute)).expect("a model")
}

#[test]
fn an_r_that_is_not_right_before_its_backward_is_reported_where_it_is() {
    let of = |order: &str| {
        let schedule = schedule(ONE, 1, &[order]);
        messages(&replay(&recomputing(&schedule, 1, true), &schedule))
    };
    assert_eq!(of("0F0 0R0 0I0 0W0"), [""; 0]);
    let early = of("0I0 0F0 0R0 0W0");
    assert!(early.iter().any(|said| said.contains("`0R0` is not right before")), "{early:?}");
    // A second one is reported for that alone.
    let twice = of("0F0 0R0 0I0 0R0 0W0");
    assert!(!twice.is_empty() && twice.iter().all(|said| !said.contains("not right before")), "{twice:?}");
}

#[test]
fn measured_runs_say_nothing_of_an_r_whose_duration_the_model_says() {
    let schedule = schedule(ONE, 1, &["0F0 0R0 0B0"]);
    let runs = [PassDurations::new(1, 1, |_, _| [Ticks(10), Ticks(20), Ticks(30)])];
    let makespan = |model: &Model| makespans(model, &schedule, &runs);
    // 10 + 7 + 50, and 10 + 10 + 50 where R takes as long as F.
    assert_eq!(makespan(&recomputing(&schedule, 7, false)), Ok(vec![Ticks(67)]));
    let follows = with_memory(&schedule, |memory| memory.checkpoint = Some(vec![Units::ZERO]));
    assert_eq!(makespan(&follows), Ok(vec![Ticks(70)]));
}
