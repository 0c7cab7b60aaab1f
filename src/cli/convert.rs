//! `convert`: a schedule in another form.

use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::communication::{Communication, Offer};
use super::error::{Error, Status};
use super::input::Input;
use super::output::{Output, Target, note};
use super::size::Size;
use super::subject::how_read;
use crate::catalog;
use crate::comm::{self, Programme};
use crate::interchange::Read;
use crate::interchange::pytorch::{self, ExportError};
use crate::model::Model;
use crate::replay::replay;
use crate::schedule::{self, Schedule};

/// The options of `convert`.
#[derive(Debug, Args)]
pub struct ConvertArgs {
    /// The schedule: a schedule file (JSON) or PyTorch's CSV; with --schedule a model file (TOML); `-` reads
    /// standard input
    #[arg(value_name = "IN")]
    input: PathBuf,

    /// The named schedule to make for the model IN, such as v-half; `compare` lists the names
    #[arg(long, value_name = "NAME")]
    schedule: Option<String>,

    #[command(flatten)]
    size: Size,

    /// The file to write; `-` writes standard output
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,

    /// The form to write; without it, what the file name ends in says it: .json or .csv
    #[arg(long, value_enum, value_name = "FORMAT")]
    to: Option<Form>,

    /// Where the devices wait for each other, bring passes forward until all can run
    ///
    /// As few places as possible at a time: of all passes that could run when no device can go on, the one
    /// with the fewest before it. Overlapped pairs are taken apart where they stand in the way.
    #[arg(long)]
    nearest: bool,
}

/// The forms in which schedules are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Form {
    /// The schedule file of this tool
    Json,
    /// PyTorch's CSV of passes: a row for each rank (`compute_only`)
    Pytorch,
    /// The same with sends, receives, waits and reductions (`compute_comms`)
    PytorchComms,
}

#[derive(Serialize)]
struct Converted {
    written: String,
    format: Form,
    /// What was changed, with --nearest.
    nearest: Option<Offer>,
    /// How the messages behave that were added.
    communication: Option<Communication>,
}

impl fmt::Display for Converted {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "wrote {}", self.written)?;
        self.communication.as_ref().map_or(Ok(()), |communication| write!(out, "{communication}"))
    }
}

/// Reads a schedule and writes it.
///
/// # Errors
/// When the schedule is wrong, or cannot be said in the other form, or cannot be written.
pub fn run(args: &ConvertArgs, output: Output) -> Result<Status, Error> {
    let target = output.target(&args.output)?;
    let format = match args.to {
        Some(form) => form,
        None => form_of(&args.output)?,
    };
    let mut read = read(args)?;
    if let Some(file) = &read.csv {
        note(&how_read(file));
        if file.programme().is_some() {
            note("its sends and receives are left out; --to pytorch-comms adds new ones");
        }
    }
    let nearest = if args.nearest { mend(&mut read)? } else { None };
    let mut communication = None;
    let text = match format {
        Form::Json => {
            target.write(|out| schedule::write(&read.schedule, out))?;
            None
        }
        Form::Pytorch => Some(passes_alone(&read).map_err(|error| unsayable(&error))?),
        Form::PytorchComms => {
            let programme = lowered(&read.schedule)?;
            communication = Some(Communication::of(&programme));
            Some(pytorch::print_programme(&programme).map_err(|error| unsayable(&error))?)
        }
    };
    if let Some(text) = text {
        target.write(|out| out.write_all(text.as_bytes()))?;
    }
    if target != Target::Stdout {
        let written = args.output.display().to_string();
        output.print(&Converted { written, format, nearest, communication })?;
    }
    Ok(Status::Yes)
}

/// The schedule that was given, or the named one for the model that was.
fn read(args: &ConvertArgs) -> Result<Read, Error> {
    let input = Input::read(&args.input)?;
    let Some(name) = &args.schedule else {
        if args.size.is_given() {
            return Err(Error::usage(
                "a schedule has the size that it has",
                "--devices and --microbatches go with --schedule NAME and a model file",
            ));
        }
        return input.schedule();
    };
    let model = args.size.apply(input.model()?)?;
    let entry = catalog::find(name).ok_or_else(|| {
        let known: Vec<&str> = catalog::entries().iter().map(|entry| entry.name).collect();
        Error::usage(
            format!("there is no schedule called `{name}`"),
            format!("the names known are: {}", known.join(", ")),
        )
    })?;
    let schedule = entry
        .generate(&model)
        .map_err(|error| Error::Usage { message: format!("{name}: {error}"), help: None })?;
    Ok(Read { schedule, csv: None })
}

/// A file of passes alone is written as it stands, blanks included.
fn passes_alone(read: &Read) -> Result<String, ExportError> {
    match &read.csv {
        Some(file) if file.programme().is_none() => Ok(file.print()),
        _ => pytorch::print(&read.schedule),
    }
}

/// Replaces orders that cannot run by the nearest that can.
fn mend(read: &mut Read) -> Result<Option<Offer>, Error> {
    let nearest = comm::nearest(&read.schedule).ok_or_else(|| {
        Error::usage(
            "no order of these passes can run",
            "`bubbleproof verify` tells which passes are missing or stand twice",
        )
    })?;
    if nearest.moved.is_empty() && nearest.parted.is_empty() {
        note("the orders can run as they are");
        return Ok(None);
    }
    let offer = Offer::from(&nearest);
    note(&format!("changed so that all can run:\n{}", offer.changes().trim_end()));
    *read = Read { schedule: nearest.schedule, csv: None };
    Ok(Some(offer))
}

/// The programme of a schedule, verified.
fn lowered(schedule: &Schedule) -> Result<Programme, Error> {
    let model = Model::unit(schedule.placement().clone(), schedule.microbatches())
        .map_err(|error| Error::Usage { message: error.to_string(), help: None })?;
    let verdict = replay(&model, schedule);
    if let Some(violation) = verdict.violations.first() {
        let help = if Offer::of(&model, schedule).is_some() {
            "--nearest brings passes forward until all can run; `bubbleproof verify` says which"
        } else {
            "`bubbleproof verify` tells everything that is wrong"
        };
        return Err(Error::usage(
            format!("only a schedule that can run has sends and receives: {violation}"),
            help,
        ));
    }
    let programme = comm::lower(schedule).map_err(|error| {
        Error::Defect(format!("replay accepts a schedule that cannot be lowered: {error}"))
    })?;
    match comm::verify(&programme).first() {
        None => Ok(programme),
        Some(fault) => Err(Error::Defect(format!("a lowered schedule is not safe: {fault}"))),
    }
}

fn unsayable(error: &ExportError) -> Error {
    Error::usage(
        format!("PyTorch's CSV cannot say what this schedule says: {error}"),
        "`bubbleproof verify` tells whether the schedule is valid at all",
    )
}

fn form_of(path: &Path) -> Result<Form, Error> {
    match path.extension().and_then(OsStr::to_str) {
        Some("json") => Ok(Form::Json),
        Some("csv") => Ok(Form::Pytorch),
        _ => Err(Error::usage(
            format!("the form to write does not follow from the name {}", path.display()),
            "say --to json, --to pytorch or --to pytorch-comms",
        )),
    }
}
