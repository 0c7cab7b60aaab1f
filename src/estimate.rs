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
use std::path::Path;
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
    "{} and {} are {passes} passes, which take about {} of memory; {} are available",
    counted(*.devices, "device", "devices"), counted(*.microbatches, "microbatch", "microbatches"), Size(*.needed),
    Size(*.available)
)]
pub struct TooLarge {
    /// The number of devices.
    pub devices: u32,
    /// The number of microbatches that are held at once: those of the model, or one.
    pub microbatches: u32,
    /// The number of passes that are held at once: F, I and W of every stage and of those microbatches.
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

    /// How many microbatches are held at once.
    fn microbatches(self, model: &Model) -> u32 {
        if self == Self::Blocks { 1 } else { model.microbatches() }
    }

    /// How many passes are held at once.
    fn passes(self, model: &Model) -> u64 {
        u64::from(model.stages()) * u64::from(self.microbatches(model)) * PASSES
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
            microbatches: self.microbatches(model),
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
/// what its limit on address space leaves (`ulimit -v`), and what its control groups leave.
#[must_use]
pub fn available() -> Option<u64> {
    [free(), address_space(), control_group()].into_iter().flatten().min()
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
    let own = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
    left_by_control_groups(Path::new("/sys/fs/cgroup"), own)
}

/// What a control group (version 2) and those that it is part of leave: the least of all, for each has a limit of its
/// own or none.
fn left_by_control_groups(root: &Path, own: &str) -> Option<u64> {
    let group = root.join(own.trim_matches('/'));
    let groups = group.ancestors().take_while(|group| group.starts_with(root));
    groups.filter_map(left_by_control_group).min()
}

/// What one control group leaves; nothing where it has no limit (`max`).
fn left_by_control_group(group: &Path) -> Option<u64> {
    let text = |file: &str| fs::read_to_string(group.join(file)).ok();
    let number = |file: &str| text(file)?.trim().parse::<u64>().ok();
    let (most, used) = (number("memory.max")?, number("memory.current")?);
    // Pages of files that nobody uses count as used, and are given up where memory is short.
    let reclaimable = text("memory.stat").and_then(|text| {
        text.lines().find_map(|line| line.strip_prefix("inactive_file ")?.trim().parse::<u64>().ok())
    });
    Some(most.saturating_sub(used.saturating_sub(reclaimable.unwrap_or(0))))
}

fn counted(count: u32, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
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
    fn blocks_are_of_one_microbatch() {
        let error = Work::Blocks.check(&model(1_000_000, 64), Some(1 << 20)).expect_err("too large");
        assert_eq!((error.passes, error.microbatches, error.most_microbatches), (3_000_000, 1, 0));
        assert_eq!(
            error.to_string(),
            "1000000 devices and 1 microbatch are 3000000 passes, which take about 1.5 GiB of memory; 1.0 MiB are \
             available"
        );
    }

    /// Groups with what their files say.
    fn groups(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().expect("a folder");
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, text).expect("written");
        }
        root
    }

    #[test]
    fn control_groups_leave_what_the_closest_limit_of_all_leaves() {
        const MAX: &str = "memory.max";
        const CURRENT: &str = "memory.current";
        const STAT: &str = "memory.stat";
        let at = |group: &str, file: &str| format!("{group}/{file}");
        for (files, own, left) in [
            // Nothing is known, or nothing is limited.
            (vec![], "/job", None),
            (vec![("job", MAX, "max\n"), ("job", CURRENT, "5\n")], "/job", None),
            (vec![("job", MAX, "100\n")], "/job", None),
            // The group itself, and where it is the root of what is seen, as in a container.
            (vec![("job", MAX, "100\n"), ("job", CURRENT, "30\n")], "/job", Some(70)),
            (vec![("job", MAX, "100\n"), ("job", CURRENT, "30\n")], "/job/", Some(70)),
            (vec![(".", MAX, "100\n"), (".", CURRENT, "30\n")], "/", Some(70)),
            (vec![("job", MAX, "100\n"), ("job", CURRENT, "130\n")], "/job", Some(0)),
            // Pages of files that can be given up do not count.
            (
                vec![
                    ("job", MAX, "100\n"),
                    ("job", CURRENT, "90\n"),
                    ("job", STAT, "anon 20\nfile 70\nactive_file 10\ninactive_file 60\n"),
                ],
                "/job",
                Some(70),
            ),
            (
                vec![("job", MAX, "100\n"), ("job", CURRENT, "40\n"), ("job", STAT, "inactive_file 60\n")],
                "/job",
                Some(100),
            ),
            // A limit of a group above, alone or closer than the own one; groups beside play no part.
            (
                vec![
                    ("slice", MAX, "100\n"),
                    ("slice", CURRENT, "50\n"),
                    ("slice/job", MAX, "max\n"),
                    ("slice/job", CURRENT, "20\n"),
                ],
                "/slice/job",
                Some(50),
            ),
            (
                vec![
                    ("slice", MAX, "100\n"),
                    ("slice", CURRENT, "95\n"),
                    ("slice", STAT, "inactive_file 10\n"),
                    ("slice/job", MAX, "60\n"),
                    ("slice/job", CURRENT, "20\n"),
                    ("slice/other", MAX, "1\n"),
                    ("slice/other", CURRENT, "1\n"),
                ],
                "/slice/job",
                Some(15),
            ),
            (
                vec![
                    ("slice", MAX, "100\n"),
                    ("slice", CURRENT, "10\n"),
                    ("slice/job", MAX, "60\n"),
                    ("slice/job", CURRENT, "5\n"),
                ],
                "/slice/job",
                Some(55),
            ),
        ] {
            let paths: Vec<(String, &str)> =
                files.iter().map(|&(group, file, text)| (at(group, file), text)).collect();
            let paths: Vec<(&str, &str)> = paths.iter().map(|(path, text)| (path.as_str(), *text)).collect();
            let root = groups(&paths);
            assert_eq!(left_by_control_groups(root.path(), own), left, "{files:?}, {own}");
        }
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
