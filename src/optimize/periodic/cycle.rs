//! The least interval of given orders: the largest ratio of a cycle of passes that wait for each
//! other.

use std::collections::VecDeque;

use num_rational::Ratio;

use super::order::{Neighbours, Orders};
use crate::encode::BlockProblem;

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
pub(super) struct OrderInterval {
    pub interval: Ratio<i64>,
    /// The places of the orders on a cycle of that ratio. None when the interval is the least that was
    /// asked about.
    pub critical: Vec<Neighbours>,
}

/// Finds the least interval, again and again, for orders that change little.
pub(super) struct IntervalSolver<'a> {
    problem: &'a BlockProblem,
    /// By pass: the links to what waits for it.
    links: Vec<Vec<usize>>,
    /// By pass: its device.
    device: Vec<usize>,
    /// By pass: a start, in parts of a tick. Those of the last orders are a good guess for the next.
    starts: Vec<i64>,
    parts: i64,
    /// By pass: what last raised its start, and why.
    raised_by: Vec<Option<(usize, Wait)>>,
    queue: VecDeque<usize>,
    queued: Vec<bool>,
    /// By pass: from where it was reached last, while looking for a cycle.
    seen: Vec<usize>,
}

impl<'a> IntervalSolver<'a> {
    /// The most parts in an interval and in all passes one after another. Between two looks at the
    /// starts each pass raises others a few times, by at most a few thousand intervals.
    const MOST_PARTS: i64 = 1 << 40;

    /// The most parts of a start.
    const MOST_START: i64 = 1 << 61;

    /// The most repetitions between neighbours.
    const MOST_TURNS: i64 = 1 << 10;

    pub fn new(problem: &'a BlockProblem) -> Self {
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
            seen: vec![0; passes],
        }
    }

    /// The least interval of the orders that is not below `floor`; nothing when it is above `most`,
    /// the orders are a deadlock, or numbers become too large.
    pub fn pace(
        &mut self,
        orders: &Orders,
        floor: Ratio<i64>,
        most: Option<Ratio<i64>>,
    ) -> Option<OrderInterval> {
        let mut pace = OrderInterval { interval: floor, critical: Vec::new() };
        loop {
            match self.settle(orders, pace.interval)? {
                Settled::Feasible => return Some(pace),
                Settled::Cycle { weight, turns, places } => {
                    if turns <= 0 {
                        return None;
                    }
                    pace = OrderInterval { interval: Ratio::new(weight, turns), critical: places };
                    if most.is_some_and(|most| pace.interval > most) {
                        return None;
                    }
                }
            }
        }
    }

    /// Raises starts until nothing is too early at an interval, or a cycle is found that never lets
    /// it end; nothing when numbers become too large. Any starts will do to begin with.
    fn settle(&mut self, orders: &Orders, interval: Ratio<i64>) -> Option<Settled> {
        let (numer, denom) = (*interval.numer(), *interval.denom());
        let all = denom.checked_mul(self.problem.serial())?;
        if all > Self::MOST_PARTS || numer > Self::MOST_PARTS {
            return None;
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
            let (_, next, turns) = orders.at(self.place(orders, before));
            if turns.abs() > Self::MOST_TURNS {
                return None;
            }
            let distance = self.problem.durations()[before] * denom + turns * numer;
            raised += usize::from(self.raise(before, next, Wait::Turn, distance));
            for at in 0..self.links[before].len() {
                let at = self.links[before][at];
                let link = self.problem.links()[at];
                raised += usize::from(self.raise(before, link.after, Wait::Link(at), link.lag * denom));
            }
            if raised >= self.starts.len() {
                raised = 0;
                if let Some(entry) = self.pass_on_a_cycle() {
                    return Some(self.around(orders, entry));
                }
                if self.starts.iter().any(|start| start.abs() > Self::MOST_START) {
                    self.starts.fill(0);
                    return None;
                }
            }
        }
        Some(Settled::Feasible)
    }

    fn place(&self, orders: &Orders, pass: usize) -> Neighbours {
        Neighbours { device: self.device[pass], slot: orders.slot(pass) }
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

    /// A pass that has, by way of others, raised itself: around such a cycle passes wait longer than
    /// the interval allows.
    fn pass_on_a_cycle(&mut self) -> Option<usize> {
        const UNSEEN: usize = usize::MAX;
        self.seen.fill(UNSEEN);
        for first in 0..self.starts.len() {
            let mut pass = first;
            while self.seen[pass] == UNSEEN {
                self.seen[pass] = first;
                let Some((before, _)) = self.raised_by[pass] else { break };
                pass = before;
            }
            if self.seen[pass] == first && self.raised_by[pass].is_some() {
                return Some(pass);
            }
        }
        None
    }

    /// The cycle of what raised what through a pass.
    fn around(&self, orders: &Orders, entry: usize) -> Settled {
        let (mut weight, mut turns, mut places, mut pass) = (0, 0, Vec::new(), entry);
        loop {
            let (before, wait) = self.raised_by[pass].expect("every pass of a cycle has been raised");
            match wait {
                Wait::Link(at) => weight += self.problem.links()[at].lag,
                Wait::Turn => {
                    let place = self.place(orders, before);
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
}

/// `value * numer / denom`, about; 0 for what is too large.
fn scaled(value: i64, numer: i64, denom: i64) -> i64 {
    let exact = i128::from(value) * i128::from(numer) / i128::from(denom);
    i64::try_from(exact).ok().filter(|start| start.abs() <= IntervalSolver::MOST_START).unwrap_or_default()
}
