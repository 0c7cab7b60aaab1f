//! Everything that keeps orders from running, for a report: devices that wait for each other in a cycle.
//!
//! Whether a schedule is accepted does not depend on this: that every pass runs is for
//! [`execute`](super::execute) to show. No times are needed here, only how far each device comes.

use super::layout::{Layout, Slot};
use super::violation::Wait;
use crate::model::{Device, Pass};
use crate::schedule::{Place, Schedule};

/// Every deadlock of the orders, each as the waits of its devices from the least device on.
///
/// Faults that `structure` reports are passed over, so that the deadlocks behind them are found too: a
/// pass that is missing, or comes later on the same device, is not waited for, and a duplicate is
/// run once. A deadlock is likewise cut at one of its waits after it is found. Every cycle found later is
/// one of the orders as they are, for cutting only removes dependencies.
pub(super) fn deadlocks(schedule: &Schedule, layout: &Layout) -> Vec<Vec<Wait>> {
    let mut walk = Walk::new(schedule, layout);
    let mut found = Vec::new();
    loop {
        while let Some(device) = walk.awake.pop() {
            walk.advance(device);
        }
        let Some(cycle) = walk.find_cycle() else { return found };
        walk.cut(cycle[0]);
        found.push(cycle);
    }
}

/// How far a device has come.
#[derive(Clone, Copy, Default)]
struct Progress {
    /// The position of the pass it runs next; of an overlapped pair, the first.
    next: usize,
    /// How many overlapped pairs it has run.
    pairs: usize,
    /// The position of the pass that waits: `next`, or the one after it in a pair.
    waiting: usize,
    /// What it waits for.
    waits_for: Option<Slot>,
    /// The next device in the list of those that wait for the same pass.
    beside: Option<Device>,
    /// Whether the next pass, or pair, waits for nothing any more, because a deadlock was cut there. In a
    /// sound schedule a pass waits for one other device at most, a pair for two.
    forgiven: bool,
}

struct Walk<'a> {
    schedule: &'a Schedule,
    layout: &'a Layout,
    devices: Vec<Progress>,
    /// By pass: the first of the devices that wait for it.
    waiters: Vec<Option<Device>>,
    awake: Vec<Device>,
    /// Where the search for cycles goes on: every device before it has finished.
    searched: usize,
}

impl<'a> Walk<'a> {
    fn new(schedule: &'a Schedule, layout: &'a Layout) -> Self {
        Self {
            schedule,
            layout,
            devices: vec![Progress::default(); schedule.devices() as usize],
            waiters: vec![None; layout.len()],
            awake: Device::all(schedule.devices()).rev().collect(),
            searched: 0,
        }
    }

    /// Runs a device until it waits or has finished.
    fn advance(&mut self, device: Device) {
        let order = self.schedule.order(device);
        while self.devices[device.index()].next < order.len() {
            let progress = self.devices[device.index()];
            let paired = self.schedule.overlaps(device).get(progress.pairs) == Some(&progress.next);
            let end = progress.next + 1 + usize::from(paired);
            let missing = (progress.next..end).find_map(|position| {
                let slot = self.missing(Place { device, position }, order[position])?;
                Some((position, slot))
            });
            if let Some((waiting, slot)) = missing.filter(|_| !progress.forgiven) {
                let beside = self.waiters[slot.index()].replace(device);
                self.devices[device.index()] =
                    Progress { waiting, waits_for: Some(slot), beside, ..progress };
                return;
            }
            self.devices[device.index()] = Progress {
                next: end,
                pairs: progress.pairs + usize::from(paired),
                forgiven: false,
                ..progress
            };
            for position in progress.next..end {
                self.wake(self.layout.slot(Place { device, position }));
            }
        }
    }

    /// The last of what a pass needs on other devices that has not run.
    fn missing(&self, at: Place, pass: Pass) -> Option<Slot> {
        if self.layout.find(pass) != Some(self.layout.slot(at)) {
            // It is a duplicate, and its other place counts.
            return None;
        }
        let own = self.layout.range(at.device);
        let mut missing = None;
        self.layout.for_each_need(pass, |_, slot| {
            let place = self.layout.place(slot);
            let has_run = place.position < self.devices[place.device.index()].next;
            if !own.contains(&slot.rank()) && !has_run {
                missing = Some(slot);
            }
        });
        missing
    }

    fn wake(&mut self, slot: Slot) {
        let mut next = self.waiters[slot.index()].take();
        while let Some(device) = next {
            let progress = &mut self.devices[device.index()];
            progress.waits_for = None;
            next = progress.beside.take();
            self.awake.push(device);
        }
    }

    /// With no device awake: a cycle of devices that wait for each other, from the least device
    /// on; nothing when all have finished.
    fn find_cycle(&mut self) -> Option<Vec<Wait>> {
        while self.devices.get(self.searched)?.waits_for.is_none() {
            self.searched += 1;
        }
        // What a device waits for is on another one that waits itself, so following the waits
        // comes to a cycle after at most as many steps as there are devices.
        let mut device = Device::at(self.searched);
        for _ in 0..self.devices.len() {
            device = self.wait_of(device).needs_at.device;
        }
        let mut cycle = vec![self.wait_of(device)];
        while cycle[cycle.len() - 1].needs_at.device != device {
            cycle.push(self.wait_of(cycle[cycle.len() - 1].needs_at.device));
        }
        let least = (0..cycle.len()).min_by_key(|&at| cycle[at].at.device)?;
        cycle.rotate_left(least);
        Some(cycle)
    }

    /// What a waiting device waits for.
    fn wait_of(&self, device: Device) -> Wait {
        let progress = self.devices[device.index()];
        let needed = progress.waits_for.expect("only devices that wait are asked");
        let needs_at = self.layout.place(needed);
        let at = Place { device, position: progress.waiting };
        Wait {
            at,
            pass: self.schedule.order(device)[at.position],
            needs: self.schedule.order(needs_at.device)[needs_at.position],
            needs_at,
        }
    }

    /// Lets the device of a wait go on as if what it waits for had come.
    fn cut(&mut self, wait: Wait) {
        let device = wait.at.device;
        let needed = self.layout.slot(wait.needs_at);
        let beside = self.devices[device.index()].beside.take();
        if self.waiters[needed.index()] == Some(device) {
            self.waiters[needed.index()] = beside;
        } else if let Some(before) = self
            .devices
            .iter_mut()
            .find(|other| other.waits_for == Some(needed) && other.beside == Some(device))
        {
            before.beside = beside;
        }
        let progress = &mut self.devices[device.index()];
        progress.waits_for = None;
        progress.forgiven = true;
        self.awake.push(device);
    }
}
