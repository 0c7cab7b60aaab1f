//! Which passes change their places among the others.

use std::collections::BTreeMap;

use crate::model::{Device, Pass};
use crate::schedule::Schedule;

/// A pass that changes its place among the others of its device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Displaced {
    /// The device.
    pub device: Device,
    /// The pass.
    pub pass: Pass,
    /// The pass that it comes right after now; none if it is the first.
    pub after: Option<Pass>,
    /// Its old position, from 0.
    pub from: usize,
    /// Its new position, from 0.
    pub to: usize,
}

/// The fewest passes that have to be moved to come from one schedule to another of the same passes: those outside a
/// longest common subsequence of both orders of each device.
pub(super) fn displaced(old: &Schedule, new: &Schedule) -> Vec<Displaced> {
    let of_device = |device| {
        let was: BTreeMap<Pass, usize> =
            old.order(device).iter().enumerate().map(|(position, &pass)| (pass, position)).collect();
        let order = new.order(device);
        let from: Vec<usize> = order.iter().map(|pass| was[pass]).collect();
        let stays = longest_ascent(&from);
        let displaced = move |to: usize| Displaced {
            device,
            pass: order[to],
            after: to.checked_sub(1).map(|before| order[before]),
            from: from[to],
            to,
        };
        (0..order.len()).filter(move |&to| !stays[to]).map(displaced).collect::<Vec<_>>()
    };
    Device::all(new.devices()).flat_map(of_device).collect()
}

/// Which of these different numbers are in a longest subsequence that ascends.
fn longest_ascent(numbers: &[usize]) -> Vec<bool> {
    // By length less one: where a subsequence of this length ends with the least number.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(numbers.len());
    for (at, &number) in numbers.iter().enumerate() {
        let length = ends.partition_point(|&end| numbers[end] < number);
        before.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        if length == ends.len() {
            ends.push(at);
        } else {
            ends[length] = at;
        }
    }
    let mut chosen = vec![false; numbers.len()];
    let mut next = ends.last().copied();
    while let Some(at) = next {
        chosen[at] = true;
        next = before[at];
    }
    chosen
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The length of a longest ascending subsequence, by trying all.
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
        fn no_longer_subsequence_ascends(numbers in Just((0..9).collect::<Vec<usize>>()).prop_shuffle()) {
            let chosen = longest_ascent(&numbers);
            let of: Vec<usize> = (0..numbers.len()).filter(|&at| chosen[at]).map(|at| numbers[at]).collect();
            prop_assert!(of.is_sorted());
            prop_assert_eq!(of.len(), length_by_trying(&numbers));
        }
    }

    #[test]
    fn the_one_that_moved_is_named() {
        assert_eq!(longest_ascent(&[0, 4, 1, 2, 3]), [true, false, true, true, true]);
        assert_eq!(longest_ascent(&[1, 2, 3, 0]), [true, true, true, false]);
        assert!(longest_ascent(&[]).is_empty());
    }
}
