//! What devices hold, and where it is more than they may.

use super::*;

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
