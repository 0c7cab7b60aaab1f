//! Round amounts along an axis, with labels in the unit that suits them.

use num_integer::Integer;

use super::scale::{axis_step, readable};
use crate::amounts::in_unit;
use crate::text::quantity::Scale;

/// A round amount: its value and its label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) value: i64,
    pub(super) label: String,
}

/// Units of memory by their size in bytes: powers of 1024, and powers of 1000 for those who count in these.
const BINARY: [(&str, i64); 5] =
    [("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1)];
const DECIMAL: [(&str, i64); 5] =
    [("TB", 1_000_000_000_000), ("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000), ("B", 1)];

/// The bytes of a unit of memory, where it is known to count bytes.
fn bytes_of(unit: &str) -> Option<i64> {
    let known = Scale::Memory.units().iter().find(|(name, _)| *name == unit);
    known.and_then(|&(_, size)| i64::try_from(size).ok())
}

/// The units in which amounts of a unit are shown, as [`amounts`](crate::amounts) chooses them.
fn shown_in(unit: &str) -> &'static [(&'static str, i64); 5] {
    if matches!(unit, "kB" | "KB" | "MB" | "GB" | "TB") { &DECIMAL } else { &BINARY }
}

/// Whether a unit of memory is one of bytes: others are names for counts.
pub(super) fn is_of_bytes(unit: &str) -> bool {
    bytes_of(unit).is_some()
}

/// The units in which amounts are shown, by growing size, which is counted in the unit that is given: of memory, if it
/// counts bytes, or of time. Another unit is its own, and has no name on labels.
pub(super) fn unit_sizes(unit: &str, is_memory: bool) -> Vec<(&'static str, i128)> {
    const TIMES: [(&str, i128); 4] = [("ns", 1), ("us", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000)];
    let (own, all): (Option<i128>, Vec<(&'static str, i128)>) = if is_memory {
        let sizes = shown_in(unit).iter().rev().map(|&(name, size)| (name, i128::from(size)));
        (bytes_of(unit).map(i128::from), sizes.collect())
    } else {
        (TIMES.iter().find(|(name, _)| *name == unit).map(|&(_, size)| size), TIMES.to_vec())
    };
    match own {
        Some(own) => {
            all.into_iter().filter(|&(_, size)| size >= own).map(|(name, size)| (name, size / own)).collect()
        }
        None => vec![("", 1)],
    }
}

/// Round amounts of memory from one amount to another, about so many steps apart. Bytes are counted in a unit of which
/// the steps are whole numbers; amounts of another unit have no unit on their labels.
pub(super) fn memory_marks(from: i64, to: i64, unit: &str, steps: i64) -> Vec<Mark> {
    let least = (to.saturating_sub(from) / steps.max(1)).max(1);
    let Some(bytes) = bytes_of(unit) else {
        return multiples(from, to, axis_step(least).0, |value| value.to_string());
    };
    let fits = |size: i64| size <= bytes || i128::from(least) * i128::from(bytes) >= i128::from(size);
    let mut sizes = shown_in(unit).iter().filter(|&&(_, size)| size >= bytes);
    let (name, size) = sizes.find(|&&(_, size)| fits(size)).copied().unwrap_or((unit, bytes));
    let units = (size / bytes).max(1);
    let step = axis_step(Integer::div_ceil(&least, &units)).0.saturating_mul(units);
    multiples(from, to, step, |value| format!("{} {name}", value / units))
}

/// Round instants or durations from one to another, about so many steps apart.
pub(super) fn time_marks(from: i64, to: i64, unit: &str, steps: i64) -> Vec<Mark> {
    let step = axis_step((to.saturating_sub(from) / steps.max(1)).max(1));
    let (times, name) = readable(unit, step);
    multiples(from, to, step.0, |value| in_unit(value / times, name))
}

/// The multiples of a step from one value to another.
fn multiples(from: i64, to: i64, step: i64, label: impl Fn(i64) -> String) -> Vec<Mark> {
    let first = Integer::div_ceil(&from, &step).saturating_mul(step);
    let values = (0..).map_while(|at: i64| at.checked_mul(step)?.checked_add(first));
    values.take_while(|&value| value <= to).map(|value| Mark { value, label: label(value) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_round_in_the_unit_that_suits_them() {
        let labels =
            |marks: Vec<Mark>| marks.into_iter().map(|mark| mark.label).collect::<Vec<_>>().join(", ");
        for (from, to, unit, text) in [
            (0, 60 << 30, "byte", "0 GiB, 20 GiB, 40 GiB, 60 GiB"),
            (0, 60, "GiB", "0 GiB, 20 GiB, 40 GiB, 60 GiB"),
            (0, 3 << 29, "B", "0 MiB, 1000 MiB"),
            (0, 90, "GB", "0 GB, 50 GB"),
            (3, 8, "stage-activation", "3, 4, 5, 6, 7, 8"),
            (0, 1_609_728, "s*b per layer", "0, 1000000"),
            (0, 2, "byte", "0 B, 1 B, 2 B"),
        ] {
            assert_eq!(labels(memory_marks(from, to, unit, 3)), text);
        }
        for (from, to, unit, text) in [
            (0, 1_277_912_500, "ns", "0 ms, 500 ms, 1000 ms"),
            (53_000, 71_000, "us", "60 ms, 70 ms"),
            (0, 9, "tick", "0 ticks, 5 ticks"),
        ] {
            assert_eq!(labels(time_marks(from, to, unit, 3)), text);
        }
        assert!(
            !memory_marks(0, i64::MAX, "GiB", 3).is_empty() && !time_marks(0, i64::MAX, "s", 3).is_empty()
        );
    }
}
