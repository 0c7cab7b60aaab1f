//! List scheduling in pairs: as time goes on, every device takes what is there, a forward and a backward together where it
//! can.
//!
//! What it takes, and for what it waits, rules say, for every device and stage by itself. Simple ones come first; then the best of
//! them are changed at random, with [late](crate::optimize::late) acceptance.

use std::num::NonZeroUsize;

use crate::model::{Device, Kind, Microbatch, Model, Pass, Stage, Ticks, Units};
use crate::optimize::late::Late;
use crate::parallel;
use crate::schedule::Schedule;
use crate::stop::Stop;

/// How hard to look for better rules.
pub(super) struct Effort<'a> {
    pub seed: u64,
    /// How many passes may be placed in all, after those of the simple rules.
    pub passes: usize,
    pub threads: NonZeroUsize,
    pub stop: &'a Stop,
}

/// What list scheduling gives by each of its simple rules, as far as it does not get stuck and it is done by `until`, and by better
/// ones; not replayed. Of these, the last pass ends sooner, whatever the objective. The answer does not depend on the number of
/// threads.
pub(super) fn schedules(model: &Model, until: &Stop, effort: &Effort<'_>) -> Vec<Schedule> {
    let longest = longest_backward(model);
    let mut found: Vec<Found> = Vec::new();
    for patience in [Ticks::ZERO, Ticks(longest.0 / 2), longest] {
        for (deep_first, apart) in [(true, false), (false, false), (true, true), (false, true)] {
            if apart && model.placement().directions() == 1 {
                continue;
            }
            let rules = Rules::simple(model, patience, deep_first, apart);
            let scheduled = scheduled(model, rules, until, Ticks(i64::MAX));
            found.extend(scheduled.filter(|new| found.iter().all(|old| old.schedule != new.schedule)));
        }
    }
    let mut best: Vec<&Found> = found.iter().collect();
    best.sort_by_key(|found| found.end);
    best.truncate(MOST_CHANGED);
    let each = 2 * model.placement().depth() as usize * model.microbatches() as usize;
    let tries = effort.passes / each / best.len().max(1);
    let seeds = (0..).map(|walk| effort.seed.wrapping_add(walk));
    let starts: Vec<(&Found, u64)> = best.into_iter().zip(seeds).collect();
    let changed = parallel::map(effort.threads, &starts, |&(found, seed)| {
        changed(model, found, tries, seed, effort.stop)
    });
    let simple = found.into_iter().map(|found| found.schedule);
    changed.into_iter().flatten().chain(simple).collect()
}

/// What some rules give.
struct Found {
    rules: Rules,
    /// When the last pass ends.
    end: Ticks,
    schedule: Schedule,
}

/// What rules give; nothing where they get stuck, time is up, or the last pass ends later than asked for.
fn scheduled(model: &Model, rules: Rules, stop: &Stop, most: Ticks) -> Option<Found> {
    let mut simulation = Simulation::new(model, &rules);
    let end = simulation.run(most, stop)?;
    let schedule = simulation.schedule()?;
    Some(Found { rules, end, schedule })
}

/// How many of the simple rules are changed.
const MOST_CHANGED: usize = 2;

/// With how many changes ago the end is compared.
const MEMORY: usize = 50;

/// How much longer a schedule may become at first.
const SLACK: i64 = 20;

/// How many changes are made at once at most.
const MOST_CHANGES: usize = 3;

/// The best of what changed rules give; nothing where it is no better than without a change.
fn changed(model: &Model, from: &Found, tries: usize, seed: u64, stop: &Stop) -> Option<Schedule> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut late = Late::new(from.end + Ticks(from.end.0 / SLACK), MEMORY);
    let (mut rules, mut end) = (from.rules.clone(), from.end);
    let (mut least, mut best) = (from.end, None);
    for _ in 0..tries {
        if stop.is_due() {
            break;
        }
        let mut next = rules.clone();
        (0..random.usize(1..=MOST_CHANGES)).for_each(|_| next.change(model, &mut random));
        if let Some(found) = scheduled(model, next, stop, late.limit(end)) {
            (rules, end) = (found.rules, found.end);
            if end < least {
                (least, best) = (end, Some(found.schedule));
            }
        }
        late.note(end);
    }
    best
}

fn longest_backward(model: &Model) -> Ticks {
    Stage::all(model.stages()).map(|stage| model.duration(stage, Kind::B)).max().unwrap_or_default()
}

/// What decides.
#[derive(Clone)]
struct Rules {
    /// By device.
    devices: Vec<OfDevice>,
    /// By stage: how many of its microbatches may be between their forward and their backward.
    most: Vec<u32>,
    /// Whether each pipeline has its own part of the room, so that two directions never wait for what the other holds.
    apart: bool,
}

/// What decides on a device.
#[derive(Clone, Copy)]
struct OfDevice {
    /// For how long a forward waits for a backward that it would make a pair with, in ticks.
    forward_waits: Ticks,
    /// For how long a backward waits for a forward.
    backward_waits: Ticks,
    /// Whether forwards of later stages go first.
    deep_first: bool,
    /// Whether a forward goes before a backward that can start as soon.
    forward_first: bool,
}

impl Rules {
    /// The same for all devices.
    fn simple(model: &Model, patience: Ticks, deep_first: bool, apart: bool) -> Self {
        let device =
            OfDevice { forward_waits: patience, backward_waits: patience, deep_first, forward_first: false };
        Self {
            devices: vec![device; model.devices() as usize],
            most: vec![model.microbatches(); model.stages() as usize],
            apart,
        }
    }

    /// Changes one of the rules at random, for one device or stage or for several that follow each other.
    fn change(&mut self, model: &Model, random: &mut fastrand::Rng) {
        let mut some = |of: usize| {
            let (one, other) = (random.usize(..of), random.usize(..of));
            if random.bool() { one..=one } else { one.min(other)..=one.max(other) }
        };
        let (devices, stages) = (some(self.devices.len()), some(self.most.len()));
        let waits = Ticks(longest_backward(model).0 * random.i64(0..=PATIENCE) / PATIENCE);
        let (kind, is_so) = (random.u8(..5), random.bool());
        if kind == 0 {
            // More than so many are seldom of use.
            let all = 2 * model.devices();
            for most in &mut self.most[stages] {
                *most = if is_so { (*most).saturating_add(1) } else { (*most).min(all).max(2) - 1 };
            }
            return;
        }
        for rules in &mut self.devices[devices] {
            match kind {
                1 => rules.forward_waits = waits,
                2 => rules.backward_waits = waits,
                3 => rules.deep_first = is_so,
                _ => rules.forward_first = is_so,
            }
        }
    }
}

/// The longest wait is that of a backward, in so many steps.
const PATIENCE: i64 = 8;

/// Which of a stage's microbatches goes next forwards, or backwards, and when those that are on their way arrive.
#[derive(Clone, Default)]
struct Queue {
    next: u32,
    /// By the number of the microbatch among those of the pipeline.
    arrivals: Vec<Ticks>,
}

impl Queue {
    /// When the next one can start, if that is known.
    fn head(&self) -> Option<Ticks> {
        self.arrivals.get(self.next as usize).copied()
    }
}

/// A device in the middle of its work.
struct Worker {
    free: Ticks,
    /// What it may still hold, in units: by pipeline, or of all together.
    rooms: Vec<Units>,
    steps: Vec<Vec<Pass>>,
}

struct Simulation<'a> {
    model: &'a Model,
    rules: &'a Rules,
    /// By stage: how many microbatches are between their forward and their backward.
    under_way: Vec<u32>,
    /// By stage.
    forwards: Vec<Queue>,
    backwards: Vec<Queue>,
    workers: Vec<Worker>,
}

impl<'a> Simulation<'a> {
    fn new(model: &'a Model, rules: &'a Rules) -> Self {
        let placement = model.placement();
        let through = |stage| {
            Microbatch::all(model.microbatches())
                .filter(move |&microbatch| placement.leads_through(stage, microbatch))
        };
        let queue = |stage: Stage| Queue {
            next: 0,
            arrivals: match placement.stage_before(stage) {
                None => through(stage).map(|_| Ticks::ZERO).collect(),
                Some(_) => Vec::new(),
            },
        };
        let parts = if rules.apart { placement.directions() } else { 1 };
        let worker = |device| {
            let room = model.activation_capacity(device).unwrap_or(Units(Model::MAX_TOTAL));
            // What is left over goes to the first ones.
            let part = |number| Units((room.0 + i64::from(parts - 1 - number)) / i64::from(parts));
            Worker { free: Ticks::ZERO, rooms: (0..parts).map(part).collect(), steps: Vec::new() }
        };
        Self {
            model,
            rules,
            under_way: vec![0; model.stages() as usize],
            forwards: Stage::all(model.stages()).map(queue).collect(),
            backwards: vec![Queue::default(); model.stages() as usize],
            workers: Device::all(model.devices()).map(worker).collect(),
        }
    }

    /// Commits what can start first, until nothing is left, and says when the last pass ends; nothing if that is later than `most`,
    /// it gets stuck, or time is up.
    fn run(&mut self, most: Ticks, stop: &Stop) -> Option<Ticks> {
        let model = self.model;
        let passes = 2 * model.placement().depth() as usize * model.microbatches() as usize;
        let mut done = 0;
        // What a device does next changes only with what it does and receives.
        let mut choices: Vec<Option<(Ticks, Vec<Pass>)>> =
            Device::all(model.devices()).map(|device| self.choice(device)).collect();
        while done < passes {
            if stop.is_due() {
                return None;
            }
            let next = choices.iter().enumerate().filter_map(|(at, choice)| Some((choice.as_ref()?.0, at)));
            let (_, at) = next.min()?;
            let (start, step) = choices[at].take()?;
            let device = Device::at(at);
            done += step.len();
            self.commit(device, start, &step);
            if self.workers[at].free > most {
                return None;
            }
            choices[at] = self.choice(device);
            for pass in step {
                let to = match pass.kind {
                    Kind::F => model.placement().stage_after(pass.stage),
                    _ => model.placement().stage_before(pass.stage),
                };
                if let Some(to) = to.map(|to| model.placement().device_of(to)) {
                    choices[to.index()] = self.choice(to);
                }
            }
        }
        self.workers.iter().map(|worker| worker.free).max()
    }

    /// What was committed; nothing where that is not all.
    fn schedule(self) -> Option<Schedule> {
        let steps = self.workers.into_iter().map(|worker| worker.steps);
        Schedule::of_steps(self.model.placement().clone(), self.model.microbatches(), steps).ok()
    }

    /// What a device does next with what it knows of, and when.
    fn choice(&self, device: Device) -> Option<(Ticks, Vec<Pass>)> {
        let free = self.workers[device.index()].free;
        let at = |time: Ticks| time.max(free);
        let forward = self.forward(device, free);
        let backward = self.backward(device, free);
        let OfDevice { forward_waits, backward_waits, forward_first, .. } =
            self.rules.devices[device.index()];
        match (forward, backward) {
            (Some((there, forward)), Some((back, backward))) => {
                let (there, back) = (at(there), at(back));
                let saves = self.model.pair_saves(forward.stage, backward.stage, Kind::B) > Ticks::ZERO;
                let is_other = (forward.stage, forward.microbatch) != (backward.stage, backward.microbatch);
                let waits = there + forward_waits >= back && back + backward_waits >= there;
                if saves && is_other && waits {
                    Some((there.max(back), vec![forward, backward]))
                } else if back < there || back == there && !forward_first {
                    Some((back, vec![backward]))
                } else {
                    Some((there, vec![forward]))
                }
            }
            (Some((there, forward)), None) => Some((at(there), vec![forward])),
            (None, Some((back, backward))) => Some((at(back), vec![backward])),
            (None, None) => None,
        }
    }

    /// The forward that a device takes, of those that memory allows: it leaves room for one forward of every later stage
    /// of the device in its pipeline, without which nothing would ever come back.
    fn forward(&self, device: Device, free: Ticks) -> Option<(Ticks, Pass)> {
        let stages = self.model.placement().stages_of(device);
        let fits = |stage: Stage| {
            let later: Units = stages
                .iter()
                .filter(|&&other| other >= stage && self.pipeline(other) == self.pipeline(stage))
                .map(|&other| self.model.activation(other))
                .sum();
            self.under_way[stage.index()] < self.rules.most[stage.index()]
                && later <= self.workers[device.index()].rooms[self.part(stage)]
        };
        let heads = stages.iter().filter(|&&stage| fits(stage)).filter_map(|&stage| {
            let queue = &self.forwards[stage.index()];
            Some((queue.head()?.max(free), stage, queue.next))
        });
        let depth = self.model.placement().depth();
        let rank = |stage: Stage| match stage.0 % depth {
            within if self.rules.devices[device.index()].deep_first => depth - within,
            within => within,
        };
        let (start, stage, next) = heads.min_by_key(|&(start, stage, _)| (start, rank(stage)))?;
        Some((start, Pass::new(stage, Kind::F, self.microbatch(stage, next))))
    }

    fn backward(&self, device: Device, free: Ticks) -> Option<(Ticks, Pass)> {
        let heads = self.model.placement().stages_of(device).iter().filter_map(|&stage| {
            let queue = &self.backwards[stage.index()];
            Some((queue.head()?.max(free), stage, queue.next))
        });
        let (start, stage, next) = heads.min_by_key(|&(start, stage, _)| (start, stage))?;
        Some((start, Pass::new(stage, Kind::B, self.microbatch(stage, next))))
    }

    /// The number of the pipeline of a stage: its direction.
    fn pipeline(&self, stage: Stage) -> u32 {
        stage.0 / self.model.placement().depth()
    }

    /// The part of the room of its device in which a stage keeps what it holds.
    fn part(&self, stage: Stage) -> usize {
        if self.rules.apart { self.pipeline(stage) as usize } else { 0 }
    }

    /// The microbatch that is the `count`-th to go through a stage.
    fn microbatch(&self, stage: Stage, count: u32) -> Microbatch {
        Microbatch(count * self.model.placement().directions() + self.pipeline(stage))
    }

    fn commit(&mut self, device: Device, start: Ticks, step: &[Pass]) {
        let model = self.model;
        let end = start + model.step_duration(step);
        self.workers[device.index()].free = end;
        for &pass in step {
            let (stage, activation) = (pass.stage, model.activation(pass.stage));
            let part = self.part(stage);
            let room = &mut self.workers[device.index()].rooms[part];
            if pass.kind == Kind::F {
                *room -= activation;
                self.under_way[stage.index()] += 1;
                self.forwards[stage.index()].next += 1;
                if let Some(above) = model.placement().stage_after(stage) {
                    self.forwards[above.index()].arrivals.push(end + model.delay_after(stage));
                } else {
                    self.backwards[stage.index()].arrivals.push(end);
                }
            } else {
                *room += activation;
                self.under_way[stage.index()] -= 1;
                self.backwards[stage.index()].next += 1;
                if let Some(below) = model.placement().stage_before(stage) {
                    // Alone, an I sends before its W.
                    let sent = if step.len() == 1 { end - model.duration(stage, Kind::W) } else { end };
                    self.backwards[below.index()].arrivals.push(sent + model.delay_after(below));
                }
            }
        }
        let steps = &mut self.workers[device.index()].steps;
        match *step {
            [pass] if pass.kind == Kind::B => {
                steps.extend([vec![pass.with_kind(Kind::I)], vec![pass.with_kind(Kind::W)]]);
            }
            _ => steps.push(step.to_vec()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Overlap, PairDurations, Placement};
    use crate::replay::replay;

    /// F, I and W of 4, 4 and 2 ticks, and pairs of 6.
    fn model(placement: Placement, capacity: i64) -> Model {
        let pairs = PairDurations::Uniform(Ticks(6));
        let overlap = Overlap { forward_backward: pairs, ..Overlap::default() };
        let plain = Model::equal_stages(placement, 12, [4, 4, 2, 0]);
        let model = plain.and_then(|model| model.with_overlap(overlap)).expect("a model");
        model.with_uniform_activation_capacity(Some(Units(capacity))).expect("a capacity")
    }

    fn scheduled(model: &Model, passes: usize, threads: usize) -> Vec<Schedule> {
        let threads = NonZeroUsize::new(threads).expect("some");
        let stop = Stop::default();
        schedules(model, &stop, &Effort { seed: 3, passes, threads, stop: &stop })
    }

    fn shortest(model: &Model, passes: usize) -> Ticks {
        let ends = scheduled(model, passes, 1).into_iter().map(|schedule| {
            let verdict = replay(model, &schedule);
            assert_eq!(verdict.violations, []);
            verdict.timing.expect("it is valid").metrics.makespan
        });
        ends.min().expect("some schedule")
    }

    #[test]
    fn better_rules_make_schedules_shorter_within_the_capacities() {
        for placement in [Placement::v(4), Placement::linear(4), Placement::bidirectional(4)] {
            let placement = placement.expect("a placement");
            let shorter = [5, 6, 8].into_iter().filter(|&capacity| {
                let model = model(placement.clone(), capacity);
                let [simple, better] = [0, 200_000].map(|passes| shortest(&model, passes));
                assert!(better <= simple, "{placement:?} {capacity}");
                better < simple
            });
            assert!(shorter.count() > 0, "{placement:?}");
        }
    }

    #[test]
    fn the_number_of_threads_changes_nothing() {
        let model = model(Placement::v(4).expect("a placement"), 6);
        assert_eq!(scheduled(&model, 20_000, 1), scheduled(&model, 20_000, 2));
    }
}
