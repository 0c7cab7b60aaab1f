//! What a lower bound says and what it rests on.

use std::fmt;

use num_rational::Ratio;
use serde::{Deserialize, Serialize};

use crate::model::{Device, Ticks};
use crate::replay::Metrics;

/// What a schedule minimises, and what lower bounds are about.
///
/// Exhaustive on purpose: a further one needs its own bounds and its own searches.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Objective {
    /// The last end over all devices.
    #[default]
    Makespan,
    /// The largest, over devices, of last end minus first start.
    DeviceSpan,
}

impl Objective {
    /// What it is of a replayed schedule, in ticks.
    #[must_use]
    pub const fn of(self, metrics: &Metrics) -> Ticks {
        match self {
            Self::Makespan => metrics.makespan,
            Self::DeviceSpan => metrics.device_span,
        }
    }
}

/// What it is called in sentences.
impl fmt::Display for Objective {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Makespan => "makespan",
            Self::DeviceSpan => "device span",
        })
    }
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
#[non_exhaustive]
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
    /// A device can begin no earlier than at `head`, runs all its Fs and Is, and `tail` follows the last of
    /// them, which is an I.
    Chain {
        /// The device.
        device: Device,
        /// What its Fs and Is take over all microbatches.
        work: Ticks,
        /// What comes before the first.
        head: Ticks,
        /// What comes after the last, at the least.
        tail: Ticks,
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
    /// Some devices alone take as long, the others counted as lags between their passes.
    Subset {
        /// The devices, in ascending order.
        devices: Vec<Device>,
        /// How the states of the devices repeat, unless they are followed through all microbatches.
        repetition: Option<Repetition>,
    },
}

impl Reason {
    /// The devices that it rests on.
    #[must_use]
    pub fn devices(&self) -> &[Device] {
        match self {
            Self::Alone => &[],
            Self::Windows { device, .. }
            | Self::Chain { device, .. }
            | Self::Turnover { device, .. }
            | Self::Area { device } => std::slice::from_ref(device),
            Self::Subset { devices, .. } => devices,
        }
    }

    /// The reason in a sentence, with this name for the unit of time.
    #[must_use]
    pub fn sentence(&self, unit: &str) -> String {
        match self {
            Self::Alone => "one microbatch alone takes as long".to_owned(),
            Self::Windows { device, work, first, last } => {
                // A claimed reason may have any figures, and it must be possible to show what is claimed.
                let [head, tail] = [first, last].map(|window| window.length.0.saturating_sub(window.work.0));
                format!(
                    "device {device} works {work} {unit}, and must idle {head} at the beginning (its first {} have \
                     room for {} of work) and {tail} at the end (its last {} for {})",
                    first.length, first.work, last.length, last.work
                )
            }
            Self::Chain { device, work, head, tail } => format!(
                "device {device} runs F and I for {work} {unit}; nothing reaches it before {head}, and at least \
                 {tail} follow its last I"
            ),
            Self::Turnover { device, held, turn } => format!(
                "device {device} has room for so few microbatches that each forward of its highest stage comes at \
                 least {turn} {unit} after the one {held} before"
            ),
            Self::Area { device } => format!(
                "what the microbatches hold on device {device}, times for how long at the least, fills its memory \
                 for as long"
            ),
            Self::Subset { devices, repetition } => {
                let names: Vec<String> = devices.iter().map(ToString::to_string).collect();
                let which = match names.as_slice() {
                    [only] => format!("device {only} alone takes"),
                    names => format!("devices {} alone take", names.join(", ")),
                };
                let steady = repetition.map_or_else(String::new, |Repetition { after, period, growth }| {
                    let counted = match period {
                        1 => "every further one adds".to_owned(),
                        _ => format!("every further {period} add"),
                    };
                    format!(", and from microbatch {after} on {counted} at least {growth} {unit}")
                });
                format!("{which} as long, the others counted only as delays between their passes{steady}")
            }
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.sentence("ticks"))
    }
}

/// Why a bound does not hold for a model, or does not follow from its reason.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BoundError {
    /// The reason names a device that is not there.
    #[error("the bound rests on device {device}, but the model has {devices}")]
    Device {
        /// The device it names.
        device: Device,
        /// How many there are.
        devices: u32,
    },
    /// Nothing but what one microbatch takes alone is known of two directions.
    #[error("the bound rests on devices of a pipeline of one direction, but the model has {0}")]
    Directions(u32),
    /// The reason names no devices, or not in ascending order.
    #[error("the bound rests on devices that are not in ascending order")]
    Order,
    /// It would take too long to check.
    #[error(
        "the bound takes more than {CHECK_STEPS} steps to check, or the memory limits are too small for any schedule"
    )]
    TooLarge,
    /// The figures of the reason are not those of the model.
    #[error("the bound rests on figures that do not follow from the model: {0}")]
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

/// A stretch of time at the beginning or the end of a device's span.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Window {
    /// How long it is.
    pub length: Ticks,
    /// The most work that fits into it.
    pub work: Ticks,
}

impl Window {
    /// The least idle time in it.
    #[must_use]
    pub fn idle(self) -> Ticks {
        self.length - self.work
    }
}

/// A repetition in the sets of states: after so many microbatches every state is later, by the growth
/// at least, than a state of one period before with the same counts. So it is for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Repetition {
    /// After the start of so many microbatches.
    pub after: u32,
    /// So many microbatches before.
    pub period: u32,
    /// By so much later.
    pub growth: Ticks,
}

impl Repetition {
    /// The growth per microbatch.
    #[must_use]
    pub fn pace(self) -> Ratio<i64> {
        Ratio::new(self.growth.0, i64::from(self.period))
    }
}

/// How many steps [`holds`](super::holds) spends at most: more than it takes to find a bound with ten times
/// [`STEPS`](super::STEPS).
pub const CHECK_STEPS: u64 = 40_000_000;
