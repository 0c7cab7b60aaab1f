//! What became of designs: the answer of a check.

use super::change::Change;
use std::collections::BTreeSet;

use super::fact::{Fact, Key, Place, RecordedVerdict, Value, What};
use super::record::Record;

/// What became of a design.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum DesignOutcome {
    /// It has no record.
    New,
    /// It has a record, and the manifest does not name it.
    Vanished,
    /// Something is worse beyond its threshold.
    Worse,
    /// Nothing is worse, and something is better.
    Better,
    /// Something is neither worse nor better, but not as it was.
    Changed,
    /// Everything is as it was recorded, as far as this build can tell.
    Unchanged,
}

impl DesignOutcome {
    /// The word for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::New => "not recorded",
            Self::Vanished => "vanished",
            Self::Worse => "worse",
            Self::Better => "better",
            Self::Changed => "changed",
            Self::Unchanged => "unchanged",
        }
    }
}

/// A design, against its record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedDesign {
    /// Its name.
    pub design: String,
    /// What it is: `family`, `schedule`, `named`, `model`; nothing where it vanished.
    pub kind: Option<&'static str>,
    /// Where the manifest names it, in bytes.
    pub span: std::ops::Range<usize>,
    /// What became of it.
    pub outcome: DesignOutcome,
    /// All that is not as it was recorded, the worst first.
    pub changes: Vec<Change>,
    /// How many theorems and promises this build cannot decide.
    pub undecided: usize,
    /// What was found; nothing where it vanished.
    pub found: Option<Record>,
    /// Whether it comes from the cache.
    pub cached: bool,
    /// Whether the manifest says that it is invalid.
    pub is_expected_to_be_invalid: bool,
    /// Where it is invalid though the manifest cannot be taken to expect it, which says so of the design as a whole:
    /// the record has it invalid elsewhere, or the design is still valid elsewhere, and the record has nothing invalid
    /// here. Nothing where there is no record.
    pub newly_invalid: Vec<Place>,
}

/// All designs, against their records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuiteReport {
    /// In the order of the manifest, then those that vanished.
    pub results: Vec<CheckedDesign>,
}

/// How many designs there are of each kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Without a record.
    pub new: usize,
    /// With a record only.
    pub vanished: usize,
    /// With a regression.
    pub worse: usize,
    /// Better.
    pub better: usize,
    /// Changed, neither worse nor better.
    pub changed: usize,
    /// As recorded.
    pub unchanged: usize,
    /// Theorems and promises that this build cannot decide.
    pub undecided: usize,
}

impl CheckedDesign {
    /// Whether a promise is broken: no record makes that good.
    #[must_use]
    pub fn breaks_a_promise(&self) -> bool {
        let broken = |fact: &Fact| {
            matches!(
                fact,
                Fact {
                    key: Key { what: What::Promise(_), .. },
                    value: Value::Verdict(RecordedVerdict::Refuted, _)
                }
            )
        };
        self.found.as_ref().is_some_and(|found| found.facts.iter().any(broken))
    }

    /// Whether it is invalid somewhere, or its sends and receives are not safe.
    #[must_use]
    pub fn is_invalid(&self) -> bool {
        self.found.as_ref().is_some_and(|found| !judged(found, false).is_empty())
    }

    /// Whether it is valid or not as the manifest expects, and [where](Self::newly_invalid) it can. What is otherwise
    /// cannot be accepted: no record makes it good.
    #[must_use]
    pub fn is_as_expected(&self) -> bool {
        let is_expected = self.is_invalid() == self.is_expected_to_be_invalid;
        self.found.is_none() || (is_expected && self.newly_invalid.is_empty())
    }

    /// Whether it fails even where everything about it has been accepted.
    #[must_use]
    pub fn fails_when_accepted(&self) -> bool {
        self.breaks_a_promise() || !self.is_as_expected()
    }

    /// Whether it is a regression; if strict, whether it is not exactly as recorded.
    #[must_use]
    pub fn fails(&self, strict: bool) -> bool {
        match self.outcome {
            DesignOutcome::New | DesignOutcome::Vanished | DesignOutcome::Worse => true,
            DesignOutcome::Better | DesignOutcome::Changed => strict,
            DesignOutcome::Unchanged => strict && self.undecided > 0,
        }
    }
}

/// The places at which a record says that a design is valid and its sends and receives are safe, or that it is not so.
fn judged(record: &Record, verdict: bool) -> BTreeSet<&Place> {
    let says_so = |fact: &&Fact| {
        matches!(fact.key.what, What::Valid | What::Communication) && fact.value == Value::Truth(verdict)
    };
    record.facts.iter().filter(says_so).map(|fact| &fact.key.place).collect()
}

/// Where a design that the manifest expects to be invalid is so without its record saying it. The manifest says it of
/// all its schedules and sizes at once; so a record without anything invalid bears it out only where all of them are.
pub(super) fn newly_invalid(found: &Record, old: &Record) -> Vec<Place> {
    let (invalid, recorded) = (judged(found, false), judged(old, false));
    if recorded.is_empty() && judged(found, true).is_subset(&invalid) {
        return Vec::new();
    }
    invalid.difference(&recorded).map(|&place| place.clone()).collect()
}

impl SuiteReport {
    /// Whether any design fails.
    #[must_use]
    pub fn fails(&self, strict: bool) -> bool {
        self.results.iter().any(|result| result.fails(strict))
    }

    /// How many there are of each kind.
    #[must_use]
    pub fn tally(&self) -> Tally {
        let mut tally = Tally::default();
        for result in &self.results {
            *match result.outcome {
                DesignOutcome::New => &mut tally.new,
                DesignOutcome::Vanished => &mut tally.vanished,
                DesignOutcome::Worse => &mut tally.worse,
                DesignOutcome::Better => &mut tally.better,
                DesignOutcome::Changed => &mut tally.changed,
                DesignOutcome::Unchanged => &mut tally.unchanged,
            } += 1;
            tally.undecided += result.undecided;
        }
        tally
    }
}
