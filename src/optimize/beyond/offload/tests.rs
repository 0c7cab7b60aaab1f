use super::*;
use crate::model::{Offload, Placement};
use crate::optimize::Solution;

/// A pipeline of equal stages whose copies take so long, with this capacity on every device.
fn model(placement: Placement, microbatches: u32, copies: i64, capacity: i64) -> Model {
    let stages = placement.stages() as usize;
    let plain = Model::equal_stages(placement, microbatches, [10, 10, 10, 0]).expect("a model");
    let times = vec![Ticks(copies); stages];
    let offload = Offload { moved: vec![Units(1); stages], to_host: times.clone(), from_host: times };
    let model = plain.with_offload(Some(offload)).expect("offloading");
    model.with_uniform_activation_capacity(Some(Units(capacity))).expect("a capacity")
}

fn solved(model: &Model) -> Solution {
    let options = Options { effort: 4_000_000, exact_effort: 0, ..Options::default() };
    optimize(model, &options, &mut |_| {}).expect("it is feasible")
}

#[test]
fn offloading_shortens_schedules_where_memory_is_short_and_is_left_out_where_it_is_not() {
    let placement = || Placement::linear(4).expect("a placement");
    for (copies, capacity) in [(1, 2), (5, 2), (10, 3), (5, 8)] {
        let model = model(placement(), 8, copies, capacity);
        let with = solved(&model);
        let without = solved(&model.with_offload(None).expect("a model"));
        assert!(with.verdict.is_valid());
        assert!(with.value() <= without.value(), "{copies} {capacity}: {} {}", with.value(), without.value());
        if capacity == 2 {
            assert!(with.value() < without.value(), "{copies}: {} {}", with.value(), without.value());
            assert!(with.schedule.offload_count() > 0);
        }
        if with.value() == without.value() {
            assert_eq!(with.schedule.offload_count(), 0);
        }
        // No single one could stay.
        for device in Device::all(4) {
            for at in 0..with.schedule.offloads(device).len() {
                let mut lists: Vec<Vec<Offloaded>> =
                    Device::all(4).map(|device| with.schedule.offloads(device).to_vec()).collect();
                lists[device.index()].remove(at);
                let leaner = with.schedule.clone().with_offloads(lists).expect("one less");
                assert!(!replay(&model, &leaner).is_valid());
            }
        }
    }
}

#[test]
fn what_does_not_fit_without_copies_is_found_with_them() {
    // Two stages on each device do not fit into one unit at once, but one of them may be away.
    let model = model(Placement::v(2).expect("a placement"), 3, 4, 1);
    assert!(matches!(
        optimize(&model.with_offload(None).expect("a model"), &Options::default(), &mut |_| {}),
        Err(OptimizeError::Infeasible(_))
    ));
    let found = solved(&model);
    assert!(found.verdict.is_valid() && found.schedule.offload_count() >= 6);
    // A part of what is moved is not enough.
    let nothing = model.with_uniform_activation_capacity(Some(Units(0))).expect("a capacity");
    assert!(matches!(
        optimize(&nothing, &Options::default(), &mut |_| {}),
        Err(OptimizeError::Infeasible(_))
    ));
}
