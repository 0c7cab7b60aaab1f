//! What a device holds at every instant of the steady phase, modulo the interval.

use std::collections::BTreeSet;

use num_integer::Integer;

use crate::block::Block;
use crate::kernel::{acquired, released};
use crate::model::{Device, Kind, Model};

/// What a device holds from each of these instants on, in parts of a tick from 0 to the interval, while copies of the
/// block follow each other.
pub(super) fn live(block: &Block, model: &Model, device: Device) -> Vec<(i64, i128)> {
    let interval = block.interval_parts().0;
    // When each pass acquires and releases, and how much.
    let changes: Vec<(i64, i128)> = block
        .passes_of(device)
        .flat_map(|(pass, start)| {
            let recomputed = block.offset(pass.with_kind(Kind::R)).is_some();
            let end = start + block.duration(model, pass);
            [
                (start.0, i128::from(acquired(model, pass, recomputed).0)),
                (end.0, -i128::from(released(model, pass).0)),
            ]
        })
        .filter(|&(_, amount)| amount != 0)
        .collect();
    let mut instants: BTreeSet<i64> = changes.iter().map(|(at, _)| at.mod_floor(&interval)).collect();
    instants.insert(0);
    // Of each change, as many copies have happened by an instant as intervals fit in between. What all copies acquire they
    // release, so that the copies before the first one cancel out.
    let held = |instant: i64| -> i128 {
        changes
            .iter()
            .map(|&(at, amount)| amount * i128::from(Integer::div_floor(&(instant - at), &interval)))
            .sum()
    };
    instants.into_iter().map(|instant| (instant, held(instant))).collect()
}
