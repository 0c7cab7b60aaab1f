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

mod beside;
mod error;
mod event;
mod kernels;

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

pub use error::ProfilerError;

use self::event::{Event, File, place};
use super::Span;
use super::recording::{Recording, TimeSource};
use crate::model::{Pass, Ticks};
use crate::text::json::JsonError;

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
        let JsonError { message, line, column } = error.into();
        ProfilerError::Json { message, line, column }
    })?;
    let (rank, world_size) = file
        .distributed
        .as_ref()
        .map_or((None, None), |distributed| (distributed.rank, distributed.world_size));
    let recording = |timing, spans| Recording::new(rank, timing, spans).of_world(world_size);
    if kernels::any(&file) {
        let ranges = ranges(&file, text, "user_annotation")?;
        let spans = kernels::timed(&file, text, &ranges.ok_or(ProfilerError::NoPasses)?)?;
        return Ok(recording(TimeSource::Kernels, spans).with_beside(beside::of_device(&file, text)?));
    }
    if let Some(spans) = ranges(&file, text, "gpu_user_annotation")? {
        return Ok(recording(TimeSource::DeviceRanges, spans));
    }
    let operators = operators(&file, text)?;
    let timing = if operators.is_empty() { TimeSource::HostRanges } else { TimeSource::Operators };
    let spans = ranges_from(&file, text, "user_annotation", &operators)?.ok_or(ProfilerError::NoPasses)?;
    Ok(recording(timing, spans).with_beside(beside::of_host(&file, text)?))
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
