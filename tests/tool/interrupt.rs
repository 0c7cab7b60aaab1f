//! Ctrl-C while the tool searches: what has been found so far is kept, printed and written.
#![cfg(unix)]

use std::fs;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use assert_cmd::cargo::cargo_bin;
use bubbleproof::model::{self, Units};
use bubbleproof::replay::replay;
use bubbleproof::schedule;

/// Long before the search would end by itself, and long after it has begun.
const MEANWHILE: Duration = Duration::from_secs(2);

const MODEL: &str = "models/profiles/uneven-342.toml";

fn started(arguments: &[&str]) -> Child {
    Command::new(cargo_bin("bubbleproof"))
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the tool starts")
}

/// What the tool says after Ctrl-C.
fn interrupted(tool: Child) -> Output {
    let killed = Command::new("kill").args(["-INT", &tool.id().to_string()]).status().expect("kill runs");
    assert!(killed.success(), "the search is still going on");
    let output = tool.wait_with_output().expect("the tool ends");
    assert!(String::from_utf8_lossy(&output.stderr).contains("interrupted"));
    output
}

#[test]
fn an_interrupted_search_writes_the_best_schedule_found_so_far() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("schedule.json");
    let place = file.to_str().expect("a plain name");
    let tool = started(&[
        "optimize",
        MODEL,
        "--time-limit",
        "60",
        "--json",
        "-o",
        place,
        "--devices",
        "16",
        "--microbatches",
        "200",
        "--memory",
        "12",
    ]);
    thread::sleep(MEANWHILE);
    assert!(!file.exists(), "nothing is written while the search goes on");
    let output = interrupted(tool);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));

    let written =
        schedule::parse(&fs::read_to_string(&file).expect("the file is there")).expect("a schedule");
    let model = model::parse(&fs::read_to_string(MODEL).expect("the model is there")).expect("a model");
    let model = model.resized(16).and_then(|model| model.with_microbatches(200)).expect("a size");
    let model = model.with_uniform_activation_capacity(Some(Units(12))).expect("a capacity");
    let verdict = replay(&model, &written);
    assert!(verdict.is_valid(), "{:?}", verdict.violations);
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).expect("an object");
    let makespan = verdict.timing.expect("it runs").metrics.makespan;
    assert_eq!(told["makespan"], makespan.0);
}

#[test]
fn an_interrupted_comparison_shows_the_best_schedule_found_so_far() {
    let tool = started(&[
        "compare",
        MODEL,
        "--schedules",
        "optimized",
        "--time-limit",
        "600",
        "--json",
        "--devices",
        "16",
        "--microbatches",
        "200",
        "--memory",
        "12",
    ]);
    thread::sleep(MEANWHILE);
    let output = interrupted(tool);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).expect("an object");
    assert_eq!(told["schedules"][0]["valid"], true);
}

#[cfg(feature = "milp")]
#[test]
fn an_integer_program_is_left_to_itself_when_interrupted() {
    let tool = started(&[
        "block",
        MODEL,
        "--devices",
        "16",
        "--microbatches-per-interval",
        "3",
        "--engine",
        "milp",
        "--time-limit",
        "600",
        "--json",
    ]);
    thread::sleep(MEANWHILE);
    let output = interrupted(tool);
    assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).expect("an object");
    assert_eq!(told["reason"], "milp was interrupted before it found a block, or that there is none");
}
