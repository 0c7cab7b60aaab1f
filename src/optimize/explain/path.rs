//! The critical path of a schedule: the chain of passes, each waiting for the one before, that is as
//! long as the makespan.

use std::collections::{BTreeMap, BTreeSet};

use crate::block::{acquired, released};
use crate::model::{Device, Kind, Model, Pass, Ticks, Units};
use crate::replay::{Timing, end_of};
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
    /// The pass before it on its device, which releases memory that it needs under the cap.
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

/// A part of the critical path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stretch {
    /// Passes that come once.
    Once(Vec<Step>),
    /// Passes that come again and again, each time for later microbatches: a critical cycle, which
    /// sets the time per microbatch.
    Cycle {
        /// The passes of the first turn.
        turn: Vec<Step>,
        /// How often they come.
        times: usize,
        /// How long a turn takes.
        ticks: Ticks,
        /// By how many microbatches a turn moves on; 0 when it does not.
        microbatches: u32,
    },
}

/// The fewest turns that are called a cycle, and the longest turn looked for, in passes.
const TURNS: usize = 3;
const LONGEST_TURN: usize = 4096;

/// The critical path of a schedule that replay has timed, first pass first: it starts at 0 and ends
/// at the makespan. Where a pass waits for several, a dependency goes before its device. An overlapped pair is
/// on it with both its passes, and waits for what either needs.
#[must_use]
pub fn critical_path(model: &Model, schedule: &Schedule, timing: &Timing) -> Vec<Step> {
    let places: BTreeMap<Pass, (Device, usize)> = Device::all(schedule.devices())
        .flat_map(|device| {
            schedule.order(device).iter().enumerate().map(move |(at, &pass)| (pass, (device, at)))
        })
        .collect();
    let start_of = |(device, at): (Device, usize)| timing.starts[device.index()][at];
    let end = |pass: Pass, place| end_of(model, pass, start_of(place));
    // The first pass that ends last; of passes without duration at that instant, the last of its order.
    let ends = places.iter().map(|(&pass, &place)| (end(pass, place), place.0, place.1));
    let Some((_, device, at)) = ends.max_by_key(|&(end, device, at)| (end, at, device)) else {
        return Vec::new();
    };
    let held: Vec<Held> = schedule.orders().iter().map(|order| Held::along(model, order)).collect();
    // Of what a device runs at a time (a pass, or an overlapped pair), the first position and the last.
    let run_at = |(device, at): (Device, usize)| {
        let pairs = schedule.overlaps(device);
        let begins = |at: usize| pairs.binary_search(&at).is_ok();
        match at.checked_sub(1).filter(|&before| begins(before)) {
            Some(before) => (before, at),
            None if begins(at) => (at, at + 1),
            None => (at, at),
        }
    };
    let pass_at = |(device, at): (Device, usize)| schedule.order(device)[at];
    let mut path = Vec::new();
    let mut place = (device, at);
    loop {
        let (device, (first, last)) = (place.0, run_at(place));
        let start = start_of((device, first));
        let needed = (first..=last).find_map(|at| {
            let pass = pass_at((device, at));
            prerequisites(pass, schedule.placement(), |other| places.contains_key(&other))
                .filter_map(|needs| Some((needs, *places.get(&needs)?)))
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
                let short = held[device.index()].is_short(first, model.capacity(device));
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

fn latency(model: &Model, needs: Pass, pass: Pass) -> Ticks {
    if needs.stage == pass.stage {
        return Ticks::ZERO;
    }
    model.latency_after(needs.stage.min(pass.stage))
}

/// What a device holds along its order.
struct Held {
    /// Before each position.
    live: Vec<Units>,
    /// What the pass at each position acquires, and what it releases.
    change: Vec<(Units, Units)>,
}

impl Held {
    fn along(model: &Model, order: &[Pass]) -> Self {
        let recomputed: BTreeSet<Pass> = order.iter().copied().filter(|pass| pass.kind == Kind::R).collect();
        let change: Vec<(Units, Units)> = order
            .iter()
            .map(|&pass| {
                let again = recomputed.contains(&pass.with_kind(Kind::R));
                (acquired(model, pass, again), released(model, pass))
            })
            .collect();
        let live = change
            .iter()
            .scan(Units::ZERO, |held, &(takes, gives)| {
                let before = *held;
                *held = before + takes - gives;
                Some(before)
            })
            .collect();
        Self { live, change }
    }

    /// Whether the pass at a position would exceed the cap if it ran before the pass in front of it.
    fn is_short(&self, at: usize, capacity: Option<Units>) -> bool {
        let (takes, _) = self.change[at];
        let (_, gives) = self.change[at - 1];
        takes > Units::ZERO
            && gives > Units::ZERO
            && capacity.is_some_and(|capacity| self.live[at - 1] + takes > capacity)
    }
}

/// The path with its repetitions gathered.
#[must_use]
pub fn stretches(path: &[Step]) -> Vec<Stretch> {
    let mut found = Vec::new();
    let mut once = Vec::new();
    let mut at = 0;
    while at < path.len() {
        let Some((length, times, microbatches)) = repetition(&path[at..]) else {
            once.push(path[at]);
            at += 1;
            continue;
        };
        if !once.is_empty() {
            found.push(Stretch::Once(std::mem::take(&mut once)));
        }
        let ticks = path[at + length].start - path[at].start;
        found.push(Stretch::Cycle { turn: path[at..at + length].to_vec(), times, ticks, microbatches });
        at += length * times;
    }
    if !once.is_empty() {
        found.push(Stretch::Once(once));
    }
    found
}

/// The shortest turn that a path begins with, how often it comes, and by how many microbatches it
/// moves on each time.
fn repetition(path: &[Step]) -> Option<(usize, usize, u32)> {
    (1..=(path.len() / TURNS).min(LONGEST_TURN)).find_map(|length| {
        let moved = path[length].pass.microbatch.0.checked_sub(path[0].pass.microbatch.0)?;
        let ticks = path[length].start - path[0].start;
        let again = |(one, other): (&Step, &Step)| {
            (other.pass.stage, other.pass.kind, other.waits == one.waits || one.waits == Waits::Nothing)
                == (one.pass.stage, one.pass.kind, true)
                && other.pass.microbatch.0.checked_sub(one.pass.microbatch.0) == Some(moved)
                && other.start - one.start == ticks
        };
        let same = path.iter().zip(&path[length..]).take_while(|&pair| again(pair)).count();
        let times = same / length + 1;
        (times >= TURNS).then_some((length, times, moved))
    })
}
