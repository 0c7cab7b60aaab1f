//! The recordings of all ranks as one trace, on one clock.

mod beside;

use std::collections::{BTreeMap, BTreeSet};

use super::clocks::{ClockError, Clocks, OffsetChoice, reconcile};
use super::recording::Recording;
use super::{Iteration, MAX_INSTANT, Machine, Origin, Span, Trace, TraceError};
use crate::model::{Device, Microbatch, Pass, Placement, PlacementError, Stage, Ticks};
use crate::schedule::{Schedule, ScheduleError};

/// Why recordings are no trace.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GatherError {
    /// Ranks that are not those from 0 on, once each.
    #[error("the files are of ranks {0:?}: one of each is needed, from 0 on")]
    Ranks(Vec<u32>),
    /// Fewer files than the run had ranks, and no schedule that says that the others are not of the pipeline.
    #[error(
        "the run had {world_size} ranks, as {} says, but {} missing",
        .says.map_or_else(|| "a file".to_owned(), |rank| format!("the file of rank {rank}")),
        listed(.missing, *.more)
    )]
    Missing {
        /// The rank whose file says how many there were, where it has one.
        says: Option<u32>,
        /// How many ranks the run had.
        world_size: u32,
        /// The first ranks that are missing; none where the files do not say of which ranks they are.
        missing: Vec<u32>,
        /// How many more are missing.
        more: u32,
    },
    /// Not as many files as devices.
    #[error("there are {files} files, but the schedule has {devices} devices: one file for each is needed")]
    Devices {
        /// How many files.
        files: usize,
        /// How many devices.
        devices: u32,
    },
    /// Times of devices beside times of hosts, which cannot be compared.
    #[error("rank {device} is timed by its device, but rank {host}, whose file has no kernels, by its host")]
    Timings {
        /// A rank that is timed by its device.
        device: Device,
        /// One that is timed by its host.
        host: Device,
    },
    /// A pass that is not in the given schedule.
    #[error("rank {rank} ran `{pass}`, which is not in the schedule; this file is from another run")]
    UnknownPass {
        /// The rank.
        rank: Device,
        /// The pass.
        pass: Pass,
    },
    /// Stages that are not placed as stages can be.
    #[error("the stages that ran do not form a pipeline: {0}")]
    Placement(#[from] PlacementError),
    /// Orders that are no schedule.
    #[error("the passes that ran do not form a schedule: {0}")]
    Schedule(#[from] ScheduleError),
    /// Clocks that do not agree.
    #[error(transparent)]
    Clocks(#[from] ClockError),
    /// An iteration too long to count.
    #[error("an iteration lasts more than {MAX_INSTANT} ns: the clocks do not agree")]
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
    choice: &OffsetChoice,
) -> Result<(Trace, Clocks), GatherError> {
    if schedule.is_none() {
        is_whole(&recordings)?;
    }
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
        if let Some(span) = recording.spans().iter().find(|span| !knows(&schedule, span.pass)) {
            return Err(GatherError::UnknownPass { rank: Device::at(rank), pass: span.pass });
        }
    }
    let clocks = reconcile(&recordings, &schedule, choice)?;
    let mut iterations: Vec<Vec<Vec<(Pass, i128, i128)>>> = Vec::new();
    for (rank, (recording, clock)) in recordings.iter().zip(&clocks.ranks).enumerate() {
        let mut times: BTreeMap<Pass, usize> = BTreeMap::new();
        for span in recording.spans() {
            let count = times.entry(span.pass).or_default();
            if iterations.len() == *count {
                iterations.push(vec![Vec::new(); recordings.len()]);
            }
            let moved = |at: Ticks| i128::from(at.0) + i128::from(clock.offset);
            iterations[*count][rank].push((span.pass, moved(span.start), moved(span.end)));
            *count += 1;
        }
    }
    let first = |devices: &Vec<Vec<(Pass, i128, i128)>>| {
        devices.iter().flatten().map(|&(_, start, _)| start).min().unwrap_or(0)
    };
    let begun: Vec<i128> = iterations.iter().map(first).collect();
    let iterations = iterations.into_iter().zip(&begun).map(|(devices, begun)| {
        let from_begin = |at: i128| {
            let at = i64::try_from(at - begun).ok().filter(|&at| at <= MAX_INSTANT);
            at.map(Ticks).ok_or(GatherError::TooLong)
        };
        let span = |(pass, start, end)| Ok(Span { pass, start: from_begin(start)?, end: from_begin(end)? });
        let rows = devices.into_iter().map(|row| row.into_iter().map(span).collect());
        Ok(Iteration { passes: rows.collect::<Result<_, GatherError>>()?, ..Iteration::default() })
    });
    let mut iterations: Vec<Iteration> = iterations.collect::<Result<_, GatherError>>()?;
    beside::add(&mut iterations, &begun, &recordings, &clocks, &schedule);
    let trace = Trace {
        origin,
        machine: Machine { name: "torch.profiler".to_owned(), ..Machine::default() },
        sizes: None,
        gradient_error: None,
        host_overhead: None,
        iterations,
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

/// Missing ranks in words, with their verb.
fn listed(missing: &[u32], more: u32) -> String {
    let numbers: Vec<String> = missing.iter().map(ToString::to_string).collect();
    match (missing.len(), more) {
        (0, 1) => "the file of one is".to_owned(),
        (0, _) => format!("the files of {more} are"),
        (1, 0) => format!("the file of rank {} is", numbers[0]),
        (_, 0) => format!("the files of ranks {} are", numbers.join(", ")),
        _ => format!("the files of ranks {} and {more} more are", numbers.join(", ")),
    }
}

/// Whether the files are of all ranks that the run had. One that is not there may hold stages, so that what is there
/// would be taken for a shorter pipeline.
fn is_whole(recordings: &[Recording]) -> Result<(), GatherError> {
    /// How many ranks are named at most.
    const NAMED: usize = 8;
    let largest = recordings.iter().filter(|recording| recording.world_size.is_some());
    let Some(says) = largest.max_by_key(|recording| recording.world_size) else { return Ok(()) };
    let world_size = says.world_size.unwrap_or_default();
    let absent = (world_size as usize).saturating_sub(recordings.len());
    if absent == 0 {
        return Ok(());
    }
    let there: BTreeSet<u32> = recordings.iter().filter_map(|recording| recording.rank).collect();
    let missing: Vec<u32> = if there.len() == recordings.len() {
        (0..world_size).filter(|rank| !there.contains(rank)).take(NAMED).collect()
    } else {
        Vec::new()
    };
    let more = u32::try_from(absent.saturating_sub(missing.len())).unwrap_or(u32::MAX);
    Err(GatherError::Missing { says: says.rank, world_size, missing, more })
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
            let spans = recording.spans().iter();
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

/// Whether a schedule has this pass.
fn knows(schedule: &Schedule, pass: Pass) -> bool {
    pass.stage < Stage(schedule.placement().stages()) && pass.microbatch < Microbatch(schedule.microbatches())
}
