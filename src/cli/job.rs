//! Job files: reading one, picking one of its choices, and `optimize` with the cut as part of the answer.

use std::fmt;
use std::path::Path;

use clap::Args;
use itertools::Itertools as _;
use serde::Serialize;

use super::deadline::Deadline;
use super::error::{Error, Status};
use super::figures::{Figures, decimal, fraction, percentage};
use super::input::Input;
use super::interrupt::on_signals;
use super::optimize::refused;
use super::output::{Output, Target, note};
use super::progress::Progress;
use super::search::{Infeasible, SearchArgs};
use super::violations::count;
use crate::amounts::{self, Amounts};
use crate::certificate::Objective;
use crate::job::{Choice, ChoicePlacement, Cut, Job};
use crate::model::Ticks;
use crate::optimize::OptimizeError;
use crate::plan::{self, CutProgress, CutSolution, Partition, PlanError, optimize_cut};
use crate::replay::Rate;
use crate::schedule::Schedule;

/// Which choice of a job is meant, and how its layers are cut.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options for job files")]
pub struct JobArgs {
    /// Layers of each stage: `auto` for the best cut, `even`, or a list such as 4,4,5,4 [default: auto]
    #[arg(long, value_name = "CUT", value_parser = partition)]
    partition: Option<Partition>,

    /// Pipeline-parallel degree
    #[arg(long, value_name = "P")]
    pipeline: Option<u32>,

    /// Tensor-parallel degree
    #[arg(long, value_name = "T")]
    tensor: Option<u32>,

    /// Samples in a microbatch
    #[arg(long, value_name = "B")]
    microbatch_size: Option<u32>,

    /// Placement of stages: linear, v, or `looped 2`
    #[arg(long, value_name = "NAME", value_parser = placement)]
    placement: Option<ChoicePlacement>,
}

fn partition(text: &str) -> Result<Partition, String> {
    match text {
        "auto" => Ok(Partition::Auto),
        "even" => Ok(Partition::Even),
        _ => {
            let layers =
                text.split(',').map(|layers| layers.trim().parse().ok()).collect::<Option<Vec<u32>>>();
            layers.map(|layers| Partition::Given(Cut::new(layers))).ok_or_else(|| {
                format!("`{text}` is neither auto nor even nor a list of layers, such as 4,4,5,4")
            })
        }
    }
}

fn placement(text: &str) -> Result<ChoicePlacement, String> {
    ChoicePlacement::try_from(text.to_owned()).map_err(|error| error.to_string())
}

impl JobArgs {
    /// The first option that only jobs have, if one is given.
    pub const fn given(&self) -> Option<&'static str> {
        match self {
            Self { partition: Some(_), .. } => Some("--partition"),
            Self { pipeline: Some(_), .. } => Some("--pipeline"),
            Self { tensor: Some(_), .. } => Some("--tensor"),
            Self { microbatch_size: Some(_), .. } => Some("--microbatch-size"),
            Self { placement: Some(_), .. } => Some("--placement"),
            _ => None,
        }
    }

    /// The one choice of a job that the options leave.
    fn choice(&self, job: &Job) -> Result<Choice, Error> {
        let all = job.choices().map_err(|error| wrong(&error))?;
        let is = |asked: Option<u32>, found: u32| asked.is_none_or(|asked| asked == found);
        let mut left: Vec<Choice> = all
            .iter()
            .filter(|choice| {
                is(self.pipeline, choice.pipeline)
                    && is(self.tensor, choice.tensor)
                    && is(self.microbatch_size, choice.microbatch_size)
                    && self.placement.is_none_or(|asked| asked == choice.placement)
            })
            .copied()
            .collect();
        // Whatever may be recomputed or offloaded need not be.
        if left.iter().map(|choice| Choice { saving: left[0].saving, ..*choice }).all_equal() {
            left.sort_by_key(|choice| std::cmp::Reverse(choice.saving));
            left.truncate(1);
        }
        match left.as_slice() {
            [choice] => Ok(*choice),
            [] => Err(Error::usage(
                format!("`{}` leaves no such choice", job.name),
                format!("it has {}", shown(&all)),
            )),
            _ => Err(Error::usage(
                format!(
                    "`{}` leaves {} open, but `optimize` needs one",
                    job.name,
                    count(left.len(), "choice", "choices")
                ),
                format!(
                    "pick one with --pipeline, --tensor, --microbatch-size and --placement, of {}; or let `bubbleproof plan` \
                     compare them",
                    shown(&left)
                ),
            )),
        }
    }
}

/// The first choices of a list, by name.
fn shown(choices: &[Choice]) -> String {
    let first = choices.iter().take(6).join("; ");
    if choices.len() > 6 { format!("{first}; and {} more", choices.len() - 6) } else { first }
}

fn wrong(error: &dyn fmt::Display) -> Error {
    Error::Usage { message: error.to_string(), help: None }
}

/// A job, with the text of its file.
pub struct JobFile {
    /// What the file says.
    pub job: Job,
    /// The file itself, which certificates quote.
    pub text: String,
}

impl JobFile {
    /// Reads a file if it describes a job and no model.
    ///
    /// # Errors
    /// When it cannot be read, or is a job that is wrong.
    pub fn read_if_job(path: &Path) -> Result<Result<Self, Input>, Error> {
        let input = Input::read(path)?;
        if !input.is_job() {
            return Ok(Err(input));
        }
        let job = input.job()?;
        Ok(Ok(Self { job, text: input.into_text() }))
    }
}

/// Answers that there is no plan, or says why that is not known.
///
/// # Errors
/// When it is not known, or the job is wrong.
pub fn without_plan(error: PlanError, output: Output) -> Result<Status, Error> {
    match error {
        PlanError::NoCut(_) | PlanError::Search(OptimizeError::Infeasible(_)) => {
            output.print(&Infeasible::because(error.to_string()))?;
            Ok(Status::No)
        }
        error => Err(refused_plan(error)),
    }
}

fn refused_plan(error: PlanError) -> Error {
    match error {
        PlanError::Search(error) => refused(&error),
        PlanError::NoneFound => Error::NoAnswer {
            message: error.to_string(),
            help: Some("a longer --time-limit, or more memory, may give one".to_owned()),
        },
        other => wrong(&other),
    }
}

/// Says what costs that are estimated are worth.
pub fn note_estimate(job: &Job) {
    if job.is_estimate {
        note("the costs of this job are an estimate, not measured");
    }
}

/// The progress of a search over cuts, as it is shown.
pub fn show(progress: &Progress, state: &CutProgress, unit: &str) {
    let best = state.best.as_ref().map_or_else(String::new, |(value, cut)| {
        format!(", best {} with {cut}", amounts::time(value.0, unit))
    });
    progress.step(format!("{}{best}", state.step));
}

/// Finds a cut and a schedule, writes the schedule, and prints the figures.
///
/// # Errors
/// When the options do not suit the job, or the search is defective.
pub fn optimize(
    file: &JobFile,
    args: &JobArgs,
    search: &SearchArgs,
    target: Option<&Target>,
    output: Output,
) -> Result<Status, Error> {
    let JobFile { job, text } = file;
    let choice = args.choice(job)?;
    if search.objective().objective() != Objective::Makespan {
        return Err(Error::usage(
            "a cut is chosen for the makespan, not for the device span",
            "leave out --minimize; `optimize` with the model of one cut supports both",
        ));
    }
    let layers = job.layers(&choice).map_err(|error| wrong(&error))?;
    note_estimate(job);
    let progress = Progress::start("starting").until(search.time_limit());
    let stop = search.stop(on_signals(), output);
    let limit = Deadline::after(search.time_limit(), output);
    let partition = args.partition.clone().unwrap_or(Partition::Auto);
    let found = optimize_cut(&layers, &partition, &search.options(&stop), &mut |state| {
        show(&progress, state, &layers.time_unit);
    });
    drop((limit, progress));
    let found = match found {
        Ok(found) => found,
        Err(error) => return without_plan(error, output),
    };
    let schedule = found.certified(text, &choice, None);
    let report = CutReport::of(job, &choice, &found, &schedule);
    output.answer(&report, &schedule, target)?;
    Ok(Status::Yes)
}

/// A cut with its schedule, as it is printed.
#[derive(Serialize)]
struct CutReport<'a> {
    feasible: bool,
    job: &'a str,
    choice: Choice,
    estimate: bool,
    cut: Vec<u32>,
    #[serde(flatten)]
    figures: Figures,
    /// No schedule of this cut is shorter.
    lower_bound: i64,
    /// No schedule of any cut is shorter: derived again by `check`.
    no_cut_below: i64,
    /// No schedule of any cut is shorter, as exhaustive searches found.
    searched: Option<i64>,
    /// How much longer it is than the best that is not excluded, over all cuts.
    gap: f64,
    gap_exact: String,
    optimal: bool,
    samples_per_second: Option<f64>,
    utilisation: Option<f64>,
    engine: &'a str,
    devices: u32,
    microbatches: u32,
    time_unit: &'a str,
    memory_unit: &'a str,
    schedule: &'a Schedule,
    #[serde(skip)]
    found: &'a CutSolution,
    #[serde(skip)]
    worth: plan::Figures,
    #[serde(skip)]
    gap_rate: Rate,
}

/// How much longer a value is than a bound, as a share of that.
pub fn gap(value: Ticks, bound: Ticks) -> Rate {
    let (value, bound) = (i128::from(value.0), i128::from(bound.0.max(1)));
    Rate::new(value - bound, bound)
}

impl<'a> CutReport<'a> {
    fn of(job: &'a Job, choice: &Choice, found: &'a CutSolution, schedule: &'a Schedule) -> Self {
        let (model, solution) = (&found.model, &found.solution);
        let worth = plan::Figures::of(job, choice, solution.value());
        let gap_rate = gap(solution.value(), found.none_below());
        Self {
            feasible: true,
            job: &job.name,
            choice: *choice,
            estimate: job.is_estimate,
            cut: found.cut.layers().to_vec(),
            figures: Figures::of(model, schedule, &solution.verdict),
            lower_bound: solution.lower_bound().0,
            no_cut_below: found.no_cut_below.0,
            searched: found.searched.map(|none_below| none_below.0),
            gap: decimal(gap_rate),
            gap_exact: fraction(gap_rate),
            optimal: found.is_optimal(),
            samples_per_second: worth.samples_per_second.map(decimal),
            utilisation: worth.utilisation.map(decimal),
            engine: &solution.engine,
            devices: model.devices(),
            microbatches: model.microbatches(),
            time_unit: &model.costs().unit,
            memory_unit: &model.memory().unit,
            schedule,
            found,
            worth,
            gap_rate,
        }
    }
}

impl fmt::Display for CutReport<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let solution = &self.found.solution;
        let layers: u32 = self.cut.iter().sum();
        writeln!(
            out,
            "{} {}: {}, {}, {}, found by {}",
            self.job,
            self.choice,
            count(layers as usize, "layer", "layers"),
            count(self.devices as usize, "device", "devices"),
            count(self.microbatches as usize, "microbatch", "microbatches"),
            self.engine
        )?;
        let amounts = Amounts::new(out.alternate(), self.time_unit, self.memory_unit);
        let mut line = |what: &str, figure: String| writeln!(out, "  {what:<12}  {figure}");
        let time = |ticks: i64| amounts.time(ticks);
        line("cut", self.found.cut.to_string())?;
        line("makespan", time(solution.value().0))?;
        if let Some(rate) = self.worth.samples_per_second {
            line("throughput", format!("{} samples/s", amounts::digits(rate)))?;
        }
        if let Some(rate) = self.worth.utilisation {
            line("utilisation", format!("{} of the peak", percentage(rate)))?;
        }
        if let Some(timing) = &solution.verdict.timing {
            line("bubble rate", percentage(timing.metrics.bubble_rate))?;
        }
        if let Some(most) = solution.verdict.peak_memory.iter().max() {
            let limit = self.found.model.capacity(crate::model::Device(0));
            let of = limit.map_or_else(String::new, |limit| format!(" of {}", amounts.memory(limit)));
            line("peak memory", format!("{}{of}", amounts.memory(*most)))?;
        }
        line("lower bound", format!("{} for this cut", time(self.lower_bound)))?;
        line("", format!("{} for any cut", time(self.found.none_below().0)))?;
        let gap = match (self.optimal, self.searched) {
            (true, None) => "none: no schedule of any cut is shorter".to_owned(),
            (true, Some(_)) => "none: exhaustive searches found no shorter schedule of any cut".to_owned(),
            (false, _) => format!("{} at most, over all cuts and schedules", percentage(self.gap_rate)),
        };
        line("gap", gap)
    }
}
