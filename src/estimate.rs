//! Estimates how much memory a piece of work takes before it begins, so that no work fails for lack of memory that
//! could have been foreseen.
//!
//! ```
//! use bubbleproof::estimate::Work;
//! use bubbleproof::model::{Model, Placement};
//!
//! let model = Model::unit(Placement::linear(4)?, 64)?;
//! assert!(Work::Search.check(&model, Some(1 << 30)).is_ok());
//!
//! let many = model.with_microbatches(50_000_000)?;
//! let error = Work::Search.check(&many, Some(1 << 30)).expect_err("too large");
//! assert!(error.to_string().contains("600000000 passes"));
//! assert!(error.most_microbatches < 1_000_000);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fmt;
use std::fs;
use std::time::Duration;

use crate::model::{Model, Stage};

/// What is done with schedules of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// One is made and replayed.
    Replay,
    /// Many are made and replayed, and the best few of them kept.
    Search,
    /// Blocks alone: what is done does not depend on the number of microbatches.
    Blocks,
}

/// More memory is needed than there is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{devices} devices and {microbatches} microbatches are {passes} passes, which take about {} of memory; {} are \
     available", Size(*.needed), Size(*.available)
)]
pub struct TooLarge {
    /// The number of devices.
    pub devices: u32,
    /// The number of microbatches.
    pub microbatches: u32,
    /// The number of passes that are held at once: F, I and W of every stage and microbatch, or of one microbatch.
    pub passes: u64,
    /// About how many bytes that takes.
    pub needed: u64,
    /// How many bytes there are.
    pub available: u64,
    /// About how many microbatches there may be; 0 where one is too many.
    pub most_microbatches: u64,
}

/// Passes that every stage has for every microbatch, as searches hold them.
const PASSES: u64 = 3;

/// Bytes for every stage, whatever is done: the model, its costs and what is derived of them.
const BYTES_PER_STAGE: u64 = 1 << 10;

impl Work {
    /// About how many bytes every pass takes at the peak: the tool takes 50 to 110 for a search, about 50 to replay.
    const fn bytes_per_pass(self) -> u64 {
        match self {
            Self::Replay => 80,
            Self::Search => 160,
            Self::Blocks => 200,
        }
    }

    /// How many passes are held at once.
    fn passes(self, model: &Model) -> u64 {
        let microbatches = if self == Self::Blocks { 1 } else { u64::from(model.microbatches()) };
        u64::from(model.stages()) * microbatches * PASSES
    }

    /// About how many bytes of memory the work takes at its peak.
    #[must_use]
    pub fn bytes(self, model: &Model) -> u64 {
        let stages = u64::from(model.stages()) * BYTES_PER_STAGE;
        self.passes(model).saturating_mul(self.bytes_per_pass()).saturating_add(stages)
    }

    /// Whether the work fits into so many bytes; where that is not known, it does.
    ///
    /// # Errors
    /// When it takes more.
    pub fn check(self, model: &Model, available: Option<u64>) -> Result<(), TooLarge> {
        let needed = self.bytes(model);
        let Some(available) = available.filter(|&available| needed > available) else { return Ok(()) };
        let stages = u64::from(model.stages());
        let rest = available.saturating_sub(stages * BYTES_PER_STAGE);
        Err(TooLarge {
            devices: model.devices(),
            microbatches: model.microbatches(),
            passes: self.passes(model),
            needed,
            available,
            most_microbatches: if self == Self::Blocks {
                0
            } else {
                rest / (stages * PASSES * self.bytes_per_pass())
            },
        })
    }
}

/// Whether a schedule of the model can be made and replayed within this time, at a pace that every machine has, and in
/// the available memory.
#[must_use]
pub fn is_affordable(model: &Model, time: Duration) -> bool {
    const PASSES_PER_SECOND: f64 = 1_000_000.0;
    let passes = f64::from(model.stages()) * f64::from(model.microbatches()) * 3.0;
    passes <= time.as_secs_f64() * PASSES_PER_SECOND && Work::Replay.check(model, available()).is_ok()
}

/// Why a unit is probably wrong: a latency that is out of all proportion to the passes, or passes that take no time.
/// Nothing where nothing looks wrong.
#[must_use]
pub fn suspicious_unit(model: &Model) -> Option<String> {
    /// No network is so slow that a device could run so many microbatches meanwhile.
    const MOST: i64 = 10_000;
    let work = model.most_work();
    let between =
        Stage::all(model.stages().saturating_sub(1)).map(|stage| (model.latency_after(stage), stage));
    let (latency, stage) = between.max_by_key(|&(latency, _)| latency)?;
    let times = latency.0 / work.0.max(1);
    (times >= MOST).then(|| {
        let unit = &model.costs().unit;
        format!(
            "the latency behind stage {stage} ({latency} {unit}) is {times} times the work of a device for a \
             microbatch ({work} {unit}): a unit is probably wrong"
        )
    })
}

/// How many bytes of memory this process may still take, as far as the system says so: the least of what is free,
/// what its limit on address space leaves (`ulimit -v`), and what its control group leaves.
#[must_use]
pub fn available() -> Option<u64> {
    [free(), address_space(), control_group()].into_iter().flatten().min()
}

fn number_in(path: &str) -> Option<u64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

fn free() -> Option<u64> {
    kilobytes("/proc/meminfo", "MemAvailable:")
}

/// A number of bytes that a file of the system gives in kB, behind a name.
fn kilobytes(path: &str, name: &str) -> Option<u64> {
    let text = fs::read_to_string(path).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? << 10)
}

#[cfg(unix)]
fn address_space() -> Option<u64> {
    let limit = rustix::process::getrlimit(rustix::process::Resource::As).current?;
    Some(limit.saturating_sub(kilobytes("/proc/self/status", "VmSize:")?))
}

#[cfg(not(unix))]
const fn address_space() -> Option<u64> {
    None
}

fn control_group() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let own = groups.lines().find_map(|line| line.strip_prefix("0::"))?.trim_end_matches('/');
    let of = |file: &str| number_in(&format!("/sys/fs/cgroup{own}/{file}"));
    Some(of("memory.max")?.saturating_sub(of("memory.current")?))
}

/// A number of bytes, as people read it.
struct Size(u64);

impl fmt::Display for Size {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [(40, "TiB"), (30, "GiB"), (20, "MiB")];
        let (shift, unit) = units.into_iter().find(|&(shift, _)| self.0 >> shift > 0).unwrap_or((20, "MiB"));
        write!(out, "{}.{} {unit}", self.0 >> shift, (self.0 >> (shift - 10) & 1023) * 10 / 1024)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Placement;

    fn model(devices: u32, microbatches: u32) -> Model {
        let placement = Placement::linear(devices).expect("a placement");
        Model::unit(placement, microbatches).expect("a model")
    }

    #[test]
    fn what_is_said_to_fit_does_and_what_is_one_more_does_not() {
        let available = Some(1 << 30);
        for work in [Work::Replay, Work::Search] {
            let error = work.check(&model(8, 30_000_000), available).expect_err("too large");
            let most = u32::try_from(error.most_microbatches).expect("fewer");
            assert_eq!(work.check(&model(8, most), available), Ok(()), "{work:?}");
            assert!(work.check(&model(8, most + 1), available).is_err(), "{work:?}");
            assert_eq!(work.check(&model(8, 30_000_000), None), Ok(()), "nothing is known");
        }
        assert_eq!(Work::Blocks.check(&model(8, 30_000_000), available), Ok(()));
        assert!(Work::Blocks.check(&model(1 << 20, 1), available).is_err());
    }

    #[test]
    fn sizes_are_given_in_words() {
        let error = Work::Search.check(&model(2, 100_000_000), Some(3 << 30)).expect_err("too large");
        assert_eq!(
            error.to_string(),
            "2 devices and 100000000 microbatches are 600000000 passes, which take about 89.4 GiB of memory; 3.0 GiB \
             are available"
        );
    }

    #[test]
    fn a_latency_that_dwarfs_the_passes_is_suspicious() {
        let latency = |ticks| {
            let placement = Placement::linear(3).expect("a placement");
            Model::equal_stages(placement, 4, [1, 1, 1, ticks]).expect("a model")
        };
        assert_eq!(suspicious_unit(&latency(300)), None);
        let reason = suspicious_unit(&latency(100_000_000)).expect("it is suspicious");
        assert!(reason.contains("a unit is probably wrong"), "{reason}");
    }
}
