//! The schedules of a building block, for every number of microbatches.

use num_integer::Integer;

use super::cut::closed;
use super::growing::{Growing, Tail};
use super::survey::Survey;
use super::{EveryError, EveryM, Reason};
use crate::block::Block;
use crate::model::{Device, Model, Pass};

/// How many intervals after the first whole one a cut is looked for, for each device: enough for
/// blocks whose devices are out of step by several intervals from one to the next.
const INTERVALS_PER_DEVICE: u32 = 4;

/// Proves the schedules that a block [expands](Block::expand) to under a model, for every number of
/// microbatches from 1 on. The number that the model states plays no part.
///
/// # Errors
/// When the model is of another placement, overflows with the microbatches that have to be looked
/// at, or replay contradicts the theorem.
pub fn every_m_of_block(block: &Block, model: &Model) -> Result<EveryM, EveryError> {
    if block.placement() != model.placement() {
        return Err(EveryError::Placement);
    }
    let found = cut(block, model)?;
    let growing = found.as_ref().ok();
    let make = Box::new(|microbatches: u32| {
        let schedule = block.expand(model, microbatches)?;
        if let Some(growing) = growing
            && let Some(more) = microbatches.checked_sub(growing.microbatches())
        {
            let extension = growing.schedule((more % block.period()) as usize, more / block.period())?;
            if extension.orders() != schedule.orders() {
                return Err(EveryError::NotTheExtension(microbatches));
            }
        }
        Ok(schedule)
    });
    let mut survey = Survey::new(model, (1, 1), make);
    match &found {
        Ok(growing) => survey.conclude(growing),
        Err((reason, most)) => Ok(match survey.reach(*most)? {
            Some(refutation) => EveryM::Refuted(Box::new(refutation)),
            None => EveryM::Unknown(reason.clone()),
        }),
    }
}

/// Warm-up, interval and cool-downs of a block; or why there are none, and up to how many microbatches the
/// schedules should be replayed then.
type Cut = Result<Growing, (Reason, u32)>;

fn cut(block: &Block, model: &Model) -> Result<Cut, EveryError> {
    let (period, devices) = (block.period(), model.devices());
    let interval = block.interval_parts().0;
    let block = block.clone().from_zero();
    let latest = block.passes().map(|(_, offset)| offset.0).max().unwrap_or_default();
    let whole = u32::try_from(Integer::div_ceil(&latest, &interval).max(1)).unwrap_or(u32::MAX);
    // The passes of a device before an instant, in intervals, of the schedule of all copies.
    let before = |device: Device, intervals: u32| -> usize {
        let end = i64::from(intervals) * interval;
        let copies = |(_, offset)| Integer::div_ceil(&(end - offset), &interval);
        let on_device = block.passes().filter(|(pass, _)| model.placement().device_of(pass.stage) == device);
        let count: i64 = on_device.map(|(pass, offset)| copies((pass, offset.0))).sum();
        usize::try_from(count).expect("instants behind every offset")
    };
    let begin: Vec<usize> = Device::all(devices).map(|device| before(device, whole)).collect();
    let reach = INTERVALS_PER_DEVICE.saturating_mul(devices);
    let mut margin = 0;
    let (cut, intervals) = loop {
        let intervals = whole.saturating_add(margin);
        let schedule = block.expand(model, period.saturating_mul(intervals))?;
        let cut = closed(&schedule, begin.clone());
        if Device::all(devices).all(|device| cut[device.index()] <= before(device, intervals)) {
            break (cut, intervals);
        }
        if margin >= reach {
            return Ok(Err((Reason::NoCut { intervals: reach }, period * intervals)));
        }
        margin = (2 * margin).clamp(1, reach);
    };
    let base = period * intervals;
    let next = block.expand(model, base + period)?;
    let piece = |device: Device, order: &[Pass]| {
        let length = before(device, whole + 1) - begin[device.index()];
        order[cut[device.index()]..][..length].to_vec()
    };
    let heads =
        Device::all(devices).map(|device| next.order(device)[..cut[device.index()]].to_vec()).collect();
    let bodies = Device::all(devices).map(|device| piece(device, next.order(device))).collect();
    let mut tails = Vec::new();
    for microbatches in base..base + period {
        let schedule = block.expand(model, microbatches)?;
        let orders =
            Device::all(devices).map(|device| schedule.order(device)[cut[device.index()]..].to_vec());
        tails.push(Tail { microbatches, orders: orders.collect() });
    }
    let growing = Growing::new(model.placement().clone(), period, heads, bodies, tails);
    Ok(growing.map_err(|irregular| (irregular.into(), base + period)))
}
