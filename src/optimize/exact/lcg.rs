//! Lazy clause generation: start times as integers, one literal for each pair of copies on a device.
//!
//! This module wraps the crates of the solver Pumpkin, whose interface changes between versions;
//! nothing outside knows of it. The model:
//!
//! - for each pair of copies on a device, where not all schedules agree on their order, a literal that
//!   one comes before the other, half-reified both ways; beside them a disjunctive constraint per
//!   device, which reasons about many copies at a time;
//! - dependencies with their latency, and copies of a row one after the other;
//! - memory at the start of every F, on the literals alone (peak memory depends on orders, not on
//!   times): clauses where few rows decide, a weighted sum of literals elsewhere;
//! - the value, at least the end of every row's last copy plus its tail; for the device span also at least that end
//!   less the first start of the device.
//!
//! The search lowers the value below the best schedule known until there is none. That schedule is
//! also where the solver starts: its branching keeps to the best solution known.

mod brancher;
mod memory;

use pumpkin_conflict_resolvers::resolvers::{AnalysisMode, ResolutionResolver};
use pumpkin_constraints::{disjunctive_strict, less_than_or_equals};
use pumpkin_core::Solver;
use pumpkin_core::constraints::Constraint;
use pumpkin_core::predicates::{Predicate, PredicateConstructor};
use pumpkin_core::proof::ConstraintTag;
use pumpkin_core::results::{ProblemSolution, SatisfactionResult};
use pumpkin_core::termination::TerminationCondition;
use pumpkin_core::variables::{AffineView, DomainId, Literal, TransformableVariable};
use pumpkin_propagators::disjunctive::ArgDisjunctiveTask;

use super::problem::{SequencingProblem, Starts};
use super::race::WorkMeter;
use super::{EngineResult, Task};
use brancher::Guided;

/// The largest time that the engine handles: sums of a few times must fit 32 bits.
const MAX_TIME: i64 = 1 << 28;

/// The most literals that are posted.
const MAX_LITERALS: usize = 80_000;

/// Whether the problem is within the engine's limits.
pub fn accepts(problem: &SequencingProblem, incumbent: i64) -> bool {
    let lags = problem.rows.iter().flat_map(|row| row.needs.iter().map(|&(_, lag)| lag)).max().unwrap_or(0);
    let origin = problem.rows.iter().map(|row| row.tail.abs()).max().unwrap_or(0);
    incumbent + origin + lags < MAX_TIME && literals(problem) <= MAX_LITERALS && memory::fits(problem)
}

/// At most this many pairs of copies on a device have an open order.
fn literals(problem: &SequencingProblem) -> usize {
    let pairs = problem.devices.iter().map(|rows| rows.len() * rows.len().saturating_sub(1) / 2);
    pairs.sum::<usize>() * problem.copies * problem.copies
}

/// Lowers the incumbent until nothing is better or the meter says to end.
pub fn solve(task: &Task<'_>, meter: &mut WorkMeter<'_>) -> EngineResult {
    let mut found = EngineResult::default();
    // To post a literal with its constraints takes a few microseconds.
    if meter.spend(2 * u64::try_from(literals(task.problem)).unwrap_or(u64::MAX)) {
        return found;
    }
    let Some(mut encoding) = Encoding::new(task) else {
        return EngineResult { is_proved: true, ..found };
    };
    let mut brancher = Guided::new(&encoding.solver, encoding.warm_start(task));
    // The recursive one of the two ways to shorten what is learnt from a conflict: the crate's default
    // has been seen to write steps into its proofs that do not follow.
    let mut resolver = ResolutionResolver::new(AnalysisMode::OneUIP, true, false);
    let (passes, literals) = (task.problem.rows.len() * task.problem.copies, literals(task.problem));
    let step = u64::try_from(passes + literals / 40).unwrap_or(u64::MAX);
    let mut best = task.incumbent;
    // The incumbent is found first: from then on branching keeps close to it.
    let mut target = if task.known.is_some() { best } else { best - 1 };
    loop {
        if target < task.lower_bound || !encoding.require(target) {
            return EngineResult { is_proved: true, ..found };
        }
        let mut termination = Termination { meter, step };
        match encoding.solver.satisfy(&mut brancher, &mut termination, &mut resolver) {
            SatisfactionResult::Satisfiable(answer) => {
                let solution = answer.solution();
                let starts: Starts = encoding
                    .starts
                    .iter()
                    .map(|row| row.iter().map(|&start| solution.get_integer_value(start).into()).collect())
                    .collect();
                drop(answer);
                let value = task.problem.value(&starts);
                if value < best {
                    found.best = Some((value, starts));
                }
                best = best.min(value);
                target = best - 1;
            }
            SatisfactionResult::Unsatisfiable(..) => return EngineResult { is_proved: true, ..found },
            SatisfactionResult::Unknown(..) => return found,
        }
    }
}

/// The solver asks whether to stop before every decision and after every conflict. What it does
/// between two questions grows with the number of passes and of literals.
struct Termination<'a, 'b> {
    meter: &'a mut WorkMeter<'b>,
    step: u64,
}

impl TerminationCondition for Termination<'_, '_> {
    fn should_stop(&mut self) -> bool {
        self.meter.spend(self.step)
    }
}

/// Which of two copies on a device comes first.
#[derive(Debug, Clone, Copy)]
enum Order {
    /// The same in all schedules.
    Fixed(bool),
    /// The first one does where the literal holds.
    Open(Literal),
}

struct Encoding<'a> {
    problem: &'a SequencingProblem,
    solver: Solver,
    tag: ConstraintTag,
    starts: Vec<Vec<DomainId>>,
    value: DomainId,
    /// By pair of rows, the lower one first, then by their copies; empty where devices differ.
    orders: Vec<Vec<Order>>,
}

impl<'a> Encoding<'a> {
    /// The model, or nothing when a copy has no room below the incumbent.
    fn new(task: &Task<'a>) -> Option<Self> {
        let problem = task.problem;
        let mut solver = Solver::default();
        let tag = solver.new_constraint_tag();
        // The incumbent itself is allowed: the search begins with it.
        let value =
            solver.new_bounded_integer(narrow(task.lower_bound.min(task.incumbent)), narrow(task.incumbent));
        let mut starts = Vec::new();
        for row in &problem.rows {
            let mut copies = Vec::new();
            for copy in 0..problem.copies {
                let (before, after) = (count(copy), count(problem.copies - 1 - copy));
                let first = row.head + row.duration * before;
                let last = task.incumbent - row.tail - row.duration * (after + 1);
                if first > last {
                    return None;
                }
                copies.push(solver.new_bounded_integer(narrow(first), narrow(last)));
            }
            starts.push(copies);
        }
        let mut encoding = Self { problem, solver, tag, starts, value, orders: Vec::new() };
        encoding.post_precedences();
        encoding.post_value();
        encoding.post_devices();
        encoding.post_memory();
        (!encoding.solver.is_inconsistent()).then_some(encoding)
    }

    /// `before + distance <= after`.
    fn distance(&self, before: DomainId, after: DomainId, distance: i64) -> impl Constraint + use<> {
        let terms: [AffineView<DomainId>; 2] = [before.scaled(1), after.scaled(-1)];
        less_than_or_equals(terms, -narrow(distance), self.tag)
    }

    fn post_precedences(&mut self) {
        for (at, row) in self.problem.rows.iter().enumerate() {
            for copy in 0..self.problem.copies {
                let own = self.starts[at][copy];
                if let Some(&next) = self.starts[at].get(copy + 1) {
                    self.distance(own, next, row.duration).post(&mut self.solver);
                }
                for &(before, lag) in &row.needs {
                    let distance = self.problem.rows[before].duration + lag;
                    self.distance(self.starts[before][copy], own, distance).post(&mut self.solver);
                }
            }
        }
    }

    fn post_value(&mut self) {
        for (at, row) in self.problem.rows.iter().enumerate() {
            let last = *self.starts[at].last().expect("there is a microbatch");
            self.distance(last, self.value, row.duration + row.tail).post(&mut self.solver);
            if let Some(&first) = self.problem.first.get(row.device) {
                let first = self.starts[first][0];
                let terms = [last.scaled(1), first.scaled(-1), self.value.scaled(-1)];
                less_than_or_equals(terms, -narrow(row.duration), self.tag).post(&mut self.solver);
            }
        }
    }

    fn post_devices(&mut self) {
        let rows = self.problem.rows.len();
        self.orders = vec![Vec::new(); rows * rows];
        for device in &self.problem.devices {
            let tasks: Vec<_> = device
                .iter()
                .flat_map(|&row| self.starts[row].iter().map(move |&start| (row, start)))
                .map(|(row, start_time)| {
                    let processing_time = narrow(self.problem.rows[row].duration);
                    ArgDisjunctiveTask { start_time, processing_time }
                })
                .collect();
            disjunctive_strict(tasks, self.tag).post(&mut self.solver);
            for (position, &first) in device.iter().enumerate() {
                for &second in &device[position + 1..] {
                    self.post_orders(first, second);
                }
            }
        }
    }

    fn post_orders(&mut self, first: usize, second: usize) {
        let problem = self.problem;
        let mut orders = Vec::with_capacity(problem.copies * problem.copies);
        for (j, k) in itertools::iproduct!(0..problem.copies, 0..problem.copies) {
            if let Some(before) = problem.fixed_order((first, j), (second, k)) {
                orders.push(Order::Fixed(before));
                continue;
            }
            let literal = self.solver.new_literal();
            let (one, other) = (self.starts[first][j], self.starts[second][k]);
            let forth = self.distance(one, other, problem.rows[first].duration);
            let back = self.distance(other, one, problem.rows[second].duration);
            forth.implied_by(&mut self.solver, literal);
            back.implied_by(&mut self.solver, !literal);
            orders.push(Order::Open(literal));
        }
        self.orders[first * problem.rows.len() + second] = orders;
    }

    /// Whether copy `j` of row `a` comes before copy `k` of row `b` of the same device.
    fn before(&self, (a, j): (usize, usize), (b, k): (usize, usize)) -> Order {
        let (rows, copies) = (self.problem.rows.len(), self.problem.copies);
        match a.cmp(&b) {
            std::cmp::Ordering::Equal => Order::Fixed(j < k),
            std::cmp::Ordering::Less => self.orders[a * rows + b][j * copies + k],
            std::cmp::Ordering::Greater => match self.orders[b * rows + a][k * copies + j] {
                Order::Fixed(before) => Order::Fixed(!before),
                Order::Open(literal) => Order::Open(!literal),
            },
        }
    }

    /// Requires the value to be at most this; says whether that is possible so far.
    fn require(&mut self, value: i64) -> bool {
        let predicate = self.value.upper_bound_predicate(narrow(value));
        self.solver.add_clause([predicate], self.tag);
        !self.solver.is_inconsistent()
    }

    /// The decisions that lead to the incumbent.
    fn warm_start(&self, task: &Task<'_>) -> Vec<Predicate> {
        let Some(known) = task.known else { return Vec::new() };
        let mut decisions: Vec<(i64, Predicate)> = self
            .starts
            .iter()
            .flatten()
            .zip(known.iter().flatten())
            .map(|(variable, &start)| (start, variable.equality_predicate(narrow(start))))
            .collect();
        decisions.sort_by_key(|&(start, _)| start);
        let value = self.value.equality_predicate(narrow(task.incumbent));
        decisions.into_iter().map(|(_, predicate)| predicate).chain([value]).collect()
    }
}

/// A time that [`accepts`] found to fit.
fn narrow(time: i64) -> i32 {
    i32::try_from(time).expect("times beyond 32 bits are refused")
}

fn count(copies: usize) -> i64 {
    i64::try_from(copies).expect("microbatches are counted in 32 bits")
}
