//! Amounts of a column or a list, all in one unit; and times in full, which claims are about. The tool prints them.

use num_rational::Ratio;

use super::{Amount, Amounts, Scales, TIMES, digits, fitting, in_unit, plural, rounded};
use crate::model::Ticks;
use crate::text::quantity::Scale;

impl<'a> Amounts<'a> {
    /// A time with its unit and all its digits: what a claim is about. What is no whole number of ticks is rounded.
    pub(crate) fn time_in_full(self, ticks: Ticks) -> String {
        let Some(base) = self.base(Scale::Time) else { return in_unit(ticks, self.time) };
        let nanoseconds = i128::from(ticks.0) * base;
        let (name, size) = fitting(Ratio::from_integer(nanoseconds), TIMES);
        format!("{} {name}", in_full(Ratio::new(nanoseconds, size)))
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

    /// A time with the unit that suits it; a plain number where a heading says what all [are counted](Self::counted) in.
    pub(crate) fn time_or_count(self, ticks: impl Into<Amount>) -> String {
        let Amount(ticks) = ticks.into();
        match self.base(Scale::Time) {
            Some(_) => self.time(ticks),
            None if self.exact => ticks.to_string(),
            None => digits(ticks),
        }
    }

    /// What a heading says of all its times: `ticks`; nothing where each time brings its own unit.
    pub(crate) fn counted(self) -> Option<&'a str> {
        self.base(Scale::Time).is_none().then(|| plural(self.time))
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_in_full_have_all_their_digits() {
        let full = |ticks| Amounts::new(false, "ns", "").time_in_full(Ticks(ticks));
        assert_eq!(
            [full(1_277_912_500), full(70), full(0), full(3_000_000)],
            ["1.2779125 s", "70 ns", "0 ns", "3 ms"]
        );
    }

    #[test]
    fn an_exact_column_is_in_the_unit_of_the_model() {
        let exact = Amounts::new(true, "ns", "byte");
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
