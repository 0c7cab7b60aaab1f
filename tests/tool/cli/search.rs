//! `optimize` and `block`: what they find, and what they say is proved.

use serde_json::Value;

use super::{FAMILY, FIGURES, MODEL, V_MODEL, assert_keys, tool};

#[test]
fn optimize_gives_the_keys_that_programs_rely_on_and_a_schedule_that_verifies() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("schedule.json");
    let file = file.to_str().expect("a plain name");
    let run = tool(&["optimize", V_MODEL, "--memory", "75%", "--devices", "2", "-o", file, "--json"]).json();
    assert_keys(&run, FIGURES);
    assert_keys(
        &run,
        &["lower_bound", "gap", "gap_exact", "optimal", "proof", "interval", "engine", "schedule"],
    );
    let written = std::fs::read_to_string(file).expect("it was written");
    let written: Value = serde_json::from_str(&written).expect("a schedule file");
    assert_eq!(written, run["schedule"]);
    assert_eq!(written["provenance"]["devices"], 2);

    let verified = tool(&["verify", file, "--model", V_MODEL, "--memory", "75%", "--json"]).json();
    assert_eq!(verified["valid"], true, "{verified}");
    for key in FIGURES {
        assert_eq!(verified[key], run[key], "{key}");
    }
    let checked = tool(&["check", file, "--model", V_MODEL, "--memory", "75%", "--devices", "2", "--json"]);
    let checked = checked.json();
    assert_eq!(checked["valid"], true, "{checked}");
    assert_eq!(checked["claims"].as_array().map(Vec::len), Some(if run["optimal"] == true { 3 } else { 2 }));
    for key in FIGURES {
        assert_eq!(checked[key], run[key], "{key}");
    }
    let (value, bound) = (run["makespan"].as_i64(), run["lower_bound"].as_i64());
    assert!(bound <= value);
    assert_eq!(run["optimal"], bound == value);
}

/// The bound is 142; that nothing is below 144 takes a search.
#[cfg(feature = "lcg")]
#[test]
fn optimality_that_only_a_search_could_prove_is_told_from_what_the_bound_proves() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("schedule.json");
    let file = file.to_str().expect("a plain name");
    let problem = ["models/profiles/uneven-342.toml", "--devices", "4", "--microbatches", "6"];
    let limits = ["--memory", "5", "-o", file];
    let arguments: Vec<&str> = ["optimize"].iter().chain(&problem).chain(&limits).copied().collect();
    let said = tool(&arguments).out;
    assert!(said.contains("none: exhaustive search ("), "{said}");
    assert!(said.contains("found no better schedule"), "{said}");
    let run = tool(&[arguments.as_slice(), &["--json"]].concat()).json();
    assert_eq!((run["makespan"].as_i64(), run["lower_bound"].as_i64()), (Some(144), Some(144)));
    assert!(run["certified_bound"].as_i64() < run["lower_bound"].as_i64(), "{run}");
    assert_eq!(run["optimal"], true);
    assert!(run["proof"].as_str().is_some_and(|proof| proof.starts_with("exhaustive search (")), "{run}");
    let checked = tool(&["check", file, "--json"]).json();
    assert_eq!(checked["valid"], true, "{checked}");
}

#[test]
fn what_is_infeasible_comes_with_a_reason() {
    for arguments in
        [&["optimize", MODEL, "--memory", "0", "--json"], &["block", V_MODEL, "--memory", "1", "--json"]]
    {
        let run = tool(arguments);
        let object = run.json();
        assert_eq!((run.status, &object["feasible"]), (1, &Value::Bool(false)), "{object}");
        assert!(!object["reason"].as_str().expect("a reason").is_empty());
    }
}

#[test]
fn block_gives_the_keys_that_programs_rely_on() {
    let keys = [
        "interval",
        "peak_memory",
        "peak_memory_max",
        "paper_bound",
        "lifespans",
        "offsets",
        "proven",
        "engine",
    ];
    let best = tool(&["block", V_MODEL, "--json"]).json();
    assert_keys(&best, &keys);
    assert_eq!((&best["interval"], &best["peak_memory_max"]), (&Value::from(18), &Value::from(4)), "{best}");
    assert_eq!((&best["proven"], &best["engine"]), (&Value::Bool(true), &Value::from("exact")));
    assert_eq!(best["offsets"].as_object().expect("by pass").len(), 18);

    let family = tool(&["block", FAMILY, "--devices", "4", "--json"]).json();
    assert_keys(&family, &keys);
    assert_eq!(family["faults"], serde_json::json!([]));
}
