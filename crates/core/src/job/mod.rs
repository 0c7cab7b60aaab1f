//! Jobs: a model of layers, a machine, and what may be chosen; and what follows from a choice.
//!
//! A [`Job`] states the layers of a model with what they cost, the machine, and the choices that are open. A
//! [`Choice`] of parallel degrees, placement and memory saving leaves [`Layers`]: a pipeline whose layers have not been
//! distributed yet. A [`Cut`] distributes them and gives a [`Model`](crate::model::Model). Nothing here searches.
//!
//! ```
//! use bubbleproof_core::job::{self, Cut};
//!
//! let job = job::parse(
//!     r#"
//!     name = "small"
//!     layers = ["embedding", "6 block", "head"]
//!     [layer.embedding]
//!     forward = "0.1 ms"
//!     backward_input = "0 ms"
//!     backward_weight = "0.2 ms"
//!     [layer.block]
//!     forward = "3.27 ms"
//!     backward_input = "3.41 ms"
//!     backward_weight = "2.9 ms"
//!     [layer.head]
//!     forward = "5 ms"
//!     backward_input = "5 ms"
//!     backward_weight = "5 ms"
//!     [machine]
//!     devices = 2
//!     latency = "0.21 ms"
//!     [choices]
//!     global_batch = 8
//!     pipeline = 2
//!     "#,
//! )?;
//! let choice = &job.choices()?[0];
//! let layers = job.layers(choice)?;
//! let model = layers.model(&Cut::new(vec![5, 3]))?;
//! assert_eq!(model.costs().forward[1].0, 2 * 3_270_000 + 5_000_000);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod amounts;
mod choice;
mod cut;
mod file;
mod layers;
mod machine;

pub use choice::{Choice, ChoiceError, ChoicePlacement, NoPlacement, Saving, Undivided};
pub use cut::{Cut, CutError};
pub use file::{LayersError, MOST_LAYERS, layers, parse};
pub use layers::{Atom, Layers};
pub use machine::{Choices, Machine, Network};

use std::collections::BTreeMap;

use num_rational::Ratio;

/// A model of layers, a machine, and what may be chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// What it is called.
    pub name: String,
    /// Where its figures come from.
    pub source: Option<String>,
    /// Whether its costs are an estimate rather than measured.
    pub is_estimate: bool,
    /// The name of the unit of its times: `ns`, or `tick` where times have no unit.
    pub time_unit: String,
    /// The name of the unit of its memory: `byte`, or `unit` where amounts have none.
    pub memory_unit: String,
    /// The kinds of layers in order, each as often as it occurs.
    pub layers: Vec<String>,
    /// What layers cost, by the tensor-parallel degree and microbatch size for which it holds.
    pub profiles: BTreeMap<(u32, u32), Profile>,
    /// The machine.
    pub machine: Machine,
    /// What may be chosen.
    pub choices: Choices,
}

/// What the kinds of layers cost on one rank at one tensor-parallel degree and microbatch size.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Profile {
    /// By kind of layer.
    pub layers: BTreeMap<String, LayerCost>,
}

/// What one layer costs for one microbatch. Times in ticks, memory in units.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LayerCost {
    /// Duration of F.
    pub forward: i64,
    /// Duration of I.
    pub backward_input: i64,
    /// Duration of W.
    pub backward_weight: i64,
    /// Duration of R; that of F where it is not stated.
    pub recompute: Option<i64>,
    /// What F keeps for the backward.
    pub activation: i64,
    /// What I leaves for W; the activation where it is not stated.
    pub retained_for_weight: Option<i64>,
    /// What F keeps if the layer is recomputed. Without it the layer cannot be.
    pub checkpoint: Option<i64>,
    /// What of the activation may go to the host.
    pub offload: i64,
    /// What it occupies permanently.
    pub weights: i64,
    /// What of the optimiser's state it occupies, which replicas can share.
    pub optimizer_state: i64,
    /// What its gradients take when they are reduced over the replicas.
    pub gradients: i64,
    /// Duration of its optimiser step.
    pub optimizer: i64,
    /// What it sends to the next stage if a cut follows it.
    pub output: i64,
    /// Floating-point operations of F, I and W together, over all ranks of the tensor-parallel group. Exact, for utilisation.
    pub operations: Ratio<i128>,
}
