//! Whether the peer is the one that was proposed: by hand, against PyTorch's files, against the cuts that its own tests
//! expect, and against brute force.

use std::collections::HashSet;
use std::fs;

use bubbleproof::model::{self, Costs, Memory, Microbatch, Model, Pass, Placement, Stage, Ticks, Units};
use bubbleproof::replay::replay;
use bubbleproof::schedule::Schedule;
use proptest::prelude::*;

use super::balance::balanced;
use super::line::{Action, Kind, Line};
use super::lowering::with_messages;
use super::orders::{Row, orders};
use super::{Found, Layers, Peer, PeerSchedule, cut};

const PLAIN: PeerSchedule = PeerSchedule::OneForwardOneBackward;

fn doubled(forward: &[i64]) -> Vec<i64> {
    forward.iter().map(|f| 2 * f).collect()
}

fn search(
    forward: &[i64],
    communication: &[i64],
    devices: usize,
    microbatches: usize,
    schedule: PeerSchedule,
) -> Found {
    let backward = doubled(forward);
    let layers = Layers { forward, backward: &backward, backward_input: None, communication };
    Peer::new(layers, devices, microbatches, schedule).search()
}

/// All ways to cut layers into non-empty stages.
fn cuts(layers: usize, stages: usize) -> Vec<Vec<usize>> {
    if stages == 1 {
        return vec![vec![layers]];
    }
    (1..=layers + 1 - stages)
        .flat_map(|first| {
            cuts(layers - first, stages - 1).into_iter().map(move |rest| [vec![first], rest].concat())
        })
        .collect()
}

/// Two devices, two microbatches, three layers of 6, 3 and 6 ticks, a third of each forward.
///
/// Both cuts have a stage of 9, so the first step takes 1 + 2. Stage 0 then needs 2 and 4, stage 1 needs 3 and 6:
///
/// ```text
/// device 0   F0 0-2   F1 2-4                       B0 11-15            B1 20-24
/// device 1            F0 2-5   B0 5-11   F1 11-14  B1 14-20
/// ```
///
/// Stage 1 has all but the first and the last pass of the critical path, and its first layer moves. With 2 + 1, stage 0 needs
/// 3 and 6, stage 1 needs 2 and 4:
///
/// ```text
/// device 0   F0 0-3   F1 3-6            B0 9-15    B1 15-21
/// device 1            F0 3-5   B0 5-9   F1 9-11   B1 11-15
/// ```
#[test]
fn two_devices_by_hand() {
    let found = search(&[2, 1, 2], &[0, 0], 2, 2, PLAIN);
    let expected = Found { start: vec![1, 2], start_time: 24, cut: vec![2, 1], time: 21, simulated: 2 };
    assert_eq!(found, expected);
    assert_eq!(cut(&[2, 1, 2], &[4, 2, 4], 0, 2, 2, PLAIN), [2, 1]);
}

/// The same with messages of 1 tick. F0 of device 1 starts at 3, so its B1 ends at 21; the gradient arrives at 22. The other
/// cut: F0 4-6, B0 6-10, F1 10-12, B1 12-16 on device 1; B0 11-17, B1 17-23 on device 0.
#[test]
fn two_devices_with_messages_by_hand() {
    let found = search(&[2, 1, 2], &[1, 1], 2, 2, PLAIN);
    let expected = Found { start: vec![1, 2], start_time: 26, cut: vec![2, 1], time: 23, simulated: 2 };
    assert_eq!(found, expected);
}

/// One device runs everything, split or not: two microbatches of 15 ticks.
#[test]
fn one_device_has_nothing_to_wait_for() {
    for (schedule, stages) in [
        (PLAIN, 1),
        (PeerSchedule::Interleaved { chunks: 3 }, 3),
        (PeerSchedule::InterleavedZeroBubble { chunks: 2 }, 2),
    ] {
        let found = search(&[2, 1, 2], &[9, 9], 1, 2, schedule);
        assert_eq!((found.time, found.cut.len()), (30, stages), "{schedule:?}");
    }
}

/// What `test_partition.py` of the pull request expects of its search: the forward of each layer (the backward takes twice as
/// long), the bytes after each, and sizes of stages before and after, on 4 devices with 8 microbatches. Its machine does
/// 312 TFLOP/s and 50 GB/s; a tick is the time of one FLOP, so a byte takes 6240.
/// A schedule, layers, messages, the cut to begin with, and the cut that is found.
type Case<'a> = (PeerSchedule, &'a [i64], Vec<i64>, &'a [usize], &'a [usize]);

#[test]
fn cuts_are_those_that_the_tests_of_the_pull_request_expect() {
    const BYTE: i64 = 6240;
    let two = PeerSchedule::default_chunks(12, 4);
    let every = |bytes: i64, layers: usize| vec![bytes * BYTE; layers - 1];
    let bytes = [
        43_405_107,
        180_456_491,
        60_605_618,
        172_762_728,
        164_606_193,
        42_130_509,
        115_014_477,
        34_570_395,
        109_358_683,
        41_150_899,
        19_768_913,
    ];
    let cases: [Case<'_>; 4] = [
        (PLAIN, &[8, 11, 2, 1, 18, 5, 4, 11], vec![0; 7], &[1, 3, 1, 3], &[3, 2, 1, 2]),
        (
            PLAIN,
            &[1170, 2846, 1146, 4254, 2199, 1289, 6888, 2312],
            every(128, 8),
            &[3, 3, 1, 1],
            &[4, 2, 1, 1],
        ),
        (
            PeerSchedule::Interleaved { chunks: two },
            &[
                3_424_614_582_864,
                6_186_943_846_406,
                6_099_927_589_441,
                4_961_141_868_353,
                6_808_911_722_949,
                1_723_089_387_674,
                6_387_281_953_781,
                5_278_282_850_207,
                6_543_029_278_476,
                3_135_416_417_038,
                2_027_661_282_943,
                2_940_059_633_160,
            ],
            bytes.map(|bytes| bytes * BYTE).to_vec(),
            &[2, 1, 1, 1, 2, 1, 1, 3],
            &[2, 1, 1, 1, 2, 1, 2, 2],
        ),
        (
            PeerSchedule::InterleavedZeroBubble { chunks: two },
            &[3084, 4757, 4139, 1960, 6283, 2830, 3507, 6252, 6451, 2029, 5175, 5108],
            every(128, 12),
            &[2, 2, 1, 2, 1, 1, 2, 1],
            &[2, 2, 1, 2, 1, 1, 1, 2],
        ),
    ];
    for (schedule, forward, communication, start, best) in cases {
        let found = search(forward, &communication, 4, 8, schedule);
        assert_eq!(found.start, start, "{schedule:?}");
        assert_eq!(found.cut, best, "{schedule:?}");
        assert!(found.time < found.start_time, "{schedule:?}");
    }
    assert_eq!(balanced(&[1, 2, 3, 4, 5, 6, 7, 8], 4), [4, 2, 1, 1]);
}

/// A file in `tests/data/pytorch`, by rows and cells.
fn pytorch(name: &str) -> Vec<Vec<String>> {
    let path = format!("{}/tests/data/pytorch/{name}", env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(&path).expect(&path);
    text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

/// Blanks included; and messages where they are put in without blanks, as PyTorch does when it runs a schedule.
#[test]
fn orders_and_messages_are_those_of_pytorch() {
    for (name, schedule, devices, microbatches) in [
        ("interleaved1f1b-2x4-4", PeerSchedule::Interleaved { chunks: 4 }, 2, 4),
        ("interleaved1f1b-4x2-8", PeerSchedule::Interleaved { chunks: 2 }, 4, 8),
        ("interleavedzerobubble-4x1-6", PeerSchedule::InterleavedZeroBubble { chunks: 1 }, 4, 6),
        ("interleavedzerobubble-4x2-8", PeerSchedule::InterleavedZeroBubble { chunks: 2 }, 4, 8),
    ] {
        let rows = orders(schedule, devices, microbatches);
        let cells = |row: &Row| -> Vec<String> {
            row.iter().map(|slot| slot.map_or_else(String::new, |pass| pass.to_string())).collect()
        };
        assert_eq!(rows.iter().map(cells).collect::<Vec<_>>(), pytorch(&format!("{name}.csv")), "{name}");

        let gradient = if schedule.splits() { Kind::I } else { Kind::B };
        let line = Line { devices, stages: devices * schedule.chunks(), gradient };
        let ours = with_messages(&packed(&rows), line);
        for (device, theirs) in pytorch(&format!("{name}.comms.csv")).into_iter().enumerate() {
            let ours: HashSet<String> = ours[device].iter().map(Action::to_string).collect();
            let theirs: HashSet<String> = theirs
                .into_iter()
                .filter(|cell| !cell.contains("WAIT") && !cell.contains("SHARD") && !cell.contains("GRAD"))
                .collect();
            assert_eq!(ours, theirs, "{name}, device {device}");
        }
    }
}

fn packed(rows: &[Row]) -> Vec<Row> {
    rows.iter().map(|row| row.iter().filter(|slot| slot.is_some()).copied().collect()).collect()
}

/// The last gradient of device 0 comes first in its row of messages and holds up what comes after it, whatever the passes need:
/// with the same orders, only passes and latencies make the iteration shorter.
fn replayed(schedule: PeerSchedule, devices: usize, microbatches: usize, job: &Job, sizes: &[usize]) -> i64 {
    let mut begin = 0;
    let mut costs = Costs {
        unit: "tick".to_owned(),
        forward: Vec::new(),
        backward_input: Vec::new(),
        backward_weight: Vec::new(),
        communication: Vec::new(),
    };
    for &size in sizes {
        let end = begin + size;
        let backward: i64 = job.backward[begin..end].iter().sum();
        costs.forward.push(Ticks(job.forward[begin..end].iter().sum()));
        costs.backward_input.push(Ticks(backward / 2));
        costs.backward_weight.push(Ticks(backward - backward / 2));
        costs.communication.extend(job.communication.get(end - 1).map(|&message| Ticks(message)));
        begin = end;
    }
    let stages = sizes.len();
    let memory = Memory {
        unit: "stage-activation".to_owned(),
        activation: vec![Units(1); stages],
        retained_for_weight: vec![Units(1); stages],
        checkpoint: None,
        weights: vec![Units(0); stages],
        capacity: vec![None; devices],
    };
    let placement = Placement::looped(small(devices), small(schedule.chunks())).expect("a placement");
    let pass = |action: Action| {
        let kind = match action.kind {
            Kind::F => model::Kind::F,
            Kind::B => model::Kind::B,
            Kind::I => model::Kind::I,
            Kind::W => model::Kind::W,
            _ => unreachable!("orders have no messages"),
        };
        Pass::new(Stage(small(action.stage)), kind, Microbatch(small(action.microbatch)))
    };
    let rows = orders(schedule, devices, microbatches);
    let passes = rows.iter().map(|row| row.iter().copied().flatten().map(pass).collect()).collect();
    let model = Model::new("peer".to_owned(), None, placement.clone(), small(microbatches), costs, memory);
    let schedule = Schedule::new(placement, small(microbatches), passes).expect("a schedule");
    let verdict = replay(&model.expect("a model"), &schedule);
    assert!(verdict.is_valid(), "{:?}", verdict.violations);
    verdict.timing.expect("it runs").metrics.makespan.0
}

fn small(value: usize) -> u32 {
    u32::try_from(value).expect("small")
}

#[derive(Debug, Clone)]
struct Job {
    forward: Vec<i64>,
    backward: Vec<i64>,
    communication: Vec<i64>,
}

impl Job {
    fn layers(&self) -> Layers<'_> {
        Layers {
            forward: &self.forward,
            backward: &self.backward,
            backward_input: None,
            communication: &self.communication,
        }
    }
}

fn job(layers: usize, longest_message: i64) -> impl Strategy<Value = Job> {
    let times = |least, most, count| prop::collection::vec(least..=most, count);
    (times(1_i64, 9, layers), times(1, 19, layers), times(0, longest_message, layers - 1))
        .prop_map(|(forward, backward, communication)| Job { forward, backward, communication })
}

fn schedules() -> impl Strategy<Value = (PeerSchedule, usize, usize)> {
    let plain = (1_usize..=4, 0_usize..=4).prop_map(|(devices, more)| (PLAIN, devices, devices + more));
    let looped = (1_usize..=2, 1_usize..=3, 1_usize..=3, any::<bool>()).prop_map(
        |(chunks, devices, rounds, split)| {
            let schedule = if split {
                PeerSchedule::InterleavedZeroBubble { chunks }
            } else {
                PeerSchedule::Interleaved { chunks }
            };
            (schedule, devices, devices * rounds)
        },
    );
    prop_oneof![plain, looped]
}

proptest! {
    #[test]
    fn the_slowest_stage_of_the_first_cut_is_as_fast_as_any(
        work in prop::collection::vec(0_i64..20, 1..9),
        parts in 1_usize..9,
    ) {
        let parts = parts.min(work.len());
        let slowest = |sizes: &[usize]| {
            let mut rest = work.as_slice();
            sizes.iter().map(|&size| {
                let (part, after) = rest.split_at(size);
                rest = after;
                part.iter().sum::<i64>()
            }).max()
        };
        let sizes = balanced(&work, parts);
        prop_assert_eq!(sizes.len(), parts);
        prop_assert!(sizes.iter().all(|&size| size > 0));
        prop_assert_eq!(sizes.iter().sum::<usize>(), work.len());
        let best = cuts(work.len(), parts).iter().map(|sizes| slowest(sizes)).min().expect("there is a cut");
        prop_assert_eq!(slowest(&sizes), best);
    }

    /// What the search returns is between its start and the best of all cuts, by the time it wants to be small.
    #[test]
    fn the_search_is_no_worse_than_its_start_and_no_better_than_all_cuts(
        (schedule, devices, microbatches) in schedules(),
        job in job(8, 5),
    ) {
        let peer = Peer::new(job.layers(), devices, microbatches, schedule);
        let found = peer.search();
        let all = cuts(job.forward.len(), devices * schedule.chunks());
        let best = all.iter().map(|sizes| peer.simulate(sizes).0).min().expect("there is a cut");
        prop_assert!(best <= found.time && found.time <= found.start_time);
        prop_assert_eq!(peer.simulate(&found.cut).0, found.time);
        prop_assert!(all.contains(&found.cut) && found.simulated <= all.len());
    }

    /// Its clock never runs ahead of ours: it has every pass and every latency that we have, and messages in a row besides.
    #[test]
    fn the_clock_is_never_ahead_of_replay(
        (schedule, devices, microbatches) in schedules(),
        job in job(8, 5),
    ) {
        let sizes = balanced(&job.forward, devices * schedule.chunks());
        let (time, critical) = Peer::new(job.layers(), devices, microbatches, schedule).simulate(&sizes);
        prop_assert!(time >= replayed(schedule, devices, microbatches, &job, &sizes));
        prop_assert!(critical < sizes.len());
    }
}
