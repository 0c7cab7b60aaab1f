//! What is left of a pipeline when only some devices are kept.

use std::collections::BTreeMap;

use crate::certificate::least_held;
use crate::certificate::pairs::shortened;
use crate::certificate::path::Paths;
use crate::model::{Device, Kind, Model, Stage, Ticks, Units};

/// An F or an I of a kept stage: a link of the chain that every microbatch goes along.
pub(super) struct Link {
    /// The stage, as a position in [`Chain::stages`].
    pub stage: usize,
    /// The device, as a position among the kept ones.
    pub device: usize,
    pub is_forward: bool,
    pub duration: Ticks,
    /// The least by which it adds to the work of its device, in a pair or not.
    pub work: Ticks,
    /// Whether some pair has it.
    pub is_in_pairs: bool,
    /// How much more a microbatch holds from its start on.
    pub acquires: Units,
    /// What the device holds besides while it runs.
    pub beside: Units,
    /// From its end to the start of the next link: latencies, and the passes that were left out.
    pub lag: Ticks,
    /// From its end to the last end of what must follow it on any device, kept or not.
    pub tail: Ticks,
}

/// A stage of a kept device.
pub(super) struct Held {
    pub device: usize,
    /// Its W, as a position in [`Chain::weights`].
    pub weight: usize,
    /// What a microbatch holds of it from F to I, at the least.
    pub until_input: Units,
    /// What the device holds besides while I and W run as one. Nothing where memory is plain: one after the other they never need
    /// more.
    pub whole_beside: Option<Units>,
    /// Its F in the chain.
    pub forward: usize,
    /// Its I in the chain.
    pub input: usize,
}

/// The W of a stage of a kept device, or of several that have it alike.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Weight {
    /// The device, as a position among the kept ones.
    pub device: usize,
    pub duration: Ticks,
    /// The least by which it adds to the work of its device, in a pair or not.
    pub work: Ticks,
    /// What a microbatch holds from I to W, at the least.
    pub held: Units,
    /// What the device holds besides while it runs.
    pub beside: Units,
}

/// An F and a backward of one device that take less time together than one after the other.
pub(super) struct Pair {
    /// The F in the chain.
    pub forward: usize,
    /// The I in the chain.
    pub input: usize,
    /// Whether the backward is a B, with the W of its microbatch.
    pub is_whole: bool,
    pub duration: Ticks,
    /// What the device holds besides while it runs.
    pub beside: Units,
}

/// The passes of the kept devices.
pub(super) struct Chain {
    /// The earliest start of the first link.
    pub head: Ticks,
    pub links: Vec<Link>,
    pub stages: Vec<Held>,
    /// By stage, or fewer where some are alike.
    pub weights: Vec<Weight>,
    pub pairs: Vec<Pair>,
    /// The capacities of the kept devices.
    pub capacity: Vec<Option<Units>>,
    /// By kept device: from the end of a pass to the end of the device, at the least.
    pub tails: Vec<Ticks>,
}

impl Chain {
    /// The chain of some devices, which are there and differ.
    pub(super) fn new(model: &Model, paths: &Paths<'_>, devices: &[Device]) -> Self {
        let position: BTreeMap<Stage, usize> = devices
            .iter()
            .enumerate()
            .flat_map(|(at, &device)| model.placement().stages_of(device).iter().map(move |&s| (s, at)))
            .collect();
        let forwards = position.iter().map(|(&stage, &device)| (stage, device, Kind::F));
        let inputs = position.iter().rev().map(|(&stage, &device)| (stage, device, Kind::I));
        let passes: Vec<(Stage, usize, Kind)> = forwards.chain(inputs).collect();
        let start = |stage, kind| match kind {
            Kind::F => paths.forward_head(stage),
            _ => paths.input_head(stage),
        };
        let stages = position.len();
        let short = shortened(model);
        let both = position.iter().enumerate().flat_map(|(forward, (&of_forward, device))| {
            let same = position.iter().enumerate().filter(move |&(_, (_, other))| other == device);
            same.map(move |(at, (&of_backward, _))| (forward, of_forward, 2 * stages - 1 - at, of_backward))
        });
        let pairs = both.flat_map(|(forward, of_forward, input, of_backward)| {
            [Kind::I, Kind::B].into_iter().filter_map(move |kind| {
                let saves = model.pair_saves(of_forward, of_backward, kind);
                let apart = model.duration(of_forward, Kind::F) + model.duration(of_backward, kind);
                let is_whole = kind == Kind::B;
                // The weights of a stage are gathered once for both.
                let twice = if of_forward == of_backward { model.gathered(of_forward) } else { Units::ZERO };
                let beside = model.beside(of_forward, Kind::F) + model.beside(of_backward, kind) - twice;
                (saves > Ticks::ZERO).then(|| Pair {
                    forward,
                    input,
                    is_whole,
                    duration: apart - saves,
                    beside,
                })
            })
        });
        let pairs: Vec<Pair> = pairs.collect();
        let links = passes.iter().enumerate().map(|(at, &(stage, device, kind))| {
            let duration = model.duration(stage, kind);
            let next = passes.get(at + 1);
            let acquires = match kind {
                Kind::F => least_held(model, stage),
                _ => after_input(model, stage) - least_held(model, stage),
            };
            Link {
                stage: if at < stages { at } else { 2 * stages - 1 - at },
                device,
                is_forward: kind == Kind::F,
                duration,
                work: short.duration(stage, kind),
                is_in_pairs: pairs.iter().any(|pair: &Pair| pair.forward == at || pair.input == at),
                acquires: acquires.max(Units::ZERO),
                beside: model.beside(stage, kind),
                lag: next
                    .map_or(Ticks::ZERO, |&(to, _, then)| start(to, then) - start(stage, kind) - duration),
                tail: if kind == Kind::F { paths.forward_tail(stage) } else { paths.input_tail(stage) },
            }
        });
        let held = position.iter().enumerate().map(|(at, (&stage, &device))| Held {
            device,
            weight: at,
            until_input: least_held(model, stage),
            whole_beside: (!model.has_plain_memory()).then(|| model.beside(stage, Kind::B)),
            forward: at,
            input: 2 * stages - 1 - at,
        });
        let weights = position.iter().map(|(&stage, &device)| Weight {
            device,
            duration: model.duration(stage, Kind::W),
            work: short.duration(stage, Kind::W),
            held: after_input(model, stage),
            beside: model.beside(stage, Kind::W),
        });
        Self {
            head: passes.first().map_or(Ticks::ZERO, |&(stage, _, kind)| start(stage, kind)),
            links: links.collect(),
            stages: held.collect(),
            weights: weights.collect(),
            pairs,
            capacity: devices.iter().map(|&device| model.activation_capacity(device)).collect(),
            tails: devices.iter().map(|&device| paths.device_tail(device)).collect(),
        }
    }

    /// The same chain, with one entry for all Ws of a device that have the same duration and need the same memory.
    pub(super) fn with_equal_weights_as_one(mut self) -> Self {
        let mut differ: Vec<Weight> = Vec::new();
        for stage in &mut self.stages {
            let weight = self.weights[stage.weight];
            stage.weight = differ.iter().position(|&other| other == weight).unwrap_or_else(|| {
                differ.push(weight);
                differ.len() - 1
            });
        }
        self.weights = differ;
        self
    }
}

/// What a microbatch holds of a stage from I to W, at the least.
fn after_input(model: &Model, stage: Stage) -> Units {
    let retained = model.retained_for_weight(stage);
    // A checkpoint may be less than what R and I leave for W.
    model.checkpoint(stage).map_or(retained, |checkpoint| checkpoint.min(retained))
}
