//! What can be read off a schedule whose passes have times: critical path, slack, phases, steady interval,
//! utilisation, lifespans, and what runs beside the passes.
//!
//! Everything here is computed from a model, a schedule and the times that [`replay`](crate::replay) gives it
//! (or, where a function takes [`Span`]s, from times that were measured). Nothing is searched for and nothing is
//! proposed, so `draw`, `trace`, `regress` and the commands use this module without the optimiser. All of it is
//! in integers and exact rationals.
//!
//! ```
//! use bubbleproof::analysis::{critical_path, slack, steady_interval};
//! use bubbleproof::catalog;
//! use bubbleproof::model::{Model, Placement, Ticks};
//! use bubbleproof::replay::replay;
//! use num_rational::Ratio;
//!
//! let model = Model::equal_stages(Placement::linear(4)?, 40, [1, 1, 1, 0])?;
//! let schedule = catalog::find("1f1b").expect("it is in the catalogue").generate(&model)?;
//! let timing = replay(&model, &schedule).timing.expect("1F1B can run");
//!
//! let path = critical_path(&model, &schedule, &timing);
//! assert_eq!(path.last().map(|step| step.end), Some(timing.metrics.makespan));
//! assert_eq!(steady_interval(&schedule, &timing), Some(Ratio::from_integer(3)));
//! // The first forward of the first device is on the critical path: it must not be late.
//! assert_eq!(slack(&model, &schedule, &timing)[0][0], Ticks::ZERO);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod delays;
mod interval;
mod lanes;
mod lifespan;
mod path;
mod phases;
mod places;
mod recomputation;
mod section;
mod sensitivity;
mod slack;
mod span;
mod utilisation;

pub use delays::Delays;
pub use interval::steady_interval;
pub use lanes::{Engine, Job, Lane, Subject, Work, lanes, optimizer_steps};
pub use lifespan::longest_lifespans;
pub use path::{Step, Waits, critical_path};
pub use phases::{Phase, Phases};
pub use recomputation::Recomputation;
pub use section::{Section, sections};
pub use sensitivity::{Part, Sensitivity, sensitivities};
pub use slack::slack;
pub use span::{Span, spans};
pub use utilisation::{Utilisation, bubble_rate, longest_span, measured_metrics};

pub(crate) use places::{Places, latency};

#[cfg(test)]
mod tests;
