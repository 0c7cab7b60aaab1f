//! Making a task graph, one order after the other.

use super::{Need, Resource, Task, TaskGraph};
use crate::model::{Model, Ticks};

/// Why tasks are no task graph.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GraphError {
    /// A duration or a latency below zero.
    #[error("task {} takes or waits for a negative time", .0.0)]
    NegativeTime(Task),
    /// A task needs one that does not exist.
    #[error("task {} needs task {}, but there is none", .task.0, .needed.0)]
    UnknownTask {
        /// The task that needs it.
        task: Task,
        /// The one that does not exist.
        needed: Task,
    },
    /// Sums of times would not fit.
    #[error("all durations and latencies together exceed {max} ticks", max = TaskGraph::MAX_TOTAL)]
    Overflow,
    /// More than can be counted in 32 bits.
    #[error("there are more than {max} tasks, needs or resources", max = u32::MAX)]
    TooMany,
}

impl TaskGraph {
    /// Upper limit on the sum of all durations and latencies: no start exceeds that of [`Model::MAX_TOTAL`] by far.
    pub const MAX_TOTAL: i64 = 4 * Model::MAX_TOTAL;
}

/// Collects the orders of resources.
#[derive(Debug, Clone, Default)]
pub struct TaskGraphBuilder {
    first_task: Vec<u32>,
    durations: Vec<Ticks>,
    first_need: Vec<u32>,
    needs: Vec<Need>,
}

impl TaskGraphBuilder {
    /// No resource yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The same, with room for so many tasks and needs.
    #[must_use]
    pub fn with_capacity(tasks: usize, needs: usize) -> Self {
        Self {
            first_task: Vec::new(),
            durations: Vec::with_capacity(tasks),
            first_need: Vec::with_capacity(tasks + 1),
            needs: Vec::with_capacity(needs),
        }
    }

    /// Adds a resource. Its tasks are added before the next resource is.
    pub fn resource(&mut self) -> ResourceOrder<'_> {
        self.first_task.push(rank(self.durations.len()));
        ResourceOrder { graph: self }
    }

    /// The task graph.
    ///
    /// # Errors
    /// When a time is negative, a needed task does not exist, or numbers do not fit.
    pub fn finish(mut self) -> Result<TaskGraph, GraphError> {
        for length in [self.first_task.len(), self.durations.len(), self.needs.len()] {
            // The greatest rank stands for what has none.
            if length >= u32::MAX as usize {
                return Err(GraphError::TooMany);
            }
        }
        self.first_task.push(rank(self.durations.len()));
        self.first_need.push(rank(self.needs.len()));
        let Self { first_task, durations, first_need, needs } = self;
        TaskGraph { first_task, durations, first_need, needs }.checked()
    }
}

impl TaskGraph {
    /// The same tasks with other durations, by task, in ticks.
    ///
    /// # Errors
    /// When a duration is negative, or the sum of all exceeds [`MAX_TOTAL`](Self::MAX_TOTAL).
    ///
    /// # Panics
    /// When there is not one duration for each task.
    pub fn with_durations(self, durations: Vec<Ticks>) -> Result<Self, GraphError> {
        assert_eq!(durations.len(), self.len(), "one duration for each task");
        Self { durations, ..self }.checked()
    }

    fn checked(self) -> Result<Self, GraphError> {
        let mut total = Some(0_i64);
        for task in (0..rank(self.len())).map(Task) {
            let duration = self.duration(task);
            let mut least = duration;
            total = total.and_then(|total| total.checked_add(duration.0));
            for need in self.needs(task) {
                if need.task.index() >= self.len() {
                    return Err(GraphError::UnknownTask { task, needed: need.task });
                }
                least = least.min(need.latency);
                total = total.and_then(|total| total.checked_add(need.latency.0));
            }
            if least < Ticks::ZERO {
                return Err(GraphError::NegativeTime(task));
            }
        }
        match total {
            Some(total) if total <= Self::MAX_TOTAL => Ok(self),
            _ => Err(GraphError::Overflow),
        }
    }
}

/// The order of a resource, while it is made.
#[derive(Debug)]
pub struct ResourceOrder<'a> {
    graph: &'a mut TaskGraphBuilder,
}

impl ResourceOrder<'_> {
    /// The resource.
    #[must_use]
    pub fn id(&self) -> Resource {
        Resource(rank(self.graph.first_task.len() - 1))
    }

    /// Adds a task behind those that the resource has.
    pub fn task(&mut self, duration: Ticks) -> NewTask<'_> {
        let graph = &mut *self.graph;
        graph.durations.push(duration);
        graph.first_need.push(rank(graph.needs.len()));
        NewTask { graph }
    }
}

/// A task that was just added.
#[derive(Debug)]
pub struct NewTask<'a> {
    graph: &'a mut TaskGraphBuilder,
}

impl NewTask<'_> {
    /// The task.
    #[must_use]
    pub fn id(&self) -> Task {
        Task(rank(self.graph.durations.len() - 1))
    }

    /// Makes it wait for another task, which may be added later, and a latency after that one's end.
    pub fn need(&mut self, task: Task, latency: Ticks) {
        self.graph.needs.push(Need { task, latency });
    }

    /// The same, in a chain.
    #[must_use]
    pub fn needs(mut self, task: Task, latency: Ticks) -> Self {
        self.need(task, latency);
        self
    }
}

/// A length as a rank. One that does not fit is refused when the graph is finished.
fn rank(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}
