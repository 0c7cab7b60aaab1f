//! Which devices to keep: the best one, and what is best beside it.

use num_rational::Ratio;

use super::{Repetition, Steps, Subset};
use crate::certificate::path::Paths;
use crate::certificate::{Bound, Metric, Reason};
use crate::model::{Device, Model, Units};

/// The share of all steps that one set of devices may take: one part of so many.
const PARTS: u64 = 4;

/// The best bound on a metric that some devices alone give, as far as the steps reach.
pub(in crate::certificate) fn bound(
    model: &Model,
    paths: &Paths<'_>,
    metric: Metric,
    steps: Steps,
) -> Option<Bound> {
    let microbatches = model.microbatches();
    let (value, devices, repetition) = grown(model, steps, |devices, part| {
        let mut subset = Subset::new(model, paths, devices);
        let mut most = Steps(part.0 / 2);
        let repetition = subset.begin_until_repetition(microbatches, &mut most);
        let repetition = match repetition {
            Some(exact) => exact,
            None => Some(subset.best_repetition()?),
        };
        let mut rest = Steps(part.0 - part.0 / 2);
        let value = subset.value(microbatches, repetition, metric, &mut rest);
        part.0 = most.0 + rest.0;
        Some((value?, repetition))
    })?;
    Some(Bound { value, reason: Reason::Subset { devices, repetition } })
}

/// The fastest growth per microbatch in the long run that some devices alone show.
pub(in crate::certificate) fn steady(model: &Model, paths: &Paths<'_>, steps: Steps) -> Option<Ratio<i64>> {
    let (pace, ..) = grown(model, steps, |devices, part| {
        let mut subset = Subset::new(model, paths, devices);
        let repetition = subset.begin_until_repetition(u32::MAX, part).flatten();
        let repetition = repetition.or_else(|| subset.best_repetition())?;
        Some((repetition.pace(), Some(repetition)))
    })?;
    Some(pace)
}

/// Starts from the device that is worth most, and adds the one that raises that most, while there
/// are steps left. Every set of devices takes a part of them at most, and hands back what it leaves.
fn grown<V: PartialOrd + Copy>(
    model: &Model,
    mut steps: Steps,
    mut worth: impl FnMut(&[Device], &mut Steps) -> Option<(V, Option<Repetition>)>,
) -> Option<(V, Vec<Device>, Option<Repetition>)> {
    let share = steps.0 / PARTS;
    let mut best: Option<(V, Vec<Device>, Option<Repetition>)> = None;
    let mut core: Vec<Device> = Vec::new();
    loop {
        let mut found: Option<(V, Vec<Device>, Option<Repetition>)> = None;
        for device in Device::all(model.devices()).rev() {
            if core.contains(&device) || !is_bounded(model, device) {
                continue;
            }
            let mut devices = core.clone();
            devices.push(device);
            devices.sort_unstable();
            let mut part = steps.part(share);
            if part.0 == 0 {
                break;
            }
            let value = worth(&devices, &mut part);
            steps.0 += part.0;
            let Some((value, repetition)) = value else { continue };
            if found.as_ref().is_none_or(|(best, ..)| value > *best) {
                found = Some((value, devices, repetition));
            }
        }
        let Some(found) = found else { return best };
        core.clone_from(&found.1);
        if best.as_ref().is_none_or(|(best, ..)| found.0 > *best) {
            best = Some(found);
        }
    }
}

/// Whether a cap keeps the number of states in bounds.
fn is_bounded(model: &Model, device: Device) -> bool {
    let stages = model.placement().stages_of(device);
    let holds = |&stage| crate::certificate::least_held(model, stage) > Units::ZERO;
    model.capacity(device).is_some() && stages.iter().all(holds)
}
