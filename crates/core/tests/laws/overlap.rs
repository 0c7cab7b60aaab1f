//! Overlapped pairs that take less time than their passes: replay against a naive executor, and bounds against every order
//! with every choice of pairs of tiny problems.

use std::collections::BTreeMap;

use bubbleproof::certificate::{Objective, holds, lower_bound, shortened};
use bubbleproof::model::{
    Costs, Device, Kind, Microbatch, Model, Overlap, PairDurations, Pass, Placement, Stage, Ticks,
};
use bubbleproof::replay::replay;
use bubbleproof::schedule::Schedule;
use proptest::prelude::*;

/// A model with pairs of random durations on two devices; with V placement one microbatch, else two.
pub fn models() -> impl Strategy<Value = Model> {
    let placements = prop_oneof![Just((Placement::linear(2), 2)), Just((Placement::v(2), 1))];
    (placements, prop::collection::vec(1..=6_i64, 16), prop::collection::vec(0..=100_i64, 32), any::<bool>())
        .prop_map(|((placement, microbatches), times, shares, both)| {
            let placement = placement.expect("a placement");
            let stages = placement.stages() as usize;
            let list = |from: usize| {
                times[from * 4..from * 4 + stages].iter().copied().map(Ticks).collect::<Vec<_>>()
            };
            let costs = Costs {
                unit: "tick".to_owned(),
                forward: list(0),
                backward_input: list(1),
                backward_weight: list(2),
                communication: list(3)[1..].to_vec(),
            };
            let unit = Model::unit(placement, microbatches).expect("a model");
            let model = unit.with_costs(costs).expect("a model");
            let mut shares = shares.into_iter();
            let mut durations = |kind| {
                let mut listed = BTreeMap::new();
                for device in Device::all(2) {
                    for &forward in model.placement().stages_of(device) {
                        for &backward in model.placement().stages_of(device) {
                            let passes =
                                [model.duration(forward, Kind::F).0, model.duration(backward, kind).0];
                            let most_saved = passes[0].min(passes[1]);
                            let saved = most_saved * shares.next().expect("enough") / 100;
                            listed.insert((forward, backward), Ticks(passes[0] + passes[1] - saved));
                        }
                    }
                }
                PairDurations::Listed(listed)
            };
            let forward_backward = durations(Kind::B);
            let forward_input = if both { durations(Kind::I) } else { PairDurations::Sum };
            model
                .with_overlap(Overlap { forward_backward, forward_input, ..Overlap::default() })
                .expect("durations that suit")
        })
}

type Steps = Vec<Vec<Pass>>;

/// Every order of a device's passes in which none comes before one of the same device that it surely needs.
fn orders(model: &Model, device: Device) -> Vec<Vec<Pass>> {
    fn extend(left: &mut Vec<Pass>, order: &mut Vec<Pass>, found: &mut Vec<Vec<Pass>>) {
        if left.is_empty() {
            found.push(order.clone());
        }
        for at in 0..left.len() {
            let pass = left[at];
            let waits = left.iter().any(|&other| {
                other.microbatch == pass.microbatch
                    && match (pass.kind, other.kind) {
                        (Kind::I, Kind::F) | (Kind::W, Kind::I) => pass.stage == other.stage,
                        (Kind::F, Kind::F) => other.stage < pass.stage,
                        (Kind::I, Kind::I) => other.stage > pass.stage,
                        _ => false,
                    }
            });
            if !waits {
                order.push(left.remove(at));
                extend(left, order, found);
                left.insert(at, order.pop().expect("it was pushed"));
            }
        }
    }
    let stages = model.placement().stages_of(device).iter();
    let mut passes: Vec<Pass> = stages
        .flat_map(|&stage| [Kind::F, Kind::I, Kind::W].map(|kind| (stage, kind)))
        .flat_map(|(stage, kind)| {
            Microbatch::all(model.microbatches()).map(move |of| Pass::new(stage, kind, of))
        })
        .collect();
    let mut found = Vec::new();
    extend(&mut passes, &mut Vec::new(), &mut found);
    found
}

/// Every way to run an order with pairs, an I and its W also as a B.
fn tilings(order: &[Pass]) -> Vec<Steps> {
    if order.is_empty() {
        return vec![Vec::new()];
    }
    let is_b = |at: usize| {
        order
            .get(at)
            .is_some_and(|pass| pass.kind == Kind::I && order.get(at + 1) == Some(&pass.with_kind(Kind::W)))
    };
    let is_f = |at: usize| order.get(at).is_some_and(|pass| pass.kind == Kind::F);
    let is_i = |at: usize| order.get(at).is_some_and(|pass| pass.kind == Kind::I);
    let full = |at: usize| order[at].with_kind(Kind::B);
    let mut firsts = vec![(vec![order[0]], 1)];
    if is_f(0) && is_i(1) {
        firsts.push((vec![order[0], order[1]], 2));
    }
    if is_i(0) && is_f(1) {
        firsts.push((vec![order[0], order[1]], 2));
    }
    if is_f(0) && is_b(1) {
        firsts.push((vec![order[0], full(1)], 3));
    }
    if is_b(0) && is_f(2) {
        firsts.push((vec![full(0), order[2]], 3));
    }
    firsts
        .into_iter()
        .flat_map(|(step, passes)| {
            tilings(&order[passes..]).into_iter().map(move |rest| {
                let mut steps = vec![step.clone()];
                steps.extend(rest);
                steps
            })
        })
        .collect()
}

fn schedule(model: &Model, steps: [&Steps; 2]) -> Schedule {
    Schedule::of_steps(model.placement().clone(), model.microbatches(), steps.map(|steps| steps.iter()))
        .expect("steps")
}

/// When every step starts and ends, and so what starts and ends with it; nothing when they wait for each other.
fn naive(model: &Model, steps: [&Steps; 2]) -> Option<BTreeMap<Pass, (i64, i64)>> {
    let duration = |pass: Pass| {
        let (costs, at) = (model.costs(), pass.stage.index());
        match pass.kind {
            Kind::F => costs.forward[at].0,
            Kind::I => costs.backward_input[at].0,
            Kind::W => costs.backward_weight[at].0,
            Kind::B => costs.backward_input[at].0 + costs.backward_weight[at].0,
            Kind::R => unreachable!("nothing is recomputed"),
        }
    };
    let together = |step: &[Pass]| match *step {
        [pass] => duration(pass),
        [one, other] => {
            let (forward, backward) = if one.kind == Kind::F { (one, other) } else { (other, one) };
            let overlap = model.overlap();
            let durations =
                if backward.kind == Kind::B { &overlap.forward_backward } else { &overlap.forward_input };
            match durations {
                PairDurations::Listed(listed) => listed[&(forward.stage, backward.stage)].0,
                _ => duration(one) + duration(other),
            }
        }
        _ => unreachable!("one or two passes"),
    };
    let device_of = |stage: Stage| model.placement().device_of(stage);
    let mut ends: BTreeMap<Pass, i64> = BTreeMap::new();
    let mut times = BTreeMap::new();
    let (mut free, mut next) = ([0; 2], [0; 2]);
    loop {
        let mut moved = false;
        for device in 0..2 {
            let Some(step) = steps[device].get(next[device]) else { continue };
            let mut start = free[device];
            let is_ready = step.iter().all(|&pass| {
                let here = pass.stage.0;
                let at = |stage, kinds: &[Kind]| {
                    kinds
                        .iter()
                        .map(|&kind| Pass::new(Stage(stage), kind, pass.microbatch))
                        .collect::<Vec<_>>()
                };
                // What is needed, and one of what is listed together is enough.
                let mut needs = Vec::new();
                match pass.kind {
                    Kind::F if here > 0 => needs.push(at(here - 1, &[Kind::F])),
                    Kind::W => needs.push(at(here, &[Kind::I])),
                    Kind::I | Kind::B => {
                        needs.push(at(here, &[Kind::F]));
                        if here + 1 < model.stages() {
                            needs.push(at(here + 1, &[Kind::I, Kind::B]));
                        }
                    }
                    _ => {}
                }
                needs.iter().all(|either| {
                    either.iter().find_map(|need| Some((*need, *ends.get(need)?))).is_some_and(
                        |(need, end)| {
                            let apart = device_of(need.stage) != device_of(pass.stage);
                            let boundary = need.stage.min(pass.stage).index();
                            start = start
                                .max(end + if apart { model.costs().communication[boundary].0 } else { 0 });
                            true
                        },
                    )
                })
            });
            if !is_ready {
                continue;
            }
            let end = start + together(step);
            for &pass in step {
                ends.insert(pass, end);
                times.insert(pass, (start, end));
            }
            (free[device], next[device], moved) = (end, next[device] + 1, true);
        }
        if !moved {
            return (0..2).all(|device| next[device] == steps[device].len()).then_some(times);
        }
    }
}

/// The least makespan and device span over all orders and pairs; how many schedules with pairs were valid.
pub fn optimum(model: &Model) -> (Ticks, Ticks, usize) {
    let of =
        |device| -> Vec<Steps> { orders(model, device).iter().flat_map(|order| tilings(order)).collect() };
    let (first, second) = (of(Device(0)), of(Device(1)));
    let (mut makespan, mut span, mut paired) = (Ticks(i64::MAX), Ticks(i64::MAX), 0);
    for one in &first {
        for other in &second {
            let schedule = schedule(model, [one, other]);
            if let Some(timing) = replay(model, &schedule).timing {
                makespan = makespan.min(timing.metrics.makespan);
                span = span.min(timing.metrics.device_span);
                paired += usize::from(schedule.overlap_count() > 0);
            }
        }
    }
    (makespan, span, paired)
}

/// Device 1 works for 24 ticks from 1 on, or for 20 where the second forward runs beside the first backward.
#[test]
fn a_pair_that_saves_time_shortens_the_schedule() {
    let unit = Model::unit(Placement::linear(2).expect("a placement"), 2).expect("a model");
    let stages = || vec![Ticks(1), Ticks(4)];
    let costs = Costs {
        forward: stages(),
        backward_input: stages(),
        backward_weight: stages(),
        ..unit.costs().clone()
    };
    let apart = unit.with_costs(costs).expect("a model");
    let pair = PairDurations::Listed(BTreeMap::from([((Stage(1), Stage(1)), Ticks(8))]));
    let paired = apart
        .with_overlap(Overlap { forward_backward: pair, ..Overlap::default() })
        .expect("8 is the longer one");
    assert_eq!(optimum(&apart).0, Ticks(25));
    assert_eq!(optimum(&paired).0, Ticks(21));
    assert_eq!(lower_bound(&apart, Objective::Makespan).value, Ticks(25));
    assert_eq!(lower_bound(&paired, Objective::Makespan).value, Ticks(21));
    assert_eq!(shortened(&paired).work(Device(1)), Ticks(8));
    assert!(!shortened(&paired).has_cheaper_pairs());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn no_bound_is_above_what_pairs_can_reach(model in models()) {
        let (makespan, span, _) = optimum(&model);
        for (objective, best) in [(Objective::Makespan, makespan), (Objective::DeviceSpan, span)] {
            let bound = lower_bound(&model, objective);
            prop_assert!(bound.value <= best, "{:?} but {}", bound, best);
            prop_assert_eq!(holds(&model, objective, &bound), Ok(()));
        }
    }
}

proptest! {
    #[test]
    fn replay_gives_pairs_their_durations(model in models(), picks in prop::collection::vec(any::<prop::sample::Index>(), 4)) {
        let choose = |device: u32, picks: &[prop::sample::Index]| {
            let orders = orders(&model, Device(device));
            let tilings = tilings(&orders[picks[0].index(orders.len())]);
            tilings[picks[1].index(tilings.len())].clone()
        };
        let steps = [choose(0, &picks[..2]), choose(1, &picks[2..])];
        let steps = [&steps[0], &steps[1]];
        let schedule = schedule(&model, steps);
        let (verdict, expected) = (replay(&model, &schedule), naive(&model, steps));
        // A pair of one stage and microbatch needs itself.
        let is_one = |step: &Vec<Pass>| step.len() == 2 && step[0].with_kind(Kind::F) == step[1].with_kind(Kind::F);
        prop_assert_eq!(verdict.timing.is_some(), expected.is_some() && !steps.iter().any(|steps| steps.iter().any(is_one)));
        let Some(timing) = verdict.timing else { return Ok(()) };
        let expected = expected.expect("it runs");
        let mut busy = 0;
        for device in Device::all(2) {
            let starts = &timing.starts[device.index()];
            for (position, (&pass, &start)) in schedule.order(device).iter().zip(starts).enumerate() {
                let (begin, end) = expected[&pass];
                let is_second = position > 0 && schedule.overlaps(device).contains(&(position - 1));
                let own = model.duration(pass.stage, pass.kind).0;
                prop_assert_eq!(start.0, if is_second { end - own } else { begin }, "{}", pass);
                busy += if is_second { 0 } else { end - begin };
            }
        }
        prop_assert_eq!(timing.metrics.busy, Ticks(busy));
        prop_assert_eq!(timing.metrics.makespan.0, expected.values().map(|times| times.1).max().expect("passes"));
    }
}
