//! `convert`: a schedule in another form.

use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::error::{Error, Status};
use super::input::read_schedule;
use super::output::{Output, Target};
use crate::interchange::pytorch;
use crate::schedule;

/// The options of `convert`.
#[derive(Debug, Args)]
pub struct ConvertArgs {
    /// The schedule: a schedule file (JSON) or PyTorch's CSV; `-` reads standard input
    #[arg(value_name = "IN")]
    input: PathBuf,

    /// The file to write; `-` writes standard output
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,

    /// The form to write; without it, what the file name ends in says it: .json or .csv
    #[arg(long, value_enum, value_name = "FORMAT")]
    to: Option<Form>,
}

/// The forms in which schedules are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
enum Form {
    /// The schedule file of this tool
    Json,
    /// PyTorch's CSV: a row of passes for each rank
    Pytorch,
}

#[derive(Serialize)]
struct Converted {
    written: String,
    format: Form,
}

impl fmt::Display for Converted {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "wrote {}", self.written)
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
    let schedule = read_schedule(&args.input)?;
    match format {
        Form::Json => target.write(|out| schedule::write(&schedule, out))?,
        Form::Pytorch => {
            let text = pytorch::print(&schedule).map_err(|error| {
                Error::usage(
                    format!("PyTorch's CSV cannot say what this schedule says: {error}"),
                    "`bubbleproof verify` tells whether the schedule is valid at all",
                )
            })?;
            target.write(|out| out.write_all(text.as_bytes()))?;
        }
    }
    if target != Target::Stdout {
        output.print(&Converted { written: args.output.display().to_string(), format })?;
    }
    Ok(Status::Yes)
}

fn form_of(path: &Path) -> Result<Form, Error> {
    match path.extension().and_then(OsStr::to_str) {
        Some("json") => Ok(Form::Json),
        Some("csv") => Ok(Form::Pytorch),
        _ => Err(Error::usage(
            format!("the form to write does not follow from the name {}", path.display()),
            "say --to json or --to pytorch",
        )),
    }
}
