//! The files that traces are read from.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::Args;
use num_rational::Ratio;

use super::published::Published;
use crate::amounts::{self, Amounts};
use crate::cli::error::Error;
use crate::cli::file_name::FileName;
use crate::cli::input::{Input, Measurement};
use crate::cli::output::note;
use crate::schedule::Schedule;
use crate::trace::clocks::{ClockError, Clocks, OffsetChoice};
use crate::trace::gather::{GatherError, gather};
use crate::trace::recording::{Recording, TimeSource};
use crate::trace::{Iteration, Trace};

/// Traces with the options that say how to read them.
#[derive(Debug, Clone, Args)]
pub struct SourceArgs {
    /// Trace files, one for each run; or the files of torch.profiler, one for each rank of one run
    ///
    /// The file type is detected, and gzip files are unpacked. From torch.profiler files, reads the ranges that
    /// PyTorch's pipeline runtime names `PP:0F0` and so on; each step is one iteration. Also read are Chrome traces of
    /// MegatronApp, and the dumps of Primus: config.json and the file of every rank. docs/traces.md describes all
    /// types.
    #[arg(value_name = "TRACE", required = true)]
    traces: Vec<PathBuf>,

    /// The schedule that was to be run, in place of the trace's own
    ///
    /// Files of torch.profiler do not name a schedule. Without this option, the order in which the passes of
    /// the first step ran counts as the declared one.
    #[arg(long, value_name = "SCHEDULE")]
    schedule: Option<PathBuf>,

    /// Clock offset of each rank in ns for torch.profiler files, or `estimate`
    ///
    /// The offset is added to the times of the rank. Default: 0 if no pass then starts before its input was
    /// sent; otherwise an estimate, in the middle of the range that the messages allow.
    #[arg(long, value_name = "NS,...|estimate", value_parser = Offsets::from_str, allow_hyphen_values = true)]
    offsets: Option<Offsets>,

    /// How many iterations to leave out at the beginning of each trace
    #[arg(long, value_name = "N", default_value_t = 0)]
    skip: usize,
}

/// What `--offsets` says.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Offsets(OffsetChoice);

impl FromStr for Offsets {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "estimate" {
            return Ok(Self(OffsetChoice::Estimate));
        }
        let offsets = text.split(',').map(|offset| offset.trim().parse()).collect::<Result<_, _>>();
        offsets
            .map(|offsets| Self(OffsetChoice::Given(offsets)))
            .map_err(|_| format!("`{text}` is neither a list of integers, such as 0,-1200, nor `estimate`"))
    }
}

/// A trace with the name of its file.
#[derive(Debug)]
pub struct Named {
    /// The file, or the first and how many more.
    pub name: FileName,
    /// The trace.
    pub trace: Trace,
    /// How the clocks of several files were brought together.
    pub clocks: Option<Clocks>,
}

impl SourceArgs {
    /// Reads the traces. Prints notes on standard error.
    ///
    /// # Errors
    /// When a file is wrong, or files do not belong together.
    pub fn read(&self) -> Result<Vec<Named>, Error> {
        let schedule = self.schedule.as_deref().map(read_schedule).transpose()?;
        let choice = self.offsets.as_ref().map(|offsets| offsets.0.clone());
        let mut traces = read(&self.traces, schedule, choice)?;
        for named in &mut traces {
            self.shorten(named)?;
        }
        Ok(traces)
    }

    /// Reads other traces of the same pipeline, each with its own schedule.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_others(&self, paths: &[PathBuf]) -> Result<Vec<Named>, Error> {
        let mut traces = read(paths, None, None)?;
        for named in &mut traces {
            self.shorten(named)?;
        }
        Ok(traces)
    }

    fn shorten(&self, named: &mut Named) -> Result<(), Error> {
        let iterations = named.trace.iterations.len();
        if self.skip >= iterations {
            return Err(Error::usage(
                format!("{} has {iterations} iterations, of which --skip leaves none", named.name),
                "choose a smaller number",
            ));
        }
        named.trace.iterations.drain(..self.skip);
        Ok(())
    }
}

fn read_schedule(path: &Path) -> Result<Schedule, Error> {
    Ok(Input::read(path)?.schedule()?.schedule)
}

/// Reads traces, or the recordings of one run.
///
/// # Errors
/// When a file is wrong, or files do not belong together.
pub fn read(
    paths: &[PathBuf],
    schedule: Option<Schedule>,
    choice: Option<OffsetChoice>,
) -> Result<Vec<Named>, Error> {
    let (mut traces, mut recordings): (Vec<Named>, Vec<Recording>) = (Vec::new(), Vec::new());
    let mut published = Published::default();
    for path in paths {
        let input = Input::read(path)?;
        match input.measurement()? {
            Measurement::Trace(trace) => {
                let name = FileName::of(path);
                traces.push(Named { name, trace: *trace, clocks: None });
            }
            Measurement::Recording(recording) => recordings.push(recording),
            Measurement::Runs(runs) => published.add_runs(path, runs),
            Measurement::Dump(dump) => published.add_dump(path, dump),
            Measurement::DumpConfig(config) => published.add_config(path, config)?,
        }
    }
    if !published.is_empty() {
        if !traces.is_empty() || !recordings.is_empty() {
            return Err(Error::usage(
                "some of the files are what MegatronApp or Primus wrote, and some are not",
                "give the files of one run by themselves",
            ));
        }
        return published.gather(schedule, &choice.unwrap_or_default());
    }
    if !traces.is_empty() && !recordings.is_empty() {
        return Err(Error::usage(
            "some of the files are traces, and some are what torch.profiler wrote",
            "files of torch.profiler are the ranks of one run: give them by themselves",
        ));
    }
    if recordings.is_empty() {
        if choice.is_some() {
            return Err(Error::usage(
                "--offsets is about the files of torch.profiler: a trace file has one clock",
                "leave it out",
            ));
        }
        for named in &mut traces {
            if let Some(schedule) = &schedule {
                declare(named, schedule)?;
            }
            uncertain(named);
        }
        return Ok(traces);
    }
    let derived = schedule.is_none();
    let timings = timings(&recordings);
    let (trace, clocks) =
        gather(recordings, schedule, &choice.unwrap_or_default()).map_err(|error| mended(&error))?;
    if derived {
        note("using the order of the first step as the declared one; --schedule gives another");
    }
    for timing in timings {
        note(&timing);
    }
    if let Some(found) = clocks.contradiction {
        note(&format!("the offsets are as given, although {}", found.in_words(contradicted)));
    }
    let first = FileName::of(&paths[0]);
    let name = match paths.len() {
        1 => first,
        more => FileName::called(format!("{} and {} more", first.raw(), more - 1)),
    };
    Ok(vec![Named { name, trace, clocks: Some(clocks) }])
}

/// Says so where the devices of a trace had no common clock.
pub(super) fn uncertain(named: &Named) {
    if let Some(most) = named.trace.iterations.iter().filter_map(Iteration::clock_error).max() {
        note(&format!(
            "the devices of {} had no common clock: their times may be off by up to {} against those of device 0",
            named.name,
            amounts::time(most.0, "ns")
        ));
    }
}

/// By how many nanoseconds clocks contradict each other.
fn contradicted(by: i128) -> String {
    Amounts::new(false, "ns", "byte").time(Ratio::from_integer(by))
}

/// How passes were timed, where kernels did not time them; with the ranks, unless all ranks are alike.
fn timings(recordings: &[Recording]) -> Vec<String> {
    let mut by_timing: BTreeMap<TimeSource, Vec<u32>> = BTreeMap::new();
    for (place, recording) in (0..).zip(recordings) {
        by_timing.entry(recording.timing).or_default().push(recording.rank.unwrap_or(place));
    }
    let same = by_timing.len() == 1;
    let notes = by_timing.into_iter().filter_map(|(timing, mut ranks)| {
        let how = match timing {
            TimeSource::Events | TimeSource::Kernels => return None,
            TimeSource::DeviceRanges => {
                "are timed by the profiler's ranges of the device, as there are no kernels: backwards may be too short"
            }
            TimeSource::Operators => "are timed by the host, from their first operator to the end of their range",
            TimeSource::HostRanges => {
                "are timed by the host as whole ranges, waits included, as there are no operators"
            }
        };
        ranks.sort_unstable();
        let ranks = ranks.iter().map(|rank| format!("rank {rank}")).collect::<Vec<_>>().join(", ");
        Some(if same { format!("passes {how}") } else { format!("passes of {ranks} {how}") })
    });
    notes.collect()
}

/// Puts another schedule in the place of the one that a trace names.
fn declare(named: &mut Named, schedule: &Schedule) -> Result<(), Error> {
    let trace = Trace { schedule: schedule.clone(), ..named.trace.clone() };
    named.trace = trace.checked().map_err(|error| {
        Error::usage(format!("{} is not a run of that schedule: {error}", named.name), "leave --schedule out")
    })?;
    Ok(())
}

/// Why recordings are no trace, with advice.
pub(super) fn mended(error: &GatherError) -> Error {
    let help = match error {
        GatherError::Clocks(ClockError::Contradiction(_) | ClockError::Unconnected(_)) => {
            "--offsets gives the offsets of the clocks, in ns, one for each rank"
        }
        GatherError::Clocks(ClockError::Count { .. }) => {
            "--offsets has one number for each file, such as 0,-1200"
        }
        GatherError::Missing { .. } => {
            "give the file of every rank; if the other ranks run the same stages (data or tensor parallelism), --schedule \
             says how many devices the pipeline has"
        }
        GatherError::Timings { .. } => "record kernels (ProfilerActivity.CUDA) on every rank, or on none",
        GatherError::Ranks(_) | GatherError::Devices { .. } => "give the file of every rank of one run",
        _ => "the files must be of the same run of PyTorch's pipeline runtime",
    };
    let message = match error {
        GatherError::Clocks(ClockError::Contradiction(found)) => found.in_words(contradicted),
        error => error.to_string(),
    };
    Error::usage(message, help)
}
