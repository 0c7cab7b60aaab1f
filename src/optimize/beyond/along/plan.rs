//! What decides in list scheduling along forwards: their orders, what is recomputed, and a rule for each device.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::model::{Kind, Model, Pass};
use crate::optimize::dispatch::{Prefer, Weight};

/// A forward, or the backward of one: the stage and the microbatch.
pub(super) type Item = (u32, u32);

/// What decides.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Plan {
    /// By device.
    pub forwards: Vec<Vec<Item>>,
    /// By stage and microbatch: whether it is recomputed. Changes at random leave it alone, so plans share it.
    pub again: Arc<Vec<Vec<bool>>>,
    /// By device.
    pub rules: Vec<Rule>,
}

/// What a device does when it could do several things.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rule {
    /// What goes first when a forward and a backward are both ready.
    pub prefer: Prefer,
    /// When a W runs, other than to make room.
    pub weight: Weight,
    /// Whether a W that makes room for a waiting forward goes before a backward.
    pub unlock: bool,
    pub backward: Backward,
    /// Whether there is always room for a gradient beside a forward, and for a backward beside a gradient.
    pub careful: bool,
}

/// How a backward runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Backward {
    /// As a B, unless there is room for an I alone.
    Whole,
    /// As an I where there is room, else as a B.
    Split,
    /// Likewise, but a W that waits goes before a B.
    SplitLater,
}

impl Rule {
    /// How many there are.
    pub(super) const COUNT: usize = 72;

    /// All rules.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        itertools::iproduct!(
            [Prefer::Backward, Prefer::Forward],
            [Weight::WhenItFits, Weight::WhenIdle, Weight::AtOnce],
            [true, false],
            [Backward::Split, Backward::SplitLater, Backward::Whole],
            [true, false]
        )
        .map(|(prefer, weight, unlock, backward, careful)| Self {
            prefer,
            weight,
            unlock,
            backward,
            careful,
        })
    }

    /// Whether it is one of the few that show what a guide is worth.
    pub(super) fn is_typical(self) -> bool {
        self.unlock && self.backward == Backward::Split && self.weight != Weight::WhenIdle
    }
}

impl Plan {
    /// The forwards of these orders, what they recompute, and one rule for all devices.
    pub(super) fn new(model: &Model, orders: &[Vec<Pass>], rule: Rule) -> Self {
        let mut again = vec![vec![false; model.microbatches() as usize]; model.stages() as usize];
        let mut forwards = Vec::with_capacity(orders.len());
        for order in orders {
            let of_kind = |wanted: Kind| order.iter().filter(move |pass| pass.kind == wanted);
            for pass in of_kind(Kind::R) {
                again[pass.stage.index()][pass.microbatch.0 as usize] = true;
            }
            forwards.push(of_kind(Kind::F).map(|pass| (pass.stage.0, pass.microbatch.0)).collect());
        }
        Self { forwards, again: Arc::new(again), rules: vec![rule; orders.len()] }
    }

    /// The same with another rule for all devices.
    pub(super) fn with_rule(&self, rule: Rule) -> Self {
        Self { rules: vec![rule; self.rules.len()], ..self.clone() }
    }

    /// Changes a rule or an order at random.
    pub(super) fn change(&mut self, random: &mut fastrand::Rng) {
        let device = random.usize(..self.rules.len());
        let order = &mut self.forwards[device];
        let stages: BTreeSet<u32> = order.iter().map(|&(stage, _)| stage).collect();
        // The forwards of a single stage have one order.
        if stages.len() < 2 || random.usize(..CHANGES_OF_RULES) == 0 {
            let now = self.rules[device];
            let mut others = Rule::all().filter(|&rule| rule != now);
            self.rules[device] = others.nth(random.usize(..Rule::COUNT - 1)).expect("another one");
            return;
        }
        // Once, or again and again for the microbatches that follow.
        let mut times = if random.bool() { 1 } else { random.usize(1..=order.len()) };
        let period = stages.len() * random.usize(1..=3);
        let distance = random.usize(1..=MOST_MOVED);
        let earlier = random.bool();
        let mut from = random.usize(..order.len());
        while from < order.len() && times > 0 {
            let mut at = from;
            for _ in 0..distance {
                let to =
                    if earlier { at.checked_sub(1) } else { Some(at + 1).filter(|&to| to < order.len()) };
                // The microbatches of a stage keep their order.
                let Some(to) = to.filter(|&to| order[to].0 != order[at].0) else { break };
                order.swap(at, to);
                at = to;
            }
            from += period;
            times -= 1;
        }
    }
}

/// One change in so many is of a rule.
const CHANGES_OF_RULES: usize = 4;

/// How far a forward moves at most.
const MOST_MOVED: usize = 4;
