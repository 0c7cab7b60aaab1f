//! Latencies, from the gaps between passes on two devices.

use std::fmt;

use serde::Serialize;

use super::note::Note;
use crate::model::{Placement, Stage, Ticks};
use crate::trace::statistics::Spread;
use crate::trace::{Trace, gaps};

/// The latency of a boundary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Latency {
    /// The stage before the boundary.
    pub after_stage: Stage,
    /// What the model takes, in nanoseconds.
    pub latency: Ticks,
    /// How it was found.
    pub method: LatencyMethod,
    /// What it was found from, in nanoseconds; nothing where there was nothing.
    pub spread: Option<Spread>,
}

/// How a latency was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum LatencyMethod {
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

impl fmt::Display for LatencyMethod {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Waits => "waits",
            Self::Messages => "messages",
            Self::AtMost => "at most",
            Self::None => "none",
        })
    }
}

/// The latency of every boundary between two devices.
pub(super) fn latencies(traces: &[Trace], placement: &Placement, notes: &mut Vec<Note>) -> Vec<Latency> {
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
            (Some(waits), _, _) => (LatencyMethod::Waits, Some(waits), waits.median),
            (None, Some(messages), _) => (LatencyMethod::Messages, Some(messages), messages.median),
            (None, None, Some(all)) => (LatencyMethod::AtMost, Some(all), all.least),
            (None, None, None) => {
                notes.push(Note::NoLatency(stage));
                (LatencyMethod::None, None, 0)
            }
        };
        if value < 0 {
            notes.push(Note::Backwards { stage, by: Ticks(-value) });
        }
        Latency { after_stage: stage, latency: Ticks(value.max(0)), method, spread }
    });
    found.collect()
}
