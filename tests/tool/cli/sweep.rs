//! Lists of sizes and memory limits: every combination in one run.

use std::fs;

use serde_json::Value;

use super::{assert_recorded, tool};

const UNEVEN: &str = "models/profiles/uneven-342.toml";
const V: &str = "tests/data/cli/v-342.toml";
const IN_MIB: &str = "tests/data/cli/offload.toml";

/// A model file with weights, in MiB, in a folder of its own.
fn weighty() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("model.toml");
    let text = "name = \"weighty\"\n[pipeline]\ndevices = 2\nplacement = \"linear\"\nmicrobatches = 4\n[time]\n\
                forward = 3\nbackward_input = 4\nbackward_weight = 2\n[memory]\nunit = \"MiB\"\nactivation = 100\n\
                weights = 1000\n";
    fs::write(&path, text).expect("written");
    let path = path.to_str().expect("a plain name").to_owned();
    (folder, path)
}

fn list(value: &Value) -> &Vec<Value> {
    value.as_array().expect("a list")
}

#[test]
fn optimize_prints_a_row_for_every_combination() {
    let run =
        tool(&["optimize", UNEVEN, "--devices", "3,2", "--microbatches", "4,6", "--memory", "100%,1,75%"]);
    assert_recorded("sweep_optimize", &run.transcript());
    let run = tool(&["optimize", V, "--microbatches", "4,6", "--minimize", "span"]);
    assert_recorded("sweep_optimize_span_without_limits", &run.transcript());
}

#[test]
fn amounts_in_bytes_and_limits_that_weights_exceed_are_rows() {
    let (_folder, model) = weighty();
    let run = tool(&["optimize", &model, "--memory", "1.25GiB,1GB,1 GiB,1150,50%"]);
    assert_recorded("sweep_optimize_in_bytes", &run.transcript());
    let run = tool(&["compare", &model, "--memory", "1GB,1.25GiB", "--schedules", "1f1b,optimized"]);
    assert_recorded("sweep_compare", &run.transcript());
}

#[test]
fn each_object_is_that_of_the_run_alone_with_its_combination() {
    let options = ["--devices", "3", "--microbatches", "4,6", "--json"];
    let swept = tool(&[&["optimize", UNEVEN, "--memory", "75%,1"][..], &options].concat()).json();
    let combinations: Vec<String> = list(&swept).iter().map(|row| row["combination"].to_string()).collect();
    let expected = [(4, "75%", 4), (4, "1", 1), (6, "75%", 4), (6, "1", 1)].map(|(m, memory, limit)| {
        format!("{{\"devices\":3,\"memory\":\"{memory}\",\"memory_limit\":{limit},\"microbatches\":{m}}}")
    });
    assert_eq!(combinations, expected);
    for row in list(&swept) {
        let of = &row["combination"];
        let [m, memory] = [of["microbatches"].to_string(), of["memory"].as_str().expect("a text").to_owned()];
        for command in ["optimize", "compare"] {
            let alone = ["--devices", "3", "--microbatches", &m, "--memory", &memory, "--json"];
            let alone = tool(&[&[command, UNEVEN][..], &alone].concat()).json();
            let mut found = row.clone();
            if command == "compare" {
                let swept = tool(&[&["compare", UNEVEN, "--memory", "75%,1"][..], &options].concat()).json();
                found = list(&swept).iter().find(|other| other["combination"] == *of).expect("there").clone();
            }
            assert!(found.as_object_mut().expect("an object").remove("combination").is_some());
            assert_eq!(found, alone, "{command}");
        }
    }
}

#[test]
fn more_memory_is_never_worse_in_a_sweep() {
    let limits = "6,2,5,3,4,9,7";
    for command in ["optimize", "compare"] {
        let schedules: &[&str] = if command == "compare" { &["--schedules", "optimized"] } else { &[] };
        let run =
            tool(&[&[command, V, "--microbatches", "9", "--memory", limits, "--json"], schedules].concat());
        let swept = run.json();
        let mut found: Vec<(i64, i64)> = list(&swept)
            .iter()
            .map(|row| {
                let makespan =
                    if command == "compare" { &row["schedules"][0]["makespan"] } else { &row["makespan"] };
                let limit = row["combination"]["memory_limit"].as_i64().expect("a limit");
                (limit, makespan.as_i64().expect("a schedule"))
            })
            .collect();
        found.sort_unstable();
        assert_eq!(found.len(), 7);
        assert!(found.windows(2).all(|two| two[0].1 >= two[1].1), "{command}: {found:?}");
        assert!(found[0].1 > found[6].1, "{found:?}");
    }
}

#[test]
fn schedules_are_written_to_a_folder_under_the_names_of_their_combinations() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = format!("{}/new/", folder.path().to_str().expect("a plain name"));
    let arguments =
        ["optimize", UNEVEN, "--devices", "3", "--microbatches", "4,6", "--memory", "50%,3,1", "-o", &place];
    let run = tool(&arguments);
    assert_eq!(run.status, 0, "{}", run.transcript());
    let mut names: Vec<String> = fs::read_dir(&place)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("a plain name"))
        .collect();
    names.sort_unstable();
    // Half of 1F1B's memory is 3: one schedule, for two rows.
    assert_eq!(names, ["d3-m4-memory3.json", "d3-m6-memory3.json"]);
    assert_eq!(run.out.matches("wrote ").count(), 2, "{}", run.out);
    let rows = tool(&[&arguments[..], &["--json"]].concat()).json();
    let files = list(&rows).iter().filter_map(|row| row["file"].as_str()).count();
    assert_eq!(files, 4);
    for name in names {
        let file = format!("{place}{name}");
        let m = if name.contains("m4") { "4" } else { "6" };
        let problem = ["--model", UNEVEN, "--devices", "3", "--microbatches", m, "--memory", "3"];
        let checked = tool(&[&["check", &file], &problem[..]].concat());
        assert_eq!(checked.status, 0, "{}", checked.transcript());
        // The options are recorded, so that the model can be given its size again.
        let verified = tool(&["verify", &file, "--model", UNEVEN, "--memory", "3"]);
        assert_eq!(verified.status, 0, "{}", verified.transcript());
    }
}

#[test]
fn lists_that_are_wrong_are_refused() {
    for (arguments, said) in [
        (&["optimize", V, "--memory", "50%,,75%"][..], "the list has an empty element"),
        (&["optimize", V, "--memory", "50%,"], "the list has an empty element"),
        (&["compare", V, "--memory", "50%,50.0%"], "`50.0%` is a duplicate of `50%`"),
        (&["optimize", IN_MIB, "--memory", "1GiB,1024MiB"], "`1024MiB` is a duplicate of `1GiB`"),
        (&["frontier", V, "--devices", "3,3"], "`3` is a duplicate"),
        (&["compare", V, "--microbatches", "3,0"], "0 is not in 1..=4294967295"),
        (&["optimize", V, "--memory", "50%,3giraffe"], "\"giraffe\" is no unit of memory"),
        (&["optimize", V, "--memory", "50%stage-activation"], "\"%stage-activation\" is no unit of memory"),
        (&["optimize", V, "--memory", "50%GiB"], "\"%GiB\" is no unit of memory"),
        (
            &["optimize", V, "--memory", "60GiB"],
            "an amount of bytes, but `v-342` counts memory in stage-activation",
        ),
        (
            &["optimize", V, "--memory", "3,60GiB"],
            "an amount of bytes, but `v-342` counts memory in stage-activation",
        ),
        (&["explain", V, "--memory", "60GiB"], "an amount of bytes, but"),
        (&["explain", V, "--memory", "50%,75%"], "takes a single amount"),
        (&["explain", V, "--devices", "3,4"], "takes a single number"),
        (&["verify", "tests/data/cli/one-f-one-b.json", "--microbatches", "2,3"], "takes a single number"),
        (&["optimize", V, "--memory", "3,4", "-o", "one.json"], "give `-o` a folder"),
        (&["optimize", V, "--memory", "3,4", "-o", "-"], "give `-o` a folder"),
        (&["optimize", V, "--memory", "3,4", "-o", "README.md/"], "give `-o` a folder"),
        (&["optimize", V, "--memory", "3,4", "-o", "no/such/folder/"], "there is no folder no/such"),
        (
            &["optimize", V, "--memory", "3,4", "--robust", "mean", "--trace", V],
            "takes one size and one memory limit",
        ),
        (&["optimize", V, "--memory", "3,4", "--robust"], "has no ranges"),
    ] {
        let run = tool(arguments);
        assert_eq!(run.status, 2, "{arguments:?}: {}", run.transcript());
        let words: Vec<&str> = run.err.split_whitespace().collect();
        assert!(words.join(" ").contains(said), "{arguments:?}: {}", run.err);
    }
}

#[test]
fn frontiers_of_several_sizes_are_one_picture() {
    let whole = ["frontier", V, "--whole", "--limits", "2", "--microbatches", "4,8"];
    assert_recorded("sweep_frontier_whole", &tool(&whole).transcript());
    let drawn = tool(&[&whole[..], &["-o", "-"]].concat());
    for part in ["<svg", ">m = 4</text>", ">m = 8</text>", "lower bound ", "v-342: 3 devices"] {
        assert!(drawn.out.contains(part), "{part}: {}", drawn.out);
    }
    let objects = tool(&[&whole[..], &["--json"]].concat()).json();
    for (row, m) in list(&objects).iter().zip(["4", "8"]) {
        let alone = tool(&["frontier", V, "--whole", "--limits", "2", "--microbatches", m, "--json"]).json();
        let mut row = row.clone();
        let combination =
            row.as_object_mut().expect("an object").remove("combination").expect("a combination");
        assert_eq!(combination["microbatches"].to_string(), m);
        assert_eq!(row, alone);
    }
    // Blocks are the same for every number of microbatches, and drawn once.
    let blocks = ["frontier", V, "--devices", "2,3", "--microbatches", "4,8"];
    let drawn = tool(&[&blocks[..], &["-o", "-"]].concat());
    assert_eq!(
        drawn.out.matches("<path fill=\"none\"").count(),
        4,
        "a curve and a line of the legend: {}",
        drawn.out
    );
    let objects = tool(&[&blocks[..], &["--json"]].concat()).json();
    assert_eq!(list(&objects).len(), 4);
    for row in list(&objects) {
        let [d, m] = ["devices", "microbatches"].map(|key| row["combination"][key].to_string());
        let alone = tool(&["frontier", V, "--devices", &d, "--microbatches", &m, "--json"]).json();
        let mut row = row.clone();
        row.as_object_mut().expect("an object").remove("combination");
        assert_eq!(row, alone);
    }
}
