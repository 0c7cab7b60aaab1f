//! What `trace profile` makes of messages and of the end of the step, worked out by hand.

use std::fmt::Write as _;

use bubbleproof::model::{
    Kind, Links, Messages, Model, ModelError, Placement, Recompute, RecomputeLevel, Stage, StepEnd, Ticks,
    Units,
};
use bubbleproof::trace::fit::{FitError, Note, Profile, Untold, profile};
use bubbleproof::trace::terms::scaled;
use bubbleproof::trace::{StepWork, Trace, file};

/// A trace of 1F1B on two devices with two microbatches, with these messages and whatever else an iteration has.
fn trace(messages: &str, more: &str) -> Trace {
    let orders = r#"[["0F0", "0F1", "0B0", "0B1"], ["1F0", "1B0", "1F1", "1B1"]]"#;
    let schedule = format!(
        r#"{{"format": "bubbleproof-schedule-1", "placement": [[0], [1]], "microbatches": 2, "orders": {orders}}}"#
    );
    let passes = r#"[["0F0", 0, 100], ["0F1", 100, 140], ["0B0", 400, 500], ["0B1", 600, 700]],
        [["1F0", 130, 200], ["1B0", 200, 350], ["1F1", 350, 400], ["1B1", 400, 560]]"#;
    file::parse(&format!(
        r#"{{"format": "bubbleproof-trace-1", "kind": "synthetic", "machine": {{"name": "by hand"}},
            "schedule": {schedule},
            "iterations": [{{"passes": [{passes}], "messages": {messages}{more}}}]}}"#
    ))
    .expect("a trace")
}

fn fitted(messages: &str, more: &str) -> Profile {
    profile("by hand", &[trace(messages, more)]).expect("a model")
}

/// What the model says of messages: the occupancy, and the latency beside it.
fn of_messages(profile: &Profile) -> (i64, i64) {
    let model = &profile.model;
    let occupancy = model.messages().map(|Messages { occupancy, links }| {
        assert_eq!(*links, Links::Pair);
        occupancy[0].0
    });
    (occupancy.unwrap_or_default(), model.costs().communication[0].0)
}

/// Three passes found their device idle: `1F0` 30 ns after `0F0`, `0B0` 50 after `1B0`, `0B1` 40 after `1B1`. So the
/// delay is 40. The copies take 15, 20, 25 and 12.
#[test]
fn copies_of_messages_that_never_meet_are_the_most_that_they_occupy() {
    let found = fitted(
        r#"[["0F0", 1, 105, 120], ["0F1", 1, 145, 165], ["1B0", 0, 360, 385], ["1B1", 0, 570, 582]]"#,
        "",
    );
    assert_eq!((found.latencies[0].delay, of_messages(&found)), (Ticks(40), (15, 25)));
    assert_eq!((found.occupancies[0].met, found.occupancies[0].overlapped), (0, 0));
    assert_eq!((found.occupancies[0].spread.least, found.occupancies[0].spread.most), (12, 25));
    assert!(found.notes.contains(&Note::Occupancy { met: 0, overlapped: 0 }));
}

/// `0F1` is made at 140, while `0F0` is on the link until 160, and only then goes.
#[test]
fn a_message_that_waits_for_its_link_shows_that_it_is_busy() {
    let found = fitted(
        r#"[["0F0", 1, 100, 160], ["0F1", 1, 161, 221], ["1B0", 0, 350, 380], ["1B1", 0, 560, 590]]"#,
        "",
    );
    assert_eq!((found.occupancies[0].met, found.occupancies[0].overlapped), (1, 0));
    assert_eq!(of_messages(&found), (30, 10));
    assert!(found.notes.contains(&Note::Occupancy { met: 1, overlapped: 0 }));
}

/// `0F1` goes 12 ns after `0F0`, long before that is there: so a message keeps the link busy for 12 ns at most.
#[test]
fn messages_that_overlap_on_a_link_occupy_it_for_no_longer_than_they_are_apart() {
    let found = fitted(
        r#"[["0F0", 1, 130, 160], ["0F1", 1, 142, 172], ["1B0", 0, 350, 380], ["1B1", 0, 560, 590]]"#,
        "",
    );
    assert_eq!((found.occupancies[0].met, found.occupancies[0].overlapped), (1, 1));
    assert_eq!(of_messages(&found), (12, 28));
    assert!(found.notes.contains(&Note::Occupancy { met: 1, overlapped: 1 }));
}

/// Copies that take longer than the devices waited leave no latency.
#[test]
fn messages_occupy_no_more_than_the_whole_delay() {
    let found = fitted(r#"[["0F0", 1, 100, 300], ["1B0", 0, 350, 550]]"#, "");
    assert_eq!((found.latencies[0].delay, of_messages(&found)), (Ticks(40), (40, 0)));
}

/// `1B1` is made at 560, while `1B0` is on the link until 565. So of the waits of 30, 50 and 40 only the first two count.
#[test]
fn what_may_have_waited_for_its_link_is_no_delay() {
    let met = fitted(r#"[["1B0", 0, 350, 565], ["1B1", 0, 570, 590]]"#, "");
    assert_eq!((met.latencies[0].delay, met.latencies[0].spread.expect("waits").count), (Ticks(30), 2));
}

/// A message to a device that does not wait for it, and messages that take no time.
#[test]
fn messages_that_say_nothing_leave_the_delay_as_it_is() {
    let strange = fitted(r#"[["0F0", 0, 100, 105], ["0B1", 1, 700, 710]]"#, "");
    assert!(strange.occupancies.is_empty() && strange.model.messages().is_none());
    assert_eq!(of_messages(&strange), (0, 40));
    let instant = fitted(r#"[["0F0", 1, 100, 100]]"#, "");
    assert_eq!((of_messages(&instant), instant.model.messages()), ((0, 40), None));
}

#[test]
fn the_end_of_the_step_has_medians_by_stage() {
    let step = r#", "step": [["reduce", 1, 560, 590], ["optimizer", 0, 700, 720], ["optimizer", 1, 590, 600], ["reduce", 1, 560, 570]]"#;
    let found = fitted("[]", step);
    let expected = StepEnd { reduce: vec![Ticks(0), Ticks(40)], optimizer: vec![Ticks(20), Ticks(10)] };
    assert_eq!(found.model.step(), Some(&expected));
    let parts: Vec<_> = found.step.iter().map(|of| (of.stage.0, of.work, of.spread.count)).collect();
    assert_eq!(parts, [(0, StepWork::Optimizer, 1), (1, StepWork::Reduce, 1), (1, StepWork::Optimizer, 1)]);
    assert!(found.notes.contains(&Note::Step {
        reduce: true,
        optimizer: true,
        gather: false,
        together: false
    }));
    // Replay adds what follows the passes: of device 0 from 700 on, of device 1 until 580.
    let verdict = bubbleproof::replay::replay(&found.model, &trace("[]", step).schedule);
    let timing = verdict.timing.expect("it runs");
    assert_eq!(timing.step[0].optimizer.end - timing.step[0].optimizer.start, Ticks(20));
    assert_eq!(trace("[]", step).iterations[0].step_end(), Ticks(720));
    assert_eq!(trace("[]", "").iterations[0].step_end(), Ticks(700));
}

#[test]
fn a_plain_profile_has_passes_and_delays_alone() {
    let all = fitted(
        r#"[["0F0", 1, 105, 120], ["1B0", 0, 360, 385]]"#,
        r#", "step": [["optimizer", 0, 700, 720]]"#,
    );
    assert!(all.model.messages().is_some() && all.model.step().is_some());
    let plain = all.clone().without_messages().without_step();
    assert_eq!((plain.model.beyond_passes(), of_messages(&plain)), (None, (0, 40)));
    assert_eq!(plain.latencies[0].latency, plain.latencies[0].delay);
    assert!(plain.occupancies.is_empty() && plain.step.is_empty());
    assert!(!plain.notes.iter().any(|note| matches!(note, Note::Occupancy { .. } | Note::Step { .. })));
}

/// What the notes of a profile say of messages and the end of the step, and what they say is not told.
#[test]
fn notes_say_what_was_filled_in_and_what_was_not() {
    let cases = [
        ("nothing recorded", "null", ""),
        ("no message meets another", r#"[["0F0", 1, 105, 120]]"#, ""),
        (
            "one waits",
            r#"[["0F0", 1, 100, 160], ["0F1", 1, 161, 221]]"#,
            r#", "step": [["optimizer", 0, 700, 720]]"#,
        ),
        (
            "one overlaps",
            r#"[["0F0", 1, 130, 160], ["0F1", 1, 142, 172]]"#,
            r#", "step": [["reduce", 0, 700, 720]]"#,
        ),
        (
            "all of the step",
            "[]",
            r#", "step": [["reduce", 0, 700, 720], ["optimizer", 0, 720, 730]],
                "memory": [[[0, 8], [100, 16], [500, 0]], [[130, 8], [560, 0]]]"#,
        ),
    ];
    let mut text = String::new();
    for (name, messages, more) in cases {
        writeln!(text, "{name}").expect("writing to a string");
        for note in fitted(messages, more).notes.iter().filter(|note| !note.concerns_predictions()) {
            writeln!(text, "  {note}").expect("writing to a string");
        }
    }
    insta::assert_snapshot!("notes", text);
}

/// 2 sequences of 64 tokens and a hidden size of 32, of 4 bytes each.
#[test]
fn the_size_of_a_buffer_is_that_of_the_network() {
    let untold = |dtype: &str| {
        let mut trace = trace("[]", "");
        let sizes = format!(
            r#"{{"layers": [1, 1], "hidden": 32, "heads": 4, "sequence": 64, "microbatch_size": 2, "dtype": "{dtype}"}}"#
        );
        trace.sizes = Some(serde_json::from_str(&sizes).expect("sizes"));
        let notes = profile("sizes", &[trace]).expect("a model").notes;
        let list = notes.into_iter().find_map(|note| match note {
            Note::Untold(list) => Some(list),
            _ => None,
        });
        list.expect("a note").into_iter().find_map(|untold| match untold {
            Untold::Buffers { message } => message,
            _ => None,
        })
    };
    let bytes = [("float64", 32768), ("float32", 16384), ("float16", 8192), ("bfloat16", 8192)];
    for (dtype, bytes) in bytes {
        assert_eq!(untold(dtype), Some(bytes), "{dtype}");
    }
    assert_eq!(untold("float7"), None);
}

/// Two devices and two microbatches. Device 0 keeps 10 bytes of microbatch 1, and of microbatch 0 it keeps 3 and then runs R.
#[test]
fn what_is_recomputed_for_some_microbatches_only_does_not_count_twice() {
    let schedule = r#"{"format": "bubbleproof-schedule-1", "placement": [[0], [1]], "microbatches": 2,
        "orders": [["0F0", "0F1", "0R0", "0B0", "0B1"], ["1F0", "1B0", "1F1", "1B1"]]}"#;
    let text = format!(
        r#"{{"format": "bubbleproof-trace-1", "kind": "synthetic", "machine": {{"name": "by hand"}},
            "schedule": {schedule},
            "iterations": [{{
                "passes": [
                    [["0F0", 0, 100], ["0F1", 100, 200], ["0R0", 400, 520], ["0B0", 520, 720], ["0B1", 720, 900]],
                    [["1F0", 130, 200], ["1B0", 200, 350], ["1F1", 350, 400], ["1B1", 400, 560]]],
                "memory": [
                    [[50, 3], [150, 13], [450, 20], [700, 10], [890, 0]],
                    [[150, 5], [340, 0], [380, 5], [550, 0]]]}}]}}"#
    );
    let trace = file::parse(&text).expect("a trace");
    let found = profile("by hand", &[trace]).expect("a model");
    assert_eq!(found.model.memory().activation, [Units(10), Units(5)]);
    let level = RecomputeLevel {
        checkpoint: vec![Units(3), Units(5)],
        // Stage 1, which never recomputes, takes as long as its F: the median of 70 and 50 is the lower one.
        duration: Some(vec![Ticks(120), Ticks(50)]),
    };
    assert_eq!(found.model.recompute(), Some(Recompute { levels: vec![level], fused: false }));
    assert!(found.notes.contains(&Note::NotRecomputed { level: 0, stages: vec![Stage(1)] }));
    assert!(!found.notes.iter().any(|note| matches!(note, Note::Unbalanced { .. })), "{:?}", found.notes);
}

/// A trace may name any level, and a model has sixteen at most.
#[test]
fn more_levels_than_a_model_may_have_are_refused() {
    for level in [16, u32::MAX] {
        let text = format!(
            r#"{{"format": "bubbleproof-trace-1", "kind": "synthetic", "machine": {{"name": "by hand"}},
                "schedule": {{"format": "bubbleproof-schedule-1", "placement": [[0]], "microbatches": 1,
                    "orders": [["0F0", "0R0", "0B0"]], "levels": {{"0R0": {level}}}}},
                "iterations": [{{
                    "passes": [[["0F0", 0, 100], ["0R0", 100, 200], ["0B0", 200, 300]]],
                    "memory": [[[50, 3], [150, 10], [290, 0]]]}}]}}"#
        );
        let trace = file::parse(&text).expect("a trace");
        let refused = profile("by hand", &[trace]).expect_err("too many levels");
        assert_eq!(refused, FitError::Model(ModelError::Levels { found: level as usize + 1 }));
    }
}

/// Stage 0 needs 7 bytes more while its R runs, stage 1 needs 4 more while its F runs and has no R.
#[test]
fn where_no_r_was_seen_it_needs_what_f_needs() {
    let text = r#"{"format": "bubbleproof-trace-1", "kind": "synthetic", "machine": {"name": "by hand"},
        "schedule": {"format": "bubbleproof-schedule-1", "placement": [[0], [1]], "microbatches": 1,
            "orders": [["0F0", "0R0", "0B0"], ["1F0", "1B0"]]},
        "iterations": [{
            "passes": [[["0F0", 0, 100], ["0R0", 300, 400], ["0B0", 400, 500]], [["1F0", 100, 200], ["1B0", 200, 300]]],
            "memory": [[[50, 3], [320, 17], [390, 10], [490, 0]], [[150, 9], [190, 5], [290, 0]]]}]}"#;
    let model = profile("by hand", &[file::parse(text).expect("a trace")]).expect("a model").model;
    let needs = |kind| [0, 1].map(|stage| model.workspace(Stage(stage), kind).0);
    assert_eq!((needs(Kind::F), needs(Kind::R)), ([0, 4], [7, 4]));
}

/// An R takes twice as long beside other devices as alone, as its F does.
#[test]
fn without_contention_an_r_changes_as_its_f_does() {
    let model = |forward: i64, again: i64| {
        let placement = Placement::linear(2).expect("a placement");
        let model = Model::equal_stages(placement, 4, [forward, 30, 20, 0]).expect("a model");
        let level = RecomputeLevel { checkpoint: vec![Units(0); 2], duration: Some(vec![Ticks(again); 2]) };
        model.with_recompute(Some(Recompute { levels: vec![level], fused: false })).expect("a level")
    };
    let found = scaled(&model(50, 44), &model(20, 21), &model(10, 9)).expect("a model");
    let of = |model: &Model| (model.costs().clone(), model.recompute());
    assert_eq!(of(&found), of(&model(25, 22)));
}
