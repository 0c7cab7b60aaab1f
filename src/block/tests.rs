use super::*;
use crate::kernel::{asap, fill_gaps};
use crate::model::{Device, Model, Units};
use crate::replay::replay;
use crate::schedule::{Schedule, ScheduleError};
use crate::stop::Stop;

/// V-Min of the paper's Table 8 for `d` devices: chunk 0 is stage i, chunk 1 stage 2d-1-i.
fn v_min(devices: u32) -> Block {
    let placement = Placement::v(devices).expect("a placement");
    let d = i64::from(devices);
    let gap = if d % 3 == 0 { 2 } else { 0 };
    let mut offsets = Vec::new();
    for device in 0..devices {
        let i = i64::from(device);
        let (low, high) = (Stage(device), Stage(2 * devices - 1 - device));
        let (inner, outer) = (2 * d + gap + i, 4 * d + gap - 1 - i);
        let mut taken: Vec<i64> =
            [i, 2 * d - 1 - i, inner, outer].iter().map(|offset| offset.rem_euclid(6)).collect();
        let mut weight = |after: i64| {
            let at =
                (after + 1..=after + 6).find(|at| !taken.contains(&at.rem_euclid(6))).expect("six residues");
            taken.push(at.rem_euclid(6));
            at
        };
        let (high_weight, low_weight) = (weight(inner), weight(outer));
        offsets.extend([
            (low, Kind::F, Ticks(i)),
            (high, Kind::F, Ticks(2 * d - 1 - i)),
            (high, Kind::I, Ticks(inner)),
            (low, Kind::I, Ticks(outer)),
            (high, Kind::W, Ticks(high_weight)),
            (low, Kind::W, Ticks(low_weight)),
        ]);
    }
    Block::new(placement, Ticks(6), offsets).expect("a block")
}

#[test]
fn v_min_is_sound_and_holds_what_its_formula_says() {
    for devices in 3..=32 {
        let block = v_min(devices);
        let model = Model::unit(block.placement().clone(), 4 * devices).expect("a model");
        assert_eq!(block.faults(&model), []);
        let peak = block.steady_peak(&model).into_iter().max();
        assert_eq!(peak, Some(Units(2 * ((i64::from(devices) + 4) / 3))), "d = {devices}");

        let schedule = block.expand(&model, model.microbatches()).expect("a schedule");
        let verdict = replay(&model, &schedule);
        assert_eq!(verdict.violations, []);
        assert_eq!(Some(verdict.peak_memory_max()), peak);
        let timing = verdict.timing.expect("it is valid");
        assert_eq!(timing.starts, asap(&model, &schedule).expect("it runs").starts);

        let (better, timeline) =
            fill_gaps(&model, &schedule, &verdict.peak_memory, &Stop::default()).expect("it runs");
        let after = replay(&model, &better);
        assert_eq!(after.violations, []);
        let metrics = after.timing.expect("it is valid").metrics;
        assert_eq!(metrics.makespan, timeline.makespan(&model));
        assert_eq!(metrics.device_span, timeline.largest_span(&model));
        assert!(metrics.makespan <= timing.metrics.makespan);
        assert!(after.peak_memory.iter().zip(&verdict.peak_memory).all(|(after, before)| after <= before));
    }
}

#[test]
fn v_min_without_its_gap_collides_at_three_devices() {
    let good = v_min(3);
    let offsets = good.passes().map(|(pass, at)| {
        let late = matches!(pass.kind, Kind::I | Kind::W);
        (pass.stage, pass.kind, if late { at - Ticks(2) } else { at })
    });
    let block = Block::new(good.placement().clone(), Ticks(6), offsets.collect::<Vec<_>>()).expect("a block");
    let model = Model::unit(block.placement().clone(), 1).expect("a model");
    assert!(
        block
            .faults(&model)
            .iter()
            .any(|fault| matches!(fault, BlockViolation::Collision { device: Device(0), .. }))
    );
}

/// A model of one unit per activation with these durations on every stage and no latency.
fn uniform(placement: &Placement, microbatches: u32, [forward, input, weight]: [i64; 3]) -> Model {
    let unit = Model::unit(placement.clone(), microbatches).expect("a model");
    let mut costs = unit.costs().clone();
    costs.forward.fill(Ticks(forward));
    costs.backward_input.fill(Ticks(input));
    costs.backward_weight.fill(Ticks(weight));
    Model::new("uniform".to_owned(), None, placement.clone(), microbatches, costs, unit.memory().clone())
        .expect("a model")
}

fn pass(text: &str) -> Pass {
    text.parse().expect("a pass")
}

/// A schedule of one order per device, passes with spaces between them.
fn schedule(placement: &Placement, microbatches: u32, orders: &[&str]) -> Schedule {
    let read = |order: &&str| order.split_whitespace().map(pass).collect();
    Schedule::new(placement.clone(), microbatches, orders.iter().map(read).collect()).expect("a schedule")
}

#[test]
fn offsets_that_are_no_block_are_refused_for_the_right_reason() {
    let complete = [("0F0", 0), ("0I0", 1), ("0W0", 2)];
    let with = |more: &[(&'static str, i64)]| [complete.as_slice(), more].concat();
    let cases = [
        (1, 1, 0, with(&[]), BlockError::NotPositive("interval")),
        (1, 0, 3, with(&[]), BlockError::NotPositive("number of parts of a tick")),
        (0, 1, 3, with(&[]), BlockError::NotPositive("number of microbatches")),
        (1, 1, 3, with(&[("1F0", 0)]), BlockError::UnknownPass(pass("1F0"))),
        (1, 1, 3, with(&[("0F1", 0)]), BlockError::UnknownPass(pass("0F1"))),
        (1, 1, 3, with(&[("0F0", 0)]), BlockError::Twice(pass("0F0"))),
        (2, 1, 3, with(&[]), BlockError::Missing(pass("0F1"))),
        (1, 1, 3, vec![("0F0", 0), ("0I0", 1)], BlockError::Missing(pass("0W0"))),
        (1, 1, 3, vec![("0F0", 0), ("0W0", 1)], BlockError::Missing(pass("0I0"))),
        (1, 1, 3, vec![("0B0", 0)], BlockError::Missing(pass("0F0"))),
        (1, 1, 3, with(&[("0B0", 1)]), BlockError::BackwardTwice(pass("0I0"))),
        (1, 1, 3, vec![("0F0", 0), ("0B0", 1), ("0W0", 2)], BlockError::BackwardTwice(pass("0W0"))),
        (1, 1, 3, vec![("0F0", i64::MIN)], BlockError::Overflow),
        (1, i64::MAX, 3, with(&[]), BlockError::Overflow),
        (1, 1, i64::MAX, with(&[]), BlockError::Overflow),
    ];
    for (period, parts, interval, offsets, expected) in cases {
        let offsets = offsets.into_iter().map(|(text, at)| (pass(text), Ticks(at)));
        let placement = Placement::linear(1).expect("a placement");
        assert_eq!(
            Block::periodic(placement, period, parts, Ticks(interval), offsets).map(|_| ()),
            Err(expected)
        );
    }
}

/// A block of one device with two stages, both on it.
fn two_chunks(interval: i64, offsets: &[(&str, i64)]) -> Block {
    let placement = Placement::v(1).expect("a placement");
    let offsets = offsets.iter().map(|&(text, at)| (pass(text), Ticks(at)));
    Block::periodic(placement, 1, 1, Ticks(interval), offsets).expect("a block")
}

#[test]
fn faults_say_by_how_much() {
    let block = two_chunks(5, &[("0F0", 0), ("1F0", 1), ("1B0", 3), ("0B0", 4)]);
    let model = uniform(block.placement(), 1, [1, 1, 1]);
    let dependency = BlockViolation::Dependency { pass: pass("0B0"), needs: pass("1B0"), early: Ticks(1) };
    let overlap = |first, second| BlockViolation::Collision {
        device: Device(0),
        first: pass(first),
        second: pass(second),
        overlap: Ticks(1),
    };
    // 0B0 runs from 4 to 6, and so into the next copy of 0F0, which starts at 5.
    assert_eq!(block.faults(&model), [dependency, overlap("0F0", "0B0"), overlap("0B0", "1B0")]);
}

#[test]
fn a_pass_longer_than_the_interval_collides_with_itself() {
    let placement = Placement::linear(1).expect("a placement");
    let block = Block::new(
        placement.clone(),
        Ticks(2),
        [(Stage(0), Kind::F, Ticks(0)), (Stage(0), Kind::B, Ticks(5))],
    );
    let faults = block.expect("a block").faults(&uniform(&placement, 1, [5, 0, 0]));
    let (first, second) = (pass("0F0"), pass("0F0"));
    assert!(faults.contains(&BlockViolation::Collision {
        device: Device(0),
        first,
        second,
        overlap: Ticks(3)
    }));
}

#[test]
fn a_pass_without_duration_cannot_run_in_the_middle_of_another() {
    let block = two_chunks(9, &[("0F0", 0), ("1F0", 3), ("1I0", 6), ("0I0", 7), ("1W0", 8), ("0W0", 10)]);
    let model = uniform(block.placement(), 1, [3, 1, 0]);
    let (first, second, device) = (pass("0F0"), pass("0W0"), Device(0));
    assert_eq!(
        block.faults(&model),
        [BlockViolation::Collision { device, first, second, overlap: Ticks(0) }]
    );
}

#[test]
fn a_pass_without_duration_runs_before_one_that_starts_with_it() {
    // W of one copy takes no time and starts with F of the next: its memory is free by then.
    let placement = Placement::linear(1).expect("a placement");
    let block = Block::new(
        placement.clone(),
        Ticks(2),
        [(Stage(0), Kind::F, Ticks(0)), (Stage(0), Kind::I, Ticks(1)), (Stage(0), Kind::W, Ticks(2))],
    )
    .expect("a block");
    let model = uniform(&placement, 3, [1, 1, 0]);
    assert_eq!(block.faults(&model), []);
    assert_eq!(block.steady_peak(&model), [Units(1)]);
    let schedule = block.expand(&model, 3).expect("a schedule");
    let verdict = replay(&model, &schedule);
    assert_eq!(verdict.violations, []);
    assert_eq!(verdict.peak_memory, [Units(1)]);
}

#[test]
fn lifespan_and_bound_count_to_the_last_backward_pass() {
    let block = two_chunks(8, &[("0F0", 0), ("1F0", 1), ("1I0", 2), ("1W0", 12), ("0I0", 3), ("0W0", 5)]);
    let model = uniform(block.placement(), 1, [1, 1, 1]);
    assert_eq!(block.faults(&model), []);
    assert_eq!([block.lifespan(&model, Stage(0)), block.lifespan(&model, Stage(1))], [Ticks(6), Ticks(12)]);
    assert_eq!(block.paper_bound(&model), [Units(1 + 2)]);
    // W of the copy before ends at 5, after F of this one: both copies of stage 1 are live there.
    assert_eq!(block.steady_peak(&model), [Units(3)]);
}

#[test]
fn expanding_to_more_microbatches_than_can_be_is_refused_before_anything_is_laid_out() {
    let block = v_min(4);
    let model = Model::unit(block.placement().clone(), 1).expect("a model");
    assert_eq!(
        block.expand(&model, u32::MAX),
        Err(ScheduleError::TooManyPasses { stages: 8, microbatches: u32::MAX })
    );
    assert_eq!(block.expand(&model, 0), Err(ScheduleError::NoMicrobatch));
}

#[test]
fn expanding_leaves_out_what_is_past_the_last_microbatch() {
    let placement = Placement::linear(1).expect("a placement");
    let offsets = [("0F0", 0), ("0F1", 1), ("0B0", 2), ("0B1", 4)].map(|(text, at)| (pass(text), Ticks(at)));
    let block = Block::periodic(placement.clone(), 2, 1, Ticks(6), offsets).expect("a block");
    let model = uniform(&placement, 1, [1, 1, 1]);
    assert_eq!(
        block.expand(&model, 3).expect("a schedule"),
        schedule(&placement, 3, &["0F0 0F1 0B0 0B1 0F2 0B2"])
    );
}

#[test]
fn of_passes_without_duration_those_of_earlier_microbatches_come_first() {
    // W of one copy and F of the next start together and take no time.
    let placement = Placement::linear(1).expect("a placement");
    let block = Block::new(
        placement.clone(),
        Ticks(1),
        [(Stage(0), Kind::F, Ticks(0)), (Stage(0), Kind::I, Ticks(0)), (Stage(0), Kind::W, Ticks(1))],
    )
    .expect("a block");
    let model = uniform(&placement, 2, [0, 1, 0]);
    assert_eq!(block.faults(&model), []);
    assert_eq!((block.steady_peak(&model), block.paper_bound(&model)), (vec![Units(1)], vec![Units(1)]));
    assert_eq!(
        block.expand(&model, 2).expect("a schedule"),
        schedule(&placement, 2, &["0F0 0I0 0W0 0F1 0I1 0W1"])
    );
}

#[test]
fn memory_beyond_64_bits_is_given_as_the_most_that_fits() {
    let placement = Placement::linear(1).expect("a placement");
    let far = Ticks(Model::MAX_TOTAL);
    let block = Block::new(
        placement.clone(),
        Ticks(2),
        [(Stage(0), Kind::F, Ticks(0)), (Stage(0), Kind::B, far + Ticks(-1))],
    )
    .expect("a block");
    let unit = uniform(&placement, 1, [1, 1, 0]);
    let mut memory = unit.memory().clone();
    memory.activation = vec![Units(1 << 40)];
    memory.checkpoint = None;
    let model =
        Model::new("test".to_owned(), None, placement, 1, unit.costs().clone(), memory).expect("a model");
    assert_eq!(block.faults(&model), []);
    assert_eq!(
        (block.steady_peak(&model), block.paper_bound(&model)),
        (vec![Units(i64::MAX)], vec![Units(i64::MAX)])
    );
}
