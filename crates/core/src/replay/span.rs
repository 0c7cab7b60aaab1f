//! The device span: how long one iteration takes when the next one follows without a barrier.
//!
//! An *execution* gives every pass a start such that devices keep to their orders, one pass at a time, and every
//! pass waits for what it needs. A device may begin later than it could. The **device span** of a schedule is the
//! least T, in ticks, for which some execution lets every device end at most T after it begins.
//!
//! The execution as soon as possible is one of them, but not always the best: a device whose first pass comes long
//! before its second one does better to wait. So the device span is at most the largest span of that execution, and
//! unlike that one it does not depend on how microbatches are numbered: passes of a stage and kind that swap
//! their microbatches so as to run first in, first out keep their times.
//!
//! # How it is found
//!
//! Let `A(x, y)` be the longest chain of passes and latencies from the first pass of device x to the last one of
//! device y. Executions with spans of at most T are the solutions of a system of differences: whatever a pass waits
//! for, and `last end - T <= first start` on every device. It has a solution in integers exactly when no cycle
//! of devices has a mean chain above T, so
//!
//! ```text
//! device span  =  max over cycles x1, x2, ..., xk, x1 of  (A(x1, x2) + A(x2, x3) + ... + A(xk, x1)) / k,  rounded up
//! ```
//!
//! Each cycle is a lower bound, and a solution is an upper bound. T begins at the most that a device works, and no
//! device is held back. A device that ends more than T after it begins is made to begin later, and the device is noted
//! from whose first pass the chain comes that ends so late. When these notes close a cycle, its mean is above T and
//! becomes the next T (Bellman and Ford's way to find a cycle). When every device is content, the times are a solution.

use std::ops::Range;

use num_integer::Integer;

use super::execute::{Run, latency};
use super::layout::{Layout, Slot};
use super::{devices, end_of};
use crate::model::{Device, Model, Pass, Ticks};
use crate::schedule::{Place, Schedule};

/// The device span of a schedule that runs.
pub(super) fn device_span(model: &Model, schedule: &Schedule, layout: &Layout, run: &Run) -> Ticks {
    let spans = devices(schedule).filter_map(|(device, order)| {
        let starts = &run.starts[device.index()];
        Some((end_of(model, *order.last()?, *starts.last()?) - *starts.first()?, device))
    });
    // The first one of the longest: in many schedules it is the device from which all chains come.
    let longest = spans.reduce(|most, next| if next.0 > most.0 { next } else { most });
    longest.map_or(Ticks::ZERO, |(span, device)| {
        if comes_from_its_first_pass(model, schedule, layout, run, device) {
            span
        } else {
            least_span(model, schedule, layout, run)
        }
    })
}

/// The device span by the rule of this module.
fn least_span(model: &Model, schedule: &Schedule, layout: &Layout, run: &Run) -> Ticks {
    let works = devices(schedule).map(|(_, order)| order.iter().map(|&pass| wide(model, pass)).sum());
    let mut span: i128 = works.max().unwrap_or(0);
    'spans: loop {
        let nobody = vec![None; schedule.orders().len()];
        let mut held_back: Vec<Option<HeldBack>> = nobody;
        loop {
            let held = |device: &Option<HeldBack>| device.map_or(0, |held| held.begin);
            let begins: Vec<i128> = held_back.iter().map(held).collect();
            let mut is_content = true;
            for (device, path) in begin_at(model, schedule, layout, run, &begins).into_iter().enumerate() {
                let Some(DeviceTimes { first, last }) = path else { continue };
                if last.time - span <= first {
                    continue;
                }
                is_content = false;
                let chain = last.time - begins[last.origin];
                held_back[device] = Some(HeldBack { begin: last.time - span, by: last.origin, chain });
                if let Some(mean) = cycle_mean(&held_back, device) {
                    span = mean;
                    continue 'spans;
                }
            }
            if is_content {
                return Ticks(i64::try_from(span).expect("no more than the spans as soon as possible"));
            }
        }
    }
}

/// A device that is to begin later than it could.
#[derive(Debug, Clone, Copy)]
struct HeldBack {
    /// From when on it may run passes, in ticks.
    begin: i128,
    /// The device from whose first pass the chain comes that ends so late.
    by: usize,
    /// The length of that chain, in ticks.
    chain: i128,
}

/// The mean chain, rounded up, of the cycle that a device is part of; nothing when it is part of none.
fn cycle_mean(held_back: &[Option<HeldBack>], device: usize) -> Option<i128> {
    let (mut at, mut sum, mut chains) = (device, 0, 0);
    while chains < held_back.len() {
        let held = held_back[at]?;
        at = held.by;
        sum += held.chain;
        chains += 1;
        if at == device {
            return Some(Integer::div_ceil(&sum, &i128::try_from(chains).expect("devices are few")));
        }
    }
    None
}

/// A time in ticks, and the device whose begin it comes from. A sum over several devices' spans may exceed 64 bits.
#[derive(Debug, Clone, Copy, Default)]
struct Moment {
    time: i128,
    origin: usize,
}

/// When a device starts its first pass, and when it ends its last one.
#[derive(Debug, Clone, Copy)]
struct DeviceTimes {
    first: i128,
    last: Moment,
}

/// When the devices run, each pass as soon as possible, if they may begin from these instants on. Devices without
/// passes have no times.
fn begin_at(
    model: &Model,
    schedule: &Schedule,
    layout: &Layout,
    run: &Run,
    begins: &[i128],
) -> Vec<Option<DeviceTimes>> {
    let mut ends = vec![Moment::default(); layout.len()];
    let mut times: Vec<Option<DeviceTimes>> = vec![None; begins.len()];
    // Every pass comes behind those that it needs.
    for &slot in &run.sequence {
        let place = layout.place(slot);
        let device = place.device.index();
        let mut start =
            times[device].map_or(Moment { time: begins[device], origin: device }, |times| times.last);
        let step = step_at(schedule, place);
        for_each_arrival(model, schedule, layout, &step, |needed, latency| {
            let Moment { time, origin } = ends[needed.index()];
            let arrival = time + i128::from(latency.0);
            if arrival > start.time {
                start = Moment { time: arrival, origin };
            }
        });
        let order = &schedule.order(place.device)[step.positions.clone()];
        let end =
            Moment { time: start.time + order.iter().map(|&pass| wide(model, pass)).sum::<i128>(), ..start };
        ends[layout.slot(Place { position: step.positions.end - 1, ..place }).index()] = end;
        times[device] =
            Some(DeviceTimes { first: times[device].map_or(start.time, |times| times.first), last: end });
    }
    times
}

fn wide(model: &Model, pass: Pass) -> i128 {
    i128::from(model.duration(pass.stage, pass.kind).0)
}

/// Whether the last pass of a device starts when it does because of a chain that comes from the device's first
/// pass. Then no execution gives the device a shorter span.
///
/// One chain is followed, where several may be as long: `false` says nothing.
fn comes_from_its_first_pass(
    model: &Model,
    schedule: &Schedule,
    layout: &Layout,
    run: &Run,
    device: Device,
) -> bool {
    let last = run.starts[device.index()].len() - 1;
    let mut at = Place { device, position: last };
    while at != (Place { device, position: 0 }) {
        let Some(before) = waited_for(model, schedule, layout, run, at) else { return false };
        at = before;
    }
    true
}

/// A pass at whose end, or a latency later, a pass starts; none when it starts because time begins.
fn waited_for(model: &Model, schedule: &Schedule, layout: &Layout, run: &Run, at: Place) -> Option<Place> {
    let start_of = |place: Place| run.starts[place.device.index()][place.position];
    let end = |place: Place| end_of(model, schedule.order(place.device)[place.position], start_of(place));
    let start = start_of(at);
    if let Some(position) = at.position.checked_sub(1) {
        let before = Place { position, ..at };
        if end(before) == start {
            return Some(before);
        }
    }
    let mut found = None;
    for_each_arrival(model, schedule, layout, &step_at(schedule, at), |slot, latency| {
        let before = layout.place(slot);
        if before.device != at.device && end(before) + latency == start {
            found = Some(before);
        }
    });
    found
}

/// The pass at a place, or the overlapped pair that it belongs to.
fn step_at(schedule: &Schedule, Place { device, position }: Place) -> Step {
    let begins_pair = |first: usize| schedule.overlaps(device).binary_search(&first).is_ok();
    let first = position.checked_sub(1).filter(|&before| begins_pair(before)).unwrap_or(position);
    Step { device, positions: first..first + 1 + usize::from(begins_pair(first)) }
}

/// What a device runs as one: a pass, or an overlapped pair.
struct Step {
    device: Device,
    positions: Range<usize>,
}

/// Calls `each` with every pass that a step needs, the second one of its pair in its place, and the latency from its
/// end.
fn for_each_arrival(
    model: &Model,
    schedule: &Schedule,
    layout: &Layout,
    step: &Step,
    mut each: impl FnMut(Slot, Ticks),
) {
    for position in step.positions.clone() {
        let pass = schedule.order(step.device)[position];
        layout.for_each_need(pass, |need, slot| {
            let needed = step_at(schedule, layout.place(slot));
            let last = Place { device: needed.device, position: needed.positions.end - 1 };
            each(layout.slot(last), latency(model, need, pass));
        });
    }
}

#[cfg(test)]
mod tests;
