//! The kernel against replay, and what its parts promise.

use super::*;
use crate::catalog;
use crate::model::{Costs, Model, Pass, Placement, Ticks, Units};
use crate::replay::replay;
use crate::schedule::Schedule;
use crate::stop::Stop;

/// A model of one unit per activation with these durations on every stage and no latency.
fn uniform(placement: &Placement, microbatches: u32, [forward, input, weight]: [i64; 3]) -> Model {
    let unit = Model::unit(placement.clone(), microbatches).expect("a model");
    let mut costs = unit.costs().clone();
    costs.forward.fill(Ticks(forward));
    costs.backward_input.fill(Ticks(input));
    costs.backward_weight.fill(Ticks(weight));
    Model::new("uniform".to_owned(), None, placement.clone(), microbatches, costs, unit.memory().clone())
        .expect("a model")
}

fn pass(text: &str) -> Pass {
    text.parse().expect("a pass")
}

/// A schedule of one order per device, passes with spaces between them.
fn schedule(placement: &Placement, microbatches: u32, orders: &[&str]) -> Schedule {
    let read = |order: &&str| order.split_whitespace().map(pass).collect();
    Schedule::new(placement.clone(), microbatches, orders.iter().map(read).collect()).expect("a schedule")
}

#[test]
fn left_shifting_what_cannot_run_is_an_error() {
    let one = Placement::linear(1).expect("a placement");
    let two = Placement::linear(2).expect("a placement");
    for (placement, orders, stuck) in [
        (&one, vec!["0F0 0F0 0B0"], 1),
        (&one, vec!["0F0 0B0 1F0"], 1),
        (&one, vec!["0B0 0F0"], 2),
        (&one, vec!["0F0 0W0"], 1),
        (&two, vec!["0F0 0B0", "1B0"], 2),
        (&two, vec!["0F0 0B0 0F1 0B1", "1F0 1F1 1B0 1B1"], 6),
    ] {
        let schedule = schedule(placement, 2, &orders);
        let model = Model::unit(placement.clone(), 2).expect("a model");
        assert_eq!(asap(&model, &schedule), Err(Stuck(stuck)), "{orders:?}");
    }
}

#[test]
fn left_shifting_a_backward_that_stands_there_both_whole_and_in_parts_does_not_count_it_twice() {
    let placement = Placement::linear(2).expect("a placement");
    let schedule = schedule(&placement, 1, &["0F0 0B0", "1F0 1B0 1I0 1W0"]);
    let model = Model::unit(placement, 1).expect("a model");
    let timeline = asap(&model, &schedule).expect("it runs");
    assert_eq!(timeline.starts, [[0, 4].map(Ticks).to_vec(), [1, 2, 4, 5].map(Ticks).to_vec()]);
}

#[test]
fn filling_gaps_with_passes_without_duration_comes_to_an_end() {
    // After the gap of device 0 two weight gradients of no duration follow at the same instant.
    let placement = Placement::looped(2, 2).expect("a placement");
    let model = uniform(&placement, 1, [1, 1, 0]);
    let schedule = schedule(&placement, 1, &["0F0 2F0 2I0 0I0 2W0 0W0", "1F0 3F0 3I0 1I0 3W0 1W0"]);
    let before = replay(&model, &schedule);
    let (after, timeline) =
        fill_gaps(&model, &schedule, &before.peak_memory, &Stop::default()).expect("it runs");
    let verdict = replay(&model, &after);
    assert_eq!(verdict.violations, []);
    assert_eq!(verdict.timing.expect("it is valid").metrics.makespan, timeline.makespan(&model));
}

#[test]
fn filling_gaps_keeps_a_pass_behind_one_without_duration_that_it_needs() {
    // 1F0 arrives after a gap and takes no time; 1B0 takes none either and needs it.
    let placement = Placement::linear(2).expect("a placement");
    let unit = uniform(&placement, 2, [1, 1, 0]);
    let mut costs = unit.costs().clone();
    costs.forward[1] = Ticks(0);
    costs.backward_input[1] = Ticks(0);
    costs.backward_weight[1] = Ticks(1);
    let model = Model::new("test".to_owned(), None, placement.clone(), 2, costs, unit.memory().clone())
        .expect("a model");
    let schedule = schedule(&placement, 2, &["0F0 0F1 0B0 0B1", "1F0 1I0 1W0 1F1 1I1 1W1"]);
    let (after, _) = fill_gaps(&model, &schedule, &[Units(2), Units(2)], &Stop::default()).expect("it runs");
    assert_eq!(replay(&model, &after).violations, []);
}

#[test]
fn filling_gaps_ends_where_passes_take_no_time() {
    let placement = Placement::v(4).expect("a placement");
    let unit = Model::unit(placement.clone(), 12).expect("a model");
    let costs = Costs {
        forward: vec![Ticks::ZERO; 8],
        backward_weight: vec![Ticks(4); 8],
        communication: vec![Ticks(7); 7],
        ..unit.costs().clone()
    };
    let model = Model::new("instant".to_owned(), None, placement, 12, costs, unit.memory().clone());
    let model = model.expect("a model");
    let block = catalog::block("v-min", model.placement()).expect("V placement");
    let schedule = block.expand(&model, 12).expect("a schedule");
    let limits = replay(&model, &schedule).peak_memory;
    let (better, timeline) = fill_gaps(&model, &schedule, &limits, &Stop::default()).expect("it runs");
    let verdict = replay(&model, &better);
    assert_eq!(verdict.violations, []);
    assert_eq!(verdict.timing.expect("it is valid").metrics.makespan, timeline.makespan(&model));
}

/// Schedules in which passes of one stage and kind differ: some backwards in one piece and others not, some
/// microbatches recomputed and others not.
fn mixed() -> Vec<(Model, Schedule)> {
    let v = Model::equal_stages(Placement::v(3).expect("a placement"), 9, [3, 4, 2, 1]).expect("a model");
    let linear = Model::unit(Placement::linear(2).expect("a placement"), 2).expect("a model");
    let some_recomputed =
        schedule(linear.placement(), 2, &["0F0 0F1 0R0 0B0 0I1 0W1", "1F0 1I0 1W0 1F1 1R1 1B1"]);
    let overlapped = catalog::find("dualpipe-v").expect("a name").generate(&v).expect("V placement");
    vec![(linear, some_recomputed), (v, overlapped)]
}

#[test]
fn schedules_come_back_from_the_indexed_form_as_they_were() {
    for (model, schedule) in mixed() {
        let indexed = IndexedSchedule::of(&model, &schedule).expect("it is a schedule of the model");
        assert_eq!(indexed.schedule(&model).orders(), schedule.orders());
        assert_eq!(indexed.len(), schedule.len());
    }
}

#[test]
fn the_peaks_of_indexed_orders_are_those_of_their_passes() {
    for (model, schedule) in mixed() {
        let IndexedSchedule { problem, orders } =
            IndexedSchedule::of(&model, &schedule).expect("it is a schedule of the model");
        for (indexed, order) in orders.iter().zip(schedule.orders()) {
            assert_eq!(Units(problem.peak_of(indexed)), order_peak(&model, order));
        }
    }
}

#[test]
fn a_pass_on_a_device_that_does_not_hold_its_stage_is_an_error() {
    let placement = Placement::linear(2).expect("a placement");
    let model = Model::unit(placement.clone(), 1).expect("a model");
    let misplaced = schedule(&placement, 1, &["0F0 1B0 0B0", "1F0"]);
    assert_eq!(asap(&model, &misplaced), Err(Stuck(1)));
}

/// Starts whatever comes first in given orders.
struct Follow(IndexedOrders);

impl Policy for Follow {
    fn choose(&mut self, so_far: &PartialSchedule<'_>, device: usize, now: i64) -> Option<IndexedPass> {
        let next = *self.0[device].first()?;
        so_far.arrival(next).filter(|&arrival| arrival <= now)?;
        Some(self.0[device].remove(0))
    }
}

#[test]
fn a_list_schedule_that_follows_orders_gives_those_orders() {
    for (model, schedule) in mixed() {
        let IndexedSchedule { problem, orders } =
            IndexedSchedule::of(&model, &schedule).expect("it is a schedule of the model");
        assert_eq!(list_schedule(&problem, &mut Follow(orders.clone()), &Stop::default()), Some(orders));
    }
}

#[test]
fn a_list_schedule_that_ends_early_is_none() {
    let model = Model::unit(Placement::linear(2).expect("a placement"), 2).expect("a model");
    let problem = IndexedProblem::split(&model, &[false, false]);
    assert_eq!(list_schedule(&problem, &mut Follow(vec![Vec::new(); 2]), &Stop::default()), None);
}

#[test]
fn filling_gaps_ends_at_once_when_it_is_time_to_stop() {
    let model = Model::unit(Placement::v(4).expect("a placement"), 12).expect("a model");
    let block = catalog::block("v-min", model.placement()).expect("V placement");
    let schedule = block.expand(&model, 12).expect("a schedule");
    let now = Stop::after(std::time::Duration::ZERO);
    let (same, timeline) = fill_gaps(&model, &schedule, &block.steady_peak(&model), &now).expect("it runs");
    assert_eq!(same.orders(), schedule.orders());
    assert_eq!(asap(&model, &schedule), Ok(timeline));
}

#[test]
#[should_panic(expected = "there is one limit for each device")]
fn gaps_are_filled_only_within_a_limit_for_each_device() {
    let model = Model::unit(crate::model::Placement::linear(2).expect("a placement"), 1).expect("a model");
    let read = |order: &str| order.split(' ').map(|pass| pass.parse().expect("a pass")).collect();
    let orders = vec![read("0F0 0B0"), read("1F0 1B0")];
    let schedule = Schedule::new(model.placement().clone(), 1, orders).expect("a schedule");
    _ = fill_gaps(&model, &schedule, &[Units(9)], &Stop::default());
}
