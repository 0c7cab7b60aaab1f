//! Memory against interval: every block of one microbatch per interval that no other one beats in
//! both.
//!
//! From the most work of a device, the shortest interval there is, downwards in memory: the least
//! memory at an interval, then the least interval under a capacity just below it, until nothing fits.
//! So every sum of activations that matters as a capacity is met, whatever the units are.

mod named;
pub mod whole;

use std::time::Duration;

use num_rational::Ratio;

pub use named::{NamedSchedule, named_schedules};

use super::Stop;
use super::block::{BlockEngine, BlockRequest, BlockSolveError, solve};
use super::zone::{self, ZoneError};
use crate::block::{Block, Passes};
use crate::certificate::interval_bound;
use crate::encode::{BlockBound, BlockObjective, BlockOutcome, CheckedBlock};
use crate::model::{Kind, Model, Stage, Units};
use crate::replay::Rate;

/// A block on the frontier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Point {
    /// The block.
    pub block: Block,
    /// Its exact peak on the fullest device.
    pub peak: Units,
    /// Its interval, in ticks.
    pub interval: Ratio<i64>,
    /// No block of one microbatch per interval that holds no more on any device has a shorter
    /// interval than this, in ticks.
    pub bound: Ratio<i64>,
    /// Whether no block of one microbatch per interval is better in one respect and as good in the
    /// other.
    pub proven: bool,
}

impl Point {
    /// The share of time that the devices idle while copies of the block follow each other,
    /// `1 - work / (d * T)` with the work of all devices. Recomputation counts as work.
    #[must_use]
    pub fn bubble_rate(&self, model: &Model, passes: Passes) -> Rate {
        bubble_rate(model, passes, self.interval)
    }

    /// The share of time in which the devices run forwards and backwards while copies of the block follow each other.
    /// Recomputation is not counted.
    #[must_use]
    pub fn useful_rate(&self, model: &Model, passes: Passes) -> Rate {
        Rate::from_integer(1) - bubble_rate(model, Passes { recompute: false, ..passes }, self.interval)
    }
}

/// The share of time that the devices idle at an interval per microbatch.
#[must_use]
pub fn bubble_rate(model: &Model, passes: Passes, interval: Ratio<i64>) -> Rate {
    let stages = Stage::all(model.stages());
    let of = |kind: Kind| stages.clone().map(move |stage| i128::from(model.duration(stage, kind).0)).sum();
    let work: i128 = passes.kinds().iter().map(|&kind| -> i128 { of(kind) }).sum();
    let (numer, denom) = (i128::from(*interval.numer()), i128::from(*interval.denom()));
    Rate::from_integer(1) - Rate::new(work * denom, i128::from(model.devices()) * numer)
}

/// The frontier, or the part of it for which there was time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frontier {
    /// By growing memory, and so by shrinking interval, down to the most work of a device.
    pub points: Vec<Point>,
    /// Whether no block of one microbatch per interval holds less than the first point. If not, time
    /// was up before less memory was tried, or a solver [claims](Self::claimed) it.
    pub complete: bool,
    /// The solver that says, in floating point, that no block holds less than the first point, where that
    /// is not proved.
    pub claimed: Option<&'static str>,
    /// What found the points.
    pub engine: BlockEngine,
}

/// Why there is no frontier.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FrontierError {
    /// The engine cannot take the model, or failed.
    #[error(transparent)]
    Engine(#[from] BlockSolveError),
    /// Only the exact program takes other passes than F, I and W.
    #[error("full backwards and recomputation need a placement that the exact program can follow")]
    Passes,
    /// What the fastest block holds is more than a memory limit may be, so no less can be asked for.
    #[error("the fastest block holds {0} units, more than a memory limit may be; choose a coarser unit")]
    Memory(Units),
}

/// A block found under a capacity, and the interval that no block under that capacity is below.
struct Step {
    block: Block,
    peak: Units,
    interval: Ratio<i64>,
    bound: Ratio<i64>,
}

/// What is known under a capacity.
enum WithinCapacity {
    Step(Step),
    Infeasible,
    /// Time was up before a block was found.
    Unknown,
    /// This solver says, in floating point, that there is none.
    Denied(&'static str),
}

impl WithinCapacity {
    /// A block, and an interval that none is below.
    fn step(best: CheckedBlock, bound: Ratio<i64>) -> Self {
        let (peak, interval) = (best.peak_max(), best.interval);
        Self::Step(Step { block: best.block, peak, interval, bound: bound.min(interval) })
    }
}

/// The frontier of a model whose devices all have one capacity, which goes from what full throughput needs
/// down to nothing. The model's own capacities play no part. `progress` receives every point once it is
/// found.
///
/// Where the [exact program](zone) applies, every point is proved. Elsewhere a
/// [solver](BlockEngine::solver_for) answers for each capacity, with a bound where time is short or the solver
/// calculates in floating point.
///
/// # Errors
/// When no engine of this build can take the model, or one fails.
pub fn frontier(
    model: &Model,
    passes: Passes,
    stop: &Stop,
    progress: &mut dyn FnMut(Units, Ratio<i64>),
) -> Result<Frontier, FrontierError> {
    let exact = zone::is_applicable(model.placement());
    if !exact && passes != Passes::SPLIT {
        return Err(FrontierError::Passes);
    }
    let request = BlockRequest { passes, ..BlockRequest::of_one(BlockObjective::LeastInterval) };
    let engine = BlockEngine::default_for(model, request);
    let known_under = |capacity: Option<Units>| {
        // In the long run more microbatches may be under way than the model has.
        let over = || FrontierError::Memory(capacity.unwrap_or_default() + Units(1));
        let model = model.with_uniform_activation_capacity(capacity).map_err(|_| over())?;
        let known = match engine {
            BlockEngine::Exact => by_program(&model, passes, stop),
            solver => by_solver(&model, solver, capacity, stop),
        };
        known.map_err(FrontierError::from)
    };
    let mut steps: Vec<Step> = Vec::new();
    let mut capacity = None;
    let mut claimed = None;
    let complete = loop {
        match known_under(capacity)? {
            WithinCapacity::Step(step) => {
                progress(step.peak, step.interval);
                capacity = Some(step.peak - Units(1));
                let empty = step.peak <= Units::ZERO;
                take(&mut steps, step);
                if empty {
                    break true;
                }
            }
            WithinCapacity::Infeasible => break true,
            WithinCapacity::Unknown => break false,
            WithinCapacity::Denied(solver) => {
                claimed = Some(solver);
                break false;
            }
        }
    };
    let mut points = Vec::with_capacity(steps.len());
    let mut less: Option<Ratio<i64>> = None;
    for Step { block, peak, interval, bound } in steps.into_iter().rev() {
        // With less memory, every block is slower.
        let least = less.map_or(complete, |bound| bound > interval);
        less = Some(bound);
        points.push(Point { block, peak, interval, bound, proven: least && bound == interval });
    }
    Ok(Frontier { points, complete, claimed, engine })
}

/// Adds a step of less memory than those before, and removes the previous steps that repeat no sooner, which
/// a solver short of time may leave.
fn take(steps: &mut Vec<Step>, step: Step) {
    while steps.last().is_some_and(|last| last.interval >= step.interval) {
        steps.pop();
    }
    steps.push(step);
}

/// The least interval, and the least memory at it.
fn by_program(model: &Model, passes: Passes, stop: &Stop) -> Result<WithinCapacity, BlockSolveError> {
    let request = BlockRequest { passes, ..BlockRequest::of_one(BlockObjective::LeastInterval) };
    let fastest = match solve(model, BlockEngine::Exact, request, stop)? {
        BlockOutcome::Optimal(best) => best,
        BlockOutcome::Infeasible => return Ok(WithinCapacity::Infeasible),
        BlockOutcome::Bounded { .. } | BlockOutcome::Claimed { .. } => return Ok(WithinCapacity::Unknown),
    };
    // A request has a whole number of ticks; the least interval need not be one.
    match zone::least_memory(model, passes, fastest.interval, stop) {
        Ok(best) => Ok(WithinCapacity::step(best, fastest.interval)),
        Err(ZoneError::Infeasible(_)) => Ok(WithinCapacity::Infeasible),
        Err(ZoneError::TimeUp) => Ok(WithinCapacity::Unknown),
        Err(error) => Err(error.into()),
    }
}

/// What a solver finds within a part of the time that is left.
fn by_solver(
    model: &Model,
    engine: BlockEngine,
    capacity: Option<Units>,
    stop: &Stop,
) -> Result<WithinCapacity, BlockSolveError> {
    // The capacities to come want some of it, too.
    const PART: u32 = 4;
    const MOST: Duration = Duration::from_secs(3600);
    if stop.is_due() {
        return Ok(WithinCapacity::Unknown);
    }
    let work = model.most_work();
    let request = BlockRequest::of_one(match capacity {
        Some(_) => BlockObjective::LeastInterval,
        None => BlockObjective::LeastMemory { interval: work },
    });
    Ok(match solve(model, engine, request, &stop.within((stop.remaining() / PART).min(MOST)))? {
        BlockOutcome::Optimal(best) => {
            let interval = best.interval;
            WithinCapacity::step(best, interval)
        }
        BlockOutcome::Bounded { best: Some(best), bound: BlockBound::Interval(bound) }
        | BlockOutcome::Claimed { best: Some(best), bound: BlockBound::Interval(bound), .. } => {
            WithinCapacity::step(best, bound.max(interval_bound(model)))
        }
        BlockOutcome::Bounded { best: Some(best), bound: BlockBound::Memory(_) }
        | BlockOutcome::Claimed { best: Some(best), bound: BlockBound::Memory(_), .. } => {
            WithinCapacity::step(best, Ratio::from_integer(work.0))
        }
        BlockOutcome::Bounded { best: None, .. } => WithinCapacity::Unknown,
        BlockOutcome::Claimed { best: None, solver, .. } => WithinCapacity::Denied(solver),
        BlockOutcome::Infeasible => WithinCapacity::Infeasible,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Memory, Placement};

    fn of(placement: Placement, times: [i64; 4]) -> (Model, Frontier) {
        let model = Model::equal_stages(placement, 1, times).expect("a model");
        let frontier = frontier(&model, Passes::SPLIT, &Stop::default(), &mut |_, _| ()).expect("a frontier");
        (model, frontier)
    }

    fn shape(frontier: &Frontier) -> Vec<(i64, Ratio<i64>)> {
        frontier.points.iter().map(|point| (point.peak.0, point.interval)).collect()
    }

    #[test]
    fn memory_grows_while_the_interval_shrinks_to_the_work() {
        for times in [[1, 1, 1, 0], [3, 4, 2, 0], [5, 3, 7, 2]] {
            let (model, frontier) = of(Placement::v(5).expect("a placement"), times);
            assert!(frontier.complete);
            assert!(frontier.points.iter().all(|point| point.proven && point.bound == point.interval));
            let pairs = frontier.points.windows(2);
            assert!(
                pairs.clone().all(|pair| pair[0].peak < pair[1].peak && pair[0].interval > pair[1].interval)
            );
            let last = frontier.points.last().expect("a point");
            assert_eq!(last.interval, Ratio::from_integer(model.most_work().0));
            assert_eq!(last.bubble_rate(&model, Passes::SPLIT), Rate::from_integer(0));
        }
    }

    #[test]
    fn the_frontier_of_linear_placement_is_1f1b_and_less() {
        // Every missing activation of 1F1B's d costs its share of the chain of dependencies.
        let (_, frontier) = of(Placement::linear(4).expect("a placement"), [1, 1, 1, 0]);
        let expected = [(1, (9, 1)), (2, (5, 1)), (3, (4, 1)), (4, (3, 1))];
        assert_eq!(shape(&frontier), expected.map(|(peak, (p, q))| (peak, Ratio::new(p, q))));
    }

    #[test]
    fn every_point_is_what_a_cap_of_its_memory_allows_and_no_less() {
        let (model, frontier) = of(Placement::v(4).expect("a placement"), [3, 4, 2, 1]);
        for capacity in 2..=9 {
            let limited = model.with_uniform_activation_capacity(Some(Units(capacity))).expect("a model");
            let best = zone::least_interval(&limited, Passes::SPLIT, &Stop::default()).expect("a block");
            let known = frontier.points.iter().rev().find(|point| point.peak.0 <= capacity).expect("a point");
            assert_eq!(best.interval, known.interval, "capacity {capacity}");
        }
    }

    #[test]
    fn a_block_that_holds_more_than_a_cap_may_be_is_an_error() {
        let model = Model::equal_stages(Placement::linear(2).expect("a placement"), 1, [1, 1, 1, 1 << 56]);
        let model = model.expect("a model");
        let units = vec![Units(16); 2];
        let memory =
            Memory { activation: units.clone(), retained_for_weight: units, ..model.memory().clone() };
        let (placement, costs) = (model.placement().clone(), model.costs().clone());
        let model = Model::new("far".to_owned(), None, placement, 1, costs, memory).expect("a model");
        let found = frontier(&model, Passes::SPLIT, &Stop::default(), &mut |_, _| ());
        assert!(matches!(found, Err(FrontierError::Memory(held)) if held.0 > Model::MAX_TOTAL), "{found:?}");
    }

    #[test]
    fn a_step_that_repeats_no_sooner_with_more_memory_is_no_point() {
        let model =
            Model::equal_stages(Placement::v(2).expect("a placement"), 1, [1, 1, 1, 0]).expect("a model");
        let best = zone::least_interval(&model, Passes::SPLIT, &Stop::default()).expect("a block");
        let mut steps = Vec::new();
        for (peak, interval) in [(9, 6), (8, 11), (7, 12), (6, 10), (5, 10), (4, 13)] {
            let interval = Ratio::from_integer(interval);
            take(
                &mut steps,
                Step { block: best.block.clone(), peak: Units(peak), interval, bound: interval },
            );
        }
        let kept: Vec<i64> = steps.iter().map(|step| step.peak.0).collect();
        assert_eq!(kept, [9, 5, 4]);
    }

    #[test]
    fn without_time_there_is_no_point_and_no_claim() {
        let model =
            Model::equal_stages(Placement::v(8).expect("a placement"), 1, [3, 4, 2, 0]).expect("a model");
        let stop = Stop::after(std::time::Duration::ZERO);
        let frontier = frontier(&model, Passes::SPLIT, &stop, &mut |_, _| ()).expect("a frontier");
        assert!(!frontier.complete && frontier.points.is_empty());
    }
}
