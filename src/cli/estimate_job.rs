//! `estimate`: a job file from the dimensions of a transformer.

use std::fmt;
use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use super::error::{Error, Status};
use super::file_name::FileName;
use super::input::Input;
use super::output::{Output, Target, note};
use super::violations::count;
use crate::job;

/// The options of `estimate`.
#[derive(Debug, Args)]
pub struct EstimateArgs {
    /// The dimensions (TOML): transformer, training, attained speed, machine and choices; `-` reads standard input
    #[arg(value_name = "MODEL")]
    model: PathBuf,

    /// The job file to write; `-` writes standard output
    #[arg(short, long, value_name = "JOB")]
    output: PathBuf,
}

#[derive(Serialize)]
struct Estimated {
    written: FileName,
    job: String,
    /// All parameters of the model, as text, since they may exceed 64 bits.
    parameters: String,
    layers: usize,
    profiles: usize,
}

impl fmt::Display for Estimated {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (layers, profiles) =
            (count(self.layers, "layer", "layers"), count(self.profiles, "profile", "profiles"));
        writeln!(out, "{}: {} parameters, {layers}, {profiles}", self.job, self.parameters)?;
        writeln!(out, "wrote {}", self.written)
    }
}

/// Writes the job file.
///
/// # Errors
/// When the dimensions are wrong, or the file cannot be written.
pub fn run(args: &EstimateArgs, output: Output) -> Result<Status, Error> {
    let target = output.target(&args.output)?;
    let input = Input::read(&args.model)?;
    let model = input.transformer()?;
    let text = model
        .job()
        .map_err(|error| Error::usage(error.to_string(), "smaller dimensions can be estimated"))?;
    // [machine] and [choices] are copied, and read here for the first time.
    let written = Input::of(FileName::called("the estimated job"), text);
    let found = written.job()?;
    let choices = found.choices();
    if let Err(error) = &choices {
        note(&format!("no plan can be made of it: {error}"));
    }
    let text = written.into_text();
    target.write(|out| out.write_all(text.as_bytes()))?;
    if target != Target::Stdout {
        let job::Job { name, layers, profiles, .. } = &found;
        output.print(&Estimated {
            written: FileName::of(&args.output),
            job: name.clone(),
            parameters: model.parameters().to_string(),
            layers: layers.len(),
            profiles: profiles.len(),
        })?;
    }
    Ok(Status::Yes)
}
