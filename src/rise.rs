//! What of a sequence is in order.

/// Which of some different numbers belong to a longest rising subsequence of them.
pub(crate) fn longest_rise(values: &[usize]) -> Vec<bool> {
    // By length less one: where the rise of that length ends whose last value is least.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(values.len());
    for (at, &value) in values.iter().enumerate() {
        let length = ends.partition_point(|&end| values[end] < value);
        before.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        if length == ends.len() {
            ends.push(at);
        } else {
            ends[length] = at;
        }
    }
    let mut belongs = vec![false; values.len()];
    let mut at = ends.last().copied();
    while let Some(here) = at {
        belongs[here] = true;
        at = before[here];
    }
    belongs
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The length of a longest rising subsequence, by trying all.
    fn length_by_trying(numbers: &[usize]) -> usize {
        (0..1_usize << numbers.len())
            .map(|chosen| {
                let of: Vec<usize> =
                    (0..numbers.len()).filter(|at| chosen & 1 << at != 0).map(|at| numbers[at]).collect();
                if of.is_sorted() { of.len() } else { 0 }
            })
            .max()
            .unwrap_or(0)
    }

    proptest! {
        #[test]
        fn no_longer_subsequence_rises(numbers in Just((0..9).collect::<Vec<usize>>()).prop_shuffle()) {
            let chosen = longest_rise(&numbers);
            let of: Vec<usize> = (0..numbers.len()).filter(|&at| chosen[at]).map(|at| numbers[at]).collect();
            prop_assert!(of.is_sorted());
            prop_assert_eq!(of.len(), length_by_trying(&numbers));
        }
    }

    #[test]
    fn the_one_that_moved_is_named() {
        assert_eq!(longest_rise(&[0, 4, 1, 2, 3]), [true, false, true, true, true]);
        assert_eq!(longest_rise(&[1, 2, 3, 0]), [true, true, true, false]);
        assert!(longest_rise(&[]).is_empty());
    }
}
