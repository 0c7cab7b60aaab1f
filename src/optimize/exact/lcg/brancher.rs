//! Branching that begins with a schedule already known.

use pumpkin_core::DefaultBrancher;
use pumpkin_core::Solver;
use pumpkin_core::branching::{Brancher, BrancherEvent, SelectionContext};
use pumpkin_core::predicates::Predicate;
use pumpkin_core::results::SolutionReference;
use pumpkin_core::variables::DomainId;

/// Follows given decisions to the first solution; from then on the solver's default: the predicates
/// that took part in recent conflicts, each as in the best solution.
#[derive(Debug)]
pub struct Guided {
    decisions: Vec<Predicate>,
    next: usize,
    then: DefaultBrancher,
}

impl Guided {
    pub fn new(solver: &Solver, decisions: Vec<Predicate>) -> Self {
        Self { decisions, next: 0, then: solver.default_brancher() }
    }
}

impl Brancher for Guided {
    fn next_decision(&mut self, context: &mut SelectionContext) -> Option<Predicate> {
        while let Some(&decision) = self.decisions.get(self.next) {
            self.next += 1;
            if !context.is_predicate_assigned(decision) {
                return Some(decision);
            }
        }
        self.then.next_decision(context)
    }

    fn on_conflict(&mut self) {
        // The decisions were no solution as they were: the search goes on without them.
        self.decisions.clear();
        self.then.on_conflict();
    }

    fn on_backtrack(&mut self) {
        self.then.on_backtrack();
    }

    fn on_solution(&mut self, solution: SolutionReference) {
        self.decisions.clear();
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
        let mut events = self.then.subscribe_to_events();
        for event in [BrancherEvent::Conflict, BrancherEvent::Solution] {
            if !events.contains(&event) {
                events.push(event);
            }
        }
        events
    }
}
