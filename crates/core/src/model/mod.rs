//! The problem: passes, placement, costs, memory, and the file that states them.
//!
//! A [`Model`] says what a pipeline must compute and what that takes; it says nothing about the
//! order in which devices work, which is a [`Schedule`](crate::schedule::Schedule).
//!
//! ```
//! use bubbleproof_core::model::{self, Kind, Stage, Ticks};
//!
//! let model = model::parse(
//!     r#"
//!     name = "small"
//!     [pipeline]
//!     devices = 4
//!     placement = "linear"
//!     microbatches = 8
//!     [time]
//!     unit = "us"
//!     forward = 300
//!     backward_input = 310
//!     backward_weight = 290
//!     communication = 20
//!     [memory]
//!     unit = "MiB"
//!     activation = 1700
//!     retained_for_weight = 1000
//!     capacity = 6800
//!     "#,
//! )?;
//! assert_eq!(model.stages(), 4);
//! assert_eq!(model.duration(Stage(0), Kind::B), Ticks(600));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod amount;
mod check;
mod costs;
mod file;
mod index;
mod merge;
mod messages;
mod offload;
mod overlap;
mod parts;
mod parts_file;
mod pass;
mod placement;
mod plain;
mod print;
mod quantities;
mod ranges;
pub mod reading;
mod recompute;
mod recompute_file;
mod rescale;
mod sharding;
mod step;
mod transient;
mod transient_file;
mod variants;

use num_rational::Ratio;

use self::quantities::PlainNumbers;

pub use amount::{Ticks, Units};
pub use check::ModelError;
pub use costs::{Costs, Memory};
pub(crate) use file::parse_stated;
pub use file::{ModelFile, parse, read};
pub use index::{Device, Microbatch, Stage};
pub use merge::Launched;
pub use messages::{Link, Links, Messages};
pub use offload::Offload;
pub use overlap::{Overlap, PairDurations};
pub use parts::{Part, PartResource, PartsError, PartsFault, PartsPlace, PassParts};
pub use pass::{Kind, Pass, PassError};
pub use placement::{Placement, PlacementError, Shape};
pub use print::print;
pub use quantities::Scaled;
pub use recompute::{Recompute, RecomputeLevel};
pub use sharding::Sharding;
pub use step::{BeyondPasses, StepEnd};
pub use transient::{Transient, Workspace};

/// A pipeline to schedule: placement, microbatches, costs and memory, checked to be consistent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Model {
    name: String,
    source: Option<String>,
    placement: Placement,
    microbatches: u32,
    costs: Costs,
    low: Option<Box<Costs>>,
    memory: Memory,
    overlap: Overlap,
    /// How long pairs of passes with parts take; nothing where no pass has parts.
    merges: Option<Box<merge::Merges>>,
    messages: Option<Messages>,
    step: Option<StepEnd>,
    offload: Option<Offload>,
    sharding: Option<Sharding>,
    transient: Transient,
    /// What it says of recomputation besides the checkpoint of its memory; nothing where that is all.
    recompute: Option<Box<recompute::Levels>>,
    plain_numbers: PlainNumbers,
}

impl Model {
    /// Upper limit on stages times microbatches. Keeps pass numbers within 32 bits.
    pub const MAX_CELLS: u64 = 1 << 28;

    /// How many pairs of stages of one device there may be in all where [pairs](Overlap) have durations of their own.
    pub const MAX_STAGE_PAIRS: u128 = 1 << 22;

    /// Upper limit on the total of all ticks, and of all units, in a model. Small multiples of it fit into 64
    /// bits too.
    pub const MAX_TOTAL: i64 = 1 << 58;

    /// A model from its parts. Overlapped pairs take as long as their passes one after the other, messages keep no link busy,
    /// nothing follows the passes, no activation leaves its device, weights are whole, passes need no more memory than what
    /// is kept, and R takes as long as F.
    ///
    /// # Errors
    /// When a list has the wrong length, an amount is negative, or the whole could overflow.
    pub fn new(
        name: String,
        source: Option<String>,
        placement: Placement,
        microbatches: u32,
        costs: Costs,
        memory: Memory,
    ) -> Result<Self, ModelError> {
        let (overlap, transient) = (Overlap::default(), Transient::default());
        let (merges, messages, step, offload) = (None, None, None, None);
        let (sharding, low, recompute) = (None, None, None);
        let plain_numbers = PlainNumbers::default();
        let model = Self {
            name,
            source,
            placement,
            microbatches,
            costs,
            low,
            memory,
            overlap,
            merges,
            messages,
            step,
            offload,
            sharding,
            transient,
            recompute,
            plain_numbers,
        };
        check::check(&model)?;
        Ok(model)
    }

    /// A model whose stages all cost the same: `[F, I, W, latency]` in ticks. A stage holds one unit
    /// from F to W; no recomputation, no capacity.
    ///
    /// # Errors
    /// When a time is negative, there are too many stages and microbatches, or no microbatch.
    pub fn equal_stages(
        placement: Placement,
        microbatches: u32,
        [forward, input, weight, latency]: [i64; 4],
    ) -> Result<Self, ModelError> {
        let stages = placement.stages() as usize;
        let costs = Costs {
            unit: "tick".to_owned(),
            forward: vec![Ticks(forward); stages],
            backward_input: vec![Ticks(input); stages],
            backward_weight: vec![Ticks(weight); stages],
            communication: vec![Ticks(latency); stages - 1],
        };
        let memory = Memory {
            unit: "stage-activation".to_owned(),
            activation: vec![Units(1); stages],
            retained_for_weight: vec![Units(1); stages],
            checkpoint: None,
            weights: vec![Units::ZERO; stages],
            capacity: vec![None; placement.devices() as usize],
        };
        let name = format!("equal-{forward}-{input}-{weight}");
        Self::new(name, None, placement, microbatches, costs, memory)
    }

    /// The default model: F, I, W and R take one tick, B two; no latency; a stage
    /// holds one unit from F to W, and a checkpoint of zero units if it is recomputed; no capacity.
    ///
    /// # Errors
    /// When there are too many stages and microbatches, or no microbatch.
    pub fn unit(placement: Placement, microbatches: u32) -> Result<Self, ModelError> {
        let Self { placement, microbatches, costs, memory, .. } =
            Self::equal_stages(placement, microbatches, [1, 1, 1, 0])?;
        let checkpoint = Some(vec![Units(0); placement.stages() as usize]);
        let memory = Memory { checkpoint, ..memory };
        Self::new("unit".to_owned(), None, placement, microbatches, costs, memory)
    }

    /// The ticks that a number without a unit means that is given beside the model, such as the start of a picture: a count of them, or
    /// of the unit that its file names, where the file's times were [scaled](Scaled). Nothing where it names none and the number
    /// is not zero.
    #[must_use]
    pub fn plain_ticks(&self, number: Ratio<i128>) -> Option<Ratio<i128>> {
        self.plain_numbers.ticks.of(number)
    }

    /// The units of memory that a number without a unit means that is given beside the model, such as a memory limit: a count of them,
    /// or of the unit that its file names, where the file's memory was [scaled](Scaled). Nothing where it names none and the
    /// number is not zero.
    #[must_use]
    pub fn plain_units(&self, number: Ratio<i128>) -> Option<Ratio<i128>> {
        self.plain_numbers.units.of(number)
    }

    /// What the model is called.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where its figures come from.
    #[must_use]
    pub fn source(&self) -> Option<&str> {
        self.source.as_deref()
    }

    /// Which device holds which stages.
    #[must_use]
    pub const fn placement(&self) -> &Placement {
        &self.placement
    }

    /// The number of devices, d.
    #[must_use]
    pub fn devices(&self) -> u32 {
        self.placement.devices()
    }

    /// The number of stages, S.
    #[must_use]
    pub fn stages(&self) -> u32 {
        self.placement.stages()
    }

    /// The number of microbatches, m.
    #[must_use]
    pub const fn microbatches(&self) -> u32 {
        self.microbatches
    }

    /// Durations and latencies; where they are [ranges](Self::low_ends), their high ends.
    #[must_use]
    pub const fn costs(&self) -> &Costs {
        &self.costs
    }

    /// Memory and capacities.
    #[must_use]
    pub const fn memory(&self) -> &Memory {
        &self.memory
    }

    /// The duration of a pass of this kind, in ticks; of an R, that at the first [level](Recompute).
    ///
    /// # Panics
    /// When there is no such stage.
    #[must_use]
    pub fn duration(&self, stage: Stage, kind: Kind) -> Ticks {
        let (costs, stage) = (&self.costs, stage.index());
        match kind {
            Kind::F => costs.forward[stage],
            Kind::R => self.recompute_duration(Stage::at(stage), 0),
            Kind::I => costs.backward_input[stage],
            Kind::W => costs.backward_weight[stage],
            Kind::B => costs.backward_input[stage] + costs.backward_weight[stage],
        }
    }

    /// The latency in ticks between a stage and the next one, in either direction: zero on one device.
    ///
    /// # Panics
    /// When `stage` is the last, or there is no such stage.
    #[must_use]
    pub fn latency_after(&self, stage: Stage) -> Ticks {
        let next = Stage(stage.0 + 1);
        if self.placement.device_of(stage) == self.placement.device_of(next) {
            Ticks::ZERO
        } else {
            self.costs.communication[stage.index()]
        }
    }

    /// How long one microbatch keeps a device busy, in ticks: F, I and W of its stages, without
    /// recomputation. With two directions, one microbatch of each.
    ///
    /// # Panics
    /// When there is no such device.
    #[must_use]
    pub fn work(&self, device: Device) -> Ticks {
        self.placement
            .stages_of(device)
            .iter()
            .map(|&stage| self.duration(stage, Kind::F) + self.duration(stage, Kind::B))
            .sum()
    }

    /// The [`work`](Self::work) of the busiest device: no steady phase has a shorter interval per microbatch.
    #[must_use]
    pub fn most_work(&self) -> Ticks {
        Device::all(self.devices()).map(|device| self.work(device)).max().unwrap_or_default()
    }

    /// The memory, in units, that one microbatch occupies on a stage from the start of its F to the end of
    /// its backward.
    ///
    /// # Panics
    /// When there is no such stage.
    #[must_use]
    pub fn activation(&self, stage: Stage) -> Units {
        self.memory.activation[stage.index()]
    }

    /// What I leaves for its W, in units, which is freed only at the end of W: a part of [`activation`](Self::activation), or
    /// more than that.
    ///
    /// # Panics
    /// When there is no such stage.
    #[must_use]
    pub fn retained_for_weight(&self, stage: Stage) -> Units {
        self.memory.retained_for_weight[stage.index()]
    }

    /// What remains of the activation after F, in units, if R recomputes it at the first [level](Recompute); `None` if the
    /// model has no `[recompute]` table.
    ///
    /// # Panics
    /// When there is no such stage.
    #[must_use]
    pub fn checkpoint(&self, stage: Stage) -> Option<Units> {
        self.memory.checkpoint.as_ref().map(|list| list[stage.index()])
    }

    /// The memory, in units, that a stage occupies permanently: weights, gradients, optimiser state.
    ///
    /// # Panics
    /// When there is no such stage.
    #[must_use]
    pub fn weights(&self, stage: Stage) -> Units {
        self.memory.weights[stage.index()]
    }

    /// The memory, in units, that is permanently occupied on a device: the weights of its stages.
    ///
    /// # Panics
    /// When there is no such device.
    #[must_use]
    pub fn resident(&self, device: Device) -> Units {
        self.placement.stages_of(device).iter().map(|&stage| self.weights(stage)).sum()
    }

    /// The capacity of a device in units, weights included; `None` if it has no limit.
    ///
    /// # Panics
    /// When there is no such device.
    #[must_use]
    pub fn capacity(&self, device: Device) -> Option<Units> {
        self.memory.capacity[device.index()]
    }

    /// The capacity that is left for activations on a device, in units: its capacity less its weights.
    ///
    /// # Panics
    /// When there is no such device.
    #[must_use]
    pub fn activation_capacity(&self, device: Device) -> Option<Units> {
        self.memory.capacity[device.index()].map(|capacity| capacity - self.resident(device))
    }
}

#[cfg(test)]
mod tests;
