//! Lazy clause generation: [statements](super::statements) about the order of copies as literals, and offsets as integers with
//! bounds.
//!
//! This module wraps the crates of the solver Pumpkin, whose interface changes between versions. Its integers have 32 bits. Times
//! that do not fit are refused; amounts are rounded down, and an answer that does not fit into memory is none. Every bound is a proof
//! of unsatisfiability.

use num_rational::Ratio;
use pumpkin_conflict_resolvers::resolvers::{AnalysisMode, ResolutionResolver};
use pumpkin_constraints::{boolean_less_than_or_equals, less_than_or_equals};
use pumpkin_core::Solver;
use pumpkin_core::constraints::Constraint;
use pumpkin_core::proof::ConstraintTag;
use pumpkin_core::results::{ProblemSolution, SatisfactionResult};
use pumpkin_core::termination::TerminationCondition;
use pumpkin_core::variables::{AffineView, DomainId, Literal, TransformableVariable};

use super::bisection::{Bisection, Decide, Decision};
use super::ranges::{Ranges, Scale};
use super::statements::{self, Assertion, Statements, Wait, first_copy, within};
use super::{BlockObjective, BlockOutcome, BlockProblem, CheckedBlock, EncodeError};
use crate::model::Model;
use crate::stop::Stop;

/// Whether the numbers of the first question about blocks of `period` microbatches per interval fit into 32 bits. Those of the last
/// one, whether any interval at all is shorter, may be larger: then the block is found, but only almost proved optimal.
pub(crate) fn accepts(model: &Model, period: u32) -> bool {
    let Ok(problem) = BlockProblem::periodic(model, period) else { return false };
    // In normal form no link of the chain waits for an interval, which is at most that of microbatches alone.
    let links = i128::try_from(problem.links().len()).unwrap_or(i128::MAX);
    let length = i128::from(problem.serial()).checked_mul(links.saturating_add(1));
    length.is_some_and(|length| narrow(length).is_some())
}

/// An optimal block of `period` microbatches per interval of the model, in the time that there is.
///
/// # Errors
/// When the model cannot be encoded, the numbers of the first question do not fit into 32 bits, or an answer does not stand up to the
/// exact check.
pub fn solve_periodic(
    model: &Model,
    period: u32,
    objective: BlockObjective,
    stop: &Stop,
) -> Result<BlockOutcome, EncodeError> {
    let problem = BlockProblem::periodic(model, period)?;
    let engine = LcgEngine { problem: &problem, effort: None, stop };
    Bisection { model, problem: &problem, engine }.solve(objective)
}

/// A block of least interval, of as many microbatches per interval as a known one of the model has. No interval of these is below
/// `least`, in ticks.
///
/// # Errors
/// As [`solve_periodic`].
pub(crate) fn least_interval_from(
    model: &Model,
    known: CheckedBlock,
    least: Ratio<i64>,
    stop: &Stop,
) -> Result<BlockOutcome, EncodeError> {
    let problem = BlockProblem::periodic(model, known.block.period())?;
    let engine = LcgEngine { problem: &problem, effort: None, stop };
    Bisection { model, problem: &problem, engine }.solve_from(known, least)
}

/// A block of a short interval, of `period` microbatches per interval, found with so much effort, about as many microseconds: no
/// longer than that of a known one, if one is given. No interval is below the time that comes with it, in ticks. That nothing
/// better is found proves nothing.
pub(crate) fn short_interval(
    model: &Model,
    period: u32,
    known: Option<(CheckedBlock, Ratio<i64>)>,
    effort: u64,
    stop: &Stop,
) -> Result<Option<CheckedBlock>, EncodeError> {
    let problem = BlockProblem::periodic(model, period)?;
    let engine = LcgEngine { problem: &problem, effort: Some(effort), stop };
    let search = Bisection { model, problem: &problem, engine };
    let outcome = match known {
        Some((known, least)) => search.solve_from(known, least)?,
        None => search.solve(BlockObjective::LeastInterval)?,
    };
    Ok(outcome.best().cloned())
}

struct LcgEngine<'a> {
    problem: &'a BlockProblem,
    /// What is left of it, if it is limited. Then a question takes a part of it at most, and one that takes more is answered as if
    /// there were no block, until nothing is left.
    effort: Option<u64>,
    stop: &'a Stop,
}

impl Decide for LcgEngine<'_> {
    fn decide(
        &mut self,
        scale: Scale,
        ranges: &Ranges,
        limits: &[Option<i64>],
    ) -> Result<Decision, EncodeError> {
        let statements = Statements::of(self.problem, scale, ranges, limits);
        Ok(self.ask(ranges, &statements, first_copy(self.problem, scale).into_iter()))
    }

    fn by_length(
        &mut self,
        scale: Scale,
        ranges: &Ranges,
        limits: &[Option<i64>],
    ) -> Option<impl FnMut(i128) -> Result<Decision, EncodeError>> {
        let statements = Statements::of(self.problem, scale, ranges, limits);
        Some(move |length| Ok(self.ask(ranges, &statements, within(self.problem, scale, length))))
    }
}

/// A question takes one of so many parts of the effort that is left.
const QUESTIONS: u64 = 4;

/// To post a statement with its constraints takes a few microseconds.
const EFFORT_PER_STATEMENT: u64 = 2;

impl LcgEngine<'_> {
    /// Whether there is a block in which these waits hold, too.
    fn ask(
        &mut self,
        ranges: &Ranges,
        statements: &Statements,
        waits: impl Iterator<Item = Wait>,
    ) -> Decision {
        let Some(mut encoding) = Encoding::new(ranges, statements, waits) else {
            return Decision::Unknown(Some(EncodeError::TooWide));
        };
        if encoding.solver.is_inconsistent() {
            return Decision::No;
        }
        let mut brancher = encoding.solver.default_brancher();
        // As in `optimize::exact::lcg`: the crate's default has been seen to derive what does not follow.
        let mut resolver = ResolutionResolver::new(AnalysisMode::OneUIP, true, false);
        let step = u64::try_from(statements.places.len()).unwrap_or(u64::MAX).max(1);
        let spent = step.saturating_mul(EFFORT_PER_STATEMENT);
        let most = self.effort.map_or(u64::MAX, |effort| effort / QUESTIONS);
        let mut termination = Termination { step, spent, most, stop: self.stop, next_look: 0 };
        let decision = match encoding.solver.satisfy(&mut brancher, &mut termination, &mut resolver) {
            SatisfactionResult::Satisfiable(answer) => {
                let solution = answer.solution();
                let truth = |&literal: &Literal| solution.get_literal_value(literal);
                let truths: Vec<bool> = encoding.literals.iter().map(truth).collect();
                if statements.fit(&truths) {
                    Decision::Yes(statements.shifts(&truths))
                } else {
                    Decision::Unknown(Some(EncodeError::TooWide))
                }
            }
            SatisfactionResult::Unsatisfiable(..) => Decision::No,
            SatisfactionResult::Unknown(..) => {
                let goes_on = self.effort.is_some_and(|effort| effort > termination.spent);
                if goes_on && !self.stop.is_due() { Decision::No } else { Decision::Unknown(None) }
            }
        };
        let spent = termination.spent;
        self.effort = self.effort.map(|effort| effort.saturating_sub(spent));
        decision
    }
}

/// After how much effort the clock is looked at.
const LOOK: u64 = 5_000;

/// The solver asks whether to stop before every decision and after every conflict. What it does between two questions grows with
/// the number of statements.
struct Termination<'a> {
    step: u64,
    spent: u64,
    most: u64,
    stop: &'a Stop,
    next_look: u64,
}

impl TerminationCondition for Termination<'_> {
    fn should_stop(&mut self) -> bool {
        self.spent = self.spent.saturating_add(self.step);
        if self.spent < self.next_look {
            return self.spent > self.most;
        }
        self.next_look = self.spent.saturating_add(LOOK);
        self.spent > self.most || self.stop.is_due()
    }
}

struct Encoding {
    solver: Solver,
    tag: ConstraintTag,
    /// By pass.
    offsets: Vec<DomainId>,
    /// By statement.
    literals: Vec<Literal>,
}

impl Encoding {
    /// Nothing where a number does not fit.
    fn new(ranges: &Ranges, statements: &Statements, waits: impl Iterator<Item = Wait>) -> Option<Self> {
        let mut solver = Solver::default();
        let tag = solver.new_constraint_tag();
        let bounds: Option<Vec<(i32, i32)>> =
            ranges.offsets.iter().map(|&(least, most)| Some((narrow(least)?, narrow(most)?))).collect();
        let offsets =
            bounds?.into_iter().map(|(least, most)| solver.new_bounded_integer(least, most)).collect();
        let literals = statements.places.iter().map(|_| solver.new_literal()).collect();
        let mut encoding = Self { solver, tag, offsets, literals };
        statements.assertions.iter().try_for_each(|assertion| encoding.post(assertion))?;
        waits.map(Assertion::Wait).try_for_each(|wait| encoding.post(&wait))?;
        Some(encoding)
    }

    /// Nothing where a number does not fit.
    fn post(&mut self, assertion: &Assertion) -> Option<()> {
        match assertion {
            Assertion::Wait(wait) => {
                self.distance(*wait)?.post(&mut self.solver);
            }
            Assertion::WaitIf(given, wait) => {
                let given = self.literal(*given);
                self.distance(*wait)?.implied_by(&mut self.solver, given);
            }
            Assertion::Fact(fact) => {
                let fact = self.literal(*fact).get_true_predicate();
                self.solver.add_clause([fact], self.tag);
            }
            Assertion::Implies(given, then) => {
                let (given, then) = (self.literal(*given), self.literal(*then));
                self.solver.add_clause([given.get_false_predicate(), then.get_true_predicate()], self.tag);
            }
            Assertion::AtMost(terms, room) => {
                let all: i128 = terms.iter().map(|&(_, units)| units).sum();
                // Rounded down, large amounts exclude nothing that fits.
                let shift = (all / MOST).checked_ilog2().map_or(0, |digits| digits + 1);
                let weights = terms.iter().map(|&(_, units)| narrow(units >> shift));
                let weights = weights.collect::<Option<Vec<_>>>()?;
                let literals: Vec<Literal> =
                    terms.iter().map(|&(literal, _)| self.literal(literal)).collect();
                boolean_less_than_or_equals(weights, literals, narrow(room >> shift)?, self.tag)
                    .post(&mut self.solver);
            }
            Assertion::Never => self.solver.add_clause([], self.tag),
        }
        Some(())
    }

    fn literal(&self, literal: statements::Literal) -> Literal {
        let own = self.literals[literal.statement];
        if literal.holds { own } else { !own }
    }

    fn distance(&self, wait: Wait) -> Option<impl Constraint + use<>> {
        let terms: [AffineView<DomainId>; 2] =
            [self.offsets[wait.before].scaled(1), self.offsets[wait.after].scaled(-1)];
        Some(less_than_or_equals(terms, -narrow(wait.parts)?, self.tag))
    }
}

/// The largest number whose sums of a few fit into 32 bits.
const MOST: i128 = 1 << 28;

/// A number, if it is no larger than that.
fn narrow(number: i128) -> Option<i32> {
    i32::try_from(number).ok().filter(|_| number.abs() <= MOST)
}
