//! Why designs cannot be checked.

use std::io;
use std::path::PathBuf;

use super::inputs::InputError;
use super::measure::MeasureError;
use super::record::RecordError;
use crate::block::family::FormulaFileError;
use crate::files::WriteError;
use crate::smt::SmtError;
use crate::text::Escaped;

/// Why designs cannot be checked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RegressError {
    /// A file that cannot be read or written.
    #[error("{}: {error}", Escaped(&path.to_string_lossy()))]
    File {
        /// The file.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
    /// A manifest that is wrong.
    #[error("{}: {error}", Escaped(&path.to_string_lossy()))]
    Manifest {
        /// The file.
        path: PathBuf,
        /// Its text.
        text: String,
        /// What is wrong.
        error: Box<FormulaFileError>,
    },
    /// A record that is wrong.
    #[error("{}: {error}", Escaped(&path.to_string_lossy()))]
    Record {
        /// The file.
        path: PathBuf,
        /// Its text.
        text: String,
        /// What is wrong.
        error: Box<RecordError>,
    },
    /// A file of a design that is wrong.
    #[error("{design}: {error}")]
    Input {
        /// The name of the design.
        design: String,
        /// Where the manifest names it, in bytes.
        span: std::ops::Range<usize>,
        /// What is wrong.
        error: Box<InputError>,
    },
    /// A design whose files do not fit each other.
    #[error("{design}: {error}")]
    Design {
        /// The name of the design.
        design: String,
        /// Where the manifest names it, in bytes.
        span: std::ops::Range<usize>,
        /// What is wrong.
        error: Box<MeasureError>,
    },
    /// What was chosen to be asked about theorems is no solver.
    #[error(transparent)]
    Solver(#[from] SmtError),
    /// Asked to end before every design was looked at.
    #[error("stopped before every design was looked at")]
    Stopped,
    /// A record that would not be read as what was found.
    #[error("internal error: {design}: its record cannot be read again")]
    Unreadable {
        /// The name of the design.
        design: String,
    },
}

impl From<WriteError> for RegressError {
    fn from(WriteError { path, error }: WriteError) -> Self {
        Self::File { path, error }
    }
}
