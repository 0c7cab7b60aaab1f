//! Memory along each device's order. A device runs one pass at a time, so what is live depends on
//! the order alone.

use std::collections::BTreeSet;

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
    super::devices(schedule)
        .map(|(device, order)| {
            let capacity = model.memory().capacity[device.index()];
            let resident = model.resident(device);
            let (mut live, mut peak, mut over) = (resident, resident, false);
            let mut crossings = Vec::new();
            // What the first pass of an overlapped pair releases, which it does with the second.
            let mut withheld = Units::ZERO;
            for (place, _, pass) in effective(layout, device, order) {
                live += acquired(model, layout, pass);
                peak = peak.max(live);
                if let Some(capacity) = capacity.filter(|&capacity| live > capacity && !over) {
                    crossings.push(Crossing { at: place, pass, live, capacity });
                }
                if schedule.overlaps(device).binary_search(&place.position).is_ok() {
                    withheld = released(model, pass);
                    // Both acquire at once: the excursion goes on into the second pass.
                    over |= capacity.is_some_and(|capacity| live > capacity);
                    continue;
                }
                live -= released(model, pass) + std::mem::take(&mut withheld);
                // What a pass releases at its end may end the excursion before the next pass starts.
                over = capacity.is_some_and(|capacity| live > capacity);
            }
            if !crossings.is_empty() {
                report(schedule, layout, device, crossings, violations);
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
    super::devices(schedule)
        .map(|(device, order)| {
            let mut change = vec![(Units::ZERO, Units::ZERO); order.len()];
            for (place, _, pass) in effective(layout, device, order) {
                change[place.position] = (acquired(model, layout, pass), released(model, pass));
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
    schedule: &Schedule,
    layout: &Layout,
    device: Device,
    crossings: Vec<Crossing>,
    violations: &mut Vec<Violation>,
) {
    let order = schedule.order(device);
    let mut held: BTreeSet<Slot> = BTreeSet::new();
    // What the first pass of an overlapped pair gives back when the second ends.
    let mut withheld = None;
    let mut walk = effective(layout, device, order);
    for Crossing { at, pass, live, capacity } in crossings {
        for (place, slot, pass) in walk.by_ref() {
            if let Some(forward) = withheld.take_if(|(at, _)| place.position > *at + 1) {
                held.remove(&forward.1);
            }
            match pass.kind {
                Kind::F => {
                    held.insert(slot);
                }
                Kind::W | Kind::B => {
                    let forward = layout.find(pass.with_kind(Kind::F));
                    if schedule.overlaps(device).binary_search(&place.position).is_ok() {
                        withheld = forward.map(|forward| (place.position, forward));
                    } else if let Some(forward) = forward {
                        held.remove(&forward);
                    }
                }
                Kind::R | Kind::I => {}
            }
            if place == at {
                break;
            }
        }
        let shown = held.iter().take(Violation::HOLDING_LISTED);
        let holding: Vec<Pass> = shown.map(|&slot| order[layout.place(slot).position]).collect();
        let more = held.len() - holding.len();
        violations.push(Violation::OverCapacity { at, pass, live, capacity, holding, more });
    }
}

/// What a pass acquires at its start.
fn acquired(model: &Model, layout: &Layout, pass: Pass) -> Units {
    let whole = model.activation(pass.stage);
    let checkpoint = model.checkpoint(pass.stage).unwrap_or(whole);
    match pass.kind {
        Kind::F if layout.has(pass.with_kind(Kind::R)) => checkpoint,
        Kind::F => whole,
        Kind::R => whole - checkpoint,
        Kind::I | Kind::W | Kind::B => Units::ZERO,
    }
}

/// What a pass releases at its end.
fn released(model: &Model, pass: Pass) -> Units {
    let whole = model.activation(pass.stage);
    let retained = model.retained_for_weight(pass.stage);
    match pass.kind {
        Kind::F | Kind::R => Units::ZERO,
        Kind::I => whole - retained,
        Kind::W => retained,
        Kind::B => whole,
    }
}
