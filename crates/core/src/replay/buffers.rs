//! Buffers of received messages: from where the receive is posted to the end of the pass that uses it.
//!
//! Where a receive is posted follows from the orders alone: see [`Buffer`]. `lowering` of the whole library writes the rows of
//! a plan in the same order where each device holds one stage. With more, gathering weights and reducing gradients take turns of
//! their own there, as in PyTorch, and a receive may stand a few passes earlier or later.

use std::collections::{BTreeMap, BTreeSet};

use super::layout::{Layout, Slot};
use crate::model::{Device, Kind, Pass, Placement, Stage};
use crate::schedule::{Place, Schedule};

/// The buffer of a received message.
///
/// Its receive is posted as devices take turns, by their number, round after round. In its turn a device takes its next step (a
/// pass, or an overlapped pair) if all that this needs has run; else the turn is lost. Right after a pass that sends
/// something its receive is posted, behind all that the receiving device has run by then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Buffer {
    /// How many passes of its device come before the receive.
    pub posted: usize,
    /// The position of the pass that uses the message, at whose end the buffer is free again.
    pub used: usize,
    /// The earlier one of the two stages that the message is between.
    pub boundary: Stage,
    /// The pass that uses it: an F uses an activation, a backward a gradient.
    pub pass: Pass,
}

/// The buffers of every device, in the order of the passes that use them.
///
/// Where orders get stuck, a receive whose send does not run counts from the pass that needs it.
pub(super) fn buffers(schedule: &Schedule, layout: &Layout) -> Vec<Vec<Buffer>> {
    let posts = posts(schedule, layout);
    let placement = schedule.placement();
    super::devices(schedule)
        .map(|(device, order)| {
            let mut found = Vec::new();
            // A pair starts as one.
            let start = |position: usize| match position.checked_sub(1) {
                Some(first) if schedule.overlaps(device).binary_search(&first).is_ok() => first,
                _ => position,
            };
            for (used, &pass) in order.iter().enumerate() {
                let slot = layout.slot(Place { device, position: used });
                if layout.find(pass) != Some(slot) {
                    continue;
                }
                if let Some(boundary) = received_over(pass, placement) {
                    let posted = posts[slot.index()].map_or_else(|| start(used), |posted| posted as usize);
                    // Orders that cannot run may have what is sent before it is used in vain.
                    found.push(Buffer { posted: posted.min(start(used)), used, boundary, pass });
                }
            }
            found
        })
        .collect()
}

/// The boundary between devices over which a pass receives what it needs, if it does.
fn received_over(pass: Pass, placement: &Placement) -> Option<Stage> {
    let (boundary, other) = match pass.kind {
        Kind::F => {
            let before = placement.stage_before(pass.stage)?;
            (before, before)
        }
        Kind::I | Kind::B => (pass.stage, placement.stage_after(pass.stage)?),
        Kind::W | Kind::R => return None,
    };
    (placement.device_of(other) != placement.device_of(pass.stage)).then_some(boundary)
}

/// By rank of the pass that uses a message: how many passes its device has run when the receive is posted; nothing where it
/// is never sent.
fn posts(schedule: &Schedule, layout: &Layout) -> Vec<Option<u32>> {
    let mut turns = Turns {
        schedule,
        layout,
        next: vec![0; schedule.orders().len()],
        has_run: vec![false; layout.len()],
        posts: vec![None; layout.len()],
        waiting: BTreeMap::new(),
    };
    let mut round: BTreeSet<Device> = Device::all(schedule.devices()).collect();
    while !round.is_empty() {
        let mut later = BTreeSet::new();
        while let Some(device) = round.pop_first() {
            for woken in turns.take(device) {
                if woken > device {
                    round.insert(woken)
                } else {
                    later.insert(woken)
                };
            }
        }
        round = later;
    }
    turns.posts
}

/// How far every device has come.
struct Turns<'a> {
    schedule: &'a Schedule,
    layout: &'a Layout,
    /// By device: the position of its next pass.
    next: Vec<usize>,
    /// By rank.
    has_run: Vec<bool>,
    posts: Vec<Option<u32>>,
    /// By what they wait for.
    waiting: BTreeMap<Slot, Vec<Device>>,
}

impl Turns<'_> {
    /// A device takes its turn: those that may take another one afterwards. One that waits has its next turn after what it waits
    /// for.
    fn take(&mut self, device: Device) -> Vec<Device> {
        let (order, first) = (self.schedule.order(device), self.next[device.index()]);
        if first == order.len() {
            return Vec::new();
        }
        let is_pair = self.schedule.overlaps(device).binary_search(&first).is_ok();
        let step = first..first + 1 + usize::from(is_pair);
        let mut lacks = None;
        for position in step.clone() {
            if let Some(pass) = self.effective(Place { device, position }) {
                self.layout.for_each_need(pass, |_, slot| {
                    lacks = lacks.or((!self.has_run[slot.index()]).then_some(slot));
                });
            }
        }
        if let Some(slot) = lacks {
            self.waiting.entry(slot).or_default().push(device);
            return Vec::new();
        }
        self.next[device.index()] = step.end;
        let mut woken = vec![device];
        for position in step {
            let place = Place { device, position };
            let slot = self.layout.slot(place);
            self.has_run[slot.index()] = true;
            woken.extend(self.waiting.remove(&slot).unwrap_or_default());
            if let Some(pass) = self.effective(place) {
                self.send(pass);
            }
        }
        woken
    }

    /// The pass at a place, if it is the one that counts.
    fn effective(&self, place: Place) -> Option<Pass> {
        let pass = self.schedule.order(place.device)[place.position];
        (self.layout.find(pass) == Some(self.layout.slot(place))).then_some(pass)
    }

    /// Posts the receives of what a pass sends.
    fn send(&mut self, pass: Pass) {
        let placement = self.schedule.placement();
        let to = match pass.kind {
            Kind::F => placement.stage_after(pass.stage).map(|stage| (stage, [Kind::F; 2])),
            Kind::I | Kind::B => placement.stage_before(pass.stage).map(|stage| (stage, [Kind::I, Kind::B])),
            Kind::W | Kind::R => None,
        };
        let Some((stage, kinds)) = to else { return };
        for slot in kinds.into_iter().filter_map(|kind| self.layout.find(Pass { stage, kind, ..pass })) {
            let done = self.next[self.layout.place(slot).device.index()];
            self.posts[slot.index()] =
                Some(u32::try_from(done).expect("an order is no longer than all of them"));
        }
    }
}
