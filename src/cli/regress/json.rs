//! The report of `regress` as one JSON object.

use std::fmt;
use std::path::Path;

use serde::{Serialize, Serializer};

use super::{CheckedSuite, word};
use crate::cli::file_name::FileName;
use crate::regress::{Change, CheckedDesign, Initialised, Tally};

#[derive(Serialize)]
pub(super) struct Object<'a> {
    /// Whether nothing fails.
    ok: bool,
    directory: FileName,
    designs: Vec<Row<'a>>,
    tally: Numbers,
    #[serde(skip_serializing_if = "Option::is_none")]
    accepted: Option<Files>,
}

#[derive(Serialize)]
struct Row<'a> {
    name: &'a str,
    /// What it is; nothing where it vanished.
    kind: Option<&'a str>,
    outcome: &'static str,
    regressed: bool,
    /// The line of the manifest that names it.
    line: Option<usize>,
    /// How many theorems and promises this build cannot decide.
    undecided: usize,
    cached: bool,
    changes: Vec<Difference<'a>>,
}

#[derive(Serialize)]
struct Difference<'a> {
    severity: &'static str,
    topic: &'a str,
    /// Such as `d=4 m=8`; empty for the design as a whole.
    place: String,
    message: &'a str,
    details: &'a [String],
    recorded: Option<&'a str>,
    found: Option<&'a str>,
}

#[derive(Serialize)]
struct Numbers {
    new: usize,
    vanished: usize,
    worse: usize,
    better: usize,
    changed: usize,
    unchanged: usize,
    undecided: usize,
}

#[derive(Serialize)]
struct Files {
    written: Vec<FileName>,
    removed: Vec<FileName>,
    refused: Vec<String>,
}

/// The report as an object.
pub(super) fn object<'a>(checked: &'a CheckedSuite<'a>) -> Object<'a> {
    let row = |design: &'a CheckedDesign| Row {
        name: &design.design,
        kind: design.kind,
        outcome: design.outcome.word(),
        // What has been accepted is no regression, as for the exit status.
        regressed: checked.is_failed(design),
        line: design.kind.map(|_| checked.line(design.span.start)),
        undecided: design.undecided,
        cached: design.cached,
        changes: design.changes.iter().map(difference).collect(),
    };
    let Tally { new, vanished, worse, better, changed, unchanged, undecided } = checked.report.tally();
    let names = |paths: &[std::path::PathBuf]| paths.iter().map(FileName::of).collect();
    Object {
        ok: !checked.fails(),
        directory: FileName::of(checked.directory),
        designs: checked.report.results.iter().map(row).collect(),
        tally: Numbers { new, vanished, worse, better, changed, unchanged, undecided },
        accepted: checked.accepted.map(|accepted| Files {
            written: names(&accepted.written),
            removed: names(&accepted.removed),
            refused: accepted.refused.clone(),
        }),
    }
}

fn difference(change: &Change) -> Difference<'_> {
    let values = change.values.as_ref();
    Difference {
        severity: change.severity.word(),
        topic: &change.topic,
        place: change.place.to_string(),
        message: &change.message,
        details: &change.details,
        recorded: values.map(|(recorded, _)| recorded.as_str()),
        found: values.map(|(_, found)| found.as_str()),
    }
}

/// The manifest that was made, and the directory asked for.
pub(super) struct Made<'a>(pub &'a Initialised, pub &'a Path);

impl Serialize for Made<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Entry<'a> {
            name: &'a str,
            kind: &'a str,
        }
        #[derive(Serialize)]
        struct Object<'a> {
            manifest: FileName,
            designs: Vec<Entry<'a>>,
        }
        let designs = self.0.designs.iter().map(|(name, kind)| Entry { name, kind }).collect();
        Object { manifest: FileName::of(&self.0.manifest), designs }.serialize(serializer)
    }
}

impl fmt::Display for Made<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, kind) in &self.0.designs {
            writeln!(out, "entered {name} ({kind}) into {}", FileName::of(&self.0.manifest))?;
        }
        writeln!(out, "`bubbleproof regress {} --accept` makes the first records", word(self.1))
    }
}
