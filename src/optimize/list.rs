//! List scheduling: building a schedule in the order of time from a plan of forwards.
//!
//! The order of the forwards on each device is taken from a plan that keeps to the caps; where the
//! backward passes go is decided anew by a rule. A backward never needs memory, so running it early
//! only helps: with the forwards of a plan that can run under the caps, the result cannot deadlock.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::block::{acquired, released};
use crate::model::{Device, Kind, Microbatch, Model, Pass, Stage, Ticks, Units};
use crate::schedule::Schedule;

/// What a device does when it could do several things.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rule {
    /// What goes first when an F and an I are both ready.
    pub prefer: Prefer,
    /// When a W is run.
    pub weight: Weight,
    /// Whether a W that makes room for a waiting F goes before an I.
    pub unlock: bool,
    /// Whether every microbatch is recomputed.
    pub recompute: bool,
}

/// What goes first when an F and an I are both ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Prefer {
    /// The I.
    Backward,
    /// The F.
    Forward,
}

/// When a W is run, other than to make room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Weight {
    /// Right after its I.
    AtOnce,
    /// When nothing else is ready.
    WhenIdle,
    /// When nothing else is ready, nor will be (as far as is known) before the W has ended.
    WhenItFits,
}

/// All rules to try.
pub(super) fn rules(recompute: bool) -> Vec<Rule> {
    if recompute {
        return [Prefer::Backward, Prefer::Forward]
            .map(|prefer| Rule { prefer, weight: Weight::AtOnce, unlock: true, recompute })
            .to_vec();
    }
    itertools::iproduct!(
        [Prefer::Backward, Prefer::Forward],
        [Weight::AtOnce, Weight::WhenIdle, Weight::WhenItFits],
        [true, false]
    )
    .map(|(prefer, weight, unlock)| Rule { prefer, weight, unlock, recompute })
    .collect()
}

/// The schedule that a rule makes of a plan's forwards, or nothing when it cannot go on: then the
/// plan does not keep to the caps.
pub(super) fn list_schedule(model: &Model, plan: &Schedule, rule: Rule) -> Option<Schedule> {
    let mut run = Run::new(model, plan, rule);
    while let Some(Reverse((time, device))) = run.events.pop() {
        run.step(time, device);
    }
    let passes: usize = run.devices.iter().map(|state| state.order.len()).sum();
    let of_each = if rule.recompute { 4 } else { 3 };
    let expected = model.stages() as usize * plan.microbatches() as usize * of_each;
    if passes != expected {
        return None;
    }
    let orders = run.devices.into_iter().map(|state| state.order).collect();
    Schedule::new(plan.placement().clone(), plan.microbatches(), orders).ok()
}

/// One device while its order grows.
struct State {
    order: Vec<Pass>,
    free: Ticks,
    live: Units,
    capacity: Option<Units>,
    /// What must stay free for the recomputation of any one stage.
    reserve: Units,
    forwards: VecDeque<Pass>,
    /// When the next passes can start: gradients that have arrived or are on their way.
    inputs: BinaryHeap<Reverse<(Ticks, Microbatch, Reverse<Stage>)>>,
    /// The inputs that have arrived, the first microbatch's highest stage first.
    arrived: BinaryHeap<Reverse<(Microbatch, Reverse<Stage>)>>,
    weights: VecDeque<Pass>,
    /// What must follow without a choice: the I and W of a recomputation.
    bound: VecDeque<Pass>,
}

struct Run<'a> {
    model: &'a Model,
    rule: Rule,
    microbatches: usize,
    devices: Vec<State>,
    /// By stage and microbatch: when the activation arrives, as far as is known.
    activation_at: Vec<Option<Ticks>>,
    /// By stage and microbatch: when F ends here, and when the gradient arrives.
    forward_end: Vec<Option<Ticks>>,
    gradient_at: Vec<Option<Ticks>>,
    events: BinaryHeap<Reverse<(Ticks, Device)>>,
}

impl<'a> Run<'a> {
    fn new(model: &'a Model, plan: &Schedule, rule: Rule) -> Self {
        let microbatches = plan.microbatches() as usize;
        let cells = model.stages() as usize * microbatches;
        let state = |device| {
            let stages = model.placement().stages_of(device);
            let spare =
                |&stage: &Stage| model.activation(stage) - model.checkpoint(stage).unwrap_or_default();
            State {
                order: Vec::new(),
                free: Ticks::ZERO,
                live: Units::ZERO,
                capacity: model.capacity(device),
                reserve: if rule.recompute {
                    stages.iter().map(spare).max().unwrap_or_default()
                } else {
                    Units::ZERO
                },
                forwards: plan.order(device).iter().copied().filter(|pass| pass.kind == Kind::F).collect(),
                inputs: BinaryHeap::new(),
                arrived: BinaryHeap::new(),
                weights: VecDeque::new(),
                bound: VecDeque::new(),
            }
        };
        let mut activation_at = vec![None; cells];
        activation_at[..microbatches].fill(Some(Ticks::ZERO));
        Self {
            model,
            rule,
            microbatches,
            devices: Device::all(model.devices()).map(state).collect(),
            activation_at,
            forward_end: vec![None; cells],
            gradient_at: vec![None; cells],
            events: Device::all(model.devices()).map(|device| Reverse((Ticks::ZERO, device))).collect(),
        }
    }

    fn cell(&self, stage: Stage, microbatch: Microbatch) -> usize {
        stage.index() * self.microbatches + microbatch.index()
    }

    /// Lets a device start something at this time, if it is free and anything is ready.
    fn step(&mut self, time: Ticks, device: Device) {
        let state = &mut self.devices[device.index()];
        if state.free > time {
            return;
        }
        while let Some(&Reverse((at, microbatch, stage))) = state.inputs.peek() {
            if at > time {
                break;
            }
            state.inputs.pop();
            state.arrived.push(Reverse((microbatch, stage)));
        }
        if let Some(pass) = self.choose(time, device) {
            self.start(time, device, pass);
        }
    }

    /// What a free device starts now.
    fn choose(&mut self, time: Ticks, device: Device) -> Option<Pass> {
        let rule = self.rule;
        if let Some(pass) = self.devices[device.index()].bound.pop_front() {
            return Some(pass);
        }
        let forward = self.next_forward(device);
        let (forward_at, room) = forward.map_or((None, false), |(_, at, room)| (at, room));
        let arrived_forward = forward_at.is_some_and(|at| at <= time);
        let state = &mut self.devices[device.index()];
        let has_input = !state.arrived.is_empty();
        let forward_ready = arrived_forward && room;

        if (rule.weight == Weight::AtOnce || (rule.unlock && arrived_forward && !room))
            && let Some(pass) = state.weights.pop_front()
        {
            return Some(pass);
        }
        if forward_ready && (rule.prefer == Prefer::Forward || !has_input) {
            return state.forwards.pop_front();
        }
        if let Some(Reverse((microbatch, Reverse(stage)))) = state.arrived.pop() {
            let input = Pass::new(stage, Kind::I, microbatch);
            if !rule.recompute {
                return Some(input);
            }
            state.bound.extend([input, input.with_kind(Kind::W)]);
            return Some(input.with_kind(Kind::R));
        }
        let weight = *state.weights.front()?;
        if rule.weight == Weight::WhenItFits {
            let end = time + self.model.duration(weight.stage, Kind::W);
            let next_input = state.inputs.peek().map(|&Reverse((at, ..))| at);
            let next_forward = forward_at.filter(|_| room);
            if [next_input, next_forward].into_iter().flatten().any(|at| at < end) {
                return None;
            }
        }
        state.weights.pop_front()
    }

    /// The plan's next forward of a device, when its input arrives if that is known, and whether
    /// there is room for it.
    fn next_forward(&self, device: Device) -> Option<(Pass, Option<Ticks>, bool)> {
        let state = &self.devices[device.index()];
        let pass = *state.forwards.front()?;
        let at = self.activation_at[self.cell(pass.stage, pass.microbatch)];
        let needed = state.live + acquired(self.model, pass, self.rule.recompute) + state.reserve;
        Some((pass, at, state.capacity.is_none_or(|capacity| needed <= capacity)))
    }

    fn start(&mut self, time: Ticks, device: Device, pass: Pass) {
        let Pass { stage, kind, microbatch } = pass;
        let end = time + self.model.duration(stage, kind);
        let state = &mut self.devices[device.index()];
        state.order.push(pass);
        state.free = end;
        state.live += acquired(self.model, pass, self.rule.recompute);
        // Nothing else starts on this device before the end, so the release may be booked now.
        state.live -= released(self.model, pass);
        self.events.push(Reverse((end, device)));
        let cell = self.cell(stage, microbatch);
        match kind {
            Kind::F => {
                self.forward_end[cell] = Some(end);
                if stage.0 + 1 < self.model.stages() {
                    let above = Stage(stage.0 + 1);
                    let at = end + self.model.latency_after(stage);
                    let above_cell = self.cell(above, microbatch);
                    self.activation_at[above_cell] = Some(at);
                    self.events.push(Reverse((at, self.model.placement().device_of(above))));
                } else {
                    self.gradient_at[cell] = Some(end);
                }
                self.announce_input(stage, microbatch);
            }
            Kind::I => {
                if !self.rule.recompute {
                    self.devices[device.index()].weights.push_back(pass.with_kind(Kind::W));
                }
                if stage.0 > 0 {
                    let below = Stage(stage.0 - 1);
                    let below_cell = self.cell(below, microbatch);
                    self.gradient_at[below_cell] = Some(end + self.model.latency_after(below));
                    self.announce_input(below, microbatch);
                }
            }
            Kind::R | Kind::W | Kind::B => {}
        }
    }

    /// Once both are known, tells a device when an I can start there.
    fn announce_input(&mut self, stage: Stage, microbatch: Microbatch) {
        let cell = self.cell(stage, microbatch);
        if let (Some(forward), Some(gradient)) = (self.forward_end[cell], self.gradient_at[cell]) {
            let at = forward.max(gradient);
            let device = self.model.placement().device_of(stage);
            self.devices[device.index()].inputs.push(Reverse((at, microbatch, Reverse(stage))));
            self.events.push(Reverse((at, device)));
        }
    }
}
