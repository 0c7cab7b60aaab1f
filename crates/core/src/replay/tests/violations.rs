//! Orders that are not those of a schedule, and everything that is said of them.

use super::*;

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

/// Which passes are missing is listed unless that would be a long list.
#[test]
fn missing_passes_are_listed_unless_they_are_very_many() {
    let most = u32::try_from(Violation::MISSING_LISTED).expect("it fits");
    let forwards =
        |count: u32| (0..count).map(|microbatch| format!("0F{microbatch}")).collect::<Vec<_>>().join(" ");
    let found = |lists: &[&[u32]], microbatches: u32, order: &str| {
        let schedule = schedule(lists, microbatches, &[order, ""][..lists.len()]);
        replay(&unit(&schedule), &schedule).violations.len()
    };
    // F, I and W of each.
    assert_eq!(found(ONE, most, ""), 3 * most as usize);
    assert_eq!(found(ONE, most + 1, ""), 1);
    assert_eq!(found(ONE, most + 1, &forwards(most)), 1);
    assert_eq!(found(ONE, most + 1, &forwards(most + 1)), 2 * (most as usize + 1));
    assert_eq!(found(TWO, most / 2 + 1, "0F0"), 1);
}
