//! Orders of integers: medians, quantiles, spread. No means: one stalled pass would move them.

use serde::Serialize;

/// How values spread.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Spread {
    /// How many there are.
    pub count: usize,
    /// The least.
    pub least: i64,
    /// The value that a quarter of them do not exceed.
    pub lower_quartile: i64,
    /// The value that half of them do not exceed.
    pub median: i64,
    /// The value that three quarters of them do not exceed.
    pub upper_quartile: i64,
    /// The largest.
    pub most: i64,
    /// The median distance from the median.
    pub deviation: i64,
}

impl Spread {
    /// The spread of some values; nothing where there are none.
    #[must_use]
    pub fn of(values: impl IntoIterator<Item = i64>) -> Option<Self> {
        let mut values: Vec<i64> = values.into_iter().collect();
        values.sort_unstable();
        let (least, most) = (*values.first()?, *values.last()?);
        let median = quantile(&values, 1, 2)?;
        let mut away: Vec<i64> = values.iter().map(|value| (value - median).abs()).collect();
        away.sort_unstable();
        Some(Self {
            count: values.len(),
            least,
            lower_quartile: quantile(&values, 1, 4)?,
            median,
            upper_quartile: quantile(&values, 3, 4)?,
            most,
            deviation: quantile(&away, 1, 2)?,
        })
    }
}

/// The least of some sorted values that at least `part / whole` of them do not exceed; the least of all for a
/// part of zero. It is always one of the values, so that the quantile of equal values is that value.
#[must_use]
pub fn quantile(sorted: &[i64], part: usize, whole: usize) -> Option<i64> {
    let rank = (sorted.len() * part).div_ceil(whole);
    sorted.get(rank.saturating_sub(1)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_values_that_occur() {
        let cases: [(&[i64], [i64; 4]); 4] = [
            (&[7], [7, 7, 7, 7]),
            (&[1, 2], [1, 1, 2, 2]),
            (&[1, 2, 3, 4], [1, 2, 3, 4]),
            (&[1, 1, 1, 1, 100], [1, 1, 1, 100]),
        ];
        for (values, expected) in cases {
            let found = [(1, 4), (1, 2), (3, 4), (9, 10)].map(|(part, whole)| quantile(values, part, whole));
            assert_eq!(found, expected.map(Some), "{values:?}");
        }
        assert_eq!(quantile(&[], 1, 2), None);
    }

    #[test]
    fn one_stalled_pass_moves_the_extremes_alone() {
        let spread = Spread::of([10, 12, 11, 10, 9_000]).expect("values");
        assert_eq!((spread.least, spread.median, spread.most, spread.deviation), (10, 11, 9_000, 1));
        assert_eq!(Spread::of([]), None);
    }
}
