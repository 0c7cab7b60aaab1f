//! The same pipeline with something changed.

use super::check::check;
use super::recompute::Levels;
use super::{
    Costs, Device, Links, Memory, Messages, Model, ModelError, Offload, PairDurations, RecomputeLevel,
    Sharding, StepEnd, Transient, Units, Workspace,
};

impl Model {
    /// The same pipeline with another number of microbatches.
    ///
    /// # Errors
    /// When there is none, or when the whole could overflow.
    pub fn with_microbatches(&self, microbatches: u32) -> Result<Self, ModelError> {
        Self { microbatches, ..self.clone() }.checked()
    }

    /// The same pipeline with other [activation capacities](Self::activation_capacity), one per device.
    ///
    /// # Errors
    /// When the list has the wrong length or a capacity is negative.
    pub fn with_activation_capacity(&self, capacity: Vec<Option<Units>>) -> Result<Self, ModelError> {
        if let Some(&Some(value)) =
            capacity.iter().find(|capacity| capacity.is_some_and(|capacity| capacity.0 < 0))
        {
            return Err(ModelError::Negative { key: "memory.capacity", value: value.0 });
        }
        // A list that is too long keeps its length, for which it is refused.
        let weights = Device::all(self.devices()).map(|device| self.resident(device));
        let weights = weights.chain(std::iter::repeat(Units::ZERO));
        let total = |(capacity, weights): (Option<Units>, Units)| {
            capacity.map(|capacity| Units(capacity.0.saturating_add(weights.0)))
        };
        self.with_capacities(capacity.into_iter().zip(weights).map(total).collect())
    }

    /// The same pipeline with the same [activation capacity](Self::activation_capacity) on every device, or none.
    ///
    /// # Errors
    /// When the capacity is negative.
    pub fn with_uniform_activation_capacity(&self, capacity: Option<Units>) -> Result<Self, ModelError> {
        self.with_activation_capacity(vec![capacity; self.devices() as usize])
    }

    /// The same pipeline with the same [capacity](Self::capacity) on every device, weights included.
    ///
    /// # Errors
    /// When the capacity is negative, or the weights of a device take more.
    pub fn with_uniform_capacity(&self, capacity: Units) -> Result<Self, ModelError> {
        self.with_capacities(vec![Some(capacity); self.devices() as usize])
    }

    fn with_capacities(&self, capacity: Vec<Option<Units>>) -> Result<Self, ModelError> {
        let memory = Memory { capacity, ..self.memory.clone() };
        Self { memory, ..self.clone() }.checked()
    }

    /// The same pipeline with other durations and latencies, without ranges.
    ///
    /// # Errors
    /// As for [`new`](Self::new), and when a duration of a pair does not suit them.
    pub fn with_costs(&self, costs: Costs) -> Result<Self, ModelError> {
        Self { costs, low: None, ..self.clone() }.checked()
    }

    pub(super) fn checked(self) -> Result<Self, ModelError> {
        check(&self)?;
        Ok(self)
    }

    /// The same pipeline if its weights lay elsewhere: its capacities are what activations may hold.
    #[must_use]
    pub fn without_weights(&self) -> Self {
        let capacity = Device::all(self.devices()).map(|device| self.activation_capacity(device)).collect();
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
        let costs = stretch_costs(&self.costs, stages)?;
        let low = self.low_ends().map(|low| stretch_costs(low, stages).map(Box::new)).transpose()?;
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
        for (key, _, durations) in self.overlap.sorts() {
            if matches!(durations, PairDurations::Listed(_)) {
                return Err(ModelError::NotResizable { key });
            }
        }
        if self.overlap.parts.iter().any(|parts| parts.stages.is_some()) {
            return Err(ModelError::NotResizable { key: "overlap.parts" });
        }
        let messages = match &self.messages {
            Some(Messages { occupancy, links: Links::Pair }) => Some(Messages {
                occupancy: stretch("messages.occupancy", occupancy, stages - 1)?,
                links: Links::Pair,
            }),
            Some(_) => return Err(ModelError::NotResizable { key: "messages.nodes" }),
            None => None,
        };
        let step = match &self.step {
            Some(StepEnd { reduce, optimizer }) => Some(StepEnd {
                reduce: stretch("step.reduce", reduce, stages)?,
                optimizer: stretch("step.optimizer", optimizer, stages)?,
            }),
            None => None,
        };
        let offload = match &self.offload {
            Some(Offload { moved, to_host, from_host }) => Some(Offload {
                moved: stretch("offload.moved", moved, stages)?,
                to_host: stretch("offload.to_host", to_host, stages)?,
                from_host: stretch("offload.from_host", from_host, stages)?,
            }),
            None => None,
        };
        let sharding = match &self.sharding {
            Some(Sharding { gather, gathered, stages: at_once }) => Some(Sharding {
                gather: stretch("sharding.gather", gather, stages)?,
                gathered: stretch("sharding.gathered", gathered, stages)?,
                stages: *at_once,
            }),
            None => None,
        };
        let transient = Transient {
            workspace: match &self.transient.workspace {
                Some(workspace) => {
                    let [forward, backward_input, backward_weight, backward, recompute] =
                        workspace.lists().map(|(key, _, list)| stretch(key, list, stages));
                    Some(Workspace {
                        forward: forward?,
                        backward_input: backward_input?,
                        backward_weight: backward_weight?,
                        backward: backward?,
                        recompute: recompute?,
                    })
                }
                None => None,
            },
            receive: match &self.transient.receive {
                Some(list) => Some(stretch("memory.receive", list, stages - 1)?),
                None => None,
            },
        };
        let recompute = match self.recompute.as_deref() {
            Some(levels) => Some(Box::new(stretch_levels(levels, stages)?)),
            None => None,
        };
        let devices = Self { placement, costs, low, memory, messages, step, ..self.clone() };
        Self { offload, sharding, transient, recompute, ..devices }.checked()?.merged()
    }
}

fn stretch_levels(levels: &Levels, stages: usize) -> Result<Levels, ModelError> {
    let durations = |list: &Option<Vec<_>>| {
        list.as_ref().map(|list| stretch("recompute.level.duration", list, stages)).transpose()
    };
    let further = levels.further.iter().map(|level| {
        Ok(RecomputeLevel {
            checkpoint: stretch("recompute.level.checkpoint", &level.checkpoint, stages)?,
            duration: durations(&level.duration)?,
        })
    });
    let further = further.collect::<Result<_, ModelError>>()?;
    Ok(Levels { first: durations(&levels.first)?, further, fused: levels.fused })
}

fn stretch_costs(costs: &Costs, stages: usize) -> Result<Costs, ModelError> {
    let Costs { unit, forward, backward_input, backward_weight, communication } = costs;
    Ok(Costs {
        unit: unit.clone(),
        forward: stretch("time.forward", forward, stages)?,
        backward_input: stretch("time.backward_input", backward_input, stages)?,
        backward_weight: stretch("time.backward_weight", backward_weight, stages)?,
        communication: stretch("time.communication", communication, stages - 1)?,
    })
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
