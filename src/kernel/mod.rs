//! One indexed form of schedules, and the three algorithms over it that the catalogue and the optimiser share:
//!
//! - the **ASAP pass**: orders in, the earliest end of every pass out ([`asap`]);
//! - the **gap filler**: idle time is filled with later passes, within limits on memory ([`fill_gaps`]);
//! - the **list scheduler**: time goes forward, and a policy says what each free device starts.
//!
//! | what | where |
//! | --- | --- |
//! | `IndexedProblem`, `IndexedPass`, `IndexedOrders`: the passes of a pipeline by number | `problem` |
//! | from schedules to the indexed form and back | `convert` |
//! | the ASAP pass: `EndTimes` | `asap` |
//! | the device span, and times that have it | `span` |
//! | the gap filler | `gaps` |
//! | the list scheduler: `Policy`, `PartialSchedule` | `list` |
//! | unrolling: the steady phase of few microbatches repeated for many | `unroll` |
//! | what passes acquire and release | `memory` |
//!
//! All of it proposes and nothing here decides: the answer is what `replay` says of a schedule. `replay` has its own
//! executor, which shares nothing with this one; tests compare the two.
//!
//! ```
//! use bubbleproof::{catalog, kernel, model::{Model, Placement}, stop::Stop};
//!
//! let model = Model::unit(Placement::v(4)?, 12)?;
//! let block = catalog::block("v-min", model.placement()).expect("V placement");
//! let schedule = block.expand(&model, 12)?;
//! let before = kernel::asap(&model, &schedule)?;
//! let (_, after) = kernel::fill_gaps(&model, &schedule, &block.steady_peak(&model), &Stop::default())?;
//! assert!(after.makespan(&model) <= before.makespan(&model));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod asap;
mod convert;
mod gaps;
mod list;
mod memory;
mod problem;
mod span;
mod timeline;
mod unroll;

pub use timeline::{Stuck, Timeline, asap, fill_gaps, within_device_span};

pub(crate) use asap::EndTimes;
pub(crate) use convert::IndexedSchedule;
pub(crate) use gaps::{GapFiller, Lookahead};
pub(crate) use list::{PartialSchedule, Policy, list_schedule};
#[cfg(test)]
pub(crate) use memory::order_peak;
pub(crate) use memory::{acquired, device_peak, released};
pub(crate) use problem::{IndexedOrders, IndexedPass, IndexedProblem, class, reverse};
pub(crate) use unroll::{Segment, fewer_microbatches, unroll};

#[cfg(test)]
mod tests;
