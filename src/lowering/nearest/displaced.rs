//! Which passes change their places among the others.

use std::collections::BTreeMap;

use crate::model::{Device, Pass};
use crate::rise::longest_rise;
use crate::schedule::Schedule;

/// A pass that changes its place among the others of its device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Displaced {
    /// The device.
    pub device: Device,
    /// The pass.
    pub pass: Pass,
    /// The pass that it comes right after now; none if it is the first.
    pub after: Option<Pass>,
    /// Its old position, from 0.
    pub from: usize,
    /// Its new position, from 0.
    pub to: usize,
}

/// The fewest passes that have to be moved to come from one schedule to another of the same passes: those outside a
/// longest common subsequence of both orders of each device.
pub(super) fn displaced(old: &Schedule, new: &Schedule) -> Vec<Displaced> {
    let of_device = |device| {
        let was: BTreeMap<Pass, usize> =
            old.order(device).iter().enumerate().map(|(position, &pass)| (pass, position)).collect();
        let order = new.order(device);
        let from: Vec<usize> = order.iter().map(|pass| was[pass]).collect();
        let stays = longest_rise(&from);
        let displaced = move |to: usize| Displaced {
            device,
            pass: order[to],
            after: to.checked_sub(1).map(|before| order[before]),
            from: from[to],
            to,
        };
        (0..order.len()).filter(move |&to| !stays[to]).map(displaced).collect::<Vec<_>>()
    };
    Device::all(new.devices()).flat_map(of_device).collect()
}
