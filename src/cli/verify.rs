//! `verify`: everything that can be wrong with a schedule, or with those of every number of microbatches.

use std::fmt;
use std::time::Duration;

use clap::Args;
use serde::Serialize;

use super::deadline::Deadline;
use super::error::{Error, Status};
use super::every_m;
use super::gap::AboveBound;
use super::interrupt::on_signals;
use super::output::Output;
use super::progress::Progress;
use super::schedule_input::ScheduleInputArgs;
use super::search::{UNASKED, seconds};
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

    /// End with a lower bound on the makespan, and with how far the schedule is above it at most
    ///
    /// No schedule of the model with its memory limits is shorter than the bound. The exit status does not depend on it. With --json:
    /// `lower_bound`, `bound_reason`, `gap`, `gap_exact` and `optimal`; the last three are null where the schedule is not valid.
    #[arg(long, conflicts_with = "every_m")]
    bound: bool,

    /// Time limit in seconds: of the proof of --every-m (then status 3), or of the search for the bound of --bound, which is
    /// then the best one found
    #[arg(long, value_name = "S", value_parser = seconds)]
    time_limit: Option<Duration>,
}

/// Replays the schedule and lists its violations; with a bound, if one is asked for.
///
/// # Errors
/// When a file or an option is wrong.
pub fn run(args: &VerifyArgs, output: Output) -> Result<Status, Error> {
    if args.every_m {
        return every_m::run(&args.subject, args.time_limit, output);
    }
    if args.time_limit.is_some() && !args.bound {
        return Err(Error::usage(
            "--time-limit is about --every-m and --bound; without them `verify` searches for nothing",
            "leave it out, or add --bound or --every-m",
        ));
    }
    let progress = Progress::start("reading and replaying the schedule");
    let subject = args.subject.read()?;
    let judgement = VerifyReport::of(&subject, output);
    let status = Status::of(judgement.valid);
    if !args.bound {
        drop(progress);
        output.print(&judgement)?;
        return Ok(status);
    }
    progress.step("deriving a lower bound");
    let time_limit = args.time_limit.unwrap_or(UNASKED);
    let stop = Stop::on(on_signals()).within(output.left_of(time_limit));
    let limit = Deadline::after(time_limit, output);
    let gap = AboveBound::of(&subject.model, &judgement, output, &stop);
    drop((progress, limit));
    output.print(&Bounded { judgement, gap })?;
    Ok(status)
}

/// A judgement, and how far the schedule is above the lower bound.
#[derive(Serialize)]
struct Bounded<'a> {
    #[serde(flatten)]
    judgement: VerifyReport<'a>,
    #[serde(flatten)]
    gap: AboveBound,
}

impl fmt::Display for Bounded<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.judgement, out)?;
        fmt::Display::fmt(&self.gap, out)
    }
}
