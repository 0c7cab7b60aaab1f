//! The least memory in which a pipeline can run at all, where memory is more than what F keeps: one microbatch after the
//! other, with what is best for every stage.
//!
//! On a device, a microbatch runs F of its stages from the lowest up, and then from the highest down R, where there is one, and
//! I and W, or B. Whatever else a schedule does, when it starts one of these passes of a stage, the lower stages hold at least
//! what they keep after F. So two choices decide what a device needs. Whether to run B or I and W concerns one stage
//! alone. R, or an offload, is worth it on every stage where it keeps less and fits: what the lower stages keep is then the least
//! there can be, whatever the higher ones choose. An offload serves what runs between F and the backward of its stage, so the
//! highest stage has no use for it.

use super::super::feasible::Infeasible;
use crate::model::{Device, Kind, Microbatch, Model, Pass, Stage, Units};
use crate::schedule::{Offloaded, Schedule};

/// What is live when a pass of the first microbatch starts.
struct Need {
    at: Pass,
    held: Vec<(Stage, Units)>,
}

impl Need {
    fn total(&self) -> Units {
        self.held.iter().map(|&(_, units)| units).sum()
    }
}

/// The passes of a stage and microbatch.
#[derive(Clone, Copy)]
struct Mode {
    recomputes: bool,
    offloads: bool,
    is_split: bool,
}

impl Mode {
    fn backwards(self) -> &'static [Kind] {
        match (self.recomputes, self.is_split) {
            (false, false) => &[Kind::B],
            (false, true) => &[Kind::I, Kind::W],
            (true, false) => &[Kind::R, Kind::B],
            (true, true) => &[Kind::R, Kind::I, Kind::W],
        }
    }
}

/// Whether a microbatch fits by what its own passes need.
///
/// # Errors
/// When no schedule keeps to the capacities.
pub(in crate::optimize) fn check(model: &Model) -> Result<(), Infeasible> {
    Device::all(model.devices()).try_for_each(|device| fitting(model, device).map(|_| ()))
}

/// One microbatch after the other, with what needs the least memory, and with B on all stages.
///
/// # Errors
/// When no schedule keeps to the capacities.
pub(super) fn least(model: &Model) -> Result<[Schedule; 2], Infeasible> {
    let modes: Vec<Vec<(Stage, Mode)>> =
        Device::all(model.devices()).map(|device| fitting(model, device)).collect::<Result<_, _>>()?;
    Ok([false, true].map(|is_fused| {
        let of_device = |modes: &Vec<(Stage, Mode)>| {
            let of_microbatch = |microbatch: Microbatch| {
                let pass = move |stage, kind| Pass::new(stage, kind, microbatch);
                let forwards = modes.iter().map(move |&(stage, _)| pass(stage, Kind::F));
                let backwards = modes.iter().rev().flat_map(move |&(stage, mode)| {
                    let mode = Mode { is_split: mode.is_split && !is_fused, ..mode };
                    mode.backwards().iter().map(move |&kind| pass(stage, kind))
                });
                forwards.chain(backwards)
            };
            Microbatch::all(model.microbatches()).flat_map(of_microbatch).collect()
        };
        let orders: Vec<Vec<Pass>> = modes.iter().map(of_device).collect();
        let offloads = modes.iter().zip(&orders).map(|(modes, order)| offloads(modes, order)).collect();
        Schedule::new(model.placement().clone(), model.microbatches(), orders)
            .and_then(|schedule| schedule.with_offloads(offloads))
            .expect("a model has as many orders as devices and no more passes than a schedule may")
    }))
}

/// What of an order is offloaded, each from the pass behind its F to its backward.
fn offloads(modes: &[(Stage, Mode)], order: &[Pass]) -> Vec<Offloaded> {
    let is_away = |pass: &Pass| modes.iter().any(|&(stage, mode)| mode.offloads && stage == pass.stage);
    let mut found: Vec<Offloaded> = Vec::new();
    let mut open: Vec<(Pass, usize)> = Vec::new();
    for (position, &pass) in order.iter().enumerate().filter(|(_, pass)| is_away(pass)) {
        match pass.kind {
            Kind::F => open.push((pass, position + 1)),
            Kind::I | Kind::B => {
                let forward = pass.with_kind(Kind::F);
                found.extend(
                    open.iter().filter(|(open, _)| *open == forward).map(|&(pass, freed)| Offloaded {
                        pass,
                        freed,
                        fetched: position,
                    }),
                );
                open.retain(|(open, _)| *open != forward);
            }
            Kind::W | Kind::R => {}
        }
    }
    found
}

/// By stage of a device, from the lowest up: what fits into its capacity.
fn fitting(model: &Model, device: Device) -> Result<Vec<(Stage, Mode)>, Infeasible> {
    let most = Units(Model::MAX_TOTAL);
    let room = model.activation_capacity(device).unwrap_or(most);
    let fits = |room: Units| {
        let modes = modes(model, device, room);
        let need = most_needed(model, &modes);
        (need.total() <= room).then_some(modes)
    };
    if let Some(modes) = fits(room) {
        return Ok(modes);
    }
    // What would be enough: more room never makes a choice worse.
    let (mut too_little, mut enough) = (room.0, most.0);
    while enough - too_little > 1 {
        let middle = i64::midpoint(too_little, enough);
        if fits(Units(middle)).is_some() { enough = middle } else { too_little = middle }
    }
    let Need { at, held } = most_needed(model, &modes(model, device, Units(enough)));
    let weights = model.resident(device);
    Err(Infeasible { device, capacity: room + weights, needed: Units(enough) + weights, at, held })
}

/// What is best on a device with so much room.
fn modes(model: &Model, device: Device, room: Units) -> Vec<(Stage, Mode)> {
    let mut stages = model.placement().stages_of(device).to_vec();
    stages.sort_unstable();
    let mut below = Units::ZERO;
    let highest = stages.last().copied();
    stages
        .into_iter()
        .map(|stage| {
            let whole = model.activation(stage);
            let stays = whole - model.moved(stage);
            let is_whole = below + while_running(model, stage, Kind::F) <= room;
            let may_offload = is_whole && Some(stage) != highest && stays < whole;
            let again = below + whole + model.workspace(stage, Kind::R);
            let checkpoint = model.checkpoint(stage).filter(|&kept| kept < whole && again <= room);
            // Recomputation takes time: it is left to those that need it.
            let is_limited = model.capacity(device).is_some();
            let offloads = is_limited && may_offload && checkpoint.is_none_or(|kept| stays <= kept);
            let recomputes = is_limited && checkpoint.is_some() && !offloads;
            let mode = Mode { recomputes, offloads, is_split: false };
            below += kept(model, stage, mode);
            let most = |kinds: &[Kind]| {
                kinds.iter().map(|&kind| while_running(model, stage, kind)).max().unwrap_or_default()
            };
            (stage, Mode { is_split: most(&[Kind::I, Kind::W]) <= most(&[Kind::B]), ..mode })
        })
        .collect()
}

/// What a stage keeps between its F and its backward.
fn kept(model: &Model, stage: Stage, mode: Mode) -> Units {
    let whole = model.activation(stage);
    if mode.offloads {
        return whole - model.moved(stage);
    }
    model.checkpoint(stage).filter(|_| mode.recomputes).unwrap_or(whole)
}

/// What a stage holds while a pass of its backward runs.
fn while_running(model: &Model, stage: Stage, kind: Kind) -> Units {
    let (whole, rest) = (model.activation(stage), model.retained_for_weight(stage));
    let kept = match kind {
        Kind::I => whole.max(rest),
        Kind::W => rest,
        Kind::F | Kind::B | Kind::R => whole,
    };
    let received = match kind {
        Kind::F => model.placement().stage_before(stage).map(|before| model.receive_after(before)),
        Kind::I | Kind::B => model.placement().stage_after(stage).map(|_| model.receive_after(stage)),
        Kind::W | Kind::R => None,
    };
    kept + model.workspace(stage, kind) + received.unwrap_or_default()
}

/// The most that is live on a device, one microbatch at a time.
fn most_needed(model: &Model, modes: &[(Stage, Mode)]) -> Need {
    let mut needs = Vec::new();
    let mut below: Vec<(Stage, Units)> = Vec::new();
    for &(stage, mode) in modes {
        let whole = model.activation(stage);
        let kept = kept(model, stage, mode);
        for kind in [Kind::F].iter().chain(mode.backwards()) {
            let mut holds = while_running(model, stage, *kind);
            if *kind == Kind::F && mode.recomputes {
                holds -= whole - kept;
            }
            let held = below.iter().copied().chain([(stage, holds)]).collect();
            needs.push(Need { at: Pass::new(stage, *kind, Microbatch(0)), held });
        }
        below.push((stage, kept));
    }
    // The first of equals.
    needs
        .into_iter()
        .reduce(|most, next| if next.total() > most.total() { next } else { most })
        .expect("a device holds a stage")
}
