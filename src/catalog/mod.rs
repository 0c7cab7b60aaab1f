//! The named schedules: what the literature and the frameworks call by a name, for any number of
//! devices and microbatches, any costs, and under the capacities of the model.
//!
//! A schedule is an order of passes for every device, so a name means orders; the times follow
//! from the costs. Where a schedule comes from a building block of unit-time passes, its orders are
//! those of that block whatever the costs are, as with the published schedulers.
//!
//! **Against the published rates.** Replayed under the profiles of the zero-bubble paper (arXiv
//! 2401.10241, Table 5), `1f1b`, `zb-h1` and `zb-h2` give its bubble rates to the four decimals
//! printed, and `zb-1p` and `zb-2p` are never above them. `interleaved-1f1b` is 2 to 4 % above: the
//! paper's rates for it are not those of a replay but of the closed form
//! `m*S + S(p-1)/v + (p(2v-1)-2)*T_comm` for the span of p devices with v chunks each, S = F+I+W. The
//! replayed order meets p latencies more, exactly, in each of the six settings.
//!
//! ```
//! use bubbleproof::{catalog, model::{Model, Placement}, replay::replay};
//!
//! let model = Model::unit(Placement::v(4)?, 12)?;
//! let schedule = catalog::find("v-half").expect("a known name").generate(&model)?;
//! let verdict = replay(&model, &schedule);
//! assert!(verdict.is_valid());
//! assert_eq!(verdict.peak_memory_max().0, 6);
//! assert!(verdict.peak_memory_max() <= catalog::one_f_one_b_memory(&model));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod adaptive;
mod blocks;
mod entries;
mod improve;
mod limited;
mod linear;
mod looped;
mod two_way;
mod v;

pub use blocks::block;
pub use entries::{V_ADAPTIVE, entries};
pub use limited::memory_limited;

use std::fmt;
use std::time::Duration;

use crate::kernel::{IndexedOrders, IndexedProblem, IndexedSchedule, device_peak, fewer_microbatches};
use crate::model::{Device, Model, Pass, Placement, Units};
use crate::schedule::{Provenance, Schedule};
use crate::stop::Stop;

/// A named schedule.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// The name, as commands take it.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub summary: &'static str,
    /// Where it was described.
    pub source: &'static str,
    /// The placement it is made for.
    pub needs: Needs,
    /// The peak memory of its device `i` with enough microbatches, as a formula.
    pub memory: &'static str,
    /// The time it leaves a device idle between its first start and its last end, as a formula.
    pub bubble: &'static str,
    build: Build,
}

/// How the orders of an entry are made.
#[derive(Debug, Clone, Copy)]
enum Build {
    /// Any model of the right placement has them.
    Always(fn(&Model) -> Schedule),
    /// Some models of the right placement have none.
    Where(fn(&Model) -> Result<Schedule, CatalogError>),
    /// Any model of the right placement has them, and they take some improving, which may be stopped.
    Improved(fn(&Model, &Stop) -> IndexedSchedule),
    /// As `Improved`, where there is room; and the same in moments, without improving it.
    Within(
        fn(&Model, &Stop) -> Result<IndexedSchedule, CatalogError>,
        fn(&Model) -> Result<IndexedSchedule, CatalogError>,
    ),
}

/// What an entry makes of a model: passes as they are written down, or indexed where they have been improved.
#[derive(Debug, Clone)]
pub(crate) enum Proposal {
    /// As written down.
    Written(Schedule),
    /// As improved.
    Improved(IndexedSchedule),
}

impl Proposal {
    /// The number of passes.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Written(schedule) => schedule.len(),
            Self::Improved(indexed) => indexed.len(),
        }
    }

    /// The passes of every device.
    pub(crate) fn schedule(self, model: &Model) -> Schedule {
        match self {
            Self::Written(schedule) => schedule,
            Self::Improved(indexed) => indexed.schedule(model),
        }
    }

    /// The same in the numbers of a split problem, if it recomputes just what the problem does.
    pub(crate) fn split(&self, problem: &IndexedProblem) -> Option<IndexedOrders> {
        match self {
            Self::Written(schedule) => problem.split_orders(schedule),
            Self::Improved(indexed) => problem.split_indexed(indexed),
        }
    }

    fn peak(&self, model: &Model, device: Device) -> Units {
        match self {
            Self::Written(schedule) => device_peak(model, schedule, device),
            Self::Improved(IndexedSchedule { problem, orders }) => {
                Units(problem.peak_of(&orders[device.index()]))
            }
        }
    }
}

/// The placement that a schedule is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// Any placement.
    Any,
    /// One stage per device, in order.
    Linear,
    /// Stage `s` on device `s mod d`, one chunk or more.
    Looped,
    /// Two chunks per device, down and back up.
    V,
    /// A stage of either of two pipelines in opposite directions on each device.
    Bidirectional,
}

impl Needs {
    /// Whether schedules that need this are pointless on a placement that has it: those that interleave chunks, where
    /// each device has one stage. `interleaved-1f1b` is then `eager-1f1b`, and `looped-bfs` is `gpipe`.
    #[must_use]
    pub fn is_degenerate_on(self, placement: &Placement) -> bool {
        self == Self::Looped && placement.chunks() == Some(1)
    }

    /// Whether a placement is of this kind. Placements of one device are of several kinds.
    #[must_use]
    pub fn met_by(self, placement: &Placement) -> bool {
        let same = |other: Result<Placement, _>| other.is_ok_and(|other| other == *placement);
        let devices = placement.devices();
        match self {
            Self::Any => true,
            Self::Linear => same(Placement::linear(devices)),
            Self::Looped => placement.chunks().is_some_and(|chunks| same(Placement::looped(devices, chunks))),
            Self::V => same(Placement::v(devices)),
            Self::Bidirectional => same(Placement::bidirectional(devices)),
        }
    }
}

impl fmt::Display for Needs {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Any => "any",
            Self::Linear => "linear",
            Self::Looped => "looped",
            Self::V => "v",
            Self::Bidirectional => "bidirectional",
        })
    }
}

/// Why a schedule of the catalogue does not exist for a model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CatalogError {
    /// It is made for another placement.
    #[error("`{name}` is a schedule for {needs} placement, but the model's is {has}")]
    NotThisPlacement {
        /// The name of the schedule.
        name: &'static str,
        /// The placement it is made for.
        needs: Needs,
        /// The form of the model's.
        has: crate::model::Shape,
    },
    /// It is made for an even number of devices.
    #[error("`{name}` needs an even number of devices, not {devices}")]
    OddDevices {
        /// The name of the schedule.
        name: &'static str,
        /// The number of devices.
        devices: u32,
    },
    /// It holds more than a device has room for.
    #[error("{}", self.in_words(|units| format!("{units} units")))]
    OverCapacity {
        /// The name of the schedule.
        name: &'static str,
        /// The first device where it does.
        device: Device,
        /// What it holds there at its peak, in units, weights included.
        holds: Units,
        /// The capacity of the device, in units, likewise.
        capacity: Units,
    },
    /// Not one microbatch fits.
    #[error(
        "`{name}` may hold {limit} units on device {device}, but one microbatch of its stage holds {activation}"
    )]
    NoRoom {
        /// The name of the schedule.
        name: &'static str,
        /// The device.
        device: Device,
        /// The most it may hold, in units.
        limit: Units,
        /// What one microbatch holds there, in units.
        activation: Units,
    },
    /// There is not one memory limit for each device.
    #[error("there are {found} memory limits, but the model has {devices} devices")]
    Limits {
        /// How many limits there are.
        found: usize,
        /// How many devices.
        devices: u32,
    },
    /// It recomputes, and the model does not say what a checkpoint holds.
    #[error("`{0}` recomputes, but the model has no [recompute] table that says what a checkpoint holds")]
    RecomputeUnknown(&'static str),
    /// It was time to stop before there was any schedule of this name.
    #[error("there was no time to make `{0}`")]
    Stopped(&'static str),
}

impl CatalogError {
    /// All of it in a sentence, where amounts of memory are written by a function.
    #[must_use]
    pub fn in_words(&self, memory: impl Fn(Units) -> String) -> String {
        let Self::OverCapacity { name, device, holds, capacity } = self else { return self.to_string() };
        let [holds, capacity] = [*holds, *capacity].map(memory);
        format!("`{name}` holds {holds} on device {device}, more than its limit of {capacity}")
    }
}

impl Entry {
    /// The name of the schedule that the entry is on a placement. Where it [interleaves](Needs::is_degenerate_on) the chunks of devices
    /// that have one each, it is one of those for linear placement.
    pub(crate) fn name_on(&self, placement: &Placement) -> &'static str {
        match self.name {
            name if !self.needs.is_degenerate_on(placement) => name,
            "looped-bfs" => "gpipe",
            "interleaved-1f1b-uniform" => "eager-1f1b, improved",
            _ => "eager-1f1b",
        }
    }

    /// The schedule of this name for a model.
    ///
    /// # Errors
    /// When it is made for another placement, does not fit the capacities of the model, or recomputes
    /// under a model that knows no checkpoints. Workspaces and buffers of the model play no part: whether it fits with them,
    /// replay tells.
    pub fn generate(&self, model: &Model) -> Result<Schedule, CatalogError> {
        self.generate_until(model, &Stop::default())
    }

    /// As [`generate`](Self::generate), but the improvement of warm-up and cool-down ends when it is time to
    /// stop: the schedule is then a longer one of the same memory.
    ///
    /// # Errors
    /// As [`generate`](Self::generate).
    pub fn generate_until(&self, model: &Model, stop: &Stop) -> Result<Schedule, CatalogError> {
        let model = &*model.with_kept_memory();
        let mut schedule = self.propose(model, None, stop)?.schedule(model);
        if model.recomputes_in_backward() {
            schedule = schedule.with_recomputation_in_backward();
        }
        schedule.name = Some(self.name.to_owned());
        schedule.model = Some(model.name().to_owned());
        schedule.provenance = Some(Provenance {
            tool: concat!("bubbleproof ", env!("CARGO_PKG_VERSION")).to_owned(),
            engine: self.name.to_owned(),
            ..Provenance::default()
        });
        Ok(schedule)
    }

    /// A schedule of this name in time that grows with the number of passes alone: not improved, and so perhaps longer
    /// than what [`generate`](Self::generate) gives.
    ///
    /// # Errors
    /// As [`generate`](Self::generate).
    pub(crate) fn unimproved(&self, model: &Model) -> Result<Proposal, CatalogError> {
        let model = &*model.with_kept_memory();
        let now = Stop::after(Duration::ZERO);
        self.check_placement(model)?;
        let proposal = match self.build {
            Build::Always(build) => Proposal::Written(build(model)),
            Build::Where(build) => Proposal::Written(build(model)?),
            Build::Improved(build) => Proposal::Improved(build(model, &now)),
            Build::Within(_, at_once) => Proposal::Improved(at_once(model)?),
        };
        self.within_capacity(model, proposal)
    }

    /// Whether a model of the right placement has a schedule of this name, as far as that can be told without making
    /// it.
    ///
    /// # Errors
    /// As [`generate`](Self::generate), for all reasons but memory.
    pub fn check(&self, model: &Model) -> Result<(), CatalogError> {
        self.check_placement(model)?;
        match self.build {
            // Whether there is one does not depend on how many microbatches there are.
            Build::Where(build) => model.with_microbatches(1).map_or(Ok(()), |one| build(&one).map(|_| ())),
            Build::Always(_) | Build::Improved(_) | Build::Within(..) => Ok(()),
        }
    }

    /// Whether what this entry makes takes improving, and so time.
    #[must_use]
    pub const fn takes_improving(&self) -> bool {
        matches!(self.build, Build::Improved(_) | Build::Within(..))
    }

    fn check_placement(&self, model: &Model) -> Result<(), CatalogError> {
        let (name, needs) = (self.name, self.needs);
        if needs.met_by(model.placement()) {
            return Ok(());
        }
        Err(CatalogError::NotThisPlacement { name, needs, has: model.placement().shape() })
    }

    /// As [`generate_until`](Self::generate_until), without a name; what it proposes for
    /// [fewer](fewer_microbatches) microbatches of the model may be known already.
    pub(crate) fn propose(
        &self,
        model: &Model,
        few: Option<&Proposal>,
        stop: &Stop,
    ) -> Result<Proposal, CatalogError> {
        self.check_placement(model)?;
        let proposal = match self.build {
            Build::Always(build) => Proposal::Written(build(model)),
            Build::Where(build) => Proposal::Written(build(model)?),
            Build::Improved(build) => unrolled(model, few, |model| Ok(build(model, stop)))?,
            Build::Within(build, _) => unrolled(model, few, |model| build(model, stop))?,
        };
        self.within_capacity(model, proposal)
    }

    /// The proposal, if it keeps to the capacities of the model.
    fn within_capacity(&self, model: &Model, proposal: Proposal) -> Result<Proposal, CatalogError> {
        for device in Device::all(model.devices()) {
            let Some(capacity) = model.activation_capacity(device) else { continue };
            let holds = proposal.peak(model, device);
            if capacity < holds {
                let weights = model.resident(device);
                let (holds, capacity) = (holds + weights, capacity + weights);
                return Err(CatalogError::OverCapacity { name: self.name, device, holds, capacity });
            }
        }
        Ok(proposal)
    }
}

/// The schedule with this name, [`V_ADAPTIVE`] among them.
#[must_use]
pub fn find(name: &str) -> Option<&'static Entry> {
    entries().iter().chain([&V_ADAPTIVE]).find(|entry| entry.name == name)
}

/// What 1F1B holds for the same model on its fullest device: d microbatches of everything that a
/// device holds, the largest over devices. With equal stages that is d stage activations for linear
/// placement, and d times the chunks for V and looped placement; the weights are included. The measure behind "half of
/// 1F1B's memory".
#[must_use]
pub fn one_f_one_b_memory(model: &Model) -> Units {
    let needed = |device| {
        let held = model.placement().stages_of(device).iter().map(|&stage| model.activation(stage));
        // Where there are two directions, a microbatch goes through one of the stages.
        let per_microbatch: Units = match model.placement().directions() {
            1 => held.sum(),
            _ => held.max().unwrap_or_default(),
        };
        per_microbatch * i64::from(model.devices()) + model.resident(device)
    };
    Device::all(model.devices()).map(needed).max().unwrap_or_default()
}

/// Improving warm-up and cool-down takes long for many microbatches, and the steady phase between them is always the
/// same: the schedule is made from fewer, if those have such a phase to repeat.
fn unrolled(
    model: &Model,
    known: Option<&Proposal>,
    build: impl Fn(&Model) -> Result<IndexedSchedule, CatalogError>,
) -> Result<Proposal, CatalogError> {
    if let Some(few) = fewer_microbatches(model).and_then(|fewer| model.with_microbatches(fewer).ok()) {
        let unrolled = match known {
            Some(Proposal::Improved(known)) if known.problem.microbatches() == few.microbatches() => {
                known.unrolled(model.microbatches())
            }
            _ => build(&few)?.unrolled(model.microbatches()),
        };
        if let Some(unrolled) = unrolled {
            return Ok(Proposal::Improved(unrolled));
        }
    }
    build(model).map(Proposal::Improved)
}

/// A schedule of orders that were made for the model.
fn schedule(model: &Model, orders: Vec<Vec<Pass>>) -> Schedule {
    Schedule::new(model.placement().clone(), model.microbatches(), orders)
        .expect("one order for each device, and no more passes than the model has")
}

#[cfg(test)]
mod tests;
