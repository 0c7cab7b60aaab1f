//! Offloading: what copies activations to the memory of the host and back.

use num_rational::Ratio;

use super::print::one_or_list;
use super::quantities::Quantities;
use super::reading::{FileError, Table, TomlProblem};
use super::{Kind, Model, ModelError, Placement, Stage, Ticks, Units};

/// What of an activation may go to the memory of the host, and how long the copies take. Each device has two copy engines, one
/// for each direction. Which activations go, and when, is part of a schedule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offload {
    /// What of the activation of a microbatch goes to the host, one value per stage, in units: at most the activation.
    pub moved: Vec<Units>,
    /// How long the copy of that to the host keeps its copy engine busy, one value per stage, in ticks.
    pub to_host: Vec<Ticks>,
    /// How long the copy back keeps its copy engine busy, one value per stage, in ticks.
    pub from_host: Vec<Ticks>,
}

impl Offload {
    /// The durations: their key in model files, and the values.
    pub(crate) const fn times(&self) -> [(&'static str, &Vec<Ticks>); 2] {
        [("offload.to_host", &self.to_host), ("offload.from_host", &self.from_host)]
    }

    pub(super) fn check(&self, model: &Model) -> Result<(), ModelError> {
        let stages = model.stages() as usize;
        let moved = ("offload.moved", self.moved.iter().map(|units| units.0).collect::<Vec<_>>());
        let times = self.times().map(|(key, list)| (key, list.iter().map(|ticks| ticks.0).collect()));
        for (key, list) in [moved].into_iter().chain(times) {
            if list.len() != stages {
                return Err(ModelError::Length { key, found: list.len(), expected: stages, of: "stages" });
            }
            if let Some(&value) = list.iter().find(|&&value| value < 0) {
                return Err(ModelError::Negative { key, value });
            }
        }
        for (stage, &part) in Stage::all(model.stages()).zip(&self.moved) {
            let activation = model.activation(stage);
            if part > activation {
                return Err(ModelError::PartExceedsActivation {
                    key: "offload.moved",
                    stage,
                    part,
                    activation,
                });
            }
        }
        Ok(())
    }
}

impl Model {
    /// The same pipeline with this offloading, or without any.
    ///
    /// # Errors
    /// When a list has not one value for each stage, a value is negative, more goes to the host than an activation, or the whole
    /// could overflow.
    pub fn with_offload(&self, offload: Option<Offload>) -> Result<Self, ModelError> {
        Self { offload, ..self.clone() }.checked()
    }

    /// What may go to the host; `None` if the model has no `[offload]` table. Then no schedule may offload.
    #[must_use]
    pub const fn offload(&self) -> Option<&Offload> {
        self.offload.as_ref()
    }

    /// What of an activation may go to the host, in units; nothing without offloading.
    ///
    /// # Panics
    /// When there is no such stage.
    #[must_use]
    pub fn moved(&self, stage: Stage) -> Units {
        self.offload.as_ref().map_or(Units::ZERO, |offload| offload.moved[stage.index()])
    }

    /// Whether some activation, or a part of one, may go to the host.
    #[must_use]
    pub fn can_offload(&self) -> bool {
        Stage::all(self.stages()).any(|stage| self.moved(stage) > Units::ZERO)
    }

    /// A model without offloading whose lower bounds hold for this one: R leaves as little as an offload does. Its checkpoint is
    /// the least that a schedule of this model holds of an activation between its F and its backward. It is the model where
    /// there is no offloading.
    ///
    /// It is meant for bounds. R takes no time off a device there, so nothing may count on the work of R. It takes no longer than F:
    /// what is offloaded is whole while its F runs.
    #[must_use]
    pub(crate) fn offload_floor(&self) -> Self {
        if self.offload.is_none() {
            return self.clone();
        }
        let least = |stage| {
            let stays = self.activation(stage) - self.moved(stage);
            self.checkpoint(stage).map_or(stays, |checkpoint| checkpoint.min(stays))
        };
        let longest = |stage: Stage| self.duration(stage, Kind::F).min(self.recompute_duration(stage, 0));
        let floor = Self { offload: None, ..self.clone() };
        floor
            .with_one_level(|stage| (least(stage), longest(stage)))
            .expect("a stage keeps a part of what it keeps")
    }
}

/// What an `[offload]` table says.
pub(super) fn read(
    offload: &Table<'_>,
    activation: &[Units],
    placement: &Placement,
    quantities: &Quantities,
) -> Result<Offload, FileError> {
    offload.only(&["moved", "to_host", "from_host", "bandwidth"])?;
    let stages = placement.stages() as usize;
    let moved = match offload.get("moved") {
        Some(value) => quantities.all_units(&value, stages, "stages")?,
        None => activation.to_vec(),
    };
    if let Some(bandwidth) = offload.get("bandwidth") {
        if let Some(time) = ["to_host", "from_host"].into_iter().find_map(|key| offload.get(key)) {
            return Err(time.error(TomlProblem::Contradiction {
                key: time.key(),
                value: time.as_text().or_else(|| time.as_number()).unwrap_or("there").to_owned(),
                other: "`offload.bandwidth` says how long copies take; state one of the two".to_owned(),
            }));
        }
        let per_tick = quantities.bandwidth(&bandwidth)?;
        let too_long = || bandwidth.error(TomlProblem::Model(ModelError::OffloadOverflow));
        let time = |units: &Units| {
            let ticks = (Ratio::from_integer(i128::from(units.0)) / per_tick).ceil();
            i64::try_from(ticks.to_integer()).map(Ticks).map_err(|_| too_long())
        };
        let times: Vec<Ticks> = moved.iter().map(time).collect::<Result<_, _>>()?;
        return Ok(Offload { moved, to_host: times.clone(), from_host: times });
    }
    let times = |key| quantities.all_ticks(&offload.require(key)?, stages, "stages");
    Ok(Offload { moved, to_host: times("to_host")?, from_host: times("from_host")? })
}

/// The lines of the `[offload]` table that reads as this.
pub(super) fn lines(offload: &Offload) -> Vec<String> {
    let moved = format!("moved = {}", one_or_list(offload.moved.iter().map(|units| units.0)));
    let times = offload.times().map(|(key, list)| {
        let key = key.strip_prefix("offload.").unwrap_or(key);
        format!("{key} = {}", one_or_list(list.iter().map(|ticks| ticks.0)))
    });
    [moved].into_iter().chain(times).collect()
}
