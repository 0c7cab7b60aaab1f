use num_rational::Ratio;

use super::*;
use crate::model::{Costs, Memory, Placement, Stage};

fn placement(lists: &[&[u32]]) -> Placement {
    let lists = lists.iter().map(|stages| stages.iter().copied().map(Stage).collect());
    Placement::new(lists.collect()).expect("a placement")
}

/// The schedule whose orders are these texts: passes with spaces between them.
fn schedule(lists: &[&[u32]], microbatches: u32, orders: &[&str]) -> Schedule {
    let read = |order: &&str| order.split_whitespace().map(|pass| pass.parse().expect("a pass")).collect();
    Schedule::new(placement(lists), microbatches, orders.iter().map(read).collect()).expect("a schedule")
}

fn unit(schedule: &Schedule) -> Model {
    Model::unit(schedule.placement().clone(), schedule.microbatches()).expect("a model")
}

/// The unit model of a schedule with other costs.
fn with_costs(schedule: &Schedule, change: impl FnOnce(&mut Costs)) -> Model {
    let model = unit(schedule);
    let mut costs = model.costs().clone();
    change(&mut costs);
    Model::new(
        "test".to_owned(),
        None,
        model.placement().clone(),
        model.microbatches(),
        costs,
        model.memory().clone(),
    )
    .expect("a model")
}

/// The unit model of a schedule with another memory.
fn with_memory(schedule: &Schedule, change: impl FnOnce(&mut Memory)) -> Model {
    let model = unit(schedule);
    let mut memory = model.memory().clone();
    change(&mut memory);
    Model::new(
        "test".to_owned(),
        None,
        model.placement().clone(),
        model.microbatches(),
        model.costs().clone(),
        memory,
    )
    .expect("a model")
}

fn messages(verdict: &Verdict) -> Vec<String> {
    verdict.violations.iter().map(ToString::to_string).collect()
}

const ONE: &[&[u32]] = &[&[0]];
const TWO: &[&[u32]] = &[&[0], &[1]];

/// What a case is about, its placement, microbatches, orders, and the message of every violation.
type Case = (&'static str, &'static [&'static [u32]], u32, &'static [&'static str], &'static [&'static str]);

#[test]
fn every_violation_is_found_and_no_other() {
    let cases: &[Case] = &[
        ("a valid one", TWO, 1, &["0F0 0I0 0W0", "1F0 1I0 1W0"], &[]),
        ("full backward and split backward of different stages", TWO, 1, &["0F0 0B0", "1F0 1I0 1W0"], &[]),
        ("a recomputed stage", TWO, 1, &["0F0 0R0 0B0", "1F0 1I0 1W0"], &[]),
        (
            "a stage that does not exist",
            ONE,
            1,
            &["0F0 1F0 0B0"],
            &[
                "device 0, position 1: unknown pass `1F0`: there are 1 stages and 1 microbatches, both counted from 0",
            ],
        ),
        (
            "a microbatch that does not exist, twice",
            ONE,
            1,
            &["0F1 0F0 0B0 0F1"],
            &[
                "device 0, position 0: unknown pass `0F1`: there are 1 stages and 1 microbatches, both counted from 0",
                "device 0, position 3: unknown pass `0F1`: there are 1 stages and 1 microbatches, both counted from 0",
            ],
        ),
        (
            "a pass three times on one device",
            ONE,
            1,
            &["0F0 0F0 0B0 0F0"],
            &[
                "device 0, position 1: `0F0` is a duplicate of the one at device 0, position 0",
                "device 0, position 3: `0F0` is a duplicate of the one at device 0, position 0",
            ],
        ),
        (
            "a pass again on the wrong device",
            TWO,
            1,
            &["0F0 0B0", "1F0 1B0 0F0"],
            &[
                "device 1, position 2: `0F0` is a duplicate of the one at device 0, position 0",
                "device 1, position 2: `0F0` belongs on device 0, which holds stage 0",
            ],
        ),
        (
            "a pass on the wrong device first counts where it belongs",
            TWO,
            1,
            &["0F0 0B0 1B0", "1F0 1B0"],
            &[
                "device 0, position 2: `1B0` is a duplicate of the one at device 1, position 1",
                "device 0, position 2: `1B0` belongs on device 1, which holds stage 1",
            ],
        ),
        (
            "a pass on the wrong device alone",
            TWO,
            1,
            &["0F0", "1F0 1B0 0B0"],
            &["device 1, position 2: `0B0` belongs on device 0, which holds stage 0"],
        ),
        ("a missing forward", TWO, 1, &["0F0 0B0", "1B0"], &["device 1: `1F0` is missing"]),
        (
            "a missing backward",
            TWO,
            1,
            &["0F0 0B0", "1F0"],
            &["device 1: `1I0` is missing", "device 1: `1W0` is missing"],
        ),
        ("a missing weight gradient", ONE, 1, &["0F0 0I0"], &["device 0: `0W0` is missing"]),
        ("a missing input gradient", ONE, 1, &["0F0 0W0"], &["device 0: `0I0` is missing"]),
        (
            "nothing at all",
            ONE,
            1,
            &[""],
            &["device 0: `0F0` is missing", "device 0: `0I0` is missing", "device 0: `0W0` is missing"],
        ),
        (
            "full backward beside both of its parts",
            ONE,
            1,
            &["0F0 0B0 0I0 0W0"],
            &[
                "device 0, position 2: `0I0` is part of the full backward `0B0`, which is at device 0, position 1",
                "device 0, position 3: `0W0` is part of the full backward `0B0`, which is at device 0, position 1",
            ],
        ),
        (
            "full backward beside a weight gradient alone",
            ONE,
            1,
            &["0F0 0W0 0B0"],
            &[
                "device 0, position 1: `0W0` is part of the full backward `0B0`, which is at device 0, position 2",
            ],
        ),
        (
            "backward before forward",
            ONE,
            1,
            &["0I0 0F0 0W0"],
            &["device 0, position 0: `0I0` comes before its dependency `0F0` (position 1)"],
        ),
        (
            "everything backwards",
            ONE,
            1,
            &["0W0 0I0 0R0 0F0"],
            &[
                "device 0, position 0: `0W0` comes before its dependency `0I0` (position 1)",
                "device 0, position 1: `0I0` comes before its dependency `0F0` (position 3)",
                "device 0, position 1: `0I0` comes before its dependency `0R0` (position 2)",
                "device 0, position 2: `0R0` comes before its dependency `0F0` (position 3)",
            ],
        ),
        (
            "two chunks of one device in the wrong order",
            &[&[0, 1]],
            1,
            &["1F0 0F0 0B0 1B0"],
            &[
                "device 0, position 0: `1F0` comes before its dependency `0F0` (position 1)",
                "device 0, position 2: `0B0` comes before its dependency `1B0` (position 3)",
            ],
        ),
        (
            "a fault hides no other: missing, unknown, twice, misplaced",
            TWO,
            1,
            &["0F0 0F0 9F9 1F0", "1I0"],
            &[
                "device 0, position 1: `0F0` is a duplicate of the one at device 0, position 0",
                "device 0, position 2: unknown pass `9F9`: there are 2 stages and 1 microbatches, both counted from 0",
                "device 0, position 3: `1F0` belongs on device 1, which holds stage 1",
                "device 0: `0I0` is missing",
                "device 0: `0W0` is missing",
                "device 1: `1W0` is missing",
            ],
        ),
    ];
    check(cases);
}

#[test]
fn every_deadlock_is_spelled_out_pass_by_pass() {
    let cases: &[Case] = &[
        (
            "two devices",
            TWO,
            2,
            &["0F0 0B0 0F1 0B1", "1F0 1F1 1B0 1B1"],
            &[
                "deadlock of 2 devices: device 0 waits at `0B0` for `1B0` of device 1; device 1 waits at `1F1` for `0F1` of device 0",
            ],
        ),
        (
            "three devices",
            &[&[0, 3], &[1], &[2]],
            1,
            &["3F0 0F0 3B0 0B0", "1F0 1B0", "2F0 2B0"],
            &[
                "deadlock of 3 devices: device 0 waits at `3F0` for `2F0` of device 2; device 2 waits at `2F0` for `1F0` of device 1; device 1 waits at `1F0` for `0F0` of device 0",
            ],
        ),
        (
            "two independent pairs of devices",
            &[&[0], &[1], &[2], &[3]],
            3,
            &[
                "0F0 0F1 0B0 0F2 0B1 0B2",
                "1F0 1F1 1F2 1B0 1B1 1B2",
                "2F0 2B0 2F1 2F2 2B1 2B2",
                "3F0 3F1 3B0 3F2 3B1 3B2",
            ],
            &[
                "deadlock of 2 devices: device 0 waits at `0B0` for `1B0` of device 1; device 1 waits at `1F2` for `0F2` of device 0",
                "deadlock of 2 devices: device 2 waits at `2B0` for `3B0` of device 3; device 3 waits at `3F1` for `2F1` of device 2",
            ],
        ),
        (
            "one behind another",
            TWO,
            4,
            &["0F0 0B0 0F1 0B1 0F2 0B2 0F3 0B3", "1F0 1F1 1B0 1B1 1F2 1F3 1B2 1B3"],
            &[
                "deadlock of 2 devices: device 0 waits at `0B0` for `1B0` of device 1; device 1 waits at `1F1` for `0F1` of device 0",
                "deadlock of 2 devices: device 0 waits at `0B2` for `1B2` of device 1; device 1 waits at `1F3` for `0F3` of device 0",
            ],
        ),
        (
            "a third device that waits for the two of a deadlock is no part of it",
            &[&[0], &[1], &[2]],
            2,
            &["0F0 0B0 0F1 0B1", "1F0 1F1 1B0 1B1", "2F0 2F1 2B0 2B1"],
            &[
                "deadlock of 2 devices: device 0 waits at `0B0` for `1B0` of device 1; device 1 waits at `1F1` for `0F1` of device 0",
            ],
        ),
        (
            "a deadlock behind a missing pass",
            TWO,
            2,
            &["0B0 0F1 0B1", "1F0 1F1 1B0 1B1"],
            &[
                "deadlock of 2 devices: device 0 waits at `0B0` for `1B0` of device 1; device 1 waits at `1F1` for `0F1` of device 0",
                "device 0: `0F0` is missing",
            ],
        ),
        (
            "a pass that waits for both a full backward and its part is let go once",
            TWO,
            2,
            &["0F0 0I0 0F1 0W0 0B1", "1F0 1F1 1I0 1B0 1B1"],
            &[
                "deadlock of 2 devices: device 0 waits at `0I0` for `1B0` of device 1; device 1 waits at `1F1` for `0F1` of device 0",
                "device 1, position 2: `1I0` is part of the full backward `1B0`, which is at device 1, position 3",
            ],
        ),
    ];
    check(cases);
}

fn check(cases: &[Case]) {
    for &(about, lists, microbatches, orders, expected) in cases {
        let schedule = schedule(lists, microbatches, orders);
        let verdict = replay(&unit(&schedule), &schedule);
        assert_eq!(messages(&verdict), expected, "{about}");
        assert_eq!(verdict.is_valid(), expected.is_empty(), "{about}");
        assert_eq!(verdict.timing.is_some(), expected.is_empty(), "{about}");
    }
}

#[test]
fn a_recomputation_needs_a_model_that_knows_what_a_checkpoint_holds() {
    let schedule = schedule(ONE, 1, &["0F0 0R0 0B0"]);
    let model = with_memory(&schedule, |memory| memory.checkpoint = None);
    let verdict = replay(&model, &schedule);
    assert_eq!(
        messages(&verdict),
        [
            "device 0, position 1: `0R0` recomputes, but the model has no [recompute] table that says what a checkpoint holds"
        ]
    );
}

#[test]
fn every_excursion_over_the_limit_is_reported_where_it_begins() {
    let schedule = schedule(TWO, 3, &["0F0 0F1 0B0 0F2 0B1 0B2", "1F0 1B0 1F1 1B1 1F2 1B2"]);
    let model = with_memory(&schedule, |memory| memory.capacity = vec![Some(Units(1)), Some(Units(0))]);
    let verdict = replay(&model, &schedule);
    assert_eq!(
        messages(&verdict),
        [
            "device 0, position 1: `0F1` raises the memory in use to 2, 1 over the limit of 1; live: `0F0` `0F1`",
            "device 0, position 3: `0F2` raises the memory in use to 2, 1 over the limit of 1; live: `0F1` `0F2`",
            "device 1, position 0: `1F0` raises the memory in use to 1, 1 over the limit of 0; live: `1F0`",
            "device 1, position 2: `1F1` raises the memory in use to 1, 1 over the limit of 0; live: `1F1`",
            "device 1, position 4: `1F2` raises the memory in use to 1, 1 over the limit of 0; live: `1F2`",
        ]
    );
    assert!(verdict.timing.is_some(), "a schedule that needs too much memory still runs");
}

#[test]
fn one_excursion_over_several_passes_is_reported_once() {
    let schedule = schedule(
        ONE,
        15,
        &[&{
            let forwards: Vec<String> = (0..15).map(|microbatch| format!("0F{microbatch}")).collect();
            let backwards: Vec<String> = (0..15).map(|microbatch| format!("0B{microbatch}")).collect();
            format!("{} {}", forwards.join(" "), backwards.join(" "))
        }],
    );
    let model = with_memory(&schedule, |memory| memory.capacity = vec![Some(Units(13))]);
    assert_eq!(
        messages(&replay(&model, &schedule)),
        [
            "device 0, position 13: `0F13` raises the memory in use to 14, 1 over the limit of 13; live: `0F0` `0F1` `0F2` `0F3` `0F4` `0F5` `0F6` `0F7` `0F8` `0F9` `0F10` `0F11` and 2 more"
        ]
    );
}

#[test]
fn what_is_released_makes_room_for_what_follows() {
    let schedule = schedule(ONE, 2, &["0F0 0B0 0F1 0B1"]);
    let model = with_memory(&schedule, |memory| memory.capacity = vec![Some(Units(1))]);
    let verdict = replay(&model, &schedule);
    assert_eq!(messages(&verdict), [""; 0]);
    assert_eq!(verdict.peak_memory, [Units(1)]);
}

#[test]
fn a_pass_repeated_a_hundred_times_holds_its_memory_once() {
    let repeated = ["0F0"; 100].join(" ");
    let schedule = schedule(ONE, 1, &[&format!("{repeated} 0B0")]);
    let model = with_memory(&schedule, |memory| {
        memory.activation = vec![Units(Model::MAX_TOTAL)];
        memory.retained_for_weight = vec![Units(0)];
    });
    let verdict = replay(&model, &schedule);
    assert_eq!(verdict.violations.len(), 99);
    assert_eq!(verdict.peak_memory, [Units(Model::MAX_TOTAL)]);
}

#[test]
fn a_file_that_claims_far_more_microbatches_than_it_has_passes_is_refused_at_once() {
    let schedule = schedule(ONE, 1 << 28, &["0F0 0B0"]);
    let verdict = replay(&unit(&schedule), &schedule);
    assert_eq!(
        messages(&verdict),
        ["2 passes are far from complete: 1 stages and 268435456 microbatches need at least 536870912"]
    );
    assert_eq!(verdict.timing, None);
}

#[test]
fn a_model_of_another_pipeline_is_a_mismatch_and_nothing_else_is_looked_at() {
    let ours = schedule(TWO, 2, &["0F0", ""]);
    let large = |microbatches| {
        let model = with_costs(&schedule(TWO, 1, &["", ""]), |costs| {
            costs.forward = vec![Ticks(Model::MAX_TOTAL / 8); 2];
        });
        model.with_microbatches(microbatches).expect("a model")
    };
    let cases = [
        (unit(&schedule(ONE, 2, &[""])), "the schedule has 2 devices, the model 1"),
        (unit(&schedule(&[&[0, 2], &[1]], 2, &["", ""])), "the schedule has 2 stages, the model 3"),
        (
            unit(&schedule(&[&[1], &[0]], 2, &["", ""])),
            "the schedule holds stage 0 on device 0, the model on device 1",
        ),
        (large(1), "the model's times or activations overflow with 2 microbatches"),
    ];
    for (model, message) in cases {
        let verdict = replay(&model, &ours);
        assert_eq!(messages(&verdict), [format!("model and schedule do not match: {message}")]);
        assert_eq!((verdict.peak_memory, verdict.timing), (vec![], None));
    }
}

#[test]
fn chunks_listed_in_another_order_and_other_microbatches_are_no_mismatch() {
    let ours = schedule(&[&[0, 2], &[1]], 1, &["0F0 2F0 2B0 0B0", "1F0 1B0"]);
    let model = unit(&schedule(&[&[2, 0], &[1]], 9, &["", ""]));
    assert_eq!(messages(&replay(&model, &ours)), [""; 0]);
}

#[test]
fn more_microbatches_than_the_model_has_are_no_mismatch() {
    let schedule = schedule(ONE, 3, &["0F0 0B0 0F1 0B1 0F2 0B2"]);
    let model = unit(&schedule).with_microbatches(2).expect("a model");
    assert!(replay(&model, &schedule).is_valid());
}

#[test]
fn violations_know_their_rule_place_and_pass() {
    let schedule = schedule(TWO, 2, &["0F0 0B0 0F1 0B1 0F0", "1F0 1F1 1B0"]);
    let verdict = replay(&unit(&schedule), &schedule);
    let located: Vec<_> = verdict
        .violations
        .iter()
        .map(|violation| {
            let place = violation.place().map(|place| (place.device.0, place.position));
            let pass = violation.pass().map(|pass| pass.to_string()).unwrap_or_default();
            (violation.rule(), violation.device().map(|device| device.0), place, pass)
        })
        .collect();
    assert_eq!(
        located,
        [
            ("deadlock", Some(0), Some((0, 1)), "0B0".to_owned()),
            ("duplicate-pass", Some(0), Some((0, 4)), "0F0".to_owned()),
            ("missing-pass", Some(1), None, "1I1".to_owned()),
            ("missing-pass", Some(1), None, "1W1".to_owned()),
        ]
    );
}

fn ticks(starts: &[&[i64]]) -> Vec<Vec<Ticks>> {
    starts.iter().map(|starts| starts.iter().copied().map(Ticks).collect()).collect()
}

#[test]
fn a_boundary_between_devices_costs_its_latency_both_ways() {
    let schedule = schedule(TWO, 1, &["0F0 0I0 0W0", "1F0 1I0 1W0"]);
    let model = with_costs(&schedule, |costs| {
        costs.forward = vec![Ticks(3); 2];
        costs.backward_input = vec![Ticks(4); 2];
        costs.backward_weight = vec![Ticks(2); 2];
        costs.communication = vec![Ticks(5)];
    });
    let timing = replay(&model, &schedule).timing.expect("it is valid");
    assert_eq!(timing.starts, ticks(&[&[0, 20, 24], &[8, 11, 15]]));
    let expected = Metrics {
        makespan: Ticks(26),
        device_span: Ticks(26),
        busy: Ticks(18),
        useful: Ticks(18),
        bubble_rate: Ratio::new(17, 26),
        idle_rate: Ratio::new(17, 26),
        useful_rate: Ratio::new(9, 26),
    };
    assert_eq!(timing.metrics, expected);
}

#[test]
fn a_boundary_inside_a_device_costs_nothing() {
    let schedule = schedule(&[&[0, 1], &[2]], 1, &["0F0 1F0 1B0 0B0", "2F0 2B0"]);
    let model = with_costs(&schedule, |costs| costs.communication = vec![Ticks(100), Ticks(7)]);
    let timing = replay(&model, &schedule).timing.expect("it is valid");
    assert_eq!(timing.starts, ticks(&[&[0, 1, 19, 21], &[9, 10]]));
}

#[test]
fn makespan_and_device_span_differ_when_the_last_device_ends_last() {
    let schedule = schedule(TWO, 1, &["0F0 0I0 0W0", "1F0 1I0 1W0"]);
    let model = with_costs(&schedule, |costs| costs.backward_weight = vec![Ticks(1), Ticks(20)]);
    let timing = replay(&model, &schedule).timing.expect("it is valid");
    assert_eq!(timing.starts, ticks(&[&[0, 3, 4], &[1, 2, 3]]));
    let expected = Metrics {
        makespan: Ticks(23),
        device_span: Ticks(22),
        busy: Ticks(25),
        useful: Ticks(25),
        bubble_rate: Ratio::new(19, 44),
        idle_rate: Ratio::new(21, 46),
        useful_rate: Ratio::new(25, 44),
    };
    assert_eq!(timing.metrics, expected);
}

#[test]
fn recomputation_is_work_that_is_of_no_use() {
    let schedule = schedule(TWO, 1, &["0F0 0R0 0I0 0W0", "1F0 1I0 1W0"]);
    let model = with_memory(&schedule, |memory| memory.checkpoint = Some(vec![Units(1); 2]));
    let Metrics { device_span, busy, useful, bubble_rate, useful_rate, .. } =
        replay(&model, &schedule).timing.expect("it is valid").metrics;
    // R waits for nothing but its forward, so it fills the time in which device 0 waits for the gradient.
    assert_eq!((device_span, busy, useful), (Ticks(5), Ticks(7), Ticks(6)));
    assert_eq!((bubble_rate, useful_rate), (Ratio::new(3, 10), Ratio::new(6, 10)));
}

#[test]
fn one_forward_one_backward_has_the_bubble_of_its_formula() {
    // (p-1) (tF+tB) of m (tF+tB) + (p-1) (tF+tB), here p = 2, m = 3, tF = 1, tB = 2.
    let schedule = schedule(TWO, 3, &["0F0 0F1 0B0 0F2 0B1 0B2", "1F0 1B0 1F1 1B1 1F2 1B2"]);
    let timing = replay(&unit(&schedule), &schedule).timing.expect("it is valid");
    assert_eq!(timing.metrics.device_span, Ticks(12));
    assert_eq!(timing.metrics.bubble_rate, Ratio::new(1, 4));
}

#[test]
fn passes_without_duration_keep_their_order_and_take_no_time() {
    let schedule = schedule(TWO, 2, &["0F0 0F1 0I0 0W0 0I1 0W1", "1F0 1I0 1W0 1F1 1I1 1W1"]);
    let model = with_costs(&schedule, |costs| {
        costs.forward = vec![Ticks(0), Ticks(2)];
        costs.backward_weight = vec![Ticks(0), Ticks(0)];
    });
    let verdict = replay(&model, &schedule);
    assert_eq!(verdict.peak_memory, [Units(2), Units(1)]);
    let timing = verdict.timing.expect("it is valid");
    assert_eq!(timing.starts, ticks(&[&[0, 0, 3, 4, 6, 7], &[0, 2, 3, 3, 5, 6]]));
    assert_eq!((timing.metrics.makespan, timing.metrics.busy), (Ticks(7), Ticks(8)));
}

#[test]
fn peak_memory_counts_what_each_pass_acquires_and_releases() {
    // Activation 5, of which I leaves 2 for W; a checkpoint holds 1.
    for (about, order, peak) in [
        ("split, one at a time", "0F0 0I0 0W0 0F1 0I1 0W1", 5),
        ("a delayed W keeps its part", "0F0 0I0 0F1 0W0 0I1 0W1", 7),
        ("two forwards", "0F0 0F1 0I0 0I1 0W0 0W1", 10),
        ("B releases everything", "0F0 0B0 0F1 0B1", 5),
        ("B and split mixed", "0F0 0F1 0B0 0I1 0W1", 10),
        ("two checkpoints", "0F0 0F1 0R0 0B0 0R1 0B1", 6),
        ("a checkpoint beside a whole activation", "0F0 0F1 0R0 0B0 0B1", 10),
        ("a whole activation first, then a checkpoint", "0F1 0F0 0B1 0R0 0B0", 6),
        ("two recomputed at once", "0F0 0F1 0R0 0R1 0B0 0B1", 10),
        ("recomputed and split", "0F0 0R0 0I0 0F1 0W0 0R1 0I1 0W1", 5),
    ] {
        let schedule = schedule(ONE, 2, &[order]);
        let model = with_memory(&schedule, |memory| {
            memory.activation = vec![Units(5)];
            memory.retained_for_weight = vec![Units(2)];
            memory.checkpoint = Some(vec![Units(1)]);
        });
        let verdict = replay(&model, &schedule);
        assert_eq!(messages(&verdict), [""; 0], "{about}");
        assert_eq!((verdict.peak_memory, about), (vec![Units(peak)], about));
    }
}

#[test]
fn a_recomputation_takes_as_long_as_its_forward() {
    let schedule = schedule(ONE, 1, &["0F0 0R0 0B0"]);
    let model = with_costs(&schedule, |costs| costs.forward = vec![Ticks(7)]);
    let timing = replay(&model, &schedule).timing.expect("it is valid");
    assert_eq!(timing.starts, ticks(&[&[0, 7, 14]]));
    assert_eq!(timing.metrics.busy, Ticks(16));
}

/// The schedule with overlapped pairs at these positions of each device.
fn overlapped(schedule: Schedule, overlaps: &[&[usize]]) -> Schedule {
    schedule.with_overlaps(overlaps.iter().map(|positions| positions.to_vec()).collect()).expect("pairs")
}

#[test]
fn an_overlapped_pair_starts_when_all_it_needs_is_there_and_yields_at_its_end() {
    // Two devices, V: stages 0 and 3, 1 and 2. Alone, 0F1 would start at 1 and 1F1 at 6.
    let orders = ["0F0 3F0 0F1 3B0 3F1 3B1 0B0 0B1", "1F0 2F0 1F1 2F1 2B0 1B0 2B1 1B1"];
    let apart = schedule(&[&[0, 3], &[1, 2]], 2, &orders);
    let timing = |schedule: &Schedule| replay(&unit(schedule), schedule).timing.expect("valid");
    let ticks =
        |timing: &Timing, device: usize| timing.starts[device].iter().map(|t| t.0).collect::<Vec<_>>();
    assert_eq!(ticks(&timing(&apart), 0), [0, 3, 4, 5, 7, 8, 11, 15]);
    let paired = overlapped(apart, &[&[2], &[]]);
    let found = timing(&paired);
    // The pair of 0F1 and 3B0 runs from 4 to 7, so 1F1 starts at 7 only, and all that follows later.
    assert_eq!(ticks(&found, 0), [0, 3, 4, 5, 9, 10, 13, 17]);
    assert_eq!(ticks(&found, 1), [1, 2, 7, 8, 9, 11, 13, 15]);
    assert_eq!(found.metrics.busy, Ticks(24), "a pair takes the time of both");
    assert_eq!(replay(&unit(&paired), &paired).peak_memory, [Units(3), Units(4)]);
}

#[test]
fn every_pair_of_a_device_is_one() {
    let orders = ["0F0 0F1 0B0 0F2 0B1 0F3 0B2 0B3", "1F0 1B0 1F1 1B1 1F2 1B2 1F3 1B3"];
    let paired = overlapped(schedule(TWO, 4, &orders), &[&[1, 3], &[]]);
    // Each pair waits for the gradient that its second pass needs, and its forward is there at its end.
    assert_eq!(
        replay(&unit(&paired), &paired).timing.expect("valid").starts,
        ticks(&[&[0, 4, 5, 10, 11, 13, 16, 19], &[1, 2, 7, 8, 13, 14, 16, 17]])
    );
}

#[test]
fn an_overlapped_pair_holds_what_either_needs_until_its_end() {
    // Backward first: alone it would give its activation back before the forward takes one.
    let apart = schedule(ONE, 2, &["0F0 0B0 0F1 0B1"]);
    assert_eq!(replay(&unit(&apart), &apart).peak_memory, [Units(1)]);
    let paired = overlapped(apart, &[&[1]]);
    assert_eq!(replay(&unit(&paired), &paired).peak_memory, [Units(2)]);
    let curve: Vec<(i64, i64)> =
        memory_along(&unit(&paired), &paired)[0].iter().map(|held| (held.during.0, held.after.0)).collect();
    assert_eq!(curve, [(1, 1), (2, 2), (2, 1), (1, 0)]);
    let tight = with_memory(&paired, |memory| memory.capacity = vec![Some(Units(1))]);
    let [found] = &messages(&replay(&tight, &paired))[..] else { panic!("one violation") };
    assert_eq!(
        found,
        "device 0, position 2: `0F1` raises the memory in use to 2, 1 over the limit of 1; live: `0F0` `0F1`"
    );
}

/// 0F0 is live while its backward is overlapped with 0F2, and no longer when 0F3 starts.
#[test]
fn what_a_pair_gives_back_is_not_listed_later() {
    let apart = schedule(ONE, 4, &["0F0 0F1 0B0 0F2 0F3 0B1 0B2 0B3"]);
    let paired = overlapped(apart, &[&[2]]);
    let tight = with_memory(&paired, |memory| memory.capacity = vec![Some(Units(2))]);
    assert_eq!(
        messages(&replay(&tight, &paired)),
        [
            "device 0, position 3: `0F2` raises the memory in use to 3, 1 over the limit of 2; live: `0F0` `0F1` `0F2`",
            "device 0, position 4: `0F3` raises the memory in use to 3, 1 over the limit of 2; live: `0F1` `0F2` `0F3`",
        ]
    );
}

#[test]
fn pairs_that_cannot_run_are_found() {
    let own = overlapped(schedule(ONE, 1, &["0F0 0B0"]), &[&[0]]);
    assert_eq!(
        messages(&replay(&unit(&own), &own)),
        ["device 0, position 1: `0B0` is overlapped with `0F0`, which it needs"]
    );
    // Each device could run its forward first; as pairs they wait for each other.
    let apart = schedule(TWO, 2, &["0F0 0F1 0B0 0B1", "1F0 1F1 1B0 1B1"]);
    assert!(replay(&unit(&apart), &apart).is_valid());
    let paired = overlapped(apart, &[&[1], &[1]]);
    assert_eq!(
        messages(&replay(&unit(&paired), &paired)),
        [
            "deadlock of 2 devices: device 0 waits at `0B0` for `1B0` of device 1; device 1 waits at `1F1` for \
          `0F1` of device 0"
        ]
    );
}

#[test]
fn positions_that_are_no_pair_of_a_forward_and_a_backward_are_refused() {
    let plain = || schedule(ONE, 2, &["0F0 0F1 0I0 0W0 0B1"]);
    for positions in [&[0][..], &[2], &[3], &[4], &[5], &[1, 2], &[1, 1]] {
        assert!(plain().with_overlaps(vec![positions.to_vec()]).is_err(), "{positions:?}");
    }
    assert!(plain().with_overlaps(Vec::new()).is_err());
    let paired = plain().with_overlaps(vec![vec![1]]).expect("a pair");
    let steps: Vec<usize> = paired.steps(crate::model::Device(0)).map(<[Pass]>::len).collect();
    assert_eq!((steps, paired.overlap_count()), (vec![1, 2, 1, 1], 1));
}

#[test]
fn what_is_held_along_an_order_peaks_at_the_peak_with_overlapped_pairs_too() {
    let apart = schedule(ONE, 3, &["0F0 0B0 0F1 0F2 0B1 0B2"]);
    let during = |schedule: &Schedule| -> Vec<i64> {
        memory_along(&unit(schedule), schedule)[0].iter().map(|held| held.during.0).collect()
    };
    assert_eq!(during(&apart), [1, 1, 1, 2, 2, 1]);
    let paired = overlapped(apart, &[&[1, 3]]);
    assert_eq!(during(&paired), [1, 2, 2, 2, 2, 1]);
    assert_eq!(replay(&unit(&paired), &paired).peak_memory, [Units(2)]);
}

/// Two devices and two microbatches in two directions: stages 0 and 1 are one pipeline, 2 and 3 the other.
fn two_ways(orders: &[&str]) -> Schedule {
    let one = schedule(&[&[0, 3], &[1, 2]], 2, orders);
    let placement = one.placement().clone().in_two_directions().expect("the stages of V placement");
    Schedule::new(placement, 2, one.orders().to_vec()).expect("a schedule")
}

#[test]
fn in_two_directions_a_microbatch_goes_through_one_pipeline_only() {
    let valid = two_ways(&["0F0 3F1 3B1 0B0", "2F1 1F0 1B0 2B1"]);
    let verdict = replay(&unit(&valid), &valid);
    assert_eq!(messages(&verdict), [""; 0]);
    // Neither pipeline waits for the other: 2F1 starts at once, 1B0 after its own forward alone.
    assert_eq!(verdict.timing.expect("valid").starts, ticks(&[&[0, 1, 2, 4], &[0, 1, 2, 4]]));
    assert_eq!(verdict.peak_memory, [Units(2), Units(2)]);
    let heavy = with_memory(&valid, |memory| memory.weights = vec![Units(10), Units(1), Units(1), Units(10)]);
    assert_eq!(replay(&heavy, &valid).peak_memory, [Units(22), Units(4)]);
}

#[test]
fn passes_of_the_other_direction_are_found() {
    let wrong = two_ways(&["0F0 0F1 3F1 3B1 0B0", "2F1 1F0 1B0 2B1"]);
    assert_eq!(
        messages(&replay(&unit(&wrong), &wrong)),
        [
            "device 0, position 1: `0F1` is of the other direction: even microbatches go through the first half of the \
          stages, odd ones through the second"
        ]
    );
    // Nor does anything wait for them: 1B0 not for 2B0, nor 2F1 for 1F1.
    for order in ["2F1 1F0 1B0 2B1 2B0", "2F1 1F0 1F1 1B0 2B1"] {
        let stray = two_ways(&["0F0 3F1 3B1 0B0", order]);
        let found = messages(&replay(&unit(&stray), &stray));
        assert!(matches!(&found[..], [one] if one.contains("of the other direction")), "{found:?}");
    }
    let missing = two_ways(&["0F0 0B0", "2F1 1F0 1B0 2B1"]);
    let found = messages(&replay(&unit(&missing), &missing));
    assert!(found.iter().all(|message| message.contains("`3")) && !found.is_empty(), "{found:?}");
    let one = schedule(&[&[0, 3], &[1, 2]], 2, &["0F0 3F1 3B1 0B0", "2F1 1F0 1B0 2B1"]);
    assert_eq!(
        messages(&replay(&unit(&two_ways(&["", ""])), &one)),
        [
            "model and schedule do not match: microbatches go in 1 direction(s) in the schedule, in 2 in the model"
        ]
    );
}

#[test]
fn orders_that_do_not_run_are_not_valid_whatever_the_report_finds() {
    let deadlocked = schedule(TWO, 2, &["0F0 0B0 0F1 0B1", "1F0 1F1 1B0 1B1"]);
    let model = unit(&deadlocked);
    let verdict = explained_by(&model, &deadlocked, |_, _| Deadlocks::default());
    assert!(!verdict.is_valid() && verdict.timing.is_none());
    assert_eq!(verdict.violations, [Violation::Stuck { devices: 2 }]);
    let verdict = Verdict { violations: Vec::new(), ..verdict };
    assert!(!verdict.is_valid(), "without times nothing is valid");
}

#[test]
fn devices_that_the_report_of_deadlocks_leaves_out_are_counted_beside_those_that_it_lists() {
    let deadlocked = schedule(TWO, 2, &["0F0 0B0 0F1 0B1", "1F0 1F1 1B0 1B1"]);
    let cycles = deadlocks::deadlocks(&deadlocked, &layout::Layout::new(&deadlocked)).cycles;
    let listed = cycles.iter().cloned().map(Violation::Deadlock).collect::<Vec<_>>();
    let cut_short = |_: &Schedule, _: &layout::Layout| Deadlocks { cycles, unlisted: 1 };
    let verdict = explained_by(&unit(&deadlocked), &deadlocked, cut_short);
    assert!(!listed.is_empty() && listed.iter().all(|deadlock| verdict.violations.contains(deadlock)));
    assert!(verdict.violations.contains(&Violation::Stuck { devices: 1 }), "{:?}", verdict.violations);
}
