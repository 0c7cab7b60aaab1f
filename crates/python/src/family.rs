//! Block families, and what is proved of them for every number of devices.

use std::time::Duration;

use bubbleproof::block::family::{self, Family, SHIPPED};
use bubbleproof::fault::Fault;
use bubbleproof::prove::{
    BubbleFreedom, FamilyVerdict, ProveError, SqueezedOrder, TheoremVerdict, Watched, verdict,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::block::NativeBlock;
use crate::error::{Class, in_file, raise};
use crate::model::NativeModel;
use crate::search::{self, Report};

/// A block family of the library, with the text of its file.
#[pyclass(frozen, module = "bubbleproof._native")]
#[derive(Debug)]
pub struct NativeFamily {
    family: Family,
    #[pyo3(get)]
    text: String,
}

fn wrong(py: Python<'_>, error: &dyn std::fmt::Display) -> PyErr {
    raise(py, Class::Value, &error.to_string(), None)
}

#[pymethods]
impl NativeFamily {
    /// Reads the text of a family file.
    #[staticmethod]
    fn parse(py: Python<'_>, text: &str, name: Option<&str>) -> PyResult<Self> {
        let family =
            family::parse(text).map_err(|error| in_file(py, name, text, Fault::of_family(&error), None))?;
        Ok(Self { family, text: text.to_owned() })
    }

    /// The names of the families that come with the package, with the texts of their files.
    #[staticmethod]
    fn shipped() -> Vec<(&'static str, &'static str)> {
        SHIPPED.to_vec()
    }

    #[getter]
    fn name(&self) -> &str {
        &self.family.name
    }

    /// For which numbers of devices there is a block.
    #[getter]
    fn domain(&self) -> String {
        self.family.domain.to_string()
    }

    #[getter]
    fn promises(&self) -> Vec<String> {
        self.family.promises.iter().map(ToString::to_string).collect()
    }

    /// The block for a number of devices.
    fn block(&self, py: Python<'_>, devices: u32) -> PyResult<NativeBlock> {
        let block = self.family.block(devices).map_err(|error| wrong(py, &error))?;
        let model = self.family.model(devices, 1).map_err(|error| wrong(py, &error))?;
        Ok(NativeBlock { block, model })
    }

    /// The model with the family's own durations.
    fn model(&self, py: Python<'_>, devices: u32, microbatches: u32) -> PyResult<NativeModel> {
        let model = self.family.model(devices, microbatches).map_err(|error| wrong(py, &error))?;
        Ok(NativeModel { model })
    }

    /// Decides every theorem of the family: each as its name, statement and status, with a counterexample or a reason.
    fn prove<'py>(
        &self,
        py: Python<'py>,
        time_limit: Option<f64>,
        watch: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Vec<Bound<'py, PyDict>>> {
        const FOR_EACH: Duration = Duration::from_secs(60);
        let limit = search::limit(py, time_limit)?;
        let decided = search::run(py, limit, watch, |stop, report| {
            verdict(&self.family, stop, limit.unwrap_or(FOR_EACH), |watched| {
                let step = match watched {
                    Watched::Theorem(theorem) => format!("proving {}", theorem.name),
                    Watched::SqueezedOrder => format!("squeezing {}", self.family.name),
                };
                report(Report { step, best: None, bound: None });
            })
        })?;
        let verdict = decided.found.map_err(|error| match error {
            ProveError::Unconfirmed { .. } | ProveError::NoControl { .. } | ProveError::Witness { .. } => {
                raise(py, Class::Defect, &error.to_string(), None)
            }
            error => wrong(py, &error),
        })?;
        self.lines(py, &verdict)
    }
}

impl NativeFamily {
    fn lines<'py>(&self, py: Python<'py>, verdict: &FamilyVerdict) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let line = |name: &str,
                    statement: &str,
                    status,
                    counterexample: Option<(u32, String)>,
                    reason: Option<String>| {
            let object = PyDict::new(py);
            object.set_item("name", name)?;
            object.set_item("statement", statement)?;
            object.set_item("status", status)?;
            object.set_item("devices", counterexample.as_ref().map(|(devices, _)| *devices))?;
            object.set_item("reason", counterexample.map(|(_, message)| message).or(reason))?;
            PyResult::Ok(object)
        };
        let mut lines = Vec::new();
        for decided in &verdict.decided {
            let (name, statement) = (&decided.theorem.name, &decided.theorem.statement);
            lines.push(match &decided.verdict {
                TheoremVerdict::Proved => line(name, statement, "proved", None, None)?,
                TheoremVerdict::Refuted(at) => {
                    line(name, statement, "refuted", Some((at.devices, at.violation.to_string())), None)?
                }
                TheoremVerdict::Unknown(reason) => {
                    line(name, statement, "unknown", None, Some(reason.to_string()))?
                }
                _ => line(name, statement, "unknown", None, None)?,
            });
        }
        let SqueezedOrder::Known(known) = &verdict.squeezed else { return Ok(lines) };
        for claim in &known.claims {
            let name = format!("{}.{}", self.family.name, claim.name);
            lines.push(line(&name, &claim.statement, "proved", None, None)?);
        }
        for (name, statement, freedom) in known.promises(&self.family) {
            lines.push(match freedom {
                BubbleFreedom::Proved => line(&name, &statement, "proved", None, None)?,
                BubbleFreedom::Refuted(slow) => {
                    line(&name, &statement, "refuted", Some((slow.devices, slow.to_string())), None)?
                }
                _ => line(&name, &statement, "unknown", None, None)?,
            });
        }
        Ok(lines)
    }
}
