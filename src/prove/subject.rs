//! What theorems about a family are about.

use std::fmt;

use crate::model::{Device, Ticks};

/// What a theorem is about.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TheoremSubject {
    /// Every W that the family leaves out finds a place.
    Room,
    /// No pass starts before what it needs has ended.
    Dependencies,
    /// No two passes of a device overlap modulo the interval.
    Collisions,
    /// How long the W of a chunk, left out by the family, waits for its place.
    Delay {
        /// The chunk.
        chunk: u32,
        /// The shortest and the longest waits, which were met.
        delays: Delays,
    },
    /// The exact peak is at most what lifespans allow (arXiv 2405.15362, Eq. 1).
    Lifespans,
    /// A promise of the family, by its position there.
    Promise(usize),
}

/// A wait that a W was seen to have, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delay {
    /// From the end of its I to its start.
    pub ticks: Ticks,
    /// The device.
    pub device: Device,
    /// The number of devices.
    pub devices: u32,
}

impl fmt::Display for Delay {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "device {} of {}", self.device, self.devices)
    }
}

/// The shortest and the longest wait seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delays {
    /// The shortest.
    pub least: Delay,
    /// The longest.
    pub most: Delay,
}

impl Delays {
    /// These and others together; of equals, these stay.
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            least: if other.least.ticks < self.least.ticks { other.least } else { self.least },
            most: if other.most.ticks > self.most.ticks { other.most } else { self.most },
        }
    }
}
