//! Lazy clause generation: statements about the order of copies as literals, and offsets as integers with bounds.
//!
//! This module wraps the crates of the solver Pumpkin, whose interface changes between versions. Its integers have 32 bits. Times
//! that do not fit are refused. Amounts are rounded down; an answer that then exceeds a limit is excluded, and the search resumes.
//! What is called least rests on proofs of unsatisfiability.

use pumpkin_conflict_resolvers::resolvers::{AnalysisMode, ResolutionResolver};
use pumpkin_constraints::{boolean_less_than_or_equals, less_than_or_equals};
use pumpkin_core::Solver;
use pumpkin_core::constraints::Constraint;
use pumpkin_core::predicates::Predicate;
use pumpkin_core::proof::ConstraintTag;
use pumpkin_core::results::{ProblemSolution, SatisfactionResult};
use pumpkin_core::termination::TerminationCondition;
use pumpkin_core::variables::{AffineView, DomainId, Literal, TransformableVariable};

use super::bisection::{Bisection, Decide, Decision, Known};
use super::ranges::{Ranges, Scale};
use super::statements::{self, Assertion, Statements, Wait, first_copy, within};
use super::{BlockObjective, BlockOutcome, BlockProblem, CheckedBlock, EncodeError};
use crate::model::Model;
use crate::stop::Stop;

/// Whether the times of the first question about blocks of `period` microbatches per interval fit into 32 bits. Those of the last
/// one, whether any interval at all is shorter, may be larger: then a block of least whole interval is found, and proved to be that.
pub(crate) fn accepts(model: &Model, period: u32, objective: BlockObjective) -> bool {
    let Ok(problem) = BlockProblem::periodic(model, period) else { return false };
    let durations = problem.durations();
    let work = durations.iter().map(|&ticks| i128::from(ticks)).sum::<i128>();
    let latencies = problem.chain().iter().map(|link| i128::from(link.lag - durations[link.before]));
    // As `BlockProblem::serial`, which may overflow: an interval in which microbatches run alone.
    let alone = work + latencies.sum::<i128>();
    let interval: i128 = match objective {
        BlockObjective::LeastMemory { interval } => interval.0.into(),
        BlockObjective::LeastInterval => alone,
    };
    // In normal form no link of the chain waits for an interval, nor does a W.
    let waits = i128::try_from(problem.chain().len() + 1).unwrap_or(i128::MAX);
    interval.checked_mul(waits).and_then(|waits| narrow(waits.checked_add(alone)?)).is_some()
}

/// An optimal block of `period` microbatches per interval of the model, in the time that there is.
///
/// # Errors
/// When the model cannot be encoded, the times of the first question do not fit into 32 bits, more orders are open than the engine
/// takes, or an answer does not stand up to the exact check.
pub fn solve_periodic(
    model: &Model,
    period: u32,
    objective: BlockObjective,
    stop: &Stop,
) -> Result<BlockOutcome, EncodeError> {
    solve_from(model, period, objective, None, stop)
}

/// The same, where a block may be known that the least interval is to be below.
pub(crate) fn solve_from(
    model: &Model,
    period: u32,
    objective: BlockObjective,
    known: Option<Known>,
    stop: &Stop,
) -> Result<BlockOutcome, EncodeError> {
    let problem = BlockProblem::periodic(model, period)?;
    let engine = LcgEngine::new(&problem, None, stop);
    Bisection { model, problem: &problem, engine, of_schedules: Some(stop) }.solve(objective, known)
}

/// The block of the shortest interval found within an effort of about as many microseconds, with `period` microbatches per interval.
/// It is never longer than that of a known block. That nothing better is found proves nothing.
pub(crate) fn short_interval(
    model: &Model,
    period: u32,
    known: Option<Known>,
    effort: u64,
    stop: &Stop,
) -> Result<Option<CheckedBlock>, EncodeError> {
    let problem = BlockProblem::periodic(model, period)?;
    let engine = LcgEngine::new(&problem, Some(effort), stop);
    let mut search = Bisection { model, problem: &problem, engine, of_schedules: None };
    let outcome = search.least_interval(known)?;
    outcome.best().map(|best| search.shortest(best.clone(), None)).transpose()
}

struct LcgEngine<'a> {
    problem: &'a BlockProblem,
    /// What is left of it, if it is limited. Then a question that takes more than a part of it is given up.
    effort: Option<u64>,
    /// How many statements a question may have.
    most_statements: u64,
    stop: &'a Stop,
}

impl Decide for LcgEngine<'_> {
    fn decide(
        &mut self,
        scale: Scale,
        ranges: &Ranges,
        limits: &[Option<i64>],
    ) -> Result<Decision, EncodeError> {
        let passes = u64::try_from(self.problem.passes().len()).unwrap_or(u64::MAX);
        self.spend(passes.saturating_pow(3) / BOUNDS_PER_EFFORT);
        Ok(match self.statements(scale, ranges, limits) {
            Ok(statements) => self.ask(ranges, &statements, first_copy(self.problem, scale).into_iter()),
            Err(error) => Decision::Unknown(Some(error)),
        })
    }

    fn by_length(
        &mut self,
        scale: Scale,
        ranges: &Ranges,
        limits: &[Option<i64>],
    ) -> Option<impl FnMut(i128) -> Result<Decision, EncodeError>> {
        let statements = self.statements(scale, ranges, limits).ok()?;
        Some(move |length| Ok(self.ask(ranges, &statements, within(self.problem, scale, length))))
    }
}

/// A question takes one of so many parts of the effort that is left.
const QUESTIONS: u64 = 4;

/// To post an assertion takes about a microsecond.
const EFFORT_PER_ASSERTION: u64 = 1;

/// How many bounds propagation closes at the cost of one unit of effort: some rounds of cubic time for each question.
const BOUNDS_PER_EFFORT: u64 = 200;

/// The most statements: each takes about a kilobyte.
const MOST_STATEMENTS: u64 = 400_000;

impl<'a> LcgEngine<'a> {
    const fn new(problem: &'a BlockProblem, effort: Option<u64>, stop: &'a Stop) -> Self {
        Self { problem, effort, most_statements: MOST_STATEMENTS, stop }
    }

    fn statements(
        &self,
        scale: Scale,
        ranges: &Ranges,
        limits: &[Option<i64>],
    ) -> Result<Statements, EncodeError> {
        let open = ranges.shifts.iter().map(|&(least, most)| most.abs_diff(least));
        let statements = open.fold(0, u64::saturating_add);
        let most = self.most_statements;
        if statements > most {
            return Err(EncodeError::TooMany { statements, most });
        }
        Ok(Statements::of(self.problem, scale, ranges, limits))
    }

    /// Whether there is a block in which these waits hold, too.
    fn ask(
        &mut self,
        ranges: &Ranges,
        statements: &Statements,
        waits: impl Iterator<Item = Wait>,
    ) -> Decision {
        let step = u64::try_from(statements.places.len()).unwrap_or(u64::MAX).max(1);
        let most = self.effort.map_or(u64::MAX, |effort| effort / QUESTIONS);
        let mut meter = Meter { step, spent: 0, most, stop: self.stop, next_look: 0 };
        let decision = match Encoding::new(ranges, statements, waits, &mut meter) {
            Ok(encoding) => encoding.solve(statements, &mut meter),
            Err(Unposted::TooWide) => return Decision::Unknown(Some(EncodeError::TooWide)),
            Err(Unposted::TooMuch) => None,
        };
        let is_left = self.effort.is_some_and(|effort| effort > meter.spent) && !self.stop.is_due();
        self.spend(meter.spent);
        decision.unwrap_or(if is_left { Decision::GivenUp } else { Decision::Unknown(None) })
    }

    fn spend(&mut self, effort: u64) {
        self.effort = self.effort.map(|left| left.saturating_sub(effort));
    }
}

/// After how much effort the clock is looked at.
const LOOK: u64 = 5_000;

/// Counts the effort of a question. The solver asks whether to stop before every decision and after every conflict; what it does
/// between two questions grows with the number of statements.
struct Meter<'a> {
    step: u64,
    spent: u64,
    most: u64,
    stop: &'a Stop,
    next_look: u64,
}

impl Meter<'_> {
    /// Adds effort, and says whether to stop.
    fn spend(&mut self, effort: u64) -> bool {
        self.spent = self.spent.saturating_add(effort);
        if self.spent < self.next_look {
            return self.spent > self.most;
        }
        self.next_look = self.spent.saturating_add(LOOK);
        self.spent > self.most || self.stop.is_due()
    }
}

impl TerminationCondition for Meter<'_> {
    fn should_stop(&mut self) -> bool {
        self.spend(self.step)
    }
}

/// Why a question is not put.
enum Unposted {
    /// A number does not fit into 32 bits.
    TooWide,
    /// That takes too much effort, or it is time to stop.
    TooMuch,
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
    fn new(
        ranges: &Ranges,
        statements: &Statements,
        waits: impl Iterator<Item = Wait>,
        meter: &mut Meter<'_>,
    ) -> Result<Self, Unposted> {
        let mut solver = Solver::default();
        let tag = solver.new_constraint_tag();
        let bounds: Option<Vec<(i32, i32)>> =
            ranges.offsets.iter().map(|&(least, most)| Some((narrow(least)?, narrow(most)?))).collect();
        let bounds = bounds.ok_or(Unposted::TooWide)?;
        let offsets =
            bounds.into_iter().map(|(least, most)| solver.new_bounded_integer(least, most)).collect();
        let literals = statements.places.iter().map(|_| solver.new_literal()).collect();
        let mut encoding = Self { solver, tag, offsets, literals };
        for assertion in waits.map(Assertion::Wait).chain(statements.assertions.iter().cloned()) {
            if meter.spend(EFFORT_PER_ASSERTION) {
                return Err(Unposted::TooMuch);
            }
            encoding.post(&assertion).ok_or(Unposted::TooWide)?;
        }
        Ok(encoding)
    }

    /// Yes or no; nothing where that takes too much.
    fn solve(mut self, statements: &Statements, meter: &mut Meter<'_>) -> Option<Decision> {
        if self.solver.is_inconsistent() {
            return Some(Decision::No);
        }
        let mut brancher = self.solver.default_brancher();
        // As in `optimize::exact::lcg`: the crate's default has been seen to derive what does not follow.
        let mut resolver = ResolutionResolver::new(AnalysisMode::OneUIP, true, false);
        loop {
            let truths: Vec<bool> = match self.solver.satisfy(&mut brancher, meter, &mut resolver) {
                SatisfactionResult::Satisfiable(answer) => {
                    let solution = answer.solution();
                    self.literals.iter().map(|&literal| solution.get_literal_value(literal)).collect()
                }
                SatisfactionResult::Unsatisfiable(..) => return Some(Decision::No),
                SatisfactionResult::Unknown(..) => return None,
            };
            // Rounded amounts may let pass what does not fit: that is excluded, and the search goes on.
            let misfits = statements.misfits(&truths);
            if misfits.is_empty() {
                return Some(Decision::Yes(statements.shifts(&truths)));
            }
            for misfit in misfits {
                let clause = misfit.into_iter().map(|literal| self.literal(literal).get_false_predicate());
                let clause: Vec<Predicate> = clause.collect();
                self.solver.add_clause(clause, self.tag);
            }
            if self.solver.is_inconsistent() {
                return Some(Decision::No);
            }
        }
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
                // Rounded down, large amounts exclude nothing that fits. (The solver takes no amounts of nothing.)
                let shift = (all / MOST).checked_ilog2().map_or(0, |digits| digits + 1);
                let rounded = terms.iter().filter_map(|&(literal, units)| {
                    let weight = narrow(units >> shift).filter(|&weight| weight > 0)?;
                    Some((weight, self.literal(literal)))
                });
                let (weights, literals): (Vec<i32>, Vec<Literal>) = rounded.unzip();
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

#[cfg(test)]
mod tests {
    use num_rational::Ratio;

    use super::*;
    use crate::encode::BlockBound;
    use crate::model::{Placement, Ticks, Units};

    fn looped(devices: u32, capacity: i64) -> Model {
        let placement = Placement::looped(devices, 2).expect("a placement");
        let model = Model::equal_stages(placement, 1, [3, 4, 2, 0]).expect("a model");
        model.with_uniform_activation_capacity(Some(Units(capacity))).expect("a capacity")
    }

    fn best(model: &Model) -> CheckedBlock {
        let outcome = solve_periodic(model, 1, BlockObjective::LeastInterval, &Stop::default());
        let Ok(BlockOutcome::Optimal(best)) = outcome else { panic!("{outcome:?}") };
        best
    }

    #[test]
    fn looped_placement_over_many_devices_is_solved() {
        assert_eq!(best(&looped(16, 16)).interval, Ratio::from_integer(25));
    }

    /// The block in which microbatches run alone, and what no interval is below.
    fn alone(model: &Model, problem: &BlockProblem) -> Known {
        let objective = BlockObjective::LeastMemory { interval: Ticks(problem.serial()) };
        let outcome = solve_periodic(model, 1, objective, &Stop::default()).expect("an outcome");
        let block = outcome.best().expect("it fits").clone();
        Known { block, least: Ratio::from_integer(problem.most_work()) }
    }

    #[test]
    fn what_is_given_up_is_no_part_of_a_claim() {
        let model = looped(4, 4);
        let problem = BlockProblem::new(&model).expect("a problem");
        let (least, known, stop) = (best(&model).interval, alone(&model, &problem), Stop::default());
        let mut open = 0;
        for effort in (0..40).map(|at| at * 1000) {
            for known in [None, Some(known.clone())] {
                let engine = LcgEngine::new(&problem, Some(effort), &stop);
                let mut search = Bisection { model: &model, problem: &problem, engine, of_schedules: None };
                match search.least_interval(known.clone()).expect("an outcome") {
                    BlockOutcome::Optimal(best) => assert_eq!(best.interval, least),
                    BlockOutcome::Bounded { best, bound: BlockBound::Interval(bound) } => {
                        assert!(bound <= least, "{effort}: {bound}");
                        assert!(best.is_some() || known.is_none(), "{effort}");
                        open += 1;
                    }
                    other => panic!("{effort}: {other:?}"),
                }
            }
        }
        assert!(open > 2, "{open}");
    }

    #[test]
    fn a_question_too_large_to_be_put_leaves_what_is_known() {
        let model = looped(4, 4);
        let problem = BlockProblem::new(&model).expect("a problem");
        let (known, stop) = (alone(&model, &problem), Stop::default());
        let asked = |known| {
            let engine = LcgEngine { most_statements: 3, ..LcgEngine::new(&problem, None, &stop) };
            Bisection { model: &model, problem: &problem, engine, of_schedules: None }
                .solve(BlockObjective::LeastInterval, known)
        };
        assert!(matches!(asked(None), Err(EncodeError::TooMany { most: 3, .. })));
        let found = asked(Some(known.clone()));
        assert!(matches!(found, Ok(BlockOutcome::Bounded { best: Some(best), .. }) if best == known.block));
    }
}
