//! List scheduling: time goes forward, and whenever a device is free a policy says what it starts.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::asap::UNKNOWN;
use super::problem::{IndexedOrders, IndexedPass, IndexedProblem};
use crate::stop::Stop;

/// How many decisions are made between two looks at the clock, which take as long as several of them.
const DECISIONS: u32 = 1024;

/// What free devices do next.
pub(crate) trait Policy {
    /// The pass that a device starts now, or nothing where it rather waits. It must have
    /// [arrived](PartialSchedule::arrival) by now.
    fn choose(&mut self, so_far: &PartialSchedule<'_>, device: usize, now: i64) -> Option<IndexedPass>;

    /// Hears of a pass that has started and ends then.
    fn started(&mut self, _problem: &IndexedProblem, _pass: IndexedPass, _end: i64) {}
}

/// The orders that a policy makes, one per device; nothing when it stops before every pass has run, or when it is
/// time to stop.
pub(crate) fn list_schedule(
    problem: &IndexedProblem,
    policy: &mut impl Policy,
    stop: &Stop,
) -> Option<IndexedOrders> {
    let mut so_far = PartialSchedule::new(problem);
    let mut decisions: u32 = 0;
    while let Some(Reverse((now, device))) = so_far.agenda.pop() {
        decisions = decisions.wrapping_add(1);
        if decisions.is_multiple_of(DECISIONS) && stop.is_due() {
            return None;
        }
        if so_far.free[device] <= now
            && let Some(pass) = policy.choose(&so_far, device, now)
        {
            let end = so_far.start(device, pass, now);
            policy.started(problem, pass, end);
        }
    }
    (so_far.orders.iter().map(Vec::len).sum::<usize>() == problem.passes()).then_some(so_far.orders)
}

/// A schedule as far as it has been made.
pub(crate) struct PartialSchedule<'a> {
    pub problem: &'a IndexedProblem,
    /// The end of every pass that has started, by cell.
    ends: Vec<i64>,
    /// When each device is free.
    free: Vec<i64>,
    /// What is live on each device once its last pass has ended.
    live: Vec<i64>,
    orders: IndexedOrders,
    /// When a device has something to decide: it becomes free, or something arrives.
    agenda: BinaryHeap<Reverse<(i64, usize)>>,
}

impl<'a> PartialSchedule<'a> {
    fn new(problem: &'a IndexedProblem) -> Self {
        let devices = problem.limits.len();
        Self {
            problem,
            ends: vec![UNKNOWN; problem.cells()],
            free: vec![0; devices],
            live: vec![0; devices],
            orders: (0..devices).map(|device| Vec::with_capacity(problem.passes_of(device))).collect(),
            agenda: (0..devices).map(|device| Reverse((0, device))).collect(),
        }
    }

    /// When everything that a pass needs has ended and arrived; nothing while some of it has not even started.
    pub fn arrival(&self, pass: IndexedPass) -> Option<i64> {
        let mut arrival = 0;
        for need in &self.problem.class_of(pass).needs {
            let end = self.ends[need.cell(pass.microbatch)];
            if end == UNKNOWN {
                return None;
            }
            arrival = arrival.max(end + need.latency);
        }
        Some(arrival)
    }

    /// Whether a device has room for what a pass acquires, within a limit.
    pub fn has_room(&self, device: usize, held: i64, limit: i64) -> bool {
        held <= 0 || self.live[device] + held <= limit
    }

    /// Starts a pass; returns when it ends.
    fn start(&mut self, device: usize, pass: IndexedPass, now: i64) -> i64 {
        let class = self.problem.class_of(pass);
        let end = now + class.duration;
        self.ends[class.cell(pass.microbatch)] = end;
        // Nothing else starts on this device before the end, so a release may be booked now.
        self.live[device] += class.held;
        self.orders[device].push(pass);
        self.free[device] = end;
        self.agenda.push(Reverse((end, device)));
        for fed in class.feeds.iter().filter(|fed| fed.device != device) {
            self.agenda.push(Reverse((end + fed.latency, fed.device)));
        }
        end
    }
}
