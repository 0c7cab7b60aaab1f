//! What the search compares schedules by.

use crate::certificate::Objective;
use crate::kernel::{EndTimes, IndexedOrders, IndexedProblem};

/// The value of orders by an objective, then how long they are otherwise, in ticks. `times` are their ASAP times.
///
/// Under the makespan the second is the largest span at these times: the device span would cost more than it
/// is worth there.
pub(super) fn lengths(
    problem: &IndexedProblem,
    objective: Objective,
    orders: &IndexedOrders,
    times: &EndTimes,
) -> (i64, i64) {
    let (makespan, longest) = problem.makespan_and_span(orders, times);
    match objective {
        Objective::Makespan => (makespan, longest),
        Objective::DeviceSpan => (problem.device_span(orders, times), makespan),
    }
}
