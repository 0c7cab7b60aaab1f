//! Where a theorem is false: the smallest number of devices, the first device there, and why.

use std::fmt::{self, Write as _};

use num_integer::Integer;

use crate::block::BlockViolation;
use crate::block::family::{BrokenPromise, FamilyError};
use crate::model::{Device, Kind, Microbatch, Pass, Stage, Ticks, Units};

/// A device on which a theorem is false. The block algebra has found it so, whoever proposed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counterexample {
    /// The number of devices, d.
    pub devices: u32,
    /// The device, i: none before it is a counterexample for this number of devices.
    pub device: Device,
    /// What is wrong there.
    pub violation: TheoremViolation,
    /// Whether no smaller number of devices has a counterexample. Where this is false, the time was up
    /// before that was known.
    pub smallest: bool,
    pub(super) interval: Ticks,
    /// The passes of the device, with offset and duration.
    pub(super) passes: Vec<(Pass, Ticks, Ticks)>,
}

/// What is wrong with a family on some device.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TheoremViolation {
    /// There is no block, or a promise has no value.
    NoBlock(FamilyError),
    /// A dependency is not met, or two passes collide.
    BlockViolation(BlockViolation),
    /// A W waits longer, or shorter, than was said.
    Delay {
        /// Its stage.
        stage: Stage,
        /// From the end of its I to its start.
        ticks: Ticks,
    },
    /// The peak is above the bound from lifespans.
    Lifespans {
        /// The exact peak.
        peak: Units,
        /// The bound.
        bound: Units,
    },
    /// A promise is false.
    Promise {
        /// The promise, and the peak there.
        broken: BrokenPromise,
        /// A pass at whose start the device holds its peak.
        start: Option<Pass>,
    },
}

impl fmt::Display for TheoremViolation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoBlock(error) => error.fmt(out),
            Self::BlockViolation(fault) => fault.fmt(out),
            Self::Delay { stage, ticks } => {
                let w = Pass::new(*stage, Kind::W, Microbatch(0));
                write!(out, "`{w}` starts {ticks} ticks after its I has ended")
            }
            Self::Lifespans { peak, bound } => {
                write!(out, "the peak is {peak}, more than the {bound} that its lifespans allow")
            }
            Self::Promise { broken, start } => {
                broken.fmt(out)?;
                start.map_or(Ok(()), |start| write!(out, " (at the start of `{start}`)"))
            }
        }
    }
}

impl TheoremViolation {
    /// The passes involved.
    #[must_use]
    pub fn passes(&self) -> Vec<Pass> {
        match self {
            Self::BlockViolation(BlockViolation::Dependency { pass, needs, .. }) => vec![*pass, *needs],
            Self::BlockViolation(BlockViolation::Collision { first, second, .. }) if first == second => {
                vec![*first]
            }
            Self::BlockViolation(BlockViolation::Collision { first, second, .. }) => vec![*first, *second],
            Self::Delay { stage, .. } => {
                [Kind::I, Kind::W].map(|kind| Pass::new(*stage, kind, Microbatch(0))).to_vec()
            }
            Self::NoBlock(FamilyError::NoRoom { pass, .. }) => vec![*pass],
            Self::Promise { start, .. } => start.iter().copied().collect(),
            Self::NoBlock(_) | Self::Lifespans { .. } => Vec::new(),
        }
    }
}

impl Counterexample {
    /// The interval T.
    #[must_use]
    pub const fn interval(&self) -> Ticks {
        self.interval
    }

    /// The device modulo the interval, in a line: what runs from each instant on until the next. A
    /// `+` is between passes that overlap, `-` for nothing at all; passes without duration are left
    /// out. Nothing where there is no block.
    #[must_use]
    pub fn drawing(&self) -> Option<String> {
        if self.passes.is_empty() {
            return None;
        }
        let interval = self.interval.0;
        // Every pass as it lies in one interval: one piece, or two where it runs over the end.
        let mut pieces: Vec<(i64, i64, Pass)> = Vec::new();
        let mut instants = vec![0, interval];
        for &(pass, offset, length) in &self.passes {
            let start = offset.0.mod_floor(&interval);
            let end = start + length.0.min(interval);
            pieces.push((start, end.min(interval), pass));
            if end > interval {
                pieces.push((0, end - interval, pass));
            }
            instants.extend([start, end.min(interval), (end - interval).max(0)]);
        }
        instants.sort_unstable();
        instants.dedup();
        let mut text = String::from("0");
        for bounds in instants.windows(2) {
            let (from, to) = (bounds[0], bounds[1]);
            let mut running: Vec<&(i64, i64, Pass)> =
                pieces.iter().filter(|(start, end, _)| *start <= from && to <= *end).collect();
            running.sort_by_key(|&&(start, _, pass)| (start, pass));
            let names: Vec<String> =
                running.iter().map(|(_, _, pass)| format!("{}{}", pass.stage, pass.kind)).collect();
            let what = if names.is_empty() { "-".to_owned() } else { names.join("+") };
            write!(text, " [{what}] {to}").expect("texts grow");
        }
        Some(text)
    }
}
