//! A difference between a design and its record, and how bad it is.

use super::fact::{Place, What};
use super::figures::Figures;

/// Something that is not as it was recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// How bad it is.
    pub severity: Severity,
    /// What it is about: a metric, `invalid`, `theorem`, `promise`, `moved` and so on.
    pub topic: String,
    /// Where, if not in the design as a whole.
    pub place: Place,
    /// All of it in a sentence.
    pub message: String,
    /// What explains it: a counterexample, a drawing.
    pub details: Vec<String>,
    /// What was recorded, and what was found, where they are figures or words.
    pub values: Option<(String, String)>,
    /// The kind of fact that changed; nothing where the change is about several, or about the record or the manifest.
    pub about: Option<What>,
    /// The pass of a block that moved: its kind and its chunk, such as `I0`.
    pub pass: Option<String>,
    /// The figure that changed; of several devices or stages, the one that changed most.
    pub figures: Option<Figures>,
}

/// How bad a change is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Severity {
    /// A regression.
    Worse,
    /// An improvement.
    Better,
    /// Neither: a pass that moved, or what is worse within its threshold.
    Changed,
    /// What was decided, and cannot be decided by this build.
    Undecided,
}

impl Severity {
    /// The word for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Worse => "worse",
            Self::Better => "better",
            Self::Changed => "changed",
            Self::Undecided => "undecided",
        }
    }
}

impl Change {
    pub(super) fn of(severity: Severity, topic: &str, place: &Place, message: String) -> Self {
        let (topic, place) = (topic.to_owned(), place.clone());
        let (details, values, about, pass, figures) = (Vec::new(), None, None, None, None);
        Self { severity, topic, place, message, details, values, about, pass, figures }
    }

    /// The same change, about a kind of fact.
    pub(super) fn about(self, what: &What) -> Self {
        Self { about: Some(what.clone()), ..self }
    }
}
