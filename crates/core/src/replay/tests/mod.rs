//! Replay of small schedules, whose violations, times and memory are known.

mod directions;
mod memory;
mod messages;
mod offload;
mod pairs;
mod recompute;
mod sharding;
mod step;
mod times;
mod transient;
mod violations;

use super::*;
use crate::model::{Costs, Memory, Placement, Stage};

fn placement(lists: &[&[u32]]) -> Placement {
    let lists = lists.iter().map(|stages| stages.iter().copied().map(Stage).collect());
    Placement::new(lists.collect()).expect("a placement")
}

/// The schedule whose orders are these texts: passes with spaces between them.
fn schedule(lists: &[&[u32]], microbatches: u32, orders: &[&str]) -> Schedule {
    let read = |order: &&str| order.split_whitespace().map(|pass| pass.parse().expect("a pass")).collect();
    Schedule::new(placement(lists), microbatches, orders.iter().map(read).collect()).expect("a schedule")
}

fn unit(schedule: &Schedule) -> Model {
    Model::unit(schedule.placement().clone(), schedule.microbatches()).expect("a model")
}

/// The unit model of a schedule with other costs.
fn with_costs(schedule: &Schedule, change: impl FnOnce(&mut Costs)) -> Model {
    let model = unit(schedule);
    let mut costs = model.costs().clone();
    change(&mut costs);
    Model::new(
        "test".to_owned(),
        None,
        model.placement().clone(),
        model.microbatches(),
        costs,
        model.memory().clone(),
    )
    .expect("a model")
}

/// The unit model of a schedule with another memory.
fn with_memory(schedule: &Schedule, change: impl FnOnce(&mut Memory)) -> Model {
    let model = unit(schedule);
    let mut memory = model.memory().clone();
    change(&mut memory);
    Model::new(
        "test".to_owned(),
        None,
        model.placement().clone(),
        model.microbatches(),
        model.costs().clone(),
        memory,
    )
    .expect("a model")
}

fn messages(verdict: &Verdict) -> Vec<String> {
    verdict.violations.iter().map(ToString::to_string).collect()
}

const ONE: &[&[u32]] = &[&[0]];
const TWO: &[&[u32]] = &[&[0], &[1]];

fn ticks(starts: &[&[i64]]) -> Vec<Vec<Ticks>> {
    starts.iter().map(|starts| starts.iter().copied().map(Ticks).collect()).collect()
}

/// The schedule with overlapped pairs at these positions of each device.
fn overlapped(schedule: Schedule, overlaps: &[&[usize]]) -> Schedule {
    schedule.with_overlaps(overlaps.iter().map(|positions| positions.to_vec()).collect()).expect("pairs")
}
