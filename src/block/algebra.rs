//! What follows from offsets and interval: faults, lifespans, bounds and the exact peak.

use num_integer::Integer;

use super::Block;
use crate::kernel::{acquired, released};
use crate::model::{Device, Kind, Microbatch, Model, Pass, Stage, Ticks, Units};
use crate::schedule::prerequisites;

/// Why a block cannot be repeated as it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BlockViolation {
    /// A pass starts before what it needs has ended and arrived.
    #[error("`{pass}` starts {early} too early for `{needs}`")]
    Dependency {
        /// The pass that starts too early.
        pass: Pass,
        /// What it needs.
        needs: Pass,
        /// By how much, in parts of a tick.
        early: Ticks,
    },
    /// Copies of two passes run at the same time on their device.
    #[error(
        "device {device}: `{first}` and `{second}` collide: they overlap by {overlap} modulo the interval"
    )]
    Collision {
        /// The device.
        device: Device,
        /// One of the passes.
        first: Pass,
        /// The other one, or the same: a pass longer than the interval collides with itself.
        second: Pass,
        /// For how long, in parts of a tick; 0 when a pass without duration lies within the other.
        overlap: Ticks,
    },
}

impl Block {
    /// How long a pass takes, in parts of a tick.
    ///
    /// # Panics
    /// When the duration does not fit 64 bits in such small parts.
    #[must_use]
    pub fn duration(&self, model: &Model, pass: Pass) -> Ticks {
        model.duration(pass.stage, pass.kind) * self.parts
    }

    /// Everything that keeps the block from being repeated every interval: dependencies not met
    /// inside it, and passes of one device that overlap modulo the interval.
    #[must_use]
    pub fn faults(&self, model: &Model) -> Vec<BlockViolation> {
        let mut faults = self.broken_dependencies(model);
        faults
            .extend(Device::all(self.placement.devices()).flat_map(|device| self.collisions(model, device)));
        faults
    }

    fn broken_dependencies(&self, model: &Model) -> Vec<BlockViolation> {
        let mut faults = Vec::new();
        for (pass, offset) in self.passes() {
            for needs in prerequisites(pass, &self.placement, |other| self.offset(other).is_some()) {
                let Some(start) = self.offset(needs) else { continue };
                let latency = if needs.stage == pass.stage {
                    Ticks::ZERO
                } else {
                    model.latency_after(needs.stage.min(pass.stage))
                };
                let arrival = start + self.duration(model, needs) + latency * self.parts;
                if offset < arrival {
                    faults.push(BlockViolation::Dependency { pass, needs, early: arrival - offset });
                }
            }
        }
        faults
    }

    /// Pairs of passes of a device whose copies overlap.
    fn collisions(&self, model: &Model, device: Device) -> Vec<BlockViolation> {
        let interval = self.interval.0;
        let passes: Vec<(Pass, i64, i64)> = self
            .passes_of(device)
            .map(|(pass, offset)| (pass, offset.0.mod_floor(&interval), self.duration(model, pass).0))
            .collect();
        let mut faults = Vec::new();
        for (position, &(first, at, length)) in passes.iter().enumerate() {
            if length > interval {
                let overlap = Ticks(length - interval);
                faults.push(BlockViolation::Collision { device, first, second: first, overlap });
            }
            for &(second, other_at, other_length) in &passes[position + 1..] {
                // Seen from the start of either, the other must not start before its end. Passes that
                // start together get by when one of them takes no time: it then goes first.
                let ahead = (other_at - at).mod_floor(&interval);
                let behind = (at - other_at).mod_floor(&interval);
                let together = ahead == 0 && length.min(other_length) == 0;
                if !together && (length > ahead || other_length > behind) {
                    let overlap = (length - ahead).min(other_length).max((other_length - behind).min(length));
                    faults.push(BlockViolation::Collision { device, first, second, overlap: Ticks(overlap) });
                }
            }
        }
        faults
    }

    /// The lifespan of a stage in parts of a tick: from the start of its F to the end of the last of
    /// its backward passes. The longest, where a block has several microbatches.
    #[must_use]
    pub fn lifespan(&self, model: &Model, stage: Stage) -> Ticks {
        Microbatch::all(self.period)
            .map(|copy| self.lifespan_of(model, stage, copy))
            .max()
            .unwrap_or_default()
    }

    fn lifespan_of(&self, model: &Model, stage: Stage, copy: Microbatch) -> Ticks {
        let pass = |kind| Pass::new(stage, kind, copy);
        let start = self.offset(pass(Kind::F)).expect("a block has every F");
        let end = [Kind::I, Kind::W, Kind::B]
            .into_iter()
            .filter_map(|kind| self.offset(pass(kind)).map(|at| at + self.duration(model, pass(kind))))
            .max()
            .expect("a block has a backward of every stage");
        end - start
    }

    /// The bound on each device's peak memory from lifespans alone, `sum_s ceil(l_s/T) * m_s`
    /// (arXiv 2405.15362, Eq. 1); a stage whose passes take no time counts once. It holds for a block
    /// without faults, but is not always reached:
    /// [`steady_peak`](Self::steady_peak) is exact. More than fits 64 bits is given as the most that
    /// does, which is over any capacity.
    #[must_use]
    pub fn paper_bound(&self, model: &Model) -> Vec<Units> {
        let copies =
            |stage, copy| Integer::div_ceil(&self.lifespan_of(model, stage, copy).0, &self.interval.0).max(1);
        let bound = |device| -> Units {
            let stages = self.placement.stages_of(device).iter();
            let held = stages
                .flat_map(|&stage| Microbatch::all(self.period).map(move |copy| (stage, copy)))
                .map(|(stage, copy)| i128::from(model.activation(stage).0) * i128::from(copies(stage, copy)));
            saturated(held.sum())
        };
        Device::all(self.placement.devices()).map(bound).collect()
    }

    /// The exact peak memory of each device while copies of the block follow each other.
    ///
    /// When a pass acquires memory, every copy of a pass before it in the device's order has ended
    /// and no other has started; so what is live is a sum over the passes of what each has acquired
    /// and released by then. The peak is the largest such sum. The block must have no
    /// [faults](Self::faults). More than fits 64 bits is given as the most that does, which is over
    /// any capacity.
    #[must_use]
    pub fn steady_peak(&self, model: &Model) -> Vec<Units> {
        let peak = |device| self.live_at_starts(model, device).map(|(_, live)| live).max();
        Device::all(self.placement.devices())
            .map(|device| peak(device).map(saturated).unwrap_or_default())
            .collect()
    }

    /// The first pass of a device at whose start it holds its [steady peak](Self::steady_peak).
    #[must_use]
    pub fn peak_start(&self, model: &Model, device: Device) -> Option<Pass> {
        let starts = self.live_at_starts(model, device);
        starts.reduce(|most, other| if other.1 > most.1 { other } else { most }).map(|(pass, _)| pass)
    }

    /// The passes of a device that acquire memory, and what is live once copy 0 of each has started.
    fn live_at_starts(&self, model: &Model, device: Device) -> impl Iterator<Item = (Pass, i128)> {
        let passes: Vec<(Pass, Ticks)> = self.passes_of(device).collect();
        let acquiring: Vec<Pass> = passes
            .iter()
            .map(|&(pass, _)| pass)
            .filter(|pass| matches!(pass.kind, Kind::F | Kind::R))
            .collect();
        acquiring.into_iter().map(move |pass| (pass, self.live_at_start(model, &passes, pass)))
    }

    /// What is live on a device once copy 0 of a pass has started.
    fn live_at_start(&self, model: &Model, passes: &[(Pass, Ticks)], started: Pass) -> i128 {
        let start = self.offset(started).expect("a pass of the block");
        let rank = tie(model, started, i64::from(started.microbatch.0));
        let before = |pass: Pass, offset: Ticks| {
            let (whole, rest) = (start.0 - offset.0).div_mod_floor(&self.interval.0);
            // Copy `whole` starts at the same instant if nothing is left, and those come in the order
            // of `tie`, as in the expansion.
            let microbatch = whole * i64::from(self.period) + i64::from(pass.microbatch.0);
            whole + i64::from(rest > 0 || tie(model, pass, microbatch) < rank)
        };
        let held = |pass| i128::from(self.held_by(model, pass).0);
        let earlier: i128 =
            passes.iter().map(|&(pass, offset)| held(pass) * i128::from(before(pass, offset))).sum();
        earlier + held(started)
    }

    /// What a pass leaves live on its device: what it acquires less what it releases.
    fn held_by(&self, model: &Model, pass: Pass) -> Units {
        let recomputed = self.offset(pass.with_kind(Kind::R)).is_some();
        acquired(model, pass, recomputed) - released(model, pass)
    }
}

/// An amount that may not fit.
fn saturated(units: i128) -> Units {
    Units(i64::try_from(units).unwrap_or(i64::MAX))
}

/// The order of passes of one device that start at the same instant: those without duration by
/// microbatch, so that what an earlier one releases is free for a later one, and within it along the
/// dependencies; then the one that takes time. Without collisions there is one such at most.
pub(super) fn tie(model: &Model, pass: Pass, microbatch: i64) -> (bool, i64, usize, i64) {
    let takes_time = model.duration(pass.stage, pass.kind) > Ticks::ZERO;
    let stage = i64::from(pass.stage.0);
    let (step, stage) = match pass.kind {
        Kind::F => (0, stage),
        Kind::R => (1, stage),
        Kind::I | Kind::B => (2, -stage),
        Kind::W => (3, -stage),
    };
    (takes_time, microbatch, step, stage)
}
