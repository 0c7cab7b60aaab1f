//! Pipelines so long that a search would not get started in the time that there is: named schedules, as they are.

use std::time::{Duration, Instant};

use super::feasible::serial;
use super::replayed::ReplayedSchedule;
use super::{Found, Objective};
use crate::catalog::{self, Proposal};
use crate::model::Model;
use crate::stop::Stop;

/// How many times as long as replay of one microbatch the tables of a search and its first proposals take. They grow with
/// the stages, whatever the microbatches.
const TO_START: u32 = 60;

/// Whether a search would spend all of its time on getting started, where replay takes so long.
pub(super) fn is_too_long(model: &Model, to_replay: Duration, stop: &Stop) -> bool {
    to_replay / model.microbatches() * TO_START > stop.remaining()
}

/// The best named schedule that can be made and replayed in the time, or, if there is none, the serial one.
pub(super) fn named(model: &Model, objective: Objective, stop: &Stop) -> Vec<Found> {
    let mut best: Option<ReplayedSchedule> = None;
    let mut longest = Duration::ZERO;
    for entry in catalog::entries().iter().rev() {
        let is_over = if best.is_some() { stop.remaining() < longest } else { stop.is_interrupted() };
        if is_over {
            break;
        }
        let begun = Instant::now();
        let Ok(proposal) = entry.unimproved(model) else { continue };
        let schedule = match proposal {
            Proposal::Written(schedule) => schedule,
            Proposal::Improved(indexed) => indexed.schedule(model),
        };
        let replayed = ReplayedSchedule::new(model, objective, schedule, entry.name.to_owned());
        best = best.into_iter().chain(replayed).min_by_key(ReplayedSchedule::rank);
        longest = longest.max(begun.elapsed());
    }
    let again = model.memory().checkpoint.is_some();
    let mut serials = [false].into_iter().chain(again.then_some(true)).filter_map(|recompute| {
        ReplayedSchedule::new(model, objective, serial(model, recompute), "serial".to_owned()).ok()
    });
    best.or_else(|| serials.next()).map(Found::known).into_iter().collect()
}
