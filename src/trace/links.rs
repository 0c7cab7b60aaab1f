//! Messages on their links, as they were recorded.

use std::collections::BTreeMap;

use super::matching::first_spans;
use super::synthetic::destination;
use super::{Iteration, Message};
use crate::model::{Device, Pass, Stage, Ticks};
use crate::schedule::Schedule;

/// A message that was recorded, with what its link carried before and after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OnLink {
    /// The pass that made it.
    pub(super) pass: Pass,
    /// The boundary between the two stages, named by the lower one.
    pub(super) boundary: Stage,
    /// The end of the pass that made it.
    pub(super) made: Ticks,
    /// When the copy began.
    pub(super) start: Ticks,
    /// When it was there.
    pub(super) end: Ticks,
    /// Whether it was made while an earlier one was under way on its link.
    pub(super) met: bool,
    /// When the next copy on its link began, if that was before this one ended.
    pub(super) cut: Option<Ticks>,
}

/// A message, the boundary that it passes, and the end of the pass that made it.
type Sent = (Message, Stage, Ticks);

/// The messages of an iteration, by their link and in the order in which they started on it. A link leads from one device to
/// another one; what goes to a device that does not wait for it, or comes from a pass that did not run, is left out.
pub(super) fn on_links(schedule: &Schedule, iteration: &Iteration) -> Vec<OnLink> {
    let spans = first_spans(iteration);
    let mut links: BTreeMap<(Device, Device), Vec<Sent>> = BTreeMap::new();
    for &message in iteration.messages.iter().flatten() {
        let Some((stage, to)) = destination(schedule, message.pass) else { continue };
        let Some(span) = spans.get(&message.pass).filter(|_| to == message.to) else { continue };
        let from = schedule.placement().device_of(message.pass.stage);
        let boundary = stage.min(message.pass.stage);
        links.entry((from, to)).or_default().push((message, boundary, span.end));
    }
    let mut found = Vec::new();
    for mut messages in links.into_values() {
        messages.sort_by_key(|&(Message { start, end, pass, .. }, ..)| (start, end, pass));
        let mut busy_until: Option<Ticks> = None;
        for (at, &(Message { pass, start, end, .. }, boundary, made)) in messages.iter().enumerate() {
            let next = messages.get(at + 1).map(|(next, ..)| next.start);
            found.push(OnLink {
                pass,
                boundary,
                made,
                start,
                end,
                met: busy_until.is_some_and(|until| made < until),
                cut: next.filter(|&next| next < end),
            });
            busy_until = busy_until.max(Some(end));
        }
    }
    found
}
