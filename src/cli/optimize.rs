//! `optimize`: the best schedule under the caps, and how far from the best it can be.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::error::{Error, Status};
use super::figures::{Figures, Lines, decimal, fraction, percentage};
use super::number::Interval;
use super::output::{Output, Target};
use super::progress::Progress;
use super::size::ModelArgs;
use crate::model::Model;
use crate::optimize::{self, Objective, OptimizeError, Options, Solution, Stop};
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
    #[arg(long, value_enum, default_value_t = Goal::Makespan, value_name = "WHAT")]
    objective: Goal,

    /// The most seconds to search; the best schedule found by then is the answer
    #[arg(long, value_name = "S", default_value = "60", value_parser = seconds)]
    time_limit: Duration,

    /// Decides between choices that nothing else decides
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
}

/// What to minimise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Goal {
    /// The last end over all devices
    Makespan,
    /// The largest, over devices, of last end minus first start
    Span,
}

impl Goal {
    const fn name(self) -> &'static str {
        match self {
            Self::Makespan => "makespan",
            Self::Span => "device span",
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
    /// When to stop what is done in the same time again.
    pub fn stop(&self) -> Stop {
        Stop::after(self.time_limit)
    }

    /// Searches, telling where it stands.
    pub fn run(&self, model: &Model, progress: &Progress) -> Result<Solution, OptimizeError> {
        let objective = match self.objective {
            Goal::Makespan => Objective::Makespan,
            Goal::Span => Objective::Span,
        };
        let Self { time_limit, seed, .. } = *self;
        let options = Options { objective, time_limit, seed, ..Options::default() };
        optimize::optimize(model, &options, &mut |state| {
            let best = state.best.map_or_else(String::new, |best| format!(", best {best}"));
            progress.step(format!("{}{best}, bound {}", state.step, state.bound));
        })
    }
}

/// A solution, as it is printed.
#[derive(Serialize)]
struct Found<'a> {
    feasible: bool,
    #[serde(flatten)]
    figures: Figures,
    #[serde(skip)]
    objective: &'static str,
    lower_bound: i64,
    gap: f64,
    gap_exact: String,
    optimal: bool,
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

/// That no schedule keeps to the caps.
#[derive(Serialize)]
pub struct Unfeasible {
    feasible: bool,
    reason: String,
}

impl Unfeasible {
    /// For this reason.
    pub const fn because(reason: String) -> Self {
        Self { feasible: false, reason }
    }
}

impl fmt::Display for Unfeasible {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "infeasible: {}", self.reason)
    }
}

/// Finds a schedule, writes it, and prints its figures.
///
/// # Errors
/// When a file or an option is wrong, the schedule cannot be written, or the search is defective.
pub fn run(args: &OptimizeArgs, output: Output) -> Result<Status, Error> {
    let target = args.output.as_deref().map(|path| output.target(path)).transpose()?;
    let model = args.model.read()?;
    let progress = Progress::start("starting");
    let solved = args.search.run(&model, &progress);
    drop(progress);
    let mut solution = match solved {
        Ok(solution) => solution,
        Err(OptimizeError::Infeasible(reason)) => {
            output.print(&Unfeasible::because(reason.to_string()))?;
            return Ok(Status::No);
        }
        Err(error @ OptimizeError::Rejected { .. }) => return Err(Error::Defect(error.to_string())),
    };
    args.record(&model, &mut solution.schedule);
    if let Some(target) = &target {
        target.write(|out| schedule::write(&solution.schedule, out))?;
    }
    if target != Some(Target::Stdout) {
        output.print(&Found::of(&model, &solution, args.search.objective.name()))?;
    }
    if let Some(Target::File(path)) = target
        && !output.is_json()
    {
        super::output::to_stdout(|out| writeln!(out, "wrote {}", path.display()))?;
    }
    Ok(Status::Yes)
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

impl<'a> Found<'a> {
    fn of(model: &'a Model, solution: &'a Solution, objective: &'static str) -> Self {
        Self {
            feasible: true,
            figures: Figures::of(&solution.verdict),
            objective,
            lower_bound: solution.bound.value.0,
            gap: decimal(solution.gap()),
            gap_exact: fraction(solution.gap()),
            optimal: solution.is_optimal(),
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
}

impl fmt::Display for Found<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            out,
            "{}: {} devices, {} microbatches, found by {}",
            self.model, self.devices, self.microbatches, self.engine
        )?;
        write!(out, "{}", Lines { verdict: &self.solution.verdict, model: self.described })?;
        let unit = self.time_unit;
        writeln!(out, "  {:<12}  {} {unit} on the {}", "lower bound", self.lower_bound, self.objective)?;
        let gap = if self.optimal {
            "none: no schedule under these caps is better".to_owned()
        } else {
            format!("{} at most", percentage(self.solution.gap()))
        };
        writeln!(out, "  {:<12}  {gap}", "gap")?;
        if let Some(interval) = &self.interval {
            writeln!(out, "  {:<12}  {interval} {unit} per microbatch", "interval")?;
        }
        Ok(())
    }
}
