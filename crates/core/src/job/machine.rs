//! The machine that a job runs on, and what may be chosen on it.

use num_rational::Ratio;

use super::ChoicePlacement;

/// What a machine has. Times in ticks, memory in units, bandwidths in units per tick.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Machine {
    /// How many devices there are in all, over which tensor, data and pipeline parallelism are spread.
    pub devices: u32,
    /// How many devices a node has; all of them where the job does not say.
    pub devices_per_node: u32,
    /// The memory of a device; `None` without a limit.
    pub memory: Option<i64>,
    /// What messages take within a node.
    pub near: Network,
    /// What messages take between nodes.
    pub far: Network,
    /// What copies to the host and back carry; `None` where activations stay.
    pub host_bandwidth: Option<Ratio<i128>>,
    /// The most floating-point operations per second of a device; for utilisation.
    pub peak: Option<Ratio<i128>>,
}

/// What a message takes: latency, and its size over the bandwidth.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Network {
    /// What every message takes, in ticks.
    pub latency: i64,
    /// What goes through in a tick, in units; `None` where size does not matter.
    pub bandwidth: Option<Ratio<i128>>,
}

impl Network {
    /// How long a message of this size takes, in ticks, rounded up.
    #[must_use]
    pub fn message(&self, units: i64) -> Option<i64> {
        self.latency.checked_add(self.transfer(Ratio::from_integer(i128::from(units)))?)
    }

    /// How long this many units take without latency, in ticks, rounded up; nothing when that does not fit 64 bits.
    #[must_use]
    pub fn transfer(&self, units: Ratio<i128>) -> Option<i64> {
        self.bandwidth.map_or(Some(0), |bandwidth| transfer(units, bandwidth))
    }
}

/// How long this many units take at this bandwidth, in ticks, rounded up.
pub(super) fn transfer(units: Ratio<i128>, bandwidth: Ratio<i128>) -> Option<i64> {
    i64::try_from((units / bandwidth).ceil().to_integer()).ok()
}

/// What may be chosen. Every list is ascending or in the order of the file, without duplicates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choices {
    /// How many samples a training step has.
    pub global_batch: u32,
    /// Pipeline-parallel degrees; nothing where every one that fits the machine may be taken.
    pub pipeline: Option<Vec<u32>>,
    /// Tensor-parallel degrees.
    pub tensor: Vec<u32>,
    /// Samples in a microbatch.
    pub microbatch_size: Vec<u32>,
    /// Placements of stages.
    pub placement: Vec<ChoicePlacement>,
    /// Whether passes may be recomputed.
    pub recompute: Vec<bool>,
    /// Whether activations may go to the host.
    pub offload: Vec<bool>,
    /// Whether the replicas of the pipeline share the state of the optimiser.
    pub shard_optimizer: bool,
    /// Whether a stage may have no layer.
    pub empty_stages: bool,
}
