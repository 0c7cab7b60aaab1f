//! The trace file (JSON): `bubbleproof-trace-1`. `docs/traces.md` describes it.

use std::fmt;
use std::io::{self, BufWriter, Write};

use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use super::{
    ClockRange, Iteration, MAX_INSTANT, Machine, Message, Origin, Sample, Sizes, Span, StepSpan, StepWork,
    Trace, TraceError,
};
use crate::model::{Device, Pass, Stage, Ticks, Units};
use crate::schedule::{self, ScheduleFileError};
use crate::text::Shown;
use crate::text::json::{self, JsonError};

/// The value of `format` in the files of this version.
pub const FORMAT: &str = "bubbleproof-trace-1";

/// Why a text is not a trace file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TraceFileError {
    /// Not JSON, an unknown, missing or duplicate key, a value of the wrong type or out of its range, passes or
    /// samples that are not in order, a control character in a text.
    #[error("{message}")]
    Json {
        /// What is wrong, without its place.
        message: String,
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
    },
    /// A trace file of another version, or another file altogether.
    #[error("`format` is \"{}\", but only \"{FORMAT}\" is known", Shown(.0))]
    Format(String),
    /// The schedule in it is none.
    #[error("`schedule`: {error}")]
    Schedule {
        /// The byte at which its object begins.
        at: usize,
        /// Why it is none.
        error: ScheduleFileError,
    },
    /// The parts do not belong together.
    #[error("{0}")]
    Trace(#[from] TraceError),
}

impl From<JsonError> for TraceFileError {
    fn from(JsonError { message, line, column }: JsonError) -> Self {
        Self::Json { message, line, column }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File<'a> {
    format: String,
    kind: Origin,
    machine: Machine,
    model: Option<Sizes>,
    #[serde(borrow)]
    schedule: &'a RawValue,
    gradient_error: Option<String>,
    host_overhead: Option<Instant>,
    iterations: Vec<FileIteration>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileIteration {
    passes: Vec<Row<FileSpan>>,
    messages: Option<Vec<FileMessage>>,
    memory: Option<Vec<Row<FileSample>>>,
    step: Option<Vec<FileStepSpan>>,
    clocks: Option<Vec<FileClockRange>>,
    reserved: Option<Vec<Bytes>>,
}

/// An instant or a duration: nanoseconds, not negative, and not more than can be added up.
#[derive(Clone, Copy, Deserialize)]
#[serde(try_from = "i64")]
struct Instant(Ticks);

impl TryFrom<i64> for Instant {
    type Error = String;

    fn try_from(value: i64) -> Result<Self, String> {
        if (0..=MAX_INSTANT).contains(&value) {
            return Ok(Self(Ticks(value)));
        }
        Err(format!("a time must be from 0 to {MAX_INSTANT} ns, but is {value}"))
    }
}

#[derive(Deserialize)]
#[serde(try_from = "(Pass, Instant, Instant)")]
struct FileSpan(Span);

impl TryFrom<(Pass, Instant, Instant)> for FileSpan {
    type Error = String;

    fn try_from((pass, start, end): (Pass, Instant, Instant)) -> Result<Self, String> {
        if end.0 < start.0 {
            return Err(format!("`{pass}` ends at {} before it starts at {}", end.0, start.0));
        }
        Ok(Self(Span { pass, start: start.0, end: end.0 }))
    }
}

#[derive(Deserialize)]
#[serde(try_from = "(Pass, u32, Instant, Instant)")]
struct FileMessage(Message);

impl TryFrom<(Pass, u32, Instant, Instant)> for FileMessage {
    type Error = String;

    fn try_from((pass, to, start, end): (Pass, u32, Instant, Instant)) -> Result<Self, String> {
        if end.0 < start.0 {
            return Err(format!("the message of `{pass}` ends at {} before it starts at {}", end.0, start.0));
        }
        Ok(Self(Message { pass, to: Device(to), start: start.0, end: end.0 }))
    }
}

#[derive(Deserialize)]
#[serde(try_from = "(StepWork, u32, Instant, Instant)")]
struct FileStepSpan(StepSpan);

impl TryFrom<(StepWork, u32, Instant, Instant)> for FileStepSpan {
    type Error = String;

    fn try_from((work, stage, start, end): (StepWork, u32, Instant, Instant)) -> Result<Self, String> {
        if end.0 < start.0 {
            return Err(format!(
                "the {work} of stage {stage} ends at {} before it starts at {}",
                end.0, start.0
            ));
        }
        Ok(Self(StepSpan { work, stage: Stage(stage), start: start.0, end: end.0 }))
    }
}

#[derive(Deserialize)]
#[serde(try_from = "(i64, i64)")]
struct FileClockRange(ClockRange);

impl TryFrom<(i64, i64)> for FileClockRange {
    type Error = String;

    fn try_from((least, most): (i64, i64)) -> Result<Self, String> {
        let limit = -MAX_INSTANT..=MAX_INSTANT;
        if !limit.contains(&least) || !limit.contains(&most) {
            return Err(format!(
                "a clock may be off by at most {MAX_INSTANT} ns, but this range is {least} to {most}"
            ));
        }
        if least > most {
            return Err(format!(
                "a clock is off by {least} to {most} ns: the first must not be the larger one"
            ));
        }
        Ok(Self(ClockRange { least, most }))
    }
}

/// An amount of memory.
#[derive(Deserialize)]
#[serde(try_from = "i64")]
struct Bytes(Units);

impl TryFrom<i64> for Bytes {
    type Error = String;

    fn try_from(bytes: i64) -> Result<Self, String> {
        if (0..=MAX_INSTANT).contains(&bytes) {
            return Ok(Self(Units(bytes)));
        }
        Err(format!("what is reserved must be from 0 to {MAX_INSTANT} bytes, but is {bytes}"))
    }
}

#[derive(Deserialize)]
#[serde(try_from = "(Instant, i64)")]
struct FileSample(Sample);

impl TryFrom<(Instant, i64)> for FileSample {
    type Error = String;

    fn try_from((at, live): (Instant, i64)) -> Result<Self, String> {
        if !(0..=MAX_INSTANT).contains(&live) {
            return Err(format!("what is live must be from 0 to {MAX_INSTANT} bytes, but is {live}"));
        }
        Ok(Self(Sample { at: at.0, live: Units(live) }))
    }
}

/// What a device's list holds: entries in the order of time.
trait Timed {
    /// What the file says of a list of these.
    const EXPECTED: &'static str;

    /// When it begins.
    fn begins(&self) -> Ticks;

    /// What it is called in a message.
    fn name(&self) -> String;
}

impl Timed for FileSpan {
    const EXPECTED: &'static str =
        "a list of the passes of a device, such as [\"0F0\", 0, 100], in the order in which they started";

    fn begins(&self) -> Ticks {
        self.0.start
    }

    fn name(&self) -> String {
        format!("`{}`", self.0.pass)
    }
}

impl Timed for FileSample {
    const EXPECTED: &'static str = "a list of what a device holds, such as [100, 4096], in the order of time";

    fn begins(&self) -> Ticks {
        self.0.at
    }

    fn name(&self) -> String {
        "the sample".to_owned()
    }
}

/// A list in the order of time; an entry out of order is refused at its place.
struct Row<T>(Vec<T>);

impl<'de, T: Timed + Deserialize<'de>> Deserialize<'de> for Row<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries<T>(std::marker::PhantomData<T>);

        impl<'de, T: Timed + Deserialize<'de>> Visitor<'de> for Entries<T> {
            type Value = Row<T>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str(T::EXPECTED)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<Row<T>, A::Error> {
                let mut row: Vec<T> = Vec::new();
                while let Some(entry) = entries.next_element::<T>()? {
                    if let Some(before) = row.last().filter(|before| before.begins() > entry.begins()) {
                        return Err(A::Error::custom(format!(
                            "{} at {} follows one at {}: entries must be in the order of time",
                            entry.name(),
                            entry.begins(),
                            before.begins()
                        )));
                    }
                    row.push(entry);
                }
                Ok(Row(row))
            }
        }

        deserializer.deserialize_seq(Entries(std::marker::PhantomData))
    }
}

/// Whether a text says that it is a trace file, of whatever version.
#[must_use]
pub fn is_trace(text: &str) -> bool {
    #[derive(Deserialize)]
    struct Format {
        format: String,
    }
    serde_json::from_str::<Format>(text).is_ok_and(|file| file.format.starts_with("bubbleproof-trace-"))
}

/// Reads a trace file. That the passes ran in the order of the schedule is not checked here.
///
/// # Errors
/// When the text has not the form of a trace file, or its parts do not belong together.
pub fn parse(text: &str) -> Result<Trace, TraceFileError> {
    // Serde would read a list of the right length as the fields in a row.
    if let Some(at) = text.find(|letter: char| !letter.is_ascii_whitespace())
        && text[at..].starts_with('[')
    {
        return Err(TraceFileError::Json {
            message: "a trace file is an object, not a list".to_owned(),
            line: text[..at].matches('\n').count() + 1,
            column: at - text[..at].rfind('\n').map_or(0, |newline| newline + 1) + 1,
        });
    }
    let file: File<'_> = serde_json::from_str(text).map_err(JsonError::from)?;
    if file.format != FORMAT {
        return Err(TraceFileError::Format(file.format));
    }
    json::strict(
        text,
        &[
            &["schedule", "certificate", "statement", "problem"],
            &["schedule", "certificate", "statement", "job", "job"],
        ],
    )?;
    let inner = file.schedule.get();
    let schedule = schedule::parse(inner).map_err(|error| TraceFileError::Schedule {
        // Both are parts of one text.
        at: inner.as_ptr() as usize - text.as_ptr() as usize,
        error,
    })?;
    let iterations = file.iterations.into_iter().map(|iteration| Iteration {
        passes: iteration
            .passes
            .into_iter()
            .map(|row| row.0.into_iter().map(|span| span.0).collect())
            .collect(),
        messages: iteration.messages.map(|list| list.into_iter().map(|message| message.0).collect()),
        memory: iteration.memory.map(|rows| {
            rows.into_iter().map(|row| row.0.into_iter().map(|sample| sample.0).collect()).collect()
        }),
        step: iteration.step.map(|list| list.into_iter().map(|span| span.0).collect()),
        clocks: iteration.clocks.map(|list| list.into_iter().map(|range| range.0).collect()),
        reserved: iteration.reserved.map(|list| list.into_iter().map(|bytes| bytes.0).collect()),
    });
    let trace = Trace {
        origin: file.kind,
        machine: file.machine,
        sizes: file.model,
        schedule,
        gradient_error: file.gradient_error,
        host_overhead: file.host_overhead.map(|overhead| overhead.0),
        iterations: iterations.collect(),
    };
    Ok(trace.checked()?)
}

/// Writes a trace file: one line for each device and iteration.
///
/// # Errors
/// When `out` cannot be written to.
pub fn write(trace: &Trace, out: impl Write) -> io::Result<()> {
    let mut out = BufWriter::new(out);
    writeln!(out, "{{")?;
    writeln!(out, "  \"format\": \"{FORMAT}\",")?;
    writeln!(out, "  \"kind\": \"{}\",", trace.origin)?;
    writeln!(out, "  \"machine\": {},", json(&trace.machine)?)?;
    if let Some(sizes) = &trace.sizes {
        writeln!(out, "  \"model\": {},", json(sizes)?)?;
    }
    writeln!(out, "  \"schedule\": {},", json(&trace.schedule)?)?;
    if let Some(error) = &trace.gradient_error {
        writeln!(out, "  \"gradient_error\": {},", json(error)?)?;
    }
    if let Some(overhead) = trace.host_overhead {
        writeln!(out, "  \"host_overhead\": {overhead},")?;
    }
    write!(out, "  \"iterations\": [")?;
    for (at, iteration) in trace.iterations.iter().enumerate() {
        write!(out, "{}\n    {{\"passes\": [", if at == 0 { "" } else { "," })?;
        let spans = iteration
            .passes
            .iter()
            .map(|row| row.iter().map(|span| (span.pass, span.start, span.end)).collect::<Vec<_>>());
        lines(&mut out, spans)?;
        if let Some(messages) = &iteration.messages {
            let list: Vec<_> = messages
                .iter()
                .map(|message| (message.pass, message.to, message.start, message.end))
                .collect();
            write!(out, ",\n     \"messages\": {}", json(&list)?)?;
        }
        if let Some(memory) = &iteration.memory {
            write!(out, ",\n     \"memory\": [")?;
            let samples = memory
                .iter()
                .map(|row| row.iter().map(|sample| (sample.at, sample.live)).collect::<Vec<_>>());
            lines(&mut out, samples)?;
        }
        if let Some(step) = &iteration.step {
            let list: Vec<_> =
                step.iter().map(|span| (span.work, span.stage, span.start, span.end)).collect();
            write!(out, ",\n     \"step\": {}", json(&list)?)?;
        }
        if let Some(clocks) = &iteration.clocks {
            let list: Vec<_> = clocks.iter().map(|range| (range.least, range.most)).collect();
            write!(out, ",\n     \"clocks\": {}", json(&list)?)?;
        }
        if let Some(reserved) = &iteration.reserved {
            write!(out, ",\n     \"reserved\": {}", json(reserved)?)?;
        }
        write!(out, "}}")?;
    }
    writeln!(out, "\n  ]\n}}")?;
    out.flush()
}

/// The lists of all devices, one a line, and the bracket that closes them.
fn lines<T: Serialize>(out: &mut impl Write, rows: impl Iterator<Item = Vec<T>>) -> io::Result<()> {
    for (at, row) in rows.enumerate() {
        write!(out, "{}\n      {}", if at == 0 { "" } else { "," }, json(&row)?)?;
    }
    write!(out, "]")
}

fn json(value: &impl Serialize) -> io::Result<String> {
    Ok(serde_json::to_string(value)?)
}
