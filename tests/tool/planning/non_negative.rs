//! Least squares with coefficients that are not negative.

/// The coefficients x, none negative, for which the sum of squares of `rows * x - values` is least. Every set of coefficients
/// that may differ from 0 is tried, so there is nothing to converge; it takes 2^n steps for n coefficients.
pub fn least_squares(rows: &[Vec<f64>], values: &[f64]) -> Vec<f64> {
    let count = rows[0].len();
    let product = |a: usize, b: usize| rows.iter().map(|row| row[a] * row[b]).sum::<f64>();
    // Columns of length 1, so that a pivot tells whether columns depend on each other.
    let scale: Vec<f64> = (0..count).map(|at| product(at, at).sqrt()).collect();
    let usable: Vec<usize> = (0..count).filter(|&at| scale[at] > 0.0).collect();
    let gram = |a: usize, b: usize| product(a, b) / (scale[a] * scale[b]);
    let matrix: Vec<Vec<f64>> =
        usable.iter().map(|&a| usable.iter().map(|&b| gram(a, b)).collect()).collect();
    let with_values = |at: usize| rows.iter().zip(values).map(|(row, value)| row[at] * value).sum::<f64>();
    let right: Vec<f64> = usable.iter().map(|&at| with_values(at) / scale[at]).collect();
    let (mut best, mut gain) = (vec![0.0; count], 0.0);
    for set in 1_u32..1 << usable.len() {
        let chosen: Vec<usize> = (0..usable.len()).filter(|at| set >> at & 1 == 1).collect();
        let Some(found) = solve(&matrix, &right, &chosen) else { continue };
        // At the least squares of a set, this is by how much the sum of squares has fallen.
        let fallen: f64 = found.iter().zip(&chosen).map(|(x, &at)| x * right[at]).sum();
        if found.iter().all(|&x| x >= 0.0) && fallen > gain {
            gain = fallen;
            best = vec![0.0; count];
            for (x, at) in found.iter().zip(chosen) {
                best[usable[at]] = x / scale[usable[at]];
            }
        }
    }
    best
}

/// The solution of the equations and unknowns that are chosen, by elimination; nothing if they depend on each other.
fn solve(matrix: &[Vec<f64>], right: &[f64], chosen: &[usize]) -> Option<Vec<f64>> {
    let count = chosen.len();
    let mut rows: Vec<Vec<f64>> =
        chosen.iter().map(|&a| chosen.iter().map(|&b| matrix[a][b]).chain([right[a]]).collect()).collect();
    for at in 0..count {
        let pivot = (at..count).max_by(|&a, &b| rows[a][at].abs().total_cmp(&rows[b][at].abs()))?;
        rows.swap(at, pivot);
        if rows[at][at].abs() < 1e-9 {
            return None;
        }
        let (above, below) = rows.split_at_mut(at + 1);
        for row in below {
            let factor = row[at] / above[at][at];
            for (cell, from) in row.iter_mut().zip(&above[at]).skip(at) {
                *cell -= factor * from;
            }
        }
    }
    let mut found = vec![0.0; count];
    for at in (0..count).rev() {
        let known: f64 = (at + 1..count).map(|other| rows[at][other] * found[other]).sum();
        found[at] = (rows[at][count] - known) / rows[at][at];
    }
    Some(found)
}

#[test]
fn a_coefficient_that_would_be_negative_is_zero_and_the_others_are_fitted_without_it() {
    let close = |found: &[f64], expected: &[f64]| {
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9), "{found:?}");
    };
    let rows = [vec![1.0, 0.0], vec![1.0, 1.0], vec![1.0, 2.0]];
    close(&least_squares(&rows, &[3.0, 5.0, 7.0]), &[3.0, 2.0]);
    close(&least_squares(&rows, &[7.0, 5.0, 3.0]), &[5.0, 0.0]);
    close(&least_squares(&rows, &[-1.0, 2.0, 3.0]), &[0.0, 1.6]);
    let twice = [vec![1.0, 2.0, 0.0], vec![2.0, 4.0, 0.0]];
    let found = least_squares(&twice, &[3.0, 6.0]);
    close(&[found[0] + 2.0 * found[1], found[2]], &[3.0, 0.0]);
}
