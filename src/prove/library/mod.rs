//! The library of theorems: every theorem of the documentation, with the files that prove it and with
//! controls, mutated twins that must have a counterexample.
//!
//! Where a theorem rests on a step that no file covers, its entry says so and the documentation has the
//! proof.

mod families;
mod index;

use std::time::Duration;

pub use index::index;

use super::ProveError;
use super::theorem::Expected;

/// A theorem of the library, for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamedTheorem {
    /// Its letter or slug, unique in the library.
    pub name: &'static str,
    /// What it is called.
    pub title: &'static str,
    /// What it says, in words.
    pub statement: &'static str,
    /// For what it holds.
    pub domain: &'static str,
    /// What its files prove.
    pub by_solver: &'static str,
    /// What is proved on paper, in the documentation; empty when nothing is.
    pub on_paper: &'static str,
    /// The heading in `docs/theorems.md` that it has, as an anchor.
    pub anchor: &'static str,
}

/// A file of the library: a question to any solver, and the answer that it must give.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProofFile {
    /// The letter or slug of the theorem that it belongs to.
    pub theorem: String,
    /// The path of the file under `proofs/`, without its ending, such as `d-v-min-memory/residue-0`.
    pub name: String,
    /// What it shows when the answer is `unsat`; what it refutes when the answer is `sat`.
    pub statement: String,
    /// Where that is used.
    pub used: String,
    /// For what it holds.
    pub domain: String,
    /// The answer that every solver must give.
    pub expected: Expected,
    /// SMT-LIB 2. The same file always has the same text.
    pub text: String,
}

impl ProofFile {
    /// Whether it is a control: a false statement near a theorem, which must have a counterexample.
    #[must_use]
    pub fn is_control(&self) -> bool {
        self.expected == Expected::Sat
    }

    /// What the solver of this build answers within a time limit; `Unknown` when it does not, and in a
    /// build without one.
    ///
    /// # Errors
    /// When the solver does not take in the whole text, which is a defect.
    pub fn answer(&self, limit: Duration) -> Result<Expected, ProveError> {
        #[cfg(feature = "smt")]
        return super::solver::answer(self, limit);
        #[cfg(not(feature = "smt"))]
        Ok(Expected::Unknown)
    }
}

/// How the files of a theorem are made.
type Files = fn() -> Result<Vec<ProofFile>, ProveError>;

/// Every theorem with its files, in the order of the documentation.
const LIBRARY: [(NamedTheorem, Files); 3] = [
    (families::VALIDITY, families::validity),
    (families::WAITS, families::waits),
    (families::MEMORY, families::memory),
];

/// The theorems of the library, in the order of the documentation.
#[must_use]
pub fn named() -> Vec<NamedTheorem> {
    LIBRARY.into_iter().map(|(theorem, _)| theorem).collect()
}

/// Every file of the library, theorem by theorem.
///
/// # Errors
/// When a shipped family is not well formed, which is a defect.
pub fn library() -> Result<Vec<ProofFile>, ProveError> {
    let files: Vec<Vec<ProofFile>> = LIBRARY.iter().map(|(_, files)| files()).collect::<Result<_, _>>()?;
    Ok(files.concat())
}
