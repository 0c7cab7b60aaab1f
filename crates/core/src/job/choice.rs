//! The choices that a job leaves open, and the pipeline that follows from one.

use std::collections::BTreeSet;
use std::fmt;

use num_rational::Ratio;
use serde::{Deserialize, Serialize};

use super::layers::{Atom, Layers};
use super::machine::transfer;
use super::{Job, LayerCost};
use crate::model::{Model, Placement, PlacementError, Stage, Ticks, Units};
use crate::text::Shown;

/// A placement that may be chosen; in files a text, such as `looped 2`. Device `i` of `p` holds stage `i`; `i` and `2p-1-i`; or `i`,
/// `p+i`, and so on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum ChoicePlacement {
    /// One stage on each device.
    Linear,
    /// Two chunks on each device, down the devices and back up.
    V,
    /// This many chunks on each device, at least 2, each time down the devices.
    Looped(u32),
}

impl ChoicePlacement {
    /// How many stages a device has.
    #[must_use]
    pub const fn chunks(self) -> u32 {
        match self {
            Self::Linear => 1,
            Self::V => 2,
            Self::Looped(chunks) => chunks,
        }
    }

    /// The placement over this many devices.
    ///
    /// # Errors
    /// When there is no device, or there are too many stages.
    pub fn over(self, devices: u32) -> Result<Placement, PlacementError> {
        match self {
            Self::Linear => Placement::linear(devices),
            Self::V => Placement::v(devices),
            Self::Looped(chunks) => Placement::looped(devices, chunks),
        }
    }

    /// Reads `linear`, `v` or `looped 2`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "linear" => Some(Self::Linear),
            "v" => Some(Self::V),
            _ => {
                let chunks = text.strip_prefix("looped ")?.trim().parse().ok()?;
                (2..=64).contains(&chunks).then_some(Self::Looped(chunks))
            }
        }
    }
}

impl fmt::Display for ChoicePlacement {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Linear => out.write_str("linear"),
            Self::V => out.write_str("v"),
            Self::Looped(chunks) => write!(out, "looped {chunks}"),
        }
    }
}

impl From<ChoicePlacement> for String {
    fn from(placement: ChoicePlacement) -> Self {
        placement.to_string()
    }
}

/// A text that names no placement that may be chosen.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a placement: use linear, v, or looped with a number of chunks, such as looped 2", Shown(.0))]
pub struct NoPlacement(pub String);

impl TryFrom<String> for ChoicePlacement {
    type Error = NoPlacement;

    fn try_from(text: String) -> Result<Self, NoPlacement> {
        Self::parse(&text).ok_or(NoPlacement(text))
    }
}

/// How a plan may save the memory of activations.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Saving {
    /// Passes may be recomputed.
    pub recompute: bool,
    /// Activations may go to the host.
    pub offload: bool,
}

/// One way to choose what a job leaves open, but for the cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// The pipeline-parallel degree, p.
    pub pipeline: u32,
    /// The tensor-parallel degree, t.
    pub tensor: u32,
    /// Samples in a microbatch.
    pub microbatch_size: u32,
    /// The placement of the stages.
    pub placement: ChoicePlacement,
    /// How memory may be saved.
    pub saving: Saving,
    /// How many replicas of the pipeline there are: the data-parallel degree, which follows from the devices.
    pub data: u32,
    /// Microbatches of a replica in a training step, which follow from the batch.
    pub microbatches: u32,
}

impl fmt::Display for Choice {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pipeline, tensor, microbatch_size, placement, saving, data, microbatches: _ } = self;
        write!(out, "p{pipeline} t{tensor} d{data} b{microbatch_size} {placement}")?;
        let words = [(saving.recompute, " recompute"), (saving.offload, " offload")];
        words.into_iter().filter(|(is, _)| *is).try_for_each(|(_, word)| out.write_str(word))
    }
}

/// What a batch that cannot be divided evenly leaves out.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Undivided {
    /// How many choices would be there with another batch.
    pub choices: usize,
    /// Their data-parallel degrees with the samples of a microbatch.
    pub degrees: BTreeSet<(u64, u32)>,
}

/// Why a choice of a job gives no pipeline.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChoiceError {
    /// No choice suits the machine and the batch.
    #[error(
        "no choice fits {devices} devices and a batch of {batch}: pipeline times tensor degree must divide the devices, \
         replicas times microbatch size must divide the batch, and a pipeline has no more stages than the {atoms} layers"
    )]
    None {
        /// The devices of the machine.
        devices: u32,
        /// The batch.
        batch: u32,
        /// The layers.
        atoms: usize,
    },
    /// More choices than can be gone through.
    #[error(
        "the choices make {found} combinations, more than the {most} supported; `choices.{widest}` alone has {values} values",
        most = Choice::MOST
    )]
    TooMany {
        /// How many there are.
        found: u128,
        /// The key with the most values.
        widest: &'static str,
        /// How many it has.
        values: usize,
    },
    /// A choice without costs of its layers.
    #[error(
        "there are no costs for a tensor-parallel degree of {tensor} and a microbatch size of {microbatch_size}"
    )]
    NoProfile {
        /// The tensor-parallel degree.
        tensor: u32,
        /// The microbatch size.
        microbatch_size: u32,
    },
    /// Gradients have to be reduced over replicas, but how fast is not said.
    #[error(
        "{data} replicas reduce gradients, but the machine has no bandwidth: set `machine.bandwidth` or `machine.node_bandwidth`"
    )]
    NoBandwidth {
        /// The number of replicas.
        data: u32,
    },
    /// Activations may go to the host, but how fast is not said.
    #[error("activations go to the host, but the machine has no `machine.host_bandwidth`")]
    NoHostBandwidth,
    /// No layer takes any time.
    #[error("the layers take no time: at least one of their durations must be positive")]
    NoWork,
    /// More passes than a schedule may have.
    #[error("{stages} stages and {microbatches} microbatches make more passes than are supported")]
    TooManyPasses {
        /// The stages.
        stages: u32,
        /// The microbatches of a pipeline.
        microbatches: u32,
    },
    /// An amount that does not fit 64 bits, or amounts that do not fit together.
    #[error("{0} is too large to count")]
    TooLarge(&'static str),
    /// Too many stages.
    #[error(transparent)]
    Placement(#[from] PlacementError),
}

impl Choice {
    /// How many choices a job may leave open.
    pub const MOST: usize = 100_000;
}

impl Job {
    /// All choices that suit the machine and the batch, in a fixed order: pipeline and tensor degree divide the devices, the
    /// microbatches divide the batch of a replica, and there are no more stages than layers.
    ///
    /// # Errors
    /// When there are too many, or none.
    pub fn choices(&self) -> Result<Vec<Choice>, ChoiceError> {
        let open = &self.choices;
        let devices = self.machine.devices;
        let divisors = self.pipelines();
        let lengths = [
            ("pipeline", divisors.len()),
            ("tensor", open.tensor.len()),
            ("microbatch_size", open.microbatch_size.len()),
            ("placement", open.placement.len()),
            ("recompute", open.recompute.len()),
            ("offload", open.offload.len()),
        ];
        let found: u128 = lengths.iter().map(|&(_, length)| length as u128).product();
        if found > Choice::MOST as u128 {
            let &(widest, values) =
                lengths.iter().max_by_key(|(_, length)| *length).expect("there are six lists");
            return Err(ChoiceError::TooMany { found, widest, values });
        }
        let mut choices = Vec::new();
        for &pipeline in &divisors {
            for &tensor in &open.tensor {
                for &microbatch_size in &open.microbatch_size {
                    let Some((data, microbatches)) = self.degrees(pipeline, tensor, microbatch_size) else {
                        continue;
                    };
                    for &placement in &open.placement {
                        if !self.has_layers_for(pipeline, placement) {
                            continue;
                        }
                        for saving in self.savings() {
                            choices.push(Choice {
                                pipeline,
                                tensor,
                                microbatch_size,
                                placement,
                                saving,
                                data,
                                microbatches,
                            });
                        }
                    }
                }
            }
        }
        if choices.is_empty() {
            let (batch, atoms) = (open.global_batch, self.layers.len());
            return Err(ChoiceError::None { devices, batch, atoms });
        }
        Ok(choices)
    }

    /// What [`choices`](Self::choices) leaves out because the batch cannot be divided evenly: replicas times microbatch size does
    /// not divide it.
    #[must_use]
    pub fn undivided(&self) -> Undivided {
        let open = &self.choices;
        let mut undivided = Undivided { choices: 0, degrees: BTreeSet::new() };
        for pipeline in self.pipelines() {
            let placements = open.placement.iter();
            let placements =
                placements.filter(|&&placement| self.has_layers_for(pipeline, placement)).count();
            for &tensor in &open.tensor {
                let Some(data) = self.replicas(pipeline, tensor) else { continue };
                for &size in &open.microbatch_size {
                    if placements > 0 && self.degrees(pipeline, tensor, size).is_none() {
                        undivided.choices += placements * self.savings().count();
                        undivided.degrees.insert((data, size));
                    }
                }
            }
        }
        undivided
    }

    /// The pipeline-parallel degrees that may be chosen.
    fn pipelines(&self) -> Vec<u32> {
        let devices = self.machine.devices;
        self.choices.pipeline.clone().unwrap_or_else(|| {
            let most = u32::try_from(self.layers.len()).unwrap_or(u32::MAX).min(devices);
            (1..=most).filter(|&degree| devices.is_multiple_of(degree)).collect()
        })
    }

    fn savings(&self) -> impl Iterator<Item = Saving> + '_ {
        let Self { choices, .. } = self;
        choices
            .recompute
            .iter()
            .flat_map(|&recompute| choices.offload.iter().map(move |&offload| Saving { recompute, offload }))
    }

    /// The replicas, and the microbatches of each; nothing when devices or samples are left over.
    fn degrees(&self, pipeline: u32, tensor: u32, microbatch_size: u32) -> Option<(u32, u32)> {
        let data = self.replicas(pipeline, tensor)?;
        let at_once = data * u64::from(microbatch_size);
        let batch = u64::from(self.choices.global_batch);
        let microbatches = (at_once > 0 && batch.is_multiple_of(at_once)).then(|| batch / at_once)?;
        (microbatches > 0).then(|| Some((u32::try_from(data).ok()?, u32::try_from(microbatches).ok()?)))?
    }

    /// The replicas; nothing when devices are left over.
    fn replicas(&self, pipeline: u32, tensor: u32) -> Option<u64> {
        let ranks = u64::from(pipeline) * u64::from(tensor);
        let devices = u64::from(self.machine.devices);
        (ranks > 0 && devices.is_multiple_of(ranks)).then(|| devices / ranks)
    }

    /// Whether there is a layer for each stage of a pipeline; for each device, where stages may be empty.
    fn has_layers_for(&self, pipeline: u32, placement: ChoicePlacement) -> bool {
        let stages = if self.choices.empty_stages {
            u64::from(pipeline)
        } else {
            u64::from(pipeline) * u64::from(placement.chunks())
        };
        stages <= self.layers.len() as u64
    }

    /// The pipeline whose layers are still to be cut into stages.
    ///
    /// # Errors
    /// When there are no costs for the degrees, or an amount does not fit 64 bits.
    pub fn layers(&self, choice: &Choice) -> Result<Layers, ChoiceError> {
        let Choice { pipeline, tensor, microbatch_size, data, .. } = *choice;
        let missing = ChoiceError::NoProfile { tensor, microbatch_size };
        let profile = self.profiles.get(&(tensor, microbatch_size)).ok_or(missing)?;
        let placement = choice.placement.over(pipeline)?;
        let mut atoms = Vec::new();
        for name in &self.layers {
            let cost = profile.layers.get(name).cloned().unwrap_or_default();
            atoms.push(self.atom(name, &cost, choice)?);
        }
        let outputs = std::iter::once(0)
            .chain(self.layers.iter().map(|name| profile.layers.get(name).map_or(0, |cost| cost.output)));
        let message = |units| -> Result<[Ticks; 2], ChoiceError> {
            let near = self.machine.near.message(units);
            let far = self.machine.far.message(units);
            let both = near.zip(far).ok_or(ChoiceError::TooLarge("the time of a message"))?;
            Ok([Ticks(both.0), Ticks(both.1)])
        };
        let messages: Vec<[Ticks; 2]> = outputs.map(message).collect::<Result<_, _>>()?;
        let stages = placement.stages();
        let far = (1..stages).map(|stage| {
            let of = |stage| placement.device_of(Stage(stage)).0;
            self.node_of(of(stage - 1), tensor, data) != self.node_of(of(stage), tensor, data)
        });
        let layers = Layers {
            name: format!("{} {choice}", self.name),
            source: self.source.clone(),
            is_estimate: self.is_estimate,
            time_unit: self.time_unit.clone(),
            memory_unit: self.memory_unit.clone(),
            far: far.collect(),
            placement,
            microbatches: choice.microbatches,
            atoms,
            messages,
            capacity: self.machine.memory.map(Units),
            saving: choice.saving,
            empty_stages: self.choices.empty_stages,
        };
        check_totals(&layers)?;
        Ok(layers)
    }

    /// The node of the first rank of a pipeline rank. Tensor-parallel ranks are neighbours, replicas lie beside each other, and
    /// pipeline ranks are the farthest apart, as Megatron-LM orders them.
    fn node_of(&self, device: u32, tensor: u32, data: u32) -> u64 {
        u64::from(device) * u64::from(tensor) * u64::from(data) / u64::from(self.machine.devices_per_node)
    }

    fn atom(&self, name: &str, cost: &LayerCost, choice: &Choice) -> Result<Atom, ChoiceError> {
        let replicas = i64::from(choice.data);
        let shared = if self.choices.shard_optimizer { replicas } else { 1 };
        let state = (cost.optimizer_state + (shared - 1)) / shared;
        let host = self.machine.host_bandwidth;
        if choice.saving.offload && cost.offload > 0 && host.is_none() {
            return Err(ChoiceError::NoHostBandwidth);
        }
        let copy = host.map(|bandwidth| transfer(Ratio::from_integer(i128::from(cost.offload)), bandwidth));
        let copy = copy.unwrap_or(Some(0)).ok_or(ChoiceError::TooLarge("the time of a copy to the host"))?;
        Ok(Atom {
            name: name.to_owned(),
            forward: Ticks(cost.forward),
            backward_input: Ticks(cost.backward_input),
            backward_weight: Ticks(cost.backward_weight),
            recompute: Ticks(match cost.checkpoint {
                Some(_) => cost.recompute.unwrap_or(cost.forward),
                // What is not recomputed costs nothing again.
                None => 0,
            }),
            activation: Units(cost.activation),
            retained_for_weight: Units(cost.retained_for_weight.unwrap_or(cost.activation)),
            checkpoint: Units(cost.checkpoint.unwrap_or(cost.activation)),
            offload: Units(cost.offload),
            copy: Ticks(copy),
            weights: Units(
                cost.weights.checked_add(state).ok_or(ChoiceError::TooLarge("the memory of weights"))?,
            ),
            reduce: Ticks(self.reduction(cost.gradients, choice)?),
            optimizer: Ticks(cost.optimizer),
        })
    }

    /// How long a ring reduces gradients over the replicas: each rank sends `2 (d-1)/d` of them.
    fn reduction(&self, gradients: i64, choice: &Choice) -> Result<i64, ChoiceError> {
        let Choice { tensor, data, .. } = *choice;
        if data == 1 || gradients == 0 {
            return Ok(0);
        }
        let ring = u64::from(tensor) * u64::from(data);
        let network = if ring > u64::from(self.machine.devices_per_node) {
            &self.machine.far
        } else {
            &self.machine.near
        };
        if network.bandwidth.is_none() {
            return Err(ChoiceError::NoBandwidth { data });
        }
        let (gradients, replicas) = (i128::from(gradients), i128::from(data));
        let sent = Ratio::new(2 * (replicas - 1) * gradients, replicas);
        network.transfer(sent).ok_or(ChoiceError::TooLarge("the time of a reduction"))
    }
}

/// Refuses layers of which no cut is a model, for all microbatches take too long or hold too much to count, or nothing takes time.
fn check_totals(layers: &Layers) -> Result<(), ChoiceError> {
    let Layers { atoms, messages, microbatches, .. } = layers;
    let stages = layers.stages();
    if u64::from(stages) * u64::from(*microbatches) > Model::MAX_CELLS {
        return Err(ChoiceError::TooManyPasses { stages, microbatches: *microbatches });
    }
    let sum = |of: &dyn Fn(&Atom) -> [i64; 4]| -> i128 {
        atoms.iter().flat_map(of).map(i128::from).sum::<i128>() * i128::from(*microbatches)
    };
    let is_counted = |amount: i128| amount <= i128::from(Model::MAX_TOTAL);
    let work =
        sum(&|atom| [atom.forward, atom.backward_input, atom.backward_weight, atom.recompute].map(|it| it.0));
    if work == 0 {
        return Err(ChoiceError::NoWork);
    }
    // A message is sent once on the way down and once on the way up; each copy goes to the host and comes back; and the end of
    // the step is counted for every microbatch, which is more than it takes.
    let longest = messages.iter().flatten().max().map_or(0, |message| i128::from(message.0));
    let sent = 2 * longest * i128::from(stages - 1) * i128::from(*microbatches);
    let rest = sum(&|atom| [atom.copy.0, atom.copy.0, atom.reduce.0, atom.optimizer.0]);
    if !is_counted(work + sent + rest) {
        return Err(ChoiceError::TooLarge("the time of all microbatches"));
    }
    let held = sum(&|atom| [atom.activation.max(atom.retained_for_weight).0, atom.weights.0, 0, 0]);
    if !is_counted(held) {
        return Err(ChoiceError::TooLarge("the memory of all microbatches"));
    }
    if layers.capacity.is_some_and(|capacity| !is_counted(i128::from(capacity.0))) {
        return Err(ChoiceError::TooLarge("the memory of a device"));
    }
    Ok(())
}
