//! A model from traces: medians of what was measured, with their spread.

mod latency;
mod layers;
mod memory;
mod note;
mod occupancy;
mod recompute;
mod step;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

pub use latency::{Latency, LatencyMethod};
pub use layers::{FittedLayer, LayerFit, LayerFitError, StageFit};
pub use memory::FittedMemory;
pub use note::{Note, Untold};
pub use occupancy::Occupancy;
pub use step::{StepDuration, Together};

use self::latency::latencies;
use self::memory::memory;
use self::note::untold;
use self::occupancy::occupancies;
use self::recompute::recompute;
use self::step::step;
use super::statistics::Spread;
use super::{Origin, Trace};
use crate::model::{Costs, Device, Kind, Model, ModelError, Pass, Placement, Stage, Ticks};

/// A model and what it was taken from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// The model: times in nanoseconds, memory in bytes where it was measured.
    pub model: Model,
    /// How long passes took, by stage and kind.
    pub durations: Vec<StageDuration>,
    /// What messages took, by boundary between devices.
    pub latencies: Vec<Latency>,
    /// What messages occupied their links for, by boundary between devices; empty where no trace has times of messages.
    pub occupancies: Vec<Occupancy>,
    /// How long the works of a step took, by stage; empty where no trace has any.
    pub step: Vec<StepDuration>,
    /// What passes held, by stage; empty where no trace has samples of memory.
    pub memory: Vec<FittedMemory>,
    /// What the model does not say, or says without having seen it.
    pub notes: Vec<Note>,
}

impl Profile {
    /// The same with a model without `[messages]`: what they occupy is part of their latency.
    #[must_use]
    pub fn without_messages(mut self) -> Self {
        self.model = self.model.with_own_links();
        self.notes.retain(|note| !matches!(note, Note::Occupancy { .. }));
        for latency in &mut self.latencies {
            latency.latency = latency.delay;
        }
        self.occupancies = Vec::new();
        self
    }

    /// The same with a model that ends with its passes, without a `[step]`.
    #[must_use]
    pub fn without_step(mut self) -> Self {
        self.model = self.model.with_step(None).expect("what ends with its passes takes no longer");
        self.notes.retain(|note| !matches!(note, Note::Step { .. } | Note::StepWaits(_)));
        self.step = Vec::new();
        self
    }
}

/// The durations of the passes of a stage that are of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct StageDuration {
    /// The stage.
    pub stage: Stage,
    /// The kind.
    #[serde(serialize_with = "letter")]
    pub kind: Kind,
    /// The durations in nanoseconds.
    #[serde(flatten)]
    pub spread: Spread,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn letter<S: serde::Serializer>(kind: &Kind, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_char(kind.letter())
}

/// Why traces make no model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FitError {
    /// No trace.
    #[error("there is no trace to fit a model to")]
    NoTrace,
    /// Traces of different pipelines.
    #[error("the first trace and trace {0} place stages on devices differently")]
    Placements(usize),
    /// Traces of different worlds.
    #[error("the first trace is {first}, trace {at} is {other}: they cannot be combined")]
    Origins {
        /// The trace, from 1.
        at: usize,
        /// The kind of the first.
        first: Origin,
        /// Its kind.
        other: Origin,
    },
    /// Traces of different networks.
    #[error("the first trace and trace {0} are of networks of different sizes")]
    Sizes(usize),
    /// Traces of different machines.
    #[error("the first trace and trace {0} are of different machines")]
    Machines(usize),
    /// A pass that no trace shows.
    #[error("no trace shows how long {kind} of stage {stage} takes")]
    NotMeasured {
        /// The stage.
        stage: Stage,
        /// The kind.
        kind: Kind,
    },
    /// Together they are no model.
    #[error("the measurements do not make a valid model: {0}")]
    Model(#[from] ModelError),
}

/// Fits a model of this name to traces of one pipeline. It has the number of microbatches of the first.
///
/// # Errors
/// When there is none, when they are of different pipelines, kinds, networks or machines, or when something
/// was not measured.
pub fn profile(name: &str, traces: &[Trace]) -> Result<Profile, FitError> {
    profile_of(name, traces, Together::No)
}

/// The same of traces that are replicas of one run, or not.
///
/// # Errors
/// As [`profile`].
pub fn profile_of(name: &str, traces: &[Trace], together: Together) -> Result<Profile, FitError> {
    let first = traces.first().ok_or(FitError::NoTrace)?;
    let placement = first.schedule.placement();
    for (at, trace) in traces.iter().enumerate().skip(1) {
        if trace.schedule.placement() != placement {
            return Err(FitError::Placements(at + 1));
        }
        if trace.origin != first.origin {
            return Err(FitError::Origins { at: at + 1, first: first.origin, other: trace.origin });
        }
        if trace.sizes.is_some() && first.sizes.is_some() && trace.sizes != first.sizes {
            return Err(FitError::Sizes(at + 1));
        }
        if !trace.machine.is_like(&first.machine) {
            return Err(FitError::Machines(at + 1));
        }
    }
    let mut notes = Vec::new();
    let durations = durations(traces);
    let [forward, backward_input, backward_weight] = times(placement, &durations, &mut notes)?;
    let mut latencies = latencies(traces, placement, &mut notes);
    let (occupancies, messages) = occupancies(traces, placement, &mut latencies, &mut notes);
    let (step, end) = step(traces, together, placement, &mut notes);
    let mut communication = vec![Ticks::ZERO; placement.stages() as usize - 1];
    for latency in &latencies {
        communication[latency.after_stage.index()] = latency.latency;
    }
    let (held, memory, transient) = memory(traces, placement, &mut notes);
    let recompute = recompute(traces, (&held, &memory.activation), &forward, &mut notes)?;
    let costs = Costs { unit: "ns".to_owned(), forward, backward_input, backward_weight, communication };
    let source = source(traces);
    let model = Model::new(
        name.to_owned(),
        Some(source),
        placement.clone(),
        first.schedule.microbatches(),
        costs,
        memory,
    )?
    .with_recompute(recompute)?
    .with_transient(transient)?
    .with_messages(messages)?
    .with_step(end)?;
    notes.extend(untold(first, &model, (!occupancies.is_empty(), !held.is_empty())));
    Ok(Profile { model, durations, latencies, occupancies, step, memory: held, notes })
}

/// What a fitted model says of where it comes from.
fn source(traces: &[Trace]) -> String {
    let Trace { origin, machine, .. } = &traces[0];
    let mut on = vec![machine.name.clone()];
    on.extend(machine.cpu.clone());
    on.extend(machine.accelerator.clone());
    on.extend(machine.torch.as_ref().map(|torch| format!("PyTorch {torch}")));
    let iterations: usize = traces.iter().map(|trace| trace.iterations.len()).sum();
    let count = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    let names: BTreeSet<&str> = traces.iter().filter_map(|trace| trace.schedule.name.as_deref()).collect();
    let of = if names.is_empty() {
        String::new()
    } else {
        format!(" of {}", names.into_iter().collect::<Vec<_>>().join(", "))
    };
    format!(
        "{origin} traces{of} on {}: medians over {}, {}",
        on.join(", "),
        count(traces.len(), "trace"),
        count(iterations, "iteration")
    )
}

/// The spread of durations by stage and kind. The two passes of an overlapped pair share their device, so
/// that neither tells its own duration.
fn durations(traces: &[Trace]) -> Vec<StageDuration> {
    let mut found: BTreeMap<(Stage, Kind), Vec<i64>> = BTreeMap::new();
    for trace in traces {
        let paired = paired(trace);
        for span in trace.iterations.iter().flat_map(|iteration| iteration.passes.iter().flatten()) {
            if !paired.contains(&span.pass) {
                let key = (span.pass.stage, span.pass.kind);
                found.entry(key).or_default().push(span.duration().0);
            }
        }
    }
    let of = |((stage, kind), values)| Some(StageDuration { stage, kind, spread: Spread::of(values)? });
    found.into_iter().filter_map(of).collect()
}

/// The passes that the schedule overlaps.
pub(super) fn paired(trace: &Trace) -> BTreeSet<Pass> {
    let devices = Device::all(trace.schedule.devices());
    devices
        .flat_map(|device| {
            let order = trace.schedule.order(device);
            trace.schedule.overlaps(device).iter().flat_map(move |&first| [order[first], order[first + 1]])
        })
        .collect()
}

/// Durations of F, I and W by stage.
fn times(
    placement: &Placement,
    durations: &[StageDuration],
    notes: &mut Vec<Note>,
) -> Result<[Vec<Ticks>; 3], FitError> {
    let mut times = [Vec::new(), Vec::new(), Vec::new()];
    let mut fused = Vec::new();
    for stage in Stage::all(placement.stages()) {
        let median = |kind| {
            let found = durations.iter().find(|duration| duration.stage == stage && duration.kind == kind);
            found.map(|duration| Ticks(duration.spread.median))
        };
        let forward = median(Kind::F).ok_or(FitError::NotMeasured { stage, kind: Kind::F })?;
        let (input, weight) = match (median(Kind::I), median(Kind::W), median(Kind::B)) {
            (Some(input), Some(weight), _) => (input, weight),
            (None, None, Some(both)) => {
                fused.push(stage);
                (both, Ticks::ZERO)
            }
            (Some(input), None, Some(both)) => (input, Ticks::ZERO.max(both - input)),
            (None, Some(weight), Some(both)) => (Ticks::ZERO.max(both - weight), weight),
            (None, _, None) => return Err(FitError::NotMeasured { stage, kind: Kind::I }),
            (Some(_), None, None) => return Err(FitError::NotMeasured { stage, kind: Kind::W }),
        };
        for (list, time) in times.iter_mut().zip([forward, input, weight]) {
            list.push(time);
        }
    }
    if !fused.is_empty() {
        notes.push(Note::Fused(fused));
    }
    Ok(times)
}
