//! Block families in place of schedules and of models.

use super::{FAMILY, SCHEDULE, V_MODEL, assert_recorded, tool};

const SIZE: [&str; 4] = ["--devices", "4", "--microbatches", "6"];

fn of_family<'a>(command: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&[command, FAMILY], &SIZE[..], more].concat()
}

#[test]
fn what_people_read_of_a_family() {
    for (name, arguments) in [
        ("family_render", of_family("render", &["--width", "100"])),
        ("family_replay", of_family("replay", &[])),
        ("family_verify", of_family("verify", &["--bound"])),
        ("family_verify_under_a_model", of_family("verify", &["--model", V_MODEL, "--memory", "6"])),
        ("family_compare", of_family("compare", &["--schedules", "v-half,v-min,models/blocks/v-min.toml"])),
        ("family_explain", of_family("explain", &[])),
        ("family_without_a_size", vec!["replay", FAMILY]),
        ("family_without_devices", vec!["replay", FAMILY, "--microbatches", "6"]),
        ("family_without_microbatches", vec!["compare", FAMILY, "--devices", "4"]),
        ("family_under_another_placement", of_family("replay", &["--model", super::MODEL])),
        (
            "family_beside_a_model_of_another_placement",
            vec!["compare", super::MODEL, "--schedules", "1f1b,models/blocks/v-min.toml"],
        ),
        ("model_among_schedules", vec!["compare", super::MODEL, "--schedules", super::MODEL]),
    ] {
        assert_recorded(name, &tool(&arguments).transcript());
    }
}

/// Every command gets the same schedule from a family, and `regress` records the same makespan.
#[test]
fn all_commands_have_the_same_schedule_of_a_family() {
    let makespan = |arguments: &[&str]| tool(&[arguments, &["--json"]].concat()).json()["makespan"].as_i64();
    let replayed = makespan(&of_family("replay", &[]));
    assert!(replayed.is_some());
    assert_eq!(makespan(&of_family("verify", &[])), replayed);
    assert_eq!(makespan(&of_family("explain", &[])), replayed);
    let compared = tool(&of_family("compare", &["--schedules", "v-min", "--json"])).json();
    assert_eq!(compared["schedules"][0]["name"], "v-half (family)");
    assert_eq!(compared["schedules"][0]["makespan"].as_i64(), replayed);
    for file in ["target/tmp/family.json", "target/tmp/family.csv"] {
        assert_eq!(tool(&of_family("convert", &["-o", file])).status, 0);
        assert_eq!(makespan(&["verify", file]), replayed, "{file}");
        assert_eq!(tool(&["verify", file, "--model", V_MODEL, "--devices", "4"]).status, 0);
    }
    let recorded = std::fs::read_to_string("models/regress/records/v-half.record").expect("a record");
    let of_eight = makespan(&["replay", FAMILY, "--devices", "4", "--microbatches", "8"]).expect("it runs");
    assert!(recorded.lines().any(|line| line == format!("d=4 m=8 makespan: {of_eight}")), "{of_eight}");
}

#[test]
fn a_family_at_several_sizes_is_compared_at_each() {
    let sizes = ["--devices", "2,4", "--microbatches", "6"];
    let run = tool(&[&["compare", FAMILY], &sizes[..], &["--schedules", "v-min", "--json"]].concat());
    let blocks = run.json();
    let blocks = blocks.as_array().expect("a list");
    assert_eq!(blocks.len(), 2);
    assert!(blocks.iter().all(|block| block["schedules"][0]["name"] == "v-half (family)"));
}

#[test]
fn a_family_comes_from_standard_input_too() {
    let text = std::fs::read_to_string(FAMILY).expect("readable");
    for command in ["replay", "render", "compare", "explain"] {
        let arguments = [&[command, "-"], &SIZE[..]].concat();
        assert_eq!(super::tool_with_input(&arguments, &text).status, 0, "{command}");
    }
}

#[test]
fn what_is_no_family_does_not_get_its_size() {
    for arguments in [
        &["convert", SCHEDULE, "--devices", "4", "-o", "-", "--to", "json"][..],
        &["explain", SCHEDULE, "--microbatches", "3"],
        &["explain", FAMILY, "--devices", "4"],
        &["explain", super::MODEL, "--model", V_MODEL],
        &["explain", super::MODEL, "--schedule", SCHEDULE, "--model", V_MODEL],
    ] {
        assert_eq!(tool(arguments).status, 2, "{arguments:?}");
    }
}
