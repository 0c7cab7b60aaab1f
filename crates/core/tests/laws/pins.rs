//! What the core says of random problems, word for word. That it is true is for the laws to say; this is to notice
//! whatever changes. After a change that is meant, `INSTA_UPDATE=always cargo test -p bubbleproof-core`.

use std::fmt::Write as _;

use bubbleproof_core::certificate::{
    Bound, Objective, critical_path, holds, interval_bound, lower_bound, lower_bound_of, lower_bound_within,
    steady_bound,
};
use bubbleproof_core::model::{Device, Model, Placement, Ticks, Units};
use bubbleproof_core::replay::memory_along;

use crate::choices::Choices;
use crate::{corpus, plans, problems, random};

#[test]
fn of_damaged_schedules() {
    let mut all = String::new();
    for seed in 0..120 {
        let bytes = random(seed, 200);
        let (problem, harm) = bytes.split_at(190);
        let choices = &mut Choices::new(problem);
        let Some(model) = problems::model(choices, 12) else { continue };
        let whole = problems::schedule(&model, choices);
        let damaged = problems::damaged(&whole, &mut Choices::new(harm));
        writeln!(all, "{seed}\n{}", corpus::said(&model, &damaged)).expect("a text");
        writeln!(all, "{:?}", memory_along(&model, &damaged)).expect("a text");
        if seed % 4 == 0 {
            writeln!(all, "{}", corpus::said(&model, &whole)).expect("a text");
        }
    }
    insta::assert_snapshot!(all);
}

#[test]
fn of_orders_that_wait_for_each_other() {
    let mut all = String::new();
    for seed in 0..60 {
        let bytes = random(seed, 300);
        let choices = &mut Choices::new(&bytes);
        let Some(model) = problems::model(choices, 16) else { continue };
        let schedule = problems::schedule(&model, choices);
        let mut orders = schedule.orders().to_vec();
        for order in &mut orders {
            let shift = choices.below(order.len());
            order.rotate_left(shift);
        }
        let shuffled = bubbleproof_core::schedule::Schedule::new(
            schedule.placement().clone(),
            schedule.microbatches(),
            orders,
        )
        .expect("the same passes");
        writeln!(all, "{seed}\n{}", corpus::said(&model, &shuffled)).expect("a text");
    }
    insta::assert_snapshot!(all);
}

#[test]
fn of_damaged_plans() {
    let mut all = String::new();
    for seed in 0..150 {
        let Some([damaged, _]) = plans::pair(&random(seed, 60 + seed)) else { continue };
        writeln!(all, "{seed}").expect("a text");
        all.push_str(&corpus::judged(&damaged));
    }
    insta::assert_snapshot!(all);
}

/// Models on which each of the bounds is the best somewhere.
fn models() -> Vec<Model> {
    let mut models = Vec::new();
    let shapes: [fn(u32) -> Placement; 3] = [
        |devices| Placement::linear(devices).expect("a placement"),
        |devices| Placement::v(devices).expect("a placement"),
        |devices| Placement::looped(devices, 2).expect("a placement"),
    ];
    for shape in shapes {
        for (devices, microbatches, capacity) in
            [(1, 3, 2), (2, 1, 2), (2, 4, 2), (2, 8, 3), (3, 4, 3), (3, 9, 4), (3, 6, 5), (4, 7, 8)]
        {
            let placement = shape(devices);
            // Where passes may be recomputed, no bound sees that memory is short.
            let unit = Model::equal_stages(placement.clone(), microbatches, [1, 1, 1, 0]).expect("a model");
            for (forward, backward, weight, latency) in [(1, 1, 1, 0), (3, 4, 2, 1), (2, 1, 5, 3)] {
                let mut costs = unit.costs().clone();
                costs.forward.fill(Ticks(forward));
                costs.backward_input.fill(Ticks(backward));
                costs.backward_weight.fill(Ticks(weight));
                costs.communication.fill(Ticks(latency));
                costs.forward[0] += Ticks(latency % 2);
                let mut memory = unit.memory().clone();
                memory.capacity.fill(Some(Units(capacity)));
                if forward == 3 {
                    memory.activation.fill(Units(2));
                    memory.retained_for_weight.fill(Units(1));
                    memory.capacity.fill(Some(Units(2 * capacity)));
                }
                let name = format!("{} {devices} {microbatches} {capacity} {forward}", placement.shape());
                models.push(
                    Model::new(name, None, placement.clone(), microbatches, costs, memory).expect("a model"),
                );
            }
        }
    }
    for seed in 0..40 {
        models.extend(problems::model(&mut Choices::new(&random(seed, 60)), 24));
    }
    models
}

#[test]
fn of_lower_bounds() {
    let mut all = String::new();
    for (number, model) in models().into_iter().enumerate() {
        writeln!(
            all,
            "{}, {} devices, {} microbatches: path {}, interval {}, steady {} {}",
            model.name(),
            model.devices(),
            model.microbatches(),
            critical_path(&model),
            interval_bound(&model),
            steady_bound(&model, 0),
            steady_bound(&model, 3000)
        )
        .expect("a text");
        for objective in [Objective::Makespan, Objective::DeviceSpan] {
            let mut bounds: Vec<Bound> = [0, 3000, if number % 5 == 0 { 30_000 } else { 4000 }]
                .map(|steps| lower_bound_within(&model, objective, steps))
                .to_vec();
            let devices: Vec<Device> = Device::all(model.devices()).collect();
            for devices in [&devices[..1], &devices[devices.len() - 1..], &devices[..]] {
                bounds.extend(lower_bound_of(&model, objective, devices, 3000));
            }
            for bound in bounds {
                holds(&model, objective, &bound).expect("it was derived");
                let wrong = Bound { value: bound.value + Ticks(1), ..bound.clone() };
                let refused = holds(&model, objective, &wrong).expect_err("it is too high");
                let sentence = bound.reason.sentence(|time| format!("{time} ticks"));
                writeln!(
                    all,
                    "  {objective} {}: {sentence}; {:?}; {refused}",
                    bound.value,
                    bound.reason.devices()
                )
                .expect("a text");
            }
        }
    }
    assert_eq!(
        lower_bound(&models()[3], Objective::Makespan),
        lower_bound_within(&models()[3], Objective::Makespan, 4_000_000)
    );
    insta::assert_snapshot!(all);
}

/// The figures of schedules that run.
#[test]
fn of_schedules_with_overlapped_pairs() {
    let mut all = String::new();
    for seed in 0..60 {
        let bytes = random(seed, 240);
        let choices = &mut Choices::new(&bytes);
        let Some(model) = problems::model(choices, 16) else { continue };
        let schedule = problems::schedule(&model, choices);
        let overlaps = schedule.orders().iter().map(|order| {
            let mut firsts: Vec<usize> = Vec::new();
            for (position, pair) in order.windows(2).enumerate() {
                let mut letters = [pair[0].kind.letter(), pair[1].kind.letter()];
                letters.sort_unstable();
                let is_pair = matches!(letters, ['B', 'F'] | ['F', 'I']);
                if is_pair && firsts.last().is_none_or(|&last| last + 2 <= position) && choices.below(2) == 1
                {
                    firsts.push(position);
                }
            }
            firsts
        });
        let overlaps: Vec<Vec<usize>> = overlaps.collect();
        let count: usize = overlaps.iter().map(Vec::len).sum();
        let paired = schedule.with_overlaps(overlaps).expect("a forward and a backward");
        assert_eq!(paired.overlap_count(), count);
        if count > 0 {
            writeln!(all, "{seed}\n{}\n{:?}", corpus::said(&model, &paired), memory_along(&model, &paired))
                .expect("a text");
        }
    }
    insta::assert_snapshot!(all);
}
