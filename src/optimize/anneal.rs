//! Annealing: small moves where a schedule is critical, each judged by its ASAP times.
//!
//! A schedule gets shorter only if some pair of passes changes that follow each other on a device without idle time, on
//! a longest chain. So moves are drawn from these pairs: one of the two passes goes a few places ahead or back. For the
//! device span, the chain is one to the end of a device that takes longest at the ASAP times. Moves that make it no
//! longer are taken, longer ones with a probability that falls as the work goes on (Kirkpatrick, Gelatt and Vecchi,
//! 1983).

use super::lengths::lengths;
use crate::certificate::Objective;
use crate::kernel::{EndTimes, IndexedOrders, IndexedPass, IndexedProblem};
use crate::stop::Stop;

/// How far a pass is moved at most.
const REACH: usize = 12;

/// Orders being annealed.
pub(super) struct Annealing<'a> {
    problem: &'a IndexedProblem,
    orders: IndexedOrders,
    times: EndTimes,
    /// By cell: the place of the pass in the order of its device.
    places: Vec<u32>,
    /// Pairs of neighbours on a longest chain: device and place of the second.
    critical: Vec<(usize, usize)>,
    objective: Objective,
    random: fastrand::Rng,
    /// How much worse a move may be in the beginning, in typical durations.
    heat: f64,
    /// Passes placed so far: what the work is measured in.
    pub placed: usize,
}

impl<'a> Annealing<'a> {
    pub(super) fn new(
        problem: &'a IndexedProblem,
        orders: IndexedOrders,
        objective: Objective,
        heat: f64,
        seed: u64,
    ) -> Self {
        let mut annealing = Self {
            problem,
            orders,
            times: EndTimes::default(),
            places: vec![0; problem.cells()],
            critical: Vec::new(),
            objective,
            random: fastrand::Rng::with_seed(seed),
            heat,
            placed: 0,
        };
        for device in 0..annealing.orders.len() {
            annealing.place(device, 0, annealing.orders[device].len());
        }
        annealing
    }

    fn place(&mut self, device: usize, from: usize, to: usize) {
        for at in from..to {
            let cell = self.problem.cell(self.orders[device][at]);
            self.places[cell] = u32::try_from(at).expect("places are counted in 32 bits");
        }
    }

    /// Anneals for so much work, until `target` is reached, or until it is time to stop; the shortest orders met.
    pub(super) fn run(&mut self, work: usize, target: i64, stop: &Stop) -> IndexedOrders {
        let passes = self.problem.passes();
        let mut best = self.orders.clone();
        if !self.problem.asap(&self.orders, &mut self.times) {
            return best;
        }
        let measure = |this: &Self| {
            let (value, other) = lengths(this.problem, this.objective, &this.orders, &this.times);
            match this.objective {
                Objective::Makespan => (value, value),
                Objective::DeviceSpan => (value, other),
            }
        };
        let (mut now, mut makespan) = measure(self);
        let mut least = now;
        self.find_critical();
        let typical = typical_duration(self.problem);
        while self.placed < work && least > target && !stop.is_due() {
            self.placed += passes / 8 + 1;
            let Some((device, from, to)) = self.draw() else {
                // Nothing is left to draw from: look at another longest chain.
                self.problem.asap(&self.orders, &mut self.times);
                self.placed += passes;
                self.find_critical();
                continue;
            };
            #[expect(clippy::cast_precision_loss, reason = "the share of the work done steers, nothing more")]
            let left = 1.0 - self.placed as f64 / work as f64;
            let temperature = typical * self.heat * left.max(0.02);
            #[expect(clippy::cast_possible_truncation, reason = "a few durations long")]
            let worse = (-self.random.f64().max(1e-9).ln() * temperature) as i64;
            self.shift(device, from, to);
            let limit = if now == makespan { now + worse } else { i64::MAX };
            let mut runs = self.problem.asap_within(&self.orders, &mut self.times, limit);
            self.placed += passes / 2;
            let mut reached = (0, 0);
            if runs {
                reached = measure(self);
                runs = reached.0 <= now + worse;
            }
            if runs {
                (now, makespan) = reached;
                if now < least {
                    least = now;
                    best.clone_from(&self.orders);
                }
                self.find_critical();
            } else {
                self.shift(device, to, from);
            }
        }
        best
    }

    /// Draws a move that keeps microbatches first in, first out and the device within its limit.
    fn draw(&mut self) -> Option<(usize, usize, usize)> {
        for _ in 0..64 {
            if self.critical.is_empty() {
                return None;
            }
            let (device, at) = self.critical[self.random.usize(..self.critical.len())];
            let reach = if self.random.bool() { 1 } else { self.random.usize(1..=REACH) };
            let order = &self.orders[device];
            let (from, to) = if self.random.bool() {
                (at, at.saturating_sub(reach))
            } else {
                (at - 1, (at - 1 + reach).min(order.len() - 1))
            };
            if self.may_shift(device, from, to) {
                return Some((device, from, to));
            }
        }
        self.critical.clear();
        None
    }

    fn may_shift(&self, device: usize, from: usize, to: usize) -> bool {
        let order = &self.orders[device];
        let item = order[from];
        let crossed = if to < from { &order[to..from] } else { &order[from + 1..=to] };
        let stage = |pass: IndexedPass| self.problem.class_of(pass).stage;
        let bars = |other: &IndexedPass| {
            other.class == item.class || (other.microbatch == item.microbatch && stage(*other) == stage(item))
        };
        if crossed.iter().any(bars) {
            return false;
        }
        // Only a pass that acquires and comes earlier, or one that releases and comes later, lifts the
        // memory, and only of the passes that it crosses.
        let held = self.problem.class_of(item).held;
        let lifts = if to < from { held > 0 } else { held < 0 };
        if !lifts {
            return true;
        }
        let begin = to.min(from);
        let mut live: i64 = order[..begin].iter().map(|&pass| self.problem.class_of(pass).held).sum();
        let limit = self.problem.limits[device];
        if to < from {
            live += held;
        }
        let within = |live: i64| live <= limit;
        within(live)
            && crossed.iter().all(|&other| {
                live += self.problem.class_of(other).held;
                within(live)
            })
    }

    fn shift(&mut self, device: usize, from: usize, to: usize) {
        let order = &mut self.orders[device];
        if to < from {
            order[to..=from].rotate_right(1);
            self.place(device, to, from + 1);
        } else {
            order[from..=to].rotate_left(1);
            self.place(device, from, to + 1);
        }
    }

    /// Walks a longest chain back from its end, choosing at random where it forks, and notes the pairs
    /// of neighbours on it.
    fn find_critical(&mut self) {
        self.critical.clear();
        let problem = self.problem;
        let ends = |item: IndexedPass| self.times.ends[problem.cell(item)];
        let length = |order: &Vec<IndexedPass>| {
            let (&first, &last) = order.first().zip(order.last())?;
            let begin = match self.objective {
                Objective::Makespan => 0,
                Objective::DeviceSpan => ends(first) - problem.class_of(first).duration,
            };
            Some((ends(last) - begin, last))
        };
        let lengths: Vec<(i64, IndexedPass)> = self.orders.iter().filter_map(length).collect();
        let longest = lengths.iter().map(|&(length, _)| length).max();
        let latest = lengths.into_iter().filter(|&(length, _)| Some(length) == longest);
        let latest: Vec<IndexedPass> = latest.map(|(_, last)| last).collect();
        let Some(&first) = latest.get(self.random.usize(..latest.len().max(1))) else { return };
        let mut at = first;
        loop {
            let class = problem.class_of(at);
            let start = ends(at) - class.duration;
            let place = self.places[problem.cell(at)] as usize;
            let neighbour = place.checked_sub(1).map(|before| self.orders[class.device][before]);
            let tight = neighbour.filter(|&before| ends(before) == start);
            let need = class.needs.iter().find_map(|need| {
                let pass = IndexedPass { class: need.class, ..at };
                (self.times.ends[need.cell(at.microbatch)] + need.latency == start).then_some(pass)
            });
            let next = match (tight, need) {
                (Some(before), Some(_)) if self.random.bool() => Some(before),
                (_, Some(need)) => Some(need),
                (tight, None) => tight,
            };
            if let Some(next) = next {
                if Some(next) == tight {
                    self.critical.push((class.device, place));
                }
                at = next;
            } else {
                return;
            }
        }
    }
}

/// The mean duration of a pass, in ticks.
#[expect(clippy::cast_precision_loss, reason = "steers the search, decides nothing")]
fn typical_duration(problem: &IndexedProblem) -> f64 {
    problem.work().iter().sum::<i64>() as f64 / problem.passes() as f64
}
