//! `convert` and communication: other forms of schedules.

use std::fmt::Write as _;

use serde_json::Value;

use super::{
    DEADLOCKED, EARLY, MODEL, OVERLAPPED, SCHEDULE, SWAPPED, assert_keys, assert_recorded, tool,
    tool_with_input,
};

#[test]
fn communication_is_verified_and_what_cannot_run_is_mended() {
    let mut report = String::new();
    for arguments in [
        &["verify", SWAPPED][..],
        &["verify", DEADLOCKED],
        &["verify", EARLY],
        &["verify", OVERLAPPED],
        &["verify", "tests/corpus/communication/backward-before-receive.csv"],
        &["convert", DEADLOCKED, "-o", "-", "--to", "pytorch-comms"],
        &["convert", DEADLOCKED, "-o", "-", "--to", "pytorch-comms", "--nearest"],
        &["verify", "tests/corpus/communication/blank-cell.csv"],
    ] {
        writeln!(report, "$ bubbleproof {}\n{}", arguments.join(" "), tool(arguments).transcript())
            .expect("writing to a string");
    }
    assert_recorded("communication", &report);
    let json = tool(&["verify", EARLY, "--json"]).json();
    assert_keys(&json, &["communication", "overlapped_pairs", "nearest", "notes"]);
    let ends: Vec<bool> = json["communication"]["semantics"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|behaviour| behaviour["ends"].as_bool().expect("a truth value"))
        .collect();
    assert_eq!(ends, [true, true, false, false]);
    assert_eq!(tool(&["verify", DEADLOCKED, "--json"]).json()["nearest"]["moved"][0]["pass"], "0F1");
}

/// ZB-H1 on four devices with messages, and with these two cells of the file exchanged.
fn exchanged(one: &str, other: &str) -> String {
    let good = tool(&[
        "convert",
        "models/profiles/unit-linear.toml",
        "--schedule",
        "zb-h1",
        "--devices",
        "4",
        "--microbatches",
        "8",
        "-o",
        "-",
        "--to",
        "pytorch-comms",
    ]);
    assert_eq!(good.status, 0, "{}", good.err);
    good.out.replace(one, "?").replace(other, one).replace('?', other)
}

#[test]
fn a_swapped_pair_is_mended_by_moving_its_passes_alone() {
    let swapped = exchanged(",0F4,", ",0I4,");
    let mut report = String::new();
    for arguments in [&["verify", "-"][..], &["convert", "-", "-o", "-", "--to", "pytorch", "--nearest"]] {
        writeln!(
            report,
            "$ bubbleproof {}\n{}",
            arguments.join(" "),
            tool_with_input(arguments, &swapped).transcript()
        )
        .expect("writing to a string");
    }
    assert_recorded("swapped_pair", &report);
    let json = tool_with_input(&["verify", "-", "--json"], &swapped).json();
    assert_eq!(json["nearest"]["moved"].as_array().map(Vec::len), Some(2), "{}", json["nearest"]);
    assert_keys(&json["nearest"]["displaced"][0], &["device", "pass", "after", "from", "to"]);
    let order = json["violations"].as_array().expect("a list").iter().find(|found| found["rule"] == "order");
    assert_keys(order.expect("it is out of order"), &["row", "column"]);
}

#[test]
fn a_valid_file_that_may_hang_comes_with_the_command_that_mends_it() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("mine.csv");
    std::fs::copy(EARLY, &path).expect("copied");
    let run = tool(&["verify", path.to_str().expect("a plain name")]);
    assert_eq!(run.status, 0, "{}", run.transcript());
    let fix = run.out.lines().find(|line| line.starts_with("  fix")).expect("there is a fix");
    let command = fix.split('`').nth(1).expect("a command");
    let words: Vec<&str> = command.split(' ').skip(1).collect();
    assert_eq!(tool(&words).status, 0, "{command}");
    let mended = words.last().expect("the file that it writes");
    assert!(tool(&["verify", mended]).out.contains("ends          everywhere"));
}

#[test]
fn torchtitans_two_files_are_named_together_and_overwrite_no_input() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = |name: &str| directory.path().join(name).to_str().expect("a plain name").to_owned();
    let model = path("model.toml");
    std::fs::copy(MODEL, &model).expect("copied");
    let convert = |output: &str, to: &str| {
        tool(&["convert", &model, "--schedule", "1f1b", "-o", &path(output), "--to", to])
    };
    for (to, outputs) in [
        ("torchtitan-0.2", ["model.csv", "model.toml", "model", "run.v2", "run.json", "run.args", ""]),
        ("torchtitan", ["run.v2", "run.json", "run.toml", "run.TOML", "model.toml", "a\nb", ""]),
    ] {
        for output in outputs {
            let run = convert(output, to);
            assert_eq!(run.status, 2, "{output}: {}", run.transcript());
            assert!(run.err.contains("help:"), "{output}: {}", run.err);
        }
    }
    let toml = convert("run.toml", "torchtitan").err;
    assert!(toml.contains("torchtitan 0.3 reads no TOML") && toml.contains("torchtitan-0.2"), "{toml}");
    assert_eq!(
        std::fs::read(&model).expect("there"),
        std::fs::read(MODEL).expect("there"),
        "the model is as it was"
    );
    for (output, to, [csv, settings]) in [
        ("a run", "torchtitan-0.2", ["a run.csv", "a run.toml"]),
        ("b.csv", "torchtitan-0.2", ["b.csv", "b.toml"]),
        ("c.toml", "torchtitan-0.2", ["c.csv", "c.toml"]),
        ("d run", "torchtitan", ["d run.csv", "d run.args"]),
        ("e.csv", "torchtitan", ["e.csv", "e.args"]),
        ("f.args", "torchtitan", ["f.csv", "f.args"]),
    ] {
        assert_eq!(convert(output, to).status, 0, "{output}");
        assert_eq!(tool(&["verify", &path(csv)]).status, 0);
        let settings = std::fs::read_to_string(path(settings)).expect("written");
        assert!(settings.contains(&path(csv)), "{settings}");
    }
    assert_eq!(std::fs::read_dir(&directory).expect("readable").count(), 13, "nothing else is written");
}

#[test]
fn the_dialect_of_a_csv_is_said() {
    let found = tool_with_input(&["verify", "-"], "0F0,0BW0,0F1,0B1,0W1\r\n");
    assert_eq!(found.status, 0, "{}", found.err);
    insta::assert_snapshot!(found.err, @"note: read as PyTorch's CSV, compute_only, in the letters of 2024: B is the input gradient, BW the full backward");
    let written =
        tool_with_input(&["convert", "-", "-o", "-", "--to", "pytorch"], "0F0,0BW0,,0F1,0B1,0W1\r\n");
    assert_eq!(written.out, "0F0,0B0,,0F1,0I1,0W1\r\n");
}

#[test]
fn converting_there_and_back_changes_nothing() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = |name: &str| directory.path().join(name).to_str().expect("a plain name").to_owned();
    let (csv, json) = (path("schedule.csv"), path("schedule.json"));
    assert_eq!(tool(&["convert", SCHEDULE, "-o", &csv]).status, 0);
    assert_eq!(
        std::fs::read_to_string(&csv).expect("written"),
        tool(&["convert", SCHEDULE, "-o", "-", "--to", "pytorch"]).out
    );
    assert_eq!(tool(&["convert", &csv, "-o", &json]).status, 0);
    let read = |file: &str| -> Value {
        serde_json::from_str(&std::fs::read_to_string(file).expect("readable")).expect("JSON")
    };
    for key in ["placement", "microbatches", "orders"] {
        assert_eq!(read(&json)[key], read(SCHEDULE)[key]);
    }
    assert_eq!(tool(&["verify", &csv]).status, 0);
}

#[test]
fn formats_without_recomputation_leave_it_to_the_backward_and_say_how() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = |name: &str| directory.path().join(name).to_str().expect("a plain name").to_owned();
    let text = std::fs::read_to_string(MODEL).expect("the model is there");
    let (model, own) = (path("model.toml"), path("own.json"));
    std::fs::write(&model, format!("{text}\n[recompute]\ncheckpoint = 0\n")).expect("written");
    let convert = |name: &str, output: &str, format: &str| {
        tool(&["convert", &model, "--schedule", name, "-o", &path(output), "--to", format])
    };
    let kept = tool(&["convert", &model, "--schedule", "1f1b-r", "-o", &own]);
    assert_eq!((kept.status, kept.err.contains("recomput")), (0, false), "{}", kept.transcript());
    let judged = tool(&["verify", &own, "--model", &model]);
    assert!(judged.out.contains("  useful rate   "), "{}", judged.out);
    assert!(judged.out.contains("  recomputed    stages 0 and 1"), "{}", judged.out);
    for (format, how) in [
        ("pytorch", "torch.utils.checkpoint"),
        ("pytorch-comms", "torch.utils.checkpoint"),
        ("torchtitan", "activation_checkpoint=FullAC.Config()"),
        ("torchtitan-0.2", "[activation_checkpoint]"),
        ("sail-sg", "--recompute-granularity full"),
    ] {
        let run = convert("1f1b-r", "again.csv", format);
        let (said, stages) = (run.err.contains(how), run.err.contains("stages 0 and 1"));
        assert_eq!((run.status, said, stages), (0, true, true), "{format}: {}", run.transcript());
        let plain = convert("1f1b", "plain.csv", format);
        assert_eq!((plain.status, plain.err.contains("recomput")), (0, false), "{}", plain.transcript());
        if format == "pytorch" {
            let read = |name: &str| std::fs::read(path(name)).expect("it was written");
            assert_eq!(read("again.csv"), read("plain.csv"));
        }
    }
}

/// Capacities that a schedule keeps because it recomputes are not held against the orders that the runtime gets.
#[test]
fn sail_sg_takes_a_schedule_that_fits_because_it_recomputes() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = |name: &str| directory.path().join(name).to_str().expect("a plain name").to_owned();
    let model = |capacity: u32| {
        let file = path("model.toml");
        let text = format!(
            "name = \"tight\"\n[pipeline]\ndevices = 4\nplacement = \"linear\"\nmicrobatches = 8\n\
             [time]\nforward = 3\nbackward_input = 4\nbackward_weight = 2\n\
             [memory]\nactivation = 4\ncapacity = {capacity}\n[recompute]\ncheckpoint = 1\n"
        );
        std::fs::write(&file, text).expect("written");
        file
    };
    let recomputing = path("recomputing.json");
    let made = tool(&["convert", &model(9), "--schedule", "1f1b-r", "-o", &recomputing]);
    assert_eq!(made.status, 0, "{}", made.transcript());
    let convert = |capacity| {
        tool(&[
            "convert",
            &recomputing,
            "--to",
            "sail-sg",
            "--model",
            &model(capacity),
            "-o",
            &path("nodes.json"),
        ])
    };
    let fits = convert(9);
    assert_eq!(fits.status, 0, "{}", fits.transcript());
    let does_not = convert(6);
    assert_eq!(
        (does_not.status, does_not.err.contains("over the limit of 6")),
        (2, true),
        "{}",
        does_not.transcript()
    );
}
