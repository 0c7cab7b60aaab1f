//! **Area bound.** What every microbatch holds, times the least time for which it holds it, summed, fits into the
//! capacity times the span of the passes of the device. Its [end of the step](super::step) follows.

use num_integer::Integer;
use num_rational::Ratio;

use super::path::Paths;
use super::reason::{Bound, BoundReason, Objective};
use super::{least_held, link, relaxed::relaxed, trade};
use crate::model::{Device, Kind, Model, Ticks, Units};

/// The bounds from the memory that a device fills: its passes take at least all areas over its capacity; and what is empty at the
/// beginning and at the end counts as well.
pub(super) fn bounds(model: &Model, paths: &Paths<'_>, device: Device, objective: Objective) -> Vec<Bound> {
    let bound = |ramps: i128, reason: BoundReason| {
        let capacity = model.activation_capacity(device).filter(|&capacity| capacity > Units::ZERO)?;
        let lowest = *model.placement().stages_of(device).iter().min()?;
        let head = match objective {
            Objective::Makespan => paths.forward_head(lowest),
            Objective::DeviceSpan => Ticks::ZERO,
        };
        let areas = area(model, paths, device).checked_mul(i128::from(model.microbatches()))?;
        let areas = areas.checked_add(ramps)?;
        let span = i64::try_from(Integer::div_ceil(&areas, &i128::from(capacity.0))).ok()?;
        let value = head.checked_add(Ticks(span))?.checked_add(paths.device_tail(device))?;
        Some(Bound { value, reason })
    };
    let stages = model.placement().stages_of(device);
    let most = stages.iter().map(|&stage| model.activation(stage)).max().unwrap_or_default();
    let least = model.work(device) * i64::from(model.microbatches());
    let ramps = model
        .activation_capacity(device)
        .map_or(0, |capacity| self::ramps(model, device, most, capacity, least));
    [bound(0, BoundReason::Area { device }), bound(ramps, BoundReason::Ramps { device })]
        .into_iter()
        .flatten()
        .collect()
}

/// How much memory of a device is empty at the beginning and at the end, in units times ticks, where no activation holds more than
/// `most`, and the passes of the device take at least `least` in all. Nothing where the two could overlap.
///
/// Before k forwards have ended, no more than k of them have begun. In the time that k - 1 backwards take before the end, no more than k
/// are left.
pub(super) fn ramps(model: &Model, device: Device, most: Units, capacity: Units, least: Ticks) -> i128 {
    let stages = || model.placement().stages_of(device).iter();
    let forward = stages().map(|&stage| model.duration(stage, Kind::F)).min().unwrap_or_default();
    let backward = stages().map(|&stage| model.duration(stage, Kind::B)).min().unwrap_or_default();
    let each = i128::from((forward + backward).0);
    if most <= Units::ZERO {
        return 0;
    }
    let (capacity, most) = (i128::from(capacity.0), i128::from(most.0));
    let steps = capacity / most;
    if steps * each > i128::from(least.0) {
        return 0;
    }
    // C - most, C - 2 * most, and so on.
    (steps * capacity - most * (steps * (steps + 1) / 2)).checked_mul(each).unwrap_or(0)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Placement;

    /// An F, an I and a W take 9 ticks, and four microbatches fill 11 units but for 8, 5 and 2.
    #[test]
    fn what_is_empty_at_both_ends_counts_where_these_cannot_overlap() {
        let model = Model::equal_stages(Placement::linear(2).expect("a placement"), 4, [3, 4, 2, 0])
            .expect("a model");
        let of = |most: i64, capacity: i64, least: i64| {
            ramps(&model, Device(0), Units(most), Units(capacity), Ticks(least))
        };
        assert_eq!(of(3, 11, 27), (8 + 5 + 2) * 9);
        assert_eq!(of(3, 11, 26), 0, "three of each need 27 ticks");
        assert_eq!(of(3, 2, 27), 0, "none fits");
        assert_eq!(of(0, 11, 27), 0, "nothing is held");
    }
}
