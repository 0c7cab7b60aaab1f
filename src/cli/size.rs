//! The size of a pipeline, in place of the one its model file states.

use std::path::PathBuf;

use clap::Args;

use super::error::Error;
use super::input::read_model;
use super::memory_limit::MemoryLimit;
use super::output::note;
use crate::model::{Device, Model, Units};

/// A model with the options that change its size and its capacities.
#[derive(Debug, Args)]
pub struct ModelArgs {
    /// The model file (TOML) with times and memory; `-` reads standard input
    #[arg(value_name = "MODEL")]
    model: PathBuf,

    #[command(flatten)]
    size: Size,

    #[command(flatten)]
    memory_limit: MemoryLimit,
}

impl ModelArgs {
    /// Reads the model, at the size and with the capacities asked for.
    ///
    /// # Errors
    /// When the file is wrong, or the model cannot have the size or the capacity.
    pub fn read(&self) -> Result<Model, Error> {
        self.memory_limit.apply(self.size.apply(read_model(&self.model)?)?)
    }

    /// Reads the model as [`read`](Self::read) does, for what is done with one direction only.
    ///
    /// # Errors
    /// As there, and when microbatches go in two directions.
    pub fn read_one_way(&self) -> Result<Model, Error> {
        self.read().and_then(one_way)
    }

    /// The number of devices asked for in place of the model's.
    pub const fn devices(&self) -> Option<u32> {
        self.size.devices
    }

    /// The number of microbatches asked for in place of the model's.
    pub const fn microbatches(&self) -> Option<u32> {
        self.size.microbatches
    }

    /// The capacity asked for in place of the model's.
    pub fn memory(&self, model: &Model) -> Option<Units> {
        self.memory_limit.units(model)
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
        "compare, verify, replay and render support two directions",
    ))
}

/// The model for commands that count activations alone; a note says that weights are left out.
pub fn activations_only(model: &Model) -> Model {
    if Device::all(model.devices()).any(|device| model.resident(device) > Units::ZERO) {
        note("activation peaks leave weights out; their memory is subtracted from the limits");
    }
    model.without_weights()
}

/// The options that change a model's size.
#[derive(Debug, Args)]
pub struct Size {
    /// The number of devices, in place of the model's; needs a model that is the same on every stage
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    devices: Option<u32>,

    /// The number of microbatches, in place of the model's
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    microbatches: Option<u32>,
}

impl Size {
    /// Whether another size was asked for.
    pub const fn is_given(&self) -> bool {
        self.devices.is_some() || self.microbatches.is_some()
    }

    /// The model at this size.
    ///
    /// # Errors
    /// When it has no such size.
    pub fn apply(&self, mut model: Model) -> Result<Model, Error> {
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
