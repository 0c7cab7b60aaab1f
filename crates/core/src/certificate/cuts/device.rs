//! What one device needs, given the layers of its own stages, whatever the cut of all others.

use crate::certificate::Objective;
use crate::certificate::bound::of_one_device;
use crate::job::{Atom, Layers};
use crate::model::{Device, Model, Placement, Stage, Ticks, Units};

/// The layers of a chunk: from the first to the one behind the last.
pub(super) type Range = (usize, usize);

/// Layers with the sums over every range of them.
pub(super) struct Sums<'a> {
    pub(super) layers: &'a Layers,
    /// Before each layer, and behind the last: what all layers before it cost together.
    before: Vec<Atom>,
    /// By boundary: the least time of a message over it, wherever the cut.
    least_message: Vec<Ticks>,
    /// What every device runs together for one microbatch.
    pub(super) work: Ticks,
    /// By device: its stages in the order of the pipeline.
    stages_of: Vec<Vec<Stage>>,
}

impl<'a> Sums<'a> {
    pub(super) fn new(layers: &'a Layers) -> Self {
        let mut before = vec![Atom::default()];
        for atom in &layers.atoms {
            let last = before.last().expect("there is one at the beginning");
            before.push(last.and(atom));
        }
        let boundaries = layers.stages() as usize - 1;
        let least = |boundary| (0..=layers.atoms.len()).map(|at| layers.message(boundary, at)).min();
        let least_message = (0..boundaries).map(|boundary| least(boundary).unwrap_or_default()).collect();
        let all = before.last().expect("there is one at the beginning");
        let work = all.work();
        let mut stages_of = layers.placement.lists().to_vec();
        for stages in &mut stages_of {
            stages.sort_unstable();
        }
        Self { layers, before, least_message, work, stages_of }
    }

    /// What a range of layers costs together.
    pub(super) fn of(&self, (begin, end): Range) -> Atom {
        self.before[end].without(&self.before[begin])
    }

    /// What F, I and W of a range take for one microbatch.
    pub(super) fn work_of(&self, (begin, end): Range) -> Ticks {
        self.before[end].work() - self.before[begin].work()
    }

    /// The stages of a device in the order of the pipeline.
    pub(super) fn stages_of(&self, device: usize) -> &[Stage] {
        &self.stages_of[device]
    }

    /// The work bound of a device: what must come before its first pass, its work, and its optimiser steps.
    pub(super) fn work_bound(&self, device: usize, ranges: &[Range]) -> Ticks {
        let work: Ticks = ranges.iter().map(|&range| self.work_of(range)).sum();
        let optimizer: Ticks = ranges
            .iter()
            .map(|&(begin, end)| self.before[end].optimizer - self.before[begin].optimizer)
            .sum();
        self.head(device, ranges) + work * i64::from(self.layers.microbatches) + optimizer
    }

    /// The earliest start of the first pass of a device.
    pub(super) fn head(&self, device: usize, ranges: &[Range]) -> Ticks {
        let first = self.stages_of(device)[0].index();
        let messages: Ticks = self.least_message[..first].iter().copied().sum();
        self.before[ranges[0].0].forward + messages
    }

    /// What of the activation of a stage stays until its backward, at the least.
    fn least_kept(&self, stage: &Atom) -> Units {
        let saving = &self.layers.saving;
        let kept = if saving.recompute { stage.checkpoint } else { stage.activation };
        let offloaded = if saving.offload { stage.offload } else { Units::ZERO };
        kept.min(stage.activation - offloaded)
    }

    /// What all devices hold together at the least: all weights, and of each layer what stays of one microbatch.
    pub(super) fn least_held(&self) -> Units {
        self.layers.atoms.iter().map(|atom| atom.weights + self.least_kept(atom)).sum()
    }

    /// What a device holds at the least: the weights of its stages, and one microbatch when it begins its way back.
    pub(super) fn need(&self, ranges: &[Range]) -> Units {
        let stages = ranges.iter().map(|&range| self.of(range));
        let (mut weights, mut held, mut last) = (Units::ZERO, Units::ZERO, Units::ZERO);
        for stage in stages {
            let least = self.least_kept(&stage);
            weights += stage.weights;
            held += least;
            // The way back begins with the last stage, whose activation is there as a whole.
            last = stage.activation - least;
        }
        weights + held + last
    }

    /// The best of the bounds of one device: of a model in which all that lies elsewhere only takes time between the stages
    /// of this device. Nothing when its weights do not fit.
    pub(super) fn bound(&self, device: usize, ranges: &[Range]) -> Option<Ticks> {
        let by_work = self.work_bound(device, ranges);
        match self.alone(device, ranges) {
            Surrogate::Model(model, device) => {
                Some(of_one_device(&model, device, Objective::Makespan).max(by_work))
            }
            Surrogate::NoWork => Some(by_work),
            Surrogate::NoRoom => None,
        }
    }

    /// The model of a device and of what lies elsewhere.
    fn alone(&self, device: usize, ranges: &[Range]) -> Surrogate {
        if self.layers.capacity.is_some_and(|capacity| capacity < self.need(ranges)) {
            return Surrogate::NoRoom;
        }
        let mut parts = Parts::default();
        let own = self.stages_of(device);
        let (mut from, mut behind) = (0, 0);
        for (stage, &range) in own.iter().zip(ranges) {
            self.elsewhere(&mut parts, behind..stage.index(), (from, range.0));
            // The boundary before the stage is the last of those that its gap has entered.
            parts.push_own(self.of(range));
            (from, behind) = (range.1, stage.index() + 1);
        }
        self.elsewhere(&mut parts, behind..self.layers.stages() as usize, (from, self.layers.atoms.len()));
        parts.model(self.layers)
    }

    /// Adds what lies between two stages of a device: the layers there as one stage, whose Ws nobody waits for, and all messages
    /// on the way.
    fn elsewhere(&self, parts: &mut Parts, stages: std::ops::Range<usize>, range: Range) {
        // A stage is entered over the boundary before it; what follows enters the next stage of the device.
        let entered = stages.start..(stages.end + 1).min(self.layers.stages() as usize);
        let messages = entered.filter_map(|stage| Some(self.least_message[stage.checked_sub(1)?]));
        let messages: Ticks = messages.sum();
        if stages.is_empty() {
            parts.wait(messages);
            return;
        }
        let all = self.of(range);
        // The first stage begins with the first layer unless it may be empty.
        let weight = if stages.start == 0 && !self.layers.empty_stages {
            self.layers.atoms[0].backward_weight
        } else {
            Ticks::ZERO
        };
        let gap = Atom {
            forward: all.forward,
            backward_input: all.backward_input,
            backward_weight: weight,
            ..Atom::default()
        };
        parts.push_elsewhere(gap, messages);
    }
}

enum Surrogate {
    Model(Box<Model>, Device),
    /// All work is on the device itself, or nothing is.
    NoWork,
    /// The device holds too little.
    NoRoom,
}

/// Stages in the order of the pipeline, some of the device in question, the others elsewhere.
#[derive(Default)]
struct Parts {
    stages: Vec<Atom>,
    is_own: Vec<bool>,
    /// The latency before each stage but the first.
    latencies: Vec<Ticks>,
    /// What has to be waited for before the next stage.
    waiting: Ticks,
}

impl Parts {
    fn wait(&mut self, messages: Ticks) {
        self.waiting += messages;
    }

    fn push_own(&mut self, stage: Atom) {
        self.push(stage, true);
    }

    /// All messages of a gap count before it; behind it nothing is left to wait for.
    fn push_elsewhere(&mut self, gap: Atom, messages: Ticks) {
        self.waiting += messages;
        // No message goes to the first stage: there they count behind it.
        let behind = if self.stages.is_empty() { std::mem::take(&mut self.waiting) } else { Ticks::ZERO };
        self.push(gap, false);
        self.waiting = behind;
    }

    fn push(&mut self, stage: Atom, is_own: bool) {
        let latency = std::mem::take(&mut self.waiting);
        if !self.stages.is_empty() {
            self.latencies.push(latency);
        }
        self.stages.push(stage);
        self.is_own.push(is_own);
    }

    fn model(self, layers: &Layers) -> Surrogate {
        let (mut elsewhere, mut own) = (Vec::new(), Vec::new());
        for (stage, &is_own) in self.is_own.iter().enumerate() {
            if is_own { own.push(Stage::at(stage)) } else { elsewhere.push(Stage::at(stage)) }
        }
        let mut lists = vec![own];
        if !elsewhere.is_empty() {
            lists.push(elsewhere);
        }
        let Ok(placement) = Placement::new(lists) else { return Surrogate::NoWork };
        let device = Device(0);
        let capacity = |of: Device| if of == device { layers.capacity } else { None };
        match layers.assemble(layers.name.clone(), placement, &self.stages, self.latencies, capacity) {
            Ok(model) => Surrogate::Model(Box::new(model), device),
            Err(crate::model::ModelError::NoRoomForWeights { .. }) => Surrogate::NoRoom,
            Err(_) => Surrogate::NoWork,
        }
    }
}
