//! What a fitted model leaves open.

use crate::model::{Stage, Ticks, Units};

/// What a fitted model does not say, or says without having seen it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Note {
    /// Stages whose backward ran as one.
    #[error(
        "the backward of {} ran as one pass (B): the model has all of it as the input gradient and none as the weight gradient, so it says nothing of schedules that split it",
        listed(.0)
    )]
    Fused(Vec<Stage>),
    /// No samples of memory.
    #[error("no trace has samples of memory: the model counts activations of stages")]
    NoMemory,
    /// Samples that contradict the split of an activation.
    #[error("stage {stage} released {released} bytes after acquiring {acquired}: the samples miss a part")]
    Unbalanced {
        /// The stage.
        stage: Stage,
        /// The median of what F acquires.
        acquired: Units,
        /// The median of what its backward releases.
        released: Units,
    },
    /// Nothing that shows a latency.
    #[error("no measured latency after stage {0}; the model assumes none")]
    NoLatency(Stage),
    /// Clocks that disagree, or passes that read what was not there.
    #[error(
        "after stage {stage} the median message arrives {by} ns before it is sent: the clocks disagree, and the model has no latency there"
    )]
    Backwards {
        /// The stage.
        stage: Stage,
        /// By how much.
        by: Ticks,
    },
}

/// Stages in words.
fn listed(stages: &[Stage]) -> String {
    let numbers: Vec<String> = stages.iter().map(ToString::to_string).collect();
    format!("stage{} {}", if numbers.len() == 1 { "" } else { "s" }, numbers.join(", "))
}
