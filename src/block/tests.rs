use super::*;
use crate::model::{Costs, Device, Model, Units};
use crate::replay::replay;

/// V-Min of the paper's Table 8 for `d` devices: chunk 0 is stage i, chunk 1 stage 2d-1-i.
fn v_min(devices: u32) -> Block {
    let placement = Placement::v(devices).expect("a placement");
    let d = i64::from(devices);
    let gap = if d % 3 == 0 { 2 } else { 0 };
    let mut offsets = Vec::new();
    for i in 0..d {
        let (low, high) = (Stage(i as u32), Stage((2 * d - 1 - i) as u32));
        let (inner, outer) = (2 * d + gap + i, 4 * d + gap - 1 - i);
        let mut taken: Vec<i64> =
            [i, 2 * d - 1 - i, inner, outer].iter().map(|offset| offset.rem_euclid(6)).collect();
        let mut weight = |after: i64| {
            let at = (after + 1..).find(|at| !taken.contains(&at.rem_euclid(6))).expect("six residues");
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

        let schedule = block.expand(model.microbatches()).expect("a schedule");
        let verdict = replay(&model, &schedule);
        assert_eq!(verdict.violations, []);
        assert_eq!(Some(verdict.peak_memory_max()), peak);
        let timing = verdict.timing.expect("it is valid");
        assert_eq!(timing.starts, squeeze(&model, &schedule).expect("it runs").starts);

        let (better, timeline) = reorder(&model, &schedule, &verdict.peak_memory).expect("it runs");
        let after = replay(&model, &better);
        assert_eq!(after.violations, []);
        let metrics = after.timing.expect("it is valid").metrics;
        assert_eq!(metrics.makespan, timeline.makespan(&model));
        assert_eq!(metrics.device_span, timeline.device_span(&model));
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
        block.faults(&model).iter().any(|fault| matches!(fault, Fault::Collision { device: Device(0), .. }))
    );
}

#[test]
fn reordering_ends_where_passes_take_no_time() {
    let placement = Placement::v(4).expect("a placement");
    let unit = Model::unit(placement.clone(), 12).expect("a model");
    let costs = Costs {
        forward: vec![Ticks::ZERO; 8],
        backward_weight: vec![Ticks(4); 8],
        communication: vec![Ticks(7); 7],
        ..unit.costs().clone()
    };
    let model = Model::new("instant".to_owned(), None, placement, 12, costs, unit.memory().clone());
    let model = model.expect("a model");
    let schedule = v_min(4).expand(12).expect("a schedule");
    let limits = replay(&model, &schedule).peak_memory;
    let (better, timeline) = reorder(&model, &schedule, &limits).expect("it runs");
    let verdict = replay(&model, &better);
    assert_eq!(verdict.violations, []);
    assert_eq!(verdict.timing.expect("it is valid").metrics.makespan, timeline.makespan(&model));
}
