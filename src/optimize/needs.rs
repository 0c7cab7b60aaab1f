//! The memory that single passes need while they run, and that they keep or free.

use crate::model::{Kind, Model, Stage, Units};

/// What a pass that runs on its own does to the memory of its device, once the message that it uses is there. Amounts are in units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Needs {
    /// For how much more the device must have room while the pass runs.
    pub acquires: i64,
    /// How much more is held once it has run, beside the buffer that is free then.
    pub held: i64,
    /// The buffer of the message that it uses.
    pub uses: i64,
    /// The device that receives what it sends, and the buffer that this takes until it is used.
    pub sends: Option<(usize, i64)>,
}

impl Needs {
    /// What a pass of this kind needs. Where `again`, the activation of the stage is recomputed at the first level.
    pub(super) fn of(model: &Model, stage: Stage, kind: Kind, again: bool) -> Self {
        let (whole, for_weight) = (model.activation(stage), model.retained_for_weight(stage));
        let kept = model.checkpoint(stage).filter(|_| again).unwrap_or(whole);
        let (uses, sends) = buffers(model, stage, kind);
        let grows = match kind {
            Kind::F => kept,
            Kind::R => whole - kept,
            Kind::I => (for_weight - whole).max(Units::ZERO),
            Kind::W | Kind::B => Units::ZERO,
        };
        let held = match kind {
            Kind::F => kept.0,
            Kind::R => (whole - kept).0,
            Kind::I => (for_weight - whole).0,
            Kind::W => -for_weight.0,
            Kind::B => -whole.0,
        };
        Self { acquires: grows.0 + model.beside(stage, kind).0 - uses, held, uses, sends }
    }
}

/// The buffer of the message that a pass uses, in units, and the device that receives what it sends, with the buffer for that.
fn buffers(model: &Model, stage: Stage, kind: Kind) -> (i64, Option<(usize, i64)>) {
    let placement = model.placement();
    let (before, after) = (placement.stage_before(stage), placement.stage_after(stage));
    let over_first = before.map_or(0, |before| model.receive_after(before).0);
    let over_last = after.map_or(0, |_| model.receive_after(stage).0);
    let to = |next: Option<Stage>, buffer: i64| {
        next.filter(|_| buffer > 0).map(|next| (placement.device_of(next).index(), buffer))
    };
    match kind {
        Kind::F => (over_first, to(after, over_last)),
        Kind::I | Kind::B => (over_last, to(before, over_first)),
        Kind::R | Kind::W => (0, None),
    }
}
