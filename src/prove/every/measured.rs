//! What a replay of one number of microbatches says.

use crate::model::{Device, Model, Stage, Ticks, Units};
use crate::replay::{Metrics, Timing, end_of};
use crate::schedule::Schedule;

/// What is kept of a replay.
#[derive(Debug, Clone)]
pub(super) struct Measured {
    pub metrics: Metrics,
    /// The peak memory of every device.
    pub peaks: Vec<Units>,
    /// Whether the device of stage 0 has the largest span of all devices as soon as possible.
    pub begins_longest: bool,
}

impl Measured {
    pub fn of(model: &Model, schedule: &Schedule, timing: Timing, peaks: Vec<Units>) -> Self {
        let Timing { starts, metrics, .. } = timing;
        let span = |device: Device| {
            let (order, starts) = (schedule.order(device), &starts[device.index()]);
            let ends =
                order.last().zip(starts.last()).map(|(&last, &start)| end_of(model, schedule, last, start));
            ends.zip(starts.first()).map_or(Ticks::ZERO, |(end, &start)| end - start)
        };
        let first = span(model.placement().device_of(Stage(0)));
        let begins_longest = Device::all(model.devices()).all(|device| span(device) <= first);
        Self { metrics, peaks, begins_longest }
    }
}
