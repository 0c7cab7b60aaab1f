//! The solvers of this build: the one place that asks which there are.

use super::{BlockObjective, BlockOutcome, BlockRequest, BlockSolveError};
use crate::encode::{CheckedBlock, Known};
use crate::model::Model;
use crate::stop::Stop;

/// Whether there is lazy clause generation.
pub(super) const HAS_LCG: bool = cfg!(feature = "lcg");

/// Whether lazy clause generation can take a request.
#[cfg(feature = "lcg")]
pub(super) fn is_for_lcg(model: &Model, BlockRequest { objective, period, .. }: BlockRequest) -> bool {
    crate::encode::lcg::accepts(model, period, objective)
}

#[cfg(not(feature = "lcg"))]
pub(super) const fn is_for_lcg(_: &Model, _: BlockRequest) -> bool {
    false
}

/// Asks lazy clause generation, which begins with a known block if there is one.
#[cfg(feature = "lcg")]
pub(super) fn by_lcg(
    model: &Model,
    BlockRequest { objective, period, .. }: BlockRequest,
    known: Option<Known>,
    stop: &Stop,
) -> Result<BlockOutcome, BlockSolveError> {
    Ok(crate::encode::lcg::solve_from(model, period, objective, known, stop)?)
}

#[cfg(not(feature = "lcg"))]
pub(super) fn by_lcg(
    _: &Model,
    _: BlockRequest,
    _: Option<Known>,
    _: &Stop,
) -> Result<BlockOutcome, BlockSolveError> {
    Err(BlockSolveError::NotBuilt(super::BlockEngine::Lcg))
}

/// A block of a short interval that lazy clause generation finds with so much effort, about as many microseconds: no longer than
/// that of a known one, if one is given.
#[cfg(feature = "lcg")]
pub(in crate::optimize) fn short_interval_by_lcg(
    model: &Model,
    period: u32,
    known: Option<Known>,
    effort: u64,
    stop: &Stop,
) -> Option<CheckedBlock> {
    let found = crate::encode::lcg::short_interval(model, period, known, effort, stop);
    debug_assert!(found.as_ref().err().is_none_or(|error| !error.is_defect()), "{found:?}");
    found.ok().flatten()
}

#[cfg(not(feature = "lcg"))]
pub(in crate::optimize) fn short_interval_by_lcg(
    _: &Model,
    _: u32,
    _: Option<Known>,
    _: u64,
    _: &Stop,
) -> Option<CheckedBlock> {
    None
}

/// Whether there is an engine for integer programs.
pub(super) const HAS_MILP: bool = cfg!(feature = "milp");

/// What solves integer programs.
#[cfg(feature = "milp")]
pub(super) const MILP_SOLVER: &str = crate::encode::milp::Solver::BEST.name();
#[cfg(not(feature = "milp"))]
pub(super) const MILP_SOLVER: &str = "";

/// Asks the integer program. It cannot be interrupted, so it runs beside; once `leave` says so it is left
/// to end by itself, and nothing is known.
#[cfg(feature = "milp")]
pub(super) fn by_milp(
    model: &Model,
    period: u32,
    objective: BlockObjective,
    stop: &Stop,
    leave: &dyn Fn() -> bool,
) -> Result<Option<BlockOutcome>, BlockSolveError> {
    let (model, stop) = (model.clone(), stop.clone());
    let outcome =
        beside(move || crate::encode::milp::solve_periodic(&model, period, objective, &stop), leave);
    Ok(outcome.transpose()?.map(BlockOutcome::from))
}

#[cfg(not(feature = "milp"))]
pub(super) fn by_milp(
    _: &Model,
    _: u32,
    _: BlockObjective,
    _: &Stop,
    _: &dyn Fn() -> bool,
) -> Result<Option<BlockOutcome>, BlockSolveError> {
    Err(BlockSolveError::NotBuilt(super::BlockEngine::Milp))
}

/// What `run` says on a thread of its own, unless `leave` comes first.
#[cfg(feature = "milp")]
fn beside<T: Send + 'static>(
    run: impl FnOnce() -> T + Send + 'static,
    leave: &dyn Fn() -> bool,
) -> Option<T> {
    use std::sync::mpsc::{self, RecvTimeoutError};
    use std::time::Duration;

    // How often `leave` is asked.
    const GLANCE: Duration = Duration::from_millis(20);
    let (sender, receiver) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        // Nobody may be listening any more.
        _ = sender.send(run());
    });
    while !leave() {
        match receiver.recv_timeout(GLANCE) {
            Ok(said) => return Some(said),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                if let Err(panic) = thread.join() {
                    std::panic::resume_unwind(panic);
                }
                return None;
            }
        }
    }
    None
}
