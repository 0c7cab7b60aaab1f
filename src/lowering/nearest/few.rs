//! Orders that can run and differ in the places of few passes.
//!
//! Devices that wait for each other in a cycle go on waiting as long as each has the pass at which it waits before the one
//! that the cycle needs of it. So every change that lets them run moves one of these passes. A pass to be moved is first
//! set *free*: taken out of the order of its device, so that only what it needs and what needs it bind it. If all passes
//! run then, there are positions for the free ones, and for a single one they lie next to each other.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use super::{Nearest, reordered};
use crate::model::{Device, Model, Pass, Ticks};
use crate::replay::replay;
use crate::schedule::{Place, Schedule, prerequisites};

/// The most passes that are moved.
pub(super) const MOST: usize = 3;

/// The passes that may be run in all while passes to be moved are looked for.
const RUN: usize = 1 << 21;

/// The passes that may be replayed in all to compare positions.
const REPLAYED: usize = 1 << 19;

/// The schedule with the fewest passes moved, as [`nearest`](super::nearest) says; the same one if it runs. Nothing when more
/// would have to be moved, or this is not known.
pub(super) fn few_moved(model: &Model, schedule: &Schedule) -> Option<Nearest> {
    let graph = Graph::of(schedule)?;
    let steps = graph.steps_of(schedule);
    let sets = graph.fewest_free(&steps)?;
    if sets.iter().any(BTreeSet::is_empty) {
        return Some(Nearest { schedule: schedule.clone(), moved: Vec::new(), parted: Vec::new() });
    }
    // Each set has its part, so that the first ones do not use up all.
    let share = REPLAYED / schedule.len().max(1) / sets.len();
    let mut placing = Placing { model, schedule, graph: &graph, left: 0 };
    let mut best: Option<(Rank, Steps, &BTreeSet<usize>)> = None;
    for free in &sets {
        placing.left = share.max(1);
        let (rank, placed) = placing.best_of(&steps, free);
        if best.as_ref().is_none_or(|(least, ..)| rank < *least) {
            best = Some((rank, placed, free));
        }
    }
    let (_, placed, free) = best?;
    Some(graph.changes(schedule, &placed, free))
}

/// By device: its steps, each of one or two passes by their numbers.
type Steps = Vec<Vec<Vec<usize>>>;

/// How good a change is; the least is the best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    /// Whether the schedule is not valid under the model, or this was not looked at.
    unproved: bool,
    makespan: Ticks,
    /// By how many positions its passes are moved.
    distance: usize,
    /// How many of them are moved back: of two that change places, the later one comes forward.
    back: usize,
}

/// The passes by number, and which need which.
struct Graph {
    passes: Vec<Pass>,
    /// Where each is in the schedule.
    places: Vec<Place>,
    needs: Vec<Vec<usize>>,
    needed_by: Vec<Vec<usize>>,
}

impl Graph {
    /// Nothing when a pass is missing that another one needs.
    fn of(schedule: &Schedule) -> Option<Self> {
        let mut numbers: BTreeMap<Pass, usize> = BTreeMap::new();
        let (mut passes, mut places) = (Vec::new(), Vec::new());
        for device in Device::all(schedule.devices()) {
            for (position, &pass) in schedule.order(device).iter().enumerate() {
                numbers.insert(pass, passes.len());
                passes.push(pass);
                places.push(Place { device, position });
            }
        }
        let present = |pass| numbers.contains_key(&pass);
        let mut needed_by = vec![Vec::new(); passes.len()];
        let mut needs = Vec::with_capacity(passes.len());
        for (number, &pass) in passes.iter().enumerate() {
            let of_pass = prerequisites(pass, schedule.placement(), present);
            let of_pass: Vec<usize> =
                of_pass.map(|needed| numbers.get(&needed).copied()).collect::<Option<_>>()?;
            for &needed in &of_pass {
                needed_by[needed].push(number);
            }
            needs.push(of_pass);
        }
        Some(Self { passes, places, needs, needed_by })
    }

    fn steps_of(&self, schedule: &Schedule) -> Steps {
        let mut numbers = 0..self.passes.len();
        let mut step = |step: &[Pass]| numbers.by_ref().take(step.len()).collect();
        Device::all(schedule.devices())
            .map(|device| schedule.steps(device).map(&mut step).collect())
            .collect()
    }

    fn device_of(&self, pass: usize) -> usize {
        self.places[pass].device.index()
    }

    /// The smallest sets of passes with which all run if these are free: all there are, or as many as were found in time.
    /// Nothing when there are none of up to [`MOST`], or none were found in time.
    fn fewest_free(&self, steps: &Steps) -> Option<Vec<BTreeSet<usize>>> {
        let mut left = RUN / self.passes.len().max(1);
        let mut sets = BTreeSet::from([BTreeSet::new()]);
        for _ in 0..=MOST {
            let (mut found, mut larger) = (Vec::new(), BTreeSet::new());
            for free in sets {
                // The first run is always allowed: it tells whether anything has to be moved.
                if left == 0 && !free.is_empty() {
                    break;
                }
                left = left.saturating_sub(1);
                let run = Run::of(self, steps, &free);
                if run.order.len() == self.passes.len() {
                    found.push(free);
                } else if found.is_empty() {
                    larger.extend(run.cycle().into_iter().map(|pass| {
                        let mut free = free.clone();
                        free.insert(pass);
                        free
                    }));
                }
            }
            if !found.is_empty() {
                return Some(found);
            }
            sets = larger;
        }
        None
    }

    /// What was changed to come to these steps.
    fn changes(&self, schedule: &Schedule, placed: &Steps, free: &BTreeSet<usize>) -> Nearest {
        let mut moved = Vec::new();
        let mut orders: Vec<Vec<usize>> =
            self.steps_of(schedule).iter().map(|steps| steps.concat()).collect();
        let mut waiting = free.clone();
        for &pass in free {
            waiting.remove(&pass);
            let device = self.device_of(pass);
            let order = &mut orders[device];
            let at = position_of(order, pass);
            order.remove(at);
            // Behind the last pass before it that is where it is to be.
            let to = placed[device]
                .iter()
                .flatten()
                .take_while(|&&before| before != pass)
                .filter(|before| !waiting.contains(before))
                .last()
                .map_or(0, |&before| position_of(order, before) + 1);
            order.insert(to, pass);
            if at != to {
                moved.push((Place { device: Device::at(device), position: at }, self.passes[pass], to));
            }
        }
        let pairs = self.steps_of(schedule).into_iter().flatten().filter(|step| step.len() > 1);
        let parted = pairs.filter(|pair| pair.iter().any(|pass| free.contains(pass))).filter_map(|pair| {
            let first = placed[self.device_of(pair[0])].iter().flatten().find(|pass| pair.contains(pass))?;
            Some((self.places[*first], self.passes[*first]))
        });
        let parted = parted.collect();
        Nearest { schedule: self.schedule_of(schedule, placed), moved, parted }
    }

    fn schedule_of(&self, schedule: &Schedule, steps: &Steps) -> Schedule {
        let pass = |&number: &usize| self.passes[number];
        let steps: Vec<Vec<Vec<Pass>>> = steps
            .iter()
            .map(|steps| steps.iter().map(|step| step.iter().map(pass).collect()).collect())
            .collect();
        reordered(schedule, &steps)
    }
}

fn position_of(order: &[usize], pass: usize) -> usize {
    order.iter().position(|&other| other == pass).expect("the same passes are in every order of a device")
}

/// Takes a pass out of the steps of its device, and says in which step it was.
fn lift(steps: &mut Vec<Vec<usize>>, pass: usize) -> usize {
    let at =
        steps.iter().position(|step| step.contains(&pass)).expect("every pass is in a step of its device");
    steps[at].retain(|&other| other != pass);
    if steps[at].is_empty() {
        steps.remove(at);
    }
    at
}

/// What ran at a time.
#[derive(Debug, Clone, Copy)]
enum Ran {
    /// A step of a device, without its free passes.
    Step { device: usize, at: usize },
    /// A free pass.
    Free(usize),
}

/// How far devices come.
struct Run<'a> {
    graph: &'a Graph,
    steps: &'a Steps,
    free: &'a BTreeSet<usize>,
    /// By device: the step it runs next.
    next: Vec<usize>,
    done: Vec<bool>,
    /// The passes that have run, in this order.
    order: Vec<usize>,
    /// The same as what ran at a time.
    ran: Vec<Ran>,
}

impl<'a> Run<'a> {
    /// Runs what can run, with some passes free.
    fn of(graph: &'a Graph, steps: &'a Steps, free: &'a BTreeSet<usize>) -> Self {
        let passes = graph.passes.len();
        let mut run = Self {
            graph,
            steps,
            free,
            next: vec![0; steps.len()],
            done: vec![false; passes],
            order: Vec::with_capacity(passes),
            ran: Vec::with_capacity(passes),
        };
        let mut awake: Vec<usize> = (0..steps.len()).rev().collect();
        for &pass in free {
            run.run_free(pass, &mut awake);
        }
        while let Some(device) = awake.pop() {
            while let Some(step) = steps[device].get(run.next[device])
                && step.iter().all(|&pass| free.contains(&pass) || run.lacks(pass).is_none())
            {
                run.ran.push(Ran::Step { device, at: run.next[device] });
                run.next[device] += 1;
                for &pass in step.iter().filter(|pass| !free.contains(pass)) {
                    run.finish(pass, &mut awake);
                }
            }
        }
        run
    }

    /// The first pass that another one needs and that has not run.
    fn lacks(&self, pass: usize) -> Option<usize> {
        self.graph.needs[pass].iter().copied().find(|&needed| !self.done[needed])
    }

    fn run_free(&mut self, pass: usize, awake: &mut Vec<usize>) {
        if !self.done[pass] && self.lacks(pass).is_none() {
            self.ran.push(Ran::Free(pass));
            self.finish(pass, awake);
        }
    }

    fn finish(&mut self, pass: usize, awake: &mut Vec<usize>) {
        self.done[pass] = true;
        self.order.push(pass);
        for &next in &self.graph.needed_by[pass] {
            if self.free.contains(&next) {
                self.run_free(next, awake);
            } else {
                awake.push(self.graph.device_of(next));
            }
        }
    }

    /// The pass at which a device waits; nothing when it has finished.
    fn waits_at(&self, device: usize) -> Option<usize> {
        let step = self.steps[device].get(self.next[device])?;
        step.iter().copied().find(|&pass| !self.free.contains(&pass) && self.lacks(pass).is_some())
    }

    /// With nothing running any more: the passes of a cycle of waits that are not free, ascending. Each is one at which a
    /// device waits, or one that the cycle needs of a device.
    fn cycle(&self) -> Vec<usize> {
        let stuck = (0..self.steps.len()).find_map(|device| self.waits_at(device));
        let stuck = stuck.or_else(|| self.free.iter().copied().find(|&pass| !self.done[pass]));
        let Some(mut at) = stuck else { return Vec::new() };
        // What waits, and what of the next one it needs.
        let mut waits: Vec<(usize, usize)> = Vec::new();
        let mut met: BTreeMap<usize, usize> = BTreeMap::new();
        let begin = loop {
            if let Some(begin) = met.insert(at, waits.len()) {
                break begin;
            }
            let Some(needed) = self.lacks(at) else { return Vec::new() };
            waits.push((at, needed));
            at = if self.free.contains(&needed) {
                needed
            } else {
                let Some(next) = self.waits_at(self.graph.device_of(needed)) else { return Vec::new() };
                next
            };
        };
        let passes: BTreeSet<usize> =
            waits[begin..].iter().flat_map(|&(waiting, needed)| [waiting, needed]).collect();
        passes.difference(self.free).copied().collect()
    }

    /// With all having run: the steps of its device before which a free pass can be that is in none of them, the other free
    /// ones staying free. The number of steps stands for the end.
    fn positions(&self, pass: usize) -> RangeInclusive<usize> {
        let home = self.graph.device_of(pass);
        let of_step = |device: usize, at: usize| {
            self.steps[device][at].iter().copied().filter(|pass| !self.free.contains(pass))
        };
        let mut later = vec![false; self.done.len()];
        let mut behind = vec![false; self.steps.len()];
        let mut last = self.steps[home].len();
        for &ran in &self.ran {
            match ran {
                Ran::Free(free) => {
                    later[free] = free == pass || self.graph.needs[free].iter().any(|&needed| later[needed]);
                }
                Ran::Step { device, at } => {
                    let needs = |pass: usize| self.graph.needs[pass].iter().any(|&needed| later[needed]);
                    if behind[device] || of_step(device, at).any(needs) {
                        if device == home && !behind[home] {
                            last = at;
                        }
                        behind[device] = true;
                        for pass in of_step(device, at) {
                            later[pass] = true;
                        }
                    }
                }
            }
        }
        let mut earlier = vec![false; self.done.len()];
        let mut before = vec![false; self.steps.len()];
        let mut first = 0;
        for &ran in self.ran.iter().rev() {
            let (is_before, passes) = match ran {
                Ran::Free(free) => (free == pass || earlier[free], vec![free]),
                Ran::Step { device, at } => {
                    let passes: Vec<usize> = of_step(device, at).collect();
                    let is_before = before[device] || passes.iter().any(|&pass| earlier[pass]);
                    if is_before && device == home && !before[home] {
                        first = at + 1;
                    }
                    before[device] |= is_before;
                    (is_before, passes)
                }
            };
            if is_before {
                for needed in passes.iter().flat_map(|&pass| &self.graph.needs[pass]) {
                    earlier[*needed] = true;
                }
            }
        }
        first..=last
    }
}

/// Chooses positions for free passes.
struct Placing<'a> {
    model: &'a Model,
    schedule: &'a Schedule,
    graph: &'a Graph,
    /// How many replays are left.
    left: usize,
}

impl Placing<'_> {
    /// Steps with these passes at good positions: first each as near as possible to where it was, then each at the best
    /// one for where the others are.
    fn best_of(&mut self, steps: &Steps, free: &BTreeSet<usize>) -> (Rank, Steps) {
        let mut placed = steps.clone();
        let mut waiting = free.clone();
        for &pass in free {
            let device = self.graph.device_of(pass);
            let old = lift(&mut placed[device], pass);
            let positions = Run::of(self.graph, &placed, &waiting).positions(pass);
            placed[device].insert(old.clamp(*positions.start(), *positions.end()), vec![pass]);
            waiting.remove(&pass);
        }
        let mut rank = self.rank(&placed, free);
        for &pass in free {
            let device = self.graph.device_of(pass);
            let mut lifted = placed.clone();
            let old = lift(&mut lifted[device], pass);
            let alone = BTreeSet::from([pass]);
            // The nearest first: those are looked at if not all can be.
            let mut positions: Vec<usize> = Run::of(self.graph, &lifted, &alone).positions(pass).collect();
            positions.sort_by_key(|&at| at.abs_diff(old));
            positions.truncate(self.left);
            for at in positions {
                let mut tried = lifted.clone();
                tried[device].insert(at, vec![pass]);
                let other = self.rank(&tried, free);
                if other < rank {
                    (rank, placed) = (other, tried);
                }
            }
        }
        (rank, placed)
    }

    fn rank(&mut self, steps: &Steps, free: &BTreeSet<usize>) -> Rank {
        let (mut distance, mut back) = (0, 0);
        for &pass in free {
            let position = position_of(&steps[self.graph.device_of(pass)].concat(), pass);
            let was = self.graph.places[pass].position;
            distance += position.abs_diff(was);
            back += usize::from(position > was);
        }
        if self.left == 0 {
            return Rank { unproved: true, makespan: Ticks(i64::MAX), distance, back };
        }
        self.left -= 1;
        let verdict = replay(self.model, &self.graph.schedule_of(self.schedule, steps));
        let makespan = verdict.timing.as_ref().map_or(Ticks(i64::MAX), |timing| timing.metrics.makespan);
        Rank { unproved: !verdict.is_valid(), makespan, distance, back }
    }
}
