//! The candidates at one number of microbatches: how they are judged, and the best few of them.

use itertools::Itertools as _;

use super::super::Objective;
use super::super::justify::Justifier;
use super::super::lengths::lengths;
use crate::kernel::{EndTimes, IndexedOrders, IndexedProblem, Segment};
use crate::model::{Device, Model, Stage};
use crate::schedule::Schedule;
use crate::stop::Stop;

/// How many of the candidates are kept to be improved.
const KEPT: usize = 8;

/// What candidates are compared by, the first that differs deciding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Score {
    /// The objective, in ticks.
    pub value: i64,
    /// Whether it recomputes anything.
    pub recomputes: bool,
    /// The largest peak of a device, weights included, in units.
    pub peak: i64,
    /// The peaks of all devices together.
    pub peaks: i64,
    /// How many passes recompute.
    recomputations: usize,
    /// The span that is not the objective.
    other: i64,
}

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
    pub orders: IndexedOrders,
    pub origin: Origin,
    /// The objective without what is repeated, in ticks, where that is no short steady phase.
    pub long_from: Option<i64>,
    /// Whether it has been made one of all microbatches.
    pub is_unrolled: bool,
}

/// Why orders are no candidate.
pub(super) enum NoCandidate {
    /// They go over a capacity, or cannot run.
    Invalid,
    /// They have nothing that could be repeated. As they are, the objective is this, in ticks.
    Unrepeated(i64),
}

/// The best few, best first. Of those that recompute and of those that do not, no more than half where there are both: without what
/// nothing needs, the first ones may turn out to be shorter than the others.
#[derive(Debug, Default)]
pub(super) struct Pool(pub Vec<Candidate>);

impl Pool {
    pub(super) fn take(&mut self, candidate: Candidate) {
        let at = self.0.partition_point(|other| other.score <= candidate.score);
        let known = self.0[..at]
            .iter()
            .any(|other| other.score == candidate.score && other.orders == candidate.orders);
        if known {
            return;
        }
        self.0.insert(at, candidate);
        if self.0.len() > KEPT {
            let recomputing = self.0.iter().filter(|candidate| candidate.score.recomputes).count();
            let crowded = recomputing > KEPT / 2;
            let worst = self.0.iter().rposition(|candidate| candidate.score.recomputes == crowded);
            self.0.remove(worst.expect("one of them has more than half"));
        }
    }

    /// Whether a candidate with this score would be kept.
    pub(super) fn keeps(&self, score: Score) -> bool {
        let mut alike = self.0.iter().filter(|candidate| candidate.score.recomputes == score.recomputes);
        let (count, worst) = (alike.clone().count(), alike.next_back());
        self.0.len() < KEPT || 2 * count < KEPT || worst.is_some_and(|worst| score < worst.score)
    }

    pub(super) fn extend(&mut self, candidates: impl IntoIterator<Item = Candidate>) {
        for candidate in candidates {
            self.take(candidate);
        }
    }

    pub(super) fn best(&self) -> Option<i64> {
        self.0.first().map(|best| best.score.value)
    }
}

/// A problem in both directions of time, with some stages recomputed.
pub(super) struct Variant {
    pub forward: IndexedProblem,
    pub backward: IndexedProblem,
    /// By stage: whether it is recomputed.
    recomputed: Vec<bool>,
    /// How many passes recompute.
    recomputations: usize,
}

impl Variant {
    pub(super) fn new(model: &Model, recomputed: &[bool]) -> Self {
        let forward = IndexedProblem::split(model, recomputed);
        let stages = recomputed.iter().filter(|&&recomputed| recomputed).count();
        Self {
            backward: forward.reversed(),
            recomputed: recomputed.to_vec(),
            recomputations: stages * forward.microbatches() as usize,
            forward,
        }
    }

    /// By stage: whether it is recomputed, where some are and others are not.
    pub(super) fn parts(&self) -> Option<&[bool]> {
        let stages = self.recomputed.iter();
        stages.clone().any(|&again| again).then_some(())?;
        stages.clone().any(|&again| !again).then_some(&self.recomputed)
    }

    /// Whether this recomputes some of the stages that another one recomputes, and no others.
    fn is_leaner_than(&self, other: &Self) -> bool {
        let mut both = self.recomputed.iter().zip(&other.recomputed);
        self.recomputations < other.recomputations && both.all(|(ours, theirs)| !ours || *theirs)
    }
}

/// The problem at one number of microbatches, in all variants.
pub(super) struct Level {
    pub model: Model,
    pub variants: Vec<Variant>,
    /// What the weights hold on each device, in units.
    resident: Vec<i64>,
}

impl Level {
    pub(super) fn new(model: Model) -> Self {
        let variants = recomputations(&model).into_iter().map(|set| Variant::new(&model, &set)).collect();
        let resident = Device::all(model.devices()).map(|device| model.resident(device).0).collect();
        Self { model, variants, resident }
    }

    /// The variant that recomputes the fewest of the stages that a variant does and in which the orders fit all the
    /// same, with the orders there; nothing when that is the variant itself.
    fn leaner(&self, variant: usize, orders: &IndexedOrders) -> Option<(usize, IndexedOrders)> {
        let of = &self.variants[variant];
        let leaner = self.variants.iter().enumerate().filter(|(_, other)| other.is_leaner_than(of));
        let mut fewest_first = leaner.sorted_by_key(|(_, other)| other.recomputations);
        let fits = |(at, other): (usize, &Variant)| {
            let without = other.forward.without_absent(orders);
            other.forward.fits(&without).then_some((at, without))
        };
        fewest_first.find_map(fits)
    }

    /// The first variant in which something can be expressed, and its orders there.
    pub(super) fn variant_of(
        &self,
        split: impl Fn(&IndexedProblem) -> Option<IndexedOrders>,
    ) -> Option<(usize, IndexedOrders)> {
        let mut variants = self.variants.iter().enumerate();
        variants.find_map(|(variant, problem)| Some((variant, split(&problem.forward)?)))
    }
}

/// What a search knows at one number of microbatches.
pub(super) struct Arena<'a> {
    pub level: &'a Level,
    pub pool: Pool,
    /// How many microbatches will be added by unrolling.
    pub missing: u32,
    pub objective: Objective,
}

impl<'a> Arena<'a> {
    pub(super) fn new(level: &'a Level, missing: u32, objective: Objective) -> Self {
        Self { level, pool: Pool::default(), missing, objective }
    }

    /// How good orders are once unrolled, and the objective as they are, where what is repeated is no short steady phase.
    fn score(&self, variant: usize, orders: &IndexedOrders) -> Result<(Score, Option<i64>), NoCandidate> {
        let problem = &self.level.variants[variant].forward;
        let mut times = EndTimes::default();
        if !problem.asap(orders, &mut times) {
            return Err(NoCandidate::Invalid);
        }
        let (value, other) = lengths(problem, self.objective, orders, &times);
        let (more, is_long) = if self.missing == 0 {
            (0, false)
        } else {
            let (segment, is_long) =
                repeatable(problem, orders, &times).ok_or(NoCandidate::Unrepeated(value))?;
            (i128::from(segment.time) * i128::from(self.missing) / i128::from(segment.period), is_long)
        };
        let more = i64::try_from(more).map_err(|_| NoCandidate::Invalid)?;
        let held = orders.iter().zip(&self.level.resident);
        let held = held.map(|(order, weights)| problem.peak_of(order) + weights);
        let (peak, peaks) = held.fold((0, 0), |(most, all), held| (most.max(held), held + all));
        let recomputations = self.level.variants[variant].recomputations;
        let score = Score {
            value: value + more,
            recomputes: recomputations > 0,
            peak,
            peaks,
            recomputations,
            other: other + more,
        };
        Ok((score, is_long.then_some(value)))
    }

    /// The candidate that a schedule is, in the first variant that recomputes what it does; nothing when it
    /// goes over a capacity or cannot run.
    pub(super) fn candidate(
        &self,
        schedule: &Schedule,
        engine: &str,
        block: Option<usize>,
    ) -> Option<Candidate> {
        let (variant, orders) = self.level.variant_of(|problem| problem.split_orders(schedule))?;
        self.judged(orders, Origin { engine: engine.to_owned(), block, variant })
    }

    /// The candidate that orders are which fit and can run, without the recomputation of stages that fit
    /// without.
    pub(super) fn judged(&self, orders: IndexedOrders, origin: Origin) -> Option<Candidate> {
        self.judge(orders, origin).ok()
    }

    /// The same, or why there is no candidate.
    pub(super) fn judge(
        &self,
        mut orders: IndexedOrders,
        mut origin: Origin,
    ) -> Result<Candidate, NoCandidate> {
        if !self.level.variants[origin.variant].forward.fits(&orders) {
            return Err(NoCandidate::Invalid);
        }
        if let Some((variant, leaner)) = self.level.leaner(origin.variant, &orders) {
            orders = leaner;
            origin = Origin { variant, ..origin.improved() };
        }
        let (score, long_from) = self.score(origin.variant, &orders)?;
        Ok(Candidate { score, orders, origin, long_from, is_unrolled: false })
    }

    /// The candidate with its gaps filled, and how many passes were placed for it.
    pub(super) fn justified(&self, candidate: &Candidate, stop: &Stop) -> (Option<Candidate>, usize) {
        let variant = &self.level.variants[candidate.origin.variant];
        let mut justifier = Justifier::new(&variant.forward, &variant.backward, self.objective);
        let mut orders = candidate.orders.clone();
        let reached = justifier.justify(&mut orders, stop);
        let better = reached.and_then(|_| self.judged(orders, candidate.origin.improved()));
        (better, justifier.placed)
    }
}

/// The segment of orders with their ASAP times that is repeated where there are more microbatches, and whether it is a long one.
pub(super) fn repeatable(
    problem: &IndexedProblem,
    orders: &IndexedOrders,
    times: &EndTimes,
) -> Option<(Segment, bool)> {
    let short = problem.steady_segment(orders, times).map(|segment| (segment, false));
    short.or_else(|| Some((problem.long_segment(orders, times)?, true)))
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

/// Up to this many stages, every set is tried.
const FEW_STAGES: usize = 4;

/// Up to this many devices, the stages of each are tried.
const FEW_DEVICES: u32 = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::Passes;
    use crate::model::{Placement, Units};
    use crate::optimize::thinned::thinned;
    use crate::optimize::zone;

    /// With room for nine chunks a thinned block has a period of twenty microbatches, and with room for sixteen nothing is left out.
    #[test]
    fn few_microbatches_are_a_candidate_with_a_long_period_too() {
        let model =
            Model::equal_stages(Placement::v(16).expect("a placement"), 90, [3, 4, 2, 1]).expect("a model");
        let with_room = |capacity| model.with_uniform_capacity(Units(capacity)).expect("a capacity");
        let block =
            zone::least_interval(&with_room(16), Passes::SPLIT, &Stop::default()).expect("a block").block;
        let missing = 100;
        for (capacity, is_long) in [(9, true), (16, false)] {
            let level = Level::new(with_room(capacity));
            let schedule = thinned(&level.model, &block, &Stop::default()).expect("a chunk fits");
            let alone = Arena::new(&level, 0, Objective::Makespan).candidate(&schedule, "thinned", None);
            let alone = alone.expect("it fits").score.value;
            let few = Arena::new(&level, missing, Objective::Makespan).candidate(&schedule, "thinned", None);
            let few = few.expect("something is repeated");
            assert_eq!(few.long_from, is_long.then_some(alone));
            assert!(few.score.value - alone >= 18 * i64::from(missing), "a microbatch is 18 ticks of work");
        }
    }

    /// Candidates that differ in nothing but this.
    fn candidate(value: i64, recomputes: bool) -> Candidate {
        let score =
            Score { value, recomputes, peak: 0, peaks: 0, recomputations: usize::from(recomputes), other: 0 };
        let origin = Origin { engine: String::new(), block: None, variant: 0 };
        Candidate { score, orders: Vec::new(), origin, long_from: None, is_unrolled: false }
    }

    #[test]
    fn half_of_those_that_are_kept_may_recompute_however_short_the_others_are() {
        let mut pool = Pool::default();
        pool.extend((10..30).map(|value| candidate(value, false)));
        assert!(!pool.keeps(candidate(17, false).score) && pool.keeps(candidate(16, false).score));
        for value in (50..60).rev() {
            assert!(pool.keeps(candidate(value, true).score));
            pool.take(candidate(value, true));
        }
        assert!(!pool.keeps(candidate(53, true).score) && pool.keeps(candidate(52, true).score));
        let kept: Vec<(i64, bool)> =
            pool.0.iter().map(|candidate| (candidate.score.value, candidate.score.recomputes)).collect();
        let expected = (10..14).map(|value| (value, false)).chain((50..54).map(|value| (value, true)));
        assert_eq!(kept, expected.collect::<Vec<_>>());
    }
}
