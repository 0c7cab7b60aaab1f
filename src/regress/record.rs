//! The record of a design: everything that was found of it, as text with one fact in a line.
//!
//! A record is made to be read in a diff. A line is a place, what was found there, and the value:
//!
//! ```text
//! d=4 i=0 offsets: F0@0 F1@10 I1@14 I0@25 W1@15 W0@26
//! d=4 peak_memory: 6 6 6 6
//! d=4 m=8 makespan: 74
//! theorem collisions: proved
//! ```
//!
//! Facts have a fixed order; empty lines and lines that begin with `#` mean nothing.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;

use itertools::Itertools;

use super::fact::{Fact, Key, Place, Value, What};
use crate::text::{Shown, first_control, is_control};

/// The value of `format` in records of this version.
pub const RECORD_FORMAT: &str = "bubbleproof-record-1";

const HEAD: &str = "# What `bubbleproof regress` found of this design when it was accepted.\n";

/// Everything that was found of a design.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The name of the design.
    pub design: String,
    /// In the order in which they are printed.
    pub facts: Vec<Fact>,
}

/// What is wrong with the text of a record, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct RecordError {
    /// What is wrong.
    pub problem: RecordProblem,
    /// The bytes of the text it is about.
    pub span: Range<usize>,
}

/// The ways in which the text of a record can be wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RecordProblem {
    /// It does not begin with its format and design.
    #[error("a record begins with the lines `format: {RECORD_FORMAT}` and `design: NAME`")]
    Head,
    /// The record of another design.
    #[error("this is the record of {expected}, but calls itself that of `{}`", Shown(.found))]
    Design {
        /// What it is named after.
        expected: String,
        /// What it says.
        found: String,
    },
    /// A character that no line has.
    #[error("a line has no control characters")]
    Control,
    /// A mark that a merge left.
    #[error("a merge was not finished here")]
    Merge,
    /// No colon.
    #[error("a line is a place, what was found there, a colon and the value")]
    NoValue,
    /// A place or a finding that nobody knows.
    #[error("`{}` is nothing that is recorded", Shown(.0))]
    Key(String),
    /// A value of the wrong form.
    #[error("`{what}` must be {expected}, but is `{}`", Shown(.found))]
    Value {
        /// What was found.
        what: String,
        /// What it must be.
        expected: &'static str,
        /// What it is.
        found: String,
    },
    /// A fact that an earlier line has.
    #[error("`{}` is a duplicate of an earlier line", Shown(.0))]
    Twice(String),
}

impl Record {
    /// The value of a fact.
    #[must_use]
    pub fn get(&self, place: &Place, what: &What) -> Option<&Value> {
        self.facts
            .iter()
            .find(|fact| fact.key.place == *place && fact.key.what == *what)
            .map(|fact| &fact.value)
    }

    /// Reads the text of the record of a design.
    ///
    /// # Errors
    /// When it is none, or that of another design.
    pub fn parse_of(name: &str, text: &str) -> Result<Self, RecordError> {
        let record = Self::parse(text)?;
        if record.design == name {
            return Ok(record);
        }
        let (at, line) = lines(text).nth(1).unwrap_or((0, ""));
        let problem = RecordProblem::Design { expected: name.to_owned(), found: record.design };
        Err(RecordError { problem, span: at..at + line.len() })
    }

    /// Reads the text of a record.
    ///
    /// # Errors
    /// When it is none.
    pub fn parse(text: &str) -> Result<Self, RecordError> {
        let mut lines = lines(text);
        let mut head = |key: &str| {
            let line = lines.next();
            let span = line.map_or(text.len()..text.len(), |(at, line)| at..at + line.len());
            let value = line.and_then(|(_, line)| line.strip_prefix(key));
            let wrong = RecordError { problem: RecordProblem::Head, span };
            value.map(|value| (value.to_owned(), wrong.clone())).ok_or(wrong)
        };
        let (format, wrong) = head("format: ")?;
        if format != RECORD_FORMAT {
            return Err(wrong);
        }
        let (design, wrong) = head("design: ")?;
        if first_control(&design).is_some() {
            return Err(RecordError { problem: RecordProblem::Control, ..wrong });
        }
        let (mut facts, mut seen) = (Vec::new(), BTreeSet::new());
        for (at, line) in lines {
            let wrong =
                |problem, span: Range<usize>| RecordError { problem, span: at + span.start..at + span.end };
            if ["<<<<<<<", "=======", ">>>>>>>", "|||||||"].iter().any(|mark| line.starts_with(mark)) {
                return Err(wrong(RecordProblem::Merge, 0..line.len()));
            }
            if let Some((inside, letter)) = line.char_indices().find(|&(_, letter)| is_control(letter)) {
                return Err(wrong(RecordProblem::Control, inside..inside + letter.len_utf8()));
            }
            let Some((key, value)) = line.split_once(": ") else {
                return Err(wrong(RecordProblem::NoValue, 0..line.len()));
            };
            let Some(parsed) = Key::parse(key) else {
                return Err(wrong(RecordProblem::Key(key.to_owned()), 0..key.len()));
            };
            if !seen.insert(parsed.clone()) {
                return Err(wrong(RecordProblem::Twice(key.to_owned()), 0..key.len()));
            }
            let value = Value::parse(&parsed.what, value).map_err(|expected| {
                let (what, found) = (parsed.what.to_string(), value.to_owned());
                wrong(RecordProblem::Value { what, expected, found }, key.len() + 2..line.len())
            })?;
            facts.push(Fact { key: parsed, value });
        }
        Ok(Self { design, facts })
    }
}

/// The lines that mean something, each with the byte at which it begins.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    let lines = text.split_inclusive('\n').map(move |line| {
        let start = at;
        at += line.len();
        (start, line.trim_end_matches(['\n', '\r']))
    });
    lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
}

impl fmt::Display for Record {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{HEAD}format: {RECORD_FORMAT}\ndesign: {}\n", self.design)?;
        for (_, facts) in &self.facts.iter().chunk_by(|fact| fact.key.place.section()) {
            writeln!(out)?;
            for fact in facts {
                writeln!(out, "{fact}")?;
            }
        }
        Ok(())
    }
}
