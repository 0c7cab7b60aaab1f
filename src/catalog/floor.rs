//! List scheduling: time goes forward, and whenever a device is free a rule says what it starts.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::block::{acquired, released};
use crate::model::{Device, Kind, Model, Pass, Stage, Ticks, Units};
use crate::schedule::prerequisites;

/// What a free device does next, given all that has been started so far.
pub(super) trait Rule {
    /// The pass that a device starts now, or nothing where it rather waits. It must have
    /// [arrived](Floor::arrival) by now.
    fn choose(&mut self, floor: &Floor<'_>, device: Device, now: Ticks) -> Option<Pass>;
}

/// The devices at work.
pub(super) struct Floor<'a> {
    /// The pipeline.
    pub(super) model: &'a Model,
    /// Whether the schedule has a pass, by cell.
    present: Vec<bool>,
    /// The end of every pass that has started, by cell.
    ends: Vec<Option<Ticks>>,
    /// When each device is free.
    free: Vec<Ticks>,
    /// What is live on each device once its last pass has ended.
    live: Vec<Units>,
    orders: Vec<Vec<Pass>>,
    /// When a device has something to decide: it becomes free, or something arrives.
    agenda: BinaryHeap<Reverse<(Ticks, Device)>>,
}

impl<'a> Floor<'a> {
    /// Devices that have yet to run these passes.
    pub(super) fn new(model: &'a Model, passes: impl Iterator<Item = Pass>) -> Self {
        let devices = model.devices();
        let cells = model.stages() as usize * Kind::COUNT * model.microbatches() as usize;
        let mut floor = Self {
            model,
            present: vec![false; cells],
            ends: vec![None; cells],
            free: vec![Ticks::ZERO; devices as usize],
            live: vec![Units::ZERO; devices as usize],
            orders: vec![Vec::new(); devices as usize],
            agenda: Device::all(devices).map(|device| Reverse((Ticks::ZERO, device))).collect(),
        };
        for pass in passes {
            let cell = floor.cell(pass);
            floor.present[cell] = true;
        }
        floor
    }

    /// Runs the devices by a rule until nothing happens any more, and returns their orders.
    pub(super) fn run(mut self, rule: &mut impl Rule) -> Vec<Vec<Pass>> {
        while let Some(Reverse((now, device))) = self.agenda.pop() {
            if self.free[device.index()] <= now
                && let Some(pass) = rule.choose(&self, device, now)
            {
                self.start(device, pass, now);
            }
        }
        self.orders
    }

    /// When everything that a pass needs has ended and arrived; nothing while some of it has not
    /// even started.
    pub(super) fn arrival(&self, pass: Pass) -> Option<Ticks> {
        let mut arrival = Ticks::ZERO;
        for needs in prerequisites(pass, self.model.placement(), |other| self.present[self.cell(other)]) {
            let latency = if needs.stage == pass.stage {
                Ticks::ZERO
            } else {
                self.model.latency_after(needs.stage.min(pass.stage))
            };
            arrival = arrival.max(self.ends[self.cell(needs)]? + latency);
        }
        Some(arrival)
    }

    /// Whether a device has room for what a pass acquires.
    pub(super) fn fits(&self, device: Device, pass: Pass, limit: Units) -> bool {
        let acquired = self.acquired(pass);
        acquired == Units::ZERO || self.live[device.index()] + acquired <= limit
    }

    fn acquired(&self, pass: Pass) -> Units {
        acquired(self.model, pass, self.present[self.cell(pass.with_kind(Kind::R))])
    }

    fn start(&mut self, device: Device, pass: Pass, now: Ticks) {
        let end = now + self.model.duration(pass.stage, pass.kind);
        let cell = self.cell(pass);
        self.ends[cell] = Some(end);
        let held = self.acquired(pass) - released(self.model, pass);
        self.live[device.index()] += held;
        self.orders[device.index()].push(pass);
        self.free[device.index()] = end;
        self.agenda.push(Reverse((end, device)));
        let stage = pass.stage;
        let neighbour = match pass.kind {
            Kind::F if stage.0 + 1 < self.model.stages() => Some((Stage(stage.0 + 1), stage)),
            Kind::I | Kind::B if stage.0 > 0 => Some((Stage(stage.0 - 1), Stage(stage.0 - 1))),
            _ => None,
        };
        if let Some((next, boundary)) = neighbour {
            let arrival = end + self.model.latency_after(boundary);
            self.agenda.push(Reverse((arrival, self.model.placement().device_of(next))));
        }
    }

    fn cell(&self, pass: Pass) -> usize {
        (pass.stage.index() * Kind::COUNT + pass.kind as usize) * self.model.microbatches() as usize
            + pass.microbatch.index()
    }
}
