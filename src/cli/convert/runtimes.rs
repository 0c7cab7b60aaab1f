//! The formats of runtimes other than PyTorch's own.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use crate::catalog;
use crate::cli::communication::Communication;
use crate::cli::error::Error;
use crate::cli::file_name::FileName;
use crate::cli::output::note;
use crate::comm;
use crate::interchange::torchtitan::Release;
use crate::interchange::{CannotRun, megatron, sail_sg, torchtitan};
use crate::model::{Model, ModelError};
use crate::replay::{Violation, replay};
use crate::schedule::Schedule;

/// A file to be written.
pub struct Named {
    /// Where.
    pub path: PathBuf,
    /// What.
    pub text: Vec<u8>,
}

/// The CSV for a release of torchtitan, and beside it the configuration that names it.
pub fn torchtitan(
    schedule: &Schedule,
    layers: Option<&[u32]>,
    release: Release,
    input: &Path,
    output: &Path,
) -> Result<Vec<Named>, Error> {
    let [csv, settings] = beside_each_other(output, release)?;
    for written in [&csv, &settings] {
        if is_same(written, input) {
            return Err(Error::usage(
                format!("{} is the input, and would be overwritten", FileName::of(written)),
                "give `-o` another name",
            ));
        }
    }
    let name = csv.to_str().ok_or_else(|| {
        Error::usage(
            format!("{} is not UTF-8, but the configuration has to name it", FileName::of(&csv)),
            "give `-o` another name",
        )
    })?;
    let files = torchtitan::configuration(schedule, layers, name, release)
        .map_err(|error| cannot_run("torchtitan", &error))?;
    Ok(vec![
        Named { path: csv, text: files.csv.into_bytes() },
        Named { path: settings, text: files.settings.into_bytes() },
    ])
}

fn beside_each_other(output: &Path, release: Release) -> Result<[PathBuf; 2], Error> {
    let settings = match release {
        Release::V0_2 => "toml",
        Release::V0_3 => "args",
    };
    let asked = output.extension().map(OsStr::to_str);
    let known = match asked {
        None => output.as_os_str() != "-",
        Some(extension) => extension == Some("csv") || extension == Some(settings),
    };
    let folder = output.is_dir() || output.as_os_str().as_encoded_bytes().ends_with(b"/");
    if known && !folder {
        return Ok(["csv", settings].map(|extension| output.with_extension(extension)));
    }
    let help = match (release, asked.flatten()) {
        (Release::V0_3, Some("toml")) => {
            "torchtitan 0.3 reads no TOML: `-o run` writes run.csv and run.args; \
            `--to torchtitan-0.2` writes run.toml"
                .to_owned()
        }
        _ => {
            format!("`-o run`, `-o run.csv` and `-o run.{settings}` all write run.csv and run.{settings}")
        }
    };
    Err(Error::usage(
        format!("torchtitan needs two files, and {} does not name them", FileName::of(output)),
        help,
    ))
}

fn is_same(one: &Path, other: &Path) -> bool {
    let [one, other] = [one, other].map(|path| fs::canonicalize(path).ok());
    one.is_some() && one == other
}

/// Megatron-LM's arguments.
pub fn megatron(schedule: &Schedule, layers: Option<&[u32]>) -> Result<Vec<u8>, Error> {
    let (placement, microbatches) = (schedule.placement(), schedule.microbatches());
    let name = if placement.chunks() == Some(1) { "1f1b" } else { "interleaved-1f1b" };
    let own = |model: &Model| catalog::find(name)?.generate(model).ok();
    let own = Model::unit(placement.clone(), microbatches).ok().as_ref().and_then(own);
    let arguments = megatron::arguments(schedule, layers, own.as_ref())
        .map_err(|error| cannot_run("Megatron-LM", &error))?;
    note(&format!(
        "Megatron-LM generates this order itself ({name}); for {microbatches} microbatches set --global-batch-size to \
         {microbatches} times --micro-batch-size times the data-parallel size"
    ));
    Ok(arguments.into_bytes())
}

/// The nodes for sail-sg's runtime, proved to be safe, and how their messages behave.
pub fn sail_sg(
    model: Option<&Model>,
    recomputing: Option<&Schedule>,
    schedule: &Schedule,
) -> Result<(Vec<u8>, Communication), Error> {
    let refused = |error: CannotRun| cannot_run("the runtime of sail-sg", &error);
    let unusable = |error: ModelError| Error::Usage { message: error.to_string(), help: None };
    let timed = match (model, recomputing) {
        (Some(model), None) => model.clone(),
        (Some(model), Some(recomputing)) => {
            if let Some(violation) = replay(model, recomputing).violations.into_iter().next() {
                return Err(refused(CannotRun::Invalid(violation)));
            }
            // It keeps to the capacities because it recomputes, which the other one no longer says.
            model.with_uniform_activation_capacity(None).map_err(unusable)?
        }
        (None, _) => Model::unit(schedule.placement().clone(), schedule.microbatches()).map_err(unusable)?,
    };
    let lists = sail_sg::node_lists(&timed, schedule).map_err(refused)?;
    if let Some(fault) = comm::verify(&lists.plan).first() {
        return Err(Error::Defect(format!("nodes are not safe: {fault}")));
    }
    let mut json = Vec::new();
    sail_sg::print(&lists, schedule, &mut json).expect("writing to memory cannot fail");
    Ok((json, Communication::of(&lists.plan, true)))
}

fn cannot_run(runtime: &str, error: &CannotRun) -> Error {
    let message = format!("{runtime} cannot run this schedule: {error}");
    let help = match error {
        CannotRun::LayersUnknown | CannotRun::Layers { .. } | CannotRun::NoLayers(_) | CannotRun::NoModel => {
            "--layers gives the layers of every stage, such as 7,8,8,7, or one number for all"
        }
        CannotRun::OwnOrder { .. } => {
            "--schedule 1f1b or --schedule interleaved-1f1b with a model file makes an order that it runs"
        }
        CannotRun::Path(_) => "give `-o` a name without line breaks",
        CannotRun::Microbatches { .. } => "--microbatches makes a named schedule of another length",
        CannotRun::Invalid(Violation::ModelMismatch(_)) => "give the --model that the schedule is for",
        CannotRun::Invalid(_) => {
            "run `bubbleproof verify` to see everything that is wrong; --nearest repairs a deadlock"
        }
        CannotRun::Placement { .. } | CannotRun::OutOfTurn { .. } | CannotRun::Overlapped { .. } => {
            "--to pytorch writes any schedule of one direction without recomputation"
        }
        _ => return Error::Usage { message, help: None },
    };
    Error::usage(message, help)
}
