//! The folder of records, beside the manifest.

use std::path::{Path, PathBuf};
use std::{fs, io};

use super::error::RegressError;
use super::record::Record;
use crate::files;

/// The directory of the records, beside the manifest.
pub const RECORDS: &str = "records";

const ENDING: &str = ".record";

/// A record with its text.
#[derive(Debug)]
pub(super) struct Recorded {
    /// What it says.
    pub record: Record,
    /// How it says it.
    pub text: String,
}

/// The file of the record of a design.
pub(super) fn record_path(folder: &Path, design: &str) -> PathBuf {
    folder.join(format!("{design}{ENDING}"))
}

/// The designs that have a record, in order; none where there is no folder.
pub(super) fn recorded_designs(folder: &Path) -> Result<Vec<String>, RegressError> {
    let failed = |error| RegressError::File { path: folder.to_owned(), error };
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(failed)?,
    };
    let mut names = Vec::new();
    for entry in entries {
        let name = entry.map_err(failed)?.file_name();
        names.extend(name.to_str().and_then(|name| name.strip_suffix(ENDING)).map(str::to_owned));
    }
    names.sort_unstable();
    Ok(names)
}

pub(super) fn read(path: &Path) -> Result<String, RegressError> {
    files::read_text(path).map_err(|error| RegressError::File { path: path.to_owned(), error })
}

pub(super) fn read_record(folder: &Path, name: &str) -> Result<Recorded, RegressError> {
    let path = record_path(folder, name);
    let text = read(&path)?;
    match Record::parse_of(name, &text) {
        Ok(record) => Ok(Recorded { record, text }),
        Err(error) => Err(RegressError::Record { path, text, error: Box::new(error) }),
    }
}
