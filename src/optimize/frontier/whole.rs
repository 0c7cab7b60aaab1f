//! Peak memory against makespan: the best schedules under one memory limit after the other.
//!
//! Each is searched for by [`optimize`], so everything that a model counts counts here: pairs, messages, the end of the step,
//! recomputation and offloading. The limits are the same for every device. They go from the least into which a microbatch fits
//! up to what the best schedule without a limit holds; those of the named schedules that no other named one beats are among
//! them, so that none of these is below the frontier.

use std::collections::BTreeSet;

use num_rational::Ratio;

use super::super::{Infeasible, OptimizeError, Options, Progress, Solution, check_fits, optimize};
use crate::catalog::{self, Entry};
use crate::certificate::Objective;
use crate::estimate::is_affordable;
use crate::model::{Device, Model, Ticks, Units};
use crate::replay::{Rate, replay};
use crate::schedule::Schedule;
use crate::stop::Stop;

/// A schedule on the frontier.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WholePoint {
    /// The schedule, with a certificate for the limit under which it was found.
    pub solution: Solution,
    /// That limit, the same for every device, weights included; `None` for the search without one.
    pub limit: Option<Units>,
    /// No schedule that holds no more than this one's peak on any device is shorter, in ticks.
    pub bound: Ticks,
}

impl WholePoint {
    /// The most that a device holds, weights included.
    #[must_use]
    pub fn peak(&self) -> Units {
        self.solution.verdict.peak_memory_max()
    }

    /// The makespan, in ticks.
    #[must_use]
    pub fn makespan(&self) -> Ticks {
        self.solution.value()
    }

    /// How much longer it is than the shortest that is not excluded within its peak, as a share of that.
    #[must_use]
    pub fn gap(&self) -> Ratio<i128> {
        let (value, bound) = (i128::from(self.makespan().0), i128::from(self.bound.0.max(1)));
        Ratio::new(value - bound, bound)
    }
}

/// A named schedule, as replay measures it without a memory limit, and how far it is from the frontier.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NamedWhole {
    /// What the catalogue calls it.
    pub name: &'static str,
    /// The most that a device holds, weights included.
    pub peak: Units,
    /// Its makespan, in ticks.
    pub makespan: Ticks,
    /// Its bubble rate.
    pub bubble_rate: Rate,
    /// How much longer it is than the best of the frontier that holds no more, as a share of that: never negative where there was
    /// time for all limits. `None` where no point holds so little.
    pub distance: Option<Ratio<i128>>,
}

/// The frontier, or the part of it for which there was time.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WholeFrontier {
    /// By growing memory and shrinking makespan.
    pub points: Vec<WholePoint>,
    /// The named schedules that the model has and that run.
    pub schedules: Vec<NamedWhole>,
    /// No schedule is shorter than this, whatever it holds, in ticks.
    pub bound: Ticks,
    /// No schedule keeps to less than this on every device.
    pub least: Units,
    /// The limits under which there was time to search, and no schedule was found; whether there is one is not known.
    pub without_any: Vec<Units>,
    /// Whether there was time for all limits.
    pub complete: bool,
}

/// The frontier of a model, from searches under so many memory limits and one without. The model's own limits play no part. The
/// searches share the effort and the time, and each begins with the schedule that the one before has found. `progress` receives
/// what they tell, with their limit.
///
/// There are more searches than that only where that many named schedules are not beaten by others.
///
/// # Errors
/// When a search is defective.
pub fn whole_frontier(
    model: &Model,
    limits: usize,
    options: &Options,
    progress: &mut dyn FnMut(Option<Units>, &Progress),
) -> Result<WholeFrontier, OptimizeError> {
    let unlimited = model.with_uniform_activation_capacity(None).expect("without a limit, none is wrong");
    let stop = &options.stop;
    let mut named = named(&unlimited, &stop.share(8));
    // Those searches know them too that time cuts short.
    let known: Vec<Schedule> = named.iter().map(|(_, schedule)| schedule.clone()).collect();
    let objective = Objective::Makespan;
    let searches = limits + 1;
    let (effort, exact_effort) = (options.effort / searches, options.exact_effort / searches as u64);
    let options = Options { objective, effort, exact_effort, known, ..options.clone() };
    let first = Options { stop: stop.share(searches), ..options.clone() };
    let roomiest = optimize(&unlimited, &first, &mut |state| progress(None, state))?;
    let least = least_limit(&unlimited);
    let corners = corners(&named);
    let all = spread(least, roomiest.verdict.peak_memory_max(), &corners, limits);
    let bound = roomiest.lower_bound();
    let mut searched = vec![WholePoint { bound, solution: roomiest, limit: None }];
    let (mut without_any, mut complete) = (Vec::new(), true);
    for (done, &limit) in all.iter().enumerate() {
        if stop.is_due() {
            complete = false;
            break;
        }
        let Ok(limited) = unlimited.with_uniform_capacity(limit) else { continue };
        let mut options = Options { stop: stop.share(all.len() - done), ..options.clone() };
        options.known.extend(searched[1..].last().map(|point| point.solution.schedule.clone()));
        match optimize(&limited, &options, &mut |state| progress(Some(limit), state)) {
            Ok(solution) => {
                let bound = solution.lower_bound();
                searched.push(WholePoint { solution, limit: Some(limit), bound });
            }
            Err(OptimizeError::Infeasible(_) | OptimizeError::NoneFound(_)) => without_any.push(limit),
            Err(error) => return Err(error),
        }
    }
    let points = undominated(searched);
    for (named, _) in &mut named {
        let within = points.iter().rev().find(|point| point.peak() <= named.peak);
        named.distance = within.map(|point| {
            let (value, best) = (i128::from(named.makespan.0), i128::from(point.makespan().0.max(1)));
            Ratio::new(value - best, best)
        });
    }
    let schedules = named.into_iter().map(|(named, _)| named).collect();
    Ok(WholeFrontier { points, schedules, bound, least, without_any, complete })
}

/// The schedules of the catalogue that run under a model without limits, but for those that interleave chunks where each device
/// has one; as many as there is time for.
fn named(model: &Model, stop: &Stop) -> Vec<(NamedWhole, Schedule)> {
    let measured = |entry: &'static Entry| {
        if stop.is_due() || !is_affordable(model, stop.remaining()) {
            return None;
        }
        let schedule = entry.generate_until(model, stop).ok()?;
        let verdict = replay(model, &schedule);
        let timing = verdict.timing.as_ref().filter(|_| verdict.is_valid())?;
        let named = NamedWhole {
            name: entry.name,
            peak: verdict.peak_memory_max(),
            makespan: timing.metrics.makespan,
            bubble_rate: timing.metrics.bubble_rate,
            distance: None,
        };
        Some((named, schedule))
    };
    let entries = catalog::entries().iter();
    entries.filter(|entry| !entry.needs.is_degenerate_on(model.placement())).filter_map(measured).collect()
}

/// The peaks of the named schedules that no other one beats.
fn corners(named: &[(NamedWhole, Schedule)]) -> Vec<Units> {
    let mut all: Vec<(Units, Ticks)> = named.iter().map(|(named, _)| (named.peak, named.makespan)).collect();
    all.sort_unstable();
    let mut corners: Vec<(Units, Ticks)> = Vec::new();
    for next in all {
        if corners.last().is_none_or(|last| next.1 < last.1) {
            corners.push(next);
        }
    }
    corners.into_iter().map(|(peak, _)| peak).collect()
}

/// The least limit on every device that a microbatch is not known to exceed. Whatever is less is too little.
fn least_limit(model: &Model) -> Units {
    let mut limit =
        Device::all(model.devices()).map(|device| model.resident(device)).max().unwrap_or_default();
    while let Ok(limited) = model.with_uniform_capacity(limit) {
        match check_fits(&limited) {
            Err(Infeasible { needed, .. }) if needed > limit => limit = needed,
            Ok(()) | Err(_) => break,
        }
    }
    limit
}

/// Limits from the least up to, but without, the most: the corners between them, and the middles of the widest gaps until there
/// are so many.
fn spread(least: Units, most: Units, corners: &[Units], limits: usize) -> Vec<Units> {
    if least >= most {
        return Vec::new();
    }
    let between = corners.iter().copied().filter(|&corner| least < corner && corner < most);
    let mut all: BTreeSet<Units> = between.chain([least]).collect();
    while all.len() < limits {
        let ends: Vec<Units> = all.iter().copied().chain([most]).collect();
        let widest = ends.windows(2).max_by_key(|gap| (gap[1] - gap[0], std::cmp::Reverse(gap[0])));
        let Some(&[low, high]) = widest.and_then(|gap| gap.first_chunk()) else { break };
        if high.0 - low.0 < 2 {
            break;
        }
        all.insert(Units(low.0 + (high.0 - low.0) / 2));
    }
    all.into_iter().collect()
}

/// The points that no other one beats, by growing memory, with the best bound known for each: what is true within more memory
/// is true within less.
fn undominated(mut searched: Vec<WholePoint>) -> Vec<WholePoint> {
    let known: Vec<(Option<Units>, Ticks)> =
        searched.iter().map(|point| (point.limit, point.solution.lower_bound())).collect();
    searched.sort_by_key(|point| (point.peak(), point.makespan()));
    let mut points: Vec<WholePoint> = Vec::with_capacity(searched.len());
    for mut point in searched {
        if points.last().is_some_and(|last| last.makespan() <= point.makespan()) {
            continue;
        }
        let holds = |limit: Option<Units>| limit.is_none_or(|limit| limit >= point.peak());
        let bounds = known.iter().filter(|&&(limit, _)| holds(limit)).map(|&(_, bound)| bound);
        point.bound = bounds.max().unwrap_or(point.bound);
        points.push(point);
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certificate;
    use crate::model::{Overlap, PairDurations, Placement};

    fn frontier_of(model: &Model, limits: usize, effort: usize) -> WholeFrontier {
        let options = Options { effort, exact_effort: 0, ..Options::default() };
        whole_frontier(model, limits, &options, &mut |_, _| ()).expect("a frontier")
    }

    fn units(values: &[i64]) -> Vec<Units> {
        values.iter().copied().map(Units).collect()
    }

    #[test]
    fn limits_are_corners_and_the_middles_of_the_widest_gaps() {
        let of = |corners: &[i64], limits| spread(Units(2), Units(18), &units(corners), limits);
        assert_eq!(of(&[], 1), units(&[2]));
        assert_eq!(of(&[], 4), units(&[2, 6, 10, 14]));
        assert_eq!(of(&[4], 4), units(&[2, 4, 7, 11]), "the first of equals");
        assert_eq!(of(&[1, 2, 4, 5, 18, 20], 1), units(&[2, 4, 5]));
        assert_eq!(of(&[], 100).len(), 16, "one for each unit");
        assert_eq!(spread(Units(3), Units(3), &units(&[3]), 5), []);
    }

    /// Linear placement, F, I and W of one tick: from one microbatch at a time to all of them under way.
    #[test]
    fn less_memory_costs_time_and_nothing_is_below_it() {
        let placement = Placement::linear(3).expect("a placement");
        let model = Model::equal_stages(placement, 6, [1, 1, 1, 0]).expect("a model");
        let frontier = frontier_of(&model, 8, 2_000_000);
        assert!(frontier.complete && frontier.without_any.is_empty());
        assert_eq!(frontier.least, Units(1));
        // One microbatch at a time: F goes up in 3 ticks, I comes down in 3, and the next F of the first device waits for its W.
        // With room for all, the last device begins after two forwards, and is never idle then.
        let shape: Vec<[i64; 3]> =
            frontier.points.iter().map(|point| [point.peak().0, point.makespan().0, point.bound.0]).collect();
        assert_eq!(shape, [[1, 6 * 7, 6 * 7], [2, 25, 25], [3, 2 + 6 * 3, 2 + 6 * 3]]);
        assert_eq!(frontier.bound, Ticks(2 + 6 * 3));
        for point in &frontier.points {
            let limited = match point.limit {
                None => model.clone(),
                Some(limit) => model.with_uniform_capacity(limit).expect("a model"),
            };
            certificate::check(&point.solution.schedule, Some(&limited)).expect("a certificate");
        }
    }

    #[test]
    fn no_named_schedule_is_below_the_frontier_even_with_pairs() {
        let v = Model::equal_stages(Placement::v(3).expect("a placement"), 6, [3, 4, 2, 0]).expect("a model");
        let pair = Overlap { forward_backward: PairDurations::Uniform(Ticks(7)), ..Overlap::default() };
        let v = v.with_overlap(pair).expect("pairs");
        let two_way = Placement::bidirectional(4).expect("a placement");
        let two_way = Model::equal_stages(two_way, 8, [3, 4, 2, 0]).expect("a model");
        // A search that hardly begins knows them too.
        let models = [(v, "dualpipe-v"), (two_way, "dualpipe")];
        for ((model, name), effort) in itertools::iproduct!(models, [0, 2_000_000]) {
            let frontier = frontier_of(&model, 3, effort);
            assert!(frontier.schedules.iter().any(|named| named.name == name));
            for named in &frontier.schedules {
                let distance = named.distance.expect("a point within its memory");
                assert!(distance >= Ratio::from_integer(0), "{} {distance}", named.name);
            }
        }
    }

    /// The least memory is that of one microbatch, whatever is recomputed or offloaded: one unit less is refused.
    #[test]
    fn nothing_fits_into_less_than_the_least() {
        for file in [
            "tests/corpus/valid/recompute-levels.toml",
            "tests/data/cli/offload.toml",
            "models/regress/two-way.toml",
        ] {
            let model =
                crate::model::parse(&std::fs::read_to_string(file).expect("a file")).expect("a model");
            let least = least_limit(&model.with_uniform_activation_capacity(None).expect("a model"));
            let within = |limit| {
                let limited = model.with_uniform_capacity(limit).expect("a model");
                optimize(
                    &limited,
                    &Options { effort: 100_000, exact_effort: 0, ..Options::default() },
                    &mut |_| (),
                )
            };
            assert!(within(least).is_ok(), "{file}: {least}");
            assert!(matches!(within(least - Units(1)), Err(OptimizeError::Infeasible(_))), "{file}: {least}");
        }
    }

    #[test]
    fn without_time_what_is_missing_is_said() {
        let model = Model::unit(Placement::v(4).expect("a placement"), 8).expect("a model");
        let interrupt = crate::stop::Interrupt::default();
        interrupt.raise();
        let options = Options { stop: Stop::on(interrupt), ..Options::default() };
        let frontier = whole_frontier(&model, 8, &options, &mut |_, _| ()).expect("a frontier");
        assert!(!frontier.complete);
        assert_eq!(frontier.points.len(), 1);
    }
}
