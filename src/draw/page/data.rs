//! What a page knows of its schedules: JSON, packed.
//!
//! A pass is a class of its device (stage, kind, chunk, ticks, memory, needs), its microbatch as a step from
//! the last pass of that class, and how long its device was idle before it. Steps and waits are runs. That
//! is all of its time, for a device runs one pass at a time.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Clock, PageError, lanes};
use crate::analysis::{Span, latency};
use crate::draw::Picture;
use crate::draw::colour::{Colour, Ground};
use crate::draw::marks::unit_sizes;
use crate::model::{Device, Kind, Microbatch, Pass, Stage, Ticks, Units};
use crate::replay::Held;
use crate::schedule::prerequisites;

/// The largest integer up to which a browser counts exactly.
const EXACT: i64 = 1 << 53;

/// Everything.
#[derive(Serialize)]
struct Data {
    schedules: Vec<Timeline>,
}

/// One schedule in time.
#[derive(Serialize)]
struct Timeline {
    title: String,
    time_unit: String,
    memory_unit: String,
    /// The units in which amounts of memory are shown, each with its size in the unit of memory, the smallest first.
    memory_scale: Vec<(&'static str, i128)>,
    makespan: Ticks,
    microbatches: u32,
    stages: u32,
    /// The most that any device holds or may hold.
    most_memory: Units,
    phases: Vec<(&'static str, Ticks, Ticks)>,
    /// By theme, kind and chunk: the colour of a pass, and that of text on it.
    colours: BTreeMap<&'static str, Shades>,
    devices: Vec<Row>,
    /// Devices and positions along the critical path.
    critical: Vec<(u32, usize)>,
    /// What runs beside and behind the passes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    lanes: Vec<lanes::Lane>,
}

/// By kind and chunk, or kind of work: fill and ink.
type Shades = BTreeMap<char, Vec<(String, &'static str)>>;

/// What a device runs.
#[derive(Serialize)]
struct Row {
    capacity: Option<Units>,
    peak: Units,
    /// What lies there all the time: weights.
    resident: Units,
    classes: Vec<Class>,
    /// The class of each pass.
    passes: Vec<usize>,
    /// By how much the microbatch of each pass is above that of the last one of its class; runs.
    steps: Vec<i64>,
    /// How long the device is idle before each pass; runs.
    waits: Vec<i64>,
    /// The positions of the first passes of overlapped pairs.
    pairs: Vec<usize>,
}

/// Stage, kind, chunk, ticks, what is acquired at the start and released at the end, and needs.
type Class = (u32, char, usize, Ticks, Units, Units, Vec<(u32, char, Ticks)>);

/// The JSON of these pictures, which is safe in a script element.
pub(in crate::draw) fn of(pictures: &[Picture<'_>], clock: &Clock) -> Result<String, PageError> {
    let schedules = pictures.iter().map(|picture| timeline(picture, clock)).collect::<Result<_, _>>()?;
    let json = serde_json::to_string(&Data { schedules }).expect("numbers and texts are JSON");
    Ok(json.replace('<', "\\u003c"))
}

fn timeline(picture: &Picture<'_>, clock: &Clock) -> Result<Timeline, PageError> {
    let units = clock.units_per_tick(picture);
    let makespan = picture.makespan();
    if makespan.0.checked_mul(units).is_none_or(|makespan| makespan > EXACT) {
        return Err(PageError::TooLong(makespan));
    }
    let makespan = makespan * units;
    let capacities = picture.devices().filter_map(|device| picture.capacity(device));
    let most_memory = capacities.chain(picture.peak_memory.iter().copied()).max().unwrap_or_default();
    if most_memory.0 > EXACT {
        return Err(PageError::TooMuch(most_memory));
    }
    let chunks = picture.chunks();
    let colours = [("light", Ground::Light), ("dark", Ground::Dark)].map(|(name, ground)| {
        let shades = |kind| {
            let colour = move |chunk| Colour::of(kind, chunk, chunks, ground);
            (0..chunks).map(|chunk| (colour(chunk).hex(), colour(chunk).ink())).collect()
        };
        let passes = picture.kinds().into_iter().map(|kind| (kind.letter(), shades(kind)));
        (name, passes.chain(lanes::colours(picture, ground)).collect())
    });
    let memory = picture.memory();
    Ok(Timeline {
        title: picture.title(),
        time_unit: clock.unit.clone(),
        memory_unit: picture.model.memory().unit.clone(),
        memory_scale: unit_sizes(&picture.model.memory().unit, true),
        makespan,
        microbatches: picture.schedule.microbatches(),
        stages: picture.schedule.placement().stages(),
        most_memory,
        phases: picture
            .phases()
            .list()
            .map(|(phase, from, to)| (phase.name(), from * units, to * units))
            .collect(),
        colours: colours.into_iter().collect(),
        devices: picture
            .devices()
            .map(|device| row(picture, device, &memory[device.index()], units))
            .collect(),
        critical: picture.critical.iter().map(|&(device, position)| (device.0, position)).collect(),
        lanes: lanes::of(picture, units),
    })
}

/// The row of a device, where a tick is `units` units of the axis.
fn row(picture: &Picture<'_>, device: Device, memory: &[Held], units: i64) -> Row {
    let (mut classes, mut known) = (Vec::new(), BTreeMap::new());
    let (mut passes, mut steps, mut waits) = (Vec::new(), Vec::new(), Vec::new());
    // By class: the microbatch of its last pass.
    let mut last: Vec<i64> = Vec::new();
    let resident = picture.model.resident(device);
    let (mut free, mut live) = (Ticks::ZERO, resident);
    for (Span { pass, start, end }, held) in picture.passes(device).zip(memory) {
        let (takes, gives) = (held.during - live, held.during - held.after);
        let class = *known.entry((pass.stage, pass.kind, end - start, takes, gives)).or_insert_with(|| {
            let chunk = picture.chunk(pass);
            let needs = needs(picture, pass, units);
            let ticks = (end - start) * units;
            classes.push((pass.stage.0, pass.kind.letter(), chunk, ticks, takes, gives, needs));
            last.push(-1);
            classes.len() - 1
        });
        passes.push(class);
        let microbatch = i64::from(pass.microbatch.0);
        steps.push(microbatch - last[class]);
        last[class] = microbatch;
        waits.push((start - free).0 * units);
        (free, live) = (end, held.after);
    }
    Row {
        capacity: picture.capacity(device),
        peak: picture.peak_memory[device.index()],
        resident,
        classes,
        passes,
        steps: runs(&steps),
        waits: runs(&waits),
        pairs: picture.schedule.overlaps(device).to_vec(),
    }
}

/// The passes of the same microbatch that a pass may need, with the latency of what they send: whichever of
/// them the schedule has are needed.
fn needs(picture: &Picture<'_>, pass: Pass, units: i64) -> Vec<(u32, char, Ticks)> {
    let placement = picture.schedule.placement();
    let mut found: BTreeMap<(Stage, Kind), Ticks> = BTreeMap::new();
    for backward in [Kind::B, Kind::I] {
        let pass = Pass { microbatch: Microbatch(0), ..pass };
        let present = |other: Pass| other.kind == backward || other.kind == Kind::R;
        for needed in prerequisites(pass, placement, present) {
            found.insert((needed.stage, needed.kind), latency(picture.model, needed, pass) * units);
        }
    }
    found.into_iter().map(|((stage, kind), latency)| (stage.0, kind.letter(), latency)).collect()
}

/// Values as runs: value, count, value, count, ...
fn runs(values: &[i64]) -> Vec<i64> {
    let mut runs: Vec<i64> = Vec::new();
    for &value in values {
        match runs.as_mut_slice() {
            [.., last, count] if *last == value => *count += 1,
            _ => runs.extend([value, 1]),
        }
    }
    runs
}
