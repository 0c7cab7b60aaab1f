//! The configuration that torchtitan needs to train with a schedule that is given as PyTorch's CSV.
//!
//! It loads the CSV itself (`parallelism.pipeline_parallel_schedule_csv`), but places the stages by the name
//! of a schedule, in a loop or in a V, and counts microbatches by two batch sizes. Read from
//! `torchtitan/distributed/pipeline_parallel.py` of 2025; not run here.

use std::fmt::Write as _;

use toml::Value;

use super::limits::{CannotRun, layers_by_stage, placed, valid};
use super::pytorch;
use crate::model::{Shape, Stage};
use crate::schedule::Schedule;

/// A schedule for torchtitan: two files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Configuration {
    /// The part of its configuration that a schedule needs (TOML).
    pub toml: String,
    /// The schedule (PyTorch's `compute_only`).
    pub csv: String,
}

/// The configuration for a schedule whose CSV will be found at the path `csv`.
///
/// Without `layers` torchtitan divides the layers itself, into one or two stages per device. With
/// them the configuration lists the modules of each stage, by the names that its Llama 3 has; the first stage
/// also embeds, the last also normalises and projects.
///
/// # Errors
/// When replay finds the schedule wrong, torchtitan would place the stages otherwise or divide them into another number, the layers are
/// given for another number of stages, or the CSV could not say what the schedule says.
pub fn configuration(
    schedule: &Schedule,
    layers: Option<&[u32]>,
    csv: &str,
) -> Result<Configuration, CannotRun> {
    let placement = schedule.placement();
    placed(placement, &[Shape::Linear, Shape::Looped, Shape::V], "linear, looped or v")?;
    let text = pytorch::print(schedule)?;
    valid(schedule)?;
    let layers = layers.map(|given| layers_by_stage(given, placement)).transpose()?;
    if let Some(empty) = layers.as_deref().and_then(without_modules) {
        return Err(CannotRun::NoLayers(empty));
    }
    // The named schedule only says where stages go: the orders are those of the CSV.
    let (named, divides_into) = match placement.shape() {
        Shape::Linear => ("1F1B", 1),
        Shape::V => ("ZBVZeroBubble", 2),
        _ => ("Interleaved1F1B", 2),
    };
    if layers.is_none() && placement.chunks() != Some(divides_into) {
        return Err(CannotRun::LayersUnknown);
    }
    let quoted = |text: &str| Value::from(text).to_string();
    let mut settings = vec![
        ("pipeline_parallel_degree", placement.devices().to_string()),
        ("pipeline_parallel_schedule", quoted(named)),
        ("pipeline_parallel_schedule_csv", quoted(csv)),
        ("pipeline_parallel_microbatch_size", "1".to_owned()),
    ];
    if let Some(layers) = &layers {
        settings.push(("module_fqns_per_model_part", modules(layers)));
    }
    let mut toml = String::from(
        "# How torchtitan trains with a schedule, to go with the rest of its configuration. Releases that are configured\n\
         # in Python take the same names there, or as options: --parallelism.pipeline_parallel_degree and so on.\n\
         \n[parallelism]\n",
    );
    for (name, value) in settings {
        writeln!(toml, "{name} = {value}").expect("writing to a string cannot fail");
    }
    write!(
        toml,
        "\n[training]\nlocal_batch_size = {}    # microbatches times pipeline_parallel_microbatch_size\n",
        schedule.microbatches()
    )
    .expect("writing to a string cannot fail");
    Ok(Configuration { toml, csv: text })
}

/// The first stage that would hold nothing. The first one of all embeds, and the last one projects.
fn without_modules(layers: &[u32]) -> Option<Stage> {
    let mut middle = 1..layers.len().saturating_sub(1);
    middle.find(|&stage| layers[stage] == 0).map(Stage::at)
}

/// The modules of every stage, one stage a line.
fn modules(layers: &[u32]) -> String {
    let (mut text, mut next) = (String::from("["), 0_u64);
    for (stage, &count) in layers.iter().enumerate() {
        let first = (stage == 0).then(|| "tok_embeddings".to_owned());
        let middle = (0..u64::from(count)).map(|at| format!("layers.{}", next + at));
        let last = (stage + 1 == layers.len()).then(|| ["norm", "output"].map(str::to_owned));
        let names: Vec<String> = first.into_iter().chain(middle).chain(last.into_iter().flatten()).collect();
        let names = Value::from(names);
        write!(text, "\n    {names},").expect("writing to a string cannot fail");
        next += u64::from(count);
    }
    text.push_str("\n]");
    text
}
