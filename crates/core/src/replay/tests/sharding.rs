//! Sharded weights: gathers on collective streams, and what they hold.

use super::*;
use crate::model::{Offload, Sharding, StepEnd};
use crate::schedule::Offloaded;
use crate::tasks::Resource;

/// One device with two stages.
const PAIR: &[&[u32]] = &[&[0, 1]];

fn sharded(model: &Model, gather: &[i64], gathered: &[i64], stages: u32) -> Model {
    let gather = gather.iter().copied().map(Ticks).collect();
    let gathered = gathered.iter().copied().map(Units).collect();
    model.with_sharding(Some(Sharding { gather, gathered, stages })).expect("a model")
}

fn with_step(model: &Model, reduce: &[i64], optimizer: &[i64]) -> Model {
    let list = |values: &[i64]| values.iter().copied().map(Ticks).collect();
    model.with_step(Some(StepEnd { reduce: list(reduce), optimizer: list(optimizer) })).expect("a step")
}

/// The stage, the positions posted, used and until, the start and the end of a gather.
type Gather = (u32, [usize; 3], [i64; 2]);

/// The gathers by device.
fn gathers(timing: &Timing) -> Vec<Vec<Gather>> {
    let gather = |GatherTimes { gathering, during }: &GatherTimes| {
        let Gathering { stage, posted, used, until } = *gathering;
        (stage.0, [posted, used, until], [during.start.0, during.end.0])
    };
    timing.gathers.iter().map(|gathers| gathers.iter().map(gather).collect()).collect()
}

fn timing(model: &Model, schedule: &Schedule) -> Timing {
    let verdict = replay(model, schedule);
    assert_eq!(verdict.violations, []);
    verdict.timing.expect("it is valid")
}

#[test]
fn passes_wait_for_the_weights_of_their_stage() {
    let schedule = schedule(PAIR, 1, &["0F0 1F0 1B0 0B0"]);
    let model = sharded(&unit(&schedule), &[3, 4], &[0, 0], 1);
    let found = timing(&model, &schedule);
    // Stage 0 is gathered for its F and again for its B, since one stage is at a time.
    let expected = [vec![(0, [0, 0, 1], [0, 3]), (1, [1, 1, 3], [4, 8]), (0, [3, 3, 4], [11, 14])]];
    assert_eq!(gathers(&found), expected);
    assert_eq!(found.starts, ticks(&[&[3, 8, 9, 14]]));
    let metrics = &found.metrics;
    assert_eq!((metrics.makespan, metrics.device_span, metrics.busy), (Ticks(16), Ticks(16), Ticks(6)));

    // Two at a time are gathered one after the other, both before the first pass.
    let two = timing(&sharded(&model, &[3, 4], &[0, 0], 2), &schedule);
    assert_eq!(gathers(&two), [vec![(0, [0, 0, 4], [0, 3]), (1, [0, 1, 3], [3, 7])]]);
    assert_eq!(two.starts, ticks(&[&[3, 7, 8, 10]]));
    assert_eq!(two.metrics.makespan, Ticks(12));
}

#[test]
fn gathers_and_reductions_share_the_stream_in_the_order_in_which_they_are_posted() {
    let schedule = schedule(PAIR, 1, &["0F0 1F0 1B0 0B0"]);
    let model = with_step(&sharded(&unit(&schedule), &[3, 4], &[0, 0], 1), &[5, 6], &[1, 2]);
    let found = timing(&model, &schedule);
    // The gradients of stage 1 are reduced from 11 to 17, and the second gather of stage 0 is posted behind that.
    let expected = [vec![(0, [0, 0, 1], [0, 3]), (1, [1, 1, 3], [4, 8]), (0, [3, 3, 4], [17, 20])]];
    assert_eq!(gathers(&found), expected);
    assert_eq!(found.starts, ticks(&[&[3, 8, 9, 20]]));
    let reduced = |stage: usize| found.step[stage].reduce.clone();
    assert_eq!([reduced(0), reduced(1)], [Ticks(22)..Ticks(27), Ticks(11)..Ticks(17)]);
    let stepped = |stage: usize| found.step[stage].optimizer.clone();
    assert_eq!([stepped(0), stepped(1)], [Ticks(27)..Ticks(28), Ticks(22)..Ticks(24)]);
    assert_eq!((found.metrics.makespan, found.metrics.device_span), (Ticks(28), Ticks(28)));
}

#[test]
fn a_gather_that_takes_no_time_waits_for_nothing() {
    let schedule = schedule(PAIR, 1, &["0F0 1F0 1B0 0B0"]);
    let model = with_step(&sharded(&unit(&schedule), &[0, 4], &[0, 0], 1), &[5, 6], &[1, 2]);
    let found = timing(&model, &schedule);
    assert_eq!(gathers(&found), [vec![(1, [1, 1, 3], [1, 5])]]);
    // The last B does not wait for the reduction, which ends at 14.
    assert_eq!(found.starts, ticks(&[&[0, 5, 6, 8]]));
    assert_eq!(found.step[1].reduce, Ticks(8)..Ticks(14));
}

/// The activation of stage 0 is copied to the host from 4 to 9. The weights of stage 1 may take its place only then.
#[test]
fn a_gather_waits_for_the_copies_that_make_room_for_it() {
    let away = |freed| {
        let one = Offloaded { pass: "0F0".parse().expect("a pass"), freed, fetched: 3 };
        schedule(PAIR, 1, &["0F0 1F0 1B0 0B0"]).with_offloads(vec![vec![one]]).expect("an offload")
    };
    let offload = Offload {
        moved: vec![Units(1), Units(0)],
        to_host: vec![Ticks(5), Ticks(0)],
        from_host: vec![Ticks(1), Ticks(0)],
    };
    let model = unit(&away(1)).with_offload(Some(offload)).expect("offloading");
    let model = sharded(&model, &[3, 4], &[0, 1], 1);
    let expected = [vec![(0, [0, 0, 1], [0, 3]), (1, [1, 1, 3], [9, 13]), (0, [3, 3, 4], [16, 19])]];
    assert_eq!(gathers(&timing(&model, &away(1))), expected);
    // Where the memory is free only later, the gather does not wait for it.
    assert_eq!(gathers(&timing(&model, &away(2)))[0][1], (1, [1, 1, 3], [4, 8]));
}

#[test]
fn weights_that_cost_nothing_change_nothing() {
    let schedule = schedule(PAIR, 1, &["0F0 1F0 1B0 0B0"]);
    let plain = with_step(&unit(&schedule), &[5, 6], &[1, 2]);
    let model = sharded(&plain, &[0, 0], &[0, 0], 1);
    assert_eq!(replay(&model, &schedule), replay(&plain, &schedule));
    assert_eq!(task_graph(&model, &schedule), task_graph(&plain, &schedule));
    assert_eq!(posting_tasks(&model), 0);
}

#[test]
fn a_device_begins_when_it_posts_its_first_gather() {
    let schedule = schedule(TWO, 1, &["0F0 0B0", "1F0 1B0"]);
    let both = timing(&sharded(&unit(&schedule), &[2, 2], &[0, 0], 3), &schedule);
    assert_eq!(both.starts, ticks(&[&[2, 6], &[3, 4]]));
    assert_eq!((both.metrics.makespan, both.metrics.device_span), (Ticks(8), Ticks(8)));
    // Device 1 gathers beside 0F. It may post its gather a tick earlier than device 0 begins, which then has its gradient
    // sooner.
    let one = timing(&sharded(&unit(&schedule), &[0, 2], &[0, 0], 3), &schedule);
    assert_eq!(one.starts, ticks(&[&[0, 5], &[2, 3]]));
    assert_eq!(gathers(&one), [vec![], vec![(1, [0, 0, 2], [0, 2])]]);
    assert_eq!((one.metrics.makespan, one.metrics.device_span), (Ticks(7), Ticks(6)));
}

#[test]
fn an_overlapped_pair_has_the_weights_of_both_stages() {
    let placement = Placement::bidirectional(1).expect("a placement");
    let order = "0F0 1F1 0B0 1B1".split(' ').map(|pass| pass.parse().expect("a pass")).collect();
    let schedule = Schedule::new(placement, 2, vec![order]).expect("a schedule");
    let schedule = overlapped(schedule, &[&[1]]);
    let model = sharded(&unit(&schedule), &[3, 4], &[10, 20], 1);
    let verdict = replay(&model, &schedule);
    assert_eq!(verdict.peak_memory, [Units(32)]);
    let found = verdict.timing.expect("it is valid");
    assert_eq!(gathers(&found), [vec![(0, [0, 0, 3], [0, 3]), (1, [1, 1, 4], [4, 8])]]);
    // The pair takes 3 ticks from 8 on.
    assert_eq!(found.starts, ticks(&[&[3, 8, 9, 11]]));
    assert_eq!(found.metrics.makespan, Ticks(13));
}

#[test]
fn gathered_weights_are_held_from_where_the_gather_is_posted() {
    let schedule = schedule(PAIR, 1, &["0F0 1F0 1B0 0B0"]);
    let held = |stages, gather: [i64; 2]| {
        let model = sharded(&unit(&schedule), &gather, &[10, 20], stages);
        let along = memory_along(&model, &schedule);
        let peak = replay(&model, &schedule).peak_memory;
        assert_eq!(peak, [along[0].iter().map(|held| held.during).max().expect("passes")]);
        along[0].iter().map(|held| [held.during.0, held.after.0]).collect::<Vec<_>>()
    };
    for gather in [[3, 4], [0, 0]] {
        assert_eq!(held(1, gather), [[11, 11], [22, 22], [22, 21], [11, 10]]);
        assert_eq!(held(2, gather), [[31, 31], [32, 32], [32, 31], [11, 10]]);
    }
}

#[test]
fn gathered_weights_may_exceed_a_capacity() {
    let schedule = schedule(PAIR, 1, &["0F0 1F0 1B0 0B0"]);
    let within = |capacity| {
        let model = sharded(&unit(&schedule), &[3, 4], &[10, 20], 1);
        let model = model.with_uniform_capacity(Units(capacity)).expect("a model");
        messages(&replay(&model, &schedule))
    };
    assert_eq!(within(22), Vec::<String>::new());
    let over = within(21);
    assert_eq!(over.len(), 1, "{over:?}");
    assert!(over[0].contains("`1F0`") && over[0].contains("22"), "{over:?}");
    // What is let go of ends the excursion, so that the next one is reported too.
    assert_eq!(within(10).len(), 3);
}

#[test]
fn weights_before_a_pass_that_does_not_count_are_held_from_the_next_one_on() {
    let schedule = schedule(PAIR, 1, &["0F0 9F0 1F0 1B0 0B0"]);
    let model = sharded(&unit(&schedule), &[3, 4], &[10, 20], 1);
    let verdict = replay(&model, &schedule);
    assert_eq!(verdict.violations.len(), 1);
    assert_eq!(verdict.peak_memory, [Units(22)]);
    let along = memory_along(&model, &schedule);
    let during: Vec<i64> = along[0].iter().map(|held| held.during.0).collect();
    assert_eq!(during, [11, 11, 22, 22, 11]);
}

#[test]
fn streams_come_behind_the_devices_and_before_the_links() {
    let schedule = schedule(TWO, 1, &["0F0 0B0", "1F0 1B0"]);
    let messages = crate::model::Messages { occupancy: vec![Ticks(7)], links: crate::model::Links::Pair };
    let model = with_step(&sharded(&unit(&schedule), &[3, 4], &[0, 0], 3), &[5, 6], &[8, 9]);
    let model = model.with_messages(Some(messages)).expect("a model");
    let graph = task_graph(&model, &schedule).expect("it is complete");
    let durations = |resource| -> Vec<i64> {
        graph.order(Resource(resource)).map(|task| graph.duration(crate::tasks::Task(task)).0).collect()
    };
    let all: Vec<Vec<i64>> = (0..6).map(durations).collect();
    let expected: [&[i64]; 6] = [&[0, 1, 2, 8], &[0, 1, 2, 9], &[3, 5], &[4, 6], &[7], &[7]];
    assert_eq!((all, graph.resources().count()), (expected.map(<[i64]>::to_vec).to_vec(), 6));
    assert_eq!(posting_tasks(&model), 1);
    // 0F 3..4, its message 4..11, 1F 11..12, 1B 12..14, its message 14..21, 0B 21..23.
    let found = timing(&model, &schedule);
    assert_eq!(found.starts, ticks(&[&[3, 21], &[11, 12]]));
    assert_eq!(found.metrics.makespan, Ticks(36));
    let again = PassDurations::of_model(&model);
    assert_eq!(makespans(&model, &schedule, &[again]), Ok(vec![Ticks(36)]));
}
