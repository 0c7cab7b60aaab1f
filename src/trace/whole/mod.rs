//! A whole step: all replicas of a pipeline, from the first all-gather to the last optimiser step.
//!
//! Replay of a schedule ends with its passes. A step that was measured also gathers parameters, reduces gradients and runs
//! optimisers, and in these parts replicas and stages wait for each other. A [`Step`] is one iteration of all
//! [`Replicas`], as tasks: passes, and the works of the step. A task starts once every task before it has ended, what
//! messages and launches take between the two is over, and, for a collective, all that take part have arrived. [`Times`]
//! says how long everything took. With what was measured, [`Step::run`] gives every measured end back, to the nanosecond;
//! with other times it says how long the step would have taken.
//!
//! - [`Typical`] has medians of several iterations, to [predict](predict()) another one.
//! - [`levelled`](Step::levelled) gives every task the same time as its like.
//! - [`loss`](super::loss) says what a step lost to what.
//!
//! The rules of this execution are those of [`Step::of`]. It shares no code with replay: measured orders, launch gaps and
//! several replicas are nothing that replay knows.

mod predict;
mod tasks;
mod times;
mod typical;

pub use self::predict::{Basis, Instants, predict};
pub use self::tasks::Step;
pub use self::times::{Edge, Level, Timed, Times};
pub use self::typical::{Durations, Typical, Waits};

use std::fmt;

use super::fit::paired;
use super::matching::{Finding, findings};
use super::{StepWork, Trace};
use crate::model::{Device, Pass, Stage};

/// Replicas of one pipeline that ran side by side, with one clock for all.
#[derive(Debug, Clone)]
pub struct Replicas<'a> {
    traces: Vec<&'a Trace>,
}

/// Why traces are no replicas whose steps can be executed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReplicasError {
    /// No trace.
    #[error("there is no trace")]
    NoTrace,
    /// A trace of another pipeline.
    #[error(
        "replica {replica} has another placement, or another number of microbatches, than replica 0: they are not replicas of one pipeline"
    )]
    Pipelines {
        /// Which replica, from 0.
        replica: usize,
    },
    /// A trace of another run.
    #[error(
        "replica {replica} has {found} iterations, and replica 0 has {expected}: they are not replicas of one run"
    )]
    Iterations {
        /// Which replica, from 0.
        replica: usize,
        /// How many iterations it has.
        found: usize,
        /// How many replica 0 has.
        expected: usize,
    },
    /// A trace of another machine.
    #[error("replica {replica} ran on another machine, or another kind of device, than replica 0")]
    Machines {
        /// Which replica, from 0.
        replica: usize,
    },
    /// A work that some ended before all that take part had begun it.
    #[error(
        "iteration {iteration}: the {task} ended before all participants had begun it: they ran at different times, or their clocks differ"
    )]
    Apart {
        /// The iteration, from 0.
        iteration: usize,
        /// What ended first.
        task: Task,
    },
    /// Replicas that did nothing together.
    #[error(
        "no recorded operation joins replica {replica} with replica 0, so they may not have run side by side"
    )]
    Separate {
        /// Which replica, from 0.
        replica: usize,
    },
    /// Pairs of passes that overlap on their device.
    #[error("replica {replica}: the schedule overlaps pairs of passes, which take no time of their own")]
    Pairs {
        /// Which replica, from 0.
        replica: usize,
    },
    /// Passes that did not run once each, on their own device.
    #[error("replica {replica}: {finding}")]
    Foreign {
        /// Which replica, from 0.
        replica: usize,
        /// What was wrong.
        finding: Finding,
    },
    /// Tasks that wait for each other by what was measured.
    #[error(
        "iteration {iteration}: by the order in which they were measured, tasks wait for each other, `{task}` among them"
    )]
    Circle {
        /// The iteration, from 0.
        iteration: usize,
        /// One of the tasks.
        task: Task,
    },
}

/// A pass, or a work of the step, of one replica.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Task {
    /// The replica, from 0.
    pub replica: usize,
    /// What it does.
    pub what: What,
}

/// What a task does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum What {
    /// A pass.
    Pass(Pass),
    /// A work of the step.
    Work {
        /// Which.
        work: StepWork,
        /// The stage that it is for.
        stage: Stage,
        /// Of several of the same stage, which in the order of time, from 0.
        nth: usize,
    },
}

impl What {
    /// The stage that it is for.
    #[must_use]
    pub const fn stage(self) -> Stage {
        match self {
            Self::Pass(pass) => pass.stage,
            Self::Work { stage, .. } => stage,
        }
    }
}

impl fmt::Display for Task {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.what {
            What::Pass(pass) => write!(out, "{pass} of replica {}", self.replica),
            What::Work { work, stage, .. } => {
                write!(out, "{work} of stage {stage} of replica {}", self.replica)
            }
        }
    }
}

impl<'a> Replicas<'a> {
    /// Replicas of one run, the first being replica 0.
    ///
    /// # Errors
    /// When there is none, when they are of different pipelines, machines or numbers of iterations, or when passes are missing, ran
    /// twice, on another device, or in pairs.
    pub fn of(traces: impl IntoIterator<Item = &'a Trace>) -> Result<Self, ReplicasError> {
        let traces: Vec<&Trace> = traces.into_iter().collect();
        let first = *traces.first().ok_or(ReplicasError::NoTrace)?;
        for (replica, trace) in traces.iter().enumerate() {
            let pipeline =
                |trace: &Trace| (trace.schedule.placement().clone(), trace.schedule.microbatches());
            if pipeline(trace) != pipeline(first) {
                return Err(ReplicasError::Pipelines { replica });
            }
            if trace.origin != first.origin || !trace.machine.is_like(&first.machine) {
                return Err(ReplicasError::Machines { replica });
            }
            let [found, expected] = [trace, first].map(|trace| trace.iterations.len());
            if found != expected {
                return Err(ReplicasError::Iterations { replica, found, expected });
            }
            if !paired(trace).is_empty() {
                return Err(ReplicasError::Pairs { replica });
            }
            // Passes run in the order that was measured here; which that is does not matter.
            let harmless =
                |finding: &Finding| matches!(finding, Finding::OutOfOrder { .. } | Finding::Overlap { .. });
            if let Some(finding) = findings(trace).into_iter().find(|finding| !harmless(finding)) {
                return Err(ReplicasError::Foreign { replica, finding });
            }
        }
        Ok(Self { traces })
    }

    /// How many replicas there are: at least one.
    #[must_use]
    pub fn count(&self) -> usize {
        self.traces.len()
    }

    /// How many iterations each of them has: at least one.
    #[must_use]
    pub fn iterations(&self) -> usize {
        self.traces[0].iterations.len()
    }

    /// By replica: its trace.
    #[must_use]
    pub fn traces(&self) -> &[&'a Trace] {
        &self.traces
    }

    /// All iterations, as steps with their times.
    ///
    /// # Errors
    /// As [`Step::of`].
    pub fn steps(&self) -> Result<Vec<(Step, Times)>, ReplicasError> {
        (0..self.iterations()).map(|iteration| Step::of(self, iteration)).collect()
    }

    /// The devices of the pipeline.
    pub fn devices(&self) -> impl Iterator<Item = Device> + use<> {
        Device::all(self.traces[0].schedule.devices())
    }

    /// Its stages.
    pub fn stages(&self) -> impl Iterator<Item = Stage> + use<> {
        Stage::all(self.traces[0].schedule.placement().stages())
    }
}

#[cfg(test)]
mod tests;
