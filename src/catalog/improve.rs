//! Shortening a schedule that already runs and fits: its Ws float, its gaps are filled.

use std::collections::VecDeque;

use super::floor::{Floor, Rule};
use super::schedule;
use crate::block::{Timeline, reorder, squeeze};
use crate::model::{Device, Kind, Model, Pass, Ticks, Units};
use crate::schedule::Schedule;

/// How long a schedule is: device span, then makespan.
pub(super) type Length = (Ticks, Ticks);

/// The shortest of what a schedule becomes by letting its Ws float and by filling its gaps. The
/// schedule must keep to the limits, and what is returned does, and is never longer.
pub(super) fn improved(model: &Model, before: &Schedule, limits: &[Units]) -> (Schedule, Length) {
    let mut best = measured(model, before.clone());
    for _ in 0..ROUNDS {
        let floated = shortest_float(model, &best.0, limits);
        let filled = [&best.0, &floated.0].map(|candidate| {
            let (filled, timeline) = reorder(model, candidate, limits).expect(RUNS);
            let length = length(model, &timeline);
            (filled, length)
        });
        let [filled, floated_and_filled] = filled;
        let next = [filled, floated, floated_and_filled].into_iter().min_by_key(|(_, length)| *length);
        match next {
            Some(next) if next.1 < best.1 => best = next,
            _ => break,
        }
    }
    best
}

/// The schedule with floating Ws under the rule that makes it shortest.
pub(super) fn shortest_float(model: &Model, before: &Schedule, limits: &[Units]) -> (Schedule, Length) {
    [(0, false), (8, false), (0, true), (8, true)]
        .into_iter()
        .flat_map(|(patience, tail)| {
            let float = |cool_down| float(model, before, limits, patience, tail, cool_down);
            let undisturbed = float(CoolDown::Wait);
            [float(CoolDown::Fill), float(CoolDown::Expect(firm_starts(model, &undisturbed)))]
        })
        .map(|floated| measured(model, floated))
        .min_by_key(|(_, length)| *length)
        .expect("several rules")
}

/// The starts of all passes but W, by device.
fn firm_starts(model: &Model, schedule: &Schedule) -> Vec<VecDeque<Ticks>> {
    let timeline = squeeze(model, schedule).expect(RUNS);
    let rows = timeline.orders.iter().zip(&timeline.starts);
    rows.map(|(order, starts)| {
        order.iter().zip(starts).filter(|(pass, _)| pass.kind != Kind::W).map(|(_, &start)| start).collect()
    })
    .collect()
}

/// When Ws run once a device has started its last forward.
enum CoolDown {
    /// Where the device would wait, as before.
    Fill,
    /// When nothing else is left.
    Wait,
    /// Where they end before the next pass is expected to start.
    Expect(Vec<VecDeque<Ticks>>),
}

const ROUNDS: usize = 3;
const RUNS: &str = "orders of the catalogue follow the dependencies";

pub(super) fn measured(model: &Model, schedule: Schedule) -> (Schedule, Length) {
    let length = length(model, &squeeze(model, &schedule).expect(RUNS));
    (schedule, length)
}

fn length(model: &Model, timeline: &Timeline) -> Length {
    (timeline.device_span(model), timeline.makespan(model))
}

/// Keeps the order of all passes but W; a W runs where its device would wait, and where the next
/// forward finds no room.
///
/// That can always go on: a forward that finds no room had it in the schedule before, after Ws that
/// come before it there and can all run now.
fn float(
    model: &Model,
    before: &Schedule,
    limits: &[Units],
    patience: i64,
    tail: bool,
    cool_down: CoolDown,
) -> Schedule {
    let floor = Floor::new(model, before.orders().iter().flatten().copied());
    let firm: Vec<VecDeque<Pass>> = before
        .orders()
        .iter()
        .map(|order| order.iter().copied().filter(|pass| pass.kind != Kind::W).collect())
        .collect();
    let forwards = firm.iter().map(|firm| firm.iter().filter(|pass| pass.kind == Kind::F).count()).collect();
    let weights = vec![VecDeque::new(); limits.len()];
    let backlog = Device::all(model.devices()).map(|device| if tail { room_after(model, device) } else { usize::MAX }).collect();
    let mut rule = Floating { limits, backlog, patience, cool_down, firm, forwards, weights };
    schedule(model, floor.run(&mut rule))
}

fn room_after(model: &Model, device: Device) -> usize {
    let stages = model.placement().stages_of(device);
    let first = stages.iter().min().unwrap();
    let time: i64 = (0..first.0).map(|s| { let s = crate::model::Stage(s); (model.duration(s, Kind::F) + model.duration(s, Kind::I) + model.latency_after(s) * 2).0 }).sum();
    let w = model.duration(*first, Kind::W).0.max(1);
    (time / w) as usize + 1
}

struct Floating<'a> {
    limits: &'a [Units],
    backlog: Vec<usize>,
    /// By how many eighths of its duration a W may delay what comes next.
    patience: i64,
    cool_down: CoolDown,
    /// What each device has yet to run in this order.
    firm: Vec<VecDeque<Pass>>,
    /// How many of it are forwards.
    forwards: Vec<usize>,
    /// The Ws that each device can run.
    weights: Vec<VecDeque<Pass>>,
}

impl Floating<'_> {
    /// Takes the next pass in order.
    fn advance(&mut self, index: usize) -> Option<Pass> {
        let pass = self.firm[index].pop_front()?;
        match pass.kind {
            Kind::F => self.forwards[index] -= 1,
            Kind::I => self.weights[index].push_back(pass.with_kind(Kind::W)),
            _ => {}
        }
        if let CoolDown::Expect(starts) = &mut self.cool_down {
            starts[index].pop_front();
        }
        Some(pass)
    }

    /// Until when a W must end to run before the next pass in order: `None` where it need not.
    fn deadline(&self, index: usize, arrival: Option<Ticks>, slack: Ticks) -> Option<Ticks> {
        match &self.cool_down {
            CoolDown::Expect(starts) if self.forwards[index] == 0 => starts[index].front().copied(),
            CoolDown::Wait if self.forwards[index] == 0 => Some(Ticks::ZERO),
            _ => arrival.map(|arrival| arrival + slack),
        }
    }
}

impl Rule for Floating<'_> {
    fn choose(&mut self, floor: &Floor<'_>, device: Device, now: Ticks) -> Option<Pass> {
        let index = device.index();
        let Some(&next) = self.firm[index].front() else { return self.weights[index].pop_front() };
        if self.forwards[index] > 0 && self.weights[index].len() > self.backlog[index] {
            return self.weights[index].pop_front();
        }
        let arrival = floor.arrival(next);
        let fits = floor.fits(device, next, self.limits[index]);
        if fits && arrival.is_some_and(|arrival| arrival <= now) {
            return self.advance(index);
        }
        let weight = self.weights[index].front()?;
        let duration = floor.model.duration(weight.stage, Kind::W);
        let slack = Ticks(duration.0 * self.patience / 8);
        let in_time = self.deadline(index, arrival, slack).is_none_or(|deadline| now + duration <= deadline);
        if in_time || !fits { self.weights[index].pop_front() } else { None }
    }
}
