//! Placement: which device holds which stages.

use std::fmt;

use super::{Device, Microbatch, Stage};

/// The form of a placement.
///
/// Exhaustive on purpose: whoever tells shapes apart has to say what a further one means there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Shape {
    /// Stage `s` on device `s`.
    Linear,
    /// Stage `s` on device `s mod d`, two chunks or more.
    Looped,
    /// Two chunks: stages `0..d` down the devices, `d..2d` back up; device `i` holds `i` and
    /// `2d-1-i` (Pipeline Parallelism with Controllable Memory, arXiv 2405.15362, section 3).
    V,
    /// Two pipelines over the same devices in opposite directions, each with a copy of the weights: stages
    /// `0..d` down the devices, and `d..2d`, the same layers again, back up. The devices hold the stages that
    /// they hold with V placement, but a microbatch goes through one pipeline only: an even one down, an
    /// odd one up (Chimera, arXiv 2107.06925; `DualPipe`, arXiv 2412.19437).
    Bidirectional,
    /// Any other.
    Explicit,
}

impl fmt::Display for Shape {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Linear => "linear",
            Self::Looped => "looped",
            Self::V => "v",
            Self::Bidirectional => "bidirectional",
            Self::Explicit => "explicit",
        })
    }
}

/// Which device holds each stage: a partition of the stages `0..S` into `d` non-empty lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placement {
    shape: Shape,
    stages_of: Vec<Vec<Stage>>,
    device_of: Vec<Device>,
}

/// Why lists of stages are not a placement.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlacementError {
    /// No device at all.
    #[error("a pipeline needs at least one device")]
    NoDevice,
    /// A device without work.
    #[error("device {0} holds no stage")]
    EmptyDevice(Device),
    /// Two devices, or one device twice, hold the same stage.
    #[error("stage {stage} is held by device {first} and again by device {second}")]
    StageTwice {
        /// The stage held twice.
        stage: Stage,
        /// The device that listed it first.
        first: Device,
        /// The device that listed it again.
        second: Device,
    },
    /// A stage number past the number of stages listed.
    #[error("device {device} holds stage {stage}, but {count} stages are listed, which are numbered 0 to {}", count - 1)]
    StageOutOfRange {
        /// The stage that cannot be.
        stage: Stage,
        /// The device that lists it.
        device: Device,
        /// How many stages are listed over all devices.
        count: usize,
    },
    /// Two directions over stages that are not held as with V placement.
    #[error("two directions need the stages of V placement: device i of d holds stages i and 2d-1-i")]
    NotTwoDirections,
    /// More stages than the tool counts.
    #[error("{0} stages are more than the {max} that are supported", max = Placement::MAX_STAGES)]
    TooManyStages(u64),
}

impl Placement {
    /// The most stages a pipeline may have.
    pub const MAX_STAGES: u64 = 1 << 20;

    /// One stage per device.
    ///
    /// # Errors
    /// When there is no device, or too many.
    pub fn linear(devices: u32) -> Result<Self, PlacementError> {
        Self::looped(devices, 1)
    }

    /// Stage `s` on device `s mod d`, `chunks` stages per device; with one chunk, linear.
    ///
    /// # Errors
    /// When there is no device or no chunk, or too many stages.
    pub fn looped(devices: u32, chunks: u32) -> Result<Self, PlacementError> {
        // Devices without a chunk are refused below, but not laid out by the billion.
        Self::limit(u64::from(devices) * u64::from(chunks.max(1)))?;
        let stages_of = Device::all(devices)
            .map(|device| (0..chunks).map(|chunk| Stage(chunk * devices + device.0)).collect())
            .collect();
        Self::new(stages_of)
    }

    /// Two chunks per device: `i` and `2d-1-i`.
    ///
    /// # Errors
    /// When there is no device, or too many.
    pub fn v(devices: u32) -> Result<Self, PlacementError> {
        Self::limit(2 * u64::from(devices))?;
        Self::new(
            Device::all(devices)
                .map(|device| vec![Stage(device.0), Stage(2 * devices - 1 - device.0)])
                .collect(),
        )
    }

    /// Two pipelines in opposite directions: device `i` holds stage `i` of the one and stage `2d-1-i`, the
    /// first of which is `d`, of the other.
    ///
    /// # Errors
    /// When there is no device, or too many.
    pub fn bidirectional(devices: u32) -> Result<Self, PlacementError> {
        Self::v(devices)?.in_two_directions()
    }

    /// The same devices and stages, but the second half of the stages is a pipeline of its own.
    ///
    /// # Errors
    /// When the devices do not hold what they hold with V placement.
    pub(crate) fn in_two_directions(self) -> Result<Self, PlacementError> {
        match self.shape {
            Shape::V | Shape::Bidirectional => Ok(Self { shape: Shape::Bidirectional, ..self }),
            Shape::Linear | Shape::Looped | Shape::Explicit => Err(PlacementError::NotTwoDirections),
        }
    }

    /// The placement with these stages on each device. Its shape is recognised; it has one direction.
    ///
    /// # Errors
    /// When the lists are not a partition of `0..S` into non-empty parts.
    pub fn new(stages_of: Vec<Vec<Stage>>) -> Result<Self, PlacementError> {
        let count: usize = stages_of.iter().map(Vec::len).sum();
        Self::limit(count as u64)?;
        if stages_of.is_empty() {
            return Err(PlacementError::NoDevice);
        }
        let mut device_of = vec![None; count];
        for (position, stages) in stages_of.iter().enumerate() {
            let device = Device::at(position);
            if stages.is_empty() {
                return Err(PlacementError::EmptyDevice(device));
            }
            for &stage in stages {
                let holder = device_of.get_mut(stage.index()).ok_or(PlacementError::StageOutOfRange {
                    stage,
                    device,
                    count,
                })?;
                if let Some(first) = holder.replace(device) {
                    return Err(PlacementError::StageTwice { stage, first, second: device });
                }
            }
        }
        let device_of = device_of
            .into_iter()
            .map(|device| device.expect("as many distinct stages in range as there are stages"))
            .collect();
        Ok(Self { shape: recognise(&stages_of), stages_of, device_of })
    }

    fn limit(stages: u64) -> Result<(), PlacementError> {
        if stages > Self::MAX_STAGES { Err(PlacementError::TooManyStages(stages)) } else { Ok(()) }
    }

    /// The form it has.
    #[must_use]
    pub const fn shape(&self) -> Shape {
        self.shape
    }

    /// The number of devices, d.
    #[must_use]
    pub fn devices(&self) -> u32 {
        Device::at(self.stages_of.len()).0
    }

    /// The number of stages, S.
    #[must_use]
    pub fn stages(&self) -> u32 {
        Stage::at(self.device_of.len()).0
    }

    /// In how many directions microbatches go: one pipeline for each, of equally many stages. Microbatch `j`
    /// goes through pipeline `j` modulo this.
    #[must_use]
    pub const fn directions(&self) -> u32 {
        match self.shape {
            Shape::Bidirectional => 2,
            Shape::Linear | Shape::Looped | Shape::V | Shape::Explicit => 1,
        }
    }

    /// The number of stages that a microbatch goes through.
    #[must_use]
    pub fn depth(&self) -> u32 {
        self.stages() / self.directions()
    }

    /// Whether a microbatch goes through a stage.
    #[must_use]
    pub fn leads_through(&self, stage: Stage, microbatch: Microbatch) -> bool {
        stage.0 / self.depth() == microbatch.0 % self.directions()
    }

    /// The stage before this one in its pipeline; none before the first.
    #[must_use]
    pub fn stage_before(&self, stage: Stage) -> Option<Stage> {
        (!stage.0.is_multiple_of(self.depth())).then(|| Stage(stage.0 - 1))
    }

    /// The stage after this one in its pipeline; none after the last.
    #[must_use]
    pub fn stage_after(&self, stage: Stage) -> Option<Stage> {
        (!(stage.0 + 1).is_multiple_of(self.depth())).then(|| Stage(stage.0 + 1))
    }

    /// The stages of a device; the position of a stage is its chunk.
    ///
    /// # Panics
    /// When there is no such device.
    #[must_use]
    pub fn stages_of(&self, device: Device) -> &[Stage] {
        &self.stages_of[device.index()]
    }

    /// The stages of every device.
    #[must_use]
    pub fn lists(&self) -> &[Vec<Stage>] {
        &self.stages_of
    }

    /// The device that holds a stage.
    ///
    /// # Panics
    /// When there is no such stage.
    #[must_use]
    pub fn device_of(&self, stage: Stage) -> Device {
        self.device_of[stage.index()]
    }

    /// Which of its device's chunks a stage is, counted from 0.
    ///
    /// # Panics
    /// When there is no such stage.
    #[must_use]
    pub fn chunk_of(&self, stage: Stage) -> usize {
        self.stages_of(self.device_of(stage))
            .iter()
            .position(|&held| held == stage)
            .expect("a device holds the stages that it holds")
    }

    /// How many stages each device holds, when all hold equally many.
    #[must_use]
    pub fn chunks(&self) -> Option<u32> {
        let count = self.stages_of[0].len();
        self.stages_of.iter().all(|stages| stages.len() == count).then(|| Stage::at(count).0)
    }

    /// The placement of the same shape over another number of devices, where there is one.
    #[must_use]
    pub fn resized(&self, devices: u32) -> Option<Result<Self, PlacementError>> {
        if devices == self.devices() {
            return Some(Ok(self.clone()));
        }
        match self.shape {
            Shape::Linear => Some(Self::linear(devices)),
            Shape::Looped => self.chunks().map(|chunks| Self::looped(devices, chunks)),
            Shape::V => Some(Self::v(devices)),
            Shape::Bidirectional => Some(Self::bidirectional(devices)),
            Shape::Explicit => None,
        }
    }
}

fn recognise(stages_of: &[Vec<Stage>]) -> Shape {
    let devices = stages_of.len();
    let chunks = stages_of[0].len();
    let holds = |expected: &dyn Fn(usize, usize) -> usize| {
        stages_of.iter().enumerate().all(|(device, stages)| {
            stages.len() == chunks
                && stages.iter().enumerate().all(|(chunk, stage)| stage.index() == expected(device, chunk))
        })
    };
    // No stage is there twice, so a rule that says the same of several chunks does not hold where there are several.
    if holds(&|device, _| device) {
        Shape::Linear
    } else if holds(&|device, chunk| if chunk == 0 { device } else { 2 * devices - 1 - device }) {
        // With one device V and looped with two chunks are the same lists; V is the more specific.
        Shape::V
    } else if holds(&|device, chunk| chunk * devices + device) {
        Shape::Looped
    } else {
        Shape::Explicit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lists(stages: &[&[u32]]) -> Vec<Vec<Stage>> {
        stages.iter().map(|list| list.iter().copied().map(Stage).collect()).collect()
    }

    #[test]
    fn shapes_are_recognised_from_their_lists() {
        for (placement, shape) in [
            (Placement::linear(4), Shape::Linear),
            (Placement::looped(4, 2), Shape::Looped),
            (Placement::v(4), Shape::V),
            (Placement::new(lists(&[&[1], &[0]])), Shape::Explicit),
            (Placement::new(lists(&[&[0, 1], &[2]])), Shape::Explicit),
            (Placement::new(lists(&[&[0, 2], &[1]])), Shape::Explicit),
            (Placement::new(lists(&[&[0, 5, 6], &[1, 4, 7], &[2, 3, 8]])), Shape::Explicit),
        ] {
            let placement = placement.expect("a placement");
            assert_eq!(placement.shape(), shape);
            assert_eq!(Placement::new(placement.lists().to_vec()), Ok(placement));
        }
    }

    #[test]
    fn two_directions_are_two_pipelines_of_the_stages_that_v_placement_has() {
        let placement = Placement::bidirectional(3).expect("a placement");
        assert_eq!(
            (placement.shape(), placement.directions(), placement.depth()),
            (Shape::Bidirectional, 2, 3)
        );
        assert_eq!(placement.lists(), Placement::v(3).expect("a placement").lists());
        assert_ne!(placement, Placement::v(3).expect("a placement"));
        let through = |microbatch| {
            Stage::all(6).filter(|&stage| placement.leads_through(stage, Microbatch(microbatch))).collect()
        };
        let (down, up): (Vec<Stage>, Vec<Stage>) = (through(0), through(5));
        assert_eq!((down, up), ([0, 1, 2].map(Stage).to_vec(), [3, 4, 5].map(Stage).to_vec()));
        assert_eq!([2, 3].map(|stage| placement.stage_before(Stage(stage))), [Some(Stage(1)), None]);
        assert_eq!([2, 3].map(|stage| placement.stage_after(Stage(stage))), [None, Some(Stage(4))]);
        let looped = Placement::looped(3, 2).expect("a placement").in_two_directions();
        assert_eq!(looped, Err(PlacementError::NotTwoDirections));
    }

    #[test]
    fn v_pairs_the_first_stage_with_the_last() {
        let placement = Placement::v(3).expect("a placement");
        assert_eq!(placement.stages_of(Device(0)), [Stage(0), Stage(5)]);
        assert_eq!(placement.device_of(Stage(3)), Device(2));
        assert_eq!(placement.chunk_of(Stage(3)), 1);
    }

    #[test]
    fn lists_that_are_no_partition_are_refused() {
        for (stages, message) in [
            (lists(&[]), "at least one device"),
            (lists(&[&[0], &[]]), "device 1 holds no stage"),
            (lists(&[&[0], &[0]]), "stage 0 is held by device 0 and again by device 1"),
            (lists(&[&[0], &[2]]), "device 1 holds stage 2, but 2 stages are listed"),
        ] {
            let error = Placement::new(stages).expect_err(message).to_string();
            assert!(error.contains(message), "{error}");
        }
        assert!(Placement::looped(1 << 20, 2).is_err());
        assert_eq!(Placement::looped(3, 0), Err(PlacementError::EmptyDevice(Device(0))));
        assert_eq!(Placement::looped(u32::MAX, 0), Err(PlacementError::TooManyStages(u64::from(u32::MAX))));
    }
}
