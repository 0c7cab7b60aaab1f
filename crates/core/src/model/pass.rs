//! Passes: what a device runs for one stage and one microbatch.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Microbatch, Stage};
use crate::text::Shown;

/// The kind of a pass.
///
/// Exhaustive on purpose: code that tells passes apart has to handle every kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Forward.
    F,
    /// Recomputation of a forward from its checkpoint.
    R,
    /// Input-gradient part of the backward (B in the zero-bubble papers).
    I,
    /// Weight-gradient part of the backward.
    W,
    /// Full backward: I and W fused.
    B,
}

impl Kind {
    /// How many kinds there are.
    pub const COUNT: usize = 5;

    /// All kinds, in the order in which a stage runs them.
    pub const ALL: [Self; Self::COUNT] = [Self::F, Self::R, Self::I, Self::W, Self::B];

    /// The letter of the text form.
    #[must_use]
    pub const fn letter(self) -> char {
        match self {
            Self::F => 'F',
            Self::R => 'R',
            Self::I => 'I',
            Self::W => 'W',
            Self::B => 'B',
        }
    }

    /// The kind with this letter.
    #[must_use]
    pub(crate) fn from_letter(letter: char) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.letter() == letter)
    }

    /// Whether the pass yields the gradient that the stage before waits for.
    #[must_use]
    pub const fn yields_input_gradient(self) -> bool {
        matches!(self, Self::I | Self::B)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.letter())
    }
}

/// One pass of one microbatch through one stage. Its text form is stage, letter, microbatch:
/// `3F0`, as in PyTorch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pass {
    /// The stage it runs.
    pub stage: Stage,
    /// What it does.
    pub kind: Kind,
    /// The microbatch it works on.
    pub microbatch: Microbatch,
}

impl Pass {
    /// The pass of this kind for a stage and a microbatch.
    #[must_use]
    pub const fn new(stage: Stage, kind: Kind, microbatch: Microbatch) -> Self {
        Self { stage, kind, microbatch }
    }

    /// Another kind of pass of the same stage and microbatch.
    #[must_use]
    pub const fn with_kind(self, kind: Kind) -> Self {
        Self { kind, ..self }
    }
}

impl fmt::Display for Pass {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}{}{}", self.stage, self.kind, self.microbatch)
    }
}

/// Why a text is not a pass.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PassError {
    /// No digits before the letter.
    #[error("`{}` is not a pass: it does not start with a stage number, as `3F0` does", Shown(.0))]
    NoStage(String),
    /// The letter is none of F, I, W, B, R.
    #[error(
        "`{}` is not a pass: after the stage comes one of the letters F, I, W, B, R, as in `3F0`",
        Shown(.0)
    )]
    NoKind(String),
    /// No digits after the letter, or something after them.
    #[error(
        "`{}` is not a pass: after the letter comes the microbatch number and nothing else, as in `3F0`",
        Shown(.0)
    )]
    NoMicrobatch(String),
}

impl FromStr for Pass {
    type Err = PassError;

    fn from_str(text: &str) -> Result<Self, PassError> {
        let letter_at = text
            .find(|letter: char| !letter.is_ascii_digit())
            .ok_or_else(|| PassError::NoKind(text.to_owned()))?;
        let stage = number(&text[..letter_at]).ok_or_else(|| PassError::NoStage(text.to_owned()))?;
        let letter = text[letter_at..].chars().next().expect("a letter was found there");
        let kind = Kind::from_letter(letter).ok_or_else(|| PassError::NoKind(text.to_owned()))?;
        let microbatch = number(&text[letter_at + letter.len_utf8()..])
            .ok_or_else(|| PassError::NoMicrobatch(text.to_owned()))?;
        Ok(Self::new(Stage(stage), kind, Microbatch(microbatch)))
    }
}

/// A number in decimal digits alone, without the sign that `u32::from_str` would accept.
fn number(digits: &str) -> Option<u32> {
    if digits.bytes().all(|digit| digit.is_ascii_digit()) { digits.parse().ok() } else { None }
}

impl Serialize for Pass {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Pass {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        /// Parses borrowed text, so that reading millions of passes allocates nothing for each.
        struct Text;

        impl serde::de::Visitor<'_> for Text {
            type Value = Pass;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a pass such as \"3F0\"")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Pass, E> {
                text.parse().map_err(E::custom)
            }
        }

        deserializer.deserialize_str(Text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn malformed_passes_are_refused_for_the_right_reason() {
        let cases = [
            ("", "after the stage comes one of the letters"),
            ("F0", "does not start with a stage number"),
            ("3", "after the stage comes one of the letters"),
            ("3X0", "after the stage comes one of the letters"),
            ("3f0", "after the stage comes one of the letters"),
            ("3F", "after the letter comes the microbatch number"),
            ("3F0 ", "after the letter comes the microbatch number"),
            ("3F+1", "after the letter comes the microbatch number"),
            ("3Fé", "after the letter comes the microbatch number"),
            ("3é1", "after the stage comes one of the letters"),
            ("4294967296F0", "does not start with a stage number"),
            ("3F4294967296", "after the letter comes the microbatch number"),
        ];
        for (text, reason) in cases {
            let error = text.parse::<Pass>().expect_err(text).to_string();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn printing_then_parsing_gives_the_same_pass(stage: u32, kind in 0..Kind::COUNT, microbatch: u32) {
            let pass = Pass::new(Stage(stage), Kind::ALL[kind], Microbatch(microbatch));
            prop_assert_eq!(pass.to_string().parse(), Ok(pass));
        }
    }
}
