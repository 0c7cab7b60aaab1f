//! What the gallery consists of. A test compares it with what is committed.

use std::error::Error;
use std::fmt::Write as _;

use bubbleproof::analysis::critical_path;
use bubbleproof::catalog::{self, Entry};
use bubbleproof::draw::{Part, Picture, Svg};
use bubbleproof::model::{Costs, Memory, Model, Placement, Shape, Ticks, Units};
use bubbleproof::replay::{Rate, replay};
use bubbleproof::schedule::Schedule;

/// The folder of the drawings, within `docs`.
pub const FOLDER: &str = "gallery";

/// The pipeline of all drawings: so many devices and microbatches, and these ticks for F, I and W of all that
/// a device holds. Two chunks halve them.
const DEVICES: u32 = 4;
const MICROBATCHES: u32 = 8;
const TIMES: [i64; 3] = [6, 8, 4];

/// Every file of the gallery: its path from `docs`, and its text.
pub fn files() -> Result<Vec<(String, String)>, Box<dyn Error>> {
    let [forward, input, weight] = TIMES;
    let mut page = format!(
        "# Gallery\n\n\
         These are the named schedules on {DEVICES} devices with {MICROBATCHES} microbatches. F takes {forward} ticks, I \
         {input} and W {weight}, divided by the number of chunks on a device; B takes as long as I and W, R as long as \
         F; messages take no time. So all schedules do the same work. The unit of memory is half of what the stages of \
         a device hold for one microbatch, which is one chunk's activation if the device has two chunks; a recomputed \
         stage keeps nothing. Weights are not counted; schedules in two directions hold two copies of them.\n\n\
         `cargo run --no-default-features --example gallery` writes this page and its drawings. \
         `bubbleproof render schedule.json -o timeline.svg` draws one schedule in the same way; with \
         `-o timeline.html` it writes a page in which you can zoom and inspect every pass.\n"
    );
    let mut files = Vec::new();
    let models = models()?;
    for entry in catalog::entries() {
        let mut fitting = models.iter().filter(|model| entry.needs.met_by(model.placement()));
        // What suits any placement is shown in its simplest form, the others with as many chunks as they may
        // have.
        let is_general = models.iter().all(|model| entry.needs.met_by(model.placement()));
        let model = if is_general { fitting.next() } else { fitting.next_back() };
        let model =
            model.ok_or_else(|| format!("no model of the gallery has the placement of {}", entry.name))?;
        let schedule = entry.generate(model)?;
        let path = format!("{FOLDER}/{}.svg", entry.name);
        files.push((path.clone(), drawing(model, &schedule)?));
        section(entry, model, &schedule, &path, &mut page)?;
    }
    files.push(("gallery.md".to_owned(), page));
    Ok(files)
}

/// The same pipeline under every placement: in one chunk per device, in two of half the size, and in two
/// directions, where a device has two stages of the whole size and a microbatch meets one of them.
fn models() -> Result<Vec<Model>, Box<dyn Error>> {
    let placements = [
        Placement::linear(DEVICES)?,
        Placement::looped(DEVICES, 2)?,
        Placement::v(DEVICES)?,
        Placement::bidirectional(DEVICES)?,
    ];
    placements.into_iter().map(model).collect()
}

fn model(placement: Placement) -> Result<Model, Box<dyn Error>> {
    let stages = placement.stages() as usize;
    let per_device = match placement.shape() {
        Shape::Bidirectional => 1,
        _ => i64::from(placement.stages() / placement.devices()),
    };
    let [forward, input, weight] = TIMES.map(|ticks| vec![Ticks(ticks / per_device); stages]);
    let costs = Costs {
        unit: "tick".to_owned(),
        forward,
        backward_input: input,
        backward_weight: weight,
        communication: vec![Ticks(0); stages - 1],
    };
    let activation = vec![Units(2 / per_device); stages];
    let memory = Memory {
        unit: "half-activation".to_owned(),
        retained_for_weight: activation.clone(),
        activation,
        checkpoint: Some(vec![Units(0); stages]),
        weights: vec![Units(0); stages],
        capacity: vec![None; placement.devices() as usize],
    };
    Ok(Model::new("6-8-4".to_owned(), None, placement, MICROBATCHES, costs, memory)?)
}

fn drawing(model: &Model, schedule: &Schedule) -> Result<String, Box<dyn Error>> {
    let verdict = replay(model, schedule);
    let timing = verdict.timing.as_ref().ok_or("a named schedule runs")?;
    let path = critical_path(model, schedule, timing);
    let picture = Picture::of(model, schedule, &verdict).ok_or("a named schedule runs")?;
    let picture = picture.with_critical_path(path.into_iter().map(|step| step.pass));
    Ok(picture.svg(&Svg { width: Some(960), hidden: vec![Part::Title], ..Svg::default() })?)
}

fn section(
    entry: &Entry,
    model: &Model,
    schedule: &Schedule,
    path: &str,
    page: &mut String,
) -> Result<(), Box<dyn Error>> {
    let verdict = replay(model, schedule);
    let timing = verdict.timing.as_ref().ok_or("a named schedule runs")?;
    let name = entry.name;
    write!(
        page,
        "\n## {name}\n\n{}. Makespan {}, bubble rate {} %, peak memory {}. Source: {}.\n\n![Timeline of {name}]({path})\n",
        entry.summary,
        timing.metrics.makespan,
        percent(timing.metrics.bubble_rate),
        verdict.peak_memory_max(),
        entry.source,
    )?;
    Ok(())
}

/// A rate in percent, rounded half up to two decimals.
fn percent(rate: Rate) -> String {
    let hundredths = (rate * 10_000 + Rate::new(1, 2)).floor().to_integer();
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}
