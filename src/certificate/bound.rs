//! Lower bounds on makespan, device span and interval.
//!
//! **Window bound.** Let `U1` be the most work a device can do in its first `t1` ticks and `U2` the
//! most in its last `t2`. If all its work is more than `U1 + U2`, the two windows do not overlap,
//! the device idles at least `t1 - U1` in the first and `t2 - U2` in the last, and the span is at
//! least `work + (t1 - U1) + (t2 - U2)`. Without the condition the statement is false: two devices
//! with V placement, one microbatch, two units of memory and unit times need 9 ticks, the formula
//! says 11.
//!
//! Each window is taken in two ways: up to the head (or from the tail) of the device, where it can do
//! nothing; or up to the first backward (from the last forward) it can meet, where it can do nothing
//! but forwards (backwards), as many as its memory holds. On the last device of a V placement with
//! equal stages and no latency this is
//! `m*work + (d-1)tF + [(d+1)tF + (d-1)tI - M*tF]+ + [(d-1)tF + 2d*tI + tW - M*(tI+tW)]+`, at unit
//! times the `6n+6p-3k-1` of arXiv 2405.15362, Figure 13.
//!
//! **Turnover bound.** Let a device hold at most `q` microbatches of its highest stage's kind at once:
//! of `v` stages, each holding something at least, at most `M` are live, and `q = floor(M/v)`. When
//! the forward of the highest stage starts for the (k+q)-th time (from 0), at least `v*(k+q+1)`
//! forwards of the device have started, so at least `v*k+1` of what they hold has been released, so
//! at least `k+1` by one of the stages; one of these microbatches was not before the k-th to start
//! its forward on the highest stage. Every release of it comes at least a turn P after that forward:
//! through the last stage and back. Hence `start(k+q) >= start(k) + P`, and the last of `m` starts at
//! least `floor((m-1)/q)*P` and `(m-1) mod q` forwards after the first. Windows say nothing about the
//! steady phase, so this one is better where memory is short.
//!
//! **Area bound.** What every microbatch holds for how long at the least, added up, fits into the cap
//! times the span of the device.
//!
//! A full backward B is an I with its W right behind it, and recomputation only adds passes and
//! shrinks what F holds; so the bounds, which allow I and W apart and count F with what it holds at
//! least, hold for schedules with B and R as well.

use num_integer::Integer;
use num_rational::Ratio;

use super::path::{Paths, critical_path};
use crate::model::{Device, Kind, Model, Stage, Ticks, Units};

/// What is bounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    /// The last end over all devices.
    Makespan,
    /// The largest, over devices, of last end minus first start.
    DeviceSpan,
}

/// A stretch of time at the beginning or the end of a device's span.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Window {
    /// How long it is.
    pub length: Ticks,
    /// The most work that fits into it.
    pub work: Ticks,
}

impl Window {
    /// The least idle time in it.
    #[must_use]
    pub fn idle(self) -> Ticks {
        self.length - self.work
    }
}

/// A lower bound and what it rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bound {
    /// No schedule is shorter.
    pub value: Ticks,
    /// Why.
    pub reason: Reason,
}

/// What a lower bound rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// One microbatch alone takes as long.
    Alone,
    /// A device has so much work, and idle time in a window at the beginning and one at the end.
    Windows {
        /// The device.
        device: Device,
        /// Its work over all microbatches.
        work: Ticks,
        /// The window at the beginning.
        first: Window,
        /// The window at the end.
        last: Window,
    },
    /// A device has room for so few microbatches that each waits for the turn of an earlier one.
    Turnover {
        /// The device.
        device: Device,
        /// How many microbatches it holds at most, q.
        held: i64,
        /// From the start of the highest stage's forward to the first release after it, P.
        turn: Ticks,
    },
    /// What a device must hold, and for how long, fills its memory for at least its span.
    Area {
        /// The device.
        device: Device,
    },
}

/// The best of the bounds of this module on a metric, for the model's microbatches and caps.
#[must_use]
pub fn lower_bound(model: &Model, metric: Metric) -> Bound {
    let paths = Paths::new(model);
    let alone = match metric {
        Metric::Makespan => critical_path(model),
        Metric::DeviceSpan => Ticks::ZERO,
    };
    let alone = Bound { value: alone, reason: Reason::Alone };
    Device::all(model.devices())
        .flat_map(|device| {
            let mut bounds = window_bounds(model, &paths, device, metric);
            bounds.extend(turnover_bounds(model, &paths, device, metric));
            bounds.extend(area_bound(model, &paths, device, metric));
            bounds
        })
        .fold(alone, |best, bound| if bound.value > best.value { bound } else { best })
}

/// The window bounds of one device, one for each choice of windows that cannot overlap.
fn window_bounds(model: &Model, paths: &Paths<'_>, device: Device, metric: Metric) -> Vec<Bound> {
    let work = model.work(device) * i64::from(model.microbatches());
    let stages = model.placement().stages_of(device);
    let lowest = *stages.iter().min().expect("a device holds a stage");
    let highest = *stages.iter().max().expect("a device holds a stage");
    // The lowest stage's F is the first pass of every microbatch on the device; the highest stage's
    // I is the first backward. No F ends later than `from_last_forward` before the end.
    let (head, to_first_input, from_last_forward) = match metric {
        Metric::Makespan => {
            (paths.forward_head(lowest), paths.input_head(highest), paths.forward_tail(highest))
        }
        Metric::DeviceSpan => (
            Ticks::ZERO,
            paths.input_head(highest) - paths.forward_head(lowest),
            stages.iter().map(|&to| paths.forward_to_weight(highest, to)).max().unwrap_or_default(),
        ),
    };
    // Without its Ws the device ends with an I, and at the least what follows that comes after.
    let microbatches = i64::from(model.microbatches());
    let weights: Ticks = stages.iter().map(|&stage| model.duration(stage, Kind::W)).sum();
    let after_last_input = match metric {
        Metric::Makespan => stages.iter().map(|&stage| paths.input_tail(stage)).min(),
        Metric::DeviceSpan => stages.iter().map(|&stage| model.duration(stage, Kind::W)).min(),
    };
    let first = Window { length: head, work: Ticks::ZERO };
    let last = Window { length: after_last_input.unwrap_or_default(), work: Ticks::ZERO };
    let work_without_weights = work - weights * microbatches;
    let without_weights = Bound {
        value: work_without_weights + first.idle() + last.idle(),
        reason: Reason::Windows { device, work: work_without_weights, first, last },
    };
    let forwards = forward_fill(model, device).min(to_first_input - head);
    let backwards = backward_fill(model, device).min(from_last_forward);
    let firsts =
        [Window { length: head, work: Ticks::ZERO }, Window { length: to_first_input, work: forwards }];
    let lasts = [Window::default(), Window { length: from_last_forward, work: backwards }];
    firsts
        .into_iter()
        .flat_map(|first| lasts.into_iter().map(move |last| (first, last)))
        .filter(|(first, last)| work > first.work + last.work)
        .map(|(first, last)| Bound {
            value: work + first.idle() + last.idle(),
            reason: Reason::Windows { device, work, first, last },
        })
        .chain([without_weights])
        .collect()
}

/// The bounds from how few microbatches a device holds, counted until their W ends and until their I
/// ends.
fn turnover_bounds(model: &Model, paths: &Paths<'_>, device: Device, metric: Metric) -> Vec<Bound> {
    let Some(capacity) = model.capacity(device) else { return Vec::new() };
    let stages = model.placement().stages_of(device);
    let lowest = *stages.iter().min().expect("a device holds a stage");
    let highest = *stages.iter().max().expect("a device holds a stage");
    let forward = model.duration(highest, Kind::F);
    let to_weight = |&to: &Stage| forward + paths.forward_to_weight(highest, to);
    let to_input = |to: &Stage| to_weight(to) - model.duration(*to, Kind::W);
    let until_weight = |&stage: &Stage| least_held(model, stage).min(model.retained_for_weight(stage));
    let until_input = |&stage: &Stage| least_held(model, stage);
    let counts = [
        (stages.iter().map(until_weight).min(), stages.iter().map(to_weight).min()),
        (stages.iter().map(until_input).min(), stages.iter().map(to_input).min()),
    ];
    let chunks = i64::try_from(stages.len()).expect("a device holds few stages");
    let (head, tail) = match metric {
        Metric::Makespan => (paths.forward_head(highest), paths.forward_tail(highest)),
        Metric::DeviceSpan => (
            paths.forward_head(highest) - paths.forward_head(lowest),
            stages.iter().map(|&to| paths.forward_to_weight(highest, to)).max().unwrap_or_default(),
        ),
    };
    let later = i64::from(model.microbatches()) - 1;
    counts
        .into_iter()
        .filter_map(|(holds, turn)| {
            let (holds, turn) = (holds.filter(|&units| units > Units::ZERO)?, turn?);
            let held = capacity.0 / holds.0 / chunks;
            if held == 0 {
                return None;
            }
            // At most all microbatches' own critical paths and forwards: no sum overflows.
            let value = head + turn * (later / held) + forward * (later % held + 1) + tail;
            Some(Bound { value, reason: Reason::Turnover { device, held, turn } })
        })
        .collect()
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

/// The least that a microbatch holds of a stage between F and the start of its backward.
fn least_held(model: &Model, stage: Stage) -> Units {
    model.checkpoint(stage).unwrap_or_else(|| model.activation(stage))
}

/// At least the work of any collection of items that the device's memory holds at once. `all` is the
/// work of one microbatch, which every microbatch does at most once.
fn fill(model: &Model, device: Device, items: &[Item], all: Ticks) -> Ticks {
    let microbatches = i64::from(model.microbatches());
    let total = all * microbatches;
    let Some(capacity) = model.capacity(device) else { return total };
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

/// The bound from the memory that a device fills: its span is at least all areas over its cap.
fn area_bound(model: &Model, paths: &Paths<'_>, device: Device, metric: Metric) -> Option<Bound> {
    let capacity = model.capacity(device).filter(|&capacity| capacity > Units::ZERO)?;
    let lowest = *model.placement().stages_of(device).iter().min()?;
    let head = match metric {
        Metric::Makespan => paths.forward_head(lowest),
        Metric::DeviceSpan => Ticks::ZERO,
    };
    let areas = area(model, paths, device).checked_mul(i128::from(model.microbatches()))?;
    let span = i64::try_from(Integer::div_ceil(&areas, &i128::from(capacity.0))).ok()?;
    Some(Bound { value: head.checked_add(Ticks(span))?, reason: Reason::Area { device } })
}

/// What one microbatch holds on a device, times for how long at the least.
fn area(model: &Model, paths: &Paths<'_>, device: Device) -> i128 {
    let stages = model.placement().stages_of(device).iter();
    stages
        .map(|&stage| {
            let forward = model.duration(stage, Kind::F);
            let input = model.duration(stage, Kind::I);
            let to_input = paths.input_head(stage) + input - paths.forward_head(stage);
            // With recomputation only the checkpoint lives that long; the rest lives through R and I.
            let long = least_held(model, stage);
            let rest = model.activation(stage) - long;
            let retained = model.retained_for_weight(stage);
            let weight = model.duration(stage, Kind::W);
            i128::from(long.0) * i128::from(to_input.0)
                + i128::from(rest.0) * i128::from((forward + input).0)
                + i128::from(retained.0) * i128::from(weight.0)
        })
        .sum()
}

/// A lower bound on the interval per microbatch of every schedule that repeats, under the caps.
///
/// The most work of any device; and the **area bound**: while one microbatch enters and one leaves
/// per interval, the memory in use on a device averages `sum_s activation_s * lifespan_s / T`, and
/// lifespans are at least the critical path from F to its backward.
#[must_use]
pub fn interval_bound(model: &Model) -> Ratio<i64> {
    let paths = Paths::new(model);
    let by_area = Device::all(model.devices()).filter_map(|device| {
        let capacity = model.capacity(device).filter(|&capacity| capacity > Units::ZERO)?;
        let least = Ratio::new(area(model, &paths, device), i128::from(capacity.0));
        Some(Ratio::new(i64::try_from(*least.numer()).ok()?, i64::try_from(*least.denom()).ok()?))
    });
    by_area.fold(Ratio::from_integer(model.most_work().0), Ratio::max)
}
