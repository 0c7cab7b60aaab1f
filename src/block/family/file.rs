//! The block family file (TOML): reading with located errors, and printing back.

use super::syntax::{FormulaError, FormulaProblem, Promise, parse_condition, parse_formula, parse_promise};
use super::{Comparison, Condition, Durations, Family, Formula, Layout, Offset, Variable};
use std::ops::Range;

use crate::model::reading::{FileError, Table, TomlProblem, Value, document, root};
use crate::model::{Kind, Model, Ticks};

/// What is wrong with a file that holds formulas, and where.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FormulaFileError {
    /// The file itself.
    #[error(transparent)]
    File(#[from] FileError),
    /// A formula in it.
    #[error("`{key}`: {problem}")]
    Formula {
        /// The key of the formula.
        key: String,
        /// What is wrong with it.
        problem: FormulaProblem,
        /// The bytes of the file it is about.
        span: Range<usize>,
    },
}

impl FormulaFileError {
    /// The bytes of the file it is about.
    #[must_use]
    pub fn span(&self) -> Range<usize> {
        match self {
            Self::File(error) => error.span.clone(),
            Self::Formula { span, .. } => span.clone(),
        }
    }

    /// An error of the formula that is a value of a file, placed in the file.
    pub(crate) fn located(file: &str, value: &Value<'_>, error: FormulaError) -> Self {
        let FormulaError { problem, span: inside } = error;
        let whole = value.span();
        let formula = value.as_text().unwrap_or_default();
        // If the file has the text between quotes as it is, the error is inside it; if characters are escaped,
        // positions differ, and the whole value is marked.
        let span = match file.get(whole.clone()).and_then(|raw| raw.find(formula)) {
            Some(at) => whole.start + at + inside.start..whole.start + at + inside.end,
            None => whole,
        };
        Self::Formula { key: value.key(), problem, span }
    }
}

/// Reads a block family file.
///
/// # Errors
/// When the text is not TOML, a key is unknown or missing, a value is of the wrong type, a formula
/// is malformed (located inside its text), or a pass is double or missing.
pub fn parse(text: &str) -> Result<Family, FormulaFileError> {
    let document = document(text)?;
    let file = root(&document);
    file.only(&[
        "name",
        "source",
        "placement",
        "chunks",
        "interval",
        "domain",
        "promise",
        "durations",
        "pass",
    ])?;
    let layout = read_layout(&file)?;
    let interval = ticks(&file.require("interval")?, 1)?;
    let domain = match file.get("domain") {
        Some(value) => condition(text, &value, &[Variable::Devices])?,
        None => any_devices(),
    };
    let (mut promises, mut bubble_free) = (Vec::new(), Vec::new());
    let mut said: Vec<String> = Vec::new();
    for value in file.get("promise").map_or_else(Vec::new, Value::one_or_many) {
        let promise =
            parse_promise(value.text()?).map_err(|error| FormulaFileError::located(text, &value, error))?;
        if said.contains(&promise.to_string()) {
            let found = format!("\"{}\"", value.text()?);
            let other = "that is promised already".to_owned();
            return Err(value
                .error(TomlProblem::Contradiction { key: value.key(), value: found, other })
                .into());
        }
        said.push(promise.to_string());
        match promise {
            Promise::Everywhere(promise) => promises.push(promise),
            Promise::BubbleFree(promise) => bubble_free.push(promise),
        }
    }
    let durations = file.require("durations")?.table()?;
    durations.only(&["F", "I", "W"])?;
    let duration = |key| ticks(&durations.require(key)?, 0);
    Ok(Family {
        name: file.require("name")?.text()?.to_owned(),
        source: file.get("source").map(|value| value.text().map(str::to_owned)).transpose()?,
        layout,
        interval,
        domain,
        promises,
        bubble_free,
        durations: Durations {
            forward: duration("F")?,
            backward_input: duration("I")?,
            backward_weight: duration("W")?,
        },
        passes: read_passes(text, &file.require("pass")?, layout.chunks())?,
    })
}

/// The domain of a family that states none: at least one device.
fn any_devices() -> Condition {
    Condition::Compare(Formula::Variable(Variable::Devices), Comparison::AtLeast, Formula::Integer(1))
}

fn read_layout(file: &Table<'_>) -> Result<Layout, FileError> {
    const NAMES: &[&str] = &["linear", "looped", "v"];
    let value = file.require("placement")?;
    let name = value.text()?;
    let layout = match name {
        "linear" => Layout::Linear,
        "v" => Layout::V,
        "looped" => return Ok(Layout::Looped(file.require("chunks")?.count(2)?)),
        _ => {
            let found = name.to_owned();
            return Err(value.error(TomlProblem::Name { key: value.key(), found, known: NAMES }));
        }
    };
    if let Some(chunks) = file.get("chunks") {
        let stated = chunks.count(1)?;
        if stated != layout.chunks() {
            return Err(chunks.error(TomlProblem::Contradiction {
                key: chunks.key(),
                value: stated.to_string(),
                other: format!("{name} placement has {} on each device", layout.chunks()),
            }));
        }
    }
    Ok(layout)
}

fn ticks(value: &Value<'_>, least: i64) -> Result<Ticks, FileError> {
    let most = Model::MAX_TOTAL / 4;
    let ticks = value.amount()?;
    if (least..=most).contains(&ticks) {
        return Ok(Ticks(ticks));
    }
    Err(value.error(TomlProblem::Range { key: value.key(), value: ticks.to_string(), least, most }))
}

fn condition(file: &str, value: &Value<'_>, variables: &[Variable]) -> Result<Condition, FormulaFileError> {
    parse_condition(value.text()?, variables).map_err(|error| FormulaFileError::located(file, value, error))
}

fn read_passes(file: &str, value: &Value<'_>, chunks: u32) -> Result<Vec<Offset>, FormulaFileError> {
    const LETTERS: &[&str] = &["F", "R", "I", "W", "B"];
    let contradiction = |value: &Value<'_>, what: String, other: String| {
        value.error(TomlProblem::Contradiction { key: value.key(), value: what, other })
    };
    let list = value.list().ok_or_else(|| {
        value.error(TomlProblem::Type {
            key: value.key(),
            expected: "a list of tables, each begun by [[pass]]",
            found: "something else".to_owned(),
        })
    })?;
    let mut passes: Vec<Offset> = Vec::new();
    for entry in &list {
        let table = entry.table()?;
        table.only(&["kind", "chunk", "at"])?;
        let kind_value = table.require("kind")?;
        let letter = kind_value.text()?;
        let Some(kind) = Kind::ALL.into_iter().find(|kind| letter == kind.letter().to_string()) else {
            let found = letter.to_owned();
            return Err(kind_value
                .error(TomlProblem::Name { key: kind_value.key(), found, known: LETTERS })
                .into());
        };
        let chunk_value = table.get("chunk");
        let chunk = chunk_value.as_ref().map_or(Ok(0), |value| value.count(0))?;
        if let Some(value) = chunk_value.filter(|_| chunk >= chunks) {
            return Err(value
                .error(TomlProblem::Range {
                    key: value.key(),
                    value: chunk.to_string(),
                    least: 0,
                    most: i64::from(chunks) - 1,
                })
                .into());
        }
        let at = table.require("at")?;
        let formula = parse_formula(at.text()?, &[Variable::Device, Variable::Devices])
            .map_err(|error| FormulaFileError::located(file, &at, error))?;
        if let Some(before) = passes.iter().position(|pass| pass.kind == kind && pass.chunk == chunk) {
            let what = format!("{kind} of chunk {chunk}");
            return Err(contradiction(entry, what, format!("so is pass[{before}]")).into());
        }
        passes.push(Offset { kind, chunk, at: formula });
    }
    for chunk in 0..chunks {
        let has = |kind| passes.iter().any(|pass| pass.kind == kind && pass.chunk == chunk);
        let complaint = if !has(Kind::F) {
            "without an F"
        } else if has(Kind::B) && (has(Kind::I) || has(Kind::W)) {
            "with a B beside its parts I or W"
        } else if !has(Kind::B) && !has(Kind::I) {
            "without a B or an I"
        } else {
            continue;
        };
        let other = "every chunk needs an F, and either a B or an I".to_owned();
        return Err(contradiction(value, format!("{complaint} of chunk {chunk}"), other).into());
    }
    Ok(passes)
}

/// The text of a block family file that reads as this family.
#[must_use]
pub fn print(family: &Family) -> String {
    let mut text = String::new();
    let quoted = |value: &str| toml::Value::String(value.to_owned()).to_string();
    let mut line = |arguments: std::fmt::Arguments<'_>| {
        text.push_str(&arguments.to_string());
        text.push('\n');
    };
    line(format_args!("name = {}", quoted(&family.name)));
    if let Some(source) = &family.source {
        line(format_args!("source = {}", quoted(source)));
    }
    match family.layout {
        Layout::Linear => line(format_args!("placement = \"linear\"")),
        Layout::V => line(format_args!("placement = \"v\"")),
        Layout::Looped(chunks) => line(format_args!("placement = \"looped\"\nchunks = {chunks}")),
    }
    line(format_args!("interval = {}", family.interval));
    line(format_args!("domain = \"{}\"", family.domain));
    let everywhere = family.promises.iter().map(|promise| format!("\"{promise}\""));
    let bubble_free = family.bubble_free.iter().map(|promise| format!("\"{promise}\""));
    let promises: Vec<String> = everywhere.chain(bubble_free).collect();
    line(format_args!("promise = [{}]", promises.join(", ")));
    let Durations { forward, backward_input, backward_weight } = family.durations;
    line(format_args!("\n[durations]\nF = {forward}\nI = {backward_input}\nW = {backward_weight}"));
    for Offset { kind, chunk, at } in &family.passes {
        line(format_args!("\n[[pass]]\nkind = \"{kind}\"\nchunk = {chunk}\nat = \"{at}\""));
    }
    text
}
