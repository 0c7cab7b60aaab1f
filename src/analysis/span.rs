//! Passes in time.

use crate::model::{Device, Model, Pass, Ticks};
use crate::replay::{Timing, end_of};
use crate::schedule::Schedule;

/// A pass in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// The pass.
    pub pass: Pass,
    /// When it starts.
    pub start: Ticks,
    /// When it ends: not before it starts.
    pub end: Ticks,
}

impl Span {
    /// How long it takes.
    #[must_use]
    pub fn duration(self) -> Ticks {
        self.end - self.start
    }
}

/// The passes of a device with the times that replay found, in order.
///
/// # Panics
/// When the times are not those of this schedule.
pub fn spans<'a>(
    model: &'a Model,
    schedule: &'a Schedule,
    timing: &'a Timing,
    device: Device,
) -> impl Iterator<Item = Span> + 'a {
    let passes = schedule.order(device).iter().zip(&timing.starts[device.index()]);
    passes.map(|(&pass, &start)| Span { pass, start, end: end_of(model, schedule, pass, start) })
}
