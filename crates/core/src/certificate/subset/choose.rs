//! Which devices to keep: the best one, and what is best beside it.

use num_rational::Ratio;

use super::{Followed, Steps, Subset};
use crate::certificate::path::Paths;
use crate::certificate::{Bound, BoundReason, Objective, least_held};
use crate::model::{Device, Model, Units};

/// One set of devices may take one part in this many of all steps.
const PARTS: u64 = 4;

/// The best bound on an objective that some devices alone give, as far as the steps reach.
pub(in crate::certificate) fn best_bound(
    model: &Model,
    paths: &Paths<'_>,
    objective: Objective,
    steps: Steps,
    is_over: &mut dyn FnMut() -> bool,
) -> Option<Bound> {
    let (_, bound) = grown(model, steps, is_over, |devices, part| {
        let bound = bound_of(model, paths, objective, devices, part)?;
        Some((bound.value, bound))
    })?;
    Some(bound)
}

/// The bound that these devices give. Half of the steps are there for the states, half for what comes
/// after the last microbatch has begun.
pub(in crate::certificate) fn bound_of(
    model: &Model,
    paths: &Paths<'_>,
    objective: Objective,
    devices: &[Device],
    steps: &mut Steps,
) -> Option<Bound> {
    let mut subset = Subset::new(model, paths, devices);
    let mut first = steps.part(steps.0 / 2);
    let repetition = match subset.follow(model.microbatches(), &mut first) {
        Followed::Wholly => None,
        Followed::Repeating(repetition) => Some(repetition),
        Followed::Partly => Some(subset.best_repetition()?),
    };
    let value = subset.value(model.microbatches(), repetition, objective, steps)?;
    steps.0 += first.0;
    Some(Bound { value, reason: BoundReason::Subset { devices: devices.to_vec(), repetition } })
}

/// The fastest growth per microbatch in the long run that some devices alone show.
pub(in crate::certificate) fn steady(
    model: &Model,
    paths: &Paths<'_>,
    steps: Steps,
    is_over: &mut dyn FnMut() -> bool,
) -> Option<Ratio<i64>> {
    // As many as can begin without overflow, but no more than are likely to lead to a repetition.
    let microbatches = (0..=10).rev().map(|power| 1 << power);
    let microbatches = microbatches.into_iter().find(|&count| model.with_microbatches(count).is_ok())?;
    let (pace, ()) = grown(model, steps, is_over, |devices, part| {
        let mut subset = Subset::new(model, paths, devices);
        let repetition = match subset.follow(microbatches, part) {
            Followed::Repeating(repetition) => repetition,
            Followed::Wholly | Followed::Partly => subset.best_repetition()?,
        };
        Some((repetition.pace(), ()))
    })?;
    Some(pace)
}

/// Starts from the device that is worth most, and adds the one that raises that most, while there
/// are steps left and it is not over. Every set of devices takes a part of them at most, and hands back what it
/// leaves.
fn grown<V: PartialOrd, T>(
    model: &Model,
    mut steps: Steps,
    is_over: &mut dyn FnMut() -> bool,
    mut worth: impl FnMut(&[Device], &mut Steps) -> Option<(V, T)>,
) -> Option<(V, T)> {
    let share = steps.0 / PARTS;
    let mut best: Option<(V, T)> = None;
    let mut core: Vec<Device> = Vec::new();
    loop {
        let mut found: Option<(V, T, Vec<Device>)> = None;
        for device in Device::all(model.devices()).rev() {
            if steps.0 == 0 || is_over() {
                break;
            }
            let mut part = steps.part(share);
            if part.0 > 0 && !core.contains(&device) && is_bounded(model, device) {
                let mut devices = core.clone();
                devices.push(device);
                devices.sort_unstable();
                if let Some((value, what)) = worth(&devices, &mut part)
                    && found.as_ref().is_none_or(|(best, ..)| value > *best)
                {
                    found = Some((value, what, devices));
                }
            }
            steps.0 += part.0;
        }
        let Some((value, what, devices)) = found else { return best };
        core = devices;
        if best.as_ref().is_none_or(|(best, _)| value > *best) {
            best = Some((value, what));
        }
    }
}

/// The devices whose capacities keep the number of states in bounds.
pub(in crate::certificate) fn bounded(model: &Model) -> Vec<Device> {
    Device::all(model.devices()).filter(|&device| is_bounded(model, device)).collect()
}

/// Whether a capacity keeps the number of states in bounds.
pub(super) fn is_bounded(model: &Model, device: Device) -> bool {
    let stages = model.placement().stages_of(device);
    let holds = |&stage| least_held(model, stage) > Units::ZERO;
    model.activation_capacity(device).is_some() && stages.iter().all(holds)
}
