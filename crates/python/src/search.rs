//! Searches on a thread of their own, so that Python sees signals and progress meanwhile.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use bubbleproof::stop::{Interrupt, Stop};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

use crate::error::in_argument;

/// How often Python looks for signals.
const GLANCE: Duration = Duration::from_millis(50);

/// What is reported to Python while a search runs: what is being tried, the best so far, and what none is below.
#[derive(Debug, Clone)]
pub struct Report {
    pub step: String,
    pub best: Option<i64>,
    pub bound: Option<i64>,
}

/// What a search ended with.
#[derive(Debug)]
pub struct Ended<R> {
    /// What it found.
    pub found: R,
    /// Whether Ctrl-C ended it.
    pub is_interrupted: bool,
}

/// Searches within a time limit, without the lock of the interpreter. Python calls `watch` with every report.
///
/// Ctrl-C ends the search with the best that it has, and so does an error of `watch`, which is then raised. Ctrl-C again, while the
/// search ends, is raised as `KeyboardInterrupt`.
///
/// # Errors
/// Those of `watch`.
pub fn run<R: Send>(
    py: Python<'_>,
    limit: Option<Duration>,
    watch: Option<&Bound<'_, PyAny>>,
    search: impl FnOnce(&Stop, &mut dyn FnMut(Report)) -> R + Send,
) -> PyResult<Ended<R>> {
    let interrupt = Interrupt::default();
    let stop = Stop::on(interrupt.clone());
    let stop = limit.map_or_else(|| stop.clone(), |limit| stop.within(limit));
    let (sender, reports) = mpsc::channel::<Report>();
    // A receiver cannot be shared between threads, but the lock is given up by the thread that has it.
    let reports = std::sync::Mutex::new(reports);
    let next = || reports.lock().expect("no thread panics with it").recv_timeout(GLANCE);
    thread::scope(|scope| {
        let searching = scope.spawn(|| {
            let sender = sender;
            search(&stop, &mut |report| {
                // Nobody listens once the search is to end.
                _ = sender.send(report);
            })
        });
        let (mut failure, mut asked) = (None, false);
        loop {
            let seen = match py.detach(next) {
                Ok(report) => match watch.filter(|_| failure.is_none()) {
                    Some(watch) => watch.call1((report.step, report.best, report.bound)).map(drop),
                    None => Ok(()),
                },
                Err(RecvTimeoutError::Timeout) => Ok(()),
                Err(RecvTimeoutError::Disconnected) => break,
            };
            for result in [seen, py.check_signals()] {
                let Err(error) = result else { continue };
                interrupt.raise();
                if error.is_instance_of::<PyKeyboardInterrupt>(py) && !asked {
                    asked = true;
                } else {
                    failure.get_or_insert(error);
                }
            }
        }
        let found = py.detach(|| searching.join());
        // What panics there has to panic here: pyo3 raises it.
        let found = found.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        failure.map_or(Ok(Ended { found, is_interrupted: asked }), Err)
    })
}

/// A time limit in seconds.
///
/// # Errors
/// When it is no positive number.
pub fn limit(py: Python<'_>, seconds: Option<f64>) -> PyResult<Option<Duration>> {
    let limit = |seconds: f64| {
        let found = Some(seconds).filter(|&seconds| seconds > 0.0);
        found.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()).ok_or_else(|| {
            let message = format!("time_limit must be a positive number of seconds, but is {seconds}");
            in_argument(py, "time_limit", &message)
        })
    };
    seconds.map(limit).transpose()
}
