//! Promises that the steady phase has no bubble for all durations with a condition, decided from the
//! intervals of the squeezed order.

use std::fmt;

use itertools::Itertools;
use num_rational::Ratio;

use super::form::{LinearForm, Point, QUANTITIES, Rate, rays_where};
use super::interval::{SqueezedInterval, SqueezedIntervals};
use crate::block::family::{BubbleFree, Family, FamilyError, Variable};
use crate::model::{Costs, Model, Ticks};
use crate::prove::ProveError;
use crate::replay::replay;

/// A number of devices in the domain is looked for up to this one.
const MOST_DEVICES: u32 = 4096;

/// What is known of a promise that there is no bubble.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum BubbleFreedom {
    /// It holds for every number of devices in the domain and all durations with the condition.
    Proved,
    /// It does not hold here.
    Refuted(Slow),
    /// A form of the interval that need not be attained would break it.
    Unknown(Rate),
}

/// Durations with the condition for which there is a bubble.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slow {
    /// Of F, I and W.
    pub durations: [i64; 3],
    /// The fewest devices for which that is known.
    pub devices: u32,
    /// What a microbatch takes in the long run.
    pub interval: Ratio<i128>,
    /// How long a device works for it.
    pub work: Ratio<i128>,
}

impl fmt::Display for Slow {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let durations = QUANTITIES.iter().zip(self.durations);
        write!(
            out,
            "with {} a microbatch takes {} ticks in the long run, and a device works {} for it",
            durations.map(|(name, ticks)| format!("{name} = {ticks}")).join(", "),
            self.interval,
            self.work
        )
    }
}

/// Decides a promise of a family, given the intervals of its squeezed order without latency.
///
/// The durations with the condition are a union of cones, on each of which the interval is at most the
/// largest of some forms. A form is nowhere above the work of a device on a cone if and only if it is not
/// on its extreme rays (Minkowski and Weyl), so this is decided in integers, without a solver. A
/// refutation is a ray on which the order is replayed, and found to be too slow.
///
/// # Errors
/// When replay contradicts the intervals, which is a defect, or the family has no model there.
pub fn bubble_freedom(
    family: &Family,
    promise: &BubbleFree,
    intervals: &SqueezedIntervals,
) -> Result<BubbleFreedom, ProveError> {
    let mut slow: Option<Slow> = None;
    let mut unknown = None;
    for (case, cone) in intervals.cases.iter().cartesian_product(promise.cones()) {
        let work = work(family);
        let forms = cone.iter().map(|&[f, i, w]| LinearForm([f.into(), i.into(), w.into(), 0])).collect_vec();
        for (ray, term) in rays_where(&forms, 3).into_iter().cartesian_product(&case.terms) {
            if term.rate.at(ray) <= work.at(ray) {
                continue;
            }
            let devices = term.attained.as_ref().and_then(|cycle| there(family, cycle.devices, intervals));
            let Some(devices) = devices else {
                unknown = unknown.or(Some(term.rate));
                continue;
            };
            if slow.as_ref().is_none_or(|slow| devices < slow.devices) {
                slow = Some(Slow::at(ray, devices, case, work)?);
            }
        }
    }
    match (slow, unknown) {
        (Some(slow), _) => slow.confirmed(family, promise).map(BubbleFreedom::Refuted),
        (None, Some(rate)) => Ok(BubbleFreedom::Unknown(rate)),
        (None, None) => Ok(BubbleFreedom::Proved),
    }
}

/// How long a device works for a microbatch.
fn work(family: &Family) -> Rate {
    let chunks = i128::from(family.layout.chunks());
    Rate { ticks: LinearForm([chunks, chunks, chunks, 0]), copies: 1 }
}

/// The fewest devices in the domain, of this number and those with the same residue beyond it.
fn there(family: &Family, from: i128, intervals: &SqueezedIntervals) -> Option<u32> {
    let step = usize::try_from(intervals.residues).ok()?;
    let inside = |devices: &u32| {
        let values = |variable| (variable == Variable::Devices).then_some(i64::from(*devices));
        family.domain.evaluate(&values) == Ok(true)
    };
    (u32::try_from(from).ok()?..=MOST_DEVICES).step_by(step).find(inside)
}

impl Slow {
    fn at(ray: Point, devices: u32, case: &SqueezedInterval, work: Rate) -> Result<Self, ProveError> {
        let [forward, input, weight, _] = ray;
        let mut durations = [0; 3];
        for (short, long) in durations.iter_mut().zip([forward, input, weight]) {
            *short = i64::try_from(long).map_err(|_| super::Irregular::Overflow)?;
        }
        let attained = case
            .terms
            .iter()
            .filter(|term| term.attained.as_ref().is_some_and(|cycle| cycle.devices <= i128::from(devices)));
        let interval = attained.map(|term| term.rate.at(ray)).max().unwrap_or_default();
        Ok(Self { durations, devices, interval, work: work.at(ray) })
    }

    /// Replays the order with these durations: it must take longer for a microbatch than a device works.
    fn confirmed(self, family: &Family, promise: &BubbleFree) -> Result<Self, ProveError> {
        let first = 8 * self.devices + 64;
        let (one, two) = (self.makespan(family, first)?, self.makespan(family, 2 * first)?);
        let grown = one.zip(two).map(|(one, two)| Ratio::new(i128::from((two - one).0), first.into()));
        if grown.is_some_and(|grown| grown > self.work) {
            return Ok(self);
        }
        Err(ProveError::Unconfirmed { theorem: promise.to_string(), devices: self.devices })
    }

    fn makespan(&self, family: &Family, microbatches: u32) -> Result<Option<Ticks>, ProveError> {
        let own = family.model(self.devices, microbatches)?;
        let stages = own.placement().stages() as usize;
        let [forward, input, weight] = self.durations.map(|ticks| vec![Ticks(ticks); stages]);
        let costs = Costs { forward, backward_input: input, backward_weight: weight, ..own.costs().clone() };
        let (placement, memory) = (own.placement().clone(), own.memory().clone());
        let model = Model::new(own.name().to_owned(), None, placement, microbatches, costs, memory)
            .map_err(FamilyError::from)?;
        let schedule = family.block(self.devices)?.expand(&own, microbatches);
        let timing = schedule.ok().and_then(|schedule| replay(&model, &schedule).timing);
        Ok(timing.map(|timing| timing.metrics.makespan))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::family::{Promise, parse_promise, shipped};
    use crate::prove::squeeze::squeezed_intervals;
    use crate::stop::Stop;

    #[test]
    fn an_interval_is_that_of_cycles_that_are_there() {
        let family = shipped("1f1b").expect("it is shipped");
        let intervals = squeezed_intervals(&family, false, &Stop::default()).expect("regular");
        let case = &intervals.cases[0];
        let fewest = case.terms.iter().filter_map(|term| Some(term.attained.as_ref()?.devices)).min();
        let fewest = u32::try_from(fewest.expect("it is reached")).expect("few");
        let interval = |devices| {
            let slow = Slow::at([1, 1, 1, 0], devices, case, work(&family)).expect("it fits");
            slow.interval
        };
        assert_eq!([fewest - 1, fewest].map(interval), [0, 3].map(Ratio::from_integer));
    }

    #[test]
    fn what_a_device_works_is_no_bubble() {
        let family = shipped("1f1b").expect("it is shipped");
        let Ok(Promise::BubbleFree(promise)) = parse_promise("bubble = 0 when tF >= 0") else {
            panic!("a promise")
        };
        let confirmed = |work| {
            let slow = Slow { durations: [1, 1, 1], devices: 2, interval: Ratio::default(), work };
            slow.confirmed(&family, &promise)
        };
        // A microbatch takes three ticks in the long run.
        assert!(matches!(confirmed(Ratio::from_integer(3)), Err(ProveError::Unconfirmed { devices: 2, .. })));
        assert!(confirmed(Ratio::new(29, 10)).is_ok());
    }

    #[test]
    fn a_counterexample_is_replayed_with_its_own_durations() {
        let family = shipped("1f1b").expect("it is shipped");
        let makespan = |durations| {
            let slow = Slow { durations, devices: 1, interval: Ratio::default(), work: Ratio::default() };
            slow.makespan(&family, 4).expect("within the domain")
        };
        // One device runs one pass after the other.
        for (durations, ticks) in [([1, 1, 1], 12), ([5, 1, 1], 28), ([1, 5, 1], 28), ([1, 1, 5], 28)] {
            assert_eq!(makespan(durations), Some(Ticks(ticks)), "{durations:?}");
        }
    }
}
