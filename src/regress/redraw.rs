//! Schedules before and after, to be drawn side by side.
//!
//! Records have the orders of schedules and the offsets, interval and durations of blocks, so that "before" is drawn from
//! the record alone: no second checkout is needed where only the changed designs are at hand. What a record has only a
//! digest of cannot be drawn again: a schedule under a model that has changed, since its times are not recorded.

use super::fact::{Place, Value, What};
use super::inputs::Inputs;
use super::manifest::{Design, DesignSource};
use super::record::Record;
use super::report::CheckedDesign;
use crate::block::Block;
use crate::block::family::{Durations, Family};
use crate::catalog;
use crate::model::{Device, Kind, Model, Pass, Placement, Ticks};
use crate::schedule::Schedule;
use crate::stop::Stop;

/// The most devices that a block is drawn for, if it changed there.
const DEVICES: u32 = 4;

/// A schedule before and after a change. Each may be one that cannot run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BeforeAfter {
    /// Where in the design.
    pub place: Place,
    /// What was recorded, and the model that it ran under; else why it cannot be drawn.
    pub before: Result<(Model, Schedule), &'static str>,
    /// What it is now, with its model; else why it cannot be drawn.
    pub after: Result<(Model, Schedule), &'static str>,
}

/// The schedule of a design before and after, at one place where it changed; nothing where its orders and times are as
/// they were, or are not known.
pub(super) fn before_and_after(
    design: &Design,
    inputs: &Inputs,
    old: &Record,
    checked: &CheckedDesign,
) -> Option<BeforeAfter> {
    let found = checked.found.as_ref()?;
    let drawn = match &design.subject {
        DesignSource::Family { microbatches, .. } => {
            of_family(inputs.family.as_ref()?, microbatches, old, found)?
        }
        DesignSource::Schedule { .. } => {
            let (read, model) = inputs.schedule.as_ref()?;
            let after = Ok((model.clone(), read.schedule.clone()));
            of_orders(Place::default(), old, found, read.schedule.placement(), after)
        }
        DesignSource::Named { .. } => {
            let place = checked.changes.iter().map(|change| change.place.of_all_devices());
            let place =
                place.into_iter().find(|place| place.schedule.is_some() && place.microbatches.is_some())?;
            let model = inputs.model.as_ref()?.resized(place.devices?).ok()?;
            let model = model.with_microbatches(place.microbatches?).ok()?;
            let made = catalog::find(place.schedule.as_deref()?)?.generate_until(&model, &Stop::default());
            let placement = model.placement().clone();
            let after =
                made.map(|schedule| (model, schedule)).map_err(|_| "the catalogue has none for this model");
            of_orders(place, old, found, &placement, after)
        }
        DesignSource::Model { .. } => return None,
    };
    (drawn.before != drawn.after).then_some(drawn)
}

/// What the orders of a record and the schedule of today show.
fn of_orders(
    place: Place,
    old: &Record,
    found: &Record,
    placement: &Placement,
    after: Result<(Model, Schedule), &'static str>,
) -> BeforeAfter {
    let whole = Place::default();
    let is_same = old.get(&whole, &What::Problem) == found.get(&whole, &What::Problem);
    let before = match &after {
        _ if !is_same => Err("the record has the digest of the model that it ran under, not its times"),
        Err(_) => Err("the model that it ran under is not known"),
        Ok((model, now)) => match recorded(&place, old, placement, now.microbatches()) {
            Some(schedule) => Ok((model.clone(), schedule)),
            None => Err("the record does not have its orders: they were too long"),
        },
    };
    // What agrees in every pass is the same, whatever else a file says.
    let is_as_before = matches!((&before, &after), (Ok((_, old)), Ok((_, new))) if steps(old) == steps(new));
    let before = if is_as_before { after.clone() } else { before };
    BeforeAfter { place, before, after }
}

fn steps(schedule: &Schedule) -> Vec<Vec<&[Pass]>> {
    Device::all(schedule.devices()).map(|device| schedule.steps(device).collect()).collect()
}

/// The schedule that a record has the orders of.
fn recorded(place: &Place, record: &Record, placement: &Placement, microbatches: u32) -> Option<Schedule> {
    let order = |device: Device| match record.get(&place.on(device.0), &What::Order)? {
        Value::Passes(steps) => {
            let pair =
                |step: &String| step.split('+').map(|pass| pass.parse().ok()).collect::<Option<Vec<Pass>>>();
            steps.iter().map(pair).collect::<Option<Vec<_>>>()
        }
        _ => None,
    };
    let orders: Vec<_> = Device::all(placement.devices()).map(order).collect::<Option<_>>()?;
    Schedule::of_steps(placement.clone(), microbatches, orders).ok()
}

/// A block family at a number of devices where it changed, repeated so often that its steady phase shows.
fn of_family(family: &Family, microbatches: &[u32], old: &Record, found: &Record) -> Option<BeforeAfter> {
    let sizes = sizes(old, found);
    let devices = sizes.iter().rev().find(|size| **size <= DEVICES).or(sizes.first()).copied()?;
    let enough = microbatches.iter().find(|number| **number >= devices).or(microbatches.last());
    let microbatches = enough.copied()?;
    let place = Place::devices(devices).with_microbatches(microbatches);
    let repeated = |family: &Family, block: Option<Block>| {
        let model = family.model(devices, microbatches).ok()?;
        let schedule = block?.expand(&model, microbatches).ok()?;
        Some((model, schedule))
    };
    let before = recorded_family(family, old).and_then(|family| {
        let block = recorded_block(&family, devices, old);
        repeated(&family, block)
    });
    // Passes that collide could still run one after the other, but not as a block.
    let is_invalid = found.get(&Place::devices(devices), &What::Valid) == Some(&Value::Truth(false));
    let after = repeated(family, family.block(devices).ok().filter(|_| !is_invalid));
    let before = before.ok_or("the record has no block that fits the placement of the family");
    let after = after.ok_or("the block is invalid for this number of devices");
    Some(BeforeAfter { place, before, after })
}

/// The numbers of devices where a block or its times are not as recorded, ascending.
fn sizes(old: &Record, found: &Record) -> Vec<u32> {
    let whole = Place::default();
    let all =
        [What::Problem, What::Interval].iter().any(|what| old.get(&whole, what) != found.get(&whole, what));
    let offsets = old.facts.iter().filter(|fact| fact.key.what == What::Offsets);
    let changed =
        offsets.filter(|fact| all || found.get(&fact.key.place, &What::Offsets) != Some(&fact.value));
    let mut sizes: Vec<u32> = changed.filter_map(|fact| fact.key.place.devices).collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

/// The family with the interval and the durations of its record.
fn recorded_family(family: &Family, record: &Record) -> Option<Family> {
    let whole = Place::default();
    let Some(Value::Text(problem)) = record.get(&whole, &What::Problem) else { return None };
    let Some(Value::Fraction(interval)) = record.get(&whole, &What::Interval) else { return None };
    let mut parts = problem.split(", ");
    let mut duration = |kind: &str| {
        let ticks = parts.next()?.strip_prefix(kind)?.strip_prefix(' ')?.parse().ok()?;
        Some(Ticks(ticks))
    };
    let durations = Durations {
        forward: duration("F")?,
        backward_input: duration("I")?,
        backward_weight: duration("W")?,
    };
    let interval = interval.is_integer().then(|| i64::try_from(interval.to_integer()).ok()).flatten()?;
    Some(Family { interval: Ticks(interval), durations, ..family.clone() })
}

/// The block of a family at a number of devices, with the offsets of its record.
fn recorded_block(family: &Family, devices: u32, record: &Record) -> Option<Block> {
    let placement = family.layout.placement(devices).ok()?;
    let mut offsets = Vec::new();
    for device in Device::all(devices) {
        let place = Place::devices(devices).on(device.0);
        let Some(Value::Offsets(recorded)) = record.get(&place, &What::Offsets) else { return None };
        for (pass, at) in recorded {
            let (letter, chunk) = pass.split_at_checked(1)?;
            let kind = Kind::ALL.into_iter().find(|kind| kind.letter().to_string() == letter)?;
            let chunk: usize = chunk.parse().ok()?;
            offsets.push((*placement.stages_of(device).get(chunk)?, kind, Ticks(*at)));
        }
    }
    Block::new(placement, family.interval, offsets).ok()
}
