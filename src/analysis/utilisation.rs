//! How much of the time devices work.

use super::{Job, Span};
use crate::model::{Kind, Ticks};
use crate::replay::{Metrics, Rate};

/// What a device does with its time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Utilisation {
    /// How many passes it runs.
    pub passes: usize,
    /// When its first pass starts; 0 when it has none.
    pub first_start: Ticks,
    /// When its last pass ends; 0 when it has none.
    pub last_end: Ticks,
    /// For how long it works: the time in which at least one of its passes, or one of its other tasks, runs.
    pub busy: Ticks,
}

impl Utilisation {
    /// The utilisation of the device that runs these passes, which are given in the order of their starts.
    #[must_use]
    pub fn of(spans: impl IntoIterator<Item = Span>) -> Self {
        spans.into_iter().fold(Self::default(), |all, span| Self {
            passes: all.passes + 1,
            first_start: if all.passes == 0 { span.start } else { all.first_start.min(span.start) },
            last_end: all.last_end.max(span.end),
            busy: all.busy + all.not_yet_busy(span),
        })
    }

    /// The same with tasks that the device runs behind its passes, such as [optimiser steps](super::optimizer_steps).
    #[must_use]
    pub fn and_then(self, jobs: impl IntoIterator<Item = Job>) -> Self {
        jobs.into_iter().fold(self, |all, job| Self {
            last_end: all.last_end.max(job.end),
            busy: all.busy + job.duration(),
            ..all
        })
    }

    /// For how much of a pass that comes next no pass before it runs.
    fn not_yet_busy(&self, next: Span) -> Ticks {
        let begin = if self.passes == 0 { next.start } else { next.start.max(self.last_end) };
        (next.end - begin).max(Ticks::ZERO)
    }

    /// The time from its first start to its last end.
    #[must_use]
    pub fn span(&self) -> Ticks {
        self.last_end - self.first_start
    }

    /// The share of the makespan in which the device does nothing. The mean over devices is the idle rate of replay.
    /// Returns 0 if the makespan is 0.
    #[must_use]
    pub fn idle_share(&self, makespan: Ticks) -> Rate {
        idle_share(self.busy.0.into(), makespan.0.into())
    }
}

/// The bubble rate of passes at these times, by device: the share of `devices * span` in which devices idle, where `span`
/// is the [longest](longest_span) at these times. Replay's is of a schedule and may be lower: its device span is that of
/// the best execution, in which devices may begin later than as soon as possible.
#[must_use]
pub fn bubble_rate(spans: &[Vec<Span>]) -> Rate {
    idle_share(busy(spans).0.into(), i128::from(span_at(spans).0) * spans.len() as i128)
}

/// The metrics of passes at these times, by device: those of a run, measured or predicted. The makespan counts from the
/// first start, and the device span is the [longest](longest_span) at these times; replay gives that of the best
/// execution, in which devices may begin later.
#[must_use]
pub fn measured_metrics(spans: &[Vec<Span>]) -> Metrics {
    let all = || spans.iter().flatten();
    let begun = all().map(|span| span.start).min().unwrap_or_default();
    let ended = all().map(|span| span.end).max().unwrap_or_default();
    let (makespan, busy) = (ended - begun, busy(spans));
    let recomputing: Ticks = all().filter(|span| span.pass.kind == Kind::R).map(|span| span.duration()).sum();
    let useful = busy - recomputing;
    let (device_span, devices) = (span_at(spans), spans.len() as i128);
    Metrics {
        makespan,
        device_span,
        busy,
        useful,
        bubble_rate: bubble_rate(spans),
        idle_rate: idle_share(busy.0.into(), i128::from(makespan.0) * devices),
        useful_rate: Rate::from_integer(1) - idle_share(useful.0.into(), i128::from(device_span.0) * devices),
    }
}

/// The largest, over devices, of last end minus first start at these times, in ticks; 0 without passes. For the starts of
/// replay that is no less than the device span, and more where devices have to begin later for that.
#[must_use]
pub fn longest_span(devices: impl IntoIterator<Item: IntoIterator<Item = Span>>) -> Ticks {
    devices.into_iter().map(|passes| Utilisation::of(passes).span()).max().unwrap_or_default()
}

/// For how long devices work, all together.
fn busy(spans: &[Vec<Span>]) -> Ticks {
    spans.iter().map(|row| Utilisation::of(row.iter().copied()).busy).sum()
}

fn span_at(spans: &[Vec<Span>]) -> Ticks {
    longest_span(spans.iter().map(|row| row.iter().copied()))
}

fn idle_share(busy: i128, room: i128) -> Rate {
    if room == 0 { Rate::from_integer(0) } else { Rate::new(room - busy, room) }
}
