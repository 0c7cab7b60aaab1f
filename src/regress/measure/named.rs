//! Schedule files, schedules of the catalogue, and models.

use super::error::{MeasureError, go_on};
use super::facts::Facts;
use super::run::{BOUND_STEPS, Detail, run};
use crate::catalog::{self, CatalogError, Entry};
use crate::certificate::{Objective, lower_bound_within, problem_digest, steady_bound};
use crate::model::Model;
use crate::regress::fact::{Place, Value, What};
use crate::regress::inputs::Inputs;
use crate::regress::manifest::Sizes;
use crate::replay::{Rate, replay};
use crate::stop::Stop;

/// A schedule file.
pub(super) fn schedule(inputs: &Inputs, stop: &Stop, facts: &mut Facts) -> Result<(), MeasureError> {
    let Some((read, model)) = &inputs.schedule else { return Ok(()) };
    go_on(stop)?;
    facts.whole(What::Problem, Value::Text(problem(model)));
    let plan = read.csv.as_ref().and_then(crate::interchange::pytorch::File::plan);
    run(facts, &Place::default(), model, &read.schedule, plan, Detail::All);
    Ok(())
}

/// Schedules of the catalogue at some sizes of a model.
pub(super) fn named(
    names: Option<&[String]>,
    sizes: &Sizes,
    inputs: &Inputs,
    stop: &Stop,
    facts: &mut Facts,
) -> Result<(), MeasureError> {
    let Some(model) = &inputs.model else { return Ok(()) };
    facts.whole(What::Problem, Value::Text(problem(model)));
    let entries = catalog::entries().iter().filter(|entry| match names {
        Some(names) => names.iter().any(|name| name == entry.name),
        None => entry.needs.met_by(model.placement()),
    });
    for entry in entries {
        for (place, model) in sized(model, sizes)? {
            go_on(stop)?;
            let place = Place { schedule: Some(entry.name.to_owned()), ..place };
            let made = entry.generate_until(&model, stop);
            // A schedule that could not be improved to the end is none to go on record.
            go_on(stop)?;
            match made {
                Ok(schedule) => _ = run(facts, &place, &model, &schedule, None, Detail::All),
                // Without names, only what a model can have is looked at.
                Err(CatalogError::RecomputeUnknown(_)) if names.is_none() => {}
                Err(error) => facts.invalid(&place, [error.to_string()]),
            }
        }
    }
    Ok(())
}

/// A model: what bounds every schedule of it, and the best one of the catalogue.
pub(super) fn model(
    sizes: &Sizes,
    inputs: &Inputs,
    stop: &Stop,
    facts: &mut Facts,
) -> Result<(), MeasureError> {
    let Some(model) = &inputs.model else { return Ok(()) };
    facts.whole(What::Problem, Value::Text(problem(model)));
    for (place, model) in sized(model, sizes)? {
        go_on(stop)?;
        let bound = lower_bound_within(&model, Objective::Makespan, BOUND_STEPS).value;
        let pace = steady_bound(&model, BOUND_STEPS);
        let pace = Rate::new(i128::from(*pace.numer()), i128::from(*pace.denom()));
        let best = catalog::entries().iter().filter(|entry| entry.needs.met_by(model.placement()));
        let timed = |entry: &'static Entry| {
            let schedule = entry.generate_until(&model, stop).ok()?;
            let verdict = replay(&model, &schedule);
            let makespan = verdict.timing.as_ref().filter(|_| verdict.is_valid())?.metrics.makespan;
            Some((makespan, entry.name, schedule))
        };
        let best = best.filter_map(timed).min_by_key(|&(makespan, _, _)| makespan);
        go_on(stop)?;
        facts.add(&place, What::IntervalBound, Value::Fraction(pace));
        match best {
            None => {
                facts.invalid(&place, ["no schedule of the catalogue keeps to its memory limits".to_owned()]);
            }
            Some((_, name, schedule)) => {
                facts.add(&place, What::Best, Value::Text(name.to_owned()));
                let before = facts.found.len();
                run(facts, &place, &model, &schedule, None, Detail::Memory);
                restate_bound(facts, before, &place, bound.0);
            }
        }
    }
    Ok(())
}

/// Replaces the bound by that under the capacities of the model, not under the memory of its best schedule.
fn restate_bound(facts: &mut Facts, from: usize, place: &Place, bound: i64) {
    let makespan = facts.found[from..].iter().find(|fact| fact.key.what == What::Makespan);
    let Some(Value::Integer(makespan)) = makespan.map(|fact| fact.value.clone()) else { return };
    for fact in &mut facts.found[from..] {
        match fact.key.what {
            What::LowerBound => fact.value = Value::Integer(bound),
            What::Gap => {
                let gap = Rate::new(i128::from(makespan - bound), i128::from(bound.max(1)));
                fact.value = Value::Fraction(gap);
            }
            _ => {}
        }
    }
    let run = facts.runs.iter_mut().rev().find(|(other, _)| other == place);
    for (quantity, value) in run.into_iter().flat_map(|(_, values)| values) {
        if *quantity == crate::regress::promise::Quantity::Bound {
            *value = Rate::from_integer(bound.into());
        }
    }
}

/// The model at every size asked for.
fn sized(model: &Model, sizes: &Sizes) -> Result<Vec<(Place, Model)>, MeasureError> {
    let devices = sizes.devices.clone().unwrap_or_else(|| vec![model.devices()]);
    let microbatches = sizes.microbatches.clone().unwrap_or_else(|| vec![model.microbatches()]);
    let mut sized = Vec::new();
    for &devices in &devices {
        for &microbatches in &microbatches {
            let place = Place::devices(devices).with_microbatches(microbatches);
            let resized = model.resized(devices).and_then(|model| model.with_microbatches(microbatches));
            let resized = resized.map_err(|error| MeasureError::Model { place: place.to_string(), error })?;
            sized.push((place, resized));
        }
    }
    Ok(sized)
}

/// What makes figures under a model comparable with those that were recorded: it must be the same model.
pub(super) fn problem(model: &Model) -> String {
    format!("{} {}", model.name(), &problem_digest(model)[..16])
}
