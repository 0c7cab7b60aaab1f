//! The best bound on an objective, and whether a bound that is claimed holds.

use num_integer::Integer;
use num_rational::Ratio;

use super::path::{Paths, critical_path};
use super::reason::{Bound, BoundError, BoundReason, CHECK_STEPS, Objective, Repetition};
use super::relaxed::{followed, relaxed};
use super::subset::{self, Steps, Subset};
use super::{area, interval_bound, link, offload, trade, turnover, weighed, window, work};
use crate::model::{Device, Model, Ticks};

/// How many steps [`lower_bound`] and [`steady_bound`] spend by themselves on sets of states: tenths
/// of a second.
pub const STEPS: u64 = 4_000_000;

/// The best of the bounds of this module on an objective, for the model's microbatches and capacities. With
/// two directions, only the time of one microbatch alone, and those of the work of each device and of its windows.
#[must_use]
pub fn lower_bound(model: &Model, objective: Objective) -> Bound {
    lower_bound_within(model, objective, STEPS)
}

/// As [`lower_bound`], with another number of steps: none leaves the closed forms, and more lead to
/// bounds that are as good or better. Some ten million take a second.
#[must_use]
pub fn lower_bound_within(model: &Model, objective: Objective, steps: u64) -> Bound {
    lower_bound_until(model, objective, steps, &mut || false)
}

/// As [`lower_bound_within`], but looks at no further set of devices once `is_over` says so; each set takes at most a
/// quarter of the steps. The closed forms are always there.
pub fn lower_bound_until(
    model: &Model,
    objective: Objective,
    steps: u64,
    is_over: &mut dyn FnMut() -> bool,
) -> Bound {
    let alone = alone(model, objective);
    let apart = model.with_own_links();
    let (relaxed, real) = (relaxed(&apart), Paths::new(&apart));
    let paths = Paths::new(&relaxed);
    if one_direction(model).is_err() {
        let devices = Device::all(model.devices());
        let windows = devices.clone().flat_map(|device| of_device(&real, &paths, device, objective));
        let works = devices.filter_map(|device| work::bound(&apart, device, objective));
        return works.chain(windows).fold(alone, better);
    }
    Device::all(model.devices())
        .flat_map(|device| of_device(&real, &paths, device, objective))
        .chain(
            Device::all(model.devices())
                .filter_map(|device| offload::bound(model, &paths, device, objective)),
        )
        .chain(link::bounds(model, &real, objective))
        .chain(followed(&apart).iter().filter_map(|followed| {
            subset::best_bound(followed, &Paths::new(followed), objective, Steps(steps), is_over)
        }))
        // Last, so that it is named only where no other bound is as good.
        .chain(
            Device::all(model.devices()).flat_map(|device| trade::bounds(&real, &paths, device, objective)),
        )
        .fold(alone, better)
}

/// The bounds of a model of passes alone that rest on one device or on none, each by itself: those that Rocq has theorems about, and
/// [`BoundReason::Ramps`].
#[must_use]
pub fn closed_bounds(model: &Model, objective: Objective) -> Vec<Bound> {
    let apart = model.with_own_links();
    let (relaxed, real) = (relaxed(&apart), Paths::new(&apart));
    let paths = Paths::new(&relaxed);
    let of_devices =
        Device::all(model.devices()).flat_map(|device| of_device(&real, &paths, device, objective));
    std::iter::once(alone(model, objective)).chain(of_devices).collect()
}

/// The better one of two bounds, the first of equals.
fn better(best: Bound, bound: Bound) -> Bound {
    if bound.value > best.value { bound } else { best }
}

/// The best of the bounds that rest on one device and on what every microbatch takes alone.
pub(super) fn of_one_device(model: &Model, device: Device, objective: Objective) -> Ticks {
    let (alone, apart) = (alone(model, objective), model.with_own_links());
    let (relaxed, real) = (relaxed(&apart), Paths::new(&apart));
    let paths = Paths::new(&relaxed);
    of_device(&real, &paths, device, objective)
        .into_iter()
        .chain(offload::bound(model, &paths, device, objective))
        .chain(trade::bounds(&real, &paths, device, objective))
        .fold(alone.value, |best, bound| best.max(bound.value))
}

/// The bound that some devices alone give; nothing when the steps run out, the capacities are too small for
/// any schedule, or the devices are not there or not in ascending order.
///
/// Devices without a capacity, and stages that hold nothing, lead to ever more states.
#[must_use]
pub fn lower_bound_of(model: &Model, objective: Objective, devices: &[Device], steps: u64) -> Option<Bound> {
    one_direction(model).ok()?;
    devices.iter().try_for_each(|&device| there(model, device)).ok()?;
    let ascend = !devices.is_empty() && devices.is_sorted_by(|one, other| one < other);
    let apart = model.with_own_links();
    let models = if ascend { followed(&apart) } else { Vec::new() };
    let bounds = models.iter().filter_map(|followed| {
        subset::bound_of(followed, &Paths::new(followed), objective, devices, &mut Steps(steps))
    });
    bounds.reduce(better)
}

/// The best bound up to a value that some devices alone give, where only what may end before that value is followed. Given the
/// value of a schedule it may prove that none is better. Nothing where one of the devices kept would have no capacity.
///
/// It looks at no further set of devices once `is_over` says so, or the steps are spent; each set takes at most a quarter of them.
/// Where the model says more than passes and latencies, its relaxation may take as many steps again.
pub fn lower_bound_below(
    model: &Model,
    objective: Objective,
    value: Ticks,
    steps: u64,
    is_over: &mut dyn FnMut() -> bool,
) -> Option<Bound> {
    one_direction(model).ok()?;
    let apart = model.with_own_links();
    let mut best: Option<Bound> = None;
    for followed in followed(&apart) {
        if best.as_ref().is_some_and(|best| best.value == value) {
            break;
        }
        let paths = Paths::new(&followed);
        let bound = subset::best_below(&followed, &paths, objective, value, Steps(steps), is_over);
        best = best.into_iter().chain(bound).reduce(better);
    }
    best
}

/// A lower bound on the time per microbatch in the long run, over **all** schedules under the capacities,
/// whether they repeat or not, and however many microbatches they repeat at a time: with m of them
/// the makespan is at least m times this, less a constant.
///
/// The end of the step counts once, not for every microbatch, and changes nothing here.
///
/// At least [`interval_bound`], and better where memory is short; it spends as many steps as it is
/// allowed. Returns 0 for models with two directions.
#[must_use]
pub fn steady_bound(model: &Model, steps: u64) -> Ratio<i64> {
    steady_bound_until(model, steps, &mut || false)
}

/// As [`steady_bound`], but looks at no further set of devices once `is_over` says so.
pub fn steady_bound_until(model: &Model, steps: u64, is_over: &mut dyn FnMut() -> bool) -> Ratio<i64> {
    if one_direction(model).is_err() {
        return Ratio::from_integer(0);
    }
    let least = interval_bound(model);
    let apart = model.with_own_links();
    let relaxed = relaxed(&apart);
    let paths = Paths::new(&relaxed);
    let turns = Device::all(model.devices()).flat_map(|device| turnover::turns(&relaxed, &paths, device));
    turns
        .map(turnover::Turn::pace)
        .chain(
            followed(&apart).iter().filter_map(|followed| {
                subset::steady(followed, &Paths::new(followed), Steps(steps), is_over)
            }),
        )
        .fold(least, Ratio::max)
}

/// Whether **no** schedule, repeating or not, takes less than `pace` ticks for each microbatch in the long run. All devices are followed
/// together that have a capacity and hold something for every stage. [`steady_bound`] looks for a bound; this decides whether the pace of
/// a schedule that is known is one, often with far fewer steps. Where the capacities allow no schedule, it is true of any pace.
///
/// `false` proves nothing: wherever some schedule takes less, the steps run out. They may run out where none does; it is also the answer
/// when `is_over` says so, for times that are too long to be followed for so many steps, and for models with two directions. Where the
/// model says more than passes and latencies, its relaxation may take as many steps again.
pub fn is_least_pace(model: &Model, pace: Ratio<i64>, steps: u64, is_over: &mut dyn FnMut() -> bool) -> bool {
    if one_direction(model).is_err() {
        return false;
    }
    let one = model.with_microbatches(1).and_then(|model| model.in_finer_ticks(*pace.denom()));
    let Ok(apart) = one.map(|model| model.with_own_links()) else { return false };
    followed(&apart).iter().any(|followed| {
        let (paths, pace) = (Paths::new(followed), Ticks(*pace.numer()));
        subset::is_closed(followed, &paths, pace, &mut Steps(steps), is_over)
    })
}

/// The makespan that all devices show together that have a capacity and hold something for every stage, up to a value, where
/// [no schedule](is_least_pace) takes less than `pace` ticks for each microbatch in the long run. With the least pace of all schedules
/// it often shows more than some devices do up to the same value.
///
/// Nothing where the steps do not show that of the pace, when `is_over` says so, for a pace or a value below 0 or above
/// [`Model::MAX_TOTAL`], for times that are too long to be followed for so many steps, and for models with two directions. Where the
/// model says more than passes and latencies, its relaxation may take as many steps again.
pub fn lower_bound_at_pace(
    model: &Model,
    pace: Ratio<i64>,
    value: Ticks,
    steps: u64,
    is_over: &mut dyn FnMut() -> bool,
) -> Option<Bound> {
    one_direction(model).ok()?;
    let (microbatches, ticks) = (u32::try_from(*pace.denom()).ok()?, Ticks(*pace.numer()));
    if !may_be_claimed(&[ticks, value]) {
        return None;
    }
    let mut best: Option<Bound> = None;
    for followed in followed(&model.with_own_links()) {
        if best.as_ref().is_some_and(|best| best.value == value) {
            break;
        }
        let devices = subset::bounded(&followed);
        if !devices.is_empty()
            && let Some(shown) = at_pace(&followed, &devices, (ticks, microbatches), value, steps, is_over)
        {
            let reason = BoundReason::Pace { devices, microbatches, ticks, end: value };
            best = best.into_iter().chain([Bound { value: shown, reason }]).reduce(better);
        }
    }
    best
}

/// Whether times are such as a certificate may name.
fn may_be_claimed(times: &[Ticks]) -> bool {
    times.iter().all(|time| (0..=Model::MAX_TOTAL).contains(&time.0))
}

/// The makespan that devices show at a pace, up to a horizon: so many ticks for so many microbatches.
fn at_pace(
    model: &Model,
    devices: &[Device],
    (ticks, microbatches): (Ticks, u32),
    end: Ticks,
    steps: u64,
    is_over: &mut dyn FnMut() -> bool,
) -> Option<Ticks> {
    let parts = i64::from(microbatches);
    // How many microbatches there are counts once, and does not make the ticks too fine.
    let fine = model.with_microbatches(1).and_then(|model| model.in_finer_ticks(parts)).ok()?;
    let all = Ticks(ticks.0.checked_mul(i64::from(model.microbatches()))?);
    let end = Ticks(end.0.checked_mul(parts)?.checked_sub(all.0)?);
    let (paths, steps) = (Paths::new(&fine), &mut Steps(steps));
    let beyond = subset::least_beyond_pace(&fine, &paths, devices, ticks, end, steps, is_over)?;
    Some(Ticks(Integer::div_ceil(&(all + beyond).0, &parts)))
}

/// Checks that a bound follows from its reason, and the reason from the model: it computes every figure again and
/// believes none.
///
/// # Errors
/// When the reason is not true of the model, gives another value, or takes too long to check.
pub fn holds(model: &Model, objective: Objective, bound: &Bound) -> Result<(), BoundError> {
    if !matches!(
        bound.reason,
        BoundReason::Alone
            | BoundReason::Work { .. }
            | BoundReason::Windows { .. }
            | BoundReason::Chain { .. }
            | BoundReason::Weighed(_)
    ) {
        one_direction(model)?;
    }
    let apart = model.with_own_links();
    let shown = match &bound.reason {
        BoundReason::Alone => alone(model, objective).value,
        BoundReason::Work { device, .. } => {
            there(model, *device)?;
            value_of(bound, work::bound(&apart, *device, objective).into_iter().collect())?
        }
        BoundReason::Link { .. } => value_of(bound, link::bounds(model, &Paths::new(&apart), objective))?,
        BoundReason::Offload { device } => {
            there(model, *device)?;
            let relaxed = relaxed(&apart);
            let shown = offload::bound(model, &Paths::new(&relaxed), *device, objective);
            value_of(bound, shown.into_iter().collect())?
        }
        BoundReason::Windows { device, .. }
        | BoundReason::Chain { device, .. }
        | BoundReason::Turnover { device, .. }
        | BoundReason::Area { device }
        | BoundReason::Ramps { device } => {
            there(model, *device)?;
            let (real, relaxed) = (Paths::new(&apart), relaxed(&apart));
            value_of(bound, of_device(&real, &Paths::new(&relaxed), *device, objective))?
        }
        BoundReason::Recomputation { device, .. } => {
            there(model, *device)?;
            let (real, relaxed) = (Paths::new(&apart), relaxed(&apart));
            value_of(bound, trade::bounds(&real, &Paths::new(&relaxed), *device, objective))?
        }
        BoundReason::Weighed(weights) => {
            weighed::weighed_bound(model, objective, weights)
                .ok_or_else(|| BoundError::Figures(bound.reason.clone()))?
                .value
        }
        BoundReason::Subset { devices, repetition } => {
            ascending(model, devices)?;
            by_states(&apart, bound.value, |followed| of_subset(followed, objective, devices, *repetition))?
        }
        BoundReason::Horizon { devices, end } => {
            ascending(model, devices)?;
            if !may_be_claimed(&[*end]) {
                return Err(BoundError::Figures(bound.reason.clone()));
            }
            by_states(&apart, bound.value, |followed| {
                let (paths, steps) = (Paths::new(followed), &mut Steps(CHECK_STEPS));
                subset::least_below(followed, &paths, devices, objective, *end, steps)
                    .ok_or(BoundError::TooLarge)
            })?
        }
        BoundReason::Pace { devices, microbatches, ticks, end } => {
            ascending(model, devices)?;
            let is_makespan = objective == Objective::Makespan;
            if !is_makespan || *microbatches == 0 || !may_be_claimed(&[*ticks, *end]) {
                return Err(BoundError::Figures(bound.reason.clone()));
            }
            by_states(&apart, bound.value, |followed| {
                at_pace(followed, devices, (*ticks, *microbatches), *end, CHECK_STEPS, &mut || false)
                    .ok_or(BoundError::TooLarge)
            })?
        }
    };
    if shown == bound.value { Ok(()) } else { Err(BoundError::Value { claimed: bound.value, shown }) }
}

/// The value of the bounds that have the reason of a claimed one.
fn value_of(claimed: &Bound, bounds: Vec<Bound>) -> Result<Ticks, BoundError> {
    let shown = bounds.into_iter().filter(|shown| shown.reason == claimed.reason).map(|shown| shown.value);
    shown.max().ok_or_else(|| BoundError::Figures(claimed.reason.clone()))
}

/// Most bounds assume that every microbatch goes through every stage.
fn one_direction(model: &Model) -> Result<(), BoundError> {
    match model.placement().directions() {
        1 => Ok(()),
        directions => Err(BoundError::Directions(directions)),
    }
}

fn there(model: &Model, device: Device) -> Result<(), BoundError> {
    let devices = model.devices();
    if device.0 < devices { Ok(()) } else { Err(BoundError::Device { device, devices }) }
}

/// The devices of a claim are some of the model's, in ascending order.
fn ascending(model: &Model, devices: &[Device]) -> Result<(), BoundError> {
    devices.iter().try_for_each(|&device| there(model, device))?;
    let ascend = !devices.is_empty() && devices.is_sorted_by(|one, other| one < other);
    if ascend { Ok(()) } else { Err(BoundError::Order) }
}

/// The value of which one of the [followed] models shows that it is the claimed one, or what the first shows.
fn by_states(
    model: &Model,
    claimed: Ticks,
    shown: impl Fn(&Model) -> Result<Ticks, BoundError>,
) -> Result<Ticks, BoundError> {
    let models = followed(model);
    let first = shown(&models[0]);
    if first == Ok(claimed) || !models[1..].iter().any(|model| shown(model) == Ok(claimed)) {
        return first;
    }
    Ok(claimed)
}

/// The value that follows from a claim about some devices in one of the [followed] models.
fn of_subset(
    model: &Model,
    objective: Objective,
    devices: &[Device],
    repetition: Option<Repetition>,
) -> Result<Ticks, BoundError> {
    let microbatches = model.microbatches();
    let followed = repetition.map_or(microbatches, |claim| claim.after);
    let figures = || {
        let devices = devices.to_vec();
        BoundError::Figures(BoundReason::Subset { devices, repetition })
    };
    if followed > microbatches {
        return Err(figures());
    }
    let mut steps = Steps(CHECK_STEPS);
    let mut subset = Subset::new(model, &Paths::new(model), devices);
    subset.begin(followed, &mut steps).ok_or(BoundError::TooLarge)?;
    if repetition.is_some_and(|claim| !subset.repeats(claim)) {
        return Err(figures());
    }
    subset.value(microbatches, repetition, objective, &mut steps).ok_or(BoundError::TooLarge)
}

/// What one microbatch takes without waiting for any device, with the end of the step.
fn alone(model: &Model, objective: Objective) -> Bound {
    let value = match objective {
        Objective::Makespan => critical_path(model),
        Objective::DeviceSpan => Ticks::ZERO,
    };
    Bound { value, reason: BoundReason::Alone }
}

/// The bounds that rest on one device, from the paths of the model and of the [relaxed] one; with two directions, its windows.
pub(super) fn of_device(
    real: &Paths<'_>,
    paths: &Paths<'_>,
    device: Device,
    objective: Objective,
) -> Vec<Bound> {
    let model = paths.model();
    let mut bounds = window::bounds(real, model, device, objective);
    if one_direction(model).is_err() {
        return bounds;
    }
    bounds.extend(turnover::bounds(model, paths, device, objective));
    bounds.extend(area::bounds(model, paths, device, objective));
    bounds
}
