//! Schedules for V placement, all from building blocks of unit-time passes.

use super::blocks;
use super::improve::{Improver, RUNS};
use crate::block::Block;
use crate::kernel::IndexedSchedule;
use crate::model::{Device, Model, Units};
use crate::stop::Stop;

/// 1F1B-V (Pipeline Parallelism with Controllable Memory, arXiv 2405.15362, Figure 16): V placement
/// with the backward in one piece.
///
/// Block: see [`block`](super::block). Memory: `ceil((4d+2)/3)` chunk activations, two thirds of
/// 1F1B's for large d. Bubble: about 6d units.
pub(super) fn one_f_one_b_v(model: &Model, stop: &Stop) -> IndexedSchedule {
    from_block(model, &blocks::one_f_one_b_v(model.placement()), stop)
}

/// V-Min (arXiv 2405.15362, Table 8): the least memory that a V block can do with at unit times.
///
/// Memory: `2*floor((d+4)/3)` chunk activations, one third of 1F1B's for large d. Bubble: about 4d
/// units; the steady phase takes `max(2S, 6F, 6I)` per microbatch, S = F+I+W, without latency.
pub(super) fn v_min(model: &Model, stop: &Stop) -> IndexedSchedule {
    from_block(model, &blocks::v_min(model.placement()), stop)
}

/// V-Half (arXiv 2405.15362, Table 9 and the authors' generator): half the memory of 1F1B.
///
/// Memory: `2*floor((d+2)/2)` chunk activations. Bubble: about 3d units; the steady phase takes
/// `max(2S, 4F+W, 4I+W)` per microbatch, S = F+I+W, without latency.
pub(super) fn v_half(model: &Model, stop: &Stop) -> IndexedSchedule {
    from_block(model, &blocks::v_half(model.placement()), stop)
}

/// V-ZB (arXiv 2405.15362, section 3.1): the memory of 1F1B and nearly no bubble.
///
/// Memory: 2d chunk activations. The steady phase takes 2S per microbatch, S = F+I+W, without
/// latency.
pub(super) fn v_zb(model: &Model, stop: &Stop) -> IndexedSchedule {
    from_block(model, &blocks::v_zb(model.placement()), stop)
}

/// Repeat, squeeze, reorder (arXiv 2405.15362, section 3.3): the copies of a block without slack, with
/// Ws moved out of the way of the cool-down, and with the gaps of warm-up and cool-down filled as far
/// as the steady peak of the block, or a smaller capacity of the model, allows.
///
/// Where the copies alone exceed a capacity the schedule does too, and [`Entry::generate`] refuses it.
///
/// [`Entry::generate`]: super::Entry::generate
pub(super) fn from_block(model: &Model, block: &Block, stop: &Stop) -> IndexedSchedule {
    let repeated = block
        .expand(model, model.microbatches())
        .expect("a model has at least one microbatch and not too many passes");
    let IndexedSchedule { problem, orders } = IndexedSchedule::of(model, &repeated).expect(RUNS);
    let peaks: Vec<Units> = orders.iter().map(|order| Units(problem.peak_of(order))).collect();
    let over = |device: Device| {
        model.activation_capacity(device).is_some_and(|capacity| peaks[device.index()] > capacity)
    };
    if Device::all(model.devices()).any(over) {
        return IndexedSchedule { problem, orders };
    }
    let limits: Vec<Units> = Device::all(model.devices())
        .zip(block.steady_peak(model))
        .map(|(device, steady)| {
            let limit = model.activation_capacity(device).map_or(steady, |capacity| capacity.min(steady));
            limit.max(peaks[device.index()])
        })
        .collect();
    let problem = problem.within(&limits);
    let orders = Improver::new(&problem, stop).improved(orders).orders;
    IndexedSchedule { problem, orders }
}
