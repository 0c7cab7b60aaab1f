//! `optimize`: a short schedule under the capacities, and how far from the shortest it can be at most.

mod curve;
mod robust;
mod sweep;

use std::fmt;
use std::path::{Path, PathBuf};

use clap::Args;
use itertools::Itertools as _;
use serde::Serialize;

use super::caveats;
use super::deadline::Deadline;
use super::error::{Error, Status};
use super::figures::{Figures, Lines, decimal, fraction, percentage};
use super::file_name::FileName;
use super::interrupt::on_signals;
use super::job::{self, JobArgs};
use super::number::Interval;
use super::output::{Output, Target, note};
use super::progress::Progress;
use super::search::{Infeasible, ObjectiveName, SearchArgs};
use super::size::{Problem, Size, check_size, one_way};
use super::sweep::SweepArgs;
use super::violations::count;
use crate::amounts::Amounts;
use crate::certificate::Optimality;
use crate::estimate::Work;
use crate::model::{Device, Model, Units};
use crate::optimize::{OptimizeError, Solution};
use crate::schedule::Schedule;
use curve::{Curve, CurvePoint};
use robust::Robust;

/// The options of `optimize`.
#[derive(Debug, Args)]
pub struct OptimizeArgs {
    #[command(flatten)]
    model: SweepArgs,

    #[command(flatten)]
    search: SearchArgs,

    #[command(flatten)]
    job: JobArgs,

    /// What to minimise where times are not known exactly; without a value, `worst`
    ///
    /// A model with ranges is optimised for the worst case, with or without this option. A mean needs traces of the
    /// same pipeline: passes take their measured times; latencies and memory are the model's.
    #[arg(long, value_enum, value_name = "WHAT", num_args = 0..=1, default_missing_value = "worst")]
    robust: Option<Robust>,

    /// The measured runs of `--robust mean`: trace files, or the files of torch.profiler, one for each rank of one run
    #[arg(long, value_name = "TRACE", num_args = 1.., requires = "robust")]
    trace: Vec<PathBuf>,

    /// Draws how the best value and the lower bound came closer as the search went on: a file that ends in `.svg`
    ///
    /// With `--json`, the answer lists the same. The times are those of the clock, so they differ from run to run. For a
    /// single model and memory limit.
    #[arg(long, value_name = "FILE")]
    curve: Option<PathBuf>,

    /// The schedule file to write; `-` writes standard output, in place of the figures
    ///
    /// With several combinations of sizes and memory limits, a folder, `DIR/`: one file for each, such as
    /// d8-m24-memory12.json.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// A solution, as it is printed.
#[derive(Serialize)]
struct SolutionReport<'a> {
    feasible: bool,
    #[serde(flatten)]
    figures: Figures,
    objective: &'static str,
    /// The capacity of each device; null where there is none.
    capacity: Vec<Option<i64>>,
    /// What nothing is known to be below: the certified bound, or the value itself where an exhaustive
    /// search found none better.
    lower_bound: i64,
    gap: f64,
    gap_exact: String,
    optimal: bool,
    proof: Option<String>,
    certified_bound: i64,
    interval: Option<Interval>,
    engine: &'a str,
    model: &'a str,
    devices: u32,
    microbatches: u32,
    time_unit: &'a str,
    memory_unit: &'a str,
    /// What the model cannot tell.
    notes: Vec<String>,
    /// What the search had reached at each time, if it was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    curve: Vec<CurvePoint>,
    schedule: &'a Schedule,
    #[serde(skip)]
    described: &'a Model,
    #[serde(skip)]
    solution: &'a Solution,
}

/// That more time may help.
const GAP_LEFT: &str = "a gap remains, and the usual effort is spent; --time-limit S searches for S seconds";

/// Finds a schedule, writes it, and prints its figures.
///
/// # Errors
/// When a file or an option is wrong, the schedule cannot be written, or the search is defective.
pub fn run(args: &OptimizeArgs, output: Output) -> Result<Status, Error> {
    let Some(only) = args.model.only() else {
        refuse_options_of_jobs(&args.job)?;
        curve::refuse(args, "several sizes or memory limits")?;
        return sweep::run(args, output);
    };
    let target = args.output.as_deref().map(|path| schedule_target(path, output)).transpose()?;
    let model = match only.read_model_or_job()? {
        Problem::Job(file) => {
            robust::refuse_job(args)?;
            curve::refuse(args, "the cuts of a job")?;
            return job::optimize(&file, &args.job, &args.search, target.as_ref(), output);
        }
        Problem::Model(model) => *model,
    };
    refuse_options_of_jobs(&args.job)?;
    robust::check(args, &model)?;
    if args.robust == Some(Robust::Mean) {
        curve::refuse(args, "the mean over traces")?;
        let model = one_way(model)?;
        return robust::mean(args, &only, &model, target.as_ref(), output);
    }
    let drawing = args.curve.as_deref().map(|path| curve::drawing(path, output)).transpose()?;
    let progress = Progress::start("starting").until(args.search.time_limit());
    check_size(&model, Work::Search, Some(args.search.time_limit()))?;
    let stop = args.search.stop(on_signals(), output);
    let limit = Deadline::after(args.search.time_limit(), output);
    let mut curve = Curve::begin();
    let solved = args.search.run_told(&model, Vec::new(), &stop, &progress, &mut |state| curve.take(state));
    drop(limit);
    drop(progress);
    let mut solution = match solved {
        Ok(solution) => solution,
        Err(OptimizeError::Infeasible(reason)) => {
            output.print(&Infeasible::of(&reason, output.amounts(&model)))?;
            return Ok(Status::No);
        }
        Err(error) => return Err(refused(&error)),
    };
    if !solution.is_optimal() && !solution.is_cut_short {
        note(GAP_LEFT);
    }
    args.record(only.size(), only.memory(&model), &mut solution.schedule);
    let mut report = SolutionReport::of(&model, &solution, args.search.objective());
    curve.end(&solution);
    if drawing.is_some() {
        report.curve = curve.points();
    }
    report.notes.iter().for_each(|text| note(text));
    output.answer(&report, &solution.schedule, target.as_ref())?;
    // What was found is there before, should the picture fail.
    if let Some(drawing) = drawing {
        drawing.write(|out| out.write_all(curve.svg(&model, args.search.objective()).as_bytes()))?;
        if target != Some(Target::Stdout) {
            output.wrote(&drawing)?;
        }
    }
    Ok(Status::Yes)
}

/// Refuses options that only jobs have, for a model file.
fn refuse_options_of_jobs(args: &JobArgs) -> Result<(), Error> {
    args.given().map_or(Ok(()), |option| {
        Err(Error::usage(
            format!("{option} is for job files, which list layers, but this is a model file"),
            "the model file itself says which device has which stages, and what these cost",
        ))
    })
}

/// Where the schedule goes: a file with the name of one, or standard output.
fn schedule_target(path: &Path, output: Output) -> Result<Target, Error> {
    let name = FileName::of(path);
    if path.extension().is_some_and(|extension| !extension.eq_ignore_ascii_case("json")) {
        return Err(Error::usage(
            format!("`{name}` does not end in `.json`: schedule files are JSON"),
            "give `-o` a name that ends in `.json`; `convert` and `render` write other formats",
        ));
    }
    output.target(path)
}

impl OptimizeArgs {
    /// Writes into the schedule with which options it was made.
    fn record(&self, size: Size, memory: Option<Units>, schedule: &mut Schedule) {
        let Some(provenance) = &mut schedule.provenance else { return };
        provenance.devices = size.devices();
        provenance.microbatches = size.microbatches();
        provenance.memory = memory.map(|units| units.0);
        provenance.settings.insert("seed".to_owned(), self.search.seed().to_string());
    }
}

impl<'a> SolutionReport<'a> {
    fn of(model: &'a Model, solution: &'a Solution, objective: ObjectiveName) -> Self {
        Self {
            feasible: true,
            figures: Figures::of(model, &solution.schedule, &solution.verdict),
            objective: objective.name(),
            capacity: Device::all(model.devices())
                .map(|device| model.capacity(device).map(|capacity| capacity.0))
                .collect(),
            lower_bound: solution.lower_bound().0,
            gap: decimal(solution.gap()),
            gap_exact: fraction(solution.gap()),
            optimal: solution.is_optimal(),
            proof: proof(&solution.optimality),
            certified_bound: solution.bound.value.0,
            interval: solution.interval().map(Interval),
            engine: &solution.engine,
            model: model.name(),
            devices: model.devices(),
            microbatches: model.microbatches(),
            time_unit: &model.costs().unit,
            memory_unit: &model.memory().unit,
            notes: [caveats::worst_case(model), caveats::unsplit_in(model, &solution.schedule)]
                .into_iter()
                .flatten()
                .collect(),
            curve: Vec::new(),
            schedule: &solution.schedule,
            described: model,
            solution,
        }
    }

    /// The capacities: one where they are all the same.
    fn capacities(&self, amounts: Amounts<'_>) -> String {
        let limits = amounts.memories(self.capacity.iter().flatten().copied());
        let of = |capacity: &Option<i64>| {
            capacity.map_or_else(|| "none".to_owned(), |capacity| limits.cell(capacity))
        };
        match self.capacity.iter().all_equal_value() {
            Ok(None) => "none".to_owned(),
            Ok(&Some(capacity)) => format!("{} on each device", amounts.memory(capacity)),
            Err(_) => {
                let shown = self.capacity.iter().map(of).join(", ");
                format!("{shown} {} on the devices in turn", limits.unit())
            }
        }
    }
}

/// What proved optimality, as JSON names it.
fn proof(optimality: &Optimality) -> Option<String> {
    match optimality {
        Optimality::Open => None,
        Optimality::Bound => Some("bound".to_owned()),
        Optimality::Search { engine, .. } => Some(format!("exhaustive search ({engine})")),
    }
}

impl fmt::Display for SolutionReport<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            out,
            "{}: {}, {}, found by {}",
            self.model,
            count(self.devices as usize, "device", "devices"),
            count(self.microbatches as usize, "microbatch", "microbatches"),
            self.engine
        )?;
        let (schedule, verdict) = (self.schedule, &self.solution.verdict);
        let amounts = Amounts::new(out.alternate(), self.time_unit, self.memory_unit);
        write!(out, "{}", Lines { schedule, verdict, model: self.described, amounts })?;
        let objective = self.solution.objective;
        let bound = amounts.time(self.certified_bound);
        writeln!(out, "  {:<12}  {}", "memory limit", self.capacities(amounts))?;
        writeln!(out, "  {:<12}  the {objective}", "minimised")?;
        writeln!(out, "  {:<12}  {bound} on the {objective}", "lower bound")?;
        let gap = match &self.solution.optimality {
            Optimality::Bound => "none: no schedule within these limits is better".to_owned(),
            Optimality::Search { engine, .. } => {
                format!("none: exhaustive search ({engine}) found no better schedule")
            }
            Optimality::Open => format!("{} at most", percentage(self.solution.gap())),
        };
        writeln!(out, "  {:<12}  {gap}", "gap")?;
        if let Some(interval) = &self.interval {
            writeln!(out, "  {:<12}  {} per microbatch", "interval", amounts.time(interval.0))?;
        }
        Ok(())
    }
}

/// Why there is no schedule, where that is no answer about the model.
pub fn refused(error: &OptimizeError) -> Error {
    match error {
        OptimizeError::TwoDirections => {
            Error::usage(error.to_string(), "without --robust mean, `optimize` knows two directions")
        }
        OptimizeError::NoneFound(_) => Error::NoAnswer {
            message: error.to_string(),
            help: Some("a longer --time-limit, or more memory, may give one".to_owned()),
        },
        OptimizeError::Infeasible(_) => Error::Usage { message: error.to_string(), help: None },
        OptimizeError::Rejected { .. } | OptimizeError::Refuted { .. } => Error::Defect(error.to_string()),
    }
}
