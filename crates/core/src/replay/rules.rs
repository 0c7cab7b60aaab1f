//! The rules of pipelines: a model and a schedule as a task graph.

use super::layout::Layout;
use crate::model::{Model, Pass, Ticks};
use crate::schedule::Schedule;
use crate::tasks::{Task, TaskGraph, TaskGraphBuilder};

/// The task graph of a schedule whose passes are all there once and in their place. The task of the pass with rank `r` is
/// task `r`.
///
/// 1. A device is a resource, which takes its passes in their order.
/// 2. A pass takes its duration, and needs the passes that [`Layout::for_each_need`] lists.
/// 3. What comes from another device arrives the latency of the boundary between the two stages later.
/// 4. An overlapped pair is one task, in the place of its first pass: it takes [the duration of the
///    pair](Model::step_duration), and needs what either pass needs. The task in the place of its second pass takes no
///    time, and so ends with the pair.
pub(super) fn task_graph(model: &Model, schedule: &Schedule, layout: &Layout) -> TaskGraph {
    let mut graph = TaskGraphBuilder::with_capacity(layout.len(), layout.len());
    for (device, _) in super::devices(schedule) {
        let own = layout.range(device);
        let mut order = graph.resource();
        for step in schedule.steps(device) {
            let mut task = order.task(model.step_duration(step));
            for &pass in step {
                layout.for_each_need(pass, |need, slot| {
                    // What is on the device itself has ended before the device is free.
                    if !own.contains(&slot.rank()) {
                        task.need(Task(slot.rank()), latency(model, need, pass));
                    }
                });
            }
            for _ in &step[1..] {
                order.task(Ticks::ZERO);
            }
        }
    }
    graph.finish().expect("every needed pass has a rank, and the model limits its totals")
}

/// The latency from one pass to another one of the same or a neighbouring stage, in ticks.
fn latency(model: &Model, from: Pass, to: Pass) -> Ticks {
    if from.stage == to.stage { Ticks::ZERO } else { model.latency_after(from.stage.min(to.stage)) }
}
