//! The grammar that all formulas and promises share. A [`Language`] says which names and numbers there are,
//! and what is made of them.

use std::ops::Range;

use super::super::formula::Comparison;
use super::problem::{FormulaError, FormulaProblem, MAX_LENGTH};
use super::token::{Token, TokenKind, Vocabulary};

/// One of the languages in which formulas are written.
pub(crate) trait Language: Sized {
    /// What it makes of a formula whose value is a number.
    type Number;
    /// What it makes of a formula that is true or false.
    type Condition;
    /// Its operators that bind as tightly as `*`.
    type Product: Copy + 'static;

    /// What its texts are called.
    const TEXT: &'static str;
    /// How it spells tokens.
    const VOCABULARY: Vocabulary;
    /// The operators that bind as tightly as `*`, with their spellings.
    const PRODUCTS: &'static [(&'static str, Self::Product)];
    /// How deep numbers may be nested, the innermost included.
    const DEPTH: usize;
    /// Whether any parentheses may enclose a number or a condition, so that only types distinguish them. If not,
    /// parentheses in the place of a relation enclose a condition if they can be read that way, and all
    /// others a number.
    const MIXED: bool;
    /// What may begin a number, in words.
    const FACTOR: &'static str;
    /// What may follow a whole formula, in words.
    const AFTER: &'static str;

    /// What is wrong with a token in any place.
    fn refusal(&self, token: &Token<'_>) -> Option<FormulaProblem>;

    /// An unsigned number.
    fn number(&self, digits: &str) -> Result<Self::Number, FormulaProblem>;

    /// An unsigned number after a minus sign, where that is more than the number [negated](Self::negated).
    fn negative(&self, _digits: &str) -> Option<Result<Self::Number, FormulaProblem>> {
        None
    }

    /// An unsigned number with the unit that follows it; nothing where that name is no unit in this language.
    fn in_unit(&self, _digits: &str, _unit: &str) -> Option<Result<Self::Number, FormulaProblem>> {
        None
    }

    /// What a name means.
    fn quantity(&self, name: &str) -> Result<Self::Number, FormulaProblem>;

    /// A number that begins with a word of this language alone; nothing where no such word comes next.
    fn special(_parser: &mut Parser<'_, Self>) -> Result<Option<Self::Number>, FormulaError> {
        Ok(None)
    }

    /// Less a number.
    fn negated(number: Self::Number) -> Self::Number;

    /// A sum.
    fn sum(left: Self::Number, right: Self::Number) -> Self::Number;

    /// A difference.
    fn difference(left: Self::Number, right: Self::Number) -> Self::Number;

    /// A product, quotient or remainder of two numbers, each with its place.
    fn product(
        left: (Self::Number, Range<usize>),
        operator: Self::Product,
        right: (Self::Number, Range<usize>),
    ) -> Result<Self::Number, FormulaError>;

    /// Two numbers compared.
    fn compared(left: Self::Number, comparison: Comparison, right: Self::Number) -> Self::Condition;

    /// That both conditions hold.
    fn both(left: Self::Condition, right: Self::Condition) -> Self::Condition;

    /// That at least one condition holds.
    fn either(left: Self::Condition, right: Self::Condition) -> Self::Condition;
}

/// A part that was read: a number or a condition, with its place.
pub(crate) struct Part<L: Language> {
    value: PartValue<L>,
    /// The bytes of the formula that it occupies.
    pub span: Range<usize>,
}

enum PartValue<L: Language> {
    Number(L::Number),
    Condition(L::Condition),
}

impl<L: Language> Part<L> {
    /// The number that it is.
    ///
    /// # Errors
    /// When it is a condition.
    pub fn number(self) -> Result<L::Number, FormulaError> {
        match self.value {
            PartValue::Number(number) => Ok(number),
            PartValue::Condition(_) => {
                Err(FormulaError { problem: FormulaProblem::NotNumber, span: self.span })
            }
        }
    }

    /// The condition that it is.
    ///
    /// # Errors
    /// When it is a number.
    pub fn condition(self) -> Result<L::Condition, FormulaError> {
        match self.value {
            PartValue::Condition(condition) => Ok(condition),
            PartValue::Number(_) => {
                Err(FormulaError { problem: FormulaProblem::NotCondition, span: self.span })
            }
        }
    }
}

/// Reads a text from left to right, always one token ahead.
pub(crate) struct Parser<'a, L> {
    /// The language of what comes after the next token.
    pub language: L,
    text: &'a str,
    next: Token<'a>,
    /// Where the token before it ends.
    end: usize,
    depth: usize,
}

impl<'a, L: Language> Parser<'a, L> {
    /// A parser before the first token of a text.
    ///
    /// # Errors
    /// When the text is too long, or its first token has no meaning.
    pub fn new(text: &'a str, language: L) -> Result<Self, FormulaError> {
        if text.len() > MAX_LENGTH {
            return Err(FormulaError { problem: FormulaProblem::TooLong, span: 0..text.len() });
        }
        let start = Token { kind: TokenKind::End, text: "", span: 0..0 };
        let mut parser = Self { language, text, next: start, end: 0, depth: 0 };
        parser.next = parser.token(0)?;
        Ok(parser)
    }

    fn token(&self, from: usize) -> Result<Token<'a>, FormulaError> {
        let token = L::VOCABULARY.token(self.text, from);
        match self.language.refusal(&token) {
            Some(problem) => Err(FormulaError { problem, span: token.span }),
            None => Ok(token),
        }
    }

    /// Takes the next token.
    ///
    /// # Errors
    /// When the one after it has no meaning.
    pub fn advance(&mut self) -> Result<Token<'a>, FormulaError> {
        let following = self.token(self.next.span.end)?;
        self.end = self.next.span.end;
        Ok(std::mem::replace(&mut self.next, following))
    }

    /// Whether the next token is this word or symbol.
    pub fn is_next(&self, spelling: &str) -> bool {
        self.next.is(spelling)
    }

    /// Takes the next token if it is this word or symbol.
    ///
    /// # Errors
    /// When the one after it has no meaning.
    pub fn take(&mut self, spelling: &str) -> Result<bool, FormulaError> {
        let found = self.is_next(spelling);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    /// Takes the next token, which must be this word or symbol.
    ///
    /// # Errors
    /// When it is another one.
    pub fn demand(&mut self, spelling: &str, expected: &'static str) -> Result<(), FormulaError> {
        if self.take(spelling)? { Ok(()) } else { Err(self.unexpected(expected)) }
    }

    fn unexpected(&self, expected: &'static str) -> FormulaError {
        let found = match self.next.kind {
            TokenKind::End => "the end".to_owned(),
            _ => format!("`{}`", self.next.text),
        };
        FormulaError { problem: FormulaProblem::Expected { expected, found }, span: self.next.span.clone() }
    }

    fn number_from(&self, start: usize, number: L::Number) -> Part<L> {
        Part { value: PartValue::Number(number), span: start..self.end }
    }

    fn condition_from(&self, start: usize, condition: L::Condition) -> Part<L> {
        Part { value: PartValue::Condition(condition), span: start..self.end }
    }

    /// The whole text from here on.
    ///
    /// # Errors
    /// When it is no formula.
    pub fn whole(&mut self) -> Result<Part<L>, FormulaError> {
        let part = self.disjunction()?;
        self.ended(part)
    }

    /// A part, if nothing follows it.
    ///
    /// # Errors
    /// When something does.
    pub fn ended(&self, part: Part<L>) -> Result<Part<L>, FormulaError> {
        if self.next.kind == TokenKind::End { Ok(part) } else { Err(self.unexpected(L::AFTER)) }
    }

    /// `conjunct { "or" conjunct }`
    ///
    /// # Errors
    /// When that is not what comes next.
    pub fn disjunction(&mut self) -> Result<Part<L>, FormulaError> {
        let mut left = self.conjunction()?;
        while self.take("or")? {
            let start = left.span.start;
            let (a, b) = (left.condition()?, self.conjunction()?.condition()?);
            left = self.condition_from(start, L::either(a, b));
        }
        Ok(left)
    }

    fn conjunction(&mut self) -> Result<Part<L>, FormulaError> {
        let mut left = self.relation()?;
        while self.take("and")? {
            let start = left.span.start;
            let (a, b) = (left.condition()?, self.relation()?.condition()?);
            left = self.condition_from(start, L::both(a, b));
        }
        Ok(left)
    }

    fn relation(&mut self) -> Result<Part<L>, FormulaError> {
        if !L::MIXED
            && let Some(condition) = self.condition_in_parentheses()
        {
            return Ok(condition);
        }
        let left = self.sum()?;
        let Some(comparison) = self.comparison() else {
            return if L::MIXED { Ok(left) } else { Err(self.unexpected("a comparison")) };
        };
        self.advance()?;
        let start = left.span.start;
        let (a, b) = (left.number()?, self.sum()?.number()?);
        Ok(self.condition_from(start, L::compared(a, comparison, b)))
    }

    /// The comparison that comes next, if one does.
    fn comparison(&self) -> Option<Comparison> {
        // In the languages that have it, the second spelling of `=` is a token.
        let doubled = self.next.is("==").then_some(Comparison::Equal);
        doubled.or_else(|| Comparison::ALL.into_iter().find(|comparison| self.next.is(comparison.symbol())))
    }

    /// A condition in parentheses, if one comes next; else nothing is taken.
    fn condition_in_parentheses(&mut self) -> Option<Part<L>> {
        if !self.is_next("(") {
            return None;
        }
        let (next, end, depth) = (self.next.clone(), self.end, self.depth);
        let inside = self.nested(|parser| {
            parser.advance()?;
            parser.disjunction()
        });
        if let Ok(inside) = inside
            && matches!(self.take(")"), Ok(true))
        {
            return Some(Part { value: inside.value, span: next.span.start..self.end });
        }
        (self.next, self.end, self.depth) = (next, end, depth);
        None
    }

    /// `product { ("+" | "-") product }`
    ///
    /// # Errors
    /// When that is not what comes next.
    pub fn sum(&mut self) -> Result<Part<L>, FormulaError> {
        let mut left = self.product()?;
        loop {
            let join = if self.next.is("+") {
                L::sum
            } else if self.next.is("-") {
                L::difference
            } else {
                return Ok(left);
            };
            self.advance()?;
            let start = left.span.start;
            let (a, b) = (left.number()?, self.product()?.number()?);
            left = self.number_from(start, join(a, b));
        }
    }

    fn product(&mut self) -> Result<Part<L>, FormulaError> {
        let mut left = self.factor()?;
        loop {
            let operator = L::PRODUCTS.iter().find(|(spelling, _)| self.next.is(spelling));
            let Some(&(_, operator)) = operator else { return Ok(left) };
            self.advance()?;
            let left_span = left.span.clone();
            let a = left.number()?;
            let right = self.factor()?;
            let right_span = right.span.clone();
            let (start, b) = (left_span.start, right.number()?);
            left = self.number_from(start, L::product((a, left_span), operator, (b, right_span))?);
        }
    }

    fn factor(&mut self) -> Result<Part<L>, FormulaError> {
        self.nested(Self::atom)
    }

    /// Reads something one deeper.
    fn nested(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<Part<L>, FormulaError>,
    ) -> Result<Part<L>, FormulaError> {
        if self.depth == L::DEPTH {
            let problem = FormulaProblem::TooDeep { text: L::TEXT };
            return Err(FormulaError { problem, span: self.next.span.clone() });
        }
        self.depth += 1;
        let part = read(self);
        self.depth -= 1;
        part
    }

    fn atom(&mut self) -> Result<Part<L>, FormulaError> {
        let Token { kind, text, span } = self.next.clone();
        let start = span.start;
        let placed = |problem| FormulaError { problem, span: span.clone() };
        match kind {
            TokenKind::Number => {
                self.advance()?;
                let unit = (self.next.kind == TokenKind::Name).then_some(self.next.text);
                if let Some(number) = unit.and_then(|unit| self.language.in_unit(text, unit)) {
                    self.advance()?;
                    return Ok(self.number_from(start, number.map_err(placed)?));
                }
                Ok(self.number_from(start, self.language.number(text).map_err(placed)?))
            }
            TokenKind::Name => {
                let quantity = self.language.quantity(text).map_err(placed)?;
                self.advance()?;
                Ok(self.number_from(start, quantity))
            }
            _ if self.take("-")? => {
                let number = match self.next.kind {
                    TokenKind::Number => self.language.negative(self.next.text),
                    _ => None,
                };
                if let Some(number) = number {
                    self.advance()?;
                    let placed = |problem| FormulaError { problem, span: start..self.end };
                    return Ok(self.number_from(start, number.map_err(placed)?));
                }
                let number = L::negated(self.factor()?.number()?);
                Ok(self.number_from(start, number))
            }
            _ if self.take("(")? => {
                let inside = if L::MIXED { self.disjunction()? } else { self.sum()? };
                self.demand(")", "`)`")?;
                Ok(Part { value: inside.value, span: start..self.end })
            }
            _ => match L::special(self)? {
                Some(number) => Ok(self.number_from(start, number)),
                None => Err(self.unexpected(L::FACTOR)),
            },
        }
    }
}
