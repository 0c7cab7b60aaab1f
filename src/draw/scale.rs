//! Scales: how long a piece of time is in a picture.

use num_integer::Integer;

use crate::model::Ticks;

/// A scale: a number of columns for a number of ticks. One of the two numbers is 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Scale {
    pub(super) columns: i64,
    pub(super) ticks: i64,
}

impl Scale {
    /// The scale at which a duration fills at least this many columns, and not many more.
    pub(super) fn fitting(duration: Ticks, columns: i64) -> Self {
        let (duration, columns) = (duration.0.max(1), columns.max(1));
        if duration < columns {
            Self { columns: Integer::div_ceil(&columns, &duration), ticks: 1 }
        } else {
            Self { columns: 1, ticks: round_number_up_to(duration / columns) }
        }
    }

    /// The column at which an instant lies: the nearest.
    pub(super) fn column(self, instant: Ticks) -> i64 {
        let twice = 2 * i128::from(instant.0) * i128::from(self.columns) + i128::from(self.ticks);
        clamp(Integer::div_floor(&twice, &(2 * i128::from(self.ticks))))
    }

    /// The instant at the left edge of a column, to the nearest tick.
    pub(super) fn instant(self, column: i64) -> Ticks {
        let twice = 2 * i128::from(column) * i128::from(self.ticks) + i128::from(self.columns);
        Ticks(clamp(Integer::div_floor(&twice, &(2 * i128::from(self.columns)))))
    }
}

fn clamp(value: i128) -> i64 {
    i64::try_from(value).unwrap_or(if value < 0 { i64::MIN } else { i64::MAX })
}

/// The largest number of two digits and zeros that is at most `limit`, and easy to count with.
fn round_number_up_to(limit: i64) -> i64 {
    const TENTHS: [i64; 12] = [10, 12, 15, 20, 25, 30, 35, 40, 50, 60, 70, 80];
    if limit < 10 {
        return limit.max(1);
    }
    let mut power = 1;
    while limit / 100 >= power {
        power *= 10;
    }
    // `limit` is from 10 to 99 powers.
    let tenths = TENTHS.into_iter().rev().find(|tenths| tenths * power <= limit);
    tenths.expect("the limit is at least ten powers") * power
}

/// The least step of 1, 2 or 5 and zeros that is at least `least`: the distance of axis labels.
pub(super) fn axis_step(least: i64) -> Ticks {
    let mut power = 1_i64;
    loop {
        for step in [1, 2, 5] {
            match power.checked_mul(step) {
                Some(step) if step >= least => return Ticks(step),
                Some(_) => {}
                None => return Ticks(i64::MAX),
            }
        }
        match power.checked_mul(10) {
            Some(next) => power = next,
            None => return Ticks(i64::MAX),
        }
    }
}

/// How many of a unit of time make the largest one of which all steps of this length are whole numbers, and what that is
/// called: eight zeros after each number of an axis tell nobody anything.
pub(super) fn readable(unit: &str, step: Ticks) -> (i64, &str) {
    const UNITS: [&str; 4] = ["ns", "us", "ms", "s"];
    let (mut unit, mut times) = (unit, 1);
    while let Some(at) = UNITS[..3].iter().position(|known| *known == unit)
        && step.0 % (times * 1000) == 0
    {
        times *= 1000;
        unit = UNITS[at + 1];
    }
    (times, unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_in_the_largest_unit_of_which_they_are_whole_numbers() {
        for (unit, step, found) in [
            ("ns", 500, (1, "ns")),
            ("ns", 500_000_000, (1_000_000, "ms")),
            ("us", 2_000_000, (1_000_000, "s")),
            ("us", 50_000, (1000, "ms")),
            ("s", 1000, (1, "s")),
            ("tick", 1000, (1, "tick")),
        ] {
            assert_eq!(readable(unit, Ticks(step)), found, "{unit} {step}");
        }
    }

    #[test]
    fn a_duration_fills_the_columns_it_was_given() {
        for duration in [1, 2, 3, 4, 7, 9, 10, 99, 100, 9337, 18_522, i64::MAX / 8] {
            for columns in 1..9 {
                let scale = Scale::fitting(Ticks(duration), columns);
                let filled = scale.column(Ticks(duration));
                assert!(filled >= columns, "{duration} {columns}: {scale:?}");
                assert!(filled <= 2 * columns, "{duration} {columns}: {scale:?}");
            }
        }
        assert_eq!(Scale::fitting(Ticks(18_086), 3), Scale { columns: 1, ticks: 6000 });
        assert_eq!(Scale::fitting(Ticks(1), 3), Scale { columns: 3, ticks: 1 });
    }

    #[test]
    fn axis_steps_are_the_next_round_number() {
        for (least, step) in [(0, 1), (1, 1), (2, 2), (3, 5), (6, 10), (11, 20), (5001, 10_000)] {
            assert_eq!(axis_step(least), Ticks(step));
        }
        assert!(axis_step(i64::MAX).0 > 0);
    }
}
