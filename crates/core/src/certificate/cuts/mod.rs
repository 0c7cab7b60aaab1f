//! Lower bounds over all cuts of layers into stages.
//!
//! **Theorem.** Let a device have the layers of its own stages, and let every other layer lie anywhere, in any cut. No schedule is
//! shorter than the bounds of that device in the model that has three sorts of stages: its own; between two of them, one stage
//! elsewhere with the Fs and Is of all layers between, whose Ws nobody waits for; and for every message on the way the least time
//! that it takes at any cut. So no schedule of any cut is shorter than
//!
//! ```text
//! min over cuts of max over devices of bound(device, its layers)
//! ```
//!
//! **Proof.** Each [bound of one device](super::bound) is one of the problem in which only the passes of this device have to take
//! turns, and all others are delays between them. The delays of that model are at most those of any cut: the layers between two
//! stages of the device take their Fs and Is one after the other however they are cut, and their messages at least as long.
//! Leaving out Ws and the ends of steps elsewhere only shortens what follows the passes of the device.
//!
//! The minimum is found over a graph whose paths are the cuts: what a device is worth depends on its own layers alone, and these
//! on where its chunks begin and end. So the largest value on a path is least where a search from the end says so, and no
//! cut has to be looked at. Then the cuts whose value is below a limit may be looked at one by one, each with
//! [all bounds](super::lower_bound) of its own model.

mod device;
mod graph;

use std::collections::BTreeMap;

use self::device::{Range, Sums};
use self::graph::{Cuts, Steps, TooLarge, Value};
use super::{Objective, lower_bound_within};
use crate::job::{Cut, Layers};
use crate::model::{Ticks, Units};

/// How many steps go into the graph of all cuts: some seconds at the most.
const GRAPH_STEPS: u64 = 40_000_000;

/// How many steps a quick look at the graph may take.
const QUICK_STEPS: u64 = 1_000_000;

/// How many steps it may take to tell what a device needs at the least.
const NEED_STEPS: u64 = 100_000;

/// What the bounds of one device are worth in these steps, for which they need a model.
const MODEL_STEPS: u64 = 1_000;

/// How many cuts are looked at one by one.
pub const CUTS: usize = 64;

/// How many steps the bounds of such a cut may take.
const CUT_STEPS: u64 = 200_000;

/// Why no bound over all cuts was found, or why one does not hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CutBoundError {
    /// No cut fits the memory of the devices.
    #[error(
        "no cut of {layers} layers fits: some device needs at least {need} {unit} for weights and one microbatch, but has \
         {capacity}"
    )]
    NoRoom {
        /// How many layers there are.
        layers: usize,
        /// What the device that holds the most needs at the best cut, in units.
        need: Units,
        /// What it has.
        capacity: Units,
        /// The unit of memory.
        unit: String,
    },
    /// Fewer layers than stages, each of which needs one.
    #[error("{layers} layers cannot be cut into {stages} stages")]
    TooFewLayers {
        /// How many layers there are.
        layers: usize,
        /// How many stages there are.
        stages: u32,
    },
    /// A cut may allow a shorter schedule than is claimed.
    #[error("no cut is claimed to allow less than {claimed}, but nothing forbids {shown} at the cut {cut}")]
    NotShown {
        /// What is claimed.
        claimed: Ticks,
        /// The bound of the cut.
        shown: Ticks,
        /// The cut.
        cut: Cut,
    },
    /// More cuts are left than can be looked at.
    #[error(
        "no cut is claimed to allow less than {claimed}, but more than {CUTS} cuts may, the first with a bound of {least}"
    )]
    TooMany {
        /// What is claimed.
        claimed: Ticks,
        /// The least that any cut may allow.
        least: Ticks,
    },
}

/// The least time that a schedule of any cut takes: no cut has a shorter one. Above `limit` nothing is said: where a schedule of
/// that length is known, no more has to be shown.
///
/// # Errors
/// When no cut fits.
pub fn lower_bound_over_cuts(layers: &Layers, limit: Ticks) -> Result<Ticks, CutBoundError> {
    let sums = Sums::new(layers);
    check_count(layers)?;
    let balanced = balanced(&sums).min(limit);
    let mut known: BTreeMap<Cut, Ticks> = BTreeMap::new();
    for reach in reaches(balanced, limit) {
        let Ok(cuts) = below(&sums, reach, GRAPH_STEPS) else {
            return if_any_fits(&sums, limit, by_work(&sums, limit));
        };
        // Each cut in turn, from the one with the least bound on, until the next has none better than the best.
        let (mut least, mut seen) = (reach, 0);
        cuts.visit(&mut |value, cut| {
            if Ticks(value) >= least || seen == CUTS {
                least = least.min(Ticks(value));
                return false;
            }
            seen += 1;
            let bound = known.entry(cut.clone()).or_insert_with(|| of_cut(layers, cut).unwrap_or(limit));
            least = least.min((*bound).max(Ticks(value)));
            true
        });
        if least < reach || seen == CUTS {
            return Ok(least.max(balanced));
        }
    }
    if_any_fits(&sums, limit, limit)
}

/// Limits to try one after the other: the cuts below a low one are fewer, and are enough where there are any.
fn reaches(balanced: Ticks, limit: Ticks) -> impl Iterator<Item = Ticks> {
    let percents = [102, 105, 110, 120, 140, 180, 250, 400, 1000];
    let reach = move |percent: i64| Some(Ticks(balanced.0.checked_mul(percent)? / 100 + 1));
    percents.into_iter().filter_map(reach).filter(move |&reach| reach < limit).chain([limit])
}

/// The bounds of one device at the best cut, which is quickly found: at most what [`lower_bound_over_cuts`] says.
///
/// # Errors
/// When no cut fits.
pub fn quick_bound_over_cuts(layers: &Layers, limit: Ticks) -> Result<Ticks, CutBoundError> {
    let sums = Sums::new(layers);
    check_count(layers)?;
    // What the work says is there much sooner, and may be enough.
    let by_work = by_work(&sums, limit);
    let (work, own) = (value_of_work(&sums), value_of_device(&sums));
    let steps = Steps { left: QUICK_STEPS, of_a_device: MODEL_STEPS };
    let bound = least_below(&sums, [&work, &own], steps, by_work, limit).unwrap_or(by_work);
    if_any_fits(&sums, limit, bound)
}

/// The work of the device that has the most, at the best cut; the limit, where that is as much or more.
fn by_work(sums: &Sums<'_>, limit: Ticks) -> Ticks {
    let (work, balanced) = (value_of_work(sums), balanced(sums).min(limit));
    let steps = Steps { left: QUICK_STEPS, of_a_device: 1 };
    least_below(sums, [&work, &work], steps, balanced, limit).unwrap_or(balanced)
}

/// The least of the largest values of the devices over all cuts, from what is known of it on, or the limit where it is not below
/// that. Nothing where there are too many cuts for so many steps.
fn least_below(
    sums: &Sums<'_>,
    [quick, value]: [&Value<'_>; 2],
    mut steps: Steps,
    known: Ticks,
    limit: Ticks,
) -> Option<Ticks> {
    for reach in reaches(known, limit) {
        let cuts = Cuts::new(sums, quick, value, reach.0, &mut steps).ok()?;
        if let Some(least) = cuts.least() {
            return Some(Ticks(least).max(known));
        }
    }
    Some(limit)
}

/// What holds of any distribution of the layers, and is there at once: some device has its share of the work, and the longest
/// layer, which follows the layers before it, is on some device. At most what [`quick_bound_over_cuts`] says.
///
/// # Errors
/// When there are too few layers.
pub fn share_bound_over_cuts(layers: &Layers) -> Result<Ticks, CutBoundError> {
    check_count(layers)?;
    Ok(balanced(&Sums::new(layers)))
}

/// Refuses layers of which no cut fits, as far as that can be told from weights and one microbatch.
///
/// # Errors
/// When there are too few layers, or no cut fits the memory.
pub fn fits_some_cut(layers: &Layers) -> Result<(), CutBoundError> {
    check_count(layers)?;
    check_memory(&Sums::new(layers))
}

/// Shows that no schedule of any cut is shorter than claimed, which is true where no cut fits.
///
/// # Errors
/// When that does not follow.
pub fn holds_over_cuts(layers: &Layers, claimed: Ticks) -> Result<(), CutBoundError> {
    let sums = Sums::new(layers);
    check_count(layers)?;
    let balanced = balanced(&sums);
    if balanced >= claimed {
        return Ok(());
    }
    // The work alone may be as much, which is quickly seen; and what fits nowhere may have too many cuts to look at.
    if by_work(&sums, claimed) == claimed || check_memory(&sums).is_err() {
        return Ok(());
    }
    let Ok(cuts) = below(&sums, claimed, GRAPH_STEPS) else {
        return Err(CutBoundError::TooMany { claimed, least: balanced });
    };
    let (mut wrong, mut seen) = (None, 0);
    cuts.visit(&mut |value, cut| {
        seen += 1;
        if seen > CUTS {
            wrong = Some(CutBoundError::TooMany { claimed, least: Ticks(value) });
        } else if let Some(shown) = of_cut(layers, cut).filter(|&shown| shown < claimed) {
            wrong = Some(CutBoundError::NotShown { claimed, shown, cut: cut.clone() });
        }
        wrong.is_none()
    });
    wrong.map_or(Ok(()), Err)
}

/// Looks at the cuts whose devices allow less than `limit`, those that allow the least first, each with that, until `visit` has
/// seen enough. Says whether that was possible: of too many layers and chunks there are too many cuts.
pub fn visit_cuts(layers: &Layers, limit: Ticks, visit: &mut dyn FnMut(Ticks, &Cut) -> bool) -> bool {
    visit_within(layers, limit, GRAPH_STEPS, visit)
}

/// As [`visit_cuts`], in a moment: of many layers and chunks there are too many cuts for that.
pub fn visit_some_cuts(layers: &Layers, limit: Ticks, visit: &mut dyn FnMut(Ticks, &Cut) -> bool) -> bool {
    visit_within(layers, limit, QUICK_STEPS, visit)
}

fn visit_within(
    layers: &Layers,
    limit: Ticks,
    steps: u64,
    visit: &mut dyn FnMut(Ticks, &Cut) -> bool,
) -> bool {
    let sums = Sums::new(layers);
    let (mut seen, mut goes_on) = (0, true);
    for reach in reaches(balanced(&sums), limit) {
        let Ok(cuts) = below(&sums, reach, steps) else { return false };
        let mut position = 0;
        cuts.visit(&mut |value, cut| {
            position += 1;
            if position > seen {
                seen = position;
                goes_on = visit(Ticks(value), cut);
            }
            goes_on
        });
        if !goes_on {
            break;
        }
    }
    true
}

/// All bounds of the model of a cut; nothing when its weights do not fit.
fn of_cut(layers: &Layers, cut: &Cut) -> Option<Ticks> {
    let model = layers.model(cut).ok()?;
    Some(lower_bound_within(&model, Objective::Makespan, CUT_STEPS).value)
}

fn below<'a>(sums: &Sums<'a>, limit: Ticks, steps: u64) -> Result<Cuts<'a>, TooLarge> {
    let (work, own) = (value_of_work(sums), value_of_device(sums));
    Cuts::new(sums, &work, &own, limit.0, &mut Steps { left: steps, of_a_device: MODEL_STEPS })
}

/// A device is worth its work.
fn value_of_work<'s>(sums: &'s Sums<'_>) -> impl Fn(usize, &[Range]) -> Option<i64> + 's {
    |device, ranges| Some(sums.work_bound(device, ranges).0)
}

/// A device is worth the best of its bounds.
fn value_of_device<'s>(sums: &'s Sums<'_>) -> impl Fn(usize, &[Range]) -> Option<i64> + 's {
    |device, ranges| sums.bound(device, ranges).map(|bound| bound.0)
}

/// Refuses fewer layers than there have to be.
fn check_count(layers: &Layers) -> Result<(), CutBoundError> {
    let (count, stages) = (layers.atoms.len(), layers.stages());
    let least = if layers.empty_stages { layers.placement.devices() } else { stages };
    if count < least as usize { Err(CutBoundError::TooFewLayers { layers: count, stages }) } else { Ok(()) }
}

/// A bound, unless no cut fits, as far as that can be told. Below a limit it is true in any case, and is not looked into.
fn if_any_fits(sums: &Sums<'_>, limit: Ticks, bound: Ticks) -> Result<Ticks, CutBoundError> {
    if limit == Ticks(i64::MAX) {
        check_memory(sums)?;
    }
    Ok(bound)
}

/// Refuses layers of which no cut fits the memory, as far as that can be told.
fn check_memory(sums: &Sums<'_>) -> Result<(), CutBoundError> {
    let layers = sums.layers;
    let Some(capacity) = layers.capacity else { return Ok(()) };
    if even_need(sums) <= capacity {
        return Ok(());
    }
    let need = least_need(sums).unwrap_or_else(|| need_share(sums));
    if need <= capacity {
        return Ok(());
    }
    let (layers, unit) = (layers.atoms.len(), layers.memory_unit.clone());
    Err(CutBoundError::NoRoom { layers, need, capacity, unit })
}

/// What a device needs at the most at the even cut.
fn even_need(sums: &Sums<'_>) -> Units {
    let ranges: Vec<Range> = sums.layers.even().ranges().map(|range| (range.start, range.end)).collect();
    let need = |device: usize| {
        let own: Vec<Range> = sums.stages_of(device).iter().map(|stage| ranges[stage.index()]).collect();
        sums.need(&own)
    };
    (0..sums.layers.placement.lists().len()).map(need).max().unwrap_or_default()
}

/// What some device needs, wherever the layers are: its share of all weights and of one microbatch.
fn need_share(sums: &Sums<'_>) -> Units {
    let devices = i64::from(sums.layers.placement.devices());
    let all = sums.least_held().0;
    Units(all / devices + i64::from(all % devices != 0))
}

/// What a device needs at the least, over all cuts: weights and one microbatch at the device that needs the most. Nothing when
/// there are too many cuts to tell.
fn least_need(sums: &Sums<'_>) -> Option<Units> {
    let need = |_: usize, ranges: &[Range]| Some(sums.need(ranges).0);
    let mut steps = Steps { left: NEED_STEPS, of_a_device: 1 };
    Cuts::new(sums, &need, &need, i64::MAX, &mut steps).ok()?.least().map(Units)
}

/// As [`share_bound_over_cuts`].
fn balanced(sums: &Sums<'_>) -> Ticks {
    let microbatches = i64::from(sums.layers.microbatches);
    let devices = i64::from(sums.layers.placement.devices());
    let share = (sums.work * microbatches).0;
    let share = share / devices + i64::from(share % devices != 0);
    let of_layer = |at: usize| sums.of((0, at)).forward + sums.work_of((at, at + 1)) * microbatches;
    let longest = (0..sums.layers.atoms.len()).map(of_layer).max().unwrap_or_default();
    Ticks(share).max(longest)
}

#[cfg(test)]
mod tests;
