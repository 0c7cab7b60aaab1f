//! Models.

use bubbleproof::amounts;
use bubbleproof::catalog::one_f_one_b_memory;
use bubbleproof::certificate::{Objective, STEPS, lower_bound_within, problem_digest};
use bubbleproof::fault::Fault;
use bubbleproof::limit::MemoryLimit;
use bubbleproof::model::{self, Device, Kind, Model, Stage};
use pyo3::prelude::*;

use crate::error::{Class, field, in_file, raise};

/// A model of the library.
#[pyclass(frozen, eq, module = "bubbleproof._native")]
#[derive(Debug, PartialEq)]
pub struct NativeModel {
    pub model: Model,
}

fn wrong(py: Python<'_>, error: &dyn std::fmt::Display) -> PyErr {
    raise(py, Class::Value, &error.to_string(), None)
}

#[pymethods]
impl NativeModel {
    /// Reads the text of a model file.
    #[staticmethod]
    fn parse(py: Python<'_>, text: &str, name: Option<&str>) -> PyResult<Self> {
        let model = model::parse(text)
            .map_err(|error| in_file(py, name, text, Fault::of_toml(&error), field(&error.problem)))?;
        Ok(Self { model })
    }

    /// The text of a model file that reads as this model.
    fn text(&self) -> String {
        model::print(&self.model)
    }

    /// The digest of everything that a result depends on.
    fn digest(&self) -> String {
        problem_digest(&self.model)
    }

    #[getter]
    fn name(&self) -> &str {
        self.model.name()
    }

    #[getter]
    fn source(&self) -> Option<&str> {
        self.model.source()
    }

    #[getter]
    fn devices(&self) -> u32 {
        self.model.devices()
    }

    #[getter]
    fn stages(&self) -> u32 {
        self.model.stages()
    }

    #[getter]
    fn microbatches(&self) -> u32 {
        self.model.microbatches()
    }

    #[getter]
    fn shape(&self) -> String {
        self.model.placement().shape().to_string()
    }

    #[getter]
    fn stages_of(&self) -> Vec<Vec<u32>> {
        let lists = self.model.placement().lists().iter();
        lists.map(|stages| stages.iter().map(|stage| stage.0).collect()).collect()
    }

    #[getter]
    fn time_unit(&self) -> &str {
        &self.model.costs().unit
    }

    #[getter]
    fn memory_unit(&self) -> &str {
        &self.model.memory().unit
    }

    /// How many nanoseconds a tick is; nothing where ticks have no length.
    #[getter]
    fn nanoseconds_per_tick(&self) -> Option<i64> {
        self.model.costs().nanoseconds_per_tick()
    }

    /// The duration of a kind of pass (`F`, `I` or `W`) of every stage, in ticks.
    fn durations(&self, kind: char) -> PyResult<Vec<i64>> {
        let kind = match kind {
            'F' => Kind::F,
            'I' => Kind::I,
            'W' => Kind::W,
            _ => return Err(pyo3::exceptions::PyValueError::new_err("kinds are F, I and W")),
        };
        Ok(self.by_stage(|stage| self.model.duration(stage, kind).0))
    }

    /// The latency of a message from each stage to the one behind it, in ticks.
    #[getter]
    fn latencies(&self) -> Vec<i64> {
        self.model.costs().communication.iter().map(|ticks| ticks.0).collect()
    }

    #[getter]
    fn activation(&self) -> Vec<i64> {
        self.by_stage(|stage| self.model.activation(stage).0)
    }

    #[getter]
    fn retained_for_weight(&self) -> Vec<i64> {
        self.by_stage(|stage| self.model.retained_for_weight(stage).0)
    }

    #[getter]
    fn weights(&self) -> Vec<i64> {
        self.by_stage(|stage| self.model.weights(stage).0)
    }

    /// The capacity of every device, in units of memory; nothing where there is none.
    #[getter]
    fn capacity(&self) -> Vec<Option<i64>> {
        Device::all(self.model.devices())
            .map(|device| self.model.capacity(device).map(|units| units.0))
            .collect()
    }

    /// What 1F1B with equal stages holds at most, in units of memory.
    #[getter]
    fn memory_of_1f1b(&self) -> i64 {
        one_f_one_b_memory(&self.model).0
    }

    /// No schedule has a shorter makespan than this, in ticks, and why, in a sentence.
    fn lower_bound(&self, py: Python<'_>) -> (i64, String) {
        let bound = py.detach(|| lower_bound_within(&self.model, Objective::Makespan, STEPS));
        let unit = &self.model.costs().unit;
        (bound.value.0, bound.reason.sentence(|ticks| amounts::time(ticks.0, unit)))
    }

    /// The model at another size, and within another limit as people write it.
    fn resized(
        &self,
        py: Python<'_>,
        devices: Option<u32>,
        microbatches: Option<u32>,
        memory: Option<&str>,
    ) -> PyResult<Self> {
        let mut model = self.model.clone();
        if let Some(devices) = devices {
            model = model.resized(devices).map_err(|error| wrong(py, &error))?;
        }
        if let Some(microbatches) = microbatches {
            model = model.with_microbatches(microbatches).map_err(|error| wrong(py, &error))?;
        }
        if let Some(memory) = memory {
            let limit: MemoryLimit = memory.parse().map_err(|error| wrong(py, &error))?;
            let units = limit
                .units(&model)
                .map_err(|error| raise(py, Class::Value, &error.to_string(), error.advice()))?;
            model = model.with_uniform_capacity(units).map_err(|error| wrong(py, &error))?;
        }
        Ok(Self { model })
    }
}

impl NativeModel {
    fn by_stage(&self, value: impl Fn(Stage) -> i64) -> Vec<i64> {
        (0..self.model.stages()).map(|stage| value(Stage(stage))).collect()
    }
}
