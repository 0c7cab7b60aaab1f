//! What `torch.profiler` writes for PyTorch's own pipeline runtime: Chrome JSON, one file for each rank.
//!
//! The runtime wraps every action in a range named `PP:` and the action: `PP:0F0`, `PP:1RECV_F0`. Ranges of category
//! `user_annotation` say what the host did. Where there are kernels, passes are the times of the kernels that
//! were launched in those ranges. Where there are none, but ranges of category `gpu_user_annotation`, those
//! count, which may be too short for backwards. Else passes are timed by the host. It waits for what a pass
//! receives inside the range of the pass, so that there a pass is taken to start with the first operator in its
//! range. A range without any computed nothing (the input gradient of the first stage is one): the pass is at its
//! end. Where a file has no operators at all, passes are whole ranges, waits included. Times are microseconds with
//! decimals; they are read as they are written, to the nanosecond. The k-th range of a pass belongs to the k-th
//! iteration.

mod kernels;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::clocks::{Choice, ClockError, Clocks, knows, reconcile};
use super::decimal::scaled;
use super::{Iteration, MAX_INSTANT, Machine, Origin, Span, Trace, TraceError};
use crate::model::{Device, Pass, Placement, PlacementError, Stage, Ticks};
use crate::schedule::{Schedule, ScheduleError};

/// What one rank recorded. Times are nanoseconds of its own clock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recording {
    /// Its rank, where the file says it.
    pub rank: Option<u32>,
    /// What its passes were timed by.
    pub timing: Timing,
    spans: Vec<Span>,
}

/// What the passes of a recording were timed by, the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Timing {
    /// The device: the kernels that were launched within them.
    Kernels,
    /// The device: the profiler's own ranges of it, which may be too short for backwards.
    DeviceRanges,
    /// The host: from their first operator to the end of their range.
    Operators,
    /// The host: whole ranges, which begin with the wait for what the pass receives.
    HostRanges,
}

impl Timing {
    /// Whether the times are the device's, not the host's.
    #[must_use]
    pub fn is_of_device(self) -> bool {
        matches!(self, Self::Kernels | Self::DeviceRanges)
    }
}

impl Recording {
    /// A recording of these passes, which are put in the order in which they started.
    #[must_use]
    pub fn new(rank: Option<u32>, timing: Timing, mut spans: Vec<Span>) -> Self {
        spans.sort_by_key(|span| (span.start, span.end));
        Self { rank, timing, spans }
    }

    /// The passes in the order in which they started.
    #[must_use]
    pub fn spans(&self) -> &[Span] {
        &self.spans
    }
}

/// Why a text is not a recording.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProfilerError {
    /// Not JSON, or not in the form of Chrome's traces.
    #[error("{message}")]
    Json {
        /// What is wrong, without its place.
        message: String,
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
    },
    /// A range of the runtime that is no action of a pipeline.
    #[error("`{name}` is not an action of PyTorch's pipeline runtime")]
    Action {
        /// Its name.
        name: String,
        /// Where it stands.
        span: Range<usize>,
    },
    /// A range over two passes.
    #[error("`{0}` is an overlapped pair: its two passes are not timed apart")]
    Overlap(String),
    /// A time that is none.
    #[error("`{key}` of `{name}` must be microseconds, but is {value}")]
    Time {
        /// The key.
        key: &'static str,
        /// The name of the event.
        name: String,
        /// What it is.
        value: String,
        /// Where it stands.
        span: Range<usize>,
    },
    /// An event that lacks a time.
    #[error("`{name}` has no `{key}`")]
    NoTime {
        /// The key.
        key: &'static str,
        /// The name of the event.
        name: String,
    },
    /// An event that ends beyond what can be counted.
    #[error("`{name}` ends later than can be counted: its `dur` is {value}")]
    End {
        /// The name of the event.
        name: String,
        /// Its duration, as written.
        value: String,
        /// Where that stands.
        span: Range<usize>,
    },
    /// Kernels that are of no pass.
    #[error(
        "there are kernels in this file, but none that a `cuda_runtime` or `cuda_driver` event within a pass launched"
    )]
    NoLaunches,
    /// No passes at all.
    #[error(
        "there is no range such as `PP:0F0` in this file: it was not recorded from PyTorch's pipeline runtime"
    )]
    NoPasses,
}

#[derive(Deserialize)]
struct File<'a> {
    #[serde(rename = "traceEvents", borrow)]
    events: Vec<Event<'a>>,
    #[serde(rename = "baseTimeNanoseconds", default)]
    base: i64,
    #[serde(rename = "distributedInfo")]
    distributed: Option<Distributed>,
}

#[derive(Deserialize)]
struct Distributed {
    rank: Option<u32>,
}

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow, default)]
    ph: Cow<'a, str>,
    #[serde(borrow, default)]
    cat: Cow<'a, str>,
    #[serde(borrow, default)]
    name: Cow<'a, str>,
    // Numbers or texts.
    #[serde(borrow)]
    pid: Option<&'a RawValue>,
    #[serde(borrow)]
    tid: Option<&'a RawValue>,
    #[serde(borrow)]
    ts: Option<&'a RawValue>,
    #[serde(borrow)]
    dur: Option<&'a RawValue>,
    #[serde(borrow)]
    args: Option<&'a RawValue>,
}

impl<'a> Event<'a> {
    /// The process and the thread, or the device and the stream, as written.
    fn lane(&self) -> (&'a str, &'a str) {
        (self.pid.map_or("", RawValue::get), self.tid.map_or("", RawValue::get))
    }

    fn is(&self, category: &str) -> bool {
        self.ph == "X" && self.cat == category
    }

    fn time(&self, key: &'static str, base: i64, text: &str) -> Result<Ticks, ProfilerError> {
        let raw = if key == "ts" { self.ts } else { self.dur };
        let name = || self.name.clone().into_owned();
        let raw = raw.ok_or_else(|| ProfilerError::NoTime { key, name: name() })?.get();
        let time = scaled(raw, 3).filter(|&time| key == "ts" || time >= 0);
        time.and_then(|time| time.checked_add(base)).map(Ticks).ok_or_else(|| ProfilerError::Time {
            key,
            name: name(),
            value: raw.to_owned(),
            span: place(text, raw),
        })
    }

    /// When it started and ended.
    fn span(&self, base: i64, text: &str) -> Result<(Ticks, Ticks), ProfilerError> {
        let (start, duration) = (self.time("ts", base, text)?, self.time("dur", 0, text)?);
        let end = start.checked_add(duration).ok_or_else(|| {
            let raw = self.dur.map_or("", RawValue::get);
            ProfilerError::End {
                name: self.name.clone().into_owned(),
                value: raw.to_owned(),
                span: place(text, raw),
            }
        })?;
        Ok((start, end))
    }
}

/// Where a part of a text stands in it.
fn place(text: &str, part: &str) -> Range<usize> {
    let from = (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    from..from + part.len()
}

/// Whether a text has the form of Chrome's traces: an object with events.
#[must_use]
pub fn is_recording(text: &str) -> bool {
    #[derive(Deserialize)]
    struct Events<'a> {
        #[serde(rename = "traceEvents", borrow)]
        _events: &'a RawValue,
    }
    // Serde would read a list as the fields in a row.
    text.trim_start().starts_with('{') && serde_json::from_str::<Events<'_>>(text).is_ok()
}

/// The actions that compute nothing.
const OTHERS: [&str; 10] = [
    "SEND_F",
    "RECV_F",
    "SEND_B",
    "RECV_B",
    "WAIT_SEND_F",
    "WAIT_SEND_B",
    "UNSHARD",
    "RESHARD",
    "REDUCE_GRAD",
    "WAIT_REDUCE_GRAD",
];

/// The pass of a range, or nothing if it is an action that computes nothing.
fn action(name: &str) -> Result<Option<Pass>, ()> {
    if let Ok(pass) = name.parse() {
        return Ok(Some(pass));
    }
    let digits = |letter: char| letter.is_ascii_digit();
    let other = name.trim_start_matches(digits).trim_end_matches(digits);
    if name.starts_with(digits) && OTHERS.contains(&other) { Ok(None) } else { Err(()) }
}

/// Reads the file of a rank.
///
/// # Errors
/// When it is not JSON in the form of Chrome's traces, or its ranges are not those of the pipeline runtime.
pub fn parse(text: &str) -> Result<Recording, ProfilerError> {
    let file: File<'_> = serde_json::from_str(text).map_err(|error| {
        let whole = error.to_string();
        let place = format!(" at line {} column {}", error.line(), error.column());
        ProfilerError::Json {
            message: whole.strip_suffix(&place).unwrap_or(&whole).to_owned(),
            line: error.line(),
            column: error.column(),
        }
    })?;
    let rank = file.distributed.as_ref().and_then(|distributed| distributed.rank);
    if kernels::any(&file) {
        let ranges = ranges(&file, text, "user_annotation")?;
        let spans = kernels::timed(&file, text, &ranges.ok_or(ProfilerError::NoPasses)?)?;
        return Ok(Recording::new(rank, Timing::Kernels, spans));
    }
    if let Some(spans) = ranges(&file, text, "gpu_user_annotation")? {
        return Ok(Recording::new(rank, Timing::DeviceRanges, spans));
    }
    let operators = operators(&file, text)?;
    let timing = if operators.is_empty() { Timing::HostRanges } else { Timing::Operators };
    let spans = ranges_from(&file, text, "user_annotation", &operators)?.ok_or(ProfilerError::NoPasses)?;
    Ok(Recording::new(rank, timing, spans))
}

/// The ranges of a category that are passes; nothing if there are none of the runtime's.
fn ranges(file: &File<'_>, text: &str, category: &'static str) -> Result<Option<Vec<Span>>, ProfilerError> {
    ranges_from(file, text, category, &BTreeMap::new())
}

/// The same, each from the first operator in it where those of its thread are known.
fn ranges_from(
    file: &File<'_>,
    text: &str,
    category: &'static str,
    operators: &BTreeMap<(&str, &str), Vec<Ticks>>,
) -> Result<Option<Vec<Span>>, ProfilerError> {
    let mut lanes: BTreeMap<(&str, &str), Vec<Span>> = BTreeMap::new();
    let named = |event: &&Event<'_>| event.is(category) && event.name.starts_with("PP:");
    for event in file.events.iter().filter(named) {
        let Some(pass) = pass_of(event, text)? else { continue };
        let (begins, end) = event.span(file.base, text)?;
        let start = match operators.get(&event.lane()) {
            Some(starts) => {
                let first = starts.partition_point(|&start| start < begins);
                starts.get(first).copied().filter(|&start| start <= end).unwrap_or(end)
            }
            None => begins,
        };
        lanes.entry(event.lane()).or_default().push(Span { pass, start, end });
    }
    // A range has a part on every stream that it uses; passes are timed on the one that is busy longest.
    let busy = |spans: &Vec<Span>| spans.iter().map(|span| i128::from(span.duration().0)).sum::<i128>();
    Ok(lanes.into_values().max_by_key(busy))
}

/// The pass of a range of the runtime, or nothing if its action computes nothing.
fn pass_of(event: &Event<'_>, text: &str) -> Result<Option<Pass>, ProfilerError> {
    let name = &event.name["PP:".len()..];
    match action(name) {
        Ok(pass) => Ok(pass),
        Err(()) if name.contains("OVERLAP_F_B") => {
            Err(ProfilerError::Overlap(event.name.clone().into_owned()))
        }
        Err(()) => {
            let span = match &event.name {
                Cow::Borrowed(name) => place(text, name),
                Cow::Owned(_) => 0..0,
            };
            Err(ProfilerError::Action { name: event.name.clone().into_owned(), span })
        }
    }
}

/// By thread: when its operators start, in order.
fn operators<'a>(
    file: &File<'a>,
    text: &str,
) -> Result<BTreeMap<(&'a str, &'a str), Vec<Ticks>>, ProfilerError> {
    let mut starts: BTreeMap<(&str, &str), Vec<Ticks>> = BTreeMap::new();
    for event in file.events.iter().filter(|event| event.is("cpu_op")) {
        starts.entry(event.lane()).or_default().push(event.time("ts", file.base, text)?);
    }
    for list in starts.values_mut() {
        list.sort_unstable();
    }
    Ok(starts)
}

/// Why recordings are no trace.
#[derive(Debug, thiserror::Error)]
pub enum GatherError {
    /// Ranks that are not those from 0 on, once each.
    #[error("the files are of ranks {0:?}: one of each is needed, from 0 on")]
    Ranks(Vec<u32>),
    /// Not as many files as devices.
    #[error("there are {files} files, but the schedule has {devices} devices: one file for each is needed")]
    Devices {
        /// How many files.
        files: usize,
        /// How many devices.
        devices: u32,
    },
    /// Times of devices beside times of hosts, which cannot be compared.
    #[error(
        "rank {device} is timed by its device, but rank {host}, in whose file are no kernels, by its host"
    )]
    Timings {
        /// A rank that is timed by its device.
        device: Device,
        /// One that is timed by its host.
        host: Device,
    },
    /// A pass that the given schedule has not.
    #[error("rank {rank} ran `{pass}`, which the schedule has not: it is of another run")]
    UnknownPass {
        /// The rank.
        rank: Device,
        /// The pass.
        pass: Pass,
    },
    /// Stages that are not placed as stages can be.
    #[error("the stages that ran are no pipeline: {0}")]
    Placement(#[from] PlacementError),
    /// Orders that are no schedule.
    #[error("the passes that ran are no schedule: {0}")]
    Schedule(#[from] ScheduleError),
    /// Clocks that do not agree.
    #[error(transparent)]
    Clocks(#[from] ClockError),
    /// An iteration too long to count.
    #[error("an iteration lasts more than {MAX_INSTANT} ns: the clocks are not of the same time")]
    TooLong,
    /// No trace all the same.
    #[error(transparent)]
    Trace(#[from] TraceError),
}

/// Makes one trace of the recordings of all ranks. Without a schedule, the order in which the passes of the
/// first iteration ran is taken for the declared one.
///
/// # Errors
/// When they are not all there, are of another schedule, or their clocks cannot be brought together.
pub fn gather(
    recordings: Vec<Recording>,
    schedule: Option<Schedule>,
    choice: &Choice,
) -> Result<(Trace, Clocks), GatherError> {
    let recordings = by_rank(recordings)?;
    let origin = origin(&recordings)?;
    let schedule = match schedule {
        Some(schedule) => schedule,
        None => derived(&recordings)?,
    };
    if schedule.devices() as usize != recordings.len() {
        return Err(GatherError::Devices { files: recordings.len(), devices: schedule.devices() });
    }
    for (rank, recording) in recordings.iter().enumerate() {
        if let Some(span) = recording.spans.iter().find(|span| !knows(&schedule, span.pass)) {
            return Err(GatherError::UnknownPass { rank: Device::at(rank), pass: span.pass });
        }
    }
    let clocks = reconcile(&recordings, &schedule, choice)?;
    let mut iterations: Vec<Vec<Vec<(Pass, i128, i128)>>> = Vec::new();
    for (rank, (recording, clock)) in recordings.iter().zip(&clocks.ranks).enumerate() {
        let mut times: BTreeMap<Pass, usize> = BTreeMap::new();
        for span in &recording.spans {
            let count = times.entry(span.pass).or_default();
            if iterations.len() == *count {
                iterations.push(vec![Vec::new(); recordings.len()]);
            }
            let moved = |at: Ticks| i128::from(at.0) + i128::from(clock.offset);
            iterations[*count][rank].push((span.pass, moved(span.start), moved(span.end)));
            *count += 1;
        }
    }
    let iterations = iterations.into_iter().map(|devices| {
        let begun = devices.iter().flatten().map(|&(_, start, _)| start).min().unwrap_or(0);
        let from_begin = |at: i128| {
            let at = i64::try_from(at - begun).ok().filter(|&at| at <= MAX_INSTANT);
            at.map(Ticks).ok_or(GatherError::TooLong)
        };
        let span = |(pass, start, end)| Ok(Span { pass, start: from_begin(start)?, end: from_begin(end)? });
        let rows = devices.into_iter().map(|row| row.into_iter().map(span).collect());
        Ok(Iteration { passes: rows.collect::<Result<_, GatherError>>()?, messages: None, memory: None })
    });
    let trace = Trace {
        origin,
        machine: Machine { name: "torch.profiler".to_owned(), ..Machine::default() },
        sizes: None,
        gradient_error: None,
        host_overhead: None,
        iterations: iterations.collect::<Result<_, GatherError>>()?,
        schedule,
    };
    Ok((trace.checked()?, clocks))
}

/// Whose times they all are.
fn origin(recordings: &[Recording]) -> Result<Origin, GatherError> {
    let first = |device: bool| {
        let rank = recordings.iter().position(|recording| recording.timing.is_of_device() == device);
        rank.map(Device::at)
    };
    match (first(true), first(false)) {
        (Some(device), Some(host)) => Err(GatherError::Timings { device, host }),
        (Some(_), None) => Ok(Origin::Cuda),
        (None, _) => Ok(Origin::Cpu),
    }
}

/// Recordings in the order of their ranks; where no file says its rank, in the order given.
fn by_rank(mut recordings: Vec<Recording>) -> Result<Vec<Recording>, GatherError> {
    if recordings.iter().all(|recording| recording.rank.is_none()) {
        return Ok(recordings);
    }
    recordings.sort_by_key(|recording| recording.rank);
    let complete = (0..).zip(&recordings).all(|(rank, recording)| recording.rank == Some(rank));
    if complete {
        return Ok(recordings);
    }
    Err(GatherError::Ranks(recordings.iter().filter_map(|recording| recording.rank).collect()))
}

/// The schedule that the first iteration ran.
fn derived(recordings: &[Recording]) -> Result<Schedule, GatherError> {
    let orders: Vec<Vec<Pass>> = recordings
        .iter()
        .map(|recording| {
            let mut seen = BTreeSet::new();
            let spans = recording.spans.iter();
            spans.map(|span| span.pass).filter(|&pass| seen.insert(pass)).collect()
        })
        .collect();
    let stages = |order: &Vec<Pass>| -> Vec<Stage> {
        order.iter().map(|pass| pass.stage).collect::<BTreeSet<_>>().into_iter().collect()
    };
    let placement = Placement::new(orders.iter().map(stages).collect())?;
    let microbatches =
        orders.iter().flatten().map(|pass| pass.microbatch.0).max().map_or(0, |last| last.saturating_add(1));
    Ok(Schedule::new(placement, microbatches, orders)?)
}
