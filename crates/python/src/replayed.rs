//! What replay says of a schedule, and of the sends and receives of a file.

use bubbleproof::amounts;
use bubbleproof::analysis::steady_interval;
use bubbleproof::comm::{self, Action, CommunicationPlan, Ending, PlanViolation, Semantics};
use bubbleproof::draw::{Picture, Svg, page};
use bubbleproof::model::{Device, Model, Ticks};
use bubbleproof::optimize::explain::gains;
use bubbleproof::replay::{self, Rate, Verdict, memory_along};
use bubbleproof::schedule::{Place, Schedule};
use bubbleproof::stop::Stop;
use num_rational::Ratio;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::column::wide;
use crate::model::NativeModel;
use crate::schedule::NativeSchedule;

/// A model, a schedule, and what replay says of the two.
#[pyclass(frozen, module = "bubbleproof._native")]
#[derive(Debug)]
pub struct NativeReplayed {
    pub model: Model,
    pub schedule: Schedule,
    pub verdict: Verdict,
    /// The sends and receives that come with the schedule, and what is wrong with them.
    communication: Option<(CommunicationPlan, Vec<PlanViolation>)>,
}

/// Replays a schedule under a model, and verifies the sends and receives that come with it.
#[pyfunction]
pub fn replay_schedule(py: Python<'_>, model: &NativeModel, schedule: &NativeSchedule) -> NativeReplayed {
    let (model, NativeSchedule { schedule, plan }) = (model.model.clone(), schedule);
    py.detach(|| {
        let verdict = replay::replay(&model, schedule);
        let communication = plan.clone().map(|plan| {
            let faults = comm::verify(&plan);
            (plan, faults)
        });
        NativeReplayed { communication, ..NativeReplayed::new(model, schedule.clone(), verdict) }
    })
}

/// For a kind of messages, its name, and who waits for what for ever where the plan does not end.
type Behaviour = (&'static str, Option<String>);

/// Starts and ends, column by column.
type Times<'py> = [Bound<'py, PyBytes>; 2];

/// A ratio of Python integers.
pub fn ratio<T: Copy + Into<i128>>(of: Ratio<T>) -> (i128, i128) {
    ((*of.numer()).into(), (*of.denom()).into())
}

#[pymethods]
impl NativeReplayed {
    #[getter]
    fn is_valid(&self) -> bool {
        self.verdict.is_valid() && self.faults().is_empty()
    }

    /// What is wrong, each as its rule, its sentence, and its device, position among the passes, pass and position among all actions
    /// where it has them.
    fn violations<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let unit = &self.model.memory().unit;
        let object = |rule: &str, message: String, device: Option<Device>| {
            let object = PyDict::new(py);
            object.set_item("rule", rule)?;
            object.set_item("message", message)?;
            object.set_item("device", device.map(|device| device.0))?;
            PyResult::Ok(object)
        };
        let of_pass = |violation: &replay::Violation| {
            let message = violation.in_words(|units| amounts::amount(units.0, unit));
            let object = object(violation.rule(), message, violation.device())?;
            object.set_item("position", violation.place().map(|place| place.position))?;
            object.set_item("pass", violation.pass().map(|pass| pass.to_string()))?;
            object.set_item("action", None::<usize>)?;
            Ok(object)
        };
        let of_action = |fault: &PlanViolation| {
            let object = object(fault.rule(), fault.to_string(), fault.device())?;
            object.set_item("position", None::<usize>)?;
            object.set_item("pass", None::<String>)?;
            object.set_item("action", fault.place().map(|place: Place| place.position))?;
            Ok(object)
        };
        let of_passes = self.verdict.violations.iter().map(of_pass);
        of_passes.chain(self.faults().iter().map(of_action)).collect()
    }

    /// How many messages are sent, and how they end under each semantics; nothing where the schedule came without messages.
    #[getter]
    fn communication(&self) -> Option<(usize, Vec<Behaviour>)> {
        let (plan, _) = self.communication.as_ref()?;
        let messages = plan.actions().filter(|(_, action)| matches!(action, Action::Send(_))).count();
        let behaviour = |semantics| {
            let waits = match comm::ending(plan, semantics) {
                Ending::Ends if self.verdict.timing.is_some() => None,
                Ending::Ends => Some("the passes by themselves cannot run".to_owned()),
                other => Some(other.to_string()),
            };
            (semantics.name(), waits)
        };
        Some((messages, Semantics::ALL.into_iter().map(behaviour).collect()))
    }

    /// What each change could gain at most, the largest gain first: its name, what no schedule is below after it, and how many ticks
    /// shorter than this one a schedule can be. Nothing where the schedule cannot run.
    fn gains(&self, py: Python<'_>, bound: i64) -> Option<Vec<(&'static str, i64, i64)>> {
        let makespan = self.verdict.timing.as_ref()?.metrics.makespan;
        let gains = py.detach(|| gains(&self.model, makespan, Ticks(bound), &Stop::default()));
        Some(gains.into_iter().map(|gain| (gain.change.name(), gain.bound.0, gain.most.0)).collect())
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

    /// The starts and the ends of all passes in ticks, in the order of the schedule's, as 64-bit integers; nothing where the schedule
    /// cannot run.
    fn starts_and_ends<'py>(&self, py: Python<'py>) -> Option<Times<'py>> {
        let starts = &self.verdict.timing.as_ref()?.starts;
        let starts = || starts.iter().flatten().copied();
        let passes = self.schedule.orders().iter().flatten();
        let ends = passes.zip(starts()).map(|(&pass, start)| self.end(pass, start));
        Some([wide(py, starts().map(|ticks| ticks.0)), wide(py, ends)])
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
    /// What replay says of a schedule without messages.
    pub const fn new(model: Model, schedule: Schedule, verdict: Verdict) -> Self {
        Self { model, schedule, verdict, communication: None }
    }

    fn faults(&self) -> &[PlanViolation] {
        self.communication.as_ref().map_or(&[], |(_, faults)| faults)
    }

    fn end(&self, pass: bubbleproof::model::Pass, start: Ticks) -> i64 {
        replay::end_of(&self.model, &self.schedule, pass, start).0
    }
}
