//! A block of a given interval under given limits, as statements about the order of copies.
//!
//! With T fixed, `k_ab <= v` says that copy `v` of `b` starts after `a` of copy 0 has ended, and its
//! negation that it has ended before `a` starts. With one Boolean for each such statement a block is
//! a problem in difference logic,
//! ```text
//!      [k_ab <= v]  =>  o_b - o_a >= t_a - v*T
//!  not [k_ab <= v]  =>  o_a - o_b >= t_b + v*T
//! ```
//! and memory a pseudo-Boolean sum. [Propagation](super::ranges) beforehand leaves few values of each `k`, so few Booleans.

use std::ops::Range;

use num_integer::Integer;

use super::problem::{BlockProblem, Live};
use super::ranges::{Ranges, Scale};
use crate::model::{Device, Microbatch};

/// A statement, or its negation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Literal {
    /// The position of the statement in [`Statements::places`].
    pub statement: usize,
    /// Whether the statement itself is meant.
    pub holds: bool,
}

impl Literal {
    pub(super) const fn negated(self) -> Self {
        Self { holds: !self.holds, ..self }
    }
}

/// `o_after - o_before >= parts`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Wait {
    pub before: usize,
    pub after: usize,
    pub parts: i128,
}

/// What holds in every block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Assertion {
    /// Always.
    Wait(Wait),
    /// Where the literal holds.
    WaitIf(Literal, Wait),
    /// The literal holds.
    Fact(Literal),
    /// Where the first holds, the second does.
    Implies(Literal, Literal),
    /// The amounts of the literals that hold, each more than nothing, are together at most the last number.
    AtMost(Vec<(Literal, i128)>, i128),
    /// There is no block.
    Never,
}

/// Statements about a block, and what is asserted of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Statements {
    /// By statement: the pair that it speaks of, and the value that `k` does not exceed where it holds.
    pub places: Vec<(usize, i64)>,
    /// By pair: the least `k`, and the statements for each value from there to one below the most.
    orders: Vec<(i64, Range<usize>)>,
    /// What holds in every block.
    pub assertions: Vec<Assertion>,
}

impl Statements {
    /// Those of a block of the interval of `scale`, under one limit per device.
    pub(super) fn of(problem: &BlockProblem, scale: Scale, ranges: &Ranges, limits: &[Option<i64>]) -> Self {
        let mut statements = Self { places: Vec::new(), orders: Vec::new(), assertions: Vec::new() };
        for link in problem.links() {
            statements.wait(link.before, link.after, scale.least(link.lag));
        }
        for pair in 0..problem.pairs().len() {
            statements.order(problem, scale, pair, ranges.shifts[pair]);
        }
        statements.turns(problem);
        let quantum = i128::from(problem.quantum());
        for (device, limit) in (0..).map(Device).zip(limits) {
            let Some(limit) = *limit else { continue };
            for live in problem.live(device) {
                statements.memory(&live, limit.into(), quantum);
            }
        }
        statements
    }

    /// The shifts that follow from which statements hold.
    pub(super) fn shifts(&self, truths: &[bool]) -> Vec<i64> {
        let shift = |(least, orders): &(i64, Range<usize>)| {
            least + truths[orders.clone()].iter().map(|&holds| i64::from(!holds)).sum::<i64>()
        };
        self.orders.iter().map(shift).collect()
    }

    /// What cannot hold together where these statements hold, because of its amounts: the literals of each sum that is too large.
    #[cfg(feature = "lcg")]
    pub(super) fn misfits(&self, truths: &[bool]) -> Vec<Vec<Literal>> {
        let misfit = |assertion: &Assertion| {
            let Assertion::AtMost(terms, room) = assertion else { return None };
            let held = terms.iter().filter(|(literal, _)| truths[literal.statement] == literal.holds);
            let (literals, units): (Vec<Literal>, Vec<i128>) = held.copied().unzip();
            (units.iter().sum::<i128>() > *room).then_some(literals)
        };
        self.assertions.iter().filter_map(misfit).collect()
    }

    fn wait(&mut self, before: usize, after: usize, parts: i128) {
        self.assertions.push(Assertion::Wait(Wait { before, after, parts }));
    }

    /// The order of the copies of two passes.
    fn order(&mut self, problem: &BlockProblem, scale: Scale, pair: usize, (least, most): (i64, i64)) {
        let (a, b) = problem.pairs()[pair];
        let [of_a, of_b] = [a, b].map(|pass| scale.least(problem.durations()[pass]));
        let turns = |k: i64| i128::from(k) * scale.interval;
        let after = |k: i64| Wait { before: a, after: b, parts: of_a - turns(k) };
        let before = |k: i64| Wait { before: b, after: a, parts: of_b + turns(k) };
        self.assertions.extend([after(most), before(least - 1)].map(Assertion::Wait));
        let first = self.places.len();
        self.places.extend((least..most).map(|k| (pair, k)));
        let orders = first..self.places.len();
        for (order, k) in orders.clone().map(literal).zip(least..most) {
            self.assertions.push(Assertion::WaitIf(order, after(k)));
            self.assertions.push(Assertion::WaitIf(order.negated(), before(k)));
        }
        let next = orders.clone().skip(1);
        self.assertions.extend(
            orders.clone().zip(next).map(|(given, then)| Assertion::Implies(literal(given), literal(then))),
        );
        self.orders.push((least, orders));
    }

    /// Of the copies of a pass, each comes behind the one before it, relative to any other pass. The offsets imply that as well, but a
    /// solver learns it faster from statements without arithmetic.
    fn turns(&mut self, problem: &BlockProblem) {
        for group in problem.groups() {
            for &first in group.iter().filter(|&&pass| problem.passes()[pass].microbatch == Microbatch(0)) {
                let copies: Vec<usize> =
                    group.iter().copied().filter(|&pass| problem.in_turn(first, pass)).collect();
                let Some(last) = copies.last().filter(|_| copies.len() > 1) else { continue };
                // The next interval's first copy follows this one's last.
                let turns = copies.windows(2).map(|next| (next[0], next[1], 0)).chain([(*last, first, 1)]);
                let turns: Vec<(usize, usize, i64)> = turns.collect();
                for &other in group.iter().filter(|&&pass| !problem.in_turn(first, pass)) {
                    for &turn in &turns {
                        self.turn(problem, other, turn);
                    }
                }
            }
        }
    }

    /// Copy `v` of one pass starts after another pass only if copy `v + wrapped` of the pass behind it does.
    fn turn(&mut self, problem: &BlockProblem, other: usize, (before, after, wrapped): (usize, usize, i64)) {
        let (pair, is_first) = problem.pair(other, before);
        let (least, orders) = &self.orders[pair];
        let most = least + i64::try_from(orders.len()).expect("few orders");
        let (least, most) = if is_first { (*least, most) } else { (1 - most, 1 - least) };
        for k in least..=most {
            let given = self.starts_after(problem, (other, before), k);
            let then = self.starts_after(problem, (other, after), k + wrapped);
            self.assertions.extend(match (given, then) {
                (Fact::Never, _) | (_, Fact::Always) => None,
                (Fact::Always, Fact::Never) => Some(Assertion::Never),
                (Fact::Always, Fact::If(then)) => Some(Assertion::Fact(then)),
                (Fact::If(given), Fact::Never) => Some(Assertion::Fact(given.negated())),
                (Fact::If(given), Fact::If(then)) => Some(Assertion::Implies(given, then)),
            });
        }
    }

    /// Whether copy `k` of `b` starts after copy 0 of `a` has ended: whether `k_ab` is at most that.
    fn starts_after(&self, problem: &BlockProblem, (a, b): (usize, usize), k: i64) -> Fact {
        let (pair, is_first) = problem.pair(a, b);
        let (least, orders) = &self.orders[pair];
        // k_ab = 1 - k_ba
        let at = if is_first { k - least } else { -k - least };
        let fact = match usize::try_from(at) {
            Err(_) => Fact::Never,
            Ok(at) => orders.clone().nth(at).map_or(Fact::Always, |order| Fact::If(literal(order))),
        };
        if is_first { fact } else { fact.negated() }
    }

    /// What is live at the start of an F is at most the limit.
    fn memory(&mut self, live: &Live, limit: i128, quantum: i128) {
        // k = most - (how many of its statements hold)
        let mut room = limit - live.constant;
        let mut terms: Vec<(Literal, i128)> = Vec::new();
        for &(pair, coefficient) in live.terms.iter().filter(|&&(_, coefficient)| coefficient != 0) {
            let (least, orders) = &self.orders[pair];
            let most = i128::from(*least) + i128::try_from(orders.len()).expect("few orders");
            room -= coefficient * most;
            for order in orders.clone().map(literal) {
                if coefficient > 0 {
                    room += coefficient;
                    terms.push((order.negated(), coefficient));
                } else {
                    terms.push((order, -coefficient));
                }
            }
        }
        let room = Integer::div_floor(&room, &quantum);
        for (_, units) in &mut terms {
            *units /= quantum;
        }
        if room < 0 {
            self.assertions.push(Assertion::Never);
        } else if room < terms.iter().map(|(_, units)| units).sum() {
            self.assertions.push(Assertion::AtMost(terms, room));
        }
    }
}

/// Whichever copy is called the first, the block is the same, though not its length. So let it be the one that the next follows
/// soonest.
pub(super) fn first_copy(problem: &BlockProblem, scale: Scale) -> Option<Wait> {
    let next = (1..problem.passes().len()).find(|&pass| problem.in_turn(0, pass))?;
    let mean = Integer::div_floor(&scale.interval, &i128::from(problem.period()));
    Some(Wait { before: next, after: 0, parts: -mean })
}

/// The whole block takes at most so many parts.
pub(super) fn within(problem: &BlockProblem, scale: Scale, length: i128) -> impl Iterator<Item = Wait> + '_ {
    let ends = problem.durations().iter().enumerate();
    ends.map(move |(pass, &ticks)| Wait { before: pass, after: 0, parts: scale.least(ticks) - length })
}

const fn literal(statement: usize) -> Literal {
    Literal { statement, holds: true }
}

/// Something whose truth may depend on the block.
enum Fact {
    Always,
    Never,
    If(Literal),
}

impl Fact {
    const fn negated(self) -> Self {
        match self {
            Self::Always => Self::Never,
            Self::Never => Self::Always,
            Self::If(literal) => Self::If(literal.negated()),
        }
    }
}
