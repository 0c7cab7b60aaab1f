//! `compare`: the named schedules of a model side by side.

use std::fmt;
use std::time::Duration;

use clap::Args;
use serde::Serialize;

use super::error::{Error, Status};
use super::figures::{Figures, percentage};
use super::interrupt::on_ctrl_c;
use super::output::{Output, note};
use super::progress::Progress;
use super::search::SearchArgs;
use super::size::ModelArgs;
use super::table::Table;
use super::violations::count;
use crate::advice;
use crate::catalog::{self, CatalogError, Entry};
use crate::draw::plural;
use crate::model::Model;
use crate::optimize::{OptimizeError, Solution};
use crate::replay::{Metrics, Rate, Verdict, replay};
use crate::stop::Stop;

/// The options of `compare`.
#[derive(Debug, Args)]
pub struct CompareArgs {
    #[command(flatten)]
    model: ModelArgs,

    /// The schedules to compare, separated by commas; without it, all that fit the placement
    ///
    /// The name `optimized` means the schedule that `bubbleproof optimize` finds.
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    schedules: Option<Vec<String>>,

    #[command(flatten)]
    search: SearchArgs,
}

/// The name for the schedule that `optimize` finds.
const OPTIMIZED: &str = "optimized";

/// What a row of the comparison is about.
enum Contender {
    Named(&'static Entry),
    Optimized,
}

/// The schedules of a model, in the order asked for.
#[derive(Debug, Serialize)]
struct Comparison<'a> {
    schedules: Vec<Row>,
    model: &'a str,
    devices: u32,
    microbatches: u32,
    time_unit: &'a str,
    memory_unit: &'a str,
    notes: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Row {
    name: String,
    valid: bool,
    #[serde(flatten)]
    figures: Figures,
    /// Why it is not valid.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(skip)]
    verdict: Option<Verdict>,
}

/// Makes and replays every schedule.
///
/// # Errors
/// When a file or an option is wrong.
pub fn run(args: &CompareArgs, output: Output) -> Result<Status, Error> {
    let progress = Progress::start("reading the model");
    let model = args.model.read()?;
    let interrupt = on_ctrl_c();
    let mut notes = Vec::new();
    let contenders = match &args.schedules {
        Some(names) => names.iter().map(|name| find(name)).collect::<Result<Vec<_>, Error>>()?,
        None => fitting(&model, &mut notes),
    };
    let mut rows = Vec::new();
    for contender in contenders {
        rows.push(match contender {
            Contender::Named(entry) => {
                progress.step(entry.name);
                Row::named(&model, entry, &Stop::on(interrupt.clone()))
            }
            Contender::Optimized => {
                let stop = args.search.stop(interrupt.clone());
                Row::optimized(&args.search, &model, &stop, &progress)?
            }
        });
    }
    drop(progress);
    for text in &notes {
        note(text);
    }
    let comparison = Comparison {
        schedules: rows,
        model: model.name(),
        devices: model.devices(),
        microbatches: model.microbatches(),
        time_unit: &model.costs().unit,
        memory_unit: &model.memory().unit,
        notes,
    };
    output.print(&comparison)?;
    Ok(Status::of(comparison.schedules.iter().any(|row| row.valid)))
}

fn find(name: &str) -> Result<Contender, Error> {
    if name == OPTIMIZED {
        return Ok(Contender::Optimized);
    }
    catalog::find(name).map(Contender::Named).ok_or_else(|| {
        let known: Vec<&str> = catalog::entries().iter().map(|entry| entry.name).chain([OPTIMIZED]).collect();
        unknown_schedule(name, &known)
    })
}

/// That no schedule has this name, with the nearest one that is known.
pub fn unknown_schedule(name: &str, known: &[&str]) -> Error {
    let list = known.join(", ");
    Error::usage(
        format!("unknown schedule `{name}`"),
        match advice::nearest(name, known) {
            Some(near) => format!("did you mean `{near}`? known schedules: {list}"),
            None => format!("known schedules: {list}"),
        },
    )
}

/// The schedules that make sense for the model; the others are noted.
fn fitting(model: &Model, notes: &mut Vec<String>) -> Vec<Contender> {
    let (placed, elsewhere): (Vec<&'static Entry>, Vec<&'static Entry>) =
        catalog::entries().iter().partition(|entry| entry.needs.met_by(model.placement()));
    // Whether the schedule exists does not depend on improving it.
    let unimproved = Stop::after(Duration::ZERO);
    let (fitting, recomputing): (Vec<&'static Entry>, Vec<&'static Entry>) =
        placed.into_iter().partition(|entry| {
            let made = entry.generate_until(model, &unimproved);
            !matches!(made, Err(CatalogError::RecomputeUnknown(_)))
        });
    let shape = model.placement().shape();
    for (reason, entries) in [
        (format!("the placement is {shape}"), elsewhere),
        ("the model has no [recompute] table".to_owned(), recomputing),
    ] {
        if !entries.is_empty() {
            let names: Vec<&str> = entries.iter().map(|entry| entry.name).collect();
            notes.push(format!("left out, because {reason}: {}", names.join(", ")));
        }
    }
    fitting.into_iter().map(Contender::Named).chain([Contender::Optimized]).collect()
}

impl Row {
    fn named(model: &Model, entry: &Entry, stop: &Stop) -> Self {
        let (schedule, error) = match entry.generate_until(model, stop) {
            Ok(schedule) => (Some(schedule), None),
            // A schedule that does not fit is shown with the memory that it would need.
            Err(error @ CatalogError::OverCapacity { .. }) => {
                let free = model.with_uniform_activation_capacity(None).ok();
                (free.and_then(|free| entry.generate_until(&free, stop).ok()), Some(error.to_string()))
            }
            Err(error) => (None, Some(error.to_string())),
        };
        let verdict = schedule.as_ref().map(|schedule| replay(model, schedule));
        let figures = schedule.as_ref().zip(verdict.as_ref());
        let figures =
            figures.map_or_else(Figures::none, |(schedule, verdict)| Figures::of(schedule, verdict));
        let violation = verdict.as_ref().and_then(|verdict| verdict.violations.first());
        let error = error.or_else(|| violation.map(ToString::to_string));
        Self { name: entry.name.to_owned(), valid: error.is_none(), figures, error, verdict }
    }

    fn optimized(
        search: &SearchArgs,
        model: &Model,
        stop: &Stop,
        progress: &Progress,
    ) -> Result<Self, Error> {
        let (figures, verdict, error) = match search.run(model, stop, progress) {
            Ok(Solution { schedule, verdict, .. }) => (Figures::of(&schedule, &verdict), Some(verdict), None),
            Err(reason @ (OptimizeError::Infeasible(_) | OptimizeError::TwoDirections)) => {
                (Figures::none(), None, Some(reason.to_string()))
            }
            Err(error) => return Err(super::optimize::refused(&error)),
        };
        Ok(Self { name: OPTIMIZED.to_owned(), valid: error.is_none(), figures, error, verdict })
    }

    fn cells(&self) -> [String; 6] {
        let figure = |figure: Option<i64>| figure.map_or_else(|| "-".to_owned(), |value| value.to_string());
        let timing = self.verdict.as_ref().and_then(|verdict| verdict.timing.as_ref());
        let rate = |of: fn(&Metrics) -> Rate| {
            timing.map_or_else(|| "-".to_owned(), |timing| percentage(of(&timing.metrics)))
        };
        let mark = if self.valid { "" } else { " (invalid)" };
        [
            format!("{}{mark}", self.name),
            figure(self.figures.makespan),
            figure(self.figures.device_span),
            rate(|metrics| metrics.bubble_rate),
            rate(|metrics| metrics.useful_rate),
            figure(self.figures.peak_memory_max),
        ]
    }
}

impl fmt::Display for Comparison<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            out,
            "{}: {}, {}; times in {}, memory in {}\n",
            self.model,
            count(self.devices as usize, "device", "devices"),
            count(self.microbatches as usize, "microbatch", "microbatches"),
            plural(self.time_unit),
            self.memory_unit
        )?;
        let headings = ["schedule", "makespan", "device span", "bubble rate", "useful rate", "peak memory"];
        let mut table = Table::new(headings);
        for row in &self.schedules {
            table.row(row.cells());
        }
        // Where nothing is recomputed, it is what the bubble rate leaves of the whole.
        let recomputing = self.schedules.iter().any(|row| row.figures.recomputed_passes > 0);
        let table = if recomputing { table } else { table.without(4) };
        write!(out, "{table}")?;
        let mut reasons = self.schedules.iter().filter_map(|row| row.error.as_ref()).peekable();
        if reasons.peek().is_some() {
            writeln!(out)?;
        }
        reasons.try_for_each(|reason| writeln!(out, "invalid: {reason}"))
    }
}
