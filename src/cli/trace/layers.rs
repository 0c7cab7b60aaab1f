//! `trace profile --layers`: a job instead of a model.

use std::fmt;

use clap::Args;
use itertools::Itertools as _;
use serde::Serialize;

use crate::amounts::Amounts;
use crate::cli::error::Error;
use crate::cli::figures::percentage;
use crate::cli::file_name::FileName;
use crate::cli::table::Table;
use crate::cli::violations::count;
use crate::job::{self, Cut, MOST_LAYERS};
use crate::model::Stage;
use crate::replay::Rate;
use crate::trace::Trace;
use crate::trace::fit::{FittedLayer, LayerFit, LayerFitError, Profile, StageFit};

/// The layers of the run, and how they were cut into its stages.
#[derive(Debug, Args)]
pub struct LayerArgs {
    /// Write a job of these layers instead of a model, such as embedding,32 block,head
    ///
    /// The cost of a layer is the median over the stages that show it. `optimize` and `plan` then cut the layers anew.
    #[arg(long, value_name = "LAYERS", conflicts_with = "with", value_parser = layers)]
    layers: Option<Layers>,

    /// How many of these layers each stage of the run had, such as 9,8,8,9 [default: as the traces say]
    #[arg(long, value_name = "CUT", requires = "layers", value_delimiter = ',')]
    cut: Vec<u32>,
}

/// The kinds of layers in order.
#[derive(Debug, Clone)]
struct Layers(Vec<String>);

fn layers(text: &str) -> Result<Layers, String> {
    let mut kinds = Vec::new();
    for entry in text.split(',').map(str::trim) {
        let (count, kind) = job::layers(entry).map_err(|error| format!("`{entry}` {error}"))?;
        let found = kinds.len() as u64 + u64::from(count);
        if found > u64::from(MOST_LAYERS) {
            return Err(format!("these are {found} layers or more, but {MOST_LAYERS} are supported"));
        }
        kinds.extend(std::iter::repeat_n(kind.to_owned(), count as usize));
    }
    Ok(Layers(kinds))
}

impl LayerArgs {
    /// Whether a job is asked for.
    pub const fn are_given(&self) -> bool {
        self.layers.is_some()
    }

    /// What the layers cost, if they were given.
    ///
    /// # Errors
    /// When the run does not tell that.
    pub fn fit(&self, profile: &Profile, traces: &[Trace]) -> Result<Option<LayerFit>, Error> {
        let Some(Layers(kinds)) = &self.layers else { return Ok(None) };
        let told = || traces.iter().find_map(|trace| trace.sizes.as_ref()).map(|sizes| sizes.layers.clone());
        let cut = Some(self.cut.clone()).filter(|cut| !cut.is_empty()).or_else(told);
        let cut = cut.ok_or_else(|| {
            Error::usage(
                "the traces do not say how many layers each stage had",
                "state it with --cut, such as --cut 9,8,8,9",
            )
        })?;
        let fit = profile.layers(kinds, &Cut::new(cut)).map_err(|error| {
            let help = match error {
                LayerFitError::Together(_) => {
                    "give them a common name, such as `first` for the embedding and the block beside it"
                }
                _ => "--cut says how many of --layers each stage of the run had",
            };
            Error::usage(error.to_string(), help)
        })?;
        Ok(Some(fit))
    }
}

/// What layers cost, as it is printed.
#[derive(Serialize)]
pub struct Layered<'a> {
    name: &'a str,
    source: &'a str,
    /// By kind.
    layers: Vec<FittedLayer>,
    /// By stage.
    stages: Vec<StageFit>,
    /// The text of the job file.
    job: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    written: Option<FileName>,
}

impl<'a> Layered<'a> {
    /// The answer for a fit of the layers of a profile.
    pub fn of(profile: &'a Profile, fit: LayerFit, written: Option<FileName>) -> Self {
        let LayerFit { layers, stages, job, .. } = fit;
        let source = profile.model.source().unwrap_or_default();
        Self { name: profile.model.name(), source, layers, stages, job, written }
    }

    /// The text of the job file.
    pub fn job(&self) -> &str {
        &self.job
    }
}

/// By how much a fitted time is off, as a share of the measured one.
fn misfit(stage: &StageFit) -> Rate {
    let off = (stage.fitted - stage.measured).0.abs();
    Rate::new(i128::from(off), i128::from(stage.measured.0.max(1)))
}

impl fmt::Display for Layered<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: usize = self.layers.iter().map(|layer| layer.count).sum();
        writeln!(out, "{}: {}\n{}\n", self.name, count(all, "layer", "layers"), self.source)?;
        let headings = ["layer", "layers", "told by stages", "F", "I", "W"];
        let amounts = Amounts::new(out.alternate(), "ns", "byte");
        let mut table = Table::new(headings);
        for layer in &self.layers {
            let times = [layer.forward, layer.backward_input, layer.backward_weight];
            let [forward, input, weight] = times.map(|ticks| amounts.time(ticks));
            let stages = layer.told_by.iter().map(|Stage(stage)| stage).join(", ");
            table.row([layer.kind.clone(), layer.count.to_string(), stages, forward, input, weight]);
        }
        write!(out, "{table}")?;
        if let Some(worst) = self.stages.iter().max_by_key(|stage| misfit(stage)) {
            writeln!(
                out,
                "\nstage {} fits worst: its layers take {} for a microbatch, measured were {}, {} off",
                worst.stage,
                amounts.time(worst.fitted),
                amounts.time(worst.measured),
                percentage(misfit(worst))
            )?;
        }
        match &self.written {
            Some(written) => writeln!(out, "wrote {written}"),
            None => Ok(()),
        }
    }
}
