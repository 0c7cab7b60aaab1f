//! Clocks that were moved, and found again.

use bubbleproof::analysis::Span;
use bubbleproof::model::Ticks;
use bubbleproof::trace::clocks::{ClockError, ClockMethod, Contradiction, OffsetChoice};
use bubbleproof::trace::gather::{GatherError, gather};
use bubbleproof::trace::profiler;
use bubbleproof::trace::recording::{Recording, TimeSource};
use bubbleproof::trace::{Origin, Trace};
use proptest::prelude::*;

use crate::traces::support::{pipeline, traced};

/// What each rank would have recorded on a clock that is ahead by so much.
fn recorded(trace: &Trace, ahead: &[i64], iterations: i64) -> Vec<Recording> {
    let length = trace.iterations[0].last_end().0 + 1;
    let rows = trace.iterations[0].passes.iter().zip(ahead).enumerate();
    rows.map(|(rank, (row, ahead))| {
        let spans = (0..iterations).flat_map(|step| {
            let moved = move |at: Ticks| at + Ticks(1_790_857_026_000_000_000 + ahead + step * length);
            row.iter().map(move |span| Span { start: moved(span.start), end: moved(span.end), ..*span })
        });
        Recording::new(u32::try_from(rank).ok(), TimeSource::Operators, spans.collect())
    })
    .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn clocks_that_agree_are_left_alone((model, schedule) in pipeline()) {
        let trace = traced(&model, &schedule);
        let ahead = vec![0; trace.iterations[0].passes.len()];
        let (again, clocks) = gather(recorded(&trace, &ahead, 2), None, &OffsetChoice::Auto).expect("a trace");
        prop_assert_eq!(clocks.method, ClockMethod::Agree);
        prop_assert_eq!(again.origin, Origin::Cpu);
        prop_assert_eq!(again.schedule.orders(), schedule.orders(), "the order is that of the first step");
        for iteration in &again.iterations {
            prop_assert_eq!(&iteration.passes, &trace.iterations[0].passes);
        }
    }

    #[test]
    fn clocks_that_are_ahead_are_found_within_what_messages_allow(
        (model, schedule) in pipeline(),
        ahead in prop::collection::vec(-1_000_000_000_000..1_000_000_000_000_i64, 4),
    ) {
        let trace = traced(&model, &schedule);
        let ahead: Vec<i64> = ahead.into_iter().take(trace.iterations[0].passes.len()).collect();
        let recordings = recorded(&trace, &ahead, 1);
        let (again, clocks) =
            gather(recordings.clone(), Some(schedule.clone()), &OffsetChoice::Estimate).expect("a trace");
        for (clock, ahead_by) in clocks.ranks.iter().zip(&ahead) {
            let (least, most) = clock.least.zip(clock.most).expect("messages go both ways");
            let truth = ahead[0] - ahead_by;
            prop_assert!((least..=most).contains(&truth), "{:?} is not {}", clock, truth);
            prop_assert!((least..=most).contains(&clock.offset));
            prop_assert!((clock.offset - truth).abs() <= most - least);
        }
        // No pass starts before its input is there any more.
        prop_assert_eq!(bubbleproof::trace::matching::early(&again), []);
        let given = ahead.iter().map(|ahead| -ahead).collect();
        let (exact, _) = gather(recordings, Some(schedule), &OffsetChoice::Given(given)).expect("a trace");
        prop_assert_eq!(&exact.iterations[0].passes, &trace.iterations[0].passes);
    }
}

#[test]
fn clocks_that_no_offset_explains_are_refused() {
    // 1F0 starts before 0F0 has ended by 10, and 0B0 before 1B0 by 5: one clock cannot be both ahead and behind.
    let spans = |list: &[(&str, i64, i64)]| {
        let span = |&(pass, start, end): &(&str, i64, i64)| Span {
            pass: pass.parse().expect("a pass"),
            start: Ticks(start),
            end: Ticks(end),
        };
        list.iter().map(span).collect::<Vec<_>>()
    };
    let recordings = vec![
        Recording::new(None, TimeSource::Operators, spans(&[("0F0", 0, 100), ("0B0", 195, 300)])),
        Recording::new(None, TimeSource::Operators, spans(&[("1F0", 90, 150), ("1B0", 150, 200)])),
    ];
    let refused = gather(recordings.clone(), None, &OffsetChoice::Auto).expect_err("a contradiction");
    let GatherError::Clocks(ClockError::Contradiction(found)) = refused else { panic!("{refused}") };
    assert_eq!(found.by, 15);
    // Given offsets are taken all the same, but no interval is claimed for them.
    let given = OffsetChoice::Given(vec![0, 10]);
    let (_, clocks) = gather(recordings.clone(), None, &given).expect("a trace");
    assert_eq!((clocks.method, clocks.contradiction), (ClockMethod::Given, Some(found)));
    for (clock, offset) in clocks.ranks.iter().zip([0, 10]) {
        assert_eq!((clock.offset, clock.least, clock.most), (offset, None, None));
    }
    let count = gather(recordings, None, &OffsetChoice::Given(vec![0])).expect_err("one offset too few");
    assert_eq!(count.to_string(), "there are 1 offsets, but 2 ranks");
}

#[test]
fn many_clocks_that_contradict_each_other_are_refused_with_what_two_of_them_are_off_by() {
    for ranks in [2, 8, 64] {
        // Between neighbours, forwards and backwards both arrive half a millisecond before they are sent.
        let recordings: Vec<Recording> = (0..ranks)
            .map(|rank| {
                let span = |pass: String, start: i64| Span {
                    pass: pass.parse().expect("a pass"),
                    start: Ticks(start),
                    end: Ticks(start + 1_000_000),
                };
                let spans = vec![
                    span(format!("{rank}F0"), rank * 500_000),
                    span(format!("{rank}B0"), 100_000_000 - rank * 500_000),
                ];
                Recording::new(None, TimeSource::Operators, spans)
            })
            .collect();
        let refused = gather(recordings.clone(), None, &OffsetChoice::Auto).expect_err("a contradiction");
        let GatherError::Clocks(ClockError::Contradiction(found)) = refused else { panic!("{refused}") };
        assert_eq!(found.by, 1_000_000, "{ranks} ranks");
        let given = OffsetChoice::Given(vec![0; recordings.len()]);
        let (_, clocks) = gather(recordings, None, &given).expect("a trace");
        assert_eq!(clocks.contradiction, Some(Contradiction { by: 1_000_000, ..found }));
        assert!(clocks.ranks.iter().all(|clock| clock.least.is_none() && clock.most.is_none()));
    }
}

#[test]
fn times_of_the_profiler_are_read_to_the_nanosecond() {
    let text = r#"{"baseTimeNanoseconds": 1790857026000000000, "distributedInfo": {"rank": 1}, "traceEvents": [
        {"ph": "X", "cat": "user_annotation", "name": "PP:1RECV_F0", "pid": 1, "tid": 1, "ts": 1.5, "dur": 1},
        {"ph": "X", "cat": "user_annotation", "name": "PP:1F0", "pid": 1, "tid": 1, "ts": 9007199254.993, "dur": 10.007},
        {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 2, "ts": 9007199255.001, "dur": 1},
        {"ph": "M", "name": "process_name", "pid": "Spans", "tid": "", "args": {}},
        {"ph": "X", "cat": "user_annotation", "name": "PP:1B0", "pid": 1, "tid": 1, "ts": 9007199300, "dur": 20},
        {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 9007199304.25, "dur": 1}
    ]}"#;
    let recording = profiler::parse(text).expect("a recording");
    assert_eq!((recording.rank, recording.timing), (Some(1), TimeSource::Operators));
    let base = 1_790_857_026_000_000_000 + 9_007_199_000_000;
    let times: Vec<(String, i64, i64)> = recording
        .spans()
        .iter()
        .map(|span| (span.pass.to_string(), span.start.0 - base, span.end.0 - base))
        .collect();
    // The operator of another thread is not the pass's, which has none; the second one's tells when its wait was over.
    assert_eq!(times, [("1F0".to_owned(), 265_000, 265_000), ("1B0".to_owned(), 304_250, 320_000)]);
}

#[test]
fn a_range_without_operators_is_at_its_end_and_without_any_in_the_file_it_is_whole() {
    let event = |cat: &str, name: &str, ts: i64, dur: i64| {
        format!(
            r#"{{"ph": "X", "cat": "{cat}", "name": "{name}", "pid": 1, "tid": 1, "ts": {ts}, "dur": {dur}}}"#
        )
    };
    let file = |events: &[String]| format!(r#"{{"traceEvents": [{}]}}"#, events.join(", "));
    let range = event("user_annotation", "PP:0I0", 10, 5);
    let whole = profiler::parse(&file(std::slice::from_ref(&range))).expect("a recording");
    let at_end = profiler::parse(&file(&[range, event("cpu_op", "aten::mm", 1, 2)])).expect("a recording");
    assert_eq!((whole.timing, whole.spans()[0].start), (TimeSource::HostRanges, Ticks(10_000)));
    assert_eq!((at_end.timing, at_end.spans()[0].start), (TimeSource::Operators, Ticks(15_000)));
}

#[test]
fn without_kernels_ranges_of_the_device_count_before_those_of_the_host_and_of_streams_the_busiest() {
    let text = r#"{"traceEvents": [
        {"ph": "X", "cat": "user_annotation", "name": "PP:0F0", "pid": 9, "tid": 9, "ts": 0, "dur": 1},
        {"ph": "X", "cat": "gpu_user_annotation", "name": "PP:0F0", "pid": 0, "tid": 20, "ts": 5, "dur": 1},
        {"ph": "X", "cat": "gpu_user_annotation", "name": "PP:0F0", "pid": 0, "tid": 7, "ts": 4, "dur": 8}
    ]}"#;
    let recording = profiler::parse(text).expect("a recording");
    assert_eq!(recording.timing, TimeSource::DeviceRanges);
    let only = recording.spans()[0];
    assert_eq!((recording.spans().len(), only.start, only.end), (1, Ticks(4_000), Ticks(12_000)));
}
