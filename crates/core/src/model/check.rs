//! The conditions under which costs and memory make a model.

use super::{
    Device, Model, Offload, PartsError, PlacementError, Recompute, Sharding, Stage, StepEnd, Ticks, Units,
};

/// Why costs and memory do not make a model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
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
    /// More is kept of an activation than there is.
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
    /// A level of recomputation that keeps more of an activation than there is.
    #[error(
        "`recompute.level[{level}].checkpoint` of stage {stage} is {part}, more than its activation of {activation}"
    )]
    LevelExceedsActivation {
        /// The level, counted from 0.
        level: usize,
        /// The stage.
        stage: Stage,
        /// What the level keeps.
        part: Units,
        /// The whole.
        activation: Units,
    },
    /// No level of recomputation, or too many.
    #[error("`recompute.level` lists {found} levels, but there must be 1 to {most}", most = Recompute::MAX_LEVELS)]
    Levels {
        /// How many there are.
        found: usize,
    },
    /// A level of recomputation that does not exist.
    #[error("there is no level {level} of recomputation: there are {levels}, counted from 0")]
    NoSuchLevel {
        /// The level, counted from 0.
        level: usize,
        /// How many there are.
        levels: usize,
    },
    /// A device whose passes take no time at all.
    #[error("the passes of device {0} take no time: at least one of its durations must be positive")]
    NoWork(Device),
    /// A pair that takes less time than one of its passes, or more than both.
    #[error(
        "`{key}` is {duration} for a forward of stage {forward} beside a backward of stage {backward}: it must be at \
         least {longer}, what the longer one takes, and at most {sum}, what both take"
    )]
    PairDuration {
        /// The key of the model file.
        key: &'static str,
        /// The stage of the forward.
        forward: Stage,
        /// The stage of the backward.
        backward: Stage,
        /// The duration of the pair.
        duration: Ticks,
        /// The duration of its longer pass.
        longer: Ticks,
        /// The durations of both passes.
        sum: Ticks,
    },
    /// A pair of stages that are not on one device.
    #[error("`{key}` lists a pair of stages {forward} and {backward}, which are on different devices")]
    PairApart {
        /// The key of the model file.
        key: &'static str,
        /// The stage of the forward.
        forward: Stage,
        /// The stage of the backward.
        backward: Stage,
    },
    /// A pair with a stage that does not exist.
    #[error("`{key}` lists a pair of stages {forward} and {backward}, but the stages are 0 to {last}", last = .stages - 1)]
    PairOfNoStage {
        /// The key of the model file.
        key: &'static str,
        /// The stage of the forward.
        forward: Stage,
        /// The stage of the backward.
        backward: Stage,
        /// How many stages there are.
        stages: u32,
    },
    /// A pair that has a duration, though its passes have parts.
    #[error(
        "`{key}` gives a duration to a forward of stage {forward} beside a backward of stage {backward}, but the parts of \
         both are in `overlap.parts`, from which it follows: leave out one of the two"
    )]
    PairSaidTwice {
        /// The key of the model file.
        key: &'static str,
        /// The stage of the forward.
        forward: Stage,
        /// The stage of the backward.
        backward: Stage,
    },
    /// More pairs of stages than can be gone through.
    #[error(
        "[overlap] is about {pairs} pairs of stages of one device, more than the {max} supported: a device with k stages has \
         k times k", max = Model::MAX_STAGE_PAIRS
    )]
    TooManyPairs {
        /// How many there are.
        pairs: u128,
    },
    /// Parts that are not what their passes consist of.
    #[error(transparent)]
    Parts(#[from] PartsError),
    /// A node with a device that does not exist.
    #[error("`messages.nodes` lists device {device}, but the devices are 0 to {last}", last = .devices - 1)]
    NodeOfNoDevice {
        /// The device.
        device: Device,
        /// How many devices there are.
        devices: u32,
    },
    /// A device that is listed twice.
    #[error("`messages.nodes` lists device {0} twice: a device is in one node")]
    InTwoNodes(Device),
    /// A device that is not listed.
    #[error("`messages.nodes` does not list device {0}: every device is in a node")]
    InNoNode(Device),
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
    /// A range whose ends are swapped.
    #[error("`{key}` has a range from {low} to {high}: the low end must not exceed the high end")]
    LowAboveHigh {
        /// The key of the model file.
        key: &'static str,
        /// The low end.
        low: Ticks,
        /// The high end.
        high: Ticks,
    },
    /// Ranges where times decide in which order messages are sent.
    #[error(
        "`messages.nodes` does not go with ranges in `[time]`: a network card sends messages in the order in which they are \
         made, so that longer passes may even make a schedule shorter"
    )]
    RangesWithNodes,
    /// Passes as short as their ranges allow that are no model.
    #[error("at the low ends of the ranges of `[time]`: {0}")]
    LowEnds(Box<Self>),
    /// All durations and latencies of all microbatches together do not fit.
    #[error("the times of all passes together exceed {max} ticks; choose a coarser unit", max = Model::MAX_TOTAL)]
    TimeOverflow,
    /// All passes fit, but not together with what follows them.
    #[error(
        "the times of all passes and of the end of the step together exceed {max} ticks; choose a coarser unit",
        max = Model::MAX_TOTAL
    )]
    StepOverflow,
    /// All passes fit, but not together with all copies to the host and back.
    #[error(
        "the times of all passes and of all copies to the host and back together exceed {max} ticks; choose a coarser unit",
        max = Model::MAX_TOTAL
    )]
    OffloadOverflow,
    /// A device that may hold the weights of no stage gathered.
    #[error("`sharding.stages` is 0, but a device needs the weights of at least one stage at a time")]
    NothingGathered,
    /// All passes fit, but not together with all gathers of weights.
    #[error(
        "the times of all passes and of a gather of weights before each of them together exceed {max} ticks; choose a \
         coarser unit",
        max = Model::MAX_TOTAL
    )]
    GatherOverflow,
    /// All activations fit, but not together with the gathered weights.
    #[error(
        "the activations of all microbatches and the gathered weights of all stages together exceed {max} units; choose a \
         coarser unit",
        max = Model::MAX_TOTAL
    )]
    GatheredOverflow,
    /// All activations together do not fit.
    #[error("the activations of all microbatches together exceed {max} units; choose a coarser unit", max = Model::MAX_TOTAL)]
    MemoryOverflow,
    /// All activations fit, but not with what W needs besides, workspaces and buffers.
    #[error(
        "the activations of all microbatches, what W needs, workspaces and buffers together exceed {max} units; choose a \
         coarser unit",
        max = Model::MAX_TOTAL
    )]
    TransientOverflow,
    /// An R that needs something of its own, in a model without recomputation.
    #[error("`memory.workspace` says what a recomputation needs, but there is no `[recompute]`")]
    WorkspaceWithoutRecompute,
    /// A capacity beyond everything that could be live.
    #[error("`memory.capacity` of {0} units exceeds {max}; choose a coarser unit", max = Model::MAX_TOTAL)]
    CapacityOverflow(Units),
    /// Weights alone that exceed a capacity.
    #[error("{}", self.in_words(|units, unit| format!("{units} {unit}")))]
    NoRoomForWeights {
        /// The device.
        device: Device,
        /// What its stages' weights take.
        weights: Units,
        /// The capacity.
        capacity: Units,
        /// The unit of both.
        unit: String,
    },
    /// Values that differ between stages or devices have no meaning at another size.
    #[error(
        "`{key}` differs between stages or devices, so the model cannot be resized to another number of devices"
    )]
    NotResizable {
        /// The key of the model file.
        key: &'static str,
    },
    /// The placement cannot be, or cannot be resized.
    #[error(transparent)]
    Placement(#[from] PlacementError),
}

impl ModelError {
    /// All of it in a sentence, where amounts of memory are written by a function of an amount and its unit.
    #[must_use]
    pub fn in_words(&self, memory: impl Fn(Units, &str) -> String) -> String {
        let Self::NoRoomForWeights { device, weights, capacity, unit } = self else {
            return self.to_string();
        };
        let [weights, capacity] = [*weights, *capacity].map(|units| memory(units, unit));
        format!("the weights on device {device} take {weights}, more than its limit of {capacity}")
    }
}

/// Checks every list, every amount and every sum.
pub(super) fn check(model: &Model) -> Result<(), ModelError> {
    model.check_lengths()?;
    model.check_signs()?;
    model.check_levels()?;
    model.check_parts()?;
    model.transient().check(model)?;
    model.check_messages()?;
    model.offload().map_or(Ok(()), |offload| offload.check(model))?;
    model.sharding().map_or(Ok(()), |sharding| sharding.check(model))?;
    model.check_totals()?;
    model.check_pairs()?;
    model.check_low_ends()
}

impl Model {
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
        for (key, list) in self.step.iter().flat_map(StepEnd::lists) {
            if list.len() != stages {
                return Err(ModelError::Length { key, found: list.len(), expected: stages, of: "stages" });
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
        let times = times.into_iter().chain(self.step.iter().flat_map(StepEnd::lists));
        let times = times.flat_map(|(key, list)| list.iter().map(move |value| (key, value.0)));
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
        for (position, &part) in self.memory.checkpoint.iter().flatten().enumerate() {
            let activation = self.memory.activation[position];
            if part > activation {
                let (key, stage) = ("recompute.checkpoint", Stage::at(position));
                return Err(ModelError::PartExceedsActivation { key, stage, part, activation });
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
        // R comes on top of the forward; a message is sent once on the way down and once on the way up.
        let costs = &self.costs;
        let recomputations = self.longest_recomputations();
        let times = [
            &costs.forward,
            &recomputations,
            &costs.backward_input,
            &costs.backward_weight,
            &costs.communication,
            &costs.communication,
        ];
        let messages = self.messages.iter().flat_map(|messages| [&messages.occupancy; 2]);
        let times = times.into_iter().chain(messages).flatten().map(|ticks| ticks.0);
        let passes = total(times, microbatches).ok_or(ModelError::TimeOverflow)?;
        // The step ends once, however many microbatches there are.
        let step = self.step.iter().flat_map(StepEnd::lists).flat_map(|(_, list)| list).map(|ticks| ticks.0);
        total(step.chain([passes]), 1).ok_or(ModelError::StepOverflow)?;
        let copies = self.offload.iter().flat_map(Offload::times).flat_map(|(_, list)| list);
        let copies = total(copies.map(|ticks| ticks.0), microbatches).ok_or(ModelError::OffloadOverflow)?;
        total([passes, copies].into_iter(), 1).ok_or(ModelError::OffloadOverflow)?;
        // F, R, I and W of a microbatch may each follow a gather.
        let gathers = self.sharding.iter().flat_map(|Sharding { gather, .. }| gather);
        let gathers = gathers.flat_map(|ticks| [ticks.0; 4]);
        let gathers = total(gathers, microbatches).ok_or(ModelError::GatherOverflow)?;
        total([passes, gathers].into_iter(), 1).ok_or(ModelError::GatherOverflow)?;
        let memory = &self.memory;
        let activations = memory.activation.iter().chain(&memory.weights).map(|units| units.0);
        total(activations, microbatches).ok_or(ModelError::MemoryOverflow)?;
        let most_kept =
            memory.activation.iter().zip(&memory.retained_for_weight).map(|(whole, rest)| *whole.max(rest));
        let most_kept = most_kept.chain(memory.weights.iter().copied()).map(|units| units.0);
        // On one stage a microbatch has the buffers of its activation and of its gradient at most.
        let transient = self.transient.lists().chain(self.transient.lists());
        let transient = transient.flat_map(|(_, list)| list).map(|units| units.0);
        let held = total(most_kept.chain(transient), microbatches).ok_or(ModelError::TransientOverflow)?;
        let gathered = self.sharding.iter().flat_map(|Sharding { gathered, .. }| gathered);
        total(gathered.map(|units| units.0).chain([held]), 1).ok_or(ModelError::GatheredOverflow)?;
        if let Some(&capacity) =
            self.memory.capacity.iter().flatten().find(|capacity| capacity.0 > Self::MAX_TOTAL)
        {
            return Err(ModelError::CapacityOverflow(capacity));
        }
        for device in Device::all(self.devices()) {
            let weights = self.resident(device);
            if let Some(capacity) =
                self.memory.capacity[device.index()].filter(|&capacity| capacity < weights)
            {
                let unit = self.memory.unit.clone();
                return Err(ModelError::NoRoomForWeights { device, weights, capacity, unit });
            }
        }
        Device::all(self.devices())
            .find(|&device| self.work(device) == Ticks::ZERO)
            .map_or(Ok(()), |device| Err(ModelError::NoWork(device)))
    }
}

/// The sum, times a count; nothing when that exceeds [`Model::MAX_TOTAL`].
fn total(mut amounts: impl Iterator<Item = i64>, count: u32) -> Option<i64> {
    amounts
        .try_fold(0_i64, i64::checked_add)
        .and_then(|sum| sum.checked_mul(i64::from(count)))
        .filter(|&total| total <= Model::MAX_TOTAL)
}
