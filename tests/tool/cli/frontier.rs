//! Peak memory against makespan, for whole schedules.

use super::{tool, tool_with_input};

const PAIRS: &str = "models/profiles/deepseek-pair-v.toml";

/// DualPipe-V is one schedule among others once pairs count, and the frontier is never worse.
#[test]
fn schedules_with_pairs_are_points_and_no_named_one_is_below() {
    let model = &[PAIRS, "--devices", "3", "--microbatches", "6"];
    let run = tool(&[&["frontier"][..], model, &["--whole", "--limits", "3", "--json"]].concat());
    assert_eq!(run.status, 0, "{}", run.transcript());
    let found = run.json();
    let list = |key: &str| found[key].as_array().expect("a list").clone();
    let figure = |row: &serde_json::Value, key: &str| row[key].as_i64().expect("a whole number");
    let points = list("points");
    assert!(points.len() > 1, "{found}");
    for pair in points.windows(2) {
        assert!(figure(&pair[0], "peak_memory_max") < figure(&pair[1], "peak_memory_max"));
        assert!(figure(&pair[0], "makespan") > figure(&pair[1], "makespan"));
    }
    assert_eq!(found["complete"], true);
    let schedules = list("schedules");
    assert!(schedules.iter().any(|row| row["name"] == "dualpipe-v"), "{found}");
    assert!(schedules.iter().all(|row| row["distance"].as_f64().expect("a share") >= 0.0), "{found}");
    // What is said of a point holds for what another search finds within its memory.
    for point in &points {
        let memory = figure(point, "peak_memory_max").to_string();
        let limits = ["--memory", &memory, "--time-limit", "5", "--json"];
        let again = tool(&[&["optimize"][..], model, &limits].concat()).json();
        assert!(figure(point, "lower_bound") <= figure(&again, "makespan"), "{again}");
        assert!(figure(&again, "lower_bound") <= figure(point, "makespan"), "{again}");
    }
}

/// Every table that building blocks cannot count is counted here.
#[test]
fn models_that_say_more_than_blocks_know_have_one() {
    for model in [
        "tests/corpus/valid/messages.toml",
        "tests/corpus/valid/step.toml",
        "tests/corpus/valid/recompute-levels.toml",
        "tests/data/cli/offload.toml",
        "models/regress/two-way.toml",
    ] {
        let refused = tool(&["frontier", model]);
        assert_eq!(refused.status, 2, "{}", refused.transcript());
        assert!(refused.err.contains("`frontier --whole` supports it"), "{}", refused.err);
        let run = tool(&["frontier", model, "--whole", "--limits", "2", "--time-limit", "10"]);
        assert_eq!(run.status, 0, "{}", run.transcript());
        assert!(run.out.contains("no schedule fits into less than"), "{}", run.out);
    }
}

#[test]
fn options_that_do_not_fit_are_refused() {
    for options in [&["--limits", "3"][..], &["--whole", "--fused"], &["--whole", "--limits", "0"]] {
        let run = tool(&[&["frontier", PAIRS], options].concat());
        assert_eq!(run.status, 2, "{}", run.transcript());
    }
}

#[test]
fn it_is_drawn_with_the_words_of_whole_schedules() {
    let arguments = ["--whole", "--limits", "2", "--devices", "2", "--microbatches", "4", "-o", "-"];
    let model = std::fs::read_to_string(PAIRS).expect("a model");
    let run = tool_with_input(&[&["frontier", "-"], &arguments[..]].concat(), &model);
    assert_eq!(run.status, 0, "{}", run.transcript());
    for part in ["<svg", "dualpipe-v", "lower bound ", "peak memory, "] {
        assert!(run.out.contains(part), "{part}: {}", run.out);
    }
    insta::assert_snapshot!(
        tool_with_input(&[&["frontier", "-"], &arguments[..7]].concat(), &model).transcript()
    );
}
