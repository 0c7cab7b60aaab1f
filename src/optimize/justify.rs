//! Double justification: gaps are filled from the end of time and from its beginning in turn (project scheduling:
//! Valls, Ballestin and Quintanilla, 2005).

use super::lengths::lengths;
use crate::certificate::Objective;
use crate::kernel::{EndTimes, GapFiller, IndexedOrders, IndexedProblem, Lookahead, reverse};
use crate::stop::Stop;

/// How often both directions alternate without a shorter schedule before it ends.
const PATIENCE: usize = 3;

/// Both directions of a problem, and room to work in.
pub(super) struct Justifier<'a> {
    forward: &'a IndexedProblem,
    backward: &'a IndexedProblem,
    objective: Objective,
    times: EndTimes,
    filler: GapFiller,
    /// Passes placed so far: what the work is measured in.
    pub placed: usize,
}

impl<'a> Justifier<'a> {
    pub(super) fn new(
        forward: &'a IndexedProblem,
        backward: &'a IndexedProblem,
        objective: Objective,
    ) -> Self {
        let filler = GapFiller::new(forward, Lookahead::SEARCH);
        Self { forward, backward, objective, times: EndTimes::default(), filler, placed: 0 }
    }

    /// Makes orders that keep to the limits shorter, as far as it goes or until it is time to stop. What is left in
    /// `orders` is the shortest that was met, with its [lengths](lengths()); nothing when they cannot run.
    pub(super) fn justify(&mut self, orders: &mut IndexedOrders, stop: &Stop) -> Option<(i64, i64)> {
        let mut best = self.measure(orders)?;
        let mut at = orders.clone();
        let mut patience = PATIENCE;
        while patience > 0 && !stop.is_due() {
            patience -= 1;
            reverse(&mut at);
            let back = self.fill(&mut at, self.backward);
            reverse(&mut at);
            let front = self.fill(&mut at, self.forward);
            let (back, front) = (back?, front?);
            let reached = self.measure(&at)?;
            if reached < best {
                best = reached;
                orders.clone_from(&at);
                patience = PATIENCE;
            }
            if !back && !front {
                break;
            }
        }
        Some(best)
    }

    fn measure(&mut self, orders: &IndexedOrders) -> Option<(i64, i64)> {
        self.placed += self.forward.passes();
        let runs = self.forward.asap(orders, &mut self.times);
        runs.then(|| lengths(self.forward, self.objective, orders, &self.times))
    }

    fn fill(&mut self, orders: &mut IndexedOrders, problem: &IndexedProblem) -> Option<bool> {
        self.placed += 3 * problem.passes();
        self.filler.fill_once(problem, orders)
    }
}
