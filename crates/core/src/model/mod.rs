//! The problem: passes, placement, costs, memory, and the file that states them.
//!
//! A [`Model`] says what a pipeline must compute and what that takes; it says nothing about the
//! order in which devices work, which is a [`Schedule`](crate::schedule::Schedule).

mod amount;
mod file;
mod index;
mod pass;
mod placement;
pub mod reading;

pub use amount::{Ticks, Units};
pub use file::{parse, print};
pub use index::{Device, Microbatch, Stage};
pub use pass::{Kind, Pass, PassError};
pub use placement::{Placement, PlacementError, Shape};

/// Durations of the passes of every stage and latencies between stages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Costs {
    /// What a tick is, for people: `us`, `ns`, `tick`.
    pub unit: String,
    /// Duration of F (and of R), one per stage.
    pub forward: Vec<Ticks>,
    /// Duration of I, one per stage.
    pub backward_input: Vec<Ticks>,
    /// Duration of W, one per stage. B takes as long as I and W together.
    pub backward_weight: Vec<Ticks>,
    /// Latency between stage `s` and `s+1`, in either direction, one per boundary (S-1 values).
    /// It counts only where the two stages lie on different devices.
    pub communication: Vec<Ticks>,
}

impl Costs {
    /// How many nanoseconds a tick is, where its unit is one of `ns`, `us`, `ms` and `s`.
    #[must_use]
    pub fn nanoseconds_per_tick(&self) -> Option<i64> {
        match self.unit.as_str() {
            "ns" => Some(1),
            "us" => Some(1_000),
            "ms" => Some(1_000_000),
            "s" => Some(1_000_000_000),
            _ => None,
        }
    }
}

/// What the passes hold in memory and how much of it there is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Memory {
    /// What a unit is, for people: `stage-activation`, `byte`.
    pub unit: String,
    /// What a microbatch holds of a stage between F and its backward, one per stage.
    pub activation: Vec<Units>,
    /// The part of `activation` that I leaves for W to release, one per stage.
    pub retained_for_weight: Vec<Units>,
    /// With recomputation: what F leaves when an R of the same microbatch follows, one per stage.
    pub checkpoint: Option<Vec<Units>>,
    /// What lies on the device of a stage all the time, one per stage: its weights, their gradients, the
    /// state of the optimiser.
    pub weights: Vec<Units>,
    /// The cap of each device, weights included; `None` where there is none.
    pub capacity: Vec<Option<Units>>,
}

/// Why costs and memory do not make a model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// A list that has not one value for each thing it describes.
    #[error("`{key}` has {found} values, but there are {expected} {of}")]
    Length {
        /// The key of the model file.
        key: &'static str,
        /// How many values there are.
        found: usize,
        /// How many there should be.
        expected: usize,
        /// What they should be one for each of.
        of: &'static str,
    },
    /// A negative amount.
    #[error("`{key}` is negative: {value}")]
    Negative {
        /// The key of the model file.
        key: &'static str,
        /// The value.
        value: i64,
    },
    /// More is left of an activation than there was.
    #[error("`{key}` of stage {stage} is {part}, more than its activation of {activation}")]
    PartExceedsActivation {
        /// The key of the model file.
        key: &'static str,
        /// The stage.
        stage: Stage,
        /// The part.
        part: Units,
        /// The whole.
        activation: Units,
    },
    /// A device whose passes take no time at all.
    #[error("the passes of device {0} take no time: at least one of its durations must be positive")]
    NoWork(Device),
    /// No microbatch.
    #[error("a schedule needs at least one microbatch")]
    NoMicrobatch,
    /// Too many passes to count in 32 bits.
    #[error("{stages} stages times {microbatches} microbatches are more passes than the {max} supported", max = Model::MAX_CELLS)]
    TooManyPasses {
        /// The number of stages.
        stages: u32,
        /// The number of microbatches.
        microbatches: u32,
    },
    /// All durations and latencies of all microbatches together do not fit.
    #[error("the times of all passes together exceed {max} ticks; choose a coarser unit", max = Model::MAX_TOTAL)]
    TimeOverflow,
    /// All activations together do not fit.
    #[error("the activations of all microbatches together exceed {max} units; choose a coarser unit", max = Model::MAX_TOTAL)]
    MemoryOverflow,
    /// A cap beyond everything that could be live.
    #[error("`memory.capacity` of {0} units exceeds {max}; choose a coarser unit", max = Model::MAX_TOTAL)]
    CapacityOverflow(Units),
    /// Weights alone that exceed a cap.
    #[error("the weights on device {device} take {weights} units, more than its cap of {capacity}")]
    NoRoomForWeights {
        /// The device.
        device: Device,
        /// What its stages' weights take.
        weights: Units,
        /// The cap.
        capacity: Units,
    },
    /// A model with a value of its own for each stage has no meaning at another size.
    #[error(
        "`{key}` gives each stage or device a value of its own, so the model has no other number of devices"
    )]
    NotResizable {
        /// The key of the model file.
        key: &'static str,
    },
    /// The placement cannot be, or cannot be resized.
    #[error(transparent)]
    Placement(#[from] PlacementError),
}

/// A pipeline to schedule: placement, microbatches, costs and memory, checked to be consistent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Model {
    name: String,
    source: Option<String>,
    placement: Placement,
    microbatches: u32,
    costs: Costs,
    memory: Memory,
}

impl Model {
    /// The most stages times microbatches.
    pub const MAX_CELLS: u64 = 1 << 28;

    /// The most ticks, and the most units, that everything in a model may add up to. Far enough
    /// from the limits of 64 bits that small multiples of it cannot overflow either.
    pub const MAX_TOTAL: i64 = 1 << 58;

    /// A model from its parts.
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
        let model = Self { name, source, placement, microbatches, costs, memory };
        model.check_lengths()?;
        model.check_signs()?;
        model.check_parts()?;
        model.check_totals()?;
        Ok(model)
    }

    /// A model whose stages all cost the same: `[F, I, W, latency]` in ticks. A stage holds one unit
    /// from F to W; no recomputation, no cap.
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

    /// The model used where none is given: F, I, W and R take one tick, B two; no latency; a stage
    /// holds one unit from F to W, and nothing but a weightless checkpoint where it is recomputed;
    /// no cap.
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

    fn check_lengths(&self) -> Result<(), ModelError> {
        let stages = self.placement.stages() as usize;
        let devices = self.placement.devices() as usize;
        let checkpoint = self.memory.checkpoint.as_ref().map_or(stages, Vec::len);
        for (key, found, expected, of) in [
            ("time.forward", self.costs.forward.len(), stages, "stages"),
            ("time.backward_input", self.costs.backward_input.len(), stages, "stages"),
            ("time.backward_weight", self.costs.backward_weight.len(), stages, "stages"),
            ("time.communication", self.costs.communication.len(), stages - 1, "stage boundaries"),
            ("memory.activation", self.memory.activation.len(), stages, "stages"),
            ("memory.retained_for_weight", self.memory.retained_for_weight.len(), stages, "stages"),
            ("recompute.checkpoint", checkpoint, stages, "stages"),
            ("memory.weights", self.memory.weights.len(), stages, "stages"),
            ("memory.capacity", self.memory.capacity.len(), devices, "devices"),
        ] {
            if found != expected {
                return Err(ModelError::Length { key, found, expected, of });
            }
        }
        Ok(())
    }

    fn check_signs(&self) -> Result<(), ModelError> {
        let times = [
            ("time.forward", &self.costs.forward),
            ("time.backward_input", &self.costs.backward_input),
            ("time.backward_weight", &self.costs.backward_weight),
            ("time.communication", &self.costs.communication),
        ];
        let times = times.into_iter().flat_map(|(key, list)| list.iter().map(move |value| (key, value.0)));
        let memory = &self.memory;
        let amounts = [
            ("memory.activation", memory.activation.iter().map(|value| value.0).min()),
            ("memory.retained_for_weight", memory.retained_for_weight.iter().map(|value| value.0).min()),
            ("recompute.checkpoint", memory.checkpoint.iter().flatten().map(|value| value.0).min()),
            ("memory.weights", memory.weights.iter().map(|value| value.0).min()),
            ("memory.capacity", memory.capacity.iter().flatten().map(|value| value.0).min()),
        ];
        let amounts = amounts.into_iter().filter_map(|(key, least)| Some((key, least?)));
        match times.chain(amounts).find(|&(_, value)| value < 0) {
            Some((key, value)) => Err(ModelError::Negative { key, value }),
            None => Ok(()),
        }
    }

    fn check_parts(&self) -> Result<(), ModelError> {
        let parts = [
            ("memory.retained_for_weight", Some(&self.memory.retained_for_weight)),
            ("recompute.checkpoint", self.memory.checkpoint.as_ref()),
        ];
        for (key, list) in parts {
            for (position, &part) in list.into_iter().flatten().enumerate() {
                let activation = self.memory.activation[position];
                if part > activation {
                    return Err(ModelError::PartExceedsActivation {
                        key,
                        stage: Stage::at(position),
                        part,
                        activation,
                    });
                }
            }
        }
        Ok(())
    }

    fn check_totals(&self) -> Result<(), ModelError> {
        let (stages, microbatches) = (self.placement.stages(), self.microbatches);
        if microbatches == 0 {
            return Err(ModelError::NoMicrobatch);
        }
        if u64::from(stages) * u64::from(microbatches) > Self::MAX_CELLS {
            return Err(ModelError::TooManyPasses { stages, microbatches });
        }
        // R doubles the forward; a latency is met once on the way down and once on the way up.
        let costs = &self.costs;
        let times = [
            &costs.forward,
            &costs.forward,
            &costs.backward_input,
            &costs.backward_weight,
            &costs.communication,
            &costs.communication,
        ];
        let times = times.into_iter().flatten().map(|ticks| ticks.0);
        if !fits(times, microbatches) {
            return Err(ModelError::TimeOverflow);
        }
        let memory = &self.memory;
        if !fits(memory.activation.iter().chain(&memory.weights).map(|units| units.0), microbatches) {
            return Err(ModelError::MemoryOverflow);
        }
        if let Some(&cap) = self.memory.capacity.iter().flatten().find(|cap| cap.0 > Self::MAX_TOTAL) {
            return Err(ModelError::CapacityOverflow(cap));
        }
        for device in Device::all(self.devices()) {
            let weights = self.resident(device);
            if let Some(capacity) = self.memory.capacity[device.index()].filter(|&cap| cap < weights) {
                return Err(ModelError::NoRoomForWeights { device, weights, capacity });
            }
        }
        Device::all(self.devices())
            .find(|&device| self.work(device) == Ticks::ZERO)
            .map_or(Ok(()), |device| Err(ModelError::NoWork(device)))
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

    /// Durations and latencies.
    #[must_use]
    pub const fn costs(&self) -> &Costs {
        &self.costs
    }

    /// Memory and caps.
    #[must_use]
    pub const fn memory(&self) -> &Memory {
        &self.memory
    }

    /// How long a pass of this kind takes.
    #[must_use]
    pub fn duration(&self, stage: Stage, kind: Kind) -> Ticks {
        let (costs, stage) = (&self.costs, stage.index());
        match kind {
            Kind::F | Kind::R => costs.forward[stage],
            Kind::I => costs.backward_input[stage],
            Kind::W => costs.backward_weight[stage],
            Kind::B => costs.backward_input[stage] + costs.backward_weight[stage],
        }
    }

    /// The latency between a stage and the next one, in either direction: zero on one device.
    ///
    /// # Panics
    /// When `stage` is the last.
    #[must_use]
    pub fn latency_after(&self, stage: Stage) -> Ticks {
        let next = Stage(stage.0 + 1);
        if self.placement.device_of(stage) == self.placement.device_of(next) {
            Ticks::ZERO
        } else {
            self.costs.communication[stage.index()]
        }
    }

    /// What one microbatch keeps a device busy for: F, I and W of its stages, without recomputation. Where
    /// there are two directions, one microbatch of each.
    #[must_use]
    pub fn work(&self, device: Device) -> Ticks {
        self.placement
            .stages_of(device)
            .iter()
            .map(|&stage| self.duration(stage, Kind::F) + self.duration(stage, Kind::B))
            .sum()
    }

    /// The most that [`work`](Self::work) is on any device: no steady phase has a shorter interval
    /// per microbatch.
    #[must_use]
    pub fn most_work(&self) -> Ticks {
        Device::all(self.devices()).map(|device| self.work(device)).max().unwrap_or_default()
    }

    /// What a stage holds for a microbatch between F and the end of its backward.
    #[must_use]
    pub fn activation(&self, stage: Stage) -> Units {
        self.memory.activation[stage.index()]
    }

    /// What of it I leaves for W to release.
    #[must_use]
    pub fn retained_for_weight(&self, stage: Stage) -> Units {
        self.memory.retained_for_weight[stage.index()]
    }

    /// What F holds when an R follows; `None` when the model knows no recomputation.
    #[must_use]
    pub fn checkpoint(&self, stage: Stage) -> Option<Units> {
        self.memory.checkpoint.as_ref().map(|list| list[stage.index()])
    }

    /// What lies on the device of a stage all the time.
    #[must_use]
    pub fn weights(&self, stage: Stage) -> Units {
        self.memory.weights[stage.index()]
    }

    /// What lies on a device all the time: the weights of its stages.
    #[must_use]
    pub fn resident(&self, device: Device) -> Units {
        self.placement.stages_of(device).iter().map(|&stage| self.weights(stage)).sum()
    }

    /// The cap of a device, weights included.
    #[must_use]
    pub fn cap(&self, device: Device) -> Option<Units> {
        self.memory.capacity[device.index()]
    }

    /// What activations may hold on a device: its cap, less the weights that lie there.
    #[must_use]
    pub fn capacity(&self, device: Device) -> Option<Units> {
        self.memory.capacity[device.index()].map(|capacity| capacity - self.resident(device))
    }

    /// The same pipeline with another number of microbatches.
    ///
    /// # Errors
    /// When there is none, or when the whole could overflow.
    pub fn with_microbatches(&self, microbatches: u32) -> Result<Self, ModelError> {
        let Self { name, source, placement, costs, memory, .. } = self.clone();
        Self::new(name, source, placement, microbatches, costs, memory)
    }

    /// The same pipeline with other [capacities](Self::capacity), one per device.
    ///
    /// # Errors
    /// When the list has the wrong length or a capacity is negative.
    pub fn with_capacity(&self, capacity: Vec<Option<Units>>) -> Result<Self, ModelError> {
        if let Some(&Some(value)) = capacity.iter().find(|capacity| capacity.is_some_and(|cap| cap.0 < 0)) {
            return Err(ModelError::Negative { key: "memory.capacity", value: value.0 });
        }
        // A list that is too long keeps its length, for which it is refused.
        let weights = Device::all(self.devices()).map(|device| self.resident(device));
        let weights = weights.chain(std::iter::repeat(Units::ZERO));
        let total = |(capacity, weights): (Option<Units>, Units)| {
            capacity.map(|capacity| Units(capacity.0.saturating_add(weights.0)))
        };
        self.with_caps(capacity.into_iter().zip(weights).map(total).collect())
    }

    /// The same pipeline with the same [capacity](Self::capacity) on every device, or none.
    ///
    /// # Errors
    /// When the capacity is negative.
    pub fn with_uniform_capacity(&self, capacity: Option<Units>) -> Result<Self, ModelError> {
        self.with_capacity(vec![capacity; self.devices() as usize])
    }

    /// The same pipeline with the same [cap](Self::cap) on every device, weights included.
    ///
    /// # Errors
    /// When the cap is negative, or the weights of a device take more.
    pub fn with_uniform_cap(&self, cap: Units) -> Result<Self, ModelError> {
        self.with_caps(vec![Some(cap); self.devices() as usize])
    }

    fn with_caps(&self, capacity: Vec<Option<Units>>) -> Result<Self, ModelError> {
        let Self { name, source, placement, microbatches, costs, memory } = self.clone();
        Self::new(name, source, placement, microbatches, costs, Memory { capacity, ..memory })
    }

    /// The same pipeline if its weights lay elsewhere: its caps are what activations may hold.
    #[must_use]
    pub fn without_weights(&self) -> Self {
        let capacity = Device::all(self.devices()).map(|device| self.capacity(device)).collect();
        let weights = vec![Units::ZERO; self.stages() as usize];
        let memory = Memory { weights, capacity, ..self.memory.clone() };
        Self { memory, ..self.clone() }
    }

    /// A model of the same costs for another number of devices.
    ///
    /// # Errors
    /// When stages, boundaries or devices differ, or the placement is a list: such a model has no
    /// other size.
    pub fn resized(&self, devices: u32) -> Result<Self, ModelError> {
        if devices == self.devices() {
            return Ok(self.clone());
        }
        let placement = self
            .placement
            .resized(devices)
            .ok_or(ModelError::NotResizable { key: "pipeline.placement" })??;
        let (stages, devices) = (placement.stages() as usize, placement.devices() as usize);
        let Costs { unit, forward, backward_input, backward_weight, communication } = &self.costs;
        let costs = Costs {
            unit: unit.clone(),
            forward: stretch("time.forward", forward, stages)?,
            backward_input: stretch("time.backward_input", backward_input, stages)?,
            backward_weight: stretch("time.backward_weight", backward_weight, stages)?,
            communication: stretch("time.communication", communication, stages - 1)?,
        };
        let Memory { unit, activation, retained_for_weight, checkpoint, weights, capacity } = &self.memory;
        let memory = Memory {
            unit: unit.clone(),
            activation: stretch("memory.activation", activation, stages)?,
            retained_for_weight: stretch("memory.retained_for_weight", retained_for_weight, stages)?,
            checkpoint: match checkpoint {
                Some(list) => Some(stretch("recompute.checkpoint", list, stages)?),
                None => None,
            },
            weights: stretch("memory.weights", weights, stages)?,
            capacity: stretch("memory.capacity", capacity, devices)?,
        };
        Self::new(self.name.clone(), self.source.clone(), placement, self.microbatches, costs, memory)
    }
}

/// Whether the sum, times a count, stays within [`Model::MAX_TOTAL`].
fn fits(mut amounts: impl Iterator<Item = i64>, count: u32) -> bool {
    amounts
        .try_fold(0_i64, i64::checked_add)
        .and_then(|sum| sum.checked_mul(i64::from(count)))
        .is_some_and(|total| total <= Model::MAX_TOTAL)
}

/// A list of equal values at another length. A list without values stretches to defaults: with one
/// stage there is no boundary to take a latency from.
fn stretch<T: Clone + Default + PartialEq>(
    key: &'static str,
    list: &[T],
    length: usize,
) -> Result<Vec<T>, ModelError> {
    let value = list.first().cloned().unwrap_or_default();
    if list.iter().any(|other| *other != value) {
        return Err(ModelError::NotResizable { key });
    }
    Ok(vec![value; length])
}

#[cfg(test)]
mod tests;
