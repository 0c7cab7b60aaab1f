//! Lower bounds against the true optimum of small problems, found by trying all orders.

use bubbleproof::certificate::{
    Bound, BoundError, BoundReason, Objective, Repetition, holds, interval_bound, is_least_pace, lower_bound,
    lower_bound_at_pace, lower_bound_below, lower_bound_of, lower_bound_within,
};
use bubbleproof::model::{
    Costs, Device, Kind, Memory, Microbatch, Model, Pass, Placement, Stage, Ticks, Transient, Units,
};
use num_rational::Ratio;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;

use super::every_order::{optimum, optimum_of};
use super::exact_memory;
use super::random;

/// Models small enough to try all orders, with capacities that bind. Half of them hold one unit per stage,
/// and some passes take no time.
pub fn small() -> impl Strategy<Value = Model> {
    let models = prop_oneof![random::models(0), random::models(1), v_of_two()];
    let small = models.prop_filter("few passes", |model| model.stages() <= 4);
    (small, 1..6_u32, 0..4_i64, any::<bool>()).prop_filter_map(
        "few passes",
        |(model, microbatches, spare, uniform)| {
            if model.stages() * microbatches > 8 || (model.stages() > 2 && microbatches > 2) {
                return None;
            }
            let model = model.with_microbatches(microbatches).ok()?;
            let model = if uniform { one_unit_per_stage(&model) } else { model };
            limited(&model, spare)
        },
    )
}

/// Two pipelines in opposite directions, small enough to try all orders.
pub fn two_ways() -> impl Strategy<Value = Model> {
    let placements = (1..4_u32).prop_map(|devices| Placement::bidirectional(devices).expect("a placement"));
    let models = (random::models_on(placements, 0), 1..5_u32, 0..4_i64, any::<bool>());
    models.prop_filter_map("few passes", |(model, microbatches, spare, uniform)| {
        if model.devices() * microbatches > 6 {
            return None;
        }
        let model = model.with_microbatches(microbatches).ok()?;
        let model = if uniform { one_unit_per_stage(&model) } else { model };
        limited(&model, spare)
    })
}

/// V placement on two devices, where the way back passes over a device that holds both stages.
fn v_of_two() -> impl Strategy<Value = Model> {
    let times = proptest::collection::vec((0..6_i64, 0..6_i64, 1..6_i64, 0..4_i64), 4);
    times.prop_map(|times| {
        let part = |of: fn(&(i64, i64, i64, i64)) -> i64| times.iter().map(|all| Ticks(of(all))).collect();
        let model = Model::unit(Placement::v(2).expect("a placement"), 1).expect("a model");
        let costs = Costs {
            forward: part(|all| all.0),
            backward_input: part(|all| all.1),
            backward_weight: part(|all| all.2),
            communication: times[1..].iter().map(|all| Ticks(all.3)).collect(),
            ..model.costs().clone()
        };
        let memory = Memory { checkpoint: None, ..model.memory().clone() };
        Model::new("v of two".to_owned(), None, model.placement().clone(), 1, costs, memory).expect("a model")
    })
}

fn one_unit_per_stage(model: &Model) -> Model {
    let units = vec![Units(1); model.stages() as usize];
    let memory = Memory {
        activation: units.clone(),
        retained_for_weight: units,
        checkpoint: None,
        ..model.memory().clone()
    };
    let (placement, costs) = (model.placement().clone(), model.costs().clone());
    Model::new("one unit".to_owned(), None, placement, model.microbatches(), costs, memory).expect("a model")
}

/// The model with the least capacity that allows a schedule on its fullest device, or a little more.
fn limited(model: &Model, spare: i64) -> Option<Model> {
    let least = Device::all(model.devices())
        .map(|device| model.placement().stages_of(device).iter().map(|&s| model.activation(s).0).sum())
        .max()
        .unwrap_or(0_i64);
    model.with_uniform_activation_capacity(Some(Units(least + spare))).ok()
}

/// All passes, with one bit of the choice for each stage and microbatch: B, or I and W.
pub fn as_chosen(model: &Model, choice: u32) -> Vec<Pass> {
    let microbatches = model.microbatches();
    let is_whole = |stage: Stage, of: Microbatch| choice >> (stage.0 * microbatches + of.0) & 1 == 1;
    let mut passes = Vec::new();
    for stage in Stage::all(model.stages()) {
        for kind in [Kind::F, Kind::I, Kind::W, Kind::B] {
            let all = Microbatch::all(microbatches).map(|of| Pass::new(stage, kind, of));
            passes.extend(
                all.filter(|pass| kind == Kind::F || (kind == Kind::B) == is_whole(stage, pass.microbatch)),
            );
        }
    }
    passes
}

/// Every set of devices that is not empty.
pub fn subsets(model: &Model) -> Vec<Vec<Device>> {
    let every = 1..1_u32 << model.devices();
    let members = |set: u32| Device::all(model.devices()).filter(move |device| set >> device.0 & 1 == 1);
    every.map(|set| members(set).collect()).collect()
}

/// More steps than a small model takes.
pub const ENOUGH: u64 = 1_000_000;

/// A pace that is beaten by running a schedule of this makespan over and over, only just.
fn beaten_by(model: &Model, makespan: Ticks) -> Ratio<i64> {
    Ratio::new(makespan.0, i64::from(model.microbatches())) + Ratio::new(1, 97)
}

proptest! {
    #![proptest_config(crate::cases(4096))]

    /// Whatever is one pass in a schedule, I and W or B, or a pair with an F: no schedule is shorter, and the best of all is as
    /// long.
    #[test]
    fn all_devices_together_need_what_they_do_with_pairs_workspaces_and_more_for_weights(
        plain in small(), seed: u64, spare in 0..6_i64, percent in prop_oneof![Just(0), Just(50), Just(100)],
    ) {
        let backwards = plain.stages() * plain.microbatches();
        if plain.memory().checkpoint.is_some() || backwards > 4 {
            return Ok(());
        }
        let exact = exact_memory::exact_and_sharded(&plain, seed);
        let without = Transient { receive: None, ..exact.transient().clone() };
        let capacity = |device| plain.activation_capacity(device).map(|capacity| capacity + Units(spare));
        let model = random::with_cheaper_pairs(&exact, percent)
            .with_transient(without)
            .and_then(|model| model.with_activation_capacity(Device::all(model.devices()).map(capacity).collect()))
            .expect("a model");
        let choices = 0..1_u32 << backwards;
        let optima = choices.map(|choice| optimum_of(&model, &as_chosen(&model, choice), Objective::Makespan));
        let Ok(optima) = optima.collect::<Result<Vec<_>, _>>() else { return Ok(()) };
        let devices: Vec<Device> = Device::all(model.devices()).collect();
        let bound = lower_bound_of(&model, Objective::Makespan, &devices, ENOUGH).map(|bound| bound.value);
        let optimum = optima.into_iter().flatten().min().map(Ticks);
        // Where nothing fits, something may still fit into the floor of the model.
        let Some(optimum) = optimum else { return Ok(()) };
        prop_assert_eq!(bound, Some(optimum));
        for end in [optimum, optimum + Ticks(1), optimum + Ticks(9)] {
            let below = lower_bound_below(&model, Objective::Makespan, end, ENOUGH, &mut || false);
            prop_assert!(below.is_none_or(|below| below.value <= optimum), "{optimum} up to {end}");
        }
        prop_assert!(!is_least_pace(&model, beaten_by(&model, optimum), 20_000, &mut || false), "{optimum}");
        for pace in [interval_bound(&model), Ratio::new(optimum.0, 2 * i64::from(model.microbatches()))] {
            let end = optimum + Ticks(9);
            let bound = lower_bound_at_pace(&model, pace, end, 20_000, &mut || false);
            prop_assert!(bound.is_none_or(|bound| bound.value <= optimum), "{optimum} at {pace}");
        }
    }
}

proptest! {
    #![proptest_config(crate::cases(96))]

    #[test]
    fn no_schedule_is_shorter_than_the_lower_bound(model in small()) {
        for objective in [Objective::Makespan, Objective::DeviceSpan] {
            let bound = lower_bound(&model, objective);
            let mut kinds = vec![vec![Kind::F, Kind::I, Kind::W]];
            // All orders of more passes take too long to try.
            if model.memory().checkpoint.is_some() && model.stages() * model.microbatches() <= 6 {
                kinds.push(vec![Kind::F, Kind::R, Kind::I, Kind::W]);
            }
            for kinds in kinds {
                if let Some(optimum) = optimum(&model, &kinds, objective) {
                    prop_assert!(bound.value <= Ticks(optimum), "{objective:?}: {bound:?} but {optimum} is possible");
                }
            }
        }
    }

    /// A device meets its first backward from either direction, and its last forward.
    #[test]
    fn no_schedule_in_two_directions_is_shorter_than_the_lower_bound(
        plain in two_ways(), choice: u32, percent in prop_oneof![Just(0), Just(50), Just(100)],
    ) {
        let model = random::with_cheaper_pairs(&plain, percent);
        let through = |pass: &Pass| model.placement().leads_through(pass.stage, pass.microbatch);
        let passes: Vec<Pass> = as_chosen(&model, choice).into_iter().filter(through).collect();
        for objective in [Objective::Makespan, Objective::DeviceSpan] {
            if let Ok(Some(optimum)) = optimum_of(&model, &passes, objective) {
                let bound = lower_bound(&model, objective);
                prop_assert!(bound.value <= Ticks(optimum), "{objective:?}: {bound:?} but {optimum} is possible");
                prop_assert_eq!(holds(&model, objective, &bound), Ok(()));
            }
        }
    }

    #[test]
    fn no_pace_is_the_least_that_the_best_schedule_beats_over_and_over(model in small()) {
        let optimum = optimum(&model, &[Kind::F, Kind::I, Kind::W], Objective::Makespan);
        if let Some(optimum) = optimum {
            prop_assert!(!is_least_pace(&model, beaten_by(&model, Ticks(optimum)), ENOUGH / 10, &mut || false), "{optimum}");
        }
    }

    #[test]
    fn no_schedule_is_shorter_than_what_some_devices_take(model in small()) {
        for objective in [Objective::Makespan, Objective::DeviceSpan] {
            let Some(optimum) = optimum(&model, &[Kind::F, Kind::I, Kind::W], objective) else { continue };
            for devices in subsets(&model) {
                let bound = lower_bound_of(&model, objective, &devices, ENOUGH).expect("a small model");
                prop_assert!(bound.value <= Ticks(optimum), "{objective:?}: {bound:?} but {optimum} is possible");
                let every = devices.len() == model.devices() as usize && model.memory().checkpoint.is_none();
                if every && (objective == Objective::Makespan || devices.len() == 1) {
                    prop_assert_eq!(bound.value, Ticks(optimum), "nothing is left out");
                }
            }
        }
    }

    #[test]
    fn no_schedule_ends_before_what_is_shown_at_a_pace(
        model in small(), ticks in 0..60_i64, parts in 1..4_i64, more in 0..20_i64,
    ) {
        let optimum = optimum(&model, &[Kind::F, Kind::I, Kind::W], Objective::Makespan);
        let Some(optimum) = optimum else { return Ok(()) };
        for pace in [Ratio::new(ticks, parts), interval_bound(&model), Ratio::new(optimum, 2 * parts)] {
            let end = Ticks(optimum + more);
            let Some(bound) = lower_bound_at_pace(&model, pace, end, ENOUGH / 20, &mut || false) else { continue };
            prop_assert!(bound.value <= Ticks(optimum), "{pace} {end}: {bound:?} but {optimum} is possible");
            prop_assert_eq!(holds(&model, Objective::Makespan, &bound), Ok(()));
        }
    }

    #[test]
    fn a_horizon_leaves_out_nothing_that_ends_before(model in small(), more in 0..20_i64) {
        for objective in [Objective::Makespan, Objective::DeviceSpan] {
            let optimum = optimum(&model, &[Kind::F, Kind::I, Kind::W], objective);
            let shown = |reason| match holds(&model, objective, &Bound { value: Ticks(-1), reason }) {
                Err(BoundError::Value { shown, .. }) => shown,
                other => panic!("{other:?}"),
            };
            for devices in subsets(&model) {
                let least = shown(BoundReason::Subset { devices: devices.clone(), repetition: None });
                for end in [least.0 - 1, least.0, least.0 + more].map(|end| Ticks(end.max(0))) {
                    let below = shown(BoundReason::Horizon { devices: devices.clone(), end });
                    if model.memory().checkpoint.is_none() {
                        prop_assert_eq!(below, least.min(end), "{:?} {:?} {}", objective, devices, end);
                    }
                    prop_assert!(below >= least.min(end), "{:?} {:?} {}", objective, devices, end);
                    if let Some(optimum) = optimum {
                        prop_assert!(below <= Ticks(optimum), "{objective:?} {devices:?} {end}: {below} but {optimum}");
                    }
                }
            }
        }
    }

    #[test]
    fn closed_forms_are_below_the_optimum_without_help(model in small()) {
        for objective in [Objective::Makespan, Objective::DeviceSpan] {
            let Some(optimum) = optimum(&model, &[Kind::F, Kind::I, Kind::W], objective) else { continue };
            let bound = lower_bound_within(&model, objective, 0);
            prop_assert!(bound.value <= Ticks(optimum), "{objective:?}: {bound:?} but {optimum} is possible");
        }
    }

    #[test]
    fn what_repeats_gives_what_following_every_microbatch_gives(
        model in small(), microbatches in 8..20_u32, after in 2..8_u32, period in 1..4_u32,
    ) {
        let model = one_unit_per_stage(&model).with_microbatches(microbatches).expect("a model");
        for devices in subsets(&model).into_iter().filter(|devices| devices.len() <= 2) {
            for objective in [Objective::Makespan, Objective::DeviceSpan] {
                let shown = |repetition: Option<Repetition>| {
                    let reason = BoundReason::Subset { devices: devices.clone(), repetition };
                    match holds(&model, objective, &Bound { value: Ticks(-1), reason }) {
                        Err(BoundError::Value { shown, .. }) => Some(shown),
                        Err(BoundError::Figures(_)) => None,
                        other => panic!("{other:?}"),
                    }
                };
                let Some(bound) = lower_bound_of(&model, objective, &devices, ENOUGH) else { continue };
                let followed = shown(None).expect("every microbatch can be followed");
                // An exact repetition gives the very value, and one that is cut short no more.
                prop_assert!(bound.value <= followed, "{bound:?} but {followed}");
                prop_assert_eq!(holds(&model, objective, &bound), Ok(()));
                let mut growth = 0;
                while let Some(value) = shown(Some(Repetition { after, period, growth: Ticks(growth) })) {
                    prop_assert!(value <= followed, "{value} but {followed}: {after} {period} {growth}");
                    growth += 1;
                }
            }
        }
    }

    #[test]
    fn bounds_survive_being_written_down_and_hold_only_as_they_are(model in small(), off in 1..9_i64) {
        for objective in [Objective::Makespan, Objective::DeviceSpan] {
            let bound = lower_bound(&model, objective);
            let text = serde_json::to_string(&bound).expect("JSON");
            let read: Bound = serde_json::from_str(&text).expect("a bound");
            prop_assert_eq!(&read, &bound, "{}", text);
            prop_assert_eq!(holds(&model, objective, &read), Ok(()));
            for claimed in [bound.value + Ticks(off), bound.value - Ticks(off)] {
                let altered = Bound { value: claimed, ..bound.clone() };
                let expected = Err(BoundError::Value { claimed, shown: bound.value });
                prop_assert_eq!(holds(&model, objective, &altered), expected);
            }
        }
    }

    #[test]
    fn the_bound_on_the_interval_is_at_least_the_work(model in random::models(1)) {
        prop_assert!(interval_bound(&model) >= Ratio::from_integer(model.most_work().0));
    }
}

/// V placement of unit times without latency, one unit per chunk.
fn unit_v(devices: u32, microbatches: u32, capacity: i64) -> Model {
    let placement = bubbleproof::model::Placement::v(devices).expect("a placement");
    let model = Model::unit(placement, microbatches).expect("a model");
    let memory = bubbleproof::model::Memory { checkpoint: None, ..model.memory().clone() };
    let (placement, costs) = (model.placement().clone(), model.costs().clone());
    Model::new("unit".to_owned(), None, placement, microbatches, costs, memory)
        .and_then(|model| model.with_uniform_activation_capacity(Some(Units(capacity))))
        .expect("a model")
}

#[test]
fn at_unit_times_the_window_bound_is_the_papers_formula() {
    for (devices, microbatches, capacity) in
        [(4, 16, 4), (8, 32, 8), (8, 32, 10), (16, 64, 12), (32, 256, 24)]
    {
        let (p, n, k) = (i64::from(devices), i64::from(microbatches), capacity);
        let bound = lower_bound(&unit_v(devices, microbatches, capacity), Objective::Makespan);
        assert_eq!(bound.value, Ticks(6 * n + 6 * p - 3 * k - 1), "p = {p}, n = {n}, k = {k}");
    }
}

#[test]
fn with_few_microbatches_the_papers_formula_is_false_and_the_bound_is_not() {
    let model = unit_v(2, 1, 2);
    let optimum = optimum(&model, &[Kind::F, Kind::I, Kind::W], Objective::Makespan);
    assert_eq!(optimum, Some(9));
    let formula = 6 + 6 * 2 - 3 * 2 - 1;
    assert_eq!(formula, 11);
    assert!(lower_bound(&model, Objective::Makespan).value <= Ticks(9));
}

#[test]
fn a_bound_whose_reason_is_altered_does_not_hold() {
    let objective = Objective::Makespan;
    let model = unit_v(3, 8, 3);
    let altered = |text: &str| -> BoundError {
        let bound: Bound = serde_json::from_str(text).expect("a bound");
        holds(&model, objective, &bound).expect_err("an altered bound")
    };
    let genuine =
        |text: &str| serde_json::from_str::<Bound>(text).map(|bound| holds(&model, objective, &bound));
    // q = 1, P = L + S: 2 devices further up and down, and what one chunk takes.
    let turnover = r#"{"value": 62, "reason": {"turnover": {"device": 2, "held": 1, "turn": 7}}}"#;
    assert!(matches!(genuine(turnover), Ok(Ok(()))), "{:?}", genuine(turnover));
    for (from, to) in [(r#""turn": 7"#, r#""turn": 8"#), (r#""held": 1"#, r#""held": 2"#)] {
        assert!(matches!(
            altered(&turnover.replace(from, to)),
            BoundError::Figures(BoundReason::Turnover { .. })
        ));
    }
    let elsewhere = altered(&turnover.replace(r#""device": 2"#, r#""device": 3"#));
    assert_eq!(elsewhere, BoundError::Device { device: Device(3), devices: 3 });
    assert_eq!(
        altered(&turnover.replace("62", "63")),
        BoundError::Value { claimed: Ticks(63), shown: Ticks(62) }
    );
    assert!(matches!(
        altered(r#"{"value": 62, "reason": "alone"}"#),
        BoundError::Value { claimed: Ticks(62), .. }
    ));
}

/// The trying of all orders passes over problems that have too many, which must stay few.
#[test]
fn nearly_all_small_problems_are_decided_by_trying_all_orders() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (mut decided, mut several_devices) = (0, 0);
    for _ in 0..100 {
        let model = small().new_tree(&mut runner).expect("a model").current();
        let kinds = [Kind::F, Kind::I, Kind::W];
        if optimum(&model, &kinds, Objective::Makespan).is_some() {
            decided += 1;
            several_devices += u32::from(model.devices() > 1);
        }
    }
    assert!(
        decided >= 80 && several_devices >= 40,
        "{decided}, {several_devices} of them of several devices"
    );
}
