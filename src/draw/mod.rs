//! Pictures of a schedule that was replayed: a timeline for the terminal, one in SVG, and a page for a
//! browser; and a page of a plan with all that it was compared with.
//!
//! All show one row per device, passes as cells, and the idle time between them. A device's idle
//! time before its first pass and after its last is left blank; that in between is the bubble. Optimiser steps
//! follow the passes. Below its row, a device has a lane for each link, copy engine or collective stream of its
//! that is ever busy.
//!
//! ```
//! use bubbleproof::catalog;
//! use bubbleproof::draw::{Picture, Svg};
//! use bubbleproof::model::{Model, Placement};
//! use bubbleproof::replay::replay;
//!
//! let model = Model::unit(Placement::linear(4)?, 8)?;
//! let schedule = catalog::find("zb-h1").expect("a name").generate(&model)?;
//! let verdict = replay(&model, &schedule);
//! let picture = Picture::of(&model, &schedule, &verdict).expect("it is valid");
//! let drawing = picture.svg(&Svg::default())?;
//! assert!(drawing.contains("<svg"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod anytime;
mod block;
mod colour;
mod curve;
mod curves;
mod labels;
mod logarithm;
mod marks;
mod page;
mod plan;
mod scale;
mod scatter;
mod svg;
mod terminal;
mod xml;

pub use anytime::{Anytime, Reached};
pub use block::{BlockPicture, BlockPictureError, blocks};
pub use curve::{Axes, Curve, Spot, letters};
pub use curves::{Curves, Series};
pub use page::{PageError, page};
#[cfg(feature = "cli")]
pub(crate) use plan::names_explained;
pub use plan::{NaiveShown, PlanChoice, PlanPage, Planned};
pub use scatter::{Group, Point, Row, Scatter};
pub use svg::{Extent, Part, Svg, SvgError, together};
pub use terminal::Terminal;

use crate::amounts;
use crate::analysis::{
    Engine, Job, Lane, Phases, Places, Span, Subject, Utilisation, Work, lanes, optimizer_steps,
};
use crate::model::{Device, Kind, Link, Model, Pass, Shape, Ticks, Units};
use crate::replay::{Held, Rate, Timing, Verdict, end_of, memory_along};
use crate::schedule::Schedule;

/// What there is to draw: a schedule that runs, with its times and its memory.
#[derive(Debug, Clone)]
pub struct Picture<'a> {
    model: &'a Model,
    schedule: &'a Schedule,
    timing: &'a Timing,
    peak_memory: &'a [Units],
    /// Where times were measured and not computed.
    measured: Option<&'a Measured>,
    /// What predicted the times, where they are to be compared with measured ones.
    predicted_by: Option<&'a str>,
    /// Whether memory is that of activations alone.
    without_weights: bool,
    /// The passes of the critical path, from first to last, by device and position.
    critical: Vec<(Device, usize)>,
    /// What runs beside the passes, device by device, without what takes no time.
    lanes: Vec<Lane>,
    /// By device: its optimiser steps, likewise.
    steps: Vec<Vec<Job>>,
}

/// What replay computes for its own pictures and a measurement has to provide: when passes ended, and what
/// was in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Measured {
    /// When everything started, and what that amounts to.
    pub timing: Timing,
    /// The end of every pass, in the order of each device.
    pub ends: Vec<Vec<Ticks>>,
    /// What each device held around every pass; nothing where that was not measured, and what the model says
    /// is to be shown.
    pub held: Option<Vec<Vec<Held>>>,
    /// The most that each device held.
    pub peak_memory: Vec<Units>,
}

impl<'a> Picture<'a> {
    /// The picture of what replay found for this model and schedule; nothing where the schedule
    /// cannot run, for then there are no times to draw.
    #[must_use]
    pub fn of(model: &'a Model, schedule: &'a Schedule, verdict: &'a Verdict) -> Option<Self> {
        let timing = verdict.timing.as_ref()?;
        let peak_memory = &verdict.peak_memory;
        Some(Self::new(model, schedule, timing, peak_memory, None))
    }

    /// The picture of a run that was measured. The schedule has the passes in the order in which they ran;
    /// the model gives units and latencies.
    ///
    /// # Panics
    /// When what was measured is not of this schedule: a list of other length.
    #[must_use]
    pub fn of_measured(model: &'a Model, schedule: &'a Schedule, measured: &'a Measured) -> Self {
        let lengths: Vec<usize> = schedule.orders().iter().map(Vec::len).collect();
        let fits = |lists: &[Vec<Ticks>]| lists.iter().map(Vec::len).eq(lengths.iter().copied());
        assert!(fits(&measured.timing.starts) && fits(&measured.ends), "every pass has a start and an end");
        Self::new(model, schedule, &measured.timing, &measured.peak_memory, Some(measured))
    }

    fn new(
        model: &'a Model,
        schedule: &'a Schedule,
        timing: &'a Timing,
        peak_memory: &'a [Units],
        measured: Option<&'a Measured>,
    ) -> Self {
        let takes_time = |job: &Job| job.duration() > Ticks::ZERO;
        let mut lanes = lanes(schedule, timing);
        for lane in &mut lanes {
            lane.jobs.retain(takes_time);
        }
        lanes.retain(|lane| !lane.jobs.is_empty());
        let steps =
            |device| optimizer_steps(schedule, timing, device).into_iter().filter(takes_time).collect();
        let steps = Device::all(schedule.devices()).map(steps).collect();
        Self {
            model,
            schedule,
            timing,
            peak_memory,
            measured,
            predicted_by: None,
            without_weights: false,
            critical: Vec::new(),
            lanes,
            steps,
        }
    }

    /// The same picture as one of a prediction, with what predicts in its title.
    #[must_use]
    pub fn as_predicted_by(self, what: &'a str) -> Self {
        Self { predicted_by: Some(what), ..self }
    }

    /// The same picture of a model and a run without weights: it then calls its peaks what they are.
    #[must_use]
    pub fn without_weights(self) -> Self {
        Self { without_weights: true, ..self }
    }

    /// The picture with a critical path marked: passes from first to last, each of which waits for the one
    /// before it. Passes that the schedule has not are passed over.
    #[must_use]
    pub fn with_critical_path(mut self, path: impl IntoIterator<Item = Pass>) -> Self {
        let places = Places::of(self.schedule);
        self.critical = path.into_iter().filter_map(|pass| places.find(pass)).collect();
        self
    }

    /// The time from the first start to the last end, in ticks.
    #[must_use]
    pub fn makespan(&self) -> Ticks {
        self.timing.metrics.makespan
    }

    /// The model, whose units those of the picture are.
    #[must_use]
    pub const fn model(&self) -> &'a Model {
        self.model
    }

    fn devices(&self) -> impl Iterator<Item = Device> {
        Device::all(self.schedule.devices())
    }

    /// The passes of a device in time, in order.
    fn passes(&self, device: Device) -> impl Iterator<Item = Span> {
        (0..self.schedule.order(device).len()).map(move |position| self.at((device, position)))
    }

    /// The lanes below the row of a device.
    fn lanes(&self, device: Device) -> &[Lane] {
        let first = self.lanes.partition_point(|lane| lane.device < device);
        let end = self.lanes.partition_point(|lane| lane.device <= device);
        &self.lanes[first..end]
    }

    /// The optimiser steps of a device, in order.
    fn steps(&self, device: Device) -> &[Job] {
        &self.steps[device.index()]
    }

    /// The kinds of work beside the passes that occur.
    fn works(&self) -> Vec<Work> {
        let all = || self.lanes.iter().flat_map(|lane| &lane.jobs).chain(self.steps.iter().flatten());
        Work::ALL.into_iter().filter(|&work| all().any(|job| job.work == work)).collect()
    }

    /// When a device starts its first pass and ends its last one, or its last optimiser step.
    fn span(&self, device: Device) -> Option<(Ticks, Ticks)> {
        let last = self.schedule.order(device).len().checked_sub(1)?;
        let end = self.steps(device).last().map_or(self.at((device, last)).end, |step| step.end);
        Some((self.at((device, 0)).start, end))
    }

    /// What a device does with its time.
    fn used(&self, device: Device) -> Utilisation {
        Utilisation::of(self.passes(device)).and_then(self.steps(device).iter().copied())
    }

    /// Warm-up, steady phase and cool-down.
    fn phases(&self) -> Phases {
        let passes = self.devices().flat_map(|device| self.passes(device));
        Phases::of(self.schedule.placement().stages(), self.makespan(), passes)
    }

    /// A pass in time, by its place.
    fn at(&self, (device, position): (Device, usize)) -> Span {
        let pass = self.schedule.order(device)[position];
        let start = self.timing.starts[device.index()][position];
        let end = match self.measured {
            Some(measured) => measured.ends[device.index()][position],
            None => end_of(self.model, self.schedule, pass, start),
        };
        Span { pass, start, end }
    }

    /// What every device holds around each pass of its order.
    fn memory(&self) -> Vec<Vec<Held>> {
        let measured = self.measured.and_then(|measured| measured.held.clone());
        measured.unwrap_or_else(|| memory_along(self.model, self.schedule))
    }

    /// The capacity of a device, weights included.
    fn capacity(&self, device: Device) -> Option<Units> {
        self.model.capacity(device)
    }

    /// What the shades of a colour mean, where there are several.
    fn shades(&self) -> Option<String> {
        match (self.chunks(), self.schedule.placement().shape()) {
            (1, _) => None,
            (_, Shape::Bidirectional) => Some("dark: down the devices, light: up".to_owned()),
            (chunks, _) => Some(format!("dark to light: chunk 0 to {}", chunks - 1)),
        }
    }

    /// What a legend calls the curves of memory: labels of amounts of bytes say their unit themselves.
    fn memory_meaning(&self) -> String {
        let unit = &self.model.memory().unit;
        if marks::is_of_bytes(unit) { "memory".to_owned() } else { format!("memory, {unit}") }
    }

    fn chunk(&self, pass: Pass) -> usize {
        self.schedule.placement().chunk_of(pass.stage)
    }

    /// The chunk that a task is for.
    fn chunk_of(&self, job: Job) -> usize {
        self.schedule.placement().chunk_of(job.subject.stage())
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
        let passes = self.devices().flat_map(|device| self.passes(device));
        let mut durations: Vec<Ticks> =
            passes.map(Span::duration).filter(|&duration| duration > Ticks::ZERO).collect();
        let middle = durations.len().saturating_sub(1) / 2;
        if durations.is_empty() { Ticks(1) } else { *durations.select_nth_unstable(middle).1 }
    }

    /// The part of the makespan in which a device does nothing. Their mean is the idle rate.
    fn idle_share(&self, device: Device) -> Rate {
        self.used(device).idle_share(self.makespan())
    }

    /// The most that a device holds, in the unit that suits it; without a unit where that is not one of bytes.
    fn peak_of(&self, device: Device) -> String {
        amounts::amount(self.peak_memory[device.index()].0, &self.model.memory().unit)
    }

    /// What is drawn, and under which model.
    fn title(&self) -> String {
        let name = self.schedule.name.as_deref().unwrap_or("schedule");
        let devices = self.schedule.devices();
        let by = match (self.measured, self.predicted_by) {
            (Some(_), _) => "as measured".to_owned(),
            (None, Some(what)) => format!("as predicted by {what}"),
            (None, None) => format!("on {}", self.model.name()),
        };
        format!(
            "{name} {by}: {}, {}",
            counted(devices, "device"),
            counted(self.schedule.microbatches(), "microbatch")
        )
    }

    /// What the times and the memory amount to.
    fn facts(&self) -> Vec<String> {
        let metrics = &self.timing.metrics;
        let most = self.peak_memory.iter().copied().max().unwrap_or_default();
        let computed = match self.measured {
            Some(Measured { held: None, .. }) => " (by the model, not measured)",
            _ => "",
        };
        let peak = if self.without_weights { "activation peak" } else { "peak memory" };
        // A rate of replay may be that of an execution which is not the one that is drawn.
        let drawn = self.devices().map(|device| self.used(device).span()).max().unwrap_or_default();
        let later = if drawn > metrics.device_span { " (a device begins later than shown)" } else { "" };
        vec![
            format!("makespan {}", amounts::time(metrics.makespan.0, &self.model.costs().unit)),
            format!("bubble rate {} %{later}", percent(metrics.bubble_rate, 2)),
            format!("idle rate {} %", percent(metrics.idle_rate, 2)),
            format!("{peak} {}{computed}", amounts::memory(most.0, &self.model.memory().unit)),
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

/// What stands beside a lane.
fn beside(engine: Engine) -> String {
    match engine {
        Engine::Link(Link::Pair { to, .. }) => format!("to device {to}"),
        Engine::Link(Link::Card { node }) => format!("card of node {node}"),
        Engine::Link(link) => link.to_string(),
        Engine::ToHost => "to the host".to_owned(),
        Engine::FromHost => "from the host".to_owned(),
        Engine::Collective => "collectives".to_owned(),
    }
}

/// What stands for a task: the letter of its pass or of its kind, and the microbatch or the stage.
fn sign(job: Job) -> (char, u32) {
    match (job.subject, job.work) {
        (Subject::Pass(pass), _) => (pass.kind.letter(), pass.microbatch.0),
        (Subject::Stage(stage), Work::Optimizer) => ('O', stage.0),
        (Subject::Stage(stage), Work::Gather) => ('A', stage.0),
        (Subject::Stage(stage), _) => ('G', stage.0),
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
