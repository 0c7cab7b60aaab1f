//! How a stage may recompute: levels, each with what F keeps and how long R takes.

use std::borrow::Cow;

use super::{Memory, Model, ModelError, Stage, Ticks, Units};

/// What a model says of recomputation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recompute {
    /// The levels, at least one and at most [`MAX_LEVELS`](Self::MAX_LEVELS). An R for which a schedule names no level
    /// runs at the first.
    pub levels: Vec<RecomputeLevel>,
    /// Whether the runtime recomputes only within a backward: R runs right before its I or B, and waits for all that this
    /// waits for.
    pub fused: bool,
}

/// One way to recompute a stage.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecomputeLevel {
    /// What F keeps, in units, one per stage: a part of the activation.
    pub checkpoint: Vec<Units>,
    /// The duration of R in ticks, one per stage; `None` if it is that of F.
    pub duration: Option<Vec<Ticks>>,
}

impl Recompute {
    /// How many levels there may be.
    pub const MAX_LEVELS: usize = 16;
}

/// What a model says of recomputation besides what F keeps at the first level, which is part of [`Memory`]. The default says
/// nothing: there is one level, whose R takes as long as F.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Levels {
    /// The duration of R at the first level.
    pub first: Option<Vec<Ticks>>,
    pub further: Vec<RecomputeLevel>,
    pub fused: bool,
}

impl Model {
    /// The same pipeline with these levels of recomputation, or without recomputation, and then without what an R needs while it runs.
    ///
    /// # Errors
    /// When there is no level or there are too many, a list has not one value for each stage, an amount is negative, a level
    /// keeps more than the activation, or the whole could overflow.
    pub fn with_recompute(&self, recompute: Option<Recompute>) -> Result<Self, ModelError> {
        let (checkpoint, recompute) = match recompute {
            None => (None, None),
            Some(Recompute { levels, fused }) => {
                let found = levels.len();
                let mut levels = levels.into_iter();
                let Some(first) = levels.next().filter(|_| found <= Recompute::MAX_LEVELS) else {
                    return Err(ModelError::Levels { found });
                };
                let said = Levels { first: first.duration, further: levels.collect(), fused };
                (Some(first.checkpoint), (said != Levels::default()).then(|| Box::new(said)))
            }
        };
        let mut transient = self.transient.clone();
        if let Some(workspace) = transient.workspace.as_mut().filter(|_| checkpoint.is_none()) {
            workspace.recompute.clone_from(&workspace.forward);
        }
        let memory = Memory { checkpoint, ..self.memory.clone() };
        Self { memory, transient, recompute, ..self.clone() }.checked()
    }

    /// What the model says of recomputation; `None` if it has no `[recompute]` table.
    #[must_use]
    pub fn recompute(&self) -> Option<Recompute> {
        let checkpoint = self.memory.checkpoint.clone()?;
        let Levels { first, further, fused } = self.recompute.as_deref().cloned().unwrap_or_default();
        let mut levels = vec![RecomputeLevel { checkpoint, duration: first }];
        levels.extend(further);
        Some(Recompute { levels, fused })
    }

    /// How many levels of recomputation there are: none without a `[recompute]` table.
    #[must_use]
    pub fn recompute_levels(&self) -> usize {
        let further = self.recompute.as_ref().map_or(0, |levels| levels.further.len());
        if self.memory.checkpoint.is_some() { 1 + further } else { 0 }
    }

    /// Whether R runs only [right before its backward](Recompute::fused).
    #[must_use]
    pub fn recomputes_in_backward(&self) -> bool {
        self.recompute.as_ref().is_some_and(|levels| levels.fused)
    }

    /// What F keeps of a stage, in units, if R recomputes it at this level, counted from 0; `None` if there is no such level.
    ///
    /// # Panics
    /// When there is no such stage.
    #[must_use]
    pub fn checkpoint_at(&self, stage: Stage, level: usize) -> Option<Units> {
        match level.checked_sub(1) {
            None => self.checkpoint(stage),
            Some(further) => {
                self.recompute.as_ref()?.further.get(further).map(|level| level.checkpoint[stage.index()])
            }
        }
    }

    /// The duration of R of a stage at this level, counted from 0, in ticks; that of F if there is no such level.
    ///
    /// # Panics
    /// When there is no such stage.
    #[must_use]
    pub fn recompute_duration(&self, stage: Stage, level: usize) -> Ticks {
        let own = self.recompute.as_ref().and_then(|levels| match level.checked_sub(1) {
            None => levels.first.as_ref(),
            Some(further) => levels.further.get(further)?.duration.as_ref(),
        });
        own.map_or_else(|| self.costs.forward[stage.index()], |durations| durations[stage.index()])
    }

    /// Whether R may take another time than F.
    #[must_use]
    pub fn has_recompute_durations(&self) -> bool {
        self.recompute.as_ref().is_some_and(|levels| {
            levels.first.is_some() || levels.further.iter().any(|level| level.duration.is_some())
        })
    }

    /// The model in which each stage has one level, the one named for it, and R runs wherever a schedule has it. It is the
    /// model where that has one level and does not recompute in the backward.
    ///
    /// # Errors
    /// When there is not one level for each stage, or no such level.
    pub fn with_level_of_stages(&self, levels: &[usize]) -> Result<Self, ModelError> {
        let (stages, count) = (self.stages() as usize, self.recompute_levels());
        if levels.len() != stages {
            let (found, expected) = (levels.len(), stages);
            return Err(ModelError::Length { key: "recompute.level", found, expected, of: "stages" });
        }
        if let Some(&level) = levels.iter().find(|&&level| level >= count) {
            return Err(ModelError::NoSuchLevel { level, levels: count });
        }
        if count == 1 && !self.recomputes_in_backward() {
            return Ok(self.clone());
        }
        self.with_one_level(|stage| {
            let level = levels[stage.index()];
            (self.checkpoint_at(stage, level).unwrap_or_default(), self.recompute_duration(stage, level))
        })
    }

    /// The model of one level at which F keeps the least that it keeps at any level, R takes the least time that it
    /// takes at any, and runs wherever a schedule has it. No schedule is later under it, and no device holds more.
    /// Where there is one level and R need not run in the backward, it is the model.
    #[must_use]
    #[expect(clippy::missing_panics_doc, reason = "each value is one of the model")]
    pub fn level_floor(&self) -> Cow<'_, Self> {
        if self.recompute_levels() <= 1 && !self.recomputes_in_backward() {
            return Cow::Borrowed(self);
        }
        let levels = || 0..self.recompute_levels();
        let least = self.with_one_level(|stage| {
            let kept = levels().filter_map(|level| self.checkpoint_at(stage, level)).min();
            let duration = levels().map(|level| self.recompute_duration(stage, level)).min();
            (kept.unwrap_or_default(), duration.unwrap_or_default())
        });
        Cow::Owned(least.expect("a stage keeps what it keeps at some level"))
    }

    /// The model with one level: by stage, what F keeps and how long R takes.
    pub(super) fn with_one_level(&self, of: impl Fn(Stage) -> (Units, Ticks)) -> Result<Self, ModelError> {
        let (checkpoint, durations): (Vec<Units>, Vec<Ticks>) = Stage::all(self.stages()).map(of).unzip();
        // Where it is that of F, it follows F.
        let duration = (durations != self.costs.forward).then_some(durations);
        self.with_recompute(Some(Recompute {
            levels: vec![RecomputeLevel { checkpoint, duration }],
            fused: false,
        }))
    }

    /// Checks the levels behind the first, and the durations of all.
    pub(super) fn check_levels(&self) -> Result<(), ModelError> {
        let Some(recompute) = self.recompute() else { return Ok(()) };
        let expected = self.stages() as usize;
        // Where nothing but one checkpoint is said, it is not called a level.
        let is_listed =
            self.recompute.as_ref().is_some_and(|said| said.first.is_some() || !said.further.is_empty());
        for (at, RecomputeLevel { checkpoint, duration }) in recompute.levels.iter().enumerate() {
            let lists = [
                ("recompute.level.checkpoint", Some(checkpoint.len())),
                ("recompute.level.duration", duration.as_ref().map(Vec::len)),
            ];
            for (key, found) in lists {
                if let Some(found) = found.filter(|&found| found != expected) {
                    return Err(ModelError::Length { key, found, expected, of: "stages" });
                }
            }
            if let Some(&Units(value)) = checkpoint.iter().find(|&&kept| kept < Units::ZERO) {
                return Err(ModelError::Negative { key: "recompute.level.checkpoint", value });
            }
            if let Some(&Ticks(value)) = duration.iter().flatten().find(|&&ticks| ticks < Ticks::ZERO) {
                return Err(ModelError::Negative { key: "recompute.level.duration", value });
            }
            let both = checkpoint.iter().zip(&self.memory.activation).enumerate();
            for (stage, (&part, &activation)) in both {
                if part > activation && is_listed {
                    let stage = Stage::at(stage);
                    return Err(ModelError::LevelExceedsActivation { level: at, stage, part, activation });
                }
            }
        }
        Ok(())
    }

    /// By stage: how long R takes at most, in ticks; that of F without recomputation.
    pub(super) fn longest_recomputations(&self) -> Vec<Ticks> {
        let longest = |stage| {
            (0..self.recompute_levels().max(1)).map(|level| self.recompute_duration(stage, level)).max()
        };
        Stage::all(self.stages()).map(|stage| longest(stage).unwrap_or_default()).collect()
    }
}
