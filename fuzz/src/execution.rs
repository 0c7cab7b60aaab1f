//! Replay against the rules of execution stated once more.

use std::collections::BTreeSet;

use bubbleproof::model::{Device, Kind, Microbatch, Model, Pass, Stage, Ticks};
use bubbleproof::replay::replay;
use bubbleproof::schedule::Schedule;

use super::choices::Choices;
use super::{naive, problems};

/// Whether every pass that must be there is, once and on its device, and nothing else.
pub fn is_complete(model: &Model, schedule: &Schedule) -> bool {
    let placement = model.placement();
    let mut found: BTreeSet<Pass> = BTreeSet::new();
    for (device, order) in Device::all(schedule.devices()).zip(schedule.orders()) {
        for &pass in order {
            let known = pass.stage.0 < model.stages() && pass.microbatch.0 < schedule.microbatches();
            let here = known
                && placement.device_of(pass.stage) == device
                && placement.leads_through(pass.stage, pass.microbatch);
            if !here || !found.insert(pass) {
                return false;
            }
        }
    }
    Stage::all(model.stages()).all(|stage| {
        Microbatch::all(schedule.microbatches()).all(|microbatch| {
            let has = |kind| found.contains(&Pass::new(stage, kind, microbatch));
            if !placement.leads_through(stage, microbatch) {
                return true;
            }
            let backward = matches!(
                (has(Kind::B), has(Kind::I), has(Kind::W)),
                (true, false, false) | (false, true, true)
            );
            has(Kind::F) && backward && (!has(Kind::R) || model.checkpoint(stage).is_some())
        })
    })
}

/// The start of every pass, if the schedule is valid by the rules as they are stated here.
pub fn starts(model: &Model, schedule: &Schedule) -> Option<Vec<Vec<Ticks>>> {
    if !is_complete(model, schedule) {
        return None;
    }
    let starts = naive::run(model, schedule)?;
    let fits = Device::all(model.devices()).zip(schedule.orders()).all(|(device, order)| {
        model.capacity(device).is_none_or(|capacity| peak(model, device, order) <= capacity.0)
    });
    fits.then_some(starts)
}

/// The most that a device holds, weights included.
fn peak(model: &Model, device: Device, order: &[Pass]) -> i64 {
    let weights = model.placement().stages_of(device).iter().map(|&stage| model.weights(stage).0);
    weights.sum::<i64>() + naive::peak_of_order(model, order)
}

/// Replay accepts what can run, refuses what cannot, and gives the times and peaks that a naive executor finds.
pub fn execution(input: &[u8]) {
    let (problem, harm) = input.split_at(input.len() - input.len() / 4);
    let choices = &mut Choices::new(problem);
    let Some(model) = problems::model(choices, 16) else { return };
    let whole = problems::schedule(&model, choices);
    for schedule in [problems::damaged(&whole, &mut Choices::new(harm)), whole] {
        let verdict = replay(&model, &schedule);
        let starts = starts(&model, &schedule);
        assert_eq!(verdict.is_valid(), starts.is_some(), "{:?}", verdict.violations);
        for violation in &verdict.violations {
            assert!(!violation.to_string().is_empty());
            if let Some(place) = violation.place() {
                assert_eq!(schedule.order(place.device).get(place.position).copied(), violation.pass());
            }
        }
        let Some(starts) = starts else { continue };
        let timing = verdict.timing.expect("a valid schedule has times");
        assert_eq!(timing.starts, starts);
        let passes =
            || schedule.orders().iter().zip(&starts).flat_map(|(order, starts)| order.iter().zip(starts));
        let ends = passes().map(|(&pass, start)| start.0 + naive::duration(&model, pass));
        assert_eq!(Some(timing.metrics.makespan.0), ends.max());
        let busy: i64 = passes().map(|(&pass, _)| naive::duration(&model, pass)).sum();
        assert_eq!(timing.metrics.busy.0, busy);
        assert_eq!(timing.metrics.device_span.0, naive::device_span(&model, &schedule));
        for (device, order) in Device::all(model.devices()).zip(schedule.orders()) {
            let found = verdict.peak_memory[device.index()].0;
            assert_eq!(found, peak(&model, device, order));
            let held = naive::peak_of_times(&model, order, &starts[device.index()]);
            assert!(held <= found);
        }
    }
}
