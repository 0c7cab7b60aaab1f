//! `frontier --whole`: peak memory against makespan, for whole schedules.

use std::fmt;

use num_rational::Ratio;
use serde::Serialize;

use super::{Drawn, FrontierArgs, draw, drawing, title};
use crate::amounts::Amounts;
use crate::cli::caveats;
use crate::cli::deadline::Deadline;
use crate::cli::error::{Error, Status};
use crate::cli::figures::{decimal, fraction, headline, percentage};
use crate::cli::file_name::FileName;
use crate::cli::input::read_model;
use crate::cli::interrupt::on_signals;
use crate::cli::optimize::refused;
use crate::cli::output::{Output, note};
use crate::cli::progress::Progress;
use crate::cli::search;
use crate::cli::size::{Size, check_size};
use crate::cli::table::Table;
use crate::draw::{Axes, Curve, Spot, letters};
use crate::estimate::Work;
use crate::model::{Model, Units};
use crate::optimize;
use crate::optimize::frontier::whole::{NamedWhole, WholeFrontier, WholePoint, whole_frontier};
use crate::replay::Rate;
use crate::stop::Stop;

/// The frontier of whole schedules with the named ones.
#[derive(Debug, Serialize)]
pub(super) struct WholeReport<'a> {
    points: Vec<Row>,
    schedules: Vec<Named>,
    /// No schedule keeps to less on every device.
    least_memory: i64,
    /// Limits under which no schedule was found; whether there is one is not known.
    undecided_limits: Vec<i64>,
    /// Whether there was time for all limits.
    complete: bool,
    pub(super) notes: Vec<String>,
    model: &'a str,
    devices: u32,
    microbatches: u32,
    time_unit: &'a str,
    memory_unit: &'a str,
    #[serde(skip)]
    chart: String,
    #[serde(skip)]
    written: Option<FileName>,
}

/// A schedule on the frontier.
#[derive(Debug, Serialize)]
struct Row {
    peak_memory_max: i64,
    makespan: i64,
    /// No schedule that holds no more on any device is shorter.
    lower_bound: i64,
    gap: f64,
    gap_exact: String,
    bubble_rate: f64,
    bubble_rate_exact: String,
    useful_rate: f64,
    useful_rate_exact: String,
    /// The limit under which it was found; null without one.
    memory_limit: Option<i64>,
    engine: String,
    #[serde(skip)]
    shown_gap: Rate,
    #[serde(skip)]
    rates: [Rate; 2],
}

/// A named schedule, as replay measures it without a memory limit.
#[derive(Debug, Serialize)]
struct Named {
    name: &'static str,
    peak_memory_max: i64,
    makespan: i64,
    bubble_rate: f64,
    bubble_rate_exact: String,
    /// How much longer it is than the point of the frontier that holds no more, as a share of that.
    distance: Option<f64>,
    distance_exact: Option<String>,
    #[serde(skip)]
    rate: Rate,
    #[serde(skip)]
    gap: Option<Rate>,
}

/// Searches under one memory limit after the other, and prints and draws what was found.
///
/// # Errors
/// When a file or an option is wrong, or a search is defective.
pub fn run(args: &FrontierArgs, size: Size, output: Output) -> Result<Status, Error> {
    let target = args.output.as_ref().map(|path| drawing(path, output)).transpose()?;
    let model = size.apply(read_model(&args.model)?)?;
    let progress = Progress::start("frontier").until(args.time_limit());
    check_size(&model, Work::Search, Some(args.time_limit()))?;
    let stop = Stop::on(on_signals()).within(output.left_of(args.time_limit()));
    let limit = Deadline::after(args.time_limit(), output);
    let options = search::options(&stop, args.time_limit.is_some());
    let limits = usize::from(args.limits);
    let found =
        whole_frontier(&model, limits, &options, &mut |limit, state| progress.step(step(limit, state)));
    drop((progress, limit));
    let found = found.map_err(|error| refused(&error))?;
    let mut report = WholeReport::of(&model, &found, &stop);
    report.notes.iter().for_each(|text| note(text));
    let (points, marks) = report.spots(&found);
    let curve = Curve {
        title: &title(&model),
        axes: Axes::Schedules,
        time_unit: &model.costs().unit,
        memory_unit: &model.memory().unit,
        points: &points,
        marks: &marks,
        least: Ratio::from_integer(found.bound.0),
    };
    report.chart = curve.terminal(78);
    if let Drawn::WithFigures(written) = draw(target, || curve.svg())? {
        report.written = written;
        output.print(&report)?;
    }
    Ok(report.status())
}

/// What a search under a memory limit is doing.
pub(super) fn step(limit: Option<Units>, state: &optimize::Progress) -> String {
    let under = limit.map_or_else(|| "no memory limit".to_owned(), |limit| format!("memory limit {limit}"));
    format!("{under}: {}", state.step)
}

impl<'a> WholeReport<'a> {
    pub(super) fn of(model: &'a Model, found: &WholeFrontier, stop: &Stop) -> Self {
        let why =
            if stop.is_interrupted() { "the search was interrupted" } else { "the time limit was reached" };
        let late = (!found.complete).then(|| format!("{why} before all memory limits were tried"));
        Self {
            points: found.points.iter().map(Row::of).collect(),
            schedules: found.schedules.iter().map(Named::of).collect(),
            least_memory: found.least.0,
            undecided_limits: found.without_any.iter().map(|limit| limit.0).collect(),
            complete: found.complete,
            notes: [late, caveats::worst_case(model), caveats::unsplit(model)]
                .into_iter()
                .flatten()
                .collect(),
            model: model.name(),
            devices: model.devices(),
            microbatches: model.microbatches(),
            time_unit: &model.costs().unit,
            memory_unit: &model.memory().unit,
            chart: String::new(),
            written: None,
        }
    }

    pub(super) const fn status(&self) -> Status {
        if self.complete { Status::Yes } else { Status::GaveUp }
    }

    /// The points and the marks of the picture: every named schedule.
    fn spots(&self, found: &WholeFrontier) -> (Vec<Spot>, Vec<Spot>) {
        let points = found.points.iter().map(|point| Spot {
            name: String::new(),
            memory: point.peak().0,
            time: Ratio::from_integer(point.makespan().0),
            full: point.bound == point.makespan(),
        });
        let marks = self.schedules.iter().map(|row| Spot {
            name: row.name.to_owned(),
            memory: row.peak_memory_max,
            time: Ratio::from_integer(row.makespan),
            full: true,
        });
        (points.collect(), marks.collect())
    }
}

impl Row {
    fn of(point: &WholePoint) -> Self {
        let solution = &point.solution;
        let metrics = solution.verdict.timing.as_ref().map(|timing| &timing.metrics);
        let rates =
            metrics.map_or([Rate::from_integer(0); 2], |metrics| [metrics.bubble_rate, metrics.useful_rate]);
        Self {
            peak_memory_max: point.peak().0,
            makespan: point.makespan().0,
            lower_bound: point.bound.0,
            gap: decimal(point.gap()),
            gap_exact: fraction(point.gap()),
            bubble_rate: decimal(rates[0]),
            bubble_rate_exact: fraction(rates[0]),
            useful_rate: decimal(rates[1]),
            useful_rate_exact: fraction(rates[1]),
            memory_limit: point.limit.map(|limit| limit.0),
            engine: solution.engine.clone(),
            shown_gap: point.gap(),
            rates,
        }
    }
}

impl Named {
    fn of(schedule: &NamedWhole) -> Self {
        Self {
            name: schedule.name,
            peak_memory_max: schedule.peak.0,
            makespan: schedule.makespan.0,
            bubble_rate: decimal(schedule.bubble_rate),
            bubble_rate_exact: fraction(schedule.bubble_rate),
            distance: schedule.distance.map(decimal),
            distance_exact: schedule.distance.map(fraction),
            rate: schedule.bubble_rate,
            gap: schedule.distance,
        }
    }
}

impl fmt::Display for WholeReport<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let amounts = Amounts::new(out.alternate(), self.time_unit, self.memory_unit);
        let times = self.points.iter().flat_map(|row| [row.makespan, row.lower_bound]);
        let times = amounts.times(times.chain(self.schedules.iter().map(|row| row.makespan)));
        let memory = self.points.iter().map(|row| row.peak_memory_max);
        let memory = amounts.memories(memory.chain(self.schedules.iter().map(|row| row.peak_memory_max)));
        let (size, units) = ([self.devices, self.microbatches], [times.unit(), memory.unit()]);
        writeln!(out, "{}\n", headline(self.model, size, units))?;
        let mut table = Table::new([
            "peak memory",
            "makespan",
            "lower bound",
            "gap",
            "bubble rate",
            "useful rate",
            "found by",
        ]);
        for row in &self.points {
            table.row([
                memory.cell(row.peak_memory_max),
                times.cell(row.makespan),
                times.cell(row.lower_bound),
                if row.lower_bound == row.makespan { "none".to_owned() } else { percentage(row.shown_gap) },
                percentage(row.rates[0]),
                percentage(row.rates[1]),
                row.engine.clone(),
            ]);
        }
        // Where nothing is recomputed, it is what the bubble rate leaves of the whole.
        let recomputing = self.points.iter().any(|row| row.rates[0] + row.rates[1] < Rate::from_integer(1));
        let table = if recomputing { table } else { table.without(5) };
        writeln!(out, "{table}")?;
        // Several frontiers are drawn together, below all of them.
        if !self.chart.is_empty() {
            writeln!(out, "{}", self.chart)?;
        }
        writeln!(out, "lower bound: no schedule that holds no more than the peak on any device is shorter")?;
        writeln!(
            out,
            "no schedule fits into less than {} on every device",
            amounts.memory(self.least_memory)
        )?;
        for limit in &self.undecided_limits {
            writeln!(
                out,
                "with {} on every device, no schedule was found, and none is ruled out",
                amounts.memory(*limit)
            )?;
        }
        if !self.schedules.is_empty() {
            writeln!(out, "\nnamed schedules, replayed without a memory limit\n")?;
            let mut table =
                Table::new(["schedule", "mark", "peak memory", "makespan", "over frontier", "bubble rate"]);
            for (row, letter) in self.schedules.iter().zip(letters()) {
                table.row([
                    row.name.to_owned(),
                    letter.to_string(),
                    memory.cell(row.peak_memory_max),
                    times.cell(row.makespan),
                    row.gap.map_or_else(|| "-".to_owned(), percentage),
                    percentage(row.rate),
                ]);
            }
            // Marks are those of a picture of this frontier alone.
            write!(out, "{}", if self.chart.is_empty() { table.without(1) } else { table })?;
        }
        self.written.iter().try_for_each(|written| writeln!(out, "\nwrote {written}"))
    }
}
