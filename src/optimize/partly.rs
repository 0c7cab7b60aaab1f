//! Blocks that recompute some of the stages: those whose activations live longest, say.
//!
//! A [block](Block) recomputes every stage or none. But a stage that keeps everything is one whose R takes no time and
//! acquires nothing. So a block of least interval is found with such Rs, and they are left out of the schedule that is
//! made of it.

use num_rational::Ratio;

use super::{Stop, zone};
use crate::block::{Block, Passes};
use crate::certificate::interval_bound;
use crate::model::{Kind, Model, Pass, Recompute, RecomputeLevel, Stage, Ticks, Units};
use crate::schedule::Schedule;

/// What such a block runs for every stage.
const PASSES: Passes = Passes { recompute: true, ..Passes::SPLIT };

/// A block that recomputes some stages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Partly {
    /// The stages that it recomputes, by stage.
    recomputed: Vec<bool>,
    /// The block, with an R of every stage.
    block: Block,
}

/// The model in which only these stages recompute anything. Whatever they keep, they keep at the first level.
fn masked(model: &Model, recomputed: &[bool]) -> Option<Model> {
    let stages = || Stage::all(model.stages()).zip(recomputed);
    let kept = |(stage, &again): (Stage, &bool)| {
        if again { model.checkpoint(stage) } else { Some(model.activation(stage)) }
    };
    let time = |(stage, &again): (Stage, &bool)| {
        if again { model.recompute_duration(stage, 0) } else { Ticks::ZERO }
    };
    let checkpoint = stages().map(kept).collect::<Option<Vec<Units>>>()?;
    let level = RecomputeLevel { checkpoint, duration: Some(stages().map(time).collect()) };
    model.with_recompute(Some(Recompute { levels: vec![level], fused: false })).ok()
}

/// The blocks of least interval within the capacities that recompute one of these sets of stages, by stage: those first that may
/// take the least time. Sets that cannot take less than a block that is known are left out.
pub(super) fn blocks(model: &Model, sets: impl IntoIterator<Item = Vec<bool>>, stop: &Stop) -> Vec<Partly> {
    if !zone::is_applicable(model.placement()) {
        return Vec::new();
    }
    let tried = sets.into_iter().filter_map(|recomputed| {
        let masked = masked(model, &recomputed)?;
        let work = Ratio::from_integer(PASSES.most_work(&masked).0);
        Some((interval_bound(&masked).max(work), recomputed, masked))
    });
    let mut tried: Vec<(Ratio<i64>, Vec<bool>, Model)> = tried.collect();
    tried.sort_by_key(|(least, ..)| *least);
    let mut found: Vec<(Ratio<i64>, Partly)> = Vec::new();
    for (least, recomputed, masked) in tried {
        if stop.is_due() || found.iter().any(|(interval, _)| *interval <= least) {
            break;
        }
        let best = zone::least_interval(&masked, PASSES, stop);
        if let Ok(best) = best.and_then(|best| zone::soonest_done(&masked, PASSES, best, stop)) {
            found.push((best.interval, Partly { recomputed, block: best.block }));
        }
    }
    found.sort_by_key(|(interval, _)| *interval);
    found.into_iter().map(|(_, partly)| partly).collect()
}

impl Partly {
    /// The schedule of all microbatches, without the Rs that stand for none.
    pub fn expand(&self, model: &Model) -> Option<Schedule> {
        let masked = masked(model, &self.recomputed)?;
        let whole = self.block.expand(&masked, model.microbatches()).ok()?;
        let is_there = |pass: &&Pass| pass.kind != Kind::R || self.recomputed[pass.stage.index()];
        let orders = whole.orders().iter().map(|order| order.iter().filter(is_there).copied().collect());
        Schedule::new(model.placement().clone(), model.microbatches(), orders.collect()).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Memory, Placement};
    use crate::replay::replay;

    /// V placement on four devices, where half of 1F1B's memory is there and most of it is for activations that wait for W.
    fn model() -> Model {
        let model =
            Model::equal_stages(Placement::v(4).expect("a placement"), 24, [3, 4, 2, 0]).expect("a model");
        let memory = Memory {
            activation: vec![Units(24); 8],
            retained_for_weight: vec![Units(20); 8],
            checkpoint: Some(vec![Units(1); 8]),
            ..model.memory().clone()
        };
        model
            .with_plain_memory(memory)
            .and_then(|model| model.with_uniform_capacity(Units(72)))
            .expect("a model")
    }

    fn below(stage: usize) -> Vec<bool> {
        (0..8).map(|at| at < stage).collect()
    }

    #[test]
    fn to_recompute_half_of_the_stages_takes_less_time_than_all_or_none() {
        let model = model();
        let found = blocks(&model, (1..8).map(below), &Stop::default());
        let best = &found[0];
        for passes in [Passes::SPLIT, PASSES] {
            let other = zone::least_interval(&model, passes, &Stop::default()).expect("a block");
            assert!(best.block.interval() < other.interval, "{} {}", best.block.interval(), other.interval);
        }
        assert!(found.is_sorted_by_key(|partly| partly.block.interval()));
    }

    #[test]
    fn the_schedule_recomputes_these_stages_alone_and_keeps_to_the_capacities() {
        let model = model();
        for set in [below(4), below(2)] {
            let found = blocks(&model, [set], &Stop::default());
            let [partly] = &found[..] else { panic!("{} blocks", found.len()) };
            let schedule = partly.expand(&model).expect("it is not too large");
            assert_eq!(replay(&model, &schedule).violations, []);
            for stage in Stage::all(8) {
                let passes = schedule.orders().iter().flatten();
                let again = passes.filter(|pass| pass.kind == Kind::R && pass.stage == stage).count();
                assert_eq!(again, if partly.recomputed[stage.index()] { 24 } else { 0 }, "stage {stage}");
            }
        }
    }

    #[test]
    fn looped_placement_has_none() {
        let model = Model::equal_stages(Placement::looped(4, 2).expect("a placement"), 24, [1, 1, 1, 0]);
        let memory = Memory {
            checkpoint: Some(vec![Units(0); 8]),
            ..model.as_ref().expect("a model").memory().clone()
        };
        let model = model.and_then(|model| model.with_plain_memory(memory)).expect("a model");
        assert_eq!(blocks(&model, [below(4)], &Stop::default()), []);
    }
}
