//! The manifest `regress.toml`: which designs there are, what they may lose, and what they promise.

use std::collections::BTreeMap;
use std::ops::Range;

use itertools::Itertools;

use super::promise::{Measurable, Quantity};
use super::threshold::{Allowance, Allowances, Metric};
use crate::block::family::{self, FormulaFileError, parse_promise};
use crate::catalog;
use crate::model::reading::{FileError, Table, TomlProblem, Value, document, root};

/// The designs of a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    /// In the order of the file: families, then schedules, named schedules and models.
    pub designs: Vec<Design>,
}

/// A design with what is expected of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Design {
    /// The name, which is also that of its record.
    pub name: String,
    /// What it is.
    pub subject: DesignSource,
    /// By how much its figures may be worse than its record.
    pub allow: Allowances,
    /// What it promises beside what its own file does.
    pub promises: Vec<Promise>,
    /// Whether it is there as an example of what is invalid: what is not may not become its record then, and only
    /// then what is.
    pub is_expected_to_be_invalid: bool,
    /// Where the manifest names it, in bytes.
    pub span: Range<usize>,
}

/// What is kept under regression.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum DesignSource {
    /// A block family, at some numbers of devices and microbatches.
    Family {
        /// The family file.
        file: String,
        /// By default, those of 1 to 9, 12 and 16 that are in its domain.
        devices: Option<Vec<u32>>,
        /// The numbers of microbatches.
        microbatches: Vec<u32>,
        /// Model files with other durations, by name.
        models: BTreeMap<String, String>,
    },
    /// A schedule file.
    Schedule {
        /// The file: JSON or CSV.
        file: String,
        /// Its model file; without it, unit times.
        model: Option<String>,
    },
    /// Schedules of the catalogue on a model.
    Named {
        /// Their names; by default, all that the placement of the model has.
        schedules: Option<Vec<String>>,
        /// The model file.
        model: String,
        /// The sizes.
        sizes: Sizes,
    },
    /// A model alone: its bounds, and the best schedule of the catalogue.
    Model {
        /// The model file.
        file: String,
        /// The sizes.
        sizes: Sizes,
    },
}

/// The sizes at which a model is looked at; by default, its own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sizes {
    /// The numbers of devices.
    pub devices: Option<Vec<u32>>,
    /// The numbers of microbatches.
    pub microbatches: Option<Vec<u32>>,
}

/// What a design promises.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Promise {
    /// A theorem about its block, to be proved.
    Formal(family::Promise),
    /// Something about what is measured, to be tested wherever it is.
    Measured(Measurable),
}

impl Promise {
    /// Whether it is another one in different words at most: spaces, and zeros at the end of a decimal.
    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Formal(one), Self::Formal(other)) => one.to_string() == other.to_string(),
            (Self::Measured(one), Self::Measured(other)) => one.is_same(other),
            _ => false,
        }
    }
}

impl DesignSource {
    /// The word for it.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Family { .. } => "family",
            Self::Schedule { .. } => "schedule",
            Self::Named { .. } => "named",
            Self::Model { .. } => "model",
        }
    }
}

/// The numbers of microbatches at which a family is replayed, if nothing else is said.
pub const MICROBATCHES: [u32; 3] = [1, 8, 32];

/// The numbers of devices that a family is looked at, if nothing else is said: every residue modulo 9,
/// primes, powers of two and multiples of twelve.
pub const DEVICES: [u32; 11] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16];

/// Reads a manifest.
///
/// # Errors
/// When the text is not TOML, a key is unknown or missing, a value is none, or two designs have one name.
pub fn parse(text: &str) -> Result<Manifest, FormulaFileError> {
    let document = document(text)?;
    let file = root(&document);
    file.only(&["allow", "family", "schedule", "named", "model"])?;
    let defaults =
        file.get("allow").map_or_else(|| Ok(Allowances::default()), |value| read_allowances(&value))?;
    let mut designs = Vec::new();
    let readers: [(&str, Reader); 4] =
        [("family", read_family), ("schedule", read_schedule), ("named", read_named), ("model", read_model)];
    for (kind, read) in readers {
        let Some(value) = file.get(kind) else { continue };
        let list = value
            .list()
            .ok_or_else(|| value.wrong_type("a list of tables, each begun by its name in [[ ]]"))?;
        for entry in &list {
            let table = entry.table()?;
            let subject = read(&table)?;
            let name_value = table.require("name")?;
            let name = name_value.text()?.to_owned();
            let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
            if name.is_empty() || name.starts_with('.') || !name.chars().all(plain) {
                return Err(contradiction(
                    &name_value,
                    "a record is called after it: letters, digits, `-`, `_` and `.` \
                     make a name, and it does not begin with `.`",
                )
                .into());
            }
            if designs.iter().any(|design: &Design| design.name.eq_ignore_ascii_case(&name)) {
                return Err(contradiction(&name_value, "another design is called that").into());
            }
            let allow = table
                .get("allow")
                .map_or_else(|| Ok(Allowances::default()), |value| read_allowances(&value))?;
            let formal = matches!(subject, DesignSource::Family { .. });
            let promises = table.get("promise").map_or_else(Vec::new, Value::one_or_many);
            let promises = read_promises(text, &promises, formal)?;
            let is_expected_to_be_invalid =
                table.get("expect").map_or(Ok(false), |value| expects_invalid(&value))?;
            designs.push(Design {
                name,
                subject,
                allow: allow.or(&defaults),
                promises,
                is_expected_to_be_invalid,
                span: name_value.span(),
            });
        }
    }
    Ok(Manifest { designs })
}

fn expects_invalid(value: &Value<'_>) -> Result<bool, FileError> {
    const NAMES: &[&str] = &["valid", "invalid"];
    match value.text()? {
        "valid" => Ok(false),
        "invalid" => Ok(true),
        other => {
            Err(value.error(TomlProblem::Name { key: value.key(), found: other.to_owned(), known: NAMES }))
        }
    }
}

type Reader = fn(&Table<'_>) -> Result<DesignSource, FileError>;

fn contradiction(value: &Value<'_>, other: &str) -> FileError {
    value.error(TomlProblem::Contradiction {
        key: value.key(),
        value: format!("\"{}\"", value.as_text().unwrap_or_default()),
        other: other.to_owned(),
    })
}

fn read_family(table: &Table<'_>) -> Result<DesignSource, FileError> {
    table.only(&["name", "file", "devices", "microbatches", "models", "allow", "promise", "expect"])?;
    let mut models = BTreeMap::new();
    for value in table.get("models").map_or_else(Vec::new, Value::one_or_many) {
        let path = value.text()?;
        let stem = path.rsplit('/').next().unwrap_or(path);
        let stem = stem.strip_suffix(".toml").unwrap_or(stem);
        let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
        if stem.is_empty() || !stem.chars().all(plain) {
            return Err(contradiction(
                &value,
                "facts are named after it: letters, digits, `-`, `_` and `.` make a name",
            ));
        }
        if models.insert(stem.to_owned(), path.to_owned()).is_some() {
            return Err(contradiction(&value, "another model file has the same name"));
        }
    }
    Ok(DesignSource::Family {
        file: path(&table.require("file")?)?,
        devices: counts(table, "devices")?,
        microbatches: counts(table, "microbatches")?.unwrap_or_else(|| MICROBATCHES.to_vec()),
        models,
    })
}

fn read_schedule(table: &Table<'_>) -> Result<DesignSource, FileError> {
    table.only(&["name", "file", "model", "allow", "promise", "expect"])?;
    let model = table.get("model").map(|value| path(&value)).transpose()?;
    Ok(DesignSource::Schedule { file: path(&table.require("file")?)?, model })
}

fn read_named(table: &Table<'_>) -> Result<DesignSource, FileError> {
    table.only(&["name", "model", "schedules", "devices", "microbatches", "allow", "promise", "expect"])?;
    let name = |value: &Value<'_>| {
        let name = value.text()?;
        match catalog::find(name) {
            Some(entry) => Ok(entry.name.to_owned()),
            None => Err(contradiction(
                value,
                &format!(
                    "the catalogue has {}",
                    catalog::entries().iter().map(|entry| entry.name).join(", ")
                ),
            )),
        }
    };
    let names = |value: Value<'_>| {
        if value.list().is_some_and(|list| list.is_empty()) {
            return Err(value.wrong_type("a name or a list of some"));
        }
        value.one_or_many().iter().map(name).collect()
    };
    Ok(DesignSource::Named {
        schedules: table.get("schedules").map(names).transpose()?,
        model: path(&table.require("model")?)?,
        sizes: sizes(table)?,
    })
}

fn read_model(table: &Table<'_>) -> Result<DesignSource, FileError> {
    table.only(&["name", "file", "devices", "microbatches", "allow", "promise", "expect"])?;
    Ok(DesignSource::Model { file: path(&table.require("file")?)?, sizes: sizes(table)? })
}

fn sizes(table: &Table<'_>) -> Result<Sizes, FileError> {
    Ok(Sizes { devices: counts(table, "devices")?, microbatches: counts(table, "microbatches")? })
}

/// A path, from the directory of the manifest on.
fn path(value: &Value<'_>) -> Result<String, FileError> {
    let path = value.text()?;
    if path.is_empty() {
        return Err(contradiction(value, "a file must be named"));
    }
    Ok(path.to_owned())
}

/// A list of counts, each once, in ascending order.
fn counts(table: &Table<'_>, key: &str) -> Result<Option<Vec<u32>>, FileError> {
    let Some(value) = table.get(key) else { return Ok(None) };
    let empty = value.list().is_some_and(|list| list.is_empty());
    if empty {
        return Err(value.wrong_type("a number or a list of some"));
    }
    let mut counts: Vec<u32> =
        value.one_or_many().iter().map(|value| value.count(1)).collect::<Result<_, _>>()?;
    counts.sort_unstable();
    counts.dedup();
    Ok(Some(counts))
}

fn read_allowances(value: &Value<'_>) -> Result<Allowances, FileError> {
    const NAMES: &[&str] = &[
        "interval",
        "makespan",
        "device_span",
        "bubble_rate",
        "peak_memory",
        "lifespan",
        "lower_bound",
        "gap",
    ];
    let table = value.table()?;
    table.only(NAMES)?;
    let mut allowances = Allowances::default();
    for (metric, name) in Metric::ALL {
        let Some(value) = table.get(name) else { continue };
        let allowance = match value.as_text() {
            Some(text) => text.parse().map_err(|()| {
                contradiction(
                    &value,
                    "what is allowed is an integer, a percentage such as \"1%\", or \"any\"",
                )
            })?,
            None => Allowance::Amount(value.amount()?),
        };
        let share = matches!(metric, Metric::BubbleRate | Metric::Gap);
        if share && matches!(allowance, Allowance::Amount(1..)) {
            return Err(value.wrong_type("0, a percentage such as \"1%\", or \"any\": it is a share"));
        }
        allowances.set(metric, allowance);
    }
    Ok(allowances)
}

/// Promises, each once.
fn read_promises(file: &str, values: &[Value<'_>], formal: bool) -> Result<Vec<Promise>, FormulaFileError> {
    let mut promises: Vec<Promise> = Vec::new();
    for value in values {
        let promise = read_promise(file, value, formal)?;
        if promises.iter().any(|other| other.is_same(&promise)) {
            return Err(contradiction(value, "that is promised already").into());
        }
        promises.push(promise);
    }
    Ok(promises)
}

/// A promise: one to be proved if the design is a family and it speaks of nothing that only schedules have.
fn read_promise(file: &str, value: &Value<'_>, formal: bool) -> Result<Promise, FormulaFileError> {
    let text = value.text()?;
    let promise = if formal && !Quantity::is_spoken_of(text) {
        parse_promise(text).map(Promise::Formal)
    } else {
        Measurable::parse(text).map(Promise::Measured)
    };
    promise.map_err(|error| FormulaFileError::located(file, value, error))
}
