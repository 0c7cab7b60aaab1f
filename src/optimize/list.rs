//! List scheduling: building a schedule in the order of time from a plan of forwards.
//!
//! The order of the forwards on each device is taken from a plan; where the backward passes go is
//! decided anew by a rule. A backward never needs memory (with recomputation, room for it is kept
//! free), so running it early only helps: with the forwards of a plan that can run within the limits,
//! the result cannot deadlock.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::dense::{Dense, Item, Orders, UNKNOWN, class, named};
use crate::model::Kind;

/// What a device does when it could do several things.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rule {
    /// What goes first when an F and an I are both ready.
    pub prefer: Prefer,
    /// When a W is run.
    pub weight: Weight,
    /// Whether a W that makes room for a waiting F goes before an I.
    pub unlock: bool,
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
pub(super) fn rules() -> Vec<Rule> {
    itertools::iproduct!(
        [Prefer::Backward, Prefer::Forward],
        [Weight::WhenItFits, Weight::WhenIdle, Weight::AtOnce],
        [true, false]
    )
    .map(|(prefer, weight, unlock)| Rule { prefer, weight, unlock })
    .collect()
}

/// The orders that a rule makes of a plan's forwards within limits, one per device; nothing when it
/// cannot go on: then the plan does not keep to them.
pub(super) fn list_schedule(dense: &Dense, plan: &[Vec<Item>], limits: &[i64], rule: Rule) -> Option<Orders> {
    let mut run = Run::new(dense, plan, limits, rule);
    while let Some(Reverse((time, device))) = run.events.pop() {
        run.step(time, device);
    }
    let orders: Orders = run.devices.into_iter().map(|state| state.order).collect();
    (orders.iter().map(Vec::len).sum::<usize>() == dense.passes()).then_some(orders)
}

/// The forwards of orders, which are a plan.
pub(super) fn plan_of(orders: &Orders) -> Orders {
    let forwards =
        |order: &Vec<Item>| order.iter().copied().filter(|item| named(item.class).1 == Kind::F).collect();
    orders.iter().map(forwards).collect()
}

/// One device while its order grows.
struct State<'a> {
    order: Vec<Item>,
    free: i64,
    live: i64,
    limit: i64,
    /// What must stay free for the recomputation of any one stage.
    reserve: i64,
    forwards: std::slice::Iter<'a, Item>,
    /// When the next Is can start: gradients that have arrived or are on their way.
    inputs: BinaryHeap<Reverse<(i64, u32, Reverse<u32>)>>,
    /// Those that have arrived, the first microbatch's highest stage first.
    arrived: BinaryHeap<Reverse<(u32, Reverse<u32>)>>,
    weights: VecDeque<Item>,
    /// What must follow without a choice: the I and W of a recomputation.
    bound: VecDeque<Item>,
}

struct Run<'a> {
    dense: &'a Dense,
    rule: Rule,
    devices: Vec<State<'a>>,
    /// The end of every pass that has started, by class and microbatch.
    ends: Vec<i64>,
    events: BinaryHeap<Reverse<(i64, usize)>>,
}

impl<'a> Run<'a> {
    fn new(dense: &'a Dense, plan: &'a [Vec<Item>], limits: &[i64], rule: Rule) -> Self {
        let state = |(device, forwards): (usize, &'a Vec<Item>)| {
            let held =
                |&class: &u32| if named(class).1 == Kind::R { dense.classes[class as usize].held } else { 0 };
            State {
                order: Vec::with_capacity(forwards.len() * 3),
                free: 0,
                live: 0,
                limit: limits[device],
                reserve: dense.on_device[device].iter().map(held).max().unwrap_or(0),
                forwards: forwards.iter(),
                inputs: BinaryHeap::new(),
                arrived: BinaryHeap::new(),
                weights: VecDeque::new(),
                bound: VecDeque::new(),
            }
        };
        Self {
            dense,
            rule,
            devices: plan.iter().enumerate().map(state).collect(),
            ends: vec![UNKNOWN; dense.classes.len() * dense.microbatches as usize],
            events: (0..plan.len()).map(|device| Reverse((0, device))).collect(),
        }
    }

    /// Lets a device start something at this time, if it is free and anything is ready.
    fn step(&mut self, time: i64, device: usize) {
        let state = &mut self.devices[device];
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
        if let Some(item) = self.choose(time, device) {
            self.start(time, device, item);
        }
    }

    /// What a free device starts now.
    fn choose(&mut self, time: i64, device: usize) -> Option<Item> {
        let (dense, rule) = (self.dense, self.rule);
        if let Some(item) = self.devices[device].bound.pop_front() {
            return Some(item);
        }
        let (forward_at, room) = self.next_forward(device);
        let arrived_forward = forward_at.is_some_and(|at| at <= time);
        let state = &mut self.devices[device];
        let forward_ready = arrived_forward && room;
        if (rule.weight == Weight::AtOnce || (rule.unlock && arrived_forward && !room))
            && let Some(item) = state.weights.pop_front()
        {
            return Some(item);
        }
        if forward_ready && (rule.prefer == Prefer::Forward || state.arrived.is_empty()) {
            return state.forwards.next().copied();
        }
        if let Some(Reverse((microbatch, Reverse(stage)))) = state.arrived.pop() {
            let item = |kind| Item { class: class(stage, kind), microbatch };
            if !dense.recomputed[stage as usize] {
                return Some(item(Kind::I));
            }
            state.bound.extend([item(Kind::I), item(Kind::W)]);
            return Some(item(Kind::R));
        }
        let weight = *state.weights.front()?;
        // A W that makes room is not held back: nothing else may ever happen.
        if rule.weight == Weight::WhenItFits {
            let end = time + dense.class_of(weight).duration;
            let next_input = state.inputs.peek().map(|&Reverse((at, ..))| at);
            let next_forward = forward_at.filter(|_| room);
            if [next_input, next_forward].into_iter().flatten().any(|at| at < end) {
                return None;
            }
        }
        state.weights.pop_front()
    }

    /// When the input of a device's next forward arrives, if that is known, and whether there is room.
    fn next_forward(&self, device: usize) -> (Option<i64>, bool) {
        let state = &self.devices[device];
        let Some(&item) = state.forwards.as_slice().first() else { return (None, false) };
        let class = self.dense.class_of(item);
        let at = match class.needs.first() {
            None => Some(0),
            Some(&(need, lag)) => {
                let end = self.ends[self.dense.cell(Item { class: need, ..item })];
                (end != UNKNOWN).then_some(end + lag)
            }
        };
        (at, class.held == 0 || state.live + class.held + state.reserve <= state.limit)
    }

    fn start(&mut self, time: i64, device: usize, item: Item) {
        let dense = self.dense;
        let of = dense.class_of(item);
        let end = time + of.duration;
        let state = &mut self.devices[device];
        state.order.push(item);
        state.free = end;
        // Nothing else starts on this device before the end, so a release may be booked now.
        state.live += of.held;
        self.events.push(Reverse((end, device)));
        self.ends[dense.cell(item)] = end;
        let (stage, kind) = named(item.class);
        match kind {
            Kind::F => {
                let stages = u32::try_from(dense.recomputed.len()).expect("stages are counted in 32 bits");
                if stage + 1 < stages {
                    let (_, lag) =
                        *of.feeds.iter().find(|(fed, _)| *fed == class(stage + 1, Kind::F)).expect("above");
                    let above = dense.classes[class(stage + 1, Kind::F) as usize].device;
                    self.events.push(Reverse((end + lag, above)));
                } else {
                    self.announce(stage, item.microbatch, end);
                }
            }
            Kind::I => {
                if !dense.recomputed[stage as usize] {
                    state.weights.push_back(Item { class: class(stage, Kind::W), ..item });
                }
                if let Some(below) = stage.checked_sub(1) {
                    let (_, lag) =
                        *of.feeds.iter().find(|(fed, _)| *fed == class(below, Kind::I)).expect("below");
                    self.announce(below, item.microbatch, end + lag);
                }
            }
            Kind::R | Kind::W | Kind::B => {}
        }
    }

    /// Tells a device when an I can start there. (Its own F has ended before: the gradient has come by
    /// way of the stages above.)
    fn announce(&mut self, stage: u32, microbatch: u32, at: i64) {
        let device = self.dense.classes[class(stage, Kind::I) as usize].device;
        self.devices[device].inputs.push(Reverse((at, microbatch, Reverse(stage))));
        self.events.push(Reverse((at, device)));
    }
}
