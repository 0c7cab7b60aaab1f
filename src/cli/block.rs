//! `block`: a building block of a model, as good as can be proved, or what a block family gives.

mod report;

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use num_rational::Ratio;
use serde::Serialize;

use self::report::{BlockReport, BoundValue};
use super::block_words::{EngineName, Praise, infeasible, microbatches, refused};
use super::caveats;
use super::deadline::Deadline;
use super::error::{Error, Status};
use super::input::Input;
use super::interrupt::on_signals;
use super::memory_limit::MemoryLimit;
use super::output::{Output, note};
use super::progress::Progress;
use super::search::{Infeasible, seconds};
use super::size::{activations_only, check_size, passes_alone, resized};
use super::time_arg::TimeArg;
use crate::block::family::Family;
use crate::block::{Block, Passes};
use crate::certificate::{CHECK_STEPS, STEPS, is_least_pace, steady_bound_until};
use crate::encode::{BlockBound, BlockObjective, BlockOutcome};
use crate::estimate::Work;
use crate::model::{Model, Ticks, Units};
use crate::optimize::block::{BlockEngine, BlockRequest, replayed_peak, solve};
use crate::stop::Stop;

/// The options of `block`.
#[derive(Debug, Args)]
pub struct BlockArgs {
    /// The model file, or a block family file (with [[pass]] tables) to inspect; `-` reads standard
    /// input
    #[arg(value_name = "MODEL")]
    file: PathBuf,

    /// The number of devices: in place of the model's, or for which to inspect a family
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    devices: Option<u32>,

    #[command(flatten)]
    memory_limit: MemoryLimit,

    #[command(flatten)]
    passes: PassArgs,

    #[command(flatten)]
    search: BlockSearch,
}

/// Which passes every stage runs.
#[derive(Debug, Args)]
pub struct PassArgs {
    /// One full backward B in place of I and W
    #[arg(long)]
    fused: bool,

    /// Recompute every forward before its backward: F holds only the checkpoint of the model's
    /// [recompute] table
    #[arg(long)]
    recompute: bool,
}

impl PassArgs {
    /// The passes asked for.
    ///
    /// # Errors
    /// When the model does not say what a checkpoint holds.
    pub fn passes(&self, model: &Model) -> Result<Passes, Error> {
        if self.recompute && model.memory().checkpoint.is_none() {
            return Err(Error::usage(
                "--recompute needs the memory of a checkpoint",
                "add a [recompute] table with `checkpoint` to the model",
            ));
        }
        Ok(Passes { fused: self.fused, recompute: self.recompute })
    }
}

/// What to look for in a block, and how.
#[derive(Debug, Args)]
struct BlockSearch {
    /// The interval at which to find the least memory: a number in the unit of the model file, a time such as 13.08ms, or
    /// `work`, the least interval of any block
    #[arg(long, value_name = "N|TIME|work")]
    interval: Option<IntervalArg>,

    /// What to minimise
    ///
    /// Memory is minimised at the interval of --interval (default: work), the interval within the
    /// limits of the model or of --memory. Without this option: memory, unless there are limits and no
    /// --interval.
    #[arg(long, value_enum, value_name = "WHAT")]
    minimize: Option<Aim>,

    /// How many microbatches an interval has; the interval is then the time of all of them
    ///
    /// With little memory, blocks of 2 or 3 can need less time per microbatch than any block of 1.
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    microbatches_per_interval: u32,

    /// The engine [default: `exact` for one microbatch per interval with linear and V placement, otherwise `lcg`; `milp`, `smt` or
    /// `search` where times are too large for it]
    #[arg(long, value_enum)]
    engine: Option<EngineName>,

    /// Time limit of the engine in seconds
    #[arg(long, value_name = "S", default_value = "60", value_parser = seconds)]
    time_limit: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Aim {
    /// The largest activation peak of a device
    Memory,
    /// The interval
    Interval,
}

/// An interval to work at.
#[derive(Debug, Clone)]
enum IntervalArg {
    Work,
    Every(TimeArg),
}

impl std::str::FromStr for IntervalArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "work" {
            return Ok(Self::Work);
        }
        match text.parse() {
            Ok(TimeArg::Plain(number, _)) if number == Ratio::from_integer(0) => {
                Err("an interval of 0 ticks repeats nothing".to_owned())
            }
            Ok(time) => Ok(Self::Every(time)),
            Err(error) => Err(format!("{error}, nor `work`")),
        }
    }
}

/// Finds or inspects a block and prints it.
///
/// # Errors
/// When a file or an option is wrong, or an engine is defective.
pub fn run(args: &BlockArgs, output: Output) -> Result<Status, Error> {
    let input = Input::read(&args.file)?;
    if input.is_family() { inspect(args, &input.family()?, output) } else { find(args, &input, output) }
}

fn find(args: &BlockArgs, input: &Input, output: Output) -> Result<Status, Error> {
    let mut model = passes_alone(input.model()?)?;
    if let Some(devices) = args.devices {
        model = resized(&model, devices)?;
    }
    let model = activations_only(&args.memory_limit.apply(model)?);
    let passes = args.passes.passes(&model)?;
    let objective = args.search.objective(&model, passes)?;
    let request = BlockRequest { passes, objective, period: args.search.microbatches_per_interval };
    let engine = match args.search.engine {
        Some(name) => name.into(),
        None => BlockEngine::default_for(&model, request),
    };
    let work = passes.most_work(&model);
    if let BlockObjective::LeastMemory { interval } = objective
        && i128::from(interval.0) < i128::from(work.0) * i128::from(request.period)
    {
        let reason = format!(
            "the busiest device works {} for every microbatch, so no interval of {} is below that",
            output.amounts(&model).time(work),
            microbatches(request.period)
        );
        output.print(&Infeasible::because(reason))?;
        return Ok(Status::No);
    }
    let progress = Progress::start(format!("{engine}: {objective}"));
    check_size(&model, Work::Blocks, None)?;
    let stop = Stop::on(on_signals()).within(output.left_of(args.search.time_limit));
    let limit = Deadline::after(args.search.time_limit, output);
    let remaining = stop.remaining();
    // The rest is there for the bound on all schedules.
    let share = if is_of_several(request) { remaining / 10 * 9 } else { remaining };
    let found = solve(&model, engine, request, &stop.within(share)).map_err(|error| refused(&error))?;
    let is_least = is_least_of_schedules(&model, request, &found, &stop);
    let found = match found {
        // Whatever the engine can prove of other blocks.
        BlockOutcome::Bounded { best: Some(best), .. } if is_least => BlockOutcome::Optimal(best),
        found => found,
    };
    let peak = found.best().map(|best| checked_peak(&best.block, &model)).transpose()?;
    // What the search proves, it proves by a bound on all schedules.
    let of_schedules = engine == BlockEngine::Search || is_least;
    drop((progress, limit));
    let (best, bound, claimed) = match found {
        BlockOutcome::Optimal(best) => (best, None, None),
        BlockOutcome::Bounded { best: Some(best), bound } => (best, Some(bound), None),
        BlockOutcome::Claimed { best: Some(best), bound, solver } => (best, Some(bound), Some(solver)),
        BlockOutcome::Claimed { best: None, solver, .. } => {
            let reason = format!(
                "{solver}, in floating point, found no block; that proves nothing. \
                 `--engine lcg` or `--engine smt` decides it in exact arithmetic"
            );
            output.print(&Undecided { feasible: None, reason })?;
            return Ok(Status::GaveUp);
        }
        BlockOutcome::Infeasible => {
            output.print(&Infeasible::because(infeasible(request)))?;
            return Ok(Status::No);
        }
        BlockOutcome::Bounded { best: None, .. } => {
            let seconds = args.search.time_limit.as_secs_f64();
            let reason = if stop.is_interrupted() {
                format!("{engine} was interrupted before it found a block, or that there is none")
            } else {
                format!("{engine} found no block within {seconds} seconds, nor that there is none")
            };
            output.print(&Undecided { feasible: None, reason })?;
            return Ok(Status::GaveUp);
        }
    };
    let peak = peak.expect("there is a block");
    let unsplit = if args.passes.fused { None } else { caveats::unsplit(&model) };
    let open = bound.and_then(|bound| how_to_decide(engine, request.period, bound));
    let claims = claimed.map(in_floating_point).into_iter().chain(open);
    let notes = claims.chain(caveats::worst_case(&model));
    let notes: Vec<String> = notes.chain(unsplit).collect();
    for text in &notes {
        note(text);
    }
    let amounts = output.amounts(&model);
    let report = BlockReport {
        proven: bound.is_none(),
        bound: bound.map(BoundValue),
        claimed_by: claimed,
        optimality: Some(Praise { request, of_schedules, bound, claimed, amounts }.to_string()),
        notes,
        ..BlockReport::of(&best.block, &model, peak, engine.to_string())
    };
    output.print(&report)?;
    Ok(Status::Yes)
}

/// Whether the request is for the least interval of several microbatches.
fn is_of_several(request: BlockRequest) -> bool {
    request.objective == BlockObjective::LeastInterval && request.period > 1
}

/// Whether no schedule at all takes less per microbatch in the long run than the block of several that has been found.
fn is_least_of_schedules(model: &Model, request: BlockRequest, found: &BlockOutcome, stop: &Stop) -> bool {
    let steps = match found {
        // The larger a block, the longer the engine has taken, and the more steps there are.
        BlockOutcome::Optimal(_) => {
            let squared = u64::from(request.period - 1).saturating_pow(2);
            CHECK_STEPS.min(STEPS.saturating_mul(squared))
        }
        // Without it nothing is proved.
        BlockOutcome::Bounded { .. } => CHECK_STEPS,
        BlockOutcome::Claimed { .. } | BlockOutcome::Infeasible => return false,
    };
    let Some(best) = found.best().filter(|_| is_of_several(request) && !stop.is_due()) else { return false };
    let pace = best.interval / i64::from(request.period);
    is_least_pace(model, pace, steps, &mut || stop.is_due())
        || pace == steady_bound_until(model, STEPS, &mut || stop.is_due())
}

/// A note where a solver in floating point found no better block.
fn in_floating_point(solver: &'static str) -> String {
    format!(
        "the block is checked exactly, but only {solver}'s floating-point arithmetic says that none is better, which \
         proves nothing; `--engine lcg` or `--engine smt` decides it in exact arithmetic"
    )
}

/// A note where another engine may prove what this one does not.
fn how_to_decide(engine: BlockEngine, period: u32, bound: BlockBound) -> Option<String> {
    let better = match bound {
        BlockBound::Interval(_) => "a shorter interval",
        BlockBound::Memory(_) => "a lower peak",
    };
    let others = match engine {
        BlockEngine::Search => "`--engine lcg` or `--engine smt` can decide it",
        BlockEngine::Lcg => "more time or `--engine smt` may decide it",
        BlockEngine::Exact | BlockEngine::Smt | BlockEngine::Milp => return None,
    };
    Some(format!("another block of {} per interval may have {better}; {others}", microbatches(period)))
}

impl BlockSearch {
    fn objective(&self, model: &Model, passes: Passes) -> Result<BlockObjective, Error> {
        let limited = model.memory().capacity.iter().any(Option::is_some);
        let aim = match (self.minimize, &self.interval) {
            (Some(Aim::Interval), Some(_)) => {
                return Err(Error::usage(
                    "--minimize interval conflicts with --interval",
                    "leave out one of them",
                ));
            }
            (Some(aim), _) => aim,
            (None, None) if limited => Aim::Interval,
            (None, _) => Aim::Memory,
        };
        Ok(match aim {
            Aim::Interval => BlockObjective::LeastInterval,
            Aim::Memory => BlockObjective::LeastMemory {
                interval: match &self.interval {
                    Some(IntervalArg::Every(time)) => time.ticks(model)?,
                    Some(IntervalArg::Work) | None => {
                        let work =
                            passes.most_work(model).0.checked_mul(i64::from(self.microbatches_per_interval));
                        Ticks(work.ok_or_else(|| {
                            Error::usage(
                                "the work of these microbatches overflows",
                                "choose a coarser unit of time, or fewer microbatches per interval",
                            )
                        })?)
                    }
                },
            },
        })
    }

    fn is_default(&self) -> bool {
        self.interval.is_none()
            && self.minimize.is_none()
            && self.engine.is_none()
            && self.microbatches_per_interval == 1
    }
}

fn inspect(args: &BlockArgs, family: &Family, output: Output) -> Result<Status, Error> {
    let Some(devices) = args.devices else {
        return Err(Error::usage(
            format!("{} is a block family, so the number of devices is needed", family.name),
            "add --devices N",
        ));
    };
    let PassArgs { fused, recompute } = args.passes;
    if args.memory_limit.is_given() || fused || recompute || !args.search.is_default() {
        return Err(Error::usage(
            format!("{} is a block family, whose blocks are inspected as they are", family.name),
            "only --devices applies to a family; the other options look for the best block of a model",
        ));
    }
    let wrong = |error: crate::block::family::FamilyError| {
        let message = format!("{} has no block for {devices} devices: {error}", family.name);
        Error::Usage { message, help: None }
    };
    let model = family.model(devices, 1).map_err(wrong)?;
    let block = family.block(devices).map_err(wrong)?;
    let mut faults: Vec<String> = block.faults(&model).iter().map(ToString::to_string).collect();
    let peak = if faults.is_empty() { checked_peak(&block, &model)? } else { Vec::new() };
    if faults.is_empty() {
        let broken = family.broken_promises(devices).map_err(wrong)?;
        faults.extend(broken.iter().map(ToString::to_string));
    }
    let report = BlockReport {
        name: Some(&family.name),
        faults: Some(faults),
        ..BlockReport::of(&block, &model, peak, "family".to_owned())
    };
    output.print(&report)?;
    Ok(Status::of(report.faults.is_some_and(|faults| faults.is_empty())))
}

/// The exact steady peak of each device, confirmed by replay.
fn checked_peak(block: &Block, model: &Model) -> Result<Vec<Units>, Error> {
    replayed_peak(block, model).map_err(|error| {
        if error.is_defect() {
            Error::Defect(error.to_string())
        } else {
            Error::usage(error.to_string(), "choose a coarser unit of time, or a longer interval")
        }
    })
}

/// That nothing was found, nor that there is nothing.
#[derive(Serialize)]
struct Undecided {
    feasible: Option<bool>,
    reason: String,
}

impl fmt::Display for Undecided {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "gave up: {}", self.reason)
    }
}
