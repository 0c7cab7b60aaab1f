//! The SMT engine: a [solver](crate::smt) over the order of copies.
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

use super::Live;
use super::ranges::{Ranges, Scale, limits, next_below, refuted_limit};
use super::{
    BlockBound, BlockObjective, BlockOutcome, BlockProblem, CheckedBlock, Claim, EncodeError, Rejection,
    checked_block,
};
use crate::model::{Device, Model, Ticks, Units};
use crate::smt::{self, Language, Question, SmtError, Solver, Unknown};
use crate::stop::Stop;

/// An optimal block of one microbatch per interval of the model, in the time that there is. Three quarters of
/// it at most are spent on the objective, the rest on a shortest block.
///
/// # Errors
/// When the model cannot be encoded, there is no solver, it fails before it has found anything, or its answer
/// does not stand up to the exact check.
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
    let sooner = stop.within(stop.remaining() / 4 * 3);
    let mut search = Search { model, problem: &problem, stop: sooner, solver: Solver::find()? };
    let outcome = match objective {
        BlockObjective::LeastMemory { interval } => search.least_memory(interval)?,
        BlockObjective::LeastInterval => search.least_interval()?,
    };
    let BlockOutcome::Optimal(best) = outcome else { return Ok(outcome) };
    search.stop = stop.clone();
    let peak = match objective {
        BlockObjective::LeastMemory { .. } => Some(best.peak_max()),
        BlockObjective::LeastInterval => None,
    };
    // A longer block is as good: what goes wrong with the solver from here on is no loss.
    search.shortest(best, peak).map(BlockOutcome::Optimal)
}

/// What the solver says to one question.
enum Decision {
    /// There is a block, with these shifts.
    Yes(Vec<i64>),
    /// There is none.
    No,
    /// The time is up, or the solver does not know or failed, which is then the reason.
    Unknown(Option<EncodeError>),
}

impl Decision {
    /// What is said, unless the solver failed.
    fn of(said: Result<Self, SmtError>) -> Result<Self, EncodeError> {
        match said {
            Err(error) if error.is_failure() => Ok(Self::Unknown(Some(error.into()))),
            said => Ok(said?),
        }
    }
}

/// What is known when a question stays open: at least the bound, unless there is a reason and not even a block.
fn open(
    best: Option<CheckedBlock>,
    bound: BlockBound,
    reason: Option<EncodeError>,
) -> Result<BlockOutcome, EncodeError> {
    match reason {
        Some(reason) if best.is_none() => Err(reason),
        _ => Ok(BlockOutcome::Bounded { best, bound }),
    }
}

struct Search<'a> {
    model: &'a Model,
    problem: &'a BlockProblem,
    stop: Stop,
    solver: Solver,
}

impl Search<'_> {
    /// Searches upwards from the bound that propagation proves: in steps that double until a block is
    /// found, then between what is refuted and what is found.
    fn least_memory(&mut self, interval: Ticks) -> Result<BlockOutcome, EncodeError> {
        if interval.0 <= 0 {
            return Err(EncodeError::NotPositive(interval));
        }
        if interval.0 < self.problem.most_work() {
            return Ok(BlockOutcome::Infeasible);
        }
        let ticks = Ratio::from_integer(i128::from(interval.0));
        let scale = Scale::at(self.problem, ticks)?;
        let quantum = self.problem.quantum();
        if Ranges::of(self.problem, scale, self.problem.capacities()).is_none() {
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
                Decision::Unknown(reason) => return open(best, BlockBound::Memory(Units(least)), reason),
            }
        }
    }

    /// A limit that excludes nothing which the capacities do not exclude: the largest capacity, or, of a
    /// device without one, what it can hold. In normal form no link of the chain waits for an interval, so no
    /// more copies overlap than the chain has links and is intervals long.
    fn most_limit(&self, interval: Ticks) -> Result<i64, EncodeError> {
        let links = i128::try_from(self.problem.links().len()).unwrap_or(i128::from(i64::MAX));
        let copies = i128::from(self.problem.serial() / interval.0) + links + 2;
        let capacities =
            self.problem.capacities().iter().zip(self.problem.holds()).map(|(capacity, holds)| {
                let held = || holds.iter().map(|hold| i128::from(hold.units)).sum::<i128>();
                capacity.map_or_else(|| held().checked_mul(copies), |capacity| Some(capacity.into()))
            });
        let most = capacities.collect::<Option<Vec<_>>>().and_then(|capacities| capacities.into_iter().max());
        // Twice as much still fits: the steps towards it do.
        let fits = |most: i128| i64::try_from(most).ok().filter(|most| *most < i64::MAX / 4);
        most.and_then(fits).ok_or(EncodeError::Overflow)
    }

    /// Bisects between an interval that is refuted and the best one found, then asks for anything
    /// better than that at all.
    fn least_interval(&mut self) -> Result<BlockOutcome, EncodeError> {
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
            match self.decide(Scale::at(self.problem, trial)?, self.problem.capacities())? {
                Decision::Yes(shifts) => {
                    let found = checked_block(self.model, self.problem, &shifts, Claim::default())?;
                    if wide(found.interval) > trial {
                        return Err(Rejection::Interval { claimed: trial }.into());
                    }
                    best = Some(found);
                }
                Decision::No => (least, refuted) = (trial, true),
                Decision::Unknown(reason) => {
                    return open(best, BlockBound::Interval(narrow(least)?), reason);
                }
            }
        }
    }

    /// A shortest block of the same interval and at most the same memory, or the shortest found.
    fn shortest(&mut self, best: CheckedBlock, peak: Option<Units>) -> Result<CheckedBlock, EncodeError> {
        let interval = wide(best.interval);
        let scale = Scale::at(self.problem, interval)?;
        let limits = limits(self.problem, peak.map(|peak| peak.0));
        let Some(ranges) = Ranges::of(self.problem, scale, &limits) else {
            return Err(Rejection::Interval { claimed: interval }.into());
        };
        let query = Query::new(self.problem, scale, &ranges, &limits, (&mut self.solver, &self.stop));
        let Ok(mut query) = query else { return Ok(best) };
        let (mut least, mut best) = (ranges.length, best);
        loop {
            let length = i128::from(best.length(self.model).0);
            if length <= least {
                return Ok(best);
            }
            let trial = Integer::div_floor(&(least + length - 1), &2);
            match Decision::of(query.decide(Some(trial)))? {
                Decision::Yes(shifts) => {
                    let claim = Claim { interval: Some(interval), peak };
                    best = checked_block(self.model, self.problem, &shifts, claim)?;
                }
                Decision::No => least = trial + 1,
                Decision::Unknown(_) => return Ok(best),
            }
        }
    }

    /// Whether there is a block of this interval under these limits.
    fn decide(&mut self, scale: Scale, limits: &[Option<i64>]) -> Result<Decision, EncodeError> {
        match Ranges::of(self.problem, scale, limits) {
            None => Ok(Decision::No),
            Some(ranges) => Decision::of(self.solver.asked_twice(|solver| {
                let solver = (solver, &self.stop);
                Query::new(self.problem, scale, &ranges, limits, solver)?.decide(None)
            })),
        }
    }
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
    solver: &'a mut Solver,
    stop: &'a Stop,
    scale: Scale,
    /// By pair: its least `k`, and for each value from there to one below the most, whether `k` is at
    /// most that.
    orders: Vec<(i64, Vec<String>)>,
}

impl<'a> Query<'a> {
    fn new(
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
    fn decide(&mut self, length: Option<i128>) -> Result<Decision, SmtError> {
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
