//! **Link bound.** What a link carries, between what must happen before its first message and after its last.
//!
//! Let the messages of one microbatch on a link keep it busy for V in all. Let *head* be the earliest end of a pass that makes
//! one of its messages, and *tail* the least time from the end of one of its messages to the end of the schedule: the latency
//! of the boundary, the pass that receives it, and what follows that pass.
//!
//! **Theorem.** The makespan is at least `head + m*V + tail`, and the time per microbatch in the long run at least V.
//!
//! **Proof.** Every message of the link starts after the pass that makes it, so no earlier than head. The link carries one
//! message at a time, so the last of them ends no earlier than `head + m*V`. The pass that receives this message starts the
//! latency of its boundary later, and the rest of the tail follows it.
//!
//! Heads and tails are those of the model in which every message has [a link of its own](Model::with_own_links): no pass
//! starts later in it. All other bounds are those of that model, too.

use std::collections::BTreeMap;

use super::path::Paths;
use super::reason::{Bound, BoundReason, Objective};
use crate::model::{Kind, Link, Model, Stage, Ticks};

/// What a link carries of one microbatch, and what comes before and after.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Load {
    pub link: Link,
    /// How long the messages of one microbatch keep it busy.
    pub work: Ticks,
    head: Ticks,
    tail: Ticks,
}

/// The loads of all links that are kept busy, in their order. `paths` are those of the model in which every message has a
/// link of its own, or of one in which no pass starts later.
pub(super) fn loads(model: &Model, paths: &Paths<'_>) -> Vec<Load> {
    let mut loads: BTreeMap<Link, Load> = BTreeMap::new();
    if !model.has_busy_links() {
        return Vec::new();
    }
    let link = model.links_between();
    for boundary in Stage::all(model.stages() - 1) {
        let work = model.occupancy_after(boundary);
        if work == Ticks::ZERO {
            continue;
        }
        let above = Stage(boundary.0 + 1);
        let latency = model.latency_after(boundary);
        let duration = |stage, kind| paths.model().duration(stage, kind);
        let (below_device, above_device) =
            (model.placement().device_of(boundary), model.placement().device_of(above));
        let activation = Load {
            link: link(below_device, above_device),
            work,
            head: paths.forward_head(boundary) + duration(boundary, Kind::F),
            tail: latency + duration(above, Kind::F) + paths.forward_tail(above),
        };
        let gradient = Load {
            link: link(above_device, below_device),
            work,
            head: paths.input_head(above) + duration(above, Kind::I),
            tail: latency + duration(boundary, Kind::I) + paths.input_tail(boundary),
        };
        for of_message in [activation, gradient] {
            let of_link = |load: &mut Load| {
                load.work += of_message.work;
                load.head = load.head.min(of_message.head);
                load.tail = load.tail.min(of_message.tail);
            };
            loads.entry(of_message.link).and_modify(of_link).or_insert(of_message);
        }
    }
    loads.into_values().collect()
}

/// The bounds of all links on the makespan. None is known on the device span.
pub(super) fn bounds(model: &Model, paths: &Paths<'_>, objective: Objective) -> Vec<Bound> {
    if objective == Objective::DeviceSpan {
        return Vec::new();
    }
    let microbatches = i64::from(model.microbatches());
    let bound = |Load { link, work, head, tail }: Load| {
        let work = Ticks(work.0 * microbatches);
        Bound { value: head + work + tail, reason: BoundReason::Link { link, work, head, tail } }
    };
    loads(model, paths).into_iter().map(bound).collect()
}
