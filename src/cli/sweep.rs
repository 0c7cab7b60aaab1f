//! Several sizes and memory limits of one model, one after the other.

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use super::error::Error;
use super::family_input::Base;
use super::input::read_model;
use super::memory_limit::{MemoryLimit, MemoryLimits};
use super::output::note;
use super::size::{ModelArgs, Size, Sizes};
use super::violations::count;
use crate::amounts;
use crate::model::{Device, Model, ModelError, Units};

/// A model with the options that change its size and its capacities, or give it several.
#[derive(Debug, Args)]
pub struct SweepArgs {
    /// The model file (TOML) with times and memory; `-` reads standard input
    #[arg(value_name = "MODEL")]
    model: PathBuf,

    #[command(flatten)]
    sizes: Sizes,

    #[command(flatten)]
    limits: MemoryLimits,
}

/// More combinations than this are a mistake, or the work of many machines.
const MOST: usize = 1000;

/// Refuses more combinations than anybody waits for.
///
/// # Errors
/// When there are more.
pub fn check_count(combinations: usize) -> Result<(), Error> {
    if combinations <= MOST {
        return Ok(());
    }
    Err(Error::usage(
        format!("{combinations} combinations are more than {MOST}"),
        "shorten the lists of --devices, --microbatches and --memory, or run several commands",
    ))
}

/// What sets one run of a command apart from the others.
#[derive(Debug, Clone, Serialize)]
pub struct Combination {
    devices: u32,
    microbatches: u32,
    /// The memory limit as it was asked for; absent without --memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    memory: Option<String>,
    /// The same, in units; absent without --memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_limit: Option<i64>,
    #[serde(skip)]
    is_relative: bool,
    /// The unit of memory.
    #[serde(skip)]
    unit: String,
}

impl Combination {
    /// A size alone.
    pub fn of_size(model: &Model) -> Self {
        Self {
            devices: model.devices(),
            microbatches: model.microbatches(),
            memory: None,
            memory_limit: None,
            is_relative: false,
            unit: model.memory().unit.clone(),
        }
    }

    /// The number of devices.
    pub const fn devices(&self) -> u32 {
        self.devices
    }

    /// The number of microbatches.
    pub const fn microbatches(&self) -> u32 {
        self.microbatches
    }

    /// The memory limit as it was asked for, where that was not in units.
    pub fn asked(&self) -> Option<&str> {
        self.memory.as_deref().filter(|_| self.is_relative)
    }

    /// The memory limit in units, where one was asked for.
    pub const fn memory_limit(&self) -> Option<i64> {
        self.memory_limit
    }

    /// The combination in a few words, for who waits, and for lines about it.
    pub fn words(&self) -> String {
        let size = format!(
            "{}, {}",
            count(self.devices as usize, "device", "devices"),
            count(self.microbatches as usize, "microbatch", "microbatches")
        );
        match self.memory_limit {
            Some(limit) => format!("{size}, memory limit {}", amounts::memory(limit, &self.unit)),
            None => size,
        }
    }

    /// The memory limit with how it was asked for, such as `8 GiB (50%)`.
    pub fn limit_words(&self) -> Option<String> {
        let limit = amounts::memory(self.memory_limit?, &self.unit);
        Some(self.asked().map_or(limit.clone(), |asked| format!("{limit} ({asked})")))
    }
}

/// One run of the command.
#[derive(Debug)]
pub struct Case {
    /// What sets it apart.
    pub combination: Combination,
    /// The size asked for in place of the model's.
    pub size: Size,
    /// The model, or why it cannot have the memory limit.
    pub model: Result<Model, String>,
}

/// The runs at one size.
#[derive(Debug)]
pub struct AtSize {
    /// The model at that size, with its own capacities.
    pub model: Model,
    /// One for each memory limit, in the order given.
    pub cases: Vec<Case>,
}

impl SweepArgs {
    /// The model with the only combination, where no list has several values.
    pub fn only(&self) -> Option<ModelArgs> {
        let ([size], [limit]) = (&self.sizes.all()[..], &self.limits.all()[..]) else { return None };
        Some(ModelArgs::new(self.model.clone(), *size, limit.clone()))
    }

    /// Reads the model once, and gives it every combination.
    ///
    /// # Errors
    /// When the file is wrong, or as [`all_of`](Self::all_of).
    pub fn read(&self) -> Result<Vec<AtSize>, Error> {
        self.all_of(&Base::Model(Box::new(read_model(&self.model)?)))
    }

    /// Reads the file: a model, or a block family with a model of its own.
    ///
    /// # Errors
    /// When it is neither.
    pub fn base(&self) -> Result<Base, Error> {
        Base::read(&self.model)
    }

    /// Every combination of a model: by devices, then by microbatches, then by memory limits, each in the order given.
    ///
    /// # Errors
    /// When the model cannot have a size, or no limit in such a unit.
    pub fn all_of(&self, base: &Base) -> Result<Vec<AtSize>, Error> {
        let (sizes, limits) = (self.sizes.all(), self.limits.all());
        check_count(sizes.len().saturating_mul(limits.len()))?;
        let at = |size: Size| {
            let model = base.at(size)?;
            let cases =
                limits.iter().map(|limit| Case::of(&model, size, limit)).collect::<Result<_, Error>>()?;
            Ok(AtSize { model, cases })
        };
        sizes.into_iter().map(at).collect()
    }
}

impl Case {
    fn of(model: &Model, size: Size, limit: &MemoryLimit) -> Result<Self, Error> {
        let units = limit.units(model)?;
        let combination = Combination {
            memory: limit.text().map(str::to_owned),
            memory_limit: units.map(|units| units.0),
            is_relative: limit.is_relative(),
            ..Combination::of_size(model)
        };
        let model = match units.map(|units| model.with_uniform_capacity(units)) {
            None => Ok(model.clone()),
            Some(Ok(limited)) => Ok(limited),
            // Too little for the weights alone is an answer about this limit, not a mistake in the list.
            Some(Err(error @ ModelError::NoRoomForWeights { .. })) => {
                Err(error.in_words(|units, unit| amounts::memory(units.0, unit)))
            }
            Some(Err(_)) => Ok(limit.apply(model.clone())?),
        };
        Ok(Self { combination, size, model })
    }

    /// The memory limits of the devices.
    pub fn limit(&self, model: &Model) -> DeviceLimits {
        if let Some(limit) = self.combination.memory_limit {
            return DeviceLimits::Same(limit);
        }
        let mut limits = Device::all(model.devices()).map(|device| model.capacity(device));
        let first = limits.next().flatten();
        match (first, limits.all(|limit| limit == first)) {
            (None, true) => DeviceLimits::None,
            (Some(Units(limit)), true) => DeviceLimits::Same(limit),
            (_, false) => DeviceLimits::Several,
        }
    }
}

/// The memory limits of all devices, as a row of a table has room for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceLimits {
    /// No device has one.
    None,
    /// All devices have the same, in units.
    Same(i64),
    /// They differ.
    Several,
}

/// Says each of these beside the results, once.
pub fn note_each_once<'a>(notes: impl IntoIterator<Item = &'a String>) {
    let mut said: Vec<&String> = Vec::new();
    for text in notes {
        if !said.contains(&text) {
            note(text);
            said.push(text);
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: SweepArgs,
    }

    fn args(options: &str) -> SweepArgs {
        let words = ["x", "models/profiles/unit-v.toml"].into_iter().chain(options.split_whitespace());
        Line::parse_from(words).args
    }

    #[test]
    fn combinations_go_by_devices_then_microbatches_then_memory() {
        let sizes = args("--devices 4,2 --microbatches 8,6 --memory 50%,3").read().expect("combinations");
        let cases = sizes.iter().flat_map(|at| &at.cases).map(|case| {
            let of = &case.combination;
            (of.devices, of.microbatches, of.memory.as_deref(), of.memory_limit)
        });
        let expected: Vec<_> = [(4, 8, 4), (4, 6, 4), (2, 8, 2), (2, 6, 2)]
            .into_iter()
            .flat_map(|(d, m, half)| [(d, m, Some("50%"), Some(half)), (d, m, Some("3"), Some(3))])
            .collect();
        assert_eq!(cases.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn one_of_each_is_no_sweep() {
        assert!(args("").only().is_some());
        assert!(args("--devices 4 --microbatches 8 --memory 50%").only().is_some());
        for options in ["--devices 4,8", "--microbatches 4,8", "--memory 1,2"] {
            assert!(args(options).only().is_none(), "{options}");
        }
    }

    #[test]
    fn thousands_of_combinations_are_refused() {
        let list =
            |from: u32| (from..from + 40).map(|number| number.to_string()).collect::<Vec<_>>().join(",");
        let options = format!("--devices {} --microbatches {}", list(2), list(2));
        let error = args(&options).read().expect_err("1600 combinations");
        assert!(error.to_string().starts_with("1600 combinations"), "{error}");
    }
}
