//! The configuration that torchtitan needs to train with a schedule that is given as PyTorch's CSV.
//!
//! It loads the CSV itself (`parallelism.pipeline_parallel_schedule_csv`), but places the stages by the name
//! of a schedule, in a loop or in a V, and counts microbatches by two batch sizes. Releases differ in the form of
//! the configuration and in the name of the last module: see [`Release`]. `make torchtitan` loads what is written
//! here in the releases themselves and splits one of their models by it.

use std::fmt::Write as _;

use toml::Value;

use super::limits::{CannotRun, layers_by_stage, placed, valid};
use super::pytorch;
use crate::model::{Shape, Stage};
use crate::schedule::Schedule;

/// The releases of torchtitan that are written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Release {
    /// 0.2.0 to 0.2.2: configured by a TOML file; the last module is `output`.
    V0_2,
    /// 0.3.0: configured in Python and by options; the last module is `lm_head`.
    V0_3,
}

impl Release {
    /// What the module that projects to the vocabulary is called in the release's own language models.
    const fn last_module(self) -> &'static str {
        match self {
            Self::V0_2 => "output",
            Self::V0_3 => "lm_head",
        }
    }
}

/// A schedule for torchtitan: two files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Configuration {
    /// The part of its configuration that a schedule needs: TOML for 0.2, options for 0.3, one a line.
    pub settings: String,
    /// The schedule (PyTorch's `compute_only`).
    pub csv: String,
}

/// The configuration for a schedule whose CSV will be found at the path `csv`.
///
/// Without `layers` torchtitan divides the layers itself, into one or two stages per device. With
/// them the configuration lists the modules of each stage, by the names that its own language models have; the
/// first stage also embeds, the last also normalises and projects.
///
/// # Errors
/// When replay finds the schedule wrong, torchtitan would place the stages otherwise or divide them into another
/// number, the layers are given for another number of stages, or the CSV cannot express the schedule or the options the
/// path.
pub fn configuration(
    schedule: &Schedule,
    layers: Option<&[u32]>,
    csv: &str,
    release: Release,
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
    let settings = Settings {
        devices: placement.devices(),
        named,
        csv,
        modules: layers.map(|layers| modules(&layers, release.last_module())),
        microbatches: schedule.microbatches(),
    };
    let settings = match release {
        Release::V0_2 => settings.toml(),
        Release::V0_3 => settings.options()?,
    };
    Ok(Configuration { settings, csv: text })
}

/// The first stage that would hold nothing. The first one of all embeds, and the last one projects.
fn without_modules(layers: &[u32]) -> Option<Stage> {
    let mut middle = 1..layers.len().saturating_sub(1);
    middle.find(|&stage| layers[stage] == 0).map(Stage::at)
}

/// The modules of every stage.
fn modules(layers: &[u32], last_module: &str) -> Vec<Vec<String>> {
    let mut next = 0_u64;
    let of = |(stage, &count): (usize, &u32)| {
        let first = (stage == 0).then(|| "tok_embeddings".to_owned());
        let middle = (next..next + u64::from(count)).map(|at| format!("layers.{at}"));
        let last = (stage + 1 == layers.len()).then(|| ["norm", last_module].map(str::to_owned));
        next += u64::from(count);
        first.into_iter().chain(middle).chain(last.into_iter().flatten()).collect()
    };
    layers.iter().enumerate().map(of).collect()
}

/// What a configuration says of a schedule.
struct Settings<'a> {
    devices: u32,
    /// The schedule that places stages.
    named: &'static str,
    /// The path of the CSV.
    csv: &'a str,
    /// By stage.
    modules: Option<Vec<Vec<String>>>,
    microbatches: u32,
}

/// Why this line is in a configuration.
const BATCH: &str = "microbatches times pipeline_parallel_microbatch_size";

impl Settings<'_> {
    fn toml(&self) -> String {
        let quoted = |text: &str| Value::from(text).to_string();
        let mut toml = format!(
            "# How torchtitan 0.2 trains with a schedule, to go with the rest of its configuration.\n\n\
             [parallelism]\npipeline_parallel_degree = {}\npipeline_parallel_schedule = {}\n\
             pipeline_parallel_schedule_csv = {}\npipeline_parallel_microbatch_size = 1\n",
            self.devices,
            quoted(self.named),
            quoted(self.csv)
        );
        if let Some(stages) = &self.modules {
            toml.push_str("module_fqns_per_model_part = [\n");
            for names in stages {
                writeln!(toml, "    {},", Value::from(names.clone()))
                    .expect("writing to a string cannot fail");
            }
            toml.push_str("]\n");
        }
        write!(toml, "\n[training]\nlocal_batch_size = {}    # {BATCH}\n", self.microbatches)
            .expect("writing to a string cannot fail");
        toml
    }

    /// One option a line, so that a shell gets them as they are with `mapfile -t`.
    fn options(&self) -> Result<String, CannotRun> {
        // A reader of lines would take it for two options.
        if self.csv.contains(['\n', '\r']) {
            return Err(CannotRun::Path(self.csv.to_owned()));
        }
        let mut lines = vec![
            format!("--parallelism.pipeline_parallel_degree={}", self.devices),
            format!("--parallelism.pipeline_parallel_schedule={}", self.named),
            format!("--parallelism.pipeline_parallel_schedule_csv={}", self.csv),
            "--parallelism.pipeline_parallel_microbatch_size=1".to_owned(),
            // A number here, from the configuration that the options go with, would be checked against the stages.
            "--parallelism.pipeline_parallel_layers_per_stage=None".to_owned(),
            format!("--training.local_batch_size={}", self.microbatches),
            // A pipeline is refused otherwise.
            "--training.disable_cuda_graphs".to_owned(),
        ];
        if let Some(stages) = &self.modules {
            lines.push("--parallelism.module_fqns_per_model_part".to_owned());
            lines.extend(stages.iter().map(|names| names.join(",")));
        }
        lines.push(String::new());
        Ok(lines.join("\n"))
    }
}
