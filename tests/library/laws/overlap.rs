//! Laws of overlapped pairs: what replay makes of them is what their definition says.

use std::collections::BTreeMap;

use bubbleproof::model::{Device, Kind, Model, Pass, Ticks, Units};
use bubbleproof::replay::replay;
use bubbleproof::schedule::{self, Schedule};
use proptest::prelude::*;

use crate::laws::naive;
use crate::laws::random::{Choices, schedules};

/// A schedule with some of the forwards and backwards that stand next to each other overlapped.
pub fn overlapped(schedule: &Schedule, seed: u64) -> Schedule {
    let mut choices = Choices::new(seed);
    let pairs = |order: &Vec<Pass>| {
        let mut pairs: Vec<usize> = Vec::new();
        for (position, pair) in order.windows(2).enumerate() {
            let kinds = (pair[0].kind, pair[1].kind);
            let is_pair = matches!(kinds, (Kind::F, Kind::B | Kind::I) | (Kind::B | Kind::I, Kind::F));
            if is_pair && pairs.last().is_none_or(|&last| last + 2 <= position) && choices.once_in(3) {
                pairs.push(position);
            }
        }
        pairs
    };
    let overlaps = schedule.orders().iter().map(pairs).collect();
    schedule.clone().with_overlaps(overlaps).expect("pairs of a forward and a backward")
}

/// The start of every step with its end, by device; nothing when the orders get stuck.
fn run(model: &Model, schedule: &Schedule) -> Option<Vec<Vec<(i64, i64)>>> {
    run_late(model, schedule, |_| 0)
}

/// The same where each pass starts so much later than it could; of a pair, as much as both.
pub fn run_late(
    model: &Model,
    schedule: &Schedule,
    late: impl Fn(Pass) -> i64,
) -> Option<Vec<Vec<(i64, i64)>>> {
    let all: Vec<Pass> = schedule.orders().iter().flatten().copied().collect();
    let steps: Vec<Vec<&[Pass]>> =
        Device::all(schedule.devices()).map(|device| schedule.steps(device).collect()).collect();
    let mut ends: BTreeMap<Pass, i64> = BTreeMap::new();
    let mut times: Vec<Vec<(i64, i64)>> = vec![Vec::new(); steps.len()];
    let mut moved = true;
    while moved {
        moved = false;
        for (steps, times) in steps.iter().zip(&mut times) {
            let Some(step) = steps.get(times.len()) else { continue };
            let mut start = times.last().map_or(0, |&(_, end)| end);
            let mut ready = true;
            for &pass in *step {
                for need in naive::needs(pass, model, &all) {
                    match ends.get(&need) {
                        Some(end) => start = start.max(end + naive::latency(model, need, pass)),
                        None => ready = false,
                    }
                }
            }
            if !ready {
                continue;
            }
            start += step.iter().map(|&pass| late(pass)).sum::<i64>();
            let end = start + step.iter().map(|&pass| naive::duration(model, pass)).sum::<i64>();
            ends.extend(step.iter().map(|&pass| (pass, end)));
            times.push((start, end));
            moved = true;
        }
    }
    steps.iter().zip(&times).all(|(steps, times)| steps.len() == times.len()).then_some(times)
}

/// The most that a device holds: a pair acquires at once and releases at once.
fn peak(model: &Model, schedule: &Schedule, device: Device) -> i64 {
    let order = schedule.order(device);
    let (mut live, mut peak) = (0, 0);
    for step in schedule.steps(device) {
        let changes = step
            .iter()
            .map(|&pass| naive::acquired_and_released(model, pass, order.contains(&pass.with_kind(Kind::R))));
        let (acquired, released) = changes.fold((0, 0), |sum, change| (sum.0 + change.0, sum.1 + change.1));
        live += acquired;
        peak = peak.max(live);
        live -= released;
    }
    peak
}

proptest! {
    #![proptest_config(crate::cases(256))]

    #[test]
    fn replay_runs_overlapped_pairs_as_one_pass((model, schedule) in schedules(0), seed: u64) {
        let schedule = overlapped(&schedule, seed);
        let verdict = replay(&model, &schedule);
        let peaks = Device::all(schedule.devices()).map(|device| Units(peak(&model, &schedule, device)));
        prop_assert_eq!(&verdict.peak_memory, &peaks.collect::<Vec<_>>());
        let naive = run(&model, &schedule);
        prop_assert_eq!(verdict.is_valid(), naive.is_some(), "{:?}", verdict.violations);
        let (Some(timing), Some(times)) = (verdict.timing, naive) else { return Ok(()) };
        for (device, times) in Device::all(schedule.devices()).zip(times) {
            let mut starts = Vec::new();
            for (step, (start, end)) in schedule.steps(device).zip(times) {
                starts.push(Ticks(start));
                starts.extend(step.get(1).map(|&second| Ticks(end - naive::duration(&model, second))));
            }
            prop_assert_eq!(&timing.starts[device.index()], &starts);
        }
    }

    #[test]
    fn overlapped_pairs_survive_the_schedule_file((_, schedule) in schedules(0), seed: u64) {
        let schedule = overlapped(&schedule, seed);
        let mut text = Vec::new();
        schedule::write(&schedule, &mut text).expect("writing to memory");
        let text = String::from_utf8(text).expect("JSON is UTF-8");
        prop_assert_eq!(schedule::parse(&text).expect("it was written"), schedule);
    }
}
