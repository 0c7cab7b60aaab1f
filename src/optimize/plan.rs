//! Plans: where the forwards of a list schedule come from.

use std::time::Duration;

use super::{Stop, zone};
use crate::block::{Block, Passes};
use crate::certificate::interval_bound;
use crate::model::{Device, Kind, Microbatch, Model, Pass, Shape, Stage};
use crate::schedule::Schedule;

/// Blocks of least interval under the caps, with what found them.
pub(super) fn blocks(model: &Model, stop: &Stop) -> Vec<(String, Block)> {
    if zone::is_applicable(model.placement()) {
        return zone::least_interval(model, Passes::SPLIT, stop)
            .map_or_else(|_| Vec::new(), |best| vec![("exact".to_owned(), best.block)]);
    }
    by_milp(model, stop.remaining())
}

/// The orders of forwards of V blocks with uniform offsets: on each device chunk 1 follows chunk 0
/// at a distance that grows towards the first device, by twice the forward for V-Min, three times
/// for V-Half, six times for V-ZB (arXiv 2405.15362, Table 1).
pub(super) fn uniform_v(model: &Model) -> Vec<Schedule> {
    if model.placement().shape() != Shape::V {
        return Vec::new();
    }
    let interval = interval_bound(model).ceil().to_integer();
    // The paper's families hold a share of 1F1B's memory in proportion to the growth, all of it at
    // six: those that fit the first device's cap best come first.
    let first = model.placement().stages_of(Device(0));
    let whole = i64::from(model.devices())
        .saturating_mul(first.iter().map(|&stage| model.activation(stage).0).sum::<i64>());
    let fitting = match model.capacity(Device(0)) {
        Some(capacity) if whole > 0 => 12_i64.saturating_mul(capacity.0) / whole,
        _ => 12,
    };
    let mut growths: Vec<i64> = (4..=16).collect();
    growths.sort_by_key(|halves| (halves - fitting).abs());
    growths.into_iter().filter_map(|halves| forwards_only(model, interval, halves)).collect()
}

fn forwards_only(model: &Model, interval: i64, halves: i64) -> Option<Schedule> {
    let devices = model.devices();
    let turn = model.duration(Stage(devices - 1), Kind::F).0;
    // From the last device back to the first: how far behind chunk 0 chunk 1 starts.
    let mut distance = vec![turn; devices as usize];
    for device in (0..devices - 1).rev() {
        let stage = Stage(device);
        let step = model.duration(stage, Kind::F).0 + model.latency_after(stage).0;
        distance[stage.index()] = distance[stage.index() + 1] + step * halves / 2;
    }
    let orders = Device::all(devices).map(|device| {
        let (low, high) = (Stage(device.0), Stage(2 * devices - 1 - device.0));
        let mut timed: Vec<(i64, Pass)> = Microbatch::all(model.microbatches())
            .flat_map(|microbatch| {
                let start = i64::from(microbatch.0) * interval;
                [
                    (start, Pass::new(low, Kind::F, microbatch)),
                    (start + distance[device.index()], Pass::new(high, Kind::F, microbatch)),
                ]
            })
            .collect();
        timed.sort_unstable_by_key(|&(start, pass)| (start, pass));
        timed.into_iter().map(|(_, pass)| pass).collect()
    });
    Schedule::new(model.placement().clone(), model.microbatches(), orders.collect()).ok()
}

/// The block of least interval as an integer programme, where that is small enough to be solved in
/// moments. Only what is proved optimal counts: what is found when the time is up differs from run to
/// run.
#[cfg(feature = "milp")]
fn by_milp(model: &Model, limit: Duration) -> Vec<(String, Block)> {
    use crate::encode::{Objective, Outcome, milp};
    if model.stages() > MOST_STAGES {
        return Vec::new();
    }
    match milp::solve(model, Objective::LeastInterval, limit.min(MOST_TIME)) {
        Ok(Outcome::Optimal(answer)) => vec![("milp".to_owned(), answer.block)],
        Ok(Outcome::Bounded { .. } | Outcome::Infeasible) | Err(_) => Vec::new(),
    }
}

#[cfg(not(feature = "milp"))]
fn by_milp(_: &Model, _: Duration) -> Vec<(String, Block)> {
    Vec::new()
}

/// The most stages whose block is looked for as an integer programme.
#[cfg(feature = "milp")]
const MOST_STAGES: u32 = 16;

/// The most time that is spent on it.
#[cfg(feature = "milp")]
const MOST_TIME: Duration = Duration::from_secs(20);
