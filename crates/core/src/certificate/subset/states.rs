//! States in which as many microbatches wait for each link.

use std::collections::BTreeMap;

use super::front::{Front, Summed};
use super::program::Steps;
use crate::model::Ticks;

/// States none of which is as good as another. A state is as good as another if it is nowhere later and no more Ws of each kind wait in
/// it. It lacks nothing that the other has: a W only releases memory, and nothing waits for it.
#[derive(Debug, Default)]
pub(super) struct States {
    /// By how many Ws of each kind wait: the times.
    by_pending: BTreeMap<Vec<u32>, Front>,
}

impl States {
    /// Those states that have not been taken before in which some numbers of Ws wait, and these numbers: the largest in all, because
    /// others may follow from them.
    pub(super) fn take_new(&mut self) -> Option<(Vec<u32>, Vec<Vec<Ticks>>)> {
        let new = self.by_pending.iter_mut().filter(|(_, front)| front.has_new());
        let (pending, front) = new.max_by_key(|(pending, _)| pending.iter().sum::<u32>())?;
        Some((pending.clone(), front.take_new()))
    }

    /// The least of the last times of states in which no W waits.
    pub(super) fn least_end(&self) -> Option<Ticks> {
        let done = self.by_pending.iter().filter(|(pending, _)| pending.iter().all(|&count| count == 0));
        done.flat_map(|(_, front)| front.iter()).filter_map(|times| times.last().copied()).min()
    }

    /// Adds a state unless another is as good, and returns whether it did; takes out those that are no better. Nothing when the steps
    /// run out.
    pub(super) fn insert(&mut self, pending: &[u32], times: &[Ticks], steps: &mut Steps) -> Option<bool> {
        steps.take(times.len())?;
        let summed = Summed::new(times);
        for (_, front) in self.by_pending.iter().filter(|(other, _)| are_no_more(other, pending)) {
            let (is_late, compared) = front.has_as_good(summed);
            steps.take(compared)?;
            if is_late {
                return Some(false);
            }
        }
        for (_, front) in self.by_pending.iter_mut().filter(|(other, _)| are_no_more(pending, other)) {
            steps.take(front.remove_no_better(summed))?;
        }
        match self.by_pending.get_mut(pending) {
            Some(front) => front.push(summed),
            None => {
                self.by_pending.insert(pending.to_vec(), Front::one(times));
            }
        }
        Some(true)
    }
}

fn are_no_more(pending: &[u32], others: &[u32]) -> bool {
    pending.iter().zip(others).all(|(one, other)| one <= other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_kept_unless_another_is_as_good() {
        let (mut states, mut steps) = (States::default(), Steps(1000));
        let mut insert = |pending: [u32; 2], times: [i64; 2]| {
            let before = steps.0;
            let is_new = states.insert(&pending, &times.map(Ticks), &mut steps).expect("there are steps");
            (is_new, before - steps.0)
        };
        // Two for the instants of each, and one for each comparison that sums do not make needless.
        let told =
            [[5, 5], [1, 9], [9, 1], [6, 6], [5, 5], [4, 9], [4, 4]].map(|times| insert([1, 1], times));
        let few = [(true, 2), (true, 4), (true, 6), (false, 3), (false, 3), (false, 4), (true, 5)];
        assert_eq!(told, few);
        // More Ws wait, or fewer, or neither more nor fewer.
        assert_eq!(insert([2, 1], [4, 5]), (false, 3));
        assert_eq!(insert([1, 0], [9, 9]), (true, 2));
        assert_eq!(insert([0, 2], [2, 9]), (true, 2));
        assert_eq!(insert([0, 1], [1, 9]), (true, 5));
        assert_eq!(insert([1, 1], [9, 1]), (false, 4));
        // With fewer Ws to run, the same times are better.
        assert_eq!([insert([3, 3], [0, 0]), insert([3, 2], [0, 0])], [(true, 2), (true, 3)]);
        for steps in 0..3 {
            assert_eq!(states.insert(&[1, 1], &[Ticks(3), Ticks(3)], &mut Steps(steps)), None);
        }
        // Those for which most Ws wait come first, and none twice.
        let mut taken = Vec::new();
        while let Some((pending, new)) = states.take_new() {
            taken.extend(new.iter().map(|times| (pending.clone(), [times[0].0, times[1].0])));
        }
        let kept = [([3, 2], [0, 0]), ([1, 1], [9, 1]), ([1, 0], [9, 9]), ([0, 1], [1, 9])];
        assert_eq!(taken, kept.map(|(pending, times)| (pending.to_vec(), times)));
    }
}
