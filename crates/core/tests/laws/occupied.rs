//! What devices hold at every moment, added up from when passes, copies and gathers run, is never more than the peak that replay
//! finds in the orders alone.

use bubbleproof::model::{Device, Kind, Model, Pass, Ticks};
use bubbleproof::replay::{Timing, Verdict, replay};
use bubbleproof::schedule::Schedule;

use crate::choices::Choices;
use crate::offload::{offload, offloaded, step_of};
use crate::{beyond, problems, random};

/// A change of what a device holds: when, and by how much. In one moment, what is free comes before what takes its place.
type Change = (Ticks, i64);

/// The most that a device holds at any moment beside what it always holds. Nothing is recomputed.
fn most(model: &Model, schedule: &Schedule, timing: &Timing, device: Device) -> i64 {
    let order = schedule.order(device);
    let starts = &timing.starts[device.index()];
    // The first pass of a step starts with it, and the last one ends with it.
    let start = |at: usize| starts[step_of(schedule, device, at)[0]];
    let end = |at: usize| {
        let last = step_of(schedule, device, at)[1];
        starts[last] + schedule.duration(model, order[last])
    };
    let memory = model.memory();
    let mut changes: Vec<Change> = Vec::new();
    for (at, pass) in order.iter().enumerate() {
        let stage = pass.stage.index();
        let (whole, rest) = (memory.activation[stage].0, memory.retained_for_weight[stage].0);
        match pass.kind {
            Kind::F => changes.push((start(at), whole)),
            Kind::I => changes.push((end(at), rest - whole)),
            Kind::W => changes.push((end(at), -rest)),
            Kind::B => changes.push((end(at), -whole)),
            Kind::R => unreachable!("nothing is recomputed"),
        }
    }
    let moved = |pass: &Pass| model.moved(pass.stage).0;
    if let Some(copies) = timing.copies.get(device.index()) {
        changes.extend(copies.to_host.iter().map(|(pass, during)| (during.end, -moved(pass))));
        changes.extend(copies.from_host.iter().map(|(pass, during)| (during.start, moved(pass))));
    }
    for gather in &timing.gathers[device.index()] {
        let weights = model.gathered(gather.gathering.stage).0;
        changes.push((gather.during.start, weights));
        if gather.gathering.until < order.len() {
            changes.push((end(gather.gathering.until - 1), -weights));
        }
    }
    changes.sort_unstable();
    let held = changes.iter().scan(0, |held, (_, change)| {
        *held += change;
        Some(*held)
    });
    held.max().unwrap_or(0)
}

#[test]
fn no_more_is_held_at_any_moment_than_orders_say() {
    let (mut tight, mut together) = (0, 0);
    for seed in 0..2000 {
        let row = random(seed + 9_000_000, 24 + seed % 160);
        let choices = &mut Choices::new(&row);
        let Some(plain) = problems::model(choices, 16) else { continue };
        let schedule = problems::schedule(&plain, choices);
        if schedule.orders().iter().flatten().any(|pass| pass.kind == Kind::R) {
            continue;
        }
        let row = random(seed + 10_000_000, 200);
        let more = &mut Choices::new(&row);
        let mut sharding = beyond::sharding(&plain, more);
        // One that takes no time is no task, so replay does not say when it is.
        sharding.gather.iter_mut().for_each(|ticks| *ticks += Ticks(1));
        let model = plain.with_offload(Some(offload(&plain, more))).expect("offloading");
        let model = model.with_sharding(Some(sharding)).expect("sharding");
        let schedule = if seed % 3 == 0 { problems::paired(&schedule, more) } else { schedule };
        let schedule = offloaded(&schedule, more);
        let Verdict { timing: Some(timing), peak_memory, .. } = replay(&model, &schedule) else { continue };
        for device in Device::all(model.devices()) {
            let peak = peak_memory[device.index()] - model.resident(device);
            let most = most(&model, &schedule, &timing, device);
            assert!(most <= peak.0, "{device}: {most} of {peak}: {model:?}, {schedule:?}, {timing:?}");
            tight += usize::from(most == peak.0);
            together += usize::from(!schedule.offloads(device).is_empty());
        }
    }
    assert!(tight > 200 && together > 200, "{tight} {together}");
}
