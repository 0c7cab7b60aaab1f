//! Running the orders: every device takes its passes in turn, each as early as it can.

use super::layout::{Layout, Slot};
use super::violation::{Place, Violation, Wait};
use crate::model::{Device, Model, Pass, Ticks};
use crate::schedule::Schedule;

/// The start of every pass, in the order of each device.
pub(super) type Starts = Vec<Vec<Ticks>>;

/// Runs all orders and reports every deadlock.
///
/// Each pass is started once, and a device that waits is woken once by what it waits for: the time
/// is linear in passes and dependencies. Faults that `structure` reports are passed over here, so
/// that the deadlocks behind them are found too: a pass that is missing, or comes later on the same
/// device, is not waited for. The times are then meaningless, and the caller discards them.
///
/// A deadlock is likewise cut at one of its dependencies after it is reported. Every cycle found
/// later is a cycle of the orders as they stand, for cutting only removes dependencies.
pub(super) fn execute(
    model: &Model,
    schedule: &Schedule,
    layout: &Layout,
    violations: &mut Vec<Violation>,
) -> Starts {
    let mut run = Run::new(model, schedule, layout);
    loop {
        while let Some(device) = run.awake.pop() {
            run.advance(device);
        }
        let Some(cycle) = run.find_cycle() else { break };
        run.cut(cycle[0]);
        violations.push(Violation::Deadlock(cycle));
    }
    run.starts
}

/// A device's state.
#[derive(Clone, Copy)]
struct Rank {
    /// The position of the pass it runs next; of an overlapped pair, the first.
    next: usize,
    /// How many overlapped pairs it has run.
    pairs: usize,
    /// The position of the pass that waits: `next`, or the one after it in a pair.
    stands: usize,
    /// When it is free.
    free: Ticks,
    /// What it waits for.
    waits_for: Option<Slot>,
    /// The next device in the list of those that wait for the same pass.
    beside: Option<Device>,
    /// Whether the next pass, or pair, waits for nothing any more, because a deadlock was cut there. In a
    /// sound schedule a pass waits for one other device at most, a pair for two.
    forgiven: bool,
}

struct Run<'a> {
    model: &'a Model,
    schedule: &'a Schedule,
    layout: &'a Layout,
    starts: Starts,
    ranks: Vec<Rank>,
    /// By pass: the first of the devices that wait for it, plus one; 0 where none does.
    waiters: Vec<u32>,
    awake: Vec<Device>,
    /// Where the search for cycles goes on: every device before it has finished.
    searched: usize,
}

impl<'a> Run<'a> {
    fn new(model: &'a Model, schedule: &'a Schedule, layout: &'a Layout) -> Self {
        let idle = Rank {
            next: 0,
            pairs: 0,
            stands: 0,
            free: Ticks::ZERO,
            waits_for: None,
            beside: None,
            forgiven: false,
        };
        Self {
            model,
            schedule,
            layout,
            starts: schedule.orders().iter().map(|order| Vec::with_capacity(order.len())).collect(),
            ranks: vec![idle; schedule.devices() as usize],
            waiters: vec![0; layout.len()],
            awake: Device::all(schedule.devices()).rev().collect(),
            searched: 0,
        }
    }

    /// Runs a device until it waits or has finished.
    fn advance(&mut self, device: Device) {
        let order = self.schedule.order(device);
        let pairs = self.schedule.overlaps(device);
        let range = self.layout.range(device);
        while self.ranks[device.index()].next < order.len() {
            let rank = self.ranks[device.index()];
            let length = if pairs.get(rank.pairs) == Some(&rank.next) { 2 } else { 1 };
            let step = &order[rank.next..rank.next + length];
            let mut counts = [false; 2];
            let mut start = rank.free;
            let mut missing = None;
            for (at, &pass) in step.iter().enumerate() {
                let position = rank.next + at;
                counts[at] = self.counts(device, position);
                if rank.forgiven || !counts[at] {
                    continue;
                }
                self.layout.for_each_need(pass, |needs, needed| {
                    if range.contains(&needed.rank()) {
                        return;
                    }
                    match self.end_of(needs, needed) {
                        Some(end) => start = start.max(end + self.latency(needs, pass)),
                        // Of a pair, the first pass that waits.
                        None if missing.is_none_or(|(first, _)| first == position) => {
                            missing = Some((position, needed));
                        }
                        None => {}
                    }
                });
            }
            if let Some((stands, needed)) = missing {
                self.ranks[device.index()].stands = stands;
                self.wait(device, needed);
                return;
            }
            for (&pass, &counts) in step.iter().zip(&counts) {
                self.starts[device.index()].push(start);
                if counts {
                    start += self.model.duration(pass.stage, pass.kind);
                }
            }
            let (next, pairs) = (rank.next + length, rank.pairs + length - 1);
            self.ranks[device.index()] = Rank { next, pairs, free: start, forgiven: false, ..rank };
            for position in rank.next..next {
                self.wake(self.layout.slot(Place { device, position }));
            }
        }
    }

    /// Whether a pass is run: one that stands twice is run once, and the second time takes no part.
    fn counts(&self, device: Device, position: usize) -> bool {
        let slot = self.layout.slot(Place { device, position });
        self.layout.find(self.schedule.order(device)[position]) == Some(slot)
    }

    /// When what a pass on another device yields is there, if it has started: at its end, or at that of its
    /// pair.
    fn end_of(&self, pass: Pass, slot: Slot) -> Option<Ticks> {
        let place = self.place_of(pass, slot);
        let starts = &self.starts[place.device.index()];
        let own = *starts.get(place.position)? + self.model.duration(pass.stage, pass.kind);
        if self.schedule.overlaps(place.device).binary_search(&place.position).is_err() {
            return Some(own);
        }
        let second = self.schedule.order(place.device)[place.position + 1];
        // A second pass that is not run begins where the first ends, and ends there too.
        let counts = self.counts(place.device, place.position + 1);
        let duration = if counts { self.model.duration(second.stage, second.kind) } else { Ticks::ZERO };
        Some(starts[place.position + 1] + duration)
    }

    /// Where a pass stands. In a sound schedule that is on the device that holds its stage.
    fn place_of(&self, pass: Pass, slot: Slot) -> Place {
        let device = self.model.placement().device_of(pass.stage);
        let range = self.layout.range(device);
        if range.contains(&slot.rank()) {
            Place { device, position: (slot.rank() - range.start) as usize }
        } else {
            self.layout.place(slot)
        }
    }

    /// The latency from one pass to another one of the same or a neighbouring stage.
    fn latency(&self, from: Pass, to: Pass) -> Ticks {
        if from.stage == to.stage { Ticks::ZERO } else { self.model.latency_after(from.stage.min(to.stage)) }
    }

    fn wait(&mut self, device: Device, needed: Slot) {
        let first = &mut self.waiters[needed.index()];
        let rank = &mut self.ranks[device.index()];
        rank.waits_for = Some(needed);
        rank.beside = first.checked_sub(1).map(Device);
        *first = device.0 + 1;
    }

    fn wake(&mut self, slot: Slot) {
        let mut next = std::mem::take(&mut self.waiters[slot.index()]).checked_sub(1).map(Device);
        while let Some(device) = next {
            let rank = &mut self.ranks[device.index()];
            rank.waits_for = None;
            next = rank.beside.take();
            self.awake.push(device);
        }
    }

    /// With no device awake: a circle of devices that wait for each other, from the least device
    /// on; nothing when all have finished.
    fn find_cycle(&mut self) -> Option<Vec<Wait>> {
        while self.ranks.get(self.searched)?.waits_for.is_none() {
            self.searched += 1;
        }
        // What a device waits for stands on another one that waits itself, so following the waits
        // comes to a circle after at most as many steps as there are devices.
        let mut device = Device::at(self.searched);
        for _ in 0..self.ranks.len() {
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
        let rank = self.ranks[device.index()];
        let needed = rank.waits_for.expect("only devices that wait are asked");
        let needs_at = self.layout.place(needed);
        let at = Place { device, position: rank.stands };
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
        let beside = self.ranks[device.index()].beside.take();
        if self.waiters[needed.index()] == device.0 + 1 {
            self.waiters[needed.index()] = beside.map_or(0, |other| other.0 + 1);
        } else if let Some(before) =
            self.ranks.iter_mut().find(|rank| rank.waits_for == Some(needed) && rank.beside == Some(device))
        {
            before.beside = beside;
        }
        let rank = &mut self.ranks[device.index()];
        rank.waits_for = None;
        rank.forgiven = true;
        self.awake.push(device);
    }
}
