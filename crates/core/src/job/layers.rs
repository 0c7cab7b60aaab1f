//! A pipeline whose layers have not been cut into stages yet.

use std::ops::Range;

use super::Saving;
use super::cut::{Cut, CutError};
use crate::model::{
    Costs, Device, Memory, Model, ModelError, Offload, Placement, Recompute, RecomputeLevel, Stage, StepEnd,
    Ticks, Units,
};

/// A layer: what no cut divides. Times in ticks, memory in units, for one microbatch on one rank.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Atom {
    /// The kind of layer.
    pub name: String,
    /// Duration of F.
    pub forward: Ticks,
    /// Duration of I.
    pub backward_input: Ticks,
    /// Duration of W.
    pub backward_weight: Ticks,
    /// What it adds to R.
    pub recompute: Ticks,
    /// What F keeps for the backward.
    pub activation: Units,
    /// What I leaves for W.
    pub retained_for_weight: Units,
    /// What F keeps where the stage is recomputed.
    pub checkpoint: Units,
    /// What of the activation may go to the host.
    pub offload: Units,
    /// How long a copy of that takes, in either direction.
    pub copy: Ticks,
    /// What it occupies permanently.
    pub weights: Units,
    /// How long its gradients are reduced over the replicas.
    pub reduce: Ticks,
    /// Duration of its optimiser step.
    pub optimizer: Ticks,
}

/// Layers in order, and the pipeline whose stages they are to become.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layers {
    /// What it is called.
    pub name: String,
    /// Where its figures come from.
    pub source: Option<String>,
    /// Whether its costs are an estimate.
    pub is_estimate: bool,
    /// The name of the unit of a tick.
    pub time_unit: String,
    /// The name of the unit of memory.
    pub memory_unit: String,
    /// Which device holds which stages, in one direction.
    pub placement: Placement,
    /// The number of microbatches, m.
    pub microbatches: u32,
    /// The layers, in the order of the forward pass.
    pub atoms: Vec<Atom>,
    /// How long the message takes that crosses a cut before the layer of this index, within a node and between nodes; one more
    /// than there are layers.
    pub messages: Vec<[Ticks; 2]>,
    /// By boundary between stages: whether its messages go from node to node.
    pub far: Vec<bool>,
    /// The memory of each device, weights included; `None` without a limit.
    pub capacity: Option<Units>,
    /// How memory may be saved.
    pub saving: Saving,
    /// Whether a stage may have no layer.
    pub empty_stages: bool,
}

impl Atom {
    /// Each amount of this one and of another one, put together so; without a name.
    fn with(
        &self,
        other: &Self,
        ticks: impl Fn(Ticks, Ticks) -> Ticks,
        units: impl Fn(Units, Units) -> Units,
    ) -> Self {
        Self {
            name: String::new(),
            forward: ticks(self.forward, other.forward),
            backward_input: ticks(self.backward_input, other.backward_input),
            backward_weight: ticks(self.backward_weight, other.backward_weight),
            recompute: ticks(self.recompute, other.recompute),
            activation: units(self.activation, other.activation),
            retained_for_weight: units(self.retained_for_weight, other.retained_for_weight),
            checkpoint: units(self.checkpoint, other.checkpoint),
            offload: units(self.offload, other.offload),
            copy: ticks(self.copy, other.copy),
            weights: units(self.weights, other.weights),
            reduce: ticks(self.reduce, other.reduce),
            optimizer: ticks(self.optimizer, other.optimizer),
        }
    }

    /// What this one and another one cost together.
    pub(crate) fn and(&self, other: &Self) -> Self {
        self.with(other, |one, other| one + other, |one, other| one + other)
    }

    /// What is left without another one, which is a part of this one.
    pub(crate) fn without(&self, other: &Self) -> Self {
        self.with(other, |one, other| one - other, |one, other| one - other)
    }

    /// What F, I and W take.
    #[must_use]
    pub fn work(&self) -> Ticks {
        self.forward + self.backward_input + self.backward_weight
    }
}

impl Layers {
    /// The number of stages, S.
    #[must_use]
    pub fn stages(&self) -> u32 {
        self.placement.stages()
    }

    /// The even cut.
    #[must_use]
    pub fn even(&self) -> Cut {
        Cut::even(u32::try_from(self.atoms.len()).unwrap_or(u32::MAX), self.stages())
    }

    /// How long a message takes from a stage to the next one, or back, if the cut between them is before this layer.
    pub(crate) fn message(&self, boundary: usize, before: usize) -> Ticks {
        let [stage, next] =
            [Stage::at(boundary), Stage::at(boundary + 1)].map(|stage| self.placement.device_of(stage));
        if stage == next { Ticks::ZERO } else { self.messages[before][usize::from(self.far[boundary])] }
    }

    /// The ranges of layers of a cut, one per stage.
    ///
    /// # Errors
    /// When the cut is for other stages or other layers, or leaves a stage empty that must not be.
    pub fn ranges(&self, cut: &Cut) -> Result<Vec<Range<usize>>, CutError> {
        let (found, expected) = (cut.layers().len(), self.stages());
        if found != expected as usize {
            return Err(CutError::Stages { found, expected });
        }
        let (found, expected) =
            (cut.layers().iter().map(|&layers| u64::from(layers)).sum::<u64>(), self.atoms.len());
        if found != expected as u64 {
            return Err(CutError::Layers { found, expected });
        }
        if !self.empty_stages
            && let Some(empty) = cut.layers().iter().position(|&layers| layers == 0)
        {
            return Err(CutError::Empty(Stage::at(empty)));
        }
        Ok(cut.ranges().collect())
    }

    /// The model in which the layers are cut so.
    ///
    /// A stage takes and holds what its layers do together. Where it may be recomputed, it is recomputed as a whole.
    ///
    /// # Errors
    /// When the cut does not suit the layers, or what follows is no model, for its weights do not fit, for example.
    pub fn model(&self, cut: &Cut) -> Result<Model, CutError> {
        let ranges = self.ranges(cut)?;
        let stages: Vec<Atom> = ranges
            .iter()
            .map(|range| self.atoms[range.clone()].iter().fold(Atom::default(), |sum, atom| sum.and(atom)))
            .collect();
        let communication = ranges.windows(2).enumerate();
        let communication =
            communication.map(|(boundary, pair)| self.message(boundary, pair[1].start)).collect();
        let name = format!("{} {cut}", self.name);
        Ok(self.assemble(name, self.placement.clone(), &stages, communication, |_| self.capacity)?)
    }

    /// A model of the microbatches, units and tables of this pipeline with these stages.
    pub(crate) fn assemble(
        &self,
        name: String,
        placement: Placement,
        stages: &[Atom],
        communication: Vec<Ticks>,
        capacity: impl Fn(Device) -> Option<Units>,
    ) -> Result<Model, ModelError> {
        let ticks = |of: fn(&Atom) -> Ticks| stages.iter().map(of).collect::<Vec<_>>();
        let units = |of: fn(&Atom) -> Units| stages.iter().map(of).collect::<Vec<_>>();
        let costs = Costs {
            unit: self.time_unit.clone(),
            forward: ticks(|atom| atom.forward),
            backward_input: ticks(|atom| atom.backward_input),
            backward_weight: ticks(|atom| atom.backward_weight),
            communication,
        };
        let memory = Memory {
            unit: self.memory_unit.clone(),
            activation: units(|atom| atom.activation),
            retained_for_weight: units(|atom| atom.retained_for_weight),
            checkpoint: None,
            weights: units(|atom| atom.weights),
            capacity: Device::all(placement.devices()).map(capacity).collect(),
        };
        let mut model = Model::new(name, self.source.clone(), placement, self.microbatches, costs, memory)?;
        if self.saving.recompute {
            let durations = ticks(|atom| atom.recompute);
            let duration = (durations != model.costs().forward).then_some(durations);
            let level = RecomputeLevel { checkpoint: units(|atom| atom.checkpoint), duration };
            model = model.with_recompute(Some(Recompute { levels: vec![level], fused: false }))?;
        }
        let step = StepEnd { reduce: ticks(|atom| atom.reduce), optimizer: ticks(|atom| atom.optimizer) };
        if step.takes_time() {
            model = model.with_step(Some(step))?;
        }
        if self.saving.offload {
            let copies = ticks(|atom| atom.copy);
            let moved = units(|atom| atom.offload);
            model =
                model.with_offload(Some(Offload { moved, to_host: copies.clone(), from_host: copies }))?;
        }
        Ok(model)
    }
}
