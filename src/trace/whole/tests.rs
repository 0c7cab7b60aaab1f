use super::*;
use crate::model::{Kind, Ticks};
use crate::trace::file;

/// Two stages on two devices, one microbatch, two replicas. In replica 1 `1B0` takes `late` longer,
/// so `0B0` starts and ends `late` later.
fn two(step: [&str; 2], late: i64) -> Vec<Trace> {
    let of = |replica: i64, step: &str| {
        let by = replica * late;
        let passes = format!(
            r#"[[["0F0", {}, {}], ["0B0", {}, {}]], [["1F0", {}, {}], ["1B0", {}, {}]]]"#,
            10,
            20,
            67 + by,
            97 + by,
            25,
            35,
            36,
            66 + by
        );
        let schedule = r#"{"format": "bubbleproof-schedule-1", "placement": [[0], [1]], "microbatches": 1,
                "orders": [["0F0", "0B0"], ["1F0", "1B0"]]}"#;
        let text = format!(
            r#"{{"format": "bubbleproof-trace-1", "kind": "gpu", "machine": {{"name": "by hand"}}, "schedule": {schedule},
                "iterations": [{{"passes": {passes}, "messages": [["0F0", 1, 21, 24], ["1B0", 0, {0}, {0}]], "step": {step}}}]}}"#,
            66 + by
        );
        file::parse(&text).expect("a trace")
    };
    step.into_iter().zip(0..).map(|(step, replica)| of(replica, step)).collect()
}

fn one_step(traces: &[Trace]) -> (Step, Times) {
    Replicas::of(traces).expect("replicas").steps().expect("steps").remove(0)
}

/// Replica 1 is late by 40: both begin their reductions with the later one, and the step ends with it.
#[test]
fn replicas_wait_for_each_other() {
    let traces = two(
        [
            r#"[["gather", 0, 0, 8], ["reduce", 0, 100, 150], ["optimizer", 0, 151, 160]]"#,
            r#"[["gather", 0, 2, 8], ["reduce", 0, 140, 150], ["optimizer", 0, 152, 160]]"#,
        ],
        40,
    );
    let (step, times) = one_step(&traces);
    let took = |task: &dyn Fn(Task) -> bool| -> Vec<i64> {
        step.took(&times).filter(|(of, _)| task(*of)).map(|(_, took)| took.0).collect()
    };
    let of = |work| move |task: Task| matches!(task.what, What::Work { work: other, .. } if other == work);
    assert_eq!(took(&of(StepWork::Gather)), [6, 6]);
    assert_eq!(took(&of(StepWork::Reduce)), [10, 10], "from when the later one had arrived");
    assert_eq!(took(&of(StepWork::Optimizer)), [9, 8]);
    assert_eq!(step.length(&times), Some(Ticks(160)));
    assert_eq!(step.passes_end(&times), Some(Ticks(137)));
    // Without gaps: gathered at 6, then 10 + 3 + 10 + 70 + 30, 10 of the reduction and 9 of the optimiser.
    let quick = step.without_gaps(&times, |_, _| true);
    assert_eq!(step.length(&quick), Some(Ticks(6 + 10 + 3 + 10 + 70 + 30 + 10 + 9)));
    // 20 less for each backward of the late replica make the step 40 shorter; of the other one, no shorter.
    let faster = |replica: usize| {
        step.with_tasks(&quick, |task, took| match task.what {
            What::Pass(pass) if task.replica == replica && pass.kind == Kind::B => took - Ticks(20),
            _ => took,
        })
    };
    assert_eq!(step.length(&faster(1)), Some(Ticks(148 - 40)));
    assert_eq!(step.length(&faster(0)), Some(Ticks(148)));
}

#[test]
fn a_message_takes_what_was_recorded_and_the_rest_is_a_gap() {
    let (step, times) = one_step(&two(["[]", "[]"], 0)[..1]);
    let messages: Vec<i64> = step.messages(&times).map(|(.., took)| took.0).collect();
    assert_eq!(messages, [0, 3], "by the passes that wait for them");
    let quick = step.with_messages(&step.without_gaps(&times, |_, _| true), |_, _, _| Ticks::ZERO);
    assert_eq!(step.length(&quick), Some(Ticks(10 + 10 + 30 + 30)));
}

#[test]
fn without_recorded_messages_the_wait_of_an_idle_device_is_one() {
    let mut traces = two(["[]", "[]"], 0);
    for trace in &mut traces {
        trace.iterations[0].messages = None;
    }
    let (step, times) = one_step(&traces[..1]);
    let messages: Vec<i64> = step.messages(&times).map(|(.., took)| took.0).collect();
    assert_eq!(messages, [1, 5]);
    assert_eq!(step.length(&step.without_gaps(&times, |_, _| true)), Some(Ticks(86)));
    assert_eq!(step.length(&times), Some(Ticks(87)), "`1B0` started 1 after `1F0`");
}

#[test]
fn what_are_no_replicas_of_one_run_is_refused() {
    let apart = two([r#"[["reduce", 0, 100, 110]]"#, r#"[["reduce", 0, 120, 130]]"#], 0);
    let found = Replicas::of(&apart).expect("alike").steps().expect_err("at different times");
    assert_eq!(
        found.to_string(),
        "iteration 0: the reduction of stage 0 of replica 0 ended before all participants had begun it: they ran at different times, or their clocks differ"
    );
    let mut other = two(["[]", "[]"], 0);
    let again = other[1].iterations[0].clone();
    other[1].iterations.push(again);
    let found = Replicas::of(&other).expect_err("another number of iterations");
    assert_eq!(found, ReplicasError::Iterations { replica: 1, found: 2, expected: 1 });
    let separate = two(["[]", "[]"], 0);
    let found = Replicas::of(&separate).expect("alike").steps().expect_err("nothing together");
    assert_eq!(found, ReplicasError::Separate { replica: 1 });
    let mut missing = two(["[]", "[]"], 0);
    missing[0].iterations[0].passes[1].pop();
    let found = Replicas::of(&missing).expect_err("a pass is missing");
    assert_eq!(found.to_string(), "replica 0: iteration 0, device 1: `1B0` did not run");
    assert_eq!(Replicas::of([]).expect_err("nothing"), ReplicasError::NoTrace);
    // Orders that cross in works of different groups are no circle; in works that replicas do together they are.
    let crossed = two(
        [
            r#"[["reduce", 0, 100, 110], ["embedding", 0, 111, 120], ["embedding", 1, 111, 120]]"#,
            r#"[["embedding", 0, 100, 120], ["reduce", 0, 105, 110], ["embedding", 1, 100, 121]]"#,
        ],
        0,
    );
    let found = Replicas::of(&crossed).expect("alike").steps();
    assert!(found.is_ok(), "embeddings are of each replica: {found:?}");
    let crossed = two(
        [
            r#"[["reduce", 0, 100, 110], ["norm", 0, 105, 120]]"#,
            r#"[["norm", 0, 100, 120], ["reduce", 0, 105, 110]]"#,
        ],
        0,
    );
    let found = Replicas::of(&crossed).expect("alike").steps().expect_err("a circle");
    assert!(matches!(found, ReplicasError::Circle { iteration: 0, .. }), "{found:?}");
}

#[test]
fn a_level_has_means_of_what_is_computed_and_medians_of_what_is_sent() {
    let traces = two(
        [
            r#"[["reduce", 0, 100, 150], ["optimizer", 0, 151, 160]]"#,
            r#"[["reduce", 0, 140, 150], ["optimizer", 0, 152, 160]]"#,
        ],
        40,
    );
    let (step, times) = one_step(&traces);
    let level = Level::of([&(step.clone(), times.clone())]);
    assert_eq!(level.passes[&Kind::F], Ticks(10));
    assert_eq!(level.passes[&Kind::B], Ticks((30 + 30 + 30 + 70) / 4));
    assert_eq!(level.works[&StepWork::Reduce], Ticks(10));
    assert_eq!(level.works[&StepWork::Optimizer], Ticks(8), "the mean of 8 and 9, rounded down");
    assert_eq!(level.messages[&Kind::F], Ticks(3));
    let levelled = step.levelled(&times, &level, |_| false);
    assert_eq!(step.length(&levelled), Some(Ticks(10 + 3 + 10 + 40 + 40 + 10 + 8)));
    // One replica as it was: its backward of stage 1 takes 70, that of stage 0 takes 30.
    let kept = step.levelled(&times, &level, |timed| matches!(timed, Timed::Task(task) if task.replica == 1));
    assert_eq!(step.length(&kept), Some(Ticks(10 + 3 + 10 + 70 + 30 + 10 + 8)));
}

/// Iterations that differ in a wait alone are predicted by each other, each wait by its own median.
#[test]
fn a_step_is_predicted_by_the_others() {
    let mut traces = two(["[]", "[]"], 0);
    for trace in &mut traces {
        let again = trace.iterations[0].clone();
        trace.iterations.extend([again.clone(), again]);
    }
    let steps = Replicas::of(&traces[..1]).expect("replicas").steps().expect("steps");
    for basis in Basis::ALL.into_iter().filter(|basis| basis.needs_others()) {
        let found = predict(&steps, basis).expect("there are others");
        assert_eq!(found, [Instants { passes: Ticks(87), step: Ticks(87) }; 3], "{basis}");
    }
    assert_eq!(predict(&steps[..1], Basis::OfStages), None, "no others");
    assert_eq!(predict(&steps[..1], Basis::NoGaps).expect("itself")[0].step, Ticks(83));
}

#[test]
fn a_message_counts_from_the_end_of_the_pass_that_makes_it() {
    let mut traces = two(["[]", "[]"], 0);
    let messages = traces[0].iterations[0].messages.as_mut().expect("recorded");
    messages[0].start = Ticks(0);
    messages.push(crate::trace::Message { to: Device(0), ..messages[0] });
    let (step, times) = one_step(&traces[..1]);
    let messages: Vec<i64> = step.messages(&times).map(|(.., took)| took.0).collect();
    assert_eq!(messages, [0, 4], "from 20 to 24; none goes to the device that sends it");
}

#[test]
fn an_all_gather_after_the_passes_is_one_of_the_works_that_follow_them() {
    let traces = two([r#"[["optimizer", 0, 98, 100], ["gather", 0, 101, 105]]"#, "[]"], 0);
    let (step, times) = one_step(&traces[..1]);
    let quick = step.without_gaps(&times, |_, _| true);
    assert_eq!(step.passes_end(&quick), Some(Ticks(83)));
    assert_eq!(step.length(&quick), Some(Ticks(83 + 2 + 4)));
}
