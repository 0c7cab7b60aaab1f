//! Schedules: reading, writing, those with a name, and their certificates.

use bubbleproof::catalog::{self, CatalogError};
use bubbleproof::certificate::{self, Claim};
use bubbleproof::fault::Fault;
use bubbleproof::interchange::{self, pytorch};
use bubbleproof::lowering::verified_plan;
use bubbleproof::schedule::{self, Schedule};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::{Class, in_file, raise};
use crate::model::NativeModel;
use crate::replayed::NativeReplayed;

/// A schedule of the library.
#[pyclass(frozen, eq, module = "bubbleproof._native")]
#[derive(Debug, PartialEq)]
pub struct NativeSchedule {
    pub schedule: Schedule,
}

#[pymethods]
impl NativeSchedule {
    /// Reads a schedule file, or a CSV of PyTorch.
    #[staticmethod]
    fn parse(py: Python<'_>, text: &str, name: Option<&str>) -> PyResult<Self> {
        let read = py
            .detach(|| interchange::read(text))
            .map_err(|error| in_file(py, name, text, Fault::of_read(text, &error), None))?;
        Ok(Self { schedule: read.schedule })
    }

    /// The text of the schedule file.
    fn text(&self, py: Python<'_>) -> PyResult<String> {
        let mut text = Vec::new();
        py.detach(|| schedule::write(&self.schedule, &mut text))?;
        Ok(String::from_utf8(text)?)
    }

    /// The CSV of PyTorch: the passes alone, or with all communication, which is verified.
    fn csv(&self, py: Python<'_>, communication: bool) -> PyResult<String> {
        let wrong = |error: &pytorch::ExportError| raise(py, Class::Value, &error.to_string(), None);
        // What PyTorch cannot run has a plan, too.
        let passes = pytorch::print(&self.schedule).map_err(|error| wrong(&error))?;
        if communication {
            let plan = py.detach(|| verified_plan(&self.schedule)).map_err(|error| {
                let class = if error.is_defect() { Class::Defect } else { Class::Value };
                raise(py, class, &error.to_string(), None)
            })?;
            pytorch::print_plan(&plan).map_err(|error| wrong(&error))
        } else {
            Ok(passes)
        }
    }

    #[getter]
    fn name(&self) -> Option<&str> {
        self.schedule.name.as_deref()
    }

    #[getter]
    fn devices(&self) -> u32 {
        self.schedule.devices()
    }

    #[getter]
    fn stages(&self) -> u32 {
        self.schedule.placement().stages()
    }

    #[getter]
    fn microbatches(&self) -> u32 {
        self.schedule.microbatches()
    }

    #[getter]
    fn stages_of(&self) -> Vec<Vec<u32>> {
        let lists = self.schedule.placement().lists().iter();
        lists.map(|stages| stages.iter().map(|stage| stage.0).collect()).collect()
    }

    /// The passes of every device in order, such as `3F0`.
    #[getter]
    fn orders(&self) -> Vec<Vec<String>> {
        let orders = self.schedule.orders().iter();
        orders.map(|order| order.iter().map(ToString::to_string).collect()).collect()
    }

    #[getter]
    fn is_certified(&self) -> bool {
        self.schedule.certificate.is_some()
    }

    fn __len__(&self) -> usize {
        self.schedule.len()
    }
}

/// The schedule of the catalogue with this name for a model.
#[pyfunction]
pub fn named_schedule(py: Python<'_>, name: &str, model: &NativeModel) -> PyResult<NativeSchedule> {
    let entry = catalog::find(name).ok_or_else(|| {
        let names: Vec<&str> = catalog::entries().iter().map(|entry| entry.name).collect();
        let meant = bubbleproof::advice::nearest(name, &names);
        let help = meant.map_or_else(
            || format!("known schedules: {}", names.join(", ")),
            |meant| format!("did you mean `{meant}`? known schedules: {}", names.join(", ")),
        );
        raise(py, Class::Value, &format!("there is no schedule called `{name}`"), Some(help))
    })?;
    let made = py.detach(|| entry.generate(&model.model));
    let schedule = made.map_err(|error: CatalogError| raise(py, Class::Value, &error.to_string(), None))?;
    Ok(NativeSchedule { schedule })
}

/// The names of the catalogue, each with its summary; of a model, those that it can have.
#[pyfunction]
pub fn named_schedules(model: Option<&NativeModel>) -> Vec<(&'static str, &'static str)> {
    let fits = |entry: &&catalog::Entry| {
        model.is_none_or(|NativeModel { model }| {
            entry.check(model).is_ok() && !entry.needs.is_degenerate_on(model.placement())
        })
    };
    catalog::entries().iter().filter(fits).map(|entry| (entry.name, entry.summary)).collect()
}

/// Checks the certificate that a schedule carries: what it claims, each claim with whether it was derived again, and what replay
/// says of the schedule under the problem of the certificate.
#[pyfunction]
pub fn check_schedule<'py>(
    py: Python<'py>,
    schedule: &NativeSchedule,
    model: Option<&NativeModel>,
) -> PyResult<(Vec<Bound<'py, PyDict>>, NativeModel, NativeReplayed)> {
    let (schedule, model) = (&schedule.schedule, model.map(|model| &model.model));
    let checked = py
        .detach(|| certificate::check(schedule, model))
        .map_err(|error| raise(py, Class::Certificate, &error.to_string(), None))?;
    let claims = checked.claims.iter().map(|claim| object(py, claim)).collect::<PyResult<_>>()?;
    let replayed = NativeReplayed {
        model: checked.problem.clone(),
        schedule: schedule.clone(),
        verdict: checked.verdict,
    };
    Ok((claims, NativeModel { model: checked.problem }, replayed))
}

fn object<'py>(py: Python<'py>, claim: &Claim) -> PyResult<Bound<'py, PyDict>> {
    let (name, value) = match claim {
        Claim::Runs { value } => ("runs", Some(value)),
        Claim::LowerBound { value } => ("lower-bound", Some(value)),
        Claim::Optimal => ("optimal", None),
        Claim::OverCuts { value } => ("over-cuts", Some(value)),
        Claim::OverPlans { value, .. } => ("over-plans", Some(value)),
        Claim::SearchedCuts { none_below } => ("searched-cuts", Some(none_below)),
        Claim::Searched { none_below, .. } => ("searched", Some(none_below)),
    };
    let object = PyDict::new(py);
    object.set_item("claim", name)?;
    object.set_item("value", value.map(|ticks| ticks.0))?;
    object.set_item("is_checked", claim.is_checked())?;
    Ok(object)
}
