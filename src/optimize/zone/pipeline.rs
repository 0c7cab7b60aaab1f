//! A pipeline as the program sees it.

use std::sync::Arc;

use num_integer::Integer;
use num_rational::Ratio;

use super::ZoneError;
use super::pattern::{Figures, NODES, Shape, shapes};
use crate::block::{Block, Passes};
use crate::kernel::{acquired, released};
use crate::model::{Kind, Microbatch, Model, Pass, Placement, Stage, Units};
use crate::stop::Stop;

/// An interval in ticks.
pub(super) type Interval = Ratio<i128>;

/// How the chain of stages runs over the devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fold {
    /// One stage on each device.
    Linear,
    /// Stages `s` and `S-1-s` on each device.
    V,
}

impl Fold {
    /// The fold of a placement, whatever its devices are called, if it has one.
    pub(super) fn of(placement: &Placement) -> Option<Self> {
        if placement.directions() > 1 {
            return None;
        }
        let last = placement.stages() - 1;
        let single = placement.lists().iter().all(|stages| stages.len() == 1);
        let paired = |stages: &Vec<Stage>| stages.len() == 2 && stages[0].0 + stages[1].0 == last;
        if single { Some(Self::Linear) } else { placement.lists().iter().all(paired).then_some(Self::V) }
    }
}

/// A pipeline as the program sees it. Its devices are in the order of their lowest stages.
#[derive(Debug, Clone)]
pub(super) struct Pipeline<'a> {
    pub model: &'a Model,
    pub passes: Passes,
    pub fold: Fold,
    pub figures: Vec<Figures>,
    /// The shapes of each device, the same for neighbours that are alike.
    pub shapes: Vec<Arc<[Shape]>>,
    /// The place of each link in the chain of all Fs and then all backwards: by position, how much
    /// later than the first F the pass there can start at the earliest.
    reach: Vec<i64>,
    /// An interval at which one microbatch ends before the next begins.
    pub serial: i64,
    /// No pass lies in a later repetition than this at any interval that is at least the work.
    pub most_copies: i64,
    /// No link of the chain waits for more intervals than this.
    pub most_wait: i64,
    /// The most time from the first F of a microbatch to the start of its last backward, in ticks, where that is limited.
    pub longest: Option<i64>,
    pub stop: &'a Stop,
}

impl<'a> Pipeline<'a> {
    /// The pipeline of a model whose capacities are none above `limit`.
    pub(super) fn new(
        model: &'a Model,
        passes: Passes,
        limit: Option<i64>,
        stop: &'a Stop,
    ) -> Result<Self, ZoneError> {
        let fold = Fold::of(model.placement()).ok_or(ZoneError::Placement)?;
        let stages = model.stages();
        let last = Stage(stages - 1);
        for stage in Stage::all(stages) {
            let pass = |kind| Pass::new(stage, kind, Microbatch(0));
            // At an instant, nothing tells which of several passes acquires and releases first.
            let acquires = passes.recompute && acquired(model, pass(Kind::R), true) > Units::ZERO;
            for kind in [Kind::F, passes.backward()].into_iter().chain(acquires.then_some(Kind::R)) {
                if model.duration(stage, kind).0 == 0 {
                    return Err(ZoneError::NoDuration(pass(kind)));
                }
            }
        }
        let time = |stage, kind| model.duration(stage, kind).0;
        let recomputed = |stage| if passes.recompute { time(stage, Kind::R) } else { 0 };
        let latency = |stage: Stage| model.latency_after(stage).0;
        let mut lags = Vec::new();
        for stage in Stage::all(stages - 1) {
            lags.push(time(stage, Kind::F) + latency(stage));
        }
        lags.push(time(last, Kind::F) + recomputed(last));
        for below in Stage::all(stages - 1).rev() {
            lags.push(time(Stage(below.0 + 1), passes.backward()) + latency(below));
        }
        let mut reach = vec![0];
        for lag in &lags {
            reach.push(reach[reach.len() - 1] + lag);
        }
        let others: i64 = Stage::all(stages)
            .map(|stage| if passes.fused { 0 } else { time(stage, Kind::W) } + recomputed(stage))
            .sum();
        let serial = reach[reach.len() - 1] + time(Stage(0), passes.backward()) + others;
        // No link of the chain needs to wait a whole interval: all that comes after it could be moved
        // up by one. With recomputation a second one may be needed, for an R that lies within an
        // interval before its backward has to stay behind its F. So a chain of n links is shorter than
        // its durations and n (2n) intervals, and the interval is at least the most work.
        let most_wait = if passes.recompute { 2 } else { 1 };
        let work = passes.most_work(model).0;
        let most_copies = serial / work + 2 * most_wait * i64::from(stages) + 2;
        let mut lists: Vec<&Vec<Stage>> = model.placement().lists().iter().collect();
        lists.sort_unstable_by_key(|stages| stages.iter().min());
        let figures = lists.into_iter().map(|stages| {
            let device = model.placement().device_of(stages[0]);
            figures_of(
                model,
                passes,
                stages,
                most_copies,
                [model.activation_capacity(device).map(|capacity| capacity.0), limit],
            )
        });
        let figures = figures.collect::<Result<Vec<_>, _>>()?;
        let mut shapes: Vec<Arc<[Shape]>> = Vec::with_capacity(figures.len());
        for (device, of) in figures.iter().enumerate() {
            if stop.is_due() {
                return Err(ZoneError::TimeUp);
            }
            let like = figures[..device].last().filter(|before| before.is_like(of));
            let known = like.and(shapes.last()).map(Arc::clone);
            shapes.push(known.unwrap_or_else(|| self::shapes(of).into()));
        }
        Ok(Self {
            model,
            passes,
            fold,
            figures,
            shapes,
            reach,
            serial,
            most_copies,
            most_wait,
            longest: None,
            stop,
        })
    }

    /// The stage of a chunk of a device.
    pub(super) fn stage(&self, device: usize, chunk: usize) -> Stage {
        let low = Stage::at(device);
        if chunk == 0 { low } else { Stage(self.model.stages() - 1 - low.0) }
    }

    /// The position of a node of a device in the chain of all Fs and backwards.
    pub(super) fn position(&self, device: usize, node: usize) -> usize {
        let chunks = self.figures[device].chunks;
        let end = 2 * self.model.stages() as usize - 1;
        if node < chunks {
            self.stage(device, node).index()
        } else {
            end - self.stage(device, 2 * chunks - 1 - node).index()
        }
    }

    /// How much later than the pass at one position of the chain the pass at another one starts at
    /// the least.
    pub(super) fn lag(&self, from: usize, to: usize) -> i64 {
        self.reach[to] - self.reach[from]
    }

    /// The least time from the first F of a microbatch to the start of its last backward, in ticks.
    pub(super) fn least_time(&self) -> i64 {
        self.reach[self.reach.len() - 1]
    }

    /// The time from the first F of a microbatch to the start of its last backward in a block, in whole ticks.
    pub(super) fn time_of(&self, block: &Block) -> Result<i64, ZoneError> {
        let offset = |kind| block.offset(Pass::new(Stage(0), kind, Microbatch(0)));
        let [first, last] = [Kind::F, self.passes.backward()].map(offset);
        let (first, last) = first.zip(last).ok_or(ZoneError::Overflow)?;
        Ok(Integer::div_ceil(&(last - first).0, &block.parts()))
    }

    /// The largest capacity: without capacities, more than any device can hold.
    pub(super) fn most_capacity(&self) -> i64 {
        self.figures.iter().map(|figures| figures.capacity).max().unwrap_or(0)
    }

    /// At least the height of every cycle of constraints: a cycle meets each pass once, and no
    /// constraint leads further than the repetitions go.
    pub(super) fn most_height(&self) -> i128 {
        let passes = self.model.stages() as usize * self.passes.kinds().len();
        i128::try_from(passes).unwrap_or(i128::MAX) * i128::from(self.most_copies + 1)
    }

    /// Whether no time, multiplied by the denominator of the interval, comes near the end of 64 bits.
    pub(super) fn is_narrow(&self, interval: Interval) -> Result<bool, ZoneError> {
        let turns = interval.numer().checked_mul(i128::from(8 * (self.most_copies + 8)));
        let chain =
            interval.denom().checked_mul(i128::from(self.serial)).and_then(|time| time.checked_mul(8));
        let most = turns.zip(chain).and_then(|(turns, chain)| turns.checked_add(chain));
        // Of 128 bits the sums of a few are as far from the end.
        let most = most.filter(|&most| most < i128::MAX / 64).ok_or(ZoneError::Overflow)?;
        Ok(most < i128::from(i64::MAX / 4))
    }
}

/// An interval and a tick as they are multiplied.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale<T> {
    /// The interval.
    pub interval: T,
    /// One tick.
    tick: T,
}

impl<T: super::Time> Scale<T> {
    pub(super) fn new(interval: Interval) -> Result<Self, ZoneError> {
        let fit = |value: i128| T::try_from(value).map_err(|_| ZoneError::Overflow);
        Ok(Self { interval: fit(*interval.numer())?, tick: fit(*interval.denom())? })
    }

    /// A time.
    pub(super) fn ticks(self, ticks: i64) -> T {
        T::from(ticks) * self.tick
    }

    /// This many intervals.
    pub(super) fn turns(self, count: i64) -> T {
        T::from(count) * self.interval
    }

    /// The most intervals that fit into a time.
    pub(super) fn floor(self, time: T) -> i64 {
        // Every time is few intervals long, as has been checked where times are scaled.
        time.div_floor(&self.interval).try_into().unwrap_or(i64::MAX / 8)
    }

    /// The fewest intervals that a time fits into.
    pub(super) fn ceil(self, time: T) -> i64 {
        -self.floor(-time)
    }
}

fn figures_of(
    model: &Model,
    passes: Passes,
    stages: &[Stage],
    most_copies: i64,
    capacities: [Option<i64>; 2],
) -> Result<Figures, ZoneError> {
    let mut stages = stages.to_vec();
    stages.sort_unstable();
    let chunks = stages.len();
    let pass = |chunk: usize, kind| Pass::new(stages[chunk], kind, Microbatch(0));
    let by_chunk = |of: &dyn Fn(usize) -> i64| {
        let mut values = [0; 2];
        for (chunk, value) in values.iter_mut().enumerate().take(chunks) {
            *value = of(chunk);
        }
        values
    };
    let time = |chunk: usize, kind| model.duration(stages[chunk], kind).0;
    let mut duration = [0; NODES];
    for chunk in 0..chunks {
        duration[chunk] = time(chunk, Kind::F);
        duration[2 * chunks - 1 - chunk] = time(chunk, passes.backward());
    }
    // With this much nothing is ever held back.
    let everything = stages.iter().map(|&stage| model.activation(stage).0).sum::<i64>();
    let everything = everything.checked_mul(most_copies + 4).ok_or(ZoneError::Overflow)?;
    Ok(Figures {
        chunks,
        duration,
        weight: (!passes.fused).then(|| by_chunk(&|chunk| time(chunk, Kind::W))),
        recompute: passes.recompute.then(|| by_chunk(&|chunk| time(chunk, Kind::R))),
        by_forward: by_chunk(&|chunk| acquired(model, pass(chunk, Kind::F), passes.recompute).0),
        by_recompute: by_chunk(&|chunk| {
            if passes.recompute { acquired(model, pass(chunk, Kind::R), true).0 } else { 0 }
        }),
        by_input: by_chunk(&|chunk| released(model, pass(chunk, passes.backward())).0),
        by_weight: by_chunk(&|chunk| if passes.fused { 0 } else { released(model, pass(chunk, Kind::W)).0 }),
        capacity: capacities.into_iter().flatten().fold(everything, i64::min),
    })
}
