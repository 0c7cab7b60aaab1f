//! `verify`: everything that can be wrong with a schedule, or with those of every number of microbatches.

use std::time::Duration;

use clap::Args;

use super::error::{Error, Status};
use super::every_m;
use super::interrupt::on_ctrl_c;
use super::output::Output;
use super::progress::Progress;
use super::schedule_input::ScheduleInputArgs;
use super::search::seconds;
use super::verdict::VerifyReport;
use crate::stop::Stop;

/// The options of `verify`.
#[derive(Debug, Args)]
pub struct VerifyArgs {
    #[command(flatten)]
    subject: ScheduleInputArgs,

    /// Prove it for every number of microbatches, and give makespan and memory as formulas in m
    ///
    /// A block family (with --devices) is proved for every m from 1 on. For a schedule file, finds the steady
    /// phase and proves all schedules that repeat it more often. With --json: `status`
    /// (proved, refuted, unknown), `first`, `step`, `makespan` and `device_span` (each with `formula`,
    /// `from`, `period`, `increase`, `values`, `before`; the span may be null), `peak_memory`, `peak_memory_max`,
    /// `peak_memory_from`, `interval`, `repetition`, `replayed_to`; `counterexample`; `reason`.
    #[arg(long)]
    every_m: bool,

    /// Time limit of that proof in seconds (then status 3); checked between replays
    #[arg(long, value_name = "S", requires = "every_m", value_parser = seconds)]
    time_limit: Option<Duration>,
}

/// Replays the schedule and lists its violations.
///
/// # Errors
/// When a file or an option is wrong.
pub fn run(args: &VerifyArgs, output: Output) -> Result<Status, Error> {
    if args.every_m {
        let stop = Stop::on(on_ctrl_c());
        let stop = args.time_limit.map_or(stop.clone(), |limit| stop.within(limit));
        return every_m::run(&args.subject, &stop, output);
    }
    let progress = Progress::start("reading and replaying the schedule");
    let subject = args.subject.read()?;
    let judgement = VerifyReport::of(&subject);
    drop(progress);
    output.print(&judgement)?;
    Ok(Status::of(judgement.valid))
}
