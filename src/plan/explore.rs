//! The search over all choices that a job leaves open.
//!
//! It goes on where the bound is least. A choice begins with a bound that is there at once; if that is less than the best plan, it
//! gets the bound of one device at the best cut; if that is less too, a first look at a few cuts. What has a bound no better than
//! the best plan is dropped, and says so. Then boundaries are moved in the best plans; the least bounds are raised over all cuts,
//! and what fits no cut says so; and the best few plans are searched for longer.
//! So the bound over the whole space is the least bound of all choices, or the best plan itself.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use super::cuts::{CutSolution, Look, Partition, PlanError, optimize_cut, quick_cut};
use super::results::Results;
use super::shard::Shard;
use super::space::{Alternative, Outcome, Plan, PlanProgress};
use crate::certificate::{
    CutBoundError, fits_some_cut, lower_bound_over_cuts, quick_bound_over_cuts, share_bound_over_cuts,
};
use crate::job::{Choice, ChoiceError, Job, Layers};
use crate::model::{Device, Stage, Ticks, Units};
use crate::optimize::Options;
use crate::parallel;
use crate::stop::Stop;

/// How many choices are looked at before any is bounded: a good plan makes bounds short work.
const FIRST: usize = 16;

/// From how many plans boundaries are moved.
const NEAR: usize = 16;

/// How many plans are searched for longer.
const DEEP: usize = 4;

/// A plan that is searched for longer has this part of the usual effort.
const EFFORT: usize = 8;

/// So many dropped choices get a bound that says by how much they are worse.
const FEW: usize = 64;

/// How many choices are bounded together. No number of threads changes what is found.
const TOGETHER: usize = 8;

/// With less than this part of all time left, no closer look is begun: its bound over all cuts cannot be interrupted.
const LATE: u32 = 10;

/// Before the last search, bounds over all cuts are begun in this part of the time that is left.
const PROOFS: u32 = 4;

/// A first look may take this part of the time that is left.
const LOOK: u32 = 4;

/// No value is as long.
const NEVER: Ticks = Ticks(i64::MAX);

/// The shortest plan of all choices that could be found, and a bound over all of them.
///
/// # Errors
/// When the choices do not suit the job, or a search is defective.
pub fn plan(
    job: &Job,
    options: &Options,
    progress: &mut dyn FnMut(&PlanProgress),
) -> Result<Plan, PlanError> {
    plan_shard(job, options, None, &Results::default(), progress)
}

/// As [`plan`], for a part of the choices alone, and with results that may be known already.
///
/// A part is every so many of the choices in order of their first bounds. So whoever looks at all choices with the results of every
/// part has little left to search for, as far as no time limit has ended a search.
///
/// # Errors
/// As there, and when there is no choice in the part.
pub fn plan_shard(
    job: &Job,
    options: &Options,
    shard: Option<Shard>,
    results: &Results<'_>,
    progress: &mut dyn FnMut(&PlanProgress),
) -> Result<Plan, PlanError> {
    let choices = job.choices()?;
    let all = choices.len();
    let begun =
        PlanProgress { done: 0, choices: all, best: None, none_below: None, step: "first bounds".to_owned() };
    progress(&begun);
    let layers: Vec<(Choice, Layers)> = choices
        .into_iter()
        .map(|choice| Ok((choice, job.layers(&choice)?)))
        .collect::<Result<_, ChoiceError>>()?;
    let bounds = parallel::map(options.threads, &layers, |(_, layers)| share_bound_over_cuts(layers));
    let (mut open, mut closed) = (Vec::new(), Vec::new());
    for ((choice, layers), bound) in layers.into_iter().zip(bounds) {
        match bound {
            Ok(bound) => open.push(Open { choice, layers, bound, outcome: Outcome::NotReached }),
            Err(error) => {
                let outcome = Outcome::DoesNotFit(error);
                closed.push(Alternative { choice, none_below: None, outcome });
            }
        }
    }
    open.sort_by_key(|open| (open.bound, open.choice));
    if let Some(shard) = shard {
        (open, closed) = (shard.of(open), shard.of(closed));
        if open.is_empty() && closed.is_empty() {
            return Err(PlanError::EmptyShard { shard, choices: all });
        }
    }
    let begun = PlanProgress { choices: open.len() + closed.len(), ..begun };
    let late = options.stop.remaining() / LATE;
    let mut space = Space { open, options, results, begun, progress, late, best: None };
    space.begin()?;
    if space.best.is_none() {
        space.tell_what_fits(&space.of_outcome(|_| true));
    }
    space.look_around()?;
    space.look_closer(NEAR, 3, "cuts near the best of", false, &|one, options, _| {
        let search = || quick_cut(&one.layers, Look::Near, &options, one.bound);
        results.quick(&one.layers, Look::Near, &options, one.bound, search)
    })?;
    // Whatever time the last search takes, what is known of the other choices is proved by then.
    space.explain();
    space.raise_bound(&options.stop.within(options.stop.remaining() / PROOFS))?;
    space.look_closer(DEEP, 1, "searching", true, &|one, options, fair| {
        let options = Options { effort: options.effort / EFFORT, ..options };
        let search = |options: &Options| optimize_cut(&one.layers, &Partition::Auto, options, &mut |_| ());
        results.deep(&one.layers, &options, fair, search).map(Some)
    })?;
    space.explain();
    Ok(Plan { shard, choices: all, ..space.finish(closed)? })
}

/// A choice on its way.
struct Open {
    choice: Choice,
    layers: Layers,
    bound: Ticks,
    outcome: Outcome,
}

impl Open {
    fn value(&self) -> Option<Ticks> {
        match &self.outcome {
            Outcome::Planned { plan, .. } => Some(plan.solution.value()),
            _ => None,
        }
    }
}

/// A closer look at a choice, with these options and a fair share of the time.
type Closer<'a> = dyn Fn(&Open, Options, Duration) -> Result<Option<CutSolution>, PlanError> + 'a;

/// How well a choice is bounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Bounded {
    /// By one device at the best cut, or as far as the best plan then.
    ByDevice,
    /// By its share of the work.
    ByShare,
}

/// All choices with enough layers, in the middle of the search.
struct Space<'a> {
    open: Vec<Open>,
    options: &'a Options,
    results: &'a Results<'a>,
    begun: PlanProgress,
    progress: &'a mut dyn FnMut(&PlanProgress),
    /// With less time left, no closer look is begun.
    late: Duration,
    best: Option<Ticks>,
}

impl Space<'_> {
    fn limit(&self) -> Ticks {
        self.best.unwrap_or(NEVER)
    }

    fn tell(&mut self, done: usize, step: String) {
        let least = self.open.iter().map(|one| one.bound).min();
        let none_below = least.map(|least| least.min(self.limit()));
        (self.progress)(&PlanProgress { done, best: self.best, none_below, step, ..self.begun.clone() });
    }

    /// Takes first looks at what is promising, until there is a plan and some choices beside it have been looked at.
    fn begin(&mut self) -> Result<(), PlanError> {
        let mut order: Vec<usize> = (0..self.open.len()).collect();
        order.sort_by_cached_key(|&at| prospect(&self.open[at].layers, self.open[at].bound));
        for (done, at) in order.into_iter().enumerate() {
            let is_enough = self.best.is_some() && done >= FIRST;
            if is_enough || self.options.stop.is_due() {
                break;
            }
            self.tell(done, format!("first look at {}", self.open[at].choice));
            self.look(at, Look::First)?;
        }
        Ok(())
    }

    /// Says of these choices that no cut fits, where that is so and there is time to tell.
    fn tell_what_fits(&mut self, some: &[usize]) {
        let (open, stop) = (&self.open, &self.options.stop);
        let errors = parallel::map(self.options.threads, some, |&at| {
            if stop.is_due() { None } else { fits_some_cut(&open[at].layers).err() }
        });
        for (&at, error) in some.iter().zip(errors) {
            if let Some(error) = error {
                self.open[at].outcome = Outcome::DoesNotFit(error);
            }
        }
    }

    /// Those of the choices whose outcome is as asked for.
    fn of_outcome(&self, is_so: impl Fn(&Outcome) -> bool) -> Vec<usize> {
        (0..self.open.len()).filter(|&at| is_so(&self.open[at].outcome)).collect()
    }

    /// Bounds the choices and takes a first look, always where the bound is least, until it is no better than the best plan.
    fn look_around(&mut self) -> Result<(), PlanError> {
        let fitting = self.of_outcome(|outcome| !matches!(outcome, Outcome::DoesNotFit(_)));
        let decided = self.begun.choices - fitting.len();
        let mut queue: BinaryHeap<Reverse<(Ticks, Bounded, usize)>> =
            fitting.into_iter().map(|at| Reverse((self.open[at].bound, Bounded::ByShare, at))).collect();
        let all = queue.len();
        while let Some(&Reverse((bound, bounded, at))) = queue.peek() {
            if bound >= self.limit() || self.options.stop.is_due() {
                break;
            }
            let done = decided + all - queue.len();
            // Until there is a plan, bounds cost more than a look.
            if self.best.is_none() || bounded == Bounded::ByDevice {
                queue.pop();
                self.tell(done, format!("first look at {}", self.open[at].choice));
                self.look(at, Look::Best)?;
                continue;
            }
            self.tell(done, "bounds".to_owned());
            let mut batch = Vec::new();
            while let Some(&Reverse((bound, Bounded::ByShare, at))) = queue.peek() {
                if batch.len() == TOGETHER || bound >= self.limit() {
                    break;
                }
                queue.pop();
                batch.push(at);
            }
            for (at, bound) in self.bounds(&batch) {
                self.open[at].bound = bound;
                queue.push(Reverse((bound, Bounded::ByDevice, at)));
            }
        }
        for Reverse((bound, _, at)) in queue {
            if self.best.is_some_and(|best| bound >= best) && self.open[at].value().is_none() {
                self.open[at].outcome = Outcome::Dropped;
            }
        }
        Ok(())
    }

    /// The bounds of some choices, by one device at the best cut. What is as long as the best plan is bounded by that.
    fn bounds(&self, batch: &[usize]) -> Vec<(usize, Ticks)> {
        let (limit, open) = (self.limit(), &self.open);
        parallel::map(self.options.threads, batch, |&at| {
            let one = &open[at];
            let bound = quick_bound_over_cuts(&one.layers, limit).unwrap_or(one.bound);
            (at, bound.max(one.bound))
        })
    }

    /// A first look at a choice.
    fn look(&mut self, at: usize, look: Look) -> Result<(), PlanError> {
        let one = &mut self.open[at];
        let stop = self.options.stop.within(self.options.stop.remaining() / LOOK);
        let options = Options { stop, ..self.options.clone() };
        let search = || quick_cut(&one.layers, look, &options, one.bound);
        match self.results.quick(&one.layers, look, &options, one.bound, search)? {
            Some(found) => self.take(at, found, false),
            None if one.value().is_none() => one.outcome = Outcome::NoneFound,
            None => {}
        }
        Ok(())
    }

    /// A plan for a choice, if it is no longer than the one that is known.
    fn take(&mut self, at: usize, found: CutSolution, deep: bool) {
        let one = &mut self.open[at];
        let value = found.solution.value();
        if one.value().is_some_and(|known| known < value) {
            return;
        }
        one.bound = one.bound.max(found.no_cut_below);
        self.best = Some(self.best.map_or(value, |best| best.min(value)));
        one.outcome = Outcome::Planned { plan: Box::new(found), deep };
    }

    /// Looks closer at the best so many plans, as long as their bounds allow a better one. All together take this part of the
    /// time that is left at most.
    fn look_closer(
        &mut self,
        count: usize,
        part: u32,
        step: &str,
        deep: bool,
        look: &Closer<'_>,
    ) -> Result<(), PlanError> {
        let mut planned = self.of_outcome(|outcome| matches!(outcome, Outcome::Planned { .. }));
        planned.sort_by_key(|&at| self.open[at].value());
        planned.truncate(count);
        let until = self.options.stop.within(self.options.stop.remaining() / part);
        // What is taken from a store leaves more time to the others, but this is what each may count on.
        let fair = until.share(self.that_may_be_best(&planned)).remaining();
        for (turn, &at) in planned.iter().enumerate() {
            let is_late = until.is_due() || self.options.stop.remaining() < self.late;
            if is_late || !self.may_be_best(at) {
                continue;
            }
            self.tell(self.begun.choices, format!("{step} {}", self.open[at].choice));
            let options = Options {
                stop: until.share(self.that_may_be_best(&planned[turn..])),
                ..self.options.clone()
            };
            match look(&self.open[at], options, fair) {
                Ok(Some(found)) => self.take(at, found, deep),
                Ok(None) | Err(PlanError::NoneFound) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Whether a planned choice is the best so far, or its bound allows it to become that.
    fn may_be_best(&self, at: usize) -> bool {
        let one = &self.open[at];
        one.bound < self.limit() || one.value() == self.best
    }

    fn that_may_be_best(&self, planned: &[usize]) -> usize {
        planned.iter().filter(|&&at| self.may_be_best(at)).count()
    }

    /// Says of choices without a plan that no cut fits, where that is so; and of dropped ones, where they are few, by how much they
    /// are worse.
    fn explain(&mut self) {
        self.tell_what_fits(&self.of_outcome(|outcome| matches!(outcome, Outcome::NoneFound)));
        let is_dropped = |outcome: &Outcome| matches!(outcome, Outcome::Dropped);
        let dropped = self.of_outcome(is_dropped);
        if dropped.len() > FEW || self.options.stop.is_due() {
            return;
        }
        self.tell_what_fits(&dropped);
        let dropped = self.of_outcome(is_dropped);
        let (limit, open) = (Ticks(self.limit().0.saturating_mul(2)), &self.open);
        let bounds = parallel::map(self.options.threads, &dropped, |&at| {
            quick_bound_over_cuts(&open[at].layers, limit).unwrap_or(Ticks::ZERO)
        });
        for (at, bound) in dropped.into_iter().zip(bounds) {
            let one = &mut self.open[at];
            one.bound = one.bound.max(bound);
        }
    }

    /// Raises the bound over all choices. No bound over the cuts of a choice is begun when it is time to stop.
    fn raise_bound(&mut self, stop: &Stop) -> Result<(), PlanError> {
        let limit = self.limit();
        // Only the least bound counts, so each choice is bounded by all means when it has the least.
        let fitting = self.of_outcome(|outcome| !matches!(outcome, Outcome::DoesNotFit(_)));
        let mut queue: BinaryHeap<Reverse<(Ticks, usize)>> =
            fitting.into_iter().map(|at| Reverse((self.open[at].bound, at))).collect();
        while let Some(Reverse((bound, at))) = queue.pop() {
            if bound >= limit || stop.is_due() {
                break;
            }
            let one = &mut self.open[at];
            one.bound = one.bound.max(lower_bound_over_cuts(&one.layers, limit)?);
            if queue.peek().is_none_or(|Reverse((next, _))| one.bound <= *next) {
                break;
            }
        }
        Ok(())
    }

    /// Raises the bound over all choices, and puts the alternatives in order.
    fn finish(mut self, closed: Vec<Alternative>) -> Result<Plan, PlanError> {
        self.raise_bound(&self.options.stop)?;
        let limit = self.limit();
        let mut alternatives = Vec::new();
        for Open { choice, bound, mut outcome, .. } in self.open {
            // Later plans may have ruled it out.
            if matches!(outcome, Outcome::NotReached | Outcome::NoneFound) && bound >= limit {
                outcome = Outcome::Dropped;
            }
            if let Outcome::Planned { plan, .. } = &mut outcome {
                plan.no_cut_below = plan.no_cut_below.max(bound.min(plan.solution.value()));
            }
            let none_below = (!matches!(outcome, Outcome::DoesNotFit(_))).then_some(bound);
            alternatives.push(Alternative { choice, none_below, outcome });
        }
        alternatives.extend(closed);
        // Of plans that take equally long, the first is the one that runs everywhere: without the means to save memory. Their bounds
        // do not decide, since with more means they are lower.
        alternatives.sort_by_key(|one| {
            let value = one.value().map(|value| (value, one.choice.saving));
            (value.is_none(), value, one.none_below.is_none(), one.none_below, one.choice)
        });
        let bounds = alternatives.iter().filter_map(|one| one.none_below);
        let Some(none_below) = bounds.chain(self.best).min() else {
            return Err(least_refusal(alternatives));
        };
        let ended_by_clock = |one: &Alternative| match &one.outcome {
            Outcome::Planned { plan, .. } => plan.is_cut_short,
            _ => false,
        };
        let is_cut_short = self.options.stop.is_due() || alternatives.iter().any(ended_by_clock);
        let choices = alternatives.len();
        Ok(Plan { alternatives, none_below, shard: None, choices, is_cut_short })
    }
}

/// How promising a choice is, the least first: whether as many microbatches as there are devices fit at the even cut, and how long
/// a schedule is that only waits for the pipeline to fill and to empty. A guess, which decides nothing but where to begin.
fn prospect(layers: &Layers, bound: Ticks) -> (bool, i128) {
    let Ok(model) = layers.model(&layers.even()) else { return (true, i128::MAX) };
    let devices = i128::from(model.devices());
    let at_once = i64::from(model.microbatches().min(model.devices()));
    let held = |stage: &Stage| {
        let checkpoint = model.memory().checkpoint.as_ref().map(|held| held[stage.index()]);
        checkpoint.unwrap_or_else(|| model.activation(*stage)) * at_once
    };
    let fits = Device::all(model.devices()).all(|device| {
        let held: Units = model.placement().stages_of(device).iter().map(held).sum();
        model.activation_capacity(device).is_none_or(|capacity| held <= capacity)
    });
    let chunks = i128::from(model.stages()) / devices;
    let runs = i128::from(model.microbatches()) * chunks;
    (!fits, i128::from(bound.0) * (runs + devices - 1) / runs)
}

/// Why nothing fits: what the choice that needs the least needs.
fn least_refusal(alternatives: Vec<Alternative>) -> PlanError {
    let refusals = alternatives.into_iter().filter_map(|alternative| match alternative.outcome {
        Outcome::DoesNotFit(error) => Some(error),
        _ => None,
    });
    let need = |error: &CutBoundError| match error {
        CutBoundError::NoRoom { need, .. } => *need,
        _ => Units(i64::MAX),
    };
    refusals.min_by_key(need).map_or(PlanError::NoneFound, PlanError::NoCut)
}
