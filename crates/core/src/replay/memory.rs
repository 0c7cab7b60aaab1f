//! Memory along each device's order. A device runs one pass at a time, so what is live depends on
//! the order and on what is offloaded alone, gathered weights included; for buffers of messages, on the orders of all devices.

use std::collections::BTreeSet;

use super::buffers::buffers;
use super::collectives::GatheredWeights;
use super::copies::{self, Away};
use super::layout::{Layout, Slot};
use super::violation::Violation;
use crate::model::{Device, Kind, Model, Pass, Units};
use crate::schedule::{Place, Schedule};

/// The peak of every device; every excursion over a capacity is reported at the pass that begins it.
///
/// A pass that is unknown, or a duplicate, is reported for that and holds nothing here:
/// what is live can never exceed what the model allows for.
pub(super) fn inspect(
    model: &Model,
    schedule: &Schedule,
    layout: &Layout,
    violations: &mut Vec<Violation>,
) -> Vec<Units> {
    let received = Received::new(model, schedule, layout);
    let away = Away::new(model, schedule, layout);
    let gathered = GatheredWeights::new(model, schedule, layout);
    super::devices(schedule)
        .map(|(device, order)| {
            let capacity = model.memory().capacity[device.index()];
            let resident = model.resident(device);
            let (mut live, mut peak, mut over) = (resident, resident, false);
            let mut crossings = Vec::new();
            // What the first pass of an overlapped pair releases, which it does with the second, and what it needs until then.
            let (mut withheld, mut beside) = (Units::ZERO, Units::ZERO);
            for (place, _, pass) in effective(layout, device, order) {
                let (posted, used) = received.at(place);
                let (freed, fetched) = sum(away.at(place), gathered.at(place));
                live -= freed;
                // What is free from here on may end the excursion before the pass starts.
                over &= freed == Units::ZERO || capacity.is_some_and(|capacity| live > capacity);
                live += acquired(model, schedule, layout, pass) + posted + fetched;
                let during = live + beside + model.workspace(pass.stage, pass.kind);
                peak = peak.max(during);
                if let Some(capacity) = capacity.filter(|&capacity| during > capacity && !over) {
                    crossings.push(Crossing { at: place, pass, live: during, capacity });
                }
                if schedule.overlaps(device).binary_search(&place.position).is_ok() {
                    (withheld, beside) =
                        (released(model, pass) + used, model.workspace(pass.stage, pass.kind));
                    // Both acquire at once: the excursion goes on into the second pass.
                    over |= capacity.is_some_and(|capacity| during > capacity);
                    continue;
                }
                live -= released(model, pass) + used + std::mem::take(&mut withheld);
                beside = Units::ZERO;
                // What a pass releases at its end may end the excursion before the next pass starts.
                over = capacity.is_some_and(|capacity| live > capacity);
            }
            if !crossings.is_empty() {
                report(model, schedule, layout, device, crossings, violations);
            }
            peak
        })
        .collect()
}

/// What a device holds around a pass of its order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Held {
    /// While the pass runs: after what it acquires at its start.
    pub during: Units,
    /// Once it has ended: after what it releases then.
    pub after: Units,
}

/// What every device holds along its order. A pass that is unknown or a duplicate
/// changes nothing. An overlapped pair acquires the memory of both when the first starts, and releases that
/// of both after the second.
pub(super) fn along(model: &Model, schedule: &Schedule, layout: &Layout) -> Vec<Vec<Held>> {
    let received = Received::new(model, schedule, layout);
    let away = Away::new(model, schedule, layout);
    let gathered = GatheredWeights::new(model, schedule, layout);
    super::devices(schedule)
        .map(|(device, order)| {
            let mut change = vec![(Units::ZERO, Units::ZERO); order.len()];
            for (place, _, pass) in effective(layout, device, order) {
                let (posted, used) = received.at(place);
                let (freed, fetched) = sum(away.at(place), gathered.at(place));
                let workspace = model.workspace(pass.stage, pass.kind);
                change[place.position] = (
                    acquired(model, schedule, layout, pass) + posted + workspace + fetched - freed,
                    released(model, pass) + used + workspace,
                );
            }
            for &first in schedule.overlaps(device) {
                let (takes, gives) = (change[first + 1].0, change[first].1);
                change[first] = (change[first].0 + takes, Units::ZERO);
                change[first + 1] = (Units::ZERO, change[first + 1].1 + gives);
            }
            let held = change.into_iter().scan(model.resident(device), |live, (takes, gives)| {
                let during = *live + takes;
                *live = during - gives;
                Some(Held { during, after: *live })
            });
            held.collect()
        })
        .collect()
}

/// The sums of what is free from a pass on, and of what is occupied from it on.
fn sum(one: (Units, Units), other: (Units, Units)) -> (Units, Units) {
    (one.0 + other.0, one.1 + other.1)
}

/// What buffers of messages add to passes. Nothing is laid out where messages need none.
struct Received {
    /// By device and position: the buffers that are posted before a pass, and those that are free once it has ended.
    changes: Option<Vec<Vec<(Units, Units)>>>,
}

impl Received {
    fn new(model: &Model, schedule: &Schedule, layout: &Layout) -> Self {
        if !model.has_buffers() {
            return Self { changes: None };
        }
        let of_device = |((device, order), buffers): ((Device, &[Pass]), Vec<_>)| {
            let mut changes = vec![(Units::ZERO, Units::ZERO); order.len()];
            // A buffer that is posted before a pass that does not count is there from the next one that does.
            let mut counted = vec![order.len(); order.len()];
            let mut from = 0;
            for (place, ..) in effective(layout, device, order) {
                counted[from..=place.position].fill(place.position);
                from = place.position + 1;
            }
            for super::Buffer { posted, used, boundary, .. } in buffers {
                let size = model.receive_after(boundary);
                changes[counted[posted]].0 += size;
                changes[used].1 += size;
            }
            changes
        };
        let buffers = buffers(schedule, layout);
        Self { changes: Some(super::devices(schedule).zip(buffers).map(of_device).collect()) }
    }

    fn at(&self, place: Place) -> (Units, Units) {
        match &self.changes {
            Some(changes) => changes[place.device.index()][place.position],
            None => (Units::ZERO, Units::ZERO),
        }
    }
}

/// The known passes of an order, each at the place that counts.
fn effective<'a>(
    layout: &'a Layout,
    device: Device,
    order: &'a [Pass],
) -> impl Iterator<Item = (Place, Slot, Pass)> + 'a {
    order.iter().enumerate().filter_map(move |(position, &pass)| {
        let place = Place { device, position };
        let slot = layout.slot(place);
        (layout.find(pass) == Some(slot)).then_some((place, slot, pass))
    })
}

/// A pass that lifts a device over its capacity.
struct Crossing {
    at: Place,
    pass: Pass,
    live: Units,
    capacity: Units,
}

/// Reports crossings with the forwards that are live at each. A second walk along the order: only
/// schedules that are over a capacity pay for it.
fn report(
    model: &Model,
    schedule: &Schedule,
    layout: &Layout,
    device: Device,
    crossings: Vec<Crossing>,
    violations: &mut Vec<Violation>,
) {
    let order = schedule.order(device);
    let mut held: BTreeSet<Slot> = BTreeSet::new();
    // Forwards whose memory is free again behind a position. A pair gives back what both of its passes hold when it ends.
    let mut ending: Vec<(usize, Slot)> = Vec::new();
    let mut walk = effective(layout, device, order);
    for Crossing { at, pass, live, capacity } in crossings {
        for (place, slot, pass) in walk.by_ref() {
            ending.retain(|(end, forward)| {
                let is_over = *end < place.position;
                if is_over {
                    held.remove(forward);
                }
                !is_over
            });
            match pass.kind {
                Kind::F => {
                    held.insert(slot);
                }
                Kind::W | Kind::B => {
                    let is_first = schedule.overlaps(device).binary_search(&place.position).is_ok();
                    let forward = layout.find(pass.with_kind(Kind::F));
                    ending.extend(forward.map(|forward| (place.position + usize::from(is_first), forward)));
                }
                Kind::R | Kind::I => {}
            }
            if place == at {
                break;
            }
        }
        // What is away with all that there is of it is not held.
        let gone: BTreeSet<Slot> = copies::of_device(model, schedule, layout, device)
            .filter(|copied| (copied.freed..copied.fetched).contains(&schedule.step_at(device, at.position)))
            .filter(|copied| model.moved(copied.pass.stage) == model.activation(copied.pass.stage))
            .map(|copied| copied.forward)
            .collect();
        let mut here = held.difference(&gone);
        let shown = here.by_ref().take(Violation::HOLDING_LISTED);
        let holding: Vec<Pass> = shown.map(|&slot| order[layout.place(slot).position]).collect();
        let more = here.count();
        violations.push(Violation::OverCapacity { at, pass, live, capacity, holding, more });
    }
}

/// What a pass acquires at its start.
fn acquired(model: &Model, schedule: &Schedule, layout: &Layout, pass: Pass) -> Units {
    let whole = model.activation(pass.stage);
    // A level that the model does not have is reported for that.
    let level = schedule.level_of(pass.with_kind(Kind::R));
    let checkpoint = model.checkpoint_at(pass.stage, level).unwrap_or(whole);
    match pass.kind {
        Kind::F if layout.has(pass.with_kind(Kind::R)) => checkpoint,
        Kind::F => whole,
        Kind::R => whole - checkpoint,
        // It writes what W needs while all that F kept is still there.
        Kind::I => (model.retained_for_weight(pass.stage) - whole).max(Units::ZERO),
        Kind::W | Kind::B => Units::ZERO,
    }
}

/// What a pass releases at its end.
fn released(model: &Model, pass: Pass) -> Units {
    let whole = model.activation(pass.stage);
    let retained = model.retained_for_weight(pass.stage);
    match pass.kind {
        Kind::F | Kind::R => Units::ZERO,
        Kind::I => (whole - retained).max(Units::ZERO),
        Kind::W => retained,
        Kind::B => whole,
    }
}
