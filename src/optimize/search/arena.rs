//! The candidates at one number of microbatches: how they are judged, and the best few of them.

use itertools::Itertools as _;

use super::super::Objective;
use super::super::dense::{Dense, Orders, Times};
use super::super::fill::Justifier;
use crate::model::{Device, Model, Stage};
use crate::schedule::Schedule;

/// How many of the candidates are kept to be improved.
const KEPT: usize = 8;

/// What candidates are compared by: the objective, the other span, the largest peak.
pub(super) type Score = (i64, i64, i64);

/// Where a schedule came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Origin {
    pub engine: String,
    /// Which of the blocks.
    pub block: Option<usize>,
    /// Which of the variants it solves.
    pub variant: usize,
}

/// Orders with what is known of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate {
    pub score: Score,
    pub orders: Orders,
    pub origin: Origin,
}

/// The best few, best first.
#[derive(Debug, Default)]
pub(super) struct Pool(pub Vec<Candidate>);

impl Pool {
    pub(super) fn take(&mut self, candidate: Candidate) {
        let at = self.0.partition_point(|other| other.score <= candidate.score);
        let known = self.0[..at]
            .iter()
            .any(|other| other.score == candidate.score && other.orders == candidate.orders);
        if at < KEPT && !known {
            self.0.insert(at, candidate);
            self.0.truncate(KEPT);
        }
    }

    pub(super) fn extend(&mut self, candidates: impl IntoIterator<Item = Candidate>) {
        for candidate in candidates {
            self.take(candidate);
        }
    }

    pub(super) fn best(&self) -> Option<i64> {
        self.0.first().map(|best| best.score.0)
    }

    /// What a candidate must be better than to be taken.
    pub(super) fn threshold(&self) -> Option<Score> {
        self.0.get(KEPT - 1).map(|worst| worst.score)
    }
}

/// A problem in both directions of time, with some stages recomputed.
pub(super) struct Variant {
    pub forward: Dense,
    pub backward: Dense,
}

impl Variant {
    pub(super) fn new(model: &Model, recomputed: Vec<bool>) -> Self {
        let forward = Dense::new(model, recomputed);
        Self { backward: forward.reversed(), forward }
    }
}

/// The problem at one number of microbatches.
pub(super) struct Arena {
    pub model: Model,
    pub variants: Vec<Variant>,
    pub pool: Pool,
    /// How many microbatches will be added by stretching.
    pub missing: u32,
    pub objective: Objective,
}

impl Arena {
    pub(super) fn new(model: Model, missing: u32, objective: Objective) -> Self {
        let variants = recomputations(&model).into_iter().map(|set| Variant::new(&model, set)).collect();
        Self { model, variants, pool: Pool::default(), missing, objective }
    }

    pub(super) fn value(&self, makespan: i64, span: i64) -> (i64, i64) {
        match self.objective {
            Objective::Makespan => (makespan, span),
            Objective::DeviceSpan => (span, makespan),
        }
    }

    /// How good orders are once stretched; nothing when they cannot run or cannot be stretched.
    pub(super) fn score(&self, variant: usize, orders: &Orders) -> Option<Score> {
        let dense = &self.variants[variant].forward;
        let mut times = Times::default();
        if !dense.squeeze(orders, &mut times) {
            return None;
        }
        let (makespan, span) = dense.length(orders, &times);
        let more = if self.missing == 0 {
            0
        } else {
            let piece = dense.piece(orders, &times)?;
            i128::from(piece.time) * i128::from(self.missing / piece.period)
        };
        let more = i64::try_from(more).ok()?;
        let (value, other) = self.value(makespan, span);
        Some((value + more, other + more, dense.peak(orders)))
    }

    /// The candidate that a schedule is, with the first variant that recomputes what it does; nothing
    /// when it goes over a cap or cannot run.
    pub(super) fn candidate(
        &self,
        schedule: &Schedule,
        engine: &str,
        block: Option<usize>,
    ) -> Option<Candidate> {
        let (variant, orders) = self
            .variants
            .iter()
            .enumerate()
            .find_map(|(variant, problem)| Some((variant, problem.forward.orders_of(schedule)?)))?;
        self.judged(orders, Origin { engine: engine.to_owned(), block, variant })
    }

    pub(super) fn judged(&self, orders: Orders, origin: Origin) -> Option<Candidate> {
        let dense = &self.variants[origin.variant].forward;
        if !orders.iter().enumerate().all(|(device, order)| dense.fits(device, order)) {
            return None;
        }
        let score = self.score(origin.variant, &orders)?;
        Some(Candidate { score, orders, origin })
    }

    /// The candidate with its gaps filled, and how many passes were placed for it.
    pub(super) fn justified(
        &self,
        candidate: &Candidate,
        due: &dyn Fn() -> bool,
    ) -> (Option<Candidate>, usize) {
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
    pub(super) fn improved(&self) -> Self {
        const SUFFIX: &str = ", improved";
        let engine = if self.engine.ends_with(SUFFIX) {
            self.engine.clone()
        } else {
            format!("{}{SUFFIX}", self.engine)
        };
        Self { engine, ..self.clone() }
    }
}

/// The sets of stages that are tried as those which are recomputed: none, all, those below a stage,
/// whose activations live longest, and those of a single device, which alone may be short of memory;
/// of few stages every set.
fn recomputations(model: &Model) -> Vec<Vec<bool>> {
    let stages = model.stages() as usize;
    if model.memory().checkpoint.is_none() {
        return vec![vec![false; stages]];
    }
    let below = |size: usize| (0..stages).map(|stage| stage < size).collect::<Vec<bool>>();
    let mut sets = vec![below(0), below(stages)];
    sets.extend((1..8).map(|eighths| below(stages * eighths / 8)));
    if stages <= FEW_STAGES {
        sets.extend((0..1_u32 << stages).map(|set| (0..stages).map(|stage| set >> stage & 1 == 1).collect()));
    } else if model.devices() <= FEW_DEVICES {
        let held =
            |device| Stage::all(model.stages()).map(|at| model.placement().device_of(at) == device).collect();
        sets.extend(Device::all(model.devices()).map(held));
    }
    sets.into_iter().unique().collect()
}

/// Of so many stages every set is tried.
const FEW_STAGES: usize = 4;

/// Of so many devices the stages of each are tried.
const FEW_DEVICES: u32 = 8;
