//! Schedules: reading, writing, mending, those with a name, and their certificates.

use bubbleproof::amounts;
use bubbleproof::catalog::{self, CatalogError};
use bubbleproof::certificate::{self, Claim};
use bubbleproof::comm::CommunicationPlan;
use bubbleproof::fault::Fault;
use bubbleproof::interchange::{self, pytorch};
use bubbleproof::lowering::{self, verified_plan};
use bubbleproof::model::{Model, Units};
use bubbleproof::schedule::{self, Schedule};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::column::narrow;
use crate::error::{Class, in_file, raise};
use crate::model::NativeModel;
use crate::replayed::NativeReplayed;

/// A schedule of the library.
#[pyclass(frozen, eq, module = "bubbleproof._native")]
#[derive(Debug, PartialEq)]
pub struct NativeSchedule {
    pub schedule: Schedule,
    /// The sends and receives of the file that it was read from, where that has any.
    pub plan: Option<CommunicationPlan>,
}

impl From<Schedule> for NativeSchedule {
    fn from(schedule: Schedule) -> Self {
        Self { schedule, plan: None }
    }
}

/// A pass that changes its place: its device, itself, the pass that it comes right after, its old position and its new one.
type Moved = (u32, String, Option<String>, usize, usize);

#[pymethods]
impl NativeSchedule {
    /// Reads a schedule file, or a CSV of PyTorch.
    #[staticmethod]
    fn parse(py: Python<'_>, text: &str, name: Option<&str>) -> PyResult<Self> {
        let read = py
            .detach(|| interchange::read(text))
            .map_err(|error| in_file(py, name, text, Fault::of_read(text, &error), None))?;
        let plan = read.csv.as_ref().and_then(pytorch::File::plan).cloned();
        Ok(Self { schedule: read.schedule, plan })
    }

    /// The text of the schedule file.
    fn text(&self, py: Python<'_>) -> PyResult<String> {
        let mut text = Vec::new();
        py.detach(|| schedule::write(&self.schedule, &mut text))?;
        Ok(String::from_utf8(text)?)
    }

    /// The CSV of PyTorch with the sends and receives that it was read with, where there are any.
    fn plan_text(&self, py: Python<'_>) -> PyResult<Option<String>> {
        let print = |plan| py.detach(|| pytorch::print_plan(plan));
        let text = self.plan.as_ref().map(print).transpose();
        text.map_err(|error| raise(py, Class::Value, &error.to_string(), None))
    }

    /// The nearest orders that can run, as `lowering::nearest` finds them, with the passes that have moved and the pairs that were taken
    /// apart, each by a pass of it.
    fn nearest(
        &self,
        py: Python<'_>,
        model: Option<&NativeModel>,
    ) -> PyResult<(Self, Vec<Moved>, Vec<String>)> {
        let schedule = &self.schedule;
        let wrong = |message: &str| raise(py, Class::Value, message, None);
        let unit = || Model::unit(schedule.placement().clone(), schedule.microbatches());
        let model = model.map_or_else(unit, |model| Ok(model.model.clone()));
        let model = model.map_err(|error| wrong(&error.to_string()))?;
        let nearest = py
            .detach(|| lowering::nearest(&model, schedule))
            .ok_or_else(|| wrong("no order of these passes can run: some are missing or duplicated"))?;
        let moved = nearest.displaced(schedule).into_iter().map(|moved| {
            let after = moved.after.map(|pass| pass.to_string());
            (moved.device.0, moved.pass.to_string(), after, moved.from, moved.to)
        });
        let parted = nearest.parted.iter().map(|(_, pass)| pass.to_string());
        let (moved, parted) = (moved.collect(), parted.collect());
        Ok((nearest.schedule.into(), moved, parted))
    }

    /// The CSV of PyTorch: the passes alone, or with all communication, which is generated and verified. Microbatches are numbered as
    /// PyTorch looks losses up.
    fn csv(&self, py: Python<'_>, communication: bool) -> PyResult<String> {
        let wrong = |error: &pytorch::ExportError| raise(py, Class::Value, &error.to_string(), None);
        let numbered = lowering::numbered(&self.schedule);
        let schedule = numbered.as_ref().unwrap_or(&self.schedule);
        // What PyTorch cannot run has a plan, too.
        let passes = pytorch::print(schedule).map_err(|error| wrong(&error))?;
        if communication {
            let plan = py.detach(|| verified_plan(schedule)).map_err(|error| {
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

    /// All passes, device by device in order: kinds as letters, then devices, stages and microbatches as 32-bit integers.
    fn passes<'py>(&self, py: Python<'py>) -> (Bound<'py, PyBytes>, [Bound<'py, PyBytes>; 3]) {
        let orders = || self.schedule.orders().iter();
        let all = || orders().flatten();
        let kinds: Vec<u8> = all().map(|pass| pass.kind.letter() as u8).collect();
        let devices = (0..).zip(orders()).flat_map(|(device, order)| order.iter().map(move |_| device));
        let places = [
            narrow(py, devices),
            narrow(py, all().map(|pass| pass.stage.0)),
            narrow(py, all().map(|pass| pass.microbatch.0)),
        ];
        (PyBytes::new(py, &kinds), places)
    }

    #[getter]
    fn is_certified(&self) -> bool {
        self.schedule.certificate.is_some()
    }

    fn __len__(&self) -> usize {
        self.schedule.len()
    }
}

/// The schedule of the catalogue with this name for a model, also where it takes more memory than there is if that is said.
#[pyfunction]
pub fn named_schedule(
    py: Python<'_>,
    name: &str,
    model: &NativeModel,
    whatever_it_takes: bool,
) -> PyResult<NativeSchedule> {
    let entry = catalog::find(name).ok_or_else(|| {
        let names: Vec<&str> = catalog::entries().iter().map(|entry| entry.name).collect();
        let meant = bubbleproof::advice::nearest(name, &names);
        let help = meant.map_or_else(
            || format!("known schedules: {}", names.join(", ")),
            |meant| format!("did you mean `{meant}`? known schedules: {}", names.join(", ")),
        );
        raise(py, Class::Value, &format!("there is no schedule called `{name}`"), Some(help))
    })?;
    let model = &model.model;
    let made = py.detach(|| match entry.generate(model) {
        Err(error @ CatalogError::OverCapacity { .. }) if whatever_it_takes => {
            let free = model.with_uniform_activation_capacity(None).map_err(|_| error)?;
            entry.generate(&free)
        }
        made => made,
    });
    let memory = |units: Units| amounts::amount(units.0, &model.memory().unit);
    let schedule = made.map_err(|error| raise(py, Class::Value, &error.in_words(memory), None))?;
    Ok(schedule.into())
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
    let claims = checked.claims.iter().map(|claim| object(py, claim, checked.is_machine_checked(claim)));
    let claims = claims.collect::<PyResult<_>>()?;
    let replayed = NativeReplayed::new(checked.problem.clone(), schedule.clone(), checked.verdict);
    Ok((claims, NativeModel { model: checked.problem }, replayed))
}

fn object<'py>(py: Python<'py>, claim: &Claim, is_machine_checked: bool) -> PyResult<Bound<'py, PyDict>> {
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
    object.set_item("is_machine_checked", is_machine_checked)?;
    Ok(object)
}
