//! What can be placed in a corridor: single passes, an I and its W as a B, and overlapped pairs.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::iter;

use crate::certificate::shortened;
use crate::kernel::{IndexedOrders, IndexedPass, IndexedProblem};
use crate::model::{Device, Kind, Microbatch, Model, Pass, Stage, Units};
use crate::optimize::needs::Needs;
use crate::schedule::{Schedule, ScheduleError};

/// Passes of one stage and kind, one of each microbatch.
pub(super) struct Class {
    /// The class of the problem.
    number: u32,
    stage: Stage,
    kind: Kind,
    pub device: usize,
    pub duration: i64,
    /// The least by which a pass adds to the work of its device, in a pair or not.
    pub work: i64,
    /// How much more is held once a pass has begun, in units; the buffer of the message that it uses is free then.
    pub held: i64,
    /// The device that receives what it sends, and the buffer that this takes until it is used, in units.
    pub sends: Option<(usize, i64)>,
    /// The classes that it waits for, as positions, with the latencies.
    pub needs: Vec<(usize, i64)>,
    /// The longest chain of passes that follows, with its latencies.
    pub tail: i64,
}

impl Class {
    /// How many passes wait, after so many of them, at least one of whose needs has begun.
    pub(super) fn waiting(&self, begun: &[u32], index: u32) -> usize {
        let most = self.needs.iter().map(|&(need, _)| begun[need]).max().unwrap_or(index);
        most.saturating_sub(index) as usize
    }
}

/// What a device starts at one time.
pub(super) struct Move {
    /// The classes of the passes that must be ready: one, or the two of a pair. A B is an I here.
    pub ready: Vec<usize>,
    /// The class of the W of a B, whether other Ws wait or not.
    pub weight: Option<usize>,
    pub device: usize,
    pub duration: i64,
    /// How much more the device must have room for while it runs, in units.
    pub acquires: i64,
    /// Whether it costs nothing to place it where the device would idle: it takes memory from no other, its W has room whenever it
    /// has, and it saves no time in a pair.
    pub fills: bool,
}

impl Move {
    /// The classes of all its passes.
    pub(super) fn classes(&self) -> impl Iterator<Item = usize> + '_ {
        self.ready.iter().copied().chain(self.weight)
    }
}

/// Everything that can be placed, for as many microbatches as there are.
pub(in crate::optimize) struct Moves {
    pub(super) classes: Vec<Class>,
    /// What devices can start.
    pub(super) all: Vec<Move>,
    /// By device: its classes, as positions, by what follows them, longest first.
    pub(super) by_tail: Vec<Vec<usize>>,
    /// By device: the most that it may hold, in units.
    pub(super) limits: Vec<i64>,
    pub(super) microbatches: u32,
    /// Whether they are seen from the end of time, where the last microbatch comes first.
    is_reversed: bool,
}

/// What the devices start one after the other, by the starts, as positions of moves.
pub(in crate::optimize) struct Sequence {
    pub moves: Vec<usize>,
    pub makespan: i64,
}

impl Moves {
    /// The single passes of a problem in which every microbatch has the same passes, or of one that is
    /// [reversed](IndexedProblem::reversed).
    pub(in crate::optimize) fn of_problem(problem: &IndexedProblem, is_reversed: bool) -> Self {
        let devices = problem.work().len();
        let numbers: Vec<u32> = (0..devices).flat_map(|device| problem.on_device(device)).copied().collect();
        let place = |number: u32| numbers.iter().position(|&other| other == number);
        let classes = numbers.iter().map(|&number| {
            let class = problem.class(number);
            let needs = class.needs.iter().filter_map(|need| Some((place(need.class)?, need.latency)));
            Class {
                number,
                stage: class.stage,
                kind: class.kind,
                device: class.device,
                duration: class.duration,
                work: class.duration,
                held: class.held,
                sends: None,
                needs: needs.collect(),
                tail: 0,
            }
        });
        let classes = with_tails(classes.collect());
        let mut by_tail: Vec<Vec<usize>> = vec![Vec::new(); devices];
        for (at, class) in classes.iter().enumerate() {
            by_tail[class.device].push(at);
        }
        for on_device in &mut by_tail {
            on_device.sort_by_key(|&at| (-classes[at].tail, at));
        }
        let single = |(at, class): (usize, &Class)| Move {
            ready: vec![at],
            weight: None,
            device: class.device,
            duration: class.duration,
            acquires: class.held.max(0),
            fills: class.held <= 0,
        };
        let moves = classes.iter().enumerate().map(single).collect();
        let limits = problem.limits.clone();
        Self { classes, all: moves, by_tail, limits, microbatches: problem.microbatches(), is_reversed }
    }

    /// Everything that devices can start where nothing is recomputed: Fs, Is, Ws, Bs and pairs that save time, with all memory
    /// that passes need while they run. Each message has a link of its own, and its buffer is there from when the pass that sends it
    /// begins; weights are gathered at once, and nothing comes after the passes.
    pub(in crate::optimize) fn of_model(model: &Model) -> Self {
        let alone = model.with_own_links().with_gathers_at_once();
        let problem = IndexedProblem::split(&alone, &vec![false; model.stages() as usize]);
        let mut moves = Self::of_problem(&problem, false);
        let short = shortened(model);
        for class in &mut moves.classes {
            let (stage, kind) = (class.stage, class.kind);
            class.work = short.duration(stage, kind).0;
            let needs = Needs::of(model, stage, kind, false);
            (class.held, class.sends) = (needs.held - needs.uses, needs.sends);
        }
        moves.all = moves.singles(model).chain(moves.pairs(model)).collect();
        moves
    }

    /// The class of a stage and kind.
    fn place(&self, stage: Stage, kind: Kind) -> Option<usize> {
        self.classes.iter().position(|class| (class.stage, class.kind) == (stage, kind))
    }

    /// The Fs, Is and Ws of a model, and its Bs where memory is not plain: elsewhere an I and a W need no more.
    fn singles(&self, model: &Model) -> impl Iterator<Item = Move> {
        let is_plain = model.has_plain_memory();
        let mut moves = Vec::new();
        for (at, class) in self.classes.iter().enumerate() {
            let Class { stage, kind, device, .. } = *class;
            let beside = |kind| model.beside(stage, kind).0;
            let is_in_pairs = model.placement().stages_of(Device::at(device)).iter().any(|&other| {
                let saves = |forward, backward| {
                    [Kind::I, Kind::B].iter().any(|&kind| model.pair_saves(forward, backward, kind).0 > 0)
                };
                match kind {
                    Kind::F => saves(stage, other),
                    Kind::I => saves(other, stage),
                    _ => false,
                }
            });
            // The W of an I that could have been a B.
            let (kept, for_weight) = (model.activation(stage).0, model.retained_for_weight(stage).0);
            let leaves_room =
                kind != Kind::I || is_plain || for_weight + beside(Kind::W) <= kept + beside(Kind::B);
            let single = Move {
                ready: vec![at],
                weight: None,
                device,
                duration: class.duration,
                acquires: Needs::of(model, stage, kind, false).acquires,
                fills: class.held <= 0 && class.sends.is_none() && !is_in_pairs && leaves_room,
            };
            let weight = self.place(stage, Kind::W).filter(|_| kind == Kind::I && !is_plain);
            let whole = weight.map(|weight| Move {
                ready: vec![at],
                weight: Some(weight),
                duration: model.duration(stage, Kind::B).0,
                acquires: Needs::of(model, stage, Kind::B, false).acquires,
                fills: false,
                ..single
            });
            moves.extend(iter::once(single).chain(whole));
        }
        moves.into_iter()
    }

    /// The pairs that save time.
    fn pairs(&self, model: &Model) -> impl Iterator<Item = Move> {
        let mut moves = Vec::new();
        for device in Device::all(model.devices()) {
            let stages = model.placement().stages_of(device);
            let both = stages.iter().flat_map(|&one| stages.iter().map(move |&other| (one, other)));
            for ((forward, backward), kind) in both.flat_map(|both| [(both, Kind::I), (both, Kind::B)]) {
                let saves = model.pair_saves(forward, backward, kind);
                if saves.0 <= 0 {
                    continue;
                }
                let classes = [(forward, Kind::F), (backward, Kind::I), (backward, Kind::W)];
                let [Some(of_forward), Some(of_input), weight] =
                    classes.map(|(stage, kind)| self.place(stage, kind))
                else {
                    continue;
                };
                let apart = model.duration(forward, Kind::F) + model.duration(backward, kind);
                let acquires = |stage, kind| Needs::of(model, stage, kind, false).acquires;
                // The weights of a stage are gathered once for both.
                let twice = if forward == backward { model.gathered(forward) } else { Units::ZERO };
                moves.push(Move {
                    ready: vec![of_forward, of_input],
                    weight: weight.filter(|_| kind == Kind::B),
                    device: device.index(),
                    duration: (apart - saves).0,
                    acquires: acquires(forward, Kind::F) + acquires(backward, kind) - twice.0,
                    fills: false,
                });
            }
        }
        moves.into_iter()
    }

    /// How many passes there are in all.
    pub(in crate::optimize) fn passes(&self) -> usize {
        self.classes.len() * self.microbatches as usize
    }

    /// Which microbatch comes in a turn, or in which turn a microbatch comes.
    const fn turn(&self, microbatch: u32) -> u32 {
        if self.is_reversed { self.microbatches - 1 - microbatch } else { microbatch }
    }

    /// The orders of single passes as a sequence; nothing where they cannot run, or microbatches overtake each other.
    pub(in crate::optimize) fn sequence_of_orders(&self, orders: &IndexedOrders) -> Option<Sequence> {
        let mut begun = vec![0; self.classes.len()];
        let steps = orders.iter().enumerate().map(|(device, order)| {
            let move_of = |pass: &IndexedPass| {
                let mut on_device = self.by_tail[device].iter().copied();
                let at = on_device.find(|&at| self.classes[at].number == pass.class)?;
                let is_next = begun[at] == self.turn(pass.microbatch);
                begun[at] += 1;
                // Single passes are in the order of their classes.
                is_next.then_some(at)
            };
            order.iter().map(move_of).collect::<Option<Vec<usize>>>()
        });
        self.sequence(&steps.collect::<Option<Vec<_>>>()?)
    }

    /// The orders that a sequence of single passes leads to.
    pub(in crate::optimize) fn orders(&self, sequence: &[usize]) -> IndexedOrders {
        let mut begun = vec![0; self.classes.len()];
        let mut orders: IndexedOrders = vec![Vec::new(); self.by_tail.len()];
        for place in sequence.iter().map(|&at| self.all[at].ready[0]) {
            let class = &self.classes[place];
            let microbatch = self.turn(begun[place]);
            orders[class.device].push(IndexedPass { class: class.number, microbatch });
            begun[place] += 1;
        }
        orders
    }

    /// A schedule as a sequence; nothing where it has other passes, or the Fs or the backwards of a stage overtake each other.
    pub(in crate::optimize) fn sequence_of_schedule(&self, schedule: &Schedule) -> Option<Sequence> {
        let place = |pass: Pass| self.place(pass.stage, pass.kind);
        let mut begun = vec![0; self.classes.len()];
        let mut all = Vec::with_capacity(schedule.orders().len());
        for (device, order) in Device::all(schedule.devices()).zip(schedule.orders()) {
            let mut steps = Vec::with_capacity(order.len());
            let (mut position, overlaps) = (0, schedule.overlaps(device));
            while position < order.len() {
                let passes = if overlaps.binary_search(&position).is_ok() { 2 } else { 1 };
                let (mut ready, mut weight) = (Vec::with_capacity(passes), None);
                for &pass in &order[position..position + passes] {
                    let is_whole = pass.kind == Kind::B;
                    let at = place(if is_whole { pass.with_kind(Kind::I) } else { pass })?;
                    if pass.kind != Kind::W && begun[at] != pass.microbatch.0 {
                        return None;
                    }
                    begun[at] += 1;
                    ready.push(at);
                    if is_whole {
                        weight = Some(place(pass.with_kind(Kind::W))?);
                    }
                }
                let is_it = |other: &Move| {
                    other.weight == weight
                        && other.ready.len() == ready.len()
                        && ready.iter().all(|at| other.ready.contains(at))
                };
                let single =
                    |class| self.all.iter().position(|of| of.weight.is_none() && of.ready == [class]);
                // Where memory is plain, a B is an I and a W, and two passes that save no time are no pair.
                match self.all.iter().position(is_it) {
                    Some(at) => steps.push(at),
                    None => {
                        for class in ready.into_iter().chain(weight) {
                            steps.push(single(class)?);
                        }
                    }
                }
                position += passes;
            }
            all.push(steps);
        }
        self.sequence(&all)
    }

    /// The schedule that a sequence leads to.
    ///
    /// # Errors
    /// When it is not one of these moves.
    pub(in crate::optimize) fn schedule(
        &self,
        model: &Model,
        sequence: &[usize],
    ) -> Result<Schedule, ScheduleError> {
        let mut begun = vec![0; self.classes.len()];
        // By class of a W: the microbatches that have run I and not W.
        let mut pending: Vec<VecDeque<u32>> = vec![VecDeque::new(); self.classes.len()];
        let mut devices: Vec<Vec<Vec<Pass>>> = vec![Vec::new(); self.by_tail.len()];
        for &at in sequence {
            let moved = &self.all[at];
            let mut step = Vec::with_capacity(moved.ready.len());
            for &place in &moved.ready {
                let class = &self.classes[place];
                let (stage, kind) = (class.stage, class.kind);
                let microbatch = match kind {
                    Kind::W => pending[place].pop_front().unwrap_or_default(),
                    _ => begun[place],
                };
                begun[place] += 1;
                if kind == Kind::I && moved.weight.is_none() {
                    let weight = self.place(stage, Kind::W);
                    pending[weight.expect("every stage has a W")].push_back(microbatch);
                }
                let kind = if kind == Kind::I && moved.weight.is_some() { Kind::B } else { kind };
                step.push(Pass::new(stage, kind, Microbatch(microbatch)));
            }
            devices[moved.device].push(step);
        }
        Schedule::of_steps(model.placement().clone(), model.microbatches(), devices)
    }

    /// What the devices start, in these orders, by the starts; nothing where they cannot run.
    fn sequence(&self, orders: &[Vec<usize>]) -> Option<Sequence> {
        let mut needed_by = vec![Vec::new(); self.classes.len()];
        for class in &self.classes {
            for &(need, _) in &class.needs {
                needed_by[need].push(class.device);
            }
        }
        let mut ends: Vec<Vec<i64>> = vec![Vec::new(); self.classes.len()];
        let mut free = vec![0; orders.len()];
        let mut next = vec![0; orders.len()];
        let (mut moves, mut makespan, mut passes) = (Vec::new(), 0, 0);
        // The next move of each device, once all that it needs has begun, by its start.
        let mut ready = BinaryHeap::new();
        let mut is_ready = vec![false; orders.len()];
        let mut devices: Vec<usize> = (0..orders.len()).collect();
        loop {
            for &device in &devices {
                if is_ready[device] {
                    continue;
                }
                let Some(&at) = orders[device].get(next[device]) else { continue };
                let arrivals = self.all[at].ready.iter().flat_map(|&class| {
                    let turn = ends[class].len();
                    let ends = &ends;
                    self.classes[class]
                        .needs
                        .iter()
                        .map(move |&(need, latency)| ends[need].get(turn).map(|end| end + latency))
                });
                let arrived: Option<i64> =
                    arrivals.into_iter().try_fold(free[device], |last, end| Some(last.max(end?)));
                if let Some(start) = arrived {
                    ready.push(Reverse((start, device, at)));
                    is_ready[device] = true;
                }
            }
            let Some(Reverse((start, device, at))) = ready.pop() else { break };
            is_ready[device] = false;
            next[device] += 1;
            let moved = &self.all[at];
            free[device] = start + moved.duration;
            makespan = makespan.max(free[device]);
            moves.push(at);
            devices.clear();
            devices.push(device);
            for class in moved.classes() {
                ends[class].push(free[device]);
                passes += 1;
                devices.extend(&needed_by[class]);
            }
        }
        (passes == self.passes()).then_some(Sequence { moves, makespan })
    }
}

/// The same, with the longest chains that follow.
fn with_tails(mut classes: Vec<Class>) -> Vec<Class> {
    // Chains are as long as there are classes, at most.
    for _ in 0..classes.len() {
        let mut is_longer = false;
        for at in 0..classes.len() {
            let whole = classes[at].duration + classes[at].tail;
            for (need, latency) in classes[at].needs.clone() {
                is_longer |= classes[need].tail < latency + whole;
                classes[need].tail = classes[need].tail.max(latency + whole);
            }
        }
        if !is_longer {
            break;
        }
    }
    classes
}
