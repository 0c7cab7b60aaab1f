//! The solvers of this build: the one place that asks which there are.

use super::{BlockObjective, BlockOutcome, BlockSolveError};
use crate::model::Model;
use crate::stop::Stop;

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

/// The same for a block of least interval, found in so many nodes of branch and bound, where a solver of this
/// build counts them.
#[cfg(feature = "milp")]
pub(in crate::optimize) fn by_milp_in_nodes(
    model: &Model,
    nodes: i32,
    stop: &Stop,
    leave: &dyn Fn() -> bool,
) -> Option<BlockOutcome> {
    let (model, stop) = (model.clone(), stop.clone());
    let outcome = beside(move || crate::encode::milp::solve_in_nodes(&model, nodes, &stop), leave)?;
    outcome.ok().flatten().map(BlockOutcome::from)
}

#[cfg(not(feature = "milp"))]
pub(in crate::optimize) fn by_milp_in_nodes(
    _: &Model,
    _: i32,
    _: &Stop,
    _: &dyn Fn() -> bool,
) -> Option<BlockOutcome> {
    None
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
