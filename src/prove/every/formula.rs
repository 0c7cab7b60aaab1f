//! Figures that from some number of microbatches on grow by the same amount with every cycle of them.

use std::fmt;

use num_integer::Integer as _;
use num_rational::Ratio;

use crate::model::Ticks;

/// A figure for the numbers of microbatches `first, first + step, ...`, in ticks: given one by one
/// at first, and from then on growing by the same amount with every cycle.
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

/// In words, such as `6 m + 11 for every m >= 3; 13, 22 for m = 1, 2`.
impl fmt::Display for Formula {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let offsets = self.offsets();
        let (rate, from) = (self.rate(), self.from());
        let most = offsets.iter().max().copied().unwrap_or_default();
        let least = offsets.iter().min().copied().unwrap_or_default();
        if most - least < i128::from(*rate.denom()) {
            write!(
                out,
                "{} for {}",
                Line { rate, offset: most, floor: true },
                Progression { from, step: self.step }
            )?;
        } else {
            for (place, &offset) in (0..).zip(&offsets) {
                let progression = Progression { from: from + place * self.step, step: self.period() };
                let comma = if place == 0 { "" } else { ", " };
                write!(out, "{comma}{} for {progression}", Line { rate, offset, floor: false })?;
            }
        }
        if !self.before.is_empty() {
            let values: Vec<String> = self.before.iter().map(ToString::to_string).collect();
            let range = Range { first: self.first, step: self.step, count: values.len() };
            write!(out, "; {} for {range}", values.join(", "))?;
        }
        Ok(())
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
            offset if offset < 0 => format!("{factor} - {}", -offset),
            offset => format!("{factor} + {offset}"),
        };
        match denominator {
            1 => write!(out, "{sum}"),
            _ if self.floor => write!(out, "floor(({sum}) / {denominator})"),
            _ => write!(out, "({sum}) / {denominator}"),
        }
    }
}

/// The numbers of microbatches from one on.
pub(crate) struct Progression {
    /// The least.
    pub from: u32,
    /// How much they grow by.
    pub step: u32,
}

impl fmt::Display for Progression {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { from, step } = *self;
        match step {
            1 => write!(out, "every m >= {from}"),
            _ => write!(out, "m = {from}, {}, {}, ...", from + step, from + 2 * step),
        }
    }
}

/// Some numbers of microbatches.
pub(crate) struct Range {
    /// The least.
    pub first: u32,
    /// How much they grow by.
    pub step: u32,
    /// How many they are, at least one.
    pub count: usize,
}

impl fmt::Display for Range {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { first, step, count } = *self;
        let last = u64::from(first) + u64::from(step) * (count as u64 - 1);
        match (count, step) {
            (1, _) => write!(out, "m = {first}"),
            (2, _) => write!(out, "m = {first}, {last}"),
            (_, 1) => write!(out, "m = {first} to {last}"),
            _ => write!(out, "m = {first}, {}, ..., {last}", first + step),
        }
    }
}
