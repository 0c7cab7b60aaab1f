//! What the core says of the files in `tests/corpus`, word for word, and of a model file with each of its lines
//! altered.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use bubbleproof_core::comm::{self, Semantics};
use bubbleproof_core::model::{self, Model};
use bubbleproof_core::replay::replay;
use bubbleproof_core::schedule::{self, Schedule};

use crate::row;

fn corpus(folder: &str, end: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus").join(folder);
    let entries = fs::read_dir(folder).expect("a folder of the corpus");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.to_string_lossy().ends_with(end) && !path.ends_with("INDEX.toml"));
    paths.sort_unstable();
    let name = |path: &PathBuf| path.file_name().expect("a file").to_string_lossy().into_owned();
    paths.iter().map(|path| (name(path), fs::read(path).expect("a file"))).collect()
}

/// What is said of a schedule under a model: every violation, or the figures.
pub fn said(model: &Model, schedule: &Schedule) -> String {
    let verdict = replay(model, schedule);
    let mut said = String::new();
    for violation in &verdict.violations {
        let (place, pass) = (violation.place(), violation.pass());
        let place = place.map_or_else(|| "nowhere".to_owned(), |place| place.to_string());
        let pass = pass.map_or_else(|| "no pass".to_owned(), |pass| pass.to_string());
        let device = violation.device().map(|device| device.0);
        writeln!(said, "  {} [{device:?}, {place}, {pass}]: {violation}", violation.rule()).expect("a text");
    }
    let peaks: Vec<i64> = verdict.peak_memory.iter().map(|peak| peak.0).collect();
    write!(said, "  peaks {peaks:?}, most {}", verdict.peak_memory_max()).expect("a text");
    if let Some(timing) = &verdict.timing {
        let starts: Vec<Vec<i64>> =
            timing.starts.iter().map(|starts| starts.iter().map(|start| start.0).collect()).collect();
        write!(said, ", starts {starts:?}, {:?}", timing.metrics).expect("a text");
    }
    said
}

fn is_toml(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|extension| extension == "toml")
}

fn read_model(text: &str) -> String {
    match model::parse(text) {
        Ok(model) => model::print(&model),
        Err(error) => format!("{:?}: {error}", &text[error.span.clone()]),
    }
}

fn read_schedule(text: &str) -> String {
    match schedule::parse(text) {
        Ok(schedule) => {
            let model = Model::unit(schedule.placement().clone(), schedule.microbatches()).expect("a model");
            said(&model, &schedule)
        }
        Err(error) => format!("  {error:?}: {error}"),
    }
}

#[test]
fn of_files_that_are_refused_or_accepted() {
    let mut all = String::new();
    for folder in ["invalid", "valid"] {
        for (name, content) in corpus(folder, "") {
            let Ok(text) = String::from_utf8(content) else { continue };
            let said = if is_toml(&name) { read_model(&text) } else { read_schedule(&text) };
            writeln!(all, "{name}\n{said}").expect("a text");
        }
    }
    insta::assert_snapshot!(all);
}

#[test]
fn of_communication_plans() {
    let mut all = String::new();
    for (name, content) in corpus("communication", ".csv") {
        let text = String::from_utf8(content).expect("a text");
        let Some(plan) = row::plan(&text) else { continue };
        assert_eq!(row::plan(&row::text(&plan)).as_ref(), Some(&plan), "{name}");
        writeln!(all, "{name}").expect("a text");
        all.push_str(&judged(&plan));
    }
    insta::assert_snapshot!(all);
}

/// What is said of a plan: every fault, and what waits for what for ever.
pub fn judged(plan: &comm::CommunicationPlan) -> String {
    let mut said = String::new();
    for fault in comm::verify(plan) {
        let place = fault.place().map_or_else(|| "nowhere".to_owned(), |place| place.to_string());
        let device = fault.device().map(|device| device.0);
        writeln!(said, "  {} [{device:?}, {place}]: {fault}", fault.rule()).expect("a text");
    }
    for semantics in Semantics::ALL {
        let Some(waits) = comm::deadlock(plan, semantics) else { continue };
        let wait = |wait: &comm::ActionWait| {
            format!("{} at {} waits for {} at {}", wait.action, wait.at, wait.needs, wait.needs_at)
        };
        let waits: Vec<String> = waits.iter().map(wait).collect();
        writeln!(said, "  {}, {semantics}: {}", semantics.name(), waits.join("; ")).expect("a text");
    }
    for semantics in Semantics::ALL {
        let ending = comm::ending(plan, semantics);
        writeln!(said, "  {}: {ending}", semantics.name()).expect("a text");
    }
    said
}

const MODEL: &str = r#"name = "all keys"
source = "nowhere"

[pipeline]
devices = 2
placement = "looped"
chunks = 2
microbatches = 3

[time]
unit = "us"
forward = [1, 2, 3, 4]
backward_input = 2
backward_weight = 3
communication = [0, 1, 2]

[memory]
unit = "byte"
activation = 10
retained_for_weight = [1, 2, 3, 4]
weights = 5
capacity = [200, "none"]

[recompute]
checkpoint = 2
"#;

/// Each line of the model left out, doubled, and with other values.
#[test]
fn of_a_model_file_with_one_line_altered() {
    let values = [
        "0",
        "-1",
        "1",
        "2",
        "7",
        "1000000",
        "9223372036854775807",
        "1.5",
        "true",
        "\"text\"",
        "\"v\"",
        "\"linear\"",
        "\"none\"",
        "[]",
        "[1]",
        "[1, 2]",
        "[1, 2, 3]",
        "[1, 2, 3, 4]",
        "[1, \"none\"]",
        "[[0, 1], [2, 3]]",
        "[[0], [0]]",
        "[[1, 0], [5, 2]]",
        "[[0, 1, 2, 3], []]",
        "[[]]",
        "{ a = 1 }",
        "[1, [2]]",
        "[-1, 1]",
        "[\"a\\u0007\"]",
        "{ a = \"\\u0007\" }",
    ];
    let mut all = String::new();
    let lines: Vec<&str> = MODEL.lines().collect();
    for (number, &line) in lines.iter().enumerate().filter(|(_, line)| !line.is_empty()) {
        let mut with = |replacement: &str| {
            let mut altered = lines.clone();
            altered[number] = replacement;
            let said = read_model(&format!("{}\n", altered.join("\n")));
            // What a good file prints is said once; here, only that it is good.
            let said = if said.starts_with("name = ") { "good" } else { &said };
            writeln!(all, "{} | {said}", replacement.replace('\n', " / ")).expect("a text");
        };
        with("");
        with(&format!("{line}\n{line}"));
        with(&format!("x{line}"));
        if let Some((key, _)) = line.split_once(" = ") {
            for value in values {
                with(&format!("{key} = {value}"));
            }
        }
    }
    insta::assert_snapshot!(all);
}
