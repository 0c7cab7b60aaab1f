//! Traces that are unusual and not wrong: what is made of them, and what is said.

use std::fs;

use assert_cmd::Command;
use bubbleproof::model::{Kind, Model, Placement, Ticks, Units};
use bubbleproof::trace::compare::{compare, predict};
use bubbleproof::trace::fit::{FitError, profile};
use bubbleproof::trace::terms::{Terms, TermsError, fit_contention, scaled, simulate};
use bubbleproof::trace::{Sizes, Trace, TraceError, file};

use crate::traces::support::{named, traced, uneven};

fn v_half() -> (Model, Trace) {
    let model = uneven(Placement::v(3).expect("a placement"), 6, 1);
    let trace = traced(&model, &named("v-half", &model));
    (model, trace)
}

fn sizes(hidden: u32, trace: &Trace) -> Sizes {
    let layers = vec![1; trace.schedule.placement().stages() as usize];
    let text = format!(
        "{{\"layers\": {layers:?}, \"hidden\": {hidden}, \"heads\": 4, \"sequence\": 64, \"microbatch_size\": 1, \
         \"dtype\": \"float32\"}}"
    );
    serde_json::from_str(&text).expect("sizes")
}

/// The output of `trace` and its exit status, with the traces in files.
fn tool(command: &str, traces: &[&Trace], options: &[&str]) -> (i32, String, String) {
    let directory = tempfile::tempdir().expect("a directory");
    let names = traces.iter().enumerate().map(|(at, trace)| {
        let path = directory.path().join(format!("{at}.json"));
        let mut text = Vec::new();
        file::write(trace, &mut text).expect("writing to memory");
        fs::write(&path, text).expect("written");
        path
    });
    let names: Vec<_> = names.collect();
    let run = Command::cargo_bin("bubbleproof")
        .expect("the tool is built")
        .args(["trace", command])
        .args(&names)
        .args(options)
        .output()
        .expect("the tool runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (run.status.code().expect("the tool ends by itself"), text(&run.stdout), text(&run.stderr))
}

#[test]
fn the_same_run_given_twice_is_no_other_run() {
    let (_, trace) = v_half();
    let (status, out, _) = tool("compare", &[&trace, &trace], &[]);
    assert_eq!(status, 0);
    assert!(out.contains("fitted to this trace itself (in-sample)"), "{out}");
    assert!(!out.contains("other run"), "{out}");
}

#[test]
fn runs_of_another_network_or_machine_predict_nothing() {
    let (_, trace) = v_half();
    let small = Trace { sizes: Some(sizes(64, &trace)), ..trace.clone() };
    let large = Trace { sizes: Some(sizes(128, &trace)), ..trace.clone() };
    let mut elsewhere = small.clone();
    elsewhere.machine.cores = Some(64);
    let mut again = small.clone();
    again.iterations[0].messages = None;
    assert!(small.is_sibling_of(&again) && !small.is_sibling_of(&small));
    assert!(!small.is_sibling_of(&large) && !small.is_sibling_of(&elsewhere));
    assert_eq!(profile("a", &[small.clone(), large.clone()]).expect_err("two networks"), FitError::Sizes(2));
    assert_eq!(
        profile("a", &[small.clone(), elsewhere.clone()]).expect_err("two machines"),
        FitError::Machines(2)
    );
    let (status, out, _) = tool("compare", &[&small, &large, &elsewhere], &[]);
    assert_eq!((status, out.matches("(in-sample)").count()), (0, 3), "{out}");
    let (status, _, err) = tool("profile", &[&small, &large], &[]);
    assert_eq!(status, 2, "{err}");
    assert!(err.contains("networks of different sizes") && err.contains("help:"), "{err}");
}

/// A second iteration in which every pass held a tenth more.
#[test]
fn what_is_released_is_the_median_of_what_is_released() {
    let (_, mut trace) = v_half();
    for sample in trace.iterations[0].memory.iter_mut().flatten().flatten() {
        sample.live = Units(sample.live.0 * 10);
    }
    let mut more = trace.iterations[0].clone();
    for sample in more.memory.iter_mut().flatten().flatten() {
        sample.live = Units(sample.live.0 * 11 / 10);
    }
    trace.iterations.push(more);
    let fitted = profile("a", std::slice::from_ref(&trace)).expect("a model");
    assert!(!fitted.notes.iter().any(bubbleproof::trace::fit::Note::concerns_predictions));
}

#[test]
fn what_was_there_before_is_in_no_peak() {
    let (model, mut trace) = v_half();
    let expected = predict(&model, &trace.schedule).expect("it runs");
    for samples in trace.iterations[0].memory.iter_mut().flatten() {
        for sample in samples {
            sample.live = Units(sample.live.0 + 1000);
        }
    }
    let compared = compare(&trace, &expected).expect("passes in common");
    let peaks = bubbleproof::replay::replay(&model, &trace.schedule).peak_memory;
    assert_eq!(compared.peak_memory(), Some(&peaks));
}

#[test]
fn a_stage_that_holds_more_after_its_input_gradient_is_fitted() {
    let model = uneven(Placement::linear(2).expect("a placement"), 3, 1);
    let mut trace = traced(&model, &named("zb-h1", &model));
    let ran = &mut trace.iterations[0];
    let (spans, samples) = (&ran.passes[1], &mut ran.memory.as_mut().expect("samples")[1]);
    let (mut live, mut grown) = (0, samples[..1].to_vec());
    for span in spans {
        let change = match span.pass.kind {
            Kind::F => 100,
            Kind::I => 25,
            _ => -125,
        };
        live += change;
        let at = if change > 0 { span.start } else { span.end };
        grown.push(bubbleproof::trace::Sample { at, live: Units(live) });
    }
    grown.sort_by_key(|sample| sample.at);
    *samples = grown;
    let fitted = profile("a", std::slice::from_ref(&trace)).expect("a model");
    let memory = fitted.model.memory();
    assert_eq!((memory.activation[1], memory.retained_for_weight[1]), (Units(100), Units(125)));
    let predicted = predict(&fitted.model, &trace.schedule).expect("it runs");
    let most = trace.iterations[0]
        .memory
        .iter()
        .flatten()
        .map(|samples| samples.iter().map(|sample| sample.live).max().unwrap_or_default());
    assert_eq!(predicted.peak_memory, Some(most.collect()));
}

#[test]
fn passes_that_take_longer_than_can_be_counted_are_refused() {
    let (_, mut trace) = v_half();
    for span in trace.iterations[0].passes.iter_mut().flatten() {
        span.end = span.start + Ticks(1 << 57);
    }
    assert_eq!(trace.checked(), Err(TraceError::TooLong { iteration: 0 }));
}

#[test]
fn gaps_that_add_up_to_too_much_are_no_panic() {
    let (model, trace) = v_half();
    let terms = Terms { gaps: vec![Ticks(i64::MAX / 4); 3], ..Terms::none(3) };
    assert_eq!(simulate(&model, &trace.schedule, &terms), Err(TermsError::TooLong));
}

/// Most forwards of the first stage take no time at all: alone they do not take longer.
#[test]
fn passes_without_duration_count_in_the_medians_of_contention() {
    let (_, mut trace) = v_half();
    for span in trace.iterations[0].passes.iter_mut().flatten() {
        if span.pass.stage.0 == 0 && span.pass.kind == Kind::F && span.pass.microbatch.0 > 0 {
            span.end = span.start;
        }
    }
    let fitted = profile("a", std::slice::from_ref(&trace)).expect("a model");
    let (_, alone) = fit_contention(&fitted, std::slice::from_ref(&trace)).expect("rates");
    let stage = bubbleproof::model::Stage(0);
    assert_eq!(fitted.model.duration(stage, Kind::F), Ticks::ZERO);
    assert_eq!(alone.duration(stage, Kind::F), Ticks::ZERO);
}

#[test]
fn a_given_model_keeps_its_proportions_when_contention_is_taken_out() {
    let (model, _) = v_half();
    assert_eq!(scaled(&model, &model, &model).expect("a model").costs(), model.costs());
    let placement = || Placement::v(3).expect("a placement");
    let of = |times| Model::equal_stages(placement(), 6, times).expect("a model");
    let found = scaled(&of([100, 60, 0, 7]), &of([10, 20, 30, 1]), &of([5, 20, 15, 2])).expect("a model");
    assert_eq!(found.costs(), of([50, 60, 0, 7]).costs());
}

#[test]
fn a_kind_of_pass_that_never_ran_is_named_and_not_a_wrong_file() {
    let (_, mut trace) = v_half();
    for row in &mut trace.iterations[0].passes {
        row.retain(|span| (span.pass.stage.0, span.pass.kind) != (2, Kind::W));
    }
    let (status, out, err) = tool("compare", &[&trace], &[]);
    assert_eq!(status, 1, "{err}");
    assert!(out.contains("`2W0` did not run") || out.contains("missing"), "{out}");
    assert!(out.contains("no trace shows how long W of stage 2 takes"), "{out}");
}

#[test]
fn errors_have_the_sign_of_predicted_less_measured() {
    let (model, trace) = v_half();
    let slower = Model::equal_stages(Placement::v(3).expect("a placement"), 6, [1000; 4]).expect("a model");
    let prediction = predict(&slower, &trace.schedule).expect("it runs");
    let compared = compare(&trace, &prediction).expect("passes in common");
    let (makespan, worst) = (compared.makespan_error(prediction.makespan), &compared.durations.worst[0]);
    assert!(makespan > bubbleproof::replay::Rate::from_integer(0));
    assert!(worst.error() > Ticks::ZERO, "{worst:?}");
    assert!(model.duration(bubbleproof::model::Stage(0), Kind::F) < Ticks(1000));
}
