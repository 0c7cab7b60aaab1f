//! Promises over what is measured: `makespan <= 1.05 * bound`.
//!
//! ```text
//! promise  := conjunct { "or" conjunct }
//! conjunct := relation { "and" relation }
//! relation := sum ("=" | "!=" | "<" | "<=" | ">" | ">=") sum | "(" promise ")"
//! sum      := product { ("+" | "-") product }
//! product  := factor { ("*" | "/") factor }
//! factor   := number | metric | "-" factor | "(" sum ")"
//! ```
//!
//! Numbers are integers or decimals. Everything is exact.

use std::fmt;
use std::ops::Range;

use crate::block::family::{Comparison, FormulaProblem, MAX_LENGTH};
use crate::replay::Rate;

/// How deep parentheses and signs may be nested.
const MAX_NESTING: usize = 64;

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
    Join(Box<Sum>, char, Box<Sum>),
}

/// What is wrong with the text of a promise, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct PromiseError {
    /// What is wrong.
    pub message: String,
    /// The bytes of the text it is about.
    pub span: Range<usize>,
}

impl Measurable {
    /// Reads a promise.
    ///
    /// # Errors
    /// When the text is none.
    pub fn parse(text: &str) -> Result<Self, PromiseError> {
        if text.len() > MAX_LENGTH {
            let message = FormulaProblem::TooLong.to_string();
            return Err(PromiseError { message, span: 0..text.len() });
        }
        let mut parser = Parser { text, at: 0, depth: 0 };
        let condition = parser.disjunction()?;
        match parser.peek() {
            "" => Ok(Self { text: text.split_whitespace().collect::<Vec<_>>().join(" "), condition }),
            _ => Err(parser.unexpected("`and`, `or` or the end")),
        }
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
                    '+' => left + right,
                    '-' => left - right,
                    '*' => left * right,
                    _ if right == Rate::from_integer(0) => return None,
                    _ => left / right,
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

#[derive(Clone)]
struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl<'a> Parser<'a> {
    /// The next token; empty at the end.
    fn peek(&self) -> &'a str {
        let rest = self.text[self.at..].trim_start();
        let run = |belongs: fn(char) -> bool| rest.find(|letter| !belongs(letter)).unwrap_or(rest.len());
        let length = match rest.chars().next() {
            None => 0,
            Some(first) if first.is_ascii_digit() => run(|letter| letter.is_ascii_digit() || letter == '.'),
            Some(first) if first.is_ascii_alphabetic() => {
                run(|letter| letter.is_ascii_alphanumeric() || letter == '_')
            }
            Some(_) if ["<=", ">=", "!="].iter().any(|sign| rest.starts_with(sign)) => 2,
            Some(first) => first.len_utf8(),
        };
        &rest[..length]
    }

    fn span(&self) -> Range<usize> {
        let start = self.text.len() - self.text[self.at..].trim_start().len();
        start..start + self.peek().len()
    }

    fn advance(&mut self) {
        self.at = self.span().end;
    }

    fn take(&mut self, token: &str) -> bool {
        let found = self.peek() == token;
        if found {
            self.advance();
        }
        found
    }

    fn unexpected(&self, expected: &str) -> PromiseError {
        let found = match self.peek() {
            "" => "the end".to_owned(),
            token => format!("`{token}`"),
        };
        PromiseError { message: format!("expected {expected}, found {found}"), span: self.span() }
    }

    fn deeper<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, PromiseError>,
    ) -> Result<T, PromiseError> {
        if self.depth == MAX_NESTING {
            let message = format!("a promise is nested at most {MAX_NESTING} deep");
            return Err(PromiseError { message, span: self.span() });
        }
        self.depth += 1;
        let read = read(self);
        self.depth -= 1;
        read
    }

    fn disjunction(&mut self) -> Result<Condition, PromiseError> {
        let mut left = self.conjunction()?;
        while self.take("or") {
            left = Condition::Or(Box::new(left), Box::new(self.conjunction()?));
        }
        Ok(left)
    }

    fn conjunction(&mut self) -> Result<Condition, PromiseError> {
        let mut left = self.relation()?;
        while self.take("and") {
            left = Condition::And(Box::new(left), Box::new(self.relation()?));
        }
        Ok(left)
    }

    fn relation(&mut self) -> Result<Condition, PromiseError> {
        // A parenthesis may enclose a condition or begin a sum: whichever can be read.
        if self.peek() == "(" {
            let mut inside = self.clone();
            inside.advance();
            let condition = inside.deeper(Self::disjunction);
            if let Ok(condition) = condition
                && inside.take(")")
            {
                self.at = inside.at;
                return Ok(condition);
            }
        }
        let left = self.sum()?;
        let token = self.peek();
        let Some(comparison) = Comparison::ALL.into_iter().find(|comparison| comparison.symbol() == token)
        else {
            return Err(self.unexpected("a comparison"));
        };
        self.advance();
        Ok(Condition::Compare(left, comparison, self.sum()?))
    }

    fn sum(&mut self) -> Result<Sum, PromiseError> {
        let mut left = self.product()?;
        loop {
            let operator = match self.peek() {
                "+" => '+',
                "-" => '-',
                _ => return Ok(left),
            };
            self.advance();
            left = Sum::Join(Box::new(left), operator, Box::new(self.product()?));
        }
    }

    fn product(&mut self) -> Result<Sum, PromiseError> {
        let mut left = self.factor()?;
        loop {
            let operator = match self.peek() {
                "*" => '*',
                "/" => '/',
                _ => return Ok(left),
            };
            self.advance();
            left = Sum::Join(Box::new(left), operator, Box::new(self.factor()?));
        }
    }

    fn factor(&mut self) -> Result<Sum, PromiseError> {
        let (token, span) = (self.peek(), self.span());
        if token.starts_with(|first: char| first.is_ascii_digit()) {
            self.advance();
            let number = decimal(token);
            let message =
                || format!("`{token}` is no number with at most nine digits on either side of its point");
            return number.map(Sum::Number).ok_or_else(|| PromiseError { message: message(), span });
        }
        if self.take("-") {
            let zero = Sum::Number(Rate::from_integer(0));
            return Ok(Sum::Join(Box::new(zero), '-', Box::new(self.deeper(Self::factor)?)));
        }
        if self.take("(") {
            let inner = self.deeper(Self::sum)?;
            return if self.take(")") { Ok(inner) } else { Err(self.unexpected("`)`")) };
        }
        if token.starts_with(|first: char| first.is_ascii_alphabetic()) && !["and", "or"].contains(&token) {
            let Some((quantity, _)) = Quantity::ALL.into_iter().find(|(_, name)| *name == token) else {
                let known: Vec<&str> = Quantity::ALL.into_iter().map(|(_, name)| name).collect();
                let message = format!("`{token}` is not measured; there are {}", known.join(", "));
                return Err(PromiseError { message, span });
            };
            self.advance();
            return Ok(Sum::Quantity(quantity));
        }
        Err(self.unexpected("a number, something measured, or `(`"))
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
            ("makespan <= 1.", 12..14, "`1.` is no number"),
            ("makespan <= 1.2.3", 12..17, "`1.2.3` is no number"),
            ("makespan <= 12345678901", 12..23, "is no number"),
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
}
