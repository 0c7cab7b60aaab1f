//! Ctrl-C while the tool searches: the best schedule found so far is kept, printed and written.
#![cfg(unix)]

use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use assert_cmd::cargo::cargo_bin;
use bubbleproof::model::{self, Units};
use bubbleproof::replay::replay;
use bubbleproof::schedule;

/// Long before the search would end by itself, and long after it has begun.
const MEANWHILE: Duration = Duration::from_secs(2);

const MODEL: &str = "models/profiles/uneven-342.toml";

#[test]
fn an_interrupted_search_writes_the_best_schedule_found_so_far() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("schedule.json");
    let size = ["--devices", "16", "--microbatches", "200", "--memory", "12"];
    let tool = Command::new(cargo_bin("bubbleproof"))
        .args(["optimize", MODEL, "--time-limit", "60", "--json", "-o"])
        .arg(&file)
        .args(size)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the tool starts");
    thread::sleep(MEANWHILE);
    assert!(!file.exists(), "nothing is written while the search goes on");
    let killed = Command::new("kill").args(["-INT", &tool.id().to_string()]).status().expect("kill runs");
    assert!(killed.success(), "the search is still going on");
    let output = tool.wait_with_output().expect("the tool ends");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8_lossy(&output.stderr).contains("interrupted"));

    let written =
        schedule::parse(&fs::read_to_string(&file).expect("the file is there")).expect("a schedule");
    let model = model::parse(&fs::read_to_string(MODEL).expect("the model is there")).expect("a model");
    let model = model.resized(16).and_then(|model| model.with_microbatches(200)).expect("a size");
    let model = model.with_uniform_capacity(Some(Units(12))).expect("a cap");
    let verdict = replay(&model, &written);
    assert!(verdict.is_valid(), "{:?}", verdict.violations);
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).expect("an object");
    let makespan = verdict.timing.expect("it runs").metrics.makespan;
    assert_eq!(told["makespan"], makespan.0);
}
