//! The extension module `bubbleproof._native`.
//!
//! It has what Python cannot do as well: reading, searching, replay, checking. Classes here are thin: each holds a value of the
//! library and hands out what it says as plain Python objects, in ticks and units. The package around it (`python/bubbleproof`)
//! gives them names, defaults, documentation and errors.

mod block;
mod column;
mod error;
mod every_m;
mod family;
mod job;
mod model;
mod profile;
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
    let wrong =
        |error: &dyn std::fmt::Display| error::raise(py, error::Class::Value, &error.to_string(), None);
    let tables: ::toml::Table = serde_json::from_str(json).map_err(|error| wrong(&error))?;
    ::toml::to_string(&tables).map_err(|error| wrong(&error))
}

/// Ticks of this unit with four digits, as people read them.
#[pyfunction]
fn shown_time(ticks: i64, unit: &str) -> String {
    bubbleproof::amounts::time(ticks, unit)
}

/// Units of memory with four digits, as people read them.
#[pyfunction]
fn shown_memory(units: i64, unit: &str) -> String {
    bubbleproof::amounts::memory(units, unit)
}

#[pymodule]
mod _native {
    #[pymodule_export]
    use super::block::{NativeBlock, NativeBlockAnswer, best_block, block_frontier};
    #[pymodule_export]
    use super::every_m::{every_m_of_copies, every_m_of_orders};
    #[pymodule_export]
    use super::family::NativeFamily;
    #[pymodule_export]
    use super::job::{NativeJob, NativePlan, build, merge_stores, plan_job};
    #[pymodule_export]
    use super::model::NativeModel;
    #[pymodule_export]
    use super::profile::{fit_recordings, fit_traces};
    #[pymodule_export]
    use super::replayed::{NativeReplayed, replay_schedule};
    #[pymodule_export]
    use super::schedule::{NativeSchedule, check_schedule, named_schedule, named_schedules};
    #[pymodule_export]
    use super::solution::{NativeSolution, optimize_model};
    #[pymodule_export]
    use super::{shown_memory, shown_time, toml, tool};

    /// The version of the package, which is that of the library.
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
