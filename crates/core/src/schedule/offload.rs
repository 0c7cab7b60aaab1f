//! Which activations of a schedule go to the memory of the host, and for how long.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Schedule, ScheduleError};
use crate::model::{Device, Kind, Pass};

/// An activation that goes to the memory of the host, and comes back before its backward.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Offloaded {
    /// The forward whose activation it is.
    #[serde(serialize_with = "write_pass", deserialize_with = "read_pass")]
    pub pass: Pass,
    /// The position, in the order of the device, of the pass that waits for the copy to the host. The memory is free from there
    /// on.
    pub freed: usize,
    /// The position, in the order of the device, of the pass before which the copy back is posted. The memory is occupied again
    /// from there on.
    pub fetched: usize,
}

fn write_pass<S: Serializer>(pass: &Pass, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(pass)
}

fn read_pass<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Pass, D::Error> {
    let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
    text.parse().map_err(serde::de::Error::custom)
}

impl Schedule {
    /// The same schedule with these activations offloaded, in one list for each device and in any order; none by lists that are
    /// empty.
    ///
    /// # Errors
    /// When there is not one list for each device, what is offloaded is no forward, is there twice, or is not freed before it is
    /// fetched at a position of the device's order.
    pub fn with_offloads(mut self, mut offloads: Vec<Vec<Offloaded>>) -> Result<Self, ScheduleError> {
        if offloads.len() != self.orders.len() {
            return Err(ScheduleError::OffloadLists { lists: offloads.len(), devices: self.devices() });
        }
        for (device, list) in Device::all(self.devices()).zip(&mut offloads) {
            list.sort_unstable();
            let positions = self.order(device).len();
            let is_wrong = |offloaded: &&Offloaded| {
                let Offloaded { pass, freed, fetched } = **offloaded;
                pass.kind != Kind::F || freed >= fetched || fetched >= positions
            };
            let twice = list.windows(2).find(|two| two[0].pass == two[1].pass).map(|two| &two[1]);
            if let Some(&Offloaded { pass, freed, fetched }) = list.iter().find(is_wrong).or(twice) {
                return Err(ScheduleError::NoOffload { device, pass, freed, fetched });
            }
        }
        self.offloads = offloads;
        Ok(self)
    }

    /// What a device offloads, by pass.
    ///
    /// # Panics
    /// When there is no such device.
    #[must_use]
    pub fn offloads(&self, device: Device) -> &[Offloaded] {
        &self.offloads[device.index()]
    }

    /// How many activations go to the host.
    #[must_use]
    pub fn offload_count(&self) -> usize {
        self.offloads.iter().map(Vec::len).sum()
    }

    /// The position of the first pass that a device runs together with the one at this position: the position itself, unless it
    /// is that of the second pass of an overlapped pair.
    ///
    /// # Panics
    /// When there is no such device.
    #[must_use]
    pub fn step_at(&self, device: Device, position: usize) -> usize {
        match position.checked_sub(1) {
            Some(first) if self.overlaps(device).binary_search(&first).is_ok() => first,
            _ => position,
        }
    }
}
