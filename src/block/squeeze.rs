//! Squeezing: every pass as early as its device's order and its dependencies allow.
//!
//! This is the engine that construction and search use to know times while they work. It shares
//! nothing with `replay`, which checks the result; tests hold the two against each other.

use crate::model::{Device, Kind, Microbatch, Model, Pass, Stage, Ticks};
use crate::schedule::{Schedule, prerequisites};

/// A schedule with the earliest start of every pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timeline {
    /// The order of every device.
    pub orders: Vec<Vec<Pass>>,
    /// The start of every pass, in the same arrangement.
    pub starts: Vec<Vec<Ticks>>,
}

/// The orders cannot run: some pass is missing, double, or waits for itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0} passes of the orders can never start")]
pub struct Stuck(pub usize);

/// Where every pass of a problem stands in dense tables.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cells {
    stages: u32,
    microbatches: u32,
}

impl Cells {
    pub(super) fn of(schedule: &Schedule) -> Self {
        Self { stages: schedule.placement().stages(), microbatches: schedule.microbatches() }
    }

    pub(super) fn count(self) -> usize {
        self.stages as usize * Kind::COUNT * self.microbatches as usize
    }

    pub(super) fn cell(self, pass: Pass) -> usize {
        (pass.stage.index() * Kind::COUNT + pass.kind as usize) * self.microbatches as usize
            + pass.microbatch.index()
    }

    pub(super) fn known(self, pass: Pass) -> bool {
        pass.stage.0 < self.stages && pass.microbatch.0 < self.microbatches
    }
}

/// The earliest start of every pass under the schedule's orders.
///
/// # Errors
/// When not every pass can start.
pub fn squeeze(model: &Model, schedule: &Schedule) -> Result<Timeline, Stuck> {
    let cells = Cells::of(schedule);
    let total = schedule.len();
    // By cell: the place of a pass, and how many passes it still waits for.
    let mut place: Vec<Option<(u32, u32)>> = vec![None; cells.count()];
    for device in Device::all(schedule.devices()) {
        for (position, &pass) in schedule.order(device).iter().enumerate() {
            if !cells.known(pass) || place[cells.cell(pass)].is_some() {
                return Err(Stuck(1));
            }
            place[cells.cell(pass)] = Some((device.0, u32::try_from(position).map_err(|_| Stuck(total))?));
        }
    }
    let present = |pass: Pass| place[cells.cell(pass)].is_some();
    let mut pending = vec![0_u8; cells.count()];
    let mut ready = Vec::new();
    for order in schedule.orders() {
        for (position, &pass) in order.iter().enumerate() {
            let needs = prerequisites(pass, cells.stages, present).count() + usize::from(position > 0);
            pending[cells.cell(pass)] = u8::try_from(needs).expect("a pass needs at most four others");
            if needs == 0 {
                ready.push(pass);
            }
        }
    }
    let mut starts: Vec<Vec<Ticks>> =
        schedule.orders().iter().map(|order| vec![Ticks::ZERO; order.len()]).collect();
    let mut done = 0;
    while let Some(pass) = ready.pop() {
        done += 1;
        let (device, position) = place[cells.cell(pass)].expect("only passes of the orders become ready");
        let (device, position) = (device as usize, position as usize);
        let end = starts[device][position] + model.duration(pass.stage, pass.kind);
        let mut follow = |next: Pass, latency: Ticks| {
            let cell = cells.cell(next);
            let Some((device, position)) = place[cell] else { return };
            let start = &mut starts[device as usize][position as usize];
            *start = (*start).max(end + latency);
            pending[cell] -= 1;
            if pending[cell] == 0 {
                ready.push(next);
            }
        };
        if let Some(&next) = schedule.orders()[device].get(position + 1) {
            follow(next, Ticks::ZERO);
        }
        for (next, latency) in dependents(model, pass, cells.stages, present) {
            follow(next, latency);
        }
    }
    if done == total {
        Ok(Timeline { orders: schedule.orders().to_vec(), starts })
    } else {
        Err(Stuck(total - done))
    }
}

/// The passes that wait for a pass, with the latency at which they learn of its end.
fn dependents(
    model: &Model,
    pass: Pass,
    stages: u32,
    present: impl Fn(Pass) -> bool,
) -> impl Iterator<Item = (Pass, Ticks)> {
    let mut found: [Option<(Pass, Ticks)>; 4] = [None; 4];
    let here = |kind| Some((pass.with_kind(kind), Ticks::ZERO));
    match pass.kind {
        Kind::F => {
            if pass.stage.0 + 1 < stages {
                let above = Pass { stage: Stage(pass.stage.0 + 1), ..pass };
                found[0] = Some((above, model.latency_after(pass.stage)));
            }
            found[1] = here(Kind::R);
            found[2] = here(Kind::I);
            found[3] = here(Kind::B);
        }
        Kind::R => {
            found[0] = here(Kind::I);
            found[1] = here(Kind::B);
        }
        Kind::I | Kind::B => {
            // As in `prerequisites`: beside a full backward its parts are not waited for from below.
            let yields = pass.kind == Kind::B || !present(pass.with_kind(Kind::B));
            if pass.stage.0 > 0 && yields {
                let below = Pass { stage: Stage(pass.stage.0 - 1), ..pass };
                let latency = model.latency_after(below.stage);
                found[0] = Some((below.with_kind(Kind::I), latency));
                found[1] = Some((below.with_kind(Kind::B), latency));
            }
            if pass.kind == Kind::I {
                found[2] = here(Kind::W);
            }
        }
        Kind::W => {}
    }
    found.into_iter().flatten().filter(move |&(pass, _)| present(pass))
}

impl Timeline {
    /// The last end over all devices.
    #[must_use]
    pub fn makespan(&self, model: &Model) -> Ticks {
        self.spans(model).map(|(_, end)| end).max().unwrap_or_default()
    }

    /// The largest, over devices, of last end minus first start.
    #[must_use]
    pub fn device_span(&self, model: &Model) -> Ticks {
        self.spans(model).map(|(start, end)| end - start).max().unwrap_or_default()
    }

    /// First start and last end of every device.
    fn spans(&self, model: &Model) -> impl Iterator<Item = (Ticks, Ticks)> {
        self.orders.iter().zip(&self.starts).filter_map(|(order, starts)| {
            let last = order.last()?;
            Some((*starts.first()?, *starts.last()? + model.duration(last.stage, last.kind)))
        })
    }

    /// The end of every pass in a dense table.
    pub(super) fn ends(&self, model: &Model, cells: Cells) -> Vec<Option<Ticks>> {
        let mut ends = vec![None; cells.count()];
        for (order, starts) in self.orders.iter().zip(&self.starts) {
            for (&pass, &start) in order.iter().zip(starts) {
                ends[cells.cell(pass)] = Some(start + model.duration(pass.stage, pass.kind));
            }
        }
        ends
    }

    /// The start of a microbatch's F of stage 0 minus that of the one `apart` before it: the
    /// interval that the squeezed schedule has reached there.
    #[must_use]
    pub fn pace(&self, microbatch: Microbatch, apart: u32) -> Option<Ticks> {
        let start_of = |microbatch| {
            self.orders.iter().zip(&self.starts).find_map(|(order, starts)| {
                let at = order.iter().position(|&pass| pass == Pass::new(Stage(0), Kind::F, microbatch))?;
                Some(starts[at])
            })
        };
        Some(start_of(microbatch)? - start_of(Microbatch(microbatch.0.checked_sub(apart)?))?)
    }
}
