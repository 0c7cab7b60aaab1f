//! The size of a pipeline, in place of the one its model file states.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;

use super::error::Error;
use super::family_input::Base;
use super::input::read_model;
use super::job::JobFile;
use super::list::{List, count, counts};
use super::memory_limit::MemoryLimit;
use super::output::note;
use crate::catalog;
use crate::estimate::{self, Work};
use crate::model::{Device, Model, Placement, StepEnd, Units};
use crate::replay::replay;
use crate::schedule::Schedule;

/// A model with the options that change its size and its capacities.
#[derive(Debug, Clone, Args)]
pub struct ModelArgs {
    /// The model file (TOML) with times and memory; `-` reads standard input
    #[arg(value_name = "MODEL")]
    model: PathBuf,

    #[command(flatten)]
    size: Size,

    #[command(flatten)]
    memory_limit: MemoryLimit,
}

/// What a file describes.
pub enum Problem {
    /// Stages with their costs.
    Model(Box<Model>),
    /// Layers that are still to be cut into stages.
    Job(Box<JobFile>),
}

impl ModelArgs {
    /// A model file, with what replaces its size and its capacities.
    pub const fn new(model: PathBuf, size: Size, memory_limit: MemoryLimit) -> Self {
        Self { model, size, memory_limit }
    }

    /// Reads the file: a model at the size and with the capacities asked for, or a job, which says its size and its memory
    /// itself.
    ///
    /// # Errors
    /// When the file is wrong, the model cannot have the size or the capacity, or either is asked of a job.
    pub fn read_model_or_job(&self) -> Result<Problem, Error> {
        match JobFile::read_if_job(&self.model)? {
            Ok(_) if self.size.is_given() || self.memory_limit.is_given() => Err(Error::usage(
                "--devices, --microbatches and --memory are for model files, but this is a job file",
                "set `machine.devices`, `machine.memory` and `choices.global_batch` in the job file",
            )),
            Ok(file) => Ok(Problem::Job(Box::new(file))),
            Err(input) => {
                Ok(Problem::Model(Box::new(self.memory_limit.apply(self.size.apply(input.model()?)?)?)))
            }
        }
    }

    /// Reads the model, at the size and with the capacities asked for.
    ///
    /// # Errors
    /// When the file is wrong, or the model cannot have the size or the capacity.
    pub fn read(&self) -> Result<Model, Error> {
        self.memory_limit.apply(self.size.apply(read_model(&self.model)?)?)
    }

    /// The model of a file that has been read, at the size and with the capacities asked for.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn of(&self, base: &Base) -> Result<Model, Error> {
        self.memory_limit.apply(base.at(self.size)?)
    }

    /// Reads the model as [`read`](Self::read) does, for what is done with [passes alone](passes_alone) only.
    ///
    /// # Errors
    /// As there, and when the model says more.
    pub fn read_passes_alone(&self) -> Result<Model, Error> {
        self.read().and_then(passes_alone)
    }

    /// The size asked for in place of the model's.
    pub const fn size(&self) -> Size {
        self.size
    }

    /// The capacity asked for in place of the model's, once the model [has it](Self::read).
    pub fn memory(&self, model: &Model) -> Option<Units> {
        if self.memory_limit.is_given() { model.capacity(Device(0)) } else { None }
    }
}

/// The model, if microbatches go in one direction.
///
/// # Errors
/// When they go in two.
pub fn one_way(model: Model) -> Result<Model, Error> {
    if model.placement().directions() == 1 {
        return Ok(model);
    }
    Err(Error::usage(
        format!(
            "the placement of `{}` is {}, but this command supports only one direction",
            model.name(),
            model.placement().shape()
        ),
        "optimize, compare, verify, replay, check and render support two directions",
    ))
}

/// The model, if microbatches go in one direction and it says no more than what passes take and when their results arrive.
///
/// # Errors
/// When they go in two, or it [says more](Model::beyond_passes).
pub fn passes_alone(model: Model) -> Result<Model, Error> {
    let model = one_way(model)?;
    match model.beyond_passes() {
        None => Ok(model),
        Some(tables) => Err(Error::usage(
            format!("`{}` has {tables}, but this command knows passes and latencies alone", model.name()),
            "optimize, compare, verify, replay, check and render support these tables; to go without, remove them",
        )),
    }
}

/// Refuses a model with an end of the step, for what knows passes alone.
///
/// # Errors
/// When the end of the step takes time.
pub fn refuse_step(model: &Model) -> Result<(), Error> {
    if !model.step().is_some_and(StepEnd::takes_time) {
        return Ok(());
    }
    Err(Error::usage(
        format!("`{}` has [step], which this command does not know", model.name()),
        "optimize, verify, replay, check, render and `bubbleproof compare` support it; to go without, remove that table",
    ))
}

/// Refuses a model in which gathering weights takes time or memory, for what knows passes alone.
///
/// # Errors
/// When it does.
pub fn refuse_sharding(model: &Model) -> Result<(), Error> {
    if !model.has_gathers() && !model.has_gathered_memory() {
        return Ok(());
    }
    Err(Error::usage(
        format!("`{}` has [sharding], which this command does not know", model.name()),
        "optimize, compare, verify, replay, check and render support it; to go without, remove that table",
    ))
}

/// Refuses a model in which activations can be offloaded, for what knows no copies.
///
/// # Errors
/// When some can.
pub fn refuse_offload(model: &Model) -> Result<(), Error> {
    if !model.can_offload() {
        return Ok(());
    }
    Err(Error::usage(
        format!("`{}` has [offload], which this command does not know", model.name()),
        "optimize, compare, verify, replay, check and render support it; to go without, remove that table",
    ))
}

/// Refuses a schedule that offloads, for what shows or writes passes alone.
///
/// # Errors
/// When something is offloaded.
pub fn refuse_offloads(schedule: &Schedule, what: &str, help: &str) -> Result<(), Error> {
    match schedule.offload_count() {
        0 => Ok(()),
        _ => Err(Error::usage(format!("the schedule offloads activations, which {what}"), help)),
    }
}

/// The model for commands that count activations alone; a note says that weights are left out.
pub fn activations_only(model: &Model) -> Model {
    if Device::all(model.devices()).any(|device| model.resident(device) > Units::ZERO) {
        note("activation peaks leave weights out; their memory is subtracted from the limits");
    }
    model.without_weights()
}

/// The options that change a model's size.
#[derive(Debug, Clone, Copy, Args)]
pub struct Size {
    /// The number of devices, in place of the model's; needs a model that is the same on every stage
    #[arg(long, value_name = "N", value_parser = count)]
    devices: Option<u32>,

    /// The number of microbatches, in place of the model's
    #[arg(long, value_name = "N", value_parser = count)]
    microbatches: Option<u32>,
}

/// The options that change a model's size, or give it several, one after the other.
#[derive(Debug, Args)]
pub struct Sizes {
    /// The number of devices, in place of the model's, or a list; needs a model that is the same on every stage
    #[arg(long, value_name = "N,...", value_parser = counts)]
    devices: Option<List<u32>>,

    /// The number of microbatches, in place of the model's, or a list
    #[arg(long, value_name = "N,...", value_parser = counts)]
    microbatches: Option<List<u32>>,
}

impl Sizes {
    /// All of them: each number of devices with each number of microbatches, in the order given.
    pub fn all(&self) -> Vec<Size> {
        let of = |list: &Option<List<u32>>| -> Vec<Option<u32>> {
            list.as_ref().map_or_else(|| vec![None], |list| list.iter().copied().map(Some).collect())
        };
        itertools::iproduct!(of(&self.devices), of(&self.microbatches))
            .map(|(devices, microbatches)| Size { devices, microbatches })
            .collect()
    }
}

impl Size {
    /// A size of which either number may be left to the model.
    pub const fn new(devices: Option<u32>, microbatches: Option<u32>) -> Self {
        Self { devices, microbatches }
    }

    /// The number of devices asked for in place of the model's.
    pub const fn devices(self) -> Option<u32> {
        self.devices
    }

    /// The number of microbatches asked for in place of the model's.
    pub const fn microbatches(self) -> Option<u32> {
        self.microbatches
    }

    /// Whether another size was asked for.
    pub const fn is_given(self) -> bool {
        self.devices.is_some() || self.microbatches.is_some()
    }

    /// The model at this size.
    ///
    /// # Errors
    /// When it has no such size.
    pub fn apply(self, mut model: Model) -> Result<Model, Error> {
        if let Some(devices) = self.devices {
            model = resized(&model, devices)?;
        }
        if let Some(microbatches) = self.microbatches {
            model = model.with_microbatches(microbatches).map_err(|error| Error::Usage {
                message: format!("--microbatches {microbatches}: {error}"),
                help: None,
            })?;
        }
        Ok(model)
    }
}

/// The model with another number of devices.
///
/// # Errors
/// When it has no such size.
pub fn resized(model: &Model, devices: u32) -> Result<Model, Error> {
    model
        .resized(devices)
        .map_err(|error| Error::Usage { message: format!("--devices {devices}: {error}"), help: None })
}

/// Refuses what takes more memory than there is, and what surely takes longer than the limit, before it is begun.
///
/// # Errors
/// With an estimate, and what to change.
pub fn check_size(model: &Model, work: Work, limit: Option<Duration>) -> Result<(), Error> {
    let fewer = |most: u64| {
        let advice = match most {
            0 => "choose fewer devices".to_owned(),
            _ => format!("about {most} microbatches would fit; longer schedules repeat their steady phase"),
        };
        estimate::suspicious_unit(model).map_or(advice.clone(), |unit| format!("{unit}; {advice}"))
    };
    work.check(model, estimate::available())
        .map_err(|error| Error::usage(error.to_string(), fewer(error.most_microbatches)))?;
    let passes = u64::from(model.stages()) * u64::from(model.microbatches()) * 3;
    let Some(limit) = limit.filter(|_| work != Work::Blocks && passes >= MANY_PASSES) else { return Ok(()) };
    let least = seconds_for(passes);
    if least <= limit.as_secs_f64() {
        return Ok(());
    }
    Err(Error::usage(
        format!(
            "{} devices and {} microbatches are {passes} passes: to make and check a single schedule of them takes \
             about {} s, longer than the time limit of {} s",
            model.devices(),
            model.microbatches(),
            least.ceil(),
            limit.as_secs_f64()
        ),
        "allow more with --time-limit, or choose fewer devices or microbatches",
    ))
}

/// With fewer passes than this, the time is not estimated.
const MANY_PASSES: u64 = 500_000;

/// Estimates the least time in seconds that it takes to make and check a schedule with this many passes, from the time
/// that a small schedule takes: the least of three times, for the first one is slow and others may be interrupted.
fn seconds_for(passes: u64) -> f64 {
    const DEVICES: u32 = 64;
    const MICROBATCHES: u32 = 256;
    let small =
        Placement::linear(DEVICES).ok().and_then(|placement| Model::unit(placement, MICROBATCHES).ok());
    let Some(model) = small else { return 0.0 };
    let spent = least_of_three(|| {
        let begun = Instant::now();
        let schedule = catalog::find("zb-h1")?.generate(&model).ok()?;
        replay(&model, &schedule).is_valid().then(|| begun.elapsed().as_secs_f64())
    });
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    let share = passes as f64 / f64::from(DEVICES * MICROBATCHES * 3);
    spent.unwrap_or(0.0) * share
}

/// The least of three measurements, or `None` if one of them fails.
fn least_of_three(mut measure: impl FnMut() -> Option<f64>) -> Option<f64> {
    let (first, second, third) = (measure()?, measure()?, measure()?);
    Some(first.min(second).min(third))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_slow_run_refuses_nothing() {
        for times in [[9.0, 1.0, 1.5], [1.0, 9.0, 9.5], [2.0, 1.5, 1.0]] {
            let mut left = times.into_iter();
            assert_eq!(least_of_three(|| left.next()), Some(1.0), "{times:?}");
        }
        let mut left = [Some(1.0), None, Some(2.0)].into_iter();
        assert_eq!(least_of_three(|| left.next().flatten()), None);
    }

    #[test]
    fn what_surely_takes_longer_than_the_limit_is_refused_at_once() {
        let model = |microbatches| {
            Model::unit(Placement::linear(64).expect("a placement"), microbatches).expect("a model")
        };
        let limit = Some(Duration::from_nanos(1));
        let error = check_size(&model(4096), Work::Replay, limit).expect_err("786432 passes take longer");
        assert!(error.to_string().contains("786432 passes"), "{error}");
        assert!(check_size(&model(1024), Work::Replay, limit).is_ok(), "that is soon tried");
        assert!(check_size(&model(4096), Work::Replay, Some(Duration::from_secs(3600))).is_ok());
        assert!(check_size(&model(4096), Work::Replay, None).is_ok());
    }
}
