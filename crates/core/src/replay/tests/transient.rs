//! What devices hold besides what F keeps, by hand.

use super::*;
use crate::model::{Transient, Workspace};

/// The model with these workspaces of F, I, W, B and R on every stage, and this buffer for every message.
fn with_transient(model: &Model, workspace: [i64; 5], receive: i64) -> Model {
    let stages = model.stages() as usize;
    let [forward, backward_input, backward_weight, backward, recompute] =
        workspace.map(|units| vec![Units(units); stages]);
    let workspace = Workspace { forward, backward_input, backward_weight, backward, recompute };
    let receive = Some(vec![Units(receive); stages - 1]);
    model.with_transient(Transient { workspace: Some(workspace), receive }).expect("a model")
}

fn held(model: &Model, schedule: &Schedule, device: usize) -> String {
    let along = memory_along(model, schedule);
    let shown: Vec<String> =
        along[device].iter().map(|held| format!("{}/{}", held.during, held.after)).collect();
    shown.join(" ")
}

#[test]
fn peak_memory_counts_what_passes_need_while_they_run() {
    // Activation 16, of which I makes 20 for W; a checkpoint holds 1.
    for (about, order, along) in [
        ("I writes what W needs beside what F kept", "0F0 0I0 0W0", "26/16 120/20 1020/0"),
        ("B never holds both", "0F0 0B0", "26/16 10016/0"),
        ("a delayed W keeps more", "0F0 0I0 0F1 0B1 0W0", "26/16 120/20 46/36 10036/20 1020/0"),
        ("recomputed", "0F0 0R0 0I0 0W0", "11/1 100016/16 120/20 1020/0"),
    ] {
        let microbatches = if order.contains("F1") { 2 } else { 1 };
        let schedule = schedule(ONE, microbatches, &[order]);
        let model = with_memory(&schedule, |memory| {
            memory.activation = vec![Units(16)];
            memory.retained_for_weight = vec![Units(20)];
            memory.checkpoint = Some(vec![Units(1)]);
        });
        let model = with_transient(&model, [10, 100, 1000, 10_000, 100_000], 0);
        assert_eq!((held(&model, &schedule, 0).as_str(), about), (along, about));
        assert!(replay(&model, &schedule).is_valid());
    }
}

#[test]
fn a_pair_needs_what_both_of_its_passes_need() {
    let apart = schedule(ONE, 2, &["0F0 0F1 0B0 0B1"]);
    let paired = overlapped(apart.clone(), &[&[1]]);
    let model = with_transient(&unit(&apart), [10, 0, 0, 100, 10], 0);
    assert_eq!(held(&model, &apart, 0), "11/1 12/2 102/1 101/0");
    assert_eq!(held(&model, &paired, 0), "11/1 112/112 112/1 101/0");
    assert_eq!(replay(&model, &paired).peak_memory, [Units(112)]);
    let tight = model.with_uniform_capacity(Units(111)).expect("a model");
    assert_eq!(
        messages(&replay(&tight, &paired)),
        [
            "device 0, position 2: `0B0` raises the memory in use to 112, 1 over the limit of 111; live: `0F0` `0F1`"
        ]
    );
}

#[test]
fn buffers_count_from_where_the_receive_is_posted() {
    let schedule = schedule(TWO, 2, &["0F0 0F1 0B0 0B1", "1F0 1B0 1F1 1B1"]);
    let model = with_transient(&unit(&schedule), [0; 5], 10);
    let shown: Vec<String> = receive_buffers(&model, &schedule)
        .iter()
        .flatten()
        .map(|buffer| format!("{} {}..={}", buffer.pass, buffer.posted, buffer.used))
        .collect();
    // Device 1 has run its first F when device 0 runs its second one, and its first backward by the next turn.
    assert_eq!(shown, ["0B0 2..=2", "0B1 3..=3", "1F0 0..=0", "1F1 1..=2"]);
    assert_eq!(held(&model, &schedule, 0), "1/1 2/2 12/1 11/0");
    assert_eq!(held(&model, &schedule, 1), "11/1 11/10 11/1 1/0");
    assert_eq!(replay(&model, &schedule).peak_memory, [Units(12), Units(11)]);
    let pools: Vec<usize> =
        receive_buffers(&model, &schedule).iter().map(|buffers| buffer_pool(&model, buffers).len()).collect();
    assert_eq!(pools, [1, 1]);
}

#[test]
fn orders_that_get_stuck_hold_what_their_order_shows() {
    let stuck = schedule(TWO, 2, &["0F0 0B0 0F1 0B1", "1F0 1F1 1B0 1B1"]);
    let model = with_transient(&unit(&stuck), [0; 5], 10);
    let verdict = replay(&model, &stuck);
    assert!(verdict.timing.is_none());
    assert_eq!(held(&model, &stuck, 1), "11/1 12/2 2/1 1/0");
    assert_eq!(verdict.peak_memory, [Units(11), Units(12)]);
}
