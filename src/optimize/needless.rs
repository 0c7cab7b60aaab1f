//! Recomputation that nothing needs is left out.
//!
//! An R makes room: between its F and itself, its stage holds a checkpoint in place of the whole. It serves nothing
//! else. Without it every pass of the same orders starts as soon as before or sooner, for a pass that waited for the
//! R waits for its F at most. So an R is needless exactly when the device keeps to its capacity without it, which
//! depends on the order of that device alone.
//!
//! Stages are relieved as a whole first, those whose R takes longest before others; that is what a runtime does by
//! itself. Of the stages that remain, single microbatches are relieved, those whose R comes first before others: of
//! equal ones that relieves the most. In the end no R is left that could go alone. Alternatively,
//! [single](Relief::Single) microbatches are relieved from the beginning, which may leave fewer Rs.
//!
//! Where there are several [levels](crate::model::Recompute), each R first gets the one that keeps the least of those that
//! are as quick as its own. In the end, each R that is left runs at the quickest for which there is room, in the same order. A
//! quicker R delays nothing, and what it keeps counts between its F and itself.
//!
//! All of it only proposes; replay says what the schedule is worth then.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use itertools::Itertools as _;

use crate::kernel::{acquired, released};
use crate::model::{Device, Kind, Model, Pass, Stage, Units};
use crate::schedule::Schedule;

/// What is relieved first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Relief {
    /// Whole stages.
    Stages,
    /// Single microbatches.
    Single,
}

/// The schedule without needless recomputation, and with each R at the quickest level that its device has room for;
/// nothing when that is the schedule.
///
/// The schedule must be valid for the model.
pub(super) fn without_needless(model: &Model, schedule: &Schedule, relief: Relief) -> Option<Schedule> {
    if !recomputes(schedule) {
        return None;
    }
    let mut steps: Vec<Vec<Vec<Pass>>> = Vec::new();
    let mut levels: BTreeMap<Pass, u32> = BTreeMap::new();
    let mut is_leaner = false;
    for device in Device::all(schedule.devices()) {
        let of_device: Vec<&[Pass]> = schedule.steps(device).collect();
        let needed = needed(model, schedule, device, (&of_device, relief));
        let kept = of_device.iter().map(|step| {
            let is_kept = |pass: &Pass| pass.kind != Kind::R || needed.contains_key(pass);
            step.iter().copied().filter(is_kept).collect::<Vec<_>>()
        });
        let kept: Vec<Vec<Pass>> = kept.filter(|step| !step.is_empty()).collect();
        is_leaner |= kept.len() < of_device.len();
        steps.push(kept);
        let further = needed.into_iter().filter(|&(_, Saving { level, .. })| level > 0);
        levels.extend(further.filter_map(|(pass, saving)| Some((pass, u32::try_from(saving.level).ok()?))));
    }
    (is_leaner || levels != *schedule.levels()).then(|| {
        Schedule::of_steps(schedule.placement().clone(), schedule.microbatches(), steps)
            .and_then(|leaner| leaner.with_levels(levels))
            .expect("the same passes without some, and pairs have none of those")
    })
}

/// Whether a schedule recomputes anything.
pub(super) fn recomputes(schedule: &Schedule) -> bool {
    schedule.orders().iter().flatten().any(|pass| pass.kind == Kind::R)
}

/// What an R saves.
#[derive(Clone, Copy)]
struct Saving {
    /// Between which steps of its device: from its F to itself.
    steps: (usize, usize),
    /// The level at which it runs.
    level: usize,
}

/// The Rs that a device needs.
fn needed(
    model: &Model,
    schedule: &Schedule,
    device: Device,
    (steps, relief): (&[&[Pass]], Relief),
) -> BTreeMap<Pass, Saving> {
    let mut forwards: BTreeMap<Pass, usize> = BTreeMap::new();
    let mut savings: BTreeMap<Pass, Saving> = BTreeMap::new();
    for (at, step) in steps.iter().enumerate() {
        for &pass in *step {
            match pass.kind {
                Kind::F => {
                    forwards.insert(pass, at);
                }
                Kind::R => {
                    let steps = (forwards[&pass.with_kind(Kind::F)], at);
                    savings.insert(pass, Saving { steps, level: schedule.level_of(pass) });
                }
                Kind::I | Kind::W | Kind::B => {}
            }
        }
    }
    let Some(capacity) = model.activation_capacity(device) else { return BTreeMap::new() };
    if savings.is_empty() {
        return savings;
    }
    let saved = |pass: &Pass, level: usize| {
        (model.activation(pass.stage) - model.checkpoint_at(pass.stage, level).unwrap_or_default()).0
    };
    for (pass, saving) in &mut savings {
        let takes = |level: usize| model.recompute_duration(pass.stage, level);
        let as_quick = (0..model.recompute_levels()).filter(|&level| takes(level) <= takes(saving.level));
        let leanest = as_quick.min_by_key(|&level| (Reverse(saved(pass, level)), takes(level)));
        saving.level = leanest.unwrap_or(saving.level);
    }
    let mut live = Units::ZERO;
    let held: Vec<i64> = steps
        .iter()
        .map(|step| {
            let takes = |pass: &Pass| {
                let again = pass.with_kind(Kind::R);
                match (pass.kind, savings.get(&again)) {
                    (Kind::F, Some(saving)) => {
                        acquired(model, *pass, false) - Units(saved(&again, saving.level))
                    }
                    (Kind::R, Some(saving)) => Units(saved(&again, saving.level)),
                    _ => acquired(model, *pass, false),
                }
            };
            live += step.iter().map(takes).sum();
            let during = live;
            live -= step.iter().map(|&pass| released(model, pass)).sum();
            during.0
        })
        .collect();
    let mut levels = Levels::new(&held);
    let slowest = |savings: &BTreeMap<Pass, Saving>, stage: Stage| {
        let of_stage = savings.iter().filter(|(pass, _)| pass.stage == stage);
        of_stage.map(|(_, saving)| model.recompute_duration(stage, saving.level)).max()
    };
    let stages = savings.keys().map(|pass| pass.stage).unique().filter(|_| relief == Relief::Stages);
    let stages: Vec<Stage> = stages.collect();
    for stage in stages.into_iter().sorted_by_cached_key(|&stage| (Reverse(slowest(&savings, stage)), stage))
    {
        let of_stage: Vec<((usize, usize), i64)> = savings
            .iter()
            .filter(|(pass, _)| pass.stage == stage)
            .map(|(pass, saving)| (saving.steps, saved(pass, saving.level)))
            .collect();
        for &(steps, saved) in &of_stage {
            levels.add(steps, saved);
        }
        if levels.most((0, steps.len())) > capacity.0 {
            for &(steps, saved) in &of_stage {
                levels.add(steps, -saved);
            }
        } else {
            savings.retain(|pass, _| pass.stage != stage);
        }
    }
    let by_end = |savings: &BTreeMap<Pass, Saving>| {
        let all = savings.iter().map(|(&pass, &saving)| (pass, saving));
        all.sorted_by_key(|(_, saving)| saving.steps.1).collect::<Vec<_>>()
    };
    for (pass, Saving { steps, level }) in by_end(&savings) {
        if levels.most(steps) + saved(&pass, level) <= capacity.0 {
            levels.add(steps, saved(&pass, level));
            savings.remove(&pass);
        }
    }
    for (pass, Saving { steps, level }) in by_end(&savings) {
        let takes = |level: usize| model.recompute_duration(pass.stage, level);
        let quicker = (0..model.recompute_levels()).filter(|&other| takes(other) < takes(level));
        // Of those that are as quick, the one that keeps the least.
        let quicker = quicker.sorted_by_key(|&other| (takes(other), Reverse(saved(&pass, other))));
        for other in quicker {
            let more = saved(&pass, level) - saved(&pass, other);
            if levels.most(steps) + more <= capacity.0 {
                levels.add(steps, more);
                savings.insert(pass, Saving { steps, level: other });
                break;
            }
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
