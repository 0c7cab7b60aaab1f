//! The checker of certificates against every order there is.

use bubbleproof::certificate::{self, Bound, Certificate, Claim, Objective, Optimality, SearchEngine};
use bubbleproof::model::{Device, Kind, Microbatch, Model, Pass, Stage, Ticks};
use bubbleproof::replay::replay;
use bubbleproof::schedule::Schedule;
use serde_json::Value;

use super::choices::Choices;
use super::execution::starts;
use super::{naive, problems};

/// How many steps a search for a bound may spend: problems here are tiny.
const STEPS: u64 = 20_000;

/// How many orders are looked at before a claim is left unjudged.
const ORDERS: u32 = 20_000;

/// A bound that is right, and as many of its figures altered as choices say.
fn bound(model: &Model, objective: Objective, choices: &mut Choices) -> Option<Bound> {
    let right = match choices.below(4) {
        0 => certificate::lower_bound_within(model, objective, 0),
        1 => certificate::lower_bound_within(model, objective, STEPS),
        2 => {
            Bound { value: Ticks(choices.small(256)), ..certificate::lower_bound_within(model, objective, 0) }
        }
        _ => {
            let devices: Vec<Device> =
                Device::all(model.devices()).filter(|_| choices.below(2) == 0).collect();
            certificate::lower_bound_of(model, objective, &devices, STEPS)?
        }
    };
    if choices.below(2) == 0 {
        return Some(right);
    }
    let mut json = serde_json::to_value(&right).expect("a bound is JSON");
    alter(&mut json, choices);
    serde_json::from_value(json).ok()
}

/// Changes numbers by a little, and repeats or drops entries of lists.
fn alter(json: &mut Value, choices: &mut Choices) {
    match json {
        Value::Number(number) if choices.below(3) == 1 => {
            let shift = choices.shift() >> choices.below(8);
            *json = number.as_i64().and_then(|number| number.checked_add(shift)).into();
        }
        Value::Array(list) => {
            if choices.below(4) == 1 {
                drop(list.pop());
            }
            for entry in list {
                alter(entry, choices);
            }
        }
        Value::Object(entries) => {
            for entry in entries.values_mut() {
                alter(entry, choices);
            }
        }
        _ => {}
    }
}

/// A search for any orders that are better than `bound` within the capacities: pass after pass in the order of their
/// starts, on whichever device. It knows no rule by which microbatches may be taken to be alike.
struct Search<'a> {
    model: &'a Model,
    objective: Objective,
    bound: i64,
    all: Vec<Pass>,
    end: Vec<Option<i64>>,
    orders: Vec<Vec<Pass>>,
    /// By device: when it is free, what it holds, and the work that is left for it.
    free: Vec<i64>,
    held: Vec<i64>,
    left: Vec<i64>,
    looked_at: u32,
}

impl<'a> Search<'a> {
    /// The passes of one way to do the work: where a bit is set, the cell recomputes.
    fn new(model: &'a Model, objective: Objective, bound: i64, recomputed: usize) -> Self {
        let placement = model.placement();
        let mut all = Vec::new();
        let mut cell = 0;
        for stage in Stage::all(model.stages()) {
            for microbatch in Microbatch::all(model.microbatches()) {
                if !placement.leads_through(stage, microbatch) {
                    continue;
                }
                let kinds: &[Kind] = if (recomputed >> cell) & 1 == 1 {
                    &[Kind::F, Kind::R, Kind::I, Kind::W]
                } else {
                    &[Kind::F, Kind::I, Kind::W]
                };
                all.extend(kinds.iter().map(|&kind| Pass::new(stage, kind, microbatch)));
                cell += 1;
            }
        }
        let devices = model.devices() as usize;
        let mut left = vec![0; devices];
        for &pass in &all {
            left[placement.device_of(pass.stage).index()] += naive::duration(model, pass);
        }
        let weights = |device| placement.stages_of(device).iter().map(|&stage| model.weights(stage).0).sum();
        let held = Device::all(model.devices()).map(weights);
        Self {
            model,
            objective,
            bound,
            end: vec![None; all.len()],
            orders: vec![Vec::new(); devices],
            free: vec![0; devices],
            held: held.collect(),
            left,
            all,
            looked_at: 0,
        }
    }

    /// Whether there are such orders, whose next pass starts no earlier; nothing when there are too many to look at.
    fn finds(&mut self, earliest: i64) -> Option<bool> {
        self.looked_at += 1;
        if self.looked_at > ORDERS {
            return None;
        }
        if self.end.iter().all(Option::is_some) {
            // The makespan was held below the bound all along.
            if self.objective == Objective::Makespan {
                return Some(true);
            }
            let (placement, microbatches) = (self.model.placement().clone(), self.model.microbatches());
            let schedule = Schedule::new(placement, microbatches, self.orders.clone()).expect("whole orders");
            return Some(naive::runs_within(self.model, &schedule, self.bound - 1));
        }
        for at in 0..self.all.len() {
            let pass = self.all[at];
            let device = self.model.placement().device_of(pass.stage).index();
            let Some(start) = self.start(at, device).filter(|&start| start >= earliest) else { continue };
            let recomputed = self.all.contains(&pass.with_kind(Kind::R));
            let (takes, gives) = naive::acquired_and_released(self.model, pass, recomputed);
            let capacity = self.model.capacity(Device::at(device));
            let end = start + naive::duration(self.model, pass);
            let left = self.left[device] - naive::duration(self.model, pass);
            let fits = capacity.is_none_or(|capacity| self.held[device] + takes <= capacity.0);
            let late = self.objective == Objective::Makespan && end + left >= self.bound;
            if !fits || late {
                continue;
            }
            let before = (self.free[device], self.held[device], self.left[device]);
            self.end[at] = Some(end);
            self.orders[device].push(pass);
            (self.free[device], self.left[device]) = (end, left);
            self.held[device] += takes - gives;
            let found = self.finds(start);
            self.end[at] = None;
            self.orders[device].pop();
            (self.free[device], self.held[device], self.left[device]) = before;
            if found != Some(false) {
                return found;
            }
        }
        Some(false)
    }

    /// When a pass that is not done yet could start next on its device.
    fn start(&self, at: usize, device: usize) -> Option<i64> {
        if self.end[at].is_some() {
            return None;
        }
        let pass = self.all[at];
        let mut start = self.free[device];
        for need in naive::needs(pass, self.model, &self.all) {
            let end = self.end[self.all.iter().position(|&other| other == need).expect("one of all")]?;
            start = start.max(end + naive::latency(self.model, need, pass));
        }
        Some(start)
    }
}

/// Whether some schedule is better than a bound, with F, I and W, and R where choices say so; nothing when not known.
fn is_beaten(model: &Model, objective: Objective, bound: Ticks, choices: &mut Choices) -> Option<bool> {
    let recomputes = model.memory().checkpoint.is_some();
    let recomputed = if recomputes { choices.below(256) } else { 0 };
    Search::new(model, objective, bound.0, recomputed).finds(0)
}

/// Whether it follows from the best bound known, which is the one that is stated.
fn is_right(
    model: &Model,
    bound: &Bound,
    optimality: &Optimality,
    objective: Objective,
    value: Ticks,
) -> bool {
    let known = *bound == certificate::lower_bound_within(model, objective, STEPS);
    known
        && match optimality {
            Optimality::Open => true,
            Optimality::Bound => value == bound.value,
            Optimality::Search { none_below, .. } => *none_below <= value,
        }
}

/// A certificate of a schedule that runs is accepted only where no order of any passes is below its bound.
pub fn certificates(input: &[u8]) {
    let choices = &mut Choices::new(input);
    let Some(model) = problems::model(choices, 4) else { return };
    let mut schedule = problems::schedule(&model, choices);
    let verdict = replay(&model, &schedule);
    let objective = [Objective::Makespan, Objective::Makespan, Objective::DeviceSpan][choices.below(3)];
    let Some(bound) = bound(&model, objective, choices) else { return };
    let none_below = Ticks(choices.small(64));
    let optimality = match choices.below(3) {
        0 => Optimality::Open,
        1 => Optimality::Bound,
        _ => Optimality::Search { engine: SearchEngine::ClauseGeneration, none_below },
    };
    let Some(certificate) =
        Certificate::of(&model, &schedule, &verdict, objective, &bound, optimality.clone())
    else {
        assert!(!verdict.is_valid());
        return;
    };
    schedule.certificate = Some(certificate.to_json());
    let value = objective.of(&verdict.timing.as_ref().expect("it runs").metrics);
    let checked = certificate::check(&schedule, Some(&model));
    if verdict.is_valid() && is_right(&model, &bound, &optimality, objective, value) {
        assert!(checked.is_ok(), "{:?}", checked.err());
    }
    let Ok(checked) = checked else { return };
    assert_eq!(checked.problem, model);
    assert!(starts(&model, &schedule).is_some());
    for claim in &checked.claims {
        match claim {
            Claim::Runs { value: claimed } => assert_eq!(*claimed, value),
            Claim::LowerBound { value: bound } => {
                let beaten = is_beaten(&model, objective, *bound, choices);
                assert_ne!(beaten, Some(true), "it is claimed that no schedule is better than {bound}");
            }
            _ => {}
        }
    }
    // Nobody changes a figure of it unseen.
    let mut altered = schedule.certificate.take().expect("it was put there");
    let genuine = altered.clone();
    alter(&mut altered, choices);
    schedule.certificate = Some(altered.clone());
    assert_eq!(certificate::check(&schedule, None).is_ok(), altered == genuine);
}
