//! `frontier`: memory against interval and bubble, or against makespan, with the named schedules on it.

mod several;
mod text;
mod whole;

use std::ffi::OsStr;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use num_rational::Ratio;
use serde::Serialize;

use super::block::PassArgs;
use super::block_words;
use super::caveats;
use super::deadline::Deadline;
use super::error::{Error, Status};
use super::figures::{decimal, fraction};
use super::file_name::FileName;
use super::input::read_model;
use super::interrupt::on_signals;
use super::number::Interval;
use super::output::{Output, Target, note};
use super::progress::Progress;
use super::search::{UNASKED, seconds};
use super::size::{Sizes, activations_only, check_size, passes_alone};
use super::violations::count;
use crate::block::Passes;
use crate::draw::{Axes, Curve, Spot};
use crate::estimate::Work;
use crate::model::{Model, Units};
use crate::optimize::frontier::{Frontier, FrontierError, NamedSchedule, frontier, named_schedules};
use crate::replay::Rate;
use crate::stop::Stop;

/// The options of `frontier`.
#[derive(Debug, Args)]
pub struct FrontierArgs {
    /// The model file (TOML) with times and memory; `-` reads standard input. Its memory limits are ignored
    #[arg(value_name = "MODEL")]
    model: PathBuf,

    #[command(flatten)]
    sizes: Sizes,

    #[command(flatten)]
    passes: PassArgs,

    /// Whole schedules in place of building blocks: peak memory against makespan, with everything that the model counts
    ///
    /// Overlapped pairs, messages, the end of the step, offloading and two directions count only here.
    #[arg(long, conflicts_with_all = ["fused", "recompute"])]
    whole: bool,

    /// With --whole: the number of memory limits to search under
    #[arg(long, value_name = "N", requires = "whole", default_value_t = 8)]
    #[arg(value_parser = clap::value_parser!(u8).range(1..))]
    limits: u8,

    /// Time limit of the command in seconds [default: 60]
    ///
    /// Several sizes share it; the default is 60 seconds for each. If it is given with --whole, the searches continue
    /// until then, unless their results are proved optimal earlier; else they share the effort of one `optimize`.
    #[arg(long, value_name = "S", value_parser = seconds)]
    time_limit: Option<Duration>,

    /// Where to draw it: a file that ends in `.svg`; `-` is standard output
    ///
    /// Several sizes are drawn as curves of one picture, with a legend. With --whole, these are of the makespan per
    /// microbatch.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl FrontierArgs {
    fn time_limit(&self) -> Duration {
        self.time_limit.unwrap_or(UNASKED)
    }
}

/// The frontier with the named schedules.
#[derive(Debug, Serialize)]
struct FrontierReport<'a> {
    points: Vec<Row>,
    schedules: Vec<Named>,
    /// Whether less memory than the first point's is impossible.
    complete: bool,
    /// The solver that found no block with less memory, in floating point, which is no proof.
    #[serde(skip_serializing_if = "Option::is_none")]
    claimed_by: Option<&'static str>,
    engine: &'static str,
    /// What is worth knowing about the proofs.
    notes: Vec<String>,
    model: &'a str,
    devices: u32,
    microbatches: u32,
    time_unit: &'a str,
    memory_unit: &'a str,
    #[serde(skip)]
    chart: String,
    #[serde(skip)]
    passes: Passes,
    #[serde(skip)]
    written: Option<FileName>,
}

/// A block on the frontier.
#[derive(Debug, Serialize)]
struct Row {
    /// The most that the activations of a device take in the steady phase, weights left out.
    activation_peak_max: i64,
    interval: Interval,
    /// No block of one microbatch per interval under this memory has a shorter one.
    bound: Interval,
    /// The share of the interval in which devices idle.
    steady_bubble_rate: f64,
    steady_bubble_rate_exact: String,
    /// The share of the interval in which devices run forwards and backwards, without recomputation.
    steady_useful_rate: f64,
    steady_useful_rate_exact: String,
    proven: bool,
    #[serde(skip)]
    rate: Rate,
    #[serde(skip)]
    useful: Rate,
}

/// A named schedule, as replay measures it without capacities.
#[derive(Debug, Serialize)]
struct Named {
    name: &'static str,
    /// The most that the activations of a device take, as for the points. Where there is an interval, that is with
    /// as many microbatches as a steady phase takes.
    activation_peak_max: i64,
    /// The most that a device holds, as `verify` and `compare` give it.
    peak_memory_max: i64,
    /// The time per microbatch in the steady phase, where there is one.
    interval: Option<Interval>,
    /// The bubble rate of the whole schedule, as `verify` and `compare` give it.
    bubble_rate: f64,
    bubble_rate_exact: String,
    /// Likewise, the share that goes into forwards and backwards, without recomputation.
    useful_rate: f64,
    useful_rate_exact: String,
    /// The least interval of the frontier within its memory, where its stages run the passes of the
    /// frontier.
    frontier_interval: Option<Interval>,
    /// How much longer its interval is than that, as a share of it; negative where the schedule, with
    /// several microbatches per interval, is better than any block of one.
    distance: Option<f64>,
    distance_exact: Option<String>,
    #[serde(skip)]
    rate: Rate,
    #[serde(skip)]
    useful: Rate,
    #[serde(skip)]
    gap: Option<Rate>,
}

/// Finds the frontier, marks the named schedules, and prints and draws it.
///
/// # Errors
/// When a file or an option is wrong, or no engine can take the model.
pub fn run(args: &FrontierArgs, output: Output) -> Result<Status, Error> {
    let sizes = args.sizes.all();
    let [size] = sizes[..] else { return several::run(args, &sizes, output) };
    if args.whole {
        return whole::run(args, size, output);
    }
    let target = args.output.as_ref().map(|path| drawing(path, output)).transpose()?;
    let whole = for_blocks(size.apply(read_model(&args.model)?)?)?;
    let model = activations_only(&whole);
    let passes = args.passes.passes(&model)?;
    let progress = Progress::start("frontier").until(args.time_limit());
    let mut tell = |peak: Units, interval: Ratio<i64>| {
        progress.step(format!("interval {interval} with a peak of {peak}"));
    };
    check_size(&model, Work::Blocks, None)?;
    let stop = Stop::on(on_signals()).within(output.left_of(args.time_limit()));
    let limit = Deadline::after(args.time_limit(), output);
    // The named schedules want some of the time, too.
    let found =
        frontier(&model, passes, &stop.within(args.time_limit() / 4 * 3), &mut tell).map_err(refused)?;
    progress.step("named schedules");
    let schedules = named_schedules(&whole, passes, &found, &stop);
    let mut report = FrontierReport::of(&model, passes, &found, schedules, &stop);
    drop((progress, limit));
    report.notes.iter().for_each(|text| note(text));
    let (points, marks) = report.spots();
    let curve = Curve {
        title: &title(&model),
        axes: Axes::Blocks,
        time_unit: &model.costs().unit,
        memory_unit: &model.memory().unit,
        points: &points,
        marks: &marks,
        least: Ratio::from_integer(passes.most_work(&model).0),
    };
    report.chart = curve.terminal(78);
    if let Drawn::WithFigures(written) = draw(target, || curve.svg())? {
        report.written = written;
        output.print(&report)?;
    }
    Ok(report.status())
}

/// The model without memory limits, if blocks can count all that it says.
fn for_blocks(model: Model) -> Result<Model, Error> {
    let model = passes_alone(model).map_err(|error| {
        error.advising("`frontier --whole` supports it, for whole schedules in place of blocks")
    })?;
    model.with_uniform_activation_capacity(None).map_err(|error| Error::Defect(error.to_string()))
}

/// What a picture is called.
fn title(model: &Model) -> String {
    format!("{}: {}", model.name(), count(model.devices() as usize, "device", "devices"))
}

/// What became of a drawing.
enum Drawn {
    /// It is on standard output, in place of the figures.
    InsteadOfFigures,
    /// It is in this file, if it was asked for, and the figures are still to be printed.
    WithFigures(Option<FileName>),
}

/// Draws a curve where it is to go, if anywhere.
fn draw(target: Option<(Target, FileName)>, svg: impl FnOnce() -> String) -> Result<Drawn, Error> {
    let Some((target, path)) = target else { return Ok(Drawn::WithFigures(None)) };
    target.write(|out| out.write_all(svg().as_bytes()))?;
    Ok(match target {
        Target::Stdout => Drawn::InsteadOfFigures,
        Target::File(_) => Drawn::WithFigures(Some(path)),
    })
}

/// Where a drawing goes: only SVG is drawn.
fn drawing(path: &std::path::Path, output: Output) -> Result<(Target, FileName), Error> {
    let name = FileName::of(path);
    let is_svg = path.extension().and_then(OsStr::to_str) == Some("svg");
    if !is_svg && path.as_os_str() != "-" {
        return Err(Error::usage(
            format!("`{name}` does not end in `.svg`"),
            "`frontier` draws SVG: give `-o` a name that ends in `.svg`",
        ));
    }
    Ok((output.target(path)?, name))
}

fn refused(error: FrontierError) -> Error {
    match error {
        FrontierError::Engine(error) => match block_words::refused(&error) {
            Error::NoAnswer { message, help: Some(_) } => {
                let help = "`block --engine smt` decides single memory limits in exact arithmetic".to_owned();
                Error::NoAnswer { message, help: Some(help) }
            }
            error => error,
        },
        error => Error::Usage { message: error.to_string(), help: None },
    }
}

impl<'a> FrontierReport<'a> {
    fn of(
        model: &'a Model,
        passes: Passes,
        found: &Frontier,
        schedules: Vec<NamedSchedule>,
        stop: &Stop,
    ) -> Self {
        let points = found.points.iter().map(|point| {
            let (rate, useful) = (point.bubble_rate(model, passes), point.useful_rate(model, passes));
            Row {
                activation_peak_max: point.peak.0,
                interval: Interval(point.interval),
                bound: Interval(point.bound),
                steady_bubble_rate: decimal(rate),
                steady_bubble_rate_exact: fraction(rate),
                steady_useful_rate: decimal(useful),
                steady_useful_rate_exact: fraction(useful),
                proven: point.proven,
                rate,
                useful,
            }
        });
        let is_late = stop.is_due() && !stop.is_interrupted();
        let late =
            is_late.then(|| "the time limit was reached before all named schedules were replayed".to_owned());
        let is_proved = found.complete && found.points.iter().all(|point| point.proven);
        let solver = found.engine.floating_point_solver().filter(|_| !is_proved);
        let unsplit = if passes.fused { None } else { caveats::unsplit(model) };
        let note = |solver| {
            format!(
                "{solver} looks for blocks in floating point, which proves nothing: every block, and every lower \
                 bound on an interval, is checked exactly; `block --engine smt` decides single memory limits in exact \
                 arithmetic"
            )
        };
        Self {
            points: points.collect(),
            schedules: schedules.into_iter().map(Named::from).collect(),
            complete: found.complete,
            claimed_by: found.claimed,
            engine: found.engine.name(),
            notes: [solver.map(note), late, caveats::worst_case(model), unsplit]
                .into_iter()
                .flatten()
                .collect(),
            passes,
            model: model.name(),
            devices: model.devices(),
            microbatches: model.microbatches(),
            time_unit: &model.costs().unit,
            memory_unit: &model.memory().unit,
            chart: String::new(),
            written: None,
        }
    }

    fn status(&self) -> Status {
        let decided = self.complete && self.points.iter().all(|point| point.proven);
        if decided { Status::Yes } else { Status::GaveUp }
    }

    /// What is drawn: the frontier, and the schedules with a steady phase.
    fn spots(&self) -> (Vec<Spot>, Vec<Spot>) {
        let points = self.points.iter().map(|row| Spot {
            name: String::new(),
            memory: row.activation_peak_max,
            time: row.interval.0,
            full: row.proven,
        });
        let marks = self.schedules.iter().filter_map(|row| {
            let Interval(interval) = row.interval?;
            let memory = row.activation_peak_max;
            Some(Spot { name: row.name.to_owned(), memory, time: interval, full: true })
        });
        (points.collect(), marks.collect())
    }
}

impl From<NamedSchedule> for Named {
    fn from(schedule: NamedSchedule) -> Self {
        let NamedSchedule {
            name,
            activation_peak,
            peak_memory,
            interval,
            bubble_rate,
            useful_rate,
            frontier_interval,
            distance,
        } = schedule;
        Self {
            name,
            activation_peak_max: activation_peak.0,
            peak_memory_max: peak_memory.0,
            interval: interval.map(Interval),
            bubble_rate: decimal(bubble_rate),
            bubble_rate_exact: fraction(bubble_rate),
            useful_rate: decimal(useful_rate),
            useful_rate_exact: fraction(useful_rate),
            frontier_interval: frontier_interval.map(Interval),
            distance: distance.map(decimal),
            distance_exact: distance.map(fraction),
            rate: bubble_rate,
            useful: useful_rate,
            gap: distance,
        }
    }
}
