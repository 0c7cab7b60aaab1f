//! What a plan is worth: samples per second, and how much of the machine's speed it uses.

use num_rational::Ratio;

use crate::job::{Choice, Job};
use crate::model::Ticks;

/// Figures of a plan, exact. Those that the job does not allow to tell are missing.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Figures {
    /// Samples per second over the whole machine; none where ticks are not nanoseconds.
    pub samples_per_second: Option<Ratio<i128>>,
    /// Model FLOPs utilisation: the floating-point operations of the model's F, I and W over what all devices could do in the
    /// time. Recomputation does not count. None where the job states no operations or no peak.
    pub utilisation: Option<Ratio<i128>>,
}

impl Figures {
    /// The figures of a training step of this length.
    #[must_use]
    pub fn of(job: &Job, choice: &Choice, step: Ticks) -> Self {
        let seconds = (job.time_unit == "ns" && step > Ticks::ZERO)
            .then(|| Ratio::new(i128::from(step.0), 1_000_000_000));
        let batch = Ratio::from_integer(i128::from(job.choices.global_batch));
        let samples_per_second = seconds.map(|seconds| batch / seconds);
        let utilisation = seconds.zip(job.machine.peak).and_then(|(seconds, peak)| {
            let operations =
                model_operations(job, choice)? * i128::from(choice.microbatches) * i128::from(choice.data);
            Some(operations / (peak * i128::from(job.machine.devices) * seconds))
        });
        Self { samples_per_second, utilisation }
    }
}

/// The floating-point operations of F, I and W of one microbatch over all layers; nothing where the job states none.
#[must_use]
pub fn model_operations(job: &Job, choice: &Choice) -> Option<Ratio<i128>> {
    let profile = job.profiles.get(&(choice.tensor, choice.microbatch_size))?;
    let of = |kind: &String| profile.layers.get(kind).map(|cost| cost.operations);
    let sum: Ratio<i128> = job.layers.iter().filter_map(of).sum();
    (sum > Ratio::from_integer(0)).then_some(sum)
}
