//! How far a schedule is from the best one, what limits it, and what would help.

use serde_json::Value;

use super::{BROKEN, FAMILY, MODEL, SCHEDULE, V_MODEL, assert_keys, assert_recorded, tool};

/// Two devices, of which the second has most of the work, little memory and slow messages.
const UNEVEN: &str = "tests/data/cli/uneven.toml";
const OF_UNEVEN: &str = "target/tmp/of-uneven.csv";

fn convert() {
    let run = tool(&["convert", UNEVEN, "--schedule", "gpipe", "-o", OF_UNEVEN]);
    assert_eq!(run.status, 0, "{}", run.transcript());
}

#[test]
fn what_people_read_of_a_gap() {
    convert();
    for (name, arguments) in [
        ("verify_bound", &["verify", OF_UNEVEN, "--model", UNEVEN, "--bound"][..]),
        (
            "verify_bound_that_is_reached",
            &["verify", FAMILY, "--devices", "1", "--microbatches", "4", "--bound"],
        ),
        (
            "verify_bound_of_what_is_wrong",
            &["verify", SCHEDULE, "--model", MODEL, "--memory", "1", "--bound"],
        ),
        ("explain_a_schedule", &["explain", OF_UNEVEN, "--model", UNEVEN]),
        ("explain_an_invalid_schedule", &["explain", BROKEN, "--model", MODEL]),
        ("verify_time_limit_of_nothing", &["verify", SCHEDULE, "--time-limit", "1"]),
    ] {
        assert_recorded(name, &tool(arguments).transcript());
    }
}

#[test]
fn a_bound_changes_neither_the_status_nor_the_other_keys() {
    for arguments in [
        &["verify", SCHEDULE, "--model", MODEL][..],
        &["verify", BROKEN],
        &["verify", SCHEDULE, "--memory", "1"],
    ] {
        let without = tool(&[arguments, &["--json"]].concat());
        let with = tool(&[arguments, &["--json", "--bound", "--time-limit", "20"]].concat());
        assert_eq!(with.status, without.status);
        let (mut with, without) = (with.json(), without.json());
        let keys = ["lower_bound", "bound_reason", "gap", "gap_exact", "optimal"];
        assert_keys(&with, &keys);
        for key in keys {
            with.as_object_mut().expect("an object").remove(key);
        }
        assert_eq!(with, without);
    }
}

#[test]
fn the_gap_is_that_of_the_makespan_above_the_bound() {
    convert();
    let object = tool(&["verify", OF_UNEVEN, "--model", UNEVEN, "--bound", "--json"]).json();
    let number = |key: &str| object[key].as_i64().expect("a number");
    let (makespan, bound) = (number("makespan"), number("lower_bound"));
    assert!(bound < makespan);
    let exact = object["gap_exact"].as_str().expect("a fraction");
    let (numerator, denominator) = exact.split_once('/').expect("a fraction");
    let [numerator, denominator] =
        [numerator, denominator].map(|text| text.parse::<i64>().expect("a number"));
    assert_eq!((makespan - bound) * denominator, numerator * bound);
    assert_eq!(object["optimal"], Value::Bool(false));
}

#[test]
fn the_bound_respects_the_memory_limit() {
    let bound = |memory: &str| {
        let arguments = ["--devices", "4", "--microbatches", "12", "--model", V_MODEL, "--memory", memory];
        let run = tool(&[&["verify", FAMILY], &arguments[..], &["--bound", "--json"]].concat());
        run.json()["lower_bound"].as_i64().expect("a number")
    };
    assert!(bound("4") > bound("8"));
}

#[test]
fn every_cause_and_gain_of_a_schedule_is_named() {
    convert();
    let object = tool(&["explain", OF_UNEVEN, "--model", UNEVEN, "--json"]).json();
    let kinds = |list: &Value, key: &str| -> Vec<String> {
        let list = list.as_array().expect("a list");
        list.iter().map(|entry| entry[key].as_str().expect("a name").to_owned()).collect()
    };
    let reasons = kinds(&object["reasons"], "kind");
    for kind in ["balance", "idle", "messages", "bound", "path"] {
        assert!(reasons.contains(&kind.to_owned()), "{kind}: {reasons:?}");
    }
    let mut changes = kinds(&object["gains"], "change");
    changes.sort();
    assert_eq!(changes, ["balance", "memory", "messages", "order"]);
    let makespan = object["makespan"].as_i64().expect("a number");
    let gains = object["gains"].as_array().expect("a list");
    for gain in gains {
        let (bound, most) = (gain["bound"].as_i64(), gain["at_most"].as_i64());
        assert_eq!(bound.zip(most).map(|(bound, most)| bound + most), Some(makespan));
    }
}

/// Models with more than passes and latencies are explained where a schedule is given.
#[test]
fn schedules_of_machines_are_explained_too() {
    for model in
        ["tests/data/cli/machine.toml", "tests/data/cli/offload.toml", "tests/data/cli/sharding.toml"]
    {
        let found = tool(&["optimize", model, "--time-limit", "5", "-o", "target/tmp/machine.json"]);
        assert_eq!(found.status, 0, "{}", found.transcript());
        let run = tool(&["explain", "target/tmp/machine.json", "--model", model, "--json"]);
        assert_eq!(run.status, 0, "{model}: {}", run.transcript());
        assert_keys(&run.json(), &["reasons", "gains", "durations", "certified_bound"]);
    }
}
