//! Reading TOML so that every complaint names its key and its place.
//!
//! Deserialising into structures loses the place of a value as soon as it may have one of several
//! forms (a number or a list). Walking the parsed document instead costs a little code and keeps
//! every span.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{ModelError, PlacementError};
use crate::text::quantity::{QuantityError, Scale};
use crate::text::{ControlCharacter, Shown, first_control, message};

/// What is wrong with a TOML file, and where.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{problem}")]
pub struct FileError {
    /// What is wrong.
    pub problem: TomlProblem,
    /// The bytes of the file it is about.
    pub span: Range<usize>,
}

/// The ways in which a TOML file can be wrong. Keys are given with their tables: `time.forward`.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TomlProblem {
    /// It is not TOML.
    #[error("not a TOML file: {0}")]
    Syntax(String),
    /// A key or a text with a character that could make it look like something else when it is printed.
    #[error("`{}` has the control character {control}: \"{}\"", Shown(.key), Shown(.text))]
    Control {
        /// The key.
        key: String,
        /// The text, or the key itself.
        text: String,
        /// The character.
        control: ControlCharacter,
    },
    /// A key nobody knows.
    #[error("unknown key `{}`", Shown(.key))]
    UnknownKey {
        /// The key.
        key: String,
        /// The keys known there.
        known: &'static [&'static str],
    },
    /// A key that must be there.
    #[error("missing key `{0}`")]
    MissingKey(String),
    /// A value of the wrong type.
    #[error("`{key}` must be {expected}, but is {found}")]
    Type {
        /// The key.
        key: String,
        /// What it must be.
        expected: &'static str,
        /// What it is.
        found: String,
    },
    /// A negative number.
    #[error("`{key}` must not be negative, but is {value}")]
    Negative {
        /// The key.
        key: String,
        /// Its value.
        value: String,
    },
    /// A number too small or too large.
    #[error("`{key}` must be from {least} to {most}, but is {value}")]
    Range {
        /// The key.
        key: String,
        /// Its value, as written.
        value: String,
        /// The least allowed.
        least: i64,
        /// The most allowed.
        most: i64,
    },
    /// A list with the wrong number of values.
    #[error("`{key}` has {found} values, but there are {expected} {of}")]
    Length {
        /// The key.
        key: String,
        /// How many values it has.
        found: usize,
        /// How many it must have.
        expected: usize,
        /// What it must have one for each of.
        of: &'static str,
    },
    /// A name that is none of the known ones.
    #[error("`{key}` must be one of {}, but is \"{found}\"", known.join(", "), found = Shown(.found))]
    Name {
        /// The key.
        key: String,
        /// The name.
        found: String,
        /// The known names.
        known: &'static [&'static str],
    },
    /// Two keys that contradict each other.
    #[error("`{key}` is {value}, but {other}")]
    Contradiction {
        /// The key.
        key: String,
        /// Its value.
        value: String,
        /// The objection.
        other: String,
    },
    /// The stages of the devices are not a placement.
    #[error("`{key}` is not a placement: {error}")]
    Placement {
        /// The key.
        key: String,
        /// Why not.
        error: PlacementError,
    },
    /// A unit nobody knows.
    #[error("`{key}` is \"{found}\", which is no unit of {scale}", found = Shown(.found))]
    Unit {
        /// The key.
        key: String,
        /// The unit.
        found: String,
        /// What it would measure.
        scale: Scale,
    },
    /// A text that is no amount.
    #[error("`{}` is wrong: {error}", Shown(.key))]
    Quantity {
        /// The key.
        key: String,
        /// Why not.
        error: QuantityError,
    },
    /// A rule of the file that a value breaks.
    #[error("`{}` {rule}", Shown(.key))]
    Rule {
        /// The key.
        key: String,
        /// What is wrong, as the rest of a sentence about the key.
        rule: String,
    },
    /// Each value is right, but together they are no model.
    #[error("{0}")]
    Model(ModelError),
}

/// A table of the file, with the path of keys that leads to it.
pub struct Table<'doc> {
    entries: &'doc DeTable<'doc>,
    path: String,
    span: Range<usize>,
}

/// A value of the file, with the path of keys that leads to it.
pub struct Value<'doc> {
    value: &'doc Spanned<DeValue<'doc>>,
    path: String,
}

/// Parses a whole file.
///
/// # Errors
/// When it is not TOML, or a key or a text in it has a [control character](crate::text::is_control).
pub fn document(text: &str) -> Result<Spanned<DeTable<'_>>, FileError> {
    let document = DeTable::parse(text).map_err(|error| FileError {
        problem: TomlProblem::Syntax(message(&error.message().trim().replace('\n', "; "))),
        span: error.span().unwrap_or(0..0),
    })?;
    plain_table(document.get_ref(), "")?;
    Ok(document)
}

/// Refuses [control characters](crate::text::is_control) in a table and all in it.
fn plain_table(table: &DeTable<'_>, path: &str) -> Result<(), FileError> {
    for (key, value) in table {
        let path = below(path, key.get_ref());
        plain_text(key.get_ref(), &path, key.span())?;
        plain_value(value, &path)?;
    }
    Ok(())
}

fn plain_value(value: &Spanned<DeValue<'_>>, path: &str) -> Result<(), FileError> {
    match value.get_ref() {
        DeValue::String(text) => plain_text(text, path, value.span()),
        DeValue::Array(values) => values.iter().try_for_each(|value| plain_value(value, path)),
        DeValue::Table(table) => plain_table(table, path),
        _ => Ok(()),
    }
}

fn plain_text(text: &str, path: &str, span: Range<usize>) -> Result<(), FileError> {
    first_control(text).map_or(Ok(()), |control| {
        let problem = TomlProblem::Control { key: path.to_owned(), text: text.to_owned(), control };
        Err(FileError { problem, span })
    })
}

/// The path of a key in the table that another path leads to.
fn below(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// The table at the top of a file.
#[must_use]
pub fn root<'doc>(document: &'doc Spanned<DeTable<'doc>>) -> Table<'doc> {
    // A key missing at the top is missing from the file as a whole: point at its start.
    Table { entries: document.get_ref(), path: String::new(), span: 0..0 }
}

impl<'doc> Table<'doc> {
    /// Refuses every key that is not in the list.
    ///
    /// # Errors
    /// At the first unknown key.
    pub fn only(&self, known: &'static [&'static str]) -> Result<(), FileError> {
        match self.entries.iter().find(|(key, _)| !known.contains(&key.get_ref().as_ref())) {
            Some((key, _)) => Err(FileError {
                problem: TomlProblem::UnknownKey { key: self.path_of(key.get_ref()), known },
                span: key.span(),
            }),
            None => Ok(()),
        }
    }

    /// The value of a key, if it is there.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<Value<'doc>> {
        self.entries
            .iter()
            .find(|(candidate, _)| candidate.get_ref() == key)
            .map(|(_, value)| Value { value, path: self.path_of(key) })
    }

    /// The value of a key that must be there.
    ///
    /// # Errors
    /// When it is not.
    pub fn require(&self, key: &str) -> Result<Value<'doc>, FileError> {
        self.get(key).ok_or_else(|| FileError {
            problem: TomlProblem::MissingKey(self.path_of(key)),
            span: self.span.clone(),
        })
    }

    /// The keys, each with its value, in alphabetical order.
    pub fn entries(&self) -> impl Iterator<Item = (String, Value<'doc>)> + '_ {
        self.entries.iter().map(|(key, value)| {
            let key = key.get_ref().to_string();
            let path = self.path_of(&key);
            (key, Value { value, path })
        })
    }

    fn path_of(&self, key: &str) -> String {
        below(&self.path, key)
    }
}

impl<'doc> Value<'doc> {
    /// An error about this value.
    #[must_use]
    pub fn error(&self, problem: TomlProblem) -> FileError {
        FileError { problem, span: self.value.span() }
    }

    /// The path of keys that leads to the value: `time.forward`.
    #[must_use]
    pub fn key(&self) -> String {
        self.path.clone()
    }

    /// The bytes of the value in the file.
    #[must_use]
    pub fn span(&self) -> Range<usize> {
        self.value.span()
    }

    /// The error that this value is not of the type expected.
    #[must_use]
    pub fn wrong_type(&self, expected: &'static str) -> FileError {
        let found = match self.value.get_ref() {
            DeValue::String(text) => format!("the text \"{}\"", Shown(text)),
            DeValue::Integer(number) => format!("the integer {}", Shown(&number.to_string())),
            DeValue::Float(number) => format!("float {}", Shown(&number.to_string())),
            DeValue::Boolean(truth) => format!("{truth}"),
            DeValue::Datetime(_) => "a date".to_owned(),
            DeValue::Array(_) => "a list".to_owned(),
            DeValue::Table(_) => "a table".to_owned(),
        };
        self.error(TomlProblem::Type { key: self.key(), expected, found })
    }

    /// A table.
    ///
    /// # Errors
    /// When it is something else.
    pub fn table(&self) -> Result<Table<'doc>, FileError> {
        match self.value.get_ref() {
            DeValue::Table(entries) => {
                Ok(Table { entries, path: self.path.clone(), span: self.value.span() })
            }
            _ => Err(self.wrong_type("a table")),
        }
    }

    /// The values of a list, or nothing when it is something else.
    #[must_use]
    pub fn list(&self) -> Option<Vec<Value<'doc>>> {
        match self.value.get_ref() {
            DeValue::Array(values) => Some(
                values
                    .iter()
                    .enumerate()
                    .map(|(position, value)| Value { value, path: format!("{}[{position}]", self.path) })
                    .collect(),
            ),
            _ => None,
        }
    }

    /// The values of a list, or the one value that replaces a list of one.
    #[must_use]
    pub fn one_or_many(self) -> Vec<Self> {
        self.list().unwrap_or_else(|| vec![self])
    }

    /// A text, or nothing when it is something else.
    #[must_use]
    pub fn as_text(&self) -> Option<&'doc str> {
        self.value.get_ref().as_str()
    }

    /// A text.
    ///
    /// # Errors
    /// When it is something else.
    pub fn text(&self) -> Result<&'doc str, FileError> {
        self.as_text().ok_or_else(|| self.wrong_type("a quoted string"))
    }

    /// A decimal number as it is written, or nothing when it is something else.
    #[must_use]
    pub fn as_number(&self) -> Option<&'doc str> {
        match self.value.get_ref() {
            DeValue::Integer(number) if number.radix() == 10 => Some(number.as_str()),
            DeValue::Float(number) => Some(number.as_str()),
            _ => None,
        }
    }

    /// `true` or `false`.
    ///
    /// # Errors
    /// When it is something else.
    pub fn truth(&self) -> Result<bool, FileError> {
        self.value.get_ref().as_bool().ok_or_else(|| self.wrong_type("true or false"))
    }

    /// An integer that is not negative.
    ///
    /// # Errors
    /// When it is something else.
    pub fn amount(&self) -> Result<i64, FileError> {
        self.amount_or("an integer")
    }

    pub(super) fn amount_or(&self, expected: &'static str) -> Result<i64, FileError> {
        let DeValue::Integer(number) = self.value.get_ref() else {
            return Err(self.wrong_type(expected));
        };
        let (key, value) = (self.key(), Shown(&number.to_string()).to_string());
        if number.as_str().starts_with('-') && number.as_str() != "-0" {
            return Err(self.error(TomlProblem::Negative { key, value }));
        }
        i64::from_str_radix(number.as_str(), number.radix())
            .map_err(|_| self.error(TomlProblem::Range { key, value, least: 0, most: i64::MAX }))
    }

    /// An integer from `least` to `u32::MAX`.
    ///
    /// # Errors
    /// When it is something else.
    pub fn count(&self, least: u32) -> Result<u32, FileError> {
        let value = self.amount()?;
        u32::try_from(value).ok().filter(|&count| count >= least).ok_or_else(|| {
            self.error(TomlProblem::Range {
                key: self.key(),
                value: value.to_string(),
                least: i64::from(least),
                most: i64::from(u32::MAX),
            })
        })
    }

    /// Whether it is an integer.
    #[must_use]
    pub fn is_integer(&self) -> bool {
        matches!(self.value.get_ref(), DeValue::Integer(_))
    }

    pub(super) fn listed<'a>(
        &self,
        values: &'a [Value<'doc>],
        expected: usize,
        of: &'static str,
    ) -> Result<&'a [Value<'doc>], FileError> {
        if values.len() == expected {
            return Ok(values);
        }
        let (key, found) = (self.key(), values.len());
        Err(self.error(TomlProblem::Length { key, found, expected, of }))
    }
}
