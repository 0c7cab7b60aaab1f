//! The critical path of a schedule: the chain of passes, each waiting for the one before, that is as
//! long as the makespan.

use std::collections::BTreeMap;

use super::{Places, latency};
use crate::model::{Device, Model, Pass, Ticks, Units};
use crate::replay::{Held, LinkTimes, Timing, end_of, memory_along, posting_tasks, task_graph};
use crate::schedule::{Schedule, prerequisites_under};
use crate::tasks::{Execution, Need, Resource, Task, TaskGraph};

/// What a pass on the critical path waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waits {
    /// Nothing: it is the first of the path.
    Nothing,
    /// A pass that it depends on; `latency` is the time the message takes.
    Dependency {
        /// The time between devices, 0 on the same one.
        latency: Ticks,
    },
    /// A pass whose message keeps a link busy, and then the messages on that link behind it; the last of them is the one
    /// that it depends on.
    Link {
        /// How many messages these are, that of the pass included.
        messages: u32,
        /// The time from the end of the pass on: all these messages, and the latency of the last one.
        ticks: Ticks,
    },
    /// A pass whose activation is copied to the host, or after which one comes back or weights are gathered, and then the
    /// copies, or what its collective stream does, up to what the waiting pass depends on.
    Copies {
        /// The time from the end of the pass on: all these copies, gathers and reductions.
        ticks: Ticks,
    },
    /// The pass before it on its device, which releases memory that it needs.
    Memory,
    /// The pass before it on its device.
    Device,
}

impl Waits {
    /// How long the pass starts after the end of the pass before it in the path.
    #[must_use]
    pub const fn ticks(self) -> Ticks {
        match self {
            Self::Dependency { latency } => latency,
            Self::Link { ticks, .. } | Self::Copies { ticks } => ticks,
            Self::Nothing | Self::Memory | Self::Device => Ticks::ZERO,
        }
    }
}

/// A pass on the critical path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// The pass.
    pub pass: Pass,
    /// Where it runs.
    pub device: Device,
    /// When it starts.
    pub start: Ticks,
    /// When it ends.
    pub end: Ticks,
    /// Why it does not start before the pass before it in the path has ended.
    pub waits: Waits,
}

/// The critical path of a schedule that replay has timed, first pass first. It starts at 0 and ends at the makespan, or with
/// the pass for which the [end of the step](Timing::step) waits. Where a pass waits for several, a dependency goes before
/// its device. An overlapped pair is on it with both its passes, and waits for what either needs.
///
/// # Panics
/// When the times are not those that replay gives this schedule.
#[must_use]
pub fn critical_path(model: &Model, schedule: &Schedule, timing: &Timing) -> Vec<Step> {
    let places = Places::of(schedule);
    let start_of = |(device, at): (Device, usize)| timing.starts[device.index()][at];
    let end = |pass: Pass, place| end_of(model, schedule, pass, start_of(place));
    let pass_at = |(device, at): (Device, usize)| schedule.order(device)[at];
    let links = Links::of(timing);
    let has_others = schedule.offload_count() > 0 || model.has_gathers();
    let graph = has_others.then(|| task_graph(model, schedule)).flatten();
    let graph = graph.and_then(|graph| graph.execute().ok().map(|execution| (graph, execution)));
    let Some(last) = last_pass(model, schedule, timing, &|place| end(pass_at(place), place)) else {
        return Vec::new();
    };
    let held = memory_along(model, schedule);
    // The first and the last position of what a device runs at a time: a pass, or an overlapped pair.
    let run_at = |(device, at): (Device, usize)| {
        let pairs = schedule.overlaps(device);
        let begins = |at: usize| pairs.binary_search(&at).is_ok();
        match at.checked_sub(1).filter(|&before| begins(before)) {
            Some(before) => (before, at),
            None if begins(at) => (at, at + 1),
            None => (at, at),
        }
    };
    let mut path = Vec::new();
    let mut place = last;
    loop {
        let (device, (first, last)) = (place.0, run_at(place));
        let start = start_of((device, first));
        let needed = (first..=last).find_map(|at| {
            let pass = pass_at((device, at));
            prerequisites_under(model, pass, |other| places.rank(other).is_some())
                .filter_map(|needs| Some((needs, places.find(needs)?)))
                .find_map(|(needs, from)| {
                    let latency = latency(model, needs, pass);
                    // A pair yields at its end.
                    let from = (from.0, run_at(from).1);
                    if from.0 != device
                        && let Some(at) = links.find(needs)
                    {
                        let yields = |by| {
                            let (device, at) = places.find(by).expect("a message of a pass");
                            (device, run_at((device, at)).1)
                        };
                        return (links.end(at) + latency == start).then(|| {
                            let (by, messages) = links.back(at, |by| end(pass_at(yields(by)), yields(by)));
                            let from = yields(by);
                            let ticks = start - end(pass_at(from), from);
                            (from, Waits::Link { messages, ticks })
                        });
                    }
                    let is_tight = end(pass_at(from), from) + latency == start && from != (device, last);
                    is_tight.then_some((from, Waits::Dependency { latency }))
                })
        });
        let before = || {
            let before = (device, first.checked_sub(1)?);
            (end(pass_at(before), before) == start).then(|| {
                let short = is_short(model, device, &held[device.index()], first);
                (before, if short { Waits::Memory } else { Waits::Device })
            })
        };
        let copied = || {
            let graph = graph.as_ref()?;
            let from = before_task(graph, model, schedule, (device, first))?;
            let from = (from.0, run_at(from).1);
            let ticks = start - end(pass_at(from), from);
            Some((from, Waits::Copies { ticks }))
        };
        let cause = needed.or_else(before).or_else(copied);
        for at in (first..=last).rev() {
            let (pass, place) = (pass_at((device, at)), (device, at));
            let waits =
                if at > first { Waits::Device } else { cause.map_or(Waits::Nothing, |(_, waits)| waits) };
            path.push(Step { pass, device, start: start_of(place), end: end(pass, place), waits });
        }
        let Some((earlier, _)) = cause else { break };
        place = earlier;
    }
    path.reverse();
    path
}

/// The last pass of the path: the one for which the end of the step waits, or the first one that ends last; of those without
/// duration at that instant, the last of its order.
fn last_pass(
    model: &Model,
    schedule: &Schedule,
    timing: &Timing,
    end: &dyn Fn((Device, usize)) -> Ticks,
) -> Option<(Device, usize)> {
    let all = Device::all(schedule.devices())
        .flat_map(|device| (0..schedule.order(device).len()).map(move |at| (device, at)));
    let (ends, at, device) = all.map(|place| (end(place), place.1, place.0)).max()?;
    let is_of_passes = timing.step.is_empty() || ends == timing.metrics.makespan;
    if is_of_passes { Some((device, at)) } else { before_end_of_step(model, schedule).or(Some((device, at))) }
}

/// Back from the optimiser step that ends last to the pass that it waits for. Where a task waits for several, what it needs
/// goes before its resource. Nothing where it waits for none, because no microbatch goes through its stage.
fn before_end_of_step(model: &Model, schedule: &Schedule) -> Option<(Device, usize)> {
    let graph = task_graph(model, schedule)?;
    let execution = graph.execute().ok()?;
    let mut task = execution.sequence().iter().copied().max_by_key(|&task| execution.end(&graph, task))?;
    loop {
        let at = task.0 - graph.order(graph.resource_of(task)).start;
        if let Some(place) = pass_of(&graph, model, schedule, task) {
            return Some(place);
        }
        let is_tight =
            |need: &&Need| execution.end(&graph, need.task) + need.latency == execution.start(task);
        let needed = graph.needs(task).iter().find(is_tight).map(|need| need.task);
        task = needed.or_else(|| task.0.checked_sub(1).filter(|_| at > 0).map(Task))?;
    }
}

/// The pass for which another one waits through copies or gathers: back along what is tight to the last pass. Nothing where
/// it waits for none.
fn before_task(
    (graph, execution): &(TaskGraph, Execution),
    model: &Model,
    schedule: &Schedule,
    (device, at): (Device, usize),
) -> Option<(Device, usize)> {
    let position = u32::try_from(at).ok()?;
    let mut task = Task(graph.order(Resource(device.0)).start + posting_tasks(model) + position);
    loop {
        let is_tight = |need: &&Need| execution.end(graph, need.task) + need.latency == execution.start(task);
        let needed = graph.needs(task).iter().find(is_tight).map(|need| need.task);
        let first = graph.order(graph.resource_of(task)).start;
        let on_engine = || {
            let before = task.0.checked_sub(1).filter(|_| task.0 > first).map(Task)?;
            (execution.end(graph, before) == execution.start(task)).then_some(before)
        };
        task = needed.or_else(on_engine)?;
        if let Some(place) = pass_of(graph, model, schedule, task) {
            return Some(place);
        }
    }
}

/// The place of the pass that a task is, if it is one.
fn pass_of(graph: &TaskGraph, model: &Model, schedule: &Schedule, task: Task) -> Option<(Device, usize)> {
    let resource = graph.resource_of(task);
    let at = (task.0 - graph.order(resource).start).checked_sub(posting_tasks(model))? as usize;
    let is_pass = resource.0 < schedule.devices() && at < schedule.order(Device(resource.0)).len();
    is_pass.then_some((Device(resource.0), at))
}

/// When messages keep links busy.
struct Links<'a> {
    links: &'a [LinkTimes],
    /// By pass that makes it: the number of the link of a message, and its position there.
    places: BTreeMap<Pass, (usize, usize)>,
}

impl<'a> Links<'a> {
    fn of(timing: &'a Timing) -> Self {
        let links = timing.links.as_slice();
        let places = links.iter().enumerate().flat_map(|(link, times)| {
            times.messages.iter().enumerate().map(move |(at, (by, _))| (*by, (link, at)))
        });
        Self { links, places: places.collect() }
    }

    fn find(&self, by: Pass) -> Option<(usize, usize)> {
        self.places.get(&by).copied()
    }

    fn end(&self, (link, at): (usize, usize)) -> Ticks {
        self.links[link].messages[at].1.end
    }

    /// Back along the messages for which one waits, to the first that waits for its pass alone: that pass, and how many
    /// messages these are.
    fn back(&self, (link, at): (usize, usize), end_of: impl Fn(Pass) -> Ticks) -> (Pass, u32) {
        let messages = &self.links[link].messages;
        let mut first = at;
        while first > 0 && end_of(messages[first].0) < messages[first].1.start {
            first -= 1;
        }
        (messages[first].0, u32::try_from(at - first + 1).expect("no more messages than passes"))
    }
}

/// Whether what runs at a position would exceed the memory of its device if it ran before what ends right in front
/// of it. What is held counts with the weights of the device, and so does its capacity.
fn is_short(model: &Model, device: Device, held: &[Held], at: usize) -> bool {
    let Some(capacity) = model.memory().capacity[device.index()] else { return false };
    let before = &held[at - 1];
    let (acquires, released) = (held[at].during - before.after, before.during - before.after);
    acquires > Units::ZERO && released > Units::ZERO && before.during + acquires > capacity
}
