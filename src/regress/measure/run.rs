//! A schedule under a model: replayed, bounded, and lowered to messages.

use super::facts::Facts;
use crate::amounts::Amounts;
use crate::analysis::{longest_lifespans, steady_interval};
use crate::certificate::{Objective, lower_bound_within};
use crate::comm::{self, CommunicationPlan};
use crate::lowering;
use crate::model::{Device, Model, Pass, Ticks, Units};
use crate::regress::fact::{Place, Value, What};
use crate::regress::promise::Quantity;
use crate::replay::{Rate, Timing, Verdict, Violation, replay};
use crate::schedule::Schedule;
use crate::text::quantity::Scale;

/// How many steps a lower bound may spend on sets of states: hundredths of a second.
pub const BOUND_STEPS: u64 = 200_000;

/// The longest order of a device that a record holds.
const MOST_PASSES: usize = 512;

/// What more a record says of a schedule than its figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Detail {
    /// Nothing.
    Figures,
    /// Its peak memory.
    Memory,
    /// Its peak memory, interval, lifespans and orders.
    All,
}

/// Replays a schedule and adds what is found; the verdict of replay. `plan` is what it runs as, if its
/// file says so.
pub(super) fn run(
    facts: &mut Facts,
    place: &Place,
    model: &Model,
    schedule: &Schedule,
    plan: Option<&CommunicationPlan>,
    detail: Detail,
) -> Verdict {
    let verdict = replay(model, schedule);
    let timing = verdict.timing.as_ref().filter(|_| verdict.is_valid());
    let Some(timing) = timing else {
        let amounts = Amounts::new(false, &model.costs().unit, &model.memory().unit);
        let why = |violation: &Violation| violation.in_words(|units| amounts.further_memory(units));
        facts.invalid(place, verdict.violations.first().map(why));
        if detail == Detail::All {
            orders(facts, place, schedule);
        }
        return verdict;
    };
    facts.add(place, What::Valid, Value::Truth(true));
    let metrics = &timing.metrics;
    let bound = bound(model, &verdict);
    let mut values = vec![
        (Quantity::Makespan, whole(metrics.makespan.0)),
        (Quantity::DeviceSpan, whole(metrics.device_span.0)),
        (Quantity::BubbleRate, metrics.bubble_rate),
        (Quantity::PeakMemory, whole(verdict.peak_memory_max().0)),
        (Quantity::Bound, whole(bound.0)),
        (Quantity::PeakOf1f1b, whole(crate::catalog::one_f_one_b_memory(model).0)),
        (Quantity::Devices, whole(schedule.devices().into())),
        (Quantity::Microbatches, whole(schedule.microbatches().into())),
    ];
    values.extend(units(model));
    let interval = steady_interval(schedule, timing)
        .map(|interval| Rate::new(i128::from(*interval.numer()), i128::from(*interval.denom())));
    values.extend(interval.map(|interval| (Quantity::Interval, interval)));
    facts.runs.push((place.clone(), values));
    facts.add(place, What::Makespan, Value::Integer(metrics.makespan.0));
    facts.add(place, What::DeviceSpan, Value::Integer(metrics.device_span.0));
    facts.add(place, What::BubbleRate, Value::Fraction(metrics.bubble_rate));
    facts.add(place, What::LowerBound, Value::Integer(bound.0));
    if bound > Ticks::ZERO {
        let gap = Rate::new(i128::from(metrics.makespan.0 - bound.0), bound.0.into());
        facts.add(place, What::Gap, Value::Fraction(gap));
    }
    if detail != Detail::Figures {
        let peaks = verdict.peak_memory.iter().map(|peak| peak.0).collect();
        facts.add(place, What::PeakMemory, Value::Integers(peaks));
    }
    if detail == Detail::All
        && let Some(interval) = interval
    {
        facts.add(place, What::Interval, Value::Fraction(interval));
    }
    communication(facts, place, schedule, plan);
    if detail == Detail::All {
        lifespans(facts, place, model, schedule, timing);
        orders(facts, place, schedule);
    }
    verdict
}

/// What a nanosecond and a byte are, where times and memory have units.
fn units(model: &Model) -> impl Iterator<Item = (Quantity, Rate)> {
    let part = |whole: i128| Rate::new(1, whole);
    let memory = Scale::Memory.units().iter().find(|(name, _)| *name == model.memory().unit);
    let units = [
        (Quantity::Nanosecond, model.costs().nanoseconds_per_tick().map(|tick| part(tick.into()))),
        (Quantity::Byte, memory.map(|&(_, bytes)| part(bytes))),
    ];
    units.into_iter().filter_map(|(quantity, value)| Some((quantity, value?)))
}

fn whole(number: i64) -> Rate {
    Rate::from_integer(number.into())
}

/// A lower bound on the makespan of every schedule that holds no more than this one on any device.
fn bound(model: &Model, verdict: &Verdict) -> Ticks {
    let held = Device::all(model.devices()).zip(&verdict.peak_memory);
    let capacity = held.map(|(device, &peak)| Some((peak - model.resident(device)).max(Units::ZERO)));
    let limited = model.with_activation_capacity(capacity.collect());
    // What the schedule itself keeps to is no capacity that a model could not have.
    lower_bound_within(limited.as_ref().unwrap_or(model), Objective::Makespan, BOUND_STEPS).value
}

fn communication(facts: &mut Facts, place: &Place, schedule: &Schedule, plan: Option<&CommunicationPlan>) {
    let lowered;
    let plan = if let Some(plan) = plan {
        Ok(plan)
    } else {
        lowered = lowering::lower(lowering::numbered(schedule).as_ref().unwrap_or(schedule));
        lowered.as_ref().map_err(ToString::to_string)
    };
    let fault = match plan {
        Ok(plan) => comm::verify(plan).first().map(ToString::to_string),
        Err(message) => Some(message),
    };
    facts.add(place, What::Communication, Value::Truth(fault.is_none()));
    if let Some(fault) = fault {
        facts.add(place, What::Why, Value::Text(fault));
    }
}

/// By device, the longest lifespan of each of its stages.
fn lifespans(facts: &mut Facts, place: &Place, model: &Model, schedule: &Schedule, timing: &Timing) {
    let longest = longest_lifespans(model, schedule, timing);
    for device in Device::all(schedule.devices()) {
        let stages = schedule.placement().stages_of(device).iter();
        let spans = stages.map(|stage| longest[stage.index()].0).collect();
        facts.add(&place.on(device.0), What::Lifespans, Value::Integers(spans));
    }
}

/// The orders, where they are not too long to be read.
fn orders(facts: &mut Facts, place: &Place, schedule: &Schedule) {
    for device in Device::all(schedule.devices()) {
        let order = schedule.order(device);
        if order.len() <= MOST_PASSES {
            // An overlapped pair is written as one step.
            let step = |step: &[Pass]| step.iter().map(ToString::to_string).collect::<Vec<_>>().join("+");
            let steps = schedule.steps(device).map(step).collect();
            facts.add(&place.on(device.0), What::Order, Value::Passes(steps));
        }
    }
}
