//! Sharded weights: the rule of gatherings against one that looks at all that is left, and bounds against every order of tiny
//! problems.

use bubbleproof::certificate::{
    Objective, critical_path, holds, lower_bound, lower_bound_within, steady_bound,
};
use bubbleproof::model::{Device, Model, Placement, Sharding, Stage, Ticks, Units};
use bubbleproof::schedule::{Gathering, Schedule};

use crate::choices::Choices;
use crate::{beyond, machine, problems, random, step};

#[test]
fn gatherings_are_those_of_a_rule_that_looks_at_everything() {
    let (mut seen, mut again, mut pairs) = (0, 0, 0);
    for seed in 0..1500 {
        let row = random(seed, 24 + seed % 120);
        let (problem, harm) = row.split_at(row.len() - row.len() / 4);
        let choices = &mut Choices::new(problem);
        let Some(model) = problems::model(choices, 12) else { continue };
        let whole = problems::paired(&problems::schedule(&model, choices), choices);
        let damaged = problems::damaged(&whole, &mut Choices::new(harm));
        for schedule in [&whole, &damaged] {
            for device in Device::all(schedule.devices()) {
                for stages in 1..5 {
                    let found = schedule.gatherings(device, stages);
                    let expected: Vec<Gathering> = machine::gathers(schedule, device, stages as usize)
                        .into_iter()
                        .map(|(stage, [posted, used, until])| Gathering { stage, posted, used, until })
                        .collect();
                    assert_eq!(found, expected, "{:?}, {stages}", schedule.order(device));
                    covers(schedule, device, &found, stages as usize);
                    seen += 1;
                    again += usize::from(found.len() > model.placement().stages_of(device).len());
                    pairs += usize::from(stages == 1 && schedule.overlap_count() > 0);
                }
            }
        }
    }
    assert!(seen > 1000 && again > 100 && pairs > 20, "{seen}, {again}, {pairs}");
}

/// Every pass has the weights of its stage, no stage has them twice, and no more stages have them than may.
fn covers(schedule: &Schedule, device: Device, gatherings: &[Gathering], stages: usize) {
    for (at, pass) in schedule.order(device).iter().enumerate() {
        let there = gatherings.iter().filter(|gathering| (gathering.posted..gathering.until).contains(&at));
        let there: Vec<Stage> = there.map(|gathering| gathering.stage).collect();
        assert_eq!(there.iter().filter(|&&stage| stage == pass.stage).count(), 1);
        assert!(there.len() <= stages.max(2), "{there:?}");
    }
    for gathering in gatherings {
        let uses = |at: usize| schedule.order(device)[at].stage == gathering.stage;
        assert!(gathering.posted <= gathering.used && gathering.used < gathering.until);
        assert!(uses(gathering.used) || uses(gathering.used + 1));
    }
}

/// A tiny problem whose weights are sharded, with or without an end of the step.
fn tiny(seed: u64) -> Model {
    let row = random(seed + 5_000_000, 64);
    let choices = &mut Choices::new(&row);
    let model = step::tiny(seed);
    let model = if choices.below(2) == 0 { model.with_step(None).expect("a model") } else { model };
    let sharding = beyond::sharding(&model, choices);
    let model = model.with_sharding(Some(sharding)).expect("a model");
    let most = Device::all(2).map(|device| model.most_gathered(device)).max().expect("two devices");
    let capacity = [None, Some(most + Units(1)), Some(most + Units(2))][choices.below(3)];
    model.with_uniform_activation_capacity(capacity).expect("a model")
}

#[test]
fn no_bound_is_above_the_best_of_all_orders() {
    let objectives = [Objective::Makespan, Objective::DeviceSpan];
    let (mut valid, mut reached, mut higher) = (0, 0, 0);
    for seed in 0..120 {
        let model = tiny(seed);
        let mut least: Option<[Ticks; 2]> = None;
        for one in &step::orders(&model, Device(0)) {
            for other in &step::orders(&model, Device(1)) {
                let orders = vec![one.clone(), other.clone()];
                let schedule = Schedule::new(model.placement().clone(), model.microbatches(), orders);
                step::lower(&mut least, &model, &schedule.expect("two orders"));
            }
        }
        let Some(optimum) = least else { continue };
        valid += 1;
        let whole = model.with_sharding(None).expect("a model");
        for (objective, best) in objectives.into_iter().zip(optimum) {
            let without = lower_bound(&whole, objective);
            for bound in [lower_bound(&model, objective), lower_bound_within(&model, objective, 0)] {
                assert!(bound.value <= best, "{objective}: {bound:?} but {best}, {model:?}");
                assert_eq!(holds(&model, objective, &bound), Ok(()));
            }
            let bound = lower_bound(&model, objective);
            // Nothing runs before the weights of the first stage are there.
            let head = if objective == Objective::Makespan { model.gather(Stage(0)) } else { Ticks::ZERO };
            assert!(bound.value >= without.value + head, "{bound:?}, {without:?}");
            reached += usize::from(bound.value == best && model.has_gathers());
            higher += usize::from(bound.value > without.value + head);
        }
        assert_eq!(critical_path(&model), critical_path(&whole) + model.gather(Stage(0)));
        assert!(steady_bound(&model, 100_000) >= steady_bound(&whole, 100_000));
    }
    assert!(valid > 60 && reached > 10 && higher > 0, "{valid}, {reached}, {higher}");
}

/// Two devices with a stage each, two microbatches, unit times: each device works for 6 ticks.
#[test]
fn a_bound_with_sharded_weights_can_be_computed_by_hand() {
    let unit = Model::equal_stages(Placement::linear(2).expect("a placement"), 2, [1, 1, 1, 0]);
    let unit = unit.expect("a model");
    let with = |gather: [i64; 2], gathered: [i64; 2], capacity: i64| {
        let sharding = Sharding {
            gather: gather.map(Ticks).to_vec(),
            gathered: gathered.map(Units).to_vec(),
            stages: 3,
        };
        let model = unit.with_uniform_capacity(Units(capacity)).expect("a model");
        let model = model.with_sharding(Some(sharding)).expect("a model");
        [Objective::Makespan, Objective::DeviceSpan].map(|objective| lower_bound(&model, objective).value.0)
    };
    // Device 0 waits a tick for its first I.
    assert_eq!(with([0, 0], [0, 0], 2), [7, 7]);
    // All waits for the weights of stage 0, and those of stage 1 are gathered meanwhile.
    assert_eq!(with([5, 3], [0, 0], 2), [12, 7]);
    // Of 12 units, device 0 has one left for a microbatch, so the second one waits for the W of the first.
    let tight = with([0, 0], [11, 10], 12);
    assert_eq!(tight[0], 10, "one microbatch after the other, in 5 ticks each");
}
