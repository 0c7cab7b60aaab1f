//! Pictures of a schedule that was replayed: a timeline for the terminal, one in SVG, and a page for a
//! browser.
//!
//! All show one row per device, passes as cells, and the idle time between them. A device's idle
//! time before its first pass and after its last is left blank; that in between is the bubble.

mod colour;
mod curve;
mod labels;
mod page;
mod phases;
mod scale;
mod svg;
mod terminal;
mod xml;

pub use curve::{Curve, Spot, letters};
pub use page::{PageError, page};
pub use svg::{Part, Svg, SvgError};
pub use terminal::Terminal;

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{Device, Kind, Model, Pass, Shape, Ticks, Units};
use crate::replay::{Held, Rate, Timing, Verdict, end_of, memory_along};
use crate::schedule::Schedule;

/// What there is to draw: a schedule that runs, with its times and its memory.
#[derive(Debug, Clone)]
pub struct Picture<'a> {
    model: &'a Model,
    schedule: &'a Schedule,
    timing: &'a Timing,
    peak_memory: &'a [Units],
    /// The passes of the critical path, from first to last, by device and position.
    critical: Vec<(Device, usize)>,
}

impl<'a> Picture<'a> {
    /// The picture of what replay found for this model and schedule; nothing where the schedule
    /// cannot run, for then there are no times to draw.
    #[must_use]
    pub fn of(model: &'a Model, schedule: &'a Schedule, verdict: &'a Verdict) -> Option<Self> {
        let timing = verdict.timing.as_ref()?;
        Some(Self { model, schedule, timing, peak_memory: &verdict.peak_memory, critical: Vec::new() })
    }

    /// The picture with a critical path marked: passes from first to last, each of which waits for the one
    /// before it. Passes that the schedule has not are passed over.
    #[must_use]
    pub fn with_critical_path(mut self, path: impl IntoIterator<Item = Pass>) -> Self {
        let path: Vec<Pass> = path.into_iter().collect();
        let wanted: BTreeSet<Pass> = path.iter().copied().collect();
        let places: BTreeMap<Pass, (Device, usize)> = self
            .devices()
            .flat_map(|device| {
                let order = self.schedule.order(device).iter().enumerate();
                order.map(move |(position, &pass)| (pass, (device, position)))
            })
            .filter(|(pass, _)| wanted.contains(pass))
            .collect();
        self.critical = path.iter().filter_map(|pass| places.get(pass).copied()).collect();
        self
    }

    fn devices(&self) -> impl Iterator<Item = Device> {
        Device::all(self.schedule.devices())
    }

    /// The passes of a device with their starts and ends, in order.
    fn passes(&self, device: Device) -> impl Iterator<Item = (Pass, Ticks, Ticks)> {
        let starts = &self.timing.starts[device.index()];
        let order = self.schedule.order(device);
        order.iter().zip(starts).map(|(&pass, &start)| (pass, start, end_of(self.model, pass, start)))
    }

    /// When a device starts its first pass and ends its last.
    fn span(&self, device: Device) -> Option<(Ticks, Ticks)> {
        let (_, start, _) = self.passes(device).next()?;
        let (&pass, &last) =
            self.schedule.order(device).last().zip(self.timing.starts[device.index()].last())?;
        Some((start, end_of(self.model, pass, last)))
    }

    /// A pass by its place, with its start and its end.
    fn at(&self, (device, position): (Device, usize)) -> (Pass, Ticks, Ticks) {
        let pass = self.schedule.order(device)[position];
        let start = self.timing.starts[device.index()][position];
        (pass, start, end_of(self.model, pass, start))
    }

    /// What every device holds around each pass of its order.
    fn memory(&self) -> Vec<Vec<Held>> {
        memory_along(self.model, self.schedule)
    }

    /// The cap of a device, weights included.
    fn cap(&self, device: Device) -> Option<Units> {
        self.model.cap(device)
    }

    /// What the shades of a colour mean, where there are several.
    fn shades(&self) -> Option<String> {
        match (self.chunks(), self.schedule.placement().shape()) {
            (1, _) => None,
            (_, Shape::Bidirectional) => Some("dark: down the devices, light: up".to_owned()),
            (chunks, _) => Some(format!("dark to light: chunk 0 to {}", chunks - 1)),
        }
    }

    fn makespan(&self) -> Ticks {
        self.timing.metrics.makespan
    }

    fn chunk(&self, pass: Pass) -> usize {
        self.schedule.placement().chunk_of(pass.stage)
    }

    /// The most stages that a device holds.
    fn chunks(&self) -> usize {
        self.schedule.placement().lists().iter().map(Vec::len).max().unwrap_or(1)
    }

    /// The kinds of pass that occur.
    fn kinds(&self) -> Vec<Kind> {
        let mut occurs = [false; Kind::COUNT];
        for pass in self.schedule.orders().iter().flatten() {
            occurs[pass.kind as usize] = true;
        }
        Kind::ALL.into_iter().filter(|&kind| occurs[kind as usize]).collect()
    }

    /// The duration that half of all passes do not exceed; those without duration do not count.
    fn typical_duration(&self) -> Ticks {
        let passes = self.schedule.orders().iter().flatten();
        let mut durations: Vec<Ticks> = passes
            .map(|pass| self.model.duration(pass.stage, pass.kind))
            .filter(|&duration| duration > Ticks::ZERO)
            .collect();
        let middle = durations.len().saturating_sub(1) / 2;
        if durations.is_empty() { Ticks(1) } else { *durations.select_nth_unstable(middle).1 }
    }

    /// The part of the makespan in which a device does nothing. Their mean is the idle rate.
    fn idle_share(&self, device: Device) -> Rate {
        let busy: Ticks = self.passes(device).map(|(_, start, end)| end - start).sum();
        let makespan = i128::from(self.makespan().0);
        if makespan == 0 { Rate::from_integer(0) } else { Rate::new(makespan - i128::from(busy.0), makespan) }
    }

    /// What is drawn, and under which model.
    fn title(&self) -> String {
        let name = self.schedule.name.as_deref().unwrap_or("schedule");
        let (model, devices) = (self.model.name(), self.schedule.devices());
        format!(
            "{name} on {model}: {}, {}",
            counted(devices, "device"),
            counted(self.schedule.microbatches(), "microbatch")
        )
    }

    /// What the times and the memory amount to.
    fn facts(&self) -> Vec<String> {
        let metrics = &self.timing.metrics;
        let most = self.peak_memory.iter().copied().max().unwrap_or_default();
        vec![
            format!("makespan {} {}", metrics.makespan, self.model.costs().unit),
            format!("bubble rate {} %", percent(metrics.bubble_rate, 2)),
            format!("idle rate {} %", percent(metrics.idle_rate, 2)),
            format!("peak memory {most} {}", self.model.memory().unit),
        ]
    }
}

fn counted(count: u32, thing: &str) -> String {
    match (count, thing) {
        (1, _) => format!("1 {thing}"),
        (_, "microbatch") => format!("{count} microbatches"),
        _ => format!("{count} {thing}s"),
    }
}

/// What a kind of pass is called.
const fn meaning(kind: Kind) -> &'static str {
    match kind {
        Kind::F => "forward",
        Kind::R => "recomputation",
        Kind::I => "input gradient",
        Kind::W => "weight gradient",
        Kind::B => "full backward",
    }
}

/// A rate in percent, rounded half up to some decimals (1 to 4).
fn percent(rate: Rate, decimals: u32) -> String {
    let unit = 10_i128.pow(decimals);
    let scaled = (rate * 100 * unit + Rate::new(1, 2)).floor().to_integer();
    format!("{}.{:0width$}", scaled / unit, scaled % unit, width = decimals as usize)
}

#[cfg(test)]
mod tests;
