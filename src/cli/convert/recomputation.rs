//! What becomes of recomputation in formats that have no pass for it.

use super::Form;
use crate::analysis::Recomputation;
use crate::cli::output::note;
use crate::interchange::with_fused_recomputation;
use crate::schedule::Schedule;

/// The schedule as a format can express it, where that has no R; says how its runtime comes to recompute.
pub(super) fn fused(schedule: &Schedule, format: Form) -> Option<Schedule> {
    let how = match format {
        Form::Json => return None,
        Form::Pytorch | Form::PytorchComms => {
            "wrap their modules in activation checkpointing (torch.utils.checkpoint). Where the backward is split into \
             I and W, each of them recomputes"
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
    let fused = with_fused_recomputation(schedule)?;
    let recomputed = Recomputation::of(schedule);
    note(&format!(
        "this format has no recomputation (R), so it is left to the backward of each pass ({recomputed}): {how}"
    ));
    Some(fused)
}
