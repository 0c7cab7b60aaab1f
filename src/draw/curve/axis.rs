//! An axis of a curve: linear or logarithmic, with marks at round amounts.

use num_integer::Integer;

use crate::draw::logarithm::{log10, round_numbers};
use crate::draw::marks::{Mark, memory_marks, time_marks, unit_sizes};

/// From how many times the least value on the most has a logarithmic axis.
const LOGARITHMIC: i128 = 20;
/// About how many marks an axis has.
const MARKS: i64 = 6;

/// What an axis measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::draw) enum Measure<'a> {
    /// Units of memory of this name.
    Memory(&'a str),
    /// Hundredths of ticks, whose unit has this name.
    Time(&'a str),
}

/// The range of an axis, which is never empty, with some free room on each side.
#[derive(Debug, Clone, Copy)]
pub(in crate::draw) struct Axis<'a> {
    measure: Measure<'a>,
    /// The least and the most of the values.
    pub(super) least: i128,
    pub(super) most: i128,
    /// Where the axis begins and ends.
    from: i128,
    to: i128,
    pub(super) is_logarithmic: bool,
}

impl<'a> Axis<'a> {
    pub(super) fn over(measure: Measure<'a>, values: impl Iterator<Item = i128> + Clone) -> Self {
        let (least, most) = (values.clone().min().unwrap_or(0), values.max().unwrap_or(1));
        let is_logarithmic = least > 0 && most / least >= LOGARITHMIC;
        let (from, to) = if is_logarithmic {
            (least * 10 / 11, most * 11 / 10 + 1)
        } else {
            // Equal values have an axis too.
            let room = ((most - least).max(least / 20) / 20).max(1);
            ((least - room).max(least.min(0)), most + room)
        };
        Self { measure, least, most, from, to, is_logarithmic }
    }

    /// The nearest of this many places to a value.
    pub(super) fn place(self, value: i128, places: i64) -> i64 {
        if self.is_logarithmic {
            let log = |value: i128| i128::from(log10(value.max(1).unsigned_abs()));
            return nearest(log(value) - log(self.from), log(self.to) - log(self.from), places);
        }
        nearest(value - self.from, self.to - self.from, places)
    }

    /// The nearest of this many places to a value, the least value being at the first and the most at the last.
    pub(super) fn cell(self, value: i128, places: i64) -> i64 {
        let ends = [self.least, self.most].map(|value| self.place(value, 1 << 20));
        let at = self.place(value, 1 << 20);
        nearest((at - ends[0]).into(), (ends[1] - ends[0]).max(1).into(), places)
    }

    /// Round amounts on the axis: the value of each, and its label.
    pub(super) fn marks(self) -> Vec<(i128, String)> {
        let scale: i128 = match self.measure {
            Measure::Memory(_) => 1,
            Measure::Time(_) => 100,
        };
        let whole = |value: i128| i64::try_from(value).unwrap_or(i64::MAX);
        let (from, to) = (whole(Integer::div_ceil(&self.from, &scale)), whole(self.to / scale));
        let marks = if self.is_logarithmic { self.round(from, to) } else { self.even(from, to) };
        marks.into_iter().map(|mark| (i128::from(mark.value) * scale, mark.label)).collect()
    }

    fn even(self, from: i64, to: i64) -> Vec<Mark> {
        match self.measure {
            Measure::Memory(unit) => memory_marks(from, to, unit, MARKS),
            Measure::Time(unit) => time_marks(from, to, unit, MARKS),
        }
    }

    /// 1, 2 and 5 with zeros behind them in each unit; the ones alone where that is too many.
    fn round(self, from: i64, to: i64) -> Vec<Mark> {
        let sizes = match self.measure {
            Measure::Memory(unit) => unit_sizes(unit, true),
            Measure::Time(unit) => unit_sizes(unit, false),
        };
        let mut marks: Vec<(i64, Mark)> = Vec::new();
        for (at, (name, size)) in sizes.iter().enumerate() {
            // From a thousand on, the next unit suits better, though it may be 1024 of this one.
            let most = if at + 1 < sizes.len() { 999 } else { 1_000_000_000 };
            for number in round_numbers().take_while(|&number| number <= most) {
                let Ok(value) = i64::try_from(number.saturating_mul(*size)) else { break };
                if (from..=to).contains(&value) {
                    let label = if name.is_empty() { number.to_string() } else { format!("{number} {name}") };
                    marks.push((digit(number), Mark { value, label }));
                }
            }
        }
        let most = usize::try_from(2 * MARKS).unwrap_or(12);
        let is_crowded = marks.len() > most;
        marks.into_iter().filter(|&(digit, _)| !is_crowded || digit == 1).map(|(_, mark)| mark).collect()
    }
}

/// The first digit of a number.
fn digit(mut number: i128) -> i64 {
    while number >= 10 {
        number /= 10;
    }
    i64::try_from(number).unwrap_or(9)
}

/// The nearest of this many places to a part of a whole.
fn nearest(part: i128, whole: i128, places: i64) -> i64 {
    let twice = 2 * part * i128::from(places) + whole;
    i64::try_from(Integer::div_floor(&twice, &(2 * whole))).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_round_and_an_axis_is_logarithmic_where_values_differ_much() {
        let labels = |measure, values: &[i128]| {
            let axis = Axis::over(measure, values.iter().copied());
            let labels: Vec<String> = axis.marks().into_iter().map(|(_, label)| label).collect();
            (axis.is_logarithmic, labels.join(", "))
        };
        for (measure, values, is_logarithmic, text) in [
            (Measure::Time("us"), &[127_700_000, 145_600_000][..], false, "1300 ms, 1350 ms"),
            (
                Measure::Memory("byte"),
                &[1 << 30, 60 << 30][..],
                true,
                "1 GiB, 2 GiB, 5 GiB, 10 GiB, 20 GiB, 50 GiB",
            ),
            (Measure::Memory("chunk-activation"), &[4, 8][..], false, "3, 4, 5, 6, 7, 8"),
            (Measure::Memory("chunk-activation"), &[3, 300][..], true, "2, 5, 10, 20, 50, 100, 200"),
            (
                Measure::Time("ns"),
                &[10_000_000, 900_000_000][..],
                true,
                "100 us, 200 us, 500 us, 1 ms, 2 ms, 5 ms",
            ),
        ] {
            let found = labels(measure, values);
            assert!(found.0 == is_logarithmic && found.1.starts_with(text), "{found:?}");
        }
    }

    #[test]
    fn equal_values_and_none_have_an_axis() {
        for values in [&[][..], &[0], &[7, 7], &[i128::from(i64::MAX) * 100]] {
            let axis = Axis::over(Measure::Time("tick"), values.iter().copied());
            for &value in values {
                assert!((0..=1000).contains(&axis.place(value, 1000)), "{axis:?}");
            }
        }
    }
}
