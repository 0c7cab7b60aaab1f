//! Promises over what is measured: `makespan <= 1.05 * bound`.
//!
//! They are written in the grammar of the formulas of block families, with `*` and `/` of any two numbers and
//! without `div`, `mod` and `if`. Numbers are integers or decimals, and may have a unit of time or of memory: `60 GiB`. Everything
//! is exact.

use std::fmt;
use std::ops::Range;

use crate::block::family::{
    Comparison, FormulaError, FormulaProblem, Language, MAX_NESTING, Parser, Token, Vocabulary,
};
use crate::replay::Rate;
use crate::text::quantity::Scale;

/// What a promise may speak of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Quantity {
    /// `makespan`, in ticks.
    Makespan,
    /// `device_span`, in ticks.
    DeviceSpan,
    /// `bubble_rate`.
    BubbleRate,
    /// `peak_memory`: the most that any device holds, in units.
    PeakMemory,
    /// `interval`: the time per microbatch in the steady phase, in ticks.
    Interval,
    /// `bound`: what no schedule with the same memory can be shorter than, in ticks.
    Bound,
    /// `peak_1f1b`: what 1F1B holds on its fullest device for the same model, in units.
    PeakOf1f1b,
    /// `d`: the number of devices.
    Devices,
    /// `m`: the number of microbatches.
    Microbatches,
    /// A nanosecond, in ticks, which numbers with a unit of time are multiples of. It has no name.
    Nanosecond,
    /// A byte, in units of memory, which numbers with a unit of memory are multiples of. It has no name.
    Byte,
}

impl Quantity {
    const ALL: [(Self, &'static str); 9] = [
        (Self::Makespan, "makespan"),
        (Self::DeviceSpan, "device_span"),
        (Self::BubbleRate, "bubble_rate"),
        (Self::PeakMemory, "peak_memory"),
        (Self::Interval, "interval"),
        (Self::Bound, "bound"),
        (Self::PeakOf1f1b, "peak_1f1b"),
        (Self::Devices, "d"),
        (Self::Microbatches, "m"),
    ];

    /// Whether a text speaks of something that only a whole schedule has, and no block.
    #[must_use]
    pub fn is_spoken_of(text: &str) -> bool {
        const OF_SCHEDULES: [&str; 6] =
            ["makespan", "device_span", "bubble_rate", "peak_memory", "bound", "m"];
        text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')
            .any(|word| OF_SCHEDULES.contains(&word))
    }
}

/// A promise over what is measured of a schedule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Measurable {
    text: String,
    condition: Condition,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Condition {
    Compare(Sum, Comparison, Sum),
    And(Box<Condition>, Box<Condition>),
    Or(Box<Condition>, Box<Condition>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Sum {
    Number(Rate),
    Quantity(Quantity),
    Join(Box<Sum>, Operator, Box<Sum>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Plus,
    Minus,
    Times,
    Over,
}

impl Measurable {
    /// Reads a promise.
    ///
    /// # Errors
    /// When the text is none.
    pub fn parse(text: &str) -> Result<Self, FormulaError> {
        let condition = Parser::new(text, Measured)?.whole()?.condition()?;
        Ok(Self { text: text.split_whitespace().collect::<Vec<_>>().join(" "), condition })
    }

    /// Whether it says the same as another one, but for spaces and the like.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.condition == other.condition
    }

    /// Whether it holds; nothing where it speaks of something that has no value there, or numbers get too
    /// large.
    pub fn holds(&self, values: &impl Fn(Quantity) -> Option<Rate>) -> Option<bool> {
        self.condition.holds(values)
    }

    /// Whether a number of it has a unit that is so many of these.
    pub(super) fn has_unit(&self, unit: Quantity) -> bool {
        self.condition.speaks_of(unit)
    }

    /// The quantities that it speaks of, each once.
    #[must_use]
    pub fn quantities(&self) -> Vec<(Quantity, &'static str)> {
        let is_there = |(quantity, _): &(Quantity, &str)| self.condition.speaks_of(*quantity);
        Quantity::ALL.into_iter().filter(is_there).collect()
    }
}

impl fmt::Display for Measurable {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text)
    }
}

impl Condition {
    fn holds(&self, values: &impl Fn(Quantity) -> Option<Rate>) -> Option<bool> {
        Some(match self {
            Self::Compare(left, comparison, right) => {
                comparison.holds(left.value(values)?, right.value(values)?)
            }
            Self::And(left, right) => left.holds(values)? && right.holds(values)?,
            Self::Or(left, right) => left.holds(values)? || right.holds(values)?,
        })
    }

    fn speaks_of(&self, quantity: Quantity) -> bool {
        match self {
            Self::Compare(left, _, right) => left.speaks_of(quantity) || right.speaks_of(quantity),
            Self::And(left, right) | Self::Or(left, right) => {
                left.speaks_of(quantity) || right.speaks_of(quantity)
            }
        }
    }
}

impl Sum {
    fn value(&self, values: &impl Fn(Quantity) -> Option<Rate>) -> Option<Rate> {
        // Cross products must fit; what is measured has at most 63 bits, its products twice as many.
        const MOST: i128 = 1 << 62;
        let value = match self {
            Self::Number(number) => *number,
            Self::Quantity(quantity) => values(*quantity)?,
            Self::Join(left, operator, right) => {
                let (left, right) = (left.value(values)?, right.value(values)?);
                match operator {
                    Operator::Plus => left + right,
                    Operator::Minus => left - right,
                    Operator::Times => left * right,
                    Operator::Over if right == Rate::from_integer(0) => return None,
                    Operator::Over => left / right,
                }
            }
        };
        let small = |number: &i128| (-MOST..=MOST).contains(number);
        (small(value.numer()) && small(value.denom())).then_some(value)
    }

    fn speaks_of(&self, quantity: Quantity) -> bool {
        match self {
            Self::Number(_) => false,
            Self::Quantity(own) => *own == quantity,
            Self::Join(left, _, right) => left.speaks_of(quantity) || right.speaks_of(quantity),
        }
    }
}

/// Exact arithmetic over what is measured.
struct Measured;

impl Language for Measured {
    type Number = Sum;
    type Condition = Condition;
    type Product = Operator;

    const TEXT: &'static str = "promise";
    const VOCABULARY: Vocabulary =
        Vocabulary { words: &["and", "or"], symbols: &["<=", ">=", "!="], decimals: true };
    const PRODUCTS: &'static [(&'static str, Operator)] = &[("*", Operator::Times), ("/", Operator::Over)];
    // That many parentheses may enclose a number, which counts as well.
    const DEPTH: usize = MAX_NESTING + 1;
    const MIXED: bool = false;
    const FACTOR: &'static str = "a number, something measured, or `(`";
    const AFTER: &'static str = "`and`, `or` or the end";

    fn refusal(&self, _: &Token<'_>) -> Option<FormulaProblem> {
        None
    }

    fn number(&self, digits: &str) -> Result<Sum, FormulaProblem> {
        decimal(digits).map(Sum::Number).ok_or_else(|| FormulaProblem::Decimal(digits.to_owned()))
    }

    fn in_unit(&self, digits: &str, unit: &str) -> Option<Result<Sum, FormulaProblem>> {
        let sizes = [(Scale::Time, Quantity::Nanosecond), (Scale::Memory, Quantity::Byte)];
        let (size, base) = sizes.into_iter().find_map(|(scale, base)| {
            let known = scale.units().iter().find(|(name, _)| *name == unit);
            known.map(|&(_, size)| (size, base))
        })?;
        let number = decimal(digits).ok_or_else(|| FormulaProblem::Decimal(digits.to_owned()));
        Some(number.map(|number| {
            let number = Sum::Number(number * Rate::from_integer(size));
            Sum::Join(Box::new(number), Operator::Times, Box::new(Sum::Quantity(base)))
        }))
    }

    fn quantity(&self, name: &str) -> Result<Sum, FormulaProblem> {
        let found = Quantity::ALL.into_iter().find(|(_, known)| *known == name);
        found.map(|(quantity, _)| Sum::Quantity(quantity)).ok_or_else(|| FormulaProblem::NotMeasured {
            name: name.to_owned(),
            known: Quantity::ALL.into_iter().map(|(_, known)| known).collect(),
        })
    }

    fn negated(number: Sum) -> Sum {
        Self::difference(Sum::Number(Rate::from_integer(0)), number)
    }

    fn sum(left: Sum, right: Sum) -> Sum {
        Sum::Join(Box::new(left), Operator::Plus, Box::new(right))
    }

    fn difference(left: Sum, right: Sum) -> Sum {
        Sum::Join(Box::new(left), Operator::Minus, Box::new(right))
    }

    fn product(
        (left, _): (Sum, Range<usize>),
        operator: Operator,
        (right, _): (Sum, Range<usize>),
    ) -> Result<Sum, FormulaError> {
        Ok(Sum::Join(Box::new(left), operator, Box::new(right)))
    }

    fn compared(left: Sum, comparison: Comparison, right: Sum) -> Condition {
        Condition::Compare(left, comparison, right)
    }

    fn both(left: Condition, right: Condition) -> Condition {
        Condition::And(Box::new(left), Box::new(right))
    }

    fn either(left: Condition, right: Condition) -> Condition {
        Condition::Or(Box::new(left), Box::new(right))
    }
}

/// An integer or a decimal, exactly.
fn decimal(text: &str) -> Option<Rate> {
    let (whole, parts) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |text: &str| (1..=9).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(parts) {
        return None;
    }
    let number = format!("{whole}{parts}").parse().ok()?;
    Some(Rate::new(number, 10_i128.pow(u32::try_from(parts.len()).ok()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(text: &str) -> Option<bool> {
        let promise = Measurable::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        promise.holds(&|quantity| {
            Some(match quantity {
                Quantity::Makespan => Rate::from_integer(105),
                Quantity::Bound => Rate::from_integer(100),
                Quantity::BubbleRate => Rate::new(1, 10),
                Quantity::PeakMemory => Rate::from_integer(4),
                Quantity::Devices => Rate::from_integer(3),
                // A tick is a microsecond.
                Quantity::Nanosecond => Rate::new(1, 1000),
                _ => return None,
            })
        })
    }

    #[test]
    fn promises_are_exact() {
        for (text, expected) in [
            ("makespan <= 1.05 * bound", Some(true)),
            ("makespan < 1.05 * bound", Some(false)),
            ("makespan / bound <= 1 + 1/20", Some(true)),
            ("bubble_rate <= 1/10 and peak_memory <= 4", Some(true)),
            ("bubble_rate = 0.1", Some(true)),
            ("peak_memory > 4 or (d = 3 and -d < 0)", Some(true)),
            ("(makespan - bound) * 20 = bound", Some(true)),
            ("peak_memory != 4", Some(false)),
            ("makespan <= 105 us and makespan > 0.104 ms", Some(true)),
            ("bound + 5us = makespan", Some(true)),
            ("-makespan < -1ns", Some(true)),
            // Memory has no unit here.
            ("peak_memory <= 60 GiB", None),
            ("m >= 1", None),
            ("makespan / (d - 3) > 0", None),
            ("makespan*999999999*999999999*999999999 > 0", None),
        ] {
            assert_eq!(holds(text), expected, "{text}");
        }
    }

    #[test]
    fn malformed_promises_are_located() {
        let deep = "(".repeat(70);
        let long = format!("makespan <= 0{}", " + 1".repeat(40_000));
        for (text, span, message) in [
            ("", 0..0, "expected a number, something measured, or `(`, found the end"),
            ("makespan", 8..8, "expected a comparison, found the end"),
            ("makespan <= ", 12..12, "expected a number"),
            ("makspan <= 3", 0..7, "`makspan` is not measured; there are makespan, "),
            ("makespan <= 3 4", 14..15, "expected `and`, `or` or the end, found `4`"),
            ("makespan <= 3 fortnights", 14..24, "expected `and`, `or` or the end, found `fortnights`"),
            ("makespan <= 1.2.3 ms", 12..17, "`1.2.3` is not a number"),
            ("makespan <= 1.", 12..14, "`1.` is not a number"),
            ("makespan <= 1.2.3", 12..17, "`1.2.3` is not a number"),
            ("makespan <= 12345678901", 12..23, "is not a number"),
            ("makespan == 3", 10..11, "expected a number"),
            ("(makespan <= 3", 10..12, "expected `)`, found `<=`"),
            ("makespan <= and", 12..15, "expected a number"),
            ("makespan % 2 = 0", 9..10, "expected a comparison, found `%`"),
            (deep.as_str(), 65..66, "nested at most 64 deep"),
            (long.as_str(), 0..160_013, "a formula has at most 2000 bytes"),
        ] {
            let error = Measurable::parse(text).expect_err(text);
            assert!(error.to_string().contains(message), "{text}: {error}");
            assert_eq!(error.span, span, "{text}: {error}");
        }
    }

    #[test]
    fn what_only_schedules_have_is_told_apart() {
        assert!(Quantity::is_spoken_of("peak <= 4 and makespan<=3*m"));
        assert!(!Quantity::is_spoken_of("2*peak <= peak_1f1b + 4 or interval = 6"));
        let promise = Measurable::parse("makespan <= 2*bound or d = 1").expect("a promise");
        let names: Vec<&str> = promise.quantities().into_iter().map(|(_, name)| name).collect();
        assert_eq!(names, ["makespan", "bound", "d"]);
    }

    #[test]
    fn what_both_languages_can_say_means_the_same_in_both() {
        use crate::block::family::{Promise, Variable, parse_promise};
        for (text, expected) in [
            ("d + 2*3 - 4 = interval", true),
            ("d - 1 - 1 = 1", true),
            ("-(d - 1) <= -2 and interval != 4 or d > 9", true),
            ("d = 1 and d = 2 or d = 3", true),
            ("d = 3 or d = 2 and d = 1", true),
            ("(d = 3 or d = 2) and d = 1", false),
            ("((d)) >= 2*(interval - d)", false),
            ("--d < 3*(2)", true),
        ] {
            let measured = Measurable::parse(text).expect(text).holds(&|quantity| match quantity {
                Quantity::Devices => Some(Rate::from_integer(3)),
                Quantity::Interval => Some(Rate::from_integer(5)),
                _ => None,
            });
            let Ok(Promise::Everywhere(formal)) = parse_promise(text) else { panic!("{text}") };
            let formal = formal.evaluate(&|variable| match variable {
                Variable::Devices => Some(3),
                Variable::Interval => Some(5),
                _ => None,
            });
            assert_eq!((measured, formal), (Some(expected), Ok(expected)), "{text}");
        }
    }
}
