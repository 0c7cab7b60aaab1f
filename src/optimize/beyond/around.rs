//! Searches in corridors around what was found, among single passes, Bs and pairs, with the memory that they need while they run.
//!
//! In a corridor messages do not wait for links, and buffers are posted when passes begin. Replay, which knows better, decides
//! what is taken; what has no pairs and is over a capacity by a buffer is made to fit.

use std::num::NonZeroUsize;

use super::EFFORT_PER_REPLAYED_PASS;
use super::fit::Fit;
use super::paired::{not_overlapped, overlapped};
use crate::certificate::Objective;
use crate::model::{Model, Ticks};
use crate::optimize::corridor::{Corridor, Moves, NARROWEST, Taste, WIDEST, WORK_OF_STATE};
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
    /// How many passes may be placed of all the effort for a model; nothing where corridors say no more than the searches for
    /// passes alone, or would be too narrow to find anything.
    pub(super) fn effort(model: &Model, objective: Objective, effort: usize) -> Option<usize> {
        let effort = effort / 4;
        let passes = 3 * u64::from(model.stages()) * u64::from(model.microbatches());
        let is_worth_it = objective == Objective::Makespan
            && passes <= MOST_PASSES
            && width(passes, effort) >= NARROWEST
            && (model.has_cheaper_pairs() || !model.has_plain_memory())
            && model.memory().checkpoint.is_none()
            && !model.can_offload();
        is_worth_it.then_some(effort)
    }

    /// Something shorter, each time around the shortest so far; nothing where none is found.
    pub(super) fn shorter(&self, from: &ReplayedSchedule) -> Option<ReplayedSchedule> {
        let moves = Moves::of_model(self.model);
        let width = width(moves.passes() as u64, self.effort).clamp(NARROWEST, WIDEST);
        let mut random = fastrand::Rng::with_seed(self.seed);
        let mut best: Option<ReplayedSchedule> = None;
        let (mut placed, mut in_vain) = (0, 0);
        while placed < self.effort && in_vain < MOST_IN_VAIN && !self.stop.is_due() {
            let parent = best.as_ref().unwrap_or(from);
            if parent.value <= self.bound {
                break;
            }
            let Some(given) = moves.sequence_of_schedule(&parent.schedule) else { break };
            let tastes: Vec<Taste> = (0..BATCH).map(|_| Taste::random(width, &mut random)).collect();
            let engine = improved(not_overlapped(&parent.engine));
            let found = parallel::map(self.threads, &tastes, |&taste| {
                let mut corridor = Corridor::new(&moves);
                let work = 2 * self.effort / ROUNDS / BATCH;
                let sequence = corridor.shorter(&given, taste, work, self.stop);
                let schedule = sequence.and_then(|sequence| moves.schedule(self.model, &sequence).ok());
                let (shorter, replayed) =
                    schedule.map_or((None, 0), |schedule| self.replayed(&schedule, &engine));
                (shorter, corridor.placed + replayed * EFFORT_PER_REPLAYED_PASS)
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

    /// A schedule, if it is valid or can be made to fit, and how many passes were replayed for that.
    fn replayed(&self, schedule: &Schedule, engine: &str) -> (Option<ReplayedSchedule>, usize) {
        let (model, objective) = (self.model, Objective::Makespan);
        let passes_left = MOST_REPLAYS * schedule.len();
        let overlapped = overlapped(engine, schedule);
        let replayed = ReplayedSchedule::new(model, objective, schedule.clone(), overlapped);
        let mut fit = Fit { model, objective, passes_left, stop: self.stop.clone() };
        let valid = replayed.ok().or_else(|| fit.fitted(schedule, engine));
        (valid, schedule.len() + passes_left - fit.passes_left)
    }
}

/// How many states are kept after each pass, with so much effort for all corridors.
fn width(passes: u64, effort: usize) -> usize {
    let of_one = (effort / ROUNDS / BATCH) as u64;
    usize::try_from(of_one / (passes * WORK_OF_STATE as u64).max(1)).unwrap_or(WIDEST)
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
