//! Block families: building blocks for every number of devices, with offsets that are formulas in
//! the device index `i` and the number of devices `d`.
//!
//! A family is written in a TOML file (`models/blocks/`). Its promises about every `d` are formulas too, so they can be
//! tested at any one `d` and proved for all.

mod bubble_free;
mod file;
mod formula;
mod shipped;
mod syntax;
mod weight;

pub use bubble_free::BubbleFree;
pub use file::{FormulaFileError, parse, print};
pub use formula::{Comparison, Condition, EvaluationError, Formula, Variable};
pub use shipped::{SHIPPED, shipped};
pub use syntax::{FormulaError, FormulaProblem, Promise, parse_promise};
pub(crate) use syntax::{Language, MAX_NESTING, Parser, Token, Vocabulary};
#[cfg(test)]
pub(crate) use syntax::{MAX_LENGTH, parse_condition, parse_formula};

use crate::model::{
    Costs, Device, Kind, Model, ModelError, Pass, Placement, PlacementError, Stage, Ticks, Units,
};

use super::{Block, BlockError};

/// A building block for every number of devices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Family {
    /// What it is called.
    pub name: String,
    /// Where its offsets come from.
    pub source: Option<String>,
    /// Which device holds which stages.
    pub layout: Layout,
    /// The interval T, in ticks.
    pub interval: Ticks,
    /// The numbers of devices it is made for: a condition on `d`.
    pub domain: Condition,
    /// What holds on every device `i` for every `d` of the domain.
    pub promises: Vec<Condition>,
    /// For which durations the order of the block has no bubble in its steady phase, for every `d` of the
    /// domain: for all with one of these conditions.
    pub bubble_free: Vec<BubbleFree>,
    /// How long the passes of a stage take.
    pub durations: Durations,
    /// The offsets. Every chunk has F, and either B or I; W may be missing.
    pub passes: Vec<Offset>,
}

/// The form of a placement that exists for every number of devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Stage `i` on device `i`.
    Linear,
    /// Chunk `c` of device `i` is stage `c*d + i`; two chunks or more.
    Looped(u32),
    /// Chunk 0 of device `i` is stage `i`, chunk 1 is stage `2d-1-i`.
    V,
}

impl Layout {
    /// The number of stages on a device.
    #[must_use]
    pub const fn chunks(self) -> u32 {
        match self {
            Self::Linear => 1,
            Self::Looped(chunks) => chunks,
            Self::V => 2,
        }
    }

    /// The placement over a number of devices.
    ///
    /// # Errors
    /// When there is no device, or too many.
    pub fn placement(self, devices: u32) -> Result<Placement, PlacementError> {
        match self {
            Self::Linear => Placement::linear(devices),
            Self::Looped(chunks) => Placement::looped(devices, chunks),
            Self::V => Placement::v(devices),
        }
    }
}

/// How long the passes of a stage take, the same for every stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Durations {
    /// Of F, and of R.
    pub forward: Ticks,
    /// Of I.
    pub backward_input: Ticks,
    /// Of W. B takes as long as I and W together.
    pub backward_weight: Ticks,
}

/// The offset of a pass on every device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offset {
    /// The kind of the pass.
    pub kind: Kind,
    /// Its chunk.
    pub chunk: u32,
    /// When it starts in the first copy, in ticks: a formula over `i` and `d`.
    pub at: Formula,
}

/// A promise that does not hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{promise}` is false on device {device} of {devices}, whose peak is {peak}")]
pub struct BrokenPromise {
    /// The promise.
    pub promise: Condition,
    /// The number of devices, d.
    pub devices: u32,
    /// The device, i.
    pub device: Device,
    /// The exact steady-state peak memory of the device.
    pub peak: Units,
}

/// Why a family has no block at some number of devices.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FamilyError {
    /// The family is not defined for this number of devices.
    #[error("the family is made for `{domain}`, not for {devices} devices")]
    OutsideDomain {
        /// The number of devices asked for.
        devices: u32,
        /// The domain.
        domain: Condition,
    },
    /// The domain cannot be evaluated.
    #[error("the domain has no value for {devices} devices: {error}")]
    Domain {
        /// The number of devices asked for.
        devices: u32,
        /// Why not.
        error: EvaluationError,
    },
    /// A promise cannot be evaluated.
    #[error("`{promise}` has no value on device {device} of {devices}: {error}")]
    Promise {
        /// The promise.
        promise: Condition,
        /// The number of devices.
        devices: u32,
        /// The device.
        device: Device,
        /// Why not.
        error: EvaluationError,
    },
    /// An offset cannot be evaluated.
    #[error("the offset of {kind} of chunk {chunk} has no value on device {device} of {devices}: {error}")]
    Offset {
        /// The kind of the pass.
        kind: Kind,
        /// Its chunk.
        chunk: u32,
        /// The device.
        device: Device,
        /// The number of devices.
        devices: u32,
        /// Why not.
        error: EvaluationError,
    },
    /// An offset for a chunk that the placement does not have.
    #[error("there is an offset for chunk {chunk}, but a device has {chunks} chunks, counted from 0")]
    Chunk {
        /// The chunk.
        chunk: u32,
        /// The number of chunks.
        chunks: u32,
    },
    /// No free place for a W whose offset was left out.
    #[error("device {device} has no room left in the interval for `{pass}`")]
    NoRoom {
        /// The device.
        device: Device,
        /// The W.
        pass: Pass,
    },
    /// There is no such placement.
    #[error(transparent)]
    Placement(#[from] PlacementError),
    /// The durations are no model.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The offsets are no block.
    #[error(transparent)]
    Block(#[from] BlockError),
}

impl Family {
    /// The family's own model at a number of devices: its durations, no latency, one unit of
    /// activation per stage from F (from R where there is one) to W, no capacity.
    ///
    /// # Errors
    /// When the number of devices is outside the domain, or the whole is too large.
    pub fn model(&self, devices: u32, microbatches: u32) -> Result<Model, FamilyError> {
        let placement = self.placement(devices)?;
        let stages = placement.stages() as usize;
        let unit = Model::unit(placement.clone(), microbatches)?;
        let costs = Costs {
            forward: vec![self.durations.forward; stages],
            backward_input: vec![self.durations.backward_input; stages],
            backward_weight: vec![self.durations.backward_weight; stages],
            ..unit.costs().clone()
        };
        let (name, source, memory) = (self.name.clone(), self.source.clone(), unit.memory().clone());
        Ok(Model::new(name, source, placement, microbatches, costs, memory)?)
    }

    /// The block at a number of devices. Whether it can be repeated is for
    /// [`faults`](Block::faults) to say.
    ///
    /// A W without an offset starts as early after its I as its device has room for it modulo the
    /// interval, later chunks first (Pipeline Parallelism with Controllable Memory, arXiv
    /// 2405.15362).
    ///
    /// # Errors
    /// When the number of devices is outside the domain, an offset cannot be evaluated, or there is
    /// no room for a W.
    pub fn block(&self, devices: u32) -> Result<Block, FamilyError> {
        let placement = self.placement(devices)?;
        if self.interval <= Ticks::ZERO {
            return Err(BlockError::NotPositive("interval").into());
        }
        let mut offsets = Vec::new();
        for device in Device::all(devices) {
            offsets.extend(self.offsets_of(&placement, device)?);
        }
        Ok(Block::new(placement, self.interval, offsets)?)
    }

    /// The promises that are false at a number of devices, at the first device where they are.
    ///
    /// # Errors
    /// When there is no block, or a promise cannot be evaluated.
    pub fn broken_promises(&self, devices: u32) -> Result<Vec<BrokenPromise>, FamilyError> {
        let block = self.block(devices)?;
        let model = self.model(devices, 1)?;
        let peaks = block.steady_peak(&model);
        let mut broken = Vec::new();
        for promise in &self.promises {
            for (device, &peak) in Device::all(devices).zip(&peaks) {
                let values = |variable| {
                    Some(match variable {
                        Variable::Device => i64::from(device.0),
                        Variable::Devices => i64::from(devices),
                        Variable::Peak => peak.0,
                        Variable::Interval => self.interval.0,
                        Variable::Bubble => self.interval.0.checked_sub(model.work(device).0)?,
                        Variable::PeakOf1f1b => i64::from(devices) * i64::from(self.layout.chunks()),
                        Variable::Forward | Variable::BackwardInput | Variable::BackwardWeight => {
                            return None;
                        }
                    })
                };
                let holds = promise.evaluate(&values).map_err(|error| {
                    let promise = promise.clone();
                    FamilyError::Promise { promise, devices, device, error }
                })?;
                if !holds {
                    broken.push(BrokenPromise { promise: promise.clone(), devices, device, peak });
                    break;
                }
            }
        }
        Ok(broken)
    }

    fn placement(&self, devices: u32) -> Result<Placement, FamilyError> {
        let values = |variable| (variable == Variable::Devices).then_some(i64::from(devices));
        let inside = self.domain.evaluate(&values).map_err(|error| FamilyError::Domain { devices, error })?;
        if !inside {
            return Err(FamilyError::OutsideDomain { devices, domain: self.domain.clone() });
        }
        Ok(self.layout.placement(devices)?)
    }

    /// The offsets of the passes of a device, those of W that were left out included.
    fn offsets_of(
        &self,
        placement: &Placement,
        device: Device,
    ) -> Result<Vec<(Stage, Kind, Ticks)>, FamilyError> {
        let (devices, stages) = (placement.devices(), placement.stages_of(device));
        let values = |variable| match variable {
            Variable::Device => Some(i64::from(device.0)),
            Variable::Devices => Some(i64::from(devices)),
            _ => None,
        };
        let mut offsets = Vec::new();
        for Offset { kind, chunk, at } in &self.passes {
            let (kind, chunk) = (*kind, *chunk);
            let chunks = self.layout.chunks();
            let &stage = stages.get(chunk as usize).ok_or(FamilyError::Chunk { chunk, chunks })?;
            let at = at.evaluate(&values).map_err(|error| FamilyError::Offset {
                kind,
                chunk,
                device,
                devices,
                error,
            })?;
            offsets.push((stage, kind, Ticks(at)));
        }
        weight::complete(&mut offsets, stages, self.interval, self.durations)
            .map_err(|pass| FamilyError::NoRoom { device, pass })?;
        Ok(offsets)
    }
}

impl Durations {
    /// How long a pass of this kind takes.
    fn of(self, kind: Kind) -> Ticks {
        match kind {
            Kind::F | Kind::R => self.forward,
            Kind::I => self.backward_input,
            Kind::W => self.backward_weight,
            Kind::B => self.backward_input + self.backward_weight,
        }
    }
}

#[cfg(test)]
mod tests;
