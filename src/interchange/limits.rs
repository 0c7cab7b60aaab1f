//! What the runtimes cannot run.

use crate::model::{Device, Kind, Model, Pass, Placement, Shape, Stage};
use crate::replay::{Violation, replay};
use crate::schedule::Schedule;

use super::pytorch::ExportError;

/// Why a runtime cannot run a schedule, or not as it is written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CannotRun {
    /// Replay finds it wrong.
    #[error("it is not valid: {0}")]
    Invalid(Violation),
    /// So large that times do not fit the integers they are counted in.
    #[error("it is too large to be replayed")]
    TooLarge,
    /// A path with a line break, where the runtime's options are written one a line.
    #[error("the path {0:?} has a line break, but options are written one per line")]
    Path(String),
    /// One device is no pipeline.
    #[error("it has one device, but this runtime needs at least two")]
    OneDevice,
    /// Two pipelines over the same devices.
    #[error("microbatches go in two directions, but this runtime has one pipeline")]
    TwoDirections,
    /// The runtime places the stages itself, and otherwise.
    #[error("the placement is {shape}, but this runtime places stages {places}")]
    Placement {
        /// The placement of the schedule.
        shape: Shape,
        /// Those of the runtime.
        places: &'static str,
    },
    /// A recomputation.
    #[error("device {device}, position {position}: `{pass}` recomputes, which this runtime does by itself")]
    Recomputation {
        /// The device.
        device: Device,
        /// The position in its order, from 0.
        position: usize,
        /// The recomputation.
        pass: Pass,
    },
    /// An overlapped pair.
    #[error(
        "device {device}, position {position}: `{pass}` is overlapped, but this runtime runs passes one by one"
    )]
    Overlapped {
        /// The device.
        device: Device,
        /// The position of the pair's first pass in its order, from 0.
        position: usize,
        /// That pass.
        pass: Pass,
    },
    /// An offloaded activation.
    #[error("device {device}: `{pass}` is offloaded, which the format of this runtime cannot express")]
    Offloaded {
        /// The device.
        device: Device,
        /// The forward whose activation is offloaded.
        pass: Pass,
    },
    /// Microbatches overtake each other where the runtime keeps them in a queue.
    #[error(
        "device {device}, position {position}: `{pass}` comes before an earlier microbatch of its stage, but this runtime \
         keeps tensors in queues"
    )]
    OutOfTurn {
        /// The device.
        device: Device,
        /// The position in its order, from 0.
        position: usize,
        /// The pass.
        pass: Pass,
    },
    /// The runtime makes its own orders, and they are others.
    #[error(
        "device {device}, position {position}: the schedule has `{has}` where this runtime, which makes its orders \
         itself, runs `{runs}`"
    )]
    OwnOrder {
        /// The device.
        device: Device,
        /// The position in its order, from 0.
        position: usize,
        /// What the schedule has there.
        has: Pass,
        /// What the runtime runs.
        runs: Pass,
    },
    /// The runtime makes its own orders, but not for this number of microbatches.
    #[error(
        "{microbatches} microbatches are not a multiple of {devices} devices, but this runtime interleaves in groups \
         of that size"
    )]
    Microbatches {
        /// The number of microbatches.
        microbatches: u32,
        /// The number of devices.
        devices: u32,
    },
    /// The runtime makes its own orders, and none for this placement and number of microbatches is known.
    #[error("this runtime makes its orders itself, and what it would run here is not known")]
    OwnOrderUnknown,
    /// Messages that wait for each other in a cycle because passes take no time.
    #[error("some passes take no time, so groups of messages of this runtime would wait for each other")]
    Circular,
    /// Layers for another number of stages.
    #[error("layers are given for {given} stages, but there are {stages}")]
    Layers {
        /// For how many they are given.
        given: usize,
        /// The number of stages.
        stages: u32,
    },
    /// A stage without any layer where the runtime needs one.
    #[error("stage {0} has no layers, but this runtime runs an optimiser for every stage")]
    NoLayers(Stage),
    /// No layer at all.
    #[error("no stage has any layers")]
    NoModel,
    /// The layers of each stage are not known.
    #[error("the number of layers of each stage is required")]
    LayersUnknown,
    /// PyTorch's CSV cannot say it.
    #[error(transparent)]
    Csv(#[from] ExportError),
}

/// Whether a pipeline of several devices and one direction is placed in one of these shapes.
pub(super) fn placed(placement: &Placement, shapes: &[Shape], places: &'static str) -> Result<(), CannotRun> {
    if placement.directions() > 1 {
        return Err(CannotRun::TwoDirections);
    }
    if placement.devices() == 1 {
        return Err(CannotRun::OneDevice);
    }
    let shape = placement.shape();
    if shapes.contains(&shape) { Ok(()) } else { Err(CannotRun::Placement { shape, places }) }
}

/// Whether replay finds nothing wrong at unit times: no others make a valid order wrong.
pub(super) fn valid(schedule: &Schedule) -> Result<(), CannotRun> {
    let Ok(model) = Model::unit(schedule.placement().clone(), schedule.microbatches()) else {
        return Err(CannotRun::TooLarge);
    };
    match replay(&model, schedule).violations.into_iter().next() {
        None => Ok(()),
        Some(violation) => Err(CannotRun::Invalid(violation)),
    }
}

/// Whether all that runs are forwards and backwards, one at a time.
pub(super) fn plain(schedule: &Schedule) -> Result<(), CannotRun> {
    for device in Device::all(schedule.devices()) {
        let order = schedule.order(device);
        if let Some(position) = order.iter().position(|pass| pass.kind == Kind::R) {
            return Err(CannotRun::Recomputation { device, position, pass: order[position] });
        }
        if let Some(&position) = schedule.overlaps(device).first() {
            return Err(CannotRun::Overlapped { device, position, pass: order[position] });
        }
        if let Some(offloaded) = schedule.offloads(device).first() {
            return Err(CannotRun::Offloaded { device, pass: offloaded.pass });
        }
    }
    Ok(())
}

/// The layers of every stage, one at least in all. One number means all stages.
pub(super) fn layers_by_stage(given: &[u32], placement: &Placement) -> Result<Vec<u32>, CannotRun> {
    let stages = placement.stages();
    let layers = match *given {
        [all] => vec![all; stages as usize],
        _ if given.len() == stages as usize => given.to_vec(),
        _ => return Err(CannotRun::Layers { given: given.len(), stages }),
    };
    if layers.iter().all(|&count| count == 0) { Err(CannotRun::NoModel) } else { Ok(layers) }
}
