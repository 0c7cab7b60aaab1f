//! `verify`, `replay` and `compare`: what they say of schedules.

use serde_json::Value;

use super::{BROKEN, FIGURES, MODEL, RESIZED, SCHEDULE, assert_keys, assert_recorded_object, tool};

#[test]
fn verify_gives_the_keys_that_programs_rely_on() {
    let valid = tool(&["verify", SCHEDULE, "--model", MODEL, "--json"]).json();
    assert_keys(&valid, FIGURES);
    assert_eq!(valid["valid"], true);
    assert_eq!(valid["violations"], serde_json::json!([]));
    assert_recorded_object("verify_gives_the_keys_that_programs_rely_on", &valid);

    let invalid = tool(&["verify", BROKEN, "--json"]).json();
    assert_keys(&invalid, FIGURES);
    assert_eq!(invalid["valid"], false);
    for violation in invalid["violations"].as_array().expect("a list") {
        assert_keys(violation, &["rule", "device", "pass", "position", "message"]);
    }
    assert!(invalid["makespan"].is_null() && invalid["bubble_rate_exact"].is_null());
    assert_recorded_object("verify_gives_the_keys_that_programs_rely_on-2", &invalid);
}

#[test]
fn replay_gives_every_pass_its_time() {
    let run = tool(&["replay", SCHEDULE, "--model", MODEL, "--json"]).json();
    assert_keys(&run, FIGURES);
    let passes = run["passes"].as_array().expect("a list");
    assert_eq!(passes.len(), 8);
    assert_eq!(passes[0], serde_json::json!({"device": 0, "pass": "0F0", "start": 0, "end": 3}));
    let last = passes.iter().map(|pass| pass["end"].as_i64().expect("ticks")).max();
    assert_eq!(last, run["makespan"].as_i64());
    assert!(tool(&["replay", BROKEN, "--json"]).json()["passes"].is_null());
}

#[test]
fn compare_keeps_the_order_asked_for() {
    let run = tool(&["compare", MODEL, "--schedules", "zb-h1,v-min,1f1b", "--json"]).json();
    let rows = run["schedules"].as_array().expect("a list");
    let names: Vec<&str> = rows.iter().filter_map(|row| row["name"].as_str()).collect();
    assert_eq!(names, ["zb-h1", "v-min", "1f1b"]);
    for row in rows {
        assert_keys(row, FIGURES);
        assert_keys(row, &["valid"]);
    }
    assert_eq!(rows[1]["valid"], false);
    assert!(rows[1]["error"].as_str().expect("a reason").contains("placement"));
}

#[test]
fn compare_leaves_out_what_is_made_for_another_placement_and_says_so() {
    let run = tool(&["compare", MODEL, "--json"]).json();
    let rows = run["schedules"].as_array().expect("a list");
    assert!(rows.iter().any(|row| row["name"] == "1f1b"));
    assert!(rows.iter().all(|row| row["name"] != "v-min"));
    assert!(run["notes"][0].as_str().expect("a note").contains("v-min"), "{}", run["notes"]);
}

#[test]
fn a_schedule_made_for_another_size_finds_its_model() {
    let run = tool(&["verify", RESIZED, "--model", MODEL, "--json"]);
    let object = run.json();
    assert_eq!((run.status, &object["devices"]), (0, &Value::from(3)), "{object}");
    let notes = object["notes"].to_string();
    for word in ["3 devices", "schedule's 1 microbatch ", "--memory 3"] {
        assert!(notes.contains(word) && run.err.contains(word), "{word}: {notes}\n{}", run.err);
    }
}
