//! Steps predicted by the other iterations of their run.

use serde::Serialize;

use super::{Durations, Step, Times, Typical, Waits};
use crate::model::Ticks;

/// From how many sets of other iterations steps are predicted at most. With no more iterations than that, each is predicted by
/// all others.
const FOLDS: usize = 32;

/// What a prediction takes of the step itself, and what of others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// Durations and messages as they were, and no launch gaps: nothing of other iterations.
    NoGaps,
    /// Durations of passes as they were; medians of all else, waits by their kinds.
    OwnPasses,
    /// The same, but each wait for itself.
    OwnPassesEachWait,
    /// Medians by stage and kind of passes, and by kinds of waits: nothing of the step itself.
    OfStages,
    /// Medians of each pass and each wait: nothing of the step itself.
    OfPasses,
}

impl Basis {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::NoGaps, Self::OwnPasses, Self::OwnPassesEachWait, Self::OfStages, Self::OfPasses];

    /// Whether it needs other iterations.
    #[must_use]
    pub const fn needs_others(self) -> bool {
        !matches!(self, Self::NoGaps)
    }
}

impl std::fmt::Display for Basis {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(match self {
            Self::NoGaps => "durations as they were, no launch gaps",
            Self::OwnPasses => "passes as they were, waits from others",
            Self::OwnPassesEachWait => "passes as they were, each wait from others",
            Self::OfStages => "all from others, by stages",
            Self::OfPasses => "all from others, each pass and wait",
        })
    }
}

/// Two instants of a step, in nanoseconds from its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Instants {
    /// When the last pass ended.
    pub passes: Ticks,
    /// When everything ended.
    pub step: Ticks,
}

impl Instants {
    /// Those of a step with these times; nothing where one is more than can be counted.
    #[must_use]
    pub fn of(step: &Step, times: &Times) -> Option<Self> {
        Some(Self { passes: step.passes_end(times)?, step: step.length(times)? })
    }
}

/// By iteration: what a basis predicts. Nothing where that needs other iterations and there are none, or is more than can be
/// counted.
#[must_use]
pub fn predict(steps: &[(Step, Times)], basis: Basis) -> Option<Vec<Instants>> {
    if basis == Basis::NoGaps {
        let of = |(step, times): &(Step, Times)| Instants::of(step, &step.without_gaps(times, |_, _| true));
        return steps.iter().map(of).collect();
    }
    if steps.len() < 2 {
        return None;
    }
    let folds = steps.len().min(FOLDS);
    let mut found = vec![None; steps.len()];
    for fold in 0..folds {
        let others = steps.iter().enumerate().filter(|(at, _)| at % folds != fold);
        let typical = Typical::of(others.map(|(_, step)| step));
        for at in (fold..steps.len()).step_by(folds) {
            let (step, own) = &steps[at];
            let (durations, waits) = match basis {
                Basis::NoGaps | Basis::OwnPasses => (Durations::Of(own), Waits::OfKinds),
                Basis::OwnPassesEachWait => (Durations::Of(own), Waits::OfEach),
                Basis::OfStages => (Durations::OfStages, Waits::OfKinds),
                Basis::OfPasses => (Durations::OfPasses, Waits::OfEach),
            };
            found[at] = Instants::of(step, &typical.times(step, durations, waits));
        }
    }
    found.into_iter().collect()
}
