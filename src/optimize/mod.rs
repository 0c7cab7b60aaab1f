//! Optimisation: short schedules under the capacities, and how far from the shortest they can be at most.
//!
//! Candidates come from optimal building blocks, from blocks whose passes are placed in gaps, from blocks that need more memory
//! and are thinned out, from list scheduling along orders of forwards, and from the catalogue; the best are improved by filling
//! gaps, by annealing, and by disturbing their forwards. With many microbatches, the search uses fewer, and repeats the steady
//! phase of the best schedules. All of that only proposes: `replay` measures the answer, and `certificate` derives the bound.
//!
//! ```
//! use std::time::Duration;
//!
//! use bubbleproof::model::{Model, Placement, Units};
//! use bubbleproof::optimize::{Options, optimize};
//! use bubbleproof::stop::Stop;
//!
//! // V placement on 3 devices, F = 3, I = 4 and W = 2 ticks, and room for 5 chunks on each device.
//! let model = Model::equal_stages(Placement::v(3)?, 6, [3, 4, 2, 0])?.with_uniform_capacity(Units(5))?;
//! let options = Options { stop: Stop::after(Duration::from_secs(20)), ..Options::default() };
//! let solution = optimize(&model, &options, &mut |progress| eprintln!("{}", progress.step))?;
//! assert!(solution.bound.value <= solution.value());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod anneal;
mod at_once;
mod beyond;
pub mod block;
mod corridor;
mod dispatch;
pub mod exact;
pub mod explain;
mod feasible;
mod forced;
pub mod frontier;
mod held_back;
mod justify;
mod late;
mod lengths;
pub mod mean;
mod needless;
mod needs;
mod pace;
mod partly;
pub mod periodic;
mod placed;
mod proved_by;
mod replayed;
mod search;
mod starting_points;
pub mod sweep;
mod thinned;
mod zero_bubble_v;
pub mod zone;

use std::num::NonZeroUsize;

use num_rational::Ratio;

pub use feasible::Infeasible;
use replayed::{ReplayedSchedule, given, is_quickly_replayed, time_to_replay, with_time_to_check};

use crate::analysis::steady_interval;
use crate::block::Block;
use crate::bounds;
use crate::certificate::{
    Bound, CHECK_STEPS, Certificate, Objective, Optimality, STEPS, lower_bound_below, lower_bound_until,
};
use crate::model::{BeyondPasses, Model, Ticks};
use crate::parallel;
use crate::replay::Verdict;
use crate::schedule::{Provenance, Schedule};
use crate::stop::Stop;

/// How to search.
#[derive(Debug, Clone)]
pub struct Options {
    /// What to minimise. Between equals decide, in this order: whether they recompute; how many activations they offload; the
    /// largest peak of a device; the peaks of all devices together; how many passes recompute.
    pub objective: Objective,
    /// When to stop with the best schedule found so far; by default, not before the effort is spent. A
    /// search that ends before is the same every time.
    pub stop: Stop,
    /// Decides between choices that nothing else decides.
    pub seed: u64,
    /// How many passes are placed in all, over all candidates, before the search ends by itself.
    pub effort: usize,
    /// How much work each engine for whole schedules ([`exact`]) does at most, where the search has not
    /// met the bound, in units of about a microsecond. None: 0.
    pub exact_effort: u64,
    /// Whether the search goes on once its effort is spent and a gap is left, with other random choices and more
    /// work for the engines in every round, until it is time to stop. What it ends with then depends on the
    /// time that it had. (With a stop that is never due, it ends with a proof of optimality or not at all.)
    pub use_all_time: bool,
    /// How many threads search. The answer does not depend on it.
    pub threads: NonZeroUsize,
    /// Schedules to start from. Those that replay finds valid under the model, capacities included, are
    /// never better than the answer; the others play no part.
    ///
    /// A schedule that keeps to some capacities keeps to looser ones, but a search under looser capacities may have
    /// less luck: passing the schedule of each capacity on to the next looser one makes a sweep monotone, as [`sweep`] does.
    pub known: Vec<Schedule>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            objective: Objective::default(),
            stop: Stop::default(),
            seed: 0,
            effort: 400_000_000,
            exact_effort: 4_000_000,
            use_all_time: false,
            threads: NonZeroUsize::MIN,
            known: Vec::new(),
        }
    }
}

/// The progress of a search.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// What is being tried.
    pub step: String,
    /// The best value so far.
    pub best: Option<Ticks>,
    /// No schedule is better than this.
    pub bound: Ticks,
    /// Whether these are values of a search that only prepares the one asked for: with another objective, or a simpler model.
    pub is_inner: bool,
}

/// A schedule that keeps to the capacities, replayed, with a lower bound.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Solution {
    /// The schedule.
    pub schedule: Schedule,
    /// What replay says of it: valid, with its times.
    pub verdict: Verdict,
    /// No schedule under the capacities is better than this;
    /// [`certificate::holds`](crate::certificate::holds) derives it anew.
    pub bound: Bound,
    /// What is known of how much better any schedule can be; for what an exhaustive search is worth, see
    /// [`exact`].
    pub optimality: Optimality,
    /// The building block it came from, directly or by the order of its forwards, if from one that fits into the capacities.
    pub block: Option<Block>,
    /// What found it.
    pub engine: String,
    /// What was minimised.
    pub objective: Objective,
    /// Whether the search was [told to stop](Options::stop) before it ended by itself.
    pub is_cut_short: bool,
}

impl Solution {
    /// What was minimised, as replay measures it.
    ///
    /// # Panics
    /// When the verdict is not that of a valid schedule, which that of a solution is.
    #[must_use]
    pub fn value(&self) -> Ticks {
        let timing = self.verdict.timing.as_ref().expect("the schedule of a solution is valid");
        self.objective.of(&timing.metrics)
    }

    /// No schedule under the capacities is better than this: the bound, or the value itself where an engine
    /// has proved it optimal.
    #[must_use]
    pub fn lower_bound(&self) -> Ticks {
        match self.optimality {
            Optimality::Open | Optimality::Bound => self.bound.value,
            Optimality::Search { none_below, .. } => none_below,
        }
    }

    /// How much longer the schedule is than the best that is not excluded, as a share of that.
    #[must_use]
    pub fn gap(&self) -> Ratio<i128> {
        let (value, lower) = (i128::from(self.value().0), i128::from(self.lower_bound().0.max(1)));
        Ratio::new(value - lower, lower)
    }

    /// Whether it is proved that no schedule is better.
    #[must_use]
    pub fn is_optimal(&self) -> bool {
        self.optimality != Optimality::Open
    }

    /// A solution that was found before: a schedule that replay has accepted with this verdict, and a lower bound on its makespan
    /// that holds.
    pub(crate) fn restored(
        model: &Model,
        schedule: Schedule,
        verdict: Verdict,
        bound: Bound,
        is_cut_short: bool,
    ) -> Self {
        let engine = schedule.provenance.as_ref().map_or_else(|| "given".to_owned(), |of| of.engine.clone());
        let mut solution = Self {
            schedule: of_optimize(schedule, model, &engine),
            verdict,
            bound,
            optimality: Optimality::Open,
            block: None,
            engine,
            objective: Objective::Makespan,
            is_cut_short,
        };
        if solution.value() == solution.bound.value {
            solution.optimality = Optimality::Bound;
        }
        solution.certified(model)
    }

    /// The solution with its certificate in the schedule.
    fn certified(mut self, model: &Model) -> Self {
        let Self { schedule, verdict, bound, optimality, objective, .. } = &self;
        let certificate = Certificate::of(model, schedule, verdict, *objective, bound, optimality.clone());
        self.schedule.certificate = certificate.map(|certificate| certificate.to_json());
        self
    }

    /// The time per microbatch that the replayed schedule keeps in its steady phase, in ticks, if it
    /// has one: in the middle third of the microbatches, every pass follows the same pass one (two,
    /// three, four) microbatches before at one and the same distance.
    #[must_use]
    pub fn interval(&self) -> Option<Ratio<i64>> {
        steady_interval(&self.schedule, self.verdict.timing.as_ref()?)
    }
}

/// Why there is no solution.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OptimizeError {
    /// No schedule keeps to the capacities.
    #[error(transparent)]
    Infeasible(#[from] Infeasible),
    /// Nothing that was found keeps to the capacities with all that the model counts.
    #[error(
        "no schedule was found that keeps to the memory limits with {0}; whether there is one is not known"
    )]
    NoneFound(BeyondPasses),
    /// Two directions, with the mean over measured runs as the objective.
    #[error(
        "microbatches go in two directions, but the mean is minimised over schedules of one direction only"
    )]
    TwoDirections,
    /// The search proposed a schedule that replay rejects: a defect of this program.
    #[error("internal error: {engine} proposed a schedule that replay rejects: {reason}")]
    Rejected {
        /// What proposed it.
        engine: String,
        /// What replay said.
        reason: String,
    },
    /// A valid schedule is better than what was proved of all schedules: a defect of this program.
    #[error(
        "internal error: a schedule of {value} ticks is valid, but {engine} says that it has proved none to be below \
         {proved}"
    )]
    Refuted {
        /// What proved it.
        engine: &'static str,
        /// The value that no schedule was to be below.
        proved: Ticks,
        /// What this one takes, as replay measures it.
        value: Ticks,
    },
}

/// Checks that a valid schedule is no better than what was proved of all schedules.
fn not_refuted(
    value: Ticks,
    bound: Ticks,
    proved: Option<(&'static str, Ticks)>,
) -> Result<(), OptimizeError> {
    let claims = proved.into_iter().chain([("the lower bound", bound)]);
    let refuted = claims.into_iter().find(|&(_, least)| value < least);
    refuted.map_or(Ok(()), |(engine, proved)| Err(OptimizeError::Refuted { engine, proved, value }))
}

/// The shortest schedule found under the model's capacities.
///
/// Any capacities that a serial execution keeps to give a schedule. Nothing is recomputed in it that could be left
/// out with a schedule as short within the capacities, and no activation is offloaded that could stay. Unless the [stop](Options::stop)
/// comes first, the result is never worse than a schedule of the catalogue that keeps to the capacities, and
/// it is the same every time, with any number of threads. In any case it is never worse than a
/// [known](Options::known) schedule.
///
/// The span is minimised in two searches, each with all of the effort and half of the time that is left. The first
/// one minimises the makespan, without [using all time](Options::use_all_time). Where it is not cut short, the span of
/// the result is no longer than that of the schedule of least makespan that the same options give without using all
/// time. What more time finds for the makespan may have a shorter one.
///
/// With two directions, the named schedules are changed and measured under the model, and nothing is recomputed or offloaded.
///
/// Where the model [says more](Model::beyond_passes) than passes and latencies, all of this is true of the model without
/// that; the schedules found there, and the named ones, are then changed and measured under the model itself.
///
/// # Errors
/// When the capacities are too small for one microbatch alone, or replay rejects what the search proposes: a
/// defect of this program.
pub fn optimize(
    model: &Model,
    options: &Options,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Solution, OptimizeError> {
    check_fits(model)?;
    if model.placement().directions() > 1 {
        return beyond::optimize_two_ways(model, options, progress);
    }
    if model.beyond_passes().is_some() {
        return beyond::optimize_beyond_passes(model, options, progress);
    }
    let to_replay = time_to_replay(model, &options.stop);
    let stop = &with_time_to_check(model, &options.stop, to_replay);
    let given = given(model, options.objective, &options.known);
    if to_replay.is_some_and(|to_replay| at_once::is_too_long(model, to_replay, stop)) {
        let bound = bounds::lower_bound_until(model, options.objective, 0, &mut || false);
        let named = at_once::named(model, options.objective, bound.value, stop);
        let found: Vec<Found> = named.into_iter().chain(given.into_iter().map(Found::known)).collect();
        let is_cut_short = found.iter().all(|found| found.replayed.value != bound.value);
        return solution(model, options.objective, found, bound, None, is_cut_short);
    }
    let space = search::Space::new(model);
    // A search cannot hold a schedule that recomputes some microbatches of a stage and not others.
    let mut known: Vec<search::FoundOrders> =
        given.iter().filter_map(|given| space.found(&given.schedule, &given.engine)).collect();
    let mut is_cut_short = false;
    let mut found: Vec<Found> = Vec::new();
    // What recomputes single microbatches is found after the rest.
    let is_forced = model.memory().checkpoint.is_some() && is_quickly_replayed(model);
    if options.objective == Objective::DeviceSpan {
        let objective = Objective::Makespan;
        let options = Options { objective, use_all_time: false, ..options.clone() };
        let shortest =
            searched(model, &space, &options, &stop.within(stop.remaining() / 2), &known, &mut |told| {
                progress(&Progress { is_inner: true, ..told.clone() });
            })?;
        is_cut_short = shortest.is_cut_short;
        known.extend(shortest.kept.first().cloned());
        // Which of these is the one of least makespan only replay tells, and only now: the search for the span may lose it.
        if !is_cut_short || is_quickly_replayed(model) {
            let mut of_makespan = replayed(model, &space, objective, shortest.kept)?;
            of_makespan.extend(self::given(model, objective, &options.known).into_iter().map(Found::known));
            if is_forced {
                let stop = stop.within(stop.remaining() / 4);
                let least = least(&shortest.bound, shortest.proved);
                is_cut_short |= forced::add(model, &options, least, &mut of_makespan, &stop, progress);
            }
            found.extend(best(of_makespan).map(|best| best.measured_by(Objective::DeviceSpan)));
        }
    }
    let within = if is_forced { stop.within(stop.remaining() / 4 * 3) } else { stop.clone() };
    let Searched { kept, bound, proved, is_cut_short: last } =
        searched(model, &space, options, &within, &known, progress)?;
    is_cut_short |= last;
    found.splice(0..0, replayed(model, &space, options.objective, kept)?);
    found.extend(given.into_iter().map(Found::known));
    if is_forced {
        let least = least(&bound, proved);
        is_cut_short |= forced::add(model, options, least, &mut found, stop, progress);
    }
    solution(model, options.objective, found, bound, proved, is_cut_short)
}

/// The least value that has not been excluded.
fn least(bound: &Bound, proved: Option<(exact::Engine, Ticks)>) -> Ticks {
    proved.map_or(bound.value, |(_, least)| least.max(bound.value))
}

/// The best schedule that is there without a search: a named one, or one microbatch after the other. Nothing where none of these
/// keeps to the capacities.
#[must_use]
pub fn named_solution(model: &Model, objective: Objective, stop: &Stop) -> Option<Solution> {
    let bound = bounds::lower_bound_until(model, objective, 0, &mut || false);
    let named = at_once::named(model, objective, bound.value, stop)?;
    solution(model, objective, vec![named], bound, None, false).ok()
}

/// Refuses capacities that not even one microbatch fits into.
///
/// # Errors
/// When no schedule keeps to them.
fn check_fits(model: &Model) -> Result<(), Infeasible> {
    if model.placement().directions() > 1 {
        beyond::check_two_ways(model)
    } else if model.has_plain_memory() && !model.can_offload() {
        feasible::check(&model.level_floor())
    } else {
        beyond::check(&model.level_floor())
    }
}

/// The best of what was found, with what is known of all schedules.
///
/// # Errors
/// When it is better than what was proved.
fn solution(
    model: &Model,
    objective: Objective,
    found: Vec<Found>,
    bound: Bound,
    proved: Option<(exact::Engine, Ticks)>,
    is_cut_short: bool,
) -> Result<Solution, OptimizeError> {
    let Found { replayed: ReplayedSchedule { schedule, verdict, value, engine }, block } =
        best(found).expect("the serial schedule keeps to feasible capacities");
    not_refuted(value, bound.value, proved.map(|(engine, least)| (engine.name(), least)))?;
    let schedule = of_optimize(schedule, model, &engine);
    let optimality = match proved {
        _ if value == bound.value => Optimality::Bound,
        Some((engine, least)) if value == least => {
            Optimality::Search { engine: proved_by::in_certificates(engine), none_below: value }
        }
        _ => Optimality::Open,
    };
    let solution = Solution { schedule, verdict, bound, optimality, block, engine, objective, is_cut_short };
    Ok(solution.certified(model))
}

/// The schedule with what it says of itself: that it was found by this engine, for this model.
fn of_optimize(schedule: Schedule, model: &Model, engine: &str) -> Schedule {
    let mut schedule = schedule.named("optimized");
    schedule.model = Some(model.name().to_owned());
    schedule.provenance = Some(Provenance {
        tool: concat!("bubbleproof ", env!("CARGO_PKG_VERSION")).to_owned(),
        engine: engine.to_owned(),
        ..Provenance::default()
    });
    schedule
}

/// A schedule that may be the answer.
struct Found {
    replayed: ReplayedSchedule,
    /// The building block it came from.
    block: Option<Block>,
}

impl Found {
    const fn known(replayed: ReplayedSchedule) -> Self {
        Self { replayed, block: None }
    }

    fn measured_by(self, objective: Objective) -> Self {
        Self { replayed: self.replayed.measured_by(objective), ..self }
    }
}

/// What a search has kept, as replay measures it, without needless recomputation.
fn replayed(
    model: &Model,
    space: &search::Space,
    objective: Objective,
    kept: Vec<search::FoundOrders>,
) -> Result<Vec<Found>, OptimizeError> {
    let replayed = kept.into_iter().map(|orders| {
        let replayed = ReplayedSchedule::new(model, objective, space.schedule(&orders), orders.engine)?;
        Ok(Found { replayed: replayed.without_needless(model, objective), block: orders.block })
    });
    replayed.collect()
}

/// The best of these, the first of equals.
fn best(found: Vec<Found>) -> Option<Found> {
    found.into_iter().min_by_key(|found| found.replayed.rank())
}

/// What a search ends with.
struct Searched {
    /// The best few orders, best first: all that are worth being looked at once more.
    kept: Vec<search::FoundOrders>,
    bound: Bound,
    /// The engine that has proved that no schedule is below a value, in ticks.
    proved: Option<(exact::Engine, Ticks)>,
    is_cut_short: bool,
}

/// Searches from what is known.
fn searched(
    model: &Model,
    space: &search::Space,
    options: &Options,
    stop: &Stop,
    known: &[search::FoundOrders],
    progress: &mut dyn FnMut(&Progress),
) -> Result<Searched, OptimizeError> {
    let objective = options.objective;
    // The closed forms and one linear program cost little; the rest only where they leave a gap.
    let mut bound = bounds::lower_bound_until(model, objective, 0, &mut || false);
    let mut search = search::Search::new(space, options, bound.value, stop.clone(), progress);
    for known in known {
        search.put(known.clone());
    }
    search.propose();
    if !search.is_done() {
        let steps = STEPS.min(options.effort as u64 / EFFORT_PER_STEP);
        let alone = lower_bound_until(model, objective, steps, &mut || stop.is_due());
        raise(&mut bound, alone, &mut search);
    }
    search.improve(options.effort / 8);
    let mut effort = options.exact_effort;
    let mut steps = STEPS_BELOW.min(options.effort as u64 / EFFORT_PER_STEP_BELOW);
    // With all devices together, a bound may take as long as the rest.
    let is_asked = options.use_all_time && objective == Objective::Makespan;
    let mut pace = if is_asked { pace::Pace::new(model) } else { None };
    let quarter = stop.within(stop.remaining() / 4);
    raise_below(model, options, steps, &mut pace, &mut bound, &mut search, &quarter);
    if options.use_all_time && !search.is_done() {
        // Some devices alone need more steps than are worth it before a gap has been seen.
        search.tell("lower bounds");
        let within = stop.within(stop.remaining() / 8);
        let alone = lower_bound_until(model, objective, most_steps(stop), &mut || within.is_due());
        raise(&mut bound, alone, &mut search);
    }
    let mut proved = exhaust(model, space, options, effort, stop, &mut search)?;
    if proved.is_none() {
        search.improve(options.effort);
        raise_below(model, options, steps, &mut pace, &mut bound, &mut search, stop);
    }
    while options.use_all_time && proved.is_none() && !search.is_done() {
        search.improve_again(options.effort);
        steps = steps.saturating_mul(2).min(MOST_STEPS_BELOW);
        let quarter = stop.within(stop.remaining() / 4);
        raise_below(model, options, steps, &mut pace, &mut bound, &mut search, &quarter);
        effort = effort.saturating_mul(2);
        proved = exhaust(model, space, options, effort, stop, &mut search)?;
    }
    let is_cut_short = stop.is_due();
    // Where the best one recomputes, another one may be worth more without needless recomputation.
    let is_worth_it = search.best_recomputes() && (!is_cut_short || is_quickly_replayed(model));
    let kept = if is_worth_it { search.kept().collect() } else { vec![search.best()] };
    Ok(Searched { kept, bound, proved, is_cut_short })
}

/// The least effort for every step that the lower bound may spend.
const EFFORT_PER_STEP: u64 = 100;

/// The same for the bound up to the value of the best schedule, and the most steps for it at first. In the end it may take
/// more, and so may the bound from some devices alone: one set of devices takes a quarter, and a check must be able to do that.
const EFFORT_PER_STEP_BELOW: u64 = 50;
const STEPS_BELOW: u64 = 8_000_000;
const MOST_STEPS_BELOW: u64 = 3 * CHECK_STEPS;

/// The most steps for a bound in the time that is left: no set of devices is given up before its share is spent, and that takes an
/// eighth of the time at most, if a second is enough for thirty million.
fn most_steps(stop: &Stop) -> u64 {
    const STEPS_PER_SECOND: u64 = 15_000_000;
    MOST_STEPS_BELOW.min(
        STEPS_PER_SECOND.saturating_mul(stop.remaining().as_millis().try_into().unwrap_or(u64::MAX) / 1000),
    )
}

/// Looks for a better bound up to the value of the best schedule, where the search is not done: what some devices show, and all
/// together at a pace.
fn raise_below(
    model: &Model,
    options: &Options,
    steps: u64,
    pace: &mut Option<pace::Pace>,
    bound: &mut Bound,
    search: &mut search::Search<'_>,
    stop: &Stop,
) {
    let Some(value) = search.value().filter(|_| !search.is_done()) else { return };
    search.tell("lower bounds");
    let of_some = || lower_bound_below(model, options.objective, value, steps, &mut || stop.is_due());
    let at_pace = || {
        let (pace, known) = (pace.as_mut()?, search.least_interval()?);
        let steps = CHECK_STEPS.min(steps / STEPS_BELOW_PER_STEP_AT_A_PACE);
        pace.bound(model, known, value, steps, &mut || stop.is_due())
    };
    let (of_some, at_pace) = parallel::both(options.threads, of_some, at_pace);
    for other in of_some.into_iter().chain(at_pace) {
        raise(bound, other, search);
    }
}

/// The bound at a pace is asked for several paces, and may be in vain for each.
const STEPS_BELOW_PER_STEP_AT_A_PACE: u64 = 2;

/// Takes another bound if it is better.
fn raise(bound: &mut Bound, other: Bound, search: &mut search::Search<'_>) {
    if other.value > bound.value {
        search.raise(other.value);
        *bound = other;
    }
}

/// Proves the best schedule optimal, or puts a better one in its place, where an exact search can.
fn exhaust(
    model: &Model,
    space: &search::Space,
    options: &Options,
    effort: u64,
    stop: &Stop,
    search: &mut search::Search<'_>,
) -> Result<Option<(exact::Engine, Ticks)>, OptimizeError> {
    if effort == 0 || search.is_done() {
        return Ok(None);
    }
    search.tell("exhaustive search");
    let limits = exact::Limits { stop: stop.clone(), effort };
    let best = search.best();
    let found = match exact::solve(model, options.objective, &space.schedule(&best), &limits) {
        Ok(found) => found,
        Err(exact::ExactError::Rejected { engine, reason }) => {
            return Err(OptimizeError::Rejected { engine: engine.to_owned(), reason });
        }
        Err(exact::ExactError::Incumbent(reason)) => {
            return Err(OptimizeError::Rejected { engine: best.engine, reason });
        }
        // Not every model has an exact search; the schedule is valid without.
        Err(
            exact::ExactError::NotBuilt(_)
            | exact::ExactError::NoDuration(_)
            | exact::ExactError::DeviceSpan
            | exact::ExactError::BeyondPasses(_)
            | exact::ExactError::NeedsRecomputation(_)
            | exact::ExactError::TooLarge { .. },
        ) => return Ok(None),
    };
    let better = found.found_by.and_then(|engine| space.found(&found.schedule, engine.name()));
    if let Some(better) = better {
        search.put(better);
    }
    Ok(found.proved_by.map(|engine| (engine, found.value)))
}

#[cfg(test)]
mod tests;
