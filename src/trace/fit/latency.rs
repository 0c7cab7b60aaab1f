//! Latencies, from the gaps between passes on two devices.

use std::collections::BTreeSet;
use std::fmt;

use serde::Serialize;

use super::note::Note;
use crate::model::{Pass, Placement, Stage, Ticks};
use crate::trace::links::on_links;
use crate::trace::statistics::Spread;
use crate::trace::{Trace, gaps};

/// The latency of a boundary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Latency {
    /// The stage before the boundary.
    pub after_stage: Stage,
    /// The time from the end of the pass that sends to the start of the one that needs it, in nanoseconds.
    pub delay: Ticks,
    /// What the model takes, in nanoseconds: of the delay, what messages do not [occupy](super::Occupancy) their link for.
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
    /// sends to the start of the one that needs it. That is what a delay means to replay.
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

/// Times between passes over a boundary.
#[derive(Debug, Clone, Default)]
struct Gaps {
    /// Of messages that found their link free.
    clear: Vec<i64>,
    /// Of those that were made while another one was on it.
    met: Vec<i64>,
}

impl Gaps {
    fn add(&mut self, gap: Ticks, met: bool) {
        let list = if met { &mut self.met } else { &mut self.clear };
        list.push(gap.0);
    }

    fn spread(&self) -> Option<Spread> {
        Spread::of(self.clear.iter().copied()).or_else(|| Spread::of(self.met.iter().copied()))
    }
}

/// The delay of every boundary between two devices, all of which is latency so far. Messages that may have waited for
/// their link count only where there are no others.
pub(super) fn latencies(traces: &[Trace], placement: &Placement, notes: &mut Vec<Note>) -> Vec<Latency> {
    let stages = placement.stages() as usize;
    let mut all = vec![Vec::new(); stages];
    let (mut waits, mut messages) = (vec![Gaps::default(); stages], vec![Gaps::default(); stages]);
    for trace in traces {
        for iteration in &trace.iterations {
            let on_links = on_links(&trace.schedule, iteration);
            let met: BTreeSet<Pass> =
                on_links.iter().filter(|message| message.met).map(|message| message.pass).collect();
            for arrival in gaps::arrivals(&trace.schedule, iteration) {
                all[arrival.boundary.index()].push(arrival.gap.0);
                if arrival.waited {
                    waits[arrival.boundary.index()].add(arrival.gap, met.contains(&arrival.sent_by));
                }
            }
            for message in on_links {
                messages[message.boundary.index()].add(message.end - message.made, message.met);
            }
        }
    }
    let apart = |stage: &Stage| {
        placement
            .stage_after(*stage)
            .is_some_and(|next| placement.device_of(next) != placement.device_of(*stage))
    };
    let found = Stage::all(placement.stages()).filter(apart).map(|stage| {
        let (waits, messages) = (waits[stage.index()].spread(), messages[stage.index()].spread());
        let all = Spread::of(all[stage.index()].iter().copied());
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
        let delay = Ticks(value.max(0));
        Latency { after_stage: stage, delay, latency: delay, method, spread }
    });
    found.collect()
}
