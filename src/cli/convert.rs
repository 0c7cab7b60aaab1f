//! `convert`: a schedule in another format.

mod recomputation;
mod runtimes;

use std::ffi::OsStr;
use std::fmt;
use std::mem;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum};
use serde::Serialize;

use self::runtimes::Named;
use super::caveats;
use super::communication::{Communication, Offer};
use super::compare::unknown_schedule;
use super::deadline::Deadline;
use super::error::{Error, Status};
use super::family_input::{Expanded, expanded, model_of_size};
use super::file_name::FileName;
use super::input::Input;
use super::interrupt::on_signals;
use super::output::{Output, Target, note};
use super::pool::Pools;
use super::schedule_input::{how_read, model_for};
use super::search::seconds;
use super::size::{Size, check_size, refuse_offloads};
use crate::block::family::Family;
use crate::catalog;
use crate::estimate::Work;
use crate::interchange::Read;
use crate::interchange::pytorch::{self, ExportError};
use crate::interchange::torchtitan::Release;
use crate::lowering::{LoweringError, nearest, nearest_valid, numbered, verified_plan_gathering};
use crate::model::{Device, Kind, Model, Placement, Sharding};
use crate::schedule::{self, Schedule};
use crate::stop::Stop;

/// The options of `convert`.
#[derive(Debug, Args)]
pub struct ConvertArgs {
    /// The schedule: a schedule file (JSON), PyTorch's CSV, or a block family (TOML) with --devices and --microbatches;
    /// with --schedule a model file (TOML); `-` reads standard input
    #[arg(value_name = "IN")]
    input: PathBuf,

    /// The named schedule to make for the model IN, such as v-half; `compare` lists the names
    #[arg(long, value_name = "NAME")]
    schedule: Option<String>,

    #[command(flatten)]
    size: Size,

    /// Time limit for improving the named schedule in seconds; the best schedule by then is written
    #[arg(long, value_name = "S", default_value = "60", value_parser = seconds)]
    time_limit: Duration,

    /// The file to write; `-` writes standard output
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,

    /// The format to write [default: by the extension, .json or .csv]
    #[arg(long, value_enum, value_name = "FORMAT")]
    to: Option<Form>,

    /// The transformer layers of each stage, such as 7,8,8,7, or one number for all (torchtitan, megatron)
    #[arg(long, value_name = "LIST", value_delimiter = ',',
          value_parser = clap::value_parser!(u32).range(..=10_000))]
    layers: Option<Vec<u32>>,

    /// The model file (TOML) whose times determine the order of messages (sail-sg) or the repair (--nearest; without it,
    /// unit times), or whose `sharding.stages` says how many stages have their weights gathered at a time (pytorch-comms)
    #[arg(long, value_name = "MODEL", conflicts_with = "schedule")]
    model: Option<PathBuf>,

    /// If the schedule cannot run, move the fewest passes with which it can
    ///
    /// Moves up to three passes if that is enough, to where the makespan is shortest. If it is not, or the schedule is too
    /// long to find out, moves passes forward: at each deadlock, of those that could run, the one that has the fewest passes
    /// before it. Splits an overlapped pair if one of its passes moves.
    #[arg(long)]
    nearest: bool,
}

/// The formats in which schedules are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Form {
    /// The schedule file of this tool
    Json,
    /// PyTorch's CSV of passes: a row for each rank (`compute_only`)
    Pytorch,
    /// The same with sends, receives, waits and reductions (`compute_comms`)
    PytorchComms,
    /// torchtitan 0.3: the CSV of passes, and beside it the options that it needs, one per line (.args)
    Torchtitan,
    /// torchtitan 0.2: the CSV of passes, and beside it the configuration that it needs (TOML)
    #[value(name = "torchtitan-0.2")]
    #[serde(rename = "torchtitan-0.2")]
    Torchtitan02,
    /// Megatron-LM: the arguments that lay out layers, for its own orders
    Megatron,
    /// sail-sg's zero-bubble runtime: the nodes of every device (JSON)
    SailSg,
}

#[derive(Serialize)]
struct Converted {
    written: FileName,
    /// The other file, if the format has two.
    beside: Option<FileName>,
    format: Form,
    /// What was changed, with --nearest.
    nearest: Option<Offer>,
    /// How the messages behave that were added.
    communication: Option<Communication>,
    /// By device: the smallest pool of buffers for them, where the model says what they take.
    #[serde(skip_serializing_if = "Option::is_none")]
    receive_pools: Option<Pools>,
}

impl fmt::Display for Converted {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.beside {
            Some(beside) => writeln!(out, "wrote {} and {beside}", self.written)?,
            None => writeln!(out, "wrote {}", self.written)?,
        }
        if let Some(communication) = &self.communication {
            write!(out, "{communication}")?;
        }
        self.receive_pools.as_ref().map_or(Ok(()), |pools| write!(out, "{pools}"))
    }
}

/// A schedule, and the model it was made for or is to be timed under.
struct Given {
    read: Read,
    model: Option<Model>,
}

/// Reads a schedule and writes it.
///
/// # Errors
/// When the schedule is wrong, cannot be expressed in the other format, or cannot be written.
pub fn run(args: &ConvertArgs, output: Output) -> Result<Status, Error> {
    let format = match args.to {
        Some(form) => form,
        None => form_of(&args.output)?,
    };
    args.check_options(format)?;
    let target = output.target(&args.output)?;
    let mut given = read(args, output)?;
    if let Some(file) = &given.read.csv {
        note(&how_read(file));
        if file.plan().is_some() {
            note("the sends and receives are left out; --to pytorch-comms generates new ones");
        }
    }
    if format != Form::Json || args.nearest {
        refuse_offloads(
            &given.read.schedule,
            if args.nearest { "--nearest does not move" } else { "this format cannot express" },
            "convert supports them in schedule files (.json), without --nearest",
        )?;
    }
    if format != Form::Json && has_launches(&given) {
        note(
            "the file cannot express the order in which the parts of a pair are launched, which determines its time; bubbleproof replay shows that order",
        );
    }
    let nearest = if args.nearest { mend(&mut given, output)? } else { None };
    let fused = recomputation::fused(&given.read.schedule, format)?;
    let recomputing = fused.map(|fused| mem::replace(&mut given.read.schedule, fused));
    if matches!(format, Form::Pytorch | Form::PytorchComms | Form::Torchtitan | Form::Torchtitan02)
        && let Some(numbered) = numbered(&given.read.schedule)
    {
        note(
            "the microbatches are numbered anew, in the order in which the last stage runs their forwards: PyTorch looks losses up in that order",
        );
        given.read = Read { schedule: numbered, csv: None };
    }
    let schedule = &given.read.schedule;
    let alone = |text| vec![Named { path: args.output.clone(), text }];
    let mut communication = None;
    let files = match format {
        Form::Json => {
            let mut json = Vec::new();
            schedule::write(schedule, &mut json).expect("writing to memory cannot fail");
            alone(json)
        }
        Form::Pytorch => alone(passes_alone(&given.read).map_err(|error| unsayable(&error))?.into_bytes()),
        Form::PytorchComms => {
            let stages = given.model.as_ref().map_or(Sharding::STAGES, Model::gathered_at_once);
            let plan =
                verified_plan_gathering(schedule, stages).map_err(|error| not_lowered(schedule, &error))?;
            communication = Some(Communication::of(&plan, true));
            alone(pytorch::print_plan(&plan).map_err(|error| unsayable(&error))?.into_bytes())
        }
        Form::Torchtitan | Form::Torchtitan02 => {
            let release = if format == Form::Torchtitan { Release::V0_3 } else { Release::V0_2 };
            runtimes::torchtitan(schedule, args.layers.as_deref(), release, &args.input, &args.output)?
        }
        Form::Megatron => alone(runtimes::megatron(schedule, args.layers.as_deref())?),
        Form::SailSg => {
            let (json, behaviour) = runtimes::sail_sg(given.model.as_ref(), recomputing.as_ref(), schedule)?;
            communication = Some(behaviour);
            alone(json)
        }
    };
    for file in &files {
        output.target(&file.path)?.write(|out| out.write_all(&file.text))?;
    }
    if target != Target::Stdout {
        let mut written = files.iter().map(|file| FileName::of(&file.path));
        if let (Some(written), beside) = (written.next(), written.next()) {
            let receive_pools = match (format, &given.model) {
                (Form::PytorchComms, Some(model)) => Pools::of(model, schedule),
                _ => None,
            };
            output.print(&Converted { written, beside, format, nearest, communication, receive_pools })?;
        }
    }
    Ok(Status::Yes)
}

impl ConvertArgs {
    /// Whether every option means something for the format.
    fn check_options(&self, format: Form) -> Result<(), Error> {
        let lays_out = matches!(format, Form::Torchtitan | Form::Torchtitan02 | Form::Megatron);
        if self.layers.is_some() && !lays_out {
            return Err(Error::usage(
                "this format does not contain layers",
                "--layers goes with --to torchtitan and --to megatron",
            ));
        }
        let takes_model = self.nearest || matches!(format, Form::SailSg | Form::PytorchComms);
        if self.model.is_some() && !takes_model {
            return Err(Error::usage(
                "this format contains no times",
                "--model goes with --to sail-sg, --to pytorch-comms and --nearest",
            ));
        }
        Ok(())
    }
}

/// The schedule that was given, or the named one for the model that was.
fn read(args: &ConvertArgs, output: Output) -> Result<Given, Error> {
    let input = Input::read(&args.input)?;
    let Some(name) = &args.schedule else {
        if input.is_family() {
            return of_family(args, &input.family()?);
        }
        if args.size.is_given() {
            return Err(Error::usage(
                "a schedule file cannot be resized",
                "--devices and --microbatches go with a block family, or with --schedule NAME and a model file",
            ));
        }
        let read = input.schedule()?;
        let mut notes = Vec::new();
        let model = args.model.as_ref().map(|path| model_for(&read.schedule, path, None, &mut notes));
        let model = model.transpose()?;
        for text in &notes {
            note(text);
        }
        return Ok(Given { read, model });
    };
    let model = args.size.apply(input.model()?)?;
    let entry = catalog::find(name).ok_or_else(|| {
        let known: Vec<&str> = catalog::entries().iter().map(|entry| entry.name).collect();
        unknown_schedule(name, &known)
    })?;
    if entry.needs.is_degenerate_on(model.placement())
        && let Some(text) = caveats::without_chunks(&[entry])
    {
        note(&text);
    }
    check_size(&model, Work::Replay, Some(args.time_limit))?;
    let stop = Stop::on(on_signals()).within(output.left_of(args.time_limit));
    let limit = Deadline::after(args.time_limit, output);
    let schedule = entry
        .generate_until(&model, &stop)
        .map_err(|error| Error::Usage { message: format!("{name}: {error}"), help: None })?;
    drop(limit);
    if entry.takes_improving() && stop.is_due() {
        let why = if stop.is_interrupted() { "interrupted" } else { "the time limit was reached" };
        note(&format!("{why}: {name} may not be improved as far as it can be"));
    }
    Ok(Given { read: Read { schedule, csv: None }, model: Some(model) })
}

/// The schedule of a block family, and the family's own model if none is given.
fn of_family(args: &ConvertArgs, family: &Family) -> Result<Given, Error> {
    let Expanded { schedule, model, fault } = expanded(family, args.size)?;
    if let Some(text) = fault {
        note(&text);
    }
    let model = args.model.as_ref().map_or(Ok(model), |path| model_of_size(&schedule, path))?;
    Ok(Given { read: Read { schedule, csv: None }, model: Some(model) })
}

/// Whether a pair of the schedule has parts in the model.
fn has_launches(given: &Given) -> bool {
    let Given { read: Read { schedule, .. }, model: Some(model) } = given else { return false };
    let mut steps = Device::all(schedule.devices()).flat_map(|device| schedule.steps(device));
    steps.any(|step| match *step {
        [one, other] if one.kind == Kind::F => {
            model.pair_launches(one.stage, other.stage, other.kind).is_some()
        }
        [one, other] => model.pair_launches(other.stage, one.stage, one.kind).is_some(),
        _ => false,
    })
}

/// The text of a file that has passes alone stays the same, blanks included.
fn passes_alone(read: &Read) -> Result<String, ExportError> {
    match &read.csv {
        Some(file) if file.plan().is_none() => Ok(file.print()),
        _ => pytorch::print(&read.schedule),
    }
}

/// Replaces orders that cannot run by the nearest that can.
fn mend(given: &mut Given, output: Output) -> Result<Option<Offer>, Error> {
    let schedule = &given.read.schedule;
    let model = match &given.model {
        Some(model) => model.clone(),
        None => Model::unit(schedule.placement().clone(), schedule.microbatches())
            .map_err(|error| Error::Usage { message: error.to_string(), help: None })?,
    };
    if model.placement() != schedule.placement() {
        let of = |placement: &Placement| {
            format!("{} placement on {} devices", placement.shape(), placement.devices())
        };
        return Err(Error::usage(
            format!(
                "the schedule has {}, but `{}` has {}",
                of(schedule.placement()),
                model.name(),
                of(model.placement())
            ),
            "give the model of this schedule, or leave --model out",
        ));
    }
    let nearest = nearest(&model, schedule).ok_or_else(|| {
        Error::usage(
            "no order of these passes can run",
            "run `bubbleproof verify` to see which passes are missing or duplicated",
        )
    })?;
    if !nearest.is_changed() {
        note("the schedule runs as it is");
        return Ok(None);
    }
    let offer = Offer::new(&model, schedule, &nearest);
    note(&format!(
        "the schedule could not run; now it can: {}\n{}",
        offer.summary(output.amounts(&model)),
        offer.changes().trim_end()
    ));
    given.read = Read { schedule: nearest.schedule, csv: None };
    Ok(Some(offer))
}

/// Why a schedule has no plan, with what to do about it.
fn not_lowered(schedule: &Schedule, error: &LoweringError) -> Error {
    match error {
        error if error.is_defect() => Error::Defect(error.to_string()),
        LoweringError::Invalid(_) => {
            let model = Model::unit(schedule.placement().clone(), schedule.microbatches()).ok();
            let can_be_mended = model.is_some_and(|model| nearest_valid(&model, schedule).is_some());
            let help = if can_be_mended {
                "--nearest moves passes so that all can run; `bubbleproof verify` shows which"
            } else {
                "run `bubbleproof verify` to see everything that is wrong"
            };
            Error::usage(error.to_string(), help)
        }
        error => Error::Usage { message: error.to_string(), help: None },
    }
}

fn unsayable(error: &ExportError) -> Error {
    Error::usage(
        format!("PyTorch's CSV cannot express this schedule: {error}"),
        "run `bubbleproof verify` to see whether the schedule is valid at all",
    )
}

fn form_of(path: &Path) -> Result<Form, Error> {
    match path.extension().and_then(OsStr::to_str) {
        Some("json") => Ok(Form::Json),
        Some("csv") => Ok(Form::Pytorch),
        _ => Err(Error::usage(
            format!("cannot infer the format from the name {}", FileName::of(path)),
            "choose one with --to: json, pytorch, pytorch-comms, torchtitan, torchtitan-0.2, megatron or sail-sg",
        )),
    }
}
