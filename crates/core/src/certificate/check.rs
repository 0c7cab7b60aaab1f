//! The checker of certificates: every claim is derived again from the schedule and the problem.

use serde::Deserialize as _;

use super::file::{CERTIFICATE_FORMAT, Figures, Statement, digest, digest_of_schedule, digest_of_statement};
use super::{BoundError, Certificate, Objective, Optimality, SearchEngine, holds};
use crate::model::reading::FileError;
use crate::model::{self, BeyondPasses, Model, Ticks};
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
    #[error("the problem is no model: {0}")]
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
        !matches!(self, Self::Searched { .. })
    }
}

/// The result of checking a certificate.
#[derive(Debug)]
pub struct Checked {
    /// What it claims, all of it true as far as [`Claim::is_checked`] says.
    pub claims: Vec<Claim>,
    /// The problem it is about.
    pub problem: Model,
    /// What the schedule does under the problem.
    pub verdict: Verdict,
    /// What was minimised.
    pub objective: Objective,
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
    let claims = optimality_follows(&statement, &problem)?;
    Ok(Checked { claims, problem, verdict, objective: statement.objective })
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
    Ok(model::parse(&statement.problem)?)
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
