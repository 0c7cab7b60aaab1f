//! Recomputation where a runtime does it by itself.

use crate::model::{Device, Kind, Pass};
use crate::schedule::Schedule;

/// The schedule for a runtime that recomputes within the backward, as activation checkpointing does: without its Rs,
/// everything else in the same order. Nothing when it recomputes nothing.
///
/// No other format has recomputation as a pass. What each runtime has to be told, of which stages, is not part of the
/// orders: see [`Recomputation`](crate::analysis::Recomputation); nor is the [level](crate::model::Recompute) at which an R runs, so
/// the tool refuses schedules that name levels. The R then runs right before its backward, wherever
/// it was.
#[must_use]
pub fn with_fused_recomputation(schedule: &Schedule) -> Option<Schedule> {
    let is_again = |pass: &Pass| pass.kind == Kind::R;
    if !schedule.orders().iter().flatten().any(is_again) {
        return None;
    }
    let without = |device| {
        let steps = schedule.steps(device).filter(|step| !step.iter().any(is_again));
        steps.map(<[Pass]>::to_vec).collect::<Vec<_>>()
    };
    let (placement, microbatches) = (schedule.placement().clone(), schedule.microbatches());
    let fused = Schedule::of_steps(placement, microbatches, Device::all(schedule.devices()).map(without));
    let mut fused = fused.expect("the same passes without some, and no pair has one of those");
    (fused.name, fused.model) = (schedule.name.clone(), schedule.model.clone());
    fused.provenance.clone_from(&schedule.provenance);
    Some(fused)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog;
    use crate::model::{Memory, Model, Placement, Units};

    #[test]
    fn what_is_left_is_the_schedule_without_its_recomputation() {
        let model = Model::unit(Placement::linear(3).expect("a placement"), 5).expect("a model");
        let memory = Memory { checkpoint: Some(vec![Units(0); 3]), ..model.memory().clone() };
        let (placement, costs) = (model.placement().clone(), model.costs().clone());
        let model = Model::new("checkpoints".to_owned(), None, placement, 5, costs, memory).expect("a model");
        let of = |name| catalog::find(name).expect("a name").generate(&model).expect("a schedule");
        let fused = with_fused_recomputation(&of("1f1b-r")).expect("it recomputes");
        assert_eq!(fused.orders(), of("1f1b").orders());
        assert_eq!(with_fused_recomputation(&of("1f1b")), None);
    }
}
