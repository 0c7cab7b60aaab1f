//! Workspaces, buffers of messages, and Is that leave more than F kept: replay against a count of what is alive, the plain
//! models below and above, and the smallest pools of buffers against every choice of fewer.

use std::collections::BTreeMap;

use bubbleproof::certificate::{Objective, holds, lower_bound, steady_bound};
use bubbleproof::model::{self, Device, Model, Pass, Placement, Units};
use bubbleproof::replay::{
    Buffer, Held, Verdict, Violation, buffer_pool, memory_along, receive_buffers, replay,
};
use bubbleproof::schedule::Schedule;

use crate::choices::Choices;
use crate::held::{held, posts};
use crate::{beyond, problems, random};

/// Runs every random problem with its schedule, with and without pairs.
fn for_each_problem(count: u64, mut each: impl FnMut(&Model, &Schedule)) {
    for seed in 0..count {
        let row = random(seed, 24 + seed % 160);
        let choices = &mut Choices::new(&row);
        let Some(plain) = problems::model(choices, 12) else { continue };
        let schedule = problems::schedule(&plain, choices);
        let row = random(seed + 1_000_000, 160);
        let more = &mut Choices::new(&row);
        let model = beyond::memory(&plain, more);
        each(&model, &schedule);
        each(&model, &problems::paired(&schedule, more));
    }
}

/// Whether a device that holds this many units at the most exceeds its capacity. Replay says both.
pub fn exceeds(model: &Model, verdict: &Verdict, device: Device, peak: i64) -> bool {
    assert_eq!(verdict.peak_memory[device.index()].0, peak);
    let is_over = model.capacity(device).is_some_and(|capacity| peak > capacity.0);
    let is_said = |violation: &Violation| matches!(violation, Violation::OverCapacity { at, .. } if at.device == device);
    assert_eq!(verdict.violations.iter().any(is_said), is_over);
    is_over
}

#[test]
fn replay_holds_what_is_alive() {
    let (mut seen, mut over) = (0, 0);
    for_each_problem(600, |model, schedule| {
        let (verdict, along) = (replay(model, schedule), memory_along(model, schedule));
        if verdict.timing.is_none() {
            return;
        }
        for device in Device::all(model.devices()) {
            let expected = held(model, schedule, device);
            let found: Vec<[i64; 2]> =
                along[device.index()].iter().map(|held| [held.during.0, held.after.0]).collect();
            assert_eq!(found, expected, "{} {:?}", model::print(model), schedule.order(device));
            let peak = expected.iter().map(|held| held[0]).max().unwrap_or(model.resident(device).0);
            over += usize::from(exceeds(model, &verdict, device, peak));
        }
        seen += 1;
    });
    assert!(seen > 500 && over > 50, "{seen} {over}");
}

#[test]
fn devices_hold_no_less_than_the_floor_and_no_more_than_the_ceiling() {
    let (mut seen, mut kept) = (0, 0);
    for_each_problem(600, |model, schedule| {
        let free = model.with_uniform_activation_capacity(None).expect("no capacity");
        let headroom = model.memory_headroom();
        let (floor, ceiling) = (free.with_kept_memory(), free.memory_ceiling().expect("no capacity"));
        assert!(floor.has_plain_memory() && ceiling.has_plain_memory());
        assert_eq!((floor.beyond_passes(), ceiling.beyond_passes()), (None, None));
        let [below, exact, above] = [&*floor, &free, &*ceiling].map(|model| memory_along(model, schedule));
        for device in Device::all(model.devices()).map(Device::index) {
            let peak = |held: &[Held]| held.iter().map(|held| held.during).max();
            let beside = model.least_beside(Device::at(device));
            assert!(peak(&below[device]).map(|peak| peak + beside) <= peak(&exact[device]));
            for ((below, exact), above) in below[device].iter().zip(&exact[device]).zip(&above[device]) {
                assert!(below.during <= exact.during && below.after <= exact.after);
                assert!(exact.during <= above.during + headroom[device]);
                assert!(exact.after <= above.after + headroom[device]);
                seen += 1;
            }
        }
        // So orders that keep to the capacities of the ceiling keep to those of the model, and these to those of the floor.
        let is_valid = |model: &Model| replay(model, schedule).is_valid();
        let ceiling = model.memory_ceiling().is_some_and(|ceiling| is_valid(&ceiling));
        assert!(!ceiling || is_valid(model));
        assert!(!is_valid(model) || is_valid(&model.memory_floor()));
        kept += usize::from(ceiling && model.memory().capacity.iter().any(Option::is_some));
    });
    assert!(seen > 5000 && kept > 20, "{seen} {kept}");
}

#[test]
fn buffers_are_posted_in_turns() {
    let mut seen = 0;
    for_each_problem(400, |model, schedule| {
        if replay(model, schedule).timing.is_none() {
            return;
        }
        let posts = posts(model, schedule);
        let found: BTreeMap<Pass, usize> = receive_buffers(model, schedule)
            .into_iter()
            .flatten()
            .map(|buffer| (buffer.pass, buffer.posted))
            .collect();
        assert_eq!(found, posts);
        seen += found.len();
    });
    assert!(seen > 1000, "{seen}");
}

/// A message that is never sent counts from the pass that needs it, which starts with its pair.
#[test]
fn buffers_of_stuck_orders_are_there_when_their_pairs_start() {
    let read =
        |order: &str| order.split(' ').map(|pass| pass.parse().expect("a pass")).collect::<Vec<Pass>>();
    let orders = vec![read("0F0 0B1 0F1 0B0"), read("1F0 1B0 1F1 1B1")];
    let placement = Placement::linear(2).expect("a placement");
    let model = Model::equal_stages(placement.clone(), 2, [1, 1, 1, 0]).expect("a model");
    let schedule = Schedule::new(placement, 2, orders).expect("a schedule");
    let posted = |schedule: &Schedule| {
        let buffers = receive_buffers(&model, schedule);
        buffers[1].iter().map(|buffer| (buffer.pass.to_string(), buffer.posted)).collect::<Vec<_>>()
    };
    let expected = |of_second: usize| [("1F0".to_owned(), 0), ("1F1".to_owned(), of_second)];
    assert_eq!(posted(&schedule), expected(2));
    let paired = schedule.with_overlaps(vec![Vec::new(), vec![1]]).expect("a pair");
    assert!(replay(&model, &paired).timing.is_none());
    assert_eq!(posted(&paired), expected(1));
}

/// Whether so many places are enough for these buffers: each choice of a place for each is tried.
fn fits(buffers: &[Buffer], places: usize, chosen: &mut Vec<usize>) -> bool {
    let Some(next) = buffers.get(chosen.len()) else { return true };
    (0..places).any(|place| {
        let is_taken = buffers
            .iter()
            .zip(&*chosen)
            .any(|(other, &of)| of == place && other.posted <= next.used && next.posted <= other.used);
        if is_taken {
            return false;
        }
        chosen.push(place);
        let fits = fits(buffers, places, chosen);
        chosen.pop();
        fits
    })
}

#[test]
fn no_smaller_pool_of_buffers_is_enough() {
    let mut seen = 0;
    for_each_problem(300, |model, schedule| {
        for buffers in receive_buffers(model, schedule) {
            let pool = buffer_pool(model, &buffers);
            let mut units = 0;
            assert_eq!(pool.len(), pool.counts.values().sum::<usize>());
            for (&size, &count) in &pool.counts {
                let (numbers, of_size): (Vec<usize>, Vec<Buffer>) = pool
                    .assigned
                    .iter()
                    .zip(&buffers)
                    .filter(|(_, buffer)| model.receive_after(buffer.boundary) == size)
                    .map(|(&number, &buffer)| (number, buffer))
                    .unzip();
                for (at, one) in of_size.iter().enumerate() {
                    for (other, number) in of_size[..at].iter().zip(&numbers) {
                        let overlap = one.posted <= other.used && other.posted <= one.used;
                        assert!(!overlap || *number != numbers[at], "{one:?} and {other:?} share a buffer");
                    }
                }
                assert!(numbers.iter().all(|&number| number < count));
                let alive = |at: usize| of_size.iter().filter(|of| of.posted <= at && at <= of.used).count();
                let most = of_size.iter().map(|buffer| alive(buffer.used)).max().unwrap_or(0);
                assert_eq!(count, most, "the most that are alive at once");
                if of_size.len() <= 8 {
                    assert!(fits(&of_size, count, &mut Vec::new()));
                    assert!(!fits(&of_size, count - 1, &mut Vec::new()));
                    seen += 1;
                }
                units += size.0 * i64::try_from(count).expect("few");
            }
            assert_eq!(pool.units().0, units);
            let takes = buffers.iter().any(|buffer| model.receive_after(buffer.boundary) > Units::ZERO);
            assert_eq!(pool.is_empty(), !takes);
        }
    });
    assert!(seen > 200, "{seen}");
}

/// Also where devices have no more room than a schedule needs.
#[test]
fn no_bound_is_above_a_schedule_of_the_whole_model() {
    let (mut seen, mut higher, mut above_the_floor) = (0, 0, 0);
    for_each_problem(1200, |model, schedule| {
        assert!(steady_bound(model, 1000) >= steady_bound(&model.memory_floor(), 1000));
        let verdict = replay(model, schedule);
        let (true, Some(timing)) = (verdict.is_valid(), &verdict.timing) else { return };
        let peaks = Device::all(model.devices()).zip(&verdict.peak_memory);
        let needed = peaks.map(|(device, &peak)| Some(peak - model.resident(device)));
        let tight = model.with_activation_capacity(needed.collect()).expect("a model");
        assert!(replay(&tight, schedule).is_valid());
        for objective in [Objective::Makespan, Objective::DeviceSpan] {
            for model in [model, &tight] {
                let bound = lower_bound(model, objective);
                assert!(bound.value <= objective.of(&timing.metrics), "{bound:?}");
                assert_eq!(holds(model, objective, &bound), Ok(()));
                let of_floor = lower_bound(&model.memory_floor(), objective);
                assert!(of_floor.value <= bound.value);
                above_the_floor += usize::from(of_floor.value < bound.value);
                // What passes need besides leaves less room.
                let of_kept = lower_bound(&model.with_kept_memory(), objective);
                assert!(of_kept.value <= bound.value);
                higher += usize::from(of_kept.value < bound.value);
            }
        }
        seen += 1;
    });
    assert!(seen > 100 && higher > 10 && above_the_floor > 10, "{seen} {higher} {above_the_floor}");
}

#[test]
fn every_amount_is_written_and_read() {
    for_each_problem(200, |model, _| {
        let text = model::print(model);
        assert_eq!(model::parse(&text).as_ref(), Ok(model), "{text}");
        for microbatches in [1, 7] {
            let more = model.with_microbatches(microbatches).expect("a model");
            assert_eq!(more.transient(), model.transient());
        }
        assert_eq!(model.without_weights().transient(), model.transient());
    });
}
