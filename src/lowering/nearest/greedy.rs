//! Orders that can run, found by bringing passes forward one after the other.

use std::collections::BTreeSet;

use super::Nearest;
use crate::lowering::lower::{beside, lacks};
use crate::model::{Device, Pass};
use crate::schedule::{Place, Schedule};

/// Orders that can run, as near to those of a schedule as its devices allow when they are asked one after the
/// other: they run as they are for as long as any device can go on. When none can, of all passes that could
/// run now, the one with the fewest passes before it on its device is brought forward past those, on the
/// first device where there is one; one in an overlapped pair is taken out of it. So nothing is changed that could run
/// as it was, and every change is the smallest at its time; the number of changes need not be the smallest.
///
/// Nothing when a pass is missing that another one needs. No pass may be a duplicate, nor offloaded.
pub(super) fn brought_forward(schedule: &Schedule) -> Option<Nearest> {
    let passes: BTreeSet<Pass> = schedule.orders().iter().flatten().copied().collect();
    // What is left of every device, as steps of one or two passes.
    let mut left: Vec<Vec<Vec<Pass>>> = Device::all(schedule.devices())
        .map(|device| schedule.steps(device).map(<[Pass]>::to_vec).collect())
        .collect();
    let mut next = vec![0; left.len()];
    let mut run: BTreeSet<Pass> = BTreeSet::new();
    let mut changes = Nearest { schedule: schedule.clone(), moved: Vec::new(), parted: Vec::new() };
    // Devices that may be able to go on, and what each could bring forward, as far as that is still true.
    let mut awake: BTreeSet<usize> = (0..left.len()).collect();
    let mut offers = Offers::new(left.len());
    loop {
        while let Some(device) = awake.pop_first() {
            while let Some(step) = left[device].get(next[device])
                && step.iter().all(|&pass| lacks(pass, schedule, &passes, &run).is_none())
            {
                next[device] += 1;
                run.extend(step);
                for other in step.iter().flat_map(|&pass| beside(pass, schedule.placement())) {
                    offers.forget(other.index());
                    awake.insert(other.index());
                }
                offers.forget(device);
            }
        }
        if run.len() == passes.len() {
            break;
        }
        let ready = |pass: Pass| lacks(pass, schedule, &passes, &run).is_none();
        let offer = offers.best(|device| first_ready(&left[device], next[device], ready))?;
        advance(offer, &mut left, &next, &mut changes);
        offers.forget(offer.device);
        awake.insert(offer.device);
    }
    changes.schedule = super::reordered(schedule, &left);
    Some(changes)
}

/// A pass that could be brought forward; the least is the smallest change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Offer {
    /// How many passes it would be brought past, without those of its own pair.
    distance: usize,
    device: usize,
    /// Which step of the device it is in.
    at: usize,
    /// Where in that step.
    within: usize,
}

/// The first pass of a device that could run, in or behind its next step: distance, step, place in it.
fn first_ready(
    steps: &[Vec<Pass>],
    next: usize,
    ready: impl Fn(Pass) -> bool,
) -> Option<(usize, usize, usize)> {
    let mut distance = 0;
    for (at, step) in steps.iter().enumerate().skip(next) {
        if let Some(within) = step.iter().position(|&pass| ready(pass)) {
            return Some((distance, at, within));
        }
        distance += step.len();
    }
    None
}

/// What each device could bring forward. Only those near a pass that has run are looked at again, so that the time
/// grows with the changes and not with the devices times the changes.
struct Offers {
    stale: BTreeSet<usize>,
    by_device: Vec<Option<Offer>>,
    all: BTreeSet<Offer>,
}

impl Offers {
    fn new(devices: usize) -> Self {
        Self { stale: (0..devices).collect(), by_device: vec![None; devices], all: BTreeSet::new() }
    }

    fn forget(&mut self, device: usize) {
        if let Some(offer) = self.by_device[device].take() {
            self.all.remove(&offer);
        }
        self.stale.insert(device);
    }

    /// The smallest change, with what `find` says of the devices that were forgotten.
    fn best(&mut self, find: impl Fn(usize) -> Option<(usize, usize, usize)>) -> Option<Offer> {
        for device in std::mem::take(&mut self.stale) {
            let found = find(device).map(|(distance, at, within)| Offer { distance, device, at, within });
            self.by_device[device] = found;
            self.all.extend(found);
        }
        self.all.first().copied()
    }
}

/// Brings one pass forward to the next position of its device.
fn advance(offer: Offer, left: &mut [Vec<Vec<Pass>>], next: &[usize], changes: &mut Nearest) {
    let Offer { distance, device, at, within } = offer;
    let steps = &mut left[device];
    let pass = steps[at].remove(within);
    let to = steps[..next[device]].iter().map(Vec::len).sum();
    let place = Place { device: Device::at(device), position: to + distance + within };
    if steps[at].is_empty() {
        steps.remove(at);
    } else {
        changes.parted.push((place, pass));
    }
    if distance + within > 0 {
        changes.moved.push((place, pass, to));
    }
    steps.insert(next[device], vec![pass]);
}
