//! The best building block of a model: which engine to ask, and what it answers.
//!
//! ```
//! use bubbleproof::encode::{BlockObjective, BlockOutcome};
//! use bubbleproof::model::{Model, Placement, Units};
//! use bubbleproof::optimize::block::{BlockEngine, BlockRequest, solve};
//! use bubbleproof::stop::Stop;
//!
//! // V placement over four devices, F = 3, I = 4, W = 2, and room for four activations on each.
//! let model = Model::equal_stages(Placement::v(4)?, 1, [3, 4, 2, 0])?;
//! let model = model.with_uniform_activation_capacity(Some(Units(4)))?;
//! let request = BlockRequest::of_one(BlockObjective::LeastInterval);
//! let engine = BlockEngine::default_for(&model, request);
//! let BlockOutcome::Optimal(best) = solve(&model, engine, request, &Stop::default())? else {
//!     panic!("there is a block, and time enough to prove it optimal");
//! };
//! println!("one microbatch every {} ticks", best.interval);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod replayed;
pub(super) mod solvers;

use std::fmt;
use std::time::Duration;

use num_rational::Ratio;

pub use replayed::{PeakError, replayed_peak};

use super::Stop;
use super::periodic::{self, Effort};
use super::zone::{self, ZoneError};
use crate::block::Passes;
use crate::encode::{BlockBound, BlockObjective, BlockOutcome, EncodeError, Known, smt};
use crate::model::{Model, Units};

/// What finds a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BlockEngine {
    /// The [exact program](zone) over the devices, for one microbatch per interval and placement along a
    /// chain of devices, such as linear and V.
    Exact,
    /// An integer program, solved in floating point; any placement. It proves only what exact propagation
    /// shows.
    Milp,
    /// Lazy clause generation, which decides in exact arithmetic; any placement. For the least interval of several microbatches, it
    /// begins with what the local search finds. Times must fit into 32 bits.
    Lcg,
    /// An SMT problem, decided in exact arithmetic; any placement and any times. It begins with the local search, as
    /// lazy clause generation does.
    Smt,
    /// A [local search](periodic) for the least interval, in exact arithmetic; any placement. It proves only
    /// what a bound on all schedules shows.
    Search,
}

impl BlockEngine {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Exact, Self::Lcg, Self::Smt, Self::Milp, Self::Search];

    /// What it is called.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Milp => "milp",
            Self::Lcg => "lcg",
            Self::Smt => "smt",
            Self::Search => "search",
        }
    }

    /// Whether this build has it.
    #[must_use]
    pub const fn is_available(self) -> bool {
        match self {
            Self::Exact | Self::Search | Self::Smt => true,
            Self::Milp => solvers::HAS_MILP,
            Self::Lcg => solvers::HAS_LCG,
        }
    }

    /// The program behind an engine that calculates in floating point. What it says of optimality is a claim
    /// ([`BlockOutcome::Claimed`]). (Blocks are checked exactly in any case.)
    #[must_use]
    pub const fn floating_point_solver(self) -> Option<&'static str> {
        match self {
            Self::Milp => Some(solvers::MILP_SOLVER),
            Self::Exact | Self::Lcg | Self::Smt | Self::Search => None,
        }
    }

    /// The solver to take where the exact program cannot follow the placement, or for several microbatches per interval: of those in
    /// this build one that proves, if the times of the model are not too large for it.
    #[must_use]
    pub fn solver_for(model: &Model, request: BlockRequest) -> Self {
        if solvers::is_for_lcg(model, request) {
            Self::Lcg
        } else if solvers::HAS_MILP {
            Self::Milp
        } else {
            Self::Smt
        }
    }

    /// The engine to take for a model: the exact program where it can follow the placement, otherwise a solver; for the least interval
    /// of several microbatches the local search where no solver that proves can take the model.
    #[must_use]
    pub fn default_for(model: &Model, request: BlockRequest) -> Self {
        let BlockRequest { objective, period, .. } = request;
        if period == 1 && zone::is_applicable(model.placement()) {
            return Self::Exact;
        }
        match Self::solver_for(model, request) {
            Self::Milp | Self::Smt if period > 1 && objective == BlockObjective::LeastInterval => {
                Self::Search
            }
            solver => solver,
        }
    }
}

impl fmt::Display for BlockEngine {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

/// What is asked of an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockRequest {
    /// Which passes the block has.
    pub passes: Passes,
    /// What it minimises.
    pub objective: BlockObjective,
    /// How many microbatches an interval has, K; the interval is then the time of all of them.
    pub period: u32,
}

impl BlockRequest {
    /// A block of F, I and W with one microbatch per interval.
    #[must_use]
    pub const fn of_one(objective: BlockObjective) -> Self {
        Self { passes: Passes::SPLIT, objective, period: 1 }
    }

    /// What is known without any search: no device works less, or holds less than nothing.
    fn least(&self, model: &Model) -> BlockBound {
        match self.objective {
            BlockObjective::LeastMemory { .. } => BlockBound::Memory(Units::ZERO),
            BlockObjective::LeastInterval => {
                let work = self.passes.most_work(model).0.saturating_mul(self.period.into());
                BlockBound::Interval(Ratio::from_integer(work))
            }
        }
    }
}

/// Why an engine has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BlockSolveError {
    /// This build lacks the engine.
    #[error("this build was made without the engine `{0}`")]
    NotBuilt(BlockEngine),
    /// Only [`BlockEngine::Exact`] takes full backwards and recomputation.
    #[error("the engine {0} finds blocks of F, I and W only")]
    Passes(BlockEngine),
    /// [`BlockEngine::Exact`] was asked for several microbatches per interval.
    #[error("the engine `{engine}` knows only blocks of one microbatch per interval", engine = BlockEngine::Exact)]
    Period,
    /// [`BlockEngine::Search`] was asked for something else than the least interval.
    #[error(
        "the engine `{engine}` looks for the least interval within memory limits, not for {0}",
        engine = BlockEngine::Search
    )]
    Objective(BlockObjective),
    /// The exact program cannot take the model, or its block fails the exact check.
    #[error(transparent)]
    Exact(#[from] ZoneError),
    /// A solver or the local search cannot take the model, or failed.
    #[error(transparent)]
    Encode(#[from] EncodeError),
}

impl BlockSolveError {
    /// Whether the solver behind an engine is not up to the numbers, failed or gave up: another engine may
    /// have an answer.
    #[must_use]
    pub const fn is_no_answer(&self) -> bool {
        matches!(self, Self::Encode(error) if error.is_no_answer())
    }

    /// Whether two parts of this program contradict each other.
    #[must_use]
    pub const fn is_defect(&self) -> bool {
        match self {
            Self::Exact(error) => matches!(error, ZoneError::Rejected(_)),
            Self::Encode(error) => error.is_defect(),
            Self::NotBuilt(_) | Self::Passes(_) | Self::Period | Self::Objective(_) => false,
        }
    }
}

/// How late a solver may be before it is left to itself.
const OVERLOOKED: Duration = Duration::from_millis(400);

/// Asks an engine for the best block of a model within its capacities. Whatever it finds has passed the exact
/// checks of the block algebra.
///
/// At the deadline of `stop` an engine hands over the best that it has; interrupted, it may have nothing to
/// say.
///
/// # Errors
/// When this build lacks the engine, the engine cannot take the model or what is asked, or its answer is
/// wrong.
pub fn solve(
    model: &Model,
    engine: BlockEngine,
    request: BlockRequest,
    stop: &Stop,
) -> Result<BlockOutcome, BlockSolveError> {
    let BlockRequest { passes, objective, period } = request;
    if !engine.is_available() {
        return Err(BlockSolveError::NotBuilt(engine));
    }
    if engine != BlockEngine::Exact && passes != Passes::SPLIT {
        return Err(BlockSolveError::Passes(engine));
    }
    match engine {
        BlockEngine::Exact if period > 1 => Err(BlockSolveError::Period),
        BlockEngine::Exact => by_exact_program(model, request, stop),
        BlockEngine::Milp => {
            // It has the time limit, and may overlook it.
            let leave = || stop.is_overdue(OVERLOOKED);
            let outcome = solvers::by_milp(model, period, objective, stop, &leave)?;
            // Nobody has waited for the end.
            Ok(outcome.unwrap_or_else(|| BlockOutcome::Bounded { best: None, bound: request.least(model) }))
        }
        BlockEngine::Lcg => solvers::by_lcg(model, request, known(model, request, stop)?, stop),
        BlockEngine::Smt => {
            let known = known(model, request, stop)?;
            Ok(smt::solve_from(model, period, objective, known, stop)?)
        }
        BlockEngine::Search if objective != BlockObjective::LeastInterval => {
            Err(BlockSolveError::Objective(objective))
        }
        BlockEngine::Search => Ok(periodic::least_interval(model, period, Effort::default(), stop)?),
    }
}

/// How many swaps the local search tries before the solver is asked for anything better.
const SWAPS_BEFORE_SOLVER: usize = 50_000;

/// What the local search finds for a solver to begin with, where it looks for the least interval of several microbatches.
fn known(model: &Model, request: BlockRequest, stop: &Stop) -> Result<Option<Known>, BlockSolveError> {
    if request.period == 1 || request.objective != BlockObjective::LeastInterval {
        return Ok(None);
    }
    let effort = Effort { steps: SWAPS_BEFORE_SOLVER, ..Effort::default() };
    let sooner = stop.within(stop.remaining() / 4);
    match periodic::least_interval(model, request.period, effort, &sooner) {
        Ok(BlockOutcome::Bounded { best: Some(block), bound: BlockBound::Interval(least) }) => {
            Ok(Some(Known { block, least }))
        }
        Ok(BlockOutcome::Optimal(block)) => Ok(Some(Known { least: block.interval, block })),
        Err(error) if error.is_defect() => Err(error.into()),
        // No block fits, or the numbers of the search are too narrow: the solver finds out.
        _ => Ok(None),
    }
}

fn by_exact_program(
    model: &Model,
    request: BlockRequest,
    stop: &Stop,
) -> Result<BlockOutcome, BlockSolveError> {
    let best = match request.objective {
        BlockObjective::LeastMemory { interval } => {
            zone::least_memory(model, request.passes, Ratio::from_integer(interval.0), stop)
        }
        BlockObjective::LeastInterval => zone::least_interval(model, request.passes, stop),
    };
    match best {
        Ok(best) => Ok(BlockOutcome::Optimal(best)),
        Err(ZoneError::Infeasible(_)) => Ok(BlockOutcome::Infeasible),
        Err(ZoneError::TimeUp) => Ok(BlockOutcome::Bounded { best: None, bound: request.least(model) }),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests;
