//! The extension module `bubbleproof._native`.
//!
//! It has what Python cannot do as well: reading, searching, replay, checking. Classes here are thin: each holds a value of the
//! library and hands out what it says as plain Python objects, in ticks and units. The package around it (`python/bubbleproof`)
//! gives them names, defaults, documentation and errors.

mod column;
mod error;
mod job;
mod model;
mod replayed;
mod schedule;
mod search;
mod solution;

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs the command-line tool with these arguments, the first of which is its own name, and returns its exit status.
#[pyfunction]
fn tool(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| bubbleproof::cli::status(arguments))
}

/// The text of a TOML file with the tables of a JSON object.
#[pyfunction]
fn toml(py: Python<'_>, json: &str) -> PyResult<String> {
    let wrong = |error: &dyn std::fmt::Display| error::raise(py, error::Class::Value, &error.to_string(), None);
    let tables: ::toml::Table = serde_json::from_str(json).map_err(|error| wrong(&error))?;
    ::toml::to_string(&tables).map_err(|error| wrong(&error))
}

#[pymodule]
mod _native {
    #[pymodule_export]
    use super::job::{NativeJob, NativePlan, plan_job};
    #[pymodule_export]
    use super::model::NativeModel;
    #[pymodule_export]
    use super::replayed::{NativeReplayed, replay_schedule};
    #[pymodule_export]
    use super::schedule::{NativeSchedule, check_schedule, named_schedule, named_schedules};
    #[pymodule_export]
    use super::solution::{NativeSolution, optimize_model};
    #[pymodule_export]
    use super::{tool, toml};

    /// The version of the package, which is that of the library.
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
