//! Linear axes whose marks are round amounts.

use crate::amounts;
use crate::draw::scale::axis_step;

/// An axis from one mark to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Axis {
    pub(super) least: i64,
    pub(super) most: i64,
    step: i64,
}

impl Axis {
    /// An axis of about so many steps on which all of these values lie; nothing below zero is on it.
    pub(super) fn over(values: &[i64], steps: i64, step: impl Fn(i64) -> i64) -> Self {
        let least = values.iter().copied().min().unwrap_or(0).max(0);
        let most = values.iter().copied().max().unwrap_or(1).max(least);
        // Equal values have an axis too.
        let span = (most - least).max(least / 20).max(1);
        let step = step((span / steps).max(1)).max(1);
        let first = (least / step) * step;
        let last = most.saturating_add(step - 1) / step * step;
        Self { least: first, most: last.max(first.saturating_add(step)), step }
    }

    /// Where a value lies on a length, from the begin: the nearest place.
    pub(super) fn place(self, value: i64, length: i64) -> i64 {
        let (span, value) =
            (i128::from(self.most) - i128::from(self.least), i128::from(value) - i128::from(self.least));
        let place = (2 * value * i128::from(length) + span).div_euclid(2 * span);
        i64::try_from(place).unwrap_or(length).clamp(0, length)
    }

    /// The marks.
    pub(super) fn marks(self) -> impl Iterator<Item = i64> {
        (0..).map_while(move |at: i64| {
            let mark = at.checked_mul(self.step)?.checked_add(self.least)?;
            (mark <= self.most).then_some(mark)
        })
    }
}

/// The step of an axis of times.
pub(super) fn time_step(least: i64) -> i64 {
    axis_step(least).0
}

/// The step of an axis of memory: of bytes a power of two, which is a round number of GiB, MiB or KiB.
pub(super) fn memory_step(unit: &str) -> impl Fn(i64) -> i64 {
    let is_binary = amounts::memory(1024, unit) != format!("1024 {unit}");
    move |least| {
        if !is_binary {
            return axis_step(least).0;
        }
        let power = u64::try_from(least).unwrap_or(1).checked_next_power_of_two();
        power.and_then(|power| i64::try_from(power).ok()).unwrap_or(i64::MAX)
    }
}

/// An amount without zeros at the end of its digits: `3.200 s` is `3.2 s`.
pub(super) fn short(amount: &str) -> String {
    let Some((number, unit)) = amount.split_once(' ').filter(|(number, _)| number.contains('.')) else {
        return amount.to_owned();
    };
    format!("{} {unit}", number.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_round_and_hold_all_values() {
        for (values, least, most, marks) in [
            (vec![3_086, 3_120, 4_079], 3_000, 4_200, 7),
            (vec![7, 7], 7, 8, 2),
            (vec![], 0, 1, 2),
            (vec![0, 100], 0, 100, 6),
        ] {
            let axis = Axis::over(&values, 5, time_step);
            assert_eq!((axis.least, axis.most, axis.marks().count()), (least, most, marks), "{values:?}");
            for value in values {
                assert!((0..=1000).contains(&axis.place(value, 1000)));
            }
            assert_eq!((axis.place(least, 1000), axis.place(most, 1000)), (0, 1000));
        }
        let gib = 1_i64 << 30;
        let axis = Axis::over(&[41 * gib, 80 * gib], 6, memory_step("byte"));
        assert_eq!((axis.least / gib, axis.most / gib, axis.step / gib), (40, 80, 8));
        for most in [i64::MAX, i64::MAX - 1, 1 << 53] {
            let axis = Axis::over(&[0, most], 5, time_step);
            assert!(axis.marks().count() <= 12, "{axis:?}");
        }
    }

    #[test]
    fn zeros_behind_the_point_are_left_out() {
        for (long, text) in
            [("3.200 s", "3.2 s"), ("3.000 s", "3 s"), ("30 GiB", "30 GiB"), ("7 ticks", "7 ticks")]
        {
            assert_eq!(short(long), text);
        }
    }
}
