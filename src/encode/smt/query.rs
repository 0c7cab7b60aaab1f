//! One question to the solver: the text that states it, and the answer in shifts.

use crate::encode::EncodeError;
use crate::encode::bisection::Decision;
use crate::encode::problem::BlockProblem;
use crate::encode::ranges::{Ranges, Scale};
use crate::encode::statements::{Assertion, Literal, Statements, Wait};
use crate::smt::{self, Arithmetic, Language, Question, SmtError, Solver, Unknown};
use crate::stop::Stop;

/// A block of a given interval under given limits, as assertions in a solver.
pub(super) struct Query<'a> {
    solver: &'a mut Solver,
    stop: &'a Stop,
    statements: Statements,
    /// By statement: its name.
    names: Vec<String>,
}

impl<'a> Query<'a> {
    pub(super) fn new(
        problem: &BlockProblem,
        scale: Scale,
        ranges: &Ranges,
        limits: &[Option<i64>],
        (solver, stop): (&'a mut Solver, &'a Stop),
    ) -> Result<Self, SmtError> {
        // Where a solver has no weighted sums of Booleans, or amounts are too large for them, memory is a matter of sums.
        let statements = Statements::of(problem, scale, ranges, limits);
        let is_weighted = solver.language() == Language::Z3 && has_small_amounts(&statements);
        let arithmetic = if is_weighted { Arithmetic::Differences } else { Arithmetic::Sums };
        solver.begin(Question { logic: "QF_LIA", arithmetic }, stop)?;
        for pass in 0..problem.passes().len() {
            solver.tell(&format!("(declare-const o{pass} Int)"));
        }
        let names: Vec<String> = statements.places.iter().map(|&place| name(problem, place)).collect();
        for name in &names {
            solver.tell(&format!("(declare-const {name} Bool)"));
        }
        let query = Self { solver, stop, statements, names };
        query.solver.tell("(assert (= o0 0))");
        for assertion in &query.statements.assertions {
            query.solver.tell(&format!("(assert {})", query.text(assertion, is_weighted)));
        }
        Ok(query)
    }

    /// An assertion in the language of the solver.
    fn text(&self, assertion: &Assertion, is_weighted: bool) -> String {
        match assertion {
            Assertion::Wait(wait) => text_of(*wait),
            Assertion::WaitIf(given, wait) => format!("(=> {} {})", self.fact(*given), text_of(*wait)),
            Assertion::Fact(literal) => self.fact(*literal),
            Assertion::Implies(given, then) => format!("(=> {} {})", self.fact(*given), self.fact(*then)),
            Assertion::AtMost(terms, room) => {
                let terms: Vec<(String, i128)> =
                    terms.iter().map(|&(literal, units)| (self.fact(literal), units)).collect();
                at_most(&terms, *room, is_weighted)
            }
            Assertion::Never => "false".to_owned(),
        }
    }

    fn fact(&self, literal: Literal) -> String {
        let name = &self.names[literal.statement];
        if literal.holds { name.clone() } else { format!("(not {name})") }
    }

    /// Whether there is a block in which these waits hold, too.
    pub(super) fn decide(&mut self, waits: impl Iterator<Item = Wait>) -> Result<Decision, SmtError> {
        self.solver.tell("(push 1)");
        waits.for_each(|wait| self.assert(wait));
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
        let truths = self.solver.truths(&self.names, self.stop)?;
        Ok(truths.map(|truths| self.statements.shifts(&truths)))
    }

    fn assert(&mut self, wait: Wait) {
        self.solver.tell(&format!("(assert {})", text_of(wait)));
    }
}

/// What a statement is called.
fn name(problem: &BlockProblem, (pair, k): (usize, i64)) -> String {
    let (a, b) = problem.pairs()[pair];
    if k < 0 { format!("k{a}_{b}_m{}", -k) } else { format!("k{a}_{b}_{k}") }
}

fn text_of(Wait { before, after, parts }: Wait) -> String {
    format!("(>= (- o{after} o{before}) {})", integer(parts))
}

/// An integer in SMT-LIB.
fn integer(value: i128) -> String {
    if value < 0 { format!("(- {})", value.unsigned_abs()) } else { value.to_string() }
}

/// Whether all amounts and their sums fit into 32 bits.
fn has_small_amounts(statements: &Statements) -> bool {
    statements.assertions.iter().all(|assertion| match assertion {
        Assertion::AtMost(terms, _) => terms.iter().map(|(_, units)| units).sum::<i128>() <= i32::MAX.into(),
        _ => true,
    })
}

/// That the amounts of the statements that hold, each more than nothing, are together at most `room`: as a weighted sum of
/// Booleans, or with arithmetic.
fn at_most(terms: &[(String, i128)], room: i128, is_weighted: bool) -> String {
    if is_weighted {
        let weights: Vec<String> = terms.iter().map(|(_, units)| units.to_string()).collect();
        let facts: Vec<&str> = terms.iter().map(|(fact, _)| fact.as_str()).collect();
        return format!("((_ pble {room} {}) {})", weights.join(" "), facts.join(" "));
    }
    let parts: Vec<String> =
        terms.iter().map(|(fact, units)| format!("(ite {fact} {} 0)", integer(*units))).collect();
    // A sum has two terms at least.
    format!("(<= (+ 0 0 {}) {})", parts.join(" "), integer(room))
}
