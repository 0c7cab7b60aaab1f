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
    let around = around(offload, paths, stages);
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
        if let Some(checkpoint) = model.checkpoint(stage) {
            let recomputed = product(checkpoint, life) + product(whole - checkpoint, forward + input);
            kept = kept.min(recomputed);
        }
        let at = stage.index();
        let here = forward + offload.to_host[at] + offload.from_host[at] + input;
        Self { kept, offloaded: product(whole - moved, life.max(here)) + product(moved, here) }
    }
}

/// What is left of a span for copies to the host, and for copies from it, is shorter by this.
fn around(offload: &Offload, paths: &Paths<'_>, stages: &[Stage]) -> [Ticks; 2] {
    let least = |time: &dyn Fn(Stage) -> Ticks| {
        stages.iter().map(|&stage| time(stage)).min().expect("a device holds a stage")
    };
    let forward = |stage| paths.model().duration(stage, Kind::F);
    let backward = |stage| paths.model().duration(stage, Kind::I) + paths.model().duration(stage, Kind::W);
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
