//! Schedules once replay has accepted them: what they are compared by, and without needless recomputation; and the
//! time that it takes.

use std::time::{Duration, Instant};

use super::feasible::serial;
use super::needless::{self, Relief};
use super::{Objective, OptimizeError};
use crate::model::{Kind, Model, Ticks, Units};
use crate::replay::{Verdict, replay};
use crate::schedule::Schedule;
use crate::stop::Stop;

/// A valid schedule with what replay says of it, and what found it.
#[derive(Clone)]
pub(super) struct ReplayedSchedule {
    pub schedule: Schedule,
    pub verdict: Verdict,
    /// The objective, as replay measures it.
    pub value: Ticks,
    pub engine: String,
}

impl ReplayedSchedule {
    /// Replays a schedule.
    ///
    /// # Errors
    /// When replay rejects it.
    pub(super) fn new(
        model: &Model,
        objective: Objective,
        schedule: Schedule,
        engine: String,
    ) -> Result<Self, OptimizeError> {
        let verdict = replay(model, &schedule);
        match &verdict.timing {
            Some(timing) if verdict.is_valid() => {
                let value = objective.of(&timing.metrics);
                Ok(Self { schedule, verdict, value, engine })
            }
            _ => {
                let reason = verdict.violations.first().map_or_else(String::new, ToString::to_string);
                Err(OptimizeError::Rejected { engine, reason })
            }
        }
    }

    /// The same without needless recomputation, where replay says that this is valid and no longer.
    pub(super) fn without_needless(self, model: &Model, objective: Objective) -> Self {
        let leaner = |relief| {
            let mut leaner = needless::without_needless(model, &self.schedule, relief)?;
            leaner.provenance.clone_from(&self.schedule.provenance);
            let leaner = Self::new(model, objective, leaner, improved(&self.engine)).ok()?;
            (leaner.value <= self.value).then_some(leaner)
        };
        // Of equals, what relieves whole stages.
        let leaner = [Relief::Stages, Relief::Single].into_iter().filter_map(leaner);
        leaner.min_by_key(|leaner| leaner.value).unwrap_or(self)
    }

    /// The same, by another objective.
    pub(super) fn measured_by(self, objective: Objective) -> Self {
        let timing = self.verdict.timing.as_ref().expect("what replay accepts has times");
        Self { value: objective.of(&timing.metrics), ..self }
    }

    /// What schedules are compared by in the end: the objective; whether they recompute; how many activations they offload; the
    /// largest peak of a device, and all of them together; how many passes recompute.
    pub(super) fn rank(&self) -> (Ticks, bool, usize, Units, Units, usize) {
        let passes = self.schedule.orders().iter().flatten();
        let recomputations = passes.filter(|pass| pass.kind == Kind::R).count();
        let peaks = self.verdict.peak_memory.iter().copied();
        let offloads = self.schedule.offload_count();
        (
            self.value,
            recomputations > 0,
            offloads,
            self.verdict.peak_memory_max(),
            peaks.sum(),
            recomputations,
        )
    }
}

/// What found a schedule that was changed since: it is no longer that of a name.
pub(super) fn improved(engine: &str) -> String {
    format!("{}, improved", engine.strip_suffix(", improved").unwrap_or(engine))
}

/// The known schedules that are valid for the model, measured by an objective.
pub(super) fn given(model: &Model, objective: Objective, known: &[Schedule]) -> Vec<ReplayedSchedule> {
    let fitting = known.iter().filter(|known| {
        known.placement() == model.placement() && known.microbatches() == model.microbatches()
    });
    fitting
        .filter_map(|known| {
            let engine = known.provenance.as_ref().map_or_else(|| "given".to_owned(), |of| of.engine.clone());
            let known = ReplayedSchedule::new(model, objective, known.clone(), engine).ok()?;
            Some(known.without_needless(model, objective))
        })
        .collect()
}

/// The passes of a schedule: F, I and W of every stage and microbatch.
fn passes(model: &Model) -> u64 {
    3 * u64::from(model.stages()) * u64::from(model.microbatches())
}

/// Whether to replay a few schedules takes hardly any time.
pub(super) fn is_quickly_replayed(model: &Model) -> bool {
    const FEW: u64 = 20_000;
    passes(model) <= FEW
}

/// How long it takes to make and to replay the serial schedule, where there are so many passes that this counts, and
/// time is limited.
pub(super) fn time_to_replay(model: &Model, stop: &Stop) -> Option<Duration> {
    const MANY: u64 = 100_000;
    if passes(model) < MANY || stop.remaining() == Duration::MAX {
        return None;
    }
    let begun = Instant::now();
    _ = replay(model, &serial(model, false));
    Some(begun.elapsed())
}

/// The stop that leaves time to replay and to certify what has been found, where that takes long: as much as it takes
/// for a schedule of the same size, and half of that; three times as much where recomputation may be left out, in either way.
pub(super) fn with_time_to_check(model: &Model, stop: &Stop, to_replay: Option<Duration>) -> Stop {
    let Some(to_replay) = to_replay else { return stop.clone() };
    let times = if model.memory().checkpoint.is_some() { 3 } else { 1 };
    stop.within(stop.remaining().saturating_sub(to_replay * 3 * times / 2))
}
