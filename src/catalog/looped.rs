//! Schedules for looped placement: stage s on device s mod d, v chunks per device.

use itertools::Itertools;

use super::v::from_block;
use super::{blocks, schedule};
use crate::kernel::IndexedSchedule;
use crate::model::{Device, Kind, Microbatch, Model, Pass};
use crate::schedule::Schedule;
use crate::stop::Stop;

/// Interleaved 1F1B in Megatron-LM's order (Narayanan et al., arXiv 2104.04473): microbatches go in
/// groups of d through chunk 0, then the same group through chunk 1, and so on; device i runs
/// `2(d-1-i) + (v-1)d` forwards ahead, then one forward and one backward in turn.
///
/// Megatron asks for m divisible by d. For any other m this is the order for the next multiple of d
/// without the passes of the microbatches that do not exist: leaving whole microbatches out of a
/// schedule takes no dependency away from the others and makes no pass later. With one chunk it is
/// eager 1F1B. Megatron's special case for m = d, all forwards first, is not made: it needs more
/// memory and gains nothing.
///
/// Memory: `2(d-1-i) + (v-1)d + 1` chunk activations, (v+1)d-1 on device 0. Bubble: `(d-1)(F+I+W)`
/// of one chunk, plus latencies.
pub(super) fn interleaved(model: &Model) -> Schedule {
    let (devices, microbatches) = (model.devices(), model.microbatches());
    let chunks = chunks(model);
    // The slots of a device, by number: groups of as many microbatches as there are devices go through its chunks, counted in
    // the direction of the pass. Those of the last group beyond the last microbatch are empty, and left out.
    let groups = 0..microbatches.div_ceil(devices);
    let slots = groups.flat_map(|group| {
        let first = group * devices;
        (0..chunks).flat_map(move |chunk| {
            let before = (i64::from(group) * i64::from(chunks) + i64::from(chunk)) * i64::from(devices);
            let members = 0..devices.min(microbatches - first);
            members.map(move |member| (before + i64::from(member), chunk, Microbatch(first + member)))
        })
    });
    let orders = Device::all(devices).map(|device| {
        let held = model.placement().stages_of(device);
        let lead = 2 * i64::from(devices - 1 - device.0) + i64::from(chunks - 1) * i64::from(devices);
        let forwards = slots.clone().map(|(slot, chunk, microbatch)| {
            (slot - lead, Pass::new(held[chunk as usize], Kind::F, microbatch))
        });
        let backwards = slots.clone().map(|(slot, chunk, microbatch)| {
            (slot, Pass::new(held[(chunks - 1 - chunk) as usize], Kind::B, microbatch))
        });
        forwards
            .merge_by(backwards, |(forward, _), (backward, _)| forward <= backward)
            .map(|(_, pass)| pass)
            .collect()
    });
    schedule(model, orders.collect())
}

/// Interleaved 1F1B at a uniform interval (arXiv 2405.15362, appendix G): the same memory from a
/// building block, in which every microbatch follows the one before at the same distance.
///
/// Block: T = 3v at unit times, see [`block`](super::block). Memory: at most that of the block,
/// about (v+1)d chunk activations on device 0.
pub(super) fn uniform(model: &Model, stop: &Stop) -> IndexedSchedule {
    from_block(model, &blocks::interleaved(model.placement()), stop)
}

/// Looped breadth-first (Lamy-Poirier, arXiv 2211.05953): every chunk runs all microbatches before
/// the next one starts, forwards first.
///
/// Memory: m activations of each stage. Bubble: `(d-1)(F+I+W)` of one chunk, plus latencies, for m at
/// least d.
pub(super) fn breadth_first(model: &Model) -> Schedule {
    super::linear::gpipe(model)
}

fn chunks(model: &Model) -> u32 {
    model.placement().chunks().expect("looped placement has equally many stages on every device")
}
