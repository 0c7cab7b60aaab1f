//! The forms of runtimes other than PyTorch's own.

use std::path::{Path, PathBuf};

use crate::catalog;
use crate::cli::communication::Communication;
use crate::cli::error::Error;
use crate::cli::output::note;
use crate::comm;
use crate::interchange::{CannotRun, megatron, sail_sg, torchtitan};
use crate::model::Model;
use crate::schedule::Schedule;

/// A file to be written.
pub struct Named {
    /// Where.
    pub path: PathBuf,
    /// What.
    pub text: String,
}

/// The CSV for torchtitan, and beside it the configuration that names it.
pub fn torchtitan(schedule: &Schedule, layers: Option<&[u32]>, output: &Path) -> Result<[Named; 2], Error> {
    if output.as_os_str() == "-" {
        return Err(Error::usage(
            "for torchtitan two files are written, the schedule and a configuration",
            "give `-o` a file name: they get its stem, with .csv and .toml",
        ));
    }
    let [csv, toml] = ["csv", "toml"].map(|extension| output.with_extension(extension));
    let configuration = torchtitan::configuration(schedule, layers, &csv.display().to_string())
        .map_err(|error| cannot_run("torchtitan", &error))?;
    Ok([Named { path: csv, text: configuration.csv }, Named { path: toml, text: configuration.toml }])
}

/// Megatron-LM's arguments.
pub fn megatron(schedule: &Schedule, layers: Option<&[u32]>) -> Result<String, Error> {
    const NAME: &str = "Megatron-LM";
    let layers = layers.ok_or_else(|| cannot_run(NAME, &CannotRun::LayersUnknown))?;
    let (placement, microbatches) = (schedule.placement(), schedule.microbatches());
    let name = if placement.chunks() == Some(1) { "1f1b" } else { "interleaved-1f1b" };
    let own = |model: &Model| catalog::find(name)?.generate(model).ok();
    let own = Model::unit(placement.clone(), microbatches).ok().as_ref().and_then(own);
    // For a placement that it does not have there is none, and that is what is then said.
    let arguments = megatron::arguments(schedule, layers, own.as_ref().unwrap_or(schedule))
        .map_err(|error| cannot_run(NAME, &error))?;
    note(&format!(
        "Megatron-LM makes the order itself, {name}; it has {microbatches} microbatches when --global-batch-size is \
         so many times --micro-batch-size times the data-parallel size"
    ));
    Ok(arguments)
}

/// The nodes for sail-sg's runtime, proved to be safe, and how their messages behave.
pub fn sail_sg(model: Option<&Model>, schedule: &Schedule) -> Result<(Vec<u8>, Communication), Error> {
    const NAME: &str = "the runtime of sail-sg";
    let unit;
    let model = if let Some(model) = model {
        model
    } else {
        unit = Model::unit(schedule.placement().clone(), schedule.microbatches())
            .map_err(|error| Error::Usage { message: error.to_string(), help: None })?;
        &unit
    };
    let lists = sail_sg::node_lists(model, schedule).map_err(|error| cannot_run(NAME, &error))?;
    if let Some(fault) = comm::verify(&lists.programme).first() {
        return Err(Error::Defect(format!("nodes are not safe: {fault}")));
    }
    let mut json = Vec::new();
    sail_sg::print(&lists, schedule, &mut json).expect("writing to memory cannot fail");
    Ok((json, Communication::of(&lists.programme)))
}

fn cannot_run(runtime: &str, error: &CannotRun) -> Error {
    let help = match error {
        CannotRun::LayersUnknown | CannotRun::Layers { .. } => {
            "--layers gives those of every stage, such as 7,8,8,7, or one number for all"
        }
        CannotRun::OwnOrder { .. } | CannotRun::Microbatches { .. } => {
            "--schedule 1f1b or --schedule interleaved-1f1b with a model file makes what it runs"
        }
        CannotRun::Invalid(_) => "`bubbleproof verify` tells everything that is wrong",
        _ => "--to pytorch writes any schedule that goes in one direction and recomputes nothing",
    };
    Error::usage(format!("{runtime} cannot run this schedule: {error}"), help)
}
