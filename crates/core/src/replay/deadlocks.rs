//! Everything that keeps orders from running, for a report: devices that wait for each other in a cycle.
//!
//! Whether a schedule is accepted does not depend on this: [`execute`](super::execute) shows that every pass runs. No
//! times are needed here, only how far each device comes.

use super::layout::{Layout, Slot};
use super::violation::Wait;
use crate::model::{Device, Pass};
use crate::schedule::{Place, Schedule};

/// What keeps orders from running.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Deadlocks {
    /// Each cycle as the waits of its devices, from the least device on.
    pub cycles: Vec<Vec<Wait>>,
    /// How many devices were still stuck when there was no more room for cycles.
    pub unlisted: usize,
}

/// The steps allowed for finding cycles, and for listing them, whatever the size of the orders.
const FREE_STEPS: usize = 1 << 16;

/// The further steps allowed for every pass.
const STEPS_PER_PASS: usize = 8;

/// The deadlocks of the orders: all of them, unless that would take far longer than to read the orders.
///
/// Faults that `structure` reports are passed over, so that the deadlocks behind them are found too: a
/// pass that is missing, or comes later on the same device, is not waited for, and a duplicate is
/// run once. A deadlock is likewise cut at one of its waits after it is found. Every cycle found later is
/// one of the orders as they are, for cutting only removes dependencies.
pub(super) fn deadlocks(schedule: &Schedule, layout: &Layout) -> Deadlocks {
    within(FREE_STEPS + STEPS_PER_PASS * layout.len(), schedule, layout)
}

/// [`deadlocks`], within so many steps.
fn within(most: usize, schedule: &Schedule, layout: &Layout) -> Deadlocks {
    let mut walk = Walk::new(schedule, layout);
    let mut cycles = Vec::new();
    loop {
        while let Some(device) = walk.awake.pop() {
            walk.advance(device);
        }
        if walk.steps > most {
            let unlisted = walk.devices.iter().filter(|progress| progress.waits_for.is_some()).count();
            return Deadlocks { cycles, unlisted };
        }
        let Some(cycle) = walk.find_cycle() else { return Deadlocks { cycles, unlisted: 0 } };
        walk.cut(cycle[0]);
        cycles.push(cycle);
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
    /// The one before it there.
    before: Option<Device>,
    /// Where it stands on the path along which a cycle is looked for.
    on_path: Option<usize>,
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
    /// Devices that wait, each for the next, from that one on. What is still true of it is kept from cycle to
    /// cycle.
    path: Vec<Device>,
    /// The steps along it, and the waits of cycles.
    steps: usize,
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
            path: Vec::new(),
            steps: 0,
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
                if let Some(beside) = beside {
                    self.devices[beside.index()].before = Some(device);
                }
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
            next = self.devices[device.index()].beside.take();
            self.rouse(device);
        }
    }

    /// Lets a device go on that waited.
    fn rouse(&mut self, device: Device) {
        let progress = &mut self.devices[device.index()];
        progress.waits_for = None;
        progress.before = None;
        // It, and what it led to, is no longer on the path.
        let kept = progress.on_path.unwrap_or(self.path.len());
        for left in self.path.drain(kept..) {
            self.devices[left.index()].on_path = None;
        }
        self.awake.push(device);
    }

    /// With no device awake: a cycle of devices that wait for each other, from the least device
    /// on; nothing when all have finished.
    fn find_cycle(&mut self) -> Option<Vec<Wait>> {
        if self.path.is_empty() {
            while self.devices.get(self.searched)?.waits_for.is_none() {
                self.searched += 1;
            }
            self.step_to(Device::at(self.searched));
        }
        // What a device waits for is on another one that waits itself, so following the waits
        // comes back to the path.
        let from = loop {
            let next = self.wait_of(self.path[self.path.len() - 1]).needs_at.device;
            if let Some(from) = self.devices[next.index()].on_path {
                break from;
            }
            self.step_to(next);
        };
        let mut cycle: Vec<Wait> = self.path[from..].iter().map(|&device| self.wait_of(device)).collect();
        self.steps += cycle.len();
        let least = (0..cycle.len()).min_by_key(|&at| cycle[at].at.device)?;
        cycle.rotate_left(least);
        Some(cycle)
    }

    fn step_to(&mut self, device: Device) {
        self.devices[device.index()].on_path = Some(self.path.len());
        self.path.push(device);
        self.steps += 1;
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
        let Progress { beside, before, .. } = self.devices[device.index()];
        match before {
            Some(before) => self.devices[before.index()].beside = beside,
            None => self.waiters[needed.index()] = beside,
        }
        if let Some(beside) = beside {
            self.devices[beside.index()].before = before;
        }
        let progress = &mut self.devices[device.index()];
        progress.beside = None;
        progress.forgiven = true;
        self.rouse(device);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::Placement;

    /// Every two neighbours wait for each other, as far as there are devices.
    fn alternating(devices: u32) -> Schedule {
        let order = |device: u32| {
            let kinds =
                if device.is_multiple_of(2) { ["F0", "B0", "F1", "B1"] } else { ["F0", "F1", "B0", "B1"] };
            kinds.map(|pass| format!("{device}{pass}").parse().expect("a pass")).to_vec()
        };
        let placement = Placement::linear(devices).expect("a placement");
        Schedule::new(placement, 2, (0..devices).map(order).collect()).expect("a schedule")
    }

    #[test]
    fn to_find_all_deadlocks_takes_steps_in_proportion_to_the_passes() {
        for devices in [10, 100, 1000] {
            let schedule = alternating(devices);
            let layout = Layout::new(&schedule);
            let found = within(4 * schedule.len(), &schedule, &layout);
            assert_eq!(found.unlisted, 0, "{devices}");
            assert!(found.cycles.len() >= devices as usize / 2, "{devices}: {}", found.cycles.len());
        }
    }

    #[test]
    fn where_there_are_no_steps_left_the_devices_that_are_stuck_are_counted() {
        let schedule = alternating(10);
        let layout = Layout::new(&schedule);
        let all = deadlocks(&schedule, &layout);
        let some = within(6, &schedule, &layout);
        assert!(some.cycles.len() < all.cycles.len() && all.cycles.starts_with(&some.cycles));
        assert!(some.unlisted > 0 && all.unlisted == 0);
    }

    impl Walk<'_> {
        /// That each device that waits is in the list of what it waits for, once, and no other device is.
        fn assert_lists(&self) {
            let mut listed = vec![0; self.devices.len()];
            for (slot, &first) in self.waiters.iter().enumerate() {
                let (mut before, mut next) = (None, first);
                while let Some(device) = next {
                    let progress = self.devices[device.index()];
                    assert_eq!(progress.waits_for.map(Slot::index), Some(slot), "{device:?}");
                    assert_eq!(progress.before, before, "{device:?}");
                    listed[device.index()] += 1;
                    (before, next) = (Some(device), progress.beside);
                }
            }
            let waiting = self.devices.iter().map(|progress| usize::from(progress.waits_for.is_some()));
            assert_eq!(listed, waiting.collect::<Vec<_>>());
        }
    }

    proptest! {
        /// Passes on any device: there, several devices wait for one pass, and any of them may be cut from the list.
        #[test]
        fn the_lists_of_waiting_devices_stay_whole(
            passes in Just((0..4_u32).flat_map(|stage| {
                ["F0", "B0", "F1", "B1"].map(|pass| format!("{stage}{pass}").parse::<Pass>().expect("a pass"))
            }).collect::<Vec<_>>()).prop_shuffle(),
            on in prop::collection::vec(0..4_usize, 16),
        ) {
            let mut orders = vec![Vec::new(); 4];
            for (pass, device) in passes.into_iter().zip(on) {
                orders[device].push(pass);
            }
            let placement = Placement::linear(4).expect("a placement");
            let schedule = Schedule::new(placement, 2, orders).expect("a schedule");
            let layout = Layout::new(&schedule);
            let mut walk = Walk::new(&schedule, &layout);
            loop {
                while let Some(device) = walk.awake.pop() {
                    walk.advance(device);
                }
                walk.assert_lists();
                let Some(cycle) = walk.find_cycle() else { break };
                walk.cut(cycle[0]);
                walk.assert_lists();
            }
        }
    }
}
