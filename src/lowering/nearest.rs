//! The nearest orders that can run, to orders that cannot.

use std::collections::BTreeSet;

use super::lower::lacks;
use crate::model::{Device, Pass};
use crate::schedule::{Place, Schedule};

/// Orders that can run, and what was changed to come to them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nearest {
    /// The schedule that can run.
    pub schedule: Schedule,
    /// The passes that were brought forward, in the order in which that was done: the place of each when it
    /// was moved, and the position it was moved to.
    pub moved: Vec<(Place, Pass, usize)>,
    /// The overlapped pairs that were taken apart, by the pass that goes first now.
    pub parted: Vec<(Place, Pass)>,
}

impl Nearest {
    /// Whether they are other orders than those of the schedule.
    #[must_use]
    pub const fn is_changed(&self) -> bool {
        !(self.moved.is_empty() && self.parted.is_empty())
    }
}

/// Orders that can run, as near to those of a schedule as its devices allow when they are asked one after the
/// other: they run as they are for as long as any device can go on. When none can, of all passes that could
/// run now, the one with the fewest passes before it on its device is brought forward past those, on the
/// first device where there is one; one in an overlapped pair is taken out of it. So nothing is
/// changed that could run as it was, and every change is the smallest at its time; that there are as few
/// changes as possible in all is not claimed.
///
/// Nothing when a pass is missing that another one needs, or is a duplicate: no order of such passes can run.
#[must_use]
pub fn nearest(schedule: &Schedule) -> Option<Nearest> {
    let passes: BTreeSet<Pass> = schedule.orders().iter().flatten().copied().collect();
    if passes.len() < schedule.len() {
        return None;
    }
    // What is left of every device, as steps of one or two passes.
    let mut left: Vec<Vec<Vec<Pass>>> = Device::all(schedule.devices())
        .map(|device| schedule.steps(device).map(<[Pass]>::to_vec).collect())
        .collect();
    let mut next = vec![0; left.len()];
    let mut run: BTreeSet<Pass> = BTreeSet::new();
    let mut changes = Nearest { schedule: schedule.clone(), moved: Vec::new(), parted: Vec::new() };
    loop {
        let mut moved = false;
        for (steps, next) in left.iter().zip(&mut next) {
            while let Some(step) = steps.get(*next)
                && step.iter().all(|&pass| lacks(pass, schedule, &passes, &run).is_none())
            {
                run.extend(step);
                *next += 1;
                moved = true;
            }
        }
        if run.len() == passes.len() {
            break;
        }
        if !moved {
            advance(schedule, &passes, &run, &mut left, &next, &mut changes)?;
        }
    }
    changes.schedule = Schedule::of_steps(schedule.placement().clone(), schedule.microbatches(), &left)
        .expect("the same passes on the same devices, and fewer pairs");
    changes.schedule.name.clone_from(&schedule.name);
    changes.schedule.model.clone_from(&schedule.model);
    Some(changes)
}

/// Brings one pass forward to the next position of its device; nothing when no pass can run.
fn advance(
    schedule: &Schedule,
    passes: &BTreeSet<Pass>,
    run: &BTreeSet<Pass>,
    left: &mut [Vec<Vec<Pass>>],
    next: &[usize],
    changes: &mut Nearest,
) -> Option<()> {
    let candidates = left.iter().zip(next).enumerate().filter_map(|(device, (steps, &next))| {
        let mut distance = 0;
        for (ahead, step) in steps[next..].iter().enumerate() {
            let ready = step.iter().position(|&pass| lacks(pass, schedule, passes, run).is_none());
            if let Some(within) = ready {
                return Some((distance, device, next + ahead, within));
            }
            distance += step.len();
        }
        None
    });
    let (distance, device, at, within) = candidates.min()?;
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
    Some(())
}
