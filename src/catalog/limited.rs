//! Schedules for linear placement made on the real costs within a memory limit.
//!
//! Two decisions make such a schedule: how forwards and Is alternate, and where Ws go. List
//! scheduling answers the first in a few ways; [`improve`](super::improve) answers the second for
//! each of them, and the shortest is kept.

use super::floor::{Floor, Rule};
use super::improve::{Length, improved, measured, shortest_float};
use super::{CatalogError, Due, Needs, linear, one_f_one_b_memory, schedule};
use crate::block::order_peak;
use crate::model::{Device, Kind, Microbatch, Model, Pass, Stage, Ticks, Units};
use crate::schedule::Schedule;

/// How many candidates are improved to the end.
const FINALISTS: usize = 2;

/// ZB-1p (arXiv 2401.10241, section 3.1): scheduled within the memory of 1F1B, on every device as
/// much as 1F1B holds on device 0, and within the caps of the model.
///
/// # Errors
/// When some device has not the room for one microbatch.
pub(super) fn zb_1p(model: &Model, due: Due<'_>) -> Result<Schedule, CatalogError> {
    within(model, "zb-1p", 1, due)
}

/// ZB-2p (arXiv 2401.10241, section 3.1): as ZB-1p, with twice the memory.
///
/// # Errors
/// When some device has not the room for one microbatch.
pub(super) fn zb_2p(model: &Model, due: Due<'_>) -> Result<Schedule, CatalogError> {
    within(model, "zb-2p", 2, due)
}

fn within(model: &Model, name: &'static str, factor: i64, due: Due<'_>) -> Result<Schedule, CatalogError> {
    let limit = one_f_one_b_memory(model) * factor;
    let limits: Vec<Units> = Device::all(model.devices())
        .map(|device| model.capacity(device).map_or(limit, |capacity| capacity.min(limit)))
        .collect();
    scheduled(model, name, &limits, due)
}

/// The schedule that the heuristic behind `zb-1p` and `zb-2p` finds within these limits, one per
/// device, in units. The caps of the model play no part.
///
/// # Errors
/// When the placement is not linear, there is not one limit for each device, or some device has not
/// the room for one microbatch.
pub fn memory_limited(model: &Model, limits: &[Units]) -> Result<Schedule, CatalogError> {
    let name = "memory-limited";
    if !Needs::Linear.met_by(model.placement()) {
        let has = model.placement().shape();
        return Err(CatalogError::NotThisPlacement { name, needs: Needs::Linear, has });
    }
    if limits.len() != model.devices() as usize {
        return Err(CatalogError::Limits { found: limits.len(), devices: model.devices() });
    }
    scheduled(model, name, limits, &|| false)
}

fn scheduled(
    model: &Model,
    name: &'static str,
    limits: &[Units],
    due: Due<'_>,
) -> Result<Schedule, CatalogError> {
    for (device, &limit) in Device::all(model.devices()).zip(limits) {
        let activation = model.activation(Stage(device.0));
        if activation > limit {
            return Err(CatalogError::NoRoom { name, device, limit, activation });
        }
    }
    let within = |schedule: &Schedule| {
        schedule.orders().iter().zip(limits).all(|(order, &limit)| order_peak(model, order) <= limit)
    };
    let published = [linear::zb_h1(model), linear::zb_h2(model)].into_iter().filter(within);
    let listed = [Some(1), Some(2), None].map(|lead| listed(model, limits, lead));
    let mut candidates: Vec<(Schedule, Length)> = Vec::new();
    for candidate in published.chain(listed) {
        if due() && !candidates.is_empty() {
            break;
        }
        candidates.push(shortest_float(model, &candidate, limits));
        candidates.push(measured(model, candidate));
    }
    candidates.sort_by_key(|(_, length)| *length);
    candidates.dedup_by(|second, first| second.0.orders() == first.0.orders());
    candidates.truncate(FINALISTS);
    let (best, _) = candidates
        .into_iter()
        .map(|(candidate, _)| improved(model, candidate, limits, due))
        .min_by_key(|(_, length)| *length)
        .expect("list scheduling always gives candidates");
    Ok(best)
}

/// The schedule in which a free device runs I before F before W. `lead` says how many forwards may be
/// ahead of the Is, beside the one that runs, for each device after this one; without it as many as
/// there is room for.
fn listed(model: &Model, limits: &[Units], lead: Option<u32>) -> Schedule {
    let passes = Stage::all(model.stages()).flat_map(|stage| {
        Microbatch::all(model.microbatches()).flat_map(move |microbatch| {
            [Kind::F, Kind::I, Kind::W].map(|kind| Pass::new(stage, kind, microbatch))
        })
    });
    let next = vec![[0; 3]; limits.len()];
    schedule(model, Floor::new(model, passes).run(&mut Listing { limits, lead, next }))
}

/// The rule of [`listed`].
struct Listing<'a> {
    limits: &'a [Units],
    lead: Option<u32>,
    /// The next microbatch of F, I and W on each device.
    next: Vec<[u32; 3]>,
}

impl Rule for Listing<'_> {
    fn choose(&mut self, floor: &Floor<'_>, device: Device, now: Ticks) -> Option<Pass> {
        let model = floor.model;
        let index = device.index();
        let [forward, input, weight] = self.next[index];
        let pass = |kind, microbatch| Pass::new(Stage(device.0), kind, Microbatch(microbatch));
        let arrival = |kind, microbatch| {
            (microbatch < model.microbatches()).then(|| floor.arrival(pass(kind, microbatch))).flatten()
        };
        let arrived = |arrival: Option<Ticks>| arrival.is_some_and(|arrival| arrival <= now);

        let forward_arrival = arrival(Kind::F, forward);
        let room = floor.fits(device, pass(Kind::F, forward), self.limits[index]);
        let behind = model.devices() - 1 - device.0;
        let ahead = self.lead.is_some_and(|lead| forward - input > lead * behind);
        let forward_ready = room && !ahead && arrived(forward_arrival);
        let input_arrival = arrival(Kind::I, input);
        let input_ready = arrived(input_arrival);

        // A W runs where it delays nothing that is already on its way, or makes room.
        let end = now + model.duration(Stage(device.0), Kind::W);
        let awaited = [input_arrival, forward_arrival.filter(|_| !ahead)];
        let in_time = awaited.into_iter().flatten().all(|arrival| end <= arrival);

        let chosen = if input_ready {
            Kind::I
        } else if forward_ready {
            Kind::F
        } else if weight < input && (!room || in_time) {
            Kind::W
        } else {
            return None;
        };
        let slot = match chosen {
            Kind::F => 0,
            Kind::I => 1,
            _ => 2,
        };
        let microbatch = self.next[index][slot];
        self.next[index][slot] += 1;
        Some(pass(chosen, microbatch))
    }
}
