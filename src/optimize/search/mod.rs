//! The search: candidates, the best of them, and their improvement.
//!
//! With many microbatches all of it happens on fewer, whose best schedules are then
//! [unrolled](crate::kernel). The work is divided into pieces that know nothing of each other and
//! are the same for any number of threads.

mod arena;
mod improve;
mod propose;

use self::arena::Arena;
use super::{Options, Progress, Stop};
use crate::block::Block;
use crate::catalog::Proposal;
use crate::kernel::{EndTimes, fewer_microbatches, unroll};
use crate::model::{Model, Ticks};
use crate::schedule::Schedule;

/// How many pieces of work are handed out at a time.
const BATCH: usize = 8;

/// A schedule, and where it came from.
#[derive(Clone)]
pub(super) struct Best {
    pub schedule: Schedule,
    pub engine: String,
    pub block: Option<Block>,
}

pub(super) struct Search<'a> {
    options: &'a Options,
    bound: Ticks,
    stop: Stop,
    progress: &'a mut dyn FnMut(&Progress),
    blocks: Vec<Block>,
    /// The named schedules that keep to the caps, where most of the work is done.
    named: Vec<(&'static str, Proposal)>,
    /// The problem, and the one with fewer microbatches in its place.
    whole: Arena,
    few: Option<Arena>,
    placed: usize,
    /// How often candidates have been improved.
    rounds: u64,
}

impl<'a> Search<'a> {
    pub(super) fn new(
        model: &Model,
        options: &'a Options,
        bound: Ticks,
        stop: Stop,
        progress: &'a mut dyn FnMut(&Progress),
    ) -> Self {
        let few = fewer_microbatches(model)
            .and_then(|fewer| model.with_microbatches(fewer).ok())
            .map(|few| (model.microbatches() - few.microbatches(), few))
            .map(|(missing, few)| Arena::new(few, missing, options.objective));
        let whole = Arena::new(model.clone(), 0, options.objective);
        Self {
            options,
            bound,
            stop,
            progress,
            blocks: Vec::new(),
            named: Vec::new(),
            whole,
            few,
            placed: 0,
            rounds: 0,
        }
    }

    /// The best schedule so far.
    pub(super) fn best(&self) -> Best {
        let best = self.whole.pool.0.first().expect("the serial schedule keeps to feasible caps");
        let schedule =
            self.whole.variants[best.origin.variant].forward.schedule(&self.whole.model, &best.orders);
        let block = best.origin.block.map(|at| self.blocks[at].clone());
        Best { schedule, engine: best.origin.engine.clone(), block }
    }

    pub(super) fn into_best(self) -> Best {
        self.best()
    }

    /// Takes a better lower bound.
    pub(super) fn raise(&mut self, bound: Ticks) {
        self.bound = self.bound.max(bound);
    }

    /// Takes what something else has found.
    pub(super) fn put(&mut self, found: &Best) {
        let block = found.block.as_ref().map(|block| {
            self.blocks.push(block.clone());
            self.blocks.len() - 1
        });
        let candidate = self.whole.candidate(&found.schedule, &found.engine, block);
        self.whole.pool.extend(candidate);
    }

    /// Where most of the work is done.
    fn arena(&mut self) -> &mut Arena {
        self.few.as_mut().unwrap_or(&mut self.whole)
    }

    /// Makes the best schedules of few microbatches ones of all.
    fn unroll(&mut self) {
        let Some(few) = &self.few else { return };
        let mut times = EndTimes::default();
        for candidate in &few.pool.0 {
            let problem = &few.variants[candidate.origin.variant].forward;
            if !problem.asap(&candidate.orders, &mut times) {
                continue;
            }
            let Some(segment) = problem.steady_segment(&candidate.orders, &times) else { continue };
            let Some(orders) = unroll(&candidate.orders, &segment, few.missing / segment.period) else {
                continue;
            };
            if let Some(candidate) = self.whole.judged(orders, candidate.origin.clone()) {
                self.whole.pool.take(candidate);
            }
            if self.whole.pool.best() == Some(self.bound.0) || self.stop.is_due() {
                break;
            }
        }
    }

    /// Whether the best schedule meets the bound, or it is time to stop.
    pub(super) fn is_done(&self) -> bool {
        let optimal = self.whole.pool.best() == Some(self.bound.0);
        optimal || self.stop.is_due()
    }

    /// Says what is being done.
    pub(super) fn tell(&mut self, step: &str) {
        let best = self.whole.pool.best().map(Ticks);
        (self.progress)(&Progress { step: step.to_owned(), best, bound: self.bound });
    }
}
