//! The exact peak memory of every device in the steady phase, for every number of devices.

use super::Irregular;
use super::graph::Classes;
use super::quasi::Quasi;
use crate::model::Kind;
use crate::prove::linear::Linear;

/// How much more a device holds once a pass has run, in activations of a stage. Where there is an R, its
/// F leaves nothing that weighs anything.
fn held(classes: &Classes, pass: usize) -> i128 {
    let (kind, chunk) = (classes.passes[pass].kind, classes.passes[pass].chunk);
    match kind {
        Kind::F => i128::from(!classes.passes.iter().any(|pass| (pass.kind, pass.chunk) == (Kind::R, chunk))),
        Kind::R => 1,
        Kind::I => 0,
        Kind::W | Kind::B => -1,
    }
}

/// What devices of residue `r` hold right after a pass has started.
///
/// Copies `j + x` of another pass start before copy `j` of this one as long as they are in an earlier
/// round, or in the same one at an earlier residue; what acquires or releases is counted with that sign,
/// and as each activation is both acquired and released, the infinite past cancels.
fn live(classes: &Classes, s: i128, r: i128, started: usize) -> Linear {
    let own = &classes.passes[started];
    let residue = |pass: usize| classes.passes[pass].offset.on(s, r, 0).constant.rem_euclid(classes.interval);
    let mut live = Linear { per_device: 0, per_devices: 0, constant: held(classes, started) };
    for (position, pass) in classes.passes.iter().enumerate() {
        if position != started {
            let rounds = own.round.on(s, r, 0).minus(pass.round.on(s, r, 0));
            let one_more = i128::from(residue(position) < residue(started));
            let sign = held(classes, position);
            live.per_device += sign * rounds.per_device;
            live.per_devices += sign * rounds.per_devices;
            live.constant += sign * (rounds.constant + one_more);
        }
    }
    live
}

/// The peak, in activations of a stage, as a function of `i` and `d`.
///
/// # Errors
/// When two passes collide, or no pass is the one of the peak on all devices of a residue.
pub(super) fn peak(classes: &Classes) -> Result<Quasi, Irregular> {
    let starts: Vec<usize> = (0..classes.passes.len())
        .filter(|&pass| matches!(classes.passes[pass].kind, Kind::F | Kind::R))
        .collect();
    let mut slopes: Option<(i128, i128)> = None;
    let mut constants = Vec::new();
    for s in 0..classes.residues {
        for r in 0..classes.residues {
            classes.order(s, r)?;
            let live: Vec<Linear> = starts.iter().map(|&start| live(classes, s, r, start)).collect();
            let largest = live.iter().find(|one| {
                live.iter().all(|other| {
                    one.minus(*other).least((r >= s).into()).is_some_and(|(least, _)| least >= 0)
                })
            });
            let largest = largest.ok_or(Irregular::Slopes)?;
            let slope = (largest.per_device, largest.per_devices);
            if *slopes.get_or_insert(slope) != slope {
                return Err(Irregular::Slopes);
            }
            constants.push(largest.constant);
        }
    }
    let (per_device, per_devices) = slopes.unwrap_or((0, 0));
    Ok(Quasi::new(classes.residues, per_device, per_devices, constants))
}
