//! What a command works on: a schedule, and the model under which it is judged.

use std::path::{Path, PathBuf};

use clap::Args;

use super::caveats;
use super::error::Error;
use super::family_input::{Expanded, expanded, model_of_size, no_block, placed_alike};
use super::input::{Input, read_model};
use super::list;
use super::memory_limit::{MemoryLimit, typed};
use super::output::note;
use super::remedy::Origin;
use super::size::Size;
use super::violations::{Complaint, count};
use crate::amounts;
use crate::block::Block;
use crate::block::family::{Family, FamilyError};
use crate::interchange::Read;
use crate::interchange::pytorch::{self, Dialect, Form};
use crate::model::{Model, Units};
use crate::schedule::Schedule;

/// A schedule with the options that choose its model.
#[derive(Debug, Clone, Args)]
pub struct ScheduleInputArgs {
    /// The schedule file, or a block family file with --devices and --microbatches; `-` reads standard input
    #[arg(value_name = "SCHEDULE")]
    schedule: PathBuf,

    /// The model file with times and memory; without it, unit times
    ///
    /// Without a model F, I, W and R take one tick, B two, messages none, every stage holds one unit
    /// of activation per microbatch, and memory has no limit; the passes of a block family take what the family says. The
    /// number of microbatches is always the schedule's.
    #[arg(long, value_name = "MODEL")]
    model: Option<PathBuf>,

    /// The number of devices, in place of the model's; of a block family, those to make the schedule for
    ///
    /// Needs a model that is the same on every stage. A schedule that was made with --devices records
    /// the number, so it can be omitted.
    #[arg(long, value_name = "N", value_parser = list::count)]
    devices: Option<u32>,

    /// The number of microbatches that the schedule is expected to have, or that a block family is repeated for
    #[arg(long, value_name = "N", value_parser = list::count)]
    microbatches: Option<u32>,

    #[command(flatten)]
    memory_limit: MemoryLimit,
}

/// A schedule and the model it is judged under.
#[derive(Debug)]
pub struct ScheduleInput {
    /// The schedule.
    pub schedule: Schedule,
    /// The model, at the size that was asked for.
    pub model: Model,
    /// Where the schedule is not what was asked for.
    pub complaints: Vec<Complaint>,
    /// The file, where it was PyTorch's CSV.
    pub csv: Option<pytorch::File>,
    /// Remarks on how the file was read and the model was chosen.
    pub notes: Vec<String>,
    /// Where they come from.
    pub origin: Origin,
}

impl ScheduleInputArgs {
    /// Reads the files and chooses the model's size. Prints the notes on standard error too.
    ///
    /// # Errors
    /// When a file is wrong, or the model cannot have the size or capacity asked for.
    pub fn read(&self) -> Result<ScheduleInput, Error> {
        self.of_input(&self.input()?)
    }

    /// The same for a file that has been read.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn of_input(&self, input: &Input) -> Result<ScheduleInput, Error> {
        if input.is_family() {
            self.with_family(&input.family()?)
        } else {
            self.with_schedule(input.schedule()?)
        }
    }

    /// A schedule with the options of another command.
    pub const fn new(
        schedule: PathBuf,
        model: Option<PathBuf>,
        size: Size,
        memory_limit: MemoryLimit,
    ) -> Self {
        let (devices, microbatches) = (size.devices(), size.microbatches());
        Self { schedule, model, devices, microbatches, memory_limit }
    }

    /// The same options for another schedule, and if one is given, another model.
    pub fn beside(&self, schedule: &Path, model: Option<&Path>) -> Self {
        let model = model.map(Path::to_owned).or_else(|| self.model.clone());
        Self { schedule: schedule.to_owned(), model, ..self.clone() }
    }

    /// Chooses the model of a schedule that has been read.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn with_schedule(&self, read: Read) -> Result<ScheduleInput, Error> {
        let schedule = &read.schedule;
        let mut notes: Vec<String> = read.csv.iter().map(how_read).collect();
        let model = if let Some(path) = &self.model {
            model_for(schedule, path, self.devices, &mut notes)?
        } else {
            notes.extend(schedule.model.as_ref().map(|name| {
                format!(
                    "using unit times and unlimited memory; pass --model to use {name}, the model that the schedule was made for"
                )
            }));
            Model::unit(schedule.placement().clone(), schedule.microbatches())
                .map_err(|error| Error::Usage { message: error.to_string(), help: None })?
        };
        self.judged(read, model, notes, false)
    }

    /// The schedule of a block family at the size asked for, under the family's own model if none is given.
    ///
    /// # Errors
    /// When the size is missing, or the family or the model has no such size.
    fn with_family(&self, family: &Family) -> Result<ScheduleInput, Error> {
        let Expanded { schedule, model, fault } =
            expanded(family, Size::new(self.devices, self.microbatches))?;
        let model = match &self.model {
            Some(path) => model_of_size(&schedule, path)?,
            None => model,
        };
        self.judged(Read { schedule, csv: None }, model, fault.into_iter().collect(), true)
    }

    /// Sets the memory limit, and says what is to be known about schedule and model.
    fn judged(
        &self,
        Read { schedule, csv }: Read,
        model: Model,
        mut notes: Vec<String>,
        of_family: bool,
    ) -> Result<ScheduleInput, Error> {
        let model = self.memory_limit.apply(model)?;
        notes.extend(self.note_on_capacity(&schedule, &model));
        notes.extend(caveats::worst_case(&model));
        notes.extend(caveats::unsplit_in(&model, &schedule));
        for text in &notes {
            note(text);
        }
        let complaints = self.complaints(&schedule);
        let origin = Origin {
            schedule: self.schedule.clone(),
            model: self.model.clone(),
            size: of_family.then(|| [schedule.devices(), schedule.microbatches()]),
            is_changed: self.memory_limit.is_given() || (self.devices.is_some() && !of_family),
        };
        Ok(ScheduleInput { schedule, model, complaints, csv, notes, origin })
    }

    /// The file that is given as the schedule.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn input(&self) -> Result<Input, Error> {
        Input::read(&self.schedule)
    }

    /// The block and the model of a family in place of a schedule: the family's own model, if none is
    /// given.
    ///
    /// # Errors
    /// When options are missing or wrong, or the family has no block for this number of devices.
    pub fn block_of(&self, family: &Family) -> Result<(Block, Model), Error> {
        let Some(devices) = self.devices else {
            return Err(Error::usage(
                format!("{} is a block family, so the number of devices is needed", family.name),
                "add --devices N",
            ));
        };
        if self.microbatches.is_some() {
            return Err(Error::usage(
                format!(
                    "{} is a block family, whose block is the same for every number of microbatches",
                    family.name
                ),
                "leave --microbatches out",
            ));
        }
        let wrong = |error: FamilyError| no_block(family, devices, &error);
        let block = family.block(devices).map_err(wrong)?;
        let model = match &self.model {
            Some(path) => {
                placed_alike(super::size::resized(&read_model(path)?, devices)?, block.placement())?
            }
            None => family.model(devices, 1).map_err(wrong)?,
        };
        if let Some(text) = caveats::worst_case(&model) {
            note(&text);
        }
        Ok((block, self.memory_limit.apply(model)?))
    }

    /// A capacity that the schedule was made for, but that is not the one it is judged under.
    fn note_on_capacity(&self, schedule: &Schedule, model: &Model) -> Option<String> {
        let memory = schedule.provenance.as_ref()?.memory?;
        let same = model.memory().capacity.iter().all(|&capacity| capacity == Some(Units(memory)));
        (self.model.is_some() && !self.memory_limit.is_given() && !same).then(|| {
            format!(
                "the schedule was made for a memory limit of {}; using the model's limits ({} sets that one)",
                amounts::memory(memory, &model.memory().unit),
                typed(memory, model)
            )
        })
    }

    /// Where the command line contradicts the schedule.
    fn complaints(&self, schedule: &Schedule) -> Vec<Complaint> {
        let microbatches = (schedule.microbatches(), self.microbatches, "microbatches");
        // With a model, replay compares the devices.
        let devices = (schedule.devices(), self.devices.filter(|_| self.model.is_none()), "devices");
        [devices, microbatches]
            .into_iter()
            .filter_map(|(has, asked, of)| {
                let asked = asked.filter(|&asked| asked != has)?;
                Some(Complaint::mismatch(format!("the schedule has {has} {of}, but --{of} asks for {asked}")))
            })
            .collect()
    }
}

/// The model in a file at the size of a schedule: with these devices if they are given, else with those that
/// the schedule was made for. What was changed is noted.
///
/// # Errors
/// When the file is wrong, or the model cannot have this number of devices.
pub fn model_for(
    schedule: &Schedule,
    path: &Path,
    devices: Option<u32>,
    notes: &mut Vec<String>,
) -> Result<Model, Error> {
    let mut model = read_model(path)?;
    if let Some(devices) = devices {
        model = super::size::resized(&model, devices)?;
    } else if made_for_another_size(schedule, &model)
        && let Ok(resized) = model.resized(schedule.devices())
    {
        notes.push(format!(
            "the schedule is for {} devices and the model has {}; using {0}",
            schedule.devices(),
            model.devices(),
        ));
        model = resized;
    }
    let microbatches = schedule.microbatches();
    if microbatches != model.microbatches() {
        notes.push(format!(
            "using the schedule's {} instead of the model's {}",
            count(microbatches as usize, "microbatch", "microbatches"),
            model.microbatches(),
        ));
        // One that overflows is left for replay to report as a violation.
        model = model.with_microbatches(microbatches).unwrap_or(model);
    }
    Ok(model)
}

/// The form and the dialect in which a CSV was read.
pub fn how_read(file: &pytorch::File) -> String {
    let form = match file.form {
        Form::ComputeOnly => "compute_only",
        Form::ComputeComms => "compute_comms",
    };
    let letters = match file.dialect {
        Dialect::Current => "",
        Dialect::Of2024 => ", in the letters of 2024: B is the input gradient, BW the full backward",
    };
    format!("read as PyTorch's CSV, {form}{letters}")
}

/// Whether a schedule states that it was made for this model with another number of devices.
fn made_for_another_size(schedule: &Schedule, model: &Model) -> bool {
    schedule.provenance.as_ref().is_some_and(|made| made.devices.is_some())
        && schedule.model.as_deref() == Some(model.name())
        && schedule.devices() != model.devices()
}
