//! The ASAP pass and the gap filler for schedules as files have them.

use super::asap::EndTimes;
use super::convert::IndexedSchedule;
use super::gaps::{GapFiller, Lookahead};
use super::problem::{IndexedOrders, IndexedProblem};
use crate::model::{Model, Pass, Ticks, Units};
use crate::schedule::Schedule;
use crate::stop::Stop;

/// A schedule with the earliest start of every pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timeline {
    /// The order of every device.
    pub orders: Vec<Vec<Pass>>,
    /// The start of every pass, in the same arrangement.
    pub starts: Vec<Vec<Ticks>>,
}

/// The orders cannot run: some pass is missing, double, on a device that does not hold its stage, or waits for
/// itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0} passes of the orders can never start")]
pub struct Stuck(pub usize);

/// The earliest start of every pass under the schedule's orders.
///
/// # Errors
/// When not every pass can start.
pub fn asap(model: &Model, schedule: &Schedule) -> Result<Timeline, Stuck> {
    IndexedSchedule::of(model, schedule)?.timeline(schedule)
}

/// Start times with which no device takes longer than the device span, and that span. A device may begin later
/// than as soon as possible. Where times come near the limits of 64 bits, they are those as soon as possible.
///
/// # Errors
/// When not every pass can start.
pub fn within_device_span(model: &Model, schedule: &Schedule) -> Result<(Timeline, Ticks), Stuck> {
    let IndexedSchedule { problem, orders } = IndexedSchedule::of(model, schedule)?;
    let mut times = EndTimes::default();
    if !problem.asap(&orders, &mut times) {
        return Err(Stuck(schedule.len() - times.known()));
    }
    let mut held_back = EndTimes::default();
    let (times, span) = match problem.hold_back(&orders, &mut held_back) {
        Some(span) => (held_back, span),
        None => (times.clone(), problem.makespan_and_span(&orders, &times).1),
    };
    Ok((Timeline::at(&problem, &orders, &times, schedule), Ticks(span)))
}

/// The schedule with its gaps filled, and the times it then has.
///
/// Idle time before a pass is filled, from the first to the last, with a later pass of the same device that is
/// ready there, fits, and does not lift the memory above the limit; all others keep their times. Then the ASAP pass
/// draws everything forward, which opens new gaps, until nothing moves (the reordering of arXiv 2405.15362,
/// section 3.3). So the result is never longer.
///
/// `limits` are the most that activations may hold on each device; the schedule must keep to them for the result
/// to do so. `stop` is looked at between rounds.
///
/// # Errors
/// When the schedule cannot run.
///
/// # Panics
/// When there is not one limit for each device.
pub fn fill_gaps(
    model: &Model,
    schedule: &Schedule,
    limits: &[Units],
    stop: &Stop,
) -> Result<(Schedule, Timeline), Stuck> {
    assert_eq!(limits.len(), schedule.orders().len(), "there is one limit for each device");
    let IndexedSchedule { problem, mut orders } = IndexedSchedule::of(model, schedule)?;
    let problem = problem.within(limits);
    let mut filler = GapFiller::new(&problem, Lookahead::NAMED);
    // Orders that cannot run stay as they are, and have no times below.
    filler.fill_all(&problem, &mut orders, stop);
    let filled = IndexedSchedule { problem, orders };
    let schedule = filled.schedule(model);
    let timeline = filled.timeline(&schedule)?;
    Ok((schedule, timeline))
}

impl IndexedSchedule {
    /// The earliest start of every pass; `schedule` is the same in passes.
    fn timeline(&self, schedule: &Schedule) -> Result<Timeline, Stuck> {
        let Self { problem, orders } = self;
        let mut times = EndTimes::default();
        if !problem.asap(orders, &mut times) {
            return Err(Stuck(self.len() - times.known()));
        }
        Ok(Timeline::at(problem, orders, &times, schedule))
    }
}

impl Timeline {
    /// The times of orders; `schedule` is the same in passes.
    fn at(problem: &IndexedProblem, orders: &IndexedOrders, times: &EndTimes, schedule: &Schedule) -> Self {
        let start = |&pass| Ticks(times.start(problem, pass));
        let starts = orders.iter().map(|order| order.iter().map(start).collect()).collect();
        Self { orders: schedule.orders().to_vec(), starts }
    }

    /// The last end over all devices.
    #[must_use]
    pub fn makespan(&self, model: &Model) -> Ticks {
        self.spans(model).map(|(_, end)| end).max().unwrap_or_default()
    }

    /// The largest, over devices, of last end minus first start at these times. No less than the device span of
    /// the orders.
    #[must_use]
    pub fn largest_span(&self, model: &Model) -> Ticks {
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
