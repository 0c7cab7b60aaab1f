//! Times and memory in model files: counts of the file's unit, or exact decimals and amounts with units of their own.
//!
//! A file whose times are all integers is read as it stands: a tick is the unit that it names. As soon as one time has a decimal
//! point or a unit of its own, a tick is a nanosecond, and every time is scaled to it. The same holds for memory and bytes. What is
//! needed is rounded up to a whole tick or byte, a limit is rounded down.

use std::cell::Cell;
use std::fmt;

use num_rational::Ratio;

use super::reading::{FileError, Table, TomlProblem, Value};
use super::{Ticks, Units};
use crate::text::quantity::{Quantity, QuantityError, Scale};

/// How the times, or the memory, of a file were scaled, where the file does not count whole units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scaled {
    /// What was scaled.
    pub scale: Scale,
    /// Whether some amount was no whole number of nanoseconds or bytes.
    pub is_rounded: bool,
}

impl fmt::Display for Scaled {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, unit) = match self.scale {
            Scale::Time => ("times", "nanoseconds"),
            _ => ("memory", "bytes"),
        };
        let whole = if self.is_rounded { "rounded to whole" } else { "exactly in" };
        write!(out, "{what} {whole} {unit}")
    }
}

/// What numbers without a unit mean that somebody gives beside a model file, such as a memory limit: the same as in the file. It
/// plays no part in whether two models are the same.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PlainNumbers {
    pub(super) ticks: PlainNumber,
    pub(super) units: PlainNumber,
}

/// How much a number without a unit is.
#[derive(Debug, Clone, Copy)]
pub(super) struct PlainNumber {
    /// What one is, in ticks or units of memory; `None` where these are nanoseconds or bytes and the file names no unit.
    pub(super) one: Option<i64>,
}

impl Default for PlainNumber {
    fn default() -> Self {
        Self { one: Some(1) }
    }
}

impl PlainNumber {
    /// So many of it. Zero is the same in every unit.
    pub(super) fn of(self, number: Ratio<i128>) -> Option<Ratio<i128>> {
        if number == Ratio::from_integer(0) {
            return Some(number);
        }
        self.one.map(|one| number * i128::from(one))
    }
}

impl PartialEq for PlainNumbers {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for PlainNumbers {}

/// Which way an amount between two whole ones goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Round {
    Up,
    Down,
}

/// Which names a unit may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UnitNames {
    /// Units of time and of memory, and names of two words or more for what is counted.
    Known,
    /// Any.
    Any,
}

/// How the times and the memory of a file are read.
#[derive(Debug)]
pub(super) struct Quantities {
    times: Amounts,
    memory: Amounts,
}

/// How the amounts of one scale are read.
#[derive(Debug)]
struct Amounts {
    scale: Scale,
    /// The unit of plain numbers.
    unit: String,
    /// How many base units that is; `None` where it only names what is counted.
    factor: Option<i128>,
    /// Whether everything is read in base units.
    in_base: bool,
    /// Whether an amount was seen that is no whole count of the unit.
    is_scaled: Cell<bool>,
    is_rounded: Cell<bool>,
}

impl Quantities {
    /// The units that a file names. Amounts are counts of them, unless [`scaled`](Self::scaled) says otherwise.
    pub(super) fn of(file: &Table<'_>, names: UnitNames) -> Result<Self, FileError> {
        let table = |key| file.get(key).map(|value| value.table()).transpose();
        Ok(Self {
            times: Amounts::new(Scale::Time, table("time")?.as_ref(), names)?,
            memory: Amounts::new(Scale::Memory, table("memory")?.as_ref(), names)?,
        })
    }

    /// The same for a file in which amounts were seen that are no counts; nothing where there are none.
    pub(super) fn in_base(&self) -> Option<Self> {
        let all = [&self.times, &self.memory];
        all.iter()
            .any(|amounts| amounts.is_scaled.get())
            .then(|| Self { times: self.times.scaled_if_needed(), memory: self.memory.scaled_if_needed() })
    }

    /// What had to be scaled.
    pub(super) fn scaled(&self) -> Vec<Scaled> {
        let all = [&self.times, &self.memory].into_iter().filter(|amounts| amounts.in_base);
        all.map(|amounts| Scaled { scale: amounts.scale, is_rounded: amounts.is_rounded.get() }).collect()
    }

    /// What numbers without a unit mean.
    pub(super) fn plain_numbers(&self) -> PlainNumbers {
        PlainNumbers { ticks: self.times.plain_number(), units: self.memory.plain_number() }
    }

    /// The unit of a tick.
    pub(super) fn time_unit(&self) -> String {
        if self.times.in_base { "ns".to_owned() } else { self.times.unit.clone() }
    }

    /// The unit of memory.
    pub(super) fn memory_unit(&self) -> String {
        if self.memory.in_base { "byte".to_owned() } else { self.memory.unit.clone() }
    }

    /// Whether memory is read in bytes, so that an amount that the file leaves out has no value to fall back on.
    pub(super) const fn memory_is_scaled(&self) -> bool {
        self.memory.in_base
    }

    /// A time, rounded up.
    pub(super) fn ticks(&self, value: &Value<'_>, expected: &'static str) -> Result<Ticks, FileError> {
        self.times.whole(value, Round::Up, expected).map(Ticks)
    }

    /// The low end of a range of times, rounded down.
    pub(super) fn low_end(&self, value: &Value<'_>) -> Result<Ticks, FileError> {
        self.times.whole(value, Round::Down, TIME).map(Ticks)
    }

    /// A time for each of `expected` things: a list of them, or one for all.
    pub(super) fn all_ticks(
        &self,
        value: &Value<'_>,
        expected: usize,
        of: &'static str,
    ) -> Result<Vec<Ticks>, FileError> {
        let one = |value: &Value<'_>, what| self.ticks(value, what);
        each(value, expected, of, [TIME, TIMES], one)
    }

    /// An amount of memory for each of `expected` things: a list of them, or one for all; rounded up.
    pub(super) fn all_units(
        &self,
        value: &Value<'_>,
        expected: usize,
        of: &'static str,
    ) -> Result<Vec<Units>, FileError> {
        let one = |value: &Value<'_>, what| self.memory.whole(value, Round::Up, what).map(Units);
        each(value, expected, of, [MEMORY, MEMORIES], one)
    }

    /// As [`all_units`](Self::all_units), rounded down; a list may say "none" for devices without a limit.
    pub(super) fn limits(&self, value: &Value<'_>, devices: usize) -> Result<Vec<Option<Units>>, FileError> {
        let is_list = value.list().is_some();
        let one = |value: &Value<'_>, what| match value.as_text() {
            Some("none") if is_list => Ok(None),
            _ => self.memory.whole(value, Round::Down, what).map(Units).map(Some),
        };
        each(value, devices, "devices", [LIMIT, MEMORIES], one)
    }

    /// A bandwidth in units of memory per tick: a count of them, or an amount such as `25 GB/s`.
    pub(super) fn bandwidth(&self, value: &Value<'_>) -> Result<Ratio<i128>, FileError> {
        const BANDWIDTH: &str = "a bandwidth, such as \"25 GB/s\"";
        let zero =
            || value.error(TomlProblem::Rule { key: value.key(), rule: "must not be zero".to_owned() });
        let known = |amounts: &Amounts| {
            amounts.factor.ok_or_else(|| {
                wrong(value, QuantityError::NoUnit { number: amounts.unit.clone(), scale: amounts.scale })
            })
        };
        let per = |amounts: &Amounts| if amounts.in_base { Ok(1) } else { known(amounts) };
        let quantity = quantity(value, BANDWIDTH)?;
        if quantity.number == Ratio::from_integer(0) {
            return Err(zero());
        }
        if quantity.unit.is_empty() {
            let scale = |amounts: &Amounts| if amounts.in_base { known(amounts) } else { Ok(1) };
            return Ok(quantity.number * scale(&self.memory)? / scale(&self.times)?);
        }
        // Bytes per second are a billionth of that per nanosecond.
        let per_nanosecond =
            quantity.in_base(Scale::Bandwidth).map_err(|error| wrong(value, error))? / 1_000_000_000;
        Ok(per_nanosecond * per(&self.times)? / per(&self.memory)?)
    }
}

/// What amounts are, in the words of an error: one of them, and a list.
pub(super) const TIME: &str = "a time, such as 13480 or \"3.27 ms\"";
const TIMES: &str = "a time, such as 13480 or \"3.27 ms\", or a list of times";
const MEMORY: &str = "an amount of memory, such as 12 or \"1.5 GiB\"";
const MEMORIES: &str = "an amount of memory, such as 12 or \"1.5 GiB\", or a list of these";
const LIMIT: &str = "an amount of memory, such as 12 or \"1.5 GiB\", or \"none\"";

/// What each value of a list is read as, or one value for all.
fn each<T: Clone>(
    value: &Value<'_>,
    expected: usize,
    of: &'static str,
    [one, or_list]: [&'static str; 2],
    read: impl Fn(&Value<'_>, &'static str) -> Result<T, FileError>,
) -> Result<Vec<T>, FileError> {
    match value.list() {
        Some(values) => value.listed(&values, expected, of)?.iter().map(|value| read(value, one)).collect(),
        None => Ok(vec![read(value, or_list)?; expected]),
    }
}

impl Amounts {
    fn new(scale: Scale, table: Option<&Table<'_>>, names: UnitNames) -> Result<Self, FileError> {
        let (unit, factor) = match table.and_then(|table| table.get("unit")) {
            Some(value) => unit(&value, scale, names)?,
            None => (default_of(scale).to_owned(), None),
        };
        let (is_scaled, is_rounded) = (Cell::new(false), Cell::new(false));
        Ok(Self { scale, unit, factor, in_base: false, is_scaled, is_rounded })
    }

    /// The same in base units, where something had to be scaled.
    fn scaled_if_needed(&self) -> Self {
        Self {
            scale: self.scale,
            unit: self.unit.clone(),
            factor: self.factor,
            in_base: self.is_scaled.get(),
            is_scaled: Cell::new(false),
            is_rounded: Cell::new(false),
        }
    }

    fn plain_number(&self) -> PlainNumber {
        let one = if self.in_base { self.factor.and_then(|factor| factor.try_into().ok()) } else { Some(1) };
        PlainNumber { one }
    }

    fn whole(&self, value: &Value<'_>, round: Round, expected: &'static str) -> Result<i64, FileError> {
        if !self.in_base && value.is_integer() {
            return value.amount_or(expected);
        }
        let quantity = quantity(value, expected)?;
        let exact = self.exact(value, &quantity)?;
        if !self.in_base {
            self.is_scaled.set(true);
            // The file is read once more.
            return Ok(0);
        }
        let whole = match round {
            Round::Up => exact.ceil(),
            Round::Down => exact.floor(),
        };
        self.is_rounded.set(self.is_rounded.get() || whole != exact);
        i64::try_from(whole.to_integer()).map_err(|_| {
            value.error(TomlProblem::Rule { key: value.key(), rule: "is too large to count".to_owned() })
        })
    }

    /// An amount in base units.
    fn exact(&self, value: &Value<'_>, quantity: &Quantity) -> Result<Ratio<i128>, FileError> {
        if !quantity.unit.is_empty() {
            return quantity.in_base(self.scale).map_err(|error| wrong(value, error));
        }
        if quantity.number == Ratio::from_integer(0) {
            return Ok(quantity.number);
        }
        let factor = self.factor.ok_or_else(|| {
            let (scale, unit, key) = (self.scale, &self.unit, value.key());
            let rule = if quantity.number.is_integer() {
                format!("counts in {unit}, but other amounts of {scale} in this file have units: give it one, such as \"{}\"", scale.example())
            } else {
                format!("is no whole number of {unit}: name a unit of {scale}, such as \"{}\"", scale.example())
            };
            value.error(TomlProblem::Rule { key, rule })
        })?;
        Ok(quantity.number * factor)
    }
}

/// What is counted where a file names no unit.
const fn default_of(scale: Scale) -> &'static str {
    match scale {
        Scale::Time => "tick",
        _ => "stage-activation",
    }
}

/// The unit that a file names, and how many base units it is; nothing for a name of what is counted.
fn unit(value: &Value<'_>, scale: Scale, names: UnitNames) -> Result<(String, Option<i128>), FileError> {
    let found = match value.text()? {
        "µs" if names == UnitNames::Known => "us",
        "ticks" if names == UnitNames::Known => "tick",
        found => found,
    };
    let known = scale.units().iter().find(|(name, _)| *name == found);
    // A name of two words or more is none of a unit, and no mistyped one either.
    let words = found.split([' ', '-', '_', '/']).filter(|word| !word.is_empty());
    match known {
        Some(&(_, factor)) => Ok((found.to_owned(), Some(factor))),
        None if names == UnitNames::Any
            || found == default_of(scale)
            || found == "unit"
            || words.count() > 1 =>
        {
            Ok((found.to_owned(), None))
        }
        None => Err(value.error(TomlProblem::Unit { key: value.key(), found: found.to_owned(), scale })),
    }
}

/// A number of the file, or a text that begins with one.
fn quantity(value: &Value<'_>, expected: &'static str) -> Result<Quantity, FileError> {
    if value.is_integer() {
        // It may be hexadecimal, and is never rounded.
        let number = value.amount_or(expected)?;
        let (number, written) = (Ratio::from_integer(number.into()), number.to_string());
        return Ok(Quantity { number, unit: String::new(), written });
    }
    let text = value.as_text().or_else(|| value.as_number()).ok_or_else(|| value.wrong_type(expected))?;
    Quantity::parse(text).map_err(|error| match error {
        QuantityError::NoNumber(_) => value.wrong_type(expected),
        error => wrong(value, error),
    })
}

fn wrong(value: &Value<'_>, error: QuantityError) -> FileError {
    value.error(TomlProblem::Quantity { key: value.key(), error })
}

#[cfg(test)]
mod tests;
