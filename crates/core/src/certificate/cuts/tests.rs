use super::*;
use crate::job::{Atom, Saving};
use crate::model::Placement;

/// Layers that take F, I and W so long, and hold so much; a latency of one tick.
fn layers(placement: Placement, microbatches: u32, atoms: &[[i64; 4]], capacity: Option<i64>) -> Layers {
    let stages = placement.stages() as usize;
    let atoms: Vec<Atom> = atoms
        .iter()
        .map(|&[forward, input, weight, activation]| Atom {
            name: "layer".to_owned(),
            forward: Ticks(forward),
            backward_input: Ticks(input),
            backward_weight: Ticks(weight),
            activation: Units(activation),
            retained_for_weight: Units(activation),
            checkpoint: Units(activation),
            ..Atom::default()
        })
        .collect();
    Layers {
        name: "test".to_owned(),
        source: None,
        is_estimate: false,
        time_unit: "tick".to_owned(),
        memory_unit: "unit".to_owned(),
        far: vec![false; stages - 1],
        placement,
        microbatches,
        messages: vec![[Ticks(1), Ticks(1)]; atoms.len() + 1],
        atoms,
        capacity: capacity.map(Units),
        saving: Saving::default(),
        empty_stages: false,
    }
}

/// All cuts into this many stages, each with a layer or more.
fn all_cuts(layers: u32, stages: u32) -> Vec<Cut> {
    fn extend(left: u32, stages: u32, cut: &mut Vec<u32>, all: &mut Vec<Cut>) {
        if stages == 1 {
            all.push(Cut::new([cut.as_slice(), &[left]].concat()));
            return;
        }
        for taken in 1..=left - (stages - 1) {
            cut.push(taken);
            extend(left - taken, stages - 1, cut, all);
            cut.pop();
        }
    }
    let mut all = Vec::new();
    extend(layers, stages, &mut Vec::new(), &mut all);
    all
}

const UNEVEN: [[i64; 4]; 7] =
    [[1, 0, 1, 1], [3, 4, 2, 2], [3, 4, 2, 2], [5, 5, 5, 3], [3, 4, 2, 2], [1, 1, 1, 1], [6, 7, 6, 1]];

#[test]
fn no_cut_has_a_bound_below_that_of_all_cuts() {
    for placement in [
        Placement::linear(2),
        Placement::linear(3),
        Placement::v(2),
        Placement::looped(2, 2),
        Placement::v(3),
    ] {
        let placement = placement.expect("a placement");
        for capacity in [None, Some(9), Some(14), Some(20)] {
            for microbatches in [1, 3, 8] {
                let layers = layers(placement.clone(), microbatches, &UNEVEN, capacity);
                let cuts = all_cuts(7, placement.stages());
                let of = |cut: &Cut| of_cut(&layers, cut).filter(|_| fits(&layers, cut));
                let least = cuts.iter().filter_map(of).min();
                let found = lower_bound_over_cuts(&layers, Ticks(i64::MAX));
                match (least, found) {
                    (Some(least), Ok(found)) => {
                        // So few cuts are all looked at one by one.
                        assert_eq!(found, least, "{placement:?} {capacity:?} {microbatches}");
                        let share = share_bound_over_cuts(&layers).expect("enough layers");
                        let quick = quick_bound_over_cuts(&layers, Ticks(i64::MAX)).expect("a bound");
                        assert!(share <= quick && quick <= least);
                        assert_eq!(quick_bound_over_cuts(&layers, share), Ok(share));
                        assert_eq!(fits_some_cut(&layers), Ok(()));
                        assert_eq!(holds_over_cuts(&layers, least), Ok(()));
                        assert!(holds_over_cuts(&layers, least + Ticks(1)).is_err());
                    }
                    (None, Err(CutBoundError::NoRoom { .. })) => {
                        // What no cut fits is no shorter than anything.
                        assert_eq!(holds_over_cuts(&layers, Ticks(i64::MAX)), Ok(()));
                        assert!(matches!(fits_some_cut(&layers), Err(CutBoundError::NoRoom { .. })));
                    }
                    (least, found) => panic!("{least:?} {found:?}"),
                }
            }
        }
    }
}

/// Whether every device can hold one microbatch.
fn fits(layers: &Layers, cut: &Cut) -> bool {
    let (sums, ranges) = (Sums::new(layers), layers.ranges(cut).expect("it suits the layers"));
    layers.placement.lists().iter().all(|stages| {
        let mut stages = stages.clone();
        stages.sort_unstable();
        let own: Vec<Range> =
            stages.iter().map(|stage| (ranges[stage.index()].start, ranges[stage.index()].end)).collect();
        layers.capacity.is_none_or(|capacity| sums.need(&own) <= capacity)
    })
}

#[test]
fn every_cut_is_visited_once_from_the_least_bound_on() {
    for placement in [Placement::linear(3), Placement::v(2), Placement::looped(2, 2)] {
        let placement = placement.expect("a placement");
        let layers = layers(placement.clone(), 4, &UNEVEN, None);
        let (mut seen, mut last) = (Vec::new(), Ticks(i64::MIN));
        assert!(visit_cuts(&layers, Ticks(i64::MAX), &mut |value, cut| {
            assert!(value >= last);
            last = value;
            seen.push(cut.clone());
            true
        }));
        let first = seen[0].clone();
        seen.sort();
        assert_eq!(seen, all_cuts(7, placement.stages()), "{placement:?}");
        let mut some = Vec::new();
        assert!(visit_some_cuts(&layers, Ticks(i64::MAX), &mut |_, cut| {
            some.push(cut.clone());
            false
        }));
        assert_eq!(some, [first], "{placement:?}");
    }
}

/// Three layers on two devices: one of them has two, which is more than its share.
#[test]
fn the_work_at_the_best_cut_is_more_than_the_share_of_each_device() {
    let layers = layers(Placement::linear(2).expect("a placement"), 100, &[[4, 0, 0, 1]; 3], None);
    let sums = Sums::new(&layers);
    assert_eq!(share_bound_over_cuts(&layers), Ok(Ticks(600)));
    // With one layer before it, device 1 begins after that and a message.
    assert_eq!(by_work(&sums, Ticks(i64::MAX)), Ticks(800));
    assert_eq!(by_work(&sums, Ticks(700)), Ticks(700));
    assert_eq!(by_work(&sums, Ticks(500)), Ticks(500));
    assert_eq!(holds_over_cuts(&layers, Ticks(800)), Ok(()));
    let too_few = Layers { atoms: layers.atoms[..1].to_vec(), ..layers };
    assert_eq!(share_bound_over_cuts(&too_few), Err(CutBoundError::TooFewLayers { layers: 1, stages: 2 }));
    assert_eq!(fits_some_cut(&too_few), Err(CutBoundError::TooFewLayers { layers: 1, stages: 2 }));
}

/// The even cut puts 12 on device 1, a better one 10 on each device.
/// Shares are rounded up, and a layer waits for the forwards before it.
#[test]
fn the_share_of_a_device_is_exact() {
    let share = |microbatches, atoms: &[[i64; 4]]| {
        let placement = Placement::linear(2).expect("a placement");
        share_bound_over_cuts(&layers(placement, microbatches, atoms, None)).map(|share| share.0).ok()
    };
    // 3 * 25 = 75 ticks on two devices.
    assert_eq!(share(3, &[[3, 4, 2, 1], [3, 4, 2, 1], [3, 2, 2, 1]]), Some(38));
    assert_eq!(share(2, &[[3, 4, 2, 1], [3, 4, 2, 1], [3, 2, 2, 1]]), Some(25));
    // The longest layer comes after forwards of 2 and 1 ticks.
    assert_eq!(share(2, &[[2, 0, 1, 1], [1, 1, 0, 1], [6, 8, 6, 1]]), Some(2 + 1 + 2 * 20));
}

/// What lies elsewhere is in the way of a device: both F and I of the other one, and a message each way.
#[test]
fn the_bound_of_one_device_waits_for_the_others() {
    let placement = Placement::linear(2).expect("a placement");
    let layers = layers(placement, 1, &[[3, 4, 2, 1]; 2], None);
    let all = 3 + 1 + 3 + 4 + 1 + 4 + 2;
    assert_eq!(quick_bound_over_cuts(&layers, Ticks(i64::MAX)), Ok(Ticks(all)));
    assert_eq!(lower_bound_over_cuts(&layers, Ticks(i64::MAX)), Ok(Ticks(all)));
}

/// Four chunks of a device are the most; of five, cuts are not gone through.
#[test]
fn cuts_into_four_chunks_of_a_device_are_visited() {
    let visited = |chunks: u32| {
        let placement = Placement::looped(2, chunks).expect("a placement");
        let atoms = vec![[1, 1, 1, 1]; 2 * chunks as usize + 1];
        let mut seen = 0;
        let all = visit_cuts(&layers(placement, 2, &atoms, None), Ticks(i64::MAX), &mut |_, _| {
            seen += 1;
            true
        });
        (all, seen)
    };
    // One of the stages has two layers.
    assert_eq!((visited(4), visited(5)), ((true, 8), (false, 0)));
}

/// The terms of the bounds of a device, one by one.
#[test]
fn what_a_device_needs_is_exact() {
    let mut all = layers(
        Placement::v(2).expect("a placement"),
        3,
        &[[3, 4, 2, 10], [5, 6, 7, 20], [1, 2, 3, 30], [2, 2, 2, 40]],
        None,
    );
    for (at, atom) in all.atoms.iter_mut().enumerate() {
        let at = i64::try_from(at).expect("few");
        (atom.optimizer, atom.weights, atom.checkpoint) = (Ticks(10 + at), Units(100 + at), Units(4));
    }
    let linear =
        Layers { placement: Placement::linear(2).expect("a placement"), far: vec![false], ..all.clone() };
    let sums = Sums::new(&linear);
    assert_eq!(sums.head(0, &[(0, 2)]), Ticks(0));
    assert_eq!(sums.head(1, &[(2, 4)]), Ticks(3 + 5 + 1));
    assert_eq!(sums.work_bound(1, &[(2, 4)]), Ticks(9 + 3 * (6 + 6) + 12 + 13));
    assert_eq!(sums.work_bound(0, &[(0, 1)]), Ticks(3 * 9 + 10));
    // Both stages hold a microbatch, and the last one is recomputed before its way back.
    all.saving.recompute = true;
    let sums = Sums::new(&all);
    assert_eq!(sums.need(&[(0, 1), (3, 4)]), Units(100 + 103 + 4 + 4 + (40 - 4)));
    let at_most = |capacity| {
        let limited = Layers { capacity: Some(Units(capacity)), ..all.clone() };
        Sums::new(&limited).bound(0, &[(0, 1), (3, 4)]).is_some()
    };
    assert_eq!((at_most(247), at_most(246)), (true, false));
}

/// Too many cuts to tell: then a device's share of what all hold has to fit, rounded up.
#[test]
fn the_share_that_a_device_has_to_hold_is_rounded_up() {
    let placement = Placement::linear(2).expect("a placement");
    let layers = layers(placement, 1, &[[1, 1, 1, 3], [1, 1, 1, 3], [1, 1, 1, 1]], None);
    assert_eq!(need_share(&Sums::new(&layers)), Units(4));
    assert_eq!(
        need_share(&Sums::new(&Layers { atoms: layers.atoms[..2].to_vec(), ..layers.clone() })),
        Units(3)
    );
}

#[test]
fn what_only_another_cut_than_the_even_one_fits_is_not_refused() {
    let of = |capacity| {
        let placement = Placement::linear(2).expect("a placement");
        layers(placement, 4, &[[1, 1, 1, 4], [1, 1, 1, 4], [1, 1, 1, 2], [1, 1, 1, 10]], Some(capacity))
    };
    assert_eq!(even_need(&Sums::new(&of(10))), Units(12));
    assert_eq!(fits_some_cut(&of(12)), Ok(()));
    assert_eq!(fits_some_cut(&of(10)), Ok(()));
    assert!(fits_some_cut(&of(9)).is_err());
    assert!(quick_bound_over_cuts(&of(9), Ticks(i64::MAX)).is_err());
    assert!(quick_bound_over_cuts(&of(9), Ticks(1_000)).is_ok());
}

/// 64 layers in four chunks on each of four devices have too many cuts to look at.
#[test]
fn of_too_many_cuts_the_share_of_a_device_has_to_fit() {
    let of = |capacity| {
        let placement = Placement::looped(4, 4).expect("a placement");
        layers(placement, 8, &[[1, 1, 1, 2]; 64], Some(capacity))
    };
    assert_eq!(least_need(&Sums::new(&of(31))), None);
    let unit = "unit".to_owned();
    let refused = CutBoundError::NoRoom { layers: 64, need: Units(32), capacity: Units(31), unit };
    assert_eq!(fits_some_cut(&of(31)), Err(refused));
    // What fits nowhere is no shorter than anything, however many cuts there are.
    assert_eq!(holds_over_cuts(&of(31), Ticks(100_000)), Ok(()));
    assert!(matches!(holds_over_cuts(&of(32), Ticks(100_000)), Err(CutBoundError::TooMany { .. })));
    assert_eq!(fits_some_cut(&of(32)), Ok(()));
    let mut seen = 0;
    assert!(!visit_some_cuts(&of(40), Ticks(i64::MAX), &mut |_, _| {
        seen += 1;
        true
    }));
    // All have their share of the work, which is the bound then.
    assert_eq!(quick_bound_over_cuts(&of(40), Ticks(i64::MAX)), Ok(Ticks(8 * 3 * 16)));
}

/// A recomputed layer keeps its checkpoint at the least, an offloaded one what does not go.
#[test]
fn what_is_held_at_the_least_is_what_saving_leaves() {
    let mut all = layers(Placement::linear(2).expect("a placement"), 4, &[[1, 1, 1, 10]; 4], Some(50));
    for atom in &mut all.atoms {
        (atom.weights, atom.checkpoint, atom.offload) = (Units(1), Units(3), Units(9));
    }
    let held = |recompute, offload| {
        let layers = Layers { saving: Saving { recompute, offload }, ..all.clone() };
        Sums::new(&layers).least_held()
    };
    assert_eq!(held(false, false), Units(4 * 11));
    assert_eq!(held(true, false), Units(4 * 4));
    assert_eq!(held(false, true), Units(4 * 2));
    assert_eq!(held(true, true), Units(4 * 2));
}

#[test]
fn what_no_cut_fits_is_refused_with_what_it_needs() {
    let layers = layers(Placement::linear(2).expect("a placement"), 4, &UNEVEN, Some(5));
    let refused = lower_bound_over_cuts(&layers, Ticks(i64::MAX)).expect_err("12 units on two devices of 5");
    assert_eq!(
        refused.to_string(),
        "no cut of 7 layers fits: some device needs at least 7 unit for weights and one microbatch, but has 5"
    );
}

#[test]
fn an_empty_stage_is_a_cut_where_it_is_allowed() {
    let layers = Layers {
        empty_stages: true,
        ..layers(Placement::v(2).expect("a placement"), 8, &[[1, 1, 1, 1], [3, 3, 3, 1]], None)
    };
    let mut seen = Vec::new();
    visit_cuts(&layers, Ticks(i64::MAX), &mut |_, cut| {
        seen.push(cut.to_string());
        true
    });
    seen.sort();
    // Both devices have a layer.
    assert_eq!(seen, ["0,0,1,1", "0,1,0,1", "1,0,1,0", "1,1,0,0"]);
}
