//! What passes acquire and release, for everything that builds or searches. `replay` states the same
//! rules for itself.

use std::collections::BTreeSet;

use crate::model::{Device, Kind, Model, Pass, Units};
use crate::schedule::Schedule;

/// What a pass acquires at its start. `recomputed` says whether an R of its stage and microbatch
/// exists.
#[must_use]
pub fn acquired(model: &Model, pass: Pass, recomputed: bool) -> Units {
    let whole = model.activation(pass.stage);
    let checkpoint = model.checkpoint(pass.stage).unwrap_or(whole);
    match pass.kind {
        Kind::F if recomputed => checkpoint,
        Kind::F => whole,
        Kind::R => whole - checkpoint,
        Kind::I | Kind::W | Kind::B => Units::ZERO,
    }
}

/// What a pass releases at its end.
#[must_use]
pub fn released(model: &Model, pass: Pass) -> Units {
    let retained = model.retained_for_weight(pass.stage);
    match pass.kind {
        Kind::F | Kind::R => Units::ZERO,
        Kind::I => model.activation(pass.stage) - retained,
        Kind::W => retained,
        Kind::B => model.activation(pass.stage),
    }
}

/// The most that the activations of an order hold at any instant.
#[cfg(test)]
#[must_use]
pub fn order_peak(model: &Model, order: &[Pass]) -> Units {
    peak_of(model, order, order.chunks(1))
}

/// The same of a device's order with its overlapped pairs, which acquire at once and release at once.
#[must_use]
pub fn device_peak(model: &Model, schedule: &Schedule, device: Device) -> Units {
    peak_of(model, schedule.order(device), schedule.steps(device))
}

fn peak_of<'a>(model: &Model, order: &[Pass], steps: impl Iterator<Item = &'a [Pass]>) -> Units {
    let recomputed: BTreeSet<Pass> = order.iter().copied().filter(|pass| pass.kind == Kind::R).collect();
    let (mut live, mut peak) = (Units::ZERO, Units::ZERO);
    for step in steps {
        let acquires = |pass: &Pass| acquired(model, *pass, recomputed.contains(&pass.with_kind(Kind::R)));
        live += step.iter().map(acquires).sum();
        peak = peak.max(live);
        live -= step.iter().map(|&pass| released(model, pass)).sum();
    }
    peak
}
