//! What is wrong with a file, where, and what to write instead.
//!
//! ```
//! use bubbleproof::fault::Fault;
//! use bubbleproof::model;
//!
//! let text = "name = \"x\"\nfoward = 3\n";
//! let error = model::parse(text).expect_err("a key that nobody knows");
//! let fault = Fault::of_toml(&error);
//! assert_eq!(fault.message, "unknown key `foward`");
//! assert_eq!(fault.place(text), (2, 1));
//! ```

mod json_place;

use std::ops::Range;

pub(crate) use json_place::{key_at_top, offset_of};

use crate::advice;
use crate::amounts;
use crate::block::family::FormulaFileError;
use crate::interchange::ReadError;
use crate::interchange::pytorch::{CsvError, CsvProblem};
use crate::model::reading::{FileError, TomlProblem};
use crate::schedule::{self, ScheduleError, ScheduleFileError};
use crate::trace::TraceError;
use crate::trace::file::{self as trace_file, TraceFileError};

/// What is wrong with a file, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// What is wrong, in a sentence.
    pub message: String,
    /// The bytes of the text that it is about.
    pub span: Range<usize>,
    /// What to write instead, if there is more to say.
    pub help: Option<String>,
}

impl Fault {
    /// A fault of a model file, a job file, or dimensions of a transformer.
    #[must_use]
    pub fn of_toml(error: &FileError) -> Self {
        let message = match &error.problem {
            TomlProblem::Model(error) => error.in_words(|units, unit| amounts::memory(units.0, unit)),
            _ => error.to_string(),
        };
        Self { message, span: error.span.clone(), help: advice::for_file(&error.problem) }
    }

    /// A fault of the file of a block family.
    #[must_use]
    pub fn of_family(error: &FormulaFileError) -> Self {
        Self { message: error.to_string(), span: error.span(), help: advice::for_formula_file(error) }
    }

    /// A fault of the text of a schedule, in either form.
    #[must_use]
    pub fn of_read(text: &str, error: &ReadError) -> Self {
        match error {
            ReadError::Schedule(error) => Self::of_schedule(text, error),
            ReadError::PyTorch(error) => Self::of_csv(error),
        }
    }

    /// A fault of the text of a schedule file.
    #[must_use]
    pub fn of_schedule(text: &str, error: &ScheduleFileError) -> Self {
        let (span, help) = place_of(text, error);
        Self { message: error.to_string(), span, help }
    }

    /// A fault of a CSV of PyTorch.
    #[must_use]
    pub fn of_csv(error: &CsvError) -> Self {
        let help = match error.problem {
            CsvProblem::BlanksAtEnd(_) => Some(
                "spreadsheets pad short rows: remove the commas at the end of every row; PyTorch refuses them too".to_owned(),
            ),
            CsvProblem::Header => Some("remove this line".to_owned()),
            CsvProblem::Separator(_) => Some(
                "save the file with commas; the `;` in an overlapped pair, such as `(0F4;7B0)OVERLAP_F_B`, stays".to_owned(),
            ),
            _ => (error.row == 1 && error.column == 1).then(not_a_schedule),
        };
        Self { message: error.to_string(), span: error.span.clone(), help }
    }

    /// A fault of the text of a trace file.
    #[must_use]
    pub fn of_trace(text: &str, error: &TraceFileError) -> Self {
        let key = |key: &str| key_at_top(text, key).unwrap_or(0..0);
        let (span, help) = match error {
            TraceFileError::Json { line, column, .. } => {
                let at = offset_of(text, *line, *column);
                let begins_as_trace = trace_file::is_trace(text) || text.contains(trace_file::FORMAT);
                let help = (!begins_as_trace).then(|| {
                    format!(
                        "a trace is a JSON object with \"format\": \"{}\", or what torch.profiler writes, \
                         which has \"traceEvents\"",
                        trace_file::FORMAT
                    )
                });
                (at..at, help)
            }
            TraceFileError::Format(_) => (key("format"), None),
            TraceFileError::Schedule { at, error } => {
                let Self { span, help, .. } = Self::of_schedule(&text[*at..], error);
                (at + span.start..at + span.end, help)
            }
            TraceFileError::Trace(TraceError::Length { key: "model.layers", .. }) => (key("model"), None),
            TraceFileError::Trace(TraceError::Length { .. }) => (key("machine"), None),
            TraceFileError::Trace(_) => (key("iterations"), None),
        };
        Self { message: error.to_string(), span, help }
    }

    /// The line and the column of the text at which the fault begins, both from 1, the column in characters.
    #[must_use]
    pub fn place(&self, text: &str) -> (usize, usize) {
        let at = (0..=self.span.start.min(text.len())).rev().find(|&at| text.is_char_boundary(at));
        let before = &text[..at.unwrap_or(0)];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
    }
}

/// Where in a text that begins with a schedule file something is wrong with that, and advice.
fn place_of(text: &str, error: &ScheduleFileError) -> (Range<usize>, Option<String>) {
    let key = |key: &str| key_at_top(text, key).unwrap_or(0..0);
    match error {
        ScheduleFileError::Json { line, column, .. } => {
            let at = offset_of(text, *line, *column);
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
        ScheduleFileError::Orders(ScheduleError::OffloadLists { .. } | ScheduleError::NoOffload { .. }) => {
            (key("offload"), None)
        }
        ScheduleFileError::Orders(ScheduleError::NoLevel { .. }) => (key("levels"), None),
        ScheduleFileError::Orders(_) => (key("microbatches"), None),
        _ => (0..0, None),
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
