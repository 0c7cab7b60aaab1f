//! Recomputation that nothing needs is left out.
//!
//! An R makes room: between its F and itself, its stage holds a checkpoint in place of the whole. It serves nothing
//! else. Without it every pass of the same orders starts as soon as before or sooner, for a pass that waited for the
//! R waits for its F at most. So an R is needless exactly when the device keeps to its capacity without it, which
//! depends on the order of that device alone.
//!
//! Stages are relieved as a whole first, those whose R takes longest before others; that is what a runtime does by
//! itself. Of the stages that remain, single microbatches are relieved, those whose R comes first before others: of
//! equal ones that relieves the most. In the end no R is left that could go alone. All of it only proposes; replay
//! says what the schedule without them is worth.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use itertools::Itertools as _;

use crate::kernel::{acquired, released};
use crate::model::{Device, Kind, Model, Pass, Stage, Units};
use crate::schedule::Schedule;

/// The schedule without needless recomputation; nothing when all of it is needed, or there is none.
///
/// The schedule must be valid for the model.
pub(super) fn without_needless(model: &Model, schedule: &Schedule) -> Option<Schedule> {
    if !recomputes(schedule) {
        return None;
    }
    let mut steps: Vec<Vec<Vec<Pass>>> = Vec::new();
    let mut is_leaner = false;
    for device in Device::all(schedule.devices()) {
        let of_device: Vec<&[Pass]> = schedule.steps(device).collect();
        let needed = needed(model, device, &of_device);
        let kept = of_device.iter().map(|step| {
            let is_kept = |pass: &Pass| pass.kind != Kind::R || needed.contains_key(pass);
            step.iter().copied().filter(is_kept).collect::<Vec<_>>()
        });
        let kept: Vec<Vec<Pass>> = kept.filter(|step| !step.is_empty()).collect();
        is_leaner |= kept.len() < of_device.len();
        steps.push(kept);
    }
    is_leaner.then(|| {
        Schedule::of_steps(schedule.placement().clone(), schedule.microbatches(), steps)
            .expect("the same passes without some, and pairs have none of those")
    })
}

/// Whether a schedule recomputes anything.
pub(super) fn recomputes(schedule: &Schedule) -> bool {
    schedule.orders().iter().flatten().any(|pass| pass.kind == Kind::R)
}

/// Between which steps of a device an R saves memory: from its F to itself.
type Saving = (usize, usize);

/// The Rs that a device needs.
fn needed(model: &Model, device: Device, steps: &[&[Pass]]) -> BTreeMap<Pass, Saving> {
    let mut forwards: BTreeMap<Pass, usize> = BTreeMap::new();
    let mut savings: BTreeMap<Pass, Saving> = BTreeMap::new();
    for (at, step) in steps.iter().enumerate() {
        for &pass in *step {
            match pass.kind {
                Kind::F => {
                    forwards.insert(pass, at);
                }
                Kind::R => {
                    savings.insert(pass, (forwards[&pass.with_kind(Kind::F)], at));
                }
                Kind::I | Kind::W | Kind::B => {}
            }
        }
    }
    let Some(capacity) = model.activation_capacity(device) else { return BTreeMap::new() };
    if savings.is_empty() {
        return savings;
    }
    let mut live = Units::ZERO;
    let held: Vec<i64> = steps
        .iter()
        .map(|step| {
            let again = |pass: &Pass| savings.contains_key(&pass.with_kind(Kind::R));
            live += step.iter().map(|pass| acquired(model, *pass, again(pass))).sum();
            let during = live;
            live -= step.iter().map(|&pass| released(model, pass)).sum();
            during.0
        })
        .collect();
    let mut levels = Levels::new(&held);
    let saved = |stage: Stage| (model.activation(stage) - model.checkpoint(stage).unwrap_or_default()).0;
    let slowest = |stage: &Stage| (Reverse(model.duration(*stage, Kind::R)), *stage);
    for stage in savings.keys().map(|pass| pass.stage).unique().sorted_by_key(slowest).collect::<Vec<_>>() {
        let of_stage = || savings.iter().filter(|(pass, _)| pass.stage == stage).map(|(_, &saving)| saving);
        of_stage().for_each(|saving| levels.add(saving, saved(stage)));
        if levels.most((0, steps.len())) > capacity.0 {
            of_stage().for_each(|saving| levels.add(saving, -saved(stage)));
        } else {
            savings.retain(|pass, _| pass.stage != stage);
        }
    }
    for (pass, saving) in savings.clone().into_iter().sorted_by_key(|&(_, (_, end))| end) {
        if levels.most(saving) + saved(pass.stage) <= capacity.0 {
            levels.add(saving, saved(pass.stage));
            savings.remove(&pass);
        }
    }
    savings
}

/// What a device holds during each of its steps, where ranges of steps are raised and asked for their most: a
/// segment tree.
struct Levels {
    /// The number of leaves, a power of two.
    leaves: usize,
    /// By node: the most of its steps, without what its ancestors add.
    most: Vec<i64>,
    /// By node: what is added to all of its steps.
    added: Vec<i64>,
}

impl Levels {
    fn new(levels: &[i64]) -> Self {
        let leaves = levels.len().next_power_of_two();
        let mut most = vec![i64::MIN / 2; 2 * leaves];
        most[leaves..leaves + levels.len()].copy_from_slice(levels);
        for node in (1..leaves).rev() {
            most[node] = most[2 * node].max(most[2 * node + 1]);
        }
        Self { leaves, most, added: vec![0; 2 * leaves] }
    }

    /// Adds to the steps from the first to before the second.
    fn add(&mut self, range: (usize, usize), amount: i64) {
        self.add_below(1, (0, self.leaves), range, amount);
    }

    fn add_below(&mut self, node: usize, (from, to): (usize, usize), range: (usize, usize), amount: i64) {
        if range.1 <= from || to <= range.0 {
            return;
        }
        if range.0 <= from && to <= range.1 {
            self.most[node] += amount;
            self.added[node] += amount;
            return;
        }
        let middle = from.midpoint(to);
        self.add_below(2 * node, (from, middle), range, amount);
        self.add_below(2 * node + 1, (middle, to), range, amount);
        self.most[node] = self.most[2 * node].max(self.most[2 * node + 1]) + self.added[node];
    }

    /// The most of the steps from the first to before the second.
    fn most(&self, range: (usize, usize)) -> i64 {
        self.most_below(1, (0, self.leaves), range)
    }

    fn most_below(&self, node: usize, (from, to): (usize, usize), range: (usize, usize)) -> i64 {
        if range.1 <= from || to <= range.0 {
            return i64::MIN / 2;
        }
        if range.0 <= from && to <= range.1 {
            return self.most[node];
        }
        let middle = from.midpoint(to);
        let below = |node, part| self.most_below(node, part, range);
        below(2 * node, (from, middle)).max(below(2 * node + 1, (middle, to))) + self.added[node]
    }
}
