//! The trusted executor: a model and orders go in; times, metrics and every violation come out.
//!
//! Nothing here is shared with what proposes schedules: it imports the definitions of `model` and
//! `schedule`, and runs [task graphs](crate::tasks). The rules by which a model and a schedule make one
//! ([`task_graph`]):
//!
//! - `sF -> (s+1)F`, `(s+1)I -> sI`, `sF -> sI`, `sI -> sW`; B is I and W together; with
//!   recomputation also `sF -> sR -> sI`.
//! - A dependency between devices adds the latency of its boundary.
//! - A device runs its passes in order, one at a time, each as early as it can.
//! - An overlapped pair runs as one pass: it starts when all that either needs is there, takes the time that the model
//!   gives the pair (that of both passes unless it says otherwise), and yields what both yield at its end. It acquires at
//!   its start and releases at its end.
//! - Where there are two directions, each is a pipeline of its own, and a microbatch goes through one.
//! - The weights of a device's stages are there all the time.
//! - F acquires the activation at its start (only the checkpoint where an R follows, which acquires
//!   the rest); I releases all but what W needs at its end; W and B release what is left. Where W needs more than F kept, I
//!   acquires the difference at its start.
//! - An R runs at the [level](crate::model::Recompute) that the schedule names for it, the first unless it names one: this says
//!   what its F keeps and how long it takes. Where the model recomputes [in the
//!   backward](crate::model::Recompute::fused), an R is right before its I or B, and needs all that this needs.
//! - While a pass runs it holds its [workspace](Model::workspace); while an overlapped pair runs, those of both passes.
//! - A received message holds its [buffer](Buffer) from the pass before which its receive is posted to the end of the pass
//!   that uses it.
//! - Where the model says that [messages keep links busy](Model::has_busy_links), a link sends one message at a time, in the
//!   order in which they are made; the latency comes on top. A message that occupies nothing uses no link, and waits for none.
//! - Where the model has an [end of the step](Model::step), the gradients of a stage are reduced after its last W or B, on
//!   the collective stream of its device, one stage at a time, in the order of those passes; a stage that no microbatch
//!   goes through comes first. Behind all its passes, and in the same order, the device runs the optimiser steps of its
//!   stages, each once its gradients are reduced. None of this holds memory of its own.
//! - Where the model says that weights are [sharded](crate::model::Sharding), those of a stage are gathered on the collective
//!   stream of its device before they are used, as the [rule of gatherings](Schedule::gatherings) says, in the order in which
//!   gathers and reductions are posted. A gather waits for what ends before the pass at which it is posted, and the first
//!   pass that uses the weights waits for it; that of no time waits for nothing. What is gathered is held from the pass
//!   before which the gather is posted to the one before which the rule lets go of it. Each device posts its first gathers
//!   when it begins.
//! - What the schedule [offloads](Schedule::offloads) goes to the host on a copy engine of its device, once its F has ended, in the
//!   order of the Fs. Its memory is free from the pass on at which the schedule says so, and that pass waits for the copy. It
//!   comes back on another copy engine, in the order in which copies are posted: behind the pass before that at which the
//!   schedule says that it is fetched, and behind the copies to the host for which that one waits. Its memory is occupied again
//!   from there on, and its I or B waits for it. Of overlapped pairs, both passes wait.
//!
//! ```
//! use bubbleproof_core::model::{Model, Placement};
//! use bubbleproof_core::replay::replay;
//! use bubbleproof_core::schedule::Schedule;
//!
//! // Device 0 wants the gradient of microbatch 1 before it has sent the activation of microbatch 1.
//! let model = Model::unit(Placement::linear(2)?, 2)?;
//! let read = |order: &str| order.split(' ').map(str::parse).collect::<Result<Vec<_>, _>>();
//! let orders = vec![read("0F0 0B0 0F1 0B1")?, read("1F0 1F1 1B0 1B1")?];
//! let verdict = replay(&model, &Schedule::new(model.placement().clone(), 2, orders)?);
//!
//! assert_eq!(
//!     verdict.violations[0].to_string(),
//!     "deadlock of 2 devices: device 0 waits at `0B0` for `1B0` of device 1; \
//!      device 1 waits at `1F1` for `0F1` of device 0",
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod buffers;
mod collectives;
mod copies;
mod deadlocks;
mod layout;
mod links;
mod memory;
mod metrics;
mod numbering;
mod pool;
mod rules;
mod runs;
mod structure;
mod violation;

use std::ops::Range;

use crate::model::{Device, Link, Model, Pass, Ticks, Units};
use crate::schedule::{Gathering, Schedule};
use crate::tasks::{Execution, Task, TaskGraph};
use collectives::{Collective, Stream};
use deadlocks::Deadlocks;
use layout::Layout;
use numbering::Numbering;

pub use buffers::Buffer;
pub use memory::Held;
pub use metrics::{Metrics, Rate};
pub use pool::{BufferPool, buffer_pool};
pub use runs::{PassDurations, RunError, makespans};
pub use violation::{Mismatch, Violation, Wait};

/// What replay found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// Everything that is wrong, by device and position; empty when the schedule is valid, and never where
    /// there is no timing.
    pub violations: Vec<Violation>,
    /// The most each device holds at any instant, as far as its order shows. Empty when the orders
    /// were not looked at: model and schedule do not match, or far too few passes are there.
    pub peak_memory: Vec<Units>,
    /// When everything runs; absent when the passes are not all there once and in their place, or
    /// cannot all run.
    pub timing: Option<Timing>,
}

/// When everything runs, and what that amounts to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timing {
    /// The start of every pass, in the order of each device; the first start, or that of a gather of weights before it, is 0.
    /// Of an overlapped pair, the first pass starts with the pair and the second one ends with it; between, they run side by
    /// side for as long as the pair saves.
    pub starts: Vec<Vec<Ticks>>,
    /// The links that messages keep busy, and when; empty for a model without [such messages](Model::has_busy_links).
    pub links: Vec<LinkTimes>,
    /// By device, when its collective stream gathers weights, in order; empty for a model in which that takes [no
    /// time](Model::has_gathers).
    pub gathers: Vec<Vec<GatherTimes>>,
    /// By device, when its copy engines are busy; empty for a schedule that [offloads](Schedule::offloads) nothing.
    pub copies: Vec<CopyTimes>,
    /// By stage, when the step ends; empty for a model without an [end of the step](Model::step).
    pub step: Vec<StepTimes>,
    /// Makespan, span, busy time and rates.
    pub metrics: Metrics,
}

/// When what follows the passes of a stage runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepTimes {
    /// Start and end of the reduction of its gradients, on the collective stream of its device.
    pub reduce: Range<Ticks>,
    /// Start and end of its optimiser step, on its device.
    pub optimizer: Range<Ticks>,
}

/// When the weights of a stage are gathered on the collective stream of its device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GatherTimes {
    /// The stage, and the positions between which the device has its weights.
    pub gathering: Gathering,
    /// Start and end of the gather.
    pub during: Range<Ticks>,
}

/// When the copy engines of a device are busy: each with its copies in order, as the forward whose activation is copied, and the
/// start and the end of the copy.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CopyTimes {
    /// Copies to the host.
    pub to_host: Vec<(Pass, Range<Ticks>)>,
    /// Copies from the host.
    pub from_host: Vec<(Pass, Range<Ticks>)>,
}

impl CopyTimes {
    /// How long the two copy engines are busy in all, in ticks: that to the host, and that from it.
    #[must_use]
    pub fn busy(&self) -> [Ticks; 2] {
        [&self.to_host, &self.from_host]
            .map(|copies| copies.iter().map(|(_, during)| during.end - during.start).sum())
    }
}

/// When a link is busy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkTimes {
    /// The link.
    pub link: Link,
    /// Its messages in order: the pass that makes each, and the start and the end of what it occupies the link for.
    pub messages: Vec<(Pass, Range<Ticks>)>,
}

impl LinkTimes {
    /// How long the link is busy in all, in ticks.
    #[must_use]
    pub fn busy(&self) -> Ticks {
        self.messages.iter().map(|(_, during)| during.end - during.start).sum()
    }
}

impl Verdict {
    /// Whether nothing is wrong and every pass runs.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.violations.is_empty() && self.timing.is_some()
    }

    /// The most that any device holds.
    #[must_use]
    pub fn peak_memory_max(&self) -> Units {
        self.peak_memory.iter().copied().max().unwrap_or_default()
    }
}

/// Runs a schedule under a model.
///
/// The schedule says how many microbatches there are; the model must have its stages and devices.
#[must_use]
pub fn replay(model: &Model, schedule: &Schedule) -> Verdict {
    explained_by(model, schedule, deadlocks::deadlocks)
}

/// [`replay`], where `deadlocks` only explains why orders do not run to their end: where it finds nothing, orders that
/// do not are a violation all the same.
fn explained_by(
    model: &Model,
    schedule: &Schedule,
    deadlocks: impl FnOnce(&Schedule, &Layout) -> Deadlocks,
) -> Verdict {
    let mut violations = structure::obstacles(model, schedule);
    if !violations.is_empty() {
        return Verdict { violations, peak_memory: Vec::new(), timing: None };
    }
    let layout = Layout::under(model, schedule);
    structure::inspect(model, schedule, &layout, &mut violations);
    let timing = if violations.is_empty() { time(model, schedule, &layout) } else { None };
    if timing.is_none() {
        let Deadlocks { cycles, unlisted } = deadlocks(schedule, &layout);
        violations.extend(cycles.into_iter().map(Violation::Deadlock));
        if unlisted > 0 {
            violations.push(Violation::Stuck { devices: unlisted });
        } else if violations.is_empty() {
            violations.push(Violation::Stuck { devices: schedule.orders().len() });
        }
    }
    let peak_memory = memory::inspect(model, schedule, &layout, &mut violations);
    violations.sort_by_key(Violation::sort_key);
    Verdict { violations, peak_memory, timing }
}

/// The times of orders in which nothing is wrong; nothing when devices wait for each other for ever.
fn time(model: &Model, schedule: &Schedule, layout: &Layout) -> Option<Timing> {
    let numbering = Numbering::new(model, schedule, layout);
    let graph = rules::task_graph(model, schedule, layout, &numbering);
    let execution = graph.execute().ok()?;
    let device_span = graph.span(&execution, schedule.orders().len());
    let starts = starts(model, schedule, layout, &numbering, &execution);
    let during = |task| execution.start(task)..execution.end(&graph, task);
    let ends = numbering.ends().iter();
    let step: Vec<StepTimes> = ends
        .map(|end| StepTimes { reduce: during(end.reduction), optimizer: during(end.optimizer) })
        .collect();
    let of_link = |(link, messages): &(Link, Vec<links::Sent>)| {
        let message = |sent: &links::Sent| {
            let place = layout.place(sent.by);
            let task = numbering.message(sent.by).expect("a message of a link has a task");
            (schedule.order(place.device)[place.position], during(task))
        };
        LinkTimes { link: *link, messages: messages.iter().map(message).collect() }
    };
    let links = numbering.links().iter().map(of_link).collect();
    let on_engine = |copies: &[(copies::Copied, Task)]| {
        copies.iter().map(|&(copied, task)| (copied.pass, during(task))).collect()
    };
    let of_stream = |stream: &Stream| {
        let gathers = stream.collectives.iter().filter_map(|&(collective, task)| match collective {
            Collective::Gather(gathering) => Some(GatherTimes { gathering, during: during(task) }),
            Collective::Reduce(_) => None,
        });
        gathers.collect()
    };
    let has_gathers = model.has_gathers();
    let gathers = numbering.streams().iter().filter(|_| has_gathers).map(of_stream).collect();
    let of_engines = |engines: &copies::Engines| CopyTimes {
        to_host: on_engine(&engines.to_host),
        from_host: on_engine(&engines.from_host),
    };
    let copies = numbering.engines().iter().map(of_engines).collect();
    let metrics = metrics::measure(model, schedule, &starts, &step, device_span);
    Some(Timing { starts, links, gathers, copies, step, metrics })
}

/// The starts of passes, in the order of each device. The second pass of a pair ends with the pair.
fn starts(
    model: &Model,
    schedule: &Schedule,
    layout: &Layout,
    numbering: &Numbering,
    execution: &Execution,
) -> Vec<Vec<Ticks>> {
    let of_device = |(device, order): (Device, &[Pass])| {
        let mut starts = execution.starts()[numbering.passes(layout, device)].to_vec();
        for second in schedule.overlaps(device).iter().map(|first| first + 1) {
            starts[second] -= schedule.duration(model, order[second]);
        }
        starts
    };
    devices(schedule).map(of_device).collect()
}

/// The task graph that [`replay`] runs. Its first resources are the devices, and the first tasks of a device are the passes
/// of its order, behind [one](posting_tasks) with which it posts its first gathers for a model in which gathers take time.
/// The task of an overlapped pair is that of its first pass; that of its second pass takes no time and follows it.
///
/// For a model with an [end of the step](Model::step), the optimiser steps of a device follow its passes. For such a model
/// and for one in which [gathers take time](Model::has_gathers), the collective stream of each device is a resource behind
/// all devices, with the gathers and the reductions as its tasks. For a model with [messages that keep links
/// busy](Model::has_busy_links), the links are the next resources, with the messages as their tasks. For a schedule that
/// [offloads](Schedule::offloads) something, the copy engines of each device come last, that to the host before that from it,
/// with the copies as their tasks. Else there is nothing more, and the task of a pass has the rank that the pass has in the
/// orders of all devices, one after the other.
///
/// Nothing where passes are missing, double or out of place, which [`replay`] reports.
#[must_use]
pub fn task_graph(model: &Model, schedule: &Schedule) -> Option<TaskGraph> {
    let mut violations = structure::obstacles(model, schedule);
    if violations.is_empty() {
        let layout = Layout::under(model, schedule);
        structure::inspect(model, schedule, &layout, &mut violations);
        if violations.is_empty() {
            let numbering = Numbering::new(model, schedule, &layout);
            return Some(rules::task_graph(model, schedule, &layout, &numbering));
        }
    }
    None
}

/// How many tasks of a device come before those of its passes in the [task graph](task_graph()) of a model: that with which
/// it posts its first gathers, where [gathers take time](Model::has_gathers).
#[must_use]
pub fn posting_tasks(model: &Model) -> u32 {
    u32::from(model.has_gathers())
}

/// What every device holds around each pass of its order: the curve of which
/// [`peak_memory`](Verdict::peak_memory) is the highest point. Empty where that is.
#[must_use]
pub fn memory_along(model: &Model, schedule: &Schedule) -> Vec<Vec<Held>> {
    if !structure::obstacles(model, schedule).is_empty() {
        return Vec::new();
    }
    memory::along(model, schedule, &Layout::under(model, schedule))
}

/// The buffers of the messages that every device receives, in the order of the passes that use them; a plan of sends and
/// receives that posts receives in the order that is stated for [`Buffer`] has these. Empty where model and schedule do not
/// match, or far too few passes are there.
#[must_use]
pub fn receive_buffers(model: &Model, schedule: &Schedule) -> Vec<Vec<Buffer>> {
    if !structure::obstacles(model, schedule).is_empty() {
        return Vec::new();
    }
    buffers::buffers(schedule, &Layout::under(model, schedule))
}

/// The end of a pass of a schedule that starts at `start`.
#[must_use]
pub fn end_of(model: &Model, schedule: &Schedule, pass: Pass, start: Ticks) -> Ticks {
    start + schedule.duration(model, pass)
}

/// The devices of a schedule with their orders.
fn devices(schedule: &Schedule) -> impl Iterator<Item = (Device, &[Pass])> {
    Device::all(schedule.devices()).map(|device| (device, schedule.order(device)))
}

#[cfg(test)]
mod tests;
