//! `trace`: measured runs, as a model, and next to the prediction of replay.

mod compare;
mod explain;
mod layers;
mod profile;
mod published;
mod report;
mod scatter;
mod shown;
mod source;

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::error::{Error, Status};
use super::output::Output;
use crate::model::Model;
use crate::trace::Trace;
use crate::trace::fit;

pub use source::Named;

/// The options of `trace`.
#[derive(Debug, Args)]
pub struct TraceArgs {
    #[command(subcommand)]
    command: TraceCommand,
}

#[derive(Debug, Subcommand)]
enum TraceCommand {
    #[command(after_long_help = PROFILE_EXAMPLES)]
    /// Make a model of traces: medians per stage and kind, with their spread
    ///
    /// Times are in ns, memory in bytes. A delay is the median time from the end of a pass to the start of the one that
    /// needs it, over those that found their device idle; if no device ever waited, the time of the messages, or else
    /// the least time measured. All of it is latency; with `--with messages`, what messages take on their links is
    /// their occupancy, and the rest latency. Notes say how the model was completed, and what the traces do not show.
    /// The model names the machine.
    Profile(profile::ProfileArgs),

    #[command(after_long_help = COMPARE_EXAMPLES)]
    /// Compare traces with their schedule and with the prediction
    ///
    /// Names the passes that ran out of the declared order, overlapped on a device, are missing or duplicate, and those
    /// that started before a pass that they need had ended. Then the errors of the prediction: of durations and starts
    /// of passes, of the makespan, the bubble rate and the peak memory. The prediction uses the given model, or one
    /// fitted to the traces given with --fit; otherwise one fitted to the other traces of the same schedule, or to the
    /// trace itself if there is no other. The output names the model used. The exit status is 1 when passes did not run
    /// as declared.
    Compare(compare::CompareArgs),

    #[command(after_long_help = EXPLAIN_EXAMPLES)]
    /// Say what a measured step lost, and to which stage, device, microbatch or link
    ///
    /// The traces are the data-parallel replicas of one run, on one clock; one trace is a run of one replica. A step
    /// goes from its first task to its last one: all-gathers, passes, reductions and optimiser steps, where they were
    /// recorded. It is executed with the measured times, which gives the measured step, and then with other times: with
    /// one cause after the other removed, with one part as fast as the others of its kind, and with medians of the
    /// other iterations.
    Explain(explain::ExplainArgs),
}

const PROFILE_EXAMPLES: &str = "\
Examples:
  bubbleproof trace profile run.json -o measured.toml
  bubbleproof trace profile run-1.json run-2.json run-3.json -o measured.toml --name my-cluster
  bubbleproof trace profile rank0.json rank1.json -o measured.toml
      files of torch.profiler, one for each rank
  bubbleproof trace profile run.json --json | jq '.durations[] | {stage, kind, median, deviation}'";

const COMPARE_EXAMPLES: &str = "\
Examples:
  bubbleproof trace compare run.json
      predicted by a model fitted to the same trace
  bubbleproof trace compare run.json --model measured.toml --tolerance 5%
      by a model from elsewhere; status 1 where the makespan is more than 5 % off
  bubbleproof trace compare run-3.json --fit run-1.json,run-2.json -o run-3.html
      by a model fitted to other runs; measured above predicted, on a page for a browser
  bubbleproof trace compare run.json --contention --gaps
      also with devices that slow each other down and with launch gaps
  bubbleproof trace compare run-*.json --gaps --tolerance 5% --scatter errors.svg
      predicted against measured of many traces, and how far each is off, in one picture
  bubbleproof trace compare rank0.json rank1.json --schedule schedule.csv
      files of torch.profiler, compared with the schedule that should have run";

const EXPLAIN_EXAMPLES: &str = "\
Examples:
  bubbleproof trace explain run.json
  bubbleproof trace explain run-dp0.json run-dp1.json
      the replicas of one run, which wait for each other at the end of the step
  bubbleproof trace explain run.json --skip 2 --top 20
      without the first two iterations; the twenty parts that cost most
  bubbleproof trace explain run.json --json | jq '.what_if[] | {part, stage, device, step}'";

/// Reads traces, as `trace profile` does without options.
///
/// # Errors
/// When a file is wrong, or files do not belong together.
pub fn read_traces(paths: &[PathBuf]) -> Result<Vec<Named>, Error> {
    source::read(paths, None, None)
}

/// The model that is fitted to traces, in nanoseconds.
///
/// # Errors
/// When they make none.
pub fn profile(traces: &[Trace]) -> Result<Model, Error> {
    fit::profile("measured", traces).map(|profile| profile.model).map_err(|error| profile::mended(&error))
}

/// Reads traces and answers about them.
///
/// # Errors
/// When a file or an option is wrong.
pub fn run(args: &TraceArgs, output: Output) -> Result<Status, Error> {
    match &args.command {
        TraceCommand::Profile(args) => profile::run(args, output),
        TraceCommand::Compare(args) => compare::run(args, output),
        TraceCommand::Explain(args) => explain::run(args, output),
    }
}
