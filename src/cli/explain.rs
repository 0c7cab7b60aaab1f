//! `explain`: why memory limits are infeasible, or what sets the interval, the bound and the makespan.

mod durations;

use std::fmt::{self, Write as _};
use std::path::{Path, PathBuf};

use clap::Args;
use num_rational::Ratio;
use serde::Serialize;

use super::caveats;
use super::deadline::Deadline;
use super::error::{Error, Status};
use super::figures::percentage;
use super::input::Input;
use super::interrupt::on_signals;
use super::number::Interval;
use super::output::{Output, note};
use super::progress::Progress;
use super::search::SearchArgs;
use super::size::{ModelArgs, check_size};
use super::violations::count;
use crate::analysis::{Section, Step, Waits, critical_path, sections, sensitivities};
use crate::certificate::Optimality;
use crate::draw::{in_unit, plural};
use crate::estimate::Work;
use crate::model::Model;
use crate::optimize::explain::{Conflict, Limit, Steady, judged, steady};
use crate::optimize::{OptimizeError, Solution};
use crate::schedule::Schedule;
use durations::{DurationReport, DurationTable};

/// The options of `explain`.
#[derive(Debug, Args)]
pub struct ExplainArgs {
    #[command(flatten)]
    model: ModelArgs,

    #[command(flatten)]
    search: SearchArgs,

    /// A schedule file to explain, in place of the schedule that a search finds
    ///
    /// The number of microbatches is the schedule's.
    #[arg(long, value_name = "SCHEDULE")]
    schedule: Option<PathBuf>,
}

/// One thing that is so, and why.
#[derive(Debug, Serialize)]
struct Explained {
    /// What it is about: `infeasible`, `interval`, `conflict`, `cycle`, `bound` or `path`.
    kind: &'static str,
    /// All of it in sentences.
    message: String,
    /// The devices that it names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    devices: Vec<u32>,
    /// The passes that it names, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    passes: Vec<String>,
}

/// What was found out, as it is printed.
#[derive(Debug, Serialize)]
struct ExplanationReport<'a> {
    feasible: bool,
    reasons: Vec<Explained>,
    /// What each duration and latency means for the makespan.
    durations: Vec<DurationReport>,
    /// What the model cannot tell.
    notes: Vec<String>,
    interval: Option<Interval>,
    makespan: Option<i64>,
    certified_bound: Option<i64>,
    model: &'a str,
    devices: u32,
    microbatches: u32,
    time_unit: &'a str,
    memory_unit: &'a str,
}

/// Finds a schedule, and says what keeps it from being better.
///
/// # Errors
/// When a file or an option is wrong, or the search is defective.
pub fn run(args: &ExplainArgs, output: Output) -> Result<Status, Error> {
    let mut model = args.model.read_passes_alone()?;
    let given = args.schedule.as_deref().map(|path| read_schedule(path, &mut model)).transpose()?;
    let progress = Progress::start("starting");
    check_size(&model, Work::Search, Some(args.search.time_limit()))?;
    let stop = args.search.stop(on_signals(), output);
    let limit = Deadline::after(args.search.time_limit(), output);
    // What sets the interval wants a part of the time, too.
    let share = stop.within(stop.remaining() / 4 * 3);
    let objective = args.search.objective().objective();
    let found = match given {
        Some(schedule) => judged(&model, schedule, objective, &share),
        None => args.search.run(&model, &share, &progress),
    };
    let mut report = ExplanationReport {
        feasible: true,
        reasons: Vec::new(),
        durations: Vec::new(),
        notes: [caveats::worst_case(&model), caveats::unsplit(&model)].into_iter().flatten().collect(),
        interval: None,
        makespan: None,
        certified_bound: None,
        model: model.name(),
        devices: model.devices(),
        microbatches: model.microbatches(),
        time_unit: &model.costs().unit,
        memory_unit: &model.memory().unit,
    };
    match found {
        Err(OptimizeError::Infeasible(reason)) => {
            report.feasible = false;
            report.reasons.push(Explained {
                kind: "infeasible",
                message: reason.to_string(),
                devices: vec![reason.device.0],
                passes: vec![reason.at.to_string()],
            });
        }
        Err(OptimizeError::Rejected { reason, .. }) if args.schedule.is_some() => {
            return Err(Error::usage(
                format!("the schedule is not valid under `{}`: {reason}", model.name()),
                "`bubbleproof verify` with this --model lists everything that is wrong with it",
            ));
        }
        Err(error) => return Err(super::optimize::refused(&error)),
        Ok(solution) => {
            progress.step("what sets the interval");
            if let Some(steady) = steady(&model, &stop) {
                report.interval = Some(Interval(steady.interval));
                report.reasons.extend(of_steady(&model, &steady));
            }
            report.makespan = solution.verdict.timing.as_ref().map(|timing| timing.metrics.makespan.0);
            report.certified_bound = Some(solution.bound.value.0);
            report.reasons.push(of_bound(&model, &solution));
            report.reasons.extend(of_path(&model, &solution));
            progress.step("which durations matter");
            let found = sensitivities(&model, &solution.schedule, &mut || stop.is_due());
            report.durations = found.into_iter().flatten().map(DurationReport::from).collect();
            if stop.is_due() {
                report.notes.push("the time was too short to look at every duration".to_owned());
            }
        }
    }
    drop((progress, limit));
    report.notes.iter().for_each(|text| note(text));
    output.print(&report)?;
    Ok(Status::of(report.feasible))
}

/// The schedule to explain. The model gets its number of microbatches.
fn read_schedule(path: &Path, model: &mut Model) -> Result<Schedule, Error> {
    let schedule = Input::read(path)?.schedule()?.schedule;
    let (has, microbatches) = (model.microbatches(), schedule.microbatches());
    if has != microbatches {
        let counted = count(microbatches as usize, "microbatch", "microbatches");
        note(&format!("using the schedule's {counted} instead of the model's {has}"));
        *model = model
            .with_microbatches(microbatches)
            .map_err(|error| Error::Usage { message: error.to_string(), help: None })?;
    }
    Ok(schedule)
}

/// What sets the time per microbatch.
fn of_steady(model: &Model, steady: &Steady) -> Vec<Explained> {
    let Steady { work, interval, several, bound, cycle, conflict, enough } = steady;
    let unit = &model.costs().unit;
    let spent = in_unit(Interval(*interval), unit);
    let message = if *interval == Ratio::from_integer(work.0) {
        format!(
            "{spent} per microbatch: the work of the busiest device, which never idles in the steady phase"
        )
    } else {
        let several = several.map_or_else(String::new, |(period, each)| {
            format!(" ({} in one of {period}, after a short search)", Interval(each))
        });
        format!(
            "{spent} per microbatch in the best block found of one microbatch per interval{several}; \
             the busiest device works {work}, and no schedule takes less than {} in the long run",
            Interval(*bound)
        )
    };
    let mut reasons = vec![Explained { kind: "interval", message, devices: vec![], passes: vec![] }];
    if let Some(conflict) = conflict {
        let mut reason = of_conflict(model, conflict);
        if let Some(enough) = enough {
            let memory = &model.memory().unit;
            _ = write!(reason.message, "; {enough} {memory} on every device would be enough");
        }
        reasons.push(reason);
    }
    if let Some(Section::Cycle { turn, ticks, microbatches, .. }) = cycle {
        let counted = count(*microbatches as usize, "microbatch", "microbatches");
        reasons.push(Explained {
            kind: "cycle",
            message: format!("{} for {counted}: {}", in_unit(ticks, unit), chain(turn)),
            devices: vec![],
            passes: names(turn),
        });
    }
    reasons
}

fn of_conflict(model: &Model, conflict: &Conflict) -> Explained {
    let (time, memory) = (&model.costs().unit, &model.memory().unit);
    let limits: Vec<String> = conflict
        .limits
        .iter()
        .map(|limit| match limit {
            Limit::Capacity(device, capacity) => {
                format!("the memory limit of device {device} ({capacity} {memory})")
            }
            Limit::Latency(stage, latency) => {
                let latency = in_unit(latency, time);
                format!("the latency between stages {stage} and {} ({latency})", stage.0 + 1)
            }
        })
        .collect();
    let devices = conflict.limits.iter().filter_map(|limit| match limit {
        Limit::Capacity(device, _) => Some(device.0),
        Limit::Latency(..) => None,
    });
    let work = in_unit(model.most_work(), time);
    let fewest = if conflict.smallest { ", and no fewer limits conflict" } else { "" };
    let message = match limits.as_slice() {
        [] => format!(
            "no block of one microbatch per interval repeats every {work}, whatever the memory limits and \
             latencies"
        ),
        [only] => format!("{only} alone rules out a block of one microbatch every {work}"),
        [but_last @ .., last] => format!(
            "{} and {last} together rule out a block of one microbatch every {work}; without any one \
             of them there is one{fewest}",
            but_last.join(", ")
        ),
    };
    Explained { kind: "conflict", message, devices: devices.collect(), passes: vec![] }
}

/// Why no schedule is shorter than the lower bound, and how far from it the schedule is.
fn of_bound(model: &Model, solution: &Solution) -> Explained {
    let (value, unit) = (solution.bound.value, &model.costs().unit);
    let reason = &solution.bound.reason;
    let (why, devices) = (
        reason.sentence(|time| in_unit(time, unit)),
        reason.devices().iter().map(|device| device.0).collect(),
    );
    let found = solution.value();
    let distance = match &solution.optimality {
        Optimality::Bound => "so the schedule is optimal".to_owned(),
        Optimality::Search { engine, .. } => {
            format!("the schedule takes {found}, and exhaustive search ({engine}) found no better one")
        }
        Optimality::Open => {
            format!("the schedule takes {found}, at most {} above", percentage(solution.gap()))
        }
    };
    let message =
        format!("no schedule has a {} below {}: {why}; {distance}", solution.objective, in_unit(value, unit));
    Explained { kind: "bound", message, devices, passes: vec![] }
}

/// The chain of passes that is as long as the makespan.
fn of_path(model: &Model, solution: &Solution) -> Option<Explained> {
    let timing = solution.verdict.timing.as_ref()?;
    let path = critical_path(model, &solution.schedule, timing);
    let unit = &model.costs().unit;
    let mut message = format!("the passes that add up to the makespan, with the {unit} at which they start:");
    for section in sections(&path) {
        match section {
            Section::Once(steps) => _ = write!(message, "\n{:>8}  {}", steps[0].start.0, chain(&steps)),
            Section::Cycle { turn, times, ticks, .. } => {
                _ = write!(
                    message,
                    "\n{:>8}  {times} times, every {ticks}: {}",
                    turn[0].start.0,
                    chain(&turn)
                );
            }
        }
    }
    let ends = timing.metrics.makespan;
    _ = write!(message, "\n{ends:>8}  end");
    Some(Explained { kind: "path", message, devices: vec![], passes: names(&path) })
}

/// Passes with what each waits for.
fn chain(steps: &[Step]) -> String {
    let mut text = String::new();
    for (position, step) in steps.iter().enumerate() {
        text.push_str(match step.waits {
            Waits::Nothing => "",
            Waits::Dependency { .. } | Waits::Link { .. } | Waits::Copies { .. } => "> ",
            Waits::Memory => "# ",
            Waits::Device => "| ",
        });
        text.push_str(&step.pass.to_string());
        if position + 1 < steps.len() {
            text.push(' ');
        }
    }
    text
}

fn names(steps: &[Step]) -> Vec<String> {
    steps.iter().map(|step| step.pass.to_string()).collect()
}

impl fmt::Display for ExplanationReport<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let devices = count(self.devices as usize, "device", "devices");
        let microbatches = count(self.microbatches as usize, "microbatch", "microbatches");
        writeln!(out, "{}: {devices}, {microbatches}", self.model)?;
        for Explained { kind, message, .. } in &self.reasons {
            writeln!(out, "  {kind:<12}  {message}")?;
        }
        if self.feasible {
            writeln!(out, "\n> needs the pass before it   # waits for its memory   | waits for its device")?;
            if !self.durations.is_empty() {
                let ranges = self.durations.iter().any(DurationReport::is_range);
                let what = if ranges {
                    "the low end of a range saves"
                } else {
                    "passes and latencies cost that are 1 % longer, rounded up to a tick"
                };
                write!(
                    out,
                    "\nwhat {what}, and how much longer each may be at no cost, in {}:\n\n{}",
                    plural(self.time_unit),
                    DurationTable(&self.durations)
                )?;
            }
        }
        Ok(())
    }
}
