//! Schedules in the formats of other tools.
//!
//! Wherever a schedule is read, both our own JSON and PyTorch's CSV are accepted; the first character tells which it
//! is. For other runtimes schedules are only written; what one of them cannot run is refused with the reason.
//!
//! ```
//! use bubbleproof::interchange::{pytorch, read};
//!
//! // A file of PyTorch: two ranks, one microbatch.
//! let file = read("0F0,0B0\r\n1F0,1B0\r\n")?;
//! assert_eq!(file.schedule.devices(), 2);
//! assert_eq!(pytorch::print(&file.schedule)?, "0F0,0B0\r\n1F0,1B0\r\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod fused;
mod limits;
pub mod megatron;
pub mod perfetto;
pub mod pytorch;
pub mod sail_sg;
pub mod torchtitan;

pub use fused::with_fused_recomputation;
pub use limits::CannotRun;
use pytorch::{CsvError, File};

use crate::schedule::{self, Schedule, ScheduleFileError};

/// The forms in which schedules are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Form {
    /// The schedule file (JSON).
    Schedule,
    /// PyTorch's CSV.
    PyTorch,
}

/// A schedule that was read, and from what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Read {
    /// The schedule.
    pub schedule: Schedule,
    /// The file, where it was PyTorch's CSV.
    pub csv: Option<File>,
}

/// Why a text is not a schedule.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// A schedule file with a fault.
    #[error(transparent)]
    Schedule(#[from] ScheduleFileError),
    /// A CSV with a fault.
    #[error(transparent)]
    PyTorch(#[from] CsvError),
}

/// The form of a text: JSON begins with a brace, which no cell of a CSV does.
#[must_use]
pub fn detect(text: &str) -> Form {
    if text.trim_start().starts_with('{') { Form::Schedule } else { Form::PyTorch }
}

/// Reads a schedule in either form.
///
/// # Errors
/// When the text is malformed in the form that [`detect`] finds.
pub fn read(text: &str) -> Result<Read, ReadError> {
    Ok(match detect(text) {
        Form::Schedule => Read { schedule: schedule::parse(text)?, csv: None },
        Form::PyTorch => {
            let file = pytorch::parse(text)?;
            Read { schedule: file.schedule().clone(), csv: Some(file) }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_of_a_text_is_told_from_its_first_character() {
        let json = "\n {\"format\": \"bubbleproof-schedule-1\", \"placement\": [[0]], \"microbatches\": 1, \
            \"orders\": [[\"0F0\", \"0B0\"]]}";
        let own = read(json).expect("a schedule file");
        let csv = read("0F0,0B0\r\n").expect("a CSV");
        let dialects = (own.csv.map(|file| file.dialect), csv.csv.map(|file| file.dialect));
        assert_eq!(dialects, (None, Some(pytorch::Dialect::Current)));
        assert_eq!(own.schedule, csv.schedule);
        assert!(matches!(read("{}"), Err(ReadError::Schedule(_))));
        assert!(matches!(read("[]"), Err(ReadError::PyTorch(_))));
    }
}
