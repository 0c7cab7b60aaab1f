//! What a fitted model leaves open.

use crate::model::{Model, Stage, Ticks, Units};
use crate::trace::whole::ReplicasError;
use crate::trace::{Sizes, Trace};

/// What a fitted model does not say, or says without having seen it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Note {
    /// Stages whose backward ran as one.
    #[error(
        "the backward of {} ran as one pass (B): the model has all of it as the input gradient and none as the weight gradient, so it says nothing about schedules that split it",
        listed(.0)
    )]
    Fused(Vec<Stage>),
    /// No samples of memory.
    #[error("no trace has samples of memory: the model counts activations of stages")]
    NoMemory,
    /// Samples that contradict the split of an activation.
    #[error("{}", self.in_words(in_ns, in_bytes))]
    Unbalanced {
        /// The stage.
        stage: Stage,
        /// The median of what F acquires.
        acquired: Units,
        /// The median of what its backward releases.
        released: Units,
    },
    /// Stages that no trace recomputes at a level at which others are recomputed.
    #[error(
        "no trace recomputes {}{}: in the model they keep everything, and R takes as long as F",
        listed(.stages),
        if *.level == 0 { String::new() } else { format!(" at level {level}") }
    )]
    NotRecomputed {
        /// The level, counted from 0.
        level: usize,
        /// The stages.
        stages: Vec<Stage>,
    },
    /// Nothing that shows a latency.
    #[error("no measured latency after stage {0}; the model assumes none")]
    NoLatency(Stage),
    /// Clocks that disagree, or passes that read what was not there.
    #[error("{}", self.in_words(in_ns, in_bytes))]
    Backwards {
        /// The stage.
        stage: Stage,
        /// By how much.
        by: Ticks,
    },
    /// How long messages keep links busy, and what shows it.
    #[error(
        "`messages.occupancy` is how long copies of messages took, and `communication` the rest of the delay from pass to pass; {}. All messages over a boundary have one size, so the traces do not show what another size would occupy",
        shown_by(*.met, *.overlapped)
    )]
    Occupancy {
        /// How many messages were made while an earlier one was under way on their link.
        met: usize,
        /// After how many the next one on their link started before they had ended.
        overlapped: usize,
    },
    /// What the end of the step is made of.
    #[error("[step] has the times of {}{}", seen(*.reduce, *.optimizer, *.together), if *.gather { "; a model cannot contain the all-gathers" } else { "" })]
    Step {
        /// Whether reductions were recorded.
        reduce: bool,
        /// Whether optimiser steps were.
        optimizer: bool,
        /// Whether all-gathers were, which models do not have.
        gather: bool,
        /// Whether the traces are replicas of one run.
        together: bool,
    },
    /// Reductions count with all that they waited for.
    #[error("the times of the end of the step include waits for other stages and replicas: {0}")]
    StepWaits(ReplicasError),
    /// What the model leaves out, as the traces do not tell it.
    #[error("{}", self.in_words(in_ns, in_bytes))]
    Untold(Vec<Untold>),
}

/// A time in nanoseconds, as it is counted.
fn in_ns(ticks: Ticks) -> String {
    format!("{ticks} ns")
}

/// An amount of memory in bytes, as it is counted.
fn in_bytes(units: Units) -> String {
    format!("{units} bytes")
}

impl Note {
    /// Its text, with words for times, which are in nanoseconds, and for amounts of memory, which are in bytes.
    #[must_use]
    pub fn in_words(&self, time: impl Fn(Ticks) -> String, memory: impl Fn(Units) -> String) -> String {
        match self {
            Self::Unbalanced { stage, acquired, released } => format!(
                "stage {stage} released {} after acquiring {}: the samples miss a part",
                memory(*released),
                memory(*acquired)
            ),
            Self::Backwards { stage, by } => format!(
                "after stage {stage} the median message arrives {} before it is sent: the clocks disagree, and the model has \
                 no latency there",
                time(*by)
            ),
            Self::Untold(untold) => {
                let words: Vec<String> = untold.iter().map(|untold| untold.in_words(&memory)).collect();
                format!("the model leaves out what the traces do not show: {}", words.join("; "))
            }
            other => other.to_string(),
        }
    }

    /// Whether what is noted matters to how long a schedule takes under the model, or to what its passes hold, and not only
    /// to how the model is read.
    #[must_use]
    pub const fn concerns_predictions(&self) -> bool {
        !matches!(self, Self::Occupancy { .. } | Self::Step { .. } | Self::StepWaits(_) | Self::Untold(_))
    }
}

/// What models can say, and traces do not always tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Untold {
    /// For how long messages keep links busy.
    Messages,
    /// Which devices share a network card.
    Cards,
    /// The reduction of gradients.
    Reduce,
    /// The optimiser step.
    Optimizer,
    /// The buffers of messages. Samples of memory are of activations, not of buffers.
    Buffers {
        /// The bytes of a message by the sizes of the network, where those are known.
        message: Option<i64>,
    },
    /// What passes need while they run: nothing that was sampled shows it.
    Workspace,
}

impl Untold {
    fn in_words(self, memory: impl Fn(Units) -> String) -> String {
        let words = match self {
            Self::Messages => "how long messages keep links busy ([messages])",
            Self::Cards => "whether devices share a network card (`messages.nodes`)",
            Self::Reduce => "gradient reductions (`step.reduce`)",
            Self::Optimizer => "optimiser steps (`step.optimizer`)",
            Self::Workspace => "what passes need only while they run (`memory.workspace`)",
            Self::Buffers { message: None } => "buffers of messages (`memory.receive`)",
            Self::Buffers { message: Some(bytes) } => {
                return format!(
                    "buffers of messages (`memory.receive`; one is {} by the sizes of the network)",
                    memory(Units(bytes))
                );
            }
        };
        words.to_owned()
    }
}

impl std::fmt::Display for Untold {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.in_words(in_bytes))
    }
}

/// What a model fitted to traces leaves out. Of `recorded`, the first says whether there are times of messages, the second
/// whether there are samples of memory.
pub(super) fn untold(first: &Trace, model: &Model, recorded: (bool, bool)) -> Option<Note> {
    let (messages, memory) = recorded;
    let mut found = Vec::new();
    if model.devices() > 1 {
        found.push(if messages { Untold::Cards } else { Untold::Messages });
    }
    let takes = |of: fn(&crate::model::StepEnd) -> &Vec<Ticks>| {
        model.step().is_some_and(|step| of(step).iter().any(|&ticks| ticks > Ticks::ZERO))
    };
    if !takes(|step| &step.reduce) {
        found.push(Untold::Reduce);
    }
    if !takes(|step| &step.optimizer) {
        found.push(Untold::Optimizer);
    }
    if model.devices() > 1 {
        found.push(Untold::Buffers { message: first.sizes.as_ref().and_then(bytes_of_a_message) });
    }
    if memory && !model.has_workspace() {
        found.push(Untold::Workspace);
    }
    (!found.is_empty()).then_some(Note::Untold(found))
}

/// The activations of a microbatch between two blocks, in bytes; nothing for a type of numbers that is not known.
fn bytes_of_a_message(sizes: &Sizes) -> Option<i64> {
    let number = match sizes.dtype.as_str() {
        "float64" => 8,
        "float32" => 4,
        "float16" | "bfloat16" => 2,
        _ => return None,
    };
    let factors = [sizes.microbatch_size, sizes.sequence, sizes.hidden];
    factors.into_iter().try_fold(number, |product: i64, factor| product.checked_mul(i64::from(factor)))
}

/// In words, what shows that copies keep links busy.
fn shown_by(met: usize, overlapped: usize) -> String {
    let messages = |count: usize, one: &str, more: &str| match count {
        1 => format!("1 message {one}"),
        _ => format!("{count} messages {more}"),
    };
    match (met, overlapped) {
        (0, 0) => {
            "no message was made while another one was on its link, so the traces do not show whether a \
                   copy keeps the link busy until its end: this is the most that it can be"
                .to_owned()
        }
        (met, 0) => format!(
            "{} made while another one was on its link, and none started before that had ended",
            messages(met, "was", "were")
        ),
        (_, overlapped) => format!(
            "{} before another one on its link had ended, so the occupancy is no more than the time between their starts",
            messages(overlapped, "started", "started")
        ),
    }
}

/// What the end of the step has, in words.
fn seen(reduce: bool, optimizer: bool, together: bool) -> &'static str {
    match (reduce, optimizer) {
        (true, true) if together => "reductions and of optimiser steps",
        (true, false) if together => "reductions",
        (true, true) => {
            "reductions, in which they may have waited for other replicas, and of optimiser steps"
        }
        (true, false) => "reductions, in which they may have waited for other replicas",
        (false, _) => "optimiser steps",
    }
}

/// Stages in words.
fn listed(stages: &[Stage]) -> String {
    let numbers: Vec<String> = stages.iter().map(ToString::to_string).collect();
    format!("stage{} {}", if numbers.len() == 1 { "" } else { "s" }, numbers.join(", "))
}
