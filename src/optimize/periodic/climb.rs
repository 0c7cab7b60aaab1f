//! The search through orders.

use num_integer::Integer;
use num_rational::Ratio;

use super::cycle::{IntervalSolver, OrderInterval};
use super::order::{Neighbours, Orders};
use crate::encode::BlockProblem;
use crate::optimize::late::Late;
use crate::stop::Stop;

/// How many steps ago the first run compares with, per pass of the block; every other run adds as
/// many.
const MEMORY: usize = 5;

/// How long a run lasts, in times of its memory.
const STEPS_PER_MEMORY: usize = 50;

/// How much longer than the best interval a run from there may make it at first.
const SLACK: (i64, i64) = (9, 8);

/// One step in this many swaps any neighbours, on the critical cycle or not.
const ANYWHERE: usize = 8;

/// While a device is over its capacity, one step in this many swaps neighbours there.
const RELIEF: usize = 3;

/// Into how many parts a capacity is divided to count by how much it is exceeded.
const CAPACITY_PARTS: i128 = 8;

/// How many steps are taken between two looks at the clock.
const STEPS_PER_LOOK: usize = 256;

/// A search through the orders of a problem.
pub(super) struct Climb<'a> {
    problem: &'a BlockProblem,
    solver: IntervalSolver<'a>,
    /// By pass: what it leaves live on its device, in units.
    held: Vec<i64>,
    /// What an eighth of a capacity too much counts as, in ticks.
    price: i64,
    /// No interval is shorter.
    floor: Ratio<i64>,
    orders: Orders,
    pace: OrderInterval,
    /// By device: by how many eighths it exceeds its capacity.
    excess: Vec<i64>,
    best: (Ratio<i64>, Orders),
    random: fastrand::Rng,
}

impl<'a> Climb<'a> {
    /// A search that ends at an interval of `floor` and begins with orders that keep to the capacities.
    pub fn new(problem: &'a BlockProblem, orders: Orders, floor: Ratio<i64>, seed: u64) -> Self {
        let mut held = vec![0; problem.passes().len()];
        for hold in problem.holds().iter().flatten() {
            held[hold.from] += hold.units;
            held[hold.until] -= hold.units;
        }
        // Longer than any interval that keeps a device busy.
        let interval = Ratio::from_integer(problem.serial().saturating_add(1));
        Self {
            problem,
            solver: IntervalSolver::new(problem, floor),
            held,
            // An interval and the memory for it are about inversely proportional; twice that.
            price: (problem.most_work() / 4).max(1),
            floor,
            best: (interval, orders.clone()),
            pace: OrderInterval { interval, critical: Vec::new() },
            excess: vec![0; orders.devices()],
            orders,
            random: fastrand::Rng::with_seed(seed),
        }
    }

    /// The best orders after this many steps. Every other run begins where microbatches run alone, the rest
    /// with the best orders so far.
    pub fn run(mut self, mut steps: usize, stop: &Stop) -> Orders {
        let least = MEMORY * self.problem.passes().len();
        let mut memory = least;
        if !self.begin() {
            return self.best.1;
        }
        for run in 0.. {
            if steps == 0 || self.best.0 == self.floor || stop.is_due() {
                break;
            }
            let alone = run % 2 == 1;
            self.orders = if alone { Orders::serial(self.problem) } else { self.best.1.clone() };
            if !self.begin() {
                break;
            }
            let length = steps.min(memory * STEPS_PER_MEMORY);
            let limit = if alone { self.cost() } else { self.cost() * Ratio::new(SLACK.0, SLACK.1) };
            self.once(Late::new(limit, memory), length, stop);
            steps -= length;
            memory += if alone { least } else { 0 };
        }
        self.best.1
    }

    /// Takes stock of orders that keep to the capacities; false when their interval is unknown.
    fn begin(&mut self) -> bool {
        self.excess.fill(0);
        let pace = self.solver.take(&self.orders);
        pace.is_some_and(|pace| {
            self.pace = pace;
            self.keep();
            true
        })
    }

    fn once(&mut self, mut late: Late<Ratio<i64>>, steps: usize, stop: &Stop) {
        for step in 0..steps {
            if self.best.0 == self.floor || (step % STEPS_PER_LOOK == 0 && stop.is_due()) {
                return;
            }
            self.step(late.limit(self.cost()));
            late.note(self.cost());
        }
    }

    /// The interval, and what exceeding capacities adds to it.
    fn cost(&self) -> Ratio<i64> {
        self.pace.interval + self.burden()
    }

    fn burden(&self) -> i64 {
        self.excess.iter().sum::<i64>() * self.price
    }

    /// Swaps two neighbours if the cost is then not above a limit.
    fn step(&mut self, limit: Ratio<i64>) {
        let place = self.choose();
        let (first, second, _) = self.orders.at(place);
        if self.problem.in_turn(first, second) {
            return;
        }
        let excess = self.excess[place.device];
        self.orders.swap(place);
        // Only an acquisition and a release that change places change the peak.
        if self.held[first].signum() * self.held[second].signum() < 0 {
            self.excess[place.device] = self.excess_of(place.device);
        }
        let most = limit - self.burden();
        if let Some(pace) = self.solver.take_swapped(&self.orders, place, most) {
            self.pace = pace;
            self.keep();
        } else {
            self.orders.swap(place);
            self.excess[place.device] = excess;
        }
    }

    fn keep(&mut self) {
        if self.pace.interval < self.best.0 && self.excess.iter().all(|&excess| excess == 0) {
            self.best = (self.pace.interval, self.orders.clone());
        }
    }

    /// By how many eighths of its capacity a device exceeds it.
    fn excess_of(&self, device: usize) -> i64 {
        let Some(capacity) = self.problem.capacities()[device].map(i128::from) else { return 0 };
        let over = (self.orders.peak(device, &self.held) - capacity).max(0);
        // What would be more is far from anything worth keeping.
        i64::try_from(Integer::div_ceil(&(over * CAPACITY_PARTS), &capacity))
            .unwrap_or(i64::MAX >> 32)
            .min(1 << 10)
    }

    fn choose(&mut self) -> Neighbours {
        let over = self.excess.iter().filter(|&&excess| excess > 0).count();
        if over > 0 && self.random.usize(..RELIEF) == 0 {
            let mut devices = (0..).zip(&self.excess).filter(|&(_, &excess)| excess > 0);
            let (device, _) = devices.nth(self.random.usize(..over)).expect("there are so many");
            return Neighbours { device, slot: self.random.usize(..self.orders.passes(device)) };
        }
        let critical = &self.pace.critical;
        if !critical.is_empty() && self.random.usize(..ANYWHERE) > 0 {
            return critical[self.random.usize(..critical.len())];
        }
        let device = self.random.usize(..self.orders.devices());
        Neighbours { device, slot: self.random.usize(..self.orders.passes(device)) }
    }
}
