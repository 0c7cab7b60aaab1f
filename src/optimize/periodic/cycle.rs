//! The least interval of given orders: the largest ratio of a cycle of passes that wait for each
//! other.

use std::collections::VecDeque;

use num_rational::Ratio;

use super::order::{Neighbours, Orders};
use crate::encode::Problem;

/// Why one pass waits for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wait {
    /// A link of the problem.
    Link(usize),
    /// It comes next on the device.
    Turn,
}

/// The least interval of orders, and what sets it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pace {
    pub interval: Ratio<i64>,
    /// The places of the orders on a cycle of that ratio. None when the interval is the least that was
    /// asked about.
    pub critical: Vec<Neighbours>,
}

/// Finds the least interval, again and again, for orders that change little.
pub(super) struct Pacer<'a> {
    problem: &'a Problem,
    /// By pass: the links to what waits for it.
    links: Vec<Vec<usize>>,
    /// By pass: its device.
    device: Vec<usize>,
    /// By pass: a start, in parts of a tick; a good guess to begin with.
    starts: Vec<i64>,
    parts: i64,
    /// By pass: what last raised its start, and why.
    raised_by: Vec<Option<(usize, Wait)>>,
    queue: VecDeque<usize>,
    queued: Vec<bool>,
    /// The largest sum of durations and latencies along a path.
    longest: i64,
}

impl<'a> Pacer<'a> {
    /// Starts stay below this in parts of a tick, and so can be added.
    const MOST: i64 = 1 << 60;

    pub fn new(problem: &'a Problem) -> Self {
        let passes = problem.passes().len();
        let mut links = vec![Vec::new(); passes];
        for (at, link) in problem.links().iter().enumerate() {
            links[link.before].push(at);
        }
        let mut device = vec![0; passes];
        for (at, group) in problem.groups().iter().enumerate() {
            for &pass in group {
                device[pass] = at;
            }
        }
        Self {
            problem,
            links,
            device,
            starts: vec![0; passes],
            parts: 1,
            raised_by: vec![None; passes],
            queue: VecDeque::new(),
            queued: vec![false; passes],
            longest: problem.serial(),
        }
    }

    /// The least interval of the orders that is not below `floor`; nothing when they are a deadlock.
    pub fn pace(&mut self, orders: &Orders, floor: Ratio<i64>) -> Option<Pace> {
        let (mut interval, mut critical) = (floor, Vec::new());
        loop {
            match self.settle(orders, interval) {
                Settled::Feasible => return Some(Pace { interval, critical }),
                Settled::Cycle { weight, turns, places } => {
                    if turns <= 0 {
                        return None;
                    }
                    (interval, critical) = (Ratio::new(weight, turns), places);
                }
                Settled::TooLarge => return None,
            }
        }
    }

    /// Raises starts until nothing is too early at an interval, or a cycle is found that never lets
    /// it end. Any starts will do to begin with.
    fn settle(&mut self, orders: &Orders, interval: Ratio<i64>) -> Settled {
        let (numer, denom) = (*interval.numer(), *interval.denom());
        let size = denom.checked_mul(self.longest).filter(|&size| size < Self::MOST / 1024);
        if size.is_none() || numer > Self::MOST / 1024 {
            return Settled::TooLarge;
        }
        if self.parts != denom {
            for start in &mut self.starts {
                *start = scaled(*start, denom, self.parts);
            }
            self.parts = denom;
        }
        self.raised_by.fill(None);
        self.queue.clear();
        self.queue.extend(0..self.starts.len());
        self.queued.fill(true);
        let mut raised = 0;
        while let Some(before) = self.queue.pop_front() {
            self.queued[before] = false;
            let place = Neighbours { device: self.device[before], slot: orders.slot_of(before) };
            let (_, next, turns) = orders.at(place);
            let duration = self.problem.durations()[before];
            raised += i64::from(self.raise(before, next, Wait::Turn, duration * denom + turns * numer));
            for at in 0..self.links[before].len() {
                let link = self.problem.links()[self.links[before][at]];
                let wait = Wait::Link(self.links[before][at]);
                raised += i64::from(self.raise(before, link.after, wait, link.lag * denom));
            }
            if raised >= self.starts.len() as i64 {
                raised = 0;
                if let Some(cycle) = self.cycle(orders) {
                    return cycle;
                }
                if self.starts.iter().any(|start| start.abs() > Self::MOST) {
                    return Settled::TooLarge;
                }
            }
        }
        Settled::Feasible
    }

    fn raise(&mut self, before: usize, after: usize, wait: Wait, distance: i64) -> bool {
        let start = self.starts[before] + distance;
        if start <= self.starts[after] {
            return false;
        }
        self.starts[after] = start;
        self.raised_by[after] = Some((before, wait));
        if !self.queued[after] {
            self.queued[after] = true;
            self.queue.push_back(after);
        }
        true
    }

    /// A cycle among what raised what: its length is positive.
    fn cycle(&self, orders: &Orders) -> Option<Settled> {
        let mut seen = vec![usize::MAX; self.starts.len()];
        for first in 0..self.starts.len() {
            let mut pass = first;
            while seen[pass] == usize::MAX {
                seen[pass] = first;
                let Some((before, _)) = self.raised_by[pass] else { break };
                pass = before;
            }
            if seen[pass] == first && self.raised_by[pass].is_some() {
                return Some(self.around(orders, pass));
            }
        }
        None
    }

    fn around(&self, orders: &Orders, entry: usize) -> Settled {
        let (mut weight, mut turns, mut places, mut pass) = (0, 0, Vec::new(), entry);
        loop {
            let (before, wait) = self.raised_by[pass].expect("every pass of a cycle has been raised");
            match wait {
                Wait::Link(at) => weight += self.problem.links()[at].lag,
                Wait::Turn => {
                    let place = Neighbours { device: self.device[before], slot: orders.slot_of(before) };
                    weight += self.problem.durations()[before];
                    turns -= orders.at(place).2;
                    places.push(place);
                }
            }
            pass = before;
            if pass == entry {
                return Settled::Cycle { weight, turns, places };
            }
        }
    }
}

/// What has come of raising starts.
enum Settled {
    Feasible,
    /// A cycle with more weight than its turns have time for.
    Cycle {
        weight: i64,
        turns: i64,
        places: Vec<Neighbours>,
    },
    TooLarge,
}

/// `value * numer / denom`, rounded down.
fn scaled(value: i64, numer: i64, denom: i64) -> i64 {
    let exact = i128::from(value) * i128::from(numer) / i128::from(denom);
    i64::try_from(exact).unwrap_or_default()
}
