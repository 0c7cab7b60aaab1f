//! Files that are refused: with which status, and with what message.

use std::fmt::Write as _;
use std::path::Path;

use super::{DIMENSIONS, FAMILY, JOB, MODEL, SCHEDULE, assert_recorded, tool, tool_with_input};

#[derive(serde::Deserialize)]
struct Index {
    file: Vec<Entry>,
}

/// An entry of the index of invalid files; `tests/files/corpus.rs` reads the rest of it.
#[derive(serde::Deserialize)]
struct Entry {
    file: String,
    why: String,
    status: i32,
    model: Option<String>,
}

#[test]
fn every_invalid_file_is_refused_with_its_status_and_a_located_message() {
    let folder = "tests/corpus/invalid";
    let index = std::fs::read_to_string(format!("{folder}/INDEX.toml")).expect("an index");
    let mut messages = String::new();
    for Entry { file, why, status, model } in toml::from_str::<Index>(&index).expect("its form").file {
        let path = format!("{folder}/{file}");
        let model = model.map(|model| format!("{folder}/{model}"));
        let arguments: Vec<&str> = match &model {
            _ if Path::new(&file).extension() == Some("toml".as_ref()) => {
                vec!["compare", &path, "--schedules", "gpipe"]
            }
            Some(model) => vec!["verify", &path, "--model", model],
            None => vec!["verify", &path],
        };
        let run = tool(&arguments);
        assert_eq!(run.status, status, "{file}: {}", run.transcript());
        assert!(!run.err.contains("panicked"), "{file}: {}", run.err);
        let text = if status == 2 { &run.err } else { &run.out };
        assert!(!text.is_empty(), "{file}");
        writeln!(messages, "{file}: {why}\n{text}").expect("a string takes everything");
    }
    assert_recorded("invalid_corpus", &messages);
}

/// Files that are given in place of others, all in one snapshot.
#[test]
fn files_of_another_kind_are_recognised() {
    let mut messages = String::new();
    for arguments in [
        &["verify", MODEL][..],
        &["convert", MODEL, "-o", "-", "--to", "pytorch"],
        &["verify", JOB],
        &["replay", DIMENSIONS],
        &["compare", SCHEDULE],
        &["frontier", FAMILY],
        &["optimize", DIMENSIONS],
        &["plan", DIMENSIONS],
        &["plan", MODEL],
        &["plan", SCHEDULE],
        &["estimate", JOB, "-o", "-"],
        &["prove", MODEL],
        &["verify", SCHEDULE, "--model", FAMILY],
        &["verify", "-"],
        &["compare", "-"],
        &["plan", "-"],
    ] {
        let run = tool(arguments);
        assert_eq!(run.status, 2, "{arguments:?}: {}", run.transcript());
        writeln!(messages, "$ bubbleproof {}\n{}", arguments.join(" "), run.transcript())
            .expect("a string takes everything");
    }
    assert_recorded("files_of_another_kind", &messages);
}

/// CSV files as spreadsheets write them, all in one snapshot.
#[test]
fn what_spreadsheets_make_of_a_csv_is_recognised() {
    let csv = tool(&["convert", SCHEDULE, "-o", "-", "--to", "pytorch-comms"]).out;
    let padded = csv.replacen("\r\n", ", , ,\r\n", 1);
    let long = format!("{}\r\n1F0,1B0\r\n", "0F0;".repeat(400));
    let mut messages = String::new();
    for text in [&csv.replace(',', ";"), &format!("rank,actions\r\n{csv}"), &padded, &long] {
        let run = tool_with_input(&["verify", "-"], text);
        assert_eq!(run.status, 2, "{}", run.transcript());
        messages += &run.err;
        messages.push('\n');
    }
    assert_recorded("csv_of_a_spreadsheet", &messages);
}

/// Messages for single mistakes in files, all in one snapshot.
#[test]
fn mistakes_in_files_are_shown_where_they_are() {
    let model = std::fs::read_to_string(MODEL).expect("readable");
    let schedule = std::fs::read_to_string(SCHEDULE).expect("readable");
    let one_line =
        schedule.replace('\n', "").replace("[[0], [1]]", &format!("[[0], [{}1, 1]]", " ".repeat(3000)));
    let mut messages = String::new();
    for (text, from, to) in [
        (&model, "forward = 3", "forwards = 3"),
        (&model, "forward = 3\n", ""),
        (&model, "forward = 3", "forward = \"3 fortnights\""),
        (&model, "forward = 3", "forward = \"3 GiB\""),
        (&model, "[time]", "[time]\nunit = \"sec\""),
        (&model, "[memory]", "[memory]\nunit = \"gib\""),
        (&model, "forward = 3", "forward = [3, 3, 3]"),
        (&model, "capacity = 2", "capacity = -2"),
        (&model, "devices = 2", "devices = 2 2"),
        (&model, "\"linear\"", "\"zigzag\""),
        (&schedule, "\"0F0\"", "\"0X0\""),
        (&schedule, "-1\"", "-9\""),
        (&schedule, "[[0], [1]]", "[[0], [0]]"),
        (&schedule, "[[0], [1]]", "[[0], [1], [2]]"),
        (&schedule, "\"microbatches\": 2", "\"microbatches\": 0"),
        (&schedule, "\"orders\": [", "\"orders\": [}"),
        (&schedule, "{", ""),
        (&one_line, "\"0F0\"", "\"0Fé\""),
        (&one_line, "", ""),
    ] {
        let wrong = text.replacen(from, to, 1);
        let is_model = std::ptr::eq(text, &raw const model);
        let arguments = if is_model { ["compare", "-"] } else { ["verify", "-"] };
        let run = tool_with_input(&arguments, &wrong);
        assert_eq!(run.status, 2, "{from} -> {to}: {}", run.transcript());
        assert!(run.err.lines().all(|line| line.chars().count() <= 200), "{}", run.err);
        writeln!(messages, "`{from}` -> `{to}`\n{}", run.err).expect("a string takes everything");
    }
    assert_recorded("mistakes_in_files_are_shown_where_they_are", &messages);
}

#[cfg(target_os = "linux")]
#[test]
fn standard_output_by_its_other_names_is_written_to_and_not_replaced() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
        let path = folder.path().join("log");
        std::fs::write(&path, "kept\n").expect("written");
        let log = std::fs::OpenOptions::new().append(true).open(&path).expect("a file");
        let status = std::process::Command::new(assert_cmd::cargo::cargo_bin("bubbleproof"))
            .args(["convert", SCHEDULE, "-o", name, "--to", "json"])
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .stdout(log)
            .status();
        assert!(status.expect("the tool runs").success(), "{name}");
        let written = std::fs::read_to_string(&path).expect("a file");
        assert!(written.starts_with("kept\n{"), "{name}: {written}");
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 1, "{name}");
    }
}

#[test]
fn an_error_of_the_system_is_told_once() {
    let run = tool(&["verify", "no-such-file.json"]);
    assert_eq!(run.err.matches("No such file").count(), 1, "{}", run.err);
    let run = tool(&["convert", SCHEDULE, "-o", "target", "--to", "json"]);
    assert_eq!(run.err.matches("is a directory").count(), 1, "{}", run.err);
}
