//! List scheduling along forwards: of few microbatches and, in the ways that took the least time there and led to no short steady
//! phase, of all of them.

use std::ops::Range;

use num_rational::Ratio;

use super::super::dispatch::{Rule, dispatch, forwards_of, rules};
use super::super::starting_points;
use super::arena::{Arena, NoCandidate, Origin};
use super::{BATCH, Search};
use crate::block::Block;
use crate::kernel::IndexedOrders;
use crate::parallel;

/// Forwards to schedule along.
pub(super) struct Guide {
    pub forwards: IndexedOrders,
    pub engine: String,
    pub of: Guidance,
}

/// Where the forwards of a guide come from.
#[derive(Clone, Copy)]
pub(super) enum Guidance {
    /// One of the blocks, by its number.
    Block(usize),
    /// [Uniform](starting_points::uniform) offsets of this growth.
    Uniform(Ratio<i64>),
    /// A schedule.
    Schedule,
}

impl Guidance {
    pub(super) const fn block(self) -> Option<usize> {
        match self {
            Self::Block(block) => Some(block),
            Self::Uniform(_) | Self::Schedule => None,
        }
    }

    /// The forwards of all microbatches of a level; nothing for those of a schedule of fewer.
    fn forwards_in(self, arena: &Arena<'_>, variant: usize, blocks: &[Block]) -> Option<IndexedOrders> {
        let model = &arena.level.model;
        let problem = &arena.level.variants[variant].forward;
        match self {
            Self::Uniform(growth) => Some(starting_points::uniform(model, problem, growth)),
            Self::Block(block) => {
                let schedule = blocks[block].expand(model, model.microbatches()).ok()?;
                Some(forwards_of(problem, &problem.split_orders(&schedule)?))
            }
            Self::Schedule => None,
        }
    }
}

/// How to schedule by list.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Way {
    variant: usize,
    /// Which of the [limits](starting_points::limits).
    limits: usize,
    rule: Rule,
    /// Which of the guides.
    guide: usize,
}

/// A way whose schedule of few microbatches has no short steady phase.
pub(super) struct Unrepeated {
    /// How long that schedule takes, in ticks.
    length: i64,
    way: Way,
}

/// In how many ways all microbatches are scheduled after each time that few are.
const WAYS_OF_ALL: usize = 8;

/// How many of these schedules have their gaps filled.
const FILLED: usize = 4;

impl Search<'_> {
    /// List scheduling along all forwards by every rule within some sets of limits, as far as a part of
    /// the effort goes.
    pub(super) fn list(&mut self, guides: &[Guide], sets: Range<usize>) {
        self.tell("list scheduling");
        let share = self.placed + self.options.effort / 8;
        let limits = limits(self.few.as_ref().unwrap_or(&self.whole));
        let most = limits.iter().map(Vec::len).max().unwrap_or(0);
        let mut ways: Vec<Way> = Vec::new();
        for set in sets.start..sets.end.min(most) {
            for rule in rules() {
                for variant in (0..limits.len()).filter(|&variant| set < limits[variant].len()) {
                    ways.extend((0..guides.len()).map(|guide| Way { variant, limits: set, rule, guide }));
                }
            }
        }
        for batch in ways.chunks(2 * BATCH) {
            if self.is_done() || self.placed > share {
                break;
            }
            let arena = self.few.as_ref().unwrap_or(&self.whole);
            let stop = self.stop.clone();
            let found = parallel::map(self.options.threads, batch, |&way| {
                let Guide { forwards, engine, of } = &guides[way.guide];
                let problem = &arena.level.variants[way.variant].forward;
                let orders = dispatch(problem, forwards, &limits[way.variant][way.limits], way.rule, &stop)?;
                Some(match arena.judge(orders, along(engine, *of, way)) {
                    Ok(candidate) => {
                        let long_from = candidate.long_from;
                        (arena.pool.keeps(candidate.score).then_some(candidate), long_from)
                    }
                    Err(NoCandidate::Unrepeated(length)) => (None, Some(length)),
                    Err(NoCandidate::Invalid) => (None, None),
                })
            });
            let passes = arena.level.variants[0].forward.passes();
            self.placed += 4 * batch.len() * passes;
            for (&way, judged) in batch.iter().zip(found) {
                let (candidate, unrepeated) = judged.unwrap_or_default();
                self.arena().pool.extend(candidate);
                self.unrepeated.extend(unrepeated.map(|length| Unrepeated { length, way }));
            }
        }
    }

    /// List scheduling of all microbatches in the best of the ways in which few could not be unrolled, and the gaps of the
    /// best of these schedules filled.
    pub(super) fn list_all(&mut self, guides: &[Guide]) {
        let mut unrepeated = std::mem::take(&mut self.unrepeated);
        if unrepeated.is_empty() || self.is_done() {
            return;
        }
        self.tell("list scheduling of all microbatches");
        unrepeated.sort_by_key(|unrepeated| unrepeated.length);
        let can_be_long = |way: &Way| !matches!(guides[way.guide].of, Guidance::Schedule);
        let ways = unrepeated.into_iter().map(|unrepeated| unrepeated.way).filter(can_be_long);
        let new = ways.filter(|way| !self.ways_of_all.contains(way));
        let ways: Vec<Way> = new.take(WAYS_OF_ALL).collect();
        self.ways_of_all.extend(&ways);
        let share = self.placed + self.options.effort / 8;
        let stop = self.stop.within(self.stop.remaining() / 4);
        let passes = self.whole.level.variants[0].forward.passes();
        let limits = limits(&self.whole);
        // All microbatches may be very many passes, so few such schedules are made at a time.
        for batch in ways.chunks(2) {
            if self.is_done() || stop.is_due() || self.placed > share {
                break;
            }
            let (whole, blocks) = (&self.whole, &self.blocks);
            let found = parallel::map(self.options.threads, batch, |&way| {
                let Guide { engine, of, .. } = &guides[way.guide];
                let forwards = of.forwards_in(whole, way.variant, blocks)?;
                let problem = &whole.level.variants[way.variant].forward;
                let orders = dispatch(problem, &forwards, &limits[way.variant][way.limits], way.rule, &stop)?;
                whole.judged(orders, along(engine, *of, way))
            });
            self.placed += 4 * batch.len() * passes;
            self.whole.pool.extend(found.into_iter().flatten());
        }
        self.justify_all();
    }

    /// Fills the gaps of the best schedules of all microbatches, where fewer are searched and the best is not that of the last time.
    pub(super) fn justify_all(&mut self) {
        if self.few.is_none() || self.is_done() || self.whole.pool.best() == self.justified_to {
            return;
        }
        let stop = self.stop.within(self.stop.remaining() / 4);
        let best = &self.whole.pool.0[..FILLED.min(self.whole.pool.0.len())];
        let found =
            parallel::map(self.options.threads, best, |candidate| self.whole.justified(candidate, &stop));
        for (candidate, placed) in found {
            self.placed += placed;
            self.whole.pool.extend(candidate);
        }
        self.justified_to = self.whole.pool.best();
    }
}

/// By variant: the limits to schedule within.
fn limits(arena: &Arena<'_>) -> Vec<Vec<Vec<i64>>> {
    let variants = arena.level.variants.iter();
    variants.map(|variant| starting_points::limits(&arena.level.model, &variant.forward)).collect()
}

/// Where a schedule along a guide comes from.
fn along(engine: &str, of: Guidance, way: Way) -> Origin {
    let engine = format!("list scheduling along {engine}");
    Origin { engine, block: of.block(), variant: way.variant }
}
