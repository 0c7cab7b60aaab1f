//! Filling gaps: idle time is filled with later passes, without raising the peak.
//!
//! The gaps of a left-shifted schedule lie mostly in its warm-up and cool-down (arXiv 2405.15362, section 3.3).
//! Each gap of a device is filled, from the first to the last, with a later pass of the same device that is ready
//! there, fits, and lifts the memory nowhere above the limit. All other passes keep their times, so a round never
//! makes the schedule longer; the ASAP pass then draws everything forward, which opens new gaps.
//!
//! Given a reversed problem, the same fills gaps from the end of time.

use super::asap::{EndTimes, UNKNOWN};
use super::problem::{IndexedOrders, IndexedPass, IndexedProblem};
use crate::stop::Stop;

/// How often filling and the ASAP pass alternate at most; a handful of rounds suffice in practice.
const ROUNDS: usize = 64;

/// How far ahead of a gap candidates are looked for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Lookahead {
    /// This many passes for each stage of the device.
    PerStage(usize),
    /// This many passes for each stage and kind of the device.
    PerClass(usize),
}

impl Lookahead {
    /// What named schedules are built with.
    pub const NAMED: Self = Self::PerStage(96);
    /// What the search looks at, and counts on for its speed.
    pub const SEARCH: Self = Self::PerClass(32);

    fn window(self, problem: &IndexedProblem, device: usize) -> usize {
        let classes = problem.on_device(device);
        match self {
            Self::PerStage(passes) => {
                let stages =
                    classes.chunk_by(|&one, &other| problem.class(one).stage == problem.class(other).stage);
                passes * stages.count()
            }
            Self::PerClass(passes) => passes * classes.len(),
        }
    }
}

/// Fills gaps, with room to work in.
#[derive(Debug)]
pub(crate) struct GapFiller {
    lookahead: Lookahead,
    times: EndTimes,
    /// What is live on a device once each pass has ended, and when each starts.
    live: Vec<i64>,
    starts: Vec<i64>,
    /// By stage and kind: the gap in which it was last looked at, and how many of its passes are yet to come.
    seen: Vec<u64>,
    left: Vec<u32>,
    gap: u64,
}

/// A gap of a device.
#[derive(Clone, Copy)]
struct Gap {
    /// The most that its device may hold.
    limit: i64,
    /// How far ahead candidates are looked for.
    window: usize,
    /// The place in the order of the pass behind it.
    at: usize,
    /// When it begins.
    free: i64,
    /// How many classes have passes from there on.
    classes_left: usize,
}

impl GapFiller {
    /// Room for a problem, or for the same seen from the end of time.
    pub fn new(problem: &IndexedProblem, lookahead: Lookahead) -> Self {
        Self {
            lookahead,
            times: EndTimes::default(),
            live: Vec::new(),
            starts: Vec::new(),
            seen: vec![0; problem.classes()],
            left: vec![0; problem.classes()],
            gap: 0,
        }
    }

    /// Fills gaps and left-shifts in turn until nothing moves, or it is time to stop. Orders that cannot run stay
    /// as they are.
    pub fn fill_all(&mut self, problem: &IndexedProblem, orders: &mut IndexedOrders, stop: &Stop) {
        for _ in 0..ROUNDS {
            if stop.is_due() || self.fill_once(problem, orders, stop) != Some(true) {
                break;
            }
        }
    }

    /// Fills the gaps of all devices once, or of as many as there is time for. Returns whether anything moved; nothing
    /// when the orders cannot run.
    pub fn fill_once(
        &mut self,
        problem: &IndexedProblem,
        orders: &mut IndexedOrders,
        stop: &Stop,
    ) -> Option<bool> {
        let mut times = std::mem::take(&mut self.times);
        let runs = problem.asap(orders, &mut times);
        let mut moved = false;
        if runs {
            for (device, order) in orders.iter_mut().enumerate() {
                if stop.is_due() {
                    break;
                }
                moved |= self.fill_device(problem, device, order, &mut times.ends);
            }
        }
        self.times = times;
        runs.then_some(moved)
    }

    fn fill_device(
        &mut self,
        problem: &IndexedProblem,
        device: usize,
        order: &mut [IndexedPass],
        ends: &mut [i64],
    ) -> bool {
        self.live.clear();
        self.starts.clear();
        let mut live = 0;
        for &pass in &*order {
            let class = problem.class_of(pass);
            live += class.held;
            self.live.push(live);
            self.starts.push(ends[class.cell(pass.microbatch)] - class.duration);
        }
        for &class in problem.on_device(device) {
            self.left[class as usize] = problem.passes_in(class);
        }
        let (limit, window) = (problem.limits[device], self.lookahead.window(problem, device));
        let mut gap = Gap { limit, window, at: 0, free: 0, classes_left: problem.on_device(device).len() };
        let mut moved = false;
        while gap.at < order.len() {
            let at = gap.at;
            if gap.free < self.starts[at]
                && let Some((from, start)) = self.candidate(problem, order, ends, gap)
            {
                let class = problem.class_of(order[from]);
                let before = if at == 0 { 0 } else { self.live[at - 1] };
                ends[class.cell(order[from].microbatch)] = start + class.duration;
                order[at..=from].rotate_right(1);
                self.starts[at..=from].rotate_right(1);
                self.live[at..=from].rotate_right(1);
                self.starts[at] = start;
                self.live[at] = before + class.held;
                for live in &mut self.live[at + 1..=from] {
                    *live += class.held;
                }
                moved = true;
                // The rest of the gap before the pass that was moved here may take another one.
                continue;
            }
            let class = problem.class_of(order[at]);
            gap.free = self.starts[at] + class.duration;
            let left = &mut self.left[problem.line(order[at])];
            *left -= 1;
            gap.classes_left -= usize::from(*left == 0);
            gap.at += 1;
        }
        moved
    }

    /// The pass that can start earliest in a gap: its place in the order, and when. Tries only the
    /// next pass of each stage and kind: microbatches stay first in, first out.
    fn candidate(
        &mut self,
        problem: &IndexedProblem,
        order: &[IndexedPass],
        ends: &[i64],
        Gap { limit, window, at, free, classes_left }: Gap,
    ) -> Option<(usize, i64)> {
        self.gap += 1;
        self.seen[problem.line(order[at])] = self.gap;
        let mut unseen = classes_left - 1;
        let mut best: Option<(usize, i64)> = None;
        let next = self.starts[at];
        // The most that is live from the gap up to the position looked at.
        let mut most = if at == 0 { 0 } else { self.live[at - 1] };
        let last = order.len().min(at + window);
        for (from, &pass) in order.iter().enumerate().take(last).skip(at + 1) {
            if unseen == 0 {
                break;
            }
            most = most.max(self.live[from - 1]);
            let seen = &mut self.seen[problem.line(pass)];
            if *seen == self.gap {
                continue;
            }
            *seen = self.gap;
            unseen -= 1;
            let class = problem.class_of(pass);
            if class.held > 0 && most + class.held > limit {
                continue;
            }
            // It must start before the pass behind the gap, even when it takes no time: it might need
            // that very pass, or just trade places with it, for ever.
            let mut start = free;
            for need in &class.needs {
                let end = ends[need.cell(pass.microbatch)];
                start = if end == UNKNOWN { next } else { start.max(end + need.latency) };
            }
            if start < next && start + class.duration <= next && best.is_none_or(|(_, known)| start < known) {
                best = Some((from, start));
                if start == free {
                    break;
                }
            }
        }
        best
    }
}
