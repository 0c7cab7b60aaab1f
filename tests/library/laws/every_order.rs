//! The optimum of small problems, found by trying all orders.

use std::collections::BTreeSet;

use bubbleproof::certificate::Objective;
use bubbleproof::model::{Device, Kind, Microbatch, Model, Pass, Stage};

use super::naive;

/// The shortest schedule in which every microbatch runs these kinds of passes, first in, first out;
/// nothing when none keeps to the capacities, or when there are too many orders to try.
pub fn optimum(model: &Model, kinds: &[Kind], objective: Objective) -> Option<i64> {
    let mut passes = Vec::new();
    for stage in Stage::all(model.stages()) {
        for &kind in kinds {
            passes.extend(Microbatch::all(model.microbatches()).map(|of| Pass::new(stage, kind, of)));
        }
    }
    optimum_of(model, &passes, objective).ok()?
}

pub struct TooManyOrders;

/// The same for these passes, of which those of one stage and one kind follow each other; nothing when no order keeps to the
/// capacities.
pub fn optimum_of(
    model: &Model,
    passes: &[Pass],
    objective: Objective,
) -> Result<Option<i64>, TooManyOrders> {
    let mut search = Search::new(model, passes, objective);
    search.extend(0);
    if search.left > 0 { Ok((search.best < i64::MAX).then_some(search.best)) } else { Err(TooManyOrders) }
}

/// How many beginnings of schedules are tried for a problem: a few random ones have a thousand times
/// more of them than all the others.
const MOST_ORDERS: u64 = 1_000_000;

/// A pass, or the two of a pair, by their places among the passes.
struct Step {
    passes: Vec<usize>,
    device: usize,
    duration: i64,
    /// What the device holds more while it runs, and from its end on.
    needed: i64,
    change: i64,
}

/// What must have ended before a pass.
struct Before {
    /// The pass of the same stage and kind of the microbatch before.
    same: Option<usize>,
    /// What it needs, each with the latency until it has arrived.
    needs: Vec<(usize, i64)>,
}

struct Search {
    objective: Objective,
    steps: Vec<Step>,
    before: Vec<Before>,
    capacities: Vec<Option<i64>>,
    /// In pairs, what is left may take less than it does alone.
    pairs: bool,
    /// The device that begins before all others, where there is one.
    begins_all: Option<usize>,
    ends: Vec<Option<i64>>,
    /// By device: when it has ended what it has begun, how long it has worked, and what it has yet to do.
    free: Vec<Option<i64>>,
    worked: Vec<i64>,
    remaining: Vec<i64>,
    /// By device: its steps so far, by their place in `steps`.
    orders: Vec<Vec<usize>>,
    live: Vec<i64>,
    best: i64,
    /// How many more beginnings of schedules are tried.
    left: u64,
}

impl Search {
    fn new(model: &Model, passes: &[Pass], objective: Objective) -> Self {
        let devices = model.devices() as usize;
        let placement = model.placement();
        let pairs = model.has_cheaper_pairs();
        let device = |pass: Pass| placement.device_of(pass.stage);
        let mut steps = Vec::new();
        for (at, &pass) in passes.iter().enumerate() {
            steps.push(step(model, passes, &[at]));
            if pass.kind == Kind::F && pairs {
                let backwards = (0..passes.len()).filter(|&other| {
                    matches!(passes[other].kind, Kind::I | Kind::B) && device(passes[other]) == device(pass)
                });
                steps.extend(backwards.map(|other| step(model, passes, &[at, other])));
            }
        }
        let before = passes.iter().enumerate().map(|(at, &pass)| {
            let same = at.checked_sub(1).filter(|&last| {
                let last = passes[last];
                (last.stage, last.kind) == (pass.stage, pass.kind)
            });
            let needs = naive::needs(pass, model, passes).map(|need| {
                let place = passes.iter().position(|&other| other == need).expect("it is one of them");
                (place, naive::latency(model, need, pass))
            });
            Before { same, needs: needs.collect() }
        });
        let mut remaining = vec![0; devices];
        for &pass in passes {
            remaining[device(pass).index()] += naive::duration(model, pass);
        }
        let capacity = |device| model.activation_capacity(device).map(|capacity| capacity.0);
        Self {
            objective,
            before: before.collect(),
            capacities: Device::all(model.devices()).map(capacity).collect(),
            pairs,
            begins_all: (placement.directions() == 1).then(|| placement.device_of(Stage(0)).index()),
            ends: vec![None; passes.len()],
            free: vec![None; devices],
            worked: vec![0; devices],
            remaining,
            orders: vec![Vec::new(); devices],
            live: vec![0; devices],
            best: i64::MAX,
            left: MOST_ORDERS,
            steps,
        }
    }

    /// Appends every pass and pair that can come next, in the order of starts.
    fn extend(&mut self, now: i64) {
        self.left = self.left.saturating_sub(1);
        if self.left == 0 || self.least() >= self.best {
            return;
        }
        if self.ends.iter().all(Option::is_some) {
            self.best = match self.objective {
                Objective::Makespan => self.least(),
                Objective::DeviceSpan => self.span_below(self.best),
            };
            return;
        }
        for at in 0..self.steps.len() {
            self.append(at, now);
        }
    }

    /// Appends a step if it can come next, and goes on from there.
    fn append(&mut self, at: usize, now: i64) {
        let Step { ref passes, device, duration, needed, change } = self.steps[at];
        let mut start = self.free[device].unwrap_or(0);
        for &pass in passes {
            let Before { same, needs } = &self.before[pass];
            if self.ends[pass].is_some() || same.is_some_and(|last| self.ends[last].is_none()) {
                return;
            }
            for &(need, latency) in needs {
                let Some(end) = self.ends[need] else { return };
                start = start.max(end + latency);
            }
        }
        if start < now || self.capacities[device].is_some_and(|most| self.live[device] + needed > most) {
            return;
        }
        let before = self.free[device];
        for &pass in passes {
            self.ends[pass] = Some(start + duration);
        }
        self.free[device] = Some(start + duration);
        self.worked[device] += duration;
        self.remaining[device] -= duration;
        self.live[device] += change;
        self.orders[device].push(at);
        self.extend(start);
        self.orders[device].pop();
        self.live[device] -= change;
        self.remaining[device] += duration;
        self.worked[device] -= duration;
        self.free[device] = before;
        for &pass in &self.steps[at].passes {
            self.ends[pass] = None;
        }
    }

    /// What the schedule so far takes at the least.
    fn least(&self) -> i64 {
        let spans = (0..self.free.len()).map(|device| {
            let free = match self.objective {
                Objective::DeviceSpan if self.begins_all != Some(device) => self.worked[device],
                _ => self.free[device].unwrap_or(0),
            };
            free + if self.pairs { 0 } else { self.remaining[device] }
        });
        spans.max().unwrap_or(0)
    }

    /// The least device span of the orders, which are complete, if that is below a span; otherwise the span.
    fn span_below(&self, most: i64) -> i64 {
        // One step after the other, each after all messages.
        let latencies: i64 =
            self.before.iter().flat_map(|before| &before.needs).map(|(_, latency)| latency).sum();
        let enough = self.worked.iter().sum::<i64>() + latencies;
        if most <= enough && !self.runs_within(most - 1) {
            return most;
        }
        let (mut too_short, mut enough) = (-1, enough.min(most.saturating_sub(1)));
        while enough - too_short > 1 {
            let middle = i64::midpoint(too_short, enough);
            if self.runs_within(middle) {
                enough = middle;
            } else {
                too_short = middle;
            }
        }
        enough
    }

    /// Whether the orders have an execution in which every device ends within a span after it begins: starts are raised
    /// until nothing is too early, which never ends if it takes more rounds than there are passes.
    fn runs_within(&self, span: i64) -> bool {
        // By pass; those of a pair start and end together.
        let mut starts = vec![0; self.before.len()];
        let mut ends = vec![0; self.before.len()];
        for _ in 0..=starts.len() {
            let mut moved = false;
            for order in &self.orders {
                let mut free = 0;
                for step in order.iter().map(|&step| &self.steps[step]) {
                    let needs = step.passes.iter().flat_map(|&pass| &self.before[pass].needs);
                    let arrivals = needs.map(|&(need, latency)| ends[need] + latency);
                    let start = arrivals.fold(free.max(starts[step.passes[0]]), i64::max);
                    free = start + step.duration;
                    for &pass in &step.passes {
                        moved |= ends[pass] != free;
                        (starts[pass], ends[pass]) = (start, free);
                    }
                }
                if let [first, ..] = order[..] {
                    for &pass in &self.steps[first].passes {
                        moved |= starts[pass] < free - span;
                        starts[pass] = starts[pass].max(free - span);
                    }
                }
            }
            if !moved {
                return true;
            }
        }
        false
    }
}

fn step(model: &Model, all: &[Pass], places: &[usize]) -> Step {
    let passes: Vec<Pass> = places.iter().map(|&at| all[at]).collect();
    let recomputed = |pass: Pass| all.contains(&pass.with_kind(Kind::R));
    let (mut needed, mut change, mut duration) = (0, 0, 0);
    for &pass in &passes {
        let (acquires, releases) = memory(model, pass, recomputed(pass));
        needed += acquires + model.workspace(pass.stage, pass.kind).0;
        change += acquires - releases;
        duration += naive::duration(model, pass);
    }
    let stages: BTreeSet<Stage> = passes.iter().map(|pass| pass.stage).collect();
    needed += stages.into_iter().map(|stage| model.gathered(stage).0).sum::<i64>();
    if let [forward, backward] = passes[..] {
        duration -= model.pair_saves(forward.stage, backward.stage, backward.kind).0;
    }
    let device = model.placement().device_of(passes[0].stage).index();
    Step { passes: places.to_vec(), device, duration, needed, change }
}

/// What a pass acquires and releases.
fn memory(model: &Model, pass: Pass, recomputed: bool) -> (i64, i64) {
    let whole = model.activation(pass.stage).0;
    let retained = model.retained_for_weight(pass.stage).0;
    let checkpoint = model.checkpoint(pass.stage).map_or(whole, |units| units.0);
    match pass.kind {
        Kind::F if recomputed => (checkpoint, 0),
        Kind::F => (whole, 0),
        Kind::R => (whole - checkpoint, 0),
        Kind::I => ((retained - whole).max(0), (whole - retained).max(0)),
        Kind::W => (0, retained),
        Kind::B => (0, whole),
    }
}
