//! One iteration of all replicas as tasks that wait for each other.

use std::collections::BTreeMap;

use super::times::{self, Times};
use super::{Replicas, ReplicasError, Task, What};
use crate::model::{Device, Kind, Pass, Stage, Ticks};
use crate::trace::matching::{first_spans, needs};
use crate::trace::synthetic::destination;
use crate::trace::{Iteration, StepSpan, StepWork, Trace};

/// The tasks of one iteration of all replicas, and what they wait for.
#[derive(Debug, Clone)]
pub struct Step {
    pub(super) nodes: Vec<Node>,
    /// Tasks that start together, each with all tasks that it waits for in units before it.
    pub(super) units: Vec<Vec<usize>>,
}

#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) task: Task,
    pub(super) device: Device,
    pub(super) needs: Vec<Need>,
}

/// What a task waits for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Need {
    /// The task before; nothing for the start of the step.
    pub(super) before: Option<usize>,
    pub(super) by: By,
}

/// Why a task waits for another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum By {
    /// Its device, or the works of its stage, come to it next.
    Order,
    /// A message from one device to another.
    Message { from: Device, to: Device },
}

/// Who takes part in a work of the step with whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Group {
    /// The replicas of a stage.
    OfStage(Stage),
    /// The stages of a replica.
    OfReplica(usize),
    /// Everything.
    Whole,
}

const fn group(work: StepWork, replica: usize, stage: Stage) -> Option<Group> {
    match work {
        StepWork::Gather | StepWork::Reduce => Some(Group::OfStage(stage)),
        StepWork::Embedding => Some(Group::OfReplica(replica)),
        StepWork::Norm => Some(Group::Whole),
        // A tensor-parallel group is within its stage, an optimiser step is of its device.
        StepWork::Tensor | StepWork::Optimizer => None,
    }
}

impl Step {
    /// An iteration of all replicas, and what was measured of it.
    ///
    /// 1. The passes of a device run in the order in which they started. The first pass of a stage waits for the all-gather
    ///    of that stage, if that began before it.
    /// 2. A pass waits for the messages that it needs. They are under way from the end of the pass that makes them at the earliest.
    /// 3. The other works of a stage follow its last pass, in the order in which they started. Its
    ///    optimiser step waits for the last pass of its device as well.
    /// 4. Replicas of a stage gather and reduce together, the first and the last stage of a replica reduce embeddings together,
    ///    and the norm of gradients is of all stages of all replicas. What is done together starts when the last one arrives.
    ///
    /// # Errors
    /// When tasks wait for each other, or replicas did nothing together, or at different times.
    ///
    /// # Panics
    /// When there is no such iteration.
    pub fn of(replicas: &Replicas<'_>, iteration: usize) -> Result<(Self, Times), ReplicasError> {
        let mut builder = Builder::default();
        let mut messages = Vec::new();
        for (replica, trace) in replicas.traces.iter().enumerate() {
            let ran = &trace.iterations[iteration];
            builder.replica(replica, trace, ran);
            messages.push(under_way(trace, ran));
        }
        let Builder { nodes, spans, groups, .. } = builder;
        for members in groups.values() {
            // What is together overlaps in time: whoever arrives last, all have to be there then.
            let latest = members.iter().map(|&at| spans[at].0).max();
            let apart = members.iter().find(|&&at| latest.is_some_and(|latest| spans[at].1 < latest));
            if let Some(&at) = apart {
                return Err(ReplicasError::Apart { iteration, task: nodes[at].task });
            }
        }
        for replica in 1..replicas.count() {
            let mut joined = groups.values().filter(|members| {
                let has = |replica: usize| members.iter().any(|&at| nodes[at].task.replica == replica);
                has(0) && has(replica)
            });
            if joined.next().is_none() {
                return Err(ReplicasError::Separate { replica });
            }
        }
        let units = in_order(&nodes, groups.into_values().collect())
            .map_err(|at| ReplicasError::Circle { iteration, task: nodes[at].task })?;
        let step = Self { nodes, units };
        let times = times::measured(&step, &spans, &messages);
        Ok((step, times))
    }

    /// The tasks, replica by replica.
    pub fn tasks(&self) -> impl Iterator<Item = Task> + '_ {
        self.nodes.iter().map(|node| node.task)
    }

    /// The tasks of a device of a replica.
    pub fn tasks_of(&self, replica: usize, device: Device) -> impl Iterator<Item = Task> + '_ {
        let here = move |node: &&Node| node.task.replica == replica && node.device == device;
        self.nodes.iter().filter(here).map(|node| node.task)
    }
}

/// Whether a work is an all-gather that began before the first pass of its stage.
fn comes_first(ran: &Iteration, work: &StepSpan) -> bool {
    let passes = ran.passes.iter().flatten().filter(|span| span.pass.stage == work.stage);
    let first = passes.map(|span| span.start).min();
    work.work == StepWork::Gather && first.is_none_or(|first| work.start <= first)
}

/// How long the messages of a replica were under way, where they were recorded: from the end of the pass that made it, or later.
fn under_way(trace: &Trace, ran: &Iteration) -> Option<BTreeMap<Pass, Ticks>> {
    let spans = first_spans(ran);
    let messages = ran.messages.as_ref()?.iter().filter(|message| {
        destination(&trace.schedule, message.pass).is_some_and(|(_, device)| device == message.to)
    });
    let took = messages.filter_map(|message| {
        let made = spans.get(&message.pass)?.end;
        Some((message.pass, (message.end - message.start.max(made)).max(Ticks::ZERO)))
    });
    Some(took.collect())
}

type Together = BTreeMap<(StepWork, Group, usize), Vec<usize>>;

#[derive(Default)]
struct Builder {
    nodes: Vec<Node>,
    /// By node: start and end.
    spans: Vec<(Ticks, Ticks)>,
    groups: Together,
}

impl Builder {
    fn add(&mut self, task: Task, device: Device, span: (Ticks, Ticks), needs: Vec<Need>) -> usize {
        self.nodes.push(Node { task, device, needs });
        self.spans.push(span);
        self.nodes.len() - 1
    }

    fn work(
        &mut self,
        replica: usize,
        device: Device,
        span: &StepSpan,
        nth: usize,
        needs: Vec<Need>,
    ) -> usize {
        let &StepSpan { work, stage, start, end } = span;
        let at =
            self.add(Task { replica, what: What::Work { work, stage, nth } }, device, (start, end), needs);
        if let Some(group) = group(work, replica, stage) {
            self.groups.entry((work, group, nth)).or_default().push(at);
        }
        at
    }

    fn replica(&mut self, replica: usize, trace: &Trace, ran: &Iteration) {
        let placement = trace.schedule.placement();
        let mut works: BTreeMap<Stage, Vec<&StepSpan>> = BTreeMap::new();
        for span in ran.step.iter().flatten() {
            works.entry(span.stage).or_default().push(span);
        }
        for of_stage in works.values_mut() {
            of_stage.sort_by_key(|span| (span.start, span.end, span.work));
        }
        let from_start = Need { before: None, by: By::Order };
        let mut gathered: BTreeMap<Stage, usize> = BTreeMap::new();
        for (&stage, of_stage) in &works {
            let mut before = from_start;
            let gathers = of_stage.iter().filter(|span| comes_first(ran, span));
            for (nth, span) in gathers.enumerate() {
                let at = self.work(replica, placement.device_of(stage), span, nth, vec![before]);
                before = Need { before: Some(at), by: By::Order };
                gathered.insert(stage, at);
            }
        }
        let at_pass = self.passes(replica, trace, ran, &mut gathered);
        let last_of = |of: &dyn Fn(Stage) -> bool| {
            let passes = ran.passes.iter().flatten().filter(|span| of(span.pass.stage));
            let last = passes.max_by_key(|span| (span.end, span.start, span.pass));
            last.map(|span| Need { before: Some(at_pass[&span.pass]), by: By::Order })
        };
        for (&stage, of_stage) in &works {
            let device = placement.device_of(stage);
            let mut before = last_of(&|other| other == stage).unwrap_or(from_start);
            let mut times_seen: BTreeMap<StepWork, usize> = BTreeMap::new();
            for span in of_stage.iter().filter(|span| !comes_first(ran, span)) {
                let mut needs = vec![before];
                if span.work == StepWork::Optimizer {
                    needs.extend(last_of(&|other| placement.device_of(other) == device));
                }
                let nth = times_seen.entry(span.work).or_default();
                let at = self.work(replica, device, span, *nth, needs);
                *nth += 1;
                before = Need { before: Some(at), by: By::Order };
            }
        }
    }

    /// The passes of a replica, and where each is.
    fn passes(
        &mut self,
        replica: usize,
        trace: &Trace,
        ran: &Iteration,
        gathered: &mut BTreeMap<Stage, usize>,
    ) -> BTreeMap<Pass, usize> {
        let first = self.nodes.len();
        let mut at_pass = BTreeMap::new();
        for (device, row) in Device::all(trace.schedule.devices()).zip(&ran.passes) {
            let mut before = None;
            for span in row {
                let mut needs: Vec<Need> = Vec::new();
                needs.extend(before.map(|at| Need { before: Some(at), by: By::Order }));
                let gather = gathered.remove(&span.pass.stage);
                needs.extend(gather.map(|at| Need { before: Some(at), by: By::Order }));
                let task = Task { replica, what: What::Pass(span.pass) };
                let at = self.add(task, device, (span.start, span.end), needs);
                at_pass.insert(span.pass, at);
                before = Some(at);
            }
        }
        let spans = first_spans(ran);
        let placement = trace.schedule.placement();
        for at in first..self.nodes.len() {
            let What::Pass(pass) = self.nodes[at].task.what else { continue };
            let to = self.nodes[at].device;
            for needed in needs(&trace.schedule, &spans, pass) {
                let from = placement.device_of(needed.stage);
                // What its own device runs before it, the order has.
                if from != to {
                    let by = By::Message { from, to };
                    self.nodes[at].needs.push(Need { before: Some(at_pass[&needed]), by });
                }
            }
            if self.nodes[at].needs.is_empty() {
                self.nodes[at].needs.push(Need { before: None, by: By::Order });
            }
        }
        at_pass
    }
}

/// Units of tasks that start together, each behind all that it waits for; or a task that waits for itself.
fn in_order(nodes: &[Node], groups: Vec<Vec<usize>>) -> Result<Vec<Vec<usize>>, usize> {
    let mut unit_of: Vec<Option<usize>> = vec![None; nodes.len()];
    let mut units = groups;
    for (unit, members) in units.iter().enumerate() {
        for &at in members {
            unit_of[at] = Some(unit);
        }
    }
    for (at, unit) in unit_of.iter_mut().enumerate() {
        if unit.is_none() {
            *unit = Some(units.len());
            units.push(vec![at]);
        }
    }
    let unit_of = |at: usize| unit_of[at].expect("every task is in a unit");
    let mut waits = vec![0_usize; units.len()];
    let mut after: Vec<Vec<usize>> = vec![Vec::new(); units.len()];
    for (unit, members) in units.iter().enumerate() {
        let needs = members.iter().flat_map(|&at| &nodes[at].needs);
        for before in needs.filter_map(|need| need.before).map(unit_of) {
            after[before].push(unit);
            waits[unit] += 1;
        }
    }
    let mut ready: Vec<usize> = (0..units.len()).filter(|&unit| waits[unit] == 0).collect();
    let mut sorted = Vec::with_capacity(units.len());
    while let Some(unit) = ready.pop() {
        for &next in &after[unit] {
            waits[next] -= 1;
            if waits[next] == 0 {
                ready.push(next);
            }
        }
        sorted.push(std::mem::take(&mut units[unit]));
    }
    match units.iter().flatten().next() {
        Some(&at) => Err(at),
        None => Ok(sorted),
    }
}

impl Node {
    /// The kind of a pass.
    pub(super) const fn kind(&self) -> Option<Kind> {
        match self.task.what {
            What::Pass(pass) => Some(pass.kind),
            What::Work { .. } => None,
        }
    }
}
