//! What is said of one problem in several ways: no bound, proof or schedule contradicts another.

use bubbleproof::block::Passes;
use bubbleproof::catalog;
use bubbleproof::certificate::{
    Objective, STEPS, check, holds, interval_bound, lower_bound_of, lower_bound_within, steady_bound,
};
use bubbleproof::model::{Model, Ticks};
use bubbleproof::optimize::exact::{self, Engine, ExactError, Limits};
use bubbleproof::optimize::{Options, optimize, zone};
use bubbleproof::replay::replay;
use bubbleproof::schedule::Schedule;
use bubbleproof::stop::Stop;
use num_rational::Ratio;
use proptest::prelude::*;

use super::bounds::subsets;
use super::optimising::limited;

fn value(model: &Model, objective: Objective, schedule: &Schedule) -> Ticks {
    objective.of(&replay(model, schedule).timing.expect("a valid schedule").metrics)
}

/// The worst of the catalogue, so that an engine that starts from it has to search.
fn worst(model: &Model, objective: Objective) -> Option<Schedule> {
    let all = catalog::entries().iter().filter_map(|entry| entry.generate(model).ok());
    all.filter(|schedule| replay(model, schedule).is_valid())
        .max_by_key(|schedule| value(model, objective, schedule))
}

proptest! {
    #![proptest_config(crate::cases(48))]

    #[test]
    fn bounds_proofs_and_schedules_never_contradict_each_other(model in limited(), span: bool) {
        let objective = if span { Objective::DeviceSpan } else { Objective::Makespan };
        let options = Options { objective, effort: 20_000, exact_effort: 300_000, ..Options::default() };
        let solution = optimize(&model, &options, &mut |_| ()).expect("one microbatch at a time fits");
        prop_assert!(check(&solution.schedule, Some(&model)).is_ok());
        let mut best = solution.value();
        let mut proved = solution.is_optimal().then_some(best).into_iter().collect::<Vec<_>>();
        let start = worst(&model, objective).unwrap_or_else(|| solution.schedule.clone());
        for &engine in Engine::ALL {
            let limits = Limits { stop: Stop::default(), effort: 400_000 };
            match exact::solve_with(&[engine], &model, objective, &start, &limits) {
                Ok(found) => {
                    prop_assert_eq!(value(&model, objective, &found.schedule), found.value);
                    prop_assert!(found.lower_bound <= found.value);
                    best = best.min(found.value);
                    proved.extend((found.lower_bound == found.value).then_some(found.value));
                }
                Err(ExactError::Rejected { engine, reason }) => prop_assert!(false, "{engine}: {reason}"),
                Err(_) => {}
            }
        }
        prop_assert!(proved.iter().all(|&value| value <= best), "{:?} are optimal, {} exists", proved, best);
        for steps in [0, 300, 20_000, STEPS / 4] {
            let bound = lower_bound_within(&model, objective, steps);
            prop_assert!(bound.value <= best, "{:?}, but {} exists", bound, best);
            prop_assert_eq!(holds(&model, objective, &bound), Ok(()));
            for devices in subsets(&model) {
                let Some(bound) = lower_bound_of(&model, objective, &devices, steps / 4) else {
                    continue;
                };
                prop_assert!(bound.value <= best, "{:?}, but {} exists", bound, best);
                prop_assert_eq!(holds(&model, objective, &bound), Ok(()));
            }
        }
    }

    #[test]
    fn no_schedule_and_no_block_is_faster_than_the_bound_on_the_long_run(
        model in limited(), steps in prop_oneof![Just(0), 0..3000_u64, Just(300_000)],
    ) {
        let bound = steady_bound(&model, steps);
        prop_assert!(bound >= interval_bound(&model));
        for entry in catalog::entries() {
            let Ok(schedule) = entry.generate(&model) else { continue };
            if replay(&model, &schedule).is_valid() {
                let makespan = value(&model, Objective::Makespan, &schedule);
                let each = Ratio::new(makespan.0, i64::from(model.microbatches()));
                prop_assert!(bound <= each, "{}: {} each, not {}", entry.name, each, bound);
            }
        }
        let recomputing = model.memory().checkpoint.is_some();
        for recompute in [false, true].into_iter().filter(|&recompute| recomputing || !recompute) {
            for fused in [false, true] {
                match zone::least_interval(&model, Passes { fused, recompute }, &Stop::default()) {
                    Ok(best) => prop_assert!(bound <= best.interval, "{}, not {}", best.interval, bound),
                    Err(zone::ZoneError::Placement | zone::ZoneError::Infeasible(_)) => {}
                    Err(error) => prop_assert!(false, "{error}"),
                }
            }
        }
    }
}
