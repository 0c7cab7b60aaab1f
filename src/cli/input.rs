//! Reading the files that commands are given. Whatever is wrong with one is reported at its place.

use std::fs;
use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;

use serde::Deserialize;

use super::error::{Error, Located};
use super::excerpt::Excerpt;
use super::json_place::{key_at_top, offset_of};
use crate::block::family::{self, Family};
use crate::interchange::{self, ReadError};
use crate::model::reading::{self, FileError};
use crate::model::{self, Model};
use crate::prove::{WITNESS_FORMAT, Witness};
use crate::schedule::{self, ScheduleError, ScheduleFileError};

/// A file that has been read: its name for messages, and its text.
#[derive(Debug)]
pub struct Input {
    name: String,
    text: String,
}

impl Input {
    /// Reads a file; `-` is standard input.
    ///
    /// # Errors
    /// When it cannot be read or is not UTF-8.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let (name, bytes) = if path.as_os_str() == "-" {
            let mut bytes = Vec::new();
            let read = io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes);
            ("standard input".to_owned(), read)
        } else {
            (path.display().to_string(), fs::read(path))
        };
        let bytes = bytes.map_err(|source| Error::Read { path: name.clone(), source })?;
        match String::from_utf8(bytes) {
            Ok(text) => Ok(Self { name, text }),
            Err(error) => Err(Error::NotText { path: name, at: error.utf8_error().valid_up_to() }),
        }
    }

    /// A file that was read already.
    pub const fn of(name: String, text: String) -> Self {
        Self { name, text }
    }

    /// The text as a model.
    ///
    /// # Errors
    /// When it is none.
    pub fn model(&self) -> Result<Model, Error> {
        model::parse(&self.text).map_err(|error| self.toml_error(&error))
    }

    /// The text as a block family.
    ///
    /// # Errors
    /// When it is none.
    pub fn family(&self) -> Result<Family, Error> {
        family::parse(&self.text).map_err(|error| self.toml_error(&error))
    }

    /// Whether the text describes a block family and no model: only families have `[[pass]]`.
    pub fn is_family(&self) -> bool {
        reading::document(&self.text).is_ok_and(|document| reading::root(&document).get("pass").is_some())
    }

    /// The text as a schedule: our own JSON, or PyTorch's CSV.
    ///
    /// # Errors
    /// When it is neither.
    pub fn schedule(&self) -> Result<interchange::Read, Error> {
        match interchange::read(&self.text) {
            Ok(read) => Ok(read),
            Err(ReadError::Schedule(error)) => Err(self.schedule_error(&error)),
            Err(ReadError::PyTorch(error)) => {
                let help = (error.row == 1 && error.column == 1).then(not_a_schedule);
                Err(self.error(error.to_string(), "here", error.span, help))
            }
        }
    }

    /// The text as a witness about a block family; nothing when it does not say that it is one.
    ///
    /// # Errors
    /// When it says so and is none.
    pub fn witness(&self) -> Result<Option<Witness>, Error> {
        #[derive(Deserialize)]
        struct Format {
            format: String,
        }
        let says = serde_json::from_str::<Format>(&self.text).is_ok_and(|file| file.format == WITNESS_FORMAT);
        if !says {
            return Ok(None);
        }
        serde_json::from_str(&self.text).map(Some).map_err(|error| {
            let at = offset_of(&self.text, error.line(), error.column());
            self.error(format!("this is not a witness: {error}"), "here", at..at, None)
        })
    }

    fn toml_error(&self, error: &FileError) -> Error {
        self.error(error.to_string(), "here", error.span.clone(), error.problem.help())
    }

    fn schedule_error(&self, error: &ScheduleFileError) -> Error {
        let key = |key: &str| key_at_top(&self.text, key).unwrap_or(0..0);
        let (span, help) = match error {
            ScheduleFileError::Json { line, column, .. } => {
                let at = offset_of(&self.text, *line, *column);
                (at..at, None)
            }
            ScheduleFileError::Format(_) => (key("format"), None),
            ScheduleFileError::Placement(_) => {
                (key("placement"), Some("`placement` lists the stages of each device: [[0], [1]]".to_owned()))
            }
            ScheduleFileError::Directions(_) => (key("directions"), None),
            ScheduleFileError::Orders(ScheduleError::Orders { .. } | ScheduleError::NoPair { .. }) => {
                (key("orders"), None)
            }
            ScheduleFileError::Orders(_) => (key("microbatches"), None),
        };
        self.error(error.to_string(), "here", span, help)
    }

    fn error(&self, message: String, label: &'static str, span: Range<usize>, help: Option<String>) -> Error {
        let excerpt = Excerpt::new(&self.name, &self.text);
        Error::Located(Box::new(Located { message, label, span, help, excerpt }))
    }
}

/// Advice for a text that fails in its first cell as a CSV: it may not have been meant to be one.
fn not_a_schedule() -> String {
    format!(
        "a schedule is a JSON object with \"format\": \"{}\", or one of PyTorch's CSV files, which have a \
         row of passes for each rank",
        schedule::FORMAT
    )
}

/// Reads a model file.
///
/// # Errors
/// When it cannot be read or is no model.
pub fn read_model(path: &Path) -> Result<Model, Error> {
    Input::read(path)?.model()
}
