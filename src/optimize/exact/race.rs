//! Engines side by side, in an order of events that does not depend on how fast they run.
//!
//! Every engine counts its work, in units of roughly a microsecond. The count is cut into epochs, each a
//! little longer than the one before, and at the end of an epoch an engine waits until the others have
//! come as far or have ended. An engine that has ended with a proof in an epoch ends the others at the
//! end of that epoch. Who proves first, in epochs, is then a property of the problem.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::Limits;

/// Work in the first epoch.
const FIRST: u64 = 20_000;

/// An epoch grows by such a part of all work before it.
const GROWTH: u64 = 4;

/// After how much work the clock and the interrupt are looked at.
const LOOK: u64 = 5_000;

/// How long a waiting engine sleeps before it looks at the clock and the interrupt.
const NAP: Duration = Duration::from_millis(10);

/// Where an engine is.
#[derive(Debug, Clone, Copy)]
struct Lane {
    /// How many epochs it has completed.
    epochs: u32,
    has_ended: bool,
    has_proof: bool,
}

/// The engines that run side by side.
#[derive(Debug)]
pub struct Race {
    lanes: Mutex<Vec<Lane>>,
    changed: Condvar,
}

impl Race {
    pub fn new(lanes: usize) -> Self {
        let lane = Lane { epochs: 0, has_ended: false, has_proof: false };
        Self { lanes: Mutex::new(vec![lane; lanes]), changed: Condvar::new() }
    }

    /// The first lane with a proof in the earliest epoch.
    pub fn winner(&self) -> Option<usize> {
        let lanes = self.lock();
        (0..lanes.len()).filter(|&lane| lanes[lane].has_proof).min_by_key(|&lane| lanes[lane].epochs)
    }

    /// Nothing is ever left half done under the lock, so a panic elsewhere does not spoil it.
    fn lock(&self) -> MutexGuard<'_, Vec<Lane>> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The work of one engine.
#[derive(Debug)]
pub struct WorkMeter<'a> {
    race: &'a Race,
    lane: usize,
    limits: &'a Limits,
    done: u64,
    next_look: u64,
    epoch_end: u64,
}

impl<'a> WorkMeter<'a> {
    pub fn new(race: &'a Race, lane: usize, limits: &'a Limits) -> Self {
        Self { race, lane, limits, done: 0, next_look: 0, epoch_end: FIRST }
    }

    /// Counts work that is about to be done; returns whether the engine has to end instead.
    pub fn spend(&mut self, work: u64) -> bool {
        self.done += work;
        if self.done > self.limits.effort {
            return true;
        }
        if self.done >= self.next_look {
            self.next_look = self.done + LOOK;
            if self.limits.stop.is_due() {
                return true;
            }
        }
        if self.done < self.epoch_end {
            return false;
        }
        self.epoch_end = self.done + FIRST + self.done / GROWTH;
        self.meet()
    }

    /// Waits for the others at the end of an epoch; returns whether one of them has a proof by then.
    fn meet(&mut self) -> bool {
        let mut lanes = self.race.lock();
        lanes[self.lane].epochs += 1;
        let epochs = lanes[self.lane].epochs;
        self.race.changed.notify_all();
        while lanes.iter().any(|lane| !lane.has_ended && lane.epochs < epochs) {
            if self.limits.stop.is_due() {
                return true;
            }
            let waited = self.race.changed.wait_timeout(lanes, NAP);
            lanes = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        lanes.iter().any(|lane| lane.has_proof && lane.epochs < epochs)
    }

    /// The engine has ended.
    pub fn end(self, has_proof: bool) {
        let mut lanes = self.race.lock();
        lanes[self.lane].has_ended = true;
        lanes[self.lane].has_proof = has_proof;
        drop(lanes);
        self.race.changed.notify_all();
    }
}
