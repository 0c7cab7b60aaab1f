//! The time between passes: what messages take, and what a device needs from one pass to the next.

use super::matching::{first_spans, needs};
use super::synthetic::destination;
use super::{Iteration, Span};
use crate::model::{Device, Kind, Pass, Stage, Ticks};
use crate::schedule::Schedule;

/// What a pass may have waited for on another device.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arrival {
    /// The pass that sends.
    pub(super) sent_by: Pass,
    /// The boundary between the two stages, named by the lower one.
    pub(super) boundary: Stage,
    /// From the end of the pass that sends to the start of the one that needs it.
    pub(super) gap: Ticks,
    /// Whether the device was idle when the sending pass ended: it then waited for nothing but the message.
    pub(super) waited: bool,
}

/// All arrivals of an iteration.
pub(super) fn arrivals(schedule: &Schedule, iteration: &Iteration) -> Vec<Arrival> {
    let spans = first_spans(iteration);
    let mut found = Vec::new();
    for row in &iteration.passes {
        let mut free: Option<Ticks> = None;
        for &span in row {
            for needed in needs(schedule, &spans, span.pass) {
                let sent = spans[&needed];
                if destination(schedule, needed).is_some_and(|(stage, _)| stage == span.pass.stage) {
                    found.push(Arrival {
                        sent_by: needed,
                        boundary: needed.stage.min(span.pass.stage),
                        gap: span.start - sent.end,
                        waited: free.is_none_or(|free| free <= sent.end),
                    });
                }
            }
            free = Some(free.map_or(span.end, |free| free.max(span.end)));
        }
    }
    found
}

/// The time between two passes of a device.
#[derive(Debug, Clone, Copy)]
pub(super) struct Launch {
    /// The kind of the first.
    pub(super) before: Kind,
    /// The kind of the second.
    pub(super) after: Kind,
    /// From the end of the first to the start of the second.
    pub(super) gap: Ticks,
}

/// By device: the times between two passes of which the second had all that it needs before the first ended,
/// with these times from pass to pass.
pub(super) fn launches(
    schedule: &Schedule,
    iteration: &Iteration,
    delay: impl Fn(Pass, Pass) -> Ticks,
) -> Vec<Vec<Launch>> {
    let spans = first_spans(iteration);
    let ready = |span: Span| {
        let needs = needs(schedule, &spans, span.pass).into_iter();
        needs.map(|needed| spans[&needed].end + delay(needed, span.pass)).max().unwrap_or_default()
    };
    let devices = Device::all(schedule.devices()).map(|device| {
        let row = &iteration.passes[device.index()];
        let pairs = row.iter().zip(row.iter().skip(1));
        let pairs = pairs.filter(|&(first, second)| ready(*second) <= first.end && second.start >= first.end);
        let launch = |(first, second): (&Span, &Span)| Launch {
            before: first.pass.kind,
            after: second.pass.kind,
            gap: second.start - first.end,
        };
        pairs.map(launch).collect()
    });
    devices.collect()
}
