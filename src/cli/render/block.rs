//! `render --block`: a building block in place of a schedule, as a table or as an SVG.

use std::fmt;

use num_integer::Integer;
use num_rational::Ratio;
use serde::Serialize;

use super::{Form, RenderArgs, Rendered};
use crate::amounts::Amounts;
use crate::block::Block;
use crate::block::family::Family;
use crate::catalog;
use crate::cli::error::{Error, Status};
use crate::cli::file_name::FileName;
use crate::cli::input::Input;
use crate::cli::number::Interval;
use crate::cli::output::{Output, Target, note};
use crate::cli::table::Table;
use crate::cli::violations::count;
use crate::draw::{BlockPicture, BlockPictureError, blocks};
use crate::model::{Device, Kind, Microbatch, Model, Pass, Stage, Ticks};

/// A family at a number of devices.
struct Subject {
    family: Family,
    block: Block,
    model: Model,
}

/// Draws the blocks of the families that are given in place of schedules.
///
/// # Errors
/// When a file is no family, a family has no block for this number of devices, or an option has no meaning here.
pub fn run(args: &RenderArgs, form: Form, output: Output) -> Result<Status, Error> {
    check(args, form)?;
    let mut subjects = vec![subject(args, &args.subject.input()?)?];
    for path in &args.more {
        subjects.push(subject(args, &Input::read(path)?)?);
    }
    for subject in &subjects {
        let faults = subject.block.faults(&subject.model);
        if let Some(first) = faults.first() {
            let faults = count(faults.len(), "fault", "faults");
            note(&format!("the block of {} has {faults}: {first}", subject.family.name));
        }
    }
    let is_repeatable = subjects.iter().all(|subject| subject.block.faults(&subject.model).is_empty());
    let Some(path) = &args.output else {
        output.print(&Tables { blocks: subjects.iter().map(BlockTable::of).collect() })?;
        return Ok(Status::of(is_repeatable));
    };
    let target = output.target(path)?;
    let text = if form == Form::Svg {
        let pictures = subjects.iter().map(picture).collect::<Result<Vec<_>, _>>();
        pictures.and_then(|pictures| blocks(&pictures, args.width)).map_err(|error| refused(&error))?
    } else {
        Tables { blocks: subjects.iter().map(BlockTable::of).collect() }.to_string()
    };
    target.write(|out| out.write_all(text.as_bytes()))?;
    if target != Target::Stdout {
        output.print(&Rendered::Written { written: FileName::of(path), caption: None })?;
    }
    Ok(Status::of(is_repeatable))
}

fn refused(error: &BlockPictureError) -> Error {
    let help = match error {
        BlockPictureError::TooNarrow { .. } => "choose a larger --width, or draw fewer blocks",
        _ => "choose fewer devices, or a coarser unit of time",
    };
    Error::usage(error.to_string(), help)
}

/// Refuses options that have no meaning for a block.
fn check(args: &RenderArgs, form: Form) -> Result<(), Error> {
    if matches!(form, Form::Page | Form::Trace) {
        return Err(Error::usage(
            "--block draws an SVG or prints a table, no page and no trace",
            "give `-o` a name that ends in `.svg`, or leave it out",
        ));
    }
    let given = [
        ("--more-model", args.more_model.is_some()),
        ("--height", args.height.is_some()),
        ("--hide", !args.hide.is_empty()),
        ("--caption", args.caption),
    ];
    let given = given.into_iter().find_map(|(option, given)| given.then_some(option));
    if let Some(option) = given.or(args.extent.given()) {
        return Err(Error::usage(
            format!("{option} has no meaning for a block"),
            format!("leave {option} out, or leave --block out to draw a schedule"),
        ));
    }
    if form == Form::Text && args.width.is_some() {
        return Err(Error::usage("the table of a block has no width", "leave --width out"));
    }
    Ok(())
}

fn subject(args: &RenderArgs, input: &Input) -> Result<Subject, Error> {
    if !input.is_family() {
        return Err(Error::usage(
            "--block draws block families, and this file has no [[pass]] tables",
            "give a family such as models/blocks/v-half.toml, or leave --block out to draw a schedule",
        ));
    }
    let family = input.family()?;
    let (block, model) = args.subject.block_of(&family)?;
    Ok(Subject { block: block.from_zero(), family, model })
}

/// The picture of a block, with what the builder of the catalogue makes of its copies, where that has one for this block.
fn picture(subject: &Subject) -> Result<BlockPicture<'_>, BlockPictureError> {
    let Subject { family, block, model } = subject;
    let picture = BlockPicture::new(&family.name, block, model)?;
    let known = catalog::block(&family.name, block.placement()).map(Block::from_zero);
    let entry = catalog::find(&family.name).filter(|_| known.as_ref() == Some(block));
    let Some(entry) = entry else { return Ok(picture) };
    let model = model.clone().with_microbatches(picture.microbatches())?;
    match entry.generate(&model) {
        Ok(schedule) => picture.with_reordering(&schedule.named(&family.name)),
        // A limit that the builder cannot keep to: the other steps are drawn.
        Err(_) => Ok(picture),
    }
}

/// The tables of one or several blocks.
#[derive(Serialize)]
struct Tables<'a> {
    blocks: Vec<BlockTable<'a>>,
}

/// A block as a table. Times are in ticks, exact.
#[derive(Serialize)]
struct BlockTable<'a> {
    name: &'a str,
    devices: u32,
    /// How many microbatches start in an interval.
    period: u32,
    interval: Interval,
    time_unit: &'a str,
    memory_unit: &'a str,
    passes: Vec<PlacedPass>,
    /// By stage: from the start of F to the end of the last backward.
    lifespans: Vec<Interval>,
    /// By device: the most that activations take in the steady phase.
    activation_peak: Vec<i64>,
    #[serde(skip)]
    block: &'a Block,
    #[serde(skip)]
    model: &'a Model,
}

/// A pass with its place, in ticks.
#[derive(Serialize)]
struct PlacedPass {
    device: u32,
    pass: Pass,
    offset: Interval,
    end: Interval,
    /// The offset modulo the interval.
    residue: Interval,
}

impl<'a> BlockTable<'a> {
    fn of(subject: &'a Subject) -> Self {
        let Subject { family, block, model } = subject;
        let ticks = |parts: i64| Interval(Ratio::new(parts, block.parts()));
        let interval = block.interval_parts().0;
        let placed = |device: Device| {
            block.passes_of(device).map(move |(pass, offset)| PlacedPass {
                device: device.0,
                pass,
                offset: ticks(offset.0),
                end: ticks((offset + block.duration(model, pass)).0),
                residue: ticks(offset.0.mod_floor(&interval)),
            })
        };
        let placement = block.placement();
        Self {
            name: &family.name,
            devices: placement.devices(),
            period: block.period(),
            interval: Interval(block.interval()),
            time_unit: &model.costs().unit,
            memory_unit: &model.memory().unit,
            passes: Device::all(placement.devices()).flat_map(placed).collect(),
            lifespans: Stage::all(placement.stages())
                .map(|stage| ticks(block.lifespan(model, stage).0))
                .collect(),
            activation_peak: block.steady_peak(model).iter().map(|peak| peak.0).collect(),
            block,
            model,
        }
    }

    /// A number of parts of a tick.
    fn ticks(&self, parts: Ticks) -> Ratio<i64> {
        Ratio::new(parts.0, self.block.parts())
    }

    /// The stages: offsets and lifespans.
    fn stages(&self, amounts: Amounts<'_>) -> Table {
        let mut table = Table::new(["stage", "device", "F", "R", "I", "W", "B", "lifespan", "intervals"]);
        let placement = self.block.placement();
        for stage in Stage::all(placement.stages()) {
            let offset = |kind| {
                let copies = Microbatch::all(self.period)
                    .filter_map(|copy| self.block.offset(Pass::new(stage, kind, copy)));
                copies.map(|at| amounts.time_or_count(self.ticks(at))).collect::<Vec<_>>().join(", ")
            };
            let lifespan = self.block.lifespan(self.model, stage);
            table.row([
                stage.to_string(),
                placement.device_of(stage).to_string(),
                offset(Kind::F),
                offset(Kind::R),
                offset(Kind::I),
                offset(Kind::W),
                offset(Kind::B),
                amounts.time_or_count(self.ticks(lifespan)),
                intervals(lifespan.0, self.block.interval_parts().0),
            ]);
        }
        // From the right, so that the places of the others stay.
        let columns = [(6, Kind::B), (5, Kind::W), (4, Kind::I), (3, Kind::R)];
        let occurs = |kind| self.passes.iter().any(|placed| placed.pass.kind == kind);
        columns
            .into_iter()
            .filter(|&(_, kind)| !occurs(kind))
            .fold(table, |table, (column, _)| table.without(column))
    }

    /// The devices: their passes modulo the interval, in the order in which they run, and their peaks.
    fn pattern(&self, amounts: Amounts<'_>) -> Table {
        let mut table = Table::new(["device", "peak", "passes modulo the interval"]);
        let interval = self.block.interval_parts().0;
        for device in Device::all(self.devices) {
            let mut passes: Vec<(i64, Pass)> = self
                .block
                .passes_of(device)
                .map(|(pass, offset)| (offset.0.mod_floor(&interval), pass))
                .collect();
            passes.sort_unstable_by_key(|&(at, pass)| (at, pass.stage, pass.kind as usize));
            let shown = passes.iter().map(|(at, pass)| {
                let copy = if self.period > 1 { pass.microbatch.to_string() } else { String::new() };
                format!(
                    "{}{}{copy} at {}",
                    pass.stage,
                    pass.kind,
                    amounts.time_or_count(self.ticks(Ticks(*at)))
                )
            });
            table.row([
                device.to_string(),
                amounts.further_memory(self.activation_peak[device.index()]),
                shown.collect::<Vec<_>>().join(", "),
            ]);
        }
        table
    }
}

/// A number of intervals with two decimals, rounded half up.
fn intervals(parts: i64, interval: i64) -> String {
    let hundredths =
        Integer::div_floor(&(i128::from(parts) * 200 + i128::from(interval)), &(2 * i128::from(interval)));
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

impl fmt::Display for BlockTable<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let amounts = Amounts::new(out.alternate(), self.time_unit, self.memory_unit);
        let devices = count(self.devices as usize, "device", "devices");
        let interval = amounts.time_or_count(self.ticks(self.block.interval_parts()));
        let unit = amounts.counted().map_or_else(String::new, |unit| format!("; times in {unit}"));
        write!(out, "{}: {devices}, interval T = {interval}", self.name)?;
        if self.period > 1 {
            write!(out, " for {} microbatches", self.period)?;
        }
        writeln!(out, "{unit}, memory in {}\n", self.memory_unit)?;
        write!(out, "{}\n{}", self.stages(amounts), self.pattern(amounts))
    }
}

impl fmt::Display for Tables<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, block) in self.blocks.iter().enumerate() {
            if at > 0 {
                writeln!(out)?;
            }
            block.fmt(out)?;
        }
        Ok(())
    }
}
