//! From a block to a schedule: its copies, the same as soon as possible, and reordered.

use super::BlockPictureError;
use crate::block::Block;
use crate::model::{Device, Model, Pass};
use crate::replay::replay;
use crate::schedule::Schedule;

/// A pass in time, in parts of a tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) pass: Pass,
    pub(super) start: i64,
    pub(super) end: i64,
}

/// What a step is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum StepKind {
    /// The copies of the block, one interval apart.
    Repeated,
    /// The same orders as soon as possible.
    LeftShifted,
    /// Other orders, those of a schedule with a name.
    Reordered(Option<String>),
}

/// A step with the passes of each device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) kind: StepKind,
    pub(super) rows: Vec<Vec<Cell>>,
    /// The last end, in parts of a tick.
    pub(super) makespan: i64,
    pub(super) microbatches: u32,
}

impl Step {
    fn of(kind: StepKind, rows: Vec<Vec<Cell>>, microbatches: u32) -> Self {
        let makespan = rows.iter().flatten().map(|cell| cell.end).max().unwrap_or(0);
        Self { kind, rows, makespan, microbatches }
    }
}

/// How many microbatches show warm-up, some of the steady phase, and cool-down: as many as a block has intervals, and
/// half of that again.
pub(super) fn microbatches(block: &Block, model: &Model) -> u32 {
    const RANGE: (u32, u32) = (4, 24);
    let ends = block.passes().map(|(pass, at)| (at + block.duration(model, pass)).0);
    let intervals = ends.max().unwrap_or(0) / block.interval_parts().0;
    let enough = u32::try_from(intervals * 3 / 2).unwrap_or(RANGE.1).clamp(RANGE.0, RANGE.1);
    enough.next_multiple_of(block.period())
}

/// The copies of a block without faults, and the same as soon as possible.
pub(super) fn of(block: &Block, model: &Model) -> Result<Vec<Step>, BlockPictureError> {
    let microbatches = microbatches(block, model);
    let model = model.clone().with_microbatches(microbatches)?;
    let copies = block.expand(&model, microbatches)?;
    let period = i64::from(block.period());
    let repeated = |&pass: &Pass| {
        let (copy, first) = (i64::from(pass.microbatch.0) / period, i64::from(pass.microbatch.0) % period);
        let first = u32::try_from(first).expect("less than the period");
        let of_block = Pass { microbatch: crate::model::Microbatch(first), ..pass };
        let offset = block.offset(of_block).expect("a pass of the block").0;
        let start = offset + copy * block.interval_parts().0;
        Cell { pass, start, end: start + block.duration(&model, pass).0 }
    };
    let rows = copies.orders().iter().map(|order| order.iter().map(repeated).collect()).collect();
    let mut steps = vec![Step::of(StepKind::Repeated, rows, microbatches)];
    steps.extend(
        timed(block, &model, &copies).map(|rows| Step::of(StepKind::LeftShifted, rows, microbatches)),
    );
    Ok(steps)
}

/// A schedule of the copies in another order; nothing where it is the same or cannot run.
pub(super) fn reordered(
    block: &Block,
    model: &Model,
    schedule: &Schedule,
) -> Result<Option<Step>, BlockPictureError> {
    let microbatches = schedule.microbatches();
    let model = model.clone().with_microbatches(microbatches)?;
    if schedule.orders() == block.expand(&model, microbatches)?.orders() {
        return Ok(None);
    }
    let kind = StepKind::Reordered(schedule.name.clone());
    Ok(timed(block, &model, schedule).map(|rows| Step::of(kind, rows, microbatches)))
}

/// The passes of a schedule as soon as possible, in parts of a tick.
fn timed(block: &Block, model: &Model, schedule: &Schedule) -> Option<Vec<Vec<Cell>>> {
    let timing = replay(model, schedule).timing?;
    let row = |device: Device| {
        let passes = schedule.order(device).iter().zip(&timing.starts[device.index()]);
        let cell = |(&pass, start): (&Pass, &crate::model::Ticks)| {
            let start = start.0 * block.parts();
            Cell { pass, start, end: start + block.duration(model, pass).0 }
        };
        passes.map(cell).collect()
    };
    Some(Device::all(schedule.devices()).map(row).collect())
}
