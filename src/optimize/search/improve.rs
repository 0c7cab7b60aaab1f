//! Improvement: the best candidates annealed, searched around in a corridor, and scheduled anew with their forwards
//! disturbed.

use super::super::anneal::Annealing;
use super::super::corridor::{Corridor, Moves, NARROWEST, Taste, WIDEST, WORK_OF_STATE};
use super::super::dispatch::{dispatch, forwards_of, rules};
use super::arena::{Arena, Candidate};
use super::{BATCH, Search};
use crate::certificate::{Objective, STEPS, lower_bound_until};
use crate::kernel::{IndexedOrders, reverse};
use crate::model::Ticks;
use crate::parallel;
use crate::stop::Stop;

impl Search<'_> {
    /// Improves the best candidates until this many passes have been placed in all.
    pub(in crate::optimize) fn improve(&mut self, effort: usize) {
        self.anneal(effort);
        self.explore();
        self.unroll(usize::MAX);
    }

    /// Searches in corridors around the best candidates, as long as that finds something better, for a part of the effort and of
    /// the time that is left. What it spends is not taken from annealing.
    fn explore(&mut self) {
        if self.options.objective != Objective::Makespan {
            return;
        }
        // So that the random choices of annealing are the same with it and without.
        let (stop, placed, rounds) = (self.stop.clone(), self.placed, self.rounds);
        self.stop = stop.within(stop.remaining() / 4);
        let effort = placed.saturating_add(self.options.effort / 8);
        let mut before = None;
        let on_few = self.is_few_worth_it();
        while !self.is_done() && self.placed < effort {
            let best = self.improved_arena(on_few).pool.best();
            if before == Some(best) {
                break;
            }
            before = Some(best);
            self.round(effort, on_few, [Way::InCorridor; BATCH]);
        }
        (self.stop, self.placed, self.rounds) = (stop, placed, rounds);
    }

    /// Looks for more blocks of several microbatches, then improves the best candidates with so much more effort and other random
    /// choices: in turn where most of the work is done and, where that is on few microbatches, on all of them.
    pub(in crate::optimize) fn improve_again(&mut self, effort: usize) {
        self.again += 1;
        self.propose_again();
        self.improve(self.placed.saturating_add(effort));
    }

    /// Anneals and fills the best candidates in turn, as long as the effort lasts.
    fn anneal(&mut self, effort: usize) {
        let mut before = None;
        let on_few = self.is_few_worth_it() && self.again.is_multiple_of(2);
        while !self.is_done() && self.placed < effort {
            // Few microbatches are still many passes when they represent more: it ends with the first
            // round that finds nothing.
            let best = self.improved_arena(on_few).pool.best();
            if on_few && before == Some(best) {
                break;
            }
            before = Some(best);
            self.round(effort, on_few, WAYS);
        }
    }

    /// Whether there are fewer microbatches to be searched, and the best schedule of these is, once it is unrolled, hardly longer
    /// than the best of all: it may be that none worth improving has a steady phase.
    fn is_few_worth_it(&self) -> bool {
        let best = |arena: &Arena<'_>| arena.pool.best().map(i128::from);
        self.few.as_ref().is_some_and(|few| match (best(few), best(&self.whole)) {
            (Some(few), Some(all)) => few * 200 <= all * 201,
            (few, _) => few.is_some(),
        })
    }

    /// Few microbatches or all.
    fn improved_arena(&self, on_few: bool) -> &Arena<'_> {
        self.few.as_ref().filter(|_| on_few).unwrap_or(&self.whole)
    }

    /// Improves some of the best candidates in these ways, on few microbatches or on all.
    fn round(&mut self, effort: usize, on_few: bool, ways: [Way; BATCH]) {
        self.tell("improving");
        let stop = self.stop.clone();
        let arena = self.improved_arena(on_few);
        let target = arena.target(self.bound, &self.stop);
        let share = (self.options.effort / 6 / BATCH).max(arena.level.variants[0].forward.passes() * 50);
        let left = (effort - self.placed) / BATCH + 1;
        let mut random = fastrand::Rng::with_seed(self.options.seed ^ (self.rounds << 32));
        let parents = arena.pool.0.len();
        let pieces: Vec<Piece> = (0..BATCH)
            .map(|at| {
                // Better candidates more often.
                let parent = random.usize(..parents).min(random.usize(..parents));
                Piece { parent, way: ways[at], seed: random.u64(..) }
            })
            .collect();
        let found = parallel::map(self.options.threads, &pieces, |piece| {
            arena.improved(piece, share.min(left), target, &stop)
        });
        for (candidates, placed) in found {
            self.placed += placed;
            let improved = self.few.as_mut().filter(|_| on_few).unwrap_or(&mut self.whole);
            improved.pool.extend(candidates);
        }
        self.rounds += 1;
    }
}

impl Arena<'_> {
    /// The objective at which a schedule of few microbatches has nothing left to win.
    fn target(&self, bound: Ticks, stop: &Stop) -> i64 {
        if self.missing == 0 {
            return bound.0;
        }
        lower_bound_until(&self.level.model, self.objective, STEPS, &mut || stop.is_due()).value.0
    }

    /// What a piece of work makes of its parent, and how many passes were placed for it.
    fn improved(&self, piece: &Piece, work: usize, target: i64, stop: &Stop) -> (Vec<Candidate>, usize) {
        let parent = &self.pool.0[piece.parent];
        match piece.way {
            Way::Annealed(heat) => self.annealed(parent, heat, piece.seed, work, target, stop),
            Way::Rescheduled => self.rescheduled(parent, piece.seed, work, target, stop),
            Way::InCorridor => self.in_corridor(parent, piece.seed, work, stop),
        }
    }

    fn annealed(
        &self,
        parent: &Candidate,
        heat: f64,
        seed: u64,
        work: usize,
        target: i64,
        stop: &Stop,
    ) -> (Vec<Candidate>, usize) {
        let problem = &self.level.variants[parent.origin.variant].forward;
        let mut annealing = Annealing::new(problem, parent.orders.clone(), self.objective, heat, seed);
        let orders = annealing.run(work, target, stop);
        let annealed = self.judged(orders, parent.origin.improved());
        let filled = annealed.as_ref().map(|candidate| self.justified(candidate, stop));
        let (filled, placed) = filled.unwrap_or((None, 0));
        (annealed.into_iter().chain(filled).collect(), placed + annealing.placed)
    }

    /// Looks for something shorter in a corridor around a candidate, as wide as the work allows, from the beginning of time or
    /// from its end.
    fn in_corridor(
        &self,
        parent: &Candidate,
        seed: u64,
        work: usize,
        stop: &Stop,
    ) -> (Vec<Candidate>, usize) {
        let mut random = fastrand::Rng::with_seed(seed);
        let variant = &self.level.variants[parent.origin.variant];
        let is_reversed = random.bool();
        let problem = if is_reversed { &variant.backward } else { &variant.forward };
        let width = (work / (problem.passes() * WORK_OF_STATE)).clamp(NARROWEST, WIDEST);
        let taste = Taste::random(width, &mut random);
        let mut orders = parent.orders.clone();
        if is_reversed {
            reverse(&mut orders);
        }
        let moves = Moves::of_problem(problem, is_reversed);
        let mut corridor = Corridor::new(&moves);
        let given = moves.sequence_of_orders(&orders);
        let shorter = given.and_then(|given| corridor.shorter(&given, taste, 2 * work, stop));
        let candidate = shorter.and_then(|shorter| {
            let mut orders = moves.orders(&shorter);
            if is_reversed {
                reverse(&mut orders);
            }
            self.judged(orders, parent.origin.improved())
        });
        let filled = candidate.as_ref().map(|candidate| self.justified(candidate, stop));
        let (filled, placed) = filled.unwrap_or((None, 0));
        (candidate.into_iter().chain(filled).collect(), placed + corridor.placed)
    }

    /// Schedules anew along the forwards of a candidate, a few of them out of turn, and goes on from
    /// what is no worse.
    fn rescheduled(
        &self,
        parent: &Candidate,
        seed: u64,
        work: usize,
        target: i64,
        stop: &Stop,
    ) -> (Vec<Candidate>, usize) {
        let mut random = fastrand::Rng::with_seed(seed);
        let rules = rules();
        let mut placed = 0;
        let mut best: Option<Candidate> = None;
        while placed < work && !stop.is_due() {
            let from = best.as_ref().unwrap_or(parent);
            if from.score.value <= target {
                break;
            }
            let problem = &self.level.variants[from.origin.variant].forward;
            let mut forwards = forwards_of(problem, &from.orders);
            disturb(&mut forwards, &mut random);
            let rule = rules[random.usize(..rules.len())];
            placed += 4 * problem.passes();
            let Some(orders) = dispatch(problem, &forwards, &problem.limits, rule, stop) else { continue };
            let Some(candidate) = self.judged(orders, from.origin.improved()) else { continue };
            let (filled, more) = self.justified(&candidate, stop);
            placed += more;
            let reached = filled.unwrap_or(candidate);
            if best.as_ref().is_none_or(|best| reached.score <= best.score) {
                best = Some(reached);
            }
        }
        (best.into_iter().collect(), placed)
    }
}

/// Moves a few forwards of one device before others of another stage.
fn disturb(forwards: &mut IndexedOrders, random: &mut fastrand::Rng) {
    let device = random.usize(..forwards.len());
    let order = &mut forwards[device];
    for _ in 0..=random.usize(..3) {
        let from = random.usize(..order.len());
        let to = from.saturating_sub(1 + random.usize(..4));
        // Microbatches of a stage stay first in, first out.
        if order[to..from].iter().all(|item| item.class != order[from].class) {
            order[to..=from].rotate_right(1);
        }
    }
}

/// A piece of the work of improving.
struct Piece {
    /// Which candidate.
    parent: usize,
    way: Way,
    seed: u64,
}

/// How a candidate is improved.
#[derive(Clone, Copy)]
enum Way {
    /// By annealing that begins so hot.
    Annealed(f64),
    /// Scheduled anew along its forwards.
    Rescheduled,
    /// By a search in a corridor around it.
    InCorridor,
}

/// How each piece is done, where not all are searches in corridors. Cool annealing keeps what is good, hot annealing finds other
/// ways.
const WAYS: [Way; BATCH] = [
    Way::Annealed(0.1),
    Way::Annealed(0.2),
    Way::Annealed(0.4),
    Way::Annealed(0.4),
    Way::Annealed(0.8),
    Way::Rescheduled,
    Way::Rescheduled,
    Way::Rescheduled,
];
