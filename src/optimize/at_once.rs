//! Pipelines so long that a search would not get started in the time that there is: named schedules, as they are.

use std::time::{Duration, Instant};

use super::feasible::serial;
use super::replayed::ReplayedSchedule;
use super::{Found, Objective};
use crate::catalog::{self, Entry};
use crate::model::{Model, Ticks};
use crate::stop::Stop;

/// How many times as long as replay of one microbatch the tables of a search and its first proposals take. They grow with
/// the stages, whatever the microbatches.
const TO_START: u32 = 60;

/// Whether a search would spend all of its time on getting started, where replay takes so long.
pub(super) fn is_too_long(model: &Model, to_replay: Duration, stop: &Stop) -> bool {
    to_replay / model.microbatches() * TO_START > stop.remaining()
}

/// How many times as long as that of a schedule that is written down the making of one takes that can be improved.
const TO_INDEX: u32 = 8;

/// The best named schedule that can be made and replayed in the time, or, if there is none, the serial one. None is better
/// than the bound.
pub(super) fn named(model: &Model, objective: Objective, bound: Ticks, stop: &Stop) -> Option<Found> {
    let mut best: Option<ReplayedSchedule> = None;
    let mut longest = Duration::ZERO;
    let entries = catalog::entries().iter().rev();
    let (improvable, written): (Vec<&Entry>, Vec<&Entry>) =
        entries.partition(|entry| entry.takes_improving());
    for entry in written.into_iter().chain(improvable) {
        let needed = longest * if entry.takes_improving() { TO_INDEX } else { 1 };
        let is_over = match &best {
            Some(best) => best.value == bound || stop.remaining() < needed,
            None => stop.is_interrupted(),
        };
        if is_over {
            break;
        }
        let begun = Instant::now();
        let Ok(proposal) = entry.unimproved(model) else { continue };
        let engine = entry.name_on(model.placement()).to_owned();
        let replayed = ReplayedSchedule::new(model, objective, proposal.schedule(model), engine);
        best = best.into_iter().chain(replayed).min_by_key(ReplayedSchedule::rank);
        longest = longest.max(begun.elapsed());
    }
    let again = model.memory().checkpoint.is_some();
    let mut serials = [false].into_iter().chain(again.then_some(true)).filter_map(|recompute| {
        ReplayedSchedule::new(model, objective, serial(model, recompute), "serial".to_owned()).ok()
    });
    best.or_else(|| serials.next()).map(Found::known)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Placement;
    use crate::stop::Interrupt;

    fn found(model: &Model, stop: &Stop) -> (String, Ticks) {
        let Found { replayed, block } =
            named(model, Objective::Makespan, Ticks::ZERO, stop).expect("the serial schedule fits");
        assert_eq!(block, None);
        (replayed.engine, replayed.value)
    }

    #[test]
    fn the_best_named_schedule_is_taken_or_the_first_that_fits() {
        for placement in [Placement::linear(4), Placement::v(4), Placement::looped(4, 2)] {
            let model =
                Model::equal_stages(placement.expect("a placement"), 8, [3, 4, 2, 1]).expect("a model");
            let all = catalog::entries().iter().filter_map(|entry| entry.unimproved(&model).ok());
            let values = all.map(|proposal| {
                let schedule = proposal.schedule(&model);
                let replayed = ReplayedSchedule::new(&model, Objective::Makespan, schedule, String::new());
                replayed.expect("it is valid").value
            });
            let values: Vec<Ticks> = values.collect();
            assert_eq!(Some(found(&model, &Stop::default()).1), values.iter().copied().min());
            assert!(values.contains(&found(&model, &Stop::after(Duration::ZERO)).1));
        }
    }

    #[test]
    fn the_serial_schedule_is_there_when_there_is_no_time_for_another() {
        let model = Model::equal_stages(Placement::linear(3).expect("a placement"), 5, [3, 4, 2, 0])
            .expect("a model");
        let interrupt = Interrupt::default();
        interrupt.raise();
        // Each microbatch goes up and down through all stages, and its last W follows.
        assert_eq!(found(&model, &Stop::on(interrupt)), ("serial".to_owned(), Ticks(5 * (3 * 7 + 2))));
    }

    #[test]
    fn a_search_needs_time_to_get_started() {
        let of = |microbatches| {
            Model::unit(Placement::linear(2).expect("a placement"), microbatches).expect("a model")
        };
        let (second, stop) = (Duration::from_secs(1), Stop::after(Duration::from_secs(30)));
        assert!(is_too_long(&of(1), second, &stop));
        assert!(!is_too_long(&of(100), second, &stop));
        assert!(!is_too_long(&of(1), second, &Stop::default()));
    }
}
