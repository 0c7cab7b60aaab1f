//! Logarithmic axes in integers: of times, and of errors with a linear part around zero.

use std::collections::BTreeMap;

use crate::draw::logarithm::{log10, round_numbers};
use crate::draw::xml::{decimal, width_of};

/// The length of the linear part on either side of zero: with ln 10 of them in a decade, the slope has no kink.
const LINEAR: i64 = 28_462;
/// How many times an error fits into a whole where the linear part ends: it is 0.1 %.
const KINK: i128 = 1000;

/// Which labels of an axis come first: every third decade, all decades, the ends, fives, twos.
const fn level(number: i128, ends: [i128; 2]) -> usize {
    let (mut digit, mut zeros) = (number, 0);
    while digit >= 10 {
        digit /= 10;
        zeros += 1;
    }
    match digit {
        1 if zeros % 3 == 0 => 0,
        1 => 1,
        _ if number == ends[0] => 2,
        _ if number == ends[1] => 3,
        5 => 4,
        _ => 5,
    }
}

/// A mark of an axis: where it is in hundredths of a pixel, and its label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) at: i64,
    pub(super) label: String,
}

/// The marks in their order. Those of a level keep their labels if all of them have room beside those of the levels
/// before, so that what is labelled is evenly spaced.
fn spaced(marks: Vec<(usize, Mark)>, size: i64) -> Vec<Mark> {
    let area = |mark: &Mark| {
        let half = width_of(&mark.label, size) / 2 + 100;
        (mark.at - half, mark.at + half)
    };
    let mut levels: BTreeMap<usize, Vec<Mark>> = BTreeMap::new();
    for (level, mark) in marks {
        levels.entry(level).or_default().push(mark);
    }
    let mut taken: Vec<(i64, i64)> = Vec::new();
    let mut found = Vec::new();
    for mut level in levels.into_values() {
        let mut areas: Vec<(i64, i64)> = level.iter().map(area).chain(taken.iter().copied()).collect();
        areas.sort_unstable();
        if areas.windows(2).all(|pair| pair[0].1 <= pair[1].0) {
            taken = areas;
        } else {
            for mark in &mut level {
                mark.label.clear();
            }
        }
        found.append(&mut level);
    }
    found.sort_by_key(|mark| mark.at);
    found
}

/// A logarithmic axis of times in nanoseconds, from one round number to another.
#[derive(Debug, Clone, Copy)]
pub(super) struct TimeAxis {
    least: i128,
    most: i128,
    /// In hundredths of a pixel.
    length: i64,
}

impl TimeAxis {
    /// An axis on which all these positive times lie.
    pub(super) fn over(times: impl Iterator<Item = i64> + Clone, length: i64) -> Self {
        let lowest = i128::from(times.clone().min().unwrap_or(1).max(1));
        let highest = i128::from(times.max().unwrap_or(1).max(1));
        let least = round_numbers().take_while(|&number| number <= lowest).last().unwrap_or(1);
        let most = round_numbers().find(|&number| number >= highest && number > least).unwrap_or(highest);
        Self { least, most, length }
    }

    /// Where a positive time is, from the begin of the axis.
    pub(super) fn place(self, time: i64) -> i64 {
        self.of(i128::from(time))
    }

    fn of(self, time: i128) -> i64 {
        let log = |time: i128| log10(time.unsigned_abs());
        scaled(log(time) - log(self.least), log(self.most) - log(self.least), self.length)
    }

    /// The round numbers on the axis, with labels of this size.
    pub(super) fn marks(self, size: i64) -> Vec<Mark> {
        let within = round_numbers().filter(|number| (self.least..=self.most).contains(number));
        let mark = |number| {
            (level(number, [self.least, self.most]), Mark { at: self.of(number), label: time(number) })
        };
        spaced(within.map(mark).collect(), size)
    }

    /// The ends of the line of what is predicted at this share of what is measured, in thousandths: measured, then
    /// predicted.
    pub(super) fn line(self, thousandths: i64) -> [(i64, i64); 2] {
        let log = |thousandths: i64| log10(i128::from(thousandths).unsigned_abs());
        let span = log10(self.most.unsigned_abs()) - log10(self.least.unsigned_abs());
        let shift = scaled(log(thousandths) - log(1000), span, self.length);
        if shift < 0 {
            [(-shift, 0), (self.length, self.length + shift)]
        } else {
            [(0, shift), (self.length - shift, self.length)]
        }
    }
}

/// A round number of nanoseconds in the largest unit of which it is a whole number.
fn time(nanoseconds: i128) -> String {
    let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1000, "µs"), (1, "ns")];
    let (length, unit) = units.into_iter().find(|(length, _)| nanoseconds % length == 0).unwrap_or((1, "ns"));
    format!("{} {unit}", nanoseconds / length)
}

/// The nearest part of a length.
fn scaled(part: i64, of: i64, length: i64) -> i64 {
    let (part, of, length) = (i128::from(part), i128::from(of.max(1)), i128::from(length));
    i64::try_from((2 * part * length + of).div_euclid(2 * of)).unwrap_or(0)
}

/// A share, as a numerator and a positive denominator.
pub(super) type Share = (i128, i128);

/// An axis of errors: linear up to 0.1 % on either side of zero, and logarithmic beyond.
#[derive(Debug, Clone, Copy)]
pub(super) struct ErrorAxis {
    /// In thousandths: what the axis reaches to below and above zero, a round number each.
    below: i128,
    above: i128,
    length: i64,
}

impl ErrorAxis {
    /// An axis on which all these errors lie, and at least 1 % on both sides.
    pub(super) fn over(errors: &(impl Iterator<Item = Share> + Clone), length: i64) -> Self {
        let reach = |sign: i128| {
            let covers = |thousandths: i128| {
                errors.clone().all(|(part, whole)| {
                    part.saturating_mul(sign).saturating_mul(1000) <= thousandths.saturating_mul(whole)
                })
            };
            round_numbers().find(|&number| number >= 10 && covers(number)).unwrap_or(i128::MAX / 4000)
        };
        Self { below: reach(-1), above: reach(1), length }
    }

    /// Where an error is, from the begin of the axis.
    pub(super) fn place(self, error: Share) -> i64 {
        let (below, above) = (distance((self.below, 1000)), distance((self.above, 1000)));
        let signed = if error.0 < 0 { -distance(error) } else { distance(error) };
        scaled(below + signed, below + above, self.length).clamp(0, self.length)
    }

    /// Zero, and the round numbers on both sides, in percent.
    pub(super) fn marks(self, size: i64) -> Vec<Mark> {
        let side = |sign: i128, reach: i128| {
            let within = round_numbers().take_while(move |&number| number <= reach);
            within.map(move |number| {
                let percent = decimal(i64::try_from(number).unwrap_or(i64::MAX / 100).saturating_mul(10));
                let label = format!("{}{percent}", if sign < 0 { "−" } else { "+" });
                (
                    level(number, [self.below, self.above]),
                    Mark { at: self.place((sign * number, 1000)), label },
                )
            })
        };
        let zero = (0, Mark { at: self.place((0, 1)), label: "0".to_owned() });
        spaced(side(-1, self.below).chain([zero]).chain(side(1, self.above)).collect(), size)
    }
}

/// How far an error is from zero on its axis.
fn distance((part, whole): Share) -> i64 {
    let times = part.saturating_abs().saturating_mul(KINK);
    if times <= whole {
        let linear = i128::from(LINEAR) * times / whole;
        return i64::try_from(linear).unwrap_or(LINEAR);
    }
    LINEAR + (log10(times.unsigned_abs()) - log10(whole.unsigned_abs())).max(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_are_those_of_floating_point() {
        for value in
            [1, 2, 3, 9, 10, 11, 99, 100, 101, 123_456_789, 10_u128.pow(18) - 1, 10_u128.pow(30), u128::MAX]
        {
            #[expect(clippy::cast_precision_loss, reason = "that is what is compared with")]
            let exact = (value as f64).log10() * 65_536.0;
            #[expect(clippy::cast_precision_loss, reason = "small")]
            let found = log10(value) as f64;
            assert!((found - exact).abs() <= 1.5, "{value}: {found} for {exact}");
        }
    }

    #[test]
    fn times_lie_between_round_numbers_and_decades_are_equally_long() {
        let axis = TimeAxis::over([700, 40_000].into_iter(), 30_000);
        assert_eq!((axis.least, axis.most), (500, 50_000));
        assert_eq!(axis.place(500), 0);
        assert_eq!(axis.place(5000), 15_000);
        assert_eq!(axis.place(50_000), 30_000);
        let labels: Vec<String> = axis.marks(11).into_iter().map(|mark| mark.label).collect();
        assert_eq!(labels, ["500 ns", "1 µs", "2 µs", "5 µs", "10 µs", "20 µs", "50 µs"]);
        // Twice as much is as far above the diagonal as half of it is below.
        let [above, below] = [axis.line(2000), axis.line(500)];
        assert_eq!(above[0].0, 0);
        assert!((above[0].1 - below[0].0).abs() <= 1, "{above:?} {below:?}");
        assert_eq!(axis.line(1000), [(0, 0), (30_000, 30_000)]);
    }

    #[test]
    fn an_axis_of_one_time_has_a_length() {
        for time in [1, 10, 12, i64::MAX] {
            let axis = TimeAxis::over([time].into_iter(), 1000);
            assert!((0..=1000).contains(&axis.place(time)), "{axis:?}");
        }
        assert!(TimeAxis::over(std::iter::empty(), 1000).most > 1);
    }

    #[test]
    fn labels_that_would_meet_are_left_out_by_level() {
        let axis = TimeAxis::over([1_i64, 1_000_000_000].into_iter(), 30_000);
        let marks = axis.marks(11);
        assert_eq!(marks.len(), 28);
        let labelled: Vec<&str> =
            marks.iter().map(|mark| mark.label.as_str()).filter(|label| !label.is_empty()).collect();
        assert_eq!(labelled, ["1 ns", "1 µs", "1 ms", "1 s"]);
    }

    #[test]
    fn errors_are_linear_around_zero_and_logarithmic_beyond() {
        let axis = ErrorAxis::over(&[(-19, 100), (3, 100)].into_iter(), 50_000);
        assert_eq!((axis.below, axis.above), (200, 50));
        let at = |thousandths: i128, parts: i128| axis.place((thousandths, parts * 1000));
        assert_eq!((at(-200, 1), at(50, 1)), (0, 50_000));
        assert!((at(10, 1) - at(1, 1) - (at(-1, 1) - at(-10, 1))).abs() <= 2, "decades are equally long");
        assert!((at(1, 1) - at(1, 2) - (at(1, 2) - at(0, 1))).abs() <= 2, "halves of the linear part");
        assert!((at(100, 101) - at(1, 1)).abs() < 200, "no jump where the linear part ends");
        assert!(at(-1000, 1) == 0 && at(1000, 1) == 50_000, "nothing lies beside the axis");
        let labels: Vec<String> = axis.marks(11).into_iter().map(|mark| mark.label).collect();
        assert_eq!(labels.first().map(String::as_str), Some("−20"));
        assert_eq!(labels.last().map(String::as_str), Some("+5"));
        assert!(labels.contains(&"0".to_owned()) && labels.contains(&"+0.1".to_owned()), "{labels:?}");
    }

    #[test]
    fn small_errors_get_an_axis_of_one_percent() {
        let axis = ErrorAxis::over(&[(1, 1_000_000)].into_iter(), 1000);
        assert_eq!((axis.below, axis.above), (10, 10));
        assert_eq!(ErrorAxis::over(&std::iter::empty(), 1000).above, 10);
    }
}
