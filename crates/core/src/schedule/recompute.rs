//! Recomputation in schedules: at which level an R runs, and right before its backward.

use std::collections::{BTreeMap, BTreeSet};

use super::{Schedule, ScheduleError};
use crate::model::{Device, Kind, Model, Pass, Ticks};

impl Schedule {
    /// The same schedule, in which these Rs run at [levels](crate::model::Recompute) other than the first, counted from
    /// 0. Whether the Rs are there, and the model has such levels, is for replay to say.
    ///
    /// # Errors
    /// When a pass is no R, or a level is the first.
    pub fn with_levels(mut self, levels: BTreeMap<Pass, u32>) -> Result<Self, ScheduleError> {
        if let Some((&pass, &level)) =
            levels.iter().find(|&(pass, &level)| pass.kind != Kind::R || level == 0)
        {
            return Err(ScheduleError::NoLevel { pass, level });
        }
        self.levels = levels;
        Ok(self)
    }

    /// The same schedule, in which the Rs that another one has too run at its levels.
    #[must_use]
    pub fn with_levels_of(mut self, other: &Self) -> Self {
        if !other.levels.is_empty() {
            let passes: BTreeSet<Pass> =
                self.orders.iter().flatten().copied().filter(|pass| pass.kind == Kind::R).collect();
            let kept = other.levels.iter().filter(|(pass, _)| passes.contains(pass));
            self.levels = kept.map(|(&pass, &level)| (pass, level)).collect();
        }
        self
    }

    /// The levels of the Rs that do not run at the first one, by pass.
    #[must_use]
    pub const fn levels(&self) -> &BTreeMap<Pass, u32> {
        &self.levels
    }

    /// The level at which an R runs, counted from 0.
    #[must_use]
    pub fn level_of(&self, pass: Pass) -> usize {
        if self.levels.is_empty() {
            return 0;
        }
        self.levels.get(&pass).map_or(0, |&level| level as usize)
    }

    /// The duration of a pass of this schedule under a model, in ticks: of an R, that at its level.
    ///
    /// # Panics
    /// When the model has no such stage.
    #[must_use]
    pub fn duration(&self, model: &Model, pass: Pass) -> Ticks {
        match pass.kind {
            Kind::R => model.recompute_duration(pass.stage, self.level_of(pass)),
            _ => model.duration(pass.stage, pass.kind),
        }
    }

    /// How long a device takes under a model for what it runs at a time in this schedule, in ticks: a pass, or the two of an
    /// overlapped pair.
    ///
    /// # Panics
    /// When the model has no such stage.
    #[must_use]
    pub fn step_duration(&self, model: &Model, step: &[Pass]) -> Ticks {
        match step {
            &[pass] => self.duration(model, pass),
            _ => model.step_duration(step),
        }
    }

    /// The same schedule with every R right before its I or B, or before the overlapped pair that this is part of. It waits
    /// for nothing there that its backward does not wait for, and no device holds more. An R without a backward on its device
    /// stays where it is.
    ///
    /// The orders are new ones: name, provenance and certificate are left out.
    #[must_use]
    #[expect(clippy::missing_panics_doc, reason = "the passes stay the same, and pairs stay together")]
    pub fn with_recomputation_in_backward(&self) -> Self {
        let steps = Device::all(self.devices()).map(|device| {
            let is_backward = |pass: &Pass| pass.kind.yields_input_gradient();
            let order = self.order(device);
            let backwards: BTreeSet<Pass> =
                order.iter().filter(|pass| is_backward(pass)).map(|pass| pass.with_kind(Kind::R)).collect();
            let moved: BTreeSet<Pass> =
                order.iter().copied().filter(|pass| backwards.contains(pass)).collect();
            let mut steps: Vec<Vec<Pass>> = Vec::with_capacity(order.len());
            for step in self.steps(device) {
                if matches!(step, [pass] if moved.contains(pass)) {
                    continue;
                }
                let again = step.iter().filter(|pass| is_backward(pass)).map(|pass| pass.with_kind(Kind::R));
                steps.extend(again.filter(|pass| moved.contains(pass)).map(|pass| vec![pass]));
                steps.push(step.to_vec());
            }
            steps
        });
        Self::of_steps(self.placement.clone(), self.microbatches, steps)
            .expect("the same passes, and the same pairs")
            .with_levels_of(self)
    }
}
