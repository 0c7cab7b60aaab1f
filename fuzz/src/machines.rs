//! Replay, bounds and certificates of models that say more than passes and latencies, against the rules stated once more.

use std::collections::BTreeMap;

use bubbleproof::certificate::{self, Bound, Certificate, Objective, Optimality};
use bubbleproof::model::{Device, Model, Pass, Stage};
use bubbleproof::replay::{Timing, memory_along, replay};
use bubbleproof::schedule::Schedule;

use super::choices::Choices;
use super::execution::is_complete;
use super::machine::{Run, Task, run};
use super::{beyond, held, problems};

/// How many steps a search for a bound may spend: problems here are tiny.
const STEPS: u64 = 5_000;

/// Replay, against a naive machine. The value of both objectives, if the schedule is valid.
fn replays(model: &Model, schedule: &Schedule) -> Option<[i64; 2]> {
    let verdict = replay(model, schedule);
    let complete = is_complete(model, schedule);
    let ran = if complete { run(model, schedule) } else { None };
    assert_eq!(verdict.timing.is_some(), ran.is_some(), "{:?}", verdict.violations);
    let (timing, ran) = (verdict.timing.as_ref()?, ran?);
    same_times(model, timing, &ran);
    let along = memory_along(model, schedule);
    let mut fits = true;
    for device in Device::all(model.devices()) {
        let expected = held::held(model, schedule, device);
        let found: Vec<[i64; 2]> =
            along[device.index()].iter().map(|held| [held.during.0, held.after.0]).collect();
        assert_eq!(found, expected);
        let peak = expected.iter().map(|held| held[0]).max().unwrap_or(model.resident(device).0);
        assert_eq!(verdict.peak_memory[device.index()].0, peak);
        fits &= model.capacity(device).is_none_or(|capacity| peak <= capacity.0);
    }
    assert_eq!(verdict.is_valid(), fits, "{:?}", verdict.violations);
    if let Some(best) = model.best_case() {
        let lucky = run(&best, schedule).expect("the orders are the same");
        assert_eq!(replay(&best, schedule).timing.expect("they run").metrics.makespan.0, lucky.makespan);
        assert!(lucky.makespan <= ran.makespan && lucky.device_span <= ran.device_span);
    }
    fits.then_some([ran.makespan, ran.device_span])
}

fn same_times(model: &Model, timing: &Timing, ran: &Run) {
    assert_eq!(timing.starts, ran.starts);
    let metrics = &timing.metrics;
    let found = [metrics.makespan.0, metrics.device_span.0, metrics.busy.0];
    assert_eq!(found, [ran.makespan, ran.device_span, ran.busy]);
    let mut sent: BTreeMap<Pass, [i64; 2]> = BTreeMap::new();
    for link in &timing.links {
        sent.extend(link.messages.iter().map(|(pass, during)| (*pass, [during.start.0, during.end.0])));
    }
    let expected: BTreeMap<Pass, [i64; 2]> = ran
        .times
        .iter()
        .filter_map(|(task, &times)| if let Task::Message(pass) = task { Some((*pass, times)) } else { None })
        .collect();
    assert_eq!(sent, expected);
    for (device, gathers) in Device::all(model.devices()).zip(&timing.gathers) {
        let found: Vec<[i64; 2]> =
            gathers.iter().map(|gather| [gather.during.start.0, gather.during.end.0]).collect();
        let is_here = |task: &Task| matches!(task, Task::Gather(at, _) if *at == device);
        let expected: Vec<[i64; 2]> =
            ran.times.iter().filter(|(task, _)| is_here(task)).map(|(_, &times)| times).collect();
        assert_eq!(found, expected);
    }
    assert_eq!(timing.gathers.is_empty(), !model.has_gathers());
    for (stage, step) in timing.step.iter().enumerate().map(|(stage, step)| (Stage::at(stage), step)) {
        for (during, task) in [(&step.reduce, Task::Reduce(stage)), (&step.optimizer, Task::Optimizer(stage))]
        {
            assert_eq!([during.start.0, during.end.0], ran.times[&task]);
        }
    }
}

/// Every bound holds again, none is above the value of a schedule, and the certificate of one is accepted.
fn bounds(model: &Model, schedule: &Schedule, values: &[[i64; 2]]) {
    let verdict = replay(model, schedule);
    for (at, objective) in [Objective::Makespan, Objective::DeviceSpan].into_iter().enumerate() {
        let best = values.iter().map(|values| values[at]).min();
        for steps in [0, STEPS] {
            let bound: Bound = certificate::lower_bound_within(model, objective, steps);
            assert!(certificate::holds(model, objective, &bound).is_ok());
            assert!(best.is_none_or(|best| bound.value.0 <= best), "{bound:?} is above {best:?}");
            let certified = Certificate::of(model, schedule, &verdict, objective, &bound, Optimality::Open);
            assert!(certified.is_some() || !verdict.is_valid());
            let Some(certified) = certified else { continue };
            let mut certified_schedule = schedule.clone();
            certified_schedule.certificate = Some(certified.to_json());
            let checked = certificate::check(&certified_schedule, Some(model));
            assert_eq!(checked.is_ok(), verdict.is_valid());
            assert!(checked.is_ok_and(|checked| checked.problem == *model) || !verdict.is_valid());
        }
    }
}

/// Replay of schedules with pairs, whole and damaged, is what a naive machine says; no bound is above any of them.
pub fn machines(input: &[u8]) {
    let (problem, harm) = input.split_at(input.len() - input.len() / 4);
    let choices = &mut Choices::new(problem);
    let Some(plain) = problems::model(choices, 12) else { return };
    let Some(model) = beyond::model(&plain, choices) else { return };
    let whole = problems::paired(&problems::schedule(&model, choices), choices);
    let harm = &mut Choices::new(harm);
    let damaged = problems::damaged(&whole, harm);
    let other = problems::schedule(&model, choices);
    let values: Vec<[i64; 2]> =
        [&whole, &damaged, &other].into_iter().filter_map(|schedule| replays(&model, schedule)).collect();
    bounds(&model, &whole, &values);
}
