//! The end of the step, from the reductions and optimiser steps that were recorded.

use serde::Serialize;

use super::note::Note;
use crate::model::{Placement, Stage, StepEnd, Ticks};
use crate::trace::statistics::Spread;
use crate::trace::{StepWork, Trace};

/// How long a reduction or an optimiser step of a stage took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct StepDuration {
    /// The stage.
    pub stage: Stage,
    /// Which of the two.
    pub work: StepWork,
    /// The durations in nanoseconds.
    #[serde(flatten)]
    pub spread: Spread,
}

/// The end of the step, where some of it was recorded: medians by stage, and nothing for what was not.
pub(super) fn step(
    traces: &[Trace],
    placement: &Placement,
    notes: &mut Vec<Note>,
) -> (Vec<StepDuration>, Option<StepEnd>) {
    let iterations = || traces.iter().flat_map(|trace| &trace.iterations);
    let durations = |stage: Stage, work: StepWork| {
        let spans = iterations().flat_map(|iteration| iteration.step.iter().flatten());
        let spans = spans.filter(move |span| span.stage == stage && span.work == work);
        Spread::of(spans.map(|span| (span.end - span.start).0))
    };
    let mut found = Vec::new();
    for stage in Stage::all(placement.stages()) {
        for work in [StepWork::Reduce, StepWork::Optimizer] {
            found.extend(durations(stage, work).map(|spread| StepDuration { stage, work, spread }));
        }
    }
    if found.is_empty() {
        return (found, None);
    }
    let of = |work: StepWork| -> Vec<Ticks> {
        let median = |stage| found.iter().find(|of| of.stage == stage && of.work == work);
        let stages = Stage::all(placement.stages());
        stages.map(|stage| median(stage).map_or(Ticks::ZERO, |of| Ticks(of.spread.median))).collect()
    };
    let step = StepEnd { reduce: of(StepWork::Reduce), optimizer: of(StepWork::Optimizer) };
    let seen = |work: StepWork| found.iter().any(|of| of.work == work);
    notes.push(Note::Step { reduce: seen(StepWork::Reduce), optimizer: seen(StepWork::Optimizer) });
    (found, Some(step))
}
