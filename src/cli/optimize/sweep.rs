//! `optimize` for several sizes and memory limits: a table with a row for each combination.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::robust::{self, Robust};
use super::{GAP_LEFT, OptimizeArgs, SolutionReport, refused};
use crate::amounts::{Amounts, Column};
use crate::certificate::Objective;
use crate::cli::deadline::Deadline;
use crate::cli::error::{Error, Status};
use crate::cli::figures::percentage;
use crate::cli::file_name::FileName;
use crate::cli::interrupt::on_signals;
use crate::cli::output::{Output, Target};
use crate::cli::progress::Progress;
use crate::cli::search::{Infeasible, step};
use crate::cli::size::check_size;
use crate::cli::sweep::{AtSize, Case, Combination, DeviceLimits, note_each_once};
use crate::cli::table::Table;
use crate::estimate::Work;
use crate::model::{Model, Units};
use crate::optimize::OptimizeError;
use crate::optimize::sweep::{Outcome, sweep};
use crate::schedule;
use crate::stop::Stop;

/// What came of all combinations, in their order.
#[derive(Serialize)]
#[serde(transparent)]
struct SweepReport<'a> {
    rows: Vec<Row<'a>>,
    #[serde(skip)]
    model: &'a Model,
    #[serde(skip)]
    objective: Objective,
}

/// What came of a combination: what the command prints for it alone, and which one it is.
#[derive(Serialize)]
struct Row<'a> {
    combination: &'a Combination,
    /// The schedule file that was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<FileName>,
    #[serde(flatten)]
    answer: Answer<'a>,
    #[serde(skip)]
    limit: DeviceLimits,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Answer<'a> {
    Found(Box<SolutionReport<'a>>),
    Infeasible(Infeasible),
    Unknown(Unknown),
}

/// That nothing is known of a combination.
#[derive(Serialize)]
struct Unknown {
    /// Always null.
    feasible: Option<bool>,
    reason: String,
}

/// A combination, and what came of it.
struct Swept<'a> {
    case: &'a Case,
    outcome: Result<Outcome, &'a str>,
}

/// Searches for a schedule of each combination, writes them, and prints a table.
///
/// # Errors
/// When a file or an option is wrong, a schedule cannot be written, or a search is defective.
pub fn run(args: &OptimizeArgs, output: Output) -> Result<Status, Error> {
    if args.robust == Some(Robust::Mean) {
        return Err(Error::usage(
            "--robust mean takes one size and one memory limit, not lists",
            "run it once for each; the traces are of one number of devices and microbatches",
        ));
    }
    let sizes = args.model.read()?;
    let combinations = sizes.iter().map(|at| at.cases.len()).sum();
    let folder = args.output.as_deref().map(|path| folder(path, combinations)).transpose()?;
    robust::check(args, &sizes[0].model)?;
    let time_limit = args.search.time_limit_of(combinations);
    let share = time_limit / u32::try_from(combinations).unwrap_or(u32::MAX);
    for at in &sizes {
        check_size(&at.model, Work::Search, Some(share))?;
    }
    let progress = Progress::start("starting").until(time_limit);
    let stop = Stop::on(on_signals()).within(output.left_of(time_limit));
    let limit = Deadline::after(time_limit, output);
    let mut swept: Vec<Swept<'_>> = Vec::with_capacity(combinations);
    for (done, at) in sizes.iter().enumerate() {
        swept.extend(at_size(args, at, &stop.share(sizes.len() - done), &progress)?);
    }
    drop((limit, progress));
    for Swept { case, outcome } in &mut swept {
        if let Ok(Outcome::Found(solution)) = outcome {
            let memory = case.combination.memory_limit().map(Units);
            args.record(case.size, memory, &mut solution.schedule);
        }
    }
    let report = SweepReport {
        rows: swept.iter().map(|swept| swept.row(args, folder, output, &stop)).collect(),
        model: &sizes[0].model,
        objective: args.search.objective().objective(),
    };
    note_each_once(&report.notes(&swept));
    if let Some(folder) = folder {
        write(folder, &report.rows)?;
    }
    output.print(&report)?;
    Ok(report.status())
}

/// The searches at one size.
fn at_size<'a>(
    args: &OptimizeArgs,
    at: &'a AtSize,
    stop: &Stop,
    progress: &Progress,
) -> Result<Vec<Swept<'a>>, Error> {
    let fitting: Vec<(&Case, Model)> =
        at.cases.iter().filter_map(|case| Some((case, case.model.as_ref().ok()?.clone()))).collect();
    let (cases, models): (Vec<&Case>, Vec<Model>) = fitting.into_iter().unzip();
    let outcomes = sweep(&models, &args.search.options(stop), &mut |position, state| {
        progress.step(format!(
            "{}: {}",
            cases[position].combination.words(),
            step(state, &at.model.costs().unit)
        ));
    });
    let mut outcomes = outcomes.map_err(|error| refused(&error))?.into_iter();
    let answer = |case: &'a Case| match &case.model {
        Ok(_) => Ok(outcomes.next().unwrap_or(Outcome::NoTime)),
        Err(reason) => Err(reason.as_str()),
    };
    let answers: Vec<_> = at.cases.iter().map(answer).collect();
    Ok(at.cases.iter().zip(answers).map(|(case, outcome)| Swept { case, outcome }).collect())
}

/// The folder that `-o` names.
///
/// # Errors
/// When it names a file, or cannot be a folder.
fn folder(path: &Path, combinations: usize) -> Result<&Path, Error> {
    let name = FileName::of(path);
    let is_named = path.as_os_str().as_encoded_bytes().ends_with(b"/");
    // With a slash at its end, the path of a file is one of nothing.
    let is_there = path.components().collect::<PathBuf>().exists();
    if path.is_dir() || (is_named && !is_there) {
        return match path.parent().filter(|parent| !parent.as_os_str().is_empty() && !parent.is_dir()) {
            None => Ok(path),
            Some(parent) => Err(Error::usage(
                format!("cannot make the folder {name}: there is no folder {}", FileName::of(parent)),
                "make that folder first, or choose another name",
            )),
        };
    }
    Err(Error::usage(
        format!("there are {combinations} combinations, and `{name}` is a single file"),
        "give `-o` a folder, `-o DIR/`: each schedule is written to a file there that is named after its combination",
    ))
}

/// Writes every schedule that was found, each under the name of its combination.
fn write(folder: &Path, rows: &[Row<'_>]) -> Result<(), Error> {
    if !folder.is_dir() {
        fs::create_dir(folder).map_err(|error| Error::Write { path: FileName::of(folder), error })?;
    }
    for (at, row) in rows.iter().enumerate() {
        let Answer::Found(report) = &row.answer else { continue };
        let path = place(folder, row.combination);
        // Two ways to write one limit have one schedule.
        if rows[..at].iter().all(|before| place(folder, before.combination) != path) {
            Target::File(path).write(|out| schedule::write(report.schedule, out))?;
        }
    }
    Ok(())
}

/// The file of a combination, such as `d8-m24-memory12.json`.
fn place(folder: &Path, combination: &Combination) -> PathBuf {
    let memory = combination.memory_limit().map_or_else(String::new, |limit| format!("-memory{limit}"));
    folder.join(format!("d{}-m{}{memory}.json", combination.devices(), combination.microbatches()))
}

impl Swept<'_> {
    fn row<'a>(&'a self, args: &OptimizeArgs, folder: Option<&Path>, output: Output, stop: &Stop) -> Row<'a> {
        let Self { case, outcome } = self;
        let unknown = |reason: String| Answer::Unknown(Unknown { feasible: None, reason });
        let answer = match (outcome, &case.model) {
            (Ok(Outcome::Found(solution)), Ok(model)) => {
                Answer::Found(Box::new(SolutionReport::of(model, solution, args.search.objective())))
            }
            (Ok(Outcome::Infeasible(reason)), Ok(model)) => {
                Answer::Infeasible(Infeasible::of(reason, output.amounts(model)))
            }
            (Ok(Outcome::NoneFound(beyond)), _) => {
                unknown(OptimizeError::NoneFound(beyond.clone()).to_string())
            }
            (_, Err(reason)) => Answer::Infeasible(Infeasible::because(reason.clone())),
            (Ok(Outcome::NoTime) | Err(_), _) => unknown(
                if stop.is_interrupted() {
                    "interrupted before its search"
                } else {
                    "no time was left for it"
                }
                .to_owned(),
            ),
        };
        let is_found = matches!(answer, Answer::Found(_));
        let file = folder.filter(|_| is_found).map(|folder| FileName::of(place(folder, &case.combination)));
        let limit = case.model.as_ref().map_or_else(
            |_| DeviceLimits::Same(case.combination.memory_limit().unwrap_or_default()),
            |model| case.limit(model),
        );
        Row { combination: &case.combination, file, answer, limit }
    }
}

impl SweepReport<'_> {
    fn found(&self) -> impl Iterator<Item = &SolutionReport<'_>> {
        self.rows.iter().filter_map(|row| match &row.answer {
            Answer::Found(report) => Some(&**report),
            Answer::Infeasible(_) | Answer::Unknown(_) => None,
        })
    }

    fn notes(&self, swept: &[Swept<'_>]) -> Vec<String> {
        let solutions = swept.iter().filter_map(|swept| swept.outcome.as_ref().ok()?.solution());
        let is_left = solutions.into_iter().any(|found| !found.is_optimal() && !found.is_cut_short);
        let gap = is_left.then(|| GAP_LEFT.to_owned());
        gap.into_iter().chain(self.found().flat_map(|report| report.notes.iter().cloned())).collect()
    }

    /// Unknown if anything is; otherwise yes if there is any schedule, and no if no combination has one.
    fn status(&self) -> Status {
        let is_unknown = self.rows.iter().any(|row| matches!(row.answer, Answer::Unknown(_)));
        if is_unknown { Status::GaveUp } else { Status::of(self.found().next().is_some()) }
    }
}

impl SweepReport<'_> {
    /// How the columns of times and of memory show them.
    fn columns(&self, amounts: Amounts<'_>) -> [Column; 2] {
        let limits = self.rows.iter().filter_map(|row| match row.limit {
            DeviceLimits::Same(limit) => Some(limit),
            DeviceLimits::None | DeviceLimits::Several => None,
        });
        let peaks = self.found().filter_map(|report| report.figures.peak_memory_max);
        [amounts.times(self.found().flat_map(SolutionReport::times)), amounts.memories(limits.chain(peaks))]
    }
}

impl Row<'_> {
    fn cells(&self, columns: [&Column; 2]) -> [String; 11] {
        let of = self.combination;
        let [devices, microbatches] = [of.devices(), of.microbatches()].map(|count| count.to_string());
        let asked = of.asked().unwrap_or("-").to_owned();
        let figures = match &self.answer {
            Answer::Found(report) => report.cells(columns),
            Answer::Infeasible(_) => without_figures("infeasible"),
            Answer::Unknown(_) => without_figures("unknown"),
        };
        let [makespan, span, bound, gap, bubble, peak, optimal] = figures;
        let limit = match self.limit {
            DeviceLimits::None => "none".to_owned(),
            DeviceLimits::Same(limit) => columns[1].cell(limit),
            DeviceLimits::Several => "the model's".to_owned(),
        };
        [devices, microbatches, asked, limit, makespan, span, bound, gap, bubble, peak, optimal]
    }

    /// Why there is no schedule.
    fn reason(&self) -> Option<String> {
        match &self.answer {
            Answer::Found(_) => None,
            Answer::Infeasible(infeasible) => Some(infeasible.to_string().trim_end().to_owned()),
            Answer::Unknown(unknown) => Some(format!("unknown: {}", unknown.reason)),
        }
    }
}

fn without_figures(makespan: &str) -> [String; 7] {
    [makespan, "-", "-", "-", "-", "-", "-"].map(str::to_owned)
}

impl SolutionReport<'_> {
    fn times(&self) -> impl Iterator<Item = i64> {
        [self.figures.makespan, self.figures.device_span, Some(self.lower_bound)].into_iter().flatten()
    }

    fn cells(&self, [times, memory]: [&Column; 2]) -> [String; 7] {
        let figure = |figure: Option<i64>| figure.map_or_else(|| "-".to_owned(), |value| times.cell(value));
        let peak = self.figures.peak_memory_max;
        let timing = self.solution.verdict.timing.as_ref();
        [
            figure(self.figures.makespan),
            figure(self.figures.device_span),
            times.cell(self.lower_bound),
            if self.optimal { "none".to_owned() } else { percentage(self.solution.gap()) },
            timing.map_or_else(|| "-".to_owned(), |timing| percentage(timing.metrics.bubble_rate)),
            peak.map_or_else(|| "-".to_owned(), |peak| memory.cell(peak)),
            if self.optimal { "yes" } else { "no" }.to_owned(),
        ]
    }
}

impl fmt::Display for SweepReport<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let amounts = Amounts::new(out.alternate(), &self.model.costs().unit, &self.model.memory().unit);
        let [times, memory] = self.columns(amounts);
        writeln!(out, "{}: times in {}, memory in {}\n", self.model.name(), times.unit(), memory.unit())?;
        let mut table = Table::of_figures([
            "devices",
            "microbatches",
            "--memory",
            "memory limit",
            "makespan",
            "device span",
            "lower bound",
            "gap",
            "bubble rate",
            "peak memory",
            "optimal",
        ]);
        for row in &self.rows {
            table.row(row.cells([&times, &memory]));
        }
        // The lower bound is one on what is minimised.
        let table = if self.objective == Objective::DeviceSpan { table } else { table.without(5) };
        let is_asked = self.rows.iter().any(|row| row.combination.asked().is_some());
        let table = if is_asked { table } else { table.without(2) };
        write!(out, "{table}")?;
        let mut before = "\n";
        for row in &self.rows {
            if let Some(reason) = row.reason() {
                writeln!(out, "{before}{}: {reason}", row.combination.words())?;
                before = "";
            }
        }
        let mut written: Vec<&FileName> = Vec::new();
        for file in self.rows.iter().filter_map(|row| row.file.as_ref()) {
            if !written.contains(&file) {
                writeln!(out, "{before}wrote {file}")?;
                before = "";
                written.push(file);
            }
        }
        Ok(())
    }
}
