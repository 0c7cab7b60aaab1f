//! Dispatching rules: list scheduling along given orders of forwards.
//!
//! The order of the forwards on each device is given; where the backward passes go is decided anew by a rule. A
//! backward never needs memory (with recomputation, room for it is kept free), so running it early only helps: with
//! forwards that can run within the limits, the result cannot deadlock.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::kernel::{
    IndexedOrders, IndexedPass, IndexedProblem, PartialSchedule, Policy, class, list_schedule,
};
use crate::model::{Kind, Stage};
use crate::stop::Stop;

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

/// The orders that a rule makes along the given forwards within limits, one per device; nothing when it is time to
/// stop, or it cannot go on: then the forwards do not keep to them.
pub(super) fn dispatch(
    problem: &IndexedProblem,
    forwards: &IndexedOrders,
    limits: &[i64],
    rule: Rule,
    stop: &Stop,
) -> Option<IndexedOrders> {
    list_schedule(problem, &mut Dispatch::new(problem, forwards, limits, rule), stop)
}

/// The forwards of orders.
pub(super) fn forwards_of(problem: &IndexedProblem, orders: &IndexedOrders) -> IndexedOrders {
    let is_forward = |pass: &IndexedPass| problem.class_of(*pass).kind == Kind::F;
    orders.iter().map(|order| order.iter().copied().filter(is_forward).collect()).collect()
}

/// What a device has to choose from.
struct Choices<'a> {
    limit: i64,
    /// What must stay free for the recomputation of any one stage.
    reserve: i64,
    forwards: std::slice::Iter<'a, IndexedPass>,
    /// When the next Is can start: gradients that have arrived or are on their way.
    inputs: BinaryHeap<Reverse<(i64, u32, Reverse<u32>)>>,
    /// Those that have arrived, the first microbatch's highest stage first.
    arrived: BinaryHeap<Reverse<(u32, Reverse<u32>)>>,
    weights: VecDeque<IndexedPass>,
    /// What must follow without a choice: the I and W of a recomputation.
    bound: VecDeque<IndexedPass>,
}

/// The policy of a rule.
struct Dispatch<'a> {
    rule: Rule,
    devices: Vec<Choices<'a>>,
}

impl<'a> Dispatch<'a> {
    fn new(problem: &IndexedProblem, forwards: &'a IndexedOrders, limits: &[i64], rule: Rule) -> Self {
        let choices = |(device, forwards): (usize, &'a Vec<IndexedPass>)| {
            let recomputed = |&number: &u32| match problem.class(number) {
                class if class.kind == Kind::R => class.held,
                _ => 0,
            };
            Choices {
                limit: limits[device],
                reserve: problem.on_device(device).iter().map(recomputed).max().unwrap_or(0),
                forwards: forwards.iter(),
                inputs: BinaryHeap::new(),
                arrived: BinaryHeap::new(),
                weights: VecDeque::new(),
                bound: VecDeque::new(),
            }
        };
        Self { rule, devices: forwards.iter().enumerate().map(choices).collect() }
    }

    /// Notes when an I can start. (Its own F has ended before: the gradient has come by way of the stages above.)
    fn announce(&mut self, device: usize, stage: Stage, microbatch: u32, at: i64) {
        self.devices[device].inputs.push(Reverse((at, microbatch, Reverse(stage.0))));
    }
}

/// Whether a stage is recomputed.
fn is_recomputed(problem: &IndexedProblem, stage: Stage) -> bool {
    problem.passes_in(class(stage.0, Kind::R)) > 0
}

impl Policy for Dispatch<'_> {
    fn choose(&mut self, so_far: &PartialSchedule<'_>, device: usize, now: i64) -> Option<IndexedPass> {
        let (problem, rule) = (so_far.problem, self.rule);
        let choices = &mut self.devices[device];
        while let Some(&Reverse((at, microbatch, stage))) = choices.inputs.peek() {
            if at > now {
                break;
            }
            choices.inputs.pop();
            choices.arrived.push(Reverse((microbatch, stage)));
        }
        if let Some(pass) = choices.bound.pop_front() {
            return Some(pass);
        }
        let next = choices.forwards.as_slice().first();
        let forward_at = next.and_then(|&next| so_far.arrival(next));
        let room = next.is_some_and(|&next| {
            let held = problem.class_of(next).held;
            held == 0 || so_far.has_room(device, held + choices.reserve, choices.limit)
        });
        let arrived_forward = forward_at.is_some_and(|at| at <= now);
        if (rule.weight == Weight::AtOnce || (rule.unlock && arrived_forward && !room))
            && let Some(pass) = choices.weights.pop_front()
        {
            return Some(pass);
        }
        if arrived_forward && room && (rule.prefer == Prefer::Forward || choices.arrived.is_empty()) {
            return choices.forwards.next().copied();
        }
        if let Some(Reverse((microbatch, Reverse(stage)))) = choices.arrived.pop() {
            let pass = |kind| IndexedPass { class: class(stage, kind), microbatch };
            if !is_recomputed(problem, Stage(stage)) {
                return Some(pass(Kind::I));
            }
            choices.bound.extend([pass(Kind::I), pass(Kind::W)]);
            return Some(pass(Kind::R));
        }
        let weight = *choices.weights.front()?;
        // A W that makes room is not held back: nothing else may ever happen.
        if rule.weight == Weight::WhenItFits {
            let end = now + problem.class_of(weight).duration;
            let next_input = choices.inputs.peek().map(|&Reverse((at, ..))| at);
            let next_forward = forward_at.filter(|_| room);
            if [next_input, next_forward].into_iter().flatten().any(|at| at < end) {
                return None;
            }
        }
        choices.weights.pop_front()
    }

    fn started(&mut self, problem: &IndexedProblem, pass: IndexedPass, end: i64) {
        let of = problem.class_of(pass);
        match of.kind {
            Kind::I if !is_recomputed(problem, of.stage) => {
                let weight = IndexedPass { class: class(of.stage.0, Kind::W), ..pass };
                self.devices[of.device].weights.push_back(weight);
            }
            _ => {}
        }
        let is_last = |stage: Stage| stage.index() + 1 == problem.stages();
        if of.kind == Kind::F && is_last(of.stage) {
            self.announce(of.device, of.stage, pass.microbatch, end);
        }
        if of.kind == Kind::I {
            for below in of.feeds.iter().filter(|fed| problem.class(fed.class).kind == Kind::I) {
                let stage = problem.class(below.class).stage;
                self.announce(below.device, stage, pass.microbatch, end + below.latency);
            }
        }
    }
}
