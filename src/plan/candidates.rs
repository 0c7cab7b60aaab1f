//! Cuts that have been looked at, each with the best schedule found for it so far.

use std::collections::BTreeMap;

use super::cuts::PlanError;
use super::seeds;
use crate::certificate::{Objective, lower_bound_within};
use crate::job::{Cut, Layers};
use crate::model::{Model, Ticks};
use crate::optimize::{OptimizeError, Options, Solution, named_solution, optimize};
use crate::parallel;
use crate::replay::replay;

/// How a schedule is found for a cut that is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quick {
    /// The best of those that have a name.
    Named,
    /// By a search with little effort.
    Searched,
}

/// What a quick look at a cut ends with.
enum Seen {
    /// It fits no schedule.
    Nothing,
    /// No schedule of it is shorter than the best that is known.
    RuledOut,
    /// A schedule.
    Scheduled(Box<(Model, Solution)>),
}

/// A cut with its model and a schedule.
pub(super) struct Candidate {
    pub cut: Cut,
    pub model: Model,
    pub solution: Solution,
}

/// All cuts that have been looked at.
pub(super) struct Candidates<'a> {
    layers: &'a Layers,
    options: &'a Options,
    /// By cut: what no schedule of it is shorter than; and the best schedule, if one was looked for.
    known: BTreeMap<Cut, Option<Candidate>>,
    /// Whether the clock has ended a search.
    is_cut_short: bool,
}

impl<'a> Candidates<'a> {
    pub(super) const fn new(layers: &'a Layers, options: &'a Options) -> Self {
        Self { layers, options, known: BTreeMap::new(), is_cut_short: false }
    }

    /// Whether some search was told to stop before it ended by itself: then another time might find something else.
    pub(super) const fn is_cut_short(&self) -> bool {
        self.is_cut_short
    }

    pub(super) fn has(&self, cut: &Cut) -> bool {
        self.known.contains_key(cut)
    }

    /// The best so far, the most even cut of equals.
    pub(super) fn best(&self) -> Option<&Candidate> {
        let rank = |candidate: &&Candidate| {
            (candidate.solution.value(), seeds::unevenness(self.layers, candidate.cut.layers()))
        };
        self.known.values().flatten().min_by_key(rank)
    }

    pub(super) fn best_value(&self) -> Option<Ticks> {
        self.known.values().flatten().map(|candidate| candidate.solution.value()).min()
    }

    /// The cuts with the shortest schedules, the best first.
    pub(super) fn first(&self, count: usize) -> Vec<Cut> {
        let mut all: Vec<&Candidate> = self.known.values().flatten().collect();
        all.sort_by_key(|candidate| candidate.solution.value());
        all.into_iter().take(count).map(|candidate| candidate.cut.clone()).collect()
    }

    /// Takes a quick look at new cuts, at several at a time, and says whether the best has become better.
    ///
    /// # Errors
    /// When a search is defective.
    pub(super) fn look(&mut self, cuts: &[Cut], how: Quick) -> Result<bool, PlanError> {
        let before = self.best_value();
        let new: Vec<Cut> = cuts.iter().filter(|cut| !self.has(cut)).cloned().collect();
        let (layers, options) = (self.layers, self.options);
        let quick = Options { threads: std::num::NonZeroUsize::MIN, ..quick(options) };
        let seen = parallel::map(options.threads, &new, |cut| seen(layers, cut, how, &quick, before));
        for (cut, seen) in new.into_iter().zip(seen) {
            let candidate = match seen? {
                Seen::Nothing | Seen::RuledOut => None,
                Seen::Scheduled(found) => {
                    let (model, solution) = *found;
                    self.is_cut_short |= solution.is_cut_short;
                    Some(Candidate { cut: cut.clone(), model, solution })
                }
            };
            self.known.insert(cut, candidate);
        }
        Ok(self.best_value() < before || before.is_none() && self.best().is_some())
    }

    /// Searches on for a cut that has a schedule, with these options and from that schedule, and gives what it has then.
    ///
    /// # Errors
    /// When a search is defective.
    pub(super) fn search(&mut self, cut: &Cut, options: &Options) -> Result<Option<&Candidate>, PlanError> {
        let known = self.known.remove(cut).flatten();
        let (model, mut schedules) = match &known {
            Some(candidate) => (candidate.model.clone(), vec![candidate.solution.schedule.clone()]),
            None => match self.layers.model(cut) {
                Ok(model) => (model, Vec::new()),
                Err(_) => return Ok(None),
            },
        };
        schedules.extend(options.known.iter().cloned());
        let options = Options { known: schedules, ..options.clone() };
        let found = match optimize(&model, &options, &mut |_| ()) {
            Ok(solution) => {
                self.is_cut_short |= solution.is_cut_short;
                let better = known.as_ref().is_none_or(|known| better(&solution, &known.solution));
                if better { Some(Candidate { cut: cut.clone(), model, solution }) } else { known }
            }
            Err(OptimizeError::Infeasible(_) | OptimizeError::NoneFound(_)) => known,
            Err(error) => return Err(error.into()),
        };
        Ok(self.known.entry(cut.clone()).or_insert(found).as_ref())
    }

    /// Goes from the best cut to a more even one at which its schedule takes no longer, if there is one.
    ///
    /// # Errors
    /// When a search is defective.
    pub(super) fn even_out(&mut self) -> Result<bool, PlanError> {
        let Some(best) = self.best() else { return Ok(false) };
        let (schedule, value) = (best.solution.schedule.clone(), best.solution.value());
        let as_short = |cut: &Cut| {
            let Ok(model) = self.layers.model(cut) else { return false };
            let verdict = replay(&model, &schedule);
            verdict.is_valid() && verdict.timing.is_some_and(|timing| timing.metrics.makespan <= value)
        };
        let Some(cut) = seeds::more_even(&best.cut, self.layers).into_iter().find(as_short) else {
            return Ok(false);
        };
        let options = Options { known: vec![schedule], ..quick(self.options) };
        Ok(self.search(&cut, &options)?.is_some())
    }

    /// Takes the best out.
    pub(super) fn into_best(mut self) -> Option<Candidate> {
        let cut = self.best()?.cut.clone();
        self.known.remove(&cut).flatten()
    }
}

/// Whether a solution is shorter, or no longer and better proved.
fn better(one: &Solution, other: &Solution) -> bool {
    (one.value(), -one.lower_bound().0) <= (other.value(), -other.lower_bound().0)
}

/// Options for a quick look.
fn quick(options: &Options) -> Options {
    Options { effort: 0, exact_effort: 0, use_all_time: false, known: Vec::new(), ..options.clone() }
}

fn seen(
    layers: &Layers,
    cut: &Cut,
    how: Quick,
    quick: &Options,
    best: Option<Ticks>,
) -> Result<Seen, PlanError> {
    let Ok(model) = layers.model(cut) else { return Ok(Seen::Nothing) };
    let bound = lower_bound_within(&model, Objective::Makespan, 0).value;
    if best.is_some_and(|best| bound >= best) {
        return Ok(Seen::RuledOut);
    }
    if how == Quick::Named {
        let named = named_solution(&model, Objective::Makespan, &quick.stop);
        return Ok(named.map_or(Seen::Nothing, |named| Seen::Scheduled(Box::new((model, named)))));
    }
    match optimize(&model, quick, &mut |_| ()) {
        Ok(solution) => Ok(Seen::Scheduled(Box::new((model, solution)))),
        Err(OptimizeError::Infeasible(_) | OptimizeError::NoneFound(_)) => Ok(Seen::Nothing),
        Err(error) => Err(error.into()),
    }
}
