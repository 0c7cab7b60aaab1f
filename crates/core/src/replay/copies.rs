//! Copies of activations to the memory of the host and back.
//!
//! A device has two copy engines, one for each direction. That to the host takes copies in the order of their forwards, that from
//! the host in the order in which they are posted; of those posted at once, that whose backward comes first.
//!
//! Copies never make passes wait for each other in a cycle. All that a copy to the host waits for, on either engine, is in the
//! order of its device no later than its forward, and the step that waits for it comes after that. All that a copy back waits
//! for is before the step at which it is posted: the step before, and copies that are posted no later or freed there, whose
//! forwards come earlier. What waits for it, its backward, is not before that step. So where a cycle goes through copies, it goes
//! through the order of the device as well.

use std::collections::BTreeMap;

use super::layout::{Layout, Slot};
use super::violation::Violation;
use crate::model::{Device, Kind, Model, Pass, Units};
use crate::schedule::{Offloaded, Place, Schedule};
use crate::tasks::Task;

/// An activation that goes to the host and comes back, with the positions of its device's order at which something happens.
#[derive(Debug, Clone, Copy)]
pub(super) struct Copied {
    /// The forward whose activation it is.
    pub pass: Pass,
    /// Its place.
    pub forward: Slot,
    /// The place of its I or B.
    pub backward: Slot,
    /// The position of the first pass of the step that waits for the copy to the host.
    pub freed: usize,
    /// The position of the first pass of the step before which the copy back is posted.
    pub fetched: usize,
    /// The position that the schedule gives for that.
    posted: usize,
}

/// What is offloaded, as far as it can be: the schedule may name what cannot.
pub(super) fn copied(
    model: &Model,
    schedule: &Schedule,
    layout: &Layout,
    device: Device,
    offloaded: Offloaded,
) -> Result<Copied, Violation> {
    let Offloaded { pass, freed, fetched } = offloaded;
    if model.offload().is_none() {
        return Err(Violation::OffloadUnknown { device, pass });
    }
    let own = layout.range(device);
    let here = |kind| layout.find(pass.with_kind(kind)).filter(|slot| own.contains(&slot.rank()));
    let Some((forward, backward)) = here(Kind::F).zip(here(Kind::B).or_else(|| here(Kind::I))) else {
        return Err(Violation::OffloadOfNothing { device, pass });
    };
    let at = layout.place(forward);
    if let Some(again) = here(Kind::R) {
        return Err(Violation::OffloadRecomputed { at, pass, again: layout.place(again) });
    }
    let step = |position| schedule.step_at(device, position);
    if step(freed) <= step(at.position) {
        return Err(Violation::FreedTooEarly { at, pass, freed });
    }
    let needed = layout.place(backward);
    if fetched > needed.position {
        let needs = schedule.order(device)[needed.position];
        return Err(Violation::FetchedTooLate { at: needed, pass: needs, needs: pass, fetched });
    }
    Ok(Copied { pass, forward, backward, freed: step(freed), fetched: step(fetched), posted: fetched })
}

/// All that a device offloads and that it can offload.
pub(super) fn of_device<'a>(
    model: &'a Model,
    schedule: &'a Schedule,
    layout: &'a Layout,
    device: Device,
) -> impl Iterator<Item = Copied> + 'a {
    let all = schedule.offloads(device).iter();
    all.filter_map(move |&offloaded| copied(model, schedule, layout, device, offloaded).ok())
}

/// The copies of a device, each engine's in its order, with their tasks.
#[derive(Default)]
pub(super) struct Engines {
    pub to_host: Vec<(Copied, Task)>,
    pub from_host: Vec<(Copied, Task)>,
    /// By position of the first pass of a step: the last of the copies to the host that it waits for.
    freed: BTreeMap<usize, Task>,
    /// By position of the first pass of a step: the last of the copies back that it waits for.
    back: BTreeMap<usize, Task>,
}

impl Engines {
    /// The copies of a device, with tasks numbered from one on.
    pub(super) fn new(
        model: &Model,
        schedule: &Schedule,
        layout: &Layout,
        device: Device,
        first: u32,
    ) -> Self {
        let mut to_host: Vec<Copied> = of_device(model, schedule, layout, device).collect();
        let mut from_host = to_host.clone();
        to_host.sort_unstable_by_key(|copied| copied.forward);
        from_host.sort_unstable_by_key(|copied| (copied.posted, copied.backward));
        let mut tasks = (first..).map(Task);
        let mut numbered = |list: Vec<Copied>| list.into_iter().zip(tasks.by_ref()).collect::<Vec<_>>();
        let (to_host, from_host) = (numbered(to_host), numbered(from_host));
        // An engine takes its copies in this order, so the last one for which a step waits is over after the others.
        let freed = to_host.iter().map(|&(copied, task)| (copied.freed, task)).collect();
        let step = |slot| schedule.step_at(device, layout.place(slot).position);
        let back = from_host.iter().map(|&(copied, task)| (step(copied.backward), task)).collect();
        Self { to_host, from_host, freed, back }
    }

    /// How many copies there are.
    pub(super) fn len(&self) -> u32 {
        u32::try_from(self.to_host.len() + self.from_host.len()).expect("two for each forward at most")
    }

    /// The copies that the step needs whose first pass is at a position: the last one of each engine.
    pub(super) fn needs(&self, position: usize) -> impl Iterator<Item = Task> {
        [&self.freed, &self.back].into_iter().filter_map(move |needs| needs.get(&position).copied())
    }

    /// The last of the copies to the host for which the step waits whose first pass is at a position. A copy back or a gather
    /// that is posted there waits for it too, for it may use the memory that is free then.
    pub(super) fn freed_at(&self, position: usize) -> Option<Task> {
        self.freed.get(&position).copied()
    }
}

/// What offloading changes of the memory of devices. Nothing is laid out where nothing is offloaded.
pub(super) struct Away {
    /// By device and position: what is free from a pass on, and what is occupied again from it on.
    changes: Option<Vec<Vec<(Units, Units)>>>,
}

impl Away {
    pub(super) fn new(model: &Model, schedule: &Schedule, layout: &Layout) -> Self {
        if schedule.offload_count() == 0 {
            return Self { changes: None };
        }
        let of_device = |(device, order): (Device, &[Pass])| {
            let mut changes = vec![(Units::ZERO, Units::ZERO); order.len() + 1];
            let counted = layout.counted(device, order);
            for copied in of_device(model, schedule, layout, device) {
                let moved = model.moved(copied.pass.stage);
                changes[counted[copied.freed]].0 += moved;
                changes[counted[copied.fetched]].1 += moved;
            }
            changes
        };
        Self { changes: Some(super::devices(schedule).map(of_device).collect()) }
    }

    /// What is free from a pass on, and what is occupied again from it on.
    pub(super) fn at(&self, place: Place) -> (Units, Units) {
        match &self.changes {
            Some(changes) => changes[place.device.index()][place.position],
            None => (Units::ZERO, Units::ZERO),
        }
    }
}
