//! Searches in corridors around what was found, among single passes, Bs and pairs, with the memory that they need while they run.
//!
//! In a corridor messages do not wait for links, and buffers are posted when passes begin. Replay, which knows better, decides
//! what is taken; what is over a capacity by a buffer is made to fit.

use std::num::NonZeroUsize;

use super::fit::Fit;
use crate::certificate::Objective;
use crate::model::{Model, Ticks};
use crate::optimize::corridor::{Corridor, Moves, Taste};
use crate::optimize::replayed::{ReplayedSchedule, improved};
use crate::parallel;
use crate::schedule::Schedule;
use crate::stop::Stop;

/// A search for something shorter around what there is.
pub(super) struct Around<'a> {
    pub(super) model: &'a Model,
    /// What needs no improvement.
    pub(super) bound: Ticks,
    /// How many passes may be placed.
    pub(super) effort: usize,
    pub(super) seed: u64,
    pub(super) threads: NonZeroUsize,
    pub(super) stop: &'a Stop,
}

impl Around<'_> {
    /// Whether corridors say more than the searches for passes alone, and are not too long.
    pub(super) fn is_for(model: &Model, objective: Objective) -> bool {
        let passes = 3 * u64::from(model.stages()) * u64::from(model.microbatches());
        objective == Objective::Makespan
            && passes <= MOST_PASSES
            && (model.has_cheaper_pairs() || !model.has_plain_memory())
            && model.memory().checkpoint.is_none()
            && !model.can_offload()
    }

    /// Something shorter, each time around the shortest so far; nothing where none is found.
    pub(super) fn shorter(&self, from: &ReplayedSchedule) -> Option<ReplayedSchedule> {
        let moves = Moves::of_model(self.model);
        let work = self.effort / ROUNDS / BATCH;
        let width = work / (moves.passes() * WORK_OF_STATE);
        if width < NARROWEST {
            return None;
        }
        let mut random = fastrand::Rng::with_seed(self.seed);
        let mut best: Option<ReplayedSchedule> = None;
        let (mut placed, mut in_vain) = (0, 0);
        while placed < self.effort && in_vain < MOST_IN_VAIN && !self.stop.is_due() {
            let parent = best.as_ref().unwrap_or(from);
            if parent.value <= self.bound {
                break;
            }
            let given = moves.sequence_of_schedule(&parent.schedule)?;
            let tastes: Vec<Taste> = (0..BATCH)
                .map(|_| Taste {
                    width: width.min(WIDEST),
                    reach: [2, 6, 16, u64::MAX][random.usize(..4)],
                    distance: [0, 0, 1, 5][random.usize(..4)],
                    looks_ahead: random.bool(),
                })
                .collect();
            let engine = improved(&parent.engine);
            let found = parallel::map(self.threads, &tastes, |&taste| {
                let mut corridor = Corridor::new(&moves);
                let sequence = corridor.shorter(&given, taste, 2 * work, self.stop);
                let shorter = sequence.and_then(|sequence| {
                    let schedule = moves.schedule(self.model, &sequence).ok()?;
                    self.replayed(&schedule, &engine)
                });
                (shorter, corridor.placed)
            });
            placed += found.iter().map(|(_, placed)| placed).sum::<usize>();
            let shorter =
                found.into_iter().filter_map(|(shorter, _)| shorter).min_by_key(ReplayedSchedule::rank);
            match shorter.filter(|shorter| shorter.value < parent.value) {
                Some(shorter) => (best, in_vain) = (Some(shorter), 0),
                None => in_vain += 1,
            }
        }
        best
    }

    /// A schedule, if it is valid or can be made to fit.
    fn replayed(&self, schedule: &Schedule, engine: &str) -> Option<ReplayedSchedule> {
        let (model, objective) = (self.model, Objective::Makespan);
        let passes_left = MOST_REPLAYS * schedule.len();
        let replayed = ReplayedSchedule::new(model, objective, schedule.clone(), engine.to_owned());
        let mut fit = Fit { model, objective, passes_left, stop: self.stop.clone() };
        replayed.ok().or_else(|| fit.fitted(schedule, engine))
    }
}

/// How often a schedule is replayed at most so that it fits.
const MOST_REPLAYS: usize = 200;

/// Where there are more passes, corridors are too narrow to find much before the time is over.
const MOST_PASSES: u64 = 1000;

/// How many corridors are searched at a time, and about how many times.
const BATCH: usize = 8;
const ROUNDS: usize = 8;

/// After so many rounds that find nothing, it is enough.
const MOST_IN_VAIN: usize = 3;

/// About the work of one state and one pass.
const WORK_OF_STATE: usize = 300;

/// How many states are kept after each pass. Fewer are not worth a search.
const NARROWEST: usize = 4;
const WIDEST: usize = 400;
