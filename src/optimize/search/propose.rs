//! Proposals: what blocks, the catalogue and list scheduling give, their gaps filled.

use std::ops::Range;

use super::super::crew::divided;
use super::super::dense::Orders;
use super::super::feasible::serial;
use super::super::list::{Rule, list_schedule, plan_of, rules};
use super::super::periodic::Effort;
use super::super::plan;
use super::arena::Origin;
use super::{BATCH, Search};
use crate::block::Block;
use crate::catalog;
use crate::model::Model;
use crate::schedule::Schedule;

/// The effort for one swap in the search for a block of several microbatches per interval.
const EFFORT_PER_SWAP: usize = 2000;

/// Blocks within tighter caps are looked for up to so many devices.
const FEW_DEVICES: u32 = 16;

/// Where the forwards of a list schedule come from.
struct Plan {
    forwards: Orders,
    engine: String,
    block: Option<usize>,
}

impl Plan {
    fn new(forwards: Orders, engine: &str) -> Self {
        Self { forwards, engine: engine.to_owned(), block: None }
    }
}

impl Search<'_> {
    /// Takes what blocks, list scheduling and the catalogue give, its gaps filled.
    pub(in crate::optimize) fn propose(&mut self) {
        // Always there, whatever the limits: a feasible cap must give a schedule.
        let again = self.whole.model.memory().checkpoint.is_some();
        for recompute in std::iter::once(false).chain(again.then_some(true)) {
            let Self { whole, few, .. } = self;
            for arena in std::iter::once(whole).chain(few) {
                let candidate = arena.candidate(&serial(&arena.model, recompute), "serial", None);
                arena.pool.extend(candidate);
            }
        }
        // What is found at once comes first: it may be as good as can be.
        let mut plans = Vec::new();
        self.blocks(&mut plans, &plan::SHARES[..1]);
        let arena = self.arena();
        let uniform = plan::uniform(&arena.model, &arena.variants[0].forward);
        plans.extend(uniform.into_iter().map(|forwards| Plan::new(forwards, "uniform offsets")));
        self.list(&plans, 0..1);
        self.justify();
        self.stretch();
        self.catalogue(&mut plans);
        self.periodic_blocks(&mut plans);
        if self.arena().model.devices() <= FEW_DEVICES {
            self.blocks(&mut plans, &plan::SHARES[1..]);
        }
        self.list(&plans, 0..usize::MAX);
        self.justify();
        self.stretch();
        self.complete();
    }

    /// Takes a schedule as a candidate, and its forwards as a plan.
    fn add(&mut self, plans: &mut Vec<Plan>, schedule: &Schedule, engine: &str, block: Option<usize>) {
        self.placed += schedule.len();
        let arena = self.arena();
        let orders = arena.variants.iter().find_map(|variant| variant.forward.orders_of(schedule));
        if let Some(orders) = &orders {
            plans.push(Plan { block, ..Plan::new(plan_of(orders), engine) });
        }
        let candidate = arena.candidate(schedule, engine, block);
        arena.pool.extend(candidate);
    }

    /// Blocks of least interval within shares of the caps.
    fn blocks(&mut self, plans: &mut Vec<Plan>, shares: &[plan::Share]) {
        if self.is_done() {
            return;
        }
        self.tell("building blocks");
        let model = self.arena().model.clone();
        let stop = self.stop.within(self.stop.remaining() / 4);
        let blocks = plan::blocks(&model, shares, &stop);
        self.add_blocks(plans, &model, blocks);
    }

    /// Blocks of several microbatches per interval, where they need less time for each.
    fn periodic_blocks(&mut self, plans: &mut Vec<Plan>) {
        let Some(of_one) = self.blocks.first().cloned().filter(|_| !self.is_done()) else { return };
        self.tell("blocks of several microbatches");
        let model = self.arena().model.clone();
        let effort = Effort { seed: self.options.seed, steps: self.options.effort / EFFORT_PER_SWAP };
        let stop = self.stop.within(self.stop.remaining() / 4);
        let blocks = plan::periodic_blocks(&model, &of_one, effort, &stop);
        self.add_blocks(plans, &model, blocks);
    }

    fn add_blocks(&mut self, plans: &mut Vec<Plan>, model: &Model, blocks: Vec<(String, Block)>) {
        for (engine, block) in blocks {
            let Ok(schedule) = block.expand(model, model.microbatches()) else { continue };
            if self.blocks.contains(&block) {
                continue;
            }
            self.blocks.push(block);
            let block = self.blocks.len() - 1;
            self.add(plans, &schedule, &format!("{engine} block"), Some(block));
        }
    }

    /// The named schedules.
    fn catalogue(&mut self, plans: &mut Vec<Plan>) {
        self.tell("catalogue");
        let model = self.arena().model.clone();
        let stop = self.stop.clone();
        // The last ones leave the fewest bubbles: where there is room for them, nothing may be left to
        // win, and the others are spared.
        for entry in catalog::entries().iter().rev() {
            if self.is_done() {
                return;
            }
            if let Ok(schedule) = entry.generate_until(&model, &|| stop.is_due()) {
                let before = self.arena().pool.best();
                self.add(plans, &schedule, entry.name, None);
                self.named.push(schedule);
                if self.arena().pool.best() != before {
                    self.stretch();
                }
            }
        }
    }

    /// Takes the blocks and named schedules of all microbatches, where fewer were searched: the result
    /// is never worse than they are.
    fn complete(&mut self) {
        if self.few.is_none() || self.is_done() {
            return;
        }
        self.tell("catalogue");
        for (at, block) in self.blocks.iter().enumerate() {
            if self.stop.is_due() {
                return;
            }
            let Ok(schedule) = block.expand(&self.whole.model, self.whole.model.microbatches()) else {
                continue;
            };
            let candidate = self.whole.candidate(&schedule, "building block", Some(at));
            self.whole.pool.extend(candidate);
        }
        for entry in catalog::entries() {
            if self.is_done() {
                return;
            }
            let stop = &self.stop;
            let few = self.named.iter().find(|few| few.name.as_deref() == Some(entry.name));
            let made = entry.generate_from(&self.whole.model, few, &|| stop.is_due());
            let Ok(schedule) = made else { continue };
            let candidate = self.whole.candidate(&schedule, entry.name, None);
            self.whole.pool.extend(candidate);
        }
    }

    /// List scheduling along every plan by every rule within some sets of limits, as far as a part of
    /// the effort goes.
    fn list(&mut self, plans: &[Plan], sets: Range<usize>) {
        self.tell("list scheduling");
        let share = self.placed + self.options.effort / 8;
        let arena = self.few.as_ref().unwrap_or(&self.whole);
        let limits: Vec<Vec<Vec<i64>>> =
            arena.variants.iter().map(|variant| plan::limits(&arena.model, &variant.forward)).collect();
        let most = limits.iter().map(Vec::len).max().unwrap_or(0);
        let mut pieces: Vec<(usize, &[i64], Rule, usize)> = Vec::new();
        for at in sets.start..sets.end.min(most) {
            for rule in rules() {
                for (variant, limits) in limits.iter().enumerate() {
                    let Some(limits) = limits.get(at) else { continue };
                    pieces.extend((0..plans.len()).map(|plan| (variant, limits.as_slice(), rule, plan)));
                }
            }
        }
        for batch in pieces.chunks(2 * BATCH) {
            if self.is_done() || self.placed > share {
                break;
            }
            let arena = self.few.as_ref().unwrap_or(&self.whole);
            let threshold = arena.pool.threshold();
            let found = divided(self.options.threads, batch, |&(variant, limits, rule, plan)| {
                let Plan { forwards, engine, block } = &plans[plan];
                let orders = list_schedule(&arena.variants[variant].forward, forwards, limits, rule)?;
                let engine = format!("list scheduling along {engine}");
                let candidate = arena.judged(orders, Origin { engine, block: *block, variant })?;
                threshold.is_none_or(|worst| candidate.score < worst).then_some(candidate)
            });
            let passes = arena.variants[0].forward.passes();
            self.placed += 4 * batch.len() * passes;
            self.arena().pool.extend(found.into_iter().flatten());
        }
    }

    /// Fills the gaps of the best candidates.
    fn justify(&mut self) {
        self.tell("filling gaps");
        if self.is_done() {
            return;
        }
        let stop = self.stop.clone();
        let arena = self.few.as_ref().unwrap_or(&self.whole);
        let found = divided(self.options.threads, &arena.pool.0, |candidate| {
            arena.justified(candidate, &|| stop.is_due())
        });
        for (candidate, placed) in found {
            self.placed += placed;
            self.arena().pool.extend(candidate);
        }
    }
}
