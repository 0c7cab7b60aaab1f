//! Memory-limited schedules for linear placement, found by list scheduling on the real costs.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::v::improved;
use super::{CatalogError, Needs, linear, one_f_one_b_memory, peak, schedule};
use crate::model::{Device, Kind, Microbatch, Model, Pass, Stage, Ticks, Units};
use crate::schedule::Schedule;

pub(super) fn zb_1p(model: &Model) -> Result<Schedule, CatalogError> {
    within(model, "zb-1p", 1)
}

pub(super) fn zb_2p(model: &Model) -> Result<Schedule, CatalogError> {
    within(model, "zb-2p", 2)
}

fn within(model: &Model, name: &'static str, factor: i64) -> Result<Schedule, CatalogError> {
    let _ = name;
    let limit = one_f_one_b_memory(model) * factor;
    let limits: Vec<Units> = Device::all(model.devices())
        .map(|device| model.capacity(device).map_or(limit, |capacity| capacity.min(limit)))
        .collect();
    memory_limited(model, &limits)
}

/// How a device chooses between passes that could start.
#[derive(Debug, Clone, Copy)]
struct Policy {
    /// Forwards run ahead before the first I.
    lead: Lead,
    /// A W may start when it ends at most this share (in eighths of W) after the next known arrival.
    overrun: i64,
    forward_first: bool,
}

#[derive(Debug, Clone, Copy)]
enum Lead {
    Factor(u32),
    Memory,
}

/// todo
pub fn memory_limited(model: &Model, limits: &[Units]) -> Result<Schedule, CatalogError> {
    if !Needs::Linear.met_by(model.placement()) {
        return Err(CatalogError::NotThisPlacement {
            name: "zb-1p",
            needs: Needs::Linear,
            has: model.placement().shape(),
        });
    }
    let mut best: Option<((Ticks, Ticks), Schedule, String)> = None;
    let mut offer = |candidate: &Schedule, what: String| {
        if Device::all(model.devices())
            .any(|device| peak(model, candidate.order(device)) > limits[device.index()])
        {
            return;
        }
        let (better, length) = improved(model, candidate, limits);
        if std::env::var("ZBV").is_ok() {
            eprintln!("   {what} {length:?}");
        }
        if best.as_ref().is_none_or(|(known, ..)| length < *known) {
            best = Some((length, better, what));
        }
    };
    for (device, &limit) in Device::all(model.devices()).zip(limits) {
        let activation = model.activation(Stage(device.0));
        if activation > limit {
            return Err(CatalogError::NoRoom { device, limit, activation });
        }
    }
    offer(&linear::zb_h1(model)?, "h1".into());
    offer(&linear::zb_h2(model)?, "h2".into());
    for lead in [Lead::Factor(1), Lead::Factor(2), Lead::Memory] {
        for overrun in [0, 1, 2, 4, 8] {
            for forward_first in [false, true] {
                let p = Policy { lead, overrun, forward_first };
                let orders = Floor::new(model, limits, p).run();
                offer(&schedule(model, orders), format!("{p:?}"));
            }
        }
    }
    let (_l, s, w) = best.expect("x");
    if std::env::var("ZBV").is_ok() {
        eprintln!("best {w}");
    }
    Ok(s)
}

struct Rank {
    free: Ticks,
    live: Units,
    done: [u32; 3],
    f_arrival: Vec<Ticks>,
    i_arrival: Vec<Ticks>,
    order: Vec<Pass>,
}

struct Floor<'a> {
    model: &'a Model,
    limits: &'a [Units],
    policy: Policy,
    ranks: Vec<Rank>,
    agenda: BinaryHeap<Reverse<(Ticks, Device)>>,
}

impl<'a> Floor<'a> {
    fn new(model: &'a Model, limits: &'a [Units], policy: Policy) -> Self {
        let m = model.microbatches() as usize;
        let d = model.devices();
        let ranks = (0..d)
            .map(|i| Rank {
                free: Ticks(0),
                live: Units(0),
                done: [0; 3],
                f_arrival: if i == 0 { vec![Ticks(0); m] } else { vec![] },
                i_arrival: vec![],
                order: vec![],
            })
            .collect();
        let mut agenda = BinaryHeap::new();
        agenda.push(Reverse((Ticks(0), Device(0))));
        Self { model, limits, policy, ranks, agenda }
    }
    fn run(mut self) -> Vec<Vec<Pass>> {
        while let Some(Reverse((now, device))) = self.agenda.pop() {
            if self.ranks[device.index()].free > now {
                continue;
            }
            if let Some(kind) = self.choose(device, now) {
                self.start(device, kind, now);
            }
        }
        for r in &self.ranks {
            assert_eq!(r.order.len(), 3 * self.model.microbatches() as usize);
        }
        self.ranks.into_iter().map(|r| r.order).collect()
    }
    fn choose(&self, device: Device, now: Ticks) -> Option<Kind> {
        let rank = &self.ranks[device.index()];
        let stage = Stage(device.0);
        let m = self.model.microbatches();
        let [f, i, w] = rank.done;
        let f_at = rank.f_arrival.get(f as usize).copied();
        let i_at = rank.i_arrival.get(i as usize).copied();
        let behind = self.model.devices() - 1 - device.0;
        let lead_full = match self.policy.lead {
            Lead::Factor(x) => f - i > x * behind,
            Lead::Memory => false,
        };
        let room = rank.live + self.model.activation(stage) <= self.limits[device.index()];
        let f_ok = room && !lead_full && f < m;
        let f_ready = f_ok && f_at.is_some_and(|a| a <= now);
        let i_ready = i_at.is_some_and(|a| a <= now);
        if self.policy.forward_first && i == 0 && f_ready && i_ready {
            return Some(Kind::F);
        }
        if i_ready {
            return Some(Kind::I);
        }
        if f_ready {
            return Some(Kind::F);
        }
        if w < i {
            if !room && f_at.is_some_and(|a| a <= now) {
                return Some(Kind::W);
            }
            let next = [i_at, f_at.filter(|_| f_ok)].into_iter().flatten().min();
            let dur = self.model.duration(stage, Kind::W);
            let allowed = next.is_none_or(|n| now + dur <= n + Ticks(dur.0 * self.policy.overrun / 8));
            if allowed {
                return Some(Kind::W);
            }
        }
        None
    }
    fn start(&mut self, device: Device, kind: Kind, now: Ticks) {
        let stage = Stage(device.0);
        let end = now + self.model.duration(stage, kind);
        let slot = match kind {
            Kind::F => 0,
            Kind::I => 1,
            _ => 2,
        };
        let rank = &mut self.ranks[device.index()];
        let j = rank.done[slot];
        rank.done[slot] += 1;
        rank.free = end;
        let pass = Pass::new(stage, kind, Microbatch(j));
        rank.order.push(pass);
        rank.live += crate::block::acquired(self.model, pass, false);
        rank.live -= crate::block::released(self.model, pass);
        self.agenda.push(Reverse((end, device)));
        match kind {
            Kind::F => {
                if stage.0 + 1 < self.model.stages() {
                    let at = end + self.model.latency_after(stage);
                    self.ranks[device.index() + 1].f_arrival.push(at);
                    self.agenda.push(Reverse((at, Device(device.0 + 1))));
                    // someone may be deciding earlier
                } else {
                    self.ranks[device.index()].i_arrival.push(end);
                }
            }
            Kind::I if stage.0 > 0 => {
                let at = end + self.model.latency_after(Stage(stage.0 - 1));
                self.ranks[device.index() - 1].i_arrival.push(at);
                self.agenda.push(Reverse((at, Device(device.0 - 1))));
            }
            _ => {}
        }
    }
}
