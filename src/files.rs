//! Writing files so that none is ever seen half written, and reading files that may never end.
//!
//! The content goes to a temporary file beside the target, which is then renamed: whoever reads the target
//! sees the old content or the new one, and when writing fails the old content stays and nothing is left
//! beside it. What is at the path keeps its nature: a symbolic link is followed to the file that it points to,
//! which is made if it does not exist; a pipe, a device or an open file such as `/dev/stdout` is written to; and a
//! file keeps its permissions. A file that may not be written is not replaced either. A file that has several
//! names (hard links) is replaced under one of them.
//!
//! ```
//! let directory = tempfile::tempdir()?;
//! let path = directory.path().join("schedule.json");
//! bubbleproof::files::write(&path, "{}")?;
//! bubbleproof::files::write_with(&path, |out| writeln!(out, "[{}]", 1 + 2))?;
//! assert_eq!(std::fs::read_to_string(&path)?, "[3]\n");
//!
//! let error = bubbleproof::files::write(directory.path(), "").expect_err("a directory");
//! assert!(error.to_string().ends_with("is a directory"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use crate::text::Escaped;

/// How many symbolic links are followed, one after another; systems follow no more.
const MOST_LINKS: usize = 40;

/// The most bytes of a file that are read: `/dev/zero` and a pipe that never ends are given up there.
pub const MOST_READ: u64 = 1 << 30;

/// Reads a file, or whatever is found under its name, to its end.
///
/// # Errors
/// When it cannot be read, or is larger than [`MOST_READ`].
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    read_from(File::open(path)?, MOST_READ)
}

/// Reads a text file as [`read`] does.
///
/// # Errors
/// As there, and when it is not UTF-8.
pub fn read_text(path: &Path) -> io::Result<String> {
    String::from_utf8(read(path)?).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// Reads an input of at most this many bytes to its end.
///
/// # Errors
/// When it cannot be read, or is larger: then no more has been read than that.
pub fn read_from(input: impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    input.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        let size = format!("it is larger than {} MiB, and larger files are not read", most >> 20);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, size));
    }
    Ok(bytes)
}

/// Why a file was not written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}: {error}", Escaped(&path.to_string_lossy()))]
pub struct WriteError {
    /// The file that was to be written, as it was named.
    pub path: PathBuf,
    /// Why not.
    pub error: io::Error,
}

/// Writes a file all at once.
///
/// # Errors
/// When it cannot be written; an old file is then as it was.
pub fn write(path: &Path, content: impl AsRef<[u8]>) -> Result<(), WriteError> {
    write_with(path, |out| out.write_all(content.as_ref()))
}

/// Writes a file piece by piece. It changes when `content` has ended without an error.
///
/// # Errors
/// When it cannot be written, or `content` fails; an old file is then as it was. A pipe or a
/// device may have received a part.
pub fn write_with(
    path: &Path,
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), WriteError> {
    replace(path, content).map_err(|error| WriteError { path: path.to_owned(), error })
}

fn replace(path: &Path, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let old = fs::metadata(path).ok();
    let target = match lead(path)? {
        End::Open(file) => return fill(file, content),
        End::File(target) => target,
    };
    match &old {
        Some(old) if old.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
        // A pipe or a device such as /dev/null must not be replaced by a file.
        Some(old) if !old.is_file() => return fill(OpenOptions::new().write(true).open(path)?, content),
        // Whoever protected a file meant its content, which a rename would not ask about.
        Some(old) if old.permissions().readonly() => return Err(io::ErrorKind::PermissionDenied.into()),
        Some(_) => drop(OpenOptions::new().write(true).open(path)?),
        None => {}
    }
    let directory = target.parent().filter(|parent| !parent.as_os_str().is_empty());
    // It removes itself unless it is renamed. Made here, so that no error names it.
    let mut beside = tempfile::Builder::new()
        .prefix(".bubbleproof-")
        .make_in(directory.unwrap_or_else(|| Path::new(".")), |path| {
            OpenOptions::new().write(true).create_new(true).open(path)
        })?;
    if let Some(old) = old {
        beside.as_file().set_permissions(kept(&old))?;
    }
    fill(beside.as_file_mut(), content)?;
    // Otherwise a crash of the system could leave the new name with nothing in it.
    beside.as_file().sync_all()?;
    beside.persist(&target).map_err(|error| error.error)?;
    Ok(())
}

/// The permissions that a new file takes over from the old one: those to read, to write and to run it, but not to
/// run it as its owner, who may be another one now.
fn kept(old: &fs::Metadata) -> fs::Permissions {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::Permissions::from_mode(old.permissions().mode() & 0o777)
    }
    #[cfg(not(unix))]
    old.permissions()
}

fn fill(file: impl Write, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = BufWriter::new(file);
    content(&mut out)?;
    out.flush()
}

/// Where a path leads.
enum End {
    /// To a file, or to where one can be made.
    File(PathBuf),
    /// To a file that is open already.
    Open(File),
}

/// Where a path leads through symbolic links: to itself if it is none.
fn lead(path: &Path) -> io::Result<End> {
    let mut at = path.to_owned();
    for _ in 0..MOST_LINKS {
        if let Some(file) = already_open(&at) {
            return file.map(End::Open);
        }
        match fs::read_link(&at) {
            // From the directory of the link on, unless it is absolute.
            Ok(target) => at = at.parent().unwrap_or(Path::new("")).join(target),
            // No link, or nothing at all.
            Err(_) => return Ok(End::File(at)),
        }
    }
    // The system says why in its own words.
    Err(File::open(path).err().unwrap_or_else(|| io::ErrorKind::InvalidInput.into()))
}

/// The file behind a name of an open file, such as `/proc/self/fd/1`. It looks like a link to the file that
/// standard output goes to, but that one must not be replaced: others write to it too, and go on where they are.
#[cfg(unix)]
fn already_open(path: &Path) -> Option<io::Result<File>> {
    use std::os::fd::AsFd;
    let folder = fs::canonicalize(path.parent()?).ok()?;
    let own = ["/proc/self/fd", "/dev/fd"];
    let is_own = own.iter().any(|own| fs::canonicalize(own).is_ok_and(|own| own == folder));
    let is_others = folder.starts_with("/proc") && folder.ends_with("fd");
    if !is_own && !is_others {
        return None;
    }
    // The standard streams are shared with what else is printed, and so is the place in the file.
    let shared = match path.file_name()?.to_str()? {
        "1" if is_own => Some(io::stdout().as_fd().try_clone_to_owned()),
        "2" if is_own => Some(io::stderr().as_fd().try_clone_to_owned()),
        _ => None,
    };
    Some(shared.map_or_else(|| OpenOptions::new().append(true).open(path), |file| file.map(File::from)))
}

#[cfg(not(unix))]
fn already_open(_: &Path) -> Option<io::Result<File>> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names in a directory, in order: nothing but these was left there.
    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).expect("a directory");
        let mut names: Vec<String> = entries
            .map(|entry| entry.expect("an entry").file_name().into_string().expect("a plain name"))
            .collect();
        names.sort_unstable();
        names
    }

    fn content(path: &Path) -> String {
        fs::read_to_string(path).expect("a file")
    }

    #[test]
    fn an_input_that_never_ends_is_given_up_at_the_size_that_the_error_names() {
        let error = read_from(io::repeat(0), 3 << 20).expect_err("endless");
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
        assert!(error.to_string().contains("3 MiB"), "{error}");
        assert_eq!(read_from(io::repeat(7).take(5), 5).expect("it ends"), [7; 5]);
        assert!(read_from(io::repeat(7).take(6), 5).is_err());
    }

    #[test]
    fn a_new_file_is_made_and_an_old_one_is_replaced() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("file");
        for text in ["first, and longer", "second"] {
            write(&path, text).expect("written");
            assert_eq!(content(&path), text);
        }
        write(&directory.path().join("empty"), "").expect("written");
        assert_eq!(names(directory.path()), ["empty", "file"]);
    }

    #[test]
    fn a_failure_leaves_the_old_file_and_nothing_beside_it() {
        let directory = tempfile::tempdir().expect("a directory");
        let (old, new) = (directory.path().join("old"), directory.path().join("new"));
        write(&old, "old").expect("written");
        for path in [&old, &new] {
            let failed = write_with(path, |out| {
                out.write_all("x".repeat(100_000).as_bytes())?;
                Err(io::Error::other("the disk is full"))
            });
            let error = failed.expect_err("it failed");
            assert_eq!(error.to_string(), format!("cannot write {}: the disk is full", path.display()));
        }
        assert_eq!(content(&old), "old");
        assert_eq!(names(directory.path()), ["old"]);
    }

    #[test]
    fn errors_name_the_target_and_never_the_temporary_file() {
        let directory = tempfile::tempdir().expect("a directory");
        write(&directory.path().join("file"), "").expect("written");
        let cases = [
            (directory.path().to_owned(), io::ErrorKind::IsADirectory),
            (directory.path().join("missing/file"), io::ErrorKind::NotFound),
            (directory.path().join("file/file"), io::ErrorKind::NotADirectory),
        ];
        for (path, kind) in cases {
            let error = write(&path, "x").expect_err("it cannot be written");
            assert_eq!(error.error.kind(), kind, "{error}");
            assert_eq!(error.path, path);
            let text = error.to_string();
            assert!(text.starts_with(&format!("cannot write {}: ", path.display())), "{text}");
            assert!(!text.contains(".bubbleproof"), "{text}");
        }
        assert_eq!(names(directory.path()), ["file"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_new_file_has_the_usual_permissions_and_an_old_one_keeps_its_own() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().expect("a directory");
        let (path, plain) = (directory.path().join("file"), directory.path().join("plain"));
        fs::write(&plain, "").expect("written");
        let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o7777;
        write(&path, "1").expect("written");
        assert_eq!(mode(&path), mode(&plain));
        // What the mask of the process would take from a new file is kept as well.
        for kept in [0o600, 0o666, 0o755, 0o640] {
            fs::set_permissions(&path, fs::Permissions::from_mode(kept)).expect("set");
            write(&path, "2").expect("written");
            assert_eq!(mode(&path), kept);
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_may_not_be_written_is_not_replaced() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("file");
        write(&path, "old").expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).expect("set");
        let error = write(&path, "new").expect_err("it is protected");
        assert_eq!(error.error.kind(), io::ErrorKind::PermissionDenied, "{error}");
        assert_eq!(content(&path), "old");
        assert_eq!(names(directory.path()), ["file"]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_that_is_open_is_written_to_and_not_replaced() {
        use std::os::fd::AsRawFd;
        use std::os::unix::fs::{MetadataExt, symlink};
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("log");
        let mut log = File::create(&path).expect("made");
        log.write_all(b"before\n").expect("written");
        let file = fs::metadata(&path).expect("there").ino();
        let number = log.as_raw_fd();
        let link = directory.path().join("link");
        symlink(format!("/dev/fd/{number}"), &link).expect("linked");
        let names = [
            format!("/proc/self/fd/{number}"),
            format!("/dev/fd/{number}"),
            format!("/proc/{}/fd/{number}", std::process::id()),
            link.display().to_string(),
        ];
        for name in &names {
            write(Path::new(name), "new\n").expect("written");
        }
        assert_eq!(content(&path), format!("before\n{}", "new\n".repeat(names.len())));
        assert_eq!(fs::metadata(&path).expect("there").ino(), file, "it is another file");
    }

    #[cfg(unix)]
    #[test]
    fn links_stay_links_and_the_file_they_lead_to_is_written() {
        use std::os::unix::fs::symlink;
        let directory = tempfile::tempdir().expect("a directory");
        let at = |name: &str| directory.path().join(name);
        fs::create_dir(at("folder")).expect("made");
        write(&at("folder/file"), "old").expect("written");
        symlink("folder/file", at("relative")).expect("linked");
        symlink(at("folder/file"), at("absolute")).expect("linked");
        symlink("relative", at("twice")).expect("linked");
        symlink("../nowhere", at("folder/dangling")).expect("linked");
        symlink("folder/dangling", at("dangling twice")).expect("linked");
        symlink("folder", at("linked folder")).expect("linked");
        for (link, target) in [
            ("relative", "folder/file"),
            ("absolute", "folder/file"),
            ("twice", "folder/file"),
            ("folder/dangling", "nowhere"),
            ("dangling twice", "nowhere"),
            ("linked folder/file", "folder/file"),
        ] {
            if target == "nowhere" {
                _ = fs::remove_file(at(target));
            }
            write(&at(link), link).expect("written");
            assert_eq!(content(&at(target)), link);
            let is_link = fs::symlink_metadata(at(link)).expect("there").is_symlink();
            assert_eq!(is_link, link != "linked folder/file", "{link}");
        }
        assert_eq!(names(&at("folder")), ["dangling", "file"]);
        let all = ["absolute", "dangling twice", "folder", "linked folder", "nowhere", "relative", "twice"];
        assert_eq!(names(directory.path()), all);
    }

    #[cfg(unix)]
    #[test]
    fn links_that_lead_nowhere_at_all_are_refused() {
        use std::os::unix::fs::symlink;
        let directory = tempfile::tempdir().expect("a directory");
        let at = |name: &str| directory.path().join(name);
        symlink("round", at("and")).expect("linked");
        symlink("and", at("round")).expect("linked");
        symlink("missing/file", at("into nothing")).expect("linked");
        symlink(directory.path(), at("back")).expect("linked");
        for (link, said) in
            [("round", "symbolic links"), ("into nothing", "No such file"), ("back", "directory")]
        {
            let error = write(&at(link), "x").expect_err("no file").to_string();
            assert!(error.contains(said) && error.contains(link), "{error}");
        }
        assert_eq!(names(directory.path()), ["and", "back", "into nothing", "round"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_device_is_written_to_and_stays_one() {
        write(Path::new("/dev/null"), "x").expect("written");
        assert!(!fs::metadata("/dev/null").expect("there").is_file());
    }
}
