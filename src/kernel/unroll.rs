//! Unrolling: turns a schedule of few microbatches into one of many, by repeating its steady phase.
//!
//! Cut every device's order at one instant and at a later one such that each device runs every one of its classes
//! equally often, K times, in between. Repeating that segment with the microbatches counted on gives an order of K
//! microbatches more: what a device holds at the end of a segment is what it held at the beginning, so the peak
//! stays the same. When the segment is an interval of a steady phase, each repetition takes as long as it.
//!
//! Any places of the orders between which each class runs equally often would do. So where no two instants are such places, longer
//! segments are looked for that begin at an instant on all devices, and end wherever each device has run K of each class. What they
//! add beyond the microbatches that are wanted is left out again, at the end.

use num_rational::Ratio;

use super::asap::EndTimes;
use super::convert::IndexedSchedule;
use super::problem::{IndexedOrders, IndexedPass, IndexedProblem, class};
use crate::model::{Kind, Model};

/// Where longer segments begin, as shares of the microbatches.
const LONG_FROM: [(u32, u32); 3] = [(1, 4), (3, 8), (1, 2)];

/// The numbers of microbatches that a segment between two instants may have.
const PERIODS: [u32; 5] = [1, 2, 3, 4, 6];

/// Microbatches are left out in multiples of this, so that segments of every period fill the place.
const STEP: u32 = 12;

/// How many microbatches represent all of a model's: enough for warm-up, some steady phase and
/// cool-down. Nothing where that is hardly fewer.
pub(crate) fn fewer_microbatches(model: &Model) -> Option<u32> {
    let enough = model.devices().saturating_mul(3).max(24);
    let microbatches = model.microbatches();
    (microbatches / 2 > enough).then(|| enough + (microbatches - enough) % STEP)
}

/// A segment of a schedule that can be repeated: where it begins and ends in the order of each device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Segment {
    cuts: Vec<(usize, usize)>,
    /// How many microbatches it has.
    pub period: u32,
    /// How long it takes, in ticks.
    pub time: i64,
}

impl IndexedSchedule {
    /// The schedule of few microbatches as one of `microbatches`: its steady phase is repeated. Nothing when
    /// it has none, or when its microbatches are not first in, first out.
    pub fn unrolled(&self, microbatches: u32) -> Option<Self> {
        let Self { problem, orders } = self;
        let mut times = EndTimes::default();
        if !problem.asap(orders, &mut times) {
            return None;
        }
        let segment = problem.steady_segment(orders, &times)?;
        let missing = microbatches.checked_sub(problem.microbatches())?;
        let orders = unroll(orders, &segment, missing)?;
        Some(Self { problem: problem.clone().with_microbatches(microbatches), orders })
    }
}

impl IndexedProblem {
    /// The segment of least time per microbatch, near the middle of orders with their ASAP times.
    pub fn steady_segment(&self, orders: &IndexedOrders, times: &EndTimes) -> Option<Segment> {
        let start = |pass| times.start(self, pass);
        let entry = |microbatch| start(IndexedPass { class: class(0, Kind::F), microbatch });
        let microbatches = self.microbatches();
        let middle = microbatches / 2;
        let reach = microbatches / 6;
        let begins = (0..=reach).flat_map(|off| [middle - off, middle + off]).skip(1);
        let mut best: Option<Segment> = None;
        for from in begins {
            for period in PERIODS {
                if from + period >= microbatches {
                    continue;
                }
                let instants = (entry(from), entry(from + period));
                let time = instants.1 - instants.0;
                let shorter = |known: &Segment| {
                    i128::from(time) * i128::from(known.period) < i128::from(known.time) * i128::from(period)
                };
                if !best.as_ref().is_none_or(shorter) {
                    continue;
                }
                let mut count = vec![0; self.classes()];
                let cut = |order: &Vec<IndexedPass>| {
                    let before = |instant| order.partition_point(|&pass| start(pass) < instant);
                    let (begin, end) = (before(instants.0), before(instants.1));
                    self.is_even(order, (begin, end), period, &mut count).then_some((begin, end))
                };
                // Most instants are no good on the first devices already, so the others are not cut.
                if let Some(cuts) = orders.iter().map(cut).collect() {
                    best = Some(Segment { cuts, period, time });
                }
            }
        }
        best
    }

    /// The segment of any period that takes the least time per microbatch, of some that begin in the first half of orders with their
    /// ASAP times. Its time is an estimate: that by which a device is later at its end, at most. A repetition may take less,
    /// and more where passes of one device wait for others that come late in the segment.
    pub fn long_segment(&self, orders: &IndexedOrders, times: &EndTimes) -> Option<Segment> {
        let begins = LONG_FROM.map(|(share, of)| self.microbatches() * share / of);
        let segments = begins.into_iter().filter_map(|from| self.long_segment_from(from, orders, times));
        let per_microbatch = |segment: &Segment| Ratio::new(segment.time, i64::from(segment.period));
        segments.min_by_key(per_microbatch)
    }

    /// The same of those that begin when a microbatch enters.
    fn long_segment_from(&self, from: u32, orders: &IndexedOrders, times: &EndTimes) -> Option<Segment> {
        let start = |pass| times.start(self, pass);
        let instant = start(IndexedPass { class: class(0, Kind::F), microbatch: from });
        let begins: Vec<usize> =
            orders.iter().map(|order| order.partition_point(|&pass| start(pass) < instant)).collect();
        let on_device = |order: &[IndexedPass]| order.len() / self.microbatches() as usize;
        let end = |order: &[IndexedPass], begin, period: u32| begin + on_device(order) * period as usize;
        let mut periods: Vec<u32> = (1..=self.microbatches() - from).collect();
        let mut count = vec![0; self.classes()];
        for (order, &begin) in orders.iter().zip(&begins) {
            let (mut counted, mut most) = (begin, 0);
            periods.retain(|&period| {
                let end = end(order, begin, period);
                for pass in order.get(counted..end).unwrap_or_default() {
                    count[pass.class as usize] += 1;
                    most = most.max(count[pass.class as usize]);
                }
                counted = end;
                // As many passes as there are classes, K times: none is there more often than K only where each is K times.
                end < order.len() && most <= period
            });
            if periods.is_empty() {
                return None;
            }
        }
        let segments = periods.into_iter().map(|period| {
            let ends = orders.iter().zip(&begins).map(|(order, &begin)| end(order, begin, period));
            let cuts: Vec<(usize, usize)> = begins.iter().copied().zip(ends).collect();
            let taken = orders
                .iter()
                .zip(&cuts)
                .map(|(order, &(begin, end))| start(order[end]) - start(order[begin]));
            Segment { time: taken.max().unwrap_or_default(), cuts, period }
        });
        segments.min_by_key(|segment| Ratio::new(segment.time, i64::from(segment.period)))
    }

    /// Whether a device runs each of its classes equally often between two places of its order. `count` has a zero
    /// for each class of the device.
    fn is_even(
        &self,
        order: &[IndexedPass],
        (begin, end): (usize, usize),
        period: u32,
        count: &mut [u32],
    ) -> bool {
        // Every class of the device has all the microbatches.
        let on_device = order.len() / self.microbatches() as usize;
        end.saturating_sub(begin) == on_device * period as usize
            && order[begin..end].iter().all(|pass| {
                let count = &mut count[pass.class as usize];
                *count += 1;
                *count <= period
            })
    }
}

/// The orders of so many microbatches more, the segment repeated as often as that takes. Microbatches must be first in, first out in
/// each class; nothing when they are not.
pub(crate) fn unroll(orders: &IndexedOrders, segment: &Segment, missing: u32) -> Option<IndexedOrders> {
    let repetitions = missing.div_ceil(segment.period);
    let too_many = repetitions * segment.period - missing;
    orders
        .iter()
        .zip(&segment.cuts)
        .map(|(order, &(begin, end))| {
            let later =
                |by| move |pass: &IndexedPass| IndexedPass { microbatch: pass.microbatch + by, ..*pass };
            let mut longer = Vec::with_capacity(order.len() + (end - begin) * repetitions as usize);
            longer.extend_from_slice(&order[..end]);
            for repetition in 1..=repetitions {
                longer.extend(order[begin..end].iter().map(later(repetition * segment.period)));
            }
            longer.extend(order[end..].iter().map(later(repetitions * segment.period)));
            if too_many > 0 {
                let last = longer.iter().map(|pass| pass.microbatch).max()?;
                longer.retain(|pass| pass.microbatch + too_many <= last);
            }
            first_in_first_out(&longer).then_some(longer)
        })
        .collect()
}

/// Whether each class runs its microbatches from 0 on, one after the other.
fn first_in_first_out(order: &[IndexedPass]) -> bool {
    let classes = order.iter().map(|pass| pass.class as usize + 1).max().unwrap_or(0);
    let mut next = vec![0; classes];
    order.iter().all(|pass| {
        let next = &mut next[pass.class as usize];
        *next += 1;
        *next == pass.microbatch + 1
    })
}
