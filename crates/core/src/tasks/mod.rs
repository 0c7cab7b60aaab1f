//! Task graphs: the one thing that is executed.
//!
//! A *resource* serves one task at a time, in a given order: the compute units of a device, a link, a copy engine. A
//! *task* takes a fixed time on its resource. It starts as soon as the task before it on the resource has ended and
//! everything that it *needs* has arrived, which is a latency after the end of the needed task. So start times are the
//! least solution of
//!
//! ```text
//! start(task) >= 0
//! start(task) >= start(before) + duration(before)                 for the task before it on its resource
//! start(task) >= start(needed) + duration(needed) + latency       for every need
//! ```
//!
//! If tasks wait for each other in a cycle, there is no solution: a deadlock.
//!
//! A task graph knows nothing of pipelines. [`replay::task_graph`](crate::replay::task_graph) makes one of a model and a
//! schedule.
//!
//! ```
//! use bubbleproof_core::model::Ticks;
//! use bubbleproof_core::tasks::TaskGraphBuilder;
//!
//! // Two computations; a link carries what the first one yields while the second one runs.
//! let mut graph = TaskGraphBuilder::new();
//! let mut compute = graph.resource();
//! let first = compute.task(Ticks(4)).id();
//! let second = compute.task(Ticks(3)).id();
//! let message = graph.resource().task(Ticks(5)).needs(first, Ticks(1)).id();
//! let graph = graph.finish()?;
//!
//! let execution = graph.execute().expect("nothing waits for itself");
//! assert_eq!([first, second, message].map(|task| execution.start(task)), [Ticks(0), Ticks(4), Ticks(5)]);
//! assert_eq!(execution.makespan(&graph), Ticks(10));
//! # Ok::<(), bubbleproof_core::tasks::GraphError>(())
//! ```

mod build;
mod execute;
mod span;

use std::ops::Range;

use crate::model::Ticks;

pub use build::{GraphError, NewTask, ResourceOrder, TaskGraphBuilder};
pub use execute::{Cycle, Execution};

/// A task, by its rank: tasks are numbered along the order of the first resource, then along that of the second, and so
/// on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Task(pub u32);

impl Task {
    /// The position in lists that have an entry for each task.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A resource, by its number, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Resource(pub u32);

impl Resource {
    /// The position in lists that have an entry for each resource.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a task waits for, beside its resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Need {
    /// The task that has to end.
    pub task: Task,
    /// How long after that end its result arrives, in ticks.
    pub latency: Ticks,
}

/// Tasks with their durations and needs, in order on resources. Made by a [`TaskGraphBuilder`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskGraph {
    /// By resource, the rank of its first task; then the number of tasks.
    first_task: Vec<u32>,
    /// By task.
    durations: Vec<Ticks>,
    /// By task, where its needs begin; then the number of needs.
    first_need: Vec<u32>,
    needs: Vec<Need>,
}

impl TaskGraph {
    /// The number of tasks.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.durations.len()
    }

    /// Whether there are no tasks.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.durations.is_empty()
    }

    /// All resources.
    pub fn resources(&self) -> impl DoubleEndedIterator<Item = Resource> + use<> {
        let count = u32::try_from(self.first_task.len() - 1).expect("no more than the builder allows");
        (0..count).map(Resource)
    }

    /// The ranks of a resource's tasks, in its order.
    ///
    /// # Panics
    /// When there is no such resource.
    #[must_use]
    pub fn order(&self, resource: Resource) -> Range<u32> {
        self.first_task[resource.index()]..self.first_task[resource.index() + 1]
    }

    /// The resource of a task.
    #[must_use]
    pub fn resource_of(&self, task: Task) -> Resource {
        let behind = self.first_task.partition_point(|&first| first <= task.0);
        Resource(u32::try_from(behind - 1).expect("no more than the builder allows"))
    }

    /// How long every task takes, by rank, in ticks.
    #[must_use]
    pub fn durations(&self) -> &[Ticks] {
        &self.durations
    }

    /// How long a task takes, in ticks.
    ///
    /// # Panics
    /// When there is no such task.
    #[must_use]
    pub fn duration(&self, task: Task) -> Ticks {
        self.durations[task.index()]
    }

    /// What a task needs.
    ///
    /// # Panics
    /// When there is no such task.
    #[must_use]
    pub fn needs(&self, task: Task) -> &[Need] {
        let (begin, end) = (self.first_need[task.index()], self.first_need[task.index() + 1]);
        &self.needs[begin as usize..end as usize]
    }

    /// How long the tasks of a resource take together, in ticks.
    ///
    /// # Panics
    /// When there is no such resource.
    #[must_use]
    pub fn work(&self, resource: Resource) -> Ticks {
        self.order(resource).map(|rank| self.duration(Task(rank))).sum()
    }
}

#[cfg(test)]
mod tests;
