//! Blocks that need more memory than there is, thinned out: some of their repetitions are left out.
//!
//! The copies of a block do not collide, whichever of them are there, for each is a whole number of intervals behind the first. So
//! where the capacities are a little too small for a block with few bubbles, leaving out every seventh repetition, say, may take
//! less time than a block that fits.

use crate::block::Block;
use crate::model::{Device, Kind, Microbatch, Model, Pass};
use crate::schedule::Schedule;
use crate::stop::Stop;

/// What a device holds of a copy of a block for some of its time, counted in parts of a tick from the start of the repetition.
struct Held {
    from: i128,
    /// When it ends, which does not belong to it.
    to: i128,
    units: i64,
}

/// The holds of one repetition on a device with a capacity.
struct Room {
    capacity: i64,
    held: Vec<Held>,
}

impl Room {
    fn new(model: &Model, block: &Block, device: Device) -> Option<Self> {
        let capacity = model.activation_capacity(device)?.0;
        let mut held = Vec::new();
        for &stage in model.placement().stages_of(device) {
            for copy in Microbatch::all(block.period()) {
                let pass = |kind| Pass::new(stage, kind, copy);
                let start = |kind| block.offset(pass(kind)).map(|at| i128::from(at.0));
                let end = |kind| Some(start(kind)? + i128::from(block.duration(model, pass(kind)).0));
                let from = start(Kind::F)?;
                let (middle, to) = match (end(Kind::I), end(Kind::W), end(Kind::B)) {
                    (Some(input), Some(weight), _) => (input, weight),
                    (_, _, Some(whole)) => (whole, whole),
                    _ => return None,
                };
                held.push(Held { from, to: middle, units: model.activation(stage).0 });
                held.push(Held { from: middle, to, units: model.retained_for_weight(stage).0 });
            }
        }
        Some(Self { capacity, held })
    }

    /// What is held at an instant by repetitions that start at some times.
    fn at(&self, starts: &[i128], instant: i128) -> i64 {
        let of = |&start: &i128| {
            let held = self.held.iter().filter(|held| (held.from..held.to).contains(&(instant - start)));
            held.map(|held| held.units).sum::<i64>()
        };
        starts.iter().map(of).sum()
    }

    /// Whether the device keeps to its capacity when the last of these repetitions is added to the others.
    fn fits(&self, starts: &[i128]) -> bool {
        let Some(&last) = starts.last() else { return true };
        // Only where something begins can more be held than before.
        let begins = starts.iter().flat_map(|start| self.held.iter().map(move |held| start + held.from));
        let mut touched = begins.filter(|instant| {
            self.held.iter().any(|held| held.units > 0 && (held.from..held.to).contains(&(instant - last)))
        });
        touched.all(|instant| self.at(starts, instant) <= self.capacity)
    }
}

/// The schedule of all microbatches in which each repetition of a block comes as early as the capacities allow; nothing when not
/// even one of them fits, or it is time to stop.
pub(super) fn thinned(model: &Model, block: &Block, stop: &Stop) -> Option<Schedule> {
    let rooms: Vec<Room> =
        Device::all(model.devices()).filter_map(|device| Room::new(model, block, device)).collect();
    let interval = i128::from(block.interval_parts().0);
    let last_end = rooms.iter().flat_map(|room| room.held.iter().map(|held| held.to)).max().unwrap_or(0);
    let first = rooms.iter().flat_map(|room| room.held.iter().map(|held| held.from)).min().unwrap_or(0);
    // After so many repetitions nothing is left of one.
    let reach = u32::try_from((last_end - first) / interval + 2).ok()?;
    let mut repetitions: Vec<u32> = Vec::new();
    for _ in 0..model.microbatches().div_ceil(block.period()) {
        if stop.is_due() {
            return None;
        }
        let earliest = repetitions.last().map_or(0, |last| last + 1);
        let next = (earliest..=earliest.checked_add(reach)?).find(|&at| {
            let near = repetitions.iter().filter(|&&other| other + reach > at);
            let starts: Vec<i128> = near.chain([&at]).map(|&at| i128::from(at) * interval).collect();
            rooms.iter().all(|room| room.fits(&starts))
        })?;
        repetitions.push(next);
    }
    block.expand_at(model, model.microbatches(), &repetitions).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::Passes;
    use crate::model::{Placement, Ticks, Units};
    use crate::optimize::zone;
    use crate::replay::replay;

    /// V placement on eight devices at equal times: the block without bubbles needs room for eight chunks.
    fn block_of_eight() -> (Model, Block) {
        let model = Model::equal_stages(Placement::v(8).unwrap(), 48, [1, 1, 1, 0]).unwrap();
        let roomy = model.with_uniform_capacity(Units(8)).unwrap();
        let block = zone::least_interval(&roomy, Passes::SPLIT, &Stop::default()).unwrap().block;
        (model, block)
    }

    fn makespan(model: &Model, schedule: &Schedule) -> Ticks {
        let verdict = replay(model, schedule);
        assert_eq!(verdict.violations, []);
        verdict.timing.unwrap().metrics.makespan
    }

    #[test]
    fn it_keeps_to_the_capacities_and_leaves_out_no_more_than_it_must() {
        let (model, block) = block_of_eight();
        let mut before = Ticks(i64::MAX);
        for capacity in 2..=8 {
            let model = model.with_uniform_capacity(Units(capacity)).unwrap();
            let schedule = thinned(&model, &block, &Stop::default()).unwrap();
            let makespan = makespan(&model, &schedule);
            assert!(makespan < before, "capacity {capacity}: {makespan}, before {before}");
            before = makespan;
        }
        let whole = block.expand(&model, model.microbatches()).unwrap();
        assert_eq!(before, makespan(&model, &whole), "with room for all of it nothing is left out");
    }

    #[test]
    fn what_never_fits_is_not_there() {
        let (model, block) = block_of_eight();
        let model = model.with_uniform_capacity(Units(1)).unwrap();
        assert_eq!(thinned(&model, &block, &Stop::default()), None);
    }
}
