//! What can go wrong between a solver and us.

use super::VARIABLE;

/// How to get a solver, for messages.
macro_rules! how_to_get_one {
    () => {
        "`pip install z3-solver`, or the package `z3` or `cvc5` of Debian, brings one; in a checkout of \
         bubbleproof, `make setup` does"
    };
}

/// Why a solver gives no answer: there is none that can be asked, or it [failed](Self::is_failure).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SmtError {
    /// Nobody named a solver, and none was found.
    #[error(
        "no SMT solver: {VARIABLE} is not set, and neither z3 nor cvc5 is on the PATH ({})",
        how_to_get_one!()
    )]
    NoSolver,
    /// The solver that was named is not there.
    #[error(
        "no SMT solver: {VARIABLE} names `{name}`, which is not a program here ({}; without the variable, z3 or \
         cvc5 is taken from the PATH)",
        how_to_get_one!()
    )]
    Missing {
        /// The value of the variable.
        name: String,
    },
    /// The operating system does not run it.
    #[error("the SMT solver `{program}` does not start: {message}")]
    Start {
        /// The program.
        program: String,
        /// What the operating system says.
        message: String,
    },
    /// It is a program, but not a supported solver.
    #[error(
        "`{program}` is not a supported SMT solver: expected Z3 or cvc5, but it identifies itself as `{said}`"
    )]
    Foreign {
        /// The program.
        program: String,
        /// What it said when asked for its name.
        said: String,
    },
    /// It ended in the middle of a question.
    #[error("the SMT solver `{program}` ended without an answer ({status}){}", after_colon(.last_words))]
    Died {
        /// The program.
        program: String,
        /// How it ended.
        status: String,
        /// The beginning of what it wrote to standard error.
        last_words: String,
    },
    /// It replied with `(error ...)`.
    #[error("the SMT solver `{program}` refuses the question: {message}")]
    Refused {
        /// The program.
        program: String,
        /// What it said.
        message: String,
    },
    /// It said something that is no reply to what it was asked.
    #[error("the SMT solver `{program}` says `{said}` where {expected} is expected")]
    Unexpected {
        /// The program.
        program: String,
        /// What it said, or the beginning of it.
        said: String,
        /// What would be a reply.
        expected: &'static str,
    },
    /// A model was asked for where there is none, or commands were given to a solver that has ended.
    #[error("internal error: the SMT solver `{program}` has no question to go on with")]
    Ended {
        /// The program.
        program: String,
    },
}

impl SmtError {
    /// Whether a solver failed at a question, which another process, or another question, need not do.
    /// Otherwise there is no solver, or what was chosen is none.
    #[must_use]
    pub const fn is_failure(&self) -> bool {
        matches!(self, Self::Died { .. } | Self::Refused { .. } | Self::Unexpected { .. })
    }
}

fn after_colon(words: &str) -> String {
    if words.is_empty() { String::new() } else { format!(": {words}") }
}
