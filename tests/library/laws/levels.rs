//! Levels of recomputation, and recomputation in the backward: the optimiser is never worse than with a single level, and
//! recomputes nothing that it could leave out or recompute quicker.

use std::collections::BTreeMap;

use bubbleproof::certificate::{self, Optimality};
use bubbleproof::model::{Kind, Model, Pass, Recompute, RecomputeLevel, Ticks, Units};
use bubbleproof::optimize::{OptimizeError, Options, optimize};
use bubbleproof::replay::replay;
use bubbleproof::schedule::Schedule;
use proptest::prelude::*;

use super::optimising;
use super::random::Choices;

/// One to three levels, some with durations of their own.
pub fn levelled(plain: &Model, seed: u64, fused: bool) -> Model {
    let mut choices = Choices::new(seed);
    let mut small = |below: i64| {
        i64::try_from(choices.below(usize::try_from(below).expect("it is positive"))).expect("a small number")
    };
    let levels = (0..=small(3)).map(|_| RecomputeLevel {
        checkpoint: plain.memory().activation.iter().map(|whole| Units(small(whole.0 + 1))).collect(),
        duration: (small(3) > 0).then(|| plain.costs().forward.iter().map(|_| Ticks(small(6))).collect()),
    });
    let levels = levels.collect();
    plain.with_recompute(Some(Recompute { levels, fused })).expect("a model")
}

/// The schedule without an R.
fn without(schedule: &Schedule, pass: Pass) -> Schedule {
    let orders = schedule.orders().iter();
    let orders = orders.map(|order| order.iter().copied().filter(|&other| other != pass).collect());
    let (placement, microbatches) = (schedule.placement().clone(), schedule.microbatches());
    let left = Schedule::new(placement, microbatches, orders.collect()).expect("a schedule");
    left.with_levels_of(schedule)
}

/// The schedule with an R at another level.
fn at_level(schedule: &Schedule, pass: Pass, level: usize) -> Schedule {
    let mut levels: BTreeMap<Pass, u32> = schedule.levels().clone();
    levels.remove(&pass);
    if level > 0 {
        levels.insert(pass, u32::try_from(level).expect("few"));
    }
    schedule.clone().with_levels(levels).expect("a schedule")
}

proptest! {
    #![proptest_config(crate::cases(48))]

    #[test]
    fn the_optimiser_uses_levels_and_needs_each_recomputation(
        plain in optimising::limited(),
        seed: u64,
        less in 0..6_i64,
        fused: bool,
    ) {
        let model = levelled(&plain, seed, fused);
        let capacity = model.memory().capacity.iter().map(|capacity| {
            capacity.map(|capacity| Units((capacity.0 - less).max(0)))
        });
        // Weights have to fit in any case.
        let Ok(model) = model.without_weights().with_activation_capacity(capacity.collect()) else { return Ok(()) };
        let options = Options { effort: 20_000, exact_effort: 50_000, ..Options::default() };
        let found = optimize(&model, &options, &mut |_| ());
        let mut feasible = false;
        for level in 0..model.recompute_levels() {
            let one = model.with_level_of_stages(&vec![level; model.stages() as usize]).expect("a level");
            let Ok(best) = optimize(&one, &options, &mut |_| ()) else { continue };
            feasible = true;
            let Ok(solution) = &found else { continue };
            if fused {
                // What is found with R anywhere is valid with each R before its backward.
                let levels = best.schedule.orders().iter().flatten().filter(|pass| pass.kind == Kind::R);
                let levels = levels.filter(|_| level > 0);
                let levels = levels.map(|&pass| (pass, u32::try_from(level).expect("few"))).collect();
                let placed = best.schedule.clone().with_levels(levels).expect("levels");
                let verdict = replay(&model, &placed.with_recomputation_in_backward());
                prop_assert!(verdict.is_valid(), "{:?}", verdict.violations);
                prop_assert!(solution.value() <= verdict.timing.expect("it is valid").metrics.makespan);
            } else {
                prop_assert!(solution.value() <= best.value(), "level {}", level);
            }
        }
        let solution = match found {
            Err(OptimizeError::Infeasible(_)) => {
                prop_assert!(!feasible);
                return Ok(());
            }
            solution => solution.expect("nothing else keeps it from a schedule"),
        };
        let schedule = &solution.schedule;
        let verdict = replay(&model, schedule);
        prop_assert!(verdict.is_valid(), "{:?}", verdict.violations);
        prop_assert!(solution.bound.value <= solution.value());
        let by_search = matches!(solution.optimality, Optimality::Search { .. });
        prop_assert!(!by_search || model.beyond_passes().is_none());
        prop_assert!(certificate::check(schedule, Some(&model)).is_ok());
        for &pass in schedule.orders().iter().flatten().filter(|pass| pass.kind == Kind::R) {
            prop_assert!(!replay(&model, &without(schedule, pass)).is_valid(), "{} is needless", pass);
            let takes = |level| model.recompute_duration(pass.stage, level);
            for level in 0..model.recompute_levels() {
                if takes(level) < takes(schedule.level_of(pass)) {
                    prop_assert!(!replay(&model, &at_level(schedule, pass, level)).is_valid(), "{} at {}", pass, level);
                }
            }
        }
    }
}
