//! What replay says of a schedule.

use bubbleproof::amounts;
use bubbleproof::analysis::steady_interval;
use bubbleproof::draw::{Picture, Svg, page};
use bubbleproof::model::{Model, Ticks};
use bubbleproof::replay::{self, Rate, Verdict, memory_along};
use bubbleproof::schedule::Schedule;
use num_rational::Ratio;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::column::{narrow, wide};
use crate::model::NativeModel;
use crate::schedule::NativeSchedule;

/// A model, a schedule, and what replay says of the two.
#[pyclass(frozen, module = "bubbleproof._native")]
#[derive(Debug)]
pub struct NativeReplayed {
    pub model: Model,
    pub schedule: Schedule,
    pub verdict: Verdict,
}

/// Replays a schedule under a model.
#[pyfunction]
pub fn replay_schedule(py: Python<'_>, model: &NativeModel, schedule: &NativeSchedule) -> NativeReplayed {
    let (model, schedule) = (model.model.clone(), schedule.schedule.clone());
    py.detach(|| {
        let verdict = replay::replay(&model, &schedule);
        NativeReplayed { model, schedule, verdict }
    })
}

/// Kinds, places and times of passes, column by column.
type Passes<'py> = (Bound<'py, PyBytes>, [Bound<'py, PyBytes>; 3], Option<[Bound<'py, PyBytes>; 2]>);

/// A ratio of Python integers.
pub fn ratio<T: Copy + Into<i128>>(of: Ratio<T>) -> (i128, i128) {
    ((*of.numer()).into(), (*of.denom()).into())
}

#[pymethods]
impl NativeReplayed {
    #[getter]
    fn is_valid(&self) -> bool {
        self.verdict.is_valid()
    }

    /// What is wrong, each as its rule, its sentence, and its device, position and pass where it has them.
    fn violations<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let unit = &self.model.memory().unit;
        let object = |violation: &replay::Violation| {
            let object = PyDict::new(py);
            object.set_item("rule", violation.rule())?;
            object.set_item("message", violation.in_words(|units| amounts::amount(units.0, unit)))?;
            object.set_item("device", violation.device().map(|device| device.0))?;
            object.set_item("position", violation.place().map(|place| place.position))?;
            object.set_item("pass", violation.pass().map(|pass| pass.to_string()))?;
            Ok(object)
        };
        self.verdict.violations.iter().map(object).collect()
    }

    /// The most that each device holds, in units of memory.
    #[getter]
    fn peak_memory(&self) -> Vec<i64> {
        self.verdict.peak_memory.iter().map(|units| units.0).collect()
    }

    /// Makespan, device span and busy time in ticks; nothing where the schedule cannot run.
    #[getter]
    fn times(&self) -> Option<(i64, i64, i64)> {
        let metrics = &self.verdict.timing.as_ref()?.metrics;
        Some((metrics.makespan.0, metrics.device_span.0, metrics.busy.0))
    }

    /// The bubble rate, the idle rate and the useful rate, each as a numerator and a denominator.
    #[getter]
    fn rates(&self) -> Option<[(i128, i128); 3]> {
        let metrics = &self.verdict.timing.as_ref()?.metrics;
        let rates: [Rate; 3] = [metrics.bubble_rate, metrics.idle_rate, metrics.useful_rate];
        Some(rates.map(ratio))
    }

    /// The time per microbatch in the steady phase, as a numerator and a denominator.
    #[getter]
    fn interval(&self) -> Option<(i128, i128)> {
        steady_interval(&self.schedule, self.verdict.timing.as_ref()?).map(ratio)
    }

    /// All passes, device by device in order: kinds as letters, then devices, stages and microbatches as 32-bit integers, then
    /// starts and ends in ticks as 64-bit integers. Where the schedule cannot run, there are no starts and no ends.
    fn passes<'py>(&self, py: Python<'py>) -> Passes<'py> {
        let orders = || self.schedule.orders().iter();
        let all = || orders().flatten();
        let kinds: Vec<u8> = all().map(|pass| pass.kind.letter() as u8).collect();
        let devices = (0..).zip(orders()).flat_map(|(device, order)| order.iter().map(move |_| device));
        let places = [
            narrow(py, devices),
            narrow(py, all().map(|pass| pass.stage.0)),
            narrow(py, all().map(|pass| pass.microbatch.0)),
        ];
        let times = self.verdict.timing.as_ref().map(|timing| {
            let starts = || timing.starts.iter().flatten().copied();
            let ends = all().zip(starts()).map(|(&pass, start)| self.end(pass, start));
            [wide(py, starts().map(|ticks| ticks.0)), wide(py, ends)]
        });
        (PyBytes::new(py, &kinds), places, times)
    }

    /// What a device holds along its order: the live memory while each pass runs, and after it, in units.
    fn memory<'py>(&self, py: Python<'py>) -> Vec<[Bound<'py, PyBytes>; 2]> {
        let along = memory_along(&self.model, &self.schedule);
        let of = |held: &Vec<replay::Held>| {
            [wide(py, held.iter().map(|held| held.during.0)), wide(py, held.iter().map(|held| held.after.0))]
        };
        along.iter().map(of).collect()
    }

    /// The timeline as an SVG; nothing where the schedule cannot run.
    fn svg(&self, py: Python<'_>, width: Option<u32>) -> PyResult<Option<String>> {
        let how = Svg { width, ..Svg::default() };
        py.detach(|| {
            let picture = Picture::of(&self.model, &self.schedule, &self.verdict);
            picture.map(|picture| picture.svg(&how)).transpose()
        })
        .map_err(|error| pyo3::exceptions::PyValueError::new_err(error.to_string()))
    }

    /// The timeline as a page for a browser; nothing where the schedule cannot run.
    fn html(&self, py: Python<'_>) -> PyResult<Option<String>> {
        py.detach(|| {
            let picture = Picture::of(&self.model, &self.schedule, &self.verdict);
            picture.map(|picture| page(&[picture])).transpose()
        })
        .map_err(|error| pyo3::exceptions::PyValueError::new_err(error.to_string()))
    }
}

impl NativeReplayed {
    fn end(&self, pass: bubbleproof::model::Pass, start: Ticks) -> i64 {
        replay::end_of(&self.model, &self.schedule, pass, start).0
    }
}
