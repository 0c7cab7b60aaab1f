//! The least memory in which a pipeline can run at all, where memory is more than what F keeps: one microbatch after the
//! other, with what is best for every stage.
//!
//! On a device, a microbatch runs F of its stages from the lowest up, and then from the highest down R, where there is one,
//! and I or B; the W of a stage comes anywhere behind its I. When F, R, I or B of a stage starts, the lower stages hold at
//! least what they keep after F. What fits is decided for a given room:
//!
//! - R, or an offload, is worth it on every stage where it keeps less and fits: what the lower stages keep is then the least
//!   there can be, whatever the higher ones choose. That Ws which wait for room may be in the way of R is left out. An offload
//!   serves what runs between F and the backward of its stage, so the highest stage has no use for it.
//! - A device holds the gathered weights of a stage while a pass of it runs. It may hold those of others besides, which is left out.
//! - W is run as soon as it fits, since nothing holds more after it. It may fit only once lower stages have ended.
//! - B leaves nothing behind, so I without its W right behind it is only worth it where neither that W nor B fits.
//!
//! So where this does not fit, no schedule does.

use std::collections::BTreeMap;

use super::super::feasible::Infeasible;
use crate::model::{Device, Kind, Microbatch, Model, Pass, Stage, Units};
use crate::schedule::{Offloaded, Schedule};

/// What is live when a pass of the first microbatch starts.
struct Need {
    at: Pass,
    held: Vec<(Stage, Units)>,
}

impl Need {
    fn total(&self) -> Units {
        self.held.iter().map(|&(_, units)| units).sum()
    }
}

/// What a device runs of a microbatch, and what it holds meanwhile.
#[derive(Default)]
struct Plan {
    /// The passes of the first microbatch in order.
    order: Vec<Pass>,
    needs: Vec<Need>,
    /// The stages whose activations go to the host.
    away: Vec<Stage>,
}

impl Plan {
    /// The pass at which the most is live: the first of equals.
    fn most(&self) -> &Need {
        let larger = |most: &'_ Need, next: &'_ Need| next.total() > most.total();
        self.needs
            .iter()
            .reduce(|most, next| if larger(most, next) { next } else { most })
            .expect("a device holds a stage")
    }
}

/// Whether a microbatch fits by what its own passes need.
///
/// # Errors
/// When no schedule keeps to the capacities.
pub(in crate::optimize) fn check(model: &Model) -> Result<(), Infeasible> {
    Device::all(model.devices()).try_for_each(|device| fitting(model, device).map(|_| ()))
}

/// One microbatch after the other, with what needs the least memory, and with B on all stages.
///
/// # Errors
/// When no schedule keeps to the capacities.
pub(super) fn least(model: &Model) -> Result<[Schedule; 2], Infeasible> {
    let plans: Vec<Plan> =
        Device::all(model.devices()).map(|device| fitting(model, device)).collect::<Result<_, _>>()?;
    Ok([false, true].map(|is_fused| {
        let of_device = |plan: &Plan| {
            let order = plan.order.iter().filter_map(|&pass| match pass.kind {
                Kind::I if is_fused => Some(pass.with_kind(Kind::B)),
                Kind::W if is_fused => None,
                _ => Some(pass),
            });
            let order: Vec<Pass> = order.collect();
            let of_microbatch =
                |microbatch| order.iter().map(move |&pass| Pass { microbatch, ..pass }).collect::<Vec<_>>();
            Microbatch::all(model.microbatches()).flat_map(of_microbatch).collect()
        };
        let orders: Vec<Vec<Pass>> = plans.iter().map(of_device).collect();
        let offloads = plans.iter().zip(&orders).map(|(plan, order)| offloads(&plan.away, order)).collect();
        Schedule::new(model.placement().clone(), model.microbatches(), orders)
            .and_then(|schedule| schedule.with_offloads(offloads))
            .expect("a model has as many orders as devices and no more passes than a schedule may")
    }))
}

/// What of an order is offloaded, each from the pass behind its F to its backward.
fn offloads(away: &[Stage], order: &[Pass]) -> Vec<Offloaded> {
    let mut found: Vec<Offloaded> = Vec::new();
    let mut freed: BTreeMap<Pass, usize> = BTreeMap::new();
    for (position, &pass) in order.iter().enumerate().filter(|(_, pass)| away.contains(&pass.stage)) {
        match pass.kind {
            Kind::F => {
                freed.insert(pass, position + 1);
            }
            Kind::I | Kind::B => {
                let forward = pass.with_kind(Kind::F);
                let offloaded = |freed| Offloaded { pass: forward, freed, fetched: position };
                found.extend(freed.remove(&forward).map(offloaded));
            }
            Kind::W | Kind::R => {}
        }
    }
    found
}

/// What fits into the capacity of a device.
fn fitting(model: &Model, device: Device) -> Result<Plan, Infeasible> {
    let most = Units(Model::MAX_TOTAL);
    let room = model.activation_capacity(device).unwrap_or(most);
    let fits = |room: Units| Some(plan(model, device, room)).filter(|plan| plan.most().total() <= room);
    if let Some(plan) = fits(room) {
        return Ok(plan);
    }
    // What would be enough: more room never makes a choice worse.
    let (mut too_little, mut enough) = (room.0, most.0);
    while enough - too_little > 1 {
        let middle = i64::midpoint(too_little, enough);
        if fits(Units(middle)).is_some() { enough = middle } else { too_little = middle }
    }
    let plan = plan(model, device, Units(enough));
    let Need { at, held } = plan.most();
    let weights = model.resident(device);
    let needed = Units(enough) + weights;
    Err(Infeasible { device, capacity: room + weights, needed, at: *at, held: held.clone() })
}

/// A stage of a device, and what it keeps after F.
struct Kept {
    stage: Stage,
    recomputes: bool,
    offloads: bool,
    units: Units,
}

/// What the stages of a device keep, from the lowest up.
fn kept(model: &Model, device: Device, room: Units) -> Vec<Kept> {
    let mut stages = model.placement().stages_of(device).to_vec();
    stages.sort_unstable();
    let highest = stages.last().copied();
    let mut below = Units::ZERO;
    let of_stage = |stage| {
        let whole = model.activation(stage);
        let stays = whole - model.moved(stage);
        let again = below + whole + model.workspace(stage, Kind::R) + model.gathered(stage);
        // Both take time: they are left to those that need them.
        let is_limited = model.capacity(device).is_some();
        let checkpoint = model.checkpoint(stage).filter(|&kept| is_limited && kept < whole && again <= room);
        let is_whole = below + while_running(model, stage, Kind::F) <= room;
        let may_offload = is_limited && is_whole && Some(stage) != highest && stays < whole;
        let offloads = may_offload && checkpoint.is_none_or(|kept| stays <= kept);
        let recomputes = checkpoint.is_some() && !offloads;
        let units = if offloads { stays } else { checkpoint.unwrap_or(whole) };
        below += units;
        Kept { stage, recomputes, offloads, units }
    };
    stages.into_iter().map(of_stage).collect()
}

/// What is best on a device with so much room.
fn plan(model: &Model, device: Device, room: Units) -> Plan {
    let mut running = Running { model, room, waiting: Vec::new(), below: Vec::new(), plan: Plan::default() };
    let kept = kept(model, device, room);
    for &Kept { stage, recomputes, offloads, units } in &kept {
        let left_out = if recomputes { model.activation(stage) - units } else { Units::ZERO };
        running.run(stage, Kind::F, while_running(model, stage, Kind::F) - left_out);
        if offloads {
            running.plan.away.push(stage);
        }
        running.below.push((stage, units));
    }
    for &Kept { stage, recomputes, .. } in kept.iter().rev() {
        running.below.pop();
        let holds = |kind| while_running(model, stage, kind);
        if recomputes {
            let waiting = std::mem::take(&mut running.waiting);
            running.run(stage, Kind::R, holds(Kind::R));
            running.waiting = waiting;
        }
        let [input, weight, both] = [Kind::I, Kind::W, Kind::B].map(|kind| running.live() + holds(kind));
        if both <= room && input.max(weight) > room || both < input && input > room {
            running.run(stage, Kind::B, holds(Kind::B));
        } else {
            running.run(stage, Kind::I, holds(Kind::I));
            running.waiting.push(stage);
        }
        running.run_waiting();
    }
    // What is left does not fit, if anything is.
    while let Some(stage) = running.waiting.pop() {
        running.run(stage, Kind::W, while_running(model, stage, Kind::W));
    }
    running.plan
}

/// A microbatch on its way through a device.
struct Running<'a> {
    model: &'a Model,
    room: Units,
    /// The stages whose W is still to run.
    waiting: Vec<Stage>,
    /// What stages keep whose backward has not begun.
    below: Vec<(Stage, Units)>,
    plan: Plan,
}

impl Running<'_> {
    /// What other stages hold.
    fn held(&self) -> impl Iterator<Item = (Stage, Units)> {
        let waiting = self.waiting.iter().map(|&stage| (stage, self.model.retained_for_weight(stage)));
        self.below.iter().copied().chain(waiting)
    }

    fn live(&self) -> Units {
        self.held().map(|(_, units)| units).sum()
    }

    /// Runs a pass, of a stage that holds so much meanwhile.
    fn run(&mut self, stage: Stage, kind: Kind, holds: Units) {
        let at = Pass::new(stage, kind, Microbatch(0));
        let held = self.held().chain([(stage, holds)]).collect();
        self.plan.needs.push(Need { at, held });
        self.plan.order.push(at);
    }

    /// Runs every W that fits. The one that needs the least goes first: if it does not fit, none does.
    fn run_waiting(&mut self) {
        let further = |stage: &Stage| self.model.workspace(*stage, Kind::W) + self.model.gathered(*stage);
        self.waiting.sort_by_key(|stage| std::cmp::Reverse(further(stage)));
        while let Some(stage) = self.waiting.last().copied() {
            if self.live() + further(&stage) > self.room {
                break;
            }
            self.waiting.pop();
            self.run(stage, Kind::W, while_running(self.model, stage, Kind::W));
        }
    }
}

/// What a stage holds while one of its passes runs, its gathered weights included.
fn while_running(model: &Model, stage: Stage, kind: Kind) -> Units {
    let (whole, rest) = (model.activation(stage), model.retained_for_weight(stage));
    let kept = match kind {
        Kind::I => whole.max(rest),
        Kind::W => rest,
        Kind::F | Kind::B | Kind::R => whole,
    };
    let received = match kind {
        Kind::F => model.placement().stage_before(stage).map(|before| model.receive_after(before)),
        Kind::I | Kind::B => model.placement().stage_after(stage).map(|_| model.receive_after(stage)),
        Kind::W | Kind::R => None,
    };
    kept + model.workspace(stage, kind) + model.gathered(stage) + received.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Memory, Placement, Sharding, Ticks, Transient, Workspace};
    use crate::replay::replay;

    /// A number from 0 to 4, another one at each call.
    fn draws(seed: u64) -> impl FnMut() -> Units {
        let mut state = seed;
        move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            Units(i64::try_from((state >> 33) % 5).expect("small"))
        }
    }

    /// Stages on one device, whose passes need what is drawn.
    fn model(seed: u64, recompute: bool) -> Model {
        let stages = 1 + usize::try_from(seed % 3).expect("small");
        let placement = Placement::new(vec![Stage::all(u32::try_from(stages).expect("small")).collect()]);
        let plain = Model::unit(placement.expect("a placement"), 1).expect("a model");
        let mut draw = draws(seed);
        let mut list = || (0..stages).map(|_| draw()).collect::<Vec<Units>>();
        let activation = list();
        let checkpoint = list().into_iter().zip(&activation).map(|(part, &whole)| part.min(whole)).collect();
        let memory = Memory {
            retained_for_weight: list(),
            checkpoint: recompute.then_some(checkpoint),
            activation,
            ..plain.memory().clone()
        };
        let [forward, backward_input, backward_weight, backward] = [(); 4].map(|()| list());
        let recompute = if recompute { list() } else { forward.clone() };
        let workspace = Workspace { forward, backward_input, backward_weight, backward, recompute };
        // The weights of one stage at a time, so that none of another one are there besides.
        let gathered = if seed.is_multiple_of(2) { list() } else { vec![Units::ZERO; stages] };
        let sharding = Sharding { gather: vec![Ticks(1); stages], gathered, stages: 1 };
        plain
            .with_plain_memory(memory)
            .and_then(|model| model.with_transient(Transient { workspace: Some(workspace), receive: None }))
            .and_then(|model| model.with_sharding(Some(sharding)))
            .expect("a model")
    }

    /// The least peak of all orders of all passes, one pass after the other.
    fn least_peak(model: &Model, order: &mut Vec<Pass>) -> Units {
        let has = |order: &[Pass], stage, kind| order.contains(&Pass::new(stage, kind, Microbatch(0)));
        let mut next = Vec::new();
        for stage in Stage::all(model.stages()) {
            let there = |kind| has(order, stage, kind);
            let before = stage.0.checked_sub(1).is_none_or(|before| has(order, Stage(before), Kind::F));
            let above = Stage(stage.0 + 1);
            let is_backward =
                above.0 == model.stages() || has(order, above, Kind::I) || has(order, above, Kind::B);
            if !there(Kind::F) && before {
                next.push(Pass::new(stage, Kind::F, Microbatch(0)));
            }
            let is_done = there(Kind::I) || there(Kind::B);
            if there(Kind::F) && !is_done && !there(Kind::R) && model.checkpoint(stage).is_some() {
                next.push(Pass::new(stage, Kind::R, Microbatch(0)));
            }
            if there(Kind::F) && !is_done && is_backward {
                next.extend([Kind::I, Kind::B].map(|kind| Pass::new(stage, kind, Microbatch(0))));
            }
            if there(Kind::I) && !there(Kind::W) {
                next.push(Pass::new(stage, Kind::W, Microbatch(0)));
            }
        }
        let is_complete =
            Stage::all(model.stages()).all(|stage| has(order, stage, Kind::B) || has(order, stage, Kind::W));
        let mut least = Units(i64::MAX);
        if is_complete {
            let schedule = Schedule::new(model.placement().clone(), 1, vec![order.clone()]);
            let verdict = replay(model, &schedule.expect("an order"));
            assert!(verdict.is_valid());
            least = verdict.peak_memory_max();
        }
        for pass in next {
            order.push(pass);
            least = least.min(least_peak(model, order));
            order.pop();
        }
        least
    }

    #[test]
    fn what_one_microbatch_needs_is_the_least_of_all_orders() {
        let mut late = 0;
        for seed in 0..300 {
            let model = model(seed, false);
            let least = least_peak(&model, &mut Vec::new());
            let check = |room| {
                let limited = model.with_uniform_capacity(room).expect("a capacity");
                (check(&limited), super::least(&limited))
            };
            let (fits, schedules) = check(least);
            assert_eq!(fits, Ok(()), "seed {seed}");
            let limited = model.with_uniform_capacity(least).expect("a capacity");
            let [schedule, fused] = schedules.expect("it fits");
            assert!([&schedule, &fused].iter().any(|each| replay(&limited, each).is_valid()), "seed {seed}");
            let order = schedule.order(Device(0));
            let is_late = |two: &[Pass]| two[0].kind == Kind::I && two[1] != two[0].with_kind(Kind::W);
            late += usize::from(order.windows(2).any(is_late));
            if least > Units::ZERO {
                let refused = check(least - Units(1)).0.expect_err("it does not fit");
                assert_eq!(refused.needed, least, "seed {seed}");
                assert_eq!(refused.held.iter().map(|&(_, units)| units).sum::<Units>(), least);
            }
        }
        assert!(late > 3, "some W has to wait: {late}");
    }

    #[test]
    fn nothing_is_said_not_to_fit_that_some_order_with_recomputation_fits() {
        let mut refused = 0;
        for seed in 0..45 {
            let model = model(seed, true);
            let least = least_peak(&model, &mut Vec::new());
            let limited = |room| model.with_uniform_capacity(room).expect("a capacity");
            assert_eq!(check(&limited(least)), Ok(()), "seed {seed}");
            let tighter = (least - Units(1)).max(Units::ZERO);
            refused += usize::from(check(&limited(tighter)).is_err());
        }
        assert!(refused > 30, "nearly always that is all that fits: {refused}");
    }
}
