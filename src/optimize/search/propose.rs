//! Proposals: what blocks, the catalogue and list scheduling give, their gaps filled.

use num_rational::Ratio;

use super::super::dispatch::forwards_of;
use super::super::feasible::serial;
use super::super::partly;
use super::super::periodic::{Effort, WALKS};
use super::super::placed;
use super::super::starting_points;
use super::super::thinned::thinned;
use super::super::zero_bubble_v::zero_bubble_v;
use super::super::zone;
use super::Search;
use super::arena::{Candidate, Origin, Variant};
use super::list::{Guidance, Guide};
use crate::block::{Block, Passes};
use crate::catalog::{self, Entry};
use crate::kernel::{IndexedOrders, IndexedProblem};
use crate::model::Model;
use crate::parallel;
use crate::schedule::Schedule;

/// The effort for one swap in the search for a block of several microbatches per interval.
const EFFORT_PER_SWAP: usize = 2000;

/// Blocks within tighter capacities are looked for up to this many devices.
const FEW_DEVICES: u32 = 16;

/// Up to this many passes, a schedule that meets the bound is compared with all named ones, of which one may be as
/// short and hold less.
const MOST_PASSES_FOR_LESS_MEMORY: usize = 5000;

/// The name of the [schedule](zero_bubble_v) that is no entry of the catalogue.
const ZERO_BUBBLE_V: &str = "zb-v";

/// What a block that recomputes some of the stages is called.
const PARTLY: &str = "exact block";

/// What one microbatch after the other is called.
const SERIAL: &str = "serial";

impl Search<'_> {
    /// Takes what blocks, list scheduling and the catalogue give, its gaps filled.
    pub(in crate::optimize) fn propose(&mut self) {
        // Always there, whatever the limits: a feasible capacity must give a schedule.
        let again = self.whole.level.model.memory().checkpoint.is_some();
        for recompute in std::iter::once(false).chain(again.then_some(true)) {
            let Self { whole, few, .. } = self;
            for arena in std::iter::once(whole).chain(few) {
                let candidate = arena.candidate(&serial(&arena.level.model, recompute), SERIAL, None);
                // All microbatches one after the other are there already.
                arena.pool.extend(candidate.map(|candidate| Candidate { is_unrolled: true, ..candidate }));
            }
        }
        self.fall_back();
        // What is found at once comes first: it may be as good as can be.
        let mut guides = Vec::new();
        self.blocks(&mut guides, &starting_points::SHARES[..1]);
        self.partly_recomputing(&mut guides);
        self.placed_blocks(&mut guides);
        self.unroll(1);
        self.uniform(&mut guides);
        self.list(&guides, 0..1);
        self.justify();
        self.unroll(usize::MAX);
        // With few microbatches, blocks are thinned in less time than list scheduling of all microbatches takes.
        if self.few.is_some() {
            self.thinned_blocks(&mut guides);
            self.unroll(usize::MAX);
        }
        self.list_all(&guides);
        self.catalogue(&mut guides);
        if self.few.is_none() {
            self.thinned_blocks(&mut guides);
        }
        self.periodic_blocks(&mut guides);
        if self.arena().level.model.devices() <= FEW_DEVICES {
            self.blocks(&mut guides, &starting_points::SHARES[1..]);
        }
        self.list(&guides, 0..usize::MAX);
        self.justify();
        self.unroll(usize::MAX);
        self.list_all(&guides);
        self.complete();
        self.justify_all();
        self.proposed = true;
    }

    /// Looks for more blocks of several microbatches, with other random choices, and takes what list scheduling along them gives.
    pub(super) fn propose_again(&mut self) {
        let mut guides = Vec::new();
        self.periodic_blocks(&mut guides);
        if guides.is_empty() {
            return;
        }
        // A way names its guide by number, and these are other guides.
        self.ways_of_all.clear();
        self.list(&guides, 0..usize::MAX);
        self.justify();
        self.unroll(usize::MAX);
        self.list_all(&guides);
    }

    /// Keeps a named schedule that can be made at once, for when there is no time for more: the first that fits,
    /// however little time there is, or the best of those that a tenth of it allows. It is no starting point, so a
    /// search that ends by itself does not depend on it.
    fn fall_back(&mut self) {
        let share = self.stop.within(self.stop.remaining() / 10);
        for entry in catalog::entries().iter().rev() {
            let is_over = if self.fallback.is_some() { share.is_due() } else { self.stop.is_interrupted() };
            if is_over {
                break;
            }
            let whole = &self.whole;
            let Ok(proposal) = entry.unimproved(&whole.level.model) else { continue };
            let Some((variant, orders)) = whole.level.variant_of(|problem| proposal.split(problem)) else {
                continue;
            };
            let engine = entry.name_on(whole.level.model.placement()).to_owned();
            let origin = Origin { engine, block: None, variant };
            let Some(candidate) = whole.judged(orders, origin) else { continue };
            if self.fallback.as_ref().is_none_or(|known| candidate.score < known.score) {
                self.fallback = Some(candidate);
            }
        }
    }

    /// Takes a proposal with this number of passes as a candidate, and its forwards to schedule along.
    /// `split` gives its orders in the numbers of a problem.
    fn add(
        &mut self,
        guides: &mut Vec<Guide>,
        passes: usize,
        split: impl Fn(&IndexedProblem) -> Option<IndexedOrders>,
        engine: &str,
        block: Option<usize>,
    ) {
        self.placed += passes;
        let arena = self.arena();
        let Some((variant, orders)) = arena.level.variant_of(split) else { return };
        let forwards = forwards_of(&arena.level.variants[variant].forward, &orders);
        let of = block.map_or(Guidance::Schedule, Guidance::Block);
        guides.push(Guide { forwards, engine: engine.to_owned(), of });
        let candidate = arena.judged(orders, Origin { engine: engine.to_owned(), block, variant });
        arena.pool.extend(candidate);
    }

    /// Forwards at uniform offsets.
    fn uniform(&mut self, guides: &mut Vec<Guide>) {
        let stop = self.stop.clone();
        let arena = self.arena();
        let (model, problem) = (&arena.level.model, &arena.level.variants[0].forward);
        for growth in starting_points::growths(model).into_iter().take_while(|_| !stop.is_due()) {
            let forwards = starting_points::uniform(model, problem, growth);
            let of = Guidance::Uniform(growth);
            guides.push(Guide { forwards, engine: "uniform offsets".to_owned(), of });
        }
    }

    /// Blocks of least interval within shares of the capacities.
    fn blocks(&mut self, guides: &mut Vec<Guide>, shares: &[starting_points::Share]) {
        if self.is_done() {
            return;
        }
        self.tell("building blocks");
        let model = self.arena().level.model.clone();
        let stop = self.stop.within(self.stop.remaining() / 4);
        let blocks = starting_points::blocks(&model, shares, &stop);
        self.add_blocks(guides, &model, blocks);
    }

    /// Blocks of least interval that recompute some of the stages.
    fn partly_recomputing(&mut self, guides: &mut Vec<Guide>) {
        if self.is_done() {
            return;
        }
        let level = self.arena().level;
        let sets: Vec<Vec<bool>> =
            level.variants.iter().filter_map(Variant::parts).map(<[bool]>::to_vec).collect();
        if sets.is_empty() {
            return;
        }
        self.tell("blocks that recompute some stages");
        let stop = self.stop.within(self.stop.remaining() / 4);
        for partly in partly::blocks(&level.model, sets, &stop) {
            let Some(schedule) = partly.expand(&level.model) else { continue };
            self.add(guides, schedule.len(), |problem| problem.split_orders(&schedule), PARTLY, None);
            self.partly.push(partly);
        }
    }

    /// Blocks whose passes are placed in gaps, where the exact program cannot follow the placement.
    fn placed_blocks(&mut self, guides: &mut Vec<Guide>) {
        let model = self.arena().level.model.clone();
        if zone::is_applicable(model.placement()) || self.is_done() {
            return;
        }
        self.tell("placing blocks");
        let (passes, stop) = (self.options.effort / 16, self.stop.within(self.stop.remaining() / 8));
        let effort =
            placed::Effort { seed: self.options.seed, passes, threads: self.options.threads, stop: &stop };
        let blocks = placed::blocks(&model, &effort).into_iter().map(|block| ("placed".to_owned(), block));
        let (fitting, roomier) = blocks.partition(|(_, block)| placed::fits(&model, block));
        self.add_blocks(guides, &model, fitting);
        self.add_thinned(guides, &model, roomier);
    }

    /// Blocks that need more memory than there is, thinned out, where those that fit have bubbles.
    fn thinned_blocks(&mut self, guides: &mut Vec<Guide>) {
        let model = self.arena().level.model.clone();
        let work = Ratio::from_integer(Passes::SPLIT.most_work(&model).0);
        let has_bubbles = self.blocks.iter().all(|block| block.interval() > work);
        if !has_bubbles || self.is_done() {
            return;
        }
        self.tell("thinning blocks");
        let stop = self.stop.within(self.stop.remaining() / 4);
        let blocks = starting_points::blocks(&model, &starting_points::ROOMIER, &stop);
        self.add_thinned(guides, &model, blocks);
    }

    fn add_thinned(&mut self, guides: &mut Vec<Guide>, model: &Model, blocks: Vec<(String, Block)>) {
        // Those that were found are thinned even where the search for others has taken all of its time.
        let stop = self.stop.within(self.stop.remaining() / 4);
        for (engine, block) in blocks {
            if self.blocks.contains(&block) {
                continue;
            }
            let Some(schedule) = thinned(model, &block, &stop) else { continue };
            let engine = format!("thinned {engine} block");
            let split = |problem: &IndexedProblem| problem.split_orders(&schedule);
            self.add(guides, schedule.len(), split, &engine, None);
            self.roomier.push((engine, block));
        }
    }

    /// Blocks of several microbatches per interval, where they need less time for each.
    fn periodic_blocks(&mut self, guides: &mut Vec<Guide>) {
        let each = |block: &Block| block.interval() / i64::from(block.period());
        let Some(shortest) = self.blocks.iter().map(each).min().filter(|_| !self.is_done()) else { return };
        self.tell("blocks of several microbatches");
        let model = self.arena().level.model.clone();
        let seed = self.options.seed.wrapping_add(self.again.wrapping_mul(WALKS));
        let effort = Effort { seed, steps: self.options.effort / EFFORT_PER_SWAP };
        let share = if self.again == 0 { 4 } else { 16 };
        let stop = self.stop.within(self.stop.remaining() / share);
        let (several, threads) = (&mut self.several, self.options.threads);
        let blocks = starting_points::periodic_blocks(&model, several, shortest, effort, threads, &stop);
        self.add_blocks(guides, &model, blocks);
    }

    fn add_blocks(&mut self, guides: &mut Vec<Guide>, model: &Model, blocks: Vec<(String, Block)>) {
        for (engine, block) in blocks {
            let Ok(schedule) = block.expand(model, model.microbatches()) else { continue };
            if self.blocks.contains(&block) {
                continue;
            }
            self.blocks.push(block);
            let block = self.blocks.len() - 1;
            let split = |problem: &IndexedProblem| problem.split_orders(&schedule);
            self.add(guides, schedule.len(), split, &format!("{engine} block"), Some(block));
        }
    }

    /// The named schedules.
    fn catalogue(&mut self, guides: &mut Vec<Guide>) {
        self.tell("catalogue");
        let model = self.arena().level.model.clone();
        let stop = self.stop.clone();
        // The last ones leave the fewest bubbles: where there is room for them, nothing may be left to
        // win, and those of the others that take long are spared.
        if let Some(schedule) = self.by_hand(&model) {
            self.add(guides, schedule.len(), |problem| problem.split_orders(&schedule), ZERO_BUBBLE_V, None);
            self.unroll(usize::MAX);
        }
        for entry in catalog::entries().iter().rev() {
            if self.stop.is_due() {
                return;
            }
            if self.is_spared(entry) {
                continue;
            }
            if let Ok(proposal) = entry.propose(&model, None, &stop) {
                let before = self.arena().pool.best();
                let name = entry.name_on(model.placement());
                self.add(guides, proposal.len(), |problem| proposal.split(problem), name, None);
                self.named.push((entry.name, proposal));
                if self.arena().pool.best() != before {
                    self.unroll(usize::MAX);
                }
            }
        }
    }

    /// Takes the blocks, thinned or not, and the named schedules of all microbatches, where fewer were searched: the result
    /// is never worse than they are.
    fn complete(&mut self) {
        if self.few.is_none() || self.stop.is_due() {
            return;
        }
        self.tell("catalogue");
        if let Some(schedule) = self.by_hand(&self.whole.level.model) {
            let candidate = self.whole.candidate(&schedule, ZERO_BUBBLE_V, None);
            self.whole.pool.extend(candidate);
        }
        for (at, block) in self.blocks.iter().enumerate() {
            if self.is_done() {
                break;
            }
            let Ok(schedule) = block.expand(&self.whole.level.model, self.whole.level.model.microbatches())
            else {
                continue;
            };
            let candidate = self.whole.candidate(&schedule, "building block", Some(at));
            self.whole.pool.extend(candidate);
        }
        for partly in &self.partly {
            if self.is_done() {
                break;
            }
            let schedule = partly.expand(&self.whole.level.model);
            let candidate = schedule.and_then(|schedule| self.whole.candidate(&schedule, PARTLY, None));
            self.whole.pool.extend(candidate);
        }
        for (engine, block) in &self.roomier {
            if self.is_done() {
                break;
            }
            if let Some(schedule) = thinned(&self.whole.level.model, block, &self.stop) {
                let candidate = self.whole.candidate(&schedule, engine, None);
                self.whole.pool.extend(candidate);
            }
        }
        for entry in catalog::entries() {
            if self.stop.is_due() {
                return;
            }
            if self.is_spared(entry) {
                continue;
            }
            let few = self.named.iter().find(|(name, _)| *name == entry.name).map(|(_, few)| few);
            let Ok(proposal) = entry.propose(&self.whole.level.model, few, &self.stop) else { continue };
            let split = self.whole.level.variant_of(|problem| proposal.split(problem));
            let candidate = split.and_then(|(variant, orders)| {
                let engine = entry.name_on(self.whole.level.model.placement()).to_owned();
                self.whole.judged(orders, Origin { engine, block: None, variant })
            });
            self.whole.pool.extend(candidate);
        }
    }

    /// ZB-V, where there is something left to win and time for it.
    fn by_hand(&self, model: &Model) -> Option<Schedule> {
        if self.is_done() {
            return None;
        }
        zero_bubble_v(model, &self.stop.within(self.stop.remaining() / 10))
    }

    /// Whether a named schedule is not looked at: the best schedule meets the bound, and to learn whether this one, as
    /// short, holds less takes too long.
    fn is_spared(&self, entry: &Entry) -> bool {
        let passes = self.whole.level.variants[0].forward.passes();
        self.is_done() && entry.takes_improving() && passes > MOST_PASSES_FOR_LESS_MEMORY
    }

    /// Fills the gaps of the best candidates.
    fn justify(&mut self) {
        self.tell("filling gaps");
        if self.is_done() {
            return;
        }
        let stop = self.stop.within(self.stop.remaining() / 4);
        let arena = self.few.as_ref().unwrap_or(&self.whole);
        // To fill the gaps of one microbatch after the other takes longest, and list scheduling of all microbatches will do better.
        let is_next_by_list = !self.unrepeated.is_empty();
        let is_worth_it = |candidate: &&Candidate| !(is_next_by_list && candidate.origin.engine == SERIAL);
        let worth_it: Vec<&Candidate> = arena.pool.0.iter().filter(is_worth_it).collect();
        let found =
            parallel::map(self.options.threads, &worth_it, |candidate| arena.justified(candidate, &stop));
        for (candidate, placed) in found {
            self.placed += placed;
            self.arena().pool.extend(candidate);
        }
    }
}
