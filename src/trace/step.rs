//! What a stage does before and after its passes, in time.

use serde::{Deserialize, Serialize};

use crate::model::{Stage, Ticks};

/// What a stage does once in a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StepWork {
    /// Its replicas gather its parameters, before its first pass.
    Gather,
    /// The reduction of the gradients that a tensor-parallel group shares, such as those of layer norms.
    Tensor,
    /// The reduction of the gradients of an embedding that the first and the last stage share.
    Embedding,
    /// The reduction of its gradients over the replicas of the pipeline.
    Reduce,
    /// The norm of all gradients, for which stages wait for each other, and clipping.
    Norm,
    /// Its optimiser step.
    Optimizer,
}

impl StepWork {
    /// All of them, in the order in which they come in a step.
    pub const ALL: [Self; 6] =
        [Self::Gather, Self::Tensor, Self::Embedding, Self::Reduce, Self::Norm, Self::Optimizer];
}

impl std::fmt::Display for StepWork {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(match self {
            Self::Gather => "all-gather",
            Self::Tensor => "tensor-parallel reduction",
            Self::Embedding => "reduction of embeddings",
            Self::Reduce => "reduction",
            Self::Norm => "norm of gradients",
            Self::Optimizer => "optimiser step",
        })
    }
}

/// One of these parts of a step in time.
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
