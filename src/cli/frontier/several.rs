//! `frontier` at several sizes: a table for each, and one picture of all.

use std::fmt;

use num_rational::Ratio;
use serde::Serialize;

use super::whole::{self, WholeReport};
use super::{Drawn, FrontierArgs, FrontierReport, draw, drawing, for_blocks, refused, title};
use crate::cli::deadline::Deadline;
use crate::cli::error::{Error, Status};
use crate::cli::file_name::FileName;
use crate::cli::input::read_model;
use crate::cli::interrupt::on_signals;
use crate::cli::optimize;
use crate::cli::output::Output;
use crate::cli::progress::Progress;
use crate::cli::search::{self, unasked};
use crate::cli::size::{Size, activations_only, check_size};
use crate::cli::sweep::{Combination, check_count, note_each_once};
use crate::draw::{Axes, Curves, Series, Spot};
use crate::estimate::Work;
use crate::model::{Model, Units};
use crate::optimize::frontier::whole::{WholeFrontier, whole_frontier};
use crate::optimize::frontier::{Frontier, frontier, named_schedules};
use crate::stop::Stop;

/// The frontiers, in the order of the sizes.
#[derive(Serialize)]
#[serde(transparent)]
struct Frontiers<R> {
    blocks: Vec<Block<R>>,
    #[serde(skip)]
    chart: String,
    #[serde(skip)]
    written: Option<FileName>,
}

/// A frontier, and of which size.
#[derive(Serialize)]
struct Block<R> {
    combination: Combination,
    #[serde(flatten)]
    report: R,
}

/// Finds the frontier at each size, and prints and draws all of them.
///
/// # Errors
/// When a file or an option is wrong, or no engine can take the model.
pub fn run(args: &FrontierArgs, sizes: &[Size], output: Output) -> Result<Status, Error> {
    check_count(sizes.len())?;
    let target = args.output.as_ref().map(|path| drawing(path, output)).transpose()?;
    let model = read_model(&args.model)?;
    let models = sizes.iter().map(|size| size.apply(model.clone())).collect::<Result<Vec<Model>, Error>>()?;
    let time_limit = args.time_limit.unwrap_or_else(|| unasked(sizes.len()));
    let work = if args.whole { Work::Search } else { Work::Blocks };
    let share = time_limit / u32::try_from(sizes.len()).unwrap_or(u32::MAX);
    for model in &models {
        check_size(model, work, args.whole.then_some(share))?;
    }
    let models = if args.whole {
        models
    } else {
        models.into_iter().map(for_blocks).collect::<Result<Vec<Model>, Error>>()?
    };
    let progress = Progress::start("frontier").until(args.time_limit());
    let stop = Stop::on(on_signals()).within(output.left_of(time_limit));
    let limit = Deadline::after(time_limit, output);
    if args.whole {
        let found = whole_frontiers(args, &models, &stop, &progress)?;
        drop((progress, limit));
        let blocks = models.iter().zip(&found).map(|(model, found)| Block {
            combination: Combination::of_size(model),
            report: WholeReport::of(model, found, &stop),
        });
        let frontiers = Frontiers { blocks: blocks.collect(), chart: String::new(), written: None };
        note_each_once(frontiers.blocks.iter().flat_map(|block| &block.report.notes));
        let least =
            models.iter().zip(&found).map(|(model, found)| per_microbatch(model, found.bound.0)).min();
        let series = models.iter().zip(&found).map(|(model, found)| whole_series(&models, model, found));
        let (least, series) = (least.unwrap_or_default(), series.collect::<Vec<_>>());
        let status = frontiers.blocks.iter().all(|block| block.report.status() == Status::Yes);
        let title = picture_title(&models);
        let curves = curves(&title, &models[0], Axes::SchedulesPerMicrobatch, &series, least);
        return frontiers.show(&curves, target, status, output);
    }
    let bare: Vec<Model> = models.iter().map(Model::without_weights).collect();
    let (found, least) = blocks(args, &models, &bare, &stop, &progress)?;
    drop((progress, limit));
    activations_only(&models[0]);
    // Blocks do not depend on the number of microbatches.
    let is_first = |at: usize| at == 0 || models[at - 1].devices() != models[at].devices();
    let series = found.iter().enumerate().filter(|&(at, _)| is_first(at)).map(|(at, report)| Series {
        name: format!("devices {}", models[at].devices()),
        points: report.spots().0,
    });
    let series: Vec<Series> = series.collect();
    let blocks = models.iter().zip(found);
    let blocks =
        blocks.map(|(model, report)| Block { combination: Combination::of_size(model), report }).collect();
    let frontiers = Frontiers { blocks, chart: String::new(), written: None };
    note_each_once(frontiers.blocks.iter().flat_map(|block| &block.report.notes));
    let status = frontiers.blocks.iter().all(|block| block.report.status() == Status::Yes);
    let title = picture_title(&models);
    frontiers.show(&curves(&title, &models[0], Axes::Blocks, &series, least), target, status, output)
}

/// The frontiers of whole schedules, which share the time that is left equally.
fn whole_frontiers(
    args: &FrontierArgs,
    models: &[Model],
    stop: &Stop,
    progress: &Progress,
) -> Result<Vec<WholeFrontier>, Error> {
    let search = |(done, model): (usize, &Model)| {
        let options = search::options(&stop.share(models.len() - done), args.time_limit.is_some());
        let size = Combination::of_size(model).words();
        whole_frontier(model, usize::from(args.limits), &options, &mut |limit, state| {
            progress.step(format!("{size}: {}", whole::step(limit, state)));
        })
        .map_err(|error| optimize::refused(&error))
    };
    models.iter().enumerate().map(search).collect()
}

/// What the picture is called: with the number of devices, where it is one.
fn picture_title(models: &[Model]) -> String {
    let is_one = models.iter().all(|model| model.devices() == models[0].devices());
    if is_one { title(&models[0]) } else { models[0].name().to_owned() }
}

fn curves<'a>(
    title: &'a str,
    model: &'a Model,
    axes: Axes,
    series: &'a [Series],
    least: Ratio<i64>,
) -> Curves<'a> {
    let (time_unit, memory_unit) = (&model.costs().unit, &model.memory().unit);
    Curves { title, axes, time_unit, memory_unit, series, least }
}

/// What the legend calls a size: what sets it apart from the others.
fn legend(models: &[Model], model: &Model) -> String {
    let (devices, microbatches) =
        (format!("devices {}", model.devices()), format!("m = {}", model.microbatches()));
    match (
        models.iter().any(|other| other.devices() != model.devices()),
        models.iter().any(|other| other.microbatches() != model.microbatches()),
    ) {
        (true, true) => format!("{devices}, {microbatches}"),
        (true, false) => devices,
        (false, _) => microbatches,
    }
}

fn per_microbatch(model: &Model, ticks: i64) -> Ratio<i64> {
    Ratio::new(ticks, i64::from(model.microbatches().max(1)))
}

fn whole_series(models: &[Model], model: &Model, found: &WholeFrontier) -> Series {
    let points = found.points.iter().map(|point| Spot {
        name: String::new(),
        memory: point.peak().0,
        time: per_microbatch(model, point.makespan().0),
        full: point.bound == point.makespan(),
    });
    Series { name: legend(models, model), points: points.collect() }
}

/// The frontiers of blocks, each with what is proved of it, and the least interval without a bubble.
fn blocks<'a>(
    args: &FrontierArgs,
    models: &[Model],
    bare: &'a [Model],
    stop: &Stop,
    progress: &Progress,
) -> Result<(Vec<FrontierReport<'a>>, Ratio<i64>), Error> {
    let (mut reports, mut least) = (Vec::new(), Vec::new());
    let mut last: Option<(u32, Frontier)> = None;
    for (done, (whole, model)) in models.iter().zip(bare).enumerate() {
        let passes = args.passes.passes(model)?;
        let share = stop.share(models.len() - done);
        let size = Combination::of_size(whole).words();
        let mut tell = |peak: Units, interval: Ratio<i64>| {
            progress.step(format!("{size}: interval {interval} with a peak of {peak}"));
        };
        let found = match last.take().filter(|(devices, _)| *devices == model.devices()) {
            Some((_, found)) => found,
            // The named schedules want some of the time, too.
            None => frontier(model, passes, &share.within(share.remaining() / 4 * 3), &mut tell)
                .map_err(refused)?,
        };
        let named = named_schedules(whole, passes, &found, &share);
        reports.push(FrontierReport::of(model, passes, &found, named, &share));
        least.push(Ratio::from_integer(passes.most_work(model).0));
        last = Some((model.devices(), found));
    }
    Ok((reports, least.into_iter().min().unwrap_or_default()))
}

impl<R: fmt::Display + Serialize> Frontiers<R> {
    fn show(
        mut self,
        curves: &Curves<'_>,
        target: Option<(crate::cli::output::Target, FileName)>,
        is_whole: bool,
        output: Output,
    ) -> Result<Status, Error> {
        self.chart = curves.terminal(78);
        if let Drawn::WithFigures(written) = draw(target, || curves.svg())? {
            self.written = written;
            output.print(&self)?;
        }
        Ok(if is_whole { Status::Yes } else { Status::GaveUp })
    }
}

impl<R: fmt::Display> fmt::Display for Frontiers<R> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for block in &self.blocks {
            writeln!(out, "{}", block.report)?;
        }
        write!(out, "{}", self.chart)?;
        self.written.iter().try_for_each(|written| writeln!(out, "\nwrote {written}"))
    }
}
