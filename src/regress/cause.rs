//! Changes by their cause: the line of a file that somebody changed, or that has to be.

use std::path::PathBuf;

use super::change::{Change, Severity};
use super::fact::{Key, RecordedVerdict, Value, What};
use super::lines;
use super::manifest::{Design, DesignSource};
use super::record::Record;
use super::report::{CheckedDesign, DesignOutcome, SuiteReport};
use super::spots::{Spot, Spots, spots};
use super::suite::Suite;

/// Where changes come from: a line of a design's file, of the manifest, or of a record that nothing else explains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cause<'a> {
    /// The file, as it is named from the working directory on.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: usize,
    /// What is there: `the formula of I of chunk 0`.
    pub what: String,
    /// What it brings about, design by design. Several designs may share a file.
    pub effects: Vec<Effect<'a>>,
}

/// The changes of one design that have one cause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effect<'a> {
    /// The design.
    pub design: &'a CheckedDesign,
    /// Its changes, the worst first.
    pub changes: Vec<&'a Change>,
}

impl Cause<'_> {
    /// How bad the worst of its changes is.
    #[must_use]
    pub fn severity(&self) -> Severity {
        let changes = self.effects.iter().flat_map(|effect| &effect.changes);
        changes.map(|change| change.severity).min().unwrap_or(Severity::Changed)
    }
}

/// All changes, each under one cause; causes of regressions first, otherwise in the order of the designs.
pub(super) fn causes<'a>(suite: &Suite, report: &'a SuiteReport) -> Vec<Cause<'a>> {
    let mut causes: Vec<Cause<'a>> = Vec::new();
    for result in &report.results {
        let mut origins = Origins::of(suite, result);
        for change in result.changes.iter().filter(|change| change.severity != Severity::Undecided) {
            enter(&mut causes, origins.of_change(change), result, change);
        }
    }
    causes.sort_by_key(Cause::severity);
    causes
}

/// Enters a change under its cause.
fn enter<'a>(causes: &mut Vec<Cause<'a>>, spot: Spot, design: &'a CheckedDesign, change: &'a Change) {
    let Spot { file, line, what } = spot;
    let known = causes.iter().position(|cause| cause.file == file && cause.line == line);
    let position = known.unwrap_or_else(|| {
        causes.push(Cause { file, line, what, effects: Vec::new() });
        causes.len() - 1
    });
    let cause = &mut causes[position];
    // Designs come one after the other.
    match cause.effects.last_mut().filter(|effect| effect.design.design == design.design) {
        Some(effect) => effect.changes.push(change),
        None => cause.effects.push(Effect { design, changes: vec![change] }),
    }
}

/// Where the changes of one design may come from.
struct Origins<'a> {
    suite: &'a Suite,
    result: &'a CheckedDesign,
    design: Option<&'a Design>,
    record: Option<(&'a Record, &'a str)>,
    spots: Spots,
    /// The line of the record for all that nothing explains.
    unexplained: Option<Spot>,
}

impl<'a> Origins<'a> {
    fn of(suite: &'a Suite, result: &'a CheckedDesign) -> Self {
        let known = suite.known(&result.design);
        let record = known
            .and_then(|(_, _, recorded)| recorded)
            .map(|recorded| (&recorded.record, recorded.text.as_str()));
        let spots = match (known, record, &result.found) {
            (Some((design, inputs, _)), Some((record, _)), Some(found)) => {
                spots(suite.directory(), design, inputs, record, found)
            }
            _ => Spots::default(),
        };
        Self { suite, result, design: known.map(|(design, ..)| design), record, spots, unexplained: None }
    }

    fn of_change(&mut self, change: &Change) -> Spot {
        match (self.result.outcome, change.topic.as_str()) {
            (DesignOutcome::New, _) | (_, "expect") => self.entry("expect"),
            (DesignOutcome::Vanished, _) => {
                self.in_record(1, "the record of a design that the manifest does not name")
            }
            (_, "record") => {
                let found = self.result.found.as_ref().map_or_else(String::new, Record::to_string);
                let line = self.record.map_or(1, |(_, text)| lines::first_difference(text, &found));
                self.in_record(line, "the text of the record")
            }
            (_, "promise") => self.of_promise(change),
            _ => self.of_finding(change),
        }
    }

    /// A promise that is new, that was broken before or that is no longer made comes from where promises are made; what
    /// else becomes of one, from what changed in the design.
    fn of_promise(&mut self, change: &Change) -> Spot {
        let Some(What::Promise(name)) = &change.about else { return self.of_finding(change) };
        let key = Key::whole(What::Promise(name.clone()));
        let value =
            |record: Option<&Record>| record.and_then(|record| record.get(&key.place, &key.what)).cloned();
        let is_broken = |value: &Value| matches!(value, Value::Verdict(RecordedVerdict::Refuted, _));
        let recorded = value(self.record.map(|(record, _)| record));
        if value(self.result.found.as_ref()).is_none() {
            return self.entry("promise");
        }
        if recorded.as_ref().is_none_or(is_broken) && change.severity != Severity::Better {
            return self.promise(name);
        }
        self.of_finding(change)
    }

    /// Where a promise is made: the family file, or the manifest.
    fn promise(&self, name: &str) -> Spot {
        let what = "the promise";
        if let Some(Design { subject: DesignSource::Family { file, .. }, .. }) = self.design {
            let text =
                self.suite.known(&self.result.design).and_then(|(_, inputs, _)| inputs.texts.get(file));
            if let Some(line) = text.and_then(|text| lines::of_promise(text, None, name)) {
                return Spot { file: self.suite.directory().join(file), line, what: what.to_owned() };
            }
        }
        match lines::of_promise(&self.suite.text, Some(&self.result.span), name) {
            Some(line) => Spot { file: self.suite.manifest_path(), line, what: what.to_owned() },
            None => self.entry("promise"),
        }
    }

    /// What is found of a design comes from what changed in its files; what is measured, also from the manifest.
    fn of_finding(&mut self, change: &Change) -> Spot {
        let own = match &change.about {
            Some(What::Offsets) => change.pass.as_ref().and_then(|pass| self.spots.formulas.get(pass)),
            Some(What::Problem) => self.spots.problem.as_ref(),
            _ => None,
        };
        if let Some(spot) = own.or(self.spots.first.as_ref()) {
            return spot.clone();
        }
        if change.topic == "coverage" {
            return self.entry("name");
        }
        if let Some(spot) = &self.unexplained {
            return spot.clone();
        }
        let line = self.record.zip(change.about.as_ref());
        let line = line.and_then(|((_, text), what)| lines::of_fact(text, &change.place, what));
        let spot = self.in_record(
            line.unwrap_or(1),
            "what was recorded, while the files of the design say the same as then",
        );
        self.unexplained.insert(spot).clone()
    }

    /// The line of the manifest with a key of the design, or that which names it.
    fn entry(&self, key: &str) -> Spot {
        let line = lines::of_entry_key(&self.suite.text, &self.result.span, key);
        let line = line.unwrap_or_else(|| lines::line_at(&self.suite.text, self.result.span.start));
        Spot { file: self.suite.manifest_path(), line, what: "the entry of the manifest".to_owned() }
    }

    fn in_record(&self, line: usize, what: &str) -> Spot {
        Spot { file: self.suite.record_path(&self.result.design), line, what: what.to_owned() }
    }
}
