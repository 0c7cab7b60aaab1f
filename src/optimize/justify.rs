//! Double justification: gaps are filled from the end of time and from its beginning in turn (project scheduling:
//! Valls, Ballestin and Quintanilla, 2005).

use crate::kernel::{EndTimes, GapFiller, IndexedOrders, IndexedProblem, Lookahead, reverse};
use crate::stop::Stop;

/// How often both directions alternate without a shorter schedule before it ends.
const PATIENCE: usize = 3;

/// Both directions of a problem, and room to work in.
pub(super) struct Justifier<'a> {
    forward: &'a IndexedProblem,
    backward: &'a IndexedProblem,
    times: EndTimes,
    filler: GapFiller,
    /// Passes placed so far: what the work is measured in.
    pub placed: usize,
}

impl<'a> Justifier<'a> {
    pub(super) fn new(forward: &'a IndexedProblem, backward: &'a IndexedProblem) -> Self {
        let filler = GapFiller::new(forward, Lookahead::SEARCH);
        Self { forward, backward, times: EndTimes::default(), filler, placed: 0 }
    }

    /// Makes orders that keep to the limits shorter, as far as it goes or until it is time to stop. What is left in
    /// `orders` is the shortest by `value` of makespan and span that was met, with its value; nothing when they
    /// cannot run.
    pub(super) fn justify<V: Ord>(
        &mut self,
        orders: &mut IndexedOrders,
        value: impl Fn(i64, i64) -> V,
        stop: &Stop,
    ) -> Option<V> {
        let mut best = self.measure(orders, &value)?;
        let mut at = orders.clone();
        let mut patience = PATIENCE;
        while patience > 0 && !stop.is_due() {
            patience -= 1;
            reverse(&mut at);
            let back = self.fill(&mut at, self.backward, stop);
            reverse(&mut at);
            let front = self.fill(&mut at, self.forward, stop);
            let (back, front) = (back?, front?);
            let reached = self.measure(&at, &value)?;
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

    fn measure<V>(&mut self, orders: &IndexedOrders, value: &impl Fn(i64, i64) -> V) -> Option<V> {
        self.placed += self.forward.passes();
        let runs = self.forward.asap(orders, &mut self.times);
        runs.then(|| {
            let (makespan, span) = self.forward.makespan_and_span(orders, &self.times);
            value(makespan, span)
        })
    }

    fn fill(&mut self, orders: &mut IndexedOrders, problem: &IndexedProblem, stop: &Stop) -> Option<bool> {
        self.placed += 3 * problem.passes();
        self.filler.fill_once(problem, orders, stop)
    }
}
