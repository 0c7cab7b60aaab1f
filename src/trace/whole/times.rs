//! How long tasks took, and what passed between them.

use std::collections::BTreeMap;

use super::tasks::{By, Need, Node, Step};
use super::{Task, What};
use crate::model::{Device, Kind, Pass, Stage, Ticks};
use crate::trace::StepWork;
use crate::trace::statistics::Spread;

/// How long every task of a [`Step`] took once all that take part had arrived, and what passed between tasks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Times {
    /// By task, in the order of [`Step::tasks`].
    pub(super) took: Vec<Ticks>,
    /// By task and by what it waits for.
    pub(super) edges: Vec<Vec<Edge>>,
}

/// What passes from the end of a task to the start of one that waits for it, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Edge {
    /// How long the message was under way. Where messages were not recorded, all that passed before a pass that found its
    /// device idle.
    pub message: Ticks,
    /// What is left: the launch of the second task. Clocks that are apart may make it negative.
    pub gap: Ticks,
}

/// What tasks and edges have in common whose times are of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct EdgeClass {
    replica: usize,
    device: Device,
    by: By,
    before: Option<Label>,
    after: Label,
}

/// A pass by its kind, a work by its stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Label {
    Pass(Kind),
    Work(StepWork, Stage, usize),
}

impl Label {
    pub(super) const fn of(what: What) -> Self {
        match what {
            What::Pass(pass) => Self::Pass(pass.kind),
            What::Work { work, stage, nth } => Self::Work(work, stage, nth),
        }
    }
}

impl Step {
    pub(super) fn edge_class(&self, node: &Node, need: Need) -> EdgeClass {
        EdgeClass {
            replica: node.task.replica,
            device: node.device,
            by: need.by,
            before: need.before.map(|at| Label::of(self.nodes[at].task.what)),
            after: Label::of(node.task.what),
        }
    }

    /// The two tasks of an edge.
    pub(super) fn between(&self, node: &Node, need: Need) -> (Option<Task>, Task) {
        (need.before.map(|at| self.nodes[at].task), node.task)
    }

    /// By task: when it ends with these times, from the start of the step. Nothing where that is more than can be counted.
    ///
    /// # Panics
    /// When the times are of another step.
    #[must_use]
    pub fn run(&self, times: &Times) -> Option<Vec<Ticks>> {
        let mut ends = vec![Ticks::ZERO; self.nodes.len()];
        for unit in &self.units {
            let mut arrived = Ticks(i64::MIN);
            for &at in unit {
                for (need, edge) in self.nodes[at].needs.iter().zip(&times.edges[at]) {
                    let before = need.before.map_or(Ticks::ZERO, |before| ends[before]);
                    arrived = arrived.max(before.checked_add(edge.message)?.checked_add(edge.gap)?);
                }
            }
            for &at in unit {
                ends[at] = arrived.checked_add(times.took[at])?;
            }
        }
        Some(ends)
    }

    /// How long the step takes with these times, in nanoseconds, as [`run`](Self::run).
    #[must_use]
    pub fn length(&self, times: &Times) -> Option<Ticks> {
        self.run(times)?.into_iter().max()
    }

    /// When the last pass ends, in nanoseconds, as [`run`](Self::run).
    #[must_use]
    pub fn passes_end(&self, times: &Times) -> Option<Ticks> {
        let ends = self.run(times)?;
        let passes = self.nodes.iter().zip(ends).filter(|(node, _)| node.kind().is_some());
        passes.map(|(_, end)| end).max()
    }

    /// Other times of tasks. `of` gets a task with what it took.
    #[must_use]
    pub fn with_tasks(&self, times: &Times, of: impl Fn(Task, Ticks) -> Ticks) -> Times {
        let took = self.nodes.iter().zip(&times.took).map(|(node, &took)| of(node.task, took));
        Times { took: took.collect(), edges: times.edges.clone() }
    }

    /// Other times of messages. `of` gets the pass that sends, on its replica, the devices that it goes from and to, and how
    /// long it was under way.
    #[must_use]
    pub fn with_messages(&self, times: &Times, of: impl Fn(Task, [Device; 2], Ticks) -> Ticks) -> Times {
        self.with_edges(times, |need, _, edge| match (need.before, need.by) {
            (Some(before), By::Message { from, to }) => {
                Edge { message: of(self.nodes[before].task, [from, to], edge.message), ..edge }
            }
            _ => edge,
        })
    }

    /// No launch gaps where `of` says so, of the device that the second task is on and its replica.
    #[must_use]
    pub fn without_gaps(&self, times: &Times, of: impl Fn(usize, Device) -> bool) -> Times {
        self.with_edges(times, |_, node, edge| {
            let gone = of(node.task.replica, node.device);
            Edge { gap: if gone { Ticks::ZERO } else { edge.gap }, ..edge }
        })
    }

    fn with_edges(&self, times: &Times, of: impl Fn(Need, &Node, Edge) -> Edge) -> Times {
        let of_node = |(node, edges): (&Node, &Vec<Edge>)| {
            node.needs.iter().zip(edges).map(|(&need, &edge)| of(need, node, edge)).collect()
        };
        let edges = self.nodes.iter().zip(&times.edges).map(of_node).collect();
        Times { took: times.took.clone(), edges }
    }

    /// By task in the order of [`tasks`](Self::tasks), what it took.
    pub fn took<'a>(&'a self, times: &'a Times) -> impl Iterator<Item = (Task, Ticks)> + 'a {
        self.nodes.iter().zip(&times.took).map(|(node, &took)| (node.task, took))
    }

    /// By task: the replica and device that it is on, and what it took.
    pub fn on_devices<'a>(&'a self, times: &'a Times) -> impl Iterator<Item = ((usize, Device), Ticks)> + 'a {
        self.nodes.iter().zip(&times.took).map(|(node, &took)| ((node.task.replica, node.device), took))
    }

    /// The messages: the pass that sends, on its replica, the devices it goes from and to, and how long it is under way.
    pub fn messages<'a>(&'a self, times: &'a Times) -> impl Iterator<Item = (Task, [Device; 2], Ticks)> + 'a {
        self.nodes.iter().zip(&times.edges).flat_map(move |(node, edges)| {
            node.needs.iter().zip(edges).filter_map(move |(need, edge)| match (need.before, need.by) {
                (Some(before), By::Message { from, to }) => {
                    Some((self.nodes[before].task, [from, to], edge.message))
                }
                _ => None,
            })
        })
    }

    /// The same step with every task as long as its like in `level`, messages too, and no launch gaps. Tasks and messages stay as they are where `keep` says so.
    #[must_use]
    pub fn levelled(&self, times: &Times, level: &Level, keep: impl Fn(Timed) -> bool) -> Times {
        let times = self.without_gaps(times, |_, _| true);
        let times = self.with_tasks(&times, |task, took| {
            let levelled = match task.what {
                What::Pass(pass) => level.passes.get(&pass.kind),
                What::Work { work, .. } => level.works.get(&work),
            };
            levelled.copied().filter(|_| !keep(Timed::Task(task))).unwrap_or(took)
        });
        self.with_edges(&times, |need, node, edge| {
            let (Some(before), By::Message { from, to }) = (need.before, need.by) else { return edge };
            let What::Pass(Pass { kind, .. }) = self.nodes[before].task.what else { return edge };
            let keeps = keep(Timed::Message { receiver: node.task, between: [from, to] });
            let levelled = level.messages.get(&kind).copied().filter(|_| !keeps);
            Edge { message: levelled.unwrap_or(edge.message), ..edge }
        })
    }
}

/// Something of a step that takes time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Timed {
    /// A task.
    Task(Task),
    /// A message.
    Message {
        /// The pass that waits for it.
        receiver: Task,
        /// The devices that it goes from and to.
        between: [Device; 2],
    },
}

/// What passes, works and messages take that are all alike: means of what is computed, medians of what is sent, because
/// messages sometimes wait for something else. ByteDance's simulator levels so, too (StragglerAnalysis, OSDI '25). A median of an even number of
/// values is the mean of the two in the middle here.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Level {
    /// By kind of pass, its mean.
    pub passes: BTreeMap<Kind, Ticks>,
    /// By work of the step, its median; of optimiser steps the mean.
    pub works: BTreeMap<StepWork, Ticks>,
    /// By kind of the pass that sends, the median time under way.
    pub messages: BTreeMap<Kind, Ticks>,
}

impl Level {
    /// What the tasks of several steps take on a level.
    #[must_use]
    pub fn of<'a>(steps: impl IntoIterator<Item = &'a (Step, Times)>) -> Self {
        let (mut passes, mut works, mut messages) =
            (BTreeMap::<_, Vec<i64>>::new(), BTreeMap::<_, Vec<i64>>::new(), BTreeMap::<_, Vec<i64>>::new());
        for (step, times) in steps {
            for (task, took) in step.took(times) {
                match task.what {
                    What::Pass(pass) => passes.entry(pass.kind).or_default().push(took.0),
                    What::Work { work, .. } => works.entry(work).or_default().push(took.0),
                }
            }
            for (task, _, took) in step.messages(times) {
                if let What::Pass(pass) = task.what {
                    messages.entry(pass.kind).or_default().push(took.0);
                }
            }
        }
        let works = works.into_iter().map(|(work, values)| {
            (work, if work == StepWork::Optimizer { mean(&values) } else { middle(values) })
        });
        Self {
            passes: passes.into_iter().map(|(kind, values)| (kind, mean(&values))).collect(),
            works: works.collect(),
            messages: messages.into_iter().map(|(kind, values)| (kind, middle(values))).collect(),
        }
    }
}

/// The mean, rounded down.
pub(super) fn mean(values: &[i64]) -> Ticks {
    let sum: i128 = values.iter().copied().map(i128::from).sum();
    let mean = sum.div_euclid(i128::try_from(values.len().max(1)).expect("a length"));
    Ticks(i64::try_from(mean).expect("between the least and the most"))
}

/// The median, of two the mean.
fn middle(mut values: Vec<i64>) -> Ticks {
    values.sort_unstable();
    let half = values.len() / 2;
    mean(&values[values.len().saturating_sub(1) / 2..(half + 1).min(values.len())])
}

/// The median, the lower one of two.
pub(super) fn median(values: &[i64]) -> Ticks {
    Ticks(Spread::of(values.iter().copied()).map_or(0, |spread| spread.median))
}

/// By replica, where they were recorded: how long the message of a pass was under way.
pub(super) type UnderWay = Vec<Option<BTreeMap<Pass, Ticks>>>;

/// What was measured. Where a task waited for several, that which came last counts: what passed after its end is known. For
/// the others it is the median of their like, but no more than what passed.
pub(super) fn measured(step: &Step, spans: &[(Ticks, Ticks)], messages: &UnderWay) -> Times {
    let origin = spans.iter().map(|span| span.0).min().unwrap_or_default();
    let mut took = vec![Ticks::ZERO; spans.len()];
    for unit in &step.units {
        let begun = unit.iter().map(|&at| spans[at].0).max().unwrap_or_default();
        for &at in unit {
            took[at] = spans[at].1 - begun;
        }
    }
    // By task and what it waits for: what is known to be a message, what is left until the start, and whether that is a message.
    let found: Vec<Vec<(Ticks, Ticks, bool)>> = step
        .nodes
        .iter()
        .zip(spans)
        .map(|(node, span)| {
            let known = |need: &Need| {
                let end = need.before.map_or(origin, |before| spans[before].1);
                let sent = match (need.before.map(|before| step.nodes[before].task), need.by) {
                    (Some(Task { replica, what: What::Pass(pass) }), By::Message { .. }) => {
                        messages[replica].as_ref().map(|messages| messages.get(&pass).copied())
                    }
                    _ => Some(None),
                };
                let message = sent.flatten().unwrap_or_default();
                (message, span.0 - (end + message), sent.is_none())
            };
            node.needs.iter().map(known).collect()
        })
        .collect();
    let last = |left: &[(Ticks, Ticks, bool)]| left.iter().map(|left| left.1).min().unwrap_or_default();
    let mut classes: BTreeMap<EdgeClass, Vec<i64>> = BTreeMap::new();
    for (node, left) in step.nodes.iter().zip(&found) {
        for (&need, &(_, rest, _)) in node.needs.iter().zip(left) {
            if rest == last(left) {
                classes.entry(step.edge_class(node, need)).or_default().push(rest.0);
            }
        }
    }
    let classes: BTreeMap<EdgeClass, Ticks> =
        classes.into_iter().map(|(class, values)| (class, median(&values))).collect();
    let edges = step.nodes.iter().zip(&found).map(|(node, left)| {
        let of_edge = |(&need, &(message, rest, is_message)): (&Need, &(Ticks, Ticks, bool))| {
            let usual = classes.get(&step.edge_class(node, need)).copied().unwrap_or_default();
            let passed = if rest == last(left) { rest } else { usual.min(rest) };
            if is_message && passed > Ticks::ZERO {
                Edge { message: passed, gap: Ticks::ZERO }
            } else {
                Edge { message, gap: passed }
            }
        };
        node.needs.iter().zip(left).map(of_edge).collect()
    });
    Times { edges: edges.collect(), took }
}
