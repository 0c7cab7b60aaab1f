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
    /// By stage: how many have run I and not W.
    pub pending: Vec<u32>,
}

impl Counts {
    /// How many passes the microbatches under way have still to run.
    pub(super) fn remaining(&self) -> u64 {
        let links = self.waiting.len();
        let stages = self.pending.len();
        let waiting = self.waiting.iter().enumerate().map(|(at, &count)| {
            // The links from here on, and the W of each I among them.
            let inputs = (links - at).min(stages);
            u64::from(count) * (links - at + inputs) as u64
        });
        waiting.sum::<u64>() + self.pending.iter().map(|&count| u64::from(count)).sum::<u64>()
    }
}

/// From when on devices and microbatches may go on, at the earliest: a point that gets no worse by being smaller.
///
/// First the instants from which each device is free; then, link by link, the instants from which the
/// microbatches that wait for it may run it; then, while draining, the last end so far.
pub(super) type Times = Vec<Ticks>;

/// What a device can run next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Choice {
    Link(usize),
    Weight(usize),
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
    let counts = Counts { waiting: vec![0; chain.links.len()], pending: vec![0; chain.stages.len()] };
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

/// A state that follows another, and whether it began a microbatch.
pub(super) struct Next {
    pub counts: Counts,
    pub times: Times,
    pub begins: bool,
}

/// A state taken apart.
pub(super) struct State<'a> {
    chain: &'a Chain,
    phase: Phase,
    counts: &'a Counts,
    times: &'a [Ticks],
    /// By link: where its instants begin in the times.
    queues: Vec<usize>,
    /// By device: what is live.
    live: Vec<Units>,
}

impl<'a> State<'a> {
    pub(super) fn new(chain: &'a Chain, phase: Phase, counts: &'a Counts, times: &'a [Ticks]) -> Self {
        let mut at = chain.capacity.len();
        let queues = counts.waiting.iter().map(|&count| {
            let begins = at;
            at += count as usize;
            begins
        });
        let queues = queues.collect();
        let mut live = vec![Units::ZERO; chain.capacity.len()];
        for (stage, &pending) in chain.stages.iter().zip(&counts.pending) {
            let forwards: u32 = counts.waiting[stage.forward + 1..=stage.input].iter().sum();
            live[stage.device] +=
                stage.until_input * i64::from(forwards) + stage.until_weight * i64::from(pending);
        }
        Self { chain, phase, counts, times, queues, live }
    }

    /// Every state that one more pass leads to, but for those with a gap that another pass would fill.
    pub(super) fn for_each_next(&self, mut found: impl FnMut(Next)) {
        for choice in self.choices() {
            let start = self.start(choice);
            let filled = |&other: &Choice| {
                let begin = self.start(other);
                other != choice
                    && self.is_free(other)
                    && begin < start
                    && begin + self.duration(other) <= start
            };
            if self.has_room(choice) && !self.choices().any(|other| filled(&other)) {
                found(self.after(choice, start));
            }
        }
    }

    /// The passes whose turn it is.
    fn choices(&self) -> impl Iterator<Item = Choice> + '_ {
        let first = (self.phase == Phase::Feeding).then_some(Choice::Link(0));
        let links = (1..self.chain.links.len()).filter(|&link| self.counts.waiting[link] > 0);
        let weights = (0..self.chain.stages.len()).filter(|&stage| self.counts.pending[stage] > 0);
        first.into_iter().chain(links.map(Choice::Link)).chain(weights.map(Choice::Weight))
    }

    fn device(&self, choice: Choice) -> usize {
        match choice {
            Choice::Link(link) => self.chain.links[link].device,
            Choice::Weight(stage) => self.chain.stages[stage].device,
        }
    }

    fn duration(&self, choice: Choice) -> Ticks {
        match choice {
            Choice::Link(link) => self.chain.links[link].duration,
            Choice::Weight(stage) => self.chain.stages[stage].weight,
        }
    }

    fn start(&self, choice: Choice) -> Ticks {
        let free = self.times[self.device(choice)];
        match choice {
            Choice::Link(link) if link > 0 => free.max(self.times[self.queues[link]]),
            Choice::Link(_) | Choice::Weight(_) => free,
        }
    }

    /// What an F would hold, on a device that has a capacity.
    fn acquires(&self, link: &Link) -> Option<(Units, Units)> {
        let capacity = self.chain.capacity[link.device].filter(|_| link.is_forward)?;
        Some((self.chain.stages[link.stage].until_input, capacity))
    }

    /// Whether the device may hold what the pass acquires.
    fn has_room(&self, choice: Choice) -> bool {
        let Choice::Link(link) = choice else { return true };
        let link = &self.chain.links[link];
        self.acquires(link).is_none_or(|(units, capacity)| self.live[link.device] + units <= capacity)
    }

    /// Whether the pass may run as early as it can without taking memory from any other.
    fn is_free(&self, choice: Choice) -> bool {
        match choice {
            Choice::Link(link) if link > 0 => {
                self.acquires(&self.chain.links[link]).is_none_or(|(units, _)| units == Units::ZERO)
            }
            Choice::Link(_) => false,
            Choice::Weight(_) => true,
        }
    }

    fn after(&self, choice: Choice, start: Ticks) -> Next {
        let (chain, ran) = (self.chain, self.device(choice));
        let end = start + self.duration(choice);
        let mut counts = self.counts.clone();
        let mut times = Vec::with_capacity(self.times.len() + 1);
        // Passes are run in the order of their starts: no device starts another before this one.
        times.extend(self.times[..chain.capacity.len()].iter().map(|&free| free.max(start)));
        times[ran] = end;
        for link in 1..chain.links.len() {
            let begins = self.queues[link];
            let mut queue = &self.times[begins..begins + self.counts.waiting[link] as usize];
            if choice == Choice::Link(link) {
                queue = &queue[1..];
                counts.waiting[link] -= 1;
            }
            let mut arrived = None;
            if choice == Choice::Link(link - 1) {
                arrived = Some(end + chain.links[link - 1].lag);
                counts.waiting[link] += 1;
            }
            // None starts before its device is free, nor before those in front of it have run.
            let Link { device, duration, .. } = chain.links[link];
            let mut earliest = times[device];
            for &instant in queue.iter().chain(&arrived) {
                earliest = earliest.max(instant);
                times.push(earliest);
                earliest += duration;
            }
        }
        match choice {
            Choice::Weight(stage) => counts.pending[stage] -= 1,
            Choice::Link(link) if !chain.links[link].is_forward => {
                counts.pending[chain.links[link].stage] += 1;
            }
            Choice::Link(_) => {}
        }
        if let Phase::Draining(objective) = self.phase {
            let before = self.times[self.times.len() - 1];
            times.push(before.max(self.last_end(choice, end, objective)));
        }
        Next { counts, times, begins: choice == Choice::Link(0) }
    }

    /// How far the objective reaches at the least because of a pass that ends then.
    fn last_end(&self, choice: Choice, end: Ticks, objective: Objective) -> Ticks {
        let device = self.device(choice);
        match (objective, choice) {
            (Objective::Makespan, Choice::Link(link)) => end + self.chain.links[link].tail,
            (Objective::Makespan, Choice::Weight(_)) => end + self.chain.tails[device],
            // The device that begins; of the others the first start is not known.
            (Objective::DeviceSpan, _) if device == self.chain.links[0].device => {
                end + self.chain.tails[device]
            }
            (Objective::DeviceSpan, _) => Ticks::ZERO,
        }
    }
}
