//! A peer to compare cuts with: the automatic partitioner proposed for PyTorch.
//!
//! **What it follows.** `pytorch/pytorch` pull request 179212 (open when last seen in 2026, after 178465 was closed) adds
//! `auto_partition`. It comes from `pytorch/torchtitan` pull request 2113 and issue 2093, and these from `AutoPipe` (IEEE
//! CLUSTER 2022). The method was read from `torch/distributed/pipelining/_partition.py` at commit 80175096, and from its
//! tests at commit 8b566422; the orders and the order of messages are those of PyTorch's `schedules.py`.
//!
//! **What is ours.** All code here. Nothing of the method had to be guessed. Two things differ: times are integers, where
//! theirs are floating-point seconds, so that ties are ties; and the graph is built once for a search, because only
//! durations depend on the cut.
//!
//! **The method.** A dynamic programme cuts the layers into stages so that the slowest stage, forward and backward
//! together, is as fast as possible. A breadth-first search then starts from that cut. It simulates each cut under its
//! schedule, finds the stage with the most time on the critical path of the steady phase, and moves the first layer of
//! that stage to the left or its last layer to the right, each time cutting all layers before the move anew. The simulated time
//! decides which cut is best. No memory is considered, every stage has a layer, and the placement is looped.
//!
//! The pull request describes the first step as a programme that minimises the critical path. It is none: neither
//! communication, nor microbatches, nor the schedule enter it, except for the number of stages.

use std::collections::{BTreeSet, VecDeque};

use graph::{Graph, StageCosts};
pub use line::{Action, Kind};
pub use orders::orders;

mod balance;
mod graph;
mod line;
mod lowering;
mod orders;
mod tests;

/// The schedules that the peer knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PeerSchedule {
    /// `Schedule1F1B`: a stage for each device.
    OneForwardOneBackward,
    /// `ScheduleInterleaved1F1B`, with so many stages on each device.
    Interleaved { chunks: usize },
    /// `ScheduleInterleavedZeroBubble`, with so many stages on each device.
    InterleavedZeroBubble { chunks: usize },
}

impl PeerSchedule {
    /// The number of stages on each device that the peer takes for interleaved schedules if it is not given one.
    pub fn default_chunks(layers: usize, devices: usize) -> usize {
        if layers >= 2 * devices { 2 } else { 1 }
    }

    pub fn chunks(self) -> usize {
        match self {
            Self::OneForwardOneBackward => 1,
            Self::Interleaved { chunks } | Self::InterleavedZeroBubble { chunks } => chunks,
        }
    }

    /// Whether the backward runs as I and W.
    pub fn splits(self) -> bool {
        matches!(self, Self::InterleavedZeroBubble { .. })
    }
}

/// What layers cost, in ticks.
#[derive(Debug, Clone, Copy)]
pub struct Layers<'a> {
    pub forward: &'a [i64],
    /// The whole backward of each layer.
    pub backward: &'a [i64],
    /// Its part for the input. Without it the I of a *stage* is half the backward of the stage, rounded down.
    pub backward_input: Option<&'a [i64]>,
    /// A message after each layer but the last, in either direction.
    pub communication: &'a [i64],
}

/// What a search finds. Cuts are numbers of layers, by stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The cut of the dynamic programme.
    pub start: Vec<usize>,
    pub start_time: i64,
    /// The best cut that was simulated.
    pub cut: Vec<usize>,
    pub time: i64,
    /// The number of cuts that were simulated.
    pub simulated: usize,
}

/// A problem as the peer sees it.
pub struct Peer<'a> {
    layers: Layers<'a>,
    stages: usize,
    graph: Graph,
}

impl<'a> Peer<'a> {
    /// The problem of cutting layers for so many devices.
    ///
    /// # Panics
    /// Where the peer refuses: lists of unequal lengths, fewer layers than stages, 1F1B with fewer microbatches than
    /// devices, and microbatches that do not divide into equal rounds.
    pub fn new(layers: Layers<'a>, devices: usize, microbatches: usize, schedule: PeerSchedule) -> Self {
        let count = layers.forward.len();
        let stages = devices * schedule.chunks();
        assert_eq!(layers.backward.len(), count, "a backward for each layer");
        assert!(layers.backward_input.is_none_or(|input| input.len() == count), "an I for each layer");
        assert_eq!(layers.communication.len() + 1, count, "a message between layers");
        assert!((1..=count).contains(&stages), "{stages} stages for {count} layers");
        Self { layers, stages, graph: Graph::new(schedule, devices, microbatches) }
    }

    /// The time of an iteration with this cut, which is what the peer wants to be small, and its critical stage.
    pub fn simulate(&self, cut: &[usize]) -> (i64, usize) {
        self.graph.run(&self.stage_costs(cut))
    }

    /// Runs the search.
    pub fn search(&self) -> Found {
        let work: Vec<i64> =
            self.layers.forward.iter().zip(self.layers.backward).map(|(f, b)| f + b).collect();
        let start = balance::balanced(&work, self.stages);
        let (start_time, critical) = self.simulate(&start);
        let mut found =
            Found { cut: start.clone(), time: start_time, start: start.clone(), start_time, simulated: 1 };
        let mut seen = BTreeSet::from([start.clone()]);
        let mut queue = VecDeque::from([(start, critical)]);
        while let Some((cut, critical)) = queue.pop_front() {
            for next in neighbours(&work, &cut, critical) {
                if !seen.insert(next.clone()) {
                    continue;
                }
                let (time, its_critical) = self.simulate(&next);
                found.simulated += 1;
                if time < found.time {
                    found.time = time;
                    found.cut.clone_from(&next);
                }
                if its_critical <= critical {
                    queue.push_back((next, its_critical));
                }
            }
        }
        found
    }

    fn stage_costs(&self, cut: &[usize]) -> Vec<StageCosts> {
        let mut first = 0;
        cut.iter()
            .map(|&size| {
                let mine = first..first + size;
                first += size;
                let total = |of: &[i64]| -> i64 { of[mine.clone()].iter().sum() };
                let backward = total(self.layers.backward);
                let input = self.layers.backward_input.map_or(backward / 2, total);
                StageCosts {
                    forward: total(self.layers.forward),
                    backward,
                    input,
                    weight: backward - input,
                    message: self.layers.communication.get(first - 1).copied().unwrap_or_default(),
                }
            })
            .collect()
    }
}

/// The cuts that relieve the critical stage of a layer. None if that is the first stage: the peer gives up there, though the
/// first stage could give its last layer away.
fn neighbours(work: &[i64], cut: &[usize], critical: usize) -> Vec<Vec<usize>> {
    if critical == 0 || cut[critical] < 2 {
        return Vec::new();
    }
    let before: usize = cut[..critical].iter().sum();
    let mut left = balance::balanced(&work[..=before], critical);
    left.push(cut[critical] - 1);
    left.extend(&cut[critical + 1..]);
    let mut all = vec![left];
    if critical + 1 < cut.len() {
        let mut right = balance::balanced(&work[..before + cut[critical] - 1], critical + 1);
        right.push(cut[critical + 1] + 1);
        right.extend(&cut[critical + 2..]);
        all.push(right);
    }
    all
}

/// The number of layers of each stage that the peer chooses, the first stage first, where each message takes as long.
///
/// # Panics
/// Where [`Peer::new`] does.
pub fn cut(
    forward: &[i64],
    backward: &[i64],
    communication: i64,
    devices: usize,
    microbatches: usize,
    schedule: PeerSchedule,
) -> Vec<usize> {
    let communication = vec![communication; forward.len().saturating_sub(1)];
    let layers = Layers { forward, backward, backward_input: None, communication: &communication };
    Peer::new(layers, devices, microbatches, schedule).search().cut
}
