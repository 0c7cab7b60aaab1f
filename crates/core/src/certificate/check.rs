//! The checker of certificates: every claim is derived again from the schedule and the problem.

use serde::Deserialize as _;

use super::file::{CERTIFICATE_FORMAT, Figures, Statement, digest, digest_of_schedule, digest_of_statement};
use super::{
    Bound, BoundError, Certificate, CutBoundError, JobStatement, Objective, Optimality, SearchEngine, holds,
    holds_over_cuts,
};
use crate::job::{self, Choice, ChoiceError, Cut, CutError, Job};
use crate::model::reading::FileError;
use crate::model::{self, BeyondPasses, Kind, Model, Ticks};
use crate::replay::{Verdict, Violation, replay};
use crate::schedule::Schedule;
use crate::text::{Shown, message};

/// Why a certificate is rejected.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CertificateError {
    /// There is none.
    #[error("the schedule carries no certificate")]
    Missing,
    /// Not of the form of a certificate.
    #[error("the certificate is malformed: {}", message(&.0.to_string()))]
    Malformed(#[from] serde_json::Error),
    /// A certificate of another version.
    #[error("the certificate's `format` is \"{}\", but only \"{CERTIFICATE_FORMAT}\" is known", Shown(.0))]
    Format(String),
    /// It was changed after it was made.
    #[error("the certificate was altered: its digest is {found}, not {}", Shown(.stated))]
    Altered {
        /// What it says.
        stated: String,
        /// What it is.
        found: String,
    },
    /// The problem it states is not the one it names.
    #[error("the problem was altered: its digest is {found}, not {}", Shown(.stated))]
    ProblemAltered {
        /// What it says.
        stated: String,
        /// What it is.
        found: String,
    },
    /// The problem it states is no model.
    #[error("the problem is not a valid model: {0}")]
    Problem(#[from] FileError),
    /// It is about another problem than the one asked about.
    #[error("the certificate is about another problem: with {}, where {} has {}", Shown(.stated), Shown(.model), Shown(.asked))]
    OtherProblem {
        /// The name of the model asked about.
        model: String,
        /// The first line of the certificate's problem that differs.
        stated: String,
        /// The same line of the model asked about.
        asked: String,
    },
    /// The schedule is not the one it was made for.
    #[error("the schedule was altered: its digest is {found}, not {}", Shown(.stated))]
    ScheduleAltered {
        /// What the certificate says.
        stated: String,
        /// What it is.
        found: String,
    },
    /// The schedule is for another number of microbatches.
    #[error("the schedule has {schedule} microbatches, the problem {problem}")]
    Microbatches {
        /// Those of the schedule.
        schedule: u32,
        /// Those of the problem.
        problem: u32,
    },
    /// The schedule does not run, or not within the capacities.
    #[error("the schedule is invalid: {0}")]
    Invalid(Violation),
    /// A figure differs from what replay measures.
    #[error("{figure} is claimed to be {}, but replay measures {}", Shown(.claimed), Shown(.measured))]
    Figure {
        /// Which.
        figure: &'static str,
        /// What the certificate says.
        claimed: String,
        /// What replay says.
        measured: String,
    },
    /// The lower bound does not follow from its reason.
    #[error("the lower bound does not hold: {0}")]
    Bound(#[from] BoundError),
    /// A lower bound above what the schedule reaches.
    #[error("a lower bound of {bound} contradicts the schedule, which takes {value}")]
    Contradiction {
        /// The bound.
        bound: Ticks,
        /// What the schedule reaches.
        value: Ticks,
    },
    /// A search is claimed to have proved what it never looks for.
    #[error("{engine} is claimed to have searched for the least {objective}, which it does not minimise")]
    Engine {
        /// What is said to have searched.
        engine: SearchEngine,
        /// What it is said to have minimised.
        objective: Objective,
    },
    /// A search is claimed to have looked at all schedules, but it knows passes and latencies alone.
    #[error("{engine} is claimed to have searched all schedules, but it leaves out {tables} of the problem")]
    LeavesOut {
        /// What is said to have searched.
        engine: SearchEngine,
        /// The tables of the problem that it does not know.
        tables: BeyondPasses,
    },
    /// The job that it states is none.
    #[error("the job is not a valid job: {0}")]
    Job(FileError),
    /// The job has no such choice.
    #[error("the job does not leave the choice `{0}` open")]
    NoChoice(Box<Choice>),
    /// Nothing follows from the choices of the job.
    #[error(transparent)]
    Choice(#[from] ChoiceError),
    /// The cut does not suit the layers of the job.
    #[error(transparent)]
    Cut(#[from] CutError),
    /// The problem is not what follows from the job.
    #[error("the problem is not that of the job at the cut {0}")]
    OtherPlan(Cut),
    /// What is claimed over all cuts does not hold.
    #[error("the lower bound over all cuts does not hold: {0}")]
    OverCuts(CutBoundError),
    /// What is claimed over all plans does not hold.
    #[error("the lower bound over all plans does not hold, with {choice}: {error}")]
    OverPlans {
        /// The choice with which a plan may be shorter.
        choice: Box<Choice>,
        /// Why.
        error: CutBoundError,
    },
    /// Something is claimed over all cuts for another objective than the makespan.
    #[error("the {0} is claimed to be least over all cuts, but only the makespan is minimised over cuts")]
    NotOverCuts(Objective),
    /// The job is another one than that asked about.
    #[error("the certificate is about another job than the one given")]
    OtherJob,
    /// Optimality is claimed by the bound, which the schedule does not reach.
    #[error("the schedule is claimed to be optimal by its lower bound of {bound}, but takes {value}")]
    NotOptimal {
        /// The bound.
        bound: Ticks,
        /// What the schedule reaches.
        value: Ticks,
    },
}

/// One claim of a certificate, which was either confirmed or could not be checked.
///
/// Exhaustive on purpose: whoever shows a certificate has to show every claim of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claim {
    /// The schedule runs under the problem, within its capacities, with the stated figures.
    Runs {
        /// What replay measured for the objective.
        value: Ticks,
    },
    /// No schedule is better than this, for a reason that was derived again.
    LowerBound {
        /// The bound.
        value: Ticks,
    },
    /// No schedule is better than this one: it reaches the lower bound.
    Optimal,
    /// With the choice of the plan, no schedule of any cut of the layers is shorter.
    OverCuts {
        /// The bound.
        value: Ticks,
    },
    /// No plan of the job is shorter, whatever its choice.
    OverPlans {
        /// The bound.
        value: Ticks,
        /// How many choices the job leaves open.
        choices: usize,
    },
    /// Exhaustive searches of single cuts are said to have found nothing below a value. Only other searches can tell.
    SearchedCuts {
        /// No schedule of any cut is said to be shorter than this.
        none_below: Ticks,
    },
    /// An exhaustive search is said to have found nothing below a value. Only another search can tell.
    Searched {
        /// What is said to have searched.
        engine: SearchEngine,
        /// No schedule is said to be better than this.
        none_below: Ticks,
    },
}

impl Claim {
    /// Whether the claim was derived again, rather than only read.
    #[must_use]
    pub const fn is_checked(&self) -> bool {
        !matches!(self, Self::Searched { .. } | Self::SearchedCuts { .. })
    }
}

/// The result of checking a certificate.
#[derive(Debug)]
pub struct Checked {
    /// What it claims, all of it true as far as [`Claim::is_checked`] says.
    pub claims: Vec<Claim>,
    /// The lower bound with its reason, which was derived again.
    pub bound: Bound,
    /// Whether the theorems in Rocq are about the schedule and its problem.
    is_of_plain_passes: bool,
    /// The problem it is about.
    pub problem: Model,
    /// What the schedule does under the problem.
    pub verdict: Verdict,
    /// What was minimised.
    pub objective: Objective,
    /// The job that it is a plan of, with the plan; none of a schedule that was made for a model.
    pub plan: Option<(Job, Choice, Cut)>,
}

impl Checked {
    /// Whether a claim was derived again by functions whose theorems have proofs that a machine has checked: those in Rocq
    /// (`docs/trust.md`), which are about schedules of F, I and W, and about models that say no more than these need.
    #[must_use]
    pub fn is_machine_checked(&self, claim: &Claim) -> bool {
        let of_bound = self.bound.reason.is_machine_checked();
        self.is_of_plain_passes
            && match claim {
                Claim::Runs { .. } => true,
                Claim::LowerBound { .. } | Claim::Optimal => of_bound,
                Claim::OverCuts { .. }
                | Claim::OverPlans { .. }
                | Claim::SearchedCuts { .. }
                | Claim::Searched { .. } => false,
            }
    }
}

/// Whether a schedule has Fs, Is and Ws that run one by one, and its model only what these need.
pub(super) fn is_of_plain_passes(schedule: &Schedule, problem: &Model) -> bool {
    let mut passes = schedule.orders().iter().flatten();
    problem.beyond_passes().is_none()
        && problem.memory().checkpoint.is_none()
        && problem.placement().directions() == 1
        && schedule.overlap_count() == 0
        && passes.all(|pass| matches!(pass.kind, Kind::F | Kind::I | Kind::W))
}

/// Checks the certificate that a schedule carries; with a model, also that it is about this one.
///
/// # Errors
/// The first thing found wrong.
pub fn check(schedule: &Schedule, model: Option<&Model>) -> Result<Checked, CertificateError> {
    let certificate =
        Certificate::deserialize(schedule.certificate.as_ref().ok_or(CertificateError::Missing)?)?;
    certificate_is_as_it_was_made(&certificate)?;
    let statement = certificate.statement;
    let problem = problem_is_the_one_named(&statement)?;
    if let Some(model) = model {
        problem_is_the_one_asked_about(&statement, model)?;
    }
    schedule_is_the_one_certified(&statement, schedule, &problem)?;
    let verdict = schedule_runs_with_these_figures(&statement, schedule, &problem)?;
    holds(&problem, statement.objective, &statement.bound)?;
    let mut claims = optimality_follows(&statement, &problem)?;
    let plan = match &statement.job {
        Some(job) => Some(plan_follows_from_job(&statement, job, &mut claims)?),
        None => None,
    };
    let is_of_plain_passes = is_of_plain_passes(schedule, &problem);
    Ok(Checked {
        claims,
        bound: statement.bound,
        is_of_plain_passes,
        problem,
        verdict,
        objective: statement.objective,
        plan,
    })
}

/// As [`check`], where the schedule must be a plan of this job.
///
/// # Errors
/// The first thing found wrong.
pub fn check_plan(schedule: &Schedule, job: &Job) -> Result<Checked, CertificateError> {
    let checked = check(schedule, None)?;
    match &checked.plan {
        Some((stated, ..)) if stated == job => Ok(checked),
        _ => Err(CertificateError::OtherJob),
    }
}

/// The plan, once the problem is what follows from it and no other plan is shorter than claimed.
fn plan_follows_from_job(
    statement: &Statement,
    claimed: &JobStatement,
    claims: &mut Vec<Claim>,
) -> Result<(Job, Choice, Cut), CertificateError> {
    let JobStatement { job, choice, cut, no_cut_below, searched, no_plan_below } = claimed;
    if statement.objective != Objective::Makespan {
        return Err(CertificateError::NotOverCuts(statement.objective));
    }
    let job = job::parse(job).map_err(CertificateError::Job)?;
    let choices = job.choices()?;
    if !choices.contains(choice) {
        return Err(CertificateError::NoChoice(Box::new(*choice)));
    }
    let layers = job.layers(choice)?;
    if model::print(&layers.model(cut)?) != statement.problem {
        return Err(CertificateError::OtherPlan(cut.clone()));
    }
    let value = Ticks(statement.metrics.makespan);
    for bound in [Some(*no_cut_below), *searched, *no_plan_below].into_iter().flatten() {
        if bound > value {
            return Err(CertificateError::Contradiction { bound, value });
        }
    }
    holds_over_cuts(&layers, *no_cut_below).map_err(CertificateError::OverCuts)?;
    claims.push(Claim::OverCuts { value: *no_cut_below });
    if let Some(none_below) = *searched {
        claims.push(Claim::SearchedCuts { none_below });
    }
    if let Some(value) = *no_plan_below {
        for choice in &choices {
            match holds_over_cuts(&job.layers(choice)?, value) {
                // What does not fit is no plan.
                Ok(()) | Err(CutBoundError::NoRoom { .. } | CutBoundError::TooFewLayers { .. }) => {}
                Err(error) => {
                    return Err(CertificateError::OverPlans { choice: Box::new(*choice), error });
                }
            }
        }
        claims.push(Claim::OverPlans { value, choices: choices.len() });
    }
    Ok((job, *choice, cut.clone()))
}

fn certificate_is_as_it_was_made(certificate: &Certificate) -> Result<(), CertificateError> {
    if certificate.statement.format != CERTIFICATE_FORMAT {
        return Err(CertificateError::Format(certificate.statement.format.clone()));
    }
    let (stated, found) = (certificate.sha256.clone(), digest_of_statement(&certificate.statement));
    if stated == found { Ok(()) } else { Err(CertificateError::Altered { stated, found }) }
}

fn problem_is_the_one_named(statement: &Statement) -> Result<Model, CertificateError> {
    let (stated, found) = (statement.problem_sha256.clone(), digest(statement.problem.as_bytes()));
    if stated != found {
        return Err(CertificateError::ProblemAltered { stated, found });
    }
    Ok(model::parse_stated(&statement.problem)?)
}

fn problem_is_the_one_asked_about(statement: &Statement, model: &Model) -> Result<(), CertificateError> {
    let asked = model::print(model);
    if statement.problem == asked {
        return Ok(());
    }
    let line = |text: Option<&str>| text.map_or_else(|| "nothing".to_owned(), |line| format!("`{line}`"));
    let (mut stated, mut asked) = (statement.problem.lines(), asked.lines());
    let (stated, asked) = loop {
        match (stated.next(), asked.next()) {
            (one, other) if one != other => break (line(one), line(other)),
            (None, _) => return Ok(()),
            _ => {}
        }
    };
    Err(CertificateError::OtherProblem { model: model.name().to_owned(), stated, asked })
}

fn schedule_is_the_one_certified(
    statement: &Statement,
    schedule: &Schedule,
    problem: &Model,
) -> Result<(), CertificateError> {
    let (stated, found) = (statement.schedule_sha256.clone(), digest_of_schedule(schedule));
    if stated != found {
        return Err(CertificateError::ScheduleAltered { stated, found });
    }
    let (schedule, problem) = (schedule.microbatches(), problem.microbatches());
    if schedule == problem { Ok(()) } else { Err(CertificateError::Microbatches { schedule, problem }) }
}

fn schedule_runs_with_these_figures(
    statement: &Statement,
    schedule: &Schedule,
    problem: &Model,
) -> Result<Verdict, CertificateError> {
    let verdict = replay(problem, schedule);
    if let Some(violation) = verdict.violations.first() {
        return Err(CertificateError::Invalid(violation.clone()));
    }
    let timing = verdict.timing.as_ref().expect("a valid schedule has times");
    let measured = Figures::of(&timing.metrics, &verdict);
    let claimed = &statement.metrics;
    let as_text = |peaks: &[i64]| format!("{peaks:?}");
    for (figure, claimed, measured) in [
        ("the makespan", claimed.makespan.to_string(), measured.makespan.to_string()),
        ("the device span", claimed.device_span.to_string(), measured.device_span.to_string()),
        ("the bubble rate", claimed.bubble_rate.clone(), measured.bubble_rate),
        ("the idle rate", claimed.idle_rate.clone(), measured.idle_rate),
        ("the peak memory", as_text(&claimed.peak_memory), as_text(&measured.peak_memory)),
    ] {
        if claimed != measured {
            return Err(CertificateError::Figure { figure, claimed, measured });
        }
    }
    Ok(verdict)
}

/// The claims, once the figures are as measured and the bound holds.
fn optimality_follows(statement: &Statement, problem: &Model) -> Result<Vec<Claim>, CertificateError> {
    let (value, bound) = (Ticks(statement.metrics.value(statement.objective)), statement.bound.value);
    let mut claims = vec![Claim::Runs { value }, Claim::LowerBound { value: bound }];
    let not_above = |bound| {
        if bound > value { Err(CertificateError::Contradiction { bound, value }) } else { Ok(()) }
    };
    not_above(bound)?;
    match &statement.optimality {
        Optimality::Open => {}
        Optimality::Bound if value == bound => claims.push(Claim::Optimal),
        Optimality::Bound => return Err(CertificateError::NotOptimal { bound, value }),
        &Optimality::Search { engine, .. } if !engine.minimises(statement.objective) => {
            return Err(CertificateError::Engine { engine, objective: statement.objective });
        }
        &Optimality::Search { engine, none_below } => {
            if let Some(tables) = problem.beyond_passes() {
                return Err(CertificateError::LeavesOut { engine, tables });
            }
            not_above(none_below)?;
            claims.push(Claim::Searched { engine, none_below });
        }
    }
    Ok(claims)
}
