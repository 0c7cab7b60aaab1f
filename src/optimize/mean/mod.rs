//! Orders with a short mean makespan over measured runs.
//!
//! The optimum for some durations may be a poor order for others. Where passes were measured, every run is a case of its
//! own: each pass takes what it took. The mean makespan over these cases is what is minimised, among the named schedules, the
//! schedule that [`optimize`] finds for the medians, and what random changes make of the best of them.
//!
//! Every makespan is that of the [task graph](crate::replay::makespans), in integers, and the mean is an exact fraction. No
//! lower bound is known: the result is the best found.

mod climb;

use num_rational::Ratio;

use super::replayed::ReplayedSchedule;
use super::{OptimizeError, Options, Progress, of_optimize, optimize};
use crate::catalog;
use crate::certificate::Objective;
use crate::model::{BeyondPasses, Costs, Kind, Microbatch, Model, ModelError, Pass, Stage, Ticks};
use crate::replay::{PassDurations, RunError, Verdict, makespans};
use crate::schedule::Schedule;
use climb::Climb;

/// Orders with their makespans over runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Measured {
    /// The orders.
    pub schedule: Schedule,
    /// What replay says of them under the model of the medians: valid, memory limits included.
    pub verdict: Verdict,
    /// What found them.
    pub engine: String,
    /// By run: the makespan in ticks.
    pub makespans: Vec<Ticks>,
}

impl Measured {
    /// The makespans of all runs together, in ticks.
    #[must_use]
    pub fn total(&self) -> i128 {
        self.makespans.iter().map(|makespan| i128::from(makespan.0)).sum()
    }

    /// The mean makespan, in ticks.
    ///
    /// # Panics
    /// When there is no run, which no result of [`shortest_mean`] has.
    #[must_use]
    pub fn mean(&self) -> Ratio<i128> {
        Ratio::new(self.total(), self.makespans.len() as i128)
    }
}

/// What [`shortest_mean`] found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeanSolution {
    /// The orders with the shortest mean makespan: none of the others is shorter.
    pub best: Measured,
    /// The schedule that [`optimize`] finds for the medians.
    pub of_medians: Measured,
    /// The named schedules that are valid for the model.
    pub named: Vec<Measured>,
    /// Whether the search was told to stop before it ended by itself.
    pub is_cut_short: bool,
}

/// Why there is no mean.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MeanError {
    /// No run.
    #[error("there is no measured run to take a mean over")]
    NoRun,
    /// Tables that say what measured passes do not.
    #[error("the durations of measured passes do not say what {0} says")]
    BeyondPasses(BeyondPasses),
    /// Runs of another pipeline.
    #[error(transparent)]
    Run(#[from] RunError),
    /// Medians that make no model.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// No schedule for the medians.
    #[error(transparent)]
    Optimize(#[from] OptimizeError),
}

/// The same pipeline, in which each pass takes the median of what it took in all runs and for all microbatches: the least value
/// that half of them do not exceed. Latencies are the model's, and so must be the unit of the runs.
///
/// # Errors
/// When there is no run, or the medians make no model.
pub fn of_medians(model: &Model, runs: &[PassDurations]) -> Result<Model, MeanError> {
    if runs.is_empty() {
        return Err(MeanError::NoRun);
    }
    let median = |stage: Stage, kind: Kind| {
        let of = |run: &PassDurations, microbatch| run.of(Pass::new(stage, kind, microbatch));
        let microbatches = |run: &PassDurations| Microbatch::all(run.microbatches());
        let all = runs.iter().flat_map(|run| microbatches(run).map(move |microbatch| of(run, microbatch)));
        let mut all: Vec<Ticks> = all.collect();
        all.sort_unstable();
        all[(all.len() - 1) / 2]
    };
    for (run, durations) in runs.iter().enumerate() {
        let (stages, microbatches) = (durations.stages(), durations.microbatches());
        let (of_stages, of_microbatches) = (model.stages(), model.microbatches());
        if (stages, microbatches) != (of_stages, of_microbatches) {
            return Err(RunError::Size { run, stages, microbatches, of_stages, of_microbatches }.into());
        }
    }
    let list = |kind| Stage::all(model.stages()).map(|stage| median(stage, kind)).collect();
    let costs = Costs {
        forward: list(Kind::F),
        backward_input: list(Kind::I),
        backward_weight: list(Kind::W),
        ..model.costs().clone()
    };
    Ok(model.with_costs(costs)?)
}

/// The orders with the shortest mean makespan over runs that is found within the model's memory limits. For a seed, a search
/// that ends by itself finds the same every time.
///
/// Placement, latencies and memory are the model's, durations those of the runs, in the same unit.
///
/// # Errors
/// When there is no run or one of another pipeline, when the model has two directions or says more than passes and latencies,
/// or when no schedule fits into memory.
pub fn shortest_mean(
    model: &Model,
    runs: &[PassDurations],
    options: &Options,
    progress: &mut dyn FnMut(&Progress),
) -> Result<MeanSolution, MeanError> {
    if let Some(tables) = model.beyond_passes() {
        return Err(MeanError::BeyondPasses(tables));
    }
    if model.placement().directions() > 1 {
        return Err(OptimizeError::TwoDirections.into());
    }
    let model = &of_medians(model, runs)?;
    let measured = |schedule: Schedule, engine: String| -> Result<Measured, MeanError> {
        let replayed = ReplayedSchedule::new(model, Objective::Makespan, schedule, engine)?;
        let makespans = makespans(model, &replayed.schedule, runs)?;
        let ReplayedSchedule { schedule, verdict, engine, .. } = replayed;
        Ok(Measured { schedule, verdict, engine, makespans })
    };
    let share = Options { stop: options.stop.within(options.stop.remaining() / 2), ..options.clone() };
    let share = Options { objective: Objective::Makespan, use_all_time: false, ..share };
    let solution = optimize(model, &share, progress)?;
    let mut is_cut_short = solution.is_cut_short;
    let of_medians = measured(solution.schedule, solution.engine)?;
    let named = catalog::entries().iter().filter_map(|entry| {
        let schedule = entry.generate_until(model, &options.stop).ok()?;
        // Those that do not fit, and overlapped pairs, play no part.
        measured(schedule, entry.name_on(model.placement()).to_owned()).ok()
    });
    let named: Vec<Measured> = named.collect();
    let mut starts: Vec<&Measured> = named.iter().chain([&of_medians]).collect();
    starts.sort_by_key(|start| start.total());
    let mut best = starts[0].clone();
    let mut report = |best: &Measured| {
        let mean = Ticks(i64::try_from(best.mean().to_integer()).unwrap_or(i64::MAX));
        let step = "changing orders for a shorter mean".to_owned();
        progress(&Progress { step, best: Some(mean), bound: Ticks::ZERO, is_inner: false });
    };
    report(&best);
    let tried = starts.len().min(MOST_STARTS);
    let effort = options.effort / EFFORT_PER_REPLAYED_PASS / tried;
    for (at, start) in (0..).zip(starts.into_iter().take(tried)) {
        let stop = options.stop.within(options.stop.remaining() / (u32::try_from(tried).unwrap_or(1) - at));
        let climb = Climb { model, runs, passes_left: effort, stop };
        let found = climb.from(start, options.seed.wrapping_add(u64::from(at)));
        if found.total() < best.total() {
            best = found;
            report(&best);
        }
    }
    is_cut_short |= options.stop.is_due();
    best.schedule = of_optimize(best.schedule, model, &best.engine);
    best.schedule.certificate = None;
    Ok(MeanSolution { best, of_medians, named, is_cut_short })
}

/// From how many of the best schedules that are there at once the search begins.
const MOST_STARTS: usize = 3;

/// To replay a pass takes about as long as to place so many.
const EFFORT_PER_REPLAYED_PASS: usize = 20;

#[cfg(test)]
mod tests;
