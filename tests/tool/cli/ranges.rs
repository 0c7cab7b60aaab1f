//! Models with ranges: which command speaks of which case; and orders for measured runs.

use serde_json::Value;

use super::{MODEL, tool, tool_with_input};

const RANGES: &str = "tests/data/cli/ranges.toml";
const TRACE: &str = "tests/data/traces/synthetic/zb-h1-contended.json";
const WORST: &str = "durations are ranges: all times are for the worst case";

/// The model with other durations in place of its ranges.
fn without_ranges(end: &str) -> String {
    let text = std::fs::read_to_string(RANGES).expect("a model");
    let mut plain = String::new();
    let mut rest = text.as_str();
    while let Some((before, range)) = rest.split_once("{ low = ") {
        let (range, after) = range.split_once(" }").expect("a range");
        let (low, high) = range.split_once(", high = ").expect("two ends");
        plain += before;
        plain += if end == "low" { low } else { high };
        rest = after;
    }
    plain + rest
}

#[test]
fn every_figure_of_ranges_is_that_of_the_model_of_its_ends() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("schedule.json");
    let file = file.to_str().expect("a plain name");
    let found = tool(&["optimize", RANGES, "--robust", "-o", file, "--json"]);
    assert!(found.err.contains(WORST), "{}", found.err);
    let found = found.json();
    let [low, high] = ["low", "high"].map(|end| {
        let verified = tool_with_input(&["verify", file, "--model", "-", "--json"], &without_ranges(end));
        verified.json()["makespan"].clone()
    });
    assert!(low.as_i64() < high.as_i64());
    let verified = tool(&["verify", file, "--model", RANGES, "--json"]).json();
    let checked = tool(&["check", file, "--json"]).json();
    let replayed = tool(&["replay", file, "--model", RANGES, "--json"]).json();
    for run in [&found, &verified, &checked, &replayed] {
        assert_eq!((&run["makespan"], &run["best_case_makespan"]), (&high, &low), "{run}");
    }
    assert_eq!(checked["problem"]["low_ends"]["forward"], serde_json::json!([280, 300, 300, 300]));
    // The certificate is about the model with its ranges, and about no other.
    assert_eq!(tool(&["check", file, "--model", RANGES]).status, 0);
    let other = tool_with_input(&["check", file, "--model", "-"], &without_ranges("high"));
    assert_eq!(other.status, 1, "{}", other.out);
    // What has no ranges has no best case.
    let plain = tool_with_input(&["verify", file, "--model", "-", "--json"], &without_ranges("high")).json();
    assert_eq!(plain.get("best_case_makespan"), None);
    insta::assert_snapshot!(
        "ranges_replay",
        tool(&["replay", file, "--model", RANGES]).transcript().replace(file, "schedule.json")
    );
    insta::assert_snapshot!("ranges_check", tool(&["check", file]).transcript());
}

#[test]
fn a_command_that_gives_times_says_that_they_are_of_the_worst_case() {
    let directory = tempfile::tempdir().expect("a directory");
    let [target, file] = ["out", "schedule.json"].map(|name| directory.path().join(name));
    let [target, file] = [&target, &file].map(|path| path.to_str().expect("a plain name"));
    for arguments in [
        vec!["optimize", RANGES, "-o", file],
        vec!["render", file, "--model", RANGES],
        vec!["verify", file, "--model", RANGES, "--every-m"],
        vec!["compare", RANGES, "--schedules", "1f1b"],
        vec!["explain", RANGES, "--time-limit", "1"],
        vec!["frontier", RANGES, "--time-limit", "1"],
        vec!["block", RANGES, "--time-limit", "5"],
        vec!["trace", "compare", TRACE, "--model", RANGES],
    ] {
        let run = tool(&arguments);
        assert!(run.err.contains(WORST), "{arguments:?}: {}", run.err);
    }
    let small = tool(&["certify", RANGES, "--devices", "2", "--microbatches", "1", "-o", target]);
    assert_eq!(small.status, 2, "stages differ, so it has no other size: {}", small.err);
}

#[test]
fn options_that_say_nothing_together_are_refused_with_what_to_type_instead() {
    let cases: [&[&str]; 7] = [
        &["optimize", MODEL, "--robust"],
        &["optimize", MODEL, "--robust", "worst", "--trace", TRACE],
        &["optimize", MODEL, "--robust", "mean"],
        &["optimize", MODEL, "--trace", TRACE],
        &["optimize", MODEL, "--robust", "mean", "--trace", TRACE],
        &["optimize", "tests/corpus/valid/step.toml", "--robust", "mean", "--trace", TRACE],
        &["explain", MODEL, "--schedule", "tests/data/cli/broken.json"],
    ];
    let said: Vec<String> = cases
        .iter()
        .map(|arguments| {
            let run = tool(arguments);
            assert_eq!(run.status, 2, "{arguments:?}: {}", run.out);
            format!("$ bubbleproof {}\n{}", arguments.join(" "), run.err)
        })
        .collect();
    insta::assert_snapshot!("ranges_refused", said.join("\n"));
}

#[test]
fn an_order_for_the_mean_is_no_worse_than_any_other_and_the_same_every_time() {
    let directory = tempfile::tempdir().expect("a directory");
    let [model, file] = ["model.toml", "schedule.json"].map(|name| directory.path().join(name));
    let [model, file] = [&model, &file].map(|path| path.to_str().expect("a plain name"));
    assert_eq!(tool(&["trace", "profile", TRACE, "-o", model]).status, 0);
    let arguments =
        ["optimize", model, "--robust", "mean", "--seed", "3", "-o", file, "--json", "--trace", TRACE];
    let run = tool(&arguments);
    assert!(run.err.contains("a mean over measured runs says nothing about other runs"), "{}", run.err);
    let run = run.json();
    let mean = |of: &Value| of["mean"].as_f64().expect("a number");
    let others = run["others"].as_array().expect("a list");
    assert!(others.iter().any(|other| other["name"] == "optimum for medians"));
    assert!(others.iter().any(|other| other["name"] == "zb-h1"));
    assert!(others.iter().all(|other| mean(&run) <= mean(other)), "{run}");
    let again = tool(&arguments).json();
    assert_eq!(again["schedule"], run["schedule"]);
    assert_eq!(tool(&["verify", file, "--model", model]).status, 0);
}
