//! One question to the solver: the text that states it, and the answer in shifts.

use num_integer::Integer;

use crate::encode::EncodeError;
use crate::encode::problem::{BlockProblem, Live};
use crate::encode::ranges::{Ranges, Scale};
use crate::model::{Device, Microbatch};
use crate::smt::{self, Arithmetic, Language, Question, SmtError, Solver, Unknown};
use crate::stop::Stop;

/// What the solver says to one question.
pub(super) enum Decision {
    /// There is a block, with these shifts.
    Yes(Vec<i64>),
    /// There is none.
    No,
    /// The time is up, or the solver does not know or failed, which is then the reason.
    Unknown(Option<EncodeError>),
}

impl Decision {
    /// What is said, unless the solver failed.
    pub(super) fn of(said: Result<Self, SmtError>) -> Result<Self, EncodeError> {
        match said {
            Err(error) if error.is_failure() => Ok(Self::Unknown(Some(error.into()))),
            said => Ok(said?),
        }
    }
}

/// A statement whose truth may depend on the block.
enum Fact {
    Always,
    Never,
    If(String),
}

impl Fact {
    fn negated(self) -> Self {
        match self {
            Self::Always => Self::Never,
            Self::Never => Self::Always,
            Self::If(fact) => Self::If(format!("(not {fact})")),
        }
    }
}

/// A block of a given interval under given limits, as assertions in a solver.
pub(super) struct Query<'a> {
    problem: &'a BlockProblem,
    solver: &'a mut Solver,
    stop: &'a Stop,
    scale: Scale,
    /// Whether what is live is a weighted sum of Booleans.
    is_small: bool,
    /// By pair: its least `k`, and for each value from there to one below the most, whether `k` is at
    /// most that.
    orders: Vec<(i64, Vec<String>)>,
}

impl<'a> Query<'a> {
    pub(super) fn new(
        problem: &'a BlockProblem,
        scale: Scale,
        ranges: &Ranges,
        limits: &[Option<i64>],
        (solver, stop): (&'a mut Solver, &'a Stop),
    ) -> Result<Self, SmtError> {
        // Where a solver has no weighted sums of Booleans, or amounts are too large for them, memory is a matter of sums.
        let is_small = solver.language() == Language::Z3 && has_small_amounts(problem, ranges, limits);
        let arithmetic = if is_small { Arithmetic::Differences } else { Arithmetic::Sums };
        solver.begin(Question { logic: "QF_LIA", arithmetic }, stop)?;
        let mut query = Self { problem, solver, stop, scale, is_small, orders: Vec::new() };
        for pass in 0..problem.passes().len() {
            query.solver.tell(&format!("(declare-const o{pass} Int)"));
        }
        query.assert_links();
        for pair in 0..problem.pairs().len() {
            query.assert_order(pair, ranges.shifts[pair]);
        }
        query.assert_turns();
        for (device, limit) in (0..).map(Device).zip(limits) {
            for live in limit.iter().flat_map(|_| problem.live(device)) {
                query.assert_memory(&live, i128::from(limit.unwrap_or_default()));
            }
        }
        Ok(query)
    }

    fn assert(&mut self, fact: &str) {
        self.solver.tell(&format!("(assert {fact})"));
    }

    fn assert_links(&mut self) {
        self.assert("(= o0 0)");
        for link in self.problem.links() {
            self.assert(&wait(link.before, link.after, self.scale.least(link.lag)));
        }
    }

    /// The order of the copies of two passes.
    fn assert_order(&mut self, pair: usize, (least, most): (i64, i64)) {
        let (a, b) = self.problem.pairs()[pair];
        let durations = self.problem.durations();
        let (scale, of_a, of_b) = (self.scale, durations[a], durations[b]);
        let turns = |k: i64| i128::from(k) * scale.interval;
        let after = |k: i64| wait(a, b, scale.least(of_a) - turns(k));
        let before = |k: i64| wait(b, a, scale.least(of_b) + turns(k));
        self.assert(&after(most));
        self.assert(&before(least - 1));
        let named = |k: i64| if k < 0 { format!("k{a}_{b}_m{}", -k) } else { format!("k{a}_{b}_{k}") };
        let orders: Vec<String> = (least..most).map(named).collect();
        for (order, k) in orders.iter().zip(least..most) {
            self.solver.tell(&format!("(declare-const {order} Bool)"));
            self.assert(&format!("(=> {order} {})", after(k)));
            self.assert(&format!("(or {order} {})", before(k)));
        }
        for ends in orders.windows(2) {
            self.assert(&format!("(=> {} {})", ends[0], ends[1]));
        }
        self.orders.push((least, orders));
    }

    /// Of the copies of a pass, each comes behind the one before it, relative to any other pass. The offsets imply that as well, but the
    /// solver learns it faster from statements without arithmetic.
    fn assert_turns(&mut self) {
        for group in self.problem.groups() {
            for &first in
                group.iter().filter(|&&pass| self.problem.passes()[pass].microbatch == Microbatch(0))
            {
                let copies: Vec<usize> =
                    group.iter().copied().filter(|&pass| self.problem.in_turn(first, pass)).collect();
                let Some(last) = copies.last().filter(|_| copies.len() > 1) else { continue };
                // The next interval's first copy follows this one's last.
                let turns = copies.windows(2).map(|next| (next[0], next[1], 0)).chain([(*last, first, 1)]);
                let turns: Vec<(usize, usize, i64)> = turns.collect();
                for &other in group.iter().filter(|&&pass| !self.problem.in_turn(first, pass)) {
                    for &(before, after, wrapped) in &turns {
                        self.assert_turn(other, before, after, wrapped);
                    }
                }
            }
        }
    }

    /// Copy `v` of one pass starts after another pass only if copy `v + wrapped` of the pass behind it does.
    fn assert_turn(&mut self, other: usize, before: usize, after: usize, wrapped: i64) {
        let (pair, is_first) = self.problem.pair(other, before);
        let (least, orders) = &self.orders[pair];
        let most = least + i64::try_from(orders.len()).expect("few orders");
        let (least, most) = if is_first { (*least, most) } else { (1 - most, 1 - least) };
        let clauses: Vec<String> = (least..=most)
            .filter_map(|k| {
                match (self.starts_after(other, before, k), self.starts_after(other, after, k + wrapped)) {
                    (Fact::Never, _) | (_, Fact::Always) => None,
                    (Fact::Always, Fact::Never) => Some("false".to_owned()),
                    (Fact::Always, Fact::If(then)) => Some(then),
                    (Fact::If(given), Fact::Never) => Some(format!("(not {given})")),
                    (Fact::If(given), Fact::If(then)) => Some(format!("(=> {given} {then})")),
                }
            })
            .collect();
        for clause in clauses {
            self.assert(&clause);
        }
    }

    /// Whether copy `k` of `b` starts after copy 0 of `a` has ended: whether `k_ab` is at most that.
    fn starts_after(&self, a: usize, b: usize, k: i64) -> Fact {
        let (pair, is_first) = self.problem.pair(a, b);
        let (least, orders) = &self.orders[pair];
        // k_ab = 1 - k_ba
        let at = if is_first { k - least } else { -k - least };
        let fact = match usize::try_from(at) {
            Err(_) => Fact::Never,
            Ok(at) => orders.get(at).map_or(Fact::Always, |order| Fact::If(order.clone())),
        };
        if is_first { fact } else { fact.negated() }
    }

    /// What is live at the start of an F is at most the limit.
    fn assert_memory(&mut self, live: &Live, limit: i128) {
        // k = most - (how many of its statements hold)
        let mut room = limit - live.constant;
        let mut terms: Vec<(String, i128)> = Vec::new();
        for &(pair, coefficient) in &live.terms {
            let (least, orders) = &self.orders[pair];
            let most = i128::from(*least) + orders.iter().map(|_| 1).sum::<i128>();
            room -= coefficient * most;
            for order in orders {
                if coefficient > 0 {
                    room += coefficient;
                    terms.push((format!("(not {order})"), coefficient));
                } else {
                    terms.push((order.clone(), -coefficient));
                }
            }
        }
        let quantum = i128::from(self.problem.quantum());
        let room = Integer::div_floor(&room, &quantum);
        for (_, units) in &mut terms {
            *units /= quantum;
        }
        if room < terms.iter().map(|(_, units)| units).sum() {
            let fits = at_most(&terms, room, self.is_small);
            self.assert(&fits);
        }
    }

    /// Whichever copy is called the first, the block is the same, though not its length. So let it be the one that the next follows
    /// soonest.
    fn assert_first_copy(&mut self) {
        let next = (1..self.problem.passes().len()).find(|&pass| self.problem.in_turn(0, pass));
        if let Some(next) = next {
            let mean = Integer::div_floor(&self.scale.interval, &i128::from(self.problem.period()));
            self.assert(&wait(next, 0, -mean));
        }
    }

    /// Asks, with a limit on the length of the block in parts.
    pub(super) fn decide(&mut self, length: Option<i128>) -> Result<Decision, SmtError> {
        self.solver.tell("(push 1)");
        match length {
            Some(length) => {
                for (pass, &ticks) in self.problem.durations().iter().enumerate() {
                    self.assert(&wait(pass, 0, self.scale.least(ticks) - length));
                }
            }
            None => self.assert_first_copy(),
        }
        let decision = match self.solver.check(self.stop)? {
            smt::Answer::Sat => self.shifts()?.map_or(Decision::Unknown(None), Decision::Yes),
            smt::Answer::Unsat => Decision::No,
            smt::Answer::Unknown(Unknown::Stopped) => Decision::Unknown(None),
            smt::Answer::Unknown(Unknown::GaveUp(message)) => {
                Decision::Unknown(Some(EncodeError::Solver { engine: "the SMT solver", message }))
            }
        };
        self.solver.tell("(pop 1)");
        Ok(decision)
    }

    /// The shifts of the model that the solver has found; nothing when it was time to stop.
    fn shifts(&mut self) -> Result<Option<Vec<i64>>, SmtError> {
        let names: Vec<String> = self.orders.iter().flat_map(|(_, orders)| orders).cloned().collect();
        let Some(truths) = self.solver.truths(&names, self.stop)? else { return Ok(None) };
        let mut truths = truths.into_iter();
        let shift = |(least, orders): &(i64, Vec<String>)| {
            let holds = truths.by_ref().take(orders.len());
            least + holds.map(|holds| i64::from(!holds)).sum::<i64>()
        };
        Ok(Some(self.orders.iter().map(shift).collect()))
    }
}

/// `o_after - o_before >= parts`.
fn wait(before: usize, after: usize, parts: i128) -> String {
    format!("(>= (- o{after} o{before}) {})", integer(parts))
}

/// An integer in SMT-LIB.
fn integer(value: i128) -> String {
    if value < 0 { format!("(- {})", value.unsigned_abs()) } else { value.to_string() }
}

/// Whether all amounts and their sums fit into 32 bits, in quanta.
fn has_small_amounts(problem: &BlockProblem, ranges: &Ranges, limits: &[Option<i64>]) -> bool {
    let most = i128::from(problem.quantum()) * i128::from(i32::MAX);
    (0..).map(Device).zip(limits).filter_map(|(device, limit)| Some((device, (*limit)?))).all(
        |(device, limit)| {
            problem.live(device).iter().all(|live| {
                let of_term = |&(pair, coefficient): &(usize, i128)| {
                    let (least, most) = ranges.shifts[pair];
                    coefficient.abs() * (i128::from(least).abs() + i128::from(most).abs())
                };
                let terms: i128 = live.terms.iter().map(of_term).sum();
                terms + live.constant.abs() + i128::from(limit).abs() <= most
            })
        },
    )
}

/// That the amounts of the statements that hold, each more than nothing, are together at most `room`: as a weighted sum of
/// Booleans, or with arithmetic.
fn at_most(terms: &[(String, i128)], room: i128, is_small: bool) -> String {
    if room < 0 {
        return "false".to_owned();
    }
    if is_small {
        let weights: Vec<String> = terms.iter().map(|(_, units)| units.to_string()).collect();
        let facts: Vec<&str> = terms.iter().map(|(fact, _)| fact.as_str()).collect();
        return format!("((_ pble {room} {}) {})", weights.join(" "), facts.join(" "));
    }
    let parts: Vec<String> =
        terms.iter().map(|(fact, units)| format!("(ite {fact} {} 0)", integer(*units))).collect();
    // A sum has two terms at least.
    format!("(<= (+ 0 0 {}) {})", parts.join(" "), integer(room))
}
