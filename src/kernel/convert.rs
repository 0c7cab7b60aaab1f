//! From schedules to the indexed form and back.

use super::problem::{IndexedOrders, IndexedPass, IndexedProblem, Variety, class};
use super::timeline::Stuck;
use crate::model::{Kind, Model, Pass};
use crate::schedule::Schedule;

/// A schedule in indexed form, with the problem that numbers its passes. Overlapped pairs are left out.
#[derive(Debug, Clone)]
pub(crate) struct IndexedSchedule {
    pub problem: IndexedProblem,
    pub orders: IndexedOrders,
}

impl IndexedSchedule {
    /// The passes of a schedule, whatever their kinds, within the capacities of the model.
    ///
    /// # Errors
    /// When a pass is unknown to the model, a duplicate, or on a device that does not hold its stage.
    pub fn of(model: &Model, schedule: &Schedule) -> Result<Self, Stuck> {
        let (placement, microbatches) = (model.placement(), schedule.microbatches());
        let mut problem = IndexedProblem::empty(model, microbatches);
        let mut present = Present::new(model, microbatches);
        for (device, order) in (0..).zip(schedule.orders()) {
            for &pass in order {
                let known = pass.stage.0 < model.stages() && pass.microbatch.0 < microbatches;
                if !known || placement.device_of(pass.stage).0 != device || !present.enter(pass) {
                    return Err(Stuck(1));
                }
                problem.count(pass);
            }
        }
        // By stage and kind: the varieties met, each with its class.
        let mut met: Vec<Vec<(Variety, u32)>> = vec![Vec::new(); problem.classes()];
        let mut indexed = |pass: Pass| {
            let is_backward = matches!(pass.kind, Kind::I | Kind::B);
            let above = placement.stage_after(pass.stage).filter(|_| is_backward);
            let variety = Variety {
                recomputed: (is_backward || pass.kind == Kind::F) && present.has(pass.with_kind(Kind::R)),
                fused_above: above.is_some_and(|stage| present.has(Pass { stage, kind: Kind::B, ..pass })),
            };
            let met = &mut met[class(pass.stage.0, pass.kind) as usize];
            let known = met.iter().find(|(known, _)| *known == variety).map(|&(_, class)| class);
            let class = known.unwrap_or_else(|| {
                let class = problem.describe(model, pass, variety, met.is_empty());
                met.push((variety, class));
                class
            });
            IndexedPass { class, microbatch: pass.microbatch.0 }
        };
        let orders = schedule.orders().iter().map(|order| order.iter().map(|&pass| indexed(pass)).collect());
        let orders = orders.collect();
        Ok(Self { problem: problem.connected(), orders })
    }

    /// The schedule of these orders.
    pub fn schedule(&self, model: &Model) -> Schedule {
        self.problem.schedule(model, &self.orders)
    }

    /// The number of passes.
    pub fn len(&self) -> usize {
        self.orders.iter().map(Vec::len).sum()
    }
}

impl IndexedProblem {
    /// The schedule of these orders.
    pub fn schedule(&self, model: &Model, orders: &IndexedOrders) -> Schedule {
        let named = |order: &Vec<IndexedPass>| order.iter().map(|&pass| self.named(pass)).collect();
        Schedule::new(model.placement().clone(), self.microbatches(), orders.iter().map(named).collect())
            .expect("one order for each device, and no more passes than the model has")
    }

    /// The orders of a schedule in the numbers of this [split](IndexedProblem::split) problem, if it recomputes exactly
    /// what the problem does. A full backward becomes an I with its W right behind it, which is never later and never
    /// holds more.
    pub fn split_orders(&self, schedule: &Schedule) -> Option<IndexedOrders> {
        self.split_passes(schedule.orders().iter().map(|order| order.iter().copied()))
    }

    /// The same of a schedule that is indexed already.
    pub fn split_indexed(&self, indexed: &IndexedSchedule) -> Option<IndexedOrders> {
        let named = |order: &'_ Vec<IndexedPass>| -> Vec<Pass> {
            order.iter().map(|&pass| indexed.problem.named(pass)).collect()
        };
        self.split_passes(indexed.orders.iter().map(|order| named(order).into_iter()))
    }

    fn split_passes(
        &self,
        orders: impl Iterator<Item = impl Iterator<Item = Pass>>,
    ) -> Option<IndexedOrders> {
        let mut split = Vec::with_capacity(self.limits.len());
        for (device, order) in orders.enumerate() {
            let mut passes = Vec::with_capacity(self.passes_of(device));
            for pass in order {
                let indexed =
                    |kind| IndexedPass { class: class(pass.stage.0, kind), microbatch: pass.microbatch.0 };
                match pass.kind {
                    Kind::B => passes.extend([Kind::I, Kind::W].map(indexed)),
                    Kind::R if self.passes_in(class(pass.stage.0, Kind::R)) == 0 => return None,
                    kind => passes.push(indexed(kind)),
                }
            }
            split.push(passes);
        }
        (split.iter().map(Vec::len).sum::<usize>() == self.passes()).then_some(split)
    }
}

/// Which passes a schedule has.
struct Present {
    microbatches: usize,
    /// By stage and microbatch: a bit for each kind.
    kinds: Vec<u8>,
}

impl Present {
    fn new(model: &Model, microbatches: u32) -> Self {
        let microbatches = microbatches as usize;
        Self { microbatches, kinds: vec![0; model.stages() as usize * microbatches] }
    }

    /// Enters a pass; returns whether it is new.
    fn enter(&mut self, pass: Pass) -> bool {
        let at = self.at(pass);
        let is_new = !self.has(pass);
        self.kinds[at] |= 1 << pass.kind as u8;
        is_new
    }

    fn has(&self, pass: Pass) -> bool {
        self.kinds[self.at(pass)] & 1 << pass.kind as u8 != 0
    }

    const fn at(&self, pass: Pass) -> usize {
        pass.stage.index() * self.microbatches + pass.microbatch.index()
    }
}
