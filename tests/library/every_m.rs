//! Formulas in m of schedules that have a name, and the answers for schedules that have none.

use bubbleproof::block::Block;
use std::fmt::Write as _;

use bubbleproof::block::family::{self, SHIPPED};
use bubbleproof::catalog::{self, Needs};
use bubbleproof::model::{Kind, Model, Pass, Placement, Stage, Ticks, Units};
use bubbleproof::prove::every::{
    EveryM, Formula, Proof, UnknownReason, every_m_of_block, every_m_of_schedule,
};
use bubbleproof::replay::replay;
use bubbleproof::schedule::Schedule;
use bubbleproof::stop::Stop;
use itertools::iproduct;

fn proved(what: &str, answer: EveryM) -> Proof {
    match answer {
        EveryM::Proved(proof) => *proof,
        other => panic!("{what}: {other:?}"),
    }
}

fn of_block(name: &str, block: &Block, model: &Model) -> Proof {
    proved(name, every_m_of_block(block, model, &Stop::default()).expect("an answer"))
}

/// A V block at unit times.
fn squeezed(name: &str, devices: u32) -> Proof {
    let placement = Placement::v(devices).expect("a placement");
    let block = catalog::block(name, &placement).expect("a block of the catalogue");
    of_block(name, &block, &Model::unit(placement, 1).expect("a model"))
}

/// What a formula says from some number of microbatches on, if that is `slope * m + offset`.
fn line(formula: &Formula) -> Option<(u32, i64, i64)> {
    let [value] = formula.cycle() else { return None };
    let slope = formula.increase().0;
    Some((formula.from(), slope, value.0 - slope * i64::from(formula.from())))
}

#[test]
fn squeezed_v_min_takes_at_most_6m_and_4d_and_just_that_where_3_does_not_divide_d() {
    for devices in 3..=16 {
        let makespan = squeezed("v-min", devices).makespan;
        let (d, divided) = (i64::from(devices), devices.is_multiple_of(3));
        let bound = 4 * d - 5 + if divided { 2 } else { 0 };
        let (from, slope, offset) = line(&makespan).expect("one line");
        assert_eq!((slope, offset), (6, bound), "d = {d}");
        assert_eq!(from, if divided { 2 } else { 1 }, "d = {d}");
        for microbatches in 1..from {
            let value = makespan.at(microbatches).expect("every m").0;
            assert!(value < 6 * i64::from(microbatches) + bound, "d = {d}, m = {microbatches}");
        }
    }
}

#[test]
fn squeezed_v_half_and_v_zb_have_the_closed_forms_that_tests_had_found() {
    for devices in 2..=16 {
        let d = i64::from(devices);
        let half = if d % 2 == 0 { (7 * d - 4) / 2 } else { 7 * (d - 1) / 2 };
        assert_eq!(line(&squeezed("v-half", devices).makespan), Some((devices / 2 + 1, 6, half)), "d = {d}");
        assert_eq!(line(&squeezed("v-zb", devices).makespan), Some((devices, 6, 2 * d - 3)), "d = {d}");
    }
}

#[test]
fn without_time_nothing_is_said_of_every_m() {
    let family = family::shipped("v-half").expect("it is shipped");
    let (block, model) = (family.block(4).expect("a block"), family.model(4, 12).expect("a model"));
    let schedule = block.expand(&model, 12).expect("a schedule");
    let now = Stop::after(std::time::Duration::ZERO);
    let answers = [every_m_of_block(&block, &model, &now), every_m_of_schedule(&schedule, &model, &now)];
    for answer in answers {
        assert_eq!(answer, Ok(EveryM::Unknown(UnknownReason::Time)));
    }
}

#[test]
fn every_shipped_family_is_proved_for_every_m() {
    let mut text = String::new();
    for (name, _) in SHIPPED {
        let family = family::shipped(name).expect("it is shipped");
        for devices in [2, 3, 4, 7, 8, 12] {
            let (Ok(block), Ok(model)) = (family.block(devices), family.model(devices, 1)) else { continue };
            let proof = of_block(name, &block, &model);
            assert_eq!(proof.peak_memory, block.steady_peak(&model), "{name}, {devices} devices");
            for microbatches in 1..=40 {
                let model = family.model(devices, microbatches).expect("a model");
                let schedule = block.expand(&model, microbatches).expect("a schedule");
                let metrics = replay(&model, &schedule).timing.expect("it runs").metrics;
                assert_eq!(proof.makespan.at(microbatches), Some(metrics.makespan), "{name}");
                let span = proof.device_span.as_ref().and_then(|span| span.at(microbatches));
                assert_eq!(span, Some(metrics.device_span), "{name}, {devices} devices");
            }
            if devices == 4 {
                writeln!(text, "{name}: {}", proof.makespan).expect("a string takes everything");
            }
        }
    }
    insta::assert_snapshot!(text);
}

/// The steady periods that theorems about all durations give.
#[test]
fn with_unequal_passes_the_interval_of_the_v_orders_is_a_closed_form() {
    for (f, i, w, devices) in iproduct!(1..=3_i64, 1..=4_i64, 1..=3_i64, [3, 4, 5, 6]) {
        let work = 2 * (f + i + w);
        let placement = Placement::v(devices).expect("a placement");
        let model = Model::equal_stages(placement.clone(), 1, [f, i, w, 0]).expect("a model");
        for (name, interval) in [
            ("v-min", work.max(6 * f).max(6 * i)),
            ("v-half", work.max(4 * f + w).max(4 * i + w)),
            ("v-zb", work),
        ] {
            let block = catalog::block(name, &placement).expect("a block of the catalogue");
            let rate = of_block(name, &block, &model).makespan.rate();
            assert_eq!(rate, interval.into(), "{name} with {f}, {i}, {w} on {devices} devices");
        }
    }
}

#[test]
fn a_block_with_a_pass_before_what_it_needs_is_refuted() {
    let family = family::shipped("1f1b").expect("it is shipped");
    let (block, model) = (family.block(3).expect("a block"), family.model(3, 1).expect("a model"));
    let wrong = |pass: Pass| pass.stage == Stage(0) && pass.kind == Kind::I;
    let moved = block.passes().map(|(pass, at)| (pass, if wrong(pass) { at - Ticks(9) } else { at }));
    let moved = Block::periodic(block.placement().clone(), 1, 1, block.interval_parts(), moved);
    let answer = every_m_of_block(&moved.expect("a block"), &model, &Stop::default()).expect("an answer");
    let EveryM::Refuted(refutation) = answer else { panic!("{answer:?}") };
    assert_eq!(refutation.microbatches, 1);
    assert_eq!(refutation.verdict.violations[0].rule(), "deadlock");
}

#[test]
fn a_capacity_one_lower_is_refuted_with_the_fewest_microbatches_that_reach_it() {
    let family = family::shipped("v-half").expect("it is shipped");
    let (block, model) = (family.block(6).expect("a block"), family.model(6, 1).expect("a model"));
    let with_capacity = |units| {
        let model = model.with_uniform_activation_capacity(Some(Units(units))).expect("a model");
        every_m_of_block(&block, &model, &Stop::default()).expect("an answer")
    };
    assert_eq!(proved("v-half", with_capacity(8)).peak_memory, vec![Units(8); 6]);
    let EveryM::Refuted(refutation) = with_capacity(7) else { panic!("the peak is 8") };
    assert_eq!(refutation.microbatches, 4);
}

/// The schedule of a name on unit times.
fn named(name: &str, devices: u32, microbatches: u32) -> (Model, Schedule) {
    let entry = catalog::find(name).expect("a known name");
    let placement = match entry.needs {
        Needs::V => Placement::v(devices),
        Needs::Bidirectional => Placement::bidirectional(devices),
        Needs::Looped => Placement::looped(devices, 2),
        Needs::Any | Needs::Linear => Placement::linear(devices),
    };
    let model = Model::unit(placement.expect("a placement"), microbatches).expect("a model");
    let schedule = entry.generate(&model).expect("a schedule");
    (model, schedule)
}

#[test]
fn schedules_of_the_catalogue_are_extended_from_their_orders_alone() {
    let mut text = String::new();
    for (name, devices, microbatches) in [
        ("gpipe", 4, 24),
        ("1f1b", 4, 24),
        ("1f1b", 4, 5),
        ("eager-1f1b", 4, 24),
        ("1f1b-r", 4, 24),
        ("zb-h1", 4, 24),
        ("zb-h2", 4, 24),
        ("zb-1p", 4, 24),
        ("zb-2p", 4, 24),
        ("interleaved-1f1b", 2, 24),
        ("interleaved-1f1b", 4, 24),
        ("interleaved-1f1b", 4, 12),
        ("interleaved-1f1b-uniform", 4, 32),
        ("looped-bfs", 4, 24),
        ("1f1b-v", 4, 24),
        ("v-min", 4, 24),
        ("v-half", 4, 24),
        ("v-zb", 4, 24),
    ] {
        let (model, schedule) = named(name, devices, microbatches);
        let said = match every_m_of_schedule(&schedule, &model, &Stop::default()).expect("an answer") {
            EveryM::Proved(proof) => format!("{}; peak {:?}", proof.makespan, proof.peak_memory.iter().max()),
            EveryM::Refuted(refutation) => panic!("{name}: {refutation:?}"),
            EveryM::Unknown(reason) => format!("unknown: {reason}"),
            other => panic!("{name}: {other:?}"),
        };
        writeln!(text, "{name}, {devices} devices, {microbatches} microbatches: {said}")
            .expect("a string takes everything");
    }
    insta::assert_snapshot!(text);
}

#[test]
fn the_extension_of_1f1b_is_1f1b_with_more_microbatches() {
    for name in ["1f1b", "zb-h1", "interleaved-1f1b"] {
        let (model, schedule) = named(name, 4, 24);
        let proof =
            proved(name, every_m_of_schedule(&schedule, &model, &Stop::default()).expect("an answer"));
        for microbatches in (24..64).step_by(proof.step as usize) {
            let (model, longer) = named(name, 4, microbatches);
            let metrics = replay(&model, &longer).timing.expect("it runs").metrics;
            assert_eq!(proof.makespan.at(microbatches), Some(metrics.makespan), "{name}, {microbatches}");
        }
    }
}

/// Steady phase and warm-up with B, the last microbatches with I and W, as bidirectional schedules have
/// it.
#[test]
fn a_cool_down_may_split_backwards_that_the_steady_phase_does_not() {
    let (model, schedule) = named("1f1b", 4, 20);
    let split = |order: &Vec<Pass>| {
        let steady = order.iter().rposition(|pass| pass.kind == Kind::F).expect("every device has F") + 1;
        let parts = |&pass: &Pass| [pass.with_kind(Kind::I), pass.with_kind(Kind::W)];
        let cool_down = order[steady + 1..].iter().flat_map(parts);
        order[..=steady].iter().copied().chain(cool_down).collect()
    };
    let orders: Vec<Vec<Pass>> = schedule.orders().iter().map(split).collect();
    let mixed = Schedule::new(schedule.placement().clone(), 20, orders).expect("a schedule");
    let proof = proved("mixed", every_m_of_schedule(&mixed, &model, &Stop::default()).expect("an answer"));
    assert_eq!((proof.first, proof.step), (20, 1));
    assert!(proof.makespan.at(20) < Some(Ticks(69)), "I lets the gradient go sooner than B");
    assert_eq!(proof.makespan.rate(), 3.into());
}

#[test]
fn recomputation_of_some_microbatches_is_not_extended() {
    let (model, schedule) = named("1f1b", 3, 20);
    let recompute = |order: &Vec<Pass>| {
        let last = |pass: &Pass| pass.kind == Kind::B && pass.microbatch.0 == 19;
        order
            .iter()
            .flat_map(|&pass| if last(&pass) { vec![pass.with_kind(Kind::R), pass] } else { vec![pass] })
            .collect()
    };
    let orders: Vec<Vec<Pass>> = schedule.orders().iter().map(recompute).collect();
    let some = Schedule::new(schedule.placement().clone(), 20, orders).expect("a schedule");
    let answer = every_m_of_schedule(&some, &model, &Stop::default()).expect("an answer");
    let EveryM::Unknown(reason @ UnknownReason::NotRepeatable(_)) = answer else { panic!("{answer:?}") };
    assert_eq!(
        reason.to_string(),
        "the steady phase cannot be extended: device 0 has `0R17` in its cool-down, where the repetition \
         leaves no place for it"
    );
}

#[test]
fn too_few_repetitions_and_none_are_told_apart() {
    let reason = |name, devices, microbatches| {
        let (model, schedule) = named(name, devices, microbatches);
        match every_m_of_schedule(&schedule, &model, &Stop::default()).expect("an answer") {
            EveryM::Unknown(reason) => reason.to_string(),
            other => panic!("{other:?}"),
        }
    };
    let reasons =
        [("1f1b", 2, 1), ("1f1b", 4, 3), ("gpipe", 2, 8), ("v-zb", 3, 6), ("interleaved-1f1b", 4, 8)];
    let text: Vec<String> = reasons
        .iter()
        .map(|&(name, devices, microbatches)| {
            format!(
                "{name}, {devices} devices, {microbatches} microbatches: {}",
                reason(name, devices, microbatches)
            )
        })
        .collect();
    insta::assert_snapshot!(text.join("\n"));
}

/// Two devices, at unit times, and their orders in words.
fn spelled(microbatches: u32, orders: [&str; 2]) -> EveryM {
    let placement = Placement::linear(2).expect("a placement");
    let pass = |stage: usize, word: &str| format!("{stage}{word}").parse().expect("a pass");
    let order = |(stage, words): (usize, &str)| words.split(' ').map(|word| pass(stage, word)).collect();
    let orders = orders.into_iter().enumerate().map(order).collect();
    let schedule = Schedule::new(placement.clone(), microbatches, orders).expect("a schedule");
    let model = Model::unit(placement, microbatches).expect("a model");
    every_m_of_schedule(&schedule, &model, &Stop::default()).expect("an answer")
}

#[test]
fn devices_that_repeat_at_other_times_or_in_other_steps_are_not_extended() {
    for (microbatches, orders, reason) in [
        (
            12,
            [
                "F0 F1 F2 F3 F4 B0 F5 B1 F6 B2 F7 F8 F9 B4 B3 B6 B5 F10 F11 B7 B9 B8 B10 B11",
                "F0 F1 B0 B1 F2 F3 F4 B2 B3 B4 F5 F6 B6 B5 F7 F8 B7 B8 F9 B9 F10 B10 F11 B11",
            ],
            "too few repetitions to be sure: device 0 repeats from position 4 to 10, but two whole repetitions \
             of 2 passes after all that other devices need end at position 15",
        ),
        (
            6,
            ["F0 F1 F2 F3 B0 F4 B1 F5 B3 B2 B5 B4", "F0 F1 B0 B1 F2 F3 B2 B3 F4 F5 B4 B5"],
            "no steady phase found: every device repeats, but no piece of 1 to 3 microbatches comes twice in a \
             row on all of them",
        ),
        (
            9,
            [
                "F0 F1 B0 F2 B1 F3 B2 F4 B3 B4 F5 F6 B5 F7 B6 F8 B7 B8",
                "F0 B0 F1 B1 F2 B2 F3 B3 F4 B4 F5 B5 F6 B6 F7 B7 F8 B8",
            ],
            "the steady phase is broken: device 0 repeats from position 1 to 8 and again from 11 to 16, but \
             position 9 has `0B4` instead of `0F5`",
        ),
    ] {
        let EveryM::Unknown(found) = spelled(microbatches, orders) else { panic!("{reason}") };
        assert_eq!(found.to_string(), reason);
    }
}

/// Latencies and times measured, in nanoseconds.
#[test]
fn times_may_repeat_only_after_several_microbatches() {
    let text = include_str!("../../models/profiles/zb-28.3b-p32-m96-v.toml");
    let model = bubbleproof::model::parse(text).expect("a model");
    let block = catalog::block("v-min", model.placement()).expect("a block of the catalogue");
    let proof = of_block("v-min", &block, &model);
    assert_eq!(proof.repetition.microbatches, 10);
    for microbatches in [1, 17, 60, 96, 131] {
        let model = model.with_microbatches(microbatches).expect("a model");
        let metrics = replay(&model, &block.expand(&model, microbatches).expect("a schedule")).timing;
        assert_eq!(proof.makespan.at(microbatches), metrics.map(|timing| timing.metrics.makespan));
    }
    insta::assert_snapshot!(proof.makespan);
}

/// Offsets that have nothing to do with each other: the second device starts a thousand intervals late.
#[test]
fn what_is_too_large_to_begin_with_is_said_to_be() {
    let family = family::shipped("1f1b").expect("it is shipped");
    let (block, model) = (family.block(2).expect("a block"), family.model(2, 1).expect("a model"));
    let late = |by: i64| {
        let moved = block.passes().map(|(pass, at)| {
            let late = pass.stage == Stage(1) || pass.kind != Kind::F;
            (pass, if late { at + block.interval_parts() * by } else { at })
        });
        let moved = Block::periodic(block.placement().clone(), 1, 1, block.interval_parts(), moved);
        every_m_of_block(&moved.expect("a block"), &model, &Stop::default()).expect("an answer")
    };
    assert_eq!(proved("late", late(50)).peak_memory[0], Units(52));
    let answer = late(1 << 40);
    assert!(matches!(answer, EveryM::Unknown(UnknownReason::TooLarge { .. })), "{answer:?}");
}

/// One device is faster than the other by a hair, and at first far ahead: a long way to go until the
/// other sets the pace.
#[test]
fn where_the_times_do_not_repeat_soon_it_is_said_that_only_the_formula_is_missing() {
    let family = family::shipped("zb-h2").expect("it is shipped");
    let placement = Placement::linear(2).expect("a placement");
    let model =
        Model::equal_stages(placement.clone(), 1, [900_000, 1_000_000, 1_100_000, 0]).expect("a model");
    let mut costs = model.costs().clone();
    costs.backward_weight[1] -= Ticks(1);
    let (name, memory) = ("uneven".to_owned(), model.memory().clone());
    let model = Model::new(name, None, placement, 1, costs, memory).expect("a model");
    let answer =
        every_m_of_block(&family.block(2).expect("a block"), &model, &Stop::default()).expect("an answer");
    let EveryM::Unknown(reason @ UnknownReason::NoCycle { .. }) = answer else { panic!("{answer:?}") };
    insta::assert_snapshot!(reason);
}

#[test]
fn schedules_in_two_directions_and_with_overlapped_pairs_are_not_extended() {
    for (name, says) in [("chimera", "two directions"), ("dualpipe-v", "overlapped pairs")] {
        let (model, schedule) = named(name, 4, 24);
        let answer = every_m_of_schedule(&schedule, &model, &Stop::default()).expect("an answer");
        let EveryM::Unknown(reason) = answer else { panic!("{name}: {answer:?}") };
        assert!(reason.to_string().contains(says), "{reason}");
    }
}
