//! Sharded weights: what gathers those of a stage before its passes, and what that takes.

use super::print::one_or_list;
use super::quantities::Quantities;
use super::reading::{FileError, Table};
use super::{Device, Model, ModelError, Placement, Stage, Ticks, Units};

/// What it takes to gather the weights of a stage, which are sharded over the replicas of the pipeline. When they are
/// gathered, and for how long, follows from the order of a device: see
/// [`Schedule::gatherings`](crate::schedule::Schedule::gatherings).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sharding {
    /// How long the collective stream of its device gathers the weights of a stage, one value per stage, in ticks.
    pub gather: Vec<Ticks>,
    /// What a device holds while the weights of a stage are gathered, beyond its shard of them, one value per stage, in units.
    pub gathered: Vec<Units>,
    /// The weights of how many stages a device may hold gathered at a time: at least 1. An overlapped pair of two stages has
    /// those of both.
    pub stages: u32,
}

impl Sharding {
    /// How many stages of a device have their weights gathered at a time unless a model says otherwise: as many as in PyTorch.
    pub const STAGES: u32 = 3;

    /// The same, where gathering takes no time.
    fn at_once(&self) -> Self {
        Self { gather: vec![Ticks::ZERO; self.gather.len()], ..self.clone() }
    }

    /// The same, where gathered weights take no memory.
    pub(super) fn without_memory(&self) -> Self {
        Self { gathered: vec![Units::ZERO; self.gathered.len()], ..self.clone() }
    }

    pub(super) fn check(&self, model: &Model) -> Result<(), ModelError> {
        let stages = model.stages() as usize;
        let gather = self.gather.iter().map(|ticks| ticks.0).collect::<Vec<_>>();
        let gathered = self.gathered.iter().map(|units| units.0).collect();
        for (key, list) in [("sharding.gather", gather), ("sharding.gathered", gathered)] {
            if list.len() != stages {
                return Err(ModelError::Length { key, found: list.len(), expected: stages, of: "stages" });
            }
            if let Some(&value) = list.iter().find(|&&value| value < 0) {
                return Err(ModelError::Negative { key, value });
            }
        }
        if self.stages == 0 { Err(ModelError::NothingGathered) } else { Ok(()) }
    }
}

impl Model {
    /// The same pipeline with weights that are sharded like this, or with whole ones.
    ///
    /// # Errors
    /// When a list has not one value for each stage, a value is negative, no stage may be gathered, or the whole
    /// could overflow.
    pub fn with_sharding(&self, sharding: Option<Sharding>) -> Result<Self, ModelError> {
        Self { sharding, ..self.clone() }.checked()
    }

    /// What it takes to gather the weights of stages; `None` if the model has no `[sharding]` table. Then they are there all
    /// the time.
    #[must_use]
    pub const fn sharding(&self) -> Option<&Sharding> {
        self.sharding.as_ref()
    }

    /// The same pipeline, where gathering weights takes no time. The memory of what is gathered stays.
    #[must_use]
    pub fn with_gathers_at_once(&self) -> Self {
        Self { sharding: self.sharding.as_ref().map(Sharding::at_once), ..self.clone() }
    }

    /// How long it takes to gather the weights of a stage, in ticks; no time without sharding.
    ///
    /// # Panics
    /// When there is no such stage.
    #[must_use]
    pub fn gather(&self, stage: Stage) -> Ticks {
        self.sharding.as_ref().map_or(Ticks::ZERO, |sharding| sharding.gather[stage.index()])
    }

    /// What a device holds while the weights of a stage are gathered, beyond its shard, in units; nothing without sharding.
    ///
    /// # Panics
    /// When there is no such stage.
    #[must_use]
    pub fn gathered(&self, stage: Stage) -> Units {
        self.sharding.as_ref().map_or(Units::ZERO, |sharding| sharding.gathered[stage.index()])
    }

    /// The weights of how many stages a device may hold gathered at a time.
    #[must_use]
    pub fn gathered_at_once(&self) -> u32 {
        self.sharding.as_ref().map_or(Sharding::STAGES, |sharding| sharding.stages)
    }

    /// Whether it takes time to gather the weights of some stage.
    #[must_use]
    pub fn has_gathers(&self) -> bool {
        Stage::all(self.stages()).any(|stage| self.gather(stage) > Ticks::ZERO)
    }

    /// Whether the gathered weights of some stage take memory.
    #[must_use]
    pub fn has_gathered_memory(&self) -> bool {
        Stage::all(self.stages()).any(|stage| self.gathered(stage) > Units::ZERO)
    }

    /// The most that gathered weights take at a time on a device, in units: those of as many stages as may be gathered, and of
    /// two, which a pair has.
    ///
    /// # Panics
    /// When there is no such device.
    #[must_use]
    pub fn most_gathered(&self, device: Device) -> Units {
        let mut all: Vec<Units> =
            self.placement().stages_of(device).iter().map(|&stage| self.gathered(stage)).collect();
        all.sort_unstable();
        all.into_iter().rev().take(self.gathered_at_once().max(2) as usize).sum()
    }
}

/// What a `[sharding]` table says.
pub(super) fn read(
    sharding: &Table<'_>,
    placement: &Placement,
    quantities: &Quantities,
) -> Result<Sharding, FileError> {
    sharding.only(&["gather", "gathered", "stages"])?;
    let stages = placement.stages() as usize;
    Ok(Sharding {
        gather: match sharding.get("gather") {
            Some(value) => quantities.all_ticks(&value, stages, "stages")?,
            None => vec![Ticks::ZERO; stages],
        },
        gathered: match sharding.get("gathered") {
            Some(value) => quantities.all_units(&value, stages, "stages")?,
            None => vec![Units::ZERO; stages],
        },
        stages: sharding.get("stages").map_or(Ok(Sharding::STAGES), |value| value.count(1))?,
    })
}

/// The lines of the `[sharding]` table that reads as this.
pub(super) fn lines(sharding: &Sharding) -> Vec<String> {
    vec![
        format!("gather = {}", one_or_list(sharding.gather.iter().map(|ticks| ticks.0))),
        format!("gathered = {}", one_or_list(sharding.gathered.iter().map(|units| units.0))),
        format!("stages = {}", sharding.stages),
    ]
}
