//! Filling gaps in dense numbers: what `block::justify` does, for the inner loop of the search.
//!
//! Each gap of a device is filled, left to right, with a later pass of the same device that is ready
//! there, fits, and lifts the memory nowhere above the limit; all other passes keep their times.
//! Done in both directions of time in turn, that is the double justification of project scheduling
//! (Valls, Ballestin and Quintanilla, 2005).

use super::dense::{Dense, Item, Orders, Times, UNKNOWN, turned};

/// How far ahead of a gap candidates are looked for, per class of the device.
const LOOKAHEAD: usize = 32;

/// How often both directions alternate without a shorter schedule before it ends.
const PATIENCE: usize = 3;

/// Both directions of a problem, and room to work in.
pub(super) struct Justifier<'a> {
    forward: &'a Dense,
    backward: &'a Dense,
    times: Times,
    live: Vec<i64>,
    starts: Vec<i64>,
    /// By class: the gap in which it was last looked at, and how many of its passes are yet to come.
    seen: Vec<u64>,
    left: Vec<u32>,
    gap: u64,
    /// Passes placed so far: what the work is measured in.
    pub placed: usize,
}

impl<'a> Justifier<'a> {
    pub(super) fn new(forward: &'a Dense, backward: &'a Dense) -> Self {
        let classes = forward.classes.len();
        Self {
            forward,
            backward,
            times: Times::default(),
            live: Vec::new(),
            starts: Vec::new(),
            seen: vec![0; classes],
            left: vec![0; classes],
            gap: 0,
            placed: 0,
        }
    }

    /// Makes orders that keep to the limits shorter, as far as it goes; `due` ends it before. What is
    /// left in `orders` is the shortest by `value` that was met, with its value; nothing when they
    /// cannot run.
    pub(super) fn justify<V: Ord>(
        &mut self,
        orders: &mut Orders,
        value: impl Fn(i64, i64) -> V,
        due: &dyn Fn() -> bool,
    ) -> Option<V> {
        let mut best = self.measure(orders, &value)?;
        let mut at = orders.clone();
        let mut patience = PATIENCE;
        while patience > 0 && !due() {
            patience -= 1;
            turned(&mut at);
            let back = self.fill(&mut at, self.backward);
            turned(&mut at);
            let front = self.fill(&mut at, self.forward);
            let (back, front) = (back?, front?);
            let reached = self.measure(&at, &value)?;
            if reached < best {
                best = reached;
                orders.clone_from(&at);
                patience = PATIENCE;
            }
            if !back && !front {
                break;
            }
        }
        Some(best)
    }

    fn measure<V>(&mut self, orders: &Orders, value: &impl Fn(i64, i64) -> V) -> Option<V> {
        self.placed += self.forward.passes();
        let runs = self.forward.squeeze(orders, &mut self.times);
        let (makespan, span) = self.forward.length(orders, &self.times);
        runs.then(|| value(makespan, span))
    }

    /// Fills the gaps of all devices in a direction; tells whether anything moved, or nothing when the
    /// orders cannot run.
    fn fill(&mut self, orders: &mut Orders, dense: &Dense) -> Option<bool> {
        self.placed += 3 * dense.passes();
        let mut times = std::mem::take(&mut self.times);
        let runs = dense.squeeze(orders, &mut times);
        let mut moved = false;
        if runs {
            for (device, order) in orders.iter_mut().enumerate() {
                moved |= self.fill_device(dense, device, order, &mut times.ends);
            }
        }
        self.times = times;
        runs.then_some(moved)
    }

    fn fill_device(&mut self, dense: &Dense, device: usize, order: &mut [Item], ends: &mut [i64]) -> bool {
        self.live.clear();
        self.starts.clear();
        let mut live = 0;
        for &item in &*order {
            let class = dense.class_of(item);
            live += class.held;
            self.live.push(live);
            self.starts.push(ends[dense.cell(item)] - class.duration);
        }
        for &class in &dense.on_device[device] {
            self.left[class as usize] = dense.microbatches;
        }
        let mut classes_left = dense.on_device[device].len();
        let (mut at, mut free, mut moved) = (0, 0, false);
        while at < order.len() {
            if free < self.starts[at]
                && let Some((from, start)) =
                    self.candidate(dense, device, order, ends, (at, free, classes_left))
            {
                let item = order[from];
                let held = dense.class_of(item).held;
                let before = if at == 0 { 0 } else { self.live[at - 1] };
                order[at..=from].rotate_right(1);
                self.starts[at..=from].rotate_right(1);
                self.live[at..=from].rotate_right(1);
                self.live[at] = before + held;
                for live in &mut self.live[at + 1..=from] {
                    *live += held;
                }
                self.starts[at] = start;
                ends[dense.cell(item)] = start + dense.class_of(item).duration;
                moved = true;
                // The rest of the gap before the pass that was moved here may take another one.
                continue;
            }
            let item = order[at];
            free = self.starts[at] + dense.class_of(item).duration;
            let left = &mut self.left[item.class as usize];
            *left -= 1;
            classes_left -= usize::from(*left == 0);
            at += 1;
        }
        moved
    }

    /// The pass that can start earliest in the gap before position `at`, and when. Of each class only
    /// the next one is tried: microbatches stay first in, first out.
    fn candidate(
        &mut self,
        dense: &Dense,
        device: usize,
        order: &[Item],
        ends: &[i64],
        (at, free, classes_left): (usize, i64, usize),
    ) -> Option<(usize, i64)> {
        self.gap += 1;
        self.seen[order[at].class as usize] = self.gap;
        let mut unseen = classes_left - 1;
        let mut best: Option<(usize, i64)> = None;
        let next = self.starts[at];
        // The most that is live from the gap up to the position looked at.
        let mut most = if at == 0 { 0 } else { self.live[at - 1] };
        let last = order.len().min(at + LOOKAHEAD * dense.on_device[device].len());
        for (from, &item) in order.iter().enumerate().take(last).skip(at + 1) {
            if unseen == 0 {
                break;
            }
            most = most.max(self.live[from - 1]);
            let seen = &mut self.seen[item.class as usize];
            if *seen == self.gap {
                continue;
            }
            *seen = self.gap;
            unseen -= 1;
            let class = dense.class_of(item);
            if class.held > 0 && most + class.held > dense.limits[device] {
                continue;
            }
            // It must start before the pass behind the gap, even when it takes no time: it might need
            // that very pass, or just trade places with it, for ever.
            let mut start = free;
            for &(need, lag) in &class.needs {
                let end = ends[dense.cell(Item { class: need, ..item })];
                start = if end == UNKNOWN { next } else { start.max(end + lag) };
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
