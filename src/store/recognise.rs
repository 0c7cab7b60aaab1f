//! Telling a store from other files by its first bytes, before SQLite may touch it.

use std::fs::File;
use std::io::{Error, ErrorKind, Read as _};
use std::path::Path;

use super::{APPLICATION, StoreError, VERSION};

/// What SQLite databases begin with (<https://www.sqlite.org/fileformat.html>, 1.3).
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// The header of a database.
const HEADER: u64 = 100;

/// Where `user_version` is in it, four bytes, the highest first.
const USER_VERSION: usize = 60;

/// Where `application_id` is.
const APPLICATION_ID: usize = 68;

/// Whether a file is a store: `false` where it is empty, so that it may become one. Reads, and changes nothing.
///
/// # Errors
/// When there is no such file, it cannot be read, it is something else, or a store of another version.
pub fn recognise(path: &Path) -> Result<bool, StoreError> {
    let unreadable = |error| StoreError::unreadable(path, error);
    // A pipe would be waited for.
    if !path.metadata().map_err(unreadable)?.is_file() {
        return Err(unreadable(Error::new(ErrorKind::InvalidInput, "it is no file")));
    }
    let mut header = Vec::new();
    let file = File::open(path).map_err(unreadable)?;
    file.take(HEADER).read_to_end(&mut header).map_err(unreadable)?;
    if header.is_empty() {
        return Ok(false);
    }
    if !header.starts_with(MAGIC) {
        return Err(StoreError::NoDatabase { path: path.to_owned() });
    }
    if number(&header, APPLICATION_ID) != Some(APPLICATION) {
        return Err(StoreError::OtherProgram { path: path.to_owned() });
    }
    match number(&header, USER_VERSION) {
        Some(VERSION) => Ok(true),
        found => Err(StoreError::Version { path: path.to_owned(), found: found.unwrap_or(0) }),
    }
}

fn number(header: &[u8], at: usize) -> Option<u32> {
    header.get(at..)?.first_chunk().map(|bytes| u32::from_be_bytes(*bytes))
}
