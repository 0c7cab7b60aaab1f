//! What passes yield in a simulation, and when it is where it is needed.

use std::collections::BTreeMap;

use super::TermsError;
use crate::analysis::latency;
use crate::model::{Device, Model, Pass, Ticks};
use crate::schedule::Schedule;
use crate::trace::synthetic::destination;

/// The results of the passes that have ended. A link leads from one device to another one and carries one message at a
/// time, in the order in which the passes that make them end.
#[derive(Debug, Default)]
pub(super) struct Results {
    ended: BTreeMap<Pass, Ticks>,
    /// When the link has carried what a pass sends, where that keeps it busy.
    carried: BTreeMap<Pass, Ticks>,
    /// When links are free again.
    free: BTreeMap<(Device, Device), Ticks>,
}

impl Results {
    /// A pass ends now. No pass of its device ends before one that was named earlier.
    pub fn end(
        &mut self,
        model: &Model,
        schedule: &Schedule,
        pass: Pass,
        now: Ticks,
    ) -> Result<(), TermsError> {
        self.ended.insert(pass, now);
        let Some((stage, to)) = destination(schedule, pass) else { return Ok(()) };
        let occupies = model.occupancy_after(stage.min(pass.stage));
        if occupies > Ticks::ZERO {
            let link = (schedule.placement().device_of(pass.stage), to);
            let starts = self.free.get(&link).map_or(now, |&free| free.max(now));
            let carried = starts.checked_add(occupies).ok_or(TermsError::TooLong)?;
            self.free.insert(link, carried);
            self.carried.insert(pass, carried);
        }
        Ok(())
    }

    /// When what a pass needs is there; nothing where that has not ended.
    pub fn arrival(&self, model: &Model, needed: Pass, pass: Pass) -> Result<Option<Ticks>, TermsError> {
        let device = |pass: Pass| model.placement().device_of(pass.stage);
        let carried = self.carried.get(&needed).filter(|_| device(needed) != device(pass));
        let Some(&yields) = carried.or_else(|| self.ended.get(&needed)) else { return Ok(None) };
        yields.checked_add(latency(model, needed, pass)).ok_or(TermsError::TooLong).map(Some)
    }
}
