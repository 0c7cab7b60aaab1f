//! Figures that from some number of microbatches on grow by the same amount with every cycle of them.

use std::fmt;

use num_integer::Integer as _;
use num_rational::Ratio;

use crate::model::Ticks;

/// A figure for the numbers of microbatches `first, first + step, ...`, in ticks: given one by one at
/// first, and from then on growing by the same amount with every cycle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Formula {
    first: u32,
    step: u32,
    before: Vec<Ticks>,
    cycle: Vec<Ticks>,
    increase: Ticks,
}

impl Formula {
    /// The figure whose first values are given, and whose later ones are each larger by `increase` than
    /// the one `cycle` places before it, in as few words as possible.
    ///
    /// # Panics
    /// When there are fewer than `cycle` values, or `cycle` is 0.
    pub(super) fn new((first, step): (u32, u32), values: &[Ticks], cycle: usize, increase: Ticks) -> Self {
        let (before, cycle) = values.split_at(values.len() - cycle);
        let mut formula = Self { first, step, before: before.to_vec(), cycle: cycle.to_vec(), increase };
        formula.shorten_cycle();
        formula.begin_sooner();
        formula
    }

    /// Whether the cycle is several times a shorter one.
    fn shorten_cycle(&mut self) {
        let length = self.cycle.len();
        let value =
            |at: usize| if at < length { self.cycle[at] } else { self.cycle[at - length] + self.increase };
        for shorter in (1..length).filter(|shorter| length.is_multiple_of(*shorter)) {
            let times = i64::try_from(length / shorter).expect("a cycle that is laid out");
            let part = Ticks(self.increase.0 / times);
            if part * times == self.increase && (0..length).all(|at| value(at + shorter) == value(at) + part)
            {
                self.cycle.truncate(shorter);
                self.increase = part;
                return;
            }
        }
    }

    /// Takes into the cycle what before it follows the same rule.
    fn begin_sooner(&mut self) {
        while let (Some(&before), Some(&last)) = (self.before.last(), self.cycle.last())
            && before + self.increase == last
        {
            self.before.pop();
            self.cycle.rotate_right(1);
            self.cycle[0] = before;
        }
    }

    /// The least number of microbatches.
    #[must_use]
    pub const fn first(&self) -> u32 {
        self.first
    }

    /// The number of microbatches from which on the rule holds.
    #[must_use]
    pub fn from(&self) -> u32 {
        self.first + self.step * u32::try_from(self.before.len()).expect("as many as were replayed")
    }

    /// After how many more microbatches the figure has grown by [`increase`](Self::increase).
    #[must_use]
    pub fn period(&self) -> u32 {
        self.step * u32::try_from(self.cycle.len()).expect("as many as were replayed")
    }

    /// How much the figure grows with every [`period`](Self::period).
    #[must_use]
    pub const fn increase(&self) -> Ticks {
        self.increase
    }

    /// What it grows by for each microbatch in the long run.
    #[must_use]
    pub fn rate(&self) -> Ratio<i64> {
        Ratio::new(self.increase.0, i64::from(self.period()))
    }

    /// The values to which the rule does not apply yet.
    #[must_use]
    pub fn before(&self) -> &[Ticks] {
        &self.before
    }

    /// The values of the first cycle.
    #[must_use]
    pub fn cycle(&self) -> &[Ticks] {
        &self.cycle
    }

    /// The figure of a number of microbatches; nothing where it is not said.
    #[must_use]
    pub fn at(&self, microbatches: u32) -> Option<Ticks> {
        let more = microbatches.checked_sub(self.first)?;
        if !more.is_multiple_of(self.step) {
            return None;
        }
        let place = (more / self.step) as usize;
        let Some(beyond) = place.checked_sub(self.before.len()) else { return Some(self.before[place]) };
        let (cycles, within) = beyond.div_mod_floor(&self.cycle.len());
        self.cycle[within].checked_add(self.increase.checked_times(cycles as u64)?)
    }

    /// For each value of the cycle: `value * denominator - numerator * m` at its m, where the rate is
    /// `numerator / denominator`.
    fn offsets(&self) -> Vec<i128> {
        let rate = self.rate();
        (0_i128..)
            .zip(&self.cycle)
            .map(|(place, value)| {
                let microbatches = i128::from(self.from()) + place * i128::from(self.step);
                i128::from(value.0) * i128::from(*rate.denom()) - i128::from(*rate.numer()) * microbatches
            })
            .collect()
    }
}

/// How many lines are written out in words.
const MOST_LINES: usize = 6;

/// In words, such as `6 m + 11 for every m >= 3; 13, 22 for m = 1, 2`.
impl fmt::Display for Formula {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let offsets = self.offsets();
        let (rate, from) = (self.rate(), self.from());
        let most = offsets.iter().max().copied().unwrap_or_default();
        let least = offsets.iter().min().copied().unwrap_or_default();
        if most - least < i128::from(*rate.denom()) {
            let line = Line { rate, offset: most, floor: self.cycle.len() > 1 };
            write!(out, "{line} for {}", Numbers::from(from, self.step))?;
        } else if offsets.len() > MOST_LINES {
            let (period, values) = (self.period(), [&self.before[..], &self.cycle].concat());
            let last = from + period - self.step;
            return write!(
                out,
                "{} more than at m - {period} for {}; {} for {}",
                self.increase,
                Numbers::from(from + period, self.step),
                Listed(&values),
                Numbers::until(self.first, self.step, last),
            );
        } else {
            for (place, &offset) in (0..).zip(&offsets) {
                let numbers = Numbers::from(from + place * self.step, self.period());
                let comma = if place == 0 { "" } else { ", " };
                write!(out, "{comma}{} for {numbers}", Line { rate, offset, floor: false })?;
            }
        }
        if self.before.is_empty() {
            return Ok(());
        }
        write!(
            out,
            "; {} for {}",
            Listed(&self.before),
            Numbers::until(self.first, self.step, from - self.step)
        )
    }
}

/// `(numerator m + offset) / denominator`, rounded down where it is no integer.
struct Line {
    rate: Ratio<i64>,
    offset: i128,
    /// Whether it may be no integer.
    floor: bool,
}

impl fmt::Display for Line {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (numerator, denominator) = (*self.rate.numer(), *self.rate.denom());
        let factor = if numerator == 1 { "m".to_owned() } else { format!("{numerator} m") };
        let sum = match self.offset {
            0 => factor,
            offset @ 1.. => format!("{factor} + {offset}"),
            offset => format!("{factor} - {}", -offset),
        };
        match denominator {
            1 => write!(out, "{sum}"),
            _ if self.floor => write!(out, "floor(({sum}) / {denominator})"),
            _ => write!(out, "({sum}) / {denominator}"),
        }
    }
}

/// Numbers of microbatches in words: `every m >= 3`, `m = 1 to 4`, `m = 4, 6, 8, ...`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Numbers {
    first: u32,
    step: u32,
    last: Option<u32>,
}

impl Numbers {
    /// From one on.
    #[must_use]
    pub const fn from(first: u32, step: u32) -> Self {
        Self { first, step, last: None }
    }

    /// From one to another.
    #[must_use]
    pub const fn until(first: u32, step: u32, last: u32) -> Self {
        Self { first, step, last: Some(last) }
    }
}

impl fmt::Display for Numbers {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { first, step, last } = *self;
        let (second, third) = (first.saturating_add(step), first.saturating_add(step.saturating_mul(2)));
        match (last, step) {
            (None, 1) => write!(out, "every m >= {first}"),
            (None, _) => write!(out, "m = {first}, {second}, {third}, ..."),
            (Some(last), _) if last <= first => write!(out, "m = {first}"),
            (Some(last), _) if last == second => write!(out, "m = {first}, {last}"),
            (Some(last), 1) => write!(out, "m = {first} to {last}"),
            (Some(last), _) => write!(out, "m = {first}, {second}, ..., {last}"),
        }
    }
}

/// Values with commas between them; the middle of a long list is left out.
#[derive(Debug, Clone, Copy)]
pub struct Listed<'a, T>(pub &'a [T]);

impl<T: fmt::Display> fmt::Display for Listed<'_, T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MOST: usize = 16;
        let (values, last) = match self.0 {
            [shown @ .., last] if shown.len() >= MOST => (&shown[..MOST - 2], Some(last)),
            values => (values, None),
        };
        for (place, value) in values.iter().enumerate() {
            write!(out, "{}{value}", if place == 0 { "" } else { ", " })?;
        }
        last.map_or(Ok(()), |last| write!(out, ", ..., {last}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn formula(first: u32, step: u32, values: &[i64], cycle: usize, increase: i64) -> Formula {
        let values: Vec<Ticks> = values.iter().copied().map(Ticks).collect();
        Formula::new((first, step), &values, cycle, Ticks(increase))
    }

    #[test]
    fn formulas_are_put_into_as_few_words_as_they_need() {
        for (formula, text) in [
            (formula(1, 1, &[6], 1, 6), "6 m for every m >= 1"),
            (formula(1, 1, &[13, 21, 27, 33], 1, 6), "6 m + 9 for every m >= 2; 13 for m = 1"),
            (formula(1, 1, &[4, 4, 5, 6], 2, 2), "m + 2 for every m >= 2; 4 for m = 1"),
            (formula(1, 1, &[4, 7, 11], 2, 7), "floor((7 m + 1) / 2) for every m >= 1"),
            (
                formula(1, 1, &[9, 5, 11, 12], 2, 12),
                "6 m - 7 for m = 3, 5, 7, ..., 6 m - 12 for m = 4, 6, 8, ...; 9, 5 for m = 1, 2",
            ),
            (formula(1, 1, &[6, 13], 2, 12), "6 m for m = 1, 3, 5, ..., 6 m + 1 for m = 2, 4, 6, ..."),
            // A cycle that is twice a shorter one.
            (
                formula(1, 1, &[6, 13, 18, 25], 4, 24),
                "6 m for m = 1, 3, 5, ..., 6 m + 1 for m = 2, 4, 6, ...",
            ),
            (formula(3, 2, &[6, 13], 2, 12), "3 m - 3 for m = 3, 7, 11, ..., 3 m - 2 for m = 5, 9, 13, ..."),
            (
                formula(1, 1, &[1, 5, 3, 9, 5, 13], 6, 6),
                "m for m = 1, 7, 13, ..., m + 3 for m = 2, 8, 14, ..., m for m = 3, 9, 15, ..., \
                 m + 5 for m = 4, 10, 16, ..., m for m = 5, 11, 17, ..., m + 7 for m = 6, 12, 18, ...",
            ),
            (
                formula(1, 1, &[5, 9, 1, 8, 2, 7, 3], 7, 14),
                "14 more than at m - 7 for every m >= 8; 5, 9, 1, 8, 2, 7, 3 for m = 1 to 7",
            ),
            (formula(12, 4, &[30, 40, 51], 1, 11), "(11 m - 16) / 4 for m = 16, 20, 24, ...; 30 for m = 12"),
        ] {
            assert_eq!(formula.to_string(), text);
        }
    }

    #[test]
    fn a_formula_has_the_values_before_its_rule() {
        let late = formula(1, 1, &[13, 21, 27, 33], 1, 6);
        assert_eq!((late.before(), late.from()), (&[Ticks(13)][..], 2));
    }

    #[test]
    fn numbers_of_microbatches_are_said_plainly() {
        for (numbers, text) in [
            (Numbers::from(1, 1), "every m >= 1"),
            (Numbers::from(4, 2), "m = 4, 6, 8, ..."),
            (Numbers::until(3, 1, 3), "m = 3"),
            (Numbers::until(3, 2, 5), "m = 3, 5"),
            (Numbers::until(3, 1, 5), "m = 3 to 5"),
            (Numbers::until(3, 2, 9), "m = 3, 5, ..., 9"),
        ] {
            assert_eq!(numbers.to_string(), text);
        }
        let long: Vec<u32> = (1..=16).collect();
        assert!(Listed(&long).to_string().ends_with("15, 16"));
        let longer: Vec<u32> = (1..=17).collect();
        assert!(Listed(&longer).to_string().ends_with(", 13, 14, ..., 17"));
    }

    proptest! {
        #[test]
        fn a_shortened_formula_has_the_values_that_it_was_made_of(
            before in prop::collection::vec(0..20_i64, 0..6),
            cycle in prop::collection::vec(0..20_i64, 1..7),
            (increase, first, step) in (0..20_i64, 1..9_u32, 1..4_u32),
        ) {
            let values = [before.clone(), cycle.clone()].concat();
            let short = formula(first, step, &values, cycle.len(), increase);
            let mut microbatches = first;
            let mut expected = values.clone();
            for _ in 0..30 {
                expected.push(expected[expected.len() - cycle.len()] + increase);
            }
            for value in expected {
                prop_assert_eq!(short.at(microbatches), Some(Ticks(value)));
                microbatches += step;
            }
            prop_assert_eq!(short.at(first - 1), None);
        }
    }
}
