//! Promises about all durations: that the order of a block has no bubble in its steady phase.

use std::fmt;

use super::formula::{Comparison, Condition, Formula, Variable};

/// That the squeezed order of a family has no bubble in its steady phase, for all durations `tF`, `tI`, `tW`
/// with a condition: it then takes no longer for a microbatch, in the long run, than a device works for one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BubbleFree {
    when: Condition,
    cones: Vec<Vec<[i64; 3]>>,
}

impl BubbleFree {
    /// The most conjunctions that a condition may amount to.
    const MOST_CONES: usize = 64;

    /// The promise for all durations with a condition; nothing where that does not compare sums of
    /// multiples of durations with each other by `=`, `<=` or `>=`, or is too intricate.
    #[must_use]
    pub fn new(when: Condition) -> Option<Self> {
        let cones = cones(&when)?;
        Some(Self { when, cones })
    }

    /// The condition.
    #[must_use]
    pub const fn when(&self) -> &Condition {
        &self.when
    }

    /// The durations with the condition as a union of cones: in each of them, none of these sums, which
    /// count `tF`, `tI` and `tW` so often, is negative.
    #[must_use]
    pub fn cones(&self) -> &[Vec<[i64; 3]>] {
        &self.cones
    }
}

impl fmt::Display for BubbleFree {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "bubble = 0 when {}", self.when)
    }
}

/// A condition as one of several conjunctions of sums that are not negative.
fn cones(condition: &Condition) -> Option<Vec<Vec<[i64; 3]>>> {
    let cones = match condition {
        Condition::Compare(left, comparison, right) => {
            let (left, right) = (sum(left)?, sum(right)?);
            let less = |one: [i64; 3], other: [i64; 3]| subtracted(one, other);
            vec![match comparison {
                Comparison::AtLeast => vec![less(left, right)?],
                Comparison::AtMost => vec![less(right, left)?],
                Comparison::Equal => vec![less(left, right)?, less(right, left)?],
                Comparison::Unequal | Comparison::Less | Comparison::Greater => return None,
            }]
        }
        Condition::And(left, right) => {
            let (left, right) = (cones(left)?, cones(right)?);
            let both = |one: &Vec<[i64; 3]>| {
                let one = one.clone();
                right.iter().map(move |other| [one.as_slice(), other].concat())
            };
            left.iter().flat_map(both).collect()
        }
        Condition::Or(left, right) => [cones(left)?, cones(right)?].concat(),
    };
    (cones.len() <= BubbleFree::MOST_CONES).then_some(cones)
}

/// How often a formula counts each duration; nothing where it is no sum of multiples of them, or counts
/// one too often.
fn sum(formula: &Formula) -> Option<[i64; 3]> {
    const MOST: i64 = 1_000;
    let counts = match formula {
        Formula::Integer(0) => [0; 3],
        Formula::Variable(Variable::Forward) => [1, 0, 0],
        Formula::Variable(Variable::BackwardInput) => [0, 1, 0],
        Formula::Variable(Variable::BackwardWeight) => [0, 0, 1],
        Formula::Sum(left, right) => {
            let right = sum(right)?.map(|count| -count);
            subtracted(sum(left)?, right)?
        }
        Formula::Difference(left, right) => subtracted(sum(left)?, sum(right)?)?,
        Formula::Times(factor, formula) => {
            let counts = sum(formula)?;
            let product = |position: usize| counts[position].checked_mul(*factor);
            [product(0)?, product(1)?, product(2)?]
        }
        _ => return None,
    };
    counts.iter().all(|count| (-MOST..=MOST).contains(count)).then_some(counts)
}

fn subtracted(left: [i64; 3], right: [i64; 3]) -> Option<[i64; 3]> {
    let difference = |position: usize| left[position].checked_sub(right[position]);
    Some([difference(0)?, difference(1)?, difference(2)?])
}
