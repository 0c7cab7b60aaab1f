//! Linear forms in the durations of passes and the latency, and the cones on which one of several is
//! the largest.

use std::fmt;

use itertools::Itertools;
use num_integer::Integer;
use num_rational::Ratio;
use serde::{Deserialize, Serialize};

use crate::model::Kind;

/// More than any form counts: what rays and start times are made of could overflow beyond.
const MOST_COUNTED: i128 = 1_000;

/// The numbers that a form multiplies: `tF`, `tI`, `tW`, and the latency `c` between devices.
pub(super) const QUANTITIES: [&str; 4] = ["tF", "tI", "tW", "c"];

/// How often each of the quantities is counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LinearForm(pub [i128; 4]);

/// A point: one number for each of the quantities.
pub(super) type Point = [i128; 4];

impl LinearForm {
    /// One latency.
    pub const LATENCY: Self = Self([0, 0, 0, 1]);

    /// How long a pass of a kind takes.
    #[must_use]
    pub const fn duration(kind: Kind) -> Self {
        match kind {
            Kind::F | Kind::R => Self([1, 0, 0, 0]),
            Kind::I => Self([0, 1, 0, 0]),
            Kind::W => Self([0, 0, 1, 0]),
            Kind::B => Self([0, 1, 1, 0]),
        }
    }

    /// The sum of two.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self(std::array::from_fn(|position| self.0[position] + other.0[position]))
    }

    /// A multiple.
    #[must_use]
    pub fn times(self, factor: i128) -> Self {
        Self(self.0.map(|count| count * factor))
    }

    /// Its value at a point.
    #[must_use]
    pub fn at(self, point: Point) -> i128 {
        self.0.iter().zip(point).map(|(count, value)| count * value).sum()
    }
}

/// A form divided by a number of copies: what a cycle of passes takes for each microbatch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rate {
    /// The ticks of the passes and latencies along the cycle.
    pub ticks: LinearForm,
    /// The microbatches by which it advances; positive.
    pub copies: i128,
}

impl Rate {
    /// In lowest terms.
    #[must_use]
    pub fn reduced(self) -> Self {
        let divisor = self.ticks.0.iter().fold(self.copies, |divisor, count| divisor.gcd(count)).max(1);
        Self { ticks: LinearForm(self.ticks.0.map(|count| count / divisor)), copies: self.copies / divisor }
    }

    /// Without the quantities from a position on.
    #[must_use]
    pub fn first(self, quantities: usize) -> Self {
        let kept = |position: usize| if position < quantities { self.ticks.0[position] } else { 0 };
        Self { ticks: LinearForm(std::array::from_fn(kept)), ..self }
    }

    /// Whether it counts so little that nothing made of it can overflow.
    pub(super) fn is_small(self) -> bool {
        self.ticks.0.into_iter().chain([self.copies]).all(|count| count.abs() <= MOST_COUNTED)
    }

    /// Its value at a point.
    #[must_use]
    pub fn at(self, point: Point) -> Ratio<i128> {
        Ratio::new(self.ticks.at(point), self.copies)
    }

    /// This less another one, times the copies of both.
    fn above(self, other: Self) -> LinearForm {
        self.ticks.times(other.copies).plus(other.ticks.times(-self.copies))
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LinearForm(counts) = self.ticks;
        let named = counts.iter().zip(QUANTITIES).filter(|(count, _)| **count != 0).map(|(&count, name)| {
            let share = Ratio::new(count, self.copies);
            match (share.is_integer(), *share.numer()) {
                (true, 1) => name.to_owned(),
                (true, times) => format!("{times}{name}"),
                (false, _) => format!("{share} {name}"),
            }
        });
        let text = named.collect_vec().join(" + ");
        out.write_str(if text.is_empty() { "0" } else { &text })
    }
}

/// The extreme rays of the cone of all points without a negative number at which `largest` is not
/// below any of `others`. Every point of the cone is a sum of multiples of them, none negative
/// (Minkowski and Weyl).
///
/// The first `quantities` numbers vary; the others are 0.
pub(super) fn rays(largest: Rate, others: &[Rate], quantities: usize) -> Vec<Point> {
    let facets: Vec<LinearForm> = others.iter().map(|&other| largest.above(other)).collect();
    rays_where(&facets, quantities)
}

/// The extreme rays of the cone of all points without a negative number at which no form is negative.
pub(super) fn rays_where(forms: &[LinearForm], quantities: usize) -> Vec<Point> {
    let mut facets: Vec<LinearForm> = (0..quantities).map(|position| LinearForm(unit(position))).collect();
    facets.extend_from_slice(forms);
    let mut rays = Vec::new();
    for chosen in facets.iter().combinations(quantities - 1) {
        let Some(line) = line(&chosen, quantities) else { continue };
        for ray in [line, line.map(|value| -value)] {
            if facets.iter().all(|facet| facet.at(ray) >= 0) {
                rays.push(ray);
            }
        }
    }
    rays.sort_unstable();
    rays.dedup();
    rays
}

fn unit(position: usize) -> Point {
    std::array::from_fn(|other| i128::from(other == position))
}

/// The line on which as many forms as there are quantities less one are 0, as a point on it without a
/// common factor; nothing where they leave more than a line.
fn line(forms: &[&LinearForm], quantities: usize) -> Option<Point> {
    let minor = |left_out: usize| {
        let columns = (0..quantities).filter(|&column| column != left_out).collect_vec();
        let rows =
            forms.iter().map(|form| columns.iter().map(|&column| form.0[column]).collect_vec()).collect_vec();
        let sign = if left_out.is_multiple_of(2) { 1 } else { -1 };
        sign * determinant(&rows)
    };
    let mut point = [0; 4];
    for (position, value) in point.iter_mut().enumerate().take(quantities) {
        *value = minor(position);
    }
    let divisor = point.iter().fold(0_i128, |divisor, value| divisor.gcd(value));
    (divisor != 0).then(|| point.map(|value| value / divisor))
}

/// By the first row: the matrices have three rows at most.
fn determinant(rows: &[Vec<i128>]) -> i128 {
    let Some((first, rest)) = rows.split_first() else { return 1 };
    let minor = |left_out: usize| {
        let row = |row: &Vec<i128>| {
            let kept = row.iter().enumerate().filter(|(column, _)| *column != left_out);
            kept.map(|(_, &value)| value).collect()
        };
        determinant(&rest.iter().map(row).collect_vec())
    };
    let signed = |column: usize| if column.is_multiple_of(2) { 1 } else { -1 };
    first.iter().enumerate().map(|(column, value)| signed(column) * value * minor(column)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(ticks: [i128; 4], copies: i128) -> Rate {
        Rate { ticks: LinearForm(ticks), copies }
    }

    #[test]
    fn the_cone_where_all_passes_limit_has_the_rays_of_equal_forms() {
        let (work, forward) = (rate([2, 2, 2, 0], 1), rate([6, 0, 0, 0], 1));
        // 2(tF + tI + tW) >= 6tF: tI + tW >= 2tF.
        assert_eq!(rays(work, &[forward], 3), [[0, 0, 1, 0], [0, 1, 0, 0], [1, 0, 2, 0], [1, 2, 0, 0]]);
        assert_eq!(rays(forward, &[work], 3), [[1, 0, 0, 0], [1, 0, 2, 0], [1, 2, 0, 0]]);
    }

    #[test]
    fn rates_are_printed_as_people_write_them() {
        assert_eq!(rate([2, 2, 2, 0], 1).to_string(), "2tF + 2tI + 2tW");
        assert_eq!(rate([6, 6, 6, 8], 3).to_string(), "2tF + 2tI + 2tW + 8/3 c");
        assert_eq!(rate([0, 0, 0, 0], 1).to_string(), "0");
        assert_eq!(rate([4, 0, 2, 2], 2).reduced().to_string(), "2tF + tW + c");
    }
}
