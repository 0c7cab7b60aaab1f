//! What to offload: schedules that need more memory than there is, with activations that go to the host until they fit.
//!
//! The searches know no copies. So schedules are sought for more memory, and for as much as there is. Then each device is walked
//! along its order: where it would be over its capacity, an activation goes whose copy delays least, and of those the one
//! that is needed last. Each is freed as late as that, and fetched as early as the copy back has to start, where memory allows. Some
//! room may be kept for copies back, so that they can start early. Replay says what that is worth, and at which times to
//! choose anew. Last, single choices and places of passes are changed at random, and what is recomputed is offloaded. In the end
//! nothing is offloaded that could stay.

mod steps;

use std::collections::VecDeque;
use std::iter;

use super::memory::fused;
use super::sources::named;
use super::wander::{Changing, Walks, Wander};
use crate::certificate::Objective;
use crate::model::{Device, Kind, Model, Pass, Ticks, Units};
use crate::optimize::replayed::ReplayedSchedule;
use crate::optimize::{OptimizeError, Options, Progress, optimize};
use crate::replay::{Held, memory_along, replay};
use crate::schedule::{Offloaded, Schedule};
use crate::stop::Stop;
use steps::{Rule, Steps};

/// Schedules for the plain model of a model, with more memory than this has, and what found them: in search of orders that are
/// good once activations are offloaded. Nothing for memory that is too small for any, and where there is no limit. They recompute
/// nothing: what is offloaded is not recomputed, and schedules that recompute are sought anyway.
///
/// # Errors
/// As [`optimize`].
pub(super) fn roomier(
    model: &Model,
    plain: &Model,
    options: &Options,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Vec<(Schedule, String)>, OptimizeError> {
    let plain = plain.with_recompute(None).expect("what keeps all of it needs no level");
    if model.memory().capacity.iter().all(Option::is_none) {
        return Ok(Vec::new());
    }
    // The shortest without a limit may leave more waiting for its W than a named one, which is no longer offloaded: those that
    // idle least first.
    let unlimited = plain.with_uniform_activation_capacity(None).expect("without a limit, none is wrong");
    let mut found = named(&unlimited, &options.stop.within(options.stop.remaining() / 8));
    found.reverse();
    for quarters in [5, 6, 8, 12, 16, 0] {
        if options.stop.is_due() {
            break;
        }
        let more = |device| {
            let room = model.activation_capacity(device).filter(|_| quarters > 0)?;
            Some(Units(i64::try_from(i128::from(room.0) * quarters / 4).unwrap_or(Model::MAX_TOTAL)))
        };
        let room = plain.with_activation_capacity(Device::all(plain.devices()).map(more).collect());
        let Ok(room) = room else { continue };
        // What memory is closest to that of the model has the most time.
        let options = Options { stop: options.stop.within(options.stop.remaining() / 2), ..options.clone() };
        match optimize(&room, &options, progress) {
            Ok(solution) => found.push((solution.schedule, solution.engine)),
            Err(OptimizeError::Infeasible(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

const RULES: [Rule; 5] = [
    Rule { reserve: 0, may_delay: false },
    Rule { reserve: 1, may_delay: false },
    Rule { reserve: 2, may_delay: false },
    Rule { reserve: 1, may_delay: true },
    Rule { reserve: 2, may_delay: true },
];

/// How often choices are made by each rule: again at the times that the last ones gave.
const ROUNDS: usize = 3;

/// A search for what to offload.
pub(super) struct Offloads<'a> {
    pub(super) model: &'a Model,
    pub(super) objective: Objective,
    /// How many passes may still be replayed.
    pub(super) passes_left: usize,
    pub(super) stop: Stop,
}

impl Offloads<'_> {
    fn is_over(&self) -> bool {
        self.passes_left == 0 || self.stop.is_due()
    }

    fn replayed(&mut self, schedule: Schedule, engine: &str) -> Option<ReplayedSchedule> {
        self.passes_left = self.passes_left.saturating_sub(schedule.len());
        self.valid(schedule, engine)
    }

    /// The schedule replayed; nothing if it is not valid.
    fn valid(&self, schedule: Schedule, engine: &str) -> Option<ReplayedSchedule> {
        let engine = match schedule.offload_count() {
            0 => engine.to_owned(),
            _ => format!("{}, offloaded", engine.strip_suffix(", offloaded").unwrap_or(engine)),
        };
        ReplayedSchedule::new(self.model, self.objective, schedule, engine).ok()
    }

    /// The steps of all devices at the times of a schedule with the same orders, whether or not it keeps to the capacities; nothing
    /// where it does not run.
    fn steps(&self, schedule: &Schedule) -> Option<Vec<Steps>> {
        let none = vec![Vec::new(); schedule.orders().len()];
        let bare = schedule.clone().with_offloads(none).expect("one list for each device");
        let timing = replay(self.model, schedule).timing?;
        let held = memory_along(self.model, &bare);
        let devices = Device::all(bare.devices()).zip(&held);
        let of_device = |(device, held): (Device, &Vec<_>)| {
            let held: Vec<Units> = held.iter().map(|held: &Held| held.during).collect();
            Steps::new(self.model, &bare, &timing.starts[device.index()], &held, device)
        };
        Some(devices.map(of_device).collect())
    }

    /// The schedule with activations offloaded, of those too that it recomputes: of all, or of every second or third microbatch.
    pub(super) fn instead_of_recomputing(
        &mut self,
        schedule: &Schedule,
        engine: &str,
    ) -> Option<ReplayedSchedule> {
        let recomputes = schedule.orders().iter().flatten().any(|pass| pass.kind == Kind::R);
        if !recomputes || schedule.overlap_count() > 0 {
            return None;
        }
        let kept: [&dyn Fn(u32) -> bool; 4] = [
            &|_| false,
            &|microbatch| microbatch % 3 == 0,
            &|microbatch| microbatch % 2 == 0,
            &|microbatch| microbatch % 3 > 0,
        ];
        let fewer = kept.map(|is_kept| {
            let orders = schedule.orders().iter().map(|order| {
                let is_left = |pass: &&Pass| pass.kind != Kind::R || is_kept(pass.microbatch.0);
                order.iter().filter(is_left).copied().collect()
            });
            Schedule::new(schedule.placement().clone(), schedule.microbatches(), orders.collect())
                .expect("some of the passes, in their order")
                .with_levels_of(schedule)
        });
        let best = fewer.iter().filter_map(|fewer| self.fitted(fewer, engine));
        best.min_by_key(ReplayedSchedule::rank)
    }

    /// The schedule with activations offloaded such that it keeps to the capacities, as well as the rules know; nothing where they
    /// find no way. What waits for its W cannot be offloaded any more, so Ws may come earlier.
    pub(super) fn fitted(&mut self, schedule: &Schedule, engine: &str) -> Option<ReplayedSchedule> {
        let mut all = vec![schedule.clone()];
        for share in WAITING {
            let other = with_weights_earlier(self.model, schedule, share);
            // A B leaves nothing that waits.
            let whole = if self.model.has_plain_memory() { None } else { fused(&other) };
            for other in iter::once(other).chain(whole) {
                if !all.contains(&other) {
                    all.push(other);
                }
            }
        }
        let best = all.iter().filter_map(|schedule| self.fitted_in_order(schedule, engine));
        best.min_by_key(ReplayedSchedule::rank)
    }

    fn fitted_in_order(&mut self, schedule: &Schedule, engine: &str) -> Option<ReplayedSchedule> {
        let mut best: Option<ReplayedSchedule> = None;
        let mut tried: Vec<Schedule> = Vec::new();
        let first = self.steps(schedule)?;
        for rule in RULES {
            let mut times: Option<Schedule> = None;
            for _ in 0..ROUNDS {
                if self.is_over() {
                    return best;
                }
                self.passes_left = self.passes_left.saturating_sub(schedule.len());
                let later = times.as_ref().map(|times| self.steps(times));
                let Some(steps) = later.as_ref().map_or(Some(&first), Option::as_ref) else { break };
                let lists = Device::all(schedule.devices()).zip(steps).map(|(device, steps)| {
                    let Some(capacity) = self.model.capacity(device) else { return Some(Vec::new()) };
                    steps.chosen(capacity.0, rule, &self.stop).map(|gone| steps.listed(&gone))
                });
                let Some(lists) = lists.collect::<Option<Vec<_>>>() else { break };
                let chosen = schedule.clone().with_offloads(lists).expect("forwards, each once");
                if tried.contains(&chosen) {
                    break;
                }
                let found = self.replayed(chosen.clone(), engine);
                let is_better =
                    |found: &ReplayedSchedule| best.as_ref().is_none_or(|best| found.rank() < best.rank());
                if found.as_ref().is_some_and(is_better) {
                    best = found;
                }
                tried.push(chosen.clone());
                times = Some(chosen);
            }
        }
        best
    }

    /// The best of what is met by a few random changes at a time, of what goes and of orders.
    pub(super) fn wandered(
        &self,
        best: ReplayedSchedule,
        wander: &Wander<'_>,
        tell: &mut dyn FnMut(Ticks),
    ) -> ReplayedSchedule {
        let change = |found: &ReplayedSchedule, random: &mut fastrand::Rng| {
            let mut changed = found.schedule.clone();
            for _ in 0..random.usize(1..=MOST_CHANGES) {
                changed = self.changed(changed, random);
            }
            if changed == found.schedule { None } else { self.valid(changed, &found.engine) }
        };
        wander.best_from(WALKS, best, self.passes_left, change, tell)
    }

    /// The schedule with one random change: of what is offloaded and when, or of the place of a pass.
    fn changed(&self, schedule: Schedule, random: &mut fastrand::Rng) -> Schedule {
        let devices: Vec<Device> =
            Device::all(schedule.devices()).filter(|&device| self.model.capacity(device).is_some()).collect();
        if devices.is_empty() {
            return schedule;
        }
        let device = devices[random.usize(..devices.len())];
        if random.bool() {
            return moved(schedule, device, random);
        }
        let order = schedule.order(device);
        if order.iter().any(|pass| pass.kind == Kind::R) && random.u8(..6) == 0 {
            return offloaded_instead(&schedule, device, random).unwrap_or(schedule);
        }
        let mut lists: Vec<Vec<Offloaded>> =
            Device::all(schedule.devices()).map(|device| schedule.offloads(device).to_vec()).collect();
        let list = &mut lists[device.index()];
        let choice = random.usize(..6);
        if list.is_empty() || choice == 0 {
            let at = random.usize(..order.len());
            let pass = order[at];
            let ends = |other: &Pass| other.kind.yields_input_gradient() && other.with_kind(Kind::F) == pass;
            let backward = order.iter().position(ends);
            if let Some(backward) = backward.filter(|&backward| pass.kind == Kind::F && at + 2 <= backward) {
                list.retain(|one| one.pass != pass);
                let freed = random.usize(at + 1..backward);
                list.push(Offloaded { pass, freed, fetched: random.usize(freed + 1..=backward) });
            }
        } else {
            let at = random.usize(..list.len());
            let one = &mut list[at];
            match choice {
                1 => {
                    list.swap_remove(at);
                }
                2 => one.freed = one.freed.saturating_sub(random.usize(1..4)),
                3 => one.freed += random.usize(1..4),
                4 => one.fetched = one.fetched.saturating_sub(random.usize(1..4)),
                _ => one.fetched += random.usize(1..4),
            }
        }
        schedule.clone().with_offloads(lists).unwrap_or(schedule)
    }
}

/// The schedule with one pass of a device a few positions earlier or later. It may be one that cannot run.
fn moved(schedule: Schedule, device: Device, random: &mut fastrand::Rng) -> Schedule {
    let (from, by) = (random.usize(..schedule.order(device).len()), random.usize(1..5));
    let to = if random.bool() { from.saturating_sub(by) } else { from + by };
    if to >= schedule.order(device).len() || schedule.overlap_count() > 0 {
        return schedule;
    }
    let mut orders = schedule.orders().to_vec();
    let pass = orders[device.index()].remove(from);
    orders[device.index()].insert(to, pass);
    let lists = Device::all(schedule.devices()).map(|device| schedule.offloads(device).to_vec()).collect();
    let moved = Schedule::new(schedule.placement().clone(), schedule.microbatches(), orders);
    let moved = moved.map(|moved| moved.with_levels_of(&schedule));
    moved.and_then(|moved| moved.with_offloads(lists)).unwrap_or(schedule)
}

/// The schedule in which a device offloads an activation that it recomputes; it is away for as long as the rest of the order has it
/// wait. Nothing where there is none.
fn offloaded_instead(schedule: &Schedule, device: Device, random: &mut fastrand::Rng) -> Option<Schedule> {
    let order = schedule.order(device);
    let again: Vec<usize> = (0..order.len()).filter(|&at| order[at].kind == Kind::R).collect();
    let at = *again.get(random.usize(..again.len().max(1)))?;
    let pass = order[at].with_kind(Kind::F);
    let mut orders = schedule.orders().to_vec();
    orders[device.index()].remove(at);
    let order = &orders[device.index()];
    let forward = order.iter().position(|&other| other == pass)?;
    let ends = |other: &Pass| other.kind.yields_input_gradient() && other.with_kind(Kind::F) == pass;
    let fetched = order.iter().position(ends)?;
    // What goes on behind the R goes on one position earlier.
    let earlier = |position: usize| position - usize::from(position > at);
    let lists = Device::all(schedule.devices()).map(|other| {
        let mut list = schedule.offloads(other).to_vec();
        if other == device {
            for one in &mut list {
                (one.freed, one.fetched) = (earlier(one.freed), earlier(one.fetched));
            }
            list.push(Offloaded { pass, freed: forward + 1, fetched });
        }
        list
    });
    let lists = lists.collect();
    let changed = Schedule::new(schedule.placement().clone(), schedule.microbatches(), orders).ok()?;
    changed.with_levels_of(schedule).with_offloads(lists).ok()
}

/// How much of a capacity what waits for its W may take: no more than one in so many.
const WAITING: [i64; 4] = [2, 3, 4, i64::MAX];

/// The schedule with Ws earlier, the oldest first, so that what waits for them never takes more than a share of the capacity of a
/// device: one in so many.
fn with_weights_earlier(model: &Model, schedule: &Schedule, share: i64) -> Schedule {
    let devices = Device::all(schedule.devices()).map(|device| {
        let steps = schedule.steps(device).map(<[Pass]>::to_vec);
        let Some(capacity) = model.activation_capacity(device) else { return steps.collect() };
        let (mut moved, mut waiting) = (Vec::new(), VecDeque::<Pass>::new());
        let mut kept = 0;
        for step in steps {
            if let [weight] = step[..]
                && weight.kind == Kind::W
            {
                if let Some(at) = waiting.iter().position(|&waiting| waiting == weight) {
                    kept -= model.retained_for_weight(weight.stage).0;
                    waiting.remove(at);
                    moved.push(step);
                }
                continue;
            }
            let inputs: Vec<Pass> = step.iter().copied().filter(|pass| pass.kind == Kind::I).collect();
            moved.push(step);
            for input in inputs {
                waiting.push_back(input.with_kind(Kind::W));
                kept += model.retained_for_weight(input.stage).0;
            }
            while kept > capacity.0 / share {
                let Some(oldest) = waiting.pop_front() else { break };
                kept -= model.retained_for_weight(oldest.stage).0;
                moved.push(vec![oldest]);
            }
        }
        moved
    });
    Schedule::of_steps(schedule.placement().clone(), schedule.microbatches(), devices.collect::<Vec<_>>())
        .expect("the same passes, and pairs have no Ws")
        .with_levels_of(schedule)
}

impl Changing for ReplayedSchedule {
    fn found(&self) -> &ReplayedSchedule {
        self
    }

    fn passes(&self) -> usize {
        self.schedule.len()
    }
}

/// Most changes make a schedule neither better nor worse: one that is better may be many changes away.
const WALKS: Walks = Walks { at_once: 2, tries: 128 };

/// How many random changes are made at once at most.
const MOST_CHANGES: usize = 3;

/// The schedule without needless offloads: no single one is left without which its device keeps to its capacity. Where there
/// is none, it is the schedule.
///
/// To drop one makes no pass later: what waited for its copies waits for less. Replay measures the result all the same.
pub(super) fn without_needless(
    model: &Model,
    objective: Objective,
    found: ReplayedSchedule,
) -> ReplayedSchedule {
    if found.schedule.offload_count() == 0 {
        return found;
    }
    let held = memory_along(model, &found.schedule);
    let lists = Device::all(model.devices()).map(|device| {
        let Some(capacity) = model.capacity(device) else { return Vec::new() };
        let mut held: Vec<Units> = held[device.index()].iter().map(|held| held.during).collect();
        let mut kept = found.schedule.offloads(device).to_vec();
        // Those that are away for the shortest time first: they free least.
        kept.sort_by_key(|one| (one.fetched - one.freed, *one));
        kept.retain(|one| {
            let moved = model.moved(one.pass.stage);
            let from = found.schedule.step_at(device, one.freed);
            let to = found.schedule.step_at(device, one.fetched);
            let away = &mut held[from..to];
            let is_needed = away.iter().any(|&held| held + moved > capacity);
            if !is_needed {
                for held in &mut *away {
                    *held += moved;
                }
            }
            is_needed
        });
        kept
    });
    let leaner = found.schedule.clone().with_offloads(lists.collect()).expect("some of what was offloaded");
    let engine = match leaner.offload_count() {
        0 => found.engine.strip_suffix(", offloaded").unwrap_or(&found.engine).to_owned(),
        _ => found.engine.clone(),
    };
    match ReplayedSchedule::new(model, objective, leaner, engine) {
        Ok(leaner) if leaner.value <= found.value => leaner,
        _ => found,
    }
}

#[cfg(test)]
mod tests;
