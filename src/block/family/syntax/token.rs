//! Tokens: where a number, a name, a word or a symbol of a formula begins and ends.

use std::ops::Range;

/// A piece of the text of a formula.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token<'a> {
    /// What it is.
    pub kind: TokenKind,
    /// How it is spelt; empty at the end.
    pub text: &'a str,
    /// The bytes of the formula that it occupies.
    pub span: Range<usize>,
}

/// The kinds of tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// Digits, and points where numbers may have decimals. Whether they make a number, the language says.
    Number,
    /// Letters, digits and `_`, with a letter first.
    Name,
    /// A name that means something to the grammar, such as `and`.
    Word,
    /// Anything else: an operator, a parenthesis, a character without a meaning.
    Symbol,
    /// The end of the text.
    End,
}

impl Token<'_> {
    /// Whether it is this word or symbol.
    pub fn is(&self, spelling: &str) -> bool {
        matches!(self.kind, TokenKind::Word | TokenKind::Symbol) && self.text == spelling
    }
}

/// How a language spells its tokens.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Vocabulary {
    /// The names that mean something to the grammar.
    pub words: &'static [&'static str],
    /// The symbols of more than one character.
    pub symbols: &'static [&'static str],
    /// Whether numbers may have a decimal point.
    pub decimals: bool,
}

impl Vocabulary {
    /// The token at or after a position.
    pub fn token<'a>(&self, text: &'a str, from: usize) -> Token<'a> {
        let rest = text[from..].trim_start();
        let at = text.len() - rest.len();
        let run = |belongs: &dyn Fn(char) -> bool| rest.find(|letter| !belongs(letter)).unwrap_or(rest.len());
        let (kind, length) = match rest.chars().next() {
            None => (TokenKind::End, 0),
            Some(first) if first.is_ascii_digit() => {
                let belongs = |letter: char| letter.is_ascii_digit() || (self.decimals && letter == '.');
                (TokenKind::Number, run(&belongs))
            }
            Some(first) if first.is_ascii_alphabetic() => {
                let length = run(&|letter| letter.is_ascii_alphanumeric() || letter == '_');
                let is_word = self.words.contains(&&rest[..length]);
                (if is_word { TokenKind::Word } else { TokenKind::Name }, length)
            }
            Some(first) => {
                let long = self.symbols.iter().find(|symbol| rest.starts_with(**symbol));
                (TokenKind::Symbol, long.map_or(first.len_utf8(), |symbol| symbol.len()))
            }
        };
        Token { kind, text: &rest[..length], span: at..at + length }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_falls_into_tokens_with_their_places() {
        let vocabulary = Vocabulary { words: &["and"], symbols: &["<="], decimals: true };
        let text = " ab_1<=1.5 and×=";
        let (mut tokens, mut at) = (Vec::new(), 0);
        loop {
            let token = vocabulary.token(text, at);
            at = token.span.end;
            tokens.push((token.kind, token.text, token.span));
            if token.kind == TokenKind::End {
                break;
            }
        }
        assert_eq!(
            tokens,
            [
                (TokenKind::Name, "ab_1", 1..5),
                (TokenKind::Symbol, "<=", 5..7),
                (TokenKind::Number, "1.5", 7..10),
                (TokenKind::Word, "and", 11..14),
                (TokenKind::Symbol, "×", 14..16),
                (TokenKind::Symbol, "=", 16..17),
                (TokenKind::End, "", 17..17),
            ]
        );
        let integers = Vocabulary { decimals: false, ..vocabulary };
        assert_eq!(integers.token("1.5", 0).text, "1");
    }
}
