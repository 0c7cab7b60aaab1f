//! The rules of pipelines: a model and a schedule as a task graph.

use super::collectives::Collective;
use super::layout::Layout;
use super::numbering::Numbering;
use crate::model::{Model, Pass, Ticks};
use crate::schedule::{Place, Schedule};
use crate::tasks::{TaskGraph, TaskGraphBuilder};

/// The task graph of a schedule whose passes are all there once and in their place, with [numbers](Numbering) for its
/// tasks.
///
/// 1. A device is a resource, which takes its passes in their order.
/// 2. A pass takes its duration, an R that [at its level](Schedule::duration), and needs the passes that
///    [`Layout::for_each_need`] lists.
/// 3. What comes from another device arrives the latency of the boundary between the two stages later.
/// 4. An overlapped pair is one task, in the place of its first pass: it takes [the duration of the
///    pair](Model::step_duration), and needs what either pass needs. The task in the place of its second pass takes no
///    time, and so ends with the pair.
///
/// With [messages that keep links busy](Model::has_busy_links) also:
///
/// 5. A [link](Model::link) is a resource, which carries its messages in [their order](super::links). A message needs the
///    pass that makes it, and takes its [occupancy](Model::occupancy_after). What needs that pass on another device needs the
///    message instead, which arrives the latency of the boundary after its end.
///
/// With an [end of the step](Model::step) also:
///
/// 6. The collective stream of a device is a resource, which reduces the gradients of the stages of the device, in the
///    order of their last Ws or Bs. A reduction needs that pass, and takes the time of its stage.
/// 7. Behind all its passes, a device runs the optimiser steps of its stages in the same order. An optimiser step needs
///    the reduction of its stage, and takes the time of its stage.
///
/// Where something is [offloaded](Schedule::offloads) also:
///
/// 8. The copy engine of a device to the host is a resource, which takes the offloaded activations in the order of their Fs. A
///    copy needs its F, and takes the time of its stage. The pass at which the memory is freed needs it.
/// 9. The copy engine of a device from the host is a resource, which takes them in the order in which they are posted. A copy
///    needs all passes before that at which it is posted, and the copies to the host that this one needs; it takes the time of
///    its stage. The I or B needs it.
///
/// Where [gathering weights takes time](Model::has_gathers) also:
///
/// 10. Before all its passes, a device posts its first gathers, which takes no time.
/// 11. The collective stream of a device also gathers the weights of its stages, as often as the [rule of
///     gatherings](Schedule::gatherings) says: it takes gathers and reductions in the order in which they are posted, a
///     gather before the pass that the rule names, a reduction behind the last W or B of its stage. A gather needs all passes
///     before that at which it is posted, or the posting of the first ones, and the copies to the host that this one needs; it
///     takes the time of its stage. The first pass that uses the weights needs it. A gather that takes no time is no task.
pub(super) fn task_graph(
    model: &Model,
    schedule: &Schedule,
    layout: &Layout,
    numbering: &Numbering,
) -> TaskGraph {
    let mut graph = TaskGraphBuilder::with_capacity(layout.len(), layout.len());
    for (device, _) in super::devices(schedule) {
        let own = layout.range(device);
        let copies = numbering.engines().get(device.index());
        let stream = numbering.streams().get(device.index());
        let mut position = 0;
        let mut order = graph.resource();
        if model.has_gathers() {
            order.task(Ticks::ZERO);
        }
        for step in schedule.steps(device) {
            let mut task = order.task(schedule.step_duration(model, step));
            if let Some(gather) = stream.and_then(|stream| stream.gathered_at(position)) {
                task.need(gather, Ticks::ZERO);
            }
            for copy in copies.into_iter().flat_map(|copies| copies.needs(position)) {
                task.need(copy, Ticks::ZERO);
            }
            position += step.len();
            for &pass in step {
                layout.for_each_need(pass, |need, slot| {
                    // What is on the device itself has ended before the device is free.
                    if !own.contains(&slot.rank()) {
                        let from = model.placement().device_of(need.stage);
                        let yields = numbering.message(slot).unwrap_or_else(|| numbering.task(from, slot));
                        task.need(yields, latency(model, need, pass));
                    }
                });
            }
            for _ in &step[1..] {
                order.task(Ticks::ZERO);
            }
        }
        if let Some(step) = model.step() {
            for &stage in numbering.ends_of(device) {
                let mut task = order.task(step.optimizer[stage.index()]);
                task.need(numbering.end(stage).reduction, Ticks::ZERO);
            }
        }
    }
    for ((device, _), stream) in super::devices(schedule).zip(numbering.streams()) {
        let mut order = graph.resource();
        for &(collective, _) in &stream.collectives {
            match collective {
                Collective::Gather(gathering) => {
                    let before = gathering.posted.checked_sub(1).map(|position| Place { device, position });
                    let posted = before.map_or_else(
                        || numbering.posting(layout, device),
                        |before| numbering.task(device, layout.slot(before)),
                    );
                    let mut task = order.task(model.gather(gathering.stage));
                    task.need(posted, Ticks::ZERO);
                    let engines = numbering.engines().get(device.index());
                    if let Some(copy) = engines.and_then(|copies| copies.freed_at(gathering.posted)) {
                        task.need(copy, Ticks::ZERO);
                    }
                }
                Collective::Reduce(stage) => {
                    let reduce = model.step().map_or(Ticks::ZERO, |step| step.reduce[stage.index()]);
                    let mut task = order.task(reduce);
                    // Where no microbatch goes through a stage, its reduction waits for no pass.
                    if let Some(slot) = numbering.end(stage).last_backward {
                        task.need(numbering.task(device, slot), Ticks::ZERO);
                    }
                }
            }
        }
    }
    for (_, messages) in numbering.links() {
        let mut link = graph.resource();
        for sent in messages {
            let mut task = link.task(model.occupancy_after(sent.boundary));
            task.need(numbering.task(sent.device, sent.by), Ticks::ZERO);
        }
    }
    if let Some(offload) = model.offload() {
        for ((device, _), copies) in super::devices(schedule).zip(numbering.engines()) {
            let mut to_host = graph.resource();
            for (copied, _) in &copies.to_host {
                let mut task = to_host.task(offload.to_host[copied.pass.stage.index()]);
                task.need(numbering.task(device, copied.forward), Ticks::ZERO);
            }
            let mut from_host = graph.resource();
            for (copied, _) in &copies.from_host {
                let mut task = from_host.task(offload.from_host[copied.pass.stage.index()]);
                let before = Place { device, position: copied.fetched - 1 };
                task.need(numbering.task(device, layout.slot(before)), Ticks::ZERO);
                if let Some(copy) = copies.freed_at(copied.fetched) {
                    task.need(copy, Ticks::ZERO);
                }
            }
        }
    }
    graph.finish().expect("every needed task has its number, and the model limits its totals")
}

/// The latency from one pass to another one of the same or a neighbouring stage, in ticks.
fn latency(model: &Model, from: Pass, to: Pass) -> Ticks {
    if from.stage == to.stage { Ticks::ZERO } else { model.latency_after(from.stage.min(to.stage)) }
}
