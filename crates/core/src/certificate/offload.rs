//! **Offload bound.** What the memory of a device cannot hold goes to the host, and every copy takes its time.
//!
//! Let a microbatch hold at least A of memory times time on a device as long as nothing is offloaded. Let the offload of an
//! activation of stage s lower that by at most `g_s`, its *gain*. In a span T of the passes of the device, as many copies run as
//! fit into T on the copy engine to the host, and on that from it. With G(T) the most gain of so many, whole or in parts,
//!
//! ```text
//! m*A <= C*T + G(T)
//! ```
//!
//! for a capacity C. The right side grows with T, so the span is at least the least T for which this is true.
//!
//! The gain: let F, I be the durations of stage s, a its activation, of which `moved` goes to the host, and L the least time from
//! the start of F to the end of I. From the start of F the activation is whole until its copy to the host has ended, and from
//! the start of its copy back to the end of I: for at least `H = F + to_host + from_host + I`. Between, `a - moved` is left. So it
//! holds at least `(a - moved)*max(L, H) + moved*H`.
//!
//! The room of an engine: no copy to the host starts before some F has ended, and each is followed by a copy back, an I and its
//! W; no copy back starts before an F and a copy to the host, and an I and its W follow it.

use num_integer::Integer;

use super::path::Paths;
use super::reason::{Bound, BoundReason, Objective};
use crate::model::{Device, Kind, Model, Offload, Stage, Ticks, Units};

/// The bound of a device. `model` is the one with offloading, and the paths are those of its [relaxation](super::relaxed).
pub(super) fn bound(model: &Model, paths: &Paths<'_>, device: Device, objective: Objective) -> Option<Bound> {
    let offload = model.offload()?;
    let capacity = model.activation_capacity(device).filter(|&capacity| capacity > Units::ZERO)?;
    let lowest = *model.placement().stages_of(device).iter().min()?;
    let head = match objective {
        Objective::Makespan => paths.forward_head(lowest),
        Objective::DeviceSpan => Ticks::ZERO,
    };
    let span = span(model, offload, paths, device, capacity)?;
    let value = head.checked_add(span)?.checked_add(paths.device_tail(device))?;
    Some(Bound { value, reason: BoundReason::Offload { device } })
}

/// What offloading can do for an activation of a stage.
struct Gain {
    /// By how much less area it holds, at the most.
    area: i128,
    /// How long its copies take, by engine: to the host, and from it.
    times: [i64; 2],
}

/// The least span of the passes of a device.
fn span(
    model: &Model,
    offload: &Offload,
    paths: &Paths<'_>,
    device: Device,
    capacity: Units,
) -> Option<Ticks> {
    let stages = model.placement().stages_of(device);
    let microbatches = i128::from(model.microbatches());
    let (mut area, mut gains) = (0_i128, Vec::new());
    for &stage in stages {
        let at_least = Held::new(model, offload, paths, stage);
        area = area.checked_add(at_least.kept)?;
        let times = [offload.to_host[stage.index()].0, offload.from_host[stage.index()].0];
        gains.push(Gain { area: (at_least.kept - at_least.offloaded).max(0), times });
        // What W needs stays from I to W.
        let duration = paths.model().duration(stage, Kind::W);
        area = area.checked_add(product(paths.model().retained_for_weight(stage), duration))?;
    }
    let area = area.checked_mul(microbatches)?;
    let around = around(paths.model(), offload, stages);
    let is_enough = |span: i64| -> Option<bool> {
        let mut gain = None;
        for engine in [0, 1] {
            let room = i128::from(span.saturating_sub(around[engine].0).max(0));
            let most = most_gain(&gains, engine, room, microbatches)?;
            gain = Some(gain.map_or(most, |least: i128| least.min(most)));
        }
        Some(i128::from(capacity.0).checked_mul(i128::from(span))?.checked_add(gain?)? >= area)
    };
    let (mut least, mut most) = (0, i64::try_from(Integer::div_ceil(&area, &i128::from(capacity.0))).ok()?);
    while least < most {
        let middle = i64::midpoint(least, most);
        if is_enough(middle)? { most = middle } else { least = middle + 1 }
    }
    Some(Ticks(least))
}

/// The least memory times time that a microbatch holds of a stage until the end of its I.
struct Held {
    /// Where it stays on the device, recomputed or not.
    kept: i128,
    /// Where it is offloaded.
    offloaded: i128,
}

impl Held {
    fn new(model: &Model, offload: &Offload, paths: &Paths<'_>, stage: Stage) -> Self {
        let duration = |kind| paths.model().duration(stage, kind);
        let (forward, input) = (duration(Kind::F), duration(Kind::I));
        let life = paths.input_head(stage) + input - paths.forward_head(stage);
        let (whole, moved) = (model.activation(stage), model.moved(stage));
        let mut kept = product(whole, life);
        for level in 0..model.recompute_levels() {
            let checkpoint = model.checkpoint_at(stage, level).unwrap_or(whole);
            let again = model.recompute_duration(stage, level) + input;
            kept = kept.min(product(checkpoint, life) + product(whole - checkpoint, again));
        }
        let at = stage.index();
        let here = forward + offload.to_host[at] + offload.from_host[at] + input;
        Self { kept, offloaded: product(whole - moved, life.max(here)) + product(moved, here) }
    }
}

/// What is left of a span for copies to the host, and for copies from it, is shorter by this.
pub(super) fn around(model: &Model, offload: &Offload, stages: &[Stage]) -> [Ticks; 2] {
    let least = |time: &dyn Fn(Stage) -> Ticks| {
        stages.iter().map(|&stage| time(stage)).min().expect("a device holds a stage")
    };
    let forward = |stage| model.duration(stage, Kind::F);
    let backward = |stage| model.duration(stage, Kind::I) + model.duration(stage, Kind::W);
    [
        least(&forward) + least(&|stage| offload.from_host[stage.index()] + backward(stage)),
        least(&|stage| forward(stage) + offload.to_host[stage.index()]) + least(&backward),
    ]
}

/// The most gain of copies that fit into the room of an engine, if parts of copies count; rounded down, as a schedule has whole
/// ones. Nothing where a number does not fit.
fn most_gain(gains: &[Gain], engine: usize, mut room: i128, microbatches: i128) -> Option<i128> {
    let gains = gains.iter().map(|gain| (gain.area, i128::from(gain.times[engine])));
    let mut sorted: Vec<(i128, i128)> = gains.filter(|&(area, _)| area > 0).collect();
    let largest = |part: &dyn Fn(&(i128, i128)) -> i128| sorted.iter().map(part).max().unwrap_or_default();
    largest(&|gain| gain.0).checked_mul(largest(&|gain| gain.1))?;
    // The most gain for its time first: what takes none comes before all else.
    sorted.sort_by(|(area, time), (other, longer)| (other * time).cmp(&(area * longer)));
    let mut gained = 0_i128;
    for (area, time) in sorted {
        let all = time.checked_mul(microbatches)?;
        if all <= room {
            gained = gained.checked_add(area.checked_mul(microbatches)?)?;
            room -= all;
        } else {
            return gained.checked_add(Integer::div_floor(&area.checked_mul(room)?, &time));
        }
    }
    Some(gained)
}

/// Memory times time.
fn product(units: Units, time: Ticks) -> i128 {
    i128::from(units.0) * i128::from(time.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Costs, Memory, Placement, Recompute, RecomputeLevel};

    fn gain(room: i128, microbatches: i128, gains: &[(i128, i64)]) -> Option<i128> {
        let gains: Vec<Gain> = gains.iter().map(|&(area, time)| Gain { area, times: [time, 0] }).collect();
        most_gain(&gains, 0, room, microbatches)
    }

    #[test]
    fn copies_gain_the_most_for_their_time_first() {
        assert_eq!(gain(10, 3, &[]), Some(0));
        // Two copies of the first in 4 ticks, and one of the second in what is left.
        assert_eq!(gain(5, 2, &[(10, 2), (3, 1)]), Some(23));
        assert_eq!(gain(5, 2, &[(3, 1), (10, 2)]), Some(23));
        // Two thirds of the second one, rounded down.
        assert_eq!(gain(6, 1, &[(10, 4), (5, 3)]), Some(13));
        // What takes no time comes before what gains more.
        assert_eq!(gain(2, 1, &[(5, 3), (1, 0)]), Some(4));
        // More for its time, though neither more nor faster by itself.
        assert_eq!(gain(4, 1, &[(10, 5), (9, 4)]), Some(9));
        assert_eq!(gain(4, 1, &[(9, 4), (10, 5)]), Some(9));
        // What gains nothing is nowhere among them.
        assert_eq!(gain(1, 1, &[(1, 1), (0, 0), (5, 1)]), Some(5));
    }

    /// Two stages on two devices, so that a microbatch is away from the first for 1 + 10 + 1 ticks and longer.
    fn model(checkpoint: Option<i64>) -> Model {
        let model =
            Model::equal_stages(Placement::linear(2).expect("a placement"), 4, [1; 4]).expect("a model");
        let ticks = |list: [i64; 2]| list.map(Ticks).to_vec();
        let costs = Costs {
            forward: ticks([3, 5]),
            backward_input: ticks([4, 6]),
            backward_weight: ticks([2, 7]),
            communication: vec![Ticks(10)],
            ..model.costs().clone()
        };
        let memory = Memory {
            activation: vec![Units(20); 2],
            checkpoint: checkpoint.map(|units| vec![Units(units); 2]),
            ..model.memory().clone()
        };
        let name = "two".to_owned();
        Model::new(name, None, model.placement().clone(), 4, costs, memory).expect("a model")
    }

    fn copies(to_host: [i64; 2], from_host: [i64; 2]) -> Offload {
        let ticks = |list: [i64; 2]| list.map(Ticks).to_vec();
        Offload { moved: vec![Units(12); 2], to_host: ticks(to_host), from_host: ticks(from_host) }
    }

    #[test]
    fn an_activation_is_held_for_no_longer_than_its_stage_and_its_copies_need() {
        let held = |checkpoint, offload: &Offload| {
            let model = model(checkpoint).with_offload(Some(offload.clone())).expect("a model");
            let held = Held::new(&model, offload, &Paths::new(&model), Stage(0));
            (held.kept, held.offloaded)
        };
        // 3 + 10 + 5 + 6 + 10 + 4 = 38 ticks from the start of F to the end of I. With copies, 8 units are there for all of
        // them, and 12 for 3 + 5 + 6 + 4.
        let quick = copies([5, 1], [6, 1]);
        assert_eq!(held(None, &quick), (20 * 38, 8 * 38 + 12 * 18));
        // Recomputed, 2 units are there for all of them, and the other 18 for R and I.
        assert_eq!(held(Some(2), &quick), (2 * 38 + 18 * 7, 8 * 38 + 12 * 18));
        // Copies that take longer than the way up and down: 3 + 20 + 20 + 4.
        assert_eq!(held(None, &copies([20, 1], [20, 1])), (20 * 38, 8 * 47 + 12 * 47));
    }

    #[test]
    fn an_activation_that_stays_holds_the_least_that_it_holds_at_any_level() {
        let kept = |levels: &[(i64, Option<i64>)]| {
            let levels = levels.iter().map(|&(checkpoint, duration)| RecomputeLevel {
                checkpoint: vec![Units(checkpoint); 2],
                duration: duration.map(|ticks| vec![Ticks(ticks); 2]),
            });
            let recompute = Recompute { levels: levels.collect(), fused: false };
            let model = model(None).with_recompute(Some(recompute)).expect("a model");
            let offload = copies([5, 1], [6, 1]);
            let model = model.with_offload(Some(offload.clone())).expect("a model");
            Held::new(&model, &offload, &Paths::new(&model), Stage(0)).kept
        };
        // For 38 ticks what F keeps, and the rest for R and an I of 4 ticks. An R that follows F takes 3.
        assert_eq!(kept(&[(2, Some(9))]), 2 * 38 + 18 * 13);
        assert_eq!(kept(&[(2, Some(9)), (6, None)]), 2 * 38 + 18 * 13);
        assert_eq!(kept(&[(2, Some(20)), (6, None)]), 6 * 38 + 14 * 7);
        assert_eq!(kept(&[(6, None), (2, Some(20))]), 6 * 38 + 14 * 7);
        // An R that takes as long as F is away keeps all of it.
        assert_eq!(kept(&[(2, Some(40))]), 20 * 38);
    }

    #[test]
    fn copies_have_no_time_before_the_first_forward_and_after_the_last_backward_of_a_device() {
        let model = model(None);
        let around = |stages: &[Stage]| around(&model, &copies([20, 30], [40, 5]), stages);
        // F, copy, and copy back, I and W.
        assert_eq!(around(&[Stage(0)]), [3 + 40 + 6, 3 + 20 + 6].map(Ticks));
        assert_eq!(around(&[Stage(1)]), [5 + 5 + 13, 5 + 30 + 13].map(Ticks));
        // Of several stages, that with the least.
        assert_eq!(around(&[Stage(0), Stage(1)]), [3 + 5 + 13, 3 + 20 + 6].map(Ticks));
    }
}
