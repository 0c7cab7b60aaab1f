//! The building blocks behind the named schedules, for unit-time passes (F = I = W = 1, B = 2) and
//! no latency: every offset a formula in the device i and the number of devices d.

use num_integer::Integer;

use super::Needs;
use crate::block::Block;
use crate::model::{Device, Kind, Placement, Stage, Ticks};

/// The building block of a named schedule for a placement, where the schedule has one.
///
/// | name | placement | T | offsets |
/// | --- | --- | --- | --- |
/// | `1f1b` | linear | 3 | F = i, B = 3d-2-2i |
/// | `eager-1f1b` | linear | 3 | F = i, B = 6d-5-5i |
/// | `zb-h1` | linear | 3 | F = i, I = 3d-2-2i, W = I+1+3i |
/// | `zb-h2` | linear | 3 | F = i, I = 6d-5-5i, W = I+1+6i |
/// | `v-min` | v | 6 | F0 = i, F1 = 2d-1-i, I1 = 2d+g+i, I0 = 4d+g-1-i; g = 2 if 3 divides d, else 0 |
/// | `v-half` | v | 6 | F0 = 2i, F1 = 3d-2-i, I1 = 3d+g-1+2i, I0 = 6d+g-2-i; g = 3 if d is even, else 0 |
/// | `v-zb` | v | 6 | F0 = 4i, F1 = 6d-5-2i, I1 = 6d-4+4i, I0 = 12d-9-2i |
/// | `1f1b-v` | v | 6 | F0 = i, F1 = 2d+g-1-i, B1 = 2d+g+2i+3p, B0 = x-2i-3q; see below |
/// | `interleaved-1f1b-uniform` | looped | 3v | F 2 and B 4 later with every hop; see below |
///
/// In the V blocks the digit is the chunk, and W takes the first residue free after its I, chunk 1
/// first (arXiv 2405.15362, Tables 8 and 9; V-Half as in the authors' generator, sail-sg/zero-bubble
/// at 39f2c186, one chunk below the table's variant).
///
/// `1f1b-v`: F0 and F1 advance by one tick for every device. B advances by 2, and to keep four passes
/// of lengths 1, 1, 2, 2 apart modulo 6, every third hop of B1 and another third hop of B0 takes 5:
/// eight ticks a hop in all on average, where 1F1B in two halves would take twelve: two thirds of its
/// memory. If d = 2 (mod 3), then `p = (i+2) div 3` and `q = i div 3`; else `p = i div 3` and
/// `q = (i+1) div 3`. g = 2 if 3 divides d, else 0. x makes B0 of the last device follow its B1 at
/// once, or one tick later if 3 divides d.
///
/// `interleaved-1f1b-uniform`: a device has v slots of 3 ticks, one for F and two for B, per
/// interval. From device to device F takes 2 ticks and B takes 4, twice their durations; the next chunk
/// follows in the first slot that is free.
#[must_use]
pub fn block(name: &str, placement: &Placement) -> Option<Block> {
    let (needs, make): (Needs, fn(&Placement) -> Block) = match name {
        "1f1b" => (Needs::Linear, |placement| fused(placement, 1)),
        "eager-1f1b" => (Needs::Linear, |placement| fused(placement, 2)),
        "zb-h1" => (Needs::Linear, |placement| split(placement, 1)),
        "zb-h2" => (Needs::Linear, |placement| split(placement, 2)),
        "interleaved-1f1b-uniform" => (Needs::Looped, interleaved),
        "1f1b-v" => (Needs::V, one_f_one_b_v),
        "v-min" => (Needs::V, v_min),
        "v-half" => (Needs::V, v_half),
        "v-zb" => (Needs::V, v_zb),
        _ => return None,
    };
    needs.met_by(placement).then(|| make(placement))
}

/// When the backward of a device starts: at d on the last one, and from there on 2 ticks later with
/// each device (`factor` 1, 1F1B), or 5 (`factor` 2, eager).
fn linear_backward(devices: i64, device: i64, factor: i64) -> i64 {
    let hop = 3 * factor - 1;
    devices + hop * (devices - 1 - device)
}

fn fused(placement: &Placement, factor: i64) -> Block {
    let devices = i64::from(placement.devices());
    let offsets = stages(placement).flat_map(|(stage, device)| {
        [(stage, Kind::F, device), (stage, Kind::B, linear_backward(devices, device, factor))]
    });
    build(placement, 3, offsets)
}

fn split(placement: &Placement, factor: i64) -> Block {
    let devices = i64::from(placement.devices());
    let offsets = stages(placement).flat_map(|(stage, device)| {
        let input = linear_backward(devices, device, factor);
        [(stage, Kind::F, device), (stage, Kind::I, input), (stage, Kind::W, input + 1 + 3 * factor * device)]
    });
    build(placement, 3, offsets)
}

/// V-Min for V placement.
pub(super) fn v_min(placement: &Placement) -> Block {
    let gap = |d: i64| if d % 3 == 0 { 2 } else { 0 };
    v_block(placement, |d, i| [i, 2 * d - 1 - i, 2 * d + gap(d) + i, 4 * d + gap(d) - 1 - i])
}

/// V-Half for V placement.
pub(super) fn v_half(placement: &Placement) -> Block {
    let gap = |d: i64| if d % 2 == 0 { 3 } else { 0 };
    v_block(placement, |d, i| [2 * i, 3 * d - 2 - i, 3 * d + gap(d) - 1 + 2 * i, 6 * d + gap(d) - 2 - i])
}

/// V-ZB for V placement.
pub(super) fn v_zb(placement: &Placement) -> Block {
    v_block(placement, |d, i| [4 * i, 6 * d - 5 - 2 * i, 6 * d - 4 + 4 * i, 12 * d - 9 - 2 * i])
}

/// The block with the offsets of F0, F1, I1, I0 that a formula gives for d and i.
fn v_block(placement: &Placement, formula: impl Fn(i64, i64) -> [i64; 4]) -> Block {
    let devices = placement.devices();
    let offsets = Device::all(devices).flat_map(|device| {
        let (low, high) = ends(devices, device);
        let [f0, f1, i1, i0] = formula(i64::from(devices), i64::from(device.0));
        let mut slots = Slots::new(6);
        for at in [f0, f1, i1, i0] {
            slots.take(at);
        }
        let w1 = slots.first_free(i1 + 1, 1);
        let w0 = slots.first_free(i0 + 1, 1);
        [
            (low, Kind::F, f0),
            (high, Kind::F, f1),
            (high, Kind::I, i1),
            (low, Kind::I, i0),
            (high, Kind::W, w1),
            (low, Kind::W, w0),
        ]
    });
    build(placement, 6, offsets)
}

/// 1F1B-V for V placement.
pub(super) fn one_f_one_b_v(placement: &Placement) -> Block {
    let devices = placement.devices();
    let d = i64::from(devices);
    let (gap, tail) = if d % 3 == 0 { (2, 1) } else { (0, 0) };
    let long_hops = |i: i64| if d % 3 == 2 { ((i + 2) / 3, i / 3) } else { (i / 3, (i + 1) / 3) };
    let down = |i: i64| 2 * d + gap + 2 * i + 3 * long_hops(i).0;
    let up = |i: i64| 2 * i + 3 * long_hops(i).1;
    let start = down(d - 1) + 2 + tail + up(d - 1);
    let offsets = Device::all(devices).flat_map(|device| {
        let (low, high) = ends(devices, device);
        let i = i64::from(device.0);
        [
            (low, Kind::F, i),
            (high, Kind::F, 2 * d + gap - 1 - i),
            (high, Kind::B, down(i)),
            (low, Kind::B, start - up(i)),
        ]
    });
    build(placement, 6, offsets)
}

/// Interleaved 1F1B at a uniform interval for looped placement.
///
/// Seen from each device's own first F, every F falls on a multiple of 3 and every B one later, so
/// passes of the two kinds never meet; among its own kind each chunk has a slot of its own.
pub(super) fn interleaved(placement: &Placement) -> Block {
    const FORWARD_HOP: i64 = 2;
    const BACKWARD_HOP: i64 = 4;
    let devices = i64::from(placement.devices());
    let chunks = placement.chunks().expect("looped placement has equally many stages on every device");
    let chunks = i64::from(chunks);
    let interval = 3 * chunks;
    // The starts of the chunks' F on device 0, and of their B on the last device.
    let (mut forwards, mut backwards) = (Vec::new(), Vec::new());
    let mut slots = Slots::new(interval);
    let mut at = 0;
    for _ in 0..chunks {
        let from = slots.first_free(at, 3);
        forwards.push(from);
        // The next chunk follows the last device, in a slot of device 0.
        at = next_slot(from + FORWARD_HOP * (devices - 1) + 1);
    }
    let last = FORWARD_HOP * (devices - 1);
    let mut slots = Slots::new(interval);
    let mut at = forwards[forwards.len() - 1] + last + 1;
    for _ in 0..chunks {
        let from = slots.first_free(at, 3);
        backwards.push(from);
        let arrived = from + BACKWARD_HOP * (devices - 1) + 2;
        at = from + next_slot(arrived - from);
    }
    backwards.reverse();
    let offsets = stages(placement).flat_map(|(stage, _)| {
        let device = i64::from(placement.device_of(stage).0);
        let chunk = placement.chunk_of(stage);
        [
            (stage, Kind::F, forwards[chunk] + FORWARD_HOP * device),
            (stage, Kind::B, backwards[chunk] + BACKWARD_HOP * (devices - 1 - device)),
        ]
    });
    build(placement, interval, offsets)
}

/// The first multiple of a slot's 3 ticks that is not before a time.
fn next_slot(at: i64) -> i64 {
    Integer::next_multiple_of(&at, &3)
}

/// Which residues modulo the interval a device has passes in.
struct Slots(Vec<bool>);

impl Slots {
    fn new(interval: i64) -> Self {
        Self(vec![false; usize::try_from(interval).expect("an interval is positive")])
    }

    fn residue(&mut self, at: i64) -> &mut bool {
        let interval = i64::try_from(self.0.len()).expect("made from one");
        &mut self.0[usize::try_from(at.rem_euclid(interval)).expect("a residue is not negative")]
    }

    fn take(&mut self, at: i64) {
        *self.residue(at) = true;
    }

    /// Takes the first time `from`, `from + step`, ... whose residue is free.
    fn first_free(&mut self, from: i64, step: i64) -> i64 {
        let mut at = from;
        while *self.residue(at) {
            at += step;
        }
        self.take(at);
        at
    }
}

/// The stages of a device under V placement: chunk 0 and chunk 1.
fn ends(devices: u32, device: Device) -> (Stage, Stage) {
    (Stage(device.0), Stage(2 * devices - 1 - device.0))
}

/// The stages with their numbers, which for linear placement are those of their devices.
fn stages(placement: &Placement) -> impl Iterator<Item = (Stage, i64)> {
    Stage::all(placement.stages()).map(|stage| (stage, i64::from(stage.0)))
}

fn build(
    placement: &Placement,
    interval: i64,
    offsets: impl IntoIterator<Item = (Stage, Kind, i64)>,
) -> Block {
    let offsets = offsets.into_iter().map(|(stage, kind, at)| (stage, kind, Ticks(at)));
    Block::new(placement.clone(), Ticks(interval), offsets)
        .expect("the formulas give every pass one offset, and at most 2^20 stages keep them small")
}
