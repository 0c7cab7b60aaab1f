//! The optimiser on random problems: always an answer that keeps to feasible caps, never worse than
//! the catalogue, never better than the bound.

use std::num::NonZeroUsize;
use std::time::Duration;

use bubbleproof::catalog;
use bubbleproof::certificate::Metric;
use bubbleproof::model::{Device, Model, Units};
use bubbleproof::optimize::{Objective, OptimizeError, Options, optimize};
use bubbleproof::replay::replay;
use proptest::prelude::*;

use super::random;

fn quick(objective: Objective) -> Options {
    Options { objective, effort: 20_000, exact_effort: 50_000, ..Options::default() }
}

/// Caps from the least that one microbatch needs upwards.
pub fn capped() -> impl Strategy<Value = Model> {
    (random::models(1), 0..8_i64).prop_map(|(model, spare)| {
        let whole = |device| -> Units {
            model.placement().stages_of(device).iter().map(|&stage| model.activation(stage)).sum()
        };
        let caps = Device::all(model.devices()).map(|device| Some(whole(device) + Units(spare)));
        model.with_capacity(caps.collect()).expect("as many caps as devices")
    })
}

proptest! {
    #![proptest_config(crate::cases(48))]

    #[test]
    fn feasible_caps_give_a_valid_schedule_no_worse_than_the_catalogue(model in capped(), span: bool) {
        let objective = if span { Objective::Span } else { Objective::Makespan };
        let solution = optimize(&model, &quick(objective), &mut |_| ()).expect("one microbatch at a time fits");
        let verdict = replay(&model, &solution.schedule);
        prop_assert!(verdict.is_valid(), "{:?}", verdict.violations);
        prop_assert_eq!(&verdict, &solution.verdict);
        prop_assert!(solution.value() >= solution.bound.value);
        for entry in catalog::entries() {
            let Ok(schedule) = entry.generate(&model) else { continue };
            let metrics = replay(&model, &schedule).timing.expect("the catalogue is valid").metrics;
            let value = match objective.metric() {
                Metric::Makespan => metrics.makespan,
                Metric::DeviceSpan => metrics.device_span,
            };
            prop_assert!(solution.value() <= value, "{} is better", entry.name);
        }
    }

    #[test]
    fn the_same_problem_and_seed_give_the_same_schedule_on_any_number_of_threads(
        model in capped(),
        seed: u64,
    ) {
        let solve = |threads| {
            let threads = NonZeroUsize::new(threads).expect("positive");
            let options = Options { seed, threads, ..quick(Objective::Makespan) };
            optimize(&model, &options, &mut |_| ()).expect("one microbatch at a time fits")
        };
        let alone = solve(1);
        for threads in [1, 2, 4] {
            prop_assert_eq!(&solve(threads), &alone, "{} threads", threads);
        }
    }

    #[test]
    fn many_microbatches_give_a_valid_schedule_no_worse_than_the_catalogue(
        model in capped(),
        microbatches in 55..140_u32,
    ) {
        let model = model.with_microbatches(microbatches).expect("small times");
        let options = quick(Objective::Makespan);
        let solution = optimize(&model, &options, &mut |_| ()).expect("one microbatch at a time fits");
        prop_assert!(replay(&model, &solution.schedule).is_valid());
        prop_assert_eq!(solution.schedule.microbatches(), microbatches);
        prop_assert!(solution.value() >= solution.bound.value);
        for entry in catalog::entries() {
            let Ok(schedule) = entry.generate(&model) else { continue };
            let named = replay(&model, &schedule).timing.expect("the catalogue is valid").metrics.makespan;
            prop_assert!(solution.value() <= named, "{} is better", entry.name);
        }
    }

    #[test]
    fn a_search_that_has_no_time_still_gives_a_schedule(model in capped()) {
        let options = Options { time_limit: Duration::ZERO, ..Options::default() };
        let solution = optimize(&model, &options, &mut |_| ()).expect("one microbatch at a time fits");
        prop_assert!(replay(&model, &solution.schedule).is_valid());
    }

    #[test]
    fn a_cap_below_one_microbatch_is_explained(model in capped(), at in any::<prop::sample::Index>()) {
        let device = Device::at(at.index(model.devices() as usize));
        let held = |stage: &_| model.checkpoint(*stage).unwrap_or_else(|| model.activation(*stage));
        let least: Units = model.placement().stages_of(device).iter().map(held).sum();
        prop_assume!(least > Units::ZERO);
        let mut caps = model.memory().capacity.clone();
        caps[device.index()] = Some(least - Units(1));
        let model = model.with_capacity(caps).expect("as many caps as devices");
        match optimize(&model, &quick(Objective::Makespan), &mut |_| ()) {
            Err(OptimizeError::Infeasible(why)) => {
                prop_assert_eq!(why.device, device);
                prop_assert!(why.needed > why.capacity);
                prop_assert_eq!(why.held.iter().map(|&(_, units)| units).sum::<Units>(), why.needed);
            }
            other => prop_assert!(false, "{other:?}"),
        }
    }
}
