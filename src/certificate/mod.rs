//! Lower bounds on what any schedule can reach, each a figure that can be recomputed by hand.
//!
//! No solver and no search: like `replay`, this module shares nothing with what proposes schedules.

mod bound;
mod path;

pub use bound::{Bound, Metric, Reason, Window, interval_bound, lower_bound};
pub use path::critical_path;
