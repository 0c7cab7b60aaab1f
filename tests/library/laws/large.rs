//! Numbers near the largest that a model may have: a true answer, or an error that says so.
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "all numbers here are drawn below 2^57"
)]

use std::time::Duration;

use bubbleproof::block::Passes;
use bubbleproof::certificate::{Objective, holds, lower_bound_within, steady_bound};
use bubbleproof::model::{Costs, Memory, Model, Placement, Ticks, Units};
use bubbleproof::optimize::block::BlockSolveError;
use bubbleproof::optimize::frontier::{FrontierError, frontier};
use bubbleproof::optimize::zone::{self, ZoneError};
use bubbleproof::optimize::{OptimizeError, Options, explain, optimize, periodic};
use bubbleproof::stop::{Interrupt, Stop};
use num_rational::Ratio;
use proptest::prelude::*;

use super::random::Choices;

/// A positive number of any size below 2^57.
fn size(choices: &mut Choices) -> i64 {
    let bits = choices.below(57);
    ((1_usize << bits) + choices.below(1 << bits)) as i64 / 2 + 1
}

/// Models of times and amounts of any size, each list of much the same size or of many, that are not
/// refused altogether.
fn large() -> impl Strategy<Value = Model> {
    any::<u64>().prop_filter_map("a total that is too large", |seed| {
        let mut choices = Choices::new(seed);
        let devices = 1 + choices.below(3) as u32;
        let placement = match choices.below(3) {
            0 => Placement::linear(devices),
            1 => Placement::v(devices),
            _ => Placement::looped(devices, 2),
        };
        let placement = placement.expect("a placement");
        let stages = placement.stages() as usize;
        let list = |choices: &mut Choices, length| -> Vec<i64> {
            let (one, alike) = (size(choices), choices.once_in(2));
            (0..length).map(|_| if alike { one } else { size(choices) }).collect()
        };
        let ticks = |choices: &mut Choices, length| list(choices, length).into_iter().map(Ticks).collect();
        let costs = Costs {
            unit: "tick".to_owned(),
            forward: ticks(&mut choices, stages),
            backward_input: ticks(&mut choices, stages),
            backward_weight: ticks(&mut choices, stages),
            communication: ticks(&mut choices, stages - 1),
        };
        let activation = list(&mut choices, stages);
        let part = |choices: &mut Choices| -> Vec<Units> {
            activation.iter().map(|&all| Units(choices.below(all as usize + 1) as i64)).collect()
        };
        let retained_for_weight = part(&mut choices);
        let checkpoint = choices.once_in(3).then(|| part(&mut choices));
        let capacity = placement.lists().iter().map(|stages| {
            let whole: i64 = stages.iter().map(|stage| activation[stage.index()]).sum();
            let times = size(&mut choices).min(Model::MAX_TOTAL / whole).max(1);
            (!choices.once_in(3)).then_some(Units(whole * times))
        });
        let capacity = capacity.collect();
        let activation: Vec<Units> = activation.iter().copied().map(Units).collect();
        let unit = "unit".to_owned();
        let weights = vec![Units(0); activation.len()];
        let memory = Memory { unit, activation, retained_for_weight, checkpoint, weights, capacity };
        Model::new("large".to_owned(), None, placement, 1 + choices.below(5) as u32, costs, memory).ok()
    })
}

proptest! {
    #![proptest_config(crate::cases(24))]

    #[test]
    fn large_numbers_are_optimised_and_bounded_without_overflow(model in large()) {
        for objective in [Objective::Makespan, Objective::DeviceSpan] {
            let options = Options { objective, effort: 10_000, exact_effort: 50_000, ..Options::default() };
            match optimize(&model, &options, &mut |_| ()) {
                Ok(solution) => prop_assert!(solution.bound.value <= solution.value()),
                Err(error) => prop_assert!(matches!(error, OptimizeError::Infeasible(_)), "{error}"),
            }
        }
        for objective in [Objective::Makespan, Objective::DeviceSpan] {
            let bound = lower_bound_within(&model, objective, 100_000);
            prop_assert_eq!(holds(&model, objective, &bound), Ok(()));
        }
        prop_assert!(steady_bound(&model, 100_000) >= Ratio::from_integer(model.most_work().0));
    }

    #[test]
    fn blocks_of_large_numbers_are_found_or_refused_but_never_wrong(model in large(), fused: bool) {
        let soon = || Stop::after(Duration::from_millis(200));
        let recompute = model.memory().checkpoint.is_some();
        for passes in [Passes { fused, recompute: false }, Passes { fused, recompute }] {
            let work = Ratio::from_integer(passes.most_work(&model).0);
            let found = [
                zone::least_interval(&model, passes, &soon()),
                zone::least_memory(&model, passes, work, &soon()),
            ];
            for refused in found.into_iter().filter_map(Result::err) {
                prop_assert!(!matches!(refused, ZoneError::Rejected(_)), "{refused}");
            }
            let (few, mut points) = (Interrupt::default(), 0);
            let drawn = frontier(&model, passes, &Stop::on(few.clone()).within(Duration::from_millis(200)), &mut |_, _| {
                points += 1;
                if points > 3 {
                    few.raise();
                }
            });
            // A solver in floating point cannot tell such numbers apart; the exact check then refuses its answer.
            let wrong = |error: &FrontierError| {
                matches!(error, FrontierError::Engine(BlockSolveError::Exact(ZoneError::Rejected(_))))
            };
            prop_assert!(!drawn.as_ref().is_err_and(wrong), "{:?}", drawn.err());
        }
        let effort = periodic::Effort { seed: 1, steps: 200 };
        if let Ok(outcome) = periodic::least_interval(&model, 2, effort, &soon())
            && let Some(answer) = outcome.best()
        {
            prop_assert_eq!(answer.block.faults(&model), []);
        }
        let _named = explain::steady(&model, &soon());
    }
}
