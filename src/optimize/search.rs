//! The search: candidates, the best of them, and their improvement.

use super::feasible::serial;
use super::list::{list_schedule, rules};
use super::periodic::Effort;
use super::plan;
use super::{Objective, Options, Progress, Stop};
use crate::block::{Block, Timeline, justify, order_peak, squeeze};
use crate::catalog;
use crate::model::{Device, Kind, Model, Ticks, Units};
use crate::schedule::Schedule;

/// How many of the candidates are improved.
const IMPROVED: usize = 6;

/// The effort for one swap in the search for a block of several microbatches per interval.
const BLOCK_SHARE: usize = 1000;

/// What justifying a schedule costs, in times of placing its passes.
const JUSTIFY_EFFORT: usize = 40;

/// How many perturbed plans are tried at most.
const PERTURBATIONS: usize = 10_000;

/// The best candidate.
pub(super) struct Best {
    pub schedule: Schedule,
    pub engine: String,
    pub block: Option<Block>,
}

/// How far a pass is moved at most when a schedule is shaken.
const REACH: usize = 8;

/// What candidates are compared by: the objective, the other span, the largest peak.
type Score = (Ticks, Ticks, Units);

struct Candidate {
    score: Score,
    schedule: Schedule,
    engine: String,
    block: Option<Block>,
}

pub(super) struct Search<'a> {
    model: &'a Model,
    objective: Objective,
    bound: Ticks,
    stop: Stop,
    progress: &'a mut dyn FnMut(&Progress),
    /// The best few, best first.
    candidates: Vec<Candidate>,
    placed: usize,
    effort: usize,
    seed: u64,
    random: fastrand::Rng,
}

impl<'a> Search<'a> {
    pub(super) fn new(
        model: &'a Model,
        options: &Options,
        bound: Ticks,
        stop: Stop,
        progress: &'a mut dyn FnMut(&Progress),
    ) -> Self {
        let objective = options.objective;
        Self {
            model,
            objective,
            bound,
            stop,
            progress,
            candidates: Vec::new(),
            placed: 0,
            effort: options.effort,
            seed: options.seed,
            random: fastrand::Rng::with_seed(options.seed),
        }
    }

    pub(super) fn into_best(self) -> Best {
        let best = self.candidates.into_iter().next().expect("the serial schedule keeps to feasible caps");
        Best { schedule: best.schedule, engine: best.engine, block: best.block }
    }

    pub(super) fn run(&mut self) {
        // Always there, whatever the limits: a feasible cap must give a schedule.
        let needs_recompute = !self.offer(serial(self.model, false), "serial", None);
        if self.model.memory().checkpoint.is_some() {
            self.offer(serial(self.model, true), "serial", None);
        }
        let mut plans: Vec<(String, Schedule, Option<Block>)> = Vec::new();
        self.tell("building blocks");
        let stop = self.stop.within(self.stop.remaining() / 2);
        let mut blocks = plan::blocks(self.model, &stop);
        if let Some((_, of_one)) = blocks.first() {
            let effort = Effort { seed: self.seed, steps: self.effort / BLOCK_SHARE };
            blocks.extend(plan::periodic_blocks(self.model, of_one, effort, &stop));
        }
        for (engine, block) in blocks {
            let Ok(schedule) = block.expand(self.model, self.model.microbatches()) else { continue };
            self.offer(schedule.clone(), &format!("{engine} block"), Some(&block));
            plans.push((format!("{engine} block"), schedule, Some(block)));
        }
        self.tell("catalogue");
        for entry in catalog::entries() {
            if self.stop.is_due() {
                break;
            }
            if let Ok(schedule) = entry.generate(self.model) {
                self.offer(schedule.clone(), entry.name, None);
                plans.push((entry.name.to_owned(), schedule, None));
            }
        }
        plans
            .extend(plan::uniform_v(self.model).into_iter().map(|plan| ("uniform v".to_owned(), plan, None)));
        plans.push(("serial".to_owned(), serial(self.model, false), None));
        self.tell("list scheduling");
        for rule in rules(needs_recompute) {
            for (name, plan, block) in &plans {
                // The rest is for improving what is found.
                if self.placed > self.effort / 5 * 2 || self.finished() {
                    break;
                }
                if let Some(schedule) = list_schedule(self.model, plan, rule) {
                    self.offer(schedule, &format!("list scheduling along {name}"), block.as_ref());
                }
            }
        }
        self.improve();
        self.perturb(needs_recompute);
    }

    /// Schedules anew along the forwards of the best candidates, a few of them out of turn, or moves a
    /// few of their passes.
    fn perturb(&mut self, recompute: bool) {
        self.tell("perturbed plans");
        let rules = rules(recompute);
        let limits = self.limits();
        for _ in 0..PERTURBATIONS {
            if self.finished() {
                return;
            }
            let parent = &self.candidates[self.random.usize(..self.candidates.len())];
            let engine = parent.engine.clone();
            let block = parent.block.clone();
            let schedule = if self.random.bool() {
                let rule = rules[self.random.usize(..rules.len())];
                let plan = disturbed(&parent.schedule, &mut self.random);
                plan.and_then(|plan| list_schedule(self.model, &plan, rule))
            } else {
                shaken(&parent.schedule, &mut self.random)
            };
            self.placed += parent.schedule.len();
            // Justifying keeps to the caps, but only where they are kept to before.
            let Some(schedule) = schedule.filter(|schedule| self.peak_within_caps(schedule).is_some()) else {
                continue;
            };
            let Ok((schedule, timeline)) = justify(self.model, &schedule, &limits) else { continue };
            self.placed += JUSTIFY_EFFORT * schedule.len();
            if let Some(peak) = self.peak_within_caps(&schedule) {
                self.take(schedule, &timeline, peak, &improved(&engine), block.as_ref());
            }
        }
    }

    /// Takes a schedule into the comparison if it runs and keeps to the caps; tells whether it does.
    fn offer(&mut self, schedule: Schedule, engine: &str, block: Option<&Block>) -> bool {
        self.placed += schedule.len();
        let Some(peak) = self.peak_within_caps(&schedule) else { return false };
        let Ok(timeline) = squeeze(self.model, &schedule) else { return false };
        self.take(schedule, &timeline, peak, engine, block);
        true
    }

    fn take(
        &mut self,
        schedule: Schedule,
        timeline: &Timeline,
        peak: Units,
        engine: &str,
        block: Option<&Block>,
    ) {
        let (makespan, span) = (timeline.makespan(self.model), timeline.device_span(self.model));
        let score = match self.objective {
            Objective::Makespan => (makespan, span, peak),
            Objective::Span => (span, makespan, peak),
        };
        let at = self.candidates.partition_point(|other| other.score <= score);
        let known =
            self.candidates[..at].iter().any(|other| other.score == score && other.schedule == schedule);
        if at < IMPROVED && !known {
            let (engine, block) = (engine.to_owned(), block.cloned());
            self.candidates.insert(at, Candidate { score, schedule, engine, block });
            self.candidates.truncate(IMPROVED);
        }
    }

    /// Fills the gaps of the best candidates.
    fn improve(&mut self) {
        self.tell("filling gaps");
        let limits = self.limits();
        let found: Vec<_> = self
            .candidates
            .iter()
            .map(|best| (best.schedule.clone(), best.engine.clone(), best.block.clone()))
            .collect();
        for (schedule, engine, block) in found {
            if self.finished() {
                return;
            }
            let Ok((schedule, timeline)) = justify(self.model, &schedule, &limits) else { continue };
            self.placed += JUSTIFY_EFFORT * schedule.len();
            if let Some(peak) = self.peak_within_caps(&schedule) {
                self.take(schedule, &timeline, peak, &improved(&engine), block.as_ref());
            }
        }
    }

    /// The most each device may hold.
    fn limits(&self) -> Vec<Units> {
        let free = |device| self.model.capacity(device).unwrap_or(Units(Model::MAX_TOTAL));
        Device::all(self.model.devices()).map(free).collect()
    }

    /// The largest peak of a schedule, or nothing when a device goes over its cap.
    fn peak_within_caps(&self, schedule: &Schedule) -> Option<Units> {
        let mut largest = Units::ZERO;
        for device in Device::all(schedule.devices()) {
            let peak = order_peak(self.model, schedule.order(device));
            if self.model.capacity(device).is_some_and(|capacity| peak > capacity) {
                return None;
            }
            largest = largest.max(peak);
        }
        Some(largest)
    }

    fn finished(&self) -> bool {
        let optimal = self.candidates.first().is_some_and(|best| best.score.0 == self.bound);
        optimal || self.placed > self.effort || self.stop.is_due()
    }

    fn tell(&mut self, step: &str) {
        let best = self.candidates.first().map(|best| best.score.0);
        (self.progress)(&Progress { step: step.to_owned(), best, bound: self.bound });
    }
}

/// What found a schedule that was then improved: it is no longer that of a name.
fn improved(engine: &str) -> String {
    const SUFFIX: &str = ", improved";
    if engine.ends_with(SUFFIX) { engine.to_owned() } else { format!("{engine}{SUFFIX}") }
}

/// The schedule with a few forwards of one device run before others of another stage; nothing when
/// there are no two stages to choose between.
fn disturbed(schedule: &Schedule, random: &mut fastrand::Rng) -> Option<Schedule> {
    let device = random.usize(..schedule.orders().len());
    let mut orders = schedule.orders().to_vec();
    let order = &mut orders[device];
    order.retain(|pass| pass.kind == Kind::F);
    let mut moved = false;
    for _ in 0..=random.usize(..3) {
        let from = random.usize(..order.len());
        let to = from.saturating_sub(1 + random.usize(..4));
        // Microbatches of a stage stay first in, first out.
        if to < from && order[to..from].iter().all(|pass| pass.stage != order[from].stage) {
            order[to..=from].rotate_right(1);
            moved = true;
        }
    }
    let orders = moved.then_some(orders)?;
    Schedule::new(schedule.placement().clone(), schedule.microbatches(), orders).ok()
}

/// The schedule with a few passes moved to other places nearby. It may not run.
fn shaken(schedule: &Schedule, random: &mut fastrand::Rng) -> Option<Schedule> {
    let mut orders = schedule.orders().to_vec();
    for _ in 0..=random.usize(..4) {
        let device = random.usize(..orders.len());
        let order = &mut orders[device];
        let (from, to) = (random.usize(..order.len()), random.usize(..order.len()).min(REACH));
        let to = if random.bool() { from.saturating_sub(to) } else { (from + to).min(order.len() - 1) };
        let pass = order.remove(from);
        order.insert(to, pass);
    }
    Schedule::new(schedule.placement().clone(), schedule.microbatches(), orders).ok()
}
