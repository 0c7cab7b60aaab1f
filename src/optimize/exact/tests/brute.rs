//! Everything by enumeration: an engine so plain that it needs no proof.
//!
//! Passes are placed in the order of their starts, each the moment that its device and what it needs
//! allow, so every set of orders that can run is met once, as replay would run it.

use crate::certificate::Objective;
use crate::kernel::{acquired, released};
use crate::model::{Device, Kind, Microbatch, Model, Pass, Stage, Ticks};
use crate::schedule::prerequisites;

/// The least value of all schedules under the capacities.
pub fn optimum(model: &Model, objective: Objective) -> Ticks {
    let passes = Stage::all(model.stages())
        .flat_map(|stage| Microbatch::all(model.microbatches()).map(move |copy| (stage, copy)))
        .flat_map(|(stage, copy)| [Kind::F, Kind::I, Kind::W].map(|kind| Pass::new(stage, kind, copy)));
    let mut search =
        Search { model, objective, waiting: passes.collect(), placed: Vec::new(), best: i64::MAX };
    search.place();
    Ticks(search.best)
}

struct Search<'a> {
    model: &'a Model,
    objective: Objective,
    waiting: Vec<Pass>,
    /// The passes placed with start and end.
    placed: Vec<(Pass, i64, i64)>,
    best: i64,
}

impl Search<'_> {
    fn place(&mut self) {
        if self.value() >= self.best {
            return;
        }
        if self.waiting.is_empty() {
            self.best = self.value();
            return;
        }
        for at in 0..self.waiting.len() {
            let pass = self.waiting[at];
            let Some(start) = self.start(pass) else { continue };
            let device = |pass: Pass| self.model.placement().device_of(pass.stage);
            let last = self.placed.last().map(|&(last, start, _)| (start, device(last)));
            if last.is_some_and(|last| (start, device(pass)) < last) || !self.fits(pass) {
                continue;
            }
            self.waiting.swap_remove(at);
            self.placed.push((pass, start, start + self.model.duration(pass.stage, pass.kind).0));
            self.place();
            self.placed.pop();
            self.waiting.push(pass);
            let end = self.waiting.len() - 1;
            self.waiting.swap(at, end);
        }
    }

    fn on(&self, device: Device) -> impl Iterator<Item = &(Pass, i64, i64)> {
        self.placed.iter().filter(move |(pass, ..)| self.model.placement().device_of(pass.stage) == device)
    }

    /// When a pass would start, if all that it needs is placed.
    fn start(&self, pass: Pass) -> Option<i64> {
        let mut start =
            self.on(self.model.placement().device_of(pass.stage)).map(|placed| placed.2).max().unwrap_or(0);
        for needs in prerequisites(pass, self.model.placement(), |_| false) {
            let &(_, _, end) = self.placed.iter().find(|(other, ..)| *other == needs)?;
            let latency = if needs.stage == pass.stage {
                Ticks::ZERO
            } else {
                self.model.latency_after(needs.stage.min(pass.stage))
            };
            start = start.max(end + latency.0);
        }
        Some(start)
    }

    fn fits(&self, pass: Pass) -> bool {
        let device = self.model.placement().device_of(pass.stage);
        let held = |pass| (acquired(self.model, pass, false) - released(self.model, pass)).0;
        let live: i64 = self.on(device).map(|&(other, ..)| held(other)).sum();
        let needs = acquired(self.model, pass, false).0;
        self.model.activation_capacity(device).is_none_or(|capacity| needs == 0 || live + needs <= capacity.0)
    }

    fn value(&self) -> i64 {
        let span = |device| {
            let first = self.on(device).map(|placed| placed.1).min()?;
            Some(self.on(device).map(|placed| placed.2).max()? - first)
        };
        match self.objective {
            Objective::Makespan => self.placed.iter().map(|placed| placed.2).max().unwrap_or(0),
            Objective::DeviceSpan => Device::all(self.model.devices()).filter_map(span).max().unwrap_or(0),
        }
    }
}
