//! `optimize`: a schedule for a model, with how far it is from the best.

use std::num::NonZeroUsize;
use std::thread;

use bubbleproof::amounts;
use bubbleproof::certificate::{Objective, Optimality};
use bubbleproof::model::Model;
use bubbleproof::optimize::{self, OptimizeError, Options, Solution};
use pyo3::prelude::*;

use crate::error::{Class, in_argument, raise};
use crate::model::NativeModel;
use crate::replayed::{NativeReplayed, ratio};
use crate::schedule::NativeSchedule;
use crate::search::{self, Report};

/// A schedule that a search found, replayed, with a lower bound.
#[pyclass(frozen, module = "bubbleproof._native")]
#[derive(Debug)]
pub struct NativeSolution {
    model: Model,
    solution: Solution,
}

impl NativeSolution {
    pub const fn new(model: Model, solution: Solution) -> Self {
        Self { model, solution }
    }
}

#[pymethods]
impl NativeSolution {
    /// The schedule, with its certificate.
    #[getter]
    fn schedule(&self) -> NativeSchedule {
        self.solution.schedule.clone().into()
    }

    #[getter]
    fn replayed(&self) -> NativeReplayed {
        let Solution { schedule, verdict, .. } = &self.solution;
        NativeReplayed::new(self.model.clone(), schedule.clone(), verdict.clone())
    }

    #[getter]
    fn objective(&self) -> &'static str {
        match self.solution.objective {
            Objective::DeviceSpan => "span",
            Objective::Makespan => "makespan",
        }
    }

    #[getter]
    fn value(&self) -> i64 {
        self.solution.value().0
    }

    #[getter]
    fn lower_bound(&self) -> i64 {
        self.solution.lower_bound().0
    }

    #[getter]
    fn gap(&self) -> (i128, i128) {
        ratio(self.solution.gap())
    }

    /// What proves that none is better: nothing, the bound, or an exhaustive search, which is not checked again.
    #[getter]
    fn proof(&self) -> Option<String> {
        match &self.solution.optimality {
            Optimality::Open => None,
            Optimality::Bound => Some("bound".to_owned()),
            Optimality::Search { engine, .. } => Some(format!("exhaustive search ({engine})")),
        }
    }

    #[getter]
    fn engine(&self) -> &str {
        &self.solution.engine
    }

    #[getter]
    fn is_cut_short(&self) -> bool {
        self.solution.is_cut_short
    }
}

/// How to search, in the words of Python.
#[derive(FromPyObject)]
pub struct Settings {
    objective: String,
    time_limit: Option<f64>,
    seed: u64,
    threads: Option<NonZeroUsize>,
}

impl Settings {
    /// The options of the library, but for when to stop.
    pub fn options(&self, py: Python<'_>) -> PyResult<Options> {
        let objective = match self.objective.as_str() {
            "makespan" => Objective::Makespan,
            "span" => Objective::DeviceSpan,
            other => {
                let message = format!("objective must be 'makespan' or 'span', but is '{other}'");
                return Err(in_argument(py, "objective", &message));
            }
        };
        let processors = || thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        Ok(Options {
            objective,
            seed: self.seed,
            threads: self.threads.unwrap_or_else(processors),
            use_all_time: self.time_limit.is_some(),
            ..Options::default()
        })
    }

    /// The time limit: the one given, or as long as the command takes at the most.
    pub fn limit(&self, py: Python<'_>) -> PyResult<Option<std::time::Duration>> {
        search::limit(py, Some(self.time_limit.unwrap_or(60.0)))
    }
}

/// An error of a search as an exception, with memory counted in this unit.
pub fn refused(py: Python<'_>, error: &OptimizeError, memory_unit: &str) -> PyErr {
    if let OptimizeError::Infeasible(reason) = error {
        let reason = reason.in_words(|units| amounts::amount(units.0, memory_unit));
        return raise(py, Class::Infeasible, &reason, None);
    }
    let class = match error {
        OptimizeError::NoneFound(_) => Class::NoAnswer,
        OptimizeError::Rejected { .. } | OptimizeError::Refuted { .. } => Class::Defect,
        _ => Class::Value,
    };
    raise(py, class, &error.to_string(), None)
}

/// Searches for a schedule of a model.
#[pyfunction]
pub fn optimize_model(
    py: Python<'_>,
    model: &NativeModel,
    settings: Settings,
    known: Vec<PyRef<'_, NativeSchedule>>,
    watch: Option<&Bound<'_, PyAny>>,
) -> PyResult<NativeSolution> {
    let known = known.iter().map(|schedule| schedule.schedule.clone()).collect();
    let options = Options { known, ..settings.options(py)? };
    let model = model.model.clone();
    let found = search::run(py, settings.limit(py)?, watch, |stop, report| {
        let options = Options { stop: stop.clone(), ..options };
        optimize::optimize(&model, &options, &mut |state| {
            report(Report {
                step: state.step.clone(),
                best: state.best.map(|ticks| ticks.0),
                bound: Some(state.bound.0),
            });
        })
    })?;
    let unit = &model.memory().unit;
    let solution = found.found.map_err(|error| refused(py, &error, unit))?;
    Ok(NativeSolution { model, solution })
}
