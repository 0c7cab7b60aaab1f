//! Jobs and their plans.

use std::path::PathBuf;

use bubbleproof::fault::Fault;
use bubbleproof::job::{self, Choice, Job};
use bubbleproof::optimize::Options;
use bubbleproof::plan::{self, Alternative, Figures, Outcome, Plan, PlanError, Results, Shard};
use bubbleproof::store::Store;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::{Class, field, in_file, raise};
use crate::model::NativeModel;
use crate::replayed::ratio;
use crate::schedule::NativeSchedule;
use crate::search::{self, Report};
use crate::solution::{NativeSolution, Settings, refused};

/// A job of the library, with the text of its file, which certificates quote.
#[pyclass(frozen, eq, module = "bubbleproof._native")]
#[derive(Debug, PartialEq)]
pub struct NativeJob {
    job: Job,
    text: String,
}

#[pymethods]
impl NativeJob {
    /// Reads the text of a job file.
    #[staticmethod]
    fn parse(py: Python<'_>, text: &str, name: Option<&str>) -> PyResult<Self> {
        let job = job::parse(text)
            .map_err(|error| in_file(py, name, text, Fault::of_toml(&error), field(&error.problem)))?;
        Ok(Self { job, text: text.to_owned() })
    }

    #[getter]
    fn text(&self) -> &str {
        &self.text
    }

    #[getter]
    fn name(&self) -> &str {
        &self.job.name
    }

    #[getter]
    fn devices(&self) -> u32 {
        self.job.machine.devices
    }

    #[getter]
    fn global_batch(&self) -> u32 {
        self.job.choices.global_batch
    }

    #[getter]
    fn layers(&self) -> Vec<String> {
        self.job.layers.clone()
    }

    #[getter]
    fn is_estimate(&self) -> bool {
        self.job.is_estimate
    }

    #[getter]
    fn time_unit(&self) -> &str {
        &self.job.time_unit
    }

    #[getter]
    fn memory_unit(&self) -> &str {
        &self.job.memory_unit
    }

    /// The choices that the job leaves open, by name.
    fn choices(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let choices =
            self.job.choices().map_err(|error| raise(py, Class::Value, &error.to_string(), None))?;
        Ok(choices.iter().map(ToString::to_string).collect())
    }
}

/// The plans of a job, the best first.
#[pyclass(frozen, module = "bubbleproof._native")]
#[derive(Debug)]
pub struct NativePlan {
    job: Job,
    text: String,
    plan: Plan,
    /// How many results were taken from a store, and how many were computed.
    #[pyo3(get)]
    from_store: Option<(usize, usize)>,
    /// Whether Ctrl-C ended the search.
    #[pyo3(get)]
    is_interrupted: bool,
}

#[pymethods]
impl NativePlan {
    /// No plan is shorter, in ticks.
    #[getter]
    fn lower_bound(&self) -> i64 {
        self.plan.none_below.0
    }

    #[getter]
    fn is_cut_short(&self) -> bool {
        self.plan.is_cut_short
    }

    /// The schedule of the best plan with its certificate; nothing where no plan was found.
    #[getter]
    fn schedule(&self) -> Option<NativeSchedule> {
        self.plan.certified(&self.text).map(NativeSchedule::from)
    }

    /// The model of the cut of the best plan.
    #[getter]
    fn model(&self) -> Option<NativeModel> {
        self.plan.best().map(|(_, best)| NativeModel { model: best.model.clone() })
    }

    /// The search for the best plan's schedule, for its own cut.
    #[getter]
    fn solution(&self) -> Option<NativeSolution> {
        let (_, best) = self.plan.best()?;
        Some(NativeSolution::new(best.model.clone(), best.solution.clone()))
    }

    /// Every choice with what has become of it, the best plan first.
    fn alternatives<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        self.plan.alternatives.iter().map(|one| self.object(py, one)).collect()
    }
}

impl NativePlan {
    fn object<'py>(&self, py: Python<'py>, one: &Alternative) -> PyResult<Bound<'py, PyDict>> {
        let Choice { pipeline, tensor, data, microbatch_size, microbatches, placement, saving } = one.choice;
        let object = PyDict::new(py);
        object.set_item("name", one.choice.to_string())?;
        object.set_item("pipeline", pipeline)?;
        object.set_item("tensor", tensor)?;
        object.set_item("data", data)?;
        object.set_item("microbatch_size", microbatch_size)?;
        object.set_item("microbatches", microbatches)?;
        object.set_item("placement", placement.to_string())?;
        object.set_item("recompute", saving.recompute)?;
        object.set_item("offload", saving.offload)?;
        object.set_item("lower_bound", one.none_below.map(|ticks| ticks.0))?;
        let (status, reason) = match &one.outcome {
            Outcome::DoesNotFit(error) => ("does-not-fit", Some(error.to_string())),
            Outcome::Dropped => ("dropped", None),
            Outcome::NotReached => ("not-reached", None),
            Outcome::Planned { .. } => ("planned", None),
            _ => ("none-found", None),
        };
        object.set_item("status", status)?;
        object.set_item("reason", reason)?;
        let Outcome::Planned { plan, .. } = &one.outcome else { return Ok(object) };
        let worth = Figures::of(&self.job, &one.choice, plan.solution.value());
        object.set_item("cut", plan.cut.layers())?;
        object.set_item("makespan", plan.solution.value().0)?;
        object.set_item("peak_memory", plan.solution.verdict.peak_memory_max().0)?;
        object.set_item("samples_per_second", worth.samples_per_second.map(ratio))?;
        object.set_item("utilisation", worth.utilisation.map(ratio))?;
        Ok(object)
    }
}

/// Searches for the best plan of a job. Results are kept in `store`, and also looked up in `known`.
#[pyfunction]
pub fn plan_job(
    py: Python<'_>,
    job: &NativeJob,
    settings: Settings,
    store: Option<PathBuf>,
    known: Option<PathBuf>,
    shard: Option<(u32, u32)>,
    watch: Option<&Bound<'_, PyAny>>,
) -> PyResult<NativePlan> {
    let options = settings.options(py)?;
    let wrong = |error: &dyn std::fmt::Display| raise(py, Class::Value, &error.to_string(), None);
    let shard = shard.map(|(index, count)| format!("{index}/{count}").parse::<Shard>());
    let shard = shard.transpose().map_err(|error| wrong(&error))?;
    let open = |path: Option<PathBuf>| {
        let store = path.map(|path| py.detach(|| Store::open(&path)));
        store.transpose().map_err(|error| wrong(&error))
    };
    let (store, known) = (open(store)?, open(known)?);
    let results = store.as_ref().map_or_else(Results::default, Results::kept_in);
    let results = known.iter().fold(results, Results::knowing);
    let found = search::run(py, settings.limit(py)?, watch, |stop, report| {
        let options = Options { stop: stop.clone(), ..options };
        plan::plan_shard(&job.job, &options, shard, &results, &mut |state| {
            report(Report {
                step: format!("{} of {}: {}", state.done, state.choices, state.step),
                best: state.best.map(|ticks| ticks.0),
                bound: state.none_below.map(|ticks| ticks.0),
            });
        })
    })?;
    let tally = results.into_tally();
    if let Some(failure) = tally.failure {
        return Err(wrong(&failure));
    }
    let plan = found.found.map_err(|error| match error {
        PlanError::Search(error) => refused(py, &error, &job.job.memory_unit),
        PlanError::NoCut(_) => raise(py, Class::Infeasible, &error.to_string(), None),
        PlanError::NoneFound => raise(py, Class::NoAnswer, &error.to_string(), None),
        other => wrong(&other),
    })?;
    let from_store = store.is_some().then_some((tally.taken, tally.computed));
    let is_interrupted = found.is_interrupted;
    Ok(NativePlan { job: job.job.clone(), text: job.text.clone(), plan, from_store, is_interrupted })
}

/// Takes the results of another store into one, which is made where there is none: how many the other has, and how many were new.
#[pyfunction]
pub fn merge_stores(py: Python<'_>, into: PathBuf, source: PathBuf) -> PyResult<(u64, u64)> {
    let merged = py.detach(|| Store::open(&into).and_then(|store| store.take_in(&source)));
    merged
        .map(|taken| (taken.all, taken.new))
        .map_err(|error| raise(py, Class::Value, &error.to_string(), None))
}

/// The version and the solvers of this build, on which results depend.
#[pyfunction]
pub fn build() -> String {
    plan::build()
}
