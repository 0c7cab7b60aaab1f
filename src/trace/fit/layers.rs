//! A job from a measured run: what each kind of layer costs, from what the stages took that have it.
//!
//! Kinds that some stages have alone come first: a layer costs the median, over these stages, of what the stage takes divided by its
//! layers. That is taken off the other stages, and kinds which are then alone somewhere follow.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use itertools::Itertools as _;
use serde::Serialize;

use super::Profile;
use crate::job::{Cut, CutError};
use crate::job_text::{memory, name, quoted, time};
use crate::model::{Model, Stage, Ticks, Units};
use crate::trace::statistics::quantile;

/// The costs of layers in a run whose stages were cut in a known way.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LayerFit {
    /// What each kind costs, in the order in which the kinds first appear.
    pub layers: Vec<FittedLayer>,
    /// How well these costs give the times of the stages back.
    pub stages: Vec<StageFit>,
    /// The job file: these layers on as many devices, with the cut left open.
    pub job: String,
}

/// What a layer of a kind costs for one microbatch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FittedLayer {
    /// The kind.
    pub kind: String,
    /// How many layers are of it.
    pub count: usize,
    /// The stages that tell what it costs.
    pub told_by: Vec<Stage>,
    /// Its F, in ticks.
    pub forward: Ticks,
    /// Its I, in ticks.
    pub backward_input: Ticks,
    /// Its W, in ticks.
    pub backward_weight: Ticks,
    /// What its F keeps, where memory was measured.
    pub activation: Option<Units>,
    /// What its I leaves for W, where memory was measured.
    pub retained_for_weight: Option<Units>,
}

/// What F, I and W of a stage take together: as they were measured, and as the costs of its layers say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct StageFit {
    /// The stage.
    pub stage: Stage,
    /// Its median times, in ticks.
    pub measured: Ticks,
    /// The sum over its layers, in ticks.
    pub fitted: Ticks,
}

/// Why a run does not tell what its layers cost.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LayerFitError {
    /// The cut is not one of these layers over the stages of the run.
    #[error(transparent)]
    Cut(#[from] CutError),
    /// Kinds that no stage has without another kind of which nothing is known either.
    #[error("the run cannot distinguish {}: no stage has one of them without another", .0.iter().map(|kind| format!("`{kind}`")).join(" and "))]
    Together(Vec<String>),
}

impl Profile {
    /// What the layers of the run cost, from the kinds of its layers in order, and how many each stage had.
    ///
    /// # Errors
    /// When the cut does not suit, or two kinds always share their stages.
    pub fn layers(&self, kinds: &[String], cut: &Cut) -> Result<LayerFit, LayerFitError> {
        let model = &self.model;
        let of_stages = counts(kinds, cut, model)?;
        let told = order(&of_stages)?;
        let fit = |values: &[i64]| costs(&of_stages, &told, values);
        let ticks = |values: &[Ticks]| fit(&values.iter().map(|value| value.0).collect::<Vec<_>>());
        let costs = model.costs();
        let [forward, input, weight] =
            [&costs.forward, &costs.backward_input, &costs.backward_weight].map(|values| ticks(values));
        let units = |of: &dyn Fn(Stage) -> Units| -> BTreeMap<&str, i64> {
            if self.memory.is_empty() {
                return BTreeMap::new();
            }
            fit(&Stage::all(model.stages()).map(|stage| of(stage).0).collect::<Vec<_>>())
        };
        let activation = units(&|stage| model.activation(stage));
        let retained = units(&|stage| model.retained_for_weight(stage));
        let layers: Vec<FittedLayer> = kinds
            .iter()
            .unique()
            .map(|kind| FittedLayer {
                kind: kind.clone(),
                count: kinds.iter().filter(|other| *other == kind).count(),
                told_by: told
                    .iter()
                    .find(|(told, _)| told == kind)
                    .map_or_else(Vec::new, |(_, by)| by.clone()),
                forward: Ticks(forward[kind.as_str()]),
                backward_input: Ticks(input[kind.as_str()]),
                backward_weight: Ticks(weight[kind.as_str()]),
                activation: activation.get(kind.as_str()).copied().map(Units),
                retained_for_weight: retained.get(kind.as_str()).copied().map(Units),
            })
            .collect();
        let stages = Stage::all(model.stages()).map(|stage| {
            let at = stage.index();
            let work = |kind: &str| forward[kind] + input[kind] + weight[kind];
            StageFit {
                stage,
                measured: costs.forward[at] + costs.backward_input[at] + costs.backward_weight[at],
                fitted: Ticks(of_stages[at].iter().map(|(kind, count)| count * work(kind)).sum()),
            }
        });
        let stages = stages.collect();
        let mut latencies: Vec<i64> = self.latencies.iter().map(|between| between.latency.0).collect();
        latencies.sort_unstable();
        let latency = quantile(&latencies, 1, 2).map(Ticks);
        let job = job_file(model, kinds, &layers, latency);
        Ok(LayerFit { layers, stages, job })
    }
}

/// How many layers of each kind each stage has.
fn counts<'a>(
    kinds: &'a [String],
    cut: &Cut,
    model: &Model,
) -> Result<Vec<BTreeMap<&'a str, i64>>, CutError> {
    if cut.layers().len() != model.stages() as usize {
        return Err(CutError::Stages { found: cut.layers().len(), expected: model.stages() });
    }
    let found: u64 = cut.layers().iter().copied().map(u64::from).sum();
    if found != kinds.len() as u64 {
        return Err(CutError::Layers { found, expected: kinds.len() });
    }
    let of_range = |range: std::ops::Range<usize>| {
        let mut counts = BTreeMap::new();
        for kind in &kinds[range] {
            *counts.entry(kind.as_str()).or_default() += 1;
        }
        counts
    };
    Ok(cut.ranges().map(of_range).collect())
}

/// In which order kinds are told, each with the stages that tell it: those where it is the only kind that is not known yet.
fn order<'a>(of_stages: &[BTreeMap<&'a str, i64>]) -> Result<Vec<(&'a str, Vec<Stage>)>, LayerFitError> {
    let mut unknown: BTreeSet<&str> = of_stages.iter().flat_map(BTreeMap::keys).copied().collect();
    let mut told = Vec::new();
    while !unknown.is_empty() {
        let mut alone: BTreeMap<&str, Vec<Stage>> = BTreeMap::new();
        for (at, counts) in of_stages.iter().enumerate() {
            let left = counts.keys().filter(|kind| unknown.contains(*kind));
            if let Ok(kind) = left.exactly_one() {
                alone.entry(kind).or_default().push(Stage::at(at));
            }
        }
        if alone.is_empty() {
            return Err(LayerFitError::Together(unknown.into_iter().map(str::to_owned).collect()));
        }
        for kind in alone.keys() {
            unknown.remove(kind);
        }
        told.extend(alone);
    }
    Ok(told)
}

/// What a layer of each kind costs, if the stages cost so much.
fn costs<'a>(
    of_stages: &[BTreeMap<&'a str, i64>],
    told: &[(&'a str, Vec<Stage>)],
    values: &[i64],
) -> BTreeMap<&'a str, i64> {
    let mut known: BTreeMap<&str, i64> = BTreeMap::new();
    for (kind, stages) in told {
        let mut each: Vec<i64> = stages
            .iter()
            .map(|stage| {
                let counts = &of_stages[stage.index()];
                let others: i64 = counts
                    .iter()
                    .filter(|(other, _)| *other != kind)
                    .map(|(other, count)| count * known[other])
                    .sum();
                // What is measured as less than what the other layers cost costs nothing.
                (values[stage.index()] - others).max(0) / counts[kind]
            })
            .collect();
        each.sort_unstable();
        known.insert(kind, quantile(&each, 1, 2).expect("some stage tells it"));
    }
    known
}

/// A job of these layers on the machine of the run: one microbatch is one sample.
fn job_file(model: &Model, kinds: &[String], layers: &[FittedLayer], latency: Option<Ticks>) -> String {
    let mut text = format!("name = {}\n", quoted(model.name()));
    if let Some(source) = model.source() {
        _ = writeln!(text, "source = {}", quoted(source));
    }
    let runs = kinds.iter().dedup_with_count().map(|(count, kind)| match count {
        1 => quoted(kind),
        count => quoted(&format!("{count} {kind}")),
    });
    _ = writeln!(text, "layers = [{}]", runs.collect::<Vec<_>>().join(", "));
    for layer in layers {
        _ = writeln!(text, "\n[layer.{}]", name(&layer.kind));
        let times = [
            ("forward", layer.forward),
            ("backward_input", layer.backward_input),
            ("backward_weight", layer.backward_weight),
        ];
        for (key, ticks) in times {
            _ = writeln!(text, "{key} = {}", time(i128::from(ticks.0)));
        }
        let amounts = [("activation", layer.activation), ("retained_for_weight", layer.retained_for_weight)];
        for (key, units) in amounts {
            if let Some(units) = units {
                _ = writeln!(text, "{key} = {}", memory(i128::from(units.0)));
            }
        }
    }
    let (devices, microbatches) = (model.devices(), model.microbatches());
    _ = write!(text, "\n[machine]\ndevices = {devices}\n");
    if let Some(latency) = latency {
        _ = writeln!(text, "latency = {}", time(i128::from(latency.0)));
    }
    _ = write!(text, "\n[choices]\nglobal_batch = {microbatches}\npipeline = {devices}\n");
    // A placement of two chunks needs two layers a device.
    if kinds.len() >= 2 * devices as usize {
        text += "placement = [\"linear\", \"v\"]\n";
    }
    text
}
