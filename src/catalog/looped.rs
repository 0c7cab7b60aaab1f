//! Schedules for looped placement: stage s on device s mod d, v chunks per device.

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
    let (devices, chunks) = (model.devices(), chunks(model));
    let rounded = u64::from(model.microbatches()).next_multiple_of(u64::from(devices));
    let slots = u64::from(chunks) * rounded;
    // The chunk, counted in the direction of the pass, and the microbatch of a device's slot-th pass.
    let slot_at = |slot: u64| {
        let (group, within) = (slot / group_slots(devices, chunks), slot % group_slots(devices, chunks));
        let (chunk, member) = (within / u64::from(devices), within % u64::from(devices));
        (chunk, group * u64::from(devices) + member)
    };
    let orders = Device::all(devices).map(|device| {
        let held = model.placement().stages_of(device);
        let pass = |kind: Kind, slot: u64| {
            let (chunk, microbatch) = slot_at(slot);
            let microbatch = u32::try_from(microbatch).ok().filter(|&at| at < model.microbatches())?;
            let chunk = usize::try_from(chunk).ok()?;
            let stage = if kind == Kind::F { held[chunk] } else { held[held.len() - 1 - chunk] };
            Some(Pass::new(stage, kind, Microbatch(microbatch)))
        };
        let lead = 2 * u64::from(devices - 1 - device.0) + u64::from(chunks - 1) * u64::from(devices);
        let lead = lead.min(slots);
        let warm_up = (0..lead).map(|slot| pass(Kind::F, slot));
        let rest = (0..slots).flat_map(|slot| {
            let forward = (lead + slot < slots).then(|| pass(Kind::F, lead + slot)).flatten();
            [forward, pass(Kind::B, slot)]
        });
        warm_up.chain(rest).flatten().collect()
    });
    schedule(model, orders.collect())
}

/// The slots in which a device takes one group of microbatches through its chunks.
fn group_slots(devices: u32, chunks: u32) -> u64 {
    u64::from(devices) * u64::from(chunks)
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
