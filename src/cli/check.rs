//! `check`: the certificate that a schedule carries, or the witness about a family, derived again.

mod problem;

use std::fmt;
use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use problem::ProblemReport;

use super::error::{Error, Status};
use super::figures::{Figures, Lines};
use super::input::Input;
use super::job::JobFile;
use super::memory_limit::{MemoryLimit, typed};
use super::output::Output;
use super::progress::Progress;
use super::size::Size;
use super::violations::count;
use crate::amounts::{self, Amounts};
use crate::certificate::{self, CertificateError, Checked, Claim};
use crate::job::Job;
use crate::model::{Model, Ticks, Units};
use crate::prove;
use crate::schedule::Schedule;

/// The options of `check`.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// The schedule file with its certificate, or the witness about a family that `prove --emit` wrote; `-`
    /// reads standard input
    #[arg(value_name = "CERTIFICATE")]
    certificate: PathBuf,

    /// The model file, or the job file, that the certificate must be about
    ///
    /// Without it, the certificate is checked against the problem that it states itself. The problem is printed, so
    /// that you can see whether it is yours.
    #[arg(long, value_name = "MODEL")]
    model: Option<PathBuf>,

    #[command(flatten)]
    size: Size,

    #[command(flatten)]
    memory_limit: MemoryLimit,
}

/// A claim, as it is printed.
#[derive(Debug, Serialize)]
struct ClaimLine {
    /// Whether it was derived again, rather than only read.
    checked: bool,
    /// Whether a machine has checked the proofs of the theorems by which it was derived.
    machine_checked: bool,
    claim: String,
}

/// What was found out, as it is printed.
#[derive(Debug, Serialize)]
struct CertificateReport<'a> {
    valid: bool,
    claims: Vec<ClaimLine>,
    /// Why it is rejected.
    reason: Option<String>,
    #[serde(flatten)]
    figures: Figures,
    /// What it is about.
    problem: Option<ProblemReport<'a>>,
    #[serde(skip)]
    schedule: &'a Schedule,
    #[serde(skip)]
    checked: Option<&'a Checked>,
}

/// Checks a certificate.
///
/// # Errors
/// When a file or an option is wrong.
pub fn run(args: &CheckArgs, output: Output) -> Result<Status, Error> {
    let progress = Progress::start("checking the certificate");
    let input = Input::read(&args.certificate)?;
    if let Some(witness) = input.witness()? {
        if args.model.is_some() {
            return Err(Error::usage(
                "a witness is about a block family, not about a model",
                "leave out --model",
            ));
        }
        let checked = witness.check();
        drop(progress);
        return of_witness(checked, output);
    }
    let schedule = input.schedule()?.schedule;
    let asked = args.asked()?;
    let checked = match &asked {
        Some(Asked::Job(job)) => certificate::check_plan(&schedule, job),
        Some(Asked::Model(model)) => certificate::check(&schedule, Some(model)),
        None => certificate::check(&schedule, None),
    };
    drop(progress);
    let answer = match &checked {
        Ok(checked) => CertificateReport {
            valid: true,
            claims: checked
                .claims
                .iter()
                .map(|claim| line(claim, checked, output.amounts(&checked.problem)))
                .collect(),
            reason: None,
            figures: Figures::of(&checked.problem, &schedule, &checked.verdict),
            problem: Some(ProblemReport::of(&checked.problem, asked.is_some())),
            schedule: &schedule,
            checked: Some(checked),
        },
        Err(reason) => CertificateReport {
            valid: false,
            claims: Vec::new(),
            reason: Some(with_limit(reason, &schedule, asked.as_ref())),
            figures: Figures::none(),
            problem: None,
            schedule: &schedule,
            checked: None,
        },
    };
    output.print(&answer)?;
    Ok(Status::of(answer.valid))
}

/// Why a certificate is rejected; where it is about another memory limit than the model has, with how to ask about that.
fn with_limit(reason: &CertificateError, schedule: &Schedule, asked: Option<&Asked>) -> String {
    let limit = schedule.provenance.as_ref().and_then(|provenance| provenance.memory);
    if let (CertificateError::OtherProblem { .. }, Some(units), Some(Asked::Model(model))) =
        (reason, limit, asked)
        && let Ok(limited) = model.with_uniform_capacity(Units(units))
        && certificate::check(schedule, Some(&limited)).is_ok()
    {
        let shown = amounts::memory(units, &model.memory().unit);
        let option = typed(units, model);
        return format!(
            "{reason}; it holds for the limit that its schedule was made for, {shown} on every device: give {option}"
        );
    }
    reason.to_string()
}

/// What the check of a witness found out, as it is printed.
#[derive(Debug, Serialize)]
struct WitnessReport {
    valid: bool,
    claims: Vec<ClaimLine>,
    /// Why it is rejected.
    reason: Option<String>,
}

fn of_witness(
    checked: Result<Vec<prove::WitnessClaim>, prove::WitnessRejection>,
    output: Output,
) -> Result<Status, Error> {
    let answer = match checked {
        Ok(claims) => {
            let line = |claim: prove::WitnessClaim| ClaimLine {
                checked: true,
                machine_checked: false,
                claim: claim.statement,
            };
            let claims = claims.into_iter().map(line);
            WitnessReport { valid: true, claims: claims.collect(), reason: None }
        }
        Err(reason) => WitnessReport { valid: false, claims: Vec::new(), reason: Some(reason.to_string()) },
    };
    output.print(&answer)?;
    Ok(Status::of(answer.valid))
}

impl fmt::Display for WitnessReport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(reason) = &self.reason {
            return writeln!(out, "rejected: {reason}");
        }
        writeln!(out, "accepted")?;
        self.claims.iter().try_for_each(|ClaimLine { claim, .. }| writeln!(out, "  checked  {claim}"))
    }
}

/// What a certificate must be about.
enum Asked {
    Model(Box<Model>),
    Job(Box<Job>),
}

impl CheckArgs {
    /// The model or the job that the certificate must be about, if any.
    fn asked(&self) -> Result<Option<Asked>, Error> {
        let changes = self.size.is_given() || self.memory_limit.is_given();
        match &self.model {
            Some(path) => match JobFile::read_if_job(path)? {
                Ok(_) if changes => Err(Error::usage(
                    "--devices, --microbatches and --memory change a model, but this is a job file",
                    "leave them out",
                )),
                Ok(file) => Ok(Some(Asked::Job(Box::new(file.job)))),
                Err(input) => {
                    let model = self.memory_limit.apply(self.size.apply(input.model()?)?)?;
                    Ok(Some(Asked::Model(Box::new(model))))
                }
            },
            None if changes => Err(Error::usage(
                "--devices, --microbatches and --memory change a model, but none is given",
                "say which with --model",
            )),
            None => Ok(None),
        }
    }
}

fn line(claim: &Claim, checked: &Checked, amounts: Amounts<'_>) -> ClaimLine {
    let objective = checked.objective;
    let time = |value: Ticks| amounts.time_in_full(value);
    let text = match claim {
        Claim::Runs { value } => {
            format!("the schedule runs within its memory limits, with a {objective} of {}", time(*value))
        }
        Claim::LowerBound { value } => {
            format!("no schedule within these limits has a {objective} below {}", time(*value))
        }
        Claim::Optimal => "so no schedule within these limits is better".to_owned(),
        Claim::OverCuts { value } => {
            format!("no schedule of any cut of these layers has a makespan below {}", time(*value))
        }
        Claim::OverPlans { value, choices } => {
            let choices = count(*choices, "choice", "choices");
            format!("no plan with any of the {choices} of the job has a makespan below {}", time(*value))
        }
        Claim::SearchedCuts { none_below } => {
            let time = time(*none_below);
            format!("that exhaustive searches, cut by cut, found no schedule with a makespan below {time}")
        }
        Claim::Searched { engine, none_below } => {
            format!("that exhaustive search ({engine}) found no {objective} below {}", time(*none_below))
        }
    };
    ClaimLine { checked: claim.is_checked(), machine_checked: checked.is_machine_checked(claim), claim: text }
}

/// Who has checked the proofs of the theorems by which the claims were derived.
fn proofs(claims: &[ClaimLine]) -> String {
    let derived = claims.iter().filter(|claim| claim.checked).count();
    match claims.iter().filter(|claim| claim.machine_checked).count() {
        0 => "on paper, not checked by a machine".to_owned(),
        all if all == derived => "checked by Rocq".to_owned(),
        some => {
            format!("checked by Rocq for {some} of the {derived} checked claims; the others are on paper")
        }
    }
}

impl fmt::Display for CertificateReport<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(reason) = &self.reason {
            return writeln!(out, "rejected: {reason}");
        }
        let Some(Checked { problem, verdict, .. }) = self.checked else { return Ok(()) };
        writeln!(out, "accepted: {}", problem.name())?;
        for ClaimLine { checked, claim, .. } in &self.claims {
            writeln!(out, "  {:<12}  {claim}", if *checked { "checked" } else { "not checked" })?;
        }
        writeln!(out, "  {:<12}  {}", "proofs", proofs(&self.claims))?;
        if let Some(problem) = &self.problem {
            problem.fmt(out)?;
        }
        let amounts = Amounts::new(out.alternate(), &problem.costs().unit, &problem.memory().unit);
        write!(out, "{}", Lines { schedule: self.schedule, verdict, model: problem, amounts })
    }
}
