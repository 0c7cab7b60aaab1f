use std::collections::BTreeMap;

use super::*;
use crate::model::{Memory, Offload, Placement, Recompute, RecomputeLevel, Transient, Workspace};
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

/// Activations of four units, of which R brings back all or half, beside copies; R needs a unit while it runs.
#[test]
fn what_is_short_of_memory_recomputes_or_offloads_whichever_is_better() {
    for (copies, capacity, fused, is_mixed) in
        [(11, 9, false, false), (14, 9, false, true), (40, 11, true, false)]
    {
        let placement = Placement::linear(4).expect("a placement");
        let plain = Model::equal_stages(placement, 8, [10, 11, 9, 2]).expect("a model");
        let units = |units| vec![Units(units); 4];
        let memory = Memory {
            activation: units(4),
            retained_for_weight: units(2),
            capacity: vec![Some(Units(capacity)); 4],
            ..plain.memory().clone()
        };
        let workspace = Workspace {
            forward: units(0),
            backward_input: units(0),
            backward_weight: units(0),
            backward: units(0),
            recompute: units(1),
        };
        let levels = [(1, 10), (2, 4)].map(|(kept, ticks)| RecomputeLevel {
            checkpoint: units(kept),
            duration: Some(vec![Ticks(ticks); 4]),
        });
        let recompute = Recompute { levels: levels.to_vec(), fused };
        let levels = plain
            .with_plain_memory(memory)
            .and_then(|model| model.with_recompute(Some(recompute)))
            .and_then(|model| model.with_transient(Transient { workspace: Some(workspace), receive: None }))
            .expect("a model");
        let copies = vec![Ticks(copies); 4];
        let offload = Offload { moved: units(4), to_host: copies.clone(), from_host: copies };
        let both = levels.with_offload(Some(offload)).expect("offloading");
        let [both, by_levels, by_copies] =
            [both.clone(), levels, both.with_recompute(None).expect("a model")].map(|model| {
                let options = Options { effort: 20_000_000, exact_effort: 0, ..Options::default() };
                optimize(&model, &options, &mut |_| {}).expect("it is feasible")
            });
        assert!(both.value() <= by_levels.value(), "{} {}", both.value(), by_levels.value());
        assert!(both.value() <= by_copies.value(), "{} {}", both.value(), by_copies.value());
        let recomputes = both.schedule.orders().iter().flatten().any(|pass| pass.kind == Kind::R);
        let gone = both.schedule.offload_count();
        assert_eq!(recomputes && gone > 0, is_mixed, "{recomputes} {gone}");
        let least = by_levels.value().min(by_copies.value());
        assert!(!is_mixed || both.value() < least, "{} {least}", both.value());
    }
}

#[test]
fn what_is_recomputed_is_offloaded_instead() {
    let order = ["0F0", "0F1", "0R0", "0I0", "0W0", "0R1", "0I1", "0W1"];
    let order = order.map(|pass| pass.parse().expect("a pass")).to_vec();
    let levels = [("0R1".parse().expect("a pass"), 1)].into();
    let schedule = Schedule::new(Placement::linear(1).expect("a placement"), 2, vec![order])
        .and_then(|schedule| schedule.with_levels(levels))
        .expect("a schedule");
    let gone = |pass: &str, freed, fetched| Offloaded { pass: pass.parse().expect("a pass"), freed, fetched };
    let mut seen = Vec::new();
    for seed in 0..20 {
        let mut random = fastrand::Rng::with_seed(seed);
        let once = offloaded_instead(&schedule, Device(0), &mut random).expect("there are two");
        let twice = offloaded_instead(&once, Device(0), &mut random).expect("there is one");
        assert!(twice.levels().is_empty() && offloaded_instead(&twice, Device(0), &mut random).is_none());
        // 0F0 0F1 0I0 0W0 0I1 0W1
        assert_eq!(twice.offloads(Device(0)), [gone("0F0", 1, 2), gone("0F1", 2, 4)]);
        seen.push((once.offloads(Device(0)).to_vec(), once.levels().clone()));
    }
    // Where the R behind it goes, what is fetched before that stays; the other one keeps its level.
    assert!(seen.contains(&(vec![gone("0F0", 1, 2)], schedule.levels().clone())));
    assert!(seen.contains(&(vec![gone("0F1", 2, 5)], BTreeMap::default())));
}

/// ZB-H2 holds seven activations on the first of four devices, and its devices never idle between their first and last passes. With
/// room for five of them, two are away at a time, and no pass waits for a copy.
#[test]
fn a_schedule_without_bubbles_has_none_with_copies_either() {
    let model = |room: i64| {
        let placement = Placement::linear(4).expect("a placement");
        let plain = Model::equal_stages(placement, 16, [3, 4, 2, 0]).expect("a model");
        // Half of it is there until W.
        let memory = Memory { activation: vec![Units(2); 4], ..plain.memory().clone() };
        let copies = vec![Ticks(4); 4];
        let offload = Offload { moved: vec![Units(2); 4], to_host: copies.clone(), from_host: copies };
        plain
            .with_plain_memory(memory)
            .and_then(|model| model.with_offload(Some(offload)))
            .and_then(|model| model.with_uniform_activation_capacity(Some(Units(2 * room))))
            .expect("a model")
    };
    let without_limit = model(7).with_uniform_activation_capacity(None).expect("a model");
    let schedules = named(&without_limit, &Stop::default());
    let (zb_h2, engine) = schedules.iter().find(|(_, engine)| engine == "zb-h2").expect("a named schedule");
    let fitted = |room| {
        let (model, objective) = (model(room), Objective::Makespan);
        let mut offloads =
            Offloads { model: &model, objective, passes_left: 1_000_000, stop: Stop::default() };
        let found = offloads.fitted(zb_h2, engine).expect("it fits with copies");
        (found.value.0, found.schedule.offload_count() > 0)
    };
    assert_eq!([7, 6, 5].map(fitted), [(153, false), (153, true), (153, true)]);
    // Room for copies back is no reason to wait for copies to the host: 161 where it is.
    assert_eq!(fitted(4), (157, true));
    assert_eq!(solved(&model(5)).value(), Ticks(153));
    // The random changes that follow walk on both threads, and what is as good depends on which of them are kept.
    let threads = std::num::NonZeroUsize::new(2).expect("two");
    let options = Options { effort: 4_000_000, exact_effort: 0, threads, ..Options::default() };
    let on_two = optimize(&model(3), &options, &mut |_| {}).expect("it is feasible");
    assert_eq!(on_two.schedule, solved(&model(3)).schedule);
    assert!(on_two.value() > on_two.lower_bound() && on_two.schedule.offload_count() > 0);
}
