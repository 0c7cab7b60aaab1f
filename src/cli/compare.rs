//! `compare`: the named schedules of a model side by side.

mod families;
mod several;
mod sweep;

use std::fmt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use serde::Serialize;

use self::families::Families;
use super::caveats;
use super::deadline::Deadline;
use super::error::{Error, Status};
use super::figures::{Figures, headline, percentage};
use super::interrupt::on_signals;
use super::output::{Output, note};
use super::progress::Progress;
use super::search::SearchArgs;
use super::size::check_size;
use super::sweep::SweepArgs;
use super::table::Table;
use crate::advice;
use crate::amounts::{self, Amounts, Column};
use crate::block::family::Family;
use crate::catalog::{self, CatalogError, Entry};
use crate::estimate::Work;
use crate::model::{Model, Units};
use crate::optimize::{OptimizeError, Solution};
use crate::replay::{Metrics, Rate, Verdict, replay};
use crate::schedule::Schedule;
use crate::stop::Stop;
use crate::text::Shown;

/// The options of `compare`.
#[derive(Debug, Args)]
pub struct CompareArgs {
    #[command(flatten)]
    model: SweepArgs,

    /// More models, to show beside the first in one table
    #[arg(value_name = "MORE")]
    more: Vec<PathBuf>,

    /// The schedules to compare, separated by commas; without it, all that fit the placement
    ///
    /// The name `optimized` means the schedule that `bubbleproof optimize` finds. A name that ends in .toml is the file of
    /// a block family. A block family in place of MODEL is compared under its own durations, and is always the first.
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    schedules: Option<Vec<String>>,

    #[command(flatten)]
    search: SearchArgs,
}

/// The name for the schedule that `optimize` finds.
const OPTIMIZED: &str = "optimized";

/// What a row of the comparison is about.
#[derive(Clone, Copy)]
enum Contender<'a> {
    Family(&'a Family),
    Named(&'static Entry),
    Optimized,
}

impl Contender<'_> {
    const fn entry(self) -> Option<&'static Entry> {
        match self {
            Self::Named(entry) => Some(entry),
            Self::Family(_) | Self::Optimized => None,
        }
    }
}

/// The schedules of a model, in the order asked for.
#[derive(Debug, Serialize)]
struct Comparison<'a> {
    schedules: Vec<Row>,
    /// The schedules that were asked for, and for which there was no time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    missing: Vec<String>,
    model: &'a str,
    devices: u32,
    microbatches: u32,
    time_unit: &'a str,
    memory_unit: &'a str,
    notes: Vec<String>,
    /// The memory limit asked for, where there are several.
    #[serde(skip)]
    limit: Option<String>,
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
    if !args.more.is_empty() {
        return several::run(args, output);
    }
    let Some(only) = args.model.only() else { return sweep::run(args, output) };
    let progress = Progress::start("reading the model").until(args.search.time_limit());
    let base = args.model.base()?;
    let families = Families::read(&base, args.schedules.as_ref())?;
    let model = only.of(&base)?;
    check_size(&model, Work::Search, Some(args.search.time_limit()))?;
    let stop = args.search.stop(on_signals(), output);
    let limit = Deadline::after(args.search.time_limit(), output);
    let comparison = Comparison::of(args, &families, &model, &mut Vec::new(), &stop, &progress)?;
    drop((progress, limit));
    for text in &comparison.notes {
        note(text);
    }
    output.print(&comparison)?;
    Ok(comparison.status())
}

impl<'a> Comparison<'a> {
    /// Makes the schedules and replays them. What `optimize` finds knows the schedules that it has found before, and is put
    /// beside them.
    fn of(
        args: &CompareArgs,
        families: &Families<'_>,
        model: &'a Model,
        known: &mut Vec<Schedule>,
        stop: &Stop,
        progress: &Progress,
    ) -> Result<Self, Error> {
        let mut notes = Vec::new();
        let mut contenders: Vec<Contender<'_>> = families.own.map(Contender::Family).into_iter().collect();
        match &args.schedules {
            Some(names) => {
                let found = names.iter().map(|name| find(name, families));
                contenders.extend(found.collect::<Result<Vec<_>, Error>>()?);
            }
            None => contenders.extend(fitting(model, &mut notes)),
        }
        if args.schedules.is_some() {
            let named = contenders.iter().filter_map(|contender| contender.entry());
            let chunkless: Vec<&Entry> =
                named.filter(|entry| entry.needs.is_degenerate_on(model.placement())).collect();
            notes.extend(caveats::without_chunks(&chunkless));
        }
        notes.extend(unlike_families(&contenders));
        notes.extend(caveats::worst_case(model));
        notes.extend(caveats::unsplit(model));
        let made = rows(&args.search, model, &contenders, known, stop, progress)?;
        let mut schedules = Vec::new();
        let (mut cut_short, mut missing) = (Vec::new(), Vec::new());
        for (contender, row) in contenders.iter().zip(made) {
            match row {
                Some((row, is_whole)) => {
                    cut_short.extend((!is_whole).then(|| row.name.clone()));
                    schedules.push(row);
                }
                None => missing.push(contender.name().to_owned()),
            }
        }
        let why = if stop.is_interrupted() {
            "the comparison was interrupted"
        } else {
            "the time limit was reached"
        };
        if !cut_short.is_empty() {
            notes.push(format!("{why}: not improved as far as they can be: {}", cut_short.join(", ")));
        }
        if !missing.is_empty() {
            notes.push(format!("{why}: missing: {}", missing.join(", ")));
        }
        Ok(Self {
            schedules,
            missing,
            model: model.name(),
            devices: model.devices(),
            microbatches: model.microbatches(),
            time_unit: &model.costs().unit,
            memory_unit: &model.memory().unit,
            notes,
            limit: None,
        })
    }

    fn status(&self) -> Status {
        if self.missing.is_empty() { Status::of(self.has_valid()) } else { Status::GaveUp }
    }

    fn has_valid(&self) -> bool {
        self.schedules.iter().any(|row| row.valid)
    }
}

/// The rows for which there is time, each with whether nothing cut it short. Those that are there at once are made
/// first, and the others share the time that is left: whichever takes less leaves more to those behind it.
fn rows(
    search: &SearchArgs,
    model: &Model,
    contenders: &[Contender<'_>],
    known: &mut Vec<Schedule>,
    stop: &Stop,
    progress: &Progress,
) -> Result<Vec<Option<(Row, bool)>>, Error> {
    let mut rows: Vec<Option<(Row, bool)>> = contenders.iter().map(|_| None).collect();
    let mut order: Vec<usize> = (0..contenders.len()).collect();
    order.sort_by_key(|&at| contenders[at].effort());
    // To make a schedule and to replay it takes what it takes: none is begun that the others show to be too long.
    let mut longest = Duration::ZERO;
    for (done, &at) in order.iter().enumerate() {
        let room = stop.remaining().saturating_sub(longest * 3 / 2);
        if stop.is_due() || (done > 0 && room.is_zero()) {
            continue;
        }
        let contender = contenders[at];
        progress.step(contender.name());
        let begun = Instant::now();
        let is_at_once = contender.effort() == 0;
        let left = u32::try_from(order.len() - done).unwrap_or(u32::MAX);
        let share = if is_at_once { stop.clone() } else { stop.within(room / left) };
        let row = match contender {
            Contender::Family(family) => Some(Row::of_family(model, family)),
            Contender::Named(entry) => Row::named(model, entry, &share),
            Contender::Optimized => Some(Row::optimized(search, model, known, &share, progress)?),
        };
        if is_at_once {
            longest = longest.max(begun.elapsed());
        }
        let is_whole = matches!(contender, Contender::Optimized) || is_at_once || !share.is_due();
        rows[at] = row.map(|row| (row, is_whole));
    }
    Ok(rows)
}

/// That named schedules beside families had a step more, if so.
fn unlike_families(contenders: &[Contender<'_>]) -> Option<String> {
    let has_family = contenders.iter().any(|contender| matches!(contender, Contender::Family(_)));
    let reordered = contenders.iter().filter_map(|contender| contender.entry());
    let reordered: Vec<&str> =
        reordered.filter(|entry| entry.takes_improving()).map(|entry| entry.name).collect();
    (has_family && !reordered.is_empty()).then(|| {
        format!(
            "{}: reordered after the block was repeated, within its memory; families run without that step",
            reordered.join(", ")
        )
    })
}

impl<'a> Contender<'a> {
    const fn name(self) -> &'a str {
        match self {
            Self::Family(family) => family.name.as_str(),
            Self::Named(entry) => entry.name,
            Self::Optimized => OPTIMIZED,
        }
    }

    /// How much is to be done for it, roughly.
    const fn effort(self) -> u8 {
        match self {
            Self::Named(entry) if entry.takes_improving() => 1,
            Self::Family(_) | Self::Named(_) => 0,
            Self::Optimized => 2,
        }
    }
}

fn find<'a>(name: &str, families: &'a Families<'_>) -> Result<Contender<'a>, Error> {
    if name == OPTIMIZED {
        return Ok(Contender::Optimized);
    }
    if let Some(family) = families.find(name) {
        return Ok(Contender::Family(family));
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
        format!("unknown schedule `{}`", Shown(name)),
        match advice::nearest(name, known) {
            Some(near) => format!("did you mean `{near}`? known schedules: {list}"),
            None => format!("known schedules: {list}"),
        },
    )
}

/// The schedules that make sense for the model; the others are noted.
fn fitting<'a>(model: &Model, notes: &mut Vec<String>) -> Vec<Contender<'a>> {
    let (placed, elsewhere): (Vec<&'static Entry>, Vec<&'static Entry>) =
        catalog::entries().iter().partition(|entry| entry.needs.met_by(model.placement()));
    let (chunkless, placed): (Vec<&'static Entry>, Vec<&'static Entry>) =
        placed.into_iter().partition(|entry| entry.needs.is_degenerate_on(model.placement()));
    let (fitting, recomputing): (Vec<&'static Entry>, Vec<&'static Entry>) = placed
        .into_iter()
        .partition(|entry| !matches!(entry.check(model), Err(CatalogError::RecomputeUnknown(_))));
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
    notes.extend(caveats::without_chunks(&chunkless).map(|text| format!("left out: {text}")));
    fitting.into_iter().map(Contender::Named).chain([Contender::Optimized]).collect()
}

impl Row {
    /// The row of a named schedule; `None` if the time is too short to make it.
    fn named(model: &Model, entry: &Entry, stop: &Stop) -> Option<Self> {
        let memory = |units: Units| amounts::amount(units.0, &model.memory().unit);
        let (schedule, error) = match entry.generate_until(model, stop) {
            Ok(schedule) => (Some(schedule), None),
            Err(CatalogError::Stopped(_)) => return None,
            // A schedule that does not fit is shown with the memory that it would need.
            Err(error @ CatalogError::OverCapacity { .. }) => {
                let free = model.with_uniform_activation_capacity(None).ok();
                match free.map(|free| entry.generate_until(&free, stop)) {
                    Some(Err(CatalogError::Stopped(_))) => return None,
                    made => (made.and_then(Result::ok), Some(error.in_words(memory))),
                }
            }
            Err(error) => (None, Some(error.to_string())),
        };
        let verdict = schedule.as_ref().map(|schedule| replay(model, schedule));
        let figures = schedule.as_ref().zip(verdict.as_ref());
        let figures =
            figures.map_or_else(Figures::none, |(schedule, verdict)| Figures::of(model, schedule, verdict));
        let violation = verdict.as_ref().and_then(|verdict| verdict.violations.first());
        let error = error.or_else(|| violation.map(|violation| violation.in_words(memory)));
        Some(Self { name: entry.name.to_owned(), valid: error.is_none(), figures, error, verdict })
    }

    fn optimized(
        search: &SearchArgs,
        model: &Model,
        known: &mut Vec<Schedule>,
        stop: &Stop,
        progress: &Progress,
    ) -> Result<Self, Error> {
        let (figures, verdict, error) = match search.run_from(model, known.clone(), stop, progress) {
            Ok(Solution { schedule, verdict, .. }) => {
                let figures = Figures::of(model, &schedule, &verdict);
                known.push(schedule);
                (figures, Some(verdict), None)
            }
            Err(OptimizeError::Infeasible(reason)) => {
                let memory = |units: Units| amounts::amount(units.0, &model.memory().unit);
                (Figures::none(), None, Some(reason.in_words(memory)))
            }
            Err(reason @ OptimizeError::NoneFound(_)) => (Figures::none(), None, Some(reason.to_string())),
            Err(error) => return Err(super::optimize::refused(&error)),
        };
        Ok(Self { name: OPTIMIZED.to_owned(), valid: error.is_none(), figures, error, verdict })
    }

    fn times(&self) -> impl Iterator<Item = i64> {
        [self.figures.makespan, self.figures.best_case_makespan, self.figures.device_span]
            .into_iter()
            .flatten()
    }

    /// Makespan, bubble rate and peak memory.
    fn in_brief(&self, columns: [&Column; 2]) -> [String; 3] {
        let [_, makespan, _, _, bubble_rate, _, peak_memory] = self.cells(columns);
        let mark = if self.valid || self.figures.makespan.is_none() { "" } else { " (invalid)" };
        [format!("{makespan}{mark}"), bubble_rate, peak_memory]
    }

    fn cells(&self, [times, memory]: [&Column; 2]) -> [String; 7] {
        let shown = |figure: Option<i64>, column: &Column| {
            figure.map_or_else(|| "-".to_owned(), |value| column.cell(value))
        };
        let figure = |figure| shown(figure, times);
        let timing = self.verdict.as_ref().and_then(|verdict| verdict.timing.as_ref());
        let rate = |of: fn(&Metrics) -> Rate| {
            timing.map_or_else(|| "-".to_owned(), |timing| percentage(of(&timing.metrics)))
        };
        let mark = if self.valid { "" } else { " (invalid)" };
        [
            format!("{}{mark}", self.name),
            figure(self.figures.makespan),
            figure(self.figures.best_case_makespan),
            figure(self.figures.device_span),
            rate(|metrics| metrics.bubble_rate),
            rate(|metrics| metrics.useful_rate),
            shown(self.figures.peak_memory_max, memory),
        ]
    }
}

impl fmt::Display for Comparison<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let amounts = Amounts::new(out.alternate(), self.time_unit, self.memory_unit);
        let times = amounts.times(self.schedules.iter().flat_map(Row::times));
        let memory = amounts.memories(self.schedules.iter().filter_map(|row| row.figures.peak_memory_max));
        let (size, units) = ([self.devices, self.microbatches], [times.unit(), memory.unit()]);
        let limit = self.limit.as_ref().map_or_else(String::new, |limit| format!("; memory limit {limit}"));
        writeln!(out, "{}{limit}\n", headline(self.model, size, units))?;
        let headings =
            ["schedule", "makespan", "best case", "device span", "bubble rate", "useful rate", "peak memory"];
        let mut table = Table::new(headings);
        for row in &self.schedules {
            table.row(row.cells([&times, &memory]));
        }
        // Where nothing is recomputed, it is what the bubble rate leaves of the whole.
        let recomputing = self.schedules.iter().any(|row| row.figures.recomputed_passes > 0);
        let table = if recomputing { table } else { table.without(5) };
        let ranges = self.schedules.iter().any(|row| row.figures.best_case_makespan.is_some());
        let table = if ranges { table } else { table.without(2) };
        write!(out, "{table}")?;
        let mut reasons = self.schedules.iter().filter_map(|row| row.error.as_ref()).peekable();
        if reasons.peek().is_some() {
            writeln!(out)?;
        }
        reasons.try_for_each(|reason| writeln!(out, "invalid: {reason}"))
    }
}
