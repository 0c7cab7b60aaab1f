//! Schedules in two directions: every device holds a stage of either pipeline, and so two copies of the
//! weights.

use std::collections::VecDeque;

use super::{CatalogError, schedule};
use crate::model::{Device, Kind, Microbatch, Model, Pass, Stage};
use crate::schedule::Schedule;

/// The microbatch that is the `count`-th of its direction, if there is one.
fn microbatch(model: &Model, direction: u32, count: u32) -> Option<Microbatch> {
    let number = 2 * u64::from(count) + u64::from(direction);
    u32::try_from(number).ok().filter(|&number| number < model.microbatches()).map(Microbatch)
}

/// Chimera (Li and Hoefler, arXiv 2107.06925): units of d microbatches, half of them in either direction,
/// each half by 1F1B. If forward and backward took one slot each, no two passes of a device would meet, nor
/// would those of one unit and the next, which starts 2d slots later: in slots, F of stage s of the k-th
/// microbatch of a half stands at s + 2k, its backward at 2d-1-s + 2k.
///
/// Memory: d/2+1 activations on the outer devices, d on the inner ones at most. Bubble: (d-2)/2 forwards and
/// backwards if those take equally long.
pub(super) fn chimera(model: &Model) -> Result<Schedule, CatalogError> {
    let devices = even("chimera", model)?;
    let per_unit = devices / 2;
    let orders = Device::all(devices).map(|device| {
        let mut slots: Vec<(u64, Pass)> = Vec::new();
        for (direction, &stage) in (0..).zip(model.placement().stages_of(device)) {
            let depth = u64::from(stage.0 % devices);
            let every = (0..model.microbatches())
                .map_while(|count| Some((count, microbatch(model, direction, count)?)));
            for (count, microbatch) in every {
                let (unit, within) = (u64::from(count / per_unit), u64::from(count % per_unit));
                let start = 2 * u64::from(devices) * unit + 2 * within;
                slots.push((start + depth, Pass::new(stage, Kind::F, microbatch)));
                slots.push((
                    start + 2 * u64::from(devices) - 1 - depth,
                    Pass::new(stage, Kind::B, microbatch),
                ));
            }
        }
        slots.sort_unstable_by_key(|&(slot, _)| slot);
        slots.into_iter().map(|(_, pass)| pass).collect()
    });
    Ok(schedule(model, orders.collect()))
}

/// GEMS (Jain et al., SC 2020, as described in arXiv 2107.06925, section 2): one microbatch at a time, in turn down and
/// up, so that the forward of one follows the backward of the other.
///
/// Memory: one activation. Bubble: `m(d-1)B` of `m(d*B+F)`.
pub(super) fn gems(model: &Model) -> Schedule {
    let orders = Device::all(model.devices()).map(|device| {
        let stages = model.placement().stages_of(device);
        Microbatch::all(model.microbatches())
            .flat_map(|microbatch| {
                let stage = stages[(microbatch.0 % 2) as usize];
                [Kind::F, Kind::B].map(|kind| Pass::new(stage, kind, microbatch))
            })
            .collect()
    });
    schedule(model, orders.collect())
}

/// `DualPipe` (DeepSeek-V3, arXiv 2412.19437): the two directions feed each other, and a forward of the one is
/// overlapped with a backward of the other.
///
/// Memory: d+1 activations. Bubble: `(d/2-1)(F&B + B - 3W)`, where F&B is an overlapped pair.
pub(super) fn dualpipe(model: &Model) -> Result<Schedule, CatalogError> {
    let devices = even("dualpipe", model)?;
    let each = model.microbatches().div_ceil(2).max(devices);
    let turns = Device::all(devices).map(|device| {
        // Either half of the devices begins with the direction that comes from its own end.
        let inner = device.0.min(devices - 1 - device.0);
        let first = u32::from(device.0 >= devices / 2);
        let stages = model.placement().stages_of(device);
        let find = move |phase: usize, count: u32| {
            let direction = (u32::from(phase > 0) + first) % 2;
            Some((stages[direction as usize], microbatch(model, direction, count)?))
        };
        Turn { devices: devices / 2, device: inner, each, find }.passes()
    });
    Ok(overlapped(model, turns))
}

/// `DualPipeV` (the "cut in half" form of `DualPipe`; the description of its authors): the two chunks of V placement
/// replace the two directions, so that one copy of the weights is enough.
///
/// Memory: 2d+1 chunk activations. Bubble: `(d-1)(F&B + B - 3W)`, where F&B is an overlapped pair.
pub(super) fn dualpipe_v(model: &Model) -> Schedule {
    let devices = model.devices();
    let each = model.microbatches().max(2 * devices);
    let turns = Device::all(devices).map(|device| {
        let stages = model.placement().stages_of(device);
        let find = move |phase: usize, count: u32| {
            (count < model.microbatches()).then_some((stages[phase], Microbatch(count)))
        };
        Turn { devices, device: device.0, each, find }.passes()
    });
    overlapped(model, turns)
}

/// A device of `DualPipe`, which works in two phases: what goes away from its end of the pipeline, 0, and what comes
/// back, 1. The device is counted from that end, as far as the middle.
struct Turn<Find> {
    devices: u32,
    device: u32,
    /// The microbatches of either phase; those that do not exist are left out.
    each: u32,
    /// Stage and microbatch of the n-th of a phase.
    find: Find,
}

/// Passes of a device in the making.
#[derive(Default)]
struct Written {
    order: Vec<Pass>,
    pairs: Vec<usize>,
    counts: Counts,
    /// The Ws that wait, first come, first served, each with its number among all that have waited.
    waiting: VecDeque<(u32, Pass)>,
}

impl Written {
    /// Takes turns that are all alike, until one has nothing to add and no W waits. Those that are left have nothing to add
    /// either, because the microbatches that do not exist come behind all that do; nor need they be counted for that.
    fn repeat(&mut self, turns: u32, turn: impl Fn(&mut Self)) {
        for _ in 0..turns {
            let passes = self.order.len();
            turn(self);
            if self.order.len() == passes && self.waiting.is_empty() {
                break;
            }
        }
    }
}

/// How many passes there were of each sort, those left out included.
#[derive(Default)]
struct Counts {
    /// The forwards of either phase.
    forwards: [u32; 2],
    /// The backwards of either phase.
    backwards: [u32; 2],
    /// The Ws that have waited.
    put_off: u32,
    /// The Ws that wait no longer.
    made_up: u32,
}

impl<Find: Fn(usize, u32) -> Option<(Stage, Microbatch)>> Turn<Find> {
    fn passes(&self) -> (Vec<Pass>, Vec<usize>) {
        let (behind, before) = (self.devices - 1 - self.device, self.device + 1);
        let mut written = Written::default();
        let out = &mut written;
        out.repeat(2 * behind, |out| self.forward(out, 0));
        out.repeat(before, |out| {
            self.forward(out, 0);
            self.forward(out, 1);
        });
        out.repeat(behind, |out| {
            self.backward(out, 1, true);
            Self::weight(out);
            self.forward(out, 1);
        });
        let mut turns = self.each + before - 2 * self.devices;
        if behind == 0 && turns > 0 {
            // In the middle the first pair would only wait for itself.
            self.forward(out, 0);
            self.backward(out, 1, false);
            self.pair(out, 1, 0);
            turns -= 1;
        }
        out.repeat(turns, |out| {
            self.pair(out, 0, 1);
            self.pair(out, 1, 0);
        });
        out.repeat(behind, |out| {
            self.backward(out, 1, false);
            self.pair(out, 1, 0);
        });
        // The second half of these backwards leave their W for the end.
        let backwards = |first: bool, second: bool| {
            move |out: &mut Written| {
                self.backward(out, 1, first);
                self.backward(out, 0, second);
            }
        };
        out.repeat(before / 2, backwards(false, false));
        out.repeat(before % 2, backwards(false, true));
        out.repeat(before / 2, backwards(true, true));
        out.repeat(behind, |out| {
            Self::weight(out);
            self.backward(out, 0, true);
        });
        out.repeat(before, Self::weight);
        (written.order, written.pairs)
    }

    fn forward(&self, out: &mut Written, phase: usize) {
        if let Some((stage, microbatch)) = (self.find)(phase, out.counts.forwards[phase]) {
            out.order.push(Pass::new(stage, Kind::F, microbatch));
        }
        out.counts.forwards[phase] += 1;
    }

    fn backward(&self, out: &mut Written, phase: usize, split: bool) {
        let found = (self.find)(phase, out.counts.backwards[phase]);
        if let Some((stage, microbatch)) = found {
            out.order.push(Pass::new(stage, if split { Kind::I } else { Kind::B }, microbatch));
            if split {
                out.waiting.push_back((out.counts.put_off, Pass::new(stage, Kind::W, microbatch)));
            }
        }
        out.counts.put_off += u32::from(split);
        out.counts.backwards[phase] += 1;
    }

    fn weight(out: &mut Written) {
        let next = out.counts.made_up;
        if out.waiting.front().is_some_and(|&(number, _)| number == next) {
            out.order.extend(out.waiting.pop_front().map(|(_, pass)| pass));
        }
        out.counts.made_up = (next + 1).min(out.counts.put_off);
    }

    /// A forward of one phase overlapped with a backward of the other, if both are there.
    fn pair(&self, out: &mut Written, forward: usize, backward: usize) {
        let position = out.order.len();
        self.forward(out, forward);
        self.backward(out, backward, false);
        if out.order.len() == position + 2 {
            out.pairs.push(position);
        }
    }
}

fn overlapped(model: &Model, devices: impl Iterator<Item = (Vec<Pass>, Vec<usize>)>) -> Schedule {
    let (orders, pairs) = devices.unzip();
    schedule(model, orders).with_overlaps(pairs).expect("each pair is a forward and a backward")
}

/// The number of devices.
fn even(name: &'static str, model: &Model) -> Result<u32, CatalogError> {
    let devices = model.devices();
    if devices.is_multiple_of(2) { Ok(devices) } else { Err(CatalogError::OddDevices { name, devices }) }
}
