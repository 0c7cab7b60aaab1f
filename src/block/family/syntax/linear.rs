//! Formulas of linear integer arithmetic, about which theorems can be proved: one side of `*` and the right
//! side of `div` and `mod` are constants.

use std::ops::Range;

use super::super::formula::{Comparison, Condition, Formula, Variable};
use super::grammar::{Language, Parser};
use super::problem::{FormulaError, FormulaProblem, MAX_NESTING};
use super::token::{Token, TokenKind, Vocabulary};

/// Linear integer arithmetic over some variables.
pub(super) struct Linear<'a> {
    /// The variables that have a value in the formula.
    pub variables: &'a [Variable],
}

/// The operators that bind as tightly as `*`.
#[derive(Debug, Clone, Copy)]
pub(super) enum Product {
    Times,
    Quotient,
    Remainder,
}

impl Linear<'_> {
    fn variable(&self, name: &str) -> Result<Variable, FormulaProblem> {
        let variable = Variable::ALL.into_iter().find(|variable| variable.name() == name);
        let variable = variable.ok_or_else(|| FormulaProblem::Name(name.to_owned()))?;
        if self.variables.contains(&variable) {
            Ok(variable)
        } else {
            Err(FormulaProblem::Variable(variable))
        }
    }
}

impl Language for Linear<'_> {
    type Number = Formula;
    type Condition = Condition;
    type Product = Product;

    const TEXT: &'static str = "formula";
    const VOCABULARY: Vocabulary = Vocabulary {
        words: &["div", "mod", "if", "and", "or", "when"],
        symbols: &["<=", ">=", "!=", "=="],
        decimals: false,
    };
    const PRODUCTS: &'static [(&'static str, Product)] =
        &[("*", Product::Times), ("div", Product::Quotient), ("mod", Product::Remainder)];
    const DEPTH: usize = MAX_NESTING;
    const MIXED: bool = true;
    const FACTOR: &'static str = "a number, a variable, `(` or `if`";
    const AFTER: &'static str = "an operator or the end";

    fn refusal(&self, token: &Token<'_>) -> Option<FormulaProblem> {
        const SYMBOLS: [&str; 13] = ["+", "-", "*", "(", ")", ",", "=", "==", "!=", "<", "<=", ">", ">="];
        match token.kind {
            // One more than `i64::MAX` may still follow a minus sign.
            TokenKind::Number => token.text.parse::<u64>().err().map(|_| FormulaProblem::Number),
            TokenKind::Name => self.variable(token.text).err(),
            TokenKind::Symbol if !SYMBOLS.contains(&token.text) => {
                token.text.chars().next().map(FormulaProblem::Character)
            }
            TokenKind::Symbol | TokenKind::Word | TokenKind::End => None,
        }
    }

    fn number(&self, digits: &str) -> Result<Formula, FormulaProblem> {
        digits.parse().map(Formula::Integer).map_err(|_| FormulaProblem::Number)
    }

    fn negative(&self, digits: &str) -> Option<Result<Formula, FormulaProblem>> {
        Some(format!("-{digits}").parse().map(Formula::Integer).map_err(|_| FormulaProblem::Number))
    }

    fn quantity(&self, name: &str) -> Result<Formula, FormulaProblem> {
        self.variable(name).map(Formula::Variable)
    }

    /// `"if" "(" condition "," sum "," sum ")"`
    fn special(parser: &mut Parser<'_, Self>) -> Result<Option<Formula>, FormulaError> {
        if !parser.take("if")? {
            return Ok(None);
        }
        parser.demand("(", "`(` after `if`")?;
        let condition = parser.disjunction()?.condition()?;
        parser.demand(",", "`,` after the condition of `if`")?;
        let then = parser.sum()?.number()?;
        parser.demand(",", "`,` and what else `if` gives")?;
        let otherwise = parser.sum()?.number()?;
        parser.demand(")", "`)` at the end of `if`")?;
        Ok(Some(Formula::If(Box::new(condition), Box::new(then), Box::new(otherwise))))
    }

    fn negated(number: Formula) -> Formula {
        Formula::Times(-1, Box::new(number))
    }

    fn sum(left: Formula, right: Formula) -> Formula {
        Formula::Sum(Box::new(left), Box::new(right))
    }

    fn difference(left: Formula, right: Formula) -> Formula {
        Formula::Difference(Box::new(left), Box::new(right))
    }

    fn product(
        (left, left_span): (Formula, Range<usize>),
        operator: Product,
        (right, right_span): (Formula, Range<usize>),
    ) -> Result<Formula, FormulaError> {
        let divisor = |name| {
            constant(&right, &right_span)?.filter(|&divisor| divisor > 0).ok_or_else(|| FormulaError {
                problem: FormulaProblem::Divisor(name),
                span: right_span.clone(),
            })
        };
        match operator {
            Product::Quotient => Ok(Formula::Quotient(Box::new(left), divisor("div")?)),
            Product::Remainder => Ok(Formula::Remainder(Box::new(left), divisor("mod")?)),
            Product::Times => {
                if let Some(factor) = constant(&left, &left_span)? {
                    return Ok(Formula::Times(factor, Box::new(right)));
                }
                if let Some(factor) = constant(&right, &right_span)? {
                    return Ok(Formula::Times(factor, Box::new(left)));
                }
                let span = left_span.start..right_span.end;
                Err(FormulaError { problem: FormulaProblem::NotLinear, span })
            }
        }
    }

    fn compared(left: Formula, comparison: Comparison, right: Formula) -> Condition {
        Condition::Compare(left, comparison, right)
    }

    fn both(left: Condition, right: Condition) -> Condition {
        Condition::And(Box::new(left), Box::new(right))
    }

    fn either(left: Condition, right: Condition) -> Condition {
        Condition::Or(Box::new(left), Box::new(right))
    }
}

/// The value of a formula without variables.
fn constant(formula: &Formula, span: &Range<usize>) -> Result<Option<i64>, FormulaError> {
    formula.constant().map_err(|_| FormulaError { problem: FormulaProblem::Number, span: span.clone() })
}
