//! A state of the kept devices, and the passes that can come next.

use super::chain::{Chain, Link};
use crate::certificate::Objective;
use crate::model::{Ticks, Units};

/// How many microbatches are where, but not when.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Counts {
    /// By link: how many have run the link before and not this one. The first has none: microbatches
    /// without end wait for it.
    pub waiting: Vec<u32>,
    /// By W of [`Chain::weights`]: how many have run I and not W.
    pub pending: Vec<u32>,
}

impl Counts {
    /// How many passes the microbatches under way have still to run.
    pub(super) fn remaining(&self) -> u64 {
        remaining(&self.waiting) + self.pending.iter().map(|&count| u64::from(count)).sum::<u64>()
    }
}

/// How many passes the microbatches that wait for links have still to run.
pub(super) fn remaining(waiting: &[u32]) -> u64 {
    let links = waiting.len();
    let stages = links / 2;
    let of_link = |(at, &count): (usize, &u32)| {
        // The links from here on, and the W of each I among them.
        let inputs = (links - at).min(stages);
        u64::from(count) * (links - at + inputs) as u64
    };
    waiting.iter().enumerate().map(of_link).sum()
}

/// From when on devices and microbatches may go on, at the earliest: a point that gets no worse by being smaller.
///
/// First the instants from which each device is free; then, link by link, the instants from which the
/// microbatches that wait for it may run it; then, while draining, the last end so far.
pub(super) type Times = Vec<Ticks>;

/// What a device can run next.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Choice {
    Link(usize),
    Weight(usize),
    /// The I that is this link, and the W of its microbatch, as one pass.
    Whole(usize),
    /// One of [`Chain::pairs`].
    Pair(usize),
}

/// Whether microbatches still come, or the last has come.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// The first link may be run.
    Feeding,
    /// It may not, and the times end with the last end so far, by this objective.
    Draining(Objective),
}

/// The state in which nothing has begun.
pub(super) fn empty(chain: &Chain) -> (Counts, Times) {
    let counts = Counts { waiting: vec![0; chain.links.len()], pending: vec![0; chain.weights.len()] };
    (counts, vec![Ticks::ZERO; chain.capacity.len()])
}

/// The times with the last end so far behind them, right after the first link of the last microbatch.
pub(super) fn with_end(chain: &Chain, times: &[Ticks], objective: Objective) -> Times {
    let first = &chain.links[0];
    let end = times[first.device];
    let last_end = match objective {
        Objective::Makespan => end + first.tail,
        // What follows the last pass of the device comes after its backward.
        Objective::DeviceSpan => end,
    };
    let mut times = times.to_vec();
    times.push(last_end);
    times
}

/// The states with equal counts, and what follows from these alone.
pub(super) struct Class<'a> {
    chain: &'a Chain,
    phase: Phase,
    counts: &'a Counts,
    /// By link: where its instants begin in the times.
    queues: Vec<usize>,
    /// By device: what is live.
    live: Vec<Units>,
    /// The passes that may fill a gap.
    fillers: Vec<Filler>,
}

/// A single pass that takes no memory from any other, and what its start depends on.
struct Filler {
    choice: Choice,
    device: usize,
    duration: Ticks,
    /// Where the instant from which it may run is in the times, if it waits for any.
    waits_for: Option<usize>,
}

impl<'a> Class<'a> {
    pub(super) fn new(chain: &'a Chain, phase: Phase, counts: &'a Counts) -> Self {
        let mut at = chain.capacity.len();
        let queues = counts.waiting.iter().map(|&count| {
            let begins = at;
            at += count as usize;
            begins
        });
        let queues = queues.collect();
        let mut live = vec![Units::ZERO; chain.capacity.len()];
        for stage in &chain.stages {
            let forwards: u32 = counts.waiting[stage.forward + 1..=stage.input].iter().sum();
            live[stage.device] += stage.until_input * i64::from(forwards);
        }
        for (weight, &pending) in chain.weights.iter().zip(&counts.pending) {
            live[weight.device] += weight.held * i64::from(pending);
        }
        let mut class = Self { chain, phase, counts, queues, live, fillers: Vec::new() };
        let free = class.turns().filter(|&choice| class.is_free(choice));
        let fillers = free.map(|choice| Filler {
            choice,
            device: class.device(choice),
            duration: class.duration(choice),
            waits_for: class.links(choice).next().map(|link| class.queues[link]),
        });
        class.fillers = fillers.collect();
        class
    }

    /// The passes whose turn it is, and for which there is room.
    pub(super) fn choices(&self) -> impl Iterator<Item = Choice> + '_ {
        self.turns().filter(|&choice| self.has_room(choice))
    }

    /// How long the pass takes if it begins a microbatch.
    pub(super) fn begins(&self, choice: Choice) -> Option<Ticks> {
        self.links(choice).any(|link| link == 0).then(|| self.duration(choice))
    }

    /// The links that the pass runs.
    fn links(&self, choice: Choice) -> impl Iterator<Item = usize> + use<> {
        self.up_to_two_links(choice).into_iter().flatten()
    }

    /// The same, with nothing in place of those that it does not run.
    fn up_to_two_links(&self, choice: Choice) -> [Option<usize>; 2] {
        match choice {
            Choice::Link(link) | Choice::Whole(link) => [Some(link), None],
            Choice::Weight(_) => [None, None],
            Choice::Pair(pair) => {
                let pair = &self.chain.pairs[pair];
                [Some(pair.forward), Some(pair.input)]
            }
        }
    }

    /// Whether the W of its microbatch is part of the pass.
    fn has_weight(&self, choice: Choice) -> bool {
        match choice {
            Choice::Link(_) => false,
            Choice::Weight(_) | Choice::Whole(_) => true,
            Choice::Pair(pair) => self.chain.pairs[pair].is_whole,
        }
    }

    /// The counts after the pass.
    pub(super) fn counts_after(&self, choice: Choice) -> Counts {
        let mut counts = self.counts.clone();
        if let Choice::Weight(weight) = choice {
            counts.pending[weight] -= 1;
        }
        for at in self.links(choice) {
            let link = &self.chain.links[at];
            if at > 0 {
                counts.waiting[at] -= 1;
            }
            if let Some(next) = counts.waiting.get_mut(at + 1) {
                *next += 1;
            }
            if !link.is_forward && !self.has_weight(choice) {
                counts.pending[self.chain.stages[link.stage].weight] += 1;
            }
        }
        counts
    }

    /// Writes the times after a pass that begins as early as it can; no times where another pass would fill the gap before
    /// it.
    pub(super) fn times_after(&self, choice: Choice, times: &[Ticks], after: &mut Times) -> Option<()> {
        let start = self.start(choice, times);
        let fills = |other: &Filler| {
            let free = times[other.device];
            let begin = other.waits_for.map_or(free, |at| free.max(times[at]));
            begin < start && begin + other.duration <= start && other.choice != choice
        };
        if self.fillers.iter().any(fills) {
            return None;
        }
        self.write_after(choice, start, times, after);
        Some(())
    }

    /// A choice that it is enough to follow, if there is one: nothing can start before it, and whatever else its device could run next
    /// would leave the gap that it fills.
    pub(super) fn only(&self, choices: &[Choice], times: &[Ticks]) -> Option<Choice> {
        let now = choices.iter().map(|&choice| self.start(choice, times)).min()?;
        let is_only = |filler: &&Filler| {
            let leaves_gap = |&other: &Choice| {
                other == filler.choice
                    || self.device(other) != filler.device
                    || now + filler.duration <= self.start(other, times)
            };
            self.start(filler.choice, times) == now
                && choices.iter().all(leaves_gap)
                && self.ends_first(filler.choice)
        };
        self.fillers.iter().find(is_only).map(|filler| filler.choice)
    }

    /// Whether the pass, if no other starts earlier, ends before a microbatch can arrive at a link of its device for which none waits. What
    /// takes no time may start beside others, and says nothing.
    fn ends_first(&self, choice: Choice) -> bool {
        let (device, duration) = (self.device(choice), self.duration(choice));
        let arrives = |(links, &waiting): (&[Link], &u32)| {
            let (before, link) = (&links[0], &links[1]);
            link.device == device && waiting == 0 && before.duration + before.lag < duration
        };
        duration > Ticks::ZERO && !self.chain.links.windows(2).zip(&self.counts.waiting[1..]).any(arrives)
    }

    /// The passes whose turn it is.
    fn turns(&self) -> impl Iterator<Item = Choice> + '_ {
        let waits = |link: usize| match link {
            0 => self.phase == Phase::Feeding,
            _ => self.counts.waiting[link] > 0,
        };
        let links = (0..self.chain.links.len()).filter(move |&link| waits(link));
        let weights = (0..self.chain.weights.len()).filter(|&weight| self.counts.pending[weight] > 0);
        let inputs = self.chain.stages.iter().filter(|stage| stage.whole_beside.is_some());
        let wholes = inputs.map(|stage| stage.input).filter(move |&input| waits(input));
        let pairs = self.chain.pairs.iter().enumerate();
        let pairs = pairs.filter(move |(_, pair)| waits(pair.forward) && waits(pair.input)).map(|(at, _)| at);
        links
            .map(Choice::Link)
            .chain(weights.map(Choice::Weight))
            .chain(wholes.map(Choice::Whole))
            .chain(pairs.map(Choice::Pair))
    }

    fn device(&self, choice: Choice) -> usize {
        match choice {
            Choice::Link(link) | Choice::Whole(link) => self.chain.links[link].device,
            Choice::Weight(weight) => self.chain.weights[weight].device,
            Choice::Pair(pair) => self.chain.links[self.chain.pairs[pair].forward].device,
        }
    }

    fn duration(&self, choice: Choice) -> Ticks {
        match choice {
            Choice::Link(link) => self.chain.links[link].duration,
            Choice::Weight(weight) => self.chain.weights[weight].duration,
            Choice::Whole(input) => self.chain.links[input].duration + self.weight_duration(input),
            Choice::Pair(pair) => self.chain.pairs[pair].duration,
        }
    }

    /// How long the W that follows an I takes.
    fn weight_duration(&self, input: usize) -> Ticks {
        self.chain.weights[self.chain.stages[self.chain.links[input].stage].weight].duration
    }

    fn start(&self, choice: Choice, times: &[Ticks]) -> Ticks {
        let free = times[self.device(choice)];
        let waiting = self.links(choice).filter(|&link| link > 0);
        waiting.map(|link| times[self.queues[link]]).fold(free, Ticks::max)
    }

    /// How much more is held from the start of the pass on, and what the device holds besides while it runs.
    fn needs(&self, choice: Choice) -> (Units, Units) {
        let Chain { links, stages, weights, pairs, .. } = self.chain;
        match choice {
            Choice::Link(link) => (links[link].acquires, links[link].beside),
            Choice::Weight(weight) => (Units::ZERO, weights[weight].beside),
            Choice::Whole(input) => {
                (Units::ZERO, stages[links[input].stage].whole_beside.unwrap_or_default())
            }
            Choice::Pair(pair) => {
                let pair = &pairs[pair];
                let of_input = if pair.is_whole { Units::ZERO } else { links[pair.input].acquires };
                (links[pair.forward].acquires + of_input, pair.beside)
            }
        }
    }

    /// Whether the device may hold what the pass needs.
    fn has_room(&self, choice: Choice) -> bool {
        let (device, (acquires, beside)) = (self.device(choice), self.needs(choice));
        let needed = acquires + beside;
        // What is held already has room.
        needed == Units::ZERO
            || self.chain.capacity[device].is_none_or(|capacity| self.live[device] + needed <= capacity)
    }

    /// Whether the pass may run as early as it can without taking memory from any other, and is in no pair.
    fn is_free(&self, choice: Choice) -> bool {
        let is_single = match choice {
            Choice::Link(link) => link > 0 && !self.chain.links[link].is_in_pairs,
            Choice::Weight(_) => true,
            Choice::Whole(_) | Choice::Pair(_) => false,
        };
        is_single
            && (self.needs(choice).0 == Units::ZERO || self.chain.capacity[self.device(choice)].is_none())
            && self.has_room(choice)
            && self.leaves_room_for_weight(choice)
    }

    /// Whether the W of an I that was to run as one with it has room there without it.
    fn leaves_room_for_weight(&self, choice: Choice) -> bool {
        let Choice::Link(link) = choice else { return true };
        let Link { is_forward, stage, .. } = self.chain.links[link];
        let stage = &self.chain.stages[stage];
        is_forward || stage.whole_beside.is_none_or(|whole| self.chain.weights[stage.weight].beside <= whole)
    }

    fn write_after(&self, choice: Choice, start: Ticks, times: &[Ticks], after: &mut Times) {
        let (chain, ran, links) = (self.chain, self.device(choice), self.up_to_two_links(choice));
        let end = start + self.duration(choice);
        after.clear();
        // Passes are run in the order of their starts: no device starts another before this one.
        after.extend(times[..chain.capacity.len()].iter().map(|&free| free.max(start)));
        after[ran] = end;
        for link in 1..chain.links.len() {
            let begins = self.queues[link];
            let mut queue = &times[begins..begins + self.counts.waiting[link] as usize];
            if links.contains(&Some(link)) {
                queue = &queue[1..];
            }
            let arrived = links.contains(&Some(link - 1)).then(|| end + chain.links[link - 1].lag);
            // None starts before its device is free, nor before those in front of it have run.
            let Link { device, duration, .. } = chain.links[link];
            let mut earliest = after[device];
            for &instant in queue.iter().chain(&arrived) {
                earliest = earliest.max(instant);
                after.push(earliest);
                earliest += duration;
            }
        }
        if let Phase::Draining(objective) = self.phase {
            let before = times[times.len() - 1];
            after.push(before.max(self.last_end(choice, end, objective)));
        }
    }

    /// How far the objective reaches at the least because of a pass that ends then.
    fn last_end(&self, choice: Choice, end: Ticks, objective: Objective) -> Ticks {
        let device = self.device(choice);
        let tail = self.chain.tails[device];
        if objective == Objective::DeviceSpan {
            // The device that begins; of the others the first start is not known.
            return if device == self.chain.links[0].device { end + tail } else { Ticks::ZERO };
        }
        let of_links = self.links(choice).map(|link| {
            let Link { is_forward, tail, .. } = self.chain.links[link];
            // What follows an I may be its own W.
            if !is_forward && self.has_weight(choice) { tail - self.weight_duration(link) } else { tail }
        });
        end + of_links.max().map_or(tail, |most| if self.has_weight(choice) { most.max(tail) } else { most })
    }
}
