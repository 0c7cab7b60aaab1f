//! Regression tests for designs: compares what is found of block families, schedules and models with what was accepted.
//!
//! A directory has a manifest, `regress.toml`, that names designs, and a [`Record`] for each: text with one
//! fact in a line. [`Suite::check`] finds every fact anew and [compares](fn@compare): what got worse beyond its
//! threshold is a regression, and so is a design that vanished or has no record, and every promise that
//! is broken. [`Suite::accept`] makes what was found the record.
//!
//! Whether a schedule is valid, its figures and its memory come from `replay`; of a block the algebra must say
//! the same, or nothing is said at all. Theorems come from `prove`, bounds from `certificate`, and
//! communication from `comm`.
//!
//! ```
//! let manifest = "[[family]]\nname = \"half\"\nfile = \"half.toml\"\npromise = \"peak <= d + 3\"\n";
//! let manifest = bubbleproof::regress::parse(manifest)?;
//! assert_eq!(manifest.designs[0].name, "half");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod cache;
mod cause;
mod change;
mod check;
mod compare;
mod error;
mod fact;
mod figures;
mod init;
mod inputs;
mod kept;
mod lines;
mod manifest;
mod measure;
mod moved;
mod promise;
mod record;
mod recorded;
mod redraw;
mod report;
mod spots;
mod suite;
mod threshold;

pub use cache::Cache;
pub use cause::{Cause, Effect};
pub use change::{Change, Severity};
pub use check::CheckOptions;
pub use compare::compare;
pub use error::RegressError;
pub use fact::{Fact, Key, Place, RecordedVerdict, Value, What};
pub use figures::Figures;
pub use init::{InitError, Initialised, initialise};
pub use inputs::{FileKind, InputError};
pub use manifest::{DEVICES, Design, DesignSource, MICROBATCHES, Manifest, Promise, Sizes, parse};
pub use measure::MeasureError;
pub use promise::{Measurable, Quantity};
pub use record::{RECORD_FORMAT, Record, RecordError, RecordProblem};
pub use redraw::BeforeAfter;
pub use report::{CheckedDesign, DesignOutcome, SuiteReport, Tally};
pub use suite::{Accepted, MANIFEST, Suite, UnitNames};
pub use threshold::{Allowance, Allowances, Metric};
