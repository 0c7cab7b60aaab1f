//! How long overlapped pairs take.

use std::collections::BTreeMap;

use super::{Device, Kind, Model, ModelError, Pass, PassParts, Stage, Ticks};

/// The durations of overlapped pairs. A pair takes at least as long as the longer one of its passes, and at most as long
/// as both.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Overlap {
    /// An F beside a full backward B.
    pub forward_backward: PairDurations,
    /// An F beside an I.
    pub forward_input: PairDurations,
    /// What passes consist of. A pair whose passes have parts takes the least time of all orders in which these can be
    /// launched, each pass in its own order. It has no duration above.
    pub parts: Vec<PassParts>,
}

/// The durations of the overlapped pairs of one sort.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum PairDurations {
    /// Every pair takes as long as both of its passes.
    #[default]
    Sum,
    /// Every pair takes this long, in ticks.
    Uniform(Ticks),
    /// By stage of the forward and stage of the backward, in ticks. Other pairs take as long as both of their passes.
    Listed(BTreeMap<(Stage, Stage), Ticks>),
}

impl PairDurations {
    /// The duration of a pair in ticks; nothing where that is the sum of its passes.
    #[must_use]
    pub fn get(&self, forward: Stage, backward: Stage) -> Option<Ticks> {
        match self {
            Self::Sum => None,
            Self::Uniform(duration) => Some(*duration),
            Self::Listed(durations) => durations.get(&(forward, backward)).copied(),
        }
    }
}

impl Overlap {
    /// The two sorts of pairs: their key in model files, the kind beside the forward, and the durations.
    pub(crate) const fn sorts(&self) -> [(&'static str, Kind, &PairDurations); 2] {
        [
            ("overlap.forward_backward", Kind::B, &self.forward_backward),
            ("overlap.forward_input", Kind::I, &self.forward_input),
        ]
    }

    /// The durations of the pairs with an F and a backward of this kind; `None` where there are no such pairs.
    const fn of(&self, backward: Kind) -> Option<&PairDurations> {
        match backward {
            Kind::B => Some(&self.forward_backward),
            Kind::I => Some(&self.forward_input),
            Kind::F | Kind::R | Kind::W => None,
        }
    }
}

impl Model {
    /// The same pipeline with these durations of overlapped pairs.
    ///
    /// # Errors
    /// When a pair is shorter than its longer pass, longer than both of its passes, or of stages of different devices; also
    /// for passes at the [low ends](Self::low_ends) of their ranges. And when parts are not what their passes consist of, a pair
    /// has a duration besides, or parts can be launched in too many orders to compare them all.
    pub fn with_overlap(&self, overlap: Overlap) -> Result<Self, ModelError> {
        let model = Self { overlap, ..self.clone() };
        model.check_pairs()?;
        let model = model.merged()?;
        model.check_low_ends()?;
        Ok(model)
    }

    /// How long overlapped pairs take.
    #[must_use]
    pub const fn overlap(&self) -> &Overlap {
        &self.overlap
    }

    /// Whether some overlapped pair takes less time than its passes one after the other.
    #[must_use]
    pub fn has_cheaper_pairs(&self) -> bool {
        Stage::all(self.stages()).any(|forward| {
            let backwards = self.placement.stages_of(self.placement.device_of(forward)).iter();
            backwards.copied().any(|backward| {
                [Kind::B, Kind::I]
                    .into_iter()
                    .any(|kind| self.pair_saves(forward, backward, kind) > Ticks::ZERO)
            })
        })
    }

    /// How long a device takes for what it runs at a time, in ticks: a pass, or the two of an overlapped pair.
    ///
    /// # Panics
    /// When there is no such stage.
    #[must_use]
    pub fn step_duration(&self, step: &[Pass]) -> Ticks {
        let apart: Ticks = step.iter().map(|pass| self.duration(pass.stage, pass.kind)).sum();
        let saved = match step {
            [one, other] if one.kind == Kind::F => self.pair_saves(one.stage, other.stage, other.kind),
            [one, other] if other.kind == Kind::F => self.pair_saves(other.stage, one.stage, one.kind),
            _ => Ticks::ZERO,
        };
        apart - saved
    }

    /// How much less time a pair of an F and a backward of this kind takes than its passes one after the other, in ticks.
    ///
    /// # Panics
    /// When there is no such stage.
    #[must_use]
    pub fn pair_saves(&self, forward: Stage, backward: Stage, kind: Kind) -> Ticks {
        let said = self.overlap.of(kind).and_then(|durations| durations.get(forward, backward));
        let together = said.or_else(|| self.merged_duration(forward, backward, kind));
        together.map_or(Ticks::ZERO, |together| {
            self.duration(forward, Kind::F) + self.duration(backward, kind) - together
        })
    }

    pub(super) fn check_pairs(&self) -> Result<(), ModelError> {
        if self.overlap == Overlap::default() {
            return Ok(());
        }
        let held = |device| self.placement.stages_of(device).len() as u128;
        let pairs: u128 = Device::all(self.devices()).map(|device| held(device) * held(device)).sum();
        if pairs > Self::MAX_STAGE_PAIRS {
            return Err(ModelError::TooManyPairs { pairs });
        }
        let stages = self.stages();
        for (key, kind, durations) in self.overlap.sorts() {
            let check = |forward, backward, duration| {
                let passes = [self.duration(forward, Kind::F), self.duration(backward, kind)];
                let (longer, sum) = (passes[0].max(passes[1]), passes[0] + passes[1]);
                if (longer..=sum).contains(&duration) {
                    return Ok(());
                }
                Err(ModelError::PairDuration { key, forward, backward, duration, longer, sum })
            };
            match durations {
                PairDurations::Sum => {}
                PairDurations::Uniform(duration) => {
                    for device in Device::all(self.devices()) {
                        let held = self.placement.stages_of(device);
                        for &forward in held {
                            held.iter().try_for_each(|&backward| check(forward, backward, *duration))?;
                        }
                    }
                }
                PairDurations::Listed(durations) => {
                    for (&(forward, backward), &duration) in durations {
                        if forward.0 >= stages || backward.0 >= stages {
                            return Err(ModelError::PairOfNoStage { key, forward, backward, stages });
                        }
                        if self.placement.device_of(forward) != self.placement.device_of(backward) {
                            return Err(ModelError::PairApart { key, forward, backward });
                        }
                        check(forward, backward, duration)?;
                    }
                }
            }
        }
        self.check_pass_parts()
    }
}
