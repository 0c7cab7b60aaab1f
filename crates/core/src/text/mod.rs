//! Text that comes from files and arguments, and how it is shown.
//!
//! Whoever writes a file chooses its names and units, and the tool prints them between statements of its own. A
//! name with a line break in it could look like one of those; a terminal obeys escape sequences, and shows text
//! in another order after some marks. So readers refuse [such characters](is_control) in every string, and quote a
//! refused text as [`Shown`] or in a [`message`].
//!
//! ```
//! use bubbleproof_core::text::Shown;
//!
//! assert_eq!(Shown("zb-h1").to_string(), "zb-h1");
//! assert_eq!(Shown("a\n  checked  \u{1b}[32m").to_string(), "a\\n  checked  \\u{1b}[32m");
//! assert_eq!(Shown(&"9".repeat(500)).to_string(), format!("{}… (500 characters)", "9".repeat(40)));
//! ```

use std::fmt;

pub mod json;
pub mod quantity;

/// Whether a character ends a line, moves the cursor, or changes what other characters look like: the control
/// characters (C0, DEL, C1), the separators of lines and paragraphs, and the marks that set the direction of
/// writing.
#[must_use]
pub fn is_control(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The first [control character](is_control) of a text.
#[must_use]
pub fn first_control(text: &str) -> Option<ControlCharacter> {
    text.chars().find(|&letter| is_control(letter)).map(ControlCharacter)
}

/// A [control character](is_control) where none may be. Its text is its name: `U+001B`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ControlCharacter(pub char);

impl fmt::Display for ControlCharacter {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "U+{:04X}", u32::from(self.0))?;
        match self.0 {
            '\n' => out.write_str(" (line break)"),
            '\r' => out.write_str(" (carriage return)"),
            '\t' => out.write_str(" (tab)"),
            '\u{1b}' => out.write_str(" (escape)"),
            _ => Ok(()),
        }
    }
}

/// A text from elsewhere on a line of our own: [control characters](is_control) are escaped, and of a long text
/// only the beginning is shown, with its length.
#[derive(Debug, Clone, Copy)]
pub struct Shown<'a>(pub &'a str);

impl Shown<'_> {
    /// A text of more characters than this is cut.
    const MOST: usize = 120;
    /// To this many.
    const HEAD: usize = 40;
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_long = self.0.chars().nth(Self::MOST).is_some();
        let shown = if is_long { Self::HEAD } else { Self::MOST };
        self.0.chars().take(shown).try_for_each(|letter| escape(letter, out))?;
        if is_long { write!(out, "… ({} characters)", self.0.chars().count()) } else { Ok(()) }
    }
}

/// A whole text on a line of our own, however long: [control characters](is_control) are escaped.
#[derive(Debug, Clone, Copy)]
pub struct Escaped<'a>(pub &'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|letter| escape(letter, out))
    }
}

fn escape(letter: char, out: &mut impl fmt::Write) -> fmt::Result {
    if is_control(letter) { write!(out, "{}", letter.escape_default()) } else { out.write_char(letter) }
}

/// A message of another library, which may quote a text from elsewhere: without control characters, and without
/// the middle where it is long.
#[must_use]
pub fn message(text: &str) -> String {
    const MOST: usize = 1_000;
    const KEPT: usize = 300;
    let count = text.chars().count();
    if count <= MOST {
        return Escaped(text).to_string();
    }
    let head: String = text.chars().take(KEPT).collect();
    let tail: String = text.chars().skip(count - KEPT).collect();
    format!("{}… ({} characters left out) …{}", Escaped(&head), count - 2 * KEPT, Escaped(&tail))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_kind_of_control_character_is_one() {
        for letter in [
            '\0', '\t', '\n', '\r', '\u{1b}', '\u{7f}', '\u{80}', '\u{85}', '\u{9b}', '\u{9f}', '\u{61c}',
            '\u{200e}', '\u{200f}', '\u{2028}', '\u{2029}', '\u{202a}', '\u{202e}', '\u{2066}', '\u{2069}',
        ] {
            assert!(is_control(letter), "{}", ControlCharacter(letter));
        }
        for letter in
            [' ', '~', '\u{a0}', 'é', '\u{200d}', '\u{2027}', '\u{202f}', '\u{2065}', '\u{206a}', '名']
        {
            assert!(!is_control(letter), "{}", ControlCharacter(letter));
        }
    }

    #[test]
    fn control_characters_have_names() {
        let name = |letter| ControlCharacter(letter).to_string();
        assert_eq!(['\t', '\u{1b}', '\u{7}'].map(name), ["U+0009 (tab)", "U+001B (escape)", "U+0007"]);
    }

    proptest! {
        #[test]
        fn what_is_shown_has_no_control_character_and_is_short(text in "(?s).{0,2000}") {
            for shown in [Shown(&text).to_string(), message(&text), Escaped(&text).to_string()] {
                prop_assert_eq!(first_control(&shown), None);
            }
            prop_assert!(Shown(&text).to_string().chars().count() <= 10 * Shown::MOST);
            if first_control(&text).is_none() {
                prop_assert_eq!(Escaped(&text).to_string(), text);
            }
        }
    }

    #[test]
    fn a_long_message_keeps_both_ends() {
        let text = format!("unknown field `{}`, expected `name`", "x".repeat(200_000));
        let shown = message(&text);
        assert!(
            shown.starts_with("unknown field `xxx") && shown.ends_with("xxx`, expected `name`"),
            "{shown}"
        );
        assert!(shown.contains("characters left out") && shown.chars().count() < 700, "{shown}");
        let [longest, longer] = [1_000, 1_001].map(|count| "x".repeat(count));
        assert_eq!(message(&longest), longest);
        assert!(message(&longer).contains("401 characters left out"));
    }
}
