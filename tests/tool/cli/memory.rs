//! Workspaces, buffers, and Is that leave more than F kept, through every command.

use super::optimized::Optimized;
use super::{assert_recorded, tool};

const MODEL: &str = "tests/corpus/valid/exact-memory.toml";
const SCHEDULE: &str = "tests/corpus/valid/split.json";

#[test]
fn what_is_found_keeps_to_all_memory_and_is_drawn_and_checked() {
    let found = Optimized::of(MODEL);
    let run = &found.run;
    let peaks = run["peak_memory"].as_array().expect("a list");
    assert!(peaks.iter().all(|peak| peak.as_i64().expect("units") <= 160), "{run}");
    found.assert_replays_to("peak_memory");
    found.assert_no_worse_than_named();
    found.drawn();
    found.assert_undecided_for_every_m("the model has `memory.workspace`, `memory.receive` and");
    for command in ["verify", "replay"] {
        let verified = tool(&[command, &found.file, "--model", MODEL, "--json"]).json();
        for pool in verified["receive_pools"].as_array().expect("one for each device") {
            assert_eq!(pool["memory"].as_i64(), pool["buffers"].as_i64().map(|buffers| 6 * buffers));
        }
    }
    let checked = tool(&["check", &found.file, "--model", MODEL]);
    for line in [
        "memory        F holds 40, until W 41, 25, a checkpoint 6 MiB",
        "workspace     F 3, 9; I 4; W 2; B 4; R 5 MiB",
        "buffers       6 MiB for each received message",
    ] {
        assert!(checked.out.contains(line), "{}", checked.out);
    }
}

#[test]
fn a_capacity_that_passes_exceed_while_they_run_is_reported_where_they_do() {
    let run = tool(&["verify", SCHEDULE, "--model", MODEL, "--memory", "90"]);
    assert_recorded("over_capacity_while_passes_run", &run.transcript());
}

#[test]
fn a_model_in_which_not_one_microbatch_fits_is_infeasible() {
    let run = tool(&["optimize", MODEL, "--memory", "49", "-o", "-"]);
    assert_recorded("infeasible_while_passes_run", &run.transcript());
}

#[test]
fn plans_come_with_the_smallest_pool_of_buffers() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("plan.csv").to_str().expect("a plain name").to_owned();
    let to = ["--schedule", "1f1b", "-o", &file, "--to", "pytorch-comms"];
    let written = tool(&[&["convert", MODEL], to.as_slice()].concat());
    assert!(written.out.contains("receive pool  1 buffer of 6 MiB in all"), "{}", written.transcript());
    let verified = tool(&["verify", &file, "--model", MODEL]);
    assert!(verified.out.contains("receive pool"), "{}", verified.out);
    assert!(!verified.out.contains("posted elsewhere"), "{}", verified.out);
    // A receive that is posted before the pass before.
    let plan = std::fs::read_to_string(&file).expect("it was written");
    let moved = plan.replacen("1F0,", "1RECV_F1,1F0,", 1);
    let (before, after) = moved.split_at(moved.find("1F0,").expect("it is there"));
    std::fs::write(&file, format!("{before}{}", after.replacen("1RECV_F1,", "", 1))).expect("a file");
    let verified = tool(&["verify", &file, "--model", MODEL]);
    assert!(verified.out.contains("posted elsewhere"), "{}", verified.transcript());
    let plain = tool(
        &["convert", "tests/corpus/valid/two-devices.toml", "--json"]
            .iter()
            .chain(&to)
            .copied()
            .collect::<Vec<_>>(),
    );
    assert_eq!(plain.json().get("receive_pools"), None);
}

#[test]
fn commands_that_know_passes_alone_refuse_such_memory() {
    let directory = tempfile::tempdir().expect("a directory");
    let folder = directory.path().to_str().expect("a plain name");
    for command in ["block", "frontier", "explain", "certify"] {
        let output: &[&str] = if command == "certify" { &["-o", folder] } else { &[] };
        let refused = tool(&[&[command, MODEL], output].concat());
        assert_eq!(refused.status, 2, "{command}: {}", refused.err);
        assert!(refused.err.contains("`memory.workspace`"), "{command}: {}", refused.err);
    }
}
