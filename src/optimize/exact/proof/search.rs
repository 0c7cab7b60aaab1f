//! The solver at work on linear inequalities, with its log.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use pumpkin_conflict_resolvers::resolvers::{AnalysisMode, ResolutionResolver};
use pumpkin_constraints::less_than_or_equals;
use pumpkin_core::DefaultBrancher;
use pumpkin_core::Solver;
use pumpkin_core::branching::{Brancher, BrancherEvent, SelectionContext};
use pumpkin_core::constraints::Constraint;
use pumpkin_core::options::SolverOptions;
use pumpkin_core::predicates::{Predicate, PredicateType};
use pumpkin_core::proof::{ConstraintTag, ProofLog};
use pumpkin_core::results::{ProblemSolution, SatisfactionResult, SolutionReference};
use pumpkin_core::termination::TerminationCondition;
use pumpkin_core::variables::{AffineView, DomainId, TransformableVariable};

use crate::optimize::exact::linear::{Derivation, LinearProgram, Origin};
use crate::stop::Stop;

/// What the solver says of the inequalities.
pub enum ProofSearchResult {
    /// No integers satisfy them: the log is a proof.
    Infeasible,
    /// These values of the variables do.
    Feasible(Vec<i64>),
    /// It was stopped.
    Open,
}

/// Looks for integers that satisfy the inequalities, near known values, and logs every step to a file.
///
/// Everything is posted as it is, one inequality for each tag: the log names a constraint by its place
/// in the FlatZinc file. Nothing is optimised on the way.
pub fn solve(
    program: &LinearProgram,
    known: &[i64],
    log: &Path,
    stop: &Stop,
) -> io::Result<ProofSearchResult> {
    let proof_log = ProofLog::cp(log, true)?;
    let mut solver = Solver::with_options(SolverOptions { proof_log, ..SolverOptions::default() });
    // Before anything is posted: what is inferred takes tags of its own.
    let tags: Vec<ConstraintTag> =
        program.inequalities().iter().map(|_| solver.new_constraint_tag()).collect();
    let variables: Vec<DomainId> = program
        .variables()
        .iter()
        .map(|variable| {
            let (least, most) = (narrow(variable.least), narrow(variable.most));
            solver.new_named_bounded_integer(least, most, variable.name())
        })
        .collect();
    let superseded = superseded(program);
    for (position, (inequality, tag)) in program.inequalities().iter().zip(tags).enumerate() {
        if superseded[position] {
            continue;
        }
        let terms: Vec<AffineView<DomainId>> =
            inequality.terms.iter().map(|&(weight, at)| variables[at].scaled(narrow(weight))).collect();
        less_than_or_equals(terms, narrow(inequality.most), tag).post(&mut solver);
    }
    let values = variables.iter().zip(known).map(|(&variable, &value)| (variable, value));
    let mut brancher = Near { then: solver.default_brancher(), values: values.collect() };
    // The recursive one of the two ways to shorten what is learnt from a conflict: the crate's default
    // has been seen to write steps into its logs that do not follow.
    let mut resolver = ResolutionResolver::new(AnalysisMode::OneUIP, true, false);
    let answer = match solver.satisfy(&mut brancher, &mut Until(stop), &mut resolver) {
        SatisfactionResult::Satisfiable(found) => {
            let solution = found.solution();
            let value = |&variable: &DomainId| i64::from(solution.get_integer_value(variable));
            ProofSearchResult::Feasible(variables.iter().map(value).collect())
        }
        SatisfactionResult::Unsatisfiable(..) => ProofSearchResult::Infeasible,
        SatisfactionResult::Unknown(..) => ProofSearchResult::Open,
    };
    Ok(answer)
}

/// Which sums are not posted: those whose clauses are, which say the same and lead further.
fn superseded(program: &LinearProgram) -> Vec<bool> {
    let mut superseded = vec![false; program.inequalities().len()];
    for inequality in program.inequalities() {
        if let Origin::Implied(Derivation::Propagation(from)) = &inequality.origin {
            superseded[from[0]] = true;
        }
    }
    superseded
}

/// Branches on what took part in recent conflicts, each as it is in a schedule that is known: a little more
/// than the horizon is where it hurts.
#[derive(Debug)]
struct Near {
    then: DefaultBrancher,
    values: BTreeMap<DomainId, i64>,
}

impl Brancher for Near {
    fn next_decision(&mut self, context: &mut SelectionContext) -> Option<Predicate> {
        let decision = self.then.next_decision(context)?;
        let Some(&value) = self.values.get(&decision.get_domain()) else { return Some(decision) };
        let bound = i64::from(decision.get_right_hand_side());
        let holds = match decision.get_predicate_type() {
            PredicateType::LowerBound => value >= bound,
            PredicateType::UpperBound => value <= bound,
            PredicateType::Equal => value == bound,
            PredicateType::NotEqual => value != bound,
        };
        Some(if holds { decision } else { !decision })
    }

    fn on_conflict(&mut self) {
        self.then.on_conflict();
    }

    fn on_backtrack(&mut self) {
        self.then.on_backtrack();
    }

    fn on_solution(&mut self, solution: SolutionReference) {
        self.then.on_solution(solution);
    }

    fn on_unassign_integer(&mut self, variable: DomainId, value: i32) {
        self.then.on_unassign_integer(variable, value);
    }

    fn on_appearance_in_conflict_predicate(&mut self, predicate: Predicate) {
        self.then.on_appearance_in_conflict_predicate(predicate);
    }

    fn on_restart(&mut self) {
        self.then.on_restart();
    }

    fn synchronise(&mut self, context: &mut SelectionContext) {
        self.then.synchronise(context);
    }

    fn is_restart_pointless(&mut self) -> bool {
        self.then.is_restart_pointless()
    }

    fn subscribe_to_events(&self) -> Vec<BrancherEvent> {
        self.then.subscribe_to_events()
    }
}

struct Until<'a>(&'a Stop);

impl TerminationCondition for Until<'_> {
    fn should_stop(&mut self) -> bool {
        self.0.is_due()
    }
}

/// A number that the linear program keeps within 32 bits.
fn narrow(number: i64) -> i32 {
    i32::try_from(number).expect("numbers beyond 32 bits are refused")
}
