//! Reading amounts of a job file: with units, or as plain counts throughout.

use std::cell::Cell;

use num_rational::Ratio;

use crate::model::reading::{FileError, Table, TomlProblem, Value};
use crate::text::quantity::{Quantity, QuantityError, Scale};

/// How the amounts of one scale are written in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Written {
    /// With a unit, or as multiples of the unit that `[units]` names.
    WithUnit,
    /// As counts of something without a unit.
    Counts,
}

/// The amounts of one scale of a file: all with units, or all counts.
#[derive(Debug)]
struct Amounts {
    scale: Scale,
    /// What a number without a unit is a multiple of, in base units.
    default: Option<Ratio<i128>>,
    seen: Cell<Option<Written>>,
}

/// Which way an amount between two whole ones goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Round {
    /// What is needed: never less than stated.
    Up,
    /// What there is: never more than stated.
    Down,
}

/// How times and memory are written in a job file.
#[derive(Debug)]
pub(super) struct Reader {
    times: Amounts,
    memory: Amounts,
}

impl Reader {
    /// Reads `[units]`, which names what numbers without a unit are multiples of.
    pub(super) fn new(units: Option<&Table<'_>>) -> Result<Self, FileError> {
        if let Some(units) = units {
            units.only(&["time", "memory"])?;
        }
        let default = |key, scale: Scale| -> Result<Option<Ratio<i128>>, FileError> {
            let Some(value) = units.and_then(|table| table.get(key)) else { return Ok(None) };
            let unit = value.text()?.to_owned();
            let one = Quantity { number: Ratio::from_integer(1), unit, written: "1".to_owned() };
            one.in_base(scale).map(Some).map_err(|error| wrong(&value, error))
        };
        Ok(Self {
            times: Amounts::new(Scale::Time, default("time", Scale::Time)?),
            memory: Amounts::new(Scale::Memory, default("memory", Scale::Memory)?),
        })
    }

    /// A time in ticks, rounded up.
    pub(super) fn ticks(&self, value: &Value<'_>) -> Result<i64, FileError> {
        self.times.whole(value, Round::Up)
    }

    /// An amount of memory in units.
    pub(super) fn units(&self, value: &Value<'_>, round: Round) -> Result<i64, FileError> {
        self.memory.whole(value, round)
    }

    /// A bandwidth in units per tick: bytes per nanosecond where it has a unit. Without, it is one of plain numbers, for which
    /// `[units]` names nothing.
    pub(super) fn bandwidth(&self, value: &Value<'_>) -> Result<Ratio<i128>, FileError> {
        let both = [&self.times, &self.memory];
        let note = |written| both.into_iter().try_for_each(|amounts| amounts.note(value, written));
        let found = quantity(value, Scale::Bandwidth)?;
        if found.unit.is_empty() && both.iter().all(|amounts| amounts.default.is_none()) {
            note(Written::Counts)?;
            return positive(value, found.number);
        }
        let per_second = measured(value, Scale::Bandwidth)?;
        note(Written::WithUnit)?;
        Ok(per_second / Ratio::from_integer(1_000_000_000))
    }

    /// What a tick is.
    pub(super) fn time_unit(&self) -> String {
        if self.times.seen.get() == Some(Written::Counts) { "tick" } else { "ns" }.to_owned()
    }

    /// What a unit of memory is.
    pub(super) fn memory_unit(&self) -> String {
        if self.memory.seen.get() == Some(Written::Counts) { "unit" } else { "byte" }.to_owned()
    }
}

impl Amounts {
    const fn new(scale: Scale, default: Option<Ratio<i128>>) -> Self {
        Self { scale, default, seen: Cell::new(None) }
    }

    fn whole(&self, value: &Value<'_>, round: Round) -> Result<i64, FileError> {
        let exact = self.exact(value)?;
        let whole = match round {
            Round::Up => exact.ceil(),
            Round::Down => exact.floor(),
        };
        i64::try_from(whole.to_integer()).map_err(|_| {
            value.error(TomlProblem::Rule { key: value.key(), rule: "is too large to count".to_owned() })
        })
    }

    fn exact(&self, value: &Value<'_>) -> Result<Ratio<i128>, FileError> {
        let quantity = quantity(value, self.scale)?;
        if quantity.number == Ratio::from_integer(0) && quantity.unit.is_empty() {
            return Ok(quantity.number);
        }
        if !quantity.unit.is_empty() {
            self.note(value, Written::WithUnit)?;
            return quantity.in_base(self.scale).map_err(|error| wrong(value, error));
        }
        if let Some(default) = self.default {
            self.note(value, Written::WithUnit)?;
            return Ok(quantity.number * default);
        }
        if !quantity.number.is_integer() {
            let (number, scale) = (quantity.written, self.scale);
            return Err(wrong(value, QuantityError::NoUnit { number, scale }));
        }
        self.note(value, Written::Counts)?;
        Ok(quantity.number)
    }

    /// Refuses amounts with a unit beside amounts without one, which cannot be compared.
    fn note(&self, value: &Value<'_>, written: Written) -> Result<(), FileError> {
        match self.seen.replace(Some(written)) {
            Some(before) if before != written => {
                let (this, others) = match written {
                    Written::WithUnit => ("has a unit", "have none"),
                    Written::Counts => ("has no unit", "have one"),
                };
                let scale = self.scale;
                let rule = format!(
                    "{this}, but other amounts of {scale} in this file {others}: write all with units, or name the unit \
                     of plain numbers in [units]"
                );
                Err(value.error(TomlProblem::Rule { key: value.key(), rule }))
            }
            _ => Ok(()),
        }
    }
}

/// An amount with a unit, in base units.
pub(super) fn measured(value: &Value<'_>, scale: Scale) -> Result<Ratio<i128>, FileError> {
    positive(value, quantity(value, scale)?.in_base(scale).map_err(|error| wrong(value, error))?)
}

fn positive(value: &Value<'_>, found: Ratio<i128>) -> Result<Ratio<i128>, FileError> {
    if found == Ratio::from_integer(0) {
        return Err(value.error(TomlProblem::Rule { key: value.key(), rule: "must not be zero".to_owned() }));
    }
    Ok(found)
}

/// A number of the file, or a text that begins with one.
fn quantity(value: &Value<'_>, scale: Scale) -> Result<Quantity, FileError> {
    let expected = match scale {
        Scale::Time => "a time, such as \"3.27 ms\"",
        Scale::Memory => "an amount of memory, such as \"1.5 GiB\"",
        Scale::Bandwidth => "a bandwidth, such as \"25 GB/s\"",
        Scale::Operations => "an amount of work, such as \"2.5 TFLOP\"",
        Scale::Speed => "a speed, such as \"312 TFLOP/s\"",
    };
    let text = value.as_text().or_else(|| value.as_number()).ok_or_else(|| value.wrong_type(expected))?;
    Quantity::parse(text).map_err(|error| wrong(value, error))
}

fn wrong(value: &Value<'_>, error: QuantityError) -> FileError {
    value.error(TomlProblem::Quantity { key: value.key(), error })
}
