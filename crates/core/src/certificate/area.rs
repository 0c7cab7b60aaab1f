//! **Area bound.** What every microbatch holds, times the least time for which it holds it, summed, fits into the
//! capacity times the span of the passes of the device. Its [end of the step](super::step) follows.

use num_integer::Integer;
use num_rational::Ratio;

use super::path::Paths;
use super::reason::{Bound, BoundReason, Objective};
use super::{least_held, link, relaxed::relaxed, trade};
use crate::model::{Device, Kind, Model, Ticks, Units};

/// The bound from the memory that a device fills: its passes take at least all areas over its capacity.
pub(super) fn bound(model: &Model, paths: &Paths<'_>, device: Device, objective: Objective) -> Option<Bound> {
    let capacity = model.activation_capacity(device).filter(|&capacity| capacity > Units::ZERO)?;
    let lowest = *model.placement().stages_of(device).iter().min()?;
    let head = match objective {
        Objective::Makespan => paths.forward_head(lowest),
        Objective::DeviceSpan => Ticks::ZERO,
    };
    let areas = area(model, paths, device).checked_mul(i128::from(model.microbatches()))?;
    let span = i64::try_from(Integer::div_ceil(&areas, &i128::from(capacity.0))).ok()?;
    let value = head.checked_add(Ticks(span))?.checked_add(paths.device_tail(device))?;
    Some(Bound { value, reason: BoundReason::Area { device } })
}

/// The sum of what one microbatch holds on a device, times the least time for which it holds it.
fn area(model: &Model, paths: &Paths<'_>, device: Device) -> i128 {
    let stages = model.placement().stages_of(device).iter();
    stages
        .map(|&stage| {
            let input = model.duration(stage, Kind::I);
            let to_input = paths.input_head(stage) + input - paths.forward_head(stage);
            // With recomputation only the checkpoint lives that long; the rest lives through R and I.
            let long = least_held(model, stage);
            let rest = model.activation(stage) - long;
            let again = model.duration(stage, Kind::R);
            let retained = model.retained_for_weight(stage);
            let weight = model.duration(stage, Kind::W);
            i128::from(long.0) * i128::from(to_input.0)
                + i128::from(rest.0) * i128::from((again + input).min(to_input).0)
                + i128::from(retained.0) * i128::from(weight.0)
        })
        .sum()
}

/// A lower bound on the time per microbatch in the long run, over all schedules under the capacities.
///
/// The most work of any device or link; and the **area bound**: while one microbatch enters and one leaves
/// per interval, the memory in use on a device averages `sum_s activation_s * lifespan_s / T`, and
/// lifespans are at least the critical path from F to its backward; and what memory forces to recompute. The end of the step counts once and changes
/// nothing here. Returns 0 for models with two directions.
#[must_use]
pub fn interval_bound(model: &Model) -> Ratio<i64> {
    if model.placement().directions() > 1 {
        return Ratio::from_integer(0);
    }
    let apart = model.with_own_links();
    let by_links = link::loads(model, &Paths::new(&apart)).into_iter();
    let by_links = by_links.map(|load| Ratio::from_integer(load.work.0));
    let model = &*relaxed(&apart);
    let paths = Paths::new(model);
    let by_area = Device::all(model.devices()).filter_map(|device| {
        let capacity = model.activation_capacity(device).filter(|&capacity| capacity > Units::ZERO)?;
        let least = Ratio::new(area(model, &paths, device), i128::from(capacity.0));
        Some(Ratio::new(i64::try_from(*least.numer()).ok()?, i64::try_from(*least.denom()).ok()?))
    });
    let by_trade = Device::all(model.devices()).filter_map(|device| trade::pace(&apart, &paths, device));
    by_area.chain(by_trade).chain(by_links).fold(Ratio::from_integer(model.most_work().0), Ratio::max)
}
