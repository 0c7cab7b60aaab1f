//! What a lower bound says and what it rests on.

use std::fmt;

use num_rational::Ratio;
use serde::{Deserialize, Serialize};

use super::weighed::Weights;
use crate::model::{Device, Link, Ticks};
use crate::replay::Metrics;

/// What a schedule minimises, and what lower bounds are about.
///
/// Exhaustive on purpose: a further one needs its own bounds and its own searches.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Objective {
    /// The last end over all devices, with the end of the step.
    #[default]
    Makespan,
    /// The least time within which every device can run its passes and optimiser steps, where a device may begin later
    /// than as soon as possible.
    DeviceSpan,
}

impl Objective {
    /// The value for a replayed schedule, in ticks.
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
    /// The bound in ticks: no schedule is shorter.
    pub value: Ticks,
    /// Why.
    pub reason: BoundReason,
}

/// What a lower bound rests on. `docs/bounds.md` proves each in the section that is named here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum BoundReason {
    /// One microbatch alone takes this long (section *Alone*).
    Alone,
    /// A device has this work, and runs no pass for a part of a window at the beginning and of one at the end (section
    /// *Windows*). Its optimiser steps are part of that.
    Windows {
        /// The device.
        device: Device,
        /// The work of its passes over all microbatches, in ticks.
        work: Ticks,
        /// The window at the beginning.
        first: Window,
        /// The window at the end.
        last: Window,
    },
    /// A device can begin no earlier than at `head`, runs all its Fs and Is, and `tail` follows the last of
    /// them, which is an I (section *Chain*).
    Chain {
        /// The device.
        device: Device,
        /// The duration of all its Fs and Is, over all microbatches, in ticks.
        work: Ticks,
        /// The earliest start of the first of them, in ticks.
        head: Ticks,
        /// The least time that follows the last of them, in ticks.
        tail: Ticks,
    },
    /// A device can begin no earlier than at `head`, runs all its passes, and `tail` follows the last of them (section *Work*).
    Work {
        /// The device.
        device: Device,
        /// The duration of all its passes, over all microbatches, in ticks.
        work: Ticks,
        /// The earliest start of the first of them, in ticks.
        head: Ticks,
        /// The least time that follows the last of them, in ticks.
        tail: Ticks,
    },
    /// A device fits so few microbatches at once that each waits for the turn of an earlier one (section
    /// *Turnover*).
    Turnover {
        /// The device.
        device: Device,
        /// How many microbatches apart the two forwards of the highest stage are, q.
        held: i64,
        /// The least time from the start of that stage's forward to its start q microbatches later, P, in
        /// ticks.
        turn: Ticks,
    },
    /// The memory of the microbatches on a device times their minimum lifetime fills its memory for that long
    /// (section *Area*).
    Area {
        /// The device.
        device: Device,
    },
    /// The same, with the memory that is empty at the beginning and at the end (section *Area*).
    Ramps {
        /// The device.
        device: Device,
    },
    /// The memory of the microbatches on a device times their minimum lifetime, less the most that offloading can free, fills
    /// its memory for that long; copies take time, so not everything can be offloaded (section *Offloading*).
    Offload {
        /// The device.
        device: Device,
    },
    /// On a device, what is recomputed takes time, and what is not holds memory for longer: both fit only into `span`, between
    /// `head` and `tail` (section *Recomputation*).
    Recomputation {
        /// The device.
        device: Device,
        /// The duration of its Fs and backwards, over all microbatches, in ticks; without Ws where `tail` follows its last I.
        work: Ticks,
        /// The least time in which it runs no pass although it could be reached, in ticks.
        idle: Ticks,
        /// The least time for work and idle time and for what has to be recomputed, in ticks.
        span: Ticks,
        /// The earliest start of its first pass, in ticks.
        head: Ticks,
        /// The least time that follows, in ticks.
        tail: Ticks,
    },
    /// The work of devices and the memory that microbatches hold there, each times a weight, need this long together: what
    /// is in pairs or is not recomputed takes less time, but holds memory for longer (section *Work against memory*).
    Weighed(Weights),
    /// A link carries nothing before `head`, is busy for `work`, and `tail` follows its last message (section *Links*).
    Link {
        /// The link.
        link: Link,
        /// How long all its messages keep it busy, over all microbatches, in ticks.
        work: Ticks,
        /// The earliest end of a pass that makes one of its messages, in ticks.
        head: Ticks,
        /// The least time that follows its last message, in ticks.
        tail: Ticks,
    },
    /// Some devices alone need this long, with all others reduced to delays between their passes (section
    /// *Some devices alone*).
    Subset {
        /// The devices, in ascending order.
        devices: Vec<Device>,
        /// How the states of the devices repeat, unless they are followed through all microbatches.
        repetition: Option<Repetition>,
    },
    /// Some devices alone need this long, as far as only what may end before a horizon is followed (section *Up to a
    /// horizon*).
    Horizon {
        /// The devices, in ascending order.
        devices: Vec<Device>,
        /// The horizon, in ticks: the bound is no more.
        end: Ticks,
    },
    /// Some devices alone need this long, as no schedule of them is faster than a pace (section *At a pace*).
    Pace {
        /// The devices, in ascending order.
        devices: Vec<Device>,
        /// In the long run, so many microbatches take at least `ticks`.
        microbatches: u32,
        /// The time that they take, in ticks.
        ticks: Ticks,
        /// A horizon, in ticks: the bound is no more.
        end: Ticks,
    },
}

impl BoundReason {
    /// The devices that it names.
    #[must_use]
    pub fn devices(&self) -> &[Device] {
        match self {
            Self::Alone | Self::Link { .. } | Self::Weighed(_) => &[],
            Self::Windows { device, .. }
            | Self::Chain { device, .. }
            | Self::Work { device, .. }
            | Self::Turnover { device, .. }
            | Self::Area { device }
            | Self::Ramps { device }
            | Self::Offload { device }
            | Self::Recomputation { device, .. } => std::slice::from_ref(device),
            Self::Subset { devices, .. } | Self::Horizon { devices, .. } | Self::Pace { devices, .. } => {
                devices
            }
        }
    }

    /// Whether Rocq has checked a proof that no schedule of F, I and W alone is below it (`docs/trust.md`).
    #[must_use]
    pub const fn is_machine_checked(&self) -> bool {
        match self {
            Self::Alone
            | Self::Windows { .. }
            | Self::Chain { .. }
            | Self::Work { .. }
            | Self::Turnover { .. }
            | Self::Area { .. }
            | Self::Subset { .. } => true,
            Self::Ramps { .. }
            | Self::Offload { .. }
            | Self::Recomputation { .. }
            | Self::Weighed(_)
            | Self::Link { .. }
            | Self::Horizon { .. }
            | Self::Pace { .. } => false,
        }
    }

    /// The section of `docs/bounds.md` that proves it.
    #[must_use]
    pub const fn section(&self) -> &'static str {
        match self {
            Self::Alone => "Alone",
            Self::Windows { .. } => "Windows",
            Self::Chain { .. } => "Chain",
            Self::Work { .. } => "Work",
            Self::Turnover { .. } => "Turnover",
            Self::Area { .. } | Self::Ramps { .. } => "Area",
            Self::Offload { .. } => "Offloading",
            Self::Recomputation { .. } => "Recomputation",
            Self::Weighed(_) => "Work against memory",
            Self::Link { .. } => "Links",
            Self::Subset { .. } => "Some devices alone",
            Self::Horizon { .. } => "Up to a horizon",
            Self::Pace { .. } => "At a pace",
        }
    }

    /// The reason in a sentence, with `time` to write a time together with its unit.
    #[must_use]
    pub fn sentence(&self, time: impl Fn(Ticks) -> String) -> String {
        match self {
            Self::Alone => {
                "a single microbatch takes this long to pass through all stages and back".to_owned()
            }
            Self::Windows { device, work, first, last } => {
                // A claimed reason may have any figures, and it must be possible to show what is claimed.
                let idles = |window: &Window, which| match window.length.0.saturating_sub(window.work.0) {
                    0 => None,
                    _ if window.work == Ticks::ZERO => {
                        Some(format!("can run no pass in the {which} {}", time(window.length)))
                    }
                    idle => Some(format!(
                        "idles for at least {} of the {which} {}",
                        time(Ticks(idle)),
                        time(window.length)
                    )),
                };
                let parts = [
                    Some(format!("works {} in all", time(*work))),
                    idles(first, "first"),
                    idles(last, "last"),
                ];
                let parts: Vec<String> = parts.into_iter().flatten().collect();
                match parts.as_slice() {
                    [works, idle, others @ ..] if !others.is_empty() => {
                        format!("device {device} {works}, {idle}, and {}", others.join(", "))
                    }
                    parts => format!("device {device} {}", parts.join(" and ")),
                }
            }
            Self::Chain { device, work, head, tail } => format!(
                "device {device} runs its F and I passes for {} in all{}",
                time(*work),
                around("no microbatch reaches it", *head, *tail, "its last I", &time)
            ),
            Self::Work { device, work, head, tail } => format!(
                "device {device} works {} in all{}",
                time(*work),
                around("no microbatch reaches it", *head, *tail, "its last pass", &time)
            ),
            Self::Turnover { device, held, turn } => format!(
                "device {device} has so little memory that a microbatch can start there only after an earlier one has freed some: each \
                 forward of its highest stage starts at least {} after the one {held} microbatches before",
                time(*turn)
            ),
            Self::Area { device } => format!(
                "every microbatch occupies memory of device {device} for some time at least, and all of them together fill its memory \
                 for this long"
            ),
            Self::Ramps { device } => format!(
                "every microbatch occupies memory of device {device} for some time at least, and all of them together, with what is \
                 empty before it fills and after, fill its memory for this long"
            ),
            Self::Offload { device } => format!(
                "every microbatch occupies memory of device {device} for some time at least, and all of them together, without what \
                 can be copied to the host in the time, fill its memory for this long"
            ),
            Self::Recomputation { device, work, idle, span, head, tail } => {
                let idle = match *idle {
                    Ticks::ZERO => String::new(),
                    idle => format!(" and has to idle for {}", time(idle)),
                };
                format!(
                    "device {device} works {} in all{idle}, and needs {} together with the recomputation that its memory forces{}",
                    time(*work),
                    time(*span),
                    around("no microbatch reaches it", *head, *tail, "that", &time)
                )
            }
            Self::Weighed(_) => {
                "the work of all devices and the memory that microbatches hold there need this long together: what is in pairs, or is \
                 neither recomputed nor copied to the host, takes less time, but holds memory for longer"
                    .to_owned()
            }
            Self::Link { link, work, head, tail } => format!(
                "messages keep the link from {link} busy for {} in all{}",
                time(*work),
                around("none can be sent", *head, *tail, "the last one", &time)
            ),
            Self::Subset { devices, repetition } => {
                let which = alone(devices);
                let steady = repetition.map_or_else(String::new, |Repetition { after, period, growth }| {
                    let counted = match period {
                        1 => "each further one adds".to_owned(),
                        _ => format!("each further {period} add"),
                    };
                    format!("; from microbatch {after} on, {counted} at least {}", time(growth))
                });
                format!(
                    "{which} this long, even if all other devices could run any number of passes at once{steady}"
                )
            }
            Self::Horizon { devices, end } => format!(
                "{} this long, even if all other devices could run any number of passes at once; what cannot end before {} was \
                 not followed",
                alone(devices),
                time(*end)
            ),
            Self::Pace { devices, microbatches, ticks, end } => {
                let each = match microbatches {
                    1 => "each microbatch takes".to_owned(),
                    _ => format!("every {microbatches} microbatches take"),
                };
                format!(
                    "{} this long, even if all other devices could run any number of passes at once: in the long run, {each} \
                     at least {}; what cannot end before {} was not followed to its end",
                    alone(devices),
                    time(*ticks),
                    time(*end)
                )
            }
        }
    }
}

/// Some devices as what needs so long.
fn alone(devices: &[Device]) -> String {
    let names: Vec<String> = devices.iter().map(ToString::to_string).collect();
    match names.as_slice() {
        [only] => format!("device {only} alone needs"),
        names => format!("devices {} alone need", names.join(", ")),
    }
}

/// What comes before some work and what follows it, as the end of a sentence; times of zero are left out.
fn around(none: &str, head: Ticks, tail: Ticks, last: &str, time: &impl Fn(Ticks) -> String) -> String {
    let before = (head != Ticks::ZERO).then(|| format!("{none} in the first {}", time(head)));
    let after = (tail != Ticks::ZERO).then(|| format!("at least another {} follow {last}", time(tail)));
    let parts: Vec<String> = before.into_iter().chain(after).collect();
    if parts.is_empty() { String::new() } else { format!("; {}", parts.join(", and ")) }
}

impl fmt::Display for BoundReason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(
            &self.sentence(|time| if time.0 == 1 { "1 tick".to_owned() } else { format!("{time} ticks") }),
        )
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
    /// This reason is not known to bound schedules in two directions.
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
    Figures(BoundReason),
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
    /// The least time in it without a pass.
    #[must_use]
    pub fn idle(self) -> Ticks {
        self.length - self.work
    }
}

/// A repetition in the sets of states: after `after` microbatches, every state is later, by at least the growth, than
/// some state one period before with the same counts. The same then holds for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Repetition {
    /// The number of microbatches that have started.
    pub after: u32,
    /// The length of the repetition, in microbatches.
    pub period: u32,
    /// How much later every state is, in ticks.
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
