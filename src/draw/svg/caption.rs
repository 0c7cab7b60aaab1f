//! The caption of a drawing: what a paper says below it.

use super::layout::Layout;
use super::{Part, Svg};
use crate::amounts::{memory, memory_of, time};
use crate::draw::{Picture, meaning, percent};
use crate::model::{Kind, Shape};

/// What the drawing shows, what it amounts to, what colours and lines mean, and what is omitted, in sentences.
pub(super) fn caption(picture: &Picture<'_>, how: &Svg, layout: &Layout) -> String {
    let mut sentences =
        vec![subject(picture), figures(picture), colours(picture, how, layout.numbers.is_some())];
    sentences.extend(layout.omitted.as_ref().map(|(omitted, _)| omitted.sentence(picture)));
    sentences.iter().map(|sentence| format!("{}.", capital(sentence))).collect::<Vec<_>>().join(" ")
}

fn subject(picture: &Picture<'_>) -> String {
    let placement = match picture.schedule.placement().shape() {
        Shape::Linear => "one stage per device".to_owned(),
        Shape::V => "V placement, with two stages per device".to_owned(),
        Shape::Bidirectional => "the pipeline in both directions, with two stages per device".to_owned(),
        _ => format!("{} stages per device", picture.chunks()),
    };
    format!("{}, {placement}", picture.title())
}

/// The same figures that `replay` gives.
fn figures(picture: &Picture<'_>) -> String {
    let metrics = &picture.timing.metrics;
    let unit = &picture.model.memory().unit;
    let most = picture.devices().max_by_key(|device| picture.peak_memory[device.index()]);
    let peak = most.map(|device| (picture.peak_memory[device.index()].0, picture.capacity(device)));
    let peak = match peak {
        Some((peak, Some(capacity))) if capacity.0 == peak => {
            format!("{}, which is the memory limit", memory(peak, unit))
        }
        Some((peak, Some(capacity))) => match memory_of(peak, capacity.0, unit) {
            amounts if amounts.ends_with(|last: char| last.is_ascii_digit()) => format!("{amounts} {unit}"),
            amounts => amounts,
        },
        Some((peak, None)) => memory(peak, unit),
        None => memory(0, unit),
    };
    let name = if picture.without_weights { "peak activation memory" } else { "peak memory" };
    format!(
        "the makespan is {}, the bubble rate {} %, the {name} {peak}",
        time(metrics.makespan.0, &picture.model.costs().unit),
        percent(metrics.bubble_rate, 2)
    )
}

fn colours(picture: &Picture<'_>, how: &Svg, numbers: bool) -> String {
    let kinds = picture.kinds().into_iter().enumerate();
    let mut meanings: Vec<String> = kinds
        .map(|(at, kind)| {
            let is = if at == 0 { " is" } else { "" };
            format!("{}{is} the {} ({kind})", colour(kind), meaning(kind))
        })
        .collect();
    meanings.push("light grey a bubble".to_owned());
    if let Some(shades) = picture.shades() {
        meanings.push(format!("shades are chunks ({shades})"));
    }
    if numbers {
        meanings.push("numbers are microbatches".to_owned());
    }
    if how.shows(Part::CriticalPath) && !picture.critical.is_empty() {
        meanings.push("the black line is the critical path".to_owned());
    }
    if how.shows(Part::Memory) {
        let limit = picture.devices().any(|device| picture.capacity(device).is_some());
        let limit = if limit { ", with its limit (dashed)" } else { "" };
        meanings.push(format!("the curve below each device is its memory{limit}"));
    }
    meanings.join(", ")
}

/// What the colour of a kind of pass is called.
const fn colour(kind: Kind) -> &'static str {
    match kind {
        Kind::F => "blue",
        Kind::R => "grey",
        Kind::I => "orange",
        Kind::W => "green",
        Kind::B => "purple",
    }
}

/// A sentence with a capital letter at its beginning, unless it begins with a name, whose letters stay.
fn capital(sentence: &str) -> String {
    match sentence.strip_prefix("the ") {
        Some(rest) => format!("The {rest}"),
        None => match sentence.split_once(' ') {
            Some((first @ ("blue" | "grey" | "orange" | "green" | "purple"), rest)) => {
                format!("{}{} {rest}", first[..1].to_ascii_uppercase(), &first[1..])
            }
            _ => sentence.to_owned(),
        },
    }
}
