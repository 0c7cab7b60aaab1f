//! Spans: how long resources take when each of them may begin later than it could.
//!
//! An *execution* gives every task a start such that resources keep to their orders, one task at a time, and every task
//! waits for what it needs. The **span** of some resources is the least T, in ticks, for which some execution lets each of
//! them end at most T after it begins.
//!
//! The execution as soon as possible is one of them, but not always the best: a resource whose first task comes long
//! before its second one does better to wait.
//!
//! # How it is found
//!
//! Let `A(x, y)` be the longest chain of tasks and latencies from the first task of resource x to the last one of
//! resource y. Executions with spans of at most T are the solutions of a system of differences: whatever a task waits
//! for, and `last end - T <= first start` on every resource. It has a solution in integers exactly when no cycle
//! of resources has a mean chain above T, so
//!
//! ```text
//! span  =  max over cycles x1, x2, ..., xk, x1 of  (A(x1, x2) + A(x2, x3) + ... + A(xk, x1)) / k,  rounded up
//! ```
//!
//! Each cycle is a lower bound, and a solution is an upper bound. T begins at the most that a resource works, and no
//! resource is held back. A resource that ends more than T after it begins is made to begin later, and the resource is
//! noted from whose first task the chain comes that ends so late. When these notes close a cycle, its mean is above T and
//! becomes the next T (Bellman and Ford's way to find a cycle). When every resource is content, the times are a solution.

use num_integer::Integer;

use super::{Execution, Resource, Task, TaskGraph};
use crate::model::Ticks;

impl TaskGraph {
    /// The span of the first resources, so many of them, in ticks. The others may run whenever the tasks allow.
    ///
    /// `execution` is that of this graph as soon as possible.
    ///
    /// # Panics
    /// When the execution is of another graph, or there are fewer resources.
    #[must_use]
    pub fn span(&self, execution: &Execution, resources: usize) -> Ticks {
        let spans = self.resources().take(resources).filter_map(|resource| {
            let (first, last) = self.first_and_last(resource)?;
            Some((execution.end(self, last) - execution.start(first), resource))
        });
        // The first one of the longest: in many schedules it is the device from which all chains come.
        let longest = spans.reduce(|most, next| if next.0 > most.0 { next } else { most });
        longest.map_or(Ticks::ZERO, |(span, resource)| {
            if self.comes_from_its_first_task(execution, resource) {
                span
            } else {
                self.least_span(execution, resources)
            }
        })
    }

    /// The first and the last task of a resource that has any.
    fn first_and_last(&self, resource: Resource) -> Option<(Task, Task)> {
        let order = self.order(resource);
        (!order.is_empty()).then(|| (Task(order.start), Task(order.end - 1)))
    }

    /// The span by the rule of this module.
    fn least_span(&self, execution: &Execution, resources: usize) -> Ticks {
        let works = self.resources().take(resources).map(|resource| self.work(resource).0);
        let mut span = i128::from(works.max().unwrap_or(0));
        'spans: loop {
            let mut held_back: Vec<Option<HeldBack>> = vec![None; resources];
            loop {
                let held = |resource: &Option<HeldBack>| resource.map_or(0, |held| held.begin);
                let begins: Vec<i128> = held_back.iter().map(held).collect();
                let ends = self.ends_from(execution, &begins);
                let mut is_content = true;
                for resource in self.resources().take(resources) {
                    let Some((first, last)) = self.first_and_last(resource) else { continue };
                    let first = ends[first.index()].time - self.wide(first);
                    let last = ends[last.index()];
                    let origin = last.origin.expect("a resource begins at some time");
                    if last.time - span <= first {
                        continue;
                    }
                    is_content = false;
                    let chain = last.time - begins[origin.index()];
                    held_back[resource.index()] =
                        Some(HeldBack { begin: last.time - span, by: origin, chain });
                    if let Some(mean) = cycle_mean(&held_back, resource) {
                        span = mean;
                        continue 'spans;
                    }
                }
                if is_content {
                    return Ticks(i64::try_from(span).expect("no more than the spans as soon as possible"));
                }
            }
        }
    }

    /// When tasks end, each as soon as possible, if the first resources may begin from these instants on.
    fn ends_from(&self, execution: &Execution, begins: &[i128]) -> Vec<Moment> {
        let mut ends = vec![Moment::LONG_AGO; self.len()];
        let mut resources: Vec<Moment> = (0..)
            .zip(begins)
            .map(|(number, &begin)| Moment { time: begin, origin: Some(Resource(number)) })
            .collect();
        resources.resize(self.resources().count(), Moment::LONG_AGO);
        for &task in &execution.sequence {
            let free = &mut resources[self.resource_of(task).index()];
            let mut start = *free;
            for need in self.needs(task) {
                let Moment { time, origin } = ends[need.task.index()];
                let arrival = time + i128::from(need.latency.0);
                if arrival > start.time {
                    start = Moment { time: arrival, origin };
                }
            }
            *free = Moment { time: start.time + self.wide(task), ..start };
            ends[task.index()] = *free;
        }
        ends
    }

    /// A duration in 128 bits: a sum over the spans of several resources may exceed 64.
    fn wide(&self, task: Task) -> i128 {
        i128::from(self.duration(task).0)
    }

    /// Whether the last task of a resource starts when it does because of a chain that comes from the resource's first
    /// task. Then no execution gives the resource a shorter span.
    ///
    /// One chain is followed, where several may be as long: `false` says nothing.
    fn comes_from_its_first_task(&self, execution: &Execution, resource: Resource) -> bool {
        let Some((first, mut at)) = self.first_and_last(resource) else { return false };
        while at != first {
            let Some(before) = self.waited_for(execution, at) else { return false };
            at = before;
        }
        true
    }

    /// A task at whose end, or a latency later, a task starts; none when it starts because time begins.
    fn waited_for(&self, execution: &Execution, task: Task) -> Option<Task> {
        let start = execution.start(task);
        if task.0 > self.order(self.resource_of(task)).start {
            let before = Task(task.0 - 1);
            if execution.end(self, before) == start {
                return Some(before);
            }
        }
        let mut needs = self.needs(task).iter();
        needs.rfind(|need| execution.end(self, need.task) + need.latency == start).map(|need| need.task)
    }
}

/// A resource that is to begin later than it could.
#[derive(Debug, Clone, Copy)]
struct HeldBack {
    /// From when on it may run tasks, in ticks.
    begin: i128,
    /// The resource from whose first task the chain comes that ends so late.
    by: Resource,
    /// The length of that chain, in ticks.
    chain: i128,
}

/// The mean chain, rounded up, of the cycle that a resource is part of; nothing when it is part of none.
fn cycle_mean(held_back: &[Option<HeldBack>], resource: Resource) -> Option<i128> {
    let (mut at, mut sum, mut chains) = (resource, 0, 0);
    while chains < held_back.len() {
        let held = held_back[at.index()]?;
        at = held.by;
        sum += held.chain;
        chains += 1;
        if at == resource {
            return Some(Integer::div_ceil(&sum, &i128::try_from(chains).expect("resources are few")));
        }
    }
    None
}

/// A time in ticks, and the resource whose begin it comes from, if it comes from any.
#[derive(Debug, Clone, Copy)]
struct Moment {
    time: i128,
    origin: Option<Resource>,
}

impl Moment {
    /// Before whatever a resource that begins may wait for: tasks that wait for none of them can have run by then.
    const LONG_AGO: Self = Self { time: i128::MIN / 2, origin: None };
}

#[cfg(test)]
mod tests;
