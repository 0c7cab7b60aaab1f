//! What is proved of a block or a schedule for every number of microbatches.

use bubbleproof::amounts;
use bubbleproof::model::{Model, Ticks, Units};
use bubbleproof::prove::every::{EveryError, EveryM, Formula, Proof, every_m_of_block, every_m_of_schedule};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::block::NativeBlock;
use crate::error::{Class, raise};
use crate::model::NativeModel;
use crate::schedule::NativeSchedule;
use crate::search;

/// Decides a schedule and all that repeat its steady phase more often.
#[pyfunction]
pub fn every_m_of_orders<'py>(
    py: Python<'py>,
    schedule: &NativeSchedule,
    model: &NativeModel,
    time_limit: Option<f64>,
) -> PyResult<Bound<'py, PyDict>> {
    let (schedule, model) = (&schedule.schedule, &model.model);
    let limit = search::limit(py, time_limit)?;
    let found = search::run(py, limit, None, |stop, _| every_m_of_schedule(schedule, model, stop))?;
    object(py, found.found, model)
}

/// Decides the schedules of a block for every number of microbatches.
#[pyfunction]
pub fn every_m_of_copies<'py>(
    py: Python<'py>,
    block: &NativeBlock,
    time_limit: Option<f64>,
) -> PyResult<Bound<'py, PyDict>> {
    let NativeBlock { block, model } = block;
    let limit = search::limit(py, time_limit)?;
    let found = search::run(py, limit, None, |stop, _| every_m_of_block(block, model, stop))?;
    object(py, found.found, model)
}

fn object<'py>(
    py: Python<'py>,
    found: Result<EveryM, EveryError>,
    model: &Model,
) -> PyResult<Bound<'py, PyDict>> {
    let found = found.map_err(|error| {
        let class = match error {
            EveryError::Placement | EveryError::Model { .. } | EveryError::Schedule(_) => Class::Value,
            _ => Class::Defect,
        };
        raise(py, class, &error.to_string(), None)
    })?;
    let object = PyDict::new(py);
    match found {
        EveryM::Proved(proof) => proved(&object, &proof)?,
        EveryM::Refuted(refutation) => {
            object.set_item("status", "refuted")?;
            object.set_item("microbatches", refutation.microbatches)?;
            let memory = |units: Units| amounts::amount(units.0, &model.memory().unit);
            let violation = refutation.verdict.violations.first();
            object.set_item("reason", violation.map(|violation| violation.in_words(memory)))?;
        }
        EveryM::Unknown(reason) => {
            object.set_item("status", "unknown")?;
            object.set_item("reason", reason.to_string())?;
        }
        _ => object.set_item("status", "unknown")?,
    }
    Ok(object)
}

fn proved(object: &Bound<'_, PyDict>, proof: &Proof) -> PyResult<()> {
    let units = |peaks: &[Units]| peaks.iter().map(|peak| peak.0).collect::<Vec<i64>>();
    object.set_item("status", "proved")?;
    object.set_item("first", proof.first)?;
    object.set_item("step", proof.step)?;
    object.set_item("makespan", formula(&proof.makespan))?;
    object.set_item("device_span", proof.device_span.as_ref().map(formula))?;
    object.set_item("peak_memory", units(&proof.peak_memory))?;
    object.set_item("peak_from", proof.peak_from)?;
    object.set_item("replayed_to", proof.replayed_to)
}

/// In words; the number from which on it holds, its period, and its increase; and the values before it and of one period.
type Parts = (String, (u32, u32, i64), Vec<i64>, Vec<i64>);

fn formula(formula: &Formula) -> Parts {
    let ticks = |values: &[Ticks]| values.iter().map(|value| value.0).collect();
    let rule = (formula.from(), formula.period(), formula.increase().0);
    (formula.to_string(), rule, ticks(formula.before()), ticks(formula.cycle()))
}
