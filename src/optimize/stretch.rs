//! Stretching: a schedule of few microbatches made one of many, by repeating its steady phase.
//!
//! Cut every device's order at one instant and at a later one such that each device runs every one of
//! its classes equally often, K times, in between. Repeating that piece with the microbatches counted
//! on gives an order of K microbatches more: what a device holds at the end of a piece is what it held
//! at the beginning, so the peak stays the same. When the piece is an interval of a steady phase, each
//! repetition takes as long as it.

use super::dense::{Dense, Item, Orders, Times, class};
use crate::model::Kind;

/// The numbers of microbatches that a piece may have.
const PERIODS: [u32; 5] = [1, 2, 3, 4, 6];

/// Microbatches are left out in multiples of this, so that pieces of every period fill the place.
const STEP: u32 = 12;

/// How many microbatches stand for many: enough for warm-up, some steady phase and cool-down.
pub(super) fn core(microbatches: u32, enough: u32) -> u32 {
    match microbatches.checked_sub(enough) {
        Some(more) if microbatches / 2 > enough => enough + more % STEP,
        _ => microbatches,
    }
}

/// A piece of a schedule that can be repeated: where it begins and ends in the order of each device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece {
    cuts: Vec<(usize, usize)>,
    /// How many microbatches it has.
    pub period: u32,
    /// How long it takes.
    pub time: i64,
}

/// The shortest piece per microbatch, near the middle of a schedule that has been squeezed.
pub(super) fn piece(dense: &Dense, orders: &Orders, times: &Times) -> Option<Piece> {
    let entry = |microbatch: u32| {
        let item = Item { class: class(0, Kind::F), microbatch };
        times.ends[dense.cell(item)] - dense.class_of(item).duration
    };
    let middle = dense.microbatches / 2;
    let reach = dense.microbatches / 6;
    let starts = (0..=reach).flat_map(|off| [middle - off, middle + off]).skip(1);
    let mut best: Option<Piece> = None;
    for from in starts {
        for period in PERIODS {
            if from + period >= dense.microbatches {
                continue;
            }
            let time = entry(from + period) - entry(from);
            let shorter = |known: &Piece| {
                i128::from(time) * i128::from(known.period) < i128::from(known.time) * i128::from(period)
            };
            if !best.as_ref().is_none_or(shorter) {
                continue;
            }
            if let Some(cuts) = cuts(dense, orders, times, (entry(from), entry(from + period)), period) {
                best = Some(Piece { cuts, period, time });
            }
        }
    }
    best
}

/// Where the piece between two instants begins and ends on every device, if it has every class equally
/// often.
fn cuts(
    dense: &Dense,
    orders: &Orders,
    times: &Times,
    (from, to): (i64, i64),
    period: u32,
) -> Option<Vec<(usize, usize)>> {
    let mut count = vec![0_u32; dense.classes.len()];
    orders
        .iter()
        .enumerate()
        .map(|(device, order)| {
            let before = |instant: i64| {
                order.partition_point(|&item| {
                    times.ends[dense.cell(item)] - dense.class_of(item).duration < instant
                })
            };
            let (begin, end) = (before(from), before(to));
            for item in &order[begin..end] {
                count[item.class as usize] += 1;
            }
            dense.on_device[device]
                .iter()
                .all(|&class| count[class as usize] == period)
                .then_some((begin, end))
        })
        .collect()
}

/// The orders with the piece repeated so often more. Microbatches must be first in, first out in each
/// class; nothing when they are not.
pub(super) fn stretched(orders: &Orders, piece: &Piece, repetitions: u32) -> Option<Orders> {
    orders
        .iter()
        .zip(&piece.cuts)
        .map(|(order, &(begin, end))| {
            let later = |item: &Item, by: u32| Item { microbatch: item.microbatch + by, ..*item };
            let mut longer = Vec::with_capacity(order.len() + (end - begin) * repetitions as usize);
            longer.extend_from_slice(&order[..end]);
            for repetition in 1..=repetitions {
                longer.extend(order[begin..end].iter().map(|item| later(item, repetition * piece.period)));
            }
            longer.extend(order[end..].iter().map(|item| later(item, repetitions * piece.period)));
            first_in_first_out(&longer).then_some(longer)
        })
        .collect()
}

/// Whether each class runs its microbatches from 0 on, one after the other.
fn first_in_first_out(order: &[Item]) -> bool {
    let classes = order.iter().map(|item| item.class as usize + 1).max().unwrap_or(0);
    let mut next = vec![0; classes];
    order.iter().all(|item| {
        let next = &mut next[item.class as usize];
        *next += 1;
        *next == item.microbatch + 1
    })
}
