//! Everything by enumeration: an engine so plain that it needs no proof.
//!
//! Passes are placed in the order of their starts, each the moment that its device and what it needs
//! allow, so every set of orders that can run is met once, as replay would run it. For the device span every set of
//! orders is asked whether some other execution of it is shorter than the shortest so far.

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
        match self.objective {
            Objective::Makespan if self.makespan() >= self.best => return,
            Objective::DeviceSpan if !self.is_within(self.best - 1) => return,
            _ => {}
        }
        if self.waiting.is_empty() {
            self.best = match self.objective {
                Objective::Makespan => self.makespan(),
                Objective::DeviceSpan => {
                    let mut span = self.makespan();
                    while self.is_within(span - 1) {
                        span -= 1;
                    }
                    span
                }
            };
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

    fn makespan(&self) -> i64 {
        self.placed.iter().map(|placed| placed.2).max().unwrap_or(0)
    }

    /// Whether some execution of what is placed, in this order on each device, lets every device with a pass end
    /// all that it has to run within a span. The starts are raised until nothing is too early; where that takes
    /// more rounds than there are passes, it never ends.
    fn is_within(&self, span: i64) -> bool {
        let device = |pass: Pass| self.model.placement().device_of(pass.stage);
        let time = |pass: Pass| self.model.duration(pass.stage, pass.kind).0;
        // (a, b, t): b starts no sooner than t after a.
        let mut apart: Vec<(usize, usize, i64)> = Vec::new();
        for (b, &(later, ..)) in self.placed.iter().enumerate() {
            for needs in prerequisites(later, self.model.placement(), |_| false) {
                let a = self.placed.iter().position(|(other, ..)| *other == needs).expect("it is placed");
                let latency = if needs.stage == later.stage {
                    0
                } else {
                    self.model.latency_after(needs.stage.min(later.stage)).0
                };
                apart.push((a, b, time(needs) + latency));
            }
            if let Some(a) = self.placed[..b].iter().rposition(|&(other, ..)| device(other) == device(later))
            {
                apart.push((a, b, time(self.placed[a].0)));
            }
        }
        for own in Device::all(self.model.devices()) {
            let of = |it: &(Pass, i64, i64)| device(it.0) == own;
            let Some(first) = self.placed.iter().position(of) else { continue };
            let last = self.placed.iter().rposition(of).expect("there is a first one");
            let rest: i64 =
                self.waiting.iter().filter(|&&pass| device(pass) == own).map(|&pass| time(pass)).sum();
            apart.push((last, first, time(self.placed[last].0) + rest - span));
        }
        let mut starts = vec![0; self.placed.len()];
        for _ in 0..=self.placed.len() {
            let mut is_settled = true;
            for &(a, b, least) in &apart {
                if starts[a] + least > starts[b] {
                    starts[b] = starts[a] + least;
                    is_settled = false;
                }
            }
            if is_settled {
                return true;
            }
        }
        false
    }
}
