//! The search for better pairs, and for better orders with them.

use super::paired::{Paired, REACH, overlapped};
use super::wander::{Changing, Walks, Wander};
use crate::certificate::Objective;
use crate::model::{Model, Ticks};
use crate::optimize::replayed::{ReplayedSchedule, improved};
use crate::stop::Stop;

/// A search that takes what is better.
pub(super) struct Climb<'a> {
    pub(super) model: &'a Model,
    pub(super) objective: Objective,
    /// What needs no improvement.
    pub(super) bound: Ticks,
    /// How many passes may still be replayed.
    pub(super) passes_left: usize,
    pub(super) stop: Stop,
    pub(super) best: Option<(Paired, ReplayedSchedule)>,
}

impl Climb<'_> {
    fn is_over(&self) -> bool {
        let is_best = self.best.as_ref().is_some_and(|(_, best)| best.value == self.bound);
        self.passes_left == 0 || is_best || self.stop.is_due()
    }

    /// These pairs replayed; nothing if they are not valid.
    fn valid(&self, pairs: &Paired) -> Option<ReplayedSchedule> {
        let schedule = pairs.schedule()?;
        let engine = overlapped(&pairs.engine, &schedule);
        ReplayedSchedule::new(self.model, self.objective, schedule, engine).ok()
    }

    /// Keeps these pairs if they are valid and better than the best.
    fn consider(&mut self, pairs: Paired) {
        if self.stop.is_due() {
            return;
        }
        self.passes_left = self.passes_left.saturating_sub(pairs.passes());
        let Some(replayed) = self.valid(&pairs) else { return };
        if self.best.as_ref().is_none_or(|(_, best)| replayed.rank() < best.rank()) {
            self.best = Some((pairs, replayed));
        }
    }

    /// Considers the best pairs with a change.
    fn change(&mut self, change: impl FnOnce(&mut Paired)) {
        if self.is_over() {
            return;
        }
        let Some((best, _)) = &self.best else { return };
        let mut changed = best.clone();
        change(&mut changed);
        if !changed.chooses_as(best) {
            self.consider(changed);
        }
    }

    /// The best choice of pairs that is found for these orders; nothing if none is valid.
    pub(super) fn improved(&mut self, pairs: &Paired) -> Option<(Paired, ReplayedSchedule)> {
        self.best = None;
        let devices = pairs.devices();
        self.consider(pairs.clone());
        for begins_with_forward in [true, false] {
            let mut all = pairs.clone();
            (0..devices).for_each(|device| all.take_all(device, begins_with_forward));
            self.consider(all);
        }
        for reach in (2..=REACH).filter(|_| pairs.passes() <= MANY) {
            for begins_with_forward in [true, false] {
                let mut all = pairs.clone();
                all.bring_all_together(self.model, reach, begins_with_forward);
                self.consider(all);
            }
        }
        // Device by device, then pair by pair, for as long as something gets better.
        loop {
            let before = self.best.as_ref()?.1.rank();
            for device in 0..devices {
                for begins_with_forward in [true, false] {
                    self.change(|pairs| pairs.take_all(device, begins_with_forward));
                }
                self.change(|pairs| pairs.drop_all(device));
            }
            for device in 0..devices {
                for position in self.best.as_ref()?.0.candidates(device) {
                    self.change(|pairs| pairs.toggle(device, position));
                }
            }
            if self.is_over() || self.best.as_ref()?.1.rank() == before {
                return self.best.take();
            }
        }
    }

    /// The best of what is met by a few random changes at a time, of pairs and of orders.
    pub(super) fn wandered(
        &self,
        pairs: Paired,
        best: ReplayedSchedule,
        wander: &Wander<'_>,
        tell: &mut dyn FnMut(Ticks),
    ) -> ReplayedSchedule {
        let change = |(pairs, _): &(Paired, ReplayedSchedule), random: &mut fastrand::Rng| {
            let mut pairs = pairs.clone();
            for _ in 0..random.usize(1..=MOST_CHANGES) {
                pairs.shake(self.model, random);
            }
            pairs.engine = improved(&pairs.engine);
            self.valid(&pairs).map(|replayed| (pairs, replayed))
        };
        wander.best_from(WALKS, (pairs, best), self.passes_left, change, tell).1
    }
}

impl Changing for (Paired, ReplayedSchedule) {
    fn found(&self) -> &ReplayedSchedule {
        &self.1
    }

    fn passes(&self) -> usize {
        self.0.passes()
    }
}

/// Where many single changes are better, as those of pairs are, a few walks soon tell which is the best of them.
const WALKS: Walks = Walks { at_once: 4, tries: 32 };

/// Of schedules with more passes than this, fewer choices of pairs are looked at.
const MANY: usize = 200_000;

/// How many random changes are made at once at most.
const MOST_CHANGES: usize = 4;
