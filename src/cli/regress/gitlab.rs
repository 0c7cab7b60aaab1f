//! The report of `regress` as GitLab's code-quality report.
//!
//! The format is that of "Code Quality", section "Code Quality report format" (`docs.gitlab.com/ci/testing/code_quality`):
//! a JSON array without a byte order mark, whose entries have `description`, `check_name`, `fingerprint`,
//! `severity` (info, minor, major, critical or blocker), `location.path` (from the root of the repository on, without
//! `./`) and `location.lines.begin`. GitLab compares the fingerprints of two reports to tell new findings from old ones,
//! and shows only one of several entries with the same.

use std::fmt::Write as _;

use serde::Serialize;
use sha2::{Digest, Sha256};

use super::CheckedSuite;
use super::effects::kinds;
use super::human::undecided;
use super::location::Root;
use crate::regress::{Cause, Change, Effect, Severity};

#[derive(Debug, Serialize)]
pub(super) struct Entry {
    description: String,
    check_name: String,
    fingerprint: String,
    severity: &'static str,
    location: Location,
}

#[derive(Debug, Serialize)]
struct Location {
    path: String,
    lines: Lines,
}

#[derive(Debug, Serialize)]
struct Lines {
    begin: usize,
}

/// An entry for each kind of change that a cause brings about in a design.
pub(super) fn report(checked: &CheckedSuite<'_>, root: &Root) -> Vec<Entry> {
    let mut entries = Vec::new();
    for cause in checked.suite.causes(checked.report) {
        for effect in &cause.effects {
            entries.extend(kinds(effect).iter().map(|changes| entry(checked, root, &cause, effect, changes)));
        }
    }
    if let Some(undecided) = undecided(checked.report) {
        let path = root.name(&checked.suite.manifest_path());
        entries.push(Entry {
            fingerprint: fingerprint(&[&path, "undecided"]),
            description: undecided,
            check_name: "bubbleproof/undecided".to_owned(),
            severity: if checked.strict { "major" } else { "info" },
            location: Location { path, lines: Lines { begin: 1 } },
        });
    }
    entries
}

fn entry(
    checked: &CheckedSuite<'_>,
    root: &Root,
    cause: &Cause<'_>,
    effect: &Effect<'_>,
    changes: &[&Change],
) -> Entry {
    let first = changes[0];
    let path = root.name(&cause.file);
    let design = &effect.design.design;
    let more = match changes.len() - 1 {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    let fails = changes.iter().any(|change| checked.is_failing(effect.design, change));
    let severity = match (fails, first.severity, first.topic.as_str()) {
        (true, _, "invalid" | "communication") => "critical",
        (true, ..) => "major",
        (false, Severity::Worse, _) => "minor",
        (false, ..) => "info",
    };
    // Neither the line nor the figures: while a regression stays, it is the same one.
    let about = first.about.as_ref().map(ToString::to_string).unwrap_or_default();
    let fingerprint = fingerprint(&[&path, design, &first.topic, &about, first.severity.word(), &cause.what]);
    Entry {
        description: format!(
            "{design}: {} {}: {}{more}",
            first.severity.word(),
            first.topic,
            checked.sentence(effect.design, first)
        ),
        check_name: format!("bubbleproof/{}", first.topic),
        fingerprint,
        severity,
        location: Location { path, lines: Lines { begin: cause.line } },
    }
}

/// A digest of texts, each with its length, so that no two lists of texts give one.
fn fingerprint(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    hash.finalize().iter().take(16).fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("texts grow");
        text
    })
}
