//! Times and amounts of memory as people read them: in the unit that suits them, or exactly as they are counted.

#[cfg(feature = "cli")]
mod column;

use std::fmt;

use num_rational::Ratio;

#[cfg(feature = "cli")]
pub(crate) use column::Column;

use crate::model::{Ticks, Units};
use crate::text::quantity::Scale;

/// An exact number of ticks or of units of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Amount(Ratio<i128>);

impl From<i64> for Amount {
    fn from(number: i64) -> Self {
        Self(Ratio::from_integer(i128::from(number)))
    }
}

impl From<Ticks> for Amount {
    fn from(ticks: Ticks) -> Self {
        ticks.0.into()
    }
}

impl From<Units> for Amount {
    fn from(units: Units) -> Self {
        units.0.into()
    }
}

impl From<Ratio<i64>> for Amount {
    fn from(number: Ratio<i64>) -> Self {
        Self(Ratio::new((*number.numer()).into(), (*number.denom()).into()))
    }
}

impl From<Ratio<i128>> for Amount {
    fn from(number: Ratio<i128>) -> Self {
        Self(number)
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

/// How a text shows the times and the memory of a model.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Amounts<'a> {
    /// The unit of a tick.
    time: &'a str,
    /// The unit of memory.
    memory: &'a str,
    /// Whether amounts are shown as they are counted, with all their digits.
    exact: bool,
}

impl<'a> Amounts<'a> {
    /// Amounts in the unit that suits each; or, where they are to be exact, as they are counted.
    pub(crate) const fn new(exact: bool, time: &'a str, memory: &'a str) -> Self {
        Self { time, memory, exact }
    }

    /// A time with its unit.
    pub(crate) fn time(self, ticks: impl Into<Amount>) -> String {
        let Amount(number) = ticks.into();
        match self.base(Scale::Time) {
            Some(base) => scaled(number * base, TIMES),
            None => in_unit(number, self.time),
        }
    }

    /// An amount of memory with its unit.
    pub(crate) fn memory(self, units: impl Into<Amount>) -> String {
        let Amount(number) = units.into();
        match self.base(Scale::Memory) {
            Some(base) => scaled(number * base, self.scales_of_memory()),
            None => format!("{number} {}", self.memory),
        }
    }

    /// An amount of memory behind one with its unit: counts go without.
    pub(crate) fn further_memory(self, units: impl Into<Amount>) -> String {
        let units = units.into();
        if self.base(Scale::Memory).is_some() { self.memory(units) } else { units.to_string() }
    }

    /// How many nanoseconds or bytes the unit is; nothing where amounts are shown as they are counted.
    fn base(self, scale: Scale) -> Option<i128> {
        let unit = if scale == Scale::Time { self.time } else { self.memory };
        let known = scale.units().iter().find(|(name, _)| *name == unit && !self.exact);
        known.map(|&(_, base)| base)
    }

    /// Who counts in powers of 1000 reads them too.
    fn scales_of_memory(self) -> Scales {
        if matches!(self.memory, "kB" | "KB" | "MB" | "GB" | "TB") { DECIMAL } else { BINARY }
    }
}

/// Units, each with its size in the unit that is the last, largest first.
type Scales = &'static [(&'static str, i128)];

const TIMES: Scales = &[("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000), ("ns", 1)];
const BINARY: Scales = &[("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1)];
const DECIMAL: Scales = &[("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000), ("B", 1)];

/// The largest unit of which an amount is at least one.
fn fitting(amount: Ratio<i128>, scales: Scales) -> (&'static str, i128) {
    let is_one = |size: i128| amount >= Ratio::from_integer(size) || -amount >= Ratio::from_integer(size);
    let fits = scales.iter().find(|(_, size)| is_one(*size));
    *fits.or(scales.last()).expect("there are scales")
}

fn scaled(amount: Ratio<i128>, scales: Scales) -> String {
    let (name, size) = fitting(amount, scales);
    format!("{} {name}", digits(amount / size))
}

/// Ticks with four digits in the unit that suits them, or as counted where ticks have no unit that is known.
#[must_use]
pub fn time(ticks: i64, unit: &str) -> String {
    Amounts::new(false, unit, "").time(ticks)
}

/// Units of memory with four digits in the unit that suits them, or as counted where they are not bytes.
#[must_use]
pub fn memory(units: i64, unit: &str) -> String {
    Amounts::new(false, "", unit).memory(units)
}

/// A part of an amount of memory with their unit: `49.70 of 60 GiB`, or `500 MiB of 2 GiB`. Amounts that are not bytes
/// have no unit here.
pub(crate) fn memory_of(part: i64, whole: i64, unit: &str) -> String {
    let [part, whole] = [part, whole].map(|units| amount(units, unit));
    match (part.rsplit_once(' '), whole.rsplit_once(' ')) {
        (Some((number, one)), Some((_, other))) if one == other => format!("{number} of {whole}"),
        _ => format!("{part} of {whole}"),
    }
}

/// Units of memory as [`memory`] gives them, but without a unit where they are not bytes.
#[must_use]
pub fn amount(units: i64, unit: &str) -> String {
    Amounts::new(false, "", unit).further_memory(units)
}

/// A number with four digits, or all of those before the point, rounded half up.
pub(crate) fn digits(number: Ratio<i128>) -> String {
    let decimals = match number.to_integer().abs() {
        _ if number.is_integer() => 0,
        0..=9 => 3,
        10..=99 => 2,
        100..=999 => 1,
        _ => 0,
    };
    rounded(number, decimals)
}

/// A number with so many decimals, rounded half up.
fn rounded(number: Ratio<i128>, decimals: u32) -> String {
    let scale = 10_i128.pow(decimals);
    let rounded = (number * scale + Ratio::new(1, 2)).floor().to_integer();
    if decimals == 0 {
        return rounded.to_string();
    }
    let sign = if rounded < 0 { "-" } else { "" };
    let (whole, part) = (rounded.abs() / scale, rounded.abs() % scale);
    format!("{sign}{whole}.{part:0>width$}", width = decimals as usize)
}

/// A time with its unit. The default unit is a word and has a plural: 1 tick, 2 ticks, 3 us.
pub(crate) fn in_unit(value: impl fmt::Display, unit: &str) -> String {
    let value = value.to_string();
    let unit = if value == "1" { unit } else { plural(unit) };
    format!("{value} {unit}")
}

/// A unit of time in the plural.
pub(crate) fn plural(unit: &str) -> &str {
    if unit == "tick" { "ticks" } else { unit }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_digits_are_shown() {
        for (ticks, unit, text) in [
            (3_146_570_000, "ns", "3.147 s"),
            (999_900_000, "ns", "999.9 ms"),
            (42_280, "us", "42.28 ms"),
            (-42_280, "us", "-42.28 ms"),
            (7, "ns", "7 ns"),
            (0, "ns", "0 ns"),
            (3_000, "ms", "3 s"),
            (1_234_567, "s", "1234567 s"),
            (9_999_600, "ns", "10.000 ms"),
            (5, "tick", "5 ticks"),
        ] {
            assert_eq!(time(ticks, unit), text);
        }
        assert_eq!(memory(53_365_080_883, "byte"), "49.70 GiB");
        assert_eq!(memory(80, "GB"), "80 GB");
        assert_eq!(memory_of(53_365_080_883, 60 << 30, "byte"), "49.70 of 60 GiB");
        assert_eq!(memory_of(500, 2048, "MiB"), "500 MiB of 2 GiB");
        assert_eq!(memory_of(4, 6, "stage-activation"), "4 of 6");
        assert_eq!(memory(12, "stage-activation"), "12 stage-activation");
        assert_eq!(Amounts::new(false, "us", "").time(Ratio::new(55_000_i64, 3)), "18.33 ms");
        assert_eq!(Amounts::new(false, "tick", "").time(Ratio::new(55_i64, 3)), "55/3 ticks");
    }

    #[test]
    fn exact_amounts_are_those_that_are_counted() {
        let exact = Amounts::new(true, "ns", "byte");
        assert_eq!(exact.time(3_146_570_000), "3146570000 ns");
        assert_eq!(exact.memory(1_i64 << 30), "1073741824 byte");
    }
}
