//! Plans: what to choose of a job, how to cut its layers into stages, and in which order the passes run.
//!
//! [`optimize_cut`] cuts the layers that follow from one choice, together with the schedule; [`plan`] compares all choices that
//! a job leaves open. Both propose. What they say is then true of the schedule as replay measures it, and of all cuts
//! and choices as the [certificate](crate::certificate) derives it.
//!
//! ```
//! use bubbleproof::job;
//! use bubbleproof::optimize::Options;
//! use bubbleproof::plan::{Partition, optimize_cut};
//!
//! let job = job::parse(
//!     r#"
//!     name = "small"
//!     layers = ["6 block", "head"]
//!     [layer.block]
//!     forward = 3
//!     backward_input = 4
//!     backward_weight = 2
//!     [layer.head]
//!     forward = 6
//!     backward_input = 7
//!     backward_weight = 6
//!     [machine]
//!     devices = 2
//!     [choices]
//!     global_batch = 4
//!     pipeline = 2
//!     "#,
//! )?;
//! let layers = job.layers(&job.choices()?[0])?;
//! let best = optimize_cut(&layers, &Partition::Auto, &Options::default(), &mut |_| ())?;
//! assert_eq!(best.cut.to_string(), "4,3");
//! assert!(best.no_cut_below <= best.solution.value());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod candidates;
mod cuts;
mod explore;
mod figures;
mod naive;
mod named;
mod results;
mod seeds;
mod shard;
mod space;

pub use cuts::{CutProgress, CutSolution, Partition, PlanError, optimize_cut};
pub use explore::{plan, plan_shard};
pub use figures::{Figures, model_operations};
pub use naive::NaivePlan;
pub use named::{cut_for, cut_for_schedule};
pub use results::{NotBelieved, Refused, Results, Tally, build};
pub use shard::{NoShard, Shard};
pub use space::{Alternative, Outcome, Plan, PlanProgress};

#[cfg(test)]
mod tests;
