//! `optimize`: a short schedule under the capacities, and how far from the shortest it can be at most.

use std::fmt;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use clap::{Args, ValueEnum};
use itertools::Itertools as _;
use num_rational::Ratio;
use serde::Serialize;

use super::error::{Error, Status};
use super::figures::{Figures, Lines, decimal, fraction, percentage};
use super::interrupt::on_ctrl_c;
use super::number::Interval;
use super::output::{Output, Target};
use super::progress::Progress;
use super::size::ModelArgs;
use super::violations::count;
use crate::model::{Device, Model};
use crate::optimize::{self, Interrupt, Objective, Optimality, OptimizeError, Options, Solution, Stop};
use crate::schedule::{self, Schedule};

/// The options of `optimize`.
#[derive(Debug, Args)]
pub struct OptimizeArgs {
    #[command(flatten)]
    model: ModelArgs,

    #[command(flatten)]
    search: SearchArgs,

    /// The schedule file to write; `-` writes standard output, in place of the figures
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// How to search.
#[derive(Debug, Args)]
pub struct SearchArgs {
    /// What to minimise
    #[arg(long, value_enum, default_value_t = ObjectiveName::Makespan, value_name = "WHAT")]
    objective: ObjectiveName,

    /// The most seconds to search; the best schedule found by then is the answer
    #[arg(long, value_name = "S", default_value = "60", value_parser = seconds)]
    time_limit: Duration,

    /// Decides between choices that nothing else decides
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    /// The number of threads that search [default: as many as there are processors]
    ///
    /// A search that ends before its time limit gives the same answer with any number of them.
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
}

/// An [`Objective`], as the option names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ObjectiveName {
    /// The last end over all devices
    Makespan,
    /// The largest, over devices, of last end minus first start
    Span,
}

impl ObjectiveName {
    const fn name(self) -> &'static str {
        match self {
            Self::Makespan => "makespan",
            Self::Span => "span",
        }
    }

    const fn objective(self) -> Objective {
        match self {
            Self::Makespan => Objective::Makespan,
            Self::Span => Objective::DeviceSpan,
        }
    }
}

/// A positive number of seconds, with decimals.
pub fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().ok().filter(|&seconds| seconds > 0.0);
    seconds
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| format!("`{text}` is not a positive number of seconds"))
}

impl SearchArgs {
    /// The time limit, from now on.
    pub fn stop(&self, interrupt: Interrupt) -> Stop {
        Stop::on(interrupt).within(self.time_limit)
    }

    /// Searches, telling where it stands.
    ///
    /// # Errors
    /// When the capacities are too small, or the search is defective.
    pub fn run(&self, model: &Model, stop: &Stop, progress: &Progress) -> Result<Solution, OptimizeError> {
        let available = || thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        let threads = self.threads.unwrap_or_else(available);
        let (objective, stop, seed) = (self.objective.objective(), stop.clone(), self.seed);
        let options = Options { objective, stop, seed, threads, ..Options::default() };
        optimize::optimize(model, &options, &mut |state| {
            let best = state.best.map_or_else(String::new, |best| {
                let gap = Ratio::new(i128::from((best - state.bound).0), i128::from(state.bound.0.max(1)));
                format!(", best {best}, gap {}", percentage(gap))
            });
            progress.step(format!("{}, bound {}{best}", state.step, state.bound));
        })
    }
}

/// A solution, as it is printed.
#[derive(Serialize)]
struct SolutionReport<'a> {
    feasible: bool,
    #[serde(flatten)]
    figures: Figures,
    objective: &'static str,
    /// Of each device; null where there is none.
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
    schedule: &'a Schedule,
    #[serde(skip)]
    described: &'a Model,
    #[serde(skip)]
    solution: &'a Solution,
}

/// That no schedule keeps to the capacities.
#[derive(Serialize)]
pub struct Infeasible {
    feasible: bool,
    reason: String,
}

impl Infeasible {
    /// For this reason.
    pub const fn because(reason: String) -> Self {
        Self { feasible: false, reason }
    }
}

impl fmt::Display for Infeasible {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "infeasible: {}", self.reason)
    }
}

/// Finds a schedule, writes it, and prints its figures.
///
/// # Errors
/// When a file or an option is wrong, the schedule cannot be written, or the search is defective.
pub fn run(args: &OptimizeArgs, output: Output) -> Result<Status, Error> {
    let target = args.output.as_deref().map(|path| schedule_target(path, output)).transpose()?;
    let model = args.model.read_one_way()?;
    let progress = Progress::start("starting");
    let solved = args.search.run(&model, &args.search.stop(on_ctrl_c()), &progress);
    drop(progress);
    let mut solution = match solved {
        Ok(solution) => solution,
        Err(OptimizeError::Infeasible(reason)) => {
            output.print(&Infeasible::because(reason.to_string()))?;
            return Ok(Status::No);
        }
        Err(error) => return Err(refused(&error)),
    };
    args.record(&model, &mut solution.schedule);
    if let Some(target) = &target {
        target.write(|out| schedule::write(&solution.schedule, out))?;
    }
    if target != Some(Target::Stdout) {
        output.print(&SolutionReport::of(&model, &solution, args.search.objective))?;
    }
    if let Some(Target::File(path)) = target
        && !output.is_json()
    {
        super::output::to_stdout(|out| writeln!(out, "wrote {}", path.display()))?;
    }
    Ok(Status::Yes)
}

/// Where the schedule goes: a file with the name of one, or standard output.
fn schedule_target(path: &Path, output: Output) -> Result<Target, Error> {
    let name = path.display();
    if path.extension().is_some_and(|extension| !extension.eq_ignore_ascii_case("json")) {
        return Err(Error::usage(
            format!("`{name}` is no name of a schedule file, which is JSON"),
            "give `-o` a name that ends in `.json`; `convert` and `render` make other forms of it",
        ));
    }
    output.target(path)
}

impl OptimizeArgs {
    /// Writes into the schedule with which options it was made.
    fn record(&self, model: &Model, schedule: &mut Schedule) {
        let Some(provenance) = &mut schedule.provenance else { return };
        provenance.devices = self.model.devices();
        provenance.microbatches = self.model.microbatches();
        provenance.memory = self.model.memory(model).map(|units| units.0);
        provenance.settings.insert("seed".to_owned(), self.search.seed.to_string());
    }
}

impl<'a> SolutionReport<'a> {
    fn of(model: &'a Model, solution: &'a Solution, objective: ObjectiveName) -> Self {
        Self {
            feasible: true,
            figures: Figures::of(&solution.verdict),
            objective: objective.name(),
            capacity: Device::all(model.devices())
                .map(|device| model.capacity(device).map(|capacity| capacity.0))
                .collect(),
            lower_bound: solution.lower().0,
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
            schedule: &solution.schedule,
            described: model,
            solution,
        }
    }

    /// The capacities: one where they are all the same.
    fn capacities(&self) -> String {
        let unit = self.memory_unit;
        let of = |capacity: &Option<i64>| {
            capacity.map_or_else(|| "none".to_owned(), |capacity| capacity.to_string())
        };
        match self.capacity.iter().all_equal_value() {
            Ok(None) => "none".to_owned(),
            Ok(Some(capacity)) => format!("{capacity} {unit} on each device"),
            Err(_) => format!("{} {unit} on the devices in turn", self.capacity.iter().map(of).join(", ")),
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
        write!(out, "{}", Lines { verdict: &self.solution.verdict, model: self.described })?;
        let (unit, objective) = (self.time_unit, self.solution.objective);
        writeln!(out, "  {:<12}  {}", "memory limit", self.capacities())?;
        writeln!(out, "  {:<12}  the {objective}", "minimised")?;
        writeln!(out, "  {:<12}  {} {unit} on the {objective}", "lower bound", self.certified_bound)?;
        let gap = match &self.solution.optimality {
            Optimality::Bound => "none: no schedule within these limits is better".to_owned(),
            Optimality::Search { engine, .. } => {
                format!("none: exhaustive search ({engine}) found no better schedule")
            }
            Optimality::Open => format!("{} at most", percentage(self.solution.gap())),
        };
        writeln!(out, "  {:<12}  {gap}", "gap")?;
        if let Some(interval) = &self.interval {
            writeln!(out, "  {:<12}  {interval} {unit} per microbatch", "interval")?;
        }
        Ok(())
    }
}

/// Why there is no schedule, where that is no answer about the model.
pub fn refused(error: &OptimizeError) -> Error {
    match error {
        OptimizeError::TwoDirections => {
            Error::usage(error.to_string(), "`compare` knows the named schedules of two directions")
        }
        OptimizeError::Infeasible(_) => Error::Usage { message: error.to_string(), help: None },
        OptimizeError::Rejected { .. } | OptimizeError::Refuted { .. } => Error::Defect(error.to_string()),
    }
}
