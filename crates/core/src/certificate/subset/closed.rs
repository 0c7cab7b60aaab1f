//! Sets of states that are closed at a pace: no schedule is faster. What follows them once no microbatch begins any more bounds the makespan.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::chain::Chain;
use super::choose::bounded;
use super::horizon::{Horizon, MOST_DEVICES, Room};
use super::program::Steps;
use super::state::{Choice, Class, Counts, Phase, Times, empty, remaining, with_end};
use super::states::States;
use crate::certificate::Objective;
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
    let devices = bounded(model);
    if devices.is_empty() {
        return false;
    }
    let chain = Chain::new(model, paths, &devices).with_equal_weights_as_one();
    are_short(&chain, pace, *steps)
        && Groups::first(&chain, pace, steps)
            .is_some_and(|mut groups| groups.close(None, steps, is_over).is_some())
}

/// By how much the makespan of any number of microbatches exceeds the pace for each of them, at the least, as some devices show whose
/// states are closed at that pace; `end` if that is less. Nothing when the steps run out, it is over, times are too long, or for more than
/// [`MOST_DEVICES`]. The devices are there and differ.
pub(in crate::certificate) fn least_beyond_pace(
    model: &Model,
    paths: &Paths<'_>,
    devices: &[Device],
    pace: Ticks,
    end: Ticks,
    steps: &mut Steps,
    is_over: &mut dyn FnMut() -> bool,
) -> Option<Ticks> {
    if devices.len() > MOST_DEVICES {
        return None;
    }
    let chain = Chain::new(model, paths, devices).with_equal_weights_as_one();
    // What a device has left to run is as long as all that its microbatches may still run, one after the other.
    let passes = Steps(steps.0.checked_mul(chain.links.len() as u64)?);
    let end = Ticks(end.0.checked_sub(chain.head.0)?);
    if !are_short(&chain, pace, passes) || end.0.unsigned_abs() > i64::MAX.unsigned_abs() / 4 {
        return None;
    }
    let horizon = Horizon::of_ends(&chain, end);
    let (mut feeding, mut draining) =
        (Groups::first(&chain, pace, steps)?, Groups::draining(&chain, &horizon));
    feeding.close(Some(&mut draining), steps, is_over)?;
    draining.close(None, steps, is_over)?;
    Some(chain.head + draining.least_end().map_or(end, |least| least.min(end)))
}

/// Whether no time of a state overflows: with every step that is spent, one grows by no more than two of the times that lie between two
/// passes, or falls by the pace.
fn are_short(chain: &Chain, pace: Ticks, steps: Steps) -> bool {
    let most = i64::try_from(steps.0).map_or(0, |steps| i64::MAX / 2 / steps.max(1));
    pace >= Ticks::ZERO && longest(chain).max(pace) <= Ticks(most)
}

/// The longest of the times that lie between two passes.
fn longest(chain: &Chain) -> Ticks {
    let links = chain.links.iter().flat_map(|link| [link.duration, link.lag]);
    let weights = chain.weights.iter().map(|weight| weight.duration);
    let pairs = chain.pairs.iter().map(|pair| pair.duration);
    links.chain(weights).chain(pairs).fold(Ticks::ZERO, Ticks::max)
}

/// States by the microbatches that wait for each link. Their times are taken back by the pace with every microbatch that has begun, so
/// that states are compared whether few microbatches have begun or many.
struct Groups<'a> {
    chain: &'a Chain,
    phase: Phase,
    /// What must be reached before, where no more microbatches begin.
    horizon: Option<&'a Horizon>,
    pace: Ticks,
    packing: Packing,
    by_key: BTreeMap<Key, u32>,
    all: Vec<Group>,
    open: Open,
    /// What is open once the next microbatch has begun.
    begun: Open,
}

/// The states found so far with as many microbatches waiting for each link.
struct Group {
    /// How many wait for each link.
    key: Key,
    /// How many passes the microbatches that wait for links have still to run.
    remaining: u64,
    states: States,
    /// By link, and then by pair: the group that it leads to, once it has been asked for.
    next: Vec<Option<u32>>,
}

/// Where a choice leads.
struct Next {
    group: u32,
    /// The Ws that wait then.
    pending: Vec<u32>,
    room: Option<Room>,
    /// The group and the room there if it begins the last microbatch.
    end: Option<(u32, Option<Room>)>,
}

/// Groups of which some states have not been followed, those with most passes left first: before the next microbatch begins, only groups
/// with more passes left lead to a group, and the group itself.
type Open = BTreeSet<(Reverse<u64>, u32)>;

impl<'a> Groups<'a> {
    /// The state in which nothing has begun.
    fn first(chain: &'a Chain, pace: Ticks, steps: &mut Steps) -> Option<Self> {
        let mut groups = Self::new(chain, Phase::Feeding, pace, None);
        let (Counts { waiting, pending }, times) = empty(chain);
        let first = groups.at(&waiting, steps)?;
        groups.all[first as usize].states.insert(&pending, &times, steps)?;
        groups.open.insert((Reverse(remaining(&waiting)), first));
        Some(groups)
    }

    /// None yet: states after which no microbatch begins, and which may end before a horizon.
    fn draining(chain: &'a Chain, horizon: &'a Horizon) -> Self {
        Self::new(chain, Phase::Draining(Objective::Makespan), Ticks::ZERO, Some(horizon))
    }

    fn new(chain: &'a Chain, phase: Phase, pace: Ticks, horizon: Option<&'a Horizon>) -> Self {
        let packing = Packing::of(chain);
        let (by_key, all, open, begun) = (BTreeMap::new(), Vec::new(), Open::new(), Open::new());
        Self { chain, phase, horizon, pace, packing, by_key, all, open, begun }
    }

    /// The least end of those in which nothing is left to run, if there are any.
    fn least_end(&self) -> Option<Ticks> {
        let done = self.all.iter().filter(|group| group.remaining == 0);
        done.filter_map(|group| group.states.least_end()).min()
    }

    /// Adds all that follows, except states to which another one is as good; nothing when the steps run out, or it is over.
    fn close(
        &mut self,
        mut ends: Option<&mut Self>,
        steps: &mut Steps,
        is_over: &mut dyn FnMut() -> bool,
    ) -> Option<()> {
        loop {
            while let Some(&(_, at)) = self.open.first() {
                let group = &mut self.all[at as usize];
                let Some((pending, new)) = group.states.take_new() else {
                    self.open.pop_first();
                    continue;
                };
                if is_over() {
                    return None;
                }
                let counts = Counts { waiting: self.packing.unpack(group.key), pending };
                self.follow(at, &counts, &new, ends.as_deref_mut(), steps)?;
            }
            if self.begun.is_empty() {
                return Some(());
            }
            std::mem::swap(&mut self.open, &mut self.begun);
        }
    }

    /// Adds what follows by one pass from states of a group with these counts; and to `ends`, those after which no other microbatch
    /// begins.
    fn follow(
        &mut self,
        at: u32,
        counts: &Counts,
        states: &[Times],
        mut ends: Option<&mut Self>,
        steps: &mut Steps,
    ) -> Option<()> {
        let class = Class::new(self.chain, self.phase, counts);
        let choices: Vec<Choice> = class.choices().collect();
        let to = choices.iter().map(|&choice| {
            let counts = class.counts_after(choice);
            let end = match &mut ends {
                Some(ends) if class.begins(choice).is_some() => {
                    Some((ends.at(&counts.waiting, steps)?, ends.room(&counts)))
                }
                _ => None,
            };
            let (group, room) = (self.group_after(at, choice, &counts.waiting, steps)?, self.room(&counts));
            Some(Next { group, room, end, pending: counts.pending })
        });
        let to: Vec<Next> = to.collect::<Option<_>>()?;
        let mut after = Times::new();
        for times in states {
            let only = class.only(&choices, times);
            for (&choice, next) in choices.iter().zip(&to) {
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
                if let (Some(ends), Some((group, room))) = (&mut ends, &next.end) {
                    let after = with_end(self.chain, &after, Objective::Makespan);
                    ends.add(*group, &next.pending, &after, room.as_ref(), false, steps)?;
                }
                self.add(next.group, &next.pending, &after, next.room.as_ref(), begins, steps)?;
            }
        }
        Some(())
    }

    /// What states with these counts must be in time for.
    fn room(&self, counts: &Counts) -> Option<Room> {
        self.horizon.map(|horizon| horizon.room(self.chain, counts, horizon.microbatches, None))
    }

    /// Adds a state to a group, unless it is too late or another one is as good.
    fn add(
        &mut self,
        group: u32,
        pending: &[u32],
        times: &[Ticks],
        room: Option<&Room>,
        begins: bool,
        steps: &mut Steps,
    ) -> Option<()> {
        if room.is_some_and(|room| room.is_exceeded(times)) {
            return steps.take(1);
        }
        let Group { states, remaining, .. } = &mut self.all[group as usize];
        if states.insert(pending, times, steps)? {
            let into = if begins { &mut self.begun } else { &mut self.open };
            into.insert((Reverse(*remaining), group));
        }
        Some(())
    }

    /// The group to which a choice leads from this one, after which so many wait for each link; nothing if they are too many to be
    /// packed, or the steps run out.
    fn group_after(&mut self, at: u32, choice: Choice, waiting: &[u32], steps: &mut Steps) -> Option<u32> {
        let place = match choice {
            // A W leaves as many waiting for each link.
            Choice::Weight(_) => return Some(at),
            Choice::Link(link) | Choice::Whole(link) => link,
            Choice::Pair(pair) => self.chain.links.len() + pair,
        };
        if let Some(to) = self.all[at as usize].next[place] {
            return Some(to);
        }
        let to = self.at(waiting, steps)?;
        self.all[at as usize].next[place] = Some(to);
        Some(to)
    }

    /// The group with so many waiting for each link; nothing if they are too many to be packed, or the steps run out.
    fn at(&mut self, waiting: &[u32], steps: &mut Steps) -> Option<u32> {
        let key = self.packing.pack(waiting)?;
        if let Some(&at) = self.by_key.get(&key) {
            return Some(at);
        }
        let at = u32::try_from(self.all.len()).ok()?;
        let next = vec![None; self.chain.links.len() + self.chain.pairs.len()];
        steps.take(next.len())?;
        self.by_key.insert(key, at);
        self.all.push(Group { key, remaining: remaining(waiting), states: States::default(), next });
        Some(at)
    }
}

/// Counts, packed into two halves: there are millions of them.
type Key = (u128, u128);

/// How counts are packed.
#[derive(Clone, Copy)]
struct Packing {
    links: usize,
    /// How many each count has.
    bits: usize,
}

impl Packing {
    /// As many bits for each count as a key has room for.
    fn of(chain: &Chain) -> Self {
        let packing = Self { links: chain.links.len(), bits: 0 };
        // Counts have 32 themselves.
        Self { bits: (128 / packing.in_half()).min(31), ..packing }
    }

    /// How many counts are in the first half of a key. The other has no more.
    const fn in_half(self) -> usize {
        self.links.div_ceil(2)
    }

    fn pack(self, counts: &[u32]) -> Option<Key> {
        let half = |counts: &[u32]| {
            counts.iter().zip(0..).try_fold(0, |half, (&count, place)| {
                (count >> self.bits == 0).then(|| half | u128::from(count) << (self.bits * place))
            })
        };
        let (first, second) = counts.split_at(self.in_half());
        Some((half(first)?, half(second)?))
    }

    fn unpack(self, (first, second): Key) -> Vec<u32> {
        let count = |place: usize| {
            let in_half = self.in_half();
            let (half, at) = if place < in_half { (first, place) } else { (second, place - in_half) };
            let count = half >> (self.bits * at) & ((1 << self.bits) - 1);
            u32::try_from(count).expect("it has no more bits than that")
        };
        (0..self.links).map(count).collect()
    }
}

#[cfg(test)]
mod tests;
