//! Blocks with uniform offsets (arXiv 2405.15362, section 3.1 and Appendix A): F of chunk 0 and I of chunk 1, which go down the
//! devices, start later with each device by one number of ticks up to some device and by another one, not larger, from there
//! on; F of chunk 1 and I of chunk 0, which come back up, by one tick.

use itertools::Itertools;

use crate::model::{Device, Model, Stage, Units};

/// Every block repeats after as many ticks as a device has passes of a microbatch.
const INTERVAL: i64 = 6;

/// The most ticks by which a pass starts later with each device. Another six would give the same residues.
const MOST_HOP: i64 = 5;

/// The change is tried at every device of so many, and at as many places, evenly spread, of more.
const MOST_CHANGES: usize = 32;

/// When the passes of microbatch 0 start on a device: [`ROLES`](super::rearrange::ROLES) in order.
pub(super) type Starts = [i64; 6];

/// What makes a block.
#[derive(Debug, Clone, Copy)]
pub(super) struct Offsets {
    /// The residues of F1, I1 and I0 on device 0, where F0 has 0.
    residues: [i64; 3],
    /// The ticks for each device before the change, and from there on.
    hops: [i64; 2],
    /// How many devices are before the change.
    change: i64,
}

impl Offsets {
    /// All of them, also those that are no blocks.
    pub fn all(devices: u32) -> impl Iterator<Item = Self> {
        let devices = i64::from(devices);
        let step = usize::try_from(devices).expect("devices are counted in 32 bits").div_ceil(MOST_CHANGES);
        let residues = (1..INTERVAL).permutations(3).map(|all| [all[0], all[1], all[2]]);
        residues.flat_map(move |residues| {
            (1..=MOST_HOP).flat_map(move |before| {
                (1..=before).flat_map(move |after| {
                    // Without a change there is one place for it.
                    let changes = if before == after { 0..1 } else { 1..devices };
                    let step = if before == after { 1 } else { step };
                    changes.step_by(step).map(move |change| Self { residues, hops: [before, after], change })
                })
            })
        })
    }

    /// When the passes of microbatch 0 start on each device; nothing where two would meet.
    pub fn starts(&self, devices: u32) -> Option<Vec<Starts>> {
        let [turn, back, end] = self.residues;
        let last = i64::from(devices) - 1;
        let down = |device: i64| {
            let before = device.min(self.change);
            before * self.hops[0] + (device - before) * self.hops[1]
        };
        // What comes back up starts one tick earlier with each device.
        let up = |start: i64, device: i64| start + last - device;
        let last_forward = next(down(last), turn - last);
        let first_backward = next(up(last_forward, 0), back);
        let last_backward = next(first_backward + down(last), end - last);
        let on = |device: i64| {
            let [f0, f1] = [down(device), up(last_forward, device)];
            let [i1, i0] = [first_backward + down(device), up(last_backward, device)];
            let mut taken: Vec<i64> = [f0, f1, i1, i0].map(|start| start.rem_euclid(INTERVAL)).to_vec();
            if !taken.iter().all_unique() {
                return None;
            }
            let [w1, w0] = [i1, i0].map(|input| {
                let mut later = input + 1..=input + INTERVAL;
                let free = later.find(|start| !taken.contains(&start.rem_euclid(INTERVAL)));
                let free = free.expect("four or five of six residues are taken");
                taken.push(free.rem_euclid(INTERVAL));
                free
            });
            Some([f0, f1, i1, i0, w1, w0])
        };
        (0..=last).map(on).collect()
    }
}

/// The first tick after this one with this residue.
fn next(after: i64, residue: i64) -> i64 {
    after + 1 + (residue - after - 1).rem_euclid(INTERVAL)
}

/// How many copies of what starts at this offset have started by a time, up to a constant.
fn copies(at: i64, offset: i64) -> i64 {
    (at - offset).div_euclid(INTERVAL)
}

/// The most chunks that a device holds.
pub(super) fn chunks(starts: &[Starts]) -> i64 {
    let most = |&[f0, f1, _, _, w1, w0]: &Starts| {
        [f0, f1]
            .map(|at| copies(at, f0) - copies(at, w0 + 1) + copies(at, f1) - copies(at, w1 + 1))
            .into_iter()
            .max()
    };
    starts.iter().filter_map(most).max().unwrap_or_default()
}

/// The most that a device holds in the steady phase, in units.
pub(super) fn held(model: &Model, device: Device, starts: &Starts) -> Units {
    let [f0, f1, i1, i0, w1, w0] = *starts;
    let stages = [Stage(device.0), Stage(2 * model.devices() - 1 - device.0)];
    let at = |at: i64| -> Units {
        let chunks = [[f0, i0, w0], [f1, i1, w1]].into_iter().zip(stages);
        chunks
            .map(|([forward, input, weight], stage)| {
                let [begun, halfway, ended] =
                    [copies(at, forward), copies(at, input + 1), copies(at, weight + 1)];
                model.activation(stage) * (begun - halfway)
                    + model.retained_for_weight(stage) * (halfway - ended)
            })
            .sum()
    };
    at(f0).max(at(f1))
}
