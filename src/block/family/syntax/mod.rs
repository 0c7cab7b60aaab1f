//! The text of formulas and of promises: reading with located errors.
//!
//! ```text
//! promise    := condition [ "when" condition ]
//! condition  := conjunct { "or" conjunct }
//! conjunct   := relation { "and" relation }
//! relation   := sum [ ("=" | "!=" | "<" | "<=" | ">" | ">=") sum ]
//! sum        := product { ("+" | "-") product }
//! product    := factor { ("*" | "/" | "div" | "mod") factor }
//! factor     := number | name | "-" factor | "(" condition ")" | "if" "(" condition "," sum "," sum ")"
//! ```
//!
//! There is one [grammar] with two languages. Formulas to prove are written in linear integer arithmetic ([`linear`]):
//! one side of `*` and the right side of `div` and `mod` are constants, and there is no `/`. Promises to measure
//! (`regress::Measurable`) have decimals and `/`, but no `div`, `mod`, `if` or `when`.
//!
//! `bubble = 0` precedes `when`, and a condition on durations follows it: sums of multiples of `tF`, `tI` and `tW`,
//! compared by `=`, `<=` or `>=` with each other or with 0.

mod grammar;
mod linear;
mod problem;
mod token;

use std::fmt;

pub(crate) use grammar::{Language, Parser};
#[cfg(test)]
pub(crate) use problem::MAX_LENGTH;
pub(crate) use problem::MAX_NESTING;
pub use problem::{FormulaError, FormulaProblem};
pub(crate) use token::{Token, Vocabulary};

use super::bubble_free::BubbleFree;
use super::formula::{Comparison, Condition, Formula, Variable};
use linear::Linear;

/// Reads a formula over some variables whose value is an integer.
///
/// # Errors
/// When the text is no such formula.
pub fn parse_formula(text: &str, variables: &[Variable]) -> Result<Formula, FormulaError> {
    Parser::new(text, Linear { variables })?.whole()?.number()
}

/// Reads a formula over some variables that is true or false.
///
/// # Errors
/// When the text is no such formula.
pub fn parse_condition(text: &str, variables: &[Variable]) -> Result<Condition, FormulaError> {
    Parser::new(text, Linear { variables })?.whole()?.condition()
}

/// What a family promises.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Promise {
    /// Something about every device of its block.
    Everywhere(Condition),
    /// That its order has no bubble, for all durations with a condition.
    BubbleFree(BubbleFree),
}

impl fmt::Display for Promise {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Everywhere(promise) => promise.fmt(out),
            Self::BubbleFree(promise) => promise.fmt(out),
        }
    }
}

/// Reads a promise.
///
/// # Errors
/// When the text is none.
pub fn parse_promise(text: &str) -> Result<Promise, FormulaError> {
    let mut parser = Parser::new(text, Linear { variables: &Variable::PROMISED })?;
    let claim = parser.disjunction()?;
    if !parser.is_next("when") {
        return Ok(Promise::Everywhere(parser.ended(claim)?.condition()?));
    }
    let span = claim.span.clone();
    let zero =
        Condition::Compare(Formula::Variable(Variable::Bubble), Comparison::Equal, Formula::Integer(0));
    if claim.condition()? != zero {
        return Err(FormulaError { problem: FormulaProblem::NotBubbleFree, span });
    }
    parser.language.variables = &Variable::DURATIONS;
    parser.advance()?;
    let when = parser.whole()?;
    let span = when.span.clone();
    let promise = BubbleFree::new(when.condition()?);
    let promise = promise.ok_or(FormulaError { problem: FormulaProblem::NotOfDurations, span })?;
    Ok(Promise::BubbleFree(promise))
}
