//! The search: candidates, the best of them, and their improvement.
//!
//! With many microbatches all of it happens on fewer, whose best schedules are then
//! [unrolled](crate::kernel). The work is divided into pieces that know nothing of each other and
//! are the same for any number of threads.

mod arena;
mod improve;
mod list;
mod propose;

use num_rational::Ratio;

use self::arena::{Arena, Candidate, Level, Origin};
use self::list::{Unrepeated, Way};
use super::partly::Partly;
use super::periodic::Several;
use super::placed;
use super::{Options, Progress, Stop};
use crate::block::Block;
use crate::catalog::Proposal;
use crate::kernel::{EndTimes, IndexedOrders, fewer_microbatches, unroll};
use crate::model::{Model, Ticks};
use crate::schedule::Schedule;

/// How many pieces of work are handed out at a time.
const BATCH: usize = 8;

/// The problem as all searches of a run see it.
pub(super) struct Space {
    whole: Level,
    /// With fewer microbatches, where that is enough to search.
    few: Option<Level>,
}

impl Space {
    pub(super) fn new(model: &Model) -> Self {
        let few = fewer_microbatches(model).and_then(|fewer| model.with_microbatches(fewer).ok());
        Self { whole: Level::new(model.clone()), few: few.map(Level::new) }
    }

    /// A schedule in the numbers of the searches; nothing where it recomputes some microbatches of a stage and
    /// not others.
    pub(super) fn found(&self, schedule: &Schedule, engine: &str) -> Option<FoundOrders> {
        let (variant, orders) = self.whole.variant_of(|problem| problem.split_orders(schedule))?;
        Some(FoundOrders { orders, variant, engine: engine.to_owned(), block: None })
    }

    /// The schedule that has been found.
    pub(super) fn schedule(&self, found: &FoundOrders) -> Schedule {
        self.whole.variants[found.variant].forward.schedule(&self.whole.model, &found.orders)
    }
}

/// Orders of all microbatches, and where they came from.
#[derive(Clone)]
pub(super) struct FoundOrders {
    orders: IndexedOrders,
    /// Which of the variants they solve.
    variant: usize,
    pub engine: String,
    pub block: Option<Block>,
}

pub(super) struct Search<'a> {
    options: &'a Options,
    bound: Ticks,
    stop: Stop,
    progress: &'a mut dyn FnMut(&Progress),
    blocks: Vec<Block>,
    /// Blocks that need more memory than there is, with what they are called once they are thinned out.
    roomier: Vec<(String, Block)>,
    /// Blocks that recompute some of the stages.
    partly: Vec<Partly>,
    /// What searches for blocks of several microbatches have in common, once there was one.
    several: Option<Several>,
    /// The named schedules that keep to the capacities, where most of the work is done.
    named: Vec<(&'static str, Proposal)>,
    /// The ways of list scheduling in which few microbatches have no short steady phase that could be repeated.
    unrepeated: Vec<Unrepeated>,
    /// Those of them in which all microbatches have been scheduled.
    ways_of_all: Vec<Way>,
    /// The best value of all microbatches once gaps had been filled there.
    justified_to: Option<i64>,
    /// The problem, and the one with fewer microbatches in its place.
    whole: Arena<'a>,
    few: Option<Arena<'a>>,
    /// A named schedule of all microbatches that was there at once.
    fallback: Option<Candidate>,
    placed: usize,
    /// Whether all proposals have been looked at.
    proposed: bool,
    /// How often candidates have been improved.
    rounds: u64,
    /// How often that began again after the effort was spent.
    again: u64,
}

impl<'a> Search<'a> {
    pub(super) fn new(
        space: &'a Space,
        options: &'a Options,
        bound: Ticks,
        stop: Stop,
        progress: &'a mut dyn FnMut(&Progress),
    ) -> Self {
        let microbatches = space.whole.model.microbatches();
        let few =
            |few: &'a Level| Arena::new(few, microbatches - few.model.microbatches(), options.objective);
        Self {
            options,
            bound,
            stop,
            progress,
            blocks: Vec::new(),
            roomier: Vec::new(),
            partly: Vec::new(),
            several: None,
            named: Vec::new(),
            unrepeated: Vec::new(),
            ways_of_all: Vec::new(),
            justified_to: None,
            whole: Arena::new(&space.whole, 0, options.objective),
            few: space.few.as_ref().map(few),
            fallback: None,
            placed: 0,
            proposed: false,
            rounds: 0,
            again: 0,
        }
    }

    /// The best orders so far. (A search that ends by itself has met everything that its fallback is.)
    pub(super) fn best(&self) -> FoundOrders {
        self.kept().next().expect("the serial schedule keeps to feasible capacities")
    }

    /// The value of the best orders so far, in ticks.
    pub(super) fn value(&self) -> Option<Ticks> {
        self.whole.pool.best().map(Ticks)
    }

    /// The least time per microbatch of the blocks so far that keep to the capacities, in ticks.
    pub(super) fn least_interval(&self) -> Option<Ratio<i64>> {
        let fit = self.blocks.iter().filter(|block| placed::fits(&self.whole.level.model, block));
        fit.map(|block| block.interval() / i64::from(block.period())).min()
    }

    /// The best few so far, best first.
    pub(super) fn kept(&self) -> impl Iterator<Item = FoundOrders> {
        self.candidates().map(|candidate| {
            let block = candidate.origin.block.map(|at| self.blocks[at].clone());
            let Origin { engine, variant, .. } = candidate.origin.clone();
            FoundOrders { orders: candidate.orders.clone(), variant, engine, block }
        })
    }

    /// Whether the best orders recompute anything.
    pub(super) fn best_recomputes(&self) -> bool {
        self.candidates().next().is_some_and(|best| best.score.recomputes)
    }

    /// The best few so far, best first, and before them the fallback, where it is better and time is up.
    fn candidates(&self) -> impl Iterator<Item = &Candidate> {
        let found = &self.whole.pool.0;
        let fallback = self.fallback.as_ref().filter(|_| self.stop.is_due());
        let fallback =
            fallback.filter(|fallback| found.first().is_none_or(|best| fallback.score < best.score));
        fallback.into_iter().chain(found)
    }

    /// Takes a better lower bound.
    pub(super) fn raise(&mut self, bound: Ticks) {
        self.bound = self.bound.max(bound);
    }

    /// Takes what something else has found.
    pub(super) fn put(&mut self, found: FoundOrders) {
        let FoundOrders { orders, variant, engine, block } = found;
        let block = block.map(|block| {
            self.blocks.push(block);
            self.blocks.len() - 1
        });
        let candidate = self.whole.judged(orders, Origin { engine, block, variant });
        self.whole.pool.extend(candidate);
    }

    /// Where most of the work is done.
    fn arena(&mut self) -> &mut Arena<'a> {
        self.few.as_mut().unwrap_or(&mut self.whole)
    }

    /// Makes the best so many schedules of few microbatches ones of all, if they are not yet: the first one however late it is.
    fn unroll(&mut self, most: usize) {
        let mut times = EndTimes::default();
        for at in 0..most {
            let Some(few) = &mut self.few else { return };
            let Some(candidate) = few.pool.0.get_mut(at) else { return };
            if !std::mem::replace(&mut candidate.is_unrolled, true) {
                let problem = &few.level.variants[candidate.origin.variant].forward;
                if !problem.asap(&candidate.orders, &mut times) {
                    continue;
                }
                let Some((segment, _)) = arena::repeatable(problem, &candidate.orders, &times) else {
                    continue;
                };
                let Some(orders) = unroll(&candidate.orders, &segment, few.missing) else { continue };
                if let Some(candidate) = self.whole.judged(orders, candidate.origin.clone()) {
                    self.whole.pool.take(candidate);
                }
            }
            if self.is_done() {
                break;
            }
        }
    }

    /// Whether the best schedule meets the bound, or it is time to stop. One that recomputes does not end the
    /// proposals: there may be one as short that does not.
    pub(super) fn is_done(&self) -> bool {
        let best = self.whole.pool.0.first().map(|best| best.score);
        let optimal =
            best.is_some_and(|best| best.value == self.bound.0 && (self.proposed || !best.recomputes));
        optimal || self.stop.is_due()
    }

    /// Says what is being done.
    pub(super) fn tell(&mut self, step: &str) {
        let best = self.whole.pool.best().map(Ticks);
        (self.progress)(&Progress { step: step.to_owned(), best, bound: self.bound, is_inner: false });
    }
}
