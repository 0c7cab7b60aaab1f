//! Coefficients of terms, fitted to plans whose times are known.

use super::atoms::{Atoms, replayed};
use super::non_negative::least_squares;
use super::plans::Plan;

/// What each term says of a plan: ns of every part of the network for a coefficient of 1.
pub type Terms = fn(&Plan) -> Vec<Atoms<f64>>;

/// The parts of a plan, in whole ns: what replay is given.
pub fn atoms(terms: Terms, coefficients: &[f64], plan: &Plan) -> Atoms<i64> {
    let mut sum = [0.0; 9];
    for (term, coefficient) in terms(plan).iter().zip(coefficients) {
        for (sum, part) in sum.iter_mut().zip(term) {
            *sum += coefficient * part;
        }
    }
    #[expect(
        clippy::cast_possible_truncation,
        reason = "parts take less than 2^53 ns, and fractions of a ns do not count"
    )]
    sum.map(|ns| ns.round() as i64)
}

/// How often the fit follows the critical paths of its last coefficients.
const ROUNDS: usize = 5;

/// The coefficients, none negative, of the least sum of squares of relative errors, started from some.
///
/// The makespan is the longest of many paths, and along a path it is a sum of coefficients: so each round fits them along the
/// critical paths that replay finds with those before, and all but the first and the last go half the way.
pub fn fit(plans: &[&Plan], terms: Terms, start: &[f64]) -> Vec<f64> {
    let mut coefficients = start.to_vec();
    for round in 0..ROUNDS {
        let share = |plan: &&Plan| -> Vec<f64> {
            let counts = replayed(plan, &atoms(terms, &coefficients, plan)).counts;
            terms(plan).iter().map(|term| along(&counts, term) / float(plan.nanoseconds)).collect()
        };
        let rows: Vec<Vec<f64>> = plans.iter().map(share).collect();
        let found = least_squares(&rows, &vec![1.0; plans.len()]);
        let goes_half = round > 0 && round + 1 < ROUNDS;
        for (coefficient, found) in coefficients.iter_mut().zip(found) {
            *coefficient = if goes_half { f64::midpoint(*coefficient, found) } else { found };
        }
    }
    coefficients
}

fn along(counts: &Atoms<i64>, term: &Atoms<f64>) -> f64 {
    counts.iter().zip(term).map(|(&count, part)| float(count) * part).sum()
}

#[expect(clippy::cast_precision_loss, reason = "all values are below 2^53")]
pub fn float(value: i64) -> f64 {
    value as f64
}
