//! Reading job files.

use std::collections::{BTreeMap, BTreeSet};

use num_rational::Ratio;

use super::amounts::{Reader, Round, measured};
use super::machine::Network;
use super::{ChoicePlacement, Choices, Job, LayerCost, Machine, Profile};
use crate::model::reading::{FileError, Table, TomlProblem, Value, document, root};
use crate::text::quantity::Scale;

/// How many layers a job may have in all.
pub const MOST_LAYERS: u32 = 4096;

/// Reads a job file.
///
/// Times become whole nanoseconds, and memory whole bytes, rounded up; a limit is rounded down. A file without units states
/// both as plain counts.
///
/// # Errors
/// At the first thing wrong, with its place.
pub fn parse(text: &str) -> Result<Job, FileError> {
    let document = document(text)?;
    let file = root(&document);
    file.only(&["name", "source", "estimate", "units", "layers", "layer", "profile", "machine", "choices"])?;
    let table = |key| file.get(key).map(|value| value.table()).transpose();
    let reader = Reader::new(table("units")?.as_ref())?;
    let layers = read_layers(&file.require("layers")?)?;
    let kinds: BTreeSet<&str> = layers.iter().map(String::as_str).collect();
    let profiles = read_profiles(&file, &kinds, &reader)?;
    let machine_value = file.require("machine")?;
    let machine = read_machine(&machine_value.table()?, &reader)?;
    let choices = read_choices(&file.require("choices")?, &profiles)?;
    Ok(Job {
        name: file.require("name")?.text()?.to_owned(),
        source: file.get("source").map(|value| value.text().map(str::to_owned)).transpose()?,
        is_estimate: file.get("estimate").map_or(Ok(false), |value| value.truth())?,
        time_unit: reader.time_unit(),
        memory_unit: reader.memory_unit(),
        layers,
        profiles,
        machine,
        choices,
    })
}

fn rule(value: &Value<'_>, rule: impl Into<String>) -> FileError {
    value.error(TomlProblem::Rule { key: value.key(), rule: rule.into() })
}

/// Why a text names no layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LayersError {
    /// Two words, of which the first is no number.
    #[error("is not a kind of layer, such as \"block\", or a number of them, such as \"32 block\"")]
    Count,
    /// A kind with other letters than a name has.
    #[error("names no kind of layer: a name has letters, digits, `_`, `-` and `.`")]
    Name,
}

/// Reads how many layers of which kind follow each other: `32 block`, or `head` for one.
///
/// # Errors
/// When it is neither.
pub fn layers(text: &str) -> Result<(u32, &str), LayersError> {
    let (count, kind) = match text.split_once(' ') {
        Some((count, kind)) => (count.parse().map_err(|_| LayersError::Count)?, kind.trim()),
        None => (1, text),
    };
    let is_name = |letter: char| letter.is_alphanumeric() || "_-.".contains(letter);
    if kind.is_empty() || !kind.chars().all(is_name) { Err(LayersError::Name) } else { Ok((count, kind)) }
}

/// The kinds of layers in order: `["embedding", "32 block", "head"]`.
fn read_layers(value: &Value<'_>) -> Result<Vec<String>, FileError> {
    let list = value.list().ok_or_else(|| value.wrong_type("a list of kinds of layers"))?;
    let mut kinds = Vec::new();
    for entry in &list {
        let (count, kind) = layers(entry.text()?).map_err(|error| rule(entry, error.to_string()))?;
        let found = kinds.len() as u64 + u64::from(count);
        if found > u64::from(MOST_LAYERS) {
            return Err(rule(value, format!("has {found} layers or more, but {MOST_LAYERS} are supported")));
        }
        kinds.extend(std::iter::repeat_n(kind.to_owned(), count as usize));
    }
    if kinds.is_empty() { Err(rule(value, "has no layer")) } else { Ok(kinds) }
}

/// The costs of `[[profile]]`, which `[layer]` completes; or those of `[layer]` alone, at degree 1 and microbatch size 1.
fn read_profiles(
    file: &Table<'_>,
    kinds: &BTreeSet<&str>,
    reader: &Reader,
) -> Result<BTreeMap<(u32, u32), Profile>, FileError> {
    let base = file.get("layer").map(|value| value.table()).transpose()?;
    let mut profiles = BTreeMap::new();
    let Some(value) = file.get("profile") else {
        let base = file.require("layer")?.table()?;
        profiles.insert((1, 1), read_profile(&base, None, kinds, reader)?);
        return Ok(profiles);
    };
    let list = value.list().ok_or_else(|| value.wrong_type("a list of [[profile]] tables"))?;
    for entry in &list {
        let table = entry.table()?;
        table.only(&["tensor", "microbatch_size", "source", "layer"])?;
        let degree = |key| table.get(key).map_or(Ok(1), |value| value.count(1));
        let at = (degree("tensor")?, degree("microbatch_size")?);
        let own = table.get("layer").map(|value| value.table()).transpose()?;
        let costs = match (&own, &base) {
            (Some(own), base) => read_profile(own, base.as_ref(), kinds, reader)?,
            (None, Some(base)) => read_profile(base, None, kinds, reader)?,
            (None, None) => return Err(table.require("layer").err().expect("there is none")),
        };
        if profiles.insert(at, costs).is_some() {
            let (tensor, size) = at;
            return Err(rule(
                entry,
                format!("is a second profile for tensor = {tensor} and microbatch_size = {size}"),
            ));
        }
    }
    if profiles.is_empty() { Err(rule(&value, "has no profile")) } else { Ok(profiles) }
}

fn read_profile(
    table: &Table<'_>,
    base: Option<&Table<'_>>,
    kinds: &BTreeSet<&str>,
    reader: &Reader,
) -> Result<Profile, FileError> {
    for (kind, value) in table.entries() {
        if !kinds.contains(kind.as_str()) {
            return Err(rule(&value, "is a kind that `layers` does not name"));
        }
    }
    let mut layers = BTreeMap::new();
    for &kind in kinds {
        let own = table.get(kind).map(|value| value.table()).transpose()?;
        let base = base.and_then(|base| base.get(kind)).map(|value| value.table()).transpose()?;
        let tables: Vec<&Table<'_>> = own.iter().chain(&base).collect();
        if tables.is_empty() {
            table.require(kind)?;
        }
        layers.insert(kind.to_owned(), read_cost(&tables, reader)?);
    }
    Ok(Profile { layers })
}

/// The costs of a kind of layer; the first table that has a key counts.
fn read_cost(tables: &[&Table<'_>], reader: &Reader) -> Result<LayerCost, FileError> {
    for table in tables {
        table.only(&[
            "forward",
            "backward_input",
            "backward_weight",
            "recompute",
            "activation",
            "retained_for_weight",
            "checkpoint",
            "offload",
            "weights",
            "optimizer_state",
            "gradients",
            "optimizer",
            "output",
            "operations",
        ])?;
    }
    let get = |key| tables.iter().find_map(|table| table.get(key));
    let require = |key| get(key).map_or_else(|| tables[0].require(key), Ok);
    let ticks = |key| get(key).map(|value| reader.ticks(&value)).transpose();
    let units = |key| get(key).map(|value| reader.units(&value, Round::Up)).transpose();
    let at_most = |key, whole: i64| -> Result<Option<i64>, FileError> {
        let Some(part) = units(key)? else { return Ok(None) };
        if part > whole {
            let value = get(key).expect("it has been read");
            return Err(rule(&value, "is more than the activation"));
        }
        Ok(Some(part))
    };
    let activation = units("activation")?.unwrap_or(0);
    Ok(LayerCost {
        forward: reader.ticks(&require("forward")?)?,
        backward_input: reader.ticks(&require("backward_input")?)?,
        backward_weight: reader.ticks(&require("backward_weight")?)?,
        recompute: ticks("recompute")?,
        activation,
        retained_for_weight: units("retained_for_weight")?,
        checkpoint: at_most("checkpoint", activation)?,
        offload: at_most("offload", activation)?.unwrap_or(0),
        weights: units("weights")?.unwrap_or(0),
        optimizer_state: units("optimizer_state")?.unwrap_or(0),
        gradients: units("gradients")?.unwrap_or(0),
        optimizer: ticks("optimizer")?.unwrap_or(0),
        output: units("output")?.unwrap_or(0),
        operations: get("operations")
            .map_or(Ok(Ratio::from_integer(0)), |value| measured(&value, Scale::Operations))?,
    })
}

fn read_machine(table: &Table<'_>, reader: &Reader) -> Result<Machine, FileError> {
    table.only(&[
        "devices",
        "devices_per_node",
        "memory",
        "latency",
        "bandwidth",
        "node_latency",
        "node_bandwidth",
        "host_bandwidth",
        "peak",
    ])?;
    let devices = table.require("devices")?.count(1)?;
    let devices_per_node = match table.get("devices_per_node") {
        Some(value) => {
            let found = value.count(1)?;
            if found < devices && !devices.is_multiple_of(found) {
                return Err(rule(&value, format!("must divide the {devices} devices")));
            }
            found
        }
        None => devices,
    };
    let bandwidth = |key| table.get(key).map(|value| reader.bandwidth(&value)).transpose();
    let latency = |key| table.get(key).map(|value| reader.ticks(&value)).transpose();
    let near = Network { latency: latency("latency")?.unwrap_or(0), bandwidth: bandwidth("bandwidth")? };
    let far = Network {
        latency: latency("node_latency")?.unwrap_or(near.latency),
        bandwidth: bandwidth("node_bandwidth")?.or(near.bandwidth),
    };
    Ok(Machine {
        devices,
        devices_per_node,
        memory: table.get("memory").map(|value| reader.units(&value, Round::Down)).transpose()?,
        near,
        far,
        host_bandwidth: bandwidth("host_bandwidth")?,
        peak: table.get("peak").map(|value| measured(&value, Scale::Speed)).transpose()?,
    })
}

fn read_choices(value: &Value<'_>, profiles: &BTreeMap<(u32, u32), Profile>) -> Result<Choices, FileError> {
    let table = value.table()?;
    table.only(&[
        "global_batch",
        "pipeline",
        "tensor",
        "microbatch_size",
        "placement",
        "recompute",
        "offload",
        "shard_optimizer",
        "empty_stages",
    ])?;
    let degrees = |key| table.get(key).map(|value| read_counts(&value)).transpose();
    let known = |of: fn(&(u32, u32)) -> u32| profiles.keys().map(of).collect::<BTreeSet<u32>>();
    let tensor = degrees("tensor")?.unwrap_or_else(|| known(|at| at.0).into_iter().collect());
    let sizes = degrees("microbatch_size")?.unwrap_or_else(|| known(|at| at.1).into_iter().collect());
    for &degree in &tensor {
        if let Some(size) = sizes.iter().find(|&&size| !profiles.contains_key(&(degree, size))) {
            let stated = ["microbatch_size", "tensor"].into_iter().find_map(|key| table.get(key));
            let problem = format!(
                "leaves a choice without costs: there is no [[profile]] for tensor = {degree} and microbatch_size = {size}"
            );
            return Err(rule(stated.as_ref().unwrap_or(value), problem));
        }
    }
    let costs = || profiles.values().flat_map(|profile| profile.layers.values());
    let saving = |key, is_stated: bool, what| {
        let found = read_saving(&table, key)?;
        match table.get(key) {
            Some(value) if found.contains(&true) && !is_stated => {
                Err(rule(&value, format!("allows `auto`, but no layer states its `{what}`")))
            }
            _ => Ok(found),
        }
    };
    let truth = |key| table.get(key).map_or(Ok(false), |value| value.truth());
    Ok(Choices {
        global_batch: table.require("global_batch")?.count(1)?,
        pipeline: degrees("pipeline")?,
        tensor,
        microbatch_size: sizes,
        placement: match table.get("placement") {
            Some(value) => read_placements(value)?,
            None => vec![ChoicePlacement::Linear],
        },
        recompute: saving("recompute", costs().any(|cost| cost.checkpoint.is_some()), "checkpoint")?,
        offload: saving("offload", costs().any(|cost| cost.offload > 0), "offload")?,
        shard_optimizer: truth("shard_optimizer")?,
        empty_stages: truth("empty_stages")?,
    })
}

/// Ascending counts without duplicates.
fn read_counts(value: &Value<'_>) -> Result<Vec<u32>, FileError> {
    let list = value.list();
    let list = list.as_deref().unwrap_or(std::slice::from_ref(value));
    let counts: BTreeSet<u32> = list.iter().map(|value| value.count(1)).collect::<Result<_, _>>()?;
    if counts.is_empty() { Err(rule(value, "is empty")) } else { Ok(counts.into_iter().collect()) }
}

fn read_placements(value: Value<'_>) -> Result<Vec<ChoicePlacement>, FileError> {
    let mut placements = Vec::new();
    for entry in value.one_or_many() {
        let text = entry.text()?;
        let placement = ChoicePlacement::parse(text).ok_or_else(|| {
            let (key, found) = (entry.key(), text.to_owned());
            entry.error(TomlProblem::Name {
                key,
                found,
                known: &["linear", "v", "looped 2", "looped 3", "..."],
            })
        })?;
        if !placements.contains(&placement) {
            placements.push(placement);
        }
    }
    Ok(placements)
}

/// `"none"`, `"auto"`, or both.
fn read_saving(table: &Table<'_>, key: &str) -> Result<Vec<bool>, FileError> {
    let Some(value) = table.get(key) else { return Ok(vec![false]) };
    let mut found = BTreeSet::new();
    for entry in value.one_or_many() {
        found.insert(match entry.text()? {
            "none" => false,
            "auto" => true,
            other => {
                let (key, found) = (entry.key(), other.to_owned());
                return Err(entry.error(TomlProblem::Name { key, found, known: &["none", "auto"] }));
            }
        });
    }
    Ok(found.into_iter().collect())
}
