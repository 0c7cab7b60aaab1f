//! The page about a plan.

use std::path::PathBuf;

use super::report::outcome;
use crate::amounts::Amounts;
use crate::analysis::critical_path;
use crate::cli::error::Error;
use crate::cli::output::{Target, note};
use crate::draw::{NaiveShown, Picture, PlanChoice, PlanPage, Planned};
use crate::job::{Choice, Cut, Job};
use crate::model::{Model, Ticks};
use crate::plan::{Figures, NaivePlan, Outcome, Plan};
use crate::replay::Verdict;
use crate::schedule::Schedule;

/// Writes the page to each of these files. Where there can be none, a note says why.
///
/// # Errors
/// When a file cannot be written.
pub fn write(job: &Job, plan: &Plan, files: Vec<PathBuf>) -> Result<Vec<PathBuf>, Error> {
    if files.is_empty() {
        return Ok(files);
    }
    let naive = plan.best().and_then(|(choice, _)| NaivePlan::of(job, choice).ok());
    let page = match page(job, plan, naive.as_ref()).html() {
        Ok(page) => page,
        Err(error) => {
            note(&format!("no report: {error}"));
            return Ok(Vec::new());
        }
    };
    for path in &files {
        Target::File(path.clone()).write(|out| out.write_all(page.as_bytes()))?;
    }
    Ok(files)
}

fn page<'a>(job: &'a Job, plan: &'a Plan, naive: Option<&'a NaivePlan>) -> PlanPage<'a> {
    let best = plan.best().map(|(_, best)| best.solution.value());
    let choices = plan.alternatives.iter().map(|one| {
        let (status, because) = outcome(Amounts::new(false, &job.time_unit, &job.memory_unit), one, best);
        let planned = match &one.outcome {
            Outcome::Planned { plan, .. } => {
                let solution = &plan.solution;
                let shown = (&plan.model, &solution.schedule, &solution.verdict);
                planned(job, &one.choice, &plan.cut, shown, &solution.engine)
            }
            _ => None,
        };
        PlanChoice { choice: &one.choice, none_below: one.none_below, status, because, plan: planned }
    });
    let naive = naive.and_then(|naive| {
        let shown = (&naive.model, &naive.schedule, &naive.verdict);
        let plan = planned(job, &naive.choice, &naive.cut, shown, "1f1b")?;
        Some(NaiveShown { choice: &naive.choice, fits: naive.fits, plan })
    });
    PlanPage {
        job,
        none_below: plan.none_below,
        is_cut_short: plan.is_cut_short,
        choices: choices.collect(),
        naive,
    }
}

fn planned<'a>(
    job: &Job,
    choice: &Choice,
    cut: &'a Cut,
    (model, schedule, verdict): (&'a Model, &'a Schedule, &'a Verdict),
    engine: &'a str,
) -> Option<Planned<'a>> {
    let timing = verdict.timing.as_ref()?;
    let step: Ticks = timing.metrics.makespan;
    let path = critical_path(model, schedule, timing).into_iter().map(|step| step.pass);
    let picture = Picture::of(model, schedule, verdict)?.with_critical_path(path);
    let Figures { samples_per_second, utilisation, .. } = Figures::of(job, choice, step);
    Some(Planned { cut, picture, samples_per_second, utilisation, engine })
}
