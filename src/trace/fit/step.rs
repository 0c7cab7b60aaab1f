//! What stages do once in a step, from the works that were recorded.

use std::collections::BTreeMap;

use serde::Serialize;

use super::note::Note;
use crate::model::{Placement, Stage, StepEnd, Ticks};
use crate::trace::statistics::Spread;
use crate::trace::whole::{Replicas, What};
use crate::trace::{StepWork, Trace};

/// How long a work of a stage took in an iteration, all of it together, from when all that take part had arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct StepDuration {
    /// The stage.
    pub stage: Stage,
    /// Which work.
    pub work: StepWork,
    /// The durations in nanoseconds.
    #[serde(flatten)]
    pub spread: Spread,
}

/// Whether traces are runs by themselves, or the replicas of one run, which wait for each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Together {
    /// Each is a run: what a reduction waited for other replicas counts as its own time.
    No,
    /// They are replicas of one run.
    Yes,
}

/// By stage and work: how long it took, of one iteration of one replica.
type Works = BTreeMap<(Stage, StepWork), i64>;

/// The end of the step, where some of it was recorded: medians by stage, and nothing for what was not. To a reduction of a model
/// belong those over tensor-parallel groups and of embeddings, to its optimiser step the norm of gradients.
pub(super) fn step(
    traces: &[Trace],
    together: Together,
    placement: &Placement,
    notes: &mut Vec<Note>,
) -> (Vec<StepDuration>, Option<StepEnd>) {
    let recorded = |trace: &Trace| trace.iterations.iter().any(|ran| ran.step.is_some());
    if !traces.iter().any(recorded) {
        return (Vec::new(), None);
    }
    let iterations = match together {
        Together::Yes => works(traces, notes),
        Together::No => traces.iter().flat_map(|trace| works(std::slice::from_ref(trace), notes)).collect(),
    };
    let median = |stage: Stage, works: &[StepWork]| {
        let sums = iterations.iter().filter_map(|of| {
            let times = works.iter().filter_map(|&work| of.get(&(stage, work)));
            times.copied().reduce(i64::saturating_add)
        });
        Spread::of(sums)
    };
    let mut found = Vec::new();
    for stage in Stage::all(placement.stages()) {
        let works = StepWork::ALL.into_iter();
        found.extend(
            works.filter_map(|work| Some(StepDuration { stage, work, spread: median(stage, &[work])? })),
        );
    }
    let seen = |works: &[StepWork]| found.iter().any(|of| works.contains(&of.work));
    let reduce = [StepWork::Tensor, StepWork::Embedding, StepWork::Reduce];
    let optimizer = [StepWork::Norm, StepWork::Optimizer];
    if !seen(&reduce) && !seen(&optimizer) {
        return (found, None);
    }
    let of = |works: &[StepWork]| -> Vec<Ticks> {
        let stages = Stage::all(placement.stages());
        stages.map(|stage| median(stage, works).map_or(Ticks::ZERO, |spread| Ticks(spread.median))).collect()
    };
    notes.push(Note::Step {
        reduce: seen(&reduce),
        optimizer: seen(&optimizer),
        gather: seen(&[StepWork::Gather]),
        together: together == Together::Yes,
    });
    (found, Some(StepEnd { reduce: of(&reduce), optimizer: of(&optimizer) }))
}

/// By iteration and replica: what works took. Traces that cannot be executed have them with all that they waited for.
fn works(traces: &[Trace], notes: &mut Vec<Note>) -> Vec<Works> {
    let steps = Replicas::of(traces).and_then(|replicas| replicas.steps());
    let mut found = Vec::new();
    match steps {
        Ok(steps) => {
            for (step, times) in &steps {
                let mut of_replicas = vec![Works::new(); traces.len()];
                for (task, took) in step.took(times) {
                    if let What::Work { work, stage, .. } = task.what {
                        let sum = of_replicas[task.replica].entry((stage, work)).or_default();
                        *sum = sum.saturating_add(took.0);
                    }
                }
                found.extend(of_replicas);
            }
        }
        Err(error) => {
            notes.push(Note::StepWaits(error));
            for iteration in traces.iter().flat_map(|trace| &trace.iterations) {
                let mut works = Works::new();
                for span in iteration.step.iter().flatten() {
                    let sum = works.entry((span.stage, span.work)).or_default();
                    *sum = sum.saturating_add((span.end - span.start).0);
                }
                found.push(works);
            }
        }
    }
    found
}
