//! The critical path of a schedule: the chain of passes, each waiting for the one before, that is as
//! long as the makespan.

use super::{Places, latency};
use crate::model::{Device, Model, Pass, Ticks, Units};
use crate::replay::{Held, Timing, end_of, memory_along};
use crate::schedule::{Schedule, prerequisites};

/// What a pass on the critical path waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waits {
    /// Nothing: it is the first of the path.
    Nothing,
    /// A pass that it depends on; `latency` is the time the message takes.
    Dependency {
        /// The time between devices, 0 on the same one.
        latency: Ticks,
    },
    /// The pass before it on its device, which releases memory that it needs.
    Memory,
    /// The pass before it on its device.
    Device,
}

/// A pass on the critical path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// The pass.
    pub pass: Pass,
    /// Where it runs.
    pub device: Device,
    /// When it starts.
    pub start: Ticks,
    /// When it ends.
    pub end: Ticks,
    /// Why it does not start before the pass before it in the path has ended.
    pub waits: Waits,
}

/// The critical path of a schedule that replay has timed, first pass first: it starts at 0 and ends with the pass that ends
/// last, which is at the makespan unless the model has an end of the step. Where a pass waits for several, a dependency goes before its device. An overlapped pair is
/// on it with both its passes, and waits for what either needs.
///
/// # Panics
/// When the times are not those that replay gives this schedule.
#[must_use]
pub fn critical_path(model: &Model, schedule: &Schedule, timing: &Timing) -> Vec<Step> {
    let places = Places::of(schedule);
    let start_of = |(device, at): (Device, usize)| timing.starts[device.index()][at];
    let end = |pass: Pass, place| end_of(model, pass, start_of(place));
    let pass_at = |(device, at): (Device, usize)| schedule.order(device)[at];
    // The first pass that ends last; of passes without duration at that instant, the last of its order.
    let all = Device::all(schedule.devices())
        .flat_map(|device| (0..schedule.order(device).len()).map(move |at| (device, at)));
    let ends = all.map(|place| (end(pass_at(place), place), place.1, place.0));
    let Some((_, at, device)) = ends.max() else { return Vec::new() };
    let held = memory_along(model, schedule);
    // The first and the last position of what a device runs at a time: a pass, or an overlapped pair.
    let run_at = |(device, at): (Device, usize)| {
        let pairs = schedule.overlaps(device);
        let begins = |at: usize| pairs.binary_search(&at).is_ok();
        match at.checked_sub(1).filter(|&before| begins(before)) {
            Some(before) => (before, at),
            None if begins(at) => (at, at + 1),
            None => (at, at),
        }
    };
    let mut path = Vec::new();
    let mut place = (device, at);
    loop {
        let (device, (first, last)) = (place.0, run_at(place));
        let start = start_of((device, first));
        let needed = (first..=last).find_map(|at| {
            let pass = pass_at((device, at));
            prerequisites(pass, schedule.placement(), |other| places.rank(other).is_some())
                .filter_map(|needs| Some((needs, places.find(needs)?)))
                .find_map(|(needs, from)| {
                    let latency = latency(model, needs, pass);
                    // A pair yields at its end.
                    let from = (from.0, run_at(from).1);
                    let is_tight = end(pass_at(from), from) + latency == start && from != (device, last);
                    is_tight.then_some((from, Waits::Dependency { latency }))
                })
        });
        let before = || {
            let before = (device, first.checked_sub(1)?);
            (end(pass_at(before), before) == start).then(|| {
                let short = is_short(model, device, &held[device.index()], first);
                (before, if short { Waits::Memory } else { Waits::Device })
            })
        };
        let cause = needed.or_else(before);
        for at in (first..=last).rev() {
            let (pass, place) = (pass_at((device, at)), (device, at));
            let waits =
                if at > first { Waits::Device } else { cause.map_or(Waits::Nothing, |(_, waits)| waits) };
            path.push(Step { pass, device, start: start_of(place), end: end(pass, place), waits });
        }
        let Some((earlier, _)) = cause else { break };
        place = earlier;
    }
    path.reverse();
    path
}

/// Whether what runs at a position would exceed the memory of its device if it ran before what ends right in front
/// of it. What is held counts with the weights of the device, and so does its capacity.
fn is_short(model: &Model, device: Device, held: &[Held], at: usize) -> bool {
    let Some(capacity) = model.memory().capacity[device.index()] else { return false };
    let before = &held[at - 1];
    let (acquires, released) = (held[at].during - before.after, before.during - before.after);
    acquires > Units::ZERO && released > Units::ZERO && before.during + acquires > capacity
}
