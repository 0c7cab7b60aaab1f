//! From orders of passes to sends and receives, and what to do with orders that cannot run.
//!
//! [`lower`] makes a communication plan of any schedule that can run, and [`nearest`] moves passes where devices
//! wait for each other. Both only propose: a plan is safe when [`comm::verify`](crate::comm::verify) finds
//! nothing wrong with it, and a schedule is valid when [`replay`](crate::replay) says so. [`verified_plan`] and
//! [`nearest_valid`] ask them at once.
//!
//! ```
//! use bubbleproof::comm::{self, Semantics};
//! use bubbleproof::lowering::lower;
//! use bubbleproof::model::Placement;
//! use bubbleproof::schedule::Schedule;
//!
//! let read = |order: &str| order.split(' ').map(str::parse).collect::<Result<Vec<_>, _>>();
//! let orders = vec![read("0F0 0B0")?, read("1F0 1B0")?];
//! let plan = lower(&Schedule::new(Placement::linear(2)?, 1, orders)?)?;
//!
//! assert!(comm::verify(&plan).is_empty());
//! assert!(Semantics::ALL.into_iter().all(|semantics| comm::deadlock(&plan, semantics).is_none()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod checked;
mod gathers;
mod lower;
mod nearest;
mod numbered;

pub use checked::{LoweringError, nearest_valid, verified_plan, verified_plan_gathering};
pub use gathers::gathers_by_rule;
pub use lower::{Unlowerable, lower, lower_gathering};
pub use nearest::{Displaced, Nearest, nearest};
pub use numbered::numbered;

#[cfg(test)]
mod tests;
