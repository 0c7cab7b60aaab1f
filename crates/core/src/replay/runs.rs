//! Orders under durations that differ from pass to pass: what a schedule would have taken in a run whose passes were
//! measured.

use super::layout::Layout;
use super::numbering::Numbering;
use super::{devices, rules, structure};
use crate::model::{Kind, Microbatch, Model, Pass, Stage, Ticks};
use crate::schedule::Schedule;
use crate::tasks::GraphError;

/// How long each pass takes, by stage and microbatch: F and R, I, W; and B as long as I and W together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassDurations {
    microbatches: u32,
    /// By stage and microbatch.
    times: Vec<[Ticks; 3]>,
}

impl PassDurations {
    /// The durations of F, I and W that `duration` gives for every stage and microbatch, in ticks.
    #[must_use]
    pub fn new(
        stages: u32,
        microbatches: u32,
        mut duration: impl FnMut(Stage, Microbatch) -> [Ticks; 3],
    ) -> Self {
        let cells =
            Stage::all(stages).flat_map(|stage| Microbatch::all(microbatches).map(move |of| (stage, of)));
        let times = cells.map(|(stage, microbatch)| duration(stage, microbatch)).collect();
        Self { microbatches, times }
    }

    /// The durations of a model, the same for every microbatch.
    #[must_use]
    pub fn of_model(model: &Model) -> Self {
        let times = |stage| [Kind::F, Kind::I, Kind::W].map(|kind| model.duration(stage, kind));
        Self::new(model.stages(), model.microbatches(), |stage, _| times(stage))
    }

    /// The number of stages.
    #[must_use]
    pub fn stages(&self) -> u32 {
        u32::try_from(self.times.len()).unwrap_or(u32::MAX) / self.microbatches.max(1)
    }

    /// The number of microbatches.
    #[must_use]
    pub const fn microbatches(&self) -> u32 {
        self.microbatches
    }

    /// How long a pass takes, in ticks.
    ///
    /// # Panics
    /// When there is no such stage or microbatch.
    #[must_use]
    pub fn of(&self, pass: Pass) -> Ticks {
        let [forward, input, weight] =
            self.times[pass.stage.index() * self.microbatches as usize + pass.microbatch.index()];
        match pass.kind {
            Kind::F | Kind::R => forward,
            Kind::I => input,
            Kind::W => weight,
            Kind::B => input + weight,
        }
    }
}

/// Why orders have no makespan under durations of their own for every pass.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The schedule cannot run, which [`replay`](super::replay) explains.
    #[error("the schedule cannot run")]
    CannotRun,
    /// Overlapped pairs, of which the durations of passes say nothing.
    #[error(
        "the schedule overlaps pairs of passes, and durations of passes do not say how long a pair takes"
    )]
    Overlaps,
    /// Durations of another pipeline.
    #[error(
        "run {run} has durations for {stages} stages and {microbatches} microbatches, and the schedule has {of_stages} and \
         {of_microbatches}"
    )]
    Size {
        /// The run, from 0.
        run: usize,
        /// The stages it has durations for.
        stages: u32,
        /// The microbatches it has durations for.
        microbatches: u32,
        /// The stages of the schedule.
        of_stages: u32,
        /// The microbatches of the schedule.
        of_microbatches: u32,
    },
    /// Durations that cannot be.
    #[error("run {run}: {error}")]
    Durations {
        /// The run, from 0.
        run: usize,
        /// What is wrong.
        error: GraphError,
    },
}

/// The makespan of these orders in each run, in ticks: the [task graph](super::task_graph) of the schedule under the
/// model, with the durations of the run in place of those of the model. Latencies, messages with their order, and the end of
/// the step are the model's, and so are the durations of R where the model says that they are [others than those of
/// F](Model::has_recompute_durations).
///
/// Whether the schedule is within the model's memory limits is not looked at: that does not depend on times.
///
/// # Errors
/// When the schedule cannot run, overlaps pairs, or a run is not one of this pipeline.
pub fn makespans(model: &Model, schedule: &Schedule, runs: &[PassDurations]) -> Result<Vec<Ticks>, RunError> {
    if schedule.overlap_count() > 0 {
        return Err(RunError::Overlaps);
    }
    let mut violations = structure::obstacles(model, schedule);
    if !violations.is_empty() {
        return Err(RunError::CannotRun);
    }
    let layout = Layout::under(model, schedule);
    structure::inspect(model, schedule, &layout, &mut violations);
    if !violations.is_empty() {
        return Err(RunError::CannotRun);
    }
    let numbering = Numbering::new(model, schedule, &layout);
    let mut graph = rules::task_graph(model, schedule, &layout, &numbering);
    let has_own = model.has_recompute_durations();
    let (of_stages, of_microbatches) = (model.stages(), schedule.microbatches());
    let mut makespans = Vec::with_capacity(runs.len());
    for (run, durations) in runs.iter().enumerate() {
        let (stages, microbatches) = (durations.stages(), durations.microbatches());
        if (stages, microbatches) != (of_stages, of_microbatches) {
            return Err(RunError::Size { run, stages, microbatches, of_stages, of_microbatches });
        }
        let mut times = graph.durations().to_vec();
        for (device, order) in devices(schedule) {
            for (at, &pass) in numbering.passes(&layout, device).zip(order) {
                if !(has_own && pass.kind == Kind::R) {
                    times[at] = durations.of(pass);
                }
            }
        }
        graph = graph.with_durations(times).map_err(|error| RunError::Durations { run, error })?;
        let execution = graph.execute().map_err(|_| RunError::CannotRun)?;
        makespans.push(execution.makespan(&graph));
    }
    Ok(makespans)
}
