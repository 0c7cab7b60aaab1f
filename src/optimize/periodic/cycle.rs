//! The least interval of given orders: the largest ratio of a cycle of passes that wait for each
//! other.
//!
//! **After a swap** three waits have changed, and at the interval before, no other is too early. So raising begins with these three,
//! and every cycle that never lets it end leads through one of them. Its ratio is a longer interval to go on with; most swaps end here,
//! because it is longer than what was asked for. Otherwise the waits with the least slack form a cycle. Its ratio is the interval, or
//! a shorter one to go on with.

use std::collections::VecDeque;

use num_rational::Ratio;

use super::order::{Neighbours, Orders};
use super::starts::Starts;
use crate::encode::BlockProblem;

/// A pass that waits for another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Wait {
    after: usize,
    /// From the start of the other one, in ticks.
    lag: i64,
    /// By how many repetitions its number lies ahead.
    turns: i64,
}

/// The least interval of orders, and what sets it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OrderInterval {
    pub interval: Ratio<i64>,
    /// The places of the orders on a cycle of that ratio. None when the interval is the least that was
    /// asked about.
    pub critical: Vec<Neighbours>,
}

/// Finds the least interval, again and again, for orders that change little.
pub(super) struct IntervalSolver<'a> {
    problem: &'a BlockProblem,
    /// No interval is shorter.
    floor: Ratio<i64>,
    /// By pass: where what waits for it begins, and at the end how many waits there are.
    first: Vec<usize>,
    /// For each pass what is next on its device, and then its links.
    waits: Vec<Wait>,
    /// By pass: its device.
    device: Vec<usize>,
    /// Starts at which nothing is too early, for the orders that were taken last.
    settled: Starts,
    /// The starts that are being raised.
    starts: Starts,
    /// By pass: which pass last raised its start, or holds it back most, and by which wait.
    held_by: Vec<Option<(usize, usize)>>,
    queue: VecDeque<usize>,
    queued: Vec<bool>,
    /// By pass: from where it was reached last, while looking for a cycle.
    seen: Vec<usize>,
    /// Whether the last of equally tight waits is followed, not the first. It alternates, so that the search meets both cycles.
    takes_last: bool,
}

impl<'a> IntervalSolver<'a> {
    /// The most repetitions between neighbours.
    const MOST_TURNS: i64 = 1 << 10;

    pub fn new(problem: &'a BlockProblem, floor: Ratio<i64>) -> Self {
        let passes = problem.passes().len();
        let (mut first, mut waits) = (vec![0], Vec::new());
        for (pass, &lag) in problem.durations().iter().enumerate() {
            waits.push(Wait { after: pass, lag, turns: -1 });
            let links = problem.links().iter().filter(|link| link.before == pass);
            waits.extend(links.map(|link| Wait { after: link.after, lag: link.lag, turns: 0 }));
            first.push(waits.len());
        }
        let mut device = vec![0; passes];
        for (at, group) in problem.groups().iter().enumerate() {
            for &pass in group {
                device[pass] = at;
            }
        }
        Self {
            problem,
            floor,
            first,
            waits,
            device,
            settled: Starts::new(passes),
            starts: Starts::new(passes),
            held_by: vec![None; passes],
            queue: VecDeque::with_capacity(passes),
            queued: vec![false; passes],
            seen: vec![0; passes],
            takes_last: false,
        }
    }

    /// Takes orders: their least interval; nothing when they are a deadlock, or numbers become too large. Then orders must be taken again
    /// before a swap.
    pub fn take(&mut self, orders: &Orders) -> Option<OrderInterval> {
        for pass in 0..self.device.len() {
            self.look_at(orders, pass);
        }
        let taken = self.raised(orders, self.at_floor(), None)?;
        self.keep();
        Some(taken)
    }

    /// Takes the orders that were taken last with the passes of a place swapped, as they are now: their least interval. Nothing when
    /// it is above `most`, they are a deadlock, or numbers become too large: then those that were taken before still are.
    pub fn take_swapped(
        &mut self,
        orders: &Orders,
        place: Neighbours,
        most: Ratio<i64>,
    ) -> Option<OrderInterval> {
        let changed = orders.around(place);
        let before = changed.map(|pass| self.waits[self.first[pass]]);
        for pass in changed {
            self.look_at(orders, pass);
        }
        let taken = self.least_after(orders, changed, most);
        if taken.is_some() {
            self.keep();
        } else {
            // A pass that is there twice has the same wait both times.
            changed.iter().zip(before).for_each(|(&pass, next)| self.waits[self.first[pass]] = next);
        }
        taken
    }

    /// The least interval if nothing has changed but what comes after these passes.
    fn least_after(
        &mut self,
        orders: &Orders,
        changed: [usize; 3],
        most: Ratio<i64>,
    ) -> Option<OrderInterval> {
        let last = self.settled.interval;
        self.starts.copy_from(&self.settled);
        self.held_by.fill(None);
        for pass in changed {
            self.put(pass);
        }
        let least = if let Some(cycle) = self.raise_queued(orders, &changed).ok()? {
            cycle.interval()?
        } else {
            let tightest = self.tightest(orders).filter(|tightest| tightest.interval > self.floor);
            tightest.unwrap_or_else(|| self.at_floor())
        };
        if least.interval > most {
            return None;
        }
        // That of a cycle which never lets it end is longer: so nothing is too early.
        if least.interval == last {
            return Some(least);
        }
        self.raised(orders, least, Some(most))
    }

    /// The least interval that was asked about.
    const fn at_floor(&self) -> OrderInterval {
        OrderInterval { interval: self.floor, critical: Vec::new() }
    }

    /// The least interval that is not below that of `least`; nothing when it is above `most`, the orders are a deadlock, or numbers
    /// become too large. Any starts will do to begin with.
    fn raised(
        &mut self,
        orders: &Orders,
        mut least: OrderInterval,
        most: Option<Ratio<i64>>,
    ) -> Option<OrderInterval> {
        loop {
            self.starts.set_interval(least.interval);
            self.held_by.fill(None);
            (0..self.device.len()).for_each(|pass| self.put(pass));
            let Some(cycle) = self.raise_queued(orders, &[]).ok()? else { return Some(least) };
            least = cycle.interval()?;
            if most.is_some_and(|most| least.interval > most) {
                return None;
            }
        }
    }

    /// Keeps the starts as those of the orders that were taken last.
    fn keep(&mut self) {
        self.starts.begin_at_zero();
        self.settled.copy_from(&self.starts);
    }

    fn look_at(&mut self, orders: &Orders, pass: usize) {
        let (_, after, turns) = orders.at(self.place(orders, pass));
        let next = &mut self.waits[self.first[pass]];
        *next = Wait { after, turns, ..*next };
    }

    fn place(&self, orders: &Orders, pass: usize) -> Neighbours {
        Neighbours { device: self.device[pass], slot: orders.slot(pass) }
    }

    fn put(&mut self, pass: usize) {
        if !self.queued[pass] {
            self.queued[pass] = true;
            self.queue.push_back(pass);
        }
    }

    /// Raises starts from those in the queue on, until nothing is too early, or a cycle is found that never lets
    /// it end. Where such a cycle must lead through one of a few passes, it is looked for whenever one of these is raised.
    fn raise_queued(&mut self, orders: &Orders, through: &[usize]) -> Result<Option<Cycle>, TooLarge> {
        let entry = self.raise_or_find(through);
        // The next call begins with an empty queue.
        for pass in self.queue.drain(..) {
            self.queued[pass] = false;
        }
        Ok(entry?.map(|entry| self.around(orders, entry)))
    }

    /// A pass of the cycle, if there is one.
    fn raise_or_find(&mut self, through: &[usize]) -> Result<Option<usize>, TooLarge> {
        let (numer, denom) = (*self.starts.interval.numer(), *self.starts.interval.denom());
        let all = denom.checked_mul(self.problem.serial()).ok_or(TooLarge)?;
        if all > Starts::MOST_PARTS || numer > Starts::MOST_PARTS {
            return Err(TooLarge);
        }
        let mut raised = 0;
        while let Some(before) = self.queue.pop_front() {
            self.queued[before] = false;
            if self.waits[self.first[before]].turns.abs() > Self::MOST_TURNS {
                return Err(TooLarge);
            }
            for at in self.first[before]..self.first[before + 1] {
                let Wait { after, lag, turns } = self.waits[at];
                let start = self.starts.of[before] + lag * denom + turns * numer;
                if start <= self.starts.of[after] {
                    continue;
                }
                self.starts.of[after] = start;
                self.held_by[after] = Some((before, at));
                self.put(after);
                raised += 1;
                if through.contains(&after)
                    && let Some(entry) = self.cycle_behind(after)
                {
                    return Ok(Some(entry));
                }
            }
            if raised >= self.device.len() {
                raised = 0;
                if let Some(&entry) = self.passes_on_cycles().first() {
                    return Ok(Some(entry));
                }
                if self.starts.are_too_large() {
                    self.starts.of.fill(0);
                    return Err(TooLarge);
                }
            }
        }
        Ok(None)
    }

    /// A pass on a cycle of what holds back what, if going back from a pass leads to one.
    fn cycle_behind(&self, pass: usize) -> Option<usize> {
        let mut behind = pass;
        for _ in 0..self.device.len() {
            (behind, _) = self.held_by[behind]?;
            if behind == pass {
                break;
            }
        }
        Some(behind)
    }

    /// One pass of each cycle of what holds back what. Around one of passes that have raised themselves, they wait longer than the
    /// interval allows.
    fn passes_on_cycles(&mut self) -> Vec<usize> {
        const UNSEEN: usize = usize::MAX;
        self.seen.fill(UNSEEN);
        let mut found = Vec::new();
        for first in 0..self.device.len() {
            let mut pass = first;
            while self.seen[pass] == UNSEEN {
                self.seen[pass] = first;
                let Some((before, _)) = self.held_by[pass] else { break };
                pass = before;
            }
            if self.seen[pass] == first && self.held_by[pass].is_some() {
                found.push(pass);
            }
        }
        found
    }

    /// The largest ratio of a cycle on which each pass follows what holds it back most. Nothing is too early at the starts.
    fn tightest(&mut self, orders: &Orders) -> Option<OrderInterval> {
        let (numer, denom) = (*self.starts.interval.numer(), *self.starts.interval.denom());
        let mut slack = vec![i64::MAX; self.device.len()];
        self.takes_last = !self.takes_last;
        for before in 0..self.device.len() {
            for at in self.first[before]..self.first[before + 1] {
                let Wait { after, lag, turns } = self.waits[at];
                let left = self.starts.of[after] - self.starts.of[before] - lag * denom - turns * numer;
                if left < slack[after] || (self.takes_last && left == slack[after]) {
                    (slack[after], self.held_by[after]) = (left, Some((before, at)));
                }
            }
        }
        let entries = self.passes_on_cycles();
        let intervals = entries.into_iter().filter_map(|entry| self.around(orders, entry).interval());
        intervals.max_by_key(|of_cycle| of_cycle.interval)
    }

    /// The cycle of what holds back what through a pass.
    fn around(&self, orders: &Orders, entry: usize) -> Cycle {
        let (mut cycle, mut pass) = (Cycle { weight: 0, turns: 0, places: Vec::new() }, entry);
        loop {
            let (before, at) = self.held_by[pass].expect("every pass of a cycle is held back");
            let Wait { lag, turns, .. } = self.waits[at];
            cycle.weight += lag;
            cycle.turns -= turns;
            if at == self.first[before] {
                cycle.places.push(self.place(orders, before));
            }
            pass = before;
            if pass == entry {
                return cycle;
            }
        }
    }
}

/// Numbers have become too large to go on.
struct TooLarge;

/// Passes that wait for each other.
struct Cycle {
    weight: i64,
    turns: i64,
    places: Vec<Neighbours>,
}

impl Cycle {
    /// The interval that it sets; nothing where no interval is long enough.
    fn interval(self) -> Option<OrderInterval> {
        let Self { weight, turns, places } = self;
        (turns > 0).then(|| OrderInterval { interval: Ratio::new(weight, turns), critical: places })
    }
}
