//! The law of slack: a pass may be late by its slack, and by no more.

use bubbleproof::analysis::{critical_path, slack};
use bubbleproof::model::{Device, Model, Pass};
use bubbleproof::replay::replay;
use bubbleproof::schedule::Schedule;
use proptest::prelude::*;

use super::overlap::{overlapped, run_late};
use super::random::{Choices, schedules, two_way_schedules};

/// The makespan when one pass starts later than it could.
fn makespan(model: &Model, schedule: &Schedule, late: Pass, by: i64) -> i64 {
    let times = run_late(model, schedule, |pass| if pass == late { by } else { 0 }).expect("it can run");
    times.into_iter().flatten().map(|(_, end)| end).max().expect("a pass")
}

/// Delays every pass, or some of many.
fn check(model: &Model, schedule: &Schedule, seed: u64) -> Result<(), TestCaseError> {
    let timing = replay(model, schedule).timing.expect("it was made to run");
    let slack = slack(model, schedule, &timing);
    let whole = timing.metrics.makespan.0;
    let mut choices = Choices::new(seed);
    let some = schedule.len().div_ceil(24);
    for (device, slack) in Device::all(schedule.devices()).zip(&slack) {
        prop_assert_eq!(slack.len(), schedule.order(device).len());
        for (&pass, slack) in schedule.order(device).iter().zip(slack) {
            prop_assert!(slack.0 >= 0);
            if choices.once_in(some) {
                prop_assert_eq!(makespan(model, schedule, pass, slack.0), whole, "{}", pass);
                prop_assert_eq!(makespan(model, schedule, pass, slack.0 + 1), whole + 1, "{}", pass);
            }
        }
    }
    for step in critical_path(model, schedule, &timing) {
        let at = schedule.order(step.device).iter().position(|&pass| pass == step.pass).expect("it is there");
        prop_assert_eq!(slack[step.device.index()][at].0, 0, "{} is on the critical path", step.pass);
    }
    Ok(())
}

proptest! {
    #[test]
    fn a_pass_may_be_late_by_its_slack_and_no_more((model, schedule) in schedules(0), seed: u64) {
        check(&model, &schedule, seed)?;
        // Pairs may wait for each other in a cycle; then there are no times to be late from.
        let paired = overlapped(&schedule, seed);
        if replay(&model, &paired).timing.is_some() {
            check(&model, &paired, seed)?;
        }
    }

    #[test]
    fn a_pass_of_two_directions_may_be_late_by_its_slack_and_no_more(
        (model, schedule) in two_way_schedules(0), seed: u64,
    ) {
        check(&model, &schedule, seed)?;
    }
}
