//! Schedules for passes alone that keep to capacities under which memory is more than what F keeps.
//!
//! The searches know plain memory. They first work in the model of the [floor](Model::memory_floor): what fits there under the
//! model itself as well is as good as without workspaces and buffers. Where it does not fit, they work in floors with
//! less room, by as much as replay says that a device was over its capacity; and if none of these fits, in the
//! [ceiling](Model::memory_ceiling), where everything that is found fits. Last, there is one microbatch after the other, and the
//! named schedules.

use super::super::feasible::Infeasible;
use super::least::least;
use super::sources::{Source, bare};
use crate::catalog;
use crate::model::{Device, Kind, Model, Pass, Units};
use crate::optimize::{OptimizeError, Options, Progress, Solution, optimize};
use crate::replay::replay;
use crate::schedule::Schedule;
use crate::stop::Stop;

/// What was found for passes alone.
pub(super) struct Apart {
    /// The first one for the floor. Only those that replay accepts under the model are valid there.
    pub solutions: Vec<Solution>,
    /// The model of plain memory to look for others in: what was found there last.
    pub room: Model,
}

/// Solutions for a model of passes one by one, whose memory may be more than what F keeps.
///
/// # Errors
/// As [`optimize`] for the floor.
pub(super) fn solutions(
    model: &Model,
    options: &Options,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Apart, OptimizeError> {
    let floor = model.memory_floor();
    // Half of the time, where what is found there may not fit.
    let half = |options: &Options| options.stop.within(options.stop.remaining() / 2);
    let stop = if model.has_plain_memory() { options.stop.clone() } else { half(options) };
    let first = optimize(&floor, &Options { stop, ..options.clone() }, progress)?;
    let mut excess = excess(model, &first.schedule);
    let mut apart = Apart { solutions: vec![first], room: floor.clone().into_owned() };
    if !is_over(&excess) {
        return Ok(apart);
    }
    let mut less = vec![Units::ZERO; excess.len()];
    let further = |model: &Model, progress: &mut dyn FnMut(&Progress)| {
        let options = Options {
            stop: half(options),
            effort: options.effort / 4,
            exact_effort: 0,
            use_all_time: false,
            known: Vec::new(),
            ..options.clone()
        };
        match optimize(model, &options, progress) {
            Ok(found) => Ok(Some(found)),
            Err(OptimizeError::Infeasible(_)) => Ok(None),
            Err(error) => Err(error),
        }
    };
    let mut is_found = false;
    for _ in 0..MOST_ROUNDS {
        if options.stop.is_due() {
            break;
        }
        less.iter_mut().zip(&excess).for_each(|(less, &excess)| *less += excess);
        let Some(narrower) = floor.with_less_room(&less) else { break };
        let Some(found) = further(&narrower, progress)? else { break };
        excess = self::excess(model, &found.schedule);
        apart.room = narrower;
        apart.solutions.push(found);
        is_found = !is_over(&excess);
        if is_found {
            break;
        }
    }
    if !is_found
        && !options.stop.is_due()
        && let Some(ceiling) = model.memory_ceiling()
        && let Some(found) = further(&ceiling, progress)?
    {
        apart.room = ceiling.into_owned();
        apart.solutions.push(found);
    }
    Ok(apart)
}

/// How often less room is tried.
const MOST_ROUNDS: usize = 4;

/// By device: how much its peak is over its capacity.
fn excess(model: &Model, schedule: &Schedule) -> Vec<Units> {
    let peaks = replay(model, schedule).peak_memory;
    let devices = Device::all(model.devices()).zip(peaks);
    devices
        .map(|(device, peak)| {
            model.capacity(device).map_or(Units::ZERO, |capacity| (peak - capacity).max(Units::ZERO))
        })
        .collect()
}

fn is_over(excess: &[Units]) -> bool {
    excess.iter().any(|&units| units > Units::ZERO)
}

/// More schedules for a model whose memory is more than what F keeps, with what made them: those found with every I and the W
/// right behind it as a B, which never holds more than F kept; named ones; and the one of least memory.
pub(super) fn others(model: &Model, apart: &Apart, stop: &Stop) -> Result<Vec<Source>, Infeasible> {
    let mut found: Vec<Source> = Vec::new();
    for solution in &apart.solutions {
        found.extend(fused(&solution.schedule).map(|fused| (fused, solution.engine.clone())));
    }
    found.extend(named(model, apart, &stop.within(stop.remaining() / 8)));
    found.extend(least(model)?.map(|least| (least, "one microbatch at a time".to_owned())));
    Ok(found)
}

/// The named schedules for the floor, and for the model in which something was found last.
pub(super) fn named(model: &Model, apart: &Apart, stop: &Stop) -> Vec<Source> {
    let mut found = Vec::new();
    for entry in catalog::entries() {
        for plain in [&*model.memory_floor(), &apart.room] {
            let made = entry.generate_until(plain, stop).ok();
            let engine = entry.name_on(model.placement());
            found.extend(made.map(|schedule| (bare(&schedule), engine.to_owned())));
        }
    }
    found
}

/// The schedule with every I and the W right behind it as a B; nothing if there is none.
pub(super) fn fused(schedule: &Schedule) -> Option<Schedule> {
    let mut is_fused = false;
    let orders = schedule.orders().iter().map(|order| {
        let mut fused: Vec<Pass> = Vec::with_capacity(order.len());
        for &pass in order {
            match fused.last_mut() {
                Some(last) if last.kind == Kind::I && pass == last.with_kind(Kind::W) => {
                    *last = last.with_kind(Kind::B);
                    is_fused = true;
                }
                _ => fused.push(pass),
            }
        }
        fused
    });
    let orders = orders.collect();
    let fused = Schedule::new(schedule.placement().clone(), schedule.microbatches(), orders).ok()?;
    is_fused.then_some(fused)
}
