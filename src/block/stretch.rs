//! Stretching: a schedule of few microbatches made one of many, by repeating its steady phase.
//!
//! Cut every device's order at one instant and at a later one such that each device runs every one of
//! its classes equally often, K times, in between. Repeating that piece with the microbatches counted
//! on gives an order of K microbatches more: what a device holds at the end of a piece is what it held
//! at the beginning, so the peak stays the same. When the piece is an interval of a steady phase, each
//! repetition takes as long as it.

use super::squeeze::Timeline;
use crate::model::{Kind, Microbatch, Model, Pass, Stage};
use crate::schedule::Schedule;

/// A pass as far as repetition is concerned.
pub(crate) trait Recurring: Copy {
    /// The number of its stage and kind.
    fn class(self) -> usize;
    /// The number of its microbatch.
    fn microbatch(self) -> u32;
    /// The same pass of a later microbatch.
    fn later(self, by: u32) -> Self;
}

impl Recurring for Pass {
    fn class(self) -> usize {
        self.stage.index() * Kind::COUNT + self.kind as usize
    }

    fn microbatch(self) -> u32 {
        self.microbatch.0
    }

    fn later(self, by: u32) -> Self {
        Self { microbatch: Microbatch(self.microbatch.0 + by), ..self }
    }
}

/// The numbers of microbatches that a piece may have.
const PERIODS: [u32; 5] = [1, 2, 3, 4, 6];

/// Microbatches are left out in multiples of this, so that pieces of every period fill the place.
const STEP: u32 = 12;

/// How many microbatches stand for all of a model's: enough for warm-up, some steady phase and
/// cool-down. Nothing where that is hardly fewer.
pub(crate) fn fewer(model: &Model) -> Option<u32> {
    let enough = model.devices().saturating_mul(3).max(24);
    let microbatches = model.microbatches();
    (microbatches / 2 > enough).then(|| enough + (microbatches - enough) % STEP)
}

/// The schedule of few microbatches as one of all of a model's: its steady phase is repeated. Nothing
/// when it has none, or when its microbatches are not first in, first out.
pub(crate) fn stretch(model: &Model, schedule: &Schedule, timeline: &Timeline) -> Option<Schedule> {
    let few = schedule.microbatches();
    let entries: Vec<i64> = {
        let first = timeline.orders.iter().zip(&timeline.starts).flat_map(|(order, starts)| {
            order.iter().zip(starts).filter(|(pass, _)| pass.stage == Stage(0) && pass.kind == Kind::F)
        });
        let mut entries = vec![0; few as usize];
        for (pass, start) in first {
            *entries.get_mut(pass.microbatch.index())? = start.0;
        }
        entries
    };
    let classes = model.stages() as usize * Kind::COUNT;
    let start = |device: usize, at: usize| timeline.starts[device][at].0;
    let piece = piece(&timeline.orders, (few, classes), |at| entries[at as usize], start)?;
    let missing = model.microbatches().checked_sub(few)?;
    if missing % piece.period != 0 {
        return None;
    }
    let orders = stretched(&timeline.orders, &piece, missing / piece.period)?;
    Schedule::new(model.placement().clone(), model.microbatches(), orders).ok()
}

/// A piece of a schedule that can be repeated: where it begins and ends in the order of each device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece {
    cuts: Vec<(usize, usize)>,
    /// How many microbatches it has.
    pub period: u32,
    /// How long it takes.
    pub time: i64,
}

/// The shortest piece per microbatch, near the middle of orders that have been squeezed: of so many
/// `microbatches` and, in numbers, so many `classes`. `entry` says when a microbatch enters the first
/// stage, `start` when the pass at a place of a device's order starts.
pub(crate) fn piece<P: Recurring>(
    orders: &[Vec<P>],
    (microbatches, classes): (u32, usize),
    entry: impl Fn(u32) -> i64,
    start: impl Fn(usize, usize) -> i64,
) -> Option<Piece> {
    let middle = microbatches / 2;
    let reach = microbatches / 6;
    let begins = (0..=reach).flat_map(|off| [middle - off, middle + off]).skip(1);
    let mut best: Option<Piece> = None;
    for from in begins {
        for period in PERIODS {
            if from + period >= microbatches {
                continue;
            }
            let instants = (entry(from), entry(from + period));
            let time = instants.1 - instants.0;
            let shorter = |known: &Piece| {
                i128::from(time) * i128::from(known.period) < i128::from(known.time) * i128::from(period)
            };
            if !best.as_ref().is_none_or(shorter) {
                continue;
            }
            let before = |device: usize, instant| {
                let places: &[P] = &orders[device];
                partition(places.len(), |at| start(device, at) < instant)
            };
            let cuts = (0..orders.len())
                .map(|device| (before(device, instants.0), before(device, instants.1)))
                .collect::<Vec<_>>();
            if is_even(orders, &cuts, microbatches as usize, classes, period) {
                best = Some(Piece { cuts, period, time });
            }
        }
    }
    best
}

/// The first place for which a condition no longer holds, which holds for none after it.
fn partition(places: usize, holds: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, places);
    while low < high {
        let middle = usize::midpoint(low, high);
        if holds(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

/// Whether every device runs each of its classes equally often between its cuts.
fn is_even<P: Recurring>(
    orders: &[Vec<P>],
    cuts: &[(usize, usize)],
    microbatches: usize,
    classes: usize,
    period: u32,
) -> bool {
    let mut count = vec![0_u32; classes];
    orders.iter().zip(cuts).all(|(order, &(begin, end))| {
        // Every class of the device has all the microbatches.
        let on_device = order.len() / microbatches;
        end.saturating_sub(begin) == on_device * period as usize
            && order[begin..end].iter().all(|pass| {
                let count = &mut count[pass.class()];
                *count += 1;
                *count <= period
            })
    })
}

/// The orders with the piece repeated so often more. Microbatches must be first in, first out in each
/// class; nothing when they are not.
pub(crate) fn stretched<P: Recurring>(
    orders: &[Vec<P>],
    piece: &Piece,
    repetitions: u32,
) -> Option<Vec<Vec<P>>> {
    orders
        .iter()
        .zip(&piece.cuts)
        .map(|(order, &(begin, end))| {
            let mut longer = Vec::with_capacity(order.len() + (end - begin) * repetitions as usize);
            longer.extend_from_slice(&order[..end]);
            for repetition in 1..=repetitions {
                longer.extend(order[begin..end].iter().map(|pass| pass.later(repetition * piece.period)));
            }
            longer.extend(order[end..].iter().map(|pass| pass.later(repetitions * piece.period)));
            first_in_first_out(&longer).then_some(longer)
        })
        .collect()
}

/// Whether each class runs its microbatches from 0 on, one after the other.
fn first_in_first_out<P: Recurring>(order: &[P]) -> bool {
    let classes = order.iter().map(|pass| pass.class() + 1).max().unwrap_or(0);
    let mut next = vec![0; classes];
    order.iter().all(|pass| {
        let next = &mut next[pass.class()];
        *next += 1;
        *next == pass.microbatch() + 1
    })
}
