//! Where results, notes and files go.

use std::borrow::Cow;
use std::fmt::{Display, Write as _};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::ser::Formatter;

use super::error::Error;
use super::file_name::FileName;
use crate::amounts::Amounts;
use crate::files::{WriteError, write_with};
use crate::job::Job;
use crate::model::Model;
use crate::schedule::{self, Schedule};
use crate::text::{Escaped, is_control};

/// Results go to standard output, as one JSON object or as text; notes go to standard error.
#[derive(Debug, Clone, Copy)]
pub struct Output {
    json: bool,
    exact: bool,
    begun: Instant,
}

impl Output {
    /// Results as one JSON object, or as text, of a command that begins now.
    pub fn new(json: bool) -> Self {
        Self { json, exact: false, begun: Instant::now() }
    }

    /// The same, with times and memory as they are counted if `exact`.
    pub const fn exact(self, exact: bool) -> Self {
        Self { exact, ..self }
    }

    /// How a text shows the times and the memory of a model.
    pub fn amounts(self, model: &Model) -> Amounts<'_> {
        Amounts::new(self.exact, &model.costs().unit, &model.memory().unit)
    }

    /// How a text shows the times and the memory of a job.
    pub fn amounts_of(self, job: &Job) -> Amounts<'_> {
        Amounts::new(self.exact, &job.time_unit, &job.memory_unit)
    }

    /// How a text shows the times and the memory of traces: they are in nanoseconds and bytes.
    pub const fn amounts_of_traces(self) -> Amounts<'static> {
        Amounts::new(self.exact, "ns", "byte")
    }

    /// What is left of the time that the command may take in all.
    pub fn left_of(self, limit: Duration) -> Duration {
        limit.saturating_sub(self.begun.elapsed())
    }

    /// Whether times and memory are shown as they are counted.
    pub const fn is_exact(self) -> bool {
        self.exact
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
                    format!(
                        "cannot write {}: there is no folder {}",
                        FileName::of(path),
                        FileName::of(folder)
                    ),
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

    /// Prints what a command found. Where amounts are to be exact, a text is printed in its [alternate form](std::fmt::Formatter::alternate).
    ///
    /// # Errors
    /// When standard output cannot be written. A closed pipe is no error.
    pub fn print<T: Display + Serialize>(self, found: &T) -> Result<(), Error> {
        if self.json {
            print_json(found)
        } else if self.exact {
            print_text(&format_args!("{found:#}"))
        } else {
            print_text(found)
        }
    }
}

impl Output {
    /// Answers with a schedule: writes it where it was asked for, and prints the report unless the schedule went there.
    ///
    /// # Errors
    /// When a file or standard output cannot be written.
    pub fn answer<T: Display + Serialize>(
        self,
        report: &T,
        schedule: &Schedule,
        target: Option<&Target>,
    ) -> Result<(), Error> {
        if let Some(target) = target {
            target.write(|out| schedule::write(schedule, out))?;
        }
        if target != Some(&Target::Stdout) {
            self.print(report)?;
        }
        target.map_or(Ok(()), |target| self.wrote(target))
    }

    /// Says what was written, where that is a file and a text is printed.
    ///
    /// # Errors
    /// When standard output cannot be written.
    pub fn wrote(self, target: &Target) -> Result<(), Error> {
        match target {
            Target::File(path) if !self.is_json() => {
                to_stdout(|out| writeln!(out, "wrote {}", FileName::of(path)))
            }
            Target::File(_) | Target::Stdout => Ok(()),
        }
    }
}

/// Prints a text on standard output, [as it may be](plain).
///
/// # Errors
/// When standard output cannot be written.
pub fn print_text(text: &impl Display) -> Result<(), Error> {
    let text = text.to_string();
    let text = plain(&text);
    let text = if is_coloured() { with_verdict_in_colour(&text) } else { text };
    to_stdout(|out| out.write_all(text.as_bytes()))
}

/// Whether standard output is a terminal, and nobody asks for no colour.
pub fn is_coloured() -> bool {
    io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// A text whose first word is in green where that word says yes, in red where it says no, in yellow where it says neither.
fn with_verdict_in_colour(text: &str) -> Cow<'_, str> {
    const VERDICTS: [(&str, &[&str]); 3] = [
        ("\u{1b}[1;32m", &["valid", "accepted", "proved"]),
        ("\u{1b}[1;31m", &["invalid", "rejected", "refuted", "infeasible"]),
        ("\u{1b}[1;33m", &["unknown", "undecided"]),
    ];
    const PLAIN: &str = "\u{1b}[0m";
    let end = text.find(|letter: char| !letter.is_ascii_alphabetic()).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    // A verdict is followed by what it is about, a table by its first heading.
    let is_verdict = rest.starts_with(':') || rest.starts_with(',') || rest.trim().is_empty();
    let colour = VERDICTS.iter().find(|(_, words)| is_verdict && words.contains(&word));
    match colour {
        Some((colour, _)) => format!("{colour}{word}{PLAIN}{rest}").into(),
        None => text.into(),
    }
}

/// A text as it may be printed. Readers refuse control characters in what files say, and names of files are escaped
/// where they are put into a text, because here nobody can tell which line break is whose. What passes both is
/// escaped here: every control character but line breaks, and the sequences that set colours.
pub fn plain(text: &str) -> Cow<'_, str> {
    if text.chars().all(|letter| letter == '\n' || !is_control(letter)) {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let length = colour(rest).unwrap_or(letter.len_utf8());
        let (first, after) = rest.split_at(length);
        if letter == '\n' || length > letter.len_utf8() {
            shown.push_str(first);
        } else {
            _ = write!(shown, "{}", Escaped(first));
        }
        rest = after;
    }
    shown.into()
}

/// The length of the sequence at the beginning of a text that sets colours, if there is one.
fn colour(text: &str) -> Option<usize> {
    let after = text.strip_prefix("\u{1b}[")?;
    let end = after.find(|letter: char| !letter.is_ascii_digit() && letter != ';')?;
    after[end..].starts_with('m').then_some("\u{1b}[".len() + end + 1)
}

/// JSON in which every control character is escaped, and not only those that must be: who reads it on a terminal reads
/// what a program does.
struct PlainJson;

impl Formatter for PlainJson {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, out: &mut W, fragment: &str) -> io::Result<()> {
        escaped_json(out, fragment)
    }

    fn write_raw_fragment<W: ?Sized + Write>(&mut self, out: &mut W, fragment: &str) -> io::Result<()> {
        escaped_json(out, fragment)
    }
}

/// All control characters of a piece of JSON are in strings, and none is outside of Unicode's first plane.
fn escaped_json(out: &mut (impl Write + ?Sized), fragment: &str) -> io::Result<()> {
    let mut rest = fragment;
    while let Some(at) = rest.find(is_control) {
        let letter = rest[at..].chars().next().unwrap_or_default();
        write!(out, "{}\\u{:04x}", &rest[..at], u32::from(letter))?;
        rest = &rest[at + letter.len_utf8()..];
    }
    out.write_all(rest.as_bytes())
}

/// Prints one JSON object and a newline on standard output.
///
/// # Errors
/// When standard output cannot be written.
pub fn print_json<T: Serialize>(found: &T) -> Result<(), Error> {
    to_stdout(|out| {
        found.serialize(&mut serde_json::Serializer::with_formatter(&mut *out, PlainJson))?;
        writeln!(out)
    })
}

/// Says something beside the result, on standard error.
pub fn note(text: &str) {
    // Nothing is left to do when standard error is closed.
    _ = writeln!(io::stderr(), "note: {}", plain(text));
}

/// Writes to standard output. A reader that has closed it, such as `head`, has seen enough.
///
/// # Errors
/// When standard output cannot be written for any other reason.
pub fn to_stdout(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Error> {
    let mut out = BufWriter::new(io::stdout().lock());
    match write(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Error::Write { path: FileName::called("standard output"), error })
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
            Self::File(path) => write_with(path, write)
                .map_err(|WriteError { path, error }| Error::Write { path: FileName::of(path), error }),
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
    fn verdicts_are_coloured_and_nothing_else_is() {
        for (text, shown) in [
            ("valid: 2 devices", "\u{1b}[1;32mvalid\u{1b}[0m: 2 devices"),
            ("invalid, 3 violations", "\u{1b}[1;31minvalid\u{1b}[0m, 3 violations"),
            ("accepted\n", "\u{1b}[1;32maccepted\u{1b}[0m\n"),
            ("unknown: why", "\u{1b}[1;33munknown\u{1b}[0m: why"),
            ("valid schedules are rare", "valid schedules are rare"),
            ("schedule  makespan", "schedule  makespan"),
            ("", ""),
        ] {
            assert_eq!(with_verdict_in_colour(text), shown);
        }
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
