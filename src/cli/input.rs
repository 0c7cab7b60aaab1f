//! Reading the files that commands are given. Whatever is wrong with one is reported at its place.

use std::io;
use std::ops::Range;
use std::path::Path;

use serde::Deserialize;

use super::error::{Error, Located};
use super::excerpt::Excerpt;
use super::file_kind::FileKind;
use super::file_name::FileName;
use super::output::note;
use crate::block::family::{self, Family};
use crate::fault::{Fault, key_at_top, offset_of};
use crate::files;
use crate::interchange::{self, ReadError};
use crate::job::{self, Job};
use crate::model::reading::{self, FileError};
use crate::model::{self, Model};
use crate::prove::{WITNESS_FORMAT, Witness};
use crate::trace::Trace;
use crate::trace::file as trace_file;
use crate::trace::megatron::{self, MegatronError};
use crate::trace::primus::{self, PrimusError};
use crate::trace::profiler::{self, ProfilerError};
use crate::trace::recording::Recording;
use crate::transformer::{self, Transformer};

/// What was measured, in one of the forms that it comes in.
#[derive(Debug)]
pub enum Measurement {
    /// A trace file: a whole run.
    Trace(Box<Trace>),
    /// What torch.profiler wrote: one rank of a run.
    Recording(Recording),
    /// What MegatronApp wrote: all ranks of one run, or of several.
    Runs(Vec<megatron::Run>),
    /// What Primus dumped of one rank of a run.
    Dump(primus::Dump),
    /// What Primus dumped of the run as a whole.
    DumpConfig(primus::Config),
}

/// A file that has been read: its name for messages, and its text.
#[derive(Debug)]
pub struct Input {
    name: FileName,
    text: String,
}

impl Input {
    /// Reads a file; `-` is standard input. What gzip packed is unpacked.
    ///
    /// # Errors
    /// When it cannot be read, does not end, or is not UTF-8.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let (name, bytes) = if path.as_os_str() == "-" {
            (FileName::called("standard input"), files::read_from(io::stdin().lock(), files::MOST_READ))
        } else {
            (FileName::of(path), files::read(path))
        };
        let bytes = bytes.and_then(unpacked).map_err(|error| Error::Read { path: name.clone(), error })?;
        if bytes.starts_with(b"PAR1") {
            return Err(Error::usage(
                format!("{name} is a Parquet table, which cannot be read here"),
                "measure/published/bytedance.py converts ByteDance's tables of operations to traces",
            ));
        }
        match String::from_utf8(bytes) {
            Ok(text) => Ok(Self { name, text }),
            Err(error) => Err(Error::NotText { path: name, at: error.utf8_error().valid_up_to() }),
        }
    }

    /// A file that was read already.
    pub const fn of(name: FileName, text: String) -> Self {
        Self { name, text }
    }

    /// The text as a model. How its amounts were scaled is noted.
    ///
    /// # Errors
    /// When it is none.
    pub fn model(&self) -> Result<Model, Error> {
        if self.is_job() {
            return Err(self.mistaken(FileKind::Job, FileKind::Model));
        }
        let file = model::read(&self.text)
            .map_err(|error| self.misread(FileKind::Model, || self.toml_error(&error)))?;
        if let Some(text) = file.scaling() {
            note(&text);
        }
        Ok(file.model)
    }

    /// The text as a block family.
    ///
    /// # Errors
    /// When it is none.
    pub fn family(&self) -> Result<Family, Error> {
        family::parse(&self.text)
            .map_err(|error| self.misread(FileKind::Family, || self.fault(Fault::of_family(&error))))
    }

    /// Whether the text describes a block family and no model: only families have `[[pass]]`. JSON is neither,
    /// and its first letter shows that without reading the rest.
    pub fn is_family(&self) -> bool {
        !self.text.trim_start().starts_with('{')
            && reading::document(&self.text)
                .is_ok_and(|document| reading::root(&document).get("pass").is_some())
    }

    /// Whether the text describes a job and no model: only jobs have `layers`.
    pub fn is_job(&self) -> bool {
        !self.text.trim_start().starts_with('{')
            && reading::document(&self.text)
                .is_ok_and(|document| reading::root(&document).get("layers").is_some())
    }

    /// That the text is no job, and what it is.
    pub fn no_job(&self) -> Error {
        self.misread(FileKind::Job, || match reading::document(&self.text) {
            Err(error) => self.toml_error(&error),
            Ok(_) => Error::usage(
                "this is not a job file: it has no `layers`",
                "a job file lists layers, [machine] and [choices], as models/jobs/llama-32.toml does; `optimize` takes \
                 model files",
            ),
        })
    }

    /// What is wrong with a text that cannot be read as one kind of file: that it is of another kind, or else this.
    fn misread(&self, wanted: FileKind, otherwise: impl FnOnce() -> Error) -> Error {
        match FileKind::of(&self.text) {
            Some(found) if found != wanted => self.mistaken(found, wanted),
            _ => otherwise(),
        }
    }

    /// That the text is one kind of file in place of another.
    fn mistaken(&self, found: FileKind, wanted: FileKind) -> Error {
        let message = match found {
            FileKind::Empty => format!("{} is empty", self.name),
            found => format!("{} is {found}, not {wanted}", self.name),
        };
        Error::Usage { message, help: found.instead_of(wanted).map(str::to_owned) }
    }

    /// The text as a job.
    ///
    /// # Errors
    /// When it is none.
    pub fn job(&self) -> Result<Job, Error> {
        job::parse(&self.text).map_err(|error| self.misread(FileKind::Job, || self.toml_error(&error)))
    }

    /// The text as dimensions of a transformer.
    ///
    /// # Errors
    /// When it is none.
    pub fn transformer(&self) -> Result<Transformer, Error> {
        transformer::parse(&self.text)
            .map_err(|error| self.misread(FileKind::Transformer, || self.toml_error(&error)))
    }

    /// Whether the text can only be JSON, by its first letter.
    pub fn is_json(&self) -> bool {
        self.text.trim_start().starts_with('{')
    }

    /// The text itself.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text itself.
    pub fn into_text(self) -> String {
        self.text
    }

    /// The text as a schedule: our own JSON, or PyTorch's CSV.
    ///
    /// # Errors
    /// When it is neither.
    pub fn schedule(&self) -> Result<interchange::Read, Error> {
        match interchange::read(&self.text) {
            Ok(read) => Ok(read),
            Err(ReadError::Schedule(error)) => Err(self.fault(Fault::of_schedule(&self.text, &error))),
            Err(ReadError::PyTorch(error)) => {
                Err(self.misread(FileKind::Schedule, || self.fault(Fault::of_csv(&error))))
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
        Witness::parse(&self.text).map(Some).map_err(|error| {
            let at = offset_of(&self.text, error.line, error.column);
            self.error(format!("this is not a witness: {error}"), "here", at..at, None)
        })
    }

    /// The text as a trace file, or as what torch.profiler, MegatronApp or Primus writes.
    ///
    /// # Errors
    /// When it is none of these.
    pub fn measurement(&self) -> Result<Measurement, Error> {
        if megatron::is_trace(&self.text) {
            return megatron::parse(&self.text)
                .map(Measurement::Runs)
                .map_err(|error| self.megatron_error(&error));
        }
        if primus::is_dump(&self.text) {
            return primus::parse(&self.text)
                .map(Measurement::Dump)
                .map_err(|error| self.primus_error(&error));
        }
        if primus::is_config(&self.text) {
            return primus::parse_config(&self.text)
                .map(Measurement::DumpConfig)
                .map_err(|error| self.primus_error(&error));
        }
        if profiler::is_recording(&self.text) {
            return profiler::parse(&self.text)
                .map(Measurement::Recording)
                .map_err(|error| self.profiler_error(&error));
        }
        let trace =
            trace_file::parse(&self.text).map_err(|error| self.fault(Fault::of_trace(&self.text, &error)))?;
        Ok(Measurement::Trace(Box::new(trace)))
    }

    fn megatron_error(&self, error: &MegatronError) -> Error {
        let at = match error {
            MegatronError::Json { line, column, .. } => offset_of(&self.text, *line, *column),
            _ => 0,
        };
        self.error(error.to_string(), "here", at..at, None)
    }

    fn primus_error(&self, error: &PrimusError) -> Error {
        let at = match error {
            PrimusError::Json { line, column, .. } => offset_of(&self.text, *line, *column),
            _ => 0,
        };
        self.error(error.to_string(), "here", at..at, None)
    }

    fn profiler_error(&self, error: &ProfilerError) -> Error {
        let span = match error {
            ProfilerError::Json { line, column, .. } => {
                let at = offset_of(&self.text, *line, *column);
                at..at
            }
            ProfilerError::Action { span, .. }
            | ProfilerError::Time { span, .. }
            | ProfilerError::End { span, .. } => span.clone(),
            ProfilerError::Overlap(_)
            | ProfilerError::NoTime { .. }
            | ProfilerError::NoLaunches
            | ProfilerError::NoPasses => key_at_top(&self.text, "traceEvents").unwrap_or(0..0),
        };
        self.error(error.to_string(), "here", span, None)
    }

    fn toml_error(&self, error: &FileError) -> Error {
        self.fault(Fault::of_toml(error))
    }

    fn fault(&self, Fault { message, span, help }: Fault) -> Error {
        self.error(message, "here", span, help)
    }

    fn error(&self, message: String, label: &'static str, span: Range<usize>, help: Option<String>) -> Error {
        let excerpt = Excerpt::new(self.name.clone(), &self.text);
        Error::Located(Box::new(Located { message, label, span, help, excerpt }))
    }
}

/// What gzip packed, or else the bytes themselves.
fn unpacked(bytes: Vec<u8>) -> io::Result<Vec<u8>> {
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return Ok(bytes);
    }
    let unpacked = files::read_from(flate2::read::MultiGzDecoder::new(bytes.as_slice()), files::MOST_READ);
    unpacked.map_err(|error| io::Error::new(error.kind(), format!("the gzip file is damaged: {error}")))
}

/// Reads a model file.
///
/// # Errors
/// When it cannot be read or is no model.
pub fn read_model(path: &Path) -> Result<Model, Error> {
    Input::read(path)?.model()
}
