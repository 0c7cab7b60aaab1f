//! Telling a store from other files, before SQLite may change one.

use std::io::{Error, ErrorKind};
use std::path::Path;

use itertools::Itertools as _;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::{APPLICATION, StoreError, VERSION};

/// Whether a file is a store: `false` where it is empty, so that it may become one. Reads, and changes nothing: what another
/// program was writing when it was killed is not rolled back.
///
/// SQLite alone opens the file. A process that closes a file gives up all its POSIX locks on it, also those that SQLite holds in
/// another thread (<https://www.sqlite.org/howtocorrupt.html>, 2.2); SQLite keeps count of them and waits with closing.
///
/// # Errors
/// When there is no such file, it cannot be read, it is something else, or a store of another version.
pub fn recognise(path: &Path) -> Result<bool, StoreError> {
    let unreadable = |error| StoreError::unreadable(path, error);
    let file = path.metadata().map_err(unreadable)?;
    // A pipe would be waited for.
    if !file.is_file() {
        return Err(unreadable(Error::new(ErrorKind::InvalidInput, "it is no file")));
    }
    if file.len() == 0 {
        return Ok(false);
    }
    let header = immutable(path).and_then(|connection| {
        let number = |query| connection.query_row(query, [], |row| row.get::<_, i64>(0));
        Ok((number("PRAGMA application_id")?, number("PRAGMA user_version")?))
    });
    let (application, version) = header.map_err(|error| match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => StoreError::NoDatabase { path: path.to_owned() },
        Some(ErrorCode::CannotOpen) => {
            unreadable(Error::new(ErrorKind::PermissionDenied, "it cannot be opened"))
        }
        _ => StoreError::Database { path: path.to_owned(), reason: error.to_string() },
    })?;
    if application != i64::from(APPLICATION) {
        return Err(StoreError::OtherProgram { path: path.to_owned() });
    }
    match u32::try_from(version) {
        Ok(VERSION) => Ok(true),
        found => Err(StoreError::Version { path: path.to_owned(), found: found.unwrap_or(u32::MAX) }),
    }
}

/// The database in a file, taken for one that nobody changes: without locks, and without its journal.
fn immutable(path: &Path) -> rusqlite::Result<Connection> {
    let bytes = path.as_os_str().as_encoded_bytes();
    let encoded = bytes.iter().format_with("", |byte, out| out(&format_args!("%{byte:02X}")));
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    Connection::open_with_flags(format!("file:{encoded}?immutable=1"), flags)
}
