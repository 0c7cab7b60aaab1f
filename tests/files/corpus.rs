//! The corpus: files that must be refused, each for its reason, and files that must be accepted.
#![expect(
    clippy::case_sensitive_file_extension_comparisons,
    reason = "the corpus names its files in lower case"
)]

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use bubbleproof::advice;
use bubbleproof::model::{self, Model};
use bubbleproof::replay::replay;
use bubbleproof::schedule::{self, ScheduleFileError};
use serde::Deserialize;

use crate::index;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    file: String,
    /// Why an invalid file is refused.
    why: Option<String>,
    /// What a valid file shows.
    about: Option<String>,
    /// The exit status of the tool for an invalid file.
    status: Option<u8>,
    /// The rules that an invalid schedule breaks.
    #[serde(default)]
    rules: BTreeSet<String>,
    /// The model a schedule is replayed under.
    model: Option<String>,
    /// Whether a TOML file begins with its reason.
    #[serde(default = "yes")]
    comment: bool,
}

const fn yes() -> bool {
    true
}

/// The index of a folder, which must list every file there once.
fn index(name: &str) -> Vec<Entry> {
    index::entries(name, |entry: &Entry| &entry.file)
}

/// What became of a file.
enum Outcome {
    /// It cannot be read: the message with its place.
    Refused(String),
    /// It reads, but the schedule breaks rules: their names, and every message.
    Invalid(BTreeSet<String>, Vec<String>),
    /// All is well: a summary.
    Accepted(String),
}

fn outcome(directory: &Path, entry: &Entry) -> Outcome {
    let bytes = fs::read(directory.join(&entry.file)).expect("a file");
    match String::from_utf8(bytes) {
        Err(error) => Outcome::Refused(error.utf8_error().to_string()),
        Ok(text) if entry.file.ends_with(".toml") => model_outcome(&text),
        Ok(text) => schedule_outcome(directory, entry, &text),
    }
}

fn model_outcome(text: &str) -> Outcome {
    match model::parse(text) {
        Ok(model) => {
            let again = model::parse(&model::print(&model));
            assert_eq!(again.as_ref(), Ok(&model), "what is printed reads as what it was");
            let (shape, stages) = (model.placement().shape(), model.stages());
            Outcome::Accepted(format!("{} devices, {stages} stages, {shape}", model.devices()))
        }
        Err(error) => {
            let before = &text[..error.span.start];
            let line = before.matches('\n').count() + 1;
            let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
            let help = advice::for_file(&error.problem)
                .map(|help| format!("\n    help: {help}"))
                .unwrap_or_default();
            Outcome::Refused(format!("{line}:{column}: {error}{help}"))
        }
    }
}

fn schedule_outcome(directory: &Path, entry: &Entry, text: &str) -> Outcome {
    let schedule = match schedule::parse(text) {
        Ok(schedule) => schedule,
        Err(ScheduleFileError::Json { message, line, column }) => {
            return Outcome::Refused(format!("{line}:{column}: {message}"));
        }
        Err(error) => return Outcome::Refused(error.to_string()),
    };
    let mut written = Vec::new();
    schedule::write(&schedule, &mut written).expect("writing to memory");
    let written = String::from_utf8(written).expect("JSON is UTF-8");
    assert_eq!(schedule::parse(&written).expect("what is written reads"), schedule);

    let model = entry.model.as_ref().map_or_else(
        || Model::unit(schedule.placement().clone(), schedule.microbatches()).expect("a unit model"),
        |name| {
            let text = fs::read_to_string(directory.join(name)).expect("a model beside the schedule");
            model::parse(&text).expect("a valid model")
        },
    );
    let verdict = replay(&model, &schedule);
    if verdict.is_valid() {
        let metrics = verdict.timing.expect("a valid schedule has times").metrics;
        let peaks: Vec<i64> = verdict.peak_memory.iter().map(|peak| peak.0).collect();
        return Outcome::Accepted(format!(
            "makespan {}, device span {}, bubble rate {}, peak memory {peaks:?}",
            metrics.makespan, metrics.device_span, metrics.bubble_rate
        ));
    }
    let rules = verdict.violations.iter().map(|violation| violation.rule().to_owned()).collect();
    let messages =
        verdict.violations.iter().map(|violation| format!("{}: {violation}", violation.rule())).collect();
    Outcome::Invalid(rules, messages)
}

#[test]
fn every_invalid_file_is_refused_as_the_index_says_with_a_message_that_says_where() {
    let mut report = String::new();
    for entry in index("invalid") {
        let why = entry.why.as_ref().expect("a reason");
        let (status, messages) = match outcome(&index::folder("invalid"), &entry) {
            Outcome::Refused(message) => (2, vec![message]),
            Outcome::Invalid(rules, messages) => {
                assert_eq!(rules, entry.rules, "{}", entry.file);
                (1, messages)
            }
            Outcome::Accepted(summary) => panic!("{} was accepted: {summary}", entry.file),
        };
        assert_eq!(Some(status), entry.status, "{}: {messages:?}", entry.file);
        writeln!(report, "{}: {why}", entry.file).expect("writing to a string");
        for message in messages {
            writeln!(report, "    {message}").expect("writing to a string");
        }
    }
    insta::assert_snapshot!("invalid", report);
}

#[test]
fn every_invalid_model_file_begins_with_its_reason() {
    let models = index("invalid").into_iter().filter(|entry| entry.file.ends_with(".toml") && entry.comment);
    for entry in models {
        let text = fs::read_to_string(index::folder("invalid").join(&entry.file)).expect("a text");
        let first = text.lines().next().and_then(|line| line.strip_prefix("# why: "));
        assert_eq!(first, entry.why.as_deref(), "{}", entry.file);
    }
}

#[test]
fn every_rule_is_broken_by_at_least_two_schedules() {
    let broken: Vec<String> = index("invalid").into_iter().flat_map(|entry| entry.rules).collect();
    for rule in [
        "model-mismatch",
        "too-few-passes",
        "unknown-pass",
        "wrong-device",
        "duplicate-pass",
        "missing-pass",
        "backward-twice",
        "recompute-unknown",
        "order",
        "deadlock",
        "over-capacity",
    ] {
        assert!(broken.iter().filter(|&other| other == rule).count() >= 2, "{rule}");
    }
}

#[test]
fn every_valid_file_is_accepted() {
    let mut report = String::new();
    for entry in index("valid") {
        let about = entry.about.as_ref().expect("what it shows");
        match outcome(&index::folder("valid"), &entry) {
            Outcome::Accepted(summary) => {
                writeln!(report, "{}: {about}\n    {summary}", entry.file).expect("writing to a string");
            }
            Outcome::Refused(message) => panic!("{}: {message}", entry.file),
            Outcome::Invalid(_, messages) => panic!("{}: {messages:?}", entry.file),
        }
    }
    insta::assert_snapshot!("valid", report);
}
