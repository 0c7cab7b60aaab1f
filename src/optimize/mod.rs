//! Optimisation: the best schedule under the caps, and how far from the best it can be.
//!
//! Candidates come from the catalogue, from optimal building blocks, and from list scheduling along
//! their forwards; the best are improved by filling gaps. All of that only proposes: the answer is
//! what `replay` says of it, and the bound is `certificate`'s.

pub mod explain;
mod feasible;
pub mod frontier;
mod list;
mod pace;
mod plan;
mod search;
mod stop;
pub mod zone;

use std::time::Duration;

use num_rational::Ratio;

pub use feasible::Infeasible;
pub use pace::steady_interval;
pub use stop::{Interrupt, Stop};

use crate::block::Block;
use crate::certificate::{Bound, Certificate, Metric, Optimality, lower_bound};
use crate::model::{Model, Ticks};
use crate::replay::{Verdict, replay};
use crate::schedule::{Provenance, Schedule};

/// What to minimise. The other one decides between equals, then the peak memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Objective {
    /// The last end over all devices.
    #[default]
    Makespan,
    /// The largest, over devices, of last end minus first start.
    Span,
}

impl Objective {
    /// The metric that is minimised.
    #[must_use]
    pub const fn metric(self) -> Metric {
        match self {
            Self::Makespan => Metric::Makespan,
            Self::Span => Metric::DeviceSpan,
        }
    }
}

/// How to search.
#[derive(Debug, Clone)]
pub struct Options {
    /// What to minimise.
    pub objective: Objective,
    /// When to stop with the best schedule found so far: the step in hand is ended first. A search
    /// that ends before is the same every time.
    pub time_limit: Duration,
    /// Ends the search as the time limit does.
    pub interrupt: Interrupt,
    /// Decides between choices that nothing else decides.
    pub seed: u64,
    /// How many passes are placed in all, over all candidates, before the search ends by itself.
    pub effort: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            objective: Objective::default(),
            time_limit: Duration::from_secs(60),
            interrupt: Interrupt::default(),
            seed: 0,
            effort: 30_000_000,
        }
    }
}

/// Where a search stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// What is being tried.
    pub step: String,
    /// The best value so far.
    pub best: Option<Ticks>,
    /// No schedule is better than this.
    pub bound: Ticks,
}

/// A schedule that keeps to the caps, replayed, with a lower bound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Solution {
    /// The schedule.
    pub schedule: Schedule,
    /// What replay says of it: valid, with its times.
    pub verdict: Verdict,
    /// No schedule under the caps is better than this.
    pub bound: Bound,
    /// The building block it came from, directly or by the order of its forwards, if from one.
    pub block: Option<Block>,
    /// What found it.
    pub engine: String,
    objective: Objective,
}

impl Solution {
    /// What was minimised, as replay measures it.
    #[must_use]
    pub fn value(&self) -> Ticks {
        let timing = self.verdict.timing.as_ref();
        timing.map_or(Ticks::ZERO, |timing| match self.objective {
            Objective::Makespan => timing.metrics.makespan,
            Objective::Span => timing.metrics.device_span,
        })
    }

    /// How much longer the schedule is than the bound, as a share of the bound.
    #[must_use]
    pub fn gap(&self) -> Ratio<i128> {
        let (value, bound) = (i128::from(self.value().0), i128::from(self.bound.value.0.max(1)));
        Ratio::new(value - bound, bound)
    }

    /// Whether the bound proves that no schedule is better.
    #[must_use]
    pub fn is_optimal(&self) -> bool {
        self.value() == self.bound.value
    }

    /// The solution with its certificate in the schedule.
    fn certified(mut self, model: &Model) -> Self {
        let optimality = if self.is_optimal() { Optimality::Bound } else { Optimality::Open };
        let Self { schedule, verdict, bound, objective, .. } = &self;
        let certificate = Certificate::of(model, schedule, verdict, objective.metric(), bound, optimality);
        self.schedule.certificate = certificate.map(|certificate| certificate.to_json());
        self
    }

    /// The time per microbatch that the replayed schedule keeps in its steady phase, in ticks, if it
    /// has one: in the middle third of the microbatches, every pass follows the same pass one (two,
    /// three, four) microbatches before at one and the same distance.
    #[must_use]
    pub fn interval(&self) -> Option<Ratio<i64>> {
        steady_interval(&self.schedule, self.verdict.timing.as_ref()?)
    }
}

/// Why there is no solution.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OptimizeError {
    /// No schedule keeps to the caps.
    #[error(transparent)]
    Infeasible(#[from] Infeasible),
    /// The search proposed a schedule that replay rejects: a defect of this program.
    #[error("internal error: {engine} proposed a schedule that replay rejects: {reason}")]
    Rejected {
        /// What proposed it.
        engine: String,
        /// What replay said.
        reason: String,
    },
}

/// The best schedule found under the model's caps.
///
/// Any caps that a serial execution keeps to give a schedule. Unless the time limit comes first, the
/// result is never worse than a schedule of the catalogue that keeps to the caps.
///
/// # Errors
/// When the caps are too small for one microbatch alone.
pub fn optimize(
    model: &Model,
    options: &Options,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Solution, OptimizeError> {
    feasible::check(model)?;
    let bound = lower_bound(model, options.objective.metric());
    let stop = Stop::on(options.interrupt.clone()).within(options.time_limit);
    let mut search = search::Search::new(model, options, bound.value, stop, progress);
    search.run();
    let search::Best { schedule, engine, block } = search.into_best();

    let verdict = replay(model, &schedule);
    if !verdict.is_valid() {
        let reason = verdict.violations.first().map_or_else(String::new, ToString::to_string);
        return Err(OptimizeError::Rejected { engine, reason });
    }
    let mut schedule = schedule.named("optimized");
    schedule.model = Some(model.name().to_owned());
    schedule.provenance = Some(Provenance {
        tool: concat!("bubbleproof ", env!("CARGO_PKG_VERSION")).to_owned(),
        engine: engine.clone(),
        ..Provenance::default()
    });
    let solution = Solution { schedule, verdict, bound, block, engine, objective: options.objective };
    Ok(solution.certified(model))
}
