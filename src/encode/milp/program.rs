//! The integer program of a block: its variables, its rows and its objective.
//!
//! Times are divided by T: `u = o/T`, so that `t_a * r <= u_b - u_a + k_ab <= 1 - t_b * r`. The rate
//! `r` counts the most work of a device per interval instead of ticks; it is at most 1, and no
//! coefficient is far from it.
//!
//! Besides the definition of a block, rows that follow from it and help the solver: the normal form
//! of the [ranges](super::super::ranges), the area of every device, the transitivity
//! `0 <= k_ab + k_bc - k_ac <= 1`, and, where T is given, that between a and the next copy of b there
//! is room for every c that lies between them: `1 - (k_ac + k_cb - k_ab)` of it. Measured on V
//! placement, these last ones make least memory up to four times faster at 16 devices, and with T
//! free, where they are weak, least interval slower.

use good_lp::{
    Constraint, Expression, IntoAffineExpression, ProblemVariables, Variable, constraint, variable,
};
use num_rational::Ratio;

use super::super::ranges::Ranges;
use super::super::{BlockProblem, EncodeError};
use super::as_float;
use super::solver::{Posed, Solution, Solver};
use crate::model::Device;
use crate::stop::Stop;

/// The interval of a program.
#[derive(Debug, Clone, Copy)]
pub(super) enum Rate {
    /// It is given, in ticks.
    Fixed(Ratio<i128>),
    /// It is free between two bounds, in ticks.
    Between {
        /// The shortest.
        least: i64,
        /// The longest.
        most: i64,
    },
}

/// The amount of memory that a program counts as one.
#[derive(Debug, Clone, Copy)]
pub(super) struct PeakUnit {
    /// How many units it is.
    pub size: f64,
    /// Whether every peak is a whole number of it.
    pub integral: bool,
}

/// The quantum of the problem, unless activations are so many of it that a solver could not tell them
/// apart; then the sum of all.
pub(super) fn peak_unit(problem: &BlockProblem) -> PeakUnit {
    const MOST: f64 = 1e6;
    let total: f64 = problem.holds().iter().flatten().map(|hold| as_float(hold.units)).sum();
    let quantum = as_float(problem.quantum());
    let integral = total / quantum <= MOST;
    PeakUnit { size: if integral { quantum } else { total }, integral }
}

/// Variables and rows of a block.
pub(super) struct Program<'a> {
    problem: &'a BlockProblem,
    variables: ProblemVariables,
    offsets: Vec<Variable>,
    shifts: Vec<Variable>,
    /// The most that a shift or a peak can be in amount.
    largest: f64,
    /// Most work per interval: a constant or a variable.
    rate: Expression,
    rows: Vec<Constraint>,
}

/// A program with an objective to be minimised.
pub(super) struct Ready<'a> {
    program: Program<'a>,
    objective: Expression,
}

impl<'a> Program<'a> {
    /// A block whose shifts lie in these ranges. Its memory is not limited yet.
    pub fn new(problem: &'a BlockProblem, ranges: &Ranges, rate: Rate) -> Self {
        let mut variables = ProblemVariables::new();
        // The solvers number their columns in the order of creation: offsets, shifts, all others.
        let offsets: Vec<Variable> = (0..problem.passes().len())
            // Any block may be begun at another instant; the first F waits for nothing.
            .map(|pass| variables.add(if pass == 0 { variable().clamp(0, 0) } else { variable().min(0) }))
            .collect();
        let shifts = ranges
            .shifts
            .iter()
            .map(|&(least, most)| variables.add(variable().integer().clamp(as_float(least), as_float(most))))
            .collect();
        let work = as_float(problem.most_work());
        let rate = match rate {
            Rate::Fixed(ticks) => Expression::from(work / quotient(ticks)),
            Rate::Between { least, most } => {
                let bounds = variable().clamp(work / as_float(most), work / as_float(least));
                variables.add(bounds).into()
            }
        };
        let mut program = Self {
            problem,
            variables,
            offsets,
            shifts,
            largest: largest(problem, ranges),
            rate,
            rows: Vec::new(),
        };
        program.link();
        program.separate();
        for group in problem.groups() {
            program.order(group);
        }
        program
    }

    /// A duration as a part of the interval.
    fn part(&self, ticks: i64) -> Expression {
        self.rate.clone() * (as_float(ticks) / as_float(self.problem.most_work()))
    }

    /// `k_ab` of two different passes of a device.
    fn shift(&self, a: usize, b: usize) -> Expression {
        let (pair, forward) = self.problem.pair(a, b);
        if forward { self.shifts[pair].into() } else { 1.0 - self.shifts[pair] }
    }

    /// Dependencies, and slacks below one interval.
    fn link(&mut self) {
        let problem = self.problem;
        for link in problem.links() {
            let wait = self.offsets[link.after] - self.offsets[link.before];
            self.rows.push(constraint!(wait >= self.part(link.lag)));
        }
        for link in problem.chain() {
            let wait = self.offsets[link.after] - self.offsets[link.before];
            self.rows.push(constraint!(wait <= self.part(link.lag) + 1.0));
        }
    }

    /// Copies of two passes of a device do not overlap.
    fn separate(&mut self) {
        let problem = self.problem;
        for (&(a, b), &shift) in problem.pairs().iter().zip(&self.shifts) {
            let ahead = self.offsets[b] - self.offsets[a] + shift;
            let [first, second] = [a, b].map(|pass| self.part(problem.durations()[pass]));
            self.rows.push(constraint!(ahead.clone() >= first));
            self.rows.push(constraint!(ahead <= 1.0 - second));
        }
    }

    /// What follows from the cyclic order of a device.
    fn order(&mut self, group: &[usize]) {
        for (third, &c) in group.iter().enumerate() {
            for (second, &b) in group[..third].iter().enumerate() {
                for &a in &group[..second] {
                    let around = self.shift(a, b) + self.shift(b, c) - self.shift(a, c);
                    self.rows.push(constraint!(around.clone() >= 0.0));
                    self.rows.push(constraint!(around <= 1.0));
                }
            }
        }
        if !self.is_rate_fixed() {
            return;
        }
        for &a in group {
            for &b in group.iter().filter(|&&b| b != a) {
                let durations = self.problem.durations();
                let rate = self.rate.constant() / as_float(self.problem.most_work());
                let mut room = self.offsets[b] - self.offsets[a] + self.shift(a, b);
                room -= as_float(durations[a]) * rate;
                for &c in group.iter().filter(|&&c| c != a && c != b) {
                    let outside = self.shift(a, c) + self.shift(c, b) - self.shift(a, b);
                    room -= (1.0 - outside) * (as_float(durations[c]) * rate);
                }
                self.rows.push(constraint!(room >= 0.0));
            }
        }
    }

    fn is_rate_fixed(&self) -> bool {
        (&self.rate).linear_coefficients().next().is_none()
    }

    /// Limits the memory of each device, in units.
    pub fn capacity(&mut self, limits: &[Option<i64>]) {
        let (quantum, unit) = (self.problem.quantum(), peak_unit(self.problem));
        for (position, limit) in limits.iter().enumerate() {
            if let Some(limit) = limit {
                let limit = as_float(limit / quantum * quantum) / unit.size;
                self.limit(Device::at(position), &limit.into());
            }
        }
    }

    /// What is live at the start of an F, and what is live on the average, is at most the limit.
    fn limit(&mut self, device: Device, limit: &Expression) {
        let size = peak_unit(self.problem).size;
        for live in self.problem.live(device) {
            let mut sum = Expression::from(wide(live.constant) / size);
            for &(pair, coefficient) in &live.terms {
                sum.add_mul(wide(coefficient) / size, self.shifts[pair]);
            }
            self.rows.push(constraint!(sum <= limit.clone()));
        }
        let mut area = Expression::from(0.0);
        for hold in &self.problem.holds()[device.index()] {
            let end = self.offsets[hold.until] + self.part(self.problem.durations()[hold.until]);
            area += (end - self.offsets[hold.from]) * (as_float(hold.units) / size);
        }
        self.rows.push(constraint!(area <= limit.clone()));
    }

    /// Minimises the largest peak of a device, which is at least so many units.
    pub fn minimise_peak(mut self, least: i64) -> Ready<'a> {
        let unit = peak_unit(self.problem);
        let bounds = variable().min(as_float(least) / unit.size);
        let peak = self.variables.add(if unit.integral { bounds.integer() } else { bounds });
        for device in Device::all(self.problem.placement().devices()) {
            self.limit(device, &peak.into());
        }
        Ready { program: self, objective: peak.into() }
    }

    /// Minimises the interval: the objective is the negated rate.
    pub fn maximise_rate(self) -> Ready<'a> {
        let objective = -self.rate.clone();
        Ready { program: self, objective }
    }

    /// Minimises the time from the first start to the last end.
    pub fn minimise_length(mut self) -> Ready<'a> {
        let length = self.variables.add(variable().min(0));
        for (pass, &ticks) in self.problem.durations().iter().enumerate() {
            let end = self.offsets[pass] + self.part(ticks);
            self.rows.push(constraint!(end <= length));
        }
        Ready { program: self, objective: length.into() }
    }
}

impl Ready<'_> {
    /// Runs a solver for as long as there is left. An interrupt does not end it.
    pub fn solve(self, solver: Solver, stop: &Stop) -> Result<Solution, EncodeError> {
        let Self { program: Program { variables, offsets, shifts, largest, rows, .. }, objective } = self;
        let wanted = offsets.len()..offsets.len() + shifts.len();
        solver.solve(Posed { variables, wanted, largest, rows, objective }, stop)
    }
}

/// The most that a shift can be in amount, or the memory of a device where shifts lie in these ranges.
fn largest(problem: &BlockProblem, ranges: &Ranges) -> f64 {
    let shifts = ranges.shifts.iter().map(|&(least, most)| as_float(least).abs().max(as_float(most).abs()));
    let size = peak_unit(problem).size;
    let peaks =
        Device::all(problem.placement().devices()).flat_map(|device| problem.live(device)).map(|live| {
            let most = |&(pair, coefficient): &(usize, i128)| {
                let (least, most) = ranges.shifts[pair];
                (wide(coefficient) * as_float(least)).max(wide(coefficient) * as_float(most))
            };
            (wide(live.constant) + live.terms.iter().map(most).sum::<f64>()) / size
        });
    shifts.chain(peaks).fold(0.0, f64::max)
}

fn quotient(ticks: Ratio<i128>) -> f64 {
    wide(*ticks.numer()) / wide(*ticks.denom())
}

#[expect(clippy::cast_precision_loss, reason = "what the solver is told is rounded; its answer is checked")]
const fn wide(amount: i128) -> f64 {
    amount as f64
}
