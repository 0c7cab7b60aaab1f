//! When the device worked on the passes of a rank: the kernels that were launched within them.
//!
//! A range of the host says which pass launches; every call that launches has a correlation, and so have the
//! kernels and copies that it led to. Calls count on any thread: a backward is launched by autograd's threads while
//! the thread of the range waits for them, so that all of it is launched within the range. The profiler's own
//! ranges of the device (`gpu_user_annotation`) follow only the thread of the range
//! (<https://github.com/pytorch/kineto/issues/1022>) and are too short for backwards.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::error::ProfilerError;
use super::event::{Event, File};
use crate::analysis::Span;
use crate::model::Ticks;

/// What runs on a device.
const WORK: [&str; 3] = ["kernel", "gpu_memcpy", "gpu_memset"];

/// What launches it.
const LAUNCHES: [&str; 2] = ["cuda_runtime", "cuda_driver"];

/// Whether there is anything that ran on a device.
pub(super) fn any(file: &File<'_>) -> bool {
    file.events.iter().any(|event| is_one_of(event, &WORK))
}

fn is_one_of(event: &Event<'_>, categories: &[&str]) -> bool {
    categories.iter().any(|category| event.is(category))
}

/// What an event says of itself, as far as it matters here.
#[derive(Deserialize)]
struct Arguments<'a> {
    #[serde(borrow)]
    correlation: Option<&'a RawValue>,
}

/// The correlation of an event, as written.
fn correlation<'a>(event: &Event<'a>) -> Option<&'a str> {
    let arguments: Arguments<'a> = serde_json::from_str(event.args?.get()).ok()?;
    arguments.correlation.map(RawValue::get)
}

/// Whether a kernel moves data between ranks. Those wait for other ranks, so that they may well be busy longest.
pub(super) fn communicates(event: &Event<'_>) -> bool {
    event.name.starts_with("nccl")
}

/// By correlation: the range within which what has it was launched. Ranges are in the order in which they start.
fn launched<'a>(
    file: &File<'a>,
    text: &str,
    ranges: &[(Ticks, Ticks)],
) -> Result<BTreeMap<&'a str, usize>, ProfilerError> {
    let within = |at: Ticks| {
        let range = ranges.partition_point(|&(start, _)| start <= at).checked_sub(1)?;
        (at < ranges[range].1).then_some(range)
    };
    let mut launched: BTreeMap<&str, usize> = BTreeMap::new();
    for event in file.events.iter().filter(|event| is_one_of(event, &LAUNCHES)) {
        let Some(correlation) = correlation(event) else { continue };
        if let Some(range) = within(event.time("ts", file.base, text)?) {
            launched.entry(correlation).or_insert(range);
        }
    }
    Ok(launched)
}

/// From when to when what was launched within each range ran on the device, on whatever stream, as far as `counts` says.
/// Ranges are in the order in which they start.
pub(super) fn ran(
    file: &File<'_>,
    text: &str,
    ranges: &[(Ticks, Ticks)],
    counts: impl Fn(&Event<'_>) -> bool,
) -> Result<Vec<Option<(Ticks, Ticks)>>, ProfilerError> {
    let launched = launched(file, text, ranges)?;
    let mut ran: Vec<Option<(Ticks, Ticks)>> = vec![None; ranges.len()];
    for event in file.events.iter().filter(|event| is_one_of(event, &WORK) && counts(event)) {
        let Some(&range) = correlation(event).and_then(|correlation| launched.get(correlation)) else {
            continue;
        };
        let (start, end) = event.span(file.base, text)?;
        let whole = ran[range].get_or_insert((start, end));
        *whole = (whole.0.min(start), whole.1.max(end));
    }
    Ok(ran)
}

/// How long a stream worked, and from when to when on each pass.
type Worked = (i128, BTreeMap<usize, (Ticks, Ticks)>);

/// The same passes as the ranges of the host, at the times at which the device worked on them: on the stream that
/// is busiest with all of them, from the least start to the largest end. A pass for which nothing ran there is
/// at the end of the one before it, or at the start of the first of all that ran.
///
/// # Errors
/// When a time is none, or nothing that ran was launched within a pass.
pub(super) fn timed(file: &File<'_>, text: &str, ranges: &[Span]) -> Result<Vec<Span>, ProfilerError> {
    let mut passes = ranges.to_vec();
    passes.sort_by_key(|range| (range.start, range.end));
    let places: Vec<(Ticks, Ticks)> = passes.iter().map(|range| (range.start, range.end)).collect();
    let launched = launched(file, text, &places)?;
    let mut streams: BTreeMap<(&str, &str), Worked> = BTreeMap::new();
    for event in file.events.iter().filter(|event| is_one_of(event, &WORK) && !communicates(event)) {
        let Some(&pass) = correlation(event).and_then(|correlation| launched.get(correlation)) else {
            continue;
        };
        let (start, end) = event.span(file.base, text)?;
        let (busy, worked) = streams.entry(event.lane()).or_default();
        *busy += i128::from(end.0) - i128::from(start.0);
        let whole = worked.entry(pass).or_insert((start, end));
        *whole = (whole.0.min(start), whole.1.max(end));
    }
    let (_, worked) = streams.into_values().max_by_key(|(busy, _)| *busy).ok_or(ProfilerError::NoLaunches)?;
    let mut last = worked.values().map(|&(start, _)| start).min().ok_or(ProfilerError::NoLaunches)?;
    for (index, pass) in passes.iter_mut().enumerate() {
        (pass.start, pass.end) = worked.get(&index).copied().unwrap_or((last, last));
        last = pass.end;
    }
    Ok(passes)
}
