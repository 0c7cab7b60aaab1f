//! Execution: every task as soon as its resource and its needs allow.

use super::{Resource, Task, TaskGraph};
use crate::model::Ticks;

/// An execution of all tasks, each as soon as possible: the least solution of the rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Execution {
    /// By task.
    pub(super) starts: Vec<Ticks>,
    /// Every task behind those that it waits for.
    pub(super) sequence: Vec<Task>,
}

impl Execution {
    /// When a task starts, in ticks.
    ///
    /// # Panics
    /// When there is no such task.
    #[must_use]
    pub fn start(&self, task: Task) -> Ticks {
        self.starts[task.index()]
    }

    /// The starts of all tasks, by rank, in ticks.
    #[must_use]
    pub fn starts(&self) -> &[Ticks] {
        &self.starts
    }

    /// All tasks, each behind those that it waits for.
    #[must_use]
    pub fn sequence(&self) -> &[Task] {
        &self.sequence
    }

    /// When a task of the graph that was executed ends, in ticks.
    ///
    /// # Panics
    /// When there is no such task.
    #[must_use]
    pub fn end(&self, graph: &TaskGraph, task: Task) -> Ticks {
        self.start(task) + graph.duration(task)
    }

    /// The last end of all tasks of the graph that was executed, in ticks; zero without tasks.
    #[must_use]
    pub fn makespan(&self, graph: &TaskGraph) -> Ticks {
        self.sequence.iter().map(|&task| self.end(graph, task)).max().unwrap_or_default()
    }
}

/// A deadlock: each of these tasks waits for the next one, and the last one for the first. What a task waits for is one
/// that it needs, or the task before it on its resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cycle(pub Vec<Task>);

impl TaskGraph {
    /// Runs every task as soon as possible. The time that this takes is linear in tasks and needs.
    ///
    /// # Errors
    /// With tasks that wait for each other.
    pub fn execute(&self) -> Result<Execution, Cycle> {
        let mut running = Running {
            graph: self,
            ends: vec![NOT_YET; self.len()],
            sequence: Vec::with_capacity(self.len()),
            next: self.resources().map(|resource| self.order(resource).start).collect(),
            waiters: vec![None; self.len()],
            beside: vec![None; self.resources().count()],
            awake: self.resources().rev().collect(),
        };
        while let Some(resource) = running.awake.pop() {
            running.advance(resource);
        }
        if running.sequence.len() < self.len() {
            return Err(running.cycle());
        }
        let Running { ends: mut starts, sequence, .. } = running;
        for (start, &duration) in starts.iter_mut().zip(&self.durations) {
            *start -= duration;
        }
        Ok(Execution { starts, sequence })
    }
}

/// The end of a task that has not run.
const NOT_YET: Ticks = Ticks(-1);

/// The resources in the middle of their orders. Each task is run once, and a resource that waits is woken once by what it
/// waits for.
struct Running<'a> {
    graph: &'a TaskGraph,
    /// By task: when it ends.
    ends: Vec<Ticks>,
    sequence: Vec<Task>,
    /// By resource: the rank of the task that it runs next.
    next: Vec<u32>,
    /// By task: the first of the resources that wait for it.
    waiters: Vec<Option<Resource>>,
    /// By resource: the next one that waits for the same task.
    beside: Vec<Option<Resource>>,
    awake: Vec<Resource>,
}

impl Running<'_> {
    /// Runs the tasks of a resource until one waits, or all have run.
    fn advance(&mut self, resource: Resource) {
        let order = self.graph.order(resource);
        let mut next = self.next[resource.index()];
        let mut free = if next == order.start { Ticks::ZERO } else { self.ends[next as usize - 1] };
        while next < order.end {
            let task = Task(next);
            match self.ready(task, free) {
                Ok(start) => free = self.run(task, start),
                Err(needed) => {
                    self.beside[resource.index()] = self.waiters[needed.index()].replace(resource);
                    break;
                }
            }
            next += 1;
        }
        self.next[resource.index()] = next;
    }

    /// When a task can start on a resource that is free from an instant on, or a needed task that has not run.
    fn ready(&self, task: Task, free: Ticks) -> Result<Ticks, Task> {
        let mut start = free;
        for need in self.graph.needs(task) {
            match self.ends[need.task.index()] {
                NOT_YET => return Err(need.task),
                end => start = start.max(end + need.latency),
            }
        }
        Ok(start)
    }

    /// Runs a task, and wakes the resources that wait for it. Gives its end.
    fn run(&mut self, task: Task, start: Ticks) -> Ticks {
        let end = start + self.graph.duration(task);
        self.ends[task.index()] = end;
        self.sequence.push(task);
        let mut next = self.waiters[task.index()].take();
        while let Some(resource) = next {
            next = self.beside[resource.index()].take();
            self.awake.push(resource);
        }
        end
    }

    /// A cycle among the tasks that have not run. There is one as long as there are such tasks: each of them waits for
    /// another one that has not run.
    fn cycle(&self) -> Cycle {
        let stuck = self.graph.resources().find(|&it| self.next[it.index()] < self.graph.order(it).end);
        let mut at = Task(self.next[stuck.expect("a task has not run").index()]);
        let mut path = Vec::new();
        let mut met = vec![None; self.graph.len()];
        loop {
            if let Some(begin) = met[at.index()] {
                return Cycle(path.split_off(begin));
            }
            met[at.index()] = Some(path.len());
            path.push(at);
            at = match self.ready(at, Ticks::ZERO) {
                Err(needed) => needed,
                Ok(_) => Task(at.0 - 1),
            };
        }
    }
}
