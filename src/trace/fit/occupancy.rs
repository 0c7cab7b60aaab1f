//! How long messages keep links busy, from when they were copied.

use serde::Serialize;

use super::latency::Latency;
use super::note::Note;
use crate::model::{Links, Messages, Placement, Stage, Ticks};
use crate::trace::Trace;
use crate::trace::links::on_links;
use crate::trace::statistics::Spread;

/// What the messages over a boundary occupy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Occupancy {
    /// The stage before the boundary.
    pub after_stage: Stage,
    /// What the model takes, in nanoseconds.
    pub occupancy: Ticks,
    /// How long the copies took, from their start to their end, in nanoseconds.
    #[serde(flatten)]
    pub spread: Spread,
    /// How many messages were made while an earlier one was under way on their link.
    pub met: usize,
    /// After how many messages the next one on their link started before they had ended.
    pub overlapped: usize,
}

/// What was recorded of the messages over a boundary.
#[derive(Debug, Clone, Default)]
struct Copies {
    /// From start to end.
    took: Vec<i64>,
    met: usize,
    /// By copy during which the next one on the link started: the time from start to start.
    apart: Vec<i64>,
}

/// What the messages over each boundary occupy, where they were recorded.
///
/// A copy occupies its link for as long as it takes, which is a limit from above: where the next copy on the same link began
/// before it had ended, it occupied the link for no longer than from start to start. So the occupancy is the median of
/// how long the copies took, and no more than the least time from the start of one to that of one which overlapped it; nor
/// is it more than the whole delay from pass to pass. That delay stays what it was: the latency is what occupancy leaves of it.
pub(super) fn occupancies(
    traces: &[Trace],
    placement: &Placement,
    latencies: &mut [Latency],
    notes: &mut Vec<Note>,
) -> (Vec<Occupancy>, Option<Messages>) {
    let mut copies = vec![Copies::default(); placement.stages() as usize];
    for trace in traces {
        for iteration in &trace.iterations {
            for message in on_links(&trace.schedule, iteration) {
                let of = &mut copies[message.boundary.index()];
                of.took.push((message.end - message.start).0);
                of.met += usize::from(message.met);
                of.apart.extend(message.cut.map(|next| (next - message.start).0));
            }
        }
    }
    let mut found = Vec::new();
    let mut occupancy = vec![Ticks::ZERO; copies.len() - 1];
    for latency in latencies {
        let Copies { took, met, apart } = &copies[latency.after_stage.index()];
        let Some(spread) = Spread::of(took.iter().copied()) else { continue };
        let least_apart = apart.iter().copied().min().unwrap_or(i64::MAX);
        let occupies = Ticks(spread.median.min(least_apart)).min(latency.delay);
        latency.latency = latency.delay - occupies;
        occupancy[latency.after_stage.index()] = occupies;
        found.push(Occupancy {
            after_stage: latency.after_stage,
            occupancy: occupies,
            spread,
            met: *met,
            overlapped: apart.len(),
        });
    }
    if found.is_empty() {
        return (found, None);
    }
    let total = |of: fn(&Occupancy) -> usize| -> usize { found.iter().map(of).sum() };
    notes.push(Note::Occupancy {
        met: total(|occupancy| occupancy.met),
        overlapped: total(|occupancy| occupancy.overlapped),
    });
    let takes_time = occupancy.iter().any(|&ticks| ticks > Ticks::ZERO);
    (found, takes_time.then_some(Messages { occupancy, links: Links::Pair }))
}
