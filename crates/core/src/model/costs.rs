//! The durations and the memory of passes.

use super::{Ticks, Units};

/// Durations of the passes of every stage and latencies between stages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Costs {
    /// The name of the unit of a tick: `us`, `ns`, `tick`.
    pub unit: String,
    /// Duration of F, one per stage; also of R, unless the model [says otherwise](super::Recompute).
    pub forward: Vec<Ticks>,
    /// Duration of I, one per stage.
    pub backward_input: Vec<Ticks>,
    /// Duration of W, one per stage. B takes as long as I and W together.
    pub backward_weight: Vec<Ticks>,
    /// Latency between stage `s` and `s+1`, in either direction, one per boundary (S-1 values).
    /// It counts only where the two stages lie on different devices.
    pub communication: Vec<Ticks>,
}

impl Costs {
    /// The nanoseconds of a tick, if its unit is `ns`, `us`, `ms` or `s`.
    #[must_use]
    pub fn nanoseconds_per_tick(&self) -> Option<i64> {
        match self.unit.as_str() {
            "ns" => Some(1),
            "us" => Some(1_000),
            "ms" => Some(1_000_000),
            "s" => Some(1_000_000_000),
            _ => None,
        }
    }
}

/// The memory of passes and weights, and the capacities of devices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Memory {
    /// The name of the unit of memory: `stage-activation`, `byte`.
    pub unit: String,
    /// The memory that one microbatch occupies on a stage from the start of its F to the end of its backward,
    /// one per stage.
    pub activation: Vec<Units>,
    /// What I leaves for its W and is freed only at the end of W, one per stage. Up to `activation` it is a part of that; more
    /// is what I acquires at its start.
    pub retained_for_weight: Vec<Units>,
    /// What remains of the activation after F if R recomputes it at the first [level](super::Recompute), one per stage; `None`
    /// if the model has no `[recompute]` table.
    pub checkpoint: Option<Vec<Units>>,
    /// The memory that a stage occupies permanently, one per stage: weights, gradients, optimiser state.
    pub weights: Vec<Units>,
    /// The capacity of each device, weights included; `None` if it has no limit.
    pub capacity: Vec<Option<Units>>,
}
