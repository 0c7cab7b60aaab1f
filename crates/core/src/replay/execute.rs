//! Running the orders: every device takes its passes in turn, each as early as it can.
//!
//! This is the path by which a schedule is accepted. It takes only orders in which `structure` has found nothing wrong;
//! [`deadlocks`](super::deadlocks) finds what keeps wrong ones from running.

use super::layout::{Layout, Slot};
use crate::model::{Device, Model, Pass, Ticks};
use crate::schedule::{Place, Schedule};

/// An execution of a whole schedule, each pass as soon as possible.
pub(super) struct Run {
    /// The start of every pass, in the order of each device.
    pub starts: Vec<Vec<Ticks>>,
    /// Every pass behind those that it needs; of an overlapped pair the first pass alone.
    pub sequence: Vec<Slot>,
}

/// When everything runs, as soon as possible; nothing when devices wait for each other for ever.
///
/// Every pass of the problem must be there once, on the device that holds its stage, and behind the passes
/// of that device that it needs.
pub(super) fn execute(model: &Model, schedule: &Schedule, layout: &Layout) -> Option<Run> {
    let mut running = Running {
        model,
        schedule,
        layout,
        starts: schedule.orders().iter().map(|order| Vec::with_capacity(order.len())).collect(),
        sequence: Vec::with_capacity(layout.len()),
        ranks: vec![Rank::default(); schedule.devices() as usize],
        waiters: vec![None; layout.len()],
        awake: Device::all(schedule.devices()).rev().collect(),
    };
    while let Some(device) = running.awake.pop() {
        running.advance(device);
    }
    let Running { starts, sequence, .. } = running;
    let ran: usize = starts.iter().map(Vec::len).sum();
    (ran == layout.len()).then_some(Run { starts, sequence })
}

/// A device's state.
#[derive(Clone, Copy, Default)]
struct Rank {
    /// When it is free.
    free: Ticks,
    /// How many overlapped pairs it has run.
    pairs: usize,
    /// The next device in the list of those that wait for the same pass.
    beside: Option<Device>,
}

/// The devices in the middle of their orders. Each pass is started once, and a device that waits is woken
/// once by what it waits for: the time is linear in passes and dependencies.
struct Running<'a> {
    model: &'a Model,
    schedule: &'a Schedule,
    layout: &'a Layout,
    starts: Vec<Vec<Ticks>>,
    sequence: Vec<Slot>,
    ranks: Vec<Rank>,
    /// By pass: the first of the devices that wait for it.
    waiters: Vec<Option<Device>>,
    awake: Vec<Device>,
}

impl Running<'_> {
    /// Runs a device until it waits or has finished.
    fn advance(&mut self, device: Device) {
        let order = self.schedule.order(device);
        loop {
            let position = self.starts[device.index()].len();
            let pairs = self.ranks[device.index()].pairs;
            let paired = self.schedule.overlaps(device).get(pairs) == Some(&position);
            let Some(step) = order.get(position..position + 1 + usize::from(paired)) else { return };
            match self.ready(device, step) {
                Ok(start) => self.start(device, step, start),
                Err(needed) => {
                    self.ranks[device.index()].beside = self.waiters[needed.index()].replace(device);
                    return;
                }
            }
        }
    }

    /// When a device can start a pass, or an overlapped pair: when it is free and everything that the passes need has
    /// arrived. Otherwise a needed pass that has not even started.
    fn ready(&self, device: Device, step: &[Pass]) -> Result<Ticks, Slot> {
        let own = self.layout.range(device);
        let (mut start, mut missing) = (self.ranks[device.index()].free, None);
        for &pass in step {
            self.layout.for_each_need(pass, |need, slot| {
                // What is on the device itself has ended before the device is free.
                if own.contains(&slot.rank()) {
                    return;
                }
                match self.end(need, slot) {
                    Some(end) => start = start.max(end + latency(self.model, need, pass)),
                    None => missing = missing.or(Some(slot)),
                }
            });
        }
        missing.map_or(Ok(start), Err)
    }

    /// When what a pass yields is there, if the pass has started: at its end, or at that of its pair.
    fn end(&self, pass: Pass, slot: Slot) -> Option<Ticks> {
        let device = self.model.placement().device_of(pass.stage);
        let starts = &self.starts[device.index()];
        let position = (slot.rank() - self.layout.range(device).start) as usize;
        let start = *starts.get(position)?;
        let first_of_pair = self.schedule.overlaps(device).binary_search(&position).is_ok();
        Some(if first_of_pair {
            let second = self.schedule.order(device)[position + 1];
            super::end_of(self.model, second, starts[position + 1])
        } else {
            super::end_of(self.model, pass, start)
        })
    }

    /// Starts a pass, or both of a pair, and wakes the devices that wait for it.
    fn start(&mut self, device: Device, step: &[Pass], start: Ticks) {
        let mut free = start;
        let position = self.starts[device.index()].len();
        self.sequence.push(self.layout.slot(Place { device, position }));
        for &pass in step {
            let position = self.starts[device.index()].len();
            self.starts[device.index()].push(free);
            free = super::end_of(self.model, pass, free);
            self.wake(self.layout.slot(Place { device, position }));
        }
        let rank = &mut self.ranks[device.index()];
        rank.free = free;
        rank.pairs += step.len() - 1;
    }

    fn wake(&mut self, slot: Slot) {
        let mut next = self.waiters[slot.index()].take();
        while let Some(device) = next {
            next = self.ranks[device.index()].beside.take();
            self.awake.push(device);
        }
    }
}

/// The latency from one pass to another one of the same or a neighbouring stage, in ticks.
pub(super) fn latency(model: &Model, from: Pass, to: Pass) -> Ticks {
    if from.stage == to.stage { Ticks::ZERO } else { model.latency_after(from.stage.min(to.stage)) }
}
