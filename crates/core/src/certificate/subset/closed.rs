//! States that are closed at a pace: whether any schedule can keep it up.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use num_rational::Ratio;

use super::chain::Chain;
use super::choose::is_bounded;
use super::front::Front;
use super::program::Steps;
use super::state::{Choice, Class, Counts, Phase, Times, empty};
use crate::certificate::path::Paths;
use crate::model::{Device, Model, Ticks};

/// Whether no schedule takes less than this for each microbatch in the long run, as all devices with a capacity show together. Where
/// they do not, the steps run out.
pub(in crate::certificate) fn is_closed(
    model: &Model,
    paths: &Paths<'_>,
    pace: Ratio<i64>,
    steps: &mut Steps,
) -> bool {
    let devices: Vec<Device> =
        Device::all(model.devices()).filter(|&device| is_bounded(model, device)).collect();
    if devices.is_empty() {
        return false;
    }
    let chain = Chain::new(model, paths, &devices).with_equal_weights_as_one();
    let (parts, pace) = (*pace.denom(), Ticks(*pace.numer()));
    // Every step that is taken adds at most one of the times, or takes the pace away.
    let is_small = i64::try_from(steps.0).is_ok_and(|steps| pace.0.checked_mul(2 * steps).is_some());
    let chain = chain.divided(parts, steps.0).filter(|_| is_small);
    chain.and_then(|chain| Groups::closed(&chain, pace, steps)).is_some()
}

/// States by their counts. Their times are taken back by the pace with every microbatch that has begun, so states count as one whether
/// few microbatches have begun or many.
struct Groups {
    packing: Packing,
    by_key: BTreeMap<Key, u32>,
    all: Vec<Group>,
}

/// States with equal counts.
struct Group {
    /// The counts.
    key: Key,
    /// How many passes are left to run.
    left: u64,
    states: Front,
    /// By choice: the group that it leads to, if any of its states has been found.
    next: Vec<Option<u32>>,
}

/// Groups of which some states have not been followed, those with most passes left first: what leads to a group before the next
/// microbatch begins has more left.
type Open = BTreeSet<(Reverse<u64>, u32)>;

impl Groups {
    /// All that follows from the state in which nothing has begun, but for what is as late as something else; nothing when the steps
    /// run out.
    fn closed(chain: &Chain, pace: Ticks, steps: &mut Steps) -> Option<Self> {
        let (counts, times) = empty(chain);
        let mut groups = Self { packing: Packing::of(chain), by_key: BTreeMap::new(), all: Vec::new() };
        let first = groups.at(&counts)?;
        groups.all[first as usize].states.insert(&times, steps)?;
        let mut open = Open::from([(Reverse(0), first)]);
        while !open.is_empty() {
            let mut begun = Open::new();
            while let Some((_, at)) = open.pop_first() {
                groups.follow(chain, at, pace, &mut open, &mut begun, steps)?;
            }
            open = begun;
        }
        Some(groups)
    }

    /// Adds what follows by one pass from those states of a group that have not been followed. What it leads to is open, or begun where
    /// the pass begins a microbatch.
    fn follow(
        &mut self,
        chain: &Chain,
        at: u32,
        pace: Ticks,
        open: &mut Open,
        begun: &mut Open,
        steps: &mut Steps,
    ) -> Option<()> {
        let group = &mut self.all[at as usize];
        let counts = self.packing.unpack(group.key);
        let (states, mut next) = (group.states.take_new(), std::mem::take(&mut group.next));
        let class = Class::new(chain, Phase::Feeding, &counts);
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
                        *time -= pace;
                    }
                }
                let to = match *next {
                    Some(to) => to,
                    None => *next.insert(self.at(&class.counts_after(choice))?),
                };
                let group = &mut self.all[to as usize];
                if group.states.insert(&after, steps)? {
                    let into = if begins { &mut *begun } else { &mut *open };
                    into.insert((Reverse(group.left), to));
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
        self.by_key.insert(key, at);
        self.all.push(Group { key, left: counts.remaining(), states: Front::default(), next: Vec::new() });
        Some(at)
    }
}

/// Counts, each in as many bits.
type Key = (u128, u128);

/// How counts are packed.
#[derive(Clone, Copy)]
struct Packing {
    links: usize,
    weights: usize,
    bits: u32,
}

impl Packing {
    /// The counts in each half of a key, each in as many bits as there is room for.
    fn of(chain: &Chain) -> Self {
        let (links, weights) = (chain.links.len(), chain.weights.len());
        let each = u32::try_from((links + weights).div_ceil(2)).unwrap_or(u32::MAX);
        Self { links, weights, bits: (u128::BITS / each.max(1)).min(u32::BITS - 1) }
    }

    const fn each(self) -> usize {
        (self.links + self.weights).div_ceil(2)
    }

    fn pack(self, counts: &Counts) -> Option<Key> {
        let half = |place: usize| {
            let all = counts.waiting.iter().chain(&counts.pending).skip(place).take(self.each());
            all.zip(0..).try_fold(0, |half, (&count, place)| {
                (count >> self.bits == 0).then(|| half | u128::from(count) << (self.bits * place))
            })
        };
        Some((half(0)?, half(self.each())?))
    }

    fn unpack(self, key: Key) -> Counts {
        let count = |place: usize| {
            let (half, place) =
                if place < self.each() { (key.0, place) } else { (key.1, place - self.each()) };
            let shifted = half >> (self.bits * u32::try_from(place).expect("no more places than bits"));
            u32::try_from(shifted & ((1 << self.bits) - 1)).expect("no more bits than one of them has")
        };
        Counts {
            waiting: (0..self.links).map(count).collect(),
            pending: (self.links..self.links + self.weights).map(count).collect(),
        }
    }
}

#[cfg(test)]
mod tests;
