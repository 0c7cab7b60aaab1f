//! Terms and facts of integer arithmetic about a device `i` of `d`: their trees, exact evaluation, and
//! SMT-LIB.

use std::cell::RefCell;
use std::collections::BTreeMap;

use num_integer::Integer;

use super::expression::Expression;
use crate::block::family::{Comparison, Condition, EvaluationError, Formula, Variable};

/// An integer that depends on `i` and `d`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Term {
    Integer(i128),
    /// `i`
    Device,
    /// `d`
    Devices,
    Sum(Vec<Term>),
    Difference(Box<Term>, Box<Term>),
    Times(i128, Box<Term>),
    /// By a positive constant, rounded towards minus infinity.
    Quotient(Box<Term>, i128),
    /// By a positive constant, never negative.
    Remainder(Box<Term>, i128),
    If(Box<Fact>, Box<Term>, Box<Term>),
    /// A definition, on another device of the `d`.
    Of(String, Box<Term>),
}

/// What is true or false of `i` and `d`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fact {
    Compare(Term, Comparison, Term),
    /// Every one holds; true when there is none.
    All(Vec<Fact>),
    /// At least one holds; false when there is none.
    Any(Vec<Fact>),
}

/// A term with a name: a function of `i` and `d`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Definition {
    pub name: String,
    pub body: Term,
}

/// The values of `i` and `d`, and the meaning of names.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'a> {
    pub device: i128,
    pub devices: i128,
    pub definitions: &'a [Definition],
    /// The values found so far, by the position of the definition and the device.
    pub known: &'a RefCell<BTreeMap<(usize, i128), i128>>,
}

impl Term {
    /// The meaning of a name on device `i`.
    pub fn named(name: impl Into<String>) -> Self {
        Self::Of(name.into(), Box::new(Self::Device))
    }

    pub fn plus(self, other: impl Into<Self>) -> Self {
        match other.into() {
            Self::Integer(0) => self,
            other => Self::Sum(vec![self, other]),
        }
    }

    pub fn minus(self, other: impl Into<Self>) -> Self {
        Self::Difference(Box::new(self), Box::new(other.into()))
    }

    pub fn when(fact: Fact, then: impl Into<Self>, otherwise: impl Into<Self>) -> Self {
        match fact {
            Fact::All(parts) if parts.is_empty() => then.into(),
            Fact::Any(parts) if parts.is_empty() => otherwise.into(),
            fact => Self::If(Box::new(fact), Box::new(then.into()), Box::new(otherwise.into())),
        }
    }

    pub fn compare(self, comparison: Comparison, other: impl Into<Self>) -> Fact {
        Fact::Compare(self, comparison, other.into())
    }

    /// A formula of a family; `values` gives its variables.
    ///
    /// # Errors
    /// When a variable has no value, or a divisor is not positive.
    pub fn of(
        formula: &Formula,
        values: &impl Fn(Variable) -> Option<Self>,
    ) -> Result<Self, EvaluationError> {
        let part = |formula: &Formula| Self::of(formula, values).map(Box::new);
        let positive = |divisor: i64| {
            if divisor > 0 { Ok(i128::from(divisor)) } else { Err(EvaluationError::Divisor(divisor)) }
        };
        Ok(match formula {
            Formula::Integer(value) => (*value).into(),
            Formula::Variable(variable) => values(*variable).ok_or(EvaluationError::Undefined(*variable))?,
            Formula::Sum(left, right) => Self::Sum(vec![*part(left)?, *part(right)?]),
            Formula::Difference(left, right) => Self::Difference(part(left)?, part(right)?),
            Formula::Times(factor, formula) => Self::Times((*factor).into(), part(formula)?),
            Formula::Quotient(formula, divisor) => Self::Quotient(part(formula)?, positive(*divisor)?),
            Formula::Remainder(formula, divisor) => Self::Remainder(part(formula)?, positive(*divisor)?),
            Formula::If(condition, then, otherwise) => {
                Self::If(Box::new(Fact::of(condition, values)?), part(then)?, part(otherwise)?)
            }
        })
    }

    /// Its value; nothing when it does not fit 128 bits or a name has no meaning.
    pub fn value(&self, at: Place<'_>) -> Option<i128> {
        match self {
            Self::Integer(value) => Some(*value),
            Self::Device => Some(at.device),
            Self::Devices => Some(at.devices),
            Self::Sum(terms) => terms.iter().try_fold(0_i128, |sum, term| sum.checked_add(term.value(at)?)),
            Self::Difference(left, right) => left.value(at)?.checked_sub(right.value(at)?),
            Self::Times(factor, term) => factor.checked_mul(term.value(at)?),
            Self::Quotient(term, divisor) => Some(Integer::div_floor(&term.value(at)?, divisor)),
            Self::Remainder(term, divisor) => Some(term.value(at)?.mod_floor(divisor)),
            Self::If(fact, then, otherwise) => {
                if fact.holds(at)? {
                    then.value(at)
                } else {
                    otherwise.value(at)
                }
            }
            Self::Of(name, device) => {
                let position = at.definitions.iter().position(|definition| definition.name == *name)?;
                let device = device.value(at)?;
                if let Some(&value) = at.known.borrow().get(&(position, device)) {
                    return Some(value);
                }
                let value = at.definitions[position].body.value(Place { device, ..at })?;
                at.known.borrow_mut().insert((position, device), value);
                Some(value)
            }
        }
    }

    /// Calls `visit` with every name in it and the device that it is taken on.
    pub fn names(&self, visit: &mut impl FnMut(&str, &Term)) {
        match self {
            Self::Integer(_) | Self::Device | Self::Devices => {}
            Self::Sum(terms) => terms.iter().for_each(|term| term.names(visit)),
            Self::Difference(left, right) => {
                left.names(visit);
                right.names(visit);
            }
            Self::Times(_, term) | Self::Quotient(term, _) | Self::Remainder(term, _) => term.names(visit),
            Self::If(fact, then, otherwise) => {
                fact.names(visit);
                then.names(visit);
                otherwise.names(visit);
            }
            Self::Of(name, device) => {
                visit(name, device);
                device.names(visit);
            }
        }
    }

    /// Calls `visit` with everything that is divided by a constant in it, and that constant; what stands
    /// inside another comes first.
    pub fn quotients(&self, visit: &mut impl FnMut(&Self, i128)) {
        match self {
            Self::Integer(_) | Self::Device | Self::Devices => {}
            Self::Sum(terms) => terms.iter().for_each(|term| term.quotients(visit)),
            Self::Difference(left, right) => {
                left.quotients(visit);
                right.quotients(visit);
            }
            Self::Times(_, term) | Self::Of(_, term) => term.quotients(visit),
            Self::Quotient(term, divisor) | Self::Remainder(term, divisor) => {
                term.quotients(visit);
                visit(term, *divisor);
            }
            Self::If(fact, then, otherwise) => {
                fact.quotients(visit);
                then.quotients(visit);
                otherwise.quotients(visit);
            }
        }
    }

    /// The term in SMT-LIB.
    pub fn expression(&self) -> Expression {
        match self {
            Self::Integer(value) if *value < 0 => {
                Expression::list("-", [value.unsigned_abs().to_string().into()])
            }
            Self::Integer(value) => value.to_string().into(),
            Self::Device => "i".into(),
            Self::Devices => "d".into(),
            Self::Sum(terms) => match terms.as_slice() {
                [] => "0".into(),
                [term] => term.expression(),
                terms => Expression::list("+", terms.iter().map(Self::expression)),
            },
            Self::Difference(left, right) => Expression::list("-", [left.expression(), right.expression()]),
            Self::Times(factor, term) => {
                Expression::list("*", [Self::Integer(*factor).expression(), term.expression()])
            }
            Self::Quotient(term, divisor) => {
                Expression::list("div", [term.expression(), divisor.to_string().into()])
            }
            Self::Remainder(term, divisor) => {
                Expression::list("mod", [term.expression(), divisor.to_string().into()])
            }
            Self::If(fact, then, otherwise) => {
                Expression::list("ite", [fact.expression(), then.expression(), otherwise.expression()])
            }
            Self::Of(name, device) => Expression::list(name, [device.expression(), "d".into()]),
        }
    }
}

impl From<i128> for Term {
    fn from(value: i128) -> Self {
        Self::Integer(value)
    }
}

impl From<i64> for Term {
    fn from(value: i64) -> Self {
        Self::Integer(value.into())
    }
}

impl Fact {
    /// What is always true.
    pub const TRUE: Self = Self::All(Vec::new());
    /// What is always false.
    pub const FALSE: Self = Self::Any(Vec::new());

    /// One of the two constants.
    pub const fn constant(holds: bool) -> Self {
        if holds { Self::TRUE } else { Self::FALSE }
    }

    /// A condition of a family; `values` gives its variables.
    ///
    /// # Errors
    /// When a variable has no value, or a divisor is not positive.
    pub fn of(
        condition: &Condition,
        values: &impl Fn(Variable) -> Option<Term>,
    ) -> Result<Self, EvaluationError> {
        Ok(match condition {
            Condition::Compare(left, comparison, right) => {
                Self::Compare(Term::of(left, values)?, *comparison, Term::of(right, values)?)
            }
            Condition::And(left, right) => Self::All(vec![Self::of(left, values)?, Self::of(right, values)?]),
            Condition::Or(left, right) => Self::Any(vec![Self::of(left, values)?, Self::of(right, values)?]),
        })
    }

    /// All of these; those that are always true are left out.
    pub fn all(facts: impl IntoIterator<Item = Self>) -> Self {
        let mut kept: Vec<Self> = facts.into_iter().filter(|fact| *fact != Self::TRUE).collect();
        match kept.len() {
            _ if kept.contains(&Self::FALSE) => Self::FALSE,
            1 => kept.remove(0),
            _ => Self::All(kept),
        }
    }

    /// Any of these; those that are always false are left out.
    pub fn any(facts: impl IntoIterator<Item = Self>) -> Self {
        let mut kept: Vec<Self> = facts.into_iter().filter(|fact| *fact != Self::FALSE).collect();
        match kept.len() {
            _ if kept.contains(&Self::TRUE) => Self::TRUE,
            1 => kept.remove(0),
            _ => Self::Any(kept),
        }
    }

    /// That this one implies another.
    pub fn implies(self, other: Self) -> Self {
        Self::any([self.opposite(), other])
    }

    /// What holds exactly where this does not.
    pub fn opposite(self) -> Self {
        use Comparison::{AtLeast, AtMost, Equal, Greater, Less, Unequal};
        match self {
            Self::Compare(left, comparison, right) => {
                let comparison = match comparison {
                    Equal => Unequal,
                    Unequal => Equal,
                    Less => AtLeast,
                    AtMost => Greater,
                    Greater => AtMost,
                    AtLeast => Less,
                };
                Self::Compare(left, comparison, right)
            }
            Self::All(parts) => Self::Any(parts.into_iter().map(Self::opposite).collect()),
            Self::Any(parts) => Self::All(parts.into_iter().map(Self::opposite).collect()),
        }
    }

    /// Whether it holds; nothing when a number on the way does not fit 128 bits.
    pub fn holds(&self, at: Place<'_>) -> Option<bool> {
        match self {
            Self::Compare(left, comparison, right) => {
                Some(comparison.holds(left.value(at)?, right.value(at)?))
            }
            Self::All(parts) => parts.iter().try_fold(true, |all, part| Some(all && part.holds(at)?)),
            Self::Any(parts) => parts.iter().try_fold(false, |any, part| Some(any || part.holds(at)?)),
        }
    }

    /// Calls `visit` with every name in it and the device that it is taken on.
    pub fn names(&self, visit: &mut impl FnMut(&str, &Term)) {
        match self {
            Self::Compare(left, _, right) => {
                left.names(visit);
                right.names(visit);
            }
            Self::All(parts) | Self::Any(parts) => parts.iter().for_each(|part| part.names(visit)),
        }
    }

    /// Calls `visit` with every quotient in it.
    pub fn quotients(&self, visit: &mut impl FnMut(&Term, i128)) {
        match self {
            Self::Compare(left, _, right) => {
                left.quotients(visit);
                right.quotients(visit);
            }
            Self::All(parts) | Self::Any(parts) => parts.iter().for_each(|part| part.quotients(visit)),
        }
    }

    /// The fact in SMT-LIB.
    pub fn expression(&self) -> Expression {
        let parts = |parts: &[Self]| parts.iter().map(Self::expression).collect::<Vec<_>>();
        match self {
            Self::Compare(left, comparison, right) => {
                let symbol = match comparison {
                    Comparison::Unequal => "distinct",
                    comparison => comparison.symbol(),
                };
                Expression::list(symbol, [left.expression(), right.expression()])
            }
            Self::All(facts) if facts.is_empty() => "true".into(),
            Self::Any(facts) if facts.is_empty() => "false".into(),
            Self::All(facts) => Expression::list("and", parts(facts)),
            Self::Any(facts) => Expression::list("or", parts(facts)),
        }
    }
}
