//! The library of theorems: every theorem of the documentation, with the files that prove it and with
//! negative controls, mutated twins that must have a counterexample.
//!
//! Where a theorem rests on a step that no file covers, its entry says so and the documentation has the
//! proof.

mod bubble_free;
mod families;
mod free;
mod index;
mod linear;
mod makespans;
mod squeezed;
mod v_half;
mod v_min;
mod window;

pub use index::index;

use super::ProveError;
use super::expected::Expected;
use super::script::Script;
use crate::smt::{SmtError, Solver};
use crate::stop::Stop;

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
    /// Whether it is a negative control: a false statement near a theorem, which must have a counterexample.
    #[must_use]
    pub fn is_negative_control(&self) -> bool {
        self.expected == Expected::Sat
    }

    /// What a solver answers before it is time to stop; `Unknown` when it does not.
    ///
    /// # Errors
    /// When the solver fails, asked twice, or what was chosen is none.
    pub fn answer(&self, solver: &mut Solver, stop: &Stop) -> Result<Expected, SmtError> {
        super::solver::answer(&self.text, solver, stop)
    }
}

/// A statement that a file asks about: all of the file but its assertions.
pub(super) struct Question<'a> {
    /// The theorem that it belongs to.
    pub theorem: &'a NamedTheorem,
    /// The path of the file without its ending.
    pub name: String,
    /// The statement: a sentence without its full stop.
    pub statement: String,
    /// For a proof, where it is used; for a negative control, what is false about it. Likewise.
    pub used: &'a str,
    /// For what it holds.
    pub domain: String,
}

impl Question<'_> {
    /// The file of a true statement: the script asks for a counterexample.
    pub fn proof(self, script: Script) -> ProofFile {
        let words = [
            format!("Theorem {}: {}.", self.theorem.name, self.statement),
            format!("Domain: {}.", self.domain),
            format!("Used {}.", self.used),
            "This file asks for a counterexample: the answer unsat proves the statement.".to_owned(),
        ];
        self.file(script, words, Expected::Unsat)
    }

    /// The file of a false statement: its script has a counterexample.
    pub fn negative_control(self, script: Script) -> ProofFile {
        let words = [
            format!(
                "Negative control of theorem {}, a false statement: {}.",
                self.theorem.name, self.statement
            ),
            format!("Domain: {}.", self.domain),
            format!("Used as a negative control: {}.", self.used),
            "This file asks for a counterexample: the answer sat refutes the statement.".to_owned(),
        ];
        self.file(script, words, Expected::Sat)
    }

    fn file(self, mut script: Script, words: [String; 4], expected: Expected) -> ProofFile {
        script.head(words);
        let text = script.text(expected);
        let statement = match expected {
            Expected::Sat => format!("False: {}: {}.", self.used, self.statement),
            _ => format!("{}.", self.statement),
        };
        let (theorem, used) = (self.theorem.name.to_owned(), self.used.to_owned());
        ProofFile { theorem, name: self.name, statement, used, domain: self.domain, expected, text }
    }
}

/// How the files of a theorem are made.
type Files = fn(&Stop) -> Result<Vec<ProofFile>, ProveError>;

/// Every theorem with its files, in the order of the documentation.
const LIBRARY: [(NamedTheorem, Files); 12] = [
    (families::VALIDITY, |_| families::validity()),
    (families::WAITS, |_| families::waits()),
    (families::MEMORY, |_| families::memory()),
    (v_min::THEOREM, |_| Ok(v_min::files())),
    (squeezed::INTERVAL, squeezed::intervals),
    (squeezed::LATENCY, squeezed::latency),
    (squeezed::MAKESPAN, squeezed::makespans),
    (window::THEOREM, |_| Ok(window::files())),
    (makespans::THEOREM, |_| makespans::files()),
    (linear::THEOREM, |_| Ok(linear::files())),
    (bubble_free::THEOREM, |_| Ok(bubble_free::files())),
    (v_half::THEOREM, |_| Ok(v_half::files())),
];

/// The theorems of the library, in the order of the documentation.
#[must_use]
pub fn named() -> Vec<NamedTheorem> {
    LIBRARY.into_iter().map(|(theorem, _)| theorem).collect()
}

/// Every file of the library, theorem by theorem; nothing when it was time to stop before all were made.
///
/// # Errors
/// When a shipped family is not well formed, which is a defect.
pub fn library(stop: &Stop) -> Result<Option<Vec<ProofFile>>, ProveError> {
    let mut all = Vec::new();
    for (_, files) in LIBRARY {
        let files = files(stop);
        // What is made then may be a part, or no more than that it was time to stop.
        if stop.is_due() {
            return Ok(None);
        }
        all.extend(files?);
    }
    Ok(Some(all))
}

#[cfg(test)]
mod tests;
