//! The SMT engine: Z3 over the order of copies.
//!
//! With T fixed, `k_ab <= v` says that copy `v` of `b` starts after `a` of copy 0 has ended, and its
//! negation that it has ended before `a` starts. With one Boolean for each such statement a block is
//! a problem in difference logic,
//! ```text
//!      [k_ab <= v]  =>  o_b - o_a >= t_a - v*T
//!  not [k_ab <= v]  =>  o_a - o_b >= t_b + v*T
//! ```
//! and memory a pseudo-Boolean sum. Propagation beforehand leaves few values of each `k`, so few Booleans.
//!
//! Only questions with a fixed T are asked: a block that exists for T exists for every larger one
//! (divide by T: `u_b - u_a >= w*r - k` is the easier the smaller r), and a block that is found is at
//! once replaced by the least interval of its `k`, exactly. Every bound is a proof of
//! unsatisfiability.

use num_integer::Integer;
use num_rational::Ratio;
use z3::ast::{Bool, Int};
use z3::{Params, SatResult, Solver};

use super::Live;
use super::ranges::{Ranges, Scale, limits, refuted_limit};
use super::{
    BlockBound, BlockObjective, BlockOutcome, BlockProblem, CheckedBlock, Claim, EncodeError, Rejection,
    checked_block,
};
use crate::model::{Device, Model, Ticks, Units};
use crate::stop::Stop;

/// An optimal block of one microbatch per interval of the model, in the time that there is. Three quarters of
/// it at most are spent on the objective, the rest on a shortest block.
///
/// # Errors
/// When the model cannot be encoded, Z3 fails, or its answer does not stand up to the exact check.
pub fn solve(model: &Model, objective: BlockObjective, stop: &Stop) -> Result<BlockOutcome, EncodeError> {
    solve_periodic(model, 1, objective, stop)
}

/// The same over blocks of `period` microbatches per interval, which can have a shorter interval per
/// microbatch or need less memory than blocks of one.
///
/// # Errors
/// As [`solve`]; also when there is no microbatch or there are too many.
pub fn solve_periodic(
    model: &Model,
    period: u32,
    objective: BlockObjective,
    stop: &Stop,
) -> Result<BlockOutcome, EncodeError> {
    let problem = BlockProblem::periodic(model, period)?;
    let search = Search { model, problem: &problem, stop: stop.within(stop.remaining() / 4 * 3) };
    let outcome = match objective {
        BlockObjective::LeastMemory { interval } => search.least_memory(interval)?,
        BlockObjective::LeastInterval => search.least_interval()?,
    };
    let BlockOutcome::Optimal(best) = outcome else { return Ok(outcome) };
    let search = Search { stop: stop.clone(), ..search };
    let peak = match objective {
        BlockObjective::LeastMemory { .. } => Some(best.peak_max()),
        BlockObjective::LeastInterval => None,
    };
    search.shortest(best, peak).map(BlockOutcome::Optimal)
}

/// What Z3 says to one question.
enum Decision {
    /// There is a block, with these shifts.
    Yes(Vec<i64>),
    /// There is none.
    No,
    /// The time is up.
    Unknown,
}

struct Search<'a> {
    model: &'a Model,
    problem: &'a BlockProblem,
    stop: Stop,
}

impl Search<'_> {
    /// Searches upwards from the bound that propagation proves: in steps that double until a block is
    /// found, then between what is refuted and what is found.
    fn least_memory(&self, interval: Ticks) -> Result<BlockOutcome, EncodeError> {
        if interval.0 <= 0 {
            return Err(EncodeError::NotPositive(interval));
        }
        if interval.0 < self.problem.most_work() {
            return Ok(BlockOutcome::Infeasible);
        }
        let ticks = Ratio::from_integer(i128::from(interval.0));
        let scale = Scale::at(self.problem, ticks)?;
        let quantum = self.problem.quantum();
        if Ranges::of(self.problem, scale, self.problem.caps()).is_none() {
            return Ok(BlockOutcome::Infeasible);
        }
        let mut least = refuted_limit(self.problem, scale)? + quantum;
        let most = Some(self.most_limit(interval)?);
        let mut best: Option<CheckedBlock> = None;
        let mut step = 0;
        loop {
            let ceiling = best.as_ref().map(|answer| answer.peak_max().0 - quantum).or(most);
            if best.is_some() && ceiling.is_some_and(|ceiling| ceiling < least) {
                return Ok(best.map_or(BlockOutcome::Infeasible, BlockOutcome::Optimal));
            }
            let trial = match (&best, ceiling) {
                (Some(_), Some(ceiling)) => least + (ceiling - least) / 2 / quantum * quantum,
                (_, ceiling) => ceiling.map_or(least + step, |ceiling| ceiling.min(least + step)),
            };
            let limits = limits(self.problem, Some(trial));
            match self.decide(scale, &limits)? {
                Decision::Yes(shifts) => {
                    let claim = Claim { interval: Some(ticks), peak: Some(Units(trial)) };
                    best = Some(checked_block(self.model, self.problem, &shifts, claim)?);
                }
                Decision::No if best.is_none() && most.is_some_and(|most| trial >= most) => {
                    return Ok(BlockOutcome::Infeasible);
                }
                Decision::No => {
                    least = (trial / quantum + 1) * quantum;
                    // A block once found, there is nothing to climb to.
                    if best.is_none() {
                        step = (step * 2).max(quantum);
                    }
                }
                Decision::Unknown => {
                    return Ok(BlockOutcome::Bounded { best, bound: BlockBound::Memory(Units(least)) });
                }
            }
        }
    }

    /// A limit that excludes nothing which the caps do not exclude: the largest cap, or, of a device
    /// without one, what it can hold. In normal form no link of the chain waits for an interval, so no
    /// more copies overlap than the chain has links and is intervals long.
    fn most_limit(&self, interval: Ticks) -> Result<i64, EncodeError> {
        let links = i128::try_from(self.problem.links().len()).unwrap_or(i128::from(i64::MAX));
        let copies = i128::from(self.problem.serial() / interval.0) + links + 2;
        let caps = self.problem.caps().iter().zip(self.problem.holds()).map(|(cap, holds)| {
            let held = || holds.iter().map(|hold| i128::from(hold.units)).sum::<i128>();
            cap.map_or_else(|| held().checked_mul(copies), |cap| Some(cap.into()))
        });
        let most = caps.collect::<Option<Vec<_>>>().and_then(|caps| caps.into_iter().max());
        // Twice as much still fits: the steps towards it do.
        let fits = |most: i128| i64::try_from(most).ok().filter(|most| *most < i64::MAX / 4);
        most.and_then(fits).ok_or(EncodeError::Overflow)
    }

    /// Bisects between an interval that is refuted and the best one found, then asks for anything
    /// better than that at all.
    fn least_interval(&self) -> Result<BlockOutcome, EncodeError> {
        if self.problem.overfull().is_some() {
            return Ok(BlockOutcome::Infeasible);
        }
        let most_work = Ratio::from_integer(i128::from(self.problem.most_work()));
        let serial = Ratio::from_integer(i128::from(self.problem.serial()));
        // The interval is refuted below `least`, and at `least` once `refuted` is set.
        let (mut least, mut refuted) = (most_work, false);
        let mut best: Option<CheckedBlock> = None;
        loop {
            let trial = match &best {
                None if !refuted => most_work,
                None => serial,
                Some(answer) => {
                    let found = wide(answer.interval);
                    let below = next_below(self.problem, found)?;
                    if found == least || (refuted && below <= least) {
                        return Ok(best.map_or(BlockOutcome::Infeasible, BlockOutcome::Optimal));
                    }
                    let middle = ((least + found) / 2).floor();
                    if middle > least && middle < below { middle } else { below }
                }
            };
            match self.decide(Scale::at(self.problem, trial)?, self.problem.caps())? {
                Decision::Yes(shifts) => {
                    let found = checked_block(self.model, self.problem, &shifts, Claim::default())?;
                    if wide(found.interval) > trial {
                        return Err(Rejection::Interval { claimed: trial }.into());
                    }
                    best = Some(found);
                }
                Decision::No => (least, refuted) = (trial, true),
                Decision::Unknown => {
                    let bound = BlockBound::Interval(narrow(least)?);
                    return Ok(BlockOutcome::Bounded { best, bound });
                }
            }
        }
    }

    /// A shortest block of the same interval and at most the same memory, or the shortest found.
    fn shortest(&self, best: CheckedBlock, peak: Option<Units>) -> Result<CheckedBlock, EncodeError> {
        let interval = wide(best.interval);
        let scale = Scale::at(self.problem, interval)?;
        let limits = limits(self.problem, peak.map(|peak| peak.0));
        let Some(ranges) = Ranges::of(self.problem, scale, &limits) else {
            return Err(Rejection::Interval { claimed: interval }.into());
        };
        let query = Query::new(self.problem, scale, &ranges, &limits);
        let (mut least, mut best) = (ranges.length, best);
        loop {
            let length = i128::from(best.length(self.model).0);
            if length <= least {
                return Ok(best);
            }
            let trial = Integer::div_floor(&(least + length - 1), &2);
            match query.decide(Some(trial), &self.stop)? {
                Decision::Yes(shifts) => {
                    let claim = Claim { interval: Some(interval), peak };
                    best = checked_block(self.model, self.problem, &shifts, claim)?;
                }
                Decision::No => least = trial + 1,
                Decision::Unknown => return Ok(best),
            }
        }
    }

    /// Whether there is a block of this interval under these limits.
    fn decide(&self, scale: Scale, limits: &[Option<i64>]) -> Result<Decision, EncodeError> {
        match Ranges::of(self.problem, scale, limits) {
            None => Ok(Decision::No),
            Some(ranges) => Query::new(self.problem, scale, &ranges, limits).decide(None, &self.stop),
        }
    }
}

/// An interval below which lies every least interval of a block that is shorter than `interval`.
///
/// A least interval is a ratio `w/h` of a cycle, where w is at most the sum of all durations and
/// latencies and `w/h` at least the most work, so h is at most their quotient. Two different
/// fractions lie at least one over the product of their denominators apart.
fn next_below(problem: &BlockProblem, interval: Ratio<i128>) -> Result<Ratio<i128>, EncodeError> {
    let mut waits: Vec<i64> = problem.durations().to_vec();
    for link in problem.links() {
        waits[link.before] = waits[link.before].max(link.lag);
    }
    let weight: i128 = waits.into_iter().map(i128::from).sum();
    let denominator = weight / i128::from(problem.most_work());
    let apart = interval.denom().checked_mul(denominator.max(1)).ok_or(EncodeError::Overflow)?;
    Ok(interval - Ratio::new(1, apart))
}

fn wide(interval: Ratio<i64>) -> Ratio<i128> {
    Ratio::new((*interval.numer()).into(), (*interval.denom()).into())
}

fn narrow(interval: Ratio<i128>) -> Result<Ratio<i64>, EncodeError> {
    let part = |number: &i128| i64::try_from(*number).map_err(|_| EncodeError::Overflow);
    Ok(Ratio::new(part(interval.numer())?, part(interval.denom())?))
}

/// A block of a given interval under given limits, as assertions in a solver.
struct Query<'a> {
    problem: &'a BlockProblem,
    solver: Solver,
    offsets: Vec<Int>,
    scale: Scale,
    /// By pair: its least `k`, and for each value from there to one below the most, whether `k` is at
    /// most that.
    orders: Vec<(i64, Vec<Bool>)>,
}

impl<'a> Query<'a> {
    fn new(problem: &'a BlockProblem, scale: Scale, ranges: &Ranges, limits: &[Option<i64>]) -> Self {
        let memory: Vec<(Live, i128)> = limits
            .iter()
            .enumerate()
            .filter_map(|(position, limit)| Some((Device::at(position), i128::from((*limit)?))))
            .flat_map(|(device, limit)| problem.live(device).into_iter().map(move |live| (live, limit)))
            .collect();
        // The sums of amounts beyond 32 bits are arithmetic, and no longer a matter of differences.
        let copies = |live: &Live| -> i128 {
            let spread = |&(pair, coefficient): &(usize, i128)| {
                let (least, most) = ranges.shifts[pair];
                coefficient.abs() * i128::from(most - least)
            };
            live.terms.iter().map(spread).sum::<i128>() / i128::from(problem.quantum())
        };
        let small = memory.iter().all(|(live, _)| copies(live) <= i128::from(i32::MAX));
        let solver = Solver::new_for_logic(if small { "QF_IDL" } else { "QF_LIA" }).unwrap_or_default();
        let offsets = (0..problem.passes().len()).map(|pass| Int::new_const(format!("o{pass}"))).collect();
        let mut query = Self { problem, solver, offsets, scale, orders: Vec::new() };
        query.assert_links();
        for pair in 0..problem.pairs().len() {
            query.assert_order(pair, ranges.shifts[pair]);
        }
        for (live, limit) in memory {
            query.assert_memory(&live, limit);
        }
        query
    }

    /// `o_after - o_before >= parts`.
    fn wait(&self, before: usize, after: usize, parts: i128) -> Bool {
        (&self.offsets[after] - &self.offsets[before]).ge(Int::from_i128(parts))
    }

    fn assert_links(&self) {
        self.solver.assert(self.offsets[0].eq(Int::from_i64(0)));
        for link in self.problem.links() {
            self.solver.assert(self.wait(link.before, link.after, self.scale.least(link.lag)));
        }
    }

    /// The order of the copies of two passes.
    fn assert_order(&mut self, pair: usize, (least, most): (i64, i64)) {
        let (a, b) = self.problem.pairs()[pair];
        let durations = self.problem.durations();
        let turns = |k: i64| i128::from(k) * self.scale.interval;
        let after = |k: i64| self.wait(a, b, self.scale.least(durations[a]) - turns(k));
        let before = |k: i64| self.wait(b, a, self.scale.least(durations[b]) + turns(k));
        self.solver.assert(after(most));
        self.solver.assert(before(least - 1));
        let orders: Vec<Bool> = (least..most).map(|k| Bool::new_const(format!("k{a}_{b}_{k}"))).collect();
        for (order, k) in orders.iter().zip(least..most) {
            self.solver.assert(order.implies(after(k)));
            self.solver.assert((!order).implies(before(k)));
        }
        for ends in orders.windows(2) {
            self.solver.assert(ends[0].implies(&ends[1]));
        }
        self.orders.push((least, orders));
    }

    /// What is live at the start of an F is at most the limit.
    fn assert_memory(&self, live: &Live, limit: i128) {
        // k = most - (how many of its statements hold)
        let mut room = limit - live.constant;
        let mut terms: Vec<(Bool, i128)> = Vec::new();
        for &(pair, coefficient) in &live.terms {
            let (least, orders) = &self.orders[pair];
            let most = i128::from(*least) + orders.iter().map(|_| 1).sum::<i128>();
            room -= coefficient * most;
            for order in orders {
                if coefficient > 0 {
                    room += coefficient;
                    terms.push((!order, coefficient));
                } else {
                    terms.push((order.clone(), -coefficient));
                }
            }
        }
        let quantum = i128::from(self.problem.quantum());
        let room = Integer::div_floor(&room, &quantum);
        if room >= terms.iter().map(|(_, units)| units / quantum).sum() {
            return;
        }
        let small = |units: i128| i32::try_from(units / quantum).ok();
        let weights: Option<Vec<(&Bool, i32)>> =
            terms.iter().map(|(order, units)| Some((order, small(*units)?))).collect();
        let fits = if let (Some(weights), Ok(room)) = (weights, i32::try_from(room)) {
            Bool::pb_le(&weights, room)
        } else {
            let nothing = Int::from_i64(0);
            let part = |(order, units): &(Bool, i128)| order.ite(&Int::from_i128(units / quantum), &nothing);
            Int::add(&terms.iter().map(part).collect::<Vec<_>>()).le(Int::from_i128(room))
        };
        self.solver.assert(fits);
    }

    /// Asks, with a limit on the length of the block in parts.
    fn decide(&self, length: Option<i128>, stop: &Stop) -> Result<Decision, EncodeError> {
        let left = stop.remaining();
        if left.is_zero() {
            return Ok(Decision::Unknown);
        }
        let mut params = Params::new();
        params.set_u32("timeout", u32::try_from(left.as_millis()).unwrap_or(u32::MAX).max(1));
        params.set_u32("random_seed", 0);
        self.solver.set_params(&params);
        self.solver.push();
        if let Some(length) = length {
            for (pass, &ticks) in self.problem.durations().iter().enumerate() {
                self.solver.assert(self.wait(pass, 0, self.scale.least(ticks) - length));
            }
        }
        let decision = match self.solver.check() {
            SatResult::Sat => self.shifts().map(Decision::Yes),
            SatResult::Unsat => Ok(Decision::No),
            SatResult::Unknown => self.unknown(),
        };
        self.solver.pop(1);
        decision
    }

    /// Why Z3 does not know: the time is up, or else it has failed.
    fn unknown(&self) -> Result<Decision, EncodeError> {
        let message = self.solver.get_reason_unknown().unwrap_or_default();
        if ["timeout", "canceled"].contains(&message.as_str()) {
            Ok(Decision::Unknown)
        } else {
            Err(EncodeError::Solver { engine: "Z3", message })
        }
    }

    /// The shifts of the model that Z3 has found.
    fn shifts(&self) -> Result<Vec<i64>, EncodeError> {
        let silent = || EncodeError::Solver { engine: "Z3", message: "no model".to_owned() };
        let model = self.solver.get_model().ok_or_else(silent)?;
        let holds = |order: &&Bool| model.eval(*order, true).and_then(|value| value.as_bool()) == Some(true);
        let shift = |(least, orders): &(i64, Vec<Bool>)| {
            least + orders.iter().map(|order| i64::from(!holds(&order))).sum::<i64>()
        };
        Ok(self.orders.iter().map(shift).collect())
    }
}
