//! Which task is which: the one place that knows the numbers of tasks in the task graph of a schedule.

use std::ops::Range;

use super::collectives::{Collective, Stream};
use super::copies::Engines;
use super::devices;
use super::layout::{Layout, Slot};
use super::links::{Sent, links};
use crate::model::{Device, Kind, Link, Model, Stage};
use crate::schedule::{Place, Schedule};
use crate::tasks::Task;

/// The numbers of the tasks of a schedule.
///
/// The resources are the devices, then, for a model with an end of the step or with gathers that take time, the collective
/// streams of the devices, then the links that messages keep busy, then, where something is offloaded, the copy engines of
/// the devices. A device posts its first gathers, where gathers take time, runs its passes, then the optimiser steps of its
/// stages. Its stream runs gathers, and the reductions of these stages in the same order.
#[derive(Default)]
pub(super) struct Numbering {
    /// By device: how many tasks come before its passes besides passes of other devices.
    before: Vec<u32>,
    /// By device: its stages in the order of their last backwards. Empty without an end of the step.
    orders: Vec<Vec<Stage>>,
    /// By stage. Empty without an end of the step.
    ends: Vec<StageEnd>,
    /// By device: its collectives. Empty without an end of the step and without gathers that take time.
    streams: Vec<Stream>,
    links: Vec<(Link, Vec<Sent>)>,
    /// By slot of the pass that makes it: the task of a message. Empty where no link is kept busy.
    messages: Vec<Option<Task>>,
    /// By device: the copies to the host and back. Empty where nothing is offloaded.
    engines: Vec<Engines>,
}

/// What follows the passes of a stage.
#[derive(Debug, Clone, Copy)]
pub(super) struct StageEnd {
    /// Its last backward; none where no microbatch goes through it.
    pub last_backward: Option<Slot>,
    pub reduction: Task,
    pub optimizer: Task,
}

impl Numbering {
    pub(super) fn new(model: &Model, schedule: &Schedule, layout: &Layout) -> Self {
        let mut numbering = Self::with_devices(model, schedule, layout);
        // The streams come behind all devices.
        let last = Device::at(schedule.orders().len() - 1);
        let steps_of_last = u32::try_from(numbering.ends_of(last).len()).expect("one for each stage");
        let mut first = layout.range(last).end + numbering.before[last.index()] + steps_of_last;
        if model.step().is_some() || model.has_gathers() {
            for (device, _) in devices(schedule) {
                let stages = numbering.ends_of(device).iter().map(|&stage| {
                    let at = numbering.end(stage).last_backward.map(|slot| layout.place(slot).position);
                    (at, stage)
                });
                let stream = Stream::new(model, schedule, device, stages, first);
                for &(collective, task) in &stream.collectives {
                    if let Collective::Reduce(stage) = collective {
                        numbering.ends[stage.index()].reduction = task;
                    }
                }
                first += stream.len();
                numbering.streams.push(stream);
            }
        }
        // The links come behind all devices and streams.
        numbering.links = links(model, schedule, layout);
        if !numbering.links.is_empty() {
            numbering.messages = vec![None; layout.len()];
            let messages = numbering.links.iter().flat_map(|(_, messages)| messages);
            for (task, sent) in (first..).map(Task).zip(messages) {
                numbering.messages[sent.by.index()] = Some(task);
            }
        }
        if schedule.offload_count() > 0 {
            let messages: usize = numbering.links.iter().map(|(_, messages)| messages.len()).sum();
            let mut first = first + u32::try_from(messages).expect("two for each pass at most");
            for (device, _) in devices(schedule) {
                let engines = Engines::new(model, schedule, layout, device, first);
                first += engines.len();
                numbering.engines.push(engines);
            }
        }
        numbering
    }

    /// The numbers of the tasks of devices.
    fn with_devices(model: &Model, schedule: &Schedule, layout: &Layout) -> Self {
        let posts = u32::from(model.has_gathers());
        let mut numbered = 0;
        if model.step().is_none() {
            let before = devices(schedule).map(|_| {
                numbered += posts;
                numbered
            });
            return Self { before: before.collect(), ..Self::default() };
        }
        let mut last_backward: Vec<Option<Slot>> = vec![None; model.stages() as usize];
        for (device, order) in devices(schedule) {
            for (position, pass) in order.iter().enumerate() {
                if matches!(pass.kind, Kind::W | Kind::B) {
                    last_backward[pass.stage.index()] = Some(layout.slot(Place { device, position }));
                }
            }
        }
        let none = StageEnd { last_backward: None, reduction: Task(0), optimizer: Task(0) };
        let mut ends = vec![none; last_backward.len()];
        let (mut before, mut orders) = (Vec::new(), Vec::new());
        for (device, _) in devices(schedule) {
            numbered += posts;
            before.push(numbered);
            let mut stages = model.placement().stages_of(device).to_vec();
            stages.sort_by_key(|&stage| (last_backward[stage.index()], stage));
            for &stage in &stages {
                ends[stage.index()] = StageEnd {
                    last_backward: last_backward[stage.index()],
                    reduction: none.reduction,
                    optimizer: Task(layout.range(device).end + numbered),
                };
                numbered += 1;
            }
            orders.push(stages);
        }
        Self { before, orders, ends, ..Self::default() }
    }

    /// The task with which a device posts its first gathers, where gathers take time.
    pub(super) fn posting(&self, layout: &Layout, device: Device) -> Task {
        Task(layout.range(device).start + self.before[device.index()] - 1)
    }

    /// The task of a pass of a device.
    pub(super) fn task(&self, device: Device, slot: Slot) -> Task {
        Task(slot.rank() + self.before[device.index()])
    }

    /// The tasks of the passes of a device, by their ranks.
    pub(super) fn passes(&self, layout: &Layout, device: Device) -> Range<usize> {
        let (slots, before) = (layout.range(device), self.before[device.index()]);
        (slots.start + before) as usize..(slots.end + before) as usize
    }

    /// The stages of a device, in the order in which their gradients are reduced and their optimiser steps run. Empty
    /// without an end of the step.
    pub(super) fn ends_of(&self, device: Device) -> &[Stage] {
        self.orders.get(device.index()).map_or(&[], Vec::as_slice)
    }

    /// What follows the passes of a stage of a model with an end of the step.
    pub(super) fn end(&self, stage: Stage) -> StageEnd {
        self.ends[stage.index()]
    }

    /// What follows the passes of each stage. Empty without an end of the step.
    pub(super) fn ends(&self) -> &[StageEnd] {
        &self.ends
    }

    /// By device: its collectives. Empty without an end of the step and without gathers that take time.
    pub(super) fn streams(&self) -> &[Stream] {
        &self.streams
    }

    /// The links that are kept busy, each with its messages in order.
    pub(super) fn links(&self) -> &[(Link, Vec<Sent>)] {
        &self.links
    }

    /// By device: the copies to the host and back. Empty where nothing is offloaded.
    pub(super) fn engines(&self) -> &[Engines] {
        &self.engines
    }

    /// The task of the message that a pass makes for another device; none where it keeps no link busy.
    pub(super) fn message(&self, by: Slot) -> Option<Task> {
        self.messages.get(by.index()).copied().flatten()
    }
}
