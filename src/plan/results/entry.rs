//! A result as text, and what must hold of one before it is believed.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::certificate::{Bound, BoundError, CutBoundError, Objective, holds, holds_over_cuts};
use crate::job::{Cut, CutError, Layers};
use crate::model::Ticks;
use crate::optimize::Solution;
use crate::plan::cuts::CutSolution;
use crate::replay::{Violation, replay};
use crate::schedule::{self, ScheduleFileError};
use crate::store::Kept;
use crate::text::message;

/// Why a result of a store is not taken.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NotBelieved {
    /// Not the text of a result.
    #[error("it is malformed: {}", message(&.0.to_string()))]
    Malformed(#[from] serde_json::Error),
    /// The cut does not suit the layers.
    #[error(transparent)]
    Cut(#[from] CutError),
    /// The schedule is none.
    #[error("its schedule cannot be read: {0}")]
    Schedule(#[from] ScheduleFileError),
    /// The schedule is for another placement, or another number of microbatches.
    #[error("its schedule is for another problem")]
    OtherProblem,
    /// The schedule does not run, or not within the memory.
    #[error("its schedule is invalid: {0}")]
    Invalid(Violation),
    /// Replay measures another makespan.
    #[error("its makespan is claimed to be {claimed}, but replay measures {measured}")]
    Makespan {
        /// What the store says.
        claimed: Ticks,
        /// What replay says.
        measured: Ticks,
    },
    /// The lower bound does not follow from its reason.
    #[error("its lower bound does not hold: {0}")]
    Bound(#[from] BoundError),
    /// The lower bound over all cuts does not hold.
    #[error("its lower bound over all cuts does not hold: {0}")]
    OverCuts(#[from] CutBoundError),
    /// A lower bound above what the schedule reaches.
    #[error("a lower bound of {bound} contradicts its schedule, which takes {value}")]
    Contradiction {
        /// The bound.
        bound: Ticks,
        /// What the schedule reaches.
        value: Ticks,
    },
    /// A longer search without its bound over all cuts.
    #[error("its lower bound over all cuts is missing")]
    NoBoundOverCuts,
}

/// What is kept of a plan with one choice. The rest follows from it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    makespan: Ticks,
    cut: Cut,
    /// Nothing of a quick look, whose caller knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    no_cut_below: Option<Ticks>,
    /// A lower bound for this cut, with its reason.
    bound: Bound,
    /// A schedule file without a certificate.
    schedule: Box<RawValue>,
}

/// The text of a result; of a longer search with its bound over all cuts.
pub(super) fn write(found: &CutSolution, is_deep: bool) -> String {
    let Solution { schedule, bound, .. } = &found.solution;
    let mut bare = schedule.clone();
    bare.certificate = None;
    let mut text = Vec::new();
    schedule::write(&bare, &mut text).expect("writing to memory cannot fail");
    let text = String::from_utf8(text).expect("JSON is text");
    let entry = Entry {
        makespan: found.solution.value(),
        cut: found.cut.clone(),
        no_cut_below: is_deep.then_some(found.no_cut_below),
        bound: bound.clone(),
        schedule: RawValue::from_string(text).expect("a schedule file is JSON"),
    };
    serde_json::to_string(&entry).expect("an entry has no keys but texts")
}

/// The plan of a result, once its schedule has been replayed and its bounds derived again; nothing where nothing was found.
/// `no_cut_below` is the bound over all cuts where the caller knows it, and else that of the result counts.
///
/// # Errors
/// The first thing found wrong.
pub(super) fn read(
    layers: &Layers,
    kept: &Kept,
    no_cut_below: Option<Ticks>,
) -> Result<Option<CutSolution>, NotBelieved> {
    let Some(text) = &kept.found else { return Ok(None) };
    let Entry { makespan, cut, no_cut_below: claimed, bound, schedule } = serde_json::from_str(text)?;
    let model = layers.model(&cut)?;
    let schedule = schedule::parse(schedule.get())?;
    if schedule.placement() != model.placement() || schedule.microbatches() != model.microbatches() {
        return Err(NotBelieved::OtherProblem);
    }
    let verdict = replay(&model, &schedule);
    if let Some(violation) = verdict.violations.first() {
        return Err(NotBelieved::Invalid(violation.clone()));
    }
    let objective = Objective::Makespan;
    let measured = verdict.timing.as_ref().map_or(Ticks(i64::MAX), |timing| objective.of(&timing.metrics));
    if makespan != measured {
        return Err(NotBelieved::Makespan { claimed: makespan, measured });
    }
    let not_above = |bound| {
        if bound > measured { Err(NotBelieved::Contradiction { bound, value: measured }) } else { Ok(()) }
    };
    not_above(bound.value)?;
    holds(&model, objective, &bound)?;
    let no_cut_below = match (no_cut_below, claimed) {
        (Some(known), _) => known,
        (None, Some(claimed)) => {
            not_above(claimed)?;
            holds_over_cuts(layers, claimed)?;
            claimed
        }
        (None, None) => return Err(NotBelieved::NoBoundOverCuts),
    };
    let is_cut_short = kept.spent.is_some();
    let solution = Solution::restored(&model, schedule, verdict, bound, is_cut_short);
    Ok(Some(CutSolution { cut, model, solution, no_cut_below, searched: None, is_cut_short }))
}
