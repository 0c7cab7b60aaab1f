//! The adaptive scheduler of Pipeline Parallelism with Controllable Memory (arXiv 2405.15362, Appendix A): for a memory limit
//! it takes, of all blocks with [uniform offsets](offsets), the one whose schedule is shortest.
//!
//! What it leaves out is what the paper leaves out: blocks are made of passes of one tick, repeat every six ticks, and change
//! their offsets once along the devices at most. [`optimize`](crate::optimize) is not bound to them. Beyond the paper, the
//! shortest few are improved on the real costs, as all other V schedules of the catalogue are.

mod offsets;
mod rearrange;

use std::cmp::Reverse;

use super::improve::{Improver, Measured};
use crate::kernel::{IndexedOrders, IndexedProblem, IndexedSchedule};
use crate::model::{Device, Model, Units};
use crate::stop::Stop;
use offsets::{Offsets, Starts};

/// Blocks are looked at that hold the most chunks that the limit allows, and those that hold one less than that.
const LEVELS: usize = 2;

/// How many candidates are improved to the end.
const FINALISTS: usize = 3;

/// V-adaptive: the shortest of the schedules that blocks with uniform offsets give within the capacities of the model, and within
/// the memory of 1F1B, 2d chunks, at most.
///
/// At unit times, with k chunks and 2d microbatches or more, no schedule of the V takes less than `6m + max(0, 6d-3k-1)` ticks
/// from the first start to the last end of a device (the paper's Figure 13), and this one takes no longer, but for one tick at
/// k = 2d-1.
///
/// Where no block fits it is that of the least memory, and [`generate`](super::Entry::generate) refuses it. When it is time to
/// stop, it is the first that fits.
pub(super) fn v_adaptive(model: &Model, stop: &Stop) -> IndexedSchedule {
    let most = 2 * i64::from(model.devices());
    let mut blocks: Vec<(i64, Offsets)> = Offsets::all(model.devices())
        .filter_map(|offsets| Some((offsets::chunks(&offsets.starts(model.devices())?), offsets)))
        .filter(|&(chunks, _)| chunks <= most)
        .collect();
    blocks.sort_by_key(|&(chunks, _)| Reverse(chunks));
    let fits = |starts: &[Starts]| {
        Device::all(model.devices()).zip(starts).all(|(device, starts)| {
            let capacity = model.activation_capacity(device);
            capacity.is_none_or(|capacity| offsets::held(model, device, starts) <= capacity)
        })
    };
    let mut candidates: Vec<Measured> = Vec::new();
    let (mut level, mut levels) = (most + 1, 0);
    let scheduler = Scheduler::new(model);
    let mut improver = Improver::new(&scheduler.problem, stop);
    for &(chunks, offsets) in &blocks {
        if (levels == LEVELS && chunks < level) || (stop.is_due() && !candidates.is_empty()) {
            break;
        }
        let starts = offsets.starts(model.devices()).expect("it was a block before");
        if !fits(&starts) {
            continue;
        }
        if chunks < level {
            (level, levels) = (chunks, levels + 1);
        }
        let orders = scheduler.schedule(&starts, chunks);
        candidates.extend(
            orders.filter(|orders| scheduler.problem.fits(orders)).map(|orders| improver.measured(orders)),
        );
    }
    candidates.sort_by_key(|candidate| candidate.length);
    candidates.dedup_by(|second, first| second.orders == first.orders);
    candidates.truncate(FINALISTS);
    let best = candidates
        .into_iter()
        .map(|candidate| if stop.is_due() { candidate } else { improver.improved(candidate.orders) })
        .min_by_key(|candidate| candidate.length);
    let orders = best.map_or_else(|| scheduler.least(&blocks), |best| best.orders);
    IndexedSchedule { orders, problem: scheduler.problem }
}

/// Makes schedules of a model from blocks.
struct Scheduler {
    /// The model's passes, within its capacities and within the memory of 1F1B.
    problem: IndexedProblem,
    /// The same passes, each of one tick.
    unit: IndexedProblem,
}

impl Scheduler {
    fn new(model: &Model) -> Self {
        let recomputed = vec![false; model.stages() as usize];
        let limits: Vec<Units> = Device::all(model.devices())
            .map(|device| {
                let stages = model.placement().stages_of(device).iter();
                let chunk = stages.map(|&stage| model.activation(stage)).max().unwrap_or_default();
                let limit = chunk * (2 * i64::from(model.devices()));
                model.activation_capacity(device).map_or(limit, |capacity| capacity.min(limit))
            })
            .collect();
        let unit = Model::unit(model.placement().clone(), model.microbatches())
            .expect("as many passes as the model has");
        Self {
            problem: IndexedProblem::split(model, &recomputed).within(&limits),
            unit: IndexedProblem::split(&unit, &recomputed),
        }
    }

    /// Repeat, squeeze, reorder: the copies of a block that holds so many chunks, with another warm-up and another cool-down; the
    /// bare copies where those do not run, or hold more.
    fn schedule(&self, starts: &[Starts], chunks: i64) -> Option<IndexedOrders> {
        rearrange::rearranged(&self.unit, starts, chunks).or_else(|| {
            let repeated = rearrange::repeated(starts, self.unit.microbatches());
            rearrange::runs(&self.unit, &repeated).then(|| rearrange::numbered(&repeated))
        })
    }

    /// The schedule of the block of least memory, whatever the limits are.
    fn least(&self, blocks: &[(i64, Offsets)]) -> IndexedOrders {
        let devices = u32::try_from(self.unit.limits.len()).expect("a model counts its devices so");
        let (chunks, offsets) = blocks.last().expect("V-Min has uniform offsets");
        let starts = offsets.starts(devices).expect("it was a block before");
        self.schedule(&starts, *chunks).expect("the copies of a block run")
    }
}

#[cfg(test)]
mod tests;
