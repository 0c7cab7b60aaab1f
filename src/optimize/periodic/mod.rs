//! Blocks of several microbatches per interval, by local search over orders.

mod cycle;
mod order;

use num_rational::Ratio;

use super::Stop;
use crate::encode::{Answer, Claim, EncodeError, Problem, answer};
use crate::model::{Kind, Model};

use cycle::{Pace, Pacer};
use order::{Neighbours, Orders};

/// As the name says.
pub fn search(
    model: &Model,
    period: u32,
    steps: usize,
    memory: usize,
    seed: u64,
    stop: &Stop,
) -> Result<Option<Answer>, EncodeError> {
    let problem = Problem::periodic(model, period)?;
    if problem.overfull().is_some() {
        return Ok(None);
    }
    let mut climb = Climb::new(&problem, seed, memory);
    for step in 0..steps {
        if step % 256 == 0 && stop.is_due() {
            break;
        }
        if climb.best.0 == climb.floor {
            break;
        }
        climb.step(step);
    }
    let shifts = climb.best.1.shifts(&problem);
    answer(model, &problem, &shifts, Claim::default()).map(Some)
}

struct Climb<'a> {
    problem: &'a Problem,
    pacer: Pacer<'a>,
    held: Vec<i64>,
    floor: Ratio<i64>,
    orders: Orders,
    pace: Pace,
    history: Vec<Ratio<i64>>,
    best: (Ratio<i64>, Orders),
    random: fastrand::Rng,
}

impl<'a> Climb<'a> {
    fn new(problem: &'a Problem, seed: u64, memory: usize) -> Self {
        let mut held = vec![0; problem.passes().len()];
        for hold in problem.holds().iter().flatten() {
            held[hold.from] += hold.units;
            held[hold.until] -= hold.units;
        }
        let mut pacer = Pacer::new(problem);
        let floor = Ratio::from_integer(problem.most_work());
        let orders = Orders::serial(problem);
        let pace = pacer.pace(&orders, floor).expect("serial orders run");
        Self {
            problem,
            pacer,
            held,
            floor,
            history: vec![pace.interval; memory],
            best: (pace.interval, orders.clone()),
            orders,
            pace,
            random: fastrand::Rng::with_seed(seed),
        }
    }

    fn step(&mut self, step: usize) {
        let place = self.choose();
        let (first, second, turns) = self.orders.at(place);
        if self.problem.in_turn(first, second) {
            return;
        }
        self.orders.swap(place);
        let kinds = [first, second].map(|pass| self.problem.passes()[pass].kind);
        let fits = kinds[0] == Kind::F || kinds[1] != Kind::F || {
            let cap = self.problem.caps()[place.device];
            cap.is_none_or(|cap| self.orders.peak(place.device, &self.held) <= cap)
        };
        let _ = turns;
        let cell = step % self.history.len();
        if fits
            && let Some(pace) = self.pacer.pace(&self.orders, self.floor)
            && (pace.interval <= self.pace.interval || pace.interval <= self.history[cell])
        {
            self.pace = pace;
            if self.pace.interval < self.best.0 {
                self.best = (self.pace.interval, self.orders.clone());
            }
        } else {
            self.orders.swap(place);
        }
        self.history[cell] = self.history[cell].min(self.pace.interval);
    }

    fn choose(&mut self) -> Neighbours {
        if !self.pace.critical.is_empty() && self.random.u32(..8) > 0 {
            return self.pace.critical[self.random.usize(..self.pace.critical.len())];
        }
        let device = self.random.usize(..self.orders.circles.len());
        Neighbours { device, slot: self.random.usize(..self.orders.circles[device].len()) }
    }
}

#[cfg(test)]
mod tests;
