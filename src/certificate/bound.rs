//! The bound on a metric: what it says, what it rests on, and whether that is so.

use serde::{Deserialize, Serialize};

use super::path::{Paths, critical_path};
use super::window::Window;
use super::{area, turnover, window};
use crate::model::{Device, Model, Ticks};

/// What is bounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// The last end over all devices.
    Makespan,
    /// The largest, over devices, of last end minus first start.
    DeviceSpan,
}

/// A lower bound and what it rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bound {
    /// No schedule is shorter.
    pub value: Ticks,
    /// Why.
    pub reason: Reason,
}

/// What a lower bound rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Reason {
    /// One microbatch alone takes as long.
    Alone,
    /// A device has so much work, and idle time in a window at the beginning and one at the end.
    Windows {
        /// The device.
        device: Device,
        /// Its work over all microbatches.
        work: Ticks,
        /// The window at the beginning.
        first: Window,
        /// The window at the end.
        last: Window,
    },
    /// A device has room for so few microbatches that each waits for the turn of an earlier one.
    Turnover {
        /// The device.
        device: Device,
        /// How many microbatches later the highest stage's forward has to wait for the turn, q.
        held: i64,
        /// From the start of that stage's forward to its start q microbatches later, P.
        turn: Ticks,
    },
    /// What a device must hold, and for how long, fills its memory for at least its span.
    Area {
        /// The device.
        device: Device,
    },
}

/// Why a bound does not hold for a model, or does not follow from its reason.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BoundError {
    /// The reason names a device that is not there.
    #[error("the bound rests on device {device}, but the model has {devices}")]
    Device {
        /// The device it names.
        device: Device,
        /// How many there are.
        devices: u32,
    },
    /// The figures of the reason are not those of the model.
    #[error("the bound rests on figures that do not follow from the model: {0:?}")]
    Figures(Reason),
    /// The reason gives another value.
    #[error("the bound is claimed to be {claimed}, but its reason gives {shown}")]
    Value {
        /// What the bound says.
        claimed: Ticks,
        /// What follows from the reason.
        shown: Ticks,
    },
}

/// The best of the bounds of this module on a metric, for the model's microbatches and caps.
#[must_use]
pub fn lower_bound(model: &Model, metric: Metric) -> Bound {
    let paths = Paths::new(model);
    Device::all(model.devices())
        .flat_map(|device| of_device(model, &paths, device, metric))
        .fold(alone(model, metric), |best, bound| if bound.value > best.value { bound } else { best })
}

/// Checks that a bound follows from its reason, and the reason from the model: every figure is
/// worked out anew, none is believed.
///
/// # Errors
/// When the reason is not true of the model, or gives another value.
pub fn holds(model: &Model, metric: Metric, bound: &Bound) -> Result<(), BoundError> {
    let shown = match &bound.reason {
        Reason::Alone => alone(model, metric).value,
        Reason::Windows { device, .. } | Reason::Turnover { device, .. } | Reason::Area { device } => {
            let (device, devices) = (*device, model.devices());
            if device.0 >= devices {
                return Err(BoundError::Device { device, devices });
            }
            of_device(model, &Paths::new(model), device, metric)
                .into_iter()
                .filter(|shown| shown.reason == bound.reason)
                .map(|shown| shown.value)
                .max()
                .ok_or_else(|| BoundError::Figures(bound.reason.clone()))?
        }
    };
    if shown == bound.value { Ok(()) } else { Err(BoundError::Value { claimed: bound.value, shown }) }
}

/// What one microbatch takes without waiting for any device.
fn alone(model: &Model, metric: Metric) -> Bound {
    let value = match metric {
        Metric::Makespan => critical_path(model),
        Metric::DeviceSpan => Ticks::ZERO,
    };
    Bound { value, reason: Reason::Alone }
}

/// The bounds that rest on one device.
fn of_device(model: &Model, paths: &Paths<'_>, device: Device, metric: Metric) -> Vec<Bound> {
    let mut bounds = window::bounds(model, paths, device, metric);
    bounds.extend(turnover::bounds(model, paths, device, metric));
    bounds.extend(area::bound(model, paths, device, metric));
    bounds
}
