//! From a block to a whole schedule: its copies, stamped one interval apart.

use super::Block;
use super::algebra::tie;
use crate::model::{Device, Microbatch, Model, Pass};
use crate::schedule::{Schedule, ScheduleError};

impl Block {
    /// The schedule of `microbatches` copies: each device runs its passes by offset. The model says
    /// which of two that start together takes no time, and so goes first. Microbatch
    /// `j*K + k` is copy `k` of repetition `j`; passes of microbatches past the last are left out.
    ///
    /// A block without [faults](Self::faults) gives a schedule that cannot deadlock, whose peak
    /// memory is at most the block's [steady peak](Self::steady_peak), and, replayed, starts no pass
    /// later than its copy.
    ///
    /// # Errors
    /// When there is no microbatch, or too many.
    pub fn expand(&self, model: &Model, microbatches: u32) -> Result<Schedule, ScheduleError> {
        // Where there are too many microbatches, there is no room to list their repetitions either.
        Schedule::check_size(&self.placement, microbatches)?;
        let repetitions: Vec<u32> = (0..microbatches.div_ceil(self.period)).collect();
        self.expand_at(model, microbatches, &repetitions)
    }

    /// The same with some repetitions left out: microbatch `j*K + k` is copy `k` of repetition `repetitions[j]`. These
    /// ascend, and there are as many as the microbatches need.
    ///
    /// # Errors
    /// When there is no microbatch, or too many.
    pub(crate) fn expand_at(
        &self,
        model: &Model,
        microbatches: u32,
        repetitions: &[u32],
    ) -> Result<Schedule, ScheduleError> {
        Schedule::check_size(&self.placement, microbatches)?;
        let orders = Device::all(self.placement.devices())
            .map(|device| {
                let mut timed = Vec::new();
                for (pass, offset) in self.passes_of(device) {
                    for (at, &repetition) in (0_u64..).zip(repetitions) {
                        let microbatch = at * u64::from(self.period) + u64::from(pass.microbatch.0);
                        if let Some(microbatch) =
                            u32::try_from(microbatch).ok().filter(|&at| at < microbatches)
                        {
                            let start =
                                i128::from(offset.0) + i128::from(repetition) * i128::from(self.interval.0);
                            let pass = Pass { microbatch: Microbatch(microbatch), ..pass };
                            timed.push(((start, tie(model, pass, i64::from(microbatch))), pass));
                        }
                    }
                }
                timed.sort_unstable_by_key(|&(place, _)| place);
                timed.into_iter().map(|(_, pass)| pass).collect()
            })
            .collect();
        Schedule::new(self.placement.clone(), microbatches, orders)
    }
}
