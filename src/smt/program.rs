//! Which solver is asked: the program that a variable names, or one on the PATH.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::SmtError;

/// The environment variable that names the solver: a path, or the name of a program on the PATH.
pub const VARIABLE: &str = "BUBBLEPROOF_SMT_SOLVER";

/// The solvers that are looked for on the PATH, the better one first.
const NAMES: [&str; 2] = ["z3", "cvc5"];

/// A solver's own ways, beside what SMT-LIB lays down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// Z3: questions without a logic, weighted sums of Booleans, its own options.
    Z3,
    /// cvc5.
    Cvc5,
}

/// A program that is there, and how it wants to be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    path: PathBuf,
    language: Language,
}

impl Program {
    /// The solver that `BUBBLEPROOF_SMT_SOLVER` names; where that is not set or empty, `z3` or else `cvc5` on the PATH.
    ///
    /// # Errors
    /// When there is none. One that is named and not there is never replaced by another.
    pub fn find() -> Result<Self, SmtError> {
        Self::among(env::var_os(VARIABLE).as_deref(), env::var_os("PATH").as_deref())
    }

    /// The solver with this path, or with this name on the PATH.
    ///
    /// # Errors
    /// When it is not there.
    pub fn named(name: &OsStr) -> Result<Self, SmtError> {
        Self::among(Some(name), env::var_os("PATH").as_deref())
    }

    /// A program at a path. One whose name contains `cvc5` is started as cvc5 wants it, any other as Z3
    /// does; what it says of itself must agree.
    #[must_use]
    pub fn at(path: PathBuf) -> Self {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        let language = if name.contains("cvc5") { Language::Cvc5 } else { Language::Z3 };
        Self { path, language }
    }

    /// The solver for a value of [`VARIABLE`] and one of PATH.
    pub(super) fn among(named: Option<&OsStr>, path: Option<&OsStr>) -> Result<Self, SmtError> {
        let folders: Vec<PathBuf> = path.into_iter().flat_map(env::split_paths).collect();
        if let Some(name) = named.filter(|name| !name.is_empty()) {
            let found = if Path::new(name).components().count() > 1 {
                Some(PathBuf::from(name)).filter(|path| is_program(path))
            } else {
                on_path(name, &folders)
            };
            let missing = || SmtError::Missing { name: name.to_string_lossy().into_owned() };
            return found.map(Self::at).ok_or_else(missing);
        }
        let found = NAMES.iter().find_map(|name| on_path(OsStr::new(name), &folders));
        found.map(Self::at).ok_or(SmtError::NoSolver)
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What it speaks.
    #[must_use]
    pub const fn language(&self) -> Language {
        self.language
    }

    /// The arguments with which it reads SMT-LIB 2 from standard input and answers at once.
    pub(super) const fn arguments(&self) -> &'static [&'static str] {
        match self.language {
            Language::Z3 => &["-smt2", "-in"],
            Language::Cvc5 => &["--quiet", "--incremental", "--produce-models", "--lang", "smt2"],
        }
    }
}

fn on_path(name: &OsStr, folders: &[PathBuf]) -> Option<PathBuf> {
    let mut file = name.to_owned();
    if Path::new(name).extension().is_none() {
        file.push(env::consts::EXE_SUFFIX);
    }
    folders.iter().map(|folder| folder.join(&file)).find(|path| is_program(path))
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.is_file()
}
