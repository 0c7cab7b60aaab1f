//! What follows the passes of a stage, in time.

use serde::{Deserialize, Serialize};

use crate::model::{Stage, Ticks};

/// What follows the last backward of a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StepWork {
    /// The reduction of its gradients over the replicas of the pipeline.
    Reduce,
    /// Its optimiser step.
    Optimizer,
}

impl std::fmt::Display for StepWork {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(match self {
            Self::Reduce => "reduction",
            Self::Optimizer => "optimiser step",
        })
    }
}

/// A part of the end of the step in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepSpan {
    /// What ran.
    pub work: StepWork,
    /// The stage that it was for.
    pub stage: Stage,
    /// When it began.
    pub start: Ticks,
    /// When it ended.
    pub end: Ticks,
}
