//! Whole schedules, exactly: a schedule such that no other under the capacities is better, with a proof by exhaustion.
//!
//! Two engines that share nothing but the statement of the problem (the `problem` module here) search for a
//! better schedule than the one known until they have excluded all: lazy clause generation (`lcg`,
//! where the crate is built with that feature) and a branch and bound (`branch and bound`), which
//! minimises the makespan alone. They run in parallel and in step: each counts its own work, neither is more than an
//! epoch of work ahead of the other, and the first epoch at whose end one of them has a proof decides. So the answer,
//! down to the schedule and to who proved it, does not depend on how fast the machine runs them, unless the time limit
//! comes first.
//!
//! What a proof is worth: it rests on the engine that gives it. Every schedule is replayed, so every claimed value is
//! that of some schedule; but replay cannot confirm that nothing is better. Tests compare the engines with each other
//! and with plain enumeration.
//!
//! What is exact: all orders of F, I and W, hence also of full backward passes. Recomputation is left
//! out. Where it could save memory that is short, a schedule found here may be better than the one
//! known, but nothing is proved: see [`Outcome::lower_bound`].

mod branch;
#[cfg(feature = "lcg")]
mod lcg;
#[cfg(feature = "lcg")]
pub mod linear;
mod problem;
#[cfg(feature = "lcg")]
pub mod proof;
mod race;
#[cfg(test)]
mod tests;

use std::thread;

use super::{Objective, Stop};
use crate::certificate::lower_bound;
use crate::kernel;
use crate::model::{BeyondPasses, Device, Model, Pass, Ticks};
use crate::replay::replay;
use crate::schedule::Schedule;
use problem::{SequencingProblem, Starts};
use race::{Race, WorkMeter};

/// An engine for whole schedules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Engine {
    /// Lazy clause generation: best in general. Only builds with the feature `lcg` have it.
    Lcg,
    /// Branch and bound over the orders as they grow: best at few devices and many microbatches. It minimises the
    /// makespan alone.
    Branch,
}

impl Engine {
    /// The engines of this build. When several prove the same at once, the schedule of the first is taken.
    pub const ALL: &'static [Self] = &[
        #[cfg(feature = "lcg")]
        Self::Lcg,
        Self::Branch,
    ];

    /// What it is called.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lcg => "lcg",
            Self::Branch => "branch and bound",
        }
    }

    /// Whether this build has it.
    #[must_use]
    pub const fn is_available(self) -> bool {
        match self {
            Self::Lcg => cfg!(feature = "lcg"),
            Self::Branch => true,
        }
    }

    fn accepts(self, problem: &SequencingProblem, incumbent: i64) -> bool {
        match self {
            #[cfg(feature = "lcg")]
            Self::Lcg => lcg::accepts(problem, incumbent),
            #[cfg(not(feature = "lcg"))]
            Self::Lcg => false,
            Self::Branch => branch::accepts(problem, incumbent),
        }
    }

    fn solve(self, task: &Task<'_>, meter: &mut WorkMeter<'_>) -> EngineResult {
        match self {
            #[cfg(feature = "lcg")]
            Self::Lcg => lcg::solve(task, meter),
            // It accepts nothing, so nobody asks it; it would have found nothing.
            #[cfg(not(feature = "lcg"))]
            Self::Lcg => EngineResult::default(),
            Self::Branch => branch::solve(task, meter),
        }
    }
}

/// Why there is no exact search for a model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExactError {
    /// This build lacks the engine.
    #[error("this build was made without the engine `{}`", .0.name())]
    NotBuilt(Engine),
    /// An F or an I that takes no time: orders that wait for each other in a cycle would have times.
    #[error("`{0}` takes no time: the exact search needs a positive duration of every F and I")]
    NoDuration(Pass),
    /// None of the engines asked minimises the device span.
    #[error(
        "only lazy clause generation minimises the device span exactly; the engine `lcg` was not asked, or not built in"
    )]
    DeviceSpan,
    /// The model has tables that no engine knows.
    #[error("the model has {0}, but the exact search knows passes and latencies alone")]
    BeyondPasses(BeyondPasses),
    /// Without recomputation no schedule keeps to the capacities.
    #[error("device {0} keeps to its memory limit only by recomputation, which the exact search leaves out")]
    NeedsRecomputation(Device),
    /// Times, amounts or numbers of passes beyond the limits of every engine.
    #[error("{passes} passes within {value} ticks are too many or too long for every engine")]
    TooLarge {
        /// The number of passes.
        passes: usize,
        /// The value of the schedule that is known.
        value: Ticks,
    },
    /// The schedule to start from is not valid for the model.
    #[error("the schedule to start from is not valid: {0}")]
    Incumbent(String),
    /// An engine proposed a schedule that replay rejects or measures otherwise: a defect of this program.
    #[error("internal error: {engine} proposed a schedule that replay rejects: {reason}")]
    Rejected {
        /// The engine.
        engine: &'static str,
        /// What replay said.
        reason: String,
    },
}

/// How far to go.
#[derive(Debug, Clone)]
pub struct Limits {
    /// When to stop with the best schedule found so far.
    pub stop: Stop,
    /// How much work each engine does at most, in units of about a microsecond.
    pub effort: u64,
}

/// What the engines found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The best schedule: the one to start from unless a better one was found.
    pub schedule: Schedule,
    /// Its value, as replay measures it.
    pub value: Ticks,
    /// No schedule is better than this: the value itself where that is proved, else the bound of
    /// [`lower_bound`].
    pub lower_bound: Ticks,
    /// The engine that proved that no schedule is better.
    pub proved_by: Option<Engine>,
    /// The engine that found the schedule, if it is better than the one to start from.
    pub found_by: Option<Engine>,
}

/// Searches for a better schedule than a known one until there is none.
///
/// # Errors
/// When the model has no exact search ([`ExactError`] says why), the known schedule is not valid, or
/// an engine proposes a schedule that replay rejects.
pub fn solve(
    model: &Model,
    objective: Objective,
    incumbent: &Schedule,
    limits: &Limits,
) -> Result<Outcome, ExactError> {
    solve_with(Engine::ALL, model, objective, incumbent, limits)
}

/// [`solve`] with some of the engines only.
///
/// # Errors
/// As for [`solve`].
pub fn solve_with(
    engines: &[Engine],
    model: &Model,
    objective: Objective,
    incumbent: &Schedule,
    limits: &Limits,
) -> Result<Outcome, ExactError> {
    if let Some(&absent) = engines.iter().find(|engine| !engine.is_available()) {
        return Err(ExactError::NotBuilt(absent));
    }
    if let Some(tables) = model.beyond_passes() {
        return Err(ExactError::BeyondPasses(tables));
    }
    let verdict = replay(model, incumbent);
    let Some(timing) = verdict.timing.as_ref().filter(|_| verdict.is_valid()) else {
        let reason = verdict.violations.first().map_or_else(String::new, ToString::to_string);
        return Err(ExactError::Incumbent(reason));
    };
    let value = objective.of(&timing.metrics);
    let lower = lower_bound(model, objective).value;
    let problem = SequencingProblem::new(model, objective, value)?;
    let known = match objective {
        Objective::Makespan => problem.starts_of(incumbent, &timing.starts),
        Objective::DeviceSpan => kernel::within_device_span(model, incumbent)
            .ok()
            .and_then(|(timeline, _)| problem.starts_of(incumbent, &timeline.starts)),
    };
    // A known schedule that recomputes may have a value that is no multiple of the scale.
    let task = Task {
        problem: &problem,
        incumbent: problem.units_of(value),
        known: known.as_ref(),
        lower_bound: problem.units_of(lower),
    };
    let unchanged =
        Outcome { schedule: incumbent.clone(), value, lower_bound: lower, proved_by: None, found_by: None };
    if value <= lower {
        return Ok(unchanged);
    }
    let racers: Vec<Engine> =
        engines.iter().copied().filter(|engine| engine.accepts(&problem, task.incumbent)).collect();
    if objective == Objective::DeviceSpan && !engines.contains(&Engine::Lcg) {
        return Err(ExactError::DeviceSpan);
    }
    if racers.is_empty() {
        return Err(ExactError::TooLarge { passes: incumbent.len(), value });
    }
    let race = Race::new(racers.len());
    let found: Vec<EngineResult> = thread::scope(|scope| {
        let handles: Vec<_> = racers
            .iter()
            .enumerate()
            .map(|(lane, &engine)| {
                let (task, race) = (&task, &race);
                scope.spawn(move || {
                    let mut meter = WorkMeter::new(race, lane, limits);
                    let found = engine.solve(task, &mut meter);
                    meter.end(found.is_proved);
                    found
                })
            })
            .collect();
        handles
            .into_iter()
            .map(|handle| handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    let winner = race.winner();
    let best = match winner {
        Some(lane) => Some(lane),
        None => (0..racers.len())
            .filter(|&lane| found[lane].best.is_some())
            .min_by_key(|&lane| found[lane].best.as_ref().map(|&(value, _)| value)),
    };
    let mut outcome = unchanged;
    if let Some((lane, (claimed, starts))) = best.and_then(|lane| Some((lane, found[lane].best.as_ref()?))) {
        outcome.schedule = problem.schedule(model, starts);
        let claim = Claim { value: problem.ticks_of(*claimed), is_least: winner == Some(lane) };
        outcome.value = checked(model, objective, &outcome.schedule, claim, racers[lane])?;
        outcome.found_by = Some(racers[lane]);
    }
    if let Some(winner) = winner {
        let least = found[winner].best.as_ref().map_or(task.incumbent, |&(value, _)| value);
        agree(winner, least, &racers, &found)?;
    }
    if let Some(lane) = winner.filter(|_| problem.is_whole) {
        outcome.proved_by = Some(racers[lane]);
        outcome.lower_bound = outcome.value;
    }
    Ok(outcome)
}

/// What an engine says of a schedule.
#[derive(Debug, Clone, Copy)]
struct Claim {
    /// Its value, at most: the engine may have started a pass later than it could.
    value: Ticks,
    /// Whether no schedule has a smaller value: then this one has not either.
    is_least: bool,
}

/// The value of a schedule that an engine proposes, which is what the engine says.
fn checked(
    model: &Model,
    objective: Objective,
    schedule: &Schedule,
    claim: Claim,
    engine: Engine,
) -> Result<Ticks, ExactError> {
    let verdict = replay(model, schedule);
    let rejected = |reason: String| ExactError::Rejected { engine: engine.name(), reason };
    let Some(timing) = verdict.timing.as_ref().filter(|_| verdict.is_valid()) else {
        let reason = verdict.violations.first().map_or_else(String::new, ToString::to_string);
        return Err(rejected(reason));
    };
    let value = objective.of(&timing.metrics);
    if value > claim.value {
        return Err(rejected(format!("it takes {value} ticks, not {}", claim.value)));
    }
    if value < claim.value && claim.is_least {
        let reason = format!("it takes {value} ticks, where none was to take less than {}", claim.value);
        return Err(rejected(reason));
    }
    Ok(value)
}

/// Checks that no engine has found a schedule better than the least value that another one says it has proved.
fn agree(winner: usize, least: i64, racers: &[Engine], found: &[EngineResult]) -> Result<(), ExactError> {
    let better = found.iter().zip(racers).find_map(|(found, engine)| {
        let (value, _) = found.best.as_ref()?;
        (*value < least).then(|| (*value, engine.name()))
    });
    better.map_or(Ok(()), |(value, engine)| {
        let winner = racers[winner].name();
        let reason = format!("{winner} says that it has proved {least} to be the least value, not {value}");
        Err(ExactError::Rejected { engine, reason })
    })
}

/// What an engine starts from.
#[derive(Debug, Clone)]
struct Task<'a> {
    problem: &'a SequencingProblem,
    /// The value of the known schedule: only better ones count.
    incumbent: i64,
    /// Its starts, unless it recomputes.
    #[cfg_attr(not(feature = "lcg"), expect(dead_code, reason = "asked by lazy clause generation alone"))]
    known: Option<&'a Starts>,
    /// No value is below.
    lower_bound: i64,
}

/// What an engine found.
#[derive(Debug, Clone, Default)]
struct EngineResult {
    /// The best schedule better than the known one, with its value.
    best: Option<(i64, Starts)>,
    /// Whether nothing is better than that, or than the known one where there is none.
    is_proved: bool,
}
