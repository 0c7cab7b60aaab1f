//! Everything by enumeration: an engine so plain that it needs no proof.

use super::*;

/// The least largest peak at an interval of so many microbatches, under the capacities of the model. Nothing
/// is said of the order of the microbatches.
pub fn least_memory(model: &Model, period: u32, interval: i64) -> Option<i64> {
    let mut search = Search::new(model, period, interval);
    search.place(0);
    search.best
}

/// Whether there are few enough blocks of an interval to enumerate: on a device, about as many as
/// ways to deal the idle ticks out between its passes, and all shifts of the devices.
pub fn is_affordable(model: &Model, period: u32, interval: i64) -> bool {
    let device = |device| {
        let stages = i64::try_from(model.placement().stages_of(device).len()).expect("few stages");
        let passes = 3 * stages * i64::from(period);
        let idle = interval - model.work(device).0 * i64::from(period);
        (1..=passes).map(|pass| pass + idle).fold(1_i64, i64::saturating_mul)
    };
    let ways = Device::all(model.devices()).map(device).fold(1_i64, i64::saturating_mul);
    let shifts = (1..model.devices()).fold(1, |shifts, _| shifts * interval);
    ways.saturating_mul(shifts) <= 300_000
}

struct Search<'a> {
    model: &'a Model,
    /// The order in which passes are placed: the chain of every copy, then every W.
    order: Vec<Pass>,
    interval: i64,
    starts: Vec<(Pass, i64)>,
    best: Option<i64>,
}

impl<'a> Search<'a> {
    fn new(model: &'a Model, period: u32, interval: i64) -> Self {
        let stages = model.stages();
        let mut order = Vec::new();
        for copy in Microbatch::all(period) {
            order.extend(Stage::all(stages).map(|stage| Pass::new(stage, Kind::F, copy)));
            order.extend((0..stages).rev().map(|stage| Pass::new(Stage(stage), Kind::I, copy)));
        }
        for copy in Microbatch::all(period) {
            order.extend(Stage::all(stages).map(|stage| Pass::new(stage, Kind::W, copy)));
        }
        Self { model, order, interval, starts: Vec::new(), best: None }
    }

    fn start(&self, pass: Pass) -> i64 {
        self.starts.iter().find(|(other, _)| *other == pass).expect("it has been placed").1
    }

    fn length(&self, pass: Pass) -> i64 {
        self.model.duration(pass.stage, pass.kind).0
    }

    /// Puts a pass at every residue that is free, each as early as may be.
    fn place(&mut self, position: usize) {
        let Some(&pass) = self.order.get(position) else { return self.record() };
        let needs = if pass.kind == Kind::W {
            Some(pass.with_kind(Kind::I))
        } else {
            let before = position.checked_sub(1).map(|before| self.order[before]);
            before.filter(|before| before.microbatch == pass.microbatch)
        };
        let earliest = needs.map_or(0, |needs| {
            let latency = if needs.stage == pass.stage {
                0
            } else {
                self.model.latency_after(needs.stage.min(pass.stage)).0
            };
            self.start(needs) + self.length(needs) + latency
        });
        let choices = if position == 0 { 1 } else { self.interval };
        for start in earliest..earliest + choices {
            if self.is_free(pass, start) {
                self.starts.push((pass, start));
                self.place(position + 1);
                self.starts.pop();
            }
        }
    }

    fn is_free(&self, pass: Pass, start: i64) -> bool {
        let device = |pass: Pass| self.model.placement().device_of(pass.stage);
        self.length(pass) <= self.interval
            && self.starts.iter().filter(|(other, _)| device(*other) == device(pass)).all(|&(other, at)| {
                let ahead = (start - at).rem_euclid(self.interval);
                let behind = (at - start).rem_euclid(self.interval);
                // A W without duration fits anywhere but inside another pass.
                let apart = ahead >= self.length(other) && behind >= self.length(pass);
                let instant = self.length(pass) == 0 || self.length(other) == 0;
                apart || (instant && ahead == 0)
            })
    }

    /// Counts the live copies at the start of every F.
    fn record(&mut self) {
        let mut most = 0;
        for device in Device::all(self.model.devices()) {
            let stages = self.model.placement().stages_of(device);
            let starts =
                self.starts.iter().filter(|(pass, _)| pass.kind == Kind::F && stages.contains(&pass.stage));
            let peak = starts.map(|&(_, now)| self.live(now, stages)).max().unwrap_or(0);
            if self.model.activation_capacity(device).is_some_and(|capacity| peak > capacity.0) {
                return;
            }
            most = most.max(peak);
        }
        self.best = Some(self.best.map_or(most, |best| best.min(most)));
    }

    fn live(&self, now: i64, stages: &[Stage]) -> i64 {
        let mut held = 0;
        for &(last, start) in &self.starts {
            let retained = self.model.retained_for_weight(last.stage).0;
            let units = match last.kind {
                Kind::I => self.model.activation(last.stage).0 - retained,
                Kind::W => retained,
                _ => continue,
            };
            if !stages.contains(&last.stage) {
                continue;
            }
            let (first, end) = (self.start(last.with_kind(Kind::F)), start + self.length(last));
            let copies = (-16..16).filter(|copy| {
                let shift = copy * self.interval;
                first + shift <= now && now < end + shift
            });
            held += units * i64::try_from(copies.count()).expect("few copies");
        }
        held
    }
}
