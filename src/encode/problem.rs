//! The passes of a block, what they wait for, and what they hold: the data of every encoding.

use std::ops::Range;

use num_integer::Integer;

use super::EncodeError;
use crate::kernel::{acquired, released};
use crate::model::{Device, Kind, Microbatch, Model, Pass, Placement, Stage, Units};

/// A dependency inside the block: `after` starts at least `lag` ticks after `before` starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link {
    /// The pass waited for.
    pub before: usize,
    /// The pass that waits.
    pub after: usize,
    /// Duration of `before` and latency of the boundary, in ticks.
    pub lag: i64,
}

/// Memory from the start of one pass to the end of another one of the same device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hold {
    /// The F that acquires it.
    pub from: usize,
    /// The backward pass that releases it.
    pub until: usize,
    /// How much it is, in units.
    pub units: i64,
}

/// What is live on a device when one of its Fs starts: `constant + sum coefficient * k[pair]` units.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Live {
    /// The part that does not depend on the block.
    pub constant: i128,
    /// Pairs and their coefficients, each pair once.
    pub terms: Vec<(usize, i128)>,
}

impl Live {
    /// The amount for given shifts, one per pair.
    #[must_use]
    pub fn at(&self, shifts: &[i64]) -> i128 {
        self.constant
            + self
                .terms
                .iter()
                .map(|&(pair, coefficient)| coefficient * i128::from(shifts[pair]))
                .sum::<i128>()
    }
}

/// A model as the encodings see it: the microbatches of one interval, with passes numbered from 0,
/// copy by copy.
///
/// Every stage has F, I and W. Where W takes no time it is fused with I into B: running W at once
/// delays nothing and holds least.
///
/// **First in, first out.** Of each stage and kind the copies follow each other, the next interval's
/// first after this one's last. That is no loss of generality: sorted by their starts, the passes of
/// a stage and kind run at the same instants; the j-th start of a pass lies no earlier behind the
/// j-th start of what it waits for than before, as no more of its starts than of the other's ends
/// lie before any instant; and memory depends on those instants alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockProblem {
    placement: Placement,
    period: u32,
    passes: Vec<Pass>,
    durations: Vec<i64>,
    groups: Vec<Vec<usize>>,
    slots: Vec<usize>,
    first_pair: Vec<usize>,
    pairs: Vec<(usize, usize)>,
    links: Vec<Link>,
    chain: usize,
    holds: Vec<Vec<Hold>>,
    capacities: Vec<Option<i64>>,
    most_work: i64,
}

impl BlockProblem {
    /// The most stages: bounds are closed over all pairs of passes, in cubic time.
    pub const MAX_STAGES: u32 = 256;

    /// The problem of one microbatch per interval of a model. The model's number of microbatches and
    /// its recomputation play no part.
    ///
    /// # Errors
    /// When F or I of a stage takes no time, or there are too many stages.
    pub fn new(model: &Model) -> Result<Self, EncodeError> {
        Self::periodic(model, 1)
    }

    /// The problem of `period` microbatches per interval.
    ///
    /// # Errors
    /// When F or I of a stage takes no time, or there are too many stages, or no microbatch or too
    /// many for so many stages.
    pub fn periodic(model: &Model, period: u32) -> Result<Self, EncodeError> {
        let stages = model.stages();
        if stages > Self::MAX_STAGES {
            return Err(EncodeError::TooManyStages(stages));
        }
        let most = Self::MAX_STAGES / stages;
        if period == 0 || period > most {
            return Err(EncodeError::Period { period, most });
        }
        let mut passes = Vec::new();
        let mut of_copy: Vec<Vec<Range<usize>>> = Vec::new();
        for copy in Microbatch::all(period) {
            let mut of_stage = Vec::new();
            for stage in Stage::all(stages) {
                let fused = model.duration(stage, Kind::W).0 == 0;
                let kinds: &[Kind] = if fused { &[Kind::F, Kind::B] } else { &[Kind::F, Kind::I, Kind::W] };
                of_stage.push(passes.len()..passes.len() + kinds.len());
                for &kind in kinds {
                    let pass = Pass::new(stage, kind, copy);
                    if model.duration(stage, kind).0 == 0 {
                        return Err(EncodeError::NoDuration(pass));
                    }
                    passes.push(pass);
                }
            }
            of_copy.push(of_stage);
        }
        let durations: Vec<i64> = passes.iter().map(|pass| model.duration(pass.stage, pass.kind).0).collect();
        let ranges_of = |stage: Stage| of_copy.iter().map(move |of_stage| of_stage[stage.index()].clone());
        let lists = model.placement().lists();
        let groups: Vec<Vec<usize>> = lists
            .iter()
            .map(|stages| stages.iter().flat_map(|&stage| ranges_of(stage)).flatten().collect())
            .collect();
        let (slots, first_pair, pairs) = number_pairs(&groups, passes.len());
        let mut links: Vec<Link> =
            of_copy.iter().flat_map(|of_stage| chain(model, of_stage, &durations)).collect();
        let chain = links.len();
        for range in of_copy.iter().flatten().filter(|range| range.len() == 3) {
            let (before, after) = (range.start + 1, range.start + 2);
            links.push(Link { before, after, lag: durations[before] });
        }
        let holds = lists.iter().map(|stages| {
            let ranges = stages.iter().flat_map(|&stage| ranges_of(stage));
            ranges.flat_map(|range| holds_of(model, &passes, range)).collect()
        });
        let capacities = Device::all(model.devices())
            .map(|device| model.activation_capacity(device).map(|capacity| capacity.0));
        let most_work = model.most_work().0.checked_mul(i64::from(period)).ok_or(EncodeError::Overflow)?;
        Ok(Self {
            placement: model.placement().clone(),
            period,
            durations,
            slots,
            first_pair,
            pairs,
            links,
            chain,
            holds: holds.collect(),
            capacities: capacities.collect(),
            most_work,
            groups,
            passes,
        })
    }

    /// The number of microbatches in one interval, K.
    #[must_use]
    pub const fn period(&self) -> u32 {
        self.period
    }

    /// Whether two passes are of one stage and kind: of different copies, first in, first out.
    #[must_use]
    pub fn in_turn(&self, a: usize, b: usize) -> bool {
        let (a, b) = (self.passes[a], self.passes[b]);
        a.stage == b.stage && a.kind == b.kind
    }

    /// Which device holds which stages.
    #[must_use]
    pub const fn placement(&self) -> &Placement {
        &self.placement
    }

    /// The passes; everything else names them by their position here.
    #[must_use]
    pub fn passes(&self) -> &[Pass] {
        &self.passes
    }

    /// How long each pass takes, in ticks: positive.
    #[must_use]
    pub fn durations(&self) -> &[i64] {
        &self.durations
    }

    /// The pairs of passes that share a device, of two copies of one pass the earlier first. Each has
    /// an integer `k` in the encoding; `k = 0` for passes [in turn](Self::in_turn).
    #[must_use]
    pub fn pairs(&self) -> &[(usize, usize)] {
        &self.pairs
    }

    /// The dependencies: for every copy the chain of all Fs and then all Is, first to last, and W after
    /// its I. They imply all others.
    #[must_use]
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// The links of the chain of all Fs and Is.
    #[must_use]
    pub fn chain(&self) -> &[Link] {
        &self.links[..self.chain]
    }

    /// The links from an I to its W.
    #[must_use]
    pub fn weight_links(&self) -> &[Link] {
        &self.links[self.chain..]
    }

    /// What is held on each device.
    #[must_use]
    pub fn holds(&self) -> &[Vec<Hold>] {
        &self.holds
    }

    /// The passes of each device.
    #[must_use]
    pub fn groups(&self) -> &[Vec<usize>] {
        &self.groups
    }

    /// The capacity of each device, in units.
    #[must_use]
    pub fn capacities(&self) -> &[Option<i64>] {
        &self.capacities
    }

    /// The most work of a device in an interval, in ticks: no interval is shorter.
    #[must_use]
    pub const fn most_work(&self) -> i64 {
        self.most_work
    }

    /// An interval in which every microbatch runs alone: all passes one after another.
    #[must_use]
    pub fn serial(&self) -> i64 {
        // Every pass but the last of a copy's chain is waited for once, and every W takes its turn.
        let alone: i64 = self.weight_links().iter().map(|link| self.durations[link.after]).sum();
        let chain: i64 = self.chain().iter().map(|link| link.lag).sum();
        let last = self.chain().last().map_or(0, |link| self.durations[link.after]);
        chain + last * i64::from(self.period) + alone
    }

    /// The largest amount of which all memory is a multiple, in units.
    #[must_use]
    pub fn quantum(&self) -> i64 {
        self.holds.iter().flatten().fold(0, |divisor, hold| divisor.gcd(&hold.units)).max(1)
    }

    /// The first device on which the activations of one microbatch exceed the capacity, if there is one.
    /// All of them are live when the last of the device's Fs starts, so no interval is feasible then;
    /// and when there is none, [`serial`](Self::serial) is.
    #[must_use]
    pub fn overfull(&self) -> Option<Device> {
        let exceeds = |(holds, capacity): (&Vec<Hold>, &Option<i64>)| {
            let first = holds.iter().filter(|hold| self.passes[hold.from].microbatch == Microbatch(0));
            let held: i64 = first.map(|hold| hold.units).sum();
            capacity.is_some_and(|capacity| held > capacity)
        };
        self.holds.iter().zip(&self.capacities).position(exceeds).map(Device::at)
    }

    /// The pair of two passes of one device, and whether `a` is its first.
    pub(super) fn pair(&self, a: usize, b: usize) -> (usize, bool) {
        let device = self.placement.device_of(self.passes[a].stage).index();
        let (low, high) = (self.slots[a].min(self.slots[b]), self.slots[a].max(self.slots[b]));
        (self.first_pair[device] + high * (high - 1) / 2 + low, self.slots[a] < self.slots[b])
    }

    /// What is live on a device at the start of each of its Fs.
    ///
    /// The copies of a hold live then number `1 - k[from, F] - k[F, until]`, with `k[F, F] = 0`.
    #[must_use]
    pub fn live(&self, device: Device) -> Vec<Live> {
        let group = &self.groups[device.index()];
        let forwards = group.iter().copied().filter(|&pass| self.passes[pass].kind == Kind::F);
        forwards
            .map(|started| {
                let mut live = Live { constant: 0, terms: Vec::new() };
                for hold in &self.holds[device.index()] {
                    let units = i128::from(hold.units);
                    live.constant += units;
                    for (a, b) in [(hold.from, started), (started, hold.until)] {
                        if a == b || units == 0 {
                            continue;
                        }
                        let (pair, forward) = self.pair(a, b);
                        // k[a, b] = 1 - k[b, a]
                        let coefficient = if forward { -units } else { units };
                        live.constant -= if forward { 0 } else { units };
                        match live.terms.iter_mut().find(|(known, _)| *known == pair) {
                            Some((_, sum)) => *sum += coefficient,
                            None => live.terms.push((pair, coefficient)),
                        }
                    }
                }
                live
            })
            .collect()
    }

    /// The peak of each device for given shifts, one per pair.
    #[must_use]
    pub fn peaks(&self, shifts: &[i64]) -> Vec<i128> {
        Device::all(self.placement.devices())
            .map(|device| self.live(device).iter().map(|live| live.at(shifts)).max().unwrap_or(0))
            .collect()
    }
}

/// Positions of passes within their devices, the first pair of each device, and all pairs.
fn number_pairs(groups: &[Vec<usize>], passes: usize) -> (Vec<usize>, Vec<usize>, Vec<(usize, usize)>) {
    let mut slots = vec![0; passes];
    let (mut first_pair, mut pairs) = (Vec::new(), Vec::new());
    for group in groups {
        first_pair.push(pairs.len());
        for (slot, &pass) in group.iter().enumerate() {
            slots[pass] = slot;
            pairs.extend(group[..slot].iter().map(|&before| (before, pass)));
        }
    }
    (slots, first_pair, pairs)
}

/// The links of all Fs from the first stage to the last and all Is (or Bs) back.
fn chain(model: &Model, of_stage: &[Range<usize>], durations: &[i64]) -> Vec<Link> {
    let down = of_stage.iter().map(|range| range.start);
    let up = of_stage.iter().rev().map(|range| range.start + 1);
    let order: Vec<usize> = down.chain(up).collect();
    let last = of_stage.len() - 1;
    order
        .windows(2)
        .enumerate()
        .map(|(position, ends)| {
            let latency = match position {
                forward if forward < last => model.latency_after(Stage::at(forward)).0,
                turn if turn == last => 0,
                back => model.latency_after(Stage::at(2 * last - back)).0,
            };
            Link { before: ends[0], after: ends[1], lag: durations[ends[0]] + latency }
        })
        .collect()
}

/// What a stage holds: one part for each backward pass that releases something.
fn holds_of(model: &Model, passes: &[Pass], range: Range<usize>) -> Vec<Hold> {
    let from = range.start;
    debug_assert_eq!(
        acquired(model, passes[from], false),
        range.clone().map(|pass| released(model, passes[pass])).sum::<Units>(),
        "what F acquires is what the backward releases"
    );
    range
        .filter(|&pass| pass != from)
        .map(|until| Hold { from, until, units: released(model, passes[until]).0 })
        .filter(|hold| hold.units > 0)
        .collect()
}
