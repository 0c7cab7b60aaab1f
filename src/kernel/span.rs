//! The device span: the least time within which every device can run its passes if it may begin later than as soon
//! as possible. [`replay`](crate::replay) has the definition and an algorithm of its own.

use num_integer::Integer;

use super::asap::EndTimes;
use super::problem::{IndexedOrders, IndexedProblem};

/// Beyond this, in ticks, no device is held back: times would no longer fit 64 bits.
const LATEST: i64 = i64::MAX / 8;

impl IndexedProblem {
    /// The device span, in ticks, of orders whose ASAP times are given.
    ///
    /// Where times come near the limits of 64 bits, it is the largest span of the ASAP times.
    pub fn device_span(&self, orders: &IndexedOrders, times: &EndTimes) -> i64 {
        let (_, longest) = self.makespan_and_span(orders, times);
        // Where one device alone begins at 0, every longest chain comes from there.
        let mut earliest = self.spans(orders, times).filter(|&(first, _)| first == 0);
        if let (Some((_, last)), None) = (earliest.next(), earliest.next())
            && last == longest
        {
            return longest;
        }
        self.hold_back(orders, &mut EndTimes::default()).unwrap_or(longest)
    }

    /// The device span, in ticks, with the times of an execution that has it; nothing where times come near the limits
    /// of 64 bits, or the orders cannot run.
    pub fn hold_back(&self, orders: &IndexedOrders, times: &mut EndTimes) -> Option<i64> {
        Search { problem: self, orders, places: self.places(orders) }.least(times)
    }

    /// First start and last end of every device; both 0 where it has no passes.
    fn spans(&self, orders: &IndexedOrders, times: &EndTimes) -> impl Iterator<Item = (i64, i64)> {
        orders.iter().map(|order| {
            let (Some(&first), Some(&last)) = (order.first(), order.last()) else { return (0, 0) };
            (times.start(self, first), times.ends[self.cell(last)])
        })
    }

    /// By cell: the position in the order of its device.
    fn places(&self, orders: &IndexedOrders) -> Vec<usize> {
        let mut places = vec![0; self.cells()];
        for order in orders {
            for (at, &pass) in order.iter().enumerate() {
                places[self.cell(pass)] = at;
            }
        }
        places
    }
}

/// A device that is to begin later than it could.
#[derive(Debug, Clone, Copy)]
struct HeldBack {
    /// The device from whose first pass the chain comes that ends too late.
    by: usize,
    /// The length of that chain, in ticks.
    chain: i64,
}

/// What came of trying a span.
enum Tried {
    /// There are times with it.
    Runs,
    /// No times have a span below this, which is larger.
    AtLeast(i64),
    /// Times would not fit 64 bits, or the orders cannot run.
    TooLarge,
}

struct Search<'a> {
    problem: &'a IndexedProblem,
    orders: &'a IndexedOrders,
    places: Vec<usize>,
}

impl Search<'_> {
    /// The device span, with its times; nothing when times become too large.
    ///
    /// A span T is tried, from a lower bound up: each device that ends more than T after it begins is held back, until
    /// none is left, or until the devices that hold each other back form a cycle. Its mean chain is the next T.
    fn least(&self, times: &mut EndTimes) -> Option<i64> {
        let mut span = self.problem.work().iter().copied().max()?;
        loop {
            match self.within(span, times) {
                Tried::Runs => return Some(span),
                Tried::AtLeast(next) => span = next,
                Tried::TooLarge => return None,
            }
        }
    }

    /// Looks for times with this span.
    fn within(&self, span: i64, times: &mut EndTimes) -> Tried {
        let mut begins = vec![0; self.orders.len()];
        let mut held_back: Vec<Option<HeldBack>> = vec![None; begins.len()];
        loop {
            if !self.problem.asap_from(self.orders, times, &begins) {
                return Tried::TooLarge;
            }
            let mut next = begins.clone();
            for (device, (first, last)) in self.problem.spans(self.orders, times).enumerate() {
                if last - first <= span {
                    continue;
                }
                let by = self.origin(device, times, &begins);
                next[device] = last - span;
                if next[device] >= LATEST {
                    return Tried::TooLarge;
                }
                held_back[device] = Some(HeldBack { by, chain: last - begins[by] });
                if let Some(mean) = cycle_mean(&held_back, device) {
                    return Tried::AtLeast(mean);
                }
            }
            if next == begins {
                return Tried::Runs;
            }
            begins = next;
        }
    }

    /// The device from whose begin the longest chain to the end of a device comes.
    fn origin(&self, device: usize, times: &EndTimes, begins: &[i64]) -> usize {
        let (mut at, mut position) = (device, self.orders[device].len() - 1);
        loop {
            let pass = self.orders[at][position];
            let start = times.start(self.problem, pass);
            let before = position.checked_sub(1);
            if let Some(before) = before {
                if times.ends[self.problem.cell(self.orders[at][before])] == start {
                    position = before;
                    continue;
                }
            } else if begins[at] == start {
                return at;
            }
            let needs = &self.problem.class_of(pass).needs;
            let awaited = needs.iter().find(|need| {
                let end = times.ends[need.cell(pass.microbatch)];
                need.device != at && end + need.latency == start
            });
            let awaited = awaited.expect("a pass starts when its device is free or a message is there");
            (at, position) = (awaited.device, self.places[awaited.cell(pass.microbatch)]);
        }
    }
}

/// The mean chain, rounded up, of the cycle that a device is part of; nothing when it is part of none.
fn cycle_mean(held_back: &[Option<HeldBack>], device: usize) -> Option<i64> {
    let (mut at, mut sum) = (device, 0);
    for chains in 1..=held_back.len() {
        let held = held_back[at]?;
        at = held.by;
        sum += i128::from(held.chain);
        if at == device {
            let mean = Integer::div_ceil(&sum, &i128::try_from(chains).ok()?);
            return i64::try_from(mean).ok();
        }
    }
    None
}
