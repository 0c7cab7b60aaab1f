//! The end of a training step: what is left to do once a stage has run its last backward.

use std::fmt;

use super::{Model, ModelError, Ticks};

/// What follows the last backward of each stage: the reduction of its gradients over the replicas of the pipeline, and
/// its optimiser step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepEnd {
    /// How long the collective stream of its device reduces the gradients of a stage, one per stage.
    pub reduce: Vec<Ticks>,
    /// How long the optimiser step of a stage takes on its device, one per stage.
    pub optimizer: Vec<Ticks>,
}

impl StepEnd {
    /// The two lists: their key in model files, and the values.
    pub(crate) const fn lists(&self) -> [(&'static str, &Vec<Ticks>); 2] {
        [("step.reduce", &self.reduce), ("step.optimizer", &self.optimizer)]
    }

    /// Whether some reduction or some optimiser step takes time.
    #[must_use]
    pub fn takes_time(&self) -> bool {
        self.reduce.iter().chain(&self.optimizer).any(|&ticks| ticks > Ticks::ZERO)
    }
}

impl Model {
    /// The same pipeline with this end of the step, or without one.
    ///
    /// # Errors
    /// When a list has not one value for each stage, a time is negative, or the whole could overflow.
    pub fn with_step(&self, step: Option<StepEnd>) -> Result<Self, ModelError> {
        Self { step, ..self.clone() }.checked()
    }

    /// What follows the last backward of each stage; `None` if the model has no `[step]` table. Then a schedule ends with
    /// its passes.
    #[must_use]
    pub const fn step(&self) -> Option<&StepEnd> {
        self.step.as_ref()
    }

    /// The tables by which the model says more than what passes take and when their results arrive; `None` where it says
    /// no more. A table that changes no time does not count.
    ///
    /// A search or a proof that knows passes and latencies alone has to refuse a model that has such tables.
    #[must_use]
    pub fn beyond_passes(&self) -> Option<BeyondPasses> {
        let has_step = self.step().is_some_and(StepEnd::takes_time);
        let all = [
            ("[overlap]", self.has_cheaper_pairs()),
            ("[messages]", self.has_busy_links()),
            ("[step]", has_step),
            ("[offload]", self.can_offload()),
            ("[sharding]", self.has_gathers() || self.has_gathered_memory()),
            ("`memory.workspace`", self.has_workspace()),
            ("`memory.receive`", self.has_buffers()),
            ("`memory.retained_for_weight` above `memory.activation`", self.has_growth()),
            ("several levels of [recompute]", self.recompute_levels() > 1),
            ("`recompute.fused`", self.recomputes_in_backward()),
        ];
        let tables: Vec<&str> =
            all.into_iter().filter_map(|(table, counts)| counts.then_some(table)).collect();
        (!tables.is_empty()).then_some(BeyondPasses(tables))
    }
}

/// Tables of a model that say more than what passes take and when their results arrive. It is written as a list of their
/// names: `[overlap]`, or `[overlap] and [step]`, or `[overlap], [messages] and [step]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BeyondPasses(Vec<&'static str>);

impl BeyondPasses {
    /// The tables, as they are headed in a model file. There is at least one.
    #[must_use]
    pub fn tables(&self) -> &[&'static str] {
        &self.0
    }
}

impl fmt::Display for BeyondPasses {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.split_last() {
            Some((last, others)) if !others.is_empty() => write!(out, "{} and {last}", others.join(", ")),
            _ => out.write_str(&self.0.concat()),
        }
    }
}
