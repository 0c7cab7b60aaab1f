//! A model from traces: medians of what was measured, with their spread.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use super::statistics::Spread;
use super::{Origin, Trace, activation, gaps};
use crate::model::{Costs, Device, Kind, Memory, Model, ModelError, Placement, Stage, Ticks, Units};

/// A model and what it was taken from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// The model: times in nanoseconds, memory in bytes where it was measured.
    pub model: Model,
    /// How long passes took, by stage and kind.
    pub durations: Vec<Duration>,
    /// What messages took, by boundary between devices.
    pub latencies: Vec<Latency>,
    /// What passes held, by stage; empty where no trace has samples of memory.
    pub memory: Vec<Held>,
    /// What the model does not say, or says without having seen it.
    pub notes: Vec<Note>,
}

/// The durations of the passes of a stage that are of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Duration {
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

/// The latency of a boundary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Latency {
    /// The stage before the boundary.
    pub after_stage: Stage,
    /// What the model takes, in nanoseconds.
    pub latency: Ticks,
    /// How it was found.
    pub method: Method,
    /// What it was found from, in nanoseconds; nothing where there was nothing.
    pub spread: Option<Spread>,
}

/// How a latency was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// The median, over passes that found their device idle, of the time from the end of the pass that
    /// sends to the start of the one that needs it. That is what a latency means to replay.
    Waits,
    /// The median time from the end of a pass to the arrival of its message.
    Messages,
    /// The least time between such passes, for no device waited: the latency is at most that.
    AtMost,
    /// Nothing was measured.
    None,
}

impl fmt::Display for Method {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Waits => "waits",
            Self::Messages => "messages",
            Self::AtMost => "at most",
            Self::None => "none",
        })
    }
}

/// What the passes of a stage acquire and release, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Held {
    /// The stage.
    pub stage: Stage,
    /// What F acquires.
    pub acquired: Spread,
    /// What I leaves for W to release, where the backward is split.
    pub retained: Option<Spread>,
}

/// What a fitted model does not say, or says without having seen it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Note {
    /// Stages whose backward ran as one.
    #[error(
        "the backward of {} ran as one pass (B): the model has all of it as the input gradient and none as the weight gradient, so it says nothing of schedules that split it",
        listed(.0)
    )]
    Fused(Vec<Stage>),
    /// No samples of memory.
    #[error("no trace has samples of memory: the model counts activations of stages")]
    NoMemory,
    /// Samples that contradict the split of an activation.
    #[error("stage {stage} released {released} bytes after acquiring {acquired}: the samples miss a part")]
    Unbalanced {
        /// The stage.
        stage: Stage,
        /// The median of what F acquires.
        acquired: Units,
        /// The median of what its backward releases.
        released: Units,
    },
    /// An input gradient that acquires more than it releases.
    #[error(
        "stage {stage} holds {by} bytes more after I than after F, which a model cannot say: its peaks are too low"
    )]
    Grown {
        /// The stage.
        stage: Stage,
        /// By how much.
        by: Units,
    },
    /// Nothing that shows a latency.
    #[error("nothing shows the latency after stage {0}: the model has none there")]
    NoLatency(Stage),
    /// Clocks that disagree, or passes that read what was not there.
    #[error(
        "after stage {stage} the median message arrives {by} ns before it is sent: the clocks disagree, and the model has no latency there"
    )]
    Backwards {
        /// The stage.
        stage: Stage,
        /// By how much.
        by: Ticks,
    },
}

/// Stages in words.
fn listed(stages: &[Stage]) -> String {
    let numbers: Vec<String> = stages.iter().map(ToString::to_string).collect();
    format!("stage{} {}", if numbers.len() == 1 { "" } else { "s" }, numbers.join(", "))
}

/// Why traces make no model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FitError {
    /// No trace.
    #[error("there is no trace to fit a model to")]
    NoTrace,
    /// Traces of different pipelines.
    #[error("the first trace and trace {0} place stages on devices differently")]
    Placements(usize),
    /// Traces of different worlds.
    #[error("the first trace is {first}, trace {at} is {other}: they are not to be mixed")]
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
    #[error("what was measured is no model: {0}")]
    Model(#[from] ModelError),
}

/// Fits a model of this name to traces of one pipeline. It has the number of microbatches of the first.
///
/// # Errors
/// When there is none, when they are of different pipelines, kinds, networks or machines, or when something was
/// not measured.
pub fn profile(name: &str, traces: &[Trace]) -> Result<Profile, FitError> {
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
    let latencies = latencies(traces, placement, &mut notes);
    let mut communication = vec![Ticks::ZERO; placement.stages() as usize - 1];
    for latency in &latencies {
        communication[latency.after_stage.index()] = latency.latency;
    }
    let costs = Costs { unit: "ns".to_owned(), forward, backward_input, backward_weight, communication };
    let (held, memory) = memory(traces, placement, &mut notes);
    let source = source(traces);
    let model = Model::new(
        name.to_owned(),
        Some(source),
        placement.clone(),
        first.schedule.microbatches(),
        costs,
        memory,
    )?;
    Ok(Profile { model, durations, latencies, memory: held, notes })
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
    let names: std::collections::BTreeSet<&str> =
        traces.iter().filter_map(|trace| trace.schedule.name.as_deref()).collect();
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
fn durations(traces: &[Trace]) -> Vec<Duration> {
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
    let of = |((stage, kind), values)| Some(Duration { stage, kind, spread: Spread::of(values)? });
    found.into_iter().filter_map(of).collect()
}

/// The passes that the schedule overlaps.
pub(super) fn paired(trace: &Trace) -> std::collections::BTreeSet<crate::model::Pass> {
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
    durations: &[Duration],
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

/// The latency of every boundary between two devices.
fn latencies(traces: &[Trace], placement: &Placement, notes: &mut Vec<Note>) -> Vec<Latency> {
    let stages = placement.stages() as usize;
    let (mut waits, mut all) = (vec![Vec::new(); stages], vec![Vec::new(); stages]);
    let mut messages = vec![Vec::new(); stages];
    for trace in traces {
        for iteration in &trace.iterations {
            for arrival in gaps::arrivals(&trace.schedule, iteration) {
                all[arrival.boundary.index()].push(arrival.gap.0);
                if arrival.waited {
                    waits[arrival.boundary.index()].push(arrival.gap.0);
                }
            }
            for (boundary, taken) in gaps::messages(&trace.schedule, iteration) {
                messages[boundary.index()].push(taken.0);
            }
        }
    }
    let apart = |stage: &Stage| {
        placement
            .stage_after(*stage)
            .is_some_and(|next| placement.device_of(next) != placement.device_of(*stage))
    };
    let found = Stage::all(placement.stages()).filter(apart).map(|stage| {
        let of = |lists: &[Vec<i64>]| Spread::of(lists[stage.index()].iter().copied());
        let (waits, messages, all) = (of(&waits), of(&messages), of(&all));
        let (method, spread, value) = match (waits, messages, all) {
            (Some(waits), _, _) => (Method::Waits, Some(waits), waits.median),
            (None, Some(messages), _) => (Method::Messages, Some(messages), messages.median),
            (None, None, Some(all)) => (Method::AtMost, Some(all), all.least),
            (None, None, None) => {
                notes.push(Note::NoLatency(stage));
                (Method::None, None, 0)
            }
        };
        if value < 0 {
            notes.push(Note::Backwards { stage, by: Ticks(-value) });
        }
        Latency { after_stage: stage, latency: Ticks(value.max(0)), method, spread }
    });
    found.collect()
}

/// What passes hold. Where a stage is recomputed, its checkpoint too.
fn memory(traces: &[Trace], placement: &Placement, notes: &mut Vec<Note>) -> (Vec<Held>, Memory) {
    let stages = placement.stages() as usize;
    let changes = changes(traces);
    let median = |stage: Stage, kind: Kind| {
        changes.get(&(stage, kind)).and_then(|values| Spread::of(values.iter().copied()))
    };
    let mut memory = Memory {
        unit: "stage-activation".to_owned(),
        activation: vec![Units(1); stages],
        retained_for_weight: vec![Units(1); stages],
        checkpoint: None,
        weights: vec![Units::ZERO; stages],
        capacity: vec![None; placement.devices() as usize],
    };
    let acquired: Option<Vec<Spread>> =
        Stage::all(placement.stages()).map(|stage| median(stage, Kind::F)).collect();
    let Some(acquired) = acquired else {
        notes.push(Note::NoMemory);
        return (Vec::new(), memory);
    };
    "byte".clone_into(&mut memory.unit);
    let mut held = Vec::new();
    let mut checkpoints = Vec::new();
    for (stage, spread) in Stage::all(placement.stages()).zip(acquired) {
        let at = stage.index();
        let again = median(stage, Kind::R).map_or(0, |spread| spread.median);
        let whole = (spread.median + again).max(0);
        checkpoints.push(Units(if again > 0 { spread.median.clamp(0, whole) } else { whole }));
        let released = |kind| {
            let values = changes.get(&(stage, kind))?;
            Spread::of(values.iter().map(|change| -change))
        };
        let retained = released(Kind::W);
        memory.activation[at] = Units(whole);
        memory.retained_for_weight[at] =
            Units(retained.map_or(whole, |spread| spread.median.clamp(0, whole)));
        let given_back = match (released(Kind::I), retained, released(Kind::B)) {
            (Some(input), Some(weight), _) => Some(input.median + weight.median),
            (_, _, both) => both.map(|both| both.median),
        };
        if let Some(retained) = retained.filter(|retained| retained.median > whole) {
            notes.push(Note::Grown { stage, by: Units(retained.median - whole) });
        }
        if let Some(given_back) = given_back.filter(|&given_back| given_back != whole) {
            let (acquired, released) = (Units(whole), Units(given_back));
            notes.push(Note::Unbalanced { stage, acquired, released });
        }
        held.push(Held { stage, acquired: spread, retained });
    }
    if checkpoints != memory.activation {
        memory.checkpoint = Some(checkpoints);
    }
    (held, memory)
}

/// By stage and kind: what is live after a pass less what was before.
fn changes(traces: &[Trace]) -> BTreeMap<(Stage, Kind), Vec<i64>> {
    let mut found: BTreeMap<(Stage, Kind), Vec<i64>> = BTreeMap::new();
    for iteration in traces.iter().flat_map(|trace| &trace.iterations) {
        for (spans, samples) in iteration.passes.iter().zip(iteration.memory.iter().flatten()) {
            for (pass, change) in activation::changes(spans, samples) {
                found.entry((pass.stage, pass.kind)).or_default().push(change.0);
            }
        }
    }
    found
}
