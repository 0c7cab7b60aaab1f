//! The passes of each device in order, with the blanks that PyTorch puts between them.
//!
//! Blanks cost no time. They decide when devices take turns as [messages](super::lowering) are put in, and thus the order of
//! messages.

use std::collections::HashSet;

use super::PeerSchedule;
use super::line::{Action, Kind};

/// What a device does in its slots; `None` is a blank.
pub type Row = Vec<Option<Action>>;

/// The rows of all devices.
pub fn orders(schedule: PeerSchedule, devices: usize, microbatches: usize) -> Vec<Row> {
    match schedule {
        PeerSchedule::OneForwardOneBackward => {
            assert!(microbatches >= devices, "1F1B needs a microbatch for each device");
            (0..devices).map(|device| one_forward_one_backward(device, devices, microbatches)).collect()
        }
        PeerSchedule::Interleaved { chunks } => {
            Rounds::new(devices, chunks, microbatches, 2).rows(Rounds::fused)
        }
        PeerSchedule::InterleavedZeroBubble { chunks } => {
            let rounds = Rounds::new(devices, chunks, microbatches, 1);
            with_waits(&rounds.rows(Rounds::split))
        }
    }
}

/// A forward for each device that follows, then one forward and one backward in turn, then backwards. The blanks are the
/// peer's own: PyTorch's order for 1F1B has twice as many before the first backward.
fn one_forward_one_backward(device: usize, devices: usize, microbatches: usize) -> Row {
    let pass = |kind, microbatch| Some(Action::new(device, kind, microbatch));
    let ahead = devices - 1 - device;
    let mut row: Row = vec![None; device];
    row.extend((0..ahead).map(|microbatch| pass(Kind::F, microbatch)));
    row.extend(vec![None; ahead]);
    for b in 0..microbatches {
        let forward = ahead + b;
        row.push(if forward < microbatches { pass(Kind::F, forward) } else { None });
        row.push(pass(Kind::B, b));
    }
    row
}

/// An interleaved schedule: stages take turns, each with so many microbatches at a time.
struct Rounds {
    devices: usize,
    chunks: usize,
    microbatches: usize,
    /// Microbatches at a time.
    turn: usize,
    /// How many forwards more a device starts with than the device after it.
    step: usize,
}

impl Rounds {
    fn new(devices: usize, chunks: usize, microbatches: usize, step: usize) -> Self {
        let rounds = (microbatches / devices).max(1);
        assert!(microbatches.is_multiple_of(rounds), "microbatches divide into rounds");
        Self { devices, chunks, microbatches, turn: microbatches / rounds, step }
    }

    fn rows(&self, row: impl Fn(&Self, usize) -> Row) -> Vec<Row> {
        (0..self.devices).map(|device| row(self, device)).collect()
    }

    fn passes(&self) -> usize {
        self.chunks * self.microbatches
    }

    /// How many forwards a device runs before its first backward has its turn.
    fn warm_up(&self, device: usize) -> usize {
        ((self.chunks - 1) * self.turn + self.step * (self.devices - 1 - device)).min(self.passes())
    }

    /// The `n`-th forward of a device, or its `n`-th backward.
    fn pass(&self, device: usize, kind: Kind, n: usize) -> Action {
        let turns = n / self.turn;
        let chunk = turns % self.chunks;
        let chunk = if kind == Kind::F { chunk } else { self.chunks - 1 - chunk };
        let microbatch = turns / self.chunks * self.turn + n % self.turn;
        Action::new(chunk * self.devices + device, kind, microbatch)
    }

    fn fused(&self, device: usize) -> Row {
        let ahead = self.warm_up(device);
        let mut row: Row = vec![None; device];
        row.extend((0..ahead).map(|n| Some(self.pass(device, Kind::F, n))));
        if ahead > 0 {
            let first_backward = self.chunks * self.devices + 2 * (self.devices - 1 - device);
            row.extend(vec![None; first_backward.saturating_sub(ahead + device)]);
        }
        for b in 0..self.passes() {
            let forward = ahead + b;
            row.push((forward < self.passes()).then(|| self.pass(device, Kind::F, forward)));
            row.push(Some(self.pass(device, Kind::B, b)));
        }
        row
    }

    fn split(&self, device: usize) -> Row {
        let ahead = self.warm_up(device);
        let mut row: Row = vec![None; device];
        row.extend((0..ahead).map(|n| Some(self.pass(device, Kind::F, n))));
        if ahead > 0 {
            row.extend(vec![None; self.devices - 1 - device]);
        }
        for i in 0..self.passes() {
            if ahead + i < self.passes() {
                row.push(Some(self.pass(device, Kind::F, ahead + i)));
            }
            row.push(Some(self.pass(device, Kind::I, i)));
            // A device is as many weight gradients behind as it has devices before it.
            if i >= device {
                row.push(Some(self.pass(device, Kind::W, i - device)));
            }
        }
        let behind = self.passes().saturating_sub(device);
        row.extend((behind..self.passes()).map(|n| Some(self.pass(device, Kind::W, n))));
        row
    }
}

/// The same rows with a blank wherever a forward would run before the slot after that of the stage before it.
fn with_waits(rows: &[Row]) -> Vec<Row> {
    let mut next = vec![0; rows.len()];
    let mut waited: Vec<Row> = vec![Row::new(); rows.len()];
    let mut seen: HashSet<Action> = HashSet::new();
    while rows.iter().zip(&next).any(|(row, &at)| at < row.len()) {
        let mut ran = Vec::new();
        for (device, row) in rows.iter().enumerate() {
            let Some(&slot) = row.get(next[device]) else { continue };
            let waits = slot.is_some_and(|pass| {
                pass.kind == Kind::F
                    && pass.stage > 0
                    && !seen.contains(&Action { stage: pass.stage - 1, ..pass })
            });
            if waits {
                waited[device].push(None);
            } else {
                waited[device].push(slot);
                ran.extend(slot);
                next[device] += 1;
            }
        }
        seen.extend(ran);
    }
    waited
}
