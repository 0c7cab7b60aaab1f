//! A directory of designs: checked against its records, and accepted.

use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io};

use rayon::prelude::*;

use super::cache::Cache;
use super::compare::{Change, Severity, compare};
use super::fact::{Fact, Key, Place, Value, Verdict, What};
use super::files;
use super::inputs::{InputError, Inputs};
use super::manifest::{self, Design, Manifest};
use super::measure::{Found, MeasureError, measure};
use super::record::{Record, RecordError};
use crate::block::family::FormulaFileError;

/// The name of the manifest.
pub const MANIFEST: &str = "regress.toml";

/// The directory of the records, beside the manifest.
pub const RECORDS: &str = "records";

const ENDING: &str = ".record";

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

/// A record with its text.
#[derive(Debug)]
struct Recorded {
    record: Record,
    text: String,
}

/// Why designs cannot be checked.
#[derive(Debug, thiserror::Error)]
pub enum RegressError {
    /// A file that cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A manifest that is wrong.
    #[error("{}: {error}", path.display())]
    Manifest {
        /// The file.
        path: PathBuf,
        /// Its text.
        text: String,
        /// What is wrong.
        error: Box<FormulaFileError>,
    },
    /// A record that is wrong.
    #[error("{}: {error}", path.display())]
    Record {
        /// The file.
        path: PathBuf,
        /// Its text.
        text: String,
        /// What is wrong.
        error: Box<RecordError>,
    },
    /// A file of a design that is wrong.
    #[error("{design}: {error}")]
    Input {
        /// The name of the design.
        design: String,
        /// Where the manifest names it, in bytes.
        span: std::ops::Range<usize>,
        /// What is wrong.
        error: Box<InputError>,
    },
    /// A design whose files do not fit each other.
    #[error("{design}: {error}")]
    Design {
        /// The name of the design.
        design: String,
        /// Where the manifest names it, in bytes.
        span: std::ops::Range<usize>,
        /// What is wrong.
        error: Box<MeasureError>,
    },
    /// A record that would not be read as what was found.
    #[error("internal error: {design}: its record cannot be read again")]
    Unreadable {
        /// The name of the design.
        design: String,
    },
}

/// How designs are checked.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where findings are kept; none are, without it.
    pub cache: Option<Cache>,
    /// The time for each theorem.
    pub limit: Duration,
}

/// What became of a design.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// It has no record.
    New,
    /// It has a record, and the manifest does not name it.
    Vanished,
    /// Something is worse beyond its threshold.
    Worse,
    /// Nothing is worse, and something is better.
    Better,
    /// Something is neither worse nor better, but not as it was.
    Changed,
    /// Everything is as it was recorded, as far as this build can tell.
    Unchanged,
}

impl Outcome {
    /// The word for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::New => "not recorded",
            Self::Vanished => "vanished",
            Self::Worse => "worse",
            Self::Better => "better",
            Self::Changed => "changed",
            Self::Unchanged => "unchanged",
        }
    }
}

/// A design, against its record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// Its name.
    pub design: String,
    /// What it is: `family`, `schedule`, `named`, `model`; nothing where it vanished.
    pub kind: Option<&'static str>,
    /// Where the manifest names it, in bytes.
    pub span: std::ops::Range<usize>,
    /// What became of it.
    pub outcome: Outcome,
    /// All that is not as it was recorded, the worst first.
    pub changes: Vec<Change>,
    /// How many theorems and promises this build cannot decide.
    pub undecided: usize,
    /// What was found; nothing where it vanished.
    pub found: Option<Record>,
    /// Whether it comes from the cache.
    pub cached: bool,
}

/// All designs, against their records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// In the order of the manifest, then those that vanished.
    pub results: Vec<Checked>,
}

/// How many designs there are of each kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Without a record.
    pub new: usize,
    /// With a record only.
    pub vanished: usize,
    /// With a regression.
    pub worse: usize,
    /// Better.
    pub better: usize,
    /// Changed, neither worse nor better.
    pub changed: usize,
    /// As recorded.
    pub unchanged: usize,
    /// Theorems and promises that this build cannot decide.
    pub undecided: usize,
}

/// What accepting did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Accepted {
    /// The records that were written.
    pub written: Vec<PathBuf>,
    /// The records that were removed, of designs that vanished.
    pub removed: Vec<PathBuf>,
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
        let there = files::with_ending(&folder, ENDING)
            .map_err(|source| RegressError::File { path: folder.clone(), source })?;
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

    /// Finds everything anew, several designs at a time, and compares. `watch` hears the name of every design
    /// that is done.
    ///
    /// # Errors
    /// When the files of a design do not fit each other, or this program contradicts itself.
    pub fn check(&self, options: &Options, watch: &(dyn Fn(&str) + Sync)) -> Result<Report, RegressError> {
        let designs: Vec<_> = self.manifest.designs.iter().zip(&self.inputs).zip(&self.records).collect();
        let check = |&((design, inputs), record): &((&Design, &Inputs), &Option<Recorded>)| {
            let result = check(design, inputs, record.as_ref(), options);
            watch(&design.name);
            result.map_err(|error| {
                let (design, span) = (design.name.clone(), design.span.clone());
                RegressError::Design { design, span, error: Box::new(error) }
            })
        };
        // Collected first, so that the first error is always the same one.
        let results: Vec<_> = designs.par_iter().map(check).collect();
        let mut results: Vec<Checked> = results.into_iter().collect::<Result<_, _>>()?;
        results.extend(self.vanished.iter().map(|name| vanished(name)));
        Ok(Report { results })
    }

    /// Makes what was found the record. Each record is written aside and renamed.
    ///
    /// What this build cannot decide keeps the verdict of the old record, if that is about the same formulas.
    ///
    /// # Errors
    /// When a record cannot be written or removed, or would not be read as what was found; nothing is then
    /// written.
    pub fn accept(&self, report: &Report) -> Result<Accepted, RegressError> {
        let folder = self.directory.join(RECORDS);
        let mut accepted = Accepted::default();
        let failed = |path: &Path, source| RegressError::File { path: path.to_owned(), source };
        let text = |result: &Checked| {
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
        fs::create_dir_all(&folder).map_err(|source| failed(&folder, source))?;
        for (result, text) in report.results.iter().zip(texts) {
            let path = folder.join(format!("{}{ENDING}", result.design));
            let Some(text) = text else {
                fs::remove_file(&path).map_err(|source| failed(&path, source))?;
                accepted.removed.push(path);
                continue;
            };
            if fs::read_to_string(&path).ok().as_deref() != Some(&text) {
                files::write(&path, &text).map_err(|source| failed(&path, source))?;
                accepted.written.push(path);
            }
        }
        Ok(accepted)
    }
}

fn read(path: &Path) -> Result<String, RegressError> {
    fs::read_to_string(path).map_err(|source| RegressError::File { path: path.to_owned(), source })
}

fn read_record(folder: &Path, name: &str) -> Result<Recorded, RegressError> {
    let path = folder.join(format!("{name}{ENDING}"));
    let text = read(&path)?;
    match Record::parse_of(name, &text) {
        Ok(record) => Ok(Recorded { record, text }),
        Err(error) => Err(RegressError::Record { path, text, error: Box::new(error) }),
    }
}

fn check(
    design: &Design,
    inputs: &Inputs,
    recorded: Option<&Recorded>,
    options: &Options,
) -> Result<Checked, MeasureError> {
    let key = options.cache.as_ref().map(|cache| (cache, cache.key(design, inputs, options.limit)));
    let kept = key.as_ref().and_then(|(cache, key)| cache.get(&design.name, key));
    let cached = kept.is_some();
    let found = if let Some(record) = kept {
        record
    } else {
        let Found { record, lasting } = measure(design, inputs, options.limit)?;
        if let Some((cache, key)) = key.filter(|_| lasting) {
            // Without a cache everything is only found again.
            _ = cache.put(&key, &record);
        }
        record
    };
    // What is recorded as false stays so until a build that can decide it says otherwise.
    let old = recorded.map(|recorded| &recorded.record);
    let found = with_kept_verdicts(&found, old, |verdict| verdict == Verdict::Refuted);
    let changes = match recorded {
        Some(recorded) => against(recorded, &found, design),
        None => not_recorded(&found, design),
    };
    let is = |severity| changes.iter().any(|change| change.severity == severity);
    let outcome = match recorded {
        None => Outcome::New,
        Some(_) if is(Severity::Worse) => Outcome::Worse,
        Some(_) if is(Severity::Better) => Outcome::Better,
        Some(_) if is(Severity::Changed) => Outcome::Changed,
        Some(_) => Outcome::Unchanged,
    };
    let is_undecided = |value: &Value| matches!(value, Value::Verdict(Verdict::Undecided, _));
    Ok(Checked {
        design: design.name.clone(),
        kind: Some(design.subject.kind()),
        span: design.span.clone(),
        outcome,
        changes,
        undecided: found.facts.iter().filter(|fact| is_undecided(&fact.value)).count(),
        found: Some(found),
        cached,
    })
}

/// All that is not as it was recorded; where that is nothing, the text of the record itself, but for the ends
/// of its lines.
fn against(recorded: &Recorded, found: &Record, design: &Design) -> Vec<Change> {
    let mut changes = compare(&recorded.record, found, &design.allow);
    if changes.iter().all(|change| change.severity == Severity::Undecided) {
        let text = with_kept_verdicts(found, Some(&recorded.record), |_| true).to_string();
        if recorded.text.replace("\r\n", "\n") != text {
            let message = "its text is another one: --accept writes it".to_owned();
            changes.insert(0, Change::of(Severity::Changed, "record", &Place::default(), message));
        }
    }
    changes
}

/// Of a design without a record: that it has none, and what is wrong with it all the same.
fn not_recorded(found: &Record, design: &Design) -> Vec<Change> {
    let nothing = Record { design: design.name.clone(), facts: Vec::new() };
    let message = "has no record yet: look at it and --accept it".to_owned();
    let mut changes = vec![Change::of(Severity::Worse, "record", &Place::default(), message)];
    let wrong = compare(&nothing, found, &design.allow).into_iter();
    changes.extend(wrong.filter(|change| change.severity == Severity::Worse));
    changes
}

fn vanished(name: &str) -> Checked {
    let message = "has a record, but the manifest does not name it".to_owned();
    Checked {
        design: name.to_owned(),
        kind: None,
        span: 0..0,
        outcome: Outcome::Vanished,
        changes: vec![Change::of(Severity::Worse, "record", &Place::default(), message)],
        undecided: 0,
        found: None,
        cached: false,
    }
}

/// What was found, with the verdicts of the record about what this build cannot decide, as far as those are
/// about the same formulas and are to be kept.
fn with_kept_verdicts(found: &Record, old: Option<&Record>, is_kept: impl Fn(Verdict) -> bool) -> Record {
    let whole = Place::default();
    let Some(old) = old.filter(|old| old.get(&whole, &What::Formulas) == found.get(&whole, &What::Formulas))
    else {
        return found.clone();
    };
    let (mut facts, mut pending) = (Vec::new(), Vec::new());
    for fact in &found.facts {
        // A claim stands beside its verdict, and where it is false beneath it.
        if !matches!(fact.key.what, What::Claim(_)) {
            facts.append(&mut pending);
        }
        let mut fact = fact.clone();
        if let Value::Verdict(Verdict::Undecided, _) = fact.value
            && let Some(kept @ Value::Verdict(verdict, _)) = old.get(&fact.key.place, &fact.key.what)
            && is_kept(*verdict)
        {
            fact.value = kept.clone();
            if let What::Theorem(name) | What::Promise(name) = &fact.key.what {
                let beneath = [What::Counterexample(name.clone()), What::Drawing(name.clone())];
                pending = old.facts.iter().filter(|fact| beneath.contains(&fact.key.what)).cloned().collect();
            }
        }
        facts.push(fact);
    }
    facts.append(&mut pending);
    Record { design: found.design.clone(), facts }
}

impl Checked {
    /// Whether a promise is broken: no record makes that good.
    #[must_use]
    pub fn breaks_a_promise(&self) -> bool {
        let broken = |fact: &Fact| {
            matches!(
                fact,
                Fact { key: Key { what: What::Promise(_), .. }, value: Value::Verdict(Verdict::Refuted, _) }
            )
        };
        self.found.as_ref().is_some_and(|found| found.facts.iter().any(broken))
    }

    /// Whether it is a regression; if strict, whether it is not exactly as recorded.
    #[must_use]
    pub fn fails(&self, strict: bool) -> bool {
        match self.outcome {
            Outcome::New | Outcome::Vanished | Outcome::Worse => true,
            Outcome::Better | Outcome::Changed => strict,
            Outcome::Unchanged => strict && self.undecided > 0,
        }
    }
}

impl Report {
    /// Whether any design fails.
    #[must_use]
    pub fn fails(&self, strict: bool) -> bool {
        self.results.iter().any(|result| result.fails(strict))
    }

    /// How many there are of each kind.
    #[must_use]
    pub fn tally(&self) -> Tally {
        let mut tally = Tally::default();
        for result in &self.results {
            *match result.outcome {
                Outcome::New => &mut tally.new,
                Outcome::Vanished => &mut tally.vanished,
                Outcome::Worse => &mut tally.worse,
                Outcome::Better => &mut tally.better,
                Outcome::Changed => &mut tally.changed,
                Outcome::Unchanged => &mut tally.unchanged,
            } += 1;
            tally.undecided += result.undecided;
        }
        tally
    }
}
