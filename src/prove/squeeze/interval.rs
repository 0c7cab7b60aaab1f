//! Which forms limit the interval, found by trial: an interval too small is forbidden by a cycle, and the
//! rate of that cycle is another form.

mod domain;

use num_integer::Integer;
use num_rational::Ratio;
use serde::{Deserialize, Serialize};

use super::Irregular;
use super::cycle::{Attained, on_devices};
use super::form::{LinearForm, Point, Rate, rays};
use super::graph::{Classes, Constraint};
use super::potential::{Obstacle, Starts, forbidding, rate_of, solve};
use super::quasi::End;
use crate::block::family::Family;
use crate::stop::Stop;

pub(super) use domain::occurring;

/// More forms than any family needs.
const MOST_FORMS: usize = 64;

/// How many numbers of devices with the same residue are searched for a cycle.
const DEVICES_TRIED: i128 = 3;

/// The steady interval of the squeezed order of a family, for every number of devices and all durations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SqueezedIntervals {
    /// Whether the latency between devices is counted; else it is none.
    pub latency: bool,
    /// The number P by whose residues numbers of devices are told apart.
    pub residues: i128,
    /// For every residue that occurs in the domain.
    pub cases: Vec<SqueezedInterval>,
}

/// The steady interval where `d` has one residue.
///
/// **Theorem.** In the squeezed order of the block (each device runs its passes as the block orders
/// them, each pass as early as its device and its dependencies allow) no microbatch takes longer, in the
/// long run, than the largest of the terms, whatever the durations and, where it is counted, the latency;
/// and it takes as long as the largest of those terms that are attained.
///
/// *Upper side.* Let one term be the largest, `lambda`. The points where it is form a cone, and on each
/// of its extreme rays there are start times for copy `j` of every pass on device `i` of the form
/// `lambda*(j + o div T) + start + tilt*i` that meet the order of every device and every dependency:
/// differences of such times depend on the residues of `i` and `d` alone, so these are finitely many
/// inequalities between integers. Both sides of each are linear in the point as long as the term is the
/// largest, so the same sums of multiples of rays that make up a point make up start times for it.
/// Squeezed times are the earliest, so they are never later than these, up to a shift.
///
/// *Lower side.* A term that is attained is the rate of a cycle of passes each of which waits for the one
/// before: its passes take `ticks` in sum and it comes back `copies` microbatches later.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SqueezedInterval {
    /// The residue of `d`.
    pub residue: i128,
    /// Each is the largest somewhere; the work of a device, where it is one of them, comes first.
    pub terms: Vec<IntervalTerm>,
}

/// One of the forms of which the largest is the interval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IntervalTerm {
    /// The form.
    pub rate: Rate,
    /// Where a cycle has it, if there is one.
    pub attained: Option<Attained>,
    /// Start times on every extreme ray of the cone where it is the largest.
    pub(super) starts: Vec<Starts>,
}

impl SqueezedInterval {
    /// The rates, of which the largest is the interval.
    #[must_use]
    pub fn rates(&self) -> Vec<Rate> {
        self.terms.iter().map(|term| term.rate).collect()
    }

    /// The fewest devices from which on every term is attained for all numbers of devices with the
    /// residue: the interval is then exactly the largest of them.
    #[must_use]
    pub fn exact_from(&self) -> Option<i128> {
        let mut devices = self.terms.iter().map(|term| Some(term.attained.as_ref()?.devices));
        devices.try_fold(1, |most, devices| Some(most.max(devices?)))
    }
}

impl SqueezedIntervals {
    /// The fewest devices from which on the interval is exactly the largest of the terms for every number
    /// of devices in the domain, if there is such a number.
    #[must_use]
    pub fn exact_from(&self) -> Option<i128> {
        // No smaller number with the residue has every cycle, as far as was looked.
        let after = |case: &SqueezedInterval| Some((case.exact_from()? - self.residues + 1).max(1));
        self.cases.iter().map(after).try_fold(1, |most, devices| Some(most.max(devices?)))
    }
}

/// Derives the interval of a family; with the latency between devices counted or not.
///
/// # Errors
/// When its formulas are not told by residues, its block is none, or it is time to stop.
pub fn squeezed_intervals(
    family: &Family,
    latency: bool,
    stop: &Stop,
) -> Result<SqueezedIntervals, Irregular> {
    let classes = Classes::of(family)?;
    let quantities = quantities(latency);
    let cases = occurring(&family.domain, classes.residues)?
        .into_iter()
        .map(|s| of_residue(&classes, s, quantities, stop))
        .collect::<Result<_, _>>()?;
    Ok(SqueezedIntervals { latency, residues: classes.residues, cases })
}

/// How many of the quantities vary.
pub(super) const fn quantities(latency: bool) -> usize {
    if latency { 4 } else { 3 }
}

fn of_residue(
    classes: &Classes,
    s: i128,
    quantities: usize,
    stop: &Stop,
) -> Result<SqueezedInterval, Irregular> {
    let constraints = classes.constraints(s)?;
    let size = (classes.passes.len(), classes.residues);
    let mut rates = vec![work(classes, s)?];
    let starts = loop {
        if rates.len() > MOST_FORMS {
            return Err(Irregular::Forms(MOST_FORMS));
        }
        if stop.is_due() {
            return Err(Irregular::of(stop));
        }
        match prove(&rates, &constraints, size, quantities, stop) {
            Ok(starts) => {
                let needed = needed(&rates, quantities);
                if needed.len() == rates.len() {
                    break starts;
                }
                rates = needed;
            }
            Err(Obstacle::Stuck) => return Err(Irregular::Stuck),
            Err(Obstacle::Stopped) => return Err(Irregular::of(stop)),
            Err(Obstacle::Forbidden(rate)) => {
                let rate = rate.first(quantities).reduced();
                if !rate.is_small() {
                    return Err(Irregular::Overflow);
                }
                rates.push(rate);
                rates[1..].sort_unstable_by(|one, other| other.cmp(one));
            }
        }
    };
    let terms = rates.iter().zip(starts).map(|(&rate, starts)| {
        let middle = inside(&rates, rate, quantities);
        IntervalTerm { rate, attained: attained(classes, &constraints, s, rate, middle, stop), starts }
    });
    let terms = terms.collect();
    // No cycle was found, or it was not looked for any more: which of both is not known.
    if stop.is_due() {
        return Err(Irregular::of(stop));
    }
    Ok(SqueezedInterval { residue: s, terms })
}

/// The passes of a device, one after the other.
fn work(classes: &Classes, s: i128) -> Result<Rate, Irregular> {
    let order = classes.order(s, 0)?;
    let durations = order.iter().map(|&pass| LinearForm::duration(classes.passes[pass].kind));
    Ok(Rate { ticks: durations.fold(LinearForm::default(), LinearForm::plus), copies: 1 })
}

/// Start times on every extreme ray of the cone of every term.
fn prove(
    rates: &[Rate],
    constraints: &[Constraint],
    size: (usize, i128),
    quantities: usize,
    stop: &Stop,
) -> Result<Vec<Vec<Starts>>, Obstacle> {
    let of_rate = |&rate: &Rate| -> Result<Vec<Starts>, Obstacle> {
        let on_ray = |ray: Point| solve(constraints, size, ray, rate.at(ray), stop);
        rays(rate, &others(rates, rate), quantities).into_iter().map(on_ray).collect()
    };
    rates.iter().map(of_rate).collect()
}

pub(super) fn others(rates: &[Rate], rate: Rate) -> Vec<Rate> {
    rates.iter().copied().filter(|&other| other != rate).collect()
}

/// A point well inside the cone where a rate is the largest.
fn inside(rates: &[Rate], rate: Rate, quantities: usize) -> Point {
    let rays = rays(rate, &others(rates, rate), quantities);
    rays.into_iter().fold([0; 4], |sum, ray| std::array::from_fn(|position| sum[position] + ray[position]))
}

/// The rates that are larger than all others somewhere.
fn needed(rates: &[Rate], quantities: usize) -> Vec<Rate> {
    let mut kept = rates.to_vec();
    for &rate in rates {
        // Where another is as large in the middle of its cone, it is so in all of it.
        let middle = inside(&kept, rate, quantities);
        if others(&kept, rate).iter().any(|other| other.at(middle) >= rate.at(middle)) {
            kept.retain(|&other| other != rate);
        }
    }
    kept
}

/// A cycle that has a rate, if there is one that is there for every number of devices from some one on;
/// `point` is one where the rate is larger than all others.
fn attained(
    classes: &Classes,
    constraints: &[Constraint],
    s: i128,
    rate: Rate,
    point: Point,
    stop: &Stop,
) -> Option<Attained> {
    let fewest = 1 + (s - 1).mod_floor(&classes.residues);
    if rate == work(classes, s).ok()? {
        let order = classes.order(s, 0).ok()?.into_iter();
        let cycle = order.map(|pass| (classes.passes[pass].name(), 0)).collect();
        return Some(Attained { devices: fewest, cycle });
    }
    (0..DEVICES_TRIED).take_while(|_| !stop.is_due()).map(|more| fewest + more * classes.residues).find_map(
        |devices| {
            let there = on_devices(constraints, classes.residues, devices);
            let cycle = slowest(&there, (classes.passes.len(), devices), point, stop);
            let found = cycle.filter(|cycle| rate_of(&there, cycle).at(point) == rate.at(point))?;
            let cycle: Vec<&Constraint> = found.iter().map(|&position| &there[position]).collect();
            End::BOTH.into_iter().find_map(|end| end.lasting(classes, &cycle, devices))
        },
    )
}

/// The cycle of the largest rate at a point.
fn slowest(there: &[Constraint], size: (usize, i128), point: Point, stop: &Stop) -> Option<Vec<usize>> {
    let mut slowest: Option<Vec<usize>> = None;
    let mut lambda = Ratio::from_integer(0);
    while !stop.is_due()
        && let Some(cycle) = forbidding(there, size, point, lambda)
    {
        lambda = rate_of(there, &cycle).at(point);
        slowest = Some(cycle);
    }
    slowest
}
