//! How late passes may be.

use crate::model::{Device, Model, Ticks};
use crate::replay::{Timing, posting_tasks, task_graph};
use crate::schedule::Schedule;
use crate::tasks::{Resource, Task};

/// By device and position: the slack of every pass, which is how much later than replay starts it a pass could
/// start without making the makespan longer, if the orders stay as they are and nothing else is late. The orders of messages
/// on links, of gathers and of reductions stay too.
///
/// Passes of the critical path have no slack. The two passes of an overlapped pair run as one and have the same.
/// Memory allows every such delay, since what devices hold follows from their orders alone.
///
/// # Panics
/// When the times are not those that replay gives this schedule.
#[must_use]
pub fn slack(model: &Model, schedule: &Schedule, timing: &Timing) -> Vec<Vec<Ticks>> {
    let graph = task_graph(model, schedule).expect("a schedule that has times");
    let execution = graph.execute().expect("a schedule that has times");
    // Backwards from the end: by task, its latest end.
    let mut latest = vec![timing.metrics.makespan; graph.len()];
    for &task in execution.sequence().iter().rev() {
        let start = latest[task.index()] - graph.duration(task);
        for need in graph.needs(task) {
            let end = &mut latest[need.task.index()];
            *end = (*end).min(start - need.latency);
        }
        if task.0 > graph.order(graph.resource_of(task)).start {
            let end = &mut latest[task.index() - 1];
            *end = (*end).min(start);
        }
    }
    let late = |task: Task| latest[task.index()] - execution.end(&graph, task);
    let of_device = |device: Device| {
        // The passes of a device are the first tasks of its resource but for the posting of gathers, and a pair is that of
        // its first pass.
        let first = graph.order(Resource(device.0)).start + posting_tasks(model);
        let mut slack: Vec<Ticks> = Vec::with_capacity(schedule.order(device).len());
        for step in schedule.steps(device) {
            let position = u32::try_from(slack.len()).expect("no more passes than tasks");
            slack.extend(step.iter().map(|_| late(Task(first + position))));
        }
        slack
    };
    Device::all(schedule.devices()).map(of_device).collect()
}
