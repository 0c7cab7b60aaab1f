//! Sets of states that are closed at a pace: no schedule is faster.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::chain::Chain;
use super::choose::is_bounded;
use super::front::Front;
use super::program::Steps;
use super::state::{Choice, Class, Counts, Phase, Times, empty};
use crate::certificate::path::Paths;
use crate::model::{Device, Model, Ticks};

/// Whether no schedule takes less than this for each microbatch in the long run, as all [bounded](is_bounded) devices show together.
/// Where some schedule does, the steps run out, unless it is over before.
pub(in crate::certificate) fn is_closed(
    model: &Model,
    paths: &Paths<'_>,
    pace: Ticks,
    steps: &mut Steps,
    is_over: &mut dyn FnMut() -> bool,
) -> bool {
    let devices: Vec<Device> =
        Device::all(model.devices()).filter(|&device| is_bounded(model, device)).collect();
    if devices.is_empty() {
        return false;
    }
    let chain = Chain::new(model, paths, &devices).with_equal_weights_as_one();
    // With every step that is spent, a time grows by no more than two of these, or falls by the pace.
    let most = i64::try_from(steps.0).map_or(0, |steps| i64::MAX / 2 / steps.max(1));
    longest(&chain).max(pace) <= Ticks(most)
        && Groups::first(&chain, pace, steps).is_some_and(|mut groups| groups.close(steps, is_over).is_some())
}

/// The longest of the times that lie between two passes.
fn longest(chain: &Chain) -> Ticks {
    let links = chain.links.iter().flat_map(|link| [link.duration, link.lag]);
    let weights = chain.weights.iter().map(|weight| weight.duration);
    let pairs = chain.pairs.iter().map(|pair| pair.duration);
    links.chain(weights).chain(pairs).fold(Ticks::ZERO, Ticks::max)
}

/// States by their counts. Their times are taken back by the pace with every microbatch that has begun, so that states with equal counts
/// are compared whether few microbatches have begun or many.
struct Groups<'a> {
    chain: &'a Chain,
    pace: Ticks,
    packing: Packing,
    by_key: BTreeMap<Key, u32>,
    all: Vec<Group>,
    open: Open,
    /// What is open once the next microbatch has begun.
    begun: Open,
}

/// The states found so far with some counts.
struct Group {
    /// The counts.
    key: Key,
    /// How many passes the microbatches under way have still to run.
    remaining: u64,
    states: Front,
    /// By choice: the group that it leads to, if any of its states has been found.
    next: Vec<Option<u32>>,
}

/// Groups of which some states have not been followed, those with most passes left first: what leads to a group before the next
/// microbatch begins has more left.
type Open = BTreeSet<(Reverse<u64>, u32)>;

impl<'a> Groups<'a> {
    /// The state in which nothing has begun.
    fn first(chain: &'a Chain, pace: Ticks, steps: &mut Steps) -> Option<Self> {
        let packing = Packing::of(chain);
        let (by_key, all, open, begun) = (BTreeMap::new(), Vec::new(), Open::new(), Open::new());
        let mut groups = Self { chain, pace, packing, by_key, all, open, begun };
        let (counts, times) = empty(chain);
        let first = groups.at(&counts)?;
        groups.all[first as usize].states.insert(&times, steps)?;
        groups.open.insert((Reverse(counts.remaining()), first));
        Some(groups)
    }

    /// Adds all that follows, but for what is nowhere earlier than something else; nothing when the steps run out, or it is over.
    fn close(&mut self, steps: &mut Steps, is_over: &mut dyn FnMut() -> bool) -> Option<()> {
        loop {
            while let Some((_, at)) = self.open.pop_first() {
                if is_over() {
                    return None;
                }
                self.follow(at, steps)?;
            }
            if self.begun.is_empty() {
                return Some(());
            }
            std::mem::swap(&mut self.open, &mut self.begun);
        }
    }

    /// Adds what follows by one pass from those states of a group that have not been followed.
    fn follow(&mut self, at: u32, steps: &mut Steps) -> Option<()> {
        let group = &mut self.all[at as usize];
        let counts = self.packing.unpack(group.key);
        let (states, mut next) = (group.states.take_new(), std::mem::take(&mut group.next));
        let class = Class::new(self.chain, Phase::Feeding, &counts);
        let choices: Vec<Choice> = class.choices().collect();
        next.resize(choices.len(), None);
        let mut after = Times::new();
        for times in &states {
            let only = class.only(&choices, times);
            for (&choice, next) in choices.iter().zip(&mut next) {
                if only.is_some_and(|only| only != choice)
                    || class.times_after(choice, times, &mut after).is_none()
                {
                    continue;
                }
                let begins = class.begins(choice).is_some();
                if begins {
                    for time in &mut after {
                        *time -= self.pace;
                    }
                }
                let to = match *next {
                    Some(to) => to,
                    None => *next.insert(self.at(&class.counts_after(choice))?),
                };
                let group = &mut self.all[to as usize];
                if group.states.insert(&after, steps)? {
                    let into = if begins { &mut self.begun } else { &mut self.open };
                    into.insert((Reverse(group.remaining), to));
                }
            }
        }
        self.all[at as usize].next = next;
        Some(())
    }

    /// The group with these counts; nothing if they are too large to be packed.
    fn at(&mut self, counts: &Counts) -> Option<u32> {
        let key = self.packing.pack(counts)?;
        if let Some(&at) = self.by_key.get(&key) {
            return Some(at);
        }
        let at = u32::try_from(self.all.len()).ok()?;
        let remaining = counts.remaining();
        self.by_key.insert(key, at);
        self.all.push(Group { key, remaining, states: Front::default(), next: Vec::new() });
        Some(at)
    }
}

/// Counts, packed into two halves: there are millions of them.
type Key = (u128, u128);

/// How counts are packed.
#[derive(Clone, Copy)]
struct Packing {
    links: usize,
    weights: usize,
    /// How many each count has.
    bits: usize,
}

impl Packing {
    /// As many bits for each count as a key has room for.
    fn of(chain: &Chain) -> Self {
        let (links, weights) = (chain.links.len(), chain.weights.len());
        let packing = Self { links, weights, bits: 0 };
        // Counts have 32 themselves.
        Self { bits: (128 / packing.in_half()).min(31), ..packing }
    }

    /// How many counts are in the first half of a key. The other has no more.
    const fn in_half(self) -> usize {
        (self.links + self.weights).div_ceil(2)
    }

    fn pack(self, counts: &Counts) -> Option<Key> {
        let half = |from: usize| {
            let all = counts.waiting.iter().chain(&counts.pending).skip(from).take(self.in_half());
            all.zip(0..).try_fold(0, |half, (&count, place)| {
                (count >> self.bits == 0).then(|| half | u128::from(count) << (self.bits * place))
            })
        };
        Some((half(0)?, half(self.in_half())?))
    }

    fn unpack(self, (first, second): Key) -> Counts {
        let count = |place: usize| {
            let in_half = self.in_half();
            let (half, at) = if place < in_half { (first, place) } else { (second, place - in_half) };
            let count = half >> (self.bits * at) & ((1 << self.bits) - 1);
            u32::try_from(count).expect("it has no more bits than that")
        };
        Counts {
            waiting: (0..self.links).map(count).collect(),
            pending: (self.links..self.links + self.weights).map(count).collect(),
        }
    }
}

#[cfg(test)]
mod tests;
