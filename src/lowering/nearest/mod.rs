//! The nearest orders that can run, to orders that cannot.

mod displaced;
mod few;
mod greedy;

use std::collections::BTreeSet;

pub use displaced::Displaced;

use crate::model::{Model, Pass};
use crate::replay::replay;
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
/// Where more than three have to be moved, or no such change is valid under the model and this one is, devices run their orders for as long as any can go on; when none can, of all
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
    let Some(few) = few::few_moved(model, schedule) else { return greedy::brought_forward(schedule) };
    let is_valid = |nearest: &Nearest| replay(model, &nearest.schedule).is_valid();
    if !few.is_changed() || is_valid(&few) {
        return Some(few);
    }
    greedy::brought_forward(schedule).filter(is_valid).or(Some(few))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog;
    use crate::model::{Placement, Units};

    /// Where moving few passes takes more memory than there is, and bringing passes forward does not, the latter is taken.
    #[test]
    fn a_change_that_keeps_to_the_memory_comes_before_a_smaller_one() {
        let mut random = fastrand::Rng::with_seed(7);
        let mut larger = 0;
        for _ in 0..4000 {
            let placement = Placement::linear(3).expect("a placement");
            let free = Model::unit(placement.clone(), 5).expect("a model");
            let model = free.with_uniform_activation_capacity(Some(Units(3))).expect("a capacity");
            let name = ["1f1b", "zb-h1"][random.usize(0..2)];
            let schedule = catalog::find(name).expect("a name").generate(&model).expect("it fits");
            let mut orders: Vec<Vec<Pass>> = schedule.orders().to_vec();
            for _ in 0..random.usize(1..4) {
                let order = &mut orders[random.usize(0..3)];
                let pass = order.remove(random.usize(0..order.len()));
                order.insert(random.usize(0..=order.len()), pass);
            }
            let schedule = Schedule::new(placement, 5, orders).expect("a schedule");
            let is_valid = |nearest: &Nearest| replay(&model, &nearest.schedule).is_valid();
            let (few, greedy) = (few::few_moved(&model, &schedule), greedy::brought_forward(&schedule));
            let Some(found) = nearest(&model, &schedule) else { panic!("all passes are there") };
            if found.is_changed() && [&few, &greedy].into_iter().flatten().any(is_valid) {
                assert!(is_valid(&found), "{:?}", schedule.orders());
            }
            larger +=
                usize::from(found.is_changed() && few.is_some_and(|few| !is_valid(&few)) && is_valid(&found));
        }
        assert!(larger > 0, "no case of it");
    }
}
