//! Megatron-LM's arguments for the placement of a pipeline: the layout of layers.
//!
//! Megatron-LM makes its orders itself: 1F1B, or interleaved 1F1B where devices hold several stages, with full
//! backwards. So only a schedule that is one of these is run as it is written; its options set which layers
//! each stage holds (`--pipeline-model-parallel-layout`, Megatron Core's user guide, "Custom Pipeline Model
//! Parallel Layout"). Stages of a layout go round the devices; one string has all stages, divided by `|`: `E` is
//! the embedding, `t` a transformer layer, `t*3` three, `L` the loss.

use std::fmt::Write as _;

use super::limits::{CannotRun, layers_by_stage, placed, plain, valid};
use crate::model::{Device, Kind, Pass, Shape};
use crate::schedule::Schedule;

/// The arguments, one a line. `own` is the schedule that Megatron-LM makes for this placement and this number of
/// microbatches, as far as it is known.
///
/// # Errors
/// When Megatron-LM would run another order, places stages otherwise, or the layers are not given for every
/// stage.
pub fn arguments(
    schedule: &Schedule,
    layers: Option<&[u32]>,
    own: Option<&Schedule>,
) -> Result<String, CannotRun> {
    let placement = schedule.placement();
    placed(placement, &[Shape::Linear, Shape::Looped], "linear or looped")?;
    plain(schedule)?;
    valid(schedule)?;
    let layers = layers_by_stage(layers.ok_or(CannotRun::LayersUnknown)?, placement)?;
    let (microbatches, devices) = (schedule.microbatches(), placement.devices());
    if placement.shape() == Shape::Looped && !microbatches.is_multiple_of(devices) {
        return Err(CannotRun::Microbatches { microbatches, devices });
    }
    let own = own
        .filter(|own| own.placement() == placement && own.microbatches() == microbatches)
        .filter(|own| plain(own).and_then(|()| valid(own)).is_ok())
        .ok_or(CannotRun::OwnOrderUnknown)?;
    // Both are valid, so they have the same passes, but for I with W in place of B.
    for device in Device::all(schedule.devices()) {
        same_order(device, schedule.order(device), own.order(device))?;
    }
    let total: u64 = layers.iter().map(|&count| u64::from(count)).sum();
    let mut text = String::new();
    write!(
        text,
        "--pipeline-model-parallel-size={}\n--num-layers={total}\n--pipeline-model-parallel-layout={}\n",
        devices,
        layout(&layers),
    )
    .expect("writing to a string cannot fail");
    Ok(text)
}

fn layout(layers: &[u32]) -> String {
    let stages = layers.iter().enumerate().map(|(stage, &count)| {
        let embedding = if stage == 0 { "E" } else { "" };
        let transformer = match count {
            0 => String::new(),
            1 => "t".to_owned(),
            _ => format!("t*{count}"),
        };
        // After a number a letter would still be read right; the comma, which is ignored, is for people.
        let loss = match (stage + 1 == layers.len(), count) {
            (false, _) => "",
            (true, 0..2) => "L",
            (true, _) => ",L",
        };
        format!("{embedding}{transformer}{loss}")
    });
    stages.collect::<Vec<_>>().join("|")
}

/// Whether the orders of the same passes are the same, I with its W right behind it being the same as B.
fn same_order(device: Device, order: &[Pass], own: &[Pass]) -> Result<(), CannotRun> {
    let mut position = 0;
    for &runs in own {
        let has = order[position];
        let full = Pass { kind: Kind::B, ..has };
        let whole = has.kind == Kind::I && order.get(position + 1) == Some(&has.with_kind(Kind::W));
        position += match (has == runs, whole && full == runs) {
            (true, _) => 1,
            (false, true) => 2,
            (false, false) => return Err(CannotRun::OwnOrder { device, position, has, runs }),
        };
    }
    Ok(())
}
