//! What passes take and what they hold.

use super::{Ticks, Units};

/// Durations of the passes of every stage and latencies between stages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Costs {
    /// What a tick is, for people: `us`, `ns`, `tick`.
    pub unit: String,
    /// Duration of F (and of R), one per stage.
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
    /// How many nanoseconds a tick is, where its unit is one of `ns`, `us`, `ms` and `s`.
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

/// What the passes hold in memory and how much of it there is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Memory {
    /// What a unit is, for people: `stage-activation`, `byte`.
    pub unit: String,
    /// What a microbatch holds of a stage between F and its backward, one per stage.
    pub activation: Vec<Units>,
    /// The part of `activation` that I leaves for W to release, one per stage.
    pub retained_for_weight: Vec<Units>,
    /// With recomputation: what F leaves when an R of the same microbatch follows, one per stage.
    pub checkpoint: Option<Vec<Units>>,
    /// What lies on the device of a stage all the time, one per stage: its weights, their gradients, the
    /// state of the optimiser.
    pub weights: Vec<Units>,
    /// The capacity of each device, weights included; `None` where there is none.
    pub capacity: Vec<Option<Units>>,
}
