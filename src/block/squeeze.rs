//! Squeezing: every pass as early as its device's order and its dependencies allow.
//!
//! This is the engine that construction and search use to know times while they work. It shares
//! nothing with `replay`, which checks the result; tests hold the two against each other.

use super::direction::Direction;
use crate::model::{Kind, Model, Pass, Ticks};
use crate::schedule::Schedule;

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

    /// The number of stages and kinds.
    pub(super) fn classes(self) -> usize {
        self.stages as usize * Kind::COUNT
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
    let starts = earliest(model, schedule.orders(), Cells::of(schedule), Direction::Forward)?;
    Ok(Timeline { orders: schedule.orders().to_vec(), starts })
}

/// The earliest start of every pass in a direction of time; the orders are given in that direction.
pub(super) fn earliest(
    model: &Model,
    orders: &[Vec<Pass>],
    cells: Cells,
    direction: Direction,
) -> Result<Vec<Vec<Ticks>>, Stuck> {
    let total = orders.iter().map(Vec::len).sum();
    // By cell: the place of a pass, and how many passes it still waits for.
    let mut place: Vec<Option<(u32, u32)>> = vec![None; cells.count()];
    for (device, order) in (0..).zip(orders) {
        for (position, &pass) in order.iter().enumerate() {
            if !cells.known(pass) || place[cells.cell(pass)].is_some() {
                return Err(Stuck(1));
            }
            place[cells.cell(pass)] = Some((device, u32::try_from(position).map_err(|_| Stuck(total))?));
        }
    }
    let present = |pass: Pass| place[cells.cell(pass)].is_some();
    // Each device goes on as far as it can: passes near in time are near in memory then.
    let mut ends: Vec<Option<Ticks>> = vec![None; cells.count()];
    let mut starts: Vec<Vec<Ticks>> = orders.iter().map(|order| Vec::with_capacity(order.len())).collect();
    let mut waiting: Vec<usize> = (0..orders.len()).rev().collect();
    while let Some(device) = waiting.pop() {
        let mut free = starts[device]
            .len()
            .checked_sub(1)
            .map_or(Some(Ticks::ZERO), |before| ends[cells.cell(orders[device][before])]);
        while let (Some(&pass), Some(from)) = (orders[device].get(starts[device].len()), free) {
            let arrival = |(other, latency)| ends[cells.cell(other)].map(|end: Ticks| end + latency);
            let Some(start) = direction
                .before(model, pass, present)
                .map(arrival)
                .try_fold(from, |latest, arrival| Some(latest.max(arrival?)))
            else {
                break;
            };
            starts[device].push(start);
            free = Some(start + model.duration(pass.stage, pass.kind));
            ends[cells.cell(pass)] = free;
            for (next, _) in direction.after(model, pass, present) {
                // Only what stands at the head of its device has waited for this.
                let head = place[cells.cell(next)].map(|(other, at)| (other as usize, at as usize));
                if let Some((other, at)) = head
                    && other != device
                    && starts[other].len() == at
                {
                    waiting.push(other);
                }
            }
        }
    }
    let done: usize = starts.iter().map(Vec::len).sum();
    if done == total { Ok(starts) } else { Err(Stuck(total - done)) }
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
}
