//! The search for orders with a shorter mean: random changes, of which those that cost nothing are kept.

use super::Measured;
use crate::model::{Model, Pass};
use crate::replay::{PassDurations, makespans, replay};
use crate::schedule::Schedule;
use crate::stop::Stop;

/// A search from one schedule.
pub(super) struct Climb<'a> {
    pub(super) model: &'a Model,
    pub(super) runs: &'a [PassDurations],
    /// How many passes may still be replayed, over all runs.
    pub(super) passes_left: usize,
    pub(super) stop: Stop,
}

impl Climb<'_> {
    /// The best of what is met, each time from the best so far or from what is as good.
    pub(super) fn from(mut self, start: &Measured, seed: u64) -> Measured {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut best = start.clone();
        let mut total = best.total();
        let passes = best.schedule.len();
        if passes == 0 {
            return best;
        }
        while self.passes_left > 0 && !self.stop.is_due() {
            let mut orders = best.schedule.orders().to_vec();
            for _ in 0..random.usize(1..=MOST_CHANGES) {
                shake(&mut orders, &mut random);
            }
            // A change that nothing can run with is soon seen.
            self.passes_left = self.passes_left.saturating_sub(passes);
            let Some(found) = self.measured(orders, start) else { continue };
            self.passes_left = self.passes_left.saturating_sub(passes * self.runs.len());
            if found.total() <= total {
                total = found.total();
                best = found;
            }
        }
        if total < start.total() {
            best.engine = format!("{}, improved for the mean", start.engine);
        }
        best
    }

    fn measured(&self, orders: Vec<Vec<Pass>>, like: &Measured) -> Option<Measured> {
        let placement = like.schedule.placement().clone();
        let schedule = Schedule::new(placement, like.schedule.microbatches(), orders).ok()?;
        let verdict = replay(self.model, &schedule);
        if !verdict.is_valid() {
            return None;
        }
        let makespans = makespans(self.model, &schedule, self.runs).ok()?;
        Some(Measured { schedule, verdict, engine: like.engine.clone(), makespans })
    }
}

/// Moves a random pass of a random device forward in its order.
fn shake(orders: &mut [Vec<Pass>], random: &mut fastrand::Rng) {
    let device = random.usize(..orders.len());
    let order = &mut orders[device];
    if order.len() < 2 {
        return;
    }
    let to = random.usize(..order.len() - 1);
    let from = random.usize(to + 1..order.len().min(to + REACH));
    order[to..=from].rotate_right(1);
}

/// How far in an order a pass is moved at most.
const REACH: usize = 8;

/// How many random changes are made at once at most.
const MOST_CHANGES: usize = 4;
