//! What is known of a schedule that is given.

use crate::bounds::lower_bound_until;
use crate::certificate::{Objective, Optimality, STEPS};
use crate::model::Model;
use crate::optimize::replayed::ReplayedSchedule;
use crate::optimize::{OptimizeError, Solution};
use crate::schedule::Schedule;
use crate::stop::Stop;

/// A schedule with the lower bound of its model, as if a search had found it.
///
/// # Errors
/// When replay rejects it.
pub fn judged(
    model: &Model,
    schedule: Schedule,
    objective: Objective,
    stop: &Stop,
) -> Result<Solution, OptimizeError> {
    let replayed = ReplayedSchedule::new(model, objective, schedule, "given".to_owned())?;
    let bound = lower_bound_until(model, objective, STEPS, &mut || stop.is_due());
    let optimality = if replayed.value == bound.value { Optimality::Bound } else { Optimality::Open };
    let ReplayedSchedule { schedule, verdict, engine, .. } = replayed;
    let is_cut_short = stop.is_due();
    Ok(Solution { schedule, verdict, bound, optimality, block: None, engine, objective, is_cut_short })
}
