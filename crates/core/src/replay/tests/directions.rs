//! Two pipelines in two directions.

use super::*;

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
