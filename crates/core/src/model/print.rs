//! The model file (TOML) as it is printed.

use std::fmt::Write as _;

use super::{Device, Links, Messages, Model, Overlap, PairDurations, Shape, Units, ranges};
use super::{offload, parts_file, recompute_file, sharding, transient_file};

/// The text of a model file that reads as this model. A list of equal values is written as one.
#[must_use]
pub fn print(model: &Model) -> String {
    let mut text = String::new();
    let quoted = |value: &str| toml::Value::String(value.to_owned()).to_string();
    let mut line = |arguments: std::fmt::Arguments<'_>| {
        text.write_fmt(arguments).expect("writing to a string cannot fail");
        text.push('\n');
    };
    line(format_args!("name = {}", quoted(model.name())));
    if let Some(source) = model.source() {
        line(format_args!("source = {}", quoted(source)));
    }
    let placement = model.placement();
    line(format_args!("\n[pipeline]\ndevices = {}", model.devices()));
    if placement.shape() == Shape::Explicit {
        let lists: Vec<String> = placement
            .lists()
            .iter()
            .map(|stages| list(stages.iter().map(|stage| i64::from(stage.0))))
            .collect();
        line(format_args!("placement = [{}]", lists.join(", ")));
    } else {
        line(format_args!("placement = \"{}\"", placement.shape()));
    }
    if let (Shape::Looped, Some(chunks)) = (placement.shape(), placement.chunks()) {
        line(format_args!("chunks = {chunks}"));
    }
    line(format_args!("microbatches = {}", model.microbatches()));

    let costs = model.costs();
    line(format_args!("\n[time]\nunit = {}", quoted(&costs.unit)));
    let low = model.low_ends().unwrap_or(costs);
    for ((key, values), (_, low)) in costs.lists().into_iter().zip(low.lists()) {
        let key = key.strip_prefix("time.").unwrap_or(key);
        if !values.is_empty() {
            line(format_args!("{key} = {}", one_or_list(low.iter().zip(values).map(ranges::print))));
        }
    }

    let memory = model.memory();
    line(format_args!("\n[memory]\nunit = {}", quoted(&memory.unit)));
    let units = |values: &[Units]| one_or_list(values.iter().map(|units| units.0));
    line(format_args!("activation = {}", units(&memory.activation)));
    line(format_args!("retained_for_weight = {}", units(&memory.retained_for_weight)));
    if memory.weights.iter().any(|&weights| weights > Units::ZERO) {
        line(format_args!("weights = {}", units(&memory.weights)));
    }
    match memory.capacity.iter().copied().collect::<Option<Vec<_>>>() {
        Some(capacity) => line(format_args!("capacity = {}", units(&capacity))),
        None if memory.capacity.iter().any(Option::is_some) => {
            let capacity = |capacity: &Option<Units>| {
                capacity.map_or("\"none\"".to_owned(), |capacity| capacity.to_string())
            };
            let capacities: Vec<String> = memory.capacity.iter().map(capacity).collect();
            line(format_args!("capacity = [{}]", capacities.join(", ")));
        }
        None => {}
    }
    for text in transient_file::lines(model.transient()) {
        line(format_args!("{text}"));
    }
    for text in model.recompute().iter().flat_map(recompute_file::lines) {
        line(format_args!("{text}"));
    }
    let Overlap { forward_backward, forward_input, parts } = model.overlap();
    if [forward_backward, forward_input].into_iter().any(|durations| *durations != PairDurations::Sum) {
        line(format_args!("\n[overlap]"));
        for (key, _, durations) in model.overlap().sorts() {
            let key = key.strip_prefix("overlap.").unwrap_or(key);
            match durations {
                PairDurations::Sum => {}
                PairDurations::Uniform(duration) => line(format_args!("{key} = {duration}")),
                PairDurations::Listed(durations) => {
                    line(format_args!("{key} = ["));
                    for ((forward, backward), duration) in durations {
                        line(format_args!(
                            "    {{ forward = {forward}, backward = {backward}, duration = {duration} }},"
                        ));
                    }
                    line(format_args!("]"));
                }
            }
        }
    }
    for text in parts_file::lines(parts) {
        line(format_args!("{text}"));
    }
    if let Some(Messages { occupancy, links }) = model.messages() {
        line(format_args!("\n[messages]"));
        line(format_args!("occupancy = {}", one_or_list(occupancy.iter().map(|ticks| ticks.0))));
        if let Links::Nodes(nodes) = links {
            let node = |devices: &Vec<Device>| list(devices.iter().map(|device| i64::from(device.0)));
            let nodes: Vec<String> = nodes.iter().map(node).collect();
            line(format_args!("nodes = [{}]", nodes.join(", ")));
        }
    }
    if let Some(step) = model.step() {
        line(format_args!("\n[step]"));
        for (key, values) in step.lists() {
            let key = key.strip_prefix("step.").unwrap_or(key);
            line(format_args!("{key} = {}", one_or_list(values.iter().map(|ticks| ticks.0))));
        }
    }
    if let Some(offload) = model.offload() {
        line(format_args!("\n[offload]\n{}", offload::lines(offload).join("\n")));
    }
    if let Some(sharding) = model.sharding() {
        line(format_args!("\n[sharding]\n{}", sharding::lines(sharding).join("\n")));
    }
    text
}

pub(super) fn one_or_list<T: ToString + PartialEq>(values: impl Iterator<Item = T> + Clone) -> String {
    let mut others = values.clone();
    match others.next() {
        Some(first) if others.all(|value| value == first) => first.to_string(),
        _ => list(values),
    }
}

fn list<T: ToString>(values: impl Iterator<Item = T>) -> String {
    let values: Vec<String> = values.map(|value| value.to_string()).collect();
    format!("[{}]", values.join(", "))
}
