//! Collective streams: what gathers weights and reduces gradients on each device, in the order in which it is posted.
//!
//! A gather is posted before the step at which the weights are [gathered](Gathering), a reduction behind the step of the last
//! backward of its stage; that of a stage that no microbatch goes through comes first. One that takes no time needs no stream.
//!
//! Gathers never make passes wait for each other in a cycle. What a gather waits for is in the order of its device before the
//! step at which it is posted: the step before, [copies to the host](super::copies) that are freed there, and collectives that
//! are posted no later, with their last backwards. What waits for it is not before that step. So where a cycle goes through a
//! stream, it goes through the order of the device as well.

use std::collections::BTreeMap;

use super::layout::Layout;
use crate::model::{Device, Model, Pass, Stage, Ticks, Units};
use crate::schedule::{Gathering, Place, Schedule};
use crate::tasks::Task;

/// What runs on a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Collective {
    /// The gather of the weights of a stage.
    Gather(Gathering),
    /// The reduction of the gradients of a stage.
    Reduce(Stage),
}

/// The collectives of a device in the order of its stream, with their tasks.
#[derive(Default)]
pub(super) struct Stream {
    /// All of them.
    pub collectives: Vec<(Collective, Task)>,
    /// By position of the first pass of a step: the last of the gathers that it waits for.
    gathered: BTreeMap<usize, Task>,
}

impl Stream {
    /// The collectives of a device, with tasks numbered from one on. Reductions come with the positions of their last
    /// backwards, in their order.
    pub(super) fn new(
        model: &Model,
        schedule: &Schedule,
        device: Device,
        reductions: impl Iterator<Item = (Option<usize>, Stage)>,
        first: u32,
    ) -> Self {
        let gathers = gatherings(model, schedule, device);
        let mut gathers =
            gathers.into_iter().filter(|gathering| model.gather(gathering.stage) > Ticks::ZERO).peekable();
        let mut order: Vec<Collective> = Vec::new();
        for (last_backward, stage) in reductions {
            if let Some(at) = last_backward {
                while let Some(gathering) = gathers.next_if(|gathering| gathering.posted <= at) {
                    order.push(Collective::Gather(gathering));
                }
            }
            order.push(Collective::Reduce(stage));
        }
        order.extend(gathers.map(Collective::Gather));
        let collectives: Vec<(Collective, Task)> = order.into_iter().zip((first..).map(Task)).collect();
        let gathered = collectives.iter().filter_map(|&(collective, task)| match collective {
            Collective::Gather(gathering) => Some((gathering.used, task)),
            Collective::Reduce(_) => None,
        });
        // A stream takes its collectives in this order, so the last one for which a step waits is over after the others.
        let gathered = gathered.collect();
        Self { collectives, gathered }
    }

    /// How many collectives there are.
    pub(super) fn len(&self) -> u32 {
        u32::try_from(self.collectives.len()).expect("two for each pass at most")
    }

    /// The last of the gathers for which the step waits whose first pass is at a position.
    pub(super) fn gathered_at(&self, position: usize) -> Option<Task> {
        self.gathered.get(&position).copied()
    }
}

/// The gatherings of the stages of a device; none where weights are not sharded. A stage that does not exist has none.
fn gatherings(model: &Model, schedule: &Schedule, device: Device) -> Vec<Gathering> {
    if model.sharding().is_none() {
        return Vec::new();
    }
    let mut all = schedule.gatherings(device, model.gathered_at_once());
    all.retain(|gathering| gathering.stage.0 < model.stages());
    all
}

/// What gathered weights change of the memory of devices. Nothing is laid out where they take none.
pub(super) struct GatheredWeights {
    /// By device and position: what is free from a pass on, and what is occupied from it on.
    changes: Option<Vec<Vec<(Units, Units)>>>,
}

impl GatheredWeights {
    pub(super) fn new(model: &Model, schedule: &Schedule, layout: &Layout) -> Self {
        if !model.has_gathered_memory() {
            return Self { changes: None };
        }
        let of_device = |(device, order): (Device, &[Pass])| {
            let mut changes = vec![(Units::ZERO, Units::ZERO); order.len() + 1];
            let counted = layout.counted(device, order);
            for Gathering { stage, posted, until, .. } in gatherings(model, schedule, device) {
                let weights = model.gathered(stage);
                changes[counted[until]].0 += weights;
                changes[counted[posted]].1 += weights;
            }
            changes
        };
        Self { changes: Some(super::devices(schedule).map(of_device).collect()) }
    }

    /// What is free from a pass on, and what is occupied from it on.
    pub(super) fn at(&self, place: Place) -> (Units, Units) {
        match &self.changes {
            Some(changes) => changes[place.device.index()][place.position],
            None => (Units::ZERO, Units::ZERO),
        }
    }
}
