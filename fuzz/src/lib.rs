//! What is fuzzed, and what must hold of it. Each target is a function of bytes that panics when something is wrong.
//!
//! Four read their input as a text; the others take it as a row of choices, of which they build problems and claims
//! whose truth is known otherwise. `tests/files/fuzzed.rs` runs all of them on the seeds and on what fuzzing found,
//! without a fuzzer.

mod beyond;
mod certificates;
mod choices;
mod execution;
mod held;
mod jobs;
mod machine;
mod machines;
#[path = "../../tests/library/laws/naive.rs"]
mod naive;
mod plans;
mod problems;
mod readers;
#[allow(clippy::duplicate_mod, reason = "the tests that run these targets have it of their own too")]
#[path = "../../tests/files/communication/runtime.rs"]
mod runtime;
mod seeds;

pub use certificates::certificates;
pub use execution::execution;
pub use jobs::jobs;
pub use machines::machines;
pub use plans::plans;
pub use readers::{schedules, tables, traces};
pub use seeds::seeds;

/// A target: its name, and what it does with an input.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const TARGETS: [Target; 8] = [
    ("tables", tables),
    ("schedules", schedules),
    ("traces", traces),
    ("jobs", jobs),
    ("execution", execution),
    ("plans", plans),
    ("certificates", certificates),
    ("machines", machines),
];
