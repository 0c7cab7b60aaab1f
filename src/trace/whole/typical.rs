//! Medians of several steps, to predict another one.

use std::collections::BTreeMap;

use super::Task;
use super::tasks::Step;
use super::times::{Edge, EdgeClass, Label, Times, median};
use super::What;
use crate::model::{Stage, Ticks};

/// Medians over several steps: of what tasks took, of messages, and of launch gaps.
#[derive(Debug, Clone)]
pub struct Typical {
    of_stages: BTreeMap<(usize, Stage, Label), Ticks>,
    of_tasks: BTreeMap<Task, Ticks>,
    messages: BTreeMap<EdgeClass, Ticks>,
    gaps: BTreeMap<EdgeClass, Ticks>,
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

impl Typical {
    /// The medians of some steps of the same replicas.
    #[must_use]
    pub fn of<'a>(steps: impl IntoIterator<Item = &'a (Step, Times)>) -> Self {
        let mut of_stages: BTreeMap<_, Vec<i64>> = BTreeMap::new();
        let mut of_tasks: BTreeMap<_, Vec<i64>> = BTreeMap::new();
        let (mut messages, mut gaps) = (BTreeMap::<_, Vec<i64>>::new(), BTreeMap::<_, Vec<i64>>::new());
        for (step, times) in steps {
            for (task, took) in step.took(times) {
                of_stages.entry(class(task)).or_default().push(took.0);
                of_tasks.entry(task).or_default().push(took.0);
            }
            for (node, edges) in step.nodes.iter().zip(&times.edges) {
                for (&need, edge) in node.needs.iter().zip(edges) {
                    let class = step.edge_class(node, need);
                    messages.entry(class).or_default().push(edge.message.0);
                    gaps.entry(class).or_default().push(edge.gap.0);
                }
            }
        }
        Self {
            of_stages: medians(of_stages),
            of_tasks: medians(of_tasks),
            messages: medians(messages),
            gaps: medians(gaps),
        }
    }

    /// The times that a step is predicted to have. What no step of the medians had takes no time.
    #[must_use]
    pub fn times(&self, step: &Step, durations: Durations<'_>) -> Times {
        let took = step.nodes.iter().enumerate().map(|(at, node)| {
            let task = node.task;
            let of_class = || self.of_stages.get(&class(task)).copied();
            let found = match (durations, task.what) {
                (Durations::Of(own), What::Pass(_)) => Some(own.took[at]),
                (Durations::OfPasses, What::Pass(_)) => self.of_tasks.get(&task).copied(),
                (Durations::OfStages, _) | (_, What::Work { .. }) => of_class(),
            };
            found.unwrap_or_default()
        });
        let edges = step.nodes.iter().map(|node| {
            let edge = |&need| {
                let class = step.edge_class(node, need);
                let of = |medians: &BTreeMap<EdgeClass, Ticks>| medians.get(&class).copied().unwrap_or_default();
                Edge { message: of(&self.messages), gap: of(&self.gaps) }
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
