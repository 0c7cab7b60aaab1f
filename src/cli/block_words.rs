//! The words for building blocks and for the engines that find them.

use std::fmt;

use clap::ValueEnum;

use super::error::Error;
use crate::amounts::Amounts;
use crate::block::Passes;
use crate::encode::{BlockBound, BlockObjective, EncodeError};
use crate::optimize::block::{BlockEngine, BlockRequest, BlockSolveError};
use crate::optimize::zone::ZoneError;

/// A [`BlockEngine`], as the option names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum EngineName {
    /// A dynamic program over the devices, for linear and V placement: proves in exact arithmetic
    Exact,
    /// Lazy clause generation, which decides in exact arithmetic; any placement, times of up to 32 bits
    Lcg,
    /// An SMT problem, decided by Z3 or cvc5 in exact arithmetic; any placement
    Smt,
    /// An integer program, solved in floating point by HiGHS, or by microlp in a build without it; any
    /// placement
    Milp,
    /// A local search for the least interval, in exact arithmetic; any placement, and fast where there
    /// are several microbatches per interval, but it proves only what a bound on all schedules shows
    Search,
}

impl From<EngineName> for BlockEngine {
    fn from(name: EngineName) -> Self {
        match name {
            EngineName::Exact => Self::Exact,
            EngineName::Lcg => Self::Lcg,
            EngineName::Smt => Self::Smt,
            EngineName::Milp => Self::Milp,
            EngineName::Search => Self::Search,
        }
    }
}

/// A number of microbatches, in words.
pub fn microbatches(period: u32) -> String {
    if period == 1 { "one microbatch".to_owned() } else { format!("{period} microbatches") }
}

/// What blocks with these passes and this many microbatches per interval are called.
pub fn blocks(passes: Passes, period: u32) -> String {
    let kinds: Vec<String> = passes.kinds().iter().map(ToString::to_string).collect();
    let of = match kinds.as_slice() {
        [but_last @ .., last] => format!(" of {} and {last}", but_last.join(", ")),
        [] => String::new(),
    };
    format!("block{of} with {} per interval", microbatches(period))
}

/// That no block is what was asked for.
pub fn infeasible(request: BlockRequest) -> String {
    let blocks = blocks(request.passes, request.period);
    match request.objective {
        BlockObjective::LeastMemory { interval } => {
            format!("no {blocks} of {interval} keeps to the memory limits")
        }
        BlockObjective::LeastInterval => format!("no {blocks} keeps to the memory limits"),
    }
}

/// How good a block is that an engine found: no other is better, or none is better than a bound.
pub struct Praise<'a> {
    pub request: BlockRequest,
    /// Whether the bound holds for all schedules, and not for such blocks alone.
    pub of_schedules: bool,
    /// Nothing where no block is better.
    pub bound: Option<BlockBound>,
    /// The solver that found no better block, in floating point.
    pub claimed: Option<&'static str>,
    /// How times and memory are shown.
    pub amounts: Amounts<'a>,
}

impl fmt::Display for Praise<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let BlockRequest { passes, objective, period } = self.request;
        let (amounts, blocks) = (self.amounts, blocks(passes, period));
        let unproved = self.claimed.map_or_else(
            || "not proved".to_owned(),
            |solver| format!("not proved; {solver}, in floating point, found no better block"),
        );
        let of_schedules = self.of_schedules;
        match (self.bound, objective) {
            (None, BlockObjective::LeastMemory { interval }) => {
                write!(
                    out,
                    "proved: no {blocks} of {} within the memory limits has a lower peak",
                    amounts.time(interval)
                )
            }
            (None, BlockObjective::LeastInterval) if of_schedules => {
                write!(
                    out,
                    "proved: no schedule within the memory limits takes less per microbatch in the long run"
                )
            }
            (None, BlockObjective::LeastInterval) => {
                write!(out, "proved: no {blocks} within the memory limits has a shorter one")
            }
            (Some(BlockBound::Memory(units)), _) => {
                write!(
                    out,
                    "{unproved}; no {blocks} within the memory limits has a peak below {}",
                    amounts.memory(units)
                )
            }
            (Some(BlockBound::Interval(bound)), _) if of_schedules => {
                let each = amounts.time(bound / i64::from(period));
                write!(
                    out,
                    "not proved; no schedule within the memory limits takes less than {each} per microbatch in \
                     the long run"
                )
            }
            (Some(BlockBound::Interval(bound)), _) => {
                let bound = amounts.time(bound);
                write!(out, "{unproved}; no {blocks} within the memory limits has an interval below {bound}")
            }
        }
    }
}

/// Why an engine has no answer, with what to do about it.
pub fn refused(error: &BlockSolveError) -> Error {
    if error.is_defect() {
        return Error::Defect(error.to_string());
    }
    if error.is_no_answer() {
        let help = "`--engine smt` decides it in exact arithmetic";
        let by_smt = matches!(
            error,
            BlockSolveError::Encode(
                EncodeError::FarApart { .. } | EncodeError::Inexact { .. } | EncodeError::TooWide
            )
        );
        return Error::NoAnswer { message: error.to_string(), help: by_smt.then(|| help.to_owned()) };
    }
    let help = match error {
        BlockSolveError::NotBuilt(_) | BlockSolveError::Exact(ZoneError::Placement) => {
            let there = BlockEngine::ALL.into_iter().filter(|engine| engine.is_available());
            let names: Vec<&str> = there.map(BlockEngine::name).collect();
            Some(format!("the engines of this build: {}", names.join(", ")))
        }
        BlockSolveError::Passes(_) => Some(
            "--fused and --recompute need `--engine exact`, and a placement that it can follow".to_owned(),
        ),
        BlockSolveError::Period => Some("leave out --engine, or choose another one".to_owned()),
        BlockSolveError::Objective(_) => Some("use --minimize interval, or choose another engine".to_owned()),
        _ => None,
    };
    Error::Usage { message: error.to_string(), help }
}
