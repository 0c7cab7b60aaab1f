//! What is said of a device beside its row: what `replay` says of it, in the same words and digits.

use super::measures::{SMALL, TINY};
use crate::amounts::{amount, memory_of};
use crate::draw::{Picture, percent};
use crate::model::Device;

/// How the figures of devices are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Figures {
    /// Idle rate, and peak of the capacity.
    Full,
    /// Idle rate and peak, in small letters: for a drawing as narrow as a column of a paper.
    Narrow,
}

impl Figures {
    pub(super) const fn size(self) -> i64 {
        match self {
            Self::Full => SMALL,
            Self::Narrow => TINY,
        }
    }

    /// The lines beside a device: one, where its memory is not drawn.
    pub(super) fn of(self, picture: &Picture<'_>, device: Device, memory: bool) -> Vec<String> {
        let idle = format!("{} % idle", percent(picture.idle_share(device), 2));
        let peak = picture.peak_memory[device.index()].0;
        let unit = &picture.model.memory().unit;
        let peak = match (self, picture.capacity(device)) {
            (Self::Full, Some(capacity)) => format!("peak {}", memory_of(peak, capacity.0, unit)),
            (Self::Full | Self::Narrow, _) => format!("peak {}", amount(peak, unit)),
        };
        if memory { vec![idle, peak] } else { vec![format!("{idle}, {peak}")] }
    }
}
