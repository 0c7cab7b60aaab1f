//! The search: candidates, the best of them, and their improvement.
//!
//! With many microbatches all of it happens on fewer, whose best schedules are then
//! [stretched](super::stretch). The work is divided into pieces that know nothing of each other and
//! are the same for any number of threads.

use std::ops::Range;

use super::anneal::Annealing;
use super::crew::divided;
use super::dense::{Dense, Orders, Times};
use super::feasible::serial;
use super::fill::Justifier;
use super::list::{Rule, list_schedule, plan_of, rules};
use super::periodic::Effort;
use super::stretch::{core, piece, stretched};
use super::{Objective, Options, Progress, Stop, plan};
use crate::block::Block;
use crate::catalog;
use crate::model::{Model, Ticks};
use crate::schedule::Schedule;

/// How many of the candidates are kept to be improved.
const KEPT: usize = 8;

/// The effort for one swap in the search for a block of several microbatches per interval.
const EFFORT_PER_SWAP: usize = 2000;

/// How many pieces of work are handed out at a time.
const BATCH: usize = 8;

/// The best candidate.
pub(super) struct Best {
    pub schedule: Schedule,
    pub engine: String,
    pub block: Option<Block>,
}

/// What candidates are compared by: the objective, the other span, the largest peak.
type Score = (i64, i64, i64);

/// Where a schedule came from.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Origin {
    engine: String,
    /// Which of the blocks.
    block: Option<usize>,
    /// Which of the variants it solves.
    variant: usize,
}

/// Orders with what is known of them.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Candidate {
    score: Score,
    orders: Orders,
    origin: Origin,
}

/// The best few, best first.
#[derive(Debug, Default)]
struct Pool(Vec<Candidate>);

impl Pool {
    fn take(&mut self, candidate: Candidate) {
        let at = self.0.partition_point(|other| other.score <= candidate.score);
        let known = self.0[..at]
            .iter()
            .any(|other| other.score == candidate.score && other.orders == candidate.orders);
        if at < KEPT && !known {
            self.0.insert(at, candidate);
            self.0.truncate(KEPT);
        }
    }

    fn extend(&mut self, candidates: impl IntoIterator<Item = Candidate>) {
        for candidate in candidates {
            self.take(candidate);
        }
    }

    fn best(&self) -> Option<i64> {
        self.0.first().map(|best| best.score.0)
    }

    /// What a candidate must be better than to be taken.
    fn threshold(&self) -> Option<Score> {
        self.0.get(KEPT - 1).map(|worst| worst.score)
    }
}

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

/// Blocks within tighter caps are looked for up to so many devices.
const FEW_DEVICES: u32 = 16;

/// A problem in both directions of time, with some stages recomputed.
struct Variant {
    forward: Dense,
    backward: Dense,
}

impl Variant {
    fn new(model: &Model, recomputed: Vec<bool>) -> Self {
        let forward = Dense::new(model, recomputed);
        Self { backward: forward.reversed(), forward }
    }
}

/// The problem at one number of microbatches.
struct Arena {
    model: Model,
    variants: Vec<Variant>,
    pool: Pool,
    /// How many microbatches will be added by stretching.
    missing: u32,
    objective: Objective,
}

impl Arena {
    fn new(model: Model, missing: u32, objective: Objective) -> Self {
        let variants = recomputations(&model).into_iter().map(|set| Variant::new(&model, set)).collect();
        Self { model, variants, pool: Pool::default(), missing, objective }
    }

    fn value(&self, makespan: i64, span: i64) -> (i64, i64) {
        match self.objective {
            Objective::Makespan => (makespan, span),
            Objective::Span => (span, makespan),
        }
    }

    /// How good orders are once stretched; nothing when they cannot run or cannot be stretched.
    fn score(&self, variant: usize, orders: &Orders) -> Option<Score> {
        let dense = &self.variants[variant].forward;
        let mut times = Times::default();
        if !dense.squeeze(orders, &mut times) {
            return None;
        }
        let (makespan, span) = dense.length(orders, &times);
        let more = if self.missing == 0 {
            0
        } else {
            let piece = piece(dense, orders, &times)?;
            i128::from(piece.time) * i128::from(self.missing / piece.period)
        };
        let more = i64::try_from(more).ok()?;
        let (value, other) = self.value(makespan, span);
        Some((value + more, other + more, dense.peak(orders)))
    }

    /// The candidate that a schedule is, with the first variant that recomputes what it does; nothing
    /// when it goes over a cap or cannot run.
    fn candidate(&self, schedule: &Schedule, engine: &str, block: Option<usize>) -> Option<Candidate> {
        let (variant, orders) = self
            .variants
            .iter()
            .enumerate()
            .find_map(|(variant, problem)| Some((variant, problem.forward.orders_of(schedule)?)))?;
        self.judged(orders, Origin { engine: engine.to_owned(), block, variant })
    }

    fn judged(&self, orders: Orders, origin: Origin) -> Option<Candidate> {
        let dense = &self.variants[origin.variant].forward;
        if !orders.iter().enumerate().all(|(device, order)| dense.fits(device, order)) {
            return None;
        }
        let score = self.score(origin.variant, &orders)?;
        Some(Candidate { score, orders, origin })
    }

    /// The candidate with its gaps filled, and how many passes were placed for it.
    fn justified(&self, candidate: &Candidate, due: &dyn Fn() -> bool) -> (Option<Candidate>, usize) {
        let variant = &self.variants[candidate.origin.variant];
        let mut justifier = Justifier::new(&variant.forward, &variant.backward);
        let mut orders = candidate.orders.clone();
        let reached = justifier.justify(&mut orders, |makespan, span| self.value(makespan, span), due);
        let better = reached.and_then(|_| self.judged(orders, candidate.origin.improved()));
        (better, justifier.placed)
    }
}

impl Origin {
    /// What found it, after an improvement: it is no longer that of a name.
    fn improved(&self) -> Self {
        const SUFFIX: &str = ", improved";
        let engine = if self.engine.ends_with(SUFFIX) {
            self.engine.clone()
        } else {
            format!("{}{SUFFIX}", self.engine)
        };
        Self { engine, ..self.clone() }
    }
}

pub(super) struct Search<'a> {
    options: &'a Options,
    bound: Ticks,
    stop: Stop,
    progress: &'a mut dyn FnMut(&Progress),
    blocks: Vec<Block>,
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
        let enough = model.devices().saturating_mul(3).max(24);
        let fewer = core(model.microbatches(), enough);
        let few = model
            .with_microbatches(fewer)
            .ok()
            .filter(|_| fewer < model.microbatches())
            .map(|few| Arena::new(few, model.microbatches() - fewer, options.objective));
        let whole = Arena::new(model.clone(), 0, options.objective);
        Self { options, bound, stop, progress, blocks: Vec::new(), whole, few, placed: 0, rounds: 0 }
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

    /// Takes a schedule that something else has found.
    pub(super) fn put(&mut self, schedule: &Schedule, engine: &str) {
        let candidate = self.whole.candidate(schedule, engine, None);
        self.whole.pool.extend(candidate);
    }

    /// Where most of the work is done.
    fn arena(&mut self) -> &mut Arena {
        self.few.as_mut().unwrap_or(&mut self.whole)
    }

    /// Takes what blocks, list scheduling and the catalogue give, its gaps filled.
    pub(super) fn propose(&mut self) {
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
    }

    /// Improves the best candidates until so many passes have been placed in all.
    pub(super) fn improve(&mut self, effort: usize) {
        self.anneal(effort);
        self.stretch();
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
        for entry in catalog::entries() {
            if self.is_done() {
                return;
            }
            if let Ok(schedule) = entry.generate_until(&model, &|| stop.is_due()) {
                self.add(plans, &schedule, entry.name, None);
            }
        }
    }

    /// Takes the blocks and named schedules of all microbatches, where fewer were searched.
    pub(super) fn complete(&mut self) {
        if self.few.is_none() || self.is_done() {
            return;
        }
        self.tell("catalogue");
        for (at, block) in self.blocks.iter().enumerate() {
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
            let made = entry.generate_until(&self.whole.model, &|| stop.is_due());
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

    /// Anneals and fills the best candidates in turn, as long as the effort lasts.
    fn anneal(&mut self, effort: usize) {
        while !self.is_done() && self.placed < effort {
            self.tell("improving");
            let stop = self.stop.clone();
            let arena = self.few.as_ref().unwrap_or(&self.whole);
            let target = arena.target(self.bound);
            let share = (self.options.effort / 6 / BATCH).max(arena.variants[0].forward.passes() * 50);
            let left = (effort - self.placed) / BATCH + 1;
            let mut random = fastrand::Rng::with_seed(self.options.seed ^ (self.rounds << 32));
            let parents = arena.pool.0.len();
            let pieces: Vec<Piece> = (0..BATCH)
                .map(|at| {
                    // Better candidates more often.
                    let parent = random.usize(..parents).min(random.usize(..parents));
                    Piece { parent, heat: HEATS.get(at).copied(), seed: random.u64(..) }
                })
                .collect();
            let found = divided(self.options.threads, &pieces, |piece| {
                arena.improved(piece, share.min(left), target, &|| stop.is_due())
            });
            for (candidates, placed) in found {
                self.placed += placed;
                self.arena().pool.extend(candidates);
            }
            self.rounds += 1;
        }
    }

    /// Makes the best schedules of few microbatches ones of all.
    fn stretch(&mut self) {
        let Some(few) = &self.few else { return };
        for candidate in &few.pool.0 {
            let dense = &few.variants[candidate.origin.variant].forward;
            let mut times = Times::default();
            if !dense.squeeze(&candidate.orders, &mut times) {
                continue;
            }
            let Some(piece) = piece(dense, &candidate.orders, &times) else { continue };
            let Some(orders) = stretched(&candidate.orders, &piece, few.missing / piece.period) else {
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

impl Arena {
    /// The objective at which a schedule of few microbatches has nothing left to win.
    fn target(&self, bound: Ticks) -> i64 {
        if self.missing == 0 {
            return bound.0;
        }
        crate::certificate::lower_bound(&self.model, self.objective.metric()).value.0
    }
}

impl Arena {
    /// What a piece of work makes of its parent, and how many passes were placed for it.
    fn improved(
        &self,
        piece: &Piece,
        work: usize,
        target: i64,
        due: &dyn Fn() -> bool,
    ) -> (Vec<Candidate>, usize) {
        let parent = &self.pool.0[piece.parent];
        match piece.heat {
            Some(heat) => self.annealed(parent, heat, piece.seed, work, target, due),
            None => self.replanned(parent, piece.seed, work, target, due),
        }
    }

    fn annealed(
        &self,
        parent: &Candidate,
        heat: f64,
        seed: u64,
        work: usize,
        target: i64,
        due: &dyn Fn() -> bool,
    ) -> (Vec<Candidate>, usize) {
        let dense = &self.variants[parent.origin.variant].forward;
        let mut annealing = Annealing::new(dense, parent.orders.clone(), heat, seed);
        let orders = annealing.run(work, |makespan, span| self.value(makespan, span).0, target, due);
        let annealed = self.judged(orders, parent.origin.improved());
        let filled = annealed.as_ref().map(|candidate| self.justified(candidate, due));
        let (filled, placed) = filled.unwrap_or((None, 0));
        (annealed.into_iter().chain(filled).collect(), placed + annealing.placed)
    }

    /// Schedules anew along the forwards of a candidate, a few of them out of turn, and goes on from
    /// what is no worse.
    fn replanned(
        &self,
        parent: &Candidate,
        seed: u64,
        work: usize,
        target: i64,
        due: &dyn Fn() -> bool,
    ) -> (Vec<Candidate>, usize) {
        let mut random = fastrand::Rng::with_seed(seed);
        let dense = &self.variants[parent.origin.variant].forward;
        let rules = rules();
        let mut placed = 0;
        let mut best: Option<Candidate> = None;
        while placed < work && !due() {
            let from = best.as_ref().unwrap_or(parent);
            if from.score.0 <= target {
                break;
            }
            let mut plan = plan_of(&from.orders);
            disturb(&mut plan, &mut random);
            let rule = rules[random.usize(..rules.len())];
            placed += 4 * dense.passes();
            let Some(orders) = list_schedule(dense, &plan, &dense.limits, rule) else { continue };
            let Some(candidate) = self.judged(orders, parent.origin.improved()) else { continue };
            let (filled, more) = self.justified(&candidate, due);
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
fn disturb(plan: &mut Orders, random: &mut fastrand::Rng) {
    let device = random.usize(..plan.len());
    let order = &mut plan[device];
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
    /// How hot the annealing begins; without, forwards are planned anew.
    heat: Option<f64>,
    seed: u64,
}

/// How hot annealing begins, by piece: cool ones keep what is good, hot ones find other ways.
const HEATS: [f64; 5] = [0.1, 0.2, 0.4, 0.4, 0.8];

/// The sets of stages that are tried as those which are recomputed: none, all, and those below a stage,
/// whose activations live longest.
fn recomputations(model: &Model) -> Vec<Vec<bool>> {
    let stages = model.stages() as usize;
    if model.memory().checkpoint.is_none() {
        return vec![vec![false; stages]];
    }
    let mut sizes = vec![0, stages];
    sizes.extend((1..8).map(|eighths| stages * eighths / 8));
    let mut sets: Vec<Vec<bool>> = Vec::new();
    for size in sizes {
        let set: Vec<bool> = (0..stages).map(|stage| stage < size).collect();
        if !sets.contains(&set) {
            sets.push(set);
        }
    }
    sets
}
