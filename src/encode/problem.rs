//! The passes of a block, what they wait for, and what they hold: the data of every encoding.

use num_integer::Integer;

use super::EncodeError;
use crate::block::{acquired, released};
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

/// A model as the encodings see it: one microbatch, with passes numbered from 0.
///
/// Every stage has F, I and W. Where W takes no time it is fused with I into B: running W at once
/// delays nothing and holds least.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    placement: Placement,
    passes: Vec<Pass>,
    durations: Vec<i64>,
    groups: Vec<Vec<usize>>,
    slots: Vec<usize>,
    first_pair: Vec<usize>,
    pairs: Vec<(usize, usize)>,
    links: Vec<Link>,
    chain: usize,
    holds: Vec<Vec<Hold>>,
    caps: Vec<Option<i64>>,
    most_work: i64,
}

impl Problem {
    /// The most stages: bounds are closed over all pairs of passes, in cubic time.
    pub const MAX_STAGES: u32 = 256;

    /// The problem of a model. Its microbatches and its recomputation play no part.
    ///
    /// # Errors
    /// When F or I of a stage takes no time, or there are too many stages.
    pub fn new(model: &Model) -> Result<Self, EncodeError> {
        let stages = model.stages();
        if stages > Self::MAX_STAGES {
            return Err(EncodeError::TooManyStages(stages));
        }
        let mut passes = Vec::new();
        let mut of_stage = Vec::new();
        for stage in Stage::all(stages) {
            let fused = model.duration(stage, Kind::W).0 == 0;
            let kinds: &[Kind] = if fused { &[Kind::F, Kind::B] } else { &[Kind::F, Kind::I, Kind::W] };
            of_stage.push(passes.len()..passes.len() + kinds.len());
            for &kind in kinds {
                let pass = Pass::new(stage, kind, Microbatch(0));
                if model.duration(stage, kind).0 == 0 {
                    return Err(EncodeError::NoDuration(pass));
                }
                passes.push(pass);
            }
        }
        let durations: Vec<i64> = passes.iter().map(|pass| model.duration(pass.stage, pass.kind).0).collect();
        let groups: Vec<Vec<usize>> = model
            .placement()
            .lists()
            .iter()
            .map(|stages| stages.iter().flat_map(|stage| of_stage[stage.index()].clone()).collect())
            .collect();
        let (slots, first_pair, pairs) = number_pairs(&groups, passes.len());
        let mut links = chain(model, &of_stage, &durations);
        let chain = links.len();
        for range in of_stage.iter().filter(|range| range.len() == 3) {
            let (before, after) = (range.start + 1, range.start + 2);
            links.push(Link { before, after, lag: durations[before] });
        }
        let holds = model.placement().lists().iter().map(|stages| {
            let of = |stage: &Stage| holds_of(model, &passes, of_stage[stage.index()].clone());
            stages.iter().flat_map(of).collect()
        });
        let caps = Device::all(model.devices()).map(|device| model.capacity(device).map(|cap| cap.0));
        Ok(Self {
            placement: model.placement().clone(),
            durations,
            slots,
            first_pair,
            pairs,
            links,
            chain,
            holds: holds.collect(),
            caps: caps.collect(),
            most_work: model.most_work().0,
            groups,
            passes,
        })
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

    /// The pairs of passes that share a device. Each has an integer `k` in the encoding.
    #[must_use]
    pub fn pairs(&self) -> &[(usize, usize)] {
        &self.pairs
    }

    /// The dependencies: the chain of all Fs and then all Is, first to last, and W after its I.
    /// They imply all others.
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

    /// The cap of each device, in units.
    #[must_use]
    pub fn caps(&self) -> &[Option<i64>] {
        &self.caps
    }

    /// The most work of a device, in ticks: no interval is shorter.
    #[must_use]
    pub const fn most_work(&self) -> i64 {
        self.most_work
    }

    /// An interval in which one microbatch runs alone: its passes one after another.
    #[must_use]
    pub fn serial(&self) -> i64 {
        let alone: i64 = self.weight_links().iter().map(|link| self.durations[link.after]).sum();
        let chain: i64 = self.chain().iter().map(|link| link.lag).sum();
        let last = self.chain().last().map_or(0, |link| self.durations[link.after]);
        chain + last + alone
    }

    /// The largest amount of which all memory is a multiple, in units.
    #[must_use]
    pub fn quantum(&self) -> i64 {
        self.holds.iter().flatten().fold(0, |divisor, hold| divisor.gcd(&hold.units)).max(1)
    }

    /// The first device on which the activations of one microbatch exceed the cap, if there is one.
    /// All of them are live when the last of the device's Fs starts, so no interval is feasible then;
    /// and when there is none, [`serial`](Self::serial) is.
    #[must_use]
    pub fn overfull(&self) -> Option<Device> {
        let exceeds = |(holds, cap): (&Vec<Hold>, &Option<i64>)| {
            let held: i64 = holds.iter().map(|hold| hold.units).sum();
            cap.is_some_and(|cap| held > cap)
        };
        self.holds.iter().zip(&self.caps).position(exceeds).map(Device::at)
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
fn chain(model: &Model, of_stage: &[std::ops::Range<usize>], durations: &[i64]) -> Vec<Link> {
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
fn holds_of(model: &Model, passes: &[Pass], range: std::ops::Range<usize>) -> Vec<Hold> {
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
