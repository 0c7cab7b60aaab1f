//! A block family in place of a schedule or of a model: at a number of devices and of microbatches it gives both.

use std::path::Path;

use super::error::Error;
use super::input::{Input, read_model};
use super::size::{Size, check_size, resized};
use crate::block::family::{Family, FamilyError};
use crate::estimate::Work;
use crate::model::{Model, Placement};
use crate::schedule::{Provenance, Schedule};

/// What a command starts from: the costs of stages, or a block that brings its own.
#[derive(Debug)]
pub enum Base {
    /// A model file.
    Model(Box<Model>),
    /// A block family file.
    Family(Box<Family>),
}

impl Base {
    /// Reads a model file or a block family file.
    ///
    /// # Errors
    /// When it cannot be read, or is neither.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let input = Input::read(path)?;
        if input.is_family() {
            return Ok(Self::Family(Box::new(input.family()?)));
        }
        Ok(Self::Model(Box::new(input.model()?)))
    }

    /// The family, if it is one.
    pub const fn family(&self) -> Option<&Family> {
        match self {
            Self::Family(family) => Some(family),
            Self::Model(_) => None,
        }
    }

    /// The model at a size; of a family, its own model.
    ///
    /// # Errors
    /// When there is no such size, or a family is given without one.
    pub fn at(&self, size: Size) -> Result<Model, Error> {
        match self {
            Self::Model(model) => size.apply(Model::clone(model)),
            Self::Family(family) => own_model(family, size),
        }
    }
}

/// The schedule of a family at one size.
#[derive(Debug)]
pub struct Expanded {
    /// The block, repeated for each microbatch; each device runs its passes in the order of their starts.
    pub schedule: Schedule,
    /// The family's own model: its durations, one unit of activation for each stage, no latency, no memory limit.
    pub model: Model,
    /// Why copies of the block cannot run as stamped, if they cannot: then passes run later than their copies say.
    pub fault: Option<String>,
}

/// Repeats the block of a family.
///
/// # Errors
/// When the size is missing, or the family has no block of that size.
pub fn expanded(family: &Family, size: Size) -> Result<Expanded, Error> {
    let model = own_model(family, size)?;
    check_size(&model, Work::Replay, None)?;
    let block = family.block(model.devices()).map_err(|error| no_block(family, model.devices(), &error))?;
    let fault = block.faults(&model).first().map(|fault| {
        format!("copies of this block collide ({fault}), so the schedule runs them in the order of their starts, but later")
    });
    let mut schedule = block
        .expand(&model, model.microbatches())
        .map_err(|error| Error::Usage { message: error.to_string(), help: None })?;
    schedule.name = Some(family.name.clone());
    schedule.provenance = Some(Provenance {
        tool: concat!("bubbleproof ", env!("CARGO_PKG_VERSION")).to_owned(),
        engine: format!("block family {}", family.name),
        ..Provenance::default()
    });
    Ok(Expanded { schedule, model, fault })
}

/// The model of a file, at the size of a family's schedule.
///
/// # Errors
/// When the file is wrong, or the model has no such size or another placement.
pub fn model_of_size(schedule: &Schedule, path: &Path) -> Result<Model, Error> {
    let model = resized(&read_model(path)?, schedule.devices())?;
    let model = model
        .with_microbatches(schedule.microbatches())
        .map_err(|error| Error::Usage { message: error.to_string(), help: None })?;
    placed_alike(model, schedule.placement())
}

/// A model, if it has the placement of a block family.
///
/// # Errors
/// When it has another one.
pub fn placed_alike(model: Model, placement: &Placement) -> Result<Model, Error> {
    if model.placement() != placement {
        return Err(Error::usage(
            format!(
                "the block family has {} placement, but `{}` has {} placement",
                placement.shape(),
                model.name(),
                model.placement().shape()
            ),
            "give a model with the placement of the family, or leave --model out: the family has durations of its own",
        ));
    }
    Ok(model)
}

/// The family's own model at a size.
///
/// # Errors
/// When the size is missing, or the family does not exist at that size.
fn own_model(family: &Family, size: Size) -> Result<Model, Error> {
    let (Some(devices), Some(microbatches)) = (size.devices(), size.microbatches()) else {
        return Err(without_size(family, size));
    };
    family.model(devices, microbatches).map_err(|error| no_block(family, devices, &error))
}

fn without_size(family: &Family, size: Size) -> Error {
    let (what, add) = match (size.devices(), size.microbatches()) {
        (None, None) => ("devices and of microbatches", "--devices N --microbatches N"),
        (None, Some(_)) => ("devices", "--devices N"),
        (Some(_), _) => ("microbatches", "--microbatches N"),
    };
    Error::usage(
        format!("{} is a block family, so the number of {what} is needed", family.name),
        format!(
            "add {add}; `bubbleproof verify FAMILY --devices N --every-m` proves it for every number of microbatches"
        ),
    )
}

/// That a family has no block for a number of devices.
pub fn no_block(family: &Family, devices: u32, error: &FamilyError) -> Error {
    Error::Usage {
        message: format!("{} has no block for {devices} devices: {error}", family.name),
        help: None,
    }
}
