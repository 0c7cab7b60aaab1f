//! The engines that find building blocks, behind one interface.

mod encoded;

use std::fmt;
use std::time::Duration;

use clap::ValueEnum;
use num_rational::Ratio;

use serde::Serialize;

use super::error::Error;
use super::number::Interval;
use crate::block::{Block, Passes};
use crate::model::{Model, Ticks};
use crate::optimize::Stop;
use crate::optimize::periodic::{self, Effort};
use crate::optimize::zone::{self, ZoneError};

/// What finds a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Engine {
    /// A dynamic programme over the devices, for linear and V placement: proves in exact arithmetic
    Exact,
    /// An integer programme, solved by HiGHS in floating point; any placement
    Milp,
    /// An SMT problem, decided by Z3 or cvc5 in exact arithmetic; any placement
    Smt,
    /// A local search for the least interval, in exact arithmetic; any placement, and fast where there
    /// are several microbatches per interval, but it proves only what a bound on all schedules shows
    Search,
}

impl fmt::Display for Engine {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Exact => "exact",
            Self::Milp => "milp",
            Self::Smt => "smt",
            Self::Search => "search",
        })
    }
}

impl Engine {
    /// Whether this build has it.
    const fn is_there(self) -> bool {
        match self {
            Self::Exact | Self::Search | Self::Smt => true,
            Self::Milp => cfg!(feature = "milp"),
        }
    }

    /// The engine to take for a model when none is asked for.
    ///
    /// # Errors
    /// When this build has none for its placement and what is asked.
    pub fn default_for(model: &Model, request: Request) -> Result<Self, Error> {
        let Request { goal, period, .. } = request;
        let solver = [Self::Milp, Self::Smt].into_iter().find(|engine| engine.is_there());
        match solver {
            _ if period == 1 && zone::is_applicable(model.placement()) => Ok(Self::Exact),
            _ if period > 1 && goal == Goal::LeastInterval => Ok(Self::Search),
            Some(engine) => Ok(engine),
            None => Err(Error::usage(
                format!("this build has no engine for {} placement and {goal}", model.placement().shape()),
                "build it with the feature milp",
            )),
        }
    }

    fn names_there() -> String {
        let there = Self::value_variants().iter().filter(|engine| engine.is_there());
        there.map(ToString::to_string).collect::<Vec<_>>().join(", ")
    }
}

/// What to look for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Goal {
    /// The least peak memory at an interval.
    LeastMemory {
        /// The interval.
        interval: Ticks,
    },
    /// The least interval under the caps.
    LeastInterval,
}

impl fmt::Display for Goal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LeastMemory { interval } => write!(out, "least memory at interval {interval}"),
            Self::LeastInterval => write!(out, "least interval under the caps"),
        }
    }
}

/// What is asked of an engine.
#[derive(Debug, Clone, Copy)]
pub struct Request {
    /// Which passes the block has.
    pub passes: Passes,
    /// What to look for.
    pub goal: Goal,
    /// How many microbatches an interval has.
    pub period: u32,
}

/// The blocks of these passes and so many microbatches per interval, in words.
pub fn blocks(passes: Passes, period: u32) -> String {
    let kinds: Vec<String> = passes.kinds().iter().map(ToString::to_string).collect();
    let of = match kinds.as_slice() {
        [but_last @ .., last] => format!(" of {} and {last}", but_last.join(", ")),
        [] => String::new(),
    };
    format!("block{of} with {} per interval", microbatches(period))
}

impl Request {
    /// How good a block is, in words, that an engine found; times and memory in these units.
    pub fn praise(&self, engine: Engine, optimality: Optimality, [time, memory]: [&str; 2]) -> String {
        let blocks = blocks(self.passes, self.period);
        let proved = if engine == Engine::Milp { "proved in floating point" } else { "proved" };
        let per_microbatch = |Interval(interval): Interval| Interval(interval / i64::from(self.period));
        match (optimality, self.goal) {
            (Optimality::Proved, Goal::LeastMemory { interval }) => {
                format!("{proved}: no {blocks} of {interval} {time} within the caps has a lower peak")
            }
            // What it proves, it proves by a bound on all schedules.
            (Optimality::Proved, Goal::LeastInterval) if engine == Engine::Search => {
                "proved: no schedule within the caps takes less per microbatch in the long run".to_owned()
            }
            (Optimality::Proved, Goal::LeastInterval) => {
                format!("{proved}: no {blocks} within the caps has a shorter one")
            }
            (Optimality::Bound(Limit::Memory(units)), _) => {
                format!("not proved; no {blocks} within the caps has a peak below {units} {memory}")
            }
            (Optimality::Bound(Limit::Interval(bound)), _) if engine == Engine::Search => format!(
                "not proved; no schedule within the caps takes less than {} {time} per microbatch in the long \
                 run",
                per_microbatch(bound)
            ),
            (Optimality::Bound(Limit::Interval(bound)), _) => {
                format!("not proved; no {blocks} within the caps has an interval below {bound} {time}")
            }
        }
    }
}

/// What an engine says of its block, in what was minimised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Optimality {
    /// None is better.
    Proved,
    /// None is better than this.
    Bound(Limit),
}

/// A lower bound on what was minimised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Limit {
    /// On the largest peak memory of a device, in units.
    Memory(i64),
    /// On the interval of all microbatches of a block.
    Interval(Interval),
}

/// What an engine found.
#[derive(Debug)]
pub enum Found {
    /// A block.
    Block {
        /// The block.
        block: Block,
        /// How good it is.
        optimality: Optimality,
        /// What is worth knowing about the proof.
        notes: Vec<String>,
    },
    /// There is none.
    Infeasible(String),
    /// The time was up before anything was found.
    Nothing,
}

/// Asks an engine.
///
/// # Errors
/// When this build lacks it, it cannot take the model or what is asked, or its answer is wrong.
pub fn solve(model: &Model, engine: Engine, request: Request, limit: Duration) -> Result<Found, Error> {
    let Request { passes, goal, period } = request;
    if engine != Engine::Exact && passes != Passes::SPLIT {
        return Err(Error::usage(
            format!("the engine {engine} finds blocks of F, I and W only"),
            "--fused and --recompute need `--engine exact`, and a placement that it can follow",
        ));
    }
    match engine {
        Engine::Exact if period > 1 => Err(Error::usage(
            "the engine `exact` knows only blocks of one microbatch per interval",
            "leave out --engine, or take another one",
        )),
        Engine::Exact => by_programme(model, passes, goal, limit),
        Engine::Milp => by_milp(model, goal, period, limit),
        Engine::Smt => by_smt(model, goal, period, limit),
        Engine::Search if goal != Goal::LeastInterval => Err(Error::usage(
            format!("the engine `search` looks for the least interval under caps, not for {goal}"),
            "say --minimize interval, or take another engine",
        )),
        Engine::Search => {
            let outcome = periodic::least_interval(model, period, Effort::default(), &Stop::after(limit));
            encoded::found(outcome, goal, period)
        }
    }
}

fn by_programme(model: &Model, passes: Passes, goal: Goal, limit: Duration) -> Result<Found, Error> {
    let stop = Stop::after(limit);
    let best = match goal {
        Goal::LeastMemory { interval } => {
            zone::least_memory(model, passes, Ratio::from_integer(interval.0), &stop)
        }
        Goal::LeastInterval => zone::least_interval(model, passes, &stop),
    };
    match best {
        Ok(best) => Ok(Found::Block { block: best.block, optimality: Optimality::Proved, notes: Vec::new() }),
        Err(ZoneError::TimeUp) => Ok(Found::Nothing),
        Err(ZoneError::Infeasible(_)) => Ok(Found::Infeasible(infeasible(passes, goal, 1))),
        Err(error @ ZoneError::Placement) => Err(Error::usage(
            error.to_string(),
            format!("the engines of this build: {}", Engine::names_there()),
        )),
        Err(error @ (ZoneError::Overflow | ZoneError::NoDuration(_) | ZoneError::NotPositive(_))) => {
            Err(Error::Usage { message: error.to_string(), help: None })
        }
        Err(error @ ZoneError::Rejected(_)) => Err(Error::Defect(format!("internal error: {error}"))),
    }
}

/// That no block is what was asked for.
fn infeasible(passes: Passes, goal: Goal, period: u32) -> String {
    let blocks = blocks(passes, period);
    match goal {
        Goal::LeastMemory { interval } => format!("no {blocks} of {interval} keeps to the caps"),
        Goal::LeastInterval => format!("no {blocks} keeps to the caps"),
    }
}

#[cfg(not(feature = "milp"))]
fn missing(engine: Engine) -> Error {
    Error::usage(
        format!("this build was made without the engine `{engine}`"),
        format!("the engines of this build: {}", Engine::names_there()),
    )
}

#[cfg(not(feature = "milp"))]
fn by_milp(_model: &Model, _goal: Goal, _period: u32, _limit: Duration) -> Result<Found, Error> {
    Err(missing(Engine::Milp))
}

#[cfg(feature = "milp")]
fn by_milp(model: &Model, goal: Goal, period: u32, limit: Duration) -> Result<Found, Error> {
    let outcome = crate::encode::milp::solve_periodic(model, period, encoded::objective(goal), limit);
    let mut found = encoded::found(outcome, goal, period)?;
    if let Found::Block { optimality: Optimality::Proved, notes, .. } = &mut found {
        notes.push(
            "the block is checked exactly, but HiGHS proves in floating point that none is better; \
             `--engine smt` proves it in exact arithmetic"
                .to_owned(),
        );
    }
    Ok(found)
}

fn by_smt(model: &Model, goal: Goal, period: u32, limit: Duration) -> Result<Found, Error> {
    let outcome = crate::encode::smt::solve_periodic(model, period, encoded::objective(goal), limit);
    encoded::found(outcome, goal, period)
}

/// So many microbatches, in words.
pub fn microbatches(period: u32) -> String {
    if period == 1 { "one microbatch".to_owned() } else { format!("{period} microbatches") }
}
