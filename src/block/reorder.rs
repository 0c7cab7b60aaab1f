//! Reordering: filling idle time with later passes, without raising the peak.
//!
//! The gaps of a squeezed schedule lie mostly in its warm-up and cool-down (arXiv 2405.15362,
//! section 3.3). Each gap is filled, left to right, with a later pass of the same device that is
//! ready there, fits, and does not lift the memory above the limit. All other passes keep their
//! times, so a round never makes the schedule longer; squeezing then draws everything forward, which
//! opens new gaps, until nothing moves.
//!
//! Done in both directions of time in turn, that is the double justification of project scheduling
//! (Valls, Ballestin and Quintanilla, 2005).

use super::direction::Direction;
use super::squeeze::{Cells, Stuck, Timeline, earliest, squeeze};
use crate::model::{Kind, Model, Pass, Ticks, Units};
use crate::schedule::Schedule;

/// How often filling and squeezing alternate at most; a handful of rounds suffice in practice.
const ROUNDS: usize = 64;

/// After how many rounds in both directions without a shorter schedule justification ends.
const PATIENCE: usize = 3;

/// How far ahead of a gap candidates are looked for, per stage of the device.
const LOOKAHEAD: usize = 96;

/// The schedule with its gaps filled and the times it then has. `limits` are the most each device
/// may hold; the schedule must keep to them already for the result to do so.
///
/// # Errors
/// When the schedule cannot run.
pub fn reorder(model: &Model, schedule: &Schedule, limits: &[Units]) -> Result<(Schedule, Timeline), Stuck> {
    reorder_until(model, schedule, limits, &|| false)
}

/// As [`reorder`], but `due` may end it before all gaps are filled; it is asked between rounds. The
/// result is a schedule in any case, and no longer than the one given.
///
/// # Errors
/// When the schedule cannot run.
pub fn reorder_until(
    model: &Model,
    schedule: &Schedule,
    limits: &[Units],
    due: &dyn Fn() -> bool,
) -> Result<(Schedule, Timeline), Stuck> {
    let cells = Cells::of(schedule);
    let mut orders = schedule.orders().to_vec();
    for _ in 0..ROUNDS {
        if due() || !fill_all(model, &mut orders, cells, limits, Direction::Forward)? {
            break;
        }
    }
    finished(model, schedule, orders)
}

/// The schedule justified: its gaps filled from the front, then, with every pass as late as it can
/// be, from the back, and so on as long as it becomes shorter. Never longer than [`reorder`]'s.
///
/// # Errors
/// When the schedule cannot run.
pub fn justify(model: &Model, schedule: &Schedule, limits: &[Units]) -> Result<(Schedule, Timeline), Stuck> {
    let cells = Cells::of(schedule);
    let (mut best, mut timeline) = reorder(model, schedule, limits)?;
    let mut orders = best.orders().to_vec();
    let mut patience = PATIENCE;
    while patience > 0 {
        patience -= 1;
        for direction in [Direction::Backward, Direction::Forward] {
            fill_all(model, &mut orders, cells, limits, direction)?;
        }
        let (schedule, times) = finished(model, &best, orders.clone())?;
        let before = (timeline.makespan(model), timeline.device_span(model));
        if (times.makespan(model), times.device_span(model)) < before {
            patience = PATIENCE;
            (best, timeline) = (schedule, times);
        }
    }
    Ok((best, timeline))
}

fn finished(model: &Model, like: &Schedule, orders: Vec<Vec<Pass>>) -> Result<(Schedule, Timeline), Stuck> {
    let schedule = Schedule::new(like.placement().clone(), like.microbatches(), orders)
        .expect("the same number of orders as before");
    let timeline = squeeze(model, &schedule)?;
    Ok((schedule, timeline))
}

/// Fills the gaps of all devices in a direction; tells whether anything moved.
fn fill_all(
    model: &Model,
    orders: &mut [Vec<Pass>],
    cells: Cells,
    limits: &[Units],
    direction: Direction,
) -> Result<bool, Stuck> {
    let turn = |orders: &mut [Vec<Pass>]| {
        if direction == Direction::Backward {
            for order in orders {
                order.reverse();
            }
        }
    };
    turn(orders);
    let starts = earliest(model, orders, cells, direction)?;
    let mut ends = vec![None; cells.count()];
    for (order, starts) in orders.iter().zip(&starts) {
        for (&pass, &start) in order.iter().zip(starts) {
            ends[cells.cell(pass)] = Some(start + model.duration(pass.stage, pass.kind));
        }
    }
    let mut left = vec![0; cells.classes()];
    let mut seen = vec![0; cells.classes()];
    let (mut gap, mut moved) = (0, false);
    for ((order, starts), &limit) in orders.iter_mut().zip(starts).zip(limits) {
        for pass in &*order {
            left[class(*pass)] += 1;
        }
        let classes: std::collections::BTreeSet<usize> = order.iter().map(|pass| class(*pass)).collect();
        let stages = order.iter().map(|pass| pass.stage).collect::<std::collections::BTreeSet<_>>().len();
        let order_now = std::mem::take(order);
        let window = LOOKAHEAD * stages;
        let live = Vec::new();
        let mut filling = Filling {
            model,
            cells,
            direction,
            window,
            limit,
            order: order_now,
            starts,
            live,
            left: &mut left,
            classes: classes.len(),
            seen: &mut seen,
            gap: &mut gap,
            ends: &mut ends,
        };
        moved |= filling.fill();
        *order = filling.order;
    }
    turn(orders);
    Ok(moved)
}

/// The number of a stage and kind.
fn class(pass: Pass) -> usize {
    pass.stage.index() * Kind::COUNT + pass.kind as usize
}

/// One device while its gaps are being filled.
struct Filling<'a> {
    model: &'a Model,
    cells: Cells,
    direction: Direction,
    window: usize,
    limit: Units,
    order: Vec<Pass>,
    starts: Vec<Ticks>,
    /// What is live once each pass has started.
    live: Vec<Units>,
    /// By class: how many passes are yet to come, and the gap for which the class was last looked at.
    left: &'a mut [u32],
    seen: &'a mut [u64],
    /// Of how many classes passes are yet to come.
    classes: usize,
    /// How many gaps have been looked at.
    gap: &'a mut u64,
    /// The end of every pass of the problem.
    ends: &'a mut [Option<Ticks>],
}

impl Filling<'_> {
    /// Fills the gaps from left to right; tells whether anything moved.
    fn fill(&mut self) -> bool {
        self.tally();
        let (mut at, mut free, mut moved) = (0, Ticks::ZERO, false);
        while at < self.order.len() {
            if free < self.starts[at]
                && let Some((from, start)) = self.candidate(at, free)
            {
                self.shift(from, at, start);
                moved = true;
                // The rest of the gap before the pass that was moved here may take another one.
                continue;
            }
            let pass = self.order[at];
            free = self.starts[at] + self.duration(pass);
            let left = &mut self.left[class(pass)];
            *left -= 1;
            self.classes -= usize::from(*left == 0);
            at += 1;
        }
        moved
    }

    /// The pass that can start earliest in the gap before position `at`, and when. Of each stage
    /// and kind only the next one is tried: microbatches stay first in, first out.
    fn candidate(&mut self, at: usize, free: Ticks) -> Option<(usize, Ticks)> {
        let mut best: Option<(usize, Ticks)> = None;
        *self.gap += 1;
        self.seen[class(self.order[at])] = *self.gap;
        let mut unseen = self.classes - 1;
        // The most that is live from the gap up to the position looked at.
        let mut most = self.live_before(at);
        let last = self.order.len().min(at + self.window);
        for from in at + 1..last {
            if unseen == 0 {
                break;
            }
            most = most.max(self.live[from - 1]);
            let pass = self.order[from];
            let seen = &mut self.seen[class(pass)];
            if *seen == *self.gap {
                continue;
            }
            *seen = *self.gap;
            unseen -= 1;
            if self.acquired(pass) > Units::ZERO && most + self.acquired(pass) > self.limit {
                continue;
            }
            // It must start before the pass behind the gap, even when it takes no time: it might need
            // that very pass, or just trade places with it, for ever.
            let start = free.max(self.ready(pass));
            if start < self.starts[at]
                && start + self.duration(pass) <= self.starts[at]
                && best.is_none_or(|(_, earliest)| start < earliest)
            {
                best = Some((from, start));
                if start == free {
                    break;
                }
            }
        }
        best
    }

    /// When everything a pass needs has ended and arrived.
    fn ready(&self, pass: Pass) -> Ticks {
        let present = |other| self.ends[self.cells.cell(other)].is_some();
        self.direction
            .before(self.model, pass, present)
            .filter_map(|(needs, latency)| self.ends[self.cells.cell(needs)].map(|end| end + latency))
            .max()
            .unwrap_or_default()
    }

    /// Moves the pass at position `from` before the one at `to`, to start at `start`.
    fn shift(&mut self, from: usize, to: usize, start: Ticks) {
        let pass = self.order[from];
        let before = self.live_before(to);
        let kept = self.acquired(pass) - self.released(pass);
        self.order[to..=from].rotate_right(1);
        self.starts[to..=from].rotate_right(1);
        self.live[to..=from].rotate_right(1);
        self.starts[to] = start;
        self.live[to] = before + self.acquired(pass);
        for live in &mut self.live[to + 1..=from] {
            *live += kept;
        }
        self.ends[self.cells.cell(pass)] = Some(start + self.duration(pass));
    }

    /// What is live before the pass at a position starts.
    fn live_before(&self, at: usize) -> Units {
        at.checked_sub(1).map_or(Units::ZERO, |before| self.live[before] - self.released(self.order[before]))
    }

    fn tally(&mut self) {
        let mut live = Units::ZERO;
        self.live.clear();
        for at in 0..self.order.len() {
            live += self.acquired(self.order[at]);
            self.live.push(live);
            live -= self.released(self.order[at]);
        }
    }

    fn duration(&self, pass: Pass) -> Ticks {
        self.model.duration(pass.stage, pass.kind)
    }

    fn acquired(&self, pass: Pass) -> Units {
        self.direction.acquired(self.model, pass, self.recomputed(pass))
    }

    fn released(&self, pass: Pass) -> Units {
        self.direction.released(self.model, pass, self.recomputed(pass))
    }

    fn recomputed(&self, pass: Pass) -> bool {
        self.ends[self.cells.cell(pass.with_kind(Kind::R))].is_some()
    }
}
