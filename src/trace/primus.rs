//! What Primus writes with `dump_pp_data`: `config.json`, and `pp_rank_0.json` and so on, one for each pipeline rank.
//!
//! The file of a rank is an object with a key for each iteration. In it `fwd_start`, `fwd_end`, `bwd_start` and `bwd_end` list
//! milliseconds from device events, in the order in which the rank issued its passes, and `memory` is what its allocator had
//! reserved so far, in GiB. Where weight gradients are passes of their own, `wgrad_start` and `wgrad_end` list them. Later
//! versions also say of which microbatch and chunk each pass is (`fwd_minibatch`, `fwd_chunk` and so on). Without that the
//! order is that of Megatron's schedules.
//!
//! Every rank counts from the start of its own schedule in every iteration, so that offsets are found for each iteration
//! by itself. Primus runs on AMD's GPUs.

mod dump;
mod error;
mod names;

use std::collections::BTreeSet;

use serde::Deserialize;

pub use self::dump::{Dump, is_dump, parse};
pub use self::error::PrimusError;

use self::names::Names;
use super::clocks::{Clocks, OffsetChoice};
use super::gather::gather as on_one_clock;
use super::recording::{Recording, TimeSource};
use super::{ClockRange, Iteration, Machine, Origin, Span, Trace};
use crate::model::{Device, Kind, Microbatch, Pass, Placement};
use crate::schedule::Schedule;
use crate::text::json::JsonError;

/// What `config.json` says of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct Config {
    /// How many pipeline ranks there are.
    #[serde(rename = "pp_size")]
    pub ranks: u32,
    /// How many chunks of the network each rank has.
    #[serde(rename = "vp_size", alias = "vpp_size")]
    pub chunks: u32,
    /// How many microbatches.
    #[serde(rename = "num_mbs", alias = "micro_batches")]
    pub microbatches: u32,
}

/// Whether a text is meant to be such a `config.json`.
#[must_use]
pub fn is_config(text: &str) -> bool {
    #[derive(Deserialize)]
    struct Probe {
        #[serde(rename = "pp_size")]
        _ranks: serde::de::IgnoredAny,
    }
    text.trim_start().starts_with('{') && serde_json::from_str::<Probe>(text).is_ok()
}

/// Reads `config.json`.
///
/// # Errors
/// When it lacks a number.
pub fn parse_config(text: &str) -> Result<Config, PrimusError> {
    serde_json::from_str(text).map_err(|error| {
        let JsonError { message, line, column } = error.into();
        PrimusError::Json { form: "Primus's config.json", message, line, column }
    })
}

/// Makes one trace of the dumps of all ranks, in their order. Without a schedule, the order of the first iteration counts
/// as the declared one. Unless offsets are given, those of every iteration are in the middle of what messages allow.
///
/// # Errors
/// When dumps are missing or are of other runs, or their clocks cannot be brought together.
pub fn gather(
    config: Config,
    dumps: &[Dump],
    schedule: Option<Schedule>,
    choice: &OffsetChoice,
) -> Result<Trace, PrimusError> {
    if dumps.len() != config.ranks as usize {
        return Err(PrimusError::Ranks { files: dumps.len(), ranks: config.ranks });
    }
    let placement = match &schedule {
        Some(schedule) => schedule.placement().clone(),
        None if config.chunks > 1 && dumps.iter().any(Dump::says_chunks) => {
            return Err(PrimusError::Placement { chunks: config.chunks });
        }
        None => Placement::looped(config.ranks, config.chunks)?,
    };
    let choice = if *choice == OffsetChoice::Auto { &OffsetChoice::Estimate } else { choice };
    let mut iterations = Vec::new();
    let mut declared = schedule;
    for number in numbers(dumps)? {
        let mut recordings = Vec::new();
        let mut reserved = Vec::new();
        for (device, dump) in Device::all(config.ranks).zip(dumps) {
            let ran =
                dump.iteration(number).ok_or(PrimusError::Missing { rank: device, iteration: number })?;
            let names = Names { config, placement: &placement, device, iteration: number };
            let spans = ran.spans(&names)?;
            whole(&names, &spans)?;
            recordings.push(Recording::new(Some(device.0), TimeSource::Events, spans));
            reserved.push(ran.reserved);
        }
        let (trace, clocks) = on_one_clock(recordings, declared.take(), choice)
            .map_err(|error| PrimusError::Gather { iteration: number, error })?;
        declared = Some(trace.schedule);
        let ranges = ranges(&clocks);
        iterations.extend(trace.iterations.into_iter().map(|ran| Iteration {
            clocks: ranges.clone(),
            reserved: Some(reserved.clone()),
            ..ran
        }));
    }
    let Some(schedule) = declared else { return Err(PrimusError::Empty) };
    Ok(Trace {
        origin: Origin::Rocm,
        machine: Machine { name: "Primus".to_owned(), ..Machine::default() },
        sizes: None,
        schedule,
        gradient_error: None,
        host_overhead: None,
        iterations,
    })
}

/// The iterations that any rank has.
fn numbers(dumps: &[Dump]) -> Result<BTreeSet<u32>, PrimusError> {
    let numbers: BTreeSet<u32> = dumps.iter().flat_map(Dump::numbers).collect();
    if numbers.is_empty() { Err(PrimusError::Empty) } else { Ok(numbers) }
}

/// Refuses the passes of a rank in an iteration unless each that it should have run is there once.
fn whole(names: &Names<'_>, spans: &[Span]) -> Result<(), PrimusError> {
    let Names { config, placement, device, iteration } = *names;
    let mut there = BTreeSet::new();
    if let Some(again) = spans.iter().find(|span| !there.insert(span.pass)) {
        return Err(PrimusError::Again { rank: device, iteration, pass: again.pass });
    }
    let split = there.iter().any(|pass| pass.kind == Kind::W);
    let kinds: &[Kind] = if split { &[Kind::F, Kind::I, Kind::W] } else { &[Kind::F, Kind::B] };
    for &stage in placement.stages_of(device) {
        for microbatch in (0..config.microbatches).map(Microbatch) {
            for &kind in kinds {
                let pass = Pass::new(stage, kind, microbatch);
                if !there.contains(&pass) {
                    return Err(PrimusError::Absent { rank: device, iteration, pass });
                }
            }
        }
    }
    Ok(())
}

/// How far off the times of each rank may be; nothing where messages contradict each other, or do not say.
fn ranges(clocks: &Clocks) -> Option<Vec<ClockRange>> {
    let range = |clock: &super::clocks::Clock| {
        let (least, most) = clock.least.zip(clock.most)?;
        Some(ClockRange { least: least.checked_sub(clock.offset)?, most: most.checked_sub(clock.offset)? })
    };
    clocks.ranks.iter().map(range).collect()
}
