//! Formulas of linear integer arithmetic: their trees, exact evaluation, and printing back.

use std::fmt;

use num_integer::Integer;

/// A quantity that a formula may speak of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Variable {
    /// `i`: the index of a device.
    Device,
    /// `d`: the number of devices.
    Devices,
    /// `peak`: the exact steady-state peak memory of device `i`, in units.
    Peak,
    /// `interval`: the interval T, in ticks.
    Interval,
    /// `bubble`: the ticks of every interval in which device `i` is idle.
    Bubble,
    /// `peak_1f1b`: what 1F1B holds on its fullest device where every stage holds one unit: `d` times the
    /// stages of a device.
    PeakOf1f1b,
    /// `tF`: how long F takes.
    Forward,
    /// `tI`: how long I takes.
    BackwardInput,
    /// `tW`: how long W takes.
    BackwardWeight,
}

impl Variable {
    /// All variables.
    pub const ALL: [Self; 9] = [
        Self::Device,
        Self::Devices,
        Self::Peak,
        Self::Interval,
        Self::Bubble,
        Self::PeakOf1f1b,
        Self::Forward,
        Self::BackwardInput,
        Self::BackwardWeight,
    ];

    /// What a promise about every device may speak of.
    pub const PROMISED: [Self; 6] =
        [Self::Device, Self::Devices, Self::Peak, Self::Interval, Self::Bubble, Self::PeakOf1f1b];

    /// What the condition of a promise about all durations may speak of.
    pub const DURATIONS: [Self; 3] = [Self::Forward, Self::BackwardInput, Self::BackwardWeight];

    /// How formulas spell it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Device => "i",
            Self::Devices => "d",
            Self::Peak => "peak",
            Self::Interval => "interval",
            Self::Bubble => "bubble",
            Self::PeakOf1f1b => "peak_1f1b",
            Self::Forward => "tF",
            Self::BackwardInput => "tI",
            Self::BackwardWeight => "tW",
        }
    }
}

impl fmt::Display for Variable {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

/// A formula whose value is an integer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Formula {
    /// A constant.
    Integer(i64),
    /// A quantity.
    Variable(Variable),
    /// The sum of two formulas.
    Sum(Box<Formula>, Box<Formula>),
    /// The first formula less the second.
    Difference(Box<Formula>, Box<Formula>),
    /// A constant times a formula.
    Times(i64, Box<Formula>),
    /// A formula divided by a positive constant, rounded towards minus infinity.
    Quotient(Box<Formula>, i64),
    /// What that division leaves: from 0 to the constant less one, for negative values too.
    Remainder(Box<Formula>, i64),
    /// The first formula where the condition holds, else the second.
    If(Box<Condition>, Box<Formula>, Box<Formula>),
}

/// A formula that is true or false.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    /// Two formulas compared.
    Compare(Formula, Comparison, Formula),
    /// Both hold.
    And(Box<Condition>, Box<Condition>),
    /// At least one holds.
    Or(Box<Condition>, Box<Condition>),
}

/// How two formulas are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// `=`
    Equal,
    /// `!=`
    Unequal,
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    Greater,
    /// `>=`
    AtLeast,
}

impl Comparison {
    /// All comparisons.
    pub const ALL: [Self; 6] =
        [Self::Equal, Self::Unequal, Self::Less, Self::AtMost, Self::Greater, Self::AtLeast];

    /// How formulas spell it.
    #[must_use]
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::Equal => "=",
            Self::Unequal => "!=",
            Self::Less => "<",
            Self::AtMost => "<=",
            Self::Greater => ">",
            Self::AtLeast => ">=",
        }
    }

    /// Whether it holds between two numbers.
    #[must_use]
    pub fn holds<T: Ord + Copy>(self, left: T, right: T) -> bool {
        match self {
            Self::Equal => left == right,
            Self::Unequal => left != right,
            Self::Less => left < right,
            Self::AtMost => left <= right,
            Self::Greater => left > right,
            Self::AtLeast => left >= right,
        }
    }
}

/// Why a formula has no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EvaluationError {
    /// A result on the way does not fit 64 bits.
    #[error("its value does not fit 64 bits")]
    Overflow,
    /// A divisor that is not positive. Formulas that were read have none.
    #[error("it divides by {0}, which is not positive")]
    Divisor(i64),
    /// A variable without a value there.
    #[error("`{0}` has no value here")]
    Undefined(Variable),
}

impl Formula {
    /// Its value where the variables have the given values.
    ///
    /// # Errors
    /// When a variable has none, or a result on the way does not fit 64 bits.
    pub fn evaluate(&self, values: &impl Fn(Variable) -> Option<i64>) -> Result<i64, EvaluationError> {
        use EvaluationError::{Divisor, Overflow, Undefined};
        let positive = |divisor: i64| if divisor > 0 { Ok(divisor) } else { Err(Divisor(divisor)) };
        match self {
            Self::Integer(value) => Ok(*value),
            Self::Variable(variable) => values(*variable).ok_or(Undefined(*variable)),
            Self::Sum(left, right) => {
                left.evaluate(values)?.checked_add(right.evaluate(values)?).ok_or(Overflow)
            }
            Self::Difference(left, right) => {
                left.evaluate(values)?.checked_sub(right.evaluate(values)?).ok_or(Overflow)
            }
            Self::Times(factor, formula) => factor.checked_mul(formula.evaluate(values)?).ok_or(Overflow),
            Self::Quotient(formula, divisor) => {
                Ok(Integer::div_floor(&formula.evaluate(values)?, &positive(*divisor)?))
            }
            Self::Remainder(formula, divisor) => {
                Ok(formula.evaluate(values)?.mod_floor(&positive(*divisor)?))
            }
            Self::If(condition, then, otherwise) => {
                if condition.evaluate(values)? {
                    then.evaluate(values)
                } else {
                    otherwise.evaluate(values)
                }
            }
        }
    }

    /// The value of a formula without variables; nothing where there are some.
    ///
    /// # Errors
    /// When a result on the way does not fit 64 bits.
    pub(super) fn constant(&self) -> Result<Option<i64>, EvaluationError> {
        match self.evaluate(&|_| None) {
            Ok(value) => Ok(Some(value)),
            Err(EvaluationError::Undefined(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// How tightly its outermost operation binds: sums 0, products 1, everything closed 2.
    const fn tightness(&self) -> u8 {
        match self {
            Self::Sum(..) | Self::Difference(..) => 0,
            Self::Times(..) | Self::Quotient(..) | Self::Remainder(..) => 1,
            Self::Integer(_) | Self::Variable(_) | Self::If(..) => 2,
        }
    }
}

impl Condition {
    /// Whether it holds where the variables have the given values.
    ///
    /// # Errors
    /// When a variable has none, or a result on the way does not fit 64 bits.
    pub fn evaluate(&self, values: &impl Fn(Variable) -> Option<i64>) -> Result<bool, EvaluationError> {
        Ok(match self {
            Self::Compare(left, comparison, right) => {
                comparison.holds(left.evaluate(values)?, right.evaluate(values)?)
            }
            Self::And(left, right) => left.evaluate(values)? && right.evaluate(values)?,
            Self::Or(left, right) => left.evaluate(values)? || right.evaluate(values)?,
        })
    }

    /// How tightly its outermost operation binds: `or` 0, `and` 1, comparisons 2.
    const fn tightness(&self) -> u8 {
        match self {
            Self::Or(..) => 0,
            Self::And(..) => 1,
            Self::Compare(..) => 2,
        }
    }
}

/// Prints an operand, in parentheses where it binds less tightly than its place demands.
fn operand(out: &mut fmt::Formatter<'_>, text: &impl fmt::Display, closed: bool) -> fmt::Result {
    if closed { text.fmt(out) } else { write!(out, "({text})") }
}

impl fmt::Display for Formula {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = |out: &mut fmt::Formatter<'_>, formula: &Self, least| {
            operand(out, formula, formula.tightness() >= least)
        };
        match self {
            Self::Integer(value) => value.fmt(out),
            Self::Variable(variable) => variable.fmt(out),
            Self::Sum(left, right) => {
                part(out, left, 0)?;
                out.write_str(" + ")?;
                part(out, right, 1)
            }
            Self::Difference(left, right) => {
                part(out, left, 0)?;
                out.write_str(" - ")?;
                part(out, right, 1)
            }
            Self::Times(factor, formula) => {
                write!(out, "{factor}*")?;
                part(out, formula, 2)
            }
            Self::Quotient(formula, divisor) => {
                part(out, formula, 1)?;
                write!(out, " div {divisor}")
            }
            Self::Remainder(formula, divisor) => {
                part(out, formula, 1)?;
                write!(out, " mod {divisor}")
            }
            Self::If(condition, then, otherwise) => write!(out, "if({condition}, {then}, {otherwise})"),
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = |out: &mut fmt::Formatter<'_>, condition: &Self, least| {
            operand(out, condition, condition.tightness() >= least)
        };
        match self {
            Self::Compare(left, comparison, right) => write!(out, "{left} {} {right}", comparison.symbol()),
            Self::And(left, right) => {
                part(out, left, 1)?;
                out.write_str(" and ")?;
                part(out, right, 2)
            }
            Self::Or(left, right) => {
                part(out, left, 0)?;
                out.write_str(" or ")?;
                part(out, right, 1)
            }
        }
    }
}
