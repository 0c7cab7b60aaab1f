//! What was found of designs that have not changed since.
//!
//! A cached finding is taken only where everything that it depends on is the same, byte for byte: the
//! design as the manifest states it, its files, the time limit, the version, the features and the *executable* of the
//! tool, and the version and the executable of the solver. After a change of either program, everything is found again.
//! A finding for which the time, or the solver, did not suffice is never kept, and a damaged one is not taken.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use sha2::{Digest, Sha256};

use super::inputs::Inputs;
use super::manifest::Design;
use super::record::Record;
use crate::smt::Program;
use crate::{files, prove};

const FORMAT: &str = "bubbleproof-regress-cache-1";

/// A directory of findings, for one executable.
#[derive(Debug, Clone)]
pub struct Cache {
    directory: PathBuf,
    tool: String,
}

impl Cache {
    /// The cache in a directory, which is made when something is kept there. Nothing where the running
    /// executable, or that of the solver, cannot be read: then nothing is known to be unchanged.
    #[must_use]
    pub fn at(directory: PathBuf) -> Option<Self> {
        let solver = Program::find().ok();
        let solver = solver.as_ref().map(Program::path);
        Self::of(directory, &std::env::current_exe().ok()?, solver)
    }

    /// The cache of this tool with this solver.
    fn of(directory: PathBuf, tool: &Path, solver: Option<&Path>) -> Option<Self> {
        let solver = solver.map_or_else(|| Some("none".to_owned()), content_of)?;
        let tool = format!(
            "{FORMAT} {} solver={} {solver} milp={} smt={} lcg={} {}",
            env!("CARGO_PKG_VERSION"),
            prove::solver_version(),
            cfg!(feature = "milp"),
            prove::has_solver(),
            cfg!(feature = "lcg"),
            content_of(tool)?
        );
        Some(Self { directory, tool })
    }

    /// The digest of everything that a finding depends on.
    #[must_use]
    pub(super) fn key(&self, design: &Design, inputs: &Inputs, limit: Duration) -> String {
        let mut hash = Sha256::new();
        let mut part = |text: &str| {
            // With its length, so that no two lists of parts give one text.
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text.as_bytes());
        };
        part(&self.tool);
        part(&format!("{limit:?}"));
        part(&format!("{} {:?} {:?}", design.name, design.subject, design.promises));
        for (file, text) in &inputs.texts {
            part(file);
            part(text);
        }
        hexadecimal(hash)
    }

    /// What was found under a key.
    #[must_use]
    pub fn get(&self, design: &str, key: &str) -> Option<Record> {
        let text = files::read_text(&self.file(design)).ok()?;
        let (head, body) = text.split_once('\n')?;
        let record = Record::parse(body).ok()?;
        (head == head_of(key, body) && record.design == design).then_some(record)
    }

    /// Keeps what was found under a key.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn put(&self, key: &str, record: &Record) -> io::Result<()> {
        fs::create_dir_all(&self.directory)?;
        let ignore = self.directory.join(".gitignore");
        if !ignore.exists() {
            files::write(&ignore, "*\n").map_err(|error| error.error)?;
        }
        let body = record.to_string();
        let text = format!("{}\n{body}", head_of(key, &body));
        files::write(&self.file(&record.design), text).map_err(|error| error.error)
    }

    fn file(&self, design: &str) -> PathBuf {
        self.directory.join(Path::new(&format!("{design}.cache")))
    }
}

/// The first line of a kept finding: its key, and the digest of what follows.
fn head_of(key: &str, body: &str) -> String {
    format!("{key} {}", hexadecimal(Sha256::new_with_prefix(body.as_bytes())))
}

/// The digest of what is in a file.
fn content_of(file: &Path) -> Option<String> {
    let mut hash = Sha256::new();
    io::copy(&mut File::open(file).ok()?, &mut Hashing(&mut hash)).ok()?;
    Some(hexadecimal(hash))
}

fn hexadecimal(hash: Sha256) -> String {
    let mut text = String::new();
    for byte in hash.finalize() {
        write!(text, "{byte:02x}").expect("texts grow");
    }
    text
}

struct Hashing<'a>(&'a mut Sha256);

impl Write for Hashing<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_solver_of_the_same_version_is_another_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::write(&path, text).expect("written");
            path
        };
        let (tool, one, other) = (file("tool", "tool"), file("z3", "one"), file("other", "other"));
        let of = |solver: Option<&Path>| Cache::of(PathBuf::new(), &tool, solver).map(|cache| cache.tool);
        assert!(of(None).is_some() && of(None) != of(Some(&one)));
        assert!(of(Some(&one)) != of(Some(&other)));
        assert_eq!(of(Some(&folder.path().join("nobody"))), None);
        file("z3", "updated");
        assert_ne!(of(Some(&one)), of(Some(&file("before", "one"))));
    }
}
