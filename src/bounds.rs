//! Lower bounds: those that the [core](crate::certificate) derives from the model alone, and the one for which it has to be given
//! weights, where pairs save time, or recomputation or copies to the host save memory. The weights are the solution of a linear program
//! in floating point. The core derives the bound from them in whole numbers, and any weights give one that is true.

#[cfg(feature = "milp")]
mod program;

use crate::certificate::{self, Bound, Objective};
use crate::model::Model;

/// The better one of [`lower_bound_until`](certificate::lower_bound_until) and of what [weighing](weighed) work against memory
/// gives, where there is time for that.
pub fn lower_bound_until(
    model: &Model,
    objective: Objective,
    steps: u64,
    is_over: &mut dyn FnMut() -> bool,
) -> Bound {
    let bound = certificate::lower_bound_until(model, objective, steps, is_over);
    let weighed = if is_over() { None } else { weighed(model, objective) };
    weighed.into_iter().fold(bound, |best, other| if other.value > best.value { other } else { best })
}

/// The bound that weighs what saves time against the memory that it takes, with the best weights there are. Nothing
/// where no pair saves time and nothing can be recomputed or offloaded, where there is too much to weigh, or in a build without a solver
/// for linear programs.
#[must_use]
pub fn weighed(model: &Model, objective: Objective) -> Option<Bound> {
    program::weighed(model, objective)
}

/// Where there is no solver.
#[cfg(not(feature = "milp"))]
mod program {
    use crate::certificate::{Bound, Objective};
    use crate::model::Model;

    pub(super) const fn weighed(_: &Model, _: Objective) -> Option<Bound> {
        None
    }
}
