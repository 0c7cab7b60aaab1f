//! What is live when an F has started, from the orders alone.
//!
//! Peak memory does not depend on times: what passes before the F have acquired less what they have
//! released is a sum over its device's orders, and that sum is the inequality. A row of passes comes in
//! order, so "at least n of them come before" says one variable, that of the n-th. Hence the implied
//! clauses: for counts of passes before the F that exceed the capacity together, not all of them hold. Those
//! that no other one implies are enough.

use super::build::{At, Builder, Order};
use super::{Derivation, Origin};

/// The most choices of counts for one F; above that the sum has to do.
const MAX_CHOICES: usize = 1200;

/// How many passes of a row may come before an F.
struct Tally {
    row: usize,
    /// What each adds; negative where it releases.
    amount: i64,
    /// At least so many do.
    least: usize,
    /// At most so many do.
    most: usize,
}

/// A clause as it grows: the variables that must be 1, or 0, for it to hold.
type Clause = Vec<(usize, bool)>;

impl Builder {
    pub(super) fn post_memory(&mut self, device: &[usize], capacity: i64) {
        for &row in device {
            if self.rows[row].acquires > 0 {
                for microbatch in 0..self.microbatches {
                    self.limit(device, (row, microbatch), capacity);
                }
            }
        }
    }

    /// What is live once a forward has started is at most the capacity.
    fn limit(&mut self, device: &[usize], forward: At, capacity: i64) {
        // What the rows whose counts are settled leave of the capacity.
        let mut left = capacity - self.rows[forward.0].acquires;
        let mut tallies = Vec::new();
        for &row in device {
            let amount = self.rows[row].acquires - self.rows[row].releases;
            let order = |microbatch| self.before((row, microbatch), forward);
            let least = (0..self.microbatches).take_while(|&at| order(at) == Order::Fixed(true)).count();
            let open = (least..self.microbatches).take_while(|&at| matches!(order(at), Order::Open { .. }));
            let most = least + open.count();
            left -= amount * count(least);
            if amount != 0 && most > least {
                tallies.push(Tally { row, amount, least, most });
            }
        }
        let highest: i64 =
            tallies.iter().map(|tally| tally.amount.max(0) * count(tally.most - tally.least)).sum();
        if highest <= left {
            return;
        }
        let sum = self.post_sum(forward, &tallies, left);
        let ranges = tallies.iter().map(|tally| tally.most - tally.least + 1);
        let choices: usize = ranges.clone().product::<usize>() / ranges.max().unwrap_or(1);
        if choices <= MAX_CHOICES {
            let derivation = self.derivation(forward, &tallies, sum);
            let mut clauses = Vec::new();
            self.clauses(forward, &tallies, left, i64::MAX, &mut Clause::new(), &mut clauses);
            for clause in clauses {
                self.post_clause(&clause, derivation.clone());
            }
        }
    }

    /// The sum itself.
    fn post_sum(&mut self, forward: At, tallies: &[Tally], mut left: i64) -> usize {
        let mut terms = Vec::new();
        for tally in tallies {
            for microbatch in tally.least..tally.most {
                let (variable, when) = self.open((tally.row, microbatch), forward);
                // Where the variable says the opposite, what it adds counts unless it is 1.
                terms.push((if when { tally.amount } else { -tally.amount }, variable));
                left -= if when { 0 } else { tally.amount };
            }
        }
        let pass = self.rows[forward.0].pass(forward.1);
        self.post(terms, left, Origin::Memory(pass))
    }

    /// Every way to choose counts so that the capacity is exceeded, though with any one of them closer to
    /// what is harmless it would not be. `relief` is the least that such a step gives back.
    fn clauses(
        &self,
        forward: At,
        tallies: &[Tally],
        left: i64,
        relief: i64,
        clause: &mut Clause,
        found: &mut Vec<Clause>,
    ) {
        let Some((tally, rest)) = tallies.split_first() else {
            if left < 0 && left.saturating_add(relief) >= 0 {
                found.push(clause.clone());
            }
            return;
        };
        for n in tally.least..=tally.most {
            // At least n of a row that acquires come before; at most n of one that releases. The clause
            // holds where one more does not, or does.
            let literal = if tally.amount > 0 {
                (n > tally.least).then(|| self.literal((tally.row, n - 1), forward, false))
            } else {
                (n < tally.most).then(|| self.literal((tally.row, n), forward, true))
            };
            let relief = if literal.is_some() { relief.min(tally.amount.abs()) } else { relief };
            let length = clause.len();
            clause.extend(literal);
            let more = tally.amount * count(n - tally.least);
            self.clauses(forward, rest, left - more, relief, clause, found);
            clause.truncate(length);
        }
    }

    /// At least one of these holds.
    fn post_clause(&mut self, clause: &Clause, derivation: Derivation) {
        let negative = clause.iter().filter(|(_, positive)| !positive).count();
        let terms = clause.iter().map(|&(variable, positive)| (if positive { -1 } else { 1 }, variable));
        self.post(terms.collect(), count(negative) - 1, Origin::Implied(derivation));
    }

    /// From the sum, and from the rows being in order.
    fn derivation(&self, forward: At, tallies: &[Tally], sum: usize) -> Derivation {
        let steps = tallies.iter().flat_map(|tally| {
            (tally.least + 1..tally.most).map(|microbatch| {
                let (earlier, _) = self.open((tally.row, microbatch - 1), forward);
                let (later, _) = self.open((tally.row, microbatch), forward);
                self.monotone(earlier, later)
            })
        });
        Derivation::Propagation([sum].into_iter().chain(steps).collect())
    }

    /// That a pass comes before the forward, or that not.
    fn literal(&self, pass: At, forward: At, holds: bool) -> (usize, bool) {
        let (variable, when) = self.open(pass, forward);
        (variable, when == holds)
    }

    fn open(&self, pass: At, forward: At) -> (usize, bool) {
        match self.before(pass, forward) {
            Order::Open { variable, when } => (variable, when),
            Order::Fixed(_) => unreachable!("tallies count passes whose order is open"),
        }
    }
}

fn count(passes: usize) -> i64 {
    i64::try_from(passes).expect("microbatches are counted in 32 bits")
}
