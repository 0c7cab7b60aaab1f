//! Microbatches numbered as PyTorch looks their losses up.

use std::collections::BTreeMap;

use crate::model::{Device, Kind, Microbatch, Pass, Stage};
use crate::schedule::Schedule;

/// The schedule with its microbatches numbered in the order in which the last stage of their pipeline runs their forwards;
/// nothing if they are, or if passes are missing.
///
/// Numbers are names: times and memory stay the same. PyTorch takes the k-th loss that is computed for that of microbatch k, see
/// [`PlanViolation::LossesOutOfOrder`](crate::comm::PlanViolation::LossesOutOfOrder). Schedules with R keep their numbers: PyTorch runs
/// none of them.
#[must_use]
pub fn numbered(schedule: &Schedule) -> Option<Schedule> {
    let placement = schedule.placement();
    let mut numbers: BTreeMap<Microbatch, Microbatch> = BTreeMap::new();
    for stage in Stage::all(placement.stages()).filter(|&stage| placement.stage_after(stage).is_none()) {
        let order = schedule.order(placement.device_of(stage)).iter();
        let forwards = order.filter(|pass| pass.stage == stage && pass.kind == Kind::F);
        let forwards: Vec<Microbatch> = forwards.map(|pass| pass.microbatch).collect();
        let mut sorted = forwards.clone();
        sorted.sort_unstable();
        numbers.extend(forwards.into_iter().zip(sorted));
    }
    let recomputes = schedule.orders().iter().flatten().any(|pass| pass.kind == Kind::R);
    if recomputes || numbers.iter().all(|(old, new)| old == new) {
        return None;
    }
    let number = |pass: &Pass| Some(Pass { microbatch: *numbers.get(&pass.microbatch)?, ..*pass });
    let orders = schedule.orders().iter().map(|order| order.iter().map(number).collect());
    let overlaps = Device::all(schedule.devices()).map(|device| schedule.overlaps(device).to_vec());
    let mut numbered =
        Schedule::new(placement.clone(), schedule.microbatches(), orders.collect::<Option<_>>()?)
            .and_then(|numbered| numbered.with_overlaps(overlaps.collect()))
            .ok()?;
    numbered.name.clone_from(&schedule.name);
    numbered.model.clone_from(&schedule.model);
    Some(numbered)
}
