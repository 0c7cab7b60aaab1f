//! Schedules for linear placement, and `GPipe` for any.

use super::{CatalogError, schedule};
use crate::model::{Device, Kind, Microbatch, Model, Pass, Stage};
use crate::schedule::Schedule;

/// `GPipe`: all forwards, then all backwards (Huang et al., arXiv 1811.06965).
///
/// With several stages on a device it goes through them one after the other, which any placement
/// allows. Microbatches keep their order in the backward too.
///
/// Memory: m activations of each stage. Bubble: `(d-1)(F+I+W)` plus `2(d-1)` latencies.
pub(super) fn gpipe(model: &Model) -> Schedule {
    let orders = Device::all(model.devices()).map(|device| {
        let mut stages = model.placement().stages_of(device).to_vec();
        stages.sort_unstable();
        let forward = stages.iter().map(|&stage| (stage, Kind::F));
        let backward = stages.iter().rev().map(|&stage| (stage, Kind::B));
        forward
            .chain(backward)
            .flat_map(|(stage, kind)| {
                Microbatch::all(model.microbatches())
                    .filter(move |&microbatch| model.placement().leads_through(stage, microbatch))
                    .map(move |microbatch| Pass::new(stage, kind, microbatch))
            })
            .collect()
    });
    schedule(model, orders.collect())
}

/// 1F1B (`PipeDream`-Flush, arXiv 2006.09503; DAPPLE, arXiv 2007.01045): device i runs d-1-i forwards
/// ahead, then one forward and one backward in turn.
///
/// Block: T = F+I+W; at unit times F at i, B at 3d-2-2i. Memory: `min(m, d-i)` activations. Bubble:
/// `(d-1)(F+I+W)` plus latencies.
pub(super) fn one_f_one_b(model: &Model) -> Schedule {
    fused(model, 1)
}

/// Eager 1F1B (Alpa's name, arXiv 2211.05322): twice the lead of 1F1B, so that a transfer has a
/// forward and a backward to hide behind.
///
/// Block: T = F+I+W; at unit times F at i, B at 6d-5-5i. Memory: `min(m, 2(d-i)-1)` activations.
/// Bubble: `(d-1)(F+I+W)`, and fewer latencies than 1F1B.
pub(super) fn eager(model: &Model) -> Schedule {
    fused(model, 2)
}

fn fused(model: &Model, lead_per_device: u32) -> Schedule {
    by_stage(model, |stage, order| {
        let lead = lead_per_device * (model.devices() - 1 - stage.0);
        alternate(stage, model.microbatches(), lead, order, |microbatch, order| {
            order.push(Pass::new(stage, Kind::B, microbatch));
        });
    })
}

/// 1F1B with recomputation (Chen et al., arXiv 1604.06174, put into 1F1B): the forward keeps its
/// checkpoint alone, and R restores the rest right before each backward.
///
/// Memory: `min(m, d-i)` checkpoints and what R adds for one microbatch. Bubble: that of 1F1B and,
/// in a rate, the time of R, which is no useful work but keeps the device busy.
///
/// # Errors
/// When the model knows no checkpoints.
pub(super) fn recomputing(model: &Model) -> Result<Schedule, CatalogError> {
    if model.memory().checkpoint.is_none() {
        return Err(CatalogError::RecomputeUnknown("1f1b-r"));
    }
    Ok(by_stage(model, |stage, order| {
        let lead = model.devices() - 1 - stage.0;
        alternate(stage, model.microbatches(), lead, order, |microbatch, order| {
            order.extend([Kind::R, Kind::B].map(|kind| Pass::new(stage, kind, microbatch)));
        });
    }))
}

/// ZB-H1 (Zero Bubble Pipeline Parallelism, arXiv 2401.10241, section 2.3): the lead of 1F1B; on
/// device i each W waits for i further Is, and what is left follows at the end.
///
/// Block: T = F+I+W; at unit times F at i, I at 3d-2-2i, W at I+1+3i. Memory: d activations where W
/// releases all of it; device i holds `d-i` activations and i times what W releases. Bubble:
/// `(d-1)(F+I-W)` plus latencies.
pub(super) fn zb_h1(model: &Model) -> Schedule {
    split(model, 1)
}

/// ZB-H2 (arXiv 2401.10241, section 2.3): twice the lead of 1F1B, and W waits for 2i further Is.
///
/// Block: T = F+I+W; at unit times F at i, I at 6d-5-5i, W at I+1+6i. Memory: 2d-1 activations where
/// W releases all of it; device i holds `2(d-i)-1` activations and 2i times what W releases. Bubble:
/// `(d-1)(F+I-2W)`, none at unit times, plus latencies.
pub(super) fn zb_h2(model: &Model) -> Schedule {
    split(model, 2)
}

/// Forwards lead by `factor` for each device after this one; W lags by `factor` for each before it.
fn split(model: &Model, factor: u32) -> Schedule {
    let microbatches = model.microbatches();
    by_stage(model, |stage, order| {
        let (lead, lag) = (factor * (model.devices() - 1 - stage.0), factor * stage.0);
        let weight = |microbatch| Pass::new(stage, Kind::W, Microbatch(microbatch));
        alternate(stage, microbatches, lead, order, |microbatch, order| {
            order.push(Pass::new(stage, Kind::I, microbatch));
            order.extend(microbatch.0.checked_sub(lag).map(weight));
        });
        order.extend((microbatches.saturating_sub(lag)..microbatches).map(weight));
    })
}

fn by_stage(model: &Model, mut fill: impl FnMut(Stage, &mut Vec<Pass>)) -> Schedule {
    let orders = Stage::all(model.stages()).map(|stage| {
        let mut order = Vec::new();
        fill(stage, &mut order);
        order
    });
    schedule(model, orders.collect())
}

/// `lead` forwards ahead, then one forward and one backward in turn.
fn alternate(
    stage: Stage,
    microbatches: u32,
    lead: u32,
    order: &mut Vec<Pass>,
    mut backward: impl FnMut(Microbatch, &mut Vec<Pass>),
) {
    let mut forwards = Microbatch::all(microbatches);
    for microbatch in Microbatch::all(microbatches) {
        let due = if microbatch.0 == 0 { lead as usize + 1 } else { 1 };
        order.extend(forwards.by_ref().take(due).map(|forward| Pass::new(stage, Kind::F, forward)));
        backward(microbatch, order);
    }
}
