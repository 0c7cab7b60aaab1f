//! Everything by enumeration: an engine so plain that it needs no proof.

use super::*;

/// The least largest peak at an interval, under the caps of the model.
pub fn least_memory(model: &Model, interval: i64) -> Option<i64> {
    let mut search = Search::new(model, interval);
    search.place(0);
    search.best
}

/// Whether there are few enough blocks of an interval to enumerate: on a device, about as many as
/// ways to deal the idle ticks out between its passes, and all shifts of the devices.
pub fn is_affordable(model: &Model, interval: i64) -> bool {
    let device = |device| {
        let passes = 3 * i64::try_from(model.placement().stages_of(device).len()).expect("few stages");
        let idle = interval - model.work(device).0;
        (1..=passes).map(|pass| pass + idle).fold(1_i64, i64::saturating_mul)
    };
    let ways = Device::all(model.devices()).map(device).fold(1_i64, i64::saturating_mul);
    let shifts = (1..model.devices()).fold(1, |shifts, _| shifts * interval);
    ways.saturating_mul(shifts) <= 300_000
}

struct Search<'a> {
    model: &'a Model,
    /// The order in which passes are placed: the chain, then every W.
    order: Vec<Pass>,
    interval: i64,
    starts: Vec<(Pass, i64)>,
    best: Option<i64>,
}

impl<'a> Search<'a> {
    fn new(model: &'a Model, interval: i64) -> Self {
        let pass = |stage: u32, kind| Pass::new(Stage(stage), kind, Microbatch(0));
        let stages = model.stages();
        let mut order: Vec<Pass> = (0..stages).map(|stage| pass(stage, Kind::F)).collect();
        order.extend((0..stages).rev().map(|stage| pass(stage, Kind::I)));
        order.extend((0..stages).map(|stage| pass(stage, Kind::W)));
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
            position.checked_sub(1).map(|before| self.order[before])
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
            let peak = stages.iter().map(|&started| self.live(started, stages)).max().unwrap_or(0);
            if self.model.capacity(device).is_some_and(|cap| peak > cap.0) {
                return;
            }
            most = most.max(peak);
        }
        self.best = Some(self.best.map_or(most, |best| best.min(most)));
    }

    fn live(&self, started: Stage, stages: &[Stage]) -> i64 {
        let pass = |stage, kind| Pass::new(stage, kind, Microbatch(0));
        let now = self.start(pass(started, Kind::F));
        let mut held = 0;
        for &stage in stages {
            let retained = self.model.retained_for_weight(stage).0;
            for (kind, units) in [(Kind::I, self.model.activation(stage).0 - retained), (Kind::W, retained)] {
                let last = pass(stage, kind);
                let end = self.start(last) + self.length(last);
                let copies = (-16..16).filter(|copy| {
                    let shift = copy * self.interval;
                    self.start(pass(stage, Kind::F)) + shift <= now && now < end + shift
                });
                held += units * i64::try_from(copies.count()).expect("few copies");
            }
        }
        held
    }
}
