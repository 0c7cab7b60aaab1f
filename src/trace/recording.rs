//! What one rank of a run recorded of its passes, on a clock of its own.

use super::{Span, StepWork};
use crate::model::{Microbatch, Stage, Ticks};

/// What one rank recorded. Times are nanoseconds of its own clock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recording {
    /// Its rank, where the file says it.
    pub rank: Option<u32>,
    /// How many ranks the run had, where the file says it.
    pub world_size: Option<u32>,
    /// What its passes were timed by.
    pub timing: TimeSource,
    /// What it did beside its passes.
    pub beside: Beside,
    spans: Vec<Span>,
}

/// What a rank recorded beside its passes, each in the order in which the host began it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Beside {
    /// Its ends of messages.
    pub transfers: Vec<Transfer>,
    /// Reductions of gradients and optimiser steps.
    pub step: Vec<StepRange>,
}

/// One end of a message: it lasts until the other end is ready and all has been sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transfer {
    /// The stage that made it.
    pub stage: Stage,
    /// Whether it is a gradient; else an activation.
    pub gradient: bool,
    /// Its microbatch.
    pub microbatch: Microbatch,
    /// Whether this is the end that receives it.
    pub received: bool,
    /// When this end was ready.
    pub start: Ticks,
    /// When it was done.
    pub end: Ticks,
}

/// A part of the end of the step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepRange {
    /// What ran.
    pub work: StepWork,
    /// The stage that it was for, where the file says it.
    pub stage: Option<Stage>,
    /// When it began.
    pub start: Ticks,
    /// When it ended.
    pub end: Ticks,
}

/// What the passes of a recording were timed by, the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TimeSource {
    /// The device: events that were recorded before and after them.
    Events,
    /// The device: the kernels that were launched within them.
    Kernels,
    /// The device: the profiler's own ranges of it, which may be too short for backwards.
    DeviceRanges,
    /// The host: from their first operator to the end of their range.
    Operators,
    /// The host: whole ranges, which begin with the wait for what the pass receives.
    HostRanges,
}

impl TimeSource {
    /// Whether the times are the device's, not the host's.
    #[must_use]
    pub fn is_of_device(self) -> bool {
        matches!(self, Self::Events | Self::Kernels | Self::DeviceRanges)
    }
}

impl Recording {
    /// A recording of these passes, which are put in the order in which they started.
    #[must_use]
    pub fn new(rank: Option<u32>, timing: TimeSource, mut spans: Vec<Span>) -> Self {
        spans.sort_by_key(|span| (span.start, span.end));
        Self { rank, world_size: None, timing, beside: Beside::default(), spans }
    }

    /// The same of a run that had so many ranks, where the file says it.
    #[must_use]
    pub fn of_world(self, world_size: Option<u32>) -> Self {
        Self { world_size, ..self }
    }

    /// The same with what the rank did beside its passes.
    #[must_use]
    pub fn with_beside(self, beside: Beside) -> Self {
        Self { beside, ..self }
    }

    /// The passes in the order in which they started.
    #[must_use]
    pub fn spans(&self) -> &[Span] {
        &self.spans
    }
}
