//! The rules of execution beyond passes and latencies, stated once more and carried out without any cleverness: pairs,
//! messages on links, gathers of weights, and the end of the step.

use std::collections::{BTreeMap, BTreeSet};

use bubbleproof::model::{Device, Kind, Links, Model, Pass, Stage, Ticks};
use bubbleproof::schedule::Schedule;

use super::naive;

/// What runs: the step of a device that begins at a position of its order, the message of a pass, what ends the step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Task {
    Step(Device, usize),
    Message(Pass),
    Post(Device),
    Gather(Device, usize),
    Reduce(Stage),
    Optimizer(Stage),
}

/// When everything runs, and what that amounts to.
pub struct Run {
    /// Start and end.
    pub times: BTreeMap<Task, [i64; 2]>,
    /// Of every pass in the orders.
    pub starts: Vec<Vec<Ticks>>,
    pub makespan: i64,
    pub device_span: i64,
    pub busy: i64,
}

/// The messages of a link by when they are made, by which device, and where in its order.
type InOrder = BTreeMap<(i64, usize, usize), (Pass, i64)>;

/// (later, earlier, ticks after the start of the earlier one)
type Wait = (Task, Task, i64);

struct Machine<'a> {
    model: &'a Model,
    schedule: &'a Schedule,
    all: Vec<Pass>,
    /// Of each pass: the step that it is in, and how long that takes.
    step_of: BTreeMap<Pass, (Task, i64)>,
    durations: BTreeMap<Task, i64>,
}

/// Runs a schedule in which every pass is there once and in its place; nothing where its passes wait for each other.
pub fn run(model: &Model, schedule: &Schedule) -> Option<Run> {
    let mut machine = Machine {
        model,
        schedule,
        all: schedule.orders().iter().flatten().copied().collect(),
        step_of: BTreeMap::new(),
        durations: BTreeMap::new(),
    };
    for device in Device::all(model.devices()) {
        let mut at = 0;
        for step in schedule.steps(device) {
            let (task, ticks) = (Task::Step(device, at), machine.length(step));
            machine.durations.insert(task, ticks);
            machine.step_of.extend(step.iter().map(|&pass| (pass, (task, ticks))));
            at += step.len();
        }
    }
    let busy: i64 = machine.durations.values().sum();
    let mut waits = machine.own_waits();
    let spans = machine.ends(&mut waits);
    // With links of their own.
    let mut alone = waits.clone();
    alone.extend(machine.arrivals(|_| None));
    let made = asap(&machine.durations, &alone)?;
    let links = machine.links(&made);
    for messages in links.values() {
        machine.durations.extend(messages.iter().map(|&(pass, ticks)| (Task::Message(pass), ticks)));
        let follow = |two: &[(Pass, i64)]| (Task::Message(two[1].0), Task::Message(two[0].0), two[0].1);
        waits.extend(messages.windows(2).map(follow));
        let sent = |&(pass, _): &(Pass, i64)| {
            (Task::Message(pass), machine.step_of[&pass].0, machine.step_of[&pass].1)
        };
        waits.extend(messages.iter().map(sent));
    }
    let on_link: BTreeSet<Pass> = links.values().flatten().map(|&(pass, _)| pass).collect();
    waits.extend(machine.arrivals(|pass| on_link.contains(&pass).then_some(Task::Message(pass))));
    let start = asap(&machine.durations, &waits)?;
    let times: BTreeMap<Task, [i64; 2]> =
        start.iter().map(|(&task, &start)| (task, [start, start + machine.durations[&task]])).collect();
    let optimizer: i64 = model.step().map_or(0, |step| step.optimizer.iter().map(|ticks| ticks.0).sum());
    Some(Run {
        starts: machine.starts(&start),
        makespan: spans.iter().map(|&(_, last)| times[&last][1]).max().unwrap_or(0),
        device_span: machine.device_span(&waits, &spans),
        busy: busy + optimizer,
        times,
    })
}

impl Machine<'_> {
    fn device(&self, pass: Pass) -> Device {
        self.model.placement().device_of(pass.stage)
    }

    fn length(&self, step: &[Pass]) -> i64 {
        let alone: i64 = step.iter().map(|&pass| naive::duration(self.model, pass)).sum();
        let &[one, other] = step else { return alone };
        let [forward, backward] = if one.kind == Kind::F { [one, other] } else { [other, one] };
        let overlap = self.model.overlap();
        let pairs = if backward.kind == Kind::B { &overlap.forward_backward } else { &overlap.forward_input };
        pairs.get(forward.stage, backward.stage).map_or(alone, |ticks| ticks.0)
    }

    /// A device runs its steps in order.
    fn own_waits(&self) -> Vec<Wait> {
        let devices = Device::all(self.model.devices());
        let tasks = devices.flat_map(|device| {
            let own = move |task: &&Task| matches!(task, Task::Step(of, _) if *of == device);
            let tasks: Vec<Task> = self.durations.keys().filter(own).copied().collect();
            tasks.windows(2).map(|two| (two[1], two[0], self.durations[&two[0]])).collect::<Vec<_>>()
        });
        tasks.collect()
    }

    /// What a message of a pass keeps its link busy for.
    fn occupancy(&self, pass: Pass, to: Pass) -> i64 {
        let boundary = pass.stage.index().min(to.stage.index());
        let crosses = self.device(pass) != self.device(to);
        self.model.messages().filter(|_| crosses).map_or(0, |messages| messages.occupancy[boundary].0)
    }

    /// What passes need has run, and has arrived: by its message, or after all that this takes.
    fn arrivals(&self, message: impl Fn(Pass) -> Option<Task>) -> Vec<Wait> {
        let mut waits = Vec::new();
        for &pass in &self.all {
            for need in naive::needs(pass, self.model, &self.all) {
                let after = self.occupancy(need, pass) + naive::latency(self.model, need, pass);
                let (step, ticks) = self.step_of[&need];
                let sent = message(need).filter(|_| self.occupancy(need, pass) > 0);
                waits.push((
                    self.step_of[&pass].0,
                    sent.unwrap_or(step),
                    after + if sent.is_some() { 0 } else { ticks },
                ));
            }
        }
        waits
    }

    /// The messages of every link that occupy it, in their order.
    fn links(&self, made: &BTreeMap<Task, i64>) -> BTreeMap<[usize; 3], Vec<(Pass, i64)>> {
        let mut links: BTreeMap<[usize; 3], InOrder> = BTreeMap::new();
        let nodes = match self.model.messages().map(|messages| &messages.links) {
            Some(Links::Nodes(nodes)) => nodes.clone(),
            _ => Vec::new(),
        };
        let node_of = |device: Device| nodes.iter().position(|node| node.contains(&device));
        for &to in &self.all {
            for pass in naive::needs(to, self.model, &self.all) {
                let occupancy = self.occupancy(pass, to);
                if occupancy == 0 {
                    continue;
                }
                let [from, to] = [self.device(pass), self.device(to)];
                let place =
                    self.schedule.order(from).iter().position(|&other| other == pass).expect("it is there");
                let (step, ticks) = self.step_of[&pass];
                let (link, time) = match (node_of(from), node_of(to)) {
                    (Some(node), Some(other)) if node != other => ([1, node, 0], made[&step] + ticks),
                    _ => ([0, from.index(), to.index()], 0),
                };
                links.entry(link).or_default().insert((time, from.index(), place), (pass, occupancy));
            }
        }
        links.into_iter().map(|(link, messages)| (link, messages.into_values().collect())).collect()
    }

    /// What goes before the passes of each device and follows them; its first and its last task.
    fn ends(&mut self, waits: &mut Vec<Wait>) -> Vec<(Task, Task)> {
        let mut spans = Vec::new();
        for device in Device::all(self.model.devices()) {
            let order = self.schedule.order(device);
            let (Some(first), Some(last)) = (order.first(), order.last()) else { continue };
            let mut first = self.step_of[first].0;
            let mut last = self.step_of[last].0;
            // By where it is posted, in halves of positions: before a pass, or behind one.
            let mut posted: BTreeMap<(Option<usize>, usize), Task> = BTreeMap::new();
            if let Some(sharding) =
                self.model.sharding().filter(|sharding| sharding.gather.iter().any(|t| t.0 > 0))
            {
                waits.push((first, Task::Post(device), 0));
                self.durations.insert(Task::Post(device), 0);
                let gathers = gathers(self.schedule, device, sharding.stages as usize);
                for (number, (stage, [at, used, _])) in gathers.into_iter().enumerate() {
                    let ticks = sharding.gather[stage.index()].0;
                    if ticks == 0 {
                        continue;
                    }
                    let task = Task::Gather(device, number);
                    let before = at.checked_sub(1).map(|at| self.step_of[&order[at]]);
                    let (before, length) = before.unwrap_or((Task::Post(device), 0));
                    waits.extend([(task, before, length), (self.step_of[&order[used]].0, task, ticks)]);
                    self.durations.insert(task, ticks);
                    posted.insert((Some(2 * at), number), task);
                }
                first = Task::Post(device);
            }
            if let Some(step) = self.model.step() {
                let is_last =
                    |pass: &Pass, stage| pass.stage == stage && matches!(pass.kind, Kind::W | Kind::B);
                let stages = self.model.placement().stages_of(device).iter();
                let mut stages: Vec<(Option<usize>, Stage)> = stages
                    .map(|&stage| (order.iter().rposition(|pass| is_last(pass, stage)), stage))
                    .collect();
                stages.sort_unstable();
                for (number, (at, stage)) in stages.into_iter().enumerate() {
                    let (reduce, optimizer) = (step.reduce[stage.index()].0, step.optimizer[stage.index()].0);
                    self.durations.insert(Task::Reduce(stage), reduce);
                    waits.extend(at.map(|at| {
                        let (task, ticks) = self.step_of[&order[at]];
                        (Task::Reduce(stage), task, ticks)
                    }));
                    posted.insert((at.map(|at| 2 * at + 1), number), Task::Reduce(stage));
                    waits.push((Task::Optimizer(stage), Task::Reduce(stage), reduce));
                    waits.push((Task::Optimizer(stage), last, self.durations[&last]));
                    self.durations.insert(Task::Optimizer(stage), optimizer);
                    last = Task::Optimizer(stage);
                }
            }
            let posted: Vec<Task> = posted.into_values().collect();
            waits.extend(posted.windows(2).map(|two| (two[1], two[0], self.durations[&two[0]])));
            spans.push((first, last));
        }
        spans
    }

    /// The second pass of a pair ends with it.
    fn starts(&self, start: &BTreeMap<Task, i64>) -> Vec<Vec<Ticks>> {
        let of_pass = |device, at, &pass: &Pass| {
            let (task, ticks) = self.step_of[&pass];
            let is_second = task != Task::Step(device, at);
            let later = if is_second { ticks - naive::duration(self.model, pass) } else { 0 };
            Ticks(start[&task] + later)
        };
        let of_device = |device| {
            self.schedule
                .order(device)
                .iter()
                .enumerate()
                .map(|(at, pass)| of_pass(device, at, pass))
                .collect()
        };
        Device::all(self.model.devices()).map(of_device).collect()
    }

    /// The least span within which every device can run: starts are raised until nothing is too early, which never ends
    /// if it takes more rounds than there are tasks.
    fn device_span(&self, waits: &[Wait], spans: &[(Task, Task)]) -> i64 {
        let is_enough = |span: i64| {
            let within = spans.iter().map(|&(first, last)| (first, last, self.durations[&last] - span));
            let waits: Vec<Wait> = waits.iter().copied().chain(within).collect();
            let mut start: BTreeMap<Task, i64> = self.durations.keys().map(|&task| (task, 0)).collect();
            for _ in 0..=start.len() {
                let before = start.clone();
                for &(later, earlier, ticks) in &waits {
                    start.insert(later, start[&later].max(start[&earlier] + ticks));
                }
                if start == before {
                    return true;
                }
            }
            false
        };
        let (mut too_short, mut enough) = (-1, waits.iter().map(|wait| wait.2).sum::<i64>());
        enough += self.durations.values().sum::<i64>();
        while enough - too_short > 1 {
            let middle = i64::midpoint(too_short, enough);
            if is_enough(middle) { enough = middle } else { too_short = middle }
        }
        enough
    }
}

/// When the weights of which stages of a device are gathered if so many may be at a time, in order: the position at which the
/// gather is posted, that of the step that uses it first, and that at which the weights are let go of. At each step, all
/// that the device still has to run is looked at anew.
pub fn gathers(schedule: &Schedule, device: Device, most: usize) -> Vec<(Stage, [usize; 3])> {
    let mut there: Vec<(Stage, [usize; 3])> = Vec::new();
    let mut found = Vec::new();
    let mut at = 0;
    let end = schedule.order(device).len();
    let steps: Vec<&[Pass]> = schedule.steps(device).collect();
    for (number, step) in steps.iter().enumerate() {
        let mut next: Vec<(Stage, usize)> = Vec::new();
        let mut position = at;
        for later in &steps[number..] {
            for pass in *later {
                let is_needed = next.len() < most || std::ptr::eq(*later, *step);
                if is_needed && next.iter().all(|&(stage, _)| stage != pass.stage) {
                    next.push((pass.stage, position));
                }
            }
            position += later.len();
        }
        let (kept, left): (Vec<_>, Vec<_>) =
            there.into_iter().partition(|(stage, _)| next.iter().any(|(other, _)| other == stage));
        found.extend(left.into_iter().map(|(stage, [posted, used, _])| (stage, [posted, used, at])));
        there = kept;
        for (stage, used) in next {
            if there.iter().all(|&(other, _)| other != stage) {
                there.push((stage, [at, used, end]));
            }
        }
        at += step.len();
    }
    found.extend(there);
    // Those that are posted at once, in the order in which passes use them.
    let order = schedule.order(device);
    let first_use = |from: usize, stage| (from..end).find(|&at| order[at].stage == stage);
    found.sort_by_key(|&(stage, [posted, ..])| (posted, first_use(posted, stage)));
    found
}

/// The least start times; nothing where tasks wait for each other.
fn asap(durations: &BTreeMap<Task, i64>, waits: &[Wait]) -> Option<BTreeMap<Task, i64>> {
    let mut start: BTreeMap<Task, i64> = BTreeMap::new();
    while start.len() < durations.len() {
        let before = start.len();
        for &task in durations.keys() {
            let mut own = waits.iter().filter(|wait| wait.0 == task);
            let times: Option<Vec<i64>> =
                own.by_ref().map(|wait| Some(start.get(&wait.1)? + wait.2)).collect();
            if let Some(times) = times.filter(|_| !start.contains_key(&task)) {
                start.insert(task, times.into_iter().max().unwrap_or(0));
            }
        }
        if start.len() == before {
            return None;
        }
    }
    Some(start)
}
