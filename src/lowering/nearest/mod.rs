//! The nearest orders that can run, to orders that cannot.

mod displaced;
mod few;
mod greedy;

use std::collections::BTreeSet;

pub use displaced::Displaced;

use crate::model::{Model, Pass};
use crate::schedule::{Place, Schedule};

/// Orders that can run, and what was changed to come to them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nearest {
    /// The schedule that can run.
    pub schedule: Schedule,
    /// The passes that were moved, in the order in which that was done: the place of each when it was moved, and the
    /// position it was moved to.
    pub moved: Vec<(Place, Pass, usize)>,
    /// The overlapped pairs that were taken apart, by the pass that goes first now.
    pub parted: Vec<(Place, Pass)>,
}

impl Nearest {
    /// Whether they are other orders than those of the schedule.
    #[must_use]
    pub const fn is_changed(&self) -> bool {
        !(self.moved.is_empty() && self.parted.is_empty())
    }

    /// The fewest passes of the schedule they were made of that change their places among the others, by device and new
    /// position.
    #[must_use]
    pub fn displaced(&self, made_of: &Schedule) -> Vec<Displaced> {
        displaced::displaced(made_of, &self.schedule)
    }
}

/// Orders that can run, near to those of a schedule.
///
/// Orders that can run are kept. Otherwise as few passes as possible are moved, each to another position of its device,
/// if at most three have to be and the schedule is not too long to find that out. Of these changes the one with the
/// shortest makespan under the model is taken, before all those that are not valid under it; of equals, one that moves its
/// passes by the fewest positions. The positions of several passes are chosen one after the other, so a better
/// combination is possible.
///
/// Where more than three have to be moved, devices run their orders for as long as any can go on; when none can, of all
/// passes that could run, the one with the fewest passes before it on its device is brought forward past those.
///
/// An overlapped pair is taken apart if one of its passes moves.
///
/// Nothing when a pass is missing that another one needs, or is a duplicate: no order of such passes can run. Nor when
/// activations are offloaded.
#[must_use]
pub fn nearest(model: &Model, schedule: &Schedule) -> Option<Nearest> {
    let passes: BTreeSet<Pass> = schedule.orders().iter().flatten().copied().collect();
    if passes.len() < schedule.len() || schedule.offload_count() > 0 {
        return None;
    }
    few::few_moved(model, schedule).or_else(|| greedy::brought_forward(schedule))
}

/// The schedule with the steps of each device in another order, and fewer of them pairs.
fn reordered(schedule: &Schedule, steps: &[Vec<Vec<Pass>>]) -> Schedule {
    let mut reordered = Schedule::of_steps(schedule.placement().clone(), schedule.microbatches(), steps)
        .expect("the same passes on the same devices, and fewer pairs")
        .with_levels_of(schedule);
    reordered.name.clone_from(&schedule.name);
    reordered.model.clone_from(&schedule.model);
    reordered
}
