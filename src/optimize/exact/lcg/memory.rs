//! Memory on order literals.
//!
//! What is live once an F has started is a sum over the rows of its device: of each row of forwards,
//! what a copy acquires times the copies before; of each row that releases, less what a copy releases
//! times the copies before. Copies of a row come in order, so "at least n of them come before" is one
//! literal: that the n-th does.
//!
//! Where few rows decide, every way in which they exceed the capacity becomes a clause: for counts of all
//! rows but one, the last row must have released at least so much. With one release per stage and
//! equal amounts these are the ternary clauses "if a number of forwards of the other stage come before,
//! one of these two W does". Elsewhere the sum itself is posted.

use pumpkin_constraints::boolean_less_than_or_equals;
use pumpkin_core::constraints::Constraint;
use pumpkin_core::predicates::Predicate;
use pumpkin_core::variables::Literal;

use super::{Encoding, Order, count, narrow};
use crate::optimize::exact::problem::SequencingProblem;

/// The most clauses for one F.
const MAX_CLAUSES: usize = 1200;

/// The largest sum of amounts.
const MAX_AMOUNT: i64 = 1 << 28;

/// Whether all sums of amounts fit 32 bits.
pub fn fits(problem: &SequencingProblem) -> bool {
    let on = |rows: &Vec<usize>| -> i64 {
        rows.iter().map(|&row| problem.rows[row].acquires * count(problem.copies)).sum()
    };
    problem
        .devices
        .iter()
        .zip(&problem.capacities)
        .all(|(rows, capacity)| capacity.is_none() || on(rows) < MAX_AMOUNT)
}

/// How many copies of a row may come before an F.
struct Tally {
    row: usize,
    /// What each adds; negative where it releases.
    amount: i64,
    /// At least so many do.
    least: usize,
    /// At most so many do.
    most: usize,
}

impl Encoding<'_> {
    pub(super) fn post_memory(&mut self) {
        for (device, capacity) in self.problem.devices.iter().zip(&self.problem.capacities) {
            let Some(capacity) = *capacity else { continue };
            for &row in device {
                if self.problem.rows[row].acquires == 0 {
                    continue;
                }
                for copy in 0..self.problem.copies {
                    self.limit(device, (row, copy), capacity);
                }
            }
        }
    }

    /// What is live once a forward has started is at most the capacity.
    fn limit(&mut self, device: &[usize], forward: (usize, usize), capacity: i64) {
        let own = self.problem.rows[forward.0].acquires;
        // What the rows whose counts are settled leave of the capacity.
        let mut left = capacity - own;
        let mut tallies = Vec::new();
        for &row in device {
            let amount = self.problem.rows[row].acquires - self.problem.rows[row].releases;
            if amount == 0 {
                continue;
            }
            let order = |copy| self.before((row, copy), forward);
            let least = (0..self.problem.copies)
                .take_while(|&copy| matches!(order(copy), Order::Fixed(true)))
                .count();
            let open = (least..self.problem.copies).take_while(|&copy| matches!(order(copy), Order::Open(_)));
            let most = least + open.count();
            left -= amount * count(least);
            if most > least {
                tallies.push(Tally { row, amount, least, most });
            }
        }
        let most: i64 =
            tallies.iter().map(|tally| tally.amount.max(0) * count(tally.most - tally.least)).sum();
        if most <= left {
            return;
        }
        // The last one is the one that must release; the largest range saves the most clauses.
        tallies.sort_by_key(|tally| (tally.amount < 0, tally.most - tally.least));
        let clauses =
            tallies.iter().rev().skip(1).map(|tally| tally.most - tally.least + 1).product::<usize>();
        if clauses <= MAX_CLAUSES {
            let mut reasons = Vec::new();
            self.post_clauses(forward, &tallies, left, &mut reasons);
        } else {
            self.post_sum(forward, &tallies, left);
        }
    }

    /// Posts, for every choice of counts, that not all of them hold where they exceed what is left.
    /// `clause` holds the negations of the counts chosen so far.
    fn post_clauses(
        &mut self,
        forward: (usize, usize),
        tallies: &[Tally],
        left: i64,
        clause: &mut Vec<Predicate>,
    ) {
        let Some((tally, rest)) = tallies.split_first() else {
            if left < 0 {
                self.solver.add_clause(clause.clone(), self.tag);
            }
            return;
        };
        // At least n of a row that acquires come before; at most n of one that releases.
        for n in tally.least..=tally.most {
            let more = tally.amount * count(n - tally.least);
            let negated = if tally.amount > 0 {
                (n > tally.least).then(|| self.at_least(tally.row, n, forward, false))
            } else {
                (n < tally.most).then(|| self.at_least(tally.row, n + 1, forward, true))
            };
            let length = clause.len();
            clause.extend(negated);
            self.post_clauses(forward, rest, left - more, clause);
            clause.truncate(length);
        }
    }

    /// That at least `n` copies of a row come before a forward, or that not.
    fn at_least(&self, row: usize, n: usize, forward: (usize, usize), holds: bool) -> Predicate {
        let literal = self.literal((row, n - 1), forward);
        if holds { literal.get_true_predicate() } else { literal.get_false_predicate() }
    }

    fn literal(&self, copy: (usize, usize), forward: (usize, usize)) -> Literal {
        match self.before(copy, forward) {
            Order::Open(literal) => literal,
            Order::Fixed(true) => self.solver.get_true_literal(),
            Order::Fixed(false) => self.solver.get_false_literal(),
        }
    }

    fn post_sum(&mut self, forward: (usize, usize), tallies: &[Tally], left: i64) {
        let mut weights = Vec::new();
        let mut literals = Vec::new();
        for tally in tallies {
            for copy in tally.least..tally.most {
                weights.push(narrow(tally.amount));
                literals.push(self.literal((tally.row, copy), forward));
            }
        }
        // More than everything that acquires together need not be told apart.
        let bound = narrow(left.clamp(-MAX_AMOUNT, MAX_AMOUNT));
        boolean_less_than_or_equals(weights, literals, bound, self.tag).post(&mut self.solver);
    }
}
