//! Blocks of one microbatch per interval whose passes are placed one after another, each in the first gap of its device.
//!
//! The exact program needs a chain of devices, and solvers end at some tens of stages. This search takes any placement of one
//! direction, and hundreds of stages.
//!
//! **What is searched.** A microbatch goes through the devices several times: forward once for each chunk, and back. Between two
//! *turns*, where it comes to a device for the second time, it waits nowhere but for a gap; at a turn it may wait for longer.
//! With looped placement and equal stages that goes far. From device to device all passes of one direction move at one pace, so
//! the distance between two of them is the same on every device. Between a forward and a backward it changes by the same amount
//! with every device, modulo the interval; where that has a large divisor in common with the interval, the distance takes few
//! values, and some wait at a turn makes all of them such that no passes collide. Elsewhere passes wait for gaps. (A modulo
//! scheduler places operations so: Rau, 1994.)
//!
//! **What is minimised.** The load of a device is the sum of what its passes hold times how long they hold it. However copies of
//! a block follow each other, a device takes at least its load over its capacity for each microbatch. [Thinned](super::thinned), a
//! block comes close to that, or to its interval if that is longer. Nothing is recomputed.

use std::num::NonZeroUsize;

use itertools::Itertools as _;
use num_integer::Integer;
use num_rational::Ratio;

use crate::block::{Block, Passes};
use crate::certificate::interval_bound;
use crate::kernel::{acquired, released};
use crate::model::{Device, Kind, Microbatch, Model, Pass, Placement, Stage, Ticks};
use crate::parallel;
use crate::stop::Stop;

use super::thinned::thinned_interval;

/// How hard to search.
pub(super) struct Effort<'a> {
    pub seed: u64,
    /// How many passes may be placed in all.
    pub passes: usize,
    pub threads: NonZeroUsize,
    pub stop: &'a Stop,
}

/// For how many intervals blocks are looked for, besides that in which a device never idles.
const INTERVALS: usize = 8;

/// An interval is longer than the one before by one part of so many.
const STEPS: i64 = 24;

/// How many searches with other random waits there are for each of them.
const SEARCHES: usize = 8;

/// How many blocks are kept.
const KEPT: usize = 3;

/// How many lengths of each wait are tried at most.
const WAITS: u64 = 32;

/// Into how many parts a tick is divided where loads are compared.
const PARTS: i128 = 1 << 20;

/// Beyond so many stages on a device, to look for a gap takes too long.
const MOST_CHUNKS: usize = 64;

/// The blocks that take the least time per microbatch once they are thinned to the capacities, the best first. The answer does
/// not depend on the number of threads.
pub(super) fn blocks(model: &Model, effort: &Effort<'_>) -> Vec<Block> {
    let chain = Chain::new(model);
    let work = Passes::SPLIT.most_work(model).0;
    let least = interval_bound(model).ceil().to_integer().max(work);
    let is_large = i128::from(least) * 4 * chain.passes.len() as i128 > i128::from(Model::MAX_TOTAL);
    if is_large || chain.most_chunks() > MOST_CHUNKS {
        return Vec::new();
    }
    let roomy = (0..).map(|at| least + at * (least / STEPS).max(1)).take(INTERVALS);
    let intervals = std::iter::once(work).chain(roomy).dedup();
    let tries = effort.passes / (INTERVALS + 1) / SEARCHES / chain.passes_to_try();
    let searches: Vec<u64> = (0..).take(SEARCHES).collect();
    let mut found: Vec<(Ratio<i64>, Block)> = Vec::new();
    for interval in intervals {
        // However much it is thinned, a block takes no less than its interval.
        if effort.stop.is_due() || found.iter().any(|&(known, _)| known <= Ratio::from_integer(interval)) {
            break;
        }
        let placed = parallel::map(effort.threads, &searches, |search| {
            let seed = effort.seed ^ (interval.unsigned_abs() << 8) ^ search;
            chain.best(interval, seed, tries, effort.stop)
        });
        let Some(best) = placed.into_iter().flatten().min_by_key(|placed| placed.cost) else { continue };
        let Some(block) = chain.block(interval, &best.offsets) else { continue };
        let measured = thinned_interval(model, &block, effort.stop);
        found.push((measured.unwrap_or_else(|| best.cost.interval(interval)), block));
    }
    found.sort_by_key(|&(interval, _)| interval);
    found.into_iter().map(|(_, block)| block).take(KEPT).collect()
}

/// Whether no device ever holds more than its capacity while copies of the block follow each other.
pub(super) fn fits(model: &Model, block: &Block) -> bool {
    let mut peaks = Device::all(model.devices()).zip(block.steady_peak(model));
    peaks.all(|(device, peak)| model.activation_capacity(device).is_none_or(|capacity| peak <= capacity))
}

/// What a block costs: the most time that a device needs for a microbatch by its load, in [parts](PARTS) of a tick, and all loads
/// together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Cost {
    by_memory: i128,
    load: i128,
}

impl Cost {
    /// The time per microbatch that a thinned block of this interval comes close to, in ticks.
    fn interval(self, interval: i64) -> Ratio<i64> {
        let by_memory = i64::try_from(Integer::div_ceil(&self.by_memory, &PARTS)).unwrap_or(i64::MAX);
        Ratio::from_integer(by_memory.max(interval))
    }
}

/// A block by the offsets of its passes, in the numbers of the chain.
struct Placed {
    cost: Cost,
    offsets: Vec<i64>,
}

/// What is placed: F of each stage and I of each stage, in the order in which a microbatch goes through them, and then each W.
struct Chain<'a> {
    model: &'a Model,
    passes: Vec<ChainPass>,
    /// Which of the passes come after a turn.
    turns: Vec<usize>,
    /// By device: its capacity, if it has one.
    capacities: Vec<Option<i128>>,
}

/// A pass of the chain.
struct ChainPass {
    pass: Pass,
    device: usize,
    duration: i64,
    /// Which pass it waits for, and how long after the start of that.
    after: Option<(usize, i64)>,
    /// What it acquires at its start, in units.
    acquires: i128,
    /// What it releases at its end.
    releases: i128,
}

impl<'a> Chain<'a> {
    fn new(model: &'a Model) -> Self {
        let stages = model.stages() as usize;
        let forwards = Stage::all(model.stages()).map(|stage| (stage, Kind::F));
        let backwards = Stage::all(model.stages()).rev().map(|stage| (stage, Kind::I));
        let weights = Stage::all(model.stages()).rev().map(|stage| (stage, Kind::W));
        let all: Vec<(Stage, Kind)> = forwards.chain(backwards).chain(weights).collect();
        let chained = |(at, &(stage, kind)): (usize, &(Stage, Kind))| {
            let pass = Pass::new(stage, kind, Microbatch(0));
            let before = if kind == Kind::W { Some(at - stages) } else { at.checked_sub(1) };
            let after = before.map(|before| {
                let (of, is) = all[before];
                let message = if of == stage { Ticks::ZERO } else { model.latency_after(of.min(stage)) };
                (before, (model.duration(of, is) + message).0)
            });
            ChainPass {
                pass,
                device: model.placement().device_of(stage).index(),
                duration: model.duration(stage, kind).0,
                after,
                acquires: i128::from(acquired(model, pass, false).0),
                releases: i128::from(released(model, pass).0),
            }
        };
        let passes: Vec<ChainPass> = all.iter().enumerate().map(chained).collect();
        let turns = turns(model.placement(), &passes[..2 * stages]);
        let capacity = |device| model.activation_capacity(device).map(|capacity| i128::from(capacity.0));
        Self { model, passes, turns, capacities: Device::all(model.devices()).map(capacity).collect() }
    }

    /// The most stages of a device.
    fn most_chunks(&self) -> usize {
        let placement = self.model.placement();
        let chunks = Device::all(placement.devices()).map(|device| placement.stages_of(device).len());
        chunks.max().unwrap_or_default()
    }

    /// To place all takes as much as so many passes elsewhere: each looks at all that its device runs.
    fn passes_to_try(&self) -> usize {
        self.passes.len() * self.most_chunks().div_ceil(2)
    }

    /// The best block of this interval that is found with so many tries; nothing where all that was placed has no room in it.
    fn best(&self, interval: i64, seed: u64, mut tries: usize, stop: &Stop) -> Option<Placed> {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut waits = vec![0; self.turns.len()];
        let mut best: Option<Placed> = None;
        while tries > 0 && !stop.is_due() {
            let found = self.descend(interval, &mut waits, &mut tries, stop);
            best = best.into_iter().chain(found).min_by_key(|placed| placed.cost);
            waits.fill_with(|| random.i64(0..interval));
        }
        best
    }

    /// The block at the end of the way down from these waits at the turns, one after another changed to the best for the others.
    fn descend(&self, interval: i64, waits: &mut [i64], tries: &mut usize, stop: &Stop) -> Option<Placed> {
        let step = usize::try_from(interval.unsigned_abs().div_ceil(WAITS)).unwrap_or(usize::MAX);
        let mut best = self.placed(interval, waits);
        *tries = tries.saturating_sub(1);
        loop {
            let before = best.as_ref().map(|best| best.cost);
            for turn in 0..waits.len() {
                let mut wait = waits[turn];
                for length in (0..interval).step_by(step) {
                    if *tries == 0 || stop.is_due() {
                        return best;
                    }
                    *tries -= 1;
                    waits[turn] = length;
                    let placed = self.placed(interval, waits);
                    if let Some(placed) = placed
                        && best.as_ref().is_none_or(|best| placed.cost < best.cost)
                    {
                        wait = length;
                        best = Some(placed);
                    }
                }
                waits[turn] = wait;
            }
            if best.as_ref().map(|best| best.cost) == before {
                return best;
            }
        }
    }

    /// The block of this interval in which a microbatch waits so long at each turn; nothing where some pass finds no gap.
    fn placed(&self, interval: i64, waits: &[i64]) -> Option<Placed> {
        let mut rings: Vec<Vec<Busy>> = vec![Vec::new(); self.capacities.len()];
        let mut loads = vec![0_i128; self.capacities.len()];
        let mut offsets: Vec<i64> = Vec::with_capacity(self.passes.len());
        let mut waits = self.turns.iter().copied().zip(waits).peekable();
        for (at, next) in self.passes.iter().enumerate() {
            let wait = waits.next_if(|&(turn, _)| turn == at).map_or(0, |(_, &wait)| wait);
            let ready = next.after.map_or(0, |(before, time)| offsets[before] + time) + wait;
            let ring = &mut rings[next.device];
            let start = first_gap(ring, interval, ready, next.duration)?;
            ring.push(Busy { from: start.rem_euclid(interval), duration: next.duration });
            let end = start + next.duration;
            loads[next.device] += next.releases * i128::from(end) - next.acquires * i128::from(start);
            offsets.push(start);
        }
        let by_memory = loads.iter().zip(&self.capacities).filter_map(|(load, capacity)| {
            let capacity = capacity.filter(|&capacity| capacity > 0)?;
            load.checked_mul(PARTS).map(|parts| parts / capacity)
        });
        let cost = Cost { by_memory: by_memory.max().unwrap_or(0), load: loads.iter().sum() };
        Some(Placed { cost, offsets })
    }

    /// The block, if its passes do not collide.
    fn block(&self, interval: i64, offsets: &[i64]) -> Option<Block> {
        let offsets = self.passes.iter().zip(offsets);
        let offsets = offsets.map(|(of, &offset)| (of.pass.stage, of.pass.kind, Ticks(offset)));
        let block = Block::new(self.model.placement().clone(), Ticks(interval), offsets).ok()?;
        block.faults(self.model).is_empty().then_some(block)
    }
}

/// The passes with which a microbatch comes to a device where it has been since the last turn.
fn turns(placement: &Placement, passes: &[ChainPass]) -> Vec<usize> {
    let mut last = vec![None; placement.devices() as usize];
    let mut turn = 0;
    let mut turns = Vec::new();
    for (at, next) in passes.iter().enumerate() {
        if last[next.device].replace(at).is_some_and(|before| before >= turn) {
            turn = at;
            turns.push(at);
        }
    }
    turns
}

/// Where a device runs a pass in every interval. It may go on into the next one.
#[derive(Debug, Clone, Copy)]
struct Busy {
    from: i64,
    duration: i64,
}

/// The first instant from `ready` on at which a device is free for so long in every interval; nothing if there is none.
fn first_gap(ring: &[Busy], interval: i64, ready: i64, duration: i64) -> Option<i64> {
    if duration > interval {
        return None;
    }
    // How much later it starts, and where in the interval that is.
    let (mut waits, mut from) = (0, ready.rem_euclid(interval));
    while waits < interval {
        let late = ring.iter().map(|busy| {
            let since = from - busy.from + if from < busy.from { interval } else { 0 };
            // What takes no time may be where another pass begins, and nowhere else inside.
            if since < busy.duration && (since, duration) != (0, 0) {
                busy.duration - since
            } else if interval - since < duration {
                interval - since + busy.duration
            } else {
                0
            }
        });
        let late = late.max().unwrap_or(0);
        if late == 0 {
            return Some(ready + waits);
        }
        waits += late;
        from += late;
        while from >= interval {
            from -= interval;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::Units;
    use crate::optimize::thinned::thinned;
    use crate::replay::replay;

    fn effort(stop: &Stop, passes: usize) -> Effort<'_> {
        Effort { seed: 0, passes, threads: NonZeroUsize::MIN, stop }
    }

    fn looped(devices: u32, times: [i64; 4], capacity: i64) -> Model {
        let placement = Placement::looped(devices, 2).expect("a placement");
        let model = Model::equal_stages(placement, 3 * devices, times).expect("a model");
        model.with_uniform_activation_capacity(Some(Units(capacity))).expect("a capacity")
    }

    /// No schedule takes less than the bound, so hardly anything is lost.
    #[test]
    fn long_pipelines_of_looped_placement_come_close_to_the_bound() {
        let stop = Stop::default();
        for (devices, times, capacity, more_percent) in [
            (32, [1, 1, 1, 0], 64, 0),
            (32, [1, 1, 1, 0], 40, 1),
            (32, [3, 4, 2, 0], 64, 0),
            (64, [3, 4, 2, 1], 64, 3),
            (64, [3, 4, 2, 1], 128, 5),
            (32, [1, 2, 0, 0], 64, 0),
            (32, [2, 0, 1, 0], 64, 0),
        ] {
            let model = looped(devices, times, capacity);
            let found = blocks(&model, &effort(&stop, 1_000_000));
            let best = thinned_interval(&model, &found[0], &stop).expect("a schedule");
            let most = interval_bound(&model) * Ratio::new(100 + more_percent, 100);
            assert!(best <= most, "{devices} {times:?} {capacity}: {best} > {most}");
        }
    }

    #[test]
    fn what_the_blocks_become_is_valid_for_any_placement_times_and_memory() {
        let stop = Stop::default();
        let placements =
            [Placement::linear(3), Placement::v(4), Placement::looped(3, 3), Placement::looped(1, 4)];
        for placement in placements.map(|placement| placement.expect("a placement")) {
            for times in [[1, 1, 1, 0], [3, 4, 2, 1], [5, 2, 7, 3], [2, 3, 0, 1], [0, 3, 2, 0], [3, 0, 2, 1]]
            {
                for capacity in [None, Some(4), Some(7)] {
                    let model = Model::equal_stages(placement.clone(), 13, times).expect("a model");
                    let model =
                        model.with_uniform_activation_capacity(capacity.map(Units)).expect("a capacity");
                    let found = blocks(&model, &effort(&stop, 100_000));
                    assert!(!found.is_empty(), "{placement:?} {times:?} {capacity:?}");
                    for block in found {
                        let schedule = thinned(&model, &block, &stop).expect("a chunk fits");
                        assert_eq!(replay(&model, &schedule).violations, []);
                    }
                }
            }
        }
    }

    #[test]
    fn without_effort_or_time_and_with_times_too_long_to_add_there_is_none() {
        let (model, stop) = (looped(3, [3, 4, 2, 0], 6), Stop::default());
        assert_eq!(blocks(&model, &effort(&stop, 0)), []);
        assert_eq!(blocks(&model, &effort(&Stop::after(std::time::Duration::ZERO), 100_000)), []);
        let long = Model::MAX_TOTAL / 100;
        let placement = Placement::looped(3, 2).expect("a placement");
        let long = Model::equal_stages(placement, 1, [long, long, long, 0]).expect("a model");
        assert_eq!(blocks(&long, &effort(&stop, 100_000)), []);
    }

    /// A block is a block, however few microbatches there are, and where none fits, nothing can be measured.
    #[test]
    fn blocks_that_cannot_be_thinned_are_judged_by_their_loads() {
        let stop = Stop::default();
        for microbatches in 1..=3 {
            let model = looped(3, [3, 4, 2, 0], 6).with_microbatches(microbatches).expect("a model");
            assert!(!blocks(&model, &effort(&stop, 100_000)).is_empty(), "{microbatches}");
        }
        let narrow = looped(3, [3, 4, 2, 0], 1);
        for block in blocks(&narrow, &effort(&stop, 100_000)) {
            assert_eq!(thinned(&narrow, &block, &stop), None, "a device holds two chunks of a microbatch");
        }
    }

    /// More stages on a device than a gap is looked for among.
    #[test]
    fn very_many_chunks_are_left_to_other_searches() {
        let model = |chunks| {
            let placement = Placement::looped(1, chunks).expect("a placement");
            Model::equal_stages(placement, 4, [3, 4, 2, 0]).expect("a model")
        };
        let stop = Stop::default();
        assert!(!blocks(&model(64), &effort(&stop, 1_000_000)).is_empty());
        assert_eq!(blocks(&model(65), &effort(&stop, 1_000_000)), []);
    }

    #[test]
    fn the_number_of_threads_changes_nothing() {
        let (model, stop) = (looped(6, [6, 3, 7, 2], 8), Stop::default());
        let two = Effort { threads: NonZeroUsize::new(2).expect("two"), ..effort(&stop, 300_000) };
        let found = blocks(&model, &effort(&stop, 300_000));
        assert!(!found.is_empty());
        assert_eq!(found, blocks(&model, &two));
    }

    #[test]
    fn a_microbatch_turns_where_it_comes_to_a_device_again() {
        let turns = |placement: Placement| {
            let model = Model::equal_stages(placement, 4, [1, 1, 1, 0]).expect("a model");
            Chain::new(&model).turns
        };
        assert_eq!(turns(Placement::linear(3).expect("a placement")), [3]);
        assert_eq!(turns(Placement::v(3).expect("a placement")), [3, 6, 9]);
        assert_eq!(turns(Placement::looped(3, 2).expect("a placement")), [3, 6, 9]);
        assert_eq!(turns(Placement::looped(1, 2).expect("a placement")), [1, 2, 3]);
    }

    /// Whether two passes run at once somewhere in an interval, tick by tick. One that takes no time does so where another has begun
    /// and not ended.
    fn collide(interval: i64, one: Busy, other: Busy) -> bool {
        let since = |from: i64, at: i64| (at - from).rem_euclid(interval);
        let is_inside = |point: Busy, of: Busy| (1..of.duration).contains(&since(of.from, point.from));
        match (one.duration, other.duration) {
            (0, _) => is_inside(one, other),
            (_, 0) => is_inside(other, one),
            _ => (0..one.duration).any(|at| since(other.from, one.from + at) < other.duration),
        }
    }

    proptest! {
        /// Each instant is tried.
        #[test]
        fn the_first_gap_is_the_first_instant_at_which_nothing_collides(
            interval in 1_i64..12,
            stretches in prop::collection::vec((0_i64..12, 0_i64..4), 0..5),
            ready in -5_i64..30,
            duration in 0_i64..14,
        ) {
            let mut ring: Vec<Busy> = Vec::new();
            for (from, duration) in stretches {
                let new = Busy { from: from % interval, duration };
                if duration <= interval && ring.iter().all(|&other| !collide(interval, new, other)) {
                    ring.push(new);
                }
            }
            let is_free = |from| {
                duration <= interval
                    && ring.iter().all(|&other| !collide(interval, Busy { from, duration }, other))
            };
            let expected = (ready..ready + interval).find(|&start| is_free(start));
            prop_assert_eq!(first_gap(&ring, interval, ready, duration), expected);
        }
    }
}
