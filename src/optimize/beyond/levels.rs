//! Levels of recomputation, and recomputation in the backward.
//!
//! The searches know one level, and an R that runs wherever a schedule has it. So they work in one model for each
//! level, in that in which every stage has the level that keeps the least, and in that without recomputation. What they
//! find is valid under the model itself with its levels named, and with each R moved right before its backward where the
//! model recomputes there: that holds no more and waits for nothing in a cycle. Replay measures it.
//!
//! From there on, the levels of all Rs of a stage, of all Rs of a device, and of single ones are changed for as long as
//! replay says that this is better. If in the end stages differ, one more search works in the model of these levels.
//! Single Rs that have room for a quicker level are [found](super::super::needless) in the end.

use std::collections::{BTreeMap, BTreeSet};

use super::super::replayed::ReplayedSchedule;
use crate::certificate::Objective;
use crate::model::{Kind, Model, Pass, Stage};
use crate::schedule::Schedule;
use crate::stop::Stop;

/// What the searches for passes alone may recompute.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Choice {
    /// Whatever the model has.
    AsItIs,
    /// Nothing.
    Without,
    /// Each stage at one level, by stage.
    Levels(Vec<usize>),
}

impl Choice {
    /// The choices that are searched for a model: no recomputation, each level, and what keeps the least.
    pub(super) fn all(model: &Model) -> Vec<Self> {
        let (stages, count) = (model.stages() as usize, model.recompute_levels());
        if count == 0 {
            return vec![Self::AsItIs];
        }
        let leanest = Stage::all(model.stages()).map(|stage| {
            let kept =
                |&level: &usize| (model.checkpoint_at(stage, level), model.recompute_duration(stage, level));
            (0..count).min_by_key(kept).unwrap_or_default()
        });
        let mut all: Vec<Self> = (0..count).map(|level| Self::Levels(vec![level; stages])).collect();
        if count > 1 {
            all.insert(0, Self::Without);
        }
        let leanest = Self::Levels(leanest.collect());
        if !all.contains(&leanest) {
            all.push(leanest);
        }
        all
    }

    /// The choice that a schedule makes for each stage: the level of the most of its Rs. Nothing where a stage mixes no
    /// levels that differ from those of other stages, as every choice of one level for all does.
    pub(super) fn mixed(model: &Model, schedule: &Schedule) -> Option<Self> {
        let mut counts: Vec<BTreeMap<usize, usize>> = vec![BTreeMap::new(); model.stages() as usize];
        for &pass in schedule.orders().iter().flatten().filter(|pass| pass.kind == Kind::R) {
            *counts[pass.stage.index()].entry(schedule.level_of(pass)).or_default() += 1;
        }
        let most = counts
            .iter()
            .map(|counts| counts.iter().max_by_key(|&(_, count)| count).map(|(&level, _)| level));
        let most: Vec<Option<usize>> = most.collect();
        let used: BTreeSet<usize> = most.iter().flatten().copied().collect();
        let other = *used.first()?;
        (used.len() > 1).then(|| Self::Levels(most.into_iter().map(|level| level.unwrap_or(other)).collect()))
    }

    /// The model in which each stage recomputes at its level alone, and R runs wherever a schedule has it.
    pub(super) fn of(&self, model: &Model) -> Model {
        match self {
            Self::AsItIs => model.clone(),
            Self::Without => model.with_recompute(None).expect("what keeps all of it needs no level"),
            Self::Levels(levels) => {
                model.with_level_of_stages(levels).expect("one level of the model for each stage")
            }
        }
    }

    /// What a schedule for that is under the model itself.
    pub(super) fn named(&self, model: &Model, schedule: &Schedule) -> Schedule {
        let Self::Levels(levels) = self else { return placed(model, schedule) };
        let named = with_levels(schedule, |pass| (pass.kind == Kind::R).then(|| levels[pass.stage.index()]));
        placed(model, &named)
    }
}

/// The schedule with these levels in place of those it has.
fn with_levels(schedule: &Schedule, of: impl Fn(Pass) -> Option<usize>) -> Schedule {
    let passes = schedule.orders().iter().flatten();
    let further = passes.filter_map(|&pass| Some((pass, of(pass).filter(|&level| level > 0)?)));
    let further = further.filter_map(|(pass, level)| Some((pass, u32::try_from(level).ok()?)));
    schedule.clone().with_levels(further.collect()).expect("Rs at further levels")
}

/// The schedule with its Rs where the model can run them.
pub(super) fn placed(model: &Model, schedule: &Schedule) -> Schedule {
    if !model.recomputes_in_backward() {
        return schedule.clone();
    }
    let mut placed = schedule.with_recomputation_in_backward();
    (placed.name, placed.model) = (schedule.name.clone(), schedule.model.clone());
    placed.provenance.clone_from(&schedule.provenance);
    placed
}

/// A schedule with the best levels that are found for its Rs, one change at a time, as long as replays of so many
/// passes last.
pub(super) fn improved(
    model: &Model,
    objective: Objective,
    mut best: ReplayedSchedule,
    mut passes_left: usize,
    stop: &Stop,
) -> ReplayedSchedule {
    if model.recompute_levels() < 2 {
        return best;
    }
    let again = |schedule: &Schedule| -> Vec<Pass> {
        let passes = schedule.orders().iter().flatten().copied();
        passes.filter(|pass| pass.kind == Kind::R).collect()
    };
    // All Rs of a device, then of a stage, then single ones.
    let placement = model.placement();
    let groups: [&dyn Fn(Pass) -> (u32, u32, u32); 3] = [
        &|pass| (placement.device_of(pass.stage).0, 0, 0),
        &|pass| (placement.device_of(pass.stage).0, 1 + pass.stage.0, 0),
        &|pass| (placement.device_of(pass.stage).0, 1 + pass.stage.0, 1 + pass.microbatch.0),
    ];
    loop {
        let before = best.rank();
        for group in groups {
            let all: BTreeSet<(u32, u32, u32)> = again(&best.schedule).into_iter().map(group).collect();
            for member in all {
                for level in 0..model.recompute_levels() {
                    if stop.is_due() || passes_left < best.schedule.len() {
                        return best;
                    }
                    let schedule = &best.schedule;
                    let changed = with_levels(schedule, |pass| match pass.kind {
                        Kind::R if group(pass) == member => Some(level),
                        Kind::R => Some(schedule.level_of(pass)),
                        _ => None,
                    });
                    if changed.levels() == schedule.levels() {
                        continue;
                    }
                    passes_left -= changed.len();
                    let engine = best.engine.clone();
                    if let Ok(changed) = ReplayedSchedule::new(model, objective, changed, engine)
                        && changed.rank() < best.rank()
                    {
                        best = changed;
                    }
                }
            }
        }
        if best.rank() == before {
            return best;
        }
    }
}
