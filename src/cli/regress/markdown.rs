//! Texts as GitHub's Markdown shows them, whatever is in them.
//!
//! The rules are those of "GitHub Flavored Markdown Spec" 0.29. Texts of designs appear in two forms alone, in which nothing is
//! markup, a link or a mention: code spans and fenced code.

use std::fmt::Write as _;

/// A text as code inside a line or a cell. A text with what ends code spans or cells becomes an HTML element, in which
/// every character that could mean something is a reference.
pub(super) fn code(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.is_empty() {
        return String::new();
    }
    if text.contains(['`', '|', '\\']) {
        format!("<code>{}</code>", html(&text))
    } else {
        format!("`{text}`")
    }
}

/// A text inside an HTML element or between words: each character but letters, digits and what has no meaning becomes a
/// reference, which stands for itself and never for structure (section 6.2).
pub(super) fn html(text: &str) -> String {
    let mut safe = String::new();
    for letter in text.chars() {
        if letter.is_ascii_punctuation() && !"-.,()%".contains(letter) || letter.is_control() {
            write!(safe, "&#{};", u32::from(letter)).expect("texts grow");
        } else {
            safe.push(letter);
        }
    }
    safe
}

/// Lines as a block of code. Its fence is longer than any run of backticks inside (section 4.5).
pub(super) fn fenced(text: &str) -> String {
    let (mut longest, mut run) = (2, 0);
    for letter in text.chars() {
        run = if letter == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let fence = "`".repeat(longest + 1);
    format!("{fence}text\n{}\n{fence}\n", text.trim_end_matches('\n'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_is_markup() {
        for (text, shown) in [
            ("2*peak <= d", "`2*peak <= d`"),
            ("a|b", "<code>a&#124;b</code>"),
            ("a`b\\|", "<code>a&#96;b&#92;&#124;</code>"),
            ("a\n| b", "<code>a &#124; b</code>"),
            ("</code><script>`", "<code>&#60;&#47;code&#62;&#60;script&#62;&#96;</code>"),
            ("@someone #1", "`@someone #1`"),
            ("  ", ""),
        ] {
            assert_eq!(code(text), shown);
        }
        assert_eq!(html("[a](b) <i> & *c*"), "&#91;a&#93;(b) &#60;i&#62; &#38; &#42;c&#42;");
        assert_eq!(fenced("a\n````\n</details>\n"), "`````text\na\n````\n</details>\n`````\n");
    }
}
