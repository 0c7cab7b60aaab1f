//! Times and amounts of memory as people read them: in the unit that suits them, or exactly as they are counted.

use std::fmt;

use num_rational::Ratio;

use super::{in_unit, plural};
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

    /// A time with its unit and all its digits: what a claim is about. What is no whole number of ticks is rounded.
    pub(crate) fn time_in_full(self, ticks: Ticks) -> String {
        let Some(base) = self.base(Scale::Time) else { return in_unit(ticks, self.time) };
        let nanoseconds = i128::from(ticks.0) * base;
        let (name, size) = fitting(Ratio::from_integer(nanoseconds), TIMES);
        format!("{} {name}", in_full(Ratio::new(nanoseconds, size)))
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

    /// How a column of times shows them: all in the unit that suits the longest.
    pub(crate) fn times(self, all: impl IntoIterator<Item = impl Into<Amount>>) -> Column {
        Column::of(all, self.base(Scale::Time), TIMES, plural(self.time))
    }

    /// How a list of times shows them: all in the unit that suits the longest, with all their digits.
    pub(crate) fn times_in_full(self, all: impl IntoIterator<Item = impl Into<Amount>>) -> Column {
        let column = self.times(all);
        let in_full = |(factor, _): (Ratio<i128>, Decimals)| (factor, Decimals::All);
        Column { rounded: column.rounded.map(in_full), ..column }
    }

    /// How a column of amounts of memory shows them: all in the unit that suits the largest.
    pub(crate) fn memories(self, all: impl IntoIterator<Item = impl Into<Amount>>) -> Column {
        Column::of(all, self.base(Scale::Memory), self.scales_of_memory(), self.memory)
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
pub(crate) fn time(ticks: i64, unit: &str) -> String {
    Amounts::new(false, unit, "").time(ticks)
}

/// Units of memory with four digits in the unit that suits them, or as counted where they are not bytes.
pub(crate) fn memory(units: i64, unit: &str) -> String {
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
pub(crate) fn amount(units: i64, unit: &str) -> String {
    Amounts::new(false, "", unit).further_memory(units)
}

/// Bytes with the unit that suits them, or the plain number of what is counted: for sentences that need no name of it.
pub(crate) fn bytes_or_count(units: Units, unit: &str) -> String {
    Amounts::new(false, "", unit).further_memory(units)
}

/// How the amounts of a column are shown: in one unit, with as many decimals each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Column {
    unit: String,
    /// What an amount is multiplied with, and to how many decimals it is rounded; nothing where it is shown as counted.
    rounded: Option<(Ratio<i128>, Decimals)>,
}

/// How many decimals the amounts of a column have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Decimals {
    /// All as many.
    Same(u32),
    /// As many as each has.
    All,
}

impl Column {
    /// How many digits the largest amount has.
    const DIGITS: u32 = 5;

    fn of(
        all: impl IntoIterator<Item = impl Into<Amount>>,
        base: Option<i128>,
        scales: Scales,
        counted: &str,
    ) -> Self {
        let mut all = all.into_iter().map(Into::<Amount>::into).peekable();
        let Some(base) = base.filter(|_| all.peek().is_some()) else {
            return Self { unit: counted.to_owned(), rounded: None };
        };
        let all: Vec<Ratio<i128>> = all.map(|amount| amount.0 * base).collect();
        let largest = all.iter().map(|amount| (*amount).max(-*amount)).max().unwrap_or_default();
        let (name, size) = fitting(largest, scales);
        let whole = all.iter().all(|amount| (amount / size).is_integer());
        let before = (largest / size).to_integer().max(1).ilog10() + 1;
        let decimals = if whole { 0 } else { Self::DIGITS.saturating_sub(before) };
        Self { unit: name.to_owned(), rounded: Some((Ratio::new(base, size), Decimals::Same(decimals))) }
    }

    /// The unit of all amounts in the column.
    pub(crate) fn unit(&self) -> &str {
        &self.unit
    }

    /// Whether amounts are shown in a unit that suits them, and not as counted.
    pub(crate) const fn is_scaled(&self) -> bool {
        self.rounded.is_some()
    }

    /// An amount without its unit.
    pub(crate) fn cell(&self, amount: impl Into<Amount>) -> String {
        let Amount(number) = amount.into();
        match self.rounded {
            Some((factor, Decimals::Same(decimals))) => rounded(number * factor, decimals),
            Some((factor, Decimals::All)) => in_full(number * factor),
            None => number.to_string(),
        }
    }
}

/// A number with as many decimals as it has, but nine at most: a second in nanoseconds.
fn in_full(number: Ratio<i128>) -> String {
    let text = rounded(number, 9);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
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
        let full = |ticks| Amounts::new(false, "ns", "").time_in_full(Ticks(ticks));
        assert_eq!(
            [full(1_277_912_500), full(70), full(0), full(3_000_000)],
            ["1.2779125 s", "70 ns", "0 ns", "3 ms"]
        );
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
        let column = exact.times([1_000_000_i64, 2]);
        assert_eq!((column.unit(), column.cell(1_000_000)), ("ns", "1000000".to_owned()));
    }

    #[test]
    fn a_column_has_one_unit_and_as_many_decimals_in_all_its_cells() {
        let amounts = Amounts::new(false, "us", "MiB");
        let column = |all: &[i64]| {
            let column = amounts.times(all.iter().copied());
            let cells = all.iter().map(|&ticks| column.cell(ticks));
            (column.unit().to_owned(), cells.collect::<Vec<_>>().join(" "))
        };
        assert_eq!(column(&[1_456_749, 983_200, 7]), ("s".to_owned(), "1.4567 0.9832 0.0000".to_owned()));
        assert_eq!(column(&[10_990, 9_490]), ("ms".to_owned(), "10.990 9.490".to_owned()));
        assert_eq!(column(&[5_000, 12_000]), ("ms".to_owned(), "5 12".to_owned()));
        assert_eq!(column(&[]), ("us".to_owned(), String::new()));
        let column = amounts.times_in_full([9_261_i64, 4_668, 1_000]);
        assert_eq!([9_261, 4_668, 1_000].map(|ticks| column.cell(ticks)), ["9.261", "4.668", "1"]);
        assert_eq!(amounts.memories([81_920_i64, 512]).cell(512), "0.500");
    }
}
