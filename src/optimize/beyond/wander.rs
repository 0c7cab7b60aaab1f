//! Random changes, of which those are kept that make a schedule no longer.

use std::num::NonZeroUsize;

use crate::model::Ticks;
use crate::optimize::replayed::ReplayedSchedule;
use crate::parallel;
use crate::stop::Stop;

/// What random changes are applied to.
pub(super) trait Changing: Send + Sync {
    /// The schedule that it is.
    fn found(&self) -> &ReplayedSchedule;

    /// How many passes are replayed to measure another one like it.
    fn passes(&self) -> usize;
}

/// A search by random changes.
pub(super) struct Wander<'a> {
    pub(super) seed: u64,
    pub(super) threads: NonZeroUsize,
    /// What needs no improvement.
    pub(super) bound: Ticks,
    pub(super) stop: &'a Stop,
}

/// How many walks run side by side, and how long each of them is.
#[derive(Clone, Copy)]
pub(super) struct Walks {
    /// How many begin at once.
    pub(super) at_once: u8,
    /// How many changes one of them tries, at most, before all go on from where the best one is.
    pub(super) tries: usize,
}

impl Wander<'_> {
    /// The best of what is met by random changes: walks side by side, all from the best so far, as often as the passes that may be
    /// replayed allow. `change` returns nothing where its result is not valid. Tells of what is shorter. Unless time ends it, the
    /// answer does not depend on the number of threads.
    pub(super) fn best_from<C: Changing>(
        &self,
        walks: Walks,
        mut at: C,
        mut passes_left: usize,
        change: impl Fn(&C, &mut fastrand::Rng) -> Option<C> + Sync,
        tell: &mut dyn FnMut(Ticks),
    ) -> C {
        let mut random = fastrand::Rng::with_seed(self.seed);
        while passes_left > 0 && at.found().value > self.bound && !self.stop.is_due() {
            let tries = passes_left.div_ceil(at.passes().max(1)).div_ceil(walks.at_once.into());
            let tries = tries.min(walks.tries);
            let seeds: Vec<u64> = (0..walks.at_once).map(|_| random.u64(..)).collect();
            let walked = parallel::map(self.threads, &seeds, |&seed| self.walk(&at, tries, seed, &change));
            let spent: usize = walked.iter().map(|walk| walk.spent).sum();
            passes_left = passes_left.saturating_sub(spent.max(1));
            let reached = walked.into_iter().filter_map(|walk| walk.reached);
            if let Some(reached) = reached.min_by_key(|reached| reached.found().rank()) {
                let value = reached.found().value;
                if value < at.found().value {
                    tell(value);
                }
                at = reached;
            }
        }
        at
    }

    /// Tries this many random changes, each of the last result that was kept.
    fn walk<C: Changing>(
        &self,
        from: &C,
        tries: usize,
        seed: u64,
        change: &impl Fn(&C, &mut fastrand::Rng) -> Option<C>,
    ) -> Walk<C> {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut walk = Walk { reached: None, spent: 0 };
        let mut rank = from.found().rank();
        for _ in 0..tries {
            walk.spent += from.passes();
            let changed = change(walk.reached.as_ref().unwrap_or(from), &mut random);
            if let Some(changed) = changed.filter(|changed| changed.found().rank() <= rank) {
                rank = changed.found().rank();
                walk.reached = Some(changed);
            }
            if rank.0 == self.bound || self.stop.is_due() {
                break;
            }
        }
        walk
    }
}

/// Where random changes have led.
struct Walk<C> {
    /// Something as good or better; nothing if none of the changes was.
    reached: Option<C>,
    /// How many passes its changes count as replayed.
    spent: usize,
}
