//! Text and numbers as XML has them.

/// Hundredths as a decimal number without needless zeros.
pub(super) fn decimal(hundredths: i64) -> String {
    let sign = if hundredths < 0 { "-" } else { "" };
    let (whole, part) = (hundredths.abs() / 100, hundredths.abs() % 100);
    match (part % 10, part) {
        (_, 0) => format!("{sign}{whole}"),
        (0, _) => format!("{sign}{whole}.{}", part / 10),
        _ => format!("{sign}{whole}.{part:02}"),
    }
}

/// A text as XML has it, and HTML. Control characters, which XML cannot hold, are replaced.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&apos;"),
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            _ if letter.is_control() => escaped.push('\u{fffd}'),
            _ => escaped.push(letter),
        }
    }
    escaped
}

/// The font of every drawing: a sans serif that each system has under one of these names.
pub(super) const FONT: &str = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif";

/// How wide a text is at most in that font, in hundredths of a pixel, at a size in pixels.
pub(super) fn width_of(text: &str, size: i64) -> i64 {
    // In DejaVu Sans, the widest of them, a digit takes 0.636 of the size.
    let ems: i64 = text
        .chars()
        .map(|letter| match letter {
            'i' | 'j' | 'l' | 'I' | '.' | ',' | ';' | ':' | '|' | '\'' | ' ' => 38,
            'm' | 'w' | 'M' | 'W' | '%' => 98,
            'A'..='Z' => 76,
            _ if letter.is_ascii() => 64,
            _ => 110,
        })
        .sum();
    ems * size
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_escaped_and_numbers_are_short() {
        assert_eq!(escape("a<b>&\"c'\u{1b}[é"), "a&lt;b&gt;&amp;&quot;c&apos;\u{fffd}[é");
        for (hundredths, text) in
            [(0, "0"), (5, "0.05"), (50, "0.5"), (100, "1"), (12_345, "123.45"), (-150, "-1.5")]
        {
            assert_eq!(decimal(hundredths), text);
        }
    }
}
