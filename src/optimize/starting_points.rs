//! What the search starts from: building blocks, orders of forwards to schedule along, and limits to do it in.

use std::num::NonZeroUsize;

use num_rational::Ratio;

use super::block::BlockEngine;
use super::block::solvers::short_interval_by_lcg;
use super::periodic::{Effort, Several};
use super::{Stop, zone};
use crate::block::{Block, Passes};
use crate::certificate::interval_bound;
use crate::encode::CheckedBlock;
use crate::kernel::{IndexedOrders, IndexedPass, IndexedProblem, class};
use crate::model::{Device, Kind, Model, Shape, Stage, Units};

/// Blocks of one microbatch per interval and least interval within shares of the capacities, with what found them; within each share
/// the one of shortest interval first. Where the exact program cannot follow the placement, a solver gives one of a short interval for
/// each share. What a tighter capacity gives is good for a
/// looser one too, and its shorter warm-up may make up for a longer interval. Where the model has
/// checkpoints, there are blocks in which every stage recomputes, too.
pub(super) fn blocks(model: &Model, shares: &[Share], stop: &Stop) -> Vec<(String, Block)> {
    let is_exact = zone::is_applicable(model.placement());
    let mut found: Vec<(String, Block)> = Vec::new();
    for share in shares {
        let Some(scaled) = within_share(model, *share) else { continue };
        // A share of a small capacity, or of none, may be all of it, whose block is known.
        if share.0 != share.1 && scaled == *model {
            continue;
        }
        if stop.is_due() {
            break;
        }
        if !is_exact {
            let solved = by_solver(&scaled, stop);
            found.extend(solved.filter(|(_, block)| found.iter().all(|(_, known)| known != block)));
            continue;
        }
        let again = Passes { recompute: true, ..Passes::SPLIT };
        let passes =
            std::iter::once(Passes::SPLIT).chain(model.memory().checkpoint.is_some().then_some(again));
        let least = |passes: Passes| {
            let best = zone::short_interval(&scaled, passes, stop).ok()?;
            // Checkpoints hold so little that nothing else keeps a microbatch from taking many intervals.
            if passes.recompute { zone::soonest_done(&scaled, passes, best, stop).ok() } else { Some(best) }
        };
        let mut best: Vec<CheckedBlock> = passes.filter_map(least).collect();
        best.sort_by_key(|best| best.interval);
        for CheckedBlock { block, .. } in best {
            if found.iter().all(|(_, known)| *known != block) {
                found.push(("exact".to_owned(), block));
            }
        }
    }
    found
}

/// Blocks of several microbatches per interval that need less time for each than `shortest`, with
/// what found them. A schedule of few microbatches is hardly ever in its steady phase.
pub(super) fn periodic_blocks(
    model: &Model,
    several: &mut Option<Several>,
    shortest: Ratio<i64>,
    effort: Effort,
    threads: NonZeroUsize,
    stop: &Stop,
) -> Vec<(String, Block)> {
    let few = model.microbatches() < model.devices().max(2 * MOST_PERIOD);
    if few || model.stages() > MOST_PERIODIC_STAGES {
        return Vec::new();
    }
    if several.is_none() {
        *several = Several::new(model, shortest, effort, stop);
    }
    let shorter =
        several.as_ref().map(|several| several.shorter(model, shortest, MOST_PERIOD, effort, threads, stop));
    shorter
        .into_iter()
        .flatten()
        .map(|answer| (format!("periodic {}", answer.block.period()), answer.block))
        .collect()
}

/// The most microbatches per interval of a block that is looked for.
pub(super) const MOST_PERIOD: u32 = 3;

/// The most stages for which blocks of several microbatches per interval are looked for.
pub(super) const MOST_PERIODIC_STAGES: u32 = 32;

/// A share of a capacity: numerator and denominator.
pub(super) type Share = (i128, i128);

/// The model with this share of its capacities.
pub(super) fn within_share(model: &Model, share: Share) -> Option<Model> {
    let scaled = |device| {
        let capacity = model.activation_capacity(device)?;
        Some(Units(i64::try_from(i128::from(capacity.0) * share.0 / share.1).unwrap_or(capacity.0)))
    };
    model.with_activation_capacity(Device::all(model.devices()).map(scaled).collect()).ok()
}

/// The shares of the capacities for which blocks are looked for, all of them first.
pub(super) const SHARES: [Share; 4] = [(1, 1), (7, 8), (3, 4), (2, 3)];

/// Shares of the capacities that are more than all of them, for blocks to be [thinned](super::thinned).
pub(super) const ROOMIER: [Share; 6] = [(33, 32), (17, 16), (9, 8), (5, 4), (3, 2), (2, 1)];

/// The growths of [uniform] offsets that are tried, those that fit the first device's capacity best first: a family holds a
/// share of 1F1B's memory in proportion to its growth, all of it at three. The forwards of a single stage have one order.
pub(super) fn growths(model: &Model) -> Vec<Ratio<i64>> {
    if model.placement().shape() == Shape::Linear {
        return vec![Ratio::from_integer(1)];
    }
    let first = model.placement().stages_of(Device(0));
    let whole = i64::from(model.devices())
        .saturating_mul(first.iter().map(|&stage| model.activation(stage).0).sum::<i64>());
    let fitting = match model.activation_capacity(Device(0)) {
        Some(capacity) if whole > 0 => 12_i64.saturating_mul(capacity.0) / whole,
        _ => 12,
    };
    let mut growths: Vec<i64> = (4..=16).collect();
    growths.sort_by_key(|quarters| (quarters - fitting).abs());
    growths.into_iter().map(|quarters| Ratio::new(quarters, 4)).collect()
}

/// Orders of forwards as in a block with uniform offsets: from stage to stage the forward takes
/// `growth` times as long as it must, so that the lifespans of the stages of a device grow with it. For
/// V placement these are the paper's families: V-Min at 1, V-Half at 3/2, V-ZB at 3 (arXiv 2405.15362,
/// Table 1).
pub(super) fn uniform(model: &Model, problem: &IndexedProblem, growth: Ratio<i64>) -> IndexedOrders {
    let interval = interval_bound(model).ceil().to_integer();
    // When the forward of each stage starts; a turn within a device takes no longer than it must.
    let mut starts = vec![0_i128; model.stages() as usize];
    for stage in Stage::all(model.stages() - 1) {
        let step = i128::from((model.duration(stage, Kind::F) + model.latency_after(stage)).0);
        let placement = model.placement();
        let turn = placement.device_of(stage) == placement.device_of(Stage(stage.0 + 1));
        let step = if turn {
            step * 4
        } else {
            step * 4 * i128::from(*growth.numer()) / i128::from(*growth.denom())
        };
        starts[stage.index() + 1] = starts[stage.index()] + step;
    }
    let order = |device| {
        let mut timed: Vec<(i128, IndexedPass)> = Vec::new();
        for &stage in model.placement().stages_of(device) {
            timed.extend((0..problem.microbatches()).map(|microbatch| {
                let start = starts[stage.index()] + 4 * i128::from(microbatch) * i128::from(interval);
                (start, IndexedPass { class: class(stage.0, Kind::F), microbatch })
            }));
        }
        timed.sort_unstable();
        timed.into_iter().map(|(_, item)| item).collect()
    };
    Device::all(model.devices()).map(order).collect()
}

/// Limits to list schedules in, one per device: the capacities first, then less, the same for all devices
/// or less and less towards the last one, which needs the least.
pub(super) fn limits(model: &Model, problem: &IndexedProblem) -> Vec<Vec<i64>> {
    let devices = i64::from(model.devices());
    let held = |device: usize| -> i64 {
        problem.on_device(device).iter().map(|&class| problem.class(class).held.max(0)).sum()
    };
    // More than twice what 1F1B holds is never of use.
    let most: Vec<i64> = (0..problem.limits.len())
        .map(|device| problem.limits[device].min(held(device).saturating_mul(2 * devices)))
        .collect();
    let profiles = [(8, 8), (7, 8), (6, 8), (5, 8), (4, 8), (8, 4), (6, 3), (4, 2), (4, 1)];
    let mut all: Vec<Vec<i64>> = Vec::new();
    for (first, last) in profiles {
        let limit = |device: usize| {
            let behind = devices - 1 - i64::try_from(device).expect("devices are counted in 32 bits");
            let span = (devices - 1).max(1);
            let share = i128::from(first * behind + last * (span - behind));
            let scaled = i128::from(most[device]) * share / i128::from(8 * span);
            i64::try_from(scaled).unwrap_or(most[device]).max(held(device).min(most[device]))
        };
        let limits: Vec<i64> = (0..most.len()).map(limit).collect();
        if !all.contains(&limits) {
            all.push(limits);
        }
    }
    all
}

/// A block of a short interval, where the exact program cannot follow the placement, and what found it.
fn by_solver(model: &Model, stop: &Stop) -> Option<(String, Block)> {
    if model.stages() > MOST_STAGES {
        return None;
    }
    let best = short_interval_by_lcg(model, 1, None, LCG_EFFORT, stop)?;
    Some((BlockEngine::Lcg.to_string(), best.block))
}

/// The most stages whose block is looked for by a solver.
const MOST_STAGES: u32 = 64;

/// The effort that is spent on it: about as many microseconds. A limit in seconds alone would make what is found depend on the machine.
const LCG_EFFORT: u64 = 500_000;
