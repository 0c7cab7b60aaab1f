//! `plan`: the best of all choices that a job leaves open.

mod files;
mod page;
mod report;
mod store;

use std::path::PathBuf;

use clap::Args;

use super::deadline::Deadline;
use super::error::{Error, Status};
use super::interrupt::on_signals;
use super::job::{JobFile, note_estimate, without_plan};
use super::output::{Output, note};
use super::progress::Progress;
use super::search::SearchArgs;
use super::violations::count;
use crate::amounts;
use crate::certificate::Objective;
use crate::job::Job;
use crate::plan::{PlanError, Results, Shard, plan_shard};
use files::Folder;
use report::PlanReport;
use store::StoreArgs;

/// The options of `plan`.
#[derive(Debug, Args)]
pub struct PlanArgs {
    /// The job file (TOML): layers with their costs, the machine, and what may be chosen; `-` reads standard input
    #[arg(value_name = "JOB")]
    job: PathBuf,

    #[command(flatten)]
    search: SearchArgs,

    /// How many alternatives to list
    #[arg(long, value_name = "N", default_value_t = 20)]
    top: usize,

    /// The folder to write the best plan to: its model, its schedule, its exports, and the report
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,

    /// The file to write a report to: a self-contained page for a browser with every plan, its cut, its memory and its timeline
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,

    #[command(flatten)]
    store: StoreArgs,
}

/// Compares the choices, writes the best plan, and prints all that it was compared with.
///
/// # Errors
/// When the file or an option is wrong, a file cannot be written, or a search is defective.
pub fn run(args: &PlanArgs, output: Output) -> Result<Status, Error> {
    let file = match JobFile::read_if_job(&args.job)? {
        Ok(file) => file,
        Err(input) => return Err(input.no_job()),
    };
    if args.search.objective().objective() != Objective::Makespan {
        return Err(Error::usage("plans are compared by their makespan", "leave out --minimize"));
    }
    let folder = args.output.as_deref().map(Folder::new).transpose()?;
    let JobFile { job, text } = &file;
    let store = args.store.open()?;
    let results = store.as_ref().map_or_else(Results::default, Results::kept_in);
    let shard = args.store.shard();
    note_estimate(job);
    note_undivided(job);
    let progress = Progress::start("starting").until(args.search.time_limit());
    let stop = args.search.stop(on_signals(), output);
    let limit = Deadline::after(args.search.time_limit(), output);
    let found = plan_shard(job, &args.search.options(&stop), shard, &results, &mut |state| {
        let time = |ticks: crate::model::Ticks| amounts::time(ticks.0, &job.time_unit);
        let best = state.best.map_or_else(String::new, |best| format!(", best {}", time(best)));
        let bound = state.none_below.filter(|_| state.best.is_some());
        let bound = bound.map_or_else(String::new, |bound| format!(", bound {}", time(bound)));
        progress.step(format!("{} of {} choices, {}{best}{bound}", state.done, state.choices, state.step));
    });
    drop((limit, progress));
    let tally = args.store.note(results.into_tally());
    let found = match found {
        Ok(found) => found,
        Err(error @ PlanError::EmptyShard { choices, .. }) => {
            let most = count(choices, "part", "parts");
            return Err(Error::usage(error.to_string(), format!("divide the choices into at most {most}")));
        }
        Err(error) => {
            note_part(shard);
            return without_plan(error, output);
        }
    };
    if found.best().is_none() {
        note_part(shard);
        return without_plan(PlanError::NoneFound, output);
    }
    let mut written = match folder {
        Some(folder) => folder.write(job, text, &found)?,
        None => Vec::new(),
    };
    let in_folder = args.output.iter().map(|folder| folder.join("report.html"));
    written.extend(page::write(job, &found, in_folder.chain(args.report.clone()).collect())?);
    if found.is_cut_short {
        note("the search was cut short: alternatives may be better than listed, but none is below its bound");
    }
    output.print(&PlanReport::of(job, &found, args.top, &written, tally, output))?;
    Ok(Status::Yes)
}

/// How many degrees are named that do not divide the batch.
const NAMED: usize = 6;

/// Says which choices are left out because the batch cannot be divided evenly, where others are left.
fn note_undivided(job: &Job) {
    let undivided = job.undivided();
    let Ok(left) = job.choices() else { return };
    if undivided.choices == 0 {
        return;
    }
    let named = undivided.degrees.iter().take(NAMED).map(|(data, size)| format!("d{data} b{size}"));
    let mut named: Vec<String> = named.collect();
    let more = undivided.degrees.len() - named.len();
    named.extend((more > 0).then(|| format!("{more} more")));
    note(&format!(
        "{} of {} are left out, because {} are no multiple of the samples that all replicas take at once with {}",
        undivided.choices,
        count(undivided.choices + left.len(), "choice", "choices"),
        count(job.choices.global_batch as usize, "sample", "samples"),
        named.join(", "),
    ));
}

/// Says that what has no plan is a part only.
fn note_part(shard: Option<Shard>) {
    if let Some(shard) = shard {
        note(&format!("this is part {shard} of the choices; another part may have a plan"));
    }
}
