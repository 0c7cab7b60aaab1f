//! Activations that go to the host and back.

use std::ops::Range;

use super::*;
use crate::model::{Links, Messages, Offload};
use crate::schedule::Offloaded;

fn with_offload(model: &Model, moved: i64, to_host: i64, from_host: i64) -> Model {
    let stages = model.stages() as usize;
    let offload = Offload {
        moved: vec![Units(moved); stages],
        to_host: vec![Ticks(to_host); stages],
        from_host: vec![Ticks(from_host); stages],
    };
    model.with_offload(Some(offload)).expect("offloading")
}

/// The schedule, where device 0 offloads these.
fn offloading(schedule: &Schedule, offloads: &[(&str, usize, usize)]) -> Schedule {
    let mut lists = vec![Vec::new(); schedule.orders().len()];
    lists[0] = offloads
        .iter()
        .map(|&(pass, freed, fetched)| Offloaded { pass: pass.parse().expect("a pass"), freed, fetched })
        .collect();
    schedule.clone().with_offloads(lists).expect("offloads of the right form")
}

fn copies(timing: &Timing) -> [Vec<(String, Range<i64>)>; 2] {
    let plain = |copies: &Vec<(Pass, Range<Ticks>)>| {
        copies.iter().map(|(pass, during)| (pass.to_string(), during.start.0..during.end.0)).collect()
    };
    [plain(&timing.copies[0].to_host), plain(&timing.copies[0].from_host)]
}

/// One device: three forwards, then their backwards, the last one first.
fn three() -> Schedule {
    schedule(ONE, 3, &["0F0 0F1 0F2 0B2 0B1 0B0"])
}

#[test]
fn copies_run_beside_passes_which_wait_for_them() {
    let schedule = offloading(&three(), &[("0F0", 2, 4), ("0F1", 3, 4)]);
    let model = with_offload(&unit(&schedule), 1, 2, 3);
    let timing = replay(&model, &schedule).timing.expect("it is valid");
    let copy = |pass: &str, during| (pass.to_owned(), during);
    // The copies to the host start when F0 ends, and when the engine is free. 0F2 waits for the first, 0B2 for the second. The
    // copies back start when 0B2 ends, that of the earlier backward first.
    let expected = [[copy("0F0", 1..3), copy("0F1", 3..5)], [copy("0F1", 7..10), copy("0F0", 10..13)]];
    assert_eq!(copies(&timing), expected.map(|engine| engine.to_vec()));
    assert_eq!(timing.starts, ticks(&[&[0, 1, 3, 5, 10, 13]]));
    assert_eq!(timing.copies[0].busy(), [Ticks(4), Ticks(6)]);
    assert_eq!(timing.metrics.makespan, Ticks(15));
}

#[test]
fn memory_is_free_from_the_pass_that_waits_to_the_one_before_which_it_is_fetched() {
    let schedule = offloading(&three(), &[("0F0", 2, 4)]);
    for (moved, during) in [(0, [1, 2, 3, 3, 2, 1]), (1, [1, 2, 2, 2, 2, 1])] {
        let model = with_offload(&unit(&schedule), moved, 2, 3);
        let held = memory_along(&model, &schedule);
        let held: Vec<i64> = held[0].iter().map(|held| held.during.0).collect();
        assert_eq!(held, during);
        assert_eq!(replay(&model, &schedule).peak_memory, [Units(*during.iter().max().expect("six"))]);
    }
}

#[test]
fn a_copy_back_waits_for_the_memory_that_the_same_pass_frees() {
    // 0F1 gives its memory to 0F0 before 0B2: the copy back starts when that of 0F1 has ended, at 9.
    let schedule = offloading(&three(), &[("0F0", 2, 3), ("0F1", 3, 4)]);
    let model = with_offload(&unit(&schedule), 1, 4, 1);
    let timing = replay(&model, &schedule).timing.expect("it is valid");
    let copy = |pass: &str, during| (pass.to_owned(), during);
    let expected = [[copy("0F0", 1..5), copy("0F1", 5..9)], [copy("0F0", 9..10), copy("0F1", 11..12)]];
    assert_eq!(copies(&timing), expected.map(|engine| engine.to_vec()));
    assert_eq!(timing.starts, ticks(&[&[0, 1, 5, 9, 12, 14]]));
}

#[test]
fn what_is_away_as_a_whole_is_not_listed_as_live() {
    let schedule = offloading(&three(), &[("0F0", 2, 4)]);
    let model =
        with_offload(&with_memory(&schedule, |memory| memory.capacity = vec![Some(Units(1))]), 1, 1, 1);
    let violations: Vec<String> =
        replay(&model, &schedule).violations.iter().map(ToString::to_string).collect();
    assert_eq!(
        violations,
        [
            "device 0, position 1: `0F1` raises the memory in use to 2, 1 over the limit of 1; live: `0F0` `0F1`",
            "device 0, position 2: `0F2` raises the memory in use to 2, 1 over the limit of 1; live: `0F1` `0F2`",
            "device 0, position 4: `0B1` raises the memory in use to 2, 1 over the limit of 1; live: `0F0` `0F1`",
        ]
    );
}

#[test]
fn what_a_pass_frees_ends_an_excursion_or_does_not() {
    // Each of four microbatches holds two units from the start of its F. 0F0 is away from 0F3 on.
    let schedule = offloading(&schedule(ONE, 4, &["0F0 0F1 0F2 0F3 0B1 0B0 0B2 0B3"]), &[("0F0", 3, 5)]);
    let limited = |capacity| {
        with_memory(&schedule, |memory| {
            memory.activation = vec![Units(2)];
            memory.capacity = vec![Some(Units(capacity))];
        })
    };
    let places = |moved, capacity| {
        let verdict = replay(&with_offload(&limited(capacity), moved, 1, 1), &schedule);
        let place = |violation: &Violation| match violation {
            Violation::OverCapacity { at, .. } => at.position,
            other => panic!("{other}"),
        };
        verdict.violations.iter().map(place).collect::<Vec<_>>()
    };
    // 6 units at 0F2, of which 0F3 frees two: 4 are left, and 6 with its own, which is above 5 once more.
    assert_eq!(places(2, 5), [2, 3, 5]);
    // It frees one: 5 are left, and the excursion above 4 goes on.
    assert_eq!(places(1, 4), [2]);
    assert_eq!(places(1, 5), [2, 3, 5]);
}

#[test]
fn memory_that_goes_or_comes_at_a_second_pass_of_one_name_does_so_at_the_next() {
    // The pass at 2 is there before; what is fetched there is needed from 3 on, and what is freed is free from there.
    let orders = schedule(ONE, 2, &["0F0 0F1 0F0 0B1 0B0"]);
    for (freed, fetched, during) in [(1, 2, [1, 1, 2, 1]), (2, 4, [1, 2, 1, 1]), (2, 3, [1, 2, 2, 1])] {
        let schedule = offloading(&orders, &[("0F0", freed, fetched)]);
        let along = memory_along(&with_offload(&unit(&schedule), 1, 1, 1), &schedule);
        let held = [0, 1, 3, 4].map(|at| along[0][at].during.0);
        assert_eq!(held, during, "{freed} {fetched}");
    }
}

#[test]
fn copies_and_messages_run_beside_each_other() {
    let schedule = schedule(TWO, 2, &["0F0 0F1 0B0 0B1", "1F0 1B0 1F1 1B1"]);
    let schedule = offloading(&schedule, &[("0F0", 1, 2)]);
    let messages = Messages { occupancy: vec![Ticks(3)], links: Links::Pair };
    let model = with_offload(&unit(&schedule), 1, 4, 5).with_messages(Some(messages)).expect("a model");
    let timing = replay(&model, &schedule).timing.expect("it is valid");
    // 0F0 is copied until 5, when 0F1 starts, and back until 11, when 0B0 does. Messages go from 1 to 4, and from 6 to 9.
    let copy = |during| vec![("0F0".to_owned(), during)];
    assert_eq!(copies(&timing), [copy(1..5), copy(6..11)]);
    assert_eq!(timing.starts, ticks(&[&[0, 5, 11, 15], &[4, 5, 9, 10]]));
}

#[test]
fn what_cannot_be_offloaded_is_named() {
    let with = |orders: &[&str], offload: (&str, usize, usize)| {
        let schedule = offloading(&schedule(TWO, 2, orders), &[offload]);
        let verdict = replay(&with_offload(&unit(&schedule), 1, 1, 1), &schedule);
        verdict.violations.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let orders = ["0F0 0F1 0B0 0B1", "1F0 1B0 1F1 1B1"];
    assert_eq!(with(&orders, ("0F0", 1, 2)), [""; 0]);
    assert_eq!(
        with(&orders, ("1F0", 1, 2)),
        ["device 0: `1F0` is offloaded, but the device does not run both it and its backward"]
    );
    assert_eq!(
        with(&orders, ("7F9", 1, 2)),
        ["device 0: `7F9` is offloaded, but the device does not run both it and its backward"]
    );
    assert_eq!(
        with(&orders, ("0F1", 1, 2)),
        [
            "device 0, position 1: the memory of `0F1` is to be free from position 1 on, but its copy to the host starts when \
          `0F1` ends: only a later pass can wait for it"
        ]
    );
    assert_eq!(
        with(&orders, ("0F0", 1, 3)),
        [
            "device 0, position 2: `0B0` needs the activation of `0F0`, which is fetched from the host only before position 3"
        ]
    );
    assert_eq!(
        with(&["0F0 0F1 0R0 0B0 0B1", orders[1]], ("0F0", 1, 2)),
        [
            "device 0, position 0: `0F0` is offloaded, but its activation is recomputed (position 2): do one of the two"
        ]
    );
    let schedule = offloading(&schedule(TWO, 2, &orders), &[("0F0", 1, 2)]);
    let verdict = replay(&unit(&schedule), &schedule);
    let [violation] = verdict.violations.as_slice() else { panic!("{verdict:?}") };
    assert_eq!(
        violation.to_string(),
        "device 0: `0F0` is offloaded, but the model has no [offload] table that says how long copies to the host take"
    );
    assert_eq!((violation.rule(), violation.place()), ("offload-unknown", None));
    assert_eq!(violation.pass().map(|pass| pass.to_string()).as_deref(), Some("0F0"));
    assert_eq!(violation.device(), Some(Device(0)));
}
