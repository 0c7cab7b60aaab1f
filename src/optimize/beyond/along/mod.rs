//! List scheduling along orders of forwards, with all the memory that passes need: workspaces, received messages, and what an I leaves
//! for its W.
//!
//! The searches for passes alone know none of that, so what they find is over the capacities, or wastes room that
//! was set aside. Here the order of the forwards on each device is given, and rules choose among what fits: a backward as a B where an
//! I would need more room than there is; an I, or a W that makes room first, elsewhere. A forward leaves room for the backward that
//! needs the most, and a message is sent when there is a buffer for it.
//!
//! Simple rules come first; then orders and rules of the best are changed at random, with [late](crate::optimize::late) acceptance.
//!
//! A [`plan`] is what decides, and a [`run`] makes a schedule of it.

mod plan;
mod run;
#[cfg(test)]
mod tests;

use std::num::NonZeroUsize;

use crate::model::{Model, Pass, Placement};
use crate::optimize::late::Late;
use crate::parallel;
use crate::schedule::Schedule;
use crate::stop::Stop;
use plan::{Plan, Rule};
use run::{Problem, Run};

/// How hard to look for better orders and rules.
pub(super) struct Effort<'a> {
    /// How many passes may be placed.
    pub passes: usize,
    /// What needs no improvement, in ticks.
    pub enough: i64,
    pub threads: NonZeroUsize,
    pub stop: &'a Stop,
}

/// A search for better orders and rules. What it finds does not depend on the number of threads.
pub(super) struct Along {
    problem: Problem,
    placement: Placement,
    random: fastrand::Rng,
    /// The best so far, the shortest first.
    best: Vec<Found>,
}

impl Along {
    /// What simple rules give along the forwards of these orders of passes. What the orders recompute is recomputed. The model is one
    /// of passes alone, with one level of recomputation at most, and one direction.
    pub(super) fn new(
        model: &Model,
        guides: &[Vec<Vec<Pass>>],
        seed: u64,
        threads: NonZeroUsize,
        stop: &Stop,
    ) -> Self {
        let problem = Problem::new(model);
        let (first, further): (Vec<Rule>, Vec<Rule>) = Rule::all().partition(|rule| rule.is_typical());
        // Guides may differ in what is not taken from them.
        let mut plans: Vec<(usize, Plan)> = Vec::new();
        for (guide, orders) in guides.iter().enumerate() {
            let plan = Plan::new(model, orders, first[0]);
            if plans.iter().all(|(_, other)| *other != plan) {
                plans.push((guide, plan));
            }
        }
        let run = |pieces: Vec<(usize, Rule)>| -> Vec<Found> {
            let found = parallel::map(threads, &pieces, |&(at, rule)| {
                if stop.is_due() {
                    return None;
                }
                let (guide, plan) = &plans[at];
                let plan = plan.with_rule(rule);
                let end = Run::new(&problem, &plan).end(i64::MAX, stop)?;
                Some(Found { end, guide: *guide, plan })
            });
            found.into_iter().flatten().collect()
        };
        let mut found = run(itertools::iproduct!(0..plans.len(), first).collect());
        // The rest only for the guides along which these rules do best.
        found.sort_by_key(|found| (found.end, found.guide));
        let mut good: Vec<usize> = Vec::new();
        for found in &found {
            let at = plans.iter().position(|(guide, _)| *guide == found.guide);
            if let Some(at) = at.filter(|at| good.len() < MOST_GUIDES && !good.contains(at)) {
                good.push(at);
            }
        }
        found.extend(run(itertools::iproduct!(good, further).collect()));
        let best = shortest(found);
        Self { problem, placement: model.placement().clone(), random: fastrand::Rng::with_seed(seed), best }
    }

    /// Changes the best at random. Whether something shorter was found.
    pub(super) fn improve(&mut self, effort: &Effort<'_>) -> bool {
        let before = self.end();
        // Of each walk.
        let mut tries = effort.passes / self.problem.passes().max(1) / WALKS;
        while tries > 0 && self.end().is_some_and(|end| end > effort.enough) && !effort.stop.is_due() {
            let walks: Vec<(u64, &Found)> =
                (0..WALKS).map(|walk| (self.random.u64(..), &self.best[walk % self.best.len()])).collect();
            let changed = parallel::map(effort.threads, &walks, |&(seed, from)| {
                changed(&self.problem, from, TRIES.min(tries), seed, effort.stop)
            });
            tries = tries.saturating_sub(TRIES);
            // Of what takes equally long, what was found last comes first.
            let before = std::mem::take(&mut self.best);
            self.best = shortest(changed.into_iter().chain(before).collect());
        }
        self.end() < before
    }

    /// What the shortest takes if messages do not wait for links, in ticks; nothing where none can go on.
    pub(super) fn end(&self) -> Option<i64> {
        self.best.first().map(|best| best.end)
    }

    /// The shortest few, the shortest first, with the numbers of the guides whose forwards they follow, or followed at first.
    pub(super) fn schedules(&self) -> Vec<(Schedule, usize)> {
        let schedule = |found: &Found| {
            let orders = Run::new(&self.problem, &found.plan).orders()?;
            let schedule = Schedule::new(self.placement.clone(), self.problem.microbatches(), orders);
            Some((schedule.ok()?, found.guide))
        };
        self.best.iter().filter_map(schedule).collect()
    }
}

/// The best of what changed plans give.
fn changed(problem: &Problem, from: &Found, tries: usize, seed: u64, stop: &Stop) -> Found {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut late = Late::new(from.end + from.end / SLACK, MEMORY);
    let (mut now, mut best) = (from.clone(), from.clone());
    for _ in 0..tries {
        if stop.is_due() {
            break;
        }
        let mut next = now.plan.clone();
        (0..random.usize(1..=MOST_CHANGES)).for_each(|_| next.change(&mut random));
        if let Some(end) = Run::new(problem, &next).end(late.limit(now.end), stop) {
            now = Found { end, plan: next, ..now };
            if end <= best.end {
                best = now.clone();
            }
        }
        late.note(now.end);
    }
    best
}

/// What a plan gives.
#[derive(Clone)]
struct Found {
    end: i64,
    guide: usize,
    plan: Plan,
}

/// The shortest few, no two of which take equally long.
fn shortest(mut found: Vec<Found>) -> Vec<Found> {
    found.sort_by_key(|found| found.end);
    found.dedup_by_key(|found| found.end);
    found.truncate(KEPT);
    found
}

/// Along how many guides all rules are tried.
const MOST_GUIDES: usize = 4;

/// How many plans are kept.
const KEPT: usize = 4;

/// How many walks begin at once, and how many changes each of them tries.
const WALKS: usize = 4;
const TRIES: usize = 200;

/// With how many changes ago the end is compared.
const MEMORY: usize = 50;

/// What part of a schedule it may become longer at first.
const SLACK: i64 = 40;

/// How many changes are made at once at most.
const MOST_CHANGES: usize = 3;
