//! **Work against memory.** What takes a device less time may hold memory for longer. Passes in pairs take a device less time,
//! but each of them takes longer, so what its microbatch holds is held for longer, on every device that it has entered and not yet
//! left. What is recomputed holds less, but takes time; and what is offloaded holds less, but its copies take time on engines of their
//! own. This bound weighs the one against the other, over all devices together.
//!
//! For a device, let t be the time between its head and its tail, and C its capacity. Of all that its microbatches may do, let the
//! number of each be what a schedule chooses: pairs of a forward, a backward and a kind; and for each stage what is kept, recomputed at
//! a level, or offloaded. Let *work* be what its Fs, Is and Ws take one by one.
//!
//! - *Time*: `t >= work - what pairs save + what Rs take + idle`. Before the first backward can reach the device, it runs Fs and Rs
//!   alone, in no pair, and holds the memory of all of them at its end. After the last forward, it runs Rs and backwards alone, and
//!   already held the memory of all of them. What is left of these two windows is idle.
//! - *Memory*: `C * t >= sum of what is held times how long + ramps`. What a choice keeps is held from the start of F to
//!   the end of I, so at least for the time of one microbatch alone, and longer by what every pair with one of the Fs and
//!   Is in between takes longer than that pass; the rest is held from the start of R. Then W holds what it needs. The ramps are
//!   the memory that must still be empty at the beginning, and is empty again at the end, as in [area](super::area). What is offloaded
//!   is whole while F, both copies and I run; between them a part of it stays.
//! - *Copies*: `t >= what all copies in one direction take + around`. Around them run an F, an I, a W, and a copy in the other direction.
//! - *Numbers*: each F, or backward, outside these windows is in one pair at most; those in the windows are in none. For each
//!   stage and microbatch there is one choice.
//!
//! **Theorem.** Multiply the first three by any weights that are not negative, and add up over all devices. For every pair, the weight
//! of what it saves less that of the memory that it takes is no more than the prices of its F and of its backward. For every
//! choice, the weight of its R, its copies and its memory is no less than what the least choice of the stage counts. So the sum
//! without pairs, with the least choice, less all prices, and with the least that the windows can count, is at most
//! the makespan times the sum of the weights.
//!
//! `docs/bounds.md` has the details and the proof. Weights come from a linear program, in floating point; here they are whole
//! numbers, and whatever they are, what is derived from them is a bound.

use num_integer::Integer;
use serde::{Deserialize, Serialize};

use super::pairs::shortened;
use super::path::Paths;
use super::reason::{Bound, BoundReason, Objective};
use super::{area, offload, window};
use crate::model::{Device, Kind, Microbatch, Model, Stage, Ticks, Units};

/// All that the bound is made of, for whoever looks for weights.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WeighedTerms {
    /// By device.
    pub devices: Vec<DeviceTerms>,
    /// By stage.
    pub stages: Vec<StageTerms>,
    /// Every pair that saves time.
    pub pairs: Vec<PairTerms>,
}

/// What a device contributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceTerms {
    /// The least time before its first pass and after its last.
    pub outside: Ticks,
    /// What all its passes take one by one.
    pub work: Ticks,
    /// The time after its head in which it can run forwards alone. Nothing where the two windows could overlap.
    pub first: Ticks,
    /// The time before its tail in which it can run backwards alone. Nothing where the two windows could overlap.
    pub last: Ticks,
    /// For how long copies to the host can run in the first of these, and copies from it in the last: not while the first F, or the last
    /// I and its W, run.
    pub copies_within: [Ticks; 2],
    /// What it has room for, if that is limited.
    pub capacity: Option<Units>,
    /// What of its memory is empty at the beginning and at the end, in units times ticks. Nothing where the two could overlap.
    pub ramps: i128,
    /// By how much its passes take longer, at the least, than all copies to the host together, and than all copies from it. Nothing
    /// where nothing is offloaded, or where that could be longer than its passes without any copy.
    pub around_copies: [Ticks; 2],
}

/// What a stage contributes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StageTerms {
    /// Where it is.
    pub device: Device,
    /// The stage before it in its pipeline.
    pub before: Option<Stage>,
    /// How many microbatches go through it.
    pub microbatches: i64,
    /// How long its F takes.
    pub forward: Ticks,
    /// How long its I takes.
    pub input: Ticks,
    /// How long its W takes.
    pub weight: Ticks,
    /// The most that is held from the start of F to the end of I.
    pub whole: Units,
    /// The least that W holds of this.
    pub retained: Units,
    /// To keep everything, each level of recomputation, and to offload.
    pub choices: Vec<ChoiceTerms>,
}

impl StageTerms {
    /// The least that is held from the start of F to the end of I.
    #[must_use]
    pub fn least_held(&self) -> Units {
        self.choices.iter().map(|choice| choice.holds).min().unwrap_or_default()
    }
}

/// What may be done about the memory of a microbatch on a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChoiceTerms {
    /// What is held from the start of F to the end of I.
    pub holds: Units,
    /// How long R takes, and nothing where there is none.
    pub again: Ticks,
    /// What is held times the least time for which it is, up to the end of I, where none of the passes in between is in a
    /// pair, in units times ticks.
    pub area: i128,
    /// How long the copies to the host and from it take, and nothing where there are none.
    pub copies: [Ticks; 2],
}

/// What a pair changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PairTerms {
    /// The stage of its F.
    pub forward: Stage,
    /// The stage of its backward.
    pub backward: Stage,
    /// Whether the backward is a B, so that W is part of it.
    pub with_weight: bool,
    /// How much less time it takes than both passes one after the other.
    pub saves: Ticks,
    /// How much longer it takes than its F.
    pub beyond_forward: Ticks,
    /// How much longer it takes than the I of its backward.
    pub beyond_input: Ticks,
}

/// What [the bound](weighed_bound) is made of.
#[must_use]
pub fn weighed_terms(model: &Model, objective: Objective) -> WeighedTerms {
    let apart = model.with_own_links();
    let (held, paths) = (apart.memory_floor(), Paths::new(&apart));
    let short = shortened(&apart);
    let (directions, has_pairs) = (apart.placement().directions(), apart.has_cheaper_pairs());
    let stages = Stage::all(apart.stages()).map(|stage| {
        let first = (0..directions).find(|&at| apart.placement().leads_through(stage, Microbatch(at)));
        let microbatches = first.map_or(0, |at| apart.microbatches().saturating_sub(at).div_ceil(directions));
        let choices = choices(&apart, &held, &paths, stage, has_pairs);
        let whole = choices[0].holds;
        StageTerms {
            device: apart.placement().device_of(stage),
            before: apart.placement().stage_before(stage),
            microbatches: i64::from(microbatches),
            forward: apart.duration(stage, Kind::F),
            input: apart.duration(stage, Kind::I),
            weight: apart.duration(stage, Kind::W),
            whole,
            retained: held.retained_for_weight(stage).min(whole),
            choices,
        }
    });
    let stages: Vec<StageTerms> = stages.collect();
    let devices = Device::all(apart.devices()).map(|device| {
        let of_device = apart.placement().stages_of(device);
        let in_all = |of_stage: &dyn Fn(Stage) -> Ticks| -> Ticks {
            of_device.iter().map(|&stage| of_stage(stage) * stages[stage.index()].microbatches).sum()
        };
        let both = |model: &Model, stage| model.duration(stage, Kind::F) + model.duration(stage, Kind::B);
        let least = in_all(&|stage| both(&short, stage));
        let window::Lengths { head, to_first_input, from_last_forward, device_tail } =
            window::lengths(&paths, device, objective);
        // No schedule is shorter than the shortened work, so the windows cannot overlap if that is longer than both.
        let is_apart = least + head + device_tail >= to_first_input + from_last_forward;
        let window = |length: Ticks| if is_apart { length.max(Ticks::ZERO) } else { Ticks::ZERO };
        let [first, last] = [to_first_input - head, from_last_forward - device_tail].map(window);
        let beside = |window: Ticks, kinds: &[Kind]| {
            let of_stage = |&stage| kinds.iter().map(|&kind| apart.duration(stage, kind)).sum::<Ticks>();
            (window - of_device.iter().map(of_stage).min().unwrap_or_default()).max(Ticks::ZERO)
        };
        let capacity = held.activation_capacity(device).filter(|&capacity| capacity > Units::ZERO);
        DeviceTerms {
            outside: head + device_tail,
            work: in_all(&|stage| both(&apart, stage)),
            first,
            last,
            copies_within: [beside(first, &[Kind::F]), beside(last, &[Kind::I, Kind::W])],
            capacity,
            ramps: capacity.map_or(0, |capacity| {
                let whole = of_device.iter().map(|stage| stages[stage.index()].whole).max();
                area::ramps(&apart, device, whole.unwrap_or_default(), capacity, least)
            }),
            around_copies: apart.offload().map_or([Ticks::ZERO; 2], |offload| {
                let around = offload::around(&apart, offload, of_device);
                // Where nothing is offloaded, the passes take no less than the shortened work.
                around.map(|around| if around <= least { around } else { Ticks::ZERO })
            }),
        }
    });
    let devices = devices.collect();
    let pairs = Device::all(apart.devices()).flat_map(|device| pairs_of(&apart, device)).collect();
    WeighedTerms { devices, stages, pairs }
}

/// What can be done about a stage; first, to keep everything.
fn choices(
    model: &Model,
    held: &Model,
    paths: &Paths<'_>,
    stage: Stage,
    has_pairs: bool,
) -> Vec<ChoiceTerms> {
    let duration = |kind| model.duration(stage, kind);
    let area = |units: Units, ticks: Ticks| i128::from(units.0) * i128::from(ticks.0);
    let lifespan = paths.input_head(stage) + duration(Kind::I) - paths.forward_head(stage);
    // What comes between F and I may take longer than the way of the microbatch, unless pairs make that longer.
    let at_least = |in_turn: Ticks| if has_pairs { lifespan } else { lifespan.max(in_turn) };
    let whole = held.activation(stage);
    let keep = ChoiceTerms {
        holds: whole,
        again: Ticks::ZERO,
        area: area(whole, lifespan),
        copies: [Ticks::ZERO; 2],
    };
    let level = |level| {
        let (kept, again) = (model.checkpoint_at(stage, level)?, model.recompute_duration(stage, level));
        let kept = kept.min(whole);
        let rest = again + duration(Kind::I);
        let area = area(kept, at_least(duration(Kind::F) + rest)) + area(whole - kept, rest);
        Some(ChoiceTerms { holds: kept, again, area, ..keep })
    };
    let offloaded = model.offload().map(|offload| {
        let copies = [offload.to_host[stage.index()], offload.from_host[stage.index()]];
        let moved = model.moved(stage).min(whole);
        let here = duration(Kind::F) + copies[0] + copies[1] + duration(Kind::I);
        let area = area(whole - moved, at_least(here)) + area(moved, here);
        ChoiceTerms { holds: whole - moved, area, copies, ..keep }
    });
    let levels = (0..model.recompute_levels()).filter_map(level);
    std::iter::once(keep).chain(levels).chain(offloaded).collect()
}

/// The pairs of a device that save time.
fn pairs_of(model: &Model, device: Device) -> Vec<PairTerms> {
    let mut pairs = Vec::new();
    let stages = model.placement().stages_of(device);
    for (&forward, &backward) in
        stages.iter().flat_map(|forward| stages.iter().map(move |other| (forward, other)))
    {
        for kind in [Kind::I, Kind::B] {
            let saves = model.pair_saves(forward, backward, kind);
            if saves > Ticks::ZERO {
                let [alone, other] =
                    [(forward, Kind::F), (backward, kind)].map(|(at, kind)| model.duration(at, kind));
                pairs.push(PairTerms {
                    forward,
                    backward,
                    with_weight: kind == Kind::B,
                    saves,
                    beyond_forward: other - saves,
                    beyond_input: alone + other - saves - model.duration(backward, Kind::I),
                });
            }
        }
    }
    pairs
}

/// Whole numbers, not negative, from which a bound follows. Only their ratios matter.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Weights {
    /// By device.
    pub devices: Vec<DeviceWeights>,
    /// By stage, what it costs that one of its backwards can be in one pair only, in ticks times weights.
    pub backwards: Vec<i64>,
    /// By stage and choice, how much of what the choice counts beyond the least one counts in the window before the first
    /// backward, in ticks times weights. The rest counts in that after the last forward. Nothing where there is no choice.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<Vec<i64>>,
}

/// What a device counts in a sum over all devices.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeviceWeights {
    /// What a tick of its time counts.
    pub work: i64,
    /// What its whole memory counts for a tick.
    pub memory: i64,
    /// What its whole memory counts before its first backward, in ticks times weights.
    pub first: i64,
    /// What its whole memory counts after its last forward, in ticks times weights.
    pub last: i64,
    /// What a tick of its copies to the host counts.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub to_host: i64,
    /// What a tick of its copies from the host counts.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub from_host: i64,
    /// What a tick of its copies to the host counts in addition, before its first backward.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub first_copies: i64,
    /// What a tick of its copies from the host counts in addition, after its last forward.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub last_copies: i64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_nothing(weight: &i64) -> bool {
    *weight == 0
}

impl DeviceWeights {
    /// What a tick of the makespan counts for this device.
    fn of_time(&self) -> i128 {
        [self.work, self.memory, self.to_host, self.from_host].into_iter().map(i128::from).sum()
    }

    /// What a tick of copies to the host counts, and of copies from it.
    fn of_copies(&self) -> [i128; 2] {
        [self.to_host, self.from_host].map(i128::from)
    }
}

/// The bound that follows from weights; nothing where there are too few or too many, one is negative, no device has one, one is
/// given to memory without a limit, or figures are too large.
#[must_use]
pub fn weighed_bound(model: &Model, objective: Objective, weights: &Weights) -> Option<Bound> {
    let value = Sum::new(&weighed_terms(model, objective), weights)?.value()?;
    Some(Bound { value, reason: BoundReason::Weighed(weights.clone()) })
}

/// The sum over all devices.
struct Sum<'a> {
    terms: &'a WeighedTerms,
    weights: &'a Weights,
    /// By stage: what a tick counts while W holds what it needs.
    needed: Vec<i128>,
    /// By stage: what a tick counts while a microbatch is under way in it, for what it holds of all stages up to this one.
    under_way: Vec<i128>,
    /// By stage and choice: what it counts beyond the least.
    beyond: Vec<Vec<i128>>,
    /// By stage: what the least choice counts.
    least: Vec<i128>,
    /// By device: its stages.
    stages: Vec<Vec<usize>>,
}

impl<'a> Sum<'a> {
    fn new(terms: &'a WeighedTerms, weights: &'a Weights) -> Option<Self> {
        let of_devices = weights.devices.iter().flat_map(|of| {
            let of_copies = [of.to_host, of.from_host, of.first_copies, of.last_copies];
            [of.work, of.memory, of.first, of.last].into_iter().chain(of_copies)
        });
        let of_stages = weights.backwards.iter().chain(weights.choices.iter().flatten());
        let is_complete = weights.devices.len() == terms.devices.len()
            && weights.backwards.len() == terms.stages.len()
            && (weights.choices.is_empty()
                || weights
                    .choices
                    .iter()
                    .map(Vec::len)
                    .eq(terms.stages.iter().map(|stage| stage.choices.len())));
        if !is_complete || of_devices.chain(of_stages.copied()).any(|number| number < 0) {
            return None;
        }
        let (mut needed, mut under_way) = (Vec::new(), Vec::<i128>::new());
        let (mut least, mut beyond) = (Vec::new(), Vec::new());
        for stage in &terms.stages {
            let (device, of) = (&terms.devices[stage.device.index()], &weights.devices[stage.device.index()]);
            let before = stage.before.map_or(0, |before| under_way[before.index()]);
            needed.push(share(of.memory, stage.retained.0, device.capacity)?);
            let held = share(of.memory, stage.least_held().0, device.capacity)?;
            under_way.push(before.checked_add(held)?);
            let counts = stage.choices.iter().map(|choice| {
                let area = share(of.memory, choice.area, device.capacity)?;
                let work = times(of.work.into(), choice.again)?.checked_add(area)?;
                of.of_copies()
                    .into_iter()
                    .zip(choice.copies)
                    .try_fold(work, |sum, (weight, copy)| sum.checked_add(times(weight, copy)?))
            });
            let counts = counts.collect::<Option<Vec<i128>>>()?;
            let lowest = counts.iter().copied().min()?;
            least.push(lowest);
            beyond.push(counts.iter().map(|counts| counts - lowest).collect());
        }
        let mut stages = vec![Vec::new(); terms.devices.len()];
        for (at, stage) in terms.stages.iter().enumerate() {
            stages[stage.device.index()].push(at);
        }
        Some(Self { terms, weights, needed, under_way, beyond, least, stages })
    }

    /// The least makespan or device span that the weights prove.
    fn value(&self) -> Option<Ticks> {
        let Self { terms, weights, .. } = self;
        let sum: i128 = weights.devices.iter().map(DeviceWeights::of_time).sum();
        if sum == 0 {
            return None;
        }
        let forwards = self.forwards()?;
        let mut total: i128 = 0;
        for (at, stage) in terms.stages.iter().enumerate() {
            let each = self.least[at]
                .checked_add(times(self.needed[at], stage.weight)?)?
                .checked_sub(forwards[at])?
                .checked_sub(self.weights.backwards[at].into())?;
            total = total.checked_add(each.checked_mul(stage.microbatches.into())?)?;
        }
        for (at, (device, of)) in terms.devices.iter().zip(&weights.devices).enumerate() {
            if device.capacity.is_none() && of.memory > 0 {
                return None;
            }
            let [to_host, from_host] = of.of_copies();
            let all = |memory: i64, copies: i64, within| {
                i128::from(memory).checked_add(times(copies.into(), within)?)
            };
            let first = all(of.first, of.first_copies, device.copies_within[0])?;
            let last = all(of.last, of.last_copies, device.copies_within[1])?;
            let device_total = times(of.of_time(), device.outside)?
                .checked_add(times(to_host, device.around_copies[0])?)?
                .checked_add(times(from_host, device.around_copies[1])?)?
                .checked_add(times(of.work.into(), device.work)?)?
                .checked_add(share(of.memory, device.ramps, device.capacity)?)?
                .checked_add(idle(device.first, of.work, first, &self.forward_items(at, &forwards)?)?)?
                .checked_add(idle(device.last, of.work, last, &self.backward_items(at)?)?)?;
            total = total.checked_add(device_total)?;
        }
        let value = Integer::div_ceil(&total, &sum).max(0);
        Some(Ticks(i64::try_from(value).ok()?))
    }

    /// By stage: the least price of its forwards at which no pair is worth more than the prices of both.
    fn forwards(&self) -> Option<Vec<i128>> {
        let mut prices = vec![0_i128; self.terms.stages.len()];
        for pair in &self.terms.pairs {
            let (forward, backward) = (pair.forward.index(), pair.backward.index());
            let stage = &self.terms.stages[backward];
            let without = if pair.with_weight { times(self.needed[backward], stage.weight)? } else { 0 };
            let work = self.weights.devices[stage.device.index()].work;
            let worth = times(work.into(), pair.saves)?
                .checked_add(without)?
                .checked_sub(times(self.under_way[forward], pair.beyond_forward)?)?
                .checked_sub(times(self.under_way[backward], pair.beyond_input)?)?
                .checked_sub(self.weights.backwards[backward].into())?;
            prices[forward] = prices[forward].max(worth);
        }
        Some(prices)
    }

    /// The stages of a device, with their choices: what each holds, how long its R takes, and what it costs in the first and in
    /// the last window.
    fn of_device(&self, device: usize) -> impl Iterator<Item = (usize, &'a StageTerms, Vec<Cost>)> + '_ {
        self.stages[device].iter().map(|&at| {
            let stage = &self.terms.stages[at];
            let firsts = self.weights.choices.get(at);
            let costs = stage.choices.iter().enumerate().map(|(choice, of)| {
                let beyond = self.beyond[at][choice];
                let first = firsts.and_then(|firsts| firsts.get(choice)).map_or(0, |&first| first.into());
                let first = beyond.min(first);
                Cost { holds: of.holds, again: of.again, copies: of.copies, first, last: beyond - first }
            });
            (at, stage, costs.collect())
        })
    }

    /// What a device may do before its first backward.
    fn forward_items(&self, device: usize, prices: &[i128]) -> Option<Vec<Item>> {
        let (capacity, of) = (self.terms.devices[device].capacity, &self.weights.devices[device]);
        let mut items = Vec::new();
        for (at, stage, costs) in self.of_device(device) {
            for cost in costs {
                let price = prices[at].checked_add(cost.first)?;
                let mut item = |ticks, units: Units, price| {
                    items.push(Item::new(ticks, price, share(of.first, units.0, capacity)?)?);
                    Some(())
                };
                let copy = times(of.first_copies.into(), cost.copies[0])?;
                item(stage.forward, cost.holds, price.checked_add(copy)?)?;
                // What was recomputed, or has not been copied yet, is there as a whole.
                item(stage.forward + cost.again, stage.whole, price)?;
            }
        }
        Some(items)
    }

    /// What a device may do after its last forward.
    fn backward_items(&self, device: usize) -> Option<Vec<Item>> {
        let (capacity, of) = (self.terms.devices[device].capacity, &self.weights.devices[device]);
        let mut items = Vec::new();
        for (at, stage, costs) in self.of_device(device) {
            let mut item = |ticks, units: Units, price| {
                items.push(Item::new(ticks, price, share(of.last, units.0, capacity)?)?);
                Some(())
            };
            let price = i128::from(self.weights.backwards[at]);
            let backward = stage.input + stage.weight;
            // It is there as a whole, whatever was chosen.
            let lowest = costs.iter().map(|cost| cost.last).min().unwrap_or(0);
            item(backward, stage.whole, price.checked_add(lowest)?)?;
            for cost in costs {
                let copy = times(of.last_copies.into(), cost.copies[1])?;
                item(cost.again + backward, cost.holds, price.checked_add(cost.last)?.checked_add(copy)?)?;
            }
            // Its I came before.
            item(stage.weight, stage.retained, 0)?;
        }
        Some(items)
    }
}

/// What a choice costs in a window.
struct Cost {
    holds: Units,
    again: Ticks,
    copies: [Ticks; 2],
    first: i128,
    last: i128,
}

fn times(weight: i128, ticks: Ticks) -> Option<i128> {
    weight.checked_mul(i128::from(ticks.0))
}

/// The part of a weight of a whole capacity that belongs to some amount of it, rounded down. Without a limit it is nothing.
fn share(weight: i64, amount: impl Into<i128>, capacity: Option<Units>) -> Option<i128> {
    let Some(capacity) = capacity else { return Some(0) };
    Some(Integer::div_floor(&i128::from(weight).checked_mul(amount.into())?, &i128::from(capacity.0)))
}

/// Something that a device can do in a window.
struct Item {
    ticks: Ticks,
    /// What it costs: no pair for it, its copy, and the memory that it holds.
    price: i128,
}

impl Item {
    fn new(ticks: Ticks, price: i128, memory: i128) -> Option<Self> {
        Some(Self { ticks, price: price.checked_add(memory)? })
    }
}

/// The least that idle time in a window counts, together with what is done there: a tick counts `weight`, and the whole
/// memory of the device and all of its time for copies count `limits`.
fn idle(window: Ticks, weight: i64, limits: i128, items: &[Item]) -> Option<i128> {
    let weight = i128::from(weight);
    // The most that is gained in the window if its ticks are all filled with what gains most in each.
    let mut most: i128 = 0;
    for item in items.iter().filter(|item| item.ticks > Ticks::ZERO) {
        let gains = times(weight, item.ticks)?.checked_sub(item.price)?;
        most = most.max(Integer::div_ceil(&times(gains, window)?, &i128::from(item.ticks.0)));
    }
    Some(times(weight, window)?.checked_sub(limits)?.checked_sub(most)?.max(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{
        Costs, Memory, Offload, Overlap, PairDurations, Placement, Recompute, RecomputeLevel, StepEnd,
    };
    use crate::replay::replay;
    use crate::schedule::Schedule;

    /// Linear placement on two devices, ten microbatches. Only the first device has a capacity; the second takes a tick for each F
    /// and I.
    fn model([forward, input, weight, latency]: [i64; 4], [holds, retained, capacity]: [i64; 3]) -> Model {
        let placement = Placement::linear(2).expect("a placement");
        let plain = Model::equal_stages(placement, 10, [1, 1, 0, latency]).expect("a model");
        let first = |of: i64, other: i64| vec![Ticks(of), Ticks(other)];
        let costs = Costs {
            forward: first(forward, 1),
            backward_input: first(input, 1),
            backward_weight: first(weight, 0),
            ..plain.costs().clone()
        };
        let memory = Memory {
            activation: vec![Units(holds), Units(1)],
            retained_for_weight: vec![Units(retained), Units(1)],
            capacity: vec![Some(Units(capacity)), None],
            ..plain.memory().clone()
        };
        plain.with_costs(costs).and_then(|model| model.with_plain_memory(memory)).expect("a model")
    }

    fn bound(model: &Model, first: DeviceWeights, choices: Vec<Vec<i64>>) -> Option<i64> {
        let devices = vec![first, DeviceWeights::default()];
        let weights = Weights { devices, backwards: vec![0; 2], choices };
        Some(weighed_bound(model, Objective::Makespan, &weights)?.value.0)
    }

    /// The last microbatch has its F before the first I, and is recomputed after the last F. It fills both windows, for 2 ticks and for
    /// 4, and its R is there only once: so it may take away idle time from one of them alone.
    #[test]
    fn what_is_recomputed_may_fill_both_windows() {
        let level = RecomputeLevel { checkpoint: vec![Units(0); 2], duration: Some(vec![Ticks(2); 2]) };
        let model = model([2, 2, 0, 6], [1, 1, 5])
            .with_recompute(Some(Recompute { levels: vec![level], fused: false }))
            .expect("a model");
        let order = "0F0 0F1 0F2 0F3 0F4 0F9 0I0 0W0 0F5 0I1 0W1 0F6 0I2 0W2 0F7 0I3 0W3 0F8 0I4 0W4 0I5 0W5 0R9 0I6 0W6 0I9 0W9 \
                     0I7 0W7 0I8 0W8";
        let order: Vec<_> = order.split_whitespace().map(|pass| pass.parse().expect("a pass")).collect();
        let above = [0, 1, 2, 3, 4, 9, 5, 6, 7, 8].into_iter();
        let above =
            above.flat_map(|at| ["F", "I", "W"].map(|kind| format!("1{kind}{at}").parse().expect("a pass")));
        let schedule = Schedule::new(model.placement().clone(), 10, vec![order, above.collect()]);
        let verdict = replay(&model, &schedule.expect("a schedule"));
        assert_eq!(verdict.violations, []);
        let makespan = verdict.timing.expect("it is valid").metrics.makespan.0;
        assert_eq!(makespan, 48);
        // 40 ticks of work. 16 ticks before the first I have room for five Fs, and 16 after the last F for five backwards.
        let weights = DeviceWeights { work: 2, memory: 0, first: 20, last: 10, ..DeviceWeights::default() };
        let of = |first: i64| bound(&model, weights, vec![vec![0, first], vec![0, 0]]);
        assert_eq!(of(4), Some(40 + 6), "what R takes in the first");
        // A tick that is filled by an F and one that is not: 20 + 16 of 32. And 10 + 16 of 32 in the last.
        assert_eq!(of(0), Some(40 + 3), "what R takes in the last");
    }

    /// After the last F, 29 ticks before the end, a W that waits holds a unit for 6 ticks, and an activation two for 7.
    #[test]
    fn what_waits_for_its_weight_gradient_fills_the_last_window() {
        let model = model([1, 1, 6, 10], [2, 1, 4]);
        let of =
            |last| bound(&model, DeviceWeights { work: 1, last, ..DeviceWeights::default() }, Vec::new());
        assert_eq!(of(0), Some(80));
        // A W gains 6 - 5 in 6 ticks, an I and W 7 - 10; 29 - 20 - 5 remain.
        assert_eq!(of(20), Some(84));
        // A W gains 6 - 4 in 6 ticks, an I and W 7 - 8; 29 - 16 - 10.
        assert_eq!(of(16), Some(83));
        // And where all is full: 29 - 24.
        assert_eq!(of(24), Some(85));
    }

    /// Two levels, with other amounts and times on each stage. Each figure is followed by hand.
    #[test]
    fn what_devices_and_stages_contribute_without_pairs() {
        let level = |kept: [i64; 2], ticks: [i64; 2]| RecomputeLevel {
            checkpoint: kept.map(Units).to_vec(),
            duration: Some(ticks.map(Ticks).to_vec()),
        };
        let plain = model([2, 3, 1, 6], [4, 2, 9]);
        let memory = Memory { activation: vec![Units(4), Units(3)], ..plain.memory().clone() };
        let levels = vec![level([1, 1], [2, 1]), level([3, 2], [1, 1])];
        let model = plain
            .with_plain_memory(memory)
            .and_then(|model| model.with_recompute(Some(Recompute { levels, fused: false })))
            .and_then(|model| {
                let [reduce, optimizer] = [[4, 5], [1, 2]].map(|of| of.map(Ticks).to_vec());
                model.with_step(Some(StepEnd { reduce, optimizer }))
            })
            .expect("a model");
        let terms = |microbatches| {
            let model = model.with_microbatches(microbatches).expect("a model");
            weighed_terms(&model, Objective::Makespan)
        };
        let choice = |holds, again, area| ChoiceTerms {
            holds: Units(holds),
            again: Ticks(again),
            area,
            copies: [Ticks::ZERO; 2],
        };
        // F at 0, 8 to 9, I at 9 to 10 and at 16 to 19.
        let first = StageTerms {
            device: Device(0),
            before: None,
            microbatches: 10,
            forward: Ticks(2),
            input: Ticks(3),
            weight: Ticks(1),
            whole: Units(4),
            retained: Units(2),
            // The rest is there for R and I.
            choices: vec![
                choice(4, 0, 4 * 19),
                choice(1, 2, 19 + 3 * (2 + 3)),
                choice(3, 1, 3 * 19 + (1 + 3)),
            ],
        };
        // F and I take 2 ticks in a row, and 3 with an R between them.
        let second = StageTerms {
            device: Device(1),
            before: Some(Stage(0)),
            microbatches: 10,
            forward: Ticks(1),
            input: Ticks(1),
            weight: Ticks(0),
            whole: Units(3),
            retained: Units(1),
            choices: vec![choice(3, 0, 3 * 2), choice(1, 1, 3 + 2 * 2), choice(2, 1, 2 * 3 + 2)],
        };
        let found = terms(10);
        assert_eq!((found.stages, found.pairs), (vec![first, second], vec![]));
        // The first I comes 16 ticks after the start. The last F ends 6, 1 and 1, 6, 3 and 1 ticks before the step does, which takes 5.
        let first = DeviceTerms {
            outside: Ticks(5),
            work: Ticks(60),
            first: Ticks(16),
            last: Ticks(18),
            // An F takes 2, an I and a W 4.
            copies_within: [Ticks(14), Ticks(14)],
            capacity: Some(Units(9)),
            // 9 - 4 and 9 - 8 units for as long as an F, an I and a W take.
            ramps: (5 + 1) * 6,
            around_copies: [Ticks::ZERO; 2],
        };
        // 8 ticks before it, and 7 of the step. The step of the other device ends 16 ticks after its last F.
        let second = DeviceTerms {
            outside: Ticks(8 + 7),
            work: Ticks(20),
            first: Ticks(1),
            last: Ticks(16 - 7),
            copies_within: [Ticks(0), Ticks(16 - 7 - 1)],
            capacity: None,
            ramps: 0,
            around_copies: [Ticks::ZERO; 2],
        };
        assert_eq!(found.devices, [first, second]);
        // Five microbatches take 10 ticks on the second device, with 15 before and after them as long as both windows, 9 and 16; on the
        // first, 30 and 5 are less than 16 and 23.
        let (five, four) = (terms(5).devices, terms(4).devices);
        let without = |of: DeviceTerms, work| {
            let none = Ticks(0);
            DeviceTerms { work: Ticks(work), first: none, last: none, copies_within: [none; 2], ..of }
        };
        assert_eq!(five, [without(first, 30), DeviceTerms { work: Ticks(10), ..second }]);
        assert_eq!(four[1], without(second, 8));
    }

    /// A forward and a backward take 7 ticks together in place of 9, a forward and an input gradient as long as both.
    fn with_pairs() -> Model {
        let pairs = PairDurations::Listed([((Stage(0), Stage(0)), Ticks(7))].into());
        let overlap = Overlap { forward_backward: pairs, ..Overlap::default() };
        model([2, 3, 4, 6], [3, 2, 8]).with_overlap(overlap).expect("a model")
    }

    #[test]
    fn what_pairs_change() {
        let pair = PairTerms {
            forward: Stage(0),
            backward: Stage(0),
            with_weight: true,
            saves: Ticks(2),
            beyond_forward: Ticks(7 - 2),
            beyond_input: Ticks(7 - 3),
        };
        let terms = weighed_terms(&with_pairs(), Objective::Makespan);
        assert_eq!(terms.pairs, [pair]);
        let plain = model([2, 3, 4, 6], [3, 2, 8]);
        assert_eq!(weighed_terms(&plain, Objective::Makespan).pairs, []);
        // Where F or I is in a pair, they and an R may take less time than one after the other.
        let area = |model: Model| {
            let level = RecomputeLevel { checkpoint: vec![Units(1); 2], duration: Some(vec![Ticks(1); 2]) };
            let model = model.with_recompute(Some(Recompute { levels: vec![level], fused: false }));
            weighed_terms(&model.expect("a level"), Objective::Makespan).stages[1].choices[1].area
        };
        assert_eq!([with_pairs(), plain].map(area), [1 + 1, 1 + 1 + 1]);
    }

    /// Ten microbatches of 9 ticks hold 3 units for 19 ticks, and 2 while W runs.
    #[test]
    fn what_a_pair_saves_is_weighed_against_what_it_holds_for_longer() {
        let of = |work, memory| {
            let weights = DeviceWeights { work, memory, ..DeviceWeights::default() };
            Some(bound(&with_pairs(), weights, Vec::new())?.unsigned_abs())
        };
        // A pair saves 2 of 9 ticks, but the Fs of the 16 ticks before the first I are in none.
        assert_eq!(of(1, 0), Some(70 + 16));
        // 10 * (3 * 19 + 2 * 4) units times ticks, and the ramps of 8 units: 5 and 2 for 9 ticks. A tick of memory counts 8.
        let area: u64 = 650 + 63;
        assert_eq!(of(0, 8), Some(area.div_ceil(8)));
        // A pair is worth 2 * 8 for time and 8 for the W in it, and costs 3 * (5 + 4) for memory: none is of any use.
        assert_eq!(of(8, 8), Some((90 * 8 + area).div_ceil(8 + 8)));
        // 2 * 20 + 8 is 21 more, for each microbatch: an F gains 19 of 40 before the first I.
        assert_eq!(of(20, 8), Some((90 * 20 + area - 210 + 16 * 20 - 16 * 19 / 2).div_ceil(20 + 8)));
    }

    /// Copies of 3 of 4 units, which take 5 and 6 ticks.
    fn with_copies(microbatches: u32) -> Model {
        let [to_host, from_host] = [[5, 1], [6, 1]].map(|ticks| ticks.map(Ticks).to_vec());
        let offload = Offload { moved: vec![Units(3), Units(0)], to_host, from_host };
        let model = model([2, 3, 1, 6], [4, 4, 9]).with_microbatches(microbatches).expect("a model");
        model.with_offload(Some(offload)).expect("copies")
    }

    #[test]
    fn what_is_offloaded_is_whole_beside_its_copies_alone() {
        let terms = weighed_terms(&with_copies(10), Objective::Makespan);
        let stage = &terms.stages[0];
        assert_eq!((stage.whole, stage.retained, stage.least_held()), (Units(4), Units(4), Units(1)));
        let choice = |holds, area, copies: [i64; 2]| ChoiceTerms {
            holds: Units(holds),
            again: Ticks(0),
            area,
            copies: copies.map(Ticks),
        };
        // F at 0, I at 16 to 19; a unit is there all the time, and three for 2 + 5 + 6 + 3 ticks.
        assert_eq!(stage.choices, [choice(4, 4 * 19, [0, 0]), choice(1, 19 + 3 * 16, [5, 6])]);
        // F before, and a copy back, I and W behind; F and a copy to the host before, and I and W behind.
        assert_eq!(terms.devices[0].around_copies, [2 + 6 + 4, 2 + 5 + 4].map(Ticks));
        // Two microbatches without copies take 12 ticks, one takes 6.
        let around = |microbatches| {
            weighed_terms(&with_copies(microbatches), Objective::Makespan).devices[0].around_copies
        };
        assert_eq!([2, 1].map(around), [[12, 11], [0, 0]].map(|of| of.map(Ticks)));
    }

    /// With pairs the way of a microbatch is longer, so copies count no more than that.
    #[test]
    fn what_stays_is_there_for_as_long_as_copies_take() {
        let area = |model: &Model| {
            let slow = vec![Ticks(10), Ticks(1)];
            let offload = Offload { moved: vec![Units(1); 2], to_host: slow.clone(), from_host: slow };
            let model = model.with_offload(Some(offload)).expect("copies");
            weighed_terms(&model, Objective::Makespan).stages[0].choices[1].area
        };
        // Three units: 2 + 10 + 10 + 3 ticks are more than 19.
        assert_eq!(area(&model([2, 3, 4, 6], [3, 2, 8])), 3 * 25);
        assert_eq!(area(&with_pairs()), 2 * 19 + 25);
    }

    /// Ten microbatches of 6 ticks hold 4 units for 20 ticks, or 67 units times ticks and 4 while W runs.
    #[test]
    fn copies_are_weighed_against_the_memory_that_they_free() {
        let of = |memory, to_host, from_host| {
            let weights = DeviceWeights { memory, to_host, from_host, ..DeviceWeights::default() };
            Some(bound(&with_copies(10), weights, Vec::new())?.unsigned_abs())
        };
        // Ramps of 9 units: 5 and 1 for 6 ticks.
        let (offloaded, kept, ramps): (u64, u64, u64) = (67 + 4, 76 + 4, 36);
        // A unit of memory for a tick counts 1. Without a price for copies all is offloaded.
        assert_eq!(of(9, 0, 0), Some((10 * offloaded + ramps).div_ceil(9)));
        // Copies cost 5, and 12 more beside them; then 6 and 11; then both, which is more than the 9 of what stays.
        assert_eq!(of(9, 1, 0), Some((10 * (offloaded + 5) + ramps + 12).div_ceil(10)));
        assert_eq!(of(9, 0, 1), Some((10 * (offloaded + 6) + ramps + 11).div_ceil(10)));
        assert_eq!(of(9, 1, 1), Some((10 * kept + ramps + 23).div_ceil(11)));
    }

    /// The first window is 16 ticks long, with room for copies in 14 of them, and the last 18, with room in 14.
    #[test]
    fn windows_are_filled_as_far_as_there_is_time_for_copies() {
        let terms = weighed_terms(&with_copies(10), Objective::Makespan).devices[0];
        assert_eq!((terms.first, terms.last, terms.copies_within), (Ticks(16), Ticks(18), [Ticks(14); 2]));
        let of = |weights| bound(&with_copies(10), weights, Vec::new());
        let (work, all) = (60, DeviceWeights { work: 10, ..DeviceWeights::default() });
        // With copies for 14 / 5 of the Fs and 9 - 14 / 5 units for Fs that stay, 16 - 2 * (14 / 5 + 31 / 20) ticks are left: 7.3.
        let first = DeviceWeights { first: 45, ..all };
        assert_eq!(of(DeviceWeights { first_copies: 3, ..first }), Some(work + 8));
        assert_eq!(of(first), Some(work), "if all can be copied, nothing is left");
        // With copies for 14 / 6 of the backwards and 9 - 14 / 6 units for others, 18 - 4 * (14 / 6 + 20 / 12): 2.
        let last = DeviceWeights { last: 90, ..all };
        assert_eq!(of(DeviceWeights { last_copies: 5, ..last }), Some(work + 2));
        assert_eq!(of(last), Some(work));
    }

    /// After a forward an R may fill three times as much of the window, for the same room.
    #[test]
    fn what_is_recomputed_at_once_fills_the_first_window() {
        let level =
            RecomputeLevel { checkpoint: vec![Units(0); 2], duration: Some(vec![Ticks(6), Ticks(0)]) };
        let model = model([2, 2, 0, 6], [1, 1, 5])
            .with_recompute(Some(Recompute { levels: vec![level], fused: false }))
            .expect("a model");
        // The first I comes 16 ticks after the start, and a unit of 5 counts 3. An F and R gain 8 * 4 - 6 - 3 in 8 ticks, an F that keeps
        // its unit 2 * 4 - 3 in 2, one that does not 2 * 4 - 6. So 64 - 46 - 15 are left.
        let weights = DeviceWeights { work: 4, memory: 0, first: 15, last: 1000, ..DeviceWeights::default() };
        assert_eq!(bound(&model, weights, vec![vec![0, 6], vec![0, 0]]), Some(40 + 1));
    }

    /// What a choice counts beyond the least of its stage is what it counts less that.
    #[test]
    fn choices_count_beyond_the_least() {
        let level =
            RecomputeLevel { checkpoint: vec![Units(0); 2], duration: Some(vec![Ticks(3), Ticks(0)]) };
        let model = model([2, 2, 0, 6], [1, 1, 5])
            .with_recompute(Some(Recompute { levels: vec![level], fused: false }))
            .expect("a model");
        let first = DeviceWeights { work: 1, memory: 5, ..DeviceWeights::default() };
        let devices = vec![first, DeviceWeights::default()];
        let weights = Weights { devices, backwards: vec![0; 2], choices: Vec::new() };
        let terms = weighed_terms(&model, Objective::Makespan);
        let sum = Sum::new(&terms, &weights).expect("weights of all");
        // A unit for 18 ticks, or 3 ticks for R and a unit for R and I: 3 + 5.
        assert_eq!((sum.least[0], sum.beyond[0].as_slice()), (8, &[10, 0][..]));
    }

    /// After the last forward, a backward fills more than a W that holds as much.
    #[test]
    fn backwards_fill_the_last_window() {
        let model = model([1, 1, 6, 10], [2, 2, 4]);
        let weights = DeviceWeights { work: 1, last: 20, ..DeviceWeights::default() };
        // A backward gains 7 - 10 in 7 ticks, a W 6 - 10: 29 - 20 remain. Less for half of the room: 7 - 4 in 7 of 29 ticks.
        assert_eq!(bound(&model, weights, Vec::new()), Some(80 + 9));
        assert_eq!(bound(&model, DeviceWeights { last: 8, ..weights }, Vec::new()), Some(80 + 29 - 8 - 13));
    }

    #[test]
    fn weights_that_are_negative_too_few_or_too_many_prove_nothing() {
        let level = RecomputeLevel { checkpoint: vec![Units(0); 2], duration: Some(vec![Ticks(1); 2]) };
        let model = model([1, 1, 6, 10], [2, 1, 4])
            .with_recompute(Some(Recompute { levels: vec![level], fused: false }))
            .expect("a model");
        let one = DeviceWeights { work: 1, ..DeviceWeights::default() };
        let good = Weights { devices: vec![one; 2], backwards: vec![0; 2], choices: vec![vec![0; 2]; 2] };
        let proves = |change: &dyn Fn(&mut Weights)| {
            let mut weights = good.clone();
            change(&mut weights);
            weighed_bound(&model, Objective::Makespan, &weights).is_some()
        };
        assert!(proves(&|_| ()));
        assert!(proves(&|weights| weights.choices.clear()));
        let changes: [&dyn Fn(&mut Weights); 14] = [
            &|weights| weights.devices[1].work = -1,
            &|weights| weights.devices[1].memory = -1,
            &|weights| weights.devices[0].first = -1,
            &|weights| weights.devices[0].last = -1,
            &|weights| weights.devices[1].to_host = -1,
            &|weights| weights.devices[1].from_host = -1,
            &|weights| weights.devices[1].first_copies = -1,
            &|weights| weights.devices[1].last_copies = -1,
            &|weights| weights.backwards[1] = -1,
            &|weights| weights.choices[1][1] = -1,
            &|weights| weights.devices.truncate(1),
            &|weights| weights.backwards.truncate(1),
            &|weights| weights.choices.truncate(1),
            &|weights| weights.choices[1].push(0),
        ];
        for (at, change) in changes.iter().enumerate() {
            assert!(!proves(change), "change {at}");
        }
    }

    #[test]
    fn a_device_that_has_no_room_at_all_has_no_share_of_it() {
        let terms = weighed_terms(&model([1, 1, 6, 10], [0, 0, 0]), Objective::Makespan);
        assert_eq!(terms.devices[0].capacity, None);
    }

    #[test]
    fn only_memory_with_a_limit_has_a_weight() {
        let model = model([1, 1, 6, 10], [2, 1, 4]);
        let second = DeviceWeights { memory: 1, ..DeviceWeights::default() };
        let weights = |devices| Weights { devices, backwards: vec![0; 2], choices: Vec::new() };
        assert_eq!(
            weighed_bound(&model, Objective::Makespan, &weights(vec![DeviceWeights::default(), second])),
            None
        );
    }
}
