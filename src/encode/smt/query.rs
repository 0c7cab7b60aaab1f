//! One question to the solver: the text that states it, and the answer in shifts.

use num_integer::Integer;

use crate::encode::EncodeError;
use crate::encode::problem::{BlockProblem, Live};
use crate::encode::ranges::{Ranges, Scale};
use crate::model::Device;
use crate::smt::{self, Language, Question, SmtError, Solver, Unknown};
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

/// A block of a given interval under given limits, as assertions in a solver.
pub(super) struct Query<'a> {
    problem: &'a BlockProblem,
    solver: &'a mut Solver,
    stop: &'a Stop,
    scale: Scale,
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
        // Sums of amounts are arithmetic, and no matter of differences.
        solver.begin(Question { logic: "QF_LIA", quotients: false }, stop)?;
        let mut query = Self { problem, solver, stop, scale, orders: Vec::new() };
        for pass in 0..problem.passes().len() {
            query.solver.tell(&format!("(declare-const o{pass} Int)"));
        }
        query.assert_links();
        for pair in 0..problem.pairs().len() {
            query.assert_order(pair, ranges.shifts[pair]);
        }
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
            let fits = at_most(&terms, room, self.solver.language());
            self.assert(&fits);
        }
    }

    /// Asks, with a limit on the length of the block in parts.
    pub(super) fn decide(&mut self, length: Option<i128>) -> Result<Decision, SmtError> {
        self.solver.tell("(push 1)");
        if let Some(length) = length {
            for (pass, &ticks) in self.problem.durations().iter().enumerate() {
                self.assert(&wait(pass, 0, self.scale.least(ticks) - length));
            }
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

/// That the amounts of the statements that hold are together at most `room`.
fn at_most(terms: &[(String, i128)], room: i128, language: Language) -> String {
    let small = |value: i128| i32::try_from(value).is_ok();
    if language == Language::Z3 && room >= 0 && small(room) && terms.iter().all(|(_, units)| small(*units)) {
        let weights: Vec<String> = terms.iter().map(|(_, units)| units.to_string()).collect();
        let facts: Vec<&str> = terms.iter().map(|(fact, _)| fact.as_str()).collect();
        return format!("((_ pble {room} {}) {})", weights.join(" "), facts.join(" "));
    }
    let parts: Vec<String> =
        terms.iter().map(|(fact, units)| format!("(ite {fact} {} 0)", integer(*units))).collect();
    // A sum has two terms at least.
    format!("(<= (+ 0 0 {}) {})", parts.join(" "), integer(room))
}
