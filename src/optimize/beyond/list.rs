//! List scheduling in pairs: as time goes on, every device takes what is there, a forward and a backward together where it
//! can.

use crate::model::{Device, Kind, Microbatch, Model, Pass, Stage, Ticks, Units};
use crate::schedule::Schedule;
use crate::stop::Stop;

/// What list scheduling gives by each of its rules, as far as it does not get stuck and there is time; not replayed.
pub(super) fn schedules(model: &Model, stop: &Stop) -> Vec<Schedule> {
    let longest =
        Stage::all(model.stages()).map(|stage| model.duration(stage, Kind::B)).max().unwrap_or_default();
    let mut found: Vec<Schedule> = Vec::new();
    for patience in [Ticks::ZERO, Ticks(longest.0 / 2), longest] {
        for (deep_first, apart) in [(true, false), (false, false), (true, true), (false, true)] {
            if apart && model.placement().directions() == 1 {
                continue;
            }
            let schedule = Simulation::new(model, Rule { patience, deep_first, apart }).run(stop);
            found.extend(schedule.filter(|schedule| !found.contains(schedule)));
        }
    }
    found
}

/// What decides.
#[derive(Clone, Copy)]
struct Rule {
    /// For how long a pass waits for one that it would make a pair with, in ticks.
    patience: Ticks,
    /// Whether forwards of later stages go first.
    deep_first: bool,
    /// Whether each pipeline has its own part of the room, so that two directions never wait for what the other holds.
    apart: bool,
}

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
    rule: Rule,
    /// By stage.
    forwards: Vec<Queue>,
    backwards: Vec<Queue>,
    workers: Vec<Worker>,
}

impl<'a> Simulation<'a> {
    fn new(model: &'a Model, rule: Rule) -> Self {
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
        let parts = if rule.apart { placement.directions() } else { 1 };
        let worker = |device| {
            let room = model.activation_capacity(device).unwrap_or(Units(Model::MAX_TOTAL));
            // What is left over goes to the first ones.
            let part = |number| Units((room.0 + i64::from(parts - 1 - number)) / i64::from(parts));
            Worker { free: Ticks::ZERO, rooms: (0..parts).map(part).collect(), steps: Vec::new() }
        };
        Self {
            model,
            rule,
            forwards: Stage::all(model.stages()).map(queue).collect(),
            backwards: vec![Queue::default(); model.stages() as usize],
            workers: Device::all(model.devices()).map(worker).collect(),
        }
    }

    /// Commits what can start first, until nothing is left; nothing if it gets stuck, or time is up.
    fn run(mut self, stop: &Stop) -> Option<Schedule> {
        let passes = 2 * self.model.placement().depth() as usize * self.model.microbatches() as usize;
        let mut done = 0;
        while done < passes {
            if stop.is_due() {
                return None;
            }
            let choices = Device::all(self.model.devices()).filter_map(|device| {
                let (start, step) = self.choice(device)?;
                Some((start, device, step))
            });
            let (start, device, step) = choices.min_by_key(|&(start, device, _)| (start, device))?;
            done += step.len();
            self.commit(device, start, &step);
        }
        let steps = self.workers.into_iter().map(|worker| worker.steps);
        Schedule::of_steps(self.model.placement().clone(), self.model.microbatches(), steps).ok()
    }

    /// What a device does next with what it knows of, and when.
    fn choice(&self, device: Device) -> Option<(Ticks, Vec<Pass>)> {
        let free = self.workers[device.index()].free;
        let at = |time: Ticks| time.max(free);
        let forward = self.forward(device, free);
        let backward = self.backward(device, free);
        let waits = |one: Ticks, other: Ticks| other <= one + self.rule.patience;
        match (forward, backward) {
            (Some((there, forward)), Some((back, backward))) => {
                let (there, back) = (at(there), at(back));
                let saves = self.model.pair_saves(forward.stage, backward.stage, Kind::B) > Ticks::ZERO;
                let is_other = (forward.stage, forward.microbatch) != (backward.stage, backward.microbatch);
                if saves && is_other && waits(there.min(back), there.max(back)) {
                    Some((there.max(back), vec![forward, backward]))
                } else if back <= there {
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
            later <= self.workers[device.index()].rooms[self.part(stage)]
        };
        let heads = stages.iter().filter(|&&stage| fits(stage)).filter_map(|&stage| {
            let queue = &self.forwards[stage.index()];
            Some((queue.head()?.max(free), stage, queue.next))
        });
        let depth = self.model.placement().depth();
        let rank = |stage: Stage| match stage.0 % depth {
            within if self.rule.deep_first => depth - within,
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
        if self.rule.apart { self.pipeline(stage) as usize } else { 0 }
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
                self.forwards[stage.index()].next += 1;
                if let Some(above) = model.placement().stage_after(stage) {
                    self.forwards[above.index()].arrivals.push(end + model.delay_after(stage));
                } else {
                    self.backwards[stage.index()].arrivals.push(end);
                }
            } else {
                *room += activation;
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
