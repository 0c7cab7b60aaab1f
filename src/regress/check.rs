//! One design: measured, or taken from the cache, and compared with its record.

use std::time::Duration;

use super::cache::Cache;
use super::change::{Change, Severity};
use super::compare::compare;
use super::fact::{Place, RecordedVerdict, Value};
use super::inputs::Inputs;
use super::kept::with_kept_verdicts;
use super::manifest::Design;
use super::measure::{MeasureError, MeasuredDesign, measure};
use super::record::Record;
use super::recorded::Recorded;
use super::report::{CheckedDesign, DesignOutcome, newly_invalid};
use crate::stop::Stop;

/// How designs are checked.
#[derive(Debug, Clone)]
pub struct CheckOptions {
    /// Where findings are kept; none are, without it.
    pub cache: Option<Cache>,
    /// The time for each theorem.
    pub limit: Duration,
    /// When all of it has to end. What is then not complete is given up.
    pub stop: Stop,
}

/// The topics of changes that say that a design is invalid.
const INVALID: [&str; 2] = ["invalid", "communication"];

/// A design against its record.
///
/// # Errors
/// When its files do not fit each other, this program contradicts itself, or it is asked to end.
pub(super) fn check(
    design: &Design,
    inputs: &Inputs,
    recorded: Option<&Recorded>,
    options: &CheckOptions,
) -> Result<CheckedDesign, MeasureError> {
    let key = options.cache.as_ref().map(|cache| (cache, cache.key(design, inputs, options.limit)));
    let kept = key.as_ref().and_then(|(cache, key)| cache.get(&design.name, key));
    let cached = kept.is_some();
    let found = if let Some(record) = kept {
        record
    } else {
        let MeasuredDesign { record, lasting } = measure(design, inputs, options.limit, &options.stop)?;
        if let Some((cache, key)) = key.filter(|_| lasting) {
            // Without a cache everything is only found again.
            _ = cache.put(&key, &record);
        }
        record
    };
    // What is recorded as false stays so until a build that can decide it says otherwise.
    let old = recorded.map(|recorded| &recorded.record);
    let found = with_kept_verdicts(&found, old, |verdict| verdict == RecordedVerdict::Refuted);
    let changes = match recorded {
        Some(recorded) => against(recorded, &found, design),
        None => not_recorded(&found, design),
    };
    let newly_invalid = match old {
        Some(old) if design.is_expected_to_be_invalid => newly_invalid(&found, old),
        _ => Vec::new(),
    };
    let is_undecided = |value: &Value| matches!(value, Value::Verdict(RecordedVerdict::Undecided, _));
    let mut checked = CheckedDesign {
        design: design.name.clone(),
        kind: Some(design.subject.kind()),
        span: design.span.clone(),
        outcome: DesignOutcome::New,
        changes,
        undecided: found.facts.iter().filter(|fact| is_undecided(&fact.value)).count(),
        found: Some(found),
        cached,
        is_expected_to_be_invalid: design.is_expected_to_be_invalid,
        newly_invalid,
    };
    if !checked.is_as_expected() {
        let unexpected = unexpected(&checked, design);
        checked.changes.splice(0..0, unexpected);
    }
    let is = |severity| checked.changes.iter().any(|change| change.severity == severity);
    checked.outcome = match recorded {
        None => DesignOutcome::New,
        Some(_) if is(Severity::Worse) => DesignOutcome::Worse,
        Some(_) if is(Severity::Better) => DesignOutcome::Better,
        Some(_) if is(Severity::Changed) => DesignOutcome::Changed,
        Some(_) => DesignOutcome::Unchanged,
    };
    Ok(checked)
}

/// What is invalid of a design and is said nowhere else, because its record says so too; or that nothing is.
fn unexpected(checked: &CheckedDesign, design: &Design) -> Vec<Change> {
    if !checked.is_invalid() {
        let message = "is valid: remove `expect = \"invalid\"` from the manifest".to_owned();
        return vec![Change::of(Severity::Worse, "expect", &Place::default(), message)];
    }
    let nothing = Record { design: design.name.clone(), facts: Vec::new() };
    let found = checked.found.as_ref().unwrap_or(&nothing);
    let is_said = |change: &Change| {
        checked.changes.iter().any(|other| (&other.topic, &other.place) == (&change.topic, &change.place))
    };
    let is_unexpected =
        |place: &Place| !design.is_expected_to_be_invalid || checked.newly_invalid.contains(place);
    let invalid = compare(&nothing, found, &design.allow).into_iter();
    let invalid = invalid.filter(|change| INVALID.contains(&change.topic.as_str()));
    invalid.filter(|change| is_unexpected(&change.place) && !is_said(change)).collect()
}

/// All that is not as it was recorded; where that is nothing, the text of the record itself, but for the ends
/// of its lines.
fn against(recorded: &Recorded, found: &Record, design: &Design) -> Vec<Change> {
    let mut changes = compare(&recorded.record, found, &design.allow);
    if changes.iter().all(|change| change.severity == Severity::Undecided) {
        let text = with_kept_verdicts(found, Some(&recorded.record), |_| true).to_string();
        if recorded.text.replace("\r\n", "\n") != text {
            let message = "its text has changed: --accept writes it".to_owned();
            changes.insert(0, Change::of(Severity::Changed, "record", &Place::default(), message));
        }
    }
    changes
}

/// The changes of a design without a record: that it has none, and what is wrong with it nevertheless.
fn not_recorded(found: &Record, design: &Design) -> Vec<Change> {
    let nothing = Record { design: design.name.clone(), facts: Vec::new() };
    let message = "has no record yet: look at it and --accept it".to_owned();
    let mut changes = vec![Change::of(Severity::Worse, "record", &Place::default(), message)];
    let wrong = compare(&nothing, found, &design.allow).into_iter();
    changes.extend(wrong.filter(|change| change.severity == Severity::Worse));
    changes
}

/// A design that has a record and is not in the manifest.
pub(super) fn vanished(name: &str) -> CheckedDesign {
    let message = "has a record, but the manifest does not name it".to_owned();
    CheckedDesign {
        design: name.to_owned(),
        kind: None,
        span: 0..0,
        outcome: DesignOutcome::Vanished,
        changes: vec![Change::of(Severity::Worse, "record", &Place::default(), message)],
        undecided: 0,
        found: None,
        cached: false,
        is_expected_to_be_invalid: false,
        newly_invalid: Vec::new(),
    }
}
