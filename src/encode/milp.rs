//! The MILP engine: `HiGHS` on the encoding divided by T.

use std::time::{Duration, Instant};

use good_lp::solvers::highs::HighsProblem;
use good_lp::{IntoAffineExpression, Expression, ProblemVariables, SolverModel, Variable, constraint, highs, variable};
use num_rational::Ratio;

use super::ranges::{Ranges, Scale, least_interval, least_limit, limits};
use super::{Answer, Bound, Claim, EncodeError, Objective, Outcome, Problem, answer};
use crate::model::{Device, Model, Ticks, Units};

/// Margin
const MARGIN: f64 = 1e-6;

/// An optimal block of the model, within the time limit. 
///
/// # Errors
/// When 
pub fn solve(model: &Model, objective: Objective, limit: Duration) -> Result<Outcome, EncodeError> {
    let problem = Problem::new(model)?;
    let start = Instant::now();
    let deadline = start + limit * 3 / 4;
    match objective {
        Objective::LeastMemory { interval } => {
            if interval.0 < problem.most_work() {
                return Ok(Outcome::Infeasible);
            }
            let ticks = Ratio::from_integer(i128::from(interval.0));
            let scale = Scale::at(&problem, ticks)?;
            let Some(least) = least_limit(&problem, scale) else { return Ok(Outcome::Infeasible) };
            let ranges = Ranges::of(&problem, scale, problem.caps()).unwrap();
            let r = problem.most_work() as f64 / interval.0 as f64;
            let mut f = Formulation::new(&problem, &ranges, None, r, r);
            let q = problem.quantum();
            let m = f.variables.add(variable().integer().min((least / q) as f64));
            f.memory(&limits(&problem, None), Some(m), q);
            let solved = f.solve(Expression::from(m), deadline)?;
            eprintln!("{} {} {:?}", solved.status, solved.bound, solved.columns.get(f_index(m)));
            let Some(shifts) = solved.shifts else { return Ok(Outcome::Infeasible) };
            let a = answer(model, &problem, &shifts, Claim { interval: Some(ticks), peak: None })?;
            Ok(Outcome::Optimal(a))
        }
        Objective::LeastInterval => {
            let lo = least_interval(&problem)?;
            let hi = problem.serial();
            let scale = Scale::between(&problem, Ratio::from_integer(lo.into()), Ratio::from_integer(hi.into()))?;
            let ranges = Ranges::of(&problem, scale, problem.caps()).unwrap();
            let w = problem.most_work() as f64;
            let mut vars = ProblemVariables::new();
            let r = vars.add(variable().min(w / hi as f64).max(w / lo as f64));
            let mut f = Formulation::new(&problem, &ranges, Some((vars, r)), w / hi as f64, w / lo as f64);
            f.memory(&limits(&problem, None), None, problem.quantum());
            let solved = f.solve(Expression::from(r) * -1.0, deadline)?;
            eprintln!("{} {} lo {lo}", solved.status, -w / solved.bound);
            let Some(shifts) = solved.shifts else { return Ok(Outcome::Infeasible) };
            let a = answer(model, &problem, &shifts, Claim::default())?;
            Ok(Outcome::Optimal(a))
        }
    }
}
fn f_index(v: Variable) -> usize { use good_lp::Variable as _V; let _: Option<_V> = None; format!("{v:?}").len() * 0 }

struct Solved { status: isize, bound: f64, columns: Vec<f64>, shifts: Option<Vec<i64>> }

struct Formulation<'a> {
    problem: &'a Problem,
    variables: ProblemVariables,
    rate: Expression,
    u: Vec<Variable>,
    k: Vec<Variable>,
    rows: Vec<good_lp::Constraint>,
}
impl<'a> Formulation<'a> {
    fn new(problem: &'a Problem, ranges: &Ranges, free: Option<(ProblemVariables, Variable)>, rlo: f64, rhi: f64) -> Self {
        let cuts = std::env::var("CUTS").unwrap_or("tbna".into());
        let (mut variables, rate) = match free {
            Some((v, r)) => (v, Expression::from(r)),
            None => (ProblemVariables::new(), Expression::from(rlo)),
        };
        let _ = rhi;
        let w = problem.most_work() as f64;
        let u: Vec<_> = problem.passes().iter().enumerate().map(|(p, _)| {
            let v = variable().min(0.0); let v = if p == 0 { v.max(0.0) } else { v };
            variables.add(v) }).collect();
        let k: Vec<_> = ranges.shifts.iter().map(|&(a, b)| variables.add(variable().integer().min(a as f64).max(b as f64))).collect();
        let mut rows = Vec::new();
        let t = |ticks: i64| rate.clone() * (ticks as f64 / w);
        for l in problem.links() { rows.push(constraint!(u[l.after] - u[l.before] >= t(l.lag))); }
        if cuts.contains('n') { for l in problem.chain() { rows.push(constraint!(u[l.after] - u[l.before] <= t(l.lag) + 1.0)); } }
        let d = problem.durations();
        let shift = |a: usize, b: usize| { let (p, fwd) = problem.pair(a, b); if fwd { Expression::from(k[p]) } else { 1.0 - k[p] } };
        for (i, &(a, b)) in problem.pairs().iter().enumerate() {
            rows.push(constraint!(u[b] - u[a] + k[i] >= t(d[a])));
            rows.push(constraint!(u[b] - u[a] + k[i] <= 1.0 - t(d[b])));
        }
        for g in problem.groups() {
            if cuts.contains('t') {
            for (x, &a) in g.iter().enumerate() { for (y, &b) in g.iter().enumerate().skip(x + 1) { for &c in &g[y + 1..] {
                let e = shift(a, b) + shift(b, c) - shift(a, c);
                rows.push(constraint!(e.clone() <= 1.0)); rows.push(constraint!(e >= 0.0));
            } } }
            }
            if cuts.contains('b') {
            for &a in g { for &b in g { if a == b { continue; }
                let mut e = Expression::from(u[b]) - u[a] + shift(a, b) - t(d[a]);
                for &c in g { if c == a || c == b { continue; }
                    let delta = shift(a, c) + shift(c, b) - shift(a, b);
                    e -= (1.0 - delta) * (rlo * d[c] as f64 / w);
                }
                rows.push(constraint!(e >= 0.0));
            } }
            }
        }
        Self { problem, variables, rate, u, k, rows }
    }
    fn memory(&mut self, caps: &[Option<i64>], m: Option<Variable>, q: i64) {
        let cuts = std::env::var("CUTS").unwrap_or("tbna".into());
        let w = self.problem.most_work() as f64;
        for (i, cap) in caps.iter().enumerate() {
            let mut tops: Vec<Expression> = vec![];
            if let Some(m) = m { tops.push(m.into()); }
            if let Some(c) = cap { tops.push(((c / q) as f64).into()); }
            for top in tops {
                for live in self.problem.live(Device::at(i)) {
                    let mut e = Expression::from(live.constant as f64 / q as f64);
                    for &(p, c) in &live.terms { e += self.k[p] * (c as f64 / q as f64); }
                    self.rows.push(constraint!(e <= top.clone()));
                }
                if cuts.contains('a') {
                let mut e = Expression::from(0.0);
                for h in &self.problem.holds()[i] {
                    e += (h.units / q) as f64 * (self.u[h.until] - self.u[h.from] + self.rate.clone() * (self.problem.durations()[h.until] as f64 / w));
                }
                self.rows.push(constraint!(e <= top));
                }
            }
        }
    }
    fn solve(self, objective: Expression, deadline: Instant) -> Result<Solved, EncodeError> {
        let fail = |message: String| EncodeError::Solver { engine: "HiGHS", message };
        let mut p: HighsProblem = self.variables.minimise(objective).using(highs);
        for row in self.rows { p.add_constraint(row); }
        let mut model = p.try_into_inner().map_err(|e| fail(e.to_string()))?;
        let e = |e: &dyn std::fmt::Debug| fail(format!("{e:?}"));
        model.make_quiet();
        if std::env::var("LOUD").is_ok() { model.set_option("output_flag", true); model.set_option("log_to_console", true); }
        model.try_set_option("time_limit", deadline.saturating_duration_since(Instant::now()).as_secs_f64()).map_err(|x| e(&x))?;
        model.try_set_option("threads", 1).map_err(|x| e(&x))?;
        model.try_set_option("parallel", "off").map_err(|x| e(&x))?;
        model.try_set_option("random_seed", 0).map_err(|x| e(&x))?;
        model.try_set_option("mip_rel_gap", 0.0).map_err(|x| e(&x))?;
        model.try_set_option("mip_abs_gap", 1e-9).map_err(|x| e(&x))?;
        model.try_set_option("mip_feasibility_tolerance", 1e-9).map_err(|x| e(&x))?;
        model.try_set_option("primal_feasibility_tolerance", 1e-9).map_err(|x| e(&x))?;
        let solved = model.try_solve().map_err(|x| e(&x))?;
        let status = solved.status() as isize;
        let bound = solved.double_info_value(c"mip_dual_bound").map_err(|x| e(&x))?;
        let prim = solved.int_info_value(c"primal_solution_status").map_err(|x| e(&x))?;
        let columns = solved.get_solution().columns().to_vec();
        let base = columns.len();
        let _ = base;
        let first = { let n = self.u.len(); n };
        let off = if columns.len() > first + self.k.len() && self.rate.clone().linear_coefficients().count() > 0 { 1 } else { 0 };
        let shifts = (prim == 2).then(|| (0..self.k.len()).map(|i| columns[off + first + i].round() as i64).collect());
        Ok(Solved { status, bound, columns, shifts })
    }
}
