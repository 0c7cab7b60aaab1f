//! What a plan is compared with: layers cut evenly, and 1F1B.

use super::PlanError;
use crate::catalog;
use crate::job::{Choice, ChoicePlacement, Cut, Job, Layers, Saving};
use crate::model::{Model, Ticks};
use crate::replay::{Verdict, replay};
use crate::schedule::Schedule;

/// The plan that needs no search: each stage has as many layers as any other, or one more, and devices run 1F1B.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct NaivePlan {
    /// The choice, with linear placement and without any saving of memory.
    pub choice: Choice,
    /// The even cut.
    pub cut: Cut,
    /// The model of that cut. It has no capacities where the plan does not fit.
    pub model: Model,
    /// 1F1B.
    pub schedule: Schedule,
    /// What replay says of it under that model: valid, with its times.
    pub verdict: Verdict,
    /// Whether no device holds more than it has room for. If not, its times are those of devices with more memory.
    pub fits: bool,
}

impl NaivePlan {
    /// The naive plan with the degrees of a choice.
    ///
    /// # Errors
    /// When the choice is not one of the job, or an amount does not fit 64 bits.
    pub fn of(job: &Job, choice: &Choice) -> Result<Self, PlanError> {
        let choice = Choice { placement: ChoicePlacement::Linear, saving: Saving::default(), ..*choice };
        let layers = job.layers(&choice)?;
        // Weights that do not fit make no model either.
        if let Ok(found) = Self::within(&choice, &layers, true) {
            return Ok(found);
        }
        Self::within(&choice, &Layers { capacity: None, ..layers }, false)
    }

    fn within(choice: &Choice, layers: &Layers, fits: bool) -> Result<Self, PlanError> {
        let cut = layers.even();
        let model = layers.model(&cut)?;
        let entry = catalog::find("1f1b").ok_or(PlanError::NoneFound)?;
        let schedule = entry.generate(&model).map_err(|_| PlanError::NoneFound)?.named("1f1b");
        let verdict = replay(&model, &schedule);
        if !verdict.is_valid() || verdict.timing.is_none() {
            return Err(PlanError::NoneFound);
        }
        Ok(Self { choice: *choice, cut, model, schedule, verdict, fits })
    }

    /// Its makespan, as replay measures it.
    #[must_use]
    pub fn value(&self) -> Ticks {
        self.verdict.timing.as_ref().map_or(Ticks::ZERO, |timing| timing.metrics.makespan)
    }
}
