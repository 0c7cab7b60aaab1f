//! The files of a design, read.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use super::manifest::{Design, DesignSource};
use crate::block::family::{self, Family};
use crate::files;
use crate::interchange::{self, Read};
use crate::model::{self, Model};
use crate::text::Escaped;

/// What a file of a design must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// A block family.
    Family,
    /// A model.
    Model,
    /// A schedule.
    Schedule,
}

/// Why the files of a design cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// There is no such file, or it is not text.
    #[error("cannot read {}: {error}", Escaped(&path.to_string_lossy()))]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
    /// It is not what it should be.
    #[error("{}: {message}", Escaped(&path.to_string_lossy()))]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Its text.
        text: String,
        /// What it should be.
        kind: FileKind,
        /// What is wrong.
        message: String,
    },
}

/// The files of a design.
#[derive(Debug, Clone, Default)]
pub struct Inputs {
    /// Every file by the path that the manifest gives, with its text.
    pub texts: BTreeMap<String, String>,
    /// The block family.
    pub family: Option<Family>,
    /// Further models of a family, by name.
    pub models: BTreeMap<String, Model>,
    /// The schedule with the model that it is judged under.
    pub schedule: Option<(Read, Model)>,
    /// The model of named schedules, or the design itself.
    pub model: Option<Model>,
}

impl Inputs {
    /// Reads the files of a design, which are named from a directory on.
    ///
    /// # Errors
    /// When one cannot be read or is not what it should be.
    pub fn read(design: &Design, directory: &Path) -> Result<Self, InputError> {
        let mut inputs = Self::default();
        match &design.subject {
            DesignSource::Family { file, models, .. } => {
                let text = inputs.text(directory, file)?;
                let family = family::parse(&text)
                    .map_err(|error| malformed(directory, file, text, FileKind::Family, error.to_string()))?;
                inputs.family = Some(family);
                for (name, file) in models {
                    let model = inputs.model_file(directory, file)?;
                    inputs.models.insert(name.clone(), model);
                }
            }
            DesignSource::Schedule { file, model } => {
                let text = inputs.text(directory, file)?;
                let read = interchange::read(&text).map_err(|error| {
                    malformed(directory, file, text.clone(), FileKind::Schedule, error.to_string())
                })?;
                let (placement, microbatches) =
                    (read.schedule.placement().clone(), read.schedule.microbatches());
                let model = match model {
                    Some(file) => {
                        sized(inputs.model_file(directory, file)?, placement.devices(), microbatches)
                    }
                    None => Model::unit(placement, microbatches).map_err(|error| {
                        malformed(directory, file, text, FileKind::Schedule, error.to_string())
                    })?,
                };
                inputs.schedule = Some((read, model));
            }
            DesignSource::Named { model: file, .. } | DesignSource::Model { file, .. } => {
                inputs.model = Some(inputs.model_file(directory, file)?);
            }
        }
        Ok(inputs)
    }

    fn text(&mut self, directory: &Path, file: &str) -> Result<String, InputError> {
        let path = directory.join(file);
        let text = files::read_text(&path).map_err(|error| InputError::Unreadable { path, error })?;
        self.texts.insert(file.to_owned(), text.clone());
        Ok(text)
    }

    fn model_file(&mut self, directory: &Path, file: &str) -> Result<Model, InputError> {
        let text = self.text(directory, file)?;
        let model = model::parse(&text).map_err(|error| error.to_string());
        let covered = model.and_then(|model| match uncovered(&model) {
            Some(message) => Err(message),
            None => Ok(model),
        });
        covered.map_err(|message| malformed(directory, file, text, FileKind::Model, message))
    }
}

/// A model at the size of a schedule, which may have been made for another size; what does not fit is for replay to say.
pub(super) fn sized(model: Model, devices: u32, microbatches: u32) -> Model {
    let sized = if model.devices() == devices { model } else { model.resized(devices).unwrap_or(model) };
    sized.with_microbatches(microbatches).unwrap_or(sized)
}

/// What a model says that records do not cover.
pub(super) fn uncovered(model: &Model) -> Option<String> {
    match model.beyond_passes() {
        Some(tables) => Some(format!("records do not cover {tables}")),
        None => model.low_ends().map(|_| "records do not cover ranges of durations in [time]".to_owned()),
    }
}

fn malformed(directory: &Path, file: &str, text: String, kind: FileKind, message: String) -> InputError {
    InputError::Malformed { path: directory.join(file), text, kind, message }
}
