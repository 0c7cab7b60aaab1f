//! Schedules: for every device a total order of its passes. Times follow from it.
//!
//! A schedule may be wrong in every way a file can be wrong; only its form is guaranteed here.
//! Whether it can run is for [`replay`](crate::replay) to say.
//!
//! ```
//! use bubbleproof_core::model::Placement;
//! use bubbleproof_core::schedule::{self, Schedule};
//!
//! let read = |order: &str| order.split(' ').map(str::parse).collect::<Result<Vec<_>, _>>();
//! let orders = vec![read("0F0 0F1 0B0 0B1")?, read("1F0 1B0 1F1 1B1")?];
//! let schedule = Schedule::new(Placement::linear(2)?, 2, orders)?.named("1f1b");
//!
//! let mut file = Vec::new();
//! schedule::write(&schedule, &mut file)?;
//! assert_eq!(schedule::parse(std::str::from_utf8(&file)?)?, schedule);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod file;
mod gathers;
mod offload;
mod recompute;

use std::collections::BTreeMap;
use std::fmt;

pub use file::{FORMAT, ScheduleFileError, parse, write};
pub use gathers::Gathering;
pub use offload::Offloaded;

use crate::model::{Device, Kind, Model, Pass, Placement};

/// An order of passes for every device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    placement: Placement,
    microbatches: u32,
    orders: Vec<Vec<Pass>>,
    /// By device, ascending: the position of the first pass of every overlapped pair.
    overlaps: Vec<Vec<usize>>,
    /// By device, and by pass: the activations that go to the host.
    offloads: Vec<Vec<Offloaded>>,
    /// The levels of Rs that do not run at the first.
    levels: BTreeMap<Pass, u32>,
    /// What it is called.
    pub name: Option<String>,
    /// The name of the model it was made for.
    pub model: Option<String>,
    /// How it was made.
    pub provenance: Option<Provenance>,
    /// The certificate as read from the file, unchecked.
    /// [`certificate::check`](crate::certificate::check()) checks it.
    pub certificate: Option<serde_json::Value>,
}

/// How a schedule was made: enough to make it again.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// The program and its version.
    pub tool: String,
    /// What found it: the name of a catalogue schedule or of an engine.
    pub engine: String,
    /// The number of devices asked for in place of the model's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub devices: Option<u32>,
    /// The number of microbatches asked for in place of the model's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub microbatches: Option<u32>,
    /// The capacity asked for in place of the model's, in units.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<i64>,
    /// Further settings, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, String>,
}

/// A position in a device's row of passes or of actions, counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The device.
    pub device: Device,
    /// The position in its row.
    pub position: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "device {}, position {}", self.device, self.position)
    }
}

/// Why orders are not a schedule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScheduleError {
    /// Not one order for each device.
    #[error("there are {orders} orders, but the placement has {devices} devices")]
    Orders {
        /// How many orders there are.
        orders: usize,
        /// How many devices.
        devices: u32,
    },
    /// No microbatch.
    #[error("a schedule needs at least one microbatch")]
    NoMicrobatch,
    /// Too many passes to count.
    #[error("{stages} stages times {microbatches} microbatches are more passes than the {max} supported", max = Model::MAX_CELLS)]
    TooManyPasses {
        /// The number of stages.
        stages: u32,
        /// The number of microbatches.
        microbatches: u32,
    },
    /// An overlapped pair that is not a forward and a backward next to each other, or that has a
    /// pass in common with another.
    #[error(
        "device {device}, position {position}: an overlapped pair is a forward and, right before or after it, a \
         backward (B or I), neither of them part of another pair"
    )]
    NoPair {
        /// The device.
        device: Device,
        /// The position of the first pass of the pair.
        position: usize,
    },
    /// Not one list of offloaded activations for each device.
    #[error("there are {lists} lists of offloaded activations, but the placement has {devices} devices")]
    OffloadLists {
        /// How many lists there are.
        lists: usize,
        /// How many devices.
        devices: u32,
    },
    /// What is offloaded is no forward, is there twice, or is not freed before it is fetched.
    #[error(
        "device {device}: `{pass}` is offloaded from position {freed} to {fetched}: a forward is offloaded, once, from one \
         position of the device's order to a later one"
    )]
    NoOffload {
        /// The device.
        device: Device,
        /// What is offloaded.
        pass: Pass,
        /// From where on its memory is to be free.
        freed: usize,
        /// From where on it is to be occupied again.
        fetched: usize,
    },
    /// A level for what is no R, or the first level, which an R has without being listed.
    #[error(
        "`{pass}` has level {level}: only an R has a level, and level 0 is not listed, because it is the default"
    )]
    NoLevel {
        /// The pass.
        pass: Pass,
        /// The level, counted from 0.
        level: u32,
    },
}

impl Schedule {
    /// A schedule of these orders, one per device.
    ///
    /// # Errors
    /// When there is not one order for each device, or no microbatch, or too many.
    pub fn new(
        placement: Placement,
        microbatches: u32,
        orders: Vec<Vec<Pass>>,
    ) -> Result<Self, ScheduleError> {
        let devices = placement.devices();
        if orders.len() != devices as usize {
            return Err(ScheduleError::Orders { orders: orders.len(), devices });
        }
        Self::check_size(&placement, microbatches)?;
        Ok(Self {
            overlaps: vec![Vec::new(); orders.len()],
            offloads: vec![Vec::new(); orders.len()],
            levels: BTreeMap::new(),
            placement,
            microbatches,
            orders,
            name: None,
            model: None,
            provenance: None,
            certificate: None,
        })
    }

    /// The same schedule with overlapped pairs, named by the position of their first pass on each device.
    ///
    /// An overlapped pair runs as one pass of its device. It starts when both have their inputs, takes the
    /// sum of both durations, and yields both outputs at its end. It acquires the memory of both at its start
    /// and releases that of both at its end.
    ///
    /// # Errors
    /// When the positions are not those of pairs of a forward and a backward, or there are not as many
    /// lists as devices.
    pub fn with_overlaps(mut self, overlaps: Vec<Vec<usize>>) -> Result<Self, ScheduleError> {
        if overlaps.len() != self.orders.len() {
            return Err(ScheduleError::Orders { orders: overlaps.len(), devices: self.devices() });
        }
        for (device, positions) in Device::all(self.devices()).zip(&overlaps) {
            let mut free = 0;
            for &position in positions {
                let pair = position.checked_add(2).and_then(|end| self.order(device).get(position..end));
                let is_pair = pair.is_some_and(|pair| {
                    pair.iter().any(|pass| pass.kind == Kind::F)
                        && pair.iter().any(|pass| pass.kind.yields_input_gradient())
                });
                if position < free || !is_pair {
                    return Err(ScheduleError::NoPair { device, position });
                }
                free = position + 2;
            }
        }
        self.overlaps = overlaps;
        Ok(self)
    }

    /// A schedule of what every device runs at a time, in order: a pass, or the two of an overlapped pair.
    /// What runs no pass is left out.
    ///
    /// # Errors
    /// As for [`new`](Self::new) and [`with_overlaps`](Self::with_overlaps).
    pub fn of_steps<S: AsRef<[Pass]>>(
        placement: Placement,
        microbatches: u32,
        devices: impl IntoIterator<Item = impl IntoIterator<Item = S>>,
    ) -> Result<Self, ScheduleError> {
        let (mut orders, mut overlaps) = (Vec::new(), Vec::new());
        for steps in devices {
            let (mut order, mut pairs) = (Vec::new(), Vec::new());
            for step in steps {
                let step = step.as_ref();
                if step.len() > 1 {
                    pairs.push(order.len());
                }
                order.extend_from_slice(step);
            }
            orders.push(order);
            overlaps.push(pairs);
        }
        Self::new(placement, microbatches, orders)?.with_overlaps(overlaps)
    }

    /// The positions, ascending, of the first pass of every overlapped pair of a device.
    ///
    /// # Panics
    /// When there is no such device.
    #[must_use]
    pub fn overlaps(&self, device: Device) -> &[usize] {
        &self.overlaps[device.index()]
    }

    /// The number of overlapped pairs.
    #[must_use]
    pub fn overlap_count(&self) -> usize {
        self.overlaps.iter().map(Vec::len).sum()
    }

    /// What a device runs at a time, in order: a pass, or the two of an overlapped pair.
    ///
    /// # Panics
    /// When there is no such device.
    pub fn steps(&self, device: Device) -> impl Iterator<Item = &[Pass]> {
        let (order, pairs) = (self.order(device), self.overlaps(device));
        let (mut position, mut pair) = (0, 0);
        std::iter::from_fn(move || {
            let length = if pairs.get(pair) == Some(&position) { 2 } else { 1 };
            let step = order.get(position..position + length)?;
            position += length;
            pair += length - 1;
            Some(step)
        })
    }

    /// Checks the number of passes before orders are allocated.
    ///
    /// # Errors
    /// When there is no microbatch, or too many.
    pub fn check_size(placement: &Placement, microbatches: u32) -> Result<(), ScheduleError> {
        let stages = placement.stages();
        if microbatches == 0 {
            return Err(ScheduleError::NoMicrobatch);
        }
        if u64::from(stages) * u64::from(microbatches) > Model::MAX_CELLS {
            return Err(ScheduleError::TooManyPasses { stages, microbatches });
        }
        Ok(())
    }

    /// The same schedule under a name.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Which device holds which stages.
    #[must_use]
    pub const fn placement(&self) -> &Placement {
        &self.placement
    }

    /// The number of devices, d.
    #[must_use]
    pub fn devices(&self) -> u32 {
        self.placement.devices()
    }

    /// The number of microbatches, m.
    #[must_use]
    pub const fn microbatches(&self) -> u32 {
        self.microbatches
    }

    /// The order of a device.
    ///
    /// # Panics
    /// When there is no such device.
    #[must_use]
    pub fn order(&self, device: Device) -> &[Pass] {
        &self.orders[device.index()]
    }

    /// The orders of all devices.
    #[must_use]
    pub fn orders(&self) -> &[Vec<Pass>] {
        &self.orders
    }

    /// The number of passes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.orders.iter().map(Vec::len).sum()
    }

    /// Whether there is no pass at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.orders.iter().all(Vec::is_empty)
    }
}

/// The [`prerequisites`] of a pass under a model: where that recomputes [in the backward](crate::model::Recompute::fused), an R waits
/// for all that its backward waits for.
pub fn prerequisites_under(
    model: &Model,
    pass: Pass,
    mut present: impl FnMut(Pass) -> bool,
) -> impl Iterator<Item = Pass> {
    let of = match pass.kind {
        Kind::R if model.recomputes_in_backward() => {
            let full = pass.with_kind(Kind::B);
            if present(full) { full } else { pass.with_kind(Kind::I) }
        }
        _ => pass,
    };
    prerequisites(of, model.placement(), present).filter(move |&needs| needs != pass)
}

/// The passes that must end before a pass may start, in this order: the neighbouring stage's,
/// then its own stage's. `present` says whether the schedule contains a pass; it decides between I and B of
/// the next stage, and whether an R must precede.
///
/// Nothing but definitions (which pass waits for which), shared by everything that runs or reorders
/// schedules except `replay`, which states them for itself.
pub fn prerequisites(
    pass: Pass,
    placement: &Placement,
    mut present: impl FnMut(Pass) -> bool,
) -> impl Iterator<Item = Pass> {
    let mut found: [Option<Pass>; 3] = [None; 3];
    match pass.kind {
        Kind::F => {
            found[0] = placement.stage_before(pass.stage).map(|stage| Pass { stage, ..pass });
        }
        Kind::R => found[0] = Some(pass.with_kind(Kind::F)),
        Kind::I | Kind::B => {
            if let Some(stage) = placement.stage_after(pass.stage) {
                let above = Pass { stage, ..pass };
                let kind = if present(above.with_kind(Kind::B)) { Kind::B } else { Kind::I };
                found[0] = Some(above.with_kind(kind));
            }
            found[1] = Some(pass.with_kind(Kind::F));
            let recomputed = pass.with_kind(Kind::R);
            found[2] = present(recomputed).then_some(recomputed);
        }
        Kind::W => found[0] = Some(pass.with_kind(Kind::I)),
    }
    found.into_iter().flatten()
}
