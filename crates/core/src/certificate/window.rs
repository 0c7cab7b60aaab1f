//! **Window bound.** Let `U1` be the most work a device can do in its first `t1` ticks and `U2` the
//! most in its last `t2`. If all its work is more than `U1 + U2`, the two windows do not overlap,
//! the device idles at least `t1 - U1` in the first and `t2 - U2` in the last, and the span is at
//! least `work + (t1 - U1) + (t2 - U2)`. Without the condition the statement is false: two devices
//! with V placement, one microbatch, two units of memory and unit times need 9 ticks, the formula
//! says 11.
//!
//! **Chain bound.** Without its Ws a device has less work, but nothing fills its last window: its last I is followed by
//! at least the shortest of what must follow an I of any of its stages.
//!
//! With two directions, a microbatch goes through one of two stages of a device; what holds of every microbatch is the
//! least of what holds of those of either direction.
//!
//! Each window is taken in two ways: up to the head (or from the tail, the [end of the step](super::step)) of the device,
//! where it can do nothing; or up to the first backward (from the last forward) it can meet, where it can do nothing but
//! forwards (backwards), as many as its memory holds. On the last device of a V placement with
//! equal stages and no latency this is
//! `m*work + (d-1)tF + [(d+1)tF + (d-1)tI - M*tF]+ + [(d-1)tF + 2d*tI + tW - M*(tI+tW)]+`, at unit
//! times the `6n+6p-3k-1` of arXiv 2405.15362, Figure 13.

use num_integer::Integer;

use super::least_held;
use super::path::Paths;
use super::reason::{Bound, BoundReason, Objective, Window};
use crate::model::{Device, Kind, Microbatch, Model, Stage, Ticks, Units};

/// The window bounds of one device, one for each choice of windows that cannot overlap, and its chain bound: from the
/// paths of the model, and the work of the [shortened](super::shortened) one.
pub(super) fn bounds(paths: &Paths<'_>, model: &Model, device: Device, objective: Objective) -> Vec<Bound> {
    let routes = routes(model, device);
    let of_routes = |of_stage: &dyn Fn(Stage) -> Ticks| -> Ticks {
        let of_route = |route: &Route| {
            route.stages.iter().map(|&stage| of_stage(stage)).sum::<Ticks>() * i64::from(route.microbatches)
        };
        routes.iter().map(of_route).sum()
    };
    let work = of_routes(&|stage| model.duration(stage, Kind::F) + model.duration(stage, Kind::B));
    let Lengths { head, to_first_input, from_last_forward, device_tail } = lengths(paths, device, objective);
    // The last of its Fs and Is is an I, and what follows that at the least comes after.
    let without_weights = work - of_routes(&|stage| model.duration(stage, Kind::W));
    let tail = after_last_input(paths, model, device, objective);
    let chain = Bound {
        value: head + without_weights + tail,
        reason: BoundReason::Chain { device, work: without_weights, head, tail },
    };
    let forwards =
        forward_fill(model, device).min(forwards_alone(paths.model(), model, device, to_first_input - head));
    let backwards = backward_fill(model, device).min(from_last_forward - device_tail);
    let firsts =
        [Window { length: head, work: Ticks::ZERO }, Window { length: to_first_input, work: forwards }];
    let lasts = [
        Window { length: device_tail, work: Ticks::ZERO },
        Window { length: from_last_forward, work: backwards },
    ];
    firsts
        .into_iter()
        .flat_map(|first| lasts.into_iter().map(move |last| (first, last)))
        .filter(|(first, last)| work > first.work + last.work)
        .map(|(first, last)| Bound {
            value: work + first.idle() + last.idle(),
            reason: BoundReason::Windows { device, work, first, last },
        })
        .chain([chain])
        .collect()
}

/// The window before the end in which a device runs no forward, with the most work that fits into it. If the device has more
/// than that left to do, it idles in the rest.
pub(super) fn before_the_end(
    paths: &Paths<'_>,
    model: &Model,
    device: Device,
    objective: Objective,
) -> Window {
    let Lengths { from_last_forward, device_tail, .. } = lengths(paths, device, objective);
    let work = backward_fill(model, device).min(from_last_forward - device_tail);
    Window { length: from_last_forward, work }
}

/// How long the windows of a device are.
pub(super) struct Lengths {
    /// Nothing reaches it before.
    pub(super) head: Ticks,
    /// It meets no backward before.
    pub(super) to_first_input: Ticks,
    /// Before the end, from where on it meets no forward.
    pub(super) from_last_forward: Ticks,
    /// Before the end, from where on it runs no pass.
    pub(super) device_tail: Ticks,
}

pub(super) fn lengths(paths: &Paths<'_>, device: Device, objective: Objective) -> Lengths {
    let device_tail = paths.device_tail(device);
    let routes = routes(paths.model(), device);
    let least = |of_route: &dyn Fn(&Route) -> Ticks| routes.iter().map(of_route).min().unwrap_or_default();
    // The F of the lowest stage is the first pass of every microbatch of a route on the device; the I of the highest
    // stage is the first backward. No F of a route ends later than its tail before the end.
    let (head, to_first_input, from_last_forward) = match objective {
        Objective::Makespan => (
            least(&|route| paths.forward_head(route.lowest())),
            least(&|route| paths.input_head(route.highest())),
            least(&|route| paths.forward_tail(route.highest())),
        ),
        Objective::DeviceSpan => (
            Ticks::ZERO,
            least(&|route| paths.input_head(route.highest()) - paths.forward_head(route.lowest())),
            least(&|route| paths.forward_to_end(route.highest(), &route.stages)),
        ),
    };
    Lengths { head, to_first_input, from_last_forward, device_tail }
}

/// The stages of a device that its microbatches go through in turn: all of them, or those of one direction.
struct Route {
    stages: Vec<Stage>,
    /// How many microbatches take it.
    microbatches: u32,
}

impl Route {
    fn lowest(&self) -> Stage {
        *self.stages.iter().min().expect("a route has a stage")
    }

    fn highest(&self) -> Stage {
        *self.stages.iter().max().expect("a route has a stage")
    }
}

/// The routes that some microbatch takes through a device.
fn routes(model: &Model, device: Device) -> Vec<Route> {
    let (placement, directions) = (model.placement(), model.placement().directions());
    let route = |direction: u32| {
        let leads = |stage: &Stage| placement.leads_through(*stage, Microbatch(direction));
        let stages: Vec<Stage> = placement.stages_of(device).iter().copied().filter(leads).collect();
        let microbatches = model.microbatches().saturating_sub(direction).div_ceil(directions);
        (microbatches > 0 && !stages.is_empty()).then_some(Route { stages, microbatches })
    };
    (0..directions).filter_map(route).collect()
}

/// The windows at the beginning and at the end of a device in which what its memory holds may also be recomputed: the levels
/// are those of the model of the paths.
pub(super) fn with_recomputation(
    paths: &Paths<'_>,
    model: &Model,
    device: Device,
    objective: Objective,
) -> [[Window; 2]; 2] {
    let Lengths { head, to_first_input, from_last_forward, device_tail } = lengths(paths, device, objective);
    let real = paths.model();
    let (mut forwards, mut backwards, mut in_all) = (Vec::new(), Vec::new(), [Ticks::ZERO; 2]);
    for &stage in model.placement().stages_of(device) {
        let levels = (0..real.recompute_levels()).filter_map(|level| {
            Some((real.checkpoint_at(stage, level)?, real.recompute_duration(stage, level)))
        });
        let levels: Vec<(Units, Ticks)> = levels.collect();
        let longest = levels.iter().map(|&(_, again)| again).max().unwrap_or_default();
        let [forward, backward, weight] = [Kind::F, Kind::B, Kind::W].map(|kind| model.duration(stage, kind));
        let whole = model.activation(stage);
        // What was recomputed is there as a whole.
        forwards.push(Item { work: forward + longest, holds: whole });
        forwards.extend(levels.iter().map(|&(holds, _)| Item { work: forward, holds }));
        backwards.push(Item { work: backward, holds: whole });
        backwards.extend(levels.iter().map(|&(holds, again)| Item { work: again + backward, holds }));
        backwards.push(Item { work: weight, holds: model.retained_for_weight(stage) });
        in_all[0] += forward + longest;
        in_all[1] += backward + longest;
    }
    let forwards = fill(model, device, &forwards, in_all[0]).min(to_first_input - head);
    let backwards = fill(model, device, &backwards, in_all[1]).min(from_last_forward - device_tail);
    [
        [Window { length: head, work: Ticks::ZERO }, Window { length: to_first_input, work: forwards }],
        [
            Window { length: device_tail, work: Ticks::ZERO },
            Window { length: from_last_forward, work: backwards },
        ],
    ]
}

/// The least time that follows the last I of a device, which is in no pair.
pub(super) fn after_last_input(
    paths: &Paths<'_>,
    model: &Model,
    device: Device,
    objective: Objective,
) -> Ticks {
    let after = model.placement().stages_of(device).iter().map(|&stage| match objective {
        Objective::Makespan => paths.input_tail(stage),
        Objective::DeviceSpan => paths.model().duration(stage, Kind::W) + paths.stage_tail(stage),
    });
    after.min().unwrap_or_default()
}

/// The most work of shortened forwards that a device can do in a time in which it meets no backward: none of its forwards
/// is in a pair, so each takes its full time.
fn forwards_alone(model: &Model, shortened: &Model, device: Device, time: Ticks) -> Ticks {
    let stages = model.placement().stages_of(device).iter();
    let durations: Vec<(Ticks, Ticks)> =
        stages.map(|&stage| (model.duration(stage, Kind::F), shortened.duration(stage, Kind::F))).collect();
    if durations.iter().all(|(full, short)| full == short) {
        return time;
    }
    if let [(full, short), rest @ ..] = durations.as_slice()
        && rest.iter().all(|other| other == &(*full, *short))
    {
        // As many as fit, and the beginning of another one.
        return *short * (time.0 / full.0) + (*short).min(Ticks(time.0 % full.0));
    }
    // In all of those that end, no more than the largest share of the time; the last one may go on.
    let share = |&(full, short): &(Ticks, Ticks)| match full {
        Ticks::ZERO => Ticks::ZERO,
        _ => Ticks(
            Integer::div_ceil(&(i128::from(time.0) * i128::from(short.0)), &i128::from(full.0))
                .try_into()
                .unwrap_or(i64::MAX),
        ),
    };
    let most = durations.iter().map(share).max().unwrap_or_default();
    let last = durations.iter().map(|&(_, short)| short).max().unwrap_or_default();
    time.min(most + last)
}

/// Something a device may do while it holds memory for it.
struct Item {
    work: Ticks,
    holds: Units,
}

/// The most forward work a device can do before its first release.
fn forward_fill(model: &Model, device: Device) -> Ticks {
    let stages = model.placement().stages_of(device);
    let items = stages
        .iter()
        .map(|&stage| Item { work: model.duration(stage, Kind::F), holds: least_held(model, stage) });
    let all = stages.iter().map(|&stage| model.duration(stage, Kind::F)).sum::<Ticks>();
    fill(model, device, &items.collect::<Vec<_>>(), all)
}

/// The most backward work a device can do after its last F: what it may still hold by then.
fn backward_fill(model: &Model, device: Device) -> Ticks {
    let stages = model.placement().stages_of(device);
    let items = stages.iter().flat_map(|&stage| {
        [
            Item { work: model.duration(stage, Kind::B), holds: least_held(model, stage) },
            Item { work: model.duration(stage, Kind::W), holds: model.retained_for_weight(stage) },
        ]
    });
    let all = stages.iter().map(|&stage| model.duration(stage, Kind::B)).sum::<Ticks>();
    fill(model, device, &items.collect::<Vec<_>>(), all)
}

/// An upper bound on the work of any collection of items that the device's memory holds at once. `all` is the work of
/// one microbatch, which every microbatch does at most once.
fn fill(model: &Model, device: Device, items: &[Item], all: Ticks) -> Ticks {
    let microbatches = i64::from(model.microbatches());
    let total = all * microbatches;
    let Some(capacity) = model.activation_capacity(device) else { return total };
    let free: Ticks =
        items.iter().filter(|item| item.holds == Units::ZERO).map(|item| item.work * microbatches).sum();
    let heavy: Vec<&Item> = items.iter().filter(|item| item.holds > Units::ZERO).collect();
    // However the memory is shared, no unit of it carries more work than the densest item ...
    let by_density = heavy.iter().map(|item| wide_product(capacity, item.work, item.holds)).max();
    // ... and there are no more items than of the lightest, none with more work than the longest.
    let lightest = heavy.iter().map(|item| item.holds.0).min();
    let longest = heavy.iter().map(|item| item.work).max();
    let by_count = lightest.zip(longest).map(|(holds, work)| {
        wide_product(capacity, work, Units(1)).min(i128::from(capacity.0 / holds) * i128::from(work.0))
    });
    let bound = [by_density, by_count].into_iter().flatten().min().unwrap_or(0);
    // Beyond `total` the bound says nothing, so it may be cut there before it is narrowed.
    let bound = bound.min(i128::from(total.0));
    total.min(free + Ticks(i64::try_from(bound).expect("at most the total, which is 64 bits")))
}

/// `capacity * work / holds`, rounded down, without overflow.
fn wide_product(capacity: Units, work: Ticks, holds: Units) -> i128 {
    Integer::div_floor(&(i128::from(capacity.0) * i128::from(work.0)), &i128::from(holds.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Memory, Placement};

    #[test]
    fn forwards_before_the_first_backward_take_their_full_time() {
        let model = |forwards: &[i64]| {
            let stages = forwards.len();
            let placement =
                Placement::new(vec![crate::model::Stage::all(u32::try_from(stages).expect("few")).collect()]);
            let unit =
                Model::equal_stages(placement.expect("a placement"), 9, [1, 1, 1, 0]).expect("a model");
            let forward = forwards.iter().copied().map(Ticks).collect();
            unit.with_costs(crate::model::Costs { forward, ..unit.costs().clone() }).expect("a model")
        };
        for (full, short, time, work) in [
            // Two and the beginning of a third, which counts for no more than the time that is left.
            (&[4][..], &[1][..], 10, 3),
            (&[4], &[3], 9, 7),
            (&[4], &[3], 11, 9),
            (&[4], &[1], 8, 2),
            (&[4, 4], &[1, 1], 10, 3),
            (&[4, 4], &[4, 4], 10, 10),
            // The largest share of the time, 10/2, and one more.
            (&[4, 8], &[1, 4], 10, 9),
            (&[8, 4], &[4, 1], 10, 9),
            // No more than all of the time.
            (&[8, 4], &[8, 1], 10, 10),
            (&[0, 4], &[0, 1], 10, 4),
        ] {
            let found = forwards_alone(&model(full), &model(short), Device(0), Ticks(time));
            assert_eq!(found, Ticks(work), "{full:?} {short:?} {time}");
        }
    }

    /// Where nothing goes in the other direction, the last device begins only when something has come through.
    #[test]
    fn a_direction_without_microbatches_leads_through_no_device() {
        let placement = Placement::bidirectional(2).expect("a placement");
        let head = |microbatches| {
            let model = Model::equal_stages(placement.clone(), microbatches, [3, 4, 2, 1]).expect("a model");
            lengths(&Paths::new(&model), Device(1), Objective::Makespan).head
        };
        assert_eq!([1, 2].map(head), [Ticks(3 + 1), Ticks(0)]);
    }

    #[test]
    fn what_a_device_can_do_at_once_is_whole_passes() {
        let placement = Placement::linear(2).expect("a placement");
        let unit = Model::equal_stages(placement.clone(), 9, [10, 1, 1, 0]).expect("a model");
        let fill = |capacity: i64| {
            let memory = Memory {
                activation: vec![Units(3); 2],
                capacity: vec![Some(Units(capacity)); 2],
                ..unit.memory().clone()
            };
            let model =
                Model::new("test".to_owned(), None, placement.clone(), 9, unit.costs().clone(), memory);
            forward_fill(&model.expect("a model"), Device(0))
        };
        // By memory alone 8 units would carry 26 ticks.
        assert_eq!([2, 3, 8, 9].map(fill), [0, 10, 20, 30].map(Ticks));
        assert_eq!(fill(1000), Ticks(90), "nine microbatches");
    }
}
