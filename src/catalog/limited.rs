//! Schedules for linear placement made on the real costs within a memory limit.
//!
//! Two decisions make such a schedule: how forwards and Is alternate, and where Ws go. List
//! scheduling answers the first in a few ways; [`improve`](super::improve) answers the second for
//! each of them, and the shortest is kept.

use super::improve::{Improver, Measured};
use super::{CatalogError, Needs, linear, one_f_one_b_memory};
use crate::kernel::{
    IndexedOrders, IndexedPass, IndexedProblem, IndexedSchedule, PartialSchedule, Policy, class,
    list_schedule,
};
use crate::model::{Device, Kind, Model, Stage, Units};
use crate::schedule::Schedule;
use crate::stop::Stop;

/// How many candidates are improved to the end.
const FINALISTS: usize = 2;

/// ZB-1p (arXiv 2401.10241, section 3.1): scheduled within the memory of 1F1B, on every device as
/// much as 1F1B holds on device 0, and within the capacities of the model.
///
/// # Errors
/// When some device has not the room for one microbatch.
pub(super) fn zb_1p(model: &Model, stop: &Stop) -> Result<IndexedSchedule, CatalogError> {
    within(model, "zb-1p", 1, stop)
}

/// ZB-2p (arXiv 2401.10241, section 3.1): as ZB-1p, with twice the memory.
///
/// # Errors
/// When some device has not the room for one microbatch.
pub(super) fn zb_2p(model: &Model, stop: &Stop) -> Result<IndexedSchedule, CatalogError> {
    within(model, "zb-2p", 2, stop)
}

/// The first schedule that ZB-1p looks at: list scheduled within its memory.
///
/// # Errors
/// As [`zb_1p`].
pub(super) fn zb_1p_at_once(model: &Model) -> Result<IndexedSchedule, CatalogError> {
    at_once(model, "zb-1p", 1)
}

/// The same for ZB-2p.
///
/// # Errors
/// As [`zb_2p`].
pub(super) fn zb_2p_at_once(model: &Model) -> Result<IndexedSchedule, CatalogError> {
    at_once(model, "zb-2p", 2)
}

fn within(
    model: &Model,
    name: &'static str,
    factor: i64,
    stop: &Stop,
) -> Result<IndexedSchedule, CatalogError> {
    scheduled(model, name, &memory_of(model, factor), stop)
}

fn at_once(model: &Model, name: &'static str, factor: i64) -> Result<IndexedSchedule, CatalogError> {
    let problem = problem(model, name, &memory_of(model, factor))?;
    let orders = listed(model, &problem, None, &Stop::default()).ok_or(CatalogError::Stopped(name))?;
    Ok(IndexedSchedule { problem, orders })
}

/// So many times the memory of 1F1B for each device, and its capacity at most.
fn memory_of(model: &Model, factor: i64) -> Vec<Units> {
    let limit = one_f_one_b_memory(model) * factor;
    Device::all(model.devices())
        .map(|device| model.activation_capacity(device).map_or(limit, |capacity| capacity.min(limit)))
        .collect()
}

/// The schedule that the heuristic behind `zb-1p` and `zb-2p` finds within these limits, one per
/// device, in units. The capacities of the model play no part.
///
/// # Errors
/// When the placement is not linear, there is not one limit for each device, or some device has not
/// the room for one microbatch.
pub fn memory_limited(model: &Model, limits: &[Units]) -> Result<Schedule, CatalogError> {
    let (name, model) = ("memory-limited", &*model.with_kept_memory());
    if !Needs::Linear.met_by(model.placement()) {
        let has = model.placement().shape();
        return Err(CatalogError::NotThisPlacement { name, needs: Needs::Linear, has });
    }
    if limits.len() != model.devices() as usize {
        return Err(CatalogError::Limits { found: limits.len(), devices: model.devices() });
    }
    Ok(scheduled(model, name, limits, &Stop::default())?.schedule(model))
}

fn scheduled(
    model: &Model,
    name: &'static str,
    limits: &[Units],
    stop: &Stop,
) -> Result<IndexedSchedule, CatalogError> {
    let problem = problem(model, name, limits)?;
    let published = [linear::zb_h1, linear::zb_h2].into_iter().map(|make| {
        let orders = problem.split_orders(&make(model)).expect("nothing is recomputed");
        problem.fits(&orders).then_some(orders)
    });
    let listed = [Some(1), Some(2), None].into_iter().map(|lead| listed(model, &problem, lead, stop));
    let mut improver = Improver::new(&problem, stop);
    let mut candidates: Vec<Measured> = Vec::new();
    for candidate in published.chain(listed) {
        if stop.is_due() && !candidates.is_empty() {
            break;
        }
        let Some(candidate) = candidate else { continue };
        candidates.extend(improver.shortest_float(&candidate));
        candidates.push(improver.measured(candidate));
    }
    candidates.sort_by_key(|candidate| candidate.length);
    candidates.dedup_by(|second, first| second.orders == first.orders);
    candidates.truncate(FINALISTS);
    let best = candidates
        .into_iter()
        .map(|candidate| improver.improved(candidate.orders))
        .min_by_key(|candidate| candidate.length)
        .ok_or(CatalogError::Stopped(name))?;
    Ok(IndexedSchedule { orders: best.orders, problem })
}

/// The problem within these limits, if one microbatch fits.
fn problem(model: &Model, name: &'static str, limits: &[Units]) -> Result<IndexedProblem, CatalogError> {
    for (device, &limit) in Device::all(model.devices()).zip(limits) {
        let activation = model.activation(Stage(device.0));
        if activation > limit {
            return Err(CatalogError::NoRoom { name, device, limit, activation });
        }
    }
    Ok(IndexedProblem::split(model, &vec![false; model.stages() as usize]).within(limits))
}

/// The orders in which a free device runs I before F before W. `lead` says how many forwards may be
/// ahead of the Is, beside the one that runs, for each device after this one; without it as many as
/// there is room for. Nothing when it is time to stop.
fn listed(model: &Model, problem: &IndexedProblem, lead: Option<u32>, stop: &Stop) -> Option<IndexedOrders> {
    // Once the forwards are over, Ws go on to make room as if for one more, of which no more than a checkpoint need
    // be kept.
    let beyond = Stage::all(model.stages())
        .map(|stage| model.checkpoint(stage).unwrap_or_else(|| model.activation(stage)).0)
        .collect();
    let mut policy = Listing { lead, beyond, next: vec![[0; 3]; problem.limits.len()] };
    let orders = list_schedule(problem, &mut policy, stop);
    assert!(orders.is_some() || stop.is_due(), "every device has room for one microbatch");
    orders
}

/// The policy of [`listed`].
struct Listing {
    lead: Option<u32>,
    /// What a forward beyond the last would hold on each device, in units.
    beyond: Vec<i64>,
    /// The next microbatch of F, I and W on each device.
    next: Vec<[u32; 3]>,
}

impl Policy for Listing {
    fn choose(&mut self, so_far: &PartialSchedule<'_>, device: usize, now: i64) -> Option<IndexedPass> {
        let problem = so_far.problem;
        let [forward, input, weight] = self.next[device];
        let stage = Device::at(device).0;
        let pass = |kind, microbatch| IndexedPass { class: class(stage, kind), microbatch };
        let arrival = |kind, microbatch| {
            (microbatch < problem.microbatches()).then(|| so_far.arrival(pass(kind, microbatch))).flatten()
        };
        let arrived = |arrival: Option<i64>| arrival.is_some_and(|arrival| arrival <= now);

        let forward_arrival = arrival(Kind::F, forward);
        let held = if forward < problem.microbatches() {
            problem.class(class(stage, Kind::F)).held
        } else {
            self.beyond[device]
        };
        let room = so_far.has_room(device, held, problem.limits[device]);
        let behind = Device::at(self.next.len()).0 - 1 - stage;
        let ahead = self.lead.is_some_and(|lead| forward - input > lead * behind);
        let forward_ready = room && !ahead && arrived(forward_arrival);
        let input_arrival = arrival(Kind::I, input);
        let input_ready = arrived(input_arrival);

        // A W runs where it delays nothing that is already on its way, or makes room.
        let end = now + problem.class(class(stage, Kind::W)).duration;
        let awaited = [input_arrival, forward_arrival.filter(|_| !ahead)];
        let in_time = awaited.into_iter().flatten().all(|arrival| end <= arrival);

        let (slot, kind) = if input_ready {
            (1, Kind::I)
        } else if forward_ready {
            (0, Kind::F)
        } else if weight < input && (!room || in_time) {
            (2, Kind::W)
        } else {
            return None;
        };
        let microbatch = self.next[device][slot];
        self.next[device][slot] += 1;
        Some(pass(kind, microbatch))
    }
}
