//! `optimize --robust`: orders for times that are not known exactly.

use std::fmt;

use clap::ValueEnum;
use num_rational::Ratio;
use serde::Serialize;

use super::{OptimizeArgs, refused};
use crate::amounts::{Amount, Amounts};
use crate::cli::deadline::Deadline;
use crate::cli::error::{Error, Status};
use crate::cli::figures::{decimal, fraction, peaks, percentage};
use crate::cli::interrupt::on_signals;
use crate::cli::output::{Output, Target, note};
use crate::cli::progress::Progress;
use crate::cli::search::{Infeasible, ObjectiveName};
use crate::cli::size::{ModelArgs, check_size};
use crate::cli::table::Table;
use crate::cli::trace::{Named, profile, read_traces};
use crate::cli::violations::count;
use crate::estimate::Work;
use crate::model::{Costs, Model, ModelError, Ticks};
use crate::optimize::OptimizeError;
use crate::optimize::mean::{MeanError, MeanSolution, Measured, shortest_mean};
use crate::schedule::Schedule;
use crate::trace::runs::runs;
use crate::trace::{Origin, Trace};

/// What to minimise where times are not known exactly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Robust {
    /// The makespan with every duration at the high end of its range: no run within the ranges is longer
    Worst,
    /// The mean makespan over the measured iterations of traces
    Mean,
}

/// Refuses options that say nothing together.
///
/// # Errors
/// When the worst case is asked of a model without ranges, or a mean without traces.
pub fn check(args: &OptimizeArgs, model: &Model) -> Result<(), Error> {
    match (args.robust, args.trace.is_empty()) {
        (Some(Robust::Worst), true) if model.low_ends().is_none() => Err(Error::usage(
            format!("`{}` has no ranges, so it has no worst case", model.name()),
            "write a range as `forward = { low = 300, high = 320 }`, or give traces: --robust mean --trace TRACE...",
        )),
        (Some(Robust::Worst), false) => Err(Error::usage(
            "the worst case follows from the ranges in the model, and traces are not used",
            "--robust mean takes the mean over traces",
        )),
        (Some(Robust::Mean), true) => Err(Error::usage(
            "--robust mean needs measured runs to take the mean over",
            "add --trace TRACE...",
        )),
        _ => Ok(()),
    }
}

/// Refuses these options for a job, whose cut is chosen for the times that it states.
///
/// # Errors
/// When one is given.
pub fn refuse_job(args: &OptimizeArgs) -> Result<(), Error> {
    if args.robust.is_none() {
        return Ok(());
    }
    Err(Error::usage(
        "--robust needs a model with ranges or traces of one pipeline, but this is a job file",
        "`bubbleproof plan JOB -o FOLDER` writes the model of the best cut, which you can then optimise with --robust",
    ))
}

/// What was found, as it is printed. All times are in nanoseconds.
#[derive(Serialize)]
struct MeanReport<'a> {
    feasible: bool,
    objective: &'static str,
    /// The mean makespan, to the nearest decimal that a computer has.
    mean: f64,
    /// The same, exact: `"num/den"`.
    mean_exact: String,
    /// The makespan of every measured iteration.
    makespans: Vec<i64>,
    /// The schedule for the medians, and the named schedules, by their means.
    others: Vec<OtherReport>,
    engine: &'a str,
    iterations: usize,
    traces: usize,
    origin: Origin,
    peak_memory: Vec<i64>,
    model: &'a str,
    devices: u32,
    microbatches: u32,
    time_unit: &'a str,
    memory_unit: &'a str,
    schedule: &'a Schedule,
    #[serde(skip)]
    found: &'a MeanSolution,
}

/// A schedule that was not taken.
#[derive(Serialize)]
struct OtherReport {
    name: String,
    mean: f64,
    mean_exact: String,
    makespans: Vec<i64>,
}

/// What the schedule that `optimize` finds for the medians is called in the table.
const OF_MEDIANS: &str = "optimum for medians";

/// Finds orders with a short mean makespan, writes them, and prints the means.
///
/// # Errors
/// When a file or an option is wrong, the traces are not of this pipeline, or the schedule cannot be written.
pub fn mean(
    args: &OptimizeArgs,
    only: &ModelArgs,
    model: &Model,
    target: Option<&Target>,
    output: Output,
) -> Result<Status, Error> {
    if let Some(tables) = model.beyond_passes() {
        return Err(Error::usage(
            format!("`{}` has {tables}, which the durations of measured passes do not cover", model.name()),
            "optimise it without --robust mean, or remove these tables",
        ));
    }
    if args.search.objective() != ObjectiveName::Makespan {
        return Err(Error::usage("--robust mean minimises the makespan alone", "leave --minimize out"));
    }
    let progress = Progress::start("reading the traces");
    let traces = read_traces(&args.trace)?;
    let traces: Vec<Trace> = traces.into_iter().map(|Named { trace, .. }| trace).collect();
    let fitted = profile(&traces)?;
    suits(model, &traces)?;
    let runs = runs(&traces, &fitted)
        .map_err(|error| Error::usage(error.to_string(), "give traces in which every pass ran"))?;
    let model = &in_nanoseconds(model, &fitted)?;
    check_size(model, Work::Search, Some(args.search.time_limit()))?;
    let stop = args.search.stop(on_signals(), output);
    let limit = Deadline::after(args.search.time_limit(), output);
    let options = args.search.options(&stop);
    let found = shortest_mean(model, &runs, &options, &mut |state| {
        let best = state.best.map_or_else(String::new, |best| format!(", best {best}"));
        progress.step(format!("{}{best}", state.step));
    });
    drop((limit, progress));
    let mut found = match found {
        Ok(found) => found,
        Err(MeanError::Optimize(OptimizeError::Infeasible(reason))) => {
            output.print(&Infeasible::of(&reason, output.amounts(model)))?;
            return Ok(Status::No);
        }
        Err(MeanError::Optimize(error)) => return Err(refused(&error)),
        Err(error) => return Err(Error::Usage { message: error.to_string(), help: None }),
    };
    args.record(only.size(), only.memory(model), &mut found.best.schedule);
    note("a mean over measured runs says nothing about other runs; no lower bound on it is known");
    output.answer(&MeanReport::of(model, &found, &traces), &found.best.schedule, target)?;
    Ok(Status::Yes)
}

/// Refuses traces of another pipeline than the model's.
fn suits(model: &Model, traces: &[Trace]) -> Result<(), Error> {
    for (trace, at) in traces.iter().zip(1..) {
        let (placement, microbatches) = (trace.schedule.placement(), trace.schedule.microbatches());
        if placement != model.placement() {
            return Err(Error::usage(
                format!("trace {at} and `{}` place stages on devices differently", model.name()),
                "`bubbleproof trace profile` makes a model of traces",
            ));
        }
        if microbatches != model.microbatches() {
            return Err(Error::usage(
                format!(
                    "trace {at} has {}, and `{}` has {}",
                    count(microbatches as usize, "microbatch", "microbatches"),
                    model.name(),
                    model.microbatches()
                ),
                format!("--microbatches {microbatches} gives the model as many"),
            ));
        }
    }
    Ok(())
}

/// The model with measured durations and its own latencies, in nanoseconds.
fn in_nanoseconds(model: &Model, fitted: &Model) -> Result<Model, Error> {
    let unusable = |error: ModelError| Error::Usage { message: error.to_string(), help: None };
    let Some(own) = model.in_nanoseconds().map_err(unusable)? else {
        return Err(Error::usage(
            format!("the model's unit of time, \"{}\", has no length", model.costs().unit),
            "measured times need a unit of ns, us, ms or s",
        ));
    };
    let communication = own.costs().communication.clone();
    let costs = Costs { communication, ..fitted.costs().clone() };
    model.with_costs(costs).map_err(unusable)
}

impl<'a> MeanReport<'a> {
    fn of(model: &'a Model, found: &'a MeanSolution, traces: &[Trace]) -> Self {
        let ticks = |of: &Measured| of.makespans.iter().map(|makespan| makespan.0).collect();
        let best = &found.best;
        let others = others(found).map(|(name, other)| OtherReport {
            name: name.to_owned(),
            mean: decimal(other.mean()),
            mean_exact: fraction(other.mean()),
            makespans: ticks(other),
        });
        Self {
            feasible: true,
            objective: "mean_makespan",
            mean: decimal(best.mean()),
            mean_exact: fraction(best.mean()),
            makespans: ticks(best),
            others: others.collect(),
            engine: &best.engine,
            iterations: best.makespans.len(),
            traces: traces.len(),
            origin: traces[0].origin,
            peak_memory: best.verdict.peak_memory.iter().map(|peak| peak.0).collect(),
            model: model.name(),
            devices: model.devices(),
            microbatches: model.microbatches(),
            time_unit: &model.costs().unit,
            memory_unit: &model.memory().unit,
            schedule: &best.schedule,
            found,
        }
    }
}

/// All but the best, by their means.
fn others(found: &MeanSolution) -> impl Iterator<Item = (&str, &Measured)> {
    let named = found.named.iter().map(|named| (named.engine.as_str(), named));
    let mut all: Vec<_> = [(OF_MEDIANS, &found.of_medians)].into_iter().chain(named).collect();
    all.sort_by_key(|(_, other)| other.total());
    all.into_iter()
}

impl fmt::Display for MeanReport<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let best = &self.found.best;
        let amounts = Amounts::new(out.alternate(), self.time_unit, self.memory_unit);
        writeln!(
            out,
            "{}: {}, {}, found by {}",
            self.model,
            count(self.devices as usize, "device", "devices"),
            count(self.microbatches as usize, "microbatch", "microbatches"),
            self.engine
        )?;
        let mut line = |what: &str, text: String| writeln!(out, "  {what:<12}  {text}");
        line("mean", amounts.time(best.mean()))?;
        line(
            "measured",
            format!(
                "{} of {} ({})",
                count(self.iterations, "iteration", "iterations"),
                count(self.traces, "trace", "traces"),
                self.origin
            ),
        )?;
        line("peak memory", peaks(&best.verdict.peak_memory, amounts))?;
        line("minimised", "the mean makespan over these iterations, each with its own durations".to_owned())?;
        let all = || [("", best)].into_iter().chain(others(self.found)).map(|(_, other)| other);
        let means = all().map(|other| Amount::from(other.mean()));
        let makespans = all().flat_map(|other| &other.makespans).map(|&makespan| makespan.into());
        let times = amounts.times(means.chain(makespans));
        let mut table = Table::new(["schedule", "mean", "above", "least", "most"]);
        let mut row = |name: &str, of: &Measured| {
            let (least, most) = (of.makespans.iter().min(), of.makespans.iter().max());
            let shown = |ticks: Option<&Ticks>| ticks.map_or_else(String::new, |&ticks| times.cell(ticks));
            let above = Ratio::new(of.total() - best.total(), best.total().max(1));
            table.row([
                name.to_owned(),
                times.cell(rounded(of.mean())),
                percentage(above),
                shown(least),
                shown(most),
            ]);
        };
        row("this one", best);
        others(self.found).for_each(|(name, other)| row(name, other));
        write!(out, "\nmakespans in {}, means rounded:\n\n{table}", times.unit())
    }
}

/// The nearest integer, halves up.
fn rounded(mean: Ratio<i128>) -> Ratio<i128> {
    (mean + Ratio::new(1, 2)).floor()
}
