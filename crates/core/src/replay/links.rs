//! Which link carries which messages, and in which order.
//!
//! Messages on a link between two devices are sent in the order in which they are made, which is the order of the passes of
//! the sender. That is also the order in which communication plans post them ([`comm`](crate::comm)).
//!
//! The network card of a node sends messages of several devices. It takes them in the order in which they would be made if
//! every message had a [link of its own](Model::with_own_links); of those that are made at the same instant, that of the
//! lower device first, and on one device that of the earlier pass. So no order depends on what it decides. Nor does sharing a
//! card make passes wait for each other in a cycle: with links of their own, no message of a card is made before one that the
//! card sends earlier, and what waits for a message ends later than the message is made, for it occupies its link.

use std::collections::BTreeMap;

use super::layout::{Layout, Slot};
use super::numbering::Numbering;
use super::{devices, rules};
use crate::model::{Device, Kind, Link, Model, Pass, Stage, Ticks};
use crate::schedule::{Place, Schedule};

/// A message.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sent {
    /// The device that sends it.
    pub device: Device,
    /// The pass that makes it.
    pub by: Slot,
    /// The earlier one of the two stages that it goes between.
    pub boundary: Stage,
}

/// The links of a schedule that are kept busy, each with its messages in order.
pub(super) fn links(model: &Model, schedule: &Schedule, layout: &Layout) -> Vec<(Link, Vec<Sent>)> {
    let mut links: BTreeMap<Link, Vec<Sent>> = BTreeMap::new();
    if !model.has_busy_links() {
        return Vec::new();
    }
    let link = model.links_between();
    for (device, order) in devices(schedule) {
        for (position, &pass) in order.iter().enumerate() {
            let Some((boundary, to)) = receiver(model, pass) else { continue };
            if model.occupancy_after(boundary) > Ticks::ZERO {
                let to = model.placement().device_of(to);
                let by = layout.slot(Place { device, position });
                links.entry(link(device, to)).or_default().push(Sent { device, by, boundary });
            }
        }
    }
    if links.keys().any(|link| matches!(link, Link::Card { .. })) {
        let made = made_with_own_links(model, schedule, layout);
        for messages in links.values_mut() {
            // They are in the order of devices and passes, and stay so where they are made at once.
            messages.sort_by_key(|sent| made[sent.by.index()]);
        }
    }
    links.into_iter().collect()
}

/// The boundary over which a pass sends its result, and the stage that receives it.
fn receiver(model: &Model, pass: Pass) -> Option<(Stage, Stage)> {
    match pass.kind {
        Kind::F => model.placement().stage_after(pass.stage).map(|next| (pass.stage, next)),
        Kind::I | Kind::B => model.placement().stage_before(pass.stage).map(|before| (before, before)),
        Kind::R | Kind::W => None,
    }
}

/// By rank of a pass: when it ends if every message has a link of its own. Zero for all if the passes wait for each other in
/// a cycle, which they then do in any order of messages.
fn made_with_own_links(model: &Model, schedule: &Schedule, layout: &Layout) -> Vec<Ticks> {
    // Passes wait for gathers, which wait for reductions.
    let step = model.step().filter(|_| model.has_gathers()).cloned();
    let free = model.with_own_links().with_step(step).expect("what ends with its passes takes no longer");
    let numbering = Numbering::new(&free, schedule, layout);
    let graph = rules::task_graph(&free, schedule, layout, &numbering);
    let Ok(execution) = graph.execute() else { return vec![Ticks::ZERO; layout.len()] };
    let passes = devices(schedule).flat_map(|(device, _)| numbering.passes(layout, device));
    passes.map(|rank| execution.starts()[rank] + graph.durations()[rank]).collect()
}
