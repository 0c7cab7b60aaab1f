//! What holds of every trace that runs as replay says, and of traces that were tampered with.

use std::collections::BTreeSet;

use bubbleproof::analysis::Span;
use bubbleproof::model::{Device, Kind, Model, Pass, Stage, Ticks};
use bubbleproof::replay::replay;
use bubbleproof::trace::compare::{compare, predict};
use bubbleproof::trace::fit::{LatencyMethod, profile};
use bubbleproof::trace::matching::{Finding, early, findings};
use bubbleproof::trace::run;
use bubbleproof::trace::terms::{Terms, simulate};
use bubbleproof::trace::{Trace, file};
use proptest::prelude::*;

use crate::traces::support::{pipeline, traced, with_links, with_recomputation, with_step, with_workspace};

fn written(trace: &Trace) -> String {
    let mut text = Vec::new();
    file::write(trace, &mut text).expect("writing to memory");
    String::from_utf8(text).expect("JSON is UTF-8")
}

/// Whether a model says the same of the times that can be told apart, and of memory.
fn same(fitted: &Model, model: &Model, split: bool) -> Result<(), TestCaseError> {
    for stage in Stage::all(model.stages()) {
        let kinds: &[Kind] = if split { &[Kind::F, Kind::I, Kind::W] } else { &[Kind::F, Kind::B] };
        for &kind in kinds {
            prop_assert_eq!(fitted.duration(stage, kind), model.duration(stage, kind), "{}{}", stage, kind);
        }
        prop_assert_eq!(fitted.activation(stage), model.activation(stage), "{}", stage);
        if split {
            prop_assert_eq!(fitted.retained_for_weight(stage), model.retained_for_weight(stage), "{}", stage);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn reading_what_was_written_gives_the_same_trace((model, schedule) in pipeline()) {
        let trace = traced(&model, &schedule);
        prop_assert_eq!(file::parse(&written(&trace)).expect("what was written reads"), trace);
    }

    #[test]
    fn a_profile_has_what_passes_need_while_they_run((model, schedule) in pipeline(), seed: u64) {
        let model = with_workspace(&model, seed);
        let trace = traced(&model, &schedule);
        let found = profile("again", std::slice::from_ref(&trace)).expect("a model").model;
        let ran: BTreeSet<(Stage, Kind)> =
            schedule.orders().iter().flatten().map(|pass| (pass.stage, pass.kind)).collect();
        for (stage, kind) in ran {
            prop_assert_eq!(found.workspace(stage, kind), model.workspace(stage, kind), "{}{}", stage, kind);
            if kind == Kind::W {
                prop_assert_eq!(found.retained_for_weight(stage), model.retained_for_weight(stage));
            }
        }
        let peaks = predict(&model, &schedule).expect("it runs").peak_memory;
        prop_assert_eq!(predict(&found, &schedule).expect("it runs").peak_memory, peaks);
    }

    #[test]
    fn a_profile_of_what_replay_says_is_the_model_again((model, schedule) in pipeline()) {
        let trace = traced(&model, &schedule);
        let found = profile("again", std::slice::from_ref(&trace)).expect("a model");
        let split = schedule.orders().iter().flatten().any(|pass| pass.kind == Kind::W);
        same(&found.model, &model, split)?;
        for latency in &found.latencies {
            let stated = model.latency_after(latency.after_stage);
            if latency.method == LatencyMethod::AtMost {
                prop_assert!(latency.delay >= stated);
            } else {
                prop_assert_eq!(latency.delay, stated, "after stage {}", latency.after_stage);
            }
            // Whatever part of it is taken for occupancy.
            prop_assert_eq!(found.model.delay_after(latency.after_stage), latency.delay);
        }
        let prediction = predict(&found.model, &schedule).expect("it runs");
        prop_assert_eq!(&prediction.spans, &trace.iterations[0].passes);
        // What is printed is a model file.
        let printed = bubbleproof::model::print(&found.model);
        let read = bubbleproof::model::parse(&printed);
        prop_assert_eq!(read.as_ref(), Ok(&found.model));
    }

    #[test]
    fn a_profile_of_what_recomputes_has_its_levels((model, schedule) in pipeline(), seed: u64) {
        let (model, schedule) = with_recomputation(&model, &schedule, seed);
        let found = profile("again", &[traced(&model, &schedule)]).expect("a model").model;
        let split = schedule.orders().iter().flatten().any(|pass| pass.kind == Kind::W);
        let again: Vec<Pass> =
            schedule.orders().iter().flatten().filter(|pass| pass.kind == Kind::R).copied().collect();
        for pass in &again {
            let (stage, level) = (pass.stage, schedule.levels().get(pass).map_or(0, |&level| level as usize));
            prop_assert_eq!(found.checkpoint_at(stage, level), model.checkpoint_at(stage, level), "{}", pass);
            prop_assert_eq!(found.recompute_duration(stage, level), model.recompute_duration(stage, level), "{}", pass);
        }
        same(&found, &model, split)?;
        prop_assert_eq!(found.recompute().is_some(), !again.is_empty());
        let [ran, predicted] = [&model, &found].map(|model| predict(model, &schedule).expect("it runs"));
        prop_assert_eq!(predicted.peak_memory, ran.peak_memory);
        prop_assert_eq!(predicted.spans, ran.spans);
        let read = bubbleproof::model::parse(&bubbleproof::model::print(&found));
        prop_assert_eq!(read.as_ref(), Ok(&found));
    }

    #[test]
    fn what_messages_occupy_is_never_less_than_it_was((model, schedule) in pipeline(), seed: u64) {
        let model = with_links(&model, seed);
        let trace = traced(&model, &schedule);
        let found = profile("again", std::slice::from_ref(&trace)).expect("a model");
        for occupancy in &found.occupancies {
            prop_assert!(occupancy.occupancy >= model.occupancy_after(occupancy.after_stage));
        }
        // Where something waited for a message that found its link free, no more is to be known.
        if found.latencies.iter().all(|latency| latency.delay == model.delay_after(latency.after_stage)) {
            let prediction = predict(&found.model, &schedule).expect("it runs");
            prop_assert_eq!(&prediction.spans, &trace.iterations[0].passes);
        }
        let read = bubbleproof::model::parse(&bubbleproof::model::print(&found.model));
        prop_assert_eq!(read.as_ref(), Ok(&found.model));
    }

    #[test]
    fn a_profile_has_the_end_of_the_step((model, schedule) in pipeline(), seed: u64) {
        let model = with_step(&model, seed);
        let trace = traced(&model, &schedule);
        prop_assert_eq!(file::parse(&written(&trace)).expect("what was written reads"), trace.clone());
        let found = profile("again", std::slice::from_ref(&trace)).expect("a model").model;
        prop_assert_eq!(found.step(), model.step());
        let makespan = |model: &Model| replay(model, &schedule).timing.expect("it runs").metrics.makespan;
        prop_assert_eq!(makespan(&found), makespan(&model));
        prop_assert_eq!(trace.iterations[0].step_end(), makespan(&model));
        let read = bubbleproof::model::parse(&bubbleproof::model::print(&found));
        prop_assert_eq!(read.as_ref(), Ok(&found));
    }

    #[test]
    fn without_messages_waits_tell_the_latency_or_it_does_not_matter((model, schedule) in pipeline()) {
        let mut trace = traced(&model, &schedule);
        trace.iterations[0].messages = None;
        let found = profile("again", std::slice::from_ref(&trace)).expect("a model");
        let prediction = predict(&found.model, &schedule).expect("it runs");
        prop_assert_eq!(&prediction.spans, &trace.iterations[0].passes);
    }

    #[test]
    fn what_runs_as_replay_says_is_predicted_without_error((model, schedule) in pipeline()) {
        let trace = traced(&model, &schedule);
        prop_assert_eq!(findings(&trace), []);
        prop_assert_eq!(early(&trace), []);
        let prediction = predict(&model, &schedule).expect("it runs");
        let found = compare(&trace, &prediction).expect("passes in common");
        prop_assert_eq!(found.makespan().median, prediction.makespan.0);
        prop_assert_eq!(found.bubble_rate(), prediction.bubble_rate);
        prop_assert_eq!(found.peak_memory(), prediction.peak_memory.as_ref());
        for errors in [&found.durations, &found.starts] {
            prop_assert_eq!((errors.signed.least, errors.signed.most, errors.ninth_decile), (0, 0, Ticks::ZERO));
        }
        let drawn = run::of(&trace, 0);
        let timing = bubbleproof::replay::replay(&model, &schedule).timing.expect("it runs");
        prop_assert_eq!(&drawn.timing.starts, &timing.starts);
        // At these times; devices that begin later might take less.
        prop_assert!(drawn.timing.metrics.device_span >= timing.metrics.device_span);
        let of = |metrics: bubbleproof::replay::Metrics| (metrics.makespan, metrics.busy, metrics.idle_rate);
        prop_assert_eq!(of(drawn.timing.metrics), of(timing.metrics));
        prop_assert_eq!(drawn.held, Some(bubbleproof::replay::memory_along(&model, &schedule)));
    }

    #[test]
    fn without_terms_the_simulation_is_replay((model, schedule) in pipeline()) {
        let spans = simulate(&model, &schedule, &Terms::none(model.devices())).expect("it runs");
        prop_assert_eq!(spans, traced(&model, &schedule).iterations.remove(0).passes);
    }

    #[test]
    fn without_terms_the_simulation_is_replay_where_links_are_busy((model, schedule) in pipeline(), seed: u64) {
        let model = with_links(&model, seed);
        let spans = simulate(&model, &schedule, &Terms::none(model.devices())).expect("it runs");
        prop_assert_eq!(spans, traced(&model, &schedule).iterations.remove(0).passes);
    }

    #[test]
    fn a_pass_that_ran_late_is_named_and_no_other((model, schedule) in pipeline(), device: u32, from: usize, to: usize) {
        let mut trace = traced(&model, &schedule);
        let device = Device(device % model.devices());
        let row = &mut trace.iterations[0].passes[device.index()];
        let (from, to) = (from % row.len(), to % row.len());
        prop_assume!(from.abs_diff(to) > 1);
        // The times stay where they are; which pass ran in them changes.
        let mut passes: Vec<_> = row.iter().map(|span| span.pass).collect();
        let moved = passes.remove(from);
        passes.insert(to, moved);
        for (span, pass) in row.iter_mut().zip(passes) {
            span.pass = pass;
        }
        let found = findings(&trace);
        prop_assert_eq!(found.len(), 1, "{:?}", &found);
        prop_assert!(
            matches!(found[0], Finding::OutOfOrder { pass, device: at, .. } if pass == moved && at == device),
            "{:?}", found
        );
    }

    #[test]
    fn passes_that_are_missing_doubled_elsewhere_or_overlapping_are_named(
        (model, schedule) in pipeline(), device: u32, at: usize, fault in 0..4
    ) {
        let mut trace = traced(&model, &schedule);
        let device = Device(device % model.devices());
        let other = Device((device.0 + 1) % model.devices());
        let row = &mut trace.iterations[0].passes[device.index()];
        let at = at % row.len();
        let span = row[at];
        let expected = match fault {
            0 => {
                row.remove(at);
                "missing-pass"
            }
            1 => {
                row.insert(at, Span { end: span.start, ..span });
                "duplicate-pass"
            }
            2 => {
                let elsewhere = &mut trace.iterations[0].passes[other.index()];
                let place = elsewhere.partition_point(|other| other.start < span.start);
                // It takes no time there, so that it overlaps nothing.
                elsewhere.insert(place, Span { end: span.start, ..span });
                "wrong-device"
            }
            _ => {
                prop_assume!(at + 1 < row.len());
                row[at].end = row[at + 1].start + Ticks(1);
                "overlap"
            }
        };
        let found = findings(&trace);
        prop_assert_eq!(found.len(), 1, "{:?}", &found);
        prop_assert_eq!(found[0].rule(), expected);
    }

    #[test]
    fn a_pass_that_starts_before_its_input_is_there_is_named_with_the_amount(
        (model, schedule) in pipeline(), by in 1..1000_i64
    ) {
        let mut trace = traced(&model, &schedule);
        // All of a device later: what the others receive from it now comes too late.
        let last = trace.iterations[0].passes.len() - 1;
        let gap = early_by(&trace, last);
        for span in &mut trace.iterations[0].passes[last] {
            (span.start, span.end) = (span.start + Ticks(gap + by), span.end + Ticks(gap + by));
        }
        let found = early(&trace);
        prop_assert_eq!(found[0].by, Ticks(by), "{:?}", &found[0]);
        prop_assert_eq!(findings(&trace), [], "the order on each device is what it was");
    }
}

/// By how much all passes of a device can be later without any other pass starting before its input is there.
fn early_by(trace: &Trace, device: usize) -> i64 {
    let spans = &trace.iterations[0].passes;
    let of = |pass| spans.iter().flatten().find(|span| span.pass == pass).copied();
    let placement = trace.schedule.placement();
    let others = spans.iter().enumerate().filter(|&(at, _)| at != device).flat_map(|(_, row)| row);
    let slack = others.flat_map(|span| {
        let needs = bubbleproof::schedule::prerequisites(span.pass, placement, |pass| of(pass).is_some());
        needs.filter_map(move |needed| {
            let there = placement.device_of(needed.stage).index() == device;
            there.then(|| of(needed).map(|needed| span.start - needed.end)).flatten()
        })
    });
    slack.min().expect("devices exchange messages").0
}
