//! Medians of several steps, to predict another one.

use std::collections::BTreeMap;

use super::Task;
use super::What;
use super::tasks::Step;
use super::times::{Edge, EdgeClass, Label, Times, median};
use crate::model::{Stage, Ticks};

/// Medians over several steps: of what tasks took, of messages, and of launch gaps.
#[derive(Debug, Clone)]
pub struct Typical {
    by_stage: BTreeMap<(usize, Stage, Label), Ticks>,
    by_task: BTreeMap<Task, Ticks>,
    waits_by_kind: Edges<EdgeClass>,
    waits_by_task: Edges<(Option<Task>, Task)>,
}

/// Medians of messages and of launch gaps.
#[derive(Debug, Clone)]
struct Edges<K> {
    messages: BTreeMap<K, Ticks>,
    gaps: BTreeMap<K, Ticks>,
}

impl<K: Ord + Copy> Edges<K> {
    fn of(edges: &[(K, Edge)]) -> Self {
        let medians_of = |time: fn(&Edge) -> Ticks| {
            let mut values: BTreeMap<K, Vec<i64>> = BTreeMap::new();
            for (key, edge) in edges {
                values.entry(*key).or_default().push(time(edge).0);
            }
            medians(values)
        };
        Self { messages: medians_of(|edge| edge.message), gaps: medians_of(|edge| edge.gap) }
    }

    fn get(&self, key: K) -> Option<Edge> {
        Some(Edge { message: *self.messages.get(&key)?, gap: *self.gaps.get(&key)? })
    }
}

/// Which durations of passes a prediction takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durations<'a> {
    /// Medians by replica, stage and kind.
    OfStages,
    /// Medians of each pass, of each replica.
    OfPasses,
    /// Those of these times, which are of the step itself.
    Of(&'a Times),
}

/// Which medians of messages and launch gaps a prediction takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waits {
    /// By link, device, and the kinds of the two tasks.
    OfKinds,
    /// Of each two tasks.
    OfEach,
}

impl Typical {
    /// The medians of some steps of the same replicas.
    #[must_use]
    pub fn of<'a>(steps: impl IntoIterator<Item = &'a (Step, Times)>) -> Self {
        let mut by_stage: BTreeMap<_, Vec<i64>> = BTreeMap::new();
        let mut by_task: BTreeMap<_, Vec<i64>> = BTreeMap::new();
        let (mut waits_by_kind, mut waits_by_task) = (Vec::new(), Vec::new());
        for (step, times) in steps {
            for (task, took) in step.took(times) {
                by_stage.entry(class(task)).or_default().push(took.0);
                by_task.entry(task).or_default().push(took.0);
            }
            for (node, edges) in step.nodes.iter().zip(&times.edges) {
                for (&need, &edge) in node.needs.iter().zip(edges) {
                    waits_by_kind.push((step.edge_class(node, need), edge));
                    waits_by_task.push((step.between(node, need), edge));
                }
            }
        }
        Self {
            by_stage: medians(by_stage),
            by_task: medians(by_task),
            waits_by_kind: Edges::of(&waits_by_kind),
            waits_by_task: Edges::of(&waits_by_task),
        }
    }

    /// The times that a step is predicted to have. What no step of the medians had takes no time.
    #[must_use]
    pub fn times(&self, step: &Step, durations: Durations<'_>, waits: Waits) -> Times {
        let took = step.nodes.iter().enumerate().map(|(at, node)| {
            let task = node.task;
            let of_class = || self.by_stage.get(&class(task)).copied();
            let found = match (durations, task.what) {
                (Durations::Of(own), What::Pass(_)) => Some(own.took[at]),
                (Durations::OfPasses, What::Pass(_)) => self.by_task.get(&task).copied().or_else(of_class),
                (Durations::OfStages, _) | (_, What::Work { .. }) => of_class(),
            };
            found.unwrap_or_default()
        });
        let edges = step.nodes.iter().map(|node| {
            let edge = |&need| {
                let of_class = || self.waits_by_kind.get(step.edge_class(node, need));
                let of_edge = || self.waits_by_task.get(step.between(node, need));
                let found = match waits {
                    Waits::OfKinds => of_class(),
                    Waits::OfEach => of_edge().or_else(of_class),
                };
                found.unwrap_or_default()
            };
            node.needs.iter().map(edge).collect()
        });
        Times { took: took.collect(), edges: edges.collect() }
    }
}

fn class(task: Task) -> (usize, Stage, Label) {
    (task.replica, task.what.stage(), Label::of(task.what))
}

fn medians<K: Ord>(values: BTreeMap<K, Vec<i64>>) -> BTreeMap<K, Ticks> {
    values.into_iter().map(|(key, values)| (key, median(&values))).collect()
}
