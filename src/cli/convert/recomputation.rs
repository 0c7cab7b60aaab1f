//! What becomes of recomputation in formats that have no pass for it.

use super::Form;
use crate::analysis::Recomputation;
use crate::cli::error::Error;
use crate::cli::output::note;
use crate::interchange::with_fused_recomputation;
use crate::schedule::Schedule;

/// The schedule as a format can express it, where that has no R; says how its runtime comes to recompute.
///
/// # Errors
/// When the schedule names levels of recomputation, which these formats cannot say.
pub(super) fn fused(schedule: &Schedule, format: Form) -> Result<Option<Schedule>, Error> {
    let how = match format {
        Form::Json => return Ok(None),
        Form::Pytorch | Form::PytorchComms => {
            "wrap their modules in activation checkpointing (torch.utils.checkpoint). Where the backward is split into \
             I and W, each of them recomputes, but for stage 0: its I does nothing"
        }
        Form::Torchtitan => {
            "activation checkpointing (`activation_checkpoint=FullAC.Config()` in the configuration's function) \
             recomputes every stage"
        }
        Form::Torchtitan02 => {
            "activation checkpointing (`mode = \"full\"` in [activation_checkpoint]) recomputes every stage"
        }
        Form::Megatron | Form::SailSg => {
            "full activation recomputation (--recompute-granularity full --recompute-method uniform \
             --recompute-num-layers 1) recomputes every stage"
        }
    };
    if let Some((pass, level)) = schedule.levels().first_key_value() {
        return Err(Error::usage(
            format!(
                "`{pass}` recomputes at level {level}, but this format does not say at which level a pass recomputes"
            ),
            "--to json keeps levels; `optimize` with a model of one level makes a schedule without them",
        ));
    }
    let Some(fused) = with_fused_recomputation(schedule) else { return Ok(None) };
    let recomputed = Recomputation::of(schedule);
    note(&format!(
        "this format has no recomputation (R), so it is left to the backward of each pass ({recomputed}): {how}"
    ));
    Ok(Some(fused))
}
