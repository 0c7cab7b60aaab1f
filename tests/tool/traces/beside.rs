//! What recordings of torch.profiler say of messages and of the end of the step.

use bubbleproof::analysis::Span;
use bubbleproof::model::{Device, Microbatch, Stage, Ticks};
use bubbleproof::trace::clocks::OffsetChoice;
use bubbleproof::trace::fit::profile;
use bubbleproof::trace::gather::gather;
use bubbleproof::trace::profiler::parse;
use bubbleproof::trace::recording::{Recording, TimeSource, Transfer};
use bubbleproof::trace::{Message, StepSpan, StepWork, Trace};

use crate::traces::kernels::{file, launch, range};

const NCCL: &str = "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage)";

/// A range, and the kernels that it launched: name, start and end in microseconds.
type Launched<'a> = (&'a str, &'a [(&'a str, i64, i64)]);

/// A rank of a pipeline of two stages with one microbatch, by the ranges of the host and what they launched.
fn recorded(rank: u32, actions: &[Launched<'_>]) -> Recording {
    let mut events = Vec::new();
    let mut correlation = 0;
    for (at, (name, kernels)) in (0..).zip(actions) {
        events.push(range(name, 10 * at, 10));
        for (within, &(kernel, start, end)) in (1..).zip(*kernels) {
            correlation += 1;
            let stream = if kernel == "mm" || kernel == "adam" { 7 } else { 20 + correlation };
            events.extend(launch(correlation, 9, 10 * at + within, kernel, stream, (start, end - start)));
        }
    }
    parse(&file(rank, &events)).expect("a recording")
}

fn first() -> Recording {
    recorded(
        0,
        &[
            ("PP:0F0", &[("mm", 100, 120)]),
            ("PP:0SEND_F0", &[(NCCL, 121, 150)]),
            ("PP:0RECV_B0", &[(NCCL, 125, 225)]),
            ("PP:0B0", &[("mm", 230, 270)]),
            ("PP:0REDUCE_GRAD", &[("ncclDevKernel_ReduceScatter_Sum_f32", 270, 300), ("mm", 271, 272)]),
            ("Optimizer.step#AdamW.step", &[("adam", 300, 312), ("adam", 313, 320), (NCCL, 320, 400)]),
        ],
    )
}

fn second() -> Recording {
    recorded(
        1,
        &[
            ("PP:1RECV_F0", &[(NCCL, 90, 155)]),
            ("PP:1F0", &[("mm", 160, 180)]),
            ("PP:1B0", &[("mm", 180, 210)]),
            ("PP:1SEND_B0", &[(NCCL, 211, 226)]),
            ("Optimizer.step#AdamW.step", &[("adam", 226, 236)]),
        ],
    )
}

fn gathered(recordings: Vec<Recording>) -> Trace {
    gather(recordings, None, &OffsetChoice::default()).expect("a trace").0
}

/// In microseconds from the first start of a pass, at 100.
fn messages(trace: &Trace) -> Vec<(String, u32, i64, i64)> {
    let list = trace.iterations[0].messages.iter().flatten();
    let of = |&Message { pass, to: Device(to), start, end }: &Message| {
        (pass.to_string(), to, start.0 / 1000, end.0 / 1000)
    };
    list.map(of).collect()
}

fn steps(trace: &Trace) -> Vec<(StepWork, u32, i64, i64)> {
    let list = trace.iterations[0].step.iter().flatten();
    let of = |&StepSpan { work, stage, start, end }: &StepSpan| (work, stage.0, start.0 / 1000, end.0 / 1000);
    list.map(of).collect()
}

/// The receive of `0F0` was ready at 90 and the send at 121, so that the message was under way from 121 to 155; that of `1B0`
/// from 211 to 225.
#[test]
fn a_message_is_under_way_from_when_both_ends_are_ready_until_it_is_received() {
    let trace = gathered(vec![first(), second()]);
    let expected = [("0F0", 1, 21, 55), ("1B0", 0, 111, 125)];
    assert_eq!(messages(&trace), expected.map(|(pass, to, start, end)| (pass.to_owned(), to, start, end)));
    let fitted = profile("kernels", &[trace]).expect("a model");
    // Copies of 34 and 14 us: the lower median is 14. `1F0` waited for 40, and `0B0` for 20.
    assert_eq!(fitted.latencies[0].delay, Ticks(20_000));
    assert_eq!(fitted.occupancies[0].occupancy, Ticks(14_000));
}

#[test]
fn a_message_of_which_one_end_is_missing_or_comes_twice_tells_nothing() {
    let without = recorded(1, &[("PP:1F0", &[("mm", 160, 180)]), ("PP:1B0", &[("mm", 180, 210)])]);
    let trace = gathered(vec![first(), without]);
    assert_eq!(trace.iterations[0].messages, None);
    let twice = recorded(
        1,
        &[
            ("PP:1RECV_F0", &[(NCCL, 90, 155)]),
            ("PP:1RECV_F0", &[(NCCL, 156, 157)]),
            ("PP:1F0", &[("mm", 160, 180)]),
            ("PP:1B0", &[("mm", 180, 210)]),
        ],
    );
    assert_eq!(gathered(vec![first(), twice]).iterations[0].messages, None);
}

/// The end of the receive comes before the send begins: the clocks disagree.
#[test]
fn a_message_that_ends_before_it_begins_is_left_out() {
    let early = recorded(
        1,
        &[
            ("PP:1RECV_F0", &[(NCCL, 90, 120)]),
            ("PP:1F0", &[("mm", 160, 180)]),
            ("PP:1B0", &[("mm", 180, 210)]),
            ("PP:1SEND_B0", &[(NCCL, 211, 226)]),
        ],
    );
    assert_eq!(messages(&gathered(vec![first(), early])), [("1B0".to_owned(), 0, 111, 125)]);
}

#[test]
fn a_reduction_is_what_nccl_did_and_an_optimiser_step_what_it_did_not() {
    let trace = gathered(vec![first(), second()]);
    assert_eq!(
        steps(&trace),
        [
            (StepWork::Optimizer, 1, 126, 136),
            (StepWork::Reduce, 0, 170, 200),
            (StepWork::Optimizer, 0, 200, 220)
        ]
    );
}

/// With two stages on a rank nothing says whose step it is; with two steps in an iteration, neither.
#[test]
fn an_optimiser_step_that_may_be_of_several_stages_is_of_none() {
    let ranges = [
        ("PP:0F0", 100, 110),
        ("PP:1F0", 110, 120),
        ("PP:1B0", 120, 130),
        ("PP:0B0", 130, 140),
        ("Optimizer.step#SGD.step", 140, 150),
    ];
    let kernels: Vec<_> = ranges.iter().map(|&(name, start, end)| (name, [("mm", start, end)])).collect();
    let actions: Vec<Launched<'_>> =
        kernels.iter().map(|(name, kernels)| (*name, kernels.as_slice())).collect();
    let trace = gathered(vec![recorded(0, &actions)]);
    assert_eq!(trace.iterations[0].step, None);
    let twice = recorded(
        1,
        &[
            ("PP:1F0", &[("mm", 160, 180)]),
            ("PP:1B0", &[("mm", 180, 210)]),
            ("Optimizer.step#SGD.step", &[("adam", 211, 220)]),
            ("Optimizer.step#SGD.step", &[("adam", 220, 230)]),
        ],
    );
    let found = steps(&gathered(vec![first(), twice]));
    assert!(found.iter().all(|&(_, stage, ..)| stage == 0), "{found:?}");
}

/// Without kernels the host says when it stepped, and not when messages were under way.
#[test]
fn the_host_times_its_optimiser_steps_alone() {
    let names =
        ["PP:0F0", "PP:0SEND_F0", "PP:0RECV_B0", "PP:0B0", "PP:0REDUCE_GRAD", "Optimizer.step#SGD.step"];
    let events: Vec<String> = (0..).zip(names).map(|(at, name)| range(name, 10 * at, 10)).collect();
    let recording = parse(&file(0, &events)).expect("a recording");
    assert_eq!(recording.timing, TimeSource::HostRanges);
    assert_eq!(recording.beside.transfers, []);
    let steps: Vec<_> =
        recording.beside.step.iter().map(|range| (range.work, range.stage, range.start, range.end)).collect();
    assert_eq!(steps, [(StepWork::Optimizer, None, Ticks(50_000), Ticks(60_000))]);
}

/// The names of ranges: the stage that made a message is that of the send, or the neighbour of the receive.
#[test]
fn ends_of_messages_are_named_by_the_stage_that_made_them() {
    let names = ["2SEND_F3", "2RECV_F3", "2SEND_B3", "2RECV_B3", "0RECV_F3", "2WAIT_SEND_F3", "2UNSHARD"];
    let mut actions = vec![("PP:2F3".to_owned(), ("mm", 100, 110))];
    actions.extend((0..).zip(names).map(|(at, name)| (format!("PP:{name}"), (NCCL, 110 + at, 120 + at))));
    let kernels: Vec<_> = actions.iter().map(|(name, kernel)| (name.as_str(), [*kernel])).collect();
    let list: Vec<Launched<'_>> = kernels.iter().map(|(name, kernels)| (*name, kernels.as_slice())).collect();
    let recording = recorded(0, &list);
    let found = recording.beside.transfers.iter().map(|transfer: &Transfer| {
        assert_eq!(transfer.microbatch, Microbatch(3));
        (transfer.stage, transfer.gradient, transfer.received, transfer.start.0 / 1000)
    });
    assert_eq!(
        found.collect::<Vec<_>>(),
        [
            (Stage(2), false, false, 110),
            (Stage(1), false, true, 111),
            (Stage(2), true, false, 112),
            (Stage(3), true, true, 113)
        ]
    );
    let spans: Vec<Span> = recording.spans().to_vec();
    assert_eq!(spans.len(), 1);
}
