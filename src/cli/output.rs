//! Where results, notes and files go.

use std::fmt::Display;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::error::Error;
use crate::files::{WriteError, write_with};

/// Results go to standard output, as one JSON object or as text; notes go to standard error.
#[derive(Debug, Clone, Copy)]
pub struct Output {
    json: bool,
}

impl Output {
    /// Results as one JSON object, or as text.
    pub const fn new(json: bool) -> Self {
        Self { json }
    }

    /// Whether results are printed as JSON.
    pub const fn is_json(self) -> bool {
        self.json
    }

    /// Where `-o` with this path sends a file: `-` is standard output.
    ///
    /// # Errors
    /// When the folder is not there, or both the file and the JSON object would go to standard output.
    pub fn target(self, path: &Path) -> Result<Target, Error> {
        if path.as_os_str() != "-" {
            // Better now than after a long search.
            let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty());
            if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
                return Err(Error::usage(
                    format!("cannot write {}: there is no folder {}", path.display(), folder.display()),
                    "make the folder first, or choose another name",
                ));
            }
            return Ok(Target::File(path.to_owned()));
        }
        if self.json {
            return Err(Error::usage(
                "`-o -` and --json both write to standard output",
                "give `-o` a file name, or leave --json out",
            ));
        }
        Ok(Target::Stdout)
    }

    /// Prints what a command found.
    ///
    /// # Errors
    /// When standard output cannot be written. That nobody reads it any more is no error.
    pub fn print<T: Display + Serialize>(self, found: &T) -> Result<(), Error> {
        if self.json { print_json(found) } else { to_stdout(|out| write!(out, "{found}")) }
    }
}

/// Prints one JSON object and a newline on standard output.
///
/// # Errors
/// When standard output cannot be written.
pub fn print_json<T: Serialize>(found: &T) -> Result<(), Error> {
    to_stdout(|out| {
        serde_json::to_writer(&mut *out, found)?;
        writeln!(out)
    })
}

/// Says something beside the result, on standard error.
pub fn note(text: &str) {
    // Nothing is left to do when standard error is closed.
    _ = writeln!(io::stderr(), "note: {text}");
}

/// Writes to standard output. A reader that has closed it, such as `head`, has seen enough.
///
/// # Errors
/// When standard output cannot be written for any other reason.
pub fn to_stdout(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Error> {
    let mut out = BufWriter::new(io::stdout().lock());
    match write(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Error::Write { path: "standard output".to_owned(), error })
        }
        _ => Ok(()),
    }
}

/// Where `-o` sends a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// Standard output: `-o -`.
    Stdout,
    /// A file.
    File(PathBuf),
}

impl Target {
    /// Writes the file, which is never seen half written: an old one is kept when writing fails.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Error> {
        match self {
            Self::Stdout => to_stdout(write),
            Self::File(path) => write_with(path, write).map_err(|WriteError { path, error }| Error::Write {
                path: path.display().to_string(),
                error,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn target(path: &Path) -> Target {
        Output::new(false).target(path).expect("a target")
    }

    #[test]
    fn an_old_file_stays_when_writing_fails() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("schedule.json");
        target(&path).write(|out| out.write_all(b"old")).expect("written");
        let failed = target(&path).write(|out| {
            out.write_all(b"new")?;
            Err(io::Error::other("the disk is full"))
        });
        assert!(failed.is_err());
        assert_eq!(fs::read_to_string(&path).expect("still there"), "old");
        assert_eq!(fs::read_dir(directory.path()).expect("readable").count(), 1, "nothing is left beside");
    }

    #[cfg(unix)]
    #[test]
    fn files_are_readable_by_others_and_links_and_devices_stay_what_they_are() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let directory = tempfile::tempdir().expect("a directory");
        let (path, link) = (directory.path().join("file"), directory.path().join("link"));
        target(&path).write(|out| out.write_all(b"1")).expect("written");
        let plain = directory.path().join("plain");
        fs::write(&plain, "").expect("written");
        let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode();
        assert_eq!(mode(&path), mode(&plain));
        symlink(&path, &link).expect("linked");
        target(&link).write(|out| out.write_all(b"2")).expect("written");
        assert!(fs::symlink_metadata(&link).expect("there").is_symlink());
        assert_eq!(fs::read_to_string(&path).expect("readable"), "2");
        target(Path::new("/dev/null")).write(|out| out.write_all(b"3")).expect("written");
        assert!(!fs::metadata("/dev/null").expect("there").is_file());
    }

    #[test]
    fn a_directory_is_no_target() {
        let directory = tempfile::tempdir().expect("a directory");
        let error = target(directory.path()).write(|_| Ok(())).expect_err("a directory");
        assert!(error.to_string().contains("directory"), "{error}");
    }
}
