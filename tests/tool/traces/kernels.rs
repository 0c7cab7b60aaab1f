//! Passes that are timed by what the device did for them.

use std::fs;

use assert_cmd::Command;
use bubbleproof::model::Placement;
use bubbleproof::schedule::Schedule;
use bubbleproof::trace::Origin;
use bubbleproof::trace::clocks::OffsetChoice;
use bubbleproof::trace::gather::{GatherError, gather};
use bubbleproof::trace::profiler::{ProfilerError, parse};
use bubbleproof::trace::recording::{Recording, TimeSource};

/// An event: category, name, process, thread, start and duration in microseconds, and arguments.
fn event(cat: &str, name: &str, lane: (u32, u32), times: (i64, i64), args: &str) -> String {
    let ((pid, tid), (ts, dur)) = (lane, times);
    format!(
        r#"{{"ph": "X", "cat": "{cat}", "name": "{name}", "pid": {pid}, "tid": {tid}, "ts": {ts}, "dur": {dur}, "args": {{{args}}}}}"#
    )
}

/// A range of the host.
pub fn range(name: &str, ts: i64, dur: i64) -> String {
    event("user_annotation", name, (9, 9), (ts, dur), "")
}

/// A call on a thread at a time, and the kernel that it led to on a stream.
pub fn launch(
    correlation: u32,
    thread: u32,
    at: i64,
    name: &str,
    stream: u32,
    times: (i64, i64),
) -> [String; 2] {
    let args = format!(r#""External id": 3, "correlation": {correlation}"#);
    let category = if correlation.is_multiple_of(2) { "cuda_runtime" } else { "cuda_driver" };
    let on_stream = format!(r#""stream": {stream}, {args}"#);
    [
        event(category, "cudaLaunchKernel", (9, thread), (at, 1), &args),
        event("kernel", name, (0, stream), times, &on_stream),
    ]
}

pub fn file(rank: u32, events: &[String]) -> String {
    format!(r#"{{"distributedInfo": {{"rank": {rank}}}, "traceEvents": [{}]}}"#, events.join(",\n"))
}

fn spans(recording: &Recording) -> Vec<(String, i64, i64)> {
    let span = |span: &bubbleproof::analysis::Span| {
        (span.pass.to_string(), span.start.0 / 1_000, span.end.0 / 1_000)
    };
    recording.spans().iter().map(span).collect()
}

fn expected(list: &[(&str, i64, i64)]) -> Vec<(String, i64, i64)> {
    list.iter().map(|&(pass, start, end)| (pass.to_owned(), start, end)).collect()
}

#[test]
fn a_backward_is_all_that_autograd_s_threads_launched_for_it() {
    let mut events = vec![
        range("PP:0F0", 100, 10),
        range("PP:0B0", 110, 20),
        // The profiler's own ranges: the backward has only what its own thread launched.
        event("gpu_user_annotation", "PP:0F0", (0, 7), (200, 50), ""),
        event("gpu_user_annotation", "PP:0B0", (0, 7), (250, 10), ""),
        event("gpu_memset", "Memset (Device)", (0, 7), (380, 5), r#""correlation": 12"#),
        event("cuda_runtime", "cudaMemsetAsync", (9, 31), (127, 1), r#""correlation": 12"#),
        // The optimiser's, which is of no pass, and one whose launch was not recorded.
        event("kernel", "adam", (0, 7), (900, 5), r#""correlation": 77"#),
    ];
    // A call at the instant at which one range ends and the next begins is the next one's.
    for both in [
        launch(2, 9, 101, "mm", 7, (200, 30)),
        launch(4, 9, 109, "relu", 7, (240, 10)),
        launch(6, 9, 110, "loss", 7, (250, 10)),
        launch(9, 31, 115, "mm_backward", 7, (260, 60)),
        launch(8, 32, 120, "relu_backward", 7, (330, 40)),
        launch(20, 9, 140, "adam", 7, (600, 90)),
    ] {
        events.extend(both);
    }
    let recording = parse(&file(0, &events)).expect("a recording");
    assert_eq!((recording.timing, recording.rank), (TimeSource::Kernels, Some(0)));
    assert_eq!(spans(&recording), expected(&[("0F0", 200, 250), ("0B0", 250, 385)]));
}

#[test]
fn kernels_of_other_streams_and_those_that_wait_for_other_ranks_are_left_out() {
    let mut events = vec![range("PP:1F0", 0, 10), range("PP:1F1", 10, 10), range("PP:1RECV_F1", 20, 10)];
    for both in [
        launch(1, 9, 1, "mm", 7, (100, 20)),
        launch(2, 9, 2, "ncclDevKernel_AllGather_RING_LL", 20, (90, 5_000)),
        launch(3, 9, 3, "copy", 21, (80, 15)),
        launch(4, 9, 11, "mm", 7, (130, 20)),
        launch(5, 9, 12, "mm", 21, (160, 5)),
        // Within no pass, but within an action that computes nothing.
        launch(6, 9, 25, "mm", 22, (200, 9_000)),
    ] {
        events.extend(both);
    }
    let recording = parse(&file(1, &events)).expect("a recording");
    assert_eq!(spans(&recording), expected(&[("1F0", 100, 120), ("1F1", 130, 150)]));
}

#[test]
fn a_pass_without_kernels_is_at_the_end_of_the_one_before_it_in_the_order_of_the_host() {
    let mut events: Vec<String> =
        [("PP:0I9", 0), ("PP:0F0", 10), ("PP:0I0", 20), ("PP:0I1", 30), ("PP:0W0", 40)]
            .iter()
            .map(|&(name, ts)| range(name, ts, 10))
            .collect();
    events.extend(launch(1, 9, 11, "mm", 7, (100, 20)));
    events.extend(launch(2, 30, 41, "mm", 7, (130, 20)));
    let recording = parse(&file(0, &events)).expect("a recording");
    let passes =
        [("0I9", 100, 100), ("0F0", 100, 120), ("0I0", 120, 120), ("0I1", 120, 120), ("0W0", 130, 150)];
    assert_eq!(spans(&recording), expected(&passes));
}

#[test]
fn kernels_that_no_pass_launched_are_refused() {
    let kernel = event("kernel", "mm", (0, 7), (100, 20), r#""correlation": 1"#);
    let error = parse(&file(0, &[range("PP:0F0", 0, 10), kernel.clone()])).expect_err("no launch");
    assert_eq!(error, ProfilerError::NoLaunches);
    let annotation = event("gpu_user_annotation", "PP:0F0", (0, 7), (100, 20), "");
    assert_eq!(parse(&file(0, &[annotation, kernel])).expect_err("no range"), ProfilerError::NoPasses);
}

#[test]
fn a_range_that_ends_later_than_can_be_counted_is_refused_as_such() {
    let whole = file(0, &[range("PP:0F0", 9_223_372_036_854_775, 1)]);
    let error = parse(&whole).expect_err("an end too late");
    assert_eq!(error.to_string(), "`PP:0F0` ends later than can be counted: its `dur` is 1");
}

#[test]
fn times_of_devices_and_of_hosts_make_no_trace_together() {
    let mut on_device = vec![range("PP:0F0", 0, 10), range("PP:0B0", 20, 10)];
    on_device.extend(launch(1, 9, 1, "mm", 7, (2, 3)));
    on_device.extend(launch(2, 9, 21, "mm", 7, (22, 3)));
    let device = parse(&file(0, &on_device)).expect("a recording");
    let passes = [range("PP:1F0", 5, 5), range("PP:1B0", 10, 5)];
    let host = parse(&file(1, &passes)).expect("a recording");
    assert_eq!(host.timing, TimeSource::HostRanges);
    let refused = gather(vec![device.clone(), host], None, &OffsetChoice::Auto).expect_err("a mix");
    assert!(
        matches!(refused, GatherError::Timings { device, host } if device.0 == 0 && host.0 == 1),
        "{refused}"
    );
    let own = passes.map(|range| range.replace("\"cat\": \"user", "\"cat\": \"gpu_user"));
    let ranges = parse(&file(1, &own)).expect("a recording");
    assert_eq!(ranges.timing, TimeSource::DeviceRanges);
    let (trace, _) = gather(vec![device, ranges], None, &OffsetChoice::Auto).expect("a trace");
    assert_eq!(trace.origin, Origin::Cuda);
}

/// What `trace compare` says on standard error of these files, by rank.
fn notes(files: &[Vec<String>], options: &[&str]) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = Command::cargo_bin("bubbleproof").expect("the tool is built");
    command.args(["trace", "compare"]).args(options).current_dir(folder.path());
    for (rank, events) in (0..).zip(files) {
        let name = format!("rank{rank}.json");
        fs::write(folder.path().join(&name), file(rank, events)).expect("a file");
        command.arg(name);
    }
    let run = command.output().expect("the tool runs");
    assert!(run.status.code().is_some_and(|code| code < 2), "{}", String::from_utf8_lossy(&run.stderr));
    String::from_utf8(run.stderr).expect("a text")
}

#[test]
fn notes_say_what_passes_were_timed_by() {
    let first = [range("PP:0F0", 0, 10), range("PP:0B0", 50, 10)];
    let second = [range("PP:1F0", 20, 10), range("PP:1B0", 30, 10)];
    let operators = [21, 31].map(|at| event("cpu_op", "aten::mm", (9, 9), (at, 1), ""));
    let whole = "are timed by the host as whole ranges, waits included";
    let from_operators = "are timed by the host, from their first operator to the end of their range";

    let said = notes(&[first.to_vec(), second.to_vec()], &[]);
    assert!(said.contains(&format!("note: passes {whole}")), "{said}");
    assert!(!said.contains("first operator"), "{said}");

    let with_operators = [&second[..], &operators[..]].concat();
    let said = notes(&[first.to_vec(), with_operators], &[]);
    assert!(said.contains(&format!("note: passes of rank 0 {whole}")), "{said}");
    assert!(said.contains(&format!("note: passes of rank 1 {from_operators}")), "{said}");

    let of_device = |events: &[String]| -> Vec<String> {
        events.iter().map(|event| event.replace("\"cat\": \"user", "\"cat\": \"gpu_user")).collect()
    };
    let said = notes(&[of_device(&first), of_device(&second)], &[]);
    assert!(said.contains("backwards may be too short"), "{said}");
    assert!(!said.contains("host"), "{said}");
}

#[test]
fn a_note_says_that_no_offsets_are_possible_where_they_are_given() {
    let first = vec![range("PP:0F0", 0, 10), range("PP:0B0", 19, 10)];
    let second = vec![range("PP:1F0", 5, 3), range("PP:1B0", 30, 10)];
    let said = notes(&[first, second], &["--offsets", "0,0"]);
    assert!(said.contains("although no clock offsets make every message arrive after it is sent"), "{said}");
}

/// A rank that is missing may hold stages: one rank of two is no pipeline of one device.
#[test]
fn ranks_that_are_not_there_are_named() {
    let of_world = |rank: u32, world: u32| {
        let passes = [range(&format!("PP:{rank}F0"), 0, 10), range(&format!("PP:{rank}B0"), 50, 10)];
        let text = file(rank, &passes);
        let text =
            text.replace("}, \"traceEvents\"", &format!(", \"world_size\": {world}}}, \"traceEvents\""));
        parse(&text).expect("a recording")
    };
    for (ranks, world, says) in [
        (&[0][..], 2, "the run had 2 ranks, as the file of rank 0 says, but the file of rank 1 is missing"),
        (&[1], 2, "the run had 2 ranks, as the file of rank 1 says, but the file of rank 0 is missing"),
        (
            &[0, 2],
            5,
            "the run had 5 ranks, as the file of rank 2 says, but the files of ranks 1, 3, 4 are missing",
        ),
        (
            &[0],
            u32::MAX,
            "the run had 4294967295 ranks, as the file of rank 0 says, but the files of ranks 1, 2, 3, 4, 5, 6, 7, 8 and \
             4294967286 more are missing",
        ),
    ] {
        let recordings: Vec<Recording> = ranks.iter().map(|&rank| of_world(rank, world)).collect();
        let error = gather(recordings, None, &OffsetChoice::Auto).expect_err("ranks are missing");
        assert_eq!(error.to_string(), says);
    }
    let there = |recordings| gather(recordings, None, &OffsetChoice::Auto).map(drop);
    assert!(there(vec![of_world(0, 1)]).is_ok(), "one rank is a whole run of one");
    // With a schedule it is known that the other ranks hold no stages.
    let alone = Schedule::new(
        Placement::linear(1).expect("a placement"),
        1,
        vec![vec!["0F0".parse().expect("a pass"), "0B0".parse().expect("a pass")]],
    );
    let replicated = gather(vec![of_world(0, 2)], Some(alone.expect("a schedule")), &OffsetChoice::Auto);
    assert!(replicated.is_ok(), "{replicated:?}");

    // As a user meets it.
    let run = Command::cargo_bin("bubbleproof")
        .expect("the tool is built")
        .args(["trace", "profile", "tests/data/traces/profiler/1f1b-rank0.json"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output();
    let run = run.expect("the tool runs");
    let said = String::from_utf8(run.stderr).expect("a text");
    assert_eq!(run.status.code(), Some(2), "{said}");
    assert!(said.contains("the file of rank 1 is missing") && said.contains("--schedule"), "{said}");
}
