//! A few passes moved, so that a schedule that is over the capacities by a little keeps to them.
//!
//! The searches know neither workspaces nor buffers, so what they find may be over a capacity by a buffer here and there. Where a
//! device is over first, a W or a backward comes earlier, or the pass itself comes later, whichever replay likes best; until no
//! device is over, or no such move helps.

use crate::certificate::Objective;
use crate::model::{Device, Kind, Model, Pass, Ticks};
use crate::optimize::replayed::{ReplayedSchedule, improved};
use crate::replay::{Held, memory_along, replay};
use crate::schedule::Schedule;
use crate::stop::Stop;

/// A search for a schedule that keeps to the capacities.
pub(super) struct Fit<'a> {
    pub(super) model: &'a Model,
    pub(super) objective: Objective,
    /// How many passes may still be replayed.
    pub(super) passes_left: usize,
    pub(super) stop: Stop,
}

/// A schedule that runs, whether or not it keeps to the capacities.
struct Runs {
    schedule: Schedule,
    value: Ticks,
    /// By how much every pass is over the capacity, in all: units.
    excess: i128,
    /// Where each device is over first.
    over: Vec<(Device, usize)>,
}

impl Fit<'_> {
    /// The schedule with a few passes moved such that it is valid; nothing if it has pairs or copies, cannot run, or no
    /// way is found.
    pub(super) fn fitted(&mut self, schedule: &Schedule, engine: &str) -> Option<ReplayedSchedule> {
        if schedule.overlap_count() > 0 || schedule.offload_count() > 0 {
            return None;
        }
        let mut best = self.run(schedule.clone())?;
        let engine = improved(engine);
        while !best.over.is_empty() {
            let over = best.over.clone();
            best = over.into_iter().find_map(|(device, position)| self.better(&best, device, position))?;
        }
        ReplayedSchedule::new(self.model, self.objective, best.schedule, engine).ok()
    }

    /// What a schedule takes; nothing if it cannot run, or there is no time left.
    fn run(&mut self, schedule: Schedule) -> Option<Runs> {
        if self.is_over(schedule.len()) {
            return None;
        }
        self.passes_left -= schedule.len();
        let timing = replay(self.model, &schedule).timing?;
        let value = self.objective.of(&timing.metrics);
        let (mut excess, mut over) = (0, Vec::new());
        for (device, held) in Device::all(schedule.devices()).zip(memory_along(self.model, &schedule)) {
            let Some(capacity) = self.model.capacity(device) else { continue };
            let beyond = |held: &Held| (held.during - capacity).0.max(0);
            excess += held.iter().map(|held| i128::from(beyond(held))).sum::<i128>();
            over.extend(held.iter().position(|held| beyond(held) > 0).map(|first| (device, first)));
        }
        Some(Runs { schedule, value, excess, over })
    }

    /// The same with another order of a device.
    fn reordered(&mut self, from: &Runs, device: Device, order: Vec<Pass>) -> Option<Runs> {
        let mut orders = from.schedule.orders().to_vec();
        orders[device.index()] = order;
        let moved = Schedule::new(from.schedule.placement().clone(), from.schedule.microbatches(), orders);
        let moved = moved.ok()?.with_levels_of(&from.schedule);
        let in_backward = self.model.recomputes_in_backward();
        self.run(if in_backward { moved.with_recomputation_in_backward() } else { moved })
    }

    fn is_over(&self, passes: usize) -> bool {
        self.passes_left < passes || self.stop.is_due()
    }

    /// The least value of all moves around a position of a device that make less be over.
    fn better(&mut self, from: &Runs, device: Device, position: usize) -> Option<Runs> {
        let order = from.schedule.order(device);
        let mut best: Option<Runs> = None;
        for order in moves(order, position) {
            let moved = self.reordered(from, device, order).filter(|moved| moved.excess < from.excess);
            let Some(moved) = moved else { continue };
            let rank = |runs: &Runs| (runs.value, runs.excess);
            if best.as_ref().is_none_or(|best| rank(&moved) < rank(best)) {
                best = Some(moved);
            }
        }
        best
    }
}

/// The order of a device with less held from a position on: with a W or a backward that comes later brought there, or with the pass
/// that is there, or the last F before those, behind them.
fn moves(order: &[Pass], position: usize) -> Vec<Vec<Pass>> {
    let (before, from_there) = order.split_at(position);
    let is_made = |needed: Pass| before.contains(&needed);
    let first = |wanted: &dyn Fn(Pass) -> bool| {
        from_there.iter().position(|&pass| wanted(pass)).filter(|&at| at > 0).map(|at| position + at)
    };
    let weight = first(&|pass| pass.kind == Kind::W && is_made(pass.with_kind(Kind::I)));
    let backward = first(&|pass| matches!(pass.kind, Kind::I | Kind::B) && is_made(pass.with_kind(Kind::F)));
    let moved = |from: usize, passes: usize| {
        let mut order = order.to_vec();
        order[position..from + passes].rotate_right(passes);
        order
    };
    let mut moves: Vec<Vec<Pass>> = weight.map(|from| moved(from, 1)).into_iter().collect();
    if let Some(from) = backward {
        moves.push(moved(from, 1));
        if order.get(from + 1) == Some(&order[from].with_kind(Kind::W)) {
            moves.push(moved(from, 2));
        }
    }
    // What is there goes behind the next one; it, and the last F before, behind what frees memory.
    let last = |to: usize| order[..to].iter().rposition(|pass| pass.kind == Kind::F);
    let mut later = vec![(position, position + 1)];
    later.extend(last(position).into_iter().flat_map(|from| (0..3).map(move |by| (from, position + by))));
    for to in [weight, backward].into_iter().flatten() {
        later.push((position, to));
        later.extend(last(to).into_iter().flat_map(|from| [(from, to), (from, to + 1)]));
    }
    for (from, to) in later.into_iter().filter(|&(_, to)| to < order.len()) {
        let mut order = order.to_vec();
        order[from..=to].rotate_left(1);
        if !moves.contains(&order) {
            moves.push(order);
        }
    }
    moves
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::catalog;
    use crate::model::Units;

    fn model(text: &str) -> Model {
        crate::model::parse(text).expect("a model")
    }

    fn fit(model: &Model) -> Fit<'_> {
        Fit { model, objective: Objective::Makespan, passes_left: 1_000_000, stop: Stop::default() }
    }

    #[test]
    fn an_activation_too_many_beside_a_workspace_comes_later() {
        let model = model(
            "name = \"one\"\n[pipeline]\ndevices = 1\nplacement = \"linear\"\nmicrobatches = 3\n[time]\nforward = 3\n\
             backward_input = 4\nbackward_weight = 2\n[memory]\nactivation = 10\ncapacity = 24\n\
             workspace = { backward_input = 5 }\n",
        );
        let placement = model.placement().clone();
        let text = ["0F0", "0F1", "0I0", "0I1", "0W0", "0W1", "0F2", "0I2", "0W2"];
        let order = text.map(|pass| pass.parse().expect("a pass")).to_vec();
        let schedule = Schedule::new(placement, 3, vec![order]).expect("a schedule");
        assert!(!replay(&model, &schedule).is_valid());
        let fitted = fit(&model).fitted(&schedule, "by hand").expect("there is a way");
        assert_eq!((fitted.value, fitted.engine.as_str()), (Ticks(27), "by hand, improved"));
        // There is no room for two beside the workspace, however they are ordered.
        let narrow = model.with_uniform_activation_capacity(Some(Units(14))).expect("a model");
        assert!(fit(&narrow).fitted(&schedule, "by hand").is_none());
        let mut late = Fit { passes_left: 8, ..fit(&model) };
        assert!(late.fitted(&schedule, "by hand").is_none());
    }

    #[test]
    fn named_schedules_fit_beside_buffers_and_a_little_growth() {
        let mut mended = 0;
        for placement in ["linear", "v"] {
            for capacity in (42..=90).step_by(4) {
                let model = model(&format!(
                    "name = \"tight\"\n[pipeline]\ndevices = 4\nplacement = \"{placement}\"\nmicrobatches = 8\n[time]\n\
                     forward = 10\nbackward_input = 11\nbackward_weight = 9\ncommunication = 1\n[memory]\n\
                     activation = 10\nretained_for_weight = 11\ncapacity = {capacity}\nreceive = 1\n\
                     workspace = {{ forward = 1, backward_input = 2 }}\n"
                ));
                for entry in catalog::entries() {
                    let Ok(schedule) = entry.generate(&model.memory_floor()) else { continue };
                    let Some(fitted) = fit(&model).fitted(&schedule, entry.name) else { continue };
                    assert!(fitted.verdict.is_valid());
                    let passes = |schedule: &Schedule| {
                        schedule.orders().iter().flatten().copied().collect::<BTreeSet<Pass>>()
                    };
                    assert_eq!(passes(&fitted.schedule), passes(&schedule), "{}", entry.name);
                    mended += usize::from(!replay(&model, &schedule).is_valid());
                }
            }
        }
        assert!(mended > 10, "{mended} schedules were over a capacity and fit now");
    }
}
