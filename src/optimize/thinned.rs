//! Blocks that need more memory than there is, thinned out: some of their repetitions are left out.
//!
//! The copies of a block do not collide, whichever of them are there, for each is a whole number of intervals behind the
//! first. So where the capacities are a little too small for a block with few bubbles, leaving out a repetition whenever
//! there is no room for it may take less time than a block that fits.

use std::collections::BTreeMap;

use num_rational::Ratio;

use crate::block::Block;
use crate::kernel::{acquired, released};
use crate::model::{Device, Kind, Model};
use crate::schedule::Schedule;
use crate::stop::Stop;

/// What a device holds, in parts of a tick from the start of the first repetition.
struct Room {
    capacity: i64,
    /// By instant: how much more is held from then on because of one repetition that starts at 0.
    changes: Vec<(i128, i64)>,
    /// The same because of all repetitions so far, from the first instant at which it still matters.
    profile: BTreeMap<i128, i64>,
    /// What is held before that.
    before: i64,
}

impl Room {
    /// Nothing for a device without a capacity.
    fn new(model: &Model, block: &Block, device: Device) -> Option<Self> {
        let capacity = model.activation_capacity(device)?.0;
        let mut changes: BTreeMap<i128, i64> = BTreeMap::new();
        for (pass, offset) in block.passes_of(device) {
            let start = i128::from(offset.0);
            let end = start + i128::from(block.duration(model, pass).0);
            let recomputed = block.offset(pass.with_kind(Kind::R)).is_some();
            *changes.entry(start).or_default() += acquired(model, pass, recomputed).0;
            *changes.entry(end).or_default() -= released(model, pass).0;
        }
        let changes = changes.into_iter().filter(|&(_, change)| change != 0).collect();
        Some(Self { capacity, changes, profile: BTreeMap::new(), before: 0 })
    }

    /// Whether the device keeps to its capacity with one more repetition, which starts then. Later ones start no earlier.
    fn fits(&mut self, start: i128) -> bool {
        let (Some(&(first, _)), Some(&(last, _))) = (self.changes.first(), self.changes.last()) else {
            return true;
        };
        while let Some(past) = self.profile.first_entry().filter(|entry| *entry.key() < start + first) {
            self.before += past.remove();
        }
        let mut known = self.profile.range(..=start + last).peekable();
        let mut held = self.before;
        for (at, &(instant, change)) in self.changes.iter().enumerate() {
            let until = self.changes.get(at + 1).map_or(start + last + 1, |next| start + next.0);
            held += change;
            // What begins or ends until the next change of this repetition, at the same instant first.
            while let Some((_, also)) = known.next_if(|(known, _)| **known <= start + instant) {
                held += also;
            }
            if held > self.capacity {
                return false;
            }
            while let Some((_, also)) = known.next_if(|(known, _)| **known < until) {
                held += also;
                if held > self.capacity {
                    return false;
                }
            }
        }
        true
    }

    fn take(&mut self, start: i128) {
        for &(at, change) in &self.changes {
            *self.profile.entry(start + at).or_default() += change;
        }
    }
}

/// The schedule of all microbatches in which each repetition of a block comes as early as the capacities allow; nothing when
/// not even one of them fits, or when it is time to stop.
pub(super) fn thinned(model: &Model, block: &Block, stop: &Stop) -> Option<Schedule> {
    let repetitions = repetitions(model, block, stop)?;
    block.expand_at(model, model.microbatches(), &repetitions).ok()
}

/// The time per microbatch of that schedule in its last half, in ticks.
pub(super) fn thinned_interval(model: &Model, block: &Block, stop: &Stop) -> Option<Ratio<i64>> {
    let repetitions = repetitions(model, block, stop)?;
    let (last, middle) = (repetitions.last()?, repetitions.get(repetitions.len() / 2)?);
    let many = i64::try_from(repetitions.len() - 1 - repetitions.len() / 2).ok().filter(|&many| many > 0)?;
    let each = Ratio::new(i64::from(last - middle), many * i64::from(block.period()));
    Some(block.interval() * each)
}

/// Which repetitions of the block are not left out in that schedule.
fn repetitions(model: &Model, block: &Block, stop: &Stop) -> Option<Vec<u32>> {
    let mut rooms: Vec<Room> =
        Device::all(model.devices()).filter_map(|device| Room::new(model, block, device)).collect();
    let interval = i128::from(block.interval_parts().0);
    let ends = rooms.iter().filter_map(|room| Some(room.changes.last()?.0 - room.changes.first()?.0));
    // After so many intervals nothing is left of a repetition.
    let reach = u32::try_from(ends.max().unwrap_or(0) / interval + 1).ok()?;
    let mut repetitions: Vec<u32> = Vec::new();
    for _ in 0..model.microbatches().div_ceil(block.period()) {
        let earliest = repetitions.last().map_or(0, |last| last + 1);
        let mut possible = (earliest..=earliest.checked_add(reach)?).take_while(|_| !stop.is_due());
        let next = possible.find(|&at| rooms.iter_mut().all(|room| room.fits(i128::from(at) * interval)))?;
        for room in &mut rooms {
            room.take(i128::from(next) * interval);
        }
        repetitions.push(next);
    }
    Some(repetitions)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::Passes;
    use crate::model::{Memory, Placement, Ticks, Units};
    use crate::optimize::starting_points::{ROOMIER, SHARES, Share, blocks};
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
    fn the_interval_grows_as_the_capacity_shrinks_from_that_of_the_block() {
        let (model, block) = block_of_eight();
        let intervals = [2, 4, 6, 7, 8, 9].map(|capacity| {
            let model = model.with_uniform_capacity(Units(capacity)).unwrap();
            thinned_interval(&model, &block, &Stop::default()).unwrap()
        });
        assert!(intervals.is_sorted_by(|one, next| one >= next), "{intervals:?}");
        assert!(intervals[3] > block.interval());
        assert_eq!(intervals[4..], [block.interval(); 2]);
        let one = model.with_microbatches(1).unwrap();
        assert_eq!(thinned_interval(&one, &block, &Stop::default()), None, "one microbatch has no interval");
    }

    /// Checkpoints hold little until they are recomputed.
    #[test]
    fn recomputation_is_counted_as_replay_counts_it() {
        let model = Model::equal_stages(Placement::v(4).unwrap(), 24, [3, 4, 2, 0]).unwrap();
        let memory = Memory {
            activation: vec![Units(4); 8],
            retained_for_weight: vec![Units(2); 8],
            checkpoint: Some(vec![Units(1); 8]),
            ..model.memory().clone()
        };
        let model = model.with_plain_memory(memory).unwrap();
        let passes = Passes { recompute: true, ..Passes::SPLIT };
        let roomy = model.with_uniform_capacity(Units(12)).unwrap();
        let block = zone::least_interval(&roomy, passes, &Stop::default()).unwrap().block;
        let mut found = Vec::new();
        for capacity in 8..=12 {
            let model = model.with_uniform_capacity(Units(capacity)).unwrap();
            let Some(schedule) = thinned(&model, &block, &Stop::default()) else { continue };
            found.push(makespan(&model, &schedule));
        }
        assert!(found.len() > 1, "{found:?}");
        let whole = block.expand(&roomy, roomy.microbatches()).unwrap();
        assert_eq!(
            found.last(),
            Some(&makespan(&roomy, &whole)),
            "with room for all of it nothing is left out"
        );
    }

    /// Two chunks more make the interval 19.75 instead of 25 ticks, and to leave out every seventeenth repetition is enough.
    #[test]
    fn many_devices_take_the_least_time_with_blocks_that_need_hardly_more_memory() {
        let model = Model::equal_stages(Placement::v(32).unwrap(), 128, [3, 4, 2, 1]).unwrap();
        let model = model.with_uniform_capacity(Units(32)).unwrap();
        let shortest = |shares: &[Share]| {
            let blocks = blocks(&model, shares, &Stop::default()).into_iter();
            let thinned = blocks.map(|(_, block)| thinned(&model, &block, &Stop::default()).unwrap());
            thinned.map(|schedule| makespan(&model, &schedule)).min().unwrap()
        };
        let (near, far) = ROOMIER.split_at(2);
        assert!(shortest(near) < shortest(far).min(shortest(&SHARES[..1])));
    }

    /// Only some devices have a capacity.
    #[test]
    fn a_device_without_a_capacity_holds_anything() {
        let (model, block) = block_of_eight();
        let capacities = Device::all(8).map(|device| (device.0 % 3 == 1).then_some(Units(6))).collect();
        let some = model.with_activation_capacity(capacities).unwrap();
        let thin = makespan(&some, &thinned(&some, &block, &Stop::default()).unwrap());
        let whole = makespan(&model, &thinned(&model, &block, &Stop::default()).unwrap());
        assert!(thin > whole, "{thin} {whole}");
    }

    #[test]
    fn what_never_fits_is_not_there() {
        let (model, block) = block_of_eight();
        let model = model.with_uniform_capacity(Units(1)).unwrap();
        assert_eq!(thinned(&model, &block, &Stop::default()), None);
    }
}
