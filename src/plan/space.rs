//! The best of all choices that a job leaves open.
//!
//! Each choice is bounded from below over all cuts. The choices whose bound is least are looked at first; what has a bound no
//! better than the best plan is dropped, and says so. Then the best few are searched for longer. So the bound over the whole
//! space is the least bound of all choices, or the best plan itself.

use super::cuts::{CutSolution, Partition, PlanError, optimize_cut, quick_cut};
use super::results::Results;
use super::shard::Shard;
use crate::certificate::{CutBoundError, JobStatement, lower_bound_over_cuts, quick_bound_over_cuts};
use crate::job::{Choice, ChoiceError, Job, Layers};
use crate::model::{Ticks, Units};
use crate::optimize::Options;
use crate::parallel;
use crate::schedule::Schedule;

/// What has become of a choice.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Outcome {
    /// No cut fits.
    DoesNotFit(CutBoundError),
    /// Its bound is no better than the best plan.
    Dropped,
    /// It may be better, but the search was told to stop before.
    NotReached,
    /// Its bound would allow a better plan, but no schedule was found within the memory.
    NoneFound,
    /// A plan. It was searched for longer if it is `deep`.
    Planned {
        /// The plan.
        plan: Box<CutSolution>,
        /// Whether it had more than a quick look.
        deep: bool,
    },
}

/// A choice, what is known of all its cuts, and what has become of it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Alternative {
    /// The choice.
    pub choice: Choice,
    /// No cut and no schedule with this choice is shorter; or no shorter than the best plan, where that was enough to drop it.
    /// Nothing where no cut fits.
    pub none_below: Option<Ticks>,
    /// What has become of it.
    pub outcome: Outcome,
}

impl Alternative {
    /// The makespan of its plan, if there is one.
    #[must_use]
    pub fn value(&self) -> Option<Ticks> {
        match &self.outcome {
            Outcome::Planned { plan, .. } => Some(plan.solution.value()),
            _ => None,
        }
    }
}

/// The best plan of a job, and all that it was compared with.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Plan {
    /// Every choice: plans first, the shortest at the front, then the others by their bounds.
    pub alternatives: Vec<Alternative>,
    /// No plan of the job is shorter, whatever its choice, cut and schedule; of a [part](Plan::shard), no plan of that part.
    pub none_below: Ticks,
    /// The part of the choices that was looked at, where that is not all.
    pub shard: Option<Shard>,
    /// How many choices the job leaves open, in all parts.
    pub choices: usize,
    /// Whether the search was told to stop before it ended by itself.
    pub is_cut_short: bool,
}

impl Plan {
    /// The best plan with its choice; nothing where no plan was found.
    #[must_use]
    pub fn best(&self) -> Option<(&Choice, &CutSolution)> {
        self.alternatives.iter().find_map(|alternative| match &alternative.outcome {
            Outcome::Planned { plan, .. } => Some((&alternative.choice, &**plan)),
            _ => None,
        })
    }

    /// The schedule of the best plan with a certificate of what is claimed over all plans of the job with this text; of a part
    /// only of what is claimed over all cuts.
    #[must_use]
    pub fn certified(&self, text: &str) -> Option<Schedule> {
        let (choice, plan) = self.best()?;
        // Of a part nothing follows for the whole.
        let none_below = self.shard.is_none().then_some(self.none_below);
        Some(plan.certified(text, choice, none_below))
    }
}

impl CutSolution {
    /// The schedule with a certificate of what is claimed over all cuts; and over all plans of the job with this text, if that is
    /// known.
    #[must_use]
    pub fn certified(&self, text: &str, choice: &Choice, no_plan_below: Option<Ticks>) -> Schedule {
        use crate::certificate::{Certificate, Objective};
        let job = JobStatement {
            job: text.to_owned(),
            choice: *choice,
            cut: self.cut.clone(),
            no_cut_below: self.no_cut_below,
            searched: self.searched,
            no_plan_below,
        };
        let solution = &self.solution;
        let mut schedule = solution.schedule.clone();
        let certificate = Certificate::of(
            &self.model,
            &schedule,
            &solution.verdict,
            Objective::Makespan,
            &solution.bound,
            solution.optimality.clone(),
        );
        schedule.certificate = certificate.map(|certificate| certificate.with_job(job).to_json());
        schedule
    }
}

/// How far a search over choices has got.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlanProgress {
    /// How many choices are decided.
    pub done: usize,
    /// How many there are.
    pub choices: usize,
    /// The shortest plan so far.
    pub best: Option<Ticks>,
    /// No plan is shorter, as far as is known.
    pub none_below: Option<Ticks>,
    /// What is being tried.
    pub step: String,
}

/// How many plans are searched for longer.
const DEEP: usize = 4;

/// A choice on its way.
struct Open {
    choice: Choice,
    layers: Layers,
    bound: Ticks,
    outcome: Outcome,
}

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
/// A part is every so many of the choices in order of their bounds. So whoever looks at all choices with the results of every
/// part has nothing left to search for, as far as no time limit has ended a search.
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
        PlanProgress { done: 0, choices: all, best: None, none_below: None, step: "bounds".to_owned() };
    progress(&begun);
    let layers: Vec<(Choice, Layers)> = choices
        .into_iter()
        .map(|choice| Ok((choice, job.layers(&choice)?)))
        .collect::<Result<_, ChoiceError>>()?;
    let bounds =
        parallel::map(options.threads, &layers, |(_, layers)| quick_bound_over_cuts(layers, Ticks(i64::MAX)));
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
    let count = open.len() + closed.len();
    let begun = PlanProgress { choices: count, ..begun };
    let mut best: Option<Ticks> = None;
    for at in 0..open.len() {
        let least = open[at..].iter().map(|open| open.bound).min().min(best.or(Some(Ticks(i64::MAX))));
        if options.stop.is_due() {
            break;
        }
        let (done, step) = (closed.len() + at, "quick plans".to_owned());
        progress(&PlanProgress { done, best, none_below: least, step, ..begun.clone() });
        let one = &mut open[at];
        if best.is_some_and(|best| one.bound >= best) {
            one.outcome = Outcome::Dropped;
            continue;
        }
        let look = || quick_cut(&one.layers, options, one.bound);
        match results.quick(&one.layers, options, one.bound, look) {
            Ok(Some(found)) => {
                best = Some(best.map_or(found.solution.value(), |best| best.min(found.solution.value())));
                one.outcome = Outcome::Planned { plan: Box::new(found), deep: false };
            }
            Ok(None) => one.outcome = Outcome::NoneFound,
            Err(error) => return Err(error),
        }
    }
    deepen(&mut open, options, count, results, progress)?;
    let plan = finish(open, closed, options)?;
    Ok(Plan { shard, choices: all, ..plan })
}

/// Searches longer for the best few plans.
fn deepen(
    open: &mut [Open],
    options: &Options,
    count: usize,
    results: &Results<'_>,
    progress: &mut dyn FnMut(&PlanProgress),
) -> Result<(), PlanError> {
    let mut planned: Vec<usize> =
        (0..open.len()).filter(|&at| matches!(open[at].outcome, Outcome::Planned { .. })).collect();
    let value = |one: &Open| match &one.outcome {
        Outcome::Planned { plan, .. } => plan.solution.value(),
        _ => Ticks(i64::MAX),
    };
    planned.sort_by_key(|&at| value(&open[at]));
    planned.truncate(DEEP);
    // What is taken from a store leaves more time to the others, but this is what each may count on.
    let fair = options.stop.share(planned.len()).remaining();
    for (turn, &at) in planned.iter().enumerate() {
        let best = open.iter().map(value).min();
        if options.stop.is_due() || best.is_some_and(|best| open[at].bound >= best && value(&open[at]) > best)
        {
            continue;
        }
        progress(&PlanProgress {
            done: count,
            choices: count,
            best,
            none_below: open.iter().map(|one| one.bound).min(),
            step: format!("searching {}", open[at].choice),
        });
        let turns = u32::try_from(planned.len() - turn).unwrap_or(1);
        let stop = options.stop.within(options.stop.remaining() / turns);
        let layers = &open[at].layers;
        let options = Options { stop, effort: options.effort / EFFORT, ..options.clone() };
        let found = results.deep(layers, &options, fair, |options| {
            optimize_cut(layers, &Partition::Auto, options, &mut |_| ())
        });
        match found {
            Ok(found) if found.solution.value() <= value(&open[at]) => {
                open[at].bound = open[at].bound.max(found.no_cut_below);
                open[at].outcome = Outcome::Planned { plan: Box::new(found), deep: true };
            }
            Ok(_) | Err(PlanError::NoneFound) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// A plan has this part of the usual effort.
const EFFORT: usize = 4;

/// Puts the alternatives in order, with the bound over all.
fn finish(open: Vec<Open>, closed: Vec<Alternative>, options: &Options) -> Result<Plan, PlanError> {
    let planned = |one: &Open| match &one.outcome {
        Outcome::Planned { plan, .. } => Some(plan.solution.value()),
        _ => None,
    };
    let best = open.iter().filter_map(planned).min();
    let mut alternatives = Vec::new();
    let limit = best.unwrap_or(Ticks(i64::MAX));
    for mut one in open {
        if one.bound < limit {
            one.bound = lower_bound_over_cuts(&one.layers, limit)?;
        }
        // Later plans may have ruled it out.
        if matches!(one.outcome, Outcome::NotReached | Outcome::NoneFound) && one.bound >= limit {
            one.outcome = Outcome::Dropped;
        }
        if let Outcome::Planned { plan, .. } = &mut one.outcome {
            plan.no_cut_below = plan.no_cut_below.max(one.bound.min(plan.solution.value()));
        }
        let Open { choice, bound, outcome, .. } = one;
        alternatives.push(Alternative { choice, none_below: Some(bound), outcome });
    }
    alternatives.sort_by_key(|one| (one.value().is_none(), one.value(), one.none_below, one.choice));
    alternatives.extend(closed);
    let bounds = alternatives.iter().filter_map(|one| one.none_below);
    let Some(none_below) = bounds.chain(best).min() else {
        return Err(least_refusal(alternatives));
    };
    let ended_by_clock = |one: &Alternative| match &one.outcome {
        Outcome::Planned { plan, .. } => plan.is_cut_short,
        _ => false,
    };
    let is_cut_short = options.stop.is_due() || alternatives.iter().any(ended_by_clock);
    let choices = alternatives.len();
    Ok(Plan { alternatives, none_below, shard: None, choices, is_cut_short })
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
