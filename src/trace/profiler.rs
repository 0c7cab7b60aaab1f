//! What `torch.profiler` writes for PyTorch's own pipeline runtime: Chrome JSON, one file for each rank.
//!
//! The runtime wraps every action in a range named `PP:` and the action: `PP:0F0`, `PP:1RECV_F0`. Where there
//! are ranges of category `gpu_user_annotation`, which say when the device worked, those count; else those of
//! category `user_annotation`, which say when the host did. The host waits for what a pass receives inside the
//! range of the pass, so that there a pass is taken to start with the first operator in its range. A range without
//! any computed nothing (the input gradient of the first stage is one): the pass is at its end. Where a file has no
//! operators at all, passes are whole ranges, waits included. Times are microseconds with decimals; they are read as they are written, to the nanosecond. The k-th
//! range of a pass belongs to the k-th iteration.

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
    /// Whether the times are the device's, not the host's.
    pub device: bool,
    /// Whether the passes begin with the wait for what they receive.
    pub waits: bool,
    spans: Vec<Span>,
}

impl Recording {
    /// A recording of these passes, which are put in the order in which they started.
    #[must_use]
    pub fn new(rank: Option<u32>, device: bool, mut spans: Vec<Span>) -> Self {
        spans.sort_by_key(|span| (span.start, span.end));
        Self { rank, device, waits: false, spans }
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
    let ranges = |category: &'static str| {
        let named = move |event: &&Event<'_>| event.is(category) && event.name.starts_with("PP:");
        file.events.iter().filter(named)
    };
    let device = ranges("gpu_user_annotation").next().is_some();
    let operators = if device { BTreeMap::new() } else { operators(&file, text)? };
    let mut lanes: BTreeMap<(&str, &str), Vec<Span>> = BTreeMap::new();
    for event in ranges(if device { "gpu_user_annotation" } else { "user_annotation" }) {
        let name = &event.name["PP:".len()..];
        let pass = match action(name) {
            Ok(Some(pass)) => pass,
            Ok(None) => continue,
            Err(()) if name.contains("OVERLAP_F_B") => {
                return Err(ProfilerError::Overlap(event.name.clone().into_owned()));
            }
            Err(()) => {
                let span = match &event.name {
                    Cow::Borrowed(name) => place(text, name),
                    Cow::Owned(_) => 0..0,
                };
                return Err(ProfilerError::Action { name: event.name.clone().into_owned(), span });
            }
        };
        let begins = event.time("ts", file.base, text)?;
        let end = begins
            .checked_add(event.time("dur", 0, text)?)
            .ok_or_else(|| ProfilerError::NoTime { key: "end", name: event.name.clone().into_owned() })?;
        let start = match operators.get(&event.lane()) {
            Some(starts) => {
                let first = starts.partition_point(|&start| start < begins);
                starts.get(first).copied().filter(|&start| start <= end).unwrap_or(end)
            }
            None => begins,
        };
        let span = Span { pass, start, end };
        lanes.entry(event.lane()).or_default().push(span);
    }
    // A range has a part on every stream that it uses; passes are timed on the one that is busy longest.
    let busy = |spans: &Vec<Span>| spans.iter().map(|span| i128::from(span.duration().0)).sum::<i128>();
    let spans = lanes.into_values().max_by_key(busy).ok_or(ProfilerError::NoPasses)?;
    let rank = file.distributed.and_then(|distributed| distributed.rank);
    Ok(Recording { waits: !device && operators.is_empty(), ..Recording::new(rank, device, spans) })
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
    let device = recordings.iter().any(|recording| recording.device);
    let trace = Trace {
        origin: if device { Origin::Cuda } else { Origin::Cpu },
        machine: Machine { name: "torch.profiler".to_owned(), ..Machine::default() },
        sizes: None,
        gradient_error: None,
        host_overhead: None,
        iterations: iterations.collect::<Result<_, GatherError>>()?,
        schedule,
    };
    Ok((trace.checked()?, clocks))
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
