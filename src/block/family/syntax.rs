//! The text of formulas: reading with located errors.
//!
//! ```text
//! promise    := condition | "bubble" "=" "0" "when" condition
//! condition  := conjunct { "or" conjunct }
//! conjunct   := relation { "and" relation }
//! relation   := sum [ ("=" | "!=" | "<" | "<=" | ">" | ">=") sum ]
//! sum        := product { ("+" | "-") product }
//! product    := factor { "*" factor | "div" factor | "mod" factor }
//! factor     := number | variable | "-" factor | "(" condition ")" | "if" "(" condition "," sum "," sum ")"
//! ```
//!
//! One side of `*` and the right side of `div` and `mod` are constants. Parentheses enclose numbers
//! and conditions alike, so everything is read by one grammar and its type is checked on the way.
//!
//! What follows `when` is a condition on durations: sums of multiples of `tF`, `tI` and `tW`, compared by
//! `=`, `<=` or `>=` with each other or with 0.

use std::fmt;
use std::ops::Range;

use super::bubble_free::BubbleFree;
use super::formula::{Comparison, Condition, Formula, Variable};

/// The longest formula in bytes: what it takes to evaluate one is bounded by its length.
pub const MAX_LENGTH: usize = 2000;

/// How deep parentheses, `if` and signs may be nested.
pub const MAX_NESTING: usize = 64;

/// What is wrong with the text of a formula, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct FormulaError {
    /// What is wrong.
    pub problem: FormulaProblem,
    /// The bytes of the formula it is about.
    pub span: Range<usize>,
}

/// The ways in which the text of a formula can be wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FormulaProblem {
    /// A character that formulas do not use.
    #[error("`{0}` has no meaning in a formula")]
    Character(char),
    /// A name that is neither a variable nor a word of formulas.
    #[error(
        "`{0}` is not known; there are i, d, div, mod, if, and, or; in promises also peak, interval, bubble, peak_1f1b, when; \
         after `when` only tF, tI, tW, and, or"
    )]
    Name(String),
    /// A variable that has no value where the formula stands.
    #[error("`{0}` has no value here")]
    Variable(Variable),
    /// A number that does not fit 64 bits.
    #[error("the number does not fit 64 bits")]
    Number,
    /// Something else than what must come next.
    #[error("expected {expected}, found {found}")]
    Expected {
        /// What must come next.
        expected: &'static str,
        /// What does.
        found: String,
    },
    /// A condition where a number must stand.
    #[error("expected a number, but this is a condition")]
    NotNumber,
    /// A number where a condition must stand.
    #[error("expected a condition, but this is a number")]
    NotCondition,
    /// A product of two variable quantities.
    #[error("one side of `*` must be a constant")]
    NotLinear,
    /// A divisor that is not a positive constant.
    #[error("the right side of `{0}` must be a positive constant")]
    Divisor(&'static str),
    /// Something else than `bubble = 0` that is promised for some durations.
    #[error("what is promised for all durations with a condition is `bubble = 0`")]
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
    #[error("a formula is nested at most {MAX_NESTING} deep")]
    TooDeep,
}

/// Reads a formula over some variables whose value is an integer.
///
/// # Errors
/// When the text is no such formula.
pub fn parse_formula(text: &str, variables: &[Variable]) -> Result<Formula, FormulaError> {
    Parser::new(text, variables)?.whole()?.number()
}

/// Reads a formula over some variables that is true or false.
///
/// # Errors
/// When the text is no such formula.
pub fn parse_condition(text: &str, variables: &[Variable]) -> Result<Condition, FormulaError> {
    Parser::new(text, variables)?.whole()?.condition()
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
    let mut parser = Parser::new(text, &Variable::PROMISED)?;
    let claim = parser.disjunction()?;
    if parser.next.0 != Token::Word(Word::When) {
        return Ok(Promise::Everywhere(parser.ended(claim)?.condition()?));
    }
    let span = claim.span.clone();
    let zero =
        Condition::Compare(Formula::Variable(Variable::Bubble), Comparison::Equal, Formula::Integer(0));
    if claim.condition()? != zero {
        return Err(FormulaError { problem: FormulaProblem::NotBubbleFree, span });
    }
    parser.variables = &Variable::DURATIONS;
    parser.advance()?;
    let when = parser.whole()?;
    let span = when.span.clone();
    let promise = BubbleFree::new(when.condition()?);
    let promise = promise.ok_or(FormulaError { problem: FormulaProblem::NotOfDurations, span })?;
    Ok(Promise::BubbleFree(promise))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token {
    /// An unsigned number. One more than `i64::MAX` may still follow a minus sign.
    Number(u64),
    Variable(Variable),
    Word(Word),
    /// A sign or an operator.
    Sign(&'static str),
    Compare(Comparison),
    End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Word {
    Div,
    Mod,
    If,
    And,
    Or,
    When,
}

impl Word {
    const ALL: [(&'static str, Self); 6] = [
        ("div", Self::Div),
        ("mod", Self::Mod),
        ("if", Self::If),
        ("and", Self::And),
        ("or", Self::Or),
        ("when", Self::When),
    ];
}

/// A part that was read: a number or a condition, with its place.
struct Part {
    value: Value,
    span: Range<usize>,
}

enum Value {
    Number(Formula),
    Condition(Condition),
}

impl Part {
    fn number(self) -> Result<Formula, FormulaError> {
        match self.value {
            Value::Number(formula) => Ok(formula),
            Value::Condition(_) => Err(FormulaError { problem: FormulaProblem::NotNumber, span: self.span }),
        }
    }

    fn condition(self) -> Result<Condition, FormulaError> {
        match self.value {
            Value::Condition(condition) => Ok(condition),
            Value::Number(_) => Err(FormulaError { problem: FormulaProblem::NotCondition, span: self.span }),
        }
    }
}

struct Parser<'a> {
    text: &'a str,
    variables: &'a [Variable],
    /// The next token and its place.
    next: (Token, Range<usize>),
    /// Where the token before it ends.
    end: usize,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, variables: &'a [Variable]) -> Result<Self, FormulaError> {
        if text.len() > MAX_LENGTH {
            return Err(FormulaError { problem: FormulaProblem::TooLong, span: 0..text.len() });
        }
        let mut parser = Self { text, variables, next: (Token::End, 0..0), end: 0, depth: 0 };
        parser.next = parser.scan(0)?;
        Ok(parser)
    }

    /// The token at or after a position.
    fn scan(&self, from: usize) -> Result<(Token, Range<usize>), FormulaError> {
        const SIGNS: [&str; 6] = ["+", "-", "*", "(", ")", ","];
        const COMPARISONS: [(&str, Comparison); 7] = [
            // Longer ones first: `<` begins `<=`.
            ("<=", Comparison::AtMost),
            (">=", Comparison::AtLeast),
            ("!=", Comparison::Unequal),
            ("==", Comparison::Equal),
            ("<", Comparison::Less),
            (">", Comparison::Greater),
            ("=", Comparison::Equal),
        ];
        let rest = self.text[from..].trim_start();
        let at = self.text.len() - rest.len();
        let Some(first) = rest.chars().next() else { return Ok((Token::End, at..at)) };
        let run = |belongs: fn(char) -> bool| {
            let length = rest.find(|letter: char| !belongs(letter)).unwrap_or(rest.len());
            (&rest[..length], at..at + length)
        };
        if first.is_ascii_digit() {
            let (digits, span) = run(|letter| letter.is_ascii_digit());
            let error = || FormulaError { problem: FormulaProblem::Number, span: span.clone() };
            return Ok((Token::Number(digits.parse().map_err(|_| error())?), span.clone()));
        }
        if first.is_ascii_alphabetic() {
            let (name, span) = run(|letter| letter.is_ascii_alphanumeric() || letter == '_');
            let word = Word::ALL.into_iter().find(|&(spelling, _)| spelling == name);
            if let Some((_, word)) = word {
                return Ok((Token::Word(word), span));
            }
            let Some(variable) = Variable::ALL.into_iter().find(|variable| variable.name() == name) else {
                return Err(FormulaError { problem: FormulaProblem::Name(name.to_owned()), span });
            };
            if !self.variables.contains(&variable) {
                return Err(FormulaError { problem: FormulaProblem::Variable(variable), span });
            }
            return Ok((Token::Variable(variable), span));
        }
        if let Some((symbol, comparison)) =
            COMPARISONS.into_iter().find(|(symbol, _)| rest.starts_with(symbol))
        {
            return Ok((Token::Compare(comparison), at..at + symbol.len()));
        }
        match SIGNS.into_iter().find(|sign| rest.starts_with(sign)) {
            Some(sign) => Ok((Token::Sign(sign), at..at + sign.len())),
            None => Err(FormulaError {
                problem: FormulaProblem::Character(first),
                span: at..at + first.len_utf8(),
            }),
        }
    }

    fn advance(&mut self) -> Result<(Token, Range<usize>), FormulaError> {
        let following = self.scan(self.next.1.end)?;
        self.end = self.next.1.end;
        Ok(std::mem::replace(&mut self.next, following))
    }

    /// Takes the next token if it is this one.
    fn take(&mut self, token: Token) -> Result<bool, FormulaError> {
        let found = self.next.0 == token;
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    fn demand(&mut self, sign: &'static str, expected: &'static str) -> Result<(), FormulaError> {
        if self.take(Token::Sign(sign))? { Ok(()) } else { Err(self.unexpected(expected)) }
    }

    fn unexpected(&self, expected: &'static str) -> FormulaError {
        let span = self.next.1.clone();
        let found = match self.next.0 {
            Token::End => "the end".to_owned(),
            _ => format!("`{}`", &self.text[span.clone()]),
        };
        FormulaError { problem: FormulaProblem::Expected { expected, found }, span }
    }

    fn part(&self, start: usize, value: Value) -> Part {
        Part { value, span: start..self.end }
    }

    fn whole(&mut self) -> Result<Part, FormulaError> {
        let part = self.disjunction()?;
        self.ended(part)
    }

    /// A part, if nothing follows it.
    fn ended(&self, part: Part) -> Result<Part, FormulaError> {
        if self.next.0 == Token::End { Ok(part) } else { Err(self.unexpected("an operator or the end")) }
    }

    fn disjunction(&mut self) -> Result<Part, FormulaError> {
        let mut left = self.conjunction()?;
        while self.take(Token::Word(Word::Or))? {
            let start = left.span.start;
            let (a, b) = (left.condition()?, self.conjunction()?.condition()?);
            left = self.part(start, Value::Condition(Condition::Or(Box::new(a), Box::new(b))));
        }
        Ok(left)
    }

    fn conjunction(&mut self) -> Result<Part, FormulaError> {
        let mut left = self.relation()?;
        while self.take(Token::Word(Word::And))? {
            let start = left.span.start;
            let (a, b) = (left.condition()?, self.relation()?.condition()?);
            left = self.part(start, Value::Condition(Condition::And(Box::new(a), Box::new(b))));
        }
        Ok(left)
    }

    fn relation(&mut self) -> Result<Part, FormulaError> {
        let left = self.sum()?;
        let Token::Compare(comparison) = self.next.0 else { return Ok(left) };
        self.advance()?;
        let start = left.span.start;
        let (a, b) = (left.number()?, self.sum()?.number()?);
        Ok(self.part(start, Value::Condition(Condition::Compare(a, comparison, b))))
    }

    fn sum(&mut self) -> Result<Part, FormulaError> {
        let mut left = self.product()?;
        loop {
            let join = match self.next.0 {
                Token::Sign("+") => Formula::Sum,
                Token::Sign("-") => Formula::Difference,
                _ => return Ok(left),
            };
            self.advance()?;
            let start = left.span.start;
            let (a, b) = (left.number()?, self.product()?.number()?);
            left = self.part(start, Value::Number(join(Box::new(a), Box::new(b))));
        }
    }

    fn product(&mut self) -> Result<Part, FormulaError> {
        let mut left = self.factor()?;
        loop {
            let operator = self.next.0;
            if !matches!(operator, Token::Sign("*") | Token::Word(Word::Div | Word::Mod)) {
                return Ok(left);
            }
            self.advance()?;
            let (start, left_span) = (left.span.start, left.span.clone());
            let a = left.number()?;
            let right = self.factor()?;
            let right_span = right.span.clone();
            let b = right.number()?;
            let divisor = |name| {
                constant(&b, &right_span)?.filter(|&divisor| divisor > 0).ok_or_else(|| FormulaError {
                    problem: FormulaProblem::Divisor(name),
                    span: right_span.clone(),
                })
            };
            let formula = match operator {
                Token::Word(Word::Div) => Formula::Quotient(Box::new(a), divisor("div")?),
                Token::Word(_) => Formula::Remainder(Box::new(a), divisor("mod")?),
                _ => {
                    if let Some(factor) = constant(&a, &left_span)? {
                        Formula::Times(factor, Box::new(b))
                    } else if let Some(factor) = constant(&b, &right_span)? {
                        Formula::Times(factor, Box::new(a))
                    } else {
                        let span = start..right_span.end;
                        return Err(FormulaError { problem: FormulaProblem::NotLinear, span });
                    }
                }
            };
            left = self.part(start, Value::Number(formula));
        }
    }

    fn factor(&mut self) -> Result<Part, FormulaError> {
        if self.depth == MAX_NESTING {
            return Err(FormulaError { problem: FormulaProblem::TooDeep, span: self.next.1.clone() });
        }
        self.depth += 1;
        let part = self.atom();
        self.depth -= 1;
        part
    }

    fn atom(&mut self) -> Result<Part, FormulaError> {
        let (token, span) = self.next.clone();
        let number = |value: i128, span: Range<usize>| match i64::try_from(value) {
            Ok(value) => Ok(Value::Number(Formula::Integer(value))),
            Err(_) => Err(FormulaError { problem: FormulaProblem::Number, span }),
        };
        let value = match token {
            Token::Number(value) => {
                self.advance()?;
                number(i128::from(value), span.clone())?
            }
            Token::Variable(variable) => {
                self.advance()?;
                Value::Number(Formula::Variable(variable))
            }
            Token::Sign("-") => {
                self.advance()?;
                if let Token::Number(value) = self.next.0 {
                    let (_, digits) = self.advance()?;
                    number(-i128::from(value), span.start..digits.end)?
                } else {
                    Value::Number(Formula::Times(-1, Box::new(self.factor()?.number()?)))
                }
            }
            Token::Sign("(") => {
                self.advance()?;
                let inner = self.disjunction()?;
                self.demand(")", "`)`")?;
                inner.value
            }
            Token::Word(Word::If) => {
                self.advance()?;
                self.demand("(", "`(` after `if`")?;
                let condition = self.disjunction()?.condition()?;
                self.demand(",", "`,` after the condition of `if`")?;
                let then = self.sum()?.number()?;
                self.demand(",", "`,` and what else `if` gives")?;
                let otherwise = self.sum()?.number()?;
                self.demand(")", "`)` at the end of `if`")?;
                Value::Number(Formula::If(Box::new(condition), Box::new(then), Box::new(otherwise)))
            }
            _ => return Err(self.unexpected("a number, a variable, `(` or `if`")),
        };
        Ok(self.part(span.start, value))
    }
}

/// The value of a formula without variables.
fn constant(formula: &Formula, span: &Range<usize>) -> Result<Option<i64>, FormulaError> {
    formula.constant().map_err(|_| FormulaError { problem: FormulaProblem::Number, span: span.clone() })
}
