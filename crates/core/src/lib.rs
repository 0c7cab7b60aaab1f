//! The trusted base of bubbleproof: what a pipeline is, what a schedule is, and what is true of it.
//!
//! Everything else in bubbleproof proposes; this crate disposes. It reads a [`model`] and a [`schedule`],
//! executes the schedule ([`replay`], as a graph of [`tasks`]), checks its communication plan ([`comm`]), and derives every claim of a
//! [`certificate`] again. It has no feature, no thread, no clock, no randomness, and prints nothing. Times
//! are integer ticks, amounts of memory integer units; there is no floating point.
//!
//! ```
//! use bubbleproof_core::model::{Model, Placement};
//! use bubbleproof_core::replay::replay;
//! use bubbleproof_core::schedule::Schedule;
//!
//! // Two devices, one stage each; all passes take one tick; one microbatch.
//! let model = Model::unit(Placement::linear(2)?, 1)?;
//! let orders = ["0F0 0I0 0W0", "1F0 1I0 1W0"];
//! let parse = |order: &str| order.split(' ').map(str::parse).collect();
//! let orders = orders.into_iter().map(parse).collect::<Result<Vec<_>, _>>()?;
//! let schedule = Schedule::new(model.placement().clone(), 1, orders)?;
//!
//! let verdict = replay(&model, &schedule);
//! assert!(verdict.is_valid());
//! assert_eq!(verdict.timing.expect("a valid schedule is timed").metrics.makespan.0, 5);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod certificate;
pub mod comm;
pub mod job;
pub mod model;
pub mod replay;
pub mod schedule;
pub mod tasks;
pub mod text;
