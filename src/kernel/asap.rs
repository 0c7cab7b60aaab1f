//! The ASAP pass: every pass as soon as the order of its device and what it needs allow. A schedule with these
//! times is left-shifted.

use super::problem::{IndexedOrders, IndexedPass, IndexedProblem};

/// Nothing is known of a time yet.
pub(super) const UNKNOWN: i64 = i64::MIN;

/// When passes end, by cell, and room for the work of finding out.
#[derive(Debug, Clone, Default)]
pub(crate) struct EndTimes {
    /// In ticks.
    pub ends: Vec<i64>,
    /// How many passes of each device have an end.
    next: Vec<usize>,
    /// Devices to look at.
    waiting: Vec<usize>,
    /// How long each device may yet wait.
    idle: Vec<i64>,
}

impl EndTimes {
    /// How many passes have an end.
    pub(super) fn known(&self) -> usize {
        self.next.iter().sum()
    }

    /// When a pass that has an end starts, in ticks.
    pub(super) fn start(&self, problem: &IndexedProblem, pass: IndexedPass) -> i64 {
        let class = problem.class_of(pass);
        self.ends[class.cell(pass.microbatch)] - class.duration
    }
}

impl IndexedProblem {
    /// Finds the earliest end of every pass. Returns whether every pass can run.
    pub fn asap(&self, orders: &IndexedOrders, times: &mut EndTimes) -> bool {
        self.asap_within(orders, times, i64::MAX)
    }

    /// As [`asap`](Self::asap), but each device begins no sooner than an instant of its own, in ticks.
    pub fn asap_from(&self, orders: &IndexedOrders, times: &mut EndTimes, begins: &[i64]) -> bool {
        self.run(orders, times, i64::MAX, |device| begins[device])
    }

    /// As [`asap`](Self::asap), but gives up as soon as some device cannot have ended its passes by a limit, in
    /// ticks, even if it never waits again.
    pub fn asap_within(&self, orders: &IndexedOrders, times: &mut EndTimes, limit: i64) -> bool {
        self.run(orders, times, limit, |_| 0)
    }

    #[inline]
    fn run(
        &self,
        orders: &IndexedOrders,
        times: &mut EndTimes,
        limit: i64,
        begin: impl Fn(usize) -> i64,
    ) -> bool {
        let EndTimes { ends, next, waiting, idle } = times;
        ends.clear();
        ends.resize(self.cells(), UNKNOWN);
        next.clear();
        next.resize(orders.len(), 0);
        idle.clear();
        idle.extend(self.work().iter().map(|work| limit - work));
        waiting.clear();
        // Each device goes on as far as it can: passes near in time are near in memory then.
        waiting.extend((0..orders.len()).rev());
        while let Some(device) = waiting.pop() {
            let order = &orders[device];
            let mut at = next[device];
            let mut free =
                at.checked_sub(1).map_or_else(|| begin(device), |before| ends[self.cell(order[before])]);
            'passes: while let Some(&pass) = order.get(at) {
                let class = self.class_of(pass);
                let mut start = free;
                for need in &class.needs {
                    let end = ends[need.cell(pass.microbatch)];
                    if end == UNKNOWN {
                        break 'passes;
                    }
                    start = start.max(end + need.latency);
                }
                idle[device] -= start - free;
                if idle[device] < 0 {
                    return false;
                }
                free = start + class.duration;
                ends[class.cell(pass.microbatch)] = free;
                at += 1;
                for fed in &class.feeds {
                    // Only what comes next on its device has waited for this.
                    let is_awaited = || {
                        let next = orders[fed.device].get(next[fed.device]);
                        next.is_some_and(|next| next.class == fed.class && next.microbatch == pass.microbatch)
                    };
                    if fed.device != device && is_awaited() {
                        waiting.push(fed.device);
                    }
                }
            }
            next[device] = at;
        }
        orders.iter().zip(next).all(|(order, &mut at)| at == order.len())
    }

    /// The last end, and the largest time between first start and last end of a device, in ticks. With ASAP times that
    /// is at least the [device span](Self::device_span).
    pub fn makespan_and_span(&self, orders: &IndexedOrders, times: &EndTimes) -> (i64, i64) {
        let mut length = (0, 0);
        for order in orders {
            let (Some(&first), Some(&last)) = (order.first(), order.last()) else { continue };
            let start = times.start(self, first);
            let end = times.ends[self.cell(last)];
            length = (end.max(length.0), (end - start).max(length.1));
        }
        length
    }
}
