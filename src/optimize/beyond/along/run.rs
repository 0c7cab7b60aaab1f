//! List scheduling by a plan: as time goes on, every device starts what there is, and what fits.
//!
//! Where the buffer of a message is posted depends on the orders alone: on the turns that passes would take if all took equally long
//! ([`Turn`]). A turn follows from what has been placed, so what a device holds is known exactly. A message may well be posted
//! before passes that the receiver has placed already, if its sender has had fewer turns.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, VecDeque};

use super::plan::{Backward, Item, Plan, Rule};
use crate::model::{Device, Kind, Microbatch, Model, Pass, Stage};
use crate::optimize::dispatch::{Prefer, Weight};
use crate::optimize::needs::Needs;
use crate::stop::Stop;

/// The passes of a stage.
struct OfStage {
    device: usize,
    /// By kind, in the order of [`Kind::ALL`]: ticks.
    durations: [i64; Kind::COUNT],
    /// By kind: what passes need where the activation is kept, and where it is recomputed.
    needs: [[Needs; Kind::COUNT]; 2],
    /// How long messages are under way to the next stage and to the one before, in ticks; nothing where there is none.
    above: Option<i64>,
    below: Option<i64>,
    /// The buffer of a gradient, in units.
    received: i64,
}

/// The position of a kind in [`Kind::ALL`].
const fn place(kind: Kind) -> usize {
    match kind {
        Kind::F => 0,
        Kind::R => 1,
        Kind::I => 2,
        Kind::W => 3,
        Kind::B => 4,
    }
}

/// The devices that send something to a device whose buffers take room.
#[derive(Clone, Default)]
struct Senders {
    all: BTreeSet<usize>,
    gradients: BTreeSet<usize>,
}

/// The model by number.
pub(super) struct Problem {
    stages: Vec<OfStage>,
    /// By device: the most that it may hold, in units.
    limits: Vec<i64>,
    /// By device.
    senders: Vec<Senders>,
    /// By device: the largest buffer of a gradient, in units.
    most_received: Vec<i64>,
    microbatches: u32,
}

impl Problem {
    pub(super) fn new(model: &Model) -> Self {
        let placement = model.placement();
        let of_stage = |stage: Stage| OfStage {
            device: placement.device_of(stage).index(),
            durations: Kind::ALL.map(|kind| model.duration(stage, kind).0),
            needs: [false, true].map(|again| Kind::ALL.map(|kind| Needs::of(model, stage, kind, again))),
            above: placement.stage_after(stage).map(|_| model.delay_after(stage).0),
            below: placement.stage_before(stage).map(|before| model.delay_after(before).0),
            received: placement.stage_after(stage).map_or(0, |_| model.receive_after(stage).0),
        };
        let stages: Vec<OfStage> = Stage::all(model.stages()).map(of_stage).collect();
        let devices = model.devices() as usize;
        let (mut senders, mut most_received) = (vec![Senders::default(); devices], vec![0; devices]);
        for stage in &stages {
            most_received[stage.device] = stage.received.max(most_received[stage.device]);
            for (kind, need) in Kind::ALL.into_iter().zip(stage.needs[0]) {
                if let Some((to, _)) = need.sends {
                    senders[to].all.insert(stage.device);
                    if kind != Kind::F {
                        senders[to].gradients.insert(stage.device);
                    }
                }
            }
        }
        let limits = Device::all(model.devices())
            .map(|device| model.activation_capacity(device).map_or(Model::MAX_TOTAL, |capacity| capacity.0));
        Self { limits: limits.collect(), senders, most_received, microbatches: model.microbatches(), stages }
    }

    pub(super) const fn microbatches(&self) -> u32 {
        self.microbatches
    }

    /// About how many passes there are.
    pub(super) const fn passes(&self) -> usize {
        3 * self.stages.len() * self.microbatches as usize
    }

    fn stage(&self, (stage, _): Item) -> &OfStage {
        &self.stages[stage as usize]
    }
}

impl OfStage {
    const fn ticks(&self, kind: Kind) -> i64 {
        self.durations[place(kind)]
    }

    /// How long all passes of a microbatch take, in ticks.
    const fn all(&self, again: bool) -> i64 {
        self.ticks(Kind::F) + if again { self.ticks(Kind::R) } else { 0 } + self.ticks(Kind::B)
    }
}

/// When a pass takes its turn where all take equally long and devices go by their number: the round, and the device. The buffer
/// of a message is posted in the turn of the pass that sends it, as `replay` has it.
type Turn = (u32, usize);

/// The buffer of a message that has not been used.
struct Buffer {
    posted: Turn,
    units: i64,
    item: Item,
    is_gradient: bool,
}

/// A device in the middle of its work.
struct Worker {
    free: i64,
    /// How long everything that it has not started takes, in ticks: a B takes as long as an I and a W.
    work: i64,
    /// What is held once the last pass has ended, beside buffers, in units.
    kept: i64,
    buffers: Vec<Buffer>,
    /// What they take together, in units.
    buffered: i64,
    /// The buffers of gradients whose R has run elsewhere, and the backward has not.
    promised: i64,
    /// By pass: its turn, and what is held while it runs.
    history: Vec<(Turn, i64)>,
    next_forward: usize,
    /// Gradients that are on their way: when they arrive, then as below.
    coming: BinaryHeap<Reverse<(i64, u32, Reverse<u32>)>>,
    /// Backwards that can run: the first microbatch's highest stage first.
    arrived: BTreeSet<(u32, Reverse<u32>)>,
    weights: VecDeque<Item>,
    /// The backward that follows an R.
    bound: Option<Item>,
    order: Vec<Pass>,
}

impl Worker {
    /// What all buffers that are posted before a turn take, in units.
    fn buffers_before(&self, turn: Turn) -> i64 {
        self.buffers.iter().filter(|buffer| buffer.posted < turn).map(|buffer| buffer.units).sum()
    }

    /// What is held from now on, in units, with all buffers that have been posted.
    fn live(&self) -> i64 {
        self.kept + self.promised + self.buffered
    }
}

/// Scheduling by a plan.
pub(super) struct Run<'a> {
    problem: &'a Problem,
    plan: &'a Plan,
    workers: Vec<Worker>,
    /// By stage and microbatch: when what a forward needs arrives.
    arrivals: Vec<Vec<i64>>,
    /// By stage and microbatch: the turn in which what a forward needs was sent, and what a backward needs.
    sent: [Vec<Vec<Option<Turn>>>; 2],
    /// When a device has something to decide.
    agenda: BinaryHeap<Reverse<(i64, usize)>>,
    /// By device: see [`reserves`].
    reserves: Vec<[i64; 2]>,
    /// How many backwards have not started.
    left: usize,
    /// When the last pass ends of those that have started.
    last: i64,
    /// The last pass ends no earlier.
    earliest: i64,
}

/// When it is not known yet.
const UNKNOWN: i64 = i64::MAX;

impl<'a> Run<'a> {
    pub(super) fn new(problem: &'a Problem, plan: &'a Plan) -> Self {
        let microbatches = problem.microbatches as usize;
        let mut arrivals = vec![vec![UNKNOWN; microbatches]; problem.stages.len()];
        for (stage, arrivals) in problem.stages.iter().zip(&mut arrivals) {
            if stage.below.is_none() {
                arrivals.fill(0);
            }
        }
        let worker = |_| Worker {
            free: 0,
            work: 0,
            kept: 0,
            buffers: Vec::new(),
            buffered: 0,
            promised: 0,
            history: Vec::with_capacity(4 * microbatches),
            next_forward: 0,
            coming: BinaryHeap::new(),
            arrived: BTreeSet::new(),
            weights: VecDeque::new(),
            bound: None,
            order: Vec::with_capacity(4 * microbatches),
        };
        let devices = problem.limits.len();
        let mut workers: Vec<Worker> = (0..devices).map(worker).collect();
        for (stage, again) in problem.stages.iter().zip(plan.again.iter()) {
            workers[stage.device].work += again.iter().map(|&again| stage.all(again)).sum::<i64>();
        }
        let unsent = vec![vec![None; microbatches]; problem.stages.len()];
        Self {
            problem,
            plan,
            workers,
            arrivals,
            sent: [unsent.clone(), unsent],
            agenda: (0..devices).map(|device| Reverse((0, device))).collect(),
            reserves: reserves(problem, plan),
            left: problem.stages.len() * microbatches,
            last: 0,
            earliest: 0,
        }
    }

    /// When the last pass ends; nothing where that is later than `most`, the devices get stuck, or it is time to stop.
    pub(super) fn end(&mut self, most: i64, stop: &Stop) -> Option<i64> {
        let mut decisions: u32 = 0;
        while let Some(Reverse((now, device))) = self.agenda.pop() {
            decisions = decisions.wrapping_add(1);
            if decisions.is_multiple_of(DECISIONS) && stop.is_due() {
                return None;
            }
            // The same entry again changes nothing.
            while self.agenda.peek() == Some(&Reverse((now, device))) {
                self.agenda.pop();
            }
            if self.workers[device].free > now {
                continue;
            }
            if let Some((item, kind)) = self.choose(device, now) {
                self.start(device, item, kind, now);
            }
            if self.earliest > most {
                return None;
            }
        }
        let is_done = self.left == 0 && self.workers.iter().all(|worker| worker.weights.is_empty());
        (is_done && self.last <= most).then_some(self.last)
    }

    /// The orders of the devices; nothing where they get stuck.
    pub(super) fn orders(mut self) -> Option<Vec<Vec<Pass>>> {
        self.end(i64::MAX, &Stop::default())?;
        Some(self.orders_so_far())
    }

    /// What the devices have started, one after the other.
    pub(super) fn orders_so_far(self) -> Vec<Vec<Pass>> {
        self.workers.into_iter().map(|worker| worker.order).collect()
    }

    /// What the devices hold while each of their passes runs, in units.
    #[cfg(test)]
    pub(super) fn held(&self) -> Vec<Vec<i64>> {
        self.workers.iter().map(|worker| worker.history.iter().map(|&(_, held)| held).collect()).collect()
    }

    fn is_again(&self, (stage, microbatch): Item) -> bool {
        self.plan.again[stage as usize][microbatch as usize]
    }

    fn needs(&self, item: Item, kind: Kind) -> Needs {
        self.problem.stage(item).needs[usize::from(self.is_again(item))][place(kind)]
    }

    /// The turn of the next pass of a device.
    fn turn(&self, device: usize, (stage, microbatch): Item, kind: Kind) -> Turn {
        let own = self.workers[device].history.last().map_or(0, |&((round, _), _)| round + 1);
        let sent = match kind {
            Kind::F => self.sent[0][stage as usize][microbatch as usize],
            Kind::I | Kind::B => self.sent[1][stage as usize][microbatch as usize],
            Kind::W | Kind::R => None,
        };
        let after = sent.map_or(0, |(round, by)| if by < device { round } else { round + 1 });
        (own.max(after), device)
    }

    /// Whether a device has room for a pass, and the receiver for what it sends.
    fn fits(&self, device: usize, item: Item, kind: Kind) -> bool {
        let turn = self.turn(device, item, kind);
        self.is_held(device, item, kind, turn) && self.is_received(item, kind, turn)
    }

    /// Whether a device has room for a pass in a turn, beside what it has promised to others.
    fn is_held(&self, device: usize, item: Item, kind: Kind, turn: Turn) -> bool {
        let worker = &self.workers[device];
        let held = worker.kept + worker.promised + worker.buffers_before(turn);
        held + self.needs(item, kind).acquires <= self.problem.limits[device]
    }

    /// Whether there is room for the buffer of a message from a turn on, beside what has run on the receiving device since then, and
    /// beside what it needs to go on.
    fn is_received(&self, item: Item, kind: Kind, turn: Turn) -> bool {
        let needs = self.needs(item, kind);
        needs.sends.is_none_or(|(to, units)| {
            let (worker, limit) = (&self.workers[to], self.problem.limits[to]);
            let is_promised =
                kind != Kind::F && self.workers[self.problem.stage(item).device].bound == Some(item);
            let live = worker.live() - if is_promised { units } else { 0 };
            let goes_on = match kind {
                Kind::F => {
                    let reserve = self.reserve(to);
                    live + units + reserve <= limit
                        || self.is_next(to, (item.0 + 1, item.1), units, limit - live, reserve)
                }
                _ if self.plan.rules[to].careful || worker.bound.is_some() => {
                    live + units + self.reserves[to][1] <= limit
                }
                _ => live + units <= limit,
            };
            let mut since = worker.history.iter().rev().take_while(|&&(of, _)| of > turn);
            goes_on && since.all(|&(_, held)| held + units <= limit)
        })
    }

    /// Whether the forward that a message is for is the next one, and has room beside its buffer: it may go before all else.
    fn is_next(&self, device: usize, item: Item, buffer: i64, room: i64, reserve: i64) -> bool {
        let worker = &self.workers[device];
        let needs = self.needs(item, Kind::F);
        worker.bound.is_none()
            && self.plan.forwards[device].get(worker.next_forward) == Some(&item)
            && worker.buffers.iter().all(|buffer| buffer.is_gradient)
            && buffer + needs.acquires <= room
            && needs.held + reserve <= room
    }

    /// What a device keeps free so that its backwards can go on.
    fn reserve(&self, device: usize) -> i64 {
        let is_there = self.workers[device].buffers.iter().any(|buffer| buffer.is_gradient);
        self.reserves[device][usize::from(is_there)]
    }

    /// What a device does now, if anything.
    fn choose(&mut self, device: usize, now: i64) -> Option<(Item, Kind)> {
        let rule = self.plan.rules[device];
        let worker = &mut self.workers[device];
        while let Some(&Reverse((at, microbatch, stage))) = worker.coming.peek() {
            if at > now {
                break;
            }
            worker.coming.pop();
            worker.arrived.insert((microbatch, stage));
        }
        if let Some(item) = worker.bound {
            let kind = self.backward(device, item, rule)?;
            self.workers[device].bound = None;
            self.promise(item, -1);
            return Some((item, kind));
        }
        let forward = self.plan.forwards[device].get(worker.next_forward).copied();
        let forward_at =
            forward.map(|(stage, microbatch)| self.arrivals[stage as usize][microbatch as usize]);
        let is_there = forward_at.is_some_and(|at| at <= now);
        // For a forward whose input has not been sent, no room is looked for.
        let sent = forward.filter(|_| forward_at != Some(UNKNOWN));
        let is_kept = sent.is_some_and(|item| self.is_kept(device, item));
        let has_room = is_kept
            && sent.is_some_and(|item| self.is_received(item, Kind::F, self.turn(device, item, Kind::F)));
        let unlocks = rule.weight == Weight::AtOnce || (rule.unlock && is_there && !is_kept);
        if unlocks && let Some(item) = self.weight(device) {
            return Some((item, Kind::W));
        }
        if is_there && has_room && (rule.prefer == Prefer::Forward || self.workers[device].arrived.is_empty())
        {
            self.workers[device].next_forward += 1;
            return Some((forward?, Kind::F));
        }
        // Where the receiver of the first one has no room, another one may go.
        let next = self.workers[device].arrived.iter().find_map(|&(microbatch, Reverse(stage))| {
            let item = (stage, microbatch);
            let kind = if self.is_again(item) {
                self.recomputes(device, item).then_some(Kind::R)
            } else {
                self.backward(device, item, rule)
            };
            Some((item, kind?))
        });
        let waits = match next {
            Some((_, kind)) => kind == Kind::B && rule.backward == Backward::SplitLater,
            None => !self.workers[device].arrived.is_empty(),
        };
        if waits && let Some(item) = self.weight(device) {
            return Some((item, Kind::W));
        }
        if let Some((item, kind)) = next {
            self.workers[device].arrived.remove(&(item.1, Reverse(item.0)));
            if kind == Kind::R {
                self.workers[device].bound = Some(item);
                self.promise(item, 1);
            }
            return Some((item, kind));
        }
        // A backward that cannot run yet is no reason to wait.
        if is_there && has_room {
            self.workers[device].next_forward += 1;
            return Some((forward?, Kind::F));
        }
        // A W that makes room is not held back: nothing else may ever happen.
        let &next = self.workers[device].weights.front()?;
        if rule.weight == Weight::WhenItFits {
            let end = now + self.problem.stage(next).durations[place(Kind::W)];
            let next_backward = self.workers[device].coming.peek().map(|&Reverse((at, ..))| at);
            let next_forward = forward_at.filter(|_| has_room);
            if [next_backward, next_forward].into_iter().flatten().any(|at| at < end) {
                return None;
            }
        }
        self.weight(device).map(|item| (item, Kind::W))
    }

    /// Whether a device has room for a forward, and afterwards for some backward.
    fn is_kept(&self, device: usize, item: Item) -> bool {
        let (needs, turn) = (self.needs(item, Kind::F), self.turn(device, item, Kind::F));
        let (live, limit) = (self.workers[device].live(), self.problem.limits[device]);
        live + needs.held - needs.uses + self.reserve(device) <= limit
            && self.is_held(device, item, Kind::F, turn)
            && (!self.plan.rules[device].careful || self.is_open(device, turn, limit - live - needs.acquires))
    }

    /// Whether a gradient whose turn comes before that of a forward would still have room while that runs; or none comes
    /// before, because all that send gradients have had later turns.
    fn is_open(&self, device: usize, turn: Turn, left: i64) -> bool {
        left >= self.problem.most_received[device]
            || self.problem.senders[device].gradients.iter().all(|&sender| {
                let next = self.workers[sender].history.last().map_or(0, |&((round, _), _)| round + 1);
                (next, sender) > turn
            })
    }

    /// Whether there is room for an R and for the backward behind it, and for what that sends.
    fn recomputes(&self, device: usize, item: Item) -> bool {
        let [again, whole] = [Kind::R, Kind::B].map(|kind| self.needs(item, kind));
        let most = again.acquires.max(again.held + whole.acquires);
        // The backward comes a round after the R, and not before its gradient.
        let (again, gradient) = (self.turn(device, item, Kind::R), self.turn(device, item, Kind::B));
        self.workers[device].live() + most <= self.problem.limits[device]
            && self.is_received(item, Kind::B, gradient.max((again.0 + 1, device)))
    }

    /// Sets room aside for what the backward of a recomputed activation sends, or no longer.
    fn promise(&mut self, item: Item, sign: i64) {
        if let Some((to, units)) = self.needs(item, Kind::B).sends {
            self.workers[to].promised += sign * units;
        }
    }

    /// How a backward runs, if it can.
    fn backward(&self, device: usize, item: Item, rule: Rule) -> Option<Kind> {
        let kinds = match rule.backward {
            Backward::Whole => [Kind::B, Kind::I],
            Backward::Split | Backward::SplitLater => [Kind::I, Kind::B],
        };
        kinds.into_iter().find(|&kind| self.fits(device, item, kind))
    }

    /// The next W, if there is one and it fits.
    fn weight(&mut self, device: usize) -> Option<Item> {
        let &next = self.workers[device].weights.front()?;
        self.fits(device, next, Kind::W).then(|| self.workers[device].weights.pop_front())?
    }

    fn start(&mut self, device: usize, item: Item, kind: Kind, now: i64) {
        let (needs, turn) = (self.needs(item, kind), self.turn(device, item, kind));
        let stage = self.problem.stage(item);
        let end = now + stage.durations[place(kind)];
        let worker = &mut self.workers[device];
        worker.history.push((turn, worker.kept + needs.acquires + worker.buffers_before(turn)));
        worker.kept += needs.held;
        if needs.uses > 0 {
            let is_gradient = kind != Kind::F;
            worker.buffers.retain(|buffer| (buffer.item, buffer.is_gradient) != (item, is_gradient));
            worker.buffered -= needs.uses;
        }
        worker.free = end;
        worker.work -= stage.ticks(kind);
        worker.order.push(Pass::new(Stage(item.0), kind, Microbatch(item.1)));
        if kind == Kind::I {
            worker.weights.push_back(item);
        }
        self.last = self.last.max(end);
        self.earliest = self.earliest.max(end + worker.work);
        self.agenda.push(Reverse((end, device)));
        // Who waits to send something here may go on.
        if needs.held < needs.uses || kind == Kind::F {
            self.wake_senders(device, now);
        }
        match (kind, stage.above, stage.below) {
            (Kind::F, Some(delay), _) => {
                let to = (item.0 + 1, item.1);
                self.arrivals[to.0 as usize][to.1 as usize] = end + delay;
                self.wake(self.problem.stage(to).device, end + delay);
                self.sends(to, false, turn, needs, now);
            }
            (Kind::F, None, _) => self.announce(end, item),
            (Kind::I | Kind::B, _, below) => {
                self.left -= 1;
                if let Some(delay) = below {
                    let to = (item.0 - 1, item.1);
                    self.announce(end + delay, to);
                    self.sends(to, true, turn, needs, now);
                }
            }
            (Kind::R | Kind::W, ..) => {}
        }
    }

    /// Notes what a pass sends in its turn.
    fn sends(&mut self, item: Item, is_gradient: bool, turn: Turn, needs: Needs, now: i64) {
        self.sent[usize::from(is_gradient)][item.0 as usize][item.1 as usize] = Some(turn);
        let Some((to, units)) = needs.sends else { return };
        let worker = &mut self.workers[to];
        for (_, held) in worker.history.iter_mut().rev().take_while(|(of, _)| *of > turn) {
            *held += units;
        }
        worker.buffers.push(Buffer { posted: turn, units, item, is_gradient });
        worker.buffered += units;
        if is_gradient {
            // What is kept free for it may be used now.
            self.wake(to, now);
            self.wake_senders(to, now);
        }
    }

    /// A device decides anew then, if it is free. Otherwise it does so later, once it is free.
    fn wake(&mut self, device: usize, at: i64) {
        if self.workers[device].free <= at {
            self.agenda.push(Reverse((at, device)));
        }
    }

    fn wake_senders(&mut self, device: usize, at: i64) {
        let problem = self.problem;
        problem.senders[device].all.iter().for_each(|&sender| self.wake(sender, at));
    }

    /// Notes when a backward can run.
    fn announce(&mut self, at: i64, item: Item) {
        let device = self.problem.stage(item).device;
        self.workers[device].coming.push(Reverse((at, item.1, Reverse(item.0))));
        self.wake(device, at);
    }
}

/// What every device keeps free so that its backwards can go on: while none of them has a gradient, and while one has it, whose
/// buffer is then there.
fn reserves(problem: &Problem, plan: &Plan) -> Vec<[i64; 2]> {
    let mut reserves = vec![[0; 2]; problem.limits.len()];
    for (stage, again) in problem.stages.iter().zip(plan.again.iter()) {
        let [of_kept, of_again] = &stage.needs;
        let mut most = of_kept[place(Kind::B)].acquires;
        if again.contains(&true) {
            let [again, whole] = [Kind::R, Kind::B].map(|kind| of_again[place(kind)]);
            most = most.max(again.acquires).max(again.held + whole.acquires);
        }
        let [without, with] = &mut reserves[stage.device];
        *without = (*without).max(most + stage.received);
        *with = (*with).max(most);
    }
    reserves
}

/// How many decisions are made between two looks at the clock.
const DECISIONS: u32 = 1024;
