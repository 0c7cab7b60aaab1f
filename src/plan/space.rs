//! What is known of the choices that a job leaves open: the plans, and what else has become of them.

use super::cuts::CutSolution;
use super::shard::Shard;
use crate::certificate::{CutBoundError, JobStatement};
use crate::job::Choice;
use crate::model::Ticks;
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
    /// A plan. It had more than a first look if it is `deep`.
    Planned {
        /// The plan.
        plan: Box<CutSolution>,
        /// Whether it had more than a first look.
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
    /// Every choice: plans first, the shortest at the front and of equals those without means to save memory, then the others by
    /// their bounds.
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
