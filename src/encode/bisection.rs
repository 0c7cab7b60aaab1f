//! The best block, from an engine that decides whether there is a block of a fixed interval.
//!
//! Only questions with a fixed T are asked: a block that exists for T exists for every larger one
//! (divide by T: `u_b - u_a >= w*r - k` is the easier the smaller r), and a block that is found is at
//! once replaced by the least interval of its `k`, exactly.

use num_integer::Integer;
use num_rational::Ratio;

use super::ranges::{Ranges, Scale, limits, next_below, refuted_limit};
use super::{
    BlockBound, BlockObjective, BlockOutcome, BlockProblem, CheckedBlock, Claim, EncodeError, Rejection,
    checked_block,
};
use crate::certificate::{CHECK_STEPS, is_least_pace};
use crate::model::{Model, Ticks, Units};
use crate::stop::Stop;

/// From this many microbatches per interval on, engines take minutes to refute an interval.
const MANY: u32 = 4;

/// What an engine says to one question.
pub(super) enum Decision {
    /// There is a block, with these shifts.
    Yes(Vec<i64>),
    /// There is none.
    No,
    /// None was found with the effort of this question. The next one may be easier.
    #[cfg_attr(
        not(feature = "lcg"),
        expect(dead_code, reason = "lazy clause generation alone counts effort")
    )]
    GivenUp,
    /// The time is up, or the engine does not know or failed, which is then the reason.
    Unknown(Option<EncodeError>),
}

impl Decision {
    /// Why the engine does not know, if there is a reason.
    fn reason(self) -> Option<EncodeError> {
        match self {
            Self::Unknown(reason) => reason,
            Self::Yes(_) | Self::No | Self::GivenUp => None,
        }
    }
}

/// What decides whether there is a block of an interval under one limit per device. The ranges come from propagation.
pub(super) trait Decide {
    /// Whether there is one.
    fn decide(
        &mut self,
        scale: Scale,
        ranges: &Ranges,
        limits: &[Option<i64>],
    ) -> Result<Decision, EncodeError>;

    /// What decides whether there is one of at most a length in parts; nothing if the engine fails.
    fn by_length(
        &mut self,
        scale: Scale,
        ranges: &Ranges,
        limits: &[Option<i64>],
    ) -> Option<impl FnMut(i128) -> Result<Decision, EncodeError>>;
}

/// What a search for the least interval begins with.
#[derive(Debug, Clone)]
pub(crate) struct Known {
    /// A block of the model.
    pub block: CheckedBlock,
    /// No interval of as many microbatches is below this, in ticks.
    pub least: Ratio<i64>,
}

/// A search for the best block of a problem.
pub(super) struct Bisection<'a, D> {
    pub model: &'a Model,
    pub problem: &'a BlockProblem,
    pub engine: D,
    /// Until when it may be asked whether any schedule is faster, where the engine would take long to refute blocks.
    pub of_schedules: Option<&'a Stop>,
}

impl<D: Decide> Bisection<'_, D> {
    /// A best block, and a shortest one of these if there is time. What is known counts for the least interval alone.
    pub fn solve(
        mut self,
        objective: BlockObjective,
        known: Option<Known>,
    ) -> Result<BlockOutcome, EncodeError> {
        let outcome = match objective {
            BlockObjective::LeastMemory { interval } => self.least_memory(interval)?,
            BlockObjective::LeastInterval => self.least_interval(known)?,
        };
        let BlockOutcome::Optimal(best) = outcome else { return Ok(outcome) };
        let peak = match objective {
            BlockObjective::LeastMemory { .. } => Some(best.peak_max()),
            BlockObjective::LeastInterval => None,
        };
        self.shortest(best, peak).map(BlockOutcome::Optimal)
    }

    /// Searches upwards from the bound that propagation proves: in steps that double until a block is
    /// found, then between what is refuted and what is found.
    fn least_memory(&mut self, interval: Ticks) -> Result<BlockOutcome, EncodeError> {
        if interval.0 <= 0 {
            return Err(EncodeError::NotPositive(interval));
        }
        if interval.0 < self.problem.most_work() {
            return Ok(BlockOutcome::Infeasible);
        }
        let ticks = Ratio::from_integer(i128::from(interval.0));
        let scale = Scale::at(self.problem, ticks)?;
        let quantum = self.problem.quantum();
        if Ranges::of(self.problem, scale, self.problem.capacities()).is_none() {
            return Ok(BlockOutcome::Infeasible);
        }
        let mut least = refuted_limit(self.problem, scale)? + quantum;
        let most = self.most_limit(interval)?;
        let mut best: Option<CheckedBlock> = None;
        let mut step = 0;
        loop {
            let trial = match best {
                Some(best) if best.peak_max().0 - quantum < least => return Ok(BlockOutcome::Optimal(best)),
                Some(ref best) => least + (best.peak_max().0 - quantum - least) / 2 / quantum * quantum,
                None => most.min(least + step),
            };
            let limits = limits(self.problem, Some(trial));
            match self.decide(scale, &limits)? {
                Decision::Yes(shifts) => {
                    let claim = Claim { interval: Some(ticks), peak: Some(Units(trial)) };
                    best = Some(checked_block(self.model, self.problem, &shifts, claim)?);
                }
                Decision::No if best.is_none() && trial >= most => {
                    return Ok(BlockOutcome::Infeasible);
                }
                Decision::No => {
                    least = (trial / quantum + 1) * quantum;
                    // A block once found, there is nothing to climb to.
                    if best.is_none() {
                        step = (step * 2).max(quantum);
                    }
                }
                said @ (Decision::GivenUp | Decision::Unknown(_)) => {
                    return open(best, BlockBound::Memory(Units(least)), said.reason());
                }
            }
        }
    }

    /// A limit that excludes nothing which the capacities do not exclude: the largest capacity, or, of a
    /// device without one, what it can hold. In normal form no link of the chain waits for an interval, so no
    /// more copies overlap than the chain has links and is intervals long.
    fn most_limit(&self, interval: Ticks) -> Result<i64, EncodeError> {
        let links = i128::try_from(self.problem.links().len()).unwrap_or(i128::from(i64::MAX));
        let copies = i128::from(self.problem.serial() / interval.0) + links + 2;
        let capacities =
            self.problem.capacities().iter().zip(self.problem.holds()).map(|(capacity, holds)| {
                let held = || holds.iter().map(|hold| i128::from(hold.units)).sum::<i128>();
                capacity.map_or_else(|| held().checked_mul(copies), |capacity| Some(capacity.into()))
            });
        let most = capacities.collect::<Option<Vec<_>>>().and_then(|capacities| capacities.into_iter().max());
        // Twice as much still fits: the steps towards it do.
        let fits = |most: i128| i64::try_from(most).ok().filter(|most| *most < i64::MAX / 4);
        most.and_then(fits).ok_or(EncodeError::Overflow)
    }

    /// Bisects between an interval that is refuted and the best one known, then asks for anything better than that at all.
    pub fn least_interval(&mut self, known: Option<Known>) -> Result<BlockOutcome, EncodeError> {
        if self.problem.overfull().is_some() {
            return Ok(BlockOutcome::Infeasible);
        }
        let (mut least, mut best) = match known {
            Some(Known { block, least }) => (wide(least), Some(block)),
            None => (Ratio::from_integer(self.problem.most_work().into()), None),
        };
        let serial = Ratio::from_integer(i128::from(self.problem.serial()));
        // An interval of `least` itself is refuted, or given up, once this is set.
        let mut refuted = false;
        // What is proved, where something was given up.
        let mut proved = None;
        // Until a block is known, steps double: the longer the interval, the larger the question, and the best is mostly near `least`.
        let mut step = (least / 16).ceil();
        loop {
            let trial = match &best {
                None if !refuted => least,
                None => {
                    let trial = (least + step).min(serial);
                    step *= 2;
                    trial
                }
                Some(answer) => {
                    let found = wide(answer.interval);
                    let below = next_below(self.problem, found)?;
                    if found == least || below < least || (refuted && below == least) {
                        if let Some(proved) = proved {
                            return open(best, BlockBound::Interval(narrow(proved)?), None);
                        }
                        return Ok(best.map_or(BlockOutcome::Infeasible, BlockOutcome::Optimal));
                    }
                    let middle = ((least + found) / 2).floor();
                    if least < middle && middle < below {
                        middle
                    } else if self.is_least_of_schedules(answer.interval) {
                        return Ok(BlockOutcome::Optimal(answer.clone()));
                    } else {
                        below
                    }
                }
            };
            match self.decide(Scale::at(self.problem, trial)?, self.problem.capacities())? {
                Decision::Yes(shifts) => {
                    let found = checked_block(self.model, self.problem, &shifts, Claim::default())?;
                    if wide(found.interval) > trial {
                        return Err(Rejection::Interval { claimed: trial }.into());
                    }
                    best = Some(found);
                }
                Decision::No if trial >= serial => {
                    let reason =
                        "microbatches that run alone make a block, and an engine says that they do not";
                    return Err(EncodeError::Contradiction(reason));
                }
                // Every shorter interval is refuted with it, and so is all that was given up.
                Decision::No => (least, refuted, proved) = (trial, true, None),
                Decision::GivenUp if trial >= serial => {
                    return open(best, BlockBound::Interval(narrow(proved.unwrap_or(least))?), None);
                }
                Decision::GivenUp => {
                    proved = proved.or(Some(least));
                    (least, refuted) = (trial, true);
                }
                Decision::Unknown(reason) => {
                    return open(best, BlockBound::Interval(narrow(proved.unwrap_or(least))?), reason);
                }
            }
        }
    }

    /// Whether no schedule takes less for each microbatch in the long run than a block of this interval. That is worth asking only where
    /// the engine would take minutes to find that no block is better.
    fn is_least_of_schedules(&self, interval: Ratio<i64>) -> bool {
        let period = self.problem.period();
        let pace = interval / i64::from(period);
        let is_least = |stop: &Stop| is_least_pace(self.model, pace, CHECK_STEPS, &mut || stop.is_due());
        period >= MANY && self.of_schedules.is_some_and(is_least)
    }

    /// Whether there is a block of this interval under these limits.
    fn decide(&mut self, scale: Scale, limits: &[Option<i64>]) -> Result<Decision, EncodeError> {
        match Ranges::of(self.problem, scale, limits) {
            None => Ok(Decision::No),
            Some(ranges) => self.engine.decide(scale, &ranges, limits),
        }
    }

    /// A shortest block of the same interval and at most the memory `peak`, or the shortest found. A longer one is as good: what goes
    /// wrong with the engine is no loss.
    pub fn shortest(&mut self, best: CheckedBlock, peak: Option<Units>) -> Result<CheckedBlock, EncodeError> {
        let interval = wide(best.interval);
        let scale = Scale::at(self.problem, interval)?;
        let limits = limits(self.problem, peak.map(|peak| peak.0));
        let Some(ranges) = Ranges::of(self.problem, scale, &limits) else {
            return Err(Rejection::Interval { claimed: interval }.into());
        };
        let Some(mut decide) = self.engine.by_length(scale, &ranges, &limits) else { return Ok(best) };
        let (mut least, mut best) = (ranges.length, best);
        loop {
            let length = i128::from(best.length(self.model).0);
            if length <= least {
                return Ok(best);
            }
            let trial = Integer::div_floor(&(least + length - 1), &2);
            match decide(trial)? {
                Decision::Yes(shifts) => {
                    let claim = Claim { interval: Some(interval), peak };
                    best = checked_block(self.model, self.problem, &shifts, claim)?;
                }
                Decision::No | Decision::GivenUp => least = trial + 1,
                Decision::Unknown(_) => return Ok(best),
            }
        }
    }
}

/// What is known when a question stays open: at least the bound, unless there is a reason and not even a block.
fn open(
    best: Option<CheckedBlock>,
    bound: BlockBound,
    reason: Option<EncodeError>,
) -> Result<BlockOutcome, EncodeError> {
    match reason {
        Some(reason) if best.is_none() => Err(reason),
        _ => Ok(BlockOutcome::Bounded { best, bound }),
    }
}

fn wide(interval: Ratio<i64>) -> Ratio<i128> {
    Ratio::new((*interval.numer()).into(), (*interval.denom()).into())
}

fn narrow(interval: Ratio<i128>) -> Result<Ratio<i64>, EncodeError> {
    let part = |number: &i128| i64::try_from(*number).map_err(|_| EncodeError::Overflow);
    Ok(Ratio::new(part(interval.numer())?, part(interval.denom())?))
}
