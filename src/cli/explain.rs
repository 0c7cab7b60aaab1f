//! `explain`: why memory limits are infeasible, or what limits a schedule, what would help, and why none is better.

mod causes;
mod durations;
mod helps;
mod reference;
mod subject;
mod words;

use std::fmt;
use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use self::durations::{DurationReport, DurationTable};
use self::helps::{GainReport, Helps};
use self::reference::Reference;
use self::subject::Given;
use super::caveats;
use super::deadline::Deadline;
use super::error::{Error, Status};
use super::interrupt::on_signals;
use super::memory_limit::MemoryLimit;
use super::number::Interval;
use super::output::{Output, note};
use super::progress::Progress;
use super::search::SearchArgs;
use super::size::{Size, check_size};
use super::violations::count;
use super::wrap::wrapped;
use crate::amounts::Amounts;
use crate::analysis::{sensitivities, steady_interval};
use crate::certificate::Objective;
use crate::estimate::Work;
use crate::model::Model;
use crate::optimize::explain::{gains, judged, steady};
use crate::optimize::{OptimizeError, Solution};
use crate::stop::Stop;

/// The options of `explain`.
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// A model file (TOML), for which a schedule is found; or the schedule to explain (with --model), or a block family
    /// (with --devices and --microbatches); `-` reads standard input
    #[arg(value_name = "MODEL|SCHEDULE|FAMILY")]
    subject: PathBuf,

    #[command(flatten)]
    size: Size,

    #[command(flatten)]
    memory_limit: MemoryLimit,

    #[command(flatten)]
    search: SearchArgs,

    /// A schedule file to explain under MODEL, in place of the schedule that a search finds
    ///
    /// The number of microbatches is the schedule's.
    #[arg(long, value_name = "SCHEDULE", conflicts_with = "model")]
    schedule: Option<PathBuf>,

    /// The model file with times and memory, for a schedule or a block family; without it, unit times, or those of the family
    #[arg(long, value_name = "MODEL")]
    model: Option<PathBuf>,
}

/// One thing that is so, and why.
#[derive(Debug, Serialize)]
struct Explained {
    /// What it is about: `infeasible`, `balance`, `idle`, `messages`, `copies`, `memory`, `interval`, `conflict`, `cycle`, `bound` or `path`.
    kind: &'static str,
    /// All of it in sentences.
    message: String,
    /// Where the pages say more.
    #[serde(skip_serializing_if = "Option::is_none")]
    see: Option<Reference>,
    /// The devices that it names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    devices: Vec<u32>,
    /// The passes that it names, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    passes: Vec<String>,
}

impl Explained {
    const fn new(kind: &'static str, message: String, see: Reference) -> Self {
        Self { kind, message, see: Some(see), devices: Vec::new(), passes: Vec::new() }
    }

    /// What it is called in front of its sentences.
    fn label(&self) -> &'static str {
        match self.kind {
            "interval" => "speed",
            "conflict" => "in the way",
            "cycle" => "pattern",
            "bound" => "lower bound",
            kind => kind,
        }
    }
}

/// What was found out, as it is printed.
#[derive(Debug, Serialize)]
struct ExplanationReport<'a> {
    feasible: bool,
    reasons: Vec<Explained>,
    /// What could be changed, the largest gain first. Empty where the device span is minimised.
    gains: Vec<GainReport>,
    /// What each duration and latency means for the makespan.
    durations: Vec<DurationReport>,
    /// What the model cannot tell.
    notes: Vec<String>,
    interval: Option<Interval>,
    makespan: Option<i64>,
    certified_bound: Option<i64>,
    /// The name of the schedule that was given, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    schedule: Option<String>,
    model: &'a str,
    devices: u32,
    microbatches: u32,
    time_unit: &'a str,
    memory_unit: &'a str,
}

/// Finds a schedule or takes the one that is given, and says what keeps it from being better.
///
/// # Errors
/// When a file or an option is wrong, the schedule is not valid, or the search is defective.
pub fn run(args: &ExplainArgs, output: Output) -> Result<Status, Error> {
    let Given { model, schedule, notes } = subject::read(args)?;
    let progress = Progress::start("starting");
    let is_given = schedule.is_some();
    check_size(&model, if is_given { Work::Replay } else { Work::Search }, Some(args.search.time_limit()))?;
    let stop = args.search.stop(on_signals(), output);
    let limit = Deadline::after(args.search.time_limit(), output);
    // What sets the interval wants a part of the time, too.
    let share = stop.within(stop.remaining() / 4 * 3);
    let objective = args.search.objective().objective();
    let amounts = output.amounts(&model);
    let mut report = ExplanationReport {
        feasible: true,
        reasons: Vec::new(),
        gains: Vec::new(),
        durations: Vec::new(),
        notes: if is_given {
            notes
        } else {
            [caveats::worst_case(&model), caveats::unsplit(&model)].into_iter().flatten().collect()
        },
        interval: None,
        makespan: None,
        certified_bound: None,
        schedule: schedule.as_ref().and_then(|schedule| schedule.name.clone()),
        model: model.name(),
        devices: model.devices(),
        microbatches: model.microbatches(),
        time_unit: &model.costs().unit,
        memory_unit: &model.memory().unit,
    };
    // Notes on a schedule that is given have been printed.
    let printed = if is_given { report.notes.len() } else { 0 };
    let found = match schedule {
        Some(schedule) => judged(&model, schedule, objective, &share),
        None => args.search.run(&model, &share, &progress),
    };
    match found {
        Err(OptimizeError::Infeasible(reason)) => {
            report.feasible = false;
            report.reasons.push(words::of_infeasible(amounts, &reason));
        }
        Err(OptimizeError::Rejected { reason, .. }) if is_given => {
            return Err(Error::usage(
                format!("the schedule is not valid under `{}`: {reason}", model.name()),
                "`bubbleproof verify` with this --model lists everything that is wrong with it",
            ));
        }
        Err(error) => return Err(super::optimize::refused(&error)),
        Ok(solution) => report.explain(&model, amounts, &solution, is_given, &stop, &progress),
    }
    drop((progress, limit));
    report.notes[printed..].iter().for_each(|text| note(text));
    output.print(&report)?;
    Ok(Status::of(report.feasible))
}

impl ExplanationReport<'_> {
    /// Everything about a schedule.
    fn explain(
        &mut self,
        model: &Model,
        amounts: Amounts<'_>,
        solution: &Solution,
        is_given: bool,
        stop: &Stop,
        progress: &Progress,
    ) {
        let timing = solution.verdict.timing.as_ref();
        self.reasons.extend(causes::of(model, amounts, solution));
        progress.step("what sets the interval");
        if model.placement().directions() == 1
            && let Some(steady) = steady(model, stop)
        {
            self.interval = Some(Interval(steady.interval));
            let pace =
                timing.filter(|_| is_given).and_then(|timing| steady_interval(&solution.schedule, timing));
            self.reasons.extend(words::of_steady(model, amounts, &steady, pace));
        }
        self.makespan = timing.map(|timing| timing.metrics.makespan.0);
        self.certified_bound = Some(solution.bound.value.0);
        self.reasons.push(words::of_bound(amounts, solution));
        self.reasons.extend(words::of_path(model, amounts, solution));
        if let (Some(timing), Objective::Makespan) = (timing, solution.objective) {
            progress.step("what would help");
            let makespan = timing.metrics.makespan;
            let found = gains(model, makespan, solution.bound.value, stop);
            self.gains = found.into_iter().map(|gain| GainReport::new(gain, makespan)).collect();
        }
        progress.step("which durations matter");
        let found = sensitivities(model, &solution.schedule, &mut || stop.is_due());
        self.durations = found.into_iter().flatten().map(DurationReport::from).collect();
        if stop.is_due() {
            self.notes.push("the time was too short to look at every duration".to_owned());
        }
    }
}

impl fmt::Display for Explained {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let see = self.see.map_or_else(String::new, |see| format!(" ({see})"));
        // A list follows what ends with a colon.
        let mut lines = self.message.lines();
        let first = lines.next().unwrap_or_default();
        let text =
            first.strip_suffix(':').map_or_else(|| format!("{first}{see}"), |first| format!("{first}{see}:"));
        writeln!(out, "  {:<12}  {}", self.label(), wrapped(&text, 16))?;
        lines.try_for_each(|line| {
            let (at, passes) = line.rsplit_once("  ").unwrap_or(("", line));
            writeln!(out, "{at}  {}", wrapped(passes, at.chars().count() + 2))
        })
    }
}

impl fmt::Display for ExplanationReport<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let amounts = Amounts::new(out.alternate(), self.time_unit, self.memory_unit);
        let devices = count(self.devices as usize, "device", "devices");
        let microbatches = count(self.microbatches as usize, "microbatch", "microbatches");
        let under = self.schedule.as_ref().filter(|schedule| *schedule != self.model);
        let name = under
            .map_or_else(|| self.model.to_owned(), |schedule| format!("{schedule} under {}", self.model));
        writeln!(out, "{name}: {devices}, {microbatches}")?;
        for reason in &self.reasons {
            write!(out, "{reason}")?;
        }
        if !self.feasible {
            return Ok(());
        }
        writeln!(
            out,
            "\n3F0 is the forward of stage 3 for microbatch 0\n> needs the pass before it   # waits for memory   | waits for its device"
        )?;
        if !self.gains.is_empty() {
            write!(out, "{}", Helps { gains: &self.gains, amounts })?;
        }
        if self.durations.is_empty() {
            return Ok(());
        }
        let ranges = self.durations.iter().any(DurationReport::is_range);
        let what = if ranges {
            "what is saved if a duration is at the low end of its range, and how much longer each may be at no cost"
        } else {
            "what it costs if all passes of a kind on a stage take 1 % longer, and how much longer they may be at no cost"
        };
        let unit = amounts.counted().map_or_else(String::new, |unit| format!(", in {unit}"));
        write!(
            out,
            "\n{}:\n\n{}",
            wrapped(&format!("{what}{unit}"), 0),
            DurationTable { rows: &self.durations, amounts }
        )
    }
}
