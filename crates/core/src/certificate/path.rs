//! Heads and tails: what must happen before a pass and after it, for one microbatch alone. Tails to the end of the schedule
//! include the [end of the step](super::step); heads begin with the gather of the weights of the first stage, before which no
//! pass runs. The model is one in which every message has a link of its own.

use super::step;
use crate::model::{Device, Kind, Model, Stage, Ticks};

/// Longest chains of one microbatch through its pipeline without waiting for any device. With two directions there are two
/// pipelines, and no chain leads from one to the other.
pub(super) struct Paths<'a> {
    model: &'a Model,
    /// By stage: the earliest start of F.
    forward: Vec<Ticks>,
    /// By stage: the earliest start of I.
    input: Vec<Ticks>,
    /// By stage: the last end of the devices of this stage and of those before it, as the Ws of these stages force it.
    latest: Vec<Ticks>,
}

impl<'a> Paths<'a> {
    pub(super) fn new(model: &'a Model) -> Self {
        let placement = model.placement();
        let stages = placement.stages() as usize;
        let mut paths = Self {
            model,
            forward: vec![Ticks::ZERO; stages],
            input: vec![Ticks::ZERO; stages],
            latest: vec![Ticks::ZERO; stages],
        };
        // No F of the first stage starts before the weights of that stage are there, and all else of its pipeline follows it.
        paths.forward[0] = model.gather(Stage(0));
        for stage in Stage::all(placement.stages()) {
            if let Some(before) = placement.stage_before(stage) {
                paths.forward[stage.index()] = paths.forward_head(before)
                    + model.duration(before, Kind::F)
                    + model.latency_after(before);
            }
        }
        for stage in (0..stages).rev().map(Stage::at) {
            paths.input[stage.index()] = match placement.stage_after(stage) {
                Some(above) => {
                    paths.input_head(above) + model.duration(above, Kind::I) + model.latency_after(stage)
                }
                None => paths.forward_head(stage) + model.duration(stage, Kind::F),
            };
        }
        for stage in Stage::all(placement.stages()) {
            let weight = paths.input_head(stage) + model.duration(stage, Kind::B);
            let end = weight + step::tail_of_stage(model, stage);
            let before = placement.stage_before(stage).map(|before| paths.latest[before.index()]);
            paths.latest[stage.index()] = before.map_or(end, |before| before.max(end));
        }
        paths
    }

    pub(super) const fn model(&self) -> &'a Model {
        self.model
    }

    /// The earliest start of F of a stage.
    pub(super) fn forward_head(&self, stage: Stage) -> Ticks {
        self.forward[stage.index()]
    }

    /// The earliest start of I of a stage.
    pub(super) fn input_head(&self, stage: Stage) -> Ticks {
        self.input[stage.index()]
    }

    /// From the end of F of one stage to the end of W of another of its pipeline, through the last stage.
    pub(super) fn forward_to_weight(&self, from: Stage, to: Stage) -> Ticks {
        let end_of_forward = self.forward_head(from) + self.model.duration(from, Kind::F);
        self.input_head(to) + self.model.duration(to, Kind::B) - end_of_forward
    }

    /// From the end of F of one stage to the end of its device, which holds the others too. All are of one pipeline.
    pub(super) fn forward_to_end(&self, from: Stage, others: &[Stage]) -> Ticks {
        let through = |&to: &Stage| self.forward_to_weight(from, to) + self.stage_tail(to);
        others.iter().map(through).max().unwrap_or_default()
    }

    /// From the end of W of a stage to the end of its device.
    pub(super) fn stage_tail(&self, stage: Stage) -> Ticks {
        step::tail_of_stage(self.model, stage)
    }

    /// From the end of a pass of a device to the end of the device.
    pub(super) fn device_tail(&self, device: Device) -> Ticks {
        step::tail(self.model, device)
    }

    /// From the end of I of a stage to the last end of all that follows it.
    pub(super) fn input_tail(&self, from: Stage) -> Ticks {
        let end = self.input_head(from) + self.model.duration(from, Kind::I);
        self.latest[from.index()] - end
    }

    /// From the end of F of a stage to the last end of all that follows it.
    pub(super) fn forward_tail(&self, from: Stage) -> Ticks {
        let end = self.forward_head(from) + self.model.duration(from, Kind::F);
        let depth = self.model.placement().depth();
        let last = from.0 - from.0 % depth + depth - 1;
        self.latest[Stage(last).index()] - end
    }
}

/// The least time that the first microbatch takes from the first start to the last end, with its messages, the first gather of
/// weights, and the end of the step.
#[must_use]
pub fn critical_path(model: &Model) -> Ticks {
    let model = &model.with_own_links();
    let paths = Paths::new(model);
    paths.forward_head(Stage(0)) + model.duration(Stage(0), Kind::F) + paths.forward_tail(Stage(0))
}
