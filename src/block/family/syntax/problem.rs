//! What can be wrong with the text of a formula.

use std::ops::Range;

use super::super::formula::Variable;
use crate::text::{Escaped, Shown};

/// The longest formula in bytes: what it takes to evaluate one is bounded by its length.
pub const MAX_LENGTH: usize = 2000;

/// How deep parentheses, `if` and signs may be nested.
pub const MAX_NESTING: usize = 64;

/// What is wrong with the text of a formula or of a promise, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct FormulaError {
    /// What is wrong.
    pub problem: FormulaProblem,
    /// The bytes of the formula it is about.
    pub span: Range<usize>,
}

/// The ways in which the text of a formula or of a promise can be wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FormulaProblem {
    /// A character that formulas do not use.
    #[error("`{}` has no meaning in a formula", Escaped(.0.encode_utf8(&mut [0; 4])))]
    Character(char),
    /// A name that is neither a variable nor a word of formulas.
    #[error(
        "`{}` is not known; there are i, d, div, mod, if, and, or; in promises also peak, interval, bubble, peak_1f1b, when; \
         after `when` only tF, tI, tW, and, or",
        Shown(.0)
    )]
    Name(String),
    /// A variable that has no value at the place of the formula.
    #[error("`{0}` has no value here")]
    Variable(Variable),
    /// A name of nothing that is measured, in a promise about what is.
    #[error("`{}` is not measured; there are {}", Shown(.name), .known.join(", "))]
    NotMeasured {
        /// The name.
        name: String,
        /// The names of what is measured.
        known: Vec<&'static str>,
    },
    /// A number that does not fit 64 bits.
    #[error("the number does not fit 64 bits")]
    Number,
    /// A decimal that is none, or has too many digits.
    #[error("`{}` is not a number with at most nine digits on either side of its point", Shown(.0))]
    Decimal(String),
    /// Something else than what must come next.
    #[error("expected {expected}, found {}", Shown(.found))]
    Expected {
        /// What must come next.
        expected: &'static str,
        /// What does.
        found: String,
    },
    /// A condition where a number is required.
    #[error("expected a number, but this is a condition")]
    NotNumber,
    /// A number where a condition is required.
    #[error("expected a condition, but this is a number")]
    NotCondition,
    /// A product of two variable quantities.
    #[error("one side of `*` must be a constant")]
    NotLinear,
    /// A divisor that is not a positive constant.
    #[error("the right side of `{0}` must be a positive constant")]
    Divisor(&'static str),
    /// Something else than `bubble = 0` that is promised for some durations.
    #[error("a promise for all durations with a condition must be `bubble = 0`")]
    NotBubbleFree,
    /// A condition that does not compare durations with each other.
    #[error(
        "durations are compared by `=`, `<=` or `>=`: sums of multiples of tF, tI and tW, with each other or with 0"
    )]
    NotOfDurations,
    /// Too long.
    #[error("a formula has at most {MAX_LENGTH} bytes")]
    TooLong,
    /// Nested too deep.
    #[error("a {text} is nested at most {MAX_NESTING} deep")]
    TooDeep {
        /// What the text is: a formula, or a promise about what is measured.
        text: &'static str,
    },
}
