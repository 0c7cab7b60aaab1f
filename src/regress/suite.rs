//! A directory of designs: checked against its records, and accepted.

use std::fs;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::cause::{Cause, causes};
use super::check::{CheckOptions, check, vanished};
use super::error::RegressError;
use super::fact::Place;
use super::inputs::Inputs;
use super::kept::with_kept_verdicts;
use super::manifest::{self, Design, DesignSource, Manifest};
use super::measure::MeasureError;
use super::record::Record;
use super::recorded::{RECORDS, Recorded, read, read_record, record_path, recorded_designs};
use super::redraw::{BeforeAfter, before_and_after};
use super::report::{CheckedDesign, SuiteReport};
use crate::files;
use crate::prove::ProveError;

/// The name of the manifest.
pub const MANIFEST: &str = "regress.toml";

/// A directory of designs, read.
#[derive(Debug)]
pub struct Suite {
    directory: PathBuf,
    /// The text of the manifest.
    pub text: String,
    /// The manifest.
    pub manifest: Manifest,
    inputs: Vec<Inputs>,
    records: Vec<Option<Recorded>>,
    vanished: Vec<String>,
}

/// What accepting did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Accepted {
    /// The records that were written.
    pub written: Vec<PathBuf>,
    /// The records that were removed, of designs that vanished.
    pub removed: Vec<PathBuf>,
    /// The designs that are invalid though the manifest does not expect it, or where their records are not, or valid though
    /// it expects them to be invalid. Their records are as they were.
    pub refused: Vec<String>,
}

/// What the figures of a design count.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UnitNames {
    /// The unit of a tick.
    pub time: String,
    /// The unit of memory.
    pub memory: String,
}

impl Suite {
    /// Reads a directory: its manifest, the files of its designs, and the records.
    ///
    /// # Errors
    /// When anything cannot be read or is malformed.
    pub fn read(directory: &Path) -> Result<Self, RegressError> {
        let path = directory.join(MANIFEST);
        let text = read(&path)?;
        let manifest = match manifest::parse(&text) {
            Ok(manifest) => manifest,
            Err(error) => return Err(RegressError::Manifest { path, text, error: Box::new(error) }),
        };
        let inputs = manifest.designs.iter().map(|design| {
            Inputs::read(design, directory).map_err(|error| {
                let (design, span) = (design.name.clone(), design.span.clone());
                RegressError::Input { design, span, error: Box::new(error) }
            })
        });
        let inputs = inputs.collect::<Result<_, _>>()?;
        let folder = directory.join(RECORDS);
        let there = recorded_designs(&folder)?;
        let record = |design: &Design| {
            there.contains(&design.name).then(|| read_record(&folder, &design.name)).transpose()
        };
        let records = manifest.designs.iter().map(record).collect::<Result<_, _>>()?;
        let named = |name: &String| manifest.designs.iter().any(|design| design.name == *name);
        let vanished = there.iter().filter(|name| !named(name)).cloned().collect();
        Ok(Self { directory: directory.to_owned(), text, manifest, inputs, records, vanished })
    }

    /// The path of the manifest.
    #[must_use]
    pub fn manifest_path(&self) -> PathBuf {
        self.directory.join(MANIFEST)
    }

    /// The path of the record of a design, whether there is one or not.
    #[must_use]
    pub fn record_path(&self, design: &str) -> PathBuf {
        record_path(&self.directory.join(RECORDS), design)
    }

    /// The directory.
    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    /// A design of the manifest, with its files and its record.
    pub(super) fn known(&self, design: &str) -> Option<(&Design, &Inputs, Option<&Recorded>)> {
        let position = self.manifest.designs.iter().position(|other| other.name == design)?;
        Some((&self.manifest.designs[position], &self.inputs[position], self.records[position].as_ref()))
    }

    /// What the figures of a design count at a place; nothing where it vanished.
    #[must_use]
    pub fn units(&self, design: &str, place: &Place) -> Option<UnitNames> {
        let (design, inputs, _) = self.known(design)?;
        let own;
        let model = match (&design.subject, &place.model) {
            (DesignSource::Family { .. }, Some(name)) => inputs.models.get(name)?,
            (DesignSource::Family { .. }, None) => {
                own = inputs.family.as_ref()?.model(place.devices.unwrap_or(1), 1).ok()?;
                &own
            }
            (DesignSource::Schedule { .. }, _) => &inputs.schedule.as_ref()?.1,
            (DesignSource::Named { .. } | DesignSource::Model { .. }, _) => inputs.model.as_ref()?,
        };
        Some(UnitNames { time: model.costs().unit.clone(), memory: model.memory().unit.clone() })
    }

    /// The changes of a report by what they come from, those of regressions first.
    #[must_use]
    pub fn causes<'a>(&self, report: &'a SuiteReport) -> Vec<Cause<'a>> {
        causes(self, report)
    }

    /// The schedule of a design before and after, where its orders or times changed and are known.
    #[must_use]
    pub fn before_and_after(&self, checked: &CheckedDesign) -> Option<BeforeAfter> {
        let (design, inputs, recorded) = self.known(&checked.design)?;
        before_and_after(design, inputs, &recorded?.record, checked)
    }

    /// Finds everything anew, several designs at a time, and compares. `watch` hears the name of every design
    /// that is done.
    ///
    /// # Errors
    /// When the files of a design do not fit each other, this program contradicts itself, or it is asked to end
    /// before every design was looked at.
    pub fn check(
        &self,
        options: &CheckOptions,
        watch: &(dyn Fn(&str) + Sync),
    ) -> Result<SuiteReport, RegressError> {
        let designs: Vec<_> = self.manifest.designs.iter().zip(&self.inputs).zip(&self.records).collect();
        let check = |&((design, inputs), record): &((&Design, &Inputs), &Option<Recorded>)| {
            let result = check(design, inputs, record.as_ref(), options);
            watch(&design.name);
            result.map_err(|error| match error {
                MeasureError::Stopped => RegressError::Stopped,
                MeasureError::Prove(ProveError::Solver(error)) => RegressError::Solver(error),
                error => {
                    let (design, span) = (design.name.clone(), design.span.clone());
                    RegressError::Design { design, span, error: Box::new(error) }
                }
            })
        };
        // Collected first, so that the first error is always the same one.
        let results: Vec<_> = designs.par_iter().map(check).collect();
        let mut results: Vec<CheckedDesign> = results.into_iter().collect::<Result<_, _>>()?;
        results.extend(self.vanished.iter().map(|name| vanished(name)));
        Ok(SuiteReport { results })
    }

    /// Makes what was found the record. Each record is written aside and renamed.
    ///
    /// A design that is invalid is not accepted, unless the manifest expects it to be and it is invalid
    /// [nowhere else](CheckedDesign::newly_invalid) than in its record; nor is one that is valid against expectation.
    /// What this build cannot decide keeps the verdict of the old record, if that is about the same formulas.
    ///
    /// # Errors
    /// When a record cannot be written or removed, or would not be read as what was found; nothing is then
    /// written.
    pub fn accept(&self, report: &SuiteReport) -> Result<Accepted, RegressError> {
        let folder = self.directory.join(RECORDS);
        let mut accepted = Accepted::default();
        let failed = |path: &Path, error| RegressError::File { path: path.to_owned(), error };
        let text = |result: &CheckedDesign| {
            let Some(found) = &result.found else { return Ok(None) };
            let position = self.manifest.designs.iter().position(|design| design.name == result.design);
            let old = position.and_then(|position| self.records[position].as_ref());
            let record = with_kept_verdicts(found, old.map(|old| &old.record), |_| true);
            let text = record.to_string();
            if Record::parse_of(&result.design, &text).as_ref() == Ok(&record) {
                Ok(Some(text))
            } else {
                Err(RegressError::Unreadable { design: result.design.clone() })
            }
        };
        let texts: Vec<_> = report.results.iter().map(text).collect::<Result<_, _>>()?;
        fs::create_dir_all(&folder).map_err(|error| failed(&folder, error))?;
        for (result, text) in report.results.iter().zip(texts) {
            if !result.is_as_expected() {
                accepted.refused.push(result.design.clone());
                continue;
            }
            let path = record_path(&folder, &result.design);
            let Some(text) = text else {
                fs::remove_file(&path).map_err(|error| failed(&path, error))?;
                accepted.removed.push(path);
                continue;
            };
            if files::read_text(&path).ok().as_deref() != Some(&text) {
                files::write(&path, &text)?;
                accepted.written.push(path);
            }
        }
        Ok(accepted)
    }
}
