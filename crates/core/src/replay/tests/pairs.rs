//! Overlapped pairs of a forward and a backward.

use super::*;

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
