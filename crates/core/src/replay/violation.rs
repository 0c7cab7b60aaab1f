//! Everything that can be wrong with a schedule, one variant for each way.

use crate::model::{Device, Pass, Units};
use crate::schedule::Place;

/// How a model can fail to describe the pipeline of a schedule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Mismatch {
    /// Another number of devices.
    #[error("the schedule has {schedule} devices, the model {model}")]
    Devices {
        /// The schedule's.
        schedule: u32,
        /// The model's.
        model: u32,
    },
    /// Another number of directions.
    #[error("microbatches go in {schedule} direction(s) in the schedule, in {model} in the model")]
    Directions {
        /// The schedule's.
        schedule: u32,
        /// The model's.
        model: u32,
    },
    /// Another number of stages.
    #[error("the schedule has {schedule} stages, the model {model}")]
    Stages {
        /// The schedule's.
        schedule: u32,
        /// The model's.
        model: u32,
    },
    /// A stage on another device.
    #[error("the schedule holds stage {stage} on device {schedule}, the model on device {model}")]
    Placement {
        /// The first such stage.
        stage: u32,
        /// The schedule's device.
        schedule: Device,
        /// The model's device.
        model: Device,
    },
    /// More microbatches than can be counted without overflow.
    #[error("the model's times or activations overflow with {0} microbatches")]
    Microbatches(u32),
}

/// One device of a deadlock: its next pass waits for another device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wait {
    /// The place of that pass.
    pub at: Place,
    /// The pass it cannot start.
    pub pass: Pass,
    /// What that pass needs.
    pub needs: Pass,
    /// The place of `needs`: on the next device of the cycle, behind the pass at which that device waits.
    pub needs_at: Place,
}

/// Something wrong with a schedule. Its text says what, where, and with what.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Violation {
    /// The model describes another pipeline.
    #[error("model and schedule do not match: {0}")]
    ModelMismatch(Mismatch),
    /// Too few passes to list the missing ones: less than half of those that are needed, in a problem with
    /// more than [`MISSING_LISTED`](Self::MISSING_LISTED) stages times microbatches.
    #[error(
        "{passes} passes are far from complete: {stages} stages and {microbatches} microbatches need at least {}",
        2 * u64::from(*stages) * u64::from(*microbatches)
    )]
    TooFewPasses {
        /// How many passes there are.
        passes: usize,
        /// The number of stages.
        stages: u32,
        /// The number of microbatches.
        microbatches: u32,
    },
    /// A pass of a stage or microbatch that does not exist.
    #[error(
        "{at}: unknown pass `{pass}`: there are {stages} stages and {microbatches} microbatches, both counted from 0"
    )]
    UnknownPass {
        /// Its place.
        at: Place,
        /// The pass.
        pass: Pass,
        /// The number of stages.
        stages: u32,
        /// The number of microbatches.
        microbatches: u32,
    },
    /// A pass of a stage of the other direction.
    #[error(
        "{at}: `{pass}` is of the other direction: even microbatches go through the first half of the stages, odd ones through the second"
    )]
    WrongDirection {
        /// Its place.
        at: Place,
        /// The pass.
        pass: Pass,
    },
    /// A pass of a stage that the device does not hold.
    #[error("{at}: `{pass}` belongs on device {belongs}, which holds stage {}", pass.stage)]
    WrongDevice {
        /// Its place.
        at: Place,
        /// The pass.
        pass: Pass,
        /// The device that holds its stage.
        belongs: Device,
    },
    /// A pass that is in the orders more than once.
    #[error("{at}: `{pass}` is a duplicate of the one at {first}")]
    DuplicatePass {
        /// The place of the duplicate.
        at: Place,
        /// The pass.
        pass: Pass,
        /// The place that counts: the first one, or the one on the device that holds the stage.
        first: Place,
    },
    /// A pass that no order contains.
    #[error("device {device}: `{pass}` is missing")]
    MissingPass {
        /// The device that holds its stage.
        device: Device,
        /// The pass.
        pass: Pass,
    },
    /// A full backward beside one of its parts.
    #[error("{at}: `{pass}` is part of the full backward `{full}`, which is at {full_at}")]
    BackwardTwice {
        /// The place of the part.
        at: Place,
        /// The part: an I or a W.
        pass: Pass,
        /// The full backward.
        full: Pass,
        /// The place of the full backward.
        full_at: Place,
    },
    /// An overlapped pair in which one pass needs the other.
    #[error("{at}: `{pass}` is overlapped with `{needs}`, which it needs")]
    OverlapOfOne {
        /// Its place.
        at: Place,
        /// The backward.
        pass: Pass,
        /// The forward of the same stage and microbatch.
        needs: Pass,
    },
    /// An offload under a model that has none.
    #[error(
        "device {device}: `{pass}` is offloaded, but the model has no [offload] table that says how long copies to the host take"
    )]
    OffloadUnknown {
        /// The device that offloads.
        device: Device,
        /// The forward whose activation is offloaded.
        pass: Pass,
    },
    /// An offload of an activation that the device does not make, or does not use.
    #[error("device {device}: `{pass}` is offloaded, but the device does not run both it and its backward")]
    OffloadOfNothing {
        /// The device that offloads.
        device: Device,
        /// The forward whose activation is offloaded.
        pass: Pass,
    },
    /// An activation that is offloaded and recomputed.
    #[error("{at}: `{pass}` is offloaded, but its activation is recomputed (position {}): do one of the two", again.position)]
    OffloadRecomputed {
        /// The place of the forward.
        at: Place,
        /// The forward.
        pass: Pass,
        /// The place of the recomputation, on the same device.
        again: Place,
    },
    /// An activation that is to be away before it can be.
    #[error(
        "{at}: the memory of `{pass}` is to be free from position {freed} on, but its copy to the host starts when `{pass}` ends: \
         only a later pass can wait for it"
    )]
    FreedTooEarly {
        /// The place of the forward.
        at: Place,
        /// The forward.
        pass: Pass,
        /// From where on its memory is to be free.
        freed: usize,
    },
    /// An activation that is back after it is needed.
    #[error(
        "{at}: `{pass}` needs the activation of `{needs}`, which is fetched from the host only before position {fetched}"
    )]
    FetchedTooLate {
        /// The place of the backward.
        at: Place,
        /// The backward.
        pass: Pass,
        /// The forward whose activation is offloaded.
        needs: Pass,
        /// Before which position of the device it is fetched.
        fetched: usize,
    },
    /// A recomputation under a model that has none.
    #[error(
        "{at}: `{pass}` recomputes, but the model has no [recompute] table that says what a checkpoint holds"
    )]
    RecomputeUnknown {
        /// Its place.
        at: Place,
        /// The pass.
        pass: Pass,
    },
    /// A recomputation at a level that the model does not have.
    #[error(
        "{at}: `{pass}` runs at level {level} of recomputation, but the model has {levels}, counted from 0"
    )]
    UnknownLevel {
        /// Its place.
        at: Place,
        /// The pass.
        pass: Pass,
        /// The level, counted from 0.
        level: usize,
        /// How many levels the model has.
        levels: usize,
    },
    /// A level of a recomputation that no order contains.
    #[error("`levels` names level {level} for `{pass}`, which is in no order")]
    LevelOfNoPass {
        /// The pass.
        pass: Pass,
        /// The level, counted from 0.
        level: u32,
    },
    /// A recomputation that is not where the runtime runs it.
    #[error(
        "{at}: `{pass}` is not right before `{backward}` (position {}), but the model recomputes within the backward \
         (`recompute.fused`): move it there",
        backward_at.position
    )]
    NotInBackward {
        /// Its place.
        at: Place,
        /// The pass.
        pass: Pass,
        /// The backward of its stage and microbatch.
        backward: Pass,
        /// The place of the backward.
        backward_at: Place,
    },
    /// A pass before another one of the same device that it needs.
    #[error("{at}: `{pass}` comes before its dependency `{needs}` (position {})", needs_at.position)]
    Order {
        /// Its place.
        at: Place,
        /// The pass.
        pass: Pass,
        /// What it needs.
        needs: Pass,
        /// Its place, later on the same device.
        needs_at: Place,
    },
    /// Devices that wait for each other in a cycle.
    #[error("deadlock of {} devices: {}", .0.len(), spell_out(.0))]
    Deadlock(Vec<Wait>),
    /// Orders that cannot be run to their end, where listing all that they wait for would take too long.
    #[error(
        "up to {devices} devices cannot run their orders to the end; what else they wait for is not listed"
    )]
    Stuck {
        /// How many devices there may be.
        devices: usize,
    },
    /// More is live than the device has room for.
    #[error("{}", self.in_words(|units| units.to_string()))]
    OverCapacity {
        /// The place of the pass that crosses the capacity.
        at: Place,
        /// That pass.
        pass: Pass,
        /// What is live once it has started, in units.
        live: Units,
        /// The capacity of the device, in units.
        capacity: Units,
        /// The forwards whose activations are live, `pass` included: the first
        /// [`HOLDING_LISTED`](Self::HOLDING_LISTED) of them, for a device can hold thousands.
        holding: Vec<Pass>,
        /// How many more there are.
        more: usize,
    },
}

impl Violation {
    /// How many of the live forwards are listed where a capacity is exceeded.
    pub const HOLDING_LISTED: usize = 12;

    /// Up to how many stages times microbatches every missing pass is listed, however few there are.
    pub const MISSING_LISTED: u64 = 1 << 16;

    /// All of it in a sentence, where amounts of memory are written by a function.
    #[must_use]
    pub fn in_words(&self, memory: impl Fn(Units) -> String) -> String {
        let Self::OverCapacity { at, pass, live, capacity, holding, more } = self else {
            return self.to_string();
        };
        let [over, capacity, live] = [*live - *capacity, *capacity, *live].map(memory);
        let holding = list(holding, *more);
        format!(
            "{at}: `{pass}` raises the memory in use to {live}, {over} over the limit of {capacity}; live: {holding}"
        )
    }

    /// The name of the broken rule, as `--json` gives it.
    #[must_use]
    pub const fn rule(&self) -> &'static str {
        match self {
            Self::ModelMismatch(_) => "model-mismatch",
            Self::TooFewPasses { .. } => "too-few-passes",
            Self::UnknownPass { .. } => "unknown-pass",
            Self::WrongDirection { .. } => "wrong-direction",
            Self::WrongDevice { .. } => "wrong-device",
            Self::DuplicatePass { .. } => "duplicate-pass",
            Self::MissingPass { .. } => "missing-pass",
            Self::BackwardTwice { .. } => "backward-twice",
            Self::OverlapOfOne { .. } => "overlap-of-one",
            Self::OffloadUnknown { .. } => "offload-unknown",
            Self::OffloadOfNothing { .. } => "offload-of-nothing",
            Self::OffloadRecomputed { .. } => "offload-recomputed",
            Self::FreedTooEarly { .. } => "freed-too-early",
            Self::FetchedTooLate { .. } => "fetched-too-late",
            Self::RecomputeUnknown { .. } => "recompute-unknown",
            Self::UnknownLevel { .. } => "unknown-level",
            Self::LevelOfNoPass { .. } => "level-of-no-pass",
            Self::NotInBackward { .. } => "not-in-backward",
            Self::Order { .. } => "order",
            Self::Deadlock(_) => "deadlock",
            Self::Stuck { .. } => "stuck",
            Self::OverCapacity { .. } => "over-capacity",
        }
    }

    /// The device on which it is; for a deadlock, the first of the cycle.
    #[must_use]
    pub fn device(&self) -> Option<Device> {
        match self {
            Self::MissingPass { device, .. }
            | Self::OffloadUnknown { device, .. }
            | Self::OffloadOfNothing { device, .. } => Some(*device),
            _ => self.place().map(|place| place.device),
        }
    }

    /// The pass that it is about; for a deadlock, the first of the cycle.
    #[must_use]
    pub fn pass(&self) -> Option<Pass> {
        match self {
            Self::ModelMismatch(_) | Self::TooFewPasses { .. } | Self::Stuck { .. } => None,
            Self::UnknownPass { pass, .. }
            | Self::WrongDirection { pass, .. }
            | Self::WrongDevice { pass, .. }
            | Self::DuplicatePass { pass, .. }
            | Self::MissingPass { pass, .. }
            | Self::BackwardTwice { pass, .. }
            | Self::OverlapOfOne { pass, .. }
            | Self::OffloadUnknown { pass, .. }
            | Self::OffloadOfNothing { pass, .. }
            | Self::OffloadRecomputed { pass, .. }
            | Self::FreedTooEarly { pass, .. }
            | Self::FetchedTooLate { pass, .. }
            | Self::RecomputeUnknown { pass, .. }
            | Self::UnknownLevel { pass, .. }
            | Self::LevelOfNoPass { pass, .. }
            | Self::NotInBackward { pass, .. }
            | Self::Order { pass, .. }
            | Self::OverCapacity { pass, .. } => Some(*pass),
            Self::Deadlock(cycle) => cycle.first().map(|wait| wait.pass),
        }
    }

    /// Its place in an order; a missing pass has none, nor has an offload of what is not there.
    #[must_use]
    pub fn place(&self) -> Option<Place> {
        match self {
            Self::ModelMismatch(_)
            | Self::TooFewPasses { .. }
            | Self::MissingPass { .. }
            | Self::OffloadUnknown { .. }
            | Self::OffloadOfNothing { .. }
            | Self::LevelOfNoPass { .. }
            | Self::Stuck { .. } => None,
            Self::UnknownPass { at, .. }
            | Self::WrongDirection { at, .. }
            | Self::WrongDevice { at, .. }
            | Self::DuplicatePass { at, .. }
            | Self::BackwardTwice { at, .. }
            | Self::OverlapOfOne { at, .. }
            | Self::OffloadRecomputed { at, .. }
            | Self::FreedTooEarly { at, .. }
            | Self::FetchedTooLate { at, .. }
            | Self::RecomputeUnknown { at, .. }
            | Self::UnknownLevel { at, .. }
            | Self::NotInBackward { at, .. }
            | Self::Order { at, .. }
            | Self::OverCapacity { at, .. } => Some(*at),
            Self::Deadlock(cycle) => cycle.first().map(|wait| wait.at),
        }
    }

    /// By device, then position; what has no position comes last on its device.
    pub(super) fn sort_key(&self) -> (Option<Device>, usize, &'static str, Option<Pass>) {
        (self.device(), self.place().map_or(usize::MAX, |place| place.position), self.rule(), self.pass())
    }
}

fn spell_out(cycle: &[Wait]) -> String {
    let wait = |wait: &Wait| {
        let Wait { at, pass, needs, needs_at } = wait;
        format!("device {} waits at `{pass}` for `{needs}` of device {}", at.device, needs_at.device)
    };
    let waits: Vec<String> = cycle.iter().map(wait).collect();
    waits.join("; ")
}

/// Passes, and how many more there are.
fn list(passes: &[Pass], more: usize) -> String {
    let shown: Vec<String> = passes.iter().map(|pass| format!("`{pass}`")).collect();
    match more {
        0 => shown.join(" "),
        _ => format!("{} and {more} more", shown.join(" ")),
    }
}
