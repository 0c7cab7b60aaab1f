//! Times that need not be whole ticks, and times in columns.

use num_rational::Ratio;

use crate::cli::number::Interval;
use crate::draw::amounts::time;
use crate::draw::in_unit;

/// A time in ticks in the unit that suits it. Where ticks have no unit that is known, a fraction stays one; else it is rounded to a
/// thousandth of a tick, or, of nanoseconds, to a whole one.
pub fn fraction(ticks: Ratio<i64>, unit: &str) -> String {
    if ticks.is_integer() {
        return time(ticks.to_integer(), unit);
    }
    let (scale, finer) = match unit {
        "ns" => (1, "ns"),
        "us" => (1000, "ns"),
        "ms" => (1000, "us"),
        "s" => (1000, "ms"),
        _ => return in_unit(Interval(ticks), unit),
    };
    let whole = |ratio: Ratio<i128>| i64::try_from(ratio.round().to_integer()).unwrap_or(i64::MAX);
    let ticks = Ratio::new(i128::from(*ticks.numer()), i128::from(*ticks.denom()));
    time(whole(ticks * scale), finer)
}

/// Whether ticks have a unit that is known, so that a time in a column brings its own.
pub fn is_known(unit: &str) -> bool {
    matches!(unit, "ns" | "us" | "ms" | "s")
}

/// A time in a column: in the unit that suits it, or a number where the heading names the unit.
pub fn cell(ticks: i64, unit: &str) -> String {
    if is_known(unit) { time(ticks, unit) } else { ticks.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_are_shown_as_exactly_as_their_unit_lets_them() {
        for (numerator, denominator, unit, text) in [
            (51, 2, "tick", "51/2 ticks"),
            (4, 2, "tick", "2 ticks"),
            (85, 2, "ms", "42.50 ms"),
            (1, 3, "us", "333 ns"),
            (10, 4, "ns", "3 ns"),
            (7, 2, "s", "3.500 s"),
        ] {
            assert_eq!(fraction(Ratio::new(numerator, denominator), unit), text);
        }
    }
}
