//! States in which as many microbatches wait for each link.

use std::collections::BTreeMap;

use super::front::Front;
use super::program::Steps;
use crate::model::Ticks;

/// States none of which is as good as another. A state is as good as another if it is nowhere later, and no more Ws of each kind wait:
/// what it has run before the other are Ws, which only release memory.
#[derive(Debug, Default)]
pub(super) struct States {
    /// By how many Ws of each kind wait: the times.
    by_pending: BTreeMap<Vec<u32>, Front>,
}

impl States {
    /// Those that have not been taken before and for which the most Ws wait, and how many of each kind. Others may follow from them.
    pub(super) fn take_new(&mut self) -> Option<(Vec<u32>, Vec<Vec<Ticks>>)> {
        let new = self.by_pending.iter_mut().filter(|(_, front)| front.has_new());
        let (pending, front) = new.max_by_key(|(pending, _)| pending.iter().sum::<u32>())?;
        Some((pending.clone(), front.take_new()))
    }

    /// Adds a state unless another is as good, and returns whether it did; takes out those that are no better. Nothing when the steps
    /// run out.
    pub(super) fn insert(&mut self, pending: &[u32], times: &[Ticks], steps: &mut Steps) -> Option<bool> {
        let mut compared = 0;
        let no_more = |one: &[u32], other: &[u32]| one.iter().zip(other).all(|(one, other)| one <= other);
        let mut ahead = self.by_pending.iter().filter(|(other, _)| no_more(other, pending));
        let is_new = !ahead.any(|(_, front)| front.has_as_good(times, &mut compared));
        if is_new {
            let mut is_added = false;
            for (other, front) in self.by_pending.iter_mut().filter(|(other, _)| no_more(pending, other)) {
                front.remove_no_better(times, &mut compared);
                if other == pending {
                    front.push(times);
                    is_added = true;
                }
            }
            if !is_added {
                self.by_pending.insert(pending.to_vec(), Front::one(times));
            }
        }
        steps.take(times.len() + compared)?;
        Some(is_new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_kept_as_good_as_which_none_is() {
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
        assert_eq!(states.insert(&[1, 1], &[Ticks(3), Ticks(3)], &mut Steps(3)), None);
        // Those for which most Ws wait come first, and none twice.
        let mut taken = Vec::new();
        while let Some((pending, new)) = states.take_new() {
            taken.extend(new.iter().map(|times| (pending.clone(), [times[0].0, times[1].0])));
        }
        let kept = [([1, 1], [9, 1]), ([1, 1], [3, 3]), ([1, 0], [9, 9]), ([0, 1], [1, 9])];
        assert_eq!(taken, kept.map(|(pending, times)| (pending.to_vec(), times)));
    }
}
