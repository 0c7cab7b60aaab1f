//! The forward program over sets of states.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::chain::Chain;
use super::front::Front;
use super::horizon::{Horizon, Room};
use super::state::{Choice, Class, Counts, Phase, Times, empty, with_end};
use crate::certificate::Objective;
use crate::model::Ticks;

/// How much may still be computed: every state written down costs its length, and every comparison of
/// two states costs one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::certificate) struct Steps(pub u64);

impl Steps {
    pub(super) fn take(&mut self, count: usize) -> Option<()> {
        let left = self.0.checked_sub(count as u64);
        self.0 = left.unwrap_or(0);
        left.map(|_| ())
    }

    /// Takes out at most this many of the steps that are left, to be spent separately.
    pub(super) fn part(&mut self, most: u64) -> Self {
        let part = most.min(self.0);
        self.0 -= part;
        Self(part)
    }
}

/// For every combination of counts, times none of which is as good as another everywhere.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Layer(BTreeMap<Counts, Front>);

impl Layer {
    /// Before anything has begun.
    pub(super) fn first(chain: &Chain) -> Self {
        let (counts, times) = empty(chain);
        Self(BTreeMap::from([(counts, Front::one(&times))]))
    }

    /// All states right after the start of the next microbatch, so many being begun, that may end before a horizon; nothing
    /// when the steps run out.
    pub(super) fn next(
        &self,
        chain: &Chain,
        horizon: Option<(&Horizon, u32)>,
        steps: &mut Steps,
    ) -> Option<Self> {
        steps.take(1)?;
        let mut open = Open::default();
        for (counts, all) in &self.0 {
            open.0.insert((Reverse(counts.remaining()), counts.clone()), all.clone());
        }
        let mut next = Self::default();
        while let Some((_, counts, all)) = open.pop() {
            let class = Class::new(chain, Phase::Feeding, &counts);
            for choice in class.choices() {
                let (begins, counts) = (class.begins(choice), class.counts_after(choice));
                let is_next = begins.is_some();
                let room = horizon
                    .map(|(horizon, begun)| horizon.room(chain, &counts, begun + u32::from(is_next), begins));
                let into = if is_next { next.0.entry(counts).or_default() } else { open.at(counts) };
                follow(&class, choice, &all, room.as_ref(), into, steps)?;
            }
        }
        next.0.retain(|_, all| !all.is_empty());
        for all in next.0.values_mut() {
            *all = all.sorted();
        }
        Some(next)
    }

    /// The least end of all that is under way, counted from the start of the first link of the first
    /// microbatch, or the horizon if all ends there or later; nothing when the steps run out.
    pub(super) fn drained(
        &self,
        chain: &Chain,
        objective: Objective,
        horizon: Option<&Horizon>,
        steps: &mut Steps,
    ) -> Option<Ticks> {
        let mut open = Open::default();
        for (counts, all) in &self.0 {
            let into = open.at(counts.clone());
            for times in all.iter() {
                into.insert(&with_end(chain, times, objective), steps)?;
            }
        }
        // The first link of the last microbatch is behind every state, so one of them is the end.
        let mut least = horizon.map(|horizon| horizon.end);
        while let Some((remaining, counts, all)) = open.pop() {
            if remaining == 0 {
                let end = all.iter().map(|times| times[times.len() - 1]).min();
                least = least.into_iter().chain(end).min();
                continue;
            }
            let class = Class::new(chain, Phase::Draining(objective), &counts);
            for choice in class.choices() {
                let counts = class.counts_after(choice);
                let room = horizon.map(|horizon| horizon.room(chain, &counts, horizon.microbatches, None));
                let into = open.at(counts);
                follow(&class, choice, &all, room.as_ref(), into, steps)?;
            }
        }
        least
    }

    /// The most by which every state here is later than some state of an earlier layer with the same
    /// counts; nothing when for some state there is none.
    pub(super) fn later_than(&self, earlier: &Self) -> Option<Ticks> {
        let mut least: Option<Ticks> = None;
        for (counts, all) in &self.0 {
            let others = earlier.0.get(counts)?;
            for times in all.iter() {
                let most = others.iter().map(|other| distance(other, times)).max()?;
                least = Some(least.map_or(most, |least| least.min(most)));
            }
        }
        least
    }

    /// By how much this layer is later than another that is otherwise the same.
    pub(super) fn shift_from(&self, earlier: &Self) -> Option<Ticks> {
        let flat = |layer: &Self| layer.0.values().find_map(|all| all.iter().next()).map(|times| times[0]);
        let shift = flat(self)? - flat(earlier)?;
        let same = |(one, other): (&[Ticks], &[Ticks])| {
            one.len() == other.len() && one.iter().zip(other).all(|(&a, &b)| a - b == shift)
        };
        let equal = self.0.len() == earlier.0.len()
            && self.0.iter().zip(&earlier.0).all(|((counts, all), (other, others))| {
                counts == other && all.len() == others.len() && all.iter().zip(others.iter()).all(same)
            });
        equal.then_some(shift)
    }

    /// Whether no state leads here: the capacities are too small.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// States that have not been continued, those with most passes left first: a state follows only from states with more
/// left.
#[derive(Default)]
struct Open(BTreeMap<(Reverse<u64>, Counts), Front>);

impl Open {
    fn at(&mut self, counts: Counts) -> &mut Front {
        self.0.entry((Reverse(counts.remaining()), counts)).or_default()
    }

    /// Those with most passes left, and how many.
    fn pop(&mut self) -> Option<(u64, Counts, Front)> {
        loop {
            let ((Reverse(remaining), counts), all) = self.0.pop_first()?;
            // What leads here may have been left out.
            if !all.is_empty() {
                return Some((remaining, counts, all));
            }
        }
    }
}

/// Adds the states that follow by one pass and are in time for what they must; nothing when the steps run out.
fn follow(
    class: &Class<'_>,
    choice: Choice,
    all: &Front,
    room: Option<&Room>,
    into: &mut Front,
    steps: &mut Steps,
) -> Option<()> {
    let mut after = Times::new();
    for times in all.iter() {
        if class.times_after(choice, times, &mut after).is_none() {
            continue;
        }
        if room.is_some_and(|room| room.is_exceeded(&after)) {
            steps.take(1)?;
        } else {
            into.insert(&after, steps)?;
        }
    }
    Some(())
}

/// The least, over all instants, by which one state is later than another.
fn distance(earlier: &[Ticks], later: &[Ticks]) -> Ticks {
    later.iter().zip(earlier).map(|(&late, &early)| late - early).min().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layer(states: &[(&[u32], &[&[i64]])]) -> Layer {
        // They are as good nowhere, so all of them are kept.
        let front = |all: &[&[i64]]| {
            let mut front = Front::default();
            for times in all {
                let times: Times = times.iter().copied().map(Ticks).collect();
                front.insert(&times, &mut Steps(1000)).expect("there are steps");
            }
            front
        };
        let state = |&(waiting, all): &(&[u32], &[&[i64]])| {
            (Counts { waiting: waiting.to_vec(), pending: Vec::new() }, front(all))
        };
        Layer(states.iter().map(state).collect())
    }

    #[test]
    fn layers_shift_only_when_all_their_states_do() {
        let earlier = layer(&[(&[0, 1], &[&[0, 4], &[1, 3]])]);
        let later = |states: &[(&[u32], &[&[i64]])]| layer(states).shift_from(&earlier);
        assert_eq!(later(&[(&[0, 1], &[&[5, 9], &[6, 8]])]), Some(Ticks(5)));
        // Other times, fewer of them, other counts, more counts.
        assert_eq!(later(&[(&[0, 1], &[&[5, 9], &[6, 9]])]), None);
        assert_eq!(later(&[(&[0, 1], &[&[5, 9]])]), None);
        assert_eq!(later(&[(&[0, 2], &[&[5, 9], &[6, 8]])]), None);
        assert_eq!(later(&[(&[0, 1], &[&[5, 9], &[6, 8]]), (&[1, 1], &[&[5, 9]])]), None);
    }

    #[test]
    fn a_layer_is_as_much_later_as_its_least_late_state() {
        let earlier = layer(&[(&[0], &[&[0, 9], &[4, 4]]), (&[1], &[&[0, 0]])]);
        // By 6 than the first state; by 3 than the second one, and less than the first.
        let later = layer(&[(&[0], &[&[6, 15], &[7, 7]])]);
        assert_eq!(later.later_than(&earlier), Some(Ticks(3)));
        assert_eq!(earlier.later_than(&later), None, "there are no such counts");
    }
}
