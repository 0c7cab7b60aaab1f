//! Whether a plan gathers weights where the rule of gatherings does.

use std::collections::BTreeSet;

use crate::comm::{Action, CommunicationPlan};
use crate::model::{Device, Stage};
use crate::schedule::Gathering;

/// What a device does with weights before one of its steps: the stages of which it lets go, in any order, and those that it
/// gathers, in order.
type Change = (BTreeSet<Stage>, Vec<Stage>);

/// Whether every device gathers weights, and lets go of them, before the steps that [`Schedule::gatherings`] says where those
/// of so many stages may be gathered at a time.
///
/// [`Schedule::gatherings`]: crate::schedule::Schedule::gatherings
#[must_use]
pub fn gathers_by_rule(plan: &CommunicationPlan, stages: u32) -> bool {
    let schedule = plan.schedule();
    Device::all(schedule.devices()).all(|device| {
        let passes = schedule.order(device).len();
        let mut expected: Vec<Change> = vec![Change::default(); passes + 1];
        for Gathering { stage, posted, until, .. } in schedule.gatherings(device, stages) {
            expected[until].0.insert(stage);
            expected[posted].1.push(stage);
        }
        let mut found: Vec<Change> = vec![Change::default(); passes + 1];
        let mut position = 0;
        for action in plan.row(device) {
            match *action {
                Action::Unshard(stage) => found[position].1.push(stage),
                Action::Reshard(stage) => {
                    found[position].0.insert(stage);
                }
                _ => position += action.passes().len(),
            }
        }
        found == expected
    })
}
