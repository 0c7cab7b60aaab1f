//! The model file (TOML): reading with located errors.

use std::collections::BTreeMap;

use super::quantities::{Quantities, Scaled, TIME, UnitNames};
use super::reading::{FileError, Table, TomlProblem, Value, document, root};
use super::{
    Costs, Device, Links, Memory, Messages, Model, Overlap, PairDurations, Placement, Stage, StepEnd, Ticks,
    Units, offload, ranges, sharding,
};
use super::{parts_file, recompute_file, transient_file};

/// A model file as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelFile {
    /// The model.
    pub model: Model,
    /// What was scaled to whole ticks or units of memory: times, memory, or nothing where the file counts both in whole units.
    pub scaled: Vec<Scaled>,
}

impl ModelFile {
    /// How amounts with decimals or units were read, in a sentence; nothing where the file counts in whole units.
    #[must_use]
    pub fn scaling(&self) -> Option<String> {
        let scaled: Vec<String> = self.scaled.iter().map(ToString::to_string).collect();
        (!scaled.is_empty())
            .then(|| format!("the model has amounts with decimals or units: {}", scaled.join(", ")))
    }
}

/// Reads a model file. Times and memory are counts of the units that the file names, or amounts with decimals or units
/// of their own, which are scaled to nanoseconds and bytes.
///
/// # Errors
/// When the text is not TOML, a key is unknown or missing, a value is of the wrong type, negative
/// or too large, a unit is not known, a list has the wrong length, or the parts are no [`Model`] together.
pub fn parse(text: &str) -> Result<Model, FileError> {
    read(text).map(|file| file.model)
}

/// Reads a model file, and says what was scaled.
///
/// # Errors
/// As [`parse`].
pub fn read(text: &str) -> Result<ModelFile, FileError> {
    read_with(text, UnitNames::Known)
}

/// Reads the model that a certificate states: a file in which a unit may have any name, as [`Model::new`] allows.
///
/// # Errors
/// As [`parse`].
pub(crate) fn parse_stated(text: &str) -> Result<Model, FileError> {
    read_with(text, UnitNames::Any).map(|file| file.model)
}

fn read_with(text: &str, names: UnitNames) -> Result<ModelFile, FileError> {
    let document = document(text)?;
    let file = root(&document);
    let counts = Quantities::of(&file, names)?;
    let model = read_model(&file, &counts);
    // What was read as counts means nothing where there are other amounts.
    match counts.in_base() {
        None => Ok(ModelFile { model: model?, scaled: Vec::new() }),
        Some(in_base) => {
            let model = Model { plain_numbers: in_base.plain_numbers(), ..read_model(&file, &in_base)? };
            Ok(ModelFile { model, scaled: in_base.scaled() })
        }
    }
}

fn read_model(file: &Table<'_>, quantities: &Quantities) -> Result<Model, FileError> {
    file.only(&[
        "name",
        "source",
        "pipeline",
        "time",
        "memory",
        "recompute",
        "overlap",
        "messages",
        "step",
        "offload",
        "sharding",
    ])?;
    let name = file.require("name")?.text()?.to_owned();
    let source = file.get("source").map(|value| value.text().map(str::to_owned)).transpose()?;

    let pipeline_value = file.require("pipeline")?;
    let pipeline = pipeline_value.table()?;
    pipeline.only(&["devices", "placement", "chunks", "microbatches"])?;
    let placement = read_placement(&pipeline)?;
    let microbatches = pipeline.require("microbatches")?.count(1)?;

    let [low, costs] = read_costs(&file.require("time")?.table()?, &placement, quantities)?;
    let memory_table = file.get("memory").map(|value| value.table()).transpose()?;
    let recompute_table = file.get("recompute").map(|value| value.table()).transpose()?;
    let memory = read_memory(memory_table.as_ref(), &placement, quantities)?;
    let recompute = recompute_table
        .as_ref()
        .map(|table| recompute_file::read(table, &placement, quantities))
        .transpose()?;
    let transient = transient_file::read(memory_table.as_ref(), &placement, quantities)?;
    let overlap = match file.get("overlap") {
        Some(value) => read_overlap(&value.table()?, quantities)?,
        None => Overlap::default(),
    };
    let table = |key| file.get(key).map(|value| value.table()).transpose();
    let messages =
        table("messages")?.map(|table| read_messages(&table, &placement, quantities)).transpose()?;
    let step = table("step")?.map(|table| read_step(&table, &placement, quantities)).transpose()?;
    let offload = table("offload")?
        .map(|table| offload::read(&table, &memory.activation, &placement, quantities))
        .transpose()?;
    let sharding =
        table("sharding")?.map(|table| sharding::read(&table, &placement, quantities)).transpose()?;
    Model::new(name, source, placement, microbatches, costs, memory)
        .and_then(|model| {
            let model = model.with_low_ends(low)?.with_overlap(overlap)?.with_recompute(recompute)?;
            model
                .with_messages(messages)?
                .with_step(step)?
                .with_transient(transient)?
                .with_offload(offload)?
                .with_sharding(sharding)
        })
        .map_err(|error| FileError {
            span: span_of(&error, file, &pipeline_value),
            problem: TomlProblem::Model(error),
        })
}

/// Where in the file a complaint about the model as a whole belongs.
fn span_of(error: &super::ModelError, file: &Table<'_>, pipeline: &Value<'_>) -> std::ops::Range<usize> {
    use super::ModelError as E;
    let (table, key) = match error {
        E::LowEnds(error) => return span_of(error, file, pipeline),
        E::PartExceedsActivation { key, .. } => key.split_once('.').unwrap_or(("memory", "activation")),
        // These are about all durations together.
        E::NoWork(_) | E::TimeOverflow => {
            return file.get("time").map_or_else(|| pipeline.span(), |time| time.span());
        }
        E::StepOverflow => return file.get("step").map_or_else(|| pipeline.span(), |step| step.span()),
        E::OffloadOverflow => {
            return file.get("offload").map_or_else(|| pipeline.span(), |offload| offload.span());
        }
        E::GatherOverflow | E::GatheredOverflow => {
            return file.get("sharding").map_or_else(|| pipeline.span(), |sharding| sharding.span());
        }
        E::TooManyPairs { .. } => {
            return file.get("overlap").map_or_else(|| pipeline.span(), |overlap| overlap.span());
        }
        E::MemoryOverflow => ("memory", "activation"),
        E::LevelExceedsActivation { level, .. } => {
            let table = file.get("recompute").and_then(|value| value.table().ok());
            if let Some(span) = table.and_then(|table| recompute_file::span_of_level(&table, *level)) {
                return span;
            }
            ("recompute", "checkpoint")
        }
        E::Levels { .. } => ("recompute", "level"),
        E::Parts(error) => {
            return parts_file::span_of(file, error).unwrap_or_else(|| pipeline.span());
        }
        E::WorkspaceWithoutRecompute => ("memory", "workspace"),
        E::TransientOverflow => {
            return file.get("memory").map_or_else(|| pipeline.span(), |memory| memory.span());
        }
        E::CapacityOverflow(_) | E::NoRoomForWeights { .. } => ("memory", "capacity"),
        E::TooManyPasses { .. } => ("pipeline", "microbatches"),
        E::RangesWithNodes | E::NodeOfNoDevice { .. } | E::InTwoNodes(_) | E::InNoNode(_) => {
            ("messages", "nodes")
        }
        E::PairDuration { key, forward, backward, .. }
        | E::PairApart { key, forward, backward }
        | E::PairSaidTwice { key, forward, backward }
        | E::PairOfNoStage { key, forward, backward, .. } => {
            if let Some(span) = span_of_pair(file, key, *forward, *backward) {
                return span;
            }
            key.split_once('.').unwrap_or(("overlap", "forward_backward"))
        }
        _ => ("pipeline", "devices"),
    };
    file.get(table)
        .and_then(|value| value.table().ok())
        .and_then(|table| table.get(key))
        .map_or_else(|| pipeline.span(), |value| value.span())
}

fn read_placement(pipeline: &Table<'_>) -> Result<Placement, FileError> {
    const NAMES: &[&str] = &["linear", "looped", "v", "bidirectional"];
    let value = pipeline.require("placement")?;
    let chunks = pipeline.get("chunks");
    if let Some(lists) = value.list() {
        let placement = read_lists(&value, &lists)?;
        agree(pipeline.get("devices"), Some(placement.devices()), "the placement lists", "devices")?;
        agree(chunks, placement.chunks(), "the placement lists", "stages on each device")?;
        return Ok(placement);
    }
    let devices_value = pipeline.require("devices")?;
    let devices = devices_value.count(1)?;
    let name = value.as_text().ok_or_else(|| {
        value.wrong_type("\"linear\", \"looped\", \"v\", \"bidirectional\" or a list of each device's stages")
    })?;
    let placement = match name {
        "linear" => {
            agree(chunks, Some(1), "linear placement has", "stage on each device")?;
            Placement::linear(devices)
        }
        "v" => {
            agree(chunks, Some(2), "v placement has", "stages on each device")?;
            Placement::v(devices)
        }
        "bidirectional" => {
            agree(chunks, Some(2), "bidirectional placement has", "stages on each device")?;
            Placement::bidirectional(devices)
        }
        "looped" => Placement::looped(devices, pipeline.require("chunks")?.count(1)?),
        _ => {
            let found = name.to_owned();
            return Err(value.error(TomlProblem::Name { key: value.key(), found, known: NAMES }));
        }
    };
    placement.map_err(|error| devices_value.error(TomlProblem::Placement { key: value.key(), error }))
}

/// Refuses a count that contradicts what the placement implies.
fn agree(value: Option<Value<'_>>, implied: Option<u32>, says: &str, of: &str) -> Result<(), FileError> {
    let Some(value) = value else { return Ok(()) };
    let stated = value.count(1)?;
    if implied == Some(stated) {
        return Ok(());
    }
    let implied = implied.map_or_else(|| "not equally many".to_owned(), |implied| implied.to_string());
    Err(value.error(TomlProblem::Contradiction {
        key: value.key(),
        value: stated.to_string(),
        other: format!("{says} {implied} {of}"),
    }))
}

fn read_lists(value: &Value<'_>, lists: &[Value<'_>]) -> Result<Placement, FileError> {
    let read_list = |list: &Value<'_>| -> Result<Vec<Stage>, FileError> {
        let stages = list.list().ok_or_else(|| list.wrong_type("the list of a device's stages"))?;
        stages.iter().map(|stage| stage.count(0).map(Stage)).collect()
    };
    let stages_of = lists.iter().map(read_list).collect::<Result<_, _>>()?;
    Placement::new(stages_of).map_err(|error| value.error(TomlProblem::Placement { key: value.key(), error }))
}

/// The low and the high ends.
fn read_costs(
    time: &Table<'_>,
    placement: &Placement,
    quantities: &Quantities,
) -> Result<[Costs; 2], FileError> {
    time.only(&["unit", "forward", "backward_input", "backward_weight", "communication"])?;
    let stages = placement.stages() as usize;
    let ticks = |key| ranges::read(&time.require(key)?, stages, "stages", quantities);
    let [forward, backward_input, backward_weight] =
        [ticks("forward")?, ticks("backward_input")?, ticks("backward_weight")?];
    let communication = match time.get("communication") {
        Some(value) => ranges::read(&value, stages - 1, "stage boundaries", quantities)?,
        None => [vec![Ticks::ZERO; stages - 1], vec![Ticks::ZERO; stages - 1]],
    };
    Ok([0, 1].map(|end| Costs {
        unit: quantities.time_unit(),
        forward: forward[end].clone(),
        backward_input: backward_input[end].clone(),
        backward_weight: backward_weight[end].clone(),
        communication: communication[end].clone(),
    }))
}

fn read_memory(
    memory: Option<&Table<'_>>,
    placement: &Placement,
    quantities: &Quantities,
) -> Result<Memory, FileError> {
    if let Some(memory) = memory {
        memory.only(&[
            "unit",
            "activation",
            "retained_for_weight",
            "weights",
            "capacity",
            "workspace",
            "receive",
        ])?;
    }
    let get = |key| memory.and_then(|table| table.get(key));
    let stages = placement.stages() as usize;
    let units = |value: Value<'_>| quantities.all_units(&value, stages, "stages");
    let activation = match (memory, get("activation")) {
        (_, Some(value)) => units(value)?,
        // One byte would be a surprise.
        (Some(table), None) if quantities.memory_is_scaled() => units(table.require("activation")?)?,
        _ => vec![Units(1); stages],
    };
    Ok(Memory {
        unit: quantities.memory_unit(),
        retained_for_weight: get("retained_for_weight").map_or_else(|| Ok(activation.clone()), units)?,
        activation,
        checkpoint: None,
        weights: get("weights").map_or_else(|| Ok(vec![Units::ZERO; stages]), units)?,
        capacity: match get("capacity") {
            Some(value) => quantities.limits(&value, placement.devices() as usize)?,
            None => vec![None; placement.devices() as usize],
        },
    })
}

fn read_overlap(overlap: &Table<'_>, quantities: &Quantities) -> Result<Overlap, FileError> {
    overlap.only(&["forward_backward", "forward_input", "parts"])?;
    let read =
        |key| overlap.get(key).map_or_else(|| Ok(PairDurations::Sum), |value| read_pairs(&value, quantities));
    Ok(Overlap {
        forward_backward: read("forward_backward")?,
        forward_input: read("forward_input")?,
        parts: parts_file::read(overlap, quantities)?,
    })
}

/// One duration for all pairs, or a list of tables with a pair each.
fn read_pairs(value: &Value<'_>, quantities: &Quantities) -> Result<PairDurations, FileError> {
    let Some(list) = value.list() else { return Ok(PairDurations::Uniform(quantities.ticks(value, TIME)?)) };
    let mut durations = BTreeMap::new();
    for entry in list {
        let pair = entry.table()?;
        pair.only(&["forward", "backward", "duration"])?;
        let stages @ (forward, backward) = stages_of_pair(&pair)?;
        if durations.insert(stages, quantities.ticks(&pair.require("duration")?, TIME)?).is_some() {
            return Err(entry.error(TomlProblem::Contradiction {
                key: value.key(),
                value: format!("a forward of stage {forward} beside a backward of stage {backward}"),
                other: "there is such a pair before it".to_owned(),
            }));
        }
    }
    Ok(if durations.is_empty() { PairDurations::Sum } else { PairDurations::Listed(durations) })
}

fn stages_of_pair(pair: &Table<'_>) -> Result<(Stage, Stage), FileError> {
    let stage = |key| pair.require(key)?.count(0).map(Stage);
    Ok((stage("forward")?, stage("backward")?))
}

/// Where a pair is listed.
fn span_of_pair(
    file: &Table<'_>,
    key: &str,
    forward: Stage,
    backward: Stage,
) -> Option<std::ops::Range<usize>> {
    let overlap = file.get("overlap")?.table().ok()?;
    let entries = overlap.get(key.strip_prefix("overlap.")?)?.list()?;
    let is_it = |entry: &Value<'_>| {
        entry
            .table()
            .is_ok_and(|pair| stages_of_pair(&pair).is_ok_and(|stages| stages == (forward, backward)))
    };
    entries.iter().find(|entry| is_it(entry)).map(Value::span)
}

fn read_messages(
    messages: &Table<'_>,
    placement: &Placement,
    quantities: &Quantities,
) -> Result<Messages, FileError> {
    messages.only(&["occupancy", "link", "nodes"])?;
    let boundaries = placement.stages() as usize - 1;
    let occupancy = quantities.all_ticks(&messages.require("occupancy")?, boundaries, "stage boundaries")?;
    let link = messages.get("link");
    let links = match messages.get("nodes") {
        Some(value) => {
            if let Some(link) = link {
                return Err(link.error(TomlProblem::Contradiction {
                    key: link.key(),
                    value: link.text()?.to_owned(),
                    other: "`nodes` says which devices share a network card; state one of the two".to_owned(),
                }));
            }
            let lists = value.list().ok_or_else(|| value.wrong_type("the list of each node's devices"))?;
            let read_node = |list: &Value<'_>| -> Result<Vec<Device>, FileError> {
                let devices = list.list().ok_or_else(|| list.wrong_type("the list of a node's devices"))?;
                devices.iter().map(|device| device.count(0).map(Device)).collect()
            };
            Links::Nodes(lists.iter().map(read_node).collect::<Result<_, _>>()?)
        }
        None => match link.as_ref().map(Value::text).transpose()? {
            None | Some("pair") => Links::Pair,
            Some(found) => {
                let link = link.expect("it has a text");
                let problem =
                    TomlProblem::Name { key: link.key(), found: found.to_owned(), known: &["pair"] };
                return Err(link.error(problem));
            }
        },
    };
    Ok(Messages { occupancy, links })
}

fn read_step(step: &Table<'_>, placement: &Placement, quantities: &Quantities) -> Result<StepEnd, FileError> {
    step.only(&["reduce", "optimizer"])?;
    let stages = placement.stages() as usize;
    let read = |key| -> Result<Vec<Ticks>, FileError> {
        match step.get(key) {
            Some(value) => quantities.all_ticks(&value, stages, "stages"),
            None => Ok(vec![Ticks::ZERO; stages]),
        }
    };
    Ok(StepEnd { reduce: read("reduce")?, optimizer: read("optimizer")? })
}
