//! Writing files so that none is ever seen half written.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// Writes a file aside and renames it.
///
/// # Errors
/// When it cannot be written; an old file is then as it was.
pub(super) fn write(path: &Path, text: &str) -> io::Result<()> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let mut builder = tempfile::Builder::new();
    builder.prefix(".bubbleproof-");
    readable(&mut builder, path);
    let mut file = builder.tempfile_in(directory.unwrap_or_else(|| Path::new(".")))?;
    file.write_all(text.as_bytes())?;
    file.persist(path)?;
    Ok(())
}

/// With the permissions that the file has or would have, had it been written in place.
#[cfg(unix)]
fn readable(builder: &mut tempfile::Builder<'_, '_>, path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    let mode = fs::metadata(path).map_or(0o666, |found| found.permissions().mode() & 0o777);
    builder.permissions(fs::Permissions::from_mode(mode));
}

#[cfg(not(unix))]
fn readable(_: &mut tempfile::Builder<'_, '_>, _: &Path) {}

/// The names of the files of a directory with an ending, without it, in order; none where there is no
/// directory.
///
/// # Errors
/// When it cannot be read.
pub(super) fn with_ending(directory: &Path, ending: &str) -> io::Result<Vec<String>> {
    let entries = match fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut names = Vec::new();
    for entry in entries {
        let name = entry?.file_name();
        names.extend(name.to_str().and_then(|name| name.strip_suffix(ending)).map(str::to_owned));
    }
    names.sort_unstable();
    Ok(names)
}
